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

/* A descriptor of a new file in dir without a name; -1 on failure. */
int pf_tempfile_open(const char *dir, struct pf_err *err);
int pf_tempfile_write(int fd, const void *data, size_t len, uint64_t offset,
		      struct pf_err *err);
int pf_tempfile_read(int fd, void *data, size_t len, uint64_t offset,
		     struct pf_err *err);

#endif
