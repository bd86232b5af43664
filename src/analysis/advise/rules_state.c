/* SPDX-License-Identifier: MIT */
/* Advice about the GPU, its memory, the job, and the capture itself. */
#include "analysis/advise/advise_impl.h"

#include "base/sat.h"
#include "analysis/roofline/gpus.h"

/* ---- A6 ---- */

#define TINY_NS 20000 /* a kernel so short is bound by its launch */

static bool owns_single(const struct advise_row *r)
{
	return r->flags & ADVISE_FP32 && r->count > 0 &&
	       r->ns / r->count >= TINY_NS;
}

static const enum pf_peak reduced[] = { PF_PEAK_TF32, PF_PEAK_BF16,
					PF_PEAK_FP16 };

/* The fastest that products of reduced precision can be, over fp32. */
static double matrix_gain(const struct pf_gpu_peaks *p)
{
	double best = NAN;

	for (size_t i = 0; i < sizeof(reduced) / sizeof(*reduced); i++) {
		double gain = p->rate[reduced[i]] / p->rate[PF_PEAK_FP32];

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
	pf_buf_addf(&out->sentence,
		    "; %s of the time in products is in fp32, and the GPU's "
		    "peak in reduced precision is %.1f times as high",
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
		pf_sat_sum(&known, k->rows[i].total_ns);
		if (k->rows[i].blocks_per_sm < 1)
			pf_sat_sum(&few, k->rows[i].total_ns);
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
		    "%s of the time in kernels is in those with fewer blocks "
		    "than the GPU has multiprocessors, and the memory's peak "
		    "is %s of %s",
		    pf_num_show_ratio(share, small),
		    pf_num_show_bytes(peak, d->peak),
		    pf_num_show_bytes(of, d->capacity));
}

/* ---- A12 ---- */

#define EDGE     0.90 /* of the memory */
#define UNUSED   0.15 /* of the memory: reserved, and not allocated */
#define WORTH_IT 0.01 /* of the window, in the allocator */

static bool owns_allocator(const struct advise_row *r)
{
	return (unsigned)r->category == PF_CAUSE_ALLOCATOR;
}

static const char *memory_trouble(const struct pf_usage *u)
{
	const struct pf_usage_device *d = fullest(u);

	if (u && u->oom_count)
		return "memory ran out";
	if (!d)
		return NULL;
	if (d->capacity_share >= EDGE)
		return "the peak is 90 % of the memory or more";
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

	if (trouble) {
		pf_buf_addf(&out->sentence, "; %s", trouble);
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

static bool owns_comm(const struct advise_row *r)
{
	return r->category == PF_PATH_COMM;
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

static void judge_comm(const struct pf_advise *a,
		       const struct pf_advise_from *from, struct pf_advice *out)
{
	char exposed[PF_NUM_MAX], all[PF_NUM_MAX], size[PF_NUM_MAX];
	const struct pf_overlap *o = from->overlap;

	(void)a;
	if (!o || !o->all.comm_ns) {
		advise_fine(out, "no GPU work of this trace is communication");
		return;
	}
	pf_buf_addf(&out->sentence, "; %s of %s of communication is exposed",
		    pf_num_show_ns(exposed, o->all.exposed_comm_ns),
		    pf_num_show_ns(all, o->all.comm_ns));
	if (mean_message(o) >= 0)
		pf_buf_addf(&out->sentence, ", in messages of %s in the mean",
			    pf_num_show_bytes(size, mean_message(o)));
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
		pf_buf_adds(&out->sentence,
			    "The trace does not say where a step begins and "
			    "ends");
	} else if (s->full_count >= 3 && s->dur.p50_ns > 0 &&
		   (double)s->steps[0].dur_ns >
			   SLOW_FIRST * (double)s->dur.p50_ns) {
		pf_buf_addf(&out->sentence,
			    "The first step takes %s, the median %s, and it is "
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
		return "most of the time in products is in those of more than "
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
		    "products of at most %d rows, as in decoding, read weights "
		    "that the memory gives in %s, %s of the window",
		    FEW_ROWS, pf_num_show_ns(read, (int64_t)ns),
		    pf_num_show_ratio(share, ns / (double)a->window_ns));
}

const struct advise_rule advise_state_rules[] = {
	{ "A6", "TF32 or mixed precision for products",
	  "Matrix products and convolutions in fp32 hold", 0.10, "sure",
	  "kernels", " --group name,op", NULL, ADVISE_NEEDS_GPU, owns_single,
	  judge_single, single_variant },
	{ "A11", "a larger batch", NULL, 0, "hint", "memory", "", NULL,
	  ADVISE_NEEDS_GPU, NULL, judge_batch, NULL },
	{ "A12", "less memory, or memory in larger pieces",
	  "If the allocator took no time", 0, "model", "memory", "", "alloc=0",
	  ADVISE_NEEDS_GPU, owns_allocator, judge_memory, NULL },
	{ "A13", "hide communication", "If nothing waited for communication",
	  0.05, "model", "path", " --what-if comm=hidden", "comm=hidden",
	  ADVISE_NEEDS_GPU, owns_comm, judge_comm, comm_variant },
	{ "A16", "profile with steps, after warm-up, with stacks", NULL, 0,
	  "hint", "doctor", "", NULL, ADVISE_NEEDS_PATH, NULL, judge_capture,
	  capture_variant },
	{ "A20", "batch requests, and replay decoding as a CUDA graph", NULL, 0,
	  "model", "roofline", "", NULL, ADVISE_NEEDS_TORCH, owns_dense,
	  judge_decoding, NULL },
};
const size_t advise_state_rule_count =
	sizeof(advise_state_rules) / sizeof(*advise_state_rules);
