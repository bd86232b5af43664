/* SPDX-License-Identifier: MIT */
/*
 * How torch's key_averages() works differs from release to release.  This is
 * the table of what differs, and the recognition of the release from what a
 * trace says about itself (no release is written in it).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "store/db.h"

/*
 * In process a duration is the floor of end - start, in those files floor(end) -
 * floor(start): nothing tells the two from each other.  Earlier releases had
 * whole microseconds in process, too.
 */
#define PF_RULES_ROUNDED                                                       \
	"torch 1.13 to 2.3 wrote whole microseconds: a call on the CPU is up " \
	"to 1 us longer in such a trace than in torch's own table"

/* How the kernels' "External id" relates to the operator they belong to. */
enum pf_link_mode {
	PF_LINK_LOST,  /* own correlation everywhere: rebuilt by containment */
	PF_LINK_MIXED, /* the link, or the own correlation if there is none */
	PF_LINK_GIVEN, /* the link, or absent or 0 */
};

/* Which function events may own kernels. */
enum pf_candidates {
	PF_CANDIDATES_OPS,      /* only operators and annotations have an id */
	PF_CANDIDATES_ALL,      /* every CPU event, linked calls too */
	PF_CANDIDATES_UNLINKED, /* CPU events without a link of their own */
};

/* Which memory records an event takes at its borders. */
enum pf_memory_border {
	PF_BORDER_EXACT,  /* closed interval in the trace's own resolution */
	PF_BORDER_DOUBLE, /* ns borders rounded through doubles of us */
};

struct pf_rules {
	int torch;          /* major * 100 + minor: 206 is 2.6 */
	int python;         /* minor of Python 3 */
	bool is_us;         /* integer microseconds in the file */
	bool is_rounded;    /* PF_RULES_ROUNDED is true of it */
	const char *device; /* as the table calls it: "CUDA", AMD's too */
	enum pf_link_mode links;
	enum pf_candidates candidates;
	enum pf_memory_border border;
	bool annotations_apart; /* in the key; not in the device total */
	bool waits_apart;       /* the same of what streams wait for */
	bool overhead_claims;   /* overhead events may own kernels */
	bool unlinked_claims;   /* unlinked runtime calls may */
	bool unlinked_in_tree;  /* they nest on the stop thread */
	bool python_in_tree;    /* python functions are function events */
	bool python_rows;       /* and rows of the table */
	bool byte_units;        /* KB, not Kb */
	bool xpu_memory;        /* device type 12 is device memory */
	bool unfinished_kept;   /* they end with the trace */
	bool hidden_events;     /* events with "hidden": 1 are dropped */
	bool stack_limit;       /* at most five stack lines are printed */
	bool compensated;       /* Python's sum() compensates (3.12 on) */
	/*
	 * profan's own capture, not torch's trace: what has no operator stays
	 * on its thread, ranges that cross are no asynchronous operators, and
	 * only "_Z..." is taken for a mangled name.
	 */
	bool is_capture;
	bool names_device; /* the table is headed by its device's name */
	int64_t narrow_start_ns, narrow_end_ns; /* GPU annotations */
};

/* What recognition looks at; from trace_fact and trace_meta. */
struct pf_rule_facts {
	int64_t fraction_digits, link_equal, link_differ, link_absent;
	int64_t ext_lower, ev_idx, profiler_event_index, rf_id;
	int64_t input_dims, input_strides, concrete_inputs, finished;
	int64_t finished_true, call_from, call_stack, scope, priority;
	int64_t memory_records, python_functions;
	bool has_base, has_host_name, has_trace_id;
	bool has_overloads;   /* operators like "aten::add.Tensor" */
	bool has_collections; /* "Python GC" */
	bool is_capture; /* .pfr, nsys, AMD's: no ids link calls, operators */
	bool is_foreign; /* torch was not there, and has no table */
	/* "MTIA", "XPU", "HPU", by the categories of events; NULL: other */
	const char *device;
	bool is_npu;       /* of torch_npu */
	int torch, python; /* from the trace's own metadata, 0 = not said */
};

int pf_rules_read_facts(struct pf_db *db, int64_t trace_id,
			struct pf_rule_facts *out, struct pf_err *err);

/* The rules for a trace; torch and python 0 mean "recognise". */
struct pf_rules pf_rules_for(const struct pf_rule_facts *facts, int torch,
			     int python);

/*
 * "2.6" or "2.6/3.11" (with the Python release, which decides how sums are
 * rounded) -> 206 and 11 or 0.  PF_EUSAGE for anything else.
 */
int pf_rules_parse(const char *text, int *torch, int *python,
		   struct pf_err *err);
