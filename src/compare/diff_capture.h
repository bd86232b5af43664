/* SPDX-License-Identifier: MIT */
/*
 * What one database says about its full steps, ready to be compared: the
 * time of steps by class, exact counts per step, GPU work by where it was
 * launched, host operators, idle time by cause, blocking calls by site and
 * memory.  Sums are integer ns over all full steps, and so are means, rounded
 * so that those of parts add up to that of the whole.
 *
 * A trace without profiler steps is one step.  What a host thread does and
 * launches belongs to the step on the host in which it began.  GPU work without
 * a launch call belongs to the step in which it ran.
 *
 * Memory grows with the number of steps, names and distinct keys only; past
 * PF_CAPTURE_ROWS_MAX keys the rest is one row "(other)", so that sums hold.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "analysis/advise/advise.h"
#include "analysis/path/path.h"
#include "analysis/time/steps.h"
#include "base/buf.h"
#include "base/data.h"
#include "base/err.h"
#include "base/intern.h"
#include "events/ask.h"
#include "events/names.h"
#include "events/trust.h"
#include "events/window.h"
#include "show/doc.h"
#include "store/db.h"

#define PF_CAPTURE_ROWS_MAX 65536

/*
 * Sums are at most this (two years of ns), so that nothing that is worked out
 * of those of a few captures overflows.  A capture with more is refused.
 */
#define PF_CAPTURE_SUM_MAX  (INT64_C(1) << 56)
#define PF_CAPTURE_SIDE_MAX 64 /* captures of a side */

/*
 * The figures of a step, of which everything that compares captures has its
 * columns, lines and checks (pf_step_figures).  Of a capture they are sums over
 * its full steps, but for the two of its memory.  GPU work is of the step that
 * launched it, where steps.h counts it in the one in which it starts.
 */
enum pf_step_figure {
	PF_FIGURE_TIME, /* of the step */
	PF_FIGURE_BUSY, /* a GPU is, or none: */
	PF_FIGURE_IDLE,
	PF_FIGURE_PEAK, /* of one GPU in the whole capture; -1: unknown */
	PF_FIGURE_RESERVED,
	PF_FIGURE_COPIES, /* of all ways */
	PF_FIGURE_KERNELS,
	PF_FIGURE_COLLECTIVES, /* kernels of communication */
	PF_FIGURE_LAUNCHES,    /* calls that launch kernels or graphs */
	PF_FIGURE_GRAPHS,      /* of them, of graphs */
	PF_FIGURE_SYNCS,       /* blocking calls */
	PF_FIGURE_ALLOCATIONS, /* calls that allocate or free GPU memory */
	PF_FIGURE_TENSORS,     /* allocations that the profiler recorded */
	PF_FIGURE_HTOD,        /* copies in the order of enum pf_copy_way */
	PF_FIGURE_DTOH,
	PF_FIGURE_DTOD,
	PF_FIGURE_PTOP,
	PF_FIGURE_OTHER_COPIES,
	PF_FIGURE_HTOD_BYTES,
	PF_FIGURE_DTOH_BYTES,
	PF_FIGURE_DTOD_BYTES,
	PF_FIGURE_PTOP_BYTES,
	PF_FIGURE_OTHER_BYTES,
	PF_FIGURE_MEMSETS,
	PF_FIGURE_OPS,     /* operators */
	PF_FIGURE_CALLS,   /* calls of the runtime and the driver */
	PF_FIGURE_GPU_NS,  /* durations of all GPU work */
	PF_FIGURE_WORK_NS, /* of kernels */
	PF_FIGURE_CLASS,   /* of enum pf_step_class, one after the other */
	PF_FIGURES = PF_FIGURE_CLASS + PF_STEP_CLASSES
};

/* Of the durations of full steps, the percentile as in base/stats.h. */
struct pf_capture_times {
	int64_t p50_ns, min_ns, max_ns;
};

struct pf_capture_step {
	struct pf_step_time time;
	int64_t of[PF_FIGURES];
};

/* Where GPU work was launched from, and what it was; numbers of texts. */
struct pf_work_key {
	uint32_t path;   /* modules, annotations and ops from the root */
	uint32_t region; /* the path's modules and annotations */
	uint32_t module, annotation; /* the innermost, or "" */
	uint32_t op, shapes;         /* that launched it, its input shapes */
	uint32_t kernel;
	uint32_t role;  /* 0: on its device's main stream, else 1 */
	uint32_t class; /* enum pf_gpu_class */
	uint32_t kind;  /* enum pf_kind */
};

