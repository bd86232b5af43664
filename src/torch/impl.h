/* SPDX-License-Identifier: MIT */
/*
 * The inside of key_averages(): what its passes share.
 *
 * Passes over the column blocks, each streaming:
 *	survey	what is on which track; the stop thread; colliding ids
 *	before	links of runtime calls where the trace lost them, the ids
 *		that overhead events inherit, allocation records
 *	device	groups of GPU events; kernel times summed by link
 *	host	the tree of CPU events, and their groups
 */
#pragma once

#include "base/err.h"
#include "base/intern.h"
#include "base/mem.h"
#include "base/spool.h"
#include "events/args.h"
#include "events/names.h"
#include "store/cursor.h"
#include "store/db.h"
#include "store/texts.h"
#include "torch/averages.h"
#include "torch/groups.h"
#include "torch/rules.h"

/*
 * What the names and argument texts of a database mean to key_averages(),
 * worked out once per distinct text and kept by its id.  Texts that did not
 * fit the dictionaries (PF_ID_INLINE) are worked out each time.
 */

enum pf_name_flag {
	PF_NAME_KNOWN = 1,
	PF_NAME_DROPPED = 2,   /* torch makes no function event of it */
	PF_NAME_C10D = 4,      /* a collective's annotation: asynchronous */
	PF_NAME_STEP = 8,      /* ProfilerStep#N */
	PF_NAME_SPAN = 16,     /* the profiler's own span */
	PF_NAME_FLOP_SHIFT = 5 /* enum pf_flop_op, 3 bits */
};

struct pf_name_fact {
	uint32_t text;     /* in pf_facts.texts, rewritten as torch does */
	uint32_t overload; /* in texts: "Tensor" of aten::add.Tensor, or "" */
	uint8_t flags;
};

enum pf_args_flag {
	PF_ARGS_KNOWN = 1,
	PF_ARGS_UNFINISHED = 2,
	PF_ARGS_HIDDEN = 4,
	PF_ARGS_CPU_MEMORY = 8,     /* "Device Type" of the CPU */
	PF_ARGS_DEVICE_MEMORY = 16, /* of a device */
	PF_ARGS_XPU_MEMORY = 32,
};

struct pf_args_fact {
	uint32_t shapes; /* in texts: as Python prints input_shapes */
	uint32_t stack;  /* in texts: arg "Call stack", "" if none */
	uint8_t flags;
};

/* An event's reference to a text: an id, and the text itself if inline. */
struct pf_text_ref {
	uint32_t id;
	const char *inline_text;
	uint32_t inline_len;
};

struct pf_facts {
	struct pf_db *db;
	struct pf_intern texts;
	uint32_t no_shapes, empty; /* "[]" and "" */
	uint32_t collection;       /* "Python GC" */
	struct pf_names {
		struct pf_name_fact *fact; /* by id */
		size_t cap;
	} names, ops;
	struct pf_args_fact *args;
	size_t args_cap;
	struct pf_kinds kinds;
	struct pf_map flops; /* by args id * 8 + formula */
	struct pf_texts by_id;
	struct pf_buf scratch;
	bool plain_names;   /* only names with "_Z" are demangled */
	bool has_overloads; /* operators are called NAME.OVERLOAD */
};

int pf_facts_init(struct pf_facts *f, struct pf_db *db, struct pf_err *err);
void pf_facts_release(struct pf_facts *f);

/* What an event type is; HOST for an unknown id. */
static inline unsigned pf_facts_kind(const struct pf_facts *f, uint32_t type)
{
	unsigned kind = pf_kinds_at(&f->kinds, type);

	return kind < PF_KIND_COUNT ? kind : (unsigned)PF_KIND_HOST;
}

int pf_facts_name_slow(struct pf_facts *f, bool is_op,
		       const struct pf_text_ref *ref, struct pf_name_fact *out,
		       struct pf_err *err);
int pf_facts_args_slow(struct pf_facts *f, const struct pf_text_ref *ref,
		       struct pf_args_fact *out, struct pf_err *err);

/*
 * What an event of a kind is called.  References come by pointer: a copy of one
 * that was just written would wait for the writes.
 */
static inline int pf_facts_name(struct pf_facts *f, unsigned kind,
				const struct pf_text_ref *ref,
				struct pf_name_fact *out, struct pf_err *err)
{
	bool is_op = kind == PF_KIND_CPU_OP && f->has_overloads;
	const struct pf_names *names = is_op ? &f->ops : &f->names;

