/* SPDX-License-Identifier: MIT */
/*
 * Clocks by ends of collectives: local time = true + offset + drift * time.
 * In turns, the true end of each meeting is the median of its ranks' ends, and
 * each rank's line goes through its ends against those (medians again, so that
 * a few odd ends do not matter), until nothing moves.  At most SAMPLE meetings
 * of a group are looked at, spread over the capture.
 */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/order.h"
#include "base/sat.h"
#include "analysis/ranks/ranks_impl.h"

#define SAMPLE       200
#define ROUNDS       30
#define MOVE_NS      0.5
#define LINE_LEAST   24 /* ends for a drift: of fewer their scatter is a guess */
#define EARLY_MAX    0.01   /* of meetings */
#define ERROR_MAX    0.01   /* of the window: what offsets may add up to */
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
	uint32_t *met; /* meetings that are looked at, in order */
	uint32_t met_count;
	struct met *ends;  /* of all their ranks, one meeting after the other */
	double *end_ns;    /* of each, true */
	struct seen *seen; /* by rank */
	uint32_t *first;   /* of each rank; one more */
	uint32_t *of_part; /* rank of each part */
	uint32_t *parent;  /* of ranks that are connected */
	bool *is_steady;   /* of ranks: no drift is shown */
	bool is_shared;    /* drifts are against what most ranks share */
	double *values, *slopes; /* scratch: as many as a rank or meeting has */
};

/* ---- what is looked at ---- */

static void choose(struct clocks *c)
{
	struct pf_ranks_job *job = c->job;
	uint32_t *in_order =
		pf_calloc(job->meeting_count + 1, sizeof(*in_order));
	uint32_t *sizes = pf_calloc(job->groups.count + 1, sizeof(*sizes));

	for (uint32_t i = 0; i < job->meeting_count; i++) {
		in_order[job->meetings[i].order] = i;
		sizes[job->meetings[i].group]++;
	}
	c->met = pf_calloc(job->meeting_count + 1, sizeof(*c->met));
	for (uint32_t i = 0; i < job->meeting_count; i++) {
		const struct meeting *m = &job->meetings[in_order[i]];
		uint32_t every = (sizes[m->group] + SAMPLE - 1) / SAMPLE;

		if (m->number % every == 0)
			c->met[c->met_count++] = in_order[i];
	}
	free(in_order);
	free(sizes);
}

static void find_zero(struct pf_ranks_job *job)
{
	job->zero_ns = INT64_MAX;
	for (uint32_t i = 0; i < job->meeting_count; i++) {
		const struct meeting *m = &job->meetings[i];

		for (uint32_t k = 0; k < m->count; k++) {
			int64_t end = job->ops[job->parts[m->from + k]].end_ns;

			if (end < job->zero_ns)
				job->zero_ns = end;
		}
	}
	for (size_t r = 0; !job->meeting_count && r < job->rank_count; r++)
		if (job->ranks[r].start_ns < job->zero_ns)
			job->zero_ns = job->ranks[r].start_ns;
}

static bool is_one_machine(const struct rank *x, const struct rank *y)
{
	return x->host && y->host && !strcmp(x->host, y->host);
}

bool pf_ranks_have_one_clock(const struct pf_ranks_job *job)
{
	bool is_one = true;

	for (size_t r = 1; r < job->rank_count; r++)
		is_one &= is_one_machine(&job->ranks[r], &job->ranks[0]);
	return is_one || job->args.clock == PF_CLOCK_AS_IS;
}

PF_ORDER(by_end, struct seen, PF_UP(at_ns))

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
	uint32_t *at = pf_calloc(job->rank_count + 1, sizeof(*at));
	size_t total = 0, most = 1;

	c->of_part = pf_calloc(job->op_count + 1, sizeof(*c->of_part));
	for (size_t r = 0; r < job->rank_count; r++)
		for (uint32_t i = 0; i < job->ranks[r].count; i++)
			c->of_part[job->ranks[r].from + i] = (uint32_t)r;
	c->first = pf_calloc(job->rank_count + 2, sizeof(*c->first));
	for (uint32_t i = 0; i < c->met_count; i++) {
		const struct meeting *m = &job->meetings[c->met[i]];

		for (uint32_t k = 0; k < m->count; k++)
			c->first[c->of_part[job->parts[m->from + k]] + 1]++;
		total += m->count;
		most = m->count > most ? m->count : most;
	}
	for (size_t r = 0; r < job->rank_count; r++) {
		most = c->first[r + 1] > most ? c->first[r + 1] : most;
		c->first[r + 1] += c->first[r];
	}
	c->seen = pf_calloc(total + 1, sizeof(*c->seen));
	c->ends = pf_calloc(total + 1, sizeof(*c->ends));
	total = 0;
	for (uint32_t i = 0; i < c->met_count; i++) {
		const struct meeting *m = &job->meetings[c->met[i]];

		for (uint32_t k = 0; k < m->count; k++) {
			uint32_t op = job->parts[m->from + k];
			uint32_t r = c->of_part[op];

			double end =
				(double)(job->ops[op].end_ns - job->zero_ns);

			c->seen[c->first[r] + at[r]++] =
				(struct seen){ i, end };
			c->ends[total++] = (struct met){ r, end };
		}
	}
	if (job->args.clock != PF_CLOCK_DRIFTING)
		sort_seen(c);
	c->values = pf_calloc(most, sizeof(*c->values));
	c->slopes = pf_calloc(most, sizeof(*c->slopes));
	c->end_ns = pf_calloc(c->met_count + 1, sizeof(*c->end_ns));
	free(at);
}

