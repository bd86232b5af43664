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
#include "events/names.h"
#include "events/step_names.h"
#include "base/heap.h"
#include "base/intern.h"
#include "base/mem.h"
#include "store/cursor.h"
#include "store/query.h"
#include "formats/event.h"

struct thread {
	struct pf_cursor *cursor;
	const struct pf_block *block;
	uint32_t place;
	int64_t covered_to[PF_HOST_CLASSES];
	struct pf_host_span span;
};

struct pf_host {
	struct pf_db *db;
	struct thread *threads;
	size_t open, cap;
	struct pf_names *names;
	struct pf_map steps; /* string.id of ranges that --steps names */
	bool has_steps;
};

/* Ranges that --steps names are steps and no work. */
static int add_steps(struct pf_host *h, const char *pattern, struct pf_err *err)
{
	struct pf_step_regex *regex = pf_step_regex_new(pattern, err);
	sqlite3_stmt *stmt =
		regex ? pf_named_prepare(h->db, "string_list", err) : NULL;
	int rc = stmt ? 0 : -1;

	while (!rc && (rc = pf_db_step(h->db, stmt, err)) == 1) {
		uint64_t id = (uint64_t)sqlite3_column_int64(stmt, 0);
		const char *text = (const char *)sqlite3_column_text(stmt, 1);
		size_t len = (size_t)sqlite3_column_bytes(stmt, 1);

		rc = 0;
		if (text && pf_step_regex_matches(regex, text, len))
			*pf_map_at(&h->steps, id) = h->has_steps = 1;
	}
	sqlite3_finalize(stmt);
	pf_step_regex_free(regex);
	return rc;
}

static bool is_step(struct pf_host *h, const struct pf_name_class *class,
		    uint32_t name)
{
	return class->is_step ||
	       (h->has_steps && *pf_map_at(&h->steps, name) == 1);
}

/* The class of an event by its kind and name; PF_HOST_CLASSES: it has none. */
static enum pf_host_class classify(struct pf_host *h, unsigned kind,
				   const struct pf_name_class *class,
				   uint32_t name)
{
	if (kind == PF_KIND_RUNTIME || kind == PF_KIND_DRIVER)
		return PF_HOST_RUNTIME;
	if (class->range == PF_CAUSE_DATA)
		return PF_HOST_DATA;
	/* TensorFlow has no categories, only names */
	if (kind == PF_KIND_HOST || is_step(h, class, name))
		return PF_HOST_CLASSES;
	return class->range == PF_CAUSE_COMM ? PF_HOST_COMM : PF_HOST_CPU;
}

/* An event as a span: 1, 0 if it adds nothing to its thread, or -1. */
static int take(struct pf_host *h, struct thread *t, uint32_t i,
		struct pf_err *err)
{
	const struct pf_block *b = t->block;
	unsigned kind = pf_names_kind(h->names, b->type[i]);
	const struct pf_name_class *name;
	enum pf_host_class class;
	int64_t end;

	if (kind != PF_KIND_RUNTIME && kind != PF_KIND_DRIVER &&
	    kind != PF_KIND_CPU_OP && kind != PF_KIND_ANNOTATION &&
	    kind != PF_KIND_HOST)
		return 0;
	name = pf_names_class(h->names, b->name[i], err);
	if (!name)
		return -1;
	class = classify(h, kind, name, b->name[i]);
	end = pf_span_end(b->start_ns[i], b->dur_ns[i]);
	if (class == PF_HOST_CLASSES)
		return 0;
	t->span = (struct pf_host_span){ .start_ns = b->start_ns[i],
					 .end_ns = end,
					 .class = class };
	if (class == PF_HOST_RUNTIME) {
		t->span.is_sync = name->is_sync;
		t->span.is_launch = name->launches != PF_LAUNCHES_NONE;
		t->span.is_kernel_launch = name->launches == PF_LAUNCHES_KERNEL;
	}
	/* within another it adds no time, but counts */
	if (end <= t->covered_to[class])
		return t->span.is_sync || t->span.is_launch;
	t->covered_to[class] = end;
	return 1;
}

/* The next span of a thread that adds something: 1, 0 or -1. */
static int advance(struct pf_host *h, struct thread *t, struct pf_err *err)
{
	for (;;) {
		uint32_t first;
		int rc = 0;

		while (!rc && t->block && t->place < t->block->count)
			rc = take(h, t, t->place++, err);
		if (rc)
			return rc;
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
	pf_map_init(&h->steps);
	h->names = pf_names_new(db, err);
	if (h->names && !(steps && add_steps(h, steps, err)) &&
	    !open_threads(h, trace_id, err))
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
	pf_names_free(h->names);
	pf_map_release(&h->steps);
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
