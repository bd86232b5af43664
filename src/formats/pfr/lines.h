/* SPDX-License-Identifier: MIT */
/*
 * The text frames of a .pfr file: META, INFO and STAT are lines "key=value"
 * of which the last one of a key holds.  Memory is bounded: lines past the
 * limits are left out and counted.
 */
#ifndef PF_FORMATS_PFR_LINES_H
#define PF_FORMATS_PFR_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pf_pfr_line {
	char *key, *value; /* NUL-terminated; the value may hold NULs too */
	size_t value_len;
};

struct pf_pfr_lines {
	struct pf_pfr_line *items; /* by key */
	size_t count, cap, bytes;
	int64_t left_out;
};

void pf_pfr_lines_release(struct pf_pfr_lines *l);
void pf_pfr_lines_add(struct pf_pfr_lines *l, const unsigned char *p,
		      size_t len);

/* NULL if there is none. */
const struct pf_pfr_line *pf_pfr_line_of(const struct pf_pfr_lines *l,
					 const char *key);
/* Is there one, and is it a decimal number of at most 18 digits? */
bool pf_pfr_line_int(const struct pf_pfr_lines *l, const char *key,
		     int64_t *out);

#endif
