/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <libgen.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "compare/fleet_places.h"

char *pf_place_folder(const char *path, struct pf_err *err)
{
	char *copy = pf_strdup(path);
	char *folder = realpath(dirname(copy), NULL);

	if (!folder)
		pf_fail_errno(err, "cannot open the folder of '%s'", path);
	free(copy);
	return folder;
}

/* Append the parts of a path, which begins at "/". */
static void add_parts(struct pf_buf *out, const char *path)
{
	while (*path) {
		size_t len = strcspn(path, "/");

		if (len == 2 && !strncmp(path, "..", 2)) {
			while (out->len && out->data[--out->len] != '/')
				;
			if (out->data)
				out->data[out->len] = '\0';
		} else if (len && !(len == 1 && *path == '.')) {
			pf_buf_addc(out, '/');
			pf_buf_add(out, path, len);
		}
		path += len + (path[len] == '/');
	}
}

char *pf_place_from(const char *folder, const char *path)
{
	struct pf_buf out = { 0 };

	if (*path != '/')
		add_parts(&out, folder);
	add_parts(&out, path);
	if (!out.len)
		pf_buf_addc(&out, '/');
	return out.data;
}

char *pf_place_relative(const char *folder, const char *path)
{
	struct pf_buf out = { 0 };
	size_t same = 0, i = 0;

	for (; folder[i] && folder[i] == path[i]; i++)
		if (folder[i] == '/')
			same = i;
	if (!folder[i] && path[i] == '/')
		same = i;
	if (!strcmp(folder, "/"))
		folder = "";
	for (const char *p = folder + (folder[0] ? same : 0); *p; p++)
		if (*p == '/' && p[1])
			pf_buf_adds(&out, "../");
	pf_buf_adds(&out, path + same + 1);
	return out.data;
}
