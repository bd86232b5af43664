/* SPDX-License-Identifier: MIT */
/*
 * The first pass: what kinds of events are on which host track, and with it
 * the thread on which the profiler was stopped (torch puts what has no
 * operator there; the trace does not say which it was).
 */
#include "config.h"

#include "torch/engine.h"

#include <string.h>

static bool is_without_rf(const struct pf_block *b, uint32_t i)
{
	return !(b->mask[i] >> PF_SLOT_RF_ID & 1);
}

static int count_kinds(struct pf_engine *e, size_t index, struct pf_err *err)
{
	const uint64_t columns =
		PF_COLBIT(PF_COL_TYPE) |
		(e->unfinished_by_rf ? PF_COLBIT(PF_COL_MASK) : 0);
	uint64_t *count = e->host[index].kind_count;
	const struct pf_block *block;
	struct pf_cursor *c;
	uint32_t first_seq;
	int rc;

	c = pf_cursor_new(e->db, e->tracks[index].id, columns, err);
	if (!c)
		return -1;
	while ((rc = pf_cursor_block(c, &block, &first_seq, err)) == 1)
		for (uint32_t i = 0; i < block->count; i++) {
			unsigned kind =
				pf_facts_kind(&e->facts, block->type[i]);

			count[kind]++;
			if (e->unfinished_by_rf && is_without_rf(block, i) &&
			    pf_kind_in(kind, PF_KINDS_OP))
				e->has_late_op = true;
		}
	pf_cursor_free(c);
	return rc;
}

static int count_steps(struct pf_engine *e, struct pf_err *err)
{
	sqlite3_stmt *st = pf_db_prepare(
		e->db,
		"SELECT track_id, count(*) FROM step WHERE trace_id = ?1"
		" GROUP BY track_id",
		err);
	int rc;

	if (!st)
		return -1;
	sqlite3_bind_int64(st, 1, e->args->trace_id);
	while ((rc = pf_db_step(e->db, st, err)) == 1)
		for (size_t i = 0; i < e->track_count; i++)
			if (e->tracks[i].id == sqlite3_column_int64(st, 0))
				e->host[i].steps =
					(uint64_t)sqlite3_column_int64(st, 1);
	sqlite3_finalize(st);
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
		.columns = PF_COLBIT(PF_COL_NAME) | PF_COLBIT(PF_COL_ARGS),
		.first_ns = INT64_MIN,
	};
	struct pf_merge *m = pf_merge_new(e->db, &e->facts, &args, err);
	const struct pf_fe *fe;
	struct pf_name_fact name;
	int found = 0;

	if (!m)
		return -1;
	while (!found && (fe = pf_merge_next(m, err))) {
		if (pf_facts_name(&e->facts, fe->kind, &fe->name, &name, err))
			break;
		if (!(name.flags & PF_NAME_SPAN))
			continue;
		e->trace_start_ns = fe->start_ns;
		e->trace_end_ns = fe->end_ns;
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

	e->trace_end_ns = INT64_MAX;

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

/* ---- numbers of unlinked calls ---- */

static uint64_t calls_on(const struct pf_host_track *t)
{
	uint64_t count = 0;

	for (unsigned k = 0; k < PF_KIND_COUNT; k++)
		if (pf_kind_in(k, PF_KINDS_CALL))
			count += t->kind_count[k];
	return count;
}

/*
 * An unlinked call with the number of an operator draws that operator's calls
 * to the stop thread.  That changes nothing where all calls are there anyway.
 */
static bool needs_numbers(const struct pf_engine *e)
{
	if (!e->rules.unlinked_claims || pf_engine_needs_calls(e))
		return false;
	for (size_t i = 0; i < e->track_count; i++)
		if (i != e->stop_track && calls_on(&e->host[i]))
			return true;
	return false;
}

static int collect_numbers(struct pf_engine *e, size_t index,
			   struct pf_err *err)
{
	const struct pf_merge_args args = {
		.tracks = &e->tracks[index],
		.count = 1,
		.kinds = PF_KINDS_CALL,
		.columns = PF_COLBIT(PF_COL_SLOT + PF_SLOT_EXTERNAL_ID) |
			   PF_COLBIT(PF_COL_SLOT + PF_SLOT_CORRELATION),
		.first_ns = INT64_MIN,
	};
	struct pf_merge *m = pf_merge_new(e->db, &e->facts, &args, err);
	const struct pf_fe *fe;
	int rc = m ? 0 : -1;

	while (!rc && (fe = pf_merge_next(m, err))) {
		const struct pf_collider c = { fe->correlation, fe->start_ns,
					       PF_NO_TRACK };

		if (!pf_engine_call_link(e, fe))
			rc = pf_engine_collide(e, (uint32_t)index, &c, err);
	}
	pf_merge_free(m);
	return rc || err->code ? -1 : 0;
}

/* Operators of a track that end behind the profiler's span. */
static int find_late_ops(struct pf_engine *e, size_t index, struct pf_err *err)
{
	const struct pf_merge_args args = {
		.tracks = &e->tracks[index],
		.count = 1,
		.kinds = PF_KINDS_OP,
		.first_ns = INT64_MIN,
	};
	struct pf_merge *m = pf_merge_new(e->db, &e->facts, &args, err);
	const struct pf_fe *fe;

	while (m && !e->has_late_op && (fe = pf_merge_next(m, err)))
		e->has_late_op = pf_engine_ends_late(e, fe);
	pf_merge_free(m);
	return err->code ? -1 : 0;
}

int pf_engine_survey(struct pf_engine *e, struct pf_err *err)
{
	for (size_t i = 0; i < e->track_count; i++)
		if (e->is_host[i] && count_kinds(e, i, err))
			return -1;
	if (count_steps(e, err))
		return -1;
	e->stop_track = find_stop_track(e);
	if (needs_numbers(e))
		for (size_t i = 0; i < e->track_count; i++)
			if (calls_on(&e->host[i]) && collect_numbers(e, i, err))
				return -1;
	if (find_trace_start(e, err))
		return -1;
	for (size_t i = 0; i < e->track_count && !e->has_late_op; i++)
		if (e->is_host[i] && e->tracks[i].last_ns > e->trace_end_ns &&
		    !e->rules.unfinished_kept && !e->rules.is_us &&
		    find_late_ops(e, i, err))
			return -1;
	return 0;
}
