/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/num.h"
#include "formats/xspace/args.h"

#define DECIMALS_MAX  15
#define NO_ID         INT64_MIN
#define REGISTERS_MAX 1024 /* no GPU has more for a thread */

void pf_xs_quote(struct pf_buf *out, const char *text, size_t len)
{
	struct pf_buf cut = { 0 };

	if (len <= PF_XS_TEXT_MAX) {
		pf_jsonw_quote(out, text, len, false);
		return;
	}
	pf_buf_add(&cut, text, PF_XS_TEXT_MAX);
	pf_buf_adds(&cut, "...");
	pf_jsonw_quote(out, cut.data, cut.len, false);
	pf_buf_release(&cut);
}

/* ---- writing ---- */

void pf_xs_open_args(struct pf_xs_map *m, const struct pf_buf *prefix)
{
	m->mask = 0;
	m->generic = m->filled = 0;
	pf_buf_clear(&m->text);
	if (prefix->len)
		pf_buf_add(&m->text, prefix->data, prefix->len);
}

static void add_key(struct pf_xs_map *m, const char *text, size_t len)
{
	pf_buf_addc(&m->text, m->text.len ? ',' : '{');
	pf_buf_add(&m->text, text, len);
	pf_buf_addc(&m->text, ':');
}

static void add_name(struct pf_xs_map *m, const char *name)
{
	pf_buf_adds(&m->text, m->text.len ? ",\"" : "{\"");
	pf_buf_adds(&m->text, name);
	pf_buf_adds(&m->text, "\":");
}

static void add_holder(struct pf_xs_map *m, enum pf_slot slot, int64_t value)
{
	char holder[2] = { '$', (char)('a' + (int)slot) };

	pf_buf_add(&m->text, holder, 2);
	m->mask |= UINT32_C(1) << slot;
	m->slots[slot] = value;
	m->filled++;
}

void pf_xs_arg_slot(struct pf_xs_map *m, const char *name, enum pf_slot slot,
		    int64_t value)
{
	add_name(m, name);
	add_holder(m, slot, value);
}

void pf_xs_arg_fixed(struct pf_xs_map *m, const char *name, int64_t value)
{
	add_name(m, name);
	pf_buf_addi(&m->text, value);
}

/* A number with so many digits behind the point, which differs by event. */
static bool add_generic(struct pf_xs_map *m, int64_t digits, int decimals)
{
	if (m->generic == PF_SLOT_GENERIC_COUNT || digits >= PF_XS_SLOT_LIMIT ||
	    digits <= -PF_XS_SLOT_LIMIT)
		return false;
	add_holder(m, (enum pf_slot)(PF_SLOT_GENERIC + m->generic++),
		   digits * 16 + decimals);
	return true;
}

static void add_int(struct pf_xs_map *m, uint64_t value, bool is_signed)
{
	int64_t number = (int64_t)value;

	if ((is_signed || number >= 0) && add_generic(m, number, 0))
		return;
	if (is_signed)
		pf_buf_addi(&m->text, number);
	else
		pf_buf_addu(&m->text, value);
}

/* "0.0899415" as 899415 and 7; false: it is no such number. */
static bool split_decimal(const char *text, int64_t *digits, int *decimals)
{
	bool is_negative = *text == '-', has_point = false;

	*digits = 0;
	*decimals = 0;
	for (text += is_negative; *text; text++) {
		if (*text == '.' && !has_point) {
			has_point = true;
			continue;
		}
		if (*text < '0' || *text > '9' ||
		    *digits >= PF_XS_SLOT_LIMIT / 10)
			return false;
		*digits = *digits * 10 + (*text - '0');
		*decimals += has_point;
	}
	/* "-0" would lose its sign. */
	if (*decimals > DECIMALS_MAX || (is_negative && !*digits))
		return false;
	if (is_negative)
		*digits = -*digits;
	return true;
}

/* Many are whole. */
static bool is_whole(double d)
{
	return d >= 0 && d < (double)PF_XS_SLOT_LIMIT &&
	       d == (double)(int64_t)d && !signbit(d);
}

bool pf_xs_decimal(uint64_t bits, int64_t *value)
{
	char text[PF_NUM_MAX];
	int decimals;
	double d;

	memcpy(&d, &bits, sizeof(d));
	if (is_whole(d)) {
		*value = (int64_t)d * 16;
		return true;
	}
	if (!isfinite(d) ||
	    !split_decimal(pf_num_exact(text, d), value, &decimals))
		return false;
	if (*value >= PF_XS_SLOT_LIMIT || *value <= -PF_XS_SLOT_LIMIT)
		return false;
	*value = *value * 16 + decimals;
	return true;
}

