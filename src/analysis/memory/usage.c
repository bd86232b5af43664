/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "analysis/memory/usage.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/err.h"
#include "base/intern.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/order.h"
#include "base/sat.h"
#include "base/search.h"
#include "base/spool.h"
#include "base/tempfile.h"
#include "events/args.h"
#include "events/ask.h"
#include "events/interval.h"
#include "events/names.h"
#include "events/nest.h"
#include "events/step.h"
#include "events/traces.h"
#include "events/trust.h"
#include "events/window.h"
#include "formats/event.h"
#include "store/cursor.h"
#include "store/db.h"
#include "store/query.h"
#include "store/texts.h"

/*
 * The allocation records of traces ("[memory]", "[OutOfMemory]") in order of
 * time, each with the place in the program that made it, and their sums by
 * op.  Which op a record belongs to: the innermost one of the same thread
 * with start <= time < end, as in TensorBoard's memory view; an op's totals
 * also have the records of ops inside it, each record once per name.
 *
 * Memory grows with the number of distinct places, ops and devices; records
 * themselves are kept in a spool.
 */

/* Ids of strings, or PF_ID_NONE. */
struct pf_alloc_site {
	uint32_t op;       /* innermost op */
	uint32_t outer_op; /* outermost op */
	uint32_t frame;    /* user's Python function, else the innermost */
	uint32_t note;     /* annotation, where there is no frame */
	uint32_t stack;    /* stack.id, of snapshots */
};

/*
 * What an allocator of XLA or TensorFlow says of itself with each record, in
 * the window.  Programs reserve memory beside what is allocated; what is in use
 * is both.
 */
struct pf_alloc_pool {
	bool is_said;
	int64_t in_use, reserved, capacity, lifetime_peak; /* the largest */
	double fragmentation; /* of what is free, 0 to 1: the largest */
};

struct pf_alloc_device {
	const struct pf_window_trace *trace;
	int64_t type;   /* c10::DeviceType: 0 CPU, 1 CUDA, ...; -1: not said */
	int64_t number; /* or -1 */
	struct pf_alloc_pool pool; /* of accelerators */
	/* Private to the scan: what is allocated, whether anything was seen. */
	int64_t own, shared;
	bool has_own;
	bool has_unsized; /* frees that say no size */
	/* Shared memory that was freed and dates from before the records. */
	int64_t shared_before;
};

/* Records inside the window.  Sums that do not fit are held at the limit. */
struct pf_alloc_sums {
	int64_t count, bytes;             /* of allocations */
	int64_t freed_count, freed_bytes; /* bytes >= 0 */
	/* Of those freed: nobody knows their size, freed_bytes lack it. */
	int64_t unsized_count;
};

struct pf_alloc_op {
	uint32_t device; /* in devices */
	uint32_t name;   /* PF_ID_NONE: outside of every op */
	uint32_t stack;  /* stack.id instead, of snapshots; or PF_ID_NONE */
	struct pf_alloc_sums self, total;
	uint64_t last; /* private: the last record that was added */
};

enum pf_alloc_flag {
	PF_ALLOC_ADDRESS = 1, /* address is set, and so on */
	PF_ALLOC_TOTAL = 2,
	PF_ALLOC_RESERVED = 4,
	PF_ALLOC_OOM = 8,      /* bytes were asked for in vain */
	PF_ALLOC_INSIDE = 16,  /* the window */
	PF_ALLOC_UNSIZED = 32, /* a free, nobody knows of what size: bytes 0 */
};

struct pf_alloc {
	int64_t time_ns, order; /* first: they are what records sort by */
	int64_t bytes;          /* positive: allocated, negative: freed */
	int64_t address;
	/*
	 * Of the device, after the record.  The total has the tensors in
	 * shared memory that came since the first record; those from before
	 * are shared_before of the device.
	 */
	int64_t total, reserved;
	int64_t device_free; /* of what was asked for in vain, or -1 */
	uint32_t device;     /* in devices */
	uint32_t site;       /* in sites */
	uint32_t flags;      /* enum pf_alloc_flag */
	uint32_t ops;        /* private to the scan */
};

struct pf_allocs {
	struct pf_names *names;
	struct pf_spool *records;        /* struct pf_alloc, in order of time */
	struct pf_alloc_device *devices; /* by trace, type, number */
	uint32_t device_count;
	struct pf_intern sites; /* bytes of struct pf_alloc_site */
	struct pf_alloc_op *ops;
	uint32_t op_count;
	struct pf_map calls; /* name of an op -> starts inside the window */
	size_t device_cap, op_cap;
};

/* The total of a record that has one. */
static int64_t pf_allocs_total(const struct pf_allocs *a,
			       const struct pf_alloc *r)
{
	return pf_sat_add(r->total, a->devices[r->device].shared_before);
}

/*
 * Frees that say no size, as those of TPUs: it is that of the allocation which
 * is open at the address, on the same device, known when all records are there
 * in order of time.  Until then what waits for it are the sums of ops.  Of
 * memory from before the capture nobody knows it.
 *
 * Memory grows with the number of distinct addresses of devices that have such
 * frees, and with the number of distinct sets of ops around them.
 */

struct pf_alloc_sizes {
	struct pf_intern ops;      /* sets: uint32_t of allocs->ops */
	struct pf_map *by_address; /* of each device: bytes that are open */
	uint32_t device_count;
};

/* Invariant: an address's value is CLOSED, or the bytes of what is open. */

#define CLOSED UINT64_MAX /* as pf_map_at() has new ones */

/* ---- sums ---- */

static void alloc_sums_add(struct pf_alloc_sums *to, const struct pf_alloc *r)
{
	if (r->bytes > 0) {
		to->count++;
		pf_sat_sum(&to->bytes, r->bytes);
	} else if (r->bytes < 0 || r->flags & PF_ALLOC_UNSIZED) {
		to->freed_count++;
		to->freed_bytes = pf_sat_sub(to->freed_bytes, r->bytes);
		to->unsized_count += r->bytes == 0;
	}
}

/* The innermost first, whose own it is. */
static void add_to_ops(struct pf_allocs *a, const struct pf_alloc *r,
		       const uint32_t *ops, size_t count)
{
	alloc_sums_add(&a->ops[ops[0]].self, r);
	for (size_t i = 0; i < count; i++)
		alloc_sums_add(&a->ops[ops[i]].total, r);
}

static void sum_waiting(struct pf_alloc_sizes *t, struct pf_allocs *a,
			const struct pf_alloc *r)
{
	size_t len;
	const char *text = pf_intern_text(&t->ops, r->ops, &len);
	PF_OWN uint32_t *ops = pf_alloc(len);

	memcpy(ops, text, len); /* texts are not aligned */
	add_to_ops(a, r, ops, len / sizeof(*ops));
}

/* ---- sizes ---- */

/* Records, one after the other in order of time: what they free is set. */
static void alloc_sizes_settle(struct pf_alloc_sizes *t, struct pf_allocs *a,
			       struct pf_alloc *r)
{
	bool is_unsized = r->flags & PF_ALLOC_UNSIZED;
	uint64_t *open;

	if (!a->devices[r->device].has_unsized || r->flags & PF_ALLOC_OOM)
		return;
	if (!t->by_address)
		t->by_address = pf_calloc(t->device_count = a->device_count,
					  sizeof(*t->by_address));
	if (r->flags & PF_ALLOC_ADDRESS) {
		open = pf_map_at(&t->by_address[r->device],
				 (uint64_t)r->address);
		if (is_unsized && *open != CLOSED) {
			r->bytes = -(int64_t)*open;
			r->flags &= ~(uint32_t)PF_ALLOC_UNSIZED;
		}
		if (r->bytes)
			*open = r->bytes > 0 ? (uint64_t)r->bytes : CLOSED;
	}
	if (is_unsized && r->flags & PF_ALLOC_INSIDE)
		sum_waiting(t, a, r);
}

/*
 * Invariant: nest holds the ranges of the track that is being read which had
 * not ended when the last event began.  op is the place in it of the nearest
 * op at or below a range, or NO_OP.
 */

#define SPOOL_BYTES (16u << 20)
#define NO_OP       UINT32_MAX
/* where a snapshot's entries of kind PF_KIND_OOM have device_free */
#define SLOT_DEVICE_FREE (PF_SLOT_GENERIC + 1)
#define DEVICES_MAX      (1u << 16)
#define HAS_POOL         (UINT64_C(1) << 32) /* of devices_by_args */

struct open {
	int64_t end_ns;
	uint32_t op; /* place in the nest */
	bool is_user;
	struct pf_alloc_site site;
};

static const struct open outermost = {
	.op = NO_OP,
	.site = { PF_ID_NONE, PF_ID_NONE, PF_ID_NONE, PF_ID_NONE, PF_ID_NONE },
};

struct scan {
	struct pf_db *db;
	const struct pf_window *window;
	const struct pf_window_trace *trace;
	struct pf_allocs *out;
	struct pf_map devices_by_args; /* of the trace */
	struct pf_map ops_by_key;      /* device and name -> op */
	struct pf_sorter *sorter;      /* NULL as long as nothing needs it */
	int64_t last_ns, last_order;   /* of the last record */
	struct pf_texts texts;
	struct pf_nest nest; /* struct open */
	uint64_t record_count;
	bool no_sites; /* nobody asks who allocated */
	struct pf_alloc_sizes sizes;
	uint32_t *around; /* the ops around a record */
	size_t around_count, around_cap;
};

static struct pf_alloc_site allocs_site(const struct pf_allocs *a,
					uint32_t site)
{
	struct pf_alloc_site out;
	size_t len;

	memcpy(&out, pf_intern_text(&a->sites, site, &len), sizeof(out));
	return out;
}

/* ---- devices ---- */

static bool is_inside(const struct scan *s, int64_t at_ns)
{
	return at_ns >= s->trace->from_ns && at_ns < s->trace->to_ns;
}

static uint32_t find_device(struct scan *s, int64_t type, int64_t number)
{
	struct pf_allocs *a = s->out;

	for (uint32_t i = a->device_count; i-- > 0;)
		if (a->devices[i].trace == s->trace &&
		    a->devices[i].type == type &&
		    a->devices[i].number == number)
			return i;
	if (a->device_count == DEVICES_MAX) {
		pf_fail(s->db->err, PF_ELIMIT, "memory of more than %u devices",
			DEVICES_MAX);
		return UINT32_MAX;
	}
	*PF_ONE_MORE(a->devices, a->device_count, a->device_cap) =
		(struct pf_alloc_device){ .trace = s->trace,
					  .type = type,
					  .number = number };
	return a->device_count - 1;
}

static uint32_t device_of_text(struct scan *s, struct pf_json text)
{
	int64_t type, number;

	if (!pf_json_int(pf_json_get(text, "Device Type"), &type) || type < 0)
		type = -1;
	if (!pf_json_int(pf_json_get(text, "Device Id"), &number) || number < 0)
		number = -1;
	return find_device(s, type, number);
}

/* ---- what allocators say of themselves ---- */

/* A number of the arguments, which may be a slot ("$n"); false: none. */
static bool is_said(struct pf_json text, const char *key,
		    const struct pf_span *e, double *out)
{
	struct pf_json v = pf_json_get(text, key);
	int64_t whole, slot;
	double unit = 1;

	if (v.len == 2 && v.p[0] == '$') {
		slot = v.p[1] - 'a';
		if (slot < PF_SLOT_GENERIC || slot >= PF_SLOT_COUNT ||
		    !(e->mask >> slot & 1))
			return false;
		for (int64_t i = e->slot[slot] & 15; i > 0; i--)
			unit *= 10;
		*out = (double)(e->slot[slot] >> 4) / unit;
		return true;
	}
	if (!pf_json_int(v, &whole))
		return false;
	*out = (double)whole;
	return true;
}

/* Sizes of memory are whole in a double. */
static void take_most(int64_t *most, double bytes)
{
	if (bytes > (double)*most && bytes < 0x1p53)
		*most = (int64_t)bytes;
}

static void add_pool(struct pf_alloc_device *d, struct pf_json text,
		     const struct pf_span *e)
{
	double allocated = (double)e->slot[PF_SLOT_ALLOCATED];
	double reserved, available, peak, fragmentation;
	struct pf_alloc_pool *p = &d->pool;

	if (d->type <= 0 || !(e->mask >> PF_SLOT_ALLOCATED & 1) ||
	    !is_said(text, "bytes_reserved", e, &reserved) ||
	    !is_said(text, "bytes_available", e, &available))
		return;
	p->is_said = true;
	take_most(&p->in_use, allocated + reserved);
	take_most(&p->reserved, reserved);
	take_most(&p->capacity, allocated + reserved + available);
	if (is_said(text, "peak_bytes_in_use", e, &peak))
		take_most(&p->lifetime_peak, peak);
	if (is_said(text, "fragmentation", e, &fragmentation) &&
	    fragmentation > p->fragmentation)
		p->fragmentation = fragmentation;
}

