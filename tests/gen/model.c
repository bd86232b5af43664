/* SPDX-License-Identifier: MIT */
/*
 * The program whose profile is made: a small GPT, trained with AdamW, or run
 * forward only.
 *
 * Host time goes on with every operator; the GPU has one stream and runs what
 * was launched in order, so kernels lag behind their launch calls and the
 * host waits for them where it reads the loss.  "open" is the chain of events
 * that have begun and not ended; the tape holds what backward must undo.
 */
#include "config.h"

#include "gen/gen.h"
#include "gen/tables.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 64
#define TAPE_MAX  1024
#define STREAM    7

struct tape {
	void (*undo)(struct gen_model *m, const struct tape *t);
	const char *node, *evaluate;
	uint64_t sequence;
	size_t forward; /* the event that it undoes */
	int layer;
};

struct gen_model {
	const struct gen_opts *opts;
	uint64_t random;
	int64_t clock[2], gpu_free_ns; /* host threads; the stream */
	int thread;
	struct gen_event *ev;
	size_t count, cap;
	size_t open[DEPTH_MAX];
	int depth;
	struct tape tape[TAPE_MAX];
	size_t tape_len;
	uint64_t external, correlation, sequence, flow, index, python;
	uint64_t python_open[DEPTH_MAX];
	int python_depth;
	int64_t step, allocated, reserved, next_addr;
};

/* ---- events ---- */

static struct gen_event *add(struct gen_model *m, enum gen_kind kind,
			     const char *name)
{
	struct gen_event *ev;

	if (m->count == m->cap) {
		m->cap = m->cap ? m->cap * 2 : 4096;
		m->ev = realloc(m->ev, m->cap * sizeof(*m->ev));
		if (!m->ev) {
			fputs("mktrace: out of memory\n", stderr);
			exit(3);
		}
	}
	ev = &m->ev[m->count++];
	memset(ev, 0, sizeof(*ev));
	ev->kind = kind;
	ev->name = name;
	ev->step = m->step;
	ev->thread = m->thread;
	ev->module = -1;
	ev->start_ns = ev->end_ns = m->clock[m->thread];
	return ev;
}

static void spend(struct gen_model *m, int64_t mean_ns)
{
	m->clock[m->thread] += gen_vary(&m->random, mean_ns);
}

static struct gen_event *begin(struct gen_model *m, enum gen_kind kind,
			       const char *name, const struct gen_shape *shape)
{
	struct gen_event *ev;

	spend(m, 450);
	ev = add(m, kind, name);
	ev->shape = shape;
	if (kind == GEN_PYTHON) {
		if (m->python_depth)
			ev->python_parent = m->python_open[m->python_depth - 1];
		ev->python_id = ++m->python;
		m->python_open[m->python_depth++] = ev->python_id;
	} else {
		ev->external_id = ++m->external;
	}
	m->open[m->depth++] = m->count - 1;
	spend(m, kind == GEN_PYTHON ? 700 : 1100);
	return ev;
}

static void finish(struct gen_model *m)
{
	struct gen_event *ev = &m->ev[m->open[--m->depth]];

	spend(m, 900);
	ev->end_ns = m->clock[m->thread];
	if (ev->kind == GEN_PYTHON)
		m->python_depth--;
}

static void leaf(struct gen_model *m, const char *name,
		 const struct gen_shape *shape)
{
	begin(m, GEN_CPU_OP, name, shape);
	finish(m);
}

/* A python frame, only when stacks are recorded. */
static void frame(struct gen_model *m, const char *name, int module)
{
	if (m->opts->stacks)
		begin(m, GEN_PYTHON, name, NULL)->module = module;
}

static void frame_end(struct gen_model *m)
{
	if (m->opts->stacks)
		finish(m);
}

static void memory(struct gen_model *m, int64_t bytes)
{
	struct gen_event *ev;

	spend(m, 200);
	m->allocated += bytes;
	if (m->allocated > m->reserved)
		m->reserved = m->allocated;
	ev = add(m, GEN_MEMORY, "[memory]");
	ev->bytes = bytes;
	ev->addr = m->next_addr;
	ev->allocated = m->allocated;
	ev->reserved = m->reserved;
	ev->on_gpu = true;
	m->next_addr += bytes > 0 ? bytes : 0;
}

