/* SPDX-License-Identifier: MIT */
/*
 * Texts of a trace as a page may show them.  Always: absolute paths of Python
 * files lose what comes before their package, or what they all begin with.
 * If asked for (strict): of a path only a file's name is left, and names that
 * a user chose for ranges become numbers; or names lose their template
 * arguments.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "store/db.h"
#include "show/doc.h"

struct pf_redact;
struct pf_redact *pf_redact_new(struct pf_db *db, bool is_strict);
/* The same for texts of another database beside. */
int pf_redact_add(struct pf_redact *r, struct pf_db *db);
/* Names without template arguments from now on. */
void pf_redact_shorten(struct pf_redact *r);
void pf_redact_free(struct pf_redact *r);
bool pf_redact_is_strict(const struct pf_redact *r);

/* Append a text as it may be shown.  Threads may do so at once. */
void pf_redact_text(const struct pf_redact *r, const char *s, size_t len,
		    struct pf_buf *out);

/*
 * The same for all that a document holds but for columns of our own words
 * (PF_OURS), which may be called as somebody's annotation is.  Strict:
 * sentences are dropped, as they may quote anything.
 */
void pf_redact_doc(const struct pf_redact *r, struct pf_doc *doc);
