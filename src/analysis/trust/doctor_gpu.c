/* SPDX-License-Identifier: MIT */
/*
 * One pass over GPU work in order of time, trace by trace.  Launch calls are
 * then read in the order of their ids.
 */
#include "config.h"

#include <stdlib.h>

#include "analysis/trust/doctor_impl.h"
#include "events/gpu.h"
#include "base/intern.h"
#include "events/interval.h"
#include "base/mem.h"
#include "base/sat.h"
#include "events/by_event.h"
#include "store/query.h"

struct launched {
	int64_t launch_id, start_ns, dur_ns, trace_id;
	int64_t migrated_ns; /* when the migrations before it had ended */
};

/* The launches of one trace so far. */
struct queue {
	int64_t trace_id, least_ns;
	struct pf_tally work;
};

struct scan {
	struct pf_doctor_gpu *out;
	struct pf_by_event *launched;
	struct pf_map by_track;
	struct pf_union *streams;
	size_t count, cap;
	int64_t migrated_trace, migrated_ns; /* the latest end of them */
};

static void tally(struct pf_tally *t, int64_t ns)
{
	t->count++;
	pf_sat_sum(&t->ns, ns);
}

static struct pf_union *find_stream(struct scan *s, int64_t event_id)
{
	uint64_t *place = pf_map_at(&s->by_track, (uint64_t)event_id >> 32);

	if (*place == UINT64_MAX) {
		s->streams = pf_grow(s->streams, &s->cap, s->count + 1,
				     sizeof(*s->streams));
		s->streams[s->count] = (struct pf_union){ 0 };
		*place = s->count++;
	}
	return &s->streams[*place];
}

static int take_linked(struct scan *s, const struct pf_gpu_event *ev,
		       struct pf_err *err)
{
	int64_t trace_id = ev->trace->trace_id;
	struct launched l = { ev->launch_id, ev->start_ns, ev->dur_ns, trace_id,
			      s->migrated_trace == trace_id ? s->migrated_ns
							    : INT64_MIN };

	if (!ev->op_id)
		tally(&s->out->no_op, ev->dur_ns);
	return pf_by_event_add(s->launched, &l, err);
}

static void note_migration(struct scan *s, const struct pf_gpu_event *ev)
{
	if (s->migrated_trace != ev->trace->trace_id)
		s->migrated_ns = INT64_MIN;
	s->migrated_trace = ev->trace->trace_id;
	if (ev->end_ns > s->migrated_ns)
		s->migrated_ns = ev->end_ns;
}

static int take(struct scan *s, const struct pf_gpu_event *ev,
		struct pf_err *err)
{
	struct pf_union *stream = find_stream(s, ev->event_id);
	int64_t covered = stream->covered_ns;

	tally(&s->out->work, ev->dur_ns);
	if (ev->dur_ns <= 0)
		tally(&s->out->zero, 0);
	pf_union_add(stream, ev->start_ns, ev->end_ns);
	covered = stream->covered_ns - covered;
	if (covered < ev->end_ns - ev->start_ns)
		tally(&s->out->overlap, ev->end_ns - ev->start_ns - covered);
	if (ev->origin == PF_GPU_LAUNCHED)
		return take_linked(s, ev, err);
	tally(ev->origin == PF_GPU_BEFORE     ? &s->out->head
	      : ev->origin == PF_GPU_MIGRATED ? &s->out->migrated
					      : &s->out->orphan,
	      ev->dur_ns);
	if (ev->origin == PF_GPU_MIGRATED)
		note_migration(s, ev);
	return 0;
}

static void compare(struct pf_doctor_gpu *out, const struct launched *l,
		    int64_t call_start_ns)
{
	int64_t lead;

	if (l->start_ns >= call_start_ns)
		return;
	tally(&out->early, l->dur_ns);
	lead = pf_sat_sub(call_start_ns, l->start_ns);
	if (lead > out->most_early_ns)
		out->most_early_ns = lead;
	if (pf_span_end(l->start_ns, l->dur_ns) < call_start_ns)
		tally(&out->clock, l->dur_ns);
}

