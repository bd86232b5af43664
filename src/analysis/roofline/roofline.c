/* SPDX-License-Identifier: MIT */
/*
 * Works come sorted by their call: each call is put together, held against
 * its roof and added to the sums of its shape, kernel and step.
 */
#include "config.h"

#include "analysis/roofline/roofline.h"

#include <math.h>
#include <stdio.h>

#include "analysis/graphs/graphs.h"
#include "analysis/ranks/ranks.h"
#include "analysis/roofline/walk.h"
#include "analysis/time/kernels.h"
#include "analysis/time/launches.h"
#include "analysis/time/operators.h"
#include "analysis/time/overlap.h"
#include "base/intern.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/order.h"
#include "base/sat.h"
#include "events/gpu.h"
#include "events/interval.h"
#include "events/names.h"
#include "events/nest.h"
#include "events/traces.h"
#include "events/trust.h"
#include "formats/event.h"
#include "store/query.h"

/* One call against its roof, and sums of such. */

/* Roofs below this for each work are those of launches. */
#define PF_ROOF_LATENCY_NS 3000
/* Passed by more than this, a roof is not the right one. */
#define PF_ROOF_SLACK 1.02

struct pf_roof_call {
	const struct pf_op_work *work;
	int64_t ns, works;
	bool is_tf32;     /* its kernels round to it */
	bool is_host;     /* it copies from or to the host */
	bool is_replayed; /* by a graph */
};

/* The time that it needs at least, or NAN; *by: compute or memory. */
static double roof_time(const struct pf_gpu_peaks *peaks,
			const struct pf_roof_call *call, enum pf_roof_bound *by)
{
	const struct pf_op_work *w = call->work;
	enum pf_peak at = w->precision;
	double compute, memory = (double)w->bytes / peaks->rate[PF_PEAK_BYTES];

	*by = call->is_host ? PF_ROOF_HOST : PF_ROOF_UNKNOWN;
	if (call->is_host)
		return NAN;
	if (call->is_tf32 && !isnan(peaks->rate[PF_PEAK_TF32]))
		at = PF_PEAK_TF32;
	if (w->matrix)
		compute = (double)w->matrix / pf_gpu_peaks_matrix(peaks, at);
	else if (w->vector)
		compute = (double)w->vector / pf_gpu_peaks_vector(peaks, at);
	else
		compute = 0;
	if (isnan(compute) || isnan(memory))
		return NAN;
	*by = compute >= memory ? PF_ROOF_COMPUTE : PF_ROOF_MEMORY;
	return compute >= memory ? compute : memory;
}

/* A sum that does not fit is not known, and stays so. */
static void add_up(int64_t *sum, uint64_t part)
{
	if (*sum == PF_NO_INT || part > INT64_MAX ||
	    __builtin_add_overflow(*sum, (int64_t)part, sum))
		*sum = PF_NO_INT;
}

static void add_sum(int64_t *sum, int64_t part)
{
	if (part == PF_NO_INT)
		*sum = PF_NO_INT;
	else
		add_up(sum, (uint64_t)part);
}

static void roof_add(struct pf_roof_sums *s, const struct pf_gpu_peaks *peaks,
		     const struct pf_roof_call *call)
{
	enum pf_roof_bound bound = PF_ROOF_UNKNOWN;
	double roof = roof_time(peaks, call, &bound), ns = (double)call->ns;

	if (isnan(roof))
		; /* nothing says what could be */
	else if (roof > ns * PF_ROOF_SLACK)
		bound = PF_ROOF_OVER;
	else if (roof < PF_ROOF_LATENCY_NS * (double)call->works)
		bound = PF_ROOF_LATENCY;
	if (!s->calls || call->ns < s->min_ns)
		s->min_ns = call->ns;
	PF_AT_LEAST(s->max_ns, call->ns);
	s->calls++;
	s->replayed += call->is_replayed;
	s->works += call->works;
	pf_sat_sum(&s->kernel_ns, call->ns);
	pf_sat_sum(&s->bound_ns[bound], call->ns);
	add_up(&s->matrix, call->work->matrix);
	add_up(&s->vector, call->work->vector);
	add_up(&s->bytes, call->work->bytes);
	if (isnan(roof))
		return;
	/* What passed its roof is at it, so that the two add up. */
	PF_AT_MOST(roof, ns);
	s->roof_ns += roof;
	s->roofed_ns += ns;
	s->above_ns += ns - roof;
}

static void roof_merge(struct pf_roof_sums *to, const struct pf_roof_sums *more)
{
	if (!more->calls)
		return;
	if (!to->calls || more->min_ns < to->min_ns)
		to->min_ns = more->min_ns;
	PF_AT_LEAST(to->max_ns, more->max_ns);
	to->calls += more->calls;
	to->replayed += more->replayed;
	to->works += more->works;
	pf_sat_sum(&to->kernel_ns, more->kernel_ns);
	for (size_t i = 0; i < PF_ROOF_BOUNDS; i++)
		pf_sat_sum(&to->bound_ns[i], more->bound_ns[i]);
	add_sum(&to->matrix, more->matrix);
	add_sum(&to->vector, more->vector);
	add_sum(&to->bytes, more->bytes);
	to->roof_ns += more->roof_ns;
	to->roofed_ns += more->roofed_ns;
	to->above_ns += more->above_ns;
}

