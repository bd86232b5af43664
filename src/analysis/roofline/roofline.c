/* SPDX-License-Identifier: MIT */
/*
 * Works come sorted by their call: each call is put together, held against
 * its roof and added to the sums of its shape, kernel and step.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/time/kernels.h"
#include "base/intern.h"
#include "base/num.h"
#include "base/order.h"
#include "base/sat.h"
#include "events/interval.h"
#include "events/kernel_name.h"
#include "events/names.h"
#include "analysis/roofline/links.h"
#include "analysis/roofline/sums.h"
#include "store/query.h"
#include "show/rows.h"
#include "formats/event.h"

#define SEVERAL (PF_ID_INLINE - 1) /* stands for a call's kernels */

/* The works of one call that came so far. */
struct now {
	int64_t call_id, first_ns, works, sum_ns;
	struct pf_union ns;
	struct pf_roof_work of; /* its first */
	uint32_t kernel;
	bool is_tf32, is_host;
};

/* Work of calls whose arguments their model is not for. */
struct unlike {
	int64_t works, ns;
};

struct find {
	struct pf_db *db;
	struct pf_roofline *out;
	struct pf_names *names;
	struct pf_tensor *tensor;
	uint8_t *precision; /* by string.id: enum pf_precision + 1 */
	size_t precision_count;
	struct pf_roof_sums *by_shape;
	struct unlike *unlike; /* by shape, too */
	struct pf_map by_kernel;
	struct pf_roofline_row *kernels;
	size_t kernel_count, kernel_cap;
	int64_t matrix[PF_PEAKS + 1]; /* by precision */
	struct now now;
};

/* ---- kernels ---- */

#define NAMES_MAX (1u << 20)

static int kernel_precision(struct find *f, uint32_t name,
			    enum pf_precision *out, struct pf_err *err)
{
	char *text;

	*out = PF_PRECISION_UNKNOWN;
	if (name >= NAMES_MAX)
		return 0;
	f->precision = pf_grow_zero(f->precision, &f->precision_count,
				    (size_t)name + 1, 1);
	if (!f->precision[name]) {
		text = pf_names_text_take(f->names, name, err);
		if (!text)
			return -1;
		f->precision[name] =
			(uint8_t)(1 +
				  pf_tensor_kind(f->tensor, text).precision);
		free(text);
	}
	*out = (enum pf_precision)(f->precision[name] - 1);
	return 0;
}

static struct pf_roof_sums *kernel_sums(struct find *f, uint32_t name,
					struct pf_err *err)
{
	uint64_t *at = pf_map_at(&f->by_kernel, name);
	struct pf_buf short_name = { 0 };
	struct pf_roofline_row *row;
	char *text;

	if (*at != UINT64_MAX)
		return &f->kernels[*at].s;
	*at = f->kernel_count;
	f->kernels = pf_grow(f->kernels, &f->kernel_cap, f->kernel_count + 1,
			     sizeof(*f->kernels));
	row = &f->kernels[f->kernel_count++];
	*row = (struct pf_roofline_row){ .kernel = "(several)",
					 .short_kernel = "(several)" };
	if (name != SEVERAL) {
		text = pf_names_text_take(f->names, name, err);
		if (!text)
			return NULL;
		row->kernel = pf_arena_string(&f->out->texts, text);
		pf_kernel_short_name(&short_name, text);
		row->short_kernel =
			pf_arena_string(&f->out->texts, short_name.data);
		pf_buf_release(&short_name);
		free(text);
	}
	return &row->s;
}

/* ---- calls ---- */

static void use_call(struct find *f, const struct now *n,
		     const struct pf_op_work *work)
{
	struct pf_roofline *o = f->out;
	struct pf_roofline_use *uses[] = {
		n->of.step < o->step_count ? &o->steps[n->of.step] : NULL,
		&o->traces[n->of.trace],
	};
	enum pf_peak at = work->precision;
	int64_t matrix =
		work->matrix > INT64_MAX ? INT64_MAX : (int64_t)work->matrix;

	if (n->is_tf32) {
		at = PF_PEAK_TF32;
		o->has_tf32 = true;
	}
	pf_sat_sum(&f->matrix[at], matrix);
	if (n->of.is_recomputed)
		pf_sat_sum(&o->recomputed, matrix);
	for (size_t i = 0; i < 2; i++) {
		/* Of traces that have steps, what is outside them is not. */
		if (!uses[i] || (o->step_count && !uses[0]))
			continue;
		pf_sat_sum(&uses[i]->matrix, matrix);
		if (n->of.is_recomputed)
			pf_sat_sum(&uses[i]->recomputed, matrix);
	}
}

