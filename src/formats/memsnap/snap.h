/* SPDX-License-Identifier: MIT */
/*
 * A memory snapshot of torch (torch.cuda.memory._dump_snapshot, or the list of
 * torch.cuda.memory_snapshot()): the segments and blocks of the allocator, and
 * the history of its events, replayed on the way.
 *
 * The level of a device is what is allocated on it, in bytes that were asked
 * for.  Of what the history does not say (blocks that were there before it) it
 * says so at the end: what is freed without having been allocated, and blocks
 * in use without an allocation, were there before.  So levels are relative
 * until all has been read; base is what to add.
 *
 * Addresses and streams are keys of 64 bits, which writers have as signed or as
 * unsigned numbers: the bits tell them apart.
 *
 * Texts are numbers of pickle.texts.  Sizes are 0 to PF_SNAP_SIZE_MAX; what has
 * others, or members of other types, is left out and counted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/intern.h"
#include "base/spool.h"
#include "formats/repair.h"

/*
 * Pickles without their tree.  An opcode machine of numbers, texts, lists,
 * dictionaries and small tuples: no code that could build an object exists,
 * and any other opcode is refused by name and byte.  Protocols 2 to 5.
 *
 * What a container is for (its role) is asked when it begins; its items are
 * handed over as soon as they are complete, and dropped.  So memory is the
 * depth of the file, its distinct texts and 8 bytes for each memo entry, of
 * which there are fewer than one for 16 bytes and a million.  No recursion; no
 * length of the file is trusted.
 */

#define PF_PICKLE_DEPTH_MAX 100u         /* of containers */
#define PF_PICKLE_STACK_MAX (1u << 16)   /* values in wait */
#define PF_PICKLE_TEXT_MAX  (16u << 20)  /* bytes of one text */
#define PF_PICKLE_TEXTS_MAX (256u << 20) /* of all distinct ones */
#define PF_PICKLE_IDLE_MAX  (64u << 20)  /* of those nobody asked for yet */
#define PF_PICKLE_MEMO_FREE (1u << 20)   /* entries of any file, and */
#define PF_PICKLE_MEMO_SIZE 16u          /* bytes for each more */

enum pf_pickle_type {
	PF_PICKLE_MARK, /* never handed over */
	PF_PICKLE_OPEN, /* a container that may still grow: neither */
	PF_PICKLE_NONE,
	PF_PICKLE_BOOL,
	PF_PICKLE_INT,
	PF_PICKLE_UINT,  /* one of 2^63 to 2^64 - 1: its bits in v */
	PF_PICKLE_BIG,   /* an integer beyond both */
	PF_PICKLE_REAL,  /* the bits of a double in v */
	PF_PICKLE_TEXT,  /* v: number in texts */
	PF_PICKLE_PAIR,  /* two integers below 2^31 in v */
	PF_PICKLE_THING, /* a container by its role and number */
	PF_PICKLE_OTHER, /* something that nobody asked for */
};

struct pf_pickle_val {
	uint8_t type, role;
	uint16_t spare;
	uint32_t at; /* of an open container: which */
	int64_t v;
};

struct pf_pickle_open {
	uint8_t role; /* 0: nobody wants it */
	bool is_dict;
	bool is_closed;    /* by its first list of members: a record */
	bool has_folded;   /* items above its mark were handed over */
	uint32_t at, mark; /* places on the stack; mark 0: none */
	uint32_t number;   /* given by begin() */
	uint32_t record;   /* free for the handler */
	int64_t count;     /* items handed over */
	int64_t offset;    /* of its opcode */
};

/*
 * Whose pickle it is.  Roles are 1 to 255; functions return -1 with err set to
 * give up.  "key" is NULL in a list; "above" is how many items of the list
 * parent come before, NULL at the top.
 */
