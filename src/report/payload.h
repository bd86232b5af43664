/* SPDX-License-Identifier: MIT */
/*
 * A group of slices as bytes for the reader in reports/app.js, all integers
 * little-endian:
 *
 *	 0    4  magic "PFT1"
 *	 4    4  n: slices        8  4  t: tracks
 *	12    1  w: bytes per name, 2 or 4
 *	13    1  flags: 1 cat column, 2 link column; then 2 zero bytes
 *	16    4  es, 20 4 ed: entries in the escape lists of start and dur
 *	24   8t  tracks: u32 slices, u32 depths
 *	     4n  start: low 32 bits of the difference to the slice before on the
 *		 same track (the first: to 0), ns
 *	     4n  dur: low 32 bits of the duration, ns
 *	     wn  name      n  depth      n  cat (flag 1)
 *	     4n  link: slice counted over the groups of its trace, 0xffffffff:
 *		 none (flag 2); the difference to the one before, modulo 2^32
 *	 8es,8ed escapes: u32 slice, u32 high word, ascending
 *
 * Columns wider than a byte are shuffled: all lowest bytes first, and so on.
 */
#ifndef PF_REPORT_PAYLOAD_H
#define PF_REPORT_PAYLOAD_H

#include "base/buf.h"
#include "base/err.h"
#include "report/slices.h"

/* Append the bytes above. */
void pf_payload_encode(const struct pf_slices *g, unsigned name_bytes,
		       struct pf_buf *out);

/* Append as base64 of one gzip member: the same bytes for the same input. */
int pf_payload_pack(const struct pf_buf *raw, struct pf_buf *out,
		    struct pf_err *err);

#endif
