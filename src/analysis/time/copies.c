/* SPDX-License-Identifier: MIT */
/* A row's key is its direction, then its kinds of memory. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/time/copies.h"
#include "base/intern.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/sat.h"
#include "show/rows.h"

struct row {
	enum pf_copy_way way;
	const char *direction;
	const char *memory; /* "Pageable -> Device", or NULL */
	int64_t count, ns;
	int64_t bytes, sized_ns; /* of copies of known size; -1: none */
	double rate;             /* bytes/ns, once all are known */
};

struct pf_copies {
	struct pf_intern keys;
	struct row *rows; /* by number of their key */
	size_t count, cap;
	struct pf_map names; /* string.id and way -> row */
	struct pf_arena texts;
};

/* "Pageable -> Device" of "Memcpy HtoD (Pageable -> Device)". */
static const char *take_memory(struct pf_copies *c, const char *name)
{
	const char *open = strchr(name, '(');
	const char *close = open ? strrchr(open, ')') : NULL;

	if (!close || strncmp(name, "Memcpy", 6) != 0 || !strstr(open, " -> "))
		return NULL;
	return pf_arena_text(&c->texts, open + 1, (size_t)(close - open - 1));
}

static size_t find_row(struct pf_copies *c, const char *name,
		       enum pf_copy_way way)
{
	struct row row = { .way = way,
			   .direction = pf_copy_way_name(way),
			   .memory = take_memory(c, name),
			   .bytes = -1 };
	struct pf_buf key = { 0 };
	size_t n;

	pf_buf_addf(&key, "%s %s", row.direction, row.memory ? row.memory : "");
	n = pf_intern_add(&c->keys, key.data, key.len);
	pf_buf_release(&key);
	if (n < c->count)
		return n;
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
	if (row->bytes < 0)
		row->bytes = 0;
	pf_sat_sum(&row->bytes, ev->bytes);
	pf_sat_sum(&row->sized_ns, ev->dur_ns);
	return 0;
}

PF_ORDER(by_time, struct row, PF_DOWN(ns) PF_UP(way) PF_ALPHA(memory))

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct row, member, key, title, kind)
static const struct pf_field fields[] = {
	FIELD(direction, "direction", "Copies", PF_TEXT),
	FIELD(memory, "memory", "Memory", PF_TEXT),
	FIELD(count, "count", "Count", PF_COUNT),
	FIELD(ns, "total_ns", "Time", PF_NS),
	FIELD(bytes, "bytes", "Data", PF_BYTES | PF_KNOWN),
	FIELD(rate, "gb_per_s", "GB/s", PF_REAL),
};

void pf_copies_show(struct pf_copies *c, struct pf_doc *doc)
{
	pf_sort(c->rows, c->count, sizeof(*c->rows), by_time);
	for (size_t i = 0; i < c->count; i++)
		c->rows[i].rate =
			pf_ratio((double)c->rows[i].bytes, c->rows[i].sized_ns);
	PF_ROWS(doc, "copies", "Copies by direction", fields, c->rows,
		c->count);
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
	pf_arena_release(&c->texts);
	free(c->rows);
	pf_intern_release(&c->keys);
	pf_map_release(&c->names);
	free(c);
}
