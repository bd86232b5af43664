/* SPDX-License-Identifier: MIT */
/*
 * Events as Kineto writes them: pretty is torch's own layout, compact is what
 * json.dump with separators makes of it, old is torch 1.x.
 */
#include "config.h"

#include "gen/gen.h"

#include <stdlib.h>
#include <string.h>

#define BASE_NS    INT64_C(1751410836000000000)
#define START_NS   INT64_C(1419247332500684)
#define HOST_PID   19392
#define FIRST_TID  19392
#define SECOND_TID 19871

struct emit {
	const struct gen_opts *opts;
	struct gen_out *out;
	struct gen_truth *truth;
	bool first;
};

static const char *const categories[2][GEN_KINDS] = {
	{ "cpu_op", "user_annotation", "python_function", "cpu_instant_event",
	  "cuda_runtime", "overhead", "kernel", "gpu_memcpy", "gpu_memset",
	  "gpu_user_annotation" },
	{ "Operator", "user_annotation", "python_function", "", "Runtime",
	  "overhead", "Kernel", "Memcpy", "Memset", "gpu_user_annotation" },
};

static void open_event(struct emit *e)
{
	gen_puts(e->out, e->first ? "" : ",");
	gen_puts(e->out, e->opts->compact ? "\n{" : "\n  {\n    ");
	e->first = false;
}

/* "key": with a comma in front unless it is the first; then the value. */
static void key(struct emit *e, const char *name)
{
	bool compact = e->opts->compact;

	gen_puts(e->out, compact ? ",\"" : ", \"");
	gen_puts(e->out, name);
	gen_puts(e->out, compact ? "\":" : "\": ");
}

static void first_key(struct emit *e, const char *name)
{
	gen_putc(e->out, '"');
	gen_puts(e->out, name);
	gen_puts(e->out, e->opts->compact ? "\":" : "\": ");
}

static void text(struct emit *e, const char *s)
{
	gen_putc(e->out, '"');
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			gen_putc(e->out, '\\');
		gen_putc(e->out, *s);
	}
	gen_putc(e->out, '"');
}

static void number(struct emit *e, const char *name, int64_t v)
{
	key(e, name);
	gen_puti(e->out, v);
}

static void put_pid(struct emit *e, const struct gen_event *ev, int64_t pid)
{
	bool gpu = ev && ev->kind >= GEN_KERNEL;
	bool driver = ev && ev->kind == GEN_OVERHEAD && ev->thread == 2;
	int64_t tid = ev && ev->thread ? SECOND_TID : FIRST_TID;

	if (gpu)
		pid = ev->device;
	number(e, "pid", driver ? -1 : pid);
	key(e, "tid");
	if (e->opts->old)
		gen_puts(e->out, gpu ? "\"stream " : "\"");
	if (gpu)
		tid = ev->thread;
	else if (driver)
		tid = 0;
	else if (ev)
		tid += ev->device * 1000;
	gen_puti(e->out, tid);
	if (e->opts->old)
		gen_putc(e->out, '"');
}

static void put_time(struct emit *e, int64_t start_ns, int64_t end_ns)
{
	bool old = e->opts->old;

	gen_puts(e->out, e->opts->compact ? ",\"ts\":" : ",\n    \"ts\": ");
	gen_put_us(e->out, start_ns, old);
	if (end_ns < 0)
		return;
	key(e, "dur");
	gen_put_us(e->out,
		   old ? end_ns / 1000 * 1000 - start_ns / 1000 * 1000
		       : end_ns - start_ns,
		   old);
}

static void open_args(struct emit *e)
{
	gen_puts(e->out, e->opts->compact ? ",\"args\":{"
					  : ",\n    \"args\": {\n      ");
}

static void close_event(struct emit *e, bool args)
{
	if (e->opts->compact)
		gen_puts(e->out, args ? "}}" : "}");
	else
		gen_puts(e->out, args ? "\n    }\n  }" : "\n  }");
}

