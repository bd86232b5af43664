/* SPDX-License-Identifier: MIT */
/*
 * Every rule takes the rows of the path that are its own; their sum is what it
 * can save at most.  Then it says what sums do not.  What is given is ranked
 * by that.
 */
#include "config.h"

#include "analysis/advise/impl.h"
#include "analysis/roofline/gpus.h"
#include "analysis/roofline/roofline.h"
#include "base/order.h"
#include "base/sat.h"
#include "events/interval.h"
#include "events/traces.h"
#include "events/names.h"
#include "formats/event.h"
#include "show/escape.h"
#include "store/query.h"

/* The end of what is said beside: the next sentence begins there. */
static struct pf_buf *next(struct pf_advice *out)
{
	if (out->detail.len)
		pf_buf_adds(&out->detail, ". ");
	return &out->detail;
}

/*
 * What the shapes of operators say of the time that stays.  A change takes
 * from each call no more than what it is above its least time; so what is
 * saved on the path is no more than what all calls of the operator are above
 * theirs, on the path or not.  Calls that are not modelled may vanish.
 */

/* Operations in a nanosecond, the most of some precisions; or NAN. */
static double fastest(const struct pf_gpu_peaks *peaks, const enum pf_peak *of,
		      size_t count)
{
	double best = NAN;

	for (size_t i = 0; i < count; i++) {
		double rate = pf_gpu_peaks_matrix(peaks, of[i]);

		if (!isnan(rate) && !(rate <= best))
			best = rate;
	}
	return best;
}

static double product_rate(const struct pf_gpu_peaks *peaks, enum pf_peak own,
			   enum advise_least least)
{
	static const enum pf_peak single[] = { PF_PEAK_FP32, PF_PEAK_TF32 };
	static const enum pf_peak reduced[] = { PF_PEAK_FP32, PF_PEAK_TF32,
						PF_PEAK_BF16, PF_PEAK_FP16 };

	if (own == PF_PEAK_NONE)
		return NAN;
	if (own != PF_PEAK_FP32)
		return pf_gpu_peaks_matrix(peaks, own);
	return least == ADVISE_LEAST_REDUCED
		       ? fastest(peaks, reduced,
				 sizeof(reduced) / sizeof(*reduced))
		       : fastest(peaks, single,
				 sizeof(single) / sizeof(*single));
}

/* What calls alike take at least; 0 where nothing says so. */
static double least_ns(const struct pf_roofline *r,
		       const struct pf_roofline_row *row,
		       enum advise_least least)
{
	const struct pf_op_work *w = row->work;
	double compute, memory = 0, calls = (double)row->s.calls;

	if (least == ADVISE_LEAST_ROOF)
		return row->s.roof_ns;
	compute = calls * (double)w->matrix /
		  product_rate(&r->peaks, w->precision, least);
	/* in reduced precision all is half as large */
	if (least == ADVISE_LEAST_REDUCED)
		memory = calls * (double)w->bytes / 2 /
			 r->peaks.rate[PF_PEAK_BYTES];
	if (isnan(compute) || !w->matrix)
		compute = 0;
	return memory > compute ? memory : compute;
}

struct room {
	int64_t ns, all_ns;
	bool is_modelled;
};

/* All calls of an operator. */
static struct room room_of(const struct pf_roofline *r, const char *op,
			   enum advise_least least)
{
	struct room room = { 0 };

	for (size_t i = 0; i < r->shape_count; i++) {
		const struct pf_roofline_row *row = &r->shapes[i];
		double ns;

		if (strcmp(row->op, op) != 0)
			continue;
		ns = least_ns(r, row, least);
		pf_sat_sum(&room.all_ns, row->s.kernel_ns);
		room.is_modelled = true;
		if (ns < (double)row->s.kernel_ns)
			pf_sat_sum(&room.ns, row->s.kernel_ns - (int64_t)ns);
	}
	for (size_t i = 0; i < r->walk.rest_count; i++) {
		const struct pf_roof_rest *rest = &r->walk.rest[i];

		if (!rest->op || strcmp(rest->op, op) != 0)
			continue;
		pf_sat_sum(&room.all_ns, rest->ns);
		pf_sat_sum(&room.ns, rest->ns);
	}
	return room;
}

/* On the path, of an operator. */
struct held {
	const char *op;
	int64_t ns;
};

static struct held *hold(const struct pf_advise *a,
			 bool (*owns)(const struct advise_row *r),
			 size_t *count)
{
	const struct advise_tiles *t = a->tiles;
	struct held *all = pf_calloc(t->row_count + 1, sizeof(*all));
	struct pf_intern ops;

	pf_intern_init(&ops);
	for (size_t i = 0; i < t->row_count; i++) {
		const struct advise_row *r = &t->rows[i];
		uint32_t n;

		if (!owns(r) || r->category != PF_PATH_KERNEL || !*r->op)
			continue;
		n = pf_intern_add(&ops, r->op, strlen(r->op));
		all[n].op = r->op;
		all[n].ns += r->ns;
	}
	*count = ops.count;
	pf_intern_release(&ops);
	return all;
}

/*
 * Where shapes and the GPU's peak rates say that some of what the rows hold
 * stays, that is no longer part of at_most_ns, and the sentence says so.
 */
static void advise_bound(const struct pf_advise *a,
			 const struct pf_advise_from *from,
			 bool (*owns)(const struct advise_row *r),
			 enum advise_least least, struct pf_advice *out)
{
	const struct pf_roofline *r = from->roofline;
	char stays[PF_NUM_MAX];
	struct held *all;
	int64_t ns = 0;
	size_t count;

	if (!r || !r->shape_count)
		return;
	all = hold(a, owns, &count);
	for (size_t i = 0; i < count; i++) {
		const struct room room = room_of(r, all[i].op, least);

		/* what is not of this window bounds nothing */
		if (room.is_modelled && room.all_ns >= all[i].ns &&
		    room.ns < all[i].ns)
			ns += all[i].ns - room.ns;
	}
	free(all);
	if (!ns)
		return;
	out->at_most_ns -= ns;
	out->measured = pf_num_share(out->at_most_ns, a->window_ns);
	out->confidence = "model";
	pf_buf_addf(next(out),
		    "At least %s of it stay, by shapes and peak rates",
		    pf_num_show_ns(stays, ns));
}

/*
 * Ranges by their names, found once: threads are read only if there is such a
 * name at all.  Memory grows with the ranges, 24 bytes each.
 */

struct named {
	int64_t name_id, mark;
};

static const struct pf_field named_fields[] = {
	PF_FIELD(struct named, name_id, "name_id", NULL, PF_INT),
	PF_FIELD(struct named, mark, "mark", NULL, PF_INT),
};

struct reader {
	struct pf_db *db;
	struct advise_marks *out;
	const struct named *names;
	size_t name_count, cap;
	uint32_t track_id;
};

PF_ORDER(by_place, struct advise_span,
	 PF_UP(mark) PF_UP(track_id) PF_UP(start_ns))

static uint32_t mark_of(const struct reader *r, uint32_t name)
{
	size_t lo = 0, hi = r->name_count;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (r->names[mid].name_id < (int64_t)name)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == r->name_count || r->names[lo].name_id != (int64_t)name ||
	    r->names[lo].mark <= 0 || r->names[lo].mark >= ADVISE_MARKS)
		return 0;
	return (uint32_t)r->names[lo].mark;
}

static int take(void *context, const struct pf_block *b, uint32_t i,
		int64_t event_id)
{
	struct reader *r = context;
	struct advise_marks *m = r->out;
	uint32_t mark = mark_of(r, b->name[i]);

	(void)event_id;
	if (!mark)
		return 0;
	m->spans = pf_grow(m->spans, &r->cap, m->count + 1, sizeof(*m->spans));
	m->spans[m->count++] = (struct advise_span){
		.start_ns = b->start_ns[i],
		.end_ns = pf_span_end(b->start_ns[i], b->dur_ns[i]),
		.track_id = r->track_id,
		.mark = mark,
	};
	m->calls[mark]++;
	return 0;
}

/* What overlaps becomes one. */
static void unite(struct advise_marks *m)
{
	size_t kept = 0;

	pf_sort(m->spans, m->count, sizeof(*m->spans), by_place);
	for (size_t i = 0; i < m->count; i++) {
		struct advise_span *last = kept ? &m->spans[kept - 1] : NULL;
		const struct advise_span s = m->spans[i];

		if (last && last->mark == s.mark &&
		    last->track_id == s.track_id &&
		    s.start_ns <= last->end_ns) {
			if (s.end_ns > last->end_ns)
				last->end_ns = s.end_ns;
			continue;
		}
		m->spans[kept++] = s;
	}
	m->count = kept;
	for (uint32_t mark = 0, i = 0; mark <= ADVISE_MARKS; mark++) {
		while (i < kept && m->spans[i].mark < mark)
			i++;
		m->first[mark] = i;
	}
}

static int read_thread(void *context, const struct pf_track *t)
{
	static const struct pf_track_reader reader = { .event = take };
	struct reader *r = context;

	r->track_id = t->id;
	return pf_track_read(r->db, t, &reader, r);
}

static void find_framework(struct advise_marks *m, const struct named *names,
			   size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (names[i].mark == ADVISE_NAMES_JAX)
			m->framework = "JAX";
		else if (names[i].mark == ADVISE_NAMES_TENSORFLOW &&
			 !m->framework)
			m->framework = "TensorFlow";
	}
}

static bool has_ranges(const struct named *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (names[i].mark < ADVISE_MARKS)
			return true;
	return false;
}

int advise_marks_load(struct pf_db *db, int64_t trace_id,
		      struct advise_marks *out)
{
	struct pf_arena texts = { 0 };
	struct reader r = { .db = db, .out = out };
	struct named *names =
		pf_named_rows_take(db, "advise_marks", PF_FIELDS(named_fields),
				   &texts, &r.name_count, db->err);
	int rc = names ? 0 : -1;

	r.names = names;
	if (!rc)
		find_framework(out, names, r.name_count);
	if (!rc && has_ranges(names, r.name_count))
		rc = pf_host_tracks(db, trace_id, read_thread, &r);
	unite(out);
	free(names);
	pf_arena_release(&texts);
	return rc;
}

void advise_marks_release(struct advise_marks *m)
{
	free(m->spans);
	*m = (struct advise_marks){ 0 };
}

/* Is an instant of a thread in a range of this mark? */
static bool is_in(const struct advise_marks *m, uint32_t mark,
		  uint32_t track_id, int64_t at_ns)
{
	size_t lo = m->first[mark], hi = m->first[mark + 1];
	const size_t first = lo;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct advise_span *s = &m->spans[mid];

		if (s->track_id < track_id ||
		    (s->track_id == track_id && s->start_ns <= at_ns))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo > first && m->spans[lo - 1].track_id == track_id &&
	       m->spans[lo - 1].end_ns > at_ns;
}

unsigned advise_marks_at(const struct advise_marks *m, uint32_t track_id,
			 int64_t at_ns)
{
	unsigned bits = 0;

	for (uint32_t mark = 1; mark < ADVISE_MARKS; mark++)
		if (m->first[mark] < m->first[mark + 1] &&
		    is_in(m, mark, track_id, at_ns))
			bits |= 1u << mark;
	return bits;
}

/*
 * What follows each other on the path, by its operators, wherever the path
 * is: on the host where launching bounds it, on the GPU elsewhere.
 *
 * Attention: products of batches of matrices, pointwise work, a softmax,
 * pointwise work, products again.  A softmax over classes has no second
 * product.  A chain: three pieces of GPU work or more, or their launches, of
 * pointwise operators alone.
 */

