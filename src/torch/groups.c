/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "torch/groups.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"

#define SPILL_BYTES (2u << 20)

struct pf_waiting {
	double us[PF_FIG_COUNT];
	enum { OPEN, ADD, DROP } state;
};

/* A settled event of a spilled group; sorted by the first two. */
struct spilled {
	int64_t group, ticket;
	double us[PF_FIG_COUNT];
};

void pf_groups_init(struct pf_groups *g, uint64_t waiting_max,
		    const char *temp_dir)
{
	memset(g, 0, sizeof(*g));
	pf_map_init(&g->by_key);
	pf_map_init(&g->by_texts);
	pf_map_init(&g->by_overload);
	g->waiting_max = waiting_max;
	g->temp_dir = temp_dir;
}

void pf_groups_release(struct pf_groups *g)
{
	for (size_t i = 0; i < g->count; i++)
		free(g->group[i].ring);
	free(g->group);
	pf_map_release(&g->by_key);
	pf_map_release(&g->by_texts);
	pf_map_release(&g->by_overload);
	pf_sorter_free(g->spill);
	memset(g, 0, sizeof(*g));
}

uint32_t pf_groups_find(struct pf_groups *g, const struct pf_group_key *key)
{
	uint64_t *texts, *found;

	/* Shapes, stack and overload get a small number of their own. */
	texts = pf_map_at(&g->by_texts,
			  (uint64_t)key->shapes << 32 | key->stack);
	if (*texts == UINT64_MAX)
		*texts = g->by_texts.count - 1;
	texts = pf_map_at(&g->by_overload, *texts << 32 | key->overload);
	if (*texts == UINT64_MAX)
		*texts = g->by_overload.count - 1;
	found = pf_map_at(&g->by_key, *texts << 34 | (uint64_t)key->name << 2 |
					      (uint64_t)key->is_device << 1 |
					      key->is_annotation);
	if (*found == UINT64_MAX) {
		g->group = pf_grow(g->group, &g->cap, g->count + 1,
				   sizeof(*g->group));
		memset(&g->group[g->count], 0, sizeof(*g->group));
		g->group[g->count].key = *key;
		*found = g->count++;
	}
	return (uint32_t)*found;
}

static struct pf_waiting *place_of(struct pf_group *group, uint64_t ticket)
{
	return &group->ring[ticket & (group->ring_size - 1)];
}

static void grow_ring(struct pf_group *group)
{
	size_t size = group->ring_size ? group->ring_size * 2 : 2;
	struct pf_waiting *ring = pf_alloc(size * sizeof(*ring));

	for (uint64_t t = group->settled; t < group->issued; t++)
		ring[t & (size - 1)] = *place_of(group, t);
	free(group->ring);
	group->ring = ring;
	group->ring_size = size;
}

uint64_t pf_groups_begin(struct pf_groups *g, uint32_t index)
{
	struct pf_group *group = &g->group[index];

	if (group->is_spilled)
		return group->issued++;
	if (group->issued - group->settled == group->ring_size)
		grow_ring(group);
	place_of(group, group->issued)->state = OPEN;
	g->waiting++;
	return group->issued++;
}

static void add_us(struct pf_group *group, const double us[PF_FIG_COUNT])
{
	for (int i = 0; i < PF_FIG_COUNT; i++)
		group->sum.us[i] += us[i];
}

static int spill_one(struct pf_groups *g, uint32_t index, uint64_t ticket,
		     const double us[PF_FIG_COUNT], struct pf_err *err)
{
	struct spilled record = { index, (int64_t)ticket, { 0 } };

	if (!g->spill)
		g->spill =
			pf_sorter_new(sizeof(record), SPILL_BYTES, g->temp_dir);
	memcpy(record.us, us, sizeof(record.us));
	return pf_sorter_add(g->spill, &record, err);
}

/* From now on this group's events go to the sorter. */
static int spill_group(struct pf_groups *g, uint32_t index, struct pf_err *err)
{
	struct pf_group *group = &g->group[index];

	for (uint64_t t = group->settled; t < group->issued; t++) {
		struct pf_waiting *w = place_of(group, t);

		if (w->state == ADD && spill_one(g, index, t, w->us, err))
			return -1;
	}
	g->waiting -= group->issued - group->settled;
	group->is_spilled = true;
	free(group->ring);
	group->ring = NULL;
	group->ring_size = 0;
	return 0;
}

