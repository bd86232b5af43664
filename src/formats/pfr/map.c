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

#define NOWHERE UINT64_MAX /* a device or stream that is not known */

/* ---- texts ---- */

static void forget_mangled(struct pf_pfr_map *m)
{
	for (size_t i = 0; i < m->mangled.count; i++)
		free(m->demangled[i]);
	pf_dict_clear(&m->mangled);
}

/* In place of what a number stands for, if nothing says it. */
static struct pf_pfr_text lost(struct pf_pfr_map *m, uint64_t id)
{
	int len = snprintf(m->lost, sizeof(m->lost), "#%" PRIu64 " (lost)", id);

	pf_sink_note(&m->sink, PF_REPAIR_LOST_NAME);
	return (struct pf_pfr_text){ m->lost, (size_t)len };
}

static uint32_t find_lost(struct pf_pfr_map *m, uint64_t id)
{
	struct pf_pfr_text text = lost(m, id);

	return pf_sink_text(&m->sink, text.p, text.len);
}

/* The bytes of a name. */
static struct pf_pfr_text resolve(struct pf_pfr_map *m,
				  const struct pf_pfr_name *name)
{
	struct pf_pfr_text text = { "", 0 };

	if (name->text)
		return (struct pf_pfr_text){ name->text, name->len };
	if (name->id)
		text = pf_pfr_string(&m->file->defs, name->id);
	return text.p ? text : lost(m, name->id);
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
	PF_ROOM(m->demangled, m->demangled_cap, (size_t)i + 1);
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
	uint32_t *entry, own;
	struct pf_pfr_text text;

	if (!name->id)
		entry = &own;
	else if (pf_sink_memo(&m->sink, PF_MEMO_KERNEL, 0, name->id, &entry))
		return *entry;
	text = resolve(m, name);
	/* Each time that it is met is counted. */
	if (text.p == m->lost)
		pf_sink_forget(&m->sink, PF_MEMO_KERNEL, 0, name->id);
	return *entry = find_demangled(m, &text);
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

	if (!value->id && !value->len)
		return;
	text = resolve(m, value);
	pf_argline_text(&m->sink.args, name, text.p, text.len);
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

static int64_t number(uint64_t v)
{
	return (int64_t)(uint32_t)v;
}

/* v: device, context, stream. */
static struct pf_work_place place_of(const struct pf_pfr_event *ev,
				     const uint64_t *v)
{
	return (struct pf_work_place){
		.device = v[0] == NOWHERE ? PF_WORK_NONE : number(v[0]),
		.context = number(v[1]),
		.stream = number(v[2]),
		.queue = PF_WORK_NONE,
		.correlation = (int64_t)ev->correlation,
	};
}

static int64_t bytes_of(uint64_t v)
{
	return v > INT64_MAX ? INT64_MAX : (int64_t)v;
}

/* ---- kernels: place, graph node, graph, channel, queued, submitted ---- */

/* Of a zigzag's offset from the start; 0: not said. */
static uint64_t time_of(struct pf_pfr_map *m, const struct pf_pfr_event *ev,
			uint64_t offset)
{
	/* Wraps on hostile numbers, so that it is defined. */
	int64_t ns = (int64_t)((uint64_t)ev->start_ns +
			       (uint64_t)pf_wire_unzigzag(offset));

	if (m->is_realtime)
		ns = pf_pfr_clock_monotonic(&m->file->clock, ns);
	return ns > 0 ? (uint64_t)ns : 0;
}

static void map_kernel(struct pf_pfr_map *m, const struct pf_pfr_event *ev,
		       struct pf_sink_put *put)
{
	bool is_inline = ev->type == PF_PFR_KERNEL_INLINE;
	unsigned count = ev->count - !is_inline;
	const uint64_t *v = ev->v + !is_inline;
	struct pf_work_place p = place_of(ev, v);
	const struct pf_pfr_launch *l =
		is_inline ? &ev->launch
			  : pf_pfr_launch_of(&m->file->defs, ev->v[0]);

	p.node = v[3];
	p.graph = v[4];
	p.launch_id = is_inline ? 0 : ev->v[0];
	if (count > 6)
		p.queued_ns = time_of(m, ev, v[6]);
	if (count > 7)
		p.submitted_ns = time_of(m, ev, v[7]);
	put->name = l ? find_kernel(m, &l->name) : find_lost(m, ev->v[0]);
	pf_work_kernel(&m->sink, &p, l ? &l->how : NULL, put);
}

static void map_graph(struct pf_pfr_map *m, const struct pf_pfr_event *ev,
		      struct pf_sink_put *put)
{
	struct pf_work_place p = place_of(ev, ev->v + 1);
	struct pf_argline *a = &m->sink.args;

	put->name = pf_sink_word(&m->sink,
				 PF_PRINTED(40, "graph %" PRIu64, ev->v[0]));
	pf_work_open(&m->sink, &p, PF_CAT_KERNEL, put);
	pf_work_args(&m->sink, &p);
	pf_argline_number(a, "graph id", ev->v[0]);
	pf_buf_adds(&a->text, ",\"whole graph\":true");
	pf_work_close(&m->sink, &p, put);
}

/* ---- copies and fills ---- */

/* bytes, kind, places, flags, device, context, stream, node, peers, graph */
static void map_copy(struct pf_pfr_map *m, const struct pf_pfr_event *ev,
		     struct pf_sink_put *put)
{
	const uint64_t *v = ev->v;
	struct pf_work_place p = place_of(ev, v + 4);
	bool has_peers = ev->count >= 10;

	p.node = v[7];
	p.graph = v[10];
	put->name =
		pf_work_copy_name(&m->sink, v[1] > 10 ? 255 : v[1],
				  (int64_t)(v[2] >> 4), (int64_t)(v[2] & 15));
	pf_work_copy(&m->sink, &p, bytes_of(v[0]),
		     has_peers ? number(v[8]) : -1,
		     has_peers ? number(v[9]) : -1, put);
	pf_work_close(&m->sink, &p, put);
}

/* bytes, value, memory kind, device, context, stream, node, graph */
static void map_fill(struct pf_pfr_map *m, const struct pf_pfr_event *ev,
		     struct pf_sink_put *put)
{
	const uint64_t *v = ev->v;
	struct pf_work_place p = place_of(ev, v + 3);

	p.node = v[6];
	p.graph = v[7];
	pf_work_fill(&m->sink, &p, v[2], bytes_of(v[0]), put);
}

/* ---- synchronisation: type, context, stream, event, sync id, result ---- */

static void map_sync(struct pf_pfr_map *m, const struct pf_pfr_event *ev,
		     struct pf_sink_put *put)
{
	const char *word = pf_work_sync_word(ev->v[0]);
	int64_t stream = ev->v[2] == UINT32_MAX ? -1 : number(ev->v[2]);
	uint64_t device = device_of(m, ev->v[1]);
	struct pf_argline *a = &m->sink.args;

	put->name = pf_sink_word(&m->sink, word);
	put->track = find_track(m, 'g', device, stream, NULL);
	pf_argline_text(a, "cuda_sync_kind", word, strlen(word));
	if (ev->v[3] != UINT32_MAX)
		pf_argline_number(a, "wait_on_cuda_event_id", ev->v[3]);
	pf_argline_fixed(a, "stream", stream);
	pf_work_correlation(&m->sink, (int64_t)ev->correlation);
	if (device != NOWHERE)
		pf_argline_fixed(a, "device", number(device));
	pf_argline_fixed(a, "context", number(ev->v[1]));
	if (ev->v[5])
		pf_argline_fixed(a, "return value", number(ev->v[5]));
	pf_sink_close(&m->sink, put);
}

/* What happens on the host, and what is no span at all. */

/* ---- calls: cbid << 1 | driver, thread, result ---- */

static uint32_t call_name(struct pf_pfr_map *m, uint64_t call)
{
	struct pf_pfr_text text;
	uint32_t *entry;

	if (pf_sink_memo(&m->sink, PF_MEMO_CALL, 0, call, &entry))
		return *entry;
	text = pf_pfr_keyed_text(&m->file->defs, PF_PFR_CBID, call);
	if (!text.p) {
		pf_sink_forget(&m->sink, PF_MEMO_CALL, 0, call);
		return find_lost(m, call >> 1);
	}
	pf_work_call_stem(&text.p, &text.len);
	return *entry = pf_sink_text(&m->sink, text.p, text.len);
}

static void map_call(struct pf_pfr_map *m, const struct pf_pfr_event *ev,
		     struct pf_sink_put *put)
{
	pf_sink_is(put, ev->v[0] & 1 ? PF_CAT_DRIVER : PF_CAT_RUNTIME);
	put->name = call_name(m, ev->v[0]);
	put->track = host_track(m, ev->v[1]);
	pf_work_call(&m->sink, (int64_t)ev->correlation,
		     (int64_t)(ev->v[0] >> 1), number(ev->v[2]), put);
}

/* ---- overhead ---- */

static void put_overhead(struct pf_pfr_map *m, const struct pf_pfr_event *ev,
			 const char *word, uint64_t tid,
			 struct pf_sink_put *put)
{
	put->name = pf_sink_word(&m->sink, word);
	put->track = host_track(m, tid);
	if (ev->correlation)
		pf_work_correlation(&m->sink, (int64_t)ev->correlation);
	pf_sink_close(&m->sink, put);
}

/* kind, object kind (2: a thread), its ids */
static void map_overhead(struct pf_pfr_map *m, const struct pf_pfr_event *ev,
			 struct pf_sink_put *put)
{
	put_overhead(m, ev, pf_work_overhead_word(ev->v[0]),
		     ev->v[1] == 2 ? ev->v[3] : 0, put);
}

static void map_internal(struct pf_pfr_map *m, const struct pf_pfr_event *ev,
			 struct pf_sink_put *put)
{
	put_overhead(m, ev, "Internal Launch", ev->v[1], put);
}

/* entry, operation, device, thread */
static void map_jit(struct pf_pfr_map *m, const struct pf_pfr_event *ev,
		    struct pf_sink_put *put)
{
	static const char *const words[] = { "JIT", "JIT Cache Load",
					     "JIT Cache Store", "JIT Compile" };

	put_overhead(m, ev, words[ev->v[1] < 4 ? ev->v[1] : 0], ev->v[3], put);
}

/* ---- instants of a device ---- */

static uint32_t mark_track(struct pf_pfr_map *m, uint64_t device,
			   const char *what)
{
	return find_track(m, 'm', device, 0, what);
}

/* event, context, stream, device, sync id */
static void map_event(struct pf_pfr_map *m, const struct pf_pfr_event *ev,
		      struct pf_sink_put *put)
{
	const struct pf_work_place p = {
		.context = number(ev->v[1]),
		.stream = number(ev->v[2]),
		.correlation = (int64_t)ev->correlation,
	};

	put->track = mark_track(m, ev->v[3], "events");
	pf_work_event(&m->sink, &p, ev->v[0], put);
}

/*
 * operation, memory kind, address, bytes, device, context, stream, is
 * asynchronous, pool type, pool address, pc
 */
static void map_memory(struct pf_pfr_map *m, const struct pf_pfr_event *ev,
		       struct pf_sink_put *put)
{
	static const char *const words[] = { "Memory", "Allocate", "Free" };
	struct pf_argline *a = &m->sink.args;
	const uint64_t *v = ev->v;

	put->name = pf_sink_word(
		&m->sink, PF_PRINTED(64, "%s (%s)", words[v[0] < 3 ? v[0] : 0],
				     pf_work_memory_word(v[1])));
	put->track = mark_track(m, v[4], "memory");
	if (v[3] <= INT64_MAX)
		pf_argline_slot(a, "bytes", PF_SLOT_BYTES, (int64_t)v[3]);
	pf_argline_address(a, "ptr", v[2]);
	pf_work_correlation(&m->sink, (int64_t)ev->correlation);
	pf_argline_fixed(a, "context", number(v[5]));
	pf_argline_fixed(a, "on stream",
			 v[6] == UINT32_MAX ? -1 : number(v[6]));
	pf_argline_fixed(a, "asynchronous", v[7] != 0);
	if (v[9])
		pf_argline_number(a, "pool", v[9]);
	arg_name(m, "name", &ev->name);
	pf_sink_close(&m->sink, put);
}

/* kind, value, address, source, destination */
static void map_uvm(struct pf_pfr_map *m, const struct pf_pfr_event *ev,
		    struct pf_sink_put *put)
{
	struct pf_argline *a = &m->sink.args;

	put->name = pf_sink_word(&m->sink, "Unified memory");
	put->track = mark_track(m, ev->v[4], "unified memory");
	pf_argline_fixed(a, "kind", number(ev->v[0]));
	pf_argline_number(a, "value", ev->v[1]);
	pf_argline_number(a, "address", ev->v[2]);
	pf_argline_number(a, "dur (ns)", (uint64_t)put->dur_ns);
	put->dur_ns = 0;
	pf_argline_fixed(a, "source", number(ev->v[3]));
	pf_sink_close(&m->sink, put);
}

/* device, kind, four words of data */
static void map_environment(struct pf_pfr_map *m, const struct pf_pfr_event *ev,
			    struct pf_sink_put *put)
{
	static const char *const words[] = { "Environment", "Clocks",
					     "Temperature", "Power", "Fan" };
	static const char *const keys[] = { "data0", "data1", "data2",
					    "data3" };

	put->name = pf_sink_word(&m->sink, words[ev->v[1] < 5 ? ev->v[1] : 0]);
	put->track = find_track(m, 'c', ev->v[0], 0, "");
	for (int i = 0; i < 4; i++)
		pf_argline_number(&m->sink.args, keys[i], ev->v[2 + i]);
	pf_sink_close(&m->sink, put);
}

/* ---- events without times ---- */

#define UNTIMED_MAX 65536 /* rows of JSON; CUPTI may leave out millions */

static void untimed_args(struct pf_pfr_map *m, const struct pf_pfr_event *ev,
			 int place)
{
	static const char *const keys[] = { "device", "context", "stream" };
	struct pf_argline *a = &m->sink.args;

	pf_argline_open(a);
	pf_argline_fixed(a, "correlation", number(ev->correlation));
	for (int i = 0; i < 3 && place >= 0; i++)
		pf_argline_fixed(a, keys[i], number(ev->v[place + i]));
	if (ev->type == PF_PFR_KERNEL)
		pf_argline_fixed(a, "launch", number(ev->v[0]));
	if (ev->type == PF_PFR_API)
		pf_argline_fixed(a, "cbid", number(ev->v[0]) >> 1);
	if (ev->type == PF_PFR_CUDA_EVENT) {
		pf_argline_fixed(a, "event", number(ev->v[0]));
		pf_argline_fixed(a, "context", number(ev->v[1]));
		pf_argline_fixed(a, "stream", number(ev->v[2]));
	}
	pf_buf_addc(&a->text, '}');
}

/*
 * An event whose times were not collected has no place in time: it is kept as
 * a metadata event, so that no figure holds it; past a limit it is skipped.
 */
static void map_untimed(struct pf_pfr_map *m, const struct pf_pfr_event *ev)
{
	/* Where the fields of a type have device, context and stream, if so. */
	static const struct {
		const char *word;
		int place;
	} types[PF_PFR_PUSH] = {
		[PF_PFR_KERNEL] = { "untimed kernel", 1 },
		[PF_PFR_KERNEL_INLINE] = { "untimed kernel", 0 },
		[PF_PFR_MEMCPY] = { "untimed copy", 4 },
		[PF_PFR_MEMSET] = { "untimed fill", 3 },
		[PF_PFR_API] = { "untimed call", -1 },
		[PF_PFR_CUDA_EVENT] = { "cudaEventRecord", -1 },
	};
	struct pf_batch *b = &m->sink.parsed.batch;
	const char *word;

	if (ev->type >= PF_PFR_PUSH || m->untimed >= UNTIMED_MAX) {
		pf_sink_note(&m->sink, PF_SKIP_UNTIMED);
		return;
	}
	/* Events of CUDA have device times only if that was asked for. */
	if (ev->type != PF_PFR_CUDA_EVENT)
		pf_sink_note(&m->sink, PF_REPAIR_UNTIMED);
	m->untimed++;
	word = types[ev->type].word;
	untimed_args(m, ev, word ? types[ev->type].place : -1);
	pf_buf_clear(&m->clean);
	pf_buf_addf(&m->clean,
		    "{\"name\":\"%s\",\"ph\":\"M\",\"pid\":\"%s\",\"args\":%s}",
		    word ? word : "untimed record", m->pid,
		    m->sink.args.text.data);
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
	PF_AUTO(pf_buf_release) struct pf_buf number = { 0 };

	if (!domain)
		return;
	if (!text.p) {
		pf_buf_addf(&number, "#%" PRIu64 " (lost)", domain);
		text = (struct pf_pfr_text){ number.data, number.len };
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
		pf_argline_fixed(&m->sink.args, "category", number(category));
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

static void arg_common(void *map, const void *record)
{
	struct pf_pfr_map *m = map;
	const struct open_range *o = record;

	arg_domain(m, o->domain);
	arg_category(m, o->domain, o->category);
	pf_work_color(&m->sink, (uint32_t)o->colour);
	arg_payload(&m->sink.args, o);
}

/* ---- storing ---- */

/* Nothing but a name, as most: their arguments are all the same. */
static bool is_bare(const struct open_range *o)
{
	return !o->domain && !o->category && !o->colour && !o->payload_type;
}

static void store_range(struct pf_pfr_map *m, const struct open_range *o,
			int64_t end_ns, const char *how_it_ended)
{
	const struct pf_pfr_text text = resolve(m, &o->name);
	const struct pf_work_range range = {
		.text = text.p,
		.len = text.len,
		.text_id = text.p == m->lost ? 0 : o->name.id,
		.is_async = o->range_id != 0,
		.id = o->range_id ? 0 : o->external_id,
		.end = how_it_ended,
		.more = is_bare(o) ? NULL : arg_common,
		.reader = m,
		.record = o,
	};
	struct pf_sink_put put = { .start_ns = o->start_ns,
				   .dur_ns = end_ns - o->start_ns,
				   .back = m->events_before +
					   m->sink.parsed.batch.event_count -
					   o->order };

	put.track = o->range_id ? find_track(m, 'a', 0, 0, "ranges")
				: host_track(m, o->tid);
	pf_work_range(&m->sink, &range, &put);
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
	const struct pf_pfr_text text = resolve(m, &ev->name);
	const struct pf_work_range mark = {
		.text = text.p,
		.len = text.len,
		.more = arg_common,
		.reader = m,
		.record = &o,
	};
	struct pf_sink_put put = { .start_ns = ns };

	put.track = host_track(m, ev->v[0]);
	pf_work_mark(&m->sink, &mark, &put);
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
		PF_ROOM(r->pool, r->cap, r->count + 1);
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
	PF_ROOM(r->lanes, r->lanes_cap, r->lane_count + 1);
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

#define BY_ITSELF PF_CATS /* what is made in kineto/work says it */

static const struct {
	enum pf_cat what;
	void (*map)(struct pf_pfr_map *, const struct pf_pfr_event *,
		    struct pf_sink_put *);
} mappers[PF_PFR_EVENT_TYPES] = {
	[PF_PFR_KERNEL] = { BY_ITSELF, map_kernel },
	[PF_PFR_KERNEL_INLINE] = { BY_ITSELF, map_kernel },
	[PF_PFR_MEMCPY] = { BY_ITSELF, map_copy },
	[PF_PFR_MEMSET] = { BY_ITSELF, map_fill },
	[PF_PFR_API] = { BY_ITSELF, map_call },
	[PF_PFR_SYNC] = { PF_CAT_SYNC, map_sync },
	[PF_PFR_CUDA_EVENT] = { BY_ITSELF, map_event },
	[PF_PFR_OVERHEAD] = { PF_CAT_OVERHEAD, map_overhead },
	[PF_PFR_MEMORY] = { PF_CAT_CUDA_MEMORY, map_memory },
	[PF_PFR_GRAPH] = { BY_ITSELF, map_graph },
	[PF_PFR_JIT] = { PF_CAT_OVERHEAD, map_jit },
	[PF_PFR_INTERNAL] = { PF_CAT_OVERHEAD, map_internal },
	[PF_PFR_UVM] = { PF_CAT_UVM, map_uvm },
	[PF_PFR_ENV] = { PF_CAT_ENVIRONMENT, map_environment },
};

static void map_one(struct pf_pfr_map *m, const struct pf_pfr_event *ev)
{
	struct pf_sink_put put = { 0 };

	if (ev->untimed) {
		map_untimed(m, ev);
	} else if (ev->type >= PF_PFR_PUSH) {
		map_nvtx(m, ev);
	} else if (!mappers[ev->type].map) {
		pf_sink_note(&m->sink, PF_SKIP_RECORD_TYPE);
	} else if (times(m, ev, &put)) {
		if (mappers[ev->type].what != BY_ITSELF) {
			pf_sink_is(&put, mappers[ev->type].what);
			pf_argline_open(&m->sink.args);
		}
		mappers[ev->type].map(m, ev, &put);
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