/*
 * What is summed by key.  Rows begin with their sums, and their key follows:
 * see pf_capture_row().
 */
struct pf_row_sums {
	int64_t count, ns; /* calls, launches or pieces, and their time */
	/*
	 * Of operators their own time, without those inside; of blocking calls
	 * the idle time of gaps that they drained.
	 */
	int64_t part_ns;
};

struct pf_work_row {
	struct pf_row_sums sum;
	struct pf_work_key key;
	uint64_t first; /* its place in the order of launches */
};

/* A host operator, annotation, call or Python function. */
struct pf_op_row {
	struct pf_row_sums sum;
	struct pf_op_key {
		/* Numbers of texts; of a function that is built in its caller. */
		uint32_t name, shapes;
		uint32_t kind; /* enum pf_kind */
	} key;
};

/* Idle time by cause and culprit, or blocking calls by site. */
struct pf_wait_row {
	struct pf_row_sums sum;
	struct pf_wait_key {
		uint32_t cause;           /* enum pf_cause */
		uint32_t name, op, frame; /* numbers of texts */
	} key;
};

/* A row of key_averages(): count, then times and memory (groups.h). */
#define PF_AVERAGE_VALUES 9
struct pf_average_row {
	uint32_t name; /* number of a text */
	bool is_device;
	int64_t value[PF_AVERAGE_VALUES];
};

/* What texts of a trace are shown as. */
struct pf_text_filter {
	/* Append it; called by several threads at once.  NULL: as they are. */
	void (*write)(const void *context, const char *s, size_t len,
		      struct pf_buf *out);
	const void *context;
};

/* A rule of advice; its sentences name nothing of the trace. */
struct pf_capture_advice {
	const char *id, *title;
	enum pf_advice_state state;
	/* Per step, and of its window; not given, or no bound: PF_NO_INT, NAN. */
	int64_t at_most_ns;
	double share;
	uint32_t reason; /* number of a text */
};

/* One, or a side of a comparison: the sums of several, and not their steps. */
struct pf_capture {
	char *path;
	struct pf_text_filter filter;             /* set before it is loaded */
	struct pf_intern texts;                   /* of a side: those of both */
	const struct pf_capture *const *captures; /* of a side, borrowed */
	size_t capture_count;
	struct pf_capture_step *each_step; /* by trace, then start */
	size_t step_count;
	int64_t steps; /* full ones */
	struct pf_capture_times time;
	bool is_too_large; /* a sum passed PF_CAPTURE_SUM_MAX */
	bool has_steps;    /* else the window is one */
	bool only_starts;  /* steps do, and end before what they start */
	bool is_untimed;   /* there is not even that */
	int64_t of[PF_FIGURES];
	double busy_share;    /* of the window, as steps has it; -1: unknown */
	double between_share; /* of it, the time between steps */
	int64_t cause_ns[PF_CAUSE_COUNT];
	/* the same per step, in whole ns: parts add up to what they are of */
	int64_t mean[PF_FIGURES], cause_mean_ns[PF_CAUSE_COUNT];
	int64_t path_ns[PF_PATH_CATEGORIES]; /* of the critical path */
	int64_t path_window_ns, path_steps;  /* its window; 0: not asked for */
	struct pf_capture_advice advice[PF_ADVICE_MAX]; /* if asked for */
	size_t advice_count;
	int64_t device_count; /* that have work */
	int64_t gpu_events;   /* of the whole capture */
	/*
	 * Of them: launched before it began, pages of unified memory, and
	 * without a call otherwise.
	 */
	int64_t before_count, migrated_count, without_launch;
	int64_t outside_count; /* GPU events in no full step */
	struct pf_keyed work;  /* struct pf_work_row */
	/* struct pf_op_row; Python and steps only where no GPU works */
	struct pf_keyed ops;
	struct pf_keyed idle, sites;     /* struct pf_wait_row */
	struct pf_average_row *averages; /* by name; of the whole capture */
	size_t average_count;
	/* What can be compared: numbers of texts, "" unknown. */
	uint32_t device_name, hardware, platform, versions, options, xxh128;
	int64_t trace_count, world_size; /* -1: unknown */
	struct pf_trust_lost lost;
	struct pf_recorded recorded;
	bool has_shapes;
	bool has_code; /* ops has Python functions */
};

