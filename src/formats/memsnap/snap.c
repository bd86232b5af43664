/* SPDX-License-Identifier: MIT */
/*
 * What the containers of a snapshot are, and what their members say.  A
 * dictionary that is a record gathers its members until it is complete; the
 * records of the containers that are open have a place each, by depth.
 */
#include "config.h"

#include "formats/memsnap/snap.h"

#include <errno.h>

#include "base/mem.h"
#include "base/sat.h"

#define PF_SNAP_SPOOL_BYTES (8u << 20)

/*
 * Levels are worked out as entries come, from an unknown base.  What the
 * history lacks raises the base: a free of what was not allocated in it, and a
 * block in use that was not.  The final state says what is reserved at the
 * end, and so what it was at the start.
 */

#define GONE UINT64_MAX       /* of pf_map: nothing is allocated here */
#define SEEN (UINT64_MAX - 1) /* it is an active block of the end */

/* The device of a number, made if it is new; -1: too many. */
static int snap_device(struct pf_snap *s, int64_t number)
{
	for (size_t i = 0; i < s->device_count; i++)
		if (s->devices[i].number == number)
			return (int)i;
	if (s->device_count == PF_SNAP_DEVICES_MAX || number < 0)
		return -1;
	s->devices = pf_grow(s->devices, &s->device_cap, s->device_count + 1,
			     sizeof(*s->devices));
	s->devices[s->device_count] =
		(struct pf_snap_device){ .number = number };
	return (int)s->device_count++;
}

static void alloc(struct pf_snap_device *d, const struct pf_snap_entry *e)
{
	uint64_t *size = pf_map_at(&d->open, (uint64_t)e->address);

	if (*size != GONE)
		d->twice_count++;
	else
		d->open_count++;
	*size = (uint64_t)e->size;
	d->level = pf_sat_add(d->level, e->size);
}

static void release(struct pf_snap_device *d, const struct pf_snap_entry *e)
{
	uint64_t *size = pf_map_at(&d->open, (uint64_t)e->address);
	int64_t bytes = e->size;

	if (*size == GONE) {
		d->early_count++;
		d->before_count++;
		d->base = pf_sat_add(d->base, bytes);
	} else {
		d->open_count--;
		d->differ_count += *size != (uint64_t)bytes;
		bytes = (int64_t)*size;
		*size = GONE;
	}
	d->level = pf_sat_sub(d->level, bytes);
}

static void settle_time(struct pf_snap *s, struct pf_snap_device *d,
			struct pf_snap_entry *e, bool has_time)
{
	if (!has_time) {
		e->time_us = d->timed_count ? d->last_us : d->entry_count;
		return;
	}
	if (d->timed_count++ && e->time_us < d->last_us) {
		d->late_count++;
		e->time_us = d->last_us;
	}
	if (d->timed_count == 1)
		d->first_us = e->time_us;
	d->last_us = e->time_us;
	if (!s->has_times || d->first_us < s->first_us)
		s->first_us = d->first_us;
	s->has_times = true;
}

/* An entry whose members are right: its time, its levels. */
static int snap_replay(struct pf_snap *s, struct pf_snap_entry *e,
		       bool has_time, struct pf_err *err)
{
	struct pf_snap_device *d = &s->devices[e->device];

	settle_time(s, d, e, has_time);
	d->entry_count++;
	switch ((enum pf_snap_action)e->action) {
	case PF_SNAP_ALLOC:
		alloc(d, e);
		break;
	case PF_SNAP_FREE:
		release(d, e);
		break;
	case PF_SNAP_SEGMENT_ALLOC:
	case PF_SNAP_SEGMENT_MAP:
		d->reserved = pf_sat_add(d->reserved, e->size);
		break;
	case PF_SNAP_SEGMENT_FREE:
	case PF_SNAP_SEGMENT_UNMAP:
		d->reserved = pf_sat_sub(d->reserved, e->size);
		break;
	default:
		break;
	}
	e->level = d->level;
	e->reserved = d->reserved;
	return pf_spool_add(s->entries, e, err);
}

/* ---- the final state ---- */

/* A block's address: "at" bytes, 0 or more, behind that of its segment. */
static void snap_place_block(struct pf_snap_block *b,
			     const struct pf_snap_segment *g, int64_t at)
{
	uint64_t from = (uint64_t)g->address, to = from + (uint64_t)at;

	b->address_is = g->address_is;
	if (g->address < 0 && !(g->address_is & PF_SNAP_UNSIGNED)) {
		b->address = g->address + at;
		return;
	}
	b->address = (int64_t)(to < from ? UINT64_MAX : to);
	if (b->address < 0)
		b->address_is |= PF_SNAP_UNSIGNED;
}

static void meet(struct pf_snap_device *d, const struct pf_snap_block *b)
{
	uint64_t *size = pf_map_at(&d->open, (uint64_t)b->address);

	if (*size == GONE || *size == SEEN) {
		if (!b->is_in_use)
			return;
		d->before_count++;
		d->base = pf_sat_add(d->base, b->requested);
		return;
	}
	d->open_count--;
	d->differ_count += *size != (uint64_t)b->requested;
	*size = SEEN;
}

