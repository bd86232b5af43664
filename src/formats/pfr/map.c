/* SPDX-License-Identifier: MIT */
/*
 * Dictionary entries are found once and remembered in a table of memos; when
 * a dictionary is emptied the generation changes and all memos are void.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/demangle.h"
#include "base/mem.h"
#include "formats/pfr/map_impl.h"

static const char *const categories[PF_PFR_CATEGORIES] = {
	[PF_PFR_CAT_KERNEL] = "kernel",
	[PF_PFR_CAT_MEMCPY] = "gpu_memcpy",
	[PF_PFR_CAT_MEMSET] = "gpu_memset",
	[PF_PFR_CAT_SYNC] = "cuda_sync",
	[PF_PFR_CAT_RUNTIME] = "cuda_runtime",
	[PF_PFR_CAT_DRIVER] = "cuda_driver",
	[PF_PFR_CAT_OVERHEAD] = "overhead",
	[PF_PFR_CAT_OP] = "cpu_op",
	[PF_PFR_CAT_NVTX] = "nvtx",
	[PF_PFR_CAT_STEP] = "user_annotation",
	[PF_PFR_CAT_CUDA_EVENT] = "cuda_event",
	[PF_PFR_CAT_CUDA_MEMORY] = "cuda_memory",
	[PF_PFR_CAT_UVM] = "cuda_uvm",
	[PF_PFR_CAT_ENVIRONMENT] = "environment",
};

void pf_pfr_map_init(struct pf_pfr_map *m, struct pf_pfr_file *file)
{
	const struct pf_pfr_line *pid = pf_pfr_line_of(&file->meta, "pid");
	int64_t number;

	memset(m, 0, sizeof(*m));
	m->file = file;
	pf_sink_init(&m->sink, categories, PF_PFR_CATEGORIES);
	pf_dict_init(&m->mangled, pf_dict_no_text);
	m->ranges = pf_pfr_ranges_new();
	if (pid && pf_pfr_line_int(&file->meta, "pid", &number))
		snprintf(m->pid, sizeof(m->pid), "%" PRId64, number);
}

static void forget_mangled(struct pf_pfr_map *m)
{
	for (size_t i = 0; i < m->mangled.count; i++)
		free(m->demangled[i]);
	pf_dict_clear(&m->mangled);
}

void pf_pfr_map_release(struct pf_pfr_map *m)
{
	forget_mangled(m);
	free(m->demangled);
	pf_dict_release(&m->mangled);
	pf_sink_release(&m->sink);
	pf_pfr_ranges_free(m->ranges);
	pf_buf_release(&m->clean);
}

void pf_pfr_map_begin(struct pf_pfr_map *m)
{
	m->events_before += m->sink.parsed.batch.event_count;
	pf_sink_begin(&m->sink);
}

void pf_pfr_note(struct pf_pfr_map *m, enum pf_repair_kind kind)
{
	pf_sink_note(&m->sink, kind);
}

bool pf_pfr_memo(struct pf_pfr_map *m, uint64_t a, uint64_t b, uint32_t **entry)
{
	return pf_memo_find(&m->sink.memos, a, b, entry);
}

/* ---- texts ---- */

uint32_t pf_pfr_find_text(struct pf_pfr_map *m, const char *text, size_t len)
{
	return pf_sink_text(&m->sink, text, len);
}

uint32_t pf_pfr_find_lost(struct pf_pfr_map *m, uint64_t id)
{
	char text[40];
	int n = snprintf(text, sizeof(text), "#%" PRIu64 " (lost)", id);

	pf_pfr_note(m, PF_REPAIR_LOST_NAME);
	return pf_pfr_find_text(m, text, (size_t)n);
}

/* The bytes of a name; false and *lost: it was never defined. */
static bool resolve(struct pf_pfr_map *m, const struct pf_pfr_name *name,
		    struct pf_pfr_text *text)
{
	*text = (struct pf_pfr_text){ "", 0 };
	if (name->text)
		*text = (struct pf_pfr_text){ name->text, name->len };
	else if (name->id)
		*text = pf_pfr_string(&m->file->defs, name->id);
	return text->p != NULL;
}

uint32_t pf_pfr_find_name(struct pf_pfr_map *m, const struct pf_pfr_name *name)
{
	struct pf_pfr_text text;
	uint32_t *entry;

	if (!resolve(m, name, &text))
		return pf_pfr_find_lost(m, name->id);
	if (!name->id)
		return pf_pfr_find_text(m, text.p, text.len);
	if (!pf_pfr_memo(m, PF_PFR_MEMO_KEY(PF_PFR_MEMO_NAME, 0), name->id,
			 &entry))
		*entry = pf_pfr_find_text(m, text.p, text.len);
	return *entry;
}

