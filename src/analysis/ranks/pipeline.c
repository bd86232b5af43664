/* SPDX-License-Identifier: MIT */
/* Waits in receives, and bubbles by rank and by stage. */
#include "config.h"

#include <inttypes.h>
#include <math.h>

#include "analysis/ranks/impl.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/sat.h"
#include "base/search.h"
#include "show/doc.h"

/*
 * Sends and receives of ranks that are on one clock, and the bubbles of
 * pipelines (analysis/ranks/ranks.h says what these are).
 */

/* A kernel of sends and receives. */
struct p2p {
	uint32_t rank;            /* an index */
	int64_t start_ns, end_ns; /* aligned */
	/* The others had begun, so that it could move; if is_known. */
	int64_t begun_ns;
	uint32_t message_from, message_count;
	uint32_t quiet_from, quiet_count;
	bool sends, receives;
	bool is_known; /* all its messages met theirs */
	bool is_whole; /* and none of its quiet time is left out */
};

struct message {
	uint32_t p2p, group;
	uint32_t from_rank, to_rank; /* numbers of ranks, not indexes */
	int64_t bytes;
	uint32_t other; /* kernel on the other rank, or NONE */
	bool is_receive;
};

/* A time without computation, aligned. */
struct quiet {
	int64_t from_ns, to_ns;
};

struct pipe_step {
	uint32_t rank;
	int64_t step, start_ns, end_ns, computation_ns;
};

struct pipeline {
	struct pf_ranks_job *job;
	struct pf_arena memory;
	struct p2p *p2ps; /* by rank, then start */
	struct message *messages;
	struct quiet *quiets;
	struct pipe_step *steps;
	size_t p2p_count, message_count, quiet_count, step_count;
	size_t p2p_cap, message_cap, quiet_cap, step_cap;
	uint32_t *p2p_from, *step_from; /* of each rank, and the end */
	uint32_t *parent;               /* ranks that messages join */
	/* of each rank */
	int64_t *stage;       /* or PF_NO_INT */
	int64_t *stage_count; /* of its pipeline */
	bool *is_ring;
	bool *is_across; /* meetings of several stages */
};

/*
 * The n-th send from one rank to another in a process group meets the n-th
 * receive of it there; where there are more of one, they are matched from the
 * end of the captures, as collectives are.
 */

static void *pipeline_calloc(struct pipeline *p, size_t count, size_t bytes)
{
	return pf_arena_calloc(&p->memory, count, bytes);
}

/* ---- out of digests ---- */

/* The index of a rank by its number, or NONE. */
static uint32_t pipeline_rank(const struct pf_ranks_job *job, int64_t rank)
{
	size_t at = PF_SEARCH(i, job->rank_count, job->ranks[i].rank < rank);

	return at < job->rank_count && job->ranks[at].rank == rank
		       ? (uint32_t)at
		       : NONE;
}

static void load_message(struct pipeline *p, uint32_t rank, uint32_t group,
			 const struct pf_digest_message *from)
{
	uint32_t peer = pipeline_rank(p->job, from->peer);

	*PF_ONE_MORE(p->messages, p->message_count, p->message_cap) =
		(struct message){
			.p2p = (uint32_t)p->p2p_count,
			.group = group,
			.from_rank = from->is_receive ? peer : rank,
			.to_rank = from->is_receive ? rank : peer,
			.bytes = from->bytes,
			.other = NONE,
			.is_receive = from->is_receive,
		};
}

