/* SPDX-License-Identifier: MIT */
/*
 * GPU work is put in order of its launch calls, which are then read in one
 * walk over their threads.  A call with several pieces of GPU work (a graph)
 * has the delay of the first and the duration of all.  Delays and queue
 * lengths go through sorts of fixed memory.
 */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/gpu.h"
#include "analysis/intern.h"
#include "analysis/interval.h"
#include "analysis/launches.h"
#include "analysis/reader.h"
#include "analysis/stats.h"
#include "analysis/trust.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/spool.h"

#define SORT_BYTES    (16u << 20)
#define SLOW_CALL_NS  50000
#define LONG_DELAY_NS 100000

struct work {
	int64_t launch_id, start_ns, dur_ns, stream;
};

/* A change of the number of launched pieces that have not begun. */
struct change {
	int64_t time_ns, is_launch, stream;
};

struct delay {
	int64_t call, delay_ns;
};

struct stream {
	int64_t trace_id, device, stream;
	int64_t waiting;
	struct pf_stats length;
};

struct call {
	uint32_t name;
	struct pf_stats cpu, gpu, delay;
	int64_t median_delay, short_work, slow, delayed, early;
};

struct launches {
	struct pf_db *db;
	struct pf_gpu *gpu;
	struct pf_reader *reader;
	struct pf_map by_name;
	struct call *calls;
	size_t call_count, call_cap;
	struct stream *streams;
	size_t stream_count, stream_cap;
	struct pf_sorter *works, *changes, *delays;
	int64_t orphans;
};

static int64_t find_stream(struct launches *l, const struct pf_gpu_event *ev)
{
	for (size_t i = l->stream_count; i-- > 0;) {
		const struct stream *s = &l->streams[i];

		if (s->trace_id == ev->trace->trace_id &&
		    s->device == ev->device && s->stream == ev->stream)
			return (int64_t)i;
	}
	l->streams = pf_grow(l->streams, &l->stream_cap, l->stream_count + 1,
			     sizeof(*l->streams));
	l->streams[l->stream_count] =
		(struct stream){ .trace_id = ev->trace->trace_id,
				 .device = ev->device,
				 .stream = ev->stream };
	return (int64_t)l->stream_count++;
}

static int gather(struct launches *l, struct pf_err *err)
{
	const struct pf_gpu_event *ev;
	int rc;

	while ((rc = pf_gpu_next(l->gpu, &ev, err)) == 1) {
		struct work w = { ev->launch_id, ev->start_ns, ev->dur_ns,
				  find_stream(l, ev) };

		if (!ev->launch_id) {
			l->orphans++;
		} else if (pf_sorter_add(l->works, &w, err) < 0) {
			return -1;
		}
	}
	return rc;
}

static size_t find_call(struct launches *l, uint32_t name)
{
	uint64_t *place = pf_map_at(&l->by_name, name);

	if (*place == UINT64_MAX) {
		l->calls = pf_grow(l->calls, &l->call_cap, l->call_count + 1,
				   sizeof(*l->calls));
		l->calls[l->call_count] = (struct call){ .name = name };
		*place = l->call_count++;
	}
	return (size_t)*place;
}

static int put_change(struct launches *l, int64_t time, bool is_launch,
		      int64_t stream, struct pf_err *err)
{
	struct change c = { time, is_launch, stream };

	return pf_sorter_add(l->changes, &c, err);
}

/* All work of one call: its first piece, and the duration of all. */
static int end_call(struct launches *l, const struct work *first,
		    int64_t gpu_ns, struct pf_err *err)
{
	const struct pf_block *b;
	uint32_t i;
	int rc = pf_reader_at(l->reader, first->launch_id, &b, &i, err);
	int64_t cpu_ns, end_ns;
	struct delay d;
	struct call *c;

	if (rc <= 0)
		return rc;
	cpu_ns = b->dur_ns[i];
	end_ns = pf_span_end(b->start_ns[i], cpu_ns);
	d.call = (int64_t)find_call(l, b->name[i]);
	if (__builtin_sub_overflow(first->start_ns, end_ns, &d.delay_ns))
		d.delay_ns = first->start_ns < end_ns ? INT64_MIN : INT64_MAX;
	c = &l->calls[d.call];
	pf_stats_add(&c->cpu, cpu_ns);
	pf_stats_add(&c->gpu, gpu_ns);
	c->early += d.delay_ns < 0;
	c->slow += cpu_ns > SLOW_CALL_NS;
	c->delayed += d.delay_ns > LONG_DELAY_NS;
	c->short_work += gpu_ns < cpu_ns;
	pf_stats_add(&c->delay, d.delay_ns);
	if (put_change(l, b->start_ns[i], true, first->stream, err) < 0 ||
	    put_change(l, first->start_ns, false, first->stream, err) < 0)
		return -1;
	return pf_sorter_add(l->delays, &d, err);
}