static void put_shape(struct emit *e, const struct gen_shape *s)
{
	if (!e->opts->old) {
		key(e, "Concrete Inputs");
		gen_puts(e->out, s->concrete);
		key(e, "Input type");
		gen_puts(e->out, s->types);
		key(e, "Input Strides");
		gen_puts(e->out, s->strides);
	}
	key(e, "Input Dims");
	gen_puts(e->out, s->dims);
}

static void args_of_op(struct emit *e, const struct gen_event *ev)
{
	first_key(e, "External id");
	gen_putu(e->out, ev->external_id);
	if (!e->opts->old)
		number(e, "Record function id", 0);
	if (ev->sequence) {
		number(e, "Sequence number", (int64_t)ev->sequence);
		number(e, "Fwd thread id", ev->backward ? 1 : 0);
	}
	if (ev->shape)
		put_shape(e, ev->shape);
	if (!e->opts->old)
		number(e, "Ev Idx", (int64_t)ev->index);
}

static void args_of_python(struct emit *e, const struct gen_event *ev)
{
	first_key(e, "Python parent id");
	if (ev->python_parent)
		gen_putu(e->out, ev->python_parent);
	else
		gen_puts(e->out, "null");
	number(e, "Python id", (int64_t)ev->python_id);
	if (ev->module >= 0)
		number(e, "Python module id", ev->module);
	number(e, "Ev Idx", (int64_t)ev->index);
}

static void args_of_memory(struct emit *e, const struct gen_event *ev)
{
	if (e->opts->old) {
		first_key(e, "Device Type");
		gen_puti(e->out, ev->on_gpu);
		number(e, "Device Id", ev->on_gpu ? 0 : -1);
		number(e, "Bytes", ev->bytes);
		return;
	}
	first_key(e, "Total Reserved");
	gen_puti(e->out, ev->reserved);
	number(e, "Total Allocated", ev->allocated);
	number(e, "Bytes", ev->bytes);
	number(e, "Addr", ev->addr);
	number(e, "Device Id", ev->on_gpu ? 0 : -1);
	number(e, "Device Type", ev->on_gpu);
	number(e, "Ev Idx", (int64_t)ev->index);
}

static void put_decimal(struct emit *e, const char *name, int64_t millionths)
{
	char digits[16];

	snprintf(digits, sizeof(digits), "%06d", (int)(millionths % 1000000));
	number(e, name, millionths / 1000000);
	gen_putc(e->out, '.');
	gen_puts(e->out, digits);
}

static void put_triple(struct emit *e, const char *name, const int v[3])
{
	int i;

	key(e, name);
	for (i = 0; i < 3; i++) {
		gen_puts(e->out, i ? (e->opts->compact ? "," : ", ") : "[");
		gen_puti(e->out, v[i]);
	}
	gen_putc(e->out, ']');
}

static void args_of_kernel(struct emit *e, const struct gen_event *ev)
{
	const struct gen_kernel *k = ev->kernel;
	int64_t blocks = (int64_t)k->grid[0] * k->grid[1] * k->grid[2];
	int64_t per_sm = blocks * 1000000 / 132;
	int64_t warps = k->block[0] * k->block[1] * k->block[2] / 32;
	int64_t share = per_sm * warps / 640000;

	number(e, "queued", 0);
	number(e, "device", ev->device);
	number(e, "context", 1);
	number(e, "stream", ev->thread);
	number(e, "correlation", (int64_t)ev->correlation);
	number(e, "registers per thread", k->registers);
	number(e, "shared memory", k->shared_bytes);
	put_decimal(e, "blocks per SM", per_sm);
	put_decimal(e, "warps per SM", per_sm * warps);
	put_triple(e, "grid", k->grid);
	put_triple(e, "block", k->block);
	number(e, "est. achieved occupancy %", share > 100 ? 100 : share);
}