static void add_real(struct pf_xs_map *m, uint64_t bits)
{
	char text[PF_NUM_MAX];
	int64_t value;
	double d;

	memcpy(&d, &bits, sizeof(d));
	if (!isfinite(d))
		pf_buf_adds(&m->text, "null");
	else if (!pf_xs_decimal(bits, &value) ||
		 !add_generic(m, value >> 4, (int)(value & 15)))
		pf_buf_adds(&m->text, pf_num_exact(text, d));
}

uint32_t pf_xs_close_args(struct pf_xs_map *m)
{
	if (!m->text.len)
		return PF_ID_NONE;
	pf_buf_addc(&m->text, '}');
	return pf_dict_find(&m->parsed.args, m->text.data, m->text.len,
			    m->mask);
}

/* ---- statistics ---- */

int pf_xs_stat_text(struct pf_xs_map *m, const struct pf_xs_stat *stat,
		    const char **text, size_t *len, struct pf_err *err)
{
	const struct pf_xs_key *key;

	*text = "";
	*len = 0;
	if (stat->kind == 5) {
		*text = (const char *)stat->text.p;
		*len = (size_t)(stat->text.end - stat->text.p);
	} else if (stat->kind == 7) {
		key = pf_xs_find_key(m, (int64_t)stat->value, err);
		if (!key)
			return -1;
		if (key->len) {
			*text = pf_xs_key_text(m->memos, key) + 1;
			*len = key->len - 2;
		}
	}
	return 0;
}

/* A text that nothing defines. */
static void add_unknown(struct pf_xs_map *m, int64_t id)
{
	pf_buf_addf(&m->text, "\"unknown %" PRId64 "\"", id);
}

static int add_reference(struct pf_xs_map *m, uint64_t id, struct pf_err *err)
{
	const struct pf_xs_key *key = pf_xs_find_key(m, (int64_t)id, err);

	if (!key)
		return -1;
	if (key->len)
		pf_buf_add(&m->text, pf_xs_key_text(m->memos, key), key->len);
	else
		add_unknown(m, (int64_t)id);
	return 0;
}

int pf_xs_arg_stat(struct pf_xs_map *m, const struct pf_xs_key *key,
		   const struct pf_xs_stat *stat, struct pf_err *err)
{
	char unknown[48];

	if (stat->kind == 6 || stat->kind == 8)
		return 0;
	if (key->len) {
		add_key(m, pf_xs_key_text(m->memos, key), key->len);
	} else {
		snprintf(unknown, sizeof(unknown), "unknown %" PRId64,
			 stat->id);
		add_name(m, unknown);
	}
	switch (stat->kind) {
	case 2:
		add_real(m, stat->value);
		return 0;
	case 3:
	case 4:
		add_int(m, stat->value, stat->kind == 4);
		return 0;
	case 5:
		pf_xs_quote(&m->text, (const char *)stat->text.p,
			    (size_t)(stat->text.end - stat->text.p));
		return 0;
	case 7:
		return add_reference(m, stat->value, err);
	default:
		pf_buf_adds(&m->text, "null");
		return 0;
	}
}

/* ---- details: words "key:value" with blanks between ---- */

struct word {
	const char *key, *value, *end;
	size_t key_len;
};

static bool next_word(const char **p, const char *end, struct word *w)
{
	const char *colon;

	while (*p < end && **p == ' ')
		++*p;
	w->key = *p;
	w->end = *p < end ? memchr(*p, ' ', (size_t)(end - *p)) : NULL;
	if (!w->end)
		w->end = end;
	*p = w->end;
	colon = memchr(w->key, ':', (size_t)(w->end - w->key));
	if (w->key == w->end)
		return false;
	w->value = colon ? colon + 1 : w->end;
	w->key_len = (size_t)((colon ? colon : w->end) - w->key);
	return true;
}

static bool is_key(const struct word *w, const char *key)
{
	return strlen(key) == w->key_len && !memcmp(key, w->key, w->key_len);
}

/* A number up to 2^58 that ends where the word does or at a comma. */
static bool take_number(const char **p, const char *end, int64_t *out)
{
	const char *from = *p;

	*out = 0;
	for (; *p < end && **p >= '0' && **p <= '9'; ++*p) {
		if (*out >= PF_XS_SLOT_LIMIT / 10)
			return false;
		*out = *out * 10 + (**p - '0');
	}
	return *p > from && (*p == end || **p == ',');
}

