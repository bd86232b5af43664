/* SPDX-License-Identifier: MIT */
/* Digests come in any order and are kept as bytes; ranks are in their order. */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "base/sat.h"
#include "base/stats.h"
#include "analysis/ranks/digest_make.h"
#include "analysis/ranks/ranks_impl.h"

#define ROUNDS_MAX 64 /* of a search for a median */

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
	return pf_digest_host_name(
		(enum pf_digest_host)(cause - PF_LATE_BY_HOST));
}

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

int64_t pf_ranks_median_ns(int64_t *values, size_t count)
{
	pf_sort(values, count, sizeof(*values), pf_stats_compare);
	return pf_stats_quantile(values, count, 50);
}

uint32_t pf_ranks_of(const struct pf_ranks_job *job, uint32_t op)
{
	size_t low = 0, high = job->rank_count;

	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;

		if (job->ranks[mid].from <= op)
			low = mid;
		else
			high = mid;
	}
	return (uint32_t)low;
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
	free(job->ranks);
	free(job->ops);
	free(job->members);
	free(job->listed);
	free(job->meetings);
	free(job->parts);
	free(job->sorted);
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

static int keep(struct pf_ranks_job *job, const struct pf_digest *d,
		struct pf_err *err)
{
	struct rank *r;

	if (d->op_count > OPS_MAX - job->op_count)
		return pf_fail(err, PF_ELIMIT,
			       "more than %u collectives of ranks cannot be "
			       "compared at once; choose steps with --step",
			       OPS_MAX);
	job->op_count += (uint32_t)d->op_count;
	job->ranks = pf_grow(job->ranks, &job->rank_cap, job->rank_count + 1,
			     sizeof(*job->ranks));
	r = &job->ranks[job->rank_count++];
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

static int take(void *context, struct pf_digest *d, struct pf_err *err)
{
	return keep(context, d, err);
}

int pf_ranks_add(struct pf_ranks_job *job, struct pf_db *db,
		 const struct pf_window *window, struct pf_err *err)
{
	const struct pf_digest_sink sink = { take, job };

	return pf_digests_make(db, window, &sink, err);
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

static void load_op(struct pf_ranks_job *job, const struct pf_digest *d,
		    const struct pf_digest_op *from, struct op *op)
{
	*op = (struct op){
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

	job->ops = pf_calloc(job->op_count + 1, sizeof(*job->ops));
	for (size_t i = 0; i < job->rank_count; i++) {
		struct rank *r = &job->ranks[i];
		struct pf_digest d;

		r->from = at;
		if (pf_digest_get(r->bytes.data, r->bytes.len, &d, err) < 0)
			return -1;
		for (size_t k = 0; k < d.op_count; k++)
			load_op(job, &d, &d.ops[k], &job->ops[at++]);
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
	free(job->ops);
	free(job->members);
	free(job->listed);
	free(job->meetings);
	free(job->parts);
	job->ops = NULL;
	job->members = NULL;
	job->listed = job->parts = NULL;
	job->meetings = NULL;
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
	if (job->left_out.len)
		out->left_out = pf_strdup(job->left_out.data);
	if (job->why.len)
		out->withheld = pf_strdup(job->why.data);
	if (job->partly.len)
		out->partly = pf_strdup(job->partly.data);
	if (pf_ranks_rows(job, out, err) < 0)
		return -1;
	if (!job->args.is_brief && pf_ranks_pipeline(job, out, err) < 0)
		return -1;
	if (!job->why.len && !job->args.is_brief && !out->waits_to_receive &&
	    !job->left_out.len && job->meeting_count)
		pf_ranks_replay(job, out);
	if (!job->why.len)
		pf_ranks_longest(job, out);
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
	free(r->withheld);
	free(r->partly);
	free(r->left_out);
	pf_arena_release(&r->texts);
	*r = (struct pf_ranks){ 0 };
}
