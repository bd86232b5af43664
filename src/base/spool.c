/* SPDX-License-Identifier: MIT */
/*
 * The spool: records lie in pieces of equal size.  Piece k lives in cache
 * place k % places, and goes to the file when another piece needs its place:
 * while everything fits in the budget there is no file at all.  There it is
 * packed (tempfile.h), so that its length varies; one that was only partly
 * used goes behind the others when it is full.
 *
 * Invariants: a piece that is in no place is in the file in full; only the
 * piece of the last record can be partly used; "tail" points behind the last
 * record while its piece is in its place, and is NULL otherwise.
 */
#include "config.h"

#include "base/spool.h"

#include <stdbool.h>
#include <unistd.h>

#include "base/heap.h"
#include "base/search.h"
#include "base/tempfile.h"

/*
 * The external sorter of base/spool.h.
 *
 * Records gather in a buffer of half the budget; a full buffer is sorted (a
 * merge of the natural runs found in it, nothing is moved when it is sorted
 * already; where runs are many, by the bytes in which keys differ) and appended
 * to one temporary file, packed (tempfile.h).  A buffer that starts at or after
 * the end of the last run makes that run longer, so nearly sorted input gives
 * very few runs.  Reading merges the runs with a heap.
 *
 * Invariants: runs lie in the file in the order of adding and without gaps,
 * so "lower run number first" among equal keys is stability.
 */

#define MIN_RUN        16    /* shorter natural runs are insertion-sorted */
#define RADIX_MIN      1024  /* fewer records, or longer runs, are merged */
#define MIN_READ_BYTES 16384 /* of a run's read buffer */
#define MAX_READ_BYTES 262144
#define WRITE_BYTES    262144

struct key {
	int64_t first, second;
};

struct run {
	uint64_t at, bytes, count; /* in the file; records */
	struct key last;
};

/* The reading side of one run. */
struct source {
	struct key key; /* of the record */
	char *record;   /* the current one, which the next needs */
	char *buffer;   /* packed ones */
	const char *at, *end;
	uint64_t next, left_bytes; /* what is still in the file */
	uint64_t left;             /* records behind the current one */
};

/* The writing side: records that go behind each other into a file. */
struct packer {
	int fd;
	char *last;   /* record of the run, zeros at first */
	char *buffer; /* WRITE_BYTES and room for one more */
	size_t len;
	uint64_t at; /* where the buffer goes */
};

struct pf_sorter {
	size_t record_bytes, budget_bytes, capacity, count, taken;
	char *records, *scratch;
	size_t allocated; /* records that fit in "records" now */
	bool is_sorted, is_started;
	struct key last; /* of the last record added */
	struct run *run;
	size_t run_count, run_cap;
	struct source *source;
	struct source **heap; /* least first */
	size_t source_count, heap_count;
	struct packer out; /* to the temporary file */
	char *dir;
};

static inline struct key key_of(const char *record)
{
	struct key k;

	memcpy(&k, record, sizeof(k));
	return k;
}

static inline bool is_less(struct key a, struct key b)
{
	return a.first != b.first ? a.first < b.first : a.second < b.second;
}

static inline void copy(char *to, const char *from, size_t len)
{
	for (; len >= 8; len -= 8, to += 8, from += 8)
		memcpy(to, from, 8);
	if (len)
		memcpy(to, from, len);
}

struct pf_sorter *pf_sorter_new(size_t record_bytes, size_t budget_bytes,
				const char *dir)
{
	struct pf_sorter *s = pf_calloc(1, sizeof(*s));

	s->record_bytes = record_bytes < sizeof(struct key) ? sizeof(struct key)
							    : record_bytes;
	s->budget_bytes = budget_bytes;
	s->capacity = budget_bytes / 2 / s->record_bytes;
	PF_AT_LEAST(s->capacity, 2 * MIN_RUN);
	s->is_sorted = true;
	s->out.fd = -1;
	s->dir = pf_strdup(dir ? dir : ".");
	return s;
}

static void free_sources(struct pf_sorter *s)
{
	for (size_t i = 0; i < s->source_count; i++) {
		free(s->source[i].buffer);
		free(s->source[i].record);
	}
	free(s->source);
	free(s->heap);
	s->source = NULL;
	s->heap = NULL;
	s->source_count = s->heap_count = 0;
}

