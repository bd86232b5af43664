/* SPDX-License-Identifier: MIT */
/*
 * Arguments of events under Kineto's keys and in its order, of readers of
 * other formats, so that one analysis serves all.
 */
#ifndef PF_FORMATS_PFR_KINETO_H
#define PF_FORMATS_PFR_KINETO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "formats/pfr/file.h"
#include "formats/sink.h"

/*
 * Names as Kineto prints them (pytorch/kineto, cupti_strings.cpp), so that
 * one analysis serves both formats.
 */

const char *pf_pfr_copy_word(uint64_t kind);     /* "HtoD" */
const char *pf_pfr_memory_word(uint64_t kind);   /* "Pageable" */
const char *pf_pfr_sync_word(uint64_t type);     /* "Stream Sync" */
const char *pf_pfr_overhead_word(uint64_t kind); /* "Buffer Flush" */

/*
 * The stem of a call's name: without leading "__", without "_ptsz", "_ptds"
 * and "_v" followed by four or more digits ("_v2" stays).
 */
void pf_pfr_call_stem(const char **name, size_t *len);

/* The parts of a range that torch's emit_nvtx() named. */
struct pf_pfr_torch_name {
	size_t name_len; /* of the operator's name */
	bool has_sequence, has_op_id;
	int64_t sequence, op_id;
	const char *sizes; /* JSON: a list of lists; NULL if absent */
	size_t sizes_len;
};

/*
 * What a range is by its text: of torch's operators (true, and the parts of its
 * name), a step, or any; of no thread's stack if it is asynchronous.
 */
bool pf_kineto_range(const char *text, size_t len, bool is_async,
		     struct pf_pfr_torch_name *torch, struct pf_sink_put *put);

/* ---- arguments ---- */

/* What blocks and warps per SM are worked out from; -1: not known. */
struct pf_kineto_device {
	int64_t sms, warp;
};

/* A launch's registers, dynamic_bytes or grid[0] that are not known. */
#define PF_KINETO_UNKNOWN UINT32_MAX

/* Registers, shared memory, grid, block and what else differs from 0. */
void pf_kineto_launch(struct pf_argline *a, const struct pf_pfr_launch *l,
		      const struct pf_kineto_device *device);
/* Bytes, and how fast they were copied or filled if that took any time. */
void pf_kineto_bytes(struct pf_argline *a, uint64_t bytes, int64_t dur_ns);
/* What torch's emit_nvtx() put in the name of a range. */
void pf_kineto_torch(struct pf_argline *a, const struct pf_pfr_torch_name *t);

#endif
