/* SPDX-License-Identifier: MIT */
/*
 * Faults that keep a GPU waiting, one kind in each step, and what they cost.
 *
 * The cost is worked out from the clocks of the machine, not from the events:
 * a span of host time costs what of it lies after the end of all work that
 * was launched; a wait costs the time from the end of that work to the start
 * of the next; a wait also blocks the host for as long as its call takes.
 */
#include "config.h"

#include "gen/model.h"

#include <string.h>

#define MICRO_NS 5000 /* shorter gaps are not explained */

struct gen_plant {
	const char *name;
	enum gen_place place;
	void (*make)(struct gen_model *m);
	/* how it must be named, and by which command */
	const char *command, *cause, *call, *op, *frame;
};

static const struct gen_kernel tiny = {
	"void at::native::vectorized_elementwise_kernel<4, at::native::"
	"AUnaryFunctor<float, float, float, at::native::binary_internal::"
	"MulFunctor<float> >, std::array<char*, 2ul> >(int, float)",
	1900,
	{ 4, 1, 1 },
	{ 128, 1, 1 },
	20,
	0
};
static const struct gen_kernel decode = {
	"void decode_step<float>(float*, float const*)",
	20000,
	{ 132, 1, 1 },
	{ 256, 1, 1 },
	64,
	4096
};
static const struct gen_kernel reduce = {
	"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage"
	"<4096ul>)",
	400000,
	{ 24, 1, 1 },
	{ 544, 1, 1 },
	96,
	84992
};

/* ---- what it costs ---- */

/* The GPU waited while event i was open. */
static void cost_span(struct gen_model *m, size_t i)
{
	int64_t from = m->ev[i].start_ns, to = m->ev[i].end_ns;

	if (from < m->gpu_free_ns)
		from = m->gpu_free_ns;
	if (to <= from)
		return;
	m->waiting_ns += to - from;
	m->waiting_count++;
}

/* What was waiting has an end; without steps only such time counts. */
static void end_wait(struct gen_model *m)
{
	if (m->gpu_free_ns || !m->opts->no_steps) {
		m->idle_ns += m->waiting_ns;
		m->fault_count += m->waiting_count;
	}
	m->waiting_ns = m->waiting_count = 0;
}

/* The call that was added last but "back" blocked the host. */
static void cost_block(struct gen_model *m, size_t back)
{
	const struct gen_event *ev = &m->ev[m->count - 1 - back];

	m->blocked_ns += ev->end_ns - ev->start_ns;
	m->fault_count++;
	m->drained_ns = m->gpu_free_ns;
}

void gen_plant_work(struct gen_model *m, int64_t start_ns)
{
	int64_t from = m->drained_ns;

	if (m->is_starved)
		from = m->gpu_free_ns;
	if (from && (m->drained_ns || start_ns - from >= MICRO_NS)) {
		m->idle_ns += start_ns - from;
		m->fault_count += m->is_starved;
	}
	m->drained_ns = 0;
	end_wait(m);
}

/* ---- the faults ---- */

static void make_sync(struct gen_model *m)
{
	gen_frame(m, "train.py(88): log_loss", -1);
	gen_frame(m, "<built-in method item of Tensor object at 0x7f>", -1);
	gen_begin(m, GEN_CPU_OP, "aten::item", NULL);
	gen_begin(m, GEN_CPU_OP, "aten::_local_scalar_dense", NULL);
	gen_copy(m, "Memcpy DtoH (Device -> Pageable)", 4);
	gen_wait_for_gpu(m, "cudaStreamSynchronize");
	cost_block(m, 0);
	gen_finish(m);
	gen_finish(m);
	gen_frame_end(m);
	gen_spend(m, 600000);
	gen_frame_end(m);
}

static void make_loader(struct gen_model *m)
{
	size_t outer = m->count, inner;

	gen_begin(m, GEN_ANNOTATION,
		  "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
		  NULL);
	gen_frame(m, "torch/utils/data/dataloader.py(757): _next_data", -1);
	inner = m->count;
	gen_frame(m, "dataset.py(42): __getitem__", -1);
	gen_spend(m, 20000000);
	gen_begin(m, GEN_CPU_OP, "aten::div", NULL);
	gen_spend(m, 3000000);
	gen_finish(m);
	gen_leaf(m, "aten::stack", NULL);
	gen_frame_end(m);
	gen_frame_end(m);
	gen_finish(m);
	cost_span(m, m->opts->stacks ? inner : outer);
}

