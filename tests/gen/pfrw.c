/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "gen/pfrw.h"

static void add(unsigned char **data, size_t *len, size_t *cap, const void *p,
		size_t n)
{
	if (*len + n > *cap) {
		*cap = (*len + n) * 2;
		*data = realloc(*data, *cap);
		if (!*data)
			abort();
	}
	if (n)
		memcpy(*data + *len, p, n);
	*len += n;
}

static void put_le(unsigned char *p, uint64_t v, int bytes)
{
	for (int i = 0; i < bytes; i++)
		p[i] = (unsigned char)(v >> 8 * i);
}

/* Bit by bit: nothing is shared with what it tests. */
uint32_t pfrw_crc32c(const void *p, size_t len)
{
	const unsigned char *at = p;
	uint32_t crc = ~UINT32_C(0);

	for (; len; len--, at++) {
		crc ^= *at;
		for (int i = 0; i < 8; i++)
			crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0x82f63b78) : 0);
	}
	return ~crc;
}

void pfrw_init(struct pfrw *w)
{
	static const unsigned char head[16] = { 0x89, 'P',  'F', 'R', 13,
						10,   0x1a, 10,  1 };

	memset(w, 0, sizeof(*w));
	add(&w->data, &w->len, &w->cap, head, sizeof(head));
}

void pfrw_release(struct pfrw *w)
{
	free(w->data);
	free(w->body);
	memset(w, 0, sizeof(*w));
}

/* ---- payloads ---- */

void pfrw_bytes(struct pfrw *w, const void *p, size_t len)
{
	add(&w->body, &w->body_len, &w->body_cap, p, len);
}

void pfrw_byte(struct pfrw *w, unsigned v)
{
	unsigned char byte = (unsigned char)v;

	pfrw_bytes(w, &byte, 1);
}

void pfrw_u64(struct pfrw *w, uint64_t v)
{
	unsigned char bytes[8];

	put_le(bytes, v, 8);
	pfrw_bytes(w, bytes, 8);
}

void pfrw_varint(struct pfrw *w, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		pfrw_byte(w, (unsigned)(v & 0x7f) | 0x80);
	pfrw_byte(w, (unsigned)v);
}

void pfrw_varints(struct pfrw *w, size_t count, const uint64_t *v)
{
	for (size_t i = 0; i < count; i++)
		pfrw_varint(w, v[i]);
}

void pfrw_zigzag(struct pfrw *w, int64_t v)
{
	pfrw_varint(w, (uint64_t)v << 1 ^ (uint64_t)(v >> 63));
}

void pfrw_frame(struct pfrw *w, unsigned type, unsigned flags)
{
	static const unsigned char zeros[8];
	unsigned char head[24];

	memcpy(head, "PFRM", 4);
	put_le(head + 4, type, 2);
	put_le(head + 6, flags, 2);
	put_le(head + 8, w->seq++, 4);
	put_le(head + 12, w->body_len, 4);
	put_le(head + 16, pfrw_crc32c(w->body, w->body_len), 4);
	put_le(head + 20, pfrw_crc32c(head, 20), 4);
	add(&w->data, &w->len, &w->cap, head, sizeof(head));
	add(&w->data, &w->len, &w->cap, w->body, w->body_len);
	add(&w->data, &w->len, &w->cap, zeros, -w->body_len & 7);
	w->body_len = 0;
}

void pfrw_lines(struct pfrw *w, unsigned type, const char *lines)
{
	pfrw_bytes(w, lines, strlen(lines));
	pfrw_frame(w, type, 0);
}

/* ---- definitions ---- */

static size_t varint_len(uint64_t v)
{
	size_t n = 1;

	for (; v >= 0x80; v >>= 7)
		n++;
	return n;
}

void pfrw_keyed(struct pfrw *w, unsigned table, uint64_t key, const char *text)
{
	pfrw_byte(w, table);
	pfrw_varint(w, varint_len(key) + strlen(text));
	pfrw_varint(w, key);
	pfrw_bytes(w, text, strlen(text));
}

void pfrw_string(struct pfrw *w, uint64_t id, const char *text)
{
	pfrw_keyed(w, 1, id, text);
}

void pfrw_cbid(struct pfrw *w, unsigned domain, uint64_t cbid, const char *name)
{
	pfrw_byte(w, 3);
	pfrw_varint(w, 1 + varint_len(cbid) + strlen(name));
	pfrw_varint(w, domain);
	pfrw_varint(w, cbid);
	pfrw_bytes(w, name, strlen(name));
}

void pfrw_launch(struct pfrw *w, uint64_t id, uint64_t name,
		 const uint32_t numbers[10])
{
	size_t len = varint_len(id) + varint_len(name * 2);

	for (int i = 0; i < 10; i++)
		len += varint_len(numbers[i]);
	pfrw_byte(w, 2);
	pfrw_varint(w, len);
	pfrw_varint(w, id);
	pfrw_varint(w, name * 2);
	for (int i = 0; i < 10; i++)
		pfrw_varint(w, numbers[i]);
}

/* ---- events ---- */

void pfrw_base(struct pfrw *w, uint64_t ns)
{
	pfrw_varint(w, ns);
	w->start_ns = ns;
	w->correlation = 0;
}

void pfrw_open(struct pfrw *w, unsigned type)
{
	pfrw_byte(w, type);
	pfrw_byte(w, 0);
	w->event_at = w->body_len;
}

void pfrw_start(struct pfrw *w, uint64_t ns)
{
	pfrw_zigzag(w, (int64_t)(ns - w->start_ns));
	w->start_ns = ns;
}

void pfrw_span(struct pfrw *w, uint64_t start_ns, uint64_t end_ns,
	       uint64_t correlation)
{
	pfrw_start(w, start_ns);
	pfrw_zigzag(w, (int64_t)(end_ns - start_ns));
	pfrw_zigzag(w, (int64_t)(correlation - w->correlation));
	w->correlation = correlation;
}

/* A body of 255 bytes or more has a longer head. */
void pfrw_close(struct pfrw *w)
{
	size_t len = w->body_len - w->event_at, more;

	if (len < 255) {
		w->body[w->event_at - 1] = (unsigned char)len;
		return;
	}
	more = varint_len(len);
	w->body[w->event_at - 1] = 255;
	pfrw_bytes(w, "\0\0\0\0\0\0\0\0\0\0", more);
	memmove(w->body + w->event_at + more, w->body + w->event_at, len);
	w->body_len = w->event_at;
	pfrw_varint(w, len);
	w->body_len += len;
}
