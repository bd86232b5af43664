/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "page/chart.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "page/figure.h"
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
		if (place_of(point) < c->from)
			c->from = place_of(point);
		if (place_of(point) > c->to)
			c->to = place_of(point);
		if (point->high > c->top_bytes)
			c->top_bytes = point->high;
		if (point->reserved > c->top_bytes)
			c->top_bytes = point->reserved;
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

void pf_chart_memory(struct pf_buf *out, const struct pf_html_page *page)
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

	if (at < *low)
		*low = at;
	if (at > *high)
		*high = at;
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

void pf_chart_roof(struct pf_buf *out, const struct pf_html_page *page)
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

void pf_chart_training(struct pf_buf *out, const struct pf_html_page *page)
{
	add_times(out, page);
	add_memory(out, page);
}
