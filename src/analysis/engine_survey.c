/* SPDX-License-Identifier: MIT */
/*
 * The first pass: what kinds of events are on which host track, and with it
 * the thread on which the profiler was stopped (torch puts what has no
 * operator there; the trace does not say which it was).
 */
#include "config.h"

#include "analysis/engine.h"

#include <string.h>


/* Ids of unlinked calls can be collected here when no call pass is needed. */
static bool collects_ids(const struct pf_engine *e)
{
	return e->rules.unlinked_claims && !pf_engine_needs_calls(e);
}

static int collect_id(struct pf_engine *e, const struct pf_block *b,
		      uint32_t i, const uint32_t at[2], struct pf_err *err)
{
	uint32_t mask = b->mask[i];
	int64_t id = 0, link = 0;

	if (mask & 1u << PF_SLOT_EXTERNAL_ID &&
	    at[0] < b->slot_count[PF_SLOT_EXTERNAL_ID])
		link = b->slot[PF_SLOT_EXTERNAL_ID][at[0]];
	if (mask & 1u << PF_SLOT_CORRELATION &&
	    at[1] < b->slot_count[PF_SLOT_CORRELATION])
		id = b->slot[PF_SLOT_CORRELATION][at[1]];
	if (link > 0)
		return 0;
	return pf_engine_collide(e, id, b->start_ns[i], PF_NO_TRACK, err);
}

static int survey_step(struct pf_engine *e, struct pf_host_track *t,
		       uint32_t name_id, struct pf_err *err)
{
	struct pf_text_ref ref = { name_id, NULL, 0 };
	struct pf_name_fact name;

	if (name_id == PF_ID_INLINE)
		return 0;
	if (pf_facts_name(&e->facts, ref, &name, err))
		return -1;
	t->steps += !!(name.flags & PF_NAME_STEP);
	return 0;
}

static int survey_block(struct pf_engine *e, struct pf_host_track *t,
			const struct pf_block *b, struct pf_err *err)
{
	bool collects = collects_ids(e);
	uint32_t at[2] = { 0, 0 };

	for (uint32_t i = 0; i < b->count; i++) {
		unsigned kind = pf_facts_kind(&e->facts, b->type[i]);

		t->kind_count[kind]++;
		if (kind == PF_KIND_ANNOTATION &&
		    survey_step(e, t, b->name[i], err))
			return -1;
		if (!collects)
			continue;
		if (pf_kind_in(kind, PF_KINDS_CALL) &&
		    collect_id(e, b, i, at, err))
			return -1;
		at[0] += b->mask[i] >> PF_SLOT_EXTERNAL_ID & 1;
		at[1] += b->mask[i] >> PF_SLOT_CORRELATION & 1;
	}
	return 0;
}

static int survey_track(struct pf_engine *e, size_t index, struct pf_err *err)
{
	uint64_t columns = PF_COLBIT(PF_COL_TYPE) | PF_COLBIT(PF_COL_NAME);
	const struct pf_block *block;
	struct pf_cursor *c;
	uint32_t first_seq;
	int rc;

	if (collects_ids(e))
		columns |= PF_COLBIT(PF_COL_START) | PF_COLBIT(PF_COL_MASK) |
			   PF_COLBIT(PF_COL_SLOT + PF_SLOT_EXTERNAL_ID) |
			   PF_COLBIT(PF_COL_SLOT + PF_SLOT_CORRELATION);
	c = pf_cursor_new(e->db, e->tracks[index].id, columns, err);
	if (!c)
		return -1;
	while ((rc = pf_cursor_block(c, &block, &first_seq, err)) == 1) {
		rc = survey_block(e, &e->host[index], block, err);
		if (rc)
			break;
	}
	pf_cursor_free(c);
	return rc;
}

static uint64_t ops_on(const struct pf_host_track *t)
{
	return t->kind_count[PF_KIND_CPU_OP] +
	       t->kind_count[PF_KIND_ANNOTATION];
}

/* Most steps; else the process's main thread; else most operators. */
static uint32_t find_stop_track(const struct pf_engine *e)
{
	uint32_t best = (uint32_t)e->track_count;
	uint64_t most = 0;

	for (uint32_t i = 0; i < e->track_count; i++)
		if (e->is_host[i] && e->host[i].steps > most) {
			most = e->host[i].steps;
			best = i;
		}
	for (uint32_t i = 0; !most && i < e->track_count; i++)
		if (e->is_host[i] && ops_on(&e->host[i]) &&
		    !strcmp(e->tracks[i].pid, e->tracks[i].tid)) {
			most = 1;
			best = i;
		}
	if (most)
		return best;
	for (uint32_t i = 0; i < e->track_count; i++)
		if (e->is_host[i] && ops_on(&e->host[i]) > most) {
			most = ops_on(&e->host[i]);
			best = i;
		}
	return best;
}

/* The start of the profiler's own span on a track: 1 found, 0, -1. */
static int find_span(struct pf_engine *e, size_t index, struct pf_err *err)
{
	const struct pf_merge_args args = {
		.tracks = &e->tracks[index],
		.count = 1,
		.kinds = PF_KINDBIT(PF_KIND_TRACE_SPAN),
		.columns = PF_COLBIT(PF_COL_NAME),
		.first_ns = INT64_MIN,
	};
	struct pf_merge *m = pf_merge_new(e->db, &e->facts, &args, err);
	const struct pf_fe *fe;
	struct pf_name_fact name;
	int found = 0;

	if (!m)
		return -1;
	while (!found && (fe = pf_merge_next(m, err))) {
		if (pf_facts_name(&e->facts, fe->name, &name, err))
			break;
		if (!(name.flags & PF_NAME_SPAN))
			continue;
		e->trace_start_ns = fe->start_ns;
		found = 1;
	}
	pf_merge_free(m);
	return err->code ? -1 : found;
}

/*
 * Times count from the span "PyTorch Profiler (0)", else from the first
 * event.  Spans have a track of their own, named so.
 */
static int find_trace_start(struct pf_engine *e, struct pf_err *err)
{
	int64_t first = INT64_MAX;

	for (size_t i = 0; i < e->track_count; i++) {
		const struct pf_track *t = &e->tracks[i];
		int found = 0;

		if (!strcmp(t->pid, "Spans") ||
		    (!e->is_host[i] && !e->is_device[i] &&
		     t->event_count < 1000))
			found = find_span(e, i, err);
		if (found)
			return found < 0 ? -1 : 0;
		if ((e->is_host[i] || e->is_device[i]) && t->event_count &&
		    t->first_ns < first)
			first = t->first_ns;
	}
	e->trace_start_ns = first == INT64_MAX ? 0 : first;
	return 0;
}

int pf_engine_survey(struct pf_engine *e, struct pf_err *err)
{
	for (size_t i = 0; i < e->track_count; i++)
		if (e->is_host[i] && survey_track(e, i, err))
			return -1;
	e->stop_track = find_stop_track(e);
	return find_trace_start(e, err);
}