/* UINT32_MAX on an error. */
static uint32_t device_of(struct scan *s, const struct pf_span *e)
{
	struct pf_json text = { e->inline_args, e->inline_args_len };
	uint64_t own = UINT64_MAX, *known = &own;
	uint32_t device;

	if (e->args == PF_ID_NONE)
		return find_device(s, -1, -1);
	if (e->args != PF_ID_INLINE)
		known = pf_map_at(&s->devices_by_args, e->args);
	if (*known < HAS_POOL)
		return (uint32_t)*known;
	if (e->args != PF_ID_INLINE &&
	    pf_texts_get(&s->texts, PF_TEXT_ARGS, e->args, &text.p, &text.len,
			 s->db->err) < 0)
		return UINT32_MAX;
	if (*known == UINT64_MAX) {
		device = device_of_text(s, text);
		if (device == UINT32_MAX)
			return device;
		*known = device;
		if (pf_json_get(text, "bytes_available").p)
			*known |= HAS_POOL;
	}
	device = (uint32_t)*known;
	if (*known >= HAS_POOL && is_inside(s, e->start_ns))
		add_pool(&s->out->devices[device], text, e);
	return device;
}

static bool is_wanted(const struct scan *s, uint32_t device)
{
	const struct pf_alloc_device *d = &s->out->devices[device];

	return s->window->device < 0 ||
	       (d->type != 0 && d->number == s->window->device);
}

/* ---- sums of operators and stacks ---- */

/* By the name of an op, or by the number of a stack. */
static uint32_t find_op(struct scan *s, uint32_t device, uint32_t name,
			uint32_t stack)
{
	const uint64_t by_stack = UINT64_C(1) << 63;
	struct pf_allocs *a = s->out;
	uint64_t *place = pf_map_at(
		&s->ops_by_key,
		(uint64_t)device << 32 |
			(stack == PF_ID_NONE ? name : by_stack | stack));

	if (*place == UINT64_MAX) {
		*place = a->op_count;
		*PF_ONE_MORE(a->ops, a->op_count, a->op_cap) =
			(struct pf_alloc_op){ .device = device,
					      .name = name,
					      .stack = stack };
	}
	return (uint32_t)*place;
}

/* The nearest op around the range at a place. */
static uint32_t op_around(const struct scan *s, uint32_t at)
{
	const struct open *o = at ? pf_nest_at(&s->nest, at - 1) : &outermost;

	return o->op;
}

static void put_around(struct scan *s, uint32_t op)
{
	if (s->out->ops[op].last == s->record_count)
		return;
	s->out->ops[op].last = s->record_count;
	*PF_ONE_MORE(s->around, s->around_count, s->around_cap) = op;
}

/* To every op that is open, once for each name. */
static void scan_add_to_ops(struct scan *s, struct pf_alloc *r, uint32_t at,
			    uint32_t stack)
{
	s->around_count = 0;
	while (at != NO_OP) {
		const struct open *o = pf_nest_at(&s->nest, at);

		if (o->end_ns > r->time_ns)
			put_around(s, find_op(s, r->device, o->site.op,
					      PF_ID_NONE));
		at = op_around(s, at);
	}
	if (!s->around_count)
		put_around(s, find_op(s, r->device, PF_ID_NONE, stack));
	/* that of a free without a size waits, and r->ops says for which ops */
	if (r->flags & PF_ALLOC_UNSIZED)
		r->ops = pf_intern_add(&s->sizes.ops, (const char *)s->around,
				       s->around_count * sizeof(*s->around));
	else
		add_to_ops(s->out, r, s->around, s->around_count);
}

/* ---- events ---- */

static void push_range(struct scan *s, const struct pf_span *e, unsigned kind)
{
	struct open *o;
	const struct pf_name_class *class = NULL;

	if (kind == PF_KIND_CPU_OP || kind == PF_KIND_PYTHON ||
	    kind == PF_KIND_ANNOTATION) {
		class = pf_names_class(s->out->names, e->name);
		if (!class)
			return;
	}
	/* before torch 1.11 annotations had the category of ops */
	if (kind == PF_KIND_CPU_OP && (class->is_step || class->is_optimizer ||
				       class->range == PF_CAUSE_DATA))
		kind = PF_KIND_ANNOTATION;
	pf_nest_drop(&s->nest, e->start_ns);
	if (kind == PF_KIND_CPU_OP && is_inside(s, e->start_ns)) {
		uint64_t *n = pf_map_at(&s->out->calls, e->name);

		*n = *n == UINT64_MAX ? 1 : *n + 1;
	}
	o = pf_nest_push(&s->nest, pf_span_end(e->start_ns, e->dur_ns));
	if (!o)
		return;
	if (kind == PF_KIND_CPU_OP) {
		o->op = (uint32_t)s->nest.depth - 1;
		o->site.op = e->name;
		if (o->site.outer_op == PF_ID_NONE)
			o->site.outer_op = e->name;
	} else if (kind == PF_KIND_ANNOTATION && !class->is_step) {
		o->site.note = e->name;
	} else if (kind == PF_KIND_PYTHON) {
		if (class->is_user_python || !o->is_user)
			o->site.frame = e->name;
		o->is_user |= class->is_user_python;
	}
}

/* The innermost op that is open, or NO_OP. */
static uint32_t open_op(const struct scan *s, int64_t at_ns)
{
	uint32_t at = op_around(s, (uint32_t)s->nest.depth);

	while (at != NO_OP &&
	       *(const int64_t *)pf_nest_at(&s->nest, at) <= at_ns)
		at = op_around(s, at);
	return at;
}

static uint32_t find_site(struct scan *s, uint32_t op, uint32_t stack)
{
	const struct open *o = pf_nest_top(&s->nest);
	struct pf_alloc_site site = o ? o->site : outermost.site;

	if (op == NO_OP)
		site.op = PF_ID_NONE;
	else
		site.op = ((struct open *)pf_nest_at(&s->nest, op))->site.op;
	if (op == NO_OP)
		site.outer_op = PF_ID_NONE;
	if (site.frame != PF_ID_NONE)
		site.note = PF_ID_NONE;
	site.stack = stack;
	return pf_intern_add(&s->out->sites, (const char *)&site, sizeof(site));
}

static struct pf_spool *new_records(void)
{
	return pf_spool_new(sizeof(struct pf_alloc), SPOOL_BYTES,
			    pf_temp_dir());
}

static void use_sorter(struct scan *s)
{
	struct pf_spool *records = s->out->records;
	const void *record;

	s->sorter = pf_sorter_temp(sizeof(struct pf_alloc));
	for (uint64_t i = 0; i < pf_spool_count(records) &&
			     (record = pf_spool_at(records, i, s->db->err));
	     i++)
		pf_sorter_add(s->sorter, record, s->db->err);
	pf_spool_free(records);
	s->out->records = new_records();
}

/*
 * Records that come in order of time, and whose totals are the allocator's
 * alone, as those of a snapshot, stay as they come; the first other one, or
 * one whose size follows from others, takes those before it to the sorter.
 */
static void put_record(struct scan *s, const struct pf_alloc *r)
{
	bool is_behind = r->time_ns > s->last_ns || (r->time_ns == s->last_ns &&
						     r->order >= s->last_order);

	if (!s->sorter && (!is_behind || !s->out->devices[r->device].type ||
			   r->flags & PF_ALLOC_UNSIZED))
		use_sorter(s);
	s->last_ns = r->time_ns;
	s->last_order = r->order;
	if (s->sorter)
		pf_sorter_add(s->sorter, r, s->db->err);
	else
		pf_spool_add(s->out->records, r, s->db->err);
}

/* Frees of some programs, TPUs' among them, say no size. */
static void set_unsized(struct scan *s, const struct pf_span *e,
			struct pf_alloc *r)
{
	const struct pf_name_class *class;

	if (e->mask >> PF_SLOT_BYTES & 1)
		return;
	r->bytes = 0;
	class = pf_names_class(s->out->names, e->name);
	if (!class || !class->is_free)
		return;
	r->flags |= PF_ALLOC_UNSIZED;
	s->out->devices[r->device].has_unsized = true;
}

static void add_alloc(struct scan *s, const struct pf_span *e, bool is_oom)
{
	struct pf_alloc r = {
		.time_ns = e->start_ns,
		.order = e->order,
		.bytes = e->slot[PF_SLOT_BYTES],
		.address = e->slot[PF_SLOT_ADDR],
		.total = e->slot[PF_SLOT_ALLOCATED],
		.reserved = e->slot[PF_SLOT_RESERVED],
		.device = device_of(s, e),
	};
	uint32_t op, stack = PF_ID_NONE;

	if (r.device == UINT32_MAX || !is_wanted(s, r.device))
		return;
	if (e->mask >> PF_SLOT_ADDR & 1)
		r.flags |= PF_ALLOC_ADDRESS;
	if (e->mask >> PF_SLOT_ALLOCATED & 1)
		r.flags |= PF_ALLOC_TOTAL;
	if (e->mask >> PF_SLOT_RESERVED & 1)
		r.flags |= PF_ALLOC_RESERVED;
	if (is_inside(s, r.time_ns))
		r.flags |= PF_ALLOC_INSIDE;
	if (is_oom)
		r.flags |= PF_ALLOC_OOM;
	if (e->mask >> PF_SLOT_STACK & 1)
		stack = (uint32_t)e->slot[PF_SLOT_STACK];
	r.device_free = -1;
	if (is_oom && e->mask >> SLOT_DEVICE_FREE & 1)
		r.device_free = e->slot[SLOT_DEVICE_FREE] / 16;
	if (!is_oom)
		set_unsized(s, e, &r);
	pf_nest_drop(&s->nest, e->start_ns);
	op = open_op(s, e->start_ns);
	r.site = find_site(s, op, stack);
	s->record_count++;
	if (!is_oom && r.flags & PF_ALLOC_INSIDE)
		scan_add_to_ops(s, &r, op, stack);
	put_record(s, &r);
}

/* ---- tracks ---- */

/* Has the track any record? */
static bool has_records(struct scan *s, uint32_t track)
{
	struct pf_cursor *c =
		pf_cursor_new(s->db, track, PF_COLBIT(PF_COL_TYPE));
	const struct pf_block *b;
	uint32_t first;
	bool has_any = false;

	while (!has_any && pf_cursor_block(c, &b, &first, s->db->err) == 1)
		for (uint32_t i = 0; i < b->count && !has_any; i++) {
			unsigned kind =
				pf_names_kind(s->out->names, b->type[i]);

			has_any = kind == PF_KIND_MEMORY || kind == PF_KIND_OOM;
		}
	pf_cursor_free(c);
	return has_any;
}

static void read_track(struct scan *s, uint32_t track)
{
	uint64_t numbers = 0;
	PF_AUTO(pf_cursor_freed) struct pf_cursor *c = NULL;
	struct pf_span e;

	for (int i = PF_SLOT_GENERIC; i < PF_SLOT_COUNT; i++)
		numbers |= PF_COLBIT(PF_COL_SLOT + i);
	c = pf_cursor_new(
		s->db, track,
		numbers | PF_COLBIT(PF_COL_START) | PF_COLBIT(PF_COL_DUR) |
			PF_COLBIT(PF_COL_ORDER) | PF_COLBIT(PF_COL_NAME) |
			PF_COLBIT(PF_COL_TYPE) | PF_COLBIT(PF_COL_ARGS) |
			PF_COLBIT(PF_COL_INLINE) |
			PF_COLBIT(PF_COL_SLOT + PF_SLOT_BYTES) |
			PF_COLBIT(PF_COL_SLOT + PF_SLOT_ADDR) |
			PF_COLBIT(PF_COL_SLOT + PF_SLOT_ALLOCATED) |
			PF_COLBIT(PF_COL_SLOT + PF_SLOT_RESERVED) |
			PF_COLBIT(PF_COL_SLOT + PF_SLOT_STACK));
	pf_nest_clear(&s->nest);
	while (pf_cursor_next(c, &e, s->db->err) == 1) {
		unsigned kind = pf_names_kind(s->out->names, e.type);

		/* nothing that begins later matters */
		if (e.start_ns >= s->trace->to_ns)
			break;
		if (kind == PF_KIND_MEMORY || kind == PF_KIND_OOM)
			add_alloc(s, &e, kind == PF_KIND_OOM);
		else if (kind <= PF_KIND_OVERHEAD && !s->no_sites)
			push_range(s, &e, kind);
		if (s->db->err->code)
			break;
	}
}

