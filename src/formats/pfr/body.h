/* SPDX-License-Identifier: MIT */
/*
 * The events of an EVENTS frame, decoded field by field as agent/FORMAT.md
 * (section 5) lists them; what they mean is map.c's.
 */
#ifndef PF_FORMATS_PFR_BODY_H
#define PF_FORMATS_PFR_BODY_H

#include "formats/pfr/defs.h"
#include "formats/wire.h"

enum pf_pfr_event_type {
	PF_PFR_KERNEL = 1,
	PF_PFR_KERNEL_INLINE = 2,
	PF_PFR_MEMCPY = 3,
	PF_PFR_MEMSET = 4,
	PF_PFR_API = 5,
	PF_PFR_SYNC = 6,
	PF_PFR_CUDA_EVENT = 7,
	PF_PFR_OVERHEAD = 8,
	PF_PFR_MEMORY = 9,
	PF_PFR_GRAPH = 10,
	PF_PFR_JIT = 11,
	PF_PFR_INTERNAL = 12,
	PF_PFR_UVM = 13,
	PF_PFR_ENV = 14,
	PF_PFR_EXTCORR = 15,
	PF_PFR_PUSH = 16,
	PF_PFR_POP = 17,
	PF_PFR_MARK = 18,
	PF_PFR_RSTART = 19,
	PF_PFR_REND = 20,
	PF_PFR_EVENT_TYPES
};

#define PF_PFR_FIELDS 20

struct pf_pfr_event {
	unsigned type;
	bool untimed; /* its times were not collected: start and end are 0 */
	int64_t start_ns, end_ns; /* on the clock of the frame */
	uint64_t correlation;
	struct pf_pfr_launch launch; /* KERNEL_INLINE */
	struct pf_pfr_name name;     /* MEMORY and NVTX */
	uint64_t payload;            /* NVTX */
	/* The other fields in the order of the format; absent ones are 0. */
	uint64_t v[PF_PFR_FIELDS];
	unsigned count; /* of those that are there */
};

struct pf_pfr_body {
	struct pf_wire w;
	uint64_t start_ns, correlation; /* of the event before */
};

enum pf_pfr_got {
	PF_PFR_GOT_END,     /* no more events */
	PF_PFR_GOT_EVENT,   /* *ev is filled in */
	PF_PFR_GOT_UNKNOWN, /* a whole event of a type that is not known */
	PF_PFR_GOT_BAD,     /* a body that is too short or no number */
	PF_PFR_GOT_CUT,     /* runs past the payload: the frame ends */
};

/* Begin with the payload of a frame: false if its base time is missing. */
bool pf_pfr_body_init(struct pf_pfr_body *b, const unsigned char *p,
		      size_t len);
enum pf_pfr_got pf_pfr_body_next(struct pf_pfr_body *b,
				 struct pf_pfr_event *ev);

#endif
