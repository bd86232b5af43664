/* SPDX-License-Identifier: MIT */
/*
 * Every record walked ends in exactly one count: unknown, bad, filtered, an
 * event, dropped_queue, or it is a description (FORMAT.md, STAT).
 */
#include "config.h"

#include "record.h"
#include "info.h"

#include <stdlib.h>

void pf_encoder_init(struct pf_encoder *e)
{
	pthread_mutex_init(&e->lock, NULL);
}

/* ---- names and launch configurations ---- */

struct name {
	uint32_t id;
	uint32_t len; /* of the text, where there is no id */
	const char *text;
};

/* The string id of a C string; 0 and the text where there is none. */
static struct name name_of(struct pf_encoder *e, const char *text)
{
	struct name n = { 0, 0, text };
	size_t len;

	if (!text)
		return n;
	len = strnlen(text, PF_STRING_MAX + 1);
	if (len > PF_STRING_MAX) {
		PF_COUNT_ADD(e->counts->cut_names, 1);
		len = PF_STRING_MAX;
	}
	n.id = pf_defs_id(e->defs, &e->defs->strings, text, (uint32_t)len, 256);
	if (n.id)
		return n;
	if (len > PF_NAME_MAX) {
		PF_COUNT_ADD(e->counts->cut_names, 1);
		len = PF_NAME_MAX;
	}
	n.len = (uint32_t)len;
	return n;
}

static uint8_t *put_name(uint8_t *p, const struct name *n)
{
	if (n->id || !n->text)
		return pf_put_varint(p, (uint64_t)n->id << 1);
	p = pf_put_varint(p, (uint64_t)n->len << 1 | 1);
	memcpy(p, n->text, n->len);
	return p + n->len;
}

/*
 * The launch fields as 15 words: grid, block, static, dynamic, local (as they
 * lie in the record), registers, cluster, launch type.
 */
static void launch_words(const struct pf_record *r, uint32_t w[15])
{
	memset(w, 0, 15 * sizeof(w[0]));
	for (uint32_t i = 0; i < 9; i++)
		w[i] = pf_get32(r, PF_KERNEL_GRID + 4 * i);
	w[9] = pf_get16(r, PF_KERNEL_REGS);
	for (uint32_t i = 0; i < 3; i++)
		w[10 + i] = pf_get32(r, PF_KERNEL_CLUSTER + 4 * i);
	w[13] = pf_get8(r, PF_KERNEL_LAUNCH_TYPE);
}

static uint8_t *put_launch(uint8_t *p, const struct name *n,
			   const uint32_t w[15], bool whole)
{
	p = put_name(p, n);
	for (int i = 0; i < 6; i++)
		p = pf_put_varint(p, w[i]);
	p = pf_put_varint(p, w[9]);
	for (int i = 6; i < 9; i++)
		p = pf_put_varint(p, w[i]);
	if (whole || w[10] | w[11] | w[12] | w[13])
		for (int i = 10; i < 14; i++)
			p = pf_put_varint(p, w[i]);
	return p;
}

/*
 * A pointer alone does not make a name: a module may have been unloaded and
 * another one loaded in its place.
 */
static bool same_text(const struct pf_encoder *e, uint32_t id, const char *text)
{
	uint32_t len;
	const char *known = pf_defs_string(e->defs, id, &len);

	return !strncmp(known, text, len) && !text[len];
}

/* The launch id; 0 where the table is full, then *n is filled in. */
static uint32_t launch_of(struct pf_encoder *e, const char *text,
			  const uint32_t w[15], struct name *n)
{
	uint32_t h = (uint32_t)(uintptr_t)text >> 4, id;
	struct pf_launch_slot *s;

	for (int i = 0; i < 8; i++)
		h = (h ^ w[i]) * 2654435761u;
	s = &e->slots[h >> 16 & (PF_LAUNCH_SLOTS - 1)];
	if (s->id && s->name == text &&
	    !memcmp(s->words, w, sizeof(s->words)) &&
	    same_text(e, s->name_id, text))
		return s->id;
	*n = name_of(e, text);
	id = pf_defs_id(
		e->defs, &e->defs->launches, e->scratch,
		(uint32_t)(put_launch(e->scratch, n, w, false) - e->scratch),
		256);
	if (id && n->id) {
		uint32_t len;
		pf_defs_string(e->defs, n->id, &len);
		s->id = len < PF_STRING_MAX ? id : 0;
		s->name = text;
		s->name_id = n->id;
		memcpy(s->words, w, sizeof(s->words));
	}
	return id;
}

