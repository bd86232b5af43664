/* SPDX-License-Identifier: MIT */
/*
 * What a reader of any format makes of a piece of its input: events whose
 * texts are entries of dictionaries.  The store gives the entries their ids
 * in the order of the file and writes the events; it knows no formats.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "formats/event.h"
#include "formats/repair.h"

/*
 * A worker's own dictionary: raw bytes as they stand in the file -> entry.
 * What is expensive (checking, decoding, classifying) is done once per
 * distinct text, when it is first met; the hot path only hashes and compares.
 *
 * An entry becomes known to the whole ingest when it is given its global id,
 * in file order (ingest/impl.h).  Hashing is seeded per process: hostile keys cannot aim.
 */

#define PF_GID_UNSET UINT32_C(0xfffffffd)

/* entry flags */
#define PF_DICT_BAD       0x01u /* not strictly valid: take the slow path */
#define PF_DICT_ON_DEVICE 0x02u /* args with both device and stream */

struct pf_dict_entry {
	uint64_t hash;
	size_t raw_at; /* in dict.raw */
	uint32_t raw_len;
	uint32_t salt;  /* part of the key: the slot mask for args */
	uint32_t gid;   /* global id or PF_GID_UNSET */
	uint32_t facts; /* args: which known keys it has (chrome.h) */
	uint8_t flags, kind;
	size_t text_at; /* canonical text in dict.text */
	uint32_t text_len;
};

struct pf_dict;

/*
 * Fill in kind, flags, facts and append the canonical text to "text"; called
 * once per new entry.  "raw" is followed by one readable byte and preceded by
 * one when it comes from a string.
 */
typedef void pf_dict_classify_fn(struct pf_dict *d, struct pf_dict_entry *e,
				 const char *raw, struct pf_buf *text);

/* For dictionaries of which only the entries' numbers are wanted. */
pf_dict_classify_fn pf_dict_no_text;

struct pf_dict {
	struct pf_dict_entry *entries;
	size_t count, cap;
	uint32_t *table; /* index + 1; size is table_mask + 1 */
	size_t table_mask;
	struct pf_buf raw, text;
	uint64_t seed;
	pf_dict_classify_fn *classify;
	size_t fresh; /* entries from here on have no gid yet */
};

void pf_dict_init(struct pf_dict *d, pf_dict_classify_fn *classify);
void pf_dict_release(struct pf_dict *d);

/* Forget everything (ids handed out before become invalid). */
void pf_dict_clear(struct pf_dict *d);

/* All fresh entries have got their gid. */
void pf_dict_settle(struct pf_dict *d);

/* True when it has grown past what a worker may hold. */
bool pf_dict_is_large(const struct pf_dict *d);

/* Index of the entry for these bytes, made if it is new. */
uint32_t pf_dict_find(struct pf_dict *d, const char *raw, size_t len,
		      uint32_t salt);

/* 128 bits that stand for a text, seeded alike for a whole process. */
struct pf_dict_hash {
	uint64_t low, high;
};
struct pf_dict_hash pf_dict_hash(const void *p, size_t len, uint32_t salt);

/* ---- batches ---- */

/* One event of a batch. Strings are entries of the parser's dictionaries. */
struct pf_event {
	int64_t start_ns, dur_ns;
	uint32_t name, args, track; /* dictionary entries */
	uint32_t type;              /* index in batch.types */
	uint32_t mask;              /* slots that it has ... */
	uint32_t slot_at;           /* ... and where their values begin */
	int32_t order;              /* among the batch's; < 0: before it */
	uint8_t ph, kind;
	uint16_t spare;
};

struct pf_event_type {
	uint32_t category; /* entry of dict "categories" */
	uint8_t ph, kind;
};

/* Known keys of args, found once per distinct text: bits of "facts". */
enum pf_fact {
	PF_FACT_EV_IDX,
	PF_FACT_PROFILER_EVENT_INDEX,
	PF_FACT_RECORD_FUNCTION_ID,
	PF_FACT_INPUT_STRIDES,
	PF_FACT_TRACE_NAME,
	PF_FACT_CALL_STACK,
	PF_FACT_CONCRETE_INPUTS,
	PF_FACT_FINISHED,
	PF_FACT_FINISHED_TRUE,
	PF_FACT_CALL_FROM,
	PF_FACT_SCOPE,
	PF_FACT_PRIORITY,
	PF_FACT_EXT_LOWER,
	PF_FACT_KEYS
};
const char *pf_fact_key(enum pf_fact fact); /* "key_ev_idx", ... */

