/* SPDX-License-Identifier: MIT */
/*
 * Several ranks on one clock: who is late to collectives, why, and what it
 * costs.  Works on digests alone (digest.h), so the traces may be in one
 * database, in several, or elsewhere.
 *
 *	struct pf_ranks_job *job = pf_ranks_new(&args);
 *	rc = pf_ranks_add(job, db, &window, err);	(any number of times)
 *	rc = pf_ranks_find(job, &found, err);
 *	pf_ranks_free(job);
 *
 * Meetings.  The n-th collective of a process group on one rank meets the n-th
 * on the others.  Where ranks have unlike numbers of them, they are matched
 * from the end of the captures, as long as kind, bytes and step agree.
 *
 * Damage.  A trace that was cut, ends early or lacks a collective does not
 * match the others.  Where most ranks of a group agree, and one rank without
 * which all that are left match is the only one that can be so, it is left out
 * and the others are compared; where it may be one or another, none is.  Of a
 * rank with two different traces none is compared.
 *
 * Clocks.  A collective ends on all its ranks at nearly one time; that gives
 * each rank an offset and, if the ends show one, a drift against the lowest
 * rank that it is connected with.  Nothing may end on one rank before it has
 * begun on another: where it does, ranks are not compared.
 *
 * Waiting.  A rank waits from its own start to the latest one; what follows is
 * transfer.  The late rank is compared with the middle one: the time since the
 * collective before in the group is split on both, without remainder, into
 * computation, communication, copies and idle time; the differences and how
 * much later it left the one before add up to the lateness.
 *
 * Cost.  Replaying the collectives with the gaps that ranks took between them
 * gives the measured time again; with the median gap of all ranks, the time of
 * a job without stragglers (replay.c), and of one in which a rank alone is
 * like the others.
 *
 * Hosts.  Where no rank has GPU work collectives are those that hosts run
 * themselves, and computation is their operators.  They name no group: the n-th
 * of a kind meets the n-th, and where groups are several, ends before starts
 * withhold it.  A host leaves when it is woken, so ends scatter: clocks are as
 * they are unless ends show more than that.  What it costs is not known, for what
 * a host needs for a collective is not recorded.
 *
 * Sends and receives.  The n-th send from a rank to another in a group meets
 * the n-th receive of it there.  A rank waits in a receive until the send has
 * begun.  A bubble of a pipeline is the time in a step in which a GPU computes
 * nothing, and moves nothing, because what it needs of another stage is not
 * sent yet: the computation that ends it begins as a receive ends, or is
 * launched after that (digest.c); or, behind the last message of a step, the
 * collective that it waits in is one with other stages.  Ranks that wait in
 * receives for more than 1 % of the time are not replayed: collectives do not
 * say what they wait for.
 *
 * Memory is about 400 bytes a collective of a rank; time grows linearly.
 */
#pragma once

#include "analysis/ranks/digest.h"
#include "base/err.h"
#include "base/mem.h"
#include "events/window.h"
#include "show/doc.h"
#include "store/db.h"

/* Why a rank is late; the parts of its lateness come first. */
enum pf_late_cause {
	PF_LATE_COMPUTATION = PF_DOING_COMPUTATION,
	PF_LATE_COMMUNICATION = PF_DOING_COMMUNICATION, /* it waited, too */
	PF_LATE_COPY = PF_DOING_COPY,
	PF_LATE_HOST = PF_DOING_IDLE, /* its GPU was idle */
	PF_LATE_BEFORE,               /* it left the collective before later */
	PF_LATE_PARTS,
	PF_LATE_UNKNOWN = PF_LATE_PARTS, /* the first of its group */
	PF_LATE_BY_HOST,                 /* + enum pf_digest_host */
	PF_LATE_CAUSES = PF_LATE_BY_HOST + PF_HOST_CAUSES
};

/* Why a rank's computation takes longer than that of the middle one. */
enum pf_rank_work {
	PF_WORK_UNKNOWN,
	PF_WORK_ALIKE,  /* it does not, or by no more than 1 % */
	PF_WORK_MORE,   /* it runs more kernels, or others */
	PF_WORK_SLOWER, /* all of its kernels are longer by a factor */
	PF_WORK_SOME,   /* some of them are */
};

#define PF_RANKS_EVEN 1.01 /* slowdown below which no rank is named */

