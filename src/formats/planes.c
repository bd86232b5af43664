/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "formats/planes.h"

#include "base/mem.h"

static bool starts(const char **p, size_t *len, const char *word)
{
	if (!pf_begins(*p, *len, word))
		return false;
	*p += strlen(word);
	*len -= strlen(word);
	return true;
}

/* A number of at most nine digits, then what follows it. */
static bool number(const char **p, size_t *len, int64_t *value)
{
	size_t n = 0;

	*value = 0;
	for (; n < *len && (*p)[n] >= '0' && (*p)[n] <= '9'; n++)
		if (n < 9)
			*value = *value * 10 + ((*p)[n] - '0');
	*p += n;
	*len -= n;
	return n > 0 && n <= 9;
}

static const struct {
	const char *name;
	enum pf_plane_kind kind;
} npu_planes[] = {
	{ "Ascend Hardware", PF_PLANE_NPU },
	{ "HCCL", PF_PLANE_NPU_COMM },
	{ "Communication", PF_PLANE_NPU_COMM }, /* as later versions call it */
	{ "Overlap Analysis", PF_PLANE_NPU_AGAIN },
	{ "CANN", PF_PLANE_NPU_CALLS },
};

enum pf_plane_kind pf_npu_plane_of(const char *name, size_t len)
{
	for (size_t i = 0; i < PF_LEN(npu_planes); i++)
		if (pf_is(name, len, npu_planes[i].name))
			return npu_planes[i].kind;
	return PF_PLANE_OTHER;
}

struct pf_plane pf_plane_of(const char *name, size_t len)
{
	struct pf_plane plane = { PF_PLANE_OTHER, -1 };
	int64_t device;

	if (starts(&name, &len, "/host:CPU"))
		plane.kind = PF_PLANE_HOST;
	else if (starts(&name, &len, "/device:GPU:") &&
		 number(&name, &len, &device) && !len)
		plane = (struct pf_plane){ PF_PLANE_GPU, device };
	else if (starts(&name, &len, "/device:TPU:") &&
		 number(&name, &len, &device) && (!len || *name == ' '))
		plane = (struct pf_plane){ PF_PLANE_TPU, device };
	return plane;
}

bool pf_is_plane(const char *name, size_t len)
{
	return starts(&name, &len, "/device:") ||
	       (starts(&name, &len, "/host:CPU") && !len);
}

/* ---- lines ---- */

static struct pf_line gpu_line(const char *name, size_t len)
{
	struct pf_line line = { PF_ROW_AGAIN, -1 };
	int64_t stream;

	if (starts(&name, &len, "Stream #") && number(&name, &len, &stream) &&
	    (!len || *name == '('))
		line = (struct pf_line){ PF_ROW_STREAM, stream };
	return line;
}

/* Parts of a collective ("Plane 0") are its time again. */
static enum pf_row_kind collectives_line(const char *name, size_t len)
{
	return starts(&name, &len, "Group ") ? PF_ROW_COLLECTIVES
					     : PF_ROW_AGAIN;
}

static enum pf_row_kind tpu_line(const char *name, size_t len)
{
	static const char *const again[] = {
		"Steps",          "XLA Modules",
		"TensorFlow Ops", "TensorFlow Name Scope",
		"Framework Ops",  "Framework Name Scope",
		"Source code",    "Source",
		"Launch Stats",
	};

	if (pf_is(name, len, "XLA Ops"))
		return PF_ROW_TPU;
	if (pf_is(name, len, "Async XLA Ops"))
		return PF_ROW_FLIGHT;
	for (size_t i = 0; i < PF_LEN(again); i++)
		if (pf_is(name, len, again[i]))
			return PF_ROW_AGAIN;
	return PF_ROW_BESIDE;
}

struct pf_line pf_line_of(enum pf_plane_kind plane, const char *name,
			  size_t len)
{
	struct pf_line line = { PF_ROW_HOST, -1 };

	if (plane == PF_PLANE_GPU)
		return gpu_line(name, len);
	switch (plane) {
	case PF_PLANE_TPU:
		line.kind = tpu_line(name, len);
		break;
	case PF_PLANE_NPU:
		line.kind = PF_ROW_TASKS;
		break;
	case PF_PLANE_NPU_COMM:
		line.kind = collectives_line(name, len);
		break;
	case PF_PLANE_NPU_AGAIN:
		line.kind = PF_ROW_AGAIN;
		break;
	default:
		break;
	}
	return line;
}

bool pf_line_has_steps(const char *name, size_t len)
{
	return pf_is(name, len, "Steps");
}

bool pf_line_has_programs(const char *name, size_t len)
{
	return pf_is(name, len, "XLA Modules");
}

bool pf_step_of(const char *text, size_t len, int64_t *out)
{
	*out = 0;
	for (size_t i = 0; i < len && len <= 15; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		*out = *out * 10 + (text[i] - '0');
	}
	return len > 0 && len <= 15;
}

/* ---- events ---- */

bool pf_is_operator(const char *name, size_t len, const char *shown,
		    size_t shown_len)
{
	return shown_len && len > shown_len + 1 &&
	       name[len - shown_len - 1] == ':' && name[0] != '$' &&
	       !memchr(shown, ':', shown_len) &&
	       !memcmp(name + len - shown_len, shown, shown_len);
}

static bool upper_after(const char *p, size_t len, const char *word)
{
	return starts(&p, &len, word) && len && *p >= 'A' && *p <= 'Z';
}

static bool begins_with_one(const char *p, size_t len, const char *const *words)
{
	for (; *words; words++)
		if (pf_begins(p, len, *words))
			return true;
	return false;
}

