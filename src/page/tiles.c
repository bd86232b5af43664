/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <math.h>
#include <string.h>

#include "page/figure.h"
#include "page/tiles.h"
#include "show/find.h"

static struct pf_tile *add(struct pf_tiles *out, const char *key,
			   const char *title, enum pf_col_kind kind,
			   const char *link)
{
	struct pf_tile *t = &out->tile[out->count++];

	*t = (struct pf_tile){
		.key = key, .title = title, .kind = kind, .link = link
	};
	return t;
}

static void set_int(struct pf_tile *t, int64_t n)
{
	t->value = (struct pf_cell){ PF_CELL_INT, { .i = n } };
}

static void set_real(struct pf_tile *t, double d)
{
	t->value = (struct pf_cell){ PF_CELL_REAL, { .d = d } };
}

/* "166 to 188 ms": one unit, if it is one. */
static void add_range(struct pf_buf *out, int64_t least, int64_t most)
{
	struct pf_buf low = { 0 }, high = { 0 };
	const char *unit, *other;

	pf_figure_ns(&low, least);
	pf_figure_ns(&high, most);
	unit = strchr(low.data, ' ');
	other = strchr(high.data, ' ');
	if (unit && other && !strcmp(unit, other))
		pf_buf_add(out, low.data, (size_t)(unit - low.data));
	else
		pf_buf_adds(out, low.data);
	pf_buf_adds(out, " to ");
	pf_buf_adds(out, high.data);
	pf_buf_release(&low);
	pf_buf_release(&high);
}

static void add_step_time(const struct pf_parts *p, struct pf_tiles *out)
{
	const struct pf_step_times *s = &p->steps;
	int64_t n = s->full_count, least = INT64_MAX;
	bool is_trace = !p->steps_text.len;
	struct pf_tile *t;

	if (n <= 0)
		return;
	t = add(out, "p50_ns",
		is_trace ? "Window"
		: n > 1  ? "Step, median"
			 : "Step",
		PF_NS, "breakdown");
	set_int(t, s->dur.p50_ns);
	for (size_t i = 0; i < s->count; i++)
		if (s->steps[i].dur_ns < least)
			least = s->steps[i].dur_ns;
	if (n == 1) {
		pf_buf_adds(&t->detail,
			    is_trace ? "without profiler steps" : "one step");
		return;
	}
	add_range(&t->detail, least, s->dur.max_ns);
	pf_buf_adds(&t->detail, ", n = ");
	pf_figure_count(&t->detail, n);
}

/* What a training script timed itself, where it was one. */
static void add_batches(const struct pf_parts *p, struct pf_tiles *out)
{
	const struct pf_table *t =
		pf_doc_find_table(&p->doc[PF_PART_STEPS], "training_times");
	struct pf_tile *tile;

	if (pf_table_rows(t) != 1 || !pf_table_at(t, 0, "median_ns"))
		return;
	tile = add(out, "batch_median_ns", "Timed batch, median", PF_NS,
		   "training");
	set_int(tile, pf_table_int_at(t, 0, "median_ns"));
	pf_buf_adds(&tile->detail, "longest ");
	pf_figure_ns(&tile->detail, pf_table_int_at(t, 0, "longest_ns"));
	pf_buf_adds(&tile->detail, ", n = ");
	pf_figure_count(&tile->detail, pf_table_int_at(t, 0, "row_count"));
}

static void add_gpu(const struct pf_parts *p, struct pf_tiles *out)
{
	const struct pf_gap_device *gaps = &p->gaps.all;
	const struct pf_overlap_figures *f = &p->overlap.all;
	struct pf_tile *t;

	if (gaps->window_ns <= 0)
		return;
	t = add(out, "busy_share", pf_window_title(&p->traces, "GPU busy"),
		PF_RATIO, "breakdown");
	set_real(t, (double)gaps->busy_ns / (double)gaps->window_ns);
	pf_figure_ns(&t->detail, gaps->busy_ns);
	pf_buf_adds(&t->detail, " of ");
	pf_figure_ns(&t->detail, gaps->window_ns);
	t = add(out, "idle_share", pf_window_title(&p->traces, "GPU idle"),
		PF_RATIO, "idle");
	set_real(t, gaps->idle_share);
	pf_figure_ns(&t->detail, gaps->idle_ns);
	if (!f->comm_ns || f->total_ns <= 0)
		return;
	t = add(out, "exposed_comm_share", "Exposed comm.", PF_RATIO, "comm");
	set_real(t, (double)f->exposed_comm_ns / (double)f->total_ns);
	pf_figure_ns(&t->detail, f->exposed_comm_ns);
	pf_buf_adds(&t->detail, " of ");
	pf_figure_ns(&t->detail, f->comm_ns);
}

