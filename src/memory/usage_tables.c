/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory/usage_impl.h"
#include "base/mem.h"
#include "base/sat.h"
#include "trace/event.h"

#define COLS(c) c, sizeof(c) / sizeof(*(c))

static const char before_capture[] = "(before capture)";

/* ---- devices ---- */

static const char *device_name(const struct pf_alloc_device *d,
			       char out[PF_USAGE_NAME_MAX])
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

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (types[i].type == d->type)
			name = types[i].name;
	if (d->type == 0)
		snprintf(out, PF_USAGE_NAME_MAX, "CPU");
	else if (d->type < 0)
		snprintf(out, PF_USAGE_NAME_MAX, "not said");
	else if (name && d->number < 0)
		snprintf(out, PF_USAGE_NAME_MAX, "%s", name);
	else if (name)
		snprintf(out, PF_USAGE_NAME_MAX, "%s %" PRId64, name,
			 d->number);
	else
		snprintf(out, PF_USAGE_NAME_MAX,
			 "device type %" PRId64 ", %" PRId64, d->type,
			 d->number);
	return out;
}

void pf_usage_put(struct pf_table *t, int64_t n, bool is_known)
{
	if (is_known)
		pf_table_int(t, n);
	else
		pf_table_null(t);
}

const char *pf_usage_device_label(const struct pf_usage *u, uint32_t device,
				  char out[PF_USAGE_NAME_MAX])
{
	const struct pf_alloc_device *d = &u->allocs.devices[device];
	char name[PF_USAGE_NAME_MAX];

	device_name(d, name);
	if (!u->has_traces)
		snprintf(out, PF_USAGE_NAME_MAX, "%s", name);
	else if (d->trace->rank >= 0)
		snprintf(out, PF_USAGE_NAME_MAX, "rank %" PRId64 " %.36s",
			 d->trace->rank, name);
	else
		snprintf(out, PF_USAGE_NAME_MAX, "trace %" PRId64 " %.36s",
			 d->trace->trace_id, name);
	return out;
}

void pf_usage_put_device(const struct pf_usage *u, struct pf_table *t,
			 uint32_t device)
{
	char name[PF_USAGE_NAME_MAX];

	pf_table_string(t, pf_usage_device_label(u, device, name));
}

#define ID_COLS                                                                \
	{ "device_type", "Device type", PF_INT | PF_FULL },                    \
		{ "device_number", "Number", PF_INT | PF_FULL },               \
		{ "rank", "Rank", PF_INT | PF_FULL },                          \
	{                                                                      \
		"trace_id", "Trace", PF_INT | PF_FULL                          \
	}

void pf_usage_put_ids(const struct pf_usage *u, struct pf_table *t,
		      uint32_t device)
{
	const struct pf_alloc_device *d = &u->allocs.devices[device];

	pf_usage_put(t, d->type, d->type >= 0);
	pf_usage_put(t, d->number, d->number >= 0);
	pf_usage_put(t, d->trace->rank, d->trace->rank >= 0);
	pf_table_int(t, d->trace->trace_id);
}

/* A name as text, null for PF_ID_NONE. */
static int put_name(struct pf_usage *u, struct pf_table *t, uint32_t name,
		    struct pf_err *err)
{
	uint64_t *known;
	const char *shown;
	size_t len;
	char *text;

	if (name == PF_ID_NONE) {
		pf_table_null(t);
		return 0;
	}
	known = pf_map_at(&u->texts_by_name, name);
	if (*known == UINT64_MAX) {
		text = pf_names_frame_take(u->allocs.names, name, err);
		if (!text)
			return -1;
		*known = pf_intern_add(&u->texts, text, strlen(text));
		free(text);
	}
	shown = pf_intern_text(&u->texts, (uint32_t)*known, &len);
	pf_table_text(t, shown, len);
	return 0;
}

#define SITE_COLS                                                              \
	{ "outer_op", "Op", PF_TEXT },                                         \
		{ "frame", "Line or annotation", PF_PATH },                    \
	{                                                                      \
		"op", "Innermost op", PF_TEXT | PF_FULL                        \
	}