static int read_calls(struct launches *l, struct pf_err *err)
{
	const struct work *w;
	struct work first = { 0 };
	int64_t gpu_ns = 0;

	if (pf_sorter_finish(l->works, err) < 0)
		return -1;
	while ((w = pf_sorter_next(l->works, err))) {
		if (w->launch_id == first.launch_id) {
			gpu_ns = pf_span_end(gpu_ns, w->dur_ns);
			continue;
		}
		if (first.launch_id && end_call(l, &first, gpu_ns, err) < 0)
			return -1;
		first = *w;
		gpu_ns = w->dur_ns;
	}
	if (err->code)
		return -1;
	return first.launch_id && end_call(l, &first, gpu_ns, err) < 0 ? -1 : 0;
}

static int find_medians(struct launches *l, struct pf_err *err)
{
	const struct delay *d;
	int64_t call = -1;
	size_t seen = 0;

	if (pf_sorter_finish(l->delays, err) < 0)
		return -1;
	while ((d = pf_sorter_next(l->delays, err))) {
		struct call *c = &l->calls[d->call];

		seen = d->call == call ? seen + 1 : 0;
		call = d->call;
		if (seen == pf_stats_rank((size_t)c->delay.count, 50))
			c->median_delay = d->delay_ns;
	}
	return err->code ? -1 : 0;
}

/* Starts come before launches of the same time. */
static int find_lengths(struct launches *l, struct pf_err *err)
{
	const struct change *c;

	if (pf_sorter_finish(l->changes, err) < 0)
		return -1;
	while ((c = pf_sorter_next(l->changes, err))) {
		struct stream *s = &l->streams[c->stream];

		s->waiting += c->is_launch ? 1 : -1;
		if (c->is_launch)
			pf_stats_add(&s->length, s->waiting);
	}
	return err->code ? -1 : 0;
}

/* ---- the answer ---- */

static int by_total(const void *a, const void *b)
{
	const struct call *x = a, *y = b;

	if (x->cpu.sum != y->cpu.sum)
		return x->cpu.sum < y->cpu.sum ? 1 : -1;
	return x->name < y->name ? -1 : x->name > y->name;
}

static int by_place(const void *a, const void *b)
{
	const struct stream *x = a, *y = b;

	if (x->trace_id != y->trace_id)
		return x->trace_id < y->trace_id ? -1 : 1;
	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	return x->stream < y->stream ? -1 : x->stream > y->stream;
}

static int add_calls(struct launches *l, struct pf_doc *doc, struct pf_err *err)
{
	static const struct pf_col cols[] = {
		{ "call", "Call", PF_TEXT },
		{ "count", "Calls", PF_COUNT },
		{ "cpu_ns", "CPU", PF_NS },
		{ "gpu_ns", "GPU", PF_NS },
		{ "median_delay_ns", "Delay", PF_NS },
		{ "max_delay_ns", "Longest", PF_NS },
		{ "short_count", "Short", PF_COUNT },
	};
	struct pf_table *t = pf_doc_table(doc, "calls", "Launch calls", cols,
					  sizeof(cols) / sizeof(*cols));

	if (l->call_count)
		qsort(l->calls, l->call_count, sizeof(*l->calls), by_total);
	for (size_t i = 0; i < l->call_count; i++) {
		const struct call *c = &l->calls[i];
		const char *name = pf_gpu_name(l->gpu, c->name, err);

		if (!name)
			return -1;
		pf_table_string(t, name);
		pf_table_int(t, c->cpu.count);
		pf_table_int(t, c->cpu.sum);
		pf_table_int(t, c->gpu.sum);
		pf_table_int(t, c->median_delay);
		pf_table_int(t, c->delay.max);
		pf_table_int(t, c->short_work);
	}
	return 0;
}