	if (ref->id < names->cap &&
	    names->fact[ref->id].flags & PF_NAME_KNOWN) {
		*out = names->fact[ref->id];
		return 0;
	}
	return pf_facts_name_slow(f, is_op, ref, out, err);
}

static inline int pf_facts_args(struct pf_facts *f,
				const struct pf_text_ref *ref,
				struct pf_args_fact *out, struct pf_err *err)
{
	if (ref->id < f->args_cap && f->args[ref->id].flags & PF_ARGS_KNOWN) {
		*out = f->args[ref->id];
		return 0;
	}
	if (ref->id == PF_ID_NONE) {
		*out = (struct pf_args_fact){ f->no_shapes, f->empty, 0 };
		return 0;
	}
	return pf_facts_args_slow(f, ref, out, err);
}

/* FLOPs of a call whose name has a formula (name flags, top three bits). */
int pf_facts_flops(struct pf_facts *f, enum pf_flop_op op,
		   const struct pf_text_ref *args, struct pf_flops_sum *out,
		   struct pf_err *err);

/*
 * All events of several tracks in the order torch gives its function events:
 * start, then longest first, then CPU events by "Ev Idx" before the others in
 * file order.  Memory is one decoded block per track.
 */

/* One event as the analyses need it. */
struct pf_fe {
	int64_t start_ns, end_ns;
	int64_t position; /* Ev Idx or file order, by is_late */
	int64_t external_id, correlation, bytes; /* 0 when absent */
	int64_t sequence, forward_thread;        /* likewise */
	int64_t python_id, python_parent;
	struct pf_text_ref name, args;
	uint32_t mask;
	uint32_t track; /* index in the array given */
	uint8_t kind;
	bool is_late; /* torch learns of it after the CPU events */
};

struct pf_merge;

struct pf_merge_args {
	const struct pf_track *tracks;
	size_t count;
	uint32_t kinds; /* bit per enum pf_kind: others are skipped */
	/*
	 * Beside start, dur, type and order.  Without the slot Ev Idx, CPU
	 * events that tie are in file order; names without ARGS come without
	 * the texts of inline ones (as if they were empty).
	 */
	uint64_t columns;
	const bool *use; /* per track; NULL: all */
};

/* NULL on error. */
struct pf_merge *pf_merge_new(struct pf_db *db, struct pf_facts *facts,
			      const struct pf_merge_args *args,
			      struct pf_err *err);
void pf_merge_free(struct pf_merge *m);
PF_FREED(pf_merge_free, struct pf_merge)

/* The next event, borrowed until the next call; NULL at the end or on an
 * error (err->code set). */
const struct pf_fe *pf_merge_next(struct pf_merge *m, struct pf_err *err);

/*
 * Looking up nearly ascending keys in a sorted spool: remembers between which
 * two records the last key fell, so that most calls do no search.  Use one
 * per stream of keys.
 */

struct pf_lookup {
	struct pf_spool *spool;
	/* Keys in (above, upto] have the lower bound "index". */
	int64_t above, upto;
	uint64_t index;
};

static inline void pf_lookup_init(struct pf_lookup *l, struct pf_spool *s)
{
	*l = (struct pf_lookup){ s, 0, 0, 0 };
}

int pf_lookup_search(struct pf_lookup *l, int64_t key, struct pf_err *err);

/* First index whose key is >= key (count if none); 0 or -1. */
static inline int pf_lookup_bound(struct pf_lookup *l, int64_t key,
				  uint64_t *index, struct pf_err *err)
{
	PF_TRY(!(key > l->above && key <= l->upto) &&
	       pf_lookup_search(l, key, err));
	*index = l->index;
	return 0;
}

/* The first record of exactly this key: 1 and *record, 0, or -1. */
static inline int pf_lookup_find(struct pf_lookup *l, int64_t key,
				 const void **record, struct pf_err *err)
{
	if (key > l->above && key < l->upto)
		return 0;
	PF_TRY(!(key > l->above && key <= l->upto) &&
	       pf_lookup_search(l, key, err));
	if (key != l->upto || l->index >= pf_spool_count(l->spool))
		return 0;
	*record = pf_spool_at(l->spool, l->index, err);
	return *record ? 1 : -1;
}

/*
 * Allocation records and which function events they belong to: every record
 * in the closed interval of an event, of whatever thread, counts for it.
 * First every record and every event is shown, then sums can be asked for.
 * Memory is fixed, but for a stretch of time of each track.
 */

struct pf_memory_record {
	int64_t t_ns, position;
	int64_t cpu_bytes, device_bytes;
	uint32_t track;
	bool is_oom;
};

struct pf_memory;

