/* SPDX-License-Identifier: MIT */
/*
 * What to do about things that a trace does not have: it depends on who wrote
 * it, so nobody is told of an option that his profiler has not.
 */
#pragma once

#include <stdbool.h>

#include "store/db.h"

enum pf_producer {
	PF_FROM_TORCH, /* also of a mixed database */
	PF_FROM_AGENT, /* profan's own */
	PF_FROM_OTHERS,
	PF_FROM_SNAPSHOT, /* of torch's allocator: nothing else is in it */
	PF_FROM_NSYS,     /* exports of Nsight Systems */
	PF_FROM_ROCM,     /* rocprofv3, rocmProfileData */
	PF_FROM_TABLES,   /* what stands beside traces, and no trace */
	/* torch's of such a device: what is not said is as of torch's */
	PF_FROM_TORCH_XPU,
	PF_FROM_TORCH_MTIA,
	PF_FROM_TORCH_HPU,
	PF_FROM_TORCH_NPU, /* torch_npu's own profiler */
	PF_FROM_TORCH_OTHER,
	PF_FROM_TORCH_CUDA, /* with calls of CUDA's runtime, or HIP's */
	/*
	 * The last: torch's before Kineto.  Its "CUDA functions" are spans
	 * between two events on a stream, around whatever ran there, once for
	 * each operator that is open: no GPU work, of which sums could be made.
	 */
	PF_FROM_LEGACY,
	PF_PRODUCERS
};

/* Of torch's profiler since Kineto, which makes key_averages(). */
static inline bool pf_producer_is_torch(enum pf_producer from)
{
	return from == PF_FROM_TORCH || from >= PF_FROM_TORCH_XPU;
}

/* What is missing, or could be better. */
enum pf_hint {
	PF_HINT_NONE,
	PF_HINT_WORK,    /* GPU work */
	PF_HINT_CALLS,   /* launch calls */
	PF_HINT_STACKS,  /* lines of Python */
	PF_HINT_SHAPES,  /* of operators */
	PF_HINT_MEMORY,  /* allocations */
	PF_HINT_STEPS,   /* what is a step */
	PF_HINT_MODULES, /* calls of nn.Module */
	PF_HINT_HEAD,    /* work that was launched before the capture */
	PF_HINT_NO_OP,   /* launches that are in no operator or range */
	PF_HINT_COARSE,  /* whole microseconds */
	PF_HINT_WAITS,   /* what streams wait for */
	PF_HINT_RANGES,  /* ranges that the program marks */
	PF_HINT_GRAPHS,  /* kernels of graphs that are one record */
	PF_HINTS
};

/* Of all traces of a database. */
int pf_hint_producer(struct pf_db *db, enum pf_producer *out);

/* What to do, in words that may follow "...; "; never NULL but for NONE. */
const char *pf_hint(enum pf_producer producer, enum pf_hint hint);
