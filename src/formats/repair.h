/* SPDX-License-Identifier: MIT */
/*
 * Kinds of damage that the reader mends or skips, each counted with the
 * offset of its first case.  The words go to repair.kind in the database.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum pf_repair_kind {
	PF_REPAIR_CONTROL_BYTE,      /* raw control byte inside a string */
	PF_REPAIR_BAD_ESCAPE,        /* backslash kept as itself */
	PF_REPAIR_BARE_QUOTE,        /* a quote that nobody escaped: kept */
	PF_REPAIR_BAD_UTF8,          /* byte replaced by U+FFFD */
	PF_REPAIR_LONE_SURROGATE,    /* \uD8xx alone: U+FFFD */
	PF_REPAIR_NOT_A_NUMBER,      /* NaN, Infinity: null */
	PF_REPAIR_BAD_NUMBER,        /* 01, +1, 1.: null */
	PF_REPAIR_UNQUOTED,          /* bare word or cut list: null */
	PF_REPAIR_TRAILING_COMMA,    /* dropped */
	PF_REPAIR_MISSING_COMMA,     /* between two events */
	PF_REPAIR_BAD_MEMBER,        /* unreadable text before the events */
	PF_REPAIR_DUPLICATE_KEY,     /* the last one wins */
	PF_REPAIR_NO_DURATION,       /* complete event without dur: 0 */
	PF_REPAIR_NEGATIVE_DURATION, /* 0 */
	PF_REPAIR_ROUNDED_TIME,      /* finer than a nanosecond: rounded */
	PF_REPAIR_OPEN_BEGIN,        /* B without E: ends with the track */
	PF_REPAIR_END_MISMATCH,      /* E of another name than its B */
	PF_REPAIR_SEVERAL_DOCUMENTS, /* all of them were read */
	PF_REPAIR_NESTED_LIST,       /* traceEvents inside traceEvents */
	PF_REPAIR_CUT_OFF,           /* the file ends inside its list */
	PF_REPAIR_COMPRESSION,       /* compressed data cut off or damaged */
	PF_REPAIR_TRAILING_BYTES,    /* text after the document: ignored */
	PF_REPAIR_BAD_FRAME,         /* .pfr: damaged frame left out */
	PF_REPAIR_SKIPPED_BYTES,     /* .pfr: bytes that are no whole frame */
	PF_REPAIR_MISSING_FRAMES,    /* .pfr: numbers of frames not there */
	PF_REPAIR_LOST_EVENTS,       /* .pfr: the agent wrote more */
	PF_REPAIR_NO_END,            /* .pfr: no END frame: process killed */
	PF_REPAIR_STOPPED,           /* .pfr: writing stopped early */
	PF_REPAIR_NOT_RECORDED,      /* .pfr: events dropped while capturing */
	PF_REPAIR_LOST_NAME,         /* id without its definition */
	PF_REPAIR_BAD_DEFINITION,    /* .pfr: entry that cannot be read */
	PF_REPAIR_OPEN_RANGE,        /* .pfr: closed at the file's end */
	PF_REPAIR_TORN_RANGE,        /* .pfr: closed where frames are missing */
	PF_REPAIR_UNTIMED,           /* .pfr: no times: kept as metadata */
	PF_REPAIR_NO_CLOCK,          /* .pfr: realtime without a CLOCK */
	PF_REPAIR_BAD_MESSAGE,       /* protobuf: one that cannot be read */
	PF_REPAIR_BAD_PART,          /* snapshot: segment, block or frame */
	PF_REPAIR_HISTORY,           /* snapshot: history is not the state */
	PF_REPAIR_SUMS,              /* snapshot: sizes that do not add up */
	PF_REPAIR_LATE,              /* snapshot: a time that goes back */
	PF_REPAIR_CUT_SNAPSHOT,      /* snapshot: cut off, and salvaged */
	/* From here on an event (or value) was lost, and is counted. */
	PF_SKIP_MALFORMED,    /* an event that no repair could save */
	PF_SKIP_NO_TIME,      /* no usable ts */
	PF_SKIP_TIME_RANGE,   /* beyond PF_TIME_MAX_NS */
	PF_SKIP_PHASE,        /* a phase that is counted, not stored */
	PF_SKIP_LONE_END,     /* E without B */
	PF_SKIP_NOT_AN_EVENT, /* something else in the event list */
	PF_SKIP_PYTHON,       /* python_function, on request */
	PF_SKIP_TRACKS,       /* more tracks than the limit */
	PF_SKIP_TOO_LARGE,    /* larger than a limit */
	PF_SKIP_UNTIMED,      /* no times: CUPTI collected none, ... */
	PF_SKIP_RECORD_TYPE,  /* .pfr: a record that profan does not use */
	PF_SKIP_PLANE,        /* XSpace: of a plane of no known device */
	PF_SKIP_EMPTY,        /* {}, which holds nothing */
	PF_SKIP_TABLE,        /* nsys: a row of a table that is not read */
	PF_SKIP_STATE,        /* a phase of something that takes no time */
	PF_REPAIR_KINDS
};

#define PF_REPAIR_FIRST_SKIP PF_SKIP_MALFORMED
#define PF_OFFSET_UNKNOWN    (-1) /* found when events were already sorted */

struct pf_repairs {
	struct {
		int64_t count, first_offset;
	} of[PF_REPAIR_KINDS];
};

static inline void pf_repair_note(struct pf_repairs *r,
				  enum pf_repair_kind kind, int64_t count,
				  int64_t offset)
{
	if (!r->of[kind].count || offset < r->of[kind].first_offset)
		r->of[kind].first_offset = offset;
	r->of[kind].count += count;
}

/* Add all counts of "from" to "to". */
void pf_repairs_add(struct pf_repairs *to, const struct pf_repairs *from);

const char *pf_repair_word(enum pf_repair_kind kind); /* "control_byte" */
const char *pf_repair_text(enum pf_repair_kind kind); /* for people */

/*
 * What sound traces have, too (TensorFlow and JAX write picoseconds, and an
 * empty object at the end; Chrome states of objects): it is counted, but no
 * cause for a warning.
 */
bool pf_repair_is_usual(enum pf_repair_kind kind);
