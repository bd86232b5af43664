/* SPDX-License-Identifier: MIT */
/* Meetings in order of time: who is last, why, and where that begins. */
#include "config.h"

#include <stdlib.h>

#include "base/mem.h"
#include "analysis/ranks/ranks_impl.h"
#include "base/order.h"

#define WAIT_SHARE 0.3 /* of the spread: waiting that explains being late */
#define HOST_SHARE 0.5 /* of idle time: a cause that names it */

/* Ranks of a meeting by their starts, the first and the last two. */
struct arrival {
	int64_t start_ns;
	uint32_t op;
};

PF_ORDER(by_start, struct arrival, PF_UP(start_ns) PF_UP(op))

static void measure(struct pf_ranks_job *job, struct meeting *m,
		    struct arrival *at, int64_t *transfers)
{
	m->end_ns = INT64_MIN;
	for (uint32_t k = 0; k < m->count; k++) {
		uint32_t op = job->parts[m->from + k];

		at[k] = (struct arrival){ job->ops[op].start_ns, op };
		if (job->ops[op].end_ns > m->end_ns)
			m->end_ns = job->ops[op].end_ns;
	}
	pf_sort(at, m->count, sizeof(*at), by_start);
	m->first_ns = at[0].start_ns;
	m->last_ns = at[m->count - 1].start_ns;
	m->second_ns = at[m->count - 2].start_ns;
	m->middle = at[(m->count - 1) / 2].op;
	m->last = m->last_ns > m->second_ns ? at[m->count - 1].op : NONE;
	for (uint32_t k = 0; k < m->count; k++)
		transfers[k] =
			job->ops[job->parts[m->from + k]].end_ns - m->last_ns;
	m->transfer_ns = pf_ranks_median_ns(transfers, m->count);
}

/* ---- why ---- */

/* The host's cause of most of the idle time, or "host". */
static unsigned name_host(const struct op *last, const struct op *middle,
			  int64_t idle_ns)
{
	unsigned best = PF_HOST_CAUSES;
	int64_t best_us = 0;

	for (unsigned i = 0; i < PF_HOST_CAUSES; i++) {
		int64_t us = (int64_t)last->host_us[i] - middle->host_us[i];

		if (us > best_us) {
			best = i;
			best_us = us;
		}
	}
	if (best == PF_HOST_CAUSES ||
	    (double)best_us * 1000 <= HOST_SHARE * (double)idle_ns)
		return PF_LATE_HOST;
	return PF_LATE_BY_HOST + best;
}

/* The parts add up to how much later the last came than the middle one. */
static void explain(struct pf_ranks_job *job, struct meeting *m)
{
	const struct op *last, *middle;
	int64_t rest;
	unsigned best = 0;

	if (m->last == NONE)
		return;
	last = &job->ops[m->last];
	middle = &job->ops[m->middle];
	if (!last->has_since || !middle->has_since || m->last == m->middle)
		return;
	m->has_why = true;
	rest = last->start_ns - middle->start_ns;
	for (unsigned i = 0; i < PF_DOING_COUNT; i++) {
		m->why_ns[i] = last->since_ns[i] - middle->since_ns[i];
		rest -= m->why_ns[i];
	}
	m->why_ns[PF_LATE_BEFORE] = rest;
	for (unsigned i = 1; i < PF_LATE_PARTS; i++)
		if (m->why_ns[i] > m->why_ns[best])
			best = i;
	m->cause = (uint8_t)(best == PF_LATE_HOST
				     ? name_host(last, middle,
						 m->why_ns[PF_LATE_HOST])
				     : best);
}

/* ---- where it begins ---- */

/*
 * The rank came late because it waited elsewhere: for the root of what it
 * waited for longest since the meeting before.  "before" leads back over a
 * rank's collectives in the order of meetings.
 */
static void find_root(struct pf_ranks_job *job, struct meeting *m,
		      const uint32_t *before)
{
	const struct op *last = &job->ops[m->last];
	int64_t since_ns = last->before == NONE ? INT64_MIN
						: job->ops[last->before].end_ns;
	const struct meeting *best = NULL;
	int64_t best_ns = 0;

	for (uint32_t at = before[m->last]; at != NONE; at = before[at]) {
		const struct meeting *x = &job->meetings[job->ops[at].meeting];
		int64_t wait = x->last_ns - job->ops[at].start_ns;

		if (x->end_ns < since_ns)
			break;
		if (x->group != m->group && (!best || wait > best_ns)) {
			best = x;
			best_ns = wait;
		}
	}
	if (!best || best->root == NONE ||
	    (double)best_ns <= WAIT_SHARE * (double)(m->last_ns - m->first_ns))
		return;
	m->root = best->root;
	m->root_cause = best->root_cause;
}

static int64_t last_start(const struct pf_ranks_job *job,
			  const struct meeting *m)
{
	int64_t last = INT64_MIN;

	for (uint32_t k = 0; k < m->count; k++) {
		int64_t at = job->ops[job->parts[m->from + k]].start_ns;

		last = at > last ? at : last;
	}
	return last;
}

struct in_time {
	int64_t last_ns;
	uint32_t order, meeting;
};

PF_ORDER(by_time, struct in_time, PF_UP(last_ns) PF_UP(order))

static void sort_meetings(struct pf_ranks_job *job)
{
	struct in_time *all = pf_calloc(job->meeting_count + 1, sizeof(*all));

	for (uint32_t i = 0; i < job->meeting_count; i++)
		all[i] = (struct in_time){ last_start(job, &job->meetings[i]),
					   job->meetings[i].order, i };
	pf_sort(all, job->meeting_count, sizeof(*all), by_time);
	job->sorted = pf_calloc(job->meeting_count + 1, sizeof(*job->sorted));
	for (uint32_t i = 0; i < job->meeting_count; i++)
		job->sorted[i] = all[i].meeting;
	free(all);
}

void pf_ranks_blame(struct pf_ranks_job *job)
{
	struct arrival *at = pf_calloc(job->rank_count + 1, sizeof(*at));
	int64_t *transfers = pf_calloc(job->rank_count + 1, sizeof(*transfers));
	uint32_t *before = pf_calloc(job->op_count + 1, sizeof(*before));
	uint32_t *newest = pf_calloc(job->rank_count + 1, sizeof(*newest));

	for (size_t r = 0; r < job->rank_count; r++)
		newest[r] = NONE;
	sort_meetings(job);
	for (uint32_t i = 0; i < job->meeting_count; i++) {
		struct meeting *m = &job->meetings[job->sorted[i]];

		measure(job, m, at, transfers);
		explain(job, m);
		for (uint32_t k = 0; k < m->count; k++) {
			uint32_t op = job->parts[m->from + k];
			uint32_t r = pf_ranks_of(job, op);

			before[op] = newest[r];
			newest[r] = op;
		}
		if (m->last == NONE)
			continue;
		m->root = pf_ranks_of(job, m->last);
		m->root_cause = m->cause;
		if (m->cause == PF_LATE_COMMUNICATION)
			find_root(job, m, before);
	}
	free(at);
	free(transfers);
	free(before);
	free(newest);
}
