/* SPDX-License-Identifier: MIT */
/*
 * What every page needs: its options, its skeleton, and data packed for the
 * program in it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/opt.h"
#include "page/slices.h"

/* What may be asked of a page, be it a report or a comparison. */

struct pf_page_args {
	const char *max_html;   /* as it was written, or NULL */
	const char *source_url; /* "https://host/%f#L%l", or NULL */
	int64_t max_html_bytes;
	int timeline; /* enum pf_timeline_want; not NONE: load it */
	int names;    /* enum pf_page_names */
	bool redact;
};

/* Names of kernels whole, or without their template arguments. */
enum pf_page_names { PF_NAMES_FULL, PF_NAMES_SHORT };
#define PF_PAGE_NAMES_WORDS "full|short"

#define PF_PAGE_MAX_HTML (8 << 20)

/*
 * Check what was written, and read max_html, "800K", "8M" or "1G", into
 * max_html_bytes; PF_EUSAGE.
 */
int pf_page_args_read(struct pf_page_args *args, struct pf_err *err);

/* Options of commands that write a page. */

/* Rows that write to the struct pf_page_args "field" of a type. */
/* clang-format off */
#define PF_PAGE_OPTS(type, field)                                              \
	{ 0, "timeline", PF_TIMELINE_WORDS,                                    \
	  "what the timeline of a page shows",                                 \
	  PF_OPT_CHOICE, offsetof(type, field.timeline), 0, 0 },               \
	{ 0, "max-html", "SIZE",                                               \
	  "leave parts of the timeline out above this (8M)",                   \
	  PF_OPT_STRING, offsetof(type, field.max_html), 0, 0 },               \
	{ 0, "names", PF_PAGE_NAMES_WORDS,                                     \
	  "names of kernels; short: without template arguments",               \
	  PF_OPT_CHOICE, offsetof(type, field.names), 0, 0 },                  \
	{ 0, "redact", NULL,                                                   \
	  "drop names of people, machines and folders",                        \
	  PF_OPT_FLAG, offsetof(type, field.redact), 0, 0 },                   \
	{ 0, "source-url", "URL",                                              \
	  "link lines of code: https://host/path/%f#L%l",                      \
	  PF_OPT_STRING, offsetof(type, field.source_url), 0, 0 }
/* clang-format on */

#define PF_PAGE_DEFAULTS                                                       \
	{                                                                      \
		.max_html_bytes = PF_PAGE_MAX_HTML                             \
	}

/*
 * Filling in the skeleton of a page (reports/page.html): each {{slot}} is
 * replaced by HTML that is ready.  The policy is made here from the bytes of
 * the style sheet and the program, so that it holds for these and no others.
 */

/*
 * The slots, by their names.  What may be missing has its markup with it:
 * fine, a section, and the link to it.
 */
struct pf_skeleton {
	struct pf_buf title, header, nav, fine_link;
	struct pf_buf verdicts_title, verdicts, tiles;
	struct pf_buf breakdown_title, breakdown, sections, timeline;
	struct pf_buf fine, method, data;
	/* filled in here */
	struct pf_buf style, script, policy, generator;
};

#define PF_FILL_BYTES (64 << 10) /* skeleton, style and program, at most */

/* What the page takes, at most, with the slots as they are. */
int64_t pf_fill_bytes(const struct pf_skeleton *s);

/*
 * Append the page.  A slot that is unknown, or one that the skeleton does not
 * use, is PF_EDATA.
 */
int pf_fill(struct pf_skeleton *s, struct pf_buf *out, struct pf_err *err);

void pf_fill_release(struct pf_skeleton *s);

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

/* Append the bytes above. */
void pf_payload_encode(const struct pf_slices *g, unsigned name_bytes,
		       struct pf_buf *out);

/* Append as base64 of one gzip member: the same bytes for the same input. */
int pf_payload_pack(const struct pf_buf *raw, struct pf_buf *out,
		    struct pf_err *err);

/* Base64 (RFC 4648) with padding and without line breaks. */

/* Append "len" bytes; pieces of one text must be multiples of 3 long. */
void pf_base64(struct pf_buf *out, const void *data, size_t len);

/*
 * SHA-256 (FIPS 180-4) of bytes in memory: fingerprints of texts that a page
 * vouches for.
 */

/*
 * Tenths of a percent that sum to 1000 if the values sum to "whole": the
 * largest remainders are rounded up.
 */
void pf_chart_tenths(const int64_t *values, size_t count, int64_t whole,
		     int *tenths);
