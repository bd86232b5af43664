/* SPDX-License-Identifier: MIT */
/*
 * UTF-8 from untrusted bytes: one character at a time, never past the end.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define PF_UTF8_BAD UINT32_MAX

/*
 * The character at p[0..len), len > 0: its length in bytes and *code, or 1
 * and PF_UTF8_BAD if the bytes are not well-formed (overlong forms and
 * surrogates are not).
 */
size_t pf_utf8_next(const char *p, size_t len, uint32_t *code);

/* Bytes of the first "max" characters. */
size_t pf_utf8_head(const char *p, size_t len, size_t max);

/* Append a character; one that there is not (a surrogate) is U+FFFD. */
void pf_utf8_add(struct pf_buf *out, uint32_t code);

/*
 * Would this character act on a terminal rather than show (C0, C1, DEL, line
 * separators, directional overrides, invisible marks)?  PF_UTF8_BAD too.
 */
bool pf_utf8_is_control(uint32_t code);

/* Columns on a terminal: 0 (combining), 1 or 2 (East Asian wide, emoji). */
int pf_utf8_width(uint32_t code);

/* Add p with what pf_utf8_is_control() finds shown as \xNN per byte. */
void pf_utf8_mask(struct pf_buf *out, const char *p, size_t len);

/* Columns of a masked text. */
size_t pf_utf8_columns(const char *p, size_t len);

/* Bytes of its longest beginning that is at most so many columns wide. */
size_t pf_utf8_fitting(const char *p, size_t len, size_t columns);
