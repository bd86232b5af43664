/* SPDX-License-Identifier: MIT */
/*
 * Bytes as a file, through the whole ingest into a database, which must then
 * open and add up.  Whether the bytes are accepted is not judged.
 */
#include "config.h"

#include "fuzz/fuzz.h"
#include "fuzz/path.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "store/db.h"
#include "ingest/ingest.h"

static void check_database(const char *path)
{
	struct pf_db db = { 0 };
	struct pf_err err = { 0 };
	sqlite3_stmt *st;

	if (pf_db_open(&db, path, false, &err))
		fprintf(stderr, "%s\n", err.text);
	FUZZ_CHECK(!err.code);
	st = pf_db_prepare(&db,
			   "SELECT count(*) FROM trace WHERE event_count <>"
			   " stored_count + metadata_count + paired_count"
			   " + skipped_count",
			   &err);
	FUZZ_CHECK(st);
	FUZZ_CHECK(pf_db_step(&db, st, &err) == 1);
	FUZZ_CHECK(sqlite3_column_int(st, 0) == 0);
	sqlite3_finalize(st);
	pf_db_close(&db);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pf_err err = { 0 };
	const char *path = fuzz_path(), *in[1];
	struct pf_ingest_options options = { .paths = in,
					     .path_count = 1,
					     .out = path,
					     .rank = -1,
					     .threads = 1,
					     .telemetry.interval_ns =
						     1000000000 };
	char name[64];
	int fd;

	if (size > 1 << 18)
		return 0;
	fd = memfd_create("trace", 0);
	FUZZ_CHECK(fd >= 0);
	FUZZ_CHECK(write(fd, data, size) == (ssize_t)size);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	in[0] = name;
	/* the size of the chunks must not matter, so let the bytes choose */
	options.chunk_bytes = size ? 64u << (data[size - 1] & 7) : 0;
	options.scanner = size && (data[size - 1] & 8) ? PF_SCANNER_PLAIN
						       : PF_SCANNER_BEST;
	if (!pf_ingest(&options, &err))
		check_database(path);
	else
		FUZZ_CHECK(err.code != PF_OK && err.text[0]);
	close(fd);
	return 0;
}
