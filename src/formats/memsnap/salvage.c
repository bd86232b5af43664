/* SPDX-License-Identifier: MIT */
/*
 * What is left of a snapshot that is cut off or damaged.  Torch writes the
 * segments first, then the histories, one device after the other: so the final
 * state is often whole where a history is not.
 */
#include "config.h"

#include <string.h>

#include "formats/memsnap/snap_impl.h"

void pf_snap_new_state(struct pf_snap *s, const char *dir)
{
	s->segments = pf_spool_new(sizeof(struct pf_snap_segment),
				   PF_SNAP_SPOOL_BYTES, dir);
	s->blocks = pf_spool_new(sizeof(struct pf_snap_block),
				 PF_SNAP_SPOOL_BYTES, dir);
	s->pasts = pf_spool_new(sizeof(struct pf_snap_past),
				PF_SNAP_SPOOL_BYTES, dir);
}

/* Segments without those that are lost add up to nothing that is true. */
static void drop_segments(struct pf_snap *s, const char *dir)
{
	int64_t count = (int64_t)pf_spool_count(s->segments);

	s->lost_count += count + 1; /* the one at hand, or to come */
	if (count)
		pf_repair_note(&s->repairs, PF_REPAIR_BAD_PART, count,
			       PF_OFFSET_UNKNOWN);
	pf_spool_free(s->segments);
	pf_spool_free(s->blocks);
	pf_spool_free(s->pasts);
	pf_snap_new_state(s, dir);
	s->bad_sum_count = s->bad_order_count = 0;
	for (size_t i = 0; i < s->device_count; i++)
		s->devices[i].segment_total = s->devices[i].in_use =
			s->devices[i].active = 0;
}

/* Entries that were begun and did not end. */
static void count_lost(struct pf_snap *s)
{
	int64_t lost = s->entry_count + s->mark_count -
		       (int64_t)pf_spool_count(s->entries) -
		       (int64_t)pf_spool_count(s->marks) -
		       s->repairs.of[PF_SKIP_MALFORMED].count -
		       s->repairs.of[PF_SKIP_TIME_RANGE].count;

	if (lost)
		pf_repair_note(&s->repairs, PF_SKIP_MALFORMED, lost,
			       s->pickle.end);
}

static int advise(struct pf_err *err)
{
	struct pf_err why = *err;

	return pf_fail(err, why.code, "%s; --salvage keeps what is before that",
		       why.text);
}

int pf_snap_keep(struct pf_snap *s, const char *dir, bool salvage,
		 struct pf_err *err)
{
	bool is_whole = pf_spool_count(s->segments) && !pf_snap_in_segments(s);
	int64_t cut = pf_snap_in_history(s);

	if (!s->pickle.is_torn || (!is_whole && !pf_spool_count(s->entries)))
		return -1;
	if (!salvage)
		return advise(err);
	memset(err, 0, sizeof(*err));
	if (!is_whole)
		drop_segments(s, dir);
	for (size_t i = 0; i < s->device_count; i++)
		s->devices[i].is_cut = !is_whole || cut == (int64_t)i;
	count_lost(s);
	pf_repair_note(&s->repairs, PF_REPAIR_CUT_SNAPSHOT, 1, s->pickle.end);
	return pf_snap_settle(s, err);
}
