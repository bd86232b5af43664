/* SPDX-License-Identifier: MIT */
/*
 * The events of a .pfr file as events of the one model (formats/event.h), named
 * and placed as Kineto does it: kernels, copies and fills on the track of
 * their device and stream; calls and overhead on that of their thread; NVTX
 * ranges as operators (ProfilerStep#N as annotations) of their thread, with a
 * running "External id".
 *
 * Frames must come in the order of the file, in batches of any size.
 */
#pragma once

#include "formats/pfr/file.h"
#include "formats/sink.h"

struct pf_pfr_ranges; /* what is open */

struct pf_pfr_map {
	struct pf_sink sink; /* what frames became */
	/* the rest is private to src/pfr */
	struct pf_pfr_file *file;
	struct pf_pfr_ranges *ranges;
	struct pf_dict mangled; /* names of kernels that were tried */
	char **demangled;       /* by entry; NULL: stays as it is */
	size_t demangled_cap;
	int64_t left_mangled; /* how many of them stay as they are */
	char pid[24];
	char lost[40];         /* a name that is */
	bool is_realtime;      /* the frame at hand */
	int64_t untimed;       /* kept as metadata */
	int64_t events_before; /* in earlier batches */
	int64_t next_range_id; /* external ids of ranges */
	struct pf_buf clean;
};

void pf_pfr_map_init(struct pf_pfr_map *m, struct pf_pfr_file *file);
void pf_pfr_map_release(struct pf_pfr_map *m);

/* Empty the batch. */
void pf_pfr_map_begin(struct pf_pfr_map *m);
/* Add the events of an EVENTS frame to the batch. */
void pf_pfr_map_frame(struct pf_pfr_map *m, const struct pf_pfr_frame *frame);
/* Close what is still open; the last thing of all. */
void pf_pfr_map_finish(struct pf_pfr_map *m);
