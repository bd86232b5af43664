/* SPDX-License-Identifier: MIT */
/*
 * Two containers whose memory is fixed however much is put in: past their
 * budget they use an unlinked temporary file in "dir" (nothing is left behind
 * however the process ends).
 */
#pragma once

#include "base/err.h"
#include "base/mem.h"

/* ---- an array of fixed-size records: append, then read anywhere ---- */
struct pf_spool;
struct pf_spool *pf_spool_new(size_t record_bytes, size_t budget_bytes,
			      const char *dir);
/*
 * Of what the budget does not hold, keep so many bytes in memory all the same,
 * packed to a quarter or so.  Before the first record.
 */
void pf_spool_keep(struct pf_spool *s, size_t bytes);
void pf_spool_free(struct pf_spool *s);
int pf_spool_add(struct pf_spool *s, const void *record, struct pf_err *err);
uint64_t pf_spool_count(const struct pf_spool *s);
/*
 * Borrow record i (valid until the next call on s); NULL on a read error.
 * Reads are cached in pieces, so nearby indexes are cheap.
 */
const void *pf_spool_at(struct pf_spool *s, uint64_t i, struct pf_err *err);

/*
 * First index whose leading int64 is >= key, in a spool whose records were
 * added in ascending order of their leading int64; count if there is none.
 * -1 cast to uint64_t on a read error.  Starts from the last answer, so
 * nearly ascending keys cost almost nothing.
 */
uint64_t pf_spool_lower_bound(struct pf_spool *s, int64_t key,
			      struct pf_err *err);

/* ---- external sort by the two leading int64 of each record ---- */
struct pf_sorter;
struct pf_sorter *pf_sorter_new(size_t record_bytes, size_t budget_bytes,
				const char *dir);
/* The same with 4 MiB and pf_temp_dir(). */
struct pf_sorter *pf_sorter_temp(size_t record_bytes);
void pf_sorter_free(struct pf_sorter *s);
PF_FREED(pf_sorter_free, struct pf_sorter)
int pf_sorter_add(struct pf_sorter *s, const void *record, struct pf_err *err);
/* No more records: prepare for reading. */
int pf_sorter_finish(struct pf_sorter *s, struct pf_err *err);
/*
 * The next record in ascending (first, second) order, stable in order of
 * adding; borrowed until the next call.  NULL at the end (err->code stays
 * PF_OK) or on an error (err->code set).
 */
const void *pf_sorter_next(struct pf_sorter *s, struct pf_err *err);
