/* SPDX-License-Identifier: MIT */
/*
 * Invariant: every byte in front of buf[at] has been counted, as part of a
 * good frame or as skipped.  A header with a good checksum tells its
 * sequence number even if its payload is damaged, so such a frame counts as
 * bad and not as missing too.
 */
#include "config.h"

#define REFLECTED UINT32_C(0x82f63b78)
#include "formats/pfr/frame.h"

#include "base/mem.h"
#include "formats/wire.h"

#if defined(__x86_64__)
#include <nmmintrin.h>
#define STEP_TARGET __attribute__((target("sse4.2,crc32")))

static bool processor_can(void)
{
	return __builtin_cpu_supports("sse4.2");
}

STEP_TARGET static inline uint64_t step8(uint64_t crc, uint64_t v)
{
	return _mm_crc32_u64(crc, v);
}

STEP_TARGET static inline uint32_t step1(uint32_t crc, unsigned char v)
{
	return _mm_crc32_u8(crc, v);
}
/* clang 14 takes neither the attribute nor the names */
#elif defined(__aarch64__) && defined(__GNUC__) && !defined(__clang__)
#include <arm_acle.h>
#include <sys/auxv.h>
#define STEP_TARGET __attribute__((target("+crc")))

static bool processor_can(void)
{
	return getauxval(AT_HWCAP) & HWCAP_CRC32;
}

STEP_TARGET static inline uint64_t step8(uint64_t crc, uint64_t v)
{
	return __crc32cd((uint32_t)crc, v);
}

STEP_TARGET static inline uint32_t step1(uint32_t crc, unsigned char v)
{
	return __crc32cb(crc, v);
}
#else
#define NO_STEPS 1
#endif

#ifndef NO_STEPS
STEP_TARGET static uint32_t by_processor(const unsigned char *p, size_t len)
{
	uint64_t crc = UINT32_MAX, v;

	for (; len >= 8; p += 8, len -= 8) {
		memcpy(&v, p, 8);
		crc = step8(crc, v);
	}
	for (; len; p++, len--)
		crc = step1((uint32_t)crc, *p);
	return ~(uint32_t)crc;
}
#endif

static uint32_t by_table(const struct pf_crc32c *c, const unsigned char *p,
			 size_t len)
{
	uint32_t crc = UINT32_MAX;

	for (; len >= 8; p += 8, len -= 8) {
		crc ^= (uint32_t)p[0] | (uint32_t)p[1] << 8 |
		       (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
		crc = c->table[7][crc & 0xff] ^ c->table[6][crc >> 8 & 0xff] ^
		      c->table[5][crc >> 16 & 0xff] ^ c->table[4][crc >> 24] ^
		      c->table[3][p[4]] ^ c->table[2][p[5]] ^
		      c->table[1][p[6]] ^ c->table[0][p[7]];
	}
	for (; len; p++, len--)
		crc = crc >> 8 ^ c->table[0][(crc ^ *p) & 0xff];
	return ~crc;
}

void pf_crc32c_init(struct pf_crc32c *c, bool plain)
{
#ifdef NO_STEPS
	(void)plain;
	c->by_processor = false;
#else
	c->by_processor = !plain && processor_can();
#endif
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t crc = i;

		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? REFLECTED : 0);
		c->table[0][i] = crc;
	}
	for (int k = 1; k < 8; k++)
		for (uint32_t i = 0; i < 256; i++) {
			uint32_t crc = c->table[k - 1][i];

			c->table[k][i] = crc >> 8 ^ c->table[0][crc & 0xff];
		}
}

uint32_t pf_crc32c(const struct pf_crc32c *c, const void *p, size_t len)
{
#ifndef NO_STEPS
	if (c->by_processor)
		return by_processor(p, len);
#endif
	return by_table(c, p, len);
}

#define READ_BYTES (32u << 10)

/* Bytes that may be checked in vain: so many, and times those of the file. */
#define VAIN_MIN   (16 << 20)
#define VAIN_TIMES 16

