/* SPDX-License-Identifier: MIT */
/*
 * Collectives are listed by group and rank in order of time; what has the
 * same place in the lists of a group's ranks meets.
 */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "analysis/ranks/ranks_impl.h"

/* ---- lists ---- */

/* The groups of one rank: counted, placed, filled. */
static void list_rank(struct pf_ranks_job *job, size_t r, uint32_t *places)
{
	struct rank *rank = &job->ranks[r];
	uint32_t at = rank->from;

	rank->member_from = job->member_count;
	for (uint32_t i = 0; i < rank->count; i++) {
		uint32_t group = job->ops[rank->from + i].group;

		if (places[group] == NONE) {
			places[group] = job->member_count;
			job->members[job->member_count++] =
				(struct member){ .group = group,
						 .rank = (uint32_t)r };
		}
		job->members[places[group]].count++;
	}
	rank->member_count = job->member_count - rank->member_from;
	for (uint32_t i = rank->member_from; i < job->member_count; i++) {
		job->members[i].from = at;
		at += job->members[i].count;
		job->members[i].count = 0;
	}
	for (uint32_t i = 0; i < rank->count; i++) {
		uint32_t op = rank->from + i;
		struct member *m = &job->members[places[job->ops[op].group]];

		if (m->before_steps == m->count && job->ops[op].step < 0)
			m->before_steps++;
		if (m->count)
			job->ops[op].before =
				job->listed[m->from + m->count - 1];
		job->listed[m->from + m->count++] = op;
	}
	for (uint32_t i = rank->member_from; i < job->member_count; i++)
		places[job->members[i].group] = NONE;
}

static void list_all(struct pf_ranks_job *job)
{
	uint32_t *places = pf_calloc(job->groups.count + 1, sizeof(*places));

	memset(places, 0xff, (job->groups.count + 1) * sizeof(*places));
	job->listed = pf_calloc(job->op_count + 1, sizeof(*job->listed));
	job->members = pf_calloc(job->op_count + 1, sizeof(*job->members));
	for (size_t i = 0; i < job->rank_count; i++)
		list_rank(job, i, places);
	job->members = pf_realloc(job->members, job->member_count + 1,
				  sizeof(*job->members));
	free(places);
}

/* ---- a group ---- */

struct group {
	struct pf_ranks_job *job;
	const uint32_t *members; /* by rank */
	uint32_t count;
	uint32_t least, most; /* collectives on a rank */
};

static const struct member *member_at(const struct group *g, uint32_t i)
{
	return &g->job->members[g->members[i]];
}

/* The n-th collective on rank i; from the end: of those that all have. */
static uint32_t op_at(const struct group *g, uint32_t i, uint32_t n,
		      bool is_from_end)
{
	const struct member *m = member_at(g, i);

	return g->job->listed[m->from + (is_from_end ? m->count - 1 - n : n)];
}

/* Has its capture begun within the step, so that it is not known which? */
static bool is_of_any_step(const struct member *m, uint32_t n_from_end)
{
	return m->before_steps < m->count &&
	       m->count - 1 - n_from_end < m->before_steps;
}

static bool is_alike(const struct group *g, uint32_t i, uint32_t n,
		     bool is_from_end)
{
	const struct op *x = &g->job->ops[op_at(g, 0, n, is_from_end)];
	const struct op *y = &g->job->ops[op_at(g, i, n, is_from_end)];

	if (x->kind != y->kind)
		return false;
	return !is_from_end ||
	       (x->bytes == y->bytes &&
		(x->step == y->step || is_of_any_step(member_at(g, 0), n) ||
		 is_of_any_step(member_at(g, i), n)));
}

/* How many from one end on are the same on all ranks. */
static uint32_t count_alike(const struct group *g, bool is_from_end)
{
	for (uint32_t n = 0; n < g->least; n++)
		for (uint32_t i = 1; i < g->count; i++)
			if (!is_alike(g, i, n, is_from_end))
				return n;
	return g->least;
}

static void meet(const struct group *g, uint32_t n, bool is_from_end,
		 uint32_t *part)
{
	struct pf_ranks_job *job = g->job;
	struct meeting *m = &job->meetings[job->meeting_count];

	*m = (struct meeting){ .from = *part,
			       .count = g->count,
			       .group = member_at(g, 0)->group,
			       .number = n,
			       .order = NONE,
			       .last = NONE,
			       .middle = NONE,
			       .root = NONE,
			       .cause = PF_LATE_UNKNOWN,
			       .root_cause = PF_LATE_UNKNOWN };
	for (uint32_t i = 0; i < g->count; i++) {
		uint32_t op = op_at(g, i, n, is_from_end);

		job->parts[(*part)++] = op;
		job->ops[op].meeting = job->meeting_count;
	}
	job->meeting_count++;
}

void pf_ranks_say_group(const struct pf_ranks_job *job, uint32_t group,
			struct pf_buf *out)
{
	const char *name = pf_intern_text(&job->groups, group, NULL);

	if (*name == '=')
		pf_buf_addf(out, "the process group '%s'", name + 1);
	else
		pf_buf_addf(out, "stream %s", name + 1);
}

static bool is_named(const struct group *g)
{
	return *pf_intern_text(&g->job->groups, member_at(g, 0)->group, NULL) ==
	       '=';
}

/* A group that cannot be compared; the first one is said. */
static void leave_out(const struct group *g, const char *why)
{
	struct pf_buf *out = &g->job->partly;

	if (out->len)
		return;
	if (!is_named(g))
		pf_buf_adds(out, "the traces do not name process groups, and ");
	pf_ranks_say_group(g->job, member_at(g, 0)->group, out);
	pf_buf_addf(out, " %s", why);
}

