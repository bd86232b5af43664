/* SPDX-License-Identifier: MIT */
/* The few figures that a reviewer looks for first. */
#ifndef PF_PAGE_TILES_H
#define PF_PAGE_TILES_H

#include <stddef.h>

#include "base/buf.h"
#include "page/gather.h"
#include "show/doc.h"

struct pf_tile {
	const char *key, *title;
	enum pf_col_kind kind;
	struct pf_cell value; /* a number */
	struct pf_buf detail; /* a few words below it; may be empty */
	const char *link;     /* id of a section */
};

#define PF_TILES 8

struct pf_tiles {
	struct pf_tile tile[PF_TILES];
	size_t count;
};

void pf_tiles_find(const struct pf_parts *p, struct pf_tiles *out);
void pf_tiles_release(struct pf_tiles *t);

/* As scalars of a document. */
void pf_tiles_scalars(const struct pf_tiles *t, struct pf_doc *doc);

#endif
