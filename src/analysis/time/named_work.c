/* SPDX-License-Identifier: MIT */
/*
 * GPU work comes in order of time; what graphs replay is named on the way, and
 * all else when its operators have been met in the order of their events.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/time/named_work.h"
#include "base/intern.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/order.h"
#include "base/sat.h"
#include "events/by_event.h"
#include "events/gpu.h"
#include "events/names.h"
#include "show/rows.h"

struct row {
	const char *name;
	int64_t calls, self_cpu_ns, cpu_total_ns; /* PF_NO_INT: no such row */
	int64_t launched_count, launched_ns, replayed_count, replayed_ns;
	int64_t gpu_ns;
	double share;
};

static const struct pf_field fields[] = {
	PF_FIELD(struct row, name, "name", "Operator", PF_TEXT),
	PF_FIELD(struct row, calls, "calls", "Calls", PF_COUNT | PF_MAYBE),
	PF_FIELD(struct row, self_cpu_ns, "self_cpu_ns", "Self CPU",
		 PF_NS | PF_MAYBE),
	PF_FIELD(struct row, cpu_total_ns, "cpu_total_ns", "CPU total",
		 PF_NS | PF_MAYBE | PF_FULL),
	PF_FIELD(struct row, launched_count, "launched_count", "Launched works",
		 PF_COUNT | PF_FULL),
	PF_FIELD(struct row, launched_ns, "launched_ns", "Launched",
		 PF_NS | PF_FULL),
	PF_FIELD(struct row, replayed_count, "replayed_count", "Replayed works",
		 PF_COUNT | PF_FULL),
	PF_FIELD(struct row, replayed_ns, "replayed_ns", "Replayed", PF_NS),
	PF_FIELD(struct row, gpu_ns, "gpu_ns", "GPU", PF_NS),
	PF_FIELD(struct row, share, "share", "Share", PF_RATIO),
};

#define NONE "(none)"

/* Work that its operator is yet to be asked for: a record of by_event.h. */
struct item {
	int64_t op_id, order, dur_ns;
};

struct walk {
	struct pf_gpu *gpu;
	struct pf_graphs *graphs;
	struct pf_names *names;
	struct pf_by_event *by_op;
	struct pf_intern texts; /* of rows */
	struct row *rows;
	size_t row_cap;
	int64_t gpu_ns, gpu_count, replayed_ns, replayed_count, none_ns;
};

static struct row *row_of(struct walk *w, const char *name)
{
	uint32_t known = w->texts.count;
	uint32_t n = pf_intern_add(&w->texts, name, strlen(name));

	w->rows =
		pf_grow(w->rows, &w->row_cap, (size_t)n + 1, sizeof(*w->rows));
	if (n == known)
		w->rows[n] = (struct row){ .calls = PF_NO_INT,
					   .self_cpu_ns = PF_NO_INT,
					   .cpu_total_ns = PF_NO_INT };
	return &w->rows[n];
}

static int gather(struct walk *w, struct pf_err *err)
{
	const struct pf_gpu_event *ev;
	struct item item = { 0 };
	int rc;

	while ((rc = pf_gpu_next(w->gpu, &ev, err)) == 1) {
		const struct pf_graph_node *n =
			ev->launch_id ? pf_graphs_next(w->graphs, ev->launch_id)
				      : NULL;
		const char *op = n ? pf_graphs_op(w->graphs, n) : NULL;

		pf_sat_sum(&w->gpu_ns, ev->dur_ns);
		w->gpu_count++;
		if (op && *op) {
			struct row *row = row_of(w, op);

			row->replayed_count++;
			pf_sat_sum(&row->replayed_ns, ev->dur_ns);
			w->replayed_count++;
			pf_sat_sum(&w->replayed_ns, ev->dur_ns);
			continue;
		}
		item.op_id = ev->op_id;
		item.order++;
		item.dur_ns = ev->dur_ns;
		if (pf_by_event_add(w->by_op, &item, err) < 0)
			return -1;
	}
	return rc;
}

