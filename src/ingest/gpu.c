/* SPDX-License-Identifier: MIT */
/*
 * Rows of the events on GPU tracks, in order of their start, each joined to
 * its launch call (same correlation; of several such calls the last that began
 * before it, else the first), to the operator around that call, else that of an
 * arrow, and to the profiler step that holds the whole call, else the arrow's
 * start.
 *
 * One thread makes them and another inserts them: until the last is made, all
 * but "feed", "insert" and "comm" is the maker's.
 */
#include "config.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/order.h"
#include "base/search.h"
#include "events/interval.h"
#include "ingest/impl.h"
#include "store/cursor.h"
#include "store/query.h"
#include "store/threads.h"

#define CALLS_BYTES (2u << 20)
#define CALLS_ROOM  (16u << 20) /* that of the runs, which are gone */

#define BATCHES 4 /* of which one is being inserted */

/* Rows that go in together, and which of them are communication. */
struct batch {
	size_t count, comm_count;
	struct pf_feed_row rows[PF_FEED_ROWS];
	struct {
		int64_t event_id;
		uint32_t comm;
	} comms[PF_FEED_ROWS];
};

struct gpu_rows {
	struct pf_ingest *in;
	struct pf_spool *calls; /* NULL: nothing is made yet */
	struct pf_cursors tracks;
	uint64_t work_count, work_ns, orphan_count, orphan_ns;
	/* calls with another's id, and work that has it */
	uint64_t shared_call_count, shared_work_count;
	struct batch *batches;
	struct pf_feed feed;
	sqlite3_stmt *insert, *comm;
};

static bool has_slot(const struct pf_span *s, int slot)
{
	return s->mask >> slot & 1;
}

/* ---- launch calls ---- */

/*
 * Calls in order of correlation and time.  One inside another (of the driver,
 * in one of the runtime) is no other call.
 */
static int gather_calls(struct gpu_rows *g, struct pf_err *err)
{
	const struct pf_ingest_call *call;
	int64_t last = 0, end_ns = 0;
	bool is_shared = false;

	g->calls = pf_spool_new(sizeof(*call), CALLS_BYTES, g->in->directory);
	pf_spool_keep(g->calls, CALLS_ROOM);
	PF_TRY(pf_sorter_finish(g->in->calls, err));
	while ((call = pf_sorter_next(g->in->calls, err))) {
		bool is_same = call->correlation == last;

		if (is_same && call->start_ns < end_ns)
			continue;
		g->shared_call_count += is_same ? 1 + !is_shared : 0;
		is_shared = is_same;
		last = call->correlation;
		end_ns = pf_span_end(call->start_ns, call->dur_ns);
		PF_TRY(pf_spool_add(g->calls, call, err));
	}
	return err->code ? -1 : 0;
}

/* Is record i a call of this id?  1, 0, or -1. */
static int is_call_at(struct gpu_rows *g, uint64_t i, int64_t correlation,
		      const struct pf_ingest_call **call, struct pf_err *err)
{
	if (i >= pf_spool_count(g->calls))
		return 0;
	*call = pf_spool_at(g->calls, i, err);
	if (!*call)
		return -1;
	return (*call)->correlation == correlation;
}

/* Of the calls from i on that have one id: the last that began by then. */
static int choose_call(struct gpu_rows *g, uint64_t i,
		       const struct pf_span *work,
		       const struct pf_ingest_call **call, struct pf_err *err)
{
	const int64_t correlation = work->slot[PF_SLOT_CORRELATION];
	uint64_t low = i + 1, high = pf_spool_count(g->calls);
	int rc = 0;

	g->shared_work_count++;
	while (low < high && rc >= 0) {
		uint64_t mid = low + (high - low) / 2;

		rc = is_call_at(g, mid, correlation, call, err);
		if (rc == 1 && (*call)->start_ns <= work->start_ns)
			low = mid + 1;
		else
			high = mid;
	}
	return rc < 0 ? -1 : is_call_at(g, low - 1, correlation, call, err);
}

