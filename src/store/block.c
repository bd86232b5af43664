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
 * writes at most "values" places and reads only inside the data and its own
 * scratch, whatever the bytes are.
 */
#include "config.h"

#include "store/block.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/mem.h"
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

/* ---- scratch: one a thread, kept until the thread ends ---- */

struct scratch {
	ZSTD_CCtx *pack;
	ZSTD_DCtx *unpack;
	uint64_t number[PF_BLOCK_EVENTS];
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

void pf_block_init(struct pf_block *b)
{
	pf_block_init_for(b, PF_BLOCK_EVENTS, PF_COLS_ALL);
}

void pf_block_init_for(struct pf_block *b, uint32_t events, uint64_t columns)
{
	size_t n = (events + 1u) & ~1u; /* the narrow arrays stay aligned */
	size_t slots = 0, narrow = 5;
	int64_t *w;
	uint32_t *s;

	for (size_t i = 0; i < PF_SLOT_COUNT; i++)
		slots += columns >> (PF_COL_SLOT + i) & 1;
	w = pf_calloc(n, (3 + slots) * sizeof(*w) + narrow * sizeof(*s));
	memset(b, 0, sizeof(*b));
	b->capacity = (uint32_t)n;
	b->start_ns = w;
	b->dur_ns = w + n;
	b->order = w + 2 * n;
	w += 3 * n;
	for (size_t i = 0; i < PF_SLOT_COUNT; i++)
		if (columns >> (PF_COL_SLOT + i) & 1) {
			b->slot[i] = w;
			w += n;
		}
	s = (uint32_t *)(void *)w;
	b->name = s;
	b->type = s + n;
	b->args = s + 2 * n;
	b->parent = s + 3 * n;
	b->mask = s + 4 * n;
}

void pf_block_release(struct pf_block *b)
{
	free(b->start_ns); /* all arrays are one allocation */
	pf_buf_release(&b->inline_text);
	memset(b, 0, sizeof(*b));
}

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
	struct place p = { .values = b->count };

	switch (c) {
	case PF_COL_START:
		p.turn = TURN_RISE;
		p.wide = b->start_ns;
		break;
	case PF_COL_DUR:
		p.turn = TURN_VALUE;
		p.wide = b->dur_ns;
		break;
	case PF_COL_ORDER:
		p.turn = TURN_DELTA;
		p.wide = b->order;
		break;
	case PF_COL_NAME:
		p.turn = TURN_ID;
		p.narrow = b->name;
		break;
	case PF_COL_TYPE:
		p.turn = TURN_WORD;
		p.narrow = b->type;
		break;
	case PF_COL_ARGS:
		p.turn = TURN_ID;
		p.narrow = b->args;
		break;
	case PF_COL_PARENT:
		p.turn = TURN_WORD;
		p.narrow = b->parent;
		break;
	case PF_COL_MASK:
		p.turn = TURN_WORD;
		p.narrow = b->mask;
		break;
	default:
		if (!is_slot(c))
			return false;
		p.turn = TURN_DELTA;
		p.wide = b->slot[c - PF_COL_SLOT];
		p.values = b->slot_count[c - PF_COL_SLOT];
	}
	*out = p;
	return true;
}

static void turn(const struct place *p, uint64_t *out)
{
	uint64_t last = 0;

	switch (p->turn) {
	case TURN_RISE:
	case TURN_DELTA:
		for (uint32_t i = 0; i < p->values; i++) {
			uint64_t v = (uint64_t)p->wide[i], d = v - last;

			if (p->turn == TURN_DELTA)
				d = d << 1 ^ (uint64_t)((int64_t)d >> 63);
			out[i] = d;
			last = v;
		}
		break;
	case TURN_VALUE:
		for (uint32_t i = 0; i < p->values; i++)
			out[i] = (uint64_t)p->wide[i];
		break;
	case TURN_ID:
		for (uint32_t i = 0; i < p->values; i++)
			out[i] = (uint32_t)(p->narrow[i] + 2);
		break;
	case TURN_WORD:
		for (uint32_t i = 0; i < p->values; i++)
			out[i] = p->narrow[i];
		break;
	}
}