struct pf_sorter *pf_sorter_temp(size_t record_bytes)
{
	return pf_sorter_new(record_bytes, 4u << 20, pf_temp_dir());
}

static void packer_close(struct packer *p)
{
	free(p->buffer);
	free(p->last);
	if (p->fd >= 0)
		close(p->fd);
	*p = (struct packer){ .fd = -1 };
}

void pf_sorter_free(struct pf_sorter *s)
{
	if (!s)
		return;
	free_sources(s);
	free(s->records);
	free(s->scratch);
	free(s->run);
	free(s->dir);
	packer_close(&s->out);
	free(s);
}

/* ---- in memory ---- */

/* Make records [from, end) sorted, knowing that [from, sorted) are. */
static void insert_sort(struct pf_sorter *s, size_t from, size_t sorted,
			size_t end)
{
	size_t w = s->record_bytes;
	char *base = s->records;

	for (size_t i = sorted; i < end; i++) {
		struct key k = key_of(base + i * w);
		size_t to = i;

		while (to > from && is_less(k, key_of(base + (to - 1) * w)))
			to--;
		if (to == i)
			continue;
		memcpy(s->scratch, base + i * w, w);
		memmove(base + (to + 1) * w, base + to * w, (i - to) * w);
		memcpy(base + to * w, s->scratch, w);
	}
}

/* Ends of ascending runs of at least MIN_RUN records; returns how many. */
static size_t find_runs(struct pf_sorter *s, size_t *ends)
{
	size_t w = s->record_bytes, from = 0, runs = 0;

	while (from < s->count) {
		struct key previous = key_of(s->records + from * w);
		size_t to = from + 1;

		for (; to < s->count; to++) {
			struct key k = key_of(s->records + to * w);

			if (is_less(k, previous))
				break;
			previous = k;
		}
		if (to - from < MIN_RUN && to < s->count) {
			size_t end = s->count - from < MIN_RUN ? s->count
							       : from + MIN_RUN;

			insert_sort(s, from, to, end);
			to = end;
		}
		ends[runs++] = to;
		from = to;
	}
	return runs;
}

/* Merge [a, b) and [b, end) of "from" into the same places of "to". */
static void merge_two(char *to, const char *a, const char *b, const char *end,
		      size_t w)
{
	const char *a_end = b;

	if (a < a_end && b < end && !is_less(key_of(b), key_of(b - w))) {
		memcpy(to, a, (size_t)(end - a));
		return;
	}
	while (a < a_end && b < end) {
		if (is_less(key_of(b), key_of(a))) {
			copy(to, b, w);
			b += w;
		} else {
			copy(to, a, w);
			a += w;
		}
		to += w;
	}
	memcpy(to, a, (size_t)(a_end - a));
	to += a_end - a;
	memcpy(to, b, (size_t)(end - b));
}

static void swap_buffers(struct pf_sorter *s)
{
	char *swap = s->records;

	s->records = s->scratch;
	s->scratch = swap;
}

static void merge_runs(struct pf_sorter *s)
{
	size_t w = s->record_bytes, runs;
	PF_OWN size_t *ends =
		pf_alloc((s->count / MIN_RUN + 2) * sizeof(*ends));

	runs = find_runs(s, ends);
	while (runs > 1) {
		size_t out = 0, start = 0;

		for (size_t i = 0; i < runs; i += 2) {
			size_t middle = ends[i];
			size_t end = i + 1 < runs ? ends[i + 1] : middle;

			merge_two(s->scratch + start * w,
				  s->records + start * w,
				  s->records + middle * w, s->records + end * w,
				  w);
			ends[out++] = start = end;
		}
		runs = out;
		swap_buffers(s);
	}
}

/* A byte of a key: 0 to 7 of the second number, 8 to 15 of the first. */
static inline unsigned digit_of(const char *record, unsigned digit)
{
	int64_t v;

	memcpy(&v, record + (digit < 8 ? sizeof(v) : 0), sizeof(v));
	v ^= INT64_MIN; /* negative numbers come first */
	return (unsigned)((uint64_t)v >> digit % 8 * 8) & 0xff;
}

