/* SPDX-License-Identifier: MIT */
/*
 * The one event of profan, and the words for what kind of event it is.
 *
 * Times are int64 nanoseconds exactly as the file says them (relative to the
 * file's base if it has one: trace.base_ns).  Strings are ids; what an id
 * means is said where it is used: in a batch it is an index of that batch's
 * own string list, in the store it is string.id / argset.id / event_type.id.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * No event begins or ends further from 0 than this (146 years), so the length
 * between any two instants of a trace is an int64, too.
 */
#define PF_TIME_MAX_NS ((INT64_C(1) << 62) - 1)

/* A length below 0 is not judged here. */
static inline bool pf_time_fits(int64_t start_ns, int64_t dur_ns)
{
	int64_t end_ns;

	return start_ns >= -PF_TIME_MAX_NS && start_ns <= PF_TIME_MAX_NS &&
	       !__builtin_add_overflow(start_ns, dur_ns, &end_ns) &&
	       end_ns <= PF_TIME_MAX_NS;
}

/*
 * What an event is, from its category (case ignored, old spellings folded).
 * The numbers are stored in event_type.kind: append only.
 */
enum pf_kind {
	PF_KIND_HOST = 0,            /* a host range of no known category */
	PF_KIND_CPU_OP = 1,          /* cpu_op, Operator */
	PF_KIND_ANNOTATION = 2,      /* user_annotation */
	PF_KIND_PYTHON = 3,          /* python_function */
	PF_KIND_RUNTIME = 4,         /* cuda_runtime, Runtime, *_runtime */
	PF_KIND_DRIVER = 5,          /* cuda_driver, *_driver */
	PF_KIND_OVERHEAD = 6,        /* overhead */
	PF_KIND_KERNEL = 7,          /* kernel, mtia_ccp_events, hpu_op */
	PF_KIND_MEMCPY = 8,          /* gpu_memcpy, Memcpy; MTIA's by name */
	PF_KIND_MEMSET = 9,          /* gpu_memset, Memset */
	PF_KIND_GPU_ANNOTATION = 10, /* gpu_user_annotation */
	PF_KIND_GPU_SYNC = 11,       /* cuda_sync, xpu_sync; MTIA's by name */
	PF_KIND_PROFILER_RANGE = 12, /* cuda_profiler_range */
	PF_KIND_MTIA = 13,           /* mtia_insight: remarks, no work */
	PF_KIND_MEMORY = 14,         /* instant "[memory]" */
	PF_KIND_OOM = 15,            /* instant "[OutOfMemory]" */
	PF_KIND_INSTANT = 16,        /* any other instant */
	PF_KIND_COUNTER = 17,        /* ph C */
	PF_KIND_FLOW = 18,           /* ph s t f */
	PF_KIND_ASYNC = 19,          /* ph b n e S T p F */
	PF_KIND_TRACE_SPAN = 20,     /* cat Trace: the profiler's own span */
	PF_KIND_GPU_OTHER = 21,  /* unknown category with device and stream */
	PF_KIND_COLLECTIVE = 22, /* collective_comm */
	PF_KIND_CUDA_EVENT = 23, /* cuda_event */
	PF_KIND_COUNT
};

/*
 * What an event is by its "ph" (Trace Event Format; 'R' is a mark, as those of
 * user timing in browsers).
 */
enum pf_phase {
	PF_PHASE_NONE, /* such events are counted, not stored: */
	PF_PHASE_SPAN, /* X; B and E, which are paired */
	PF_PHASE_INSTANT,
	PF_PHASE_COUNTER,
	PF_PHASE_FLOW,
	PF_PHASE_ASYNC,
	PF_PHASE_STATE, /* nor are these, which take no time */
};
extern const unsigned char pf_phases[256];

static inline enum pf_phase pf_phase_of(char ph)
{
	return (enum pf_phase)pf_phases[(unsigned char)ph];
}

/* GPU work proper: what counts as busy. */
static inline bool pf_kind_is_gpu_work(unsigned kind)
{
	return kind == PF_KIND_KERNEL || kind == PF_KIND_MEMCPY ||
	       kind == PF_KIND_MEMSET;
}

/* Events that live on a device track (pid = device, tid = stream). */
static inline bool pf_kind_is_gpu_track(unsigned kind)
{
	return pf_kind_is_gpu_work(kind) || kind == PF_KIND_GPU_ANNOTATION ||
	       kind == PF_KIND_GPU_SYNC || kind == PF_KIND_PROFILER_RANGE ||
	       kind == PF_KIND_MTIA || kind == PF_KIND_GPU_OTHER;
}

/*
 * Numeric arguments that differ from event to event are taken out of the
 * argument text and kept as integers, a "slot" each; the text keeps "$a" for
 * slot 0, "$b" for slot 1 and so on in their place (a bare $ occurs nowhere
 * else outside strings in JSON), so that the text repeats and is stored once.
 * A capital letter, "$A", says that the slot's bits are an unsigned number.
 * Slot numbers are stored: append only, at most 26.
 */
enum pf_slot {
	PF_SLOT_EXTERNAL_ID = 0, /* "External id", "external id" */
	PF_SLOT_CORRELATION = 1, /* "correlation", "connection_id" */
	PF_SLOT_EV_IDX = 2,      /* "Ev Idx", "Profiler Event Index" */
	PF_SLOT_RF_ID = 3,       /* "Record function id" */
	PF_SLOT_SEQUENCE = 4,    /* "Sequence number" */
	PF_SLOT_FWD_THREAD = 5,  /* "Fwd thread id" */
	PF_SLOT_PY_ID = 6,       /* "Python id" */
	PF_SLOT_PY_PARENT = 7,   /* "Python parent id" */
	PF_SLOT_PY_MODULE = 8,   /* "Python module id" */
	PF_SLOT_STACK = 8,       /* of allocations: "stack", stack.id */
	PF_SLOT_BYTES = 9,       /* "Bytes", "bytes", "size" */
	PF_SLOT_ADDR = 10,       /* "Addr", "ptr" */
	PF_SLOT_ALLOCATED = 11,  /* "Total Allocated" */
	PF_SLOT_RESERVED = 12,   /* "Total Reserved" */
	PF_SLOT_FLOW_ID = 13,    /* the event's own "id", if an integer */
	PF_SLOT_FRACTION = 14,   /* first of the decimal slots, see below */
	PF_SLOT_BANDWIDTH = 14,  /* "memory bandwidth (GB/s)" */
	PF_SLOT_GENERIC = 15,    /* 15..24: numbers under unknown keys */
	PF_SLOT_STEP = 25,       /* "step_num": the number of a step */
	PF_SLOT_COUNT = 26
};
#define PF_SLOT_GENERIC_COUNT 10

/*
 * Slots from PF_SLOT_FRACTION on hold decimals without loss:
 * (digits as an integer) * 16 + (number of digits after the point, 0..15),
 * so "22.50" is 2250 * 16 + 2.  Slots below hold plain integers.
 */

#define PF_ID_NONE   UINT32_MAX       /* no string (an event without args) */
#define PF_ID_INLINE (UINT32_MAX - 1) /* past the dictionary's cap: inline */
