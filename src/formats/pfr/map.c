/* SPDX-License-Identifier: MIT */
/*
 * Dictionary entries are found once and remembered in a table of memos; when
 * a dictionary is emptied the generation changes and all memos are void.
 */
#include "config.h"

#include "formats/pfr/map.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/demangle.h"
#include "base/mem.h"
#include "formats/pfr/kineto.h"

#define PF_PFR_NOWHERE UINT64_MAX /* a device or stream that is not known */

enum pf_pfr_memo_kind { /* the top byte of a memo's first key */
			PF_PFR_MEMO_NAME,
			PF_PFR_MEMO_KERNEL_NAME,
			PF_PFR_MEMO_CALL_NAME,
			PF_PFR_MEMO_COPY_NAME,
			PF_PFR_MEMO_HOST_TRACK,
			PF_PFR_MEMO_GPU_TRACK,
			PF_PFR_MEMO_KERNEL_ARGS,
			PF_PFR_MEMO_COPY_ARGS,
			PF_PFR_MEMO_CALL_ARGS,
			PF_PFR_MEMO_RANGE_ARGS,
};
#define PF_PFR_MEMO_KEY(kind, low) ((uint64_t)(kind) << 56 | (low))

/* What runs on a device: kernels, graphs, copies, fills, synchronisation. */

#define NO_STREAM UINT32_MAX

static void pfr_arg_fixed(struct pf_pfr_map *m, const char *name,
			  int64_t value);

static void arg_device(struct pf_pfr_map *m, uint64_t device)
{
	if (device != PF_PFR_NOWHERE)
		pfr_arg_fixed(m, "device", (int64_t)(uint32_t)device);
}

static void arg_stream(struct pf_pfr_map *m, uint64_t stream)
{
	pfr_arg_fixed(m, "stream",
		      stream == NO_STREAM ? -1 : (int64_t)(uint32_t)stream);
}

static void pfr_arg_slot(struct pf_pfr_map *m, const char *name,
			 enum pf_slot slot, int64_t value);

static void arg_place(struct pf_pfr_map *m, const struct pf_pfr_event *ev,
		      const uint64_t *place)
{
	arg_device(m, place[0]);
	pfr_arg_fixed(m, "context", (int64_t)(uint32_t)place[1]);
	arg_stream(m, place[2]);
	pfr_arg_slot(m, "correlation", PF_SLOT_CORRELATION,
		     (int64_t)ev->correlation);
}

/* ---- kernels ---- */

static void arg_launch(struct pf_pfr_map *m, const struct pf_pfr_launch *l,
		       uint64_t device)
{
	const struct pf_kineto_device about = {
		.sms = pf_pfr_info_int(m->file, "device", device, "SMs"),
		.warp = pf_pfr_info_int(m->file, "device", device, "warp"),
	};

	pf_kineto_launch(&m->sink.args, l, &about);
}

static void pfr_arg_number(struct pf_pfr_map *m, const char *name,
			   uint64_t value);

/* place: device, context, stream, graph node, graph, channel, queued, ... */
static void arg_kernel_rest(struct pf_pfr_map *m, const struct pf_pfr_event *ev,
			    const uint64_t *place, unsigned count)
{
	static const char *const keys[] = { "queued", "submitted" };

	if (place[4])
		pfr_arg_number(m, "graph id", place[4]);
	if (place[3])
		pfr_arg_number(m, "graph node id", place[3]);
	for (unsigned i = 6; i < count && i < 8; i++) {
		/* Wraps on hostile numbers, so that it is defined. */
		int64_t ns = (int64_t)((uint64_t)ev->start_ns +
				       (uint64_t)pf_wire_unzigzag(place[i]));

		if (m->is_realtime)
			ns = pf_pfr_clock_monotonic(&m->file->clock, ns);
		if (ns > 0)
			pfr_arg_number(m, keys[i - 6], (uint64_t)ns);
	}
}

static bool pfr_memo(struct pf_pfr_map *m, uint64_t a, uint64_t b,
		     uint32_t **entry);

/*
 * Arguments of which only numbers in slots differ: launch and place repeat,
 * and so do the graph's numbers but for their values.  False: not so simple.
 */
static bool kernel_memo(struct pf_pfr_map *m, const struct pf_pfr_event *ev,
			const uint64_t *place, uint32_t **memo)
{
	const uint64_t most = UINT64_C(1) << 58;
	uint64_t graphs = (place[4] != 0) | (uint64_t)(place[3] != 0) << 1;

	*memo = NULL;
	if (ev->type == PF_PFR_KERNEL_INLINE || ev->count > 7 ||
	    place[0] >= 256 || place[1] >= 1 << 16 || place[2] >= 1 << 24 ||
	    place[3] >= most || place[4] >= most)
		return false;
	return pfr_memo(m,
			PF_PFR_MEMO_KEY(PF_PFR_MEMO_KERNEL_ARGS,
					graphs << 48 | place[0] << 40 |
						place[1] << 24 | place[2]),
			ev->v[0], memo);
}

/* The slots of such a kernel, as arg_place() and arg_kernel_rest() do. */
static void set_kernel_slots(struct pf_pfr_map *m,
			     const struct pf_pfr_event *ev,
			     const uint64_t *place)
{
	const uint64_t numbers[] = { place[4], place[3] };

	m->sink.args.slots[PF_SLOT_CORRELATION] = (int64_t)ev->correlation;
	m->sink.args.mask = UINT32_C(1) << PF_SLOT_CORRELATION;
	for (int i = 0; i < 2; i++) {
		int slot = PF_SLOT_GENERIC + m->sink.args.generic;

		if (!numbers[i])
			continue;
		m->sink.args.slots[slot] = (int64_t)(numbers[i] << 4);
		m->sink.args.mask |= UINT32_C(1) << slot;
		m->sink.args.generic++;
	}
}

static uint32_t pfr_find_lost(struct pf_pfr_map *m, uint64_t id);
static uint32_t pfr_find_kernel(struct pf_pfr_map *m,
				const struct pf_pfr_name *name);
static uint32_t pfr_gpu_track(struct pf_pfr_map *m, uint64_t device,
			      uint64_t stream);
static void pfr_open_args(struct pf_pfr_map *m);
static uint32_t pfr_close_args(struct pf_pfr_map *m);
static bool pfr_times(struct pf_pfr_map *m, const struct pf_pfr_event *ev,
		      struct pf_sink_put *put);

