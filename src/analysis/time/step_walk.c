/* SPDX-License-Identifier: MIT */
/* Steps of a trace do not overlap on the host: the first that ends later
 * than an instant is the first that matters. */
#include "config.h"

#include "analysis/time/step_walk.h"
#include "base/sat.h"

struct pf_step_walk pf_step_walk_begin(const struct pf_step_times *all,
				       int64_t trace_id)
{
	struct pf_step_walk w = { .at = all->steps, .end = all->steps };

	w.end += all->count;
	while (w.at < w.end && w.at->trace_id != trace_id)
		w.at++;
	for (const struct pf_step_time *s = w.at; s < w.end; s++)
		if (s->trace_id != trace_id)
			w.end = s;
	return w;
}

static int64_t overlap(int64_t from_a, int64_t to_a, int64_t from_b,
		       int64_t to_b)
{
	int64_t from = from_a > from_b ? from_a : from_b;
	int64_t to = to_a < to_b ? to_a : to_b;

	return to > from ? pf_sat_sub(to, from) : 0;
}

void pf_step_walk_add(struct pf_step_walk *w, int64_t from_ns, int64_t to_ns,
		      int64_t *host_ns, int64_t *own_ns)
{
	pf_step_walk_forget(w, from_ns);
	for (const struct pf_step_time *s = w->at;
	     s < w->end && s->host_start_ns < to_ns; s++) {
		if (s->is_partial)
			continue;
		pf_sat_sum(host_ns, overlap(from_ns, to_ns, s->host_start_ns,
					    s->host_end_ns));
		pf_sat_sum(own_ns, overlap(from_ns, to_ns, s->start_ns,
					   s->host_end_ns));
	}
}

const struct pf_step_time *pf_step_walk_at(struct pf_step_walk *w,
					   int64_t at_ns)
{
	const struct pf_step_time *s;

	pf_step_walk_forget(w, at_ns);
	s = w->at;
	return s < w->end && s->host_start_ns <= at_ns && !s->is_partial ? s
									 : NULL;
}

void pf_step_walk_forget(struct pf_step_walk *w, int64_t before_ns)
{
	while (w->at < w->end && w->at->host_end_ns <= before_ns)
		w->at++;
}
