/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "base/mem.h"
#include "formats/event.h"
#include "formats/number.h"

static inline bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool ends_number(char c)
{
	return !is_digit(c) && c != '.' && (c | 32) != 'e' && c != '+' &&
	       c != '-';
}

/* Eight bytes, the first lowest, as what they are beyond '0'. */
static inline uint64_t load_digits(const char *p)
{
	uint64_t w;

	memcpy(&w, p, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	w = __builtin_bswap64(w);
#endif
	return w ^ UINT64_C(0x3030303030303030);
}

/* Eight digits, the first in the lowest byte, in three multiplications. */
static inline uint64_t eight_digits(uint64_t w)
{
	const uint64_t pairs = UINT64_C(0x000000ff000000ff);

	w = w * 10 + (w >> 8);
	return ((w & pairs) * UINT64_C(0x000f424000000064) +
		(w >> 16 & pairs) * UINT64_C(0x0000271000000001)) >>
	       32;
}

/*
 * Digits at p into *v, up to eight at once; the caller limits how many can be
 * meant.
 */
static inline const char *read_digits(const char *p, uint64_t *v)
{
	static const uint64_t power[] = { 1,     10,     100,     1000,
					  10000, 100000, 1000000, 10000000 };
	uint64_t x = *v;

	for (;; p += 8) {
		uint64_t w = load_digits(p);
		uint64_t bad = ((w + UINT64_C(0x7676767676767676)) | w) &
			       UINT64_C(0x8080808080808080);
		unsigned count;

		if (bad) {
			count = (unsigned)__builtin_ctzll(bad) / 8;
			if (count)
				x = x * power[count] +
				    eight_digits(w << (64 - 8 * count));
			*v = x;
			return p + count;
		}
		x = x * 100000000 + eight_digits(w);
	}
}

/* digits * 10^power -> ns in *t; handles every length and exponent. */
static void scale_time(const char *digits, size_t count, int64_t power,
		       bool negative, struct pf_time *t)
{
	uint64_t v = 0;
	int64_t kept = (int64_t)count + power; /* digits before the ns point */
	int round = 0;

	while (count && *digits == '0') {
		digits++;
		count--;
		kept--;
	}
	if (!count)
		return;
	if (kept > 19) {
		t->overflow = true;
		return;
	}
	for (int64_t i = 0; i < kept; i++)
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(
			    v, i < (int64_t)count ? digits[i] - '0' : 0, &v))
			t->overflow = true;
	for (int64_t i = kept < 0 ? 0 : kept; i < (int64_t)count; i++)
		t->rounded |= digits[i] != '0';
	if (kept >= 0 && kept < (int64_t)count)
		round = digits[kept] >= '5';
	v += (uint64_t)round;
	if (v > INT64_MAX)
		t->overflow = true;
	if (!t->overflow)
		t->ns = negative ? -(int64_t)v : (int64_t)v;
}

/* Odd forms: exponents, many digits.  Grammar is JSON's. */
static const char *time_slowly(const char *p, struct pf_time *t)
{
	char digits[80];
	size_t count = 0;
	int64_t power = 3, exponent = 0;
	bool negative = *p == '-', negative_exponent;

	memset(t, 0, sizeof(*t));
	p += negative;
	if (!is_digit(*p) || (*p == '0' && is_digit(p[1])))
		return NULL;
	for (; is_digit(*p) && count < 64; p++)
		digits[count++] = *p;
	if (*p == '.') {
		if (!is_digit(*++p))
			return NULL;
		for (; is_digit(*p) && count < 64; p++) {
			digits[count++] = *p;
			t->fraction_digits++;
			power--;
		}
	}
	if (is_digit(*p))
		return NULL;
	if ((*p | 32) == 'e') {
		negative_exponent = *++p == '-';
		if (*p == '-' || *p == '+')
			p++;
		if (!is_digit(*p))
			return NULL;
		for (; is_digit(*p); p++)
			if (exponent < 10000)
				exponent = exponent * 10 + (*p - '0');
		power += negative_exponent ? -exponent : exponent;
	}
	if (!ends_number(*p))
		return NULL;
	scale_time(digits, count, power, negative, t);
	/* 1 ps too much, for readers that cut: what profan slice writes */
	if (t->fraction_digits == 6 && power == -3 &&
	    !memcmp(digits + count - 3, "001", 3)) {
		t->fraction_digits = 3;
		t->rounded = false;
	}
	return p;
}

const char *pf_number_time(const char *p, struct pf_time *t)
{
	static const unsigned scale[] = { 1000, 100, 10, 1 };
	const char *start = p, *q;
	uint64_t v = 0;
	size_t fraction = 0;
	bool negative = *p == '-';

	p += negative;
	q = read_digits(p, &v);
	/* 16 digits and 3 behind the point fit into v, not always into ns. */
	if (q == p || q - p > 16 || (*p == '0' && q - p > 1))
		return time_slowly(start, t);
	if (*q == '.') {
		p = q + 1;
		q = read_digits(p, &v);
		fraction = (size_t)(q - p);
		if (fraction == 0 || fraction > 3)
			return time_slowly(start, t);
	}
	if (!ends_number(*q))
		return time_slowly(start, t);
	v *= scale[fraction];
	if (v > INT64_MAX)
		return time_slowly(start, t);
	t->ns = negative ? -(int64_t)v : (int64_t)v;
	t->fraction_digits = (unsigned)fraction;
	t->rounded = t->overflow = false;
	return q;
}

