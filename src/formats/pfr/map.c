/* SPDX-License-Identifier: MIT */
/*
 * Dictionary entries are found once and remembered in a table of memos; when
 * a dictionary is emptied the generation changes and all memos are void.
 */
#include "config.h"

#include "formats/pfr/map.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/demangle.h"
#include "base/mem.h"
#include "formats/pfr/kineto.h"

#define NOWHERE UINT64_MAX /* a device or stream that is not known */

/* ---- texts ---- */

static void forget_mangled(struct pf_pfr_map *m)
{
	for (size_t i = 0; i < m->mangled.count; i++)
		free(m->demangled[i]);
	pf_dict_clear(&m->mangled);
}

static uint32_t find_lost(struct pf_pfr_map *m, uint64_t id)
{
	char text[40];

	snprintf(text, sizeof(text), "#%" PRIu64 " (lost)", id);
	pf_sink_note(&m->sink, PF_REPAIR_LOST_NAME);
	return pf_sink_word(&m->sink, text);
}

/* The bytes of a name; false: it was never defined. */
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

static uint32_t find_name(struct pf_pfr_map *m, const struct pf_pfr_name *name)
{
	struct pf_pfr_text text;
	uint32_t *entry;

	if (!resolve(m, name, &text))
		return find_lost(m, name->id);
	if (!name->id)
		return pf_sink_text(&m->sink, text.p, text.len);
	if (!pf_sink_memo(&m->sink, PF_MEMO_NAME, 0, name->id, &entry))
		*entry = pf_sink_text(&m->sink, text.p, text.len);
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
		return pf_sink_text(&m->sink, text->p, text->len);
	plain = demangle(m, text);
	if (plain)
		return pf_sink_word(&m->sink, plain);
	return pf_sink_text(&m->sink, text->p, text->len);
}

static uint32_t find_kernel(struct pf_pfr_map *m,
			    const struct pf_pfr_name *name)
{
	struct pf_pfr_text text;
	uint32_t *entry;

	if (!resolve(m, name, &text))
		return find_lost(m, name->id);
	if (!name->id)
		return find_demangled(m, &text);
	if (!pf_sink_memo(&m->sink, PF_MEMO_KERNEL, 0, name->id, &entry))
		*entry = find_demangled(m, &text);
	return *entry;
}

/* ---- tracks ---- */

/* Tracks: class letter of formats/batch.h; NOWHERE is "". */
static uint32_t find_track(struct pf_pfr_map *m, char letter, uint64_t pid,
			   int64_t tid, const char *tid_text)
{
	char device[24] = "", number[24];
	const char *owner = m->pid;

	if (letter != 'h' && letter != 'a') {
		if (pid != NOWHERE)
			snprintf(device, sizeof(device), "%" PRIu64, pid);
		owner = device;
	}
	snprintf(number, sizeof(number), "%" PRId64, tid);
	return pf_sink_track(&m->sink, letter, owner,
			     tid_text ? tid_text : number);
}

static uint32_t host_track(struct pf_pfr_map *m, uint64_t tid)
{
	uint32_t *entry;

	if (!pf_sink_memo(&m->sink, PF_MEMO_HOST_TRACK, 0, tid, &entry))
		*entry = find_track(m, 'h', 0, (int64_t)tid, NULL);
	return *entry;
}

static uint32_t gpu_track(struct pf_pfr_map *m, uint64_t device,
			  uint64_t stream)
{
	bool none = stream == UINT32_MAX;
	uint32_t *entry;

	/* A number that no device has must not look like NOWHERE. */
	if (device != NOWHERE)
		device &= INT32_MAX;
	if (!pf_sink_memo(&m->sink, PF_MEMO_GPU_TRACK, device & UINT32_MAX,
			  stream, &entry))
		*entry = find_track(m, 'g', device, none ? -1 : (int64_t)stream,
				    NULL);
	return *entry;
}

/* The device of a context; NOWHERE if the file does not say. */
static uint64_t device_of(struct pf_pfr_map *m, uint64_t context)
{
	int64_t device = pf_pfr_info_int(m->file, "context", context, "dev");

	return device < 0 ? NOWHERE : (uint64_t)device;
}

/* ---- arguments ---- */

