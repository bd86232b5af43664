/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/tempfile.h"
#include "ingest/ingest_impl.h"
#include "ingest/source_name.h"
#include "formats/refusal.h"

#define CALLS_BYTES (8u << 20)
#define RUNS_ROOM   (16u << 20) /* in memory, the rest on disk */

/* What is made of an ingest: a database in its place. */
struct making {
	const struct pf_ingest_options *options;
	struct pf_outplace place;
	struct pf_db db;
	char *directory;
	struct extra *before; /* of the trace that was finished last */
	size_t *joins;        /* of each path the first of its trace */
	const int64_t *ranks; /* of each path, by its name */
	int64_t *own_ranks;
	size_t *next;        /* and the next one of it; 0: none */
	size_t last;         /* where the last trace begins */
	size_t unread_count; /* traces that could not be read */
	struct pf_err first; /* why the first of them could not be */
};

/* ---- one trace ---- */

static int check_read(struct pf_ingest *in, struct pf_err *err)
{
	if (!in->json_bytes)
		return pf_fail(err, PF_EDATA, "%s",
			       pf_refusal_of_empty(in->path));
	if (!in->found_list)
		return pf_fail(err, PF_EDATA,
			       "is JSON without a list of trace events");
	if (!pf_ingest_has_events(in->event_count, in->no_phase_count,
				  &in->repairs))
		return pf_fail(err, PF_EDATA,
			       "is a list of other things than trace events "
			       "(none has a \"ph\")");
	if (!in->event_count && in->repairs.of[PF_REPAIR_CUT_OFF].count)
		return pf_fail(err, PF_EDATA, "has no complete event");
	return 0;
}

static int check_strict(const struct pf_ingest *in, struct pf_err *err)
{
	for (int k = 0; in->options->strict && k < PF_REPAIR_KINDS; k++)
		if (in->repairs.of[k].count && k != PF_SKIP_PYTHON &&
		    !pf_repair_is_usual((enum pf_repair_kind)k))
			return pf_fail(
				err, PF_EDATA,
				"%s (%lld times, first at byte %lld), "
				"which --strict refuses",
				pf_repair_text((enum pf_repair_kind)k),
				(long long)in->repairs.of[k].count,
				(long long)in->repairs.of[k].first_offset);
	return 0;
}

static void report(const struct pf_ingest *in)
{
	const struct pf_ingest_report r = {
		.path = in->path,
		.trace_id = in->trace_id,
		.events = in->event_count,
		.json_bytes = in->json_bytes,
		.file_bytes = in->file_bytes,
		.repairs = &in->repairs,
	};

	if (in->options->report)
		in->options->report(&r, in->options->report_arg);
}

/* The line for the user follows the reading as long as there is any. */
static void enter(const struct pf_ingest *in, const char *phase)
{
	if (in->options->phase && in->is_last)
		in->options->phase(phase);
}

/* Of a file, and not of all: what was written before it is whole. */
static bool is_of_file(const struct making *m, struct pf_ingest *in,
		       const struct pf_err *err)
{
	return m->options->keep_going && err->code != PF_ESTOP &&
	       err->code != PF_EBUSY && !pf_lane_failed(in->lane);
}

static int give_up(struct making *m, struct pf_ingest *in, struct pf_err *err)
{
	const struct pf_ingest_options *o = m->options;
	struct pf_err why = *err;
	struct pf_ingest *job;

	memset(err, 0, sizeof(*err));
	if (o->unread)
		o->unread(in->path, why.text, o->report_arg);
	job = pf_ingest_give_up(in, why.text);
	if (!m->unread_count++) {
		m->first = why;
		pf_while(&m->first, "'%s'", job->path);
	}
	return pf_lane_put(in->lane, job);
}

