/* SPDX-License-Identifier: MIT */
/*
 * The bytes of an XSpace file, read anywhere in a window of fixed size, and
 * the fields of a protobuf message in them.  Lengths are never believed: a
 * message ends where what holds it ends.
 */
#ifndef PF_FORMATS_XSPACE_BYTES_H
#define PF_FORMATS_XSPACE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "formats/wire.h"

/* A text or message that is larger is left out, and counted. */
#define PF_XS_PIECE_MAX (1u << 20)

struct pf_xs_bytes {
	int fd; /* -1: all of it is in memory */
	int64_t size;
	const unsigned char *data; /* of [at, at + have) */
	unsigned char *own;
	size_t window; /* of which at most so much is read at once */
	size_t have;
	int64_t at;
};

/* "window" is what is read at once when something is not there. */
void pf_xs_bytes_init(struct pf_xs_bytes *b, int fd, int64_t size,
		      size_t window);
void pf_xs_bytes_of_memory(struct pf_xs_bytes *b, const void *data, size_t len);
void pf_xs_bytes_release(struct pf_xs_bytes *b);

/*
 * The bytes [at, at + len), which must be in the file and no more than
 * PF_XS_PIECE_MAX; valid until the next call.  NULL: a read error.
 */
const unsigned char *pf_xs_bytes_at(struct pf_xs_bytes *b, int64_t at,
				    size_t len, struct pf_err *err);

/* ---- fields ---- */

enum pf_xs_wire { PF_XS_VARINT = 0, PF_XS_FIXED = 1, PF_XS_LENGTH = 2 };

enum pf_xs_got {
	PF_XS_END,
	PF_XS_FIELD,
	PF_XS_CUT,   /* a length runs past the end: the rest is its content */
	PF_XS_BAD,   /* no field can be read here or behind it */
	PF_XS_ERROR, /* of reading: err is set */
};

/* A field that is in memory. */
struct pf_xs_field {
	uint64_t number;
	unsigned wire;
	uint64_t value; /* PF_XS_VARINT, PF_XS_FIXED */
	struct pf_wire text;
};

/* PF_XS_FIELD, PF_XS_END or PF_XS_BAD: what is cut is bad, too. */
static inline enum pf_xs_got pf_xs_next(struct pf_wire *w,
					struct pf_xs_field *f)
{
	uint64_t tag, len;

	if (w->p == w->end)
		return PF_XS_END;
	if (!pf_wire_varint(w, &tag) || !(tag >> 3))
		return PF_XS_BAD;
	f->number = tag >> 3;
	f->wire = tag & 7;
	switch (f->wire) {
	case PF_XS_VARINT:
		return pf_wire_varint(w, &f->value) ? PF_XS_FIELD : PF_XS_BAD;
	case PF_XS_FIXED:
		if (w->end - w->p < 8)
			return PF_XS_BAD;
		f->value = pf_wire_u64(w->p);
		w->p += 8;
		return PF_XS_FIELD;
	case PF_XS_LENGTH:
		if (!pf_wire_varint(w, &len) || len > (size_t)(w->end - w->p))
			return PF_XS_BAD;
		f->value = 0;
		f->text = (struct pf_wire){ w->p, w->p + len };
		w->p += len;
		return PF_XS_FIELD;
	case 5:
		if (w->end - w->p < 4)
			return PF_XS_BAD;
		f->value = pf_wire_u32(w->p);
		w->p += 4;
		return PF_XS_FIELD;
	default: /* groups, and what is none */
		return PF_XS_BAD;
	}
}

/* A message that need not be in memory. */
struct pf_xs_cursor {
	struct pf_xs_bytes *bytes;
	int64_t at, end;
};

/* A field of it; at and end of the content of a PF_XS_LENGTH. */
struct pf_xs_span {
	uint64_t number;
	unsigned wire;
	uint64_t value;
	int64_t at, end;
};

enum pf_xs_got pf_xs_step(struct pf_xs_cursor *c, struct pf_xs_span *f,
			  struct pf_err *err);

#endif