static void args_of_gpu(struct emit *e, const struct gen_event *ev)
{
	int64_t dur = ev->end_ns - ev->start_ns;

	first_key(e, e->opts->old ? "external id" : "External id");
	gen_putu(e->out, ev->external_id);
	if (ev->kind == GEN_KERNEL)
		args_of_kernel(e, ev);
	if (ev->kind != GEN_MEMCPY && ev->kind != GEN_MEMSET)
		return;
	number(e, "device", ev->device);
	number(e, "context", 1);
	number(e, "stream", ev->thread);
	number(e, "correlation", (int64_t)ev->correlation);
	number(e, "bytes", ev->bytes);
	put_decimal(e, "memory bandwidth (GB/s)",
		    ev->bytes * 1000000 / (dur ? dur : 1));
}

static void args_of_runtime(struct emit *e, const struct gen_event *ev)
{
	first_key(e, e->opts->old ? "external id" : "External id");
	gen_putu(e->out, ev->external_id);
	number(e, "cbid", ev->to_host ? 41 : 211);
	number(e, "correlation", (int64_t)ev->correlation);
}

static void put_args(struct emit *e, const struct gen_event *ev)
{
	open_args(e);
	switch (ev->kind) {
	case GEN_CPU_OP:
	case GEN_ANNOTATION:
		args_of_op(e, ev);
		break;
	case GEN_PYTHON:
		args_of_python(e, ev);
		break;
	case GEN_MEMORY:
		args_of_memory(e, ev);
		break;
	case GEN_RUNTIME:
	case GEN_OVERHEAD:
		args_of_runtime(e, ev);
		break;
	default:
		args_of_gpu(e, ev);
		break;
	}
}

static void count(struct emit *e, const struct gen_event *ev, const char *cat)
{
	bool instant = ev->kind == GEN_MEMORY;
	int64_t dur = ev->end_ns - ev->start_ns;

	if (e->opts->old)
		dur = ev->end_ns / 1000 * 1000 - ev->start_ns / 1000 * 1000;
	gen_truth_add(e->truth, "ph", instant ? "i" : "X", "", 0);
	if (instant)
		return;
	gen_truth_add(e->truth, "category", cat, "", dur);
	gen_truth_add(e->truth, "name", cat,
		      ev->name ? ev->name : "ProfilerStep#*", dur);
}

static void put_event(struct emit *e, const struct gen_event *ev)
{
	const char *cat = categories[e->opts->old][ev->kind];
	bool instant = ev->kind == GEN_MEMORY;

	open_event(e);
	first_key(e, "ph");
	gen_puts(e->out, instant ? "\"i\"" : "\"X\"");
	if (*cat) {
		key(e, "cat");
		text(e, cat);
	}
	if (instant) {
		key(e, "s");
		gen_puts(e->out, "\"t\"");
	}
	key(e, "name");
	if (ev->name && e->opts->amd && ev->kind == GEN_RUNTIME) {
		gen_puts(e->out, "\"hip");
		gen_puts(e->out, ev->name + strlen("cuda"));
		gen_putc(e->out, '"');
	} else if (ev->name) {
		text(e, ev->name);
	} else {
		gen_puts(e->out, "\"ProfilerStep#");
		gen_puti(e->out, ev->step);
		gen_putc(e->out, '"');
	}
	put_pid(e, ev, ev->kind >= GEN_KERNEL ? 0 : HOST_PID);
	put_time(e, ev->start_ns, instant ? -1 : ev->end_ns);
	put_args(e, ev);
	close_event(e, true);
	count(e, ev, cat);
}

