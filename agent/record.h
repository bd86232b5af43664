/* SPDX-License-Identifier: MIT */
/*
 * CUPTI's records into events, definitions and INFO lines.  Runs where CUPTI
 * hands over a full buffer: on its worker thread or the ticker's.
 */
#ifndef PF_AGENT_RECORD_H
#define PF_AGENT_RECORD_H

#include "counts.h"
#include "cupti.h"
#include "defs.h"
#include "events.h"
#include "pool.h"
#include "threads.h"
#include "wake.h"

#define PF_CBIDS 4096u /* calls above have no name and are all kept */

struct pf_launch_slot {
	const char *name;
	uint32_t words[15];
	uint32_t name_id, id;
};

#define PF_LAUNCH_SLOTS 2048u

struct pf_encoder {
	pthread_mutex_t lock; /* held while a buffer is encoded */
	/* what the encoder uses; not its own */
	struct pf_counts *counts;
	struct pf_cupti *cupti;
	struct pf_defs *defs;
	struct pf_log *info;
	struct pf_queue *queue;
	struct pf_threads *threads;
	struct pf_wake *writer;
	bool realtime; /* clock of CUPTI's times */
	bool latency;
	bool all_api;
	_Atomic bool closed; /* nothing is written any more */
	/* its own, under the lock */
	struct pf_events events;
	uint64_t last_start;
	uint32_t last_thread;
	uint8_t calls[2][PF_CBIDS]; /* enum pf_call of driver, runtime */
	struct pf_launch_slot slots[PF_LAUNCH_SLOTS];
	uint8_t scratch[PF_NAME_MAX + 512];
};

void pf_encoder_init(struct pf_encoder *e);

/* Read a buffer's records (`readable`), or only count them. */
void pf_encoder_buffer(struct pf_encoder *e, uint8_t *buffer, size_t bytes,
		       bool readable);

/* Hand what is encoded so far to the writer. */
void pf_encoder_push(struct pf_encoder *e);

#endif
