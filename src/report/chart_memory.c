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

#define WIDTH  1000.0
#define HEIGHT 160.0

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

static double x_of(const struct curve *c, int64_t ns)
{
	return WIDTH * (double)(ns - c->from_ns) /
	       (double)(c->to_ns - c->from_ns);
}

static double y_of(const struct curve *c, int64_t bytes)
{
	return HEIGHT - HEIGHT * (double)bytes / (double)c->top_bytes;
}

/* A line with steps over all points, left to right. */
static void add_steps(struct pf_buf *out, const struct curve *c,
		      const char *key)
{
	bool is_first = true;

	for (size_t r = 0; r < pf_table_rows(c->points); r++) {
		const struct pf_cell *cell = pf_table_at(c->points, r, key);
		double x, y;

		if (!is_mine(c, r) || !cell)
			continue;
		x = x_of(c, pf_table_int_at(c->points, r, "time_ns"));
		y = y_of(c, pf_cell_int(cell));
		if (is_first)
			pf_buf_addf(out, "M%.1f %.1f", x, y);
		else
			pf_buf_addf(out, "H%.1fV%.1f", x, y);
		is_first = false;
	}
}

/* The same from right to left, to close an area. */
static void add_steps_back(struct pf_buf *out, const struct curve *c,
			   const char *key)
{
	double y = -1;

	for (size_t r = pf_table_rows(c->points); r-- > 0;) {
		double x;

		if (!is_mine(c, r))
			continue;
		x = x_of(c, pf_table_int_at(c->points, r, "time_ns"));
		if (y < 0)
			pf_buf_addf(
				out, "L%.1f %.1f", x,
				y_of(c, pf_table_int_at(c->points, r, key)));
		else
			pf_buf_addf(out, "V%.1fH%.1f",
				    y_of(c, pf_table_int_at(c->points, r, key)),
				    x);
		y = 0;
	}
	pf_buf_addc(out, 'Z');
}

static void add_picture(struct pf_buf *out, const struct curve *c, int64_t peak,
			int64_t peak_ns)
{
	pf_buf_adds(out, "<svg class=curve viewBox=\"0 0 1000 160\" "
			 "preserveAspectRatio=none role=img aria-label=\"");
	pf_html_text(out, c->device);
	pf_buf_adds(out, ": memory over time, peak ");
	pf_figure_bytes(out, peak);
	pf_buf_adds(out, "\"><path fill=\"#3f84c8\" fill-opacity=\"0.25\" "
			 "d=\"");
	add_steps(out, c, "high_bytes");
	pf_buf_addf(out, "V%.0fH0Z\"/><path fill=\"#3f84c8\" d=\"", HEIGHT);
	add_steps(out, c, "high_bytes");
	add_steps_back(out, c, "low_bytes");
	pf_buf_adds(out, "\"/><path fill=\"none\" stroke=\"#c26f1f\" "
			 "vector-effect=\"non-scaling-stroke\" d=\"");
	add_steps(out, c, "reserved_bytes");
	pf_buf_addf(out,
		    "\"/><path fill=\"none\" stroke=\"#c75d68\" "
		    "stroke-dasharray=\"3 3\" vector-effect=\"non-scaling-"
		    "stroke\" d=\"M%.1f 0V160\"/></svg>\n",
		    x_of(c, peak_ns < c->from_ns ? c->from_ns
			    : peak_ns > c->to_ns ? c->to_ns
						 : peak_ns));
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
