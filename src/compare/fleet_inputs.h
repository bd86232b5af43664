/* SPDX-License-Identifier: MIT */
/*
 * What the arguments of a merge mean.  A folder is the traces below it, as
 * for "profan ingest", or, if it has none, the databases below it; fleets are
 * left out of a folder of which only a shard is meant, for what other shards
 * write there is none of it.  A shard is a part of the list without a gap, the
 * same whoever asks as long as the folders do not change.
 */
#ifndef PF_COMPARE_FLEET_INPUTS_H
#define PF_COMPARE_FLEET_INPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum pf_fleet_source { PF_SOURCE_TRACE, PF_SOURCE_DATABASE, PF_SOURCE_FLEET };

struct pf_fleet_inputs {
	struct pf_fleet_input {
		char *path;
		bool is_named; /* not found in a folder */
		int64_t rank;  /* by the names of all; -1: not said */
		enum pf_fleet_source source;
	} * items;
	size_t count, cap;
};

struct pf_fleet_shard {
	int64_t index, count; /* count 0: all */
};

/* "3/64", from 0 on; PF_EUSAGE if it is not. */
int pf_fleet_shard_read(const char *text, struct pf_fleet_shard *out,
			struct pf_err *err);

/* out_path: what is written, which is no input of a folder. */
int pf_fleet_inputs_find(char *const *arguments, size_t count,
			 const struct pf_fleet_shard *shard,
			 const char *out_path, struct pf_fleet_inputs *out,
			 struct pf_err *err);
void pf_fleet_inputs_release(struct pf_fleet_inputs *in);

#endif
