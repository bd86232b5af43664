/* SPDX-License-Identifier: MIT */
/*
 * Databases of other programs: which they are is said by their tables.  Those
 * of the list are read, in the order of their tables and rows; others are
 * refused by name.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "ingest/ingest_impl.h"
#include "formats/nsys/nsys.h"
#include "formats/rocm/rocm.h"
#include "store/db.h"

#define NAMED 10 /* tables of a database that nobody knows */

static const struct source {
	const char *format; /* trace.format */
	bool (*claims)(struct pf_foreign *f);
	struct pf_reader *(*open)(struct pf_foreign *f,
				  const struct pf_reader_options *options,
				  struct pf_err *err);
} sources[] = {
	{ "nsys", pf_nsys_claims, pf_nsys_new },
	{ "rpd", pf_rpd_claims, pf_rpd_new },
	{ "rocpd", pf_rocpd_claims, pf_rocpd_new },
};

static const struct source *find_source(struct pf_foreign *f)
{
	if (f->application_id == PF_APPLICATION_ID)
		return NULL;
	for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++)
		if (sources[i].claims(f))
			return &sources[i];
	return NULL;
}

/* ---- what it is ---- */

static int refuse_unknown(const struct pf_foreign *f, struct pf_err *err)
{
	struct pf_buf names = { 0 };

	for (size_t i = 0; i < f->table_count && i < NAMED; i++)
		pf_buf_addf(&names, "%s%.40s", i ? ", " : "", f->tables[i]);
	if (f->table_count > NAMED)
		pf_buf_adds(&names, ", ...");
	pf_fail(err, PF_EDATA,
		"is an SQLite database without a trace that profan knows; its "
		"tables: %s",
		f->table_count ? names.data : "none");
	pf_buf_release(&names);
	return -1;
}

static int refuse(const struct pf_foreign *f, struct pf_err *err)
{
	if (f->application_id == PF_APPLICATION_ID)
		return pf_fail(err, PF_EDATA,
			       "is a database of profan and no trace; commands "
			       "take it as it is");
	if (pf_foreign_table(f, "read_only_ops") &&
	    pf_foreign_table(f, "db_version"))
		return pf_fail(err, PF_EDATA,
			       "is a database of DLProf, which has no trace; "
			       "the report of Nsight Systems that it was made "
			       "of has: 'nsys export --type sqlite REPORT'");
	if (pf_foreign_table(f, "KERN"))
		return pf_fail(err, PF_EDATA,
			       "is a database of rocprof (version 1), which "
			       "profan does not read: trace with 'rocprofv3 "
			       "--runtime-trace --output-format rocpd -- "
			       "PROGRAM'");
	return refuse_unknown(f, err);
}

bool pf_ingest_is_sqlite(const char *head, size_t len)
{
	static const char magic[] = "SQLite format 3";

	return len >= sizeof(magic) && !memcmp(head, magic, sizeof(magic));
}

/* The format's name; NULL and why. */
static const char *read_as(int fd, struct pf_err *why)
{
	const struct source *source;
	struct pf_foreign f;

	if (pf_foreign_open(&f, fd, why))
		return NULL;
	source = find_source(&f);
	if (!source)
		refuse(&f, why);
	pf_foreign_close(&f);
	return source ? source->format : NULL;
}

bool pf_ingest_is_foreign(int fd)
{
	struct pf_err ignored = { 0 };

	return fd >= 0 && read_as(fd, &ignored);
}

static int look(struct pf_input *input, struct pf_buf *head,
		struct pf_seen *seen, struct pf_err *err)
{
	int fd = pf_input_plain_fd(input);
	struct pf_err why = { 0 };

	(void)head;
	(void)err;
	if (fd < 0)
		pf_fail(&why, PF_EDATA, "is an SQLite database that is packed");
	else
		seen->format = read_as(fd, &why);
	snprintf(seen->why, sizeof(seen->why), "%s", why.text);
	return seen->format != NULL;
}

/* ---- reading ---- */

static int read_database(struct pf_ingest *in, struct pf_foreign *f,
			 struct pf_err *err)
{
	const struct source *source = find_source(f);
	const struct pf_reader_options options = {
		.os_calls = in->options->os_calls,
		.dir = in->directory,
	};
	struct pf_reader *reader;
	int rc;

	if (!source)
		return refuse(f, err);
	in->format_name = source->format;
	reader = source->open(f, &options, err);
	if (!reader)
		return -1;
	rc = pf_ingest_drain(in, reader, err);
	reader->free(reader);
	return rc;
}

static int read_sqlite(struct pf_ingest *in, struct pf_input *input,
		       const struct pf_buf *head, struct pf_err *err)
{
	int fd = pf_input_plain_fd(input), rc;
	struct pf_foreign f;

	(void)head;
	if (strcmp(pf_input_compression(input), "none") != 0)
		return pf_fail(err, PF_EDATA,
			       "is an SQLite database inside %s: unpack it "
			       "first",
			       pf_input_compression(input));
	if (fd < 0)
		return pf_fail(err, PF_EDATA,
			       "an SQLite database cannot be read from a pipe: "
			       "give the name of the file");
	if (pf_foreign_open(&f, fd, err))
		return -1;
	rc = read_database(in, &f, err);
	pf_foreign_close(&f);
	in->json_bytes = pf_input_size(input);
	return rc;
}

PF_INGEST_FORMAT(20, sqlite) = { "sqlite", pf_ingest_is_sqlite, read_sqlite,
				 look, false };
