/* SPDX-License-Identifier: MIT */
/* What the parts of the mapping share.  Not for others. */
#ifndef PF_FORMATS_PFR_MAP_IMPL_H
#define PF_FORMATS_PFR_MAP_IMPL_H

#include "formats/pfr/map.h"

#define PF_PFR_NOWHERE UINT64_MAX /* a device or stream that is not known */

/* Count what was lost, at the frame at hand. */
void pf_pfr_note(struct pf_pfr_map *m, enum pf_repair_kind kind);

/*
 * Start a new event: no slots.  Then set them; each call that writes an
 * argument appends ,"key":value or a slot's place holder to m->text.
 */
void pf_pfr_open_args(struct pf_pfr_map *m);
void pf_pfr_arg_slot(struct pf_pfr_map *m, const char *key, enum pf_slot slot,
		     int64_t value);
/* A number that differs from event to event but has no slot of its own. */
void pf_pfr_arg_number(struct pf_pfr_map *m, const char *key, uint64_t value);
void pf_pfr_arg_fixed(struct pf_pfr_map *m, const char *key, int64_t value);
/* A long text is cut and ends with "...". */
void pf_pfr_arg_text(struct pf_pfr_map *m, const char *key, const char *text,
		     size_t len);
/* A name of the file, if it is not empty. */
void pf_pfr_arg_name(struct pf_pfr_map *m, const char *key,
		     const struct pf_pfr_name *name);
/* The entry of the arguments written. */
uint32_t pf_pfr_close_args(struct pf_pfr_map *m);

/* Entries of texts. */
uint32_t pf_pfr_find_text(struct pf_pfr_map *m, const char *text, size_t len);
uint32_t pf_pfr_find_name(struct pf_pfr_map *m, const struct pf_pfr_name *name);
uint32_t pf_pfr_find_kernel(struct pf_pfr_map *m,
			    const struct pf_pfr_name *name);
uint32_t pf_pfr_find_lost(struct pf_pfr_map *m, uint64_t id);
/* Tracks: class letter of formats/batch.h; PF_PFR_NOWHERE is "". */
uint32_t pf_pfr_find_track(struct pf_pfr_map *m, char letter, uint64_t pid,
			   int64_t tid, const char *tid_text);
uint32_t pf_pfr_host_track(struct pf_pfr_map *m, uint64_t tid);
uint32_t pf_pfr_gpu_track(struct pf_pfr_map *m, uint64_t device,
			  uint64_t stream);

/*
 * A place for an entry under a key, in this generation: true if it is there.
 * Else write to *entry what the key stands for.
 */
bool pf_pfr_memo(struct pf_pfr_map *m, uint64_t a, uint64_t b,
		 uint32_t **entry);
enum pf_pfr_memo_kind { /* the top byte of a memo's first key */
			PF_PFR_MEMO_NAME,
			PF_PFR_MEMO_KERNEL_NAME,
			PF_PFR_MEMO_CALL_NAME,
			PF_PFR_MEMO_COPY_NAME,
			PF_PFR_MEMO_HOST_TRACK,
			PF_PFR_MEMO_GPU_TRACK,
			PF_PFR_MEMO_KERNEL_ARGS,
			PF_PFR_MEMO_COPY_ARGS,
			PF_PFR_MEMO_CALL_ARGS,
			PF_PFR_MEMO_RANGE_ARGS,
};
#define PF_PFR_MEMO_KEY(kind, low) ((uint64_t)(kind) << 56 | (low))

/* The device of a context; PF_PFR_NOWHERE if the file does not say. */
uint64_t pf_pfr_device_of(struct pf_pfr_map *m, uint64_t context);

/*
 * Times of an event on the trace's clock; false if it cannot be stored, and
 * then it has been counted as skipped.
 */
bool pf_pfr_times(struct pf_pfr_map *m, const struct pf_pfr_event *ev,
		  struct pf_sink_put *put);
/*
 * An event whose times were not collected has no place in time: it is kept as
 * a metadata event, so that no figure holds it; past a limit it is skipped.
 */
void pf_pfr_map_untimed(struct pf_pfr_map *m, const struct pf_pfr_event *ev);

/* map_gpu.c, map_host.c: one event each. */
void pf_pfr_map_kernel(struct pf_pfr_map *m, const struct pf_pfr_event *ev);
void pf_pfr_map_graph(struct pf_pfr_map *m, const struct pf_pfr_event *ev);
void pf_pfr_map_copy(struct pf_pfr_map *m, const struct pf_pfr_event *ev);
void pf_pfr_map_fill(struct pf_pfr_map *m, const struct pf_pfr_event *ev);
void pf_pfr_map_sync(struct pf_pfr_map *m, const struct pf_pfr_event *ev);
void pf_pfr_map_call(struct pf_pfr_map *m, const struct pf_pfr_event *ev);
void pf_pfr_map_overhead(struct pf_pfr_map *m, const struct pf_pfr_event *ev);
void pf_pfr_map_internal(struct pf_pfr_map *m, const struct pf_pfr_event *ev);
void pf_pfr_map_jit(struct pf_pfr_map *m, const struct pf_pfr_event *ev);
void pf_pfr_map_event(struct pf_pfr_map *m, const struct pf_pfr_event *ev);
void pf_pfr_map_memory(struct pf_pfr_map *m, const struct pf_pfr_event *ev);
void pf_pfr_map_uvm(struct pf_pfr_map *m, const struct pf_pfr_event *ev);
void pf_pfr_map_environment(struct pf_pfr_map *m,
			    const struct pf_pfr_event *ev);

/* ranges.c */
struct pf_pfr_ranges *pf_pfr_ranges_new(void);
void pf_pfr_ranges_free(struct pf_pfr_ranges *r);
void pf_pfr_map_nvtx(struct pf_pfr_map *m, const struct pf_pfr_event *ev);
/* Frames are missing: nothing says which ranges are still open. */
void pf_pfr_ranges_tear(struct pf_pfr_map *m);
void pf_pfr_ranges_close(struct pf_pfr_map *m);

#endif
