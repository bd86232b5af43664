/* SPDX-License-Identifier: MIT */
/*
 * Fleet databases: a summary of each rank of a job, or of many jobs, without
 * its events (schema/fleet/tables.sql).  "profan merge" writes them, and
 * they are closed under it: a fleet of fleets is a fleet.
 */
#ifndef PF_COMPARE_FLEET_H
#define PF_COMPARE_FLEET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "store/db.h"
#include "show/rows.h"

#define PF_FLEET_APPLICATION_ID 0x70664602 /* "pfF\2" */
#define PF_FLEET_VERSION        2

/* id = rank_id << PF_FLEET_SHIFT | number of the row in the rank */
#define PF_FLEET_SHIFT 24

extern const struct pf_db_kind pf_fleet_kind;

/* Tables of what is of one rank, in the order in which they are written. */
extern const char *const pf_fleet_tables[];
#define PF_FLEET_TABLES 10

/* Is this file a fleet database, which a merge may replace? */
bool pf_fleet_is(const char *path);

/*
 * Is this a database of one trace, which has this digest?  False with err set:
 * it cannot be opened.
 */
bool pf_fleet_is_of_trace(const char *path, const char *digest,
			  struct pf_err *err);

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

#endif