/* ---- events ---- */

static void push_chunk(struct pf_encoder *e)
{
	if (e->events.chunk && e->events.chunk->len) {
		if (pf_queue_push(e->queue, e->events.chunk) == PF_CHUNKS / 2)
			pf_wake_post(e->writer);
		e->events.chunk = NULL;
	}
}

/* A chunk with room for an event, or false: then the event is counted. */
static bool make_room(struct pf_encoder *e, uint32_t names)
{
	if (e->events.chunk && !pf_events_fit(&e->events, names))
		push_chunk(e);
	if (!e->events.chunk &&
	    !atomic_load_explicit(&e->closed, memory_order_relaxed)) {
		e->events.chunk = pf_queue_take(e->queue);
		if (e->events.chunk)
			e->events.chunk->realtime = e->realtime;
	}
	if (e->events.chunk)
		return true;
	PF_COUNT_ADD(e->counts->dropped_queue, 1);
	return false;
}

/* Begin an event with a start and an end. */
static bool begin(struct pf_encoder *e, uint8_t type, uint64_t start,
		  uint64_t end, uint32_t names)
{
	bool valid = start && end;

	if (!make_room(e, names))
		return false;
	if (!valid || end < start)
		PF_COUNT_ADD(e->counts->invalid_time, 1);
	if (valid)
		e->last_start = start;
	pf_events_begin(&e->events, valid ? type : type | PF_EV_NO_TIME,
			e->last_start);
	if (valid) {
		pf_events_times(&e->events, start, end);
	} else {
		pf_events_put(&e->events, 0);
		pf_events_put(&e->events, 0);
	}
	return true;
}

/* The same for an instant; `with_end` writes the length 0 after it. */
static bool begin_instant(struct pf_encoder *e, uint8_t type, uint64_t start,
			  uint32_t names, bool with_end)
{
	if (!make_room(e, names))
		return false;
	if (start)
		e->last_start = start;
	pf_events_begin(&e->events, start ? type : type | PF_EV_NO_TIME,
			e->last_start);
	if (start)
		pf_events_time(&e->events, start);
	else
		pf_events_put(&e->events, 0);
	if (with_end)
		pf_events_put(&e->events, 0);
	return true;
}

static void put(struct pf_encoder *e, uint64_t v)
{
	pf_events_put(&e->events, v);
}

/* Fields of four bytes, given by their offsets, up to a 0. */
static void put32(struct pf_encoder *e, const struct pf_record *r,
		  const uint8_t *at)
{
	for (; *at; at++)
		put(e, pf_get32(r, *at));
}

static void thread_seen(struct pf_encoder *e, uint32_t tid)
{
	if (tid != e->last_thread) {
		e->last_thread = tid;
		pf_threads_add(e->threads, tid, false);
	}
}

static void put_kernel_times(struct pf_encoder *e, const struct pf_record *r,
			     uint64_t start, bool valid)
{
	uint32_t channel = pf_get32(r, PF_KERNEL_CHANNEL);
	uint64_t queued = 0, submitted = 0;

	if (e->latency && valid) {
		queued = pf_get64(r, PF_KERNEL_QUEUED);
		submitted = pf_get64(r, PF_KERNEL_SUBMITTED);
	}
	if (channel || queued)
		put(e, channel);
	if (queued)
		e->events.at = pf_put_difference(e->events.at, queued, start);
	if (queued && submitted)
		e->events.at =
			pf_put_difference(e->events.at, submitted, start);
}

static void kernel(struct pf_encoder *e, const struct pf_record *r,
		   uint32_t kind)
{
	static const uint8_t where[] = { PF_KERNEL_DEVICE, PF_KERNEL_CONTEXT,
					 PF_KERNEL_STREAM, 0 };
	uint64_t start = pf_get64(r, PF_KERNEL_START);
	uint64_t end = pf_get64(r, PF_KERNEL_END);
	struct name n = { 0 };
	uint32_t words[15], launch;

	(void)kind;
	launch_words(r, words);
	launch = launch_of(e, pf_get_text(r, PF_KERNEL_NAME), words, &n);
	if (!begin(e, launch ? PF_EV_KERNEL : PF_EV_KERNEL_INLINE, start, end,
		   n.len))
		return;
	pf_events_correlation(&e->events, pf_get32(r, PF_KERNEL_CORRELATION));
	if (launch)
		put(e, launch);
	else
		e->events.at = put_launch(e->events.at, &n, words, true);
	put32(e, r, where);
	put(e, pf_get64(r, PF_KERNEL_GRAPH_NODE));
	put(e, pf_get32(r, PF_KERNEL_GRAPH));
	put_kernel_times(e, r, start, start && end);
	pf_events_end(&e->events);
}

