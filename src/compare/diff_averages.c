/* SPDX-License-Identifier: MIT */
/*
 * key_averages() of both sides by name.  They are of whole captures, as torch
 * has them, not per step; of several captures of a side the mean.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "torch/averages.h"
#include "base/order.h"
#include "compare/diff_impl.h"
#include "base/mem.h"

/* ---- of a capture ---- */

static void take_row(struct pf_capture *c, size_t *cap,
		     const struct pf_average *from)
{
	struct pf_average_row *row;

	c->averages = pf_grow(c->averages, cap, c->average_count + 1,
			      sizeof(*c->averages));
	row = &c->averages[c->average_count++];
	*row = (struct pf_average_row){ .name = pf_capture_text(c, from->name),
					.is_device = from->is_device };
	row->value[0] = (int64_t)from->count;
	for (size_t i = 0; i < PF_FIG_COUNT; i++) {
		row->value[1 + i] = from->sum.ns[i];
		row->value[1 + PF_FIG_COUNT + i] = from->sum.bytes[i];
	}
	for (size_t i = 0; i < PF_AVERAGE_VALUES; i++) {
		int64_t none = 0;

		pf_capture_add(c, &none, row->value[i]);
	}
}

int pf_capture_averages(struct pf_db *db, const struct pf_window *window,
			struct pf_capture *c, struct pf_err *err)
{
	size_t cap = 0;

	for (size_t i = 0; i < window->count; i++) {
		const struct pf_averages_args args = {
			.trace_id = window->traces[i].trace_id,
			.step = -1,
			.grouping_count = 1,
		};
		struct pf_averages a;
		int rc = pf_averages_load(db, &args, &a, err);

		if (rc == 0)
			rc = pf_averages(db, &args, &a, err) < 0 ? -1 : 1;
		if (rc < 0)
			return -1;
		for (size_t k = 0; k < a.list[0].count; k++)
			take_row(c, &cap, &a.list[0].rows[k]);
		pf_averages_release(&a);
	}
	return 0;
}

/* ---- columns ---- */

static const struct {
	const char *word;
	enum pf_col_kind kind;
} values[PF_AVERAGE_VALUES] = {
	{ "count", PF_REAL },     { "self_cpu", PF_NS },
	{ "cpu_total", PF_NS },   { "self_cuda", PF_NS },
	{ "cuda_total", PF_NS },  { "self_cpu_mem", PF_BYTES },
	{ "cpu_mem", PF_BYTES },  { "self_cuda_mem", PF_BYTES },
	{ "cuda_mem", PF_BYTES },
};

/* The next of "self_cpu,cuda_total"; -1 at the end, -2: there is no such. */
static int next_column(const char **at)
{
	size_t len = strcspn(*at, ",");

	if (!**at)
		return -1;
	for (int i = 0; i < PF_AVERAGE_VALUES; i++)
		if (strlen(values[i].word) == len &&
		    !memcmp(values[i].word, *at, len)) {
			*at += len;
			*at += **at == ',';
			return i;
		}
	return -2;
}

int pf_diff_columns(const char *words, struct pf_err *err)
{
	struct pf_buf all = { 0 };
	const char *at = words;
	int n;

	while ((n = next_column(&at)) >= 0)
		;
	if (n == -1)
		return 0;
	for (size_t i = 0; i < PF_AVERAGE_VALUES; i++)
		pf_buf_addf(&all, "%s%s", i ? ", " : "", values[i].word);
	pf_fail(err, PF_EUSAGE,
		"--columns '%s': columns of key_averages() are %s", words,
		all.data);
	pf_buf_release(&all);
	return -1;
}

/* ---- the table ---- */

struct both {
	uint32_t name;
	bool is_device;
	int64_t sums[2][PF_AVERAGE_VALUES];
	int64_t weight;
};

struct list {
	struct pf_intern keys;
	struct both *items;
	size_t count, cap;
};

static void add_side(struct pf_diff_run *d, struct list *l,
		     const struct pf_side *s, int side)
{
	for (size_t i = 0; i < s->capture_count; i++) {
		const struct pf_capture *c = s->captures[i];

		for (size_t k = 0; k < c->average_count; k++) {
			const struct pf_average_row *r = &c->averages[k];
			size_t len;
			const char *text =
				pf_intern_text(&c->texts, r->name, &len);
			uint32_t key[2] = { pf_intern_add(&d->texts, text, len),
					    r->is_device };
			uint32_t n = pf_intern_add(&l->keys, (const char *)key,
						   sizeof(key));

			if (n == l->count) {
				l->items =
					pf_grow(l->items, &l->cap, ++l->count,
						sizeof(*l->items));
				l->items[n] =
					(struct both){ .name = key[0],
						       .is_device =
							       r->is_device };
			}
			for (size_t v = 0; v < PF_AVERAGE_VALUES; v++)
				l->items[n].sums[side][v] += r->value[v];
		}
	}
}

