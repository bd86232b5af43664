/* SPDX-License-Identifier: MIT */
/*
 * The program whose profile is made: a small GPT, trained with AdamW, or run
 * forward only.
 *
 * Host time goes on with every operator; the GPU has one stream and runs what
 * was launched in order, so kernels lag behind their launch calls and the
 *  "open" is the chain of events
 * that have begun and not ended; the tape holds what backward must undo.
 */
#include "config.h"

#include "gen/model.h"
#include "gen/tables.h"

#include <stdlib.h>
#include <string.h>

/* Remember an operator for backward. */
static void record(struct gen_model *m, const char *node, const char *evaluate,
		   void (*undo)(struct gen_model *, const struct gen_tape *),
		   int layer)
{
	struct gen_tape *t = &m->tape[m->tape_len];
	struct gen_event *ev = &m->ev[m->open[m->depth - 1]];

	if (m->opts->inference || m->tape_len == GEN_TAPE_MAX)
		return;
	ev->sequence = ++m->sequence;
	ev->flow = ++m->flow;
	ev->flow_start = true;
	t->undo = undo;
	t->node = node;
	t->evaluate = evaluate;
	t->sequence = ev->sequence;
	t->forward = m->open[m->depth - 1];
	t->layer = layer;
	m->tape_len++;
}

#define NODE(x) x, "autograd::engine::evaluate_function: " x

/* ---- backward of each operator ---- */

static void undo_linear(struct gen_model *m, const struct gen_tape *t)
{
	(void)t;
	gen_leaf(m, "aten::t", &shape_weight);
	gen_begin(m, GEN_CPU_OP, "aten::mm", &shape_mm);
	gen_launch(m, &kernel_gemm_nn);
	gen_memory(m, 12582912);
	gen_finish(m);
	gen_begin(m, GEN_CPU_OP, "aten::mm", &shape_mm_weight);
	gen_launch(m, &kernel_gemm_nt);
	gen_finish(m);
	gen_begin(m, GEN_CPU_OP, "aten::sum", &shape_hidden);
	gen_launch(m, &kernel_reduce);
	gen_finish(m);
}

static void undo_gelu(struct gen_model *m, const struct gen_tape *t)
{
	(void)t;
	gen_begin(m, GEN_CPU_OP, "aten::gelu_backward", &shape_hidden);
	gen_launch(m, &kernel_gelu_back);
	gen_memory(m, -12582912);
	gen_finish(m);
}

static void undo_norm(struct gen_model *m, const struct gen_tape *t)
{
	(void)t;
	gen_begin(m, GEN_CPU_OP, "aten::native_layer_norm_backward",
		  &shape_norm);
	gen_leaf(m, "aten::empty", NULL);
	gen_launch(m, &kernel_norm_back);
	gen_launch(m, &kernel_norm_gamma);
	gen_memory(m, -12582912);
	gen_finish(m);
}

static void undo_attention(struct gen_model *m, const struct gen_tape *t)
{
	(void)t;
	gen_begin(m, GEN_CPU_OP,
		  "aten::_scaled_dot_product_efficient_attention_backward",
		  &shape_heads);
	gen_begin(m, GEN_CPU_OP, "aten::_efficient_attention_backward",
		  &shape_heads);
	gen_leaf(m, "aten::empty", NULL);
	gen_clear(m, 12582912);
	gen_launch(m, &kernel_attention_back);
	gen_finish(m);
	gen_finish(m);
}

static void undo_add(struct gen_model *m, const struct gen_tape *t)
{
	gen_begin(m, GEN_CPU_OP, "aten::add_", &shape_add);
	if (t->layer & 1)
		gen_launch(m, &kernel_add);
	gen_finish(m);
}

static void undo_embedding(struct gen_model *m, const struct gen_tape *t)
{
	(void)t;
	gen_begin(m, GEN_CPU_OP, "aten::embedding_backward", &shape_hidden);
	gen_begin(m, GEN_CPU_OP, "aten::embedding_dense_backward",
		  &shape_hidden);
	gen_clear(m, 154533888);
	gen_launch(m, &kernel_embed_back);
	gen_finish(m);
	gen_finish(m);
}

static void undo_loss(struct gen_model *m, const struct gen_tape *t)
{
	(void)t;
	gen_begin(m, GEN_CPU_OP, "aten::_log_softmax_backward_data",
		  &shape_logits);
	gen_launch(m, &kernel_softmax_back);
	gen_finish(m);
}

/* ---- forward ---- */