static int resolve(struct walk *w, struct pf_err *err)
{
	const struct item *item;
	const struct pf_block *block;
	uint32_t place;

	while ((item = pf_by_event_next(w->by_op, &block, &place, err))) {
		char *name = block ? pf_names_text_take(w->names,
							block->name[place], err)
				   : pf_strdup(NONE);
		struct row *row;

		if (!name)
			return -1;
		row = row_of(w, name);
		row->launched_count++;
		pf_sat_sum(&row->launched_ns, item->dur_ns);
		if (!block)
			pf_sat_sum(&w->none_ns, item->dur_ns);
		free(name);
	}
	return err->code ? -1 : 0;
}

/* What torch's table says of operators, and of calls outside of them. */
static void add_host(struct walk *w, const struct pf_average_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct pf_average *a = &list->rows[i];
		struct row *row;

		if (a->is_device || a->is_annotation)
			continue;
		row = row_of(w, a->name);
		if (row->calls == PF_NO_INT)
			row->calls = row->self_cpu_ns = row->cpu_total_ns = 0;
		pf_sat_sum(&row->calls, (int64_t)a->count);
		pf_sat_sum(&row->self_cpu_ns, a->sum.ns[PF_FIG_SELF_CPU]);
		pf_sat_sum(&row->cpu_total_ns, a->sum.ns[PF_FIG_CPU]);
	}
}

/* Most of the GPU first, then most of the host. */
PF_ORDER(by_time, struct row,
	 PF_DOWN(gpu_ns) PF_DOWN(self_cpu_ns) PF_ALPHA(name))

static void finish_rows(struct walk *w)
{
	for (uint32_t i = 0; i < w->texts.count; i++) {
		struct row *row = &w->rows[i];

		row->name = pf_intern_text(&w->texts, i, NULL);
		row->gpu_ns = row->launched_ns;
		pf_sat_sum(&row->gpu_ns, row->replayed_ns);
		row->share = pf_num_share(row->gpu_ns, w->gpu_ns);
	}
	pf_sort(w->rows, w->texts.count, sizeof(*w->rows), by_time);
}

static void show(const struct walk *w, struct pf_doc *doc)
{
	char all[PF_NUM_MAX], named[PF_NUM_MAX];

	if (w->replayed_count)
		pf_doc_finding(doc,
			       "%s of GPU work by operator, %s of it replayed "
			       "by graphs and named by evidence",
			       pf_num_show_ns(all, w->gpu_ns),
			       pf_num_show_ns(named, w->replayed_ns));
	else
		pf_doc_finding(doc,
			       "%s of GPU work by operator; none of it is "
			       "replayed by graphs and has a known operator",
			       pf_num_show_ns(all, w->gpu_ns));
	pf_doc_int(doc, "gpu_ns", "GPU time, summed", PF_NS, w->gpu_ns);
	pf_doc_int(doc, "work_count", "GPU events", PF_COUNT, w->gpu_count);
	pf_doc_int(doc, "replayed_ns", "Replayed, operator named", PF_NS,
		   w->replayed_ns);
	pf_doc_int(doc, "replayed_count", "GPU events replayed and named",
		   PF_COUNT, w->replayed_count);
	pf_doc_int(doc, "none_ns", "Of no operator", PF_NS, w->none_ns);
	PF_ROWS(doc, "operators", "Operators", fields, w->rows, w->texts.count);
	pf_graphs_note(w->graphs, doc);
}

static int find(struct walk *w, struct pf_db *db,
		const struct pf_named_work_args *args, struct pf_err *err)
{
	w->names = pf_names_new(db, err);
	w->gpu = pf_gpu_new(db, args->window, PF_GPU_LINKS, err);
	w->by_op = pf_by_event_new(db, sizeof(struct item),
				   PF_COLBIT(PF_COL_NAME));
	if (!w->names || !w->gpu || gather(w, err) < 0)
		return -1;
	return resolve(w, err);
}

int pf_named_work(struct pf_db *db, const struct pf_named_work_args *args,
		  struct pf_doc *doc, struct pf_err *err)
{
	struct walk w = { .graphs = args->graphs };
	int rc;

	pf_intern_init(&w.texts);
	rc = find(&w, db, args, err);
	if (!rc) {
		add_host(&w, args->averages);
		finish_rows(&w);
		show(&w, doc);
	}
	pf_by_event_free(w.by_op);
	pf_gpu_free(w.gpu);
	pf_names_free(w.names);
	pf_intern_release(&w.texts);
	free(w.rows);
	return rc;
}
