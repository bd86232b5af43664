/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "fuzz/path.h"

#include <unistd.h>

#include "fuzz/fuzz.h"

static char folder[64], path[96];

static void remove_folder(void)
{
	unlink(path);
	rmdir(folder);
}

const char *fuzz_path(void)
{
	if (folder[0])
		return path;
	/* in memory if it can be: it is written each time */
	snprintf(folder, sizeof(folder), "/dev/shm/profan-fuzz-XXXXXX");
	if (!mkdtemp(folder)) {
		snprintf(folder, sizeof(folder), "/tmp/profan-fuzz-XXXXXX");
		FUZZ_CHECK(mkdtemp(folder));
	}
	snprintf(path, sizeof(path), "%s/t.db", folder);
	atexit(remove_folder);
	return path;
}