static void fwd_norm(struct gen_model *m, int layer)
{
	gen_frame(m, "torch/nn/modules/normalization.py(217): forward", -1);
	gen_begin(m, GEN_CPU_OP, "aten::layer_norm", &shape_norm);
	gen_begin(m, GEN_CPU_OP, "aten::native_layer_norm", &shape_norm);
	record(m, NODE("NativeLayerNormBackward0"), undo_norm, layer);
	gen_leaf(m, "aten::empty", NULL);
	gen_memory(m, 12582912);
	gen_leaf(m, "aten::empty", NULL);
	gen_launch(m, &kernel_norm);
	gen_leaf(m, "aten::view", &shape_hidden);
	gen_finish(m);
	gen_finish(m);
	gen_frame_end(m);
}

static void fwd_linear(struct gen_model *m, int layer)
{
	gen_frame(m, "nn.Module: Linear", layer);
	gen_frame(m, "torch/nn/modules/linear.py(124): forward", -1);
	gen_frame(m, "<built-in function linear>", -1);
	gen_begin(m, GEN_CPU_OP, "aten::linear", &shape_linear);
	gen_begin(m, GEN_CPU_OP, "aten::t", &shape_weight);
	gen_begin(m, GEN_CPU_OP, "aten::transpose", &shape_weight);
	gen_leaf(m, "aten::as_strided", &shape_weight);
	gen_finish(m);
	gen_finish(m);
	gen_leaf(m, "aten::view", &shape_hidden);
	gen_begin(m, GEN_CPU_OP, "aten::addmm", &shape_addmm);
	record(m, NODE("AddmmBackward0"), undo_linear, layer);
	gen_memory(m, 12582912);
	gen_launch(m, &kernel_gemm);
	gen_finish(m);
	gen_leaf(m, "aten::view", &shape_hidden);
	gen_finish(m);
	gen_frame_end(m);
	gen_frame_end(m);
	gen_frame_end(m);
}

static void fwd_attention(struct gen_model *m, int layer)
{
	int i;

	gen_frame(m, "nn.Module: CausalSelfAttention", layer);
	gen_frame(m, "model.py(52): forward", -1);
	fwd_linear(m, layer * 4);
	for (i = 0; i < 3; i++) {
		gen_leaf(m, "aten::view", &shape_hidden);
		gen_begin(m, GEN_CPU_OP, "aten::transpose", &shape_hidden);
		gen_leaf(m, "aten::as_strided", &shape_hidden);
		gen_finish(m);
	}
	gen_begin(m, GEN_CPU_OP, "aten::scaled_dot_product_attention",
		  &shape_heads);
	gen_begin(m, GEN_CPU_OP,
		  "aten::_scaled_dot_product_efficient_attention",
		  &shape_heads);
	record(m, NODE("ScaledDotProductEfficientAttentionBackward0"),
	       undo_attention, layer);
	gen_begin(m, GEN_CPU_OP, "aten::_efficient_attention_forward",
		  &shape_heads);
	gen_leaf(m, "aten::empty", NULL);
	gen_memory(m, 12779520);
	gen_launch(m, &kernel_attention);
	gen_finish(m);
	gen_finish(m);
	gen_finish(m);
	fwd_linear(m, layer * 4 + 1);
	gen_frame_end(m);
	gen_frame_end(m);
}

static void fwd_add(struct gen_model *m, int layer)
{
	gen_begin(m, GEN_CPU_OP, "aten::add", &shape_add);
	record(m, NODE("AddBackward0"), undo_add, layer);
	gen_memory(m, 12582912);
	gen_launch(m, &kernel_add);
	gen_finish(m);
}

static void fwd_mlp(struct gen_model *m, int layer)
{
	gen_frame(m, "nn.Module: MLP", layer);
	gen_frame(m, "model.py(87): forward", -1);
	fwd_linear(m, layer * 4 + 2);
	gen_begin(m, GEN_CPU_OP, "aten::gelu", &shape_hidden);
	record(m, NODE("GeluBackward0"), undo_gelu, layer);
	gen_memory(m, 12582912);
	gen_launch(m, &kernel_gelu);
	gen_finish(m);
	fwd_linear(m, layer * 4 + 3);
	gen_frame_end(m);
	gen_frame_end(m);
}

static void fwd_embedding(struct gen_model *m)
{
	gen_frame(m, "nn.Module: Embedding", 0);
	gen_begin(m, GEN_CPU_OP, "aten::embedding", &shape_ids);
	record(m, NODE("EmbeddingBackward0"), undo_embedding, 0);
	gen_leaf(m, "aten::reshape", &shape_ids);
	gen_begin(m, GEN_CPU_OP, "aten::index_select", &shape_ids);
	gen_memory(m, 12582912);
	gen_launch(m, &kernel_index);
	gen_finish(m);
	gen_leaf(m, "aten::view", &shape_hidden);
	gen_finish(m);
	gen_frame_end(m);
}