static const struct {
	const char *op;
	enum advise_role role;
} roles[] = {
	{ "aten::bmm", ADVISE_ROLE_PRODUCT },
	{ "aten::baddbmm", ADVISE_ROLE_PRODUCT },
	{ "aten::matmul", ADVISE_ROLE_PRODUCT },
	{ "aten::einsum", ADVISE_ROLE_PRODUCT },
	{ "BmmBackward0", ADVISE_ROLE_PRODUCT },
	{ "BaddbmmBackward0", ADVISE_ROLE_PRODUCT },
	{ "aten::_softmax", ADVISE_ROLE_SOFTMAX },
	{ "aten::softmax", ADVISE_ROLE_SOFTMAX },
	{ "aten::_safe_softmax", ADVISE_ROLE_SOFTMAX },
	{ "aten::_softmax_backward_data", ADVISE_ROLE_SOFTMAX },
	{ "SoftmaxBackward0", ADVISE_ROLE_SOFTMAX },
	{ "aten::add", ADVISE_ROLE_POINTWISE },
	{ "aten::add_", ADVISE_ROLE_POINTWISE },
	{ "aten::sub", ADVISE_ROLE_POINTWISE },
	{ "aten::sub_", ADVISE_ROLE_POINTWISE },
	{ "aten::rsub", ADVISE_ROLE_POINTWISE },
	{ "aten::mul", ADVISE_ROLE_POINTWISE },
	{ "aten::mul_", ADVISE_ROLE_POINTWISE },
	{ "aten::div", ADVISE_ROLE_POINTWISE },
	{ "aten::div_", ADVISE_ROLE_POINTWISE },
	{ "aten::neg", ADVISE_ROLE_POINTWISE },
	{ "aten::exp", ADVISE_ROLE_POINTWISE },
	{ "aten::log", ADVISE_ROLE_POINTWISE },
	{ "aten::sqrt", ADVISE_ROLE_POINTWISE },
	{ "aten::rsqrt", ADVISE_ROLE_POINTWISE },
	{ "aten::pow", ADVISE_ROLE_POINTWISE },
	{ "aten::tanh", ADVISE_ROLE_POINTWISE },
	{ "aten::sigmoid", ADVISE_ROLE_POINTWISE },
	{ "aten::silu", ADVISE_ROLE_POINTWISE },
	{ "aten::silu_", ADVISE_ROLE_POINTWISE },
	{ "aten::gelu", ADVISE_ROLE_POINTWISE },
	{ "aten::relu", ADVISE_ROLE_POINTWISE },
	{ "aten::relu_", ADVISE_ROLE_POINTWISE },
	{ "aten::clamp", ADVISE_ROLE_POINTWISE },
	{ "aten::clamp_min", ADVISE_ROLE_POINTWISE },
	{ "aten::clamp_min_", ADVISE_ROLE_POINTWISE },
	{ "aten::where", ADVISE_ROLE_POINTWISE },
	{ "aten::masked_fill", ADVISE_ROLE_POINTWISE },
	{ "aten::masked_fill_", ADVISE_ROLE_POINTWISE },
	{ "aten::threshold_backward", ADVISE_ROLE_POINTWISE },
	{ "aten::gelu_backward", ADVISE_ROLE_POINTWISE },
	{ "aten::silu_backward", ADVISE_ROLE_POINTWISE },
	{ "aten::tanh_backward", ADVISE_ROLE_POINTWISE },
	{ "aten::sigmoid_backward", ADVISE_ROLE_POINTWISE },
	{ "aten::dropout", ADVISE_ROLE_POINTWISE },
	{ "aten::native_dropout", ADVISE_ROLE_POINTWISE },
	{ "aten::native_dropout_backward", ADVISE_ROLE_POINTWISE },
	{ "aten::bernoulli_", ADVISE_ROLE_POINTWISE },
	{ "aten::eq", ADVISE_ROLE_POINTWISE },
	{ "aten::ne", ADVISE_ROLE_POINTWISE },
	{ "aten::lt", ADVISE_ROLE_POINTWISE },
	{ "aten::le", ADVISE_ROLE_POINTWISE },
	{ "aten::gt", ADVISE_ROLE_POINTWISE },
	{ "aten::ge", ADVISE_ROLE_POINTWISE },
	{ "aten::abs", ADVISE_ROLE_POINTWISE },
	{ "aten::sin", ADVISE_ROLE_POINTWISE },
	{ "aten::cos", ADVISE_ROLE_POINTWISE },
	{ "aten::addcmul", ADVISE_ROLE_POINTWISE },
	{ "aten::addcdiv", ADVISE_ROLE_POINTWISE },
	{ "aten::view", ADVISE_ROLE_VIEW },
	{ "aten::reshape", ADVISE_ROLE_VIEW },
	{ "aten::_unsafe_view", ADVISE_ROLE_VIEW },
	{ "aten::_reshape_alias", ADVISE_ROLE_VIEW },
	{ "aten::as_strided", ADVISE_ROLE_VIEW },
	{ "aten::expand", ADVISE_ROLE_VIEW },
	{ "aten::expand_as", ADVISE_ROLE_VIEW },
	{ "aten::transpose", ADVISE_ROLE_VIEW },
	{ "aten::permute", ADVISE_ROLE_VIEW },
	{ "aten::unsqueeze", ADVISE_ROLE_VIEW },
	{ "aten::squeeze", ADVISE_ROLE_VIEW },
	{ "aten::slice", ADVISE_ROLE_VIEW },
	{ "aten::select", ADVISE_ROLE_VIEW },
	{ "aten::t", ADVISE_ROLE_VIEW },
	{ "aten::detach", ADVISE_ROLE_VIEW },
	{ "aten::empty", ADVISE_ROLE_VIEW },
	{ "aten::empty_like", ADVISE_ROLE_VIEW },
	{ "aten::empty_strided", ADVISE_ROLE_VIEW },
	{ "aten::resize_", ADVISE_ROLE_VIEW },
	{ "aten::clone", ADVISE_ROLE_VIEW },
	{ "aten::contiguous", ADVISE_ROLE_VIEW },
	{ "aten::copy_", ADVISE_ROLE_VIEW },
	{ "aten::to", ADVISE_ROLE_VIEW },
	{ "aten::_to_copy", ADVISE_ROLE_VIEW },
};

enum advise_role advise_role_of(const char *op)
{
	if (!op || !*op)
		return ADVISE_ROLE_NONE;
	for (size_t i = 0; i < sizeof(roles) / sizeof(*roles); i++)
		if (!strcmp(roles[i].op, op))
			return roles[i].role;
	return ADVISE_ROLE_OTHER;
}

enum { IDLE, PRODUCT, SOFTMAX, WHOLE };

bool advise_attention_step(struct advise_attention *a, enum advise_role role,
			   size_t at, bool *done)
{
	*done = false;
	switch (role) {
	case ADVISE_ROLE_PRODUCT:
		if (a->state == IDLE)
			a->from = at;
		a->state = a->state == SOFTMAX || a->state == WHOLE ? WHOLE
								    : PRODUCT;
		a->last = at;
		return true;
	case ADVISE_ROLE_SOFTMAX:
		if (a->state == PRODUCT || a->state == SOFTMAX) {
			a->state = SOFTMAX;
			return true;
		}
		break;
	case ADVISE_ROLE_NONE:
	case ADVISE_ROLE_VIEW:
	case ADVISE_ROLE_POINTWISE:
		if (a->state == PRODUCT || a->state == SOFTMAX)
			return true;
		if (a->state == WHOLE && role == ADVISE_ROLE_NONE)
			return true;
		break;
	default:
		break;
	}
	*done = a->state == WHOLE;
	a->state = IDLE;
	return false;
}

#define CHAIN_LEAST 3 /* pieces of work */

bool advise_chain_step(struct advise_chain *c, enum advise_role role,
		       bool is_work, size_t at, bool *done)
{
	*done = false;
	if (role == ADVISE_ROLE_POINTWISE) {
		if (!c->works && !is_work)
			return false;
		if (!c->works)
			c->from = at;
		c->works += is_work;
		c->last = at;
		return true;
	}
	if (c->works && (role == ADVISE_ROLE_NONE ||
			 (role == ADVISE_ROLE_VIEW && !is_work)))
		return true;
	*done = c->works >= CHAIN_LEAST;
	c->works = 0;
	return false;
}

#define CAUSE(name) (1u << PF_CAUSE_##name)

/* Kernels that are gone, and kernels without limit to their speed. */
#define NO_KERNELS   "class:compute=0"
#define FAST_KERNELS "class:compute=0.000001"
/* No copy from pageable memory, nor who waits for it; no result is read. */
#define NO_PAGEABLE "copy=async;gpu:HtoD [(]Pageable=0"
#define NO_READING  "sync=off;op:^aten::(item|_local_scalar_dense|is_nonzero)$=0"
/* A host that takes no time. */
#define FREE_HOST "host=0;launch=0"

/* Advice about operators: what their work, and launching it, takes. */

/* ---- A7, A19 ---- */

static bool owns_attention(const struct advise_row *r)
{
	return r->flags & ADVISE_SEQUENCE;
}

static bool owns_product(const struct advise_row *r)
{
	return owns_attention(r) &&
	       advise_role_of(r->op) == ADVISE_ROLE_PRODUCT;
}

static void judge_attention(const struct pf_advise *a,
			    const struct pf_advise_from *from,
			    struct pf_advice *out)
{
	char count[PF_NUM_MAX];

	pf_buf_addf(next(out),
		    "It is %s sequences of a product, a softmax and a product",
		    pf_num_show_count(count, a->tiles->sequence_count));
	advise_bound(a, from, owns_product, ADVISE_LEAST_PRODUCTS, out);
}

static bool owns_chain(const struct advise_row *r)
{
	return r->flags & ADVISE_CHAIN &&
	       !(r->flags & (ADVISE_SEQUENCE | 1u << ADVISE_MARK_OPTIMIZER));
}

static void judge_chain(const struct pf_advise *a,
			const struct pf_advise_from *from,
			struct pf_advice *out)
{
	(void)a;
	(void)from;
	pf_buf_adds(next(out),
		    "Whether each reads what the one before it wrote is not "
		    "recorded");
}

/* ---- A8, A15 ---- */

static const char *const fused[] = { "FusedAdam", "fused_adam",     "FusedSGD",
				     "fused_sgd", "FusedOptimizer", NULL };
static const char *const fused_ops[] = { "aten::_fused_adam_",
					 "aten::_fused_adamw_",
					 "aten::_fused_sgd_",
					 "aten::_fused_adagrad_", NULL };

/* Optimizers of torch that have a fused kernel. */
static const char *const with_fused[] = { "Optimizer.step#Adam.step",
					  "Optimizer.step#AdamW.step",
					  "Optimizer.step#SGD.step",
					  "Optimizer.step#Adagrad.step", NULL };

static bool owns_optimizer(const struct advise_row *r)
{
	return r->flags & (1u << ADVISE_MARK_OPTIMIZER) &&
	       !(r->flags & (1u << ADVISE_MARK_ZERO_GRAD));
}

static bool is_foreach(const struct advise_row *r)
{
	return strstr(r->name, "multi_tensor_apply") ||
	       !strncmp(r->op, "aten::_foreach_", 15);
}

static bool advise_is_one_of(const char *s, const char *const *list);
static bool advise_has_one_of(const char *s, const char *const *list);
static void advise_fine(struct pf_advice *a, const char *why);
static void advise_not_judged(struct pf_advice *a, const char *why);

static void judge_optimizer(const struct pf_advise *a,
			    const struct pf_advise_from *from,
			    struct pf_advice *out)
{
	const struct advise_tiles *t = a->tiles;

	(void)from;
	for (size_t i = 0; i < t->row_count; i++) {
		const struct advise_row *r = &t->rows[i];

		if (!owns_optimizer(r) || !(advise_has_one_of(r->name, fused) ||
					    advise_is_one_of(r->op, fused_ops)))
			continue;
		advise_fine(out, "the optimizer is fused already");
		return;
	}
	if (!t->marks.calls[ADVISE_MARK_OPTIMIZER])
		advise_not_judged(out, "the trace has no ranges "
				       "'Optimizer.step', as torch records");
}

static const char *optimizer_variant(const struct pf_advise *a,
				     const struct pf_advise_from *from,
				     const struct pf_advice *out)
{
	const struct advise_tiles *t = a->tiles;
	bool is_other = false, is_many = false;

	(void)from;
	(void)out;
	for (size_t i = 0; i < t->row_count; i++) {
		const struct advise_row *r = &t->rows[i];

		if (!owns_optimizer(r))
			continue;
		is_other |= !strncmp(r->name, "Optimizer.step#", 15) &&
			    !advise_is_one_of(r->name, with_fused);
		is_many |= is_foreach(r);
	}
	return is_other ? "other" : is_many ? "foreach" : "";
}

