/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "compare/family.h"
#include "analysis/time/kernels.h"
#include "base/mem.h"
#include "base/data.h"

struct pf_families {
	struct pf_data *data;
};

enum { MATCH, TEXT, FAMILY };

struct pf_families *pf_families_new(struct pf_err *err)
{
	struct pf_families *f = pf_calloc(1, sizeof(*f));

	f->data = pf_data_new("data/families.csv", "match,text,family", err);
	if (f->data)
		return f;
	free(f);
	return NULL;
}

void pf_families_free(struct pf_families *f)
{
	if (!f)
		return;
	pf_data_free(f->data);
	free(f);
}

static const char *find(const struct pf_families *f, const char *kernel)
{
	for (size_t i = 0; i < pf_data_rows(f->data); i++) {
		const char *text = pf_data_cell(f->data, i, TEXT);
		const char *at = strcasestr(kernel, text);

		if (at &&
		    (at == kernel || *pf_data_cell(f->data, i, MATCH) == 'c'))
			return pf_data_cell(f->data, i, FAMILY);
	}
	return NULL;
}

/* "sm80", "ampere", "128x64", "3", "ldg8": not what it computes. */
static bool is_detail(const char *word, size_t len)
{
	static const char *const architectures[] = {
		"ampere", "hopper", "volta",     "turing", "maxwell",
		"pascal", "ada",    "blackwell", "gfx",    "kernel",
	};
	bool has_digit = false;

	for (size_t i = 0; i < len; i++)
		has_digit |= isdigit((unsigned char)word[i]) != 0;
	if (has_digit)
		return true;
	for (size_t i = 0; i < sizeof(architectures) / sizeof(*architectures);
	     i++)
		if (strlen(architectures[i]) == len &&
		    !strncasecmp(word, architectures[i], len))
			return true;
	return false;
}

/* Words between underscores, without details and template arguments. */
static void add_words(struct pf_buf *out, const char *name)
{
	size_t before = out->len, whole = strcspn(name, "<(");

	for (size_t at = 0; at < whole;) {
		size_t len = strcspn(name + at, "_");

		if (at + len > whole)
			len = whole - at;
		if (len && !is_detail(name + at, len)) {
			if (out->len > before)
				pf_buf_addc(out, '_');
			pf_buf_add(out, name + at, len);
		}
		at += len + 1;
	}
	if (out->len == before)
		pf_buf_add(out, name, whole);
}

void pf_family_name(const struct pf_families *f, const char *kernel,
		    struct pf_buf *out)
{
	const char *family = find(f, kernel);
	struct pf_buf name = { 0 };

	if (family) {
		pf_buf_adds(out, family);
		return;
	}
	/* "Memcpy HtoD (Pinned -> Device)": the whole says what it is */
	if (!strncmp(kernel, "Memcpy ", 7) || !strncmp(kernel, "Memset ", 7)) {
		pf_buf_adds(out, kernel);
		return;
	}
	pf_kernel_short_name(&name, kernel);
	add_words(out, name.data);
	pf_buf_release(&name);
}
