/* SPDX-License-Identifier: MIT */
/*
 * What the names of events mean: the rows of data/words.csv, which are the
 * only lists of such names.  They are compiled in, so that asking needs
 * nothing; whoever asks often keeps the answer by string.id.
 */
#ifndef PF_EVENTS_WORDS_H
#define PF_EVENTS_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* The first column of data/words.csv, in lower case there. */
enum pf_word {
	/* GPU work */
	PF_WORD_COMM_KERNEL, /* communication by its own name */
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
	PF_WORD_CALL_MODULE, /* load code */
	PF_WORD_CALL_GRAPH,  /* launch graphs */
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
	PF_WORD_FREE,      /* memory records that free, also without a size */
	PF_WORD_STEP,      /* of the profiler */
	PF_WORD_OPTIMIZER, /* ranges around an optimizer's work */
	PF_WORD_LIBRARY,   /* Python functions that are not the user's */
	PF_WORD_WAITING,   /* Python functions that wait */
	PF_WORD_ASLEEP,    /* ... for another thread or process: whole words */
	PF_WORD_WAIT_ALL,  /* calls that wait for all streams, */
	PF_WORD_WAIT_STREAM,  /* for one, */
	PF_WORD_WAIT_EVENT,   /* for what an event marks */
	PF_WORD_EVENT_RECORD, /* calls that mark it */
	PF_WORD_WAIT_RECORD,  /* records of a stream that waits */
	PF_WORD_COUNT
};

enum pf_word_match {
	PF_MATCH_BEGINS,
	PF_MATCH_HAS,
	PF_MATCH_LIKE, /* has, in any case */
	/* begins after the vendor: "cudaMalloc"; the first rows of a word */
	PF_MATCH_VERB,
	PF_MATCH_WORD, /* has, between what is no letter, digit or "_" */
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

/* ---- the table, for words.c ---- */

struct pf_word_row {
	unsigned char word, match, len;
	const char *text;
};

extern const struct pf_word_row pf_word_rows[];
extern const size_t pf_word_row_count;
extern const unsigned short pf_word_first[PF_WORD_COUNT]; /* row of a word */

#endif
