/* SPDX-License-Identifier: MIT */
/*
 * Chrome Trace Event JSON (Kineto's and everyone's) -> batches of events.
 *
 * The text comes in chunks.  A parser state says where in the document a
 * chunk begins; parsing a chunk gives events, the state behind it, and how
 * many bytes were understood.  What is left over (an event cut by the chunk's
 * end) is put in front of the next chunk by the caller.  Feeding a text in
 * any chunks gives the same events: nothing is decided by bytes that are not
 * there yet.  Knows no database and no threads; one parser per worker.
 */
#ifndef PF_TRACE_CHROME_H
#define PF_TRACE_CHROME_H

#include "base/buf.h"
#include "base/err.h"
#include "trace/dict.h"
#include "trace/event.h"
#include "trace/limits.h"
#include "trace/repair.h"

/* Where in the document the next byte stands. */
enum pf_doc_place {
	PF_DOC_START,  /* before '{' or '[' */
	PF_DOC_OBJECT, /* in the top object, between members */
	PF_DOC_EVENTS, /* in the list of events, between events */
	PF_DOC_DONE,   /* behind a whole document */
};

struct pf_doc_state {
	enum pf_doc_place place;
	bool in_object;   /* the event list is a member of an object */
	bool want_comma;  /* an element or member came last */
	bool after_comma; /* a comma came in this list; see want_comma */
	bool found_list;  /* an event list was seen */
	bool trailing;    /* behind it all, something that is no JSON */
	int32_t nested;   /* objects around the list, inside the top one */
	int32_t documents;
};

/* One event of a batch. Strings are entries of the parser's dictionaries. */
struct pf_event {
	int64_t start_ns, dur_ns;
	uint32_t name, args, track; /* dictionary entries */
	uint32_t type;              /* index in batch.types */
	uint32_t mask;              /* slots that it has ... */
	uint32_t slot_at;           /* ... and where their values begin */
	uint32_t order;             /* among the events of this batch */
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
	int64_t event_count; /* elements of event lists, stored or not */
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

#define PF_MEMO 4

enum pf_scanner { PF_SCANNER_BEST, PF_SCANNER_PLAIN };

struct pf_chrome {
	struct pf_dict names, args, tracks, categories;
	struct pf_batch batch;
	enum pf_scanner scanner;
	bool skip_python; /* do not keep python_function events */
	/* the rest is the parser's own */
	struct pf_buf args_text, extra_text, key_text, clean;
	int64_t slot_values[PF_SLOT_COUNT];
	bool mended; /* the extractor reads text that was mended */
	/* entries used last: the next event is likely to have them too */
	uint32_t category_memo[PF_MEMO], track_memo[PF_KIND_COUNT];
	unsigned memo_turn;
};

void pf_chrome_init(struct pf_chrome *c, enum pf_scanner scanner);
void pf_chrome_release(struct pf_chrome *c);

/* Empty the batch (and dictionaries that have grown large) for a new chunk. */
void pf_chrome_begin(struct pf_chrome *c);

/*
 * Parse text[0, len), which stands at "offset" in the whole input and is
 * followed by PF_SCAN_PAD zero bytes.  *state is where it begins and becomes
 * where it ends; *used is how much was understood.  With "final" nothing
 * follows: what is incomplete is counted as cut off and *used == len.
 * Fails only when the text is no JSON trace at all.
 */
int pf_chrome_parse(struct pf_chrome *c, struct pf_doc_state *state,
		    const char *text, size_t len, int64_t offset, bool final,
		    size_t *used, struct pf_err *err);

/*
 * The best place to cut a chunk: behind the last "}," that a '{' follows, so
 * probably between two events; len if there is none.
 */
size_t pf_chrome_cut(const char *text, size_t len);

/*
 * A track's dictionary text: class letter, pid length as 8 hex digits, pid,
 * tid.  Class letters: h g c f a m (host gpu counter flow async mark).
 */
char pf_track_class_letter(enum pf_kind kind);
const char *pf_track_class_name(char letter);

/* ---- between chrome.c and its two extractors ---- */

enum pf_extract_result {
	PF_EXTRACT_EVENT, /* appended to the batch */
	PF_EXTRACT_SKIP,  /* a whole event, counted and left out */
	PF_EXTRACT_SLOW,  /* not plain: mend it first */
};

/*
 * Read the event whose '{' is at p.  On EVENT or SKIP *next is behind its '}'
 * and the event has been counted; on SLOW nothing has changed.
 */
enum pf_extract_result pf_extract_simd(struct pf_chrome *c, const char *p,
				       const char *end, int64_t offset,
				       const char **next);
enum pf_extract_result pf_extract_plain(struct pf_chrome *c, const char *p,
					const char *end, int64_t offset,
					const char **next);

#endif