static const char *const zeroing[] = { "aten::zero_", "aten::fill_",
				       "aten::_foreach_zero_", NULL };

static bool owns_zeroing(const struct advise_row *r)
{
	return r->flags & (1u << ADVISE_MARK_ZERO_GRAD) &&
	       (r->category == PF_PATH_MEMSET ||
		advise_is_one_of(r->op, zeroing));
}

static void judge_zeroing(const struct pf_advise *a,
			  const struct pf_advise_from *from,
			  struct pf_advice *out)
{
	(void)from;
	if (!a->tiles->marks.calls[ADVISE_MARK_ZERO_GRAD])
		advise_not_judged(out, "the trace has no ranges "
				       "'Optimizer.zero_grad', as torch "
				       "records");
}

/* ---- A9 ---- */

static const char *const layouts[] = { "nchwToNhwc", "nhwcToNchw", "NchwToNhwc",
				       "NhwcToNchw", NULL };

static bool owns_layout(const struct advise_row *r)
{
	if (!advise_is_kernel(r))
		return false;
	return advise_has_one_of(r->name, layouts) ||
	       (strstr(r->op, "conv") && strstr(r->name, "transpose") &&
		!strstr(r->name, "conv"));
}

/* ---- A10 ---- */

static const char *const copying[] = { "aten::copy_",      "aten::_to_copy",
				       "aten::to",         "aten::clone",
				       "aten::contiguous", NULL };

/* On the GPU, or what such an operator takes to launch it. */
static bool owns_copy(const struct advise_row *r)
{
	if (r->flags & (1u << ADVISE_MARK_OPTIMIZER) ||
	    !advise_is_one_of(r->op, copying))
		return false;
	switch ((unsigned)r->category) {
	case PF_CAUSE_OP:
		return !(r->flags & ADVISE_LONG);
	case PF_CAUSE_RUNTIME:
	case PF_PATH_LAUNCH_CALL:
		return !(r->flags & ADVISE_LONG) &&
		       !pf_word(PF_WORD_CALL_COPIES, r->name);
	default:
		break;
	}
	if (r->category == PF_PATH_COMM ||
	    !(advise_is_gpu(r) || advise_is_kernel(r)))
		return false;
	return strncmp(r->name, "Memcpy", 6) != 0 || strstr(r->name, "DtoD");
}

/* ---- A17 ---- */

static const char *const indexed[] = { "aten::embedding_dense_backward",
				       "aten::index_put_",
				       "aten::_index_put_impl_",
				       "aten::index_put",
				       "aten::scatter_add_",
				       "aten::scatter_add",
				       "aten::index_add_",
				       NULL };

static bool owns_indexed(const struct advise_row *r)
{
	return advise_is_one_of(r->op, indexed) &&
	       (unsigned)r->category != PF_CAUSE_SYNC;
}

static void judge_indexed(const struct pf_advise *a,
			  const struct pf_advise_from *from,
			  struct pf_advice *out)
{
	advise_bound(a, from, owns_indexed, ADVISE_LEAST_ROOF, out);
}

const struct advise_rule advise_gpu_rules[] = {
	{ .id = "A7",
	  .kind = "attention",
	  .title = "fused attention",
	  .subject = "Attention in single operators holds",
	  .threshold = PF_ADVISE_SHOWN,
	  .confidence = "sure",
	  .command = "path",
	  .options = " --group op",
	  .cap = NO_KERNELS,
	  .needs = ADVISE_NEEDS_TORCH,
	  .owns = owns_attention,
	  .judge = judge_attention },
	{ .id = "A8",
	  .kind = "optimizer",
	  .title = "fuse the optimizer",
	  .subject = "The optimizer holds",
	  .threshold = PF_ADVISE_SHOWN,
	  .confidence = "sure",
	  .command = "ranges",
	  .options = "",
	  .cap = NO_KERNELS,
	  .needs = ADVISE_NEEDS_OPS,
	  .owns = owns_optimizer,
	  .judge = judge_optimizer,
	  .variant = optimizer_variant },
	{ .id = "A9",
	  .kind = "layout",
	  .title = "channels last",
	  .subject = "Turning tensors for convolutions holds",
	  .threshold = PF_ADVISE_SHOWN,
	  .confidence = "sure",
	  .command = "kernels",
	  .options = " --group name,op",
	  .cap = NO_KERNELS,
	  .needs = ADVISE_NEEDS_TORCH,
	  .owns = owns_layout },
	{ .id = "A10",
	  .kind = "casts and copies",
	  .title = "fewer casts and copies",
	  .subject = "Casting and copying on the GPU holds",
	  .threshold = PF_ADVISE_SHOWN,
	  .confidence = "sure",
	  .command = "kernels",
	  .options = " --group name,op",
	  .cap = NO_KERNELS,
	  .needs = ADVISE_NEEDS_TORCH,
	  .owns = owns_copy },
	{ .id = "A15",
	  .kind = "zeroing gradients",
	  .title = "set gradients to none instead of zero",
	  .subject = "Zeroing gradients holds",
	  .threshold = PF_ADVISE_SHOWN,
	  .confidence = "sure",
	  .command = "ranges",
	  .options = "",
	  .cap = NO_KERNELS,
	  .needs = ADVISE_NEEDS_TORCH,
	  .owns = owns_zeroing,
	  .judge = judge_zeroing },
	{ .id = "A17",
	  .kind = "adding up by index",
	  .title = "another way to add up by index",
	  .subject = "Adding up by index, as in embedding's backward holds",
	  .threshold = PF_ADVISE_SHOWN,
	  .confidence = "sure",
	  .command = "kernels",
	  .options = " --group op",
	  .cap = NO_KERNELS,
	  .needs = ADVISE_NEEDS_TORCH,
	  .owns = owns_indexed,
	  .judge = judge_indexed },
	{ .id = "A19",
	  .kind = "pointwise operators",
	  .title = "fuse pointwise operators",
	  .subject = "Pointwise operators one after the other hold",
	  .threshold = PF_ADVISE_SHOWN,
	  .confidence = "hint",
	  .command = "path",
	  .options = " --group op",
	  .cap = NO_KERNELS,
	  .needs = ADVISE_NEEDS_TORCH,
	  .owns = owns_chain,
	  .judge = judge_chain },
};
const size_t advise_gpu_rule_count =
	sizeof(advise_gpu_rules) / sizeof(*advise_gpu_rules);

/* Advice about time of the host: loading, copying, waiting, launching. */

static const char *const multi_loader[] = { "_MultiProcessingDataLoaderIter",
					    NULL };
static const char *const single_loader[] = { "_SingleProcessDataLoaderIter",
					     NULL };
/* Operators that read a result back to the host. */
static const char *const reading_ops[] = { "aten::_local_scalar_dense",
					   "aten::item",
					   "aten::is_nonzero",
					   "aten::nonzero",
					   "aten::unique2",
					   "aten::masked_select",
					   "aten::index",
					   "aten::equal",
					   "aten::allclose",
					   NULL };

static const struct pf_path_answer *find_answer(const struct pf_path *p,
						const char *question)
{
	for (size_t i = 0; i < p->beside_count; i++)
		if (!strcmp(p->beside[i].question, question))
			return &p->beside[i];
	return NULL;
}

/* A wait that is gone may save more than it holds: what is behind it, too. */
static void take_more(const struct pf_advise *a, const char *question,
		      struct pf_advice *out)
{
	const struct pf_path_answer *w = find_answer(a->tiles->path, question);

	if (!w || !out->on_path_ns || w->saved_ns <= out->at_most_ns)
		return;
	out->at_most_ns = w->saved_ns;
	out->measured = pf_num_share(out->at_most_ns, a->window_ns);
	out->confidence = "model";
}

/*
 * Time of the host in pieces that are longer than launching: in one place, or
 * all of it where there is nothing to launch.  What waits, loads, logs,
 * compiles, cleans up or updates parameters has advice of its own.
 */
static bool owns_code(const struct advise_row *r)
{
	switch ((unsigned)r->category) {
	case PF_CAUSE_OP:
	case PF_CAUSE_PYTHON:
	case PF_CAUSE_ANNOTATION:
		return !(r->flags &
			 (ADVISE_DATA | ADVISE_STEP | 1u << ADVISE_MARK_LOG |
			  1u << ADVISE_MARK_OPTIMIZER)) &&
		       (r->flags & ADVISE_LONG ||
			r->ns / r->count >= ADVISE_CODE_NS);
	default:
		return false;
	}
}

/* Time of the host that launches work, or could. */
static bool owns_launching(const struct advise_row *r)
{
	switch ((unsigned)r->category) {
	case PF_CAUSE_RUNTIME:
	case PF_CAUSE_OP:
	case PF_CAUSE_PYTHON:
	case PF_CAUSE_ANNOTATION:
	case PF_PATH_LAUNCH_CALL:
	case PF_PATH_LAUNCH_DELAY:
	case PF_PATH_GAP:
		return !(r->flags & (ADVISE_DATA | ADVISE_LONG |
				     ADVISE_CAPTURE | 1u << ADVISE_MARK_LOG)) &&
		       !owns_code(r);
	default:
		return false;
	}
}

/* Does any piece of the path that bears a flag have such a name? */
static bool has_name(const struct pf_advise *a, unsigned flag,
		     const char *const *list)
{
	const struct advise_tiles *t = a->tiles;

	for (size_t i = 0; i < t->row_count; i++)
		if ((!flag || t->rows[i].flags & flag) &&
		    advise_has_one_of(t->rows[i].name, list))
			return true;
	return false;
}

/* ---- A1 ---- */

static bool owns_data(const struct advise_row *r)
{
	return r->flags & ADVISE_DATA;
}

/* Without GPU work what steps hold of a class of theirs. */
static int64_t class_ns(const struct pf_advise_from *from,
			enum pf_step_class class, int64_t *whole_ns)
{
	const struct pf_step_times *s = from->steps;

	*whole_ns = 0;
	for (int i = 0; s && i < PF_STEP_CLASSES; i++)
		pf_sat_sum(whole_ns, s->classes[i].sum_ns);
	return s ? s->classes[class].sum_ns : 0;
}

/* What launches work, or does other things of the host's own. */
#define HOST_CAUSES                                                            \
	(CAUSE(LAUNCH) | CAUSE(RUNTIME) | CAUSE(OP) | CAUSE(PYTHON) |          \
	 CAUSE(ANNOTATION))

static int64_t idle_of(const struct pf_gaps *g, unsigned causes)
{
	int64_t ns = 0;

	for (size_t i = 0; i < g->cause_count; i++)
		if (causes & 1u << g->causes[i].cause)
			ns += g->causes[i].ns;
	return ns;
}

static int64_t data_apart(const struct pf_advise_from *from, int64_t *whole_ns)
{
	const struct pf_gaps *g = from->gaps;

	if (!g->all.event_count)
		return class_ns(from, PF_STEP_DATA, whole_ns);
	return idle_of(g, CAUSE(DATA));
}

/*
 * Workers do not make loading vanish, and need processors: how many are free
 * no trace says, so nothing is saved for sure.
 */
static void judge_data(const struct pf_advise *a,
		       const struct pf_advise_from *from, struct pf_advice *out)
{
	(void)a;
	(void)from;
	out->likely_ns = PF_NO_INT;
}

static const char *data_variant(const struct pf_advise *a,
				const struct pf_advise_from *from,
				const struct pf_advice *out)
{
	(void)from;
	(void)out;
	if (has_name(a, ADVISE_DATA, single_loader))
		return "no workers";
	return has_name(a, ADVISE_DATA, multi_loader) ? "workers" : "";
}

/* ---- A2 ---- */

/* Or what it takes until it begins, which goes with it. */
static bool is_copy_to_gpu(const struct advise_row *r)
{
	return (r->category == PF_PATH_COPY ||
		r->category == PF_PATH_LAUNCH_DELAY) &&
	       strstr(r->name, "HtoD");
}