static void load_p2p(struct pipeline *p, uint32_t rank,
		     const struct pf_digest *d, const uint32_t *groups,
		     const struct pf_digest_p2p *from)
{
	const struct rank *r = &p->job->ranks[rank];
	struct p2p one = {
		.rank = rank,
		.start_ns = pf_ranks_time(p->job, r, from->start_ns),
		.end_ns = pf_ranks_time(p->job, r, from->end_ns),
		.message_from = (uint32_t)p->message_count,
		.message_count = (uint32_t)from->message_count,
		.quiet_from = (uint32_t)p->quiet_count,
		.quiet_count = (uint32_t)from->quiet_count,
		.is_whole = !from->unsplit_ns,
	};

	for (size_t i = 0; i < from->message_count; i++) {
		const struct pf_digest_message *m =
			&d->messages[from->message_from + i];

		one.sends |= !m->is_receive;
		one.receives |= m->is_receive;
		load_message(p, rank, groups[m->group], m);
	}
	for (size_t i = 0; i < from->quiet_count; i++) {
		const struct pf_digest_piece *q =
			&d->quiets[from->quiet_from + i];
		int64_t at = pf_sat_add(one.start_ns, q->after_ns);

		*PF_ONE_MORE(p->quiets, p->quiet_count, p->quiet_cap) =
			(struct quiet){ at, pf_sat_add(at, q->ns) };
	}
	*PF_ONE_MORE(p->p2ps, p->p2p_count, p->p2p_cap) = one;
}

static void load_steps(struct pipeline *p, uint32_t rank,
		       const struct pf_digest *d)
{
	const struct rank *r = &p->job->ranks[rank];

	for (size_t i = 0; i < d->step_count; i++) {
		const struct pf_digest_step *s = &d->steps[i];
		struct pipe_step one = {
			.rank = rank,
			.step = s->step,
			.start_ns = pf_ranks_time(p->job, r, s->start_ns),
			.end_ns = pf_ranks_time(p->job, r, s->end_ns),
			.computation_ns = s->ns[PF_DOING_COMPUTATION],
		};

		*PF_ONE_MORE(p->steps, p->step_count, p->step_cap) = one;
	}
}

static void load_rank(struct pipeline *p, uint32_t rank)
{
	struct pf_digest d;
	uint32_t *groups;

	if (!open_digest(p->job, rank, &d))
		return;
	groups = pipeline_calloc(p, d.group_count, sizeof(*groups));
	for (size_t i = 0; i < d.group_count; i++)
		groups[i] = pf_intern_add(&p->job->groups, d.groups[i],
					  strlen(d.groups[i]));
	for (size_t i = 0; i < d.p2p_count; i++)
		load_p2p(p, rank, &d, groups, &d.p2ps[i]);
	load_steps(p, rank, &d);
	pf_digest_release(&d);
}

static void pipeline_load(struct pipeline *p)
{
	size_t count = p->job->rank_count;

	p->p2p_from = pipeline_calloc(p, count + 1, sizeof(*p->p2p_from));
	p->step_from = pipeline_calloc(p, count + 1, sizeof(*p->step_from));
	for (size_t r = 0; r < count; r++) {
		if (p->job->ranks[r].has_p2p)
			load_rank(p, (uint32_t)r);
		p->p2p_from[r + 1] = (uint32_t)p->p2p_count;
		p->step_from[r + 1] = (uint32_t)p->step_count;
	}
}

/* ---- matches ---- */

/* In an order in which what meets lies in two runs, one after the other. */
struct place {
	const struct message *m;
	uint32_t index;
};

PF_ORDER(by_way, struct place,
	 PF_UP(m->group) PF_UP(m->from_rank) PF_UP(m->to_rank))

PF_ORDER(by_place, struct place,
	 PF_THEN(by_way) PF_UP(m->is_receive) PF_UP(index))

static bool is_alike(const struct message *x, const struct message *y)
{
	return x->bytes == y->bytes || x->bytes < 0 || y->bytes < 0;
}

static bool is_comparable(const struct pipeline *p, const struct message *m)
{
	return m->from_rank != NONE && m->to_rank != NONE &&
	       p->job->ranks[m->from_rank].reference ==
		       p->job->ranks[m->to_rank].reference;
}

