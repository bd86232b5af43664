/* SPDX-License-Identifier: MIT */
/*
 * Copies by direction and kinds of memory, as their names say:
 * "Memcpy HtoD (Pageable -> Device)".
 */
#ifndef PF_ANALYSIS_TIME_COPIES_H
#define PF_ANALYSIS_TIME_COPIES_H

#include "events/gpu.h"
#include "base/err.h"
#include "show/doc.h"

struct pf_copies;
struct pf_copies *pf_copies_new(void);
void pf_copies_free(struct pf_copies *c);

/* Add an event of class PF_GPU_COPY that came from gpu. */
int pf_copies_add(struct pf_copies *c, struct pf_gpu *gpu,
		  const struct pf_gpu_event *ev, struct pf_err *err);

/* Add the table "copies". */
void pf_copies_show(struct pf_copies *c, struct pf_doc *doc);

#endif
