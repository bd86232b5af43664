/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>

#include "base/num.h"
#include "page/figure.h"

static const int64_t powers[] = { 1, 10, 100, 1000 };

/* value / unit with "decimals" digits, half up; the value is not negative. */
static int64_t scaled(int64_t value, int64_t unit, int decimals)
{
	int64_t whole = value / unit, rest = value % unit;
	int64_t power = powers[decimals];

	return whole * power + (rest * power + unit / 2) / unit;
}

static void add_scaled(struct pf_buf *out, int64_t n, int decimals,
		       const char *unit)
{
	pf_buf_addf(out, "%" PRId64, n / powers[decimals]);
	if (decimals)
		pf_buf_addf(out, ".%0*" PRId64, decimals, n % powers[decimals]);
	pf_buf_adds(out, unit);
}

void pf_figure_ns(struct pf_buf *out, int64_t ns)
{
	static const struct {
		int64_t unit, limit;
		int decimals;
	} units[PF_NUM_TIME_UNITS - 1] = {
		{ 1000, 1000, 2 },
		{ 1000000, 1000, 2 },
		{ 1000000000, 10000, 3 },
	};

	if (ns < 0 && ns != INT64_MIN) {
		pf_buf_addc(out, '-');
		ns = -ns;
	}
	if (ns < 1000) {
		pf_buf_addf(out, "%" PRId64 " %s", ns, pf_num_time_units[0]);
		return;
	}
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		for (int d = units[i].decimals; d >= 0; d--) {
			int64_t n = scaled(ns, units[i].unit, d);

			if (n >= units[i].limit && (d > 0 || i < 2))
				continue;
			add_scaled(out, n, d, "");
			pf_buf_addf(out, " %s", pf_num_time_units[i + 1]);
			return;
		}
	}
}

void pf_figure_bytes(struct pf_buf *out, int64_t bytes)
{
	static const char *const names[] = { " KiB", " MiB", " GiB",
					     " TiB", " PiB", " EiB" };
	int64_t unit = 1024;
	int i = 0;

	if (bytes < 0 && bytes != INT64_MIN) {
		pf_buf_addc(out, '-');
		bytes = -bytes;
	}
	if (bytes < 1024) {
		pf_buf_addf(out, "%" PRId64 " B", bytes);
		return;
	}
	/* what would round to 1024.0 is one of the next unit */
	while (i < 5 && bytes / unit >= 1023 &&
	       scaled(bytes / (unit / 1024), 1024, 1) >= 10240) {
		unit *= 1024;
		i++;
	}
	add_scaled(out, scaled(bytes / (unit / 1024), 1024, 1), 1, names[i]);
}

void pf_figure_ratio(struct pf_buf *out, double ratio)
{
	double percent = 100 * ratio;

	if (!isfinite(ratio))
		pf_buf_adds(out, "n/a");
	else if (percent > 0 && percent < 0.05)
		pf_buf_adds(out, "<0.1 %");
	else if (percent < 0 && percent > -0.05)
		pf_buf_adds(out, "> -0.1 %");
	else if (percent > 99.95 && percent < 100)
		pf_buf_adds(out, ">99.9 %");
	else
		pf_buf_addf(out, "%.1f %%", percent);
}

void pf_figure_count(struct pf_buf *out, int64_t n)
{
	char shown[PF_NUM_MAX];

	pf_buf_adds(out, pf_num_show_count(shown, n));
}

static void add_real(struct pf_buf *out, double d)
{
	char shown[PF_NUM_MAX];

	if ((fabs(d) >= 1000 || d == floor(d)) && fabs(d) < 9e15)
		pf_figure_count(out, (int64_t)(d < 0 ? d - 0.5 : d + 0.5));
	else if (fabs(d) >= 100)
		pf_buf_addf(out, "%.0f", d);
	else if (fabs(d) >= 10)
		pf_buf_addf(out, "%.1f", d);
	else if (fabs(d) >= 0.01)
		pf_buf_addf(out, "%.2f", d);
	else
		pf_buf_adds(out, pf_num_show_real(shown, d));
}

void pf_figure_cell(struct pf_buf *out, const struct pf_cell *cell,
		    enum pf_col_kind kind)
{
	double d;

	kind = PF_COL_KIND(kind);
	if (!cell || cell->type == PF_CELL_NULL || cell->type == PF_CELL_TEXT)
		return;
	d = cell->type == PF_CELL_INT ? (double)cell->v.i : cell->v.d;
	if (kind == PF_RATIO)
		pf_figure_ratio(out, d);
	else if (kind == PF_NS && fabs(d) < 9e18)
		pf_figure_ns(out, cell->type == PF_CELL_INT ? cell->v.i
							    : (int64_t)d);
	else if (cell->type == PF_CELL_REAL)
		add_real(out, d);
	else if (kind == PF_BYTES)
		pf_figure_bytes(out, cell->v.i);
	else if (kind == PF_INT)
		pf_buf_addf(out, "%" PRId64, cell->v.i);
	else
		pf_figure_count(out, cell->v.i);
}

void pf_figure_exact(struct pf_buf *out, const struct pf_cell *cell)
{
	char shown[PF_NUM_MAX];

	if (cell->type == PF_CELL_INT)
		pf_buf_addf(out, "%" PRId64, cell->v.i);
	else if (cell->type == PF_CELL_REAL && isfinite(cell->v.d))
		pf_buf_adds(out, pf_num_exact(shown, cell->v.d));
}
