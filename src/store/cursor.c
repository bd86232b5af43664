/* SPDX-License-Identifier: MIT */
/*
 * Invariants: block holds the columns asked for of the block that was read
 * last; slot_at[s] counts the values of slot s that next() has given out.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "base/mem.h"
#include "store/block.h"
#include "store/cursor.h"
#include "store/kept.h"
#include "store/threads.h"

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
	if (!st)
		return -1;
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
	sqlite3_finalize(st);
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

/*
 * Statements are borrowed for the reading of one block, so a connection has
 * as many as threads read at once, not as many as cursors are open.
 */
struct pf_statements {
	sqlite3_stmt *block, *data;
	struct pf_statements *next;
};

#define AHEAD_BLOCKS 2 /* of which one is being read */
#define AHEAD_AFTER  4 /* blocks of the track: a thread costs what these do */

struct pf_cursor {
	struct pf_db *db;
	uint32_t track_id;
	uint64_t columns;
	int64_t seek_ns, next_block;
	int64_t from_ns, last_ns; /* see pf_cursor_overlap() */
	struct pf_block own;      /* its arrays come with the first block */
	struct pf_block block;    /* those of own, or kept or made ones */
	uint32_t first_seq;
	bool may_ahead;
	struct ahead *ahead; /* or NULL: it decodes its blocks itself */
	/* for next() */
	bool has_block;
	uint32_t at, slot_at[PF_SLOT_COUNT];
	size_t inline_at;
};

static void free_statements(struct pf_statements *s)
{
	if (!s)
		return;
	sqlite3_finalize(s->block);
	sqlite3_finalize(s->data);
	free(s);
}

void pf_cursor_forget(struct pf_db *db)
{
	struct pf_statements *s = atomic_exchange(&db->idle, NULL), *next;

	for (; s; s = next) {
		next = s->next;
		free_statements(s);
	}
}

static struct pf_statements *prepare(struct pf_db *db, struct pf_err *err)
{
	struct pf_statements *s = pf_calloc(1, sizeof(*s));

	s->block = pf_db_prepare(
		db,
		"SELECT id, block_no, event_count FROM main.block"
		" WHERE id BETWEEN (?1 << 18 | ?2) AND (?1 << 18 | 262143)"
		" AND last_start_ns >= ?3 AND first_start_ns <= ?4"
		" AND max_end_ns >= ?5 ORDER BY id LIMIT 1",
		err);
	s->data = s->block ? pf_block_statement(db, err) : NULL;
	if (s->data)
		return s;
	free_statements(s);
	return NULL;
}

/* The whole list is taken and what is not used given back: no ABA. */
static void give_back(struct pf_db *db, struct pf_statements *list)
{
	struct pf_statements *last = list, *head = atomic_load(&db->idle);

	if (!list)
		return;
	while (last->next)
		last = last->next;
	do
		last->next = head;
	while (!atomic_compare_exchange_weak(&db->idle, &head, list));
}

static struct pf_statements *borrow(struct pf_db *db, struct pf_err *err)
{
	struct pf_statements *s = atomic_exchange(&db->idle, NULL);

	if (!s)
		return prepare(db, err);
	give_back(db, s->next);
	s->next = NULL;
	return s;
}

static uint64_t with_needed(uint64_t columns)
{
	if (columns & PF_COLBIT(PF_COL_INLINE))
		columns |= PF_COLBIT(PF_COL_NAME) | PF_COLBIT(PF_COL_ARGS);
	if (columns >> PF_COL_SLOT)
		columns |= PF_COLBIT(PF_COL_MASK);
	return columns;
}