static int meet_all(struct pf_snap *s, struct pf_err *err)
{
	for (uint64_t i = 0; i < pf_spool_count(s->blocks); i++) {
		const struct pf_snap_block *b = pf_spool_at(s->blocks, i, err);
		const struct pf_snap_segment *g;
		struct pf_snap_block block;
		int device;

		if (!b)
			return -1;
		block = *b;
		g = pf_spool_at(s->segments, (uint64_t)block.segment, err);
		if (!g)
			return -1;
		device = snap_device(s, g->device);
		if (device >= 0 && block.is_active && block.address_is &&
		    !s->devices[device].is_cut)
			meet(&s->devices[device], &block);
	}
	return 0;
}

/* All has been read: bases, and what does not agree. */
static int snap_settle(struct pf_snap *s, struct pf_err *err)
{
	PF_TRY(meet_all(s, err));
	for (size_t i = 0; i < s->device_count; i++) {
		struct pf_snap_device *d = &s->devices[i];

		if (d->is_cut)
			continue;
		d->no_block_count = d->open_count;
		d->reserved_base = pf_sat_sub(d->segment_total, d->reserved);
		d->has_reserved_base = true;
	}
	for (uint64_t i = 0; i < pf_spool_count(s->entries); i++) {
		const struct pf_snap_entry *e = pf_spool_at(s->entries, i, err);
		struct pf_snap_device *d;

		if (!e)
			return -1;
		d = &s->devices[e->device];
		if (pf_sat_add(d->reserved_base, e->reserved) < 0)
			d->has_reserved_base = false;
	}
	return 0;
}

int64_t pf_snap_exceptions(const struct pf_snap_device *d)
{
	return d->twice_count + d->differ_count + d->no_block_count +
	       d->late_count + (!d->has_reserved_base && !d->is_cut);
}

/* ---- stacks ---- */

#define OMIT_FILE 1u
#define OMIT_NAME 2u

/* memory_viz's lists, as they stand in every release since torch 2.1 */
static const char *const omitted_names[] = {
	"unwind::unwind",    "CapturedTraceback::gather",
	"gather_with_cpp",   "_start",
	"__libc_start_main", "PyEval_",
	"PyObject_",         "PyFunction_",
};
static const char *const omitted_files[] = {
	"core/boxing",
	"/Register",
	"/Redispatch",
	"pythonrun.c",
	"Modules/main.c",
	"Objects/call.c",
	"Objects/methodobject.c",
	"pycore_ceval.h",
	"ceval.c",
	"cpython/abstract.h",
};

static void snap_stacks_release(struct pf_snap_stacks *s)
{
	pf_intern_release(&s->frames);
	pf_intern_release(&s->nodes);
	free(s->omits);
	free(s->frame_of);
	free(s->stack_of);
}

static bool has_any(const char *const *list, size_t count, const char *p,
		    size_t len)
{
	for (size_t i = 0; i < count; i++)
		if (memmem(p, len, list[i], strlen(list[i])))
			return true;
	return false;
}

/* A text that is new, by its number. */
static void snap_stacks_text(struct pf_snap_stacks *s, uint32_t number,
			     const char *p, size_t len)
{
	uint8_t bits = 0;

	if (has_any(omitted_files, PF_LEN(omitted_files), p, len))
		bits |= OMIT_FILE;
	if (has_any(omitted_names, PF_LEN(omitted_names), p, len))
		bits |= OMIT_NAME;
	s->omits = pf_grow(s->omits, &s->omits_cap, (size_t)number + 1, 1);
	s->omits[number] = bits;
}

/* Numbers for the next dictionary of a frame and the next list of frames. */
static uint32_t snap_new_frame(struct pf_snap_stacks *s)
{
	s->frame_of = pf_grow(s->frame_of, &s->frame_cap, s->frame_count + 1,
			      sizeof(*s->frame_of));
	s->frame_of[s->frame_count] = PF_SNAP_DROPPED;
	return (uint32_t)s->frame_count++;
}

static uint32_t snap_new_list(struct pf_snap_stacks *s)
{
	s->stack_of = pf_grow(s->stack_of, &s->list_cap, s->list_count + 1,
			      sizeof(*s->stack_of));
	s->stack_of[s->list_count] = 0;
	return (uint32_t)s->list_count++;
}

static void snap_set_frame(struct pf_snap_stacks *s, uint32_t number,
			   const struct pf_snap_frame *frame)
{
	if (s->omits[frame->file] & OMIT_FILE ||
	    s->omits[frame->name] & OMIT_NAME)
		return;
	s->frame_of[number] =
		pf_intern_add(&s->frames, (const char *)frame, sizeof(*frame));
}

/* Frames by number of dictionary, the innermost first. */
static void snap_set_list(struct pf_snap_stacks *s, uint32_t number,
			  const uint32_t *frames, size_t count)
{
	struct pf_snap_stack node = { 0 };

	for (size_t i = count; i-- > 0;) {
		node.frame = s->frame_of[frames[i]];
		if (node.frame == PF_SNAP_DROPPED) {
			s->dropped_count++;
			continue;
		}
		node.parent = pf_intern_add(&s->nodes, (const char *)&node,
					    sizeof(node)) +
			      1;
	}
	s->stack_of[number] = node.parent;
}

/* The id of a list's stack; 0: it has no frames, or is not complete yet. */
static uint32_t snap_stack_id(const struct pf_snap_stacks *s, uint32_t list)
{
	return list < s->list_count ? s->stack_of[list] : 0;
}

