/* SPDX-License-Identifier: MIT */
/*
 * NVTX: a push opens a range and the next pop of the same thread and domain
 * closes the last one that is open; a start opens one that the end with its
 * id closes, on any thread.  A range is stored when it closes.
 *
 * Open ranges lie in a pool; a lane is the stack of one (thread, domain), or
 * the chain of starts whose ids fall together.  Invariant: every range of
 * the pool is free or in exactly one lane.
 */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "formats/pfr/kineto.h"
#include "formats/pfr/map_impl.h"
#include "formats/pfr/words.h"

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

struct pf_pfr_ranges *pf_pfr_ranges_new(void)
{
	struct pf_pfr_ranges *r = pf_calloc(1, sizeof(*r));

	memset(r->buckets, 0xff, sizeof(r->buckets));
	memset(r->starts, 0xff, sizeof(r->starts));
	r->free = NONE;
	return r;
}

void pf_pfr_ranges_free(struct pf_pfr_ranges *r)
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
	pf_pfr_arg_text(m, "domain", text.p, text.len);
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
		pf_pfr_arg_text(m, "category", text.p, text.len);
	else
		pf_pfr_arg_fixed(m, "category", (int64_t)(uint32_t)category);
}

static void arg_payload(struct pf_pfr_map *m, const struct open_range *o)
{
	uint32_t low = (uint32_t)o->payload;
	double real;
	float half;

	switch (o->payload_type) {
	case 1:
		pf_pfr_arg_number(m, "payload", o->payload);
		break;
	case 2:
		pf_pfr_arg_fixed(m, "payload", (int64_t)o->payload);
		break;
	case 3:
		memcpy(&real, &o->payload, sizeof(real));
		pf_argline_real(&m->sink.args, "payload", real);
		break;
	case 4:
		pf_pfr_arg_number(m, "payload", low);
		break;
	case 5:
		pf_pfr_arg_fixed(m, "payload", (int32_t)low);
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

	pf_pfr_open_args(m);
	if (!o->range_id) {
		m->sink.args.slots[PF_SLOT_EXTERNAL_ID] = o->external_id;
		m->sink.args.mask = UINT32_C(1) << PF_SLOT_EXTERNAL_ID;
		if (is_bare(o) && !torch && !how_it_ended &&
		    pf_pfr_memo(m, PF_PFR_MEMO_KEY(PF_PFR_MEMO_RANGE_ARGS, 0),
				0, &memo))
			return *memo;
		pf_pfr_arg_slot(m, "External id", PF_SLOT_EXTERNAL_ID,
				o->external_id);
	}
	if (torch)
		pf_kineto_torch(&m->sink.args, torch);
	arg_common(m, o);
	if (how_it_ended)
		pf_pfr_arg_text(m, "end", how_it_ended, strlen(how_it_ended));
	if (memo)
		return *memo = pf_pfr_close_args(m);
	return pf_pfr_close_args(m);
}

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
		put.track = pf_pfr_find_track(m, 'a', 0, 0, "ranges");
	} else {
		put.track = pf_pfr_host_track(m, o->tid);
	}
	if (!o->range_id && pf_pfr_is_step(text.p, text.len)) {
		put.category = PF_PFR_CAT_STEP;
		put.kind = PF_KIND_ANNOTATION;
	}
	if (split && put.kind == PF_KIND_CPU_OP)
		put.category = PF_PFR_CAT_OP;
	put.name = split ? pf_pfr_find_text(m, text.p, torch.name_len)
			 : pf_pfr_find_name(m, &o->name);
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

	put.track = pf_pfr_host_track(m, ev->v[0]);
	put.name = pf_pfr_find_name(m, &ev->name);
	pf_pfr_open_args(m);
	arg_common(m, &o);
	put.args = pf_pfr_close_args(m);
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
		pf_pfr_note(m, PF_REPAIR_NEGATIVE_DURATION);
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
	pf_pfr_note(m, PF_SKIP_TOO_LARGE);
}

static void pop(struct pf_pfr_map *m, struct lane *lane, int64_t ns)
{
	if (lane && lane->too_many) {
		lane->too_many--;
		pf_pfr_note(m, PF_SKIP_TOO_LARGE);
	} else if (lane && lane->top != NONE) {
		lane->top = close_one(m, lane->top, ns, NULL);
		m->sink.parsed.batch.paired_count++;
	} else {
		pf_pfr_note(m, PF_SKIP_LONE_END);
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
		pf_pfr_note(m,
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
		pf_pfr_note(m, PF_SKIP_LONE_END);
		return;
	}
	*link = close_one(m, i, ns, NULL);
	r->start_count[bucket]--;
	m->sink.parsed.batch.paired_count++;
}

void pf_pfr_map_nvtx(struct pf_pfr_map *m, const struct pf_pfr_event *ev)
{
	struct pf_sink_put put;
	struct lane *lane = NULL;

	if (!pf_pfr_times(m, ev, &put))
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

void pf_pfr_ranges_tear(struct pf_pfr_map *m)
{
	struct pf_pfr_ranges *r = m->ranges;

	/* Range ids are unique: only the stacks are torn. */
	for (size_t i = 0; i < r->lane_count; i++)
		close_lane(m, &r->lanes[i], r->lanes[i].last_ns,
			   PF_REPAIR_TORN_RANGE, "lost");
}

void pf_pfr_ranges_close(struct pf_pfr_map *m)
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
