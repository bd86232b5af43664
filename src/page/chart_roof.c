/* SPDX-License-Identifier: MIT */
/*
 * Calls by how much they compute for each byte and how fast they did, both
 * axes logarithmic, below the lines that the GPU cannot pass: the rate of its
 * memory, which rises, and its peaks, which are level.
 */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "page/chart.h"
#include "page/figure.h"

#define WIDTH       1000
#define HEIGHT      500
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

static double x_of(const struct picture *p, double decade)
{
	return WIDTH * (decade - p->x0) / (p->x1 - p->x0);
}

static double y_of(const struct picture *p, double decade)
{
	return HEIGHT - HEIGHT * (decade - p->y0) / (p->y1 - p->y0);
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
		pf_buf_addf(out, "M%.1f 0V%d", x_of(p, d), HEIGHT);
	for (double d = p->y0; d <= p->y1; d++)
		pf_buf_addf(out, "M0 %.1fH%d", y_of(p, d), WIDTH);
	pf_buf_adds(out, "\"/>");
}

/* The rate of the memory, as far as the highest level. */
static void add_slope(struct pf_buf *out, const struct picture *p, double top)
{
	double up = log10(p->slope), from = fmax(p->x0, p->y0 - up);
	double to = fmin(top - up, p->x1);

	if (to > from)
		pf_buf_addf(out, ROOF "M%.1f %.1fL%.1f %.1f\"/>", x_of(p, from),
			    y_of(p, from + up), x_of(p, to), y_of(p, to + up));
}

static void add_roofs(struct pf_buf *out, const struct picture *p)
{
	double top = p->level_count ? -INFINITY : p->y1;

	for (size_t i = 0; i < p->level_count; i++) {
		double at = log10(p->levels[i].tflops), from = p->x0;

		top = fmax(top, at);
		if (p->slope > 0)
			from = fmax(from, at - log10(p->slope));
		pf_buf_addf(out, ROOF "M%.1f %.1fH%d\"/>", x_of(p, from),
			    y_of(p, at), WIDTH);
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
	struct pf_buf whole = { 0 }, text = { 0 };
	size_t len;

	pf_buf_adds(&whole, row->op);
	if (row->shapes)
		pf_buf_addf(&whole, " %s", row->shapes);
	pf_parts_text(page->parts, whole.data, &text);
	len = pf_utf8_head(text.data, text.len, TITLE_MAX);
	pf_buf_adds(out, "<title>");
	pf_html_bytes(out, text.data, len);
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
	pf_buf_release(&text);
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
		x_of(p, x), y_of(p, y),
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

static void add_caption(struct pf_buf *out, const struct picture *p,
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
	struct pf_buf points = { 0 };

	find_levels(&p);
	find_range(&p);
	if (isinf(p.x0))
		return;
	add_points(&points, page, &p, has_bound);
	pf_buf_adds(out, "<figure><div class=plot>");
	add_decades(out, p.y1, p.y0);
	pf_buf_addf(out, "<svg viewBox=\"0 0 %d %d\" role=img aria-label=\"",
		    WIDTH, HEIGHT);
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
	add_caption(out, &p, has_bound);
	pf_buf_release(&points);
}