/* What bounds most of the time. */
static enum pf_roof_bound bound_of(const struct pf_roof_sums *s)
{
	size_t most = PF_ROOF_UNKNOWN;

	for (size_t i = 0; i < PF_ROOF_BOUNDS; i++)
		if (s->bound_ns[i] > s->bound_ns[most])
			most = i;
	return (enum pf_roof_bound)most;
}

/* In 1e12 a second; a sum that is not known, or no time: not a number. */
static double rate(int64_t sum, int64_t ns, double unit)
{
	return sum == PF_NO_INT ? NAN : pf_ratio((double)sum / unit, ns);
}

static double three_digits(double d)
{
	return strtod(PF_PRINTED(PF_NUM_MAX, "%.3g", d), NULL);
}

/* Fill in what a row shows of its sums. */
static void roof_rate(struct pf_roofline_row *row, int64_t gpu_ns)
{
	const struct pf_roof_sums *s = &row->s;
	int64_t all = s->matrix;
	bool has_roof = s->roofed_ns > 0 && !s->bound_ns[PF_ROOF_UNKNOWN];

	add_sum(&all, s->vector);
	row->tflops = rate(all, s->kernel_ns, 1e3);
	row->gbps = rate(s->bytes, s->kernel_ns, 1);
	row->intensity = all == PF_NO_INT || s->bytes == PF_NO_INT
				 ? NAN
				 : pf_ratio((double)all, s->bytes);
	row->roof_ns = has_roof ? llround(s->roof_ns) : PF_NO_INT;
	row->above_ns = has_roof ? llround(s->above_ns) : PF_NO_INT;
	row->share = has_roof ? s->roof_ns / s->roofed_ns : NAN;
	row->bound = pf_roof_bound_word(bound_of(s));
	if (bound_of(s) == PF_ROOF_OVER)
		row->share = NAN;
	row->short_tflops = three_digits(row->tflops);
	row->short_gbps = three_digits(row->gbps);
	row->time_share = pf_ratio((double)s->kernel_ns, gpu_ns);
}

/*
 * Collectives against the link between GPUs of one machine.  Of several ranks
 * that can be compared the rate is of the transfer alone, from the last rank's
 * start on (analysis/ranks/ranks.h); else of whole kernels, which wait for other ranks
 * too.  A share of the link is given where all ranks of a collective were
 * traced and ran on one machine: the network is not in a trace.
 */

/* Collectives alike; text NULL, number negative, not a number: unknown. */
struct pf_roof_link {
	const char *collective, *group;
	int64_t group_size, bytes; /* of one */
	int64_t count, ns;         /* median transfer, or mean of kernels */
	const char *timed;         /* "transfer" or "kernel" */
	const char *is_within;     /* one machine: "yes", "no" */
	double bus_rate, link_rate, share;
};

/* ---- links ---- */

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
	*PF_ONE_MORE(o->links, o->link_count, *cap) = l;
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
			 struct pf_roofline *o)
{
	const struct pf_ranks_args brief = { .is_brief = true };
	struct pf_ranks_job *job = pf_ranks_new(&brief);
	PF_AUTO(pf_window_release) struct pf_window window = { 0 };
	PF_AUTO(pf_ranks_release) struct pf_ranks found = { 0 };
	int rc = pf_window_resolve(db, args, &window);

	if (!rc)
		rc = pf_ranks_add(job, db, &window);
	if (!rc)
		rc = pf_ranks_find(job, &found, db->err);
	if (!rc && !found.withheld)
		take_kinds(o, &found);
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

static int find_kernels(struct pf_db *db, struct pf_roofline *o)
{
	struct pf_comm_table *table = pf_comm_table_new(db);
	PF_AUTO(pf_gpu_freed)
	struct pf_gpu *gpu = pf_gpu_new(db, &o->walk.window, PF_GPU_STARTS);
	const struct pf_gpu_event *ev;
	const struct pf_comm_row *rows;
	size_t count;

	while (gpu && !db->err->code && pf_gpu_next(gpu, &ev) == 1)
		if (ev->class == PF_GPU_COMM)
			pf_comm_table_add(table, gpu, ev);
	if (!db->err->code) {
		rows = pf_comm_table_rows(table, &count);
		take_rows(o, rows, count);
	}
	pf_comm_table_free(table);
	return db->err->code ? -1 : 0;
}

/* Fill in the links of *o, which has its peaks and its window. */
static int roof_links_find(struct pf_db *db,
			   const struct pf_window_args *window,
			   struct pf_roofline *o)
{
	if (!o->comm_ns)
		return 0;
	PF_TRY(o->walk.window.count > 1 && find_meetings(db, window, o) < 0);
	return o->link_count ? 0 : find_kernels(db, o);
}

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
	const struct pf_tensor *tensor;
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
			    enum pf_precision *out)
{
	char *text;

