/* SPDX-License-Identifier: MIT */
/*
 * Ranks from their digests: which collectives meet, on which clock, and who is
 * late to them, and what that comes to, as rows.
 */
#include "config.h"

#include "analysis/ranks/ranks.h"

#include <inttypes.h>
#include <math.h>

#include "analysis/ranks/impl.h"
#include "base/num.h"
#include "base/order.h"
#include "base/sat.h"
#include "base/stats.h"
#include "events/args.h"
#include "events/ask.h"

#define ROUNDS_MAX 64 /* of a search for a median */

/* ---- medians ---- */

PF_ORDER(by_value, double, PF_UP_VALUE)

/*
 * The n-th smallest goes to its place, what is smaller before it: by parts, of
 * which the one that holds the place is looked at again.  Where that takes too
 * many rounds, as values can be made to, the rest is sorted.
 */
static void place_nth(double *v, int64_t count, int64_t n)
{
	int64_t low = 0, high = count - 1;

	for (int rounds = 0; low < high; rounds++) {
		double pivot = v[n];
		int64_t i = low, j = high;

		if (rounds == ROUNDS_MAX) {
			pf_sort(v + low, (size_t)(high - low + 1), sizeof(*v),
				by_value);
			return;
		}
		while (i <= j) {
			while (v[i] < pivot)
				i++;
			while (pivot < v[j])
				j--;
			if (i <= j) {
				double swap = v[i];

				v[i++] = v[j];
				v[j--] = swap;
			}
		}
		low = j < n ? i : low;
		high = n < i ? j : high;
	}
}

double pf_ranks_median(double *values, size_t count)
{
	double below = -INFINITY;

	if (!count)
		return 0;
	place_nth(values, (int64_t)count, (int64_t)(count / 2));
	if (count % 2)
		return values[count / 2];
	for (size_t i = 0; i < count / 2; i++)
		below = values[i] > below ? values[i] : below;
	return (below + values[count / 2]) / 2;
}

static int64_t median_ns(int64_t *values, size_t count)
{
	pf_sort(values, count, sizeof(*values), pf_stats_compare);
	return pf_stats_quantile(values, count, 50);
}

/*
 * Collectives are listed by group and rank in order of time; what has the
 * same place in the lists of a group's ranks meets.
 */

/* ---- lists ---- */

/* Counted, placed by group, and cut where the group or the rank changes. */
static void list_all(struct pf_ranks_job *job)
{
	uint32_t *places = pf_arena_calloc(
		&job->memory, (size_t)job->groups.count + 1, sizeof(*places));
	struct member *m = NULL;

	job->listed = pf_arena_calloc(&job->memory, job->op_count,
				      sizeof(*job->listed));
	job->members = pf_arena_calloc(&job->memory, job->op_count,
				       sizeof(*job->members));
	for (uint32_t i = 0; i < job->op_count; i++)
		places[job->ops[i].group + 1]++;
	for (uint32_t i = 0; i < job->groups.count; i++)
		places[i + 1] += places[i];
	for (uint32_t i = 0; i < job->op_count; i++)
		job->listed[places[job->ops[i].group]++] = i;
	for (uint32_t i = 0; i < job->op_count; i++) {
		struct op *op = &job->ops[job->listed[i]];

		if (m && m->group == op->group && m->rank == op->rank) {
			op->before = job->listed[i - 1];
		} else {
			m = &job->members[job->member_count++];
			*m = (struct member){ .group = op->group,
					      .rank = op->rank,
					      .from = i };
		}
		if (m->before_steps == m->count && op->step < 0)
			m->before_steps++;
		m->count++;
	}
}

/* ---- a group ---- */

struct group {
	struct pf_ranks_job *job;
	const struct member *members; /* by rank */
	uint32_t count;
	uint32_t least, most; /* collectives on a rank */
};

/* The n-th collective on rank i; from the end: of those that all have. */
static uint32_t op_at(const struct group *g, uint32_t i, uint32_t n,
		      bool is_from_end)
{
	const struct member *m = &g->members[i];

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
		(x->step == y->step || is_of_any_step(&g->members[0], n) ||
		 is_of_any_step(&g->members[i], n)));
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
			       .group = g->members[0].group,
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

/* "the process group 'tp0'" */
static void ranks_say_group(const struct pf_ranks_job *job, uint32_t group,
			    struct pf_buf *out)
{
	const char *name = pf_intern_text(&job->groups, group, NULL);

	if (*name == '=')
		pf_buf_addf(out, "the process group '%s'", name + 1);
	else if (strtoll(name + 1, NULL, 10) <= PF_DIGEST_HOSTS)
		pf_buf_adds(out, "one kind of the hosts' own");
	else
		pf_buf_addf(out, "stream %s", name + 1);
}

static bool is_named(const struct group *g)
{
	return *pf_intern_text(&g->job->groups, g->members[0].group, NULL) ==
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
	ranks_say_group(g->job, g->members[0].group, out);
	pf_buf_addf(out, " %s", why);
}

/* How many collectives a rank has, or of which kind the n-th is. */
static uint32_t value_of(const struct group *g, uint32_t i, uint32_t n)
{
	return n == NONE ? g->members[i].count
			 : g->job->ops[op_at(g, i, n, false)].kind;
}

/* The value that more than half have; false: none is, and it is any. */
static bool find_most(const uint32_t *values, size_t count, uint32_t *most)
{
	size_t votes = 0;

	*most = 0;
	for (size_t i = 0; i < count; i++) {
		if (!votes)
			*most = values[i];
		votes = values[i] == *most ? votes + 1 : votes - 1;
	}
	votes = 0;
	for (size_t i = 0; i < count; i++)
		votes += values[i] == *most;
	return 2 * votes > count;
}