static void read_trace(struct scan *s)
{
	struct pf_track *tracks = NULL;
	size_t count = 0;

	pf_tracks_load(s->db, s->trace->trace_id, &tracks, &count, s->db->err);
	for (size_t i = 0; !s->db->err->code && i < count; i++)
		if ((!strcmp(tracks[i].class_name, "host") ||
		     !strcmp(tracks[i].class_name, "mark")) &&
		    has_records(s, tracks[i].id))
			read_track(s, tracks[i].id);
	pf_map_release(&s->devices_by_args);
	pf_tracks_free(tracks, count);
}

/* Has the trace records?  Others cost nothing. */
static bool has_any(struct scan *s)
{
	PF_STMT(stmt) = pf_named_prepare(s->db, "memory_records", s->db->err);

	sqlite3_bind_int64(stmt, 1, s->trace->trace_id);
	return pf_db_step(s->db, stmt, s->db->err) == 1;
}

/*
 * Tensors in shared memory (of a DataLoader's workers) are not the allocator's:
 * torch's MapAllocator reports them with a total of 0 and, when it maps them,
 * with their own size as reserved.  A total of 0 that follows from the records
 * before it is the allocator's.
 */
static bool is_shared(const struct pf_alloc_device *d, const struct pf_alloc *r)
{
	if (d->type || !(r->flags & PF_ALLOC_TOTAL) || r->total ||
	    r->flags & (PF_ALLOC_OOM | PF_ALLOC_UNSIZED))
		return false;
	return d->has_own ? pf_sat_add(d->own, r->bytes) != 0 : r->bytes > 0;
}

/* Count what is shared, and add it to the totals. */
static void settle_total(struct scan *s, struct pf_map *mapped,
			 struct pf_alloc *r)
{
	struct pf_alloc_device *d = &s->out->devices[r->device];
	uint64_t *is_mapped;

	if (is_shared(d, r)) {
		is_mapped =
			pf_map_at(mapped, (uint64_t)r->address ^
						  (uint64_t)r->device << 48);
		if (r->bytes < 0 && *is_mapped != 1)
			d->shared_before =
				pf_sat_sub(d->shared_before, r->bytes);
		*is_mapped = r->bytes > 0;
		pf_sat_sum(&d->shared, r->bytes);
		r->total = d->own;
		r->reserved = 0;
		r->flags &= ~(uint32_t)PF_ALLOC_RESERVED;
	} else if (r->flags & PF_ALLOC_TOTAL) {
		d->own = r->total;
		d->has_own = true;
	}
	r->total = pf_sat_add(r->total, d->shared);
}

static void spool_sorted(struct scan *s)
{
	struct pf_map mapped = {
		0
	}; /* address of shared memory -> is it mapped */
	const void *record;
	struct pf_alloc r;

	if (pf_sorter_finish(s->sorter, s->db->err) < 0)
		return;
	while (!s->db->err->code &&
	       (record = pf_sorter_next(s->sorter, s->db->err))) {
		memcpy(&r, record, sizeof(r));
		alloc_sizes_settle(&s->sizes, s->out, &r);
		settle_total(s, &mapped, &r);
		pf_spool_add(s->out->records, &r, s->db->err);
	}
	pf_map_release(&mapped);
}

/*
 * Window is kept: it must outlive *out.  Release *out after an error too.
 * no_sites: who allocated, which takes most of the time, is not found.
 */
static int allocs_load(struct pf_db *db, const struct pf_window *window,
		       bool no_sites, struct pf_allocs *out)
{
	struct scan s = { .db = db,
			  .texts = { .db = db },
			  .window = window,
			  .out = out,
			  .no_sites = no_sites,
			  .last_ns = INT64_MIN,
			  .nest = { .width = sizeof(outermost),
				    .outermost = &outermost } };

	*out = (struct pf_allocs){ 0 };
	out->records = new_records();
	out->names = pf_names_new(db);
	for (size_t i = 0; !db->err->code && i < window->count; i++) {
		s.trace = &window->traces[i];
		if (has_any(&s))
			read_trace(&s);
	}
	if (!db->err->code && s.sorter)
		spool_sorted(&s);
	pf_texts_release(&s.texts);
	pf_sorter_free(s.sorter);
	pf_map_release(&s.ops_by_key);
	pf_nest_release(&s.nest);
	for (uint32_t i = 0; i < s.sizes.device_count; i++)
		pf_map_release(&s.sizes.by_address[i]);
	free(s.sizes.by_address);
	pf_intern_release(&s.sizes.ops);
	free(s.around);
	return db->err->code ? -1 : 0;
}

static void allocs_release(struct pf_allocs *a)
{
	pf_names_free(a->names);
	pf_spool_free(a->records);
	pf_intern_release(&a->sites);
	pf_map_release(&a->calls);
	free(a->devices);
	free(a->ops);
	*a = (struct pf_allocs){ 0 };
}

/* Two passes over the records, and what they leave. */

/* An allocation that was not freed yet. */
struct usage_block {
	int64_t time_ns, bytes;
	uint32_t site;
	bool is_inside; /* the window */
	bool is_used;   /* else the place is free */
};

/* What the last whole steps add, each much the same. */
struct usage_growth {
	int64_t least, most, count;
	int64_t step_count; /* of all */
	size_t first, last; /* of the steps */
	bool has_fallen;    /* at any step */
};

struct usage_device {
	struct pf_usage_where at;
	/* ---- levels: the first pass ---- */
	bool has_any;     /* record */
	bool has_inside;  /* record inside the window */
	bool is_absolute; /* levels are totals that were recorded */
	bool has_reserved;
	int64_t level, reserved; /* after the last record */
	int64_t start_level;     /* at the start of the window */
	int64_t end_level;       /* at its end */
	int64_t peak, peak_ns;   /* first time of the largest level */
	uint64_t peak_at;        /* records, of all devices, before it */
	int64_t reserved_at_peak;
	int64_t peak_reserved;
	int64_t unused, unused_ns;      /* most reserved, not allocated */
	int64_t first_ns, last_ns;      /* records inside the window */
	int64_t jump_count, jump_bytes; /* totals that do not continue */
	int64_t no_address_count, oom_count, record_count;
	struct pf_alloc_sums sums; /* inside the window */
	int64_t capacity;          /* -1: not known */
	size_t next_step;          /* that has not ended */
	bool has_begun;            /* the first of them */
	int64_t step_level;        /* when it began, or the one before ended */
	struct usage_growth growth;
	/* ---- blocks: the second ---- */
	bool is_settled; /* the peak was passed */
	int64_t alive, alive_count;
	int64_t early_count, early_bytes; /* freed, allocated before */
	bool has_early_unsized;           /* some of unknown size */
	int64_t twice_count;              /* freed although it was */
	int64_t reused_count;             /* allocated although it was */
	int64_t kept_count, kept_bytes;
	struct pf_map by_address; /* -> place in blocks, or FREED */
	struct usage_block *blocks;
	size_t block_count, block_cap;
	size_t *free_places;
	size_t free_count, free_cap;
	/* the part of the curve that is being gathered */
	int64_t part; /* or -1 */
	int64_t low, high, high_ns, last, high_reserved;
	int64_t curve_level;
	bool has_curve_level;
};

/* Blocks of one place (and, of those kept, one size) together. */
struct usage_group {
	struct usage_group_key {
		uint32_t device, site;
		int64_t size; /* of each; -1: any */
	} key;
	int64_t count, bytes, largest, oldest_ns;
};

/* What of a step and a site is not freed. */
struct usage_stay {
	struct usage_stay_key {
		uint32_t device, site;
		uint64_t step; /* its place */
	} key;
	int64_t bytes;
};

struct usage {
	struct pf_err *err;
	struct pf_allocs allocs;
	struct pf_steps steps;
	struct pf_keyed stays; /* struct usage_stay, where memory grows */
	struct usage_device *devices; /* as allocs.devices */
	struct pf_keyed alive, kept;  /* struct usage_group */
	const struct pf_usage_args *args;
	struct pf_usage *out;
};

/* An allocation as a row of events. */
struct usage_event {
	struct pf_usage_where at;
	struct pf_usage_site site;
	int64_t bytes, allocated_ns, freed_ns, lifetime_ns;
};

/* n, or not known. */
static inline int64_t maybe(int64_t n, bool is_known)
{
	return is_known ? n : PF_NO_INT;
}

/* The time between two records of a device, if they have any. */
static inline int64_t since(const struct pf_usage_where *at, int64_t ns,
			    int64_t from_ns)
{
	return maybe(pf_sat_sub(ns, from_ns), !at->is_untimed);
}

/* The entries between them, if these stand for times. */
static inline int64_t entries_since(const struct pf_usage_where *at, int64_t n,
				    int64_t from)
{
	return maybe(pf_sat_sub(n, from), at->is_untimed);
}

/* NULL: it was the last, or there is an error. */
static const struct pf_alloc *record_at(struct usage *u, uint64_t i)
{
	return !u->err->code && i < pf_spool_count(u->allocs.records)
		       ? pf_spool_at(u->allocs.records, i, u->err)
		       : NULL;
}

/*
 * The first pass: levels.  Invariant: level is what is allocated after the
 * last record; start_level is taken when the first record inside the window
 * comes, or at the end if none does.
 */

static void begin(struct usage_device *d, const struct pf_alloc *r,
		  int64_t total)
{
	d->has_any = true;
	d->is_absolute = r->flags & PF_ALLOC_TOTAL;
	if (!d->is_absolute)
		return;
	d->level = total;
	if (!(r->flags & PF_ALLOC_OOM))
		d->level = pf_sat_sub(total, r->bytes);
	d->reserved = r->reserved;
}

static void begin_window(struct usage_device *d, const struct pf_alloc *r,
			 uint64_t at)
{
	d->has_inside = true;
	d->start_level = d->peak = d->level;
	d->first_ns = d->peak_ns = r->time_ns;
	d->peak_at = at;
	d->reserved_at_peak = d->peak_reserved = d->reserved;
}

/* The level after a record. */
static void step(struct usage_device *d, const struct pf_alloc *r,
		 int64_t total)
{
	int64_t expected = pf_sat_add(d->level, r->bytes);

	d->level = expected;
	if (!d->is_absolute || !(r->flags & PF_ALLOC_TOTAL))
		return;
	d->level = total;
	if (total == expected || r->flags & PF_ALLOC_UNSIZED)
		return;
	d->jump_count++;
	pf_sat_sum(&d->jump_bytes, pf_sat_sub(total, expected));
}

static void look(struct usage_device *d, const struct pf_alloc *r, uint64_t at)
{
	int64_t unused = pf_sat_sub(d->reserved, d->level);

	d->last_ns = r->time_ns;
	d->end_level = d->level;
	if (d->level > d->peak) {
		d->peak = d->level;
		d->peak_ns = r->time_ns;
		d->peak_at = at;
		d->reserved_at_peak = d->reserved;
	}
	PF_AT_LEAST(d->peak_reserved, d->reserved);
	if (d->has_reserved && d->is_absolute && unused > d->unused) {
		d->unused = unused;
		d->unused_ns = r->time_ns;
	}
}

static void add(struct usage_device *d, const struct pf_alloc *r, int64_t total,
		uint64_t at)
{
	bool is_inside = r->flags & PF_ALLOC_INSIDE;

	if (is_inside && !d->has_inside)
		begin_window(d, r, at);
	if (r->flags & PF_ALLOC_OOM) {
		d->oom_count += is_inside;
		return;
	}
	step(d, r, total);
	if (r->flags & PF_ALLOC_RESERVED) {
		d->reserved = r->reserved;
		/* it is 0 where the allocator keeps no memory back */
		d->has_reserved |= r->reserved != 0;
	}
	if (!is_inside)
		return;
	d->record_count++;
	d->no_address_count += !(r->flags & PF_ALLOC_ADDRESS);
	look(d, r, at + 1);
}

/* ---- what steps leave ---- */

#define GROWING_LEAST 3    /* steps: two may be chance */
#define GROWING_EVEN  1.25 /* the most that one adds, of the least */

/* Of steps that are whole. */
static bool is_whole(const struct usage *u, uint32_t device, size_t step)
{
	const struct pf_window_trace *t = u->allocs.devices[device].trace;
	const struct pf_step *s = &u->steps.items[step];

	return !s->is_partial && !s->is_empty && s->start_ns >= t->from_ns &&
	       s->host_end_ns <= t->to_ns;
}

