/* SPDX-License-Identifier: MIT */
/*
 * A group of slices as bytes for the reader in reports/app.js, all integers
 * little-endian:
 *
 *	 0    4  magic "PFT2"
 *	 4    4  n: slices        8  4  t: tracks
 *	12    1  w: bytes per name, 2 or 4
 *	13    1  flags: 1 cat column, 2 link column; then 2 zero bytes
 *	16    4  eg, 20 4 et: entries in the escape lists of gap and tail
 *	24   8t  tracks: u32 slices, u32 depths
 *	     wn  name      n  depth
 *	     4n  gap, 4n tail: low 32 bits, with sign, ns; in order of name and
 *		 then of slice, since times of one name are alike
 *	      n  cat (flag 1)
 *	     4n  link: slice counted over the groups of its trace, 0xffffffff:
 *		 none (flag 2); the difference to the one before, modulo 2^32
 *	 8eg,8et escapes: u32 slice, u32 high word with sign, ascending: the
 *		 value is high * 2^32 + low
 *
 * Starts and ends are told as one walks the tree of a track: before a slice of
 * depth d all open ones of depth d and more end, the deepest first, and at the
 * end of the track all.  Each end is "tail" after the time told before, each
 * start "gap"; a track begins at 0.  These are a third smaller than differences
 * of starts beside durations.  Where slices overlap a tail is negative.
 *
 * Columns wider than a byte are shuffled: all lowest bytes first, and so on.
 */
#ifndef PF_REPORT_PAYLOAD_H
#define PF_REPORT_PAYLOAD_H

#include "base/buf.h"
#include "base/err.h"
#include "page/slices.h"

/* Append the bytes above. */
void pf_payload_encode(const struct pf_slices *g, unsigned name_bytes,
		       struct pf_buf *out);

/* Append as base64 of one gzip member: the same bytes for the same input. */
int pf_payload_pack(const struct pf_buf *raw, struct pf_buf *out,
		    struct pf_err *err);

#endif