static const unsigned char magic[8] = { 0x89, 'P',  'F',  'R',
					'\r', '\n', 0x1a, '\n' };
static const char sync_word[4] = { 'P', 'F', 'R', 'M' };

/* ---- the file's header ---- */

bool pf_pfr_claims(const void *head, size_t len)
{
	const unsigned char *p = head;

	return len >= 4 && (p[0] & 0x7f) == (magic[0] & 0x7f) &&
	       !memcmp(p + 1, magic + 1, 3);
}

int pf_pfr_check_header(const void *head, size_t len, struct pf_err *err)
{
	const unsigned char *p = head;

	if (len < sizeof(magic) && !memcmp(p, magic, len))
		return pf_fail(err, PF_EDATA, "is cut off in its header");
	if (len < sizeof(magic) || memcmp(p, magic, sizeof(magic)))
		return pf_fail(err, PF_EDATA,
			       "is a .pfr file damaged by a text-mode "
			       "transfer: copy it in binary mode");
	if (len < PF_PFR_HEADER_BYTES)
		return pf_fail(err, PF_EDATA, "is cut off in its header");
	if (pf_wire_u16(p + 8) != 1)
		return pf_fail(err, PF_EDATA,
			       "is a .pfr file of version %u.%u; this profan "
			       "reads version 1",
			       pf_wire_u16(p + 8), pf_wire_u16(p + 10));
	return 0;
}

/* ---- the buffer ---- */

void pf_pfr_scan_init(struct pf_pfr_scan *s,
		      int64_t (*read)(void *arg, void *buf, size_t len,
				      struct pf_err *err),
		      void *read_arg, size_t read_bytes)
{
	memset(s, 0, sizeof(*s));
	s->read = read;
	s->read_arg = read_arg;
	s->read_bytes = read_bytes ? read_bytes : READ_BYTES;
	PF_AT_MOST(s->read_bytes, READ_BYTES);
	s->offset = PF_PFR_HEADER_BYTES;
	s->loss.first_bad = s->loss.first_skipped = s->loss.first_missing = -1;
	pf_crc32c_init(&s->crc, false);
}

void pf_pfr_scan_release(struct pf_pfr_scan *s)
{
	free(s->buf);
	s->buf = NULL;
}

/* At least "need" bytes from buf[at] on, or all that there are. */
static int fill(struct pf_pfr_scan *s, size_t need, struct pf_err *err)
{
	if (s->have - s->at >= need || s->at_end)
		return 0;
	/* what is read last may begin a byte before the end of what is needed */
	s->buf = pf_grow(s->buf, &s->buf_cap, need + s->read_bytes, 1);
	memmove(s->buf, s->buf + s->at, s->have - s->at);
	s->offset += (int64_t)s->at;
	s->have -= s->at;
	s->at = 0;
	while (s->have < need && !s->at_end) {
		int64_t n = s->read(s->read_arg, s->buf + s->have,
				    s->read_bytes, err);

		PF_TRY(n < 0);
		s->have += (size_t)n;
		s->at_end = (size_t)n < s->read_bytes;
	}
	return 0;
}

static void skip_bytes(struct pf_pfr_scan *s, size_t count)
{
	if (!count)
		return;
	if (!s->loss.skipped_bytes)
		s->loss.first_skipped = s->offset + (int64_t)s->at;
	s->loss.skipped_bytes += (int64_t)count;
	s->at += count;
}

/* ---- frames ---- */

/* Go to the next place where a header may be: 1, 0 at the end, -1. */
static int find_sync(struct pf_pfr_scan *s, struct pf_err *err)
{
	for (;;) {
		const unsigned char *p, *found;
		size_t rest;

		PF_TRY(fill(s, PF_PFR_FRAME_BYTES, err));
		p = s->buf + s->at;
		rest = s->have - s->at;
		if (rest < PF_PFR_FRAME_BYTES) {
			skip_bytes(s, rest);
			return 0;
		}
		found = memmem(p, rest, sync_word, sizeof(sync_word));
		if (found == p)
			return 1;
		/* Its first bytes may be at the end of the buffer. */
		skip_bytes(s, found ? (size_t)(found - p)
				    : rest - sizeof(sync_word) + 1);
	}
}

