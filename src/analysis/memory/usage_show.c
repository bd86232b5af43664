/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdio.h>

#include "base/num.h"
#include "base/sat.h"
#include "analysis/memory/usage_impl.h"

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
		PF_FIELD(row, site.frame, "frame", "Line or annotation",       \
			 PF_PATH),                                             \
		PF_FIELD(row, site.op, "op", "Innermost op",                   \
			 PF_TEXT | PF_FULL)

/* The same of snapshots, whose places are stacks. */
#define STACK(row)                                                             \
	PF_FIELD(row, site.frame, "frame", "Line", PF_PATH),                   \
		PF_FIELD(row, site.stack, "stack", "Stack", PF_INT | PF_KNOWN)

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct pf_usage_device, member, key, title, kind)
static const struct pf_field device_fields[] = {
	FIELD(at.device, "device", "Device", PF_TEXT),
	FIELD(peak, "peak_bytes", "Peak", PF_BYTES | PF_MAYBE),
	FIELD(capacity, "capacity_bytes", "Of", PF_BYTES | PF_FULL | PF_MAYBE),
	FIELD(capacity_share, "capacity_share", "Share", PF_RATIO | PF_FULL),
	FIELD(growth, "peak_growth_bytes", "Growth", PF_BYTES),
	FIELD(peak_ns, "peak_ns", "At", PF_NS | PF_MAYBE),
	FIELD(peak_entry, "peak_entry", "After entries",
	      PF_COUNT | PF_FULL | PF_MAYBE),
	FIELD(peak_reserved, "peak_reserved_bytes", "Reserved",
	      PF_BYTES | PF_MAYBE),
	FIELD(in_use, "in_use_bytes", "In use, peak",
	      PF_BYTES | PF_FULL | PF_MAYBE),
	FIELD(lifetime_peak, "lifetime_peak_bytes", "Peak of the process",
	      PF_BYTES | PF_FULL | PF_MAYBE),
	FIELD(fragmentation, "fragmentation", "Most fragmented",
	      PF_RATIO | PF_FULL),
	FIELD(reserved_at_peak, "reserved_at_peak_bytes", "Reserved then",
	      PF_BYTES | PF_FULL | PF_MAYBE),
	FIELD(unused_at_peak, "unused_at_peak_bytes", "Unused then",
	      PF_BYTES | PF_FULL | PF_MAYBE),
	FIELD(unused, "unused_bytes", "Most unused",
	      PF_BYTES | PF_FULL | PF_MAYBE),
	FIELD(unused_ns, "unused_ns", "Unused at", PF_NS | PF_FULL | PF_MAYBE),
	FIELD(alive, "alive_bytes", "Alive", PF_BYTES | PF_FULL | PF_MAYBE),
	FIELD(alive_count, "alive_count", "Blocks",
	      PF_COUNT | PF_FULL | PF_MAYBE),
	FIELD(before, "before_bytes", "From before",
	      PF_BYTES | PF_FULL | PF_MAYBE),
	FIELD(start_level, "start_bytes", "At start",
	      PF_BYTES | PF_FULL | PF_MAYBE),
	FIELD(end_level, "end_bytes", "At end", PF_BYTES | PF_FULL | PF_MAYBE),
	FIELD(allocation_count, "allocation_count", "Allocations",
	      PF_COUNT | PF_FULL),
	FIELD(allocated, "allocated_bytes", "Allocated", PF_BYTES),
	FIELD(freed_count, "freed_count", "Frees", PF_COUNT | PF_FULL),
	FIELD(freed, "freed_bytes", "Freed", PF_BYTES | PF_MAYBE),
	FIELD(kept_count, "kept_count", "Kept", PF_COUNT | PF_FULL | PF_MAYBE),
	FIELD(kept, "kept_bytes", "Kept", PF_BYTES | PF_FULL | PF_MAYBE),
	FIELD(early_count, "early_count", "Frees of earlier",
	      PF_COUNT | PF_FULL | PF_MAYBE),
	FIELD(early, "early_bytes", "Freed of earlier",
	      PF_BYTES | PF_FULL | PF_MAYBE),
	FIELD(twice_count, "freed_twice_count", "Freed twice",
	      PF_COUNT | PF_FULL | PF_MAYBE),
	FIELD(reused_count, "reused_count", "Frees missed",
	      PF_COUNT | PF_FULL | PF_MAYBE),
	FIELD(jump_count, "jump_count", "Jumps", PF_COUNT | PF_FULL | PF_MAYBE),
	FIELD(jump, "jump_bytes", "Jumped", PF_BYTES | PF_FULL | PF_MAYBE),
	FIELD(unsized_count, "unsized_count", "Of unknown size",
	      PF_COUNT | PF_FULL),
	FIELD(no_address_count, "no_address_count", "No address",
	      PF_COUNT | PF_FULL),
	FIELD(oom_count, "oom_count", "Out of memory", PF_COUNT | PF_FULL),
	IDS(struct pf_usage_device),
};
#undef FIELD

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct pf_usage_group, member, key, title, kind)
static const struct pf_field alive_fields[] = {
	FIELD(at.device, "device", "Device", PF_TEXT),
	FIELD(bytes, "bytes", "Bytes", PF_BYTES),
	FIELD(peak_share, "peak_share", "Of peak", PF_RATIO),
	FIELD(count, "count", "Blocks", PF_COUNT | PF_MAYBE),
	SITE(struct pf_usage_group),
	FIELD(largest, "largest_bytes", "Largest",
	      PF_BYTES | PF_FULL | PF_MAYBE),
	FIELD(age_ns, "age_ns", "Oldest", PF_NS | PF_FULL | PF_MAYBE),
	IDS(struct pf_usage_group),
};
static const struct pf_field alive_stack_fields[] = {
	FIELD(at.device, "device", "Device", PF_TEXT),
	FIELD(bytes, "bytes", "Bytes", PF_BYTES),
	FIELD(peak_share, "peak_share", "Of peak", PF_RATIO),
	FIELD(count, "count", "Blocks", PF_COUNT | PF_MAYBE),
	STACK(struct pf_usage_group),
	FIELD(largest, "largest_bytes", "Largest",
	      PF_BYTES | PF_FULL | PF_MAYBE),
	FIELD(age_ns, "age_ns", "Oldest", PF_NS | PF_FULL | PF_MAYBE),
	IDS(struct pf_usage_group),
};
#undef FIELD

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct pf_usage_group, member, key, title, kind)
static const struct pf_field kept_fields[] = {
	FIELD(at.device, "device", "Device", PF_TEXT),
	FIELD(bytes, "bytes", "Bytes", PF_BYTES),
	FIELD(count, "count", "Blocks", PF_COUNT),
	FIELD(size, "size_bytes", "Of size", PF_BYTES),
	SITE(struct pf_usage_group),
	IDS(struct pf_usage_group),
};
static const struct pf_field kept_stack_fields[] = {
	FIELD(at.device, "device", "Device", PF_TEXT),
	FIELD(bytes, "bytes", "Bytes", PF_BYTES),
	FIELD(count, "count", "Blocks", PF_COUNT),
	STACK(struct pf_usage_group),
	IDS(struct pf_usage_group),
};
#undef FIELD

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct pf_usage_op, member, key, title, kind)
static const struct pf_field op_fields[] = {
	FIELD(at.device, "device", "Device", PF_TEXT),
	FIELD(op, "op", "Op", PF_TEXT),
	FIELD(calls, "calls", "Calls", PF_COUNT | PF_MAYBE),
	FIELD(self_count, "self_allocation_count", "Allocs", PF_COUNT),
	FIELD(self_bytes, "self_allocated_bytes", "Allocated", PF_BYTES),
	FIELD(self_increase, "self_increase_bytes", "Increase",
	      PF_BYTES | PF_MAYBE),
	FIELD(bytes, "allocated_bytes", "With inner", PF_BYTES),
	FIELD(increase, "increase_bytes", "Increase with inner",
	      PF_BYTES | PF_FULL | PF_MAYBE),
	FIELD(count, "allocation_count", "Total allocations",
	      PF_COUNT | PF_FULL),
	FIELD(self_freed_count, "self_freed_count", "Self frees",
	      PF_COUNT | PF_FULL),
	FIELD(self_freed, "self_freed_bytes", "Self freed",
	      PF_BYTES | PF_FULL | PF_MAYBE),
	IDS(struct pf_usage_op),
};
#undef FIELD