struct pf_ranks_rank {
	int64_t rank, trace_id, reference; /* rank whose clock it is on */
	const char *host;                  /* NULL: not recorded */
	/* its clock is ahead by offset_ns at the first end, and drifts */
	int64_t offset_ns;
	double drift_ppm;       /* not a number: the ends show none */
	double drift_bound_ppm; /* of a drift that they do not show */
	int64_t scatter_ns;     /* of its ends about the line */
	int64_t error_ns;       /* of the offset; -1: not known */
	int64_t seen_count;     /* ends that the line is through */
	int64_t begins_ns;      /* its first event, after the first of all */
	/* at collectives */
	int64_t count, last_count;
	int64_t late_ns;   /* the longest wait of another for it, summed */
	int64_t gain_ns;   /* of it until the last but one had come */
	int64_t waited_ns; /* for others */
	int64_t root_ns;   /* others wait, and it is where that begins */
	const char *cause; /* of most of that; NULL: nobody waits */
	/* what its GPU did, all of its window */
	int64_t window_ns, computation_ns, wait_ns, transfer_ns;
	int64_t other_comm_ns; /* exposed, and in no meeting */
	int64_t copy_ns, idle_ns;
	/*
	 * Kernels of computation: their lengths summed, which are what those of
	 * the middle rank would take, what more or other kernels take, what
	 * all take longer by the factor, and what is left; PF_NO_INT: captures
	 * hold unlike work.
	 */
	int64_t kernel_ns, middle_ns, more_ns, slower_ns, some_ns;
	double factor;
	enum pf_rank_work work;
	const char *why_longer; /* its name */
	/* the job would be faster by this if it alone took median gaps */
	int64_t saved_ns; /* PF_NO_INT: not worked out */
};

/* Meetings of one kind. */
struct pf_ranks_kind {
	const char *kind;
	int64_t size, bytes; /* -1: unknown */
	const char *across;  /* several machines: "yes", "no", NULL: unknown */
	int64_t count, spread_ns;
	int64_t transfer_ns;             /* median */
	double algorithm_rate, bus_rate; /* bytes per ns, medians; or NAN */
};

/* A collective of several ranks.  PF_NO_INT: unknown, as ranks of nobody. */
struct pf_ranks_meeting {
	const char *group, *kind;
	int64_t number, step, count;
	int64_t last_rank, middle_rank;
	int64_t spread_ns, gain_ns, transfer_ns;
	/* of the last against the middle; they add up to late_ns */
	int64_t late_ns, why_ns[PF_LATE_PARTS];
	const char *cause;
	int64_t root_rank;
	const char *root_cause;
};

/* A rank that sends or receives; PF_NO_INT and not a number: unknown. */
struct pf_ranks_pipe {
	int64_t rank, stage, stage_count; /* of its pipeline; or unknown */
	int64_t microbatches;             /* in a step */
	/* kernels that receive, and those whose send is not known */
	int64_t receive_count, left_count;
	int64_t receive_wait_ns, receive_transfer_ns; /* of the others */
	/* in steps in which all its messages met theirs */
	int64_t step_count, step_ns, computation_ns;
	int64_t input_ns, drain_ns, bubble_ns; /* waiting; its end; the sum */
	double bubble, ideal;                  /* shares of the steps */
};

/* A stage of all pipelines with as many; times are means of steps. */
struct pf_ranks_stage {
	int64_t stage, stage_count, rank_count, step_count;
	int64_t step_ns, computation_ns, bubble_ns;
	int64_t receive_wait_ns; /* all that is known of it */
	int64_t unknown_count;   /* ranks of which nothing is */
	double factor;           /* computation against the median stage */
	double bubble, ideal;
};

struct pf_ranks_step {
	int64_t step;
	int64_t count; /* of meetings */
	int64_t spread_ns;
	int64_t late_rank; /* whom others wait for most; PF_NO_INT: nobody */
	int64_t late_ns;
	const char *cause;
};