static int find_call(struct gpu_rows *g, const struct pf_span *work,
		     const struct pf_ingest_call **call, struct pf_err *err)
{
	const int64_t correlation = work->slot[PF_SLOT_CORRELATION];
	uint64_t i;
	int rc;

	*call = NULL;
	if (!has_slot(work, PF_SLOT_CORRELATION) || correlation <= 0)
		return 0;
	i = pf_spool_lower_bound(g->calls, correlation, err);
	if (i == UINT64_MAX)
		return -1;
	rc = g->shared_call_count ? is_call_at(g, i + 1, correlation, call, err)
				  : 0;
	if (rc == 1)
		rc = choose_call(g, i, work, call, err);
	else if (rc == 0)
		rc = is_call_at(g, i, correlation, call, err);
	if (rc != 1)
		*call = NULL;
	return rc < 0 ? -1 : 0;
}

/* The step that holds all of a call; steps are sorted by start. */
static struct pf_ingest_step *find_step(struct pf_ingest *in,
					const struct pf_ingest_call *call)
{
	int64_t ns = call->start_ns, after;
	size_t low = PF_SEARCH(i, in->step_count, in->steps[i].start_ns <= ns);

	if (!low)
		return NULL;
	/* From the start of the step, so that nothing overflows. */
	after = ns - in->steps[low - 1].start_ns;
	if (after >= in->steps[low - 1].dur_ns ||
	    call->dur_ns > in->steps[low - 1].dur_ns - after)
		return NULL;
	return &in->steps[low - 1];
}

/* ---- rows ---- */

/* All columns in their order: SQLite makes no copy of the cells then. */
static const char insert_rows[] =
	"INSERT INTO gpu_event(id, event_id, trace_id, kind, start_ns, dur_ns,"
	" name_id, config_id, correlation, external_id, launch_id, op_id, step,"
	" bytes)"
	" SELECT NULL, c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12"
	" FROM feed";

/* What every answer about GPU work says beside it (events/trust.h). */
static void count_work(struct gpu_rows *g, const struct pf_span *s,
		       bool has_call, struct pf_ingest_step *step)
{
	int64_t end_ns = pf_span_end(s->start_ns, s->dur_ns);

	if (!pf_kind_is_gpu_work(g->in->type[s->type].kind))
		return;
	g->work_count++;
	g->work_ns += (uint64_t)s->dur_ns;
	g->orphan_count += !has_call;
	g->orphan_ns += has_call ? 0 : (uint64_t)s->dur_ns;
	if (!step)
		return;
	if (!step->gpu_count++ || step->gpu_end_ns < end_ns)
		step->gpu_end_ns = end_ns;
}

static int put_facts(struct gpu_rows *g, struct pf_err *err)
{
	const struct {
		const char *key;
		uint64_t value;
	} facts[] = {
		{ "gpu_work_count", g->work_count },
		{ "gpu_work_ns", g->work_ns },
		{ "gpu_orphan_count", g->orphan_count },
		{ "gpu_orphan_ns", g->orphan_ns },
		/* only where there are some: */
		{ "shared_call_count", g->shared_call_count },
		{ "shared_work_count", g->shared_work_count },
	};
	sqlite3_stmt *st = pf_db_prepare(
		g->in->db, "INSERT INTO trace_fact VALUES(?1, ?2, ?3)", err);
	int rc = st ? 0 : -1;

	for (size_t i = 0; i < sizeof(facts) / sizeof(*facts) && !rc; i++) {
		if (i > 3 && !facts[i].value)
			continue;
		sqlite3_bind_int64(st, 1, g->in->trace_id);
		sqlite3_bind_text(st, 2, facts[i].key, -1, SQLITE_STATIC);
		sqlite3_bind_int64(st, 3,
				   facts[i].value > INT64_MAX
					   ? INT64_MAX
					   : (int64_t)facts[i].value);
		rc = pf_db_put(g->in->db, st, err);
	}
	sqlite3_finalize(st);
	return rc;
}