/* The call of the CUDA runtime that starts work on the stream. */
static struct gen_event *gpu_work(struct gen_model *m, const char *call,
				  enum gen_kind kind, const char *name)
{
	struct gen_event *ev;
	uint64_t external = m->ev[m->open[m->depth - 1]].external_id;
	int64_t start;

	spend(m, 500);
	ev = add(m, GEN_RUNTIME, call);
	spend(m, 4200);
	ev->end_ns = m->clock[m->thread];
	ev->external_id = external;
	ev->correlation = ++m->correlation;
	ev->flow_start = true;
	start = m->clock[m->thread] + gen_vary(&m->random, 2300);
	if (start < m->gpu_free_ns + 640)
		start = m->gpu_free_ns + gen_vary(&m->random, 850);
	ev = add(m, kind, name);
	ev->external_id = external;
	ev->correlation = m->correlation;
	ev->thread = STREAM;
	ev->start_ns = start;
	return ev;
}

static void gpu_end(struct gen_model *m, struct gen_event *ev, int64_t mean)
{
	ev->end_ns = ev->start_ns + gen_vary(&m->random, mean);
	m->gpu_free_ns = ev->end_ns;
}

static void launch(struct gen_model *m, const struct gen_kernel *kernel)
{
	struct gen_event *ev =
		gpu_work(m, "cudaLaunchKernel", GEN_KERNEL, kernel->name);

	ev->kernel = kernel;
	gpu_end(m, ev, kernel->dur_ns);
}

static void copy(struct gen_model *m, const char *name, int64_t bytes)
{
	struct gen_event *ev = gpu_work(m, "cudaMemcpyAsync", GEN_MEMCPY, name);

	ev->bytes = bytes;
	gpu_end(m, ev, 1200 + bytes / 24);
	m->ev[m->count - 2].to_host = true;
}

static void clear(struct gen_model *m, int64_t bytes)
{
	struct gen_event *ev =
		gpu_work(m, "cudaMemsetAsync", GEN_MEMSET, "Memset (Device)");

	ev->bytes = bytes;
	gpu_end(m, ev, 900 + bytes / 1400);
}

static void wait_for_gpu(struct gen_model *m, const char *call)
{
	struct gen_event *ev = add(m, GEN_RUNTIME, call);

	ev->correlation = ++m->correlation;
	ev->external_id =
		m->depth ? m->ev[m->open[m->depth - 1]].external_id : 0;
	spend(m, 2500);
	if (m->clock[m->thread] < m->gpu_free_ns)
		m->clock[m->thread] = m->gpu_free_ns + 1500;
	ev->end_ns = m->clock[m->thread];
}