	*out = PF_PRECISION_UNKNOWN;
	if (name >= NAMES_MAX)
		return 0;
	f->precision = pf_grow_zero(f->precision, &f->precision_count,
				    (size_t)name + 1, 1);
	if (!f->precision[name]) {
		text = pf_names_text_take(f->names, name);
		PF_TRY(!text);
		f->precision[name] =
			(uint8_t)(1 +
				  pf_tensor_kind(f->tensor, text).precision);
		free(text);
	}
	*out = (enum pf_precision)(f->precision[name] - 1);
	return 0;
}

static struct pf_roof_sums *kernel_sums(struct find *f, uint32_t name)
{
	uint64_t *at = pf_map_at(&f->by_kernel, name);
	struct pf_buf short_name = { 0 };
	struct pf_roofline_row *row;
	char *text;

	if (*at != UINT64_MAX)
		return &f->kernels[*at].s;
	*at = f->kernel_count;
	row = PF_ONE_MORE(f->kernels, f->kernel_count, f->kernel_cap);
	*row = (struct pf_roofline_row){ .kernel = "(several)",
					 .short_kernel = "(several)" };
	if (name != SEVERAL) {
		text = pf_names_text_take(f->names, name);
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

static int end_call(struct find *f)
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
	roof_add(&f->by_shape[n->of.shape], &o->peaks, &call);
	use_call(f, n, &shape->work);
	if (o->group != PF_ROOFLINE_BY_KERNEL)
		return 0;
	kernel = kernel_sums(f, n->kernel);
	if (kernel)
		roof_add(kernel, &o->peaks, &call);
	return kernel ? 0 : -1;
}

static int add_work(struct find *f, const struct pf_roof_work *w)
{
	struct now *n = &f->now;
	enum pf_precision precision;

	if (!n->works || w->call_id != n->call_id) {
		PF_TRY(end_call(f));
		*n = (struct now){ .call_id = w->call_id,
				   .first_ns = w->start_ns,
				   .of = *w,
				   .kernel = w->name };
	}
	PF_TRY(kernel_precision(f, w->name, &precision));
	n->works++;
	n->is_tf32 |= precision == PF_PRECISION_TF32;
	n->is_host |= w->is_host;
	if (w->name != n->kernel)
		n->kernel = SEVERAL;
	pf_sat_sum(&n->sum_ns, pf_sat_sub(w->end_ns, w->start_ns));
	pf_union_add(&n->ns, w->start_ns, w->end_ns);
	return 0;
}

static int add_works(struct find *f)
{
	const struct pf_roof_work *w;

	while ((w = pf_sorter_next(f->out->walk.works, f->db->err)))
		PF_TRY(add_work(f, w));
	return f->db->err->code ? -1 : end_call(f);
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

	o->shapes = pf_arena_calloc(&o->texts, o->walk.shape_count,
				    sizeof(*o->shapes));
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
		roof_merge(&o->all, &f->by_shape[i]);
	}
	o->shape_count = n;
}

/* The rows of shapes with the same operator, or family, as one. */
static struct pf_roofline_row *grouped(struct pf_roofline *o, bool by_op,
				       size_t *count)
{
	struct pf_roofline_row *rows =
		pf_arena_calloc(&o->texts, o->shape_count, sizeof(*rows));
	PF_AUTO(pf_intern_release) struct pf_intern words = { 0 };

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
		roof_merge(&rows[n].s, &s->s);
	}
	*count = words.count;
	return rows;
}

static void finish_rows(struct pf_roofline_row *rows, size_t count,
			int64_t gpu_ns)
{
	for (size_t i = 0; i < count; i++)
		roof_rate(&rows[i], gpu_ns);
	pf_sort(rows, count, sizeof(*rows), by_time);
}

static void copy_rows(struct pf_roofline *o, const struct pf_roofline_row *from,
		      size_t count)
{
	o->rows = pf_arena_calloc(&o->texts, count, sizeof(*from));
	if (count)
		memcpy(o->rows, from, count * sizeof(*from));
	o->row_count = count;
}

static void make_rows(struct find *f, struct pf_roofline *o)
{
	shape_rows(f, o);
	o->families = grouped(o, false, &o->family_count);
	if (o->group == PF_ROOFLINE_BY_OP)
		o->rows = grouped(o, true, &o->row_count);
	else if (o->group == PF_ROOFLINE_BY_KERNEL)
		copy_rows(o, f->kernels, f->kernel_count);
	else
		copy_rows(o, o->shapes, o->shape_count);
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
	o->traces = pf_arena_calloc(&o->texts, w->count, sizeof(*o->traces));
	o->step_count = steps->count;
	o->steps = pf_arena_calloc(&o->texts, steps->count, sizeof(*o->steps));
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
	int64_t bytes_per_second; /* of its memory, as the trace says */
	const char *name;
};