static bool owns_pageable(const struct advise_row *r)
{
	if (is_copy_to_gpu(r))
		return strstr(r->name, "Pageable");
	if (r->category == PF_PATH_RETURN)
		return r->flags & ADVISE_AWAITED;
	/* what the call takes before the copy begins goes with the copy */
	return ((unsigned)r->category == PF_CAUSE_COPY ||
		(r->category == PF_PATH_LAUNCH_CALL &&
		 pf_word(PF_WORD_CALL_COPIES, r->name))) &&
	       !advise_is_one_of(r->op, reading_ops);
}

/* The calls' own time may as well be of copies to the host. */
static void judge_pageable(const struct pf_advise *a,
			   const struct pf_advise_from *from,
			   struct pf_advice *out)
{
	const struct advise_tiles *t = a->tiles;

	(void)from;
	if (!a->has_path)
		return;
	take_more(a, NO_PAGEABLE, out);
	for (size_t i = 0; i < t->row_count; i++)
		if (is_copy_to_gpu(&t->rows[i]) && owns_pageable(&t->rows[i]))
			return;
	advise_fine(out, "no copy from pageable memory to the GPU is on the "
			 "critical path");
}

/* ---- A3 ---- */

/* The end of a call of the allocator that waited for the GPU. */
static bool is_allocation(const struct advise_row *r)
{
	return r->category == PF_PATH_RETURN &&
	       (pf_word(PF_WORD_CALL_BLOCKING, r->name) ||
		pf_word(PF_WORD_CALL_ALLOCATOR, r->name));
}

static bool owns_wait(const struct advise_row *r)
{
	if (r->category == PF_PATH_RETURN)
		return !(r->flags & ADVISE_AWAITED) && !is_allocation(r);
	return (unsigned)r->category == PF_CAUSE_SYNC ||
	       ((unsigned)r->category == PF_CAUSE_COPY &&
		advise_is_one_of(r->op, reading_ops));
}

/* The time of an operator that reads a result back, and of its copy. */
static bool is_reading(const struct advise_row *r)
{
	switch ((unsigned)r->category) {
	case PF_CAUSE_OP:
	case PF_CAUSE_RUNTIME:
	case PF_CAUSE_SYNC:
	case PF_CAUSE_COPY:
	case PF_PATH_LAUNCH_CALL:
	case PF_PATH_LAUNCH_DELAY:
	case PF_PATH_COPY:
	case PF_PATH_GAP:
		return advise_is_one_of(r->op, reading_ops);
	default:
		return false;
	}
}

static void judge_waits(const struct pf_advise *a,
			const struct pf_advise_from *from,
			struct pf_advice *out)
{
	const struct advise_tiles *t = a->tiles;
	int64_t ends = 0, others = 0;
	bool has_op = false;

	(void)from;
	if (!a->has_path)
		return;
	for (size_t i = 0; i < t->row_count; i++) {
		const struct advise_row *r = &t->rows[i];

		if (!owns_wait(r))
			continue;
		has_op |= *r->op != 0;
		*(*r->op || !(r->flags & ADVISE_ENDS) ? &others : &ends) +=
			r->count;
	}
	/* an operator that reads a result goes with its wait */
	for (size_t i = 0; out->on_path_ns && i < t->row_count; i++)
		if (is_reading(&t->rows[i]))
			out->at_most_ns += t->rows[i].ns;
	if (out->at_most_ns > a->window_ns)
		out->at_most_ns = a->window_ns;
	out->measured = pf_num_share(out->at_most_ns, a->window_ns);
	take_more(a, NO_READING, out);
	/* who reads results later still waits at the end of a step */
	if (ends && others)
		out->likely_ns = PF_NO_INT;
	/* a wait that nothing asked for but the script: for timing, or saving */
	out->is_last = !has_op && (!t->steps.count || others < ends);
}

/* By what waits in most of the time. */
static const char *wait_variant(const struct pf_advise *a,
				const struct pf_advise_from *from,
				const struct pf_advice *out)
{
	const struct advise_tiles *t = a->tiles;

	(void)from;
	(void)out;
	if (!a->has_path)
		return "anywhere";
	for (size_t i = 0; i < t->row_count; i++) {
		const struct advise_row *r = &t->rows[i];

		if (!owns_wait(r) || !*r->op)
			continue;
		if (advise_is_one_of(r->op, reading_ops))
			return "item";
		return pf_word(PF_WORD_CALL_COPY, r->name) ||
				       pf_word(PF_WORD_CALL_COPIES, r->name)
			       ? "copy"
			       : "";
	}
	return "explicit";
}

/* ---- A4 ---- */

#define KERNELS_LEAST 32
#define SHORT_SHARE   0.5 /* of kernels: worth a word */
#define GRAPH_SHARE   0.5 /* of GPU time under graph launches */

static int64_t launch_apart(const struct pf_advise_from *from,
			    int64_t *whole_ns)
{
	(void)whole_ns;
	return from->gaps->launching_ns;
}

/* The host's own time that is not launching. */
static int64_t code_apart(const struct pf_advise_from *from, int64_t *whole_ns)
{
	int64_t ns =
		idle_of(from->gaps, HOST_CAUSES) - launch_apart(from, whole_ns);

	return ns > 0 ? ns : 0;
}

static bool is_code(const struct advise_row *r)
{
	switch ((unsigned)r->category) {
	case PF_CAUSE_RUNTIME:
	case PF_CAUSE_OP:
	case PF_CAUSE_PYTHON:
	case PF_CAUSE_ANNOTATION:
	case PF_PATH_LAUNCH_CALL:
		return true;
	default:
		return false;
	}
}

static double graph_share(const struct pf_launches *l)
{
	int64_t graph = 0, all = 0;

	for (size_t i = 0; i < l->calls.count; i++) {
		const struct pf_launch_call *c =
			PF_KEYED_ROW(&l->calls, struct pf_launch_call, i);

		pf_sat_sum(&all, c->gpu_ns.sum);
		if (pf_word(PF_WORD_CALL_GRAPH, c->name))
			pf_sat_sum(&graph, c->gpu_ns.sum);
	}
	return pf_num_share(graph, all);
}

static void judge_launching(const struct pf_advise *a,
			    const struct pf_advise_from *from,
			    struct pf_advice *out)
{
	const struct pf_launches *l = from->launches;
	char share[PF_NUM_MAX], count[PF_NUM_MAX];
	double part;

	/* the question is also about calls and code of other advice */
	for (size_t i = 0; i < a->tiles->row_count; i++)
		if (out->likely_ns > 0 && is_code(&a->tiles->rows[i]) &&
		    !owns_launching(&a->tiles->rows[i]))
			out->likely_ns -= a->tiles->rows[i].ns;
	if (out->likely_ns < 0)
		out->likely_ns = PF_NO_INT;
	if (!l || !l->all.count) {
		advise_not_judged(out, "the trace has no calls that launched "
				       "its kernels");
		return;
	}
	if (l->kernel_count < KERNELS_LEAST) {
		advise_fine(out, "there are but a few kernels");
		return;
	}
	if (graph_share(l) >= GRAPH_SHARE) {
		advise_fine(out, "most of the GPU work is launched by graphs "
				 "already");
		return;
	}
	part = pf_num_share(l->short_kernel_count, l->kernel_count);
	if (part < SHORT_SHARE)
		return;
	pf_buf_addf(next(out), "%s of the %s kernels take less than 10 us",
		    pf_num_show_ratio(share, part),
		    pf_num_show_count(count, l->kernel_count));
}

/* ---- A21 ---- */

/* Was there GPU work, as far as what was found says? */
static bool has_work(const struct pf_advise *a,
		     const struct pf_advise_from *from)
{
	return a->has_path ? a->tiles->path->work_count > 0
			   : from->gaps && from->gaps->all.event_count > 0;
}

/*
 * Without GPU work it is no code beside it, but what is computed.  An optimizer
 * that holds less than the rest is code like all other then: what does the work
 * of more samples at once saves of it, too.
 */
static void judge_code(const struct pf_advise *a,
		       const struct pf_advise_from *from, struct pf_advice *out)
{
	const struct advise_tiles *t = a->tiles;
	int64_t ns = 0;

	if (has_work(a, from))
		return;
	out->title = "less, or faster, operators and Python on the CPU";
	out->subject = "Operators and Python on the CPU hold";
	for (size_t i = 0; i < t->row_count; i++)
		if (owns_optimizer(&t->rows[i]))
			ns += t->rows[i].ns;
	if (!ns || ns >= out->on_path_ns)
		return;
	for (size_t i = 0; i < t->row_count; i++)
		if (owns_optimizer(&t->rows[i]))
			t->rows[i].advice |= out->bit;
	out->on_path_ns += ns;
	out->at_most_ns += ns;
	out->measured = pf_num_share(out->at_most_ns, a->window_ns);
}

static const char *code_variant(const struct pf_advise *a,
				const struct pf_advise_from *from,
				const struct pf_advice *out)
{
	(void)out;
	return has_work(a, from) ? "" : "no GPU";
}

/* ---- A22: a first use loads code, or starts the driver ---- */

static bool owns_start(const struct advise_row *r)
{
	if (r->flags & (ADVISE_LATE | ADVISE_DATA))
		return false;
	switch ((unsigned)r->category) {
	case PF_CAUSE_MODULE:
		return true;
	case PF_CAUSE_RUNTIME:
	case PF_PATH_LAUNCH_CALL:
		/* that does not wait and is no copy */
		return r->flags & ADVISE_LONG &&
		       !pf_word(PF_WORD_CALL_COPIES, r->name);
	default:
		return false;
	}
}

static const char *const compiled[] = { "Torch-Compiled Region",
					"CompiledFunction",
					"CompiledFxGraph",
					"triton_poi_fused",
					"triton_red_fused",
					"triton_per_fused",
					NULL };

static const char *launch_variant(const struct pf_advise *a,
				  const struct pf_advise_from *from,
				  const struct pf_advice *out)
{
	(void)from;
	(void)out;
	return has_name(a, 0, compiled) ? "compiled" : "";
}

/* ---- A5 ---- */

static bool owns_compile(const struct advise_row *r)
{
	return (unsigned)r->category == PF_CAUSE_COMPILE;
}

static void advise_first_alone(const struct pf_advise *a,
			       bool (*owns)(const struct advise_row *r),
			       struct pf_advice *out);

static void judge_compile(const struct pf_advise *a,
			  const struct pf_advise_from *from,
			  struct pf_advice *out)
{
	(void)from;
	advise_first_alone(a, owns_compile, out);
}

/* ---- A14, A18 ---- */

static bool owns_gc(const struct advise_row *r)
{
	return (unsigned)r->category == PF_CAUSE_GC;
}

static bool owns_log(const struct advise_row *r)
{
	return r->flags & (1u << ADVISE_MARK_LOG) &&
	       !(r->flags & ADVISE_DATA) && !advise_is_gpu(r);
}

/* Whose profiler has the option is told of it. */
static void no_functions(const struct pf_advise *a, struct pf_advice *out)
{
	advise_not_judged(out, a->framework && !strcmp(a->framework, "PyTorch")
				       ? "the trace has no Python functions: "
					 "record with_stack=True"
				       : "the trace has no Python functions");
}

static void judge_gc(const struct pf_advise *a,
		     const struct pf_advise_from *from, struct pf_advice *out)
{
	(void)from;
	if (out->on_path_ns > 0 || !a->has_path)
		return;
	if (!a->tiles->has_functions)
		no_functions(a, out);
	else
		advise_fine(out, "no recorded collection of garbage is on the "
				 "critical path");
}

/* Functions are recorded only with stacks. */
static void judge_log(const struct pf_advise *a,
		      const struct pf_advise_from *from, struct pf_advice *out)
{
	const struct advise_tiles *t = a->tiles;

	(void)from;
	if (t->marks.calls[ADVISE_MARK_LOG])
		return;
	if (!t->has_functions)
		no_functions(a, out);
}

