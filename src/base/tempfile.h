/* SPDX-License-Identifier: MIT */
/*
 * Unlinked temporary files: nothing is left behind however the process ends.
 * Offsets are the caller's; reads and writes are whole or fail (PF_EIO).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"

/* Where what does not fit in memory goes: $TMPDIR or /tmp. */
const char *pf_temp_dir(void);

/* $TMPDIR if files can be made there, else NULL. */
const char *pf_temp_dir_asked(void);

/* A descriptor of a new file in dir without a name; -1 on failure. */
int pf_tempfile_open(const char *dir, struct pf_err *err);
int pf_tempfile_write(int fd, const void *data, size_t len, uint64_t offset,
		      struct pf_err *err);
int pf_tempfile_read(int fd, void *data, size_t len, uint64_t offset,
		     struct pf_err *err);

/*
 * Bytes that are written once, at the end, and read anywhere: the first "room"
 * of them stay in memory, what is more goes to an unlinked file.  Any thread
 * may add at any time, and read what has been added.
 */
struct pf_scratch {
	char *memory;
	size_t room;
	int fd;
	_Atomic uint64_t len;
};

int pf_scratch_open(struct pf_scratch *s, size_t room, const char *dir,
		    struct pf_err *err);
void pf_scratch_close(struct pf_scratch *s); /* also one that is not open */
/* Where the bytes begin is set in *at. */
int pf_scratch_add(struct pf_scratch *s, const void *data, size_t len,
		   uint64_t *at, struct pf_err *err);
int pf_scratch_read(const struct pf_scratch *s, void *data, size_t len,
		    uint64_t at, struct pf_err *err);

/* ---- records as differences ---- */

/* Most bytes of one, and what may be read and written behind its end. */
#define PF_PACK_MAX(record_bytes) ((record_bytes) + (record_bytes) / 16 + 1)
#define PF_PACK_SLACK             8

static inline uint64_t pf_pack_little(uint64_t v)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap64(v);
#endif
	return v;
}

/* One word as its difference; returns how many bytes. */
static inline unsigned pf_pack_word(char *p, char *last, const char *word)
{
	uint64_t from, to, d;
	unsigned len;

	memcpy(&from, last, 8);
	memcpy(&to, word, 8);
	memcpy(last, word, 8);
	d = to - from;
	d = d << 1 ^ (0 - (d >> 63));
	len = d ? 8 - (unsigned)__builtin_clzll(d) / 8 : 0;
	d = pf_pack_little(d);
	memcpy(p, &d, 8);
	return len;
}

/*
 * A record, as the difference of each of its 64-bit words to that of the
 * record before, which *last holds (zeros at first) and takes: a byte for the
 * lengths of two words, then their low bytes, which costs less than to write
 * them all.  Bytes past the last whole word stay as they are.  Returns where
 * the next one goes.
 */
static inline char *pf_pack_put(char *p, char *last, const char *record,
				size_t bytes)
{
	size_t i = 0;

	for (; i + 8 <= bytes; i += 16) {
		char *head = p++;
		unsigned a = pf_pack_word(p, last + i, record + i), b = 0;

		p += a;
		if (i + 16 <= bytes)
			b = pf_pack_word(p, last + i + 8, record + i + 8);
		p += b;
		*head = (char)(a | b << 4);
	}
	memcpy(p, record + bytes / 8 * 8, bytes % 8);
	return p + bytes % 8;
}

static inline void pf_pack_add(const char *p, unsigned len, char *word)
{
	uint64_t v, d;

	memcpy(&v, word, 8);
	memcpy(&d, p, 8);
	d = len ? pf_pack_little(d) << (64 - 8 * len) >> (64 - 8 * len) : 0;
	v += d >> 1 ^ (0 - (d & 1));
	memcpy(word, &v, 8);
}

/* The inverse: *record holds the record before and becomes this one. */
static inline const char *pf_pack_get(const char *p, char *record, size_t bytes)
{
	for (size_t i = 0; i + 8 <= bytes; i += 16) {
		unsigned head = (unsigned char)*p++, a = head & 15;

		pf_pack_add(p, a, record + i);
		p += a;
		if (i + 16 > bytes)
			break;
		pf_pack_add(p, head >> 4, record + i + 8);
		p += head >> 4;
	}
	memcpy(record + bytes / 8 * 8, p, bytes % 8);
	return p + bytes % 8;
}