static void fill_row(const struct gpu_rows *g, struct pf_feed_row *row,
		     int64_t event_id, const struct pf_span *s,
		     const struct pf_ingest_call *launch,
		     const struct pf_ingest_step *step)
{
	row->nulls = 0;
	pf_feed_set(row, 0, true, event_id);
	pf_feed_set(row, 1, true, g->in->trace_id);
	pf_feed_set(row, 2, true, g->in->type[s->type].kind);
	pf_feed_set(row, 3, true, s->start_ns);
	pf_feed_set(row, 4, true, s->dur_ns);
	pf_feed_set(row, 5, true, s->name);
	pf_feed_set(row, 6, s->args < PF_ID_INLINE, s->args);
	pf_feed_set(row, 7, has_slot(s, PF_SLOT_CORRELATION),
		    s->slot[PF_SLOT_CORRELATION]);
	pf_feed_set(row, 8, has_slot(s, PF_SLOT_EXTERNAL_ID),
		    s->slot[PF_SLOT_EXTERNAL_ID]);
	pf_feed_set(row, 9, launch->event_id != 0, launch->event_id);
	pf_feed_set(row, 10, launch->op_id != 0, launch->op_id);
	pf_feed_set(row, 11, step, step ? step->step : 0);
	pf_feed_set(row, 12, has_slot(s, PF_SLOT_BYTES),
		    s->slot[PF_SLOT_BYTES]);
}

static int add_row(struct gpu_rows *g, struct batch *b, size_t track,
		   const struct pf_span *s, struct pf_err *err)
{
	const int64_t event_id = (int64_t)(track + 1) << 32 | s->seq;
	const struct pf_ingest_call *call = NULL;
	const struct pf_ingest_arrow *arrow;
	struct pf_ingest_call launch = { 0 };
	struct pf_ingest_step *step = NULL;

	if (find_call(g, s, &call, err) ||
	    pf_ingest_arrow_to(g->in, track, s->start_ns, &arrow, err) < 0)
		return -1;
	if (call)
		launch = *call;
	if (arrow && !launch.op_id)
		launch.op_id = arrow->op_id;
	if (arrow && !launch.comm)
		launch.comm = arrow->comm;
	if (arrow && !call)
		launch.start_ns = arrow->start_ns;
	if (call || arrow)
		step = find_step(g->in, &launch);
	if (launch.comm) {
		b->comms[b->comm_count].event_id = event_id;
		b->comms[b->comm_count++].comm = (uint32_t)launch.comm;
	}
	count_work(g, s, call != NULL, step);
	fill_row(g, &b->rows[b->count++], event_id, s, &launch, step);
	return 0;
}

/* ---- steps ---- */

PF_ORDER(compare_steps, struct pf_ingest_step, PF_UP(start_ns) PF_UP(event_id))

int pf_ingest_steps(struct pf_ingest *in, struct pf_err *err)
{
	sqlite3_stmt *st = pf_db_prepare(
		in->db,
		"INSERT INTO step(trace_id, step, track_id, event_id,"
		" start_ns, dur_ns, gpu_count) VALUES(?1,?2,?3,?4,?5,?6,0)",
		err);
	int rc = st ? 0 : -1;

	pf_sort(in->steps, in->step_count, sizeof(*in->steps), compare_steps);
	for (size_t i = 0; i < in->step_count && !rc; i++) {
		const struct pf_ingest_step *s = &in->steps[i];

		sqlite3_bind_int64(st, 1, in->trace_id);
		sqlite3_bind_int64(st, 2, s->step);
		sqlite3_bind_int64(st, 3, s->event_id >> 32);
		sqlite3_bind_int64(st, 4, s->event_id);
		sqlite3_bind_int64(st, 5, s->start_ns);
		sqlite3_bind_int64(st, 6, s->dur_ns);
		rc = pf_db_put(in->db, st, err);
	}
	sqlite3_finalize(st);
	return rc;
}

/* Now it is known what was launched in each. */
static int complete_steps(struct gpu_rows *g, struct pf_err *err)
{
	const struct pf_ingest *in = g->in;
	sqlite3_stmt *st = pf_db_prepare(
		in->db,
		"UPDATE step SET gpu_count = ?4, gpu_end_ns = ?5"
		" WHERE trace_id = ?1 AND start_ns = ?2 AND event_id = ?3",
		err);
	int rc = st ? 0 : -1;

	for (size_t i = 0; i < in->step_count && !rc; i++) {
		const struct pf_ingest_step *s = &in->steps[i];

		if (!s->gpu_count)
			continue;
		sqlite3_bind_int64(st, 1, in->trace_id);
		sqlite3_bind_int64(st, 2, s->start_ns);
		sqlite3_bind_int64(st, 3, s->event_id);
		sqlite3_bind_int64(st, 4, s->gpu_count);
		sqlite3_bind_int64(st, 5, s->gpu_end_ns);
		rc = pf_db_put(g->in->db, st, err);
	}
	sqlite3_finalize(st);
	return rc;
}

