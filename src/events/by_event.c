/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdbool.h>
#include <stdlib.h>

#include "events/by_event.h"
#include "events/gpu.h"
#include "base/mem.h"
#include "base/sat.h"
#include "base/spool.h"
#include "store/cursor.h"

struct pf_by_event {
	struct pf_db *db;
	uint64_t columns;
	struct pf_sorter *records;
	bool is_sorted;
	const void *next;         /* that was looked at, or NULL */
	struct pf_cursor *cursor; /* over this track, or NULL */
	uint32_t track_id;
	const struct pf_block *block; /* or NULL: before the first, or end */
	uint32_t first_seq;
};

struct pf_by_event *pf_by_event_new(struct pf_db *db, size_t record_bytes,
				    uint64_t columns)
{
	struct pf_by_event *e = pf_calloc(1, sizeof(*e));

	e->db = db;
	e->columns = columns;
	e->records = pf_sorter_temp(record_bytes);
	return e;
}

void pf_by_event_free(struct pf_by_event *e)
{
	if (!e)
		return;
	pf_sorter_free(e->records);
	pf_cursor_free(e->cursor);
	free(e);
}

int pf_by_event_add(struct pf_by_event *e, const void *record,
		    struct pf_err *err)
{
	return pf_sorter_add(e->records, record, err);
}

static int open_track(struct pf_by_event *e, uint32_t track_id,
		      struct pf_err *err)
{
	pf_cursor_free(e->cursor);
	e->block = NULL;
	e->first_seq = 0;
	e->track_id = track_id;
	e->cursor = pf_cursor_new(e->db, track_id, e->columns, err);
	return e->cursor ? 0 : -1;
}

/* Ids ascend: 1 if the event is there, 0, -1. */
static int go_to(struct pf_by_event *e, int64_t event_id, uint32_t *place,
		 struct pf_err *err)
{
	uint32_t track_id = pf_track_of(event_id);
	uint32_t seq = (uint32_t)((uint64_t)event_id & UINT32_MAX);

	if ((!e->cursor || e->track_id != track_id) &&
	    open_track(e, track_id, err) < 0)
		return -1;
	while (!e->block || seq >= e->first_seq + e->block->count) {
		int rc = pf_cursor_block(e->cursor, &e->block, &e->first_seq,
					 err);

		if (rc <= 0) {
			e->block = NULL;
			return rc;
		}
	}
	*place = seq - e->first_seq;
	return seq >= e->first_seq;
}

const void *pf_by_event_peek(struct pf_by_event *e, struct pf_err *err)
{
	if (e->next)
		return e->next;
	if (!e->is_sorted && pf_sorter_finish(e->records, err) < 0)
		return NULL;
	e->is_sorted = true;
	e->next = pf_sorter_next(e->records, err);
	return e->next;
}

const void *pf_by_event_next(struct pf_by_event *e,
			     const struct pf_block **block, uint32_t *place,
			     struct pf_err *err)
{
	const int64_t *record = pf_by_event_peek(e, err);
	int rc = 0;

	e->next = NULL;
	if (record && *record && e->columns)
		rc = go_to(e, *record, place, err);
	*block = rc == 1 ? e->block : NULL;
	return rc < 0 ? NULL : record;
}

bool pf_by_event_is_on(struct pf_by_event *e, uint32_t track_id,
		       struct pf_err *err)
{
	const int64_t *event_id = pf_by_event_peek(e, err);

	return event_id && *event_id && pf_track_of(*event_id) == track_id;
}

struct pf_by_event *pf_by_event_work(struct pf_db *db,
				     const struct pf_window *window,
				     uint64_t columns, struct pf_err *err)
{
	struct pf_by_event *e =
		pf_by_event_new(db, sizeof(struct pf_event_work), columns);
	struct pf_gpu *gpu = pf_gpu_new(db, window, PF_GPU_CALLS, err);
	const struct pf_gpu_event *ev;
	int rc = -1;

	while (gpu && (rc = pf_gpu_next(gpu, &ev, err)) == 1) {
		struct pf_event_work w = {
			ev->launch_id, ev->start_ns,
			ev->event_id,  ev->trace->trace_id,
			ev->end_ns,    ev->end_ns - ev->start_ns,
			ev->name,      0
		};

		if (pf_by_event_add(e, &w, err) < 0) {
			rc = -1;
			break;
		}
	}
	pf_gpu_free(gpu);
	if (!rc)
		return e;
	pf_by_event_free(e);
	return NULL;
}

void pf_held_add(struct pf_held *h, int64_t start_ns, int64_t end_ns,
		 int64_t call_start_ns, int64_t call_end_ns)
{
	pf_sat_sum(&h->work_ns, pf_sat_sub(end_ns, start_ns));
	if (start_ns < call_start_ns)
		start_ns = call_start_ns;
	if (end_ns > call_end_ns)
		end_ns = call_end_ns;
	if (start_ns < end_ns)
		pf_sat_sum(&h->inside_ns, pf_sat_sub(end_ns, start_ns));
}

bool pf_held_is(const struct pf_held *h)
{
	return h->inside_ns > h->work_ns / 2;
}