static void add_growth(struct usage_growth *g, int64_t bytes, size_t step)
{
	g->has_fallen |= bytes < 0;
	g->step_count++;
	if (bytes <= 0) {
		g->count = 0;
		return;
	}
	if (!g->count || (double)bytes > GROWING_EVEN * (double)g->least ||
	    (double)g->most > GROWING_EVEN * (double)bytes) {
		g->count = 0;
		g->least = g->most = bytes;
		g->first = step;
	}
	g->count++;
	PF_AT_MOST(g->least, bytes);
	PF_AT_LEAST(g->most, bytes);
	g->last = step;
}

/* Behind the warm-up, which is half of them at most, steps do nothing else. */
static bool is_growing(const struct usage_growth *g)
{
	return !g->has_fallen && g->count >= GROWING_LEAST &&
	       g->count >= g->step_count - g->count;
}

/* All steps that begin or end before the next record of a device. */
static void pass_steps(struct usage *u, uint32_t device, int64_t until_ns)
{
	int64_t trace_id = u->allocs.devices[device].trace->trace_id;
	struct usage_device *d = &u->devices[device];
	const struct pf_step *s;

	for (; pf_steps_is_of(&u->steps, d->next_step, trace_id);
	     d->next_step++) {
		s = &u->steps.items[d->next_step];
		if (!d->has_begun && s->host_start_ns <= until_ns) {
			d->has_begun = true;
			d->step_level = d->level;
		}
		if (s->host_end_ns > until_ns)
			return;
		if (is_whole(u, device, d->next_step))
			add_growth(&d->growth,
				   pf_sat_sub(d->level, d->step_level),
				   d->next_step);
		d->step_level = d->level;
	}
}

static void add_sums(struct usage *u)
{
	for (uint32_t i = 0; i < u->allocs.op_count; i++) {
		const struct pf_alloc_op *op = &u->allocs.ops[i];
		struct pf_alloc_sums *to = &u->devices[op->device].sums;

		to->count += op->self.count;
		to->freed_count += op->self.freed_count;
		to->unsized_count += op->self.unsized_count;
		pf_sat_sum(&to->bytes, op->self.bytes);
		pf_sat_sum(&to->freed_bytes, op->self.freed_bytes);
	}
}

/* Levels and sums of every device. */
static void usage_levels(struct usage *u)
{
	const struct pf_alloc *r;

	for (uint64_t i = 0; (r = record_at(u, i)); i++) {
		struct usage_device *d = &u->devices[r->device];
		int64_t total = pf_allocs_total(&u->allocs, r);

		if (!d->has_any)
			begin(d, r, total);
		pass_steps(u, r->device, r->time_ns);
		add(d, r, total, i);
		if (u->args->also && !(r->flags & PF_ALLOC_OOM))
			u->args->also->level(
				u->args->also, &d->at, r->device, r->time_ns,
				d->level, maybe(d->reserved, d->has_reserved));
	}
	for (uint32_t i = 0; i < u->allocs.device_count; i++)
		pass_steps(u, i, INT64_MAX);
	add_sums(u);
}

/* ---- columns ---- */

#define IDS(row)                                                               \
	PF_FIELD(row, at.device_type, "device_type", "Device type",            \
		 PF_INT | PF_FULL | PF_KNOWN),                                 \
		PF_FIELD(row, at.device_number, "device_number", "Number",     \
			 PF_INT | PF_FULL | PF_KNOWN),                         \
		PF_FIELD(row, at.rank, "rank", "Rank",                         \
			 PF_INT | PF_FULL | PF_KNOWN),                         \
		PF_FIELD(row, at.trace_id, "trace_id", "Trace",                \
			 PF_INT | PF_FULL)
#define SITE(row)                                                              \
	PF_FIELD(row, site.outer_op, "outer_op", "Op", PF_TEXT),               \
		PF_FIELD(row, site.frame, "frame", "Line or range",            \
			 PF_PATH | PF_FRAME),                                  \
		PF_FIELD(row, site.op, "op", "Innermost op",                   \
			 PF_TEXT | PF_FULL)

/* The same of snapshots, whose places are stacks. */
#define STACK(row)                                                             \
	PF_FIELD(row, site.frame, "frame", "Line", PF_PATH | PF_FRAME),        \
		PF_FIELD(row, site.stack, "stack", "Stack", PF_INT | PF_KNOWN)

#define FIELD(...) PF_FIELD(struct pf_usage_device, __VA_ARGS__)
static const struct pf_field device_fields[] = {
	FIELD(at.device, "device", "Device", PF_TEXT),
	FIELD(peak, "peak_bytes", "Peak", PF_BYTES | PF_MAYBE),
	FIELD(capacity, "capacity_bytes", "Of", PF_BYTES | PF_FULL | PF_MAYBE),
	FIELD(capacity_share, "Share", PF_RATIO | PF_BAR | PF_FULL),
	FIELD(growth, "peak_growth_bytes", "Growth", PF_BYTES),
	FIELD(peak_ns, "At", PF_NS | PF_MAYBE),
	FIELD(peak_entry, "After entries", PF_COUNT | PF_FULL | PF_MAYBE),
	FIELD(peak_reserved, "peak_reserved_bytes", "Reserved",
	      PF_BYTES | PF_MAYBE),
	FIELD(in_use, "in_use_bytes", "In use, peak",
	      PF_BYTES | PF_FULL | PF_MAYBE),
	FIELD(lifetime_peak, "lifetime_peak_bytes", "Peak of the process",
	      PF_BYTES | PF_FULL | PF_MAYBE),
	FIELD(fragmentation, "Most fragmented", PF_RATIO | PF_FULL),
	FIELD(reserved_at_peak, "reserved_at_peak_bytes", "Reserved then",
	      PF_BYTES | PF_FULL | PF_MAYBE),
	FIELD(unused_at_peak, "unused_at_peak_bytes", "Unused then",
	      PF_BYTES | PF_FULL | PF_MAYBE),
	FIELD(unused, "unused_bytes", "Most unused",
	      PF_BYTES | PF_FULL | PF_MAYBE),
	FIELD(unused_ns, "Unused at", PF_NS | PF_FULL | PF_MAYBE),
	FIELD(alive, "alive_bytes", "Alive", PF_BYTES | PF_FULL | PF_MAYBE),
	FIELD(alive_count, "Blocks", PF_COUNT | PF_FULL | PF_MAYBE),
	FIELD(before, "before_bytes", "From before",
	      PF_BYTES | PF_FULL | PF_MAYBE),
	FIELD(start_level, "start_bytes", "At start",
	      PF_BYTES | PF_FULL | PF_MAYBE),
	FIELD(end_level, "end_bytes", "At end", PF_BYTES | PF_FULL | PF_MAYBE),
	FIELD(allocation_count, "Allocations", PF_COUNT | PF_FULL),
	FIELD(allocated, "allocated_bytes", "Allocated", PF_BYTES),
	FIELD(freed_count, "Frees", PF_COUNT | PF_FULL),
	FIELD(freed, "freed_bytes", "Freed", PF_BYTES | PF_MAYBE),
	FIELD(kept_count, "Kept", PF_COUNT | PF_FULL | PF_MAYBE),
	FIELD(kept, "kept_bytes", "Kept", PF_BYTES | PF_FULL | PF_MAYBE),
	FIELD(early_count, "Frees of earlier", PF_COUNT | PF_FULL | PF_MAYBE),
	FIELD(early, "early_bytes", "Freed of earlier",
	      PF_BYTES | PF_FULL | PF_MAYBE),
	FIELD(twice_count, "freed_twice_count", "Freed twice",
	      PF_COUNT | PF_FULL | PF_MAYBE),
	FIELD(reused_count, "Frees missed", PF_COUNT | PF_FULL | PF_MAYBE),
	FIELD(jump_count, "Jumps", PF_COUNT | PF_FULL | PF_MAYBE),
	FIELD(jump, "jump_bytes", "Jumped", PF_BYTES | PF_FULL | PF_MAYBE),
	FIELD(unsized_count, "Of unknown size", PF_COUNT | PF_FULL),
	FIELD(no_address_count, "No address", PF_COUNT | PF_FULL),
	FIELD(oom_count, "Out of memory", PF_COUNT | PF_FULL),
	FIELD(step_growth, "step_growth_bytes", "Growth a step",
	      PF_BYTES | PF_FULL | PF_MAYBE),
	FIELD(growing_steps, "Steps that grow", PF_COUNT | PF_FULL | PF_MAYBE),
	IDS(struct pf_usage_device),
};
#undef FIELD

#define FIELD(...) PF_FIELD(struct pf_usage_group, __VA_ARGS__)
static const struct pf_field alive_fields[] = {
	FIELD(at.device, "device", "Device", PF_TEXT),
	FIELD(bytes, "Bytes", PF_BYTES),
	FIELD(peak_share, "Of peak", PF_RATIO | PF_BAR),
	FIELD(count, "Blocks", PF_COUNT | PF_MAYBE),
	SITE(struct pf_usage_group),
	FIELD(largest, "largest_bytes", "Largest",
	      PF_BYTES | PF_FULL | PF_MAYBE),
	FIELD(age_ns, "Oldest", PF_NS | PF_FULL | PF_MAYBE),
	IDS(struct pf_usage_group),
};
static const struct pf_field alive_stack_fields[] = {
	FIELD(at.device, "device", "Device", PF_TEXT),
	FIELD(bytes, "Bytes", PF_BYTES),
	FIELD(peak_share, "Of peak", PF_RATIO | PF_BAR),
	FIELD(count, "Blocks", PF_COUNT | PF_MAYBE),
	STACK(struct pf_usage_group),
	FIELD(largest, "largest_bytes", "Largest",
	      PF_BYTES | PF_FULL | PF_MAYBE),
	FIELD(age_ns, "Oldest", PF_NS | PF_FULL | PF_MAYBE),
	IDS(struct pf_usage_group),
};
static const struct pf_field kept_fields[] = {
	FIELD(at.device, "device", "Device", PF_TEXT),
	FIELD(bytes, "Bytes", PF_BYTES),
	FIELD(count, "Blocks", PF_COUNT),
	FIELD(size, "size_bytes", "Of size", PF_BYTES),
	SITE(struct pf_usage_group),
	IDS(struct pf_usage_group),
};
static const struct pf_field kept_stack_fields[] = {
	FIELD(at.device, "device", "Device", PF_TEXT),
	FIELD(bytes, "Bytes", PF_BYTES),
	FIELD(count, "Blocks", PF_COUNT),
	STACK(struct pf_usage_group),
	IDS(struct pf_usage_group),
};
#undef FIELD

#define FIELD(...) PF_FIELD(struct pf_usage_op, __VA_ARGS__)
static const struct pf_field op_fields[] = {
	FIELD(at.device, "device", "Device", PF_TEXT),
	FIELD(op, "Op", PF_TEXT),
	FIELD(calls, "Calls", PF_COUNT | PF_MAYBE),
	FIELD(self_count, "self_allocation_count", "Allocs", PF_COUNT),
	FIELD(self_bytes, "self_allocated_bytes", "Allocated", PF_BYTES),
	FIELD(self_increase, "self_increase_bytes", "Increase",
	      PF_BYTES | PF_MAYBE),
	FIELD(bytes, "allocated_bytes", "With inner", PF_BYTES),
	FIELD(increase, "increase_bytes", "Increase with inner",
	      PF_BYTES | PF_FULL | PF_MAYBE),
	FIELD(count, "allocation_count", "Total allocations",
	      PF_COUNT | PF_FULL),
	FIELD(self_freed_count, "Self frees", PF_COUNT | PF_FULL),
	FIELD(self_freed, "self_freed_bytes", "Self freed",
	      PF_BYTES | PF_FULL | PF_MAYBE),
	IDS(struct pf_usage_op),
};
/* Of snapshots, whose places are stacks. */
static const struct pf_field stack_fields[] = {
	FIELD(at.device, "device", "Device", PF_TEXT),
	FIELD(self_bytes, "allocated_bytes", "Allocated", PF_BYTES),
	FIELD(self_count, "allocation_count", "Allocs", PF_COUNT),
	FIELD(op, "frame", "Line", PF_PATH | PF_FRAME),
	FIELD(stack, "Stack", PF_INT | PF_KNOWN),
	IDS(struct pf_usage_op),
};
#undef FIELD

