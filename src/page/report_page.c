/* SPDX-License-Identifier: MIT */
/*
 * What a report says, as a page and, of its verdicts and tiles, as Markdown.
 * What each section of the page shows is these tables, and nothing else is
 * code.
 */
#include "config.h"

#include "page/report.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/asset.h"
#include "base/buf.h"
#include "base/path.h"
#include "base/utf8.h"
#include "events/names.h"
#include "page/html.h"
#include "page/page.h"
#include "page/timeline.h"
#include "show/doc.h"
#include "show/escape.h"

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
	[PF_STEP_CPU] = { "CPU operators, ranges", "#8a70c0" },
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

/* The classes of a step as a bar, a chart of the steps, and a table. */
static void chart_steps(struct pf_buf *out, const struct pf_html_page *page)
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

/*
 * Each point of the curve is drawn from its lowest to its highest value, so
 * that no peak is lost however many records a point stands for.
 */

/* Of the picture's own units: whole ones are fine enough. */
#define WIDTH  1000
#define HEIGHT 1600

struct curve {
	const struct pf_usage *usage;
	const struct pf_usage_device *device;
	int64_t from, to, top_bytes; /* times, or entries (usage.h) */
	size_t count;
};

/* Of points: what a line is of. */
#define MEMBER(name) offsetof(struct pf_usage_point, name)

static int64_t member(const struct pf_usage_point *point, size_t at)
{
	return *(const int64_t *)((const char *)point + at);
}

static bool is_mine(const struct curve *c, const struct pf_usage_point *point)
{
	return point->at.device == c->device->at.device;
}

static int64_t place_of(const struct pf_usage_point *point)
{
	return point->at.is_untimed ? point->entry : point->time_ns;
}

static void measure(struct curve *c)
{
	c->from = INT64_MAX;
	c->to = INT64_MIN;
	for (size_t i = 0; i < c->usage->point_count; i++) {
		const struct pf_usage_point *point = &c->usage->curve[i];

		if (!is_mine(c, point))
			continue;
		PF_AT_MOST(c->from, place_of(point));
		PF_AT_LEAST(c->to, place_of(point));
		PF_AT_LEAST(c->top_bytes, point->high);
		PF_AT_LEAST(c->top_bytes, point->reserved);
		c->count++;
	}
}

static int x_of(const struct curve *c, int64_t at)
{
	return (int)(WIDTH * (double)(at - c->from) /
			     (double)(c->to - c->from) +
		     0.5);
}

static int y_of(const struct curve *c, int64_t bytes)
{
	return (int)(HEIGHT - HEIGHT * (double)bytes / (double)c->top_bytes +
		     0.5);
}

/* Writes lines with steps; x is where it is, told_x what is written. */
struct pen {
	struct pf_buf *out;
	int x, told_x, y;
};

static struct pen pen_at(struct pf_buf *out, int x, int y)
{
	pf_buf_addf(out, "M%d %d", x, y);
	return (struct pen){ out, x, x, y };
}

static void pen_y(struct pen *p, int y)
{
	if (y == p->y)
		return;
	if (p->x != p->told_x)
		pf_buf_addf(p->out, "h%d", p->x - p->told_x);
	pf_buf_addf(p->out, "v%d", y - p->y);
	p->told_x = p->x;
	p->y = y;
}

static void pen_end(struct pen *p)
{
	if (p->x != p->told_x)
		pf_buf_addf(p->out, "h%d", p->x - p->told_x);
	p->told_x = p->x;
}

/* Over all points that know a member, left to right. */
static struct pen add_staircase(struct pf_buf *out, const struct curve *c,
				size_t at)
{
	struct pen p = { 0 };

	for (size_t i = 0; i < c->usage->point_count; i++) {
		const struct pf_usage_point *point = &c->usage->curve[i];
		int y;

		if (!is_mine(c, point) || member(point, at) == PF_NO_INT)
			continue;
		y = y_of(c, member(point, at));
		if (!p.out)
			p = pen_at(out, 0, y);
		p.x = x_of(c, place_of(point));
		pen_y(&p, y);
	}
	return p;
}

/* The lowest values, from right to left. */
static void add_steps_back(struct pen *p, const struct curve *c)
{
	for (size_t i = c->usage->point_count; i-- > 0;) {
		const struct pf_usage_point *point = &c->usage->curve[i];

		if (!is_mine(c, point))
			continue;
		pen_y(p, y_of(c, point->low));
		p->x = x_of(c, place_of(point));
	}
	pen_end(p);
}

static void add_peak(struct pf_buf *out, const struct pf_usage_device *d)
{
	pf_buf_adds(out, d->is_absolute ? ", peak " : ", at most ");
	pf_figure_bytes(out, d->is_absolute ? d->peak : d->growth);
	if (!d->is_absolute)
		pf_buf_adds(out, " more than at the start");
}

static void add_picture(struct pf_buf *out, const struct curve *c)
{
	const struct pf_usage_device *d = c->device;
	int64_t peak = d->at.is_untimed ? d->peak_entry - 1 : d->peak_ns;
	struct pen pen;

	pf_buf_addf(out,
		    "<svg class=curve viewBox=\"0 0 %d %d\" "
		    "preserveAspectRatio=none role=img aria-label=\"",
		    WIDTH, HEIGHT);
	pf_html_text(out, d->at.device);
	pf_buf_adds(out, d->at.is_untimed ? ": memory by entry of the history"
					  : ": memory over time");
	add_peak(out, d);
	pf_buf_adds(out, "\"><path fill=\"#3f84c8\" fill-opacity=\"0.25\" "
			 "d=\"");
	pen = add_staircase(out, c, MEMBER(low));
	pen_y(&pen, HEIGHT);
	pf_buf_adds(out, "H0Z\"/><path fill=\"#3f84c8\" d=\"");
	pen = add_staircase(out, c, MEMBER(high));
	add_steps_back(&pen, c);
	pf_buf_adds(out, "Z\"/><path fill=\"none\" stroke=\"#c26f1f\" "
			 "vector-effect=\"non-scaling-stroke\" d=\"");
	pen = add_staircase(out, c, MEMBER(reserved));
	if (pen.out)
		pen_end(&pen);
	pf_buf_addf(out,
		    "\"/><path fill=\"none\" stroke=\"#c75d68\" "
		    "stroke-dasharray=\"3 3\" vector-effect=\"non-scaling-"
		    "stroke\" d=\"M%d 0V%d\"/></svg>\n",
		    x_of(c, peak < c->from ? c->from
			    : peak > c->to ? c->to
					   : peak),
		    HEIGHT);
}

/* From where to where the picture goes. */
static void add_extent(struct pf_buf *out, const struct curve *c)
{
	if (c->device->at.is_untimed) {
		pf_buf_adds(out, "entries ");
		pf_figure_count(out, c->from + 1);
		pf_buf_adds(out, " to ");
		pf_figure_count(out, c->to + 1);
		pf_buf_adds(out, " of the history, which have no times");
		return;
	}
	pf_figure_ns(out, c->from);
	pf_buf_adds(out, " to ");
	pf_figure_ns(out, c->to);
}

static void add_caption(struct pf_buf *out, const struct curve *c)
{
	const struct pf_usage_device *d = c->device;
	char when[PF_USAGE_WHEN_MAX];

	pf_buf_adds(out, "<figcaption>");
	pf_html_text(out, d->at.device);
	pf_buf_adds(out, ", ");
	add_extent(out, c);
	pf_buf_adds(out, ": allocated (blue)");
	if (d->peak_reserved != PF_NO_INT)
		pf_buf_adds(out, ", reserved (orange line)");
	add_peak(out, d);
	pf_buf_adds(out, d->is_absolute ? " " : ", ");
	if (d->at.is_untimed) {
		pf_buf_adds(out, pf_usage_when(when, d));
	} else {
		pf_figure_ns(out, d->peak_ns);
		pf_buf_adds(out, " into the capture");
	}
	pf_buf_adds(out, " (dashed); the top is ");
	pf_figure_bytes(out, c->top_bytes);
	pf_buf_adds(out, "</figcaption></figure>\n");
}

