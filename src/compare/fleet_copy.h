/* SPDX-License-Identifier: MIT */
/*
 * Reading fleets that are merged: few are open at once, for a fleet may be
 * made of thousands.
 */
#ifndef PF_COMPARE_FLEET_COPY_H
#define PF_COMPARE_FLEET_COPY_H

#include "base/buf.h"
#include "base/intern.h"
#include "compare/fleet_put.h"

#define PF_FLEET_OPEN    16 /* at once */
#define PF_FLEET_COLUMNS 40 /* of a table, at most */

/* A fleet that is merged.  Zero-initialised but for these: */
struct pf_fleet_part {
	const char *path;    /* borrowed; or NULL: */
	struct pf_db *given; /* always open */
	struct pf_db own;
	sqlite3_stmt *rows[PF_FLEET_TABLES], *text;
	struct pf_map texts; /* its strings -> those of the output */
	bool is_open;
	uint64_t used; /* when last */
};

struct pf_fleet_copy {
	struct pf_fleet_out *out; /* borrowed */
	struct pf_fleet_part *parts;
	size_t part_count, open_count;
	uint64_t clock;
	struct pf_fleet_columns {
		struct pf_buf list; /* "id, rank_id, name_id" */
		bool is_text[PF_FLEET_COLUMNS];
		int count;
	} columns[PF_FLEET_TABLES];
	sqlite3_stmt *insert[PF_FLEET_TABLES];
};

int pf_fleet_copy_init(struct pf_fleet_copy *c, struct pf_fleet_out *out,
		       struct pf_fleet_part *parts, size_t part_count,
		       struct pf_err *err);
void pf_fleet_copy_release(struct pf_fleet_copy *c);

/* The database of a part, open until another one is asked for. */
struct pf_db *pf_fleet_part_db(struct pf_fleet_copy *c, size_t part,
			       struct pf_err *err);

/* Rows of a rank of a part become those of out->rank_id. */
int pf_fleet_copy_rank(struct pf_fleet_copy *c, size_t part, int64_t rank_id,
		       struct pf_err *err);

#endif