static void pfr_map_kernel(struct pf_pfr_map *m, const struct pf_pfr_event *ev)
{
	bool is_inline = ev->type == PF_PFR_KERNEL_INLINE;
	const uint64_t *place = ev->v + !is_inline;
	const struct pf_pfr_launch *l =
		is_inline ? &ev->launch
			  : pf_pfr_launch_of(&m->file->defs, ev->v[0]);
	struct pf_sink_put put = { .category = PF_PFR_CAT_KERNEL,
				   .kind = PF_KIND_KERNEL,
				   .ph = 'X' };
	uint32_t *memo;

	if (!pfr_times(m, ev, &put))
		return;
	put.name =
		l ? pfr_find_kernel(m, &l->name) : pfr_find_lost(m, ev->v[0]);
	put.track = pfr_gpu_track(m, place[0], place[2]);
	pfr_open_args(m);
	if (kernel_memo(m, ev, place, &memo)) {
		set_kernel_slots(m, ev, place);
		put.args = *memo;
		pf_sink_store(&m->sink, &put);
		return;
	}
	arg_place(m, ev, place);
	if (l)
		arg_launch(m, l, place[0]);
	arg_kernel_rest(m, ev, place, ev->count - !is_inline);
	put.args = pfr_close_args(m);
	if (memo)
		*memo = put.args;
	pf_sink_store(&m->sink, &put);
}

static uint32_t pfr_find_text(struct pf_pfr_map *m, const char *text,
			      size_t len);

static void pfr_map_graph(struct pf_pfr_map *m, const struct pf_pfr_event *ev)
{
	struct pf_sink_put put = { .category = PF_PFR_CAT_KERNEL,
				   .kind = PF_KIND_KERNEL,
				   .ph = 'X' };
	char name[40];
	int n;

	if (!pfr_times(m, ev, &put))
		return;
	n = snprintf(name, sizeof(name), "graph %" PRIu64, ev->v[0]);
	put.name = pfr_find_text(m, name, (size_t)n);
	put.track = pfr_gpu_track(m, ev->v[1], ev->v[3]);
	pfr_open_args(m);
	arg_place(m, ev, ev->v + 1);
	pfr_arg_number(m, "graph id", ev->v[0]);
	pf_buf_adds(&m->sink.args.text, ",\"whole graph\":true");
	put.args = pfr_close_args(m);
	pf_sink_store(&m->sink, &put);
}

/* ---- copies and fills ---- */

static void arg_graph(struct pf_pfr_map *m, uint64_t node, uint64_t graph)
{
	if (graph)
		pfr_arg_number(m, "graph id", graph);
	if (node)
		pfr_arg_number(m, "graph node id", node);
}

static uint32_t copy_name(struct pf_pfr_map *m, uint64_t kind, uint64_t places)
{
	uint32_t *entry;
	char text[96];
	int n;

	if (kind > 255)
		kind = 255;
	if (pfr_memo(m, PF_PFR_MEMO_KEY(PF_PFR_MEMO_COPY_NAME, kind), places,
		     &entry))
		return *entry;
	n = snprintf(text, sizeof(text), "Memcpy %s (%s -> %s)",
		     pf_pfr_copy_word(kind), pf_pfr_memory_word(places >> 4),
		     pf_pfr_memory_word(places & 15));
	return *entry = pfr_find_text(m, text, (size_t)n);
}

/* bytes, kind, places, flags, device, context, stream, node, peers, graph */
static void pfr_map_copy(struct pf_pfr_map *m, const struct pf_pfr_event *ev)
{
	struct pf_sink_put put = { .category = PF_PFR_CAT_MEMCPY,
				   .kind = PF_KIND_MEMCPY,
				   .ph = 'X' };
	const uint64_t *v = ev->v;

	if (!pfr_times(m, ev, &put))
		return;
	put.name = copy_name(m, v[1], v[2]);
	put.track = pfr_gpu_track(m, v[4], v[6]);
	pfr_open_args(m);
	arg_place(m, ev, v + 4);
	pf_kineto_bytes(&m->sink.args, v[0], put.dur_ns);
	if (ev->count >= 10 && v[8] != v[9]) {
		pfr_arg_fixed(m, "fromDevice", (int64_t)(uint32_t)v[8]);
		pfr_arg_fixed(m, "toDevice", (int64_t)(uint32_t)v[9]);
	}
	arg_graph(m, v[7], v[10]);
	put.args = pfr_close_args(m);
	pf_sink_store(&m->sink, &put);
}

/* bytes, value, memory kind, device, context, stream, node, graph */
static void pfr_map_fill(struct pf_pfr_map *m, const struct pf_pfr_event *ev)
{
	struct pf_sink_put put = { .category = PF_PFR_CAT_MEMSET,
				   .kind = PF_KIND_MEMSET,
				   .ph = 'X' };
	const uint64_t *v = ev->v;
	char text[64];
	int n;

	if (!pfr_times(m, ev, &put))
		return;
	n = snprintf(text, sizeof(text), "Memset (%s)",
		     pf_pfr_memory_word(v[2]));
	put.name = pfr_find_text(m, text, (size_t)n);
	put.track = pfr_gpu_track(m, v[3], v[5]);
	pfr_open_args(m);
	arg_place(m, ev, v + 3);
	pf_kineto_bytes(&m->sink.args, v[0], put.dur_ns);
	arg_graph(m, v[6], v[7]);
	put.args = pfr_close_args(m);
	pf_sink_store(&m->sink, &put);
}

/* ---- synchronisation: type, context, stream, event, sync id, result ---- */

static uint64_t pfr_device_of(struct pf_pfr_map *m, uint64_t context);
static void pfr_arg_text(struct pf_pfr_map *m, const char *name,
			 const char *text, size_t len);

static void pfr_map_sync(struct pf_pfr_map *m, const struct pf_pfr_event *ev)
{
	struct pf_sink_put put = { .category = PF_PFR_CAT_SYNC,
				   .kind = PF_KIND_GPU_SYNC,
				   .ph = 'X' };
	const char *word = pf_pfr_sync_word(ev->v[0]);
	uint64_t device = pfr_device_of(m, ev->v[1]);

	if (!pfr_times(m, ev, &put))
		return;
	put.name = pfr_find_text(m, word, strlen(word));
	put.track = pfr_gpu_track(m, device, ev->v[2]);
	pfr_open_args(m);
	pfr_arg_text(m, "cuda_sync_kind", word, strlen(word));
	if (ev->v[3] != UINT32_MAX)
		pfr_arg_number(m, "wait_on_cuda_event_id", ev->v[3]);
	arg_stream(m, ev->v[2]);
	pfr_arg_slot(m, "correlation", PF_SLOT_CORRELATION,
		     (int64_t)ev->correlation);
	arg_device(m, device);
	pfr_arg_fixed(m, "context", (int64_t)(uint32_t)ev->v[1]);
	if (ev->v[5])
		pfr_arg_fixed(m, "return value", (int64_t)(uint32_t)ev->v[5]);
	put.args = pfr_close_args(m);
	pf_sink_store(&m->sink, &put);
}