/*
 * What is left of a snapshot that is cut off or damaged.  Torch writes the
 * segments first, then the histories, one device after the other: so the final
 * state is often whole where a history is not.
 */

/* Spools of segments and blocks. */
static void snap_new_state(struct pf_snap *s, const char *dir)
{
	s->segments = pf_spool_new(sizeof(struct pf_snap_segment),
				   PF_SNAP_SPOOL_BYTES, dir);
	s->blocks = pf_spool_new(sizeof(struct pf_snap_block),
				 PF_SNAP_SPOOL_BYTES, dir);
	s->pasts = pf_spool_new(sizeof(struct pf_snap_past),
				PF_SNAP_SPOOL_BYTES, dir);
}

/* Segments without those that are lost add up to nothing that is true. */
static void drop_segments(struct pf_snap *s, const char *dir)
{
	int64_t count = (int64_t)pf_spool_count(s->segments);

	s->lost_count += count + 1; /* the one at hand, or to come */
	if (count)
		pf_repair_note(&s->repairs, PF_REPAIR_BAD_PART, count,
			       PF_OFFSET_UNKNOWN);
	pf_spool_free(s->segments);
	pf_spool_free(s->blocks);
	pf_spool_free(s->pasts);
	snap_new_state(s, dir);
	s->bad_sum_count = s->bad_order_count = 0;
	for (size_t i = 0; i < s->device_count; i++)
		s->devices[i].segment_total = s->devices[i].in_use =
			s->devices[i].active = 0;
}

/* Entries that were begun and did not end. */
static void count_lost(struct pf_snap *s)
{
	int64_t lost = s->entry_count + s->mark_count -
		       (int64_t)pf_spool_count(s->entries) -
		       (int64_t)pf_spool_count(s->marks) -
		       s->repairs.of[PF_SKIP_MALFORMED].count -
		       s->repairs.of[PF_SKIP_TIME_RANGE].count;

	if (lost)
		pf_repair_note(&s->repairs, PF_SKIP_MALFORMED, lost,
			       s->pickle.end);
}

static int advise(struct pf_err *err)
{
	struct pf_err why = *err;

	return pf_fail(err, why.code, "%s; --salvage keeps what is before that",
		       why.text);
}

static bool snap_in_segments(struct pf_snap *s);
static int64_t snap_in_history(struct pf_snap *s);

/*
 * Reading failed with err.  0: what was read is kept; -1: it is not, because
 * nobody asked (the message says how) or there is nothing.
 */
static int snap_keep(struct pf_snap *s, const char *dir, bool salvage,
		     struct pf_err *err)
{
	bool is_whole = pf_spool_count(s->segments) && !snap_in_segments(s);
	int64_t cut = snap_in_history(s);

	if (!s->pickle.is_torn || (!is_whole && !pf_spool_count(s->entries)))
		return -1;
	if (!salvage)
		return advise(err);
	memset(err, 0, sizeof(*err));
	if (!is_whole)
		drop_segments(s, dir);
	for (size_t i = 0; i < s->device_count; i++)
		s->devices[i].is_cut = !is_whole || cut == (int64_t)i;
	count_lost(s);
	pf_repair_note(&s->repairs, PF_REPAIR_CUT_SNAPSHOT, 1, s->pickle.end);
	return snap_settle(s, err);
}

enum role {
	NOTHING,
	TOP,
	SEGMENTS,
	SEGMENT,
	BLOCKS,
	BLOCK,
	HISTORY,
	PAST, /* an element of a block's history */
	TRACES,
	TRACE,
	ENTRY,
	FRAMES,
	FRAME,
	SETTINGS,
	ANNOTATIONS,
	ANNOTATION,
	ANYTHING, /* may hold frames that others refer to */
};

enum member {
	M_NONE, /* a key that nobody asks for */
	M_SEGMENTS,
	M_TRACES,
	M_SETTINGS,
	M_ANNOTATIONS,
	M_BLOCKS,
	M_HISTORY,
	M_FRAMES,
	M_DEVICE,
	M_ADDRESS,
	M_TOTAL,
	M_SIZE,
	M_REQUESTED,
	M_REAL_SIZE,
	M_STREAM,
	M_TYPE,
	M_POOL,
	M_EXPANDABLE,
	M_STATE,
	M_ACTION,
	M_ADDR,
	M_DEVICE_FREE,
	M_TIME,
	M_FILENAME,
	M_LINE,
	M_NAME,
	M_STAGE,
	MEMBERS
};

/* Allowed types of values, as bits; a container is allowed by its role. */
#define BIT(type)   (1u << (type))
#define INT         BIT(PF_PICKLE_INT)
#define TEXT        BIT(PF_PICKLE_TEXT)
#define KEY         (INT | BIT(PF_PICKLE_UINT)) /* or a text of digits */
#define HOLDS(role) ((unsigned)(role) << 16)

