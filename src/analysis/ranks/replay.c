/* SPDX-License-Identifier: MIT */
/*
 * What gaps between collectives cost.  Each collective was launched, so it
 * could start, once its gate had ended (the collective whose end the
 * computation before it waited for) and a gap had passed; it stood behind the
 * one before on its stream, and ended on all ranks when the last had come and
 * the data were through.  Replayed with the gaps that were measured this gives
 * the measured times, exactly; with other gaps, those of another job.
 *
 * A role is a place on a stream, counted from the end of the captures, the same
 * on all ranks: its gap is compared with the median of the ranks, and its gate
 * is the one that most ranks show.  Where a rank's capture began after that,
 * its gap is its own.  What has no gate has its gap from the first start of
 * all on its clock, so that a rank may be late from the start.
 *
 * A start that gap and stream do not explain may follow the end of a third
 * collective, as the stream of computation hands on what it waited for.  Ranks
 * that wait for a straggler do not show it: their streams are full.  So what
 * one rank shows of a role holds for the others, unless one of them started
 * before such an end.
 */
#include "config.h"

#include <math.h>

#include "analysis/ranks/impl.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/search.h"
#include "events/ask.h"

/* What a replay of a job goes by, and all ranks alone at once. */

#define PF_BEHIND 2

/* How a collective came to start when it did. */
struct step {
	uint32_t gate; /* a collective, or NONE, as these: */
	/* the one before it on its stream, and another that it waits for */
	uint32_t behind[PF_BEHIND];
	uint32_t role;
	bool is_own; /* its gate is not in the capture */
	int64_t gap_ns, rest_ns;
};

struct skeleton {
	struct pf_ranks_job *job;
	struct pf_arena memory;
	struct step *steps; /* as the collectives */
	uint32_t role_count;
	uint32_t *at;      /* collective of a rank in a role, or NONE */
	uint32_t *gates;   /* role of the gate of a role, or NONE */
	double *median_ns; /* of the gaps of a role */
	double *start_ns;  /* of ranks: the first start on their clock */
	double *end_ns;    /* of collectives, replayed */
};

#define REST_NS   5000  /* of a start that gap and stream do not explain */
#define BEHIND_NS 10000 /* after the end of what it stood behind */
#define LEAST     0.99  /* of a slowdown; below, the model does not hold */
#define RANKS_MAX 16    /* that are replayed alone where all are too much */

static bool is_met(const struct skeleton *s, uint32_t op)
{
	uint32_t meeting = s->job->ops[op].meeting;

	return meeting != NONE && s->job->meetings[meeting].is_replayed;
}

/* Captures may begin and end at different times: what is in all of them. */
static void choose(struct pf_ranks_job *job)
{
	int64_t from = INT64_MIN, to = INT64_MAX;

	for (size_t r = 0; r < job->rank_count; r++) {
		const struct rank *rank = &job->ranks[r];
		int64_t start = pf_ranks_time(job, rank, rank->start_ns);
		int64_t end = pf_ranks_time(job, rank, rank->end_ns);

		if (!rank->count)
			continue;
		from = start > from ? start : from;
		to = end < to ? end : to;
	}
	for (uint32_t i = 0; i < job->meeting_count; i++) {
		struct meeting *m = &job->meetings[i];

		m->is_replayed = m->first_ns >= from && m->last_ns < to;
	}
}

/* ---- roles ---- */

static void find_roles(struct skeleton *s)
{
	struct pf_ranks_job *job = s->job;
	PF_AUTO(pf_map_release) struct pf_map roles = { 0 };

	for (size_t r = 0; r < job->rank_count; r++) {
		PF_AUTO(pf_map_release) struct pf_map numbers = { 0 };

		for (uint32_t i = job->ranks[r].count; i-- > 0;) {
			uint32_t op = job->ranks[r].from + i;
			uint64_t stream = (uint64_t)job->ops[op].stream;
			uint64_t *n, *role;

			if (!is_met(s, op))
				continue;
			n = pf_map_at(&numbers, stream);
			*n = *n == UINT64_MAX ? 0 : *n + 1;
			role = pf_map_at(&roles, stream << 32 | *n);
			if (*role == UINT64_MAX)
				*role = s->role_count++;
			s->steps[op].role = (uint32_t)*role;
		}
	}
}

