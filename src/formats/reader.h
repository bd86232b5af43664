/* SPDX-License-Identifier: MIT */
/*
 * Who makes batches of a file, as those who write them see it: the first
 * member of a reader's own struct.
 */
#ifndef PF_FORMATS_READER_H
#define PF_FORMATS_READER_H

#include "formats/batch.h"

struct pf_reader {
	/* where events go; settle it after each fill() */
	struct pf_parsed *parsed;
	/*
	 * Empty the batch and fill it with about so many events: 1 there may
	 * be more, 0 this was the last, -1 a failure.
	 */
	int (*fill)(struct pf_reader *r, size_t most, struct pf_err *err);
	/* Counts for trace_fact, once all was read; false: no more.  Or NULL. */
	bool (*fact)(struct pf_reader *r, size_t i, char *key, size_t key_size,
		     int64_t *value);
	void (*free)(struct pf_reader *r);
};

struct pf_reader_options {
	bool os_calls;   /* keep calls of the operating system's libraries */
	const char *dir; /* for temporary files */
};

#endif
