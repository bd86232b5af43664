/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "show/base64.h"
#include "show/sha256.h"
#include "base/asset.h"
#include "page/fill.h"

#define SLOT(slot)                                                             \
	{                                                                      \
		.name = #slot, .at = offsetof(struct pf_skeleton, slot)        \
	}
static const struct {
	const char *name;
	size_t at;
} slots[] = {
	SLOT(title),
	SLOT(header),
	SLOT(nav),
	SLOT(fine_link),
	SLOT(verdicts_title),
	SLOT(verdicts),
	SLOT(tiles),
	SLOT(breakdown_title),
	SLOT(breakdown),
	SLOT(sections),
	SLOT(timeline),
	SLOT(fine),
	SLOT(method),
	SLOT(data),
	SLOT(style),
	SLOT(script),
	SLOT(policy),
	SLOT(generator),
};
#define SLOTS (sizeof(slots) / sizeof(*slots))

static const struct pf_buf *html_of(const struct pf_skeleton *s, size_t slot)
{
	return (const struct pf_buf *)((const char *)s + slots[slot].at);
}

static void add_hash(struct pf_buf *out, const struct pf_buf *text)
{
	uint8_t hash[PF_SHA256_BYTES];

	pf_sha256(text->data, text->len, hash);
	pf_buf_adds(out, "'sha256-");
	pf_base64(out, hash, sizeof(hash));
	pf_buf_addc(out, '\'');
}

static int add_asset(struct pf_buf *out, const char *name, struct pf_err *err)
{
	size_t len;
	const char *text = pf_asset(name, &len);

	if (!text)
		return pf_fail(err, PF_EDATA, "'%s' is not compiled in", name);
	pf_buf_add(out, text, len);
	return 0;
}

/* The slot of this name; SLOTS if there is none. */
static size_t find_slot(const char *name, size_t len)
{
	size_t i = 0;

	while (i < SLOTS && (strlen(slots[i].name) != len ||
			     memcmp(slots[i].name, name, len) != 0))
		i++;
	return i;
}

static int fill(const char *text, const struct pf_skeleton *s,
		struct pf_buf *out, struct pf_err *err)
{
	bool is_used[SLOTS] = { false };

	for (;;) {
		const char *open = strstr(text, "{{"), *close;
		size_t slot;

		if (!open)
			break;
		close = strstr(open, "}}");
		if (!close)
			return pf_fail(err, PF_EDATA,
				       "a slot of the page has no end");
		pf_buf_add(out, text, (size_t)(open - text));
		slot = find_slot(open + 2, (size_t)(close - open - 2));
		if (slot == SLOTS)
			return pf_fail(err, PF_EDATA,
				       "unknown slot '%.*s' of the page",
				       (int)(close - open - 2), open + 2);
		is_used[slot] = true;
		if (html_of(s, slot)->len)
			pf_buf_add(out, html_of(s, slot)->data,
				   html_of(s, slot)->len);
		text = close + 2;
	}
	pf_buf_adds(out, text);
	for (size_t i = 0; i < SLOTS; i++)
		if (!is_used[i])
			return pf_fail(err, PF_EDATA,
				       "slot '%s' is not on the page",
				       slots[i].name);
	return 0;
}

int64_t pf_fill_bytes(const struct pf_skeleton *s)
{
	int64_t sum = PF_FILL_BYTES;

	for (size_t i = 0; i < SLOTS; i++)
		sum += (int64_t)html_of(s, i)->len;
	return sum;
}

int pf_fill(struct pf_skeleton *s, struct pf_buf *out, struct pf_err *err)
{
	struct pf_buf text = { 0 };
	int rc = add_asset(&text, "reports/page.html", err);

	if (!rc)
		rc = add_asset(&s->style, "reports/style.css", err);
	if (!rc)
		rc = add_asset(&s->script, "reports/app.js", err);
	if (!rc) {
		pf_buf_adds(&s->policy, "default-src 'none'; script-src ");
		add_hash(&s->policy, &s->script);
		pf_buf_adds(&s->policy, "; style-src ");
		add_hash(&s->policy, &s->style);
		pf_buf_adds(&s->policy, "; img-src data:; base-uri 'none'; "
					"form-action 'none'");
		pf_buf_adds(&s->generator, "profan " PACKAGE_VERSION);
		rc = fill(text.data, s, out, err);
	}
	pf_buf_release(&text);
	return rc;
}

void pf_fill_release(struct pf_skeleton *s)
{
	for (size_t i = 0; i < SLOTS; i++)
		pf_buf_release((struct pf_buf *)((char *)s + slots[i].at));
}
