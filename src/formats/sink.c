/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "formats/sink.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/num.h"

void pf_argline_release(struct pf_argline *a)
{
	pf_buf_release(&a->text);
}

void pf_argline_open(struct pf_argline *a)
{
	a->mask = 0;
	a->generic = 0;
	pf_buf_clear(&a->text);
}

void pf_argline_key(struct pf_argline *a, const char *key)
{
	pf_buf_adds(&a->text, a->text.len ? ",\"" : "{\"");
	pf_buf_adds(&a->text, key);
	pf_buf_adds(&a->text, "\":");
}

void pf_argline_slot(struct pf_argline *a, const char *key, enum pf_slot slot,
		     int64_t value)
{
	char holder[3] = { '$', (char)('a' + (int)slot), '\0' };

	pf_argline_key(a, key);
	pf_buf_adds(&a->text, holder);
	pf_argline_set(a, slot, value);
}

void pf_argline_address(struct pf_argline *a, const char *key, uint64_t value)
{
	char first = value > INT64_MAX ? 'A' : 'a';
	char holder[3] = { '$', (char)(first + PF_SLOT_ADDR), '\0' };

	pf_argline_key(a, key);
	pf_buf_adds(&a->text, holder);
	pf_argline_set(a, PF_SLOT_ADDR, (int64_t)value);
}

void pf_argline_number(struct pf_argline *a, const char *key, uint64_t value)
{
	if (a->generic < PF_SLOT_GENERIC_COUNT && value < UINT64_C(1) << 58) {
		enum pf_slot slot =
			(enum pf_slot)(PF_SLOT_GENERIC + a->generic++);

		pf_argline_slot(a, key, slot, (int64_t)(value << 4));
		return;
	}
	pf_argline_key(a, key);
	pf_buf_addu(&a->text, value);
}

void pf_argline_fixed(struct pf_argline *a, const char *key, int64_t value)
{
	pf_argline_key(a, key);
	pf_buf_addi(&a->text, value);
}

void pf_argline_real(struct pf_argline *a, const char *key, double value)
{
	char text[PF_NUM_MAX];

	if (!isfinite(value))
		return;
	pf_num_exact(text, value);
	pf_argline_key(a, key);
	pf_buf_adds(&a->text, text);
}

/*
 * Arguments of thousands of events are held at once, so one text of a file
 * must not fill them all.
 */
#define TEXT_MAX 4096

void pf_argline_quote(struct pf_buf *out, const char *text, size_t len)
{
	PF_AUTO(pf_buf_release) struct pf_buf cut = { 0 };

	if (len <= TEXT_MAX) {
		pf_jsonw_quote(out, text, len, false);
		return;
	}
	pf_buf_add(&cut, text, TEXT_MAX);
	pf_buf_adds(&cut, "...");
	pf_jsonw_quote(out, cut.data, cut.len, false);
}

void pf_argline_text(struct pf_argline *a, const char *key, const char *text,
		     size_t len)
{
	pf_argline_key(a, key);
	pf_argline_quote(&a->text, text, len);
}

uint32_t pf_argline_close(struct pf_argline *a, struct pf_dict *args)
{
	if (!a->text.len)
		return PF_ID_NONE;
	pf_buf_addc(&a->text, '}');
	return pf_dict_find(args, a->text.data, a->text.len, a->mask);
}

static const struct {
	const char *name;
	enum pf_kind kind;
	char ph;
} cats[PF_CATS] = {
	[PF_CAT_KERNEL] = { "kernel", PF_KIND_KERNEL, 'X' },
	[PF_CAT_GRAPH] = { "gpu_user_annotation", PF_KIND_GPU_ANNOTATION, 'X' },
	[PF_CAT_COPY] = { "gpu_memcpy", PF_KIND_MEMCPY, 'X' },
	[PF_CAT_FILL] = { "gpu_memset", PF_KIND_MEMSET, 'X' },
	[PF_CAT_SYNC] = { "cuda_sync", PF_KIND_GPU_SYNC, 'X' },
	[PF_CAT_RUNTIME] = { "cuda_runtime", PF_KIND_RUNTIME, 'X' },
	[PF_CAT_DRIVER] = { "cuda_driver", PF_KIND_DRIVER, 'X' },
	[PF_CAT_OVERHEAD] = { "overhead", PF_KIND_OVERHEAD, 'X' },
	[PF_CAT_OP] = { "cpu_op", PF_KIND_CPU_OP, 'X' },
	[PF_CAT_RANGE] = { "nvtx", PF_KIND_CPU_OP, 'X' },
	[PF_CAT_STEP] = { "user_annotation", PF_KIND_ANNOTATION, 'X' },
	[PF_CAT_MARK] = { "nvtx", PF_KIND_INSTANT, 'i' },
	[PF_CAT_CUDA_EVENT] = { "cuda_event", PF_KIND_CUDA_EVENT, 'i' },
	[PF_CAT_CUDA_MEMORY] = { "cuda_memory", PF_KIND_INSTANT, 'i' },
	[PF_CAT_UVM] = { "cuda_uvm", PF_KIND_INSTANT, 'i' },
	[PF_CAT_ENVIRONMENT] = { "environment", PF_KIND_COUNTER, 'C' },
	[PF_CAT_OS_CALL] = { "osrt", PF_KIND_HOST, 'X' },
	[PF_CAT_RCCL] = { "rccl_api", PF_KIND_HOST, 'X' },
	[PF_CAT_MEMORY] = { "memory_allocation", PF_KIND_HOST, 'X' },
	[PF_CAT_SCRATCH] = { "scratch_memory", PF_KIND_HOST, 'X' },
	[PF_CAT_ROCM_CALL] = { "rocm_api", PF_KIND_HOST, 'X' },
	[PF_CAT_ROCM_WORK] = { "rocm_api", PF_KIND_GPU_OTHER, 'X' },
};