static void copy(struct pf_encoder *e, const struct pf_record *r, uint32_t kind)
{
	static const uint8_t where[] = { PF_MEMCPY_DEVICE, PF_MEMCPY_CONTEXT,
					 PF_MEMCPY_STREAM, 0 };
	bool peer = kind == PF_KIND_MEMCPY2;
	uint32_t device = pf_get32(r, PF_MEMCPY_DEVICE);
	uint32_t graph = pf_get32(r, peer ? PF_PEER_GRAPH : PF_MEMCPY_GRAPH);

	if (!begin(e, PF_EV_MEMCPY, pf_get64(r, PF_MEMCPY_START),
		   pf_get64(r, PF_MEMCPY_END), 0))
		return;
	pf_events_correlation(&e->events,
			      pf_get32(r, peer ? PF_PEER_CORRELATION
					       : PF_MEMCPY_CORRELATION));
	put(e, pf_get64(r, PF_MEMCPY_BYTES));
	put(e, pf_get8(r, PF_MEMCPY_KIND));
	*e->events.at++ = (uint8_t)(pf_get8(r, PF_MEMCPY_SRC) << 4 |
				    (pf_get8(r, PF_MEMCPY_DST) & 15));
	put(e, pf_get8(r, PF_MEMCPY_FLAGS));
	put32(e, r, where);
	put(e, pf_get64(r, peer ? PF_PEER_GRAPH_NODE : PF_MEMCPY_GRAPH_NODE));
	if (peer || graph) {
		put(e, peer ? pf_get32(r, PF_PEER_SRC_DEVICE) : device);
		put(e, peer ? pf_get32(r, PF_PEER_DST_DEVICE) : device);
	}
	if (graph)
		put(e, graph);
	pf_events_end(&e->events);
}

static void fill(struct pf_encoder *e, const struct pf_record *r, uint32_t kind)
{
	static const uint8_t where[] = { PF_MEMSET_DEVICE, PF_MEMSET_CONTEXT,
					 PF_MEMSET_STREAM, 0 };
	uint32_t graph = pf_get32(r, PF_MEMSET_GRAPH);

	(void)kind;
	if (!begin(e, PF_EV_MEMSET, pf_get64(r, PF_MEMSET_START),
		   pf_get64(r, PF_MEMSET_END), 0))
		return;
	pf_events_correlation(&e->events, pf_get32(r, PF_MEMSET_CORRELATION));
	put(e, pf_get64(r, PF_MEMSET_BYTES));
	put(e, pf_get32(r, PF_MEMSET_VALUE));
	put(e, pf_get16(r, PF_MEMSET_KIND));
	put32(e, r, where);
	put(e, pf_get64(r, PF_MEMSET_GRAPH_NODE));
	if (graph)
		put(e, graph);
	pf_events_end(&e->events);
}

/* What to do with a call; its name is defined when it is first seen. */
static enum pf_call call_of(struct pf_encoder *e, uint32_t domain,
			    uint32_t cbid)
{
	uint8_t *known = &e->calls[domain - PF_DOMAIN_DRIVER][cbid];
	const uint64_t ids[2] = { domain, cbid };
	const char *name = NULL;

	if (*known)
		return *known;
	if (!e->cupti->callback_name ||
	    e->cupti->callback_name(domain, cbid, &name))
		name = NULL;
	*known = e->all_api ? PF_CALL_KEEP
			    : (uint8_t)pf_cupti_call(domain, name);
	if (name && !pf_defs_name(e->defs, PF_DEF_CBID, ids, 2, name,
				  (uint32_t)strnlen(name, 1024)))
		PF_COUNT_ADD(e->counts->no_names, 1);
	return *known;
}

