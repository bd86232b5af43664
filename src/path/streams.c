/* SPDX-License-Identifier: MIT */
/* Work that is in, stream by stream, and the least that edges between take. */
#include "path/path_impl.h"

#include "base/search.h"
#include "base/stats.h"

/* Orders of work by a time, then by place; "at" runs beside. */
struct placed {
	int64_t at_ns, then_ns;
	uint32_t work;
};

static int by_time(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	if (x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns ? -1 : 1;
	if (x->then_ns != y->then_ns)
		return x->then_ns < y->then_ns ? -1 : 1;
	return x->work < y->work ? -1 : x->work > y->work;
}

static void sort(struct placed *items, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++)
		if (by_time(&items[i - 1], &items[i]) > 0) {
			qsort(items, count, sizeof(*items), by_time);
			return;
		}
}

/* The second and third order keep the first where times are equal. */
static void order_stream(struct path *p, struct path_stream *s,
			 struct placed *tmp)
{
	for (uint32_t i = 0; i < s->count; i++) {
		const struct path_work *w = &p->works[s->by_start[i]];

		tmp[i] = (struct placed){ w->start_ns, w->end_ns,
					  s->by_start[i] };
	}
	sort(tmp, s->count);
	for (uint32_t i = 0; i < s->count; i++) {
		struct path_work *w = &p->works[tmp[i].work];

		s->by_start[i] = tmp[i].work;
		w->prev = i ? s->by_start[i - 1] : PF_PATH_NONE;
	}
	for (uint32_t i = 0; i < s->count; i++)
		tmp[i] = (struct placed){ p->works[s->by_start[i]].end_ns, i,
					  s->by_start[i] };
	sort(tmp, s->count);
	for (uint32_t i = 0; i < s->count; i++)
		s->by_end[i] = tmp[i].work;
	for (uint32_t i = 0; i < s->count; i++) {
		uint32_t w = s->by_start[i];

		if (p->works[w].call == PF_PATH_NONE)
			s->orphan = w;
		else
			tmp[s->launched_count++] = (struct placed){
				path_launched_ns(p, &p->works[w]), i, w
			};
	}
	sort(tmp, s->launched_count);
	for (uint32_t i = 0; i < s->launched_count; i++)
		s->by_launch[i] = tmp[i].work;
}

void path_order_streams(struct path *p)
{
	uint32_t most = 0, *at;
	struct placed *tmp;

	for (uint32_t i = 0; i < p->work_count; i++)
		p->streams[p->works[i].stream].count += p->works[i].is_in;
	p->orders = pf_calloc(3 * (size_t)p->work_count + 1, sizeof(*at));
	at = p->orders;
	for (uint32_t i = 0; i < p->stream_count; i++) {
		struct path_stream *s = &p->streams[i];

		s->by_start = at;
		s->by_end = at + s->count;
		s->by_launch = at + 2 * (size_t)s->count;
		at += 3 * (size_t)s->count;
		most = s->count > most ? s->count : most;
		s->count = 0;
	}
	for (uint32_t i = 0; i < p->work_count; i++) {
		struct path_stream *s = &p->streams[p->works[i].stream];

		if (p->works[i].is_in)
			s->by_start[s->count++] = i;
	}
	tmp = pf_calloc((size_t)most + 1, sizeof(*tmp));
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

int64_t path_quantile(int64_t *values, size_t count, unsigned percent)
{
	size_t place = (count * percent + 99) / 100;

	if (!count)
		return 0;
	qsort(values, count, sizeof(*values), pf_stats_compare);
	return values[place ? place - 1 : 0];
}

void path_measure_floors(struct path *p)
{
	int64_t *lat = pf_calloc((size_t)p->work_count + 1, sizeof(*lat));
	int64_t *gap = pf_calloc((size_t)p->work_count + 1, sizeof(*gap));
	size_t lats = 0, gaps = 0;
	int64_t least = INT64_MAX;

	for (uint32_t i = 0; i < p->work_count; i++) {
		const struct path_work *w = &p->works[i];
		const struct path_work *prev;
		const struct path_call *c;

		if (!w->is_in || w->call == PF_PATH_NONE)
			continue;
		c = &p->calls[w->call];
		prev = w->prev == PF_PATH_NONE ? NULL : &p->works[w->prev];
		if (w->start_ns - c->start_ns < least)
			least = w->start_ns - c->start_ns;
		if (c->work_count == 1 &&
		    (!prev || prev->end_ns <= c->start_ns))
			lat[lats++] = w->start_ns - c->start_ns;
		if (prev && c->end_ns <= prev->start_ns &&
		    w->start_ns >= prev->end_ns)
			gap[gaps++] = w->start_ns - prev->end_ns;
	}
	if (lats < 5) {
		lats = least != INT64_MAX;
		lat[0] = least;
	}
	p->launch_floor_ns = path_quantile(lat, lats, 10);
	if (p->launch_floor_ns > PF_PATH_LAUNCH_NS)
		p->launch_floor_ns = PF_PATH_LAUNCH_NS;
	p->gap_floor_ns = path_quantile(gap, gaps, 10);
	free(lat);
	free(gap);
}
