/* SPDX-License-Identifier: MIT */
/*
 * Captures of AMD's profilers: databases of rocprofv3 (rocpd) and of
 * rocmProfileData (RPD), JSON and CSV of rocprofv3.  Their records become
 * events of the one model (formats/event.h), named and placed as Kineto does it
 * for HIP: calls of HIP as those of a runtime, of HSA as those of a driver,
 * roctx as NVTX.
 *
 * Every record is an event, a metadata event, or counted as skipped.  Only
 * names that an event has are read: environments and command lines stay where
 * they are.
 */
#pragma once

#include "formats/sqlite/foreign.h"
#include "formats/batch.h"

/* Is it such a database, by its tables? */
bool pf_rocpd_claims(struct pf_foreign *f);
bool pf_rpd_claims(struct pf_foreign *f);

/* "f" is borrowed until free. */
struct pf_reader *pf_rocpd_new(struct pf_foreign *f,
			       const struct pf_reader_options *options);
struct pf_reader *pf_rpd_new(struct pf_foreign *f,
			     const struct pf_reader_options *options);

/* Bytes of a file, as pf_input_read() gives them. */
struct pf_rocm_stream {
	int64_t (*read)(void *arg, void *buf, size_t len, struct pf_err *err);
	/* at the end of a file: 1, the next of the same trace; 0, no more */
	int (*next)(void *arg, struct pf_err *err);
	bool has_next; /* there are several, of one process */
	void *arg;
};

/* JSON of rocprofv3, whose first member is "rocprofiler-sdk-tool". */
struct pf_reader *pf_rocprofv3_new(const struct pf_rocm_stream *from,
				   const struct pf_reader_options *options);

/* A CSV file of rocprofv3, by its first bytes. */
bool pf_rocm_csv_claims(const char *head, size_t len);
struct pf_reader *pf_rocm_csv_new(const struct pf_rocm_stream *from);
