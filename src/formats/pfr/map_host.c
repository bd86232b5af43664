/* SPDX-License-Identifier: MIT */
/* What happens on the host, and what is no span at all. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/pfr/map_impl.h"
#include "formats/pfr/words.h"

static void arg_correlation(struct pf_pfr_map *m, const struct pf_pfr_event *ev)
{
	pf_pfr_arg_slot(m, "correlation", PF_SLOT_CORRELATION,
			(int64_t)ev->correlation);
}

static uint32_t word_entry(struct pf_pfr_map *m, const char *word)
{
	return pf_pfr_find_text(m, word, strlen(word));
}

/* ---- calls: cbid << 1 | driver, thread, result ---- */

static uint32_t call_name(struct pf_pfr_map *m, uint64_t call)
{
	struct pf_pfr_text text;
	uint32_t *entry;

	text = pf_pfr_keyed_text(&m->file->defs, PF_PFR_CBID, call);
	if (!text.p)
		return pf_pfr_find_lost(m, call >> 1);
	if (pf_pfr_memo(m, PF_PFR_MEMO_KEY(PF_PFR_MEMO_CALL_NAME, 0), call,
			&entry))
		return *entry;
	pf_pfr_call_stem(&text.p, &text.len);
	return *entry = pf_pfr_find_text(m, text.p, text.len);
}

