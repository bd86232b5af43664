/* SPDX-License-Identifier: MIT */
/*
 * The runs of one track, merged.  A run is opened when its first event may be
 * next, so a file that is nearly in order has one or two open at a time; the
 * memory for buffers is shared out when many must be open at once.
 *
 * Invariant: heap[0..open) are readers that stand on an event, the smallest
 * first; runs[next_run..count) begin no earlier than any event given out.
 */
#include "config.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/order.h"
#include "ingest/ingest_impl.h"
#include "base/heap.h"

#define BUFFERS_BYTES (16u << 20)
#define BUFFER_MOST   (256u << 10)
#define BUFFER_LEAST  (4u << 10)

struct pf_run_heap {
	const struct pf_scratch *from;
	struct pf_run *runs;
	size_t count, next_run, buffer_bytes;
	struct pf_run_reader **heap;
	size_t open;
	bool advance; /* heap[0] was given out and must move on */
};

PF_ORDER(compare_runs, struct pf_run, PF_UP(first_start_ns) PF_UP(offset))

/* How many runs may be open at once is not known before; assume all that
 * overlap in time with the widest guess, and never less than a page each. */
static size_t buffer_share(size_t count)
{
	size_t share = BUFFERS_BYTES / (count < 64 ? 64 : count);

	return share > BUFFER_MOST    ? BUFFER_MOST
	       : share < BUFFER_LEAST ? BUFFER_LEAST
				      : share;
}

struct pf_run_heap *pf_run_heap_new(const struct pf_scratch *from,
				    struct pf_run *runs, size_t count)
{
	struct pf_run_heap *m = pf_calloc(1, sizeof(*m));

	m->from = from;
	m->runs = runs;
	m->count = count;
	m->buffer_bytes = buffer_share(count);
	m->heap = pf_alloc((count + 1) * sizeof(struct pf_run_reader *));
	pf_sort(runs, count, sizeof(*runs), compare_runs);
	return m;
}

static void close_reader(struct pf_run_reader *r)
{
	pf_run_close(r);
	free(r);
}

void pf_run_heap_free(struct pf_run_heap *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->open; i++)
		close_reader(m->heap[i]);
	free(m->heap);
	free(m);
}

static bool before(const void *a, const void *b)
{
	const struct pf_run_reader *const *x = a, *const *y = b;

	return pf_run_compare(&(*x)->event, &(*y)->event) < 0;
}

static int open_run(struct pf_run_heap *m, struct pf_err *err)
{
	struct pf_run_reader *r = pf_alloc(sizeof(*r));
	int rc;

	pf_run_open(r, m->from, &m->runs[m->next_run++], m->buffer_bytes);
	rc = pf_run_next(r, err);
	if (rc <= 0) {
		close_reader(r);
		return rc;
	}
	m->heap[m->open] = r;
	pf_heap_rise(m->heap, sizeof(r), m->open++, before);
	return 0;
}

static int advance(struct pf_run_heap *m, struct pf_err *err)
{
	int rc = pf_run_next(m->heap[0], err);

	if (rc < 0)
		return -1;
	if (rc == 0) {
		close_reader(m->heap[0]);
		m->heap[0] = m->heap[--m->open];
	}
	pf_heap_sink(m->heap, sizeof(*m->heap), m->open, 0, before);
	return 0;
}

int pf_run_heap_next(struct pf_run_heap *m, const struct pf_run_event **ev,
		     struct pf_err *err)
{
	if (m->advance && advance(m, err))
		return -1;
	m->advance = false;
	while (m->next_run < m->count &&
	       (!m->open || m->runs[m->next_run].first_start_ns <=
				    m->heap[0]->event.start_ns))
		if (open_run(m, err))
			return -1;
	if (!m->open)
		return 0;
	*ev = &m->heap[0]->event;
	m->advance = true;
	return 1;
}