static bool take_triple(const struct word *w, int64_t out[3])
{
	const char *p = w->value;

	for (int i = 0; i < 3; i++) {
		if (!take_number(&p, w->end, &out[i]) || out[i] > UINT32_MAX)
			return false;
		p += p < w->end && i < 2;
	}
	return p == w->end;
}

static void arg_triple(struct pf_xs_map *m, const char *key,
		       const struct word *w)
{
	int64_t v[3];

	if (!take_triple(w, v))
		return;
	add_name(m, key);
	pf_buf_addf(&m->text, "[%" PRId64 ",%" PRId64 ",%" PRId64 "]", v[0],
		    v[1], v[2]);
}

/*
 * Registers and shared memory are what the profiler was given: where there
 * are more registers than any GPU has, neither was.
 */
void pf_xs_arg_kernel(struct pf_xs_map *m, const char *text, size_t len)
{
	static const char *const shared[] = { "shm", "static_shared",
					      "dynamic_shared", "group_mem" };
	const char *p = text, *end = text + len;
	int64_t registers = -1, bytes = -1, n;
	struct word w;

	while (next_word(&p, end, &w)) {
		const char *value = w.value;

		if (is_key(&w, "grid"))
			arg_triple(m, "grid", &w);
		else if (is_key(&w, "block"))
			arg_triple(m, "block", &w);
		else if (is_key(&w, "regs") && take_number(&value, w.end, &n))
			registers = n;
		for (size_t i = 0; i < sizeof(shared) / sizeof(*shared); i++)
			if (is_key(&w, shared[i]) &&
			    take_number(&value, w.end, &n))
				bytes = (bytes < 0 ? 0 : bytes) + n;
	}
	if (registers > REGISTERS_MAX)
		return;
	if (registers >= 0)
		pf_xs_arg_fixed(m, "registers per thread", registers);
	if (bytes >= 0)
		pf_xs_arg_fixed(m, "shared memory", bytes);
}

void pf_xs_arg_copy(struct pf_xs_map *m, const char *text, size_t len)
{
	const char *p = text, *end = text + len;
	struct word w;
	int64_t n;

	while (next_word(&p, end, &w)) {
		const char *value = w.value;

		if (!is_key(&w, "size") || !take_number(&value, w.end, &n))
			continue;
		if (!(m->mask >> PF_SLOT_BYTES & 1))
			pf_xs_arg_slot(m, "bytes", PF_SLOT_BYTES, n);
	}
}

/* ---- statistics of metadata ---- */

void pf_xs_keep_stat(struct pf_buf *out, struct pf_wire stat)
{
	uint32_t len = (uint32_t)(stat.end - stat.p);

	pf_buf_add(out, &len, sizeof(len));
	pf_buf_add(out, stat.p, len);
}

/* What is in m->text, as a piece without slots. */
static void keep_piece(struct pf_xs_map *m, int64_t id)
{
	struct pf_xs_more more = { .id = id, .len = (uint32_t)m->text.len };

	if (!m->text.len)
		return;
	m->text.data[0] = ',';
	pf_buf_add(&m->memos->pieces, &more, sizeof(more));
	pf_buf_add(&m->memos->pieces, m->text.data, m->text.len);
}

int pf_xs_add_more(struct pf_xs_map *m, size_t *at, struct pf_err *err)
{
	static const struct pf_buf nothing;
	const char *p = m->memos->extra.data + *at;
	const struct pf_xs_key *key;
	struct pf_xs_stat stat;
	struct pf_wire message;
	uint32_t len;

	memcpy(&len, p, sizeof(len));
	p += sizeof(len);
	*at += sizeof(len) + len;
	message.p = (const unsigned char *)p;
	message.end = message.p + len;
	if (!pf_xs_stat_read(message, &stat))
		return 0;
	key = pf_xs_find_key(m, stat.id, err);
	if (!key)
		return -1;
	pf_xs_open_args(m, &nothing);
	m->generic = PF_SLOT_GENERIC_COUNT; /* it repeats: no slots */
	if (pf_xs_arg_stat(m, key, &stat, err))
		return -1;
	keep_piece(m, stat.id);
	return 0;
}

void pf_xs_add_long_name(struct pf_xs_map *m, const struct pf_buf *name)
{
	static const struct pf_buf nothing;

	pf_xs_open_args(m, &nothing);
	add_name(m, "long_name");
	pf_xs_quote(&m->text, name->data, name->len);
	keep_piece(m, NO_ID);
}
