/* SPDX-License-Identifier: MIT */
/* What is found about ranks: as rows, in words and as tables. */
#include "config.h"

#include <inttypes.h>
#include <math.h>

#include "analysis/ranks/arrival.h"
#include "analysis/ranks/impl.h"
#include "analysis/ranks/ranks.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/order.h"
#include "base/port.h"
#include "base/sat.h"
#include "base/stats.h"
#include "events/args.h"
#include "events/ask.h"
#include "show/doc.h"

/* "computation", "data loading", ... */
static const char *late_cause_name(unsigned cause)
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

static const char *const work_names[] = {
	[PF_WORK_ALIKE] = "as others",
	[PF_WORK_MORE] = "more or other kernels",
	[PF_WORK_SLOWER] = "same kernels slower",
	[PF_WORK_SOME] = "some kernels slower",
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

PF_ORDER(by_value, double, PF_UP_VALUE)

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
	out->why_longer = work_names[out->work];
}

static void compare_all(struct works *w, struct pf_ranks *out)
{
	double *values =
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
	free(values);
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
	return b->ns[best] > 0 ? late_cause_name(best) : NULL;
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
	if (away > out->clock_ns)
		out->clock_ns = away;
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
		if (out->ranks[i].begins_ns < least)
			least = out->ranks[i].begins_ns;
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
void pf_ranks_longest(struct pf_ranks_job *job, struct pf_ranks *out)
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
	struct works works = { .step_count = -1 };

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
	for (size_t i = 0; i < job->rank_count; i++) {
		out->ranks[i].cause = cause_of_most(&blamed[i]);
		split_rank(job, i, &works, &out->ranks[i]);
	}
	/* captures of unlike lengths hold unlike work */
	if (!job->why.len && !works.is_unlike && !job->left_count)
		compare_all(&works, out);
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
	k->transfer_ns = pf_ranks_median_ns(ns, n);
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
	out->cause = late_cause_name(m->cause);
	out->root_rank = job->ranks[m->root].rank;
	out->root_cause = late_cause_name(m->root_cause);
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
void pf_ranks_rows(struct pf_ranks_job *job, struct pf_ranks *out)
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

/* What ranks.h found, as 'overlap' and the report show it. */

/* What of a trace was asked for. */
static int64_t window_of(const struct pf_window *w, int64_t trace_id)
{
	const struct pf_window_trace *t = pf_window_find(w, trace_id);
	int64_t from, to;

	if (!t)
		return 0;
	from = t->from_ns > t->first_ns ? t->from_ns : t->first_ns;
	to = t->to_ns < t->last_ns ? t->to_ns : t->last_ns;
	return to > from ? pf_sat_sub(to, from) : 0;
}

static const char *machine_of(const struct pf_ranks *r)
{
	bool is_one = true;

	for (size_t i = 0; i < r->rank_count; i++) {
		if (!r->ranks[i].host)
			return "not recorded";
		is_one &= !strcmp(r->ranks[i].host, r->ranks[0].host);
	}
	return is_one ? "yes" : "no";
}

/* Others may wait for a rank and lose nothing by it: ranks.h says who costs. */
static void take_straggler(struct pf_arrivals *a, const struct pf_ranks *r)
{
	const struct pf_ranks_rank *s;

	a->total_ns = r->total_ns;
	if (r->straggler < 0)
		return;
	s = &r->ranks[r->straggler];
	a->has_straggler = true;
	a->straggler_rank = s->rank;
	a->straggler_trace_id = s->trace_id;
	a->straggler_ns = s->late_ns;
	a->straggler_gain_ns = s->gain_ns;
	a->straggler_share = pf_num_share(s->late_ns, a->window_ns);
	a->straggler_saved_ns = s->saved_ns;
	a->straggler_saved_share = pf_num_share(s->saved_ns, r->total_ns);
}

static void settle(struct pf_arrivals *a, const struct pf_window *window)
{
	const struct pf_ranks *r = &a->of;
	int64_t sum = 0;

	if (!r->rank_count)
		return;
	for (size_t i = 0; i < r->rank_count; i++) {
		r->ranks[i].window_ns = window_of(window, r->ranks[i].trace_id);
		pf_sat_sum(&sum, r->ranks[i].window_ns);
	}
	a->window_ns = sum / (int64_t)r->rank_count;
	if (r->withheld || !r->met_count) {
		a->withheld = r->withheld ? r->withheld
			      : r->partly ? r->partly
					  : "no collective was found on "
					    "several ranks";
		return;
	}
	a->machine = machine_of(r);
	for (size_t i = 0; i < r->kind_count; i++)
		pf_sat_sum(&a->spread_ns, r->kinds[i].spread_ns);
	take_straggler(a, r);
	a->longest_wait_ns = r->longest_wait_ns;
	a->longest_wait_trace_id = r->ranks[r->longest_wait_rank].trace_id;
	a->longest_wait_start_ns = r->longest_wait_start_ns;
}

int pf_arrivals_find(struct pf_db *db, const struct pf_window *window,
		     struct pf_arrivals *out)
{
	const struct pf_ranks_args args = { 0 };
	struct pf_ranks_job *job;
	int rc;

	if (!pf_window_has_processes(window))
		return 0;
	job = pf_ranks_new(&args);
	rc = pf_ranks_add(job, db, window);
	if (!rc)
		rc = pf_ranks_find(job, &out->of, db->err);
	if (!rc)
		settle(out, window);
	pf_ranks_free(job);
	return rc;
}

void pf_arrivals_release(struct pf_arrivals *a)
{
	pf_ranks_release(&a->of);
	*a = (struct pf_arrivals){ 0 };
}

#define FIELD(...) PF_FIELD(struct pf_arrivals, __VA_ARGS__)
static const struct pf_field figures[] = {
	FIELD(of.met_count, "arrival_count", "Collectives of several ranks",
	      PF_COUNT),
	FIELD(of.left_count, "arrival_left_count",
	      "  and those that met no other", PF_COUNT | PF_FULL),
	FIELD(spread_ns, "arrival_spread_ns", "  first to last rank, summed",
	      PF_NS),
	FIELD(window_ns, "arrival_window_ns", "  in, mean of the ranks", PF_NS),
	FIELD(of.clock_ns, "arrival_clock_ns", "  clocks differ by up to",
	      PF_NS),
	FIELD(machine, "arrival_machine", "  on one machine", PF_TEXT),
};
static const struct pf_field arrival_straggler[] = {
	FIELD(straggler_rank, "straggler_rank", "Straggler", PF_INT),
	FIELD(straggler_trace_id, "straggler_trace_id", "  its trace",
	      PF_INT | PF_FULL),
	FIELD(straggler_ns, "straggler_ns", "  others wait for it", PF_NS),
	FIELD(straggler_share, "straggler_share", "  of the time", PF_RATIO),
	FIELD(straggler_gain_ns, "straggler_gain_ns",
	      "  less with the next one", PF_NS | PF_FULL),
	FIELD(straggler_saved_ns, "straggler_saved_ns",
	      "  like the others it would save", PF_NS),
};
static const struct pf_field longest[] = {
	FIELD(longest_wait_ns, "longest_wait_ns", "Longest wait", PF_NS),
	FIELD(longest_wait_trace_id, "longest_wait_trace_id", "  in trace",
	      PF_INT),
	FIELD(longest_wait_start_ns, "longest_wait_start_ns", "  from", PF_NS),
};
#undef FIELD

#define FIELD(...) PF_FIELD(struct pf_ranks_rank, __VA_ARGS__)
static const struct pf_field rank_fields[] = {
	FIELD(rank, "rank", "Rank", PF_INT),
	FIELD(count, "count", "Collectives", PF_COUNT),
	FIELD(last_count, "last_count", "Last", PF_COUNT),
	FIELD(late_ns, "late_ns", "Others wait for it", PF_NS),
	FIELD(waited_ns, "waited_ns", "It waits", PF_NS),
	FIELD(gain_ns, "gain_ns", "To the next one", PF_NS | PF_FULL),
	FIELD(window_ns, "window_ns", "Window", PF_NS | PF_FULL),
	FIELD(trace_id, "trace_id", "Trace", PF_INT | PF_FULL),
};

void pf_arrivals_show(const struct pf_arrivals *a, struct pf_doc *doc)
{
	if (a->withheld)
		pf_doc_string(doc, "arrival_withheld", "Ranks are not compared",
			      a->withheld);
	if (a->of.left_out)
		pf_doc_string(doc, "arrival_left_out", "Ranks left out",
			      a->of.left_out);
	if (a->withheld || !a->of.rank_count)
		return;
	PF_SCALARS(doc, figures, *a);
	if (a->has_straggler)
		PF_SCALARS(doc, arrival_straggler, *a);
	if (a->longest_wait_ns)
		PF_SCALARS(doc, longest, *a);
	PF_ROWS(doc, "arrivals", "Arrival of ranks at collectives", rank_fields,
		a->of.ranks, a->of.rank_count);
}

#undef FIELD

/* Of few ranks all are shown, of many how they are spread and the worst. */

#define FIELD(...) PF_FIELD(struct pf_ranks_stage, __VA_ARGS__)
static const struct pf_field stage_fields[] = {
	FIELD(stage, "stage", "Stage", PF_INT),
	FIELD(stage_count, "stage_count", "Of", PF_INT),
	FIELD(rank_count, "rank_count", "Ranks", PF_COUNT),
	FIELD(step_count, "step_count", "Steps of ranks", PF_COUNT | PF_FULL),
	FIELD(step_ns, "step_ns", "Step", PF_NS | PF_MAYBE),
	FIELD(computation_ns, "computation_ns", "Compute", PF_NS | PF_MAYBE),
	FIELD(factor, "factor", "Of median", PF_REAL),
	FIELD(bubble_ns, "bubble_ns", "Bubble", PF_NS | PF_MAYBE),
	FIELD(bubble, "bubble", "Bubble %", PF_RATIO),
	FIELD(ideal, "ideal_bubble", "Ideal", PF_RATIO),
	FIELD(receive_wait_ns, "receive_wait_ns", "Waits to receive",
	      PF_NS | PF_MAYBE | PF_FULL),
};
#undef FIELD

#define FIELD(...) PF_FIELD(struct pf_ranks_pipe, __VA_ARGS__)
static const struct pf_field pipe_fields[] = {
	FIELD(rank, "rank", "Rank", PF_INT),
	FIELD(stage, "stage", "Stage", PF_INT | PF_MAYBE),
	FIELD(stage_count, "stage_count", "Of", PF_INT | PF_MAYBE | PF_FULL),
	FIELD(microbatches, "microbatches", "Microbatches",
	      PF_INT | PF_MAYBE | PF_FULL),
	FIELD(receive_count, "receive_count", "Receives", PF_COUNT),
	FIELD(left_count, "left_count", "Whose send is unknown",
	      PF_COUNT | PF_FULL),
	FIELD(receive_wait_ns, "receive_wait_ns", "It waits", PF_NS | PF_MAYBE),
	FIELD(receive_transfer_ns, "receive_transfer_ns", "Transfer",
	      PF_NS | PF_MAYBE),
	FIELD(step_count, "step_count", "Steps", PF_COUNT | PF_FULL),
	FIELD(step_ns, "step_ns", "In steps of", PF_NS | PF_MAYBE | PF_FULL),
	FIELD(computation_ns, "computation_ns", "Computation",
	      PF_NS | PF_MAYBE | PF_FULL),
	FIELD(input_ns, "input_ns", "For input", PF_NS | PF_MAYBE),
	FIELD(drain_ns, "drain_ns", "At the end", PF_NS | PF_MAYBE),
	FIELD(bubble_ns, "bubble_ns", "Bubble", PF_NS | PF_MAYBE | PF_FULL),
	FIELD(bubble, "bubble", "Bubble %", PF_RATIO),
	FIELD(ideal, "ideal_bubble", "Ideal", PF_RATIO | PF_FULL),
};
#undef FIELD

/* ---- bubbles in words ---- */

struct whole {
	int64_t bubble_ns, step_ns;
	double ideal;          /* of all stages; or not a number */
	int64_t stage_count;   /* of all; or -1 */
	int64_t unknown_count; /* ranks */
	const struct pf_ranks_stage *slowest;
};

static struct whole look(const struct pf_ranks *r)
{
	struct whole w = { .ideal = NAN };

	for (size_t i = 0; i < r->pipe_count; i++) {
		const struct pf_ranks_pipe *p = &r->pipes[i];

		if (p->bubble_ns == PF_NO_INT) {
			w.unknown_count++;
			continue;
		}
		pf_sat_sum(&w.bubble_ns, p->bubble_ns);
		pf_sat_sum(&w.step_ns, p->step_ns);
	}
	for (size_t i = 0; i < r->stage_count; i++) {
		const struct pf_ranks_stage *s = &r->stages[i];

		w.stage_count = i && s->stage_count != w.stage_count
					? -1
					: s->stage_count;
		w.ideal = !i || s->ideal == w.ideal ? s->ideal : NAN;
		if (s->factor > PF_RANKS_EVEN &&
		    (!w.slowest || s->factor > w.slowest->factor))
			w.slowest = s;
	}
	return w;
}

/* Bubbles in a sentence, if they are known; tables; notes. */
static bool pipeline_finding(const struct pf_ranks *r, struct pf_buf *out)
{
	struct whole w = look(r);
	char share[PF_NUM_MAX], ideal[PF_NUM_MAX];

	if (!r->waits_to_receive || !r->stage_count || w.stage_count < 0 ||
	    w.step_ns <= 0)
		return false;
	pf_buf_addf(
		out, "%s of the steps are bubbles of %" PRId64 " stages",
		pf_num_show_ratio(share, pf_num_share(w.bubble_ns, w.step_ns)),
		w.stage_count);
	if (!isnan(w.ideal))
		pf_buf_addf(out, " (1F1B of even stages: %s)",
			    pf_num_show_ratio(ideal, w.ideal));
	if (w.slowest)
		pf_buf_addf(out,
			    "; stage %" PRId64
			    " computes longest, %.2f times the median stage",
			    w.slowest->stage, w.slowest->factor);
	return true;
}

/* ---- notes ---- */

static void show_notes(const struct pf_ranks *r, struct pf_doc *doc)
{
	int64_t left = 0, unknown = look(r).unknown_count;

	for (size_t i = 0; i < r->pipe_count; i++)
		left += r->pipes[i].left_count;
	if (r->pipes_withheld)
		pf_doc_note(doc, "%s", r->pipes_withheld);
	if (left)
		pf_doc_note(doc,
			    "of %" PRId64
			    " receives it is not known when their sends began; "
			    "steps that have such messages are left out of "
			    "bubbles",
			    left);
	if (unknown)
		pf_doc_note(doc,
			    "bubbles of %" PRId64
			    " ranks are not known: they need steps "
			    "(ProfilerStep#N, or --steps) whose messages all "
			    "met theirs",
			    unknown);
	if (r->waits_to_receive)
		pf_doc_note(
			doc,
			"what ranks cost is not worked out: they also wait for "
			"each other in sends and receives, and only "
			"collectives "
			"are replayed");
}

static void pipeline_show(const struct pf_ranks *r, struct pf_doc *doc)
{
	if (r->unknown_pipe_count)
		pf_doc_note(doc,
			    "sends and receives of %" PRId64
			    " ranks are not known: an earlier version of "
			    "profan made their digests",
			    r->unknown_pipe_count);
	if (!r->has_pipes)
		return;
	if (r->stage_count)
		PF_ROWS(doc, "stages", "Stages of pipelines, means of steps",
			stage_fields, r->stages, r->stage_count);
	if (r->pipe_count)
		PF_ROWS(doc, "receives", "Waiting for sends, and bubbles",
			pipe_fields, r->pipes, r->pipe_count);
	show_notes(r, doc);
}

/* Ranks side by side as groups: machines, racks, places in the model. */

struct group {
	const char *value; /* NULL: ranks that say none */
	int64_t count;
	/* sums, then means of ranks; of costs: the worst rank and its */
	struct pf_ranks_rank of;
};

/* What is summed of ranks, and what is a mean in the end. */
static const struct {
	size_t at;
	bool is_mean;
} group_sums[] = {
	{ offsetof(struct pf_ranks_rank, root_ns), false },
	{ offsetof(struct pf_ranks_rank, last_count), false },
	{ offsetof(struct pf_ranks_rank, window_ns), true },
	{ offsetof(struct pf_ranks_rank, computation_ns), true },
	{ offsetof(struct pf_ranks_rank, wait_ns), true },
	{ offsetof(struct pf_ranks_rank, transfer_ns), true },
	{ offsetof(struct pf_ranks_rank, other_comm_ns), true },
	{ offsetof(struct pf_ranks_rank, copy_ns), true },
	{ offsetof(struct pf_ranks_rank, idle_ns), true },
};
#define GROUP_SUMS (PF_LEN(group_sums))

#define FIELD(...) PF_FIELD(struct group, __VA_ARGS__)
static const struct pf_field fields[] = {
	FIELD(value, "value", "Of", PF_TEXT),
	FIELD(count, "rank_count", "Ranks", PF_COUNT),
	FIELD(of.last_count, "last_count", "Last", PF_COUNT | PF_FULL),
	FIELD(of.root_ns, "root_ns", "Waits they began", PF_NS),
	FIELD(of.rank, "worst_rank", "Costs most", PF_INT | PF_MAYBE),
	FIELD(of.saved_ns, "saved_ns", "It costs", PF_NS | PF_MAYBE),
	FIELD(of.window_ns, "window_ns", "Window", PF_NS | PF_FULL),
	FIELD(of.computation_ns, "computation_ns", "Compute", PF_NS),
	FIELD(of.wait_ns, "exposed_wait_ns", "Wait", PF_NS),
	FIELD(of.transfer_ns, "exposed_transfer_ns", "Transfer",
	      PF_NS | PF_FULL),
	FIELD(of.other_comm_ns, "exposed_other_ns",
	      "Exposed, met no other or not split", PF_NS | PF_FULL),
	FIELD(of.copy_ns, "exposed_copy_ns", "Exposed copies", PF_NS | PF_FULL),
	FIELD(of.idle_ns, "idle_ns", "Idle", PF_NS),
};
#undef FIELD

/* A text, or numbers as numbers; those that say nothing last. */
static int by_group_value(const void *a, const void *b)
{
	const char *x = ((const struct group *)a)->value;
	const char *y = ((const struct group *)b)->value;

	if (!x || !y)
		return !x - !y;
	return pf_strverscmp(x, y);
}

PF_ORDER(by_root, struct group, PF_DOWN(of.root_ns) PF_THEN(by_group_value))

static int64_t *sum_at(struct group *g, size_t i)
{
	return (void *)((char *)&g->of + group_sums[i].at);
}

static void add(struct group *to, struct group *g)
{
	if (g->of.saved_ns > to->of.saved_ns) {
		to->of.saved_ns = g->of.saved_ns;
		to->of.rank = g->of.rank;
	}
	to->count += g->count;
	for (size_t i = 0; i < GROUP_SUMS; i++)
		pf_sat_sum(sum_at(to, i), *sum_at(g, i));
}

static void divide(struct group *g)
{
	for (size_t i = 0; i < GROUP_SUMS; i++) {
		int64_t *sum = sum_at(g, i);

		if (group_sums[i].is_mean)
			*sum = *sum / g->count +
			       (*sum % g->count * 2 >= g->count);
	}
}

void pf_ranks_show_by(const struct pf_ranks *r, const char *key,
		      const char *const *values, bool is_wide,
		      struct pf_doc *doc)
{
	PF_OWN struct group *groups =
		pf_calloc(r->rank_count + 1, sizeof(*groups));
	PF_AUTO(pf_buf_release) struct pf_buf title = { 0 };
	size_t count = 0;

	for (size_t i = 0; i < r->rank_count; i++) {
		groups[i] = (struct group){ values[i], 1, r->ranks[i] };
		if (r->ranks[i].saved_ns <= 0)
			groups[i].of.rank = PF_NO_INT;
	}
	pf_sort(groups, r->rank_count, sizeof(*groups), by_group_value);
	for (size_t i = 0; i < r->rank_count; i++) {
		if (i && !by_group_value(&groups[count - 1], &groups[i]))
			add(&groups[count - 1], &groups[i]);
		else
			groups[count++] = groups[i];
	}
	for (size_t i = 0; i < count; i++)
		divide(&groups[i]);
	if (!is_wide)
		pf_sort(groups, count, sizeof(*groups), by_root);
	pf_buf_addf(&title, "Ranks by %s, means of their times", key);
	pf_doc_rows(doc, "by", title.data, PF_FIELDS(fields), groups, count,
		    sizeof(*groups));
}

/* ---- in words ---- */

/* What a rank does that makes it late. */
static const char *const doing[PF_LATE_BY_HOST] = {
	[PF_LATE_COMPUTATION] = "computes longer than others",
	[PF_LATE_COMMUNICATION] =
		"comes late out of collectives of other groups",
	[PF_LATE_COPY] = "copies longer than others",
	[PF_LATE_HOST] = "is late: its GPU waits for its host",
	[PF_LATE_BEFORE] = "leaves collectives later than others",
	[PF_LATE_UNKNOWN] = "begins later than others",
};

static const char *doing_of(const char *cause)
{
	for (unsigned i = 0; cause && i < PF_LATE_BY_HOST; i++)
		if (!strcmp(cause, late_cause_name(i)))
			return doing[i];
	return NULL;
}

/* Why its computation is longer, if that is known. */
static void say_work(const struct pf_ranks_rank *s, struct pf_buf *out)
{
	if (s->work == PF_WORK_MORE)
		pf_buf_adds(out, " (it runs more or other kernels)");
	else if (s->work == PF_WORK_SOME)
		pf_buf_adds(out, " (some of its kernels are slower)");
	else if (s->work == PF_WORK_SLOWER)
		pf_buf_addf(out, " (the same kernels take %.2f times as long)",
			    s->factor);
}

static void say_straggler(const struct pf_ranks *r, struct pf_buf *out)
{
	const struct pf_ranks_rank *s = &r->ranks[r->straggler];
	const char *words = doing_of(s->cause);
	char saved[PF_NUM_MAX], share[PF_NUM_MAX], total[PF_NUM_MAX];

	pf_buf_addf(out, "Rank %" PRId64 " ", s->rank);
	if (words)
		pf_buf_adds(out, words);
	else if (s->cause)
		pf_buf_addf(out, "is late: its GPU waits for %s", s->cause);
	else
		pf_buf_adds(out, "is slow");
	if (words == doing[PF_LATE_COMPUTATION])
		say_work(s, out);
	pf_buf_addf(out,
		    "; were it like the others, %s of %s (%s) would be saved",
		    pf_num_show_ns(saved, s->saved_ns),
		    pf_num_show_ns(total, r->total_ns),
		    pf_num_show_ratio(share,
				      pf_num_share(s->saved_ns, r->total_ns)));
}

static void say_compared(const struct pf_ranks *r, struct pf_buf *out)
{
	int64_t ns = r->total_ns > r->ideal_ns ? r->total_ns - r->ideal_ns : 0;
	char lost[PF_NUM_MAX];

	pf_buf_addf(out,
		    r->slowdown < PF_RANKS_EVEN
			    ? "%zu ranks are even: were each like the median, "
			      "%s of the time would be saved"
			    : "No rank alone is slow; were each of %zu like "
			      "the median, %s of the time would be saved",
		    r->rank_count,
		    pf_num_show_ratio(lost, pf_num_share(ns, r->total_ns)));
}

/* Without a full stop: who is slow, why and what it costs, or that none is. */
static void ranks_finding(const struct pf_ranks *r, struct pf_buf *out)
{
	if (r->rank_count < 2)
		pf_buf_adds(out, "There is one rank: nothing to compare");
	else if (r->withheld)
		pf_buf_addf(out, "Ranks are not compared: %s", r->withheld);
	else if (pipeline_finding(r, out))
		return;
	else if (r->straggler >= 0)
		say_straggler(r, out);
	else if (r->total_ns != PF_NO_INT)
		say_compared(r, out);
	else
		pf_buf_addf(out,
			    "%zu ranks are compared%s; what their differences "
			    "cost is not known",
			    r->rank_count,
			    r->left_out ? ", and the rest left out" : "");
}

/* ---- tables ---- */

#define FIELD(...) PF_FIELD(struct pf_ranks, __VA_ARGS__)
static const struct pf_field show_figures[] = {
	FIELD(met_count, "met_count", "Collectives of several ranks", PF_COUNT),
	FIELD(left_count, "left_count", "  and those that met no other",
	      PF_COUNT),
	FIELD(clock_ns, "clock_ns", "Clocks differ by up to", PF_NS),
	FIELD(residual_ns, "residual_ns", "  and ends, once aligned, by",
	      PF_NS),
	FIELD(component_count, "component_count", "Clocks that nothing joins",
	      PF_COUNT | PF_FULL),
	FIELD(early_count, "early_count", "Ends before another start",
	      PF_COUNT | PF_FULL),
};
static const struct pf_field costs[] = {
	FIELD(total_ns, "total_ns", "First to last collective", PF_NS),
	FIELD(ideal_ns, "ideal_ns", "  with median gaps on all ranks", PF_NS),
	FIELD(slowdown, "slowdown", "  slower by a factor of", PF_REAL),
};
#undef FIELD

#define FIELD(...) PF_FIELD(struct pf_ranks_rank, __VA_ARGS__)
static const struct pf_field show_rank_fields[] = {
	FIELD(rank, "rank", "Rank", PF_INT),
	FIELD(host, "host", "Machine", PF_TEXT | PF_FULL),
	FIELD(last_count, "last_count", "Last", PF_COUNT),
	FIELD(count, "count", "Of", PF_COUNT),
	FIELD(root_ns, "root_ns", "Waits it began", PF_NS),
	FIELD(cause, "cause", "Because of", PF_TEXT),
	FIELD(waited_ns, "waited_ns", "It waits", PF_NS),
	FIELD(saved_ns, "saved_ns", "It costs", PF_NS | PF_MAYBE),
	FIELD(late_ns, "late_ns", "Others wait for it", PF_NS | PF_FULL),
	FIELD(gain_ns, "gain_ns", "To the next one", PF_NS | PF_FULL),
	FIELD(window_ns, "window_ns", "Window", PF_NS | PF_FULL),
	FIELD(computation_ns, "computation_ns", "Computation", PF_NS | PF_FULL),
	FIELD(wait_ns, "exposed_wait_ns", "Exposed wait", PF_NS | PF_FULL),
	FIELD(transfer_ns, "exposed_transfer_ns", "Exposed transfer",
	      PF_NS | PF_FULL),
	FIELD(other_comm_ns, "exposed_other_ns",
	      "Exposed, met no other or not split", PF_NS | PF_FULL),
	FIELD(copy_ns, "exposed_copy_ns", "Exposed copies", PF_NS | PF_FULL),
	FIELD(idle_ns, "idle_ns", "Idle", PF_NS | PF_FULL),
	FIELD(trace_id, "trace_id", "Trace", PF_INT | PF_FULL),
};
static const struct pf_field time_fields[] = {
	FIELD(rank, "rank", "Rank", PF_INT),
	FIELD(window_ns, "window_ns", "Window", PF_NS),
	FIELD(computation_ns, "computation_ns", "Compute", PF_NS),
	FIELD(wait_ns, "exposed_wait_ns", "Wait", PF_NS),
	FIELD(transfer_ns, "exposed_transfer_ns", "Transfer", PF_NS),
	FIELD(other_comm_ns, "exposed_other_ns", "Other", PF_NS),
	FIELD(copy_ns, "exposed_copy_ns", "Copies", PF_NS),
	FIELD(idle_ns, "idle_ns", "Idle", PF_NS),
};
static const struct pf_field work_fields[] = {
	FIELD(rank, "rank", "Rank", PF_INT),
	FIELD(kernel_ns, "kernel_ns", "It takes", PF_NS | PF_MAYBE | PF_FULL),
	FIELD(middle_ns, "middle_ns", "Middle", PF_NS | PF_MAYBE),
	FIELD(more_ns, "more_ns", "More", PF_NS | PF_MAYBE),
	FIELD(slower_ns, "slower_ns", "All slower", PF_NS | PF_MAYBE),
	FIELD(factor, "factor", "By", PF_REAL | PF_FULL),
	FIELD(some_ns, "some_ns", "Some", PF_NS | PF_MAYBE),
	FIELD(why_longer, "why", "That is", PF_TEXT),
};
static const struct pf_field clock_fields[] = {
	FIELD(rank, "rank", "Rank", PF_INT),
	FIELD(host, "host", "Machine", PF_TEXT),
	FIELD(offset_ns, "offset_ns", "Ahead by", PF_NS),
	FIELD(error_ns, "error_ns", "Within", PF_NS | PF_KNOWN),
	FIELD(scatter_ns, "scatter_ns", "Ends scatter", PF_NS),
	FIELD(drift_ppm, "drift_ppm", "Drift ppm", PF_REAL),
	FIELD(drift_bound_ppm, "drift_bound_ppm", "Seen from ppm", PF_REAL),
	FIELD(seen_count, "seen_count", "Ends", PF_COUNT),
	FIELD(reference, "reference_rank", "Against", PF_INT | PF_FULL),
	FIELD(begins_ns, "begins_ns", "First event", PF_NS | PF_FULL),
};
#undef FIELD

#define FIELD(...) PF_FIELD(struct pf_ranks_step, __VA_ARGS__)
static const struct pf_field step_fields[] = {
	FIELD(step, "step", "Step", PF_INT),
	FIELD(count, "count", "Collectives", PF_COUNT),
	FIELD(spread_ns, "spread_ns", "First to last", PF_NS),
	FIELD(late_rank, "late_rank", "Late rank", PF_INT | PF_MAYBE),
	FIELD(late_ns, "late_ns", "Waits it began", PF_NS),
	FIELD(cause, "cause", "Because of", PF_TEXT),
};
#undef FIELD

#define FIELD(...) PF_FIELD(struct pf_ranks_kind, __VA_ARGS__)
static const struct pf_field kind_fields[] = {
	FIELD(kind, "kind", "Collective", PF_TEXT),
	FIELD(size, "group_size", "Ranks", PF_INT | PF_KNOWN),
	FIELD(bytes, "bytes", "Bytes", PF_BYTES | PF_KNOWN),
	FIELD(across, "across_machines", "Across", PF_TEXT | PF_FULL),
	FIELD(count, "count", "Count", PF_COUNT),
	FIELD(spread_ns, "spread_ns", "Spread", PF_NS),
	FIELD(transfer_ns, "transfer_ns", "Transfer", PF_NS),
	FIELD(algorithm_rate, "algorithm_gb_per_s", "GB/s", PF_REAL),
	FIELD(bus_rate, "bus_gb_per_s", "Bus GB/s", PF_REAL),
};
#undef FIELD

#define FIELD(...) PF_FIELD(struct pf_ranks_meeting, __VA_ARGS__)
static const struct pf_field meeting_fields[] = {
	FIELD(group, "group", "Group", PF_TEXT),
	FIELD(number, "number", "Number", PF_INT),
	FIELD(kind, "kind", "Collective", PF_TEXT),
	FIELD(step, "step", "Step", PF_INT | PF_MAYBE),
	FIELD(count, "ranks", "Ranks", PF_INT),
	FIELD(last_rank, "last_rank", "Last", PF_INT | PF_MAYBE),
	FIELD(middle_rank, "middle_rank", "Middle", PF_INT | PF_MAYBE),
	FIELD(spread_ns, "spread_ns", "Spread", PF_NS),
	FIELD(gain_ns, "gain_ns", "Gain", PF_NS),
	FIELD(transfer_ns, "transfer_ns", "Transfer", PF_NS),
	FIELD(late_ns, "late_ns", "Late", PF_NS | PF_MAYBE),
	FIELD(why_ns[PF_LATE_COMPUTATION], "computation_ns", "Computation",
	      PF_NS | PF_MAYBE),
	FIELD(why_ns[PF_LATE_COMMUNICATION], "communication_ns",
	      "Communication", PF_NS | PF_MAYBE),
	FIELD(why_ns[PF_LATE_COPY], "copy_ns", "Copies", PF_NS | PF_MAYBE),
	FIELD(why_ns[PF_LATE_HOST], "idle_ns", "Idle", PF_NS | PF_MAYBE),
	FIELD(why_ns[PF_LATE_BEFORE], "before_ns", "Before", PF_NS | PF_MAYBE),
	FIELD(cause, "cause", "Because of", PF_TEXT),
	FIELD(root_rank, "root_rank", "Root", PF_INT | PF_MAYBE),
	FIELD(root_cause, "root_cause", "Its cause", PF_TEXT),
};
#undef FIELD

/* How a figure is spread over ranks; imbalance is (max - mean) / max. */
struct spread {
	const char *figure;
	int64_t min_ns, low_ns, median_ns, high_ns, max_ns, mean_ns, max_rank;
	double imbalance;
};

#define FIELD(...) PF_FIELD(struct spread, __VA_ARGS__)
static const struct pf_field spread_fields[] = {
	FIELD(figure, "figure", "Of a rank", PF_TEXT),
	FIELD(min_ns, "min_ns", "Least", PF_NS),
	FIELD(low_ns, "p25_ns", "25 %", PF_NS | PF_FULL),
	FIELD(median_ns, "median_ns", "Median", PF_NS),
	FIELD(high_ns, "p75_ns", "75 %", PF_NS | PF_FULL),
	FIELD(max_ns, "max_ns", "Most", PF_NS),
	FIELD(max_rank, "max_rank", "By rank", PF_INT),
	FIELD(mean_ns, "mean_ns", "Mean", PF_NS | PF_FULL),
	FIELD(imbalance, "imbalance", "Imbalance", PF_RATIO),
};
#undef FIELD

static void take_spread(const struct pf_ranks *r, size_t at, int64_t *values,
			struct spread *row)
{
	size_t n = r->rank_count;
	double mean = 0;

	for (size_t i = 0; i < n; i++) {
		memcpy(&values[i], (const char *)&r->ranks[i] + at,
		       sizeof(*values));
		if (!i || values[i] > row->max_ns) {
			row->max_ns = values[i];
			row->max_rank = r->ranks[i].rank;
		}
		mean += (double)values[i] / (double)n;
	}
	pf_sort(values, n, sizeof(*values), pf_stats_compare);
	row->min_ns = values[0];
	row->low_ns = pf_stats_quantile(values, n, 25);
	row->median_ns = pf_stats_quantile(values, n, 50);
	row->high_ns = pf_stats_quantile(values, n, 75);
	row->mean_ns = llround(mean);
	row->imbalance = row->max_ns > 0 ? 1 - mean / (double)row->max_ns : NAN;
}

static void show_spread(const struct pf_ranks *r, struct pf_doc *doc)
{
	static const struct {
		const char *name;
		size_t at;
	} figures_of[] = {
		{ "computation",
		  offsetof(struct pf_ranks_rank, computation_ns) },
		{ "exposed wait", offsetof(struct pf_ranks_rank, wait_ns) },
		{ "exposed transfer",
		  offsetof(struct pf_ranks_rank, transfer_ns) },
		{ "idle", offsetof(struct pf_ranks_rank, idle_ns) },
		{ "waits it began", offsetof(struct pf_ranks_rank, root_ns) },
	};
	struct pf_table *t = pf_doc_fields(doc, "spread", "Spread over ranks",
					   PF_FIELDS(spread_fields));
	PF_OWN int64_t *values = pf_calloc(r->rank_count + 1, sizeof(*values));

	for (size_t f = 0; f < PF_LEN(figures_of); f++) {
		struct spread row = { .figure = figures_of[f].name };

		take_spread(r, figures_of[f].at, values, &row);
		PF_PUT(t, spread_fields, row);
	}
}

PF_ORDER(by_cost, struct pf_ranks_rank,
	 PF_DOWN(saved_ns) PF_DOWN(root_ns) PF_UP(rank))

PF_ORDER(by_offset, struct pf_ranks_rank, PF_FAR(offset_ns) PF_UP(rank))

PF_ORDER(by_late, struct pf_ranks_step, PF_DOWN(late_ns) PF_UP(step))

/* Copies in another order: the outermost first. */
static void *sorted(const void *rows, size_t count, size_t bytes, bool is_so,
		    int (*order)(const void *a, const void *b))
{
	void *copy = pf_calloc(count + 1, bytes);

	if (count)
		memcpy(copy, rows, count * bytes);
	if (is_so)
		pf_sort(copy, count, bytes, order);
	return copy;
}

/* People see ranks that compute longer than others. */
static void show_work(const struct pf_ranks *r,
		      const struct pf_ranks_rank *ranks, bool is_wide,
		      struct pf_doc *doc)
{
	struct pf_ranks_rank *shown =
		pf_calloc(r->rank_count + 1, sizeof(*shown));
	size_t count = 0;

	for (size_t i = 0; i < r->rank_count; i++)
		if (is_wide || ranks[i].work > PF_WORK_ALIKE)
			shown[count++] = ranks[i];
	if (is_wide || count)
		PF_ROWS(doc, "work",
			"Kernels of computation, against a middle rank",
			work_fields, shown, count);
	free(shown);
}

static void show_tables(const struct pf_ranks *r, bool is_wide,
			struct pf_doc *doc)
{
	bool is_many = !is_wide && r->rank_count > PF_RANKS_FEW;
	PF_OWN struct pf_ranks_rank *ranks = sorted(
		r->ranks, r->rank_count, sizeof(*ranks), is_many, by_cost);
	PF_OWN struct pf_ranks_rank *clocks = sorted(
		r->ranks, r->rank_count, sizeof(*clocks), is_many, by_offset);
	PF_OWN struct pf_ranks_step *steps = sorted(
		r->steps, r->step_count, sizeof(*steps), is_many, by_late);

	PF_ROWS(doc, "ranks", "Late at collectives", show_rank_fields, ranks,
		r->rank_count);
	show_spread(r, doc);
	if (!is_many && !is_wide)
		PF_ROWS(doc, "times", "What GPUs do, each instant once",
			time_fields, ranks, r->rank_count);
	show_work(r, ranks, is_wide, doc);
	PF_ROWS(doc, "steps", "By step", step_fields, steps, r->step_count);
	PF_ROWS(doc, "clocks", "Clocks, by the ends of collectives",
		clock_fields, clocks, r->rank_count);
	PF_ROWS(doc, "collectives", "Transfer, once all ranks have come",
		kind_fields, r->kinds, r->kind_count);
	if (is_wide)
		PF_ROWS(doc, "meetings", "Collectives one by one",
			meeting_fields, r->meetings, r->meeting_count);
}

void pf_ranks_show(const struct pf_ranks *r, bool is_wide, struct pf_doc *doc)
{
	struct pf_buf text = { 0 };

	ranks_finding(r, &text);
	pf_doc_finding(doc, "%.*s", (int)text.len, text.data);
	pf_buf_release(&text);
	doc->is_nothing = r->rank_count < 2 || r->withheld;
	pf_doc_int(doc, "rank_count", "Ranks", PF_COUNT,
		   (int64_t)r->rank_count);
	if (r->left_out)
		pf_doc_string(doc, "left_out", "Left out", r->left_out);
	if (r->withheld) {
		pf_doc_string(doc, "withheld", "Ranks are not compared",
			      r->withheld);
		return;
	}
	PF_SCALARS(doc, show_figures, *r);
	if (r->total_ns != PF_NO_INT)
		PF_SCALARS(doc, costs, *r);
	pipeline_show(r, doc);
	show_tables(r, is_wide, doc);
	if (r->left_out && r->total_ns == PF_NO_INT && !r->waits_to_receive)
		pf_doc_note(doc, "what ranks cost is not worked out: in some "
				 "collectives they wait for ranks that are "
				 "left out");
	if (r->partly)
		pf_doc_note(doc,
			    r->met_count ? "left out: %s"
					 : "%s: clocks are taken as they are",
			    r->partly);
	if (r->component_count > 1)
		pf_doc_note(doc,
			    "no collective joins all ranks: %" PRId64
			    " parts of the job have clocks of their own",
			    r->component_count);
}

/* ---- checks ---- */

struct gate {
	bool is_waste;
	double limit;
};

static int parse(const char *expression, struct gate *out, struct pf_err *err)
{
	static const char *const names[] = { "straggler>", "waste>" };

	for (int i = 0; i < 2; i++) {
		size_t len = strlen(names[i]);
		char *end;

		if (strncmp(expression, names[i], len) != 0)
			continue;
		out->is_waste = i;
		out->limit = strtod(expression + len, &end) / 100;
		if (end != expression + len && !strcmp(end, "%") &&
		    out->limit >= 0 && out->limit <= 1)
			return 0;
	}
	return pf_fail(err, PF_EUSAGE,
		       "'%s' is no check; write for example 'straggler>2%%' or "
		       "'waste>5%%'",
		       expression);
}

int pf_ranks_gate_parse(const char *expression, struct pf_err *err)
{
	return parse(expression, &(struct gate){ 0 }, err);
}

int pf_ranks_gate(const char *expression, const struct pf_ranks *r,
		  struct pf_doc *doc, bool *is_failed, struct pf_err *err)
{
	struct gate gate;
	int64_t lost = 0;
	double share;
	char shown[PF_NUM_MAX];

	PF_TRY(parse(expression, &gate, err) < 0);
	if (r->total_ns == PF_NO_INT) {
		pf_doc_failed(doc, expression,
			      !r->withheld ? "%s: what ranks cost is not known"
					   : "%s: ranks are not compared",
			      expression);
		*is_failed = true;
		return 0;
	}
	if (gate.is_waste)
		lost = r->total_ns - r->ideal_ns;
	else if (r->straggler >= 0)
		lost = r->ranks[r->straggler].saved_ns;
	share = pf_num_share(lost, r->total_ns);
	if (share > gate.limit) {
		pf_doc_failed(doc, expression, "%s: it is %s", expression,
			      pf_num_show_ratio(shown, share));
		*is_failed = true;
	} else {
		pf_doc_passed(doc, expression);
	}
	return 0;
}