/* Memory of each GPU over time. */
static void chart_memory(struct pf_buf *out, const struct pf_html_page *page)
{
	const struct pf_usage *u = &page->parts->memory;
	size_t drawn = 0;

	for (size_t i = 0; i < u->device_count && drawn < 8; i++) {
		struct curve c = { .usage = u, .device = &u->devices[i] };

		if (c.device->at.device_type <= 0)
			continue;
		measure(&c);
		if (c.count < 2 || c.to <= c.from || c.top_bytes <= 0)
			continue;
		drawn++;
		pf_buf_adds(out, "<figure>");
		add_picture(out, &c);
		add_caption(out, &c);
	}
}

/*
 * Calls by how much they compute for each byte and how fast they did, both
 * axes logarithmic, below the lines that the GPU cannot pass: the rate of its
 * memory, which rises, and its peaks, which are level.
 */

#define ROOF_HEIGHT 500
#define POINTS_MAX  80
#define RADIUS_MAX  18
#define RADIUS_MIN  2
#define DECADES_MAX 8 /* of an axis; what is further down is left out */
#define TITLE_MAX   200
#define LABEL_MAX   48
#define ROOF        "<path fill=none stroke=\"currentColor\" d=\""

static const char *const colours[PF_ROOF_BOUNDS] = {
	[PF_ROOF_COMPUTE] = "#3f84c8", [PF_ROOF_MEMORY] = "#3f9a4a",
	[PF_ROOF_LATENCY] = "#c26f1f", [PF_ROOF_OVER] = "#c75d68",
	[PF_ROOF_HOST] = "#9c7350",    [PF_ROOF_UNKNOWN] = "#7d7d7d",
};

/* A level line; several precisions may have one peak. */
struct level {
	double tflops;
	char label[LABEL_MAX];
};

struct picture {
	const struct pf_roofline *r;
	double slope; /* TFLOP/s for a FLOP/byte; or not a number */
	struct level levels[2 * PF_PEAKS];
	size_t level_count;
	double x0, x1, y0, y1; /* decades */
	size_t drawn;
	int64_t drawn_ns;
};

/* ---- what is drawn ---- */

static bool is_drawable(const struct pf_roofline_row *row)
{
	return row->intensity > 0 && isfinite(row->intensity) &&
	       row->tflops > 0 && isfinite(row->tflops);
}

static void add_level(struct picture *p, double per_ns, const char *word,
		      const char *more)
{
	double tflops = per_ns / 1e3;
	struct level *l = p->levels;
	size_t len;

	if (!isfinite(tflops) || tflops <= 0)
		return;
	while (l < p->levels + p->level_count && l->tflops != tflops)
		l++;
	if (l == p->levels + p->level_count) {
		p->level_count++;
		l->tflops = tflops;
	}
	len = strlen(l->label);
	snprintf(l->label + len, LABEL_MAX - len, "%s%s%s", len ? ", " : "",
		 word, more);
}

/* The peaks that hold for what is there. */
static void find_levels(struct picture *p)
{
	const struct pf_roofline *r = p->r;
	bool matrix[PF_PEAKS + 1] = { false }, vector[PF_PEAKS + 1] = { false };

	for (size_t i = 0; i < r->shape_count; i++) {
		const struct pf_roofline_row *row = &r->shapes[i];
		enum pf_peak at = row->precision
					  ? pf_peak_find(row->precision,
							 strlen(row->precision))
					  : PF_PEAK_NONE;

		if (row->s.matrix > 0)
			matrix[at] = true;
		else if (row->s.vector > 0)
			vector[at == PF_PEAK_FP64 ? at : PF_PEAK_FP32] = true;
	}
	matrix[PF_PEAK_TF32] |= r->has_tf32;
	for (int at = 0; at < PF_PEAK_BYTES; at++)
		if (matrix[at])
			add_level(p,
				  pf_gpu_peaks_matrix(&r->peaks,
						      (enum pf_peak)at),
				  pf_peak_word((enum pf_peak)at), "");
	for (int at = 0; at < PF_PEAK_BYTES; at++)
		if (vector[at])
			add_level(p,
				  pf_gpu_peaks_vector(&r->peaks,
						      (enum pf_peak)at),
				  pf_peak_word((enum pf_peak)at), " vector");
	p->slope = r->peaks.rate[PF_PEAK_BYTES] / 1e3;
}

static void widen(double *low, double *high, double value)
{
	double at = log10(value);

	PF_AT_MOST(*low, at);
	PF_AT_LEAST(*high, at);
}

/* Whole decades around all points, levels and where the slope meets them. */
static void find_range(struct picture *p)
{
	const struct pf_roofline *r = p->r;

	p->x0 = p->y0 = INFINITY;
	p->x1 = p->y1 = -INFINITY;
	for (size_t i = 0, n = 0; i < r->shape_count && n < POINTS_MAX; i++)
		if (is_drawable(&r->shapes[i])) {
			widen(&p->x0, &p->x1, r->shapes[i].intensity);
			widen(&p->y0, &p->y1, r->shapes[i].tflops);
			n++;
		}
	if (isinf(p->x0))
		return;
	for (size_t i = 0; i < p->level_count; i++) {
		widen(&p->y0, &p->y1, p->levels[i].tflops);
		if (p->slope > 0)
			widen(&p->x0, &p->x1, p->levels[i].tflops / p->slope);
	}
	p->x0 = floor(p->x0);
	p->y0 = floor(p->y0);
	p->x1 = floor(p->x1) + 1;
	p->y1 = floor(p->y1) + 1;
	p->x0 = fmax(p->x0, p->x1 - DECADES_MAX);
	p->y0 = fmax(p->y0, p->y1 - DECADES_MAX);
}

static double x_of_intensity(const struct picture *p, double decade)
{
	return WIDTH * (decade - p->x0) / (p->x1 - p->x0);
}

static double y_of_rate(const struct picture *p, double decade)
{
	return ROOF_HEIGHT - ROOF_HEIGHT * (decade - p->y0) / (p->y1 - p->y0);
}

/* ---- axes and roofs ---- */

/* A word for each decade, at the line that it begins with. */
static void add_decades(struct pf_buf *out, double from, double to)
{
	double by = from < to ? 1 : -1;

	pf_buf_adds(out, "<p>");
	for (double d = from; d != to; d += by)
		pf_buf_addf(out, "<span>%g</span>", pow(10, d));
	pf_buf_adds(out, "</p>");
}

static void add_grid(struct pf_buf *out, const struct picture *p)
{
	pf_buf_adds(out, "<path fill=none stroke=\"currentColor\" "
			 "stroke-opacity=\"0.15\" d=\"");
	for (double d = p->x0; d <= p->x1; d++)
		pf_buf_addf(out, "M%.1f 0V%d", x_of_intensity(p, d),
			    ROOF_HEIGHT);
	for (double d = p->y0; d <= p->y1; d++)
		pf_buf_addf(out, "M0 %.1fH%d", y_of_rate(p, d), WIDTH);
	pf_buf_adds(out, "\"/>");
}

/* The rate of the memory, as far as the highest level. */
static void add_slope(struct pf_buf *out, const struct picture *p, double top)
{
	double up = log10(p->slope), from = fmax(p->x0, p->y0 - up);
	double to = fmin(top - up, p->x1);

	if (to > from)
		pf_buf_addf(out, ROOF "M%.1f %.1fL%.1f %.1f\"/>",
			    x_of_intensity(p, from), y_of_rate(p, from + up),
			    x_of_intensity(p, to), y_of_rate(p, to + up));
}

