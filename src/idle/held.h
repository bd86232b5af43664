/* SPDX-License-Identifier: MIT */
/*
 * Do calls that launch GPU work return only when it is done?  Names of calls
 * say who waits where runtimes are known; of others their times do.
 */
#ifndef PF_IDLE_HELD_H
#define PF_IDLE_HELD_H

#include <stdint.h>

#include "base/err.h"
#include "events/window.h"
#include "store/db.h"
#include "table/doc.h"

struct pf_held {
	int64_t call_count, call_ns; /* that launched work of the window */
	int64_t work_ns;             /* their work, summed up */
	int64_t inside_ns; /* of it while the call that launched it ran */
};

int pf_held_find(struct pf_db *db, const struct pf_window *window,
		 struct pf_held *out, struct pf_err *err);

/* The sentence of a trace in which no call waits by its name. */
void pf_held_say(const struct pf_held *h, struct pf_doc *doc);

#endif
