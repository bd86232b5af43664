/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "queue.h"

size_t pf_queue_memory(void)
{
	return PF_CHUNKS * sizeof(struct pf_chunk);
}

void pf_queue_init(struct pf_queue *q, uint8_t *memory)
{
	pthread_mutex_init(&q->lock, NULL);
	q->chunks = (struct pf_chunk *)(void *)memory;
	for (uint32_t i = 0; i < PF_CHUNKS; i++)
		q->free[i] = (uint16_t)(PF_CHUNKS - 1 - i);
	q->free_count = PF_CHUNKS;
}

struct pf_chunk *pf_queue_take(struct pf_queue *q)
{
	struct pf_chunk *c = NULL;

	pthread_mutex_lock(&q->lock);
	if (q->free_count)
		c = &q->chunks[q->free[--q->free_count]];
	pthread_mutex_unlock(&q->lock);
	if (c) {
		c->len = 0;
		c->events = 0;
	}
	return c;
}

uint32_t pf_queue_push(struct pf_queue *q, struct pf_chunk *c)
{
	uint32_t waiting;

	pthread_mutex_lock(&q->lock);
	q->ready[(q->ready_first + q->ready_count++) % PF_CHUNKS] =
		(uint16_t)(c - q->chunks);
	waiting = q->ready_count;
	pthread_mutex_unlock(&q->lock);
	return waiting;
}

struct pf_chunk *pf_queue_pop(struct pf_queue *q)
{
	struct pf_chunk *c = NULL;

	pthread_mutex_lock(&q->lock);
	if (q->ready_count) {
		c = &q->chunks[q->ready[q->ready_first]];
		q->ready_first = (q->ready_first + 1) % PF_CHUNKS;
		q->ready_count--;
	}
	pthread_mutex_unlock(&q->lock);
	return c;
}

void pf_queue_give_back(struct pf_queue *q, struct pf_chunk *c)
{
	pthread_mutex_lock(&q->lock);
	q->free[q->free_count++] = (uint16_t)(c - q->chunks);
	pthread_mutex_unlock(&q->lock);
}
