/* SPDX-License-Identifier: MIT */
/*
 * The events of one trace as rows of a timeline: three groups of tracks (GPU,
 * operators and calls, Python), each event with a depth such that events of
 * one depth never overlap.  Memory is about 30 bytes an event, and no more
 * events are taken than were asked for.
 */
#ifndef PF_REPORT_SLICES_H
#define PF_REPORT_SLICES_H

#include <stdbool.h>
#include <stdint.h>

#include "events/window.h"
#include "base/buf.h"
#include "base/err.h"
#include "page/redact.h"
#include "store/db.h"

/* What goes into the timeline, the most first. */
enum pf_timeline_want {
	PF_TIMELINE_FULL,
	PF_TIMELINE_OPS, /* "gpu+ops" */
	PF_TIMELINE_GPU,
	PF_TIMELINE_NONE,
};
#define PF_TIMELINE_WORDS "full|gpu+ops|gpu|none"

enum pf_slice_group {
	PF_SLICES_GPU,
	PF_SLICES_PATH, /* not of the trace: see path_track.h */
	PF_SLICES_OPS,
	PF_SLICES_PYTHON,
	PF_SLICE_GROUPS
};
/* "gpu", "path", "ops", "python". */
const char *pf_slice_group_key(enum pf_slice_group g);

enum pf_slice_cat {
	PF_CAT_KERNEL,
	PF_CAT_COMM,
	PF_CAT_COPY,
	PF_CAT_WAIT,
	PF_CAT_OP,
	PF_CAT_RUNTIME,
	PF_CAT_PYTHON,
	PF_CAT_OTHER,
	PF_CATS
};
const char *pf_slice_cat_name(enum pf_slice_cat cat);

#define PF_SLICE_DEPTHS  255
#define PF_SLICE_NO_LINK UINT32_MAX

struct pf_slice_track {
	uint32_t track_id;
	struct pf_buf label;
	uint32_t count, depths;
	int64_t launches; /* calls of the runtime or driver */
	bool is_waiting;  /* nearly all of its time */
	bool is_python;
};

struct pf_slices {
	struct pf_slice_track *tracks;
	size_t track_count, track_cap;
	uint32_t count;
	size_t start_cap, dur_cap, name_cap, depth_cap, cat_cap;
	int64_t *start_ns, *dur_ns; /* after the first event of the trace */
	uint32_t *name, *link;
	uint8_t *depth, *cat;
	int64_t all;      /* events that the trace has */
	int64_t until_ns; /* only events that start before; INT64_MAX */
	int64_t too_deep; /* left out for their depth */
};

struct pf_slice_name {
	uint32_t len;
	size_t at;       /* in texts */
	int64_t time_ns; /* of all that have it */
};

struct pf_timeline {
	int64_t trace_id, first_ns, last_ns;
	struct pf_slices group[PF_SLICE_GROUPS];
	bool is_wanted[PF_SLICE_GROUPS];
	struct pf_buf texts; /* names, in the form that can be shown */
	struct pf_slice_name *names;
	size_t name_count, name_cap;
};

/*
 * At most "slices" events: the GPU's come first, then operators, then Python;
 * what does not fit is cut in time and said so in until_ns.
 */
int pf_timeline_load(struct pf_db *db, const struct pf_window_trace *trace,
		     const struct pf_redact *redact, enum pf_timeline_want want,
		     int64_t slices, struct pf_timeline *out,
		     struct pf_err *err);
void pf_timeline_release(struct pf_timeline *t);

/* Append a name as slices show it. */
void pf_timeline_show_name(const struct pf_redact *redact, const char *s,
			   size_t len, struct pf_buf *out);

#endif