static void add_roofs(struct pf_buf *out, const struct picture *p)
{
	double top = p->level_count ? -INFINITY : p->y1;

	for (size_t i = 0; i < p->level_count; i++) {
		double at = log10(p->levels[i].tflops), from = p->x0;

		top = fmax(top, at);
		if (p->slope > 0)
			from = fmax(from, at - log10(p->slope));
		pf_buf_addf(out, ROOF "M%.1f %.1fH%d\"/>",
			    x_of_intensity(p, from), y_of_rate(p, at), WIDTH);
	}
	if (p->slope > 0)
		add_slope(out, p, top);
}

/* What the lines are. */
static void say_roofs(struct pf_buf *out, const struct picture *p)
{
	const char *between = "; lines: ";

	if (p->slope > 0) {
		pf_buf_addf(out, "%smemory %.4g GB/s", between, p->slope * 1e3);
		between = ", ";
	}
	for (size_t i = 0; i < p->level_count; i++) {
		pf_buf_addf(out, "%s%s %.4g TFLOP/s", between,
			    p->levels[i].label, p->levels[i].tflops);
		between = ", ";
	}
}

/* ---- points ---- */

static enum pf_roof_bound bound_of(const struct pf_roofline_row *row)
{
	for (int i = 0; i < PF_ROOF_BOUNDS; i++) {
		const char *word = pf_roof_bound_word((enum pf_roof_bound)i);

		if (word && row->bound && !strcmp(word, row->bound))
			return (enum pf_roof_bound)i;
	}
	return PF_ROOF_UNKNOWN;
}

/* "aten::mm [[1, 2], [2, 3]]: 1.2 ms, ...", as it may be shown. */
static void add_title(struct pf_buf *out, const struct pf_html_page *page,
		      const struct pf_roofline_row *row)
{
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };
	struct pf_buf whole = { 0 };
	size_t len;

	pf_buf_adds(&whole, row->op);
	if (row->shapes)
		pf_buf_addf(&whole, " %s", row->shapes);
	pf_parts_text(page->parts, whole.data, &text);
	len = pf_utf8_head(text.data, text.len, TITLE_MAX);
	pf_buf_adds(out, "<title>");
	pf_escape_html(out, text.data, len);
	pf_buf_adds(out, len < text.len ? "…" : "");
	pf_buf_release(&whole);
	pf_buf_adds(out, ": ");
	pf_figure_ns(out, row->s.kernel_ns);
	pf_buf_addf(out, ", %.4g TFLOP/s, %.4g FLOP/byte", row->tflops,
		    row->intensity);
	if (row->bound)
		pf_buf_addf(out, ", %s", row->bound);
	if (isfinite(row->share)) {
		pf_buf_adds(out, ", ");
		pf_html_ratio(out, row->share);
		pf_buf_adds(out, " of the roof");
	}
	pf_buf_adds(out, "</title>");
}

static void add_point(struct pf_buf *out, const struct pf_html_page *page,
		      struct picture *p, const struct pf_roofline_row *row,
		      int64_t most_ns)
{
	double x = log10(row->intensity), y = log10(row->tflops);
	const char *colour = colours[bound_of(row)];

	if (x < p->x0 || y < p->y0)
		return;
	pf_buf_addf(
		out,
		"<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"%s\" "
		"fill-opacity=\"0.35\" stroke=\"%s\">",
		x_of_intensity(p, x), y_of_rate(p, y),
		fmax(RADIUS_MIN, RADIUS_MAX * sqrt((double)row->s.kernel_ns /
						   (double)most_ns)),
		colour, colour);
	add_title(out, page, row);
	pf_buf_adds(out, "</circle>\n");
	p->drawn++;
	p->drawn_ns += row->s.kernel_ns;
}

/* The most time first, so that small ones lie above large ones. */
static void add_points(struct pf_buf *out, const struct pf_html_page *page,
		       struct picture *p, bool has_bound[PF_ROOF_BOUNDS])
{
	const struct pf_roofline *r = p->r;
	int64_t most_ns = 0;

	for (size_t i = 0, n = 0; i < r->shape_count && n < POINTS_MAX; i++) {
		const struct pf_roofline_row *row = &r->shapes[i];

		if (!is_drawable(row))
			continue;
		if (!n++)
			most_ns = row->s.kernel_ns;
		add_point(out, page, p, row, most_ns);
		has_bound[bound_of(row)] = true;
	}
}

static void add_roof_caption(struct pf_buf *out, const struct picture *p,
			     const bool has_bound[PF_ROOF_BOUNDS])
{
	const struct pf_roofline *r = p->r;

	pf_buf_adds(out,
		    "<figcaption>Up TFLOP/s, right FLOP/byte. A circle is an "
		    "operator with one set of shapes, its area the GPU "
		    "time; bound by");
	for (int i = 0; i < PF_ROOF_BOUNDS; i++) {
		const char *word = pf_roof_bound_word((enum pf_roof_bound)i);

		if (has_bound[i])
			pf_buf_addf(out,
				    " <svg class=k width=10 height=10 "
				    "aria-hidden=true><rect width=\"10\" "
				    "height=\"10\" rx=\"2\" fill=\"%s\"/>"
				    "</svg>%s",
				    colours[i], word ? word : "no roof");
	}
	say_roofs(out, p);
	if (p->drawn < r->shape_count) {
		pf_buf_adds(out, "; ");
		pf_figure_count(out, (int64_t)(r->shape_count - p->drawn));
		pf_buf_adds(out, " more (");
		pf_figure_ns(out, r->all.kernel_ns - p->drawn_ns);
		pf_buf_adds(out, ") compute nothing, or too little to show");
	}
	pf_buf_adds(out, "</figcaption></figure>\n");
}

/* Calls against what the GPU can do; nothing where nothing is known. */
static void chart_roof(struct pf_buf *out, const struct pf_html_page *page)
{
	struct picture p = { .r = &page->parts->roofline };
	bool has_bound[PF_ROOF_BOUNDS] = { false };
	PF_AUTO(pf_buf_release) struct pf_buf points = { 0 };

	find_levels(&p);
	find_range(&p);
	if (isinf(p.x0))
		return;
	add_points(&points, page, &p, has_bound);
	pf_buf_adds(out, "<figure><div class=plot>");
	add_decades(out, p.y1, p.y0);
	pf_buf_addf(out, "<svg viewBox=\"0 0 %d %d\" role=img aria-label=\"",
		    WIDTH, ROOF_HEIGHT);
	pf_figure_count(out, (int64_t)p.drawn);
	pf_buf_addf(out,
		    " kinds of calls by operations for a byte and operations "
		    "in a second%s",
		    p.slope > 0 || p.level_count ? ", below the roofs" : "");
	if (p.r->peaks.name) {
		pf_buf_adds(out, " of ");
		pf_html_text(out, p.r->peaks.name);
	}
	pf_buf_adds(out, "\">");
	add_grid(out, &p);
	if (points.len)
		pf_buf_add(out, points.data, points.len);
	add_roofs(out, &p);
	pf_buf_adds(out, "</svg>");
	add_decades(out, p.x0, p.x1);
	pf_buf_adds(out, "</div>\n");
	add_roof_caption(out, &p, has_bound);
}

/*
 * A column is a row of a table of the page, or the highest of several; rows of
 * several traces have no order in time, so there is no chart of them.
 */

#define TRAINING_COLUMNS_MAX 120

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
		PF_AT_LEAST(most, pf_table_int_at(b->t, i, key));
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
	b->columns =
		b->rows < TRAINING_COLUMNS_MAX ? b->rows : TRAINING_COLUMNS_MAX;
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
	PF_AUTO(pf_buf_release) struct pf_buf words = { 0 }, shapes = { 0 };
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
}

static void add_memory(struct pf_buf *out, const struct pf_html_page *page)
{
	PF_AUTO(pf_buf_release) struct pf_buf words = { 0 }, shapes = { 0 };
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
}

/* Rows of a training script in order: times of batches, memory. */
static void chart_training(struct pf_buf *out, const struct pf_html_page *page)
{
	add_times(out, page);
	add_memory(out, page);
}

/* The sections of a page between the breakdown and the timeline. */

