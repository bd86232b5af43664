/* SPDX-License-Identifier: MIT */
/*
 * Frames and call stacks of a snapshot: a tree with the root first, so that
 * stacks share what they have in common.  Frames of the interpreter and of the
 * unwinder, which torch's memory_viz leaves out, are left out and counted.
 */
#ifndef PF_FORMATS_MEMSNAP_STACKS_H
#define PF_FORMATS_MEMSNAP_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/intern.h"

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

void pf_snap_stacks_init(struct pf_snap_stacks *s);
void pf_snap_stacks_release(struct pf_snap_stacks *s);

/* A text that is new, by its number. */
void pf_snap_stacks_text(struct pf_snap_stacks *s, uint32_t number,
			 const char *p, size_t len);

/* Numbers for the next dictionary of a frame and the next list of frames. */
uint32_t pf_snap_new_frame(struct pf_snap_stacks *s);
uint32_t pf_snap_new_list(struct pf_snap_stacks *s);

void pf_snap_set_frame(struct pf_snap_stacks *s, uint32_t number,
		       const struct pf_snap_frame *frame);
/* Frames by number of dictionary, the innermost first. */
void pf_snap_set_list(struct pf_snap_stacks *s, uint32_t number,
		      const uint32_t *frames, size_t count);

/* The id of a list's stack; 0: it has no frames, or is not complete yet. */
uint32_t pf_snap_stack_id(const struct pf_snap_stacks *s, uint32_t list);

#endif
