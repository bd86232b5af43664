/* SPDX-License-Identifier: MIT */
/*
 * Do calls that launch GPU work return only when it is done?  Names of calls
 * say who waits where runtimes are known; of others their times do.  What
 * decides it is in events/by_event.h: the path asks it of its own window.
 */
#ifndef PF_ANALYSIS_IDLE_HELD_H
#define PF_ANALYSIS_IDLE_HELD_H

#include "base/err.h"
#include "events/by_event.h"
#include "events/window.h"
#include "store/db.h"
#include "show/doc.h"

int pf_held_find(struct pf_db *db, const struct pf_window *window,
		 struct pf_held *out, struct pf_err *err);

/* The sentence of a trace in which no call waits by its name. */
void pf_held_say(const struct pf_held *h, struct pf_doc *doc);

#endif