/* Sends first, then receives. */
static void match_run(struct pipeline *p, const struct place *at, size_t sends,
		      size_t count)
{
	size_t receives = count - sends;
	size_t least = sends < receives ? sends : receives, alike = 0;

	if (!least || !is_comparable(p, at->m))
		return;
	while (alike < least &&
	       is_alike(at[sends - 1 - alike].m, at[count - 1 - alike].m))
		alike++;
	if (sends == receives && alike < least)
		return;
	for (size_t i = 1; i <= alike; i++) {
		struct message *x = &p->messages[at[sends - i].index];
		struct message *y = &p->messages[at[count - i].index];

		x->other = y->p2p;
		y->other = x->p2p;
	}
}

/* A kernel moves once all that it receives is sent, or what it sends wanted. */
static void find_begun(struct pipeline *p, struct p2p *one)
{
	one->begun_ns = INT64_MIN;
	one->is_known = one->message_count > 0;
	for (uint32_t i = 0; i < one->message_count; i++) {
		const struct message *m = &p->messages[one->message_from + i];

		if (m->other == NONE) {
			one->is_known = false;
			return;
		}
		if (m->is_receive == one->receives &&
		    p->p2ps[m->other].start_ns > one->begun_ns)
			one->begun_ns = p->p2ps[m->other].start_ns;
	}
}

/* The other ends of messages, and when each kernel could move. */
static void pipeline_match(struct pipeline *p)
{
	struct place *at = pipeline_calloc(p, p->message_count, sizeof(*at));

	for (size_t i = 0; i < p->message_count; i++)
		at[i] = (struct place){ &p->messages[i], (uint32_t)i };
	pf_sort(at, p->message_count, sizeof(*at), by_place);
	for (size_t from = 0, to; from < p->message_count; from = to) {
		size_t sends = 0;

		for (to = from;
		     to < p->message_count && !by_way(&at[from], &at[to]); to++)
			sends += !at[to].m->is_receive;
		match_run(p, at + from, sends, to - from);
	}
	for (size_t i = 0; i < p->p2p_count; i++)
		find_begun(p, &p->p2ps[i]);
}

/* ---- stages ---- */

/*
 * A message is of a chain if it joins neighbours by rank, of a ring if it joins
 * the first and the last; any other, or one with a rank that is not there, and
 * there are no stages.
 */
static void check_messages(struct pipeline *p, const uint32_t *place,
			   const uint32_t *size, bool *is_none)
{
	for (size_t i = 0; i < p->message_count; i++) {
		const struct message *m = &p->messages[i];
		uint32_t low, high, root;

		if (m->from_rank == NONE || m->to_rank == NONE) {
			is_none[root_of(p->parent, p->p2ps[m->p2p].rank)] =
				true;
			continue;
		}
		root = root_of(p->parent, m->from_rank);
		low = place[m->from_rank];
		high = place[m->to_rank];
		if (low > high) {
			uint32_t swap = low;

			low = high;
			high = swap;
		}
		if (high - low == 1)
			continue;
		if (low == 0 && high == size[root] - 1)
			p->is_ring[root] = true;
		else
			is_none[root] = true;
	}
}

/*
 * What flows begins at the first stage: there each step sends first, and all
 * others receive first, from the stage before.  Ranks that exchange what they
 * have, as in context parallelism, do both at once.
 */
static void check_first(struct pipeline *p, const uint32_t *place,
			const uint32_t *size, bool *is_none)
{
	for (size_t i = 0; i < p->step_count; i++) {
		const struct pipe_step *s = &p->steps[i];
		uint32_t root = root_of(p->parent, s->rank);
		uint32_t k = p->p2p_from[s->rank];
		uint32_t to = p->p2p_from[s->rank + 1];
		const struct message *m;

		while (k < to && p->p2ps[k].start_ns < s->start_ns)
			k++;
		if (k == to || p->p2ps[k].start_ns >= s->end_ns ||
		    !p->p2ps[k].is_known || size[root] < 2)
			continue;
		m = &p->messages[p->p2ps[k].message_from];
		if (p->p2ps[k].sends && p->p2ps[k].receives)
			is_none[root] = true;
		else if (!place[s->rank])
			is_none[root] |= m->is_receive;
		else
			is_none[root] |=
				!m->is_receive ||
				place[m->from_rank] != place[s->rank] - 1;
	}
}

