/* SPDX-License-Identifier: MIT */
/* What rules read; private to advise/. */
#pragma once

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/advise/advise.h"
#include "analysis/path/path.h"
#include "base/intern.h"
#include "base/mem.h"
#include "base/num.h"
#include "events/names.h"
#include "events/step.h"

/* ---- marks: ranges in which advice looks ---- */

/* The bit of a row's flags is 1 << mark; the order of advise_marks.sql. */
enum advise_mark {
	ADVISE_MARK_NONE,
	ADVISE_MARK_OPTIMIZER,
	ADVISE_MARK_ZERO_GRAD,
	ADVISE_MARK_LOG,
	ADVISE_MARK_WAIT,
	ADVISE_MARK_UNPACK,     /* computes activations again */
	ADVISE_MARK_CHECKPOINT, /* does so, and then goes on with */
	ADVISE_MARK_BACKWARD,
	ADVISE_MARK_AGAIN,   /* of that, what operators say is forward's */
	ADVISE_MARK_INDEXED, /* adds up by index */
	ADVISE_MARK_DENSE,   /* ... all rows of an embedding's gradient */
	ADVISE_MARK_TRACED,  /* writes down where an operator was called */
	ADVISE_MARK_EAGER,   /* runs one operator, where functions compile */
	ADVISE_MARK_DOUBLE,  /* products in double, without GPU work */
	ADVISE_MARKS,
	/* operators of forward that no backward has; and, behind one, others */
	ADVISE_MARK_FORWARD = 16,
	ADVISE_MARK_FORWARD_TOO,
	ADVISE_MARK_COLLECTIVE, /* on the host */
	/* no ranges, but names that only these frameworks have */
	ADVISE_NAMES_JAX,
	ADVISE_NAMES_TENSORFLOW
};

struct advise_span {
	int64_t start_ns, end_ns;
	uint32_t track_id, mark;
};

/* By mark, thread and start; those of one mark and thread do not overlap. */
struct advise_marks {
	struct advise_span *spans;
	size_t count;
	size_t first[ADVISE_MARKS + 1]; /* of a mark in spans */
	size_t begun[ADVISE_MARKS];     /* of it, when that was last asked */
	int64_t calls[ADVISE_MARKS];    /* ranges, before they were united */
	const char *framework;          /* "JAX", "TensorFlow"; or NULL */
	int64_t *collectives;           /* when they begin, in any order */
	size_t collective_count;
};

/*
 * Ranges that the program named itself, each in those around it: where time is
 * that no line of source says.  0: in none.
 */
struct advise_range {
	uint32_t outer; /* below its own number */
	uint32_t name;  /* of tiles->range_names */
};

/* Where one of them is the innermost, by thread and start. */
struct advise_ranges {
	struct advise_span *spans; /* mark: the number */
	size_t count, begun;
	struct pf_intern keys; /* struct advise_range, string.id as its name */
};

/* ---- rows: the path, summed by what rules ask for (tiles.c) ---- */

enum {
	/* 1 << enum advise_mark, and */
	ADVISE_DATA = 1 << ADVISE_MARKS,    /* in what loads data */
	ADVISE_LATE = ADVISE_DATA << 1,     /* after the first step */
	ADVISE_SEQUENCE = ADVISE_DATA << 2, /* of attention */
	ADVISE_CHAIN = ADVISE_DATA << 3,    /* of pointwise work */
	ADVISE_AWAITED = ADVISE_DATA << 4,  /* return of a copy's call */
	ADVISE_FP32 = ADVISE_DATA << 5,     /* a product that could be faster */
	ADVISE_LONG = ADVISE_DATA << 6,     /* ADVISE_LONG_NS or more */
	ADVISE_STEP = ADVISE_DATA << 7,     /* in a step, and in nothing else */
	ADVISE_ENDS = ADVISE_DATA << 8,     /* a wait that ends its step */
	ADVISE_CAPTURE = ADVISE_DATA << 9,  /* while a graph is captured */
	ADVISE_READS = ADVISE_DATA << 10,   /* a result, and waits for it */
	ADVISE_APART = ADVISE_DATA << 11,   /* long before the next launch */
	ADVISE_TAIL = ADVISE_DATA << 12,    /* asks for memory near the end */
	ADVISE_COMM = ADVISE_DATA << 13,    /* a wait for communication */
	ADVISE_BEFORE = ADVISE_DATA << 14,  /* launched before the capture */
	ADVISE_TURNS = ADVISE_DATA << 15,   /* copies, for a convolution */
	ADVISE_SMALL = ADVISE_DATA << 16,   /* a kernel that fills no GPU */
	ADVISE_ALONE = 1 << ADVISE_MARK_NONE /* there is no GPU work */
};