/* ---- all GPU tracks in order of time ---- */

static int open_streams(struct gpu_rows *g, struct pf_err *err)
{
	static const uint64_t columns =
		PF_COLBIT(PF_COL_START) | PF_COLBIT(PF_COL_DUR) |
		PF_COLBIT(PF_COL_ORDER) | PF_COLBIT(PF_COL_NAME) |
		PF_COLBIT(PF_COL_TYPE) | PF_COLBIT(PF_COL_ARGS) |
		PF_COLBIT(PF_COL_MASK) |
		PF_COLBIT(PF_COL_SLOT + PF_SLOT_CORRELATION) |
		PF_COLBIT(PF_COL_SLOT + PF_SLOT_EXTERNAL_ID) |
		PF_COLBIT(PF_COL_SLOT + PF_SLOT_BYTES);
	struct pf_ingest *in = g->in;

	for (size_t i = in->first_track; i < in->track_count; i++) {
		const struct pf_ingest_track *t = pf_ingest_track(in, i);

		if (t->class_letter == 'g' && t->event_count &&
		    pf_cursors_add(&g->tracks, in->db, (uint32_t)i + 1, columns,
				   i, err))
			return -1;
	}
	return 0;
}

/* The maker: 1, 0 behind the last, or -1. */
static int make_batch(void *context, size_t place, struct pf_err *err)
{
	struct gpu_rows *g = context;
	struct batch *b = &g->batches[place];
	const struct pf_span *s;
	size_t track;
	int rc = 1;

	if (!g->calls && (gather_calls(g, err) || open_streams(g, err) ||
			  pf_ingest_arrows_sort(g->in, err)))
		return -1;
	b->count = b->comm_count = 0;
	while (b->count < PF_FEED_ROWS &&
	       (rc = pf_cursors_next(&g->tracks, &track, &s, err)) > 0)
		PF_TRY(add_row(g, b, track, s, err));
	return rc < 0 ? -1 : b->count > 0;
}

static int put_batch(struct gpu_rows *g, const struct batch *b,
		     struct pf_err *err)
{
	pf_db_give_way(g->in->db); /* averages read it meanwhile */
	for (size_t i = 0; i < b->comm_count; i++)
		PF_TRY(pf_ingest_comm_put(g->in, g->comm, b->comms[i].event_id,
					  b->comms[i].comm, err));
	g->feed = (struct pf_feed){ b->count, b->rows };
	return pf_db_put(g->in->db, g->insert, err);
}

static int write_rows(struct gpu_rows *g, struct pf_err *err)
{
	/* averages keep another thread busy meanwhile */
	bool beside = pf_ingest_threads(g->in->options) > 2;
	struct pf_ahead *maker = pf_ahead_new(make_batch, g, BATCHES, beside);
	size_t place;
	int rc;

	while ((rc = pf_ahead_next(maker, &place, err)) > 0 &&
	       !put_batch(g, &g->batches[place], err))
		;
	pf_ahead_free(maker);
	return rc ? -1 : 0;
}

static int prepare(struct gpu_rows *g, struct pf_err *err)
{
	g->batches = pf_calloc(BATCHES, sizeof(*g->batches));
	PF_TRY(pf_feed_register(g->in->db, &g->feed, err));
	g->insert = pf_db_prepare(g->in->db, insert_rows, err);
	g->comm = g->insert ? pf_ingest_comm_prepare(g->in, err) : NULL;
	return g->comm ? 0 : -1;
}

static void release(struct gpu_rows *g)
{
	pf_cursors_release(&g->tracks);
	pf_spool_free(g->calls);
	sqlite3_finalize(g->insert);
	sqlite3_finalize(g->comm);
	pf_feed_drop(g->in->db);
	free(g->batches);
}

int pf_ingest_gpu_rows(struct pf_ingest *in, struct pf_err *err)
{
	struct gpu_rows g = { .in = in };
	int rc = prepare(&g, err) || write_rows(&g, err) ||
				 put_facts(&g, err) || complete_steps(&g, err)
			 ? -1
			 : 0;

	release(&g);
	return rc;
}
