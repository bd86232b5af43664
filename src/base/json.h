/* SPDX-License-Identifier: MIT */
/*
 * What the escapes of a JSON string stand for: the only place that undoes
 * them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/*
 * Append the bytes of a JSON string (without its quotes) with escapes undone,
 * as UTF-8.  False if an escape is not one of JSON's: then what was meant is
 * guessed (an unknown escape is its character, a broken \u and half a
 * surrogate pair are U+FFFD, a backslash at the end is itself).  \u0000 is
 * U+FFFD and no fault: a NUL would hide what follows it.  Other bytes are
 * copied, whatever they are.
 */
bool pf_json_unescape(const char *p, size_t len, struct pf_buf *out);

/* The value of four hex digits at p, -1 if they are not there before end. */
int pf_json_hex4(const char *p, const char *end);

/*
 * The only JSON writer.  Appends to a buffer that the caller owns and empties
 * when it likes (pf_jsonw keeps no position in it).  Commas, colons, nesting
 * and line breaks come from the state; indentation is one tab per level down
 * to "indent_depth" levels, deeper values are on one line.  Every string is
 * escaped, and so is whatever could steer a terminal; bytes that are no UTF-8
 * become U+FFFD; nan and infinities become null, since JSON has none.
 */

#define PF_JSONW_DEPTH 32 /* nesting that is possible; deeper aborts */

/* Set out (and what else is wanted), the rest zero. */
struct pf_jsonw {
	struct pf_buf *out;
	int indent_depth;
	bool escape_markup; /* < > & as \u003c: for use inside <script> */
	/* private */
	int depth;
	bool after_key;
	bool has_items[PF_JSONW_DEPTH];
	char closer[PF_JSONW_DEPTH];
};

void pf_jsonw_object(struct pf_jsonw *w); /* { ... until pf_jsonw_end() */
void pf_jsonw_array(struct pf_jsonw *w);  /* [ ... until pf_jsonw_end() */
void pf_jsonw_end(struct pf_jsonw *w);
void pf_jsonw_key(struct pf_jsonw *w, const char *key);
/* One that was written before: its text, from quote to the blank behind it. */
void pf_jsonw_key_again(struct pf_jsonw *w, const char *text, size_t len);

void pf_jsonw_string(struct pf_jsonw *w, const char *s, size_t len);
void pf_jsonw_int(struct pf_jsonw *w, int64_t n);
/* A whole number of any size, by its digits. */
void pf_jsonw_digits(struct pf_jsonw *w, const char *digits);
void pf_jsonw_real(struct pf_jsonw *w, double d); /* reads back the same */
void pf_jsonw_bool(struct pf_jsonw *w, bool is_true);
void pf_jsonw_null(struct pf_jsonw *w);

/* Just the string, in quotes, without any state. */
void pf_jsonw_quote(struct pf_buf *out, const char *s, size_t len,
		    bool escape_markup);