/* ---- which rows ---- */

static bool is_loading(const struct pf_table *t, size_t row)
{
	const char *cause = pf_table_text_at(t, row, "cause");

	return cause && !strcmp(cause, pf_cause_name(PF_CAUSE_DATA));
}

static bool is_op(const struct pf_table *t, size_t row)
{
	const char *device = pf_table_text_at(t, row, "device_type");

	return device && !strcmp(device, "CPU");
}

static bool is_finding(const struct pf_table *t, size_t row)
{
	const char *verdict = pf_table_text_at(t, row, "verdict");

	return verdict && strcmp(verdict, "ok") != 0;
}

/* ---- sections ---- */

static const char memory_cols[] =
	"device; peak_bytes; capacity_bytes=Capacity; capacity_share=Of "
	"capacity; peak_reserved_bytes=Reserved, peak; "
	"unused_at_peak_bytes=Reserved, not used at peak; allocation_count; "
	"allocated_bytes; kept_bytes=Not freed by the end; oom_count";

#define TABLES_MAX 6

static const struct section {
	const char *id, *title;
	const char *link; /* the title in the row of links, which is narrow */
	/* why; NULL: as the part's finding says; "": not worth a word */
	const char *absent;
	enum pf_part part; /* whose finding stands above */
	struct pf_html_table tables[TABLES_MAX];
} sections[] = {
	{ "idle",
	  "Idle gaps",
	  "Idle",
	  "the GPU is never idle, or there is no GPU work",
	  PF_PART_GAPS,
	  { TABLE("causes", "Idle time by cause", PF_PART_GAPS, "causes", 20,
		  "cause; ns; idle_share; window_share; count; longest_ns"),
	    TABLE("culprits", "What holds it", PF_PART_GAPS, "culprits", 50,
		  "culprit=Op, call or range; op=In operator; cause; ns; "
		  "idle_share; count; longest_ns; frame",
		  .share = "idle_share"),
	    TABLE("gaps", "The longest gaps", PF_PART_GAPS, "gaps", 60,
		  "start_ns=At; ns; cause; culprit; frame; before=Last work "
		  "before; after=First work after; drained_by; device",
		  .span = "ns") } },
	{ "path",
	  "Critical path",
	  "Path",
	  NULL,
	  PF_PART_PATH,
	  { TABLE("path-parts", "What decides how long the window takes",
		  PF_PART_PATH, "categories", 20,
		  "category; ns; share=Of the window; count; longest_ns"),
	    TABLE("path-rows", "By name", PF_PART_PATH, "rows", 30,
		  "category; name; ns; share=Of the window; count; longest_ns",
		  .share = "share"),
	    TABLE("path-answers", "What it would save", PF_PART_PATH, "what_if",
		  20,
		  "question; saved_ns; saved_share=Of the window; least_ns; "
		  "bound_ns") } },
	{ "syncs",
	  "Synchronizations",
	  "Syncs",
	  "no call waits for the GPU",
	  PF_PART_SYNCS,
	  { TABLE("sites", "Calls that block the host, by site", PF_PART_SYNCS,
		  "sites", 100,
		  "call; op; count; per_step; blocked_ns=CPU blocked; "
		  "useful_ns=GPU busy meanwhile; idle_ns=GPU idle after; "
		  "median_ns; max_ns; frame") } },
	{ "launches",
	  "Launches",
	  "Launches",
	  "no GPU work has a launch call",
	  PF_PART_LAUNCHES,
	  { TABLE("calls", "Launch calls", PF_PART_LAUNCHES, "calls", 20,
		  "call; count; cpu_ns; gpu_ns; median_delay_ns; "
		  "max_delay_ns=Longest delay; short_count=Work shorter than "
		  "the call"),
	    TABLE("streams", "Length of the queue at the launch",
		  PF_PART_LAUNCHES, "streams", 20,
		  "device; stream; launch_count; mean_length; "
		  "max_length=Longest queue") } },
	{ "kernels",
	  "Kernels",
	  "Kernels",
	  "there are no kernels",
	  PF_PART_KERNELS,
	  { TABLE("by-name", "By name", PF_PART_KERNELS, "kernels", 100,
		  "name; calls; total_ns; share; cumulative_share; mean_ns; "
		  "median_ns; min_ns; max_ns; sd_ns; "
		  "blocks_per_sm=Blocks/SM; occupancy_percent=Occupancy %; "
		  "tensor_cores=Tensor cores",
		  .share = "share"),
	    TABLE("by-op", "By name and operator", PF_PART_CALLERS, "kernels",
		  100,
		  "name; op; calls; total_ns; share; mean_ns; median_ns; grid; "
		  "block; registers_per_thread; shared_memory_bytes=Shared "
		  "memory",
		  .share = "share"),
	    TABLE("operations", "Operations of the TPUs", PF_PART_KERNELS,
		  "operations", 100,
		  "name; op; category; calls; self_ns; share; total_ns; flops; "
		  "bytes",
		  .share = "share") } },
	{ "ops",
	  "Operators",
	  "Operators",
	  "there are no operators",
	  PF_PART_OPS,
	  { TABLE("averages", "By name, as key_averages() of the whole capture",
		  PF_PART_OPS, "key_averages", 120,
		  "name=Operator; count; self_device_ns=Device self; "
		  "device_total_ns; self_cpu_ns=Host self; cpu_total_ns=Host "
		  "total; self_device_mem_bytes=Device memory, self; "
		  "self_cpu_mem_bytes=Host memory, self",
		  .is_wanted = is_op) } },
	{ "roofline",
	  "Roofline",
	  "Roofline",
	  NULL,
	  PF_PART_ROOFLINE,
	  { TABLE("roof-calls", "Calls by time above their roofs",
		  PF_PART_ROOFLINE, "calls", 30,
		  "op; input_shapes; calls; kernel_ns; tflop_per_s; gb_per_s; "
		  "flop_per_byte; bound; roof_share; above_roof_ns=Above the "
		  "roof; input_types",
		  .share = "share"),
	    TABLE("roof-families", "By family", PF_PART_ROOFLINE, "families",
		  40,
		  "family; calls; kernel_ns; share=Of GPU time; tflop_per_s; "
		  "gb_per_s; bound; roof_share; above_roof_ns=Above the roof"),
	    TABLE("roof-steps", "Steps against the peak", PF_PART_ROOFLINE,
		  "steps", 40,
		  "rank; step; time_ns; gpu_count; matrix_flops; "
		  "recomputed_flops; mfu; hfu"),
	    TABLE("roof-rest", "GPU time without a roof", PF_PART_ROOFLINE,
		  "not_modelled", 20,
		  "op; why; work_count; gpu_ns; share=Of GPU time",
		  .share = "share"),
	    TABLE("roof-operations", "Operations of the TPUs", PF_PART_ROOFLINE,
		  "operations", 100,
		  "name; category; calls; self_ns; tflop_per_s; gb_per_s; "
		  "bound; roof_share; above_roof_ns=Above the roof") } },
	{ "comm",
	  "Communication",
	  "Communication",
	  "there is no communication",
	  PF_PART_OVERLAP,
	  { TABLE("collectives", "Collectives", PF_PART_OVERLAP, "collectives",
		  40,
		  "collective; group; group_size; dtype; count=Calls; "
		  "in_bytes=Bytes; total_ns; mean_ns; min_ns=Min; max_ns=Max; "
		  "algorithm_gb_per_s=Algorithm GB/s; bus_gb_per_s"),
	    TABLE("arrivals", "Ranks at collectives", PF_PART_OVERLAP,
		  "arrivals", 40,
		  "rank; count; last_count=Last to come; late_ns; waited_ns"),
	    TABLE("overlap", "What hides behind what", PF_PART_OVERLAP,
		  "devices", 40,
		  "rank; device; total_ns; computation_ns; comm_ns; "
		  "overlap_ns=Hidden; exposed_comm_ns=Exposed; "
		  "overlap_share=Share hidden; exposed_copy_ns=Exposed copies; "
		  "idle_ns") } },
	{ "memory",
	  "Memory",
	  "Memory",
	  NULL,
	  PF_PART_MEMORY,
	  { TABLE("memory-devices", "Peaks", PF_PART_MEMORY, "devices", 20,
		  memory_cols),
	    TABLE("alive", "Alive at the peak", PF_PART_MEMORY, "alive", 60,
		  "device; outer_op; op; bytes; peak_share; count; "
		  "largest_bytes; age_ns=Age; frame"),
	    TABLE("memory-ops", "Allocations by operator", PF_PART_MEMORY,
		  "ops", 80,
		  "op=Operator; device; calls; allocation_count=Allocations; "
		  "allocated_bytes=Allocated; increase_bytes=Increase; "
		  "self_allocation_count=Allocations, self; "
		  "self_allocated_bytes=Allocated, self; "
		  "self_increase_bytes=Increase, self"),
	    TABLE("kept", "Allocated and not freed", PF_PART_MEMORY, "kept", 40,
		  "device; outer_op; op; bytes; count; size_bytes=Size; "
		  "frame") } },
	{ "memory",
	  "Memory",
	  "Memory",
	  NULL,
	  PF_PART_MEMORY,
	  { TABLE("memory-now", "When the snapshot was taken", PF_PART_MEMORY,
		  "now", 40,
		  "gpu; segment_count; reserved_bytes; allocated_bytes; "
		  "whole_bytes; split_bytes=Free between blocks; "
		  "largest_bytes=Largest free block; free_share; "
		  "external_share=Free, not in one piece"),
	    TABLE("memory-oom", "Out of memory", PF_PART_MEMORY, "oom", 20,
		  "device; time_ns; bytes; device_free_bytes; allocated_bytes; "
		  "reserved_bytes; frame; stack"),
	    TABLE("memory-devices", "Peaks", PF_PART_MEMORY, "devices", 20,
		  memory_cols),
	    TABLE("alive", "Alive at the peak", PF_PART_MEMORY, "alive", 60,
		  "device; bytes; peak_share; count; largest_bytes; frame; "
		  "stack"),
	    TABLE("kept", "Allocated and not freed", PF_PART_MEMORY, "kept", 40,
		  "device; bytes; count; frame; stack"),
	    TABLE("memory-stacks", "Allocations by stack", PF_PART_MEMORY,
		  "stacks", 80,
		  "device; allocated_bytes; allocation_count; frame; "
		  "stack") } },
	{ "counters",
	  "Counters",
	  "Counters",
	  "",
	  PF_PART_COUNTERS,
	  { TABLE("counter-states", "States, and how long each",
		  PF_PART_COUNTERS, "states", 60,
		  "track; key; value; meaning; time_ns; share"),
	    TABLE("counter-series", "Values", PF_PART_COUNTERS, "counters", 100,
		  "track; name; key; sample_count; min; mean; max") } },
	{ "training",
	  "Training script",
	  "Training",
	  "",
	  PF_PART_COUNT,
	  { TABLE("training-times", "Batches that it timed", PF_PART_STEPS,
		  "training_times", 20,
		  "row_count; first_ns; mean_ns; median_ns; p90_ns; p99_ns; "
		  "longest_ns"),
	    TABLE("training-batches", "Each of them", PF_PART_STEPS,
		  "training_batches", 120,
		  "step; batch_idx; batch_ns; rate; implied_count"),
	    TABLE("training-memory", "Memory of the GPU as it saw it",
		  PF_PART_MEMORY, "training_memory", 120,
		  "step; batch_idx; allocated_bytes; reserved_bytes; "
		  "slack_bytes; host_percent"),
	    TABLE("training-summary", "What it says of itself", PF_PART_INFO,
		  "training_summary", 40, "key; value") } },
	{ "input",
	  "Input",
	  "Input",
	  "no idle time of the GPU comes from loading data",
	  PF_PART_COUNT,
	  { TABLE("loading", "Idle time of the GPU while data is loaded",
		  PF_PART_GAPS, "culprits", 40,
		  "culprit=Range; frame; ns=GPU idle; idle_share; count; "
		  "longest_ns",
		  .is_wanted = is_loading) } },
	{ "modules",
	  "Modules",
	  "Modules",
	  NULL,
	  PF_PART_MODULES,
	  { TABLE("module-tree", "As they call each other", PF_PART_MODULES,
		  "modules", 120,
		  "module; calls=Occurrences; op_count=Operators; "
		  "gpu_total_ns; gpu_self_ns; share=GPU self, share; "
		  "host_total_ns; host_self_ns",
		  .share = "share"),
	    TABLE("module-classes", "Self time by class", PF_PART_MODULES,
		  "classes", 40,
		  "class; calls=Occurrences; op_count=Operators; gpu_self_ns; "
		  "share=Share; host_self_ns",
		  .share = "share") } },
	{ "quality",
	  "Trace quality",
	  "Quality",
	  "every check of the trace says ok",
	  PF_PART_DOCTOR,
	  { TABLE("quality-checks", "Checks that found something",
		  PF_PART_DOCTOR, "checks", 40,
		  "check; verdict; count; gpu_ns; share",
		  .is_wanted = is_finding) } },
};

