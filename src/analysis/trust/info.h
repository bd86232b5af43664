/* SPDX-License-Identifier: MIT */
/*
 * What is in a database: its traces and where every event of them went,
 * devices, what the profiler was told, steps, events by category, repairs;
 * storage.
 */
#pragma once

#include "base/mem.h"
#include "show/doc.h"
#include "store/db.h"

/* Texts NULL, numbers PF_NO_INT: not known. */
struct pf_info_trace {
	int64_t trace_id, rank, world_size, file_bytes, span_ns, span, cycle;
	const char *path, *format, *compression, *xxh128, *worker;
};

/* Devices that are described alike; devices: their numbers. */
struct pf_info_device {
	int64_t sm_count, memory_bytes;
	const char *name, *compute, *devices;
};

/* The profiler steps of a trace. */
struct pf_info_steps {
	int64_t trace_id, step_count, first_step, last_step;
	int64_t min_ns, mean_ns, max_ns;
};

/* A key of traces beside their events; value: if all say the same. */
struct pf_info_option {
	const char *key, *value;
	int64_t trace_count;
};

/* Threads ("host"), streams and other tracks. */
struct pf_info_tracks {
	const char *class;
	int64_t track_count, event_count;
};

/* A zero-initialised struct is an empty result; it owns all it points to. */
struct pf_info {
	struct pf_info_trace *traces;
	struct pf_info_device *devices;
	struct pf_info_steps *steps;
	struct pf_info_tracks *tracks;
	struct pf_info_option *options;
	size_t trace_count, device_count, step_count, tracks_count;
	size_t option_count;
	struct pf_arena texts;
};

void pf_info_release(struct pf_info *info);

/* The document; what others read of it stays in "kept", or NULL. */
int pf_info(struct pf_db *db, struct pf_info *kept, struct pf_doc *doc);

/*
 * What the tables of the database take, as one more of the document: it reads
 * every page.
 */
int pf_info_storage(struct pf_db *db, struct pf_doc *doc);

/*
 * Reading a database back, before what it was made of is removed: the pages
 * and indexes of the file as SQLite checks them, every column of every block
 * with its checksum, and the events of each track and trace against what was
 * counted while they were written.
 */

/*
 * *event_count: events that were read back.  PF_EDB and where, if anything is
 * not as it was written.
 */
int pf_check(struct pf_db *db, int64_t *event_count);