/* In which two stages of one pipeline meet. */
static void find_across(struct pipeline *p)
{
	const struct pf_ranks_job *job = p->job;
	int64_t *seen = pipeline_calloc(p, job->rank_count, sizeof(*seen));
	uint32_t *by = pipeline_calloc(p, job->rank_count, sizeof(*by));

	p->is_across =
		pipeline_calloc(p, job->meeting_count, sizeof(*p->is_across));
	for (uint32_t i = 0; i < job->meeting_count; i++) {
		const struct meeting *m = &job->meetings[i];

		for (uint32_t k = 0; k < m->count; k++) {
			uint32_t r = job->ops[job->parts[m->from + k]].rank;
			uint32_t root = p->parent[r];

			if (p->stage[r] == PF_NO_INT)
				continue;
			p->is_across[i] |=
				by[root] == i + 1 && seen[root] != p->stage[r];
			by[root] = i + 1;
			seen[root] = p->stage[r];
		}
	}
}

/* Which ranks are a pipeline, and its stages. */
static void pipeline_stages(struct pipeline *p)
{
	size_t count = p->job->rank_count;
	uint32_t *place = pipeline_calloc(p, count, sizeof(*place));
	uint32_t *size = pipeline_calloc(p, count, sizeof(*size));
	bool *is_none = pipeline_calloc(p, count, sizeof(*is_none));

	p->parent = pipeline_calloc(p, count, sizeof(*p->parent));
	p->stage = pipeline_calloc(p, count, sizeof(*p->stage));
	p->stage_count = pipeline_calloc(p, count, sizeof(*p->stage_count));
	p->is_ring = pipeline_calloc(p, count, sizeof(*p->is_ring));
	for (uint32_t r = 0; r < count; r++)
		p->parent[r] = r;
	for (size_t i = 0; i < p->message_count; i++)
		if (p->messages[i].from_rank != NONE &&
		    p->messages[i].to_rank != NONE)
			join(p->parent, p->messages[i].from_rank,
			     p->messages[i].to_rank);
	for (uint32_t r = 0; r < count; r++)
		place[r] = size[root_of(p->parent, r)]++;
	check_messages(p, place, size, is_none);
	check_first(p, place, size, is_none);
	for (uint32_t r = 0; r < count; r++) {
		uint32_t root = root_of(p->parent, r);
		bool is_one = size[root] > 1 && !is_none[root];

		p->stage[r] = is_one ? place[r] : PF_NO_INT;
		p->stage_count[r] = is_one ? size[root] : PF_NO_INT;
		p->is_ring[r] = p->is_ring[root];
		p->parent[r] = root;
	}
	find_across(p);
}

#define EARLY_MAX 0.01  /* of receives */
#define WAIT_MAX  0.01  /* of the time, for ranks to be replayed */
#define EARLY_NS  20000 /* clocks of one machine may differ by so much */

/* ---- spans of a rank ---- */

struct spans {
	struct quiet *items;
	size_t count, cap;
};

static void add_span(struct spans *s, int64_t from_ns, int64_t to_ns)
{
	if (from_ns >= to_ns)
		return;
	*PF_ONE_MORE(s->items, s->count, s->cap) =
		(struct quiet){ from_ns, to_ns };
}

PF_ORDER(by_from, struct quiet, PF_UP(from_ns) PF_UP(to_ns))

/* In order, each instant once. */
static void join_spans(struct spans *s)
{
	size_t kept = 0;

	pf_sort(s->items, s->count, sizeof(*s->items), by_from);
	for (size_t i = 0; i < s->count; i++) {
		struct quiet *last = kept ? &s->items[kept - 1] : NULL;

		if (last && s->items[i].from_ns <= last->to_ns) {
			PF_AT_LEAST(last->to_ns, s->items[i].to_ns);
			continue;
		}
		s->items[kept++] = s->items[i];
	}
	s->count = kept;
}

