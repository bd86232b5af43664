/* SPDX-License-Identifier: MIT */
/*
 * Walking the events of blocks under a filter, in order of event id.  Columns
 * are decoded when they are first asked for, together with those in "wanted".
 */
#ifndef PF_STORE_VTAB_SCAN_H
#define PF_STORE_VTAB_SCAN_H

#include "store/block.h"
#include "store/lexicon.h"

#define PF_KINDS_ALL ((UINT32_C(1) << PF_KIND_COUNT) - 1)

/* Everything inclusive; pf_filter_init() lets all events pass. */
struct pf_filter {
	int64_t id_low, id_high;
	int64_t start_low, start_high;
	int64_t end_low;       /* of a block's latest end only: a hint */
	int64_t trace_id;      /* -1: any */
	int64_t name;          /* string id; -1: any */
	bool name_is_exact;    /* inline names do not pass */
	uint32_t kinds;        /* bits 1 << enum pf_kind */
	int64_t category_rank; /* -1: any */
	bool is_none;          /* nothing passes */
};
void pf_filter_init(struct pf_filter *f);

struct pf_scan {
	struct pf_lexicon *lexicon;
	struct pf_filter filter;
	uint64_t wanted;
	sqlite3_stmt *blocks, *data;
	struct pf_block block;
	/* the block at hand */
	int64_t block_id;
	uint64_t loaded;
	uint32_t first_seq, track_id, count;
	uint32_t at, end; /* the event at hand; behind the last */
	bool is_running;
	/* values of slots and inline texts before event *_upto are counted */
	uint32_t slot_upto, slot_at[PF_SLOT_COUNT];
	uint32_t inline_upto;
	size_t inline_at;
	const char *inline_text[2]; /* name, args of event inline_upto */
	uint32_t inline_len[2];
};

int pf_scan_init(struct pf_scan *s, struct pf_lexicon *lexicon,
		 struct pf_err *err);
void pf_scan_release(struct pf_scan *s);

/* Start at the front; the filter is set before. */
void pf_scan_start(struct pf_scan *s);
/* To the next event: 1, 0 at the end, -1 on error. */
int pf_scan_next(struct pf_scan *s, struct pf_err *err);
/*
 * To the next block with events that may pass: 1, 0, -1.  For callers that
 * walk [s->at, s->end) themselves, with pf_scan_passes().
 */
int pf_scan_next_block(struct pf_scan *s, struct pf_err *err);
bool pf_scan_passes(const struct pf_scan *s, uint32_t i);

/* Decode these columns of the block at hand unless they are. */
int pf_scan_need(struct pf_scan *s, uint64_t columns, struct pf_err *err);
/* A slot's value of the event at hand: 1, 0 if it has none, -1 on error. */
int pf_scan_slot(struct pf_scan *s, int slot, int64_t *value,
		 struct pf_err *err);
/* The inline name (0) or args (1) of the event at hand: 0 or -1. */
int pf_scan_inline(struct pf_scan *s, int which, const char **text,
		   uint32_t *len, struct pf_err *err);

static inline int64_t pf_scan_id(const struct pf_scan *s)
{
	return (int64_t)s->track_id << 32 | (s->first_seq + s->at);
}

#endif
