/* SPDX-License-Identifier: MIT */
#define PF_SCAN_SIMD 1
#define PF_EXTRACT   pf_extract_simd
#include "formats/json/extract_impl.h"
