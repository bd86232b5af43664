/* SPDX-License-Identifier: MIT */
/*
 * The column codec.  Stored form of a column (see also schema/README.md):
 *
 *	version byte, form byte, body, 32-bit little-endian checksum of the
 *	column number, the count of values and everything before it
 *
 * A column's values are first turned into unsigned numbers that are small
 * when the column is well-behaved (turn() and its inverse); these are written
 * as varints, or as (varint, length - 1) pairs when runs make that shorter;
 * the result is the body, compressed when that pays.
 *
 * Invariants: the encoder's output depends on the block alone; the decoder
 * writes at most "values" places, rounded up to WIDEN, and reads only inside
 * the data and its own scratch, whatever the bytes are.
 */
#include "config.h"

#include "store/block.h"

#include <inttypes.h>
#include <pthread.h>
#include <zstd.h>

#include "base/heap.h"
#include "base/intern.h"
#include "base/mem.h"
#include "base/search.h"
#include "store/cursor.h"
#include "store/kept.h"
#include "store/threads.h"
#include "store/varint.h"

#define CODEC_VERSION 1
#define FORM_PLAIN    0    /* one varint a value */
#define FORM_RUNS     1    /* pairs of varints: value, times - 1 */
#define FORM_TEXT     2    /* bytes as they are (INLINE) */
#define FORM_ZSTD     0x10 /* the body is a zstd frame */
#define HEAD_BYTES    2
#define SUM_BYTES     4
#define MIN_PACKED    48 /* shorter bodies are not compressed */
#define BODY_MAX      ((size_t)PF_BLOCK_EVENTS * 2 * PF_VARINT_MAX)
#define TEXT_MAX      ((size_t)256 << 20)
#define ZSTD_LEVEL    1
#define WIDEN         16 /* values at once: arrays have room for so many */

/* ---- scratch: one a thread, kept until the thread ends ---- */

struct scratch {
	ZSTD_CCtx *pack;
	ZSTD_DCtx *unpack;
	uint64_t number[PF_BLOCK_EVENTS + WIDEN];
	unsigned char body[BODY_MAX + 2 * PF_VARINT_MAX];
};

static pthread_key_t scratch_key;
static pthread_once_t scratch_once = PTHREAD_ONCE_INIT;
static __thread struct scratch *own_scratch;

static void free_scratch(void *p)
{
	struct scratch *s = p;

	ZSTD_freeCCtx(s->pack);
	ZSTD_freeDCtx(s->unpack);
	free(s);
	own_scratch = NULL;
}

static void make_key(void)
{
	pthread_key_create(&scratch_key, free_scratch);
}

static struct scratch *scratch(void)
{
	struct scratch *s = own_scratch;

	if (s)
		return s;
	pthread_once(&scratch_once, make_key);
	s = pf_alloc(sizeof(*s));
	s->pack = ZSTD_createCCtx();
	s->unpack = ZSTD_createDCtx();
	own_scratch = s;
	pthread_setspecific(scratch_key, s);
	return s;
}

/* ---- the block ---- */

static void *take_array(char **from, bool is_wanted, size_t bytes)
{
	static int64_t zeros[PF_BLOCK_EVENTS]; /* never written */
	char *at = *from;

	if (!is_wanted)
		return zeros;
	*from += bytes;
	return at;
}

/*
 * For at most so many events, and with those columns alone that are asked
 * for: small tracks and plain readers take little memory.
 */
static void block_init_for(struct pf_block *b, uint32_t events,
			   uint64_t columns)
{
	const uint64_t ids = PF_COLBIT(PF_COL_INLINE) - PF_COLBIT(PF_COL_NAME);
	size_t n = (events + WIDEN - 1) & ~(WIDEN - 1);
	uint64_t wide = columns & (PF_COLBIT(PF_COL_COUNT) - 1) & ~ids;
	char *at = pf_calloc(
		n, 8 * (size_t)__builtin_popcountll(wide) +
			   4 * (size_t)__builtin_popcountll(columns & ids));

	*b = (struct pf_block){ .capacity = (uint32_t)n, .memory = at };
#define TAKE(column, bytes) take_array(&at, columns >> (column)&1, n * (bytes))
	b->start_ns = TAKE(PF_COL_START, 8);
	b->dur_ns = TAKE(PF_COL_DUR, 8);
	b->order = TAKE(PF_COL_ORDER, 8);
	for (int i = 0; i < PF_SLOT_COUNT; i++)
		if (columns >> (PF_COL_SLOT + i) & 1)
			b->slot[i] = TAKE(PF_COL_SLOT + i, 8);
	b->name = TAKE(PF_COL_NAME, 4);
	b->type = TAKE(PF_COL_TYPE, 4);
	b->args = TAKE(PF_COL_ARGS, 4);
	b->parent = TAKE(PF_COL_PARENT, 4);
	b->mask = TAKE(PF_COL_MASK, 4);
#undef TAKE
}

void pf_block_init(struct pf_block *b, uint32_t events)
{
	block_init_for(b, events, PF_COLS_ALL);
}

void pf_block_release(struct pf_block *b)
{
	free(b->memory);
	pf_buf_release(&b->inline_text);
	memset(b, 0, sizeof(*b));
}

/* ---- copies ---- */

/* In steps of WIDEN, which makes it a matter of vectors. */
#define COPY(name, to_type, from_type, sum_type)                               \
	static void name(void *restrict to, const void *restrict from,         \
			 size_t n, uint64_t base)                              \
	{                                                                      \
		const from_type *in = from;                                    \
		to_type *out = to;                                             \
		const sum_type add = (sum_type)base;                           \
                                                                               \
		for (size_t i = 0; i < n; i += WIDEN)                          \
			for (size_t k = 0; k < WIDEN; k++)                     \
				out[i + k] = (to_type)(in[i + k] + add);       \
	}
COPY(from_1_to_4, uint32_t, uint8_t, uint32_t)
COPY(from_2_to_4, uint32_t, uint16_t, uint32_t)
COPY(from_4_to_4, uint32_t, uint32_t, uint32_t)
COPY(from_4_to_2, uint16_t, uint32_t, uint32_t)
COPY(from_4_to_1, uint8_t, uint32_t, uint32_t)
COPY(from_2_to_8, uint64_t, uint16_t, uint64_t)
COPY(from_4_to_8, uint64_t, uint32_t, uint64_t)
COPY(from_id_to_8, uint64_t, uint32_t, uint32_t)
COPY(from_8_to_8, uint64_t, uint64_t, uint64_t)
COPY(from_8_to_4, uint32_t, uint64_t, uint64_t)
COPY(from_8_to_2, uint16_t, uint64_t, uint64_t)

/* ---- columns ---- */

enum turn {
	TURN_RISE,  /* difference to the one before: sorted columns */
	TURN_DELTA, /* the same, zigzag */
	TURN_VALUE, /* as it is */
	TURN_ID,    /* 32 bits, + 2, so that PF_ID_INLINE and _NONE are 0, 1 */
	TURN_WORD,  /* 32 bits as they are */
};

struct place {
	enum turn turn;
	int64_t *wide; /* one of these two */
	uint32_t *narrow;
	uint32_t values;
};

