/* SPDX-License-Identifier: MIT */
/* Processes, domains, agents, tracks. */
#include "config.h"

#include "formats/rocm/map.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"

void pf_rocm_init(struct pf_rocm *m)
{
	*m = (struct pf_rocm){ 0 };
	pf_sink_init(&m->sink);
}

void pf_rocm_release(struct pf_rocm *m)
{
	pf_sink_release(&m->sink);
	pf_map_release(&m->pids);
	free(m->agents);
}

const struct pf_rocm_domain *pf_rocm_domain(const char *name, size_t len)
{
	static const struct pf_rocm_domain domains[] = {
		{ "HIP_", PF_CAT_RUNTIME },
		{ "HSA_", PF_CAT_DRIVER },
		{ "MARKER_", PF_CAT_RANGE },
		{ "RCCL_", PF_CAT_RCCL },
		{ "MEMORY_ALLOCATION", PF_CAT_MEMORY },
		{ "SCRATCH_MEMORY", PF_CAT_SCRATCH },
		{ "OVERHEAD", PF_CAT_OVERHEAD },
		{ "", PF_CAT_ROCM_CALL },
	};
	const struct pf_rocm_domain *d = domains;

	while (!pf_begins(name, len, d->prefix))
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
	struct pf_sink_gpu gpu = { .id = device, .name_len = g->name_len };

	if (g->name_len && g->name_len <= 1024)
		gpu.name = g->name;
	gpu.numbers[PF_GPU_MEMORY] = g->bytes;
	gpu.numbers[PF_GPU_WARP] = g->wave;
	gpu.numbers[PF_GPU_SMS] = g->units;
	gpu.numbers[PF_GPU_WARPS] = g->waves_per_unit;
	for (int i = 0; i < PF_GPU_NUMBERS; i++)
		if (gpu.numbers[i] <= 0)
			gpu.numbers[i] = -1;
	pf_sink_add_gpu(&m->sink, &gpu);
}

/* Records repeat few; NULL: not known. */
static const struct pf_rocm_agent *find_agent(struct pf_rocm *m, int64_t set,
					      int64_t id)
{
	for (size_t n = 0; n < m->agent_count; n++) {
		const struct pf_rocm_agent *a = &m->agents[m->agent];

		if (a->id == id && a->set == set)
			return a;
		m->agent = (m->agent + 1) % m->agent_count;
	}
	return NULL;
}

void pf_rocm_add_agent(struct pf_rocm *m, const struct pf_rocm_agent *agent,
		       const struct pf_rocm_gpu *gpu)
{
	struct pf_rocm_agent *a;
	bool is_new = agent->ordinal >= 0;

	if (m->agent_count == PF_ROCM_DEVICES_MAX ||
	    find_agent(m, agent->set, agent->id))
		return;
	PF_ROOM(m->agents, m->agents_cap, m->agent_count + 1);
	a = &m->agents[m->agent_count];
	*a = *agent;
	a->device = is_new ? device_of(m, agent) : -1;
	for (size_t i = 0; i < m->agent_count; i++)
		is_new &= m->agents[i].device != a->device;
	m->agent_count++;
	if (is_new)
		put_gpu(m, a->device, gpu);
}

int64_t pf_rocm_device(struct pf_rocm *m, int64_t set, int64_t id)
{
	const struct pf_rocm_agent *a = find_agent(m, set, id);

	return a ? a->device : -1;
}

/* ---- tracks ---- */

#define PIDS_MAX 65536u

/* Of several processes with one pid all but the first are numbered, from 1. */
static void pid_text(struct pf_rocm *m, int64_t process, int64_t pid,
		     char out[64])
{
	uint64_t *owner = NULL;

	if (m->pids.count < PIDS_MAX || pf_map_has(&m->pids, (uint64_t)pid))
		owner = pf_map_at(&m->pids, (uint64_t)pid);
	if (owner && *owner == UINT64_MAX)
		*owner = (uint64_t)process;
	if (!owner || *owner == (uint64_t)process)
		snprintf(out, 64, "%" PRId64, pid);
	else
		snprintf(out, 64, "%" PRId64 " (process %" PRId64 ")", pid,
			 process + 1);
}