/* Of snapshots, whose places are stacks. */
#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct pf_usage_op, member, key, title, kind)
static const struct pf_field stack_fields[] = {
	FIELD(at.device, "device", "Device", PF_TEXT),
	FIELD(self_bytes, "allocated_bytes", "Allocated", PF_BYTES),
	FIELD(self_count, "allocation_count", "Allocs", PF_COUNT),
	FIELD(op, "frame", "Line", PF_PATH),
	FIELD(stack, "stack", "Stack", PF_INT | PF_KNOWN),
	IDS(struct pf_usage_op),
};
#undef FIELD

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct pf_usage_point, member, key, title, kind)
static const struct pf_field curve_fields[] = {
	FIELD(at.device, "device", "Device", PF_TEXT),
	FIELD(time_ns, "time_ns", "From", PF_NS | PF_MAYBE),
	FIELD(entry, "entry", "After entries", PF_COUNT | PF_FULL | PF_MAYBE),
	FIELD(low, "low_bytes", "Lowest", PF_BYTES),
	FIELD(high, "high_bytes", "Highest", PF_BYTES),
	FIELD(high_ns, "high_ns", "Highest at", PF_NS | PF_MAYBE),
	FIELD(last, "last_bytes", "Last", PF_BYTES),
	FIELD(reserved, "reserved_bytes", "Reserved", PF_BYTES | PF_MAYBE),
	IDS(struct pf_usage_point),
};
#undef FIELD

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct usage_event, member, key, title, kind)
static const struct pf_field event_fields[] = {
	FIELD(at.device, "device", "Device", PF_TEXT),
	FIELD(bytes, "bytes", "Bytes", PF_BYTES),
	FIELD(allocated_ns, "allocated_ns", "At", PF_NS | PF_MAYBE),
	FIELD(freed_ns, "freed_ns", "Freed", PF_NS | PF_FULL | PF_MAYBE),
	FIELD(lifetime_ns, "lifetime_ns", "Lifetime", PF_NS | PF_MAYBE),
	SITE(struct usage_event),
	IDS(struct usage_event),
};
static const struct pf_field event_stack_fields[] = {
	FIELD(at.device, "device", "Device", PF_TEXT),
	FIELD(bytes, "bytes", "Bytes", PF_BYTES),
	FIELD(allocated_ns, "allocated_ns", "At", PF_NS | PF_MAYBE),
	FIELD(freed_ns, "freed_ns", "Freed", PF_NS | PF_FULL | PF_MAYBE),
	FIELD(lifetime_ns, "lifetime_ns", "Lifetime", PF_NS | PF_MAYBE),
	STACK(struct usage_event),
	IDS(struct usage_event),
};
#undef FIELD

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct pf_usage_oom, member, key, title, kind)
static const struct pf_field oom_fields[] = {
	FIELD(at.device, "device", "Device", PF_TEXT),
	FIELD(time_ns, "time_ns", "At", PF_NS | PF_MAYBE),
	FIELD(bytes, "bytes", "Asked for", PF_BYTES),
	FIELD(allocated, "allocated_bytes", "Allocated", PF_BYTES | PF_MAYBE),
	FIELD(reserved, "reserved_bytes", "Reserved", PF_BYTES | PF_MAYBE),
	SITE(struct pf_usage_oom),
	IDS(struct pf_usage_oom),
};
static const struct pf_field oom_stack_fields[] = {
	FIELD(at.device, "device", "Device", PF_TEXT),
	FIELD(time_ns, "time_ns", "At", PF_NS | PF_MAYBE),
	FIELD(bytes, "bytes", "Asked for", PF_BYTES),
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

struct pf_table *pf_usage_events_new(bool by_stack)
{
	return by_stack ? pf_fields_table("events", "Allocations",
					  PF_FIELDS(event_stack_fields))
			: pf_fields_table("events", "Allocations",
					  PF_FIELDS(event_fields));
}

void pf_usage_events_add(struct pf_table *t, const struct usage_event *event,
			 bool by_stack)
{
	if (by_stack)
		PF_PUT(t, event_stack_fields, *event);
	else
		PF_PUT(t, event_fields, *event);
}

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
	char asked[PF_NUM_MAX], free[PF_NUM_MAX], used[PF_NUM_MAX];
	char reserved[PF_NUM_MAX];

	pf_num_show_bytes(asked, oom->bytes);
	pf_num_show_bytes(free, oom->device_free);
	pf_num_show_bytes(used, oom->allocated);
	pf_num_show_bytes(reserved, oom->reserved);
	pf_doc_finding(
		doc,
		"%s: out of memory: asked for %s%s%s%s, with %s "
		"allocated of %s reserved; the free rest of it %s",
		oom->at.device, asked, oom->device_free >= 0 ? " with " : "",
		oom->device_free >= 0 ? free : "",
		oom->device_free >= 0 ? " free on the GPU" : "", used, reserved,
		oom->unused >= oom->bytes
			? "would have been enough, but not in one piece"
			: "was too small");
}

