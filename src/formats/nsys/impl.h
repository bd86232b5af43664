/* SPDX-License-Identifier: MIT */
/* What the parts of the reader share.  Not for others. */
#ifndef PF_FORMATS_NSYS_IMPL_H
#define PF_FORMATS_NSYS_IMPL_H

#include "base/intern.h"
#include "formats/nsys/nsys.h"
#include "formats/pfr/kineto.h"
#include "formats/sqlite/foreign.h"

#define PF_NSYS_PROCESSES_MAX 65536u
#define PF_NSYS_THREADS_MAX   65536u
#define PF_NSYS_DEVICES_MAX   256u

/* What is known of a thread. */
enum { PF_NSYS_SEEN, PF_NSYS_NAMED };

/* What the file says of a device. */
struct pf_nsys_device {
	int64_t number; /* as kernels have it */
	struct pf_kineto_device kineto;
};

struct pf_nsys {
	struct pf_reader base;
	struct pf_sink sink;
	struct pf_reading reading;
	struct pf_foreign *f;
	struct pf_reader_options options;
	struct pf_lookup texts; /* StringIds */
	int schema;             /* 3025 for 3.25; 0: not known */
	bool is_described;
	/* processes in the order of their first event: globalPid */
	struct pf_map processes;
	int64_t last_pid, last_process; /* found last */
	int64_t only_process;           /* the one with calls; -1: several */
#define PF_NSYS_NO_PROCESS (-2)
	int64_t machine;       /* of the first process */
	struct pf_map threads; /* globalTid */
	struct pf_nsys_device devices[PF_NSYS_DEVICES_MAX];
	size_t device_count;
	struct pf_map gpu_of; /* a process's device -> the machine's */
	bool is_by_machine;   /* numbers of devices */
	struct pf_sink_user gpus[PF_NSYS_DEVICES_MAX]; /* a number, a GPU */
	size_t gpu_count;
	struct pf_keys waits;  /* calls that wait: what for */
	struct pf_keys graphs; /* kernels that are nodes of a graph */
	struct pf_buf labels, label_text; /* of NVTX's domains and categories */
	size_t label_count;
	bool has_labels;
	int64_t range_count; /* external ids */
	int64_t open_count;  /* ranges without an end */
	struct pf_buf clean;
};

/* A name of a domain (category -1) or of a category in it. */
struct pf_nsys_label {
	int64_t process, domain, category;
	size_t at, len; /* in label_text */
};

extern const struct pf_reading_table pf_nsys_calls, pf_nsys_kernels,
	pf_nsys_copies, pf_nsys_fills, pf_nsys_graphs, pf_nsys_syncs,
	pf_nsys_events, pf_nsys_overhead, pf_nsys_own_overhead,
	pf_nsys_os_calls, pf_nsys_ranges, pf_nsys_open_ranges;

/* A text of StringIds: 1 and borrowed until the next call, 0: none. */
int pf_nsys_string(struct pf_nsys *n, int64_t id, const char **text,
		   size_t *len);

/* As it is shown: a process number, with the machine if there are several. */
int64_t pf_nsys_pid(int64_t global_id);
int64_t pf_nsys_tid(int64_t global_id);

/*
 * A device's number: as rows have it, or, where several processes mean several
 * GPUs by one number, that of the machine.
 */
int64_t pf_nsys_device_number(struct pf_nsys *n, int64_t global_pid,
			      int64_t device);
const struct pf_nsys_device *pf_nsys_device(const struct pf_nsys *n,
					    int64_t number);

#endif
