/* SPDX-License-Identifier: MIT */
/*
 * What the path of a trace says of it.  Frameworks write several captures of
 * one process (torch's schedule(repeat=2), every N steps) as files whose names
 * differ in a number only: such files are spans of one worker.
 *
 *	runs/bert/worker0.1700000000001.pt.trace.json.gz   torch, TensorBoard
 *	out/profile_step_20.json                           RAVE and others
 *	profile_trace/iteration_20/rank0_trace.json        torchtitan
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct pf_source_name {
	/*
	 * The path without the span and without what says how it is stored,
	 * the same for all spans of a worker, which the caller frees; NULL if
	 * the name has no span.
	 */
	char *worker;
	int64_t span; /* its number, which orders spans; -1: none */
	int64_t rank; /* "rank3", "-TP-3", "_r3"; -1: none */
};

void pf_source_name_read(struct pf_source_name *out, const char *path);

/* A name that says a rank is meant for one. */
static inline bool pf_source_is_of_rank(const char *path)
{
	struct pf_source_name name;

	pf_source_name_read(&name, path);
	free(name.worker);
	return name.rank >= 0;
}

/*
 * The folder of the run that a trace belongs to, which the caller frees: its
 * own without those of captures (profiler_logs, iteration_20, rank_3).
 */
char *pf_source_run(const char *path);

/*
 * Ranks by names, -1: none is said; the caller frees them.  A name may say it
 * itself.  Else the numbers of hosts and processes in the names of files or
 * folders are taken ("host_0", "t1v-n-1a2b-w-0", "report.0.sqlite"), if all
 * files of a run that are stored alike have one, each another, and all else of
 * their names is the same.
 */
int64_t *pf_source_ranks(const char *const *paths, size_t count);

/*
 * rocprofv3 writes a CSV for each domain of one run, STEM_kernel_trace.csv and
 * STEM_hip_api_trace.csv: files of one folder and STEM are one trace.
 *
 * For each path the first of the list that it is one trace with, which is
 * itself of all others; the caller frees it.
 */
size_t *pf_source_joins(const char *const *paths, size_t count);
