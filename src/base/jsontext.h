/* SPDX-License-Identifier: MIT */
/*
 * What the escapes of a JSON string stand for: the only place that undoes
 * them.  Writing is base/jsonw.h's.
 */
#ifndef PF_BASE_JSONTEXT_H
#define PF_BASE_JSONTEXT_H

#include <stdbool.h>
#include <stddef.h>

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

#endif