/* Of a time, what no span covers. */
static int64_t outside(const struct spans *s, int64_t from_ns, int64_t to_ns)
{
	size_t at = PF_SEARCH(i, s->count, s->items[i].to_ns <= from_ns);
	int64_t sum = to_ns - from_ns;

	if (sum <= 0)
		return 0;
	for (; at < s->count && s->items[at].from_ns < to_ns; at++) {
		const struct quiet *q = &s->items[at];
		int64_t a = q->from_ns > from_ns ? q->from_ns : from_ns;
		int64_t b = q->to_ns < to_ns ? q->to_ns : to_ns;

		sum -= b - a;
	}
	return sum;
}

/* ---- a rank ---- */

struct counted {
	int64_t received; /* from the stage before, in a step; PF_NO_INT */
	int64_t bytes;
	bool is_none; /* steps differ, or sizes do */
};

struct view {
	struct pipeline *p;
	uint32_t rank;
	struct spans moving; /* what it sends or receives is on its way */
	struct spans waits;  /* nothing runs, for what is not sent yet */
	struct pf_ranks_pipe *out;
	struct counted counted;
	/* what is before has ended before the next step begins */
	uint32_t p2p_at, op_at;
	size_t wait_at;
};

static void take_receives(struct view *v, const struct p2p *one)
{
	int64_t wait, length = one->end_ns - one->start_ns;

	if (!one->receives)
		return;
	v->out->receive_count++;
	if (!one->is_known) {
		v->out->left_count++;
		return;
	}
	wait = one->begun_ns - one->start_ns;
	wait = wait < 0 ? 0 : wait > length ? length : wait;
	pf_sat_sum(&v->out->receive_wait_ns, wait);
	pf_sat_sum(&v->out->receive_transfer_ns, length - wait);
}

static void find_spans(struct view *v)
{
	const struct pipeline *p = v->p;

	for (uint32_t k = p->p2p_from[v->rank]; k < p->p2p_from[v->rank + 1];
	     k++) {
		const struct p2p *one = &p->p2ps[k];
		int64_t until = one->begun_ns < one->end_ns ? one->begun_ns
							    : one->end_ns;

		take_receives(v, one);
		if (!one->is_known)
			continue;
		add_span(&v->moving,
			 one->begun_ns > one->start_ns ? one->begun_ns
						       : one->start_ns,
			 one->end_ns);
		for (uint32_t i = 0; one->receives && i < one->quiet_count;
		     i++) {
			const struct quiet *q = &p->quiets[one->quiet_from + i];

			add_span(&v->waits, q->from_ns,
				 q->to_ns < until ? q->to_ns : until);
		}
	}
	join_spans(&v->moving);
	join_spans(&v->waits);
}

/* Messages of a step: are they all known, and how many begin a microbatch? */
static bool read_step(struct view *v, const struct pipe_step *s,
		      int64_t *last_ns)
{
	const struct pipeline *p = v->p;
	uint32_t end = p->p2p_from[v->rank + 1];
	int64_t received = 0, seen = 0;
	bool is_known = true;

	while (v->p2p_at < end && p->p2ps[v->p2p_at].end_ns <= s->start_ns)
		v->p2p_at++;
	for (uint32_t k = v->p2p_at; k < end; k++) {
		const struct p2p *one = &p->p2ps[k];

		if (one->start_ns >= s->end_ns)
			break;
		if (one->end_ns <= s->start_ns)
			continue;
		seen++;
		is_known &= one->is_known && one->is_whole;
		*last_ns = one->end_ns > *last_ns ? one->end_ns : *last_ns;
		for (uint32_t i = 0; is_known && i < one->message_count; i++) {
			const struct message *m =
				&p->messages[one->message_from + i];

			if (!m->is_receive || m->from_rank > v->rank)
				continue;
			received++;
			v->counted.is_none |= v->counted.bytes >= 0 &&
					      m->bytes != v->counted.bytes;
			v->counted.bytes = m->bytes;
		}
	}
	if (!seen || !is_known)
		return false;
	v->counted.is_none |= v->counted.received != PF_NO_INT &&
			      received != v->counted.received;
	v->counted.received = received;
	return true;
}