/* What happens on the host, and what is no span at all. */

static void arg_correlation(struct pf_pfr_map *m, const struct pf_pfr_event *ev)
{
	pfr_arg_slot(m, "correlation", PF_SLOT_CORRELATION,
		     (int64_t)ev->correlation);
}

static uint32_t word_entry(struct pf_pfr_map *m, const char *word)
{
	return pfr_find_text(m, word, strlen(word));
}

/* ---- calls: cbid << 1 | driver, thread, result ---- */

static uint32_t call_name(struct pf_pfr_map *m, uint64_t call)
{
	struct pf_pfr_text text;
	uint32_t *entry;

	text = pf_pfr_keyed_text(&m->file->defs, PF_PFR_CBID, call);
	if (!text.p)
		return pfr_find_lost(m, call >> 1);
	if (pfr_memo(m, PF_PFR_MEMO_KEY(PF_PFR_MEMO_CALL_NAME, 0), call,
		     &entry))
		return *entry;
	pf_pfr_call_stem(&text.p, &text.len);
	return *entry = pfr_find_text(m, text.p, text.len);
}

static uint32_t pfr_host_track(struct pf_pfr_map *m, uint64_t tid);

static void pfr_map_call(struct pf_pfr_map *m, const struct pf_pfr_event *ev)
{
	bool driver = ev->v[0] & 1;
	struct pf_sink_put put = {
		.category = driver ? PF_PFR_CAT_DRIVER : PF_PFR_CAT_RUNTIME,
		.kind = driver ? PF_KIND_DRIVER : PF_KIND_RUNTIME,
		.ph = 'X',
	};
	uint32_t *memo;

	if (!pfr_times(m, ev, &put))
		return;
	put.name = call_name(m, ev->v[0]);
	put.track = pfr_host_track(m, ev->v[1]);
	pfr_open_args(m);
	m->sink.args.slots[PF_SLOT_CORRELATION] = (int64_t)ev->correlation;
	m->sink.args.mask = UINT32_C(1) << PF_SLOT_CORRELATION;
	if (!pfr_memo(m,
		      PF_PFR_MEMO_KEY(PF_PFR_MEMO_CALL_ARGS,
				      ev->v[2] & UINT32_MAX),
		      ev->v[0], &memo)) {
		pfr_arg_fixed(m, "cbid", (int64_t)(ev->v[0] >> 1));
		arg_correlation(m, ev);
		if (ev->v[2])
			pfr_arg_fixed(m, "return value",
				      (int64_t)(uint32_t)ev->v[2]);
		*memo = pfr_close_args(m);
	}
	put.args = *memo;
	pf_sink_store(&m->sink, &put);
}

/* ---- overhead ---- */

static void put_overhead(struct pf_pfr_map *m, const struct pf_pfr_event *ev,
			 const char *word, uint64_t tid)
{
	struct pf_sink_put put = { .category = PF_PFR_CAT_OVERHEAD,
				   .kind = PF_KIND_OVERHEAD,
				   .ph = 'X' };

	if (!pfr_times(m, ev, &put))
		return;
	put.name = word_entry(m, word);
	put.track = pfr_host_track(m, tid);
	pfr_open_args(m);
	if (ev->correlation)
		arg_correlation(m, ev);
	put.args = pfr_close_args(m);
	pf_sink_store(&m->sink, &put);
}

/* kind, object kind (2: a thread), its ids */
static void pfr_map_overhead(struct pf_pfr_map *m,
			     const struct pf_pfr_event *ev)
{
	put_overhead(m, ev, pf_pfr_overhead_word(ev->v[0]),
		     ev->v[1] == 2 ? ev->v[3] : 0);
}

static void pfr_map_internal(struct pf_pfr_map *m,
			     const struct pf_pfr_event *ev)
{
	put_overhead(m, ev, "Internal Launch", ev->v[1]);
}

/* entry, operation, device, thread */
static void pfr_map_jit(struct pf_pfr_map *m, const struct pf_pfr_event *ev)
{
	static const char *const words[] = { "JIT", "JIT Cache Load",
					     "JIT Cache Store", "JIT Compile" };

	put_overhead(m, ev, words[ev->v[1] < 4 ? ev->v[1] : 0], ev->v[3]);
}

/* ---- instants of a device ---- */

static uint32_t pfr_find_track(struct pf_pfr_map *m, char letter, uint64_t pid,
			       int64_t tid, const char *tid_text);

static uint32_t mark_track(struct pf_pfr_map *m, uint64_t device,
			   const char *what)
{
	return pfr_find_track(m, 'm', device, 0, what);
}

/* event, context, stream, device, sync id */
static void pfr_map_event(struct pf_pfr_map *m, const struct pf_pfr_event *ev)
{
	struct pf_sink_put put = { .category = PF_PFR_CAT_CUDA_EVENT,
				   .kind = PF_KIND_CUDA_EVENT,
				   .ph = 'i' };

	if (!pfr_times(m, ev, &put))
		return;
	put.name = word_entry(m, "cudaEventRecord");
	put.track = mark_track(m, ev->v[3], "events");
	pfr_open_args(m);
	pfr_arg_number(m, "event", ev->v[0]);
	arg_correlation(m, ev);
	pfr_arg_fixed(m, "context", (int64_t)(uint32_t)ev->v[1]);
	pfr_arg_fixed(m, "on stream", (int64_t)(uint32_t)ev->v[2]);
	put.args = pfr_close_args(m);
	pf_sink_store(&m->sink, &put);
}

static void pfr_arg_name(struct pf_pfr_map *m, const char *name,
			 const struct pf_pfr_name *value);

/*
 * operation, memory kind, address, bytes, device, context, stream, is
 * asynchronous, pool type, pool address, pc
 */
