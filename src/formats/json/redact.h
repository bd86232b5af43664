/* SPDX-License-Identifier: MIT */
/*
 * Environment dumps inside traces hold tokens and passwords of the machine
 * that made them.  They are never copied into a database that people share.
 */
#ifndef PF_FORMATS_JSON_REDACT_H
#define PF_FORMATS_JSON_REDACT_H

#include <stdbool.h>

#include "base/buf.h"

/*
 * Is this the key of a dump?  And: append canonical JSON text to out, where
 * every object under a key "env", "environ", "environment", "env_vars" or
 * "environment_variables" becomes {}.
 */
bool pf_redact_is_environment(const char *key, size_t len);
void pf_redact_environment(const char *text, size_t len, struct pf_buf *out);

#endif
