/* SPDX-License-Identifier: MIT */
/*
 * Databases of other programs: which they are is said by their tables.  Those
 * of Nsight Systems are read, in the order of their tables and rows; others
 * are refused by name.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/ingest_impl.h"
#include "nsys/nsys.h"
#include "store/db.h"

#define BATCH_EVENTS 32768u
#define NAMED        10 /* tables of a database that nobody knows */

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

static int refuse(struct pf_foreign *f, struct pf_err *err)
{
	if (f->application_id == PF_APPLICATION_ID)
		return pf_fail(err, PF_EDATA,
			       "is a database of profan and no trace; commands "
			       "take it as it is");
	if (pf_foreign_table(f, "rocpd_api") && pf_foreign_table(f, "rocpd_op"))
		return pf_fail(err, PF_EDATA,
			       "is a database of rocmProfileData (RPD), which "
			       "profan does not read");
	if (pf_foreign_table(f, "rocpd_kernel_dispatch") ||
	    pf_foreign_has_view(f, "rocpd_kernel_dispatch"))
		return pf_fail(err, PF_EDATA,
			       "is a rocpd database of rocprofv3, which profan "
			       "does not read");
	if (pf_foreign_table(f, "read_only_ops") &&
	    pf_foreign_table(f, "db_version"))
		return pf_fail(err, PF_EDATA,
			       "is a database of DLProf, which has no trace; "
			       "the report of Nsight Systems that it was made "
			       "of has");
	if (pf_foreign_table(f, "KERN"))
		return pf_fail(err, PF_EDATA,
			       "is a database of rocprof (version 1), which "
			       "profan does not read");
	return refuse_unknown(f, err);
}

bool pf_ingest_is_sqlite(const char *head, size_t len)
{
	static const char magic[] = "SQLite format 3";

	return len >= sizeof(magic) && !memcmp(head, magic, sizeof(magic));
}

static bool is_trace(const struct pf_foreign *f)
{
	return pf_nsys_claims(f) && f->application_id != PF_APPLICATION_ID;
}

static bool is_read(int fd, struct pf_err *why)
{
	struct pf_foreign f;
	bool is;

	if (pf_foreign_open(&f, fd, why))
		return false;
	is = is_trace(&f);
	if (!is)
		refuse(&f, why);
	pf_foreign_close(&f);
	return is;
}

bool pf_ingest_is_foreign(int fd)
{
	struct pf_err ignored = { 0 };

	return fd >= 0 && is_read(fd, &ignored);
}

static int look(struct pf_input *input, struct pf_buf *head,
		struct pf_seen *seen, struct pf_err *err)
{
	int fd = pf_input_plain_fd(input);
	struct pf_err why = { 0 };
	bool is = false;

	(void)head;
	(void)err;
	if (fd < 0)
		pf_fail(&why, PF_EDATA, "is an SQLite database that is packed");
	else
		is = is_read(fd, &why);
	snprintf(seen->why, sizeof(seen->why), "%s", why.text);
	return is;
}

/* ---- reading ---- */

struct reading {
	struct pf_ingest *in;
	struct pf_nsys *nsys;
	pthread_mutex_t lock; /* of the runs; nobody else wants it */
	struct pf_ingest_sorter *sorter;
	uint32_t *type_ids;
	size_t type_ids_cap;
};

static int settle(struct reading *r, struct pf_err *err)
{
	struct pf_ingest *in = r->in;
	struct pf_parsed *parsed = pf_nsys_parsed(r->nsys);
	int64_t first_order = in->event_count;

	pf_ingest_count(in, &parsed->batch);
	if (in->options->progress)
		in->options->progress(in->bytes_before,
				      in->events_before + in->event_count);
	return pf_ingest_settle(in, parsed, &r->type_ids, &r->type_ids_cap,
				err) ||
			       pf_ingest_write_runs(in, r->sorter, parsed,
						    r->type_ids, first_order,
						    &r->lock, err)
		       ? -1
		       : 0;
}

static int read_all(struct reading *r, struct pf_err *err)
{
	size_t most = r->in->options->chunk_bytes;
	int rc;

	/* Tests choose small chunks: then batches are small too. */
	if (!most || most > BATCH_EVENTS)
		most = BATCH_EVENTS;
	do {
		rc = pf_nsys_fill(r->nsys, most, err);
		if (rc >= 0 && settle(r, err))
			rc = -1;
	} while (rc == 1);
	return rc;
}

static void note_facts(struct reading *r)
{
	char key[128];
	int64_t value;

	for (size_t i = 0; pf_nsys_fact(r->nsys, i, key, sizeof(key), &value);
	     i++)
		pf_ingest_note_fact(r->in, key, value);
}

static int read_database(struct pf_ingest *in, struct pf_foreign *f,
			 struct pf_err *err)
{
	const struct pf_nsys_options options = {
		.os_calls = in->options->os_calls,
		.dir = in->directory,
	};
	struct reading r = { .in = in };
	int rc;

	r.nsys = pf_nsys_new(f, &options, err);
	if (!r.nsys)
		return -1;
	r.sorter = pf_ingest_sorter_new();
	pthread_mutex_init(&r.lock, NULL);
	rc = read_all(&r, err);
	if (!rc)
		note_facts(&r);
	pthread_mutex_destroy(&r.lock);
	pf_ingest_sorter_free(r.sorter);
	pf_nsys_free(r.nsys);
	free(r.type_ids);
	return rc;
}

static int read_nsys(struct pf_ingest *in, struct pf_input *input,
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
	rc = is_trace(&f) ? read_database(in, &f, err) : refuse(&f, err);
	pf_foreign_close(&f);
	in->json_bytes = pf_input_size(input);
	in->found_list = true;
	return rc;
}

PF_INGEST_FORMAT(20, nsys) = { "nsys", pf_ingest_is_sqlite, read_nsys, look,
			       false };
