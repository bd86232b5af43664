/* SPDX-License-Identifier: MIT */
/*
 * What a reader gave, as one text: two readings of the same bytes must give
 * the same, however few events went into a batch.
 */
#ifndef PF_TESTS_FUZZ_EVENTS_H
#define PF_TESTS_FUZZ_EVENTS_H

#include "base/buf.h"
#include "fuzz/fuzz.h"
#include "formats/batch.h"

struct fuzz_events {
	struct pf_buf log; /* every event */
	int64_t events, stored, metadata, paired, skipped;
};

/* Take what a batch has; its ids and times must be within bounds. */
void fuzz_events_take(struct fuzz_events *x, struct pf_parsed *p);
/* Every event is accounted for. */
void fuzz_events_check(const struct fuzz_events *x);
/* Both are the same; releases both. */
void fuzz_events_same(struct fuzz_events *a, struct fuzz_events *b);

#endif
