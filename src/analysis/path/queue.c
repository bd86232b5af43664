/* SPDX-License-Identifier: MIT */
/*
 * A host far ahead of the device blocks in launch calls, because the launch
 * queue is full: the n-th call of a stream returns when the work of the
 * (n - Q)-th has ended.  Q is what most calls that are long, and have so many
 * before them, say.
 */
#include "analysis/path/path_impl.h"

#include "base/order.h"
#include "base/search.h"

#define DEEP    1000 /* a queue of so many calls may be full */
#define LONG_NS (2 * (int64_t)PF_PATH_HANDOFF_NS)

struct queue {
	struct path *p;
	struct entry {
		uint32_t call, last; /* of its works the one that ends last */
	} * calls;                   /* of a stream, in order */
	struct end {
		int64_t end_ns;
		uint32_t at; /* in calls */
	} * ends;            /* in order of time */
	struct full {
		uint32_t at, distance;
	} * full;
	uint32_t count, full_count;
	uint32_t *queued; /* by call: the work whose end lets it return */
};

PF_ORDER(by_end, struct end, PF_UP(end_ns) PF_UP(at))

static uint32_t ends_last(const struct path *p, const struct path_call *c)
{
	uint32_t best = p->by_call[c->first_work];

	for (uint32_t k = 1; k < c->work_count; k++) {
		uint32_t w = p->by_call[c->first_work + k];

		if (p->works[w].end_ns > p->works[best].end_ns)
			best = w;
	}
	return best;
}

static void list_calls(struct queue *q, const struct path_stream *s)
{
	struct path *p = q->p;

	q->count = q->full_count = 0;
	for (uint32_t i = 0; i < s->launched_count; i++) {
		uint32_t call = p->works[s->by_launch[i]].call;
		uint32_t last = ends_last(p, &p->calls[call]);

		if (q->count && q->calls[q->count - 1].call == call)
			continue;
		q->ends[q->count] =
			(struct end){ p->works[last].end_ns, q->count };
		q->calls[q->count++] = (struct entry){ call, last };
	}
	path_sort(q->ends, q->count, sizeof(*q->ends), by_end);
}

static size_t ended(const struct queue *q, int64_t at_ns)
{
	return PF_SEARCH(i, q->count, q->ends[i].end_ns <= at_ns);
}

static int64_t dur_of(const struct path_call *c)
{
	return c->end_ns - c->start_ns;
}

static void find_full(struct queue *q)
{
	for (uint32_t i = 0; i < q->count; i++) {
		const struct path_call *c = &q->p->calls[q->calls[i].call];
		size_t before, done;

		if (dur_of(c) <= LONG_NS)
			continue;
		before = ended(q, c->start_ns);
		done = ended(q, c->end_ns);
		if (before + DEEP > i || !done ||
		    q->ends[done - 1].end_ns <= c->start_ns ||
		    q->ends[done - 1].at > i)
			continue;
		q->full[q->full_count++] =
			(struct full){ i, i - q->ends[done - 1].at };
	}
}

/* The distance that most have; of equals the first. */
static uint32_t length_of(const struct queue *q)
{
	uint32_t *count = pf_calloc((size_t)q->count + 1, sizeof(*count));
	uint32_t best = q->full[0].distance;

	for (uint32_t i = 0; i < q->full_count; i++)
		count[q->full[i].distance]++;
	for (uint32_t i = 0; i < q->full_count; i++)
		if (count[q->full[i].distance] > count[best])
			best = q->full[i].distance;
	free(count);
	return best;
}

static void take_stream(struct queue *q, const struct path_stream *s)
{
	struct path *p = q->p;
	int64_t *returns;
	uint32_t length;
	size_t n = 0;

	list_calls(q, s);
	find_full(q);
	if (!q->full_count)
		return;
	length = length_of(q);
	for (uint32_t i = length; i < q->count; i++)
		q->queued[q->calls[i].call] = q->calls[i - length].last;
	returns = pf_calloc(q->full_count, sizeof(*returns));
	for (uint32_t i = 0; i < q->full_count; i++) {
		const uint32_t call = q->calls[q->full[i].at].call;
		const struct path_call *c = &p->calls[call];
		int64_t end;

		if (q->queued[call] == PF_PATH_NONE)
			continue;
		end = p->works[q->queued[call]].end_ns;
		if (c->start_ns < end && end <= c->end_ns)
			returns[n++] = c->end_ns - end;
	}
	p->queue_floor_ns = path_quantile(returns, n, 10);
	p->queue_length = length;
	free(returns);
}

/* What launch calls of such streams usually take. */
static void measure_calls(const struct queue *q)
{
	struct path *p = q->p;
	int64_t *ns = pf_calloc((size_t)p->call_count + 1, sizeof(*ns));
	size_t n = 0;

	for (uint32_t i = 0; i < p->call_count; i++)
		if (q->queued[i] != PF_PATH_NONE)
			ns[n++] = dur_of(&p->calls[i]);
	p->queue_call_ns = path_quantile(ns, n, 50);
	free(ns);
}

static uint32_t longest(const struct path *p)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < p->stream_count; i++)
		if (p->streams[i].launched_count > most)
			most = p->streams[i].launched_count;
	return most;
}

void path_find_queue(struct path *p)
{
	const uint32_t most = longest(p);
	struct queue q = { .p = p };

	if (most < DEEP)
		return;
	q.calls = pf_calloc(most, sizeof(*q.calls));
	q.ends = pf_calloc(most, sizeof(*q.ends));
	q.full = pf_calloc(most, sizeof(*q.full));
	q.queued = pf_alloc(((size_t)p->call_count + 1) * sizeof(*q.queued));
	memset(q.queued, 0xff, p->call_count * sizeof(*q.queued));
	for (uint32_t i = 0; i < p->stream_count; i++)
		if (p->streams[i].launched_count >= DEEP)
			take_stream(&q, &p->streams[i]);
	if (p->queue_length)
		measure_calls(&q);
	for (uint32_t i = 0; i < p->call_count; i++) {
		struct path_call *c = &p->calls[i];

		c->is_queued =
			c->needs == PF_PATH_NONE && q.queued[i] != PF_PATH_NONE;
		c->needs = c->is_queued ? q.queued[i] : c->needs;
	}
	free(q.calls);
	free(q.ends);
	free(q.full);
	free(q.queued);
}
