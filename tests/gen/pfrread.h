/* SPDX-License-Identifier: MIT */
/* A whole .pfr file in memory through scanner and mapping, with accounts. */
#ifndef PF_TESTS_PFRREAD_H
#define PF_TESTS_PFRREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "formats/pfr/frame.h"

struct pfrread {
	struct pf_pfr_loss loss;
	int64_t good_bytes; /* of frames and their padding */
	int64_t frames[16]; /* by type, up to 15 */
	struct pf_buf seqs; /* uint32_t of each good frame */
	int64_t events, stored, paired, metadata, skipped;
	struct pf_buf log; /* every event: name, args, track, numbers */
};

/*
 * Read data[0, len) in pieces of read_bytes (0: large ones); batches are
 * settled after batch_events events.  False if it is no .pfr file.
 */
bool pfrread(const void *data, size_t len, size_t read_bytes,
	     size_t batch_events, struct pfrread *out);
void pfrread_release(struct pfrread *r);

/* Do the counts add up: bytes and events? */
bool pfrread_adds_up(const struct pfrread *r, size_t len);

#endif