const struct advise_rule advise_host_rules[] = {
	{ .id = "A1",
	  .kind = "data loading",
	  .title = "more DataLoader workers, or cheaper transforms",
	  .subject = "loading data",
	  .threshold = PF_ADVISE_SHOWN,
	  .confidence = "model",
	  .command = "path",
	  .options = " --what-if data=0",
	  .question = "data=0",
	  .needs = ADVISE_NEEDS_PATH,
	  .owns = owns_data,
	  .judge = judge_data,
	  .variant = data_variant,
	  .causes = CAUSE(DATA),
	  .apart = "The GPU waits for data",
	  .apart_ns = data_apart },
	{ .id = "A2",
	  .kind = "copies",
	  .title = "pin memory and copy with non_blocking=True",
	  .subject = "Copying from pageable memory holds",
	  .threshold = PF_ADVISE_SHOWN,
	  .confidence = "sure",
	  .command = "syncs",
	  .options = "",
	  .needs = ADVISE_NEEDS_GPU,
	  .owns = owns_pageable,
	  .judge = judge_pageable,
	  .causes = CAUSE(COPY),
	  .apart = "The GPU waits for copies that block" },
	{ .id = "A3",
	  .kind = "waiting for the GPU",
	  .title = "read results later",
	  .subject = "waiting for the GPU",
	  .threshold = PF_ADVISE_SHOWN,
	  .confidence = "model",
	  .command = "path",
	  .options = " --what-if sync=off",
	  .question = "sync=off",
	  .needs = ADVISE_NEEDS_GPU,
	  .owns = owns_wait,
	  .judge = judge_waits,
	  .variant = wait_variant,
	  .causes = CAUSE(SYNC),
	  .apart = "The GPU is idle while calls wait for it" },
	{ .id = "A4",
	  .kind = "launching",
	  .title = "fewer, larger kernels: torch.compile, CUDA graphs",
	  .subject = "launching",
	  .threshold = PF_ADVISE_SHOWN,
	  .confidence = "model",
	  .command = "path",
	  .options = " --what-if launch=0",
	  .question = "launch=0",
	  .needs = ADVISE_NEEDS_GPU,
	  .owns = owns_launching,
	  .judge = judge_launching,
	  .variant = launch_variant,
	  .causes = HOST_CAUSES | CAUSE(MICRO),
	  .apart = "The GPU starves while the host launches",
	  .is_spread = true,
	  .apart_ns = launch_apart },
	{ .id = "A5",
	  .kind = "compiling",
	  .title = "compile once",
	  .subject = "Compiling holds",
	  .threshold = PF_ADVISE_SHOWN,
	  .confidence = "sure",
	  .command = "path",
	  .options = "",
	  .needs = ADVISE_NEEDS_PATH,
	  .owns = owns_compile,
	  .judge = judge_compile,
	  .causes = CAUSE(COMPILE),
	  .apart = "The GPU waits for compiling" },
	{ .id = "A14",
	  .kind = "garbage collection",
	  .title = "collect garbage between steps",
	  .subject = "collecting garbage",
	  .threshold = PF_ADVISE_SHOWN,
	  .confidence = "model",
	  .command = "path",
	  .options = " --what-if gc=0",
	  .question = "gc=0",
	  .needs = ADVISE_NEEDS_PATH,
	  .owns = owns_gc,
	  .judge = judge_gc,
	  .causes = CAUSE(GC),
	  .apart = "The GPU waits while garbage is collected" },
	{ .id = "A18",
	  .kind = "logging",
	  .title = "log, print and save outside of steps",
	  .subject = "Logging, printing and saving hold",
	  .threshold = PF_ADVISE_SHOWN,
	  .confidence = "sure",
	  .command = "path",
	  .options = " --group line",
	  .needs = ADVISE_NEEDS_PATH,
	  .owns = owns_log,
	  .judge = judge_log },
	{ .id = "A21",
	  .kind = "host code",
	  .title = "less of the program's own code on the host",
	  .subject = "The program's own code on the host holds",
	  .threshold = PF_ADVISE_SHOWN,
	  .confidence = "sure",
	  .command = "path",
	  .options = " --group line",
	  .needs = ADVISE_NEEDS_PATH,
	  .owns = owns_code,
	  .judge = judge_code,
	  .variant = code_variant,
	  .causes = CAUSE(PYTHON) | CAUSE(ANNOTATION) | CAUSE(OP),
	  .apart = "The GPU waits for the program's own code on the "
		   "host",
	  .apart_ns = code_apart },
	{ .id = "A22",
	  .kind = "first use",
	  .title = "warm up before the profile begins",
	  .subject = "Calls as long as a first use, which loads code "
		     "or starts "
		     "the driver, hold",
	  .threshold = PF_ADVISE_SHOWN,
	  .confidence = "hint",
	  .command = "path",
	  .options = "",
	  .needs = ADVISE_NEEDS_GPU,
	  .owns = owns_start,
	  .causes = CAUSE(MODULE),
	  .apart = "The GPU waits while code is loaded" },
};
const size_t advise_host_rule_count =
	sizeof(advise_host_rules) / sizeof(*advise_host_rules);

/* Advice about the GPU, its memory, the job, and the capture itself. */

/* ---- A6 ---- */

#define TINY_NS 20000 /* a kernel so short is bound by its launch */

static bool owns_single(const struct advise_row *r)
{
	return r->flags & ADVISE_FP32 && r->count > 0 &&
	       r->ns / r->count >= TINY_NS;
}

static int64_t single_apart(const struct pf_advise_from *from,
			    int64_t *whole_ns)
{
	*whole_ns = from->callers->total_ns;
	return from->callers->product_fp32_ns;
}

static const enum pf_peak reduced_peaks[] = { PF_PEAK_TF32, PF_PEAK_BF16,
					      PF_PEAK_FP16 };

/* The fastest that products of reduced precision can be, over fp32. */
static double matrix_gain(const struct pf_gpu_peaks *p)
{
	double best = NAN;

	for (size_t i = 0; i < sizeof(reduced_peaks) / sizeof(*reduced_peaks);
	     i++) {
		double gain = p->rate[reduced_peaks[i]] / p->rate[PF_PEAK_FP32];

		if (!isnan(gain) && !(gain <= best))
			best = gain;
	}
	return best;
}

/* Of the GPUs, if the table has all of them in one row. */
static bool find_peaks(const struct pf_info *info, struct pf_gpu_peaks *out)
{
	struct pf_err err = { 0 };
	struct pf_gpus *gpus = pf_gpus_new(&err);
	bool is_known = gpus && info->device_count;

	for (size_t i = 0; is_known && i < info->device_count; i++) {
		const struct pf_info_device *d = &info->devices[i];
		struct pf_gpu_about about = { d->name, d->sm_count,
					      d->memory_bytes };
		struct pf_gpu_peaks mine;

		is_known = pf_gpus_match(gpus, &about, &mine) &&
			   (!i || !strcmp(mine.name, out->name));
		*out = mine;
	}
	pf_gpus_free(gpus);
	return is_known;
}

static void judge_single(const struct pf_advise *a,
			 const struct pf_advise_from *from,
			 struct pf_advice *out)
{
	struct pf_gpu_peaks peaks;
	char share[PF_NUM_MAX];
	double gain;

	if (!from->callers || !from->callers->product_ns) {
		advise_fine(out, "no kernel is known to be a matrix product "
				 "or a convolution");
		return;
	}
	if (out->at_most_ns <= 0 && !from->callers->product_fp32_ns) {
		if (from->callers->product_unknown_ns >
		    from->callers->product_ns / 2)
			advise_not_judged(out,
					  "the names of kernels do not say in "
					  "which precision products are");
		return;
	}
	gain = find_peaks(from->info, &peaks) ? matrix_gain(&peaks) : NAN;
	if (isnan(gain)) {
		advise_not_judged(out, "the GPU, or its rate for products of "
				       "reduced precision, is not known");
		return;
	}
	if (gain <= 1) {
		advise_fine(out, "the GPU multiplies no faster in reduced "
				 "precision");
		return;
	}
	pf_buf_addf(next(out),
		    "%s of the time in products is in fp32; the GPU's "
		    "peak in "
		    "reduced precision is %.1f times as high",
		    pf_num_show_ratio(
			    share, pf_num_share(from->callers->product_fp32_ns,
						from->callers->product_ns)),
		    gain);
	advise_bound(a, from, owns_single, ADVISE_LEAST_REDUCED, out);
}

static const char *single_variant(const struct pf_advise *a,
				  const struct pf_advise_from *from,
				  const struct pf_advice *out)
{
	struct pf_gpu_peaks peaks;

	(void)a;
	(void)out;
	if (!find_peaks(from->info, &peaks))
		return "";
	if (!isnan(peaks.rate[PF_PEAK_TF32]))
		return "tf32";
	return isnan(peaks.rate[PF_PEAK_BF16]) ? "fp16" : "bf16";
}

/* ---- A11 ---- */

#define ROOM        0.6 /* of the memory: below, there is room */
#define SMALL_SHARE 0.5 /* of kernel time, in grids that leave SMs without */

/* The accelerator whose peak is closest to its capacity; or NULL. */
static const struct pf_usage_device *fullest(const struct pf_usage *u)
{
	const struct pf_usage_device *best = NULL;

	for (size_t i = 0; u && i < u->device_count; i++) {
		const struct pf_usage_device *d = &u->devices[i];

		if (d->at.device_type > 0 && !isnan(d->capacity_share) &&
		    (!best || d->capacity_share > best->capacity_share))
			best = d;
	}
	return best;
}

/* Of kernels with a known grid: time in those with less blocks than SMs. */
static double small_share(const struct pf_kernels *k)
{
	int64_t few = 0, known = 0;

	for (int64_t i = 0; i < k->row_count; i++) {
		if (isnan(k->rows[i].blocks_per_sm) ||
		    k->rows[i].blocks_per_sm < 0)
			continue;
		pf_sat_sum(&known, k->rows[i].ns.of.sum);
		if (k->rows[i].blocks_per_sm < 1)
			pf_sat_sum(&few, k->rows[i].ns.of.sum);
	}
	if (known < k->total_ns - known)
		return NAN;
	return pf_num_share(few, known);
}

static void memory_is_unknown(const struct pf_usage *u, struct pf_advice *out)
{
	advise_not_judged(out, u && u->device_count
				       ? "how much memory is allocated in all, "
					 "or how much there is, is not recorded"
				       : "how much memory is used is not "
					 "known: record profile_memory=True");
}

static void judge_batch(const struct pf_advise *a,
			const struct pf_advise_from *from,
			struct pf_advice *out)
{
	const struct pf_usage_device *d = fullest(from->memory);
	char share[PF_NUM_MAX], of[PF_NUM_MAX], peak[PF_NUM_MAX];
	double small;

	(void)a;
	out->at_most_ns = PF_NO_INT;
	out->measured = NAN;
	if (!from->callers || !from->callers->total_ns) {
		advise_not_judged(out, "there are no kernels in this trace");
		return;
	}
	if (!d) {
		memory_is_unknown(from->memory, out);
		return;
	}
	small = small_share(from->callers);
	if (isnan(small)) {
		advise_not_judged(out, "how many blocks most kernels have for "
				       "each multiprocessor is not recorded");
		return;
	}
	out->measured = small;
	if (d->capacity_share >= ROOM) {
		advise_fine(out, "the memory has no room for much more");
		return;
	}
	if (small < SMALL_SHARE) {
		advise_fine(out, "most of the time in kernels is in those that "
				 "have a block for every multiprocessor");
		return;
	}
	pf_buf_clear(&out->sentence);
	pf_buf_addf(&out->sentence,
		    "%s of the time in kernels is in those with fewer "
		    "blocks "
		    "than the GPU has multiprocessors, and the "
		    "memory's peak "
		    "is %s of %s",
		    pf_num_show_ratio(share, small),
		    pf_num_show_bytes(peak, d->peak),
		    pf_num_show_bytes(of, d->capacity));
}

/* ---- A12 ---- */

#define UNUSED   0.15 /* of the memory: reserved, and not allocated */
#define WORTH_IT 0.01 /* of the window, in the allocator */

