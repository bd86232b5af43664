/* SPDX-License-Identifier: MIT */
/* Base64 (RFC 4648) with padding and without line breaks. */
#ifndef PF_BASE_BASE64_H
#define PF_BASE_BASE64_H

#include <stddef.h>

#include "base/buf.h"

/* Append "len" bytes; pieces of one text must be multiples of 3 long. */
void pf_base64(struct pf_buf *out, const void *data, size_t len);

#endif
