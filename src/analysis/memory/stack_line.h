/* SPDX-License-Identifier: MIT */
/*
 * Call stacks of memory snapshots (tables stack and stack_frame) in words.  The line
 * of a stack is the innermost one of the user's own Python: a .py file outside
 * torch; where there is none, the innermost line of all.
 */
#ifndef PF_ANALYSIS_MEMORY_STACK_LINE_H
#define PF_ANALYSIS_MEMORY_STACK_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/intern.h"
#include "base/mem.h"
#include "store/db.h"
#include "store/texts.h"
#include "show/doc.h"

/* A zero-initialised struct but for db is ready. */
struct pf_stack_lines {
	struct pf_db *db;
	struct pf_texts texts;
	struct pf_arena arena;
	struct pf_map known; /* stack.id -> text */
	bool has_known;
	sqlite3_stmt *frames;
};

/* "train.py:12:step" by its whole path; NULL on an error. */
const char *pf_stack_line(struct pf_stack_lines *l, int64_t stack,
			  struct pf_err *err);
void pf_stack_lines_release(struct pf_stack_lines *l);

/*
 * All lines of one stack, the innermost first, and what it holds when the
 * snapshot was taken, into a document.  PF_EUSAGE: there is no such stack.
 */
int pf_stack_show(struct pf_db *db, int64_t stack, struct pf_doc *doc,
		  struct pf_err *err);

#endif
