/* SPDX-License-Identifier: MIT */
/*
 * What the names of host events say: which calls block, which ranges are
 * compilation, data loading and so on, which Python functions are the user's.
 * A name is looked at once; memory grows with the number of distinct names.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "formats/event.h"
#include "store/db.h"

/*
 * Why a GPU is idle.  Of the causes that fit an instant on the host the first
 * one counts; those up to COMM hold for all that runs inside such a range.
 */
enum pf_cause {
	PF_CAUSE_SYNC,
	PF_CAUSE_COPY,
	PF_CAUSE_ALLOCATOR,
	PF_CAUSE_MODULE,
	PF_CAUSE_COMPILE,
	PF_CAUSE_DATA,
	PF_CAUSE_GC,
	PF_CAUSE_PROFILER,
	PF_CAUSE_COMM,
	PF_CAUSE_RUNTIME,
	PF_CAUSE_OP,
	PF_CAUSE_PYTHON,
	PF_CAUSE_ANNOTATION,
	PF_CAUSE_UNRECORDED,
	/* not on the host */
	PF_CAUSE_LAUNCH,
	PF_CAUSE_DEPENDENCY,
	PF_CAUSE_GRAPH,
	PF_CAUSE_DEVICE,
	PF_CAUSE_NO_LAUNCH,
	PF_CAUSE_MICRO,
	PF_CAUSE_COUNT
};

/* "sync", "blocking copy", ... */
const char *pf_cause_name(enum pf_cause cause);
/* What idle time of a cause is in: "in Python", as a sentence says it. */
const char *pf_cause_phrase(enum pf_cause cause);

/*
 * In a gap after a call that drained the GPU: is time of this cause due to the
 * call?  What it took itself is, and what the host then needed to launch work
 * again; loading data, compiling and the like are not.
 */
bool pf_cause_is_after_call(enum pf_cause cause);

/* What GPU work a call launches, by its name. */
enum pf_launch_kind {
	PF_LAUNCHES_NONE,
	PF_LAUNCHES_KERNEL, /* kernels or graphs */
	PF_LAUNCHES_COPY    /* copies or fills */
};

/* What a call on the host waits for, by its name. */
enum pf_wait_for {
	PF_WAITS_NOT,
	PF_WAITS_ALL, /* all streams */
	PF_WAITS_STREAM,
	PF_WAITS_EVENT
};

/* What lets a thread go on that sleeps in a Python function, by its name. */
enum pf_woken_by {
	PF_WOKEN_NOT,    /* it does not sleep; or it is not known */
	PF_WOKEN_LOCK,   /* another thread that lets go of a lock, or ends */
	PF_WOKEN_ENGINE, /* that of autograd */
	PF_WOKEN_POOL,   /* those of XLA's runtime */
};

#define PF_MODULE_PREFIX "nn.Module: " /* how torch names calls of modules */

struct pf_name_class {
	uint8_t call;     /* enum pf_cause of a runtime or driver call */
	uint8_t range;    /* of any other range: UNRECORDED if it says none */
	uint8_t overhead; /* of an overhead record; UNRECORDED: no matter */
	uint8_t launches; /* enum pf_launch_kind */
	uint8_t waits;    /* enum pf_wait_for */
	bool is_record;   /* a call that marks a place of a stream */
	bool is_module;   /* a call of nn.Module */
	/* A Python function in which a thread sleeps until it is woken. */
	bool is_asleep;
	uint8_t woken_by; /* such a function: enum pf_woken_by */
	bool wakes;       /* a function that lets go of a lock */
	bool is_node;     /* an operator of autograd's engine */
	/* An operator of such a name says only what is inside: "forward". */
	bool is_wrapper;
	bool is_sync;        /* a call that only waits for the GPU */
	bool is_stream_wait; /* a call that makes a stream wait, not the host */
	bool is_graph;       /* a call that launches a graph */
	uint8_t capture;     /* of a graph: 1 a call that begins it, 2 ends */
	bool is_blocking;    /* a call that waits for the GPU */
	/*
	 * It waits if its memory is such (struct pf_pageable): asynchronous
	 * copies, and fills, which return before the fill of a GPU's own memory.
	 */
	bool waits_by_memory;
	bool is_user_python; /* not torch, a library or Python's own */
	bool is_comm_op;   /* of torch.distributed; what it does is another's */
	bool is_numbered;  /* ProfilerStep#N */
	bool is_step;      /* that, or as a step of the trace is called */
	bool is_optimizer; /* a range that torch puts around one */
	bool is_library_range; /* ... around that, or other work of its own */
	bool is_wait;          /* a record, Stream Wait Event: the GPU waits */
	bool is_free;          /* of a memory record: it frees */
};

