/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "analysis/memory/alloc_scan.h"

#include "base/mem.h"
#include "base/tempfile.h"
#include "events/args.h"
#include "events/interval.h"
#include "events/nest.h"
#include "formats/event.h"
#include "store/cursor.h"
#include "store/query.h"
#include "store/texts.h"

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

struct pf_alloc_site pf_allocs_site(const struct pf_allocs *a, uint32_t site)
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

static void add_record(struct scan *s, const struct pf_span *e, bool is_oom)
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
			add_record(s, &e, kind == PF_KIND_OOM);
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
	sqlite3_stmt *stmt =
		pf_named_prepare(s->db, "memory_records", s->db->err);
	int rc;

	sqlite3_bind_int64(stmt, 1, s->trace->trace_id);
	rc = pf_db_step(s->db, stmt, s->db->err);
	sqlite3_finalize(stmt);
	return rc == 1;
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

int pf_allocs_load(struct pf_db *db, const struct pf_window *window,
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

void pf_allocs_release(struct pf_allocs *a)
{
	pf_names_free(a->names);
	pf_spool_free(a->records);
	pf_intern_release(&a->sites);
	pf_map_release(&a->calls);
	free(a->devices);
	free(a->ops);
	*a = (struct pf_allocs){ 0 };
}
