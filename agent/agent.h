/* SPDX-License-Identifier: MIT */
/*
 * The agent's state in one process, and how the parts meet:
 *
 *   CUPTI's worker -> record.c -> queue --+
 *   the program's threads -> rings -------+-> writer -> file
 *   ticker: flushes CUPTI, opens and closes the window, looks up names
 *
 * Everything is in one mapping, made at first use; a forked child drops it
 * and makes its own.  Nothing here may end the program, wait on a thread of
 * it without a deadline, or allocate after the start.
 */
#ifndef PF_AGENT_AGENT_H
#define PF_AGENT_AGENT_H

#include "counts.h"
#include "cupti.h"
#include "defs.h"
#include "file.h"
#include "options.h"
#include "pool.h"
#include "queue.h"
#include "record.h"
#include "ring.h"
#include "threads.h"
#include "wake.h"

#include <errno.h>

enum pf_finish {
	PF_RUNNING,
	PF_FINISH_ASKED,   /* the ticker is to flush CUPTI */
	PF_FINISH_FLUSHED, /* the writer is to close the file */
	PF_FINISH_LATE,    /* the same, CUPTI did not answer in time */
	PF_FINISHED
};

enum pf_window { PF_CLOSED, PF_OPENING, PF_OPEN, PF_CLOSING };

enum pf_capture { PF_NO_CUPTI, PF_STARTING, PF_CAPTURING, PF_FAILED };

struct pf_agent {
	uint32_t generation; /* another one in a forked child */
	pid_t owner;
	const struct pf_options *options;
	struct pf_counts counts;
	struct pf_cupti cupti;
	struct pf_log meta, info;
	struct pf_defs defs;
	struct pf_queue queue;
	struct pf_pool pool;
	struct pf_encoder encoder;
	struct pf_threads threads;
	struct pf_rings rings;
	struct pf_file file;

	struct pf_wake writer, ticker, done;
	_Atomic uint32_t finish;      /* enum pf_finish */
	_Atomic uint32_t flush_asked; /* tickets given out */
	_Atomic uint32_t drain_asked; /* of these, flushed by the ticker */
	_Atomic uint32_t drained;     /* of these, written */
	_Atomic uint32_t tick_due;    /* the writer is to write CLOCK, STAT */
	_Atomic uint32_t window;      /* enum pf_window */
	_Atomic uint32_t toggles;     /* signals that came */
	_Atomic uint32_t capture;     /* enum pf_capture */
	_Atomic bool closed;          /* nothing is recorded any more */
	_Atomic uint64_t opened_ns;   /* when the window was opened */
	uint64_t started_ns;
	uint64_t clock_begin[4]; /* a CLOCK frame's content */

	/* the subscriber and the search for another tool (capture.c) */
	void *subscriber;
	_Atomic bool probing;
	_Atomic uint64_t probe_calls;
	uint64_t quiet_since_ns, quiet_requests, quiet_records;
	uint64_t probe_since_ns;

	/* the writer's */
	struct pf_events nvtx;
	struct pf_chunk nvtx_chunk;
	size_t meta_written, info_written, defs_written;
	char text[16384], last_text[16384]; /* of STAT */
	size_t last_length;
	uint64_t last_tick_ns;
};

/* What each thread has of the agent's. */
struct pf_local {
	int inside; /* this thread is in the agent now */
	struct pf_ring *ring;
};
extern _Thread_local struct pf_local pf_local;

/* The state, made if there is none; NULL if it cannot be. */
struct pf_agent *pf_agent_get(void);

/* The state if there is one. */
struct pf_agent *pf_agent_now(void);

/*
 * Have everything that CUPTI has completed written, and wait for it until the
 * deadline.  False if time ran out.
 */
bool pf_agent_flush(struct pf_agent *a, uint64_t deadline_ns);

/* Close the file, waiting at most PROFAN_EXIT_MS.  Once; in the owner only. */
void pf_agent_finish(struct pf_agent *a);

/* No thread but ours is left: have the file closed, and wait for nothing. */
void pf_agent_last(struct pf_agent *a);

/* Before the agent does anything on a thread of the program's, and after. */
struct pf_inside {
	int saved_errno;
};

static inline bool pf_enter(struct pf_inside *in)
{
	if (pf_local.inside)
		return false;
	in->saved_errno = errno;
	pf_local.inside = 1;
	atomic_signal_fence(memory_order_seq_cst);
	return true;
}

static inline void pf_leave(const struct pf_inside *in)
{
	atomic_signal_fence(memory_order_seq_cst);
	pf_local.inside = 0;
	errno = in->saved_errno;
}

/* ---- writer.c ---- */
void *pf_writer_main(void *agent);
void pf_clock_read(uint64_t out[4]);

/* ---- ticker.c ---- */
void *pf_ticker_main(void *agent);

/* ---- meta.c ---- */
/* What META says of the process, and of CUPTI once it was started. */
void pf_meta_process(struct pf_log *meta, const struct pf_options *o);
void pf_meta_cupti(struct pf_log *meta, const struct pf_agent *a);

/* ---- capture.c ---- */
/* Find and start CUPTI; a failure leaves the agent idle and says why. */
void pf_capture_start(struct pf_agent *a);

/* Begin and end recording; -1 if that is under way or done already. */
int pf_window_open(struct pf_agent *a);
int pf_window_close(struct pf_agent *a);

/* After the window was closed: wait for CUPTI's buffers, 2 s at most. */
void pf_capture_settle(struct pf_agent *a);

/* Flush CUPTI's buffers; `all` also those that are not complete. */
void pf_capture_flush(struct pf_agent *a, bool all);

/* Has another tool taken CUPTI's buffers? */
void pf_capture_watch(struct pf_agent *a, uint64_t now_ns);

/* The handler of PROFAN_START=signal. */
void pf_window_signal(struct pf_agent *a);

/* ---- nvtx.c ---- */
/* Define the domains and categories that are known in a new state. */
void pf_nvtx_define(struct pf_agent *a);
/* Forget what belongs to the parent. */
void pf_nvtx_child(void);

#endif