/* The call returns when the copy has been made. */
static void make_pageable(struct gen_model *m)
{
	gen_frame(m, "train.py(61): to_device", -1);
	gen_begin(m, GEN_CPU_OP, "aten::to", NULL);
	gen_begin(m, GEN_CPU_OP, "aten::_to_copy", NULL);
	gen_begin(m, GEN_CPU_OP, "aten::copy_", NULL);
	gen_copy(m, "Memcpy HtoD (Pageable -> Device)", 67108864);
	m->clock[m->thread] = m->gpu_free_ns + 700;
	m->ev[m->count - 2].end_ns = m->clock[m->thread];
	cost_block(m, 1);
	gen_finish(m);
	gen_finish(m);
	gen_finish(m);
	gen_spend(m, 600000);
	gen_frame_end(m);
}

static void make_malloc(struct gen_model *m)
{
	struct gen_event *ev;

	gen_frame(m, "model.py(77): make_buffers", -1);
	gen_begin(m, GEN_CPU_OP, "aten::empty", NULL);
	gen_spend(m, 500);
	ev = gen_add(m, GEN_RUNTIME, "cudaMalloc");
	ev->external_id = m->external;
	ev->correlation = ++m->correlation;
	gen_spend(m, 12000000);
	ev->end_ns = m->clock[m->thread];
	cost_span(m, m->count - 1);
	gen_finish(m);
	gen_frame_end(m);
}

static void make_launch(struct gen_model *m)
{
	gen_frame(m, "train.py(131): clip_gradients", -1);
	for (int i = 0; i < 1500; i++) {
		gen_begin(m, GEN_CPU_OP, "aten::mul_", NULL);
		gen_leaf(m, "aten::empty", NULL);
		gen_launch(m, &tiny);
		m->is_starved = true;
		gen_finish(m);
	}
	m->is_starved = false;
	gen_frame_end(m);
}

static void make_collective(struct gen_model *m)
{
	struct gen_event *ev;
	size_t barrier;

	gen_frame(m, "train.py(140): sync_gradients", -1);
	barrier = m->count;
	gen_begin(m, GEN_CPU_OP, "c10d::barrier", NULL);
	gen_spend(m, 9000000);
	gen_finish(m);
	cost_span(m, barrier);
	gen_begin(m, GEN_CPU_OP, "c10d::allreduce_", NULL);
	ev = gen_gpu_work(m, "cudaLaunchKernelExC", GEN_KERNEL, reduce.name);
	ev->kernel = &reduce;
	ev->thread = 20;
	gen_gpu_end(m, ev, reduce.dur_ns);
	gen_finish(m);
	ev = gen_add(m, GEN_RUNTIME, "cudaStreamWaitEvent");
	ev->correlation = ++m->correlation;
	gen_spend(m, 1300);
	ev->end_ns = m->clock[m->thread];
	gen_frame_end(m);
}

/* One call starts kernels that wait for each other. */
static void make_graph(struct gen_model *m)
{
	struct gen_event *ev;

	gen_frame(m, "decode.py(33): replay", -1);
	gen_frame(m, "torch/cuda/graphs.py(88): replay", -1);
	ev = gen_gpu_work(m, "cudaGraphLaunch", GEN_KERNEL, decode.name);
	ev->kernel = &decode;
	gen_gpu_end(m, ev, decode.dur_ns);
	for (int i = 0; i < 60; i++) {
		ev = gen_add(m, GEN_KERNEL, decode.name);
		ev->correlation = m->correlation;
		ev->thread = GEN_STREAM;
		ev->start_ns = m->gpu_free_ns + gen_vary(&m->random, 60000);
		ev->kernel = &decode;
		m->idle_ns += ev->start_ns - m->gpu_free_ns;
		m->fault_count++;
		gen_gpu_end(m, ev, decode.dur_ns);
	}
	gen_frame_end(m);
	gen_frame_end(m);
}

