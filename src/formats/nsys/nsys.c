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

#include "base/mem.h"
#include "formats/nsys/nsys_impl.h"

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

static const char *const text_columns[] = { "value" };

static const struct pf_reading_table *const tables[] = {
	&pf_nsys_calls,    &pf_nsys_kernels,  &pf_nsys_copies,
	&pf_nsys_fills,    &pf_nsys_graphs,   &pf_nsys_syncs,
	&pf_nsys_events,   &pf_nsys_overhead, &pf_nsys_own_overhead,
	&pf_nsys_os_calls, &pf_nsys_ranges,   &pf_nsys_open_ranges,
};
#define TABLES (sizeof(tables) / sizeof(*tables))

bool pf_nsys_claims(struct pf_foreign *f)
{
	return pf_foreign_has_prefix(f, "CUPTI_ACTIVITY_KIND_") ||
	       pf_foreign_has_prefix(f, "NVTX_EVENTS") ||
	       pf_foreign_table(f, "OSRT_API") ||
	       (pf_foreign_table(f, "TARGET_INFO_SESSION_START_TIME") &&
		pf_foreign_table(f, "StringIds"));
}

/* ---- reading ---- */

static int fill(struct pf_reader *base, size_t most, struct pf_err *err)
{
	struct pf_nsys *n = (struct pf_nsys *)base;
	int rc;

	pf_sink_begin(&n->sink);
	if (!n->is_described && pf_nsys_describe(n, err))
		return -1;
	n->is_described = true;
	rc = pf_reading_fill(&n->reading, most, err);
	if (rc)
		return rc;
	return pf_reading_count_rest(&n->reading, pf_nsys_describes, err) ||
			       pf_nsys_name_all(n, err)
		       ? -1
		       : 0;
}

/* ---- facts ---- */

static bool fact(struct pf_reader *base, size_t i, char *key, size_t key_size,
		 int64_t *value)
{
	struct pf_nsys *n = (struct pf_nsys *)base;

	if (i >= n->reading.rest_count)
		return false;
	snprintf(key, key_size, "nsys_unread_%.80s", n->reading.rest[i].table);
	*value = n->reading.rest[i].rows;
	return true;
}

/* ---- opening ---- */

static void free_reader(struct pf_reader *base)
{
	struct pf_nsys *n = (struct pf_nsys *)base;

	pf_reading_release(&n->reading);
	pf_lookup_close(&n->texts);
	pf_sink_release(&n->sink);
	pf_map_release(&n->processes);
	pf_map_release(&n->threads);
	pf_map_release(&n->gpu_of);
	pf_keys_release(&n->waits);
	pf_keys_release(&n->graphs);
	pf_buf_release(&n->labels);
	pf_buf_release(&n->label_text);
	pf_buf_release(&n->clean);
	free(n);
}

struct pf_reader *pf_nsys_new(struct pf_foreign *f,
			      const struct pf_reader_options *options,
			      struct pf_err *err)
{
	struct pf_nsys *n = pf_calloc(1, sizeof(*n));

	n->base =
		(struct pf_reader){ &n->sink.parsed, fill, fact, free_reader };
	n->f = f;
	n->options = *options;
	n->only_process = PF_NSYS_NO_PROCESS;
	n->reading = (struct pf_reading){
		.f = f,
		.sink = &n->sink,
		.reader = n,
		.tables = tables,
		.table_count = TABLES,
	};
	pf_sink_init(&n->sink, categories, PF_NSYS_CATEGORIES);
	pf_map_init(&n->processes);
	pf_map_init(&n->threads);
	pf_map_init(&n->gpu_of);
	pf_keys_init(&n->waits, options->dir);
	pf_keys_init(&n->graphs, options->dir);
	if (!pf_lookup_open(&n->texts, f, pf_foreign_table(f, "StringIds"),
			    "id", PF_COLUMNS(text_columns), err))
		return &n->base;
	free_reader(&n->base);
	return NULL;
}