PF_ORDER(by_weight, struct both, PF_DOWN(weight) PF_UP(name) PF_UP(is_device))

static int64_t mean_of(const struct pf_diff_run *d, const struct both *x,
		       int side, size_t v)
{
	const struct pf_side *s = side ? &d->b : &d->a;

	return pf_mean(x->sums[side][v], (int64_t)s->capture_count);
}

static size_t average_columns(const char *words, int chosen[PF_AVERAGE_VALUES])
{
	size_t count = 0;
	int n;

	while (words && count < PF_AVERAGE_VALUES &&
	       (n = next_column(&words)) >= 0)
		chosen[count++] = n;
	return count;
}

/* Those whose first column changed most come first. */
static void order(struct pf_diff_run *d, struct list *l, size_t column)
{
	for (size_t i = 0; i < l->count; i++) {
		struct both *x = &l->items[i];
		int64_t change =
			mean_of(d, x, 1, column) - mean_of(d, x, 0, column);

		x->weight = change < 0 ? -change : change;
	}
	pf_sort(l->items, l->count, sizeof(*l->items), by_weight);
}

void pf_diff_find_averages(struct pf_diff_run *d)
{
	struct pf_diff *out = d->out;
	int chosen[PF_AVERAGE_VALUES];
	struct list l = { 0 };

	if (!average_columns(d->args->columns, chosen))
		return;
	pf_intern_init(&l.keys);
	add_side(d, &l, &d->a, 0);
	add_side(d, &l, &d->b, 1);
	order(d, &l, (size_t)chosen[0]);
	out->averages = pf_calloc(l.count + 1, sizeof(*out->averages));
	out->average_count = l.count;
	for (size_t i = 0; i < l.count; i++) {
		const struct both *x = &l.items[i];
		struct pf_diff_average *row = &out->averages[i];

		row->name = pf_diff_keep(d, x->name);
		row->device = x->is_device ? "CUDA" : "CPU";
		for (size_t v = 0; v < PF_AVERAGE_VALUES; v++) {
			row->a[v] = mean_of(d, x, 0, v);
			row->b[v] = mean_of(d, x, 1, v);
		}
	}
	pf_intern_release(&l.keys);
	free(l.items);
}

/* ---- shown ---- */

static void put(struct pf_table *t, int64_t n, enum pf_col_kind kind)
{
	if (kind == PF_REAL)
		pf_table_real(t, (double)n);
	else
		pf_table_int(t, n);
}

#define WORD_MAX 32

static struct pf_table *make_table(struct pf_doc *doc, const int *chosen,
				   size_t count)
{
	struct pf_col cols[2 + 3 * PF_AVERAGE_VALUES] = {
		{ "name", "key_averages()", PF_TEXT },
		{ "device", "Device", PF_TEXT | PF_FULL },
	};
	static const char *const sides[] = { "a", "b", "delta" };
	char keys[3 * PF_AVERAGE_VALUES][WORD_MAX];
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < 3; k++, n++) {
			enum pf_col_kind kind = values[chosen[i]].kind;
			const char *unit = kind == PF_NS      ? "_ns"
					   : kind == PF_BYTES ? "_bytes"
							      : "";

			snprintf(keys[n], WORD_MAX, "%s_%s%s", sides[k],
				 values[chosen[i]].word, unit);
			/* of several columns, text has the changes only */
			cols[2 + n] = (struct pf_col){
				keys[n], keys[n],
				(int)kind | (count > 1 && k < 2 ? PF_FULL : 0)
			};
		}
	return pf_doc_table(doc, "averages", "key_averages() of whole captures",
			    cols, 2 + n);
}

void pf_diff_show_averages(const struct pf_diff *diff, struct pf_doc *doc)
{
	int chosen[PF_AVERAGE_VALUES];
	size_t count = average_columns(diff->args.columns, chosen);
	struct pf_table *t;

	if (!count)
		return;
	t = make_table(doc, chosen, count);
	for (size_t i = 0; i < diff->average_count; i++) {
		const struct pf_diff_average *row = &diff->averages[i];

		pf_table_string(t, row->name);
		pf_table_string(t, row->device);
		for (size_t k = 0; k < count; k++) {
			size_t v = (size_t)chosen[k];

			put(t, row->a[v], values[v].kind);
			put(t, row->b[v], values[v].kind);
			put(t, row->b[v] - row->a[v], values[v].kind);
		}
	}
}
