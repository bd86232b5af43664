/* SPDX-License-Identifier: MIT */
/* What the two parts of reading memory snapshots share.  Not for others. */
#ifndef PF_STORE_INGEST_MEMSNAP_H
#define PF_STORE_INGEST_MEMSNAP_H

#include "ingest/ingest_impl.h"
#include "formats/memsnap/snap.h"

struct pf_ingest_snap {
	struct pf_ingest *in;
	struct pf_headed from;
	struct pf_snap snap;
	struct pf_parsed parsed;
	struct pf_ingest_batcher batcher;
	struct pf_ingest_stacks stacks;
};

/* The batch becomes ids and sorted runs, and is empty again. */
int pf_ingest_snap_flush(struct pf_ingest_snap *r, struct pf_err *err);

/* A text of the snapshot: its place among the names of the batch. */
uint32_t pf_ingest_snap_name(struct pf_ingest_snap *r, uint32_t number);

/* ingest_memsnap_rows.c: everything but events. */
int pf_ingest_snap_rows(struct pf_ingest_snap *r, struct pf_err *err);

#endif
