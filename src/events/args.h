/* SPDX-License-Identifier: MIT */
/*
 * Reading the argument text of an event (argset.text): one JSON object whose
 * numbers may be replaced by $a .. $z.  Everything is borrowed from the text;
 * nothing allocates but pf_json_text().  Broken text ends the walk early and
 * never reads past the end.
 */
#ifndef PF_ANALYSIS_ARGS_H
#define PF_ANALYSIS_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* A piece of JSON text; p is NULL when there is none. */
struct pf_json {
	const char *p;
	size_t len;
};

/* Is the piece exactly this text? */
bool pf_json_is(struct pf_json v, const char *text);

/*
 * The next member of an object: keys without quotes, escapes not decoded.
 * "rest" starts as the whole object and is advanced; false at the end.
 */
bool pf_json_member(struct pf_json *rest, struct pf_json *key,
		    struct pf_json *value);

/* The value of a member of an object; p NULL when it is not there. */
struct pf_json pf_json_get(struct pf_json object, const char *key);

/* The next item of a list, as pf_json_member(). */
bool pf_json_item(struct pf_json *rest, struct pf_json *value);

/* Item n of a list, from 0; p NULL when it is not there. */
struct pf_json pf_json_at(struct pf_json list, size_t n);

/* A plain integer ("12", also quoted); false for anything else. */
bool pf_json_int(struct pf_json v, int64_t *out);

/* The sizes of a tensor, as traces record them. */
#define PF_DIMS_MAX 64 /* torch's own limit */
struct pf_dims {
	uint64_t size[PF_DIMS_MAX];
	size_t count;
};

/* Read a list of integers, also as the text of one; false for all else. */
bool pf_json_dims(struct pf_json v, struct pf_dims *out);

/* Append a string's text with escapes decoded; anything else as it is. */
void pf_json_text(struct pf_json v, struct pf_buf *out);

#endif
