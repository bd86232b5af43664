/* SPDX-License-Identifier: MIT */
/*
 * Bytes as a file, through the whole ingest into a database in memory, which
 * must then be as an ingest makes it and add up.  Whether the bytes are
 * accepted is not judged.
 */
#include "config.h"

#include "fuzz/fuzz.h"
#include "fuzz/memory.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ingest/ingest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pf_err err = { 0 };
	const uint8_t last = size ? data[size - 1] : 0;
	const char *in[1];
	/* sizes must not matter, so let the bytes choose */
	struct pf_ingest_options options = {
		.paths = in,
		.path_count = 1,
		.rank = -1,
		.threads = 1,
		.telemetry.interval_ns = 1000000000,
		.chunk_bytes = 64u << (last & 7),
		.scanner = last & 8 ? PF_SCANNER_PLAIN : PF_SCANNER_BEST,
		.room_bytes = last & 16 ? 32 : 65536,
	};
	static int fd = -1;
	char name[64];

	if (size > 1 << 18)
		return 0;
	if (fd < 0)
		fd = memfd_create("trace", 0);
	FUZZ_CHECK(!ftruncate(fd, 0));
	FUZZ_CHECK(pwrite(fd, data, size, 0) == (ssize_t)size);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	in[0] = name;
	options.into = fuzz_memory_begin(&err);
	if (pf_ingest(&options, &err)) {
		FUZZ_CHECK(err.code != PF_OK && err.text[0]);
		/* of this target's own doing; an input may be quoted */
		FUZZ_CHECK(err.code != PF_EDB || !strstr(err.text, "ROLLBACK"));
	} else {
		fuzz_memory_has_no(
			"SELECT id FROM trace WHERE event_count <>"
			" stored_count + metadata_count + paired_count"
			" + skipped_count");
		/* as in schema/load/damaged.sql */
		fuzz_memory_has_no(
			"SELECT t.id FROM trace AS t LEFT JOIN (SELECT"
			" trace_id, min(first_ns) AS first_ns, max(last_ns)"
			" AS last_ns FROM track WHERE event_count > 0"
			" GROUP BY 1) AS k ON k.trace_id = t.id"
			" WHERE t.first_ns IS NOT k.first_ns"
			" OR t.last_ns IS NOT k.last_ns"
			" OR t.first_ns > t.last_ns");
	}
	fuzz_memory_end();
	return 0;
}