/* Near its end: this part of the window. */
#define ADVISE_TAIL_PART 10

/* What launches takes less: in longer pieces other things are done. */
#define ADVISE_LONG_NS 1000000
/* ... also where pieces of a place are so long in the mean. */
#define ADVISE_CODE_NS 50000

/* What of a row is in one range, or in none. */
struct advise_part {
	int64_t ns, count, blocked_ns, longest_ns, longest_at_ns;
	uint32_t row, range;
};

struct advise_row {
	enum pf_path_category category;
	unsigned flags;
	const char *name, *short_name, *op, *frame; /* "": none */
	int64_t ns, count, longest_ns;
	int64_t longest_at_ns; /* of the trace's time */
	/* of calls that wait: how long, but for what only ends a step */
	int64_t blocked_ns;
	int64_t free_ns; /* of ADVISE_SMALL: times what it leaves of the GPU */
	uint32_t advice; /* bits of the advice that it belongs to */
	const struct advise_part *parts; /* its sums are theirs */
	size_t part_count;
};

struct advise_tiles {
	const struct pf_path *path; /* own_path, or another's */
	struct pf_path own_path;
	struct advise_taker *taker; /* between begin and end */
	struct advise_marks marks;
	struct advise_ranges ranges;
	struct advise_range *range; /* by number */
	const char **range_names;
	uint32_t range_count, range_name_count;
	struct advise_part *parts;
	struct pf_steps steps;
	struct advise_row *rows; /* the most time first */
	size_t row_count;
	int64_t first_ns;       /* of the trace's events */
	int64_t sequence_count; /* of attention */
	int64_t chain_count;
	bool has_shapes;    /* without GPU work: are inputs recorded? */
	bool has_functions; /* is any piece in a function of Python's? */
	bool has_late;      /* are there steps after the first? */
	struct pf_arena texts;
};

/* A kernel, or the gap or launch before it, which go with it. */
static inline bool advise_is_kernel(const struct advise_row *r)
{
	return r->category == PF_PATH_KERNEL || r->category == PF_PATH_GAP ||
	       r->category == PF_PATH_LAUNCH_DELAY;
}

static inline bool advise_is_gpu(const struct advise_row *r)
{
	return r->category >= PF_PATH_KERNEL && r->category <= PF_PATH_MEMSET;
}

/* A copy to the GPU of which AMD's profilers name the two ends alone. */
static inline bool advise_may_be_pageable(const char *name)
{
	return strstr(name, "(Host -> Device)") != NULL;
}

/* Managed memory goes back to the host page by page. */
static inline bool advise_is_paged(const struct advise_row *r)
{
	return (unsigned)r->category == PF_CAUSE_COPY &&
	       pf_word(PF_WORD_MIGRATION, r->name);
}

/* Time that the host spends itself. */
static inline bool advise_is_host(const struct advise_row *r)
{
	return ((unsigned)r->category < PF_CAUSE_UNRECORDED &&
		!advise_is_paged(r)) ||
	       r->category == PF_PATH_LAUNCH_CALL;
}

/* ---- work that follows each other ---- */

enum advise_role {
	ADVISE_ROLE_UNKNOWN, /* not asked yet */
	ADVISE_ROLE_NONE,    /* no operator */
	ADVISE_ROLE_OTHER,
	/* in the order of enum pf_word */
	ADVISE_ROLE_PRODUCT, /* of batches of matrices */
	ADVISE_ROLE_SOFTMAX,
	ADVISE_ROLE_POINTWISE,
	ADVISE_ROLE_VIEW, /* moves nothing, or makes room */
	ADVISE_ROLES
};

/* ---- rules ---- */

/* Asked of every path. */
extern const char *advise_questions[];
extern const size_t advise_question_count;

enum advise_need {
	ADVISE_NEEDS_PATH, /* any at all */
	ADVISE_NEEDS_GPU,
	ADVISE_NEEDS_TORCH, /* and operators of PyTorch */
	ADVISE_NEEDS_OPS    /* of PyTorch, on a GPU or not */
};