static void call(struct pf_encoder *e, const struct pf_record *r, uint32_t kind)
{
	uint32_t cbid = pf_get32(r, PF_API_CBID);
	uint32_t tid = pf_get32(r, PF_API_THREAD);
	uint32_t result = pf_get32(r, PF_API_RETURN);
	uint32_t domain =
		kind == PF_KIND_RUNTIME ? PF_DOMAIN_RUNTIME : PF_DOMAIN_DRIVER;
	enum pf_call what = PF_CALL_KEEP;

	if (kind != PF_KIND_INTERNAL && cbid < PF_CBIDS)
		what = call_of(e, domain, cbid);
	if (what == PF_CALL_DROP ||
	    (what == PF_CALL_QUERY && result == PF_CUDA_NOT_READY)) {
		PF_COUNT_ADD(e->counts->filtered, 1);
		return;
	}
	if (!begin(e, kind == PF_KIND_INTERNAL ? PF_EV_INTERNAL : PF_EV_API,
		   pf_get64(r, PF_API_START), pf_get64(r, PF_API_END), 0))
		return;
	thread_seen(e, tid);
	pf_events_correlation(&e->events, pf_get32(r, PF_API_CORRELATION));
	put(e, (uint64_t)cbid << 1 | (domain == PF_DOMAIN_DRIVER));
	put(e, tid);
	put(e, result);
	pf_events_end(&e->events);
}

static void sync_call(struct pf_encoder *e, const struct pf_record *r,
		      uint32_t kind)
{
	static const uint8_t what[] = { PF_SYNC_TYPE, PF_SYNC_CONTEXT,
					PF_SYNC_STREAM, PF_SYNC_EVENT, 0 };

	(void)kind;
	if (!begin(e, PF_EV_SYNC, pf_get64(r, PF_SYNC_START),
		   pf_get64(r, PF_SYNC_END), 0))
		return;
	pf_events_correlation(&e->events, pf_get32(r, PF_SYNC_CORRELATION));
	put32(e, r, what);
	put(e, pf_get64(r, PF_SYNC_EVENT_SYNC));
	put(e, pf_get32(r, PF_SYNC_RETURN));
	pf_events_end(&e->events);
}

static void cuda_event(struct pf_encoder *e, const struct pf_record *r,
		       uint32_t kind)
{
	static const uint8_t what[] = { PF_EVENT_EVENT, PF_EVENT_CONTEXT,
					PF_EVENT_STREAM, PF_EVENT_DEVICE, 0 };

	(void)kind;
	if (!begin_instant(e, PF_EV_EVENT, pf_get64(r, PF_EVENT_TIME), 0, true))
		return;
	pf_events_correlation(&e->events, pf_get32(r, PF_EVENT_CORRELATION));
	put32(e, r, what);
	put(e, pf_get64(r, PF_EVENT_SYNC));
	pf_events_end(&e->events);
}

static void overhead(struct pf_encoder *e, const struct pf_record *r,
		     uint32_t kind)
{
	/* how many words of the object's id mean something */
	static const uint8_t words[] = { 0, 1, 2, 1, 2, 3 };
	uint32_t object = pf_get32(r, PF_OVERHEAD_OBJECT_KIND);
	uint32_t used = object < sizeof(words) ? words[object] : 0;

	(void)kind;
	if (!begin(e, PF_EV_OVERHEAD, pf_get64(r, PF_OVERHEAD_START),
		   pf_get64(r, PF_OVERHEAD_END), 0))
		return;
	pf_events_correlation(&e->events, pf_get32(r, PF_OVERHEAD_CORRELATION));
	put(e, pf_get32(r, PF_OVERHEAD_KIND));
	put(e, object);
	for (uint32_t i = 0; i < 3; i++)
		put(e, i < used ? pf_get32(r, PF_OVERHEAD_OBJECT + 4 * i) : 0);
	pf_events_end(&e->events);
}