int pf_usage_put_site(struct pf_usage *u, struct pf_table *t, uint32_t site,
		      struct pf_err *err)
{
	struct pf_alloc_site s = pf_allocs_site(&u->allocs, site);

	if (put_name(u, t, s.outer_op, err) < 0 ||
	    put_name(u, t, s.frame != PF_ID_NONE ? s.frame : s.note, err) < 0)
		return -1;
	return put_name(u, t, s.op, err);
}

/* Accelerators before CPUs, then by trace, type and number. */
static int by_device(const void *a, const void *b)
{
	const struct pf_alloc_device *x = *(struct pf_alloc_device *const *)a;
	const struct pf_alloc_device *y = *(struct pf_alloc_device *const *)b;

	if ((x->type > 0) != (y->type > 0))
		return x->type > 0 ? -1 : 1;
	if (x->trace->trace_id != y->trace->trace_id)
		return x->trace->trace_id < y->trace->trace_id ? -1 : 1;
	if (x->type != y->type)
		return x->type < y->type ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* Devices of the window in order; to be freed. */
static const struct pf_alloc_device **devices_take(const struct pf_usage *u,
						   size_t *count)
{
	const struct pf_alloc_device **out =
		pf_calloc(u->allocs.device_count + 1u, sizeof(*out));

	*count = 0;
	for (uint32_t i = 0; i < u->allocs.device_count; i++)
		if (u->devices[i].has_inside)
			out[(*count)++] = &u->allocs.devices[i];
	if (*count)
		qsort(out, *count, sizeof(*out), by_device);
	return out;
}

static void put_peak(const struct pf_usage *u, struct pf_table *t, uint32_t i)
{
	const struct pf_usage_device *d = &u->devices[i];
	const struct pf_window_trace *trace = u->allocs.devices[i].trace;
	bool is_absolute = d->is_absolute;
	bool has_reserved = is_absolute && d->has_reserved;
	bool has_blocks = d->no_address_count < d->record_count;
	int64_t unused =
		has_reserved ? pf_sat_sub(d->reserved_at_peak, d->peak) : 0;

	pf_usage_put(t, d->peak, is_absolute);
	pf_usage_put(t, d->capacity, d->capacity > 0);
	if (is_absolute && d->capacity > 0)
		pf_table_ratio(t, d->peak, d->capacity);
	else
		pf_table_null(t);
	pf_table_int(t, pf_sat_sub(d->peak, d->start_level));
	pf_table_int(t, pf_sat_sub(d->peak_ns, trace->first_ns));
	pf_usage_put(t, d->peak_reserved, has_reserved);
	pf_usage_put(t, d->reserved_at_peak, has_reserved);
	pf_usage_put(t, unused, has_reserved);
	pf_usage_put(t, d->unused, has_reserved);
	pf_usage_put(t, pf_sat_sub(d->unused_ns, trace->first_ns),
		     has_reserved && d->unused);
	pf_usage_put(t, d->alive, has_blocks);
	pf_usage_put(t, d->alive_count, has_blocks);
	pf_usage_put(t, pf_sat_sub(d->peak, d->alive),
		     is_absolute && has_blocks);
	pf_usage_put(t, d->start_level, is_absolute);
	pf_usage_put(t, d->end_level, is_absolute);
}

static void put_churn(const struct pf_usage *u, struct pf_table *t, uint32_t i)
{
	const struct pf_usage_device *d = &u->devices[i];
	bool has_blocks = d->no_address_count < d->record_count;

	pf_table_int(t, d->sums.count);
	pf_table_int(t, d->sums.bytes);
	pf_table_int(t, d->sums.freed_count);
	pf_table_int(t, d->sums.freed_bytes);
	pf_usage_put(t, d->kept_count, has_blocks);
	pf_usage_put(t, d->kept_bytes, has_blocks);
	pf_usage_put(t, d->early_count, has_blocks);
	pf_usage_put(t, d->early_bytes, has_blocks);
	pf_usage_put(t, d->twice_count, has_blocks);
	pf_usage_put(t, d->reused_count, has_blocks);
	pf_usage_put(t, d->jump_count, d->is_absolute);
	pf_usage_put(t, d->jump_bytes, d->is_absolute);
	pf_table_int(t, d->no_address_count);
	pf_table_int(t, d->oom_count);
	pf_usage_put_ids(u, t, i);
}

static const struct pf_col device_cols[] = {
	{ "device", "Device", PF_TEXT },
	{ "peak_bytes", "Peak", PF_BYTES },
	{ "capacity_bytes", "Of", PF_BYTES | PF_FULL },
	{ "capacity_share", "Share", PF_RATIO | PF_FULL },
	{ "peak_growth_bytes", "Growth", PF_BYTES },
	{ "peak_ns", "At", PF_NS },
	{ "peak_reserved_bytes", "Reserved", PF_BYTES },
	{ "reserved_at_peak_bytes", "Reserved then", PF_BYTES | PF_FULL },
	{ "unused_at_peak_bytes", "Unused then", PF_BYTES | PF_FULL },
	{ "unused_bytes", "Most unused", PF_BYTES | PF_FULL },
	{ "unused_ns", "Unused at", PF_NS | PF_FULL },
	{ "alive_bytes", "Alive", PF_BYTES | PF_FULL },
	{ "alive_count", "Blocks", PF_COUNT | PF_FULL },
	{ "before_bytes", "From before", PF_BYTES | PF_FULL },
	{ "start_bytes", "At start", PF_BYTES | PF_FULL },
	{ "end_bytes", "At end", PF_BYTES | PF_FULL },
	{ "allocation_count", "Allocations", PF_COUNT | PF_FULL },
	{ "allocated_bytes", "Allocated", PF_BYTES },
	{ "freed_count", "Frees", PF_COUNT | PF_FULL },
	{ "freed_bytes", "Freed", PF_BYTES },
	{ "kept_count", "Kept", PF_COUNT | PF_FULL },
	{ "kept_bytes", "Kept", PF_BYTES | PF_FULL },
	{ "early_count", "Frees of earlier", PF_COUNT | PF_FULL },
	{ "early_bytes", "Freed of earlier", PF_BYTES | PF_FULL },
	{ "freed_twice_count", "Freed twice", PF_COUNT | PF_FULL },
	{ "reused_count", "Frees missed", PF_COUNT | PF_FULL },
	{ "jump_count", "Jumps", PF_COUNT | PF_FULL },
	{ "jump_bytes", "Jumped", PF_BYTES | PF_FULL },
	{ "no_address_count", "No address", PF_COUNT | PF_FULL },
	{ "oom_count", "Out of memory", PF_COUNT | PF_FULL },
	ID_COLS,
};

static void add_devices(const struct pf_usage *u)
{
	struct pf_table *t = u->by_device;
	size_t count;
	const struct pf_alloc_device **list = devices_take(u, &count);

	for (size_t i = 0; i < count; i++) {
		uint32_t device = (uint32_t)(list[i] - u->allocs.devices);

		pf_usage_put_device(u, t, device);
		put_peak(u, t, device);
		put_churn(u, t, device);
	}
	free(list);
}

/* ---- groups ---- */

static int by_bytes(const void *a, const void *b)
{
	const struct pf_usage_group *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	if (x->key.device != y->key.device)
		return x->key.device < y->key.device ? -1 : 1;
	if (x->key.site != y->key.site)
		return x->key.site < y->key.site ? -1 : 1;
	return x->key.size < y->key.size   ? 1
	       : x->key.size > y->key.size ? -1
					   : 0;
}

static void sort_groups(struct pf_usage_groups *g)
{
	if (g->keys.count)
		qsort(g->items, g->keys.count, sizeof(*g->items), by_bytes);
}

/* What is not of the capture, so that a device's rows add up to its peak. */
static void put_before(const struct pf_usage *u, struct pf_table *t)
{
	for (uint32_t i = 0; i < u->allocs.device_count; i++) {
		const struct pf_usage_device *d = &u->devices[i];

		if (!d->has_inside || !d->is_absolute || d->peak == d->alive ||
		    d->no_address_count == d->record_count)
			continue;
		pf_usage_put_device(u, t, i);
		pf_table_int(t, pf_sat_sub(d->peak, d->alive));
		pf_table_ratio(t, pf_sat_sub(d->peak, d->alive), d->peak);
		pf_table_null(t);
		pf_table_string(t, before_capture);
		for (int k = 0; k < 4; k++)
			pf_table_null(t);
		pf_usage_put_ids(u, t, i);
	}
}

static const struct pf_col alive_cols[] = {
	{ "device", "Device", PF_TEXT },
	{ "bytes", "Bytes", PF_BYTES },
	{ "peak_share", "Of peak", PF_RATIO },
	{ "count", "Blocks", PF_COUNT },
	SITE_COLS,
	{ "largest_bytes", "Largest", PF_BYTES | PF_FULL },
	{ "age_ns", "Oldest", PF_NS | PF_FULL },
	ID_COLS,
};

static int add_alive(struct pf_usage *u, struct pf_err *err)
{
	struct pf_table *t = u->alive_table;

	put_before(u, t);
	sort_groups(&u->alive);
	for (uint32_t i = 0; i < u->alive.keys.count; i++) {
		const struct pf_usage_group *g = &u->alive.items[i];
		const struct pf_usage_device *d = &u->devices[g->key.device];

		pf_usage_put_device(u, t, g->key.device);
		pf_table_int(t, g->bytes);
		pf_table_ratio(t, g->bytes,
			       d->is_absolute ? d->peak : d->alive);
		pf_table_int(t, g->count);
		if (pf_usage_put_site(u, t, g->key.site, err) < 0)
			return -1;
		pf_table_int(t, g->largest);
		pf_table_int(t, pf_sat_sub(d->peak_ns, g->oldest_ns));
		pf_usage_put_ids(u, t, g->key.device);
	}
	return 0;
}

static const struct pf_col kept_cols[] = {
	{ "device", "Device", PF_TEXT },
	{ "bytes", "Bytes", PF_BYTES },
	{ "count", "Blocks", PF_COUNT },
	{ "size_bytes", "Of size", PF_BYTES },
	SITE_COLS,
	ID_COLS,
};

static int add_kept(struct pf_usage *u, struct pf_err *err)
{
	struct pf_table *t = u->kept_table;

	sort_groups(&u->kept);
	for (uint32_t i = 0; i < u->kept.keys.count; i++) {
		const struct pf_usage_group *g = &u->kept.items[i];

		pf_usage_put_device(u, t, g->key.device);
		pf_table_int(t, g->bytes);
		pf_table_int(t, g->count);
		pf_table_int(t, g->key.size);
		if (pf_usage_put_site(u, t, g->key.site, err) < 0)
			return -1;
		pf_usage_put_ids(u, t, g->key.device);
	}
	return 0;
}

/* ---- ops ---- */

static int by_allocated(const void *a, const void *b)
{
	const struct pf_alloc_op *x = a, *y = b;

	if (x->self.bytes != y->self.bytes)
		return x->self.bytes < y->self.bytes ? 1 : -1;
	if (x->total.bytes != y->total.bytes)
		return x->total.bytes < y->total.bytes ? 1 : -1;
	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

static int64_t increase(const struct pf_alloc_sums *s)
{
	return s->bytes - s->freed_bytes; /* neither is negative */
}

static void put_op(struct pf_usage *u, struct pf_table *t,
		   const struct pf_alloc_op *op)
{
	uint64_t calls = op->name == PF_ID_NONE
				 ? UINT64_MAX
				 : *pf_map_at(&u->allocs.calls, op->name);

	pf_usage_put(t, (int64_t)calls,
		     op->name != PF_ID_NONE && calls != UINT64_MAX);
	pf_table_int(t, op->self.count);
	pf_table_int(t, op->self.bytes);
	pf_table_int(t, increase(&op->self));
	pf_table_int(t, op->total.bytes);
	pf_table_int(t, increase(&op->total));
	pf_table_int(t, op->total.count);
	pf_table_int(t, op->self.freed_count);
	pf_table_int(t, op->self.freed_bytes);
	pf_usage_put_ids(u, t, op->device);
}

static const struct pf_col op_cols[] = {
	{ "device", "Device", PF_TEXT },
	{ "op", "Op", PF_TEXT },
	{ "calls", "Calls", PF_COUNT },
	{ "self_allocation_count", "Allocs", PF_COUNT },
	{ "self_allocated_bytes", "Allocated", PF_BYTES },
	{ "self_increase_bytes", "Increase", PF_BYTES },
	{ "allocated_bytes", "With inner", PF_BYTES },
	{ "increase_bytes", "Increase with inner", PF_BYTES | PF_FULL },
	{ "allocation_count", "Total allocations", PF_COUNT | PF_FULL },
	{ "self_freed_count", "Self frees", PF_COUNT | PF_FULL },
	{ "self_freed_bytes", "Self freed", PF_BYTES | PF_FULL },
	ID_COLS,
};

static int add_ops(struct pf_usage *u, struct pf_err *err)
{
	struct pf_table *t = u->op_table;

	if (u->allocs.op_count)
		qsort(u->allocs.ops, u->allocs.op_count, sizeof(*u->allocs.ops),
		      by_allocated);
	for (uint32_t i = 0; i < u->allocs.op_count; i++) {
		const struct pf_alloc_op *op = &u->allocs.ops[i];

		pf_usage_put_device(u, t, op->device);
		if (op->name == PF_ID_NONE)
			pf_table_string(t, "(outside of ops)");
		else if (put_name(u, t, op->name, err) < 0)
			return -1;
		put_op(u, t, op);
	}
	return 0;
}

/* ---- all tables ---- */

static const struct pf_col curve_cols[] = {
	{ "device", "Device", PF_TEXT },
	{ "time_ns", "From", PF_NS },
	{ "low_bytes", "Lowest", PF_BYTES },
	{ "high_bytes", "Highest", PF_BYTES },
	{ "high_ns", "Highest at", PF_NS },
	{ "last_bytes", "Last", PF_BYTES },
	{ "reserved_bytes", "Reserved", PF_BYTES },
	ID_COLS,
};

static const struct pf_col event_cols[] = {
	{ "device", "Device", PF_TEXT },
	{ "bytes", "Bytes", PF_BYTES },
	{ "allocated_ns", "At", PF_NS },
	{ "freed_ns", "Freed", PF_NS | PF_FULL },
	{ "lifetime_ns", "Lifetime", PF_NS },
	SITE_COLS,
	ID_COLS,
};

static const struct pf_col oom_cols[] = {
	{ "device", "Device", PF_TEXT },
	{ "time_ns", "At", PF_NS },
	{ "bytes", "Asked for", PF_BYTES },
	{ "allocated_bytes", "Allocated", PF_BYTES },
	{ "reserved_bytes", "Reserved", PF_BYTES },
	SITE_COLS,
	ID_COLS,
};

void pf_usage_begin_tables(struct pf_usage *u, struct pf_doc *doc)
{
	u->by_device = pf_doc_table(doc, "devices", "Memory by device",
				    COLS(device_cols));
	u->alive_table = pf_doc_table(doc, "alive", "Alive at the peak",
				      COLS(alive_cols));
	u->kept_table = pf_doc_table(doc, "kept", "Allocated and not freed",
				     COLS(kept_cols));
	u->op_table =
		pf_doc_table(doc, "ops", "Allocations by op", COLS(op_cols));
	if (u->args->events)
		u->events = pf_doc_table(doc, "events", "Allocations",
					 COLS(event_cols));
	u->oom = pf_doc_table(doc, "oom", "Out of memory", COLS(oom_cols));
	if (u->args->points)
		u->curve = pf_doc_table(doc, "curve", "Level over time",
					COLS(curve_cols));
}

int pf_usage_fill_tables(struct pf_usage *u, struct pf_err *err)
{
	add_devices(u);
	if (add_alive(u, err) < 0 || add_kept(u, err) < 0)
		return -1;
	return add_ops(u, err);
}
