/* SPDX-License-Identifier: MIT */
/* Ranks from their digests, and what is found as rows. */
#include "config.h"

#include "analysis/ranks/ranks.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/ranks/arrival.h"
#include "analysis/ranks/digest.h"
#include "analysis/ranks/impl.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/order.h"
#include "base/sat.h"
#include "base/stats.h"
#include "events/args.h"
#include "events/ask.h"
#include "show/doc.h"

/* Digests come in any order and are kept as bytes; ranks are in their order. */

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

/* ---- digests ---- */

struct pf_ranks_job *pf_ranks_new(const struct pf_ranks_args *args)
{
	struct pf_ranks_job *job = pf_calloc(1, sizeof(*job));

	job->args = *args;
	pf_intern_init(&job->groups);
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
	struct pf_buf bytes = { 0 };
	uint64_t hash;

	copy.trace_id = 0;
	pf_digest_put(&copy, &bytes);
	hash = pf_digest_hash(bytes.data, bytes.len);
	pf_buf_release(&bytes);
	return hash;
}

static int keep(void *context, struct pf_digest *d, struct pf_err *err)
{
	struct pf_ranks_job *job = context;
	struct rank *r;

	if (d->op_count > OPS_MAX - job->op_count)
		return pf_fail(err, PF_ELIMIT,
			       "more than %u collectives of ranks cannot be "
			       "compared at once; choose steps with --step",
			       OPS_MAX);
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
			    .hash = hash_of(d) };
	for (size_t i = 0; i < PF_DOING_IDLE; i++)
		r->has_work |= d->ns[i] > 0;
	for (size_t i = 0; i < d->message_count; i++)
		r->receives |= d->messages[i].is_receive;
	pf_digest_put(d, &r->bytes);
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
	struct pf_digest d;
	int rc = pf_digest_get(data, len, &d, err);

	if (!rc && (!ranks || pf_window_names_rank(ranks, d.rank)))
		rc = keep(job, &d, err) < 0 ? -1 : 1;
	pf_digest_release(&d);
	return rc;
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
	struct pf_buf text = { 0 };
	uint32_t group;

	if (*name)
		pf_buf_addf(&text, "=%s", name);
	else
		pf_buf_addf(&text, "@%" PRId64, op->stream);
	group = pf_intern_add(&job->groups, text.data, text.len);
	pf_buf_release(&text);
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