void pf_sink_init(struct pf_sink *s)
{
	*s = (struct pf_sink){ .offset = PF_OFFSET_UNKNOWN };
	pf_parsed_init(&s->parsed);
	s->memos.items =
		pf_calloc((size_t)1 << PF_MEMO_BITS, sizeof(*s->memos.items));
}

void pf_sink_release(struct pf_sink *s)
{
	pf_parsed_release(&s->parsed);
	pf_argline_release(&s->args);
	free(s->memos.items);
	free(s->known);
	free(s->unread);
	pf_buf_release(&s->gpus);
	pf_map_release(&s->processes);
}

void pf_sink_begin(struct pf_sink *s)
{
	if (pf_parsed_begin(&s->parsed) || !s->memos.generation) {
		s->memos.generation++;
		for (size_t i = 0; i < PF_CATS; i++)
			s->category[i] = pf_dict_word(&s->parsed.categories,
						      cats[i].name);
	}
	s->parsed.batch.ts_fraction_digits = 3;
}

bool pf_sink_is_full(const struct pf_sink *s, size_t most)
{
	const struct pf_parsed *p = &s->parsed;

	return p->batch.count >= most || p->batch.metadata.len > 1u << 20 ||
	       pf_dict_is_large(&p->args) || pf_dict_is_large(&p->names);
}

void pf_sink_note(struct pf_sink *s, enum pf_repair_kind kind)
{
	pf_repair_note(&s->parsed.batch.repairs, kind, 1, s->offset);
}

#define UNREAD_MAX 256u

void pf_sink_unread(struct pf_sink *s, const char *kind, size_t len,
		    int64_t count, int64_t offset)
{
	struct pf_sink_unread kept = { .rows = count };
	size_t i = s->unread_count;

	if (!count)
		return;
	s->parsed.batch.event_count += count;
	pf_repair_note(&s->parsed.batch.repairs, PF_SKIP_TABLE, count, offset);
	memcpy(kept.name, kind, len < 80 ? len : 80);
	/* Records of a kind mostly follow each other. */
	while (i && strcmp(s->unread[i - 1].name, kept.name) != 0)
		i--;
	if (i)
		s->unread[i - 1].rows += count;
	else if (s->unread_count < UNREAD_MAX)
		*PF_ONE_MORE(s->unread, s->unread_count, s->unread_cap) = kept;
}

bool pf_sink_fact(const struct pf_sink *s, const char *format, size_t i,
		  char *key, size_t key_size, int64_t *value)
{
	if (i >= s->unread_count)
		return false;
	snprintf(key, key_size, "%s_unread_%s", format, s->unread[i].name);
	*value = s->unread[i].rows;
	return true;
}

void pf_sink_is(struct pf_sink_put *put, enum pf_cat what)
{
	put->category = what;
	put->kind = cats[what].kind;
	put->ph = cats[what].ph;
}

bool pf_sink_times(struct pf_sink *s, int64_t start_ns, int64_t end_ns,
		   struct pf_sink_put *put)
{
	int64_t dur_ns;

	if (end_ns < start_ns) {
		pf_sink_note(s, PF_REPAIR_NEGATIVE_DURATION);
		end_ns = start_ns;
	}
	if (__builtin_sub_overflow(end_ns, start_ns, &dur_ns) ||
	    !pf_time_fits(start_ns, dur_ns)) {
		pf_sink_note(s, PF_SKIP_TIME_RANGE);
		return false;
	}
	put->start_ns = start_ns;
	put->dur_ns = dur_ns;
	if (!s->has_last || end_ns > s->last_ns)
		s->last_ns = end_ns;
	s->has_last = true;
	return true;
}

void pf_sink_store(struct pf_sink *s, const struct pf_sink_put *put)
{
	struct pf_batch *b = &s->parsed.batch;
	int64_t order = b->event_count - put->back;
	struct pf_event ev = {
		.start_ns = put->start_ns,
		.dur_ns = put->dur_ns,
		.name = put->name,
		.args = put->args,
		.track = put->track,
		.order = order < INT32_MIN ? INT32_MIN : (int32_t)order,
		.ph = (uint8_t)put->ph,
		.kind = (uint8_t)put->kind,
	};

	pf_batch_store(b, &ev, s->category[put->category], s->args.mask,
		       s->args.slots);
}

