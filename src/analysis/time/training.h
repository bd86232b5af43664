/* SPDX-License-Identifier: MIT */
/*
 * What training scripts and exports say beside traces, in tables of its own:
 * RAVE's rows of timing and memory and its summary, and what torch's memory
 * timelines hold by category.  A document without any stays as it is.
 */
#pragma once

#include "base/err.h"
#include "store/db.h"
#include "show/doc.h"

/* Batches as they were timed, and what they come to without the first. */
int pf_training_steps(struct pf_db *db, struct pf_doc *doc);

/* Memory by batch; memory by category at the peak and at the end. */
int pf_training_memory(struct pf_db *db, struct pf_doc *doc);

/*
 * Times of batches of databases without a trace, by path and as they are
 * called, in the order given: 1, or 0 if none has any.
 */
int pf_training_trend(const char *const *paths, char *const *names,
		      size_t count, struct pf_doc *doc, struct pf_err *err);

/* The summary, and how it agrees with the rows. */
int pf_training_summary(struct pf_db *db, struct pf_doc *doc);