static bool owns_allocator(const struct advise_row *r)
{
	return (unsigned)r->category == PF_CAUSE_ALLOCATOR || is_allocation(r);
}

/* Without an allocator of its own a program asks the driver all the time. */
#define DRIVER_CALLS 100 /* on the path of a step */

static int64_t driver_calls(const struct pf_advise *a)
{
	const struct advise_tiles *t = a->tiles;
	int64_t count = 0;

	for (size_t i = 0; i < t->row_count; i++)
		if (owns_allocator(&t->rows[i]))
			count += t->rows[i].count;
	return count / (a->step_count ? a->step_count : 1);
}

static const char *memory_variant(const struct pf_advise *a,
				  const struct pf_advise_from *from,
				  const struct pf_advice *out)
{
	(void)from;
	(void)out;
	return driver_calls(a) >= DRIVER_CALLS ? "driver" : "";
}

static const char *memory_trouble(const struct pf_usage *u)
{
	const struct pf_usage_device *d = fullest(u);

	if (u && u->oom_count)
		return "Memory ran out";
	if (!d)
		return NULL;
	if (d->capacity_share >= PF_USAGE_EDGE)
		return "The peak is 90 % of the memory or more";
	if (d->unused_at_peak != PF_NO_INT && d->capacity > 0 &&
	    (double)d->unused_at_peak >= UNUSED * (double)d->capacity)
		return "15 % of the memory or more is reserved and not "
		       "allocated at the peak";
	return NULL;
}

static void judge_memory(const struct pf_advise *a,
			 const struct pf_advise_from *from,
			 struct pf_advice *out)
{
	const char *trouble = memory_trouble(from->memory);
	bool is_slow = out->measured >= WORTH_IT;
	char count[PF_NUM_MAX];

	if (is_slow && driver_calls(a) >= DRIVER_CALLS) {
		out->title = "keep memory instead of asking the driver";
		pf_buf_addf(next(out),
			    "It asks the driver %s times a step, as "
			    "without a "
			    "pool of its own",
			    pf_num_show_count(count, driver_calls(a)));
		return;
	}
	if (trouble) {
		pf_buf_adds(next(out), trouble);
		return;
	}
	if (is_slow) {
		advise_first_alone(a, owns_allocator, out);
		return;
	}
	if (!fullest(from->memory)) {
		memory_is_unknown(from->memory, out);
		return;
	}
	advise_fine(out, "memory has room, and the allocator takes next to "
			 "nothing of the critical path");
}

/* ---- A13 ---- */

#define SMALL_MESSAGE (1 << 20) /* bytes */

/* On the GPU, or where the host waits for it. */
static bool owns_comm(const struct advise_row *r)
{
	return r->category == PF_PATH_COMM ||
	       (unsigned)r->category == PF_CAUSE_COMM;
}

static int64_t comm_apart(const struct pf_advise_from *from, int64_t *whole_ns)
{
	if (!from->gaps->all.event_count)
		return class_ns(from, PF_STEP_COMM, whole_ns);
	*whole_ns = from->overlap->all.total_ns;
	return from->overlap->all.exposed_comm_ns;
}

/* Of collectives whose data are known, how large is the usual one? */
static int64_t mean_message(const struct pf_overlap *o)
{
	int64_t bytes = 0, count = 0;

	for (size_t i = 0; i < o->collective_count; i++) {
		bytes += o->collectives[i].rated_bytes;
		count += o->collectives[i].rated_count;
	}
	return count ? bytes / count : -1;
}

/* A slow link between ranks: GB/s (bytes per ns) on the bus, ns for a call. */
#define SLOW_LINK    10.0
#define SLOW_CALL_NS 50000.0
#define WAITING      3 /* times longer than that: ranks wait */
#define MANY         0.5

/*
 * Where most of the communication takes far longer than its bytes would even
 * over a slow link, ranks wait for each other.
 */
static void say_waiting(const struct pf_overlap *o, struct pf_advice *out)
{
	double bytes = 0, ns = 0, due = 0;

	for (size_t i = 0; i < o->collective_count; i++) {
		const struct pf_comm_row *row = &o->collectives[i];

		if (isnan(row->bus_rate))
			continue;
		bytes += (double)row->rated_bytes * row->factor;
		ns += (double)row->rated_ns;
		due += (double)row->rated_count * SLOW_CALL_NS;
	}
	due += bytes / SLOW_LINK;
	if (ns >= MANY * (double)o->all.comm_ns && ns >= WAITING * due)
		pf_buf_addf(next(out),
			    "At %.1f GB/s of bus bandwidth most of it is "
			    "waiting for other ranks, not transfer",
			    bytes / ns);
}

static void judge_comm(const struct pf_advise *a,
		       const struct pf_advise_from *from, struct pf_advice *out)
{
	char exposed[PF_NUM_MAX], all[PF_NUM_MAX], size[PF_NUM_MAX];
	const struct pf_overlap *o = from->overlap;

	if (!o || !o->all.comm_ns) {
		if (!out->on_path_ns)
			advise_fine(out, "no communication is on the critical "
					 "path");
		if (!a->has_path)
			return;
		/* no question about GPU work knows of the host's */
		out->at_most_ns = out->on_path_ns;
		out->likely_ns = PF_NO_INT;
		out->measured = pf_num_share(out->at_most_ns, a->window_ns);
		return;
	}
	pf_num_show_ns(all, o->all.comm_ns);
	if (a->has_path)
		pf_buf_addf(next(out), "%s of %s of communication is exposed",
			    pf_num_show_ns(exposed, o->all.exposed_comm_ns),
			    all);
	else
		pf_buf_addf(next(out), "All of it takes %s", all);
	if (mean_message(o) >= 0)
		pf_buf_addf(&out->detail, ", in messages of %s in the mean",
			    pf_num_show_bytes(size, mean_message(o)));
	say_waiting(o, out);
}

static const char *comm_variant(const struct pf_advise *a,
				const struct pf_advise_from *from,
				const struct pf_advice *out)
{
	int64_t mean = from->overlap ? mean_message(from->overlap) : -1;

	(void)a;
	(void)out;
	return mean >= 0 && mean < SMALL_MESSAGE ? "small" : "";
}

/* ---- A16 ---- */

#define SLOW_FIRST 1.5 /* times the median */
#define HOST_SHARE 0.3 /* of the path: from there on, functions say more */

static void judge_capture(const struct pf_advise *a,
			  const struct pf_advise_from *from,
			  struct pf_advice *out)
{
	const struct pf_step_times *s = from->steps;
	char first[PF_NUM_MAX], median[PF_NUM_MAX];

	out->at_most_ns = PF_NO_INT;
	out->measured = NAN;
	if (!s || !s->count) {
		advise_not_judged(out, "there is no time to speak of");
		return;
	}
	pf_buf_clear(&out->sentence);
	if (!s->has_steps) {
		pf_buf_adds(&out->sentence, "The trace does not say "
					    "where a step begins and "
					    "ends");
	} else if (s->full_count >= 3 && s->dur.p50_ns > 0 &&
		   (double)s->steps[0].dur_ns >
			   SLOW_FIRST * (double)s->dur.p50_ns) {
		pf_buf_addf(&out->sentence,
			    "The first step takes %s, the median %s, "
			    "and it is "
			    "part of all figures",
			    pf_num_show_ns(first, s->steps[0].dur_ns),
			    pf_num_show_ns(median, s->dur.p50_ns));
	} else if (!a->tiles->has_functions && a->framework &&
		   (double)a->tiles->path->host_ns >=
			   HOST_SHARE * (double)a->window_ns) {
		pf_buf_adds(&out->sentence,
			    "The trace has no Python functions, so that no "
			    "advice can name a line");
	} else {
		advise_fine(out, "steps are marked, the first is not slow, and "
				 "functions are recorded or would say little");
	}
}

static const char *capture_variant(const struct pf_advise *a,
				   const struct pf_advise_from *from,
				   const struct pf_advice *out)
{
	(void)a;
	(void)out;
	if (!from->steps->has_steps)
		return "steps";
	return strstr(out->sentence.data, "first step") ? "warm-up" : "stacks";
}

/* ---- A20 ---- */

#define FEW_ROWS    16  /* of a product: tokens that are decoded at once */
#define READ_SHARE  0.5 /* of the window: from there on, memory bounds it */
#define KNOWN_SHARE 0.5 /* of GPU time, in calls with shapes */

static const char *const dense_products[] = { "aten::mm", "aten::addmm",
					      "aten::_scaled_mm", NULL };

static bool owns_dense(const struct advise_row *r)
{
	return r->category == PF_PATH_KERNEL &&
	       advise_is_one_of(r->op, dense_products);
}

/* Products of the window: with few rows, and all. */
struct decoding {
	int64_t few_ns, all_ns, calls, kinds;
	double weight_bytes;
};

static struct decoding find_decoding(const struct pf_roofline *r)
{
	struct decoding d = { 0 };

	for (size_t i = 0; i < r->shape_count; i++) {
		const struct pf_roofline_row *row = &r->shapes[i];

		if (!row->work->matrix)
			continue;
		pf_sat_sum(&d.all_ns, row->s.kernel_ns);
		if (!row->work->rows || row->work->rows > FEW_ROWS)
			continue;
		pf_sat_sum(&d.few_ns, row->s.kernel_ns);
		d.calls += row->s.calls;
		d.kinds++;
		d.weight_bytes +=
			(double)row->work->weights * (double)row->s.calls;
	}
	return d;
}

static bool is_training(const struct pf_advise *a,
			const struct pf_advise_from *from)
{
	const struct pf_kernels *k = from->callers;

	if (a->tiles->marks.calls[ADVISE_MARK_OPTIMIZER])
		return true;
	for (int64_t i = 0; k && i < k->row_count; i++)
		if (k->rows[i].second && strstr(k->rows[i].second, "ackward"))
			return true;
	return false;
}

/* Of the GPUs together; NAN: unknown. */
static double read_ns(const struct pf_roofline *r, const struct decoding *d)
{
	int64_t devices = r->trace_count ? r->traces->device_count : 0;

	if (devices <= 0)
		return NAN;
	return d->weight_bytes / r->peaks.rate[PF_PEAK_BYTES] / (double)devices;
}

/* Why it is no decoding, or NULL. */
static const char *why_no_decoding(const struct pf_advise *a,
				   const struct pf_advise_from *from,
				   const struct decoding *d)
{
	if (is_training(a, from))
		return "the program trains";
	if (d->few_ns < d->all_ns - d->few_ns || !d->few_ns)
		return "most of the time in products is in those of "
		       "more than "
		       "16 rows, as no decoding has";
	if (d->calls < 2 * d->kinds)
		return "products with few rows do not repeat";
	return NULL;
}

static void judge_decoding(const struct pf_advise *a,
			   const struct pf_advise_from *from,
			   struct pf_advice *out)
{
	const struct pf_roofline *r = from->roofline;
	char share[PF_NUM_MAX], read[PF_NUM_MAX];
	struct decoding d = { 0 };
	const char *why;
	double ns;

	out->measured = NAN;
	if (is_training(a, from)) {
		advise_fine(out, "the program trains");
		return;
	}
	if (!r || (double)r->modelled_ns < KNOWN_SHARE * (double)r->gpu_ns ||
	    !r->gpu_ns) {
		advise_not_judged(out, "the shapes of most GPU work are not "
				       "known: record_shapes=True, and what "
				       "graphs replay has none");
		return;
	}
	d = find_decoding(r);
	why = why_no_decoding(a, from, &d);
	ns = read_ns(r, &d);
	if (why) {
		advise_fine(out, why);
		return;
	}
	if (isnan(ns)) {
		advise_not_judged(out, "how fast the memory of the GPU is, is "
				       "not known");
		return;
	}
	if (ns >= READ_SHARE * (double)a->window_ns) {
		advise_fine(out, "reading the weights takes half of the time "
				 "or more");
		return;
	}
	out->at_most_ns = a->window_ns - (int64_t)ns;
	out->measured = pf_num_share(out->at_most_ns, a->window_ns);
	pf_buf_clear(&out->sentence);
	pf_buf_addf(&out->sentence,
		    "products of at most %d rows, as in decoding, read "
		    "weights "
		    "that the memory gives in %s, %s of the window",
		    FEW_ROWS, pf_num_show_ns(read, (int64_t)ns),
		    pf_num_show_ratio(share, ns / (double)a->window_ns));
}

