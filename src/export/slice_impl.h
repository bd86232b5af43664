/* SPDX-License-Identifier: MIT */
/* The inside of slice: lanes of ranges of one thread that nest, and texts. */
#ifndef PF_EXPORT_SLICE_IMPL_H
#define PF_EXPORT_SLICE_IMPL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "events/nest.h"
#include "base/buf.h"

struct pf_lanes {
	struct pf_nest *items; /* of int64_t: ends of what is open */
	size_t count, cap;
};

#define PF_LANES_MAX 1024

void pf_lanes_clear(struct pf_lanes *l);
void pf_lanes_release(struct pf_lanes *l);
/*
 * The first lane in which a range nests; ranges come in order of their start.
 * -1: there would be too many.
 */
int pf_lanes_place(struct pf_lanes *l, int64_t start_ns, int64_t end_ns);

/* us, so that a reader that cuts doubles to ns gets them right. */
void pf_slice_put_time(struct pf_buf *out, int64_t ns, bool is_whole_us);
/* A pid or tid: a number if the text is one that Perfetto takes.  It puts
 * the events of others, such as the negative threads of old traces, on the
 * process's main thread, and drops what does not nest there. */
void pf_slice_put_id(struct pf_buf *out, const char *text);
/* "TID overlap N"; the tid itself in lane 0. */
void pf_slice_put_tid(struct pf_buf *out, const char *tid, int lane);

#endif
