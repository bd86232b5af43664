/* SPDX-License-Identifier: MIT */
/*
 * Each point of the curve is drawn from its lowest to its highest value, so
 * that no peak is lost however many records a point stands for.
 */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "report/chart.h"
#include "report/figure.h"
#include "table/find.h"

/* Of the picture's own units: whole ones are fine enough. */
#define WIDTH  1000
#define HEIGHT 1600

struct curve {
	const struct pf_table *points;
	const char *device;
	int64_t trace_id;
	int64_t from_ns, to_ns, top_bytes;
	size_t count;
};

static bool is_mine(const struct curve *c, size_t row)
{
	const char *device = pf_table_text_at(c->points, row, "device");

	return device && !strcmp(device, c->device) &&
	       pf_table_int_at(c->points, row, "trace_id") == c->trace_id;
}

static void measure(struct curve *c)
{
	c->from_ns = INT64_MAX;
	c->to_ns = INT64_MIN;
	for (size_t r = 0; r < pf_table_rows(c->points); r++) {
		int64_t at, high, reserved;

		if (!is_mine(c, r))
			continue;
		at = pf_table_int_at(c->points, r, "time_ns");
		high = pf_table_int_at(c->points, r, "high_bytes");
		reserved = pf_table_int_at(c->points, r, "reserved_bytes");
		if (at < c->from_ns)
			c->from_ns = at;
		if (at > c->to_ns)
			c->to_ns = at;
		if (high > c->top_bytes)
			c->top_bytes = high;
		if (reserved > c->top_bytes)
			c->top_bytes = reserved;
		c->count++;
	}
}

static int x_of(const struct curve *c, int64_t ns)
{
	return (int)(WIDTH * (double)(ns - c->from_ns) /
			     (double)(c->to_ns - c->from_ns) +
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

/* Over all points, left to right. */
static struct pen add_steps(struct pf_buf *out, const struct curve *c,
			    const char *key)
{
	struct pen p = { 0 };

	for (size_t r = 0; r < pf_table_rows(c->points); r++) {
		const struct pf_cell *cell = pf_table_at(c->points, r, key);
		int y;

		if (!is_mine(c, r) || !cell)
			continue;
		y = y_of(c, pf_cell_int(cell));
		if (!p.out)
			p = pen_at(out, 0, y);
		p.x = x_of(c, pf_table_int_at(c->points, r, "time_ns"));
		pen_y(&p, y);
	}
	return p;
}

/* The same from right to left. */
static void add_steps_back(struct pen *p, const struct curve *c,
			   const char *key)
{
	for (size_t r = pf_table_rows(c->points); r-- > 0;) {
		if (!is_mine(c, r))
			continue;
		pen_y(p, y_of(c, pf_table_int_at(c->points, r, key)));
		p->x = x_of(c, pf_table_int_at(c->points, r, "time_ns"));
	}
	pen_end(p);
}

static void add_picture(struct pf_buf *out, const struct curve *c, int64_t peak,
			int64_t peak_ns)
{
	struct pen pen;

	pf_buf_addf(out,
		    "<svg class=curve viewBox=\"0 0 %d %d\" "
		    "preserveAspectRatio=none role=img aria-label=\"",
		    WIDTH, HEIGHT);
	pf_html_text(out, c->device);
	pf_buf_adds(out, ": memory over time, peak ");
	pf_figure_bytes(out, peak);
	pf_buf_adds(out, "\"><path fill=\"#3f84c8\" fill-opacity=\"0.25\" "
			 "d=\"");
	pen = add_steps(out, c, "low_bytes");
	pen_y(&pen, HEIGHT);
	pf_buf_adds(out, "H0Z\"/><path fill=\"#3f84c8\" d=\"");
	pen = add_steps(out, c, "high_bytes");
	add_steps_back(&pen, c, "low_bytes");
	pf_buf_adds(out, "Z\"/><path fill=\"none\" stroke=\"#c26f1f\" "
			 "vector-effect=\"non-scaling-stroke\" d=\"");
	pen = add_steps(out, c, "reserved_bytes");
	if (pen.out)
		pen_end(&pen);
	pf_buf_addf(out,
		    "\"/><path fill=\"none\" stroke=\"#c75d68\" "
		    "stroke-dasharray=\"3 3\" vector-effect=\"non-scaling-"
		    "stroke\" d=\"M%d 0V%d\"/></svg>\n",
		    x_of(c, peak_ns < c->from_ns ? c->from_ns
			    : peak_ns > c->to_ns ? c->to_ns
						 : peak_ns),
		    HEIGHT);
}

static void add_caption(struct pf_buf *out, const struct pf_table *devices,
			size_t row, const struct curve *c)
{
	pf_buf_adds(out, "<figcaption>");
	pf_html_text(out, c->device);
	pf_buf_adds(out, ", ");
	pf_figure_ns(out, c->from_ns);
	pf_buf_adds(out, " to ");
	pf_figure_ns(out, c->to_ns);
	pf_buf_adds(out, ": allocated (blue)");
	if (pf_table_at(devices, row, "peak_reserved_bytes"))
		pf_buf_adds(out, ", reserved (orange line)");
	pf_buf_adds(out, ", peak ");
	pf_figure_bytes(out, pf_table_int_at(devices, row, "peak_bytes"));
	pf_buf_adds(out, " after ");
	pf_figure_ns(out, pf_table_int_at(devices, row, "peak_ns"));
	pf_buf_adds(out, " (dashed); the top is ");
	pf_figure_bytes(out, c->top_bytes);
	pf_buf_adds(out, "</figcaption></figure>\n");
}

void pf_chart_memory(struct pf_buf *out, const struct pf_html_page *page)
{
	const struct pf_doc *doc = &page->parts->doc[PF_PART_MEMORY];
	const struct pf_table *devices = pf_doc_find_table(doc, "devices");
	size_t drawn = 0;

	for (size_t r = 0; r < pf_table_rows(devices) && drawn < 8; r++) {
		struct curve c = {
			.points = pf_doc_find_table(doc, "curve"),
			.device = pf_table_text_at(devices, r, "device"),
			.trace_id = pf_table_int_at(devices, r, "trace_id"),
		};

		if (!pf_table_int_at(devices, r, "device_type") || !c.device)
			continue;
		measure(&c);
		if (c.count < 2 || c.to_ns <= c.from_ns || c.top_bytes <= 0)
			continue;
		drawn++;
		pf_buf_adds(out, "<figure>");
		add_picture(out, &c, pf_table_int_at(devices, r, "peak_bytes"),
			    pf_table_int_at(devices, r, "peak_ns"));
		add_caption(out, devices, r, &c);
	}
}