static void make_garbage(struct gen_model *m)
{
	size_t inner;

	gen_frame(m, "train.py(204): tidy", -1);
	inner = m->count;
	gen_frame(m, "<built-in function collect>", -1);
	gen_spend(m, 14000000);
	gen_frame_end(m);
	gen_frame_end(m);
	if (m->opts->stacks)
		cost_span(m, inner);
}

/* The driver loads code at a kernel's first launch. */
static void make_module(struct gen_model *m)
{
	struct gen_event *ev;

	gen_frame(m, "model.py(91): project", -1);
	gen_begin(m, GEN_CPU_OP, "aten::bmm", NULL);
	gen_spend(m, 2000);
	ev = gen_add(m, GEN_OVERHEAD, "Lazy Function Loading");
	ev->thread = 2;
	gen_spend(m, 11000000);
	ev->end_ns = m->clock[m->thread];
	cost_span(m, m->count - 1);
	gen_spend(m, 2000);
	gen_finish(m);
	gen_frame_end(m);
}

static const struct gen_plant plants[] = {
	{ "none", GEN_AT_END, NULL, "", "", "", "", "" },
	{ "sync", GEN_AT_MIDDLE, make_sync, "syncs", "sync",
	  "cudaStreamSynchronize", "aten::_local_scalar_dense",
	  "train.py:88 log_loss" },
	{ "loader", GEN_AT_LOAD, make_loader, "gaps", "data loading",
	  "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "",
	  "dataset.py:42 __getitem__" },
	{ "pageable", GEN_AT_LOAD, make_pageable, "syncs", "blocking copy",
	  "cudaMemcpyAsync", "aten::copy_", "train.py:61 to_device" },
	{ "malloc", GEN_AT_MIDDLE, make_malloc, "gaps", "allocator",
	  "cudaMalloc", "aten::empty", "model.py:77 make_buffers" },
	{ "launch", GEN_AT_MIDDLE, make_launch, "gaps", "", "", "aten::mul_",
	  "train.py:131 clip_gradients" },
	{ "collective", GEN_AT_MIDDLE, make_collective, "gaps",
	  "communication wait", "c10d::barrier", "c10d::barrier",
	  "train.py:140 sync_gradients" },
	{ "graph", GEN_AT_END, make_graph, "gaps", "graph", "cudaGraphLaunch",
	  "", "decode.py:33 replay" },
	{ "garbage", GEN_AT_END, make_garbage, "gaps", "garbage collection",
	  "<built-in function collect>", "", "train.py:204 tidy" },
	{ "module", GEN_AT_MIDDLE, make_module, "gaps", "first use",
	  "Lazy Function Loading", "aten::bmm", "model.py:91 project" },
	{ NULL, GEN_AT_END, NULL, NULL, NULL, NULL, NULL, NULL },
};

const struct gen_plant *gen_plant_find(const char *name)
{
	const struct gen_plant *p = plants;

	while (p->name && strcmp(p->name, name))
		p++;
	return p->name ? p : NULL;
}

void gen_plant_make(struct gen_model *m, enum gen_place place)
{
	if (m->plant && m->plant->make && m->plant->place == place)
		m->plant->make(m);
}

/* ---- what must be found ---- */

int gen_plant_write(struct gen_model *m, const char *path)
{
	const struct gen_plant *p = m->plant;
	FILE *f = fopen(path, "w");
	int failed;

	if (!f)
		return -1;
	/* nothing was launched any more: it waits to the end of the step */
	if (m->drained_ns && m->step_end_ns > m->drained_ns)
		m->idle_ns += m->step_end_ns - m->drained_ns;
	if (!m->opts->no_steps)
		end_wait(m);
	fputs("command,cause,call,op,frame,count,idle_ns,blocked_ns\n", f);
	fprintf(f, "%s,%s,%s,%s,%s,%lld,%lld,%lld\n", p->command, p->cause,
		p->call, p->op, p->frame, (long long)m->fault_count,
		(long long)m->idle_ns, (long long)m->blocked_ns);
	failed = ferror(f);
	return fclose(f) || failed ? -1 : 0;
}