#define PF_STEP_ITSELF "(the step itself)"

enum pf_capture_want {
	PF_CAPTURE_STEPS = 0, /* always */
	PF_CAPTURE_WORK = 1,  /* work, ops, counts, memory */
	PF_CAPTURE_WAITS = 2, /* idle, sites */
	PF_CAPTURE_ALL = 3,
	PF_CAPTURE_AVERAGES = 4, /* key_averages(), beside these */
	PF_CAPTURE_PATH = 8,     /* the critical path */
	PF_CAPTURE_ADVICE = 16,  /* what to try */
};

/* What a figure is of: where that is not recorded a 0 says nothing. */
enum pf_figure_of {
	PF_OF_TIME, /* which is always known */
	PF_OF_CALLS,
	PF_OF_OPS,
	PF_OF_MEMORY,
	PF_OF_WORK, /* of GPUs */
};

/* What checks call it, "trend", and people; its unit: ns, bytes or a count. */
extern const struct pf_step_figure_words {
	const char *key, *column, *title;
	enum pf_col_kind kind;
	enum pf_figure_of of;
} pf_step_figures[PF_FIGURES];

/* Is it of the capture, and no sum over its steps? */
static inline bool pf_figure_is_peak(size_t figure)
{
	return figure == PF_FIGURE_PEAK || figure == PF_FIGURE_RESERVED;
}

/* A part of a sum that is refused if it is too large to be compared. */
static inline void pf_capture_add(struct pf_capture *c, int64_t *sum, int64_t n)
{
	if (__builtin_add_overflow(*sum, n, sum) || *sum > PF_CAPTURE_SUM_MAX ||
	    *sum < -PF_CAPTURE_SUM_MAX)
		c->is_too_large = true;
}

static inline void pf_row_sums_add(struct pf_row_sums *to,
				   const struct pf_row_sums *from)
{
	to->count += from->count;
	to->ns += from->ns;
	to->part_ns += from->part_ns;
}

void pf_capture_rows_end(struct pf_capture *c);
/* The row with a key; a new one is zero else. */
static inline void *pf_capture_row(struct pf_keyed *rows, const void *key,
				   size_t key_bytes)
{
	size_t n = pf_keyed_at_text(rows, key, key_bytes);
	char *row = (char *)rows->rows + n * rows->width;

	memcpy(row + sizeof(struct pf_row_sums), key, key_bytes);
	return row;
}

/* A row; NULL of PF_NO_ROW. */
#define PF_NO_ROW UINT32_MAX
static inline const struct pf_work_row *pf_work_at(const struct pf_capture *c,
						   size_t i)
{
	return i == PF_NO_ROW ? NULL
			      : PF_KEYED_ROW(&c->work, struct pf_work_row, i);
}
static inline const struct pf_op_row *pf_op_at(const struct pf_capture *c,
					       size_t i)
{
	return i == PF_NO_ROW ? NULL
			      : PF_KEYED_ROW(&c->ops, struct pf_op_row, i);
}

/* Of a text that is made of such, or of no trace. */
static inline uint32_t pf_capture_own_text(struct pf_capture *c, const char *s)
{
	return pf_intern_add(&c->texts, s, strlen(s));
}

/* What to say of one without a full step, after its path. */
const char *pf_capture_no_step(const struct pf_capture *c);

/*
 * Load captures from databases, two at a time; a file that is given twice is
 * loaded once.  Each is called by its name (the trace that it was made of),
 * by its path if names is NULL.
 */
struct pf_captures {
	struct pf_text_filter filter; /* set before */
	struct pf_capture *own;
	const struct pf_capture **items;
	size_t count;
};
int pf_captures_load(const char *const *paths, char *const *names, size_t count,
		     const struct pf_window_args *window, unsigned want,
		     struct pf_captures *out, struct pf_err *err);
void pf_captures_release(struct pf_captures *c);

/* The sides of a comparison, and which GPU work of one is which of the other. */

/*
 * Which GPU work of one side is which of the other.  Every row is in exactly
 * one pair, so sums over pairs are sums over rows.  The first rule that fits
 * counts:
 *
 *	exact		same place, operator, shapes, kernel, role of stream
 *	stream		the same on another stream
 *	shape		the same with other shapes
 *	position	another kernel at the same place in the order of
 *			launches under the same path
 *	family		kernels that compute the same (pf_family_name) of
 *			one path, else operator, module or annotation, else
 *			anywhere
 *	group		all that is left under one path, else one module or
 *			annotation: so many kernels became so many
 *	added, removed	the rest
 */