struct pf_pickle_handler {
	void *arg;
	/* The role of a new container, and its number. */
	uint8_t (*role)(void *arg, const struct pf_pickle_open *parent,
			const struct pf_pickle_val *key, bool is_dict);
	int (*begin)(void *arg, struct pf_pickle_open *open,
		     const struct pf_pickle_open *parent, int64_t above,
		     struct pf_err *err);
	int (*set)(void *arg, struct pf_pickle_open *open,
		   const struct pf_pickle_val *key,
		   const struct pf_pickle_val *value, struct pf_err *err);
	int (*add)(void *arg, struct pf_pickle_open *open,
		   const struct pf_pickle_val *value, struct pf_err *err);
	int (*end)(void *arg, struct pf_pickle_open *open, struct pf_err *err);
	/* Every texts entry, once, in order. */
	void (*text)(void *arg, uint32_t number, const char *p, size_t len);
	/* Is a value under this key of no use, unless the memo gives it back? */
	bool (*ignores)(void *arg, uint32_t key);
};

/* Where the bytes come from: as pf_input_read(). */
typedef int64_t pf_pickle_read_fn(void *arg, void *buf, size_t len,
				  struct pf_err *err);

struct pf_pickle {
	const struct pf_pickle_handler *handler;
	struct pf_intern texts;
	int64_t bytes;    /* read */
	int64_t trailing; /* bytes after the end, of those */
	int64_t end;      /* where STOP is, or where reading ended */
	bool is_torn;     /* it failed because bytes are missing or damaged */
	/* the rest is private */
	struct pf_pickle_val *stack;
	size_t stack_cap;
	uint32_t depth;
	uint32_t *marks;
	size_t mark_count, mark_cap;
	struct pf_pickle_open open[PF_PICKLE_DEPTH_MAX];
	uint32_t open_count;
	uint64_t *memo;
	size_t memo_count, memo_cap;
	int64_t *wide; /* values of entries that do not fit into one */
	size_t wide_count, wide_cap;
	pf_pickle_read_fn *read;
	void *read_arg;
	unsigned char *buf;
	size_t buf_cap, at, len;
	int64_t base; /* offset of buf[0] */
	bool is_last; /* the input has no more */
	struct pf_err *err;
};

/* Offset of the opcode at hand. */
static inline int64_t pf_pickle_offset(const struct pf_pickle *p)
{
	return p->base + (int64_t)p->at;
}

/*
 * Frames and call stacks of a snapshot: a tree with the root first, so that
 * stacks share what they have in common.  Frames of the interpreter and of the
 * unwinder, which torch's memory_viz leaves out, are left out and counted.
 */

#define PF_SNAP_DROPPED UINT32_MAX /* a frame that is left out */

struct pf_snap_frame {
	uint32_t file, name; /* numbers of texts */
	int64_t line;        /* -1: not said */
};

struct pf_snap_stack {
	uint32_t parent, frame; /* parent: id of a stack, 0: it is a root */
};

struct pf_snap_stacks {
	struct pf_intern frames; /* struct pf_snap_frame */
	struct pf_intern nodes;  /* struct pf_snap_stack; id: number + 1 */
	/* By text: bit 0 a file, bit 1 a function that is left out. */
	uint8_t *omits;
	size_t omits_cap;
	uint32_t *frame_of; /* by the number of its dictionary */
	uint32_t *stack_of; /* by the number of its list, 0 none */
	size_t frame_cap, frame_count, list_cap, list_count;
	int64_t dropped_count;
};

#define PF_SNAP_DEVICES_MAX 4096u
#define PF_SNAP_SIZE_MAX    (INT64_C(1) << 56)
#define PF_SNAP_TIME_MAX_US (INT64_C(1) << 52) /* in ns below 2^62 */
#define PF_SNAP_NO_TEXT     UINT32_MAX

enum pf_snap_action {
	PF_SNAP_ALLOC,
	PF_SNAP_FREE_REQUESTED,
	PF_SNAP_FREE,
	PF_SNAP_SEGMENT_ALLOC,
	PF_SNAP_SEGMENT_FREE,
	PF_SNAP_SEGMENT_MAP,
	PF_SNAP_SEGMENT_UNMAP,
	PF_SNAP_TAKEN,
	PF_SNAP_OOM,
	PF_SNAP_OTHER_ACTION,
};

/* What is known of a key, as bits. */
enum pf_snap_is {
	PF_SNAP_KNOWN = 1,
	PF_SNAP_UNSIGNED = 2, /* it is 2^63 or more */
};

