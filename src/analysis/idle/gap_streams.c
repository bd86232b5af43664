/* SPDX-License-Identifier: MIT */
/*
 * One pass over the work of all streams; for HTA's rule each gap goes through
 * a sort by launch call, so that the calls are read in one walk.
 */
#include "config.h"

#include <stdlib.h>

#include "analysis/idle/gap_streams.h"
#include "base/order.h"
#include "events/gpu.h"
#include "events/interval.h"
#include "events/step.h"
#include "base/mem.h"
#include "base/sat.h"
#include "events/by_event.h"

#define KERNEL_WAIT_NS 30000

enum wait { HOST_WAIT, KERNEL_WAIT, OTHER, WAITS };

struct stream {
	const struct pf_window_trace *trace;
	int64_t device, stream;
	struct pf_union busy;
	int64_t gap_count, longest_ns, event_count;
	bool has_last;  /* an event that counts in HTA's rule came before */
	int64_t end_ns; /* of it */
	int64_t wait_ns[WAITS];
};

struct gap {
	int64_t launch_id, end_ns; /* of the event before */
	int64_t ns, stream;
};

struct streams {
	struct pf_gpu *gpu;
	struct pf_by_event *gaps; /* NULL: without HTA's rule */
	struct pf_steps steps;
	struct stream *items;
	size_t count, cap;
};

static size_t find_stream(struct streams *s, const struct pf_gpu_event *ev)
{
	/* those of a trace are the last ones: work comes trace by trace */
	for (size_t i = s->count; i-- > 0 && s->items[i].trace == ev->trace;)
		if (s->items[i].device == ev->device &&
		    s->items[i].stream == ev->stream)
			return i;
	s->items = pf_grow(s->items, &s->cap, s->count + 1, sizeof(*s->items));
	s->items[s->count] = (struct stream){ .trace = ev->trace,
					      .device = ev->device,
					      .stream = ev->stream };
	return s->count++;
}

/* HTA drops what it cannot assign to one of several steps. */
static bool counts(const struct streams *s, const struct pf_gpu_event *ev)
{
	int64_t id = ev->trace->trace_id;

	return ev->launch_id ||
	       !pf_steps_is_of(&s->steps, pf_steps_first(&s->steps, id) + 1,
			       id);
}

static int put_gap(struct streams *s, size_t number,
		   const struct pf_gpu_event *ev, struct pf_err *err)
{
	struct stream *stream = &s->items[number];
	struct gap gap = { ev->launch_id, stream->end_ns,
			   ev->start_ns - stream->end_ns, (int64_t)number };
	bool has_last = stream->has_last;

	if (!counts(s, ev))
		return 0;
	stream->has_last = true;
	stream->end_ns = ev->end_ns;
	return has_last ? pf_by_event_add(s->gaps, &gap, err) : 0;
}

static int gather(struct streams *s, struct pf_err *err)
{
	const struct pf_gpu_event *ev;
	int rc;

	while ((rc = pf_gpu_next(s->gpu, &ev, err)) == 1) {
		size_t number = find_stream(s, ev);
		struct stream *stream = &s->items[number];
		int64_t gap;

		if (s->gaps && put_gap(s, number, ev, err) < 0)
			return -1;
		gap = pf_union_add(&stream->busy, ev->start_ns, ev->end_ns);
		stream->gap_count += gap > 0;
		if (gap > stream->longest_ns)
			stream->longest_ns = gap;
		stream->event_count++;
	}
	return rc;
}

/* Now that gaps are in order of their launch calls: when did those begin? */
static int judge(struct streams *s, struct pf_err *err)
{
	const struct gap *gap;
	const struct pf_block *b;
	uint32_t i;

	while ((gap = pf_by_event_next(s->gaps, &b, &i, err))) {
		enum wait wait = gap->ns < KERNEL_WAIT_NS ? KERNEL_WAIT : OTHER;

		if (b && b->start_ns[i] > gap->end_ns)
			wait = HOST_WAIT;
		pf_sat_sum(&s->items[gap->stream].wait_ns[wait], gap->ns);
	}
	return err->code ? -1 : 0;
}

PF_ORDER(by_place, struct stream,
	 PF_UP(trace->trace_id) PF_UP(device) PF_UP(stream))

static void add_table(struct streams *s, struct pf_doc *doc)
{
	static const struct pf_col cols[] = {
		{ "device", "GPU", PF_INT },
		{ "stream", "Stream", PF_INT },
		{ "busy_ns", "Busy", PF_NS },
		{ "idle_ns", "Idle", PF_NS },
		{ "gap_count", "Gaps", PF_COUNT },
		{ "longest_ns", "Longest", PF_NS },
		{ "event_count", "GPU events", PF_COUNT | PF_FULL },
		{ "window_ns", "First to last", PF_NS | PF_FULL },
		{ "rank", "Rank", PF_INT | PF_FULL },
		{ "trace_id", "Trace", PF_INT | PF_FULL },
		{ "host_wait_ns", "host_wait", PF_NS },
		{ "kernel_wait_ns", "kernel_wait", PF_NS },
		{ "other_ns", "other", PF_NS },
	};
	size_t count = sizeof(cols) / sizeof(*cols);
	struct pf_table *t = pf_doc_table(
		doc, "streams",
		"Idle time of each stream, while others may work: no saving",
		cols, s->gaps ? count : count - WAITS);

	pf_sort(s->items, s->count, sizeof(*s->items), by_place);
	for (size_t i = 0; i < s->count; i++) {
		const struct stream *x = &s->items[i];

		pf_table_known(t, x->device);
		pf_table_known(t, x->stream);
		pf_table_int(t, x->busy.covered_ns);
		pf_table_int(t, pf_union_idle(&x->busy));
		pf_table_int(t, x->gap_count);
		pf_table_int(t, x->longest_ns);
		pf_table_int(t, x->event_count);
		pf_table_int(t, pf_union_total(&x->busy));
		pf_table_known(t, x->trace->rank);
		pf_table_int(t, x->trace->trace_id);
		for (size_t w = 0; s->gaps && w < WAITS; w++)
			pf_table_int(t, x->wait_ns[w]);
	}
}

int pf_gap_streams(struct pf_db *db, const struct pf_window *window,
		   bool with_hta, struct pf_doc *doc, struct pf_err *err)
{
	struct streams s = { 0 };
	int rc;

	s.gpu = pf_gpu_new(db, window, with_hta ? PF_GPU_CALLS : 0, err);
	if (with_hta)
		s.gaps = pf_by_event_new(db, sizeof(struct gap),
					 PF_COLBIT(PF_COL_START));
	rc = s.gpu ? 0 : -1;
	if (!rc && with_hta)
		rc = pf_window_steps(db, window, &s.steps, err);
	if (!rc)
		rc = gather(&s, err);
	if (!rc && with_hta)
		rc = judge(&s, err);
	if (!rc)
		add_table(&s, doc);
	pf_gpu_free(s.gpu);
	pf_by_event_free(s.gaps);
	pf_steps_release(&s.steps);
	free(s.items);
	return rc;
}