static const struct pf_field described_fields[] = {
	PF_FIELD(struct described, trace_id, NULL, PF_INT),
	PF_FIELD(struct described, name, NULL, PF_TEXT),
	PF_FIELD(struct described, units, "sm_count", NULL, PF_INT),
	PF_FIELD(struct described, memory_bytes, NULL, PF_INT),
	PF_FIELD(struct described, bytes_per_second, NULL, PF_INT),
};

static const char *text_of(const char *s)
{
	return s ? s : "";
}

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
		if (d[i].bytes_per_second > 0)
			peaks.rate[PF_PEAK_BYTES] =
				(double)d[i].bytes_per_second / 1e9;
		if (is_first) {
			o->device = d[i].name;
			o->peaks = peaks;
		} else if (peaks.name != o->peaks.name ||
			   (!peaks.name &&
			    strcmp(text_of(d[i].name), text_of(o->device)))) {
			pf_gpu_peaks_none(&o->peaks);
			o->has_several = true;
			return;
		}
		is_first = false;
	}
}

static int find_peaks(struct pf_db *db, const struct pf_roofline_args *args,
		      struct pf_roofline *o)
{
	struct described *d;
	size_t count;

	pf_gpu_peaks_none(&o->peaks);
	o->gpus = pf_gpus_new(db->err);
	PF_TRY(!o->gpus);
	d = pf_named_read(db, "roofline_devices", PF_FIELDS(described_fields),
			  &o->texts, &count);
	PF_TRY(!d);
	match(o, d, count);
	if (args->gpu) {
		o->has_several = false;
		PF_TRY(pf_gpus_named(o->gpus, args->gpu, &o->peaks, db->err));
	}
	return args->peak ? pf_gpu_peaks_set(&o->peaks, args->peak, db->err)
			  : 0;
}

/* ---- the whole ---- */

static int find_all(struct find *f, const struct pf_roofline_args *args)
{
	struct pf_roofline *o = f->out;

	PF_TRY(pf_roof_walk(f->db, &args->window, args->is_dense, args->graphs,
			    &o->walk) < 0);
	PF_TRY(find_peaks(f->db, args, o));
	f->names = pf_names_new(f->db);
	f->tensor = f->names ? pf_tensor_of(f->db) : NULL;
	f->by_shape = pf_calloc(o->walk.shape_count + 1, sizeof(*f->by_shape));
	f->unlike = pf_calloc(o->walk.shape_count + 1, sizeof(*f->unlike));
	prepare_uses(o);
	PF_TRY(!f->tensor || add_works(f) < 0);
	add_unlike(f);
	make_rows(f, o);
	rate_uses(f, o);
	if (!args->has_links)
		return 0;
	return roof_links_find(f->db, &args->window, o);
}

int pf_roofline_find(struct pf_db *db, const struct pf_roofline_args *args,
		     struct pf_roofline *out)
{
	struct find f = { .db = db, .out = out };
	int rc;

	out->group = (enum pf_roofline_group)args->group;
	rc = find_all(&f, args);
	pf_map_release(&f.by_kernel);
	pf_names_free(f.names);
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
	free(r->links);
	*r = (struct pf_roofline){ 0 };
}

/* ---- roofline show ---- */

#define FIELD(...) PF_FIELD(struct pf_roofline_row, __VA_ARGS__)
#define FIELD_KEYS 7 /* of the fields, the first: what a row is */
static const struct pf_field fields[] = {
	FIELD(op, "Operator", PF_TEXT),
	FIELD(short_kernel, "short_name", "Kernel", PF_TEXT | PF_BRIEF),
	FIELD(kernel, "Kernel", PF_TEXT | PF_FULL),
	FIELD(shapes, "input_shapes", "Shapes", PF_TEXT),
	FIELD(types, "input_types", "Types", PF_TEXT | PF_FULL),
	FIELD(values, "input_values", "Values", PF_TEXT | PF_FULL),
	FIELD(family, "Family", PF_TEXT | PF_OURS),
	FIELD(precision, "Precision", PF_TEXT | PF_FULL | PF_OURS),
	FIELD(s.calls, "calls", "Calls", PF_COUNT | PF_SPARE),
	FIELD(s.replayed, "replayed_calls", "Replayed", PF_COUNT | PF_SPARE),
	FIELD(s.kernel_ns, "kernel_ns", "GPU time", PF_NS),
	FIELD(time_share, "share", "Share", PF_RATIO | PF_BAR | PF_FULL),
	FIELD(s.min_ns, "min_ns", "Shortest", PF_NS | PF_FULL),
	FIELD(s.max_ns, "max_ns", "Longest", PF_NS | PF_FULL),
	FIELD(s.matrix, "matrix_flops", "Products",
	      PF_COUNT | PF_FULL | PF_MAYBE),
	FIELD(s.vector, "vector_flops", "Other arithmetic",
	      PF_COUNT | PF_FULL | PF_MAYBE),
	FIELD(s.bytes, "least_bytes", "Bytes", PF_BYTES | PF_FULL | PF_MAYBE),
	FIELD(short_tflops, "tflops", "TFLOP/s", PF_REAL | PF_BRIEF),
	FIELD(tflops, "tflop_per_s", "TFLOP/s", PF_REAL | PF_FULL),
	FIELD(short_gbps, "gbps", "GB/s", PF_REAL | PF_BRIEF),
	FIELD(gbps, "gb_per_s", "GB/s", PF_REAL | PF_FULL),
	FIELD(intensity, "flop_per_byte", "FLOP/byte", PF_REAL | PF_FULL),
	FIELD(bound, "Bound by", PF_TEXT | PF_OURS),
	FIELD(share, "roof_share", "Of roof", PF_RATIO | PF_BAR),
	FIELD(roof_ns, "At the roof", PF_NS | PF_FULL | PF_MAYBE),
	FIELD(above_ns, "above_roof_ns", "Above it", PF_NS | PF_MAYBE),
};
#undef FIELD
#define FIELD_COUNT (PF_LEN(fields))

