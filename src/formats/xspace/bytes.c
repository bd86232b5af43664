/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/tempfile.h"
#include "formats/xspace/bytes.h"

#define HEAD_BYTES 20 /* a tag and a length, or a tag and a number */

void pf_xs_bytes_init(struct pf_xs_bytes *b, int fd, int64_t size,
		      size_t window)
{
	*b = (struct pf_xs_bytes){ .fd = fd, .size = size, .window = window };
	b->own = pf_alloc(PF_XS_PIECE_MAX);
	b->data = b->own;
}

void pf_xs_bytes_of_memory(struct pf_xs_bytes *b, const void *data, size_t len)
{
	*b = (struct pf_xs_bytes){
		.fd = -1, .size = (int64_t)len, .data = data, .have = len
	};
}

void pf_xs_bytes_release(struct pf_xs_bytes *b)
{
	free(b->own);
	*b = (struct pf_xs_bytes){ .fd = -1 };
}

const unsigned char *pf_xs_bytes_at(struct pf_xs_bytes *b, int64_t at,
				    size_t len, struct pf_err *err)
{
	size_t want = len > b->window ? len : b->window;

	if (at >= b->at && (size_t)(at - b->at) <= b->have &&
	    len <= b->have - (size_t)(at - b->at))
		return b->data + (at - b->at);
	if (want > (uint64_t)(b->size - at))
		want = (size_t)(b->size - at);
	b->have = 0;
	if (pf_tempfile_read(b->fd, b->own, want, (uint64_t)at, err))
		return NULL;
	b->at = at;
	b->have = want;
	return b->data;
}

enum pf_xs_got pf_xs_step(struct pf_xs_cursor *c, struct pf_xs_span *f,
			  struct pf_err *err)
{
	int64_t left = c->end - c->at;
	size_t n = left < HEAD_BYTES ? (size_t)left : HEAD_BYTES;
	const unsigned char *p;
	struct pf_wire w;
	uint64_t tag;

	if (!n)
		return PF_XS_END;
	p = pf_xs_bytes_at(c->bytes, c->at, n, err);
	if (!p)
		return PF_XS_ERROR;
	w = (struct pf_wire){ p, p + n };
	if (!pf_wire_varint(&w, &tag) || !(tag >> 3))
		return PF_XS_BAD;
	f->number = tag >> 3;
	f->wire = tag & 7;
	if (f->wire != PF_XS_LENGTH) {
		struct pf_xs_field small = { 0 };

		w.p = p;
		if (pf_xs_next(&w, &small) != PF_XS_FIELD)
			return PF_XS_BAD;
		f->value = small.value;
		c->at += w.p - p;
		f->at = f->end = c->at;
		return PF_XS_FIELD;
	}
	if (!pf_wire_varint(&w, &f->value))
		return PF_XS_BAD;
	f->at = c->at + (w.p - p);
	c->at = c->end;
	f->end = c->end;
	if (f->value > (uint64_t)(c->end - f->at))
		return PF_XS_CUT;
	f->end = c->at = f->at + (int64_t)f->value;
	return PF_XS_FIELD;
}