/* Remember an operator for backward. */
static void record(struct gen_model *m, const char *node, const char *evaluate,
		   void (*undo)(struct gen_model *, const struct tape *),
		   int layer)
{
	struct tape *t = &m->tape[m->tape_len];
	struct gen_event *ev = &m->ev[m->open[m->depth - 1]];

	if (m->opts->inference || m->tape_len == TAPE_MAX)
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

static void undo_linear(struct gen_model *m, const struct tape *t)
{
	(void)t;
	leaf(m, "aten::t", &shape_weight);
	begin(m, GEN_CPU_OP, "aten::mm", &shape_mm);
	launch(m, &kernel_gemm_nn);
	memory(m, 12582912);
	finish(m);
	begin(m, GEN_CPU_OP, "aten::mm", &shape_mm_weight);
	launch(m, &kernel_gemm_nt);
	finish(m);
	begin(m, GEN_CPU_OP, "aten::sum", &shape_hidden);
	launch(m, &kernel_reduce);
	finish(m);
}

static void undo_gelu(struct gen_model *m, const struct tape *t)
{
	(void)t;
	begin(m, GEN_CPU_OP, "aten::gelu_backward", &shape_hidden);
	launch(m, &kernel_gelu_back);
	memory(m, -12582912);
	finish(m);
}

static void undo_norm(struct gen_model *m, const struct tape *t)
{
	(void)t;
	begin(m, GEN_CPU_OP, "aten::native_layer_norm_backward", &shape_norm);
	leaf(m, "aten::empty", NULL);
	launch(m, &kernel_norm_back);
	launch(m, &kernel_norm_gamma);
	memory(m, -12582912);
	finish(m);
}

static void undo_attention(struct gen_model *m, const struct tape *t)
{
	(void)t;
	begin(m, GEN_CPU_OP,
	      "aten::_scaled_dot_product_efficient_attention_backward",
	      &shape_heads);
	begin(m, GEN_CPU_OP, "aten::_efficient_attention_backward",
	      &shape_heads);
	leaf(m, "aten::empty", NULL);
	clear(m, 12582912);
	launch(m, &kernel_attention_back);
	finish(m);
	finish(m);
}

static void undo_add(struct gen_model *m, const struct tape *t)
{
	begin(m, GEN_CPU_OP, "aten::add_", &shape_add);
	if (t->layer & 1)
		launch(m, &kernel_add);
	finish(m);
}

static void undo_embedding(struct gen_model *m, const struct tape *t)
{
	(void)t;
	begin(m, GEN_CPU_OP, "aten::embedding_backward", &shape_hidden);
	begin(m, GEN_CPU_OP, "aten::embedding_dense_backward", &shape_hidden);
	clear(m, 154533888);
	launch(m, &kernel_embed_back);
	finish(m);
	finish(m);
}

static void undo_loss(struct gen_model *m, const struct tape *t)
{
	(void)t;
	begin(m, GEN_CPU_OP, "aten::_log_softmax_backward_data", &shape_logits);
	launch(m, &kernel_softmax_back);
	finish(m);
}

/* ---- forward ---- */

static void fwd_norm(struct gen_model *m, int layer)
{
	frame(m, "torch/nn/modules/normalization.py(217): forward", -1);
	begin(m, GEN_CPU_OP, "aten::layer_norm", &shape_norm);
	begin(m, GEN_CPU_OP, "aten::native_layer_norm", &shape_norm);
	record(m, NODE("NativeLayerNormBackward0"), undo_norm, layer);
	leaf(m, "aten::empty", NULL);
	memory(m, 12582912);
	leaf(m, "aten::empty", NULL);
	launch(m, &kernel_norm);
	leaf(m, "aten::view", &shape_hidden);
	finish(m);
	finish(m);
	frame_end(m);
}

static void fwd_linear(struct gen_model *m, int layer)
{
	frame(m, "nn.Module: Linear", layer);
	frame(m, "torch/nn/modules/linear.py(124): forward", -1);
	frame(m, "<built-in function linear>", -1);
	begin(m, GEN_CPU_OP, "aten::linear", &shape_linear);
	begin(m, GEN_CPU_OP, "aten::t", &shape_weight);
	begin(m, GEN_CPU_OP, "aten::transpose", &shape_weight);
	leaf(m, "aten::as_strided", &shape_weight);
	finish(m);
	finish(m);
	leaf(m, "aten::view", &shape_hidden);
	begin(m, GEN_CPU_OP, "aten::addmm", &shape_addmm);
	record(m, NODE("AddmmBackward0"), undo_linear, layer);
	memory(m, 12582912);
	launch(m, &kernel_gemm);
	finish(m);
	leaf(m, "aten::view", &shape_hidden);
	finish(m);
	frame_end(m);
	frame_end(m);
	frame_end(m);
}

static void fwd_attention(struct gen_model *m, int layer)
{
	int i;

	frame(m, "nn.Module: CausalSelfAttention", layer);
	frame(m, "model.py(52): forward", -1);
	fwd_linear(m, layer * 4);
	for (i = 0; i < 3; i++) {
		leaf(m, "aten::view", &shape_hidden);
		begin(m, GEN_CPU_OP, "aten::transpose", &shape_hidden);
		leaf(m, "aten::as_strided", &shape_hidden);
		finish(m);
	}
	begin(m, GEN_CPU_OP, "aten::scaled_dot_product_attention",
	      &shape_heads);
	begin(m, GEN_CPU_OP, "aten::_scaled_dot_product_efficient_attention",
	      &shape_heads);
	record(m, NODE("ScaledDotProductEfficientAttentionBackward0"),
	       undo_attention, layer);
	begin(m, GEN_CPU_OP, "aten::_efficient_attention_forward",
	      &shape_heads);
	leaf(m, "aten::empty", NULL);
	memory(m, 12779520);
	launch(m, &kernel_attention);
	finish(m);
	finish(m);
	finish(m);
	fwd_linear(m, layer * 4 + 1);
	frame_end(m);
	frame_end(m);
}

static void fwd_add(struct gen_model *m, int layer)
{
	begin(m, GEN_CPU_OP, "aten::add", &shape_add);
	record(m, NODE("AddBackward0"), undo_add, layer);
	memory(m, 12582912);
	launch(m, &kernel_add);
	finish(m);
}

static void fwd_mlp(struct gen_model *m, int layer)
{
	frame(m, "nn.Module: MLP", layer);
	frame(m, "model.py(87): forward", -1);
	fwd_linear(m, layer * 4 + 2);
	begin(m, GEN_CPU_OP, "aten::gelu", &shape_hidden);
	record(m, NODE("GeluBackward0"), undo_gelu, layer);
	memory(m, 12582912);
	launch(m, &kernel_gelu);
	finish(m);
	fwd_linear(m, layer * 4 + 3);
	frame_end(m);
	frame_end(m);
}

static void fwd_embedding(struct gen_model *m)
{
	frame(m, "nn.Module: Embedding", 0);
	begin(m, GEN_CPU_OP, "aten::embedding", &shape_ids);
	record(m, NODE("EmbeddingBackward0"), undo_embedding, 0);
	leaf(m, "aten::reshape", &shape_ids);
	begin(m, GEN_CPU_OP, "aten::index_select", &shape_ids);
	memory(m, 12582912);
	launch(m, &kernel_index);
	finish(m);
	leaf(m, "aten::view", &shape_hidden);
	finish(m);
	frame_end(m);
}

static void fwd_loss(struct gen_model *m)
{
	frame(m, "torch/nn/functional.py(3104): cross_entropy", -1);
	begin(m, GEN_CPU_OP, "aten::cross_entropy_loss", &shape_logits);
	begin(m, GEN_CPU_OP, "aten::log_softmax", &shape_logits);
	begin(m, GEN_CPU_OP, "aten::_log_softmax", &shape_logits);
	record(m, NODE("LogSoftmaxBackward0"), undo_loss, 0);
	memory(m, 824180736);
	launch(m, &kernel_softmax);
	finish(m);
	finish(m);
	begin(m, GEN_CPU_OP, "aten::nll_loss_nd", &shape_logits);
	begin(m, GEN_CPU_OP, "aten::nll_loss_forward", &shape_logits);
	launch(m, &kernel_loss);
	finish(m);
	finish(m);
	finish(m);
	frame_end(m);
}

static void forward(struct gen_model *m)
{
	int layer;

	frame(m, "nn.Module: GPT", 0);
	frame(m, "model.py(170): forward", -1);
	fwd_embedding(m);
	for (layer = 0; layer < m->opts->layers; layer++) {
		frame(m, "nn.Module: Block", layer);
		frame(m, "model.py(103): forward", -1);
		fwd_norm(m, layer);
		fwd_attention(m, layer);
		fwd_add(m, layer);
		fwd_norm(m, layer);
		fwd_mlp(m, layer);
		fwd_add(m, layer);
		frame_end(m);
		frame_end(m);
	}
	fwd_norm(m, layer);
	fwd_linear(m, layer * 4);
	if (!m->opts->inference)
		fwd_loss(m);
	frame_end(m);
	frame_end(m);
}

/* ---- the rest of a step ---- */

static void backward(struct gen_model *m)
{
	m->thread = 1;
	m->clock[1] = m->clock[0] + 15000;
	while (m->tape_len) {
		const struct tape *t = &m->tape[--m->tape_len];
		struct gen_event *ev;

		ev = begin(m, GEN_CPU_OP, t->evaluate, NULL);
		ev->sequence = t->sequence;
		ev->backward = true;
		ev = begin(m, GEN_CPU_OP, t->node, NULL);
		ev->sequence = t->sequence;
		ev->backward = true;
		ev->flow = m->ev[t->forward].flow;
		t->undo(m, t);
		finish(m);
		finish(m);
	}
	m->thread = 0;
	m->clock[0] = m->clock[1] + 20000;
}

static void load_batch(struct gen_model *m)
{
	begin(m, GEN_ANNOTATION,
	      "enumerate(DataLoader)#"
	      "_SingleProcessDataLoaderIter.__next__",
	      NULL);
	frame(m, "torch/utils/data/dataloader.py(757): _next_data", -1);
	leaf(m, "aten::randperm", NULL);
	begin(m, GEN_CPU_OP, "aten::stack", NULL);
	begin(m, GEN_CPU_OP, "aten::cat", NULL);
	spend(m, 90000);
	finish(m);
	finish(m);
	frame_end(m);
	finish(m);
	begin(m, GEN_CPU_OP, "aten::to", NULL);
	begin(m, GEN_CPU_OP, "aten::_to_copy", NULL);
	leaf(m, "aten::empty_strided", NULL);
	memory(m, 32768);
	begin(m, GEN_CPU_OP, "aten::copy_", NULL);
	copy(m, "Memcpy HtoD (Pageable -> Device)", 32768);
	wait_for_gpu(m, "cudaStreamSynchronize");
	finish(m);
	finish(m);
	finish(m);
}

static void optimize(struct gen_model *m)
{
	begin(m, GEN_ANNOTATION, "Optimizer.step#AdamW.step", NULL);
	frame(m, "torch/optim/adamw.py(209): step", -1);
	begin(m, GEN_CPU_OP, "aten::_fused_adamw_", NULL);
	launch(m, &kernel_adam);
	launch(m, &kernel_adam);
	finish(m);
	frame_end(m);
	finish(m);
	begin(m, GEN_ANNOTATION, "Optimizer.zero_grad#AdamW.zero_grad", NULL);
	memory(m, -m->allocated / 2);
	finish(m);
}

static void read_loss(struct gen_model *m)
{
	frame(m, "<built-in method item of Tensor object>", -1);
	begin(m, GEN_CPU_OP, "aten::item", &shape_scalar);
	begin(m, GEN_CPU_OP, "aten::_local_scalar_dense", &shape_scalar);
	copy(m, "Memcpy DtoH (Device -> Pageable)", 4);
	wait_for_gpu(m, "cudaStreamSynchronize");
	finish(m);
	finish(m);
	frame_end(m);
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
	ev = add(m, GEN_GPU_ANNOTATION, NULL);
	ev->external_id = external;
	ev->thread = STREAM;
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

const struct gen_event *gen_model_step(struct gen_model *m, size_t *count)
{
	uint64_t external;
	size_t i;

	m->count = 0;
	spend(m, 30000);
	external = begin(m, GEN_ANNOTATION, NULL, NULL)->external_id;
	frame(m, "train.py(301): train_step", -1);
	if (m->step == 0) {
		struct gen_event *ev =
			add(m, GEN_OVERHEAD, "Activity Buffer Request");
		spend(m, 1600000);
		ev->end_ns = m->clock[0];
	}
	load_batch(m);
	forward(m);
	if (!m->opts->inference) {
		backward(m);
		optimize(m);
	}
	read_loss(m);
	frame_end(m);
	finish(m);
	gpu_annotation(m, external);
	m->allocated = 2147483648;
	m->step++;
	qsort(m->ev, m->count, sizeof(*m->ev), by_order);
	for (i = 0; i < m->count && m->ev[i].kind <= GEN_MEMORY; i++)
		m->ev[i].index = m->index++;
	*count = m->count;
	return m->ev;
}

struct gen_model *gen_model_new(const struct gen_opts *opts)
{
	struct gen_model *m = calloc(1, sizeof(*m));

	if (!m) {
		fputs("mktrace: out of memory\n", stderr);
		exit(3);
	}
	m->opts = opts;
	m->random = opts->seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
	m->clock[0] = INT64_C(1419247332972313);
	m->allocated = m->reserved = 2147483648;
	m->next_addr = INT64_C(128180985266176);
	m->correlation = 8000;
	return m;
}

void gen_model_free(struct gen_model *m)
{
	free(m->ev);
	free(m);
}