/* What a chunk brought. */
struct pf_batch {
	struct pf_event *events;
	size_t count, events_cap;
	int64_t *slots;
	size_t slot_count, slots_cap;
	struct pf_event_type *types;
	size_t type_count, types_cap;
	int64_t event_count;    /* elements of event lists, stored or not */
	int64_t paired_count;   /* of them, ends that closed a begin */
	int64_t no_phase_count; /* objects without "ph": no trace has these */
	/* members of the top object: u32 key length, u32 value length, texts */
	struct pf_buf members;
	/* metadata events: u32 order, u32 length, canonical JSON */
	struct pf_buf metadata;
	int64_t metadata_count;
	struct pf_repairs repairs;
	/* facts */
	unsigned ts_fraction_digits;
	uint32_t facts;
	int64_t link_equal, link_differ, link_absent, ext_lower;
	int64_t kind_count[PF_KIND_COUNT];
};

/*
 * A batch and the dictionaries that its events refer to.  Dictionaries live
 * on from batch to batch.
 */
struct pf_parsed {
	struct pf_dict names, args, tracks, categories;
	struct pf_batch batch;
};

/* For texts that come as they shall be, but for bad UTF-8 (U+FFFD). */
void pf_parsed_init(struct pf_parsed *p);
void pf_parsed_release(struct pf_parsed *p);

/*
 * Empty the batch for a new piece; dictionaries that have grown large are
 * emptied too, and then entries of earlier batches mean nothing any more:
 * true if so.
 */
bool pf_parsed_begin(struct pf_parsed *p);

/* Index in batch.types of a combination, made if it is new. */
uint32_t pf_batch_type(struct pf_batch *b, uint32_t category, char ph,
		       enum pf_kind kind);

/* Add a member of the top object; the value is JSON. */
void pf_batch_member(struct pf_batch *b, const char *key,
		     const struct pf_buf *value);
/* "baseTimeNanoseconds". */
void pf_batch_base(struct pf_batch *b, int64_t base_ns);

/*
 * Append an event: sets its slots (values[s] for each bit s of mask) and
 * nothing else.  The caller counts it in event_count and kind_count.
 */
static inline void pf_batch_put(struct pf_batch *b, struct pf_event *ev,
				uint32_t mask, const int64_t *values);
/* The same, of a category; sets its type and counts its kind. */
void pf_batch_store(struct pf_batch *b, struct pf_event *ev, uint32_t category,
		    uint32_t mask, const int64_t *values);
/* The dictionary's entry of a word. */
uint32_t pf_dict_word(struct pf_dict *d, const char *word);

/* A metadata event, as JSON; the caller counts it in event_count. */
void pf_batch_metadata(struct pf_batch *b, const struct pf_buf *json);
/* One that says what a process or thread is called; it is counted. */
void pf_batch_name(struct pf_batch *b, const char *what, int64_t pid,
		   uint64_t tid, const char *name, size_t len);

/*
 * A track's dictionary text: class letter, pid length as 8 hex digits, pid,
 * tid.  Class letters: h g c f a m (host gpu counter flow async mark).
 */
uint32_t pf_parsed_track(struct pf_parsed *p, char letter, const char *pid,
			 const char *tid);
char pf_track_class_letter(enum pf_kind kind);
const char *pf_track_class_name(char letter);

/* ---- inside ---- */

/* Room for one more event and its slots. */
void pf_batch_grow(struct pf_batch *b);

static inline void pf_batch_put(struct pf_batch *b, struct pf_event *ev,
				uint32_t mask, const int64_t *values)
{
	if (b->slots_cap < b->slot_count + PF_SLOT_COUNT ||
	    b->count == b->events_cap)
		pf_batch_grow(b);
	ev->slot_at = (uint32_t)b->slot_count;
	ev->mask = mask;
	for (uint32_t m = mask; m; m &= m - 1)
		b->slots[b->slot_count++] = values[__builtin_ctz(m)];
	b->events[b->count++] = *ev;
}

/*
 * Who makes batches of a file, as those who write them see it: the first
 * member of a reader's own struct.
 */

struct pf_reader {
	/* where events go; settle it after each fill() */
	struct pf_parsed *parsed;
	/*
	 * Empty the batch and fill it with about so many events: 1 there may
	 * be more, 0 this was the last, -1 a failure.
	 */
	int (*fill)(struct pf_reader *r, size_t most, struct pf_err *err);
	/* Counts for trace_fact, once all was read; false: no more.  Or NULL. */
	bool (*fact)(struct pf_reader *r, size_t i, char *key, size_t key_size,
		     int64_t *value);
	void (*free)(struct pf_reader *r);
};

struct pf_reader_options {
	bool os_calls;   /* keep calls of the operating system's libraries */
	const char *dir; /* for temporary files */
};