static int end_call(struct find *f, struct pf_err *err)
{
	struct pf_roofline *o = f->out;
	const struct now *n = &f->now;
	const struct pf_window_trace *t = &o->walk.window.traces[n->of.trace];
	const struct pf_roof_shape *shape;
	struct pf_roof_call call = { NULL,       n->ns.covered_ns,
				     n->works,   n->is_tf32,
				     n->is_host, n->call_id < 0 };
	struct pf_roof_sums *kernel;

	/* Without work there may be no shapes at all. */
	if (!n->works || n->first_ns < t->from_ns || n->first_ns >= t->to_ns)
		return 0;
	shape = &o->walk.shapes[n->of.shape];
	call.work = &shape->work;
	if (!shape->is_modelled) {
		f->unlike[n->of.shape].works += n->works;
		pf_sat_sum(&f->unlike[n->of.shape].ns, n->sum_ns);
		return 0;
	}
	/* Rounding is of products of fp32 alone. */
	call.is_tf32 &= shape->work.precision == PF_PEAK_FP32;
	f->now.is_tf32 = call.is_tf32;
	pf_sat_sum(&o->modelled_ns, n->sum_ns);
	pf_roof_add(&f->by_shape[n->of.shape], &o->peaks, &call);
	use_call(f, n, &shape->work);
	if (o->group != PF_ROOFLINE_BY_KERNEL)
		return 0;
	kernel = kernel_sums(f, n->kernel, err);
	if (kernel)
		pf_roof_add(kernel, &o->peaks, &call);
	return kernel ? 0 : -1;
}

static int add_work(struct find *f, const struct pf_roof_work *w,
		    struct pf_err *err)
{
	struct now *n = &f->now;
	enum pf_precision precision;

	if (!n->works || w->call_id != n->call_id) {
		if (end_call(f, err) < 0)
			return -1;
		*n = (struct now){ .call_id = w->call_id,
				   .first_ns = w->start_ns,
				   .of = *w,
				   .kernel = w->name };
	}
	if (kernel_precision(f, w->name, &precision, err) < 0)
		return -1;
	n->works++;
	n->is_tf32 |= precision == PF_PRECISION_TF32;
	n->is_host |= w->is_host;
	if (w->name != n->kernel)
		n->kernel = SEVERAL;
	pf_sat_sum(&n->sum_ns, pf_sat_sub(w->end_ns, w->start_ns));
	pf_union_add(&n->ns, w->start_ns, w->end_ns);
	return 0;
}

static int add_works(struct find *f, struct pf_err *err)
{
	const struct pf_roof_work *w;

	while ((w = pf_sorter_next(f->out->walk.works, err)))
		if (add_work(f, w, err) < 0)
			return -1;
	return err->code ? -1 : end_call(f, err);
}

static void add_unlike(struct find *f)
{
	struct pf_roof_walk *w = &f->out->walk;

	for (size_t i = 0; i < w->shape_count; i++)
		if (f->unlike[i].works)
			pf_roof_walk_rest(w, w->shapes[i].op,
					  w->shapes[i].dims ? PF_ROOF_ODD
							    : PF_ROOF_NO_SHAPES,
					  f->unlike[i].works, f->unlike[i].ns);
}

/* ---- rows ---- */

PF_ORDER(by_time, struct pf_roofline_row,
	 PF_DOWN(s.kernel_ns) PF_ALPHA(op) PF_ALPHA(family) PF_ALPHA(shapes)
		 PF_ALPHA(types) PF_ALPHA(values) PF_ALPHA(kernel)
			 PF_DOWN(s.roof_ns))

/* Rows of shapes that have calls. */
static void shape_rows(const struct find *f, struct pf_roofline *o)
{
	size_t n = 0;

	o->shapes = pf_calloc(o->walk.shape_count + 1, sizeof(*o->shapes));
	for (size_t i = 0; i < o->walk.shape_count; i++) {
		const struct pf_roof_shape *s = &o->walk.shapes[i];

		if (!f->by_shape[i].calls)
			continue;
		o->shapes[n++] = (struct pf_roofline_row){
			.op = s->op,
			.family = s->model->family,
			.shapes = s->dims,
			.types = s->types,
			.values = s->values,
			.precision = pf_peak_word(s->work.precision),
			.work = &s->work,
			.s = f->by_shape[i],
		};
		pf_roof_merge(&o->all, &f->by_shape[i]);
	}
	o->shape_count = n;
}

