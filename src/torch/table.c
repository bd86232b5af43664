/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "torch/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/opt.h"
#include "base/order.h"

#define COLUMN_WIDTH 12
#define SPACING      2
#define COLUMNS_MAX  20

struct sort_item {
	const struct pf_average *row;
	size_t index;
	double time;
	int64_t number;
	const char *name;
	const struct pf_flops_sum *flops;
};

/* ---- sorting ---- */

int pf_torch_sort_key(const char *name, enum pf_torch_sort *out,
		      struct pf_err *err)
{
	static const struct {
		const char *before, *after; /* around the device's name */
		enum pf_torch_sort key;
	} known[] = {
		{ "none", NULL, PF_SORT_NONE },
		{ "self_cpu_time_total", NULL, PF_SORT_SELF_CPU },
		{ "cpu_time_total", NULL, PF_SORT_CPU },
		{ "cpu_time", NULL, PF_SORT_CPU_AVERAGE },
		{ "self_cpu_memory_usage", NULL, PF_SORT_SELF_CPU_MEMORY },
		{ "cpu_memory_usage", NULL, PF_SORT_CPU_MEMORY },
		{ "count", NULL, PF_SORT_COUNT },
		{ "flops", NULL, PF_SORT_FLOPS },
		{ "key", NULL, PF_SORT_KEY },
		{ "self_", "_time_total", PF_SORT_SELF_DEVICE },
		{ "", "_time_total", PF_SORT_DEVICE },
		{ "", "_time", PF_SORT_DEVICE_AVERAGE },
		{ "self_", "_memory_usage", PF_SORT_SELF_DEVICE_MEMORY },
		{ "", "_memory_usage", PF_SORT_DEVICE_MEMORY },
	};
	static const char *const devices[] = { "device", "cuda", "xpu",
					       "privateuse1" };

	struct pf_suggest near = { .word = name };
	char keys[PF_LEN(known)][PF_LEN(devices)][40];

	for (size_t i = 0; i < PF_LEN(known); i++)
		for (size_t d = 0; d < PF_LEN(devices); d++) {
			const char *after = known[i].after;

			snprintf(keys[i][d], sizeof(keys[i][d]), "%s%s%s",
				 known[i].before, after ? devices[d] : "",
				 after ? after : "");
			*out = known[i].key;
			if (!strcmp(name, keys[i][d]))
				return 0;
			pf_suggest_offer(&near, keys[i][d]);
		}
	if (near.best)
		return pf_fail(err, PF_EUSAGE,
			       "'%s' is no sort key of torch; did you mean "
			       "'%s'?",
			       name, near.best);
	return pf_fail(err, PF_EUSAGE,
		       "'%s' is no sort key of torch; there are none, count, "
		       "flops, key, "
		       "[self_]cpu_time_total, [self_]cuda_time_total, "
		       "cpu_time, cuda_time, [self_]cpu_memory_usage and "
		       "[self_]cuda_memory_usage (device_ means cuda_)",
		       name);
}

static double sort_time(const struct pf_average *r, enum pf_torch_sort key)
{
	double count = (double)r->count;

	switch (key) {
	case PF_SORT_SELF_CPU:
		return r->sum.us[PF_FIG_SELF_CPU];
	case PF_SORT_CPU:
		return r->sum.us[PF_FIG_CPU];
	case PF_SORT_CPU_AVERAGE:
		return r->count ? r->sum.us[PF_FIG_CPU] / count : 0;
	case PF_SORT_SELF_DEVICE:
		return r->sum.us[PF_FIG_SELF_DEVICE];
	case PF_SORT_DEVICE:
		return r->sum.us[PF_FIG_DEVICE];
	case PF_SORT_DEVICE_AVERAGE:
		return r->count ? r->sum.us[PF_FIG_DEVICE] / count : 0;
	default:
		return 0;
	}
}