/* What GPU work is put together by; the words of --by. */
enum pf_diff_by {
	PF_BY_OP,
	PF_BY_KERNEL,
	PF_BY_MODULE,
	PF_BY_ANNOTATION,
	PF_BY_STACK,
	PF_BY_CLASS,
	PF_BY_SHAPE,
	PF_BY_CATEGORY,
	PF_BY_ALL, /* by everything that is known of it */
};
#define PF_DIFF_BY_WORDS                                                       \
	"op|kernel|module|annotation|stack|class|shape|category"

/*
 * One side of a comparison: the sums of all its captures; of what has none,
 * that of the first, or the most.  Texts are added to "texts", which numbers
 * them for both sides.
 */
void pf_side_pool(struct pf_capture *out, struct pf_intern *texts,
		  const struct pf_capture *const *captures, size_t count,
		  enum pf_diff_by by);

/*
 * Is a figure known of a side?  Where only the other has GPU work, its own was
 * not recorded, and calls were if there is any.
 */
bool pf_side_knows(const struct pf_capture *s, const struct pf_capture *other,
		   enum pf_step_figure figure);

enum pf_match {
	PF_MATCH_EXACT,
	PF_MATCH_STREAM,
	PF_MATCH_SHAPE,
	PF_MATCH_POSITION,
	PF_MATCH_FAMILY,
	PF_MATCH_GROUP,
	PF_MATCH_ADDED,
	PF_MATCH_REMOVED,
};

extern const char *const pf_match_names[]; /* "exact", ... */

struct pf_pair {
	enum pf_match match;
	uint32_t a_row, b_row;   /* PF_NO_ROW: none; see pf_pairs.by_time */
	uint32_t a_rows, b_rows; /* how many */
	struct pf_row_sums a, b;
	int64_t weight; /* for who orders them, the largest first */
};

struct pf_pairs {
	struct pf_pair *items;
	size_t count, cap;
	const struct pf_keyed *rows[2];
	uint32_t *of[2]; /* the pair of each row */
	bool by_time; /* of its rows a pair names the longest, not the first */
};

#define PF_PART_MAX 9
/* The part of a row's key that is asked for; 0: the rule is not for it. */
typedef size_t pf_part_fn(void *context, const void *row,
			  uint32_t out[PF_PART_MAX]);

/*
 * Every row is in exactly one pair: rows whose keys are the same as a whole
 * are, then those of which a part is (PF_MATCH_SHAPE), and the rest is alone.
 */
struct pf_pairs pf_pairs_take(const struct pf_keyed *a,
			      const struct pf_keyed *b, pf_part_fn *whole,
			      pf_part_fn *part, void *context);

/* By: what the sides were pooled by. */
int pf_match(struct pf_intern *texts, const struct pf_capture *a,
	     const struct pf_capture *b, enum pf_diff_by by,
	     struct pf_pairs *out, struct pf_err *err);
void pf_pairs_release(struct pf_pairs *p);

/*
 * What a difference is worth: means that add up, ranks of values, change
 * points of a series, what is more than noise, and checks of a difference.
 */

/*
 * Is the change of a time per step more than noise?
 *
 * Steps of one capture are not independent samples of a program: captures of
 * one program differ, too, by as much as 15 % of a step.  So with one capture
 * a side nothing is ever called significant, and there are three grades:
 *
 *	steps overlap                 no clear change
 *	apart, but less than a floor  as captures of one program differ
 *	apart, and more               likely
 *
 * Apart are sides if the interval of the shift (above) leaves out 0,
 * or if no step of one reaches the other's and the space between them is more
 * than twice what steps of a side vary by: so few steps can be apart, too.
 * The floor is a part of the longer step, so that both directions agree.
 *
 * Captures of a busy machine differ by far more, and by the same factor in all
 * that they do.  So what both sides do alike says what the machines explain,
 * and only what is beyond is held against the floor, for the median and for the
 * mean.  Such a factor is known to a fourth of itself.
 *
 * With several captures a side the values are the medians of captures.  If
 * there are enough for a test, it alone decides.
 */

