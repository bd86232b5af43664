/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "report/chart.h"
#include "report/figure.h"
#include "table/find.h"

#define COLUMNS_MAX 120 /* of the chart of steps */
#define COLUMNS_MIN 4   /* fewer are read better in the table */
#define CLASSES     8

static const struct {
	const char *name, *title, *column, *colour;
} classes[CLASSES] = {
	{ "kernel", "Kernels", "kernel_ns", "#3f84c8" },
	{ "copy", "Copies", "copy_ns", "#3f9a4a" },
	{ "memset", "Memsets", "memset_ns", "#7fbf86" },
	{ "comm", "Communication", "comm_ns", "#c26f1f" },
	{ "runtime", "Runtime calls", "runtime_ns", "#9c7350" },
	{ "data", "Data loading", "data_ns", "#c75d68" },
	{ "cpu", "CPU operators", "cpu_ns", "#8a70c0" },
	{ "other", "Other", "other_ns", "#7d7d7d" },
};

void pf_chart_tenths(const int64_t *values, size_t count, int64_t whole,
		     int *tenths)
{
	int sum = 0, want;
	int64_t total = 0;

	for (size_t i = 0; i < count; i++) {
		tenths[i] = whole > 0 ? (int)((double)values[i] * 1000 /
					      (double)whole)
				      : 0;
		sum += tenths[i];
		total += values[i];
	}
	if (whole <= 0)
		return;
	want = (int)((double)total * 1000 / (double)whole + 0.5);
	while (sum < want) {
		size_t best = 0;
		double most = -1;

		for (size_t i = 0; i < count; i++) {
			double rest = (double)values[i] * 1000 / (double)whole -
				      tenths[i];

			if (rest > most) {
				most = rest;
				best = i;
			}
		}
		if (most <= 0)
			return;
		tenths[best]++;
		sum++;
	}
}

/* ---- one bar ---- */

static void add_bar(struct pf_buf *out, const int64_t ns[CLASSES],
		    int64_t whole, const int tenths[CLASSES])
{
	double at = 0;

	pf_buf_adds(out, "<svg class=bar viewBox=\"0 0 1000 28\" "
			 "preserveAspectRatio=none role=img aria-label=\"");
	for (size_t i = 0; i < CLASSES; i++)
		if (ns[i])
			pf_buf_addf(out, "%s%s %d.%d %%", at > 0 ? ", " : "",
				    classes[i].title, tenths[i] / 10,
				    tenths[i] % 10),
				at = 1;
	pf_buf_adds(out, "\">");
	at = 0;
	for (size_t i = 0; i < CLASSES; i++) {
		double width = 1000.0 * (double)ns[i] / (double)whole;

		if (ns[i] && width >= 0.2)
			pf_buf_addf(out,
				    "<rect x=\"%.2f\" width=\"%.2f\" "
				    "height=\"28\" fill=\"%s\"/>",
				    at, width > 1.5 ? width - 1 : width,
				    classes[i].colour);
		at += width;
	}
	pf_buf_adds(out, "</svg>\n");
}

/* ---- all steps ---- */

/* One column: the classes stacked, kernels at the bottom. */
static void add_column(struct pf_buf *out, const struct pf_table *t, size_t row,
		       int64_t longest, double x, double width)
{
	double y = 100;

	for (size_t i = 0; i < CLASSES; i++) {
		int64_t ns = pf_table_int_at(t, row, classes[i].column);
		double height = 100.0 * (double)ns / (double)longest;

		y -= height;
		if (height >= 0.15)
			pf_buf_addf(out,
				    "<rect x=\"%.1f\" y=\"%.2f\" width=\"%.1f"
				    "\" height=\"%.2f\" fill=\"%s\"/>",
				    x, y, width, height, classes[i].colour);
	}
}

static size_t slowest(const struct pf_table *t, size_t from, size_t to)
{
	size_t best = from;

	for (size_t r = from + 1; r < to; r++)
		if (pf_table_int_at(t, r, "dur_ns") >
		    pf_table_int_at(t, best, "dur_ns"))
			best = r;
	return best;
}

