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

#include "events/gpu.h"
#include "base/intern.h"
#include "events/interval.h"
#include "analysis/launches.h"
#include "base/stats.h"
#include "events/trust.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/sat.h"
#include "base/spool.h"
#include "events/by_event.h"
#include "trace/event.h"

#define SLOW_CALL_NS  50000
#define LONG_DELAY_NS 100000
#define SHORT_NS      10000 /* of a kernel */

struct work {
	int64_t launch_id, start_ns, dur_ns, stream;
};

/* A call and its work: when the first began and how long all of it took. */
struct launch {
	int64_t id, start_ns, cpu_ns, work_ns, gpu_ns, stream;
	uint32_t name;
};

/* A short kernel, on its way to its operator. */
struct brief {
	int64_t op_id, dur_ns, launch_id;
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

/* Short kernels of operators of one name; PF_ID_NONE: of none. */
struct op {
	uint32_t name;
	int64_t count, gpu_ns;
};

/* From this delay to that of the next; the first has what is negative. */
static const int64_t delay_from_ns[] = {
	0,      1000,   2000,   5000,    10000,    20000,     50000,
	100000, 200000, 500000, 1000000, 10000000, 100000000,
};
#define DELAYS (sizeof(delay_from_ns) / sizeof(*delay_from_ns))

struct launches {
	struct pf_db *db;
	struct pf_gpu *gpu;
	struct pf_map by_name, op_by_name;
	struct op *ops;
	size_t op_count, op_cap;
	struct pf_table *slow; /* the slowest calls */
	int64_t delay_counts[DELAYS];
	int64_t kernels, kernel_ns, brief_count, brief_ns;
	struct call *calls;
	size_t call_count, call_cap;
	struct stream *streams;
	size_t stream_count, stream_cap;
	struct pf_intern stream_keys;
	struct pf_by_event *works, *briefs;
	struct pf_sorter *changes, *delays;
	int64_t orphans;
};

static int64_t find_stream(struct launches *l, const struct pf_gpu_event *ev)
{
	int64_t key[3] = { ev->trace->trace_id, ev->device, ev->stream };
	uint32_t n =
		pf_intern_add(&l->stream_keys, (const char *)key, sizeof(key));

	if (n < l->stream_count)
		return n;
	l->streams = pf_grow(l->streams, &l->stream_cap, n + 1u,
			     sizeof(*l->streams));
	l->streams[n] = (struct stream){ .trace_id = key[0],
					 .device = key[1],
					 .stream = key[2] };
	l->stream_count = n + 1u;
	return n;
}

/* A kernel that is short goes to its operator. */
static int note_kernel(struct launches *l, const struct pf_gpu_event *ev,
		       struct pf_err *err)
{
	struct brief b = { ev->op_id, ev->dur_ns, ev->launch_id };

