/* SPDX-License-Identifier: MIT */
/* What the parts of the reader of rocpd share.  Not for others. */
#ifndef PF_FORMATS_ROCM_ROCPD_IMPL_H
#define PF_FORMATS_ROCM_ROCPD_IMPL_H

#include "formats/sqlite/reading.h"
#include "formats/rocm/map.h"
#include "formats/rocm/rocm.h"

/* Tables that are looked up by number. */
enum pf_rocpd_lookup {
	PF_ROCPD_STRINGS,
	PF_ROCPD_EVENTS,
	PF_ROCPD_SYMBOLS,
	PF_ROCPD_THREADS,
	PF_ROCPD_PROCESSES,
	PF_ROCPD_LOOKUPS
};

#define PF_ROCPD_REST_MAX 64u
#define PF_ROCPD_DOMAINS  8u

struct pf_rocpd {
	struct pf_reader base;
	struct pf_rocm map;
	struct pf_foreign *f;
	struct pf_reading reading;
	/* runs: the ends of their tables' names */
	const char **runs;
	size_t run_count, runs_cap, run;
	bool is_open, is_described;
	struct pf_lookup lookups[PF_ROCPD_LOOKUPS];
	/* threads that have events, by process and thread */
	struct pf_map threads;
	struct pf_buf text;
	/* found last: a process, a thread, an agent, a few domains */
	bool has_pid, has_tid;
	int64_t last_id, last_pid, last_of, last_thread, last_tid;
	struct pf_rocpd_domain {
		int64_t category;
		const struct pf_rocm_domain *domain; /* NULL: none yet */
	} domains[PF_ROCPD_DOMAINS];
	const struct pf_rocm_agent *agent;
	/* rows that are not read, by kind of table */
	struct pf_rocpd_rest {
		char table[80];
		int64_t rows;
	} rest[PF_ROCPD_REST_MAX];
	size_t rest_count, rest_seen;
};

/* What a row's event says. */
struct pf_rocpd_event {
	int64_t category; /* number of a string; -1: none */
	int64_t link;
};

extern const struct pf_reading_table pf_rocpd_regions, pf_rocpd_dispatches,
	pf_rocpd_copies, pf_rocpd_allocations;

/* 1 and a text borrowed until the next call, 0: there is none. */
int pf_rocpd_text(struct pf_rocpd *r, int64_t id, const char **text,
		  size_t *len, struct pf_err *err);
/* Find the event of a row by the number in a column. */
int pf_rocpd_event(struct pf_rocpd *r, const struct pf_rows *row, int column,
		   struct pf_rocpd_event *e, struct pf_err *err);
/* The text behind "message" of the event found last; false: none. */
bool pf_rocpd_message(struct pf_rocpd *r, const char **text, size_t *len);

/* ---- rocpd_map.c ---- */

/* The system's number of a process; what the run says of it. */
int pf_rocpd_pid(struct pf_rocpd *r, int64_t id, int64_t *pid,
		 struct pf_err *err);
uint64_t pf_rocpd_thread_key(const struct pf_rocpd *r, int64_t process,
			     int64_t thread);

/* ---- rocpd_about.c ---- */

/* Versions and devices of all runs, before the first event. */
int pf_rocpd_describe(struct pf_rocpd *r, struct pf_err *err);
/* Names of the processes and threads of a run that have events. */
int pf_rocpd_name_all(struct pf_rocpd *r, struct pf_err *err);

#endif