/* A name of the file, if it is not empty. */
static void arg_name(struct pf_pfr_map *m, const char *name,
		     const struct pf_pfr_name *value)
{
	struct pf_pfr_text text;
	char lost[40];

	if (!value->id && !value->len)
		return;
	if (resolve(m, value, &text)) {
		pf_argline_text(&m->sink.args, name, text.p, text.len);
		return;
	}
	snprintf(lost, sizeof(lost), "#%" PRIu64 " (lost)", value->id);
	pf_sink_note(&m->sink, PF_REPAIR_LOST_NAME);
	pf_argline_text(&m->sink.args, name, lost, strlen(lost));
}

/* ---- events ---- */

/*
 * Times of an event on the trace's clock; false if it cannot be stored, and
 * then it has been counted as skipped.
 */
static bool times(struct pf_pfr_map *m, const struct pf_pfr_event *ev,
		  struct pf_sink_put *put)
{
	int64_t start = ev->start_ns, end = ev->end_ns;

	if (m->is_realtime) {
		start = pf_pfr_clock_monotonic(&m->file->clock, start);
		end = pf_pfr_clock_monotonic(&m->file->clock, end);
	}
	return pf_sink_times(&m->sink, start, end, put);
}

/* What runs on a device: kernels, graphs, copies, fills, synchronisation. */

#define NO_STREAM UINT32_MAX

static void arg_device(struct pf_argline *a, uint64_t device)
{
	if (device != NOWHERE)
		pf_argline_fixed(a, "device", (int64_t)(uint32_t)device);
}

static void arg_stream(struct pf_argline *a, uint64_t stream)
{
	pf_argline_fixed(a, "stream",
			 stream == NO_STREAM ? -1 : (int64_t)(uint32_t)stream);
}

static void arg_correlation(struct pf_argline *a, const struct pf_pfr_event *ev)
{
	pf_argline_slot(a, "correlation", PF_SLOT_CORRELATION,
			(int64_t)ev->correlation);
}

static void arg_place(struct pf_argline *a, const struct pf_pfr_event *ev,
		      const uint64_t *place)
{
	arg_device(a, place[0]);
	pf_argline_fixed(a, "context", (int64_t)(uint32_t)place[1]);
	arg_stream(a, place[2]);
	arg_correlation(a, ev);
}

static void arg_graph(struct pf_argline *a, uint64_t node, uint64_t graph)
{
	if (graph)
		pf_argline_number(a, "graph id", graph);
	if (node)
		pf_argline_number(a, "graph node id", node);
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

/* place: device, context, stream, graph node, graph, channel, queued, ... */
static void arg_kernel_rest(struct pf_pfr_map *m, const struct pf_pfr_event *ev,
			    const uint64_t *place, unsigned count)
{
	static const char *const keys[] = { "queued", "submitted" };

	arg_graph(&m->sink.args, place[3], place[4]);
	for (unsigned i = 6; i < count && i < 8; i++) {
		/* Wraps on hostile numbers, so that it is defined. */
		int64_t ns = (int64_t)((uint64_t)ev->start_ns +
				       (uint64_t)pf_wire_unzigzag(place[i]));

		if (m->is_realtime)
			ns = pf_pfr_clock_monotonic(&m->file->clock, ns);
		if (ns > 0)
			pf_argline_number(&m->sink.args, keys[i - 6],
					  (uint64_t)ns);
	}
}

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
	return pf_sink_memo(&m->sink, PF_MEMO_KERNEL_ARGS,
			    graphs << 48 | place[0] << 40 | place[1] << 24 |
				    place[2],
			    ev->v[0], memo);
}

/* The slots of such a kernel, as arg_place() and arg_kernel_rest() do. */
static void set_kernel_slots(struct pf_argline *a,
			     const struct pf_pfr_event *ev,
			     const uint64_t *place)
{
	const uint64_t numbers[] = { place[4], place[3] };

	pf_argline_set(a, PF_SLOT_CORRELATION, (int64_t)ev->correlation);
	for (int i = 0; i < 2; i++)
		if (numbers[i])
			pf_argline_set(
				a,
				(enum pf_slot)(PF_SLOT_GENERIC + a->generic++),
				(int64_t)(numbers[i] << 4));
}