static uint32_t *place_of(const struct skeleton *s, size_t rank, uint32_t role)
{
	return &s->at[rank * s->role_count + role];
}

static void place_roles(struct skeleton *s)
{
	struct pf_ranks_job *job = s->job;
	size_t places = job->rank_count * s->role_count;

	s->at = pf_arena_calloc(&s->memory, places, sizeof(*s->at));
	memset(s->at, 0xff, places * sizeof(*s->at));
	for (uint32_t op = 0; op < job->op_count; op++)
		if (is_met(s, op))
			*place_of(s, job->ops[op].rank, s->steps[op].role) = op;
}

/* ---- gates ---- */

struct ended {
	int64_t end_ns;
	uint32_t op;
};

/* The last of those in order of their ends that ended by then, or NONE. */
static uint32_t last_by(const struct ended *e, size_t count, int64_t ns)
{
	size_t after = PF_SEARCH(i, count, e[i].end_ns <= ns);

	return after ? e[after - 1].op : NONE;
}

static void put_ended(struct ended *e, size_t *count, struct ended one)
{
	size_t i = (*count)++;

	for (; i && e[i - 1].end_ns > one.end_ns; i--)
		e[i] = e[i - 1];
	e[i] = one;
}

/* Votes for the gate of a role, the first of as many wins. */
struct vote {
	uint32_t role, gate;
	uint32_t count;
};

static void vote(struct pf_keyed *votes, uint32_t role, uint32_t gate)
{
	size_t n = pf_keyed_at(votes, (uint64_t)role << 32 | gate);
	struct vote *v = PF_KEYED_ROW(votes, struct vote, n);

	v->role = role;
	v->gate = gate;
	v->count++;
}

/* The gate, or what else, that most voted for; "out" of roles. */
static void count_votes(struct skeleton *s, struct pf_keyed *votes,
			uint32_t *out)
{
	uint32_t *most =
		pf_arena_calloc(&s->memory, s->role_count, sizeof(*most));

	for (size_t i = 0; i < votes->count; i++) {
		const struct vote *v = PF_KEYED_ROW(votes, struct vote, i);

		if (v->count <= most[v->role])
			continue;
		most[v->role] = v->count;
		out[v->role] = v->gate;
	}
	pf_keyed_end(votes);
}

static void find_gates(struct skeleton *s)
{
	struct pf_ranks_job *job = s->job;
	struct ended *open =
		pf_arena_calloc(&s->memory, job->op_count, sizeof(*open));
	struct pf_keyed votes;

	pf_keyed_begin(&votes, sizeof(struct vote), PF_KEYED_SUMS);
	for (size_t r = 0; r < job->rank_count; r++) {
		size_t count = 0;

		for (uint32_t i = 0; i < job->ranks[r].count; i++) {
			uint32_t op = job->ranks[r].from + i, gate;

			if (!is_met(s, op))
				continue;
			gate = last_by(open, count, job->ops[op].ready_ns);
			vote(&votes, s->steps[op].role,
			     gate == NONE ? NONE : s->steps[gate].role);
			if (job->ops[op].gates)
				put_ended(open, &count,
					  (struct ended){ job->ops[op].end_ns,
							  op });
		}
	}
	count_votes(s, &votes, s->gates);
}

/* ---- gaps ---- */

/* The one of the same rank before it on its stream. */
static uint32_t find_behind(const struct skeleton *s, uint32_t op,
			    struct pf_map *streams)
{
	uint64_t *place = pf_map_at(streams, (uint64_t)s->job->ops[op].stream);
	uint32_t before = *place == UINT64_MAX ? NONE : (uint32_t)*place;

	*place = op;
	return before;
}

PF_ORDER(by_end, struct ended, PF_UP(end_ns) PF_UP(op))

static bool has_gates(const struct skeleton *s)
{
	for (uint32_t i = 0; i < s->role_count; i++)
		if (s->gates[i] != NONE)
			return true;
	return false;
}

/*
 * The first start of all ranks on each clock.  Where no computation waits for
 * a collective nothing tells what starts wait for: a rank that begins later
 * than others is as it is.
 */
