/* SPDX-License-Identifier: MIT */
/*
 * What is in a database: its traces and where every event of them went,
 * devices, what the profiler was told, steps, events by category, repairs,
 * storage.
 */
#ifndef PF_ANALYSIS_INFO_H
#define PF_ANALYSIS_INFO_H

#include "base/err.h"
#include "store/db.h"
#include "table/doc.h"

int pf_info(struct pf_db *db, struct pf_doc *doc, struct pf_err *err);

#endif
