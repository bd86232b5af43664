/* SPDX-License-Identifier: MIT */
/*
 * Making texts from traces harmless, by the place they are printed in.  Each
 * function appends to "out".  (JSON strings: base/json.h.)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/*
 * For a terminal: control characters, invisible marks and invalid UTF-8 as
 * \xNN.  Not more than "columns" wide (0: no limit): the middle is replaced
 * by "..." so that beginning and end stay, or the beginning if "is_path".
 */
void pf_escape_text(struct pf_buf *out, const char *s, size_t len,
		    size_t columns, bool is_path);

/* The same without a limit for text of several lines: "\n" stays. */
void pf_escape_lines(struct pf_buf *out, const char *s, size_t len);

/*
 * For a cell of a GitHub table: a code span, in which no mention, link,
 * issue number, tag or line break works and that no backtick or bar ends.
 */
void pf_escape_md(struct pf_buf *out, const char *s, size_t len);

/*
 * The same for a line that is in no table: bars stay as they are, for there a
 * backslash before one would show.
 */
void pf_escape_md_line(struct pf_buf *out, const char *s, size_t len);

/*
 * The first for a table, the second for a line, but letters, digits and
 * harmless marks alone stay plain text: all of it, or each word of a line.
 */
void pf_escape_md_words(struct pf_buf *out, const char *s, size_t len);
void pf_escape_md_sentence(struct pf_buf *out, const char *s, size_t len);

/*
 * For HTML: text and quoted attributes.  Bytes that are no UTF-8 become
 * U+FFFD; what acts instead of showing (control characters but tab and
 * newline, line separators, directional overrides and marks) is shown as
 * \u{202e}.
 */
void pf_escape_html(struct pf_buf *out, const char *s, size_t len);

/*
 * Sentences hold names of a trace between these marks, so that whoever shows
 * them can set names apart; the bytes never come from a trace.
 */
#define PF_SAY_NAME '\x01'
#define PF_SAY_END  '\x02'
/* A name of at most 80 bytes, a path of 160, between its marks: else cut. */
void pf_say_name(struct pf_buf *out, const char *name);
/* Append a sentence without its marks. */
void pf_say_plain(struct pf_buf *out, const struct pf_buf *sentence);

/* The visible form alone, as UTF-8, for places with an escaping of their own.
 */
void pf_escape_visible(struct pf_buf *out, const char *s, size_t len);