static uint32_t rocm_host_track(struct pf_rocm *m, int64_t process, int64_t pid,
				int64_t tid)
{
	uint32_t *memo;
	char text[64];

	if (pf_sink_memo(&m->sink, PF_MEMO_HOST_TRACK,
			 (uint64_t)(process << 32 ^ (pid & UINT32_MAX)),
			 (uint64_t)tid, &memo))
		return *memo;
	pid_text(m, process, pid, text);
	return *memo = pf_sink_track(&m->sink, 'h', text,
				     PF_PRINTED(24, "%" PRId64, tid));
}

/* Records as events: names, kinds and arguments as Kineto has them. */

#define ID_BITS 44

/* The first process's are as in the file, the others' have its number above. */
static int64_t link_of(int64_t process, int64_t id)
{
	if (process < 0 || id <= 0 || id >> ID_BITS ||
	    process >> (63 - ID_BITS))
		return 0;
	return process << ID_BITS | id;
}

static void put_range(struct pf_rocm *m, const struct pf_rocm_call *c,
		      struct pf_sink_put *put)
{
	const struct pf_work_range range = {
		.text = c->name,
		.len = c->name_len,
		.is_async = pf_is(c->function, c->function_len,
				  "roctxProcessRangeA"),
		.id = m->range_count + 1,
	};
	char pid[24];

	if (pf_is(c->function, c->function_len, "roctxMarkA")) {
		pf_work_mark(&m->sink, &range, put);
		return;
	}
	m->range_count++;
	if (range.is_async) {
		snprintf(pid, sizeof(pid), "%" PRId64, c->pid);
		put->track = pf_sink_track(&m->sink, 'a', pid, "ranges");
	}
	pf_work_range(&m->sink, &range, put);
}

void pf_rocm_put_call(struct pf_rocm *m, const struct pf_rocm_call *c,
		      struct pf_sink_put *put)
{
	pf_sink_is(put, c->domain->category);
	put->track = rocm_host_track(m, c->process, c->pid, c->tid);
	if (put->category == PF_CAT_RANGE) {
		put_range(m, c, put);
		return;
	}
	put->name = c->has_entry ? c->entry
				 : pf_sink_text(&m->sink, c->name, c->name_len);
	pf_work_call(&m->sink, link_of(c->process, c->id), PF_WORK_NONE, 0,
		     put);
}

void pf_rocm_put_memory(struct pf_rocm *m, const struct pf_rocm_call *c,
			const struct pf_rocm_memory *memory,
			struct pf_sink_put *put)
{
	static const char prefix[] = "MEMORY_ALLOCATION_";
	struct pf_argline *a = &m->sink.args;
	size_t len = memory->what_len, skip = 0;

	if (pf_begins(memory->what, len, prefix))
		skip = len > strlen(prefix) ? strlen(prefix) : 0;
	pf_sink_is(put, memory->is_scratch ? PF_CAT_SCRATCH : PF_CAT_MEMORY);
	put->track = rocm_host_track(m, c->process, c->pid, c->tid);
	put->name = pf_sink_text(&m->sink, memory->what + skip, len - skip);
	pf_argline_open(a);
	if (memory->device >= 0)
		pf_argline_fixed(a, "device", memory->device);
	if (memory->bytes >= 0)
		pf_argline_slot(a, "bytes", PF_SLOT_BYTES, memory->bytes);
	if (memory->address)
		pf_argline_address(a, "ptr", memory->address);
	pf_work_correlation(&m->sink, link_of(c->process, c->id));
	pf_sink_close(&m->sink, put);
}

/* ---- work of GPUs ---- */

