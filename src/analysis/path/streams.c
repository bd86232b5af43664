/* SPDX-License-Identifier: MIT */
/* Work that is in, stream by stream, and the least that edges between take. */
#include "analysis/path/path_impl.h"

#include "base/order.h"
#include "base/search.h"
#include "base/stats.h"

#define SORT_ITEM_MAX 64 /* bytes */

/* Orders of work by a time, then by place; "at" runs beside. */
struct placed {
	int64_t at_ns, then_ns;
	uint32_t work;
};

PF_ORDER(by_time, struct placed, PF_UP(at_ns) PF_UP(then_ns) PF_UP(work))

/* By insertion, as long as that takes few moves; what is left is the same. */
static bool sort_nearly(char *items, size_t count, size_t bytes,
			int (*compare)(const void *a, const void *b))
{
	size_t left = 4 * count;
	char item[SORT_ITEM_MAX];

	for (size_t i = 1; i < count; i++) {
		char *at = items + i * bytes, *to = at;

		if (compare(at - bytes, at) <= 0)
			continue;
		memcpy(item, at, bytes);
		for (; to > items && compare(to - bytes, item) > 0; to -= bytes)
			if (!left--)
				return false;
		memmove(to + bytes, to, (size_t)(at - to));
		memcpy(to, item, bytes);
	}
	return true;
}

void path_sort(void *items, size_t count, size_t bytes,
	       int (*compare)(const void *a, const void *b))
{
	if (count > 1 && (bytes > SORT_ITEM_MAX ||
			  !sort_nearly(items, count, bytes, compare)))
		pf_sort(items, count, bytes, compare);
}

/* The order of "items": that of by_start itself where it is the same. */
static uint32_t *take_order(struct path *p, const struct path_stream *s,
			    const struct placed *items, uint32_t count)
{
	uint32_t *out = p->orders + p->order_count;
	bool is_same = count == s->count;

	for (uint32_t i = 0; is_same && i < count; i++)
		is_same = s->by_start[i] == items[i].work;
	if (is_same)
		return s->by_start;
	for (uint32_t i = 0; i < count; i++)
		out[i] = items[i].work;
	p->order_count += count;
	return out;
}

static void order_by_start(struct path *p, struct path_stream *s,
			   struct placed *tmp)
{
	for (uint32_t i = 0; i < s->count; i++) {
		const struct path_work *w = &p->works[s->by_start[i]];

		tmp[i] = (struct placed){ w->start_ns, w->end_ns,
					  s->by_start[i] };
	}
	path_sort(tmp, s->count, sizeof(*tmp), by_time);
	for (uint32_t i = 0; i < s->count; i++) {
		s->by_start[i] = tmp[i].work;
		p->works[tmp[i].work].prev =
			i ? s->by_start[i - 1] : PF_PATH_NONE;
	}
}

/* The second and third order keep the first where times are equal. */
static void order_stream(struct path *p, struct path_stream *s,
			 struct placed *tmp)
{
	order_by_start(p, s, tmp);
	for (uint32_t i = 0; i < s->count; i++)
		tmp[i] = (struct placed){ p->works[s->by_start[i]].end_ns, i,
					  s->by_start[i] };
	path_sort(tmp, s->count, sizeof(*tmp), by_time);
	s->by_end = take_order(p, s, tmp, s->count);
	for (uint32_t i = 0; i < s->count; i++) {
		uint32_t w = s->by_start[i];

		if (p->works[w].call == PF_PATH_NONE)
			s->orphan = w;
		else
			tmp[s->launched_count++] = (struct placed){
				path_launched_ns(p, &p->works[w]), i, w
			};
	}
	path_sort(tmp, s->launched_count, sizeof(*tmp), by_time);
	s->by_launch = take_order(p, s, tmp, s->launched_count);
}

void path_order_streams(struct path *p)
{
	uint32_t most = 0;
	struct placed *tmp;

	for (uint32_t i = 0; i < p->work_count; i++)
		p->streams[p->works[i].stream].count += p->works[i].is_in;
	/* what is not written to takes no memory */
	p->orders =
		pf_alloc((3 * (size_t)p->work_count + 1) * sizeof(*p->orders));
	for (uint32_t i = 0; i < p->stream_count; i++) {
		struct path_stream *s = &p->streams[i];

		s->by_start = p->orders + p->order_count;
		p->order_count += s->count;
		most = s->count > most ? s->count : most;
		s->count = 0;
	}
	for (uint32_t i = 0; i < p->work_count; i++) {
		struct path_stream *s = &p->streams[p->works[i].stream];

		if (p->works[i].is_in)
			s->by_start[s->count++] = i;
	}
	tmp = pf_alloc(((size_t)most + 1) * sizeof(*tmp));
	for (uint32_t i = 0; i < p->stream_count; i++)
		order_stream(p, &p->streams[i], tmp);
	free(tmp);
}