#define FIELD(...) PF_FIELD(struct pf_usage_point, __VA_ARGS__)
static const struct pf_field curve_fields[] = {
	FIELD(at.device, "device", "Device", PF_TEXT),
	FIELD(time_ns, "From", PF_NS | PF_MAYBE),
	FIELD(entry, "After entries", PF_COUNT | PF_FULL | PF_MAYBE),
	FIELD(low, "low_bytes", "Lowest", PF_BYTES),
	FIELD(high, "high_bytes", "Highest", PF_BYTES),
	FIELD(high_ns, "Highest at", PF_NS | PF_MAYBE),
	FIELD(last, "last_bytes", "Last", PF_BYTES),
	FIELD(reserved, "reserved_bytes", "Reserved", PF_BYTES | PF_MAYBE),
	IDS(struct pf_usage_point),
};
#undef FIELD

#define FIELD(...) PF_FIELD(struct usage_event, __VA_ARGS__)
static const struct pf_field event_fields[] = {
	FIELD(at.device, "device", "Device", PF_TEXT),
	FIELD(bytes, "Bytes", PF_BYTES),
	FIELD(allocated_ns, "At", PF_NS | PF_MAYBE),
	FIELD(freed_ns, "Freed", PF_NS | PF_FULL | PF_MAYBE),
	FIELD(lifetime_ns, "Lifetime", PF_NS | PF_MAYBE),
	SITE(struct usage_event),
	IDS(struct usage_event),
};
static const struct pf_field event_stack_fields[] = {
	FIELD(at.device, "device", "Device", PF_TEXT),
	FIELD(bytes, "Bytes", PF_BYTES),
	FIELD(allocated_ns, "At", PF_NS | PF_MAYBE),
	FIELD(freed_ns, "Freed", PF_NS | PF_FULL | PF_MAYBE),
	FIELD(lifetime_ns, "Lifetime", PF_NS | PF_MAYBE),
	STACK(struct usage_event),
	IDS(struct usage_event),
};
#undef FIELD

#define FIELD(...) PF_FIELD(struct pf_usage_oom, __VA_ARGS__)
static const struct pf_field oom_fields[] = {
	FIELD(at.device, "device", "Device", PF_TEXT),
	FIELD(time_ns, "At", PF_NS | PF_MAYBE),
	FIELD(bytes, "Asked for", PF_BYTES),
	FIELD(allocated, "allocated_bytes", "Allocated", PF_BYTES | PF_MAYBE),
	FIELD(reserved, "reserved_bytes", "Reserved", PF_BYTES | PF_MAYBE),
	SITE(struct pf_usage_oom),
	IDS(struct pf_usage_oom),
};
static const struct pf_field oom_stack_fields[] = {
	FIELD(at.device, "device", "Device", PF_TEXT),
	FIELD(time_ns, "At", PF_NS | PF_MAYBE),
	FIELD(bytes, "Asked for", PF_BYTES),
	FIELD(allocated, "allocated_bytes", "Allocated", PF_BYTES | PF_MAYBE),
	FIELD(reserved, "reserved_bytes", "Reserved", PF_BYTES | PF_MAYBE),
	FIELD(unused, "unused_bytes", "Unused", PF_BYTES | PF_FULL | PF_MAYBE),
	FIELD(device_free, "device_free_bytes", "Free on the GPU",
	      PF_BYTES | PF_FULL | PF_KNOWN),
	FIELD(fragmented, "is_fragmented", "Unused would do",
	      PF_TEXT | PF_FULL),
	STACK(struct pf_usage_oom),
	IDS(struct pf_usage_oom),
};
#undef FIELD

/* ---- the document ---- */

/* The device that people mean: the accelerator with the largest peak. */
static const struct pf_usage_device *main_device(const struct pf_usage *u)
{
	const struct pf_usage_device *best = u->devices;

	for (size_t i = 1; i < u->device_count; i++) {
		const struct pf_usage_device *d = &u->devices[i];

		if ((d->at.device_type > 0) == (best->at.device_type > 0) &&
		    d->level_peak > best->level_peak)
			best = d;
	}
	return u->device_count ? best : NULL;
}

const struct pf_usage_device *pf_usage_fullest(const struct pf_usage *u)
{
	const struct pf_usage_device *best = NULL;

	for (size_t i = 0; i < u->device_count; i++) {
		const struct pf_usage_device *d = &u->devices[i];

		if (d->at.device_type > 0 && !isnan(d->capacity_share) &&
		    (!best || d->capacity_share > best->capacity_share))
			best = d;
	}
	return best;
}

const struct pf_usage_oom *pf_usage_told_oom(const struct pf_usage *u)
{
	for (size_t i = 0; pf_snap_state_is(&u->snap) && i < u->oom_count; i++)
		if (u->ooms[i].unused != PF_NO_INT)
			return &u->ooms[i];
	return NULL;
}

/* What an out-of-memory error came of, as far as the records say. */
static void find_oom(const struct pf_usage_oom *oom, struct pf_doc *doc)
{
	pf_doc_finding(
		doc,
		"%s: out of memory: asked for %s%s%s%s, with %s "
		"allocated of %s reserved; the free rest of it %s",
		oom->at.device, PF_SHOW_BYTES(oom->bytes),
		oom->device_free >= 0 ? " with " : "",
		oom->device_free >= 0 ? PF_SHOW_BYTES(oom->device_free) : "",
		oom->device_free >= 0 ? " free on the GPU" : "",
		PF_SHOW_BYTES(oom->allocated), PF_SHOW_BYTES(oom->reserved),
		oom->unused >= oom->bytes
			? "would have been enough, but not in one piece"
			: "was too small");
}

static void find_now(const struct pf_snap_state *s, struct pf_doc *doc)
{
	const struct pf_snap_now *best = pf_snap_fullest(s);

	if (!best) {
		pf_doc_finding(doc, "%s",
			       s->lost_segments
				       ? PF_SNAP_ALL_LOST
				       : "The snapshot has no segments: "
					 "nothing was reserved when it was "
					 "taken");
		return;
	}
	pf_doc_finding(doc,
		       "%s: %s allocated of %s reserved when the snapshot was "
		       "taken; %s free in whole segments, %s between blocks",
		       best->name, PF_SHOW_BYTES(best->allocated),
		       PF_SHOW_BYTES(best->reserved),
		       PF_SHOW_BYTES(best->whole), PF_SHOW_BYTES(best->split));
}

char *pf_usage_when(char *out, const struct pf_usage_device *d)
{
	if (d->at.is_untimed)
		snprintf(out, PF_USAGE_WHEN_MAX, "after %s %s of its history",
			 PF_SHOW_COUNT(d->peak_entry),
			 d->peak_entry == 1 ? "entry" : "entries");
	else
		snprintf(out, PF_USAGE_WHEN_MAX, "%s into the capture",
			 PF_SHOW_NS(d->peak_ns));
	return out;
}

#define LARGE 0.05 /* of the peak: a place worth its name */

#define NOTHING 1048576 /* bytes beside memory that no record tells of */

/*
 * Whose memory the peak is not.  True: beside that it is numbers at most, and
 * worth no word.
 */
static bool say_direct(const struct pf_usage *u,
		       const struct pf_usage_device *d, struct pf_buf *out)
{
	if (u->alloc_calls)
		pf_buf_addf(out,
			    "No memory of a GPU is recorded, as where torch's "
			    "caching allocator is off: %s was called %s times, "
			    "%s %s times",
			    u->alloc_call, PF_SHOW_COUNT(u->alloc_calls),
			    u->free_call, PF_SHOW_COUNT(u->free_calls));
	if (u->alloc_calls && d->level_peak < NOTHING) {
		pf_buf_adds(out, ", and no record says for how much");
		return true;
	}
	pf_buf_adds(out, u->alloc_calls ? ". " : "");
	return false;
}

/* Where blocks of the capture were asked for; NULL: it is not known. */
static const char *place_of(const struct pf_usage_group *g,
			    const struct pf_usage_device *d)
{
	const char *place = g->site.frame ? g->site.frame : g->site.op;

	/* ".cpp:": the allocator itself, where no stack of Python was kept */
	return g->count == PF_NO_INT || !place || strstr(place, ".cpp:") ||
			       g->at.trace_id != d->at.trace_id ||
			       g->at.device_type != d->at.device_type ||
			       g->at.device_number != d->at.device_number
		       ? NULL
		       : place;
}

/*
 * Whose the peak is: the place of the largest group with all that the place
 * holds, and what was there before.
 */
static void say_holders(const struct pf_usage *u,
			const struct pf_usage_device *d, struct pf_buf *out)
{
	const char *most = NULL;
	int64_t bytes = 0;

	for (size_t i = 0; i < u->alive_count; i++) {
		const char *place = place_of(&u->alive[i], d);

		if (place && !most)
			most = place;
		if (place && !strcmp(place, most))
			bytes += u->alive[i].bytes;
	}
	if (most && pf_num_share(bytes, d->peak) >= LARGE)
		pf_buf_addf(out, ". %s of it was allocated at %s",
			    PF_SHOW_SHARE(bytes, d->peak), most);
	if (d->before > 0)
		pf_buf_addf(out, ". %s of it dates from before the capture",
			    PF_SHOW_SHARE(d->before, d->peak));
}

#define GROWING_SOON 1000 /* steps, and it has twice as much */

const struct pf_usage_device *pf_usage_growing(const struct pf_usage *u)
{
	const struct pf_usage_device *most = NULL;

	for (size_t i = 0; i < u->device_count; i++) {
		const struct pf_usage_device *d = &u->devices[i];

		if (d->step_growth > (most ? most->step_growth : 0) &&
		    d->step_growth >= d->level_peak / GROWING_SOON)
			most = d;
	}
	return most;
}

void pf_usage_say_growth(const struct pf_usage_device *d, const char *op,
			 const char *line, struct pf_buf *out)
{
	const double part = pf_num_share(d->grown_there, d->step_growth);

	pf_buf_addf(out, "Memory allocated on %s grows by %s%s with each of %s",
		    d->at.device, d->is_even ? "" : "at least ",
		    PF_SHOW_BYTES(d->step_growth),
		    d->growing_steps < d->step_count ? "the last " : "");
	pf_buf_addf(out, "%s steps", PF_SHOW_COUNT(d->growing_steps));
	if ((op || line) && part >= LARGE)
		pf_buf_addf(out, ". %s of that is allocated%s%s%s%s, and kept",
			    part < 1 ? PF_SHOW_RATIO(part) : "All",
			    op ? " by " : "", op ? op : "", line ? " at " : "",
			    line ? line : "");
}

static void say_growing(const struct pf_usage *u, struct pf_buf *out)
{
	const struct pf_usage_device *d = pf_usage_growing(u);

	if (!d)
		return;
	pf_buf_adds(out, ". ");
	pf_usage_say_growth(d, d->grown_at.outer_op, d->grown_at.frame, out);
}

static void add_finding(const struct pf_usage *u, struct pf_doc *doc)
{
	const struct pf_usage_device *d = main_device(u);
	char time[PF_USAGE_WHEN_MAX];
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };

	doc->is_nothing = !d && !pf_snap_state_is(&u->snap);
	if (pf_usage_told_oom(u)) {
		find_oom(pf_usage_told_oom(u), doc);
		return;
	}
	if (pf_snap_state_is(&u->snap) &&
	    (!d || !pf_snap_has_history(&u->snap))) {
		find_now(&u->snap, doc);
		return;
	}
	if (!d) {
		pf_doc_finding(doc, "There are no memory records; %s",
			       pf_hint(u->producer, PF_HINT_MEMORY));
		return;
	}
	pf_usage_when(time, d);
	if (say_direct(u, d, &text)) {
		pf_doc_finding(doc, "%s", text.data);
		return;
	}
	if (!d->is_absolute) {
		pf_buf_addf(&text,
			    "%s: at most %s more than at the start, %s. "
			    "This trace has no totals",
			    d->at.device, PF_SHOW_BYTES(d->growth), time);
		say_growing(u, &text);
		pf_doc_finding(doc, "%s", text.data);
		return;
	}
	const char *peak = PF_SHOW_BYTES(d->peak);
	const char *of = PF_SHOW_BYTES(d->capacity);
	if (d->in_use != PF_NO_INT) {
		pf_doc_finding(doc,
			       "%s%s: at most %s%s%s in use, of which programs "
			       "reserve a part. At most %s is allocated, %s",
			       text.data, d->at.device,
			       PF_SHOW_BYTES(d->in_use),
			       d->capacity > 0 ? " of " : "",
			       d->capacity > 0 ? of : "", peak, time);
		return;
	}
	pf_buf_addf(&text, "%s: at most %s%s%s allocated, %s", d->at.device,
		    peak, d->capacity > 0 ? " of " : "",
		    d->capacity > 0 ? of : "", time);
	say_holders(u, d, &text);
	say_growing(u, &text);
	pf_doc_finding(doc, "%s", text.data);
}