/* Exposed waits for other stages, behind the last message of a step. */
static int64_t drain(struct view *v, const struct pf_digest *d,
		     const struct pipe_step *s, int64_t last_ns)
{
	const struct pf_ranks_job *job = v->p->job;
	const struct rank *r = &job->ranks[v->rank];
	int64_t sum = 0;

	while (v->op_at < r->count &&
	       job->ops[r->from + v->op_at].end_ns <= s->start_ns)
		v->op_at++;
	for (uint32_t i = v->op_at; i < r->count; i++) {
		const struct op *op = &job->ops[r->from + i];
		const struct pf_digest_op *of = &d->ops[i];

		if (op->start_ns >= s->end_ns)
			break;
		if (op->meeting == NONE || op->end_ns <= last_ns ||
		    !v->p->is_across[op->meeting])
			continue;
		for (size_t k = 0; k < of->piece_count; k++) {
			const struct pf_digest_piece *piece =
				&d->pieces[of->piece_from + k];
			int64_t from = op->start_ns + piece->after_ns;
			int64_t to = from + piece->ns;
			int64_t last = job->meetings[op->meeting].last_ns;

			from = from < last_ns ? last_ns : from;
			to = to > last ? last : to;
			to = to > s->end_ns ? s->end_ns : to;
			if (to > from)
				pf_sat_sum(&sum, to - from);
		}
	}
	return sum;
}

static void take_step(struct view *v, const struct pf_digest *d,
		      const struct pipe_step *s)
{
	struct pf_ranks_pipe *out = v->out;
	int64_t last_ns = s->start_ns;

	if (!read_step(v, s, &last_ns))
		return;
	out->step_count++;
	pf_sat_sum(&out->step_ns, s->end_ns - s->start_ns);
	pf_sat_sum(&out->computation_ns, s->computation_ns);
	while (v->wait_at < v->waits.count &&
	       v->waits.items[v->wait_at].to_ns <= s->start_ns)
		v->wait_at++;
	for (size_t i = v->wait_at;
	     i < v->waits.count && v->waits.items[i].from_ns < s->end_ns; i++) {
		const struct quiet *q = &v->waits.items[i];
		int64_t from = q->from_ns, to = q->to_ns;

		from = from < s->start_ns ? s->start_ns : from;
		to = to > s->end_ns ? s->end_ns : to;
		pf_sat_sum(&out->input_ns, outside(&v->moving, from, to));
	}
	pf_sat_sum(&out->drain_ns, drain(v, d, s, last_ns));
}

/* What nothing was seen of is not known. */
static void settle_rank(struct pf_ranks_pipe *out)
{
	if (out->left_count && out->left_count == out->receive_count)
		out->receive_wait_ns = out->receive_transfer_ns = PF_NO_INT;
	out->bubble_ns = pf_sat_add(out->input_ns, out->drain_ns);
	if (out->step_count)
		return;
	out->input_ns = out->drain_ns = out->bubble_ns = PF_NO_INT;
	out->step_ns = out->computation_ns = PF_NO_INT;
}

static void take_rank(struct view *v)
{
	const struct pipeline *p = v->p;
	struct pf_digest d;

	if (!open_digest(p->job, v->rank, &d))
		return;
	find_spans(v);
	for (uint32_t i = p->step_from[v->rank]; i < p->step_from[v->rank + 1];
	     i++)
		take_step(v, &d, &p->steps[i]);
	pf_digest_release(&d);
	free(v->moving.items);
	free(v->waits.items);
	settle_rank(v->out);
}

