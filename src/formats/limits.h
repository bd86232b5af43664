/* SPDX-License-Identifier: MIT */
/* Limits of the JSON reader (formats specification, section 3). */
#pragma once

#define PF_SCAN_PAD        64 /* zero bytes readable behind every buffer */
#define PF_JSON_MAX_DEPTH  64
#define PF_JSON_MAX_STRING (16u << 20)
#define PF_JSON_MAX_KEY    4096u
#define PF_JSON_MAX_NUMBER 64u