struct advise_rule {
	const char *id, *kind, *title; /* kind: what the cause is called */
	/*
	 * Begins the sentence, or follows "Without" where there is a question;
	 * NULL: judge() has all of it.
	 */
	const char *subject;
	bool decides; /* judge() does, and not what is too small to show */
	const char *confidence;
	const char *command, *options; /* "path", " --group line" or NULL */
	const char *question; /* of pf_path, which bounds it; or NULL */
	const char *likely; /* a milder one that a remedy may reach; or NULL */
	const char *cap;  /* one that no change to its kernels beats; or NULL */
	bool is_rest;     /* of all that is of a kind, whatever else names */
	bool is_warm_up;  /* of what the first steps take beyond others */
	bool is_of_all;   /* what it advises is good for all of the host, too */
	bool is_left_out; /* what it is about is, with all that waits for it */
	enum advise_need needs;
	/* Flags rows by others, before it is asked of each; or NULL. */
	void (*find)(struct pf_advise *a);
	/* Is a row of the path what it is about?  NULL: none is. */
	bool (*owns)(const struct advise_row *r);
	/* What the sums do not say: see below. */
	void (*judge)(const struct pf_advise *a, struct pf_advice *out);
	const char *(*variant)(const struct pf_advise *a,
			       const struct pf_advice *out);
	unsigned causes; /* of idle time, 1 << enum pf_cause: its own */
	/*
	 * Begins the sentence where there is no path; NULL: it needs one.
	 * It then holds the idle time of its causes, else what this says, and
	 * what that is of, unless it is as of idle time.
	 */
	const char *apart;
	const char *alone; /* begins it without GPU work; NULL: it needs some */
	const char *apart_command; /* that shows it; NULL: "gaps" */
	bool is_spread; /* then: what it holds is a part of its causes' places */
	int64_t (*apart_ns)(const struct pf_advise_from *from,
			    int64_t *whole_ns);
	/* Of several traces, each judged alone: what they say side by side. */
	void (*among)(const struct pf_advise *a, struct pf_advice *out);
};

extern const struct advise_rule advise_rules[];
extern const size_t advise_rule_count;

/* Of the path: what any of this advice is about, of all these flags. */
static inline int64_t advise_held(const struct pf_advise *a, uint32_t bits,
				  unsigned flags)
{
	int64_t ns = 0;

	for (size_t i = 0; i < a->tiles->row_count; i++)
		if (a->tiles->rows[i].advice & bits &&
		    (a->tiles->rows[i].flags & flags) == flags)
			ns += a->tiles->rows[i].ns;
	return ns;
}

static inline void advise_say_bare(const struct pf_advise *a, double share,
				   struct pf_buf *out)
{
	pf_path_say_share(a->tiles->path, share, out);
	pf_buf_addf(out, " is in %s",
		    a->step_count ? PF_PATH_BARE_WORDS
				  : "nothing that is recorded");
}

/*
 * Is it time of the host that no record divides, of the path's bare_ns?  Steps
 * have a number each; beside GPU work it is what launches that.
 */
static inline bool advise_is_bare(const struct pf_advise *a,
				  const struct advise_row *r)
{
	return r->flags & ADVISE_STEP ||
	       (!a->has_work && (unsigned)r->category == PF_CAUSE_UNRECORDED);
}

static inline bool advise_is_torch(const struct pf_advise *a)
{
	return a->framework && !strcmp(a->framework, "PyTorch");
}

/* ... recorded by a profiler of its own: that has options to be set. */
static inline bool advise_is_torch_profiled(const struct pf_advise *a)
{
	return advise_is_torch(a) && pf_producer_is_torch(a->producer);
}

/* Is it left as given? */
static inline bool advise_is_open(const struct pf_advice *a)
{
	return a->state == PF_ADVICE_GIVEN;
}

/* A rule's advice of a trace. */
static inline const struct pf_advice *advise_of(const struct pf_advise *a,
						const char *id)
{
	size_t i = 0;

	while (i + 1 < a->count && strcmp(a->all[i].id, id) != 0)
		i++;
	return &a->all[i];
}

/* What it saves of a trace alone at most, or holds; small or not. */
static inline int64_t advise_alone_ns(const struct pf_advice *v)
{
	if (v->state == PF_ADVICE_NOT_JUDGED ||
	    (v->state == PF_ADVICE_FINE && !(v->measured < v->threshold)))
		return 0;
	return v->at_most_ns == PF_NO_INT ? v->on_path_ns : v->at_most_ns;
}

/* What was answered to a question that is asked of every path; NULL: none. */
const struct pf_path_answer *advise_answer(const struct pf_path *p,
					   const char *question);
/* The end of what is said beside: the next sentence begins there. */
static inline struct pf_buf *advise_next(struct pf_advice *a)
{
	if (a->detail.len)
		pf_buf_adds(&a->detail, ". ");
	return &a->detail;
}
/* It is fine, or cannot be judged: the reason instead of a sentence. */
void advise_fine(struct pf_advice *a, const char *why);
void advise_not_judged(struct pf_advice *a, const char *why);
/* Idle time of these causes, 1 << enum pf_cause. */
int64_t advise_idle_of(const struct pf_gaps *g, unsigned causes);

/* A host that takes no time: asked of every path. */
#define ADVISE_FREE_HOST "host=0;launch=0"
