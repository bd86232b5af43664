/* SPDX-License-Identifier: MIT */
/* Static charts: SVG with colours as attributes, so that they need no CSS. */
#ifndef PF_PAGE_CHART_H
#define PF_PAGE_CHART_H

#include "base/buf.h"
#include "page/gather.h"
#include "page/html.h"

/* The classes of a step as a bar, a chart of the steps, and a table. */
void pf_chart_steps(struct pf_buf *out, const struct pf_html_page *page);

/* Memory of each GPU over time. */
void pf_chart_memory(struct pf_buf *out, const struct pf_html_page *page);

/* Calls against what the GPU can do; nothing where nothing is known. */
void pf_chart_roof(struct pf_buf *out, const struct pf_html_page *page);

/* Rows of a training script in order: times of batches, memory. */
void pf_chart_training(struct pf_buf *out, const struct pf_html_page *page);

/*
 * Tenths of a percent that sum to 1000 if the values sum to "whole": the
 * largest remainders are rounded up.
 */
void pf_chart_tenths(const int64_t *values, size_t count, int64_t whole,
		     int *tenths);

#endif