static bool looks_mangled(const struct pf_pfr_text *text)
{
	return text->len > 2 && text->p[0] == '_' && text->p[1] == 'Z';
}

/* Each distinct name is demangled once (or once more after many others). */
static const char *demangle(struct pf_pfr_map *m,
			    const struct pf_pfr_text *text)
{
	size_t count = m->mangled.count;
	uint32_t i;

	if (pf_dict_is_large(&m->mangled))
		forget_mangled(m);
	count = m->mangled.count;
	i = pf_dict_find(&m->mangled, text->p, text->len, 0);
	if (i < count)
		return m->demangled[i];
	m->demangled = pf_grow(m->demangled, &m->demangled_cap, (size_t)i + 1,
			       sizeof(*m->demangled));
	m->demangled[i] = pf_demangle_take(text->p, text->len);
	m->left_mangled += !m->demangled[i];
	return m->demangled[i];
}

static uint32_t find_demangled(struct pf_pfr_map *m,
			       const struct pf_pfr_text *text)
{
	const char *plain;

	if (!looks_mangled(text))
		return pf_pfr_find_text(m, text->p, text->len);
	plain = demangle(m, text);
	if (plain)
		return pf_pfr_find_text(m, plain, strlen(plain));
	return pf_pfr_find_text(m, text->p, text->len);
}

uint32_t pf_pfr_find_kernel(struct pf_pfr_map *m,
			    const struct pf_pfr_name *name)
{
	struct pf_pfr_text text;
	uint32_t *entry;

	if (!resolve(m, name, &text))
		return pf_pfr_find_lost(m, name->id);
	if (!name->id)
		return find_demangled(m, &text);
	if (!pf_pfr_memo(m, PF_PFR_MEMO_KEY(PF_PFR_MEMO_KERNEL_NAME, 0),
			 name->id, &entry))
		*entry = find_demangled(m, &text);
	return *entry;
}

/* ---- tracks ---- */

uint32_t pf_pfr_find_track(struct pf_pfr_map *m, char letter, uint64_t pid,
			   int64_t tid, const char *tid_text)
{
	char device[24] = "", number[24];
	const char *owner = m->pid;

	if (letter != 'h' && letter != 'a') {
		if (pid != PF_PFR_NOWHERE)
			snprintf(device, sizeof(device), "%" PRIu64, pid);
		owner = device;
	}
	snprintf(number, sizeof(number), "%" PRId64, tid);
	return pf_sink_track(&m->sink, letter, owner,
			     tid_text ? tid_text : number);
}

uint32_t pf_pfr_host_track(struct pf_pfr_map *m, uint64_t tid)
{
	uint32_t *entry;

	if (!pf_pfr_memo(m, PF_PFR_MEMO_KEY(PF_PFR_MEMO_HOST_TRACK, 0), tid,
			 &entry))
		*entry = pf_pfr_find_track(m, 'h', 0, (int64_t)tid, NULL);
	return *entry;
}

uint32_t pf_pfr_gpu_track(struct pf_pfr_map *m, uint64_t device,
			  uint64_t stream)
{
	bool none = stream == UINT32_MAX;
	uint32_t *entry;

	/* A number that no device has must not look like PF_PFR_NOWHERE. */
	if (device != PF_PFR_NOWHERE)
		device &= INT32_MAX;
	if (!pf_pfr_memo(
		    m,
		    PF_PFR_MEMO_KEY(PF_PFR_MEMO_GPU_TRACK, device & UINT32_MAX),
		    stream, &entry))
		*entry = pf_pfr_find_track(m, 'g', device,
					   none ? -1 : (int64_t)stream, NULL);
	return *entry;
}

uint64_t pf_pfr_device_of(struct pf_pfr_map *m, uint64_t context)
{
	int64_t device = pf_pfr_info_int(m->file, "context", context, "dev");

	return device < 0 ? PF_PFR_NOWHERE : (uint64_t)device;
}

/* ---- arguments ---- */

void pf_pfr_open_args(struct pf_pfr_map *m)
{
	pf_argline_open(&m->sink.args);
}

void pf_pfr_arg_slot(struct pf_pfr_map *m, const char *name, enum pf_slot slot,
		     int64_t value)
{
	pf_argline_slot(&m->sink.args, name, slot, value);
}

void pf_pfr_arg_number(struct pf_pfr_map *m, const char *name, uint64_t value)
{
	pf_argline_number(&m->sink.args, name, value);
}

void pf_pfr_arg_fixed(struct pf_pfr_map *m, const char *name, int64_t value)
{
	pf_argline_fixed(&m->sink.args, name, value);
}

