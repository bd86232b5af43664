/* SPDX-License-Identifier: MIT */
/* What runs on a device: kernels, graphs, copies, fills, synchronisation. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/pfr/kineto.h"
#include "formats/pfr/map_impl.h"
#include "formats/pfr/words.h"

#define NO_STREAM UINT32_MAX

static void arg_device(struct pf_pfr_map *m, uint64_t device)
{
	if (device != PF_PFR_NOWHERE)
		pf_pfr_arg_fixed(m, "device", (int64_t)(uint32_t)device);
}

static void arg_stream(struct pf_pfr_map *m, uint64_t stream)
{
	pf_pfr_arg_fixed(m, "stream",
			 stream == NO_STREAM ? -1 : (int64_t)(uint32_t)stream);
}

static void arg_place(struct pf_pfr_map *m, const struct pf_pfr_event *ev,
		      const uint64_t *place)
{
	arg_device(m, place[0]);
	pf_pfr_arg_fixed(m, "context", (int64_t)(uint32_t)place[1]);
	arg_stream(m, place[2]);
	pf_pfr_arg_slot(m, "correlation", PF_SLOT_CORRELATION,
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

/* place: device, context, stream, graph node, graph, channel, queued, ... */
static void arg_kernel_rest(struct pf_pfr_map *m, const struct pf_pfr_event *ev,
			    const uint64_t *place, unsigned count)
{
	static const char *const keys[] = { "queued", "submitted" };

	if (place[4])
		pf_pfr_arg_number(m, "graph id", place[4]);
	if (place[3])
		pf_pfr_arg_number(m, "graph node id", place[3]);
	for (unsigned i = 6; i < count && i < 8; i++) {
		/* Wraps on hostile numbers, so that it is defined. */
		int64_t ns = (int64_t)((uint64_t)ev->start_ns +
				       (uint64_t)pf_wire_unzigzag(place[i]));

		if (m->is_realtime)
			ns = pf_pfr_clock_monotonic(&m->file->clock, ns);
		if (ns > 0)
			pf_pfr_arg_number(m, keys[i - 6], (uint64_t)ns);
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
	return pf_pfr_memo(m,
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

void pf_pfr_map_kernel(struct pf_pfr_map *m, const struct pf_pfr_event *ev)
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

	if (!pf_pfr_times(m, ev, &put))
		return;
	put.name = l ? pf_pfr_find_kernel(m, &l->name)
		     : pf_pfr_find_lost(m, ev->v[0]);
	put.track = pf_pfr_gpu_track(m, place[0], place[2]);
	pf_pfr_open_args(m);
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
	put.args = pf_pfr_close_args(m);
	if (memo)
		*memo = put.args;
	pf_sink_store(&m->sink, &put);
}

void pf_pfr_map_graph(struct pf_pfr_map *m, const struct pf_pfr_event *ev)
{
	struct pf_sink_put put = { .category = PF_PFR_CAT_KERNEL,
				   .kind = PF_KIND_KERNEL,
				   .ph = 'X' };
	char name[40];
	int n;

	if (!pf_pfr_times(m, ev, &put))
		return;
	n = snprintf(name, sizeof(name), "graph %" PRIu64, ev->v[0]);
	put.name = pf_pfr_find_text(m, name, (size_t)n);
	put.track = pf_pfr_gpu_track(m, ev->v[1], ev->v[3]);
	pf_pfr_open_args(m);
	arg_place(m, ev, ev->v + 1);
	pf_pfr_arg_number(m, "graph id", ev->v[0]);
	pf_buf_adds(&m->sink.args.text, ",\"whole graph\":true");
	put.args = pf_pfr_close_args(m);
	pf_sink_store(&m->sink, &put);
}

/* ---- copies and fills ---- */

static void arg_graph(struct pf_pfr_map *m, uint64_t node, uint64_t graph)
{
	if (graph)
		pf_pfr_arg_number(m, "graph id", graph);
	if (node)
		pf_pfr_arg_number(m, "graph node id", node);
}

static uint32_t copy_name(struct pf_pfr_map *m, uint64_t kind, uint64_t places)
{
	uint32_t *entry;
	char text[96];
	int n;

	if (kind > 255)
		kind = 255;
	if (pf_pfr_memo(m, PF_PFR_MEMO_KEY(PF_PFR_MEMO_COPY_NAME, kind), places,
			&entry))
		return *entry;
	n = snprintf(text, sizeof(text), "Memcpy %s (%s -> %s)",
		     pf_pfr_copy_word(kind), pf_pfr_memory_word(places >> 4),
		     pf_pfr_memory_word(places & 15));
	return *entry = pf_pfr_find_text(m, text, (size_t)n);
}

/* bytes, kind, places, flags, device, context, stream, node, peers, graph */
void pf_pfr_map_copy(struct pf_pfr_map *m, const struct pf_pfr_event *ev)
{
	struct pf_sink_put put = { .category = PF_PFR_CAT_MEMCPY,
				   .kind = PF_KIND_MEMCPY,
				   .ph = 'X' };
	const uint64_t *v = ev->v;

	if (!pf_pfr_times(m, ev, &put))
		return;
	put.name = copy_name(m, v[1], v[2]);
	put.track = pf_pfr_gpu_track(m, v[4], v[6]);
	pf_pfr_open_args(m);
	arg_place(m, ev, v + 4);
	pf_kineto_bytes(&m->sink.args, v[0], put.dur_ns);
	if (ev->count >= 10 && v[8] != v[9]) {
		pf_pfr_arg_fixed(m, "fromDevice", (int64_t)(uint32_t)v[8]);
		pf_pfr_arg_fixed(m, "toDevice", (int64_t)(uint32_t)v[9]);
	}
	arg_graph(m, v[7], v[10]);
	put.args = pf_pfr_close_args(m);
	pf_sink_store(&m->sink, &put);
}

/* bytes, value, memory kind, device, context, stream, node, graph */
void pf_pfr_map_fill(struct pf_pfr_map *m, const struct pf_pfr_event *ev)
{
	struct pf_sink_put put = { .category = PF_PFR_CAT_MEMSET,
				   .kind = PF_KIND_MEMSET,
				   .ph = 'X' };
	const uint64_t *v = ev->v;
	char text[64];
	int n;

	if (!pf_pfr_times(m, ev, &put))
		return;
	n = snprintf(text, sizeof(text), "Memset (%s)",
		     pf_pfr_memory_word(v[2]));
	put.name = pf_pfr_find_text(m, text, (size_t)n);
	put.track = pf_pfr_gpu_track(m, v[3], v[5]);
	pf_pfr_open_args(m);
	arg_place(m, ev, v + 3);
	pf_kineto_bytes(&m->sink.args, v[0], put.dur_ns);
	arg_graph(m, v[6], v[7]);
	put.args = pf_pfr_close_args(m);
	pf_sink_store(&m->sink, &put);
}

/* ---- synchronisation: type, context, stream, event, sync id, result ---- */

void pf_pfr_map_sync(struct pf_pfr_map *m, const struct pf_pfr_event *ev)
{
	struct pf_sink_put put = { .category = PF_PFR_CAT_SYNC,
				   .kind = PF_KIND_GPU_SYNC,
				   .ph = 'X' };
	const char *word = pf_pfr_sync_word(ev->v[0]);
	uint64_t device = pf_pfr_device_of(m, ev->v[1]);

	if (!pf_pfr_times(m, ev, &put))
		return;
	put.name = pf_pfr_find_text(m, word, strlen(word));
	put.track = pf_pfr_gpu_track(m, device, ev->v[2]);
	pf_pfr_open_args(m);
	pf_pfr_arg_text(m, "cuda_sync_kind", word, strlen(word));
	if (ev->v[3] != UINT32_MAX)
		pf_pfr_arg_number(m, "wait_on_cuda_event_id", ev->v[3]);
	arg_stream(m, ev->v[2]);
	pf_pfr_arg_slot(m, "correlation", PF_SLOT_CORRELATION,
			(int64_t)ev->correlation);
	arg_device(m, device);
	pf_pfr_arg_fixed(m, "context", (int64_t)(uint32_t)ev->v[1]);
	if (ev->v[5])
		pf_pfr_arg_fixed(m, "return value",
				 (int64_t)(uint32_t)ev->v[5]);
	put.args = pf_pfr_close_args(m);
	pf_sink_store(&m->sink, &put);
}
