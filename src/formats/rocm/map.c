/* SPDX-License-Identifier: MIT */
/* Processes, domains, agents, tracks. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "formats/rocm/map.h"

static const char *const categories[PF_ROCM_CATEGORIES] = {
	[PF_ROCM_CAT_KERNEL] = "kernel",
	[PF_ROCM_CAT_MEMCPY] = "gpu_memcpy",
	[PF_ROCM_CAT_MEMSET] = "gpu_memset",
	[PF_ROCM_CAT_RUNTIME] = "cuda_runtime",
	[PF_ROCM_CAT_DRIVER] = "cuda_driver",
	[PF_ROCM_CAT_OP] = "cpu_op",
	[PF_ROCM_CAT_NVTX] = "nvtx",
	[PF_ROCM_CAT_STEP] = "user_annotation",
	[PF_ROCM_CAT_RCCL] = "rccl_api",
	[PF_ROCM_CAT_MEMORY] = "memory_allocation",
	[PF_ROCM_CAT_SCRATCH] = "scratch_memory",
	[PF_ROCM_CAT_OVERHEAD] = "overhead",
	[PF_ROCM_CAT_OTHER] = "rocm_api",
};

void pf_rocm_init(struct pf_rocm *m)
{
	*m = (struct pf_rocm){ 0 };
	pf_sink_init(&m->sink, categories, PF_ROCM_CATEGORIES);
	pf_map_init(&m->processes);
	pf_map_init(&m->pids);
}

void pf_rocm_release(struct pf_rocm *m)
{
	pf_sink_release(&m->sink);
	pf_map_release(&m->processes);
	pf_map_release(&m->pids);
	pf_buf_release(&m->devices);
	free(m->agents);
}

static uint64_t memo_key(enum pf_rocm_memo kind, int64_t low)
{
	return (uint64_t)kind << 56 | ((uint64_t)low & (UINT64_MAX >> 8));
}

bool pf_rocm_memo(struct pf_rocm *m, enum pf_rocm_memo kind, int64_t low,
		  int64_t b, uint32_t **entry)
{
	return pf_memo_find(&m->sink.memos, memo_key(kind, low), (uint64_t)b,
			    entry);
}

void pf_rocm_forget(struct pf_rocm *m, enum pf_rocm_memo kind, int64_t low,
		    int64_t b)
{
	pf_memo_forget(&m->sink.memos, memo_key(kind, low), (uint64_t)b);
}

int64_t pf_rocm_process(struct pf_rocm *m, uint64_t key)
{
	uint64_t *number;

	if (m->processes.count >= PF_ROCM_PROCESSES_MAX)
		return -1;
	number = pf_map_at(&m->processes, key);
	if (*number == UINT64_MAX)
		*number = m->processes.count - 1;
	return (int64_t)*number;
}

const struct pf_rocm_domain *pf_rocm_domain(const char *name, size_t len)
{
	static const struct pf_rocm_domain domains[] = {
		{ "HIP_", PF_ROCM_CAT_RUNTIME, PF_KIND_RUNTIME },
		{ "HSA_", PF_ROCM_CAT_DRIVER, PF_KIND_DRIVER },
		{ "MARKER_", PF_ROCM_CAT_NVTX, PF_KIND_CPU_OP },
		{ "RCCL_", PF_ROCM_CAT_RCCL, PF_KIND_HOST },
		{ "MEMORY_ALLOCATION", PF_ROCM_CAT_MEMORY, PF_KIND_HOST },
		{ "SCRATCH_MEMORY", PF_ROCM_CAT_SCRATCH, PF_KIND_HOST },
		{ "OVERHEAD", PF_ROCM_CAT_OVERHEAD, PF_KIND_OVERHEAD },
		{ "", PF_ROCM_CAT_OTHER, PF_KIND_HOST },
	};
	const struct pf_rocm_domain *d = domains;

	while (len < strlen(d->prefix) ||
	       memcmp(name, d->prefix, strlen(d->prefix)) != 0)
		d++;
	return d;
}

/* ---- agents ---- */

/* The machine's own ordinal, or, where another machine has it, a free one. */
static int64_t device_of(const struct pf_rocm *m, const struct pf_rocm_agent *a)
{
	int64_t free = a->ordinal;
	bool is_taken = false;

	for (size_t i = 0; i < m->agent_count; i++) {
		const struct pf_rocm_agent *b = &m->agents[i];

		if (b->device < 0)
			continue;
		if (b->node == a->node && b->ordinal == a->ordinal)
			return b->device;
		is_taken |= b->device == a->ordinal;
		if (b->device >= free)
			free = b->device + 1;
	}
	return is_taken ? free : a->ordinal;
}