static void join_paths(struct making *m)
{
	size_t count = m->options->path_count;

	m->joins = pf_source_joins(m->options->paths, count);
	if (!m->options->ranks)
		m->own_ranks = pf_source_ranks(m->options->paths, count);
	m->ranks = m->own_ranks ? m->own_ranks : m->options->ranks;
	m->next = pf_calloc(count + 1, sizeof(*m->next));
	for (size_t i = count; i-- > 0;) {
		if (m->joins[i] == i) {
			m->last = m->last > i ? m->last : i;
			continue;
		}
		m->next[i] = m->next[m->joins[i]];
		m->next[m->joins[i]] = i;
	}
}

/* What is read behind the first file, and whether any trace is behind it. */
static void find_parts(const struct making *m, struct pf_ingest *in, size_t i)
{
	in->part_count = in->parts_read = 0;
	in->part_bytes = 0;
	in->is_last = i == m->last;
	in->named_rank = m->ranks[i];
	for (size_t k = m->next[i]; k; k = m->next[k]) {
		in->parts = pf_grow(in->parts, &in->parts_cap,
				    in->part_count + 1, sizeof(*in->parts));
		in->parts[in->part_count++] = m->options->paths[k];
	}
}

/* What was read is one trace, or one of each process (ingest_merged.c). */
static int put_traces(struct pf_ingest *in,
		      const struct pf_ingest_owners *owners, struct pf_err *err)
{
	const size_t count = in->options->process ? 1 : owners->count;
	struct pf_ingest *job = pf_ingest_split(in);
	struct pf_ingest_shares *shares;
	int rc = 0;

	if (owners->count == 1)
		return pf_lane_put(in->lane, job);
	shares = pf_ingest_share(job, owners, err);
	for (size_t i = 0; i < count && shares && !rc; i++) {
		job = pf_ingest_share_next(shares, err);
		rc = job ? pf_lane_put(in->lane, job) : -1;
	}
	in->trace_id += (int64_t)count - 1;
	if (!shares)
		return -1;
	pf_lane_wait(in->lane); /* nobody has the runs any more */
	pf_ingest_shares_free(shares);
	return rc;
}

static int read_trace(struct making *m, struct pf_ingest *in, size_t i,
		      struct pf_err *err)
{
	struct pf_ingest_owners owners = { 0 };
	int rc;

	in->trace_id++;
	in->path = in->options->paths[i];
	find_parts(m, in, i);
	in->runs = pf_calloc(1, sizeof(*in->runs));
	if (pf_scratch_open(in->runs, RUNS_ROOM, in->directory, err))
		return -1;
	rc = pf_ingest_read(in, err) || check_read(in, err) ||
			     pf_ingest_owners_find(in, &owners, err)
		     ? -1
		     : put_traces(in, &owners, err);
	pf_ingest_owners_release(&owners);
	if (!rc || pf_lane_failed(in->lane))
		return rc;
	if (err->code == PF_EDATA && in->json_bytes &&
	    pf_refusal_of_name(in->path))
		pf_fail(err, PF_EDATA, "%s", pf_refusal_of_name(in->path));
	return is_of_file(m, in, err) ? give_up(m, in, err)
				      : pf_while(err, "'%s'", in->path);
}

/*
 * ---- extra work: from the GPU rows on, and beside the merge of the next ----
 */

struct extra {
	struct pf_ingest *in;
	struct pf_lane_task task;
	pthread_t thread;
	enum { NOT_YET, ON_THREAD, OFFERED, DONE } how;
	void *prepared;
	struct pf_err err;
};

static void prepare_extra(void *arg)
{
	struct extra *x = arg;

	x->prepared = x->in->options->extra->prepare(x->in->db, x->in->trace_id,
						     &x->err);
}

static void *prepare_on_thread(void *arg)
{
	prepare_extra(arg);
	return NULL;
}

/* Of two threads none is left for it alone. */
static struct extra *begin_extra(struct pf_ingest *in)
{
	struct extra *x = pf_calloc(1, sizeof(*x));

	x->in = in;
	x->task = (struct pf_lane_task){ .run = prepare_extra, .arg = x };
	if (pf_ingest_is_pair(in)) {
		x->how = OFFERED;
		pf_lane_offer(in->lane, &x->task);
	} else if (!pthread_create(&x->thread, NULL, prepare_on_thread, x)) {
		x->how = ON_THREAD;
	}
	return x;
}

