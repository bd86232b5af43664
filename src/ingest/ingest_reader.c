/* SPDX-License-Identifier: MIT */
/* What a reader makes of a file, written as runs in the order of the file. */
#include "config.h"

#include <stdlib.h>

#include "ingest/ingest_impl.h"

#define BATCH_EVENTS 32768u

struct reading {
	struct pf_ingest *in;
	struct pf_reader *reader;
	pthread_mutex_t lock; /* of the runs; nobody else wants it */
	struct pf_ingest_sorter *sorter;
	uint32_t *type_ids;
	size_t type_ids_cap;
};

static int settle(struct reading *r, struct pf_err *err)
{
	struct pf_ingest *in = r->in;
	struct pf_parsed *parsed = r->reader->parsed;
	int64_t first_order = in->event_count;

	pf_ingest_count(in, &parsed->batch);
	if (in->options->progress)
		in->options->progress(in->bytes_before,
				      in->events_before + in->event_count);
	return pf_ingest_settle(in, parsed, &r->type_ids, &r->type_ids_cap,
				err) ||
			       pf_ingest_write_runs(in, r->sorter, parsed,
						    r->type_ids, first_order,
						    &r->lock, err)
		       ? -1
		       : 0;
}

static int read_all(struct reading *r, struct pf_err *err)
{
	size_t most = r->in->options->chunk_bytes;
	int rc;

	/* Tests choose small chunks: then batches are small too. */
	if (!most || most > BATCH_EVENTS)
		most = BATCH_EVENTS;
	do {
		rc = r->reader->fill(r->reader, most, err);
		if (rc >= 0 && settle(r, err))
			rc = -1;
	} while (rc == 1);
	return rc;
}

static void note_facts(struct reading *r)
{
	char key[128];
	int64_t value;

	if (!r->reader->fact)
		return;
	for (size_t i = 0;
	     r->reader->fact(r->reader, i, key, sizeof(key), &value); i++)
		pf_ingest_note_fact(r->in, key, value);
}

int pf_ingest_drain(struct pf_ingest *in, struct pf_reader *reader,
		    struct pf_err *err)
{
	struct reading r = { .in = in, .reader = reader };
	int rc;

	r.sorter = pf_ingest_sorter_new();
	pthread_mutex_init(&r.lock, NULL);
	rc = read_all(&r, err);
	if (!rc)
		note_facts(&r);
	pthread_mutex_destroy(&r.lock);
	pf_ingest_sorter_free(r.sorter);
	free(r.type_ids);
	in->found_list = true;
	return rc;
}
