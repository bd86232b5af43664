/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <strings.h>

#include "formats/category.h"

#include "base/mem.h"

struct category {
	const char *text;
	enum pf_kind kind;
};

/* Compared without case; suffix rules follow in pf_category_kind(). */
static const struct category categories[] = {
	{ "cpu_op", PF_KIND_CPU_OP },
	{ "Operator", PF_KIND_CPU_OP },
	{ "user_annotation", PF_KIND_ANNOTATION },
	{ "python_function", PF_KIND_PYTHON },
	{ "Runtime", PF_KIND_RUNTIME },
	{ "overhead", PF_KIND_OVERHEAD },
	{ "nvtx", PF_KIND_CPU_OP },
	{ "kernel", PF_KIND_KERNEL },
	{ "gpu_memcpy", PF_KIND_MEMCPY },
	{ "Memcpy", PF_KIND_MEMCPY },
	{ "gpu_memset", PF_KIND_MEMSET },
	{ "Memset", PF_KIND_MEMSET },
	{ "gpu_user_annotation", PF_KIND_GPU_ANNOTATION },
	{ "cuda_sync", PF_KIND_GPU_SYNC },
	{ "xpu_sync", PF_KIND_GPU_SYNC },
	{ "cuda_profiler_range", PF_KIND_PROFILER_RANGE },
	/* other accelerators; XPU and plug-ins write "kernel" and so on */
	{ "mtia_ccp_events", PF_KIND_KERNEL },
	{ "hpu_op", PF_KIND_KERNEL },
	{ "mtia_insight", PF_KIND_MTIA },
	{ "cpu_instant_event", PF_KIND_INSTANT },
	{ "collective_comm", PF_KIND_COLLECTIVE },
	{ "cuda_event", PF_KIND_CUDA_EVENT },
	{ "Trace", PF_KIND_TRACE_SPAN },
};

static bool equal_nocase(const char *text, size_t len, const char *word)
{
	return strlen(word) == len && !strncasecmp(text, word, len);
}

static bool ends_with(const char *text, size_t len, const char *suffix)
{
	size_t n = strlen(suffix);

	return len > n && !strncasecmp(text + len - n, suffix, n);
}

enum pf_kind pf_category_kind(const char *text, size_t len)
{
	for (size_t i = 0; i < PF_LEN(categories); i++)
		if (equal_nocase(text, len, categories[i].text))
			return categories[i].kind;
	if (ends_with(text, len, "_runtime"))
		return PF_KIND_RUNTIME;
	if (ends_with(text, len, "_driver"))
		return PF_KIND_DRIVER;
	return PF_KIND_HOST;
}

const unsigned char pf_phases[256] = {
	['X'] = PF_PHASE_SPAN,    ['B'] = PF_PHASE_SPAN,
	['E'] = PF_PHASE_SPAN,    ['i'] = PF_PHASE_INSTANT,
	['I'] = PF_PHASE_INSTANT, ['R'] = PF_PHASE_INSTANT,
	['C'] = PF_PHASE_COUNTER, ['s'] = PF_PHASE_FLOW,
	['t'] = PF_PHASE_FLOW,    ['f'] = PF_PHASE_FLOW,
	['b'] = PF_PHASE_ASYNC,   ['n'] = PF_PHASE_ASYNC,
	['e'] = PF_PHASE_ASYNC,   ['S'] = PF_PHASE_ASYNC,
	['T'] = PF_PHASE_ASYNC,   ['p'] = PF_PHASE_ASYNC,
	['F'] = PF_PHASE_ASYNC,   ['N'] = PF_PHASE_STATE,
	['O'] = PF_PHASE_STATE,   ['D'] = PF_PHASE_STATE,
	['V'] = PF_PHASE_STATE,   ['v'] = PF_PHASE_STATE,
	['c'] = PF_PHASE_STATE,   ['('] = PF_PHASE_STATE,
	[')'] = PF_PHASE_STATE,   ['='] = PF_PHASE_STATE,
};

enum pf_kind pf_event_kind(char ph, enum pf_kind category, const char *name,
			   size_t name_len, bool on_device)
{
	enum pf_phase phase = pf_phase_of(ph);

	/* torch 2.14's exporter in Python gives instants a duration. */
	if (ph == 'X' && category == PF_KIND_INSTANT)
		phase = PF_PHASE_INSTANT;
	switch (phase) {
	case PF_PHASE_INSTANT:
		if (pf_is(name, name_len, "[memory]"))
			return PF_KIND_MEMORY;
		if (pf_is(name, name_len, "[OutOfMemory]"))
			return PF_KIND_OOM;
		return PF_KIND_INSTANT;
	case PF_PHASE_COUNTER:
		return PF_KIND_COUNTER;
	case PF_PHASE_FLOW:
		return PF_KIND_FLOW;
	case PF_PHASE_ASYNC:
		return PF_KIND_ASYNC;
	case PF_PHASE_NONE:
	case PF_PHASE_SPAN:
	case PF_PHASE_STATE:
		break;
	}
	/* MTIA's copies have the category of all its work. */
	if (category == PF_KIND_KERNEL && pf_is(name, name_len, "dma_request"))
		return PF_KIND_MEMCPY;
	/* ... and its streams' waits for each other, which are no work. */
	if (category == PF_KIND_KERNEL &&
	    (pf_is(name, name_len, "event_wait") ||
	     pf_is(name, name_len, "event_record")))
		return PF_KIND_GPU_SYNC;
	if (category == PF_KIND_HOST && on_device)
		return PF_KIND_GPU_OTHER;
	/* ONNX Runtime's nodes; its sessions are ranges around them. */
	if (category == PF_KIND_HOST &&
	    ends_with(name, name_len, "_kernel_time"))
		return PF_KIND_CPU_OP;
	return category;
}
