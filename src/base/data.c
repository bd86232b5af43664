/* SPDX-License-Identifier: MIT */
/* Cells lie one after another; the header is the first row. */
#include "config.h"

#include <csv.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/asset.h"
#include "base/data.h"

struct pf_data {
	struct pf_arena texts;
	const char **cells;
	size_t count, cap;
	size_t columns; /* of the header */
	size_t in_row;  /* cells of the row that is being read */
	bool is_bad;
};

static void take_cell(void *text, size_t len, void *arg)
{
	struct pf_data *d = arg;

	*PF_ONE_MORE(d->cells, d->count, d->cap) =
		pf_arena_text(&d->texts, text ? text : "", len);
	d->in_row++;
}

static void end_row(int separator, void *arg)
{
	struct pf_data *d = arg;

	(void)separator;
	if (!d->columns)
		d->columns = d->in_row;
	d->is_bad |= d->in_row != d->columns;
	d->in_row = 0;
}

static bool has_header(const struct pf_data *d, const char *header)
{
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };

	pf_buf_adds(&text, "");
	for (size_t i = 0; i < d->columns; i++)
		pf_buf_addf(&text, "%s%s", i ? "," : "", d->cells[i]);
	return !strcmp(text.data, header);
}

struct pf_data *pf_data_new(const char *name, const char *header,
			    struct pf_err *err)
{
	struct pf_data *d = pf_calloc(1, sizeof(*d));
	struct csv_parser parser;
	size_t len = 0;
	const char *text = pf_asset(name, &len);

	if (!text || csv_init(&parser, CSV_STRICT)) {
		pf_fail(err, PF_EDATA, "'%s' is not part of this program",
			name);
		pf_data_free(d);
		return NULL;
	}
	d->is_bad = csv_parse(&parser, text, len, take_cell, end_row, d) != len;
	csv_fini(&parser, take_cell, end_row, d);
	csv_free(&parser);
	if (!d->is_bad && has_header(d, header))
		return d;
	pf_fail(err, PF_EDATA, "'%s' is not a table of %s", name, header);
	pf_data_free(d);
	return NULL;
}

void pf_data_free(struct pf_data *d)
{
	if (!d)
		return;
	pf_arena_release(&d->texts);
	free(d->cells);
	free(d);
}

size_t pf_data_rows(const struct pf_data *d)
{
	return d->columns ? d->count / d->columns - 1 : 0;
}

const char *pf_data_cell(const struct pf_data *d, size_t row, size_t column)
{
	return d->cells[(row + 1) * d->columns + column];
}
