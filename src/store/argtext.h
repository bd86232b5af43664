/* SPDX-License-Identifier: MIT */
/*
 * The argument text of an event: JSON in which "$a" outside strings stands
 * for the value of slot 0, "$b" for slot 1 and so on; "$A" for that of slot 0
 * as an unsigned number (formats/event.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* Append the text with its slots filled in; slot[s] for each bit of mask. */
void pf_argtext_build(const char *text, size_t len, uint32_t mask,
		      const int64_t *slot, struct pf_buf *out);

/* Walks the top-level members of a text; start with at = 0. */
struct pf_argtext {
	const char *text;
	size_t len, at;
};
struct pf_arg {
	const char *key, *value; /* raw JSON; the key without quotes */
	size_t key_len, value_len;
};
bool pf_argtext_next(struct pf_argtext *it, struct pf_arg *out);