/* The rows of shapes with the same operator, or family, as one. */
static struct pf_roofline_row *grouped(const struct pf_roofline *o, bool by_op,
				       size_t *count)
{
	struct pf_roofline_row *rows =
		pf_calloc(o->shape_count + 1, sizeof(*rows));
	struct pf_intern words;

	pf_intern_init(&words);
	for (size_t i = 0; i < o->shape_count; i++) {
		const struct pf_roofline_row *s = &o->shapes[i];
		const char *word = by_op ? s->op : s->family;
		uint32_t n = pf_intern_add(&words, word, strlen(word));

		if (!rows[n].s.calls)
			rows[n] = (struct pf_roofline_row){
				.op = by_op ? s->op : NULL,
				.family = s->family,
				.precision = s->precision,
			};
		else if (rows[n].precision != s->precision)
			rows[n].precision = NULL;
		pf_roof_merge(&rows[n].s, &s->s);
	}
	*count = words.count;
	pf_intern_release(&words);
	return rows;
}

static void finish_rows(struct pf_roofline_row *rows, size_t count,
			int64_t gpu_ns)
{
	for (size_t i = 0; i < count; i++)
		pf_roof_rate(&rows[i], gpu_ns);
	pf_sort(rows, count, sizeof(*rows), by_time);
}

static void make_rows(struct find *f, struct pf_roofline *o)
{
	shape_rows(f, o);
	o->families = grouped(o, false, &o->family_count);
	if (o->group == PF_ROOFLINE_BY_OP) {
		o->rows = grouped(o, true, &o->row_count);
	} else if (o->group == PF_ROOFLINE_BY_KERNEL) {
		o->rows = f->kernels;
		o->row_count = f->kernel_count;
		f->kernels = NULL;
	} else {
		o->rows = pf_calloc(o->shape_count + 1, sizeof(*o->rows));
		memcpy(o->rows, o->shapes, o->shape_count * sizeof(*o->rows));
		o->row_count = o->shape_count;
	}
	for (size_t i = 0; i < o->walk.rest_count; i++)
		pf_sat_sum(o->walk.rest[i].why == PF_ROOF_COMM ? &o->comm_ns
							       : &o->rest_ns,
			   o->walk.rest[i].ns);
	o->gpu_ns =
		pf_sat_add(pf_sat_add(o->modelled_ns, o->comm_ns), o->rest_ns);
	finish_rows(o->rows, o->row_count, o->gpu_ns);
	finish_rows(o->families, o->family_count, o->gpu_ns);
	finish_rows(o->shapes, o->shape_count, o->gpu_ns);
}

/* ---- how much of the peak ---- */

static void prepare_uses(struct pf_roofline *o)
{
	const struct pf_window *w = &o->walk.window;
	const struct pf_steps *steps = &o->walk.steps;

	o->trace_count = w->count;
	o->traces = pf_calloc(w->count + 1, sizeof(*o->traces));
	o->step_count = steps->count;
	o->steps = pf_calloc(steps->count + 1, sizeof(*o->steps));
	for (size_t i = 0; i < w->count; i++)
		o->traces[i] = (struct pf_roofline_use){
			.trace_id = w->traces[i].trace_id,
			.rank = w->traces[i].rank,
			.step = -1,
			.device_count = o->walk.device_counts[i],
			.time_ns = steps->count ? 0
						: w->traces[i].hi_ns -
							  w->traces[i].lo_ns,
		};
	for (size_t i = 0; i < steps->count; i++) {
		const struct pf_step *s = &steps->items[i];

		o->steps[i] = (struct pf_roofline_use){
			.trace_id = s->trace_id,
			.rank = -1,
			.step = s->step,
			.time_ns = s->end_ns - s->start_ns,
		};
		for (size_t j = 0; j < w->count; j++) {
			if (w->traces[j].trace_id != s->trace_id)
				continue;
			o->steps[i].rank = w->traces[j].rank;
			o->steps[i].device_count = o->walk.device_counts[j];
			pf_sat_sum(&o->traces[j].time_ns, o->steps[i].time_ns);
		}
	}
}

/* Products in so much time against the peak; recomputed ones are no use. */
static void rate_use(const struct pf_roofline *o, struct pf_roofline_use *u)
{
	double peak = o->precision == PF_PEAK_NONE
			      ? NAN
			      : pf_gpu_peaks_matrix(&o->peaks, o->precision);
	double most = peak * (double)u->time_ns * (double)u->device_count;

	u->mfu = u->hfu = NAN;
	if (!(most > 0))
		return;
	u->hfu = (double)u->matrix / most;
	u->mfu = (double)(u->matrix - u->recomputed) / most;
	if (u->hfu > PF_ROOF_SLACK) /* the peak is another */
		u->mfu = u->hfu = NAN;
}

