/* SPDX-License-Identifier: MIT */
/*
 * GPU events: rows of their own, and kernel time summed by link for the
 * events of the host to take.
 */
#include "config.h"

#include "torch/engine.h"

#include <string.h>

#include "base/mem.h"

#define TIES_MAX   64
#define SUMS_BYTES (1u << 20) /* in memory, and as much again packed */

/* For the sorter: by link, then start. */
struct launched {
	int64_t link, start_ns, order, ns;
};

static int add_row(struct pf_engine *e, const struct pf_fe *fe,
		   int64_t start_ns, int64_t end_ns, struct pf_err *err)
{
	struct pf_engine_row row = { .is_device = true };
	struct pf_figures f = { 0 };
	struct pf_node n = { 0 };

	if (pf_facts_name(&e->facts, fe->kind, &fe->name, &row.name, err))
		return -1;
	if (row.name.flags & PF_NAME_DROPPED)
		return 0;
	row.is_annotation =
		(fe->kind == PF_KIND_GPU_ANNOTATION &&
		 e->rules.annotations_apart) ||
		(fe->kind == PF_KIND_GPU_SYNC && e->rules.waits_apart);
	if (pf_engine_begin(e, &row, &n, err))
		return -1;
	n.is_row = true;
	n.place = (struct pf_fe_place){ start_ns, end_ns, fe->position, 1 };
	f.ns[PF_FIG_DEVICE] = f.ns[PF_FIG_SELF_DEVICE] = end_ns - start_ns;
	f.us[PF_FIG_DEVICE] = pf_engine_dur_us(e, start_ns, end_ns);
	f.us[PF_FIG_SELF_DEVICE] = f.us[PF_FIG_DEVICE];
	return pf_tree_settle_alone(&e->tree, &n, &f, false, err);
}

/* Hostile times may be too long to be summed. */
static void add_wrapping(int64_t *sum, int64_t ns)
{
	*sum = (int64_t)((uint64_t)*sum + (uint64_t)ns);
}

static void narrow(const struct pf_engine *e, int64_t *start_ns,
		   int64_t *end_ns)
{
	int64_t cut = e->rules.narrow_start_ns + e->rules.narrow_end_ns;

	if (*end_ns - *start_ns < cut)
		return;
	*start_ns += e->rules.narrow_start_ns;
	*end_ns -= e->rules.narrow_end_ns;
}

static int see(struct pf_engine *e, struct pf_sorter *sorter,
	       const struct pf_fe *fe, struct pf_err *err)
{
	int64_t start_ns = fe->start_ns, end_ns = fe->end_ns, link;
	struct pf_averages_trust *trust = &e->result->trust;
	struct launched l = { 0 };

	if (fe->kind == PF_KIND_GPU_ANNOTATION)
		narrow(e, &start_ns, &end_ns);
	if (start_ns >= e->from_ns && start_ns < e->to_ns &&
	    add_row(e, fe, start_ns, end_ns, err))
		return -1;
	if (pf_engine_device_link(e, fe, &link, err))
		return -1;
	if (pf_kind_is_gpu_work(fe->kind)) {
		add_wrapping(&trust->device_ns, end_ns - start_ns);
		if (link <= 0) {
			add_wrapping(&trust->unlinked_ns, end_ns - start_ns);
			trust->unlinked_count++;
		}
	}
	if (link <= 0)
		return 0;
	l.link = link;
	l.start_ns = start_ns;
	l.order = fe->position;
	l.ns = end_ns - start_ns;
	return pf_sorter_add(sorter, &l, err);
}

/* ---- sums by link ---- */

/* Kernels of one link that begin together, in file order. */
struct ties {
	struct launched item[TIES_MAX];
	size_t count;
};

static void flush(const struct pf_engine *e, struct ties *t, struct pf_fsum *us)
{
	for (size_t i = 0; i < t->count; i++) {
		int64_t start_ns = t->item[i].start_ns;

		pf_fsum_add(
			us,
			pf_engine_dur_us(e, start_ns, start_ns + t->item[i].ns),
			e->rules.compensated);
	}
	t->count = 0;
}