static void map_kernel(struct pf_pfr_map *m, const struct pf_pfr_event *ev,
		       struct pf_argline *a, struct pf_sink_put *put)
{
	bool is_inline = ev->type == PF_PFR_KERNEL_INLINE;
	const uint64_t *place = ev->v + !is_inline;
	const struct pf_pfr_launch *l =
		is_inline ? &ev->launch
			  : pf_pfr_launch_of(&m->file->defs, ev->v[0]);
	uint32_t *memo;

	put->name = l ? find_kernel(m, &l->name) : find_lost(m, ev->v[0]);
	put->track = gpu_track(m, place[0], place[2]);
	if (kernel_memo(m, ev, place, &memo)) {
		set_kernel_slots(a, ev, place);
		put->args = *memo;
		return;
	}
	arg_place(a, ev, place);
	if (l)
		arg_launch(m, l, place[0]);
	arg_kernel_rest(m, ev, place, ev->count - !is_inline);
	put->args = pf_argline_close(a, &m->sink.parsed.args);
	if (memo)
		*memo = put->args;
}

static void map_graph(struct pf_pfr_map *m, const struct pf_pfr_event *ev,
		      struct pf_argline *a, struct pf_sink_put *put)
{
	char name[40];

	snprintf(name, sizeof(name), "graph %" PRIu64, ev->v[0]);
	put->name = pf_sink_word(&m->sink, name);
	put->track = gpu_track(m, ev->v[1], ev->v[3]);
	arg_place(a, ev, ev->v + 1);
	pf_argline_number(a, "graph id", ev->v[0]);
	pf_buf_adds(&a->text, ",\"whole graph\":true");
}

/* ---- copies and fills ---- */

static uint32_t copy_name(struct pf_pfr_map *m, uint64_t kind, uint64_t places)
{
	uint32_t *entry;
	char text[96];

	if (kind > 255)
		kind = 255;
	if (pf_sink_memo(&m->sink, PF_MEMO_COPY, kind, places, &entry))
		return *entry;
	snprintf(text, sizeof(text), "Memcpy %s (%s -> %s)",
		 pf_pfr_copy_word(kind), pf_pfr_memory_word(places >> 4),
		 pf_pfr_memory_word(places & 15));
	return *entry = pf_sink_word(&m->sink, text);
}

/* bytes, kind, places, flags, device, context, stream, node, peers, graph */
static void map_copy(struct pf_pfr_map *m, const struct pf_pfr_event *ev,
		     struct pf_argline *a, struct pf_sink_put *put)
{
	const uint64_t *v = ev->v;

	put->name = copy_name(m, v[1], v[2]);
	put->track = gpu_track(m, v[4], v[6]);
	arg_place(a, ev, v + 4);
	pf_kineto_bytes(a, v[0], put->dur_ns);
	if (ev->count >= 10 && v[8] != v[9]) {
		pf_argline_fixed(a, "fromDevice", (int64_t)(uint32_t)v[8]);
		pf_argline_fixed(a, "toDevice", (int64_t)(uint32_t)v[9]);
	}
	arg_graph(a, v[7], v[10]);
}

/* bytes, value, memory kind, device, context, stream, node, graph */
static void map_fill(struct pf_pfr_map *m, const struct pf_pfr_event *ev,
		     struct pf_argline *a, struct pf_sink_put *put)
{
	const uint64_t *v = ev->v;
	char text[64];

	snprintf(text, sizeof(text), "Memset (%s)", pf_pfr_memory_word(v[2]));
	put->name = pf_sink_word(&m->sink, text);
	put->track = gpu_track(m, v[3], v[5]);
	arg_place(a, ev, v + 3);
	pf_kineto_bytes(a, v[0], put->dur_ns);
	arg_graph(a, v[6], v[7]);
}

/* ---- synchronisation: type, context, stream, event, sync id, result ---- */

static void map_sync(struct pf_pfr_map *m, const struct pf_pfr_event *ev,
		     struct pf_argline *a, struct pf_sink_put *put)
{
	const char *word = pf_pfr_sync_word(ev->v[0]);
	uint64_t device = device_of(m, ev->v[1]);

