/* SPDX-License-Identifier: MIT */
/* Batches, made in one thread, become runs in the order of the file. */
#include "config.h"

#include <stdlib.h>

#include "ingest/ingest_impl.h"

#define BATCH_EVENTS 32768u

/* ---- batches ---- */

void pf_ingest_batcher_init(struct pf_ingest_batcher *b, struct pf_ingest *in)
{
	*b = (struct pf_ingest_batcher){ .in = in };
	b->sorter = pf_ingest_sorter_new();
	pthread_mutex_init(&b->lock, NULL);
}

void pf_ingest_batcher_release(struct pf_ingest_batcher *b)
{
	pthread_mutex_destroy(&b->lock);
	pf_ingest_sorter_free(b->sorter);
	free(b->type_ids);
}

int pf_ingest_batcher_settle(struct pf_ingest_batcher *b, struct pf_parsed *p,
			     struct pf_err *err)
{
	return pf_ingest_settle(b->in, p, &b->type_ids, &b->type_ids_cap, err);
}

int pf_ingest_batcher_put(struct pf_ingest_batcher *b, struct pf_parsed *p,
			  struct pf_err *err)
{
	int64_t first_order = b->in->event_count;

	pf_ingest_count(b->in, &p->batch);
	if (pf_ingest_batcher_settle(b, p, err))
		return -1;
	return pf_ingest_write_runs(b->in, b->sorter, p, b->type_ids,
				    first_order, &b->lock, err);
}

size_t pf_ingest_batch_events(const struct pf_ingest *in)
{
	size_t most = in->options->chunk_bytes;

	return !most || most > BATCH_EVENTS ? BATCH_EVENTS : most;
}

/* ---- readers ---- */

static int read_all(struct pf_ingest_batcher *b, struct pf_reader *reader,
		    struct pf_err *err)
{
	struct pf_ingest *in = b->in;
	int rc;

	do {
		rc = reader->fill(reader, pf_ingest_batch_events(in), err);
		if (rc >= 0 && pf_ingest_batcher_put(b, reader->parsed, err))
			rc = -1;
		if (in->options->progress)
			in->options->progress(in->bytes_before,
					      in->events_before +
						      in->event_count);
	} while (rc == 1);
	return rc;
}

static void note_facts(struct pf_ingest *in, struct pf_reader *reader)
{
	char key[128];
	int64_t value;

	if (!reader->fact)
		return;
	for (size_t i = 0; reader->fact(reader, i, key, sizeof(key), &value);
	     i++)
		pf_ingest_note_fact(in, key, value);
}

int pf_ingest_drain(struct pf_ingest *in, struct pf_reader *reader,
		    struct pf_err *err)
{
	struct pf_ingest_batcher batcher;
	int rc;

	pf_ingest_batcher_init(&batcher, in);
	rc = read_all(&batcher, reader, err);
	if (!rc)
		note_facts(in, reader);
	pf_ingest_batcher_release(&batcher);
	in->found_list = true;
	return rc;
}
