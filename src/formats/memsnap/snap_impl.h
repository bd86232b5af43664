/* SPDX-License-Identifier: MIT */
/* What reading and replaying share.  Not for others. */
#ifndef PF_FORMATS_MEMSNAP_SNAP_IMPL_H
#define PF_FORMATS_MEMSNAP_SNAP_IMPL_H

#include "formats/memsnap/snap.h"

#define PF_SNAP_SPOOL_BYTES (8u << 20)

/* The device of a number, made if it is new; -1: too many. */
int pf_snap_device(struct pf_snap *s, int64_t number);

/* Is reading in the list of segments?  In the history of which device, or -1. */
bool pf_snap_in_segments(struct pf_snap *s);
int64_t pf_snap_in_history(struct pf_snap *s);

/* salvage.c: spools of segments and blocks. */
void pf_snap_new_state(struct pf_snap *s, const char *dir);
/*
 * Reading failed with err.  0: what was read is kept; -1: it is not, because
 * nobody asked (the message says how) or there is nothing.
 */
int pf_snap_keep(struct pf_snap *s, const char *dir, bool salvage,
		 struct pf_err *err);

/* An entry whose members are right: its time, its levels. */
int pf_snap_replay(struct pf_snap *s, struct pf_snap_entry *e, bool has_time,
		   struct pf_err *err);

/* A block's address: "at" bytes, 0 or more, behind that of its segment. */
void pf_snap_place_block(struct pf_snap_block *b,
			 const struct pf_snap_segment *g, int64_t at);

/* All has been read: bases, and what does not agree. */
int pf_snap_settle(struct pf_snap *s, struct pf_err *err);

#endif
