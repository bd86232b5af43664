/* SPDX-License-Identifier: MIT */
/*
 * A libcupti for machines without a GPU: the entry points that the agent
 * uses, and functions for a test program to make records with.  Records have
 * the sizes of a real libcupti (FAKE_CUPTI_VERSION: 18, 28 or 130001).
 *
 * FAKE_CUPTI_FAIL names entry points that fail: "all", or a list like
 * "subscribe,enable,clock,version".  FAKE_CUPTI_HANG=1: FlushAll(1) never
 * returns.
 */
#ifndef FAKECUPTI_H
#define FAKECUPTI_H

#include <stddef.h>
#include <stdint.h>

/*
 * A new record of this kind, zeroed but for the kind, to be filled in and
 * given to fake_done.  NULL (and nothing to be done) if the kind is off.
 */
typedef uint8_t *fake_record_fn(uint32_t kind);
typedef void fake_done_fn(void);

/* The size of a record. */
typedef uint32_t fake_size_fn(uint32_t kind);

/* Report n records as dropped at the next question. */
typedef void fake_drop_fn(size_t n);

/* Have a callback called, if it is enabled. */
typedef void fake_call_fn(uint32_t domain, uint32_t cbid, uint32_t site,
			  const char *function);

/* Time as the client's clock gives it. */
typedef uint64_t fake_now_fn(void);

/* Another client registers its callbacks: ours get nothing any more. */
typedef void fake_takeover_fn(void);

/* CPU time spent in the client's completion callback, and records made. */
typedef void fake_cost_fn(uint64_t *ns, uint64_t *records);

#endif