static void pfr_map_memory(struct pf_pfr_map *m, const struct pf_pfr_event *ev)
{
	static const char *const words[] = { "Memory", "Allocate", "Free" };
	struct pf_sink_put put = { .category = PF_PFR_CAT_CUDA_MEMORY,
				   .kind = PF_KIND_INSTANT,
				   .ph = 'i' };
	const uint64_t *v = ev->v;
	char text[64];
	int n;

	if (!pfr_times(m, ev, &put))
		return;
	n = snprintf(text, sizeof(text), "%s (%s)", words[v[0] < 3 ? v[0] : 0],
		     pf_pfr_memory_word(v[1]));
	put.name = pfr_find_text(m, text, (size_t)n);
	put.track = mark_track(m, v[4], "memory");
	pfr_open_args(m);
	if (v[3] <= INT64_MAX)
		pfr_arg_slot(m, "bytes", PF_SLOT_BYTES, (int64_t)v[3]);
	pf_argline_address(&m->sink.args, "ptr", v[2]);
	arg_correlation(m, ev);
	pfr_arg_fixed(m, "context", (int64_t)(uint32_t)v[5]);
	pfr_arg_fixed(m, "on stream",
		      v[6] == UINT32_MAX ? -1 : (int64_t)(uint32_t)v[6]);
	pfr_arg_fixed(m, "asynchronous", v[7] != 0);
	if (v[9])
		pfr_arg_number(m, "pool", v[9]);
	pfr_arg_name(m, "name", &ev->name);
	put.args = pfr_close_args(m);
	pf_sink_store(&m->sink, &put);
}

/* kind, value, address, source, destination */
static void pfr_map_uvm(struct pf_pfr_map *m, const struct pf_pfr_event *ev)
{
	struct pf_sink_put put = { .category = PF_PFR_CAT_UVM,
				   .kind = PF_KIND_INSTANT,
				   .ph = 'i' };

	if (!pfr_times(m, ev, &put))
		return;
	put.name = word_entry(m, "Unified memory");
	put.track = mark_track(m, ev->v[4], "unified memory");
	pfr_open_args(m);
	pfr_arg_fixed(m, "kind", (int64_t)(uint32_t)ev->v[0]);
	pfr_arg_number(m, "value", ev->v[1]);
	pfr_arg_number(m, "address", ev->v[2]);
	pfr_arg_number(m, "dur (ns)", (uint64_t)put.dur_ns);
	put.dur_ns = 0;
	pfr_arg_fixed(m, "source", (int64_t)(uint32_t)ev->v[3]);
	put.args = pfr_close_args(m);
	pf_sink_store(&m->sink, &put);
}

/* device, kind, four words of data */
static void pfr_map_environment(struct pf_pfr_map *m,
				const struct pf_pfr_event *ev)
{
	static const char *const words[] = { "Environment", "Clocks",
					     "Temperature", "Power", "Fan" };
	static const char *const keys[] = { "data0", "data1", "data2",
					    "data3" };
	struct pf_sink_put put = { .category = PF_PFR_CAT_ENVIRONMENT,
				   .kind = PF_KIND_COUNTER,
				   .ph = 'C' };

	if (!pfr_times(m, ev, &put))
		return;
	put.name = word_entry(m, words[ev->v[1] < 5 ? ev->v[1] : 0]);
	put.track = pfr_find_track(m, 'c', ev->v[0], 0, "");
	pfr_open_args(m);
	for (int i = 0; i < 4; i++)
		pfr_arg_number(m, keys[i], ev->v[2 + i]);
	put.args = pfr_close_args(m);
	pf_sink_store(&m->sink, &put);
}

/* ---- events without times ---- */

#define UNTIMED_MAX 65536 /* rows of JSON; CUPTI may leave out millions */

static const char *untimed_word(unsigned type)
{
	switch (type) {
	case PF_PFR_KERNEL:
	case PF_PFR_KERNEL_INLINE:
		return "untimed kernel";
	case PF_PFR_MEMCPY:
		return "untimed copy";
	case PF_PFR_MEMSET:
		return "untimed fill";
	case PF_PFR_API:
		return "untimed call";
	case PF_PFR_CUDA_EVENT:
		return "cudaEventRecord";
	default:
		return "untimed record";
	}
}

/* Device, context and stream, where the fields of a type begin with them. */
static const uint64_t *untimed_place(const struct pf_pfr_event *ev)
{
	switch (ev->type) {
	case PF_PFR_KERNEL:
		return ev->v + 1;
	case PF_PFR_KERNEL_INLINE:
		return ev->v;
	case PF_PFR_MEMCPY:
		return ev->v + 4;
	case PF_PFR_MEMSET:
		return ev->v + 3;
	default:
		return NULL;
	}
}

static void untimed_args(struct pf_pfr_map *m, const struct pf_pfr_event *ev)
{
	const uint64_t *place = untimed_place(ev);

	pfr_open_args(m);
	pfr_arg_fixed(m, "correlation", (int64_t)(uint32_t)ev->correlation);
	if (place) {
		pfr_arg_fixed(m, "device", (int64_t)(uint32_t)place[0]);
		pfr_arg_fixed(m, "context", (int64_t)(uint32_t)place[1]);
		pfr_arg_fixed(m, "stream", (int64_t)(uint32_t)place[2]);
	}
	if (ev->type == PF_PFR_KERNEL)
		pfr_arg_fixed(m, "launch", (int64_t)(uint32_t)ev->v[0]);
	if (ev->type == PF_PFR_API)
		pfr_arg_fixed(m, "cbid", (int64_t)(uint32_t)ev->v[0] >> 1);
	if (ev->type == PF_PFR_CUDA_EVENT) {
		pfr_arg_fixed(m, "event", (int64_t)(uint32_t)ev->v[0]);
		pfr_arg_fixed(m, "context", (int64_t)(uint32_t)ev->v[1]);
		pfr_arg_fixed(m, "stream", (int64_t)(uint32_t)ev->v[2]);
	}
	pf_buf_addc(&m->sink.args.text, '}');
}

static void pfr_note(struct pf_pfr_map *m, enum pf_repair_kind kind);

/*
 * An event whose times were not collected has no place in time: it is kept as
 * a metadata event, so that no figure holds it; past a limit it is skipped.
 */
static void pfr_map_untimed(struct pf_pfr_map *m, const struct pf_pfr_event *ev)
{
	struct pf_batch *b = &m->sink.parsed.batch;

	if (ev->type >= PF_PFR_PUSH || m->untimed >= UNTIMED_MAX) {
		pfr_note(m, PF_SKIP_UNTIMED);
		return;
	}
	/* Events of CUDA have device times only if that was asked for. */
	if (ev->type != PF_PFR_CUDA_EVENT)
		pfr_note(m, PF_REPAIR_UNTIMED);
	m->untimed++;
	untimed_args(m, ev);
	pf_buf_clear(&m->clean);
	pf_buf_addf(&m->clean,
		    "{\"name\":\"%s\",\"ph\":\"M\",\"pid\":\"%s\",\"args\":%s}",
		    untimed_word(ev->type), m->pid, m->sink.args.text.data);
	pf_batch_metadata(b, &m->clean);
}

