/* SPDX-License-Identifier: MIT */
/* What reading and replaying share.  Not for others. */
#ifndef PF_MEMSNAP_SNAP_IMPL_H
#define PF_MEMSNAP_SNAP_IMPL_H

#include "memsnap/snap.h"

/* The device of a number, made if it is new; -1: too many. */
int pf_snap_device(struct pf_snap *s, int64_t number);

/* An entry whose members are right: its time, its levels. */
int pf_snap_replay(struct pf_snap *s, struct pf_snap_entry *e, bool has_time,
		   struct pf_err *err);

/* All has been read: bases, and what does not agree. */
int pf_snap_settle(struct pf_snap *s, struct pf_err *err);

#endif