#define FIELD(...) PF_FIELD(struct pf_roofline_use, __VA_ARGS__)
static const struct pf_field use_fields[] = {
	FIELD(trace_id, "Trace", PF_INT | PF_FULL),
	FIELD(rank, "Rank", PF_INT | PF_KNOWN | PF_FULL),
	FIELD(step, "Step", PF_INT | PF_KNOWN),
	FIELD(time_ns, "Time", PF_NS),
	FIELD(device_count, "gpu_count", "GPUs", PF_COUNT | PF_FULL),
	FIELD(matrix, "matrix_flops", "FLOPs of products", PF_COUNT),
	FIELD(recomputed, "recomputed_flops", "Recomputed",
	      PF_COUNT | PF_QUIET),
	FIELD(mfu, "MFU", PF_RATIO | PF_BAR),
	FIELD(hfu, "HFU", PF_RATIO | PF_BAR),
};
#undef FIELD
#define USE_COUNT (PF_LEN(use_fields))

#define FIELD(...) PF_FIELD(struct pf_roof_link, __VA_ARGS__)
static const struct pf_field link_fields[] = {
	FIELD(collective, "Collective", PF_TEXT),
	FIELD(group, "Group", PF_TEXT | PF_FULL),
	FIELD(group_size, "Ranks", PF_INT | PF_KNOWN),
	FIELD(is_within, "one_machine", "One machine",
	      PF_TEXT | PF_OURS | PF_FULL),
	FIELD(bytes, "Bytes", PF_BYTES | PF_KNOWN),
	FIELD(count, "Count", PF_COUNT | PF_SPARE),
	FIELD(timed, "Time of", PF_TEXT | PF_OURS),
	FIELD(ns, "time_ns", "Time", PF_NS),
	FIELD(bus_rate, "bus_gb_per_s", "Bus GB/s", PF_REAL),
	FIELD(link_rate, "link_gb_per_s", "Link", PF_REAL),
	FIELD(share, "link_share", "Of link", PF_RATIO),
};
#undef FIELD

struct rest_row {
	const char *op, *why;
	int64_t count, ns;
	double share;
};

static const struct pf_field rest_fields[] = {
	PF_FIELD(struct rest_row, op, "Operator", PF_TEXT),
	PF_FIELD(struct rest_row, why, "Why", PF_TEXT | PF_OURS),
	PF_FIELD(struct rest_row, count, "work_count", "GPU events", PF_COUNT),
	PF_FIELD(struct rest_row, ns, "gpu_ns", "GPU time", PF_NS),
	PF_FIELD(struct rest_row, share, "Share", PF_RATIO | PF_BAR),
};

const char *pf_roof_bound_word(enum pf_roof_bound bound)
{
	static const char *const words[PF_ROOF_BOUNDS] = {
		[PF_ROOF_COMPUTE] = "compute", [PF_ROOF_MEMORY] = "memory",
		[PF_ROOF_LATENCY] = "latency", [PF_ROOF_OVER] = "over roof",
		[PF_ROOF_HOST] = "host copy",  [PF_ROOF_UNKNOWN] = NULL,
	};

	return words[bound];
}

/* ---- the sentence and the figures ---- */

static bool has_roof(const struct pf_roofline *r)
{
	return r->all.roofed_ns > 0;
}

/* As the table calls it, else as the trace does; NULL: it is not known. */
static const char *gpu_of(const struct pf_roofline *r)
{
	if (r->peaks.name || r->has_several)
		return r->peaks.name;
	return *text_of(r->device) ? r->device : NULL;
}

