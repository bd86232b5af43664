/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "base/sat.h"
#include "events/track_read.h"
#include "events/trust.h"
#include "events/words.h"
#include "analysis/memory/usage_impl.h"
#include "store/query.h"
#include "formats/event.h"

#define NAME_MAX 64

static int load_capacities(struct usage *u, struct pf_db *db,
			   struct pf_err *err)
{
	sqlite3_stmt *stmt = pf_named_prepare(db, "memory_devices", err);
	int rc;

	if (!stmt)
		return -1;
	while ((rc = pf_db_step(db, stmt, err)) == 1) {
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
	sqlite3_finalize(stmt);
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

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
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
		pf_snap_is_untimed(&u->out->snap, d->trace->trace_id, d->number)
	};
}

int pf_usage_site(struct usage *u, uint32_t site, struct pf_usage_site *out,
		  struct pf_err *err)
{
	struct pf_alloc_site s = pf_allocs_site(&u->allocs, site);
	uint32_t frame = s.frame != PF_ID_NONE ? s.frame : s.note;
	struct pf_names *names = u->out->names;

	out->stack = -1;
	if (s.stack != PF_ID_NONE) {
		out->stack = s.stack;
		out->frame = pf_stack_line(&u->out->lines, s.stack, err);
		return out->frame ? 0 : -1;
	}
	out->outer_op = pf_names_frame(names, s.outer_op, err);
	out->frame = pf_names_frame(names, frame, err);
	out->op = pf_names_frame(names, s.op, err);
	return err->code ? -1 : 0;
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
static const struct pf_alloc_device **devices_take(const struct usage *u,
						   size_t *count)
{
	const struct pf_alloc_device **out =
		pf_calloc(u->allocs.device_count + 1u, sizeof(*out));

	*count = 0;
	for (uint32_t i = 0; i < u->allocs.device_count; i++)
		if (u->devices[i].has_inside)
			out[(*count)++] = &u->allocs.devices[i];
	pf_sort(out, *count, sizeof(*out), by_device);
	return out;
}

static void take_churn(const struct usage_device *d, bool has_blocks,
		       struct pf_usage_device *row)
{
	row->allocation_count = d->sums.count;
	row->allocated = d->sums.bytes;
	row->freed_count = d->sums.freed_count;
	row->unsized_count = d->sums.unsized_count;
	row->freed =
		pf_usage_maybe(d->sums.freed_bytes, !d->sums.unsized_count);
	row->kept_count = pf_usage_maybe(d->kept_count, has_blocks);
	row->kept = pf_usage_maybe(d->kept_bytes, has_blocks);
	row->early_count = pf_usage_maybe(d->early_count, has_blocks);
	row->early = pf_usage_maybe(d->early_bytes,
				    has_blocks && !d->has_early_unsized);
	row->twice_count = pf_usage_maybe(d->twice_count, has_blocks);
	row->reused_count = pf_usage_maybe(d->reused_count, has_blocks);
	row->jump_count = pf_usage_maybe(d->jump_count, d->is_absolute);
	row->jump = pf_usage_maybe(d->jump_bytes, d->is_absolute);
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
		.peak = pf_usage_maybe(d->peak, is_abs),
		.capacity = pf_usage_maybe(capacity, has_capacity),
		.capacity_share =
			is_abs && has_capacity
				? pf_ratio((double)(has_programs ? pool->in_use
								 : d->peak),
					   capacity)
				: NAN,
		.growth = pf_sat_sub(d->peak, d->start_level),
		.peak_ns = pf_usage_since(&d->at, d->peak_ns, first_ns),
		/* the entry that reaches it included */
		.peak_entry = pf_usage_entries(
			&d->at,
			pf_sat_add(d->peak_ns, d->peak > d->start_level),
			first_ns),
		.peak_reserved = has_programs ? pool->in_use
					      : pf_usage_maybe(d->peak_reserved,
							       has_kept),
		.in_use = pf_usage_maybe(pool->in_use, has_programs),
		.lifetime_peak =
			pf_usage_maybe(pool->lifetime_peak, pool->is_said),
		.fragmentation = pool->is_said ? pool->fragmentation : NAN,
		.reserved_at_peak =
			pf_usage_maybe(d->reserved_at_peak, has_kept),
		.unused_at_peak = pf_usage_maybe(
			pf_sat_sub(d->reserved_at_peak, d->peak), has_kept),
		.unused = pf_usage_maybe(d->unused, has_kept),
		.unused_ns = pf_usage_maybe(
			pf_usage_since(&d->at, d->unused_ns, first_ns),
			has_kept && d->unused),
		.alive = pf_usage_maybe(d->alive, has_blocks),
		.alive_count = pf_usage_maybe(d->alive_count, has_blocks),
		.before = pf_usage_maybe(pf_sat_sub(d->peak, d->alive),
					 is_abs && has_blocks),
		.start_level = pf_usage_maybe(d->start_level, is_abs),
		.end_level = pf_usage_maybe(d->end_level, is_abs),
	};

	take_churn(d, has_blocks, &row);
	return row;
}