static const struct {
	const char *key;
	unsigned types;
} members[MEMBERS] = {
	[M_SEGMENTS] = { "segments", HOLDS(SEGMENTS) },
	[M_TRACES] = { "device_traces", HOLDS(TRACES) },
	[M_SETTINGS] = { "allocator_settings", HOLDS(SETTINGS) },
	[M_ANNOTATIONS] = { "external_annotations", HOLDS(ANNOTATIONS) },
	[M_BLOCKS] = { "blocks", HOLDS(BLOCKS) },
	[M_HISTORY] = { "history", HOLDS(HISTORY) },
	[M_FRAMES] = { "frames", HOLDS(FRAMES) },
	[M_DEVICE] = { "device", INT },
	[M_ADDRESS] = { "address", KEY },
	[M_TOTAL] = { "total_size", INT },
	[M_SIZE] = { "size", INT },
	[M_REQUESTED] = { "requested_size", INT },
	[M_REAL_SIZE] = { "real_size", INT },
	[M_STREAM] = { "stream", KEY },
	[M_TYPE] = { "segment_type", TEXT },
	[M_POOL] = { "segment_pool_id", BIT(PF_PICKLE_PAIR) },
	[M_EXPANDABLE] = { "is_expandable", BIT(PF_PICKLE_BOOL) },
	[M_STATE] = { "state", TEXT },
	[M_ACTION] = { "action", TEXT },
	[M_ADDR] = { "addr", KEY },
	[M_DEVICE_FREE] = { "device_free", INT },
	[M_TIME] = { "time_us", INT },
	[M_FILENAME] = { "filename", TEXT },
	[M_LINE] = { "line", INT },
	[M_NAME] = { "name", TEXT },
	[M_STAGE] = { "stage", TEXT },
};

static const char *const actions[] = {
	[PF_SNAP_ALLOC] = "alloc",
	[PF_SNAP_FREE_REQUESTED] = "free_requested",
	[PF_SNAP_FREE] = "free_completed",
	[PF_SNAP_SEGMENT_ALLOC] = "segment_alloc",
	[PF_SNAP_SEGMENT_FREE] = "segment_free",
	[PF_SNAP_SEGMENT_MAP] = "segment_map",
	[PF_SNAP_SEGMENT_UNMAP] = "segment_unmap",
	[PF_SNAP_TAKEN] = "snapshot",
	[PF_SNAP_OOM] = "oom",
};

struct record {
	int64_t of[MEMBERS];
	uint32_t has, bad; /* by member */
	uint32_t is_unsigned;
	uint32_t device; /* of a trace or an entry */
};

/* A place in the list of blocks that goes to the spool with its segment. */
struct pf_snap_work {
	struct record records[PF_PICKLE_DEPTH_MAX];
	uint8_t *member_of, *action_of; /* by text */
	size_t member_cap, action_cap;
	struct pf_snap_block *blocks; /* of the segment at hand */
	size_t block_count, block_cap;
	struct pf_snap_past *pasts; /* of these blocks */
	size_t past_count, past_cap;
	int64_t past_bytes; /* of the first element; -1: none */
	uint32_t past_frames;
	bool has_past_frames;
	uint32_t *frames; /* of the list at hand */
	size_t frame_count, frame_cap;
	bool in_frames, has_segments;
};

/* Is the member there, and of its type? */
static bool has(const struct record *r, enum member m)
{
	return (r->has & ~r->bad) >> m & 1;
}

/* enum pf_snap_is of a key */
static uint8_t key_is(const struct record *r, enum member m)
{
	if (!has(r, m))
		return 0;
	return r->is_unsigned >> m & 1 ? PF_SNAP_KNOWN | PF_SNAP_UNSIGNED
				       : PF_SNAP_KNOWN;
}

static void count(struct pf_snap *s, enum pf_repair_kind kind,
		  const struct pf_pickle_open *c)
{
	pf_repair_note(&s->repairs, kind, 1, c->offset);
}

static struct record *record_of(struct pf_snap *s,
				const struct pf_pickle_open *c)
{
	return &s->work->records[c->record];
}

/* ---- texts ---- */

static void note_text(void *arg, uint32_t number, const char *p, size_t len)
{
	struct pf_snap *s = arg;
	struct pf_snap_work *w = s->work;

	w->member_of =
		pf_grow(w->member_of, &w->member_cap, (size_t)number + 1, 1);
	w->action_of =
		pf_grow(w->action_of, &w->action_cap, (size_t)number + 1, 1);
	w->member_of[number] = M_NONE;
	w->action_of[number] = PF_SNAP_OTHER_ACTION;
	for (int m = M_NONE + 1; m < MEMBERS; m++)
		if (strlen(members[m].key) == len &&
		    !memcmp(members[m].key, p, len))
			w->member_of[number] = (uint8_t)m;
	for (int a = 0; a < PF_SNAP_OTHER_ACTION; a++)
		if (strlen(actions[a]) == len && !memcmp(actions[a], p, len))
			w->action_of[number] = (uint8_t)a;
	snap_stacks_text(&s->stacks, number, p, len);
}

static enum member member_of(const struct pf_snap *s,
			     const struct pf_pickle_val *key)
{
	return key && key->type == PF_PICKLE_TEXT
		       ? (enum member)s->work->member_of[key->v]
		       : M_NONE;
}

static bool ignores(void *arg, uint32_t key)
{
	const struct pf_snap *s = arg;
	const struct pf_pickle_open *c =
		&s->pickle.open[s->pickle.open_count - 1];

	return c->role != SETTINGS && s->work->member_of[key] == M_NONE;
}

static bool says(const struct pf_snap *s, int64_t number, const char *text)
{
	size_t len;
	const char *p = pf_snap_text(s, (uint32_t)number, &len);

	return p && pf_is(p, len, text);
}