/* Into the order of one byte of the keys, stable. */
static void sort_by_digit(struct pf_sorter *s, unsigned digit)
{
	size_t w = s->record_bytes, place[256] = { 0 }, sum = 0;
	const char *end = s->records + s->count * w;

	for (const char *r = s->records; r < end; r += w)
		place[digit_of(r, digit)] += w;
	for (size_t i = 0; i < 256; i++) {
		size_t bytes = place[i];

		place[i] = sum;
		sum += bytes;
	}
	for (const char *r = s->records; r < end; r += w) {
		size_t *to = &place[digit_of(r, digit)];

		copy(s->scratch + *to, r, w);
		*to += w;
	}
	swap_buffers(s);
}

/*
 * The bytes in which keys differ, as bits; *runs: of ascending records.  Where
 * second numbers ascend, as of what came in order of time, a stable sort by the
 * first is enough.
 */
static unsigned find_digits(const struct pf_sorter *s, size_t *runs)
{
	struct key first = key_of(s->records), previous = first;
	uint64_t differ[2] = { 0 };
	unsigned digits = 0;
	bool ascends = true;

	*runs = 1;
	for (size_t i = 1; i < s->count; i++) {
		struct key k = key_of(s->records + i * s->record_bytes);

		*runs += is_less(k, previous);
		ascends &= k.second >= previous.second;
		differ[0] |= (uint64_t)(k.second ^ first.second);
		differ[1] |= (uint64_t)(k.first ^ first.first);
		previous = k;
	}
	for (unsigned d = ascends ? 8 : 0; d < 16; d++)
		if (differ[d / 8] >> d % 8 * 8 & 0xff)
			digits |= 1u << d;
	return digits;
}

static void sort_records(struct pf_sorter *s)
{
	unsigned digits, passes = 0;
	size_t runs;

	if (s->is_sorted)
		return;
	if (!s->scratch)
		s->scratch = pf_alloc(s->allocated * s->record_bytes);
	digits = find_digits(s, &runs);
	while (runs >> passes)
		passes++;
	if (s->count >= RADIX_MIN &&
	    (unsigned)__builtin_popcount(digits) < passes)
		for (; digits; digits &= digits - 1)
			sort_by_digit(s, (unsigned)__builtin_ctz(digits));
	else
		merge_runs(s);
	s->is_sorted = true;
}

/* ---- to the file ---- */

static int packer_open(struct packer *p, const struct pf_sorter *s,
		       struct pf_err *err)
{
	*p = (struct packer){ .fd = pf_tempfile_open(s->dir, err) };
	PF_TRY(p->fd < 0);
	p->last = pf_calloc(1, s->record_bytes);
	p->buffer = pf_alloc(WRITE_BYTES + PF_PACK_MAX(s->record_bytes) +
			     PF_PACK_SLACK);
	return 0;
}

static int packer_flush(struct packer *p, struct pf_err *err)
{
	size_t len = p->len;
	uint64_t at = p->at;

	p->len = 0;
	p->at += len;
	return len ? pf_tempfile_write(p->fd, p->buffer, len, at, err) : 0;
}

static inline int packer_put(struct packer *p, const char *record, size_t bytes,
			     struct pf_err *err)
{
	char *end = pf_pack_put(p->buffer + p->len, p->last, record, bytes);

	p->len = (size_t)(end - p->buffer);
	return p->len < WRITE_BYTES ? 0 : packer_flush(p, err);
}

static struct run *add_run(struct pf_sorter *s)
{
	struct run *r;

	PF_ROOM(s->run, s->run_cap, s->run_count + 1);
	r = s->run + s->run_count++;
	*r = (struct run){ .at = s->out.at };
	memset(s->out.last, 0, s->record_bytes);
	return r;
}