static void memory(struct pf_encoder *e, const struct pf_record *r,
		   uint32_t kind)
{
	static const uint8_t where[] = { PF_MEMORY_DEVICE,    PF_MEMORY_CONTEXT,
					 PF_MEMORY_STREAM,    PF_MEMORY_ASYNC,
					 PF_MEMORY_POOL_TYPE, 0 };
	struct name n = name_of(e, pf_get_text(r, PF_MEMORY_NAME));

	(void)kind;
	if (!begin_instant(e, PF_EV_MEMORY, pf_get64(r, PF_MEMORY_TIME), n.len,
			   true))
		return;
	if (!pf_get64(r, PF_MEMORY_TIME))
		PF_COUNT_ADD(e->counts->invalid_time, 1);
	pf_events_correlation(&e->events, pf_get32(r, PF_MEMORY_CORRELATION));
	put(e, pf_get32(r, PF_MEMORY_OPERATION));
	put(e, pf_get32(r, PF_MEMORY_KIND));
	put(e, pf_get64(r, PF_MEMORY_ADDRESS));
	put(e, pf_get64(r, PF_MEMORY_BYTES));
	put32(e, r, where);
	put(e, pf_get64(r, PF_MEMORY_POOL_ADDRESS));
	put(e, pf_get64(r, PF_MEMORY_PC));
	e->events.at = put_name(e->events.at, &n);
	pf_events_end(&e->events);
}

static void graph(struct pf_encoder *e, const struct pf_record *r,
		  uint32_t kind)
{
	static const uint8_t what[] = { PF_GRAPH_GRAPH, PF_GRAPH_DEVICE,
					PF_GRAPH_CONTEXT, PF_GRAPH_STREAM, 0 };
	bool has_end = r->size >= PF_GRAPH_END_CONTEXT + 4;

	(void)kind;
	if (!begin(e, PF_EV_GRAPH, pf_get64(r, PF_GRAPH_START),
		   pf_get64(r, PF_GRAPH_END), 0))
		return;
	pf_events_correlation(&e->events, pf_get32(r, PF_GRAPH_CORRELATION));
	put32(e, r, what);
	put(e, pf_get32(r, has_end ? PF_GRAPH_END_DEVICE : PF_GRAPH_DEVICE));
	put(e, pf_get32(r, has_end ? PF_GRAPH_END_CONTEXT : PF_GRAPH_CONTEXT));
	pf_events_end(&e->events);
}

static void jit(struct pf_encoder *e, const struct pf_record *r, uint32_t kind)
{
	static const uint8_t what[] = { PF_JIT_ENTRY, PF_JIT_OPERATION,
					PF_JIT_DEVICE, PF_JIT_THREAD, 0 };

	(void)kind;
	if (!begin(e, PF_EV_JIT, pf_get64(r, PF_JIT_START),
		   pf_get64(r, PF_JIT_END), 0))
		return;
	thread_seen(e, pf_get32(r, PF_JIT_THREAD));
	pf_events_correlation(&e->events, pf_get32(r, PF_JIT_CORRELATION));
	put32(e, r, what);
	pf_events_end(&e->events);
}

static void uvm(struct pf_encoder *e, const struct pf_record *r, uint32_t kind)
{
	static const uint8_t ends[] = { PF_UVM_SRC, PF_UVM_DST, 0 };

	(void)kind;
	if (!begin(e, PF_EV_UVM, pf_get64(r, PF_UVM_START),
		   pf_get64(r, PF_UVM_END), 0))
		return;
	put(e, pf_get32(r, PF_UVM_KIND));
	put(e, pf_get64(r, PF_UVM_VALUE));
	put(e, pf_get64(r, PF_UVM_ADDRESS));
	put32(e, r, ends);
	pf_events_end(&e->events);
}

static void environment(struct pf_encoder *e, const struct pf_record *r,
			uint32_t kind)
{
	static const uint8_t what[] = { PF_ENV_DEVICE,
					PF_ENV_KIND,
					PF_ENV_DATA,
					PF_ENV_DATA + 4,
					PF_ENV_DATA + 8,
					PF_ENV_DATA + 12,
					0 };

	(void)kind;
	if (!begin_instant(e, PF_EV_ENV, pf_get64(r, PF_ENV_TIME), 0, false))
		return;
	if (!pf_get64(r, PF_ENV_TIME))
		PF_COUNT_ADD(e->counts->invalid_time, 1);
	put32(e, r, what);
	pf_events_end(&e->events);
}

static void external(struct pf_encoder *e, const struct pf_record *r,
		     uint32_t kind)
{
	(void)kind;
	if (!make_room(e, 0))
		return;
	pf_events_begin(&e->events, PF_EV_EXTERNAL, e->last_start);
	pf_events_correlation(&e->events, pf_get32(r, PF_EXTERNAL_CORRELATION));
	put(e, pf_get32(r, PF_EXTERNAL_KIND));
	put(e, pf_get64(r, PF_EXTERNAL_ID));
	pf_events_end(&e->events);
}