const char *pf_snap_text(const struct pf_snap *s, uint32_t number, size_t *len)
{
	return number == PF_SNAP_NO_TEXT
		       ? NULL
		       : pf_intern_text(&s->pickle.texts, number, len);
}

/* ---- roles ---- */

/* parent, key, is it a dictionary: role.  M_NONE: an item of a list. */
static const struct {
	uint8_t parent, key, is_dict, role;
} roles[] = {
	{ TOP, M_SEGMENTS, 0, SEGMENTS },
	{ TOP, M_TRACES, 0, TRACES },
	{ TOP, M_SETTINGS, 1, SETTINGS },
	{ TOP, M_ANNOTATIONS, 0, ANNOTATIONS },
	{ SEGMENTS, M_NONE, 1, SEGMENT },
	{ SEGMENT, M_BLOCKS, 0, BLOCKS },
	{ SEGMENT, M_FRAMES, 0, FRAMES },
	{ BLOCKS, M_NONE, 1, BLOCK },
	{ BLOCK, M_HISTORY, 0, HISTORY },
	{ BLOCK, M_FRAMES, 0, FRAMES },
	{ HISTORY, M_NONE, 1, PAST },
	{ PAST, M_FRAMES, 0, FRAMES },
	{ TRACES, M_NONE, 0, TRACE },
	{ TRACE, M_NONE, 1, ENTRY },
	{ ENTRY, M_FRAMES, 0, FRAMES },
	{ FRAMES, M_NONE, 1, FRAME },
	{ ANNOTATIONS, M_NONE, 1, ANNOTATION },
	{ ANYTHING, M_FRAMES, 0, FRAMES },
};

static uint8_t role_of(void *arg, const struct pf_pickle_open *parent,
		       const struct pf_pickle_val *key, bool is_dict)
{
	struct pf_snap *s = arg;
	enum member m = member_of(s, key);

	if (!parent)
		return is_dict ? TOP : SEGMENTS;
	if (parent->is_dict && !key)
		return NOTHING;
	for (size_t i = 0; i < PF_LEN(roles); i++)
		if (roles[i].parent == parent->role && roles[i].key == m &&
		    roles[i].is_dict == is_dict)
			return roles[i].role == FRAMES && s->work->in_frames
				       ? NOTHING
				       : roles[i].role;
	if (parent->role == SETTINGS && is_dict && key)
		return SETTINGS;
	/* an item that its list does not hold is none of it */
	if (parent->role == FRAME ||
	    (!parent->is_dict && !is_dict && parent->role != ANYTHING))
		return NOTHING;
	return parent->is_dict || parent->role == ANYTHING ? ANYTHING : NOTHING;
}

static int begin_trace(struct pf_snap *s, struct record *r, int64_t above,
		       struct pf_err *err)
{
	int device = above < PF_SNAP_DEVICES_MAX ? snap_device(s, above) : -1;

	if (device < 0)
		return pf_fail(err, PF_EDATA,
			       "has histories of more than %u "
			       "devices",
			       PF_SNAP_DEVICES_MAX);
	s->devices[device].has_history = true;
	r->device = (uint32_t)device;
	return 0;
}

static int begin(void *arg, struct pf_pickle_open *c,
		 const struct pf_pickle_open *parent, int64_t above,
		 struct pf_err *err)
{
	struct pf_snap *s = arg;
	struct pf_snap_work *w = s->work;
	struct record *r;

	c->record = s->pickle.open_count;
	r = record_of(s, c);
	r->has = r->bad = r->is_unsigned = 0;
	switch ((enum role)c->role) {
	case FRAMES:
		w->in_frames = true;
		w->frame_count = 0;
		c->number = snap_new_list(&s->stacks);
		return 0;
	case FRAME:
		c->number = snap_new_frame(&s->stacks);
		return 0;
	case SEGMENT:
		w->block_count = w->past_count = 0;
		return 0;
	case BLOCK:
		w->past_bytes = -1;
		w->has_past_frames = false;
		return 0;
	case PAST:
		r->device = above > 0; /* the first is the block's own */
		return 0;
	case TRACE:
		return begin_trace(s, r, above, err);
	case ENTRY:
		r->device = record_of(s, parent)->device;
		s->entry_count++;
		return 0;
	case ANNOTATION:
		s->mark_count++;
		return 0;
	case SETTINGS:
		r->of[M_NAME] = PF_SNAP_NO_TEXT;
		if (parent->role == SETTINGS)
			r->of[M_NAME] = s->pickle.stack[s->pickle.depth - 1].v;
		return 0;
	default:
		return 0;
	}
}

/* ---- members ---- */

static void add_setting(struct pf_snap *s, const struct pf_pickle_open *c,
			const struct pf_pickle_val *key,
			const struct pf_pickle_val *value)
{
	if (key->type != PF_PICKLE_TEXT || value->type < PF_PICKLE_NONE ||
	    value->type > PF_PICKLE_TEXT || s->setting_count >= 4096)
		return;
	*PF_ONE_MORE(s->settings, s->setting_count, s->setting_cap) =
		(struct pf_snap_setting){
			.prefix = (uint32_t)record_of(s, c)->of[M_NAME],
			.key = (uint32_t)key->v,
			.value = *value,
		};
}

static bool is_allowed(enum member m, const struct pf_pickle_val *v)
{
	unsigned types = members[m].types;

	if (types >> 16)
		return v->type == PF_PICKLE_THING && v->role == types >> 16;
	return types >> v->type & 1;
}