/* Did no work of the trace begin soon after its call? */
static void end_queue(struct pf_doctor_gpu *out, const struct queue *q)
{
	if (q->least_ns == INT64_MAX || q->least_ns <= PF_DOCTOR_BACKLOG_NS)
		return;
	out->backlog.count += q->work.count;
	pf_sat_sum(&out->backlog.ns, q->work.ns);
	if (!out->least_delay_ns || q->least_ns < out->least_delay_ns)
		out->least_delay_ns = q->least_ns;
}

/* Calls of one trace follow each other: ids begin with tracks. */
static void queue_up(struct pf_doctor_gpu *out, struct queue *q,
		     const struct launched *l, int64_t call_end_ns)
{
	int64_t delay_ns = pf_sat_sub(l->start_ns, call_end_ns);

	if (l->trace_id != q->trace_id) {
		end_queue(out, q);
		*q = (struct queue){ l->trace_id, INT64_MAX, { 0 } };
	}
	/* what waited for pages says nothing of other work */
	if (l->migrated_ns < call_end_ns && delay_ns < q->least_ns)
		q->least_ns = delay_ns;
	tally(&q->work, l->dur_ns);
}

static int read_calls(struct scan *s, struct pf_err *err)
{
	struct queue queue = { 0 };
	const struct launched *l;
	const struct pf_block *b;
	uint32_t i;

	while ((l = pf_by_event_next(s->launched, &b, &i, err))) {
		if (!b)
			continue;
		compare(s->out, l, b->start_ns[i]);
		queue_up(s->out, &queue, l,
			 pf_span_end(b->start_ns[i], b->dur_ns[i]));
	}
	end_queue(s->out, &queue);
	return err->code ? -1 : 0;
}

int pf_doctor_gpu(struct pf_db *db, struct pf_doctor_gpu *out,
		  struct pf_err *err)
{
	static const struct pf_window_args all = PF_WINDOW_DEFAULTS;
	struct scan s = { .out = out };
	const struct pf_gpu_event *ev;
	struct pf_window window = { 0 };
	struct pf_gpu *gpu = NULL;
	int rc = pf_window_resolve(db, &all, &window, err);

	*out = (struct pf_doctor_gpu){ 0 };
	pf_map_init(&s.by_track);
	s.launched = pf_by_event_new(db, sizeof(struct launched),
				     PF_COLBIT(PF_COL_START) |
					     PF_COLBIT(PF_COL_DUR));
	if (!rc && !(gpu = pf_gpu_new(db, &window, PF_GPU_LINKS, err)))
		rc = -1;
	while (!rc && (rc = pf_gpu_next(gpu, &ev, err)) == 1)
		rc = take(&s, ev, err);
	if (!rc)
		rc = read_calls(&s, err);
	pf_gpu_free(gpu);
	pf_by_event_free(s.launched);
	pf_map_release(&s.by_track);
	pf_window_release(&window);
	free(s.streams);
	return rc;
}

/* ---- clocks ---- */

static int read_samples(struct pf_db *db, struct pf_doctor_clocks *out,
			struct pf_err *err)
{
	sqlite3_stmt *st = pf_named_prepare(db, "doctor_clocks", err);
	int rc = st ? pf_db_step(db, st, err) : -1;

	if (rc == 1)
		*out = (struct pf_doctor_clocks){
			sqlite3_column_int64(st, 0),
			sqlite3_column_int64(st, 1),
			sqlite3_column_double(st, 3),
			sqlite3_column_double(st, 2),
		};
	sqlite3_finalize(st);
	return rc < 0 ? -1 : 0;
}

/* Their table is another connection's, which is made where there is a log. */
int pf_doctor_clocks(struct pf_db *db, struct pf_doctor_clocks *out,
		     struct pf_err *err)
{
	struct pf_db other = { 0 };
	int64_t logs = 0;
	int rc = pf_db_number(db,
			      "SELECT count(*) FROM trace WHERE base_ns IS NOT "
			      "NULL AND format IN ('smi', 'dmon', 'dcgmi')",
			      &logs, err);

	*out = (struct pf_doctor_clocks){ 0 };
	if (!rc && logs)
		rc = pf_db_open(&other, db->path, true, err);
	if (!rc && logs)
		rc = read_samples(&other, out, err);
	pf_db_close(&other);
	return rc;
}
