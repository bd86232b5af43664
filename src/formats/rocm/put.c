/* SPDX-License-Identifier: MIT */
/* Records as events: names, kinds and arguments as Kineto has them. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/rocm/map.h"

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

static bool is_word(const char *p, size_t len, const char *word)
{
	return p && len == strlen(word) && !memcmp(p, word, len);
}

/* A call's arguments differ in a slot alone. */
static uint32_t call_args(struct pf_rocm *m, const struct pf_rocm_call *c)
{
	uint32_t *memo;

	pf_argline_set(&m->sink.args, PF_SLOT_CORRELATION,
		       link_of(c->process, c->id));
	if (pf_rocm_memo(m, PF_ROCM_MEMO_CALL_ARGS, 0, 0, &memo))
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
	if (!torch && pf_rocm_memo(m, PF_ROCM_MEMO_RANGE_ARGS, 0, 0, &memo))
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
	bool split = pf_pfr_split_torch_name(c->name, c->name_len, &torch);
	char pid[24];

	if (is_word(c->function, c->function_len, "roctxMarkA")) {
		put->kind = PF_KIND_INSTANT;
		put->ph = 'i';
		put->name = pf_sink_text(&m->sink, c->name, c->name_len);
		put->args = PF_ID_NONE;
		return;
	}
	put->name = pf_sink_text(&m->sink, c->name,
				 split ? torch.name_len : c->name_len);
	if (split)
		put->category = PF_ROCM_CAT_OP;
	if (is_word(c->function, c->function_len, "roctxProcessRangeA")) {
		put->kind = PF_KIND_ASYNC;
		snprintf(pid, sizeof(pid), "%" PRId64, c->pid);
		put->track = pf_sink_track(&m->sink, 'a', pid, "ranges");
	} else if (pf_pfr_is_step(c->name, c->name_len)) {
		put->kind = PF_KIND_ANNOTATION;
		put->category = PF_ROCM_CAT_STEP;
	}
	put->args = range_args(m, split ? &torch : NULL);
}

void pf_rocm_put_call(struct pf_rocm *m, const struct pf_rocm_call *c,
		      struct pf_sink_put *put)
{
	put->category = c->domain->category;
	put->kind = c->domain->kind;
	put->ph = 'X';
	put->track = pf_rocm_host_track(m, c->process, c->pid, c->tid);
	pf_argline_open(&m->sink.args);
	if (put->category == PF_ROCM_CAT_NVTX) {
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

	put->category =
		memory->is_scratch ? PF_ROCM_CAT_SCRATCH : PF_ROCM_CAT_MEMORY;
	put->kind = PF_KIND_HOST;
	put->ph = 'X';
	put->track = pf_rocm_host_track(m, c->process, c->pid, c->tid);
	put->name = pf_sink_text(&m->sink, memory->what, memory->what_len);
	pf_argline_open(a);
	if (memory->device >= 0)
		pf_argline_fixed(a, "device", memory->device);
	if (memory->bytes >= 0)
		pf_argline_slot(a, "bytes", PF_SLOT_BYTES, memory->bytes);
	if (memory->address)
		pf_argline_address(a, "ptr", memory->address);
	arg_link(m, c->process, c->id);
	put->args = pf_argline_close(a, &m->sink.parsed.args);
	pf_sink_store(&m->sink, put);
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
	    pf_rocm_memo(m, PF_ROCM_MEMO_GPU_TRACK,
			 w->process << 20 | w->device, lane(w), &memo))
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

	put->category = PF_ROCM_CAT_KERNEL;
	put->kind = PF_KIND_KERNEL;
	put->ph = 'X';
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

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		for (int k = 0; k < 2; k++)
			if (memmem(p, len, names[i].parts[k],
				   strlen(names[i].parts[k])))
				return names[i].name;
	return NULL;
}

static void put_bytes(struct pf_rocm *m, const struct pf_rocm_work *w,
		      int64_t bytes, struct pf_sink_put *put)
{
	put->ph = 'X';
	put->track = gpu_track(m, w);
	pf_argline_open(&m->sink.args);
	arg_place(m, w);
	if (bytes >= 0)
		pf_kineto_bytes(&m->sink.args, (uint64_t)bytes, put->dur_ns);
}

static void close_put(struct pf_rocm *m, struct pf_sink_put *put)
{
	put->args = pf_argline_close(&m->sink.args, &m->sink.parsed.args);
	pf_sink_store(&m->sink, put);
}

void pf_rocm_put_copy(struct pf_rocm *m, const struct pf_rocm_work *w,
		      const struct pf_rocm_copy *c, struct pf_sink_put *put)
{
	const char *known = copy_name(c->name, c->name_len);

	put->category = PF_ROCM_CAT_MEMCPY;
	put->kind = PF_KIND_MEMCPY;
	put->name = known ? pf_sink_word(&m->sink, known)
			  : pf_sink_text(&m->sink, c->name, c->name_len);
	put_bytes(m, w, c->bytes, put);
	if (c->from >= 0 && c->to >= 0 && c->from != c->to) {
		pf_argline_fixed(&m->sink.args, "fromDevice", c->from);
		pf_argline_fixed(&m->sink.args, "toDevice", c->to);
	}
	close_put(m, put);
}

void pf_rocm_put_fill(struct pf_rocm *m, const struct pf_rocm_work *w,
		      int64_t bytes, struct pf_sink_put *put)
{
	put->category = PF_ROCM_CAT_MEMSET;
	put->kind = PF_KIND_MEMSET;
	put->name = pf_sink_word(&m->sink, "Memset (Device)");
	put_bytes(m, w, bytes, put);
	close_put(m, put);
}

void pf_rocm_put_other(struct pf_rocm *m, const struct pf_rocm_work *w,
		       const char *name, size_t len, struct pf_sink_put *put)
{
	put->category = PF_ROCM_CAT_OTHER;
	put->kind = PF_KIND_GPU_OTHER;
	put->name = pf_sink_text(&m->sink, name, len);
	put_bytes(m, w, -1, put);
	close_put(m, put);
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

struct pf_pfr_launch pf_rocm_launch(const struct pf_rocm_shape *shape)
{
	struct pf_pfr_launch l = {
		.registers = PF_KINETO_UNKNOWN,
		.dynamic_bytes = pf_rocm_size(shape->group_bytes),
		.local_bytes = pf_rocm_size(shape->private_bytes),
	};

	if (l.local_bytes == PF_KINETO_UNKNOWN)
		l.local_bytes = 0;
	for (unsigned i = 0; i < 3; i++) {
		int64_t block = shape->block[i];

		l.block[i] = block > 0 && block < PF_KINETO_UNKNOWN
				     ? (uint32_t)block
				     : 0;
		l.grid[i] = pf_rocm_blocks(shape->items[i], block);
	}
	if (!l.grid[0] || !l.block[0])
		l.grid[0] = PF_KINETO_UNKNOWN;
	return l;
}