/* Streams are what programs know; older captures have queues alone. */
struct pf_work_place pf_rocm_place(int64_t process, int64_t pid, int64_t device,
				   int64_t queue, int64_t stream, int64_t id)
{
	return (struct pf_work_place){
		.process = process,
		.pid = pid,
		.device = device < 0 ? PF_WORK_NONE : device,
		.context = PF_WORK_NONE,
		.stream = stream < 0 ? queue : stream,
		.queue = stream < 0 || queue < 0 ? PF_WORK_NONE : queue,
		.correlation = link_of(process, id),
	};
}

/* ---- copies ---- */

/* "HOST_TO_DEVICE", "HostToDevice": which memories. */
static const char *copy_name(const char *p, size_t len)
{
	static const struct {
		const char *parts[2];
		const char *name;
	} names[] = {
		{ { "HOST_TO_DEVICE", "HostToDevice" },
		  "Memcpy HtoD (Host -> Device)" },
		{ { "DEVICE_TO_HOST", "DeviceToHost" },
		  "Memcpy DtoH (Device -> Host)" },
		{ { "DEVICE_TO_DEVICE", "DeviceToDevice" },
		  "Memcpy DtoD (Device -> Device)" },
		{ { "HOST_TO_HOST", "HostToHost" },
		  "Memcpy HtoH (Host -> Host)" },
	};

	for (size_t i = 0; i < PF_LEN(names); i++)
		for (int k = 0; k < 2; k++)
			if (memmem(p, len, names[i].parts[k],
				   strlen(names[i].parts[k])))
				return names[i].name;
	return NULL;
}

void pf_rocm_put_copy(struct pf_rocm *m, struct pf_work_place *place,
		      const struct pf_rocm_copy *c, struct pf_sink_put *put)
{
	const char *known = copy_name(c->name, c->name_len);
	int64_t device = c->from >= 0 ? c->from : c->to;

	if (device >= 0)
		place->device = device;
	put->name = known ? pf_sink_word(&m->sink, known)
			  : pf_sink_text(&m->sink, c->name, c->name_len);
	pf_work_copy(&m->sink, place, c->bytes, c->from, c->to, put);
	pf_work_close(&m->sink, place, put);
}

/* The last block may be part of one. */
uint32_t pf_rocm_blocks(int64_t items, int64_t group)
{
	int64_t blocks;

	if (items <= 0 || group <= 0)
		return 0;
	blocks = items / group + (items % group != 0);
	return blocks > UINT32_MAX - 1 ? UINT32_MAX - 1 : (uint32_t)blocks;
}

/* Bytes; what no file can mean is unknown. */
static uint32_t size_of(int64_t v)
{
	return v < 0 || v >= PF_WORK_UNKNOWN ? PF_WORK_UNKNOWN : (uint32_t)v;
}

uint32_t pf_rocm_registers(int64_t own, int64_t more)
{
	if (own < 0 || more < 0 || own > 1 << 20 || more > 1 << 20)
		return PF_WORK_UNKNOWN;
	return (uint32_t)(own + more);
}

struct pf_work_launch pf_rocm_launch(const int64_t shape[PF_ROCM_SHAPE])
{
	struct pf_work_launch l = {
		.registers = PF_WORK_UNKNOWN,
		.dynamic_bytes = size_of(shape[1]),
		.local_bytes = size_of(shape[0]),
	};

	if (l.local_bytes == PF_WORK_UNKNOWN)
		l.local_bytes = 0;
	for (unsigned i = 0; i < 3; i++) {
		int64_t block = shape[2 + i];

		l.block[i] = block > 0 && block < PF_WORK_UNKNOWN
				     ? (uint32_t)block
				     : 0;
		l.grid[i] = pf_rocm_blocks(shape[5 + i], block);
	}
	if (!l.grid[0] || !l.block[0])
		l.grid[0] = PF_WORK_UNKNOWN;
	return l;
}