static void say_roofed(const struct pf_roofline *r, struct pf_doc *doc)
{
	PF_AUTO(pf_buf_release) struct pf_buf work = { 0 };
	struct pf_roofed said = { .ns = r->gpu_ns,
				  .roofed_ns = (int64_t)r->all.roofed_ns,
				  .above_ns = llround(r->all.above_ns),
				  .over_ns = r->all.bound_ns[PF_ROOF_OVER],
				  .short_ns =
					  r->all.bound_ns[PF_ROOF_LATENCY] };

	pf_buf_addf(&work, "the GPU work%s", pf_window_scope(&r->walk.window));
	said.work = work.data;
	pf_roofed_tell(&said, gpu_of(r), doc);
}

static void add_finding(const struct pf_roofline *r, struct pf_doc *doc)
{
	const char *scope = pf_window_scope(&r->walk.window);

	doc->is_nothing = !r->gpu_ns;
	const char *all = PF_SHOW_NS(r->gpu_ns);
	if (!r->gpu_ns)
		pf_doc_finding(doc, "%s, so nothing to hold against a roof",
			       pf_window_no_work(&r->walk.window));
	else if (!r->modelled_ns)
		pf_doc_finding(doc,
			       "No GPU work%s (%s) is of an operator whose "
			       "shapes were recorded and that has a model",
			       scope, all);
	else if (!has_roof(r))
		pf_doc_finding(doc,
			       "%s of the GPU time%s (%s) has a model; how "
			       "fast the GPU could be is not known",
			       PF_SHOW_SHARE(r->modelled_ns, r->gpu_ns), scope,
			       all);
	else
		say_roofed(r, doc);
}

static void add_real(struct pf_doc *doc, const char *key, const char *title,
		     enum pf_col_kind kind, double value)
{
	if (isnan(value))
		pf_doc_null(doc, key, title, kind);
	else
		pf_doc_real(doc, key, title, kind, value);
}

static void add_peaks(const struct pf_roofline *r, struct pf_doc *doc)
{
	pf_doc_string(doc, "gpu", "GPU", gpu_of(r));
	if (r->precision != PF_PEAK_NONE) {
		double peak = pf_gpu_peaks_matrix(&r->peaks, r->precision);

		pf_doc_string(doc, "precision", "Most products in",
			      pf_peak_word(r->precision));
		add_real(doc, "peak_tflop_per_s", "  peak, TFLOP/s", PF_REAL,
			 peak / 1e3);
	}
	add_real(doc, "peak_gb_per_s", "Memory, GB/s", PF_REAL,
		 r->peaks.rate[PF_PEAK_BYTES]);
}

/* Without any call that has a model nothing is known. */
static void put_sum(struct pf_doc *doc, const char *key, const char *title,
		    enum pf_col_kind kind, int64_t sum, bool is_known)
{
	if (sum == PF_NO_INT || !is_known)
		pf_doc_null(doc, key, title, kind);
	else
		pf_doc_int(doc, key, title, kind, sum);
}

static void add_figures(const struct pf_roofline *r, struct pf_doc *doc)
{
	add_peaks(r, doc);
	pf_doc_int(doc, "gpu_ns", "GPU time, summed", PF_NS, r->gpu_ns);
	pf_doc_int(doc, "modelled_ns", "  has a model", PF_NS, r->modelled_ns);
	pf_doc_int(doc, "comm_ns", "  communication", PF_NS | PF_QUIET,
		   r->comm_ns);
	pf_doc_int(doc, "not_modelled_ns", "  has none", PF_NS, r->rest_ns);
	/* products may be in what has no model: 0 is said where there is none */
	put_sum(doc, "matrix_flops", "FLOPs of products", PF_COUNT,
		r->all.matrix, r->all.calls && (r->all.matrix || !r->rest_ns));
	pf_doc_int(doc, "recomputed_flops", "  done again in backward",
		   PF_COUNT | PF_QUIET, r->recomputed);
	put_sum(doc, "vector_flops", "  of other arithmetic", PF_COUNT,
		r->all.vector, r->all.calls);
	put_sum(doc, "least_bytes", "Bytes to move at least", PF_BYTES,
		r->all.bytes, r->all.calls);
	if (has_roof(r)) {
		pf_doc_int(doc, "roof_ns", "GPU time at the roofs", PF_NS,
			   llround(r->all.roof_ns));
		pf_doc_int(doc, "above_roof_ns", "  above them", PF_NS,
			   llround(r->all.above_ns));
	}
	pf_doc_int(doc, "use_ns",
		   r->step_count ? "Steps, of each GPU"
				 : "First to last GPU work",
		   PF_NS, r->use_ns);
	add_real(doc, "mfu", "  MFU", PF_RATIO, r->mfu);
	add_real(doc, "hfu", "  HFU", PF_RATIO, r->hfu);
}

/* ---- tables ---- */

static void hide(struct pf_field *shown, const char *key)
{
	for (size_t i = 0; i < FIELD_COUNT; i++)
		if (!strcmp(shown[i].col.key, key))
			shown[i].col.kind |= PF_ABSENT;
}

