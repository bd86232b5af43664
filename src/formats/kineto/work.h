/* SPDX-License-Identifier: MIT */
/*
 * What profilers of GPUs record, as Kineto has it: kernels, copies, fills,
 * calls and ranges, with its names, its keys and in its order, so that one
 * analysis serves all.  A reader says what its record holds; events are made
 * here and nowhere else.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/sink.h"

#define PF_WORK_NONE INT64_MIN /* a number that a record does not have */

/* ---- names, as Kineto prints them (pytorch/kineto, cupti_strings.cpp) ---- */

const char *pf_work_memory_word(uint64_t kind);   /* "Pageable" */
const char *pf_work_sync_word(uint64_t type);     /* "Stream Sync" */
const char *pf_work_overhead_word(uint64_t kind); /* "Buffer Flush" */

/*
 * The stem of a call's name: without leading "__", without "_ptsz", "_ptds"
 * and "_v" followed by four or more digits ("_v2" stays).
 */
void pf_work_call_stem(const char **name, size_t *len);

/*
 * "Memcpy HtoD (Pinned -> Device)" by CUPTI's numbers of the copy and of both
 * memories, which may both be -1: not said.  11 to 13 are of unified memory.
 */
uint32_t pf_work_copy_name(struct pf_sink *s, uint64_t kind, int64_t from,
			   int64_t to);

/* ---- work of a device ---- */

/* Where it ran, and what it belongs to. */
struct pf_work_place {
	int64_t process, pid; /* which uses the device */
	/* PF_WORK_NONE: no argument; a stream has one always */
	int64_t device, context, stream, queue;
	int64_t correlation;
	/* numbers that differ from event to event; 0: not said */
	uint64_t graph, node, queued_ns, submitted_ns;
	uint64_t launch_id; /* what stands for a kernel's launch; 0: nothing */
};

/* How a kernel was launched. */
struct pf_work_launch {
	uint32_t grid[3], block[3], registers, static_bytes, dynamic_bytes;
	uint32_t local_bytes, cluster[3], launch_type;
};

/* A launch's registers, dynamic_bytes or grid[0] that are not known. */
#define PF_WORK_UNKNOWN UINT32_MAX

/* All of a kernel but its name; "l" may be NULL: not known. */
void pf_work_kernel(struct pf_sink *s, const struct pf_work_place *p,
		    const struct pf_work_launch *l, struct pf_sink_put *put);
/* All of a fill, of a kind of memory; bytes < 0: not known. */
void pf_work_fill(struct pf_sink *s, const struct pf_work_place *p,
		  uint64_t memory, int64_t bytes, struct pf_sink_put *put);
/*
 * A copy but for its name, to which more arguments may be added until it is
 * closed; bytes, from and to (devices) < 0: not known.
 */
void pf_work_copy(struct pf_sink *s, const struct pf_work_place *p,
		  int64_t bytes, int64_t from, int64_t to,
		  struct pf_sink_put *put);
/* Any other: on its track, with what arguments it gets until it is closed. */
void pf_work_open(struct pf_sink *s, const struct pf_work_place *p,
		  enum pf_cat what, struct pf_sink_put *put);
void pf_work_close(struct pf_sink *s, const struct pf_work_place *p,
		   struct pf_sink_put *put);
/* An event of CUDA that was recorded, but for its track. */
void pf_work_event(struct pf_sink *s, const struct pf_work_place *p,
		   uint64_t event, struct pf_sink_put *put);

/* Arguments: the place and its correlation, or that alone. */
void pf_work_args(struct pf_sink *s, const struct pf_work_place *p);
void pf_work_correlation(struct pf_sink *s, int64_t correlation);

/* ---- of threads ---- */

/* A call but for name, track and category; cbid PF_WORK_NONE: not said. */
void pf_work_call(struct pf_sink *s, int64_t correlation, int64_t cbid,
		  int64_t result, struct pf_sink_put *put);

/* A range of NVTX or roctx. */
struct pf_work_range {
	const char *text;
	size_t len;
	uint64_t text_id; /* what stands for the text; 0: nothing */
	bool is_async;    /* of no thread's stack */
	int64_t id;       /* "External id"; 0: it has none */
	const char *end;  /* how it ended if not by itself, or NULL */
	/* More arguments that come behind the text's, or NULL. */
	void (*more)(void *reader, const void *record);
	void *reader;
	const void *record;
};

/*
 * A range but for its track: of an operator that torch's emit_nvtx() named
 * (with the parts of the name as arguments), a step, or any.
 */
void pf_work_range(struct pf_sink *s, const struct pf_work_range *range,
		   struct pf_sink_put *put);
/* A mark but for its track, with its "more" alone. */
void pf_work_mark(struct pf_sink *s, const struct pf_work_range *mark,
		  struct pf_sink_put *put);
/* The argument "color" of a range or mark, if it has any. */
void pf_work_color(struct pf_sink *s, uint32_t color);