static int spill(struct pf_sorter *s, struct pf_err *err)
{
	size_t w = s->record_bytes;
	struct run *r = s->run_count ? s->run + s->run_count - 1 : NULL;
	const char *end;

	if (!s->count)
		return 0;
	sort_records(s);
	PF_TRY(s->out.fd < 0 && packer_open(&s->out, s, err));
	if (!r || is_less(key_of(s->records), r->last))
		r = add_run(s);
	end = s->records + s->count * w;
	for (const char *at = s->records; at < end; at += w)
		PF_TRY(packer_put(&s->out, at, w, err));
	PF_TRY(packer_flush(&s->out, err));
	r->bytes = s->out.at - r->at;
	r->count += s->count;
	r->last = key_of(end - w);
	s->count = 0;
	s->is_sorted = true;
	return 0;
}

/* Room for one more record: grow to the capacity, then spill. */
static int make_room(struct pf_sorter *s, struct pf_err *err)
{
	if (s->allocated < s->capacity) {
		size_t want = s->allocated ? s->allocated * 2 : 1024;

		s->allocated = want < s->capacity ? want : s->capacity;
		s->records =
			pf_realloc(s->records, s->allocated, s->record_bytes);
		return 0;
	}
	return spill(s, err);
}

int pf_sorter_add(struct pf_sorter *s, const void *record, struct pf_err *err)
{
	struct key k;

	PF_TRY(s->count == s->allocated && make_room(s, err));
	memcpy(s->records + s->count * s->record_bytes, record,
	       s->record_bytes);
	k = key_of(record);
	if (s->count && is_less(k, s->last))
		s->is_sorted = false;
	s->last = k;
	s->count++;
	return 0;
}

/* ---- merging ---- */

/* Sources lie in the order of their runs. */
static bool source_is_less(const void *a, const void *b)
{
	const struct source *x = *(struct source *const *)a;
	const struct source *y = *(struct source *const *)b;

	if (x->key.first != y->key.first)
		return x->key.first < y->key.first;
	if (x->key.second != y->key.second)
		return x->key.second < y->key.second;
	return x < y;
}

/* The next packed bytes of a run, behind those that are left. */
static int refill(struct pf_sorter *s, struct source *src, size_t room,
		  struct pf_err *err)
{
	size_t rest = (size_t)(src->end - src->at), n = room - rest;

	if (n > src->left_bytes)
		n = (size_t)src->left_bytes;
	memmove(src->buffer, src->at, rest);
	PF_TRY(pf_tempfile_read(s->out.fd, src->buffer + rest, n, src->next,
				err));
	src->next += n;
	src->left_bytes -= n;
	src->at = src->buffer;
	src->end = src->buffer + rest + n;
	return 0;
}

/* Bytes that are read of a run at a time, at least one record. */
static size_t read_bytes(const struct pf_sorter *s, size_t sources)
{
	size_t bytes = s->budget_bytes / (sources ? sources : 1);
	size_t least = PF_PACK_MAX(s->record_bytes);

	PF_AT_MOST(bytes, MAX_READ_BYTES);
	PF_AT_LEAST(bytes, MIN_READ_BYTES);
	return bytes < least ? least : bytes;
}

/* The next record of a run: 1 there is one, 0 end, -1 error. */
static inline int next_record(struct pf_sorter *s, struct source *src,
			      struct pf_err *err)
{
	size_t w = s->record_bytes;

	if (!src->left)
		return 0;
	PF_TRY((size_t)(src->end - src->at) < PF_PACK_MAX(w) &&
	       src->left_bytes &&
	       refill(s, src, read_bytes(s, s->source_count), err));
	src->left--;
	src->at = pf_pack_get(src->at, src->record, w);
	src->key = key_of(src->record);
	return 1;
}

/* Open runs [from, to) for merging. */
static int open_sources(struct pf_sorter *s, size_t from, size_t to,
			struct pf_err *err)
{
	size_t room = read_bytes(s, to - from);

	s->source = pf_calloc(to - from, sizeof(*s->source));
	s->heap = pf_calloc(to - from, sizeof(struct source *));
	s->source_count = to - from;
	for (size_t i = 0; i < s->source_count; i++) {
		const struct run *r = &s->run[from + i];
		struct source *src = s->source + i;

		src->buffer = pf_calloc(1, room + PF_PACK_SLACK);
		src->record = pf_calloc(1, s->record_bytes);
		src->at = src->end = src->buffer;
		src->next = r->at;
		src->left_bytes = r->bytes;
		src->left = r->count;
		PF_TRY(next_record(s, src, err) < 0);
		s->heap[s->heap_count++] = src;
	}
	pf_heap_make(s->heap, sizeof(struct source *), s->heap_count,
		     source_is_less);
	return 0;
}