static void put_flow(struct emit *e, const struct gen_event *ev,
		     const char *name, uint64_t id, bool start)
{
	bool old_launch = e->opts->old && name[0] == 'a';

	open_event(e);
	first_key(e, "ph");
	gen_puts(e->out, start ? "\"s\"" : "\"f\"");
	number(e, "id", (int64_t)id);
	put_pid(e, ev, ev->kind >= GEN_KERNEL ? 0 : HOST_PID);
	put_time(e, ev->start_ns, -1);
	key(e, "cat");
	text(e, old_launch ? "async" : name);
	key(e, "name");
	text(e, old_launch ? "launch" : name);
	if (!start) {
		key(e, "bp");
		gen_puts(e->out, "\"e\"");
	}
	close_event(e, false);
	gen_truth_add(e->truth, "ph", start ? "s" : "f", "", 0);
}

static void put_step(struct emit *e, const struct gen_event *ev, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (ev[i].kind == GEN_PYTHON && e->opts->old)
			continue;
		put_event(e, &ev[i]);
		if (ev[i].flow)
			put_flow(e, &ev[i], "fwdbwd", ev[i].flow,
				 ev[i].flow_start);
		if (!ev[i].correlation)
			continue;
		if (ev[i].kind == GEN_RUNTIME && ev[i].flow_start)
			put_flow(e, &ev[i], "ac2g", ev[i].correlation, true);
		else if (ev[i].kind >= GEN_KERNEL)
			put_flow(e, &ev[i], "ac2g", ev[i].correlation, false);
		if (ev[i].kind >= GEN_KERNEL)
			gen_truth_add(e->truth, "launches", "", "", 0);
	}
}

static void put_meta(struct emit *e, const char *name, const char *pid,
		     const char *tid, const char *arg, const char *value)
{
	open_event(e);
	first_key(e, "name");
	text(e, name);
	key(e, "ph");
	gen_puts(e->out, "\"M\"");
	put_time(e, START_NS, -1);
	key(e, "pid");
	gen_puts(e->out, pid);
	key(e, "tid");
	gen_puts(e->out, tid);
	open_args(e);
	first_key(e, arg);
	gen_puts(e->out, value);
	close_event(e, true);
	gen_truth_add(e->truth, "ph", "M", "", 0);
}

static void put_tail(struct emit *e, int64_t end_ns)
{
	static const char spans[] = "\"Spans\"";

	put_meta(e, "process_name", "19392", "0", "name", "\"python3\"");
	put_meta(e, "process_labels", "19392", "0", "labels", "\"CPU\"");
	put_meta(e, "process_sort_index", "19392", "0", "sort_index", "19392");
	put_meta(e, "process_name", "0", "0", "name", "\"python3\"");
	put_meta(e, "process_labels", "0", "0", "labels", "\"GPU 0\"");
	put_meta(e, "process_sort_index", "0", "0", "sort_index", "5000000");
	put_meta(e, "thread_name", "19392",
		 e->opts->old ? "\"19392\"" : "19392", "name",
		 "\"thread 19392 (python3)\"");
	put_meta(e, "thread_name", "19392",
		 e->opts->old ? "\"19871\"" : "19871", "name",
		 "\"thread 19871 (pt_autograd_0)\"");
	put_meta(e, "thread_name", "0", e->opts->old ? "\"stream 7\"" : "7",
		 "name", "\"stream 7 \"");
	open_event(e);
	first_key(e, "ph");
	gen_puts(e->out, "\"X\"");
	key(e, "cat");
	gen_puts(e->out, "\"Trace\"");
	put_time(e, START_NS, end_ns);
	key(e, "pid");
	gen_puts(e->out, spans);
	key(e, "tid");
	gen_puts(e->out, "\"PyTorch Profiler\"");
	key(e, "name");
	gen_puts(e->out, "\"PyTorch Profiler (0)\"");
	open_args(e);
	first_key(e, "Op count");
	gen_putc(e->out, '0');
	close_event(e, true);
	gen_truth_add(e->truth, "ph", "X", "", 0);
	open_event(e);
	gen_puts(e->out, "\"name\": \"Record Window End\", \"ph\": \"i\", "
			 "\"s\": \"g\", \"pid\": \"\", \"tid\": \"\"");
	put_time(e, end_ns, -1);
	close_event(e, false);
	gen_truth_add(e->truth, "ph", "i", "", 0);
}

