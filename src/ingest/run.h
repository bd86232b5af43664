/* SPDX-License-Identifier: MIT */
/*
 * Sorted runs: the events of one track from one chunk, in the order
 * (start, -end, file order), as a stream of variable-length integers that
 * each say the difference to the event before.  Written to and read back from
 * one place (pf_scratch); trusted, because only this process writes it.
 */
#ifndef PF_INGEST_RUN_H
#define PF_INGEST_RUN_H

#include "base/buf.h"
#include "base/err.h"
#include "base/tempfile.h"
#include "formats/event.h"

/* An event with global ids; slot values are dense, in ascending slot order. */
struct pf_run_event {
	int64_t start_ns, dur_ns, order;
	uint32_t name, args, type, mask;
	const int64_t *slots;
	/* texts when name or args is PF_ID_INLINE */
	const char *inline_name, *inline_args;
	uint32_t inline_name_len, inline_args_len;
};

/* Where a run lies. */
struct pf_run {
	uint64_t offset;
	uint32_t bytes, count;
	int64_t first_start_ns, last_start_ns;
	int64_t chunk_first, chunk_behind; /* order: of the chunk it is from */
};

/* What writer and reader remember from event to event. */
struct pf_run_memory {
	int64_t start_ns, order;
	int64_t slot[PF_SLOT_COUNT];
};

/* Append one event to a run's bytes; the memory begins as zero. */
void pf_run_put(struct pf_run_memory *memory, const struct pf_run_event *ev,
		struct pf_buf *out);

struct pf_run_reader {
	const struct pf_scratch *from;
	uint64_t at, end; /* what is not yet in the buffer */
	uint32_t left;    /* events not yet read */
	char *buffer;
	size_t buffer_bytes, have, used;
	struct pf_run_memory memory;
	struct pf_run_event event; /* the current one */
	int64_t slots[PF_SLOT_COUNT];
};

/* buffer_bytes is what to read at a time; grown for long inline texts. */
void pf_run_open(struct pf_run_reader *r, const struct pf_scratch *from,
		 const struct pf_run *run, size_t buffer_bytes);
void pf_run_close(struct pf_run_reader *r);

/* Move to the next event: 1, 0 at the end, -1 on a read error. */
int pf_run_next(struct pf_run_reader *r, struct pf_err *err);

/* Each event of runs, one run after the other. */
int pf_run_each(const struct pf_scratch *from, const struct pf_run *runs,
		size_t count,
		void (*visit)(void *arg, const struct pf_run_event *ev),
		void *arg, struct pf_err *err);

/* The stored order: start, then longer first, then as in the file. */
static inline int pf_run_compare(const struct pf_run_event *a,
				 const struct pf_run_event *b)
{
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	if (a->dur_ns != b->dur_ns)
		return a->dur_ns > b->dur_ns ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

#endif
