/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/sat.h"
#include "analysis/memory/snap_state.h"
#include "compare/snap_trend.h"
#include "show/rows.h"

struct row {
	const char *capture;
	int64_t trace_id, device;
	int64_t allocated, change, reserved, whole, split, largest;
};

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct row, member, key, title, kind)
static const struct pf_field fields[] = {
	FIELD(capture, "capture", "Capture", PF_PATH),
	FIELD(trace_id, "trace_id", "Trace", PF_INT | PF_FULL),
	FIELD(device, "device", "GPU", PF_INT),
	FIELD(allocated, "allocated_bytes", "Allocated", PF_BYTES),
	FIELD(change, "change_bytes", "Change",
	      PF_BYTES | PF_SIGNED | PF_MAYBE),
	FIELD(reserved, "reserved_bytes", "Reserved", PF_BYTES),
	FIELD(whole, "whole_bytes", "Free segments", PF_BYTES),
	FIELD(split, "split_bytes", "Free between", PF_BYTES),
	FIELD(largest, "largest_bytes", "Largest", PF_BYTES | PF_FULL),
};
#undef FIELD

struct dumps {
	struct row *rows;
	size_t count, cap;
	int64_t lost_segments;
};

/* The row of the same device in the dump before, or NULL. */
static const struct row *before(const struct dumps *d, size_t at)
{
	for (size_t i = at; i-- > 0;)
		if (d->rows[i].device == d->rows[at].device)
			return &d->rows[i];
	return NULL;
}

static void add(struct dumps *d, const char *capture,
		const struct pf_snap_now *now)
{
	const struct row *last;
	struct row *row;

	d->rows = pf_grow(d->rows, &d->cap, d->count + 1, sizeof(*d->rows));
	row = &d->rows[d->count++];
	*row = (struct row){
		.capture = capture,
		.trace_id = now->trace_id,
		.device = now->device,
		.allocated = now->allocated,
		.change = PF_NO_INT,
		.reserved = now->reserved,
		.whole = now->whole,
		.split = now->split,
		.largest = now->largest,
	};
	last = before(d, d->count - 1);
	if (last)
		row->change = pf_sat_sub(row->allocated, last->allocated);
}

static int add_database(struct dumps *d, const char *path, const char *name,
			const struct pf_window_args *args, struct pf_err *err)
{
	struct pf_snap_state state = { 0 };
	struct pf_window window = { 0 };
	struct pf_db db = { 0 };
	int rc = pf_db_open(&db, path, false, err);

	if (!rc)
		rc = pf_window_resolve(&db, args, &window, err);
	if (!rc)
		rc = pf_snap_state_find(&db, &window, &state, err);
	for (size_t i = 0; !rc && i < state.now_count; i++)
		add(d, name, &state.now[i]);
	pf_sat_sum(&d->lost_segments, state.lost_segments);
	pf_snap_state_release(&state);
	pf_window_release(&window);
	pf_db_close(&db);
	return rc;
}

/* Of the device that has most reserved in any dump. */
static void say(const struct dumps *d, struct pf_doc *doc)
{
	char first_text[PF_NUM_MAX], last_text[PF_NUM_MAX];
	const struct row *most = d->rows, *first = NULL, *last = NULL;
	size_t dumps = 0, grown = 0;

	for (size_t i = 1; i < d->count; i++)
		if (d->rows[i].reserved > most->reserved)
			most = &d->rows[i];
	for (size_t i = 0; i < d->count; i++) {
		const struct row *row = &d->rows[i];

		if (row->device != most->device)
			continue;
		first = first ? first : row;
		last = row;
		dumps++;
		grown += row->change != PF_NO_INT && row->change > 0;
	}
	pf_num_show_bytes(first_text, first->allocated);
	pf_num_show_bytes(last_text, last->allocated);
	if (dumps < 2)
		pf_doc_finding(doc,
			       "GPU %" PRId64 ": %s allocated, in one dump",
			       most->device, last_text);
	else
		pf_doc_finding(
			doc,
			"GPU %" PRId64 ": %s allocated in the first dump "
			"and %s in the last; it grew in %s%zu of %zu",
			most->device, first_text, last_text,
			grown == dumps - 1 ? "each, " : "", grown, dumps - 1);
}

int pf_snap_trend(const char *const *paths, char *const *names, size_t count,
		  const struct pf_window_args *window, struct pf_doc *doc,
		  struct pf_err *err)
{
	struct dumps d = { 0 };
	int rc = 0;

	for (size_t i = 0; !rc && i < count; i++)
		rc = add_database(&d, paths[i], names[i], window, err);
	if (!rc && !d.count) {
		pf_doc_finding(doc, "%s",
			       d.lost_segments
				       ? PF_SNAP_ALL_LOST
				       : "These snapshots have no segments: "
					 "nothing was reserved when they were "
					 "taken");
		doc->is_nothing = true;
	} else if (!rc) {
		say(&d, doc);
		PF_ROWS(doc, "dumps", "Memory in each dump", fields, d.rows,
			d.count);
	}
	pf_snap_note_lost(d.lost_segments, doc);
	free(d.rows);
	return rc;
}
