/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdbool.h>
#include <string.h>

#include "base/base64.h"
#include "base/sha256.h"
#include "embed/asset.h"
#include "report/fill.h"

#define SLOTS_MAX 32
#define OWN_SLOTS 4

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

/* The slot that "{{name}}" at *at names; -1 if there is none. */
static int find_slot(const struct pf_slot *slots, const char *name, size_t len)
{
	for (int i = 0; slots[i].name; i++)
		if (strlen(slots[i].name) == len &&
		    !memcmp(slots[i].name, name, len))
			return i;
	return -1;
}

static int fill(const char *text, const struct pf_slot *slots,
		struct pf_buf *out, struct pf_err *err)
{
	bool is_used[SLOTS_MAX] = { false };

	for (;;) {
		const char *open = strstr(text, "{{"), *close;
		int slot;

		if (!open)
			break;
		close = strstr(open, "}}");
		if (!close)
			return pf_fail(err, PF_EDATA,
				       "a slot of the page has no end");
		pf_buf_add(out, text, (size_t)(open - text));
		slot = find_slot(slots, open + 2, (size_t)(close - open - 2));
		if (slot < 0)
			return pf_fail(err, PF_EDATA,
				       "unknown slot '%.*s' of the page",
				       (int)(close - open - 2), open + 2);
		is_used[slot] = true;
		if (slots[slot].html->len)
			pf_buf_add(out, slots[slot].html->data,
				   slots[slot].html->len);
		text = close + 2;
	}
	pf_buf_adds(out, text);
	for (int i = 0; slots[i].name; i++)
		if (!is_used[i])
			return pf_fail(err, PF_EDATA,
				       "slot '%s' is not on the page",
				       slots[i].name);
	return 0;
}

int64_t pf_fill_bytes(const struct pf_slot *slots)
{
	int64_t sum = PF_FILL_BYTES;

	for (; slots->name; slots++)
		sum += (int64_t)slots->html->len;
	return sum;
}

int pf_fill(const char *skeleton, const struct pf_slot *slots,
	    struct pf_buf *out, struct pf_err *err)
{
	const char *text = pf_asset(skeleton, NULL);
	struct pf_buf style = { 0 }, script = { 0 }, policy = { 0 },
		      generator = { 0 };
	struct pf_slot all[SLOTS_MAX] = { { "style", &style },
					  { "script", &script },
					  { "policy", &policy },
					  { "generator", &generator } };
	size_t n = OWN_SLOTS;
	int rc = 0;

	if (!text)
		return pf_fail(err, PF_EDATA, "'%s' is not compiled in",
			       skeleton);
	for (; slots->name && n + 1 < SLOTS_MAX; slots++)
		all[n++] = *slots;
	rc = add_asset(&style, "reports/style.css", err);
	if (!rc)
		rc = add_asset(&script, "reports/app.js", err);
	if (!rc) {
		pf_buf_adds(&policy, "default-src 'none'; script-src ");
		add_hash(&policy, &script);
		pf_buf_adds(&policy, "; style-src ");
		add_hash(&policy, &style);
		pf_buf_adds(&policy, "; img-src data:; base-uri 'none'; "
				     "form-action 'none'");
		pf_buf_adds(&generator, "profan " PACKAGE_VERSION);
		rc = fill(text, all, out, err);
	}
	pf_buf_release(&style);
	pf_buf_release(&script);
	pf_buf_release(&policy);
	pf_buf_release(&generator);
	return rc;
}