#define PF_NO_TRACK   UINT32_MAX
#define PF_KINDBIT(k) (UINT32_C(1) << (k))

#define PF_KINDS_CALL                                                          \
	(PF_KINDBIT(PF_KIND_RUNTIME) | PF_KINDBIT(PF_KIND_DRIVER) |            \
	 PF_KINDBIT(PF_KIND_COLLECTIVE) | PF_KINDBIT(PF_KIND_CUDA_EVENT))
#define PF_KINDS_OP                                                            \
	(PF_KINDBIT(PF_KIND_CPU_OP) | PF_KINDBIT(PF_KIND_ANNOTATION))
#define PF_KINDS_DEVICE                                                        \
	(PF_KINDBIT(PF_KIND_KERNEL) | PF_KINDBIT(PF_KIND_MEMCPY) |             \
	 PF_KINDBIT(PF_KIND_MEMSET) | PF_KINDBIT(PF_KIND_GPU_SYNC) |           \
	 PF_KINDBIT(PF_KIND_GPU_ANNOTATION) | PF_KINDBIT(PF_KIND_MTIA) |       \
	 PF_KINDBIT(PF_KIND_PROFILER_RANGE))
#define PF_KINDS_MEMORY (PF_KINDBIT(PF_KIND_MEMORY) | PF_KINDBIT(PF_KIND_OOM))

static inline bool pf_kind_in(unsigned kind, uint32_t kinds)
{
	return kinds >> kind & 1;
}

/* An operator that is open in time on its thread. */
struct pf_open_op {
	int64_t start_ns, end_ns, id;
	bool is_candidate, is_operator; /* not an annotation */
};

/* What the survey found on a host track, and the state of passes on it. */
struct pf_host_track {
	uint64_t kind_count[PF_KIND_COUNT];
	uint64_t steps; /* ProfilerStep# annotations */
	struct pf_open_op *open;
	size_t open_count, open_cap;
	struct pf_lookup op_kernels, call_kernels;
	struct pf_number_list *numbers; /* or NULL */
};

/* Kernel time of one link, summed in torch's order. */
struct pf_kernel_sum {
	int64_t link;
	double us;
	int64_t ns;
};

/*
 * A function event other than an operator that may own kernels.  Thread
 * PF_NO_TRACK stands for the stop thread.
 */
struct pf_collider {
	int64_t id, start_ns;
	uint64_t thread;
};

/*
 * Colliders whose ids ascend in the order of time, as a thread's calls do;
 * what does not ascend goes through a sorter.
 */
struct pf_number_list {
	struct pf_spool *spool;
	struct pf_lookup lookup;
	int64_t last_id;
};
#define PF_NUMBER_LISTS_MAX 8

struct pf_engine {
	struct pf_db *db;
	struct pf_err *err; /* of who asks: at ingest, not that of db */
	const struct pf_averages_args *args;
	struct pf_averages *result;
	struct pf_rules rules;
	struct pf_facts facts;
	const char *temp_dir;
	/* All tracks of the trace; the passes use those of their class. */
	struct pf_track *tracks;
	size_t track_count;
	bool *is_host, *is_device;
	struct pf_host_track *host;
	uint32_t stop_track; /* track_count: there is none */
	int64_t trace_start_ns, base_ns;
	int64_t trace_end_ns;   /* INT64_MAX: unknown */
	int64_t from_ns, to_ns; /* events that begin here count */
	bool is_foreign;        /* torch has no table of it */
	bool has_finished_key;  /* some event has the argument */
	bool has_collections;   /* of garbage, which are rows */
	bool unfinished_by_rf;  /* it shows by a missing function id */
	bool has_late_op;       /* that pf_engine_ends_late() */
	struct pf_groups groups[PF_GROUPINGS_MAX];
	size_t grouping_count;                  /* that are worked out */
	struct pf_map stacks[PF_GROUPINGS_MAX]; /* text -> text of the first */
	struct pf_map rows; /* name and arguments -> groups, both in one */
	struct pf_tree tree;
	bool wants_stacks;
	bool has_call_stacks;          /* what torch gives a stack has one */
	unsigned stack_entries;        /* that are kept of one */
	struct pf_map *forward_stacks; /* per track: by sequence number */
	struct pf_map forward_threads; /* torch's number -> track */
	struct pf_map python_stacks;   /* of what a Python id calls */
	struct pf_spool *op_stacks;    /* by the number of an operator */
	struct pf_lookup op_stack;
	struct pf_engine_walk *walk; /* on the stop thread, or NULL */
	/* What the passes leave for later ones; NULL when there is none. */
	struct pf_sorter *collider_sorter;
	struct pf_number_list numbers[PF_NUMBER_LISTS_MAX + 1];
	size_t number_count; /* the last one is the sorter's */
	struct pf_spool *call_links, *overhead_ids;
	struct pf_lookup device_calls;
	struct pf_spool *op_kernels, *call_kernels;
	struct pf_memory *memory;
};

