/* SPDX-License-Identifier: MIT */
/*
 * Sums are kept by cause and by (cause, culprit); of the gaps themselves only
 * the longest.
 */
#include "config.h"

#include <stdlib.h>

#include "idle/gap_streams.h"
#include "idle/gaps_impl.h"
#include "events/trust.h"
#include "base/heap.h"
#include "base/mem.h"
#include "base/sat.h"

/* ---- sums ---- */

static void add_sum(struct sum *s, int64_t gap, int64_t ns)
{
	if (s->gap != gap) {
		s->gap = gap;
		s->gap_ns = 0;
		s->count++;
	}
	s->ns += ns;
	s->gap_ns += ns;
	if (s->gap_ns > s->longest_ns)
		s->longest_ns = s->gap_ns;
}

/*
 * What is one culprit.  Ranges that explain all inside them are one whatever
 * operator runs there, and an annotation only matters without a line.
 */
static struct pf_place key_of(const struct pf_place *place)
{
	struct pf_place key = *place;

	key.outer_op = PF_ID_NONE;
	if (key.frame != PF_ID_NONE)
		key.note = PF_ID_NONE;
	switch (key.cause) {
	case PF_CAUSE_COMPILE:
	case PF_CAUSE_DATA:
	case PF_CAUSE_GC:
	case PF_CAUSE_COMM:
	case PF_CAUSE_PYTHON:
		key.op = PF_ID_NONE;
	}
	return key;
}

static void add_culprit(struct culprits *c, const struct pf_place *key,
			int64_t gap, int64_t ns)
{
	uint32_t known = c->keys.count;
	uint32_t n = pf_intern_add(&c->keys, (const char *)key, sizeof(*key));

	if (n + (size_t)1 > c->cap)
		c->items = pf_grow(c->items, &c->cap, n + (size_t)1,
				   sizeof(*c->items));
	if (c->keys.count != known)
		c->items[n] = (struct culprit){ .place = *key };
	add_sum(&c->items[n].sum, gap, ns);
}

static void on_piece(struct pf_gap_sink *sink, const struct pf_gap *gap,
		     const struct pf_place *place, int64_t ns)
{
	struct gaps *g = (struct gaps *)sink;
	struct pf_place key = key_of(place);

	(void)gap;
	add_sum(&g->causes[key.cause], g->at, ns);
	g->here_ns[key.cause] += ns;
	if (ns > g->largest_ns[key.cause]) {
		g->largest_ns[key.cause] = ns;
		g->largest[key.cause] = key;
	}
	add_culprit(&g->culprits, &key, g->at, ns);
}

static void add_drain(struct gaps *g, const struct pf_gap *gap)
{
	struct pf_place key = key_of(&gap->drained.place);
	int64_t ns = 0;

	for (size_t i = 0; i < PF_CAUSE_COUNT; i++)
		if (pf_cause_is_after_call((enum pf_cause)i))
			ns += g->here_ns[i];
	add_culprit(&g->drains, &key, g->at, ns);
	g->drained_count++;
	g->drained_ns += gap->end_ns - gap->start_ns;
}

/* ---- the longest gaps ---- */

static int64_t length(const struct pf_gap *g)
{
	return g->end_ns - g->start_ns;
}

/* In the order of the table: longest first. */
int pf_gaps_by_length(const void *a, const void *b)
{
	const struct pf_gap *x = &((const struct listed *)a)->gap;
	const struct pf_gap *y = &((const struct listed *)b)->gap;

	if (length(x) != length(y))
		return length(x) > length(y) ? -1 : 1;
	if (x->trace->trace_id != y->trace->trace_id)
		return x->trace->trace_id < y->trace->trace_id ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return (x->device > y->device) - (x->device < y->device);
}

static bool is_shorter(const void *a, const void *b)
{
	return pf_gaps_by_length(a, b) > 0;
}