void pf_pfr_map_call(struct pf_pfr_map *m, const struct pf_pfr_event *ev)
{
	bool driver = ev->v[0] & 1;
	struct pf_sink_put put = {
		.category = driver ? PF_PFR_CAT_DRIVER : PF_PFR_CAT_RUNTIME,
		.kind = driver ? PF_KIND_DRIVER : PF_KIND_RUNTIME,
		.ph = 'X',
	};
	uint32_t *memo;

	if (!pf_pfr_times(m, ev, &put))
		return;
	put.name = call_name(m, ev->v[0]);
	put.track = pf_pfr_host_track(m, ev->v[1]);
	pf_pfr_open_args(m);
	m->sink.args.slots[PF_SLOT_CORRELATION] = (int64_t)ev->correlation;
	m->sink.args.mask = UINT32_C(1) << PF_SLOT_CORRELATION;
	if (!pf_pfr_memo(m,
			 PF_PFR_MEMO_KEY(PF_PFR_MEMO_CALL_ARGS,
					 ev->v[2] & UINT32_MAX),
			 ev->v[0], &memo)) {
		pf_pfr_arg_fixed(m, "cbid", (int64_t)(ev->v[0] >> 1));
		arg_correlation(m, ev);
		if (ev->v[2])
			pf_pfr_arg_fixed(m, "return value",
					 (int64_t)(uint32_t)ev->v[2]);
		*memo = pf_pfr_close_args(m);
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

	if (!pf_pfr_times(m, ev, &put))
		return;
	put.name = word_entry(m, word);
	put.track = pf_pfr_host_track(m, tid);
	pf_pfr_open_args(m);
	if (ev->correlation)
		arg_correlation(m, ev);
	put.args = pf_pfr_close_args(m);
	pf_sink_store(&m->sink, &put);
}

/* kind, object kind (2: a thread), its ids */
void pf_pfr_map_overhead(struct pf_pfr_map *m, const struct pf_pfr_event *ev)
{
	put_overhead(m, ev, pf_pfr_overhead_word(ev->v[0]),
		     ev->v[1] == 2 ? ev->v[3] : 0);
}

void pf_pfr_map_internal(struct pf_pfr_map *m, const struct pf_pfr_event *ev)
{
	put_overhead(m, ev, "Internal Launch", ev->v[1]);
}

/* entry, operation, device, thread */
void pf_pfr_map_jit(struct pf_pfr_map *m, const struct pf_pfr_event *ev)
{
	static const char *const words[] = { "JIT", "JIT Cache Load",
					     "JIT Cache Store", "JIT Compile" };

	put_overhead(m, ev, words[ev->v[1] < 4 ? ev->v[1] : 0], ev->v[3]);
}

/* ---- instants of a device ---- */

static uint32_t mark_track(struct pf_pfr_map *m, uint64_t device,
			   const char *what)
{
	return pf_pfr_find_track(m, 'm', device, 0, what);
}

/* event, context, stream, device, sync id */
void pf_pfr_map_event(struct pf_pfr_map *m, const struct pf_pfr_event *ev)
{
	struct pf_sink_put put = { .category = PF_PFR_CAT_CUDA_EVENT,
				   .kind = PF_KIND_CUDA_EVENT,
				   .ph = 'i' };

	if (!pf_pfr_times(m, ev, &put))
		return;
	put.name = word_entry(m, "cudaEventRecord");
	put.track = mark_track(m, ev->v[3], "events");
	pf_pfr_open_args(m);
	pf_pfr_arg_number(m, "event", ev->v[0]);
	arg_correlation(m, ev);
	pf_pfr_arg_fixed(m, "context", (int64_t)(uint32_t)ev->v[1]);
	pf_pfr_arg_fixed(m, "on stream", (int64_t)(uint32_t)ev->v[2]);
	put.args = pf_pfr_close_args(m);
	pf_sink_store(&m->sink, &put);
}

/*
 * operation, memory kind, address, bytes, device, context, stream, is
 * asynchronous, pool type, pool address, pc
 */
void pf_pfr_map_memory(struct pf_pfr_map *m, const struct pf_pfr_event *ev)
{
	static const char *const words[] = { "Memory", "Allocate", "Free" };
	struct pf_sink_put put = { .category = PF_PFR_CAT_CUDA_MEMORY,
				   .kind = PF_KIND_INSTANT,
				   .ph = 'i' };
	const uint64_t *v = ev->v;
	char text[64];
	int n;

	if (!pf_pfr_times(m, ev, &put))
		return;
	n = snprintf(text, sizeof(text), "%s (%s)", words[v[0] < 3 ? v[0] : 0],
		     pf_pfr_memory_word(v[1]));
	put.name = pf_pfr_find_text(m, text, (size_t)n);
	put.track = mark_track(m, v[4], "memory");
	pf_pfr_open_args(m);
	if (v[3] <= INT64_MAX)
		pf_pfr_arg_slot(m, "bytes", PF_SLOT_BYTES, (int64_t)v[3]);
	pf_argline_address(&m->sink.args, "ptr", v[2]);
	arg_correlation(m, ev);
	pf_pfr_arg_fixed(m, "context", (int64_t)(uint32_t)v[5]);
	pf_pfr_arg_fixed(m, "on stream",
			 v[6] == UINT32_MAX ? -1 : (int64_t)(uint32_t)v[6]);
	pf_pfr_arg_fixed(m, "asynchronous", v[7] != 0);
	if (v[9])
		pf_pfr_arg_number(m, "pool", v[9]);
	pf_pfr_arg_name(m, "name", &ev->name);
	put.args = pf_pfr_close_args(m);
	pf_sink_store(&m->sink, &put);
}

/* kind, value, address, source, destination */
void pf_pfr_map_uvm(struct pf_pfr_map *m, const struct pf_pfr_event *ev)
{
	struct pf_sink_put put = { .category = PF_PFR_CAT_UVM,
				   .kind = PF_KIND_INSTANT,
				   .ph = 'i' };

	if (!pf_pfr_times(m, ev, &put))
		return;
	put.name = word_entry(m, "Unified memory");
	put.track = mark_track(m, ev->v[4], "unified memory");
	pf_pfr_open_args(m);
	pf_pfr_arg_fixed(m, "kind", (int64_t)(uint32_t)ev->v[0]);
	pf_pfr_arg_number(m, "value", ev->v[1]);
	pf_pfr_arg_number(m, "address", ev->v[2]);
	pf_pfr_arg_number(m, "dur (ns)", (uint64_t)put.dur_ns);
	put.dur_ns = 0;
	pf_pfr_arg_fixed(m, "source", (int64_t)(uint32_t)ev->v[3]);
	put.args = pf_pfr_close_args(m);
	pf_sink_store(&m->sink, &put);
}

/* device, kind, four words of data */
void pf_pfr_map_environment(struct pf_pfr_map *m, const struct pf_pfr_event *ev)
{
	static const char *const words[] = { "Environment", "Clocks",
					     "Temperature", "Power", "Fan" };
	static const char *const keys[] = { "data0", "data1", "data2",
					    "data3" };
	struct pf_sink_put put = { .category = PF_PFR_CAT_ENVIRONMENT,
				   .kind = PF_KIND_COUNTER,
				   .ph = 'C' };

	if (!pf_pfr_times(m, ev, &put))
		return;
	put.name = word_entry(m, words[ev->v[1] < 5 ? ev->v[1] : 0]);
	put.track = pf_pfr_find_track(m, 'c', ev->v[0], 0, "");
	pf_pfr_open_args(m);
	for (int i = 0; i < 4; i++)
		pf_pfr_arg_number(m, keys[i], ev->v[2 + i]);
	put.args = pf_pfr_close_args(m);
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

	pf_pfr_open_args(m);
	pf_pfr_arg_fixed(m, "correlation", (int64_t)(uint32_t)ev->correlation);
	if (place) {
		pf_pfr_arg_fixed(m, "device", (int64_t)(uint32_t)place[0]);
		pf_pfr_arg_fixed(m, "context", (int64_t)(uint32_t)place[1]);
		pf_pfr_arg_fixed(m, "stream", (int64_t)(uint32_t)place[2]);
	}
	if (ev->type == PF_PFR_KERNEL)
		pf_pfr_arg_fixed(m, "launch", (int64_t)(uint32_t)ev->v[0]);
	if (ev->type == PF_PFR_API)
		pf_pfr_arg_fixed(m, "cbid", (int64_t)(uint32_t)ev->v[0] >> 1);
	if (ev->type == PF_PFR_CUDA_EVENT) {
		pf_pfr_arg_fixed(m, "event", (int64_t)(uint32_t)ev->v[0]);
		pf_pfr_arg_fixed(m, "context", (int64_t)(uint32_t)ev->v[1]);
		pf_pfr_arg_fixed(m, "stream", (int64_t)(uint32_t)ev->v[2]);
	}
	pf_buf_addc(&m->sink.args.text, '}');
}

void pf_pfr_map_untimed(struct pf_pfr_map *m, const struct pf_pfr_event *ev)
{
	struct pf_batch *b = &m->sink.parsed.batch;

	if (ev->type >= PF_PFR_PUSH || m->untimed >= UNTIMED_MAX) {
		pf_pfr_note(m, PF_SKIP_UNTIMED);
		return;
	}
	/* Events of CUDA have device times only if that was asked for. */
	if (ev->type != PF_PFR_CUDA_EVENT)
		pf_pfr_note(m, PF_REPAIR_UNTIMED);
	m->untimed++;
	untimed_args(m, ev);
	pf_buf_clear(&m->clean);
	pf_buf_addf(&m->clean,
		    "{\"name\":\"%s\",\"ph\":\"M\",\"pid\":\"%s\",\"args\":%s}",
		    untimed_word(ev->type), m->pid, m->sink.args.text.data);
	pf_batch_metadata(b, &m->clean);
}
