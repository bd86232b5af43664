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
#ifndef PF_FORMATS_MEMSNAP_SNAP_H
#define PF_FORMATS_MEMSNAP_SNAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/intern.h"
#include "base/spool.h"
#include "formats/memsnap/pickle.h"
#include "formats/repair.h"

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

#endif
