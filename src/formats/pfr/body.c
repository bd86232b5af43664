/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <string.h>

#include "formats/pfr/body.h"

/*
 * The fields of each type, a letter each: t d c as in the format, l the
 * fields of a launch, n a name, v a varint, b a byte, p a payload if the
 * field before it is not 0.  What follows a '?' may be left out.
 */
static const char *const layouts[PF_PFR_EVENT_TYPES] = {
	[PF_PFR_KERNEL] = "tdcvvvvvv?vvv",
	[PF_PFR_KERNEL_INLINE] = "tdclvvvvv?vvv",
	[PF_PFR_MEMCPY] = "tdcvvbvvvvv?vvv",
	[PF_PFR_MEMSET] = "tdcvvvvvvv?v",
	[PF_PFR_API] = "tdcvvv",
	[PF_PFR_SYNC] = "tdcvvvvvv",
	[PF_PFR_CUDA_EVENT] = "tdcvvvvv",
	[PF_PFR_OVERHEAD] = "tdcvvvvv",
	[PF_PFR_MEMORY] = "tdcvvvvvvvvvvvn",
	[PF_PFR_GRAPH] = "tdcvvvvvv",
	[PF_PFR_JIT] = "tdcvvvv",
	[PF_PFR_INTERNAL] = "tdcvvv",
	[PF_PFR_UVM] = "tdvvvvv",
	[PF_PFR_ENV] = "tvvvvvv",
	[PF_PFR_EXTCORR] = "cvv",
	[PF_PFR_PUSH] = "tvnvvvvvp",
	[PF_PFR_POP] = "tvnvvvvvp",
	[PF_PFR_MARK] = "tvnvvvvvp",
	[PF_PFR_RSTART] = "tvnvvvvvp",
	[PF_PFR_REND] = "tvnvvvvvp",
};

bool pf_pfr_body_init(struct pf_pfr_body *b, const unsigned char *p, size_t len)
{
	b->w = (struct pf_wire){ p, p + len };
	b->correlation = 0;
	return pf_wire_varint(&b->w, &b->start_ns);
}

static bool read_start(struct pf_pfr_body *b, struct pf_wire *w,
		       struct pf_pfr_event *ev)
{
	uint64_t v;

	if (!pf_wire_varint(w, &v))
		return false;
	if (ev->untimed)
		return true;
	b->start_ns += (uint64_t)pf_wire_unzigzag(v);
	ev->start_ns = ev->end_ns = (int64_t)b->start_ns;
	return true;
}

static bool read_end(struct pf_wire *w, struct pf_pfr_event *ev)
{
	uint64_t v;

	if (!pf_wire_varint(w, &v))
		return false;
	if (!ev->untimed)
		ev->end_ns = (int64_t)((uint64_t)ev->start_ns +
				       (uint64_t)pf_wire_unzigzag(v));
	return true;
}

static bool read_correlation(struct pf_pfr_body *b, struct pf_wire *w,
			     struct pf_pfr_event *ev)
{
	uint64_t v;

	if (!pf_wire_varint(w, &v))
		return false;
	b->correlation += (uint64_t)pf_wire_unzigzag(v);
	ev->correlation = b->correlation;
	return true;
}

static bool read_payload(struct pf_wire *w, struct pf_pfr_event *ev)
{
	if (!ev->v[ev->count - 1])
		return true;
	if (w->end - w->p < 8)
		return false;
	ev->payload = pf_wire_u64(w->p);
	w->p += 8;
	return true;
}

static bool read_field(struct pf_pfr_body *b, char letter, struct pf_wire *w,
		       struct pf_pfr_event *ev)
{
	switch (letter) {
	case 'v':
		return pf_wire_varint(w, &ev->v[ev->count++]);
	case 't':
		return read_start(b, w, ev);
	case 'd':
		return read_end(w, ev);
	case 'c':
		return read_correlation(b, w, ev);
	case 'b':
		if (w->p == w->end)
			return false;
		ev->v[ev->count++] = *w->p++;
		return true;
	case 'n':
		return pf_pfr_read_name(w, &ev->name);
	case 'l':
		return pf_pfr_read_launch(w, true, &ev->launch);
	default:
		return read_payload(w, ev);
	}
}

static enum pf_pfr_got read_fields(struct pf_pfr_body *b, struct pf_wire *w,
				   struct pf_pfr_event *ev)
{
	bool optional = false;

	for (const char *f = layouts[ev->type]; *f; f++) {
		if (*f == '?') {
			optional = true;
			continue;
		}
		if (optional && w->p == w->end)
			break;
		if (!read_field(b, *f, w, ev))
			return PF_PFR_GOT_BAD;
	}
	return PF_PFR_GOT_EVENT;
}

enum pf_pfr_got pf_pfr_body_next(struct pf_pfr_body *b, struct pf_pfr_event *ev)
{
	struct pf_wire body;
	unsigned head;
	uint64_t len;

	if (b->w.p == b->w.end)
		return PF_PFR_GOT_END;
	head = *b->w.p++;
	if (b->w.p == b->w.end)
		return PF_PFR_GOT_CUT;
	len = *b->w.p++;
	if ((len == 255 && !pf_wire_varint(&b->w, &len)) ||
	    len > (uint64_t)(b->w.end - b->w.p)) {
		b->w.p = b->w.end;
		return PF_PFR_GOT_CUT;
	}
	body = (struct pf_wire){ b->w.p, b->w.p + len };
	b->w.p += len;
	ev->type = head & 0x7f;
	if (ev->type >= PF_PFR_EVENT_TYPES || !layouts[ev->type])
		return PF_PFR_GOT_UNKNOWN;
	memset(ev->v, 0, sizeof(ev->v));
	ev->untimed = head >> 7;
	ev->start_ns = ev->end_ns = 0;
	ev->correlation = ev->payload = 0;
	ev->count = 0;
	return read_fields(b, &body, ev);
}
