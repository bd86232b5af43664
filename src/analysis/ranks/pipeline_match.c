/* SPDX-License-Identifier: MIT */
/*
 * The n-th send from one rank to another in a process group meets the n-th
 * receive of it there; where there are more of one, they are matched from the
 * end of the captures, as collectives are.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"
#include "base/sat.h"
#include "analysis/ranks/pipeline.h"

/* ---- out of digests ---- */

uint32_t pf_pipeline_rank(const struct pf_ranks_job *job, int64_t rank)
{
	size_t low = 0, high = job->rank_count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (job->ranks[mid].rank < rank)
			low = mid + 1;
		else
			high = mid;
	}
	return low < job->rank_count && job->ranks[low].rank == rank
		       ? (uint32_t)low
		       : NONE;
}

static void load_message(struct pipeline *p, uint32_t rank, uint32_t group,
			 const struct pf_digest_message *from)
{
	uint32_t peer = pf_pipeline_rank(p->job, from->peer);
	struct message *m;

	p->messages = pf_grow(p->messages, &p->message_cap,
			      p->message_count + 1, sizeof(*p->messages));
	m = &p->messages[p->message_count++];
	*m = (struct message){
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

		p->quiets = pf_grow(p->quiets, &p->quiet_cap,
				    p->quiet_count + 1, sizeof(*p->quiets));
		p->quiets[p->quiet_count++] =
			(struct quiet){ at, pf_sat_add(at, q->ns) };
	}
	p->p2ps = pf_grow(p->p2ps, &p->p2p_cap, p->p2p_count + 1,
			  sizeof(*p->p2ps));
	p->p2ps[p->p2p_count++] = one;
}

static void load_steps(struct pipeline *p, uint32_t rank,
		       const struct pf_digest *d)
{
	const struct rank *r = &p->job->ranks[rank];

	for (size_t i = 0; i < d->step_count; i++) {
		const struct pf_digest_step *s = &d->steps[i];

		p->steps = pf_grow(p->steps, &p->step_cap, p->step_count + 1,
				   sizeof(*p->steps));
		p->steps[p->step_count++] = (struct pipe_step){
			.rank = rank,
			.step = s->step,
			.start_ns = pf_ranks_time(p->job, r, s->start_ns),
			.end_ns = pf_ranks_time(p->job, r, s->end_ns),
			.computation_ns = s->ns[PF_DOING_COMPUTATION],
		};
	}
}

static int load_rank(struct pipeline *p, uint32_t rank, struct pf_err *err)
{
	const struct rank *r = &p->job->ranks[rank];
	struct pf_digest d;
	uint32_t *groups;

	if (pf_digest_get(r->bytes.data, r->bytes.len, &d, err) < 0)
		return -1;
	groups = pf_calloc(d.group_count + 1, sizeof(*groups));
	for (size_t i = 0; i < d.group_count; i++)
		groups[i] = pf_intern_add(&p->job->groups, d.groups[i],
					  strlen(d.groups[i]));
	for (size_t i = 0; i < d.p2p_count; i++)
		load_p2p(p, rank, &d, groups, &d.p2ps[i]);
	load_steps(p, rank, &d);
	free(groups);
	pf_digest_release(&d);
	return 0;
}

int pf_pipeline_load(struct pipeline *p, struct pf_err *err)
{
	size_t count = p->job->rank_count;

	p->p2p_from = pf_calloc(count + 1, sizeof(*p->p2p_from));
	p->step_from = pf_calloc(count + 1, sizeof(*p->step_from));
	for (size_t r = 0; r < count; r++) {
		if (p->job->ranks[r].has_p2p &&
		    load_rank(p, (uint32_t)r, err) < 0)
			return -1;
		p->p2p_from[r + 1] = (uint32_t)p->p2p_count;
		p->step_from[r + 1] = (uint32_t)p->step_count;
	}
	return 0;
}

void pf_pipeline_release(struct pipeline *p)
{
	free(p->p2ps);
	free(p->messages);
	free(p->quiets);
	free(p->steps);
	free(p->p2p_from);
	free(p->step_from);
	free(p->parent);
	free(p->stage);
	free(p->stage_count);
	free(p->is_ring);
	free(p->is_across);
}

/* ---- matches ---- */

/* In an order in which what meets lies in two runs, one after the other. */
struct place {
	const struct message *m;
	uint32_t index;
};

