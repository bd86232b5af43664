/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "formats/pfr/clock.h"
#include "formats/wire.h"
#include "base/search.h"

#define PAIRS_MAX (1u << 20) /* twelve days of one a second */

void pf_pfr_clock_release(struct pf_pfr_clock *c)
{
	free(c->pairs);
	memset(c, 0, sizeof(*c));
}

void pf_pfr_clock_add(struct pf_pfr_clock *c, const unsigned char *p,
		      size_t len)
{
	uint64_t before, real, after;

	if (len < 24 || c->count == PAIRS_MAX)
		return;
	before = pf_wire_u64(p);
	real = pf_wire_u64(p + 8);
	after = pf_wire_u64(p + 16);
	if (before > INT64_MAX || real > INT64_MAX || after > INT64_MAX)
		return;
	c->pairs = pf_grow(c->pairs, &c->cap, c->count + 1, sizeof(*c->pairs));
	if (c->count && (int64_t)real < c->pairs[c->count - 1].realtime_ns)
		c->goes_back = true;
	c->pairs[c->count++] = (struct pf_pfr_clock_pair){
		.monotonic_ns = (int64_t)((before + after) / 2),
		.realtime_ns = (int64_t)real,
	};
}

bool pf_pfr_clock_base(const struct pf_pfr_clock *c, int64_t *base_ns)
{
	if (!c->count)
		return false;
	*base_ns = c->pairs[0].realtime_ns - c->pairs[0].monotonic_ns;
	return true;
}

#define NEAR 64

static size_t find_pair(const struct pf_pfr_clock *c, int64_t ns)
{
	size_t low = PF_SEARCH(i, c->count, c->pairs[i].realtime_ns <= ns);

	return low ? low - 1 : 0;
}

static bool is_near(const struct pf_pfr_clock *c, int64_t ns)
{
	size_t low = c->last > NEAR ? c->last - NEAR : 0;
	size_t high = c->count - c->last > NEAR ? c->last + NEAR : c->count - 1;

	return c->pairs[low].realtime_ns <= ns &&
	       ns <= c->pairs[high].realtime_ns;
}

/* The pair before a time: nearly always the one used last, or the next. */
static size_t pair_before(struct pf_pfr_clock *c, int64_t ns)
{
	size_t i = c->last;

	if (!c->goes_back && !is_near(c, ns))
		return c->last = find_pair(c, ns);
	while (i && c->pairs[i].realtime_ns > ns)
		i--;
	while (i + 1 < c->count && c->pairs[i + 1].realtime_ns <= ns)
		i++;
	return c->last = i;
}

/* Wraps on hostile times, so that it is defined. */
static int64_t shifted(const struct pf_pfr_clock_pair *p, int64_t ns)
{
	return (int64_t)((uint64_t)ns - (uint64_t)p->realtime_ns +
			 (uint64_t)p->monotonic_ns);
}

int64_t pf_pfr_clock_monotonic(struct pf_pfr_clock *c, int64_t ns)
{
	const struct pf_pfr_clock_pair *a, *b;
	__int128 run, rise, over;

	if (!c->count)
		return ns;
	a = &c->pairs[pair_before(c, ns)];
	b = a + 1;
	if (ns < a->realtime_ns || b == c->pairs + c->count ||
	    b->realtime_ns <= a->realtime_ns)
		return shifted(a, ns);
	run = (__int128)b->realtime_ns - a->realtime_ns;
	rise = (__int128)b->monotonic_ns - a->monotonic_ns;
	over = (__int128)ns - a->realtime_ns;
	return (int64_t)(a->monotonic_ns + (over * rise + run / 2) / run);
}
