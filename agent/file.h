/* SPDX-License-Identifier: MIT */
/*
 * The capture file: whole frames, one after the other.  Only the writer's
 * thread calls this.  After anything failed nothing is written any more, and
 * what was cut short is cut off.
 */
#ifndef PF_AGENT_FILE_H
#define PF_AGENT_FILE_H

#include "counts.h"
#include "log.h"

#include <limits.h>
#include <sys/types.h>

enum pf_frame {
	PF_FRAME_META = 1,
	PF_FRAME_DEF,
	PF_FRAME_EVENTS,
	PF_FRAME_CLOCK,
	PF_FRAME_INFO,
	PF_FRAME_STAT,
	PF_FRAME_END
};

#define PF_FRAME_MOST 1048576u /* of a payload that is not EVENTS */

struct pf_file {
	char path[PATH_MAX];
	_Atomic int fd; /* -1: none */
	int failed;     /* nothing can be written */
	int warned;     /* the failure was said */
	dev_t device;
	ino_t inode;
	bool regular;
	uint64_t bytes; /* good ones */
	uint32_t frames;
};

/*
 * Is the descriptor still our file, not closed and reused by somebody?  Safe
 * in a forked child.
 */
bool pf_file_ours(const struct pf_file *f);

/* Create the file and write its head.  -1: it cannot be, said once. */
int pf_file_open(struct pf_file *f, struct pf_counts *counts);

/* Write a frame.  -1 if it could not be; counts->truncated says why. */
int pf_file_frame(struct pf_file *f, struct pf_counts *counts,
		  enum pf_frame type, unsigned flags, const void *payload,
		  uint32_t len);

/*
 * Write what a log has from *written on, in frames of whole lines (META,
 * INFO) or whole entries (DEF), and move *written on.
 */
int pf_file_log(struct pf_file *f, struct pf_counts *counts, enum pf_frame type,
		const struct pf_log *log, size_t *written);

#endif
