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
#pragma once

#include "base/err.h"
#include "formats/batch.h"
#include "formats/limits.h"

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

#define PF_MEMO 4

enum pf_scanner { PF_SCANNER_BEST, PF_SCANNER_PLAIN };

struct pf_chrome {
	struct pf_parsed out;
	enum pf_scanner scanner;
	bool skip_python; /* do not keep python_function events */
	/* the rest is the parser's own */
	struct pf_buf args_text, extra_text, key_text, clean;
	int64_t slot_values[PF_SLOT_COUNT];
	struct pf_shapes *shapes; /* of the events of this call (shape.h) */
	bool mended;              /* the extractor reads text that was mended */
	/* entries used last: the next event is likely to have them too */
	uint32_t category_memo[PF_MEMO], track_memo[PF_KIND_COUNT];
	unsigned memo_turn;
};

void pf_chrome_init(struct pf_chrome *c, enum pf_scanner scanner);
void pf_chrome_release(struct pf_chrome *c);

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
