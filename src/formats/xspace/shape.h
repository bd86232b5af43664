/* SPDX-License-Identifier: MIT */
/*
 * Arguments as they were before.  Events of one line repeat all of their
 * statistics but a few small numbers, and those are slots: the text of the
 * arguments is made of the first event of a shape, and of the others only the
 * numbers are read.  Fixed memory: a shape takes the place of another.
 */
#ifndef PF_FORMATS_XSPACE_SHAPE_H
#define PF_FORMATS_XSPACE_SHAPE_H

#include "formats/xspace/memo.h"

/* What an event's statistics make of it. */
struct pf_xs_made {
	bool has_kernel, has_copy, has_fill, is_operator, has_step, is_freed;
	bool is_of_runtime; /* by a statistic */
};

struct pf_xs_shape {
	uint64_t low, high;  /* digest of its key */
	uint32_t generation; /* of the map; 0: there is none */
	uint32_t args, mask;
	struct pf_xs_made made;
	uint8_t slots[PF_SLOT_COUNT]; /* of the numbers, in their order */
};

#define PF_XS_KEY_MAX 1024u

/* All that text, kind and slots of an event depend on, and its numbers. */
struct pf_xs_shape_key {
	unsigned char bytes[PF_XS_KEY_MAX];
	size_t len;
	uint64_t numbers, decimals; /* statistics that are such; bits */
	unsigned count;
	int64_t values[PF_SLOT_COUNT];
};

struct pf_xs_shape *pf_xs_shapes_new(void);

/* False: the event is not like others, and has none. */
bool pf_xs_shape_key(const struct pf_xs_map *m, const struct pf_xs_name *name,
		     int64_t meta, const struct pf_xs_stat *stats, size_t count,
		     struct pf_xs_shape_key *key);
/* Its place: is it known?  If not, it is once its generation is set. */
struct pf_xs_shape *pf_xs_shape_find(const struct pf_xs_map *m,
				     const struct pf_xs_shape_key *key,
				     bool *is_known);
/* The slots of an event of a shape. */
void pf_xs_shape_slots(struct pf_xs_map *m, const struct pf_xs_shape *s,
		       const struct pf_xs_shape_key *key);

#endif