/*
 * NVTX: a push opens a range and the next pop of the same thread and domain
 * closes the last one that is open; a start opens one that the end with its
 * id closes, on any thread.  A range is stored when it closes.
 *
 * Open ranges lie in a pool; a lane is the stack of one (thread, domain), or
 * the chain of starts whose ids fall together.  Invariant: every range of
 * the pool is free or in exactly one lane.
 */

#define OPEN_MAX  (1u << 20)
#define LANES_MAX (1u << 16)
#define BUCKETS   4096u
#define TEXT_MAX  (64u << 20) /* names that open ranges own */
/*
 * Of one bucket: so many fall together only if the numbers were chosen for
 * it, and then every event would have to look through all of them.
 */
#define LANES_TOGETHER  1024u
#define STARTS_TOGETHER 4096u
#define NONE            UINT32_MAX

struct open_range {
	int64_t start_ns, order, offset, external_id;
	uint64_t tid, domain, category, colour, range_id;
	uint64_t payload_type, payload;
	struct pf_pfr_name name; /* an inline text is owned */
	uint32_t below;          /* in its lane, or in the free list */
};

struct lane {
	uint64_t tid, domain;
	uint32_t top, next; /* next: of its bucket */
	uint64_t too_many;  /* pushes that found no place, still open */
	int64_t last_ns;    /* of its last event */
};

struct pf_pfr_ranges {
	struct open_range *pool;
	size_t count, cap;
	uint32_t free;
	struct lane *lanes;
	size_t lane_count, lanes_cap;
	uint32_t buckets[BUCKETS]; /* lanes by thread and domain */
	uint32_t starts[BUCKETS];  /* ranges by range id */
	uint32_t start_count[BUCKETS];
	size_t text_bytes; /* owned by ranges that are open */
};

static struct pf_pfr_ranges *pfr_ranges_new(void)
{
	struct pf_pfr_ranges *r = pf_calloc(1, sizeof(*r));

	memset(r->buckets, 0xff, sizeof(r->buckets));
	memset(r->starts, 0xff, sizeof(r->starts));
	r->free = NONE;
	return r;
}

static void pfr_ranges_free(struct pf_pfr_ranges *r)
{
	/* Free ranges have no text. */
	for (size_t i = 0; i < r->count; i++)
		free((char *)r->pool[i].name.text);
	free(r->pool);
	free(r->lanes);
	free(r);
}

/* ---- arguments ---- */

static void arg_domain(struct pf_pfr_map *m, uint64_t domain)
{
	struct pf_pfr_text text =
		pf_pfr_keyed_text(&m->file->defs, PF_PFR_DOMAIN, domain);
	struct pf_buf lost = { 0 };

	if (!domain)
		return;
	if (!text.p) {
		pf_buf_addf(&lost, "#%" PRIu64 " (lost)", domain);
		text = (struct pf_pfr_text){ lost.data, lost.len };
	}
	pfr_arg_text(m, "domain", text.p, text.len);
	pf_buf_release(&lost);
}

static void arg_category(struct pf_pfr_map *m, uint64_t domain,
			 uint64_t category)
{
	struct pf_pfr_text text;

	if (!category)
		return;
	text = pf_pfr_keyed_text(&m->file->defs, PF_PFR_CATEGORY,
				 domain << 32 | (uint32_t)category);
	if (text.p)
		pfr_arg_text(m, "category", text.p, text.len);
	else
		pfr_arg_fixed(m, "category", (int64_t)(uint32_t)category);
}

static void arg_payload(struct pf_pfr_map *m, const struct open_range *o)
{
	uint32_t low = (uint32_t)o->payload;
	double real;
	float half;

	switch (o->payload_type) {
	case 1:
		pfr_arg_number(m, "payload", o->payload);
		break;
	case 2:
		pfr_arg_fixed(m, "payload", (int64_t)o->payload);
		break;
	case 3:
		memcpy(&real, &o->payload, sizeof(real));
		pf_argline_real(&m->sink.args, "payload", real);
		break;
	case 4:
		pfr_arg_number(m, "payload", low);
		break;
	case 5:
		pfr_arg_fixed(m, "payload", (int32_t)low);
		break;
	case 6:
		memcpy(&half, &low, sizeof(half));
		pf_argline_real(&m->sink.args, "payload", (double)half);
		break;
	}
}

static void arg_common(struct pf_pfr_map *m, const struct open_range *o)
{
	arg_domain(m, o->domain);
	arg_category(m, o->domain, o->category);
	if (o->colour)
		pf_buf_addf(
			&m->sink.args.text, "%s\"color\":\"#%08" PRIx32 "\"",
			m->sink.args.text.len ? "," : "{", (uint32_t)o->colour);
	arg_payload(m, o);
}

/* ---- names ---- */

static struct pf_pfr_text text_of(struct pf_pfr_map *m,
				  const struct pf_pfr_name *name)
{
	if (name->text)
		return (struct pf_pfr_text){ name->text, name->len };
	return name->id ? pf_pfr_string(&m->file->defs, name->id)
			: (struct pf_pfr_text){ "", 0 };
}

/* ---- storing ---- */

/* Nothing but a name, as most: their arguments are all the same. */
static bool is_bare(const struct open_range *o)
{
	return !o->domain && !o->category && !o->colour && !o->payload_type;
}

static uint32_t range_args(struct pf_pfr_map *m, const struct open_range *o,
			   const struct pf_pfr_torch_name *torch,
			   const char *how_it_ended)
{
	uint32_t *memo = NULL;

	pfr_open_args(m);
	if (!o->range_id) {
		m->sink.args.slots[PF_SLOT_EXTERNAL_ID] = o->external_id;
		m->sink.args.mask = UINT32_C(1) << PF_SLOT_EXTERNAL_ID;
		if (is_bare(o) && !torch && !how_it_ended &&
		    pfr_memo(m, PF_PFR_MEMO_KEY(PF_PFR_MEMO_RANGE_ARGS, 0), 0,
			     &memo))
			return *memo;
		pfr_arg_slot(m, "External id", PF_SLOT_EXTERNAL_ID,
			     o->external_id);
	}
	if (torch)
		pf_kineto_torch(&m->sink.args, torch);
	arg_common(m, o);
	if (how_it_ended)
		pfr_arg_text(m, "end", how_it_ended, strlen(how_it_ended));
	if (memo)
		return *memo = pfr_close_args(m);
	return pfr_close_args(m);
}

static uint32_t pfr_find_name(struct pf_pfr_map *m,
			      const struct pf_pfr_name *name);

