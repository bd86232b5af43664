/* SPDX-License-Identifier: MIT */
/*
 * A question: the database, the window that it is asked of, names, the memory
 * of the answer, and the first error.  After an error everything that is asked
 * answers nothing (NULL, no rows), so that it is looked at once, at the end.
 *
 *	if (!pf_ask_begin(&q, db, &args->window))
 *		while ((ev = pf_ask_gpu(&q, PF_GPU_STARTS)))
 *			...
 *	return pf_ask_end(&q);
 */
#pragma once

#include "base/intern.h"
#include "base/mem.h"
#include "base/spool.h"
#include "base/stats.h"
#include "events/gpu.h"
#include "events/names.h"
#include "events/traces.h"
#include "events/window.h"
#include "store/block.h"

struct pf_ask {
	struct pf_db *db;
	struct pf_err *err;
	struct pf_window window;
	struct pf_arena memory;
	struct pf_names *names; /* of pf_ask_names(): from then on */
	struct pf_gpu *gpu;     /* from the first of its events on */
	bool is_in;             /* the window is another's */
};

/* 0 or -1; to be ended in any case. */
int pf_ask_begin(struct pf_ask *q, struct pf_db *db,
		 const struct pf_window_args *args);
/* In a window that is there, and outlives the question. */
void pf_ask_begin_in(struct pf_ask *q, struct pf_db *db,
		     const struct pf_window *window);
/* 0, or -1 if anything failed. */
int pf_ask_end(struct pf_ask *q);
/* The same, but window and memory stay: they are the answer's. */
int pf_ask_keep(struct pf_ask *q, struct pf_window *window,
		struct pf_arena *memory);

/* NULL after an error.  Threads and texts ask for them, too. */
struct pf_names *pf_ask_names(struct pf_ask *q);

/* Lives as long as the memory; NULL of PF_ID_NONE. */
const char *pf_ask_text(struct pf_ask *q, uint32_t name);

/* The next event of the GPUs, or NULL; want: as of pf_gpu_new(). */
const struct pf_gpu_event *pf_ask_gpu(struct pf_ask *q, unsigned want);

/* ---- rows by key, each with the spread of its values ---- */

struct pf_spread {
	struct pf_stats of;
	/* PF_NO_INT: not asked for, or there are too few values for it. */
	int64_t median, p90, p99;
	int64_t mean;
	double sd, share; /* of the sum of all; not a number: that is 0 */
};

enum pf_keyed_ranks { PF_KEYED_SUMS, PF_KEYED_MEDIANS, PF_KEYED_PERCENTILES };

/*
 * Rows are structs, and a table's fields are members of them.  Those that have
 * values begin with their spread.  Values go through a sorter: memory grows
 * with the rows.
 */
struct pf_keyed {
	struct pf_map numbers;  /* keys, */
	struct pf_intern texts; /* or texts: of one kind in a group */
	void *rows;
	size_t count, cap, width;
	struct pf_sorter *values; /* NULL: only sums */
	enum pf_keyed_ranks ranks;
	int64_t all, sum; /* values, and theirs: once it is finished */
};
/* What the sorter has. */
struct pf_keyed_value {
	int64_t row, value;
};
void pf_keyed_begin(struct pf_keyed *g, size_t width,
		    enum pf_keyed_ranks ranks);
void pf_keyed_end(struct pf_keyed *g);

/* The number of a row; a new one is zero. */
size_t pf_keyed_at(struct pf_keyed *g, uint64_t key);
size_t pf_keyed_at_text(struct pf_keyed *g, const char *text, size_t len);
/* A function: asking for the number may move the rows. */
static inline void *pf_keyed_row(const struct pf_keyed *g, size_t i,
				 size_t bytes)
{
	return (char *)g->rows + i * bytes;
}
#define PF_KEYED_ROW(g, type, i) ((type *)pf_keyed_row(g, i, sizeof(type)))

static inline void pf_keyed_add(struct pf_keyed *g, struct pf_ask *q,
				size_t row, int64_t value)
{
	struct pf_keyed_value v = { (int64_t)row, value };

	pf_stats_add((void *)((char *)g->rows + row * g->width), value);
	if (g->values)
		pf_sorter_add(g->values, &v, q->err);
}

/* All values are there: percentiles, means, shares and sums. */
void pf_keyed_finish(struct pf_keyed *g, struct pf_ask *q);
/* Rows in order, which are all that is left: no keys, no texts. */
void pf_keyed_sort(struct pf_keyed *g,
		   int (*order)(const void *a, const void *b));