struct pf_ranks {
	struct pf_ranks_rank *ranks; /* by rank */
	struct pf_ranks_kind *kinds;
	struct pf_ranks_step *steps;
	struct pf_ranks_meeting *meetings; /* in order of time */
	size_t rank_count, kind_count, step_count, meeting_count;
	int64_t world;  /* ranks of the job, as traces say; -1: they do not */
	bool has_pipes; /* ranks receive */
	/* for more than 1 % of the time, or who knows how long: no replay */
	bool waits_to_receive;
	struct pf_ranks_pipe *pipes;   /* ranks that do, by rank */
	struct pf_ranks_stage *stages; /* in order */
	size_t pipe_count, stage_count;
	const char *pipes_withheld; /* why nothing is known of them, or NULL */
	int64_t unknown_pipe_count; /* ranks that do not say if they do */
	const char *withheld;       /* why nothing is compared; NULL: it is */
	bool is_of_hosts;     /* collectives of hosts, and operators: no GPU */
	const char *partly;   /* what is not compared; NULL: nothing */
	const char *left_out; /* ranks, and why; NULL: none */
	int64_t met_count;    /* collectives of several ranks, compared */
	int64_t left_count;   /* without one to meet */
	int64_t early_count;
	int64_t residual_ns;     /* the largest scatter of a rank's ends */
	int64_t clock_ns;        /* the largest offset */
	int64_t component_count; /* clocks that nothing connects */
	/* the replay; total_ns PF_NO_INT: not known */
	int64_t total_ns, ideal_ns;
	double slowdown;
	/* whom it pays most to repair; < 0: nobody */
	int64_t straggler; /* index of ranks */
	/*
	 * Of one rank (an index) for the straggler, or where there is none for
	 * another; and when, after its first event.
	 */
	int64_t longest_wait_ns, longest_wait_start_ns;
	size_t longest_wait_rank;
	struct pf_arena memory; /* of all but kinds, steps and stages */
};

enum pf_ranks_clock {
	PF_CLOCK_ALIGNED,
	PF_CLOCK_DRIFTING, /* with any drift that the ends may show */
	PF_CLOCK_AS_IS,    /* as the traces have it */
};

struct pf_ranks_args {
	enum pf_ranks_clock clock;
	bool is_brief; /* without the replay and the meetings one by one */
	/* ranks are replayed one after the other: for tests, the same figures */
	bool is_plain;
};

struct pf_ranks_job;
struct pf_ranks_job *pf_ranks_new(const struct pf_ranks_args *args);
void pf_ranks_free(struct pf_ranks_job *job);
PF_FREED(pf_ranks_free, struct pf_ranks_job)

/* All traces of a window. */
int pf_ranks_add(struct pf_ranks_job *job, struct pf_db *db,
		 const struct pf_window *window);
/* A digest as bytes; 1, or 0: its rank is not of the list, NULL: of any. */
int pf_ranks_add_bytes(struct pf_ranks_job *job, const void *data, size_t len,
		       const char *ranks, struct pf_err *err);

int pf_ranks_find(struct pf_ranks_job *job, struct pf_ranks *out,
		  struct pf_err *err);
void pf_ranks_release(struct pf_ranks *r);

/* Ranks as a document, and checks of them for use in CI. */

/* Beyond so many ranks people see how figures are spread, and the outermost. */
#define PF_RANKS_FEW   16
#define PF_RANKS_OUTER 5

/*
 * "Rank 3 computes longer than others; were it like the others, 1 ms of 9 ms
 * (11.11 %) would be saved", or where that is not known "it began 12 ms of
 * waits".  NULL: nobody is late, or ranks are not compared.
 */
const struct pf_ranks_rank *pf_ranks_say_late(const struct pf_ranks *r,
					      struct pf_buf *out);
/*
 * The finding, figures and the tables "ranks", "spread", "steps", "clocks"
 * and "collectives".  is_wide: for programs, every rank in its order.
 */
void pf_ranks_show(const struct pf_ranks *r, bool is_wide, struct pf_doc *doc);

/*
 * The table "by": ranks as groups of those with one value under a key, such as
 * "host" or a label.  values[i] is that of ranks[i], or NULL.
 */
void pf_ranks_show_by(const struct pf_ranks *r, const char *key,
		      const char *const *values, bool is_wide,
		      struct pf_doc *doc);

/* "straggler>2%", "waste>5%"; PF_EUSAGE if it is no check. */
int pf_ranks_gate_parse(const char *expression, struct pf_err *err);
/* Does it fail?  Then the document says so; what is not known fails. */
int pf_ranks_gate(const char *expression, const struct pf_ranks *r,
		  struct pf_doc *doc, bool *is_failed, struct pf_err *err);
