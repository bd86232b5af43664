/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "embed/asset.h"
#include "embed/asset_table.h"

#include <string.h>

const char *pf_asset(const char *name, size_t *len)
{
	size_t low = 0, high = pf_asset_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct pf_asset_entry *e = &pf_asset_table[middle];
		int order = strcmp(name, e->name);

		if (order == 0) {
			if (len)
				*len = e->len;
			return e->data;
		}
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

const char *pf_asset_name(size_t index)
{
	return index < pf_asset_count ? pf_asset_table[index].name : NULL;
}