static void fwd_loss(struct gen_model *m)
{
	gen_frame(m, "torch/nn/functional.py(3104): cross_entropy", -1);
	gen_begin(m, GEN_CPU_OP, "aten::cross_entropy_loss", &shape_logits);
	gen_begin(m, GEN_CPU_OP, "aten::log_softmax", &shape_logits);
	gen_begin(m, GEN_CPU_OP, "aten::_log_softmax", &shape_logits);
	record(m, NODE("LogSoftmaxBackward0"), undo_loss, 0);
	gen_memory(m, 824180736);
	gen_launch(m, &kernel_softmax);
	gen_finish(m);
	gen_finish(m);
	gen_begin(m, GEN_CPU_OP, "aten::nll_loss_nd", &shape_logits);
	gen_begin(m, GEN_CPU_OP, "aten::nll_loss_forward", &shape_logits);
	gen_launch(m, &kernel_loss);
	gen_finish(m);
	gen_finish(m);
	gen_finish(m);
	gen_frame_end(m);
}

static void forward(struct gen_model *m)
{
	int layer;

	gen_frame(m, "nn.Module: GPT", 0);
	gen_frame(m, "model.py(170): forward", -1);
	fwd_embedding(m);
	for (layer = 0; layer < m->opts->layers; layer++) {
		gen_frame(m, "nn.Module: Block", layer);
		gen_frame(m, "model.py(103): forward", -1);
		fwd_norm(m, layer);
		fwd_attention(m, layer);
		fwd_add(m, layer);
		fwd_norm(m, layer);
		fwd_mlp(m, layer);
		fwd_add(m, layer);
		gen_frame_end(m);
		gen_frame_end(m);
	}
	fwd_norm(m, layer);
	fwd_linear(m, layer * 4);
	if (!m->opts->inference)
		fwd_loss(m);
	gen_frame_end(m);
	gen_frame_end(m);
}

/* ---- the rest of a step ---- */

static void backward(struct gen_model *m)
{
	m->thread = 1;
	m->clock[1] = m->clock[0] + 15000;
	while (m->tape_len) {
		const struct gen_tape *t = &m->tape[--m->tape_len];
		struct gen_event *ev;

		ev = gen_begin(m, GEN_CPU_OP, t->evaluate, NULL);
		ev->sequence = t->sequence;
		ev->backward = true;
		ev = gen_begin(m, GEN_CPU_OP, t->node, NULL);
		ev->sequence = t->sequence;
		ev->backward = true;
		ev->flow = m->ev[t->forward].flow;
		t->undo(m, t);
		gen_finish(m);
		gen_finish(m);
	}
	m->thread = 0;
	m->clock[0] = m->clock[1] + 20000;
}

/* A batch that is ready, and pinned. */
static void take_batch(struct gen_model *m)
{
	gen_begin(m, GEN_CPU_OP, "aten::copy_", NULL);
	gen_copy(m, "Memcpy HtoD (Pinned -> Device)", 32768);
	gen_finish(m);
}

static void load_batch(struct gen_model *m)
{
	gen_begin(m, GEN_ANNOTATION,
		  "enumerate(DataLoader)#"
		  "_SingleProcessDataLoaderIter.__next__",
		  NULL);
	gen_frame(m, "torch/utils/data/dataloader.py(757): _next_data", -1);
	gen_leaf(m, "aten::randperm", NULL);
	gen_begin(m, GEN_CPU_OP, "aten::stack", NULL);
	gen_begin(m, GEN_CPU_OP, "aten::cat", NULL);
	gen_spend(m, 90000);
	gen_finish(m);
	gen_finish(m);
	gen_frame_end(m);
	gen_finish(m);
	gen_begin(m, GEN_CPU_OP, "aten::to", NULL);
	gen_begin(m, GEN_CPU_OP, "aten::_to_copy", NULL);
	gen_leaf(m, "aten::empty_strided", NULL);
	gen_memory(m, 32768);
	gen_begin(m, GEN_CPU_OP, "aten::copy_", NULL);
	gen_copy(m, "Memcpy HtoD (Pageable -> Device)", 32768);
	gen_wait_for_gpu(m, "cudaStreamSynchronize");
	gen_finish(m);
	gen_finish(m);
	gen_finish(m);
}

static void optimize(struct gen_model *m)
{
	gen_begin(m, GEN_ANNOTATION, "Optimizer.step#AdamW.step", NULL);
	gen_frame(m, "torch/optim/adamw.py(209): step", -1);
	gen_begin(m, GEN_CPU_OP, "aten::_fused_adamw_", NULL);
	gen_launch(m, &kernel_adam);
	gen_launch(m, &kernel_adam);
	gen_finish(m);
	gen_frame_end(m);
	gen_finish(m);
	gen_begin(m, GEN_ANNOTATION, "Optimizer.zero_grad#AdamW.zero_grad",
		  NULL);
	gen_memory(m, -m->allocated / 2);
	gen_finish(m);
}

