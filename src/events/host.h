/* SPDX-License-Identifier: MIT */
/*
 * What the threads of one trace do, as spans of three classes in order of
 * time.  Within a thread, spans that lie in an earlier one of their class are
 * left out: unions stay the same, and there are far fewer.  Memory is one
 * block per thread.
 */
#ifndef PF_ANALYSIS_HOST_H
#define PF_ANALYSIS_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "store/db.h"

enum pf_host_class {
	PF_HOST_RUNTIME, /* calls of the runtime or the driver */
	PF_HOST_DATA,    /* enumerate(DataLoader)#..., enumerate(DataPipe)#...,
			    IteratorGetNext... of TensorFlow */
	PF_HOST_COMM,    /* communication of the host, or waiting for it */
	PF_HOST_CPU,     /* other operators and annotations; no ProfilerStep */
	PF_HOST_CLASSES
};

struct pf_host_span {
	int64_t start_ns, end_ns;
	enum pf_host_class class;
	bool is_sync, is_launch; /* a call that waits, or launches work, */
	bool is_kernel_launch;   /* which is kernels or a graph */
};

struct pf_host;
/* Steps: the pattern of --steps, or NULL; its ranges are of no class. */
struct pf_host *pf_host_new(struct pf_db *db, int64_t trace_id,
			    const char *steps, struct pf_err *err);
void pf_host_free(struct pf_host *h);
/* 1, 0 at the end, -1. */
int pf_host_next(struct pf_host *h, struct pf_host_span *out,
		 struct pf_err *err);

#endif
