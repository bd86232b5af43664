/* SPDX-License-Identifier: MIT */
/* What the readers of all formats have in common.  Not for others. */
#pragma once

#include "base/mem.h"
#include "formats/kineto/work.h"

#define PF_ROCM_DEVICES_MAX 4096u

/* What is said of a GPU; an agent is a processor, also of the host. */
struct pf_rocm_agent {
	int64_t set, id; /* as records name it: a file's part, a number */
	int64_t node;    /* the machine */
	int64_t ordinal; /* on its machine, as HIP counts */
	int64_t device;  /* as events have it; -1: no GPU */
};

struct pf_rocm {
	struct pf_sink sink;
	struct pf_rocm_agent *agents;
	size_t agent_count, agents_cap;
	size_t agent;        /* found last */
	struct pf_map pids;  /* a pid -> the process that has it alone */
	int64_t range_count; /* external ids */
};

/* A domain of calls, "HIP_RUNTIME_API": what becomes of them. */
struct pf_rocm_domain {
	const char *prefix;
	enum pf_cat category;
};

/* A call or range of a thread. */
struct pf_rocm_call {
	const struct pf_rocm_domain *domain;
	bool has_entry; /* the name is known: no text */
	uint32_t entry;
	const char *name; /* of a range its text */
	size_t name_len;
	const char *function; /* of roctx, or NULL */
	size_t function_len;
	int64_t process, pid, tid;
	int64_t id; /* what links it to what it launched; 0: nothing */
};

void pf_rocm_init(struct pf_rocm *m);
void pf_rocm_release(struct pf_rocm *m);

/* The domain of a name, never NULL. */
const struct pf_rocm_domain *pf_rocm_domain(const char *name, size_t len);

/* An agent that is new; "name" may be NULL, numbers 0: not known. */
struct pf_rocm_gpu {
	const char *name;
	size_t name_len;
	int64_t units, wave, waves_per_unit, bytes;
};
void pf_rocm_add_agent(struct pf_rocm *m, const struct pf_rocm_agent *agent,
		       const struct pf_rocm_gpu *gpu);
/* Its device; -1: it is not known, or no GPU. */
int64_t pf_rocm_device(struct pf_rocm *m, int64_t set, int64_t id);

/*
 * Where work ran; device, queue, stream < 0: not known.  "id" is that of the
 * call; 0: not known.
 */
struct pf_work_place pf_rocm_place(int64_t process, int64_t pid, int64_t device,
				   int64_t queue, int64_t stream, int64_t id);

/* Events; their times are in put, which the rest is filled in of. */
void pf_rocm_put_call(struct pf_rocm *m, const struct pf_rocm_call *call,
		      struct pf_sink_put *put);
/*
 * A copy by its name, "MEMORY_COPY_HOST_TO_DEVICE" or "CopyHostToDevice";
 * bytes -1: not known; from and to: GPUs, -1.  It ran on one of them, where
 * the place does not say it.
 */
struct pf_rocm_copy {
	const char *name;
	size_t name_len;
	int64_t bytes, from, to;
};
void pf_rocm_put_copy(struct pf_rocm *m, struct pf_work_place *place,
		      const struct pf_rocm_copy *copy, struct pf_sink_put *put);
/* A call that takes or gives back memory; address 0, bytes -1: not known. */
struct pf_rocm_memory {
	const char *what; /* "ALLOC" */
	size_t what_len;
	int64_t device, bytes;
	uint64_t address;
	bool is_scratch;
};
void pf_rocm_put_memory(struct pf_rocm *m, const struct pf_rocm_call *call,
			const struct pf_rocm_memory *memory,
			struct pf_sink_put *put);

/* Blocks of work-items; unknown stays so. */
uint32_t pf_rocm_blocks(int64_t items, int64_t group);

/*
 * How a kernel was launched, as ROCm's tools say it (-1: not said): private
 * bytes, group bytes, the block's work-items, those of all.  And the registers of
 * a thread, of both kinds.
 */
#define PF_ROCM_SHAPE 8
struct pf_work_launch pf_rocm_launch(const int64_t shape[PF_ROCM_SHAPE]);
uint32_t pf_rocm_registers(int64_t own, int64_t more);