const struct advise_rule advise_state_rules[] = {
	{ .id = "A6",
	  .kind = "precision",
	  .title = "TF32 or mixed precision for products",
	  .subject = "Matrix products and convolutions in fp32 hold",
	  .threshold = PF_ADVISE_SHOWN,
	  .confidence = "sure",
	  .command = "kernels",
	  .options = " --group name,op",
	  .cap = FAST_KERNELS,
	  .needs = ADVISE_NEEDS_GPU,
	  .owns = owns_single,
	  .judge = judge_single,
	  .variant = single_variant,
	  .apart = "Matrix products and convolutions in fp32 take",
	  .apart_ns = single_apart },
	{ .id = "A11",
	  .kind = "small kernels",
	  .title = "a larger batch",
	  .confidence = "hint",
	  .command = "memory",
	  .options = "",
	  .needs = ADVISE_NEEDS_GPU,
	  .judge = judge_batch,
	  .apart = "" },
	{ .id = "A12",
	  .kind = "allocation",
	  .title = "less memory, or memory in larger pieces",
	  .subject = "the allocator's calls",
	  .confidence = "model",
	  .command = "memory",
	  .options = "",
	  .question = "alloc=0",
	  .needs = ADVISE_NEEDS_GPU,
	  .owns = owns_allocator,
	  .judge = judge_memory,
	  .variant = memory_variant,
	  .causes = CAUSE(ALLOCATOR),
	  .apart = "The GPU waits for the allocator" },
	{ .id = "A13",
	  .kind = "communication",
	  .title = "hide communication",
	  .subject = "communication",
	  .threshold = PF_ADVISE_SHOWN,
	  .confidence = "model",
	  .command = "path",
	  .options = "",
	  .question = "class:comm=0",
	  .likely = "comm=hidden",
	  .needs = ADVISE_NEEDS_PATH,
	  .owns = owns_comm,
	  .judge = judge_comm,
	  .variant = comm_variant,
	  .causes = CAUSE(COMM),
	  .apart = "Communication is exposed for",
	  .apart_ns = comm_apart },
	{ .id = "A16",
	  .kind = "the capture",
	  .title = "profile with steps, after warm-up, with stacks",
	  .confidence = "hint",
	  .command = "doctor",
	  .options = "",
	  .needs = ADVISE_NEEDS_PATH,
	  .judge = judge_capture,
	  .variant = capture_variant,
	  .apart = "" },
	{ .id = "A20",
	  .kind = "decoding",
	  .title = "batch requests, and replay decoding as a CUDA graph",
	  .confidence = "model",
	  .command = "roofline",
	  .options = "",
	  .needs = ADVISE_NEEDS_TORCH,
	  .owns = owns_dense,
	  .judge = judge_decoding },
};
const size_t advise_state_rule_count =
	sizeof(advise_state_rules) / sizeof(*advise_state_rules);

const char *advise_questions[] = { "data=0",  "sync=off",     "launch=0",
				   "gc=0",    "class:comm=0", "comm=hidden",
				   "alloc=0", NO_KERNELS,     FAST_KERNELS,
				   FREE_HOST, NO_PAGEABLE,    NO_READING };
const size_t advise_question_count =
	sizeof(advise_questions) / sizeof(*advise_questions);

static const struct {
	const struct advise_rule *rules;
	const size_t *count;
} families[] = {
	{ advise_host_rules, &advise_host_rule_count },
	{ advise_gpu_rules, &advise_gpu_rule_count },
	{ advise_state_rules, &advise_state_rule_count },
};

static bool advise_is_one_of(const char *s, const char *const *list)
{
	for (; *list; list++)
		if (!strcmp(s, *list))
			return true;
	return false;
}

static bool advise_has_one_of(const char *s, const char *const *list)
{
	for (; *list; list++)
		if (strstr(s, *list))
			return true;
	return false;
}

static void say_why(struct pf_advice *a, enum pf_advice_state state,
		    const char *why)
{
	a->state = state;
	pf_buf_clear(&a->sentence);
	pf_buf_adds(&a->sentence, why);
}

/* It is fine, or cannot be judged: the reason instead of a sentence. */
static void advise_fine(struct pf_advice *a, const char *why)
{
	say_why(a, PF_ADVICE_FINE, why);
}

/*
 * judge() is called when at_most_ns and measured are the sums of the rows; it
 * may change both, append to the sentence, or say that it is fine or cannot be
 * judged.
 */
static void advise_not_judged(struct pf_advice *a, const char *why)
{
	say_why(a, PF_ADVICE_NOT_JUDGED, why);
}

/* What is in the first step alone, or may be, is warm-up. */
static void advise_first_alone(const struct pf_advise *a,
			       bool (*owns)(const struct advise_row *r),
			       struct pf_advice *out)
{
	const struct advise_tiles *t = a->tiles;

	if (out->on_path_ns <= 0)
		return;
	if (!t->has_late) {
		advise_not_judged(out, "whether it is the warm-up alone shows "
				       "only in several steps");
		return;
	}
	for (size_t i = 0; i < t->row_count; i++)
		if (owns(&t->rows[i]) && t->rows[i].flags & ADVISE_LATE)
			return;
	advise_fine(out, "it is in the first step alone, which --skip-first 1 "
			 "leaves out");
}

/* ---- places ---- */

/* What rows of a place have in common; padding is zero. */
struct place_key {
	const char *name, *at;
	uint64_t category;
};

static const char *place_of(const struct advise_row *r)
{
	if (*r->frame && (strstr(r->frame, ".py:") || !*r->op))
		return r->frame;
	return *r->op ? r->op : NULL;
}

static void add_place(struct pf_advice_place *p, const struct advise_row *r,
		      bool is_line, int64_t first_ns)
{
	const char *at = place_of(r);

	p->what = is_line ? "line" : pf_path_category_name(r->category);
	p->name = is_line ? at : *r->short_name ? r->short_name : NULL;
	p->at = is_line ? NULL : at;
	p->ns += r->ns;
	p->count += r->count;
	if (r->longest_ns > p->longest_ns) {
		p->longest_ns = r->longest_ns;
		p->from_ns = r->longest_at_ns - first_ns;
	}
}

PF_ORDER(by_time, struct pf_advice_place, PF_DOWN(ns) PF_UP(from_ns))

/* Rows differ in more than their place: put those of one together. */
static void find_places(const struct advise_tiles *t, bool by_line,
			struct pf_advice *a)
{
	struct pf_advice_place *all = NULL;
	struct pf_intern keys;
	size_t cap = 0;

	pf_intern_init(&keys);
	for (size_t i = 0; i < t->row_count; i++) {
		const struct advise_row *r = &t->rows[i];
		bool is_line = by_line && strstr(r->frame, ".py:");
		struct place_key key = { is_line ? NULL : r->name, place_of(r),
					 is_line ? 0 : r->category };
		uint32_t known = keys.count, n;

		if (!(r->advice & a->bit))
			continue;
		n = pf_intern_add(&keys, (const char *)&key, sizeof(key));
		all = pf_grow(all, &cap, (size_t)n + 1, sizeof(*all));
		if (n == known)
			all[n] = (struct pf_advice_place){ .longest_ns = -1 };
		add_place(&all[n], r, is_line, t->first_ns);
	}
	pf_sort(all, keys.count, sizeof(*all), by_time);
	a->place_count = 0;
	while (a->place_count < PF_ADVICE_PLACES &&
	       a->place_count < keys.count) {
		a->places[a->place_count] = all[a->place_count];
		a->place_count++;
	}
	free(all);
	pf_intern_release(&keys);
}

static bool is_most(const struct pf_advice *a)
{
	return a->places[0].ns >= a->on_path_ns / 2;
}

/* By name, or where none holds most of it and a line does, by line. */
static void find_best_places(const struct advise_tiles *t, struct pf_advice *a)
{
	find_places(t, false, a);
	if (!a->place_count || is_most(a))
		return;
	find_places(t, true, a);
	if (!is_most(a))
		find_places(t, false, a);
}

/* ---- one rule ---- */

static int64_t take_rows(struct advise_tiles *t, const struct advise_rule *rule,
			 uint32_t bit)
{
	int64_t ns = 0;

	for (size_t i = 0; rule->owns && i < t->row_count; i++) {
		if (!rule->owns(&t->rows[i]))
			continue;
		t->rows[i].advice |= bit;
		ns += t->rows[i].ns;
	}
	return ns;
}

/* Without a path what it would say of one is said by other commands. */
static void say_command(const struct pf_advise *a,
			const struct pf_advise_args *args,
			const struct advise_rule *rule, struct pf_advice *out)
{
	bool is_apart = !a->has_path && !strcmp(rule->command, "path");

	out->shown_by = !is_apart                 ? rule->command
			: rule->owns == owns_comm ? "overlap"
						  : "gaps";
	pf_buf_addf(&out->command, "profan %s ", out->shown_by);
	pf_shell_word(&out->command, args->db_name);
	pf_buf_adds(&out->command, is_apart ? "" : rule->options);
	if (strcmp(out->shown_by, "doctor") != 0)
		pf_window_options(&args->window, &out->command);
}

/* A text of the trace as it may be shown, in "out". */
static const char *advise_text(const struct pf_advise_args *args,
			       const char *text, struct pf_buf *out)
{
	return args->show ? args->show(args->context, text, out) : text;
}

/* A kernel without what its template was made for, which may be long. */
static void say_kernel(const char *name, struct pf_buf *out)
{
	const char *open = *name ? strchr(name + 1, '<') : NULL;
	struct pf_buf text = { 0 };

	pf_buf_add(&text, name, open ? (size_t)(open - name) : strlen(name));
	if (open)
		pf_buf_adds(&text, "<...>");
	pf_say_name(out, text.data);
	pf_buf_release(&text);
}

/* ", most of it in NAME at LINE", where one place holds half of it or more. */
static void say_place(const struct pf_advise_args *args, struct pf_advice *out)
{
	const struct pf_advice_place *most = out->places;
	struct pf_buf shown = { 0 };
	const char *name;

	if (!out->place_count || !most->name || most->ns < out->on_path_ns / 2)
		return;
	name = advise_text(args, most->name, &shown);
	pf_buf_adds(&out->sentence, ", most of it in ");
	if (!strcmp(most->what, pf_path_category_name(PF_PATH_KERNEL)))
		say_kernel(name, &out->sentence);
	else
		pf_say_name(&out->sentence, name);
	if (most->at && strcmp(most->at, most->name) != 0) {
		pf_buf_adds(&out->sentence,
			    strstr(most->at, ".py:") ? " at " : " of ");
		pf_say_name(&out->sentence,
			    advise_text(args, most->at, &shown));
	}
	pf_buf_release(&shown);
}

/*
 * "Without loading data at most 12 % of 6 steps (1 ms of 8 ms) would be saved,
 * and at least 500 us. It holds 2 ms of the critical path", as it was worked
 * out anew.
 */
static void say_answer(const struct pf_advise *a,
		       const struct advise_rule *rule, struct pf_advice *out)
{
	struct pf_buf *to = &out->sentence;
	bool is_exact = out->likely_ns == out->at_most_ns;
	char ns[PF_NUM_MAX];

	pf_buf_addf(to, "Without %s %s", rule->subject,
		    is_exact ? "" : "at most ");
	pf_window_say_part(a->window, to, out->at_most_ns, out->whole_ns,
			   a->step_count);
	pf_buf_adds(to, " would be saved");
	if (!is_exact && out->likely_ns != PF_NO_INT)
		pf_buf_addf(to, ", and at least %s",
			    pf_num_show_ns(ns, out->likely_ns));
	pf_buf_addf(to, ". It holds %s of the critical path",
		    pf_num_show_ns(ns, out->on_path_ns));
	out->is_said = true;
}

