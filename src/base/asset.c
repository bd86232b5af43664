/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "base/search.h"
#include "base/asset.h"
#include "base/asset_table.h"

#include <string.h>

const char *pf_asset(const char *name, size_t *len)
{
	const struct pf_asset_entry *e = pf_asset_table;
	size_t at = PF_SEARCH(i, pf_asset_count, strcmp(e[i].name, name) < 0);

	if (at == pf_asset_count || strcmp(e[at].name, name))
		return NULL;
	if (len)
		*len = e[at].len;
	return e[at].data;
}
