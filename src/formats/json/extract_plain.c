/* SPDX-License-Identifier: MIT */
#define PF_SCAN_SIMD 0
#define PF_EXTRACT   pf_extract_plain
#include "formats/json/extract_impl.h"