/* ---- what is connected ---- */

static uint32_t root_of(struct clocks *c, uint32_t r)
{
	while (c->parent[r] != r)
		r = c->parent[r] = c->parent[c->parent[r]];
	return r;
}

/* The lowest rank of those connected is the reference. */
static void connect(struct clocks *c)
{
	struct pf_ranks_job *job = c->job;

	c->parent = pf_calloc(job->rank_count + 1, sizeof(*c->parent));
	for (size_t r = 0; r < job->rank_count; r++)
		c->parent[r] = (uint32_t)r;
	for (uint32_t i = 0; i < c->met_count; i++) {
		const struct meeting *m = &job->meetings[c->met[i]];

		for (uint32_t k = 1; k < m->count; k++) {
			uint32_t x =
				root_of(c, c->of_part[job->parts[m->from]]);
			uint32_t y =
				root_of(c, c->of_part[job->parts[m->from + k]]);

			if (x < y)
				c->parent[y] = x;
			else
				c->parent[x] = y;
		}
	}
	for (size_t r = 0; r < job->rank_count; r++)
		job->ranks[r].reference =
			job->meeting_count ? root_of(c, (uint32_t)r) : 0;
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
static void draw_line(struct clocks *c, size_t r, bool with_drift,
		      double *offset_ns, double *drift)
{
	const struct seen *s = &c->seen[c->first[r]];
	size_t n = c->first[r + 1] - c->first[r];

	with_drift &= n >= LINE_LEAST && !c->is_steady[r];
	*drift = with_drift ? find_slope(c, s, n) : 0;
	for (size_t i = 0; i < n; i++)
		c->values[i] = s[i].at_ns - c->end_ns[s[i].meeting] -
			       *drift * s[i].at_ns;
	*offset_ns = pf_ranks_median(c->values, n);
}

/* The reference of each rank stays where it is; drifts may be NULL. */
static void refer(struct pf_ranks_job *job, double *offsets, double *drifts)
{
	for (size_t i = job->rank_count; i-- > 0;) {
		uint32_t at = job->ranks[i].reference;

		offsets[i] -= offsets[at];
		if (drifts)
			drifts[i] -= drifts[at];
	}
}

static double draw_lines(struct clocks *c, bool with_drift)
{
	struct pf_ranks_job *job = c->job;
	double *offsets = pf_calloc(job->rank_count + 1, sizeof(*offsets));
	double *drifts = pf_calloc(job->rank_count + 1, sizeof(*drifts));
	double moved = 0;

	for (size_t r = 0; r < job->rank_count; r++)
		draw_line(c, r, with_drift, &offsets[r], &drifts[r]);
	refer(job, offsets, c->is_shared ? NULL : drifts);
	for (size_t r = 0; r < job->rank_count; r++) {
		double by = fabs(offsets[r] - job->ranks[r].offset_ns);

		moved = by > moved ? by : moved;
		job->ranks[r].offset_ns = offsets[r];
		job->ranks[r].drift = drifts[r];
	}
	free(offsets);
	free(drifts);
	return moved;
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
			uint32_t p = c->of_part[op];

			if (is_known[p])
				continue;
			*out = pf_grow(*out, cap, count + 1, sizeof(**out));
			(*out)[count++] = (struct guess){
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
	struct guess *all = NULL;
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
	free(all);
}

static void guess(struct clocks *c)
{
	struct pf_ranks_job *job = c->job;
	bool *is_known = pf_calloc(job->rank_count + 1, sizeof(*is_known));
	bool *is_done = pf_calloc(job->groups.count + 1, sizeof(*is_done));
	uint32_t *todo = pf_calloc(job->rank_count + 1, sizeof(*todo));

	for (uint32_t r = 0; r < job->rank_count; r++)
		if (job->ranks[r].reference == r)
			guess_from(c, r, is_known, is_done, todo);
	free(is_known);
	free(is_done);
	free(todo);
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
	double *offsets = pf_calloc(job->rank_count + 1, sizeof(*offsets));
	double *drifts = pf_calloc(job->rank_count + 1, sizeof(*drifts));

	for (size_t r = 0; r < job->rank_count; r++)
		drifts[r] = job->ranks[r].drift;
	if (errors > ERRORS_SHOWN)
		shared = pf_ranks_median(drifts, job->rank_count);
	for (size_t r = 0; r < job->rank_count; r++) {
		struct rank *rank = &job->ranks[r];
		double n = c->first[r + 1] - c->first[r], bound;

		bound = errors * find_scatter(c, r) *
			sqrt(12 / (n > 1 ? n : 1));
		rank->slope_bound = width > 0 ? bound / width : NAN;
		offsets[r] = rank->offset_ns;
		drifts[r] = rank->drift - shared;
		if ((fabs(drifts[r]) * width >= bound && n >= LINE_LEAST &&
		     fabs(drifts[r]) <= DRIFT_MOST) ||
		    n < 1)
			continue;
		c->is_steady[r] = true;
		if (errors > ERRORS_SHOWN)
			drifts[r] = 0;
		else
			draw_line(c, r, false, &offsets[r], &drifts[r]);
	}
	c->is_shared = errors > ERRORS_SHOWN;
	refer(job, offsets, c->is_shared ? NULL : drifts);
	for (size_t r = 0; r < job->rank_count; r++) {
		job->ranks[r].offset_ns = offsets[r];
		job->ranks[r].drift = drifts[r];
	}
	free(offsets);
	free(drifts);
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

static void count_early(struct pf_ranks_job *job)
{
	for (uint32_t i = 0; i < job->meeting_count; i++) {
		struct meeting *m = &job->meetings[i];
		int64_t last = INT64_MIN, end = INT64_MAX;

		for (uint32_t k = 0; k < m->count; k++) {
			const struct op *op =
				&job->ops[job->parts[m->from + k]];

			last = op->start_ns > last ? op->start_ns : last;
			end = op->end_ns < end ? op->end_ns : end;
		}
		m->is_early = end < last;
		job->early_count += m->is_early;
	}
}

/* Clocks of one machine are one. */
static void check_machines(struct pf_ranks_job *job)
{
	char shown[PF_NUM_MAX];

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
				    pf_num_show_ns(shown, llround(apart)));
	}
}

/*
 * In any group: clocks of one machine agree, and most groups may be of one,
 * so that few of all collectives show how clocks of machines differ.
 */
static void check_causality(struct pf_ranks_job *job)
{
	uint32_t *counts = pf_calloc(job->groups.count + 1, sizeof(*counts));
	uint32_t *early = pf_calloc(job->groups.count + 1, sizeof(*early));
	bool is_bad = false;

	for (uint32_t i = 0; i < job->meeting_count; i++) {
		counts[job->meetings[i].group]++;
		early[job->meetings[i].group] += job->meetings[i].is_early;
	}
	for (uint32_t i = 0; i < job->groups.count; i++)
		is_bad |= early[i] > EARLY_MAX * counts[i];
	free(counts);
	free(early);
	if (!is_bad)
		return;
	pf_buf_addf(&job->why,
		    "%" PRId64 " of %u collectives end on one rank before "
		    "another has begun%s",
		    job->early_count, job->meeting_count,
		    job->args.clock == PF_CLOCK_AS_IS
			    ? ", so the clocks differ"
			    : ", whatever the difference of their clocks");
}

/* What the error of an offset adds up to, over all that a rank meets. */
static void check_error(struct pf_ranks_job *job)
{
	char shown[PF_NUM_MAX];

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
		else if (r->scatter_ns * sqrt(n) > ERROR_MAX * window)
			pf_buf_addf(
				&job->why,
				"collectives of rank %" PRId64
				" end %s before or after those of others, "
				"too much to compare its clock",
				r->rank,
				pf_num_show_ns(shown, llround(r->scatter_ns)));
	}
}

void pf_ranks_align(struct pf_ranks_job *job)
{
	struct clocks c = { .job = job };

	find_zero(job);
	choose(&c);
	look(&c);
	connect(&c);
	c.is_steady = pf_calloc(job->rank_count + 1, sizeof(*c.is_steady));
	if (job->args.clock != PF_CLOCK_AS_IS && job->meeting_count)
		fit(&c);
	find_ends(&c);
	for (size_t r = 0; r < job->rank_count; r++) {
		job->ranks[r].scatter_ns = find_scatter(&c, r);
		job->ranks[r].seen_count = c.first[r + 1] - c.first[r];
	}
	align_ops(job);
	count_early(job);
	check_machines(job);
	if (!job->why.len)
		check_causality(job);
	if (!job->why.len)
		check_error(job);
	free(c.met);
	free(c.end_ns);
	free(c.seen);
	free(c.ends);
	free(c.first);
	free(c.of_part);
	free(c.parent);
	free(c.is_steady);
	free(c.values);
	free(c.slopes);
}