static int load_ops(struct pf_ranks_job *job, struct pf_err *err)
{
	uint32_t at = 0;

	job->ops =
		pf_arena_calloc(&job->memory, job->op_count, sizeof(*job->ops));
	for (size_t i = 0; i < job->rank_count; i++) {
		struct rank *r = &job->ranks[i];
		struct pf_digest d;

		r->from = at;
		if (pf_digest_get(r->bytes.data, r->bytes.len, &d, err) < 0)
			return -1;
		for (size_t k = 0; k < d.op_count; k++)
			load_op(job, (uint32_t)i, &d, &d.ops[k],
				&job->ops[at++]);
		pf_digest_release(&d);
	}
	return 0;
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
static int align(struct pf_ranks_job *job, struct pf_err *err)
{
	start_anew(job);
	if (load_ops(job, err) < 0)
		return -1;
	if (check_ranks(job))
		pf_ranks_meet(job);
	if (!job->why.len)
		pf_ranks_align(job);
	return 0;
}

static void say_damaged(struct pf_ranks_job *job, const struct rank *r)
{
	struct pf_buf *out = &job->left_out;

	pf_buf_addf(out, "%srank %" PRId64 ", whose collectives of ",
		    out->len ? "; " : "", r->rank);
	pf_ranks_say_group(job, r->odd_group, out);
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

/* How many collectives most ranks have; NONE: there is no such number. */
static uint32_t most_of(const struct rank *all, size_t count)
{
	uint32_t most = 0;
	size_t votes = 0;

	for (size_t i = 0; i < count; i++) {
		if (!votes)
			most = all[i].count;
		votes = all[i].count == most ? votes + 1 : votes - 1;
	}
	votes = 0;
	for (size_t i = 0; i < count; i++)
		votes += all[i].count == most;
	return 2 * votes > count ? most : NONE;
}

/*
 * Is there one rank without which the others match, and only one?  Of several,
 * such as the two of a group of two, the only one that has not as many
 * collectives as most ranks have.
 */
static int try_without(struct pf_ranks_job *job, const struct rank *all,
		       size_t count, struct pf_err *err)
{
	struct pf_buf who = { 0 };
	uint32_t most = most_of(all, count);
	size_t found = 0, damaged = count, fewer = 0, odd = count;
	int rc = 0;

	for (size_t i = 0; !rc && i < count; i++) {
		if (!all[i].is_odd)
			continue;
		put_without(job, all, count, i);
		rc = align(job, err);
		if (rc || job->why.len || job->unlike_count)
			continue;
		pf_buf_addf(&who, "%s%" PRId64, found++ ? " or " : "",
			    all[i].rank);
		damaged = i;
		if (most != NONE && all[i].count != most) {
			odd = i;
			fewer++;
		}
	}
	if (found > 1 && fewer == 1) {
		found = 1;
		damaged = odd;
	}
	put_without(job, all, count, found == 1 ? damaged : count);
	if (!rc)
		rc = align(job, err);
	if (found == 1) {
		struct rank gone = all[damaged];

		if (!rc)
			say_damaged(job, &gone);
		free(gone.host);
		pf_buf_release(&gone.bytes);
	} else if (!rc && found) {
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
	pf_buf_release(&who);
	return rc;
}

static int leave_damaged_out(struct pf_ranks_job *job, struct pf_err *err)
{
	size_t count = job->rank_count, odd = 0;
	struct rank *all;
	int rc;

	for (size_t i = 0; i < count; i++)
		odd += job->ranks[i].is_odd;
	if (!odd || odd > DAMAGED_MAX || count < 3 ||
	    (!job->why.len && !job->unlike_count))
		return 0;
	all = pf_calloc(count, sizeof(*all));
	memcpy(all, job->ranks, count * sizeof(*all));
	rc = try_without(job, all, count, err);
	free(all);
	return rc;
}

static const char *text_of(const struct pf_buf *text, struct pf_ranks *out)
{
	return text->len ? pf_arena_string(&out->texts, text->data) : NULL;
}

static void ranks_longest(struct pf_ranks_job *job, struct pf_ranks *out);
static int ranks_rows(struct pf_ranks_job *job, struct pf_ranks *out,
		      struct pf_err *err);

int pf_ranks_find(struct pf_ranks_job *job, struct pf_ranks *out,
		  struct pf_err *err)
{
	*out = (struct pf_ranks){ .straggler = -1,
				  .total_ns = PF_NO_INT,
				  .ideal_ns = PF_NO_INT,
				  .slowdown = NAN };
	if (!job->rank_count)
		return 0;
	pf_sort(job->ranks, job->rank_count, sizeof(*job->ranks), by_rank);
	settle_twice(job);
	settle_silent(job);
	if (align(job, err) < 0 || leave_damaged_out(job, err) < 0)
		return -1;
	/* of two it cannot be known */
	if (!job->why.len && job->unlike_end_count && job->rank_count > 2)
		pf_buf_adds(&job->why,
			    "ranks end with different collectives, as where "
			    "several traces are damaged; --rank leaves ranks "
			    "out");
	if (!job->why.len)
		pf_ranks_blame(job);
	out->left_out = text_of(&job->left_out, out);
	out->withheld = text_of(&job->why, out);
	out->partly = text_of(&job->partly, out);
	if (ranks_rows(job, out, err) < 0)
		return -1;
	if (!job->args.is_brief && pf_ranks_pipeline(job, out, err) < 0)
		return -1;
	if (!job->why.len && !job->args.is_brief && !out->waits_to_receive &&
	    !job->left_out.len && job->meeting_count)
		pf_ranks_replay(job, out);
	if (!job->why.len)
		ranks_longest(job, out);
	return 0;
}

void pf_ranks_release(struct pf_ranks *r)
{
	free(r->ranks);
	free(r->kinds);
	free(r->steps);
	free(r->meetings);
	free(r->pipes);
	free(r->stages);
	pf_arena_release(&r->texts);
	*r = (struct pf_ranks){ 0 };
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
		      struct works *works, struct pf_ranks_rank *out,
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
	take_works(works, index, &d);
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
	       job->ops[m->last].rank == straggler;
}

/*
 * The longest wait for a rank that alone is late, by the first that came; once
 * the straggler is known.
 */
static void ranks_longest(struct pf_ranks_job *job, struct pf_ranks *out)
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

static int make_ranks(struct pf_ranks_job *job, struct pf_ranks *out,
		      struct pf_err *err)
{
	struct blamed *blamed = pf_calloc(job->rank_count + 1, sizeof(*blamed));
	struct works works = { .step_count = -1 };
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
		out->ranks[i].cause = cause_of_most(&blamed[i]);
		if (!rc)
			rc = split_rank(job, i, &works, &out->ranks[i], err);
	}
	/* captures of unlike lengths hold unlike work */
	if (!rc && !job->why.len && !works.is_unlike && !job->left_count)
		compare_all(&works, out);
	free(works.items);
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
	double *rates = pf_calloc(n + 1, sizeof(*rates));
	int64_t *ns = pf_calloc(n + 1, sizeof(*ns));
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
	free(rates);
	free(ns);
}

PF_ORDER(by_kind, struct pf_ranks_kind,
	 PF_ALPHA(kind) PF_UP(size) PF_UP(bytes) PF_ALPHA(across))

static void make_kinds(struct pf_ranks_job *job, struct pf_ranks *out)
{
	struct transfer *all = pf_calloc(job->meeting_count + 1, sizeof(*all));
	struct pf_buf key = { 0 };
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
	pf_buf_release(&key);
	free(all);
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
	struct pf_keyed steps, blames;

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
	pf_keyed_end(&blames);
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
			groups[i] = pf_arena_string(&out->texts, text + 1);
	}
	out->meetings =
		pf_calloc(job->meeting_count + 1, sizeof(*out->meetings));
	out->meeting_count = job->meeting_count;
	for (uint32_t i = 0; i < job->meeting_count; i++)
		make_meeting(job, &job->meetings[job->sorted[i]], groups,
			     &out->meetings[i]);
	free(groups);
}

/* What is shown. */
static int ranks_rows(struct pf_ranks_job *job, struct pf_ranks *out,
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

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct pf_arrivals, member, key, title, kind)
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

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct pf_ranks_rank, member, key, title, kind)
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
