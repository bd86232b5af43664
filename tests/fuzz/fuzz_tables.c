/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as an SQLite database of another program: refused, or
 * rows that are all accounted for, however few events go into a batch.  A
 * damaged page may end a reading; then what it gave before may differ.
 */
#include "config.h"

#include "fuzz/events.h"
#include "fuzz/path.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <string.h>
#include <unistd.h>

#include "base/tempfile.h"
#include "formats/nsys/nsys.h"
#include "formats/rocm/rocm.h"

static const struct source {
	bool (*claims)(struct pf_foreign *f);
	struct pf_reader *(*open)(struct pf_foreign *f,
				  const struct pf_reader_options *options);
} sources[] = {
	{ pf_nsys_claims, pf_nsys_new },
	{ pf_rpd_claims, pf_rpd_new },
	{ pf_rocpd_claims, pf_rocpd_new },
};

static void read_facts(struct pf_reader *r)
{
	char key[128];
	int64_t value;

	for (size_t i = 0; r->fact && r->fact(r, i, key, sizeof(key), &value);
	     i++) {
		FUZZ_CHECK(memchr(key, '\0', sizeof(key)));
		FUZZ_CHECK(i < 100000);
	}
}

/* 0: read to its end. */
static int read_as(const struct source *source, struct pf_foreign *f,
		   size_t batch_events, struct fuzz_events *seen)
{
	const struct pf_reader_options options = {
		.os_calls = true,
		.dir = pf_temp_dir(),
	};
	struct pf_err err = { 0 };
	struct pf_reader *r;
	int rc = 1;

	f->err = &err; /* what is read says there what went wrong, too */
	r = source->open(f, &options);
	FUZZ_CHECK(r || err.text[0]);
	if (!r)
		return -1;
	while (rc == 1) {
		rc = r->fill(r, batch_events, &err);
		FUZZ_CHECK((rc < 0) == (err.code != PF_OK));
		if (rc >= 0)
			fuzz_events_take(seen, r->parsed);
	}
	if (!rc) {
		fuzz_events_check(seen);
		read_facts(r);
	}
	r->free(r);
	return rc;
}

/* 0: it was a database that is known, and was read to its end. */
static int read_all(int fd, size_t batch_events, struct fuzz_events *seen)
{
	struct pf_err err = { 0 };
	struct pf_foreign f;
	int rc = -1;

	memset(seen, 0, sizeof(*seen));
	if (pf_foreign_open(&f, fd, &err)) {
		FUZZ_CHECK(err.text[0]);
		return -1;
	}
	for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++)
		if (sources[i].claims(&f)) {
			rc = read_as(&sources[i], &f, batch_events, seen);
			break;
		}
	pf_foreign_close(&f);
	return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_events whole, parts = { 0 };
	int fd;

	if (size > 1 << 18)
		return 0;
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); /* as in main(), once */
	fd = open(fuzz_path(0), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	FUZZ_CHECK(fd >= 0);
	FUZZ_CHECK(write(fd, data, size) == (ssize_t)size);
	if (read_all(fd, 1000, &whole) || read_all(fd, 1, &parts)) {
		pf_buf_release(&whole.log);
		pf_buf_release(&parts.log);
	} else {
		fuzz_events_same(&whole, &parts);
	}
	close(fd);
	return 0;
}