/* Per step those in them, as in "syncs"; 0 steps: of the whole. */
static void add_syncs(const struct pf_parts *p, int64_t steps,
		      struct pf_tiles *out)
{
	const struct pf_syncs *s = &p->syncs;
	struct pf_tile *t =
		add(out, "syncs_per_step", steps ? "Syncs per step" : "Syncs",
		    PF_REAL, "syncs");

	set_real(t, steps ? (double)s->in_steps_count / (double)steps
			  : (double)s->count);
	pf_buf_adds(&t->detail, "CPU blocked ");
	pf_figure_ns(&t->detail,
		     steps ? s->in_steps_ns / steps : s->blocked_ns);
}

static void add_counts(const struct pf_parts *p, struct pf_tiles *out)
{
	const struct pf_kernels *k = &p->callers;
	int64_t steps = p->steps.full_count, n = k->calls;
	bool is_trace = !p->steps_text.len || steps <= 0;
	struct pf_tile *t;

	if (n <= 0)
		return;
	if (is_trace)
		steps = 1;
	if (p->syncs.has_calls)
		add_syncs(p, is_trace ? 0 : steps, out);
	t = add(out, "kernels_per_step",
		is_trace ? "Kernels" : "Kernels per step", PF_REAL, "kernels");
	set_real(t, (double)n / (double)steps);
	pf_figure_ns(&t->detail, k->total_ns / n);
	pf_buf_adds(&t->detail, " on average");
	if (!k->tensor_core_ns || isnan(k->tensor_core_share))
		return; /* too little is known */
	t = add(out, "tensor_core_share", "Tensor cores", PF_RATIO, "kernels");
	set_real(t, k->tensor_core_share);
	pf_buf_adds(&t->detail, "of kernel time");
}

/* Of a snapshot without a history there is only its own time. */
static void add_reserved(const struct pf_snap_state *snap, struct pf_tiles *out)
{
	const struct pf_snap_now *most = pf_snap_fullest(snap);
	struct pf_tile *tile;

	if (!most)
		return;
	tile = add(out, "reserved_bytes", "Reserved memory", PF_BYTES,
		   "memory");
	set_int(tile, most->reserved);
	pf_figure_bytes(&tile->detail, most->allocated);
	pf_buf_adds(&tile->detail, " allocated");
}

static void add_memory(const struct pf_parts *p, struct pf_tiles *out)
{
	const struct pf_usage_device *best = NULL;
	struct pf_tile *tile;

	for (size_t i = 0; i < p->memory.device_count; i++) {
		const struct pf_usage_device *d = &p->memory.devices[i];

		if (d->at.device_type > 0 && d->peak > (best ? best->peak : 0))
			best = d;
	}
	if (!best) {
		add_reserved(&p->memory.snap, out);
		return;
	}
	tile = add(out, "peak_bytes", "Peak memory", PF_BYTES, "memory");
	set_int(tile, best->peak);
	if (best->capacity == PF_NO_INT)
		return;
	pf_figure_ratio(&tile->detail, best->capacity_share);
	pf_buf_adds(&tile->detail, " of ");
	pf_figure_bytes(&tile->detail, best->capacity);
}

void pf_tiles_find(const struct pf_parts *p, struct pf_tiles *out)
{
	memset(out, 0, sizeof(*out));
	add_step_time(p, out);
	add_batches(p, out);
	add_gpu(p, out);
	add_counts(p, out);
	add_memory(p, out);
}

void pf_tiles_release(struct pf_tiles *t)
{
	for (size_t i = 0; i < t->count; i++)
		pf_buf_release(&t->tile[i].detail);
	t->count = 0;
}

void pf_tiles_scalars(const struct pf_tiles *t, struct pf_doc *doc)
{
	for (size_t i = 0; i < t->count; i++) {
		const struct pf_tile *a = &t->tile[i];

		if (a->value.type == PF_CELL_INT)
			pf_doc_int(doc, a->key, a->title, a->kind,
				   a->value.v.i);
		else
			pf_doc_real(doc, a->key, a->title, a->kind,
				    a->value.v.d);
	}
}