static void read_loss(struct gen_model *m)
{
	gen_frame(m, "<built-in method item of Tensor object>", -1);
	gen_begin(m, GEN_CPU_OP, "aten::item", &shape_scalar);
	gen_begin(m, GEN_CPU_OP, "aten::_local_scalar_dense", &shape_scalar);
	gen_copy(m, "Memcpy DtoH (Device -> Pageable)", 4);
	gen_wait_for_gpu(m, "cudaStreamSynchronize");
	gen_finish(m);
	gen_finish(m);
	gen_frame_end(m);
}

/* The stream's view of the step: from its first kernel to its last. */
static void gpu_annotation(struct gen_model *m, uint64_t external)
{
	int64_t first = INT64_MAX, last = 0;
	struct gen_event *ev;
	size_t i;

	for (i = 0; i < m->count; i++) {
		if (m->ev[i].kind < GEN_KERNEL)
			continue;
		if (m->ev[i].start_ns < first)
			first = m->ev[i].start_ns;
		if (m->ev[i].end_ns > last)
			last = m->ev[i].end_ns;
	}
	ev = gen_add(m, GEN_GPU_ANNOTATION, NULL);
	ev->external_id = external;
	ev->thread = GEN_STREAM;
	ev->start_ns = first;
	ev->end_ns = last;
}

/* Kineto's order: what the program did by time, then CUDA in pairs. */
static int by_order(const void *a, const void *b)
{
	const struct gen_event *x = a, *y = b;
	int cuda_x = x->kind > GEN_MEMORY, cuda_y = y->kind > GEN_MEMORY;

	if (cuda_x != cuda_y)
		return cuda_x - cuda_y;
	if (cuda_x && x->correlation != y->correlation)
		return x->correlation < y->correlation ? -1 : 1;
	if (cuda_x && x->kind != y->kind)
		return (int)x->kind - (int)y->kind;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->end_ns == y->end_ns ? 0 : x->end_ns > y->end_ns ? -1 : 1;
}

static bool has_step(const struct gen_model *m)
{
	return !m->opts->no_steps && !m->device;
}

static void train(struct gen_model *m)
{
	gen_plant_make(m, GEN_AT_LOAD);
	if (m->plant)
		take_batch(m);
	else
		load_batch(m);
	forward(m);
	gen_plant_make(m, GEN_AT_MIDDLE);
	if (!m->opts->inference) {
		backward(m);
		optimize(m);
	}
	if (!m->plant)
		read_loss(m);
	gen_plant_make(m, GEN_AT_END);
}

const struct gen_event *gen_model_step(struct gen_model *m, size_t *count)
{
	uint64_t external = 0;
	size_t i;

	m->count = 0;
	gen_spend(m, 30000);
	if (has_step(m))
		external =
			gen_begin(m, GEN_ANNOTATION, NULL, NULL)->external_id;
	gen_frame(m, "train.py(301): train_step", -1);
	if (m->step == 0 && !m->plant) {
		struct gen_event *ev =
			gen_add(m, GEN_OVERHEAD, "Activity Buffer Request");
		gen_spend(m, 1600000);
		ev->end_ns = m->clock[0];
	}
	train(m);
	gen_frame_end(m);
	if (has_step(m)) {
		gen_finish(m);
		m->step_end_ns = m->clock[0];
		gpu_annotation(m, external);
	}
	m->allocated = 2147483648;
	m->step++;
	qsort(m->ev, m->count, sizeof(*m->ev), by_order);
	for (i = 0; i < m->count && m->ev[i].kind <= GEN_MEMORY; i++)
		m->ev[i].index = m->index++;
	*count = m->count;
	return m->ev;
}

int64_t gen_model_clock(const struct gen_model *m)
{
	return m->gpu_free_ns > m->clock[0] ? m->gpu_free_ns : m->clock[0];
}

struct gen_model *gen_model_new(const struct gen_opts *opts, int device)
{
	struct gen_model *m = calloc(1, sizeof(*m));

	if (!m) {
		fputs("mktrace: out of memory\n", stderr);
		exit(3);
	}
	m->opts = opts;
	m->device = device;
	m->plant = opts->plant;
	if (device && m->plant)
		m->plant = gen_plant_find("none");
	m->random =
		(opts->seed + (uint64_t)device) * UINT64_C(0x9e3779b97f4a7c15) |
		1;
	m->clock[0] = INT64_C(1419247332972313);
	m->allocated = m->reserved = 2147483648;
	m->next_addr = INT64_C(128180985266176);
	m->correlation = 8000 + (uint64_t)device * 100000000;
	m->external = m->sequence = m->flow = m->python =
		(uint64_t)device * 100000000;
	return m;
}

void gen_model_free(struct gen_model *m)
{
	free(m->ev);
	free(m);
}