static void add_known(int64_t *sum, int64_t n)
{
	*sum += n == PF_NO_INT ? 0 : n;
}

static void add_notes(const struct pf_usage *u, struct pf_doc *doc)
{
	int64_t no_address = 0, jumps = 0, twice = 0, reused = 0, relative = 0;
	int64_t unsized = 0;

	for (size_t i = 0; i < u->device_count; i++) {
		const struct pf_usage_device *d = &u->devices[i];

		no_address += d->no_address_count;
		unsized += d->unsized_count;
		add_known(&jumps, d->jump_count);
		add_known(&twice, d->twice_count);
		add_known(&reused, d->reused_count);
		relative += !d->is_absolute;
	}
	if (u->alloc_calls)
		pf_doc_note(doc, "PYTORCH_NO_HIP_MEMORY_CACHING and "
				 "PYTORCH_NO_CUDA_MEMORY_CACHING turn torch's "
				 "caching allocator off: each block is then a "
				 "call, and a free waits for the GPU");
	if (relative)
		pf_doc_note(doc, "records without totals: what was allocated "
				 "before the capture is not known");
	if (unsized)
		pf_doc_note(doc,
			    "%s frees say no size, and what they free was "
			    "not seen to be allocated: how much is not known",
			    PF_SHOW_COUNT(unsized));
	if (no_address)
		pf_doc_note(doc,
			    "%s records have no address: what is alive and "
			    "kept does not cover them",
			    PF_SHOW_COUNT(no_address));
	if (jumps)
		pf_doc_note(doc,
			    "%s totals do not continue the one before them: "
			    "records are missing there",
			    PF_SHOW_COUNT(jumps));
	if (twice)
		pf_doc_note(doc, "%s frees of what was freed already",
			    PF_SHOW_COUNT(twice));
	if (reused)
		pf_doc_note(doc,
			    "%s addresses were allocated again without "
			    "having been freed",
			    PF_SHOW_COUNT(reused));
}

/* Of snapshots, by stack. */
static void show_stacks(struct pf_usage *u, struct pf_doc *doc)
{
	PF_ROWS(doc, "alive", "Alive at the peak", alive_stack_fields, u->alive,
		u->alive_count);
	PF_ROWS(doc, "kept", "Allocated and never freed", kept_stack_fields,
		u->kept, u->kept_count);
	PF_ROWS(doc, "stacks", "Allocations by stack", stack_fields, u->ops,
		u->op_count);
	if (u->events)
		pf_doc_adopt(doc, u->events);
	PF_ROWS(doc, "oom", "Out of memory", oom_stack_fields, u->ooms,
		u->oom_count);
}

static void show_ops(struct pf_usage *u, struct pf_doc *doc)
{
	PF_ROWS(doc, "alive", "Alive at the peak", alive_fields, u->alive,
		u->alive_count);
	PF_ROWS(doc, "kept", "Allocated and not freed", kept_fields, u->kept,
		u->kept_count);
	PF_ROWS(doc, "ops", "Allocations by op", op_fields, u->ops,
		u->op_count);
	if (u->events)
		pf_doc_adopt(doc, u->events);
	PF_ROWS(doc, "oom", "Out of memory", oom_fields, u->ooms, u->oom_count);
}

/* Where the columns of a GPU do not add up, what they are short of. */
static void note_sums(const struct pf_snap_state *s, struct pf_doc *doc)
{
	for (size_t i = 0; i < s->now_count; i++) {
		const struct pf_snap_now *n = &s->now[i];
		int64_t sum =
			pf_sat_add(pf_sat_add(n->active, n->rounding), n->free);

		if (sum != n->reserved)
			pf_doc_note(doc,
				    "%s: its segments are %s, and the blocks "
				    "in them %s: the snapshot contradicts "
				    "itself",
				    n->name, PF_SHOW_BYTES(n->reserved),
				    PF_SHOW_BYTES(sum));
	}
}

/* What a reader must know of a snapshot: notes, each only where it holds. */
static void add_snap_notes(const struct pf_snap_state *s, struct pf_doc *doc)
{
	int64_t odd = 0, before = 0, bytes = 0, untimed = 0;
	int64_t entries = 0;
	const bool has_history = pf_snap_has_history(s);

	for (size_t i = 0; i < s->past_count; i++) {
		const struct pf_snap_past *p = &s->past[i];

		pf_sat_sum(&entries, p->entry_count);
		untimed += p->is_untimed && p->entry_count > 1;
		if (!p->entry_count)
			continue;
		pf_sat_sum(&odd, p->odd_count);
		pf_sat_sum(&before, p->before_count);
		pf_sat_sum(&bytes, p->before);
	}
	pf_snap_note_lost(s->lost_segments, doc);
	if (s->lost_entries && !has_history)
		pf_doc_note(
			doc,
			"%s of %s entries of the history could not be read",
			PF_SHOW_COUNT(s->lost_entries),
			PF_SHOW_COUNT(pf_sat_add(entries, s->lost_entries)));
	else if (pf_snap_state_is(s) && !has_history)
		pf_doc_note(doc,
			    "the snapshot has no history%s: call "
			    "torch.cuda.memory._record_memory_history() before "
			    "the model is built",
			    entries ? " but for one entry of a GPU" : "");
	else if (before)
		pf_doc_note(doc,
			    "%s blocks of %s were there before the first entry "
			    "of the history",
			    PF_SHOW_COUNT(before), PF_SHOW_BYTES(bytes));
	if (untimed)
		pf_doc_note(doc, "entries of the history have no times, as "
				 "older versions of torch write them: when "
				 "something was, is said by their number");
	note_sums(s, doc);
	if (odd)
		pf_doc_note(doc,
			    "%s entries of the history do not agree with it or "
			    "with the final state: 'profan doctor' counts them",
			    PF_SHOW_COUNT(odd));
}

static void usage_show(struct pf_usage *u, struct pf_doc *doc)
{
	add_finding(u, doc);
	pf_snap_state_show(&u->snap, doc);
	PF_ROWS(doc, "devices", "Memory by device", device_fields, u->devices,
		u->device_count);
	if (pf_snap_state_is(&u->snap))
		show_stacks(u, doc);
	else
		show_ops(u, doc);
	u->events = NULL;
	if (u->has_curve)
		PF_ROWS(doc, "curve", "Level over time", curve_fields, u->curve,
			u->point_count);
	add_notes(u, doc);
	add_snap_notes(&u->snap, doc);
}

/*
 * The second pass: which blocks are alive, by address.  An address that is
 * allocated again without being freed loses its old block then; one that is
 * freed without having been allocated is memory from before the capture, or
 * freed twice if it was freed in the capture.
 */

#define UNSEEN UINT64_MAX
#define FREED  (UINT64_MAX - 1)

/* ---- groups ---- */

static void add_block(struct pf_keyed *groups, uint32_t device,
		      const struct usage_block *b, bool by_size)
{
	struct usage_group_key key = { device, b->site,
				       by_size ? b->bytes : -1 };
	size_t n = pf_keyed_at_text(groups, (const char *)&key, sizeof(key));
	struct usage_group *g = PF_KEYED_ROW(groups, struct usage_group, n);

	g->key = key;
	if (!g->count++ || b->time_ns < g->oldest_ns)
		g->oldest_ns = b->time_ns;
	pf_sat_sum(&g->bytes, b->bytes);
	PF_AT_LEAST(g->largest, b->bytes);
}

/* ---- the peak and the end ---- */

static void settle_peak(struct usage *u, uint32_t device)
{
	struct usage_device *d = &u->devices[device];

	d->is_settled = true;
	for (size_t i = 0; i < d->block_count; i++) {
		if (!d->blocks[i].is_used)
			continue;
		d->alive_count++;
		pf_sat_sum(&d->alive, d->blocks[i].bytes);
		add_block(&u->alive, device, &d->blocks[i], false);
	}
}

/* Texts of a place. */
static struct pf_usage_site usage_site(struct usage *u, uint32_t site)
{
	struct pf_alloc_site s = allocs_site(&u->allocs, site);
	uint32_t frame = s.frame != PF_ID_NONE ? s.frame : s.note;
	struct pf_names *names = u->out->names;

	if (s.stack != PF_ID_NONE)
		return (struct pf_usage_site){
			.stack = s.stack,
			.frame = pf_stack_line(&u->out->lines, s.stack),
		};
	return (struct pf_usage_site){
		.stack = -1,
		.outer_op = pf_names_frame(names, s.outer_op),
		.frame = pf_names_frame(names, frame),
		.op = pf_names_frame(names, s.op),
	};
}

/* A row of events: freed_ns is of no meaning unless is_freed. */
static void put_event(struct usage *u, uint32_t device,
		      const struct usage_block *b, int64_t freed_ns,
		      bool is_freed)
{
	int64_t first_ns = u->allocs.devices[device].trace->first_ns;
	struct usage_event event = { .at = u->devices[device].at,
				     .bytes = b->bytes,
				     .freed_ns = PF_NO_INT,
				     .lifetime_ns = PF_NO_INT };
	const struct pf_usage_where *at = &event.at;

	if (!u->out->events || !b->is_inside)
		return;
	event.allocated_ns = since(at, b->time_ns, first_ns);
	if (is_freed) {
		event.freed_ns = since(at, freed_ns, first_ns);
		event.lifetime_ns = since(at, freed_ns, b->time_ns);
	}
	event.site = usage_site(u, b->site);
	if (pf_snap_state_is(&u->out->snap))
		PF_PUT(u->out->events, event_stack_fields, event);
	else
		PF_PUT(u->out->events, event_fields, event);
}

/* Of the steps that memory grows with. */
static void add_stay(struct usage *u, uint32_t device,
		     const struct usage_block *b)
{
	const struct usage_growth *g = &u->devices[device].growth;
	int64_t trace_id = u->allocs.devices[device].trace->trace_id;
	size_t step = pf_steps_at(&u->steps, trace_id, b->time_ns);
	struct usage_stay_key key = { device, b->site, step };
	struct usage_stay *stay;
	size_t n;

	if (step < g->first || step > g->last || !is_whole(u, device, step))
		return;
	n = pf_keyed_at_text(&u->stays, (const char *)&key, sizeof(key));
	stay = PF_KEYED_ROW(&u->stays, struct usage_stay, n);
	stay->key = key;
	pf_sat_sum(&stay->bytes, b->bytes);
}

static void settle_end(struct usage *u, uint32_t device)
{
	struct usage_device *d = &u->devices[device];

	for (size_t i = 0; i < d->block_count; i++) {
		const struct usage_block *b = &d->blocks[i];

		if (!b->is_used || !b->is_inside)
			continue;
		d->kept_count++;
		pf_sat_sum(&d->kept_bytes, b->bytes);
		add_block(&u->kept, device, b,
			  allocs_site(&u->allocs, b->site).stack == PF_ID_NONE);
		if (is_growing(&d->growth))
			add_stay(u, device, b);
		put_event(u, device, b, 0, false);
	}
}

/* ---- blocks ---- */

static void allocate(struct usage *u, const struct pf_alloc *r)
{
	struct usage_device *d = &u->devices[r->device];
	uint64_t *known = pf_map_at(&d->by_address, (uint64_t)r->address);
	size_t place;

	if (*known < FREED) {
		place = (size_t)*known;
		d->reused_count += (r->flags & PF_ALLOC_INSIDE) != 0;
		put_event(u, r->device, &d->blocks[place], 0, false);
	} else {
		place = d->free_count ? d->free_places[--d->free_count]
				      : d->block_count++;
		PF_ROOM(d->blocks, d->block_cap, d->block_count);
		*known = place;
	}
	d->blocks[place] = (struct usage_block){
		.time_ns = r->time_ns,
		.bytes = r->bytes,
		.site = r->site,
		.is_inside = r->flags & PF_ALLOC_INSIDE,
		.is_used = true,
	};
}