	put->name = pf_sink_word(&m->sink, word);
	put->track = gpu_track(m, device, ev->v[2]);
	pf_argline_text(a, "cuda_sync_kind", word, strlen(word));
	if (ev->v[3] != UINT32_MAX)
		pf_argline_number(a, "wait_on_cuda_event_id", ev->v[3]);
	arg_stream(a, ev->v[2]);
	arg_correlation(a, ev);
	arg_device(a, device);
	pf_argline_fixed(a, "context", (int64_t)(uint32_t)ev->v[1]);
	if (ev->v[5])
		pf_argline_fixed(a, "return value",
				 (int64_t)(uint32_t)ev->v[5]);
}

/* What happens on the host, and what is no span at all. */

/* ---- calls: cbid << 1 | driver, thread, result ---- */

static uint32_t call_name(struct pf_pfr_map *m, uint64_t call)
{
	struct pf_pfr_text text;
	uint32_t *entry;

	text = pf_pfr_keyed_text(&m->file->defs, PF_PFR_CBID, call);
	if (!text.p)
		return find_lost(m, call >> 1);
	if (pf_sink_memo(&m->sink, PF_MEMO_CALL, 0, call, &entry))
		return *entry;
	pf_pfr_call_stem(&text.p, &text.len);
	return *entry = pf_sink_text(&m->sink, text.p, text.len);
}

static void map_call(struct pf_pfr_map *m, const struct pf_pfr_event *ev,
		     struct pf_argline *a, struct pf_sink_put *put)
{
	uint32_t *memo;

	if (ev->v[0] & 1)
		pf_sink_is(put, PF_CAT_DRIVER);
	put->name = call_name(m, ev->v[0]);
	put->track = host_track(m, ev->v[1]);
	pf_argline_set(a, PF_SLOT_CORRELATION, (int64_t)ev->correlation);
	if (!pf_sink_memo(&m->sink, PF_MEMO_CALL_ARGS, ev->v[2] & UINT32_MAX,
			  ev->v[0], &memo)) {
		pf_argline_fixed(a, "cbid", (int64_t)(ev->v[0] >> 1));
		arg_correlation(a, ev);
		if (ev->v[2])
			pf_argline_fixed(a, "return value",
					 (int64_t)(uint32_t)ev->v[2]);
		*memo = pf_argline_close(a, &m->sink.parsed.args);
	}
	put->args = *memo;
}

/* ---- overhead ---- */

static void put_overhead(struct pf_pfr_map *m, const struct pf_pfr_event *ev,
			 const char *word, uint64_t tid, struct pf_argline *a,
			 struct pf_sink_put *put)
{
	put->name = pf_sink_word(&m->sink, word);
	put->track = host_track(m, tid);
	if (ev->correlation)
		arg_correlation(a, ev);
}

/* kind, object kind (2: a thread), its ids */
static void map_overhead(struct pf_pfr_map *m, const struct pf_pfr_event *ev,
			 struct pf_argline *a, struct pf_sink_put *put)
{
	put_overhead(m, ev, pf_pfr_overhead_word(ev->v[0]),
		     ev->v[1] == 2 ? ev->v[3] : 0, a, put);
}

static void map_internal(struct pf_pfr_map *m, const struct pf_pfr_event *ev,
			 struct pf_argline *a, struct pf_sink_put *put)
{
	put_overhead(m, ev, "Internal Launch", ev->v[1], a, put);
}

/* entry, operation, device, thread */
static void map_jit(struct pf_pfr_map *m, const struct pf_pfr_event *ev,
		    struct pf_argline *a, struct pf_sink_put *put)
{
	static const char *const words[] = { "JIT", "JIT Cache Load",
					     "JIT Cache Store", "JIT Compile" };

	put_overhead(m, ev, words[ev->v[1] < 4 ? ev->v[1] : 0], ev->v[3], a,
		     put);
}

/* ---- instants of a device ---- */

static uint32_t mark_track(struct pf_pfr_map *m, uint64_t device,
			   const char *what)
{
	return find_track(m, 'm', device, 0, what);
}

