/* SPDX-License-Identifier: MIT */
/*
 * The frames of a .pfr file (agent/FORMAT.md), one after the other, from any
 * input, in fixed memory.  Damage is passed over: whatever whole frame comes
 * behind it is found.  Nothing is allocated by a number of the file.
 *
 * What is lost is told exactly: the 16 bytes of the file's header, the bytes
 * of good frames and their padding, and skipped_bytes are all of the file.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/*
 * CRC32C (polynomial 0x1EDC6F41 reflected, initial value and final XOR all
 * ones), by the processor where it can, else with tables.
 */

struct pf_crc32c {
	bool by_processor;
	uint32_t table[8][256];
};

/* plain: never by the processor, for tests. */
void pf_crc32c_init(struct pf_crc32c *c, bool plain);
uint32_t pf_crc32c(const struct pf_crc32c *c, const void *p, size_t len);

/* ---- frames ---- */

#define PF_PFR_HEADER_BYTES 16 /* of the file */
#define PF_PFR_FRAME_BYTES  24 /* of a frame's header */
#define PF_PFR_EVENTS_MAX   (64u << 10)
#define PF_PFR_PAYLOAD_MAX  (1u << 20)

enum pf_pfr_frame_type {
	PF_PFR_META = 1,
	PF_PFR_DEF = 2,
	PF_PFR_EVENTS = 3,
	PF_PFR_CLOCK = 4,
	PF_PFR_INFO = 5,
	PF_PFR_STAT = 6,
	PF_PFR_END = 7,
};
#define PF_PFR_IS_REALTIME 1u /* flag of EVENTS */

struct pf_pfr_frame {
	const unsigned char *payload; /* borrowed until the next call */
	uint32_t len, seq;
	uint16_t type, flags;
	int64_t offset;   /* of its header in the (decompressed) file */
	bool after_a_gap; /* frames before it are missing or damaged */
};

/* What was lost; offsets of the first case, -1 if there is none. */
struct pf_pfr_loss {
	int64_t good_frames;
	int64_t bad_frames, first_bad;
	int64_t skipped_bytes, first_skipped;
	int64_t missing_frames, first_missing;
	bool has_end; /* an END frame is the last one */
};

struct pf_pfr_scan {
	/* Fill buf as far as possible; fewer bytes only at the end. */
	int64_t (*read)(void *arg, void *buf, size_t len, struct pf_err *err);
	void *read_arg;
	struct pf_crc32c crc;
	unsigned char *buf;
	size_t buf_cap, at, have, read_bytes;
	int64_t offset;        /* of buf[0] */
	uint32_t padding_of;   /* length of the frame whose padding follows */
	int64_t padding_bytes; /* passed over */
	bool at_end, gap;
	uint64_t next_seq;
	int64_t in_vain; /* bytes of payloads whose checksums were wrong */
	struct pf_pfr_loss loss;
};

/* Is it a .pfr, damaged or not, from its first bytes? */
bool pf_pfr_claims(const void *head, size_t len);

/*
 * Check the file's header.  PF_EDATA: no .pfr, damaged by a transfer as text,
 * or of a major version that is not known.
 */
int pf_pfr_check_header(const void *head, size_t len, struct pf_err *err);

/*
 * Begin behind the file's header.  read_bytes: how much to read at a time, 0
 * for the default; the frames do not depend on it.
 */
void pf_pfr_scan_init(struct pf_pfr_scan *s,
		      int64_t (*read)(void *arg, void *buf, size_t len,
				      struct pf_err *err),
		      void *read_arg, size_t read_bytes);
void pf_pfr_scan_release(struct pf_pfr_scan *s);

/* 1 and the next good frame, 0 at the end, -1 on a read error. */
int pf_pfr_scan_next(struct pf_pfr_scan *s, struct pf_pfr_frame *frame,
		     struct pf_err *err);
