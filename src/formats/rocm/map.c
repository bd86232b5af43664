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
	pf_map_release(&m->processes);
	pf_map_release(&m->pids);
	pf_buf_release(&m->devices);
	free(m->agents);
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

	while (!pf_rocm_begins(name, len, d->prefix))
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
	pf_sink_gpu(&m->devices, &gpu);
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

static uint32_t rocm_host_track(struct pf_rocm *m, int64_t process, int64_t pid,
				int64_t tid)
{
	uint32_t *memo;
	char text[64], own[24];

	if (pf_sink_memo(&m->sink, PF_MEMO_HOST_TRACK,
			 (uint64_t)(process << 32 ^ (pid & UINT32_MAX)),
			 (uint64_t)tid, &memo))
		return *memo;
	pid_text(m, process, pid, text);
	snprintf(own, sizeof(own), "%" PRId64, tid);
	return *memo = pf_sink_track(&m->sink, 'h', text, own);
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

static void arg_link(struct pf_rocm *m, int64_t process, int64_t id)
{
	pf_argline_slot(&m->sink.args, "correlation", PF_SLOT_CORRELATION,
			link_of(process, id));
}

/* ---- calls ---- */

/* A call's arguments differ in a slot alone. */
static uint32_t call_args(struct pf_rocm *m, const struct pf_rocm_call *c)
{
	uint32_t *memo;

	pf_argline_set(&m->sink.args, PF_SLOT_CORRELATION,
		       link_of(c->process, c->id));
	if (pf_sink_memo(&m->sink, PF_MEMO_CALL_ARGS, 0, 0, &memo))
		return *memo;
	arg_link(m, c->process, c->id);
	return *memo = pf_argline_close(&m->sink.args, &m->sink.parsed.args);
}

/* What torch put in a range's name has a text of its own. */
static uint32_t range_args(struct pf_rocm *m,
			   const struct pf_pfr_torch_name *torch)
{
	struct pf_argline *a = &m->sink.args;
	uint32_t *memo;

	pf_argline_set(a, PF_SLOT_EXTERNAL_ID, ++m->range_count);
	if (!torch && pf_sink_memo(&m->sink, PF_MEMO_RANGE_ARGS, 0, 0, &memo))
		return *memo;
	pf_argline_slot(a, "External id", PF_SLOT_EXTERNAL_ID, m->range_count);
	if (!torch)
		return *memo = pf_argline_close(a, &m->sink.parsed.args);
	pf_kineto_torch(a, torch);
	return pf_argline_close(a, &m->sink.parsed.args);
}

static void put_range(struct pf_rocm *m, const struct pf_rocm_call *c,
		      struct pf_sink_put *put)
{
	struct pf_pfr_torch_name torch;
	bool is_async =
		pf_rocm_is(c->function, c->function_len, "roctxProcessRangeA");
	bool split;
	char pid[24];

	if (pf_rocm_is(c->function, c->function_len, "roctxMarkA")) {
		pf_sink_is(put, PF_CAT_MARK);
		put->name = pf_sink_text(&m->sink, c->name, c->name_len);
		put->args = PF_ID_NONE;
		return;
	}
	split = pf_kineto_range(c->name, c->name_len, is_async, &torch, put);
	put->name = pf_sink_text(&m->sink, c->name,
				 split ? torch.name_len : c->name_len);
	if (is_async) {
		snprintf(pid, sizeof(pid), "%" PRId64, c->pid);
		put->track = pf_sink_track(&m->sink, 'a', pid, "ranges");
	}
	put->args = range_args(m, split ? &torch : NULL);
}

void pf_rocm_put_call(struct pf_rocm *m, const struct pf_rocm_call *c,
		      struct pf_sink_put *put)
{
	pf_sink_is(put, c->domain->category);
	put->track = rocm_host_track(m, c->process, c->pid, c->tid);
	pf_argline_open(&m->sink.args);
	if (put->category == PF_CAT_RANGE) {
		put_range(m, c, put);
	} else {
		put->name = c->has_entry ? c->entry
					 : pf_sink_text(&m->sink, c->name,
							c->name_len);
		put->args = call_args(m, c);
	}
	pf_sink_store(&m->sink, put);
}

void pf_rocm_put_memory(struct pf_rocm *m, const struct pf_rocm_call *c,
			const struct pf_rocm_memory *memory,
			struct pf_sink_put *put)
{
	struct pf_argline *a = &m->sink.args;

	pf_sink_is(put, memory->is_scratch ? PF_CAT_SCRATCH : PF_CAT_MEMORY);
	put->track = rocm_host_track(m, c->process, c->pid, c->tid);
	put->name = pf_sink_text(&m->sink, memory->what, memory->what_len);
	pf_argline_open(a);
	if (memory->device >= 0)
		pf_argline_fixed(a, "device", memory->device);
	if (memory->bytes >= 0)
		pf_argline_slot(a, "bytes", PF_SLOT_BYTES, memory->bytes);
	if (memory->address)
		pf_argline_address(a, "ptr", memory->address);
	arg_link(m, c->process, c->id);
	pf_sink_close(&m->sink, put);
}

/* ---- work of GPUs ---- */

/* Streams are what programs know; older captures have queues alone. */
static int64_t lane(const struct pf_rocm_work *w)
{
	return w->stream >= 0 ? w->stream : w->queue;
}

static uint32_t gpu_track(struct pf_rocm *m, const struct pf_rocm_work *w)
{
	uint32_t *memo;

	if (w->device >> 20 == 0 &&
	    pf_sink_memo(&m->sink, PF_MEMO_GPU_TRACK,
			 (uint64_t)(w->process << 20 | w->device),
			 (uint64_t)lane(w), &memo))
		return *memo;
	if (w->device >> 20)
		return pf_sink_gpu_track(&m->sink, w->device, lane(w),
					 w->process, w->pid);
	return *memo = pf_sink_gpu_track(&m->sink, w->device, lane(w),
					 w->process, w->pid);
}

static void arg_place(struct pf_rocm *m, const struct pf_rocm_work *w)
{
	struct pf_argline *a = &m->sink.args;

	if (w->device >= 0)
		pf_argline_fixed(a, "device", w->device);
	pf_argline_fixed(a, "stream", lane(w));
	if (w->stream >= 0 && w->queue >= 0)
		pf_argline_fixed(a, "queue", w->queue);
	arg_link(m, w->process, w->id);
}

void pf_rocm_put_kernel(struct pf_rocm *m, const struct pf_rocm_work *w,
			const struct pf_pfr_launch *l, struct pf_sink_put *put)
{
	static const struct pf_kineto_device unknown = { -1, -1 };
	const struct {
		int64_t device, stream, queue;
		uint32_t grid[3], block[3], more[4];
	} key = { w->device,
		  w->stream,
		  w->queue,
		  { l->grid[0], l->grid[1], l->grid[2] },
		  { l->block[0], l->block[1], l->block[2] },
		  { l->registers, l->dynamic_bytes, l->local_bytes,
		    w->agent != NULL } };
	struct pf_dict_hash digest = pf_dict_hash(&key, sizeof(key), 0);
	uint32_t *memo;

	pf_sink_is(put, PF_CAT_KERNEL);
	put->track = gpu_track(m, w);
	pf_argline_open(&m->sink.args);
	if (pf_memo_find(&m->sink.memos, digest.low, digest.high, &memo)) {
		pf_argline_set(&m->sink.args, PF_SLOT_CORRELATION,
			       link_of(w->process, w->id));
		put->args = *memo;
	} else {
		arg_place(m, w);
		pf_kineto_launch(&m->sink.args, l,
				 w->agent ? &w->agent->kineto : &unknown);
		put->args = *memo =
			pf_argline_close(&m->sink.args, &m->sink.parsed.args);
	}
	pf_sink_store(&m->sink, put);
}

/* ---- copies and fills ---- */

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

static void put_bytes(struct pf_rocm *m, const struct pf_rocm_work *w,
		      int64_t bytes, struct pf_sink_put *put)
{
	put->track = gpu_track(m, w);
	pf_argline_open(&m->sink.args);
	arg_place(m, w);
	if (bytes >= 0)
		pf_kineto_bytes(&m->sink.args, (uint64_t)bytes, put->dur_ns);
}

void pf_rocm_put_copy(struct pf_rocm *m, const struct pf_rocm_work *w,
		      const struct pf_rocm_copy *c, struct pf_sink_put *put)
{
	const char *known = copy_name(c->name, c->name_len);

	pf_sink_is(put, PF_CAT_COPY);
	put->name = known ? pf_sink_word(&m->sink, known)
			  : pf_sink_text(&m->sink, c->name, c->name_len);
	put_bytes(m, w, c->bytes, put);
	if (c->from >= 0 && c->to >= 0 && c->from != c->to) {
		pf_argline_fixed(&m->sink.args, "fromDevice", c->from);
		pf_argline_fixed(&m->sink.args, "toDevice", c->to);
	}
	pf_sink_close(&m->sink, put);
}

void pf_rocm_put_fill(struct pf_rocm *m, const struct pf_rocm_work *w,
		      int64_t bytes, struct pf_sink_put *put)
{
	pf_sink_is(put, PF_CAT_FILL);
	put->name = pf_sink_word(&m->sink, "Memset (Device)");
	put_bytes(m, w, bytes, put);
	pf_sink_close(&m->sink, put);
}

void pf_rocm_put_other(struct pf_rocm *m, const struct pf_rocm_work *w,
		       const char *name, size_t len, struct pf_sink_put *put)
{
	pf_sink_is(put, PF_CAT_ROCM_WORK);
	put->name = pf_sink_text(&m->sink, name, len);
	put_bytes(m, w, -1, put);
	pf_sink_close(&m->sink, put);
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

uint32_t pf_rocm_size(int64_t v)
{
	return v < 0 || v >= PF_KINETO_UNKNOWN ? PF_KINETO_UNKNOWN
					       : (uint32_t)v;
}

struct pf_pfr_launch pf_rocm_launch(const int64_t shape[PF_ROCM_SHAPE])
{
	struct pf_pfr_launch l = {
		.registers = PF_KINETO_UNKNOWN,
		.dynamic_bytes = pf_rocm_size(shape[1]),
		.local_bytes = pf_rocm_size(shape[0]),
	};

	if (l.local_bytes == PF_KINETO_UNKNOWN)
		l.local_bytes = 0;
	for (unsigned i = 0; i < 3; i++) {
		int64_t block = shape[2 + i];

		l.block[i] = block > 0 && block < PF_KINETO_UNKNOWN
				     ? (uint32_t)block
				     : 0;
		l.grid[i] = pf_rocm_blocks(shape[5 + i], block);
	}
	if (!l.grid[0] || !l.block[0])
		l.grid[0] = PF_KINETO_UNKNOWN;
	return l;
}
