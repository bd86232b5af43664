/* SPDX-License-Identifier: MIT */
/* The inside of slice: only slice*.c include this. */
#ifndef PF_ANALYSIS_SLICE_IMPL_H
#define PF_ANALYSIS_SLICE_IMPL_H

#include "base/intern.h"
#include "events/nest.h"
#include "export/slice.h"
#include "base/buf.h"
#include "base/outplace.h"
#include "store/cursor.h"
#include "store/lexicon.h"

/* ---- slice_lanes.c: ranges of one thread that nest ---- */

struct pf_lanes {
	struct pf_nest *items; /* of int64_t: ends of what is open */
	size_t count, cap;
};

#define PF_LANES_MAX 1024

void pf_lanes_clear(struct pf_lanes *l);
void pf_lanes_release(struct pf_lanes *l);
/*
 * The first lane in which a range nests; ranges come in order of their start.
 * -1: there would be too many.
 */
int pf_lanes_place(struct pf_lanes *l, int64_t start_ns, int64_t end_ns);

/* ---- slice_write.c: JSON ---- */

struct pf_slice_writer {
	struct pf_outfile *file;
	struct pf_lexicon *lexicon;
	struct pf_buf buf, args;
	int64_t shift_ns; /* what is subtracted from times */
	bool is_whole_us; /* the trace has no fractions */
	bool has_events;  /* a comma is needed */
};

/* Where an event is written. */
struct pf_slice_place {
	const struct pf_track *track;
	int lane;
	int64_t start_ns, end_ns; /* as written */
	bool is_cut;
};

/* us, so that a reader that cuts doubles to ns gets them right. */
void pf_slice_put_time(struct pf_buf *out, int64_t ns, bool is_whole_us);
/* A pid or tid: a number if the text is one that Perfetto takes.  It puts
 * the events of others, such as the negative threads of old traces, on the
 * process's main thread, and drops what does not nest there. */
void pf_slice_put_id(struct pf_buf *out, const char *text);
/* "TID overlap N"; the tid itself in lane 0. */
void pf_slice_put_tid(struct pf_buf *out, const char *tid, int lane);

/* Everything before the first event. */
int pf_slice_begin(struct pf_slice_writer *w, struct pf_db *db,
		   int64_t trace_id, const struct pf_slice_result *r,
		   struct pf_err *err);
int pf_slice_event(struct pf_slice_writer *w, const struct pf_span *e,
		   const struct pf_slice_place *at, struct pf_err *err);
/* A piece of JSON for the list of events. */
int pf_slice_raw(struct pf_slice_writer *w, const char *json, size_t len,
		 struct pf_err *err);
int pf_slice_end(struct pf_slice_writer *w, struct pf_err *err);

/* ---- slice_meta.c: names of processes and threads ---- */

struct pf_slice_used {
	struct pf_intern pids, tids; /* "PID", "PID\nTID" */
};

/*
 * Tracks of devices that only their names told (TensorFlow, JAX) get the pid
 * and tid back that the file has, with which its metadata names them.
 */
int pf_slice_file_ids(struct pf_db *db, int64_t trace_id,
		      struct pf_track *tracks, size_t count,
		      struct pf_err *err);
void pf_slice_use(struct pf_slice_used *u, const struct pf_track *t);
/* Metadata of what was used, and of the lanes: count lanes of each track. */
int pf_slice_metadata(struct pf_slice_writer *w, struct pf_db *db,
		      int64_t trace_id, const struct pf_slice_used *u,
		      struct pf_err *err);
int pf_slice_lanes(struct pf_slice_writer *w, const struct pf_track *t,
		   size_t lanes, struct pf_err *err);

/* ---- slice_path.c ---- */
/* The tiles of the critical path that the slice holds. */
int pf_slice_path(struct pf_slice_writer *w, struct pf_db *db,
		  const struct pf_slice_args *args, struct pf_slice_result *r,
		  struct pf_err *err);

/* ---- slice_flows.c ---- */

struct pf_slice_flows;
struct pf_slice_flows *pf_slice_flows_new(void);
void pf_slice_flows_free(struct pf_slice_flows *f);
int pf_slice_flows_see(struct pf_slice_flows *f, struct pf_lexicon *lexicon,
		       uint32_t track, const struct pf_span *e,
		       struct pf_err *err);
/* All were seen: which have a partner? */
int pf_slice_flows_settle(struct pf_slice_flows *f, struct pf_err *err);
/* Is this one of them?  Asked in order of id: 1, 0, -1. */
int pf_slice_flows_take(struct pf_slice_flows *f, uint32_t track, uint32_t seq,
			struct pf_err *err);

#endif
