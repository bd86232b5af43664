/* SPDX-License-Identifier: MIT */
/*
 * What a .pfr file says beside its events, gathered over all of it: the
 * process, its devices, the agent's own counts, definitions and clocks.
 */
#ifndef PF_FORMATS_PFR_FILE_H
#define PF_FORMATS_PFR_FILE_H

#include "formats/pfr/clock.h"
#include "formats/pfr/defs.h"
#include "formats/pfr/frame.h"
#include "formats/pfr/lines.h"
#include "formats/batch.h"

struct pf_pfr_file {
	struct pf_pfr_lines meta, info, stat;
	struct pf_pfr_defs defs;
	struct pf_pfr_clock clock;
	bool has_base;   /* by pf_pfr_file_find_base(), or from outside */
	int64_t base_ns; /* UTC at monotonic 0 */
};

void pf_pfr_file_release(struct pf_pfr_file *f);

/* Take in a frame of any type but EVENTS; unknown types are passed over. */
void pf_pfr_file_add(struct pf_pfr_file *f, const struct pf_pfr_frame *frame);

/* Set the base from the first CLOCK frame, if there is one. */
void pf_pfr_file_find_base(struct pf_pfr_file *f);

/*
 * As members and metadata events of a Kineto trace: baseTimeNanoseconds,
 * distributedInfo, deviceProperties, the META lines, captureInfo and
 * captureCounts (the INFO and STAT lines); names of the process and its
 * threads.
 */
void pf_pfr_file_describe(const struct pf_pfr_file *f, struct pf_batch *out);

/* A number of INFO: "device.0.SMs"; -1 if it is not there. */
int64_t pf_pfr_info_int(const struct pf_pfr_file *f, const char *what,
			uint64_t id, const char *field);

#endif
