/* SPDX-License-Identifier: MIT */
/*
 * What a report is made of: for each part what was found, and the document
 * that a command shows of it, so that every figure of the page is a figure of
 * that command.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "analysis/advise/advise.h"
#include "analysis/trust/doctor.h"
#include "analysis/trust/info.h"
#include "analysis/time/kernels.h"
#include "analysis/time/launches.h"
#include "analysis/time/overlap.h"
#include "analysis/time/steps.h"
#include "events/window.h"
#include "analysis/idle/gaps.h"
#include "analysis/idle/syncs.h"
#include "analysis/memory/usage.h"
#include "analysis/path/path.h"
#include "torch/averages.h"
#include "analysis/roofline/roofline.h"
#include "base/buf.h"
#include "page/slices.h"
#include "page/redact.h"
#include "store/db.h"
#include "show/doc.h"

enum pf_part {
	PF_PART_INFO,
	PF_PART_STEPS,
	PF_PART_GAPS,
	PF_PART_SYNCS,
	PF_PART_PATH,
	PF_PART_OVERLAP,
	PF_PART_LAUNCHES,
	PF_PART_KERNELS,
	PF_PART_CALLERS, /* kernels by operator */
	PF_PART_OPS,
	PF_PART_ROOFLINE,
	PF_PART_MEMORY,
	PF_PART_MODULES,
	PF_PART_DOCTOR,
	PF_PART_COUNTERS,
	PF_PART_COUNT
};

#define PF_REPORT_ROWS 1000 /* asked of an analysis that can have many */

struct pf_parts {
	/* Texts go through "redact" here, not in what was found. */
	struct pf_doc doc[PF_PART_COUNT];
	struct pf_info info;
	struct pf_step_times steps;
	struct pf_gaps gaps;
	struct pf_syncs syncs;
	struct pf_path path; /* of a single trace */
	struct pf_path_track track;
	struct pf_advise *advise;     /* of all, borrowed */
	struct pf_advise_args judged; /* what it was asked */
	struct pf_overlap overlap;
	struct pf_launches launches;
	struct pf_kernels kernels, callers;
	struct pf_usage memory;
	struct pf_averages averages; /* of the first trace */
	struct pf_doctor doctor;
	struct pf_roofline roofline; /* by operator and shapes */
	struct pf_db beside; /* of the other thread: what it found is of it */
	const struct pf_redact *redact; /* borrowed; NULL: texts as they are */
	struct pf_window_args window;   /* what was asked for */
	struct pf_buf window_text; /* the same as options: " --step 5..10" */
	struct pf_buf steps_text;  /* "5..10", or empty */
	struct pf_buf whole_text;  /* less steps that are cut off; or empty */
	int64_t empty_step_count;  /* steps that hold nothing, around those */
	int64_t cut_step_count;    /* and last ones that are cut off */
	int torch;                 /* release by whose rules: 110; or 0 */
	bool is_torch_said;        /* the trace itself names that release */
	bool ops_by_device;        /* operators are sorted by device time */
	const char *db_name;       /* borrowed: for commands on the page */
	struct pf_window traces;   /* resolved */
	bool no_page;        /* no more is found than verdicts and tiles read */
	bool no_tiles;       /* nor what only those do */
	atomic_uint at_work; /* threads that still gather */
};

/* Other work on the same database, done beside the parts, and what of them. */
struct pf_parts_beside {
	bool no_page;  /* what no verdict or tile reads is left out */
	bool no_tiles; /* and what no verdict does */
	int (*run)(struct pf_db *db, const struct pf_parts *p, void *context);
	void *context;
	struct pf_advise *advise; /* is begun of the same path */
	size_t path_pieces;       /* are taken at most; 0: there is no page */
};

/* A text of what was found as it may be shown, in "out". */
static inline const char *pf_parts_text(const struct pf_parts *p,
					const char *text, struct pf_buf *out)
{
	pf_buf_adds(out, "");
	if (p->redact)
		pf_redact_text(p->redact, text, strlen(text), out);
	else
		pf_buf_adds(out, text);
	return out->data;
}

/* Append the command line that prints a part. */
void pf_parts_command(const struct pf_parts *p, enum pf_part part,
		      struct pf_buf *out);

/* The schema/query/NAME.sql that defines the figures of a part, or NULL. */
const char *pf_parts_query(enum pf_part part);
