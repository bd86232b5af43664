/* SPDX-License-Identifier: MIT */
/*
 * The CLOCK frames of a file: pairs of CLOCK_MONOTONIC, on which events lie,
 * and CLOCK_REALTIME, on which some lie too and which tells the date.
 */
#ifndef PF_FORMATS_PFR_CLOCK_H
#define PF_FORMATS_PFR_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pf_pfr_clock {
	struct pf_pfr_clock_pair {
		int64_t monotonic_ns, realtime_ns;
	} * pairs; /* in the order of the file */
	size_t count, cap;
	size_t last;    /* the pair that was used last */
	bool goes_back; /* realtime was set back */
};

void pf_pfr_clock_release(struct pf_pfr_clock *c);

/* The payload of a CLOCK frame; what is too short is passed over. */
void pf_pfr_clock_add(struct pf_pfr_clock *c, const unsigned char *p,
		      size_t len);

/* Realtime at monotonic 0 by the first pair: false if there is none. */
bool pf_pfr_clock_base(const struct pf_pfr_clock *c, int64_t *base_ns);

/*
 * A realtime on the monotonic clock: linear between two pairs, with the
 * offset of the nearest pair outside of them; the time itself without pairs.
 */
int64_t pf_pfr_clock_monotonic(struct pf_pfr_clock *c, int64_t realtime_ns);

#endif