/*
 * Means of sums over steps, in whole units, without losing any: exact
 * integers throughout.
 */

/* sum / steps, rounded half up; 0 for no steps. */
int64_t pf_mean(int64_t sum, int64_t steps);

/*
 * The means of the parts of a whole: out[i] is sums[i] / steps rounded down
 * or up, so that they add up to pf_mean() of the sum of all.  The parts with
 * the largest remainders are rounded up, the first of equal ones.
 */
void pf_mean_parts(const int64_t *sums, size_t count, int64_t steps,
		   int64_t *out);

/*
 * (n_B - n_A) * m_A in ns, rounded half away from zero: the part of a
 * difference that is "more of it".  Counts and times are sums over steps.
 */
int64_t pf_mean_more(int64_t a_count, int64_t a_ns, int64_t a_steps,
		     int64_t b_count, int64_t b_steps);

/* -1, 0, 1: how b / b_steps compares to a / a_steps. */
int pf_mean_compare(int64_t a, int64_t a_steps, int64_t b, int64_t b_steps);

/*
 * Are the values of one side larger than those of the other?  Rank statistics
 * of a few values per side; nothing is assumed of how they are distributed.
 *
 * The shift is that of Hodges and Lehmann, the median of all differences
 * b - a; its interval goes from the k-th smallest to the k-th largest of them,
 * with k from the distribution of Mann and Whitney's U (Moses; Hollander,
 * Wolfe: Nonparametric Statistical Methods, 1999, sections 4.2 and 4.3).
 */

/*
 * Up to so many values per side U's distribution is exact, and where one side
 * has few up to so many pairs; beyond it is taken as normal.
 */
#define PF_RANK_MAX   24
#define PF_RANK_FEW   8
#define PF_RANK_PAIRS 4096

#define PF_RANK_SIGNIFICANT 0.05

struct pf_rank {
	double p;                      /* two-sided, Mann-Whitney */
	int64_t shift;                 /* Hodges-Lehmann: median of b - a */
	int64_t shift_low, shift_high; /* its interval */
	double confidence;             /* of the interval: 0.95 and more, or
					  what the numbers of values allow */
};

/* The least p that so many values can have: when no value of a is above b. */
double pf_rank_least_p(size_t a_count, size_t b_count);

/*
 * Since when is a figure another?  Change points of a series, a value a
 * capture in order of time: the place whose two sides differ the most by Mann
 * and Whitney's test (above), then the same in each part.
 *
 * A rank test, so neither one bad night nor how values are distributed
 * matters.  A place is a change if its p, times the places there were to
 * choose from, is at most "rate": that is the chance, at most, that a series
 * whose values vary independently about one level is said to have changed.
 * Whoever looks at many series divides the rate by their number.
 */

/* Of all that is looked at together. */
#define PF_CHANGE_RATE 0.01

struct pf_change {
	size_t from, at, to;   /* values [from, at) against [at, to) */
	int64_t before, after; /* their medians */
	struct pf_rank rank;   /* and how they differ */
};

/* In order; the sides of a change end where the next changes are. */
struct pf_changes {
	struct pf_change *items;
	size_t count;
};

/* Each value less than 2^62. */
void pf_changes_find(const int64_t *values, size_t count, double rate,
		     struct pf_changes *out);
void pf_changes_release(struct pf_changes *c);

/* So many values it takes before any change can be told from chance. */
size_t pf_changes_least(double rate);

/* Of the longer step: what captures of one program may differ by. */
#define PF_CAPTURES_DIFFER 0.15

#define PF_TEST_MIN 4 /* captures a side that a test needs */

enum pf_grade {
	PF_GRADE_UNKNOWN,     /* a side has one step: its noise is not known */
	PF_GRADE_NONE,        /* sides overlap */
	PF_GRADE_AS_CAPTURES, /* apart, but captures differ by as much */
	PF_GRADE_LIKELY,      /* apart by more */
	PF_GRADE_TESTED,      /* significant over captures */
};

struct pf_judged {
	int64_t a_ns, b_ns; /* medians */
	double a_mean_ns, b_mean_ns;
	size_t a_count, b_count; /* values: steps, or captures */
	struct pf_rank rank;     /* of them; zero if a side has none */
	bool is_tested;          /* over captures */
	bool is_above, is_below; /* no value of b, of a reaches the other's */
	bool is_wide;            /* and there is much between them */
	bool is_alike;           /* likely, but for what both do alike */
	enum pf_grade grade;
};