/*
 * Does an event of a thread bound the time that is judged where no GPU works and
 * there are no steps?  Operators and calls do; so do ranges, and functions of the
 * program that were called in the capture: those that were open when it began come
 * before all that the profiler calls.  *is_on is the thread's, and begins as false.
 */
static inline bool pf_name_bounds(unsigned kind,
				  const struct pf_name_class *class,
				  bool *is_on)
{
	switch (kind) {
	case PF_KIND_CPU_OP:
	case PF_KIND_RUNTIME:
	case PF_KIND_DRIVER:
		return true;
	case PF_KIND_ANNOTATION:
		return !class->is_step;
	case PF_KIND_PYTHON:
		*is_on |= !class->is_user_python;
		return *is_on && class->is_user_python;
	default:
		return false;
	}
}

struct pf_names;
struct pf_names *pf_names_new(struct pf_db *db);
void pf_names_free(struct pf_names *n);
PF_FREED(pf_names_free, struct pf_names)

/* Ids of names are below this, but for a damaged database's. */
size_t pf_names_count(const struct pf_names *n);

/* By string.id; NULL on error. */
const struct pf_name_class *pf_names_class(struct pf_names *n, uint32_t name);
/* The kind (enum pf_kind) of events of a type; PF_KIND_COUNT if unknown. */
unsigned pf_names_kind(const struct pf_names *n, uint32_t type);
/* Are they ranges of NVTX, which the program named itself? */
bool pf_names_is_nvtx(const struct pf_names *n, uint32_t type);
/* Was their begin written apart from their end ("B", "E")? */
bool pf_names_is_paired(const struct pf_names *n, uint32_t type);
/* Its text, to be freed by the caller; NULL on error. */
char *pf_names_text_take(struct pf_names *n, uint32_t name);
/*
 * The name of a Python function: "file.py(12): f" becomes "file.py:12 f".  Of
 * "file.py(12): <module>" the line is where it stood when the profiler began,
 * which says nothing of what is in it: "file.py <module>".
 */
void pf_name_as_frame(char *text);
/* Does such a text say a line?  Cells of notebooks are no files. */
bool pf_name_has_line(const char *frame);
char *pf_names_frame_take(struct pf_names *n, uint32_t name);
/*
 * The same, valid as long as the names; NULL of PF_ID_NONE and on error
 * (err->code).  Memory grows with the number of distinct names.
 */
const char *pf_names_frame(struct pf_names *n, uint32_t name);

/*
 * Append a name without what counts steps in it: "train_step 17" becomes
 * "train_step N", the same place in every step.
 */
void pf_name_without_counts(const char *s, struct pf_buf *out);

/*
 * Is a kernel's name that of a graph which was recorded as a whole?  Nsight
 * Systems' are "CUDA graph N", the agent's "graph N" (nsys/, pfr/).
 */
bool pf_name_is_whole_graph(const char *name);

/* Classify a text; pf_names_class() without a database. */
struct pf_name_class pf_name_classify(const char *name);

/* Which kind of event (enum pf_kind) each type of a database is. */

struct pf_kinds {
	unsigned char *of; /* by event_type.id; see below */
	size_t count;
};

/* Zero *k first, and release it also after an error. */
int pf_kinds_load(struct pf_kinds *k, struct pf_db *db, struct pf_err *err);
void pf_kinds_release(struct pf_kinds *k);

/* beside the kind */
#define PF_KINDS_NVTX   0x80
#define PF_KINDS_PAIRED 0x40

