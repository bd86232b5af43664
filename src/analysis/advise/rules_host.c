/* SPDX-License-Identifier: MIT */
/* Advice about time of the host: loading, copying, waiting, launching. */
#include "analysis/advise/advise_impl.h"

#include "base/sat.h"
#include "events/words.h"

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

/* Time of the host that launches work, or could. */
static bool is_launching(const struct advise_row *r)
{
	switch ((unsigned)r->category) {
	case PF_CAUSE_RUNTIME:
	case PF_CAUSE_OP:
	case PF_CAUSE_PYTHON:
	case PF_CAUSE_ANNOTATION:
	case PF_CAUSE_LAUNCH:
	case PF_PATH_LAUNCH_CALL:
	case PF_PATH_LAUNCH_DELAY:
	case PF_PATH_GAP:
		return !(r->flags & ADVISE_DATA);
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

static bool is_copy_to_gpu(const struct advise_row *r)
{
	return r->category == PF_PATH_COPY && strstr(r->name, "HtoD");
}

static bool owns_pageable(const struct advise_row *r)
{
	if (is_copy_to_gpu(r))
		return strstr(r->name, "Pageable");
	if (r->category == PF_PATH_RETURN)
		return r->flags & ADVISE_AWAITED;
	return (unsigned)r->category == PF_CAUSE_COPY &&
	       !advise_is_one_of(r->op, reading_ops);
}

/* The calls' own time may as well be of copies to the host. */
static void judge_pageable(const struct pf_advise *a,
			   const struct pf_advise_from *from,
			   struct pf_advice *out)
{
	const struct advise_tiles *t = a->tiles;

	(void)from;
	for (size_t i = 0; i < t->row_count; i++)
		if (is_copy_to_gpu(&t->rows[i]) && owns_pageable(&t->rows[i]))
			return;
	advise_fine(out, "no copy from pageable memory to the GPU is on the "
			 "critical path");
}

/* ---- A3 ---- */

static bool owns_wait(const struct advise_row *r)
{
	if (r->category == PF_PATH_RETURN)
		return !(r->flags & ADVISE_AWAITED);
	return (unsigned)r->category == PF_CAUSE_SYNC ||
	       ((unsigned)r->category == PF_CAUSE_COPY &&
		advise_is_one_of(r->op, reading_ops));
}

static void judge_waits(const struct pf_advise *a,
			const struct pf_advise_from *from,
			struct pf_advice *out)
{
	const struct advise_tiles *t = a->tiles;
	bool has_op = false;

	(void)from;
	for (size_t i = 0; i < t->row_count; i++)
		has_op |= owns_wait(&t->rows[i]) && *t->rows[i].op;
	/* a wait that nothing asked for but the script: for timing, or saving */
	out->is_last = !has_op;
}

static const char *wait_variant(const struct pf_advise *a,
				const struct pf_advise_from *from,
				const struct pf_advice *out)
{
	const struct advise_tiles *t = a->tiles;

	(void)from;
	if (out->is_last)
		return "explicit";
	for (size_t i = 0; i < t->row_count; i++)
		if (owns_wait(&t->rows[i]) && *t->rows[i].op)
			return advise_is_one_of(t->rows[i].op, reading_ops)
				       ? "item"
				       : "";
	return "";
}

/* ---- A4 ---- */

#define KERNELS_LEAST 32
#define SHORT_SHARE   0.5 /* of kernels that are to be short */
#define GRAPH_SHARE   0.5 /* of GPU time under graph launches */

static bool owns_launching(const struct advise_row *r)
{
	return is_launching(r) &&
	       !(r->flags & (ADVISE_LONG | 1u << ADVISE_MARK_LOG));
}

static double graph_share(const struct pf_launches *l)
{
	int64_t graph = 0, all = 0;

	for (size_t i = 0; i < l->call_count; i++) {
		const struct pf_launch_call *c = &l->calls[i];

		pf_sat_sum(&all, c->gpu_ns);
		if (pf_word(PF_WORD_CALL_GRAPH, c->name))
			pf_sat_sum(&graph, c->gpu_ns);
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

	(void)a;
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
	if (pf_launches_late(l) >= PF_LAUNCHES_AHEAD) {
		advise_fine(out, "most GPU work is launched ahead; where it "
				 "is not: profan gaps");
		return;
	}
	part = pf_num_share(l->short_kernel_count, l->kernel_count);
	if (part < SHORT_SHARE) {
		advise_fine(out, "most kernels take 10 us or more");
		return;
	}
	pf_buf_addf(&out->sentence,
		    "; %s of the %s kernels take less than 10 us",
		    pf_num_show_ratio(share, part),
		    pf_num_show_count(count, l->kernel_count));
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
	if (out->on_path_ns > 0)
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
	{ "A1", "more DataLoader workers, or cheaper transforms",
	  "If loading data took no time", 0.05, "model", "path",
	  " --what-if data=0", "data=0", ADVISE_NEEDS_PATH, owns_data, NULL,
	  data_variant },
	{ "A2", "pin memory and copy with non_blocking=True",
	  "Copying from pageable memory holds", 0.01, "sure", "syncs", "", NULL,
	  ADVISE_NEEDS_GPU, owns_pageable, judge_pageable, NULL },
	{ "A3", "read results later", "If no call waited for the GPU", 0.01,
	  "model", "path", " --what-if sync=off", "sync=off", ADVISE_NEEDS_GPU,
	  owns_wait, judge_waits, wait_variant },
	{ "A4", "fewer, larger kernels: torch.compile, CUDA graphs",
	  "If launching took no time", 0.03, "model", "path",
	  " --what-if launch=0", "launch=0", ADVISE_NEEDS_GPU, owns_launching,
	  judge_launching, launch_variant },
	{ "A5", "compile once", "Compiling holds", 0.01, "sure", "path", "",
	  NULL, ADVISE_NEEDS_PATH, owns_compile, judge_compile, NULL },
	{ "A14", "collect garbage between steps",
	  "If collecting garbage took no time", 0.01, "model", "path",
	  " --what-if gc=0", "gc=0", ADVISE_NEEDS_PATH, owns_gc, judge_gc,
	  NULL },
	{ "A18", "log, print and save outside of steps",
	  "Logging, printing and saving hold", 0.01, "sure", "path",
	  " --group line", NULL, ADVISE_NEEDS_PATH, owns_log, judge_log, NULL },
};
const size_t advise_host_rule_count =
	sizeof(advise_host_rules) / sizeof(*advise_host_rules);
