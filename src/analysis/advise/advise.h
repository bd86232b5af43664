/* SPDX-License-Identifier: MIT */
/*
 * What to change next, and what that can bring at most.  Every piece of the
 * critical path (analysis/path/path.h) is what some advice is about, or of no advice; a
 * change can save no more than what it takes off the path.  Where a change
 * takes away a wait, and so no time of its own, the path is worked out anew
 * without it.
 *
 * Advice may be about the same time: how much the first of them touch
 * together is the union.  What cannot be judged is said with its reason.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trust/info.h"
#include "analysis/time/kernels.h"
#include "analysis/time/launches.h"
#include "analysis/time/overlap.h"
#include "analysis/time/steps.h"
#include "base/buf.h"
#include "base/err.h"
#include "events/hints.h"
#include "events/window.h"
#include "analysis/idle/gaps.h"
#include "analysis/idle/syncs.h"
#include "analysis/memory/usage.h"
#include "analysis/path/path.h"
#include "analysis/roofline/roofline.h"
#include "store/db.h"
#include "show/doc.h"

struct pf_advise_args {
	struct pf_window_args window;
	const char *db_name; /* as commands name it; borrowed */
	/* How texts of the trace may be shown, in "out"; NULL: as they are. */
	const char *(*show)(const void *context, const char *text,
			    struct pf_buf *out);
	const void *context;
};

/* What other analyses found in the same window; all are borrowed. */
struct pf_advise_from {
	const struct pf_kernels *callers; /* by name and operator */
	const struct pf_launches *launches;
	const struct pf_overlap *overlap;
	const struct pf_step_times *steps;
	const struct pf_usage *memory;
	const struct pf_info *info;
	const struct pf_roofline *roofline; /* empty: there are no shapes */
	const struct pf_gaps
		*gaps; /* of all traces; NULL where there is a path */
	const struct pf_syncs *syncs; /* the same; empty: not known */
};

enum pf_advice_state {
	PF_ADVICE_GIVEN,
	PF_ADVICE_FINE,      /* its cause is not there, or too small */
	PF_ADVICE_NOT_JUDGED /* the trace does not say enough */
};

/* A range of the program's own, which holds all or most of something. */
struct pf_advice_range {
	const char *name; /* NULL: there is none */
	bool is_all;
};

/* A place that the advice is about: time of the path. */
struct pf_advice_place {
	const char *what;             /* "data loading", "kernel" */
	const char *name, *at;        /* of it; the line, else the operator */
	struct pf_advice_range range; /* of those that are named first */
	int64_t ns, count;            /* on the path */
	int64_t blocked_ns;           /* of its waits, where they tell more */
	int64_t from_ns, longest_ns; /* the longest piece; PF_NO_INT: unknown */
};
#define PF_ADVICE_PLACES 3

struct pf_advice {
	const char *id, *kind, *title; /* "A1", "data loading", what to do */
	enum pf_advice_state state;
	/* PF_NO_INT: nothing bounds it; likely: no model says so. */
	int64_t at_most_ns, likely_ns;
	/* What is its own of the path, else of idle time; of what that is. */
	int64_t on_path_ns, whole_ns;
	double measured, threshold; /* shares of the window; NAN: none */
	const char *confidence;     /* "sure", "model", "hint" */
	/*
	 * What holds how much, and where, its names marked (PF_SAY_NAME); or
	 * why it is not given.  Then what else is to be known, in sentences.
	 */
	struct pf_buf sentence, detail;
	struct pf_buf command; /* that shows its figures */
	const char *variant;   /* of the remedy: "late"; NULL: the usual */
	const char *subject;   /* in place of the rule\'s; or NULL */
	const char *asked;     /* of the path in place of the rule's; or NULL */
	const char *cap; /* what the bound is from: "as without any kernel" */
	const char *shown_by;      /* that command: "path" */
	const char *remedy, *code; /* NULL: none for this framework */
	struct pf_advice_place places[PF_ADVICE_PLACES];
	size_t place_count;
	struct pf_advice_place largest; /* by name, where a line is the first */
	struct pf_advice_range range;   /* where no line is, nor a name most */
	uint32_t causes; /* of idle time that are its own: 1 << enum pf_cause */
	uint32_t bit;    /* of the rows of the path that are its own */
	/* of what it saves or holds: what counts not when they are ranked */
	int64_t unsure_ns;
	bool is_last;    /* ranked behind all others */
	bool is_rest;    /* of all that is of a kind, whatever else names */
	bool is_said;    /* the sentence has what it would save */
	bool by_waits;   /* its places are by how long the host waits there */
	size_t place_at; /* of the sentence: where it is; 0: not said apart */
};

#define PF_ADVICE_MAX 25

/* Of the window: what saves less is too small to show. */
#define PF_ADVISE_SHOWN 0.01
/* ... is no first line, unless nothing else is. */
#define PF_ADVISE_FIRST 0.05

/* A zero-initialised struct is an empty result; it owns all it points to. */
struct pf_advise {
	struct advise_tiles *tiles;
	bool has_path;                     /* else it is judged by idle time */
	bool has_work;                     /* of GPUs, as far as is known */
	const struct pf_window *window;    /* borrowed */
	const struct pf_advise_from *from; /* the same, while it is judged */
	const char *framework;             /* "PyTorch", "JAX", ... */
	enum pf_producer producer;         /* of the capture */
	int64_t window_ns, step_count;
	/* Of several traces without GPU work each alone; all is theirs. */
	struct pf_advise *alone;
	size_t alone_count;
	struct pf_advise *late; /* of several with GPU work: the late rank */
	struct pf_advice all[PF_ADVICE_MAX]; /* those given first, ranked */
	size_t count, given;
};

/*
 * "At most 12 ms (3 %) would be saved", or "that" where it is all that the
 * sentence named; nothing where that has it, or no one knows.
 */
void pf_advice_say_gain(const struct pf_advice *v, struct pf_buf *out);
/*
 * What holds most of the path, where no advice is about it or would save as
 * much: it is said first.  False: there is nothing to say.
 */
bool pf_advise_say_rest(const struct pf_advise *a,
			const struct pf_advise_args *args, struct pf_buf *out);

/*
 * Where the path is read for others, too: begin, before it is read, adds to
 * what is asked of it; end, when it was read, keeps "path" borrowed.  Release
 * it also after an error.
 */
int pf_advise_begin(struct pf_db *db, struct pf_path_args *path,
		    struct pf_advise *out);
int pf_advise_end(struct pf_advise *a, const struct pf_path *path);
/*
 * Of several traces, before they are judged: where there is no GPU work that
 * waits for something, each of a few alone; else the rank that others wait for.
 */
int pf_advise_each(struct pf_db *db, const struct pf_advise_args *args,
		   const struct pf_advise_from *from, struct pf_advise *out);
/* The path of a trace. */
int pf_advise_read(struct pf_db *db, const struct pf_advise_args *args,
		   struct pf_advise *out);
/* The advice, of what was read and of what others found. */
void pf_advise_judge(struct pf_advise *a, const struct pf_advise_args *args,
		     const struct pf_advise_from *from);
void pf_advise_release(struct pf_advise *a);
/*
 * Both, with all that others find; release it also after an error.  Others are
 * gone then, and with them the window and places that were theirs: of a result
 * without a path only what it owns may be read.
 */
int pf_advise_find(struct pf_db *db, const struct pf_advise_args *args,
		   struct pf_advise *out);

/* All of it, and what of the trace is not to be trusted. */
int pf_advise(struct pf_db *db, const struct pf_advise_args *args,
	      struct pf_doc *doc);
