/* SPDX-License-Identifier: MIT */
/*
 * What the lines of a device of TensorFlow, JAX and torch_npu are.  Their
 * profilers (and what is made of an XSpace) have no categories: a process
 * "/device:GPU:0" or "Ascend Hardware" is a device, and its lines are streams,
 * or the same time again by step, module or operator.  formats/planes.h says
 * which.
 */
#ifndef PF_EVENTS_DEVICE_LINE_H
#define PF_EVENTS_DEVICE_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pf_device_line {
	PF_LINE_HOST = 0, /* no line of a device, or one without a name */
	PF_LINE_STREAM,   /* "Stream #7(Kernel)": GPU work */
	PF_LINE_DERIVED,  /* "XLA Modules": the time of others again */
	PF_LINE_OTHER,    /* of a TPU: what it runs, as no stream of a GPU */
	PF_LINE_THREAD,   /* of the process "/host:CPU": no device at all */
	PF_LINE_POOL,     /* such a thread, of the runtime's own */
	PF_LINE_STEPS,    /* "Steps": as derived, and its names are numbers */
	PF_LINE_TASKS,    /* a stream of an NPU: work by "Task Type" */
	PF_LINE_COLLECTIVES, /* of an NPU: communication */
	PF_LINE_CALLS,       /* of the process "CANN": calls of the host */
};

struct pf_device_place {
	enum pf_device_line line;
	char pid[24]; /* "0" of /device:GPU:0, "TPU 0" of /device:TPU:0 */
	char tid[24]; /* "7" of a stream; "": the name of the line */
};

struct pf_device_place pf_device_place(const char *process, const char *line);
/*
 * The same of torch_npu and msprof, whose streams have numbers alone and may
 * have no name: what a line of a process is.
 */
enum pf_device_line pf_device_npu_line(const char *process, const char *line);

/*
 * What a range on such a line is by its name and the text of its arguments
 * (JSON, whose values are texts).
 */
struct pf_device_event {
	unsigned kind; /* enum pf_kind: work on a stream, and never elsewhere */
	int64_t correlation; /* of a call or its work, or 0 */
	int64_t step;        /* that it is, or -1 */
	bool is_sure;        /* of an annotation: see pf_range_in() */
};
struct pf_device_event pf_device_event(enum pf_device_line line,
				       const char *name, size_t name_len,
				       const char *args, size_t args_len);

#endif