/* Times of a function event: doubles of us since the trace's start. */
static inline double pf_engine_us(const struct pf_engine *e, int64_t t_ns)
{
	/* Unsigned, so that hostile times wrap and stay defined. */
	return (double)(int64_t)((uint64_t)t_ns - (uint64_t)e->trace_start_ns) /
	       1000.0;
}

static inline double pf_engine_dur_us(const struct pf_engine *e,
				      int64_t start_ns, int64_t end_ns)
{
	return pf_engine_us(e, end_ns) - pf_engine_us(e, start_ns);
}

/*
 * With record_python_gc_info Kineto calls collections of garbage Python
 * functions.  torch does not: they are rows, and have a stack of their own in
 * the arguments.
 */
static inline bool pf_engine_is_collection(const struct pf_engine *e,
					   const struct pf_fe *fe,
					   const struct pf_name_fact *name)
{
	return fe->kind == PF_KIND_PYTHON && name->text == e->facts.collection;
}

/* A Python function where these are no function events. */
static inline bool pf_engine_skips_python(const struct pf_engine *e,
					  const struct pf_fe *fe,
					  const struct pf_name_fact *name)
{
	return fe->kind == PF_KIND_PYTHON && !e->rules.python_in_tree &&
	       !pf_engine_is_collection(e, fe, name);
}

/* Must the calls be looked at before the device events? */
static inline bool pf_engine_needs_calls(const struct pf_engine *e)
{
	return e->rules.links != PF_LINK_GIVEN ||
	       e->rules.candidates == PF_CANDIDATES_ALL;
}

/*
 * Before 2.12, an operator that was open when the profiler ended.  It has no
 * function id if nothing was around it, and it ends after the profiler's span.
 */
static inline bool pf_engine_ends_late(const struct pf_engine *e,
				       const struct pf_fe *fe)
{
	if (e->unfinished_by_rf && !(fe->mask & 1u << PF_SLOT_RF_ID))
		return true;
	return !e->rules.unfinished_kept && !e->rules.is_us &&
	       fe->end_ns > e->trace_end_ns;
}

/* Is there any host event of these kinds? */
static inline bool pf_engine_has(const struct pf_engine *e, uint32_t kinds)
{
	for (size_t i = 0; i < e->track_count; i++)
		for (unsigned k = 0; k < PF_KIND_COUNT; k++)
			if (pf_kind_in(k, kinds) && e->host[i].kind_count[k])
				return true;
	return false;
}

typedef int pf_engine_see(struct pf_engine *e, void *context,
			  const struct pf_fe *fe);

/* ---- the profiler's C++ tree, of one thread ---- */

/* Open events, outermost first. */
struct pf_cxx_stack {
	struct pf_cxx_open {
		int64_t first_end_ns; /* least end from here down */
		int64_t end_ns, id;
	} * open;
	size_t depth, cap;
};

#define PF_CXX_DEPTH_MAX 16384

/* What is open when an event begins, or NULL: what ended closed all in it. */
static inline const struct pf_cxx_open *pf_cxx_top(struct pf_cxx_stack *s,
						   int64_t start_ns)
{
	while (s->depth && s->open[s->depth - 1].first_end_ns < start_ns)
		s->depth--;
	return s->depth ? &s->open[s->depth - 1] : NULL;
}

/* Until closed_ns (INT64_MAX: until what is around it ends). */
static inline void pf_cxx_push(struct pf_cxx_stack *s, int64_t closed_ns,
			       int64_t end_ns, int64_t id)
{
	if (s->depth >= PF_CXX_DEPTH_MAX)
		return;
	if (s->depth && s->open[s->depth - 1].first_end_ns < closed_ns)
		closed_ns = s->open[s->depth - 1].first_end_ns;
	*PF_ONE_MORE(s->open, s->depth, s->cap) =
		(struct pf_cxx_open){ closed_ns, end_ns, id };
}

/* ---- groups, the same for device and host ---- */

struct pf_engine_row {
	struct pf_name_fact name;
	struct pf_text_ref args;
	bool is_device, is_annotation, has_args;
	bool has_stack; /* not that of the arguments but this one */
	uint32_t stack;
};