/* Leave the least record behind. */
static int advance(struct pf_sorter *s, struct pf_err *err)
{
	int more = next_record(s, s->heap[0], err);

	PF_TRY(more < 0);
	if (!more)
		s->heap[0] = s->heap[--s->heap_count];
	pf_heap_sink(s->heap, sizeof(struct source *), s->heap_count, 0,
		     source_is_less);
	return 0;
}

/* Merge runs [from, to) into one run of another file. */
static int merge_group(struct pf_sorter *s, size_t from, size_t to,
		       struct packer *out, struct run *merged,
		       struct pf_err *err)
{
	int rc = open_sources(s, from, to, err);

	*merged = (struct run){ .at = out->at };
	memset(out->last, 0, s->record_bytes);
	while (!rc && s->heap_count) {
		rc = packer_put(out, s->heap[0]->record, s->record_bytes, err);
		merged->count++;
		if (!rc)
			rc = advance(s, err);
	}
	if (!rc)
		rc = packer_flush(out, err);
	merged->bytes = out->at - merged->at;
	free_sources(s);
	return rc;
}

/* One pass over all runs that makes "fan" runs one. */
static int merge_pass(struct pf_sorter *s, size_t fan, struct pf_err *err)
{
	struct packer packer;
	size_t out = 0;

	PF_TRY(packer_open(&packer, s, err));
	for (size_t from = 0; from < s->run_count; from += fan) {
		size_t to =
			s->run_count - from < fan ? s->run_count : from + fan;
		struct run merged;

		if (merge_group(s, from, to, &packer, &merged, err)) {
			packer_close(&packer);
			return -1;
		}
		s->run[out++] = merged;
	}
	s->run_count = out;
	packer_close(&s->out);
	s->out = packer;
	return 0;
}

int pf_sorter_finish(struct pf_sorter *s, struct pf_err *err)
{
	size_t fan = s->budget_bytes / MIN_READ_BYTES;

	if (!s->run_count) {
		sort_records(s);
		free(s->scratch);
		s->scratch = NULL;
		return 0;
	}
	PF_TRY(spill(s, err));
	free(s->scratch);
	free(s->records);
	s->scratch = s->records = NULL;
	s->allocated = 0;
	PF_AT_LEAST(fan, 4);
	while (s->run_count > fan)
		PF_TRY(merge_pass(s, fan, err));
	return open_sources(s, 0, s->run_count, err);
}

const void *pf_sorter_next(struct pf_sorter *s, struct pf_err *err)
{
	if (!s->source_count) {
		if (s->taken == s->count)
			return NULL;
		return s->records + s->taken++ * s->record_bytes;
	}
	if (s->is_started && s->heap_count && advance(s, err))
		return NULL;
	s->is_started = true;
	return s->heap_count ? s->heap[0]->record : NULL;
}

#define PIECE_BYTES 65536

/* Where a piece lies in the file. */
struct packed {
	uint64_t at;
	size_t bytes;
};

struct place {
	char *data;
	uint64_t piece;
	bool used, dirty;
};

struct pf_spool {
	size_t record_bytes, per_piece, piece_bytes, places;
	unsigned shift; /* per_piece is 1 << shift: nothing is divided by it */
	struct place *place;
	uint64_t count;
	uint64_t last_bound; /* where the last lower bound was */
	int64_t *first;      /* leading number of each piece */
	size_t first_cap;
	char *tail;            /* where the next record goes, or NULL */
	size_t tail_room;      /* records that still fit behind tail */
	struct packed *packed; /* of each piece that has been in the file */
	size_t packed_cap;
	char *bytes, *last; /* a piece packed, a record */
	struct pf_scratch file;
	size_t room; /* of the file's bytes in memory */
	char *dir;
};