static bool is_slot(enum pf_column c)
{
	return c >= PF_COL_SLOT && c < PF_COL_COUNT;
}

/* Where a column lies in a block of b->count events; false: no such column. */
static bool find_place(const struct pf_block *b, enum pf_column c,
		       struct place *out)
{
	const uint32_t n = b->count;
	const struct place of_events[] = {
		[PF_COL_START] = { TURN_RISE, b->start_ns, NULL, n },
		[PF_COL_DUR] = { TURN_VALUE, b->dur_ns, NULL, n },
		[PF_COL_ORDER] = { TURN_DELTA, b->order, NULL, n },
		[PF_COL_NAME] = { TURN_ID, NULL, b->name, n },
		[PF_COL_TYPE] = { TURN_WORD, NULL, b->type, n },
		[PF_COL_ARGS] = { TURN_ID, NULL, b->args, n },
		[PF_COL_PARENT] = { TURN_WORD, NULL, b->parent, n },
		[PF_COL_MASK] = { TURN_WORD, NULL, b->mask, n },
	};

	if (is_slot(c))
		*out = (struct place){ TURN_DELTA, b->slot[c - PF_COL_SLOT],
				       NULL, b->slot_count[c - PF_COL_SLOT] };
	else if (c < PF_LEN(of_events))
		*out = of_events[c];
	else
		return false;
	return true;
}

static inline uint64_t zigzag(uint64_t d)
{
	return d << 1 ^ (0 - (d >> 63));
}

/* Each to the one before; in steps of WIDEN, as copies. */
static void find_differences(uint64_t *restrict out, const int64_t *restrict in,
			     uint32_t values)
{
	uint32_t i = 1;

	if (values)
		out[0] = (uint64_t)in[0];
	for (; i + WIDEN <= values; i += WIDEN)
		for (size_t k = 0; k < WIDEN; k++)
			out[i + k] =
				(uint64_t)in[i + k] - (uint64_t)in[i + k - 1];
	for (; i < values; i++)
		out[i] = (uint64_t)in[i] - (uint64_t)in[i - 1];
}

static void turn(const struct place *p, uint64_t *out)
{
	switch (p->turn) {
	case TURN_RISE:
		find_differences(out, p->wide, p->values);
		break;
	case TURN_DELTA:
		find_differences(out, p->wide, p->values);
		for (uint32_t i = 0; i < p->values; i += WIDEN)
			for (size_t k = 0; k < WIDEN; k++)
				out[i + k] = zigzag(out[i + k]);
		break;
	case TURN_VALUE:
		from_8_to_8(out, p->wide, p->values, 0);
		break;
	case TURN_ID:
	case TURN_WORD:
		from_id_to_8(out, p->narrow, p->values,
			     p->turn == TURN_ID ? 2 : 0);
		break;
	}
}

static inline uint64_t bits_of_8(const uint64_t *n)
{
	return (n[0] | n[1]) | (n[2] | n[3]) | (n[4] | n[5]) | (n[6] | n[7]);
}

static uint64_t bits_of(const uint64_t *number, size_t count)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < count; i += 8)
		bits |= bits_of_8(number + i);
	return bits;
}

/* The inverse; false when a number does not fit the column.  Zeros follow. */
static bool turn_back(const struct place *p, const uint64_t *in)
{
	uint64_t last = 0;

	switch (p->turn) {
	case TURN_RISE:
		for (uint32_t i = 0; i < p->values; i++)
			p->wide[i] = (int64_t)(last += in[i]);
		break;
	case TURN_DELTA:
		for (uint32_t i = 0; i < p->values; i++) {
			last += in[i] >> 1 ^ (0 - (in[i] & 1));
			p->wide[i] = (int64_t)last;
		}
		break;
	case TURN_VALUE:
		from_8_to_8(p->wide, in, p->values, 0);
		return bits_of(in, p->values) <= INT64_MAX;
	case TURN_ID:
	case TURN_WORD:
		from_8_to_4(p->narrow, in, p->values,
			    p->turn == TURN_ID ? (uint64_t)-2 : 0);
		return bits_of(in, p->values) <= UINT32_MAX;
	}
	return true;
}

/* ---- checksum ---- */

static uint32_t checksum(enum pf_column c, uint32_t values, const void *data,
			 size_t len)
{
	const uint64_t prime = UINT64_C(0x9e3779b97f4a7c15);
	const unsigned char *p = data;
	uint64_t h = ((uint64_t)c << 32 | values) * prime ^ len, tail = 0;

	for (; len >= 8; len -= 8, p += 8) {
		h = (h ^ pf_load64(p)) * prime;
		h ^= h >> 32;
	}
	for (size_t i = 0; i < len; i++)
		tail |= (uint64_t)p[i] << 8 * i;
	h = (h ^ tail) * prime;
	h ^= h >> 29;
	h *= UINT64_C(0xbf58476d1ce4e5b9);
	return (uint32_t)(h >> 32);
}

static uint32_t load32(const unsigned char *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
	       (uint32_t)p[3] << 24;
}

/* ---- encoding ---- */

/* Are runs shorter to write?  Looks no further than the answer needs. */
static bool has_long_runs(const uint64_t *number, uint32_t values)
{
	uint64_t most = values / 8 + 1, runs = values > 0;
	uint32_t i = 1;

	for (; i + WIDEN <= values && runs <= most; i += WIDEN)
		for (size_t k = 0; k < WIDEN; k++)
			runs += number[i + k] != number[i + k - 1];
	for (; i < values && runs <= most; i++)
		runs += number[i] != number[i - 1];
	return runs <= most;
}

static size_t write_runs(unsigned char *to, const uint64_t *number,
			 uint32_t values)
{
	unsigned char *p = to;

	for (uint32_t i = 0, from; i < values;) {
		from = i;
		while (i < values && number[i] == number[from])
			i++;
		p = pf_varint_put(p, number[from]);
		p = pf_varint_put(p, i - from - 1);
	}
	return (size_t)(p - to);
}

static size_t write_plain(unsigned char *to, const uint64_t *number,
			  uint32_t values)
{
	unsigned char *p = to;
	uint32_t i = 0;

	/* Small numbers come in long stretches: eight at once. */
	for (; i + 8 <= values; i += 8) {
		const uint64_t *n = number + i;

		if (bits_of_8(n) < 0x80) {
			pf_store64(p, n[0] | n[1] << 8 | n[2] << 16 |
					      n[3] << 24 | n[4] << 32 |
					      n[5] << 40 | n[6] << 48 |
					      n[7] << 56);
			p += 8;
			continue;
		}
		for (int k = 0; k < 8; k++)
			p = pf_varint_put(p, n[k]);
	}
	for (; i < values; i++)
		p = pf_varint_put(p, number[i]);
	return (size_t)(p - to);
}

static void add_column(struct scratch *s, enum pf_column c, uint32_t values,
		       unsigned form, const void *body, size_t len,
		       struct pf_buf *out)
{
	size_t at = out->len, packed = 0;
	unsigned char sum[SUM_BYTES];

