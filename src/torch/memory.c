/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "torch/memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define BUDGET_BYTES (1u << 20)

/* In the spool of sums: sums of all records before this one. */
struct prefix {
	int64_t t_ns, cpu_bytes, device_bytes;
};

/* A stretch of time that some event of a track covers. */
struct stretch {
	int64_t low_ns, high_ns;
};

struct pf_memory {
	bool is_rounded;
	int64_t base_ns;
	struct pf_sorter *records, *stretches;
	struct pf_spool *prefixes, *orphans;
	struct pf_lookup low, high;
	struct prefix low_sum, high_sum; /* of the last lookups */
	struct stretch open;             /* of the track being shown */
	bool is_open;
};

struct pf_memory *pf_memory_new(const struct pf_rules *rules, int64_t base_ns,
				const char *temp_dir)
{
	struct pf_memory *m = pf_calloc(1, sizeof(*m));

	m->is_rounded = rules->border == PF_BORDER_DOUBLE;
	m->base_ns = base_ns;
	m->records = pf_sorter_new(sizeof(struct pf_memory_record),
				   BUDGET_BYTES, temp_dir);
	m->stretches =
		pf_sorter_new(sizeof(struct stretch), BUDGET_BYTES, temp_dir);
	m->prefixes =
		pf_spool_new(sizeof(struct prefix), 2 * BUDGET_BYTES, temp_dir);
	m->orphans = pf_spool_new(sizeof(struct pf_memory_record), BUDGET_BYTES,
				  temp_dir);
	pf_lookup_init(&m->low, m->prefixes);
	pf_lookup_init(&m->high, m->prefixes);
	return m;
}

void pf_memory_free(struct pf_memory *m)
{
	if (!m)
		return;
	pf_sorter_free(m->records);
	pf_sorter_free(m->stretches);
	pf_spool_free(m->prefixes);
	pf_spool_free(m->orphans);
	free(m);
}

/*
 * t/1000 rounded once to a double.  Below 2^53 the division does that itself;
 * above, dividing a rounded t would round twice: so the whole part, which is
 * exact, and the fraction to the bits that are left for it, halves to even.
 */
static double divide_1000(int64_t t)
{
	uint64_t whole, fraction, rest;
	unsigned bits;

	if (t < INT64_C(1) << 53)
		return (double)t / 1000.0;
	whole = (uint64_t)t / 1000;
	bits = 53 - (64 - (unsigned)__builtin_clzll(whole));
	if (bits > 52) /* more than 2^53: no time of this epoch */
		return (double)t / 1000.0;
	fraction = ((uint64_t)t % 1000) << bits;
	rest = fraction % 1000;
	fraction /= 1000;
	if (rest > 500 ||
	    (rest == 500 && ((fraction | (bits ? 0 : whole)) & 1)))
		fraction++;
	return (double)whole + (double)fraction / (double)(UINT64_C(1) << bits);
}

double pf_memory_round(int64_t t_ns)
{
	return divide_1000(t_ns) * 1000.0;
}

/* The borders of an event as absolute integers, both included. */
static struct stretch borders(const struct pf_memory *m, int64_t start_ns,
			      int64_t end_ns)
{
	struct stretch s;
	double low, high;

	if (__builtin_add_overflow(start_ns, m->base_ns, &s.low_ns))
		s.low_ns = INT64_MAX;
	if (__builtin_add_overflow(end_ns, m->base_ns, &s.high_ns))
		s.high_ns = INT64_MAX;
	if (!m->is_rounded)
		return s;
	low = pf_memory_round(s.low_ns);
	high = pf_memory_round(s.high_ns);
	/* Towards the inside; conversion alone cuts towards 0. */
	if (low > -9e18 && low < 9e18)
		s.low_ns = (int64_t)low + ((double)(int64_t)low < low);
	if (high > -9e18 && high < 9e18)
		s.high_ns = (int64_t)high - ((double)(int64_t)high > high);
	return s;
}

int pf_memory_add(struct pf_memory *m, const struct pf_memory_record *r,
		  struct pf_err *err)
{
	struct pf_memory_record copy;

	memset(&copy, 0, sizeof(copy));
	copy.position = r->position;
	copy.cpu_bytes = r->cpu_bytes;
	copy.device_bytes = r->device_bytes;
	copy.track = r->track;
	copy.is_oom = r->is_oom;
	if (__builtin_add_overflow(r->t_ns, m->base_ns, &copy.t_ns))
		copy.t_ns = INT64_MAX;
	return pf_sorter_add(m->records, &copy, err);
}

