/* SPDX-License-Identifier: MIT */
/*
 * All ranks replayed alone, at once.  A lane is the job in which one rank
 * takes median gaps; a meeting has one number in each lane, when its last
 * collective starts, for its collectives end a constant after that.
 *
 * Of the collectives of a meeting those with gates in one meeting, and behind
 * the same, are a bundle: in every lane but their own ranks' the latest of them is
 * one maximum, found once.  In a lane of one of them it takes the median gap,
 * and the latest of the others is the largest or the second.  So work grows
 * with bundles times lanes, most of it in loops over neighbouring numbers, and
 * with collectives once.
 *
 * Times are multiples of half a nanosecond far below 2^52: sums are exact in
 * whatever order, and equal those of a replay of one rank.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "analysis/ranks/skeleton.h"
#include "base/order.h"

#define LANES    32                  /* at once */
#define WORK_MAX (UINT64_C(1) << 32) /* bundles in lanes */

/* Collectives of a meeting that start after the same meetings. */
struct bundle {
	/* places of meetings, or NONE */
	uint32_t gate, behind[PF_BEHIND];
	uint32_t first_rank;        /* of the first */
	double first_ns, second_ns; /* from the gate to the start; the latest */
	/* from what it stands behind to the start */
	double behind_ns[PF_BEHIND];
};

/* A collective, as its rank's own lane has it. */
struct alone {
	uint32_t rank, bundle;
	double gap_ns; /* from the gate to the start: the measured one */
	double own_ns; /* with the median gap */
};

/* A meeting that is replayed; places are in the order of time. */
struct place {
	uint32_t bundle_from, bundle_to, alone_from, alone_to;
	uint32_t next;   /* of its collectives, by lane */
	double last_ns;  /* measured */
	double after_ns; /* from the last start to the last end */
};

struct lanes {
	const struct skeleton *s;
	uint32_t *place_of; /* a meeting, or NONE */
	struct place *places;
	struct bundle *bundles;
	struct alone *alone; /* in the order of places, then ranks */
	size_t place_count, bundle_count, alone_count;
	double *last_ns; /* LANES of each place */
};

/* ---- bundles ---- */

/* From the last start of its meeting to its end. */
static double after_last(const struct skeleton *s, uint32_t op)
{
	const struct op *o = &s->job->ops[op];

	return (double)(o->end_ns - s->job->meetings[o->meeting].last_ns);
}

static uint32_t place_of(const struct lanes *l, uint32_t op)
{
	return op == NONE ? NONE : l->place_of[l->s->job->ops[op].meeting];
}

static struct bundle *find_bundle(struct lanes *l, struct place *p,
				  const struct step *step)
{
	struct bundle like = { .gate = place_of(l, step->gate),
			       .first_rank = NONE,
			       .first_ns = -INFINITY,
			       .second_ns = -INFINITY };

	for (size_t k = 0; k < PF_BEHIND; k++) {
		like.behind[k] = place_of(l, step->behind[k]);
		like.behind_ns[k] = -INFINITY;
	}
	/* neighbours are alike, so the newest is looked at first */
	for (size_t i = l->bundle_count; i-- > p->bundle_from;)
		if (l->bundles[i].gate == like.gate &&
		    !memcmp(l->bundles[i].behind, like.behind,
			    sizeof(like.behind)))
			return &l->bundles[i];
	l->bundles[l->bundle_count] = like;
	return &l->bundles[l->bundle_count++];
}

static void put(struct lanes *l, struct place *p, uint32_t op)
{
	const struct skeleton *s = l->s;
	const struct step *step = &s->steps[op];
	uint32_t rank = pf_ranks_of(s->job, op);
	struct bundle *b = find_bundle(l, p, step);
	double from = step->gate == NONE ? s->start_ns[rank]
					 : after_last(s, step->gate);
	double rest = (double)step->rest_ns;
	double gap = from + (double)step->gap_ns + rest;
	double own =
		step->is_own ? gap : from + s->median_ns[step->role] + rest;

	if (gap > b->first_ns) {
		b->second_ns = b->first_ns;
		b->first_ns = gap;
		b->first_rank = rank;
	} else if (gap > b->second_ns) {
		b->second_ns = gap;
	}
	for (size_t k = 0; k < PF_BEHIND; k++)
		if (step->behind[k] != NONE)
			b->behind_ns[k] =
				fmax(b->behind_ns[k],
				     after_last(s, step->behind[k]) + rest);
	l->alone[l->alone_count++] = (struct alone){
		.rank = rank,
		.bundle = (uint32_t)(b - l->bundles),
		.gap_ns = gap,
		.own_ns = own,
	};
}

PF_ORDER(by_rank, struct alone, PF_UP(rank))

static void put_meeting(struct lanes *l, const struct meeting *m)
{
	const struct pf_ranks_job *job = l->s->job;
	struct place *p = &l->places[l->place_count++];

	*p = (struct place){ .bundle_from = (uint32_t)l->bundle_count,
			     .alone_from = (uint32_t)l->alone_count,
			     .next = (uint32_t)l->alone_count,
			     .last_ns = (double)m->last_ns,
			     .after_ns = -INFINITY };
	for (uint32_t k = 0; k < m->count; k++) {
		uint32_t op = job->parts[m->from + k];

		put(l, p, op);
		p->after_ns = fmax(p->after_ns, after_last(l->s, op));
	}
	p->bundle_to = (uint32_t)l->bundle_count;
	p->alone_to = (uint32_t)l->alone_count;
	pf_sort(&l->alone[p->alone_from], m->count, sizeof(*l->alone), by_rank);
}

