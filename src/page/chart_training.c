/* SPDX-License-Identifier: MIT */
/*
 * A column is a row of a table of the page, or the highest of several; rows of
 * several traces have no order in time, so there is no chart of them.
 */
#include "config.h"

#include "page/chart.h"
#include "page/figure.h"
#include "show/find.h"

#define COLUMNS_MAX 120
#define COLUMNS_MIN 4 /* fewer are read better in the table */

struct bars {
	const struct pf_table *t;
	size_t rows, columns;
	size_t known; /* rows that say it */
	int64_t top;
};

static bool is_of_one_trace(const struct pf_table *t)
{
	for (size_t i = 1; i < pf_table_rows(t); i++)
		if (pf_table_int_at(t, i, "trace_id") !=
		    pf_table_int_at(t, 0, "trace_id"))
			return false;
	return true;
}

static int64_t highest(const struct bars *b, const char *key, size_t from,
		       size_t to)
{
	int64_t most = 0;

	for (size_t i = from; i < to; i++)
		if (pf_table_int_at(b->t, i, key) > most)
			most = pf_table_int_at(b->t, i, key);
	return most;
}

static void add_bars(struct pf_buf *out, const struct bars *b, const char *key,
		     const char *colour)
{
	double pitch = 1000.0 / (double)b->columns;

	for (size_t c = 0; c < b->columns; c++) {
		int64_t value = highest(b, key, c * b->rows / b->columns,
					(c + 1) * b->rows / b->columns);
		double height = 100.0 * (double)value / (double)b->top;

		if (height >= 0.15)
			pf_buf_addf(
				out,
				"<rect x=\"%.1f\" y=\"%.2f\" width=\"%.1f\" "
				"height=\"%.2f\" fill=\"%s\"/>",
				(double)c * pitch, 100 - height,
				pitch - (pitch > 6 ? 2 : 0.5), height, colour);
	}
}

/* Is there anything to draw?  Columns are as high as "key" says at most. */
static bool begin(struct bars *b, const struct pf_table *t, const char *key)
{
	*b = (struct bars){ .t = t, .rows = pf_table_rows(t) };
	b->columns = b->rows < COLUMNS_MAX ? b->rows : COLUMNS_MAX;
	for (size_t i = 0; i < b->rows; i++)
		b->known += pf_table_at(t, i, key) != NULL;
	if (b->known >= COLUMNS_MIN && is_of_one_trace(t))
		b->top = highest(b, key, 0, b->rows);
	return b->top > 0;
}

/* What it is stands twice: for those who do not see it, and below. */
static void add_figure(struct pf_buf *out, const struct bars *b,
		       const struct pf_buf *words, const struct pf_buf *bars)
{
	pf_buf_addf(out,
		    "<figure><svg class=steps viewBox=\"0 0 1000 100\" "
		    "preserveAspectRatio=none role=img aria-label=\"%s\">%s"
		    "</svg><figcaption>%s%s</figcaption></figure>\n",
		    words->data, bars->data, words->data,
		    b->columns < b->rows
			    ? "; each column is the highest of several"
			    : "");
}

static void add_times(struct pf_buf *out, const struct pf_html_page *page)
{
	struct pf_buf words = { 0 }, shapes = { 0 };
	struct bars b;

	if (!begin(&b,
		   pf_doc_find_table(&page->parts->doc[PF_PART_STEPS],
				     "training_batches"),
		   "batch_ns"))
		return;
	add_bars(&shapes, &b, "batch_ns", "#3f84c8");
	pf_figure_count(&words, (int64_t)b.known);
	pf_buf_adds(&words, " timed batches in order, height is the time, the "
			    "longest ");
	pf_figure_ns(&words, b.top);
	add_figure(out, &b, &words, &shapes);
	pf_buf_release(&words);
	pf_buf_release(&shapes);
}

static void add_memory(struct pf_buf *out, const struct pf_html_page *page)
{
	struct pf_buf words = { 0 }, shapes = { 0 };
	struct bars b;

	if (!begin(&b,
		   pf_doc_find_table(&page->parts->doc[PF_PART_MEMORY],
				     "training_memory"),
		   "reserved_bytes"))
		return;
	add_bars(&shapes, &b, "reserved_bytes", "#7fbf86");
	add_bars(&shapes, &b, "allocated_bytes", "#3f9a4a");
	pf_buf_adds(&words, "memory of the GPU before those batches: reserved, "
			    "at most ");
	pf_figure_bytes(&words, b.top);
	pf_buf_adds(&words, ", and in front of it allocated, at most ");
	pf_figure_bytes(&words, highest(&b, "allocated_bytes", 0, b.rows));
	add_figure(out, &b, &words, &shapes);
	pf_buf_release(&words);
	pf_buf_release(&shapes);
}

void pf_chart_training(struct pf_buf *out, const struct pf_html_page *page)
{
	add_times(out, page);
	add_memory(out, page);
}
