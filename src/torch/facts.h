/* SPDX-License-Identifier: MIT */
/*
 * What the names and argument texts of a database mean to key_averages(),
 * worked out once per distinct text and kept by its id.  Texts that did not
 * fit the dictionaries (PF_ID_INLINE) are worked out each time.
 */
#ifndef PF_TORCH_FACTS_H
#define PF_TORCH_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/intern.h"
#include "events/args.h"
#include "events/names.h"
#include "store/cursor.h"
#include "store/db.h"
#include "store/texts.h"
#include "torch/groups.h"

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
 * "Input Dims" as Python prints the list: tensor lists become [].  Appended.
 */
void pf_facts_shapes(struct pf_json dims, struct pf_buf *out);

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

#endif