/* ---- all ranks ---- */

/* Of each pipeline: as many on all its stages but the first. */
static void count_microbatches(struct pipeline *p, struct pf_ranks_pipe *pipes,
			       const uint32_t *rank_of, size_t count,
			       const struct counted *counted)
{
	int64_t *of = pipeline_calloc(p, p->job->rank_count, sizeof(*of));

	for (size_t i = 0; i < count; i++) {
		uint32_t root = p->parent[rank_of[i]];

		if (p->stage[rank_of[i]] == PF_NO_INT || p->is_ring[root] ||
		    counted[i].is_none)
			of[root] = -1;
		else if (!p->stage[rank_of[i]] ||
			 counted[i].received == PF_NO_INT)
			continue;
		else if (of[root] && of[root] != counted[i].received)
			of[root] = -1;
		else
			of[root] = counted[i].received;
	}
	for (size_t i = 0; i < count; i++) {
		int64_t m = of[p->parent[rank_of[i]]];
		double stages = (double)pipes[i].stage_count;

		pipes[i].microbatches = m > 0 ? m : PF_NO_INT;
		pipes[i].ideal =
			m > 0 ? (stages - 1) / ((double)m + stages - 1) : NAN;
		pipes[i].bubble = pipes[i].bubble_ns == PF_NO_INT
					  ? NAN
					  : pf_ratio((double)pipes[i].bubble_ns,
						     pipes[i].step_ns);
	}
}

static void make_pipes(struct pipeline *p, struct pf_ranks *out)
{
	size_t ranks = p->job->rank_count, count = 0;
	uint32_t *rank_of = pipeline_calloc(p, ranks, sizeof(*rank_of));
	struct counted *counted = pipeline_calloc(p, ranks, sizeof(*counted));

	out->pipes = pf_arena_calloc(&out->memory, ranks, sizeof(*out->pipes));
	for (uint32_t r = 0; r < ranks; r++) {
		struct view v = { .p = p,
				  .rank = r,
				  .out = &out->pipes[count],
				  .counted = { PF_NO_INT, -1, false },
				  .p2p_at = p->p2p_from[r] };

		if (p->p2p_from[r] == p->p2p_from[r + 1])
			continue;
		*v.out = (struct pf_ranks_pipe){
			.rank = p->job->ranks[r].rank,
			.stage = p->stage[r],
			.stage_count = p->stage_count[r],
		};
		take_rank(&v);
		counted[count] = v.counted;
		rank_of[count++] = r;
	}
	out->pipe_count = count;
	count_microbatches(p, out->pipes, rank_of, count, counted);
}

/* ---- by stage ---- */

PF_ORDER(by_stage, struct pf_ranks_stage, PF_UP(stage_count) PF_UP(stage))

static void add_to_stage(struct pf_ranks_stage *s,
			 const struct pf_ranks_pipe *r)
{
	s->rank_count++;
	s->step_count += r->step_count;
	if (r->receive_wait_ns != PF_NO_INT)
		pf_sat_sum(&s->receive_wait_ns, r->receive_wait_ns);
	s->unknown_count += r->receive_wait_ns == PF_NO_INT;
	if (!r->step_count)
		return;
	pf_sat_sum(&s->step_ns, r->step_ns);
	pf_sat_sum(&s->computation_ns, r->computation_ns);
	pf_sat_sum(&s->bubble_ns, r->bubble_ns);
	if (!isnan(r->ideal) && isnan(s->ideal))
		s->ideal = r->ideal;
}