static void set_up(struct lanes *l)
{
	const struct pf_ranks_job *job = l->s->job;
	size_t count = 0, parts = 0;

	l->place_of = pf_calloc(job->meeting_count + 1, sizeof(*l->place_of));
	for (uint32_t i = 0; i < job->meeting_count; i++) {
		const struct meeting *m = &job->meetings[job->sorted[i]];

		l->place_of[job->sorted[i]] =
			m->is_replayed ? (uint32_t)count : NONE;
		count += m->is_replayed;
		parts += m->is_replayed ? m->count : 0;
	}
	l->places = pf_calloc(count + 1, sizeof(*l->places));
	l->bundles = pf_calloc(parts + 1, sizeof(*l->bundles));
	l->alone = pf_calloc(parts + 1, sizeof(*l->alone));
	for (uint32_t i = 0; i < job->meeting_count; i++)
		if (job->meetings[job->sorted[i]].is_replayed)
			put_meeting(l, &job->meetings[job->sorted[i]]);
}

/* ---- lanes ---- */

/* to[i] = max(to[i], from[i] + ns) */
static void later(double *restrict to, const double *restrict from, double ns)
{
	for (size_t i = 0; i < LANES; i++) {
		double at = from[i] + ns;

		to[i] = to[i] > at ? to[i] : at;
	}
}

static const double none[LANES]; /* a start that is no meeting's */

static const double *lanes_of(const struct lanes *l, uint32_t place)
{
	return place == NONE ? none : &l->last_ns[(size_t)place * LANES];
}

/* When the last of a bundle starts in a lane, with so long from its gate. */
static double start_of(const struct lanes *l, const struct bundle *b,
		       double gap_ns, size_t lane)
{
	double at = lanes_of(l, b->gate)[lane] + gap_ns;

	for (size_t k = 0; k < PF_BEHIND; k++)
		at = fmax(at,
			  lanes_of(l, b->behind[k])[lane] + b->behind_ns[k]);
	return at;
}

/* The lane of a rank that is in the meeting. */
static double start_alone(const struct lanes *l, const struct place *p,
			  const struct alone *a, size_t lane)
{
	double last = -INFINITY;

	for (uint32_t i = p->bundle_from; i < p->bundle_to; i++) {
		const struct bundle *b = &l->bundles[i];
		double gap = b->first_ns;

		if (i == a->bundle) {
			gap = b->first_rank == a->rank ? b->second_ns : gap;
			gap = fmax(gap, a->own_ns);
		}
		last = fmax(last, start_of(l, b, gap, lane));
	}
	return last;
}

static void replay_place(struct lanes *l, struct place *p, uint32_t rank)
{
	double *last = &l->last_ns[(size_t)(p - l->places) * LANES];

	for (size_t i = 0; i < LANES; i++)
		last[i] = -INFINITY;
	for (uint32_t i = p->bundle_from; i < p->bundle_to; i++) {
		const struct bundle *b = &l->bundles[i];

		later(last, lanes_of(l, b->gate), b->first_ns);
		for (size_t k = 0; k < PF_BEHIND; k++)
			if (b->behind[k] != NONE)
				later(last, lanes_of(l, b->behind[k]),
				      b->behind_ns[k]);
	}
	for (; p->next < p->alone_to; p->next++) {
		const struct alone *a = &l->alone[p->next];

		if (a->rank >= rank + LANES)
			break;
		last[a->rank - rank] = start_alone(l, p, a, a->rank - rank);
	}
}

/* Ranks from this one on, as many as there are lanes. */
static void replay_lanes(struct lanes *l, uint32_t rank, double end[LANES])
{
	for (size_t i = 0; i < l->place_count; i++)
		for (size_t k = 0; k < LANES; k++)
			l->last_ns[i * LANES + k] = l->places[i].last_ns;
	for (size_t k = 0; k < LANES; k++)
		end[k] = -INFINITY;
	for (size_t i = 0; i < l->place_count; i++) {
		const double *last = &l->last_ns[i * LANES];
		double after = l->places[i].after_ns;

		replay_place(l, &l->places[i], rank);
		for (size_t k = 0; k < LANES; k++)
			end[k] = end[k] > last[k] + after ? end[k]
							  : last[k] + after;
	}
}

static void replay_all(struct lanes *l, double *length)
{
	size_t count = l->s->job->rank_count;
	double first = INFINITY;

	for (size_t r = 0; r < count; r++)
		first = fmin(first, l->s->start_ns[r]);
	l->last_ns = pf_calloc(l->place_count * LANES + 1, sizeof(double));
	for (size_t r = 0; r < count; r += LANES) {
		double end[LANES];

		replay_lanes(l, (uint32_t)r, end);
		for (size_t k = 0; k < LANES && r + k < count; k++)
			length[r + k] = end[k] - first;
	}
}

bool pf_skeleton_alone(const struct skeleton *s, double *length)
{
	struct lanes l = { .s = s };
	bool is_done;

	set_up(&l);
	is_done = (uint64_t)l.bundle_count * s->job->rank_count <= WORK_MAX;
	if (is_done)
		replay_all(&l, length);
	free(l.place_of);
	free(l.places);
	free(l.bundles);
	free(l.alone);
	free(l.last_ns);
	return is_done;
}
