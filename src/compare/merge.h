/* SPDX-License-Identifier: MIT */
/*
 * Ranks of many fleets become one, in the order of capture, rank and digest,
 * each once, whatever the order and the grouping of the inputs: the same ranks
 * give the same bytes.  Rows are copied rank by rank; memory grows with the
 * number of distinct strings, not with that of inputs or ranks.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct pf_fleet_merge {
	char *const *arguments;
	size_t count;
	const char *out;
	const char *shard; /* "I/N", or NULL */
	const char *keep, *capture;
	const char *label_file;
	const char *const *labels; /* "K=V" */
	size_t label_count;
	size_t threads; /* at least 1 */
	/* What came of it: */
	struct pf_fleet_count {
		int64_t captures, ranks; /* of the output, all of them */
		int64_t errors;          /* of them */
		size_t failed, passed;   /* inputs, of this merge */
	} made;
};

int pf_fleet_merge(struct pf_fleet_merge *m, struct pf_err *err);
