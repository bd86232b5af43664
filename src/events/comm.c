/* SPDX-License-Identifier: MIT */
/*
 * The rows of comm_event are in the order of gpu_event: one of them is held,
 * and the event it is about will be asked about.  Those of traces that nobody
 * asks about are leapt over, so that a trace of many costs what it has.
 */
#include "config.h"

#include <stdbool.h>
#include <stdlib.h>

#include "events/comm.h"
#include "base/mem.h"
#include "store/query.h"
#include "formats/event.h"

struct pf_comm {
	struct pf_db *db;
	sqlite3_stmt *rows; /* NULL: a database of before comm_event */
	bool has_row;
	int64_t id, trace_id, event_id;
	struct pf_comm_op op;
};

static const struct pf_comm_op no_op = { .record_args = PF_ID_NONE,
					 .name = PF_ID_NONE };

const char *pf_comm_rule_words(enum pf_comm_rule rule)
{
	static const char *const words[PF_COMM_RULES] = {
		[PF_COMM_NONE] = "",
		[PF_COMM_NAME] = "name of the kernel",
		[PF_COMM_RECORD] = "launched in record_param_comms",
		[PF_COMM_C10D] = "launched in c10d::",
		[PF_COMM_NCCL] = "launched in nccl:",
		[PF_COMM_GLOO] = "launched in gloo:",
		[PF_COMM_MPI] = "launched in mpi:",
		[PF_COMM_UCC] = "launched in ucc:",
		[PF_COMM_XCCL] = "launched in xccl:",
		[PF_COMM_HCCL] = "launched in hccl:",
	};

	return words[rule];
}

static uint32_t id_or_none(sqlite3_stmt *stmt, int column)
{
	return sqlite3_column_type(stmt, column) == SQLITE_NULL
		       ? PF_ID_NONE
		       : (uint32_t)sqlite3_column_int64(stmt, column);
}

static int next_row(struct pf_comm *c, struct pf_err *err)
{
	int rc = pf_db_step(c->db, c->rows, err), rule;

	c->has_row = rc == 1;
	if (rc != 1)
		return rc;
	c->op = no_op;
	c->trace_id = sqlite3_column_int64(c->rows, 0);
	c->event_id = sqlite3_column_int64(c->rows, 1);
	rule = sqlite3_column_int(c->rows, 2);
	if (rule > PF_COMM_NAME && rule < PF_COMM_RULES)
		c->op.rule = (enum pf_comm_rule)rule;
	c->op.record_id = sqlite3_column_int64(c->rows, 3);
	c->op.record_args = id_or_none(c->rows, 4);
	c->op.name = id_or_none(c->rows, 5);
	c->id = sqlite3_column_int64(c->rows, 6);
	return 0;
}

/* 1: *id is of the first row from a number on, and what its trace is. */
static int row_from(struct pf_comm *c, sqlite3_stmt *st, int64_t number,
		    int64_t *id, int64_t *trace_id, struct pf_err *err)
{
	int rc;

	sqlite3_reset(st);
	sqlite3_bind_int64(st, 1, number);
	rc = pf_db_step(c->db, st, err);
	if (rc == 1) {
		*id = sqlite3_column_int64(st, 0);
		*trace_id = sqlite3_column_int64(st, 1);
	}
	return rc;
}

/* The row that is held is of a trace before this one: go to its first. */
static int leap(struct pf_comm *c, int64_t trace_id, struct pf_err *err)
{
	sqlite3_stmt *last = pf_named_prepare(c->db, "comm_last", err);
	sqlite3_stmt *place =
		last ? pf_named_prepare(c->db, "comm_place", err) : NULL;
	int64_t low = c->id, high = low + 1, id, trace;
	int rc = place ? pf_db_step(c->db, last, err) : -1;

	if (rc == 1)
		high = sqlite3_column_int64(last, 0);
	/* rows up to low are before it, those from high + 1 on are not */
	while (rc >= 0 && high > low) {
		int64_t middle = low + (high - low) / 2 + 1;

		rc = row_from(c, place, middle, &id, &trace, err);
		if (rc == 1 && trace < trace_id)
			low = id;
		else
			high = middle - 1;
	}
	sqlite3_finalize(last);
	sqlite3_finalize(place);
	if (rc < 0)
		return -1;
	sqlite3_reset(c->rows);
	sqlite3_bind_int64(c->rows, 1, low + 1);
	return next_row(c, err);
}

int pf_comm_at(struct pf_comm *c, int64_t trace_id, int64_t event_id,
	       struct pf_comm_op *out, struct pf_err *err)
{
	*out = no_op;
	if (c->has_row && c->trace_id < trace_id && leap(c, trace_id, err) < 0)
		return -1;
	if (!c->has_row || c->event_id != event_id)
		return 0;
	*out = c->op;
	return next_row(c, err);
}

static int has_table(struct pf_db *db, bool *has, struct pf_err *err)
{
	sqlite3_stmt *stmt = pf_named_prepare(db, "comm_stored", err);
	int rc = stmt ? pf_db_step(db, stmt, err) : -1;

	*has = rc == 1 && sqlite3_column_int64(stmt, 0) > 0;
	sqlite3_finalize(stmt);
	return rc < 0 ? -1 : 0;
}

struct pf_comm *pf_comm_new(struct pf_db *db, struct pf_err *err)
{
	struct pf_comm *c = pf_calloc(1, sizeof(*c));
	bool has;

	c->db = db;
	if (!has_table(db, &has, err)) {
		if (!has)
			return c;
		c->rows = pf_named_prepare(db, "comm_events", err);
		if (c->rows)
			sqlite3_bind_int64(c->rows, 1, INT64_MIN);
		if (c->rows && !next_row(c, err))
			return c;
	}
	pf_comm_free(c);
	return NULL;
}

void pf_comm_free(struct pf_comm *c)
{
	if (!c)
		return;
	sqlite3_finalize(c->rows);
	free(c);
}
