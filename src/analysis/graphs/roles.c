/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <ctype.h>
#include <regex.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/data.h"
#include "analysis/graphs/roles.h"

#define NAME_MAX_BYTES 1024 /* of a name that are looked at */

struct pf_roles {
	struct pf_data *data;
	struct rule {
		regex_t match;
		enum pf_role role;
	} * rules;
	size_t count;
};

static const char *const words[PF_ROLES] = {
	"other",     "communication", "copy",        "kv cache",
	"attention", "rope",          "routing",     "expert gemm",
	"norm",      "activation",    "quantize",    "gemm",
	"embedding", "sampling",      "elementwise", "reduction",
};

const char *pf_role_word(enum pf_role role)
{
	return words[role < PF_ROLES ? role : PF_ROLE_OTHER];
}

static enum pf_role find_word(const char *word)
{
	for (size_t i = 0; i < PF_ROLES; i++)
		if (!strcmp(words[i], word))
			return (enum pf_role)i;
	return PF_ROLES;
}

struct pf_roles *pf_roles_new(struct pf_err *err)
{
	struct pf_roles *r = pf_calloc(1, sizeof(*r));
	size_t rows;

	r->data = pf_data_new("data/roles.csv", "role,pattern", err);
	rows = r->data ? pf_data_rows(r->data) : 0;
	r->rules = pf_calloc(rows + 1, sizeof(*r->rules));
	for (; r->count < rows; r->count++) {
		struct rule *rule = &r->rules[r->count];

		rule->role = find_word(pf_data_cell(r->data, r->count, 0));
		if (rule->role == PF_ROLES ||
		    regcomp(&rule->match, pf_data_cell(r->data, r->count, 1),
			    REG_EXTENDED | REG_ICASE | REG_NOSUB))
			break;
	}
	if (r->data && r->count == rows)
		return r;
	if (r->data)
		pf_fail(err, PF_EDATA,
			"'data/roles.csv' has a wrong line of "
			"'%s'",
			pf_data_cell(r->data, r->count, 0));
	pf_roles_free(r);
	return NULL;
}

void pf_roles_free(struct pf_roles *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->count; i++)
		regfree(&r->rules[i].match);
	free(r->rules);
	pf_data_free(r->data);
	free(r);
}

static bool begins(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

/* Names that are one word: what is in it counts from the start. */
static bool is_whole(const char *name)
{
	return begins(name, "_Z") || begins(name, "Cijk") ||
	       begins(name, "triton");
}

static enum pf_role look(const struct pf_roles *r, const char *name)
{
	for (size_t i = 0; i < r->count; i++)
		if (!regexec(&r->rules[i].match, name, 0, NULL, 0))
			return r->rules[i].role;
	return PF_ROLE_OTHER;
}

enum pf_role pf_role_of(const struct pf_roles *r, const char *name)
{
	size_t len = strnlen(name, NAME_MAX_BYTES);
	char *text = pf_memdup0(name, len);
	char *end = is_whole(text) ? NULL : strchr(text, '<');
	enum pf_role role = PF_ROLE_OTHER;

	if (end) {
		*end = '\0';
		role = look(r, text);
		*end = '<';
	}
	if (role == PF_ROLE_OTHER)
		role = look(r, text);
	free(text);
	return role;
}

static bool says_gemm(const char *name)
{
	static const char *const parts[] = { "gemm", "nvjet", "cutlass",
					     "xmma" };

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (strcasestr(name, parts[i]))
			return true;
	return false;
}

void pf_role_family(const char *name, enum pf_role role, struct pf_buf *out)
{
	size_t len;

	if (begins(name, "void "))
		name += 5;
	if (begins(name, "Cijk_")) {
		pf_buf_adds(out, "Cijk");
		return;
	}
	if (role == PF_ROLE_GEMM && says_gemm(name)) {
		pf_buf_adds(out, "gemm");
		return;
	}
	len = begins(name, "_Z") ? strlen(name) : strcspn(name, "<");
	if (!begins(name, "(anonymous"))
		len = strcspn(name, "(") < len ? strcspn(name, "(") : len;
	pf_buf_adds(out, "");
	for (size_t i = 0; i < len; i++) {
		bool is_number = isdigit((unsigned char)name[i]);

		if (!is_number)
			pf_buf_add(out, &name[i], 1);
		else if (!i || !isdigit((unsigned char)name[i - 1]))
			pf_buf_adds(out, "#");
	}
}
