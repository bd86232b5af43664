/* SPDX-License-Identifier: MIT */
/* All ranks replayed alone at once give what each by itself gives. */
#include "unit/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "analysis/ranks/digest.h"
#include "analysis/ranks/impl.h"

#define KINDS_ALL_REDUCE 1

struct plan {
	uint64_t seed;
	size_t ranks, hosts, rounds;
	unsigned wait_one_in; /* collectives that nothing waits for */
};

static int64_t up_to(uint64_t *seed, int64_t most)
{
	return (int64_t)(support_random(seed) % (uint64_t)most);
}

/* One rank of the job: groups of a machine, across machines, of all. */
static void add_op(struct pf_digest *d, uint32_t group, int64_t stream,
		   int64_t ready, int64_t start, int64_t end, bool gates)
{
	struct pf_digest_op *op;

	d->ops = pf_grow(d->ops, &d->op_cap, d->op_count + 1, sizeof(*d->ops));
	op = &d->ops[d->op_count++];
	*op = (struct pf_digest_op){ .start_ns = start,
				     .end_ns = end,
				     .ready_ns = ready,
				     .step = 0,
				     .stream = stream,
				     .bytes = 4096,
				     .size = -1,
				     .group = group,
				     .kind = KINDS_ALL_REDUCE,
				     .gates = gates };
}

static const char *const group_names[] = { "machine", "across", "all" };

static void set_up(struct pf_digest *d, const struct plan *plan, size_t rank)
{
	size_t per = plan->ranks / plan->hosts;

	*d = (struct pf_digest){ .rank = (int64_t)rank,
				 .world = (int64_t)plan->ranks,
				 .trace_id = (int64_t)rank + 1 };
	d->groups = pf_calloc(3, sizeof(*d->groups));
	d->group_count = d->group_cap = 3;
	for (size_t g = 0; g < 3; g++) {
		char text[32];

		snprintf(text, sizeof(text), "%s%zu", group_names[g],
			 g == 0   ? rank / per
			 : g == 1 ? rank % per
				  : 0);
		d->groups[g] = pf_strdup(text);
	}
}

/* Who is in the group of a rank. */
static bool is_in(const struct plan *plan, unsigned group, size_t a, size_t b)
{
	size_t per = plan->ranks / plan->hosts;

	return group == 0   ? a / per == b / per
	       : group == 1 ? a % per == b % per
			    : true;
}

/* Each rank is at a time; a collective ends together and waits for all. */
static void run_round(struct plan *plan, struct pf_digest *d, int64_t *now)
{
	unsigned group = (unsigned)up_to(&plan->seed, 3);
	int64_t starts[64], ready[64], stream = up_to(&plan->seed, 2);
	bool gates = up_to(&plan->seed, plan->wait_one_in) != 0;

	for (size_t r = 0; r < plan->ranks; r++) {
		ready[r] = now[r] + 20000 + up_to(&plan->seed, 40000);
		starts[r] = ready[r];
		/* behind the one before on its stream */
		for (size_t i = d[r].op_count; i-- > 0;)
			if (d[r].ops[i].stream == stream &&
			    d[r].ops[i].end_ns > starts[r])
				starts[r] = d[r].ops[i].end_ns + 1000;
	}
	for (size_t r = 0; r < plan->ranks; r++) {
		int64_t last = 0, end;

		for (size_t k = 0; k < plan->ranks; k++)
			if (is_in(plan, group, r, k) && starts[k] > last)
				last = starts[k];
		end = last + 15000 + (int64_t)(r % 3) * 100;
		add_op(&d[r], group, stream, ready[r], starts[r], end, gates);
		now[r] = gates ? end : ready[r] + 5000;
	}
}

static void find(const struct pf_digest *d, size_t count, bool is_plain,
		 struct pf_ranks *out)
{
	const struct pf_ranks_args args = { .clock = PF_CLOCK_AS_IS,
					    .is_plain = is_plain };
	struct pf_ranks_job *job = pf_ranks_new(&args);
	struct pf_err err = { 0 };

	for (size_t r = 0; r < count; r++) {
		struct pf_buf bytes = { 0 };

		pf_digest_put(&d[r], &bytes);
		assert_int_equal(pf_ranks_add_bytes(job, bytes.data, bytes.len,
						    NULL, &err),
				 1);
		pf_buf_release(&bytes);
	}
	assert_int_equal(pf_ranks_find(job, out, &err), 0);
	pf_ranks_free(job);
}

static void same_figures(struct plan plan, size_t *known)
{
	struct pf_digest d[64];
	int64_t now[64] = { 0 };
	struct pf_ranks at_once, each;

	for (size_t r = 0; r < plan.ranks; r++)
		set_up(&d[r], &plan, r);
	for (size_t i = 0; i < plan.rounds; i++)
		run_round(&plan, d, now);
	for (size_t r = 0; r < plan.ranks; r++)
		d[r].end_ns = now[r] + 1000000;
	find(d, plan.ranks, false, &at_once);
	find(d, plan.ranks, true, &each);
	assert_int_equal(at_once.total_ns, each.total_ns);
	assert_int_equal(at_once.straggler, each.straggler);
	for (size_t r = 0; r < plan.ranks; r++) {
		assert_int_equal(at_once.ranks[r].saved_ns,
				 each.ranks[r].saved_ns);
		*known += at_once.ranks[r].saved_ns != PF_NO_INT &&
			  at_once.ranks[r].saved_ns != 0;
		pf_digest_release(&d[r]);
	}
	pf_ranks_release(&at_once);
	pf_ranks_release(&each);
}

static void alone(void **state)
{
	static const size_t sizes[][2] = { { 2, 1 },  { 4, 2 },   { 8, 1 },
					   { 12, 3 }, { 33, 11 }, { 64, 8 } };
	size_t known = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		const size_t *size = sizes[seed % 6];

		same_figures((struct plan){ .seed = seed * 77,
					    .ranks = size[0],
					    .hosts = size[1],
					    .rounds = 5 + seed % 40,
					    .wait_one_in = 2 + seed % 5 },
			     &known);
	}
	assert_true(known > 200); /* they are figures, and not all nothing */
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* A median is that of the values in order, of any that are alike, too. */
static void median(void **state)
{
	uint64_t seed = 5;

	(void)state;
	for (size_t count = 1; count < 300; count++) {
		double values[300], sorted[300], middle;

		for (size_t i = 0; i < count; i++)
			sorted[i] = values[i] =
				count % 3 == 2
					? (double)(i ^ (count & 7))
					: (double)up_to(
						  &seed,
						  1 + 40 * (int64_t)(count %
								     3));
		qsort(sorted, count, sizeof(*sorted), by_value);
		middle = count % 2
				 ? sorted[count / 2]
				 : (sorted[count / 2 - 1] + sorted[count / 2]) /
					   2;
		assert_true(pf_ranks_median(values, count) == middle);
		qsort(values, count, sizeof(*values), by_value);
		assert_memory_equal(values, sorted, count * sizeof(*values));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(alone),
		cmocka_unit_test(median),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