static void store_range(struct pf_pfr_map *m, const struct open_range *o,
			int64_t end_ns, const char *how_it_ended)
{
	struct pf_pfr_text text = text_of(m, &o->name);
	struct pf_sink_put put = { .category = PF_PFR_CAT_NVTX,
				   .kind = PF_KIND_CPU_OP,
				   .ph = 'X',
				   .start_ns = o->start_ns,
				   .dur_ns = end_ns - o->start_ns,
				   .back = m->events_before +
					   m->sink.parsed.batch.event_count -
					   o->order };
	struct pf_pfr_torch_name torch;
	bool split =
		text.p && pf_pfr_split_torch_name(text.p, text.len, &torch);

	if (o->range_id) {
		put.kind = PF_KIND_ASYNC;
		put.track = pfr_find_track(m, 'a', 0, 0, "ranges");
	} else {
		put.track = pfr_host_track(m, o->tid);
	}
	if (!o->range_id && pf_pfr_is_step(text.p, text.len)) {
		put.category = PF_PFR_CAT_STEP;
		put.kind = PF_KIND_ANNOTATION;
	}
	if (split && put.kind == PF_KIND_CPU_OP)
		put.category = PF_PFR_CAT_OP;
	put.name = split ? pfr_find_text(m, text.p, torch.name_len)
			 : pfr_find_name(m, &o->name);
	put.args = range_args(m, o, split ? &torch : NULL, how_it_ended);
	pf_sink_store(&m->sink, &put);
}

static void store_mark(struct pf_pfr_map *m, const struct pf_pfr_event *ev,
		       int64_t ns)
{
	const struct open_range o = {
		.domain = ev->v[1],
		.category = ev->v[2],
		.colour = ev->v[3],
		.payload_type = ev->v[5],
		.payload = ev->payload,
	};
	struct pf_sink_put put = { .category = PF_PFR_CAT_NVTX,
				   .kind = PF_KIND_INSTANT,
				   .ph = 'i',
				   .start_ns = ns };

	put.track = pfr_host_track(m, ev->v[0]);
	put.name = pfr_find_name(m, &ev->name);
	pfr_open_args(m);
	arg_common(m, &o);
	put.args = pfr_close_args(m);
	pf_sink_store(&m->sink, &put);
}

/* ---- the pool ---- */

static uint32_t open_one(struct pf_pfr_map *m, const struct pf_pfr_event *ev,
			 int64_t start_ns, uint32_t below)
{
	struct pf_pfr_ranges *r = m->ranges;
	uint32_t i = r->free;

	if (ev->name.text && ev->name.len > TEXT_MAX - r->text_bytes)
		return NONE;
	if (i != NONE) {
		r->free = r->pool[i].below;
	} else if (r->count < OPEN_MAX) {
		r->pool = pf_grow(r->pool, &r->cap, r->count + 1,
				  sizeof(*r->pool));
		i = (uint32_t)r->count++;
	} else {
		return NONE;
	}
	r->pool[i] = (struct open_range){
		.start_ns = start_ns,
		.order = m->events_before + m->sink.parsed.batch.event_count,
		.offset = m->sink.offset,
		.external_id = ++m->next_range_id,
		.tid = ev->v[0],
		.domain = ev->v[1],
		.category = ev->v[2],
		.colour = ev->v[3],
		.range_id = ev->v[4],
		.payload_type = ev->v[5],
		.payload = ev->payload,
		.name = ev->name,
		.below = below,
	};
	if (ev->name.text) {
		r->pool[i].name.text = pf_memdup0(ev->name.text, ev->name.len);
		r->text_bytes += ev->name.len;
	}
	return i;
}

/* Store a range and give its place back; what was below it. */
static uint32_t close_one(struct pf_pfr_map *m, uint32_t i, int64_t end_ns,
			  const char *how_it_ended)
{
	struct pf_pfr_ranges *r = m->ranges;
	struct open_range *o = &r->pool[i];
	uint32_t below = o->below;

	if (end_ns < o->start_ns) {
		pfr_note(m, PF_REPAIR_NEGATIVE_DURATION);
		end_ns = o->start_ns;
	}
	store_range(m, o, end_ns, how_it_ended);
	if (o->name.text)
		r->text_bytes -= o->name.len;
	free((char *)o->name.text);
	o->name.text = NULL;
	o->below = r->free;
	r->free = i;
	return below;
}

/* ---- lanes ---- */

static uint32_t bucket_of(uint64_t a, uint64_t b)
{
	uint64_t hash = (a * UINT64_C(0x9e3779b97f4a7c15) ^ b) *
			UINT64_C(0xd6e8feb86659fd93);

	return (uint32_t)(hash >> 40) & (BUCKETS - 1);
}

/* NULL: there are too many. */
static struct lane *find_lane(struct pf_pfr_ranges *r, uint64_t tid,
			      uint64_t domain)
{
	uint32_t bucket = bucket_of(tid, domain), together = 0;

	for (uint32_t i = r->buckets[bucket]; i != NONE; i = r->lanes[i].next) {
		if (r->lanes[i].tid == tid && r->lanes[i].domain == domain)
			return &r->lanes[i];
		together++;
	}
	if (r->lane_count == LANES_MAX || together >= LANES_TOGETHER)
		return NULL;
	r->lanes = pf_grow(r->lanes, &r->lanes_cap, r->lane_count + 1,
			   sizeof(*r->lanes));
	r->lanes[r->lane_count] = (struct lane){ .tid = tid,
						 .domain = domain,
						 .top = NONE,
						 .next = r->buckets[bucket] };
	r->buckets[bucket] = (uint32_t)r->lane_count;
	return &r->lanes[r->lane_count++];
}

static void push(struct pf_pfr_map *m, struct lane *lane,
		 const struct pf_pfr_event *ev, int64_t ns)
{
	uint32_t i =
		lane && !lane->too_many ? open_one(m, ev, ns, lane->top) : NONE;

	if (i != NONE) {
		lane->top = i;
		return;
	}
	if (lane)
		lane->too_many++;
	pfr_note(m, PF_SKIP_TOO_LARGE);
}

static void pop(struct pf_pfr_map *m, struct lane *lane, int64_t ns)
{
	if (lane && lane->too_many) {
		lane->too_many--;
		pfr_note(m, PF_SKIP_TOO_LARGE);
	} else if (lane && lane->top != NONE) {
		lane->top = close_one(m, lane->top, ns, NULL);
		m->sink.parsed.batch.paired_count++;
	} else {
		pfr_note(m, PF_SKIP_LONE_END);
	}
}

