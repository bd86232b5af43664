/* SPDX-License-Identifier: MIT */
/* What each rule is about, and what sums of its rows do not say. */
#include "config.h"

#include <inttypes.h>

#include "analysis/advise/impl.h"
#include "analysis/roofline/gpus.h"
#include "analysis/roofline/roofline.h"
#include "base/sat.h"
#include "events/names.h"
#include "show/escape.h"

/*
 * What the shapes of operators say of the time that stays.  A change takes
 * from each call no more than what it is above its least time; so what is
 * saved on the path is no more than what all calls of the operator are above
 * theirs, on the path or not.  Calls that are not modelled may vanish.
 */

enum advise_least {
	ADVISE_LEAST_ROOF,     /* the same operations and bytes */
	ADVISE_LEAST_PRODUCTS, /* products alone, in their precision */
	ADVISE_LEAST_REDUCED   /* the same in reduced precision */
};

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
	struct pf_intern ops = { 0 };

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
			 bool (*owns)(const struct advise_row *r),
			 enum advise_least least, struct pf_advice *out)
{
	const struct pf_roofline *r = a->from->roofline;
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
	pf_buf_addf(advise_next(out),
		    "At least %s of it stay, by shapes and peak rates",
		    PF_SHOW_NS(ns));
}

/* Not judged for want of what the recorder may have an option for. */
static void advise_lacks(const struct pf_advise *a, const char *what,
			 enum pf_hint hint, struct pf_advice *out)
{
	struct pf_buf why = { 0 };

	pf_buf_addf(&why, "%s: %s", what, pf_hint(a->producer, hint));
	advise_not_judged(out, why.data);
	pf_buf_release(&why);
}

#define CAUSE(name) (1u << PF_CAUSE_##name)

/* Kernels that are gone, and kernels without limit to their speed. */
#define NO_KERNELS   "class:compute=0"
#define FAST_KERNELS "class:compute=0.000001"
/* No copy from pageable memory, nor who waits for it. */
#define NO_PAGEABLE "copy=async;gpu:HtoD [(]Pageable=0"
/* No result is read: no call waits, nor is there a copy, or an operator. */
#define NO_WAITING   "sync=off;copy=async;"
#define NO_FIRSTS    "first=0"
#define NO_RESULTS   NO_WAITING "gpu:DtoH|D2H|DEVICE_TO_HOST|DeviceToHost=0"
#define NO_READING   NO_WAITING "op:^aten::(item|_local_scalar|is_nonzero)=0"
#define NO_OPTIMIZER "op:^Optimizer[.]step#=0"
#define NO_ZEROING   "op:^Optimizer[.]zero_grad#=0"

/* GPU work that no call launched stays where it is, so that bounds nothing. */
const struct pf_path_answer *advise_answer(const struct pf_path *p,
					   const char *question)
{
	if (!pf_path_is_linked(p))
		return NULL;
	for (size_t i = 0; i < p->beside_count; i++)
		if (!strcmp(p->beside[i].question, question))
			return &p->beside[i];
	return NULL;
}

/* Advice about operators: what their work, and launching it, takes. */

/* ---- A7, A19 ---- */

static bool owns_attention(const struct advise_row *r)
{
	return r->flags & ADVISE_SEQUENCE;
}

static bool owns_product(const struct advise_row *r)
{
	return owns_attention(r) && pf_word(PF_WORD_OP_PRODUCT, r->op);
}

static void judge_attention(const struct pf_advise *a, struct pf_advice *out)
{
	pf_buf_addf(advise_next(out),
		    "It is %s sequences of a product, a softmax and a product",
		    PF_SHOW_COUNT(a->tiles->sequence_count));
	advise_bound(a, owns_product, ADVISE_LEAST_PRODUCTS, out);
}

static bool owns_chain(const struct advise_row *r)
{
	return r->flags & ADVISE_CHAIN &&
	       !(r->flags & (ADVISE_SEQUENCE | 1u << ADVISE_MARK_OPTIMIZER));
}

static void judge_chain(const struct pf_advise *a, struct pf_advice *out)
{
	(void)a;
	pf_buf_adds(advise_next(out),
		    "Whether each reads what the one before it wrote is not "
		    "recorded");
}

/* ---- A8, A15 ---- */

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

static void judge_optimizer(const struct pf_advise *a, struct pf_advice *out)
{
	const struct advise_tiles *t = a->tiles;

	for (size_t i = 0; i < t->row_count; i++) {
		const struct advise_row *r = &t->rows[i];

		if (!owns_optimizer(r) || !(pf_word(PF_WORD_FUSED, r->name) ||
					    pf_word(PF_WORD_FUSED, r->op)))
			continue;
		advise_fine(out, "the optimizer is fused already");
		return;
	}
	if (!t->marks.calls[ADVISE_MARK_OPTIMIZER])
		advise_not_judged(out, "the trace has no ranges "
				       "'Optimizer.step', as torch records, of "
				       "an optimizer alone");
	/* a fused one takes time, too */
	out->likely_ns = PF_NO_INT;
}

static const char *optimizer_variant(const struct pf_advise *a,
				     const struct pf_advice *out)
{
	const struct advise_tiles *t = a->tiles;
	bool is_other = false, is_known = false, is_many = false;

	(void)out;
	for (size_t i = 0; i < t->row_count; i++) {
		const struct advise_row *r = &t->rows[i];

		if (!owns_optimizer(r))
			continue;
		/* one that only calls others has a name, too */
		if (!strncmp(r->name, "Optimizer.step#", 15))
			*(pf_word(PF_WORD_CAN_FUSE, r->name) ? &is_known
							     : &is_other) =
				true;
		is_many |= is_foreach(r);
	}
	return is_other && !is_known ? "other"
	       : !a->has_work        ? "no GPU"
	       : is_many             ? "foreach"
				     : "";
}

static bool is_zeroing(const struct advise_row *r)
{
	return r->category == PF_PATH_MEMSET ||
	       pf_word(PF_WORD_OP_ZEROES, r->op);
}

/* What walks the parameters goes with it, most of it. */
static bool owns_zeroing(const struct advise_row *r)
{
	return r->flags & (1u << ADVISE_MARK_ZERO_GRAD);
}

static void judge_zeroing(const struct pf_advise *a, struct pf_advice *out)
{
	const struct advise_tiles *t = a->tiles;

	if (!t->marks.calls[ADVISE_MARK_ZERO_GRAD]) {
		advise_not_judged(out, "the trace has no ranges "
				       "'Optimizer.zero_grad', as torch "
				       "records");
		return;
	}
	for (size_t i = 0; i < t->row_count; i++)
		if (owns_zeroing(&t->rows[i]) && is_zeroing(&t->rows[i]))
			return;
	advise_fine(out, "nothing on the critical path fills gradients with 0");
}

/*
 * What others hold that the change may make faster, too: how much is not known,
 * and no reason to do that first.
 */
static void may_gain(const struct pf_advise *a, int64_t ns, const char *what,
		     struct pf_advice *out)
{
	if (!ns || out->measured < PF_ADVISE_SHOWN)
		return;
	out->at_most_ns += ns;
	out->unsure_ns = ns;
	out->measured = pf_num_share(out->at_most_ns, a->window_ns);
	out->confidence = "model";
	pf_buf_addf(advise_next(out), "%s, which holds %s, may gain by it, too",
		    what, PF_SHOW_NS(ns));
}

/* ---- A9 ---- */

static bool owns_layout(const struct advise_row *r)
{
	return r->flags & ADVISE_TURNS;
}

/*
 * Calls that launch them go with them; which those are is not known.  Kernels
 * of batch normalization took a third of their time in the other layout.
 */
static void judge_layout(const struct pf_advise *a, struct pf_advice *out)
{
	int64_t normalizes = 0;

	if (out->on_path_ns <= 0)
		return;
	for (size_t i = 0; i < a->tiles->row_count; i++) {
		const struct advise_row *r = &a->tiles->rows[i];

		if ((unsigned)r->category == PF_CAUSE_RUNTIME &&
		    strstr(r->op, "conv") && !(r->flags & ADVISE_LONG))
			out->at_most_ns += r->ns;
		if (r->category == PF_PATH_KERNEL &&
		    strstr(r->op, "batch_norm"))
			normalizes += r->ns;
	}
	out->measured = pf_num_share(out->at_most_ns, a->window_ns);
	may_gain(a, normalizes, "Batch normalization", out);
}

/* ---- A23 ---- */

/*
 * CUTLASS names how many numbers its kernels may take at a time: tensor cores
 * want 16 bytes, which rows of odd lengths do not begin at.
 */
static bool owns_odd(const struct advise_row *r)
{
	return r->category == PF_PATH_KERNEL &&
	       pf_word(PF_WORD_MISALIGNED, r->name) &&
	       strstr(r->name, "tensorop");
}

static void judge_odd(const struct pf_advise *a, struct pf_advice *out)
{
	advise_bound(a, owns_odd, ADVISE_LEAST_PRODUCTS, out);
}

/* ---- A24 ---- */

static void say_peak(const struct pf_usage_device *d, struct pf_buf *out)
{
	char of[PF_NUM_MAX], peak[PF_NUM_MAX];

	pf_buf_addf(out, "memory's peak is %s of %s",
		    pf_num_show_bytes(peak, d->peak),
		    pf_num_show_bytes(of, d->capacity));
}

static bool owns_again(const struct advise_row *r)
{
	return r->flags &
		       (1u << ADVISE_MARK_UNPACK | 1u << ADVISE_MARK_AGAIN) ||
	       (r->flags & 1u << ADVISE_MARK_CHECKPOINT &&
		!(r->flags & 1u << ADVISE_MARK_BACKWARD));
}

static void judge_again(const struct pf_advise *a, struct pf_advice *out)
{
	const struct pf_usage_device *d = pf_usage_fullest(a->from->memory);
	const int64_t *calls = a->tiles->marks.calls;

	if (!calls[ADVISE_MARK_UNPACK] && !calls[ADVISE_MARK_CHECKPOINT]) {
		if (!calls[ADVISE_MARK_AGAIN]) {
			advise_fine(out, "nothing that is recorded computes "
					 "activations again");
			return;
		}
		out->at_most_ns = PF_NO_INT;
		out->confidence = "hint";
		pf_buf_addf(advise_next(out),
			    "What else is computed again only functions would "
			    "say: %s",
			    pf_hint(a->producer, PF_HINT_STACKS));
	}
	if (!d)
		return;
	pf_buf_adds(advise_next(out), "The ");
	say_peak(d, &out->detail);
}