struct pf_spool *pf_spool_new(size_t record_bytes, size_t budget_bytes,
			      const char *dir)
{
	struct pf_spool *s = pf_calloc(1, sizeof(*s));

	s->record_bytes = record_bytes ? record_bytes : 1;
	while (s->record_bytes << (s->shift + 1) <= PIECE_BYTES)
		s->shift++;
	s->per_piece = (size_t)1 << s->shift;
	s->piece_bytes = s->per_piece * s->record_bytes;
	s->places = budget_bytes / s->piece_bytes;
	PF_AT_LEAST(s->places, 2);
	s->place = pf_calloc(s->places, sizeof(*s->place));
	s->dir = pf_strdup(dir ? dir : ".");
	return s;
}

void pf_spool_keep(struct pf_spool *s, size_t bytes)
{
	s->room = bytes;
}

void pf_spool_free(struct pf_spool *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->places; i++)
		free(s->place[i].data);
	free(s->place);
	free(s->first);
	free(s->packed);
	free(s->bytes);
	free(s->last);
	free(s->dir);
	pf_scratch_close(&s->file);
	free(s);
}

uint64_t pf_spool_count(const struct pf_spool *s)
{
	return s->count;
}

/* The first piece that leaves brings the file and what packing needs. */
static int open_file(struct pf_spool *s, struct pf_err *err)
{
	if (s->bytes)
		return 0;
	PF_TRY(pf_scratch_open(&s->file, s->room, s->dir, err));
	s->bytes = pf_calloc(1, s->per_piece * PF_PACK_MAX(s->record_bytes) +
					PF_PACK_SLACK);
	s->last = pf_alloc(s->record_bytes);
	return 0;
}

static int write_piece(struct pf_spool *s, const struct place *p,
		       struct pf_err *err)
{
	const char *end = p->data + s->piece_bytes;
	struct packed *packed;
	char *to = s->bytes;

	memset(s->last, 0, s->record_bytes);
	for (const char *r = p->data; r < end; r += s->record_bytes)
		to = pf_pack_put(to, s->last, r, s->record_bytes);
	PF_ROOM(s->packed, s->packed_cap, p->piece + 1);
	packed = &s->packed[p->piece];
	packed->bytes = (size_t)(to - s->bytes);
	return pf_scratch_add(&s->file, s->bytes, packed->bytes, &packed->at,
			      err);
}

static int read_piece(struct pf_spool *s, char *to, uint64_t piece,
		      struct pf_err *err)
{
	const struct packed *packed = &s->packed[piece];
	const char *from = s->bytes, *end = to + s->piece_bytes;

	PF_TRY(pf_scratch_read(&s->file, s->bytes, packed->bytes, packed->at,
			       err));
	memset(s->last, 0, s->record_bytes);
	for (; to < end; to += s->record_bytes) {
		from = pf_pack_get(from, s->last, s->record_bytes);
		memcpy(to, s->last, s->record_bytes);
	}
	return 0;
}

/* Empty a place for another piece. */
static int evict(struct pf_spool *s, struct place *p, struct pf_err *err)
{
	if (s->tail && s->place + (s->count >> s->shift) % s->places == p)
		s->tail = NULL;
	if (!p->used || !p->dirty)
		return 0;
	PF_TRY(open_file(s, err));
	PF_TRY(write_piece(s, p, err));
	p->dirty = false;
	return 0;
}

/* Bring a piece into its place; a fresh one is not in the file yet. */
static struct place *load(struct pf_spool *s, uint64_t piece, bool fresh,
			  struct pf_err *err)
{
	struct place *p = s->place + piece % s->places;

	if (p->used && p->piece == piece)
		return p;
	if (evict(s, p, err))
		return NULL;
	if (!p->data)
		p->data = pf_calloc(1, s->piece_bytes);
	p->used = false;
	if (!fresh && read_piece(s, p->data, piece, err))
		return NULL;
	p->used = true;
	p->dirty = false;
	p->piece = piece;
	return p;
}

/* Find the place of the next record. */
static int open_tail(struct pf_spool *s, struct pf_err *err)
{
	size_t in_piece = s->count & (s->per_piece - 1);
	struct place *p;

	if (s->count >= UINT64_MAX / 2 / s->record_bytes)
		return pf_fail(err, PF_ELIMIT, "too many records to spool");
	p = load(s, s->count >> s->shift, in_piece == 0, err);
	PF_TRY(!p);
	p->dirty = true;
	s->tail = p->data + in_piece * s->record_bytes;
	s->tail_room = s->per_piece - in_piece;
	return 0;
}