static void find_starts(struct skeleton *s)
{
	const struct pf_ranks_job *job = s->job;
	double *first =
		pf_arena_calloc(&s->memory, job->rank_count, sizeof(*first));
	bool is_one = has_gates(s);

	for (size_t r = 0; r < job->rank_count; r++)
		first[r] = INFINITY;
	for (uint32_t op = 0; op < job->op_count; op++) {
		uint32_t r = job->ops[op].rank;
		double *at = &first[is_one ? job->ranks[r].reference : r];

		if (is_met(s, op))
			*at = fmin(*at, (double)job->ops[op].start_ns);
	}
	for (size_t r = 0; r < job->rank_count; r++)
		s->start_ns[r] = first[is_one ? job->ranks[r].reference : r];
}

/* What is left of a start once all that it waited for is there. */
static void take_rest(const struct pf_ranks_job *job, struct step *step,
		      const struct op *o)
{
	int64_t could_ns = o->ready_ns;

	for (size_t i = 0; i < PF_BEHIND; i++)
		if (step->behind[i] != NONE &&
		    job->ops[step->behind[i]].end_ns > could_ns)
			could_ns = job->ops[step->behind[i]].end_ns;
	step->rest_ns = o->start_ns - could_ns;
}

static void take_gap(struct skeleton *s, size_t r, uint32_t op, uint32_t before,
		     const struct ended *ended, size_t count)
{
	const struct op *ops = s->job->ops, *o = &ops[op];
	struct step *step = &s->steps[op];
	uint32_t gate = s->gates[step->role], other;

	step->gate = gate == NONE ? NONE : *place_of(s, r, gate);
	step->is_own = gate != NONE && step->gate == NONE;
	step->gap_ns =
		o->ready_ns - (step->gate == NONE ? (int64_t)s->start_ns[r]
						  : ops[step->gate].end_ns);
	step->behind[0] = before;
	step->behind[1] = NONE;
	take_rest(s->job, step, o);
	if (step->rest_ns <= REST_NS)
		return;
	other = last_by(ended, count, o->start_ns);
	if (other == NONE || other == op ||
	    o->start_ns - ops[other].end_ns > BEHIND_NS)
		return;
	step->behind[1] = other;
	take_rest(s->job, step, o);
}

static void take_gaps(struct skeleton *s)
{
	struct pf_ranks_job *job = s->job;
	struct ended *ended =
		pf_arena_calloc(&s->memory, job->op_count, sizeof(*ended));

	for (size_t r = 0; r < job->rank_count; r++) {
		PF_AUTO(pf_map_release) struct pf_map streams = { 0 };
		size_t count = 0;

		for (uint32_t i = 0; i < job->ranks[r].count; i++) {
			uint32_t op = job->ranks[r].from + i;

			if (is_met(s, op))
				ended[count++] =
					(struct ended){ job->ops[op].end_ns,
							op };
		}
		pf_sort(ended, count, sizeof(*ended), by_end);
		for (uint32_t i = 0; i < job->ranks[r].count; i++) {
			uint32_t op = job->ranks[r].from + i;

			if (is_met(s, op))
				take_gap(s, r, op, find_behind(s, op, &streams),
					 ended, count);
		}
	}
}

/* ---- what ranks do not show ---- */

/* Of each role, that of what it waits for beside its gate and its stream. */
static void find_others(struct skeleton *s, uint32_t *others)
{
	struct pf_keyed votes;

	pf_keyed_begin(&votes, sizeof(struct vote), PF_KEYED_SUMS);
	for (uint32_t i = 0; i < s->job->op_count; i++)
		if (is_met(s, i) && s->steps[i].behind[1] != NONE)
			vote(&votes, s->steps[i].role,
			     s->steps[s->steps[i].behind[1]].role);
	count_votes(s, &votes, others);
}

/* The collective that a rank's would then wait for, or NONE. */
static uint32_t other_of(const struct skeleton *s, uint32_t op,
			 const uint32_t *others)
{
	uint32_t role = others[s->steps[op].role];

	return role == NONE ? NONE : *place_of(s, s->job->ops[op].rank, role);
}

/* A rank that started before such an end did not wait for it. */
static void drop_others(const struct skeleton *s, uint32_t *others)
{
	const struct op *ops = s->job->ops;

	for (uint32_t op = 0; op < s->job->op_count; op++) {
		uint32_t other = is_met(s, op) ? other_of(s, op, others) : NONE;

		if (other != NONE && ops[other].end_ns > ops[op].start_ns)
			others[s->steps[op].role] = NONE;
	}
}

