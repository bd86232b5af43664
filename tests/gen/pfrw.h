/* SPDX-License-Identifier: MIT */
/*
 * Writes .pfr files for tests (agent/FORMAT.md), also such as the agent never
 * would: every frame and number can be chosen.
 */
#ifndef PF_TESTS_PFRW_H
#define PF_TESTS_PFRW_H

#include <stddef.h>
#include <stdint.h>

struct pfrw {
	unsigned char *data; /* the file so far */
	size_t len, cap;
	uint32_t seq;
	/* the frame being made */
	unsigned char *body;
	size_t body_len, body_cap;
	uint64_t start_ns, correlation; /* of the event before */
	size_t event_at;                /* of the open event's length byte */
};

void pfrw_init(struct pfrw *w); /* and the file's header */
void pfrw_release(struct pfrw *w);

/* ---- payloads ---- */
void pfrw_byte(struct pfrw *w, unsigned v);
void pfrw_u64(struct pfrw *w, uint64_t v);
void pfrw_varint(struct pfrw *w, uint64_t v);
void pfrw_varints(struct pfrw *w, size_t count, const uint64_t *v);
void pfrw_zigzag(struct pfrw *w, int64_t v);
void pfrw_bytes(struct pfrw *w, const void *p, size_t len);
/* The payload so far becomes a frame. */
void pfrw_frame(struct pfrw *w, unsigned type, unsigned flags);
/* A frame of text lines. */
void pfrw_lines(struct pfrw *w, unsigned type, const char *lines);

/* ---- definitions ---- */
void pfrw_string(struct pfrw *w, uint64_t id, const char *text);
void pfrw_keyed(struct pfrw *w, unsigned table, uint64_t key, const char *text);
void pfrw_cbid(struct pfrw *w, unsigned domain, uint64_t cbid,
	       const char *name);
/* numbers: grid, block, registers, static, dynamic, local: ten of them */
void pfrw_launch(struct pfrw *w, uint64_t id, uint64_t name,
		 const uint32_t numbers[10]);

/* ---- events: base once in a frame, then open, fields, close ---- */
void pfrw_base(struct pfrw *w, uint64_t ns);
void pfrw_open(struct pfrw *w, unsigned type);
void pfrw_start(struct pfrw *w, uint64_t ns);
void pfrw_span(struct pfrw *w, uint64_t start_ns, uint64_t end_ns,
	       uint64_t correlation);
void pfrw_close(struct pfrw *w);

uint32_t pfrw_crc32c(const void *p, size_t len);

#endif