static void add_tie(struct ties *t, const struct launched *l)
{
	size_t i = t->count++;

	for (; i && l->order < t->item[i - 1].order; i--)
		t->item[i] = t->item[i - 1];
	t->item[i] = *l;
}

static int put_sum(struct pf_engine *e, struct pf_kernel_sum *sum,
		   const struct pf_fsum *us, struct pf_err *err)
{
	sum->us = pf_fsum_total(us);
	if (pf_spool_add(e->op_kernels, sum, err))
		return -1;
	return e->call_kernels ? pf_spool_add(e->call_kernels, sum, err) : 0;
}

static int sum_links(struct pf_engine *e, struct pf_sorter *sorter,
		     struct pf_err *err)
{
	struct pf_kernel_sum sum = { 0 };
	struct ties ties = { .count = 0 };
	struct pf_fsum us = { 0, 0 };
	const struct launched *l;

	while ((l = pf_sorter_next(sorter, err))) {
		bool is_new = l->link != sum.link;

		if (is_new || ties.count == TIES_MAX ||
		    (ties.count && ties.item[0].start_ns != l->start_ns))
			flush(e, &ties, &us);
		if (is_new) {
			if (sum.link && put_sum(e, &sum, &us, err))
				return -1;
			sum = (struct pf_kernel_sum){ .link = l->link };
			us = (struct pf_fsum){ 0, 0 };
		}
		add_tie(&ties, l);
		add_wrapping(&sum.ns, l->ns);
	}
	flush(e, &ties, &us);
	if (err->code || (sum.link && put_sum(e, &sum, &us, err)))
		return -1;
	return 0;
}

static struct pf_spool *new_sums(const struct pf_engine *e)
{
	struct pf_spool *s = pf_spool_new(sizeof(struct pf_kernel_sum),
					  SUMS_BYTES, e->temp_dir);

	pf_spool_keep(s, SUMS_BYTES);
	return s;
}

static void open_sums(struct pf_engine *e)
{
	e->op_kernels = new_sums(e);
	/* Calls have numbers of their own: another place in the spool. */
	if (e->rules.candidates == PF_CANDIDATES_ALL ||
	    e->rules.unlinked_claims)
		e->call_kernels = new_sums(e);
	for (size_t i = 0; i < e->track_count; i++) {
		pf_lookup_init(&e->host[i].op_kernels, e->op_kernels);
		pf_lookup_init(&e->host[i].call_kernels, e->call_kernels);
	}
}

int pf_engine_device(struct pf_engine *e, struct pf_err *err)
{
	const struct pf_merge_args args = {
		.tracks = e->tracks,
		.count = e->track_count,
		.kinds = PF_KINDS_DEVICE,
		.columns = PF_COLBIT(PF_COL_NAME) | PF_COLBIT(PF_COL_ARGS) |
			   PF_COLBIT(PF_COL_SLOT + PF_SLOT_EXTERNAL_ID) |
			   PF_COLBIT(PF_COL_SLOT + PF_SLOT_CORRELATION),
		.first_ns = INT64_MIN,
		.use = e->is_device,
	};
	struct pf_sorter *sorter =
		pf_sorter_new(sizeof(struct launched), 2u << 20, e->temp_dir);
	struct pf_merge *m = pf_merge_new(e->db, &e->facts, &args, err);
	const struct pf_fe *fe;
	int rc = -1;

	open_sums(e);
	if (!m)
		goto out;
	while ((fe = pf_merge_next(m, err)))
		if (see(e, sorter, fe, err))
			goto out;
	if (err->code || pf_sorter_finish(sorter, err))
		goto out;
	rc = sum_links(e, sorter, err);
out:
	pf_merge_free(m);
	pf_sorter_free(sorter);
	return rc;
}
