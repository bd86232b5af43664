/* SPDX-License-Identifier: MIT */
/* Between embed.sh's output, asset.c and its test only. */
#pragma once

#include <stddef.h>

struct pf_asset_entry {
	const char *name;
	const char *data;
	size_t len;
};

extern const struct pf_asset_entry pf_asset_table[]; /* sorted by name */
extern const size_t pf_asset_count;