/* ---- look-ups ---- */

uint32_t path_last_launched(const struct path *p, const struct path_stream *s,
			    int64_t at_ns)
{
	size_t n = PF_SEARCH(i, s->launched_count,
			     path_launched_ns(p, &p->works[s->by_launch[i]]) <
				     at_ns);

	return n ? s->by_launch[n - 1] : s->orphan;
}

uint32_t path_last_ended(const struct path *p, const struct path_stream *s,
			 int64_t at_ns)
{
	size_t n =
		PF_SEARCH(i, s->count, p->works[s->by_end[i]].end_ns <= at_ns);

	return n ? s->by_end[n - 1] : PF_PATH_NONE;
}

const struct path_stream *path_find_stream(const struct path *p, int64_t device,
					   int64_t stream)
{
	for (uint32_t i = 0; i < p->stream_count; i++)
		if (p->streams[i].count && p->streams[i].stream == stream &&
		    (device == -1 || p->streams[i].device == device))
			return &p->streams[i];
	return NULL;
}

/* ---- floors ---- */

/* Everything before items[place] is at most, all behind at least it. */
static void put_in_place(int64_t *items, size_t count, size_t place)
{
	size_t low = 0, high = count, turns = 0;

	while (high - low > 16 && turns++ < 64) {
		int64_t mid = items[low + (high - low) / 2];
		size_t i = low, k = high - 1;

		for (;; i++, k--) {
			int64_t swap;

			while (items[i] < mid)
				i++;
			while (items[k] > mid)
				k--;
			if (i >= k)
				break;
			swap = items[i];
			items[i] = items[k];
			items[k] = swap;
		}
		if (place <= k)
			high = k + 1;
		else
			low = k + 1;
	}
	pf_sort(items + low, high - low, sizeof(*items), pf_stats_compare);
}

int64_t path_quantile(int64_t *values, size_t count, unsigned percent)
{
	size_t place = (count * percent + 99) / 100;

	if (!count)
		return 0;
	place = place ? place - 1 : 0;
	put_in_place(values, count, place);
	return values[place];
}

/* From the call's begin to the work's, where the stream had nothing to do. */
static void measure_launches(struct path *p, int64_t *ns)
{
	int64_t least = INT64_MAX;
	size_t count = 0;

	for (uint32_t i = 0; i < p->work_count; i++) {
		const struct path_work *w = &p->works[i];
		const struct path_call *c;

		if (!w->is_in || w->call == PF_PATH_NONE)
			continue;
		c = &p->calls[w->call];
		if (w->start_ns - c->start_ns < least)
			least = w->start_ns - c->start_ns;
		if (c->work_count == 1 &&
		    (w->prev == PF_PATH_NONE ||
		     p->works[w->prev].end_ns <= c->start_ns))
			ns[count++] = w->start_ns - c->start_ns;
	}
	if (count < 5) {
		count = least != INT64_MAX;
		ns[0] = least;
	}
	p->launch_floor_ns = path_quantile(ns, count, 10);
	if (p->launch_floor_ns > PF_PATH_LAUNCH_NS)
		p->launch_floor_ns = PF_PATH_LAUNCH_NS;
}

/* From work to the next of its stream that had long been launched. */
static void measure_gaps(struct path *p, int64_t *ns)
{
	size_t count = 0;

	for (uint32_t i = 0; i < p->work_count; i++) {
		const struct path_work *w = &p->works[i];
		const struct path_work *prev;

		if (!w->is_in || w->call == PF_PATH_NONE ||
		    w->prev == PF_PATH_NONE)
			continue;
		prev = &p->works[w->prev];
		if (p->calls[w->call].end_ns <= prev->start_ns &&
		    w->start_ns >= prev->end_ns)
			ns[count++] = w->start_ns - prev->end_ns;
	}
	p->gap_floor_ns = path_quantile(ns, count, 10);
}

void path_measure_floors(struct path *p)
{
	int64_t *ns = pf_alloc(((size_t)p->work_count + 1) * sizeof(*ns));

	measure_launches(p, ns);
	measure_gaps(p, ns);
	free(ns);
}
