/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "events/ask.h"

#include "base/order.h"
#include "base/sat.h"
#include "show/doc.h"

int pf_ask_begin(struct pf_ask *q, struct pf_db *db,
		 const struct pf_window_args *args)
{
	*q = (struct pf_ask){ .db = db, .err = db->err };
	return pf_window_resolve(db, args, &q->window);
}

void pf_ask_begin_in(struct pf_ask *q, struct pf_db *db,
		     const struct pf_window *window)
{
	*q = (struct pf_ask){
		.db = db, .err = db->err, .window = *window, .is_in = true
	};
}

int pf_ask_keep(struct pf_ask *q, struct pf_window *window,
		struct pf_arena *memory)
{
	pf_names_free(q->names);
	pf_gpu_free(q->gpu);
	*window = q->window;
	*memory = q->memory;
	return q->err->code ? -1 : 0;
}

int pf_ask_end(struct pf_ask *q)
{
	int rc = pf_ask_keep(q, &q->window, &q->memory);

	if (!q->is_in)
		pf_window_release(&q->window);
	pf_arena_release(&q->memory);
	return rc;
}

struct pf_names *pf_ask_names(struct pf_ask *q)
{
	if (!q->names && !q->err->code)
		q->names = pf_names_new(q->db);
	return q->err->code ? NULL : q->names;
}

const char *pf_ask_text(struct pf_ask *q, uint32_t name)
{
	const char *kept;
	PF_OWN char *text = NULL;

	if (name == PF_ID_NONE || !pf_ask_names(q))
		return NULL;
	text = pf_names_text_take(q->names, name);
	kept = pf_arena_string(&q->memory, text);
	return kept;
}

const struct pf_gpu_event *pf_ask_gpu(struct pf_ask *q, unsigned want)
{
	const struct pf_gpu_event *ev;

	if (!q->gpu && !q->err->code)
		q->gpu = pf_gpu_new(q->db, &q->window, want);
	return !q->err->code && pf_gpu_next(q->gpu, &ev) == 1 ? ev : NULL;
}

/* ---- rows by key ---- */

void pf_keyed_begin(struct pf_keyed *g, size_t width, enum pf_keyed_ranks ranks)
{
	*g = (struct pf_keyed){ .width = width, .ranks = ranks };
	g->rows = pf_grow(NULL, &g->cap, 1, width); /* where none would be */
	if (ranks)
		g->values = pf_sorter_temp(sizeof(struct pf_keyed_value));
}

void pf_keyed_end(struct pf_keyed *g)
{
	pf_map_release(&g->numbers);
	pf_intern_release(&g->texts);
	pf_sorter_free(g->values);
	free(g->rows);
	*g = (struct pf_keyed){ 0 };
}

static struct pf_spread *spread_at(const struct pf_keyed *g, size_t i)
{
	return (void *)((char *)g->rows + i * g->width);
}

static size_t settle(struct pf_keyed *g, size_t n)
{
	if (n == g->count) {
		g->rows = pf_grow(g->rows, &g->cap, ++g->count, g->width);
		memset(spread_at(g, n), 0, g->width);
	}
	return n;
}

size_t pf_keyed_at(struct pf_keyed *g, uint64_t key)
{
	uint64_t *n = pf_map_at(&g->numbers, key);

	if (*n == UINT64_MAX)
		*n = g->count;
	return settle(g, (size_t)*n);
}

size_t pf_keyed_at_text(struct pf_keyed *g, const char *text, size_t len)
{
	return settle(g, pf_intern_add(&g->texts, text, len));
}

/* The value at place "seen" of a row, if one of its percentiles is there. */
static void take_rank(int64_t *rank, size_t count, unsigned percent,
		      size_t seen, int64_t value)
{
	unsigned rest;
	size_t at = pf_stats_place(count, percent, &rest);

	if (seen == at)
		*rank = value;
	else if (rest && seen == at + 1)
		*rank = pf_stats_between(*rank, value, rest);
}

static void find_ranks(struct pf_keyed *g, struct pf_ask *q)
{
	const struct pf_keyed_value *v;
	int64_t row = -1;
	size_t seen = 0;

	if (q->err->code || pf_sorter_finish(g->values, q->err) < 0)
		return;
	while ((v = pf_sorter_next(g->values, q->err))) {
		struct pf_spread *s = spread_at(g, (size_t)v->row);
		size_t count = (size_t)s->of.count;

		seen = v->row == row ? seen + 1 : 0;
		row = v->row;
		take_rank(&s->median, count, 50, seen, v->value);
		if (g->ranks != PF_KEYED_PERCENTILES)
			continue;
		if (pf_stats_carries(count, 90))
			take_rank(&s->p90, count, 90, seen, v->value);
		if (pf_stats_carries(count, 99))
			take_rank(&s->p99, count, 99, seen, v->value);
	}
}

void pf_keyed_finish(struct pf_keyed *g, struct pf_ask *q)
{
	for (size_t i = 0; i < g->count; i++) {
		g->all += spread_at(g, i)->of.count;
		pf_sat_sum(&g->sum, spread_at(g, i)->of.sum);
	}
	for (size_t i = 0; i < g->count; i++) {
		struct pf_spread *s = spread_at(g, i);

		s->median = s->p90 = s->p99 = PF_NO_INT;
		s->mean = pf_stats_mean(&s->of);
		s->sd = pf_stats_sd(&s->of);
		s->share = pf_ratio((double)s->of.sum, g->sum);
	}
	if (g->values)
		find_ranks(g, q);
	pf_sorter_free(g->values);
	g->values = NULL;
}

void pf_keyed_sort(struct pf_keyed *g,
		   int (*order)(const void *a, const void *b))
{
	pf_map_release(&g->numbers);
	pf_intern_release(&g->texts);
	pf_sort(g->rows, g->count, g->width, order);
}