	pf_buf_reserve(out, HEAD_BYTES + ZSTD_compressBound(len) + SUM_BYTES);
	if (len >= MIN_PACKED && s->pack) {
		packed = ZSTD_compressCCtx(s->pack, out->data + at + HEAD_BYTES,
					   ZSTD_compressBound(len), body, len,
					   ZSTD_LEVEL);
		if (ZSTD_isError(packed) || packed >= len)
			packed = 0;
	}
	out->data[at] = CODEC_VERSION;
	out->data[at + 1] = (char)(packed ? form | FORM_ZSTD : form);
	out->len += HEAD_BYTES + packed;
	if (!packed)
		pf_buf_add(out, body, len);
	pf_store32(sum, checksum(c, values, out->data + at, out->len - at));
	pf_buf_add(out, sum, sizeof(sum));
}

void pf_column_encode(const struct pf_block *b, enum pf_column column,
		      struct pf_buf *out)
{
	struct scratch *s = scratch();
	unsigned form = FORM_PLAIN;
	struct place p;
	size_t len;

	if (column == PF_COL_INLINE) {
		add_column(s, column, b->count, FORM_TEXT, b->inline_text.data,
			   b->inline_text.len, out);
		return;
	}
	if (!find_place(b, column, &p))
		return;
	turn(&p, s->number);
	if (has_long_runs(s->number, p.values)) {
		form = FORM_RUNS;
		len = write_runs(s->body, s->number, p.values);
	} else {
		len = write_plain(s->body, s->number, p.values);
	}
	add_column(s, column, p.values, form, s->body, len, out);
}

/* ---- decoding ---- */

static int damaged(struct pf_err *err, enum pf_column c, const char *what)
{
	return pf_fail(err, PF_EDB, "column %d of a block: %s", (int)c, what);
}

/*
 * The first two varints of eight bytes, whose last bytes are the lowest bits
 * of "stop": they do not wait for each other, and a half of a word each, their
 * groups of 7 bits close up together.  Returns how many bytes; 0: one is longer
 * than that.
 */
static inline size_t take_two(uint64_t word, uint64_t stop, uint64_t *number)
{
	unsigned first = (unsigned)__builtin_ctzll(stop) + 1;
	unsigned both = (unsigned)__builtin_ctzll(stop & (stop - 1)) + 1;
	unsigned second = both - first;
	uint64_t v;

	if (first > 32 || second > 32)
		return 0;
	v = (uint32_t)word << (32 - first) >> (32 - first) |
	    (uint64_t)((uint32_t)(word >> first) << (32 - second) >>
		       (32 - second))
		    << 32;
	v = (v & UINT64_C(0x007f007f007f007f)) |
	    (v & UINT64_C(0x7f007f007f007f00)) >> 1;
	v = (v & UINT64_C(0x00003fff00003fff)) |
	    (v & UINT64_C(0x3fff00003fff0000)) >> 2;
	number[0] = (uint32_t)v;
	number[1] = v >> 32;
	return both / 8;
}

/* Exactly "values" varints in [p, end), readable PF_VARINT_MAX past end. */
static bool read_plain(const unsigned char *p, const unsigned char *end,
		       uint64_t *number, uint32_t values)
{
	const uint64_t top = UINT64_C(0x8080808080808080);
	uint32_t i = 0;

	while (values - i >= 8 && end - p >= 8) {
		uint64_t w = pf_load64(p), stop = ~w & top;
		size_t bytes;

		/* Small numbers come in long stretches: eight at once. */
		if (stop == top) {
			number[i] = w & 0x7f;
			number[i + 1] = w >> 8 & 0x7f;
			number[i + 2] = w >> 16 & 0x7f;
			number[i + 3] = w >> 24 & 0x7f;
			number[i + 4] = w >> 32 & 0x7f;
			number[i + 5] = w >> 40 & 0x7f;
			number[i + 6] = w >> 48 & 0x7f;
			number[i + 7] = w >> 56;
			i += 8;
			p += 8;
			continue;
		}
		bytes = stop & (stop - 1) ? take_two(w, stop, &number[i]) : 0;
		if (bytes) {
			p += bytes;
			i += 2;
			continue;
		}
		p = pf_varint_get(p, &number[i++]);
		if (!p)
			return false;
	}
	for (; i < values; i++) {
		p = p < end ? pf_varint_get(p, &number[i]) : NULL;
		if (!p)
			return false;
	}
	return p == end;
}

static bool read_runs(const unsigned char *p, const unsigned char *end,
		      uint64_t *number, uint32_t values)
{
	uint32_t i = 0;

	while (p < end) {
		uint64_t value, more;

		p = pf_varint_get(p, &value);
		if (!p || p >= end)
			return false;
		p = pf_varint_get(p, &more);
		if (!p || more >= values - i)
			return false;
		for (uint32_t last = i + (uint32_t)more; i <= last; i++)
			number[i] = value;
	}
	return p == end && i == values;
}

/* The body into s->body, padded; its length, or SIZE_MAX. */
static size_t unpack(struct scratch *s, bool is_packed, uint32_t values,
		     const unsigned char *data, size_t len)
{
	size_t most = (size_t)values * 2 * PF_VARINT_MAX;

	if (is_packed) {
		if (!s->unpack)
			return SIZE_MAX;
		len = ZSTD_decompressDCtx(s->unpack, s->body, most, data, len);
		if (ZSTD_isError(len))
			return SIZE_MAX;
	} else {
		if (len > most)
			return SIZE_MAX;
		memcpy(s->body, data, len);
	}
	memset(s->body + len, 0, 2 * PF_VARINT_MAX);
	return len;
}

/* At most two strings an event, each within the text. */
static bool text_is_sound(const unsigned char *p, size_t len, uint32_t count)
{
	size_t strings = 0;

	while (len) {
		uint32_t n;

		if (len < 4 || ++strings > 2 * (size_t)count)
			return false;
		n = load32(p);
		if (n > len - 4)
			return false;
		p += 4 + (size_t)n;
		len -= 4 + (size_t)n;
	}
	return true;
}

static int decode_text(struct pf_block *b, bool is_packed,
		       const unsigned char *data, size_t len,
		       struct pf_err *err)
{
	struct pf_buf *out = &b->inline_text;
	unsigned long long size = len;
	size_t got = len;

	if (is_packed)
		size = ZSTD_getFrameContentSize(data, len);
	if (size > TEXT_MAX) /* so are the two error values */
		return damaged(err, PF_COL_INLINE, "text too long");
	pf_buf_clear(out);
	pf_buf_reserve(out, (size_t)size);
	if (is_packed)
		got = ZSTD_decompressDCtx(scratch()->unpack, out->data,
					  (size_t)size, data, len);
	else
		memcpy(out->data, data, len);
	if (got != size ||
	    !text_is_sound((unsigned char *)out->data, got, b->count)) {
		pf_buf_clear(out);
		return damaged(err, PF_COL_INLINE, "text is damaged");
	}
	out->len = got;
	out->data[got] = '\0';
	return 0;
}

/* By stretches of events that have the same slots; false: there is no such. */
static bool count_slots(struct pf_block *b)
{
	memset(b->slot_count, 0, sizeof(b->slot_count));
	for (uint32_t i = 0, from; i < b->count;) {
		uint32_t mask = b->mask[from = i];

		if (mask >> PF_SLOT_COUNT)
			return false;
		while (i < b->count && b->mask[i] == mask)
			i++;
		for (; mask; mask &= mask - 1)
			b->slot_count[__builtin_ctz(mask)] += i - from;
	}
	return true;
}