/* event, context, stream, device, sync id */
static void map_event(struct pf_pfr_map *m, const struct pf_pfr_event *ev,
		      struct pf_argline *a, struct pf_sink_put *put)
{
	put->name = pf_sink_word(&m->sink, "cudaEventRecord");
	put->track = mark_track(m, ev->v[3], "events");
	pf_argline_number(a, "event", ev->v[0]);
	arg_correlation(a, ev);
	pf_argline_fixed(a, "context", (int64_t)(uint32_t)ev->v[1]);
	pf_argline_fixed(a, "on stream", (int64_t)(uint32_t)ev->v[2]);
}

/*
 * operation, memory kind, address, bytes, device, context, stream, is
 * asynchronous, pool type, pool address, pc
 */
static void map_memory(struct pf_pfr_map *m, const struct pf_pfr_event *ev,
		       struct pf_argline *a, struct pf_sink_put *put)
{
	static const char *const words[] = { "Memory", "Allocate", "Free" };
	const uint64_t *v = ev->v;
	char text[64];

	snprintf(text, sizeof(text), "%s (%s)", words[v[0] < 3 ? v[0] : 0],
		 pf_pfr_memory_word(v[1]));
	put->name = pf_sink_word(&m->sink, text);
	put->track = mark_track(m, v[4], "memory");
	if (v[3] <= INT64_MAX)
		pf_argline_slot(a, "bytes", PF_SLOT_BYTES, (int64_t)v[3]);
	pf_argline_address(a, "ptr", v[2]);
	arg_correlation(a, ev);
	pf_argline_fixed(a, "context", (int64_t)(uint32_t)v[5]);
	pf_argline_fixed(a, "on stream",
			 v[6] == UINT32_MAX ? -1 : (int64_t)(uint32_t)v[6]);
	pf_argline_fixed(a, "asynchronous", v[7] != 0);
	if (v[9])
		pf_argline_number(a, "pool", v[9]);
	arg_name(m, "name", &ev->name);
}

/* kind, value, address, source, destination */
static void map_uvm(struct pf_pfr_map *m, const struct pf_pfr_event *ev,
		    struct pf_argline *a, struct pf_sink_put *put)
{
	put->name = pf_sink_word(&m->sink, "Unified memory");
	put->track = mark_track(m, ev->v[4], "unified memory");
	pf_argline_fixed(a, "kind", (int64_t)(uint32_t)ev->v[0]);
	pf_argline_number(a, "value", ev->v[1]);
	pf_argline_number(a, "address", ev->v[2]);
	pf_argline_number(a, "dur (ns)", (uint64_t)put->dur_ns);
	put->dur_ns = 0;
	pf_argline_fixed(a, "source", (int64_t)(uint32_t)ev->v[3]);
}

/* device, kind, four words of data */
static void map_environment(struct pf_pfr_map *m, const struct pf_pfr_event *ev,
			    struct pf_argline *a, struct pf_sink_put *put)
{
	static const char *const words[] = { "Environment", "Clocks",
					     "Temperature", "Power", "Fan" };
	static const char *const keys[] = { "data0", "data1", "data2",
					    "data3" };

	put->name = pf_sink_word(&m->sink, words[ev->v[1] < 5 ? ev->v[1] : 0]);
	put->track = find_track(m, 'c', ev->v[0], 0, "");
	for (int i = 0; i < 4; i++)
		pf_argline_number(a, keys[i], ev->v[2 + i]);
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
	struct pf_argline *a = &m->sink.args;
	const uint64_t *place = untimed_place(ev);

	pf_argline_open(a);
	pf_argline_fixed(a, "correlation", (int64_t)(uint32_t)ev->correlation);
	if (place) {
		pf_argline_fixed(a, "device", (int64_t)(uint32_t)place[0]);
		pf_argline_fixed(a, "context", (int64_t)(uint32_t)place[1]);
		pf_argline_fixed(a, "stream", (int64_t)(uint32_t)place[2]);
	}
	if (ev->type == PF_PFR_KERNEL)
		pf_argline_fixed(a, "launch", (int64_t)(uint32_t)ev->v[0]);
	if (ev->type == PF_PFR_API)
		pf_argline_fixed(a, "cbid", (int64_t)(uint32_t)ev->v[0] >> 1);
	if (ev->type == PF_PFR_CUDA_EVENT) {
		pf_argline_fixed(a, "event", (int64_t)(uint32_t)ev->v[0]);
		pf_argline_fixed(a, "context", (int64_t)(uint32_t)ev->v[1]);
		pf_argline_fixed(a, "stream", (int64_t)(uint32_t)ev->v[2]);
	}
	pf_buf_addc(&a->text, '}');
}

