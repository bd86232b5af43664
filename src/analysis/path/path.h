/* SPDX-License-Identifier: MIT */
/*
 * What decides how long a window takes: the chain of causes from its end back
 * to its begin.  GPU work starts when its launch call, the work before it on
 * its stream, or work that its stream waited for lets it; a call returns when
 * what it waits for has ended; a thread begins when another has woken it; all
 * else is the threads' own time.  Of what something needed, what came last
 * bound it.  The tiles of the path follow each other without gap or overlap,
 * so they add up to the window; worked out anew without any change the graph
 * ends when the window did.
 *
 * The window begins where the first step does, and ends with the last step on
 * the host, or with the last GPU work that was launched before that, if this
 * ends later.  Without steps: first to last operator, call or GPU work, or where no
 * GPU works what else bounds the time of threads (pf_name_bounds()).  Steps
 * that are a line of a GPU end with GPU work.
 *
 * Where no call waits by its name, and those that launch hold the host until
 * their work is done (events/gpu.h), they wait for it; work that no call
 * launched is no part of the path then.
 *
 * A thread that sleeps is woken by who lets go of a lock meanwhile, as functions
 * of both say; by autograd's threads, which run its operators; or by one that did
 * nothing before, of which no functions are recorded, and works from where it
 * goes to sleep until it wakes.  Else its time is its own.  Who waits for results
 * of JAX waits for operations of XLA's threads.
 *
 * A thread that is in a range alone, from where another of its process begins
 * calls that wait to where it ends them, waits for that one.  Where no GPU
 * works it waits so for one that communicates (gloo), and where nothing but its
 * step is recorded of it for all that do: that is inferred.
 *
 * What let work go that no record explains is looked for on 512 streams, those
 * around its own.
 *
 * Where calls of the runtime were recorded and no GPU work, nothing is known
 * of what ended when: there is no path.
 *
 * Ask several questions in one call: all of args.what_if are answered in one
 * pass over the trace and one over the graph, so that each but the first costs
 * little (about a hundredth of the call).  Answers come in the order of the
 * questions.  Without questions the usual ones are asked, and of the names
 * that hold most of the path; is_bare asks none.
 *
 * Memory grows with the GPU work of the trace: 75 to 85 bytes each where a call
 * launches one, up to 20 more where streams do not end their work in order.
 * What questions need to know of the host's time is in a temporary file.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/opt.h"
#include "events/names.h"
#include "events/trust.h"
#include "events/window.h"
#include "store/db.h"
#include "show/doc.h"

/* Where time of the path goes.  On the host: enum pf_cause up to UNRECORDED. */
enum pf_path_category {
	PF_PATH_KERNEL = PF_CAUSE_UNRECORDED + 1, /* in the order of */
	PF_PATH_COMM,                             /* enum pf_gpu_class */
	PF_PATH_COPY,
	PF_PATH_MEMSET,
	PF_PATH_LAUNCH_CALL,  /* the call that launched what comes next */
	PF_PATH_LAUNCH_DELAY, /* from its return to the start, up to 50 us */
	PF_PATH_GAP,       /* from work to the next of its stream, the same */
	PF_PATH_RETURN,    /* from the end of work to that of the call */
	PF_PATH_QUEUE,     /* the same where the launch queue was full */
	PF_PATH_WAIT,      /* from work of another stream that is waited for */
	PF_PATH_INFERRED,  /* ... as it seems */
	PF_PATH_HANDOFF,   /* from one thread to the one that it woke */
	PF_PATH_QUEUED,    /* PF_CAUSE_DEVICE: to a stream's first work */
	PF_PATH_NO_LAUNCH, /* up to work that nothing is known to cause */
	PF_PATH_UNEXPLAINED, /* more than such a thing takes */
	PF_PATH_CATEGORIES
};

struct pf_graphs;     /* analysis/graphs/graphs.h */
struct pf_graph_node; /* the same */

const char *pf_path_category_name(enum pf_path_category category);
/* "... % of the path is" this. */
const char *pf_path_category_phrase(enum pf_path_category category);
/* Is what its time is named by behind it, and none of it? */
bool pf_path_is_before(int category);

#define PF_PATH_BARE_WORDS "steps, and in nothing that is recorded in them"
/* What the host does itself, as sentences and a question name it. */
#define PF_PATH_CODE "operators, calls and Python"

enum pf_path_group {
	PF_PATH_BY_NAME, /* category and name */
	PF_PATH_BY_OP,
	PF_PATH_BY_KERNEL,
	PF_PATH_BY_MODULE,
	PF_PATH_BY_LINE,
	PF_PATH_BY_STEP,
	PF_PATH_BY_CATEGORY,
};
#define PF_PATH_GROUPS "name|op|kernel|module|line|step|category"

/* A piece of the path.  Names are ids of strings, or PF_ID_NONE. */
struct pf_path_tile {
	int64_t start_ns, end_ns;
	enum pf_path_category category;
	uint32_t name; /* of the innermost range, the work or the call */
	uint32_t op, frame, module; /* around it, or around its launch */
	uint32_t track_id;          /* of a thread; 0: on the GPU */
	/* Of GPU work that a graph replays; NULL: of other, or not asked. */
	const struct pf_graph_node *node;
	int64_t device, stream; /* on the GPU; -1: unknown */
	/* Of GPU work: when its launch call began, and on which thread; of a
	 * return when its own did. */
	int64_t called_ns; /* PF_NO_INT: it is not known */
	uint32_t called_track;
	const char *kind; /* what the innermost range is, or as category */
	bool is_inferred;
	bool is_op; /* the innermost range is an operator, of its thread */
};

