/* SPDX-License-Identifier: MIT */
/*
 * The kernels that run are a heap by end.  Sums over them are in fixed point,
 * so that taking a kernel out leaves exactly what was there before it.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/time/sm.h"
#include "base/heap.h"
#include "base/mem.h"
#include "base/sat.h"

#define UNIT 1000000 /* of fixed point: traces have six digits */

struct pf_sm_kernel {
	int64_t end_ns;
	int64_t blocks, occupancy; /* times UNIT; -1: unknown */
};

void pf_sm_sums_add(struct pf_sm_sums *to, const struct pf_sm_sums *more)
{
	pf_sat_sum(&to->covered_ns, more->covered_ns);
	pf_sat_sum(&to->kernel_ns, more->kernel_ns);
	pf_sat_sum(&to->sized_ns, more->sized_ns);
	pf_sat_sum(&to->occupied_ns, more->occupied_ns);
	to->efficiency_ns += more->efficiency_ns;
	to->occupancy_ns += more->occupancy_ns;
}

void pf_sm_init(struct pf_sm *s)
{
	*s = (struct pf_sm){ .at_ns = INT64_MIN };
}

void pf_sm_release(struct pf_sm *s)
{
	free(s->heap);
	pf_sm_init(s);
}

/* count * ns, held at the largest number there is. */
static int64_t times(int64_t count, int64_t ns)
{
	int64_t product;

	return __builtin_mul_overflow(count, ns, &product) ? INT64_MAX
							   : product;
}

static void go_to(struct pf_sm *s, int64_t ns)
{
	int64_t blocks = s->blocks < UNIT ? s->blocks : UNIT, len;
	struct pf_sm_sums more;

	if (ns <= s->at_ns)
		return;
	len = pf_sat_sub(ns, s->at_ns);
	s->at_ns = ns;
	if (!s->count)
		return;
	more = (struct pf_sm_sums){
		.covered_ns = len,
		.kernel_ns = times((int64_t)s->count, len),
		.sized_ns = times(s->sized, len),
		.occupied_ns = times(s->occupied, len),
		.efficiency_ns = (double)blocks / UNIT * (double)len,
		.occupancy_ns = (double)s->occupancy / UNIT * (double)len,
	};
	pf_sm_sums_add(&s->sums, &more);
}

/* Count a kernel in (1) or out (-1). */
static void count(struct pf_sm *s, const struct pf_sm_kernel *k, int sign)
{
	if (k->blocks >= 0) {
		s->blocks += sign * k->blocks;
		s->sized += sign;
	}
	if (k->occupancy >= 0) {
		s->occupancy += sign * k->occupancy;
		s->occupied += sign;
	}
}

static bool ends_earlier(const void *a, const void *b)
{
	const struct pf_sm_kernel *x = a, *y = b;

	return x->end_ns < y->end_ns;
}

static void pop(struct pf_sm *s)
{
	count(s, &s->heap[0], -1);
	s->heap[0] = s->heap[--s->count];
	pf_heap_sink(s->heap, sizeof(*s->heap), s->count, 0, ends_earlier);
}

static void push(struct pf_sm *s, struct pf_sm_kernel kernel)
{
	s->heap = pf_grow(s->heap, &s->cap, s->count + 1, sizeof(kernel));
	s->heap[s->count] = kernel;
	pf_heap_rise(s->heap, sizeof(kernel), s->count++, ends_earlier);
	count(s, &kernel, 1);
}

/* Let kernels end that end up to a time, and go there. */
static void advance(struct pf_sm *s, int64_t ns)
{
	while (s->count && s->heap[0].end_ns <= ns) {
		go_to(s, s->heap[0].end_ns);
		pop(s);
	}
	go_to(s, ns);
}

/* At most "most": more than fills a GPU changes nothing. */
static int64_t fixed(double value, double most)
{
	if (!(value >= 0))
		return -1;
	return llround((value < most ? value : most) * UNIT);
}

void pf_sm_add(struct pf_sm *s, int64_t start_ns, int64_t end_ns,
	       double blocks_per_sm, double occupancy)
{
	advance(s, start_ns);
	if (end_ns > s->at_ns)
		push(s, (struct pf_sm_kernel){ end_ns, fixed(blocks_per_sm, 1),
					       fixed(occupancy, 100) });
}

struct pf_sm_sums pf_sm_take(struct pf_sm *s, int64_t at_ns)
{
	struct pf_sm_sums sums;

	advance(s, at_ns);
	sums = s->sums;
	s->sums = (struct pf_sm_sums){ 0 };
	return sums;
}