static int decode_numbers(struct pf_block *b, enum pf_column c,
			  const struct place *p, unsigned form,
			  const unsigned char *data, size_t len,
			  struct pf_err *err)
{
	struct scratch *s = scratch();
	const unsigned char *body = s->body;
	bool ok;

	len = unpack(s, form & FORM_ZSTD, p->values, data, len);
	if (len == SIZE_MAX)
		return damaged(err, c, "cannot be unpacked");
	switch (form & ~(unsigned)FORM_ZSTD) {
	case FORM_PLAIN:
		ok = read_plain(body, body + len, s->number, p->values);
		break;
	case FORM_RUNS:
		ok = read_runs(body, body + len, s->number, p->values);
		break;
	default:
		return damaged(err, c, "unknown form");
	}
	if (!ok)
		return damaged(err, c, "wrong number of values");
	memset(s->number + p->values, 0, WIDEN * sizeof(*s->number));
	if (!turn_back(p, s->number))
		return damaged(err, c, "value out of range");
	if (c == PF_COL_MASK && !count_slots(b))
		return damaged(err, c, "unknown slot");
	return 0;
}

/*
 * Decode one column of a block of "count" events.  Never trusts "data": every
 * read is bounded, a wrong count, checksum or version is PF_EDB.
 * PF_COL_MASK must have been decoded before any slot column.
 */
static int column_decode(struct pf_block *b, enum pf_column column,
			 uint32_t count, const void *data, size_t len,
			 struct pf_err *err)
{
	const unsigned char *p = data;
	struct place place = { .values = count };

	if (count > b->capacity)
		return damaged(err, column, "too many events");
	b->count = count;
	if (column != PF_COL_INLINE && !find_place(b, column, &place))
		return damaged(err, column, "unknown column");
	if (len < HEAD_BYTES + SUM_BYTES)
		return damaged(err, column, "too short");
	if (p[0] != CODEC_VERSION)
		return damaged(err, column, "unknown codec version");
	if (place.values > b->capacity ||
	    load32(p + len - SUM_BYTES) !=
		    checksum(column, place.values, p, len - SUM_BYTES))
		return damaged(err, column, "checksum differs");
	len -= HEAD_BYTES + SUM_BYTES;
	if (column != PF_COL_INLINE)
		return decode_numbers(b, column, &place, p[1], p + HEAD_BYTES,
				      len, err);
	if ((p[1] & ~FORM_ZSTD) != FORM_TEXT)
		return damaged(err, column, "unknown form");
	return decode_text(b, p[1] & FORM_ZSTD, p + HEAD_BYTES, len, err);
}

/* ---- narrow ---- */

typedef void copy_values(void *restrict to, const void *restrict from, size_t n,
			 uint64_t base);

static const struct pf_width {
	unsigned bytes;
	copy_values *narrow, *widen;
} narrow_widths[] = { { 1, from_4_to_1, from_1_to_4 },
		      { 2, from_4_to_2, from_2_to_4 },
		      { 4, from_4_to_4, from_4_to_4 } },
  wide_widths[] = { { 2, from_8_to_2, from_2_to_8 },
		    { 4, from_8_to_4, from_4_to_8 } };

/* PF_ID_INLINE and _NONE, the largest, are as small numbers as TURN_ID's. */
static uint64_t bits_of_ids(const uint32_t *ids, size_t count)
{
	uint32_t bits = 0;

	for (size_t i = 0; i < count; i += WIDEN)
		for (size_t k = 0; k < WIDEN; k++)
			bits |= ids[i + k] + 2;
	return bits;
}

/*
 * A decoded column (not INLINE) in few bytes a value: what is kept of blocks
 * (store/kept.h).  Of times that are the numbers that would be encoded, most
 * of which take two; those that take more stand before them.
 */
struct pf_narrow {
	const struct pf_width *width;
	size_t far_count;
	struct far_number {
		uint64_t number;
		uint32_t at;
	} * far; /* malloc()ed, and behind them the values */
};

/* In four bytes each, where so many numbers would be far else. */
#define FAR_MOST(values) ((values) / 8)

static size_t count_far(const uint64_t *number, size_t values, uint64_t most)
{
	size_t count = 0;

	for (size_t i = 0; i < values; i++)
		count += number[i] > most;
	return count;
}

static size_t narrow_wide(const struct place *p, size_t n,
			  struct pf_narrow *out)
{
	const struct pf_width *w = wide_widths;
	uint64_t *number = scratch()->number, most = UINT16_MAX;
	size_t count, bytes;

	turn(p, number);
	count = count_far(number, p->values, most);
	if (count > FAR_MOST(p->values)) {
		w++;
		most = UINT32_MAX;
		count = count_far(number, p->values, most);
	}
	bytes = count * sizeof(*out->far) + n * w->bytes;
	*out = (struct pf_narrow){ .width = w, .far = pf_alloc(bytes) };
	for (uint32_t i = 0; out->far_count < count; i++)
		if (number[i] > most)
			out->far[out->far_count++] =
				(struct far_number){ number[i], i };
	w->narrow(out->far + count, number, n, 0);
	return bytes;
}

/* Returns how many bytes it takes. */
static size_t column_narrow(const struct pf_block *b, enum pf_column column,
			    struct pf_narrow *out)
{
	const struct pf_width *w = narrow_widths;
	struct place p;
	uint64_t most;
	size_t n;

	if (!find_place(b, column, &p))
		return 0;
	n = (p.values + WIDEN - 1) & ~(WIDEN - 1);
	if (p.wide)
		return narrow_wide(&p, n, out);
	most = bits_of_ids(p.narrow, n);
	while (w->bytes < 4 && most >> 8 * w->bytes)
		w++;
	*out = (struct pf_narrow){ .width = w, .far = pf_alloc(n * w->bytes) };
	w->narrow(out->far, p.narrow, n, 2);
	return n * w->bytes;
}

/* The values into the arrays of a block of as many events. */
static void column_widen(const struct pf_narrow *n, struct pf_block *b,
			 enum pf_column column)
{
	const void *values = n->far + n->far_count;
	struct place p;

	if (!find_place(b, column, &p))
		return;
	if (!p.wide) {
		n->width->widen(p.narrow, values, p.values, (uint64_t)-2);
		return;
	}
	n->width->widen(p.wide, values, p.values, 0);
	for (size_t i = 0; i < n->far_count; i++)
		p.wide[n->far[i].at] = (int64_t)n->far[i].number;
	if (p.turn != TURN_VALUE)
		turn_back(&p, (const uint64_t *)p.wide);
}

/* ---- load ---- */

#define FIRST_BYTES (64u << 10) /* few blocks are larger */

/* Where a column's bytes lie among those that were fetched. */
struct packed {
	int column;
	size_t at, len;
};

struct fetched {
	struct packed of[PF_COL_COUNT];
	size_t count;
	struct pf_buf bytes;
};

/*
 * The rows of a block, and no more: while one thread has the connection the
 * others wait, so nothing is decoded here.
 */
