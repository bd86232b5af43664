/* SPDX-License-Identifier: MIT */
/*
 * Captures of AMD's profilers: databases of rocprofv3 (rocpd) and of
 * rocmProfileData (RPD).  Their records become events of the one model
 * (trace/event.h), named and placed as Kineto does it for HIP: calls of HIP
 * as those of a runtime, of HSA as those of a driver, roctx as NVTX.
 *
 * Every record is an event, a metadata event, or counted as skipped.  Only
 * names that an event has are read: environments and command lines stay where
 * they are.
 */
#ifndef PF_ROCM_ROCM_H
#define PF_ROCM_ROCM_H

#include "foreign/foreign.h"
#include "trace/reader.h"

/* Is it such a database, by its tables? */
bool pf_rocpd_claims(struct pf_foreign *f);
bool pf_rpd_claims(struct pf_foreign *f);

/* "f" is borrowed until free. */
struct pf_reader *pf_rocpd_new(struct pf_foreign *f,
			       const struct pf_reader_options *options,
			       struct pf_err *err);
struct pf_reader *pf_rpd_new(struct pf_foreign *f,
			     const struct pf_reader_options *options,
			     struct pf_err *err);

#endif
