/* SPDX-License-Identifier: MIT */
/*
 * Calls that wait for a GPU, by site: the call, the innermost and outermost
 * op above it and the user's line.  Each with what it cost the host (time in
 * the call) and the GPU: the pieces of gaps that are the call itself, as
 * "gaps" gives them, so idle time while it blocks and never more than that.
 * Beside it the whole of the gaps that it began.  Checks for use in CI.
 * Waits of streams, which hold up no host, are listed apart.
 */
#pragma once

#include "base/mem.h"
#include "base/opt.h"
#include "events/gpu.h"
#include "events/names.h"
#include "events/window.h"
#include "show/doc.h"
#include "store/db.h"

/* Finds the gaps of the same window (analysis/idle/gaps.h) for others, too. */
struct pf_gap_sink;
struct pf_gap_source {
	int (*find)(struct pf_db *db, struct pf_gap_sink *sink, void *context);
	void *context;
};

struct pf_syncs_args {
	struct pf_window_args window;
	int64_t max_per_step;     /* or -1 */
	int fail_on;              /* 0: sites that baseline lacks; or -1 */
	const char *baseline;     /* a database, or NULL */
	const char *allow_file;   /* with one such part a line, or NULL */
	struct pf_opt_list allow; /* parts of names: such sites are meant */
	const struct pf_gap_source *gaps; /* or NULL: they are looked for */
};

#define PF_SYNCS_FAIL_ON "new"

/* Calls of one site, or (source "record") what records say of waits. */
struct pf_sync_site {
	const char *call, *op, *outer_op, *frame; /* NULL: none */
	const char *kind, *source;
	int64_t count, blocked_ns, median_ns, max_ns;
	int64_t useful_ns;                   /* a GPU was busy meanwhile */
	int64_t idle_ns;                     /* of GPUs, in the calls */
	int64_t drained_count, drained_ns;   /* gaps that they began, whole */
	int64_t step_count;                  /* that have it; -1: no steps */
	int64_t is_every_step, is_new;       /* 0, 1 or (not known) -1 */
	double per_step;                     /* not a number: no steps */
	int64_t in_steps_count, in_steps_ns; /* in whole steps on the host */
	double idle_share;                   /* of the time of all GPUs */
	size_t n;                            /* in the order of finding */
	bool is_stream_wait;                 /* streams wait, not the host */
	bool is_allowed;
};

/* A zero-initialised struct is an empty result; it owns all it points to. */
struct pf_syncs {
	struct pf_window window;
	struct pf_names *names; /* own texts, as: */
	struct pf_arena texts;
	struct pf_sync_site *all; /* where the host waits, the dearest first */
	size_t site_count;        /* of these */
	struct pf_sync_site *waits; /* behind them: of streams */
	size_t wait_count;
	struct pf_sync_site *records;
	size_t record_count;
	/* Of the sites where the host waits. */
	int64_t count, blocked_ns, useful_ns, idle_ns, drained_ns;
	int64_t allocator_count, allocator_ns; /* of them */
	size_t thread_count;                   /* with such calls */
	/* Calls that would wait, but start the driver or load code: apart. */
	int64_t first_use_count, first_use_ns, first_use_max_ns;
	int64_t captured_count, work_count; /* launches into graphs, GPU work */
	const char *first_use_call, *first_use_op; /* the longest; NULL: none */
	/* Of all, those in whole steps on the host; PF_NO_INT: no steps. */
	int64_t in_steps_count, in_steps_ns;
	int64_t max_per_step, new_count, allowed_count;
	int64_t outside_count; /* calls that the window leaves out */
	int64_t window_ns, device_count, step_count;
	bool is_default; /* the window was not asked for */
	bool has_calls;  /* of the runtime or driver; else nothing is known */
	struct pf_held held;
};

void pf_syncs_release(struct pf_syncs *syncs);

/*
 * Both, and what of the trace is not to be trusted.  What was found stays in
 * "kept", or NULL.
 */
int pf_syncs(struct pf_db *db, const struct pf_syncs_args *args,
	     struct pf_syncs *kept, struct pf_doc *doc, bool *is_failed);
