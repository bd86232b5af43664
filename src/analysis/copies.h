/* SPDX-License-Identifier: MIT */
/*
 * Copies by direction and kinds of memory, as their names say:
 * "Memcpy HtoD (Pageable -> Device)".
 */
#ifndef PF_ANALYSIS_COPIES_H
#define PF_ANALYSIS_COPIES_H

#include "events/gpu.h"
#include "base/err.h"
#include "table/doc.h"

enum pf_copy_way {
	PF_COPY_HTOD,
	PF_COPY_DTOH,
	PF_COPY_DTOD,
	PF_COPY_PTOP,
	PF_COPY_OTHER, /* the name does not say */
	PF_COPY_WAYS
};

/* "HtoD", "DtoH", "DtoD", "PtoP", "other". */
const char *pf_copy_way_name(enum pf_copy_way way);
enum pf_copy_way pf_copy_find_way(const char *name);

struct pf_copies;
struct pf_copies *pf_copies_new(void);
void pf_copies_free(struct pf_copies *c);

/* Add an event of class PF_GPU_COPY that came from gpu. */
int pf_copies_add(struct pf_copies *c, struct pf_gpu *gpu,
		  const struct pf_gpu_event *ev, enum pf_copy_way *way,
		  struct pf_err *err);

/* Add the table "copies". */
void pf_copies_show(struct pf_copies *c, struct pf_doc *doc);

#endif