static void put_gpu(struct pf_rocm *m, int64_t device,
		    const struct pf_rocm_gpu *g)
{
	struct pf_buf *text = &m->devices;

	pf_buf_addf(text, "%s{\"id\":%" PRId64, text->len ? "," : "[", device);
	if (g->name && g->name_len && g->name_len <= 1024) {
		pf_buf_adds(text, ",\"name\":");
		pf_jsonw_quote(text, g->name, g->name_len, false);
	}
	if (g->bytes > 0)
		pf_buf_addf(text, ",\"totalGlobalMem\":%" PRId64, g->bytes);
	if (g->wave > 0)
		pf_buf_addf(text, ",\"warpSize\":%" PRId64, g->wave);
	if (g->units > 0)
		pf_buf_addf(text, ",\"numSms\":%" PRId64, g->units);
	if (g->waves_per_unit > 0 && g->waves_per_unit < 1 << 16 &&
	    g->wave > 0 && g->wave < 1 << 16)
		pf_buf_addf(text, ",\"maxThreadsPerMultiprocessor\":%" PRId64,
			    g->waves_per_unit * g->wave);
	pf_buf_addc(text, '}');
}

void pf_rocm_add_agent(struct pf_rocm *m, const struct pf_rocm_agent *agent,
		       const struct pf_rocm_gpu *gpu)
{
	struct pf_rocm_agent *a;
	bool is_new = agent->ordinal >= 0;

	if (m->agent_count == PF_ROCM_DEVICES_MAX ||
	    pf_rocm_agent(m, agent->set, agent->id))
		return;
	m->agents = pf_grow(m->agents, &m->agents_cap, m->agent_count + 1,
			    sizeof(*m->agents));
	a = &m->agents[m->agent_count];
	*a = *agent;
	a->device = is_new ? device_of(m, agent) : -1;
	a->kineto = (struct pf_kineto_device){ gpu->units ? gpu->units : -1,
					       gpu->wave ? gpu->wave : -1 };
	for (size_t i = 0; i < m->agent_count; i++)
		is_new &= m->agents[i].device != a->device;
	m->agent_count++;
	if (is_new)
		put_gpu(m, a->device, gpu);
}

const struct pf_rocm_agent *pf_rocm_agent(struct pf_rocm *m, int64_t set,
					  int64_t id)
{
	for (size_t i = 0; i < m->agent_count; i++)
		if (m->agents[i].id == id && m->agents[i].set == set)
			return &m->agents[i];
	return NULL;
}

void pf_rocm_put_devices(struct pf_rocm *m)
{
	if (!m->devices.len)
		return;
	pf_buf_addc(&m->devices, ']');
	pf_batch_member(&m->sink.parsed.batch, "deviceProperties", &m->devices);
	pf_buf_clear(&m->devices);
}

/* ---- tracks ---- */

/* Of several processes with one pid all but the first are numbered, from 1. */
static void pid_text(struct pf_rocm *m, int64_t process, int64_t pid,
		     char out[64])
{
	uint64_t *owner = NULL;

	if (m->pids.count < PF_ROCM_PROCESSES_MAX ||
	    pf_map_has(&m->pids, (uint64_t)pid))
		owner = pf_map_at(&m->pids, (uint64_t)pid);
	if (owner && *owner == UINT64_MAX)
		*owner = (uint64_t)process;
	if (!owner || *owner == (uint64_t)process)
		snprintf(out, 64, "%" PRId64, pid);
	else
		snprintf(out, 64, "%" PRId64 " (process %" PRId64 ")", pid,
			 process + 1);
}

uint32_t pf_rocm_host_track(struct pf_rocm *m, int64_t process, int64_t pid,
			    int64_t tid)
{
	uint32_t *memo;
	char text[64], own[24];

	if (pf_rocm_memo(m, PF_ROCM_MEMO_HOST_TRACK,
			 process << 32 ^ (pid & UINT32_MAX), tid, &memo))
		return *memo;
	pid_text(m, process, pid, text);
	snprintf(own, sizeof(own), "%" PRId64, tid);
	return *memo = pf_sink_track(&m->sink, 'h', text, own);
}