	l->kernels++;
	pf_sat_sum(&l->kernel_ns, ev->dur_ns);
	if (ev->dur_ns >= SHORT_NS)
		return 0;
	l->brief_count++;
	pf_sat_sum(&l->brief_ns, ev->dur_ns);
	return pf_by_event_add(l->briefs, &b, err);
}

static int gather(struct launches *l, struct pf_err *err)
{
	const struct pf_gpu_event *ev;
	int rc;

	while ((rc = pf_gpu_next(l->gpu, &ev, err)) == 1) {
		struct work w = { ev->launch_id, ev->start_ns, ev->dur_ns,
				  find_stream(l, ev) };

		if (ev->kind == PF_KIND_KERNEL && note_kernel(l, ev, err) < 0)
			return -1;
		if (!ev->launch_id) {
			l->orphans++;
		} else if (pf_by_event_add(l->works, &w, err) < 0) {
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

static void note_delay(struct launches *l, int64_t delay_ns)
{
	size_t i = DELAYS - 1;

	while (i && delay_ns < delay_from_ns[i])
		i--;
	l->delay_counts[i]++;
}

static int note_slow(struct launches *l, const struct launch *at,
		     int64_t delay_ns, struct pf_err *err)
{
	const char *text = pf_gpu_name(l->gpu, at->name, err);

	if (!text)
		return -1;
	pf_table_string(l->slow, text);
	pf_table_int(l->slow, at->start_ns);
	pf_table_int(l->slow, at->cpu_ns);
	pf_table_int(l->slow, delay_ns);
	pf_table_int(l->slow, at->gpu_ns);
	return 0;
}

/* A call, all of whose work has been met. */
static int end_call(struct launches *l, const struct launch *at,
		    struct pf_err *err)
{
	struct delay d = { .call = (int64_t)find_call(l, at->name) };
	struct call *c = &l->calls[d.call];

	d.delay_ns =
		pf_sat_sub(at->work_ns, pf_span_end(at->start_ns, at->cpu_ns));
	pf_stats_add(&c->cpu, at->cpu_ns);
	pf_stats_add(&c->gpu, at->gpu_ns);
	c->early += d.delay_ns < 0;
	c->slow += at->cpu_ns > SLOW_CALL_NS;
	c->delayed += d.delay_ns > LONG_DELAY_NS;
	c->short_work += at->gpu_ns < at->cpu_ns;
	pf_stats_add(&c->delay, d.delay_ns);
	note_delay(l, d.delay_ns);
	if (at->cpu_ns > SLOW_CALL_NS && note_slow(l, at, d.delay_ns, err) < 0)
		return -1;
	if (put_change(l, at->start_ns, true, at->stream, err) < 0 ||
	    put_change(l, at->work_ns, false, at->stream, err) < 0)
		return -1;
	return pf_sorter_add(l->delays, &d, err);
}

static int read_calls(struct launches *l, struct pf_err *err)
{
	const struct pf_block *b;
	const struct work *w;
	struct launch at = { 0 };
	uint32_t i;

	while ((w = pf_by_event_next(l->works, &b, &i, err))) {
		if (w->launch_id == at.id) {
			pf_sat_sum(&at.gpu_ns, w->dur_ns);
			continue;
		}
		if (at.id && end_call(l, &at, err) < 0)
			return -1;
		at = (struct launch){ 0 };
		if (b)
			at = (struct launch){
				.id = w->launch_id,
				.name = b->name[i],
				.start_ns = b->start_ns[i],
				.cpu_ns = b->dur_ns[i],
				.work_ns = w->start_ns,
				.gpu_ns = w->dur_ns,
				.stream = w->stream,
			};
	}
	if (err->code)
		return -1;
	return at.id ? end_call(l, &at, err) : 0;
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

/* Short kernels in order of their operators, to find their names. */
static int find_ops(struct launches *l, struct pf_err *err)
{
	const struct pf_block *block;
	const struct brief *k;
	uint32_t place;

	while ((k = pf_by_event_next(l->briefs, &block, &place, err))) {
		uint32_t name = block ? block->name[place] : PF_ID_NONE;
		uint64_t *n = pf_map_at(&l->op_by_name, name);

		if (*n == UINT64_MAX) {
			*n = l->op_count++;
			l->ops = pf_grow(l->ops, &l->op_cap, l->op_count,
					 sizeof(*l->ops));
			l->ops[*n] = (struct op){ .name = name };
		}
		l->ops[*n].count++;
		pf_sat_sum(&l->ops[*n].gpu_ns, k->dur_ns);
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
		{ "short_count", "Bound", PF_COUNT },
		{ "slow_count", "Over 50 us", PF_COUNT | PF_FULL },
		{ "delayed_count", "Delayed", PF_COUNT | PF_FULL },
		{ "early_count", "Early", PF_COUNT | PF_FULL },
		{ "max_cpu_ns", "Longest call", PF_NS | PF_FULL },
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
		pf_table_int(t, c->slow);
		pf_table_int(t, c->delayed);
		pf_table_int(t, c->early);
		pf_table_int(t, c->cpu.max);
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

/* From the first to the last that is not empty. */
static void add_delays(const struct launches *l, struct pf_doc *doc)
{
	static const struct pf_col cols[] = {
		{ "from_ns", "From", PF_NS },
		{ "to_ns", "To", PF_NS },
		{ "count", "Launches", PF_COUNT },
		{ "share", "Share", PF_RATIO },
		{ "negative_count", "of them negative", PF_COUNT },
	};
	struct pf_table *t =
		pf_doc_table(doc, "delays", "Delay from call to GPU work", cols,
			     sizeof(cols) / sizeof(*cols));
	size_t first = 0, end = DELAYS;
	int64_t count = 0, early = 0;

	for (size_t i = 0; i < l->call_count; i++) {
		count += l->calls[i].cpu.count;
		early += l->calls[i].early;
	}
	while (first < end && !l->delay_counts[first])
		first++;
	while (end > first && !l->delay_counts[end - 1])
		end--;
	for (size_t i = first; i < end; i++) {
		pf_table_int(t, delay_from_ns[i]);
		if (i + 1 < DELAYS)
			pf_table_int(t, delay_from_ns[i + 1]);
		else
			pf_table_null(t);
		pf_table_int(t, l->delay_counts[i]);
		pf_table_real(t, pf_num_share(l->delay_counts[i], count));
		pf_table_int(t, i ? 0 : early);
	}
}

static int by_count(const void *a, const void *b)
{
	const struct op *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return x->name < y->name ? -1 : x->name > y->name;
}

static int add_ops(struct launches *l, struct pf_doc *doc, struct pf_err *err)
{
	static const struct pf_col cols[] = {
		{ "op", "Operator", PF_TEXT },
		{ "count", "Kernels", PF_COUNT },
		{ "share", "Share", PF_RATIO },
		{ "gpu_ns", "GPU", PF_NS },
		{ "mean_ns", "Mean", PF_NS },
	};
	struct pf_table *t =
		pf_doc_table(doc, "short_kernels", "Kernels under 10 us", cols,
			     sizeof(cols) / sizeof(*cols));

	if (l->op_count)
		qsort(l->ops, l->op_count, sizeof(*l->ops), by_count);
	for (size_t i = 0; i < l->op_count; i++) {
		const struct op *op = &l->ops[i];
		const char *name = op->name == PF_ID_NONE
					   ? "(none)"
					   : pf_gpu_name(l->gpu, op->name, err);

		if (!name)
			return -1;
		pf_table_string(t, name);
		pf_table_int(t, op->count);
		pf_table_real(t, pf_num_share(op->count, l->kernels));
		pf_table_int(t, op->gpu_ns);
		pf_table_int(t, op->gpu_ns / op->count);
	}
	return 0;
}

static const struct pf_col slow_cols[] = {
	{ "call", "Call", PF_TEXT }, { "start_ns", "Start", PF_INT | PF_FULL },
	{ "cpu_ns", "CPU", PF_NS },  { "delay_ns", "Delay", PF_NS },
	{ "gpu_ns", "GPU", PF_NS },
};
#define SLOW_COLS (sizeof(slow_cols) / sizeof(*slow_cols))

/* Filled while calls are read: of any number only the slowest stay. */
static void begin_slow(struct launches *l, int64_t limit)
{
	struct pf_order order = { "cpu_ns", limit };

	l->slow = pf_table_new("slow_calls", NULL, slow_cols, SLOW_COLS);
	pf_table_order(l->slow, &order);
}

static void add_slow(const struct launches *l, struct pf_doc *doc)
{
	struct pf_table *t = pf_doc_table(doc, "slow_calls", "Calls over 50 us",
					  slow_cols, SLOW_COLS);
	int64_t dropped = pf_table_settle(l->slow);

	for (size_t i = 0; i < pf_table_row_count(l->slow); i++)
		for (size_t c = 0; c < SLOW_COLS; c++)
			pf_table_cell(t, &pf_table_row(l->slow, i)[c]);
	if (dropped)
		pf_doc_note(doc,
			    "%" PRId64 " more rows of 'slow_calls'; "
			    "--limit -1 shows all",
			    dropped);
}

static void add_scalars(const struct launches *l, struct pf_doc *doc)
{
	int64_t count = 0, cpu = 0, shorter = 0, slow = 0, delayed = 0,
		early = 0;
	char part[PF_NUM_MAX], time[PF_NUM_MAX];

	for (size_t i = 0; i < l->call_count; i++) {
		const struct call *c = &l->calls[i];

		count += c->cpu.count;
		pf_sat_sum(&cpu, c->cpu.sum);
		shorter += c->short_work;
		slow += c->slow;
		delayed += c->delayed;
		early += c->early;
	}
	pf_num_show_ratio(part, pf_num_share(shorter, count));
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
		    pf_num_share(shorter, count));
	pf_doc_int(doc, "slow_count", "Calls over 50 us", PF_COUNT, slow);
	pf_doc_int(doc, "delayed_count", "Delays over 100 us", PF_COUNT,
		   delayed);
	pf_doc_int(doc, "kernel_count", "Kernels", PF_COUNT, l->kernels);
	pf_doc_int(doc, "short_kernel_count", "Kernels under 10 us", PF_COUNT,
		   l->brief_count);
	pf_doc_real(doc, "short_kernel_share", "  their share of kernel time",
		    PF_RATIO, pf_num_share(l->brief_ns, l->kernel_ns));
	pf_doc_int(doc, "early_count", "GPU work before the call's end",
		   PF_COUNT, early);
	pf_doc_int(doc, "orphan_count", "GPU events without a call", PF_COUNT,
		   l->orphans);
}

static int set_up(struct launches *l, const struct pf_window *window,
		  struct pf_err *err)
{
	pf_map_init(&l->by_name);
	pf_map_init(&l->op_by_name);
	pf_intern_init(&l->stream_keys);
	l->briefs = pf_by_event_new(l->db, sizeof(struct brief),
				    PF_COLBIT(PF_COL_NAME));
	l->works = pf_by_event_new(l->db, sizeof(struct work),
				   PF_COLBIT(PF_COL_START) |
					   PF_COLBIT(PF_COL_DUR) |
					   PF_COLBIT(PF_COL_NAME));
	l->changes = pf_sorter_temp(sizeof(struct change));
	l->delays = pf_sorter_temp(sizeof(struct delay));
	l->gpu = pf_gpu_new(l->db, window, PF_GPU_STARTS | PF_GPU_LINKS, err);
	return l->gpu ? 0 : -1;
}

static void tear_down(struct launches *l)
{
	pf_gpu_free(l->gpu);
	pf_by_event_free(l->works);
	pf_sorter_free(l->changes);
	pf_sorter_free(l->delays);
	pf_by_event_free(l->briefs);
	pf_table_free(l->slow);
	pf_map_release(&l->by_name);
	pf_map_release(&l->op_by_name);
	pf_intern_release(&l->stream_keys);
	free(l->ops);
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
	begin_slow(&l, doc->lists ? doc->order.limit : -1);
	if (set_up(&l, &window, err) < 0 || gather(&l, err) < 0 ||
	    read_calls(&l, err) < 0 || find_medians(&l, err) < 0 ||
	    find_lengths(&l, err) < 0 || find_ops(&l, err) < 0) {
		rc = -1;
	} else {
		add_scalars(&l, doc);
		rc = add_calls(&l, doc, err);
		add_delays(&l, doc);
		if (!rc)
			rc = add_ops(&l, doc, err);
		add_slow(&l, doc);
		add_streams(&l, doc);
	}
	if (!rc)
		rc = pf_trust_note(db, &window, PF_TRUST_WORK | PF_TRUST_LINKS,
				   doc, err);
	tear_down(&l);
	pf_window_release(&window);
	return rc;
}
