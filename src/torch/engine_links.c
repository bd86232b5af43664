/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "torch/engine.h"

#include <stdlib.h>

#include "base/mem.h"

#define OPEN_MAX 16384

/*
 * open[] is ordered by start.  Ended operators go when they are on top; one
 * that ended below a longer one stays for a while and does no harm.
 */
void pf_engine_open_op(struct pf_engine *e, const struct pf_fe *fe,
		       bool is_candidate)
{
	struct pf_host_track *t = &e->host[fe->track];

	while (t->open_count &&
	       t->open[t->open_count - 1].end_ns < fe->start_ns)
		t->open_count--;
	if (t->open_count >= OPEN_MAX)
		return;
	t->open = pf_grow(t->open, &t->open_cap, t->open_count + 1,
			  sizeof(*t->open));
	t->open[t->open_count++] = (struct pf_open_op){
		.start_ns = fe->start_ns,
		.end_ns = fe->end_ns,
		.id = fe->external_id,
		.is_candidate = is_candidate,
		.is_operator = fe->kind == PF_KIND_CPU_OP,
	};
}

void pf_engine_forget_ops(struct pf_engine *e)
{
	for (size_t i = 0; i < e->track_count; i++)
		e->host[i].open_count = 0;
}

const struct pf_open_op *pf_engine_find_op(const struct pf_engine *e,
					   uint32_t track, int64_t id,
					   int64_t at_ns)
{
	const struct pf_host_track *t = &e->host[track];

	for (size_t i = t->open_count; i-- > 0;) {
		const struct pf_open_op *op = &t->open[i];

		if (op->id == id && op->end_ns >= at_ns)
			return op;
	}
	return NULL;
}

/* Innermost open operator; rather one that contains the whole call. */
static int64_t containing_op(const struct pf_engine *e, const struct pf_fe *fe)
{
	const struct pf_host_track *t = &e->host[fe->track];
	int64_t touching = 0;

	for (size_t i = t->open_count; i-- > 0;) {
		const struct pf_open_op *op = &t->open[i];

		if (!op->is_operator || op->end_ns < fe->start_ns)
			continue;
		if (op->end_ns >= fe->end_ns)
			return op->id;
		if (!touching)
			touching = op->id;
	}
	return touching;
}

static bool has_own_fallback(unsigned kind)
{
	return kind != PF_KIND_RUNTIME && kind != PF_KIND_DRIVER &&
	       kind != PF_KIND_KERNEL && kind != PF_KIND_MEMCPY &&
	       kind != PF_KIND_MEMSET;
}

int64_t pf_engine_call_link(const struct pf_engine *e, const struct pf_fe *fe)
{
	const struct pf_open_op *op;
	bool is_own = fe->external_id == fe->correlation;

	if (e->rules.links == PF_LINK_LOST)
		return containing_op(e, fe);
	if (fe->external_id <= 0 || (is_own && has_own_fallback(fe->kind)))
		return 0;
	if (e->rules.links == PF_LINK_GIVEN || !is_own)
		return fe->external_id;
	op = pf_engine_find_op(e, fe->track, fe->external_id, fe->end_ns);
	return op && op->is_operator ? fe->external_id : 0;
}

int pf_engine_device_link(struct pf_engine *e, const struct pf_fe *fe,
			  int64_t *link, struct pf_err *err)
{
	bool is_own = fe->external_id == fe->correlation;
	const int64_t *record;
	int found;

	*link = 0;
	if (fe->kind == PF_KIND_GPU_ANNOTATION ||
	    fe->kind == PF_KIND_PROFILER_RANGE)
		return 0;
	if (e->rules.links == PF_LINK_GIVEN ||
	    (e->rules.links == PF_LINK_MIXED && !is_own)) {
		if (fe->external_id > 0 &&
		    !(is_own && has_own_fallback(fe->kind)))
			*link = fe->external_id;
		return 0;
	}
	if (e->rules.links == PF_LINK_MIXED && has_own_fallback(fe->kind))
		return 0;
	if (!e->call_links)
		return 0;
	found = pf_lookup_find(&e->device_calls, fe->correlation,
			       (const void **)&record, err);
	if (found == 1)
		*link = record[1];
	return found < 0 ? -1 : 0;
}

static struct pf_number_list *add_list(struct pf_engine *e, size_t at)
{
	struct pf_number_list *list = &e->numbers[at];

	list->spool =
		pf_spool_new(sizeof(struct pf_collider), 1u << 19, e->temp_dir);
	pf_lookup_init(&list->lookup, list->spool);
	return list;
}

int pf_engine_collide(struct pf_engine *e, uint32_t track,
		      const struct pf_collider *c, struct pf_err *err)
{
	struct pf_host_track *t = &e->host[track];

	if (c->id <= 0)
		return 0;
	if (!t->numbers && e->number_count < PF_NUMBER_LISTS_MAX)
		t->numbers = add_list(e, e->number_count++);
	if (t->numbers && c->id > t->numbers->last_id) {
		t->numbers->last_id = c->id;
		return pf_spool_add(t->numbers->spool, c, err);
	}
	if (!e->collider_sorter)
		e->collider_sorter =
			pf_sorter_new(sizeof(*c), 1u << 20, e->temp_dir);
	return pf_sorter_add(e->collider_sorter, c, err);
}

/* All colliders are known: sort the rest, keeping the last of each id. */
int pf_engine_colliders(struct pf_engine *e, struct pf_err *err)
{
	const struct pf_collider *c;
	struct pf_collider last = { 0 };
	struct pf_spool *spool;

	if (!e->collider_sorter)
		return 0;
	if (pf_sorter_finish(e->collider_sorter, err))
		return -1;
	spool = add_list(e, e->number_count++)->spool;
	while ((c = pf_sorter_next(e->collider_sorter, err))) {
		if (last.id && c->id != last.id &&
		    pf_spool_add(spool, &last, err))
			return -1;
		last = *c;
	}
	if (err->code || (last.id && pf_spool_add(spool, &last, err)))
		return -1;
	pf_sorter_free(e->collider_sorter);
	e->collider_sorter = NULL;
	return 0;
}

/* The last collider with an id, if there is one. */
static int last_collider(struct pf_engine *e, int64_t id,
			 struct pf_collider *last, bool *is_there,
			 struct pf_err *err)
{
	*is_there = false;
	for (size_t i = 0; i < e->number_count; i++) {
		const struct pf_collider *c;
		int found = pf_lookup_find(&e->numbers[i].lookup, id,
					   (const void **)&c, err);

		if (found < 0)
			return -1;
		if (!found || (*is_there && c->start_ns < last->start_ns))
			continue;
		*last = *c;
		*is_there = true;
	}
	return 0;
}

/*
 * A call goes to the thread of the last candidate with the id it links to:
 * its operator, or an event that happens to have the same number.
 */
int pf_engine_linked_thread(struct pf_engine *e, const struct pf_fe *fe,
			    int64_t link, uint32_t *thread, struct pf_err *err)
{
	const struct pf_open_op *op =
		pf_engine_find_op(e, fe->track, link, fe->start_ns);
	struct pf_collider c;
	bool is_there;

	if (op && !op->is_candidate)
		op = NULL;
	*thread = op ? fe->track : e->stop_track;
	if (last_collider(e, link, &c, &is_there, err))
		return -1;
	if (is_there && (!op || c.start_ns >= op->start_ns))
		*thread = c.thread == PF_NO_TRACK ? e->stop_track
						  : (uint32_t)c.thread;
	return 0;
}
