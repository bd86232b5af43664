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
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/search.h"
#include "base/tempfile.h"

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
	if (s->places < 2)
		s->places = 2;
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
	if (pf_scratch_open(&s->file, s->room, s->dir, err))
		return -1;
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
	s->packed = pf_grow(s->packed, &s->packed_cap, p->piece + 1,
			    sizeof(*s->packed));
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

	if (pf_scratch_read(&s->file, s->bytes, packed->bytes, packed->at, err))
		return -1;
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
	if (open_file(s, err) || write_piece(s, p, err))
		return -1;
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
	if (!p)
		return -1;
	p->dirty = true;
	s->tail = p->data + in_piece * s->record_bytes;
	s->tail_room = s->per_piece - in_piece;
	return 0;
}

/* Of each piece, so that most searches touch one. */
static void note_first(struct pf_spool *s, const void *record)
{
	uint64_t piece = s->count >> s->shift;

	s->first =
		pf_grow(s->first, &s->first_cap, piece + 1, sizeof(*s->first));
	s->first[piece] = 0;
	memcpy(&s->first[piece], record,
	       s->record_bytes < 8 ? s->record_bytes : 8);
}

int pf_spool_add(struct pf_spool *s, const void *record, struct pf_err *err)
{
	if (!s->tail && open_tail(s, err))
		return -1;
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

	if (!record)
		return -1;
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
		p = PF_SEARCH(i, pieces, s->first[i] < key) - 1;
	if (p == UINT64_MAX) {
		*low = *high = 0;
		return;
	}
	*low = p * s->per_piece + 1;
	*high = (p + 1) * s->per_piece;
	if (*high > s->count)
		*high = s->count;
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
		if (below < 0)
			return -1;
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
		if (below < 0)
			return -1;
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