static int fetch(struct pf_db *db, sqlite3_stmt *st, uint64_t columns,
		 struct fetched *f, struct pf_err *err)
{
	int rc;

	while ((rc = pf_db_step(db, st, err)) > 0) {
		int64_t c = sqlite3_column_int64(st, 0);
		const void *data = sqlite3_column_blob(st, 1);
		size_t len = data ? (size_t)sqlite3_column_bytes(st, 1) : 0;

		if (c < 0 || c >= PF_COL_COUNT || !(columns >> c & 1) ||
		    f->count == PF_COL_COUNT)
			continue;
		f->of[f->count++] =
			(struct packed){ (int)c, f->bytes.len, len };
		if (len)
			pf_buf_add(&f->bytes, data, len);
	}
	return rc;
}

static int fetch_block(struct pf_db *db, sqlite3_stmt *st, int64_t block_id,
		       uint64_t columns, struct fetched *f, struct pf_err *err)
{
	int rc;

	pf_buf_reserve(&f->bytes, FIRST_BYTES);
	pf_db_lock(db);
	PF_BIND(st, block_id, (int64_t)columns);
	rc = fetch(db, st, columns, f, err);
	sqlite3_reset(st);
	pf_db_unlock(db);
	return rc;
}

static int decode(const struct fetched *f, struct pf_block *b, uint64_t *seen,
		  struct pf_err *err)
{
	uint32_t count = b->count;

	for (size_t i = 0; i < f->count; i++) {
		const struct packed *p = &f->of[i];

		PF_TRY(column_decode(b, (enum pf_column)p->column, count,
				     f->bytes.data + p->at, p->len, err));
		*seen |= PF_COLBIT(p->column);
	}
	return 0;
}

/* Slots that no event has and inline texts may lack, others may not. */
static uint64_t required(uint64_t columns, const struct pf_block *b)
{
	uint64_t bits = columns & (PF_COLBIT(PF_COL_INLINE) - 1);

	for (int s = 0; s < PF_SLOT_COUNT; s++)
		if (b->slot_count[s])
			bits |= columns & PF_COLBIT(PF_COL_SLOT + s);
	return bits;
}

int pf_block_load(struct pf_db *db, sqlite3_stmt **st, int64_t block_id,
		  uint32_t count, uint64_t columns, struct pf_block *b,
		  struct pf_err *err)
{
	struct fetched f = { .count = 0 };
	uint64_t seen = 0;
	int rc;

	if (!*st)
		*st = pf_db_prepare(
			db,
			"SELECT column_id, data FROM main.block_column"
			" WHERE block_id = ?1 AND ?2 >> column_id & 1"
			" ORDER BY column_id",
			err);
	PF_TRY(!*st);
	b->count = count;
	if (columns & PF_COLBIT(PF_COL_MASK))
		memset(b->slot_count, 0, sizeof(b->slot_count));
	if (columns & PF_COLBIT(PF_COL_INLINE))
		pf_buf_clear(&b->inline_text);
	rc = fetch_block(db, *st, block_id, columns, &f, err);
	if (!rc)
		rc = decode(&f, b, &seen, err);
	pf_buf_release(&f.bytes);
	if (!rc && (required(columns, b) & ~seen))
		rc = pf_fail(err, PF_EDB, "a column is missing");
	return rc ? pf_while(err, "block %" PRId64, block_id) : 0;
}

/*
 * Invariants: block holds the columns asked for of the block that was read
 * last; slot_at[s] counts the values of slot s that next() has given out.
 */

/* ---- tracks ---- */

static char *copy_text(sqlite3_stmt *st, int column)
{
	const unsigned char *text = sqlite3_column_text(st, column);

	return text ? pf_strdup((const char *)text) : NULL;
}

static char *copy_text_or_empty(sqlite3_stmt *st, int column)
{
	char *text = copy_text(st, column);

	return text ? text : pf_strdup("");
}

#define TRACKS                                                                 \
	"SELECT id, trace_id, pid, tid, class, name, event_count, first_ns,"   \
	" last_ns FROM track"

int pf_tracks_load(struct pf_db *db, int64_t trace_id, struct pf_track **out,
		   size_t *count, struct pf_err *err)
{
	/* two texts: of one, SQLite would read every track for each trace */
	sqlite3_stmt *st = pf_db_prepare(
		db,
		trace_id ? TRACKS " WHERE trace_id = ?1 ORDER BY id"
			 : TRACKS " ORDER BY id",
		err);
	size_t cap = 0;
	int rc;

	*out = NULL;
	*count = 0;
	PF_TRY(!st);
	if (trace_id)
		sqlite3_bind_int64(st, 1, trace_id);
	while ((rc = pf_db_step(db, st, err)) > 0) {
		*PF_ONE_MORE(*out, *count, cap) = (struct pf_track){
			.id = (uint32_t)sqlite3_column_int64(st, 0),
			.trace_id = sqlite3_column_int64(st, 1),
			.pid = copy_text_or_empty(st, 2),
			.tid = copy_text_or_empty(st, 3),
			.class_name = copy_text_or_empty(st, 4),
			.thread_name = copy_text(st, 5),
			.event_count = sqlite3_column_int64(st, 6),
			.first_ns = sqlite3_column_int64(st, 7),
			.last_ns = sqlite3_column_int64(st, 8),
		};
	}
	pf_db_keep(db, st);
	if (rc < 0) {
		pf_tracks_free(*out, *count);
		*out = NULL;
		*count = 0;
	}
	return rc;
}

void pf_tracks_free(struct pf_track *tracks, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free((char *)tracks[i].pid);
		free((char *)tracks[i].tid);
		free((char *)tracks[i].class_name);
		free((char *)tracks[i].thread_name);
	}
	free(tracks);
}

/* ---- blocks ---- */

#define AHEAD_BLOCKS 2 /* of which one is being read */
#define AHEAD_AFTER  4 /* blocks of the track: a thread costs what these do */

struct pf_cursor {
	struct pf_db *db;
	uint32_t track_id;
	uint64_t columns;
	int64_t seek_ns, next_block;
	int64_t from_ns, last_ns; /* see pf_cursor_overlap() */
	struct pf_block own;      /* its arrays come with the first block */
	struct pf_block block;    /* those of own, or made ones */
	uint32_t first_seq;
	bool may_ahead;
	struct ahead *ahead; /* or NULL: it decodes its blocks itself */
	/* for next() */
	bool has_block;
	uint32_t at, slot_at[PF_SLOT_COUNT];
	size_t inline_at;
};

static uint64_t with_needed(uint64_t columns)
{
	if (columns & PF_COLBIT(PF_COL_INLINE))
		columns |= PF_COLBIT(PF_COL_NAME) | PF_COLBIT(PF_COL_ARGS);
	if (columns >> PF_COL_SLOT)
		columns |= PF_COLBIT(PF_COL_MASK);
	return columns;
}

struct pf_cursor *pf_cursor_new(struct pf_db *db, uint32_t track_id,
				uint64_t columns)
{
	struct pf_cursor *c = pf_calloc(1, sizeof(*c));

	c->db = db;
	c->track_id = track_id;
	c->columns = with_needed(columns);
	pf_cursor_seek(c, INT64_MIN);
	pf_cursor_overlap(c, INT64_MIN, INT64_MAX);
	return c;
}