static int64_t sort_number(const struct pf_average *r, enum pf_torch_sort key)
{
	switch (key) {
	case PF_SORT_SELF_CPU_MEMORY:
		return r->sum.bytes[PF_FIG_SELF_CPU];
	case PF_SORT_CPU_MEMORY:
		return r->sum.bytes[PF_FIG_CPU];
	case PF_SORT_SELF_DEVICE_MEMORY:
		return r->sum.bytes[PF_FIG_SELF_DEVICE];
	case PF_SORT_DEVICE_MEMORY:
		return r->sum.bytes[PF_FIG_DEVICE];
	case PF_SORT_COUNT:
		return (int64_t)r->count;
	default:
		return 0;
	}
}

/* What a row is sorted by: as torch, by a double of us where it is a time. */
static struct sort_item sort_item(const struct pf_average *r, size_t index,
				  enum pf_torch_sort key)
{
	return (struct sort_item){
		.row = r,
		.index = index,
		.time = sort_time(r, key),
		.number = sort_number(r, key),
		.name = key == PF_SORT_KEY ? r->name : NULL,
		.flops = key == PF_SORT_FLOPS ? &r->sum.flops : NULL,
	};
}

static int by_flops(const struct sort_item *x, const struct sort_item *y)
{
	return x->flops && y->flops ? pf_flops_compare(y->flops, x->flops) : 0;
}

PF_ORDER(by_key, struct sort_item,
	 PF_DOWN(time) PF_DOWN(number) PF_OMEGA(name) PF_THEN(by_flops)
		 PF_UP(index))

const struct pf_average **pf_torch_sorted(const struct pf_average *rows,
					  size_t count, enum pf_torch_sort key)
{
	PF_OWN struct sort_item *items = pf_calloc(count + 1, sizeof(*items));
	const struct pf_average **out;

	out = pf_calloc(count + 1, sizeof(struct pf_average *));
	for (size_t i = 0; i < count; i++)
		items[i] = sort_item(&rows[i], i, key);
	if (key != PF_SORT_NONE)
		pf_sort(items, count, sizeof(*items), by_key);
	for (size_t i = 0; i < count; i++)
		out[i] = items[i].row;
	return out;
}

/* ---- cells ---- */

