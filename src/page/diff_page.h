/* SPDX-License-Identifier: MIT */
/* A comparison (compare/diff.h) as a page of HTML. */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "compare/diff.h"
#include "page/page.h"
#include "page/timeline.h"
#include "show/doc.h"
#include "page/redact.h"

/*
 * Of what was found, and of its document, which must be settled and have texts
 * as they may be shown; "redact" makes such of those of the former, or NULL.
 * Command: the line that made them; timelines: of both sides, whose names are
 * numbered anew.
 */
int pf_diff_page(const struct pf_diff *diff, const struct pf_doc *doc,
		 const struct pf_redact *redact, const char *command,
		 const struct pf_page_args *args,
		 struct pf_timelines *timelines, struct pf_buf *out,
		 struct pf_err *err);