static void share_others(struct skeleton *s)
{
	const struct pf_ranks_job *job = s->job;
	uint32_t *others =
		pf_arena_calloc(&s->memory, s->role_count, sizeof(*others));

	memset(others, 0xff, s->role_count * sizeof(*others));
	find_others(s, others);
	drop_others(s, others);
	for (uint32_t op = 0; op < job->op_count; op++) {
		struct step *step = &s->steps[op];

		if (!is_met(s, op) || step->behind[1] != NONE)
			continue;
		step->behind[1] = other_of(s, op, others);
		take_rest(job, step, &job->ops[op]);
	}
}

static void find_medians(struct skeleton *s)
{
	struct pf_ranks_job *job = s->job;
	double *gaps =
		pf_arena_calloc(&s->memory, job->rank_count, sizeof(*gaps));

	for (uint32_t role = 0; role < s->role_count; role++) {
		size_t count = 0;

		for (size_t r = 0; r < job->rank_count; r++) {
			uint32_t op = *place_of(s, r, role);

			if (op != NONE && !s->steps[op].is_own)
				gaps[count++] = (double)s->steps[op].gap_ns;
		}
		s->median_ns[role] = pf_ranks_median(gaps, count);
	}
}

/* ---- replay ---- */

enum { NOBODY = -1, EVERYBODY = -2 };

/* The length of the job where one rank, or everybody, takes median gaps. */
static double replay(struct skeleton *s, int64_t repaired)
{
	struct pf_ranks_job *job = s->job;
	double first = INFINITY, end = -INFINITY;

	for (size_t r = 0; r < job->rank_count; r++)
		first = fmin(first, s->start_ns[r]);
	for (uint32_t i = 0; i < job->op_count; i++)
		s->end_ns[i] = (double)job->ops[i].end_ns;
	for (uint32_t i = 0; i < job->meeting_count; i++) {
		const struct meeting *m = &job->meetings[job->sorted[i]];
		double last = -INFINITY;

		if (!m->is_replayed)
			continue;
		for (uint32_t k = 0; k < m->count; k++) {
			uint32_t op = job->parts[m->from + k];
			const struct step *step = &s->steps[op];
			uint32_t r = job->ops[op].rank;
			bool is_median =
				repaired == EVERYBODY || repaired == (int64_t)r;
			double at = step->gate == NONE ? s->start_ns[r]
						       : s->end_ns[step->gate];

			at += is_median && !step->is_own
				      ? s->median_ns[step->role]
				      : (double)step->gap_ns;
			for (size_t b = 0; b < PF_BEHIND; b++)
				if (step->behind[b] != NONE)
					at = fmax(at,
						  s->end_ns[step->behind[b]]);
			last = fmax(last, at + (double)step->rest_ns);
		}
		for (uint32_t k = 0; k < m->count; k++) {
			uint32_t op = job->parts[m->from + k];

			s->end_ns[op] = last + (double)(job->ops[op].end_ns -
							m->last_ns);
			end = fmax(end, s->end_ns[op]);
		}
	}
	return end - first;
}

PF_ORDER(by_root, struct pf_ranks_rank, PF_DOWN(root_ns) PF_UP(rank))

PF_ORDER(by_cost, struct pf_ranks_rank, PF_DOWN(saved_ns) PF_THEN(by_root))

static int by_root_at(const void *a, const void *b)
{
	return by_root(*(void *const *)a, *(void *const *)b);
}

/* What each rank alone costs; of very many, those that others wait for. */
static void replay_each(struct skeleton *s, const struct pf_ranks *out,
			double *length)
{
	size_t count = out->rank_count;
	const struct pf_ranks_rank **ranks =
		pf_arena_calloc(&s->memory, count, sizeof(*ranks));

	for (size_t i = 0; i < count; i++)
		ranks[i] = &out->ranks[i];
	pf_sort(ranks, count, sizeof(*ranks), by_root_at);
	if (!s->job->args.is_plain && count > RANKS_MAX)
		count = RANKS_MAX;
	for (size_t i = 0; i < count; i++)
		length[ranks[i] - out->ranks] =
			replay(s, ranks[i] - out->ranks);
}

static void name_straggler(struct pf_ranks *out)
{
	const struct pf_ranks_rank *most = NULL;

	for (size_t i = 0; i < out->rank_count; i++) {
		const struct pf_ranks_rank *r = &out->ranks[i];

		/* what is not worked out is below 0, too */
		if (r->saved_ns > 0 && (!most || by_cost(r, most) < 0))
			most = r;
	}
	if (most && out->slowdown >= PF_RANKS_EVEN)
		out->straggler = most - out->ranks;
}

