/* SPDX-License-Identifier: MIT */
/*
 * Chunks: payloads of EVENTS frames on their way from those who encode to
 * the writer.  A fixed number of them; taking one never waits.
 */
#ifndef PF_AGENT_QUEUE_H
#define PF_AGENT_QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PF_CHUNK_BYTES 65536u
#define PF_CHUNKS      256u

struct pf_chunk {
	uint32_t len;    /* bytes of the payload */
	uint32_t events; /* in it */
	bool realtime;   /* clock of its times */
	uint8_t data[PF_CHUNK_BYTES];
};

struct pf_queue {
	pthread_mutex_t lock; /* held for a few instructions only */
	struct pf_chunk *chunks;
	uint16_t free[PF_CHUNKS], ready[PF_CHUNKS];
	uint32_t free_count, ready_first, ready_count;
};

size_t pf_queue_memory(void);
void pf_queue_init(struct pf_queue *q, uint8_t *memory);

/* A free chunk, or NULL. */
struct pf_chunk *pf_queue_take(struct pf_queue *q);

/* Hand a filled chunk to the writer.  How many wait now. */
uint32_t pf_queue_push(struct pf_queue *q, struct pf_chunk *c);

/* The oldest filled chunk, or NULL; to be given back. */
struct pf_chunk *pf_queue_pop(struct pf_queue *q);
void pf_queue_give_back(struct pf_queue *q, struct pf_chunk *c);

#endif
