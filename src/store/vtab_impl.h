/* SPDX-License-Identifier: MIT */
/* What the files of the virtual tables share.  Not for others. */
#ifndef PF_STORE_VTAB_IMPL_H
#define PF_STORE_VTAB_IMPL_H

#include "store/argtext.h"
#include "store/vtab.h"
#include "store/vtab_group.h"
#include "store/vtab_scan.h"

/* Columns of event, op and frame, in the order of their declaration. */
enum event_column {
	EV_ID,
	EV_TRACE_ID,
	EV_TRACK_ID,
	EV_SEQ,
	EV_PH,
	EV_CATEGORY,
	EV_KIND,
	EV_NAME,
	EV_NAME_ID,
	EV_START_NS,
	EV_DUR_NS,
	EV_END_NS,
	EV_PARENT_ID,
	EV_EXTERNAL_ID,
	EV_CORRELATION,
	EV_ARGS,
	EV_FLOW_ID,
	EV_FILE_ORDER,
	EV_COLUMN_COUNT
};

enum arg_column { ARG_EVENT_ID, ARG_KEY, ARG_VALUE, ARG_TYPE };

/* What kind of table; also which events it has. */
struct pf_vtab_shape {
	const char *name, *declaration;
	uint32_t kinds;
	bool is_arg;
};

/* Shared by the tables of a connection; the last one frees it. */
struct pf_vtab_shared {
	struct pf_lexicon *lexicon; /* NULL while no table is connected */
	size_t group_bytes;
};

struct pf_vtab {
	sqlite3_vtab base; /* first: SQLite's own */
	const struct pf_vtab_shape *shape;
	struct pf_vtab_shared *shared;
	struct pf_lexicon *lexicon;
};

struct pf_vtab_cursor {
	sqlite3_vtab_cursor base; /* first */
	bool is_ready, is_eof;
	struct pf_scan scan;
	struct pf_vtab_group group; /* in use if group.key is not NONE */
	struct pf_buf text;         /* the text given out last */
	/* table arg: the members of the event at hand */
	struct pf_buf args, wanted_key;
	bool has_wanted_key;
	struct pf_argtext walk;
	struct pf_arg member;
};

/* vtab_plan.c: which constraints help, and what xFilter gets of them. */
int pf_vtab_plan(struct pf_vtab *v, sqlite3_index_info *info);
int pf_vtab_apply(struct pf_vtab_cursor *c, int plan, const char *codes,
		  sqlite3_value **values, struct pf_err *err);

/* vtab_column.c: the value of a column of the event or member at hand. */
int pf_vtab_event_column(struct pf_vtab_cursor *c, sqlite3_context *out,
			 int column, struct pf_err *err);
int pf_vtab_arg_column(struct pf_vtab_cursor *c, sqlite3_context *out,
		       int column, struct pf_err *err);
/* To the next member of table arg, across events: 1, 0, -1. */
int pf_vtab_next_arg(struct pf_vtab_cursor *c, struct pf_err *err);

#endif