static void describe(struct pf_encoder *e, const struct pf_record *r,
		     uint32_t kind)
{
	if (!pf_info_add(e->info, r, kind))
		PF_COUNT_ADD(e->counts->no_names, 1);
}

/* ---- buffers ---- */

/* What is written; `least` are the bytes without which nothing can be. */
static const struct {
	void (*fn)(struct pf_encoder *, const struct pf_record *, uint32_t);
	uint32_t least;
} writers[PF_KINDS] = {
	[PF_KIND_MEMCPY] = { copy, 48 },
	[PF_KIND_MEMSET] = { fill, 52 },
	[PF_KIND_DRIVER] = { call, 40 },
	[PF_KIND_RUNTIME] = { call, 40 },
	[PF_KIND_DEVICE] = { describe, 136 },
	[PF_KIND_CONTEXT] = { describe, 16 },
	[PF_KIND_KERNEL] = { kernel, 112 },
	[PF_KIND_OVERHEAD] = { overhead, 40 },
	[PF_KIND_ENVIRONMENT] = { environment, 36 },
	[PF_KIND_MEMCPY2] = { copy, 64 },
	[PF_KIND_UVM] = { uvm, 48 },
	[PF_KIND_EVENT] = { cuda_event, 20 },
	[PF_KIND_STREAM] = { describe, 24 },
	[PF_KIND_SYNC] = { sync_call, 40 },
	[PF_KIND_EXTERNAL] = { external, 20 },
	[PF_KIND_INTERNAL] = { call, 40 },
	[PF_KIND_MEMORY2] = { memory, 76 },
	[PF_KIND_GRAPH] = { graph, 40 },
	[PF_KIND_JIT] = { jit, 36 },
};

/* CUPTI leaves the details of this kind to its client to free. */
static void free_details(const struct pf_record *r, uint32_t kind)
{
	if (kind == PF_KIND_OVERHEAD)
		free((void *)(uintptr_t)pf_get64(r, PF_OVERHEAD_DATA));
}

static void one(struct pf_encoder *e, struct pf_record *r)
{
	uint32_t kind = 0;

	memcpy(&kind, r->at, sizeof(kind));
	PF_COUNT_ADD(e->counts->records, 1);
	if (kind < PF_COUNTED_KINDS)
		PF_COUNT_ADD(e->counts->kinds[kind], 1);
	if (kind >= PF_KINDS || !writers[kind].fn) {
		PF_COUNT_ADD(e->counts->unknown, 1);
		return;
	}
	if (r->size > e->cupti->sizes[kind])
		r->size = e->cupti->sizes[kind];
	if (r->size < writers[kind].least)
		PF_COUNT_ADD(e->counts->bad, 1);
	else
		writers[kind].fn(e, r, kind);
	free_details(r, kind);
}

static void discard(struct pf_encoder *e, struct pf_record *r)
{
	uint32_t kind = 0;

	memcpy(&kind, r->at, sizeof(kind));
	PF_COUNT_ADD(e->counts->discarded, 1);
	if (kind == PF_KIND_OVERHEAD) {
		if (r->size > e->cupti->sizes[kind])
			r->size = e->cupti->sizes[kind];
		free_details(r, kind);
	}
}

void pf_encoder_buffer(struct pf_encoder *e, uint8_t *buffer, size_t bytes,
		       bool readable)
{
	const uint8_t *end = buffer + bytes, *before = NULL;
	uint8_t *at = NULL;
	uint32_t result;

	pthread_mutex_lock(&e->lock);
	if (!e->cupti->version)
		pf_cupti_identify(e->cupti);
	while (!(result = e->cupti->next_record(buffer, bytes, &at))) {
		struct pf_record r;
		if (!at || at < buffer || at >= end || end - at < 4 ||
		    at == before) {
			result = PF_CUPTI_UNKNOWN;
			break;
		}
		r.at = before = at;
		r.size = (uint32_t)(end - at);
		if (readable)
			one(e, &r);
		else
			discard(e, &r);
	}
	if (result != PF_CUPTI_END)
		PF_COUNT_ADD(e->counts->bad_buffers, 1);
	pthread_mutex_unlock(&e->lock);
}

void pf_encoder_push(struct pf_encoder *e)
{
	pthread_mutex_lock(&e->lock);
	push_chunk(e);
	pthread_mutex_unlock(&e->lock);
}
