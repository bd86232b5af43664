/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "events/device_line.h"
#include "events/words.h"
#include "store/argtext.h"
#include "formats/planes.h"

struct pf_device_place pf_device_place(const char *process, const char *line)
{
	struct pf_plane plane = pf_plane_of(process, strlen(process));
	struct pf_line row = pf_line_of(plane.kind, line, strlen(line));
	struct pf_device_place out = { 0 };

	if (plane.kind == PF_PLANE_HOST)
		out.line = pf_is_pool(line, strlen(line)) ? PF_LINE_POOL
							  : PF_LINE_THREAD;
	if (!*line || plane.device < 0)
		return out;
	snprintf(out.pid, sizeof(out.pid), "%s%" PRId64,
		 plane.kind == PF_PLANE_TPU ? "TPU " : "", plane.device);
	if (row.kind == PF_ROW_STREAM)
		snprintf(out.tid, sizeof(out.tid), "%" PRId64, row.stream);
	out.line = row.kind == PF_ROW_STREAM               ? PF_LINE_STREAM
		   : row.kind != PF_ROW_AGAIN              ? PF_LINE_OTHER
		   : pf_line_has_steps(line, strlen(line)) ? PF_LINE_STEPS
							   : PF_LINE_DERIVED;
	return out;
}

enum pf_device_line pf_device_npu_line(const char *process, const char *line)
{
	enum pf_plane_kind plane = pf_npu_plane_of(process, strlen(process));

	if (plane == PF_PLANE_OTHER)
		return PF_LINE_HOST;
	switch (pf_line_of(plane, line, strlen(line)).kind) {
	case PF_ROW_TASKS:
		return PF_LINE_TASKS;
	case PF_ROW_COLLECTIVES:
		return PF_LINE_COLLECTIVES;
	case PF_ROW_AGAIN:
		return PF_LINE_DERIVED;
	default:
		return PF_LINE_CALLS;
	}
}

static bool has(const char *text, size_t len, const char *part)
{
	return memmem(text, len, part, strlen(part)) != NULL;
}

/* The text of a member; NULL: there is none. */
static const char *text_of(const char *args, size_t len, const char *key,
			   size_t *out_len)
{
	struct pf_argtext it = { args, len, 0 };
	struct pf_arg arg;

	while (pf_argtext_next(&it, &arg))
		if (arg.key_len == strlen(key) &&
		    !memcmp(arg.key, key, arg.key_len) && arg.value_len > 2 &&
		    *arg.value == '"') {
			*out_len = arg.value_len - 2;
			return arg.value + 1;
		}
	return NULL;
}

/* The number that a member says as text: "key":"123"; or none. */
static int64_t number_of(const char *args, size_t len, const char *key,
			 int64_t none)
{
	size_t text_len;
	const char *text = text_of(args, len, key, &text_len);
	int64_t value;

	return text && pf_step_of(text, text_len, &value) ? value : none;
}

static bool is_operator(const char *name, size_t name_len, const char *args,
			size_t args_len)
{
	size_t len;
	const char *whole;

	if (has(args, args_len, "\"tf_op\":") ||
	    has(args, args_len, "\"kernel_name\":") ||
	    has(args, args_len, "\"hlo_op\":"))
		return true;
	whole = text_of(args, args_len, "long_name", &len);
	return whole && pf_is_operator(whole, len, name, name_len);
}

static bool is_of_runtime(const char *args, size_t len)
{
	struct pf_argtext it = { args, len, 0 };
	struct pf_arg arg;

	while (pf_argtext_next(&it, &arg))
		if (pf_is_runtime_stat(arg.key, arg.key_len))
			return true;
	return false;
}

static enum pf_kind thread_kind(enum pf_device_line line, const char *name,
				size_t name_len, const char *args,
				size_t args_len)
{
	enum pf_kind kind = pf_host_kind(name, name_len);

	/* the JSON does not say what is allocated as numbers */
	if (kind == PF_KIND_MEMORY)
		return PF_KIND_HOST;
	if (kind != PF_KIND_HOST && kind != PF_KIND_ANNOTATION)
		return kind;
	return pf_range_kind(kind, pf_is_tf_data(name, name_len),
			     has(args, args_len, "\"step_num\":"),
			     is_operator(name, name_len, args, args_len),
			     line == PF_LINE_POOL ||
				     is_of_runtime(args, args_len));
}

/* A task of an NPU's stream by its type; of none that is known: no work. */
static enum pf_kind task_kind(const char *args, size_t args_len)
{
	size_t len;
	const char *type = text_of(args, args_len, "Task Type", &len);

	if (!type)
		return PF_KIND_GPU_OTHER;
	if (pf_word_n(PF_WORD_NPU_WAIT, type, len))
		return PF_KIND_GPU_SYNC;
	if (pf_word_n(PF_WORD_NPU_COPY, type, len))
		return PF_KIND_MEMCPY;
	return pf_word_n(PF_WORD_NPU_KERNEL, type, len) ? PF_KIND_KERNEL
							: PF_KIND_GPU_OTHER;
}

static enum pf_kind kind_of(enum pf_device_line line, const char *name,
			    size_t name_len, const char *args, size_t args_len)
{
	switch (line) {
	case PF_LINE_OTHER:
		return PF_KIND_GPU_OTHER;
	case PF_LINE_THREAD:
	case PF_LINE_POOL:
		return thread_kind(line, name, name_len, args, args_len);
	case PF_LINE_STREAM:
		return pf_work_kind(name, name_len,
				    has(args, args_len, "kernel_details"),
				    has(args, args_len, "memcpy_details"),
				    has(args, args_len, "memset_details"));
	case PF_LINE_TASKS:
		return task_kind(args, args_len);
	case PF_LINE_COLLECTIVES:
		return PF_KIND_KERNEL;
	case PF_LINE_CALLS:
		return PF_KIND_RUNTIME;
	default:
		return PF_KIND_GPU_ANNOTATION;
	}
}

struct pf_device_event pf_device_event(enum pf_device_line line,
				       const char *name, size_t name_len,
				       const char *args, size_t args_len)
{
	struct pf_device_event out = { .step = -1 };
	int64_t step;

	out.kind = kind_of(line, name, name_len, args, args_len);
	if (out.kind == PF_KIND_RUNTIME || out.kind == PF_KIND_DRIVER ||
	    pf_kind_is_gpu_work(out.kind))
		out.correlation =
			number_of(args, args_len, "correlation_id", 0);
	if (line == PF_LINE_THREAD || line == PF_LINE_POOL)
		out.step = number_of(args, args_len, "step_num", -1);
	out.is_sure = out.step >= 0 || pf_is_tf_data(name, name_len);
	if (line == PF_LINE_STEPS && pf_step_of(name, name_len, &step))
		out.step = step;
	return out;
}