/* PF_KIND_COUNT if the type is not known. */
static inline unsigned pf_kinds_at(const struct pf_kinds *k, uint32_t type)
{
	return type < k->count
		       ? k->of[type] & ~(PF_KINDS_NVTX | PF_KINDS_PAIRED)
		       : PF_KIND_COUNT;
}

/* Is it of the category "nvtx", which a program's own ranges have? */
static inline bool pf_kinds_is_nvtx(const struct pf_kinds *k, uint32_t type)
{
	return type < k->count && k->of[type] & PF_KINDS_NVTX;
}

/* Was its begin written apart from its end? */
static inline bool pf_kinds_is_paired(const struct pf_kinds *k, uint32_t type)
{
	return type < k->count && k->of[type] & PF_KINDS_PAIRED;
}

/*
 * What the names of events mean: the rows of data/words.csv, which are the
 * only lists of such names.  They are compiled in, so that asking needs
 * nothing; whoever asks often keeps the answer by string.id.
 */

/* The first column of data/words.csv, in lower case there. */
enum pf_word {
	/* GPU work */
	PF_WORD_COMM_KERNEL, /* communication by its own name */
	PF_WORD_ATEN_KERNEL, /* never communication, whatever launched it */
	PF_WORD_COPY_KERNEL, /* copies that are recorded as kernels */
	PF_WORD_MIGRATION,   /* copies that no call launches */
	PF_WORD_HTOD,        /* ways of copies; in the order of */
	PF_WORD_DTOH,        /* enum pf_copy_way */
	PF_WORD_DTOD,
	PF_WORD_PTOP,
	PF_WORD_COMM_HLO, /* operations of XLA: communication, by their */
	PF_WORD_COPY_HLO, /* names or categories; copies and transfers */
	/* calls of the runtime and the driver */
	PF_WORD_VENDOR, /* how their names begin, with a capital after it */
	PF_WORD_CALL_SYNC,
	PF_WORD_CALL_COPY,
	PF_WORD_CALL_FILL,
	PF_WORD_CALL_BLOCKING, /* of the allocator, and wait for the GPU */
	PF_WORD_CALL_ALLOCATOR,
	PF_WORD_DEVICE_ALLOC, /* memory of a GPU, one block a call */
	PF_WORD_DEVICE_FREE,
	PF_WORD_CALL_MODULE,  /* load code */
	PF_WORD_CALL_GRAPH,   /* launch graphs */
	PF_WORD_CALL_CAPTURE, /* of a graph: begins it, ends it */
	PF_WORD_CALL_STREAM_WAIT,
	PF_WORD_CALL_LAUNCH, /* launch kernels, unless ... */
	PF_WORD_CALL_NO_LAUNCH,
	PF_WORD_CALL_COPIES, /* launch copies or fills */
	/* tasks of NPUs, by their type */
	PF_WORD_NPU_KERNEL,
	PF_WORD_NPU_COPY,
	PF_WORD_NPU_WAIT, /* of one stream for another, or its mark: no work */
	/* overhead records */
	PF_WORD_OVERHEAD_MODULE,
	PF_WORD_OVERHEAD_NONE, /* the GPU has enough to do */
	/* other ranges */
	PF_WORD_COMM_OP,   /* work launched in it is communication; in the
			      order of enum pf_comm_rule */
	PF_WORD_COMM_WAIT, /* the host communicates or waits for it */
	PF_WORD_COMM_HOST, /* ... if it says also that it waits */
	PF_WORD_COMPILE,
	PF_WORD_COMPILER, /* where functions compile that are called so */
	PF_WORD_DATA,     /* load data */
	PF_WORD_GC,
	PF_WORD_PROFILER,  /* functions in which it starts and stops */
	PF_WORD_FREE,      /* memory records that free, also without a size */
	PF_WORD_STEP,      /* of the profiler */
	PF_WORD_OPTIMIZER, /* ranges around an optimizer's work */
	PF_WORD_LIBRARY_RANGE, /* ranges that no program named itself */
	PF_WORD_LIBRARY,       /* Python functions that are not the user's */
	PF_WORD_WAITING,       /* Python functions that wait */
	PF_WORD_ASLEEP,  /* ... for another thread or process: whole words */
	PF_WORD_OF_LOCK, /* ... for a lock, which threads wake each other by */
	PF_WORD_OF_ENGINE,    /* ... for autograd's threads */
	PF_WORD_OF_POOL,      /* ... for those of XLA's runtime */
	PF_WORD_WAKES,        /* ... let go of such a lock */
	PF_WORD_NODE,         /* operators of autograd's threads */
	PF_WORD_WAIT_ALL,     /* calls that wait for all streams, */
	PF_WORD_WAIT_STREAM,  /* for one, */
	PF_WORD_WAIT_EVENT,   /* for what an event marks */
	PF_WORD_EVENT_RECORD, /* calls that mark it */
	PF_WORD_WAIT_RECORD,  /* records of a stream that waits */
	/* operators and functions of torch that advice is about */
	PF_WORD_OP_PRODUCT, /* of batches of matrices */
	PF_WORD_OP_SOFTMAX,
	PF_WORD_OP_POINTWISE,
	PF_WORD_OP_VIEW,  /* moves nothing, or makes room */
	PF_WORD_OP_DENSE, /* products with weights */
	PF_WORD_OP_COPIES,
	PF_WORD_OP_ZEROES,
	PF_WORD_OP_TRIES,  /* algorithms of a convolution, the first time */
	PF_WORD_OP_READS,  /* a result back to the host */
	PF_WORD_OP_ITEM,   /* ... and does nothing else */
	PF_WORD_ITEM,      /* the same of functions */
	PF_WORD_JAX_READS, /* ... of JAX, whose host does not record its waits */
	PF_WORD_MISALIGNED, /* CUTLASS's, of fewer numbers than 16 bytes hold */
	PF_WORD_FUSED,      /* kernels and operators of fused optimizers */
	PF_WORD_CAN_FUSE,   /* optimizers that have a fused kernel */
	PF_WORD_LOADER_ALONE,
	PF_WORD_LOADER_WORKERS,
	PF_WORD_LOADER_STARTS, /* ... begin: functions that start a process */
	PF_WORD_COMPILED,      /* parts of compiled programs */
	PF_WORD_COUNT
};

