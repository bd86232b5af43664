/* SPDX-License-Identifier: MIT */
/*
 * Sorts averages and prints them byte for byte as torch's
 * key_averages().table() does, odd widths and trailing blanks included.
 * Lengths are Unicode code points, as in Python.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "show/doc.h"
#include "torch/averages.h"

enum pf_torch_sort {
	PF_SORT_NONE, /* order of first appearance */
	PF_SORT_SELF_CPU,
	PF_SORT_CPU,
	PF_SORT_CPU_AVERAGE,
	PF_SORT_SELF_DEVICE,
	PF_SORT_DEVICE,
	PF_SORT_DEVICE_AVERAGE,
	PF_SORT_SELF_CPU_MEMORY,
	PF_SORT_CPU_MEMORY,
	PF_SORT_SELF_DEVICE_MEMORY,
	PF_SORT_DEVICE_MEMORY,
	PF_SORT_COUNT,
	PF_SORT_FLOPS,
	PF_SORT_KEY, /* names, from the last by code points */
};

enum pf_torch_unit { PF_UNIT_AUTO, PF_UNIT_S, PF_UNIT_MS, PF_UNIT_US };

struct pf_torch_table {
	const struct pf_rules *rules;
	const struct pf_average *const *rows; /* sorted */
	size_t count;
	bool has_memory, has_flops;               /* the profiler's options */
	int64_t limit;                            /* -1: every row */
	int64_t max_name, max_source, max_shapes; /* 55, 75, 80 in torch */
	bool top_level;
	const char *header; /* or NULL */
	enum pf_torch_unit unit;
};

/*
 * A sort key by any name torch has had for it (cuda_time_total,
 * device_time_total, xpu_..., privateuse1_...); PF_EUSAGE otherwise.
 */
int pf_torch_sort_key(const char *name, enum pf_torch_sort *out,
		      struct pf_err *err);

/* The rows in descending order of a key, equal ones as they were; to free. */
const struct pf_average **pf_torch_sorted(const struct pf_average *rows,
					  size_t count, enum pf_torch_sort key);

/* Append the table; nothing at all when there are no rows. */
void pf_torch_print(const struct pf_torch_table *t, struct pf_buf *out);

/* Rows of key_averages() as a table: exact nanoseconds and bytes. */

#define PF_AVERAGES_TABLE "key_averages"

/*
 * An empty table of them at the end of the document; its last column is the
 * overload where rows were grouped by it.
 */
struct pf_table *pf_averages_table(struct pf_doc *doc, bool by_overload);
void pf_averages_add(struct pf_table *t, const struct pf_average *row);
