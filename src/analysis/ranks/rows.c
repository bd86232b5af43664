/* SPDX-License-Identifier: MIT */
/* Meetings and digests as rows: by rank, by kind of collective, by step. */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"
#include "base/sat.h"
#include "events/collective.h"
#include "analysis/ranks/ranks_impl.h"
#include "show/rows.h"

/* ---- by rank ---- */

/* Time by cause: the largest names it. */
struct blamed {
	int64_t ns[PF_LATE_CAUSES];
};

static const char *most_of(const struct blamed *b)
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

		r = &out->ranks[pf_ranks_of(job, op)];
		r->count++;
		pf_sat_sum(&r->waited_ns, m->last_ns - job->ops[op].start_ns);
	}
	if (m->last == NONE)
		return;
	r = &out->ranks[pf_ranks_of(job, m->last)];
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

static int split_rank(struct pf_ranks_job *job, size_t index,
		      struct pf_ranks_works *works, struct pf_ranks_rank *out,
		      struct pf_err *err)
{
	const struct rank *r = &job->ranks[index];
	struct pf_digest d;

	if (pf_digest_get(r->bytes.data, r->bytes.len, &d, err) < 0)
		return -1;
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
	pf_ranks_works_take(works, index, &d);
	pf_digest_release(&d);
	return 0;
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
}

/* Is it a wait for the straggler, or is there none? */
static bool is_for(const struct pf_ranks_job *job, const struct meeting *m,
		   int64_t straggler)
{
	return straggler < 0 || m->root == straggler ||
	       pf_ranks_of(job, m->last) == straggler;
}

/* The longest wait for a rank that alone is late, by the first that came. */
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
		const struct rank *r = &job->ranks[pf_ranks_of(job, op)];

		if (job->ops[op].start_ns != worst->first_ns)
			continue;
		out->longest_wait_rank = (size_t)(r - job->ranks);
		out->longest_wait_start_ns = pf_sat_sub(
			worst->first_ns, pf_ranks_time(job, r, r->first_ns));
		return;
	}
}

static int make_ranks(struct pf_ranks_job *job, struct pf_ranks *out,
		      struct pf_err *err)
{
	struct blamed *blamed = pf_calloc(job->rank_count + 1, sizeof(*blamed));
	struct pf_ranks_works *works = pf_ranks_works_new();
	int rc = 0;