static void list_gap(struct gaps *g, const struct listed *item)
{
	if (g->listed < g->limit) {
		g->list = pf_grow(g->list, &g->list_cap, g->listed + 1,
				  sizeof(*g->list));
		g->list[g->listed] = *item;
		pf_heap_rise(g->list, sizeof(*item), g->listed++, is_shorter);
	} else if (g->limit && pf_gaps_by_length(item, &g->list[0]) < 0) {
		g->list[0] = *item;
		pf_heap_sink(g->list, sizeof(*item), g->listed, 0, is_shorter);
	}
}

static size_t bin_of(int64_t ns)
{
	size_t bin = 0;

	for (int64_t top = 1000; bin + 1 < BINS && ns >= top; bin++)
		top *= 10;
	return bin;
}

static void on_gap(struct pf_gap_sink *sink, const struct pf_gap *gap)
{
	struct gaps *g = (struct gaps *)sink;
	struct listed item = { .gap = *gap };
	size_t cause = 0, bin = bin_of(length(gap));

	for (size_t c = 1; c < PF_CAUSE_COUNT; c++)
		if (g->here_ns[c] > g->here_ns[cause])
			cause = c;
	item.place = g->largest[cause];
	item.cause_ns = g->here_ns[cause];
	list_gap(g, &item);
	g->bin_count[bin]++;
	g->bin_ns[bin] += length(gap);
	if (gap->drained.end_ns != INT64_MIN)
		add_drain(g, gap);
	for (size_t c = 0; c < PF_CAUSE_COUNT; c++)
		g->here_ns[c] = g->largest_ns[c] = 0;
	g->at++;
}

static void on_device(struct pf_gap_sink *sink, const struct pf_gap_device *d)
{
	struct gaps *g = (struct gaps *)sink;

	g->devices = pf_grow(g->devices, &g->device_cap, g->device_count + 1,
			     sizeof(*g->devices));
	g->devices[g->device_count++] = *d;
	pf_sat_sum(&g->all.window_ns, d->window_ns);
	pf_sat_sum(&g->all.busy_ns, d->busy_ns);
	pf_sat_sum(&g->all.idle_ns, d->idle_ns);
	g->all.gap_count += d->gap_count;
	g->all.event_count += d->event_count;
	pf_sat_sum(&g->all.work_ns, d->work_ns);
	g->all.outside_count += d->outside_count;
	pf_sat_sum(&g->all.outside_ns, d->outside_ns);
}

/* ---- the whole ---- */

int pf_gaps(struct pf_db *db, const struct pf_gaps_args *args,
	    struct pf_doc *doc, struct pf_err *err)
{
	struct gaps g = { .sink = { on_piece, on_gap, on_device },
			  .args = args,
			  .limit = args->limit < 0 ? SIZE_MAX
						   : (size_t)args->limit,
			  .at = 1 };
	struct pf_window window = { 0 };
	struct pf_pageable pageable = { 0 };
	int rc = pf_window_resolve(db, &args->window, &window, err);

	pf_intern_init(&g.culprits.keys);
	pf_intern_init(&g.drains.keys);
	g.is_default = !window.is_restricted;
	if (!rc)
		rc = pf_window_to_steps(db, &window, &g.step_count, NULL, err);
	if (!rc)
		rc = pf_pageable_load(db, &pageable, err);
	if (!rc && !(g.names = pf_names_new(db, err)))
		rc = -1;
	if (!rc)
		rc = pf_gap_find(db, &window, g.names, &pageable,
				 args->micro_ns, &g.sink, err);
	if (!rc)
		rc = pf_gaps_show(&g, doc, err);
	if (!rc && (args->per_stream || args->hta))
		rc = pf_gap_streams(db, &window, args->hta, doc, err);
	if (!rc)
		rc = pf_trust_note(db, &window,
				   PF_TRUST_WORK | PF_TRUST_LINKS |
					   PF_TRUST_STACKS,
				   doc, err);
	pf_names_free(g.names);
	pf_pageable_release(&pageable);
	pf_intern_release(&g.culprits.keys);
	pf_intern_release(&g.drains.keys);
	free(g.culprits.items);
	free(g.drains.items);
	free(g.list);
	free(g.devices);
	pf_window_release(&window);
	return rc;
}