/*
 * What JAX, PjRt and TensorFlow call their own ranges, where the name has no
 * "::" that tells.  Only those that stand alone need to be here: what is in one
 * of them is the runtime's, too.
 */
static bool is_of_runtime(const char *name, size_t len)
{
	static const char *const beginnings[] = {
		/* the Python of JAX */
		"PjitFunction(",
		"DevicePut",
		"np.asarray(jax.Array)",
		"ArrayImpl.",
		"ExecuteReplicated.",
		"backend_compile",
		"lower_sharding_computation",
		"shard_args",
		"batched_copy_array",
		/* PjRt and its clients */
		"PJRT_",
		"ParseArguments",
		"Wait for usage",
		"Wait for donation",
		"H2D Dispatch",
		"D2H Dispatch",
		"LoadProgram",
		"AllocateDestinationBuffer",
		"EnqueueContinuationProgram",
		"DoEnqueueProgram",
		"MapDmaBuffer",
		"ThenExecuteCallback",
		"ScheduleWork",
		"CompleteCallbacks",
		"end: ",
		/* TensorFlow */
		"TFE_",
		"EagerExecute",
		"EagerLocalExecute",
		"EagerKernelExecute",
		"EagerCopyToDevice",
		"KernelAndDeviceFunc",
		"FunctionRun",
		"ExecutorDoneCallback",
		"convert_to_tensor",
		"tf.constant",
		"RemoteCall",
		"_send_",
		/* work of a GPU, as the calls of its driver have it */
		"MemcpyH2D",
		"MemcpyD2H",
		"MemcpyD2D",
		"MemcpyP2P",
		"MemCpyAsync",
		"Memset",
		"void ",
		NULL,
	};

	return !len || begins_with_one(name, len, beginnings) ||
	       memmem(name, len, "::", 2);
}

bool pf_is_tf_data(const char *name, size_t len)
{
	return starts(&name, &len, "Iterator::");
}

bool pf_is_pool(const char *thread, size_t len)
{
	static const char *const pools[] = {
		"tf_",        "tsl",      "tfrt",  "pjrt",
		"py_xla",     "switchto", "jax_",  "collective_ops",
		"EventFD",    "grpc",     "Eigen", "Host Threads",
		"EventManag", "xla",      NULL,
	};

	return begins_with_one(thread, len, pools);
}

bool pf_is_runtime_stat(const char *name, size_t len)
{
	static const char *const stats[] = {
		"_src",
		"_p",
		"_c",
		"_pt",
		"_ct",
		"run_id",
		"correlation_id",
		"kernel_details",
		NULL,
	};

	for (const char *const *s = stats; *s; s++)
		if (pf_is(name, len, *s))
			return true;
	return false;
}

enum pf_kind pf_host_kind(const char *name, size_t len)
{
	if (len && *name == '$')
		return PF_KIND_PYTHON;
	if (upper_after(name, len, "cuda") || upper_after(name, len, "hip"))
		return PF_KIND_RUNTIME;
	if (upper_after(name, len, "cu"))
		return PF_KIND_DRIVER;
	if (pf_is(name, len, "MemoryAllocation") ||
	    pf_is(name, len, "MemoryDeallocation"))
		return PF_KIND_MEMORY;
	return pf_is_tf_data(name, len) || !is_of_runtime(name, len)
		       ? PF_KIND_ANNOTATION
		       : PF_KIND_HOST;
}

enum pf_kind pf_range_kind(enum pf_kind kind, bool is_tf_data, bool has_step,
			   bool is_call, bool is_operator, bool is_of_runtime)
{
	if (has_step || is_tf_data)
		return PF_KIND_ANNOTATION;
	if (is_call)
		return PF_KIND_DRIVER;
	if (is_operator)
		return PF_KIND_CPU_OP;
	return is_of_runtime ? PF_KIND_HOST : kind;
}

enum pf_kind pf_range_in(enum pf_kind kind, bool is_sure, int64_t start_ns,
			 int64_t end_ns, int64_t *runtime_end_ns)
{
	if (kind == PF_KIND_ANNOTATION && !is_sure &&
	    start_ns < *runtime_end_ns)
		kind = PF_KIND_HOST;
	if (kind == PF_KIND_HOST && end_ns > *runtime_end_ns)
		*runtime_end_ns = end_ns;
	return kind;
}

const char *pf_host_category(enum pf_kind kind, const char *name, size_t len)
{
	switch (kind) {
	case PF_KIND_PYTHON:
		return "python_function";
	case PF_KIND_RUNTIME:
		return upper_after(name, len, "hip") ? "hip_runtime"
						     : "cuda_runtime";
	case PF_KIND_DRIVER:
		return "cuda_driver";
	case PF_KIND_MEMORY:
		return "cpu_instant_event";
	case PF_KIND_CPU_OP:
		return "cpu_op";
	case PF_KIND_ANNOTATION:
		return "user_annotation";
	default:
		return "host";
	}
}

static bool is_one_of(const char *p, size_t len, const char *word)
{
	return starts(&p, &len, word) &&
	       (!len || *p == ' ' || (*p >= 'A' && *p <= 'Z') ||
		(*p >= '0' && *p <= '9'));
}

enum pf_kind pf_work_kind(const char *name, size_t len, bool has_kernel,
			  bool has_copy, bool has_fill)
{
	if (has_kernel)
		return PF_KIND_KERNEL;
	if (has_copy || upper_after(name, len, "Memcpy") ||
	    upper_after(name, len, "Copy"))
		return PF_KIND_MEMCPY;
	if (has_fill || is_one_of(name, len, "Memset") ||
	    is_one_of(name, len, "Fill"))
		return PF_KIND_MEMSET;
	return PF_KIND_KERNEL;
}
