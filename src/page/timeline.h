/* SPDX-License-Identifier: MIT */
/*
 * The timeline of a page: a place to draw in and the data, as blocks that no
 * browser runs.  Several traces (ranks, or both sides of a comparison) are
 * stacked on one clock, the page's.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "events/window.h"
#include "page/page.h"
#include "page/redact.h"
#include "page/slices.h"

#define PF_TIMELINE_SIDES 2
#define PF_TIMELINE_MARKS 200 /* of all sides */

/* In ns after the first event of its trace. */
struct pf_timeline_span {
	int64_t from_ns, to_ns;
	char *label;
};

struct pf_timeline_spans {
	struct pf_timeline_span *items;
	size_t count, cap;
};

/* One trace. */
struct pf_timeline_side {
	struct pf_timeline slices;
	struct pf_buf key;   /* "r3", "a"; empty if it is the only one */
	struct pf_buf label; /* "rank 3" */
	int64_t shift_ns;    /* its first event on the page's clock; >= 0 */
	struct pf_timeline_spans steps, marks;
};

struct pf_timelines {
	struct pf_timeline_side side[PF_TIMELINE_SIDES];
	size_t count;
	struct pf_buf note; /* HTML: what is shown, and what is not */
	const char *more;   /* HTML: how to get what was too large */
};

/* What helps where both pages have the options of page/page.h. */
#define PF_TIMELINE_MORE                                                       \
	"<code>--timeline full --max-html 64M</code> brings them back"

void pf_timelines_release(struct pf_timelines *all);

/* Is there anything to show? */
bool pf_timelines_have(const struct pf_timelines *all);

/* The label is copied. */
void pf_timeline_add_span(struct pf_timeline_spans *spans, int64_t from_ns,
			  int64_t to_ns, const char *label);

/*
 * Append the section's HTML and the data blocks of at most "room" bytes; what
 * does not fit is left out and named: Python of all sides first, the path and
 * the GPU's last.  Without events there is only a line that says so.  Once: the
 * names of the slices are numbered anew.
 */
int pf_timeline_html(struct pf_timelines *all, int64_t room,
		     struct pf_buf *section, struct pf_buf *data,
		     struct pf_err *err);

/*
 * Both sides of a comparison as one timeline: the first trace of the first
 * capture of each, moved so that their first full steps begin together.
 */

struct pf_diff_timeline_args {
	const char *paths[PF_TIMELINE_SIDES]; /* the databases of A and B */
	size_t captures;                      /* of both sides together */
	const struct pf_window_args *window;
	const struct pf_page_args *page;
	const struct pf_redact *redact;
};

/* *out is to be released, also after a failure. */
int pf_diff_timeline(const struct pf_diff_timeline_args *args,
		     struct pf_timelines *out, struct pf_err *err);
