/* SPDX-License-Identifier: MIT */
/*
 * Traces in, one database out.
 *
 *   read    workers parse chunks of the file, sort each chunk's events by
 *           track and write them as sorted runs, past 16 MB of
 *           them to an unlinked file
 *   merge   the runs of a track become its column blocks, in nesting order;
 *           parents, launch calls, steps and annotations fall out
 *   rows    GPU events, joined to their launch calls, become rows
 *
 * The database is built as OUT.partial and renamed when it is complete; what
 * was at OUT stays until then.  Memory does not grow with the trace.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/xxh128.h"
#include "store/db.h"
#include "formats/logs/telemetry.h"
#include "formats/json/chrome.h"
#include "formats/repair.h"

/* What one trace brought; the strings are borrowed for the call. */
struct pf_ingest_report {
	const char *path;
	int64_t trace_id, events, json_bytes, file_bytes;
	const struct pf_repairs *repairs;
};

/*
 * Work on the finished events of a trace that goes on beside the writing of
 * its GPU rows and, as threads have time, beside the merge of the next trace.
 * What all traces share (strings, sets of arguments, types) is to be asked of
 * in begin(), where it is that of this trace and of those before it; later it
 * may or may not be the next one's, too.  prepare() reads what is of this trace
 * and must not write; store() then writes.
 */
struct pf_ingest_extra {
	void *(*begin)(struct pf_db *db, int64_t trace_id, struct pf_err *err);
	int (*prepare)(void *work, struct pf_err *err);
	int (*store)(void *work, struct pf_err *err);
	void (*release)(void *work);
};

struct pf_ingest_options {
	const char *const *paths;
	size_t path_count;
	const int64_t *ranks; /* by their names, as pf_source_ranks() has them;
				 NULL: of these files alone */
	const char *out;
	struct pf_db *into; /* instead: a new one, stays open */
	bool strict;        /* any repair or skip is an error */
	bool keep_going;  /* a file that cannot be read is a row of "unread" */
	bool salvage;     /* keep what is before the cut of a snapshot */
	bool skip_python; /* leave out python_function events, counted */
	bool os_calls;    /* nsys: keep calls of the system's libraries */
	struct pf_tele_options telemetry; /* what logs do not say */
	int64_t rank;       /* of the first trace, -1 = as the trace says */
	unsigned process;   /* of one file that was made of the traces of
			       several: of this alone, from 1; 0: of all */
	size_t chunk_bytes; /* 0 = default; content does not depend on it */
	size_t room_bytes;  /* of sorted events in memory; the same */
	const char *cache;  /* mark it as a cache of this; NULL: it is none */
	unsigned threads;   /* 0: one for each processor, at most 4 */
	enum pf_scanner scanner;
	const struct pf_ingest_extra *extra;
	/* called once per trace, when it has been read */
	void (*report)(const struct pf_ingest_report *report, void *arg);
	void *report_arg;
	/* with keep_going, of each such file, with report_arg */
	void (*unread)(const char *path, const char *why, void *arg);
	/* called by the readers with bytes of the file and events so far */
	void (*progress)(int64_t bytes, int64_t events);
	/* or NULL; with each piece that was read, by one thread at a time */
	void (*counted)(const struct pf_parsed *piece);
	/* called when what follows the reading of a trace begins, by its name;
	 * NULL: the next is read */
	void (*phase)(const char *name);
};

/* The digest of a process's trace, from that of the file that has it. */
void pf_ingest_process_digest(const char *file, size_t process,
			      char out[PF_XXH128_TEXT]);

/* Fails also with keep_going if not one file could be read. */
int pf_ingest(const struct pf_ingest_options *options, struct pf_err *err);

/* What the beginning of a file says of it. */
struct pf_seen {
	const char *format;                   /* trace.format; NULL: no trace */
	char why[1024];                       /* not: "is empty" */
	int64_t rank, world_size, file_bytes; /* -1: it does not say */
	bool is_broken;      /* no trace, and nothing else that is whole */
	bool needs_interval; /* as "why" says, which is set all the same */
};

/*
 * Is this file a trace, as pf_ingest() would read it?  1 yes, 0 no, -1 it
 * cannot be read.  Reads to the first event.  "seen" may be NULL.
 */
int pf_ingest_probe(const char *path, struct pf_seen *seen, struct pf_err *err);

/*
 * The format of an open database that is the trace of another program.  NULL:
 * it is not, or cannot be read, and err says why.
 */
const char *pf_ingest_foreign(int fd, struct pf_err *err);

/* Bytes of all files together; 0 if one is not a regular file. */
int64_t pf_ingest_total_bytes(const struct pf_ingest_options *options);