/* Blocks that another thread decodes, with a connection of its own. */
struct ahead {
	struct pf_ahead *maker;
	struct pf_db *db;
	struct pf_cursor *from; /* the maker's */
	struct made {
		struct pf_block block;
		uint32_t first_seq;
	} places[AHEAD_BLOCKS];
};

static void free_ahead(struct pf_db *db, struct ahead *a)
{
	if (!a)
		return;
	pf_ahead_free(a->maker);
	pf_cursor_free(a->from);
	for (size_t i = 0; i < AHEAD_BLOCKS; i++)
		pf_block_release(&a->places[i].block);
	pf_db_give_back(db, a->db);
	free(a);
}

void pf_cursor_free(struct pf_cursor *c)
{
	if (!c)
		return;
	free_ahead(c->db, c->ahead);
	pf_block_release(&c->own);
	free(c);
}

void pf_cursor_seek(struct pf_cursor *c, int64_t start_ns)
{
	c->seek_ns = start_ns;
	c->next_block = 0;
	c->has_block = false;
}

void pf_cursor_overlap(struct pf_cursor *c, int64_t from_ns, int64_t to_ns)
{
	c->from_ns = from_ns;
	c->last_ns = to_ns == INT64_MAX ? INT64_MAX : to_ns - 1;
}

/* ---- what is kept of blocks ---- */

/*
 * A column that is kept is never written again, so that those who read it need
 * no lock; one is held while columns are added.
 */

struct kept_entry {
	uint32_t count;
	uint64_t columns; /* that are kept: */
	struct pf_narrow of[PF_COL_INLINE];
	char *text; /* of INLINE */
	size_t text_len;
};

struct pf_kept {
	pthread_mutex_t lock;
	struct pf_map places; /* block id -> entries */
	struct kept_entry **entries;
	size_t count, cap;
	size_t used_bytes, max_bytes;
};

static void drop_blocks(struct pf_kept *k)
{
	while (k->count) {
		PF_OWN struct kept_entry *e = k->entries[--k->count];

		for (int c = 0; c < PF_COL_INLINE; c++)
			free(e->of[c].far);
		free(e->text);
	}
	free(k->entries);
	k->entries = NULL;
	k->cap = 0;
	pf_map_release(&k->places);
}

void pf_kept_stop(struct pf_db *db)
{
	struct pf_kept *k = db->kept;

	pthread_mutex_lock(&k->lock);
	drop_blocks(k);
	k->max_bytes = 0;
	pthread_mutex_unlock(&k->lock);
}

static void *new_kept(struct pf_db *db, const char *ignored)
{
	struct pf_kept *k = pf_calloc(1, sizeof(*k));

	(void)db, (void)ignored;
	pthread_mutex_init(&k->lock, NULL);
	return k;
}

static void free_kept(void *kept)
{
	PF_OWN struct pf_kept *k = kept;

	drop_blocks(k);
	pthread_mutex_destroy(&k->lock);
}

void pf_kept_start(struct pf_db *db, size_t max_bytes)
{
	if (db->kept)
		return;
	/* of the connection, as what is worked out, but no figure */
	db->kept = (struct pf_kept *)pf_memo_get(db, new_kept, free_kept, NULL);
	db->kept->max_bytes = max_bytes;
}

bool pf_kept_take(struct pf_db *db, size_t bytes)
{
	struct pf_kept *k = db->kept;
	bool has_room;

	pthread_mutex_lock(&k->lock);
	has_room = k->used_bytes + bytes <= k->max_bytes;
	if (has_room)
		k->used_bytes += bytes;
	pthread_mutex_unlock(&k->lock);
	return has_room;
}

void pf_kept_give_back(struct pf_db *db, size_t bytes)
{
	pthread_mutex_lock(&db->kept->lock);
	db->kept->used_bytes -= bytes;
	pthread_mutex_unlock(&db->kept->lock);
}

/* NULL: its count is not that which others said. */
static struct kept_entry *find_entry(struct pf_kept *k, int64_t block_id,
				     uint32_t count)
{
	uint64_t *place = pf_map_at(&k->places, (uint64_t)block_id);

	if (*place == UINT64_MAX) {
		*place = k->count;
		*PF_ONE_MORE(k->entries, k->count, k->cap) =
			pf_calloc(1, sizeof(struct kept_entry));
		k->entries[*place]->count = count;
	}
	return k->entries[*place]->count == count ? k->entries[*place] : NULL;
}

static size_t keep_columns(struct kept_entry *e, uint64_t columns,
			   const struct pf_block *b)
{
	size_t bytes = sizeof(*e);

	for (int c = 0; c < PF_COL_INLINE; c++)
		if (columns >> c & 1)
			bytes += column_narrow(b, (enum pf_column)c, &e->of[c]);
	if (columns & PF_COLBIT(PF_COL_INLINE)) {
		e->text_len = b->inline_text.len;
		e->text = pf_memdup0(b->inline_text.data, e->text_len);
		bytes += e->text_len;
	}
	e->columns |= columns;
	return bytes;
}

static void read_columns(const struct kept_entry *e, uint64_t columns,
			 struct pf_block *b)
{
	for (int c = 0; c < PF_COL_INLINE; c++)
		if (columns >> c & 1)
			column_widen(&e->of[c], b, (enum pf_column)c);
	if (columns & PF_COLBIT(PF_COL_INLINE)) {
		pf_buf_clear(&b->inline_text);
		pf_buf_add(&b->inline_text, e->text, e->text_len);
	}
}

/* of a block, without its text */
#define MOST_BYTES ((size_t)PF_COL_INLINE * 8 * PF_BLOCK_EVENTS)

/*
 * Of what is asked for that which others ask for, too: most look at spans, and
 * who looks at GPU work wants to know its order in the file.
 */
static uint64_t worth_keeping(uint64_t columns)
{
	const uint64_t order = PF_COLBIT(PF_COL_ORDER),
		       span = PF_COLBIT(PF_COL_START) | PF_COLBIT(PF_COL_DUR) |
			      PF_COLBIT(PF_COL_NAME) | PF_COLBIT(PF_COL_TYPE) |
			      PF_COLBIT(PF_COL_ARGS);
	bool is_work = (columns & (order | PF_COLBIT(PF_COL_MASK))) == order;

	if (!(columns & PF_COLBIT(PF_COL_START)))
		return 0;
	return columns &
	       (is_work ? span | order | PF_COLBIT(PF_COL_INLINE) : span);
}

static bool has_room(const struct pf_kept *k, size_t text_bytes)
{
	return k->used_bytes + MOST_BYTES + text_bytes <= k->max_bytes;
}

static int load_columns(struct pf_db *db, int64_t block_id, uint32_t count,
			uint64_t columns, struct pf_block *b,
			struct pf_err *err)
{
	sqlite3_stmt *st = NULL;
	int rc = pf_block_load(db, &st, block_id, count, columns, b, err);

	pf_db_keep(db, st);
	return rc;
}

