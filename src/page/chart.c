/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>

#include "page/chart.h"
#include "page/figure.h"

#define COLUMNS_MAX 120 /* of the chart of steps */
#define COLUMNS_MIN 4   /* fewer are read better in the table */
#define CLASSES     PF_STEP_CLASSES

static const struct {
	const char *title, *colour;
} classes[CLASSES] = {
	[PF_STEP_KERNEL] = { "Kernels", "#3f84c8" },
	[PF_STEP_COPY] = { "Copies", "#3f9a4a" },
	[PF_STEP_MEMSET] = { "Memsets", "#7fbf86" },
	[PF_STEP_COMM] = { "Communication", "#c26f1f" },
	[PF_STEP_RUNTIME] = { "Runtime calls", "#9c7350" },
	[PF_STEP_DATA] = { "Data loading", "#c75d68" },
	[PF_STEP_CPU] = { "CPU operators", "#8a70c0" },
	[PF_STEP_OTHER] = { "Other", "#7d7d7d" },
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
static void add_column(struct pf_buf *out, const struct pf_step_time *step,
		       int64_t longest, double x, double width)
{
	double y = 100;

	for (size_t i = 0; i < CLASSES; i++) {
		double height =
			100.0 * (double)step->class_ns[i] / (double)longest;

		y -= height;
		if (height >= 0.15)
			pf_buf_addf(out,
				    "<rect x=\"%.1f\" y=\"%.2f\" width=\"%.1f"
				    "\" height=\"%.2f\" fill=\"%s\"/>",
				    x, y, width, height, classes[i].colour);
	}
}

static const struct pf_step_time *slowest(const struct pf_step_times *s,
					  size_t from, size_t to)
{
	const struct pf_step_time *best = &s->steps[from];

	for (size_t i = from + 1; i < to; i++)
		if (s->steps[i].dur_ns > best->dur_ns)
			best = &s->steps[i];
	return best;
}

static void add_steps(struct pf_buf *out, const struct pf_step_times *s)
{
	size_t rows = s->count;
	size_t columns = rows < COLUMNS_MAX ? rows : COLUMNS_MAX;
	int64_t longest = slowest(s, 0, rows)->dur_ns;
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
		const struct pf_step_time *step = slowest(
			s, c * rows / columns, (c + 1) * rows / columns);

		add_column(out, step, longest, (double)c * pitch, pitch - gap);
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
static size_t columns_shown(const struct pf_step_times *s)
{
	return s->count > 1 ? 4 : 2;
}

/* What sums to 100.0 %; of a class that there is it never says 0. */
static void add_tenths(struct pf_buf *out, double share, int tenths)
{
	if (!tenths && share > 0)
		pf_buf_adds(out, "&lt;0.1 %");
	else
		pf_buf_addf(out, "%d.%d %%", tenths / 10, tenths % 10);
}

static void add_row(struct pf_buf *out, const struct pf_step_spread *class,
		    size_t which, int tenths, size_t columns)
{
	const int64_t ns[] = { class->mean_ns, 0, class->p50_ns,
			       class->max_ns };

	pf_buf_addf(out,
		    "<tr><th scope=row><svg class=k width=10 height=10 "
		    "aria-hidden=true><rect width=\"10\" height=\"10\" "
		    "rx=\"2\" fill=\"%s\"/></svg>%s",
		    classes[which].colour, classes[which].title);
	for (size_t k = 0; k < columns; k++) {
		struct pf_cell cell = { PF_CELL_INT, { .i = ns[k] } };

		if (k == 1)
			cell = (struct pf_cell){ PF_CELL_REAL,
						 { .d = class->share } };
		pf_buf_adds(out, "<td data-v=");
		pf_figure_exact(out, &cell);
		pf_buf_addc(out, '>');
		if (k == 1)
			add_tenths(out, class->share, tenths);
		else
			pf_figure_ns(out, ns[k]);
	}
	pf_buf_addc(out, '\n');
}

static void add_classes(struct pf_buf *out, const struct pf_step_times *s,
			const int tenths[CLASSES])
{
	size_t columns = columns_shown(s);

	pf_buf_addf(out,
		    "<div class=t><table id=classes%s>"
		    "<caption class=h>Time of a step by class</caption><thead>"
		    "<tr><th scope=col data-k=class>Class</th>"
		    "<th scope=col class=n data-k=mean_ns>%s</th>"
		    "<th scope=col class=n data-k=share>Share</th>%s"
		    "</tr></thead>\n<tbody>",
		    s->window.is_tpu ? "" : " data-q=step_classes",
		    columns > 2 ? "Mean" : "Time",
		    columns > 2 ? "<th scope=col class=n data-k=p50_ns>Median"
				  "</th><th scope=col class=n data-k=max_ns>"
				  "Longest</th>"
				: "");
	for (size_t i = 0; i < CLASSES; i++)
		if (s->classes[i].max_ns)
			add_row(out, &s->classes[i], i, tenths[i], columns);
	pf_buf_adds(out, "</tbody></table></div>\n");
}

void pf_chart_steps(struct pf_buf *out, const struct pf_html_page *page)
{
	const struct pf_step_times *s = &page->parts->steps;
	int64_t ns[CLASSES], whole = 0;
	int tenths[CLASSES];

	for (size_t i = 0; i < CLASSES; i++) {
		ns[i] = 0;
		for (size_t k = 0; k < s->count; k++)
			ns[i] += s->steps[k].class_ns[i];
		whole += ns[i];
	}
	if (whole <= 0)
		return;
	pf_chart_tenths(ns, CLASSES, whole, tenths);
	add_bar(out, ns, whole, tenths);
	pf_buf_adds(out, "<div class=split>\n");
	if (s->count >= COLUMNS_MIN)
		add_steps(out, s);
	add_classes(out, s, tenths);
	pf_buf_adds(out, "</div>\n");
}
