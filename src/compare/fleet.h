/* SPDX-License-Identifier: MIT */
/*
 * Fleet databases: a summary of each rank of a job, or of many jobs, without
 * its events (schema/fleet/tables.sql).  "profan merge" writes them, and
 * they are closed under it: a fleet of fleets is a fleet.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/intern.h"
#include "base/mem.h"
#include "compare/diff_capture.h"
#include "show/doc.h"
#include "store/db.h"

#define PF_FLEET_APPLICATION_ID 0x70664602 /* "pfF\2" */
#define PF_FLEET_VERSION        2

/* id = rank_id << PF_FLEET_SHIFT | number of the row in the rank */
#define PF_FLEET_SHIFT 24

extern const struct pf_db_kind pf_fleet_kind;

/* Tables of what is of one rank, in the order in which they are written. */
extern const char *const pf_fleet_tables[];
#define PF_FLEET_TABLES 10

/* A row of the table "rank".  Texts NULL, numbers PF_NO_INT: not known. */
struct pf_fleet_rank {
	const char *capture;
	int64_t trace_id; /* in the database of the rank */
	int64_t rank, world_size;
	const char *labels, *error, *path, *db, *xxh128, *format;
	int64_t file_bytes, json_bytes, base_ns, first_ns, last_ns;
	int64_t event_count, stored_count, metadata_count, paired_count;
	int64_t skipped_count;
};

/* A path that is seen from a folder, without "." and "..". */
char *pf_place_from(const char *folder, const char *path);

/*
 * The database of a rank, which the caller frees: it is there, and of the
 * trace that was merged.  PF_EUSAGE if there is no such rank, or none of it
 * alone; PF_EDATA if it could not be read or was not kept.
 */
int pf_fleet_rank_take(const char *fleet, int64_t rank, char **path,
		       struct pf_err *err);

/*
 * Writing a fleet: strings get their numbers in the order of their first use,
 * and rows are the fields of structs (show/doc.h).  Memory grows with the
 * number of distinct strings.
 */

struct pf_fleet_out {
	struct pf_db *db; /* borrowed, of pf_fleet_kind */
	struct pf_intern texts;
	sqlite3_stmt *text;
	int64_t rank_id; /* that is being written */
};

/*
 * What is kept of each step or GPU, each said once: member and column, and the
 * title and kind that lists of ranks have it by.  Of a rank it is the mean of
 * its whole steps, of a capture that of those of all ranks; PF_ABSENT: lists
 * have it not.  Of a step they are figures that captures are followed by over
 * time, counts as steps.h has them; night: flags of the column that nights have
 * it in.
 */
struct pf_fleet_figure {
	struct pf_field of;
	enum pf_step_figure figure;
	unsigned night;
};

#define PF_FLEET_FIGURES 16 /* of a table, at most */
#define PF_FLEET_COLUMNS 40 /* all, at most */

/* The columns of a table; the first figure is what the others are parts of. */
struct pf_fleet_figures {
	const char *table;
	const char *unit, *of, *each; /* SQL: what, of which, by what */
	const struct pf_fleet_figure *items;
	const struct pf_field *others; /* that are only kept */
	size_t count, other_count;
	const char *what; /* "step", "GPU" */
	const char *list, *list_title, *spread_title;
	struct pf_col unit_col;
	bool is_mean; /* of so many units, not of one */
};
extern const struct pf_fleet_figures pf_fleet_step_figures,
	pf_fleet_device_figures;

/* Sums of figures: these columns, then they.  unit: steps, or a GPU. */
enum pf_fleet_sum {
	PF_FLEET_CAPTURE_ID,
	PF_FLEET_CAPTURE,
	PF_FLEET_RANK,
	PF_FLEET_UNIT,
	PF_FLEET_SUMS
};
sqlite3_stmt *pf_fleet_sums_prepare(struct pf_db *db,
				    const struct pf_fleet_figures *figures);

/*
 * Digests of ranks in a fleet (analysis/ranks/digest.h): what 'profan ranks' looks at,
 * so that it answers of a fleet as of the databases of its ranks.  They are
 * packed, some 20 bytes a collective.
 */

/*
 * All of a capture, in the order of ranks.  capture NULL: of the only one;
 * PF_EUSAGE if there are several, or none of that name.
 */
struct pf_fleet_digest_sink {
	int (*take)(void *context, const void *data, size_t len,
		    struct pf_err *err);
	void *context;
};
int pf_fleet_digests_read(struct pf_db *db, const char *capture,
			  const struct pf_fleet_digest_sink *sink);

/*
 * What the ranks of a capture have under a label: values[i] of ranks[i], kept
 * in "texts", or NULL.  Ranks are ascending.
 */
int pf_fleet_label_of(struct pf_db *db, const char *capture, const char *key,
		      const int64_t *ranks, size_t count, const char **values,
		      struct pf_arena *texts);

/*
 * The summary of a rank: what the commands find in its database, with their
 * defaults, as rows of a fleet.  Figures are those of the analyses; none is
 * worked out here.
 */

/* Places of idle time that are kept. */
#define PF_FLEET_SITES 64
