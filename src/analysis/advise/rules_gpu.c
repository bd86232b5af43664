/* SPDX-License-Identifier: MIT */
/* Advice about operators: what their work, and launching it, takes. */
#include "analysis/advise/advise_impl.h"

static bool is_kernel(const struct advise_row *r)
{
	return r->category == PF_PATH_KERNEL;
}

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

	pf_buf_addf(&out->sentence,
		    ", as %s sequences of a product, a softmax and a product",
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
	pf_buf_adds(&out->sentence,
		    "; whether each reads what the one before it wrote is not "
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
	if (!is_kernel(r))
		return false;
	return advise_has_one_of(r->name, layouts) ||
	       (strstr(r->op, "conv") && strstr(r->name, "transpose") &&
		!strstr(r->name, "conv"));
}

/* ---- A10 ---- */

static const char *const copying[] = { "aten::copy_",      "aten::_to_copy",
				       "aten::to",         "aten::clone",
				       "aten::contiguous", NULL };

static bool owns_copy(const struct advise_row *r)
{
	if (r->flags & (1u << ADVISE_MARK_OPTIMIZER) || !advise_is_gpu(r) ||
	    r->category == PF_PATH_COMM)
		return false;
	if (r->category == PF_PATH_COPY && !strstr(r->name, "DtoD"))
		return false;
	return advise_is_one_of(r->op, copying);
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
	{ "A7", "fused attention", "Attention in single operators holds", 0.05,
	  "sure", "path", " --group op", NULL, ADVISE_NEEDS_TORCH,
	  owns_attention, judge_attention, NULL },
	{ "A8", "fuse the optimizer", "The optimizer holds", 0.03, "sure",
	  "ranges", "", NULL, ADVISE_NEEDS_TORCH, owns_optimizer,
	  judge_optimizer, optimizer_variant },
	{ "A9", "channels last", "Turning tensors for convolutions holds", 0.03,
	  "sure", "kernels", " --group name,op", NULL, ADVISE_NEEDS_TORCH,
	  owns_layout, NULL, NULL },
	{ "A10", "fewer casts and copies",
	  "Casting and copying on the GPU holds", 0.05, "sure", "kernels",
	  " --group name,op", NULL, ADVISE_NEEDS_TORCH, owns_copy, NULL, NULL },
	{ "A15", "set gradients to none instead of zero",
	  "Zeroing gradients holds", 0.01, "sure", "ranges", "", NULL,
	  ADVISE_NEEDS_TORCH, owns_zeroing, judge_zeroing, NULL },
	{ "A17", "another way to add up by index",
	  "Adding up by index, as in embedding's backward holds", 0.03, "sure",
	  "kernels", " --group op", NULL, ADVISE_NEEDS_TORCH, owns_indexed,
	  judge_indexed, NULL },
	{ "A19", "fuse pointwise operators",
	  "Pointwise operators one after the other hold", 0.10, "hint", "path",
	  " --group op", NULL, ADVISE_NEEDS_TORCH, owns_chain, judge_chain,
	  NULL },
};
const size_t advise_gpu_rule_count =
	sizeof(advise_gpu_rules) / sizeof(*advise_gpu_rules);