static void take_devices(const struct usage *u, struct pf_usage *out)
{
	const struct pf_alloc_device **list =
		devices_take(u, &out->device_count);

	out->devices = pf_calloc(out->device_count + 1, sizeof(*out->devices));
	for (size_t i = 0; i < out->device_count; i++)
		out->devices[i] =
			device_row(u, (uint32_t)(list[i] - u->allocs.devices));
	free(list);
}

/* ---- groups ---- */

PF_ORDER(by_bytes, struct usage_group,
	 PF_DOWN(bytes) PF_UP(key.device) PF_UP(key.site) PF_DOWN(key.size))

static void sort_groups(struct usage_groups *g)
{
	pf_sort(g->items, g->keys.count, sizeof(*g->items), by_bytes);
}

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

static int take_groups(struct usage *u, struct usage_groups *g,
		       struct pf_usage_group *rows, size_t *count,
		       struct pf_err *err)
{
	sort_groups(g);
	for (uint32_t i = 0; i < g->keys.count; i++) {
		const struct usage_group *from = &g->items[i];
		const struct usage_device *d = &u->devices[from->key.device];
		struct pf_usage_group *row = &rows[(*count)++];

		*row = (struct pf_usage_group){
			.at = d->at,
			.bytes = from->bytes,
			.count = from->count,
			.size = from->key.size,
			.largest = from->largest,
			.age_ns = pf_usage_since(&d->at, d->peak_ns,
						 from->oldest_ns),
			.peak_share =
				pf_ratio((double)from->bytes,
					 d->is_absolute ? d->peak : d->alive)
		};
		if (pf_usage_site(u, from->key.site, &row->site, err) < 0)
			return -1;
	}
	return 0;
}

/* ---- ops ---- */

PF_ORDER(by_allocated, struct pf_alloc_op,
	 PF_DOWN(self.bytes) PF_DOWN(total.bytes) PF_UP(device) PF_UP(stack)
		 PF_UP(name))

static int64_t increase(const struct pf_alloc_sums *s)
{
	/* neither is negative */
	return pf_usage_maybe(s->bytes - s->freed_bytes, !s->unsized_count);
}

static const char *op_text(struct pf_usage *out, const struct pf_alloc_op *op,
			   struct pf_err *err)
{
	if (op->stack != PF_ID_NONE)
		return pf_stack_line(&out->lines, op->stack, err);
	if (pf_snap_state_is(&out->snap))
		return "(no stack)";
	return op->name == PF_ID_NONE
		       ? "(outside of ops)"
		       : pf_names_frame(out->names, op->name, err);
}

static int take_ops(struct usage *u, struct pf_usage *out, struct pf_err *err)
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
			.op = op_text(out, op, err),
			.stack = op->stack == PF_ID_NONE ? -1
							 : (int64_t)op->stack,
			.calls = pf_usage_maybe((int64_t)calls,
						calls != UINT64_MAX),
			.self_count = op->self.count,
			.self_bytes = op->self.bytes,
			.self_increase = increase(&op->self),
			.bytes = op->total.bytes,
			.increase = increase(&op->total),
			.count = op->total.count,
			.self_freed_count = op->self.freed_count,
			.self_freed = pf_usage_maybe(op->self.freed_bytes,
						     !op->self.unsized_count)
		};
	}
	return err->code ? -1 : 0;
}

/* ---- the whole ---- */