/* Who is not as most ranks are; where there is no most, each may be odd. */
static void mark_odd(const struct group *g, uint32_t n)
{
	PF_OWN uint32_t *values = pf_calloc(g->count + 1u, sizeof(*values));
	uint32_t most;
	bool has_most;

	for (uint32_t i = 0; i < g->count; i++)
		values[i] = value_of(g, i, n);
	has_most = find_most(values, g->count, &most);
	for (uint32_t i = 0; i < g->count; i++) {
		struct rank *r = &g->job->ranks[g->members[i].rank];

		if ((has_most && values[i] == most) ||
		    (r->is_odd && r->most_count))
			continue;
		r->is_odd = true;
		r->is_unlike = n != NONE;
		r->odd_group = g->members[i].group;
		r->odd_count = g->members[i].count;
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

static void meet_groups(struct pf_ranks_job *job)
{
	uint32_t part = 0;

	for (uint32_t from = 0, to; from < job->member_count; from = to) {
		const struct member *m = &job->members[from];
		struct group g = { .job = job,
				   .members = m,
				   .least = UINT32_MAX };

		for (to = from; to < job->member_count &&
				job->members[to].group == m->group;
		     to++) {
			uint32_t n = job->members[to].count;

			g.least = n < g.least ? n : g.least;
			g.most = n > g.most ? n : g.most;
		}
		g.count = to - from;
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

static bool ranks_have_one_clock(const struct pf_ranks_job *job);

/* Waits in receives need no collective, but clocks that are one. */
static void say_nothing_met(struct pf_ranks_job *job)
{
	bool receives = false;

	for (size_t r = 0; r < job->rank_count; r++)
		receives |= job->ranks[r].receives;
	if (!job->partly.len)
		pf_buf_adds(&job->partly,
			    "no collective was found on several ranks");
	if (receives && ranks_have_one_clock(job))
		return;
	pf_buf_adds(&job->why, job->partly.data);
	if (receives)
		pf_buf_adds(&job->why,
			    ", and without it clocks cannot be aligned; if "
			    "they are one, --clock as-is shows waits in "
			    "receives");
}

/* Fills in what there is to meet, or "why". */
static void ranks_meet(struct pf_ranks_job *job)
{
	list_all(job);
	job->meetings = pf_arena_calloc(&job->memory, job->op_count,
					sizeof(*job->meetings));
	job->parts = pf_arena_calloc(&job->memory, job->op_count,
				     sizeof(*job->parts));
	meet_groups(job);
	put_in_order(job);
	if (!job->meeting_count)
		say_nothing_met(job);
}

/*
 * Clocks by ends of collectives: local time = true + offset + drift * time.
 * In turns, the true end of each meeting is the median of its ranks' ends, and
 * each rank's line goes through its ends against those (medians again, so that
 * a few odd ends do not matter), until nothing moves.  At most SAMPLE meetings
 * of a group are looked at, spread over the capture.
 */

#define SAMPLE       200
#define ROUNDS       30
#define MOVE_NS      0.5
#define LINE_LEAST   24 /* ends for a drift: of fewer their scatter is a guess */
#define EARLY_MAX    0.01   /* of meetings */
#define ERROR_MAX    0.01   /* of the window: what offsets may add up to */
#define ERROR_HOSTS  0.05   /* the same: threads of hosts are woken late */
#define MACHINE_NS   20000  /* clocks of one machine differ by less */
#define ERRORS_SHOWN 3      /* standard errors that show a drift, */
#define ERRORS_SURE  10     /* and that chance does not show */
#define DRIFT_MOST   500e-6 /* no clock that is set runs faster */
#define SEEN_LEAST   4      /* ends for an offset */

/* An end that is looked at, by meeting and by rank. */
struct met {
	uint32_t rank;
	double at_ns; /* local */
};

struct seen {
	uint32_t meeting; /* of clocks.met */
	double at_ns;     /* local */
};

struct clocks {
	struct pf_ranks_job *job;
	struct pf_arena memory;
	uint32_t *met; /* meetings that are looked at, in order */
	uint32_t met_count;
	struct met *ends;  /* of all their ranks, one meeting after the other */
	double *end_ns;    /* of each, true */
	struct seen *seen; /* by rank */
	uint32_t *first;   /* of each rank; one more */
	uint32_t *parent;  /* of ranks that are connected */
	bool *is_steady;   /* of ranks: no drift is shown */
	bool is_shared;    /* drifts are against what most ranks share */
	double *offsets, *drifts; /* lines of ranks that are being drawn */
	double *values, *slopes; /* scratch: as many as a rank or meeting has */
};

static void *clocks_calloc(struct clocks *c, size_t count, size_t bytes)
{
	return pf_arena_calloc(&c->memory, count, bytes);
}

/* ---- what is looked at ---- */

static void choose(struct clocks *c)
{
	struct pf_ranks_job *job = c->job;
	uint32_t *in_order =
		clocks_calloc(c, job->meeting_count, sizeof(*in_order));
	uint32_t *sizes = clocks_calloc(c, job->groups.count, sizeof(*sizes));

	for (uint32_t i = 0; i < job->meeting_count; i++) {
		in_order[job->meetings[i].order] = i;
		sizes[job->meetings[i].group]++;
	}
	c->met = clocks_calloc(c, job->meeting_count, sizeof(*c->met));
	for (uint32_t i = 0; i < job->meeting_count; i++) {
		const struct meeting *m = &job->meetings[in_order[i]];
		uint32_t every = (sizes[m->group] + SAMPLE - 1) / SAMPLE;

		if (m->number % every == 0)
			c->met[c->met_count++] = in_order[i];
	}
}

static void find_zero(struct pf_ranks_job *job)
{
	job->zero_ns = INT64_MAX;
	for (uint32_t i = 0; i < job->meeting_count; i++) {
		const struct meeting *m = &job->meetings[i];

		for (uint32_t k = 0; k < m->count; k++) {
			int64_t end = job->ops[job->parts[m->from + k]].end_ns;

			PF_AT_MOST(job->zero_ns, end);
		}
	}
	for (size_t r = 0; !job->meeting_count && r < job->rank_count; r++)
		PF_AT_MOST(job->zero_ns, job->ranks[r].start_ns);
}

static bool is_one_machine(const struct rank *x, const struct rank *y)
{
	return x->host && y->host && !strcmp(x->host, y->host);
}

/* Of one machine, or taken as they are. */
static bool ranks_have_one_clock(const struct pf_ranks_job *job)
{
	bool is_one = true;

	for (size_t r = 1; r < job->rank_count; r++)
		is_one &= is_one_machine(&job->ranks[r], &job->ranks[0]);
	return is_one || job->args.clock == PF_CLOCK_AS_IS;
}

PF_ORDER(by_end, struct seen, PF_UP(at_ns) PF_UP(meeting))

/* Slopes are taken over half of the time: in its order, group by group else. */
static void sort_seen(struct clocks *c)
{
	for (size_t r = 0; r < c->job->rank_count; r++)
		pf_sort(&c->seen[c->first[r]], c->first[r + 1] - c->first[r],
			sizeof(*c->seen), by_end);
}

static void look(struct clocks *c)
{
	struct pf_ranks_job *job = c->job;
	uint32_t *at = clocks_calloc(c, job->rank_count, sizeof(*at));
	size_t total = 0, most = 1;

	c->first = clocks_calloc(c, job->rank_count + 1, sizeof(*c->first));
	for (uint32_t i = 0; i < c->met_count; i++) {
		const struct meeting *m = &job->meetings[c->met[i]];

		for (uint32_t k = 0; k < m->count; k++)
			c->first[job->ops[job->parts[m->from + k]].rank + 1]++;
		total += m->count;
		most = m->count > most ? m->count : most;
	}
	for (size_t r = 0; r < job->rank_count; r++) {
		most = c->first[r + 1] > most ? c->first[r + 1] : most;
		c->first[r + 1] += c->first[r];
	}
	c->seen = clocks_calloc(c, total, sizeof(*c->seen));
	c->ends = clocks_calloc(c, total, sizeof(*c->ends));
	total = 0;
	for (uint32_t i = 0; i < c->met_count; i++) {
		const struct meeting *m = &job->meetings[c->met[i]];

		for (uint32_t k = 0; k < m->count; k++) {
			const struct op *op =
				&job->ops[job->parts[m->from + k]];
			double end = (double)(op->end_ns - job->zero_ns);

			c->seen[c->first[op->rank] + at[op->rank]++] =
				(struct seen){ i, end };
			c->ends[total++] = (struct met){ op->rank, end };
		}
	}
	if (job->args.clock != PF_CLOCK_DRIFTING)
		sort_seen(c);
	c->values = clocks_calloc(c, most, sizeof(*c->values));
	c->slopes = clocks_calloc(c, most, sizeof(*c->slopes));
	c->end_ns = clocks_calloc(c, c->met_count, sizeof(*c->end_ns));
}

/* ---- what is connected ---- */

/* The lowest rank of those connected is the reference. */
static void connect(struct clocks *c)
{
	struct pf_ranks_job *job = c->job;

	c->parent = clocks_calloc(c, job->rank_count, sizeof(*c->parent));
	for (size_t r = 0; r < job->rank_count; r++)
		c->parent[r] = (uint32_t)r;
	for (uint32_t i = 0; i < c->met_count; i++) {
		const struct meeting *m = &job->meetings[c->met[i]];

		const uint32_t *parts = &job->parts[m->from];

		for (uint32_t k = 1; k < m->count; k++)
			join(c->parent, job->ops[parts[0]].rank,
			     job->ops[parts[k]].rank);
	}
	for (size_t r = 0; r < job->rank_count; r++)
		job->ranks[r].reference =
			job->meeting_count ? root_of(c->parent, (uint32_t)r)
					   : 0;
}

/* ---- lines ---- */

static double true_end(const struct rank *r, double at_ns)
{
	return at_ns - r->offset_ns - r->drift * at_ns;
}

static void find_ends(struct clocks *c)
{
	struct pf_ranks_job *job = c->job;
	const struct met *at = c->ends;

	for (uint32_t i = 0; i < c->met_count; i++) {
		uint32_t count = job->meetings[c->met[i]].count;

		for (uint32_t k = 0; k < count; k++, at++)
			c->values[k] =
				true_end(&job->ranks[at->rank], at->at_ns);
		c->end_ns[i] = pf_ranks_median(c->values, count);
	}
}

/* The median of slopes between points half a series apart. */
static double find_slope(struct clocks *c, const struct seen *s, size_t n)
{
	size_t half = n / 2, count = 0;

	for (size_t i = 0; i + half < n; i++) {
		const struct seen *x = &s[i], *y = &s[i + half];
		double dx = y->at_ns - x->at_ns;

		if (dx > 0)
			c->slopes[count++] = (dx - c->end_ns[y->meeting] +
					      c->end_ns[x->meeting]) /
					     dx;
	}
	return pf_ranks_median(c->slopes, count);
}

/* with_drift: of ranks that are not known to have none. */
static void draw_line(struct clocks *c, size_t r, bool with_drift)
{
	const struct seen *s = &c->seen[c->first[r]];
	size_t n = c->first[r + 1] - c->first[r];

	with_drift &= n >= LINE_LEAST && !c->is_steady[r];
	c->drifts[r] = with_drift ? find_slope(c, s, n) : 0;
	for (size_t i = 0; i < n; i++)
		c->values[i] = s[i].at_ns - c->end_ns[s[i].meeting] -
			       c->drifts[r] * s[i].at_ns;
	c->offsets[r] = pf_ranks_median(c->values, n);
}

/*
 * Lines become those of ranks, each against its reference, which stays where
 * it is; drifts that are shared are not against it.  How far they moved.
 */
static double take_lines(struct clocks *c)
{
	double moved = 0;

	for (size_t i = c->job->rank_count; i-- > 0;) {
		struct rank *r = &c->job->ranks[i];

		c->offsets[i] -= c->offsets[r->reference];
		if (!c->is_shared)
			c->drifts[i] -= c->drifts[r->reference];
		moved = fmax(moved, fabs(c->offsets[i] - r->offset_ns));
		r->offset_ns = c->offsets[i];
		r->drift = c->drifts[i];
	}
	return moved;
}

static double draw_lines(struct clocks *c, bool with_drift)
{
	for (size_t r = 0; r < c->job->rank_count; r++)
		draw_line(c, r, with_drift);
	return take_lines(c);
}

/* ---- the first guess: outwards from the references ---- */

struct guess {
	uint32_t rank;
	double apart_ns;
};

PF_ORDER(by_guess, struct guess, PF_UP(rank) PF_UP(apart_ns))

/* Ranks that meet this one and are not known yet: how their ends differ. */
static size_t gather_guesses(struct clocks *c, uint32_t q, const bool *is_known,
			     bool *is_done, struct guess **out, size_t *cap)
{
	struct pf_ranks_job *job = c->job;
	size_t count = 0;

	for (uint32_t i = c->first[q]; i < c->first[q + 1]; i++) {
		const struct meeting *m =
			&job->meetings[c->met[c->seen[i].meeting]];

		if (is_done[m->group])
			continue;
		for (uint32_t k = 0; k < m->count; k++) {
			uint32_t op = job->parts[m->from + k];
			uint32_t p = job->ops[op].rank;

			if (is_known[p])
				continue;
			*PF_ONE_MORE(*out, count, *cap) = (struct guess){
				p,
				(double)(job->ops[op].end_ns - job->zero_ns) -
					c->seen[i].at_ns
			};
		}
	}
	for (uint32_t i = c->first[q]; i < c->first[q + 1]; i++)
		is_done[job->meetings[c->met[c->seen[i].meeting]].group] = true;
	return count;
}

static double middle_of(const struct guess *g, size_t n)
{
	return n % 2 ? g[n / 2].apart_ns
		     : (g[n / 2 - 1].apart_ns + g[n / 2].apart_ns) / 2;
}

static void guess_from(struct clocks *c, uint32_t reference, bool *is_known,
		       bool *is_done, uint32_t *todo)
{
	struct pf_ranks_job *job = c->job;
	PF_OWN struct guess *all = NULL;
	size_t cap = 0, depth = 0;

	todo[depth++] = reference;
	is_known[reference] = true;
	while (depth) {
		uint32_t q = todo[--depth];
		size_t n = gather_guesses(c, q, is_known, is_done, &all, &cap);

		pf_sort(all, n, sizeof(*all), by_guess);
		for (size_t i = 0, end; i < n; i = end) {
			uint32_t p = all[i].rank;

			for (end = i + 1; end < n && all[end].rank == p;)
				end++;
			job->ranks[p].offset_ns = job->ranks[q].offset_ns +
						  middle_of(&all[i], end - i);
			is_known[p] = true;
			todo[depth++] = p;
		}
	}
}

static void guess(struct clocks *c)
{
	struct pf_ranks_job *job = c->job;
	bool *is_known = clocks_calloc(c, job->rank_count, sizeof(*is_known));
	bool *is_done = clocks_calloc(c, job->groups.count, sizeof(*is_done));
	uint32_t *todo = clocks_calloc(c, job->rank_count, sizeof(*todo));

	for (uint32_t r = 0; r < job->rank_count; r++)
		if (job->ranks[r].reference == r)
			guess_from(c, r, is_known, is_done, todo);
}

/* ---- how good it is ---- */

/* The scatter of a rank's ends about its line. */
static double find_scatter(struct clocks *c, size_t r)
{
	const struct seen *s = &c->seen[c->first[r]];
	size_t n = c->first[r + 1] - c->first[r];
	double middle;

	for (size_t i = 0; i < n; i++)
		c->values[i] = true_end(&c->job->ranks[r], s[i].at_ns) -
			       c->end_ns[s[i].meeting];
	middle = pf_ranks_median(c->values, n);
	for (size_t i = 0; i < n; i++)
		c->values[i] = fabs(c->values[i] - middle);
	return 1.4826 * pf_ranks_median(c->values, n);
}

/* The longest time between ends of a rank. */
static double find_width(const struct clocks *c)
{
	double width = 0;

	for (size_t r = 0; r < c->job->rank_count; r++) {
		double low = INFINITY, high = -INFINITY;

		for (uint32_t i = c->first[r]; i < c->first[r + 1]; i++) {
			low = fmin(low, c->seen[i].at_ns);
			high = fmax(high, c->seen[i].at_ns);
		}
		width = fmax(width, high - low);
	}
	return width;
}

/*
 * A drift that the scatter explains is none.  Slopes are only known up to one
 * that all share: what the most of them have is that of the true time.
 */
static void drop_drifts(struct clocks *c, double errors)
{
	struct pf_ranks_job *job = c->job;
	double width = find_width(c), shared = 0;

	for (size_t r = 0; r < job->rank_count; r++)
		c->drifts[r] = job->ranks[r].drift;
	if (errors > ERRORS_SHOWN)
		shared = pf_ranks_median(c->drifts, job->rank_count);
	for (size_t r = 0; r < job->rank_count; r++) {
		struct rank *rank = &job->ranks[r];
		double n = c->first[r + 1] - c->first[r], bound;

		bound = errors * find_scatter(c, r) *
			sqrt(12 / (n > 1 ? n : 1));
		rank->slope_bound = width > 0 ? bound / width : NAN;
		c->offsets[r] = rank->offset_ns;
		c->drifts[r] = rank->drift - shared;
		if ((fabs(c->drifts[r]) * width >= bound && n >= LINE_LEAST &&
		     fabs(c->drifts[r]) <= DRIFT_MOST) ||
		    n < 1)
			continue;
		c->is_steady[r] = true;
		if (errors > ERRORS_SHOWN)
			c->drifts[r] = 0;
		else
			draw_line(c, r, false);
	}
	c->is_shared = errors > ERRORS_SHOWN;
	take_lines(c);
}

static void settle(struct clocks *c)
{
	for (int round = 0; round < ROUNDS; round++) {
		find_ends(c);
		if (draw_lines(c, round > 2) < MOVE_NS && round > 4)
			break;
	}
}

/* From what most ranks share to the references' clocks. */
static void unshare(struct pf_ranks_job *job)
{
	for (size_t i = job->rank_count; i-- > 0;)
		job->ranks[i].drift -=
			job->ranks[job->ranks[i].reference].drift;
}

/* Lines for all, then for those alone that need one. */
static void fit(struct clocks *c)
{
	guess(c);
	settle(c);
	if (c->job->args.clock == PF_CLOCK_DRIFTING) {
		drop_drifts(c, ERRORS_SHOWN);
		return;
	}
	drop_drifts(c, ERRORS_SURE);
	settle(c);
	unshare(c->job);
}

/* ---- times onto the clocks ---- */

int64_t pf_ranks_time(const struct pf_ranks_job *job, const struct rank *r,
		      int64_t ns)
{
	int64_t at = pf_sat_sub(ns, job->zero_ns);

	if (r->offset_ns == 0 && r->drift == 0)
		return at;
	return (int64_t)llround((double)at - r->offset_ns -
				r->drift * (double)at);
}

static void align_ops(struct pf_ranks_job *job)
{
	for (size_t r = 0; r < job->rank_count; r++) {
		const struct rank *rank = &job->ranks[r];

		for (uint32_t i = 0; i < rank->count; i++) {
			struct op *op = &job->ops[rank->from + i];
			int64_t needed = op->start_ns - op->ready_ns;

			op->start_ns = pf_ranks_time(job, rank, op->start_ns);
			op->end_ns = pf_ranks_time(job, rank, op->end_ns);
			op->ready_ns = op->start_ns - needed;
		}
	}
}

/* ---- checks ---- */

/* By the clocks as they are known; before times are brought onto them. */
static void count_early(struct pf_ranks_job *job)
{
	job->early_count = 0;
	for (uint32_t i = 0; i < job->meeting_count; i++) {
		struct meeting *m = &job->meetings[i];
		int64_t last = INT64_MIN, end = INT64_MAX;

		for (uint32_t k = 0; k < m->count; k++) {
			const struct op *op =
				&job->ops[job->parts[m->from + k]];
			const struct rank *r = &job->ranks[op->rank];

			PF_AT_LEAST(last, pf_ranks_time(job, r, op->start_ns));
			PF_AT_MOST(end, pf_ranks_time(job, r, op->end_ns));
		}
		m->last_ns = last;
		m->is_early = end < last;
		job->early_count += m->is_early;
	}
}

/* Clocks of one machine are one. */
static void check_machines(struct pf_ranks_job *job)
{
	for (size_t i = 0; i < job->rank_count && !job->why.len; i++) {
		const struct rank *x = &job->ranks[i];
		const struct rank *y = &job->ranks[x->reference];
		double apart = fabs(x->offset_ns);

		if (is_one_machine(x, y) && apart > MACHINE_NS)
			pf_buf_addf(&job->why,
				    "ranks %" PRId64 " and %" PRId64
				    " ran on one machine, and yet their "
				    "collectives end %s apart",
				    y->rank, x->rank,
				    PF_SHOW_NS(llround(apart)));
	}
}

/*
 * In any group: clocks of one machine agree, and most groups may be of one,
 * so that few of all collectives show how clocks of machines differ.
 */
static void check_causality(struct pf_ranks_job *job)
{
	PF_OWN uint32_t *counts =
		pf_calloc(job->groups.count + 1, sizeof(*counts));
	PF_OWN uint32_t *early =
		pf_calloc(job->groups.count + 1, sizeof(*early));
	bool is_bad = false;

	for (uint32_t i = 0; i < job->meeting_count; i++) {
		counts[job->meetings[i].group]++;
		early[job->meetings[i].group] += job->meetings[i].is_early;
	}
	for (uint32_t i = 0; i < job->groups.count; i++)
		is_bad |= early[i] > EARLY_MAX * counts[i];
	if (!is_bad)
		return;
	pf_buf_addf(&job->why,
		    "%" PRId64 " of %u collectives end on one rank before "
		    "another has begun%s",
		    job->early_count, job->meeting_count,
		    job->args.clock == PF_CLOCK_AS_IS ? ", so the clocks differ"
		    : job->is_of_hosts
			    ? ", as where there are several process groups, "
			      "which hosts do not name"
			    : ", whatever the difference of their clocks");
}

/* What the error of an offset adds up to, over all that a rank meets. */
static void check_error(struct pf_ranks_job *job)
{
	for (size_t i = 0; i < job->rank_count && !job->why.len; i++) {
		const struct rank *r = &job->ranks[i];
		double n = r->seen_count, window;

		if (r->reference == i ||
		    is_one_machine(r, &job->ranks[r->reference]))
			continue;
		window = (double)(r->end_ns - r->start_ns);
		if (n < SEEN_LEAST && job->args.clock == PF_CLOCK_AS_IS)
			continue;
		if (n < SEEN_LEAST && job->partly.len)
			pf_buf_adds(&job->why, job->partly.data);
		else if (n < SEEN_LEAST)
			pf_buf_addf(&job->why,
				    "rank %" PRId64 " has %d collectives with "
				    "others, too few to compare its clock%s",
				    r->rank, (int)n,
				    r->receives ? "; if clocks are one, "
						  "--clock as-is shows waits "
						  "in receives"
						: "");
		else if (r->scatter_ns * sqrt(n) >
			 (job->is_of_hosts ? ERROR_HOSTS : ERROR_MAX) * window)
			pf_buf_addf(&job->why,
				    "collectives of rank %" PRId64
				    " end %s before or after those of others, "
				    "too much to compare its clock",
				    r->rank,
				    PF_SHOW_NS(llround(r->scatter_ns)));
	}
}

/*
 * Hosts say what time of day it is, and leave a collective when they are woken:
 * clocks that differ by no more than ends scatter, or that ends would have one
 * rank leave before another came, are as they are.
 */
static void keep_clocks(struct clocks *c)
{
	struct pf_ranks_job *job = c->job;
	PF_OWN struct rank *fitted =
		pf_calloc(job->rank_count + 1, sizeof(*fitted));
	double scatter = 0, apart = 0;
	int64_t early;

	find_ends(c);
	count_early(job);
	early = job->early_count;
	memcpy(fitted, job->ranks, job->rank_count * sizeof(*fitted));
	for (size_t r = 0; r < job->rank_count; r++) {
		scatter = fmax(scatter, find_scatter(c, r));
		apart = fmax(apart, fabs(job->ranks[r].offset_ns));
		job->ranks[r].offset_ns = job->ranks[r].drift = 0;
	}
	count_early(job);
	if (job->early_count > early ||
	    (job->early_count == early && apart > ERRORS_SHOWN * scatter))
		memcpy(job->ranks, fitted, job->rank_count * sizeof(*fitted));
}

/* Brings all times onto clocks of references. */
static void ranks_align(struct pf_ranks_job *job)
{
	struct clocks c = { .job = job };

	find_zero(job);
	choose(&c);
	look(&c);
	connect(&c);
	c.offsets = clocks_calloc(&c, job->rank_count, sizeof(*c.offsets));
	c.drifts = clocks_calloc(&c, job->rank_count, sizeof(*c.drifts));
	c.is_steady = clocks_calloc(&c, job->rank_count, sizeof(*c.is_steady));
	if (job->args.clock != PF_CLOCK_AS_IS && job->meeting_count)
		fit(&c);
	if (job->is_of_hosts)
		keep_clocks(&c);
	find_ends(&c);
	for (size_t r = 0; r < job->rank_count; r++) {
		job->ranks[r].scatter_ns = find_scatter(&c, r);
		job->ranks[r].seen_count = c.first[r + 1] - c.first[r];
	}
	count_early(job);
	align_ops(job);
	check_machines(job);
	if (!job->why.len)
		check_causality(job);
	if (!job->why.len)
		check_error(job);
	pf_arena_release(&c.memory);
}

/* Meetings in order of time: who is last, why, and where that begins. */

#define WAIT_SHARE  0.3 /* of the spread: waiting that explains being late */
#define HOST_SHARE  0.5 /* of idle time: a cause that names it */
#define FIRST_SHARE 0.5 /* of the waits for it: kernels that are longer */

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
		PF_AT_LEAST(m->end_ns, job->ops[op].end_ns);
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
	m->transfer_ns = median_ns(transfers, m->count);
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

struct in_time {
	int64_t last_ns;
	uint32_t order, meeting;
};

PF_ORDER(by_time, struct in_time, PF_UP(last_ns) PF_UP(order))

static void sort_meetings(struct pf_ranks_job *job)
{
	PF_OWN struct in_time *all =
		pf_calloc(job->meeting_count + 1, sizeof(*all));

	for (uint32_t i = 0; i < job->meeting_count; i++)
		all[i] = (struct in_time){ job->meetings[i].last_ns,
					   job->meetings[i].order, i };
	pf_sort(all, job->meeting_count, sizeof(*all), by_time);
	job->sorted = pf_arena_calloc(&job->memory, job->meeting_count,
				      sizeof(*job->sorted));
	for (uint32_t i = 0; i < job->meeting_count; i++)
		job->sorted[i] = all[i].meeting;
}

/* Who is last, why and where it begins. */
static void ranks_blame(struct pf_ranks_job *job)
{
	struct pf_arena *memory = &job->memory;
	struct arrival *at =
		pf_arena_calloc(memory, job->rank_count, sizeof(*at));
	int64_t *transfers =
		pf_arena_calloc(memory, job->rank_count, sizeof(*transfers));
	uint32_t *before =
		pf_arena_calloc(memory, job->op_count, sizeof(*before));
	uint32_t *newest =
		pf_arena_calloc(memory, job->rank_count, sizeof(*newest));

	memset(newest, 0xff, job->rank_count * sizeof(*newest));
	sort_meetings(job);
	for (uint32_t i = 0; i < job->meeting_count; i++) {
		struct meeting *m = &job->meetings[job->sorted[i]];

		measure(job, m, at, transfers);
		explain(job, m);
		for (uint32_t k = 0; k < m->count; k++) {
			uint32_t op = job->parts[m->from + k];
			uint32_t r = job->ops[op].rank;

			before[op] = newest[r];
			newest[r] = op;
		}
		if (m->last == NONE)
			continue;
		m->root = job->ops[m->last].rank;
		m->root_cause = m->cause;
		if (m->cause == PF_LATE_COMMUNICATION)
			find_root(job, m, before);
	}
}

/* Digests come in any order and are kept as bytes; ranks are in their order. */

/* ---- digests ---- */

struct pf_ranks_job *pf_ranks_new(const struct pf_ranks_args *args)
{
	struct pf_ranks_job *job = pf_calloc(1, sizeof(*job));

	job->args = *args;
	return job;
}

void pf_ranks_free(struct pf_ranks_job *job)
{
	if (!job)
		return;
	for (size_t i = 0; i < job->rank_count; i++) {
		free(job->ranks[i].host);
		pf_buf_release(&job->ranks[i].bytes);
	}
	pf_intern_release(&job->groups);
	pf_buf_release(&job->why);
	pf_buf_release(&job->partly);
	pf_buf_release(&job->left_out);
	pf_arena_release(&job->memory);
	free(job->ranks);
	free(job);
}

/* Two of one content are of one trace, wherever they were read. */
static uint64_t hash_of(const struct pf_digest *d)
{
	struct pf_digest copy = *d;
	PF_AUTO(pf_buf_release) struct pf_buf bytes = { 0 };

	copy.trace_id = 0;
	pf_digest_put(&copy, &bytes);
	return pf_digest_hash(bytes.data, bytes.len);
}

static int keep(void *context, struct pf_digest *d, struct pf_err *err)
{
	struct pf_ranks_job *job = context;
	struct pf_buf bytes = { 0 };
	struct rank *r;

	if (d->op_count > OPS_MAX - job->op_count)
		return pf_fail(err, PF_ELIMIT,
			       "more than %u collectives of ranks cannot be "
			       "compared at once; choose steps with --step",
			       OPS_MAX);
	if (!pf_digest_put(d, &bytes)) {
		pf_buf_release(&bytes);
		pf_buf_addf(&job->left_out,
			    "%srank %" PRId64
			    ", whose times are too large to be added up",
			    job->left_out.len ? "; " : "", d->rank);
		return 0;
	}
	job->op_count += (uint32_t)d->op_count;
	r = PF_ONE_MORE(job->ranks, job->rank_count, job->rank_cap);
	*r = (struct rank){ .rank = d->rank,
			    .trace_id = d->trace_id,
			    .world = d->world,
			    .host = d->host ? pf_strdup(d->host) : NULL,
			    .count = (uint32_t)d->op_count,
			    .start_ns = d->start_ns,
			    .end_ns = d->end_ns,
			    .first_ns = d->first_ns,
			    .knows_p2p = d->knows_p2p,
			    .has_p2p = d->message_count > 0,
			    .hash = hash_of(d),
			    .bytes = bytes };
	for (size_t i = 0; i < d->message_count; i++)
		r->receives |= d->messages[i].is_receive;
	return 0;
}

int pf_ranks_add(struct pf_ranks_job *job, struct pf_db *db,
		 const struct pf_window *window)
{
	const struct pf_digest_sink sink = { keep, job };

	return pf_digests_make(db, window, &sink);
}

int pf_ranks_add_bytes(struct pf_ranks_job *job, const void *data, size_t len,
		       const char *ranks, struct pf_err *err)
{
	PF_AUTO(pf_digest_release) struct pf_digest d = { 0 };

	PF_TRY(pf_digest_get(data, len, &d, err));
	if ((!ranks || pf_window_names_rank(ranks, d.rank)))
		return keep(job, &d, err) < 0 ? -1 : 1;
	return 0;
}

/* ---- into memory ---- */

PF_ORDER(by_rank, struct rank, PF_UP(rank) PF_UP(trace_id))

static bool check_ranks(struct pf_ranks_job *job)
{
	for (size_t i = 0; i < job->rank_count && !job->why.len; i++) {
		if (job->ranks[i].rank < 0)
			pf_buf_adds(&job->why,
				    "not every trace says which rank it is "
				    "of");
		else if (i && job->ranks[i].rank == job->ranks[i - 1].rank)
			pf_buf_addf(&job->why,
				    "two traces are of rank %" PRId64,
				    job->ranks[i].rank);
	}
	return !job->why.len;
}

/* A group without a name is its stream. */
static uint32_t group_of(struct pf_ranks_job *job, const struct pf_digest *d,
			 const struct pf_digest_op *op)
{
	const char *name = d->groups[op->group];
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };
	uint32_t group;

	if (*name)
		pf_buf_addf(&text, "=%s", name);
	else
		pf_buf_addf(&text, "@%" PRId64, op->stream);
	group = pf_intern_add(&job->groups, text.data, text.len);
	return group;
}

static void load_op(struct pf_ranks_job *job, uint32_t rank,
		    const struct pf_digest *d, const struct pf_digest_op *from,
		    struct op *op)
{
	*op = (struct op){
		.rank = rank,
		.start_ns = from->start_ns,
		.end_ns = from->end_ns,
		.ready_ns = from->ready_ns,
		.step = from->step,
		.stream = from->stream,
		.bytes = from->bytes,
		.meeting = NONE,
		.before = NONE,
		.group = group_of(job, d, from),
		.size = from->size > INT32_MAX ? -1 : (int32_t)from->size,
		.kind = (uint8_t)from->kind,
		.gates = from->gates,
		.has_since = from->has_since,
	};
	memcpy(op->since_ns, from->since_ns, sizeof(op->since_ns));
	for (size_t i = 0; i < PF_HOST_CAUSES; i++) {
		int64_t us = from->host_ns[i] / 1000;

		op->host_us[i] = us > UINT32_MAX ? UINT32_MAX : (uint32_t)us;
	}
}

static void load_ops(struct pf_ranks_job *job)
{
	uint32_t at = 0;

	job->is_of_hosts = job->op_count > 0;
	job->ops =
		pf_arena_calloc(&job->memory, job->op_count, sizeof(*job->ops));
	for (size_t i = 0; i < job->rank_count; i++) {
		struct rank *r = &job->ranks[i];
		struct pf_digest d;

		r->from = at;
		if (!open_digest(job, i, &d))
			return;
		for (size_t k = 0; k < d.op_count; k++) {
			load_op(job, (uint32_t)i, &d, &d.ops[k], &job->ops[at]);
			job->is_of_hosts &=
				job->ops[at++].stream <= PF_DIGEST_HOSTS;
		}
		pf_digest_release(&d);
	}
}

/* ---- damaged traces ---- */

#define DAMAGED_MAX 16 /* ranks that may be the one; of more, none is sought */

static void drop(struct pf_ranks_job *job, size_t i)
{
	free(job->ranks[i].host);
	pf_buf_release(&job->ranks[i].bytes);
	job->rank_count--;
	memmove(&job->ranks[i], &job->ranks[i + 1],
		(job->rank_count - i) * sizeof(*job->ranks));
}

/* Two traces of one content are one; where they differ, if two other ranks
 * are left, none is compared. */
static void settle_twice(struct pf_ranks_job *job)
{
	size_t alone = 0, known = 0;

	for (size_t i = 0; i < job->rank_count; i++)
		known += !i || job->ranks[i].rank != job->ranks[i - 1].rank;
	for (size_t i = 1; known > 1 && i < job->rank_count;) {
		if (job->ranks[i].rank >= 0 &&
		    job->ranks[i].rank == job->ranks[i - 1].rank &&
		    job->ranks[i].hash == job->ranks[i - 1].hash)
			drop(job, i);
		else
			i++;
	}
	for (size_t i = 0, end; i < job->rank_count; i = end) {
		for (end = i + 1; end < job->rank_count &&
				  job->ranks[end].rank == job->ranks[i].rank;)
			end++;
		alone += end == i + 1 && job->ranks[i].rank >= 0;
	}
	for (size_t i = 0, end; alone > 1 && i < job->rank_count;) {
		int64_t rank = job->ranks[i].rank;

		for (end = i + 1;
		     end < job->rank_count && job->ranks[end].rank == rank;)
			end++;
		if (rank < 0 || end == i + 1) {
			i = end;
			continue;
		}
		pf_buf_addf(&job->left_out,
			    "%srank %" PRId64 ", of which %zu traces differ",
			    job->left_out.len ? "; " : "", rank, end - i);
		for (; end > i; end--)
			drop(job, i);
	}
}

/* Ranks that take no part in what most of them do. */
static void settle_silent(struct pf_ranks_job *job)
{
	size_t silent = 0;

	for (size_t i = 0; i < job->rank_count; i++)
		silent += !job->ranks[i].count && !job->ranks[i].has_p2p;
	if (2 * silent >= job->rank_count || job->rank_count - silent < 2)
		return;
	for (size_t i = 0; silent && i < job->rank_count;) {
		if (job->ranks[i].count || job->ranks[i].has_p2p) {
			i++;
			continue;
		}
		pf_buf_addf(&job->left_out,
			    "%srank %" PRId64 ", whose trace has no collective",
			    job->left_out.len ? "; " : "", job->ranks[i].rank);
		drop(job, i);
	}
}

/* As if nothing had been looked at. */
static void start_anew(struct pf_ranks_job *job)
{
	pf_arena_release(&job->memory);
	job->op_count = job->member_count = job->meeting_count = 0;
	job->unlike_count = job->unlike_end_count = 0;
	job->left_count = job->early_count = 0;
	pf_buf_clear(&job->why);
	pf_buf_clear(&job->partly);
	for (size_t i = 0; i < job->rank_count; i++) {
		struct rank *r = &job->ranks[i];

		job->op_count += r->count;
		r->reference = (uint32_t)i;
		r->offset_ns = r->drift = r->scatter_ns = r->slope_bound = 0;
		r->seen_count = 0;
		r->is_odd = r->is_unlike = false;
		r->most_count = 0;
	}
}

/* Onto one clock, or "why" not. */
static void align(struct pf_ranks_job *job)
{
	start_anew(job);
	load_ops(job);
	if (job->err->code)
		return;
	if (check_ranks(job))
		ranks_meet(job);
	if (!job->why.len)
		ranks_align(job);
}

static void say_damaged(struct pf_ranks_job *job, const struct rank *r)
{
	struct pf_buf *out = &job->left_out;

	pf_buf_addf(out, "%srank %" PRId64 ", whose collectives of ",
		    out->len ? "; " : "", r->rank);
	ranks_say_group(job, r->odd_group, out);
	if (r->most_count)
		pf_buf_addf(out, " are %u where most ranks have %u, and",
			    r->odd_count, r->most_count);
	pf_buf_adds(out, " do not match those of the others");
}

/* The ranks of "all" but one; its array is the job's afterwards. */
static void put_without(struct pf_ranks_job *job, const struct rank *all,
			size_t count, size_t but)
{
	job->rank_count = 0;
	for (size_t i = 0; i < count; i++)
		if (i != but)
			job->ranks[job->rank_count++] = all[i];
}

/*
 * Is there one rank without which the others match, and only one?  Of several,
 * such as the two of a group of two, the only one that has not as many
 * collectives as most ranks have.
 */
static void try_without(struct pf_ranks_job *job, const struct rank *all,
			size_t count)
{
	PF_AUTO(pf_buf_release) struct pf_buf who = { 0 };
	uint32_t *counts = pf_calloc(count + 1, sizeof(*counts)), most;
	size_t found = 0, damaged = count, fewer = 0, odd = count;
	bool has_most;

	for (size_t i = 0; i < count; i++)
		counts[i] = all[i].count;
	has_most = find_most(counts, count, &most);
	free(counts);
	for (size_t i = 0; i < count; i++) {
		if (!all[i].is_odd)
			continue;
		put_without(job, all, count, i);
		align(job);
		if (job->why.len || job->unlike_count)
			continue;
		pf_buf_addf(&who, "%s%" PRId64, found++ ? " or " : "",
			    all[i].rank);
		damaged = i;
		if (has_most && all[i].count != most) {
			odd = i;
			fewer++;
		}
	}
	if (found > 1 && fewer == 1) {
		found = 1;
		damaged = odd;
	}
	put_without(job, all, count, found == 1 ? damaged : count);
	align(job);
	if (found == 1) {
		struct rank gone = all[damaged];

		say_damaged(job, &gone);
		free(gone.host);
		pf_buf_release(&gone.bytes);
	} else if (found) {
		if (!job->why.len)
			pf_buf_adds(&job->why, job->partly.len
						       ? job->partly.data
						       : "collectives of ranks "
							 "do not match");
		pf_buf_addf(&job->why,
			    "; it is not certain which trace is damaged, that "
			    "of rank %s",
			    who.data);
	}
}

static void leave_damaged_out(struct pf_ranks_job *job)
{
	size_t count = job->rank_count, odd = 0;
	PF_OWN struct rank *all = NULL;

	for (size_t i = 0; i < count; i++)
		odd += job->ranks[i].is_odd;
	if (!odd || odd > DAMAGED_MAX || count < 3 ||
	    (!job->why.len && !job->unlike_count))
		return;
	all = pf_calloc(count, sizeof(*all));
	memcpy(all, job->ranks, count * sizeof(*all));
	try_without(job, all, count);
}

/* ---- rows of what is found ---- */

const char *pf_late_cause_name(unsigned cause)
{
	static const char *const names[PF_LATE_BY_HOST] = {
		[PF_LATE_COMPUTATION] = "computation",
		[PF_LATE_COMMUNICATION] = "other communication",
		[PF_LATE_COPY] = "copies",
		[PF_LATE_HOST] = "host",
		[PF_LATE_BEFORE] = "late before",
		[PF_LATE_UNKNOWN] = "unknown",
	};

	if (cause < PF_LATE_BY_HOST)
		return names[cause];
	return pf_cause_name(pf_digest_causes[cause - PF_LATE_BY_HOST]);
}

/*
 * Kernels of computation of each rank against those of a middle one.  The
 * middle rank has of each name the (lower) median count, and a kernel of the
 * median mean length.  What a rank takes more is what its counts make of those
 * lengths; what is left is that its kernels are longer: all by a factor, the
 * median of their own by time, and then some.
 */

#define LONGER 0.01   /* of the middle rank's; below, ranks are alike */
#define NS_MAX 0x1p60 /* of sums; beyond, nothing is said */

/* Of GPUs, then of hosts. */
static const char *const work_names[][PF_WORK_SOME + 1] = {
	{ [PF_WORK_ALIKE] = "as others",
	  [PF_WORK_MORE] = "more or other kernels",
	  [PF_WORK_SLOWER] = "same kernels slower",
	  [PF_WORK_SOME] = "some kernels slower" },
	{ [PF_WORK_ALIKE] = "as others",
	  [PF_WORK_MORE] = "more or other operators",
	  [PF_WORK_SLOWER] = "same operators slower",
	  [PF_WORK_SOME] = "some operators slower" },
};

/* Kernels of a name on a rank. */
struct kernels {
	uint64_t name_hash;
	uint32_t rank;
	int64_t count, ns;
	double like_ns; /* so many, each as on the middle rank */
};

struct works {
	struct kernels *items;
	size_t count, cap;
	double middle_ns;   /* of all names */
	int64_t step_count; /* -1: of no rank yet */
	bool is_unlike;     /* captures are of unlike numbers of steps */
	bool is_of_hosts;
};

static void take_works(struct works *w, size_t rank, const struct pf_digest *d)
{
	int64_t steps = (int64_t)d->step_count;

	w->is_unlike |= w->step_count >= 0 && w->step_count != steps;
	w->step_count = steps;
	for (size_t i = 0; i < d->kernel_count; i++) {
		if (d->kernels[i].count <= 0 || d->kernels[i].ns < 0)
			continue;
		*PF_ONE_MORE(w->items, w->count, w->cap) =
			(struct kernels){ .name_hash = d->kernels[i].name_hash,
					  .rank = (uint32_t)rank,
					  .count = d->kernels[i].count,
					  .ns = d->kernels[i].ns };
	}
}

PF_ORDER(by_name, struct kernels, PF_UP(name_hash) PF_UP(rank))

/* The lower one: of two ranks it is a rank's own. */
static double lower_median(double *values, size_t count)
{
	pf_sort(values, count, sizeof(*values), by_value);
	return values[(count - 1) / 2];
}

/* One name on all its ranks; on others there is none of it. */
static void compare_name(struct works *w, struct kernels *of, size_t count,
			 size_t rank_count, double *values)
{
	size_t all = count > rank_count ? count : rank_count;
	double each_ns, middle;

	for (size_t i = 0; i < count; i++)
		values[i] = (double)of[i].ns / (double)of[i].count;
	each_ns = lower_median(values, count);
	for (size_t i = 0; i < all; i++)
		values[i] = i < count ? (double)of[i].count : 0;
	middle = lower_median(values, all);
	w->middle_ns += middle * each_ns;
	for (size_t i = 0; i < count; i++)
		of[i].like_ns = (double)of[i].count * each_ns;
}

/* ---- a rank ---- */

static double ratio(const struct kernels *k)
{
	return k->like_ns > 0 ? (double)k->ns / k->like_ns : 1;
}

static int by_ratio(const void *a, const void *b)
{
	const struct kernels *x = a, *y = b;
	double p = ratio(x), q = ratio(y);

	if (p != q)
		return p < q ? -1 : 1;
	return (x->name_hash > y->name_hash) - (x->name_hash < y->name_hash);
}

PF_ORDER(work_by_rank, struct kernels, PF_UP(rank) PF_THEN(by_ratio))

/* Half of the time is in kernels that are longer by no more than this. */
static double common_factor(const struct kernels *of, size_t count, double all)
{
	double below = 0;

	for (size_t i = 0; i < count; i++) {
		below += of[i].like_ns;
		if (below >= all / 2)
			return ratio(&of[i]);
	}
	return 1;
}

static bool is_sum(double ns)
{
	return ns > -NS_MAX && ns < NS_MAX;
}

static enum pf_rank_work name_work(const struct pf_ranks_rank *r)
{
	double longer = (double)(r->kernel_ns - r->middle_ns);

	if (longer <= LONGER * (double)r->middle_ns)
		return PF_WORK_ALIKE;
	if (r->slower_ns > r->more_ns && r->slower_ns >= r->some_ns)
		return PF_WORK_SLOWER;
	return r->some_ns > r->more_ns ? PF_WORK_SOME : PF_WORK_MORE;
}

/* The parts and the middle rank's time add up to its own. */
static void compare_rank(const struct works *w, const struct kernels *of,
			 size_t count, struct pf_ranks_rank *out)
{
	double like_ns = 0, ns = 0, factor, slower_ns;

	for (size_t i = 0; i < count; i++) {
		ns += (double)of[i].ns;
		like_ns += of[i].like_ns;
	}
	factor = common_factor(of, count, like_ns);
	slower_ns = (factor - 1) * like_ns;
	if (!is_sum(w->middle_ns) || !is_sum(like_ns) || !is_sum(ns) ||
	    !is_sum(slower_ns))
		return;
	out->kernel_ns = 0;
	for (size_t i = 0; i < count; i++)
		out->kernel_ns += of[i].ns;
	out->middle_ns = llround(w->middle_ns);
	out->more_ns = llround(like_ns) - out->middle_ns;
	out->slower_ns = llround(slower_ns);
	out->some_ns =
		out->kernel_ns - out->middle_ns - out->more_ns - out->slower_ns;
	out->factor = factor;
	out->work = name_work(out);
	out->why_longer = work_names[w->is_of_hosts][out->work];
}

static void compare_all(struct works *w, struct pf_ranks *out)
{
	PF_OWN double *values =
		pf_calloc(w->count + out->rank_count + 1, sizeof(*values));

	pf_sort(w->items, w->count, sizeof(*w->items), by_name);
	for (size_t i = 0, end; i < w->count; i = end) {
		for (end = i + 1;
		     end < w->count &&
		     w->items[end].name_hash == w->items[i].name_hash;)
			end++;
		compare_name(w, &w->items[i], end - i, out->rank_count, values);
	}
	pf_sort(w->items, w->count, sizeof(*w->items), work_by_rank);
	for (size_t i = 0, end; i < w->count; i = end) {
		for (end = i + 1;
		     end < w->count && w->items[end].rank == w->items[i].rank;)
			end++;
		compare_rank(w, &w->items[i], end - i,
			     &out->ranks[w->items[i].rank]);
	}
}

/* Meetings and digests as rows: by rank, by kind of collective, by step. */

/* ---- by rank ---- */

/* Time by cause: the largest names it. */
struct blamed {
	int64_t ns[PF_LATE_CAUSES];
};

static const char *cause_of_most(const struct blamed *b)
{
	unsigned best = 0;

	for (unsigned i = 1; i < PF_LATE_CAUSES; i++)
		if (b->ns[i] > b->ns[best])
			best = i;
	return b->ns[best] > 0 ? pf_late_cause_name(best) : NULL;
}

static void add_meeting(struct pf_ranks_job *job, const struct meeting *m,
			struct pf_ranks *out, struct blamed *blamed)
{
	int64_t spread = m->last_ns - m->first_ns;
	struct pf_ranks_rank *r;

	for (uint32_t k = 0; k < m->count; k++) {
		uint32_t op = job->parts[m->from + k];

		r = &out->ranks[job->ops[op].rank];
		r->count++;
		pf_sat_sum(&r->waited_ns, m->last_ns - job->ops[op].start_ns);
	}
	if (m->last == NONE)
		return;
	r = &out->ranks[job->ops[m->last].rank];
	r->last_count++;
	pf_sat_sum(&r->late_ns, spread);
	pf_sat_sum(&r->gain_ns, m->last_ns - m->second_ns);
	pf_sat_sum(&out->ranks[m->root].root_ns, spread);
	pf_sat_sum(&blamed[m->root].ns[m->root_cause], spread);
}

/*
 * Before the first collective of a group nothing is compared.  Where a rank's
 * kernels take longer by so much that this explains its being late there, it
 * computes longer.
 */
static void explain_first(struct pf_ranks_job *job, const struct pf_ranks *out,
			  struct blamed *blamed)
{
	PF_OWN bool *is_longer = pf_calloc(out->rank_count + 1, 1);

	for (size_t i = 0; i < out->rank_count; i++) {
		const struct pf_ranks_rank *r = &out->ranks[i];
		int64_t *ns = blamed[i].ns;

		is_longer[i] =
			r->work > PF_WORK_ALIKE &&
			(double)(r->kernel_ns - r->middle_ns) -
					(double)ns[PF_LATE_COMPUTATION] >=
				FIRST_SHARE * (double)ns[PF_LATE_UNKNOWN];
		if (!is_longer[i])
			continue;
		pf_sat_sum(&ns[PF_LATE_COMPUTATION], ns[PF_LATE_UNKNOWN]);
		ns[PF_LATE_UNKNOWN] = 0;
	}
	for (uint32_t i = 0; i < job->meeting_count; i++) {
		struct meeting *m = &job->meetings[i];

		if (m->last == NONE || !is_longer[m->root] ||
		    m->root_cause != PF_LATE_UNKNOWN)
			continue;
		m->root_cause = PF_LATE_COMPUTATION;
		if (job->ops[m->last].rank == m->root)
			m->cause = PF_LATE_COMPUTATION;
	}
}

/* Exposed communication of a collective, cut where the last rank came. */
static void split(const struct pf_digest *d, const struct pf_digest_op *op,
		  int64_t wait_ns, struct pf_ranks_rank *out)
{
	for (size_t i = 0; i < op->piece_count; i++) {
		const struct pf_digest_piece *p =
			&d->pieces[op->piece_from + i];
		int64_t wait = wait_ns - p->after_ns;

		wait = wait < 0 ? 0 : wait > p->ns ? p->ns : wait;
		pf_sat_sum(&out->wait_ns, wait);
		pf_sat_sum(&out->transfer_ns, p->ns - wait);
	}
}

static void split_rank(struct pf_ranks_job *job, size_t index,
		       struct works *works, struct pf_ranks_rank *out)
{
	const struct rank *r = &job->ranks[index];
	struct pf_digest d;

	if (!open_digest(job, index, &d))
		return;
	for (size_t i = 0; !job->why.len && i < d.op_count; i++) {
		const struct op *op = &job->ops[r->from + i];

		if (op->meeting != NONE)
			split(&d, &d.ops[i],
			      job->meetings[op->meeting].last_ns - op->start_ns,
			      out);
	}
	out->computation_ns = d.ns[PF_DOING_COMPUTATION];
	out->copy_ns = d.ns[PF_DOING_COPY];
	out->idle_ns = d.ns[PF_DOING_IDLE];
	out->other_comm_ns =
		d.ns[PF_DOING_COMMUNICATION] - out->wait_ns - out->transfer_ns;
	take_works(works, index, &d);
	pf_digest_release(&d);
}

static void show_clock(const struct pf_ranks_job *job, size_t index,
		       struct pf_ranks *out)
{
	const struct rank *r = &job->ranks[index];
	struct pf_ranks_rank *row = &out->ranks[index];
	int64_t away;

	row->reference = job->ranks[r->reference].rank;
	row->offset_ns = llround(r->offset_ns);
	row->drift_ppm =
		r->drift != 0 || r->reference == index ? r->drift * 1e6 : NAN;
	row->drift_bound_ppm = r->slope_bound * 1e6;
	row->scatter_ns = llround(r->scatter_ns);
	row->seen_count = r->seen_count;
	row->error_ns = r->seen_count
				? llround(r->scatter_ns / sqrt(r->seen_count))
				: -1;
	away = row->offset_ns < 0 ? -row->offset_ns : row->offset_ns;
	PF_AT_LEAST(out->clock_ns, away);
	if (r->scatter_ns > (double)out->residual_ns)
		out->residual_ns = llround(r->scatter_ns);
	if (r->reference == index && r->seen_count)
		out->component_count++;
	row->begins_ns = pf_ranks_time(job, r, r->first_ns);
}

/* After the first event of all. */
static void settle_begins(struct pf_ranks *out)
{
	int64_t least = INT64_MAX;

	for (size_t i = 0; i < out->rank_count; i++)
		PF_AT_MOST(least, out->ranks[i].begins_ns);
	for (size_t i = 0; i < out->rank_count; i++)
		out->ranks[i].begins_ns =
			pf_sat_sub(out->ranks[i].begins_ns, least);
}

/* Is it a wait for the straggler, or is there none? */
static bool is_for(const struct pf_ranks_job *job, const struct meeting *m,
		   int64_t straggler)
{
	return straggler < 0 || m->root == straggler ||
	       job->ops[m->last].rank == straggler;
}

/*
 * The longest wait for a rank that alone is late, by the first that came; once
 * the straggler is known.
 */
static void find_longest(struct pf_ranks_job *job, struct pf_ranks *out)
{
	const struct meeting *worst = NULL;

	for (uint32_t i = 0; i < job->meeting_count; i++) {
		const struct meeting *m = &job->meetings[job->sorted[i]];

		if (m->last == NONE ||
		    m->last_ns - m->first_ns <= out->longest_wait_ns ||
		    !is_for(job, m, out->straggler))
			continue;
		worst = m;
		out->longest_wait_ns = m->last_ns - m->first_ns;
	}
	for (uint32_t k = 0; worst && k < worst->count; k++) {
		uint32_t op = job->parts[worst->from + k];
		const struct rank *r = &job->ranks[job->ops[op].rank];

		if (job->ops[op].start_ns != worst->first_ns)
			continue;
		out->longest_wait_rank = (size_t)(r - job->ranks);
		out->longest_wait_start_ns = pf_sat_sub(
			worst->first_ns, pf_ranks_time(job, r, r->first_ns));
		return;
	}
}

static void make_ranks(struct pf_ranks_job *job, struct pf_ranks *out)
{
	PF_OWN struct blamed *blamed =
		pf_calloc(job->rank_count + 1, sizeof(*blamed));
	struct works works = { .step_count = -1,
			       .is_of_hosts = job->is_of_hosts };

	out->rank_count = job->rank_count;
	out->ranks = pf_arena_calloc(&out->memory, job->rank_count,
				     sizeof(*out->ranks));
	for (size_t i = 0; i < job->rank_count; i++) {
		out->ranks[i] = (struct pf_ranks_rank){
			.rank = job->ranks[i].rank,
			.trace_id = job->ranks[i].trace_id,
			.host = pf_arena_string(&out->memory,
						job->ranks[i].host),
			.window_ns =
				job->ranks[i].end_ns - job->ranks[i].start_ns,
			.saved_ns = PF_NO_INT,
			.kernel_ns = PF_NO_INT,
			.middle_ns = PF_NO_INT,
			.more_ns = PF_NO_INT,
			.slower_ns = PF_NO_INT,
			.some_ns = PF_NO_INT,
			.factor = NAN,
		};
		if (!job->why.len)
			show_clock(job, i, out);
	}
	settle_begins(out);
	for (uint32_t i = 0; !job->why.len && i < job->meeting_count; i++)
		add_meeting(job, &job->meetings[i], out, blamed);
	for (size_t i = 0; i < job->rank_count; i++)
		split_rank(job, i, &works, &out->ranks[i]);
	/* captures of unlike lengths hold unlike work */
	if (!job->why.len && !works.is_unlike && !job->left_count)
		compare_all(&works, out);
	explain_first(job, out, blamed);
	for (size_t i = 0; i < job->rank_count; i++)
		out->ranks[i].cause = cause_of_most(&blamed[i]);
	free(works.items);
}

/* ---- by kind ---- */

static const char *kind_name(unsigned kind)
{
	static const char *const names[] = {
		[PF_SYNC_NONE] = "other",
		[PF_SYNC_ALL_REDUCE] = "all_reduce",
		[PF_SYNC_ALL_GATHER] = "all_gather",
		[PF_SYNC_REDUCE_SCATTER] = "reduce_scatter",
		[PF_SYNC_ALL_TO_ALL] = "all_to_all",
		[PF_SYNC_BARRIER] = "barrier",
	};

	return kind < PF_LEN(names) ? names[kind] : "other";
}

/*
 * On several machines?  NULL: not every rank says where it ran, as those do
 * not that were not traced.
 */
static const char *across(const struct pf_ranks_job *job,
			  const struct meeting *m, int64_t size)
{
	const char *first = NULL;
	bool is_one = true;

	for (uint32_t k = 0; k < m->count; k++) {
		uint32_t op = job->parts[m->from + k];
		const char *host = job->ranks[job->ops[op].rank].host;

		if (!host)
			return NULL;
		if (!first)
			first = host;
		is_one &= !strcmp(first, host);
	}
	if (!is_one)
		return "yes";
	return m->count == size ? "no" : NULL;
}

struct transfer {
	size_t kind;
	int64_t ns;
};

PF_ORDER(by_kind_of, struct transfer, PF_UP(kind) PF_UP(ns))

/* Medians of one kind's transfers, in ascending order. */
static void rate(struct pf_ranks_kind *k, const struct transfer *t, size_t n)
{
	const struct pf_collective c = { .name = { k->kind, strlen(k->kind) },
					 .group_size = k->size };
	PF_OWN double *rates = pf_calloc(n + 1, sizeof(*rates));
	PF_OWN int64_t *ns = pf_calloc(n + 1, sizeof(*ns));
	double factor = pf_collective_factor(&c);
	size_t rated = 0;

	for (size_t i = 0; i < n; i++) {
		ns[i] = t[i].ns;
		if (k->bytes > 0 && t[i].ns > 0)
			rates[rated++] = (double)k->bytes / (double)t[i].ns;
	}
	k->transfer_ns = median_ns(ns, n);
	k->algorithm_rate = rated ? pf_ranks_median(rates, rated) : NAN;
	k->bus_rate = factor >= 0 ? k->algorithm_rate * factor : NAN;
}

PF_ORDER(by_kind, struct pf_ranks_kind,
	 PF_ALPHA(kind) PF_UP(size) PF_UP(bytes) PF_ALPHA(across))

static void make_kinds(struct pf_ranks_job *job, struct pf_ranks *out)
{
	PF_OWN struct transfer *all =
		pf_calloc(job->meeting_count + 1, sizeof(*all));
	PF_AUTO(pf_buf_release) struct pf_buf key = { 0 };
	struct pf_keyed kinds;

	pf_keyed_begin(&kinds, sizeof(*out->kinds), PF_KEYED_SUMS);
	for (uint32_t i = 0; i < job->meeting_count; i++) {
		const struct meeting *m = &job->meetings[i];
		const struct op *op = &job->ops[job->parts[m->from]];
		const char *kind = kind_name(op->kind);
		const char *is_across = across(job, m, op->size);
		struct pf_ranks_kind *k;
		size_t n;

		pf_buf_clear(&key);
		pf_buf_addf(&key, "%s/%" PRId32 "/%" PRId64 "/%s", kind,
			    op->size, op->bytes, is_across ? is_across : "?");
		n = pf_keyed_at_text(&kinds, key.data, key.len);
		k = PF_KEYED_ROW(&kinds, struct pf_ranks_kind, n);
		k->kind = kind;
		k->size = op->size;
		k->bytes = op->bytes;
		k->across = is_across;
		k->count++;
		pf_sat_sum(&k->spread_ns, m->last_ns - m->first_ns);
		all[i] = (struct transfer){ n, m->transfer_ns };
	}
	pf_sort(all, job->meeting_count, sizeof(*all), by_kind_of);
	for (size_t i = 0, end; i < job->meeting_count; i = end) {
		for (end = i + 1;
		     end < job->meeting_count && all[end].kind == all[i].kind;)
			end++;
		rate(PF_KEYED_ROW(&kinds, struct pf_ranks_kind, all[i].kind),
		     &all[i], end - i);
	}
	pf_keyed_sort(&kinds, by_kind);
	out->kinds = kinds.rows;
	out->kind_count = kinds.count;
}

/* ---- by step ---- */

/* Whom others waited for in a step. */
struct blame {
	size_t step;
	uint32_t rank;
	struct blamed by;
	int64_t ns;
};

static void blame(struct pf_keyed *blames, size_t step, const struct meeting *m)
{
	int64_t spread = m->last_ns - m->first_ns;
	size_t n = pf_keyed_at(blames, (uint64_t)step << 32 | m->root);
	struct blame *one = PF_KEYED_ROW(blames, struct blame, n);

	one->step = step;
	one->rank = m->root;
	pf_sat_sum(&one->ns, spread);
	pf_sat_sum(&one->by.ns[m->root_cause], spread);
}

PF_ORDER(by_step, struct pf_ranks_step, PF_UP(step))

static void make_steps(struct pf_ranks_job *job, struct pf_ranks *out)
{
	PF_AUTO(pf_keyed_end) struct pf_keyed blames = { 0 };
	struct pf_keyed steps;

	pf_keyed_begin(&steps, sizeof(struct pf_ranks_step), PF_KEYED_SUMS);
	pf_keyed_begin(&blames, sizeof(struct blame), PF_KEYED_SUMS);
	for (uint32_t i = 0; i < job->meeting_count; i++) {
		const struct meeting *m = &job->meetings[i];
		int64_t step = job->ops[job->parts[m->from]].step;
		struct pf_ranks_step *s;
		size_t n;

		if (step < 0)
			continue;
		n = pf_keyed_at(&steps, (uint64_t)step);
		s = PF_KEYED_ROW(&steps, struct pf_ranks_step, n);
		s->step = step;
		s->late_rank = PF_NO_INT;
		s->count++;
		pf_sat_sum(&s->spread_ns, m->last_ns - m->first_ns);
		if (m->last != NONE)
			blame(&blames, n, m);
	}
	for (size_t i = 0; i < blames.count; i++) {
		const struct blame *b = PF_KEYED_ROW(&blames, struct blame, i);
		struct pf_ranks_step *s =
			PF_KEYED_ROW(&steps, struct pf_ranks_step, b->step);

		if (b->ns <= s->late_ns)
			continue;
		s->late_ns = b->ns;
		s->late_rank = job->ranks[b->rank].rank;
		s->cause = cause_of_most(&b->by);
	}
	pf_keyed_sort(&steps, by_step);
	out->steps = steps.rows;
	out->step_count = steps.count;
}

/* ---- one by one ---- */

static void make_meeting(struct pf_ranks_job *job, const struct meeting *m,
			 const char *const *groups,
			 struct pf_ranks_meeting *out)
{
	const struct op *op = &job->ops[job->parts[m->from]];

	*out = (struct pf_ranks_meeting){
		.group = groups[m->group],
		.kind = kind_name(op->kind),
		.number = m->number,
		.step = op->step < 0 ? PF_NO_INT : op->step,
		.count = m->count,
		.last_rank = PF_NO_INT,
		.middle_rank = PF_NO_INT,
		.spread_ns = m->last_ns - m->first_ns,
		.gain_ns = m->last_ns - m->second_ns,
		.transfer_ns = m->transfer_ns,
		.late_ns = PF_NO_INT,
		.root_rank = PF_NO_INT,
	};
	for (unsigned i = 0; i < PF_LATE_PARTS; i++)
		out->why_ns[i] = m->has_why ? m->why_ns[i] : PF_NO_INT;
	if (m->last == NONE)
		return;
	out->last_rank = job->ranks[job->ops[m->last].rank].rank;
	out->middle_rank = job->ranks[job->ops[m->middle].rank].rank;
	out->late_ns = m->last_ns - job->ops[m->middle].start_ns;
	out->cause = pf_late_cause_name(m->cause);
	out->root_rank = job->ranks[m->root].rank;
	out->root_cause = pf_late_cause_name(m->root_cause);
}

static void make_meetings(struct pf_ranks_job *job, struct pf_ranks *out)
{
	const char **groups =
		pf_calloc((size_t)job->groups.count + 1, sizeof(*groups));

	/* names of groups, without what tells them from streams */
	for (uint32_t i = 0; i < job->groups.count; i++) {
		const char *text = pf_intern_text(&job->groups, i, NULL);

		if (*text == '=')
			groups[i] = pf_arena_string(&out->memory, text + 1);
	}
	out->meetings = pf_arena_calloc(&out->memory, job->meeting_count,
					sizeof(*out->meetings));
	out->meeting_count = job->meeting_count;
	for (uint32_t i = 0; i < job->meeting_count; i++)
		make_meeting(job, &job->meetings[job->sorted[i]], groups,
			     &out->meetings[i]);
	free(groups);
}

/* What is shown. */
static void make_rows(struct pf_ranks_job *job, struct pf_ranks *out)
{
	make_ranks(job, out);
	if (job->why.len)
		return;
	out->met_count = job->meeting_count;
	out->left_count = job->left_count;
	out->early_count = job->early_count;
	make_kinds(job, out);
	make_steps(job, out);
	if (!job->args.is_brief)
		make_meetings(job, out);
}

/* ---- all of it ---- */

static const char *text_of(const struct pf_buf *text, struct pf_ranks *out)
{
	return text->len ? pf_arena_string(&out->memory, text->data) : NULL;
}

int pf_ranks_find(struct pf_ranks_job *job, struct pf_ranks *out,
		  struct pf_err *err)
{
	*out = (struct pf_ranks){ .world = -1,
				  .straggler = -1,
				  .total_ns = PF_NO_INT,
				  .ideal_ns = PF_NO_INT,
				  .slowdown = NAN };
	if (!job->rank_count) {
		out->left_out = text_of(&job->left_out, out);
		return 0;
	}
	for (size_t i = 0; i < job->rank_count; i++)
		if (job->ranks[i].world > out->world)
			out->world = job->ranks[i].world;
	pf_sort(job->ranks, job->rank_count, sizeof(*job->ranks), by_rank);
	settle_twice(job);
	settle_silent(job);
	job->err = err;
	align(job);
	leave_damaged_out(job);
	PF_TRY(err->code);
	/* of two it cannot be known */
	if (!job->why.len && job->unlike_end_count && job->rank_count > 2)
		pf_buf_adds(&job->why, "ranks end with different "
				       "collectives, as where "
				       "several traces are damaged; "
				       "--rank leaves ranks "
				       "out");
	if (!job->why.len)
		ranks_blame(job);
	out->left_out = text_of(&job->left_out, out);
	out->withheld = text_of(&job->why, out);
	out->partly = text_of(&job->partly, out);
	out->is_of_hosts = job->is_of_hosts;
	make_rows(job, out);
	if (!job->args.is_brief)
		pf_ranks_pipeline(job, out);
	/* what a host waits for is not what its next collective needs */
	if (!job->why.len && !job->args.is_brief && !out->waits_to_receive &&
	    !job->left_out.len && job->meeting_count && !job->is_of_hosts)
		pf_ranks_replay(job, out);
	if (!job->why.len)
		find_longest(job, out);
	return err->code ? -1 : 0;
}

void pf_ranks_release(struct pf_ranks *r)
{
	free(r->kinds);
	free(r->steps);
	free(r->stages);
	pf_arena_release(&r->memory);
	*r = (struct pf_ranks){ 0 };
}