static void release(struct usage *u, const struct pf_alloc *r)
{
	struct usage_device *d = &u->devices[r->device];
	uint64_t *known = pf_map_at(&d->by_address, (uint64_t)r->address);
	bool is_inside = r->flags & PF_ALLOC_INSIDE;

	if (*known == FREED) {
		d->twice_count += is_inside;
	} else if (*known == UNSEEN) {
		d->early_count += is_inside;
		d->has_early_unsized |= is_inside && !r->bytes;
		if (is_inside)
			d->early_bytes = pf_sat_sub(d->early_bytes, r->bytes);
	} else {
		put_event(u, r->device, &d->blocks[*known], r->time_ns, true);
		d->blocks[*known].is_used = false;
		*PF_ONE_MORE(d->free_places, d->free_count, d->free_cap) =
			(size_t)*known;
	}
	*known = FREED;
}

/* ---- the curve ---- */

static int64_t part_width(const struct usage *u, const struct usage_device *d)
{
	int64_t span = pf_sat_sub(d->last_ns, d->first_ns);

	return span / u->args->points + 1;
}

static void end_part(struct usage *u, uint32_t device)
{
	struct usage_device *d = &u->devices[device];
	struct pf_usage *out = u->out;
	int64_t first_ns = u->allocs.devices[device].trace->first_ns;
	int64_t from;

	if (d->part < 0)
		return;
	from = d->first_ns + d->part * part_width(u, d);
	*PF_ONE_MORE(out->curve, out->point_count, out->point_cap) =
		(struct pf_usage_point){
			.at = d->at,
			.time_ns = since(&d->at, from, first_ns),
			.entry = entries_since(&d->at, from, first_ns),
			.low = d->low,
			.high = d->high,
			.high_ns = since(&d->at, d->high_ns, first_ns),
			.last = d->last,
			.reserved = maybe(d->high_reserved, d->has_reserved),
		};
}

static void draw(struct usage *u, const struct pf_alloc *r)
{
	struct usage_device *d = &u->devices[r->device];
	int64_t part, level;

	if (!u->out->has_curve || !(r->flags & PF_ALLOC_INSIDE))
		return;
	part = pf_sat_sub(r->time_ns, d->first_ns) / part_width(u, d);
	if (!d->has_curve_level) {
		d->curve_level = d->start_level;
		d->has_curve_level = true;
	}
	if (part != d->part) {
		end_part(u, r->device);
		d->part = part;
		d->low = d->high = d->curve_level;
		d->high_ns = r->time_ns;
		d->high_reserved = 0;
	}
	level = d->is_absolute && r->flags & PF_ALLOC_TOTAL
			? pf_allocs_total(&u->allocs, r)
			: pf_sat_add(d->curve_level, r->bytes);
	d->curve_level = d->last = level;
	PF_AT_MOST(d->low, level);
	if (level > d->high) {
		d->high = level;
		d->high_ns = r->time_ns;
	}
	PF_AT_LEAST(d->high_reserved, r->reserved);
}

/* ---- records ---- */

static void put_oom(struct usage *u, const struct pf_alloc *r)
{
	int64_t first_ns = u->allocs.devices[r->device].trace->first_ns;
	struct pf_usage *out = u->out;
	const struct pf_usage_where *at = &u->devices[r->device].at;
	struct pf_usage_oom oom = {
		.at = *at,
		.time_ns = since(at, r->time_ns, first_ns),
		.bytes = r->bytes,
		.allocated = maybe(pf_allocs_total(&u->allocs, r),
				   r->flags & PF_ALLOC_TOTAL),
		.reserved = maybe(r->reserved, r->flags & PF_ALLOC_RESERVED),
		.device_free = r->device_free,
		.unused = PF_NO_INT
	};

	if (!(r->flags & PF_ALLOC_INSIDE))
		return;
	oom.site = usage_site(u, r->site);
	if (oom.allocated != PF_NO_INT && oom.reserved != PF_NO_INT) {
		oom.unused = pf_sat_sub(oom.reserved, oom.allocated);
		oom.fragmented = oom.unused >= oom.bytes ? "yes" : "no";
	}
	*PF_ONE_MORE(out->ooms, out->oom_count, out->oom_cap) = oom;
}

static void add_record(struct usage *u, const struct pf_alloc *r, uint64_t at)
{
	struct usage_device *d = &u->devices[r->device];

	if (d->has_inside && !d->is_settled && d->peak_at <= at)
		settle_peak(u, r->device);
	if (r->flags & PF_ALLOC_OOM) {
		put_oom(u, r);
		return;
	}
	draw(u, r);
	if (!(r->flags & PF_ALLOC_ADDRESS))
		return;
	if (r->bytes > 0)
		allocate(u, r);
	else if (r->bytes < 0 || r->flags & PF_ALLOC_UNSIZED)
		release(u, r);
}

/* Blocks at the peak and at the end; what follows the records. */
static void usage_blocks(struct usage *u)
{
	const struct pf_alloc *r;

	for (uint64_t i = 0; (r = record_at(u, i)); i++)
		add_record(u, r, i);
	for (uint32_t i = 0; i < u->allocs.device_count; i++) {
		if (u->devices[i].has_inside && !u->devices[i].is_settled)
			settle_peak(u, i);
		settle_end(u, i);
		if (u->out->has_curve)
			end_part(u, i);
	}
}

#define NAME_MAX 64

static int load_capacities(struct usage *u, struct pf_db *db)
{
	PF_STMT(stmt) = pf_named_prepare(db, "memory_devices", u->err);
	int rc;

	while ((rc = pf_db_step(db, stmt, u->err)) == 1) {
		for (uint32_t i = 0; i < u->allocs.device_count; i++) {
			const struct pf_alloc_device *d = &u->allocs.devices[i];

			if (d->type > 0 &&
			    d->trace->trace_id ==
				    sqlite3_column_int64(stmt, 0) &&
			    d->number == sqlite3_column_int64(stmt, 1))
				u->devices[i].capacity =
					sqlite3_column_int64(stmt, 2);
		}
	}
	return rc;
}

/* ---- devices and places ---- */

static const char *device_name(const struct pf_alloc_device *d,
			       char out[NAME_MAX])
{
	/* c10::DeviceType; torch calls a HIP device a GPU, too */
	static const struct {
		int64_t type;
		const char *name;
	} types[] = {
		{ 1, "GPU" },  { 6, "GPU" },   { 9, "XLA" },
		{ 12, "XPU" }, { 13, "MPS" },  { 15, "HPU" },
		{ 18, "IPU" }, { 19, "MTIA" }, { 20, "PrivateUse1" },
	};
	const char *name = NULL;

	for (size_t i = 0; i < PF_LEN(types); i++)
		if (types[i].type == d->type)
			name = types[i].name;
	/* as its operations have it */
	if (d->type == 9 && d->trace->is_tpu)
		name = "TPU";
	if (d->type == 0)
		snprintf(out, NAME_MAX, "CPU");
	else if (d->type < 0)
		snprintf(out, NAME_MAX, "not said");
	else if (name && d->number < 0)
		snprintf(out, NAME_MAX, "%s", name);
	else if (name)
		snprintf(out, NAME_MAX, "%s %" PRId64, name, d->number);
	else
		snprintf(out, NAME_MAX, "device type %" PRId64 ", %" PRId64,
			 d->type, d->number);
	return out;
}

/* Has the history of a device no times, but the numbers of entries, from 0? */
static bool is_untimed(const struct pf_snap_state *s, int64_t trace_id,
		       int64_t device)
{
	for (size_t i = 0; i < s->past_count; i++)
		if (s->past[i].trace_id == trace_id &&
		    s->past[i].device == device)
			return s->past[i].is_untimed;
	return false;
}

static void take_label(struct usage *u, uint32_t device, bool has_traces)
{
	const struct pf_alloc_device *d = &u->allocs.devices[device];
	char name[NAME_MAX], label[NAME_MAX];

	device_name(d, name);
	if (!has_traces)
		snprintf(label, NAME_MAX, "%s", name);
	else if (d->trace->rank >= 0)
		snprintf(label, NAME_MAX, "rank %" PRId64 " %.36s",
			 d->trace->rank, name);
	else
		snprintf(label, NAME_MAX, "trace %" PRId64 " %.36s",
			 d->trace->trace_id, name);
	u->devices[device].at = (struct pf_usage_where){
		pf_arena_string(&u->out->texts, label),
		d->type,
		d->number,
		d->trace->rank,
		d->trace->trace_id,
		is_untimed(&u->out->snap, d->trace->trace_id, d->number)
	};
}

/* Accelerators before CPUs, then by trace, type and number. */
PF_ORDER(by_device, struct pf_usage_device,
	 PF_DOWN(at.device_type > 0) PF_UP(at.trace_id) PF_UP(at.device_type)
		 PF_UP(at.device_number))

static void take_churn(const struct usage_device *d, bool has_blocks,
		       struct pf_usage_device *row)
{
	row->allocation_count = d->sums.count;
	row->allocated = d->sums.bytes;
	row->freed_count = d->sums.freed_count;
	row->unsized_count = d->sums.unsized_count;
	row->freed = maybe(d->sums.freed_bytes, !d->sums.unsized_count);
	row->kept_count = maybe(d->kept_count, has_blocks);
	row->kept = maybe(d->kept_bytes, has_blocks);
	row->early_count = maybe(d->early_count, has_blocks);
	row->early = maybe(d->early_bytes, has_blocks && !d->has_early_unsized);
	row->twice_count = maybe(d->twice_count, has_blocks);
	row->reused_count = maybe(d->reused_count, has_blocks);
	row->jump_count = maybe(d->jump_count, d->is_absolute);
	row->jump = maybe(d->jump_bytes, d->is_absolute);
	row->no_address_count = d->no_address_count;
	row->oom_count = d->oom_count;
}

static struct pf_usage_device device_row(const struct usage *u, uint32_t i)
{
	const struct usage_device *d = &u->devices[i];
	int64_t first_ns = u->allocs.devices[i].trace->first_ns;
	const struct pf_alloc_pool *pool = &u->allocs.devices[i].pool;
	int64_t capacity = d->capacity > 0 ? d->capacity : pool->capacity;
	bool is_abs = d->is_absolute, has_capacity = capacity > 0;
	bool has_programs = pool->reserved > 0;
	bool has_kept = is_abs && d->has_reserved;
	bool has_blocks = d->no_address_count < d->record_count;
	struct pf_usage_device row = {
		.at = d->at,
		.is_absolute = is_abs,
		.level_peak = d->peak,
		.peak = maybe(d->peak, is_abs),
		.capacity = maybe(capacity, has_capacity),
		.capacity_share =
			is_abs && has_capacity
				? pf_ratio((double)(has_programs ? pool->in_use
								 : d->peak),
					   capacity)
				: NAN,
		.growth = pf_sat_sub(d->peak, d->start_level),
		.peak_ns = since(&d->at, d->peak_ns, first_ns),
		/* the entry that reaches it included */
		.peak_entry = entries_since(
			&d->at,
			pf_sat_add(d->peak_ns, d->peak > d->start_level),
			first_ns),
		.peak_reserved = has_programs
					 ? pool->in_use
					 : maybe(d->peak_reserved, has_kept),
		.in_use = maybe(pool->in_use, has_programs),
		.lifetime_peak = maybe(pool->lifetime_peak, pool->is_said),
		.fragmentation = pool->is_said ? pool->fragmentation : NAN,
		.reserved_at_peak = maybe(d->reserved_at_peak, has_kept),
		.unused_at_peak = maybe(
			pf_sat_sub(d->reserved_at_peak, d->peak), has_kept),
		.unused = maybe(d->unused, has_kept),
		.unused_ns = maybe(since(&d->at, d->unused_ns, first_ns),
				   has_kept && d->unused),
		.alive = maybe(d->alive, has_blocks),
		.alive_count = maybe(d->alive_count, has_blocks),
		.before = maybe(pf_sat_sub(d->peak, d->alive),
				is_abs && has_blocks),
		.start_level = maybe(d->start_level, is_abs),
		.end_level = maybe(d->end_level, is_abs),
	};

	take_churn(d, has_blocks, &row);
	return row;
}

PF_ORDER(by_stay, struct usage_stay,
	 PF_UP(key.device) PF_UP(key.site) PF_UP(key.step))

static const struct usage_stay *stay_at(const struct usage *u, size_t i)
{
	return PF_KEYED_ROW(&u->stays, struct usage_stay, i);
}

/* The site of which most stays of each step that memory grows with. */
static void take_growth(struct usage *u, uint32_t device,
			struct pf_usage_device *row)
{
	const struct usage_growth *g = &u->devices[device].growth;
	const struct usage_stay *first, *s;
	uint32_t site = PF_ID_NONE;
	size_t end, i = PF_SEARCH(k, u->stays.count,
				  stay_at(u, k)->key.device < device);
	int64_t least;

