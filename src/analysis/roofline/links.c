/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <math.h>
#include <string.h>

#include "analysis/time/overlap.h"
#include "base/mem.h"
#include "events/gpu.h"
#include "analysis/ranks/ranks.h"
#include "analysis/roofline/links.h"
#include "analysis/roofline/sums.h"

static const char *kept(struct pf_roofline *o, const char *text)
{
	return text ? pf_arena_string(&o->texts, text) : NULL;
}

static void add(struct pf_roofline *o, size_t *cap, struct pf_roof_link l)
{
	l.link_rate = o->peaks.rate[PF_PEAK_LINK];
	l.share = NAN;
	if (l.is_within && !strcmp(l.is_within, "yes"))
		l.share = l.bus_rate / l.link_rate;
	/* What is faster than its roof has another. */
	if (l.share > PF_ROOF_SLACK) {
		l.share = NAN;
		o->fast_links++;
	}
	o->links = pf_grow(o->links, cap, o->link_count + 1, sizeof(*o->links));
	o->links[o->link_count++] = l;
}

/* ---- several ranks ---- */

static void take_kinds(struct pf_roofline *o, const struct pf_ranks *found)
{
	size_t cap = 0;

	for (size_t i = 0; i < found->kind_count; i++) {
		const struct pf_ranks_kind *k = &found->kinds[i];
		struct pf_roof_link l = {
			.collective = kept(o, k->kind),
			.group_size = k->size,
			.bytes = k->bytes,
			.count = k->count,
			.ns = k->transfer_ns,
			.timed = "transfer",
			.bus_rate = k->bus_rate,
		};

		if (k->across)
			l.is_within = strcmp(k->across, "no") ? "no" : "yes";
		add(o, &cap, l);
	}
}

static int find_meetings(struct pf_db *db, const struct pf_window_args *args,
			 struct pf_roofline *o, struct pf_err *err)
{
	const struct pf_ranks_args brief = { .is_brief = true };
	struct pf_ranks_job *job = pf_ranks_new(&brief);
	struct pf_window window = { 0 };
	struct pf_ranks found = { 0 };
	int rc = pf_window_resolve(db, args, &window, err);

	if (!rc)
		rc = pf_ranks_add(job, db, &window, err);
	if (!rc)
		rc = pf_ranks_find(job, &found, err);
	if (!rc && !found.withheld)
		take_kinds(o, &found);
	pf_ranks_release(&found);
	pf_window_release(&window);
	pf_ranks_free(job);
	return rc;
}

/* ---- one, or ranks that cannot be compared ---- */

static void take_rows(struct pf_roofline *o, const struct pf_comm_row *rows,
		      size_t count)
{
	size_t cap = 0;

	for (size_t i = 0; i < count; i++) {
		const struct pf_comm_row *r = &rows[i];

		add(o, &cap,
		    (struct pf_roof_link){
			    .collective = kept(o, r->collective),
			    .group = kept(o, r->group),
			    .group_size = r->group_size,
			    .bytes = r->rated_count > 0
					     ? r->rated_bytes / r->rated_count
					     : -1,
			    .count = r->dur.count,
			    .ns = r->mean_ns,
			    .timed = "kernel",
			    .bus_rate = r->bus_rate,
		    });
	}
}

static int find_kernels(struct pf_db *db, struct pf_roofline *o,
			struct pf_err *err)
{
	struct pf_comm_table *table = pf_comm_table_new(db);
	struct pf_gpu *gpu =
		pf_gpu_new(db, &o->walk.window, PF_GPU_STARTS, err);
	const struct pf_gpu_event *ev;
	const struct pf_comm_row *rows;
	size_t count;
	int rc = -1;

	while (gpu && (rc = pf_gpu_next(gpu, &ev, err)) == 1)
		if (ev->class == PF_GPU_COMM &&
		    (rc = pf_comm_table_add(table, gpu, ev, err)) < 0)
			break;
	if (!rc) {
		rows = pf_comm_table_rows(table, &count);
		take_rows(o, rows, count);
	}
	pf_gpu_free(gpu);
	pf_comm_table_free(table);
	return rc;
}

int pf_roof_links_find(struct pf_db *db, const struct pf_window_args *window,
		       struct pf_roofline *o, struct pf_err *err)
{
	if (!o->comm_ns)
		return 0;
	if (o->walk.window.count > 1 && find_meetings(db, window, o, err) < 0)
		return -1;
	return o->link_count ? 0 : find_kernels(db, o, err);
}