int pf_memory_end_track(struct pf_memory *m, struct pf_err *err)
{
	if (!m->is_open)
		return 0;
	m->is_open = false;
	return pf_sorter_add(m->stretches, &m->open, err);
}

int pf_memory_cover(struct pf_memory *m, int64_t start_ns, int64_t end_ns,
		    struct pf_err *err)
{
	struct stretch s = borders(m, start_ns, end_ns);

	if (s.high_ns < s.low_ns)
		return 0;
	if (m->is_open && s.low_ns <= m->open.high_ns) {
		if (s.high_ns > m->open.high_ns)
			m->open.high_ns = s.high_ns;
		return 0;
	}
	if (pf_memory_end_track(m, err))
		return -1;
	m->open = s;
	m->is_open = true;
	return 0;
}

static int add_prefix(struct pf_memory *m, const struct pf_memory_record *r,
		      struct prefix *sum, struct pf_err *err)
{
	sum->t_ns = r->t_ns;
	if (pf_spool_add(m->prefixes, sum, err))
		return -1;
	sum->cpu_bytes =
		(int64_t)((uint64_t)sum->cpu_bytes + (uint64_t)r->cpu_bytes);
	sum->device_bytes = (int64_t)((uint64_t)sum->device_bytes +
				      (uint64_t)r->device_bytes);
	return 0;
}

static int add_orphan(struct pf_memory *m, const struct pf_memory_record *r,
		      struct pf_err *err)
{
	struct pf_memory_record orphan = *r;

	if (__builtin_sub_overflow(r->t_ns, m->base_ns, &orphan.t_ns))
		orphan.t_ns = r->t_ns;
	return pf_spool_add(m->orphans, &orphan, err);
}

/* Walk records and stretches together. */
int pf_memory_finish(struct pf_memory *m, struct pf_err *err)
{
	struct prefix sum = { 0 };
	int64_t covered_to = INT64_MIN;
	const struct pf_memory_record *r;
	const struct stretch *s;

	if (pf_memory_end_track(m, err) || pf_sorter_finish(m->records, err) ||
	    pf_sorter_finish(m->stretches, err))
		return -1;
	s = pf_sorter_next(m->stretches, err);
	while ((r = pf_sorter_next(m->records, err))) {
		for (; s && s->low_ns <= r->t_ns;
		     s = pf_sorter_next(m->stretches, err))
			if (s->high_ns > covered_to)
				covered_to = s->high_ns;
		if (!r->is_oom && add_prefix(m, r, &sum, err))
			return -1;
		if ((r->is_oom || r->t_ns > covered_to) &&
		    add_orphan(m, r, err))
			return -1;
	}
	if (err->code)
		return -1;
	sum.t_ns = INT64_MAX;
	return pf_spool_add(m->prefixes, &sum, err);
}

/* The sums before the first record at or after t; "last" keeps them. */
static int prefix_at(struct pf_memory *m, struct pf_lookup *l, int64_t t,
		     struct prefix *last, struct pf_err *err)
{
	const struct prefix *p;
	uint64_t i;

	if (t > l->above && t <= l->upto)
		return 0;
	if (pf_lookup_bound(l, t, &i, err))
		return -1;
	p = pf_spool_at(m->prefixes, i, err);
	if (!p)
		return -1;
	*last = *p;
	return 0;
}

int pf_memory_sums(struct pf_memory *m, int64_t start_ns, int64_t end_ns,
		   int64_t *cpu_bytes, int64_t *device_bytes,
		   struct pf_err *err)
{
	struct stretch s = borders(m, start_ns, end_ns);
	const struct prefix *low = &m->low_sum, *high = &m->high_sum;

	*cpu_bytes = *device_bytes = 0;
	if (s.high_ns < s.low_ns || s.high_ns == INT64_MAX)
		return 0;
	if (prefix_at(m, &m->low, s.low_ns, &m->low_sum, err) ||
	    prefix_at(m, &m->high, s.high_ns + 1, &m->high_sum, err))
		return -1;
	*cpu_bytes =
		(int64_t)((uint64_t)high->cpu_bytes - (uint64_t)low->cpu_bytes);
	*device_bytes = (int64_t)((uint64_t)high->device_bytes -
				  (uint64_t)low->device_bytes);
	return 0;
}

const struct pf_memory_record *pf_memory_orphan(struct pf_memory *m, uint64_t i,
						struct pf_err *err)
{
	if (i >= pf_spool_count(m->orphans))
		return NULL;
	return pf_spool_at(m->orphans, i, err);
}
