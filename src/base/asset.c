/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "base/search.h"
#include "base/asset.h"
#include "base/asset_table.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __APPLE__
#include <mach-o/dyld.h>
#endif

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

static bool add_if_there(struct pf_buf *found, const char *folder,
			 const char *name)
{
	PF_OWN char *path = NULL;

	pf_buf_clear(found);
	pf_buf_addf(found, "%s%s%s", folder, *folder ? "/" : "", name);
	path = realpath(found->data, NULL);
	pf_buf_clear(found);
	if (!path)
		return false;
	pf_buf_adds(found, path);
	return true;
}

static bool find_self(char path[PATH_MAX])
{
#ifdef __APPLE__
	uint32_t bytes = PATH_MAX;

	return !_NSGetExecutablePath(path, &bytes);
#else
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);

	if (n <= 0)
		return false;
	path[n] = '\0';
	return true;
#endif
}

bool pf_asset_find(const char *built, const char *moved, const char *installed,
		   struct pf_buf *found)
{
	char self[PATH_MAX];
	char *slash = find_self(self) ? strrchr(self, '/') : NULL;

	if (slash)
		*slash = '\0';
	return (slash && (add_if_there(found, self, built) ||
			  add_if_there(found, self, moved))) ||
	       (installed && add_if_there(found, "", installed));
}