/* Another thread may have kept some of it meanwhile. */
static void keep_more(struct pf_kept *k, struct kept_entry *e, uint64_t columns,
		      const struct pf_block *b)
{
	pthread_mutex_lock(&k->lock);
	columns &= ~e->columns;
	if (columns && has_room(k, b->inline_text.len))
		k->used_bytes += keep_columns(e, columns, b);
	pthread_mutex_unlock(&k->lock);
}

/* pf_block_load(), of what is kept already or will be if there is room. */
static int kept_load(struct pf_db *db, int64_t block_id, uint32_t count,
		     uint64_t columns, struct pf_block *b, struct pf_err *err)
{
	const uint64_t worth = worth_keeping(columns);
	struct pf_kept *k = db->kept;
	uint64_t kept = 0;
	struct kept_entry *e;

	if (!k)
		return load_columns(db, block_id, count, columns, b, err);
	b->count = count;
	pthread_mutex_lock(&k->lock);
	e = find_entry(k, block_id, count);
	if (e)
		kept = e->columns & columns;
	pthread_mutex_unlock(&k->lock);
	if (kept)
		read_columns(e, kept, b);
	columns &= ~kept;
	PF_TRY(columns &&
	       load_columns(db, block_id, count, columns, b, err) < 0);
	if (e && columns & worth)
		keep_more(k, e, columns & worth, b);
	return 0;
}

/* The arrays grow to the first full block and stay. */
static void make_room(struct pf_block *b, uint32_t count, uint64_t columns)
{
	if (b->capacity >= count)
		return;
	pf_block_release(b);
	block_init_for(b, count, columns);
}

static int load_block(struct pf_cursor *c, int64_t id, uint32_t count,
		      struct pf_err *err)
{
	int rc;

	make_room(&c->own, count, c->columns);
	rc = kept_load(c->db, id, count, c->columns, &c->own, err);
	c->block = c->own;
	return rc;
}

struct found {
	int64_t id, block_no, count;
};

/*
 * Where several read, all blocks that there are: of thousands of small tracks a
 * statement each would be most of the time.  is_whole: there was room for them.
 */
struct list {
	struct listed {
		struct found found;
		int64_t first_start_ns, last_start_ns, max_end_ns;
	} * items; /* by id */
	size_t count, taken_bytes;
	bool is_whole;
};

#define LIST_BYTES (64u << 10) /* of room that is asked for at once */

static void free_list(void *p)
{
	free(((struct list *)p)->items);
	free(p);
}

static void *read_list(struct pf_db *db, const char *ignored)
{
	struct list *l = pf_calloc(1, sizeof(*l));
	sqlite3_stmt *st = pf_db_prepare(
		db,
		"SELECT id, block_no, event_count, first_start_ns,"
		" last_start_ns, max_end_ns FROM main.block ORDER BY id",
		db->err);
	size_t cap = 0;
	int rc = st ? 1 : -1;

	(void)ignored;
	while (rc > 0 && (rc = pf_db_step(db, st, db->err)) == 1) {
		if ((l->count + 1) * sizeof(*l->items) > l->taken_bytes) {
			if (!pf_kept_take(db, LIST_BYTES))
				break;
			l->taken_bytes += LIST_BYTES;
		}
		*PF_ONE_MORE(l->items, l->count, cap) =
			(struct listed){ { sqlite3_column_int64(st, 0),
					   sqlite3_column_int64(st, 1),
					   sqlite3_column_int64(st, 2) },
					 sqlite3_column_int64(st, 3),
					 sqlite3_column_int64(st, 4),
					 sqlite3_column_int64(st, 5) };
	}
	pf_db_keep(db, st);
	l->is_whole = !rc;
	if (!rc)
		return l;
	pf_kept_give_back(db, l->taken_bytes);
	free(l->items);
	l->items = NULL;
	if (rc > 0)
		return l;
	free(l);
	return NULL;
}

static int find_listed(const struct pf_cursor *c, const struct list *l,
		       struct found *f)
{
	const int64_t first = (int64_t)c->track_id << 18 | c->next_block;
	const int64_t last = (int64_t)c->track_id << 18 | 0x3ffff;
	size_t i = PF_SEARCH(k, l->count, l->items[k].found.id < first);

	for (; i < l->count && l->items[i].found.id <= last; i++) {
		const struct listed *b = &l->items[i];

		if (b->last_start_ns < c->seek_ns ||
		    b->first_start_ns > c->last_ns ||
		    b->max_end_ns < c->from_ns)
			continue;
		*f = b->found;
		return 1;
	}
	return 0;
}

/* What the next block is: 1, 0 at the end, or -1. */
static int ask_block(struct pf_cursor *c, sqlite3_stmt *st, struct found *f,
		     struct pf_err *err)
{
	int rc;

	pf_db_lock(c->db);
	PF_BIND(st, c->track_id, c->next_block, c->seek_ns, c->last_ns,
		c->from_ns);
	rc = pf_db_step(c->db, st, err);
	if (rc == 1) {
		f->id = sqlite3_column_int64(st, 0);
		f->block_no = sqlite3_column_int64(st, 1);
		f->count = sqlite3_column_int64(st, 2);
	}
	pf_db_unlock(c->db);
	return rc;
}

/*
 * Statements are kept from block to block, not from first to last: a connection
 * has as many as threads read at once, not as many as cursors are open.
 */
static int find_block(struct pf_cursor *c, struct found *f, struct pf_err *err)
{
	const struct list *l =
		c->db->kept ? pf_memo_get(c->db, read_list, free_list, NULL)
			    : NULL;
	sqlite3_stmt *st;
	int rc;

	if (c->db->kept && !l) {
		*err = *c->db->err;
		return -1;
	}
	if (l && l->is_whole)
		return find_listed(c, l, f);
	st = pf_db_prepare(
		c->db,
		"SELECT id, block_no, event_count FROM main.block"
		" WHERE id BETWEEN (?1 << 18 | ?2) AND (?1 << 18 | 262143)"
		" AND last_start_ns >= ?3 AND first_start_ns <= ?4"
		" AND max_end_ns >= ?5 ORDER BY id LIMIT 1",
		err);
	PF_TRY(!st);
	rc = ask_block(c, st, f, err);
	pf_db_keep(c->db, st);
	return rc;
}

static int read_next(struct pf_cursor *c, struct pf_err *err)
{
	struct found f = { 0 };
	int rc;

	if (c->next_block >> 18)
		return 0;
	rc = find_block(c, &f, err);
	if (rc <= 0)
		return rc;
	if (f.count < 1 || f.count > PF_BLOCK_EVENTS ||
	    f.block_no != (f.id & 0x3ffff))
		return pf_fail(err, PF_EDB, "block %lld is damaged",
			       (long long)f.id);
	c->next_block = f.block_no + 1;
	c->first_seq = (uint32_t)f.block_no << PF_BLOCK_SHIFT;
	return load_block(c, f.id, (uint32_t)f.count, err) ? -1 : 1;
}

/* The maker's cursor decodes into the arrays of the place. */
static int make_block(void *context, size_t place, struct pf_err *err)
{
	struct ahead *a = context;
	struct made *m = &a->places[place];
	int rc;

	a->from->own = m->block;
	m->block = (struct pf_block){ 0 };
	rc = read_next(a->from, err);
	if (rc != 1)
		return rc;
	*m = (struct made){ a->from->own, a->from->first_seq };
	a->from->own = (struct pf_block){ 0 };
	return 1;
}