struct pf_cursor *pf_cursor_new(struct pf_db *db, uint32_t track_id,
				uint64_t columns, struct pf_err *err)
{
	struct pf_cursor *c = pf_calloc(1, sizeof(*c));

	(void)err; /* a damaged database shows with the first block */
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

/* What was not asked for is zero. */
static void fill_in(struct pf_block *b)
{
	static int64_t zeros[PF_BLOCK_EVENTS]; /* never written */
	uint32_t *narrow = (uint32_t *)(void *)zeros;

	b->start_ns = b->start_ns ? b->start_ns : zeros;
	b->dur_ns = b->dur_ns ? b->dur_ns : zeros;
	b->order = b->order ? b->order : zeros;
	b->name = b->name ? b->name : narrow;
	b->type = b->type ? b->type : narrow;
	b->args = b->args ? b->args : narrow;
	b->parent = b->parent ? b->parent : narrow;
	b->mask = b->mask ? b->mask : narrow;
}

/* Few ask for slots, and the mask is nothing without them. */
#define COLS_KEPT ((PF_COLBIT(PF_COL_SLOT) - 1) & ~PF_COLBIT(PF_COL_MASK))

/* The arrays grow to the first full block and stay. */
static void make_room(struct pf_block *b, uint32_t count, uint64_t columns)
{
	if (b->capacity >= count)
		return;
	pf_block_release(b);
	pf_block_init_for(b, count, columns);
}

static int load_block(struct pf_cursor *c, sqlite3_stmt *st, int64_t id,
		      uint32_t count, struct pf_err *err)
{
	struct pf_block *b = &c->block;
	uint64_t slots = c->columns & ~COLS_KEPT; /* and the mask */
	int rc = pf_kept_load(c->db, st, id, count, c->columns & COLS_KEPT, b,
			      err);

	if (rc < 0)
		return -1;
	if (!rc || slots)
		make_room(&c->own, count, c->columns);
	if (rc) {
		if (slots)
			b->mask = c->own.mask;
		fill_in(b);
		memcpy(b->slot, c->own.slot, sizeof(b->slot));
		return slots ? pf_block_load(c->db, st, id, count, slots, b,
					     err)
			     : 0;
	}
	rc = pf_block_load(c->db, st, id, count, c->columns, &c->own, err);
	c->block = c->own;
	return rc;
}

struct found {
	int64_t id, block_no, count;
};

/* What the next block is: 1, 0 at the end, or -1. */
static int find_block(struct pf_cursor *c, sqlite3_stmt *st, struct found *f,
		      struct pf_err *err)
{
	int rc;

	pf_db_lock(c->db);
	sqlite3_bind_int64(st, 1, c->track_id);
	sqlite3_bind_int64(st, 2, c->next_block);
	sqlite3_bind_int64(st, 3, c->seek_ns);
	sqlite3_bind_int64(st, 4, c->last_ns);
	sqlite3_bind_int64(st, 5, c->from_ns);
	rc = pf_db_step(c->db, st, err);
	if (rc == 1) {
		f->id = sqlite3_column_int64(st, 0);
		f->block_no = sqlite3_column_int64(st, 1);
		f->count = sqlite3_column_int64(st, 2);
	}
	sqlite3_reset(st);
	pf_db_unlock(c->db);
	return rc;
}

static int read_block(struct pf_cursor *c, struct pf_statements *s,
		      struct pf_err *err)
{
	struct found f = { 0 };
	int rc = find_block(c, s->block, &f, err);

	if (rc <= 0)
		return rc;
	if (f.count < 1 || f.count > PF_BLOCK_EVENTS ||
	    f.block_no != (f.id & 0x3ffff))
		return pf_fail(err, PF_EDB, "block %lld is damaged",
			       (long long)f.id);
	c->next_block = f.block_no + 1;
	c->first_seq = (uint32_t)f.block_no << PF_BLOCK_SHIFT;
	return load_block(c, s->data, f.id, (uint32_t)f.count, err) ? -1 : 1;
}

static int read_next(struct pf_cursor *c, struct pf_err *err)
{
	struct pf_statements *s;
	int rc;

	if (c->next_block >> 18)
		return 0;
	s = borrow(c->db, err);
	if (!s)
		return -1;
	rc = read_block(c, s, err);
	give_back(c->db, s);
	return rc;
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

	for (uint32_t m = (uint32_t)(c->columns >> PF_COL_SLOT); m; m &= m - 1)
		out->slot[__builtin_ctz(m)] = 0;
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
	if ((c->columns & PF_COLBIT(PF_COL_NAME)) &&
	    out->name == PF_ID_INLINE &&
	    take_inline(c, &out->inline_name, &out->inline_name_len, err))
		return -1;
	if ((c->columns & PF_COLBIT(PF_COL_ARGS)) &&
	    out->args == PF_ID_INLINE &&
	    take_inline(c, &out->inline_args, &out->inline_args_len, err))
		return -1;
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
	int rc = -1;

	t->tag = tag;
	t->cursor = pf_cursor_new(db, track_id, columns, err);
	if (t->cursor)
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

	if (rc < 0)
		return -1;
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
	if (c->is_started && c->count && go_on(c, err))
		return -1;
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
