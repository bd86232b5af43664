/* SPDX-License-Identifier: MIT */
/*
 * Figures as a report shows them: three digits that can be read at a glance.
 * The exact value stands beside them in the page (attribute data-v) and in
 * the JSON of the command.
 */
#ifndef PF_PAGE_FIGURE_H
#define PF_PAGE_FIGURE_H

#include <stdint.h>

#include "base/buf.h"
#include "show/doc.h"

/* Appended: 850 ns, 12.3 us, 644 ms, 1.211 s. */
void pf_figure_ns(struct pf_buf *out, int64_t ns);
/* 512 B, 1.6 MiB. */
void pf_figure_bytes(struct pf_buf *out, int64_t bytes);
/* 12.3 %, <0.1 %. */
void pf_figure_ratio(struct pf_buf *out, double ratio);
/* 1,234,567. */
void pf_figure_count(struct pf_buf *out, int64_t n);

/* A number by the kind of its column; nothing for null and texts. */
void pf_figure_cell(struct pf_buf *out, const struct pf_cell *cell,
		    enum pf_col_kind kind);

/* The exact value, as JSON has it. */
void pf_figure_exact(struct pf_buf *out, const struct pf_cell *cell);

#endif