void pf_sink_close(struct pf_sink *s, struct pf_sink_put *put)
{
	put->args = pf_argline_close(&s->args, &s->parsed.args);
	pf_sink_store(s, put);
}

/* ---- dictionaries ---- */

uint32_t pf_sink_text(struct pf_sink *s, const char *text, size_t len)
{
	return pf_dict_find(&s->parsed.names, text, len, 0);
}

uint32_t pf_sink_word(struct pf_sink *s, const char *word)
{
	return pf_dict_word(&s->parsed.names, word);
}

uint32_t pf_sink_track(struct pf_sink *s, char letter, const char *pid,
		       const char *tid)
{
	return pf_parsed_track(&s->parsed, letter, pid, tid);
}

/* The first process that uses a number has it to itself, up to a limit. */
static bool is_own_device(struct pf_sink *s, int64_t device, int64_t process)
{
	for (size_t i = 0; i < s->user_count; i++)
		if (s->users[i].device == device)
			return s->users[i].process == process;
	if (s->user_count == PF_SINK_DEVICES_MAX)
		return false;
	s->users[s->user_count++] = (struct pf_sink_user){ device, process };
	return true;
}

static uint32_t find_gpu_track(struct pf_sink *s, int64_t device,
			       int64_t stream, int64_t process, int64_t pid)
{
	char text[64];

	snprintf(text, sizeof(text), "%" PRId64, device);
	if (!is_own_device(s, device, process))
		snprintf(text, sizeof(text),
			 "%" PRId64 " (process %" PRId64 ")", device, pid);
	return pf_sink_track(s, 'g', text, PF_PRINTED(24, "%" PRId64, stream));
}

uint32_t pf_sink_gpu_track(struct pf_sink *s, int64_t device, int64_t stream,
			   int64_t process, int64_t pid)
{
	uint32_t *memo;

	if (device != (int32_t)device)
		return find_gpu_track(s, device, stream, process, pid);
	if (!pf_sink_memo(s, PF_MEMO_GPU_TRACK,
			  (uint64_t)(process + 1) << 32 | (uint32_t)device,
			  (uint64_t)stream, &memo))
		*memo = find_gpu_track(s, device, stream, process, pid);
	return *memo;
}

#define PROCESSES_MAX 65536u

int64_t pf_sink_process(struct pf_sink *s, uint64_t key)
{
	uint64_t *number;

	if (s->processes.count && key == s->last_key)
		return s->last_process;
	if (s->processes.count >= PROCESSES_MAX)
		return -1;
	number = pf_map_at(&s->processes, key);
	if (*number == UINT64_MAX)
		*number = s->processes.count - 1;
	s->last_key = key;
	return s->last_process = (int64_t)*number;
}

/* ---- GPUs ---- */

void pf_sink_gpu(struct pf_buf *list, const struct pf_sink_gpu *gpu)
{
	static const char *const keys[PF_GPU_WARPS] = {
		"totalGlobalMem", "computeMajor",
		"computeMinor",   "regsPerMultiprocessor",
		"warpSize",       "sharedMemPerMultiprocessor",
		"numSms",
	};
	int64_t warps = gpu->numbers[PF_GPU_WARPS];
	int64_t warp = gpu->numbers[PF_GPU_WARP];

	pf_buf_addf(list, "%s{\"id\":%" PRId64, list->len ? "," : "[", gpu->id);
	if (gpu->name) {
		pf_buf_adds(list, ",\"name\":");
		pf_jsonw_quote(list, gpu->name, gpu->name_len, false);
	}
	for (size_t i = 0; i < PF_LEN(keys); i++)
		if (gpu->numbers[i] >= 0)
			pf_buf_addf(list, ",\"%s\":%" PRId64, keys[i],
				    gpu->numbers[i]);
	if (warps >= 0 && warps < 1 << 16 && warp > 0 && warp < 1 << 16)
		pf_buf_addf(list, ",\"maxThreadsPerMultiprocessor\":%" PRId64,
			    warps * warp);
	if (gpu->numbers[PF_GPU_BANDWIDTH] > 0)
		pf_buf_addf(list, ",\"memoryBandwidth\":%" PRId64,
			    gpu->numbers[PF_GPU_BANDWIDTH]);
	pf_buf_addc(list, '}');
}

void pf_sink_add_gpu(struct pf_sink *s, const struct pf_sink_gpu *gpu)
{
	*PF_ONE_MORE(s->known, s->known_count, s->known_cap) =
		(struct pf_sink_known){ gpu->id, gpu->numbers[PF_GPU_SMS],
					gpu->numbers[PF_GPU_WARP] };
	pf_sink_gpu(&s->gpus, gpu);
}

const struct pf_sink_known *pf_sink_known(const struct pf_sink *s, int64_t id)
{
	for (size_t i = 0; i < s->known_count; i++)
		if (s->known[i].id == id)
			return &s->known[i];
	return NULL;
}

void pf_sink_put_gpus(struct pf_sink *s)
{
	if (!s->gpus.len)
		return;
	pf_buf_addc(&s->gpus, ']');
	pf_batch_member(&s->parsed.batch, "deviceProperties", &s->gpus);
	pf_buf_clear(&s->gpus);
}