static void add_steps(struct pf_buf *out, const struct pf_table *t)
{
	size_t rows = pf_table_rows(t);
	size_t columns = rows < COLUMNS_MAX ? rows : COLUMNS_MAX;
	int64_t longest = pf_table_int_at(t, slowest(t, 0, rows), "dur_ns");
	double pitch = 1000.0 / (double)columns;
	double gap = pitch > 6 ? 2 : 0.5;

	if (longest <= 0)
		return;
	pf_buf_adds(out, "<figure><svg class=steps viewBox=\"0 0 1000 100\" "
			 "preserveAspectRatio=none role=img aria-label=\"");
	pf_figure_count(out, (int64_t)rows);
	pf_buf_adds(out, " steps, the longest ");
	pf_figure_ns(out, longest);
	pf_buf_adds(out, "\">");
	for (size_t c = 0; c < columns; c++) {
		size_t row = slowest(t, c * rows / columns,
				     (c + 1) * rows / columns);

		add_column(out, t, row, longest, (double)c * pitch,
			   pitch - gap);
	}
	pf_buf_adds(out, "</svg><figcaption>");
	pf_figure_count(out, (int64_t)rows);
	pf_buf_adds(out, " steps in order, height is duration, the longest ");
	pf_figure_ns(out, longest);
	if (columns < rows)
		pf_buf_adds(out, "; each column is the longest of several");
	pf_buf_adds(out, "</figcaption></figure>\n");
}

/* ---- the table beside them ---- */

/* With one step there is nothing to average. */
static size_t columns_shown(const struct pf_table *steps)
{
	return pf_table_rows(steps) > 1 ? 4 : 2;
}

/* What sums to 100.0 %; of a class that there is it never says 0. */
static void add_tenths(struct pf_buf *out, const struct pf_cell *share,
		       int tenths)
{
	if (!tenths && pf_cell_real(share) > 0)
		pf_buf_adds(out, "&lt;0.1 %");
	else
		pf_buf_addf(out, "%d.%d %%", tenths / 10, tenths % 10);
}

static void add_row(struct pf_buf *out, const struct pf_table *t, size_t row,
		    size_t class, int tenths, size_t columns)
{
	static const char *const keys[] = { "mean_ns", "share", "p50_ns",
					    "max_ns" };

	pf_buf_addf(out,
		    "<tr><th scope=row><svg class=k width=10 height=10 "
		    "aria-hidden=true><rect width=\"10\" height=\"10\" "
		    "rx=\"2\" fill=\"%s\"/></svg>%s",
		    classes[class].colour, classes[class].title);
	for (size_t k = 0; k < columns; k++) {
		const struct pf_cell *cell = pf_table_at(t, row, keys[k]);

		pf_buf_adds(out, "<td data-v=");
		if (cell)
			pf_figure_exact(out, cell);
		pf_buf_addc(out, '>');
		if (k == 1)
			add_tenths(out, cell, tenths);
		else
			pf_figure_cell(out, cell, PF_NS);
	}
	pf_buf_addc(out, '\n');
}

static void add_classes(struct pf_buf *out, const struct pf_table *t,
			const struct pf_table *steps, const int tenths[CLASSES])
{
	size_t columns = columns_shown(steps);

	pf_buf_addf(out,
		    "<div class=t><table id=classes data-q=step_classes>"
		    "<caption class=h>Time of a step by class</caption><thead>"
		    "<tr><th scope=col data-k=class>Class</th>"
		    "<th scope=col class=n data-k=mean_ns>%s</th>"
		    "<th scope=col class=n data-k=share>Share</th>%s"
		    "</tr></thead>\n<tbody>",
		    columns > 2 ? "Mean" : "Time",
		    columns > 2 ? "<th scope=col class=n data-k=p50_ns>Median"
				  "</th><th scope=col class=n data-k=max_ns>"
				  "Longest</th>"
				: "");
	for (size_t i = 0; i < CLASSES; i++) {
		int64_t row = pf_table_find_row(t, "class", classes[i].name);

		if (row >= 0 && pf_table_int_at(t, (size_t)row, "max_ns"))
			add_row(out, t, (size_t)row, i, tenths[i], columns);
	}
	pf_buf_adds(out, "</tbody></table></div>\n");
}

void pf_chart_steps(struct pf_buf *out, const struct pf_html_page *page)
{
	const struct pf_doc *doc = &page->parts->doc[PF_PART_STEPS];
	const struct pf_table *t = pf_doc_find_table(doc, "classes");
	const struct pf_table *steps = pf_doc_find_table(doc, "steps");
	int64_t ns[CLASSES], whole = 0;
	int tenths[CLASSES];

	for (size_t i = 0; i < CLASSES; i++) {
		ns[i] = 0;
		for (size_t r = 0; r < pf_table_rows(steps); r++)
			ns[i] += pf_table_int_at(steps, r, classes[i].column);
		whole += ns[i];
	}
	if (whole <= 0)
		return;
	pf_chart_tenths(ns, CLASSES, whole, tenths);
	add_bar(out, ns, whole, tenths);
	pf_buf_adds(out, "<div class=split>\n");
	if (pf_table_rows(steps) >= COLUMNS_MIN)
		add_steps(out, steps);
	add_classes(out, t, steps, tenths);
	pf_buf_adds(out, "</div>\n");
}