/*
 * "Copying holds 12 % of 6 steps (1 ms of 8 ms) on the critical path", or where
 * there is no path "The GPU waits for data 12 % of 6 steps (1 ms of 8 ms)".
 */
static void say_share(const struct pf_advise *a,
		      const struct pf_advise_args *args,
		      const struct advise_rule *rule, struct pf_advice *out)
{
	if (!rule->subject)
		return;
	if (a->has_path && rule->question) {
		say_answer(a, rule, out);
	} else {
		pf_buf_addf(&out->sentence, "%s ",
			    !a->has_path   ? rule->apart
			    : out->subject ? out->subject
					   : rule->subject);
		pf_window_say_part(a->window, &out->sentence, out->on_path_ns,
				   out->whole_ns, a->step_count);
		if (a->has_path)
			pf_buf_adds(&out->sentence, " on the critical path");
	}
	say_place(args, out);
}

void pf_advice_say_gain(const struct pf_advice *v, struct pf_buf *out)
{
	char text[PF_NUM_MAX];

	if (v->at_most_ns == PF_NO_INT || v->is_said)
		return;
	pf_buf_adds(out, "At most ");
	if (v->at_most_ns == v->on_path_ns) {
		pf_buf_adds(out, "that would be saved");
		return;
	}
	pf_buf_adds(out, pf_num_show_ns(text, v->at_most_ns));
	pf_buf_addf(out, " (%s) would be saved",
		    pf_num_show_ratio(text, v->measured));
	if (v->cap)
		pf_buf_addf(out, ", %s", v->cap);
}

bool pf_advise_say_rest(const struct pf_advise *a,
			const struct pf_advise_args *args, struct pf_buf *out)
{
	const struct pf_path *p = a->tiles->path;
	const struct pf_path_row *most = p->rows; /* by category and name */
	struct pf_buf shown = { 0 };
	char share[PF_NUM_MAX];
	bool is_unknown;

	if (!p->row_count || (a->given && most->ns / 2 < a->all->at_most_ns))
		return false;
	is_unknown = !strcmp(most->category,
			     pf_path_category_name(PF_PATH_UNEXPLAINED));
	pf_buf_addf(out, "%s of the critical path is %s",
		    pf_num_show_ratio(share, most->share), most->category);
	if (most->short_name) {
		/* what is not known is before it, and none of it */
		pf_buf_adds(out, is_unknown ? ", before " : " ");
		say_kernel(advise_text(args, most->short_name, &shown), out);
	}
	pf_buf_release(&shown);
	return true;
}

/* A change that the path was worked out with saves what that says. */
static void take_answer(const struct pf_advise *a,
			const struct advise_rule *rule, struct pf_advice *out)
{
	const struct pf_path_answer *w =
		rule->question ? find_answer(a->tiles->path, rule->question)
			       : NULL;

	if (!w)
		return;
	/* less than all that the question is about may be its own */
	if (w->bound_ns == PF_NO_INT || w->saved_ns < out->on_path_ns)
		out->at_most_ns = w->saved_ns > 0 ? w->saved_ns : 0;
	w = rule->likely ? find_answer(a->tiles->path, rule->likely) : w;
	if (w && w->least_ns <= out->at_most_ns)
		out->likely_ns = w->least_ns;
}

/* What no change to its rows beats: as if there were no such time; or NULL. */
static const char *cap_of(const struct pf_advise *a,
			  const struct advise_rule *rule,
			  const struct pf_advice *out)
{
	bool is_kernels = true, is_host = !rule->question;

	for (size_t i = 0; i < a->tiles->row_count; i++) {
		const struct advise_row *r = &a->tiles->rows[i];

		if (!(r->advice & out->bit))
			continue;
		is_kernels &= advise_is_kernel(r);
		is_host &= advise_is_host(r);
	}
	/* who needs fewer kernels saves more than the host's time for them */
	return is_kernels              ? rule->cap
	       : is_host && !rule->cap ? FREE_HOST
				       : NULL;
}

/*
 * Faster kernels save no more than none would, for the host that launches them
 * may be hardly ahead of them; nor a faster host more than one that takes no
 * time.
 */
static void cap(const struct pf_advise *a, const struct advise_rule *rule,
		struct pf_advice *out)
{
	const char *question = cap_of(a, rule, out);
	const struct pf_path_answer *none =
		question ? find_answer(a->tiles->path, question) : NULL;

	if (!none || !out->on_path_ns || none->saved_ns >= out->at_most_ns)
		return;
	out->at_most_ns = none->saved_ns > 0 ? none->saved_ns : 0;
	out->measured = pf_num_share(out->at_most_ns, a->window_ns);
	out->confidence = "model";
	out->cap = question == rule->cap ? "as without any kernel"
					 : "as with a host that takes no time";
}

static bool is_judgeable(const struct pf_advise *a,
			 const struct pf_advise_from *from,
			 const struct advise_rule *rule, struct pf_advice *out)
{
	bool is_torch = a->framework && !strcmp(a->framework, "PyTorch");

	if (!a->has_path && (!from->gaps || !from->gaps->window.count))
		advise_not_judged(out, "there is nothing whose end could be "
				       "explained");
	else if (!has_work(a, from) && rule->needs != ADVISE_NEEDS_PATH &&
		 rule->needs != ADVISE_NEEDS_OPS)
		advise_not_judged(out, "there is no GPU work in this trace");
	else if (rule->needs >= ADVISE_NEEDS_TORCH && !is_torch)
		advise_not_judged(out, "there are no operators of PyTorch in "
				       "this trace");
	else if (!a->has_path && !rule->apart)
		advise_not_judged(out, from->gaps->window.count > 1
					       ? "it needs a critical path, "
						 "which is of one trace: "
						 "--rank N"
					       : "it needs a critical path");
	else
		return true;
	return false;
}

/* ---- without a path: what is idle, or exposed, bounds nothing ---- */

/* Idle time of the causes, and the places that hold most of it. */
static void take_apart(const struct pf_advise_from *from,
		       const struct advise_rule *rule, struct pf_advice *out)
{
	const struct pf_gaps *g = from->gaps;

	out->at_most_ns = PF_NO_INT;
	out->whole_ns = g->all.window_ns;
	out->on_path_ns = rule->apart_ns ? rule->apart_ns(from, &out->whole_ns)
					 : idle_of(g, rule->causes);
	for (size_t i = 0; i < g->culprit_count; i++) {
		const struct pf_gap_culprit *c = &g->culprits[i];

		if (!(rule->causes & 1u << c->place.cause) || rule->is_spread ||
		    c->ns > out->on_path_ns || !(c->name || c->frame) ||
		    out->place_count == PF_ADVICE_PLACES)
			continue;
		out->places[out->place_count++] = (struct pf_advice_place){
			.what = c->cause,
			.name = c->short_name ? c->short_name : c->name,
			.at = c->frame ? c->frame : c->op,
			.ns = c->ns,
			.count = c->count,
			.longest_ns = c->longest_ns,
			.from_ns = PF_NO_INT,
		};
	}
	out->measured = pf_num_share(out->on_path_ns, out->whole_ns);
	out->confidence = "hint";
}

static void take_path(struct pf_advise *a, const struct advise_rule *rule,
		      struct pf_advice *out)
{
	out->whole_ns = a->window_ns;
	out->on_path_ns = take_rows(a->tiles, rule, out->bit);
	out->at_most_ns = out->on_path_ns;
	take_answer(a, rule, out);
	out->measured = pf_num_share(out->at_most_ns, a->window_ns);
}

static void say_below(const struct pf_advise *a, const struct advise_rule *rule,
		      struct pf_advice *out)
{
	char share[PF_NUM_MAX], least[PF_NUM_MAX];
	const char *does = a->has_path ? "would save" : "holds";
	struct pf_buf why = { 0 };

	if (out->measured != 0)
		pf_buf_addf(&why, "it %s %s, less than %s", does,
			    pf_num_show_ratio(share, out->measured),
			    pf_num_show_ratio(least, rule->threshold));
	else
		pf_buf_addf(&why, "it %s nothing", does);
	advise_fine(out, why.data);
	pf_buf_release(&why);
}

static void apply(struct pf_advise *a, const struct pf_advise_args *args,
		  const struct pf_advise_from *from,
		  const struct advise_rule *rule)
{
	struct pf_advice *out = &a->all[a->count];
	const char *variant = "";

	*out = (struct pf_advice){ .id = rule->id,
				   .kind = rule->kind,
				   .title = rule->title,
				   .likely_ns = PF_NO_INT,
				   .threshold = rule->threshold > 0
							? rule->threshold
							: NAN,
				   .confidence = rule->confidence,
				   .causes = rule->causes,
				   .bit = 1u << a->count };
	a->count++;
	pf_buf_adds(&out->sentence, "");
	pf_buf_adds(&out->detail, "");
	say_command(a, args, rule, out);
	if (!is_judgeable(a, from, rule, out))
		return;
	if (a->has_path)
		take_path(a, rule, out);
	else
		take_apart(from, rule, out);
	if (rule->judge)
		rule->judge(a, from, out);
	if (!advise_is_open(out))
		return;
	cap(a, rule, out);
	if (out->measured < rule->threshold) {
		say_below(a, rule, out);
		return;
	}
	if (a->has_path)
		find_best_places(a->tiles, out);
	say_share(a, args, rule, out);
	if (rule->variant)
		variant = rule->variant(a, from, out);
	advise_remedy(out, a->framework, variant);
}

/* ---- all of them ---- */

/* What it saves, or where nothing bounds that holds. */
static int64_t weight_of(const struct pf_advice *v)
{
	return v->at_most_ns == PF_NO_INT ? v->on_path_ns : v->at_most_ns;
}

static int by_gain(const void *a, const void *b)
{
	const struct pf_advice *x = a, *y = b;

	if (x->state != y->state)
		return (int)x->state - (int)y->state;
	if (x->state == PF_ADVICE_GIVEN && x->is_last != y->is_last)
		return x->is_last - y->is_last;
	if (x->state == PF_ADVICE_GIVEN && weight_of(x) != weight_of(y))
		return weight_of(x) > weight_of(y) ? -1 : 1;
	return x->bit < y->bit ? -1 : x->bit > y->bit;
}

/* By what its operators are called. */
static const char *find_framework_of(const struct pf_kernels *k,
				     const struct advise_tiles *t)
{
	for (int64_t i = 0; k && i < k->row_count; i++)
		if (k->rows[i].second &&
		    !strncmp(k->rows[i].second, "aten::", 6))
			return "PyTorch";
	for (size_t i = 0; i < t->row_count; i++)
		if (!strncmp(t->rows[i].op, "aten::", 6))
			return "PyTorch";
	return t->marks.framework;
}

void pf_advise_judge(struct pf_advise *a, const struct pf_advise_args *args,
		     const struct pf_advise_from *from)
{
	if (!a->tiles) {
		a->tiles = pf_calloc(1, sizeof(*a->tiles));
		a->tiles->path = &a->tiles->own_path;
	}
	a->has_path = a->tiles->path->category_count > 0;
	a->window = &a->tiles->path->window;
	if (!a->has_path && from->gaps) {
		a->window = &from->gaps->window;
		a->window_ns = from->gaps->all.window_ns;
		a->step_count = from->gaps->step_count;
	}
	a->framework = find_framework_of(from->callers, a->tiles);
	for (size_t i = 0; i < sizeof(families) / sizeof(*families); i++)
		for (size_t k = 0; k < *families[i].count; k++)
			apply(a, args, from, &families[i].rules[k]);
	pf_sort(a->all, a->count, sizeof(*a->all), by_gain);
	while (a->given < a->count && a->all[a->given].state == PF_ADVICE_GIVEN)
		a->given++;
}

int64_t pf_advise_union(const struct pf_advise *a, size_t first)
{
	uint32_t bits = 0;
	int64_t ns = 0;

	for (size_t i = 0; i < first && i < a->given; i++)
		bits |= a->all[i].bit;
	for (size_t i = 0; i < a->tiles->row_count; i++)
		if (a->tiles->rows[i].advice & bits)
			ns += a->tiles->rows[i].ns;
	return ns;
}
