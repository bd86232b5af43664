/* SPDX-License-Identifier: MIT */
/*
 * Filling in the skeleton of a page (reports/NAME.html): each {{slot}} is
 * replaced by HTML that is ready.  The policy is made here from the bytes of
 * the style sheet and the program, so that it holds for these and no others.
 */
#ifndef PF_REPORT_FILL_H
#define PF_REPORT_FILL_H

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct pf_slot {
	const char *name;
	const struct pf_buf *html;
};

#define PF_FILL_BYTES (64 << 10) /* skeleton, style and program, at most */

/* What the page takes, at most, with the slots as they are. */
int64_t pf_fill_bytes(const struct pf_slot *slots);

/*
 * Append the page.  Slots end with name NULL; style, script, policy and
 * generator are known besides.  A slot that is unknown, or one that the
 * skeleton does not use, is PF_EDATA.
 */
int pf_fill(const char *skeleton, const struct pf_slot *slots,
	    struct pf_buf *out, struct pf_err *err);

#endif