static void add_rows(const struct pf_roofline *r, struct pf_doc *doc)
{
	static const unsigned has[][FIELD_KEYS] = {
		/* op, kernel twice, shapes, types, values, family */
		[PF_ROOFLINE_BY_OP] = { 1, 0, 0, 0, 0, 0, 1 },
		[PF_ROOFLINE_BY_SHAPE] = { 1, 0, 0, 1, 1, 1, 1 },
		[PF_ROOFLINE_BY_KERNEL] = { 0, 1, 1, 0, 0, 0, 0 },
	};
	struct pf_field shown[FIELD_COUNT];

	memcpy(shown, fields, sizeof(fields));
	for (size_t i = 0; i < FIELD_KEYS; i++)
		if (!has[r->group][i])
			shown[i].col.kind |= PF_ABSENT;
	shown[FIELD_KEYS - 1].col.kind |= PF_FULL;
	if (r->group == PF_ROOFLINE_BY_KERNEL)
		shown[FIELD_KEYS].col.kind |= PF_ABSENT;
	if (!r->walk.how_ns)
		hide(shown, "replayed_calls");
	PF_ROWS(doc, "calls", "Calls against their roofs", shown, r->rows,
		r->row_count);
}

static void add_families(const struct pf_roofline *r, struct pf_doc *doc)
{
	struct pf_field shown[FIELD_COUNT];

	memcpy(shown, fields, sizeof(fields));
	for (size_t i = 0; i + 1 < FIELD_KEYS; i++)
		shown[i].col.kind |= PF_ABSENT;
	if (!r->walk.how_ns)
		hide(shown, "replayed_calls");
	PF_ROWS(doc, "families", "By family", shown, r->families,
		r->family_count);
}

static void add_uses(const struct pf_roofline *r, struct pf_doc *doc)
{
	struct pf_field shown[USE_COUNT];

	memcpy(shown, use_fields, sizeof(use_fields));
	if (r->walk.window.count > 1)
		shown[pf_window_has_ranks(&r->walk.window) ? 1 : 0].col.kind &=
			~(unsigned)PF_FULL;
	if (r->step_count)
		PF_ROWS(doc, "steps", "Steps against the peak", shown, r->steps,
			r->step_count);
	if (r->trace_count > 1) {
		shown[2].col.kind |= PF_ABSENT;
		PF_ROWS(doc, "traces", "Traces against the peak", shown,
			r->traces, r->trace_count);
	}
}

PF_ORDER(by_shown_time, struct pf_roof_rest,
	 PF_DOWN(ns) PF_ALPHA(op) PF_UP(why))

static void add_rest(const struct pf_roofline *r, struct pf_doc *doc)
{
	static const char *const whys[PF_ROOF_WHYS] = {
		[PF_ROOF_NO_MODEL] = "no model",
		[PF_ROOF_NO_SHAPES] = "no shapes",
		[PF_ROOF_ODD] = "other form",
		[PF_ROOF_NO_OP] = "no operator",
		[PF_ROOF_COMM] = "communication",
	};
	size_t count = r->walk.rest_count;
	PF_OWN struct pf_roof_rest *rest = pf_calloc(count + 1, sizeof(*rest));
	struct pf_table *t =
		pf_doc_fields(doc, "not_modelled", "GPU time without a roof",
			      PF_FIELDS(rest_fields));

	if (count)
		memcpy(rest, r->walk.rest, count * sizeof(*rest));
	pf_sort(rest, count, sizeof(*rest), by_shown_time);
	for (size_t i = 0; i < count; i++) {
		struct rest_row row = {
			.op = rest[i].op,
			.why = whys[rest[i].why],
			.count = rest[i].count,
			.ns = rest[i].ns,
			.share = pf_ratio((double)rest[i].ns, r->gpu_ns),
		};

		PF_PUT(t, rest_fields, row);
	}
}

/* How much work of graphs there is, and how its operators are known. */
static void add_replayed(const struct pf_roof_walk *w, struct pf_doc *doc)
{
	PF_AUTO(pf_buf_release) struct pf_buf parts = { 0 };
	int64_t ns = 0;

	for (size_t h = 0; w->how_ns && h < PF_HOWS; h++)
		pf_sat_sum(&ns, w->how_ns[h]);
	if (!ns)
		return;
	pf_graphs_say_how(w->how_ns, ns, &parts);
	pf_doc_note(doc, "%s of GPU time is replayed by graphs: %s",
		    PF_SHOW_SHARE(ns, w->started_ns), parts.data);
}