const char *pf_number_integer(const char *p, int64_t *value)
{
	bool negative = *p == '-';
	uint64_t v = 0;
	const char *q;

	p += negative;
	q = read_digits(p, &v);
	if (q == p || q - p > 18 || (*p == '0' && (q - p > 1 || negative)) ||
	    !ends_number(*q))
		return NULL;
	*value = negative ? -(int64_t)v : (int64_t)v;
	return q;
}

const char *pf_number_decimal(const char *p, int64_t *value)
{
	bool negative = *p == '-';
	uint64_t v = 0;
	const char *q;
	size_t whole, fraction = 0;

	p += negative;
	q = read_digits(p, &v);
	whole = (size_t)(q - p);
	if (!whole || (*p == '0' && whole > 1))
		return NULL;
	if (*q == '.') {
		p = q + 1;
		q = read_digits(p, &v);
		fraction = (size_t)(q - p);
		if (!fraction || fraction > 15)
			return NULL;
	}
	if (whole + fraction > 17 || !ends_number(*q) || (negative && !v))
		return NULL;
	*value = (negative ? -(int64_t)v : (int64_t)v) * 16 + (int64_t)fraction;
	return q;
}

/* Keys of Kineto's args whose values are numbers. */
struct number_key {
	const char *key;
	int slot;
};

static const struct number_key number_keys[] = {
	{ "External id", PF_SLOT_EXTERNAL_ID },
	{ "external id", PF_SLOT_EXTERNAL_ID },
	{ "correlation", PF_SLOT_CORRELATION },
	{ "connection_id", PF_SLOT_CORRELATION }, /* of torch_npu and msprof */
	{ "Ev Idx", PF_SLOT_EV_IDX },
	{ "Profiler Event Index", PF_SLOT_EV_IDX },
	{ "Record function id", PF_SLOT_RF_ID },
	{ "Sequence number", PF_SLOT_SEQUENCE },
	{ "Fwd thread id", PF_SLOT_FWD_THREAD },
	{ "Python id", PF_SLOT_PY_ID },
	{ "Python parent id", PF_SLOT_PY_PARENT },
	{ "Python module id", PF_SLOT_PY_MODULE },
	{ "Bytes", PF_SLOT_BYTES },
	{ "bytes", PF_SLOT_BYTES },
	{ "size", PF_SLOT_BYTES },
	{ "Addr", PF_SLOT_ADDR },
	{ "ptr", PF_SLOT_ADDR },
	{ "Total Allocated", PF_SLOT_ALLOCATED },
	{ "Total Reserved", PF_SLOT_RESERVED },
	{ "memory bandwidth (GB/s)", PF_SLOT_BANDWIDTH },
	/* These repeat: they stay in the text. */
	{ "device", -1 },
	{ "context", -1 },
	{ "stream", -1 },
	{ "queued", -1 },
	{ "registers per thread", -1 },
	{ "shared memory", -1 },
	{ "blocks per SM", -1 },
	{ "warps per SM", -1 },
	{ "est. achieved occupancy %", -1 },
	{ "cbid", -1 },
	{ "cid", -1 },
	{ "Device", -1 },
	{ "Device Type", -1 },
	{ "Device Id", -1 },
	{ "Trace iteration", -1 },
	{ "Op count", -1 },
	{ "Group size", -1 },
	{ "Rank", -1 },
	{ "Src Rank", -1 },
	{ "Dst Rank", -1 },
	{ "fromDevice", -1 },
	{ "inDevice", -1 },
	{ "toDevice", -1 },
	{ "fromContext", -1 },
	{ "inContext", -1 },
	{ "toContext", -1 },
	{ "graph id", -1 },
	{ "priority", -1 },
	{ "wait_on_stream", -1 },
	{ "kind", -1 },
	{ "src", -1 },
	{ "dst", -1 },
	{ "num_warps", -1 },
	{ "num_stages", -1 },
	{ "In msg nelems", -1 },
	{ "Out msg nelems", -1 },
	{ "sort_index", -1 },
};
#define NUMBER_KEYS (PF_LEN(number_keys))

/*
 * Keys hashed by length, first, second and last byte into a table of chains;
 * filled at load time, so that threads find it ready.
 */
#define BUCKETS 128
static uint8_t bucket_first[BUCKETS], chain_next[NUMBER_KEYS];
static uint8_t key_lens[NUMBER_KEYS];

static unsigned key_bucket(const char *key, size_t len)
{
	return ((unsigned)len * 7 + (unsigned char)key[0] * 3 +
		(unsigned char)key[len / 2] * 5 +
		(unsigned char)key[len - 1] * 11) %
	       BUCKETS;
}

__attribute__((constructor)) static void fill_buckets(void)
{
	for (size_t i = NUMBER_KEYS; i-- > 0;) {
		const char *key = number_keys[i].key;
		unsigned b = key_bucket(key, strlen(key));

		key_lens[i] = (uint8_t)strlen(key);
		chain_next[i] = bucket_first[b];
		bucket_first[b] = (uint8_t)(i + 1);
	}
}

int pf_number_slot(const char *key, size_t len)
{
	if (!len)
		return PF_SLOT_GENERIC;
	for (unsigned i = bucket_first[key_bucket(key, len)]; i;
	     i = chain_next[i - 1])
		if (key_lens[i - 1] == len &&
		    !memcmp(number_keys[i - 1].key, key, len))
			return number_keys[i - 1].slot;
	return PF_SLOT_GENERIC;
}