enum pf_word_match {
	PF_MATCH_BEGINS,
	PF_MATCH_HAS,
	PF_MATCH_LIKE, /* has, in any case */
	/* begins after the vendor: "cudaMalloc"; the first rows of a word */
	PF_MATCH_VERB,
	PF_MATCH_WORD, /* has, between what is no letter, digit or "_" */
	PF_MATCH_IS,
};

/*
 * Does a row of a word fit a name?  1 for the first of its rows, 2 for the
 * second and so on; 0: none.
 */
unsigned pf_word_n(enum pf_word word, const char *name, size_t len);

static inline unsigned pf_word(enum pf_word word, const char *name)
{
	return pf_word_n(word, name, strlen(name));
}

/* ---- the table, for base/words.c ---- */

struct pf_word_row {
	unsigned char word, match, len;
	const char *text;
};

extern const struct pf_word_row pf_word_rows[];
extern const size_t pf_word_row_count;
extern const unsigned short pf_word_first[PF_WORD_COUNT]; /* row of a word */

/* Names of kernels as people read them. */

/*
 * Add a kernel's name without return type, namespaces and parameters:
 * "void at::native::reduce_kernel<512, at::F>(int)" is
 * "reduce_kernel<512, F>".  One that is mangled, with types that the runtime's
 * demangler does not know too, is demangled for it; of one that cannot be
 * demangled it is the innermost name, "kernel<...>".
 */
void pf_kernel_short_name(struct pf_buf *out, const char *name);

/* The same, kept in the arena; the name itself if it has no shorter. */
const char *pf_kernel_short_kept(struct pf_arena *texts, const char *name);

/*
 * Add a text without template arguments: "void f<512, g<int>>(h<int>*)" is
 * "void f(h*)".  Other angle brackets stay ("<module>", "operator<", "->"),
 * so any text may be given.  Of a name that was cut ("f<512, ...") the dots
 * are left.
 */
void pf_kernel_without_templates(struct pf_buf *out, const char *s, size_t len);
