/* SPDX-License-Identifier: MIT */
/*
 * Two memory snapshots of one program: what is allocated in the second and not
 * in the first, by GPU and by line of the program (analysis/memory/snap_state.h), as
 * torch's _memory_viz.compare() by stack.  Bytes are what was asked for, of
 * blocks that are in use, so the lines of a GPU add up to its change.  The same
 * of what was alive at the peak of each, where both have a history.
 */
#ifndef PF_COMPARE_SNAP_H
#define PF_COMPARE_SNAP_H

#include "base/mem.h"
#include "events/window.h"
#include "show/doc.h"
#include "store/db.h"

struct pf_snap_change {
	const char *name;  /* "GPU 0" */
	const char *frame; /* of lines; "(no stack)" where there is none */
	int64_t a_reserved, b_reserved,
		reserved; /* of GPUs; the last is B - A */
	int64_t a_bytes, b_bytes, bytes;
	int64_t a_count, b_count, count; /* blocks */
};

/* A zero-initialised struct is an empty result. */
struct pf_snap_diff {
	struct pf_snap_change *gpus; /* by name */
	size_t gpu_count, gpu_cap;
	struct pf_snap_change *lines; /* the largest change first */
	size_t line_count, line_cap;
	/* The same of peaks, of GPUs whose history both have: bytes alone. */
	struct pf_snap_change *peaks, *peak_lines;
	size_t peak_count, peak_cap, peak_line_count, peak_line_cap;
	int64_t lost_segments; /* of both, which could not be read */
	struct pf_arena texts;
};

int pf_snap_diff_find(struct pf_db *a, struct pf_db *b,
		      const struct pf_window_args *window,
		      struct pf_snap_diff *out);
void pf_snap_diff_show(const struct pf_snap_diff *d, struct pf_doc *doc);
void pf_snap_diff_release(struct pf_snap_diff *d);

/*
 * Memory snapshots in a row, as dumps of one process: what was allocated,
 * reserved and free between blocks in each, and how much more that is than in
 * the one before.
 */

/*
 * Databases of snapshots alone, by path and as they are called, in the order
 * given; of one with several each, in the order of its traces.
 */
int pf_snap_trend(const char *const *paths, char *const *names, size_t count,
		  const struct pf_window_args *window, struct pf_doc *doc,
		  struct pf_err *err);

#endif
