/* SPDX-License-Identifier: MIT */
/* What may be asked of a page, be it a report or a comparison. */
#ifndef PF_PAGE_PAGE_ARGS_H
#define PF_PAGE_PAGE_ARGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

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

/* "https://host/path/%f#L%l" and nothing worse; PF_EUSAGE. */
int pf_page_check_url(const char *url, struct pf_err *err);

/*
 * Check what was written, and read max_html, "800K", "8M" or "1G", into
 * max_html_bytes; PF_EUSAGE.
 */
int pf_page_args_read(struct pf_page_args *args, struct pf_err *err);

#endif
