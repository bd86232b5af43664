/* SPDX-License-Identifier: MIT */
/*
 * The running totals of STAT frames; FORMAT.md says what each one means.
 * Anybody may add at any time.
 */
#ifndef PF_AGENT_COUNTS_H
#define PF_AGENT_COUNTS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define PF_COUNTS(X)                                                           \
	X(records)                                                             \
	X(unknown)                                                             \
	X(bad)                                                                 \
	X(bad_buffers)                                                         \
	X(filtered)                                                            \
	X(invalid_time)                                                        \
	X(events)                                                              \
	X(nvtx)                                                                \
	X(dropped_cupti)                                                       \
	X(dropped_queue)                                                       \
	X(dropped_nvtx)                                                        \
	X(discarded)                                                           \
	X(cut_names)                                                           \
	X(no_names)                                                            \
	X(errors)                                                              \
	X(takeover)                                                            \
	X(exit_timeout)

enum pf_truncated {
	PF_WHOLE,
	PF_TRUNCATED_SIZE,
	PF_TRUNCATED_WRITE,
	PF_TRUNCATED_CLOSED
};

#define PF_COUNTED_KINDS 256

struct pf_counts {
#define X(name) _Atomic uint64_t name;
	PF_COUNTS(X)
#undef X
	_Atomic uint64_t kinds[PF_COUNTED_KINDS];
	_Atomic int truncated; /* enum pf_truncated */
};

#define PF_COUNT_ADD(where, n)                                                 \
	atomic_fetch_add_explicit(&(where), (n), memory_order_relaxed)
#define PF_COUNT_READ(where)                                                   \
	atomic_load_explicit(&(where), memory_order_relaxed)

/*
 * Write all totals that are not 0 as lines `key=value\n`.  Returns the bytes
 * written; what does not fit is left out (8 KiB are always enough).
 */
size_t pf_counts_text(const struct pf_counts *c, char *out, size_t room);

#endif
