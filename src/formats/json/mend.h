/* SPDX-License-Identifier: MIT */
/*
 * One JSON value in, the same value as canonical JSON text out: no blanks
 * outside strings, nothing that a strict parser would refuse.
 *
 * Strict (repairs == NULL): anything odd is PF_MEND_BAD.  Tolerant: what can
 * be mended is mended and counted.  Not recursive; depth, string, key and
 * number lengths are limited (formats specification, section 3).
 *
 * Bare quotes are looked for on request alone, in a value that cannot be read
 * otherwise: a member's string then ends where the next member or the end of
 * the object follows, and words without quotes are bad.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "formats/limits.h"
#include "formats/repair.h"

enum pf_mend_result {
	PF_MEND_OK,
	PF_MEND_INCOMPLETE, /* the text ends inside the value */
	PF_MEND_BAD,        /* cannot be understood */
};

struct pf_mend {
	const char *p, *end;        /* in: the text; out: p behind the value */
	struct pf_repairs *repairs; /* NULL: strict */
	int64_t offset;             /* of p in the whole input, for repairs */
	bool bare_quotes;           /* strings may hold them (tolerant) */
	bool placeholders;          /* accept $a..$z as values (strict) */
	uint32_t mask;              /* out: which placeholders there were */
	bool twice;                 /* out: a placeholder stood there twice */
};

/* Append the canonical text of the value at m->p to out. */
enum pf_mend_result pf_mend_value(struct pf_mend *m, struct pf_buf *out);

/*
 * Environment dumps inside traces hold tokens and passwords of the machine
 * that made them.  They are never copied into a database that people share.
 */

/*
 * Is this the key of a dump?  And: append canonical JSON text to out, where
 * every object under a key "env", "environ", "environment", "env_vars" or
 * "environment_variables" becomes {}.
 */
bool pf_redact_is_environment(const char *key, size_t len);
void pf_redact_environment(const char *text, size_t len, struct pf_buf *out);