/* A key that is a text: decimal digits, or hexadecimal ones behind 0x. */
static struct pf_pickle_val key_of_text(const struct pf_snap *s,
					const struct pf_pickle_val *v)
{
	size_t len;
	const char *p = pf_snap_text(s, (uint32_t)v->v, &len);
	bool is_hex = len > 2 && p[0] == '0' && p[1] == 'x';
	const char *digits = is_hex ? "0123456789abcdefABCDEF" : "0123456789";
	struct pf_pickle_val out = *v;
	uint64_t n;

	p += is_hex ? 2 : 0;
	len -= is_hex ? 2 : 0;
	if (!len || strspn(p, digits) != len)
		return out;
	errno = 0;
	n = strtoull(p, NULL, is_hex ? 16 : 10);
	if (errno)
		return out;
	out.type = n >> 63 ? PF_PICKLE_UINT : PF_PICKLE_INT;
	out.v = (int64_t)n;
	return out;
}

static int set(void *arg, struct pf_pickle_open *c,
	       const struct pf_pickle_val *key,
	       const struct pf_pickle_val *value, struct pf_err *err)
{
	struct pf_snap *s = arg;
	struct record *r = record_of(s, c);
	enum member m = member_of(s, key);
	struct pf_pickle_val number;

	if (c->role == SETTINGS) {
		add_setting(s, c, key, value);
		return 0;
	}
	if (m == M_NONE || c->role == ANYTHING || value->type == PF_PICKLE_NONE)
		return 0;
	if (c->role == TOP && m == M_SEGMENTS && !is_allowed(m, value))
		return pf_fail(err, PF_EDATA,
			       "is no memory snapshot: its segments are no "
			       "list");
	if (members[m].types == KEY && value->type == PF_PICKLE_TEXT) {
		number = key_of_text(s, value);
		value = &number;
	}
	r->has |= 1u << m;
	if (value->type == PF_PICKLE_UINT)
		r->is_unsigned |= 1u << m;
	if (!is_allowed(m, value))
		r->bad |= 1u << m;
	r->of[m] = value->v;
	return 0;
}

static int add(void *arg, struct pf_pickle_open *c,
	       const struct pf_pickle_val *value, struct pf_err *err)
{
	static const uint8_t items[] = {
		[SEGMENTS] = SEGMENT,
		[BLOCKS] = BLOCK,
		[HISTORY] = PAST,
		[TRACES] = TRACE,
		[TRACE] = ENTRY,
		[FRAMES] = FRAME,
		[ANNOTATIONS] = ANNOTATION,
		[ANYTHING] = NOTHING,
	};
	struct pf_snap *s = arg;
	struct pf_snap_work *w = s->work;

	(void)err;
	if (c->role == ANYTHING)
		return 0;
	if (value->type != PF_PICKLE_THING || value->role != items[c->role]) {
		if (c->role == TRACE) {
			s->entry_count++;
			count(s, PF_SKIP_MALFORMED, c);
		} else {
			s->lost_count += c->role == SEGMENTS;
			count(s, PF_REPAIR_BAD_PART, c);
		}
	} else if (c->role == FRAMES) {
		*PF_ONE_MORE(w->frames, w->frame_count, w->frame_cap) =
			(uint32_t)value->v;
	}
	return 0;
}

/* ---- records ---- */

static bool is_size(const struct record *r, enum member m)
{
	return has(r, m) && r->of[m] >= 0 && r->of[m] <= PF_SNAP_SIZE_MAX;
}

static uint32_t stack_of(const struct pf_snap *s, const struct record *r)
{
	return has(r, M_FRAMES)
		       ? snap_stack_id(&s->stacks, (uint32_t)r->of[M_FRAMES])
		       : 0;
}

static void end_frame(struct pf_snap *s, struct pf_pickle_open *c,
		      const struct record *r)
{
	const struct pf_snap_frame frame = {
		.file = (uint32_t)r->of[M_FILENAME],
		.name = (uint32_t)r->of[M_NAME],
		.line = has(r, M_LINE) ? r->of[M_LINE] : -1,
	};

	if (has(r, M_FILENAME) && has(r, M_NAME))
		snap_set_frame(&s->stacks, c->number, &frame);
	else
		count(s, PF_REPAIR_BAD_PART, c);
}

static void end_past(struct pf_snap *s, const struct record *r)
{
	struct pf_snap_work *w = s->work;

	if (r->device && is_size(r, M_REAL_SIZE)) {
		*PF_ONE_MORE(w->pasts, w->past_count, w->past_cap) =
			(struct pf_snap_past){ (int64_t)w->block_count,
					       r->of[M_REAL_SIZE],
					       stack_of(s, r) };
	}
	if (r->device)
		return;
	if (is_size(r, M_REAL_SIZE))
		w->past_bytes = r->of[M_REAL_SIZE];
	w->has_past_frames = has(r, M_FRAMES);
	w->past_frames = (uint32_t)r->of[M_FRAMES];
}

/* Torch 2.0 has neither frames nor requested sizes, but a history of each. */
static void end_block(struct pf_snap *s, const struct pf_pickle_open *c,
		      struct record *r)
{
	struct pf_snap_work *w = s->work;
	struct pf_snap_block *b;
	bool is_inactive;