static void end_extra(struct extra *x)
{
	switch (x->how) {
	case NOT_YET:
		prepare_extra(x);
		break;
	case ON_THREAD:
		pthread_join(x->thread, NULL);
		break;
	case OFFERED:
		pf_lane_collect(x->in->lane, &x->task);
		break;
	case DONE:
		break;
	}
	x->how = DONE;
}

/* "rc" is what came of the trace so far. */
static int finish_extra(struct extra *x, int rc, struct pf_err *err)
{
	const struct pf_ingest_extra *e = x->in->options->extra;

	end_extra(x);
	if (!rc && !x->prepared) {
		*err = x->err;
		rc = -1;
	}
	if (!rc)
		rc = e->store(x->in->db, x->in->trace_id, x->prepared, err);
	if (x->prepared)
		e->release(x->prepared);
	free(x);
	return rc;
}

/* Of the trace before, if there is one; its rows stand behind the next's. */
static int finish_before(struct making *m, struct pf_err *err)
{
	struct extra *x = m->before;
	struct pf_ingest *in;
	int rc;

	if (!x)
		return 0;
	m->before = NULL;
	in = x->in;
	rc = finish_extra(x, 0, err);
	if (!rc)
		report(in);
	enter(in, NULL);
	pf_ingest_drop(in);
	return rc;
}

/* Behind those before it; what a format wrote of it while reading goes. */
static int put_unread(struct making *m, struct pf_ingest *in,
		      struct pf_err *err)
{
	int rc = finish_before(m, err);

	if (!rc)
		rc = pf_ingest_unread_row(in, err);
	pf_ingest_drop(in);
	return rc;
}

/* What is written when blocks are; the extra work is left in m->before. */
static int write_rows(struct making *m, struct pf_ingest *in,
		      struct pf_err *err)
{
	struct extra *x;

	if (pf_ingest_trace_rows(in, err) || pf_ingest_steps(in, err))
		return -1;
	if (!in->options->extra)
		return pf_ingest_gpu_rows(in, err);
	x = begin_extra(in);
	if (pf_ingest_gpu_rows(in, err))
		return finish_extra(x, -1, err);
	pf_db_start_sync(in->db);
	if (x->how == NOT_YET)
		end_extra(x);
	pf_sorter_free(in->calls);
	in->calls = NULL;
	m->before = x;
	return 0;
}

/* ---- what follows the reading ---- */

static int merge(struct pf_ingest *in, struct pf_err *err)
{
	in->calls = pf_sorter_new(sizeof(struct pf_ingest_call), CALLS_BYTES,
				  in->directory);
	enter(in, "linking");
	if (pf_ingest_texts(in, err) || pf_ingest_device_tracks(in, err) ||
	    pf_ingest_arrows_gather(in, err) || pf_ingest_merge(in, err))
		return -1;
	pf_ingest_close_runs(in); /* their memory and place on the disk */
	pf_db_start_sync(in->db);
	return 0;
}

static int finish_trace(void *arg, struct pf_ingest *in, struct pf_err *err)
{
	struct making *m = arg;
	struct pf_err earlier = { 0 };
	int rc;

	if (in->unread)
		return put_unread(m, in, err);
	rc = merge(in, err);
	if (finish_before(m, &earlier)) {
		*err = earlier;
		rc = -1;
	}
	if (!rc && check_strict(in, err))
		rc = pf_while(err, "'%s'", in->path);
	if (!rc) {
		enter(in, "averages");
		rc = write_rows(m, in, err);
	}
	if (m->before)
		return rc;
	if (!rc)
		report(in);
	enter(in, NULL);
	pf_ingest_drop(in);
	return rc;
}

/* ---- all of them ---- */

static struct pf_ingest *new_reading(struct making *m,
				     struct pf_ingest_lane *lane)
{
	struct pf_ingest *in = pf_calloc(1, sizeof(*in));