static bool replay_alone(struct skeleton *s, double *length);

static void replay_ranks(struct skeleton *s, struct pf_ranks *out)
{
	double *length =
		pf_arena_calloc(&s->memory, out->rank_count, sizeof(*length));

	for (size_t i = 0; i < out->rank_count; i++)
		length[i] = NAN;
	if (s->job->args.is_plain || !replay_alone(s, length))
		replay_each(s, out, length);
	for (size_t i = 0; i < out->rank_count; i++)
		if (!isnan(length[i]))
			out->ranks[i].saved_ns =
				out->total_ns - llround(length[i]);
	name_straggler(out);
}

void pf_ranks_replay(struct pf_ranks_job *job, struct pf_ranks *out)
{
	struct skeleton s = { .job = job };
	double total, ideal;

	choose(job);
	s.steps = pf_arena_calloc(&s.memory, job->op_count, sizeof(*s.steps));
	find_roles(&s);
	place_roles(&s);
	s.gates = pf_arena_calloc(&s.memory, s.role_count, sizeof(*s.gates));
	s.median_ns =
		pf_arena_calloc(&s.memory, s.role_count, sizeof(*s.median_ns));
	s.start_ns = pf_arena_calloc(&s.memory, job->rank_count,
				     sizeof(*s.start_ns));
	s.end_ns = pf_arena_calloc(&s.memory, job->op_count, sizeof(*s.end_ns));
	find_gates(&s);
	find_starts(&s);
	take_gaps(&s);
	share_others(&s);
	find_medians(&s);
	total = replay(&s, NOBODY);
	ideal = replay(&s, EVERYBODY);
	if (ideal > 0 && isfinite(total) && total >= LEAST * ideal) {
		out->total_ns = llround(total);
		out->ideal_ns = llround(ideal);
		out->slowdown = total / ideal;
		replay_ranks(&s, out);
	}
	pf_arena_release(&s.memory);
}

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
	struct skeleton *s;
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

static uint32_t number_of(const struct lanes *l, uint32_t op)
{
	return op == NONE ? NONE : l->place_of[l->s->job->ops[op].meeting];
}

static struct bundle *find_bundle(struct lanes *l, struct place *p,
				  const struct step *step)
{
	struct bundle like = { .gate = number_of(l, step->gate),
			       .first_rank = NONE,
			       .first_ns = -INFINITY,
			       .second_ns = -INFINITY };

	for (size_t k = 0; k < PF_BEHIND; k++) {
		like.behind[k] = number_of(l, step->behind[k]);
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
	uint32_t rank = s->job->ops[op].rank;
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

	l->place_of = pf_arena_calloc(&l->s->memory, job->meeting_count,
				      sizeof(*l->place_of));
	for (uint32_t i = 0; i < job->meeting_count; i++) {
		const struct meeting *m = &job->meetings[job->sorted[i]];

		l->place_of[job->sorted[i]] =
			m->is_replayed ? (uint32_t)count : NONE;
		count += m->is_replayed;
		parts += m->is_replayed ? m->count : 0;
	}
	l->places = pf_arena_calloc(&l->s->memory, count, sizeof(*l->places));
	l->bundles = pf_arena_calloc(&l->s->memory, parts, sizeof(*l->bundles));
	l->alone = pf_arena_calloc(&l->s->memory, parts, sizeof(*l->alone));
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
	l->last_ns = pf_arena_calloc(&l->s->memory, l->place_count * LANES,
				     sizeof(*l->last_ns));
	for (size_t r = 0; r < count; r += LANES) {
		double end[LANES];

		replay_lanes(l, (uint32_t)r, end);
		for (size_t k = 0; k < LANES && r + k < count; k++)
			length[r + k] = end[k] - first;
	}
}

/*
 * The length of the job where each rank alone takes median gaps, exactly as
 * replaying it for each of them would have it.  False, and nothing is written:
 * that is too much work.
 */
static bool replay_alone(struct skeleton *s, double *length)
{
	struct lanes l = { .s = s };

	set_up(&l);
	if ((uint64_t)l.bundle_count * s->job->rank_count > WORK_MAX)
		return false;
	replay_all(&l, length);
	return true;
}