static int take_all(struct usage *u, struct pf_usage *out, struct pf_err *err)
{
	take_devices(u, out);
	out->alive = pf_calloc(u->alive.keys.count + u->allocs.device_count + 1,
			       sizeof(*out->alive));
	out->kept = pf_calloc(u->kept.keys.count + 1u, sizeof(*out->kept));
	out->ops = pf_calloc(u->allocs.op_count + 1u, sizeof(*out->ops));
	take_before(u, out);
	if (take_groups(u, &u->alive, out->alive, &out->alive_count, err) < 0 ||
	    take_groups(u, &u->kept, out->kept, &out->kept_count, err) < 0)
		return -1;
	return take_ops(u, out, err);
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

static int word_of(struct direct_calls *c, uint32_t name, uint64_t *word,
		   struct pf_err *err)
{
	char *text = pf_names_text_take(c->names, name, err);

	if (!text)
		return -1;
	*word = pf_word(PF_WORD_DEVICE_ALLOC, text)  ? 2
		: pf_word(PF_WORD_DEVICE_FREE, text) ? 3
						     : 1;
	free(text);
	return 0;
}

static int note_direct(void *context, const struct pf_block *b, uint32_t i,
		       int64_t event_id, struct pf_err *err)
{
	struct direct_calls *c = context;
	unsigned kind = pf_names_kind(c->names, b->type[i]);
	int64_t start_ns = b->start_ns[i];
	uint64_t *word;

	(void)event_id;
	if ((kind != PF_KIND_RUNTIME && kind != PF_KIND_DRIVER) ||
	    b->name[i] == PF_ID_INLINE || start_ns < c->trace->from_ns ||
	    start_ns >= c->trace->to_ns)
		return 0;
	word = pf_map_at(&c->words, b->name[i]);
	if (*word == UINT64_MAX && word_of(c, b->name[i], word, err) < 0)
		return -1;
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
static int find_direct(struct usage *u, struct pf_db *db, struct pf_err *err)
{
	const struct pf_track_reader reader = { .event = note_direct };
	struct pf_usage *out = u->out;
	struct direct_calls c = { .names = u->allocs.names };
	struct pf_track *tracks = NULL;
	size_t count = 0;
	int rc = 0;

	for (size_t i = 0; i < out->device_count; i++)
		if (out->devices[i].at.device_type > 0)
			return 0;
	if (!out->device_count)
		return 0;
	pf_map_init(&c.words);
	if (pf_tracks_load(db, 0, &tracks, &count, err) < 0)
		rc = -1;
	for (size_t i = 0; i < count && rc >= 0; i++) {
		c.trace = pf_window_find(&out->window, tracks[i].trace_id);
		if (c.trace && !strcmp(tracks[i].class_name, "host"))
			rc = pf_track_read(db, &tracks[i], &reader, &c, err);
	}
	if (rc >= 0 && c.of[0].count >= DIRECT_CALLS_LEAST &&
	    c.of[1].count >= DIRECT_CALLS_LEAST) {
		out->alloc_calls = c.of[0].count;
		out->free_calls = c.of[1].count;
		out->alloc_call = pf_names_frame(c.names, c.of[0].name, err);
		out->free_call = pf_names_frame(c.names, c.of[1].name, err);
		rc = out->alloc_call && out->free_call ? 0 : -1;
	}
	pf_tracks_free(tracks, count);
	pf_map_release(&c.words);
	return rc < 0 ? -1 : 0;
}

static void tear_down(struct usage *u)
{
	for (uint32_t i = 0; u->devices && i < u->allocs.device_count; i++) {
		pf_map_release(&u->devices[i].by_address);
		free(u->devices[i].blocks);
		free(u->devices[i].free_places);
	}
	free(u->devices);
	pf_intern_release(&u->alive.keys);
	pf_intern_release(&u->kept.keys);
	free(u->alive.items);
	free(u->kept.items);
	pf_allocs_release(&u->allocs);
}

static int set_up(struct usage *u, struct pf_db *db, struct pf_err *err)
{
	struct pf_usage *out = u->out;

	pf_intern_init(&u->alive.keys);
	pf_intern_init(&u->kept.keys);
	if (pf_hint_producer(db, &out->producer, err) < 0 ||
	    pf_allocs_load(db, &out->window, &u->allocs, err) < 0)
		return -1;
	out->names = u->allocs.names;
	u->devices =
		pf_calloc(u->allocs.device_count + 1u, sizeof(*u->devices));
	for (uint32_t i = 0; i < u->allocs.device_count; i++) {
		pf_map_init(&u->devices[i].by_address);
		u->devices[i].part = -1;
		u->devices[i].capacity = -1;
		take_label(u, i, out->window.count > 1);
	}
	return load_capacities(u, db, err);
}

int pf_usage_find(struct pf_db *db, const struct pf_usage_args *args,
		  const struct pf_order *order, struct pf_usage *out,
		  struct pf_err *err)
{
	struct pf_window_args window = args->window;
	struct usage u = { .args = args, .out = out };
	int rc = -1;

	window.beside = true;
	if (pf_window_resolve(db, &window, &out->window, err) < 0 ||
	    pf_snap_state_find(db, &out->window, &out->snap, err))
		return -1;
	out->lines.db = db;
	out->has_curve = args->points > 0;
	if (args->events)
		out->events = pf_usage_events_new(pf_snap_state_is(&out->snap));
	if (out->events && order)
		pf_table_order(out->events, order);
	if (!set_up(&u, db, err) && !pf_usage_levels(&u, err) &&
	    !pf_usage_blocks(&u, err))
		rc = take_all(&u, out, err) || find_direct(&u, db, err) ? -1
									: 0;
	out->names = u.allocs.names;
	u.allocs.names = NULL;
	tear_down(&u);
	return rc;
}

void pf_usage_release(struct pf_usage *u)
{
	pf_names_free(u->names);
	pf_stack_lines_release(&u->lines);
	pf_snap_state_release(&u->snap);
	pf_arena_release(&u->texts);
	free(u->devices);
	free(u->alive);
	free(u->kept);
	free(u->ops);
	free(u->ooms);
	free(u->curve);
	pf_table_free(u->events);
	pf_window_release(&u->window);
	*u = (struct pf_usage){ 0 };
}

int pf_usage(struct pf_db *db, const struct pf_usage_args *args,
	     struct pf_usage *kept, struct pf_doc *doc, struct pf_err *err)
{
	struct pf_usage own = { 0 }, *u = kept ? kept : &own;
	int rc = pf_usage_find(db, args, doc->lists ? &doc->order : NULL, u,
			       err);

	if (!rc) {
		pf_usage_show(u, doc);
		rc = pf_trust_note(db, &u->window, PF_TRUST_STACKS, doc, err);
	}
	pf_usage_release(&own);
	return rc;
}
