/* SPDX-License-Identifier: MIT */
/*
 * Threads are a heap by the next span of each.  A span that ends at or before
 * the largest end of its class on its thread adds nothing to any union.
 */
#include "config.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "events/host.h"
#include "events/interval.h"
#include "events/step_names.h"
#include "base/heap.h"
#include "base/mem.h"
#include "base/search.h"
#include "store/cursor.h"
#include "store/named.h"
#include "trace/event.h"

struct thread {
	struct pf_cursor *cursor;
	const struct pf_block *block;
	uint32_t place;
	int64_t covered_to[PF_HOST_CLASSES];
	struct pf_host_span span;
};

/* As host_names.sql has them; 0: any other name. */
enum special_class { STEP = 1, DATA, SYNC, LAUNCH };

struct special {
	int64_t name;
	enum special_class class;
};

struct kind_of {
	int64_t id;
	unsigned kind;
};

struct pf_host {
	struct pf_db *db;
	struct thread *threads;
	size_t open, cap;
	struct special *specials; /* by name */
	size_t special_count, special_cap, data_count;
	struct kind_of *kinds;
	size_t kind_count, kind_cap;
};

static int load_specials(struct pf_host *h, struct pf_err *err)
{
	sqlite3_stmt *stmt = pf_named_prepare(h->db, "host_names", err);
	int rc;

	if (!stmt)
		return -1;
	while ((rc = pf_db_step(h->db, stmt, err)) == 1) {
		h->specials =
			pf_grow(h->specials, &h->special_cap,
				h->special_count + 1, sizeof(*h->specials));
		h->data_count += sqlite3_column_int(stmt, 1) == DATA;
		h->specials[h->special_count++] = (struct special){
			sqlite3_column_int64(stmt, 0),
			(enum special_class)sqlite3_column_int(stmt, 1)
		};
	}
	sqlite3_finalize(stmt);
	return rc;
}

static int by_name(const void *a, const void *b)
{
	const struct special *x = a, *y = b;

	return (x->name > y->name) - (x->name < y->name);
}

static bool is_special(const struct pf_host *h, size_t count, int64_t name)
{
	const struct special key = { .name = name };

	return count && bsearch(&key, h->specials, count, sizeof(key), by_name);
}

/* Ranges that --steps names are steps and no work. */
static int add_steps(struct pf_host *h, const char *pattern, struct pf_err *err)
{
	struct pf_step_regex *regex = pf_step_regex_new(pattern, err);
	sqlite3_stmt *stmt =
		regex ? pf_named_prepare(h->db, "string_list", err) : NULL;
	size_t known = h->special_count;
	int rc = stmt ? 0 : -1;

	while (!rc && (rc = pf_db_step(h->db, stmt, err)) == 1) {
		int64_t id = sqlite3_column_int64(stmt, 0);
		const char *text = (const char *)sqlite3_column_text(stmt, 1);
		size_t len = (size_t)sqlite3_column_bytes(stmt, 1);

		rc = 0;
		if (!text || !pf_step_regex_matches(regex, text, len) ||
		    is_special(h, known, id))
			continue;
		h->specials =
			pf_grow(h->specials, &h->special_cap,
				h->special_count + 1, sizeof(*h->specials));
		h->specials[h->special_count++] = (struct special){ id, STEP };
	}
	sqlite3_finalize(stmt);
	pf_step_regex_free(regex);
	if (!rc && h->special_count)
		qsort(h->specials, h->special_count, sizeof(*h->specials),
		      by_name);
	return rc;
}

static int load_kinds(struct pf_host *h, struct pf_err *err)
{
	sqlite3_stmt *stmt = pf_named_prepare(h->db, "event_kinds", err);
	int rc;

	if (!stmt)
		return -1;
	while ((rc = pf_db_step(h->db, stmt, err)) == 1) {
		h->kinds = pf_grow(h->kinds, &h->kind_cap, h->kind_count + 1,
				   sizeof(*h->kinds));
		h->kinds[h->kind_count++] =
			(struct kind_of){ sqlite3_column_int64(stmt, 0),
					  (unsigned)sqlite3_column_int64(stmt,
									 1) };
	}
	sqlite3_finalize(stmt);
	return rc;
}

static unsigned find_kind(const struct pf_host *h, uint32_t type)
{
	if (type < h->kind_count && h->kinds[type].id == type)
		return h->kinds[type].kind;
	for (size_t i = 0; i < h->kind_count; i++)
		if (h->kinds[i].id == type)
			return h->kinds[i].kind;
	return PF_KIND_COUNT;
}

static enum special_class find_special(const struct pf_host *h, uint32_t name)
{
	size_t low = PF_SEARCH(i, h->special_count, h->specials[i].name < name);

	if (low < h->special_count && h->specials[low].name == name)
		return h->specials[low].class;
	return 0;
}