static void rate_uses(struct find *f, struct pf_roofline *o)
{
	struct pf_roofline_use all = { .device_count = 1 };

	o->precision = PF_PEAK_NONE;
	for (size_t i = 0; i < PF_PEAKS; i++)
		if (f->matrix[i] > (o->precision == PF_PEAK_NONE
					    ? 0
					    : f->matrix[o->precision]))
			o->precision = (enum pf_peak)i;
	for (size_t i = 0; i < o->step_count; i++)
		rate_use(o, &o->steps[i]);
	for (size_t i = 0; i < o->trace_count; i++) {
		struct pf_roofline_use *t = &o->traces[i];

		rate_use(o, t);
		pf_sat_sum(&all.matrix, t->matrix);
		pf_sat_sum(&all.recomputed, t->recomputed);
		pf_sat_sum(&all.time_ns, t->time_ns * t->device_count);
	}
	rate_use(o, &all);
	o->use_ns = all.time_ns;
	o->mfu = all.mfu;
	o->hfu = all.hfu;
}

/* ---- which GPU ---- */

struct described {
	int64_t trace_id, units, memory_bytes;
	const char *name;
};

static const struct pf_field described_fields[] = {
	PF_FIELD(struct described, trace_id, "trace_id", NULL, PF_INT),
	PF_FIELD(struct described, name, "name", NULL, PF_TEXT),
	PF_FIELD(struct described, units, "sm_count", NULL, PF_INT),
	PF_FIELD(struct described, memory_bytes, "memory_bytes", NULL, PF_INT),
};

/* The row that all GPUs of the traces have; of several kinds none. */
static void match(struct pf_roofline *o, const struct described *d, size_t n)
{
	struct pf_gpu_peaks peaks;
	bool is_first = true;

	for (size_t i = 0; i < n; i++) {
		struct pf_gpu_about about = { d[i].name, d[i].units,
					      d[i].memory_bytes };

		if (!pf_window_find(&o->walk.window, d[i].trace_id))
			continue;
		pf_gpu_peaks_none(&peaks);
		pf_gpus_match(o->gpus, &about, &peaks);
		if (is_first) {
			o->device = d[i].name;
			o->peaks = peaks;
		} else if (peaks.name != o->peaks.name) {
			pf_gpu_peaks_none(&o->peaks);
			o->has_several = true;
			return;
		}
		is_first = false;
	}
}

static int find_peaks(struct pf_db *db, const struct pf_roofline_args *args,
		      struct pf_roofline *o, struct pf_err *err)
{
	struct described *d;
	size_t count;

	pf_gpu_peaks_none(&o->peaks);
	o->gpus = pf_gpus_new(err);
	if (!o->gpus)
		return -1;
	d = pf_named_rows_take(db, "roofline_devices",
			       PF_FIELDS(described_fields), &o->texts, &count,
			       err);
	if (!d)
		return -1;
	match(o, d, count);
	free(d);
	if (args->gpu) {
		o->has_several = false;
		if (pf_gpus_named(o->gpus, args->gpu, &o->peaks, err) < 0)
			return -1;
	}
	return args->peak ? pf_gpu_peaks_set(&o->peaks, args->peak, err) : 0;
}

/* ---- the whole ---- */

static int find_all(struct find *f, const struct pf_roofline_args *args,
		    struct pf_err *err)
{
	struct pf_roofline *o = f->out;

	if (pf_roof_walk(f->db, &args->window, args->is_dense, args->graphs,
			 &o->walk, err) < 0 ||
	    find_peaks(f->db, args, o, err) < 0)
		return -1;
	f->names = pf_names_new(f->db, err);
	f->tensor = f->names ? pf_tensor_new(err) : NULL;
	f->by_shape = pf_calloc(o->walk.shape_count + 1, sizeof(*f->by_shape));
	f->unlike = pf_calloc(o->walk.shape_count + 1, sizeof(*f->unlike));
	prepare_uses(o);
	if (!f->tensor || add_works(f, err) < 0)
		return -1;
	add_unlike(f);
	make_rows(f, o);
	rate_uses(f, o);
	if (!args->has_links)
		return 0;
	return pf_roof_links_find(f->db, &args->window, o, err);
}

int pf_roofline_find(struct pf_db *db, const struct pf_roofline_args *args,
		     struct pf_roofline *out, struct pf_err *err)
{
	struct find f = { .db = db, .out = out };
	int rc;

	out->group = (enum pf_roofline_group)args->group;
	pf_map_init(&f.by_kernel);
	rc = find_all(&f, args, err);
	pf_map_release(&f.by_kernel);
	pf_names_free(f.names);
	pf_tensor_free(f.tensor);
	free(f.precision);
	free(f.by_shape);
	free(f.unlike);
	free(f.kernels);
	return rc;
}

void pf_roofline_release(struct pf_roofline *r)
{
	pf_roof_walk_release(&r->walk);
	pf_gpus_free(r->gpus);
	pf_arena_release(&r->texts);
	free(r->rows);
	free(r->families);
	free(r->shapes);
	free(r->steps);
	free(r->traces);
	free(r->links);
	*r = (struct pf_roofline){ 0 };
}