static int by_way(const struct message *x, const struct message *y)
{
	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (x->from_rank != y->from_rank)
		return x->from_rank < y->from_rank ? -1 : 1;
	return (x->to_rank > y->to_rank) - (x->to_rank < y->to_rank);
}

PF_ORDER(by_place, struct place,
	 PF_UP(m->group) PF_UP(m->from_rank) PF_UP(m->to_rank)
		 PF_UP(m->is_receive) PF_UP(index))

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

void pf_pipeline_match(struct pipeline *p)
{
	struct place *at = pf_calloc(p->message_count + 1, sizeof(*at));

	for (size_t i = 0; i < p->message_count; i++)
		at[i] = (struct place){ &p->messages[i], (uint32_t)i };
	pf_sort(at, p->message_count, sizeof(*at), by_place);
	for (size_t from = 0, to; from < p->message_count; from = to) {
		size_t sends = 0;

		for (to = from;
		     to < p->message_count && !by_way(at[from].m, at[to].m);
		     to++)
			sends += !at[to].m->is_receive;
		match_run(p, at + from, sends, to - from);
	}
	for (size_t i = 0; i < p->p2p_count; i++)
		find_begun(p, &p->p2ps[i]);
	free(at);
}

/* ---- stages ---- */

static uint32_t root_of(const struct pipeline *p, uint32_t r)
{
	while (p->parent[r] != r)
		r = p->parent[r];
	return r;
}

static void join(struct pipeline *p, uint32_t a, uint32_t b)
{
	a = root_of(p, a);
	b = root_of(p, b);
	/* the lowest is the root */
	if (a < b)
		p->parent[b] = a;
	else
		p->parent[a] = b;
}

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
			is_none[root_of(p, p->p2ps[m->p2p].rank)] = true;
			continue;
		}
		root = root_of(p, m->from_rank);
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
		uint32_t root = root_of(p, s->rank);
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
	int64_t *seen = pf_calloc(job->rank_count + 1, sizeof(*seen));
	uint32_t *by = pf_calloc(job->rank_count + 1, sizeof(*by));

	p->is_across = pf_calloc(job->meeting_count + 1, sizeof(*p->is_across));
	for (uint32_t i = 0; i < job->meeting_count; i++) {
		const struct meeting *m = &job->meetings[i];

		for (uint32_t k = 0; k < m->count; k++) {
			uint32_t r = pf_ranks_of(job, job->parts[m->from + k]);
			uint32_t root = p->parent[r];

			if (p->stage[r] == PF_NO_INT)
				continue;
			p->is_across[i] |=
				by[root] == i + 1 && seen[root] != p->stage[r];
			by[root] = i + 1;
			seen[root] = p->stage[r];
		}
	}
	free(seen);
	free(by);
}

void pf_pipeline_stages(struct pipeline *p)
{
	size_t count = p->job->rank_count;
	uint32_t *place = pf_calloc(count + 1, sizeof(*place));
	uint32_t *size = pf_calloc(count + 1, sizeof(*size));
	bool *is_none = pf_calloc(count + 1, sizeof(*is_none));

	p->parent = pf_calloc(count + 1, sizeof(*p->parent));
	p->stage = pf_calloc(count + 1, sizeof(*p->stage));
	p->stage_count = pf_calloc(count + 1, sizeof(*p->stage_count));
	p->is_ring = pf_calloc(count + 1, sizeof(*p->is_ring));
	for (uint32_t r = 0; r < count; r++)
		p->parent[r] = r;
	for (size_t i = 0; i < p->message_count; i++)
		if (p->messages[i].from_rank != NONE &&
		    p->messages[i].to_rank != NONE)
			join(p, p->messages[i].from_rank,
			     p->messages[i].to_rank);
	for (uint32_t r = 0; r < count; r++)
		place[r] = size[root_of(p, r)]++;
	check_messages(p, place, size, is_none);
	check_first(p, place, size, is_none);
	for (uint32_t r = 0; r < count; r++) {
		uint32_t root = root_of(p, r);
		bool is_one = size[root] > 1 && !is_none[root];

		p->stage[r] = is_one ? place[r] : PF_NO_INT;
		p->stage_count[r] = is_one ? size[root] : PF_NO_INT;
		p->is_ring[r] = p->is_ring[root];
		p->parent[r] = root;
	}
	find_across(p);
	free(place);
	free(size);
	free(is_none);
}