/*
 * An event whose times were not collected has no place in time: it is kept as
 * a metadata event, so that no figure holds it; past a limit it is skipped.
 */
static void map_untimed(struct pf_pfr_map *m, const struct pf_pfr_event *ev)
{
	struct pf_batch *b = &m->sink.parsed.batch;

	if (ev->type >= PF_PFR_PUSH || m->untimed >= UNTIMED_MAX) {
		pf_sink_note(&m->sink, PF_SKIP_UNTIMED);
		return;
	}
	/* Events of CUDA have device times only if that was asked for. */
	if (ev->type != PF_PFR_CUDA_EVENT)
		pf_sink_note(&m->sink, PF_REPAIR_UNTIMED);
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

static struct pf_pfr_ranges *ranges_new(void)
{
	struct pf_pfr_ranges *r = pf_calloc(1, sizeof(*r));

	memset(r->buckets, 0xff, sizeof(r->buckets));
	memset(r->starts, 0xff, sizeof(r->starts));
	r->free = NONE;
	return r;
}

static void ranges_free(struct pf_pfr_ranges *r)
{
	/* Free ranges have no text. */
	for (size_t i = 0; i < r->count; i++)
		free((char *)r->pool[i].name.text);
	free(r->pool);
	free(r->lanes);
	free(r);
}

/* ---- arguments of ranges ---- */

static void arg_domain(struct pf_pfr_map *m, uint64_t domain)
{
	struct pf_pfr_text text =
		pf_pfr_keyed_text(&m->file->defs, PF_PFR_DOMAIN, domain);
	PF_AUTO(pf_buf_release) struct pf_buf lost = { 0 };

	if (!domain)
		return;
	if (!text.p) {
		pf_buf_addf(&lost, "#%" PRIu64 " (lost)", domain);
		text = (struct pf_pfr_text){ lost.data, lost.len };
	}
	pf_argline_text(&m->sink.args, "domain", text.p, text.len);
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
		pf_argline_text(&m->sink.args, "category", text.p, text.len);
	else
		pf_argline_fixed(&m->sink.args, "category",
				 (int64_t)(uint32_t)category);
}

static void arg_payload(struct pf_argline *a, const struct open_range *o)
{
	uint32_t low = (uint32_t)o->payload;
	double real;
	float half;

	switch (o->payload_type) {
	case 1:
		pf_argline_number(a, "payload", o->payload);
		break;
	case 2:
		pf_argline_fixed(a, "payload", (int64_t)o->payload);
		break;
	case 3:
		memcpy(&real, &o->payload, sizeof(real));
		pf_argline_real(a, "payload", real);
		break;
	case 4:
		pf_argline_number(a, "payload", low);
		break;
	case 5:
		pf_argline_fixed(a, "payload", (int32_t)low);
		break;
	case 6:
		memcpy(&half, &low, sizeof(half));
		pf_argline_real(a, "payload", (double)half);
		break;
	}
}

static void arg_common(struct pf_pfr_map *m, const struct open_range *o)
{
	struct pf_argline *a = &m->sink.args;

	arg_domain(m, o->domain);
	arg_category(m, o->domain, o->category);
	if (o->colour) {
		pf_argline_key(a, "color");
		pf_buf_addf(&a->text, "\"#%08" PRIx32 "\"",
			    (uint32_t)o->colour);
	}
	arg_payload(a, o);
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
	struct pf_argline *a = &m->sink.args;
	uint32_t *memo = NULL;

	pf_argline_open(a);
	if (!o->range_id) {
		pf_argline_set(a, PF_SLOT_EXTERNAL_ID, o->external_id);
		if (is_bare(o) && !torch && !how_it_ended &&
		    pf_sink_memo(&m->sink, PF_MEMO_RANGE_ARGS, 0, 0, &memo))
			return *memo;
		pf_argline_slot(a, "External id", PF_SLOT_EXTERNAL_ID,
				o->external_id);
	}
	if (torch)
		pf_kineto_torch(a, torch);
	arg_common(m, o);
	if (how_it_ended)
		pf_argline_text(a, "end", how_it_ended, strlen(how_it_ended));
	if (memo)
		return *memo = pf_argline_close(a, &m->sink.parsed.args);
	return pf_argline_close(a, &m->sink.parsed.args);
}

static void store_range(struct pf_pfr_map *m, const struct open_range *o,
			int64_t end_ns, const char *how_it_ended)
{
	struct pf_sink_put put = { .start_ns = o->start_ns,
				   .dur_ns = end_ns - o->start_ns,
				   .back = m->events_before +
					   m->sink.parsed.batch.event_count -
					   o->order };
	struct pf_pfr_torch_name torch;
	struct pf_pfr_text text;
	bool split;

	resolve(m, &o->name, &text);
	split = pf_kineto_range(text.p, text.len, o->range_id != 0, &torch,
				&put);
	if (o->range_id) {
		put.category = PF_CAT_RANGE;
		put.track = find_track(m, 'a', 0, 0, "ranges");
	} else {
		put.track = host_track(m, o->tid);
	}
	put.name = split ? pf_sink_text(&m->sink, text.p, torch.name_len)
			 : find_name(m, &o->name);
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
	struct pf_sink_put put = { .start_ns = ns };

	pf_sink_is(&put, PF_CAT_MARK);
	put.track = host_track(m, ev->v[0]);
	put.name = find_name(m, &ev->name);
	pf_argline_open(&m->sink.args);
	arg_common(m, &o);
	pf_sink_close(&m->sink, &put);
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
		pf_sink_note(&m->sink, PF_REPAIR_NEGATIVE_DURATION);
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
	pf_sink_note(&m->sink, PF_SKIP_TOO_LARGE);
}

static void pop(struct pf_pfr_map *m, struct lane *lane, int64_t ns)
{
	if (lane && lane->too_many) {
		lane->too_many--;
		pf_sink_note(&m->sink, PF_SKIP_TOO_LARGE);
	} else if (lane && lane->top != NONE) {
		lane->top = close_one(m, lane->top, ns, NULL);
		m->sink.parsed.batch.paired_count++;
	} else {
		pf_sink_note(&m->sink, PF_SKIP_LONE_END);
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
		pf_sink_note(&m->sink,
			     ev->v[4] ? PF_SKIP_TOO_LARGE : PF_SKIP_MALFORMED);
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
		pf_sink_note(&m->sink, PF_SKIP_LONE_END);
		return;
	}
	*link = close_one(m, i, ns, NULL);
	r->start_count[bucket]--;
	m->sink.parsed.batch.paired_count++;
}

static void map_nvtx(struct pf_pfr_map *m, const struct pf_pfr_event *ev)
{
	struct pf_sink_put put;
	struct lane *lane = NULL;

	if (!times(m, ev, &put))
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
static void ranges_tear(struct pf_pfr_map *m)
{
	struct pf_pfr_ranges *r = m->ranges;

	/* Range ids are unique: only the stacks are torn. */
	for (size_t i = 0; i < r->lane_count; i++)
		close_lane(m, &r->lanes[i], r->lanes[i].last_ns,
			   PF_REPAIR_TORN_RANGE, "lost");
}

static void ranges_close(struct pf_pfr_map *m)
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

void pf_pfr_map_init(struct pf_pfr_map *m, struct pf_pfr_file *file)
{
	const struct pf_pfr_line *pid = pf_pfr_line_of(&file->meta, "pid");
	int64_t number;

	memset(m, 0, sizeof(*m));
	m->file = file;
	pf_sink_init(&m->sink);
	pf_dict_init(&m->mangled, pf_dict_no_text);
	m->ranges = ranges_new();
	if (pid && pf_pfr_line_int(&file->meta, "pid", &number))
		snprintf(m->pid, sizeof(m->pid), "%" PRId64, number);
}

void pf_pfr_map_release(struct pf_pfr_map *m)
{
	forget_mangled(m);
	free(m->demangled);
	pf_dict_release(&m->mangled);
	pf_sink_release(&m->sink);
	ranges_free(m->ranges);
	pf_buf_release(&m->clean);
}

void pf_pfr_map_begin(struct pf_pfr_map *m)
{
	m->events_before += m->sink.parsed.batch.event_count;
	pf_sink_begin(&m->sink);
}

static const struct {
	enum pf_cat what;
	void (*map)(struct pf_pfr_map *, const struct pf_pfr_event *,
		    struct pf_argline *, struct pf_sink_put *);
} mappers[PF_PFR_EVENT_TYPES] = {
	[PF_PFR_KERNEL] = { PF_CAT_KERNEL, map_kernel },
	[PF_PFR_KERNEL_INLINE] = { PF_CAT_KERNEL, map_kernel },
	[PF_PFR_MEMCPY] = { PF_CAT_COPY, map_copy },
	[PF_PFR_MEMSET] = { PF_CAT_FILL, map_fill },
	[PF_PFR_API] = { PF_CAT_RUNTIME, map_call },
	[PF_PFR_SYNC] = { PF_CAT_SYNC, map_sync },
	[PF_PFR_CUDA_EVENT] = { PF_CAT_CUDA_EVENT, map_event },
	[PF_PFR_OVERHEAD] = { PF_CAT_OVERHEAD, map_overhead },
	[PF_PFR_MEMORY] = { PF_CAT_CUDA_MEMORY, map_memory },
	[PF_PFR_GRAPH] = { PF_CAT_KERNEL, map_graph },
	[PF_PFR_JIT] = { PF_CAT_OVERHEAD, map_jit },
	[PF_PFR_INTERNAL] = { PF_CAT_OVERHEAD, map_internal },
	[PF_PFR_UVM] = { PF_CAT_UVM, map_uvm },
	[PF_PFR_ENV] = { PF_CAT_ENVIRONMENT, map_environment },
};

#define AS_WRITTEN PF_GID_UNSET /* the arguments are no entry yet */

static void map_one(struct pf_pfr_map *m, const struct pf_pfr_event *ev)
{
	struct pf_sink_put put = { .args = AS_WRITTEN };

	if (ev->untimed) {
		map_untimed(m, ev);
	} else if (ev->type >= PF_PFR_PUSH) {
		map_nvtx(m, ev);
	} else if (!mappers[ev->type].map) {
		pf_sink_note(&m->sink, PF_SKIP_RECORD_TYPE);
	} else if (times(m, ev, &put)) {
		pf_sink_is(&put, mappers[ev->type].what);
		pf_argline_open(&m->sink.args);
		mappers[ev->type].map(m, ev, &m->sink.args, &put);
		if (put.args == AS_WRITTEN)
			pf_sink_close(&m->sink, &put);
		else
			pf_sink_store(&m->sink, &put);
	}
}

void pf_pfr_map_frame(struct pf_pfr_map *m, const struct pf_pfr_frame *frame)
{
	struct pf_pfr_event ev;
	struct pf_pfr_body body;
	enum pf_pfr_got got;

	m->sink.offset = frame->offset;
	m->is_realtime = frame->flags & PF_PFR_IS_REALTIME;
	if (frame->after_a_gap)
		ranges_tear(m);
	if (m->is_realtime && !m->file->clock.count)
		pf_sink_note(&m->sink, PF_REPAIR_NO_CLOCK);
	if (!pf_pfr_body_init(&body, frame->payload, frame->len)) {
		pf_sink_note(&m->sink, PF_REPAIR_BAD_FRAME);
		return;
	}
	while ((got = pf_pfr_body_next(&body, &ev)) != PF_PFR_GOT_END) {
		if (got == PF_PFR_GOT_EVENT)
			map_one(m, &ev);
		else if (got == PF_PFR_GOT_UNKNOWN)
			pf_sink_note(&m->sink, PF_SKIP_RECORD_TYPE);
		else
			pf_sink_note(&m->sink, PF_SKIP_MALFORMED);
		m->sink.parsed.batch.event_count++;
		if (got == PF_PFR_GOT_CUT)
			break;
	}
}

void pf_pfr_map_finish(struct pf_pfr_map *m)
{
	ranges_close(m);
}