/* An entry of the history. */
struct pf_snap_entry {
	int64_t time_us; /* or its number in the list, without times */
	int64_t address, size;
	int64_t stream;
	int64_t level, reserved; /* after it, less the base */
	int64_t device_free;     /* of oom; -1: not said */
	uint32_t stack;          /* 0: none */
	uint32_t name;           /* text of the action */
	uint16_t device;         /* in devices */
	uint8_t action;
	uint8_t address_is, stream_is; /* enum pf_snap_is */
};

struct pf_snap_segment {
	int64_t device, address, total, stream;
	int64_t block_count;
	uint32_t pool_a, pool_b; /* PF_SNAP_NO_TEXT: not said */
	uint32_t stack;
	int8_t is_expandable, is_large; /* -1: not said */
	uint8_t address_is, stream_is;  /* enum pf_snap_is */
};

struct pf_snap_block {
	int64_t segment; /* from 0 */
	int64_t address, size, requested;
	uint32_t state; /* text */
	uint32_t stack;
	uint8_t address_is;           /* enum pf_snap_is */
	uint8_t is_active, is_in_use; /* active_allocated */
};

/*
 * What was in a block before, of torch 2.0: elements of its history behind the
 * first one, which is the block's own.
 */
struct pf_snap_past {
	int64_t block; /* from 0 */
	int64_t bytes;
	uint32_t stack;
};

struct pf_snap_mark { /* an annotation */
	int64_t time_us, device;
	uint32_t name;
	uint8_t is_start, has_device;
};

/* What the laws of a snapshot say of a device; counts of exceptions. */
struct pf_snap_device {
	int64_t number;
	bool has_history; /* it has a list of its own */
	bool is_cut;      /* what follows of it, or the final state, is lost */
	int64_t entry_count, timed_count, first_us, last_us;
	int64_t level, reserved; /* while reading, relative */
	int64_t base, reserved_base;
	bool has_reserved_base; /* the history fits to the segments */
	int64_t open_count;
	struct pf_map open;     /* address -> size of what is allocated */
	int64_t early_count;    /* frees of what was there before */
	int64_t before_count;   /* blocks that were there before */
	int64_t twice_count;    /* allocated where something was */
	int64_t differ_count;   /* a free of another size */
	int64_t no_block_count; /* still allocated, but no active block */
	int64_t late_count;     /* times that go back */
	int64_t segment_total, in_use, active; /* of the final state, bytes */
};

struct pf_snap_setting {
	uint32_t prefix, key; /* prefix: of the dictionary, or none */
	struct pf_pickle_val value;
};

struct pf_snap {
	struct pf_pickle pickle;
	struct pf_snap_stacks stacks;
	struct pf_spool *entries, *segments, *blocks, *marks;
	struct pf_spool *pasts; /* by block */
	struct pf_snap_device *devices;
	size_t device_count, device_cap;
	struct pf_snap_setting *settings;
	size_t setting_count, setting_cap;
	int64_t first_us;                /* of all devices */
	bool has_times;                  /* any entry has one */
	bool is_list;                    /* of segments: memory_snapshot() */
	int64_t entry_count, mark_count; /* also those left out */
	struct pf_repairs repairs;
	int64_t lost_count;    /* segments that were left out */
	int64_t bad_sum_count; /* segments whose blocks do not add up */
	int64_t bad_order_count;
	struct pf_snap_work *work; /* private */
};

/*
 * Read all.  dir: for what does not fit into memory.  PF_EDATA if it is no
 * snapshot, or cut off.  Release *s after an error too.
 *
 * salvage: of one that is cut off or damaged, keep the entries before that
 * place, and the segments if all of them are.  Levels of a device are not
 * known then, unless its history and the segments are whole (is_cut): it has
 * neither base nor reserved_base.
 */
int pf_snap_load(struct pf_snap *s, const char *dir, bool salvage,
		 pf_pickle_read_fn *read, void *arg, struct pf_err *err);
void pf_snap_release(struct pf_snap *s);

/* How many exceptions from the laws a device has. */
int64_t pf_snap_exceptions(const struct pf_snap_device *d);

/* The text of a number, NULL of PF_SNAP_NO_TEXT. */
const char *pf_snap_text(const struct pf_snap *s, uint32_t number, size_t *len);