static void start(struct pf_pfr_map *m, const struct pf_pfr_event *ev,
		  int64_t ns)
{
	struct pf_pfr_ranges *r = m->ranges;
	uint32_t bucket = bucket_of(ev->v[4], 0), i = NONE;

	if (ev->v[4] && r->start_count[bucket] < STARTS_TOGETHER)
		i = open_one(m, ev, ns, r->starts[bucket]);
	if (i == NONE) {
		pfr_note(m, ev->v[4] ? PF_SKIP_TOO_LARGE : PF_SKIP_MALFORMED);
		return;
	}
	r->starts[bucket] = i;
	r->start_count[bucket]++;
}

static void end(struct pf_pfr_map *m, const struct pf_pfr_event *ev, int64_t ns)
{
	struct pf_pfr_ranges *r = m->ranges;
	uint32_t bucket = bucket_of(ev->v[4], 0), i;
	uint32_t *link = &r->starts[bucket];

	while (*link != NONE && r->pool[*link].range_id != ev->v[4])
		link = &r->pool[*link].below;
	i = *link;
	if (i == NONE) {
		pfr_note(m, PF_SKIP_LONE_END);
		return;
	}
	*link = close_one(m, i, ns, NULL);
	r->start_count[bucket]--;
	m->sink.parsed.batch.paired_count++;
}

static void pfr_map_nvtx(struct pf_pfr_map *m, const struct pf_pfr_event *ev)
{
	struct pf_sink_put put;
	struct lane *lane = NULL;

	if (!pfr_times(m, ev, &put))
		return;
	if (ev->type == PF_PFR_PUSH || ev->type == PF_PFR_POP)
		lane = find_lane(m->ranges, ev->v[0], ev->v[1]);
	if (lane)
		lane->last_ns = put.start_ns;
	switch (ev->type) {
	case PF_PFR_PUSH:
		push(m, lane, ev, put.start_ns);
		break;
	case PF_PFR_POP:
		pop(m, lane, put.start_ns);
		break;
	case PF_PFR_RSTART:
		start(m, ev, put.start_ns);
		break;
	case PF_PFR_REND:
		end(m, ev, put.start_ns);
		break;
	default:
		store_mark(m, ev, put.start_ns);
	}
}

/* ---- what stays open ---- */

static void close_lane(struct pf_pfr_map *m, struct lane *lane, int64_t end_ns,
		       enum pf_repair_kind kind, const char *how_it_ended)
{
	while (lane->top != NONE) {
		pf_repair_note(&m->sink.parsed.batch.repairs, kind, 1,
			       m->ranges->pool[lane->top].offset);
		lane->top = close_one(m, lane->top, end_ns, how_it_ended);
	}
	lane->too_many = 0;
}

/* Frames are missing: nothing says which ranges are still open. */
static void pfr_ranges_tear(struct pf_pfr_map *m)
{
	struct pf_pfr_ranges *r = m->ranges;

	/* Range ids are unique: only the stacks are torn. */
	for (size_t i = 0; i < r->lane_count; i++)
		close_lane(m, &r->lanes[i], r->lanes[i].last_ns,
			   PF_REPAIR_TORN_RANGE, "lost");
}

static void pfr_ranges_close(struct pf_pfr_map *m)
{
	struct pf_pfr_ranges *r = m->ranges;

	for (size_t i = 0; i < r->lane_count; i++)
		close_lane(m, &r->lanes[i], m->sink.last_ns,
			   PF_REPAIR_OPEN_RANGE, "open");
	for (size_t b = 0; b < BUCKETS; b++)
		while (r->starts[b] != NONE) {
			pf_repair_note(&m->sink.parsed.batch.repairs,
				       PF_REPAIR_OPEN_RANGE, 1,
				       r->pool[r->starts[b]].offset);
			r->starts[b] = close_one(m, r->starts[b],
						 m->sink.last_ns, "open");
		}
}

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
	m->ranges = pfr_ranges_new();
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
	pfr_ranges_free(m->ranges);
	pf_buf_release(&m->clean);
}

void pf_pfr_map_begin(struct pf_pfr_map *m)
{
	m->events_before += m->sink.parsed.batch.event_count;
	pf_sink_begin(&m->sink);
}

/* Count what was lost, at the frame at hand. */
static void pfr_note(struct pf_pfr_map *m, enum pf_repair_kind kind)
{
	pf_sink_note(&m->sink, kind);
}

/*
 * A place for an entry under a key, in this generation: true if it is there.
 * Else write to *entry what the key stands for.
 */
static bool pfr_memo(struct pf_pfr_map *m, uint64_t a, uint64_t b,
		     uint32_t **entry)
{
	return pf_memo_find(&m->sink.memos, a, b, entry);
}

/* ---- texts ---- */

/* Entries of texts. */
static uint32_t pfr_find_text(struct pf_pfr_map *m, const char *text,
			      size_t len)
{
	return pf_sink_text(&m->sink, text, len);
}

