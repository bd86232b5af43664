/* SPDX-License-Identifier: MIT */
/*
 * Which events of a device's tracks are its work.  Of GPUs their kinds say it
 * (formats/event.h).  Of TPUs it is the operations of XLA, which a core runs one
 * after the other, some inside of others (a loop and what it repeats): the
 * device is busy while any of them runs.  Beside them stand what operations
 * have begun and others will wait for, while it is under way.
 *
 * Traces that have GPUs, too, are asked for these alone: numbers of both would
 * meet.
 */
#ifndef PF_EVENTS_DEVICE_WORK_H
#define PF_EVENTS_DEVICE_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "store/cursor.h"
#include "formats/event.h"

enum pf_work_row {
	PF_WORK_NONE,
	PF_WORK_GPU,      /* a stream: work by the kinds of its events */
	PF_WORK_OPS,      /* the operations of a TPU */
	PF_WORK_FLIGHT,   /* what they have begun: keeps nothing busy */
	PF_WORK_PROGRAMS, /* the programs that they are of: their time again */
};

/* is_tpu: as the window says it of the track's trace (events/window.h). */
enum pf_work_row pf_work_row(const struct pf_track *track, bool is_tpu);

/* Of which number the device is, and the stream; -1: unknown. */
int64_t pf_work_device(const struct pf_track *track);
int64_t pf_work_stream(const struct pf_track *track);

/* Does the event keep its device busy? */
static inline bool pf_is_work(enum pf_work_row row, unsigned kind)
{
	return row == PF_WORK_GPU   ? pf_kind_is_gpu_work(kind)
	       : row == PF_WORK_OPS ? kind == PF_KIND_GPU_OTHER
				    : false;
}

#endif