	if (!is_size(r, M_SIZE) || !has(r, M_STATE) ||
	    (has(r, M_REQUESTED) && !is_size(r, M_REQUESTED))) {
		count(s, PF_REPAIR_BAD_PART, c);
		while (w->past_count && w->pasts[w->past_count - 1].block ==
						(int64_t)w->block_count)
			w->past_count--;
		return;
	}
	is_inactive = says(s, r->of[M_STATE], "inactive");
	if (!has(r, M_FRAMES) && w->has_past_frames) {
		r->has |= 1u << M_FRAMES;
		r->of[M_FRAMES] = w->past_frames;
	}
	b = PF_ONE_MORE(w->blocks, w->block_count, w->block_cap);
	*b = (struct pf_snap_block){
		.address = r->of[M_ADDRESS],
		.size = r->of[M_SIZE],
		.state = (uint32_t)r->of[M_STATE],
		.stack = stack_of(s, r),
		.address_is = key_is(r, M_ADDRESS),
		.is_active = !is_inactive,
		.is_in_use = says(s, r->of[M_STATE], "active_allocated"),
	};
	b->requested = has(r, M_REQUESTED)  ? r->of[M_REQUESTED]
		       : w->past_bytes >= 0 ? w->past_bytes
					    : b->size;
}

/* Blocks lie one after the other and fill their segment. */
static int put_blocks(struct pf_snap *s, const struct pf_snap_segment *g,
		      struct pf_snap_device *d, struct pf_err *err)
{
	struct pf_snap_work *w = s->work;
	int64_t at = 0, first = (int64_t)pf_spool_count(s->blocks);

	for (size_t i = 0; i < w->past_count; i++) {
		w->pasts[i].block += first;
		PF_TRY(pf_spool_add(s->pasts, &w->pasts[i], err));
	}
	for (size_t i = 0; i < w->block_count; i++) {
		struct pf_snap_block *b = &w->blocks[i];

		int64_t said = b->address;
		bool is_said = g->address_is && b->address_is;

		b->segment = (int64_t)pf_spool_count(s->segments);
		/* as memory_viz has it: by the sizes before it */
		snap_place_block(b, g, at);
		s->bad_order_count += is_said && said != b->address;
		at = pf_sat_add(at, b->size);
		if (b->is_active)
			d->active = pf_sat_add(d->active, b->requested);
		if (b->is_in_use)
			d->in_use = pf_sat_add(d->in_use, b->requested);
		PF_TRY(pf_spool_add(s->blocks, b, err));
	}
	s->bad_sum_count += at != g->total;
	return 0;
}

static int end_segment(struct pf_snap *s, const struct pf_pickle_open *c,
		       const struct record *r, struct pf_err *err)
{
	struct pf_snap_work *w = s->work;
	struct pf_snap_segment g = {
		.device = r->of[M_DEVICE],
		.address = has(r, M_ADDRESS) ? r->of[M_ADDRESS] : 0,
		.total = r->of[M_TOTAL],
		.stream = r->of[M_STREAM],
		.block_count = (int64_t)w->block_count,
		.pool_a = PF_SNAP_NO_TEXT,
		.pool_b = PF_SNAP_NO_TEXT,
		.stack = stack_of(s, r),
		.is_expandable = -1,
		.is_large = -1,
		.address_is = key_is(r, M_ADDRESS),
		.stream_is = key_is(r, M_STREAM),
	};
	int device = has(r, M_DEVICE) ? snap_device(s, g.device) : -1;

	/* SnapViewer writes pools as lists */
	if (device < 0 || !is_size(r, M_TOTAL) || r->bad & ~(1u << M_POOL)) {
		count(s, PF_REPAIR_BAD_PART, c);
		s->lost_count++;
		w->block_count = 0;
		return 0;
	}
	if (has(r, M_POOL)) {
		g.pool_a = (uint32_t)(r->of[M_POOL] >> 32);
		g.pool_b = (uint32_t)r->of[M_POOL];
	}
	if (has(r, M_EXPANDABLE))
		g.is_expandable = r->of[M_EXPANDABLE] != 0;
	if (has(r, M_TYPE))
		g.is_large = says(s, r->of[M_TYPE], "large")   ? 1
			     : says(s, r->of[M_TYPE], "small") ? 0
							       : -1;
	s->devices[device].segment_total =
		pf_sat_add(s->devices[device].segment_total, g.total);
	PF_TRY(put_blocks(s, &g, &s->devices[device], err));
	w->block_count = 0;
	return pf_spool_add(s->segments, &g, err);
}

static int end_entry(struct pf_snap *s, const struct pf_pickle_open *c,
		     const struct record *r, struct pf_err *err)
{
	struct pf_snap_entry e = {
		.time_us = r->of[M_TIME],
		.address = r->of[M_ADDR],
		.size = r->of[M_SIZE],
		.stream = has(r, M_STREAM) ? r->of[M_STREAM] : 0,
		.device_free =
			is_size(r, M_DEVICE_FREE) ? r->of[M_DEVICE_FREE] : -1,
		.stack = stack_of(s, r),
		.name = (uint32_t)r->of[M_ACTION],
		.device = (uint16_t)r->device,
		.address_is = key_is(r, M_ADDR),
		.stream_is = key_is(r, M_STREAM),
	};
	const int64_t last_us = PF_SNAP_TIME_MAX_US;

	e.action = has(r, M_ACTION) ? s->work->action_of[r->of[M_ACTION]] : 0;
	if (!has(r, M_ACTION) || r->bad || !is_size(r, M_SIZE) ||
	    ((e.action == PF_SNAP_ALLOC || e.action == PF_SNAP_FREE) &&
	     !e.address_is)) {
		count(s, PF_SKIP_MALFORMED, c);
		return 0;
	}
	if (has(r, M_TIME) && (e.time_us < 0 || e.time_us > last_us)) {
		count(s, PF_SKIP_TIME_RANGE, c);
		return 0;
	}
	return snap_replay(s, &e, has(r, M_TIME), err);
}