/*
 * How much longer what both sides do alike takes in B: at least "low", which is
 * at most 0, and at most "high".  Zero: not known.
 */
struct pf_alike {
	double low, high;
};

/* What both sides' figures are judged by. */
struct pf_judge {
	const struct pf_capture *a, *b;
	size_t warm_up;  /* leading steps of each trace that are left out */
	int64_t step_ns; /* the longer median step, which floors are of */
	struct pf_alike alike;
};

/*
 * Leading steps to leave out on both sides: as many as any trace has that are
 * warm-up (analysis/time/steps.h), but each trace keeps two steps.  None if the
 * window says which steps.
 */
size_t pf_judge_warm_up(const struct pf_window_args *window,
			const struct pf_capture *a, const struct pf_capture *b);

/* "; the first step of each is left out (warm-up)", or nothing. */
void pf_judge_say_warm_up(struct pf_buf *out, size_t steps);

/* The median of a figure in a capture without its warm-up; 0 for no step. */
int64_t pf_judge_median(const struct pf_capture *c, size_t warm_up,
			enum pf_step_figure figure);

/* step_ns 0: floors are of the figure itself. */
void pf_judge_figure(const struct pf_judge *by, enum pf_step_figure figure,
		     struct pf_judged *out);

/*
 * Is the shift, beyond what both sides do alike explains of it, at least what
 * captures of one program may differ by?
 */
bool pf_judge_is_large(const struct pf_judge *by, const struct pf_judged *j);

/* Enough captures on both sides for a test over them? */
static inline bool pf_judge_can_test(const struct pf_capture *a,
				     const struct pf_capture *b)
{
	return a->capture_count >= PF_TEST_MIN &&
	       b->capture_count >= PF_TEST_MIN;
}

/*
 * Checks of a difference for use in CI: "step_time>5%", "syncs>0",
 * "kernels>+3", "peak_memory>2%", "copy>100us".  What is compared is the
 * change per step from A to B, in the figure's own unit or, with "%", of A's
 * figure; of counts and sizes exactly, nothing is rounded.
 */

/* A figure of both sides: sums, and the numbers of steps to divide by. */
struct pf_gate_figure {
	const char *key;
	enum pf_col_kind kind; /* PF_NS, PF_COUNT, PF_BYTES */
	int64_t a, b;
	int64_t a_steps, b_steps; /* 0: not known */
	enum pf_step_figure of;
};

/* How times are judged. */
struct pf_gate_times {
	const struct pf_judge *judge;
	const struct pf_judged *total; /* of steps */
};

struct pf_gate_sides {
	const struct pf_capture *a, *b;
	const struct pf_gate_times *times; /* NULL: not comparable */
	bool is_cut;                       /* nothing is */
};

/* A check that was read: what it is of, and the limit. */
struct pf_gate {
	char name[32];
	bool is_less, or_equal, is_percent;
	int64_t limit; /* in units of 1 / scale */
	int64_t scale;
};

/* Figures that a check may be of, in order. */
struct pf_gate_figures {
	/* false past the last */
	bool (*at)(const void *of, size_t n, struct pf_gate_figure *out);
	const void *of;
};

/*
 * Read a check of one of these figures; PF_EUSAGE if it is none.  "figure" is
 * what "at" says of it.
 */
int pf_gate_read(const char *expression, const struct pf_gate_figures *figures,
		 struct pf_gate *gate, struct pf_gate_figure *figure,
		 struct pf_err *err);

/* Is the change from a to b beyond the limit? */
bool pf_gate_holds(const struct pf_gate *gate, const struct pf_gate_figure *f);

/* "step_time was 4 ms and is 5 ms per step (+25 %)" */
void pf_gate_say_change(struct pf_buf *out, const struct pf_gate_figure *f);

/* PF_EUSAGE if the expression is none. */
int pf_gate_parse(const char *expression, struct pf_err *err);

/*
 * Does the check hold?  Then *is_failed is set and the document says by how
 * much.  A time is its median and shift, and fails only if its change is at
 * least likely; else a note says that it is not.  Times that cannot be
 * compared fail, and all figures of which one is not known of a side.
 */
int pf_gate_check(const char *expression, const struct pf_gate_sides *sides,
		  struct pf_doc *doc, bool *is_failed, struct pf_err *err);
