/* SPDX-License-Identifier: MIT */
/*
 * What explains the gaps of one device, which come in order of time: the
 * launch call of the work that ended a gap says whether the GPU waited for
 * the host or the work for something else; the host's time is split by what
 * the launching thread did.  Launching ends soon after the call has returned:
 * what is queued by then and does not begin waits on the GPU.
 *
 * Where nothing is recorded on that thread (autograd's threads sleep between
 * two backward passes) the thread that launched the work before the gap says
 * what went on, and then the main thread if it launches work there.  Time in which the driver loaded
 * code, or the profiler worked, is recorded apart from threads: it explains
 * what is otherwise only time of operators, Python and launches.
 */
#ifndef PF_ANALYSIS_GAP_EXPLAIN_H
#define PF_ANALYSIS_GAP_EXPLAIN_H

#include "analysis/idle/gap_find.h"
#include "store/cursor.h"

/* A kernel, copy or fill. */
struct pf_gap_work {
	const struct pf_window_trace *trace;
	int64_t event_id, start_ns, end_ns, device, stream, correlation;
	int64_t launch_id; /* 0: none */
	uint32_t name;     /* PF_ID_NONE: there is no such work */
	unsigned kind;
	bool is_first; /* of its name on the device */
};

/* What is around a gap. */
struct pf_gap_ends {
	struct pf_gap_work before; /* that ended last before it */
	struct pf_gap_work next;   /* that ended it */
	bool launched_before; /* next's call launched work before the gap, too */
	/* Launched the work before next on its stream; 0: none is known. */
	int64_t stream_launch_id;
	bool is_stream_first;     /* there was none */
	struct pf_gap_work other; /* of another device, that ended last in it */
};

/* Overheads of a trace: in order, without overlap. */
struct pf_overheads {
	struct pf_overhead {
		int64_t start_ns, end_ns;
		uint32_t name;
		uint32_t cause;
	} * items;
	size_t count, cap;
};

/* What all devices of a trace share; borrowed. */
struct pf_explain_in {
	struct pf_db *db;
	struct pf_names *names;
	const struct pf_pageable *pageable;
	struct pf_gap_sink *sink;
	const struct pf_track *tracks; /* of the trace */
	size_t track_count;
	int64_t trace_id;
	uint32_t main_track; /* or 0 */
	struct pf_overheads overheads;
};

/* The main thread and overheads of a trace among its tracks. */
int pf_explain_open(struct pf_explain_in *in, int64_t trace_id,
		    struct pf_err *err);
void pf_explain_close(struct pf_explain_in *in);

struct pf_explain;
struct pf_explain *pf_explain_new(const struct pf_explain_in *in);
void pf_explain_free(struct pf_explain *x);

/* Take note of work of the device: is it the first of its name? */
bool pf_explain_work(struct pf_explain *x, const struct pf_gap_work *work);
/* A stream of the device waited, as cuda_sync records say. */
void pf_explain_wait(struct pf_explain *x, const struct pf_gap_work *wait);

/* Give the sink the pieces of a gap and find out what drained the GPU. */
int pf_explain_gap(struct pf_explain *x, struct pf_gap *gap,
		   const struct pf_gap_ends *ends, struct pf_err *err);

/* The whole gap is one piece. */
void pf_explain_whole(struct pf_explain *x, const struct pf_gap *gap,
		      enum pf_cause cause, uint32_t name);

#endif