	in->options = m->options;
	in->db = &m->db;
	in->directory = m->directory;
	in->lane = lane;
	in->owner_rank = -1;
	in->empty_name = in->mark.empty_name = PF_ID_NONE;
	in->window_end_name = in->mark.window_end_name = PF_ID_NONE;
	return in;
}

/* An earlier trace's error comes first; it is why reading was stopped. */
static int ingest_traces(struct making *m, struct pf_err *err)
{
	const struct pf_ingest_options *o = m->options;
	struct pf_ingest_lane *lane;
	struct pf_err earlier = { 0 };
	struct pf_ingest *in;
	size_t traces = 0;
	int rc = 0;

	join_paths(m);
	lane = pf_lane_new(finish_trace, m,
			   o->path_count > 1 && pf_ingest_threads(o) > 1);
	in = new_reading(m, lane);
	m->db.is_for_one = pf_ingest_is_pair(in);
	for (size_t i = 0; i < o->path_count && !rc; i++) {
		if (m->joins[i] != i)
			continue;
		traces++;
		rc = read_trace(m, in, i, err);
	}
	if (pf_lane_finish(lane, &earlier) || finish_before(m, &earlier)) {
		*err = earlier;
		rc = -1;
	}
	pf_lane_free(lane);
	free(in->parts);
	pf_ingest_drop(in);
	if (!rc && m->unread_count == traces) {
		*err = m->first;
		rc = traces == 1 ? -1 : pf_while(err, "no file could be read");
	}
	return rc;
}

static int set_up(struct making *m, struct pf_err *err)
{
	const char *out = m->options->out, *slash = strrchr(out, '/');
	const struct pf_outrule rule = {
		.inputs = m->options->paths,
		.input_count = m->options->path_count,
		.is_ours = pf_db_is_ours,
		.is_database = true,
	};

	m->directory = pf_temp_dir_asked() ? pf_strdup(pf_temp_dir_asked())
		       : slash == out      ? pf_strdup("/")
		       : slash ? pf_memdup0(out, (size_t)(slash - out))
			       : pf_strdup(".");
	if (pf_outplace_open(&m->place, out, &rule, err))
		return -1;
	return pf_db_create(&m->db, m->place.partial, err);
}

static int put_mark(struct making *m, struct pf_err *err)
{
	sqlite3_stmt *st = pf_db_prepare(
		&m->db, "INSERT INTO meta VALUES('cache', ?1)", err);
	int rc = -1;

	if (st) {
		sqlite3_bind_text(st, 1, m->options->cache, -1, SQLITE_STATIC);
		rc = pf_db_step(&m->db, st, err);
	}
	sqlite3_finalize(st);
	return rc;
}

static int finish(struct making *m, struct pf_err *err)
{
	if (m->options->phase)
		m->options->phase("writing");
	if (m->options->cache && put_mark(m, err))
		return -1;
	if (pf_db_finish(&m->db, err))
		return -1;
	return pf_outplace_commit(&m->place, err);
}

int pf_ingest(const struct pf_ingest_options *options, struct pf_err *err)
{
	struct making m = { .options = options };
	int rc;

	pf_mem_keep_below(PF_MEM_KEEP_LITTLE); /* bounded: invariant I5 */
	rc = set_up(&m, err);
	if (!rc)
		rc = ingest_traces(&m, err);
	if (!rc)
		rc = finish(&m, err);
	pf_db_close(&m.db);
	pf_outplace_release(&m.place);
	free(m.directory);
	free(m.joins);
	free(m.own_ranks);
	free(m.next);
	return rc;
}

int64_t pf_ingest_total_bytes(const struct pf_ingest_options *options)
{
	int64_t total = 0;
	struct stat info;

	for (size_t i = 0; i < options->path_count; i++) {
		if (stat(options->paths[i], &info) || !S_ISREG(info.st_mode))
			return 0;
		total += info.st_size;
	}
	return total;
}