#define SECTIONS (PF_LEN(sections))

/* Could it be there?  Snapshots know stacks, not operators, and no times. */
static bool is_possible(const struct pf_parts *p, const struct section *s)
{
	if (s->part == PF_PART_MEMORY)
		return !strcmp(s->tables[0].name, "now") ==
		       pf_snap_state_is(&p->memory.snap);
	return s->part == PF_PART_DOCTOR ||
	       p->memory.producer != PF_FROM_SNAPSHOT;
}

static bool has_section(const struct pf_parts *p, const struct section *s)
{
	size_t count = 0;

	if (!is_possible(p, s))
		return false;
	if (s->part == PF_PART_ROOFLINE && !p->roofline.modelled_ns &&
	    !p->traces.is_tpu)
		return false; /* a list of what is not known is no part */
	for (size_t k = 0; k < TABLES_MAX && s->tables[k].id; k++)
		count += pf_html_count(p, &s->tables[k]);
	return count;
}

/* The charts say it of memory over time, a verdict of what ran out of it. */
static bool has_lead(const struct pf_parts *p, const struct section *s)
{
	if (s->part != PF_PART_MEMORY)
		return s->part < PF_PART_COUNT;
	return pf_snap_state_is(&p->memory.snap) &&
	       !pf_usage_told_oom(&p->memory);
}

/* Every section that has data. */
static void sections_add(struct pf_buf *out, const struct pf_html_page *page)
{
	for (size_t i = 0; i < SECTIONS; i++) {
		const struct section *s = &sections[i];
		const char *finding = NULL;

		if (!has_section(page->parts, s))
			continue;
		pf_buf_addf(out, "<section id=%s>\n<h2>%s</h2>\n", s->id,
			    s->title);
		if (has_lead(page->parts, s))
			finding =
				pf_doc_find_finding(&page->parts->doc[s->part]);
		if (finding && *finding) {
			pf_buf_adds(out, "<p class=lead>");
			pf_html_prose(out, finding, strlen(finding));
			pf_buf_adds(out, ".</p>\n");
		}
		if (s->part == PF_PART_MEMORY)
			chart_memory(out, page);
		if (s->part == PF_PART_ROOFLINE &&
		    page->parts->roofline.modelled_ns)
			chart_roof(out, page);
		if (!strcmp(s->tables[0].name, "training_times"))
			chart_training(out, page);
		for (size_t k = 0; k < TABLES_MAX && s->tables[k].id; k++)
			pf_html_table(out, page, &s->tables[k]);
		pf_buf_adds(out, "</section>\n");
	}
}