static void add_notes(const struct pf_roofline *r, struct pf_doc *doc)
{
	if (r->has_several)
		pf_doc_note(doc, "the traces are of several kinds of GPU: "
				 "--trace asks for one of them");
	else if (!r->peaks.name && r->device && *r->device)
		pf_doc_note(doc,
			    "'%s' is not among the GPUs whose peaks are "
			    "known; --gpu and --peak give them",
			    r->device);
	else if (!r->peaks.name)
		pf_doc_note(doc, "the trace does not say which GPU it is of; "
				 "--gpu and --peak give its peaks");
	if (r->all.bound_ns[PF_ROOF_OVER])
		pf_doc_note(
			doc,
			"%s are of calls that were faster than their roof. "
			"Their data was in a cache, products were %sleft "
			"out (as Winograd's convolutions do), or the peak is "
			"another",
			PF_SHOW_NS(r->all.bound_ns[PF_ROOF_OVER]),
			isnan(r->peaks.rate[PF_PEAK_TF32])
				? ""
				: "rounded to tf32 or ");
	if (r->all.bound_ns[PF_ROOF_HOST])
		pf_doc_note(doc,
			    "%s are of copies from or to the host, which "
			    "the GPU's memory does not bound: they have no "
			    "roof",
			    PF_SHOW_NS(r->all.bound_ns[PF_ROOF_HOST]));
	if (r->fast_links)
		pf_doc_note(doc,
			    "%s of collectives were faster than the link that "
			    "data/gpus.csv has for this GPU: theirs is another",
			    PF_SHOW_COUNT(r->fast_links));
	if (!isnan(r->mfu) && r->rest_ns)
		pf_doc_note(doc,
			    "MFU and HFU are of what has a model: whatever "
			    "products are in the other %s come on top",
			    PF_SHOW_NS(r->rest_ns));
	if (has_roof(r) && r->all.works &&
	    r->all.kernel_ns / r->all.works < PF_LAUNCH_SHORT_NS)
		pf_doc_note(doc,
			    "the kernels take %s in the mean: so short, "
			    "starting and ending are a large part, which no "
			    "roof allows for; fewer, larger ones gain more",
			    PF_SHOW_NS(r->all.kernel_ns / r->all.works));
	if (has_roof(r))
		pf_doc_note(doc, "time above a roof is time of the GPU: a "
				 "step that waits for its host gains nothing "
				 "by it");
}

static void roofline_show(const struct pf_roofline *r, struct pf_doc *doc)
{
	add_finding(r, doc);
	add_figures(r, doc);
	add_rows(r, doc);
	add_families(r, doc);
	add_uses(r, doc);
	if (r->link_count)
		PF_ROWS(doc, "links", "Collectives against the link",
			link_fields, r->links, r->link_count);
	add_rest(r, doc);
	add_replayed(&r->walk, doc);
	add_notes(r, doc);
}

/* Then it does not matter that the trace itself has none. */
static bool has_captured_shapes(const struct pf_roof_walk *w)
{
	for (size_t i = 0; w->how_ns && i < w->shape_count; i++)
		if (w->shapes[i].dims)
			return true;
	return false;
}

/* 1: there are some; where there is no GPU work, they are the answer. */
static int show_tpus(struct pf_db *db, const struct pf_roofline *r,
		     struct pf_doc *doc)
{
	const struct pf_hlo_peaks peaks = { r->peaks.rate[PF_PEAK_BF16] * 1e3,
					    r->peaks.rate[PF_PEAK_BYTES] };
	struct pf_hlo_roofs *roofs = pf_hlo_roofs_new(
		db, &r->walk.window,
		r->group == PF_ROOFLINE_BY_OP ? PF_HLO_BY_OP : PF_HLO_BY_NAME,
		&peaks);

	if (!roofs)
		return db->err->code ? -1 : 0;
	doc->is_nothing = false;
	pf_hlo_roofs_tell(roofs, r->peaks.name, doc);
	add_peaks(r, doc);
	add_real(doc, "bf16_tflop_per_s", "Products in bf16, TFLOP/s", PF_REAL,
		 r->peaks.rate[PF_PEAK_BF16]);
	pf_hlo_roofs_show(roofs, doc);
	add_notes(r, doc);
	pf_hlo_roofs_free(roofs);
	return 1;
}

int pf_roofline_answer(struct pf_db *db, const struct pf_roofline_args *args,
		       struct pf_roofline *out, struct pf_doc *doc)
{
	unsigned needs = PF_TRUST_WORK | PF_TRUST_LINKS;

	PF_TRY(pf_roofline_find(db, args, out) < 0);
	if (!out->gpu_ns) {
		int rc = show_tpus(db, out, doc);

		if (rc)
			return rc < 0 ? -1
				      : pf_trust_note(db, &out->walk.window,
						      PF_TRUST_TPUS, doc);
	}
	roofline_show(out, doc);
	if (!has_captured_shapes(&out->walk))
		needs |= PF_TRUST_SHAPES;
	return pf_trust_note(db, &out->walk.window, needs, doc);
}

int pf_roofline(struct pf_db *db, const struct pf_roofline_args *args,
		struct pf_doc *doc)
{
	PF_AUTO(pf_roofline_release)
	struct pf_roofline r = { .group = PF_ROOFLINE_BY_OP };

	return pf_roofline_answer(db, args, &r, doc);
}