/*
 * Is told of every tile, in order of time; and of every call that waited,
 * before its return, which takes no time where clocks say so.
 */
struct pf_path_sink {
	int (*tile)(struct pf_path_sink *s, const struct pf_path_tile *tile,
		    struct pf_err *err);
	int (*wait)(struct pf_path_sink *s, const struct pf_path_tile *tile,
		    struct pf_err *err); /* or NULL */
};

struct pf_path_args {
	struct pf_window_args window;
	int group;                  /* enum pf_path_group */
	bool list;                  /* the tiles, too */
	struct pf_opt_list what_if; /* questions; none: the usual ones */
	bool is_bare;               /* none of these */
	/*
	 * How many threads are at work, this one included: questions take one
	 * more only where that leaves a processor.  NULL: this one alone.
	 */
	const atomic_uint *at_work;
	struct pf_opt_list beside; /* more, answered apart from them */
	struct pf_path_sink *also; /* or NULL */
	/*
	 * What graphs replay, of all of the trace and this device, explained:
	 * GPU work has the operators that it names.  Or NULL.
	 */
	struct pf_graphs *graphs;
};

/* A category, or what is on the path.  Texts NULL: none. */
struct pf_path_row {
	const char *category, *name, *short_name;
	int in;       /* enum pf_path_category; below 0: of several */
	int64_t step; /* PF_NO_INT: none */
	int64_t ns, count, longest_ns;
	int64_t replayed_ns; /* whose operator a graph has */
	double share;
};

struct pf_path_item {     /* a tile with texts */
	int64_t start_ns; /* from the trace's first event */
	int64_t ns, device, stream;
	const char *category, *kind, *name, *short_name;
	const char *op, *frame, *module, *thread;
	bool is_inferred;
};

/*
 * How long the window would be.  A saving is no more than what the change
 * takes off the path (bound_ns; PF_NO_INT: it takes a cause away, no time),
 * and if the order of work across streams stays as it was it is least_ns.
 */
struct pf_path_answer {
	const char *question;
	int64_t ns, saved_ns;
	int64_t pessimistic_ns, least_ns; /* PF_NO_INT: not known */
	int64_t bound_ns;
	double saved_share;
	bool of_host; /* it changes nothing but what the host does */
	/* of what was asked: what it changes, on the path or not; PF_NO_INT */
	int64_t work_count, work_ns, changed_host_ns;
};

/* A zero-initialised struct is an empty result; it owns all it points to. */
struct pf_path {
	struct pf_window window;
	struct pf_names *names; /* own texts, as: */
	struct pf_arena texts;
	int64_t trace_id, rank;
	int64_t start_ns; /* from the trace's first event */
	int64_t window_ns;
	int64_t step_count; /* that make it up, or 0 */
	int64_t behind_ns;  /* its end, of the last step; or 0 */
	int64_t ahead_ns;   /* its begin, of the end of the step before */
	struct pf_path_row *categories; /* the largest first */
	size_t category_count;
	struct pf_path_row *rows; /* as they were grouped */
	size_t row_count;
	struct pf_path_item *items; /* if asked for */
	size_t item_count;
	struct pf_path_answer *answers;
	size_t answer_count;
	const struct pf_path_answer *beside; /* behind them */
	size_t beside_count;
	/* the window; of the host what is recorded, but for the profiler's */
	int64_t host_ns, gpu_ns, between_ns, profiler_ns;
	int64_t queued_ns, unexplained_ns;
	int64_t rest_ns; /* of it, behind what was queued; or all */
	int64_t inferred_ns, inferred_count, link_count;
	int64_t others_ns; /* inferred: other threads communicate meanwhile */
	/* in steps, and in nothing that is recorded in them; where no GPU works
	 * also in nothing at all */
	int64_t bare_ns;
	const struct pf_graphs *graphs; /* borrowed: of the arguments */
	int64_t *how_ns;                /* of replayed work: by pf_graph_how */
	int64_t work_count;
	int64_t launch_floor_ns, gap_floor_ns; /* PF_NO_INT: no work */
	int64_t queue_length, queue_floor_ns;  /* PF_NO_INT: none was full */
	int64_t return_count, handoff_count;   /* on the path */
	bool begins_cold; /* no steps, and much of it is before GPU work */
	/* of the unchanged graph, less the window: 0; PF_NO_INT: is_bare */
	int64_t replay_ns;
	struct pf_recorded recorded;
};

/* Is its GPU work launched by calls?  Else it stays where it is, whatever goes. */
static inline bool pf_path_is_linked(const struct pf_path *p)
{
	return !p->work_count || p->recorded.has_calls;
}
/* PF_EUSAGE: a window of several traces, whose path nobody knows. */
int pf_path_check(const struct pf_window *window, struct pf_err *err);
/*
 * "12 % of the critical path", and how long that is where it is not that of the
 * steps: "12 % of the critical path of 1.069 s".
 */
void pf_path_say_share(const struct pf_path *p, double share,
		       struct pf_buf *out);
/* How much is behind the path, where that is more; false: it is not. */
bool pf_path_say_behind(const struct pf_path *p, struct pf_buf *out);
int pf_path_find(struct pf_db *db, const struct pf_path_args *args,
		 struct pf_path *out);
void pf_path_release(struct pf_path *path);

/* Both, and what of the trace is not to be trusted. */
int pf_path(struct pf_db *db, const struct pf_path_args *args,
	    struct pf_path *kept, struct pf_doc *doc);