/* Links to the same, as list items. */
static void sections_links(struct pf_buf *out, const struct pf_parts *p)
{
	for (size_t i = 0; i < SECTIONS; i++)
		if (has_section(p, &sections[i]))
			pf_buf_addf(out, "<li><a href=\"#%s\">%s</a>\n",
				    sections[i].id, sections[i].link);
}

static const char *why_absent(const struct pf_parts *p, const struct section *s)
{
	const char *finding;

	if (s->absent)
		return s->absent;
	finding = pf_doc_find_finding(&p->doc[s->part]);
	return finding && *finding ? finding : "there is none";
}

/* The sections that are absent and why, as list items; "" if there are none. */
static void sections_absent(struct pf_buf *out, const struct pf_parts *p)
{
	for (size_t i = 0; i < SECTIONS; i++) {
		const char *absent = sections[i].absent;

		if ((!absent || *absent) && is_possible(p, &sections[i]) &&
		    !has_section(p, &sections[i])) {
			pf_buf_addf(out, "<li>%s: ", sections[i].title);
			pf_html_text(out, why_absent(p, &sections[i]));
			pf_buf_addc(out, '\n');
		}
	}
}

/* The table of all steps, below the breakdown. */
static void sections_steps(struct pf_buf *out, const struct pf_html_page *page)
{
	static const struct pf_html_table table =
		TABLE("steps", "All steps", PF_PART_STEPS, "steps", 150,
		      "step; start_ns=Starts at; dur_ns; kernel_ns; copy_ns; "
		      "memset_ns; comm_ns; runtime_ns; data_ns; cpu_ns; "
		      "other_ns; kernel_count; rank",
		      .span = "dur_ns");

	if (pf_html_count(page->parts, &table) < 2)
		return;
	pf_buf_adds(out, "<details><summary>All steps</summary>\n");
	pf_html_table(out, page, &table);
	pf_buf_adds(out, "</details>\n");
}

/* The page around the tables: header, verdicts, tiles, checks, method. */

/* ---- header ---- */

static void add_fact(struct pf_buf *out, const char *title, const char *value)
{
	if (!value || !*value)
		return;
	pf_buf_addf(out, "<div><dt>%s</dt> <dd>", title);
	pf_html_text(out, value);
	pf_buf_adds(out, "</dd></div>\n");
}

/* Append a text of what was found as it may be shown. */
static void add_text(struct pf_buf *out, const struct pf_parts *p,
		     const char *text)
{
	PF_AUTO(pf_buf_release) struct pf_buf shown = { 0 };

	pf_buf_adds(out, pf_parts_text(p, text, &shown));
}

/* Has a device before it its name? */
static bool is_known(const struct pf_info *info, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (info->devices[i].name &&
		    !strcmp(info->devices[i].name, info->devices[at].name))
			return true;
	return false;
}

/* The devices of one name together: their sizes differ by a page or two. */
static void add_devices(struct pf_buf *out, const struct pf_parts *p)
{
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };
	size_t shown = 0;

	for (size_t i = 0; i < p->info.device_count && shown < 4; i++) {
		const struct pf_info_device *d = &p->info.devices[i];

		if (!d->name || is_known(&p->info, i))
			continue;
		pf_buf_adds(&text, shown++ ? "; " : "");
		add_text(&text, p, *d->name ? d->name : "unnamed");
		if (d->memory_bytes > 0) {
			pf_buf_adds(&text, ", ");
			pf_figure_bytes(&text, d->memory_bytes);
		}
	}
	add_fact(out, pf_window_device(&p->traces), text.data);
}

/* An option of the profiler that all traces share. */
static const char *find_option(const struct pf_info *info, const char *key)
{
	for (size_t i = 0; i < info->option_count; i++)
		if (!strcmp(info->options[i].key, key))
			return info->options[i].value;
	return NULL;
}

static void add_software(struct pf_buf *out, const struct pf_parts *p)
{
	static const struct {
		const char *key, *title;
	} versions[] = {
		{ "cuda_runtime_version", "CUDA runtime" },
		{ "cuda_driver_version", "driver" },
		{ "cupti_version", "CUPTI" },
		{ "hip_runtime_version", "HIP runtime" },
		{ "hip_driver_version", "driver" },
		{ "roctracer_version", "roctracer" },
	};
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };

	if (p->torch)
		pf_buf_addf(&text, "%s %d.%d%s",
			    p->is_torch_said ? "torch"
					     : "torch (the trace does not say "
					       "its version; table as of torch",
			    p->torch / 100, p->torch % 100,
			    p->is_torch_said ? "" : ")");
	for (size_t i = 0; i < PF_LEN(versions); i++) {
		const char *value = find_option(&p->info, versions[i].key);

		if (!value)
			continue;
		pf_buf_addf(&text, "%s%s ", text.len ? ", " : "",
			    versions[i].title);
		add_text(&text, p, value);
	}
	add_fact(out, "Software", text.data);
}

static void add_ranks(struct pf_buf *out, const struct pf_info *info)
{
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };
	size_t shown = 0;

	for (size_t i = 0; i < info->trace_count && shown < 16; i++)
		if (info->traces[i].rank != PF_NO_INT)
			pf_buf_addf(&text, "%s%" PRId64, shown++ ? ", " : "",
				    info->traces[i].rank);
	if (shown && info->traces->world_size != PF_NO_INT)
		pf_buf_addf(&text, " of %" PRId64, info->traces->world_size);
	add_fact(out, "Rank", text.data);
}

/* Of one trace; the files of several are told by "profan info". */
static void add_digest(struct pf_buf *out, const struct pf_info *info)
{
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };

	if (info->trace_count == 1)
		pf_html_digest(&text, info->traces->xxh128);
	if (text.len)
		pf_buf_addf(out, "<div><dt>File</dt> <dd>%s</dd></div>\n",
			    text.data);
}

static void add_header(struct pf_buf *out, const struct pf_report *r)
{
	const struct pf_info *info = &r->parts.info;
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };

	add_digest(out, info);
	add_devices(out, &r->parts);
	add_software(out, &r->parts);
	add_ranks(out, info);
	if (r->parts.steps_text.len) {
		pf_buf_adds(&text, r->parts.window.step
					   ? r->parts.window.step
					   : r->parts.steps_text.data);
		if (r->parts.window.step &&
		    strcmp(r->parts.window.step, r->parts.steps_text.data) != 0)
			pf_buf_addf(&text, " of %s", r->parts.steps_text.data);
	} else {
		pf_buf_adds(&text, "none");
	}
	if (!r->parts.steps.is_untimed && r->parts.steps.count)
		add_fact(out, strpbrk(text.data, " .,") ? "Steps" : "Step",
			 text.data);
	pf_buf_clear(&text);
	if (info->traces->span_ns != PF_NO_INT) {
		pf_figure_ns(&text, info->traces->span_ns);
		add_fact(out, "Recorded", text.data);
	}
}

/* ---- verdicts ---- */

/* With marked names (page/verdict.h). */
static void html_sentence(struct pf_buf *out, const struct pf_buf *sentence)
{
	const char *s = sentence->data, *end = s ? s + sentence->len : s;
	bool is_name = false;

	while (s < end) {
		const char *mark = s;

		while (mark < end && *mark != PF_SAY_NAME &&
		       *mark != PF_SAY_END)
			mark++;
		if (is_name)
			pf_escape_html(out, s, (size_t)(mark - s));
		else
			pf_html_prose(out, s, (size_t)(mark - s));
		if (mark < end && is_name != (*mark == PF_SAY_NAME)) {
			is_name = !is_name;
			pf_buf_adds(out, is_name ? "<code>" : "</code>");
		}
		s = mark + 1;
	}
	if (is_name)
		pf_buf_adds(out, "</code>");
}