static uint32_t pfr_find_lost(struct pf_pfr_map *m, uint64_t id)
{
	char text[40];
	int n = snprintf(text, sizeof(text), "#%" PRIu64 " (lost)", id);

	pfr_note(m, PF_REPAIR_LOST_NAME);
	return pfr_find_text(m, text, (size_t)n);
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

static uint32_t pfr_find_name(struct pf_pfr_map *m,
			      const struct pf_pfr_name *name)
{
	struct pf_pfr_text text;
	uint32_t *entry;

	if (!resolve(m, name, &text))
		return pfr_find_lost(m, name->id);
	if (!name->id)
		return pfr_find_text(m, text.p, text.len);
	if (!pfr_memo(m, PF_PFR_MEMO_KEY(PF_PFR_MEMO_NAME, 0), name->id,
		      &entry))
		*entry = pfr_find_text(m, text.p, text.len);
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
		return pfr_find_text(m, text->p, text->len);
	plain = demangle(m, text);
	if (plain)
		return pfr_find_text(m, plain, strlen(plain));
	return pfr_find_text(m, text->p, text->len);
}

static uint32_t pfr_find_kernel(struct pf_pfr_map *m,
				const struct pf_pfr_name *name)
{
	struct pf_pfr_text text;
	uint32_t *entry;

	if (!resolve(m, name, &text))
		return pfr_find_lost(m, name->id);
	if (!name->id)
		return find_demangled(m, &text);
	if (!pfr_memo(m, PF_PFR_MEMO_KEY(PF_PFR_MEMO_KERNEL_NAME, 0), name->id,
		      &entry))
		*entry = find_demangled(m, &text);
	return *entry;
}

/* ---- tracks ---- */

/* Tracks: class letter of formats/batch.h; PF_PFR_NOWHERE is "". */
static uint32_t pfr_find_track(struct pf_pfr_map *m, char letter, uint64_t pid,
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

static uint32_t pfr_host_track(struct pf_pfr_map *m, uint64_t tid)
{
	uint32_t *entry;

	if (!pfr_memo(m, PF_PFR_MEMO_KEY(PF_PFR_MEMO_HOST_TRACK, 0), tid,
		      &entry))
		*entry = pfr_find_track(m, 'h', 0, (int64_t)tid, NULL);
	return *entry;
}

static uint32_t pfr_gpu_track(struct pf_pfr_map *m, uint64_t device,
			      uint64_t stream)
{
	bool none = stream == UINT32_MAX;
	uint32_t *entry;

	/* A number that no device has must not look like PF_PFR_NOWHERE. */
	if (device != PF_PFR_NOWHERE)
		device &= INT32_MAX;
	if (!pfr_memo(
		    m,
		    PF_PFR_MEMO_KEY(PF_PFR_MEMO_GPU_TRACK, device & UINT32_MAX),
		    stream, &entry))
		*entry = pfr_find_track(m, 'g', device,
					none ? -1 : (int64_t)stream, NULL);
	return *entry;
}

/* The device of a context; PF_PFR_NOWHERE if the file does not say. */
static uint64_t pfr_device_of(struct pf_pfr_map *m, uint64_t context)
{
	int64_t device = pf_pfr_info_int(m->file, "context", context, "dev");

	return device < 0 ? PF_PFR_NOWHERE : (uint64_t)device;
}

/* ---- arguments ---- */

/*
 * Start a new event: no slots.  Then set them; each call that writes an
 * argument appends ,"key":value or a slot's place holder to m->text.
 */
static void pfr_open_args(struct pf_pfr_map *m)
{
	pf_argline_open(&m->sink.args);
}

static void pfr_arg_slot(struct pf_pfr_map *m, const char *name,
			 enum pf_slot slot, int64_t value)
{
	pf_argline_slot(&m->sink.args, name, slot, value);
}

/* A number that differs from event to event but has no slot of its own. */
static void pfr_arg_number(struct pf_pfr_map *m, const char *name,
			   uint64_t value)
{
	pf_argline_number(&m->sink.args, name, value);
}

static void pfr_arg_fixed(struct pf_pfr_map *m, const char *name, int64_t value)
{
	pf_argline_fixed(&m->sink.args, name, value);
}

/* A long text is cut and ends with "...". */
static void pfr_arg_text(struct pf_pfr_map *m, const char *name,
			 const char *text, size_t len)
{
	pf_argline_text(&m->sink.args, name, text, len);
}

/* A name of the file, if it is not empty. */
static void pfr_arg_name(struct pf_pfr_map *m, const char *name,
			 const struct pf_pfr_name *value)
{
	struct pf_pfr_text text;
	char lost[40];

	if (!value->id && !value->len)
		return;
	if (resolve(m, value, &text)) {
		pfr_arg_text(m, name, text.p, text.len);
		return;
	}
	snprintf(lost, sizeof(lost), "#%" PRIu64 " (lost)", value->id);
	pfr_note(m, PF_REPAIR_LOST_NAME);
	pfr_arg_text(m, name, lost, strlen(lost));
}

/* The entry of the arguments written. */
static uint32_t pfr_close_args(struct pf_pfr_map *m)
{
	return pf_argline_close(&m->sink.args, &m->sink.parsed.args);
}

/* ---- events ---- */

/*
 * Times of an event on the trace's clock; false if it cannot be stored, and
 * then it has been counted as skipped.
 */
static bool pfr_times(struct pf_pfr_map *m, const struct pf_pfr_event *ev,
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
	pfr_note(m, PF_SKIP_RECORD_TYPE);
}

static void (*const mappers[PF_PFR_EVENT_TYPES])(
	struct pf_pfr_map *, const struct pf_pfr_event *) = {
	[PF_PFR_KERNEL] = pfr_map_kernel,
	[PF_PFR_KERNEL_INLINE] = pfr_map_kernel,
	[PF_PFR_MEMCPY] = pfr_map_copy,
	[PF_PFR_MEMSET] = pfr_map_fill,
	[PF_PFR_API] = pfr_map_call,
	[PF_PFR_SYNC] = pfr_map_sync,
	[PF_PFR_CUDA_EVENT] = pfr_map_event,
	[PF_PFR_OVERHEAD] = pfr_map_overhead,
	[PF_PFR_MEMORY] = pfr_map_memory,
	[PF_PFR_GRAPH] = pfr_map_graph,
	[PF_PFR_JIT] = pfr_map_jit,
	[PF_PFR_INTERNAL] = pfr_map_internal,
	[PF_PFR_UVM] = pfr_map_uvm,
	[PF_PFR_ENV] = pfr_map_environment,
	[PF_PFR_EXTCORR] = skip_type,
	[PF_PFR_PUSH] = pfr_map_nvtx,
	[PF_PFR_POP] = pfr_map_nvtx,
	[PF_PFR_MARK] = pfr_map_nvtx,
	[PF_PFR_RSTART] = pfr_map_nvtx,
	[PF_PFR_REND] = pfr_map_nvtx,
};

void pf_pfr_map_frame(struct pf_pfr_map *m, const struct pf_pfr_frame *frame)
{
	struct pf_pfr_event ev;
	struct pf_pfr_body body;
	enum pf_pfr_got got;

	m->sink.offset = frame->offset;
	m->is_realtime = frame->flags & PF_PFR_IS_REALTIME;
	if (frame->after_a_gap)
		pfr_ranges_tear(m);
	if (m->is_realtime && !m->file->clock.count)
		pfr_note(m, PF_REPAIR_NO_CLOCK);
	if (!pf_pfr_body_init(&body, frame->payload, frame->len)) {
		pfr_note(m, PF_REPAIR_BAD_FRAME);
		return;
	}
	while ((got = pf_pfr_body_next(&body, &ev)) != PF_PFR_GOT_END) {
		if (got == PF_PFR_GOT_EVENT && ev.untimed)
			pfr_map_untimed(m, &ev);
		else if (got == PF_PFR_GOT_EVENT)
			mappers[ev.type](m, &ev);
		else if (got == PF_PFR_GOT_UNKNOWN)
			pfr_note(m, PF_SKIP_RECORD_TYPE);
		else
			pfr_note(m, PF_SKIP_MALFORMED);
		m->sink.parsed.batch.event_count++;
		if (got == PF_PFR_GOT_CUT)
			break;
	}
}

void pf_pfr_map_finish(struct pf_pfr_map *m)
{
	pfr_ranges_close(m);
}