/* Add what no longer waits for an earlier event. */
static void advance(struct pf_groups *g, struct pf_group *group)
{
	while (group->settled < group->issued) {
		struct pf_waiting *w = place_of(group, group->settled);

		if (w->state == OPEN)
			return;
		if (w->state == ADD)
			add_us(group, w->us);
		group->settled++;
		g->waiting--;
	}
}

static bool is_earlier(const struct pf_fe_place *a, const struct pf_fe_place *b)
{
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns;
	if (a->end_ns != b->end_ns)
		return a->end_ns > b->end_ns;
	if (a->class != b->class)
		return a->class < b->class;
	return a->position < b->position;
}

/* Unsigned inside, so that hostile sums wrap and stay defined. */
static void add_figures(struct pf_figures *sum, const struct pf_figures *f)
{
	for (int i = 0; i < PF_FIG_COUNT; i++) {
		sum->ns[i] =
			(int64_t)((uint64_t)sum->ns[i] + (uint64_t)f->ns[i]);
		sum->bytes[i] = (int64_t)((uint64_t)sum->bytes[i] +
					  (uint64_t)f->bytes[i]);
	}
	pf_flops_add(&sum->flops, &f->flops);
}

static void see_first(struct pf_group *group, const struct pf_fe_place *place,
		      bool is_async, bool has_parent)
{
	if (group->count && !is_earlier(place, &group->first))
		return;
	group->first = *place;
	group->is_async = is_async;
	group->has_parent = has_parent;
}

static void add_exact(struct pf_group *group, const struct pf_settle *s,
		      const struct pf_figures *f)
{
	see_first(group, &s->place, s->is_async, s->has_parent);
	group->count++;
	add_figures(&group->sum, f);
}

void pf_groups_fold(struct pf_groups *coarse, const struct pf_groups *fine)
{
	for (size_t i = 0; i < fine->count; i++) {
		const struct pf_group *from = &fine->group[i];
		struct pf_group *to;

		if (!from->count || from->coarse >= coarse->count)
			continue;
		to = &coarse->group[from->coarse];
		see_first(to, &from->first, from->is_async, from->has_parent);
		to->count += from->count;
		add_figures(&to->sum, &from->sum);
	}
}

int pf_groups_settle(struct pf_groups *g, const struct pf_settle *s,
		     const struct pf_figures *figures, struct pf_err *err)
{
	struct pf_group *group = &g->group[s->group];
	struct pf_waiting *w;

	if (g->count_max && g->count > g->count_max)
		return pf_fail(err, PF_ELIMIT, "more than %zu groups",
			       g->count_max);
	if (figures && !g->is_coarse)
		add_exact(group, s, figures);
	if (group->is_spilled)
		return figures ? spill_one(g, s->group, s->ticket, figures->us,
					   err)
			       : 0;
	if (s->ticket == group->settled) {
		if (figures)
			add_us(group, figures->us);
		group->settled++;
		g->waiting--;
		advance(g, group);
		return 0;
	}
	w = place_of(group, s->ticket);
	w->state = figures ? ADD : DROP;
	if (figures)
		memcpy(w->us, figures->us, sizeof(w->us));
	if (g->waiting > g->waiting_max &&
	    group->issued - group->settled > g->waiting_max / 16)
		return spill_group(g, s->group, err);
	return 0;
}

static int compare_first(const void *a, const void *b)
{
	const struct pf_group *x = a, *y = b;

	if (is_earlier(&x->first, &y->first))
		return -1;
	return is_earlier(&y->first, &x->first);
}

int pf_groups_finish(struct pf_groups *g, struct pf_err *err)
{
	const struct spilled *record;
	size_t kept = 0;

	if (g->spill) {
		if (pf_sorter_finish(g->spill, err))
			return -1;
		while ((record = pf_sorter_next(g->spill, err)))
			add_us(&g->group[record->group], record->us);
		if (err->code)
			return -1;
	}
	for (size_t i = 0; i < g->count; i++) {
		free(g->group[i].ring);
		g->group[i].ring = NULL;
		if (g->group[i].count)
			g->group[kept++] = g->group[i];
	}
	g->count = kept;
	pf_sort(g->group, kept, sizeof(*g->group), compare_first);
	return 0;
}