static int end_annotation(struct pf_snap *s, const struct pf_pickle_open *c,
			  const struct record *r, struct pf_err *err)
{
	struct pf_snap_mark m = {
		.time_us = r->of[M_TIME],
		.device = r->of[M_DEVICE],
		.name = (uint32_t)r->of[M_NAME],
		.has_device = has(r, M_DEVICE),
	};

	if (!has(r, M_NAME) || !has(r, M_STAGE) || !has(r, M_TIME) ||
	    m.time_us < 0 || m.time_us > PF_SNAP_TIME_MAX_US) {
		count(s, PF_SKIP_MALFORMED, c);
		return 0;
	}
	m.is_start = says(s, r->of[M_STAGE], "START");
	if (!s->has_times || m.time_us < s->first_us)
		s->first_us = m.time_us;
	s->has_times = true;
	return pf_spool_add(s->marks, &m, err);
}

static int end(void *arg, struct pf_pickle_open *c, struct pf_err *err)
{
	struct pf_snap *s = arg;
	struct record *r = record_of(s, c);

	switch ((enum role)c->role) {
	case FRAMES:
		s->work->in_frames = false;
		snap_set_list(&s->stacks, c->number, s->work->frames,
			      s->work->frame_count);
		return 0;
	case FRAME:
		end_frame(s, c, r);
		return 0;
	case PAST:
		end_past(s, r);
		return 0;
	case BLOCK:
		end_block(s, c, r);
		return 0;
	case SEGMENT:
		return end_segment(s, c, r, err);
	case ENTRY:
		return end_entry(s, c, r, err);
	case ANNOTATION:
		return end_annotation(s, c, r, err);
	case TOP:
		s->work->has_segments = has(r, M_SEGMENTS);
		return 0;
	default:
		return 0;
	}
}

/* ---- the whole ---- */

/* Is a container of this role not complete?  Its record, or NULL. */
static const struct record *open_of(struct pf_snap *s, enum role role)
{
	for (uint32_t i = 0; i < s->pickle.open_count; i++)
		if (s->pickle.open[i].role == role)
			return record_of(s, &s->pickle.open[i]);
	return NULL;
}

/* Is reading in the list of segments?  In the history of which device, or -1. */
static bool snap_in_segments(struct pf_snap *s)
{
	return open_of(s, SEGMENTS) != NULL;
}

static int64_t snap_in_history(struct pf_snap *s)
{
	const struct record *r = open_of(s, TRACE);

	return r ? (int64_t)r->device : -1;
}

int pf_snap_load(struct pf_snap *s, const char *dir, bool salvage,
		 pf_pickle_read_fn *read, void *arg, struct pf_err *err)
{
	const struct pf_pickle_handler handler = {
		.arg = s,
		.role = role_of,
		.begin = begin,
		.set = set,
		.add = add,
		.end = end,
		.text = note_text,
		.ignores = ignores,
	};
	struct pf_pickle_val top;

	memset(s, 0, sizeof(*s));
	s->work = pf_calloc(1, sizeof(*s->work));
	s->entries = pf_spool_new(sizeof(struct pf_snap_entry),
				  PF_SNAP_SPOOL_BYTES, dir);
	snap_new_state(s, dir);
	s->marks = pf_spool_new(sizeof(struct pf_snap_mark),
				PF_SNAP_SPOOL_BYTES, dir);
	if (pf_pickle_load(&s->pickle, &handler, read, arg, &top, err))
		return snap_keep(s, dir, salvage, err);
	s->is_list = top.type == PF_PICKLE_THING && top.role == SEGMENTS;
	if (!s->is_list && !s->work->has_segments)
		return pf_fail(err, PF_EDATA,
			       "is a pickle, but no memory snapshot: it has no "
			       "\"segments\"");
	if (s->pickle.trailing)
		pf_repair_note(&s->repairs, PF_REPAIR_TRAILING_BYTES,
			       s->pickle.trailing, s->pickle.end + 1);
	return snap_settle(s, err);
}

void pf_snap_release(struct pf_snap *s)
{
	for (size_t i = 0; i < s->device_count; i++)
		pf_map_release(&s->devices[i].open);
	free(s->devices);
	free(s->settings);
	pf_spool_free(s->entries);
	pf_spool_free(s->segments);
	pf_spool_free(s->blocks);
	pf_spool_free(s->marks);
	pf_spool_free(s->pasts);
	snap_stacks_release(&s->stacks);
	pf_pickle_release(&s->pickle);
	if (s->work) {
		free(s->work->member_of);
		free(s->work->action_of);
		free(s->work->blocks);
		free(s->work->pasts);
		free(s->work->frames);
	}
	free(s->work);
	memset(s, 0, sizeof(*s));
}