	row->step_growth = maybe(g->least, is_growing(g));
	row->growing_steps = maybe(g->count, is_growing(g));
	row->step_count = g->step_count;
	row->is_even = g->least == g->most;
	for (; i < u->stays.count; i = end) {
		first = stay_at(u, i);
		if (first->key.device != device)
			break;
		least = first->bytes;
		for (end = i; end < u->stays.count; end++) {
			s = stay_at(u, end);
			if (s->key.device != device ||
			    s->key.site != first->key.site)
				break;
			PF_AT_MOST(least, s->bytes);
		}
		if (end - i != (size_t)g->count || least <= row->grown_there)
			continue;
		row->grown_there = least;
		site = first->key.site;
	}
	PF_AT_MOST(row->grown_there, g->least);
	if (site != PF_ID_NONE && !u->args->no_sites)
		row->grown_at = usage_site(u, site);
}

static void take_devices(struct usage *u, struct pf_usage *out)
{
	struct pf_usage_device *row;

	out->devices = pf_arena_calloc(&out->texts, u->allocs.device_count,
				       sizeof(*out->devices));
	pf_keyed_sort(&u->stays, by_stay);
	for (uint32_t i = 0; i < u->allocs.device_count; i++) {
		if (!u->devices[i].has_inside)
			continue;
		row = &out->devices[out->device_count++];
		*row = device_row(u, i);
		take_growth(u, i, row);
	}
	pf_sort(out->devices, out->device_count, sizeof(*out->devices),
		by_device);
}

/* ---- groups in order ---- */

PF_ORDER(by_bytes, struct usage_group,
	 PF_DOWN(bytes) PF_UP(key.device) PF_UP(key.site) PF_DOWN(key.size))

/* What is not of the capture, so that a device's rows add up to its peak. */
static void take_before(const struct usage *u, struct pf_usage *out)
{
	for (uint32_t i = 0; i < u->allocs.device_count; i++) {
		const struct usage_device *d = &u->devices[i];
		int64_t bytes = pf_sat_sub(d->peak, d->alive);

		if (!d->has_inside || !d->is_absolute || !bytes ||
		    d->no_address_count == d->record_count)
			continue;
		out->alive[out->alive_count++] = (struct pf_usage_group){
			.at = d->at,
			.site.outer_op = bytes < 0 ? "(freed, not recorded)"
						   : "(before capture)",
			.site.stack = -1,
			.bytes = bytes,
			.peak_share = pf_ratio((double)bytes, d->peak),
			.count = PF_NO_INT,
			.largest = PF_NO_INT,
			.age_ns = PF_NO_INT
		};
	}
}

static void take_groups(struct usage *u, struct pf_keyed *groups,
			struct pf_usage_group *rows, size_t *count)
{
	pf_keyed_sort(groups, by_bytes);
	for (size_t i = 0; i < groups->count; i++) {
		const struct usage_group *from =
			PF_KEYED_ROW(groups, struct usage_group, i);
		const struct usage_device *d = &u->devices[from->key.device];

		rows[(*count)++] = (struct pf_usage_group){
			.at = d->at,
			.site = usage_site(u, from->key.site),
			.bytes = from->bytes,
			.count = from->count,
			.size = from->key.size,
			.largest = from->largest,
			.age_ns = since(&d->at, d->peak_ns, from->oldest_ns),
			.peak_share =
				pf_ratio((double)from->bytes,
					 d->is_absolute ? d->peak : d->alive)
		};
	}
}

/* ---- ops ---- */

PF_ORDER(by_allocated, struct pf_alloc_op,
	 PF_DOWN(self.bytes) PF_DOWN(total.bytes) PF_UP(device) PF_UP(stack)
		 PF_UP(name))

static int64_t increase(const struct pf_alloc_sums *s)
{
	/* neither is negative */
	return maybe(s->bytes - s->freed_bytes, !s->unsized_count);
}

static const char *op_text(struct pf_usage *out, const struct pf_alloc_op *op)
{
	if (op->stack != PF_ID_NONE)
		return pf_stack_line(&out->lines, op->stack);
	if (pf_snap_state_is(&out->snap))
		return "(no stack)";
	return op->name == PF_ID_NONE ? "(outside of ops)"
				      : pf_names_frame(out->names, op->name);
}

static void take_ops(struct usage *u, struct pf_usage *out)
{
	pf_sort(u->allocs.ops, u->allocs.op_count, sizeof(*u->allocs.ops),
		by_allocated);
	for (uint32_t i = 0; i < u->allocs.op_count; i++) {
		const struct pf_alloc_op *op = &u->allocs.ops[i];
		bool is_op = op->name != PF_ID_NONE;
		uint64_t calls = is_op ? *pf_map_at(&u->allocs.calls, op->name)
				       : UINT64_MAX;

		out->ops[out->op_count++] = (struct pf_usage_op){
			.at = u->devices[op->device].at,
			.op = op_text(out, op),
			.stack = op->stack == PF_ID_NONE ? -1
							 : (int64_t)op->stack,
			.calls = maybe((int64_t)calls, calls != UINT64_MAX),
			.self_count = op->self.count,
			.self_bytes = op->self.bytes,
			.self_increase = increase(&op->self),
			.bytes = op->total.bytes,
			.increase = increase(&op->total),
			.count = op->total.count,
			.self_freed_count = op->self.freed_count,
			.self_freed = maybe(op->self.freed_bytes,
					    !op->self.unsized_count)
		};
	}
}

/* ---- the whole ---- */

static void take_all(struct usage *u, struct pf_usage *out)
{
	take_devices(u, out);
	out->alive = pf_arena_calloc(&out->texts,
				     u->alive.count + u->allocs.device_count,
				     sizeof(*out->alive));
	out->kept =
		pf_arena_calloc(&out->texts, u->kept.count, sizeof(*out->kept));
	out->ops = pf_arena_calloc(&out->texts, u->allocs.op_count,
				   sizeof(*out->ops));
	take_before(u, out);
	take_groups(u, &u->alive, out->alive, &out->alive_count);
	take_groups(u, &u->kept, out->kept, &out->kept_count);
	take_ops(u, out);
}

/* ---- without torch's allocator ---- */

/* So many allocations and frees are no start of a program. */
#define DIRECT_CALLS_LEAST 100

struct direct_calls {
	struct pf_names *names;
	const struct pf_window_trace *trace;
	struct pf_map words; /* name -> which of these + 1 */
	struct {
		int64_t count;
		uint32_t name; /* of the first */
	} of[2];               /* allocations, frees */
};

static int note_direct(void *context, const struct pf_block *b, uint32_t i,
		       int64_t event_id)
{
	struct direct_calls *c = context;
	unsigned kind = pf_names_kind(c->names, b->type[i]);
	int64_t start_ns = b->start_ns[i];
	uint64_t *word;
	char *text;

	(void)event_id;
	if ((kind != PF_KIND_RUNTIME && kind != PF_KIND_DRIVER) ||
	    b->name[i] == PF_ID_INLINE || start_ns < c->trace->from_ns ||
	    start_ns >= c->trace->to_ns)
		return 0;
	word = pf_map_at(&c->words, b->name[i]);
	if (*word == UINT64_MAX) {
		text = pf_names_text_take(c->names, b->name[i]);
		PF_TRY(!text);
		*word = pf_word(PF_WORD_DEVICE_ALLOC, text)  ? 2
			: pf_word(PF_WORD_DEVICE_FREE, text) ? 3
							     : 1;
		free(text);
	}
	if (*word < 2)
		return 0;
	if (!c->of[*word - 2].count++)
		c->of[*word - 2].name = b->name[i];
	return 0;
}

/*
 * With its caching allocator off torch records no memory of GPUs: a peak of
 * the CPU would pass for all there is.
 */
static void find_direct(struct usage *u, struct pf_db *db)
{
	const struct pf_track_reader reader = { .event = note_direct };
	struct pf_usage *out = u->out;
	struct direct_calls c = { .names = u->allocs.names };
	struct pf_track *tracks = NULL;
	size_t count = 0;

	for (size_t i = 0; i < out->device_count; i++)
		if (out->devices[i].at.device_type > 0)
			return;
	if (!out->device_count)
		return;
	pf_tracks_load(db, 0, &tracks, &count, u->err);
	for (size_t i = 0; i < count && !u->err->code; i++) {
		c.trace = pf_window_find(&out->window, tracks[i].trace_id);
		if (c.trace && !strcmp(tracks[i].class_name, "host"))
			pf_track_read(db, &tracks[i], &reader, &c);
	}
	if (c.of[0].count >= DIRECT_CALLS_LEAST &&
	    c.of[1].count >= DIRECT_CALLS_LEAST) {
		out->alloc_calls = c.of[0].count;
		out->free_calls = c.of[1].count;
		out->alloc_call = pf_names_frame(c.names, c.of[0].name);
		out->free_call = pf_names_frame(c.names, c.of[1].name);
	}
	pf_tracks_free(tracks, count);
	pf_map_release(&c.words);
}

static void tear_down(struct usage *u)
{
	for (uint32_t i = 0; u->devices && i < u->allocs.device_count; i++) {
		pf_map_release(&u->devices[i].by_address);
		free(u->devices[i].blocks);
		free(u->devices[i].free_places);
	}
	free(u->devices);
	pf_keyed_end(&u->alive);
	pf_keyed_end(&u->kept);
	pf_keyed_end(&u->stays);
	pf_steps_release(&u->steps);
	allocs_release(&u->allocs);
}

static int set_up(struct usage *u, struct pf_db *db)
{
	struct pf_usage *out = u->out;

	pf_keyed_begin(&u->alive, sizeof(struct usage_group), PF_KEYED_SUMS);
	pf_keyed_begin(&u->kept, sizeof(struct usage_group), PF_KEYED_SUMS);
	pf_keyed_begin(&u->stays, sizeof(struct usage_stay), PF_KEYED_SUMS);
	PF_TRY(pf_hint_producer(db, &out->producer));
	PF_TRY(allocs_load(db, &out->window, u->args->no_sites, &u->allocs));
	out->names = u->allocs.names;
	if (u->allocs.device_count && !pf_snap_state_is(&out->snap))
		PF_TRY(pf_window_steps(db, &out->window, &u->steps));
	u->devices =
		pf_calloc(u->allocs.device_count + 1u, sizeof(*u->devices));
	for (uint32_t i = 0; i < u->allocs.device_count; i++) {
		u->devices[i].part = -1;
		u->devices[i].capacity = -1;
		u->devices[i].next_step = pf_steps_first(
			&u->steps, u->allocs.devices[i].trace->trace_id);
		take_label(u, i, out->window.count > 1);
	}
	return load_capacities(u, db);
}

int pf_usage_find(struct pf_db *db, const struct pf_usage_args *args,
		  const struct pf_order *order, struct pf_usage *out)
{
	struct pf_window_args window = args->window;
	struct usage u = { .err = db->err, .args = args, .out = out };

	window.beside = true;
	PF_TRY(pf_window_resolve(db, &window, &out->window));
	PF_TRY(pf_snap_state_find(db, &out->window, &out->snap));
	out->lines.db = db;
	out->has_curve = args->points > 0;
	if (args->events && pf_snap_state_is(&out->snap))
		out->events = pf_fields_table("events", "Allocations",
					      PF_FIELDS(event_stack_fields));
	else if (args->events)
		out->events = pf_fields_table("events", "Allocations",
					      PF_FIELDS(event_fields));
	if (out->events && order)
		pf_table_order(out->events, order);
	if (!set_up(&u, db)) {
		usage_levels(&u);
		usage_blocks(&u);
		take_all(&u, out);
		find_direct(&u, db);
	}
	out->names = u.allocs.names;
	u.allocs.names = NULL;
	tear_down(&u);
	return db->err->code ? -1 : 0;
}

void pf_usage_release(struct pf_usage *u)
{
	pf_names_free(u->names);
	pf_stack_lines_release(&u->lines);
	pf_snap_state_release(&u->snap);
	pf_arena_release(&u->texts);
	free(u->ooms);
	free(u->curve);
	pf_table_free(u->events);
	pf_window_release(&u->window);
	*u = (struct pf_usage){ 0 };
}

int pf_usage(struct pf_db *db, const struct pf_usage_args *args,
	     struct pf_usage *kept, struct pf_doc *doc)
{
	PF_AUTO(pf_usage_release) struct pf_usage own = { 0 };
	struct pf_usage *u = kept ? kept : &own;

	PF_TRY(pf_usage_find(db, args, doc->lists ? &doc->order : NULL, u));
	usage_show(u, doc);
	return pf_trust_note(db, &u->window, PF_TRUST_STACKS, doc);
}
