/* SPDX-License-Identifier: MIT */
/*
 * What the environment asks of the agent (PROFAN_* variables; man page,
 * CAPTURE AGENT).  Read once in a process, kept over fork.
 */
#ifndef PF_AGENT_OPTIONS_H
#define PF_AGENT_OPTIONS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Groups of kinds, bits of pf_options.groups. */
enum pf_group {
	PF_GROUP_KERNEL,
	PF_GROUP_MEMCPY,
	PF_GROUP_MEMSET,
	PF_GROUP_RUNTIME,
	PF_GROUP_DRIVER,
	PF_GROUP_SYNC,
	PF_GROUP_OVERHEAD,
	PF_GROUP_INFO,
	PF_GROUP_EVENTS,
	PF_GROUP_MEMORY,
	PF_GROUP_UVM,
	PF_GROUP_ENV,
	PF_GROUP_EXTERNAL,
	PF_GROUP_LATENCY,
	PF_GROUP_NVTX,
	PF_GROUPS
};

enum pf_start { PF_START_ON, PF_START_OFF, PF_START_API, PF_START_SIGNAL };

struct pf_options {
	char out[PATH_MAX];   /* the name with its % sequences */
	char cupti[PATH_MAX]; /* empty: search */
	uint32_t groups;      /* bits 1 << PF_GROUP_X */
	bool whole_graphs, realtime, nvtx, subscribe, cmdline, all_api;
	bool verbose;
	enum pf_start start;
	int signal;                     /* for PF_START_SIGNAL */
	uint64_t delay_ns, duration_ns; /* duration 0: no end */
	uint64_t flush_ns, exit_ns;
	uint64_t max_bytes;
	uint64_t buffer_bytes, buffers_bytes; /* one CUPTI buffer, all */
	uint64_t device_buffer_bytes;         /* 0: as CUPTI has it */
	uint64_t device_buffers;              /* 0: as CUPTI has it */
};

/* The options, read at the first call. */
const struct pf_options *pf_options_get(void);

/* Names of the groups in `groups`, with commas. */
void pf_options_groups(uint32_t groups, char *out, size_t room);

/*
 * The output's name with %p %h %t %n %q{VAR} %% put in, absolute.  Cut at
 * `room`; -1 if it does not fit.
 */
int pf_options_path(const struct pf_options *o, unsigned file, char *out,
		    size_t room);

/* One line on stderr with our prefix; under PROFAN_VERBOSE only. */
void pf_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same whatever PROFAN_VERBOSE says: for failures. */
void pf_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