static void add_verdict(struct pf_buf *out, const struct pf_html_page *page,
			const struct pf_verdict *v)
{
	static const char *const titles[] = { "Note", "Warning", "Severe" };
	PF_AUTO(pf_buf_release) struct pf_buf command = { 0 }, gain = { 0 };

	pf_buf_addf(out, "<li class=%s id=%s><p><strong>%s</strong> ",
		    pf_severity_word(v->severity), v->id, titles[v->severity]);
	html_sentence(out, &v->sentence);
	pf_verdict_say_gain(v, ". ", &gain);
	pf_html_prose(out, gain.data, gain.len);
	pf_buf_adds(out, ".</p>\n");
	if (v->advice && v->advice->remedy) {
		pf_buf_adds(out, "<p class=try>To try: ");
		pf_html_text(out, v->advice->remedy);
		pf_buf_adds(out, ".</p>\n");
	}
	if (v->advice && v->advice->code && v->severity > PF_NOTE) {
		pf_buf_adds(out, "<pre class=try>");
		pf_html_text(out, v->advice->code);
		pf_buf_adds(out, "</pre>\n");
	}
	pf_buf_adds(out, "<p class=how>");
	pf_buf_addf(out, "<a href=\"#%s\">table</a> ", v->section);
	if (v->from_ns >= 0 && pf_html_side(page, v->trace_id))
		pf_html_span(out, page, v->trace_id, v->from_ns, v->to_ns,
			     "timeline");
	pf_verdict_command(v, page->parts, &command);
	if (command.len) {
		pf_buf_adds(out, " <code>");
		pf_html_text(out, command.data);
		pf_buf_adds(out, "</code>");
	}
	pf_buf_adds(out, "</p>\n");
}

/* How to see the rest: places, code, and what could not be judged. */
static void advise_command(const struct pf_report *r, struct pf_buf *out)
{
	pf_buf_adds(out, "profan advise ");
	pf_shell_word(out, r->parts.db_name);
	pf_window_options(&r->parts.window, out);
}

static void add_advise(struct pf_buf *out, const struct pf_report *r)
{
	PF_AUTO(pf_buf_release) struct pf_buf command = { 0 };

	advise_command(r, &command);
	pf_buf_adds(out, "<p class=lead>All that was judged, where it is, and "
			 "what to write: <code>");
	pf_html_text(out, command.data);
	pf_buf_adds(out, "</code></p>\n");
}

static void add_verdicts(struct pf_buf *out, const struct pf_report *r,
			 const struct pf_html_page *page)
{
	const struct pf_verdicts *v = &r->verdicts;

	pf_buf_adds(out, "<ol class=verdicts>\n");
	for (size_t i = 0; i < v->fired && i < PF_VERDICTS_SHOWN; i++)
		add_verdict(out, page, &v->all[i]);
	pf_buf_adds(out, "</ol>\n");
	if (v->fired <= PF_VERDICTS_SHOWN) {
		add_advise(out, r);
		return;
	}
	pf_buf_addf(out,
		    "<details><summary>More findings (%zu)</summary>"
		    "<ol class=verdicts start=%d>\n",
		    v->fired - PF_VERDICTS_SHOWN, PF_VERDICTS_SHOWN + 1);
	for (size_t i = PF_VERDICTS_SHOWN; i < v->fired; i++)
		add_verdict(out, page, &v->all[i]);
	pf_buf_adds(out, "</ol>\n");
	add_advise(out, r);
	pf_buf_adds(out, "</details>\n");
}

/* ---- tiles ---- */

static void add_tiles(struct pf_buf *out, const struct pf_html_page *page,
		      const struct pf_tiles *tiles)
{
	for (size_t i = 0; i < tiles->count; i++) {
		const struct pf_tile *t = &tiles->tile[i];

		pf_html_tile(out, page, &t->col, &t->value, &t->detail);
	}
}

/* ---- checked and fine ---- */

static void add_share(struct pf_buf *out, const struct pf_verdict *v,
		      double value)
{
	if (v->part == PF_PART_DOCTOR)
		pf_buf_adds(out, value < 0.5 ? "no warning" : "a warning");
	else if (v->part == PF_PART_STEPS) /* times the median */
		pf_buf_addf(out, "%.2f ×", value);
	else
		pf_html_ratio(out, value);
}

static void add_checks(struct pf_buf *out, const struct pf_verdicts *v)
{
	pf_buf_adds(out, "<section id=\"fine\" aria-labelledby=\"h-fine\">\n"
			 "<h2 id=\"h-fine\">Checked and fine</h2>\n<details>"
			 "<summary>Rules that did not fire, and why</summary>\n"
			 "<div class=t><table id=checks><caption class=h>Rules "
			 "that did not fire</caption><thead><tr>"
			 "<th scope=col>Checked<th scope=col class=n>Measured"
			 "<th scope=col class=n>Threshold<th scope=col>Result"
			 "</tr></thead>\n<tbody>");
	for (size_t i = v->fired; i < v->count; i++) {
		const struct pf_verdict *a = &v->all[i];

		pf_buf_addf(out, "<tr><th scope=row>%s (%s)<td class=n>",
			    a->title, a->id);
		if (a->state != PF_RULE_WITHHELD)
			add_share(out, a, a->measured);
		pf_buf_adds(out, "<td class=n>");
		if (a->warn > 1e-6)
			add_share(out, a, a->warn);
		pf_buf_adds(out, "<td>");
		if (a->is_folded)
			pf_buf_adds(out, "said by advice");
		else if (a->state == PF_RULE_WITHHELD) {
			pf_buf_adds(out, "not checked: ");
			html_sentence(out, &a->sentence);
		} else {
			pf_buf_adds(out, a->sentence.len ? "fine: " : "fine");
			html_sentence(out, &a->sentence);
		}
		pf_buf_addc(out, '\n');
	}
	pf_buf_adds(out, "</tbody></table></div>\n</details>\n</section>\n");
}

/* ---- method ---- */

static void add_coverage(struct pf_buf *out, const struct pf_parts *p)
{
	int64_t known = p->launches.all.count;
	int64_t orphans = p->launches.orphan_count;
	double all = 0, op = 0; /* only their ratio is shown */

	for (int64_t i = 0; i < p->callers.row_count; i++) {
		const struct pf_kernel_row *row = &p->callers.rows[i];

		all += (double)row->ns.of.sum;
		if (row->second && strcmp(row->second, "(none)") != 0)
			op += (double)row->ns.of.sum;
	}
	if (known + orphans <= 0)
		return;
	pf_buf_adds(out, "<p id=coverage>Coverage: ");
	pf_html_ratio(out, (double)known / (double)(known + orphans));
	pf_buf_adds(out, " of the GPU events have a launch call");
	if (all > 0) {
		pf_buf_adds(out, ", ");
		pf_html_ratio(out, (double)op / (double)all);
		pf_buf_adds(out, " of the kernel time an operator");
	}
	pf_buf_adds(out, ".</p>\n");
}

static void add_sql(struct pf_buf *out, const char *query)
{
	PF_AUTO(pf_buf_release) struct pf_buf name = { 0 };
	const char *sql;

	if (!query)
		return;
	pf_buf_addf(&name, "schema/query/%s.sql", query);
	sql = pf_asset(name.data, NULL);
	if (sql) {
		pf_buf_addf(out,
			    "<details><summary><code>%s</code></summary>"
			    "<pre>",
			    name.data);
		pf_html_text(out, sql);
		pf_buf_adds(out, "</pre></details>\n");
	}
}

static void add_definitions(struct pf_buf *out)
{
	pf_buf_adds(out, "<p>What figures of them are, in plain SQL for "
			 "<code>profan query</code>:</p>\n");
	for (int i = 0; i < PF_PART_COUNT; i++)
		add_sql(out, pf_parts_query((enum pf_part)i));
}

