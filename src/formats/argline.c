/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <math.h>

#include "base/json.h"
#include "base/num.h"
#include "formats/argline.h"

void pf_argline_release(struct pf_argline *a)
{
	pf_buf_release(&a->text);
}

void pf_argline_open(struct pf_argline *a)
{
	a->mask = 0;
	a->generic = 0;
	pf_buf_clear(&a->text);
}

void pf_argline_set(struct pf_argline *a, enum pf_slot slot, int64_t value)
{
	a->mask |= UINT32_C(1) << slot;
	a->slots[slot] = value;
}

void pf_argline_key(struct pf_argline *a, const char *key)
{
	pf_buf_adds(&a->text, a->text.len ? ",\"" : "{\"");
	pf_buf_adds(&a->text, key);
	pf_buf_adds(&a->text, "\":");
}

void pf_argline_slot(struct pf_argline *a, const char *key, enum pf_slot slot,
		     int64_t value)
{
	char holder[3] = { '$', (char)('a' + (int)slot), '\0' };

	pf_argline_key(a, key);
	pf_buf_adds(&a->text, holder);
	pf_argline_set(a, slot, value);
}

void pf_argline_address(struct pf_argline *a, const char *key, uint64_t value)
{
	char first = value > INT64_MAX ? 'A' : 'a';
	char holder[3] = { '$', (char)(first + PF_SLOT_ADDR), '\0' };

	pf_argline_key(a, key);
	pf_buf_adds(&a->text, holder);
	pf_argline_set(a, PF_SLOT_ADDR, (int64_t)value);
}

void pf_argline_number(struct pf_argline *a, const char *key, uint64_t value)
{
	if (a->generic < PF_SLOT_GENERIC_COUNT && value < UINT64_C(1) << 58) {
		enum pf_slot slot =
			(enum pf_slot)(PF_SLOT_GENERIC + a->generic++);

		pf_argline_slot(a, key, slot, (int64_t)(value << 4));
		return;
	}
	pf_argline_key(a, key);
	pf_buf_addu(&a->text, value);
}

void pf_argline_fixed(struct pf_argline *a, const char *key, int64_t value)
{
	pf_argline_key(a, key);
	pf_buf_addi(&a->text, value);
}

void pf_argline_real(struct pf_argline *a, const char *key, double value)
{
	char text[PF_NUM_MAX];

	if (!isfinite(value))
		return;
	pf_num_exact(text, value);
	pf_argline_key(a, key);
	pf_buf_adds(&a->text, text);
}

/*
 * Arguments of thousands of events are held at once, so one text of a file
 * must not fill them all.
 */
#define TEXT_MAX 4096

void pf_argline_text(struct pf_argline *a, const char *key, const char *text,
		     size_t len)
{
	struct pf_buf cut = { 0 };

	pf_argline_key(a, key);
	if (len <= TEXT_MAX) {
		pf_jsonw_quote(&a->text, text, len, false);
		return;
	}
	pf_buf_add(&cut, text, TEXT_MAX);
	pf_buf_adds(&cut, "...");
	pf_jsonw_quote(&a->text, cut.data, cut.len, false);
	pf_buf_release(&cut);
}

uint32_t pf_argline_close(struct pf_argline *a, struct pf_dict *args)
{
	if (!a->text.len)
		return PF_ID_NONE;
	pf_buf_addc(&a->text, '}');
	return pf_dict_find(args, a->text.data, a->text.len, a->mask);
}