static void find_now(const struct pf_snap_state *s, struct pf_doc *doc)
{
	const struct pf_snap_now *best = pf_snap_fullest(s);
	char used[PF_NUM_MAX], reserved[PF_NUM_MAX], whole[PF_NUM_MAX];
	char split[PF_NUM_MAX];

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
		       best->name, pf_num_show_bytes(used, best->allocated),
		       pf_num_show_bytes(reserved, best->reserved),
		       pf_num_show_bytes(whole, best->whole),
		       pf_num_show_bytes(split, best->split));
}

char *pf_usage_when(char *out, const struct pf_usage_device *d)
{
	char count[PF_NUM_MAX];

	if (!d->at.is_untimed)
		return pf_num_show_ns(out, d->peak_ns);
	snprintf(out, PF_USAGE_WHEN_MAX, "%s %s of its history",
		 pf_num_show_count(count, d->peak_entry),
		 d->peak_entry == 1 ? "entry" : "entries");
	return out;
}

/* Whose memory the peak is not. */
static void say_direct(const struct pf_usage *u, struct pf_buf *out)
{
	char allocs[PF_NUM_MAX], frees[PF_NUM_MAX];

	if (u->alloc_calls)
		pf_buf_addf(out,
			    "No memory of a GPU is recorded, as where torch's "
			    "caching allocator is off: %s was called %s times, "
			    "%s %s times; ",
			    u->alloc_call,
			    pf_num_show_count(allocs, u->alloc_calls),
			    u->free_call,
			    pf_num_show_count(frees, u->free_calls));
	else
		pf_buf_adds(out, "");
}

