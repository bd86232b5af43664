/* SPDX-License-Identifier: MIT */
/*
 * Unlinked temporary files: nothing is left behind however the process ends.
 * Offsets are the caller's; reads and writes are whole or fail (PF_EIO).
 */
#ifndef PF_BASE_TEMPFILE_H
#define PF_BASE_TEMPFILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Where what does not fit in memory goes: $TMPDIR or /tmp. */
const char *pf_temp_dir(void);

/* $TMPDIR if files can be made there, else NULL. */
const char *pf_temp_dir_asked(void);

/* A descriptor of a new file in dir without a name; -1 on failure. */
int pf_tempfile_open(const char *dir, struct pf_err *err);
int pf_tempfile_write(int fd, const void *data, size_t len, uint64_t offset,
		      struct pf_err *err);
int pf_tempfile_read(int fd, void *data, size_t len, uint64_t offset,
		     struct pf_err *err);

/*
 * Bytes that are written once, at the end, and read anywhere: the first "room"
 * of them stay in memory, what is more goes to an unlinked file.  Any thread
 * may add at any time, and read what has been added.
 */
struct pf_scratch {
	char *memory;
	size_t room;
	int fd;
	_Atomic uint64_t len;
};

int pf_scratch_open(struct pf_scratch *s, size_t room, const char *dir,
		    struct pf_err *err);
void pf_scratch_close(struct pf_scratch *s); /* also one that is not open */
/* Where the bytes begin is set in *at. */
int pf_scratch_add(struct pf_scratch *s, const void *data, size_t len,
		   uint64_t *at, struct pf_err *err);
int pf_scratch_read(const struct pf_scratch *s, void *data, size_t len,
		    uint64_t at, struct pf_err *err);

#endif