/* Against the median of the stages of pipelines as long. */
static void compare_stages(struct pf_ranks *out)
{
	PF_OWN double *of = pf_calloc(out->stage_count + 1, sizeof(*of));

	for (size_t from = 0, to; from < out->stage_count; from = to) {
		size_t known = 0;
		double median;

		for (to = from; to < out->stage_count &&
				out->stages[to].stage_count ==
					out->stages[from].stage_count;
		     to++)
			if (out->stages[to].step_count)
				of[known++] =
					(double)out->stages[to].computation_ns /
					(double)out->stages[to].step_count;
		median = pf_ranks_median(of, known);
		for (size_t i = from; i < to; i++) {
			struct pf_ranks_stage *s = &out->stages[i];

			s->factor = NAN;
			s->bubble = pf_ratio((double)s->bubble_ns, s->step_ns);
			if (s->unknown_count == s->rank_count)
				s->receive_wait_ns = PF_NO_INT;
			if (!s->step_count) {
				s->step_ns = s->computation_ns = PF_NO_INT;
				s->bubble_ns = PF_NO_INT;
				continue;
			}
			if (median > 0)
				s->factor = (double)s->computation_ns /
					    (double)s->step_count / median;
			s->computation_ns /= s->step_count;
			s->step_ns /= s->step_count;
			s->bubble_ns /= s->step_count;
		}
	}
}

static void make_stages(struct pf_ranks *out)
{
	size_t cap = 0;

	for (size_t i = 0; i < out->pipe_count; i++) {
		const struct pf_ranks_pipe *r = &out->pipes[i];
		size_t at = 0;

		if (r->stage == PF_NO_INT)
			continue;
		while (at < out->stage_count &&
		       (out->stages[at].stage != r->stage ||
			out->stages[at].stage_count != r->stage_count))
			at++;
		if (at == out->stage_count)
			*PF_ONE_MORE(out->stages, out->stage_count, cap) =
				(struct pf_ranks_stage){
					.stage = r->stage,
					.stage_count = r->stage_count,
					.ideal = NAN,
				};
		add_to_stage(&out->stages[at], r);
	}
	pf_sort(out->stages, out->stage_count, sizeof(*out->stages), by_stage);
	compare_stages(out);
}

/* ---- what is not known ---- */

/* Nothing is received before it is sent. */
static int64_t count_early(const struct pipeline *p, int64_t *known)
{
	int64_t early = 0;

	for (size_t i = 0; i < p->p2p_count; i++) {
		const struct p2p *one = &p->p2ps[i];

		if (!one->is_known || !one->receives)
			continue;
		++*known;
		early += one->end_ns + EARLY_NS < one->begun_ns;
	}
	return early;
}

static bool waits_matter(const struct pf_ranks_job *job,
			 const struct pf_ranks *out)
{
	for (size_t i = 0; i < out->pipe_count; i++) {
		const struct pf_ranks_pipe *p = &out->pipes[i];
		const struct rank *r = &job->ranks[pipeline_rank(job, p->rank)];

		if (p->left_count ||
		    (double)p->receive_wait_ns >
			    WAIT_MAX * (double)(r->end_ns - r->start_ns))
			return true;
	}
	return out->pipes_withheld;
}

void pf_ranks_pipeline(struct pf_ranks_job *job, struct pf_ranks *out)
{
	struct pipeline p = { .job = job };
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };
	int64_t known = 0, early;

	for (size_t r = 0; r < job->rank_count; r++) {
		out->has_pipes |= job->ranks[r].receives;
		out->unknown_pipe_count += !job->ranks[r].knows_p2p;
	}
	if (!out->has_pipes || job->why.len)
		return;
	pipeline_load(&p);
	pipeline_match(&p);
	pipeline_stages(&p);
	early = count_early(&p, &known);
	if ((double)early > EARLY_MAX * (double)known)
		pf_buf_addf(&text,
			    "waits in receives are not known: %" PRId64
			    " of %" PRId64
			    " receives end before their sends begin",
			    early, known);
	else
		make_pipes(&p, out);
	out->pipes_withheld = pf_arena_string(&out->memory, text.data);
	make_stages(out);
	out->waits_to_receive = waits_matter(job, out);
	free(p.p2ps);
	free(p.messages);
	free(p.quiets);
	free(p.steps);
	pf_arena_release(&p.memory);
}