	out->rank_count = job->rank_count;
	out->ranks = pf_calloc(job->rank_count + 1, sizeof(*out->ranks));
	for (size_t i = 0; i < job->rank_count; i++) {
		out->ranks[i] = (struct pf_ranks_rank){
			.rank = job->ranks[i].rank,
			.trace_id = job->ranks[i].trace_id,
			.host = pf_arena_string(&out->texts,
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
	for (uint32_t i = 0; !job->why.len && i < job->meeting_count; i++)
		add_meeting(job, &job->meetings[i], out, blamed);
	for (size_t i = 0; i < job->rank_count; i++) {
		out->ranks[i].cause = most_of(&blamed[i]);
		if (!rc)
			rc = split_rank(job, i, works, &out->ranks[i], err);
	}
	if (!rc && !job->why.len)
		pf_ranks_works_find(works, job, out);
	pf_ranks_works_free(works);
	free(blamed);
	return rc;
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

	return kind < sizeof(names) / sizeof(*names) ? names[kind] : "other";
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
		const char *host = job->ranks[pf_ranks_of(job, op)].host;

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

static size_t find_kind(struct pf_ranks *out, struct pf_intern *keys,
			size_t *cap, const struct pf_ranks_kind *like)
{
	struct pf_buf key = { 0 };
	size_t n;

	pf_buf_addf(&key, "%s/%" PRId64 "/%" PRId64 "/%s", like->kind,
		    like->size, like->bytes, like->across ? like->across : "?");
	n = pf_intern_add(keys, key.data, key.len);
	pf_buf_release(&key);
	if (n == out->kind_count) {
		out->kinds =
			pf_grow(out->kinds, cap, n + 1, sizeof(*out->kinds));
		out->kinds[out->kind_count++] = *like;
	}
	return n;
}

struct transfer {
	size_t kind;
	int64_t ns;
};

PF_ORDER(by_kind_of, struct transfer, PF_UP(kind) PF_UP(ns))

static double bus_factor(const struct pf_ranks_kind *k)
{
	struct pf_collective c = { .name = { k->kind, strlen(k->kind) },
				   .group_size = k->size };

	return pf_collective_factor(&c);
}

/* Medians of one kind's transfers, in ascending order. */
static void rate(struct pf_ranks_kind *k, const struct transfer *t, size_t n)
{
	double *rates = pf_calloc(n + 1, sizeof(*rates));
	int64_t *ns = pf_calloc(n + 1, sizeof(*ns));
	double factor = bus_factor(k);
	size_t rated = 0;

	for (size_t i = 0; i < n; i++) {
		ns[i] = t[i].ns;
		if (k->bytes > 0 && t[i].ns > 0)
			rates[rated++] = (double)k->bytes / (double)t[i].ns;
	}
	k->transfer_ns = pf_ranks_median_ns(ns, n);
	k->algorithm_rate = rated ? pf_ranks_median(rates, rated) : NAN;
	k->bus_rate = factor >= 0 ? k->algorithm_rate * factor : NAN;
	free(rates);
	free(ns);
}

PF_ORDER(by_kind, struct pf_ranks_kind,
	 PF_ALPHA(kind) PF_UP(size) PF_UP(bytes) PF_ALPHA(across))

static void make_kinds(struct pf_ranks_job *job, struct pf_ranks *out)
{
	struct transfer *all = pf_calloc(job->meeting_count + 1, sizeof(*all));
	struct pf_intern keys;
	size_t cap = 0;

	pf_intern_init(&keys);
	for (uint32_t i = 0; i < job->meeting_count; i++) {
		const struct meeting *m = &job->meetings[i];
		const struct op *op = &job->ops[job->parts[m->from]];
		struct pf_ranks_kind *k, like = {
			.kind = kind_name(op->kind),
			.size = op->size,
			.bytes = op->bytes,
			.across = across(job, m, op->size),
		};
		size_t n = find_kind(out, &keys, &cap, &like);

		k = &out->kinds[n];
		k->count++;
		pf_sat_sum(&k->spread_ns, m->last_ns - m->first_ns);
		all[i] = (struct transfer){ n, m->transfer_ns };
	}
	pf_sort(all, job->meeting_count, sizeof(*all), by_kind_of);
	for (size_t i = 0, end; i < job->meeting_count; i = end) {
		for (end = i + 1;
		     end < job->meeting_count && all[end].kind == all[i].kind;)
			end++;
		rate(&out->kinds[all[i].kind], &all[i], end - i);
	}
	pf_sort(out->kinds, out->kind_count, sizeof(*out->kinds), by_kind);
	pf_intern_release(&keys);
	free(all);
}

/* ---- by step ---- */

/* Whom others waited for in a step. */
struct blame {
	int64_t step;
	uint32_t rank;
	struct blamed by;
	int64_t ns;
};

struct blames {
	struct pf_map places;
	struct blame *items;
	size_t count, cap;
};

static size_t find_step(struct pf_ranks *out, struct pf_map *places,
			size_t *cap, int64_t step)
{
	uint64_t *place = pf_map_at(places, (uint64_t)step);

	if (*place == UINT64_MAX) {
		*place = out->step_count;
		out->steps = pf_grow(out->steps, cap, out->step_count + 1,
				     sizeof(*out->steps));
		out->steps[out->step_count++] =
			(struct pf_ranks_step){ .step = step,
						.dur_ns = PF_NO_INT,
						.late_rank = PF_NO_INT };
	}
	return (size_t)*place;
}

static void blame(struct blames *b, size_t step, const struct meeting *m)
{
	int64_t spread = m->last_ns - m->first_ns;
	uint64_t *place = pf_map_at(&b->places, (uint64_t)step << 32 | m->root);
	struct blame *one;

	if (*place == UINT64_MAX) {
		*place = b->count;
		b->items = pf_grow(b->items, &b->cap, b->count + 1,
				   sizeof(*b->items));
		b->items[b->count++] = (struct blame){ .step = (int64_t)step,
						       .rank = m->root };
	}
	one = &b->items[*place];
	pf_sat_sum(&one->ns, spread);
	pf_sat_sum(&one->by.ns[m->root_cause], spread);
}

PF_ORDER(by_step, struct pf_ranks_step, PF_UP(step))

static void make_steps(struct pf_ranks_job *job, struct pf_ranks *out)
{
	struct blames b = { 0 };
	struct pf_map places;
	size_t cap = 0;

	pf_map_init(&places);
	pf_map_init(&b.places);
	for (uint32_t i = 0; i < job->meeting_count; i++) {
		const struct meeting *m = &job->meetings[i];
		int64_t step = job->ops[job->parts[m->from]].step;
		size_t n;

		if (step < 0)
			continue;
		n = find_step(out, &places, &cap, step);
		out->steps[n].count++;
		pf_sat_sum(&out->steps[n].spread_ns, m->last_ns - m->first_ns);
		if (m->last != NONE)
			blame(&b, n, m);
	}
	for (size_t i = 0; i < b.count; i++) {
		struct pf_ranks_step *s = &out->steps[b.items[i].step];

		if (b.items[i].ns <= s->late_ns)
			continue;
		s->late_ns = b.items[i].ns;
		s->late_rank = job->ranks[b.items[i].rank].rank;
		s->cause = most_of(&b.items[i].by);
	}
	pf_sort(out->steps, out->step_count, sizeof(*out->steps), by_step);
	pf_map_release(&places);
	pf_map_release(&b.places);
	free(b.items);
}

/* ---- one by one ---- */

static int64_t rank_at(const struct pf_ranks_job *job, uint32_t op)
{
	return job->ranks[pf_ranks_of(job, op)].rank;
}

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
	out->last_rank = rank_at(job, m->last);
	out->middle_rank = rank_at(job, m->middle);
	out->late_ns = m->last_ns - job->ops[m->middle].start_ns;
	out->cause = pf_late_cause_name(m->cause);
	out->root_rank = job->ranks[m->root].rank;
	out->root_cause = pf_late_cause_name(m->root_cause);
}

/* Names of groups, without what tells them from streams. */
static const char **name_groups(struct pf_ranks_job *job, struct pf_ranks *out)
{
	const char **groups =
		pf_calloc((size_t)job->groups.count + 1, sizeof(*groups));

	for (uint32_t i = 0; i < job->groups.count; i++) {
		const char *text = pf_intern_text(&job->groups, i, NULL);

		groups[i] = *text == '='
				    ? pf_arena_string(&out->texts, text + 1)
				    : NULL;
	}
	return groups;
}

static void make_meetings(struct pf_ranks_job *job, struct pf_ranks *out)
{
	const char **groups = name_groups(job, out);

	out->meetings =
		pf_calloc(job->meeting_count + 1, sizeof(*out->meetings));
	out->meeting_count = job->meeting_count;
	for (uint32_t i = 0; i < job->meeting_count; i++)
		make_meeting(job, &job->meetings[job->sorted[i]], groups,
			     &out->meetings[i]);
	free(groups);
}

int pf_ranks_rows(struct pf_ranks_job *job, struct pf_ranks *out,
		  struct pf_err *err)
{
	if (make_ranks(job, out, err) < 0)
		return -1;
	if (job->why.len)
		return 0;
	out->met_count = job->meeting_count;
	out->left_count = job->left_count;
	out->early_count = job->early_count;
	make_kinds(job, out);
	make_steps(job, out);
	if (!job->args.is_brief)
		make_meetings(job, out);
	return 0;
}
