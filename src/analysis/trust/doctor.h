/* SPDX-License-Identifier: MIT */
/*
 * How far a database can be trusted: one row for each check, with what it
 * counts, the GPU time that is affected and a verdict, and a note for each
 * check that found something, which says what it means and which option of the
 * profiler would provide what is missing.
 *
 * Verdicts: "ok" nothing found; "note" something to know, no figure is wrong;
 * "warn" some figures leave this out or may be off; "bad" figures are wrong
 * or what they need is missing.
 *
 * Definitions, all of them exact counts:
 * - GPU work is kernels, copies and fills; a stream is a track of them.
 * - launched before capture: GPU work without a launch call that starts before
 *   the first work of its stream that has one; on a stream that has none,
 *   before the first of its trace.  Other GPU work without a launch call is "no
 *   launch call".
 * - launches, copies without work: calls of the runtime or the driver with
 *   "Launch", or with "Memcpy" or "Memset" in their name (never "HostFunc"),
 *   whose correlation no GPU work has.
 * - work before its launch: starts before its launch call does.  Clock
 *   problems: ends before its launch call starts.
 * - slow clocks: samples of a log of nvidia-smi or dcgmi while a GPU had work
 *   (schema/load/doctor_clocks.sql).
 * - overlaps: GPU work that starts before the end of earlier work of its
 *   stream; the time is what both cover, so that the sum of durations less
 *   the time is the union.
 * - crossing ranges: ranges of a host thread that begin within an earlier one
 *   and end after it.  Steps of the profiler are none of them: they begin and
 *   end within its own calls.
 * - duplicates: events of a thread or a stream that equal an earlier one in
 *   everything but their place in the file.
 */
#pragma once

#include "base/mem.h"
#include "store/db.h"
#include "show/doc.h"

/* The words of --fail-on, in the order of enum pf_doctor_verdict from WARN on. */
#define PF_DOCTOR_FAIL_ON "warn|bad"

#define PF_DOCTOR_CHECKS 47

struct pf_doctor_args {
	int fail_on; /* 0: from a warning on, 1: only bad; -1: never */
	bool all;    /* people see checks that found nothing, too */
};

enum pf_doctor_verdict {
	PF_DOCTOR_OK,
	PF_DOCTOR_NOTE,
	PF_DOCTOR_WARN,
	PF_DOCTOR_BAD
};

struct pf_doctor_check {
	const char *name, *verdict; /* the verdict's word */
	int64_t count, gpu_ns;      /* gpu_ns -1: makes no sense */
	double share;               /* not a number: there is no whole */
	const char *says, *whole;   /* in a sentence; whole NULL: of nothing */
};

/* A zero-initialised struct is an empty result; it owns its texts. */
struct pf_doctor {
	struct pf_doctor_check checks[PF_DOCTOR_CHECKS];
	enum pf_doctor_verdict worst;
	double captured_share; /* of launches, into graphs; -1: there are none */
	const char *finding;
	const char *notes[PF_DOCTOR_CHECKS]; /* the worst first */
	size_t note_count;
	struct pf_arena texts;
};

/*
 * Checks that say bad or warn, the worst first: the next behind one, or NULL;
 * of NULL the first.
 */
const struct pf_doctor_check *pf_doctor_next(const struct pf_doctor *doctor,
					     const struct pf_doctor_check *c);
/* "GPU work has no launch call (12 % of GPU time)" */
void pf_doctor_say(const struct pf_doctor_check *c, struct pf_buf *out);

int pf_doctor_find(struct pf_db *db, struct pf_doctor *out);
void pf_doctor_release(struct pf_doctor *doctor);

/*
 * Both.  *is_failed: the worst verdict is at least what fail_on says.  What
 * was found stays in "kept", or NULL.
 */
int pf_doctor(struct pf_db *db, const struct pf_doctor_args *args,
	      struct pf_doctor *kept, struct pf_doc *doc, bool *is_failed);
