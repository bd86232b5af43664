/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a fleet that is merged: refused with a message, or a fleet
 * (of one rank that failed, where they are none) that stays the same, byte for
 * byte, when it is merged again.
 */
#include "config.h"

#include "fuzz/fuzz.h"
#include "fuzz/path.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "compare/merge.h"

enum { GIVEN, ONCE, TWICE };

/* 0: OUT is made. */
static int merge(unsigned in, unsigned out, struct pf_fleet_count *made)
{
	char path[128], *argument = path;
	struct pf_fleet_merge m = {
		.arguments = &argument,
		.count = 1,
		.out = fuzz_path(out),
		.capture = "one", /* else it is called as its file is */
		.threads = 1,
	};
	struct pf_err err = { 0 };
	int rc;

	snprintf(path, sizeof(path), "%s", fuzz_path(in));
	rc = pf_fleet_merge(&m, &err);
	FUZZ_CHECK(!rc == (err.code == PF_OK));
	FUZZ_CHECK(!rc || err.text[0]);
	*made = m.made;
	return rc;
}

static bool is_same(const char *a, const char *b)
{
	static char x[1 << 16], y[1 << 16];
	FILE *f = fopen(a, "rb"), *g = fopen(b, "rb");
	size_t m, n;

	FUZZ_CHECK(f && g);
	do {
		m = fread(x, 1, sizeof(x), f);
		n = fread(y, 1, sizeof(y), g);
	} while (m == n && m && !memcmp(x, y, m));
	FUZZ_CHECK(!ferror(f) && !ferror(g));
	fclose(f);
	fclose(g);
	return !m && !n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pf_fleet_count once, twice;
	int fd;

	if (size > 1 << 18)
		return 0;
	pf_log_set_level(PF_LOG_ERROR);
	fd = open(fuzz_path(GIVEN), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC,
		  0600);
	FUZZ_CHECK(fd >= 0);
	FUZZ_CHECK(write(fd, data, size) == (ssize_t)size);
	close(fd);
	if (merge(GIVEN, ONCE, &once))
		return 0;
	FUZZ_CHECK(once.errors <= once.ranks);
	FUZZ_CHECK(!merge(ONCE, TWICE, &twice));
	FUZZ_CHECK(once.ranks == twice.ranks && once.errors == twice.errors);
	FUZZ_CHECK(is_same(fuzz_path(ONCE), fuzz_path(TWICE)));
	return 0;
}