void pf_cursor_ahead(struct pf_cursor *c)
{
	c->may_ahead = true;
}

static void start_ahead(struct pf_cursor *c)
{
	struct pf_db *beside = c->db->kept ? NULL : pf_db_lend(c->db);
	struct ahead *a;

	c->may_ahead = false;
	if (!beside)
		return;
	pf_block_release(&c->own);
	a = c->ahead = pf_calloc(1, sizeof(*a));
	a->db = beside;
	a->from = pf_calloc(1, sizeof(*a->from));
	*a->from = (struct pf_cursor){ .db = beside,
				       .track_id = c->track_id,
				       .columns = c->columns,
				       .seek_ns = c->seek_ns,
				       .next_block = c->next_block,
				       .from_ns = c->from_ns,
				       .last_ns = c->last_ns,
				       .own = c->own };
	c->own = (struct pf_block){ 0 };
	a->maker = pf_ahead_new(make_block, a, AHEAD_BLOCKS, true);
}

static int take_made(struct pf_cursor *c, struct pf_err *err)
{
	const struct made *m;
	size_t place;
	int rc = pf_ahead_next(c->ahead->maker, &place, err);

	if (rc != 1)
		return rc;
	m = &c->ahead->places[place];
	c->block = m->block;
	c->first_seq = m->first_seq;
	return 1;
}

int pf_cursor_block(struct pf_cursor *c, const struct pf_block **out,
		    uint32_t *first_seq, struct pf_err *err)
{
	int rc;

	if (c->may_ahead && c->next_block >= AHEAD_AFTER)
		start_ahead(c);
	rc = c->ahead ? take_made(c, err) : read_next(c, err);
	c->has_block = false;
	if (rc <= 0)
		return rc;
	c->has_block = true;
	c->at = 0;
	c->inline_at = 0;
	memset(c->slot_at, 0, sizeof(c->slot_at));
	*out = &c->block;
	*first_seq = c->first_seq;
	return 1;
}

/* ---- rows ---- */

static int take_inline(struct pf_cursor *c, const char **text, uint32_t *len,
		       struct pf_err *err)
{
	const struct pf_buf *b = &c->block.inline_text;
	const unsigned char *p;

	*text = "";
	*len = 0;
	if (!(c->columns & PF_COLBIT(PF_COL_INLINE)))
		return 0;
	if (b->len - c->inline_at < 4)
		return pf_fail(err, PF_EDB, "a block lacks an inline text");
	p = (const unsigned char *)b->data + c->inline_at;
	*len = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
	       (uint32_t)p[3] << 24;
	c->inline_at += 4;
	if (*len > b->len - c->inline_at)
		return pf_fail(err, PF_EDB, "an inline text is damaged");
	*text = b->data + c->inline_at;
	c->inline_at += *len;
	return 0;
}

static int take_slots(struct pf_cursor *c, struct pf_span *out,
		      struct pf_err *err)
{
	uint32_t mask = out->mask & (uint32_t)(c->columns >> PF_COL_SLOT);

	if (c->columns >> PF_COL_SLOT)
		memset(out->slot, 0, sizeof(out->slot));
	for (; mask; mask &= mask - 1) {
		int s = __builtin_ctz(mask);

		if (s >= PF_SLOT_COUNT)
			break;
		if (c->slot_at[s] >= c->block.slot_count[s])
			return pf_fail(err, PF_EDB, "a slot column is short");
		out->slot[s] = c->block.slot[s][c->slot_at[s]++];
	}
	return 0;
}

int pf_cursor_next(struct pf_cursor *c, struct pf_span *out, struct pf_err *err)
{
	const struct pf_block *b = &c->block, *ignored;
	uint32_t i, first;
	int rc;

	if (!c->has_block || c->at == b->count) {
		rc = pf_cursor_block(c, &ignored, &first, err);
		if (rc <= 0)
			return rc;
	}
	i = c->at++;
	out->seq = c->first_seq + i;
	out->start_ns = b->start_ns[i];
	out->dur_ns = b->dur_ns[i];
	out->order = b->order[i];
	out->name = b->name[i];
	out->type = b->type[i];
	out->args = b->args[i];
	out->parent = b->parent[i];
	out->mask = b->mask[i];
	out->inline_name_len = out->inline_args_len = 0;
	PF_TRY((c->columns & PF_COLBIT(PF_COL_NAME)) &&
	       out->name == PF_ID_INLINE &&
	       take_inline(c, &out->inline_name, &out->inline_name_len, err));
	PF_TRY((c->columns & PF_COLBIT(PF_COL_ARGS)) &&
	       out->args == PF_ID_INLINE &&
	       take_inline(c, &out->inline_args, &out->inline_args_len, err));
	return take_slots(c, out, err) ? -1 : 1;
}

/* ---- several tracks ---- */

struct pf_cursors_track {
	struct pf_cursor *cursor;
	struct pf_span span; /* its next */
	size_t tag;
};

static bool is_earlier(const void *a, const void *b)
{
	const struct pf_span *x = &(*(struct pf_cursors_track *const *)a)->span;
	const struct pf_span *y = &(*(struct pf_cursors_track *const *)b)->span;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns;
	return x->order < y->order;
}

static void close_track(struct pf_cursors_track *t)
{
	pf_cursor_free(t->cursor);
	free(t);
}

int pf_cursors_add(struct pf_cursors *c, struct pf_db *db, uint32_t track_id,
		   uint64_t columns, size_t tag, struct pf_err *err)
{
	struct pf_cursors_track *t = pf_calloc(1, sizeof(*t));
	int rc;

	t->tag = tag;
	t->cursor = pf_cursor_new(db, track_id, columns);
	rc = pf_cursor_next(t->cursor, &t->span, err);
	if (rc <= 0) {
		close_track(t);
		return rc;
	}
	c->open = pf_grow(c->open, &c->cap, c->count + 1, sizeof(t));
	c->open[c->count] = t;
	pf_heap_rise(c->open, sizeof(t), c->count++, is_earlier);
	return 0;
}

static int go_on(struct pf_cursors *c, struct pf_err *err)
{
	struct pf_cursors_track *t = c->open[0];
	int rc = pf_cursor_next(t->cursor, &t->span, err);

	PF_TRY(rc < 0);
	if (rc == 0) {
		close_track(t);
		c->open[0] = c->open[--c->count];
	}
	pf_heap_sink(c->open, sizeof(t), c->count, 0, is_earlier);
	return 0;
}

int pf_cursors_next(struct pf_cursors *c, size_t *tag,
		    const struct pf_span **out, struct pf_err *err)
{
	PF_TRY(c->is_started && c->count && go_on(c, err));
	c->is_started = true;
	if (!c->count)
		return 0;
	*tag = c->open[0]->tag;
	*out = &c->open[0]->span;
	return 1;
}

void pf_cursors_release(struct pf_cursors *c)
{
	while (c->count)
		close_track(c->open[--c->count]);
	free(c->open);
	*c = (struct pf_cursors){ 0 };
}