/* ---- A10 ---- */

/* On the GPU, or what such an operator takes to launch it. */
static bool owns_copy(const struct advise_row *r)
{
	if (r->flags & (1u << ADVISE_MARK_OPTIMIZER) ||
	    !pf_word(PF_WORD_OP_COPIES, r->op))
		return false;
	switch ((unsigned)r->category) {
	case PF_CAUSE_OP:
		return !(r->flags & ADVISE_LONG) || r->flags & ADVISE_ALONE;
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

static bool owns_indexed(const struct advise_row *r)
{
	return r->flags &
		       (1u << ADVISE_MARK_INDEXED | 1u << ADVISE_MARK_DENSE) &&
	       (unsigned)r->category != PF_CAUSE_SYNC;
}

/* Is most of it an embedding's gradient, of all its rows? */
static const char *indexed_variant(const struct pf_advise *a,
				   const struct pf_advice *out)
{
	return advise_held(a, out->bit, 1u << ADVISE_MARK_DENSE) >
			       out->on_path_ns / 2
		       ? "dense"
		       : "";
}

static void judge_indexed(const struct pf_advise *a, struct pf_advice *out)
{
	int64_t ns = 0;

	advise_bound(a, owns_indexed, ADVISE_LEAST_ROOF, out);
	for (size_t i = 0; i < a->tiles->row_count; i++)
		if (owns_optimizer(&a->tiles->rows[i]) ||
		    owns_zeroing(&a->tiles->rows[i]))
			ns += a->tiles->rows[i].ns;
	/* by a gradient that is sparse it updates few rows, and frees few */
	if (advise_held(a, out->bit, 1u << ADVISE_MARK_DENSE))
		may_gain(a, ns, "The optimizer", out);
}

/* Advice about time of the host: loading, copying, waiting, launching. */

/* A wait that is gone may save more than it holds: what is behind it, too. */
static void take_more(const struct pf_advise *a, const char *question,
		      struct pf_advice *out)
{
	const struct pf_path_answer *w =
		advise_answer(a->tiles->path, question);

	if (!w || !out->on_path_ns || w->saved_ns <= out->at_most_ns)
		return;
	out->asked = question;
	out->at_most_ns = w->saved_ns;
	out->likely_ns = PF_NO_INT; /* of less than that */
	out->measured = pf_num_share(out->at_most_ns, a->window_ns);
	out->confidence = "model";
}

/* JAX waits in its own functions, "$array.py:615 _value", wherever it computes. */
static bool is_jax_read(const struct advise_row *r)
{
	return (unsigned)r->category == PF_CAUSE_PYTHON && *r->name == '$' &&
	       pf_word(PF_WORD_JAX_READS, r->name);
}

static int64_t jax_reads_ns(const struct pf_advise *a)
{
	int64_t ns = 0;

	for (size_t i = 0; i < a->tiles->row_count; i++)
		if (is_jax_read(&a->tiles->rows[i]))
			ns += a->tiles->rows[i].ns;
	return ns;
}

/*
 * Time of the host in pieces that are longer than launching: in one place, or
 * all of it where there is nothing to launch.  What waits, loads, logs,
 * compiles, cleans up or updates parameters has advice of its own.
 */
/* Without a GPU: what hands it over to who communicates. */
static bool is_comm_call(const struct advise_row *r)
{
	return r->flags & ADVISE_ALONE &&
	       (unsigned)r->category == PF_CAUSE_OP &&
	       pf_word(PF_WORD_COMM_OP, r->op);
}

static bool owns_code(const struct advise_row *r)
{
	if (is_jax_read(r) || is_comm_call(r))
		return false;
	switch ((unsigned)r->category) {
	case PF_CAUSE_OP:
	case PF_CAUSE_PYTHON:
	case PF_CAUSE_ANNOTATION:
		return !(r->flags &
			 (ADVISE_DATA | ADVISE_STEP | 1u << ADVISE_MARK_LOG |
			  1u << ADVISE_MARK_OPTIMIZER)) &&
		       (r->flags & (ADVISE_LONG | ADVISE_APART) ||
			r->ns / r->count >= ADVISE_CODE_NS);
	default:
		return false;
	}
}

/* Time of the host that launches work, or could. */
static bool owns_launching(const struct advise_row *r)
{
	if (is_jax_read(r))
		return false;
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

/* What pieces of the path that bear a flag hold, if they have such a name. */
static int64_t named_ns(const struct pf_advise *a, unsigned flag,
			enum pf_word word)
{
	const struct advise_tiles *t = a->tiles;
	int64_t ns = 0;

	for (size_t i = 0; i < t->row_count; i++)
		if ((!flag || t->rows[i].flags & flag) &&
		    pf_word(word, t->rows[i].name))
			ns += t->rows[i].ns;
	return ns;
}

static bool has_name(const struct pf_advise *a, unsigned flag,
		     enum pf_word word)
{
	return named_ns(a, flag, word) > 0;
}

#define REGION "Torch-Compiled Region: " /* then FRAME/HOW OFTEN COMPILED */

/*
 * How a program is compiled: NULL where it is not.  Graph breaks make several
 * regions of one function.
 */
static const char *compiled_variant(const struct pf_advise *a)
{
	const struct advise_tiles *t = a->tiles;
	struct pf_intern regions = { 0 };
	uint32_t count;

	if (!has_name(a, 0, PF_WORD_COMPILED))
		return NULL;
	for (size_t i = 0; i < t->row_count; i++) {
		const char *at = strstr(t->rows[i].name, REGION);

		if (at)
			pf_intern_add(&regions, at, strcspn(at, "/"));
	}
	count = regions.count;
	pf_intern_release(&regions);
	return count > 1                            ? "graph breaks"
	       : has_name(a, 0, PF_WORD_CALL_GRAPH) ? "compiled graphs"
						    : "compiled";
}

/* What is copied may be what graphs take in and give back. */
static const char *copying_variant(const struct pf_advise *a,
				   const struct pf_advice *out)
{
	const char *how = compiled_variant(a);

	(void)out;
	return how ? how : "";
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

int64_t advise_idle_of(const struct pf_gaps *g, unsigned causes)
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
	return advise_idle_of(g, CAUSE(DATA));
}

/*
 * Workers do not make loading vanish, and need processors: how many are free
 * no trace says, so nothing is saved for sure.
 */
static void judge_data(const struct pf_advise *a, struct pf_advice *out)
{
	out->likely_ns = PF_NO_INT;
	if (!a->has_work && has_name(a, ADVISE_DATA, PF_WORD_LOADER_WORKERS))
		pf_buf_adds(advise_next(out),
			    "Workers take processors that the step computes "
			    "on: without them it may be faster, too");
}

#define STARTS 0.1 /* of what loading holds: processes are started anew */

/* With functions also what it does: start workers, or wait for them, or neither. */
static const char *data_variant(const struct pf_advise *a,
				const struct pf_advice *out)
{
	if (has_name(a, ADVISE_DATA, PF_WORD_LOADER_ALONE))
		return a->has_work ? "no workers" : "no workers, no GPU";
	if (!has_name(a, ADVISE_DATA, PF_WORD_LOADER_WORKERS))
		return "";
	if (!a->tiles->has_functions)
		return "workers";
	if (pf_num_share(named_ns(a, ADVISE_DATA, PF_WORD_LOADER_STARTS),
			 out->on_path_ns) >= STARTS)
		return "new workers";
	return named_ns(a, ADVISE_DATA, PF_WORD_WAITING) > out->on_path_ns / 2
		       ? "workers"
		       : "batches";
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
		return strstr(r->name, "Pageable") ||
		       advise_may_be_pageable(r->name);
	if (r->category == PF_PATH_RETURN)
		return r->flags & ADVISE_AWAITED;
	/* what the call takes before the copy begins goes with the copy */
	return ((unsigned)r->category == PF_CAUSE_COPY ||
		(r->category == PF_PATH_LAUNCH_CALL &&
		 pf_word(PF_WORD_CALL_COPIES, r->name))) &&
	       !pf_word(PF_WORD_OP_READS, r->op);
}

static bool is_mostly_paged(const struct pf_advise *a,
			    const struct pf_advice *out)
{
	int64_t ns = 0;

	for (size_t i = 0; i < a->tiles->row_count; i++)
		if (advise_is_paged(&a->tiles->rows[i]))
			ns += a->tiles->rows[i].ns;
	return ns > out->on_path_ns / 2;
}

static const char *copy_variant(const struct pf_advise *a,
				const struct pf_advice *out)
{
	return a->has_path && is_mostly_paged(a, out) ? "paged" : "";
}

/* The calls' own time may as well be of copies to the host. */
static void judge_pageable(const struct pf_advise *a, struct pf_advice *out)
{
	const struct advise_tiles *t = a->tiles;

	if (!a->has_path)
		return;
	if (is_mostly_paged(a, out)) {
		out->subject = "Paging managed memory back holds";
		out->confidence = "hint";
		return;
	}
	take_more(a, NO_PAGEABLE, out);
	for (size_t i = 0; i < t->row_count; i++) {
		const struct advise_row *row = &t->rows[i];

		if (!is_copy_to_gpu(row) || !owns_pageable(row))
			continue;
		if (advise_may_be_pageable(row->name)) {
			out->subject = "Copying from memory that may be "
				       "pageable holds";
			out->confidence = "hint";
		}
		return;
	}
	advise_fine(out, "no copy from pageable memory to the GPU is on the "
			 "critical path");
}

/* ---- A25 ---- */

/* From and to the host; those that the host waits for are of others. */
static bool owns_transfer(const struct advise_row *r)
{
	return (r->category == PF_PATH_COPY || r->category == PF_PATH_GAP ||
		r->category == PF_PATH_LAUNCH_DELAY) &&
	       (pf_word(PF_WORD_HTOD, r->name) ||
		pf_word(PF_WORD_DTOH, r->name)) &&
	       !owns_pageable(r) && !(r->flags & ADVISE_READS);
}

static const char *transfer_variant(const struct pf_advise *a,
				    const struct pf_advice *out)
{
	(void)a;
	return out->place_count && out->places->name &&
			       pf_word(PF_WORD_DTOH, out->places->name)
		       ? "results"
		       : "";
}

/* ---- A3 ---- */

/* Who tries algorithms waits for each, the first time. */
static bool is_trial(const struct advise_row *r)
{
	return !(r->flags & ADVISE_LATE) &&
	       (r->category == PF_PATH_RETURN ||
		(unsigned)r->category == PF_CAUSE_SYNC) &&
	       pf_word(PF_WORD_OP_TRIES, r->op);
}

static bool is_wait(const struct advise_row *r)
{
	if (is_trial(r))
		return false;
	/* that of a copy to the GPU is a copy's, but for a call of its own */
	if (r->category == PF_PATH_RETURN)
		return !(r->flags & ADVISE_AWAITED) ||
		       !pf_word(PF_WORD_CALL_COPIES, r->name);
	return (unsigned)r->category == PF_CAUSE_SYNC ||
	       ((unsigned)r->category == PF_CAUSE_COPY &&
		pf_word(PF_WORD_OP_READS, r->op));
}

/* The time of what reads a result back, and of its copy. */
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
		return pf_word(PF_WORD_OP_READS, r->op);
	case PF_CAUSE_PYTHON:
		return pf_word(PF_WORD_ITEM, r->name);
	default:
		return false;
	}
}

/*
 * Of a tensor of the host nothing is waited for: reads are where waits are.
 * What torch's function does around a wait goes with it.
 */
static void find_reads(struct pf_advise *a)
{
	struct advise_tiles *t = a->tiles;
	struct pf_intern lines = { 0 };
	uint32_t waits;

	for (size_t i = 0; i < t->row_count; i++) {
		const struct advise_row *r = &t->rows[i];

		if (is_wait(r) && pf_word(PF_WORD_OP_READS, r->op))
			pf_intern_add(&lines, r->frame, strlen(r->frame));
	}
	waits = lines.count;
	for (size_t i = 0; i < t->row_count; i++) {
		struct advise_row *r = &t->rows[i];

		if (advise_is_host(r) && r->flags & 1u << ADVISE_MARK_WAIT &&
		    !is_wait(r))
			r->flags |= ADVISE_READS;
		if (is_reading(r) &&
		    pf_intern_add(&lines, r->frame, strlen(r->frame)) < waits)
			r->flags |= ADVISE_READS;
	}
	pf_intern_release(&lines);
}

/*
 * An operator that does nothing but read goes with its wait, where a line says
 * that it is the same.
 */
static bool owns_wait(const struct advise_row *r)
{
	return is_wait(r) || is_jax_read(r) ||
	       (r->flags & ADVISE_READS && *r->frame &&
		(!*r->op || pf_word(PF_WORD_OP_ITEM, r->op)));
}

/* In functions, not calls: who reads may wait as well elsewhere. */
static bool judge_reads(const struct pf_advise *a, struct pf_advice *out)
{
	int64_t ns = jax_reads_ns(a);

	if (ns <= out->at_most_ns)
		return false;
	out->at_most_ns = ns;
	if (out->on_path_ns < ns)
		out->on_path_ns = ns;
	out->likely_ns = PF_NO_INT;
	out->measured = pf_num_share(ns, a->window_ns);
	out->subject = "waiting for results";
	out->confidence = "hint";
	return true;
}

static void judge_waits(const struct pf_advise *a, struct pf_advice *out)
{
	const struct advise_tiles *t = a->tiles;
	int64_t ends = 0, others = 0, trials = 0, reads = 0;
	int64_t copies = 0, rest = 0; /* waits before copies to the GPU */
	bool has_op = false;

	if (!a->has_path)
		return;
	if (!a->has_work) {
		out->at_most_ns = 0;
		if (!judge_reads(a, out))
			advise_not_judged(out, "there is no GPU work in this "
					       "trace");
		return;
	}
	for (size_t i = 0; i < t->row_count; i++) {
		const struct advise_row *r = &t->rows[i];

		trials += is_trial(r) ? r->count : 0;
		if (!is_wait(r))
			continue;
		has_op |= *r->op != 0;
		*(*r->op || !(r->flags & ADVISE_ENDS) ? &others : &ends) +=
			r->count;
	}
	if (trials > ends + others) {
		advise_fine(out, "convolutions that try algorithms wait, which "
				 "a warm-up leaves out");
		return;
	}
	/* without the wait there is nothing to read */
	for (size_t i = 0; i < t->row_count; i++) {
		const struct advise_row *r = &t->rows[i];

		if (r->flags & ADVISE_READS)
			reads += r->ns;
		if (is_wait(r))
			*(r->flags & ADVISE_AWAITED ? &copies : &rest) +=
				r->blocked_ns;
	}
	out->at_most_ns += reads;
	/* with what is read the wait itself goes, too */
	if (reads && out->at_most_ns < out->on_path_ns)
		out->at_most_ns = out->on_path_ns;
	if (out->at_most_ns > a->window_ns)
		out->at_most_ns = a->window_ns;
	out->measured = pf_num_share(out->at_most_ns, a->window_ns);
	take_more(a, NO_READING, out);
	take_more(a, NO_RESULTS, out);
	if (judge_reads(a, out))
		return;
	if (out->asked && copies <= rest)
		out->subject = "reading results from the GPU";
	/* who reads results later still waits at the end of a step */
	if (ends && others)
		out->likely_ns = PF_NO_INT;
	/* a wait that nothing asked for but the script: for timing, or saving */
	out->is_last = !has_op && (!t->steps.count || others < ends);
}

/* Is most of what it holds around torch's function that waits for a device? */
static bool is_mostly_asked(const struct pf_advise *a,
			    const struct pf_advice *out)
{
	return advise_held(a, out->bit, 1u << ADVISE_MARK_WAIT) >
	       out->on_path_ns / 2;
}

/* By what waits in most of the time. */
static const char *wait_variant(const struct pf_advise *a,
				const struct pf_advice *out)
{
	const struct advise_tiles *t = a->tiles;
	const struct advise_row *most = NULL;
	int64_t longest = 0;

	if (!a->has_path)
		return "anywhere";
	for (size_t i = 0; i < t->row_count; i++) {
		const struct advise_row *r = &t->rows[i];
		int64_t ns = out->by_waits ? r->blocked_ns : *r->op != 0;

		/* rows are by what they hold: of those alike the first is most */
		if (!is_wait(r) || (ns <= longest && (most || !out->by_waits)))
			continue;
		most = r;
		longest = ns;
	}
	if (!most || (!out->by_waits && is_mostly_asked(a, out)))
		return "explicit";
	if (most->flags & ADVISE_AWAITED)
		return "pageable";
	if (pf_word(PF_WORD_CALL_LAUNCH, most->name))
		return pf_word(PF_WORD_VENDOR, most->name) ? "launches"
							   : "other launches";
	if (pf_word(PF_WORD_OP_READS, most->op))
		return "item";
	if (most->flags & ADVISE_COMM || pf_word(PF_WORD_COMM_OP, most->op))
		return "collective";
	if (!*most->op)
		return "explicit";
	return pf_word(PF_WORD_CALL_COPY, most->name) ||
			       pf_word(PF_WORD_CALL_COPIES, most->name)
		       ? "copy"
		       : "";
}

/* ---- A4 ---- */

#define SHORT_SHARE 0.5 /* of kernels: worth a word */
#define GRAPH_SHARE 0.5 /* of GPU time under graph launches */

static int64_t launch_apart(const struct pf_advise_from *from,
			    int64_t *whole_ns)
{
	(void)whole_ns;
	return from->gaps->launching_ns;
}

/* The host's own time that is not launching. */
static int64_t code_apart(const struct pf_advise_from *from, int64_t *whole_ns)
{
	int64_t ns = advise_idle_of(from->gaps, HOST_CAUSES) -
		     launch_apart(from, whole_ns);

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

/* Does most of the host's time go to the capture of graphs? */
static bool captures_graphs(const struct pf_advise *a)
{
	int64_t code = 0, captured = 0;

	for (size_t i = 0; i < a->tiles->row_count; i++) {
		const struct advise_row *r = &a->tiles->rows[i];

		if (!is_code(r))
			continue;
		code += r->ns;
		captured += r->flags & ADVISE_CAPTURE ? r->ns : 0;
	}
	return captured > code / 2;
}

static void judge_launching(const struct pf_advise *a, struct pf_advice *out)
{
	const struct pf_launches *l = a->from->launches;
	char brief[PF_NUM_MAX], count[PF_NUM_MAX];
	struct pf_buf *to;

	/* the question is also about calls and code of other advice */
	for (size_t i = 0; i < a->tiles->row_count; i++)
		if (is_code(&a->tiles->rows[i]) &&
		    !owns_launching(&a->tiles->rows[i]))
			out->likely_ns = PF_NO_INT;
	if (!l || !l->all.count) {
		advise_not_judged(out, "the trace has no calls that launched "
				       "its kernels");
		return;
	}
	if (captures_graphs(a)) {
		advise_fine(out, "most of the host's time goes to the capture "
				 "of graphs");
		return;
	}
	if (graph_share(l) >= GRAPH_SHARE) {
		advise_fine(out, "most of the GPU work is launched by graphs "
				 "already");
		return;
	}
	if (pf_num_share(l->short_kernel_count, l->kernel_count) < SHORT_SHARE)
		return;
	pf_num_show_count(brief, l->short_kernel_count);
	pf_num_show_count(count, l->kernel_count);
	to = advise_next(out);
	if (l->kernel_count == 1)
		pf_buf_adds(to, "The only kernel");
	else if (l->short_kernel_count == l->kernel_count)
		pf_buf_addf(to, "All %s kernels", count);
	else
		pf_buf_addf(to, "%s of the %s kernels", brief, count);
	pf_buf_addf(to, " take%s less than 10 us",
		    l->short_kernel_count == 1 ? "s" : "");
}

/* ---- A21 ---- */

/*
 * Without GPU work it is no code beside it, but what is computed.  An optimizer
 * that holds less than the rest is code like all other then: what does the work
 * of more samples at once saves of it, too.
 */
static void judge_code(const struct pf_advise *a, struct pf_advice *out)
{
	const struct advise_tiles *t = a->tiles;
	int64_t ns = 0;

	if (a->has_work)
		return;
	out->subject = "Operators, ranges and Python on the CPU hold";
	out->is_rest = true;
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

#define EAGER 0.25 /* of what advice holds: operators that run one by one */

/* Without GPU work, by what most of it is: of ranges, in one of them. */
static const char *host_variant(const struct pf_advise *a,
				const struct pf_advice *out)
{
	const char *how = compiled_variant(a);
	int64_t python_ns = 0, waits_ns = 0, range_ns = 0;
	bool is_wait;
	/* what the sentence names last */
	const struct pf_advice_place *named =
		out->largest.name ? &out->largest : out->places;

	for (size_t i = 0; i < a->tiles->row_count; i++) {
		const struct advise_row *r = &a->tiles->rows[i];
		unsigned category = (unsigned)r->category;

		if (!(r->advice & out->bit))
			continue;
		if (category == PF_CAUSE_ANNOTATION)
			range_ns = r->ns > range_ns ? r->ns : range_ns;
		else if (category == PF_CAUSE_PYTHON)
			*(pf_word(PF_WORD_WAITING, r->name) ? &waits_ns
							    : &python_ns) +=
				r->ns;
	}
	if (pf_num_share(advise_held(a, out->bit, 1u << ADVISE_MARK_EAGER),
			 out->on_path_ns) >= EAGER)
		return "one by one";
	is_wait = out->place_count &&
		  !strcmp(named->what,
			  pf_path_category_name(
				  (enum pf_path_category)PF_CAUSE_PYTHON)) &&
		  pf_word(PF_WORD_WAITING, named->name);
	return waits_ns > out->on_path_ns / 2 || is_wait ? "waits"
	       : python_ns > out->on_path_ns / 2         ? "Python"
	       : range_ns > out->on_path_ns / 2          ? "range"
	       : how                                     ? "compiled"
							 : "no GPU";
}

#define TRACED 0.25 /* of what advice holds */

static bool is_of(const struct pf_advice_place *p, enum pf_cause cause)
{
	return !strcmp(p->what,
		       pf_path_category_name((enum pf_path_category)cause));
}

/*
 * Is a call that is most of it one of a kind?  An operator with nothing in it,
 * else it had several pieces; a function of a runtime that names them as
 * ranges; and one of Python where other steps do not call it.
 */
static bool is_once(const struct pf_advise *a, const struct pf_advice *out)
{
	const struct pf_advice_place *most = out->places;

	if (!out->place_count || most->count != 1 || !most->name ||
	    most->ns < out->on_path_ns / 2)
		return false;
	return is_of(most, PF_CAUSE_OP) ||
	       (is_of(most, PF_CAUSE_ANNOTATION) &&
		strstr(most->name, "::") != NULL) ||
	       (is_of(most, PF_CAUSE_PYTHON) && a->tiles->has_late &&
		!pf_word(PF_WORD_WAITING, most->name));
}

static const char *code_variant(const struct pf_advise *a,
				const struct pf_advice *out)
{
	if (pf_num_share(advise_held(a, out->bit, 1u << ADVISE_MARK_TRACED),
			 out->on_path_ns) >= TRACED)
		return "traced";
	if (a->has_work)
		return is_once(a, out) ? "once" : "";
	return host_variant(a, out);
}

/* ---- A22: a first use loads code, or starts the driver ---- */

static bool owns_start(const struct advise_row *r)
{
	return !(r->flags & ADVISE_DATA) &&
	       (is_trial(r) || (unsigned)r->category == PF_CAUSE_MODULE);
}

/* A use that is none takes a twentieth of that, or less. */
#define USUAL 20

static void say_least(const struct pf_advise *a, struct pf_advice *out)
{
	const struct pf_path_answer *w =
		advise_answer(a->tiles->path, NO_FIRSTS);
	const int64_t usual_ns = out->on_path_ns / USUAL;

	pf_buf_adds(advise_next(out), "A warm-up leaves that out");
	out->likely_ns = PF_NO_INT;
	if (w && w->least_ns > usual_ns) {
		out->likely_ns = w->least_ns - usual_ns;
		pf_buf_addf(&out->detail, ", which saves at least %s (%s)",
			    PF_SHOW_NS(out->likely_ns),
			    PF_SHOW_SHARE(out->likely_ns, a->window_ns));
	}
	pf_buf_adds(&out->detail, ", and what else a first pass takes: how "
				  "much, only warm steps would say");
}

/* The path tells first uses by the same words: trials are said beside them. */
static void say_trials(const struct pf_advise *a, struct pf_advice *out)
{
	int64_t ns = 0;

	for (size_t i = 0; i < a->tiles->row_count; i++)
		if (a->tiles->rows[i].advice & out->bit &&
		    is_trial(&a->tiles->rows[i]))
			ns += a->tiles->rows[i].ns;
	if (ns)
		out->subject = ns < out->on_path_ns
				       ? "First uses and trials of algorithms "
					 "hold"
				       : "Trials of algorithms hold";
	else if (!a->has_work)
		out->subject = "First uses of operators hold";
}

/* What a later step does first, as a new shape or validation. */
static int64_t late_starts(const struct pf_advise *a, int64_t first_ns,
			   struct pf_advice *out)
{
	const int64_t ns = advise_held(a, out->bit, ADVISE_LATE);

	if (ns > first_ns)
		pf_buf_adds(advise_next(out),
			    "Most of it is behind the first step, in what a "
			    "later one does first, as with a new shape or to "
			    "validate: a warm-up has to do that, too");
	return ns;
}

static void say_first_steps(const struct pf_step_times *s, size_t count,
			    struct pf_buf *out)
{
	char takes[PF_NUM_MAX], median[PF_NUM_MAX];
	int64_t ns = 0;

	for (size_t i = 0; i < count; i++)
		pf_sat_sum(&ns, pf_step_own_ns(&s->steps[i]));
	pf_num_show_ns(takes, ns / (int64_t)count);
	pf_num_show_ns(median, s->dur.p50_ns);
	if (count > 1)
		pf_buf_addf(out, "The first %zu steps take %s in the mean",
			    count, takes);
	else
		pf_buf_addf(out, "The first step takes %s", takes);
	pf_buf_addf(out, ", %.1f times the median of %s",
		    (double)ns / (double)count / (double)s->dur.p50_ns, median);
}

/*
 * A warm-up leaves out all that the first step takes beyond a steady one, not
 * only what first uses hold, and those of later steps; without steps nothing
 * says what that is.
 */
static void judge_start(const struct pf_advise *a, struct pf_advice *out)
{
	const struct pf_step_times *s = a->from->steps;
	struct pf_steps_warm_up w = pf_step_times_warm_up(s);

	/* a graph is made once, however warm the program is */
	if (!w.most && a->has_path && captures_graphs(a)) {
		advise_fine(out, "most of the host's time goes to the capture "
				 "of graphs, which is done once");
		return;
	}
	if (a->has_path)
		say_trials(a, out);
	if (w.most) {
		say_first_steps(s, w.most, &out->sentence);
		pf_buf_addf(advise_next(out),
			    "All figures include it: --skip-first %zu "
			    "leaves warm-up out",
			    w.most);
		if (out->measured < PF_ADVISE_SHOWN)
			out->shown_by = "steps";
	}
	if (out->measured < PF_ADVISE_SHOWN && !w.most)
		return;
	if (!w.most && !(a->has_path && a->tiles->has_late)) {
		out->at_most_ns = PF_NO_INT;
		say_least(a, out);
		return;
	}
	if (a->has_path)
		w.excess_ns += late_starts(a, w.excess_ns, out);
	if (w.excess_ns > out->at_most_ns)
		out->at_most_ns =
			w.excess_ns < a->window_ns ? w.excess_ns : a->window_ns;
	out->measured = pf_num_share(out->at_most_ns, a->window_ns);
}

/* The number of a step says that others ran before it. */
static const char *start_variant(const struct pf_advise *a,
				 const struct pf_advice *out)
{
	const struct pf_step_times *s = a->from->steps;

	(void)out;
	return pf_step_times_warm_up(s).most && s->steps[0].step > 0
		       ? "not the first"
		       : "";
}

/*
 * The server, which captures graphs itself, whose lines hold most of what
 * advice holds, by a folder in their paths; or NULL.
 */
static const char *find_server(const struct pf_advise *a,
			       const struct pf_advice *out)
{
	static const char *const servers[] = { "vllm/", "sglang/" };

	for (size_t s = 0; s < sizeof(servers) / sizeof(*servers); s++) {
		int64_t ns = 0;

		for (size_t i = 0; i < a->tiles->row_count; i++)
			if (a->tiles->rows[i].advice & out->bit &&
			    strstr(a->tiles->rows[i].frame, servers[s]))
				ns += a->tiles->rows[i].ns;
		if (ns > out->on_path_ns / 2)
			return servers[s];
	}
	return NULL;
}

static const char *launch_variant(const struct pf_advise *a,
				  const struct pf_advice *out)
{
	const char *how = find_server(a, out);

	if (!how)
		how = compiled_variant(a);
	/* torch has graphs of CUDA and HIP, which other devices have not */
	if (!how && a->tiles->path->recorded.producer >= PF_FROM_TORCH_XPU &&
	    a->tiles->path->recorded.producer <= PF_FROM_TORCH_OTHER)
		how = "no graphs";
	return how ? how : "";
}

/* ---- A5 ---- */

static bool owns_compile(const struct advise_row *r)
{
	return (unsigned)r->category == PF_CAUSE_COMPILE;
}

static void advise_first_alone(const struct pf_advise *a,
			       bool (*owns)(const struct advise_row *r),
			       struct pf_advice *out);

static void judge_compile(const struct pf_advise *a, struct pf_advice *out)
{
	advise_first_alone(a, owns_compile, out);
}

/* ---- A14, A18 ---- */

static bool owns_gc(const struct advise_row *r)
{
	return (unsigned)r->category == PF_CAUSE_GC;
}

/* With the work that it launches to show a tensor, and waits for. */
static bool owns_log(const struct advise_row *r)
{
	return r->flags & (1u << ADVISE_MARK_LOG) && !(r->flags & ADVISE_DATA);
}

static void judge_gc(const struct pf_advise *a, struct pf_advice *out)
{
	if (out->on_path_ns > 0 || !a->has_path)
		return;
	if (!a->tiles->has_functions)
		advise_lacks(a, "the trace has no Python functions",
			     PF_HINT_STACKS, out);
	else
		advise_fine(out, "no recorded collection of garbage is on the "
				 "critical path");
}

/* Collected by the program itself, not when Python thought so? */
static const char *gc_variant(const struct pf_advise *a,
			      const struct pf_advice *out)
{
	int64_t ns = 0;

	for (size_t i = 0; i < a->tiles->row_count; i++)
		if (owns_gc(&a->tiles->rows[i]) &&
		    !strncmp(a->tiles->rows[i].name, "<built-in ", 10))
			ns += a->tiles->rows[i].ns;
	return ns > out->on_path_ns / 2 ? "asked" : "";
}

/* Functions are recorded only with stacks. */
static void judge_log(const struct pf_advise *a, struct pf_advice *out)
{
	const struct advise_tiles *t = a->tiles;

	if (t->marks.calls[ADVISE_MARK_LOG])
		return;
	if (!t->has_functions)
		advise_lacks(a, "the trace has no Python functions",
			     PF_HINT_STACKS, out);
}

/* Advice about the GPU, its memory, the job, and the capture itself. */

/* ---- A6 ---- */

#define TINY_NS 20000 /* a kernel so short is bound by its launch */

static bool owns_single(const struct advise_row *r)
{
	return r->flags & 1u << ADVISE_MARK_DOUBLE ||
	       (r->flags & ADVISE_FP32 && r->count > 0 &&
		r->ns / r->count >= TINY_NS);
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

/*
 * A processor's libraries are twice as fast in single precision, or far more
 * where they have no convolution in double: nothing of it stays for sure.
 */
static void judge_double(const struct pf_advise *a, struct pf_advice *out)
{
	if (!a->has_path) {
		advise_not_judged(out, "there is no GPU work in this trace");
		return;
	}
	if (!a->tiles->has_shapes) {
		advise_lacks(a, "the trace has no types of inputs",
			     PF_HINT_SHAPES, out);
		return;
	}
	if (!out->on_path_ns) {
		advise_fine(out, "no matrix product or convolution in double "
				 "precision is on the critical path");
		return;
	}
	out->subject = "Matrix products and convolutions in double precision "
		       "hold";
	out->unsure_ns = out->at_most_ns / 2;
	pf_buf_adds(advise_next(out),
		    "In single precision they read half as much: how much "
		    "faster they are, only a run says");
}

static void judge_single(const struct pf_advise *a, struct pf_advice *out)
{
	struct pf_gpu_peaks peaks;
	int64_t most_ns;
	double gain;

	if (!a->has_work) {
		judge_double(a, out);
		return;
	}
	if (!a->from->callers || !a->from->callers->product_ns) {
		advise_fine(out, "no kernel is known to be a matrix product "
				 "or a convolution");
		return;
	}
	if (out->at_most_ns <= 0 && !a->from->callers->product_fp32_ns) {
		if (a->from->callers->product_unknown_ns >
		    a->from->callers->product_ns / 2)
			advise_not_judged(out,
					  "the names of kernels do not say in "
					  "which precision products are");
		return;
	}
	gain = find_peaks(a->from->info, &peaks) ? matrix_gain(&peaks) : NAN;
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
	pf_buf_addf(advise_next(out),
		    "%s of the time in products is in fp32; the GPU's "
		    "peak in "
		    "reduced precision is %.1f times as high",
		    PF_SHOW_SHARE(a->from->callers->product_fp32_ns,
				  a->from->callers->product_ns),
		    gain);
	/* so many times as fast, a part stays */
	most_ns = (int64_t)((double)(out->on_path_ns ? out->on_path_ns
						     : out->at_most_ns) *
			    (1 - 1 / gain));
	advise_bound(a, owns_single, ADVISE_LEAST_REDUCED, out);
	if (out->at_most_ns > most_ns) {
		out->at_most_ns = most_ns;
		out->measured = pf_num_share(most_ns, a->window_ns);
	}
}

static const char *single_variant(const struct pf_advise *a,
				  const struct pf_advice *out)
{
	struct pf_gpu_peaks peaks;

	(void)out;
	if (!a->has_work)
		return "double";
	if (!find_peaks(a->from->info, &peaks))
		return "";
	if (!isnan(peaks.rate[PF_PEAK_TF32]))
		return "tf32";
	return isnan(peaks.rate[PF_PEAK_BF16]) ? "fp16" : "bf16";
}

/* ---- A11 ---- */

#define ROOM        0.6 /* of the memory: below, there is room */
#define SMALL_SHARE 0.5 /* of kernel time, in grids that leave SMs without */

static bool is_small(const struct pf_kernel_row *r)
{
	return r->blocks_per_sm >= 0 && r->blocks_per_sm < 1 &&
	       r->kind.class != PF_CLASS_COMM;
}

/* Of kernels with a known grid: time in those with less blocks than SMs. */
static double small_share(const struct pf_kernels *k)
{
	int64_t few = 0, known = 0;

	for (int64_t i = 0; i < k->row_count; i++) {
		if (!(k->rows[i].blocks_per_sm >= 0))
			continue;
		pf_sat_sum(&known, k->rows[i].ns.of.sum);
		if (is_small(&k->rows[i]))
			pf_sat_sum(&few, k->rows[i].ns.of.sum);
	}
	if (known < k->total_ns - known)
		return NAN;
	return pf_num_share(few, known);
}

static uint32_t kernel_of_op(struct pf_intern *all, struct pf_buf *key,
			     const char *name, const char *op)
{
	pf_buf_clear(key);
	pf_buf_add(key, name, strlen(name) + 1);
	pf_buf_adds(key, op);
	return pf_intern_add(all, key->data, key->len);
}

/*
 * Flags the kernels that leave multiprocessors without a block.  What others
 * could take of the GPU beside them is what their warps do not.
 */
static void find_small(struct pf_advise *a)
{
	const struct pf_kernels *k = a->from->callers;
	struct pf_intern small = { 0 };
	struct pf_buf key = { 0 };
	double *taken;
	uint32_t n;

	if (!k)
		return;
	taken = pf_calloc((size_t)k->row_count + 1, sizeof(*taken));
	for (int64_t i = 0; i < k->row_count; i++) {
		const struct pf_kernel_row *r = &k->rows[i];

		if (!is_small(r) || !r->first)
			continue;
		n = kernel_of_op(&small, &key, r->first,
				 r->second ? r->second : "");
		/* percents are rounded */
		taken[n] = r->occupancy_percent > 0.5
				   ? (r->occupancy_percent - 0.5) / 100
				   : 0;
	}
	n = small.count;
	for (size_t i = 0; i < a->tiles->row_count; i++) {
		struct advise_row *r = &a->tiles->rows[i];
		uint32_t at;

		if (r->category != PF_PATH_KERNEL)
			continue;
		at = kernel_of_op(&small, &key, r->name, r->op);
		if (at >= n)
			continue;
		r->flags |= ADVISE_SMALL;
		r->free_ns = r->ns - (int64_t)(taken[at] * (double)r->ns);
	}
	pf_buf_release(&key);
	pf_intern_release(&small);
	free(taken);
}

static bool owns_small(const struct advise_row *r)
{
	return r->flags & ADVISE_SMALL;
}

static bool has_room(const struct pf_advise *a)
{
	const struct pf_usage_device *d = pf_usage_fullest(a->from->memory);

	return d && d->capacity_share < ROOM;
}

/*
 * Kernels that need each other do not run side by side, and what needs what is
 * not recorded.  Where launching decides, nothing bounds what more work for
 * each launch brings.
 */
static void judge_small(const struct pf_advise *a, struct pf_advice *out)
{
	const struct pf_usage_device *d = pf_usage_fullest(a->from->memory);
	double small;

	if (!a->from->callers || !a->from->callers->total_ns) {
		advise_not_judged(out, "there are no kernels in this trace");
		return;
	}
	small = small_share(a->from->callers);
	if (isnan(small)) {
		advise_not_judged(out, "how many blocks most kernels have for "
				       "each multiprocessor is not recorded");
		return;
	}
	out->at_most_ns = 0;
	for (size_t i = 0; i < a->tiles->row_count; i++)
		if (owns_small(&a->tiles->rows[i]))
			out->at_most_ns += a->tiles->rows[i].free_ns;
	out->measured = pf_num_share(out->at_most_ns, a->window_ns);
	out->unsure_ns = out->at_most_ns / 2;
	if (small < SMALL_SHARE) {
		out->measured = small;
		advise_fine(out, "most of the time in kernels is in those that "
				 "have a block for every multiprocessor");
	} else if (out->measured >= PF_ADVISE_SHOWN) {
		pf_buf_adds(advise_next(out),
			    "Which of them need each other, and cannot run "
			    "side by side, is not recorded");
	} else if (has_room(a)) {
		out->at_most_ns = PF_NO_INT;
		out->measured = small;
		out->unsure_ns = 0;
		pf_buf_addf(&out->sentence,
			    "%s of the time in kernels is in those with fewer "
			    "blocks than the GPU has multiprocessors, and the ",
			    PF_SHOW_RATIO(small));
		say_peak(d, &out->sentence);
	}
}

static const char *small_variant(const struct pf_advise *a,
				 const struct pf_advice *out)
{
	(void)out;
	return has_room(a) ? "room" : "";
}

/* ---- A12 ---- */

static void memory_is_unknown(const struct pf_advise *a, struct pf_advice *out)
{
	const struct pf_usage *u = a->from->memory;

	if (u && u->device_count)
		advise_not_judged(out, "how much memory is allocated in all, "
				       "or how much there is, is not recorded");
	else
		advise_lacks(a, "how much memory is used is not known",
			     PF_HINT_MEMORY, out);
}

#define UNUSED   0.15 /* of the memory: reserved, and not allocated */
#define WORTH_IT 0.01 /* of the window, in the allocator */

static bool owns_allocator(const struct advise_row *r)
{
	return (unsigned)r->category == PF_CAUSE_ALLOCATOR;
}

/* Without an allocator of its own a program asks the driver all the time. */
#define DRIVER_CALLS 100 /* on the path of a capture */
#define STEP_CALLS   20  /* and of a step */

static int64_t driver_calls(const struct pf_advise *a, unsigned flags)
{
	const struct advise_tiles *t = a->tiles;
	int64_t count = 0;

	for (size_t i = 0; i < t->row_count; i++)
		if (owns_allocator(&t->rows[i]) &&
		    (t->rows[i].flags & flags) == flags)
			count += t->rows[i].count;
	return count / (a->step_count ? a->step_count : 1);
}

/* Who has a pool asks while it grows, and then no more. */
static bool has_no_pool(const struct pf_advise *a)
{
	int64_t least = a->step_count ? STEP_CALLS : DRIVER_CALLS;
	int64_t end = a->tiles->has_late
			      ? driver_calls(a, ADVISE_LATE)
			      : driver_calls(a, ADVISE_TAIL) * ADVISE_TAIL_PART;

	return driver_calls(a, 0) >= least && end >= least / 2;
}

static const char *memory_trouble(const struct pf_usage *u)
{
	const struct pf_usage_device *d = pf_usage_fullest(u);

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

static const char *memory_variant(const struct pf_advise *a,
				  const struct pf_advice *out)
{
	(void)out;
	if (has_no_pool(a))
		return "driver";
	return a->tiles->has_late || memory_trouble(a->from->memory) ? ""
								     : "once";
}

#define HELD 0.95 /* of the peak: nothing of the capture made it */

static bool is_from_before(const struct pf_usage *u)
{
	const struct pf_usage_device *d = pf_usage_fullest(u);

	return d && !u->oom_count && pf_num_share(d->before, d->peak) >= HELD;
}

static void judge_memory(const struct pf_advise *a, struct pf_advice *out)
{
	const char *trouble = memory_trouble(a->from->memory);
	bool is_slow = out->measured >= WORTH_IT;

	/* the memory itself need not be recorded for that */
	if (is_slow && !trouble && a->has_path)
		out->shown_by = "path";
	if (is_slow && has_no_pool(a)) {
		pf_buf_addf(advise_next(out),
			    "On the path the driver is asked %s times%s, as "
			    "without a "
			    "pool of its own",
			    PF_SHOW_COUNT(driver_calls(a, 0)),
			    a->step_count ? " a step" : "");
		return;
	}
	/* as a server's cache, which takes what it was told to */
	if (trouble && !is_slow && is_from_before(a->from->memory)) {
		advise_not_judged(out, "what holds the memory dates from "
				       "before the capture");
		return;
	}
	if (trouble) {
		pf_buf_adds(advise_next(out), trouble);
		return;
	}
	if (is_slow) {
		advise_first_alone(a, owns_allocator, out);
		return;
	}
	if (!pf_usage_fullest(a->from->memory)) {
		memory_is_unknown(a, out);
		return;
	}
	advise_fine(out, "memory has room, and the allocator takes next to "
			 "nothing of the critical path");
}

/* ---- A13 ---- */

#define SMALL_MESSAGE (1 << 20) /* bytes */
#define KNOWN_PART    10        /* of it GPU work may have no call */

/* On the GPU, or where the host waits for it. */
static bool owns_comm(const struct advise_row *r)
{
	return r->category == PF_PATH_COMM ||
	       (unsigned)r->category == PF_CAUSE_COMM || is_comm_call(r);
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
 * over a slow link, ranks wait for each other; where those that are compared
 * come at once, for ranks in no trace, or for nobody.
 */
static void say_waiting(const struct pf_overlap *o, struct pf_advice *out)
{
	const struct pf_ranks *ranks = &o->arrivals.of;
	struct pf_buf *text;
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
	if (ns < MANY * (double)o->all.comm_ns || ns < WAITING * due)
		return;
	text = advise_next(out);
	pf_buf_addf(text, "At %.1f GB/s of bus bandwidth ", bytes / ns);
	if (ranks->rank_count < 2 || !(ranks->slowdown < PF_RANKS_EVEN))
		pf_buf_adds(text, "most of it seems to be waiting for other "
				  "ranks, not transfer");
	else if (ranks->world > (int64_t)ranks->rank_count)
		pf_buf_addf(text,
			    "most of it seems to be waiting for ranks in no "
			    "trace: the %zu that are traced are even",
			    ranks->rank_count);
	else
		pf_buf_adds(text,
			    "the transfer itself is slow: ranks are even");
}

/*
 * Without a path: a host that waits for no GPU is done no sooner, whatever a
 * GPU does sooner, so steps save no more than it waits, or is held by a full
 * queue.  PF_NO_INT: it is not known.
 */
static int64_t host_waits_ns(const struct pf_advise_from *from)
{
	const struct pf_syncs *s = from->syncs;
	const struct pf_launches *l = from->launches;
	const size_t traces = from->gaps->window.count;

	if (!s || !s->has_calls || !s->step_count || !l ||
	    l->orphan_count > l->all.count / KNOWN_PART ||
	    from->overlap->device_count != traces)
		return PF_NO_INT;
	/* calls that wait may launch, too, and are long */
	return pf_sat_add(s->blocked_ns,
			  pf_sat_sub(l->all.slow_ns, l->all.slow_wait_ns));
}

/* False: what is exposed costs next to nothing. */
static bool bound_exposed(const struct pf_advise *a, struct pf_advice *out)
{
	int64_t most_ns = host_waits_ns(a->from);
	char share[PF_NUM_MAX];
	struct pf_buf why = { 0 };

	if (most_ns == PF_NO_INT || most_ns >= out->on_path_ns ||
	    out->measured < out->threshold)
		return true;
	out->at_most_ns = most_ns;
	out->confidence = "model";
	out->cap = "as the host waits for GPUs no longer";
	pf_num_show_ratio(share, out->measured);
	out->measured = pf_num_share(most_ns, out->whole_ns);
	if (out->measured >= out->threshold)
		return true;
	pf_buf_addf(&why,
		    "%s of the time it is exposed, and yet the host waits for "
		    "GPUs only %s in all: hiding it saves no more",
		    share, PF_SHOW_NS(most_ns));
	advise_fine(out, why.data);
	pf_buf_release(&why);
	return false;
}

/* Steps of one trace, in order. */
struct trace_steps {
	const struct pf_step_time *steps;
	size_t count;
	int64_t comm_ns;  /* in the classes of its steps */
	int64_t alone_ns; /* as it is judged alone */
};

static size_t find_traces(const struct pf_step_times *s,
			  struct trace_steps *out)
{
	size_t count = 0;

	for (size_t i = 0; i < s->count; i++) {
		if (!i || s->steps[i].trace_id != s->steps[i - 1].trace_id)
			out[count++] =
				(struct trace_steps){ .steps = &s->steps[i] };
		out[count - 1].count++;
		pf_sat_sum(&out[count - 1].comm_ns,
			   s->steps[i].class_ns[PF_STEP_COMM]);
	}
	return count;
}

/*
 * Does it wait for less than half of what the others do in the mean, and not
 * because of one step alone?
 */
static bool is_late(const struct trace_steps *late, const struct trace_steps *t,
		    size_t count)
{
	double own = 0, others = 0, own_most = 0, others_most = 0;

	for (size_t k = 0; k < late->count; k++) {
		const double ns = (double)late->steps[k].class_ns[PF_STEP_COMM];
		double all = -ns;

		for (size_t i = 0; i < count; i++)
			all += (double)t[i].steps[k].class_ns[PF_STEP_COMM];
		all /= (double)(count - 1);
		own += ns;
		others += all;
		if (late->count > 1 && all - ns > others_most - own_most) {
			own_most = ns;
			others_most = all;
		}
	}
	return own < others / 2 && own - own_most < (others - others_most) / 2;
}

/*
 * Of several traces without GPU work: the one that communicates least, where
 * the others seem to wait for it.  Of traces that lack steps, or that recorded
 * no communication, nobody knows.  The number of traces: none does.
 */
static size_t find_late(const struct pf_advise *a, const char *id)
{
	const struct pf_step_times *s = a->from->steps;
	PF_OWN struct trace_steps *t = pf_calloc(s->count + 1, sizeof(*t));
	const size_t count = find_traces(s, t);
	size_t late = 0;

	if (count != a->alone_count || !pf_window_has_ranks(a->window))
		return a->alone_count;
	for (size_t i = 0; i < count; i++) {
		t[i].alone_ns = advise_alone_ns(advise_of(&a->alone[i], id));
		if (t[i].count != t->count || !t[i].comm_ns)
			return a->alone_count;
		if (t[i].alone_ns < t[late].alone_ns)
			late = i;
	}
	return is_late(&t[late], t, count) ? late : a->alone_count;
}

/* What that rank alone has most of, but for communication. */
static const struct pf_advice *find_instead(const struct pf_advise *a,
					    const char *id)
{
	for (size_t i = 0; i < a->given; i++)
		if (strcmp(a->all[i].id, id) != 0 &&
		    a->all[i].measured >= PF_ADVISE_FIRST)
			return &a->all[i];
	return NULL;
}

/* What is judged of a rank alone; NULL: it is not. */
static const struct pf_advise *alone_of(const struct pf_advise *a, int64_t rank)
{
	for (size_t i = 0; i < a->alone_count; i++)
		if (a->window->traces[i].rank == rank)
			return &a->alone[i];
	return a->late;
}

#define LATE_PART 0.2 /* of the communication of a trace: less is not why */

/* By when they come to collectives, else by how long they communicate. */
static bool say_who(const struct pf_advise *a, const struct pf_advice *v,
		    int64_t *rank, struct pf_buf *out)
{
	const struct pf_ranks *ranks = &a->from->overlap->arrivals.of;
	const struct pf_ranks_rank *late = pf_ranks_say_late(ranks, out);
	size_t i;

	if (late)
		*rank = late->rank;
	if (late && a->alone_count &&
	    (double)late->root_ns * (double)a->alone_count <
		    LATE_PART * (double)v->on_path_ns)
		return false;
	if (late || !a->alone_count ||
	    (ranks->rank_count > 1 && !ranks->withheld))
		return late;
	i = find_late(a, v->id);
	if (i == a->alone_count)
		return false;
	*rank = a->window->traces[i].rank;
	pf_buf_addf(
		out,
		"Rank %" PRId64
		" has least of it, %s: the others seem to wait for it",
		*rank,
		PF_SHOW_NS(advise_alone_ns(advise_of(&a->alone[i], v->id))));
	return true;
}

/* Who is late is the cause, and what it does meanwhile. */
static void say_late(const struct pf_advise *a, struct pf_advice *out)
{
	PF_AUTO(pf_buf_release) struct pf_buf who = { 0 };
	const struct pf_advise *alone;
	const struct pf_advice *does;
	int64_t rank;

	if (!say_who(a, out, &rank, &who))
		return;
	pf_buf_adds(advise_next(out), who.data);
	out->variant = "late";
	alone = alone_of(a, rank);
	does = alone ? find_instead(alone, out->id) : NULL;
	if (!does)
		return;
	pf_buf_addf(advise_next(out), "Rank %" PRId64 " alone: ", rank);
	pf_say_plain(&out->detail, &does->sentence);
	if (!a->alone_count)
		return;
	pf_buf_clear(&out->command);
	pf_buf_add(&out->command, does->command.data, does->command.len);
}

#define FEW      10      /* collectives of a step, each a bucket */
#define SHORT_NS 5000000 /* on the path: less than such a bucket takes */

/* On the host, of a step or of all: so many and so short ones can be joined. */
static int64_t count_joinable(const struct pf_advise *a,
			      const struct pf_advice *out)
{
	const struct advise_marks *m = &a->tiles->marks;
	const int64_t from_ns = a->tiles->first_ns + a->tiles->path->start_ns;
	const int64_t steps = a->step_count ? a->step_count : 1;
	int64_t count = 0;

	for (size_t i = 0; i < m->collective_count; i++)
		count += m->collectives[i] >= from_ns &&
			 m->collectives[i] < from_ns + a->window_ns;
	return !a->has_work && count / steps > FEW &&
			       out->on_path_ns / count < SHORT_NS
		       ? count
		       : 0;
}

/* How large they are is not known: joining them is no bound of its own. */
static void say_joinable(const struct pf_advise *a, struct pf_advice *out)
{
	const int64_t count = count_joinable(a, out);
	char each[PF_NUM_MAX];

	if (!count)
		return;
	pf_num_show_ns(each, out->on_path_ns / count);
	pf_buf_addf(
		advise_next(out),
		"These are %s collectives, %s of it each in the mean: where "
		"they are small, their number costs the time, not their "
		"bytes",
		PF_SHOW_COUNT(count), each);
}

static void judge_comm(const struct pf_advise *a, struct pf_advice *out)
{
	char exposed[PF_NUM_MAX], all[PF_NUM_MAX];
	const struct pf_overlap *o = a->from->overlap;

	if (!o || !o->all.comm_ns) {
		if (!out->on_path_ns)
			advise_fine(out, "no communication is on the critical "
					 "path");
		if (!a->has_path)
			return;
		say_joinable(a, out);
		if (out->on_path_ns)
			pf_buf_adds(advise_next(out),
				    "A call that communicates on the host "
				    "waits for other ranks, too: only the "
				    "traces of all of them tell how long");
		/* no question about GPU work knows of the host's */
		out->at_most_ns = out->on_path_ns;
		out->likely_ns = PF_NO_INT;
		out->measured = pf_num_share(out->at_most_ns, a->window_ns);
		return;
	}
	if (!a->has_path && !bound_exposed(a, out))
		return;
	pf_num_show_ns(all, o->all.comm_ns);
	if (a->has_path)
		pf_buf_addf(advise_next(out),
			    "%s of %s of communication is exposed",
			    pf_num_show_ns(exposed, o->all.exposed_comm_ns),
			    all);
	else
		pf_buf_addf(advise_next(out), "All of it takes %s", all);
	if (mean_message(o) >= 0)
		pf_buf_addf(&out->detail, ", in messages of %s in the mean",
			    PF_SHOW_BYTES(mean_message(o)));
	say_waiting(o, out);
	if (a->late)
		say_late(a, out);
}

static const char *comm_variant(const struct pf_advise *a,
				const struct pf_advice *out)
{
	int64_t mean = a->from->overlap ? mean_message(a->from->overlap) : -1;

	if (out->variant)
		return out->variant;
	/* what a neighbour in a pipeline sends */
	if (out->place_count && out->places->name &&
	    strstr(out->places->name, ":recv"))
		return "stages";
	if (out->place_count && out->places->name &&
	    strstr(out->places->name, "barrier"))
		return "barrier";
	if (a->has_path && count_joinable(a, out))
		return "many";
	return mean >= 0 && mean < SMALL_MESSAGE ? "small" : "";
}

/* ---- A16 ---- */

#define HOST_SHARE 0.3 /* of the path: from there on, functions say more */

/* Other recorders of PyTorch have none. */
static bool functions_say_more(const struct pf_advise *a)
{
	const struct pf_path *p = a->tiles->path;

	return !a->tiles->has_functions && a->framework &&
	       (!advise_is_torch(a) || advise_is_torch_profiled(a)) &&
	       (double)(p->host_ns + p->unexplained_ns) >=
		       HOST_SHARE * (double)a->window_ns;
}

/* Where what has no name holds more than any name does. */
static bool take_bare(const struct pf_advise *a, struct pf_advice *out)
{
	const struct advise_tiles *t = a->tiles;
	const int64_t ns = a->tiles->path->bare_ns;

	if (!t->path->row_count || ns < t->path->rows->ns)
		return false;
	for (size_t i = 0; i < t->row_count; i++)
		if (advise_is_bare(a, &t->rows[i]))
			t->rows[i].advice |= out->bit;
	out->on_path_ns = ns;
	out->measured = pf_num_share(ns, a->window_ns);
	out->shown_by = "path";
	advise_say_bare(a, out->measured, &out->sentence);
	pf_buf_adds(&out->sentence, ": ");
	return true;
}

/* Of all of a capture nobody asks for steps, whether it has any or not. */
static bool lacks_steps(const struct pf_advise *a)
{
	const struct pf_step_times *s = a->from->steps;

	return !s->has_steps && !s->window.is_whole;
}

static void judge_capture(const struct pf_advise *a, struct pf_advice *out)
{
	const struct pf_step_times *s = a->from->steps;

	out->at_most_ns = PF_NO_INT;
	out->measured = NAN;
	if (!s || !s->count) {
		advise_not_judged(out, "there is no time to speak of");
		return;
	}
	pf_buf_clear(&out->sentence);
	if (functions_say_more(a) && take_bare(a, out))
		pf_buf_adds(&out->sentence, "Python functions would say more");
	else if (lacks_steps(a))
		pf_buf_adds(&out->sentence, "The trace does not say "
					    "where a step begins and "
					    "ends");
	else if (functions_say_more(a))
		pf_buf_adds(&out->sentence,
			    "The trace has no Python functions, so "
			    "that no advice can name a line");
	else
		advise_fine(out, "steps are marked, and functions are recorded "
				 "or would say little");
}

static const char *capture_variant(const struct pf_advise *a,
				   const struct pf_advice *out)
{
	return lacks_steps(a) && out->on_path_ns <= 0 ? "steps" : "stacks";
}

/* ---- A20 ---- */

#define FEW_ROWS    16  /* of a product: tokens that are decoded at once */
#define READ_SHARE  0.5 /* of the window: from there on, memory bounds it */
#define KNOWN_SHARE 0.5 /* of GPU time, in calls with shapes */

static bool owns_dense(const struct advise_row *r)
{
	return r->category == PF_PATH_KERNEL &&
	       pf_word(PF_WORD_OP_DENSE, r->op);
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

static bool is_training(const struct pf_advise *a)
{
	const struct pf_kernels *k = a->from->callers;

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
				   const struct decoding *d)
{
	if (is_training(a))
		return "the program trains";
	if (d->few_ns < d->all_ns - d->few_ns || !d->few_ns)
		return "most of the time in products is in those of "
		       "more than "
		       "16 rows, as no decoding has";
	if (d->calls < 2 * d->kinds)
		return "products with few rows do not repeat";
	if (d->few_ns < a->window_ns / 100)
		return "products with few rows take less than 1 % of the time";
	return NULL;
}

static void judge_decoding(const struct pf_advise *a, struct pf_advice *out)
{
	const struct pf_roofline *r = a->from->roofline;
	char read[PF_NUM_MAX];
	struct decoding d = { 0 };
	const char *why;
	double ns;

	out->measured = NAN;
	if (is_training(a)) {
		advise_fine(out, "the program trains");
		return;
	}
	if (!r || (double)r->modelled_ns < KNOWN_SHARE * (double)r->gpu_ns ||
	    !r->gpu_ns) {
		advise_lacks(a,
			     "the shapes of most GPU work are not known, and "
			     "what graphs replay has none",
			     PF_HINT_SHAPES, out);
		return;
	}
	d = find_decoding(r);
	why = why_no_decoding(a, &d);
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
		    "Products of at most %d rows, as in decoding, read "
		    "weights "
		    "that the memory gives in %s, %s of the window",
		    FEW_ROWS, pf_num_show_ns(read, (int64_t)ns),
		    PF_SHOW_RATIO(ns / (double)a->window_ns));
}

const char *advise_questions[] = {
	"data=0",       "sync=off",       "launch=0",   "gc=0",
	"class:comm=0", "comm=hidden",    "alloc=0",    NO_KERNELS,
	FAST_KERNELS,   ADVISE_FREE_HOST, NO_PAGEABLE,  NO_READING,
	NO_RESULTS,     NO_FIRSTS,        NO_OPTIMIZER, NO_ZEROING
};
const size_t advise_question_count =
	sizeof(advise_questions) / sizeof(*advise_questions);

static void say_why(struct pf_advice *a, enum pf_advice_state state,
		    const char *why)
{
	a->state = state;
	pf_buf_clear(&a->sentence);
	pf_buf_adds(&a->sentence, why);
}

/* It is fine, or cannot be judged: the reason instead of a sentence. */
void advise_fine(struct pf_advice *a, const char *why)
{
	say_why(a, PF_ADVICE_FINE, why);
}

/*
 * judge() is called when at_most_ns and measured are the sums of the rows; it
 * may change both, append to the sentence, or say that it is fine or cannot be
 * judged.
 */
void advise_not_judged(struct pf_advice *a, const char *why)
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
		out->confidence = "hint";
		pf_buf_adds(advise_next(out),
			    "Whether a warm-up leaves it out shows only in "
			    "several steps");
		return;
	}
	for (size_t i = 0; i < t->row_count; i++)
		if (owns(&t->rows[i]) && t->rows[i].flags & ADVISE_LATE)
			return;
	advise_fine(out, "it is in the first step alone, which --skip-first 1 "
			 "leaves out");
}

const struct advise_rule advise_rules[] = {
	{ .id = "A1",
	  .kind = "data loading",
	  .title = "more DataLoader workers, or cheaper transforms",
	  .subject = "loading data",
	  .confidence = "model",
	  .command = "path",
	  .question = "data=0",
	  .needs = ADVISE_NEEDS_PATH,
	  .owns = owns_data,
	  .judge = judge_data,
	  .variant = data_variant,
	  .causes = CAUSE(DATA),
	  .apart = "The GPU waits for data",
	  .alone = "Loading data takes",
	  .apart_ns = data_apart },
	{ .id = "A2",
	  .kind = "copies",
	  .title = "pin memory and copy with non_blocking=True",
	  .subject = "Copying from pageable memory holds",
	  .confidence = "sure",
	  .command = "syncs",
	  .needs = ADVISE_NEEDS_GPU,
	  .owns = owns_pageable,
	  .judge = judge_pageable,
	  .variant = copy_variant,
	  .causes = CAUSE(COPY),
	  .apart = "The GPU waits for copies that block" },
	{ .id = "A25",
	  .kind = "transfers",
	  .title = "copy beside computation, or keep it on the GPU",
	  .subject = "Copies between the host and the GPU hold",
	  .confidence = "sure",
	  .command = "overlap",
	  .needs = ADVISE_NEEDS_GPU,
	  .owns = owns_transfer,
	  .variant = transfer_variant },
	{ .id = "A3",
	  .kind = "waiting for the GPU",
	  .title = "read results later",
	  .subject = "waiting for the GPU",
	  .confidence = "model",
	  .command = "path",
	  .question = "sync=off",
	  .needs = ADVISE_NEEDS_PATH,
	  .find = find_reads,
	  .owns = owns_wait,
	  .judge = judge_waits,
	  .variant = wait_variant,
	  .causes = CAUSE(SYNC),
	  .apart = "The GPU is idle while calls wait for it" },
	{ .id = "A4",
	  .kind = "launching",
	  .title = "fewer, larger kernels: torch.compile, CUDA graphs",
	  .subject = "the host's short " PF_PATH_CODE,
	  .confidence = "model",
	  .command = "path",
	  .question = "launch=0",
	  .is_rest = true,
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
	  .confidence = "sure",
	  .command = "path",
	  .needs = ADVISE_NEEDS_PATH,
	  .owns = owns_compile,
	  .judge = judge_compile,
	  .causes = CAUSE(COMPILE),
	  .apart = "The GPU waits for compiling" },
	{ .id = "A14",
	  .kind = "garbage collection",
	  .title = "collect garbage between steps",
	  .subject = "collecting garbage",
	  .confidence = "model",
	  .command = "path",
	  .question = "gc=0",
	  .needs = ADVISE_NEEDS_PATH,
	  .owns = owns_gc,
	  .judge = judge_gc,
	  .variant = gc_variant,
	  .causes = CAUSE(GC),
	  .apart = "The GPU waits while garbage is collected" },
	{ .id = "A18",
	  .kind = "logging",
	  .title = "log, print and save outside of steps",
	  .subject = "Logging, printing and saving hold",
	  .confidence = "sure",
	  .command = "path",
	  .options = " --group line",
	  .needs = ADVISE_NEEDS_PATH,
	  .owns = owns_log,
	  .judge = judge_log },
	{ .id = "A21",
	  .kind = "host code",
	  .title = "less code on the host",
	  .subject = "Long operators and functions on the host hold",
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
	  .is_of_all = true,
	  .kind = "first use",
	  .title = "warm up before the profile begins",
	  .subject = "First uses, which load code or start the driver, hold",
	  .is_warm_up = true,
	  .confidence = "hint",
	  .command = "path",
	  .is_left_out = true,
	  .needs = ADVISE_NEEDS_PATH,
	  .owns = owns_start,
	  .judge = judge_start,
	  .variant = start_variant,
	  .causes = CAUSE(MODULE),
	  .apart = "The GPU waits while code is loaded" },
	{ .id = "A7",
	  .kind = "attention",
	  .title = "fused attention",
	  .subject = "Attention in single operators holds",
	  .confidence = "sure",
	  .command = "path",
	  .options = " --group op",
	  .cap = NO_KERNELS,
	  .needs = ADVISE_NEEDS_OPS,
	  .owns = owns_attention,
	  .judge = judge_attention },
	{ .id = "A8",
	  .kind = "optimizer",
	  .title = "fuse the optimizer",
	  .subject = "the optimizer's time",
	  .confidence = "model",
	  .command = "path",
	  .question = NO_OPTIMIZER,
	  .cap = NO_KERNELS,
	  .needs = ADVISE_NEEDS_OPS,
	  .owns = owns_optimizer,
	  .judge = judge_optimizer,
	  .variant = optimizer_variant },
	{ .id = "A9",
	  .kind = "layout",
	  .title = "channels last",
	  .subject = "Turning tensors for convolutions holds",
	  .confidence = "sure",
	  .command = "kernels",
	  .options = " --group name,op",
	  .cap = NO_KERNELS,
	  .needs = ADVISE_NEEDS_TORCH,
	  .owns = owns_layout,
	  .judge = judge_layout },
	{ .id = "A23",
	  .kind = "odd dimensions",
	  .title = "dimensions in multiples of 8",
	  .subject = "Products of rows that do not begin at 16 bytes hold",
	  .confidence = "sure",
	  .command = "kernels",
	  .options = " --group name,op",
	  .cap = NO_KERNELS,
	  .needs = ADVISE_NEEDS_GPU,
	  .owns = owns_odd,
	  .judge = judge_odd },
	{ .id = "A24",
	  .kind = "checkpoints",
	  .title = "compute fewer activations again",
	  .subject = "Computing activations again for backward holds",
	  .confidence = "sure",
	  .command = "path",
	  .options = " --group op",
	  .needs = ADVISE_NEEDS_OPS,
	  .owns = owns_again,
	  .judge = judge_again },
	{ .id = "A10",
	  .kind = "casts and copies",
	  .title = "fewer casts and copies",
	  .subject = "Casting and copying holds",
	  .confidence = "sure",
	  .command = "kernels",
	  .options = " --group name,op",
	  .cap = NO_KERNELS,
	  .needs = ADVISE_NEEDS_OPS,
	  .owns = owns_copy,
	  .variant = copying_variant },
	{ .id = "A15",
	  .kind = "zeroing gradients",
	  .title = "set gradients to none instead of zero",
	  .subject = "zeroing gradients",
	  .confidence = "model",
	  .command = "path",
	  .question = NO_ZEROING,
	  .cap = NO_KERNELS,
	  .needs = ADVISE_NEEDS_OPS,
	  .owns = owns_zeroing,
	  .judge = judge_zeroing },
	{ .id = "A17",
	  .kind = "adding up by index",
	  .title = "another way to add up by index",
	  .subject = "Adding up by index, as in an embedding's backward, "
		     "holds",
	  .confidence = "sure",
	  .command = "kernels",
	  .options = " --group op",
	  .cap = NO_KERNELS,
	  .needs = ADVISE_NEEDS_OPS,
	  .owns = owns_indexed,
	  .judge = judge_indexed,
	  .variant = indexed_variant },
	{ .id = "A19",
	  .is_of_all = true,
	  .kind = "pointwise operators",
	  .title = "fuse pointwise operators",
	  .subject = "Pointwise operators one after the other hold",
	  .confidence = "hint",
	  .command = "path",
	  .options = " --group op",
	  .cap = NO_KERNELS,
	  .needs = ADVISE_NEEDS_OPS,
	  .owns = owns_chain,
	  .judge = judge_chain },
	{ .id = "A6",
	  .kind = "precision",
	  .title = "TF32 or mixed precision for products",
	  .subject = "Matrix products and convolutions in fp32 hold",
	  .confidence = "sure",
	  .command = "kernels",
	  .options = " --group name,op",
	  .cap = FAST_KERNELS,
	  .needs = ADVISE_NEEDS_PATH,
	  .owns = owns_single,
	  .judge = judge_single,
	  .variant = single_variant,
	  .apart = "Matrix products and convolutions in fp32 take",
	  .apart_ns = single_apart },
	{ .id = "A11",
	  .kind = "small kernels",
	  .title = "more work at a time",
	  .subject = "Kernels with fewer blocks than the GPU has "
		     "multiprocessors hold",
	  .confidence = "hint",
	  .command = "kernels",
	  .options = " --group name,op",
	  .cap = FAST_KERNELS,
	  .needs = ADVISE_NEEDS_GPU,
	  .find = find_small,
	  .owns = owns_small,
	  .judge = judge_small,
	  .variant = small_variant },
	{ .id = "A12",
	  .kind = "allocation",
	  .title = "less memory, or memory in larger pieces",
	  .subject = "the allocator's calls",
	  .decides = true,
	  .confidence = "model",
	  .command = "memory",
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
	  .confidence = "model",
	  .command = "path",
	  .question = "class:comm=0",
	  .likely = "comm=hidden",
	  .needs = ADVISE_NEEDS_PATH,
	  .owns = owns_comm,
	  .judge = judge_comm,
	  .variant = comm_variant,
	  .causes = CAUSE(COMM),
	  .apart = "Communication is exposed for",
	  .alone = "Communication, or waiting for it, takes",
	  .among = say_late,
	  .apart_command = "overlap",
	  .apart_ns = comm_apart },
	{ .id = "A16",
	  .kind = "the capture",
	  .title = "profile with steps and stacks",
	  .decides = true,
	  .confidence = "hint",
	  .command = "doctor",
	  .needs = ADVISE_NEEDS_PATH,
	  .judge = judge_capture,
	  .variant = capture_variant,
	  .apart = "" },
	{ .id = "A20",
	  .kind = "decoding",
	  .title = "batch requests, and replay decoding as a CUDA graph",
	  .decides = true,
	  .confidence = "model",
	  .command = "roofline",
	  .needs = ADVISE_NEEDS_TORCH,
	  .owns = owns_dense,
	  .judge = judge_decoding },
};
const size_t advise_rule_count = sizeof(advise_rules) / sizeof(*advise_rules);
