/* SPDX-License-Identifier: MIT */
/*
 * What a .pfr file says beside its events, gathered over all of it: the
 * process, its devices, the agent's own counts, definitions and clocks.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "formats/kineto/work.h"
#include "formats/pfr/frame.h"
#include "formats/wire.h"

/*
 * The text frames of a .pfr file: META, INFO and STAT are lines "key=value"
 * of which the last one of a key holds.  Memory is bounded: lines past the
 * limits are left out and counted.
 */

struct pf_pfr_line {
	char *key, *value; /* NUL-terminated; the value may hold NULs too */
	size_t value_len;
};

struct pf_pfr_lines {
	struct pf_pfr_line *items; /* by key */
	size_t count, cap, bytes;
	int64_t left_out;
};

/* NULL if there is none. */
const struct pf_pfr_line *pf_pfr_line_of(const struct pf_pfr_lines *l,
					 const char *key);
/* Is there one, and is it a decimal number of at most 18 digits? */
bool pf_pfr_line_int(const struct pf_pfr_lines *l, const char *key,
		     int64_t *out);

/*
 * The CLOCK frames of a file: pairs of CLOCK_MONOTONIC, on which events lie,
 * and CLOCK_REALTIME, on which some lie too and which tells the date.
 */

struct pf_pfr_clock {
	struct pf_pfr_clock_pair {
		int64_t monotonic_ns, realtime_ns;
	} * pairs; /* in the order of the file */
	size_t count, cap;
	size_t last;    /* the pair that was used last */
	bool goes_back; /* realtime was set back */
};

/*
 * A realtime on the monotonic clock: linear between two pairs, with the
 * offset of the nearest pair outside of them; the time itself without pairs.
 */
int64_t pf_pfr_clock_monotonic(struct pf_pfr_clock *c, int64_t realtime_ns);

/*
 * What the DEF frames of a file define: texts and launch configurations by
 * number.  Gathered over the whole file before any event is looked at, so a
 * definition that was lost and comes again at the file's end is there.
 *
 * Memory is bounded: definitions past the limits, and texts longer than a
 * writer may make them, are counted and count as lost.  Texts are bytes, valid
 * until release.
 */

struct pf_pfr_text {
	const char *p; /* NULL: not defined */
	size_t len;
};

/* A name in a body: a number of the string table, or its own bytes. */
struct pf_pfr_name {
	uint64_t id; /* 0: none, or inline */
	const char *text;
	size_t len; /* of the inline text */
};

/* The part of a LAUNCH that is the same in KERNEL_INLINE. */
struct pf_pfr_launch {
	struct pf_pfr_name name; /* an inline text is borrowed */
	struct pf_work_launch how;
};

struct pf_pfr_defs {
	struct pf_buf text; /* of all tables */
	struct pf_pfr_def {
		size_t at; /* in text */
		uint32_t len;
		bool known;
	} * strings;
	size_t string_cap;
	struct pf_pfr_launch_def {
		struct pf_pfr_launch launch;
		size_t text_at; /* of an inline name */
		bool known;
	} * launches;
	size_t launch_cap;
	struct pf_pfr_keyed { /* sorted by table and key once sealed */
		uint64_t key, order;
		size_t at;
		uint32_t len;
		uint8_t table;
	} * keyed;
	size_t keyed_count, keyed_cap;
	bool is_keyed_full; /* nearly no key comes twice */
	int64_t bad;        /* entries that cannot be read */
	int64_t past_cap;   /* entries past the limits */
};

#define PF_PFR_TEXT_MAX 65535 /* no writer makes a longer one */

enum pf_pfr_table {
	PF_PFR_STR = 1,
	PF_PFR_LAUNCH = 2,
	PF_PFR_CBID = 3,
	PF_PFR_THREAD = 4,
	PF_PFR_DOMAIN = 5,
	PF_PFR_CATEGORY = 6,
};

/* All frames have been added: make the following ones possible. */
void pf_pfr_defs_seal(struct pf_pfr_defs *d);

struct pf_pfr_text pf_pfr_string(const struct pf_pfr_defs *d, uint64_t id);
/* NULL if it was never defined. */
const struct pf_pfr_launch *pf_pfr_launch_of(const struct pf_pfr_defs *d,
					     uint64_t id);
/*
 * Of the tables CBID (key: cbid << 1, +1 for the driver), THREAD (tid),
 * DOMAIN (id) and CATEGORY (domain << 32 | category).
 */
struct pf_pfr_text pf_pfr_keyed_text(const struct pf_pfr_defs *d,
				     enum pf_pfr_table table, uint64_t key);

/*
 * The events of an EVENTS frame, decoded field by field as agent/FORMAT.md
 * (section 5) lists them; what they mean is map.h's.
 */

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

/* ---- the file ---- */

struct pf_pfr_file {
	struct pf_pfr_lines meta, info, stat;
	struct pf_pfr_defs defs;
	struct pf_pfr_clock clock;
	bool has_base;   /* by pf_pfr_file_find_base(), or from outside */
	int64_t base_ns; /* UTC at monotonic 0 */
};

void pf_pfr_file_release(struct pf_pfr_file *f);

/* Take in a frame of any type but EVENTS; unknown types are passed over. */
void pf_pfr_file_add(struct pf_pfr_file *f, const struct pf_pfr_frame *frame);

/* Set the base from the first CLOCK frame, if there is one. */
void pf_pfr_file_find_base(struct pf_pfr_file *f);

/*
 * As members and metadata events of a Kineto trace: baseTimeNanoseconds,
 * distributedInfo, deviceProperties, the META lines, captureInfo and
 * captureCounts (the INFO and STAT lines); names of the process and its
 * threads.
 */
void pf_pfr_file_describe(const struct pf_pfr_file *f, struct pf_sink *out);

/* A number of INFO: "device.0.SMs"; -1 if it is not there. */
int64_t pf_pfr_info_int(const struct pf_pfr_file *f, const char *what,
			uint64_t id, const char *field);
