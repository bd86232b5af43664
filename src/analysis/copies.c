/* SPDX-License-Identifier: MIT */
/* A row's key is its direction, then its kinds of memory. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/copies.h"
#include "base/intern.h"
#include "base/mem.h"
#include "base/sat.h"

struct row {
	enum pf_copy_way way;
	char *memory; /* "Pageable -> Device", or NULL */
	int64_t count, ns;
	int64_t bytes, sized_ns, sized_count; /* of copies of known size */
};

struct pf_copies {
	struct pf_intern keys;
	struct row *rows; /* by number of their key */
	size_t count, cap;
	struct pf_map names; /* string.id and way -> row */
};

/* "Pageable -> Device" of "Memcpy HtoD (Pageable -> Device)". */
static char *take_memory(const char *name)
{
	const char *open = strchr(name, '(');
	const char *close = open ? strrchr(open, ')') : NULL;

	if (!close || strncmp(name, "Memcpy", 6) != 0 || !strstr(open, " -> "))
		return NULL;
	return pf_memdup0(open + 1, (size_t)(close - open - 1));
}

static size_t find_row(struct pf_copies *c, const char *name,
		       enum pf_copy_way way)
{
	struct row row = { .way = way, .memory = take_memory(name) };
	struct pf_buf key = { 0 };
	size_t n;

	pf_buf_addf(&key, "%s %s", pf_copy_way_name(row.way),
		    row.memory ? row.memory : "");
	n = pf_intern_add(&c->keys, key.data, key.len);
	pf_buf_release(&key);
	if (n < c->count) {
		free(row.memory);
		return n;
	}
	c->rows = pf_grow(c->rows, &c->cap, n + 1, sizeof(*c->rows));
	c->rows[n] = row;
	c->count = n + 1;
	return n;
}

int pf_copies_add(struct pf_copies *c, struct pf_gpu *gpu,
		  const struct pf_gpu_event *ev, struct pf_err *err)
{
	uint64_t *place =
		pf_map_at(&c->names, (uint64_t)ev->name << 8 | ev->way);
	const char *name;
	struct row *row;

	if (*place == UINT64_MAX) {
		name = pf_gpu_name(gpu, ev->name, err);
		if (!name)
			return -1;
		*place = find_row(c, name, ev->way);
	}
	row = &c->rows[*place];
	row->count++;
	pf_sat_sum(&row->ns, ev->dur_ns);
	if (ev->bytes < 0)
		return 0;
	row->sized_count++;
	pf_sat_sum(&row->bytes, ev->bytes);
	pf_sat_sum(&row->sized_ns, ev->dur_ns);
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	if (x->way != y->way)
		return x->way < y->way ? -1 : 1;
	return strcmp(x->memory ? x->memory : "", y->memory ? y->memory : "");
}

void pf_copies_show(struct pf_copies *c, struct pf_doc *doc)
{
	static const struct pf_col cols[] = {
		{ "direction", "Copies", PF_TEXT },
		{ "memory", "Memory", PF_TEXT },
		{ "count", "Count", PF_COUNT },
		{ "total_ns", "Time", PF_NS },
		{ "bytes", "Data", PF_BYTES },
		{ "gb_per_s", "GB/s", PF_REAL },
	};
	struct pf_table *t = pf_doc_table(doc, "copies", "Copies by direction",
					  cols, sizeof(cols) / sizeof(*cols));

	if (c->count)
		qsort(c->rows, c->count, sizeof(*c->rows), by_time);
	for (size_t i = 0; i < c->count; i++) {
		const struct row *row = &c->rows[i];

		pf_table_string(t, pf_copy_way_name(row->way));
		pf_table_string(t, row->memory);
		pf_table_int(t, row->count);
		pf_table_int(t, row->ns);
		if (row->sized_count)
			pf_table_int(t, row->bytes);
		else
			pf_table_null(t);
		if (row->sized_ns > 0)
			pf_table_real(t, (double)row->bytes /
						 (double)row->sized_ns);
		else
			pf_table_null(t);
	}
}

struct pf_copies *pf_copies_new(void)
{
	struct pf_copies *c = pf_calloc(1, sizeof(*c));

	pf_intern_init(&c->keys);
	pf_map_init(&c->names);
	return c;
}

void pf_copies_free(struct pf_copies *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->count; i++)
		free(c->rows[i].memory);
	free(c->rows);
	pf_intern_release(&c->keys);
	pf_map_release(&c->names);
	free(c);
}
