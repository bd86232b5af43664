/* SPDX-License-Identifier: MIT */
/*
 * Shapes: events of one writer repeat their keys, blanks and constant values.
 * What stands between the values of an event that was read is a list of
 * literals with holes; the next event that has the same literals needs only
 * its holes read.  A shape points into the text of the event that it was
 * learned from, so it lives as long as one call of pf_chrome_parse().
 *
 * Invariant: an event that a shape fits is read as it would be without it:
 * the holes are read by the same functions, and what decides how a value is
 * taken (its key, the keys before it) lies in the literals.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define PF_SHAPES      32
#define PF_SHAPE_HOLES 40

enum pf_hole_kind {
	PF_HOLE_START,
	PF_HOLE_DUR,
	PF_HOLE_PID,
	PF_HOLE_TID,
	PF_HOLE_NAME,
	PF_HOLE_SLOT,  /* a number with a slot */
	PF_HOLE_VALUE, /* any other value of an argument */
	PF_HOLE_END,   /* behind the event */
};

struct pf_hole {
	const char *literal; /* in front of it */
	uint32_t literal_len;
	uint8_t kind;
	bool is_extra; /* a member of the event itself */
	int8_t slot;   /* of VALUE: one that its number must not fit, or -1 */
	uint32_t key_len;
	const char *key; /* of an extra member */
	const char *at;  /* the value in the event that was read last */
	uint32_t len;
};

/* A place: so far into the literal of a hole. */
struct pf_shape_place {
	uint32_t hole, offset;
};

struct pf_shape {
	uint32_t count; /* holes; 0: no shape */
	uint32_t next;  /* the shape that followed it last */
	bool has_args;
	char ph;
	const char *category_text; /* NULL: it has none */
	uint32_t category_len;
	struct pf_shape_place args_from, args_to;
	/* what the event that was read last came to; stale: it did not */
	bool is_stale;
	uint32_t category, name, args, track, type, kind;
	struct pf_hole hole[PF_SHAPE_HOLES];
};

struct pf_shapes {
	uint32_t count, last, oldest;
	struct pf_shape *learning; /* NULL: none */
	uint32_t holes;            /* of it, so far */
	const char *learned_to;    /* behind the last hole */
	struct pf_shape shape[PF_SHAPES];
};

static inline uint64_t pf_shape_load(const char *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
	return v;
}

/* Both have eight readable bytes, however short they are. */
static inline bool pf_same_bytes(const char *a, const char *b, size_t len)
{
	size_t i = 0;

	if (len < 8)
		return !len || !((pf_shape_load(a) ^ pf_shape_load(b))
				 << (64 - 8 * len));
	for (; i + 8 <= len; i += 8)
		if (pf_shape_load(a + i) != pf_shape_load(b + i))
			return false;
	return pf_shape_load(a + len - 8) == pf_shape_load(b + len - 8);
}