static void put_head(struct emit *e)
{
	struct gen_out *o = e->out;

	gen_puts(o, "{\n  \"schemaVersion\": 1,\n"
		    "  \"deviceProperties\": [\n    {\n"
		    "      \"id\": 0, \"name\": \"NVIDIA H100 80GB HBM3\", "
		    "\"totalGlobalMem\": 85029158912,\n"
		    "      \"computeMajor\": 9, \"computeMinor\": 0,\n"
		    "      \"maxThreadsPerBlock\": 1024, "
		    "\"maxThreadsPerMultiprocessor\": 2048,\n"
		    "      \"regsPerBlock\": 65536, \"warpSize\": 32,\n"
		    "      \"sharedMemPerBlock\": 49152, \"numSms\": 132,\n"
		    "      \"regsPerMultiprocessor\": 65536, "
		    "\"sharedMemPerBlockOptin\": 232448, "
		    "\"sharedMemPerMultiprocessor\": 233472\n    }\n  ],\n");
	if (!e->opts->old) {
		gen_puts(o, "  \"cupti_version\": 22,\n"
			    "  \"cuda_runtime_version\": 12040,\n"
			    "  \"cuda_driver_version\": 12090,\n"
			    "  \"record_shapes\": 1,\n"
			    "  \"profile_memory\": 1,\n  \"with_stack\": ");
		gen_puts(o, e->opts->stacks ? "1" : "0");
		gen_puts(o, ",\n  \"trace_id\": "
			    "\"7D0E11F2A7B94C70A3C5B1E2D4F60718\",\n"
			    "  \"displayTimeUnit\": \"ms\",\n"
			    "  \"baseTimeNanoseconds\": ");
		gen_puti(o, BASE_NS);
		gen_puts(o, ",\n");
	}
	gen_puts(o, "  \"traceEvents\": [");
}

/* Write the next step; the time of its last event, or end_ns if later. */
static int64_t put_next(struct emit *e, struct gen_model *m, int64_t end_ns)
{
	const struct gen_event *ev;
	size_t i, n;

	ev = gen_model_step(m, &n);
	put_step(e, ev, n);
	for (i = 0; i < n; i++)
		if (ev[i].end_ns > end_ns)
			end_ns = ev[i].end_ns;
	return end_ns;
}

int gen_kineto(const struct gen_opts *opts, struct gen_out *out,
	       struct gen_truth *truth)
{
	struct emit e = { opts, out, truth, true };
	struct gen_model *m = gen_model_new(opts, 0);
	struct gen_model *other =
		opts->gpus > 1 ? gen_model_new(opts, 1) : NULL;
	int64_t step, end_ns = START_NS, took_ns = 0;
	int rc = 0;

	put_head(&e);
	for (step = 0; opts->size_bytes ? out->total < opts->size_bytes
					: step < opts->steps;
	     step++) {
		end_ns = put_next(&e, m, end_ns);
		/* as many as fit in, so that both GPUs end together */
		while (other &&
		       gen_model_clock(other) + took_ns < gen_model_clock(m)) {
			took_ns = -gen_model_clock(other);
			end_ns = put_next(&e, other, end_ns);
			took_ns += gen_model_clock(other);
		}
	}
	put_tail(&e, end_ns);
	gen_puts(out, "\n  ]");
	if (!opts->old)
		gen_puts(out, ",\n  \"traceName\": \"train.json\"");
	gen_puts(out, "\n}\n");
	if (opts->plant && opts->planted_path)
		rc = gen_plant_write(m, opts->planted_path);
	gen_model_free(m);
	if (other)
		gen_model_free(other);
	return gen_flush(out) | rc;
}
