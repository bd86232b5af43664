/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ingest/ingest_run.h"

/* Most bytes that one event takes without its inline texts. */
#define EVENT_MAX ((9 + PF_SLOT_COUNT) * 10)

static inline char *put_varint(char *p, uint64_t v)
{
	while (v >= 0x80) {
		*p++ = (char)(v | 0x80);
		v >>= 7;
	}
	*p++ = (char)v;
	return p;
}

static inline char *put_signed(char *p, int64_t from, int64_t to)
{
	int64_t d = (int64_t)((uint64_t)to - (uint64_t)from);

	return put_varint(p, (uint64_t)d << 1 ^ (uint64_t)(d >> 63));
}

/* Ids next to the top mean "none" and "inline": make them small. */
static inline uint64_t fold_id(uint32_t id)
{
	return (uint32_t)(id + 2);
}

void pf_run_put(struct pf_run_memory *m, const struct pf_run_event *ev,
		struct pf_buf *out)
{
	const int64_t *value = ev->slots;
	char *p;

	pf_buf_reserve(out, EVENT_MAX);
	p = out->data + out->len;
	p = put_signed(p, m->start_ns, ev->start_ns);
	p = put_varint(p, (uint64_t)ev->dur_ns);
	p = put_signed(p, m->order, ev->order);
	p = put_varint(p, fold_id(ev->name));
	p = put_varint(p, ev->type);
	p = put_varint(p, fold_id(ev->args));
	p = put_varint(p, ev->mask);
	m->start_ns = ev->start_ns;
	m->order = ev->order;
	for (uint32_t mask = ev->mask; mask; mask &= mask - 1) {
		int slot = __builtin_ctz(mask);

		p = put_signed(p, m->slot[slot], *value);
		m->slot[slot] = *value++;
	}
	if (ev->name == PF_ID_INLINE)
		p = put_varint(p, ev->inline_name_len);
	if (ev->args == PF_ID_INLINE)
		p = put_varint(p, ev->inline_args_len);
	out->len = (size_t)(p - out->data);
	if (ev->name == PF_ID_INLINE)
		pf_buf_add(out, ev->inline_name, ev->inline_name_len);
	if (ev->args == PF_ID_INLINE)
		pf_buf_add(out, ev->inline_args, ev->inline_args_len);
}

void pf_run_open(struct pf_run_reader *r, const struct pf_scratch *from,
		 const struct pf_run *run, size_t buffer_bytes)
{
	memset(r, 0, sizeof(*r));
	r->from = from;
	r->at = run->offset;
	r->end = run->offset + run->bytes;
	r->left = run->count;
	if (buffer_bytes > run->bytes)
		buffer_bytes = run->bytes;
	if (buffer_bytes < EVENT_MAX)
		buffer_bytes = EVENT_MAX;
	r->buffer_bytes = buffer_bytes;
	r->buffer = pf_alloc(buffer_bytes + EVENT_MAX);
	r->event.slots = r->slots;
}

void pf_run_close(struct pf_run_reader *r)
{
	free(r->buffer);
	r->buffer = NULL;
}

/* At least "need" unread bytes in the buffer, or all that the run has. */
static int fill(struct pf_run_reader *r, size_t need, struct pf_err *err)
{
	size_t rest = r->have - r->used, want;

	if (rest >= need || r->at == r->end)
		return 0;
	memmove(r->buffer, r->buffer + r->used, rest);
	r->used = 0;
	r->have = rest;
	if (need > r->buffer_bytes) {
		r->buffer_bytes = need;
		r->buffer = pf_realloc(r->buffer, need + EVENT_MAX, 1);
	}
	want = r->buffer_bytes - rest;
	if (want > r->end - r->at)
		want = (size_t)(r->end - r->at);
	if (pf_scratch_read(r->from, r->buffer + rest, want, r->at, err))
		return -1;
	r->at += want;
	r->have += want;
	return 0;
}

static inline const char *get_varint(const char *p, uint64_t *v)
{
	uint64_t x = (unsigned char)*p & 0x7f;
	int shift = 7;

	while (*p++ & 0x80) {
		x |= (uint64_t)((unsigned char)*p & 0x7f) << shift;
		shift += 7;
	}
	*v = x;
	return p;
}

static inline const char *get_signed(const char *p, int64_t *value)
{
	uint64_t v;

	p = get_varint(p, &v);
	*value = (int64_t)((uint64_t)*value +
			   (v >> 1 ^ (uint64_t)(-(int64_t)(v & 1))));
	return p;
}

static int read_inline(struct pf_run_reader *r, uint32_t name_len,
		       uint32_t args_len, struct pf_err *err)
{
	struct pf_run_event *ev = &r->event;

	if (fill(r, (size_t)name_len + args_len, err))
		return -1;
	ev->inline_name = r->buffer + r->used;
	ev->inline_args = ev->inline_name + name_len;
	ev->inline_name_len = name_len;
	ev->inline_args_len = args_len;
	r->used += (size_t)name_len + args_len;
	return 0;
}

int pf_run_next(struct pf_run_reader *r, struct pf_err *err)
{
	struct pf_run_event *ev = &r->event;
	struct pf_run_memory *m = &r->memory;
	uint64_t v, name_len = 0, args_len = 0;
	int64_t *value = r->slots;
	const char *p;

	if (!r->left)
		return 0;
	r->left--;
	if (fill(r, EVENT_MAX, err))
		return -1;
	p = r->buffer + r->used;
	p = get_signed(p, &m->start_ns);
	p = get_varint(p, &v);
	ev->dur_ns = (int64_t)v;
	p = get_signed(p, &m->order);
	p = get_varint(p, &v);
	ev->name = (uint32_t)v - 2;
	p = get_varint(p, &v);
	ev->type = (uint32_t)v;
	p = get_varint(p, &v);
	ev->args = (uint32_t)v - 2;
	p = get_varint(p, &v);
	ev->mask = (uint32_t)v;
	ev->start_ns = m->start_ns;
	ev->order = m->order;
	for (uint32_t mask = ev->mask; mask; mask &= mask - 1) {
		int slot = __builtin_ctz(mask);

		p = get_signed(p, &m->slot[slot]);
		*value++ = m->slot[slot];
	}
	if (ev->name == PF_ID_INLINE)
		p = get_varint(p, &name_len);
	if (ev->args == PF_ID_INLINE)
		p = get_varint(p, &args_len);
	r->used = (size_t)(p - r->buffer);
	ev->inline_name_len = ev->inline_args_len = 0;
	if (name_len + args_len == 0)
		return 1;
	return read_inline(r, (uint32_t)name_len, (uint32_t)args_len, err) ? -1
									   : 1;
}

#define EACH_BYTES (64u << 10)

int pf_run_each(const struct pf_scratch *from, const struct pf_run *runs,
		size_t count,
		void (*visit)(void *arg, const struct pf_run_event *ev),
		void *arg, struct pf_err *err)
{
	struct pf_run_reader reader;
	int rc = 0;

	for (size_t i = 0; i < count && !rc; i++) {
		pf_run_open(&reader, from, &runs[i], EACH_BYTES);
		while ((rc = pf_run_next(&reader, err)) > 0)
			visit(arg, &reader.event);
		pf_run_close(&reader);
	}
	return rc;
}