void pf_pfr_arg_text(struct pf_pfr_map *m, const char *name, const char *text,
		     size_t len)
{
	pf_argline_text(&m->sink.args, name, text, len);
}

void pf_pfr_arg_name(struct pf_pfr_map *m, const char *name,
		     const struct pf_pfr_name *value)
{
	struct pf_pfr_text text;
	char lost[40];

	if (!value->id && !value->len)
		return;
	if (resolve(m, value, &text)) {
		pf_pfr_arg_text(m, name, text.p, text.len);
		return;
	}
	snprintf(lost, sizeof(lost), "#%" PRIu64 " (lost)", value->id);
	pf_pfr_note(m, PF_REPAIR_LOST_NAME);
	pf_pfr_arg_text(m, name, lost, strlen(lost));
}

uint32_t pf_pfr_close_args(struct pf_pfr_map *m)
{
	return pf_argline_close(&m->sink.args, &m->sink.parsed.args);
}

/* ---- events ---- */

bool pf_pfr_times(struct pf_pfr_map *m, const struct pf_pfr_event *ev,
		  struct pf_sink_put *put)
{
	int64_t start = ev->start_ns, end = ev->end_ns;

	if (m->is_realtime) {
		start = pf_pfr_clock_monotonic(&m->file->clock, start);
		end = pf_pfr_clock_monotonic(&m->file->clock, end);
	}
	return pf_sink_times(&m->sink, start, end, put);
}

static void skip_type(struct pf_pfr_map *m, const struct pf_pfr_event *ev)
{
	(void)ev;
	pf_pfr_note(m, PF_SKIP_RECORD_TYPE);
}

static void (*const mappers[PF_PFR_EVENT_TYPES])(
	struct pf_pfr_map *, const struct pf_pfr_event *) = {
	[PF_PFR_KERNEL] = pf_pfr_map_kernel,
	[PF_PFR_KERNEL_INLINE] = pf_pfr_map_kernel,
	[PF_PFR_MEMCPY] = pf_pfr_map_copy,
	[PF_PFR_MEMSET] = pf_pfr_map_fill,
	[PF_PFR_API] = pf_pfr_map_call,
	[PF_PFR_SYNC] = pf_pfr_map_sync,
	[PF_PFR_CUDA_EVENT] = pf_pfr_map_event,
	[PF_PFR_OVERHEAD] = pf_pfr_map_overhead,
	[PF_PFR_MEMORY] = pf_pfr_map_memory,
	[PF_PFR_GRAPH] = pf_pfr_map_graph,
	[PF_PFR_JIT] = pf_pfr_map_jit,
	[PF_PFR_INTERNAL] = pf_pfr_map_internal,
	[PF_PFR_UVM] = pf_pfr_map_uvm,
	[PF_PFR_ENV] = pf_pfr_map_environment,
	[PF_PFR_EXTCORR] = skip_type,
	[PF_PFR_PUSH] = pf_pfr_map_nvtx,
	[PF_PFR_POP] = pf_pfr_map_nvtx,
	[PF_PFR_MARK] = pf_pfr_map_nvtx,
	[PF_PFR_RSTART] = pf_pfr_map_nvtx,
	[PF_PFR_REND] = pf_pfr_map_nvtx,
};

void pf_pfr_map_frame(struct pf_pfr_map *m, const struct pf_pfr_frame *frame)
{
	struct pf_pfr_event ev;
	struct pf_pfr_body body;
	enum pf_pfr_got got;

	m->sink.offset = frame->offset;
	m->is_realtime = frame->flags & PF_PFR_IS_REALTIME;
	if (frame->after_a_gap)
		pf_pfr_ranges_tear(m);
	if (m->is_realtime && !m->file->clock.count)
		pf_pfr_note(m, PF_REPAIR_NO_CLOCK);
	if (!pf_pfr_body_init(&body, frame->payload, frame->len)) {
		pf_pfr_note(m, PF_REPAIR_BAD_FRAME);
		return;
	}
	while ((got = pf_pfr_body_next(&body, &ev)) != PF_PFR_GOT_END) {
		if (got == PF_PFR_GOT_EVENT && ev.untimed)
			pf_pfr_map_untimed(m, &ev);
		else if (got == PF_PFR_GOT_EVENT)
			mappers[ev.type](m, &ev);
		else if (got == PF_PFR_GOT_UNKNOWN)
			pf_pfr_note(m, PF_SKIP_RECORD_TYPE);
		else
			pf_pfr_note(m, PF_SKIP_MALFORMED);
		m->sink.parsed.batch.event_count++;
		if (got == PF_PFR_GOT_CUT)
			break;
	}
}

void pf_pfr_map_finish(struct pf_pfr_map *m)
{
	pf_pfr_ranges_close(m);
}
