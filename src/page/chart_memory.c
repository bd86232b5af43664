/* SPDX-License-Identifier: MIT */
/*
 * Each point of the curve is drawn from its lowest to its highest value, so
 * that no peak is lost however many records a point stands for.
 */
#include "config.h"

#include <inttypes.h>
#include <stddef.h>

#include "page/chart.h"
#include "page/figure.h"

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
static struct pen add_steps(struct pf_buf *out, const struct curve *c,
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
	pen = add_steps(out, c, MEMBER(low));
	pen_y(&pen, HEIGHT);
	pf_buf_adds(out, "H0Z\"/><path fill=\"#3f84c8\" d=\"");
	pen = add_steps(out, c, MEMBER(high));
	add_steps_back(&pen, c);
	pf_buf_adds(out, "Z\"/><path fill=\"none\" stroke=\"#c26f1f\" "
			 "vector-effect=\"non-scaling-stroke\" d=\"");
	pen = add_steps(out, c, MEMBER(reserved));
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
	pf_buf_adds(out, d->is_absolute ? " after " : ", after ");
	if (d->at.is_untimed)
		pf_buf_adds(out, pf_usage_when(when, d));
	else
		pf_figure_ns(out, d->peak_ns);
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