/* The class of an event; PF_HOST_CLASSES if it has none. */
static enum pf_host_class classify(const struct pf_host *h, unsigned kind,
				   uint32_t name)
{
	switch (kind) {
	case PF_KIND_RUNTIME:
	case PF_KIND_DRIVER:
		return PF_HOST_RUNTIME;
	case PF_KIND_CPU_OP:
	case PF_KIND_ANNOTATION:
		switch (find_special(h, name)) {
		case STEP:
			return PF_HOST_CLASSES;
		case DATA:
			return PF_HOST_DATA;
		default:
			return PF_HOST_CPU;
		}
	case PF_KIND_HOST: /* TensorFlow has no categories */
		if (h->data_count && find_special(h, name) == DATA)
			return PF_HOST_DATA;
		return PF_HOST_CLASSES;
	default:
		return PF_HOST_CLASSES;
	}
}

static void note_call(const struct pf_host *h, uint32_t name,
		      struct pf_host_span *span)
{
	enum special_class special = find_special(h, name);

	span->is_sync = special == SYNC;
	span->is_launch = special == LAUNCH;
}

/* The next span of a thread that adds something: 1, 0 or -1. */
static int advance(const struct pf_host *h, struct thread *t,
		   struct pf_err *err)
{
	for (;;) {
		const struct pf_block *b = t->block;
		uint32_t first;
		int rc;

		for (; b && t->place < b->count; t->place++) {
			uint32_t i = t->place;
			unsigned kind = find_kind(h, b->type[i]);
			int64_t start = b->start_ns[i];
			int64_t end = pf_span_end(start, b->dur_ns[i]);
			enum pf_host_class class;

			class = classify(h, kind, b->name[i]);
			if (class == PF_HOST_CLASSES ||
			    end <= t->covered_to[class])
				continue;
			t->covered_to[class] = end;
			t->span = (struct pf_host_span){ .start_ns = start,
							 .end_ns = end,
							 .class = class };
			if (class == PF_HOST_RUNTIME)
				note_call(h, b->name[i], &t->span);
			t->place++;
			return 1;
		}
		rc = pf_cursor_block(t->cursor, &t->block, &first, err);
		if (rc <= 0)
			return rc;
		t->place = 0;
	}
}

static bool is_earlier(const void *a, const void *b)
{
	const struct thread *x = a, *y = b;

	return x->span.start_ns < y->span.start_ns;
}

static int open_thread(struct pf_host *h, uint32_t track_id, struct pf_err *err)
{
	static const uint64_t columns =
		PF_COLBIT(PF_COL_START) | PF_COLBIT(PF_COL_DUR) |
		PF_COLBIT(PF_COL_NAME) | PF_COLBIT(PF_COL_TYPE);
	struct thread *t;
	int rc;

	h->threads =
		pf_grow(h->threads, &h->cap, h->open + 1, sizeof(*h->threads));
	t = &h->threads[h->open];
	memset(t, 0, sizeof(*t));
	for (size_t i = 0; i < PF_HOST_CLASSES; i++)
		t->covered_to[i] = INT64_MIN;
	t->cursor = pf_cursor_new(h->db, track_id, columns, err);
	if (!t->cursor)
		return -1;
	rc = advance(h, t, err);
	if (rc == 1)
		h->open++;
	else
		pf_cursor_free(t->cursor);
	return rc < 0 ? -1 : 0;
}

static int open_threads(struct pf_host *h, int64_t trace_id, struct pf_err *err)
{
	struct pf_track *tracks = NULL;
	size_t count = 0;
	int rc = pf_tracks_load(h->db, trace_id, &tracks, &count, err);

	for (size_t i = 0; !rc && i < count; i++)
		if (!strcmp(tracks[i].class_name, "host"))
			rc = open_thread(h, tracks[i].id, err);
	pf_tracks_free(tracks, count);
	pf_heap_make(h->threads, sizeof(*h->threads), h->open, is_earlier);
	return rc;
}

struct pf_host *pf_host_new(struct pf_db *db, int64_t trace_id,
			    const char *steps, struct pf_err *err)
{
	struct pf_host *h = pf_calloc(1, sizeof(*h));

	h->db = db;
	if (!load_specials(h, err) && !(steps && add_steps(h, steps, err)) &&
	    !load_kinds(h, err) && !open_threads(h, trace_id, err))
		return h;
	pf_host_free(h);
	return NULL;
}

void pf_host_free(struct pf_host *h)
{
	if (!h)
		return;
	for (size_t i = 0; i < h->open; i++)
		pf_cursor_free(h->threads[i].cursor);
	free(h->threads);
	free(h->specials);
	free(h->kinds);
	free(h);
}

int pf_host_next(struct pf_host *h, struct pf_host_span *out,
		 struct pf_err *err)
{
	struct thread *top = &h->threads[0];
	int rc;

	if (!h->open)
		return 0;
	*out = top->span;
	rc = advance(h, top, err);
	if (rc < 0)
		return -1;
	if (rc == 0) {
		pf_cursor_free(top->cursor);
		h->threads[0] = h->threads[--h->open];
	}
	pf_heap_sink(h->threads, sizeof(*top), h->open, 0, is_earlier);
	return 1;
}
