/* SPDX-License-Identifier: MIT */
/*
 * Allocation records and which function events they belong to: every record
 * in the closed interval of an event, of whatever thread, counts for it.
 * First every record and every event is shown (in any order of tracks, each
 * track in stored order), then sums can be asked for.  Memory is fixed.
 */
#ifndef PF_ANALYSIS_MEMORY_H
#define PF_ANALYSIS_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "torch/lookup.h"
#include "torch/rules.h"
#include "base/spool.h"

struct pf_memory_record {
	int64_t t_ns, position;
	int64_t cpu_bytes, device_bytes;
	uint32_t track;
	bool is_oom;
};

struct pf_memory;

/* base_ns: what is added to times to make them absolute. */
struct pf_memory *pf_memory_new(const struct pf_rules *rules, int64_t base_ns,
				const char *temp_dir);
void pf_memory_free(struct pf_memory *m);

int pf_memory_add(struct pf_memory *m, const struct pf_memory_record *r,
		  struct pf_err *err);

/* An event of the track that is being shown takes records. */
int pf_memory_cover(struct pf_memory *m, int64_t start_ns, int64_t end_ns,
		    struct pf_err *err);
/* The track has no more events. */
int pf_memory_end_track(struct pf_memory *m, struct pf_err *err);

/* Everything was shown. */
int pf_memory_finish(struct pf_memory *m, struct pf_err *err);

/* Sums of the records of an event, CPU and device. */
int pf_memory_sums(struct pf_memory *m, int64_t start_ns, int64_t end_ns,
		   int64_t *cpu_bytes, int64_t *device_bytes,
		   struct pf_err *err);

/* Orphan i in order of time, NULL at the end or on an error. */
const struct pf_memory_record *pf_memory_orphan(struct pf_memory *m, uint64_t i,
						struct pf_err *err);

/* ns/1000*1000 through doubles, each step rounded once, as Python does. */
double pf_memory_round(int64_t t_ns);

#endif