/* How many collectives a rank has, or of which kind the n-th is. */
static uint32_t value_of(const struct group *g, uint32_t i, uint32_t n)
{
	return n == NONE ? member_at(g, i)->count
			 : g->job->ops[op_at(g, i, n, false)].kind;
}

/* Who is not as most ranks are; where there is no most, each may be odd. */
static void mark_odd(const struct group *g, uint32_t n)
{
	uint32_t most = 0, votes = 0;

	for (uint32_t i = 0; i < g->count; i++) {
		uint32_t value = value_of(g, i, n);

		if (!votes)
			most = value;
		votes = value == most ? votes + 1 : votes - 1;
	}
	votes = 0;
	for (uint32_t i = 0; i < g->count; i++)
		votes += value_of(g, i, n) == most;
	for (uint32_t i = 0; i < g->count; i++) {
		struct rank *r = &g->job->ranks[member_at(g, i)->rank];
		bool has_most = 2 * (uint64_t)votes > g->count;

		if ((has_most && value_of(g, i, n) == most) ||
		    (r->is_odd && r->most_count))
			continue;
		r->is_odd = true;
		r->is_unlike = n != NONE;
		r->odd_group = member_at(g, i)->group;
		r->odd_count = member_at(g, i)->count;
		r->most_count = has_most && n == NONE ? most : 0;
	}
}

/* Ranks of a group: at most as many as it is said to have. */
static bool is_too_large(const struct group *g)
{
	const struct op *op = &g->job->ops[op_at(g, 0, 0, false)];

	return op->size > 0 && g->count > (uint32_t)op->size;
}

static void meet_group(const struct group *g, uint32_t *part)
{
	bool is_from_end = g->least != g->most;
	uint32_t alike, from;

	if (g->count < 2)
		return;
	if (is_too_large(g)) {
		leave_out(g, "is the name of several groups");
		return;
	}
	alike = count_alike(g, is_from_end);
	if (is_from_end)
		mark_odd(g, NONE);
	g->job->unlike_count += alike < g->least;
	g->job->unlike_end_count += is_from_end && alike < g->least;
	if (!is_from_end && alike < g->least) {
		mark_odd(g, alike);
		leave_out(g, "has different collectives on its ranks");
		return;
	}
	if (!alike) {
		leave_out(g, "ends with different collectives on its ranks");
		return;
	}
	from = g->job->meeting_count;
	for (uint32_t n = 0; n < alike; n++)
		meet(g, is_from_end ? alike - 1 - n : n, is_from_end, part);
	for (uint32_t n = 0; n < alike; n++)
		g->job->meetings[from + n].number = n;
}

/* ---- all groups ---- */

static void meet_groups(struct pf_ranks_job *job, const uint32_t *by_group,
			const uint32_t *from)
{
	uint32_t part = 0;

	for (uint32_t k = 0; k < job->groups.count; k++) {
		struct group g = { .job = job,
				   .members = by_group + from[k],
				   .count = from[k + 1] - from[k],
				   .least = UINT32_MAX };

		for (uint32_t i = 0; i < g.count; i++) {
			uint32_t n = member_at(&g, i)->count;

			g.least = n < g.least ? n : g.least;
			g.most = n > g.most ? n : g.most;
		}
		meet_group(&g, &part);
	}
}

/* By the lowest rank that a meeting was seen on, in its order of time. */
static void put_in_order(struct pf_ranks_job *job)
{
	uint32_t order = 0;

	for (uint32_t i = 0; i < job->op_count; i++) {
		uint32_t m = job->ops[i].meeting;

		if (m == NONE)
			job->left_count++;
		else if (job->meetings[m].order == NONE)
			job->meetings[m].order = order++;
	}
}

/* Waits in receives need no collective, but clocks that are one. */
static void say_nothing_met(struct pf_ranks_job *job)
{
	bool receives = false, has_work = false;

	for (size_t r = 0; r < job->rank_count; r++) {
		receives |= job->ranks[r].receives;
		has_work |= job->ranks[r].has_work;
	}
	if (!job->partly.len && !has_work)
		pf_buf_adds(&job->partly,
			    "there is no GPU work, and collectives that run on "
			    "hosts, such as those of gloo, are not compared");
	else if (!job->partly.len)
		pf_buf_adds(&job->partly,
			    "no collective was found on several ranks");
	if (receives && pf_ranks_have_one_clock(job))
		return;
	pf_buf_adds(&job->why, job->partly.data);
	if (receives)
		pf_buf_adds(&job->why,
			    ", and without it clocks cannot be aligned; if "
			    "they are one, --clock as-is shows waits in "
			    "receives");
}

void pf_ranks_meet(struct pf_ranks_job *job)
{
	uint32_t *from, *by_group, *at;

	list_all(job);
	from = pf_calloc((size_t)job->groups.count + 2, sizeof(*from));
	by_group = pf_calloc(job->member_count + 1, sizeof(*by_group));
	at = pf_calloc((size_t)job->groups.count + 1, sizeof(*at));
	for (uint32_t i = 0; i < job->member_count; i++)
		from[job->members[i].group + 1]++;
	for (uint32_t i = 0; i < job->groups.count; i++)
		from[i + 1] += from[i];
	for (uint32_t i = 0; i < job->member_count; i++) {
		uint32_t k = job->members[i].group;

		by_group[from[k] + at[k]++] = i;
	}
	job->meetings = pf_calloc(job->op_count + 1, sizeof(*job->meetings));
	job->parts = pf_calloc(job->op_count + 1, sizeof(*job->parts));
	meet_groups(job, by_group, from);
	job->meetings = pf_realloc(job->meetings, job->meeting_count + 1,
				   sizeof(*job->meetings));
	put_in_order(job);
	if (!job->meeting_count)
		say_nothing_met(job);
	free(from);
	free(by_group);
	free(at);
}