static void add_finding(const struct pf_usage *u, struct pf_doc *doc)
{
	const struct pf_usage_device *d = main_device(u);
	char peak[PF_NUM_MAX], of[PF_NUM_MAX], part[PF_NUM_MAX];
	char time[PF_USAGE_WHEN_MAX];
	bool has_blocks = d && d->before >= 0;
	struct pf_buf direct = { 0 };

	doc->is_nothing = !d && !pf_snap_state_is(&u->snap);
	if (pf_usage_told_oom(u)) {
		find_oom(pf_usage_told_oom(u), doc);
		return;
	}
	if (!d && pf_snap_state_is(&u->snap)) {
		find_now(&u->snap, doc);
		return;
	}
	if (!d) {
		pf_doc_finding(doc, "There are no memory records; %s",
			       pf_hint(u->producer, PF_HINT_MEMORY));
		return;
	}
	pf_usage_when(time, d);
	say_direct(u, &direct);
	if (!d->is_absolute) {
		pf_doc_finding(doc,
			       "%s%s: at most %s more than at the start, after "
			       "%s; this trace has no totals",
			       direct.data, d->at.device,
			       pf_num_show_bytes(peak, d->growth), time);
		pf_buf_release(&direct);
		return;
	}
	pf_num_show_bytes(peak, d->peak);
	pf_num_show_bytes(of, d->capacity);
	if (d->in_use != PF_NO_INT) {
		pf_doc_finding(doc,
			       "%s%s: at most %s%s%s in use, of which programs "
			       "reserve a part; at most %s allocated, after %s",
			       direct.data, d->at.device,
			       pf_num_show_bytes(part, d->in_use),
			       d->capacity > 0 ? " of " : "",
			       d->capacity > 0 ? of : "", peak, time);
		pf_buf_release(&direct);
		return;
	}
	if (has_blocks)
		pf_num_show_ratio(part, pf_num_share(d->before, d->peak));
	pf_doc_finding(doc, "%s%s: at most %s%s%s allocated, after %s%s%s%s",
		       direct.data, d->at.device, peak,
		       d->capacity > 0 ? " of " : "", d->capacity > 0 ? of : "",
		       time, has_blocks ? "; " : "", has_blocks ? part : "",
		       has_blocks ? " of it dates from before the capture"
				  : "");
	pf_buf_release(&direct);
}

static void add_known(int64_t *sum, int64_t n)
{
	*sum += n == PF_NO_INT ? 0 : n;
}

static void add_notes(const struct pf_usage *u, struct pf_doc *doc)
{
	int64_t no_address = 0, jumps = 0, twice = 0, reused = 0, relative = 0;
	int64_t unsized = 0;
	char text[PF_NUM_MAX];

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
			    pf_num_show_count(text, unsized));
	if (no_address)
		pf_doc_note(doc,
			    "%s records have no address: what is alive and "
			    "kept does not cover them",
			    pf_num_show_count(text, no_address));
	if (jumps)
		pf_doc_note(doc,
			    "%s totals do not continue the one before them: "
			    "records are missing there",
			    pf_num_show_count(text, jumps));
	if (twice)
		pf_doc_note(doc, "%s frees of what was freed already",
			    pf_num_show_count(text, twice));
	if (reused)
		pf_doc_note(doc,
			    "%s addresses were allocated again without "
			    "having been freed",
			    pf_num_show_count(text, reused));
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

void pf_usage_show(struct pf_usage *u, struct pf_doc *doc)
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
	pf_snap_state_note(&u->snap, doc);
}