static bool read_header(const struct pf_pfr_scan *s, struct pf_pfr_frame *f)
{
	const unsigned char *p = s->buf + s->at;

	if (pf_wire_u32(p + 20) != pf_crc32c(&s->crc, p, 20))
		return false;
	f->type = pf_wire_u16(p + 4);
	f->flags = pf_wire_u16(p + 6);
	f->seq = pf_wire_u32(p + 8);
	f->len = pf_wire_u32(p + 12);
	f->offset = s->offset + (int64_t)s->at;
	return f->len <= (f->type == PF_PFR_EVENTS ? PF_PFR_EVENTS_MAX
						   : PF_PFR_PAYLOAD_MAX);
}

/* Numbers that jump forward are frames that are not there. */
static void check_seq(struct pf_pfr_scan *s, const struct pf_pfr_frame *f)
{
	if (f->seq > s->next_seq) {
		if (!s->loss.missing_frames)
			s->loss.first_missing = f->offset;
		s->loss.missing_frames += (int64_t)(f->seq - s->next_seq);
		s->gap = true;
	}
	if (f->seq >= s->next_seq)
		s->next_seq = (uint64_t)f->seq + 1;
}

/* Behind a payload: only zeros, and only as many as padding has. */
static int pass_padding(struct pf_pfr_scan *s, uint32_t len, struct pf_err *err)
{
	size_t pad = -len & 7u;

	PF_TRY(fill(s, pad, err));
	while (pad && s->at < s->have && !s->buf[s->at])
		pad--, s->at++, s->padding_bytes++;
	return 0;
}

/*
 * Bytes may be missing in it, so whole frames are looked for right behind its
 * header.  But many headers, each of which claims what the next ones are in,
 * would be checked many times over: past what damage can come to, a payload
 * is passed over.
 */
static void bad_payload(struct pf_pfr_scan *s, const struct pf_pfr_frame *f,
			bool is_whole)
{
	size_t count = PF_PFR_FRAME_BYTES;

	if (!s->loss.bad_frames++)
		s->loss.first_bad = f->offset;
	/* A lost definition does not tear ranges apart. */
	s->gap |= f->type == PF_PFR_EVENTS;
	if (is_whole) {
		s->in_vain += f->len;
		if (s->in_vain > VAIN_MIN + VAIN_TIMES * f->offset)
			count += f->len;
	}
	skip_bytes(s, count);
}

int pf_pfr_scan_next(struct pf_pfr_scan *s, struct pf_pfr_frame *f,
		     struct pf_err *err)
{
	for (;;) {
		int rc = pass_padding(s, s->padding_of, err);
		const unsigned char *p;
		bool is_whole;

		s->padding_of = 0;
		if (!rc)
			rc = find_sync(s, err);
		else
			rc = -1;
		if (rc <= 0)
			return rc;
		if (!read_header(s, f)) {
			skip_bytes(s, 1);
			continue;
		}
		check_seq(s, f);
		PF_TRY(fill(s, PF_PFR_FRAME_BYTES + (size_t)f->len, err));
		p = s->buf + s->at + PF_PFR_FRAME_BYTES;
		is_whole =
			s->have - s->at >= PF_PFR_FRAME_BYTES + (size_t)f->len;
		if (!is_whole || pf_wire_u32(s->buf + s->at + 16) !=
					 pf_crc32c(&s->crc, p, f->len)) {
			bad_payload(s, f, is_whole);
			continue;
		}
		f->payload = p;
		f->after_a_gap = s->gap;
		s->gap = false;
		s->at += PF_PFR_FRAME_BYTES + (size_t)f->len;
		s->padding_of = f->len;
		s->loss.good_frames++;
		s->loss.has_end = f->type == PF_PFR_END;
		return 1;
	}
}
