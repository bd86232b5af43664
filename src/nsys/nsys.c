/* SPDX-License-Identifier: MIT */
/*
 * The order of the tables: calls before what they caused, so that it is known
 * what a wait is for; kernels before the graphs that they are nodes of; ranges
 * without an end last, when the end of everything else is known.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "nsys/nsys_impl.h"

static const char *const categories[PF_NSYS_CATEGORIES] = {
	[PF_NSYS_CAT_KERNEL] = "kernel",
	[PF_NSYS_CAT_GRAPH_RANGE] = "gpu_user_annotation",
	[PF_NSYS_CAT_MEMCPY] = "gpu_memcpy",
	[PF_NSYS_CAT_MEMSET] = "gpu_memset",
	[PF_NSYS_CAT_SYNC] = "cuda_sync",
	[PF_NSYS_CAT_RUNTIME] = "cuda_runtime",
	[PF_NSYS_CAT_DRIVER] = "cuda_driver",
	[PF_NSYS_CAT_OVERHEAD] = "overhead",
	[PF_NSYS_CAT_OP] = "cpu_op",
	[PF_NSYS_CAT_NVTX] = "nvtx",
	[PF_NSYS_CAT_STEP] = "user_annotation",
	[PF_NSYS_CAT_CUDA_EVENT] = "cuda_event",
	[PF_NSYS_CAT_OSRT] = "osrt",
};

static const struct pf_nsys_table *const tables[] = {
	&pf_nsys_calls,    &pf_nsys_kernels,  &pf_nsys_copies,
	&pf_nsys_fills,    &pf_nsys_graphs,   &pf_nsys_syncs,
	&pf_nsys_events,   &pf_nsys_overhead, &pf_nsys_own_overhead,
	&pf_nsys_os_calls, &pf_nsys_ranges,   &pf_nsys_open_ranges,
};
#define TABLES (sizeof(tables) / sizeof(*tables))

bool pf_nsys_claims(const struct pf_foreign *f)
{
	return pf_foreign_has_prefix(f, "CUPTI_ACTIVITY_KIND_") ||
	       pf_foreign_table(f, "NVTX_EVENTS") ||
	       pf_foreign_table(f, "OSRT_API") ||
	       (pf_foreign_table(f, "TARGET_INFO_SESSION_START_TIME") &&
		pf_foreign_table(f, "StringIds"));
}

bool pf_nsys_is_read(const struct pf_nsys *n, const char *table)
{
	for (size_t i = 0; i < TABLES; i++)
		if (!strcasecmp(tables[i]->name, table) &&
		    (!tables[i]->wanted || tables[i]->wanted(n) ||
		     tables[i]->where))
			return true;
	return false;
}

struct pf_nsys *pf_nsys_new(struct pf_foreign *f,
			    const struct pf_nsys_options *options,
			    struct pf_err *err)
{
	struct pf_nsys *n = pf_calloc(1, sizeof(*n));

	n->f = f;
	n->options = *options;
	n->only_process = PF_NSYS_NO_PROCESS;
	pf_parsed_init(&n->parsed);
	n->memos.items =
		pf_calloc((size_t)1 << PF_MEMO_BITS, sizeof(*n->memos.items));
	pf_map_init(&n->processes);
	pf_map_init(&n->threads);
	pf_map_init(&n->gpu_of);
	pf_nsys_keys_init(&n->waits, options->dir);
	pf_nsys_keys_init(&n->graphs, options->dir);
	if (!pf_texts_open(&n->texts, f, "StringIds", err))
		return n;
	pf_nsys_free(n);
	return NULL;
}

void pf_nsys_free(struct pf_nsys *n)
{
	if (!n)
		return;
	if (n->is_open)
		pf_rows_close(&n->rows);
	pf_texts_close(&n->texts);
	pf_parsed_release(&n->parsed);
	free(n->memos.items);
	pf_map_release(&n->processes);
	pf_map_release(&n->threads);
	pf_map_release(&n->gpu_of);
	pf_nsys_keys_release(&n->waits);
	pf_nsys_keys_release(&n->graphs);
	pf_buf_release(&n->labels);
	pf_buf_release(&n->label_text);
	pf_argline_release(&n->args);
	pf_buf_release(&n->clean);
	free(n->rest);
	free(n);
}

struct pf_parsed *pf_nsys_parsed(struct pf_nsys *n)
{
	return &n->parsed;
}

/* ---- reading ---- */

static void begin(struct pf_nsys *n)
{
	if (pf_parsed_begin(&n->parsed) || !n->memos.generation) {
		n->memos.generation++;
		for (int i = 0; i < PF_NSYS_CATEGORIES; i++)
			n->category[i] = pf_dict_find(&n->parsed.categories,
						      categories[i],
						      strlen(categories[i]), 0);
	}
	n->parsed.batch.ts_fraction_digits = 3;
}

/* Open the table at hand: 1, 0 if there is none. */
static int open_table(struct pf_nsys *n, struct pf_err *err)
{
	const struct pf_nsys_table *t = tables[n->table];
	const char *name = pf_foreign_table(n->f, t->name);

	if (!name || (t->wanted && !t->wanted(n)))
		return 0;
	if (t->begin && t->begin(n, err))
		return -1;
	if (pf_rows_open(&n->rows, n->f, name, t->columns, t->column_count,
			 t->where, err)) {
		pf_rows_close(&n->rows);
		return -1;
	}
	n->is_open = true;
	return 1;
}

static int close_table(struct pf_nsys *n, struct pf_err *err)
{
	const struct pf_nsys_table *t = tables[n->table++];

	if (n->is_open)
		pf_rows_close(&n->rows);
	n->is_open = false;
	return t->end ? t->end(n, err) : 0;
}

static bool is_full(const struct pf_nsys *n, size_t most)
{
	const struct pf_parsed *p = &n->parsed;

	return p->batch.count >= most || p->batch.metadata.len > 1u << 20 ||
	       pf_dict_is_large(&p->args) || pf_dict_is_large(&p->names);
}

/* 1: the batch is full, 0: the table has no more. */
static int read_table(struct pf_nsys *n, size_t most, struct pf_err *err)
{
	const struct pf_nsys_table *t = tables[n->table];
	int rc;

	if (!n->is_open) {
		rc = open_table(n, err);
		if (rc <= 0)
			return rc;
	}
	while (!is_full(n, most)) {
		rc = pf_rows_next(&n->rows, err);
		if (rc <= 0)
			return rc;
		if (t->map(n, &n->rows, err))
			return -1;
		n->parsed.batch.event_count++;
	}
	return 1;
}

int pf_nsys_fill(struct pf_nsys *n, size_t most, struct pf_err *err)
{
	int rc;

	begin(n);
	if (!n->is_described && pf_nsys_describe(n, err))
		return -1;
	n->is_described = true;
	while (n->table < TABLES) {
		rc = read_table(n, most, err);
		if (rc)
			return rc;
		if (close_table(n, err))
			return -1;
	}
	return pf_nsys_count_rest(n, err) || pf_nsys_name_all(n, err) ? -1 : 0;
}

/* ---- facts ---- */

bool pf_nsys_fact(struct pf_nsys *n, size_t i, char *key, size_t key_size,
		  int64_t *value)
{
	if (!i) {
		snprintf(key, key_size, "nsys_whole_graphs");
		*value = n->graph_count;
		return true;
	}
	if (i > n->rest_count)
		return false;
	snprintf(key, key_size, "nsys_unread_%.80s", n->rest[i - 1].table);
	*value = n->rest[i - 1].rows;
	return true;
}
