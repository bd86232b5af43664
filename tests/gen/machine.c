/* SPDX-License-Identifier: MIT */
/* What programs are made of: operators, frames, calls, work on the stream. */
#include "config.h"

#include "gen/model.h"

#include <stdlib.h>
#include <string.h>

/* ---- events ---- */

struct gen_event *gen_add(struct gen_model *m, enum gen_kind kind,
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
	ev->device = m->device;
	ev->module = -1;
	ev->start_ns = ev->end_ns = m->clock[m->thread];
	return ev;
}

void gen_spend(struct gen_model *m, int64_t mean_ns)
{
	m->clock[m->thread] += gen_vary(&m->random, mean_ns);
}

struct gen_event *gen_begin(struct gen_model *m, enum gen_kind kind,
			    const char *name, const struct gen_shape *shape)
{
	struct gen_event *ev;

	gen_spend(m, 450);
	ev = gen_add(m, kind, name);
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
	gen_spend(m, kind == GEN_PYTHON ? 700 : 1100);
	return ev;
}

void gen_finish(struct gen_model *m)
{
	struct gen_event *ev = &m->ev[m->open[--m->depth]];

	gen_spend(m, 900);
	ev->end_ns = m->clock[m->thread];
	if (ev->kind == GEN_PYTHON)
		m->python_depth--;
}

void gen_leaf(struct gen_model *m, const char *name,
	      const struct gen_shape *shape)
{
	gen_begin(m, GEN_CPU_OP, name, shape);
	gen_finish(m);
}

/* A python frame, only when stacks are recorded. */
void gen_frame(struct gen_model *m, const char *name, int module)
{
	if (m->opts->stacks)
		gen_begin(m, GEN_PYTHON, name, NULL)->module = module;
}

void gen_frame_end(struct gen_model *m)
{
	if (m->opts->stacks)
		gen_finish(m);
}

void gen_memory(struct gen_model *m, int64_t bytes)
{
	struct gen_event *ev;

	gen_spend(m, 200);
	m->allocated += bytes;
	if (m->allocated > m->reserved)
		m->reserved = m->allocated;
	ev = gen_add(m, GEN_MEMORY, "[memory]");
	ev->bytes = bytes;
	ev->addr = m->next_addr;
	ev->allocated = m->allocated;
	ev->reserved = m->reserved;
	ev->on_gpu = true;
	m->next_addr += bytes > 0 ? bytes : 0;
}

/* The call of the CUDA runtime that starts work on the stream. */
struct gen_event *gen_gpu_work(struct gen_model *m, const char *call,
			       enum gen_kind kind, const char *name)
{
	struct gen_event *ev;
	uint64_t external = m->ev[m->open[m->depth - 1]].external_id;
	int64_t start;

	gen_spend(m, 500);
	ev = gen_add(m, GEN_RUNTIME, call);
	gen_spend(m, 4200);
	ev->end_ns = m->clock[m->thread];
	ev->external_id = external;
	ev->correlation = ++m->correlation;
	ev->flow_start = true;
	start = m->clock[m->thread] + gen_vary(&m->random, 2300);
	if (start < m->gpu_free_ns + 640)
		start = m->gpu_free_ns + gen_vary(&m->random, 850);
	gen_plant_work(m, start);
	ev = gen_add(m, kind, name);
	ev->external_id = external;
	ev->correlation = m->correlation;
	ev->thread = GEN_STREAM;
	ev->start_ns = start;
	return ev;
}

void gen_gpu_end(struct gen_model *m, struct gen_event *ev, int64_t mean)
{
	ev->end_ns = ev->start_ns + gen_vary(&m->random, mean);
	m->gpu_free_ns = ev->end_ns;
}

void gen_launch(struct gen_model *m, const struct gen_kernel *kernel)
{
	struct gen_event *ev =
		gen_gpu_work(m, "cudaLaunchKernel", GEN_KERNEL, kernel->name);

	ev->kernel = kernel;
	gen_gpu_end(m, ev, kernel->dur_ns);
}

void gen_copy(struct gen_model *m, const char *name, int64_t bytes)
{
	struct gen_event *ev =
		gen_gpu_work(m, "cudaMemcpyAsync", GEN_MEMCPY, name);

	ev->bytes = bytes;
	gen_gpu_end(m, ev, 1200 + bytes / 24);
	m->ev[m->count - 2].to_host = true;
}

void gen_clear(struct gen_model *m, int64_t bytes)
{
	struct gen_event *ev = gen_gpu_work(m, "cudaMemsetAsync", GEN_MEMSET,
					    "Memset (Device)");

	ev->bytes = bytes;
	gen_gpu_end(m, ev, 900 + bytes / 1400);
}

void gen_wait_for_gpu(struct gen_model *m, const char *call)
{
	struct gen_event *ev = gen_add(m, GEN_RUNTIME, call);

	ev->correlation = ++m->correlation;
	ev->external_id =
		m->depth ? m->ev[m->open[m->depth - 1]].external_id : 0;
	gen_spend(m, 2500);
	if (m->clock[m->thread] < m->gpu_free_ns)
		m->clock[m->thread] = m->gpu_free_ns + 1500;
	ev->end_ns = m->clock[m->thread];
}
