/* SPDX-License-Identifier: MIT */
/*
 * What names mean that TensorFlow, JAX and PyTorch/XLA give to planes (the
 * processes of their JSON), lines (its threads) and events: the one place that
 * says so, for XSpace files and for the JSON that is made of them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/event.h"

enum pf_plane_kind {
	PF_PLANE_HOST, /* "/host:CPU" */
	PF_PLANE_GPU,  /* "/device:GPU:N" */
	PF_PLANE_TPU,  /* "/device:TPU:N", and such cores of it */
	/* Of torch_npu and msprof: */
	PF_PLANE_NPU,       /* "Ascend Hardware": streams */
	PF_PLANE_NPU_COMM,  /* "HCCL": collectives, and planes of their parts */
	PF_PLANE_NPU_AGAIN, /* "Overlap Analysis": the same time once more */
	PF_PLANE_NPU_CALLS, /* "CANN": threads of the host */
	PF_PLANE_OTHER, /* metadata, or a device that profan does not know */
};

struct pf_plane {
	enum pf_plane_kind kind;
	int64_t device; /* N of a device, else -1 */
};

struct pf_plane pf_plane_of(const char *name, size_t len);
/* A process of torch_npu and msprof, which does not say its device. */
enum pf_plane_kind pf_npu_plane_of(const char *name, size_t len);

/*
 * Is it the name of a process in JSON that was made of planes?  A trace that
 * has such a process is one of TensorFlow or JAX, whatever else is in it.
 */
bool pf_is_plane(const char *name, size_t len);

enum pf_row_kind {
	PF_ROW_HOST,   /* a thread */
	PF_ROW_STREAM, /* "Stream #S", "Stream #S(Kernel,MemcpyH2D)": work */
	PF_ROW_TASKS,  /* a stream of an NPU: work and waits */
	PF_ROW_COLLECTIVES, /* "Group 0 Communication" of an NPU: work */
	PF_ROW_TPU,         /* "XLA Ops" of a TPU: what keeps it busy */
	/* "Async XLA Ops" of a TPU: what is under way between two of them */
	PF_ROW_FLIGHT,
	PF_ROW_BESIDE, /* other lines of a TPU: no work */
	PF_ROW_AGAIN,  /* "Steps", "XLA Modules": the same time once more */
};

struct pf_line {
	enum pf_row_kind kind;
	int64_t stream; /* S of a stream, else -1 */
};

struct pf_line pf_line_of(enum pf_plane_kind plane, const char *name,
			  size_t len);

/* The line "Steps" of a device: named by number. */
bool pf_line_has_steps(const char *name, size_t len);
/* The line "XLA Modules" of a device: programs, and their operations' time. */
bool pf_line_has_programs(const char *name, size_t len);
/* The number of a step, of at most 15 digits and nothing else. */
bool pf_step_of(const char *text, size_t len, int64_t *out);

/* "dense/MatMul:MatMul", which is shown as "MatMul". */
bool pf_is_operator(const char *name, size_t len, const char *shown,
		    size_t shown_len);

/*
 * What a host event is by its name: PF_KIND_PYTHON, _RUNTIME, _DRIVER, _MEMORY,
 * _ANNOTATION or _HOST.  Nothing in a profile says whether TraceAnnotation of
 * the application or the runtime's own TraceMe wrote an event.  What is left is
 * an annotation: it has no name that the runtime gives (functions of C++ with
 * "::", and the list in planes.c), no statistic that only it writes
 * (pf_is_runtime_stat), is on no thread of its pools (pf_is_pool) and in no
 * range of it on its thread.  Stages of tf.data ("Iterator::Root::Map") are
 * ranges wherever they are: the application made them.
 */
enum pf_kind pf_host_kind(const char *name, size_t len);
bool pf_is_tf_data(const char *name, size_t len);
/*
 * Of these two kinds, by what is beside the name.  What has the number of GPU
 * work (correlation_id) is the call that launched it: XLA names calls of the
 * driver after their work ("MemcpyH2D", the kernel's name).
 */
enum pf_kind pf_range_kind(enum pf_kind kind, bool is_tf_data, bool has_step,
			   bool is_call, bool is_operator, bool is_of_runtime);
/*
 * The same by what is open on the thread, whose events come in order of their
 * start: "runtime_end_ns" is where the runtime's ranges so far end (at first
 * INT64_MIN); "is_sure": it is an annotation wherever it is.
 */
enum pf_kind pf_range_in(enum pf_kind kind, bool is_sure, int64_t start_ns,
			 int64_t end_ns, int64_t *runtime_end_ns);
/* A thread that the runtime made, by its name: the application has none there. */
bool pf_is_pool(const char *thread, size_t len);
/* "_src", "_p" and "_c": links that TraceMe of the runtime has. */
bool pf_is_runtime_stat(const char *name, size_t len);
/* The category that it is given: "cuda_runtime", "hip_runtime", ... */
const char *pf_host_category(enum pf_kind kind, const char *name, size_t len);

/* GPU work on a stream; "has": it says details of a kernel, copy or fill. */
enum pf_kind pf_work_kind(const char *name, size_t len, bool has_kernel,
			  bool has_copy, bool has_fill);