/* Of each piece, so that most searches touch one. */
static void note_first(struct pf_spool *s, const void *record)
{
	uint64_t piece = s->count >> s->shift;

	PF_ROOM(s->first, s->first_cap, piece + 1);
	s->first[piece] = 0;
	memcpy(&s->first[piece], record,
	       s->record_bytes < 8 ? s->record_bytes : 8);
}

int pf_spool_add(struct pf_spool *s, const void *record, struct pf_err *err)
{
	PF_TRY(!s->tail && open_tail(s, err));
	if (s->tail_room == s->per_piece)
		note_first(s, record);
	memcpy(s->tail, record, s->record_bytes);
	s->tail += s->record_bytes;
	s->count++;
	if (--s->tail_room == 0)
		s->tail = NULL;
	return 0;
}

const void *pf_spool_at(struct pf_spool *s, uint64_t i, struct pf_err *err)
{
	uint64_t piece = i >> s->shift;
	struct place *p = s->place + piece % s->places;

	if (i >= s->count) {
		pf_fail(err, PF_EIO, "record past the end of a spool");
		return NULL;
	}
	if (!p->used || p->piece != piece)
		p = load(s, piece, false, err);
	if (!p)
		return NULL;
	return p->data + (i & (s->per_piece - 1)) * s->record_bytes;
}

/* Is record i below key?  1 yes, 0 no, -1 error. */
static int is_below(struct pf_spool *s, uint64_t i, int64_t key,
		    struct pf_err *err)
{
	const void *record = pf_spool_at(s, i, err);
	int64_t value;

	PF_TRY(!record);
	memcpy(&value, record, sizeof(value));
	return value < key;
}

/* Find the piece that holds the last record below key, if any does. */
static void find_piece(struct pf_spool *s, int64_t key, uint64_t *low,
		       uint64_t *high)
{
	uint64_t pieces = (s->count + s->per_piece - 1) >> s->shift;
	uint64_t p = s->last_bound >> s->shift;

	if (p >= pieces || s->first[p] >= key ||
	    (p + 1 < pieces && s->first[p + 1] < key))
		p = (uint64_t)PF_SEARCH(i, pieces, s->first[i] < key) - 1;
	if (p == UINT64_MAX) {
		*low = *high = 0;
		return;
	}
	*low = p * s->per_piece + 1;
	*high = (p + 1) * s->per_piece;
	PF_AT_MOST(*high, s->count);
}

/*
 * Double the distance from the last answer, if it lies between *low and
 * *high, until these are near: records before *low are below key, record
 * *high is not (or is the end).
 */
static int gallop(struct pf_spool *s, int64_t key, uint64_t *low,
		  uint64_t *high, struct pf_err *err)
{
	uint64_t from = s->last_bound, at;
	int below = 1;

	if (from < *low || from >= *high)
		return 0;
	for (uint64_t step = 0; below && *low < *high; step = 2 * step + 1) {
		at = from + step < *high ? from + step : *high - 1;
		below = is_below(s, at, key, err);
		PF_TRY(below < 0);
		if (below)
			*low = at + 1;
		else
			*high = at;
	}
	if (from != *high)
		return 0;
	for (uint64_t step = 1; *low < *high; step *= 2) {
		at = step <= from - *low ? from - step : *low;
		below = is_below(s, at, key, err);
		PF_TRY(below < 0);
		if (!below) {
			*high = at;
			continue;
		}
		*low = at + 1;
		break;
	}
	return 0;
}

uint64_t pf_spool_lower_bound(struct pf_spool *s, int64_t key,
			      struct pf_err *err)
{
	uint64_t low, high;

	find_piece(s, key, &low, &high);
	if (gallop(s, key, &low, &high, err))
		return UINT64_MAX;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;
		int below = is_below(s, middle, key, err);

		if (below < 0)
			return UINT64_MAX;
		if (below)
			low = middle + 1;
		else
			high = middle;
	}
	s->last_bound = low;
	return low;
}