static bool is_continuation(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

static size_t length(const char *s, size_t bytes)
{
	size_t n = 0;

	for (size_t i = 0; i < bytes; i++)
		n += !is_continuation(s[i]);
	return n;
}

/* Bytes of the first n code points. */
static size_t bytes_of(const char *s, size_t bytes, size_t n)
{
	size_t i = 0;

	for (; i < bytes; i++) {
		if (!is_continuation(s[i]) && n-- == 0)
			break;
	}
	return i;
}

/* Appended cells, as torch's _format_time and _format_memory. */
static void torch_time(struct pf_buf *out, double us, enum pf_torch_unit unit)
{
	if (unit == PF_UNIT_S || (unit == PF_UNIT_AUTO && us >= 1e6))
		pf_buf_addf(out, "%.3fs", us / 1e6);
	else if (unit == PF_UNIT_MS || (unit == PF_UNIT_AUTO && us >= 1e3))
		pf_buf_addf(out, "%.3fms", us / 1e3);
	else
		pf_buf_addf(out, "%.3fus", us);
}

static void torch_memory(struct pf_buf *out, int64_t n, bool byte_units)
{
	static const char *const units[2][4] = { { "b", "Kb", "Mb", "Gb" },
						 { "B", "KB", "MB", "GB" } };
	const char *const *unit = units[byte_units];
	uint64_t size = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
	double scale = 1;
	int step = 0;

	while (step < 3 && size >= UINT64_C(1) << (10 * (step + 1))) {
		step++;
		scale *= 1024;
	}
	if (!step)
		pf_buf_addf(out, "%" PRId64 " %s", n, unit[0]);
	else
		pf_buf_addf(out, "%.2f %s", (double)n / scale, unit[step]);
}

static void add_share(struct pf_buf *out, double us, double total)
{
	if (total == 0)
		pf_buf_adds(out, "NaN");
	else
		pf_buf_addf(out, "%.2f%%", us * 100.0 / total);
}

/* ---- layout ---- */

#define DEVICE_TITLES 6 /* four of time, two of memory */

struct layout {
	const struct pf_torch_table *t;
	struct pf_buf *out;
	struct {
		const char *title;
		size_t width;
		bool is_left;
	} column[COLUMNS_MAX];
	size_t columns, at;
	struct pf_buf cell; /* being written */
	bool has_device_time, has_device_memory, has_shapes, has_source;
	bool has_overloads;
	double cpu_total_us, device_total_us;
	double flop_scale; /* 0: no column */
	char flop_title[24];
	char device_title[DEVICE_TITLES][24];
};

static void add_column(struct layout *l, const char *title, size_t width)
{
	l->column[l->columns].title = title;
	l->column[l->columns++].width = width;
}

/* Put the cell in its column and go to the next one. */
static void end_cell(struct layout *l)
{
	size_t width = l->column[l->at].width;
	size_t len = length(l->cell.data ? l->cell.data : "", l->cell.len);
	bool is_left = l->column[l->at].is_left;

	if (is_left)
		pf_buf_add(l->out, l->cell.data, l->cell.len);
	for (; len < width; len++)
		pf_buf_addc(l->out, ' ');
	if (!is_left)
		pf_buf_add(l->out, l->cell.data, l->cell.len);
	pf_buf_adds(l->out, "  ");
	pf_buf_clear(&l->cell);
	if (++l->at == l->columns) {
		pf_buf_addc(l->out, '\n');
		l->at = 0;
	}
}

static void text_cell(struct layout *l, const char *s)
{
	pf_buf_adds(&l->cell, s);
	end_cell(l);
}

static void time_cell(struct layout *l, double us)
{
	torch_time(&l->cell, us, l->t->unit);
	end_cell(l);
}

static void share_cell(struct layout *l, double us, double total)
{
	add_share(&l->cell, us, total);
	end_cell(l);
}

static void memory_cell(struct layout *l, int64_t n)
{
	torch_memory(&l->cell, n, l->t->rules->byte_units);
	end_cell(l);
}

static void separator(struct layout *l)
{
	for (size_t i = 0; i < l->columns; i++) {
		for (size_t n = 0; n < l->column[i].width; n++)
			pf_buf_addc(l->out, '-');
		pf_buf_adds(l->out, "  ");
	}
	pf_buf_addc(l->out, '\n');
}

/* A line of = as long as the table, and a text under it. */
static void banner(struct layout *l, const char *text)
{
	size_t len = 0;

	for (size_t i = 0; i < l->columns; i++)
		len += l->column[i].width + SPACING;
	for (size_t n = 0; n + SPACING < len; n++)
		pf_buf_addc(l->out, '=');
	pf_buf_addf(l->out, "\n%s\n", text);
}

static size_t width_for(size_t longest, int64_t limit)
{
	longest += 4;
	return limit >= 0 && longest > (size_t)limit ? (size_t)limit : longest;
}

/* ---- what the rows need ---- */

struct extent {
	size_t name, shapes, source;
};

static void measure(struct layout *l, const struct pf_average *r,
		    struct extent *max)
{
	size_t name = length(r->name, strlen(r->name));
	size_t shapes = length(r->shapes, strlen(r->shapes));

	PF_AT_LEAST(max->name, name);
	PF_AT_LEAST(max->shapes, shapes);
	for (const char *s = r->stack; *s;) {
		size_t bytes = strcspn(s, "\n");
		size_t len = length(s, bytes);

		PF_AT_LEAST(max->source, len);
		s += bytes + (s[bytes] == '\n');
	}
	l->has_source |= *r->stack != '\0';
	l->has_overloads |= *r->overload != '\0';
	l->has_shapes |= *r->shapes && strcmp(r->shapes, "[]");
	l->has_device_time |= r->sum.us[PF_FIG_SELF_DEVICE] > 0;
	l->has_device_memory |= r->sum.bytes[PF_FIG_SELF_DEVICE] > 0;
}

static void add_totals(struct layout *l, const struct pf_average *r)
{
	l->cpu_total_us += r->sum.us[PF_FIG_SELF_CPU];
	if (r->is_device &&
	    !(r->is_annotation && l->t->rules->annotations_apart))
		l->device_total_us += r->sum.us[PF_FIG_SELF_DEVICE];
}

/* The FLOPs column is scaled by the smallest row that has any. */
static void scale_flops(struct layout *l, double least)
{
	static const char *const units[] = { "FLOPs",  "KFLOPs", "MFLOPs",
					     "GFLOPs", "TFLOPs", "PFLOPs" };
	double thirds = log10(least) / 3;
	int step = thirds < 0 ? 0 : thirds > 5 ? 5 : (int)thirds;
	PF_AUTO(pf_buf_release) struct pf_buf title = { 0 };

	l->flop_scale = pow(10, step * -3.0);
	pf_buf_addf(&title, "Total %s", units[step]);
	memcpy(l->flop_title, title.data, title.len + 1);
}

static void name_device_columns(struct layout *l)
{
	static const char *const around[DEVICE_TITLES][2] = {
		{ "Self ", "" },     { "Self ", " %" }, { "", " total" },
		{ "", " time avg" }, { "", " Mem" },    { "Self ", " Mem" },
	};

	for (size_t i = 0; i < DEVICE_TITLES; i++)
		snprintf(l->device_title[i], sizeof(l->device_title[i]),
			 "%s%s%s", around[i][0], l->t->rules->device,
			 around[i][1]);
}

static void add_time_columns(struct layout *l)
{
	add_column(l, "Self CPU %", COLUMN_WIDTH);
	add_column(l, "Self CPU", COLUMN_WIDTH);
	add_column(l, "CPU total %", COLUMN_WIDTH);
	add_column(l, "CPU total", COLUMN_WIDTH);
	add_column(l, "CPU time avg", COLUMN_WIDTH);
	if (!l->has_device_time)
		return;
	for (size_t i = 0; i < 4; i++)
		add_column(l, l->device_title[i], COLUMN_WIDTH);
}

/* The FLOPs column, if a row has any or is not known. */
static void add_flops_column(struct layout *l)
{
	const struct pf_flops_sum *least = NULL;
	bool is_any_unknown = false;

	for (size_t i = 0; i < l->t->count; i++) {
		const struct pf_flops_sum *f = &l->t->rows[i]->sum.flops;

		is_any_unknown |= f->unknown_count != 0;
		if (!f->unknown_count && (f->low || f->high) &&
		    (!least || pf_flops_compare(f, least) < 0))
			least = f;
	}
	if (!least && !is_any_unknown)
		return;
	scale_flops(l, least ? pf_flops_double(least) : 1);
	add_column(l, l->flop_title, COLUMN_WIDTH);
}

static void lay_out(struct layout *l)
{
	const struct pf_torch_table *t = l->t;
	struct extent max = { 0 };

	for (size_t i = 0; i < t->count; i++) {
		measure(l, t->rows[i], &max);
		add_totals(l, t->rows[i]);
	}
	name_device_columns(l);
	add_column(l, "Name", width_for(max.name, t->max_name));
	if (l->has_overloads) /* as wide as that of names */
		add_column(l, "Overload Name", l->column[0].width);
	add_time_columns(l);
	if (t->has_memory) {
		add_column(l, "CPU Mem", COLUMN_WIDTH);
		add_column(l, "Self CPU Mem", COLUMN_WIDTH);
	}
	l->has_device_memory &= t->has_memory;
	if (l->has_device_memory) {
		add_column(l, l->device_title[4], COLUMN_WIDTH);
		add_column(l, l->device_title[5], COLUMN_WIDTH);
	}
	add_column(l, "# of Calls", COLUMN_WIDTH);
	if (l->has_shapes)
		add_column(l, "Input Shapes",
			   width_for(max.shapes, t->max_shapes));
	if (l->has_source) {
		add_column(l, "Source Location",
			   width_for(max.source, t->max_source));
		l->column[l->columns - 1].is_left = true;
	}
	if (t->has_flops)
		add_flops_column(l);
}

/* ---- rows ---- */

/* Python's name[:max - 3] where it is too long: a negative end counts back. */
static void name_cell(struct layout *l, const char *name)
{
	size_t bytes = strlen(name), len = length(name, bytes);
	int64_t max = l->t->max_name;

	if (max >= 0 && (int64_t)len >= max - 3) {
		int64_t end = max < 3 ? (int64_t)len + max - 3 : max - 3;
		size_t keep = end > 0 ? (size_t)end : 0;

		pf_buf_add(&l->cell, name, bytes_of(name, bytes, keep));
		pf_buf_adds(&l->cell, "...");
	} else {
		pf_buf_add(&l->cell, name, bytes);
	}
	end_cell(l);
}

/* A path that is too long loses its beginning. */
static void source_cell(struct layout *l, const char *path, size_t bytes,
			size_t width)
{
	size_t len = length(path, bytes);

	if (len > width) {
		size_t cut = bytes_of(path, bytes, len - width);

		path += cut;
		bytes -= cut;
		if (width > 3) {
			cut = bytes_of(path, bytes, 3);
			path += cut;
			bytes -= cut;
			pf_buf_adds(&l->cell, "...");
		}
	}
	pf_buf_add(&l->cell, path, bytes);
	end_cell(l);
}

static void time_cells(struct layout *l, const struct pf_average *r)
{
	const double *us = r->sum.us;
	double count = (double)(r->count ? r->count : 1);

	share_cell(l, us[PF_FIG_SELF_CPU], l->cpu_total_us);
	time_cell(l, us[PF_FIG_SELF_CPU]);
	if (r->is_async)
		text_cell(l, "0");
	else
		share_cell(l, us[PF_FIG_CPU], l->cpu_total_us);
	time_cell(l, us[PF_FIG_CPU]);
	time_cell(l, us[PF_FIG_CPU] / count);
	if (!l->has_device_time)
		return;
	time_cell(l, us[PF_FIG_SELF_DEVICE]);
	share_cell(l, us[PF_FIG_SELF_DEVICE], l->device_total_us);
	time_cell(l, us[PF_FIG_DEVICE]);
	time_cell(l, us[PF_FIG_DEVICE] / count);
}

/* Width that torch cuts source lines to: of the column it thinks it is. */
static size_t source_width(const struct layout *l)
{
	for (size_t i = 0; i < l->columns; i++)
		if (l->column[i].is_left)
			return l->column[i].width;
	return 0;
}

/* Further lines of the stack in the last column, and an empty row. */
static void stack_rows(struct layout *l, const char *stack)
{
	size_t first = strcspn(stack, "\n"), lines = 1;

	for (stack += first; *stack == '\n'; lines++) {
		size_t bytes = strcspn(++stack, "\n");

		if (!l->t->rules->stack_limit || lines < 5) {
			while (l->at + 1 < l->columns)
				end_cell(l);
			source_cell(l, stack, bytes, source_width(l));
		}
		stack += bytes;
	}
	do
		end_cell(l);
	while (l->at);
}

static void flops_cell(struct layout *l, const struct pf_flops_sum *f)
{
	if (f->unknown_count)
		pf_buf_adds(&l->cell, "unknown");
	else if (f->low || f->high)
		pf_buf_addf(&l->cell, "%8.3f",
			    pf_flops_double(f) * l->flop_scale);
	else
		pf_buf_adds(&l->cell, "--");
	end_cell(l);
}

static void print_row(struct layout *l, const struct pf_average *r)
{
	const int64_t *bytes = r->sum.bytes;

	name_cell(l, r->name);
	if (l->has_overloads)
		name_cell(l, r->overload);
	time_cells(l, r);
	if (l->t->has_memory) {
		memory_cell(l, bytes[PF_FIG_CPU]);
		memory_cell(l, bytes[PF_FIG_SELF_CPU]);
	}
	if (l->has_device_memory) {
		memory_cell(l, bytes[PF_FIG_DEVICE]);
		memory_cell(l, bytes[PF_FIG_SELF_DEVICE]);
	}
	pf_buf_addf(&l->cell, "%" PRIu64, r->count);
	end_cell(l);
	if (l->has_shapes) {
		pf_buf_add(&l->cell, r->shapes,
			   bytes_of(r->shapes, strlen(r->shapes),
				    l->column[l->at].width));
		end_cell(l);
	}
	/* torch has these two the other way round than their headers. */
	if (l->flop_scale > 0)
		flops_cell(l, &r->sum.flops);
	if (l->has_source) {
		source_cell(l, r->stack, strcspn(r->stack, "\n"),
			    source_width(l));
		stack_rows(l, r->stack);
	}
}

void pf_torch_print(const struct pf_torch_table *t, struct pf_buf *out)
{
	struct layout l = { .t = t, .out = out };
	int64_t printed = 0;

	if (!t->count)
		return;
	lay_out(&l);
	if (t->header)
		banner(&l, t->header);
	if (t->top_level)
		banner(&l, "This report only display top-level ops "
			   "statistics");
	separator(&l);
	for (size_t i = 0; i < l.columns; i++)
		text_cell(&l, l.column[i].title);
	separator(&l);
	for (size_t i = 0; i < t->count && printed != t->limit; i++) {
		if (t->top_level && t->rows[i]->has_parent)
			continue;
		printed++;
		print_row(&l, t->rows[i]);
	}
	separator(&l);
	pf_buf_adds(out, "Self CPU time total: ");
	torch_time(out, l.cpu_total_us, t->unit);
	pf_buf_addc(out, '\n');
	if (l.has_device_time) {
		pf_buf_addf(out, "Self %s time total: ", t->rules->device);
		torch_time(out, l.device_total_us, t->unit);
		pf_buf_addc(out, '\n');
	}
	pf_buf_release(&l.cell);
}

/* ---- as a document ---- */

static const struct pf_col cols[] = {
	{ "name", "Name", PF_TEXT },
	{ "input_shapes", "Input shapes", PF_TEXT },
	{ "stack", "Stack", PF_TEXT },
	{ "device_type", "Device", PF_TEXT },
	{ "is_user_annotation", "Annotation", PF_INT },
	{ "count", "Calls", PF_COUNT },
	{ "self_cpu_ns", "Self CPU", PF_NS },
	{ "cpu_total_ns", "CPU total", PF_NS },
	{ "self_device_ns", "Self device", PF_NS | PF_UNUSED },
	{ "device_total_ns", "Device total", PF_NS | PF_UNUSED },
	{ "self_cpu_mem_bytes", "Self CPU memory", PF_BYTES },
	{ "cpu_mem_bytes", "CPU memory", PF_BYTES },
	{ "self_device_mem_bytes", "Self device memory", PF_BYTES | PF_UNUSED },
	{ "device_mem_bytes", "Device memory", PF_BYTES },
	{ "flops", "FLOPs", PF_COUNT },
	{ "overload_name", "Overload", PF_TEXT },
};

#define COLUMNS (PF_LEN(cols))

struct pf_table *pf_averages_table(struct pf_doc *doc, bool by_overload)
{
	return pf_doc_table(doc, PF_AVERAGES_TABLE, NULL, cols,
			    COLUMNS - !by_overload);
}

static void put_flops(struct pf_table *t, const struct pf_flops_sum *flops)
{
	char digits[PF_FLOPS_DIGITS];

	if (!flops->unknown_count && pf_flops_known(flops) < 0)
		pf_table_digits(t, pf_flops_digits(digits, flops));
	else
		pf_table_known(t, pf_flops_known(flops));
}

void pf_averages_add(struct pf_table *t, const struct pf_average *row)
{
	const struct pf_figures *f = &row->sum;

	pf_table_string(t, row->name);
	pf_table_string(t, row->shapes);
	pf_table_string(t, row->stack);
	pf_table_string(t, row->is_device ? "CUDA" : "CPU");
	pf_table_int(t, row->is_annotation);
	pf_table_int(t, (int64_t)row->count);
	for (int i = 0; i < PF_FIG_COUNT; i++)
		pf_table_int(t, f->ns[i]);
	for (int i = 0; i < PF_FIG_COUNT; i++)
		pf_table_int(t, f->bytes[i]);
	put_flops(t, &f->flops);
	if (pf_table_col_count(t) == COLUMNS)
		pf_table_string(t, row->overload);
}