static void add_streams(struct launches *l, struct pf_doc *doc)
{
	static const struct pf_col cols[] = {
		{ "trace_id", "Trace", PF_INT },
		{ "device", "GPU", PF_INT },
		{ "stream", "Stream", PF_INT },
		{ "launch_count", "Launches", PF_COUNT },
		{ "mean_length", "Mean queue", PF_REAL },
		{ "max_length", "Longest", PF_COUNT },
	};
	struct pf_table *t =
		pf_doc_table(doc, "streams", "Queue length at the launch", cols,
			     sizeof(cols) / sizeof(*cols));

	if (l->stream_count)
		qsort(l->streams, l->stream_count, sizeof(*l->streams),
		      by_place);
	for (size_t i = 0; i < l->stream_count; i++) {
		const struct stream *s = &l->streams[i];

		if (!s->length.count)
			continue;
		pf_table_int(t, s->trace_id);
		pf_table_int(t, s->device);
		pf_table_int(t, s->stream);
		pf_table_int(t, s->length.count);
		pf_table_real(t, s->length.mean);
		pf_table_int(t, s->length.max);
	}
}

static double share(int64_t part, int64_t whole)
{
	return whole > 0 ? (double)part / (double)whole : 0;
}

static void add_scalars(const struct launches *l, struct pf_doc *doc)
{
	int64_t count = 0, cpu = 0, shorter = 0, slow = 0, delayed = 0,
		early = 0;
	char part[PF_NUM_MAX], time[PF_NUM_MAX];

	for (size_t i = 0; i < l->call_count; i++) {
		const struct call *c = &l->calls[i];

		count += c->cpu.count;
		cpu = pf_span_end(cpu, c->cpu.sum);
		shorter += c->short_work;
		slow += c->slow;
		delayed += c->delayed;
		early += c->early;
	}
	pf_num_show_ratio(part, share(shorter, count));
	if (count)
		pf_doc_finding(doc,
			       "%s of the launches start GPU work that is "
			       "shorter than the call, which took %s in all",
			       part, pf_num_show_ns(time, cpu));
	else
		pf_doc_finding(doc, "No GPU work has a launch call");
	pf_doc_int(doc, "launch_count", "Launches", PF_COUNT, count);
	pf_doc_int(doc, "cpu_ns", "CPU time of the calls", PF_NS, cpu);
	pf_doc_real(doc, "short_share", "GPU work shorter than call", PF_RATIO,
		    share(shorter, count));
	pf_doc_int(doc, "slow_count", "Calls over 50 us", PF_COUNT, slow);
	pf_doc_int(doc, "delayed_count", "Delays over 100 us", PF_COUNT,
		   delayed);
	pf_doc_int(doc, "early_count", "GPU work before the call's end",
		   PF_COUNT, early);
	pf_doc_int(doc, "orphan_count", "GPU events without a call", PF_COUNT,
		   l->orphans);
}

static int set_up(struct launches *l, const struct pf_window *window,
		  struct pf_err *err)
{
	const char *dir = pf_analysis_temp_dir();

	pf_map_init(&l->by_name);
	l->works = pf_sorter_new(sizeof(struct work), SORT_BYTES, dir);
	l->changes = pf_sorter_new(sizeof(struct change), SORT_BYTES, dir);
	l->delays = pf_sorter_new(sizeof(struct delay), SORT_BYTES, dir);
	l->reader = pf_reader_new(l->db, PF_COLBIT(PF_COL_START) |
						 PF_COLBIT(PF_COL_DUR) |
						 PF_COLBIT(PF_COL_NAME));
	l->gpu = pf_gpu_new(l->db, window, PF_GPU_STARTS | PF_GPU_LINKS, err);
	return l->gpu ? 0 : -1;
}

static void tear_down(struct launches *l)
{
	pf_gpu_free(l->gpu);
	pf_reader_free(l->reader);
	pf_sorter_free(l->works);
	pf_sorter_free(l->changes);
	pf_sorter_free(l->delays);
	pf_map_release(&l->by_name);
	free(l->calls);
	free(l->streams);
}

int pf_launches(struct pf_db *db, const struct pf_launches_args *args,
		struct pf_doc *doc, struct pf_err *err)
{
	struct launches l = { .db = db };
	struct pf_window window = { 0 };
	int rc = pf_window_resolve(db, &args->window, &window, err);

	if (rc)
		return -1;
	if (set_up(&l, &window, err) < 0 || gather(&l, err) < 0 ||
	    read_calls(&l, err) < 0 || find_medians(&l, err) < 0 ||
	    find_lengths(&l, err) < 0) {
		rc = -1;
	} else {
		add_scalars(&l, doc);
		rc = add_calls(&l, doc, err);
		add_streams(&l, doc);
	}
	if (!rc)
		rc = pf_trust_note(db, &window, PF_TRUST_WORK | PF_TRUST_LINKS,
				   doc, err);
	tear_down(&l);
	pf_window_release(&window);
	return rc;
}