static void add_method(struct pf_buf *out, const struct pf_parts *p)
{
	PF_AUTO(pf_buf_release) struct pf_buf absent = { 0 };

	pf_buf_adds(out, "<details><summary>Commands, definitions and what is "
			 "left out</summary>\n");
	add_coverage(out, p);
	pf_buf_adds(out, "<p>Every figure of this page is one of these "
			 "commands; <code>--format json</code> prints it to "
			 "the last digit.</p>\n<ul class=cmds>\n");
	for (int i = 0; i < PF_PART_COUNT; i++) {
		PF_AUTO(pf_buf_release) struct pf_buf command = { 0 };

		pf_parts_command(p, (enum pf_part)i, &command);
		pf_buf_adds(out, "<li><code>");
		pf_html_text(out, command.data);
		pf_buf_adds(out, "</code>\n");
	}
	pf_buf_adds(out, "</ul>\n");
	if (!p->traces.is_tpu)
		add_definitions(out);
	sections_absent(&absent, p);
	if (absent.len)
		pf_buf_addf(out,
			    "<p>Not on this page, for want of data:</p>\n"
			    "<ul>\n%s</ul>\n",
			    absent.data);
	for (int i = 0; i < PF_PART_COUNT; i++)
		for (size_t k = 0; k < p->doc[i].note_count; k++) {
			if (!*p->doc[i].notes[k])
				continue;
			pf_buf_adds(out, "<p class=note>");
			pf_html_prose(out, p->doc[i].notes[k],
				      strlen(p->doc[i].notes[k]));
			pf_buf_adds(out, ".</p>\n");
		}
	pf_buf_adds(out, "</details>\n");
}

/* In place of a chart where there is no trace, only what stands beside one. */
static void add_no_times(struct pf_buf *out, const struct pf_parts *p)
{
	const char *finding = pf_doc_find_finding(&p->doc[PF_PART_STEPS]);

	if (p->steps.is_untimed)
		finding = "A memory snapshot has no GPU work";
	else if (p->steps.count || !finding)
		return;
	pf_buf_adds(out, "<p class=lead>");
	pf_html_prose(out, finding, strlen(finding));
	pf_buf_adds(out, ".</p>\n");
}

/* ---- the page ---- */

/* The name of the trace, for a heading. */
static void report_title(const struct pf_report *r, struct pf_buf *out)
{
	const struct pf_info *info = &r->parts.info;
	PF_AUTO(pf_buf_release) struct pf_buf path = { 0 };

	if (info->trace_count == 1 && r->args.page.redact)
		pf_buf_adds(out, "a trace");
	else if (info->trace_count == 1 && info->traces->path)
		pf_buf_adds(out,
			    pf_path_base(pf_parts_text(
				    &r->parts, info->traces->path, &path)));
	else
		pf_buf_addf(out, "%zu traces", info->trace_count);
}

int pf_report_html(struct pf_report *r, struct pf_buf *out)
{
	PF_AUTO(pf_fill_release) struct pf_skeleton s = { 0 };
	PF_AUTO(pf_buf_release) struct pf_buf title = { 0 };
	PF_AUTO(pf_titles_release) struct pf_titles titles = { 0 };
	struct pf_html_page page = { .parts = &r->parts,
				     .source_url = r->args.page.source_url,
				     .titles = &titles };

	PF_TRY(pf_titles_init(&titles, r->db->err));
	page.first_ns = r->parts.traces.traces[0].first_ns;
	if (pf_timelines_have(&r->timelines))
		page.timelines = &r->timelines;
	report_title(r, &title);
	pf_html_text(&s.title, title.data);
	add_header(&s.header, r);
	sections_links(&s.nav, &r->parts);
	pf_buf_adds(&s.fine_link, "<li><a href=\"#fine\">Checks</a>\n");
	pf_buf_adds(&s.verdicts_title, "Verdicts");
	add_verdicts(&s.verdicts, r, &page);
	add_tiles(&s.tiles, &page, &r->tiles);
	pf_buf_adds(&s.breakdown_title, "Where the time goes");
	add_no_times(&s.breakdown, &r->parts);
	chart_steps(&s.breakdown, &page);
	sections_steps(&s.breakdown, &page);
	sections_add(&s.sections, &page);
	add_checks(&s.fine, &r->verdicts);
	pf_titles_list(&titles, &s.method);
	add_method(&s.method, &r->parts);
	PF_TRY(pf_timeline_html(&r->timelines,
				r->args.page.max_html_bytes - pf_fill_bytes(&s),
				&s.timeline, &s.data, r->db->err));
	return pf_fill(&s, out, r->db->err);
}

/* ---- a summary for pull requests and CI logs: the same sentences ---- */

/* Names as code, the rest as it is: those words are ours. */
static void md_sentence(struct pf_buf *out, const struct pf_buf *sentence)
{
	const char *s = sentence->data, *end = s ? s + sentence->len : s;

	while (s < end) {
		const char *mark = s;

		while (mark < end && *mark != PF_SAY_NAME &&
		       *mark != PF_SAY_END)
			mark++;
		if (mark < end && *mark == PF_SAY_END)
			pf_escape_md_line(out, s, (size_t)(mark - s));
		else
			pf_buf_add(out, s, (size_t)(mark - s));
		s = mark + 1;
	}
}

static void md_verdicts(struct pf_buf *out, const struct pf_report *r)
{
	const struct pf_verdicts *v = &r->verdicts;
	PF_AUTO(pf_buf_release) struct pf_buf command = { 0 };

	for (size_t i = 0; i < v->fired && i < PF_VERDICTS_SHOWN; i++) {
		const struct pf_verdict *of = &v->all[i];

		pf_buf_addf(out, "- **%s:** ", pf_severity_word(of->severity));
		md_sentence(out, &of->sentence);
		pf_verdict_say_gain(of, ". ", out);
		if (of->advice && of->advice->remedy)
			pf_buf_addf(out, ". To try: %s", of->advice->remedy);
		pf_buf_adds(out, ".\n");
	}
	if (v->fired > PF_VERDICTS_SHOWN)
		pf_buf_addf(out, "- and %zu more\n",
			    v->fired - PF_VERDICTS_SHOWN);
	advise_command(r, &command);
	pf_buf_adds(out, "\nWhere it is, and what to write: ");
	pf_escape_md_line(out, command.data, command.len);
	pf_buf_addc(out, '\n');
}

static void md_tiles(struct pf_buf *out, const struct pf_tiles *tiles)
{
	pf_buf_adds(out, "\n<details><summary>Figures</summary>\n\n"
			 "| | | |\n|---|---:|---|\n");
	for (size_t i = 0; i < tiles->count; i++) {
		const struct pf_tile *t = &tiles->tile[i];

		pf_buf_addf(out, "| %s | ", t->col.title);
		pf_figure_cell(out, &t->value, t->col.kind);
		pf_buf_addf(out, " | %s |\n",
			    t->detail.data ? t->detail.data : "");
	}
	pf_buf_adds(out, "\n</details>\n");
}

static void md_classes(struct pf_buf *out, const struct pf_parts *p)
{
	if (p->steps.is_untimed)
		return;
	pf_buf_adds(out, "\n| Where the step goes | Mean | Share |\n"
			 "|---|---:|---:|\n");
	for (int i = 0; i < PF_STEP_CLASSES; i++) {
		const struct pf_step_spread *class = &p->steps.classes[i];

		if (!class->mean_ns)
			continue;
		pf_buf_addf(out, "| %s | ", class->name);
		pf_figure_ns(out, class->mean_ns);
		pf_buf_adds(out, " | ");
		pf_figure_ratio(out, class->share);
		pf_buf_adds(out, " |\n");
	}
}

void pf_report_md(const struct pf_report *r, const char *html_name,
		  struct pf_buf *out)
{
	PF_AUTO(pf_buf_release) struct pf_buf title = { 0 };

	report_title(r, &title);
	pf_buf_adds(out, "<!-- profan:report -->\n### profan: ");
	pf_escape_md_sentence(out, title.data, title.len);
	pf_buf_adds(out, "\n\n");
	md_verdicts(out, r);
	md_classes(out, &r->parts);
	md_tiles(out, &r->tiles);
	if (html_name) {
		pf_buf_adds(out, "\nThe whole report: ");
		pf_escape_md_line(out, html_name, strlen(html_name));
		pf_buf_addc(out, '\n');
	}
}
