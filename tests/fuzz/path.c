/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "fuzz/path.h"

#include <unistd.h>

#include "fuzz/fuzz.h"

static char folder[64], paths[FUZZ_PATHS][96];

static void remove_folder(void)
{
	for (unsigned i = 0; i < FUZZ_PATHS; i++)
		unlink(paths[i]);
	rmdir(folder);
}

const char *fuzz_path(unsigned file)
{
	FUZZ_CHECK(file < FUZZ_PATHS);
	if (folder[0])
		return paths[file];
	/* in memory if it can be: it is written each time */
	snprintf(folder, sizeof(folder), "/dev/shm/profan-fuzz-XXXXXX");
	if (!mkdtemp(folder)) {
		snprintf(folder, sizeof(folder), "/tmp/profan-fuzz-XXXXXX");
		FUZZ_CHECK(mkdtemp(folder));
	}
	for (unsigned i = 0; i < FUZZ_PATHS; i++)
		snprintf(paths[i], sizeof(*paths), "%s/%u.db", folder, i);
	atexit(remove_folder);
	return paths[file];
}
