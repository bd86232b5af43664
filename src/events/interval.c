/* SPDX-License-Identifier: MIT */
/*
 * Spans come in order of start, so at any time t that is not before the last
 * start, a set is active exactly while t is before the largest end of its
 * spans so far: one number per set is all there is to remember.
 */
#include "config.h"

#include "events/interval.h"

#include "base/mem.h"
#include "base/sat.h"

int64_t pf_union_add(struct pf_union *u, int64_t start_ns, int64_t end_ns)
{
	int64_t gap = 0;

	PF_AT_LEAST(end_ns, start_ns);
	if (!u->any) {
		u->any = true;
		u->first_ns = u->end_ns = start_ns;
	}
	if (start_ns > u->end_ns) {
		gap = pf_sat_sub(start_ns, u->end_ns);
		u->end_ns = start_ns;
	}
	if (end_ns > u->end_ns) {
		pf_sat_sum(&u->covered_ns, pf_sat_sub(end_ns, u->end_ns));
		u->end_ns = end_ns;
	}
	return gap;
}

int64_t pf_union_total(const struct pf_union *u)
{
	return pf_sat_sub(u->end_ns, u->first_ns);
}

int64_t pf_union_idle(const struct pf_union *u)
{
	return pf_union_total(u) - u->covered_ns;
}

void pf_sweep_init(struct pf_sweep *s)
{
	memset(s, 0, sizeof(*s));
	for (unsigned i = 0; i < PF_SWEEP_SETS; i++)
		s->end_ns[i] = INT64_MIN;
}

void pf_sweep_begin(struct pf_sweep *s, int64_t at_ns)
{
	s->any = true;
	s->at_ns = s->until_ns = at_ns;
}

/* Which sets are active at at_ns, and when that changes. */
static void find_active(struct pf_sweep *s)
{
	s->mask = 0;
	s->until_ns = INT64_MAX;
	for (unsigned i = 0; i < PF_SWEEP_SETS; i++) {
		if (s->end_ns[i] <= s->at_ns)
			continue;
		s->mask |= 1u << i;
		PF_AT_MOST(s->until_ns, s->end_ns[i]);
	}
}

void pf_sweep_to(struct pf_sweep *s, int64_t at_ns)
{
	if (!s->any)
		pf_sweep_begin(s, at_ns);
	while (s->at_ns < at_ns) {
		int64_t until;

		if (s->until_ns <= s->at_ns)
			find_active(s);
		until = s->until_ns < at_ns ? s->until_ns : at_ns;
		pf_sat_sum(&s->by_mask[s->mask], pf_sat_sub(until, s->at_ns));
		s->at_ns = until;
	}
}

void pf_sweep_add(struct pf_sweep *s, unsigned set, int64_t start_ns,
		  int64_t end_ns)
{
	pf_sweep_to(s, start_ns);
	if (end_ns <= s->end_ns[set])
		return;
	s->end_ns[set] = end_ns;
	s->mask |= 1u << set;
	PF_AT_MOST(s->until_ns, end_ns);
}