/* The inverse; false when a number does not fit the column. */
static bool turn_back(const struct place *p, const uint64_t *in)
{
	uint64_t last = 0, all = 0;

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
		for (uint32_t i = 0; i < p->values; i++) {
			all |= in[i];
			p->wide[i] = (int64_t)in[i];
		}
		return all <= INT64_MAX;
	case TURN_ID:
	case TURN_WORD:
		for (uint32_t i = 0; i < p->values; i++) {
			all |= in[i];
			p->narrow[i] =
				(uint32_t)in[i] - (p->turn == TURN_ID ? 2 : 0);
		}
		return all <= UINT32_MAX;
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
	uint32_t most = values / 8 + 1, runs = values > 0;

	for (uint32_t i = 1; i < values && runs <= most; i++)
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
		uint64_t all = (n[0] | n[1]) | (n[2] | n[3]) | (n[4] | n[5]) |
			       (n[6] | n[7]);

		if (all < 0x80) {
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

/* The 7-bit groups of the bytes [from, to) of a word, counted in bits. */
static inline uint64_t close_up(uint64_t word, unsigned from, unsigned to)
{
	uint64_t v = word << (64 - to) >> (64 - to + from);

	v = (v & UINT64_C(0x007f007f007f007f)) |
	    (v & UINT64_C(0x7f007f007f007f00)) >> 1;
	v = (v & UINT64_C(0x00003fff00003fff)) |
	    (v & UINT64_C(0x3fff00003fff0000)) >> 2;
	return (v & 0x0fffffff) | (v & UINT64_C(0x0fffffff00000000)) >> 4;
}

/*
 * The first two varints of eight bytes, whose last bytes are the lowest bits
 * of "stop": they do not wait for each other.  Returns how many bytes.
 */
static inline size_t take_two(uint64_t word, uint64_t stop, uint64_t *number)
{
	unsigned first = (unsigned)__builtin_ctzll(stop) + 1;
	unsigned second = (unsigned)__builtin_ctzll(stop & (stop - 1)) + 1;

	number[0] = close_up(word, 0, first);
	number[1] = close_up(word, first, second);
	return second / 8;
}

/* Exactly "values" varints in [p, end), readable PF_VARINT_MAX past end. */
static bool read_plain(const unsigned char *p, const unsigned char *end,
		       uint64_t *number, uint32_t values)
{
	const uint64_t top = UINT64_C(0x8080808080808080);
	uint32_t i = 0;

	while (i < values) {
		uint64_t w = pf_load64(p), stop = ~w & top;

		if (p >= end)
			return false;
		/* Small numbers come in long stretches: eight at once. */
		if (stop == top && end - p >= 8 && values - i >= 8) {
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
		if ((stop & (stop - 1)) && end - p >= 8 && values - i >= 2) {
			p += take_two(w, stop, &number[i]);
			i += 2;
			continue;
		}
		p = pf_varint_get(p, &number[i++]);
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
	if (!turn_back(p, s->number))
		return damaged(err, c, "value out of range");
	if (c == PF_COL_MASK && !count_slots(b))
		return damaged(err, c, "unknown slot");
	return 0;
}

int pf_column_decode(struct pf_block *b, enum pf_column column, uint32_t count,
		     const void *data, size_t len, struct pf_err *err)
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

/* ---- load ---- */

sqlite3_stmt *pf_block_statement(struct pf_db *db, struct pf_err *err)
{
	return pf_db_prepare(db,
			     "SELECT column_id, data FROM main.block_column"
			     " WHERE block_id = ?1 AND ?2 >> column_id & 1"
			     " ORDER BY column_id",
			     err);
}

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
	sqlite3_bind_int64(st, 1, block_id);
	sqlite3_bind_int64(st, 2, (int64_t)columns);
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

		PF_TRY(pf_column_decode(b, (enum pf_column)p->column, count,
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

int pf_block_load(struct pf_db *db, sqlite3_stmt *st, int64_t block_id,
		  uint32_t count, uint64_t columns, struct pf_block *b,
		  struct pf_err *err)
{
	struct fetched f = { .count = 0 };
	uint64_t seen = 0;
	int rc;

	b->count = count;
	if (columns & PF_COLBIT(PF_COL_MASK))
		memset(b->slot_count, 0, sizeof(b->slot_count));
	if (columns & PF_COLBIT(PF_COL_INLINE))
		pf_buf_clear(&b->inline_text);
	rc = fetch_block(db, st, block_id, columns, &f, err);
	if (!rc)
		rc = decode(&f, b, &seen, err);
	pf_buf_release(&f.bytes);
	if (!rc && (required(columns, b) & ~seen))
		rc = pf_fail(err, PF_EDB, "a column is missing");
	return rc ? pf_while(err, "block %" PRId64, block_id) : 0;
}
