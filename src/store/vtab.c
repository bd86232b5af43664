/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "store/vtab.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/asset.h"
#include "store/vtab_impl.h"

#define EVENT_COLUMNS                                                          \
	"CREATE TABLE x(id INTEGER PRIMARY KEY, trace_id INTEGER,"             \
	" track_id INTEGER, seq INTEGER, ph TEXT, category TEXT,"              \
	" kind INTEGER, name TEXT, name_id INTEGER, start_ns INTEGER,"         \
	" dur_ns INTEGER, end_ns INTEGER, parent_id INTEGER,"                  \
	" external_id INTEGER, correlation INTEGER, args TEXT,"                \
	" flow_id INTEGER, file_order INTEGER) WITHOUT ROWID"

static const struct pf_vtab_shape shapes[] = {
	{ "event", EVENT_COLUMNS, PF_KINDS_ALL, false },
	{ "op", EVENT_COLUMNS,
	  1u << PF_KIND_HOST | 1u << PF_KIND_CPU_OP | 1u << PF_KIND_ANNOTATION,
	  false },
	{ "frame", EVENT_COLUMNS, 1u << PF_KIND_PYTHON, false },
	{ "arg",
	  "CREATE TABLE x(event_id INTEGER, key TEXT, value, type TEXT,"
	  " PRIMARY KEY (event_id, key)) WITHOUT ROWID",
	  PF_KINDS_ALL, true },
};

/* What a module owns: which table it is, and what all tables share. */
struct module {
	const struct pf_vtab_shape *shape;
	struct pf_vtab_shared *shared;
	unsigned *users; /* of shared */
};

/* ---- errors ---- */

static int fail(sqlite3_vtab *base, const struct pf_err *err)
{
	sqlite3_free(base->zErrMsg);
	base->zErrMsg = sqlite3_mprintf("%s", err->text);
	return err->code == PF_EIO ? SQLITE_IOERR : SQLITE_CORRUPT_VTAB;
}

/* ---- tables ---- */

static int connect_table(sqlite3 *sql, void *aux, int argc,
			 const char *const *argv, sqlite3_vtab **out,
			 char **message)
{
	struct module *m = aux;
	struct pf_vtab *v;
	int rc = sqlite3_declare_vtab(sql, m->shape->declaration);

	(void)argc;
	(void)argv;
	(void)message;
	if (rc)
		return rc;
	sqlite3_vtab_config(sql, SQLITE_VTAB_INNOCUOUS);
	v = pf_calloc(1, sizeof(*v));
	v->shape = m->shape;
	v->shared = m->shared;
	if (m->shared->lexicon)
		m->shared->lexicon->users++;
	else
		m->shared->lexicon =
			pf_lexicon_open(sql, m->shared->group_bytes);
	v->lexicon = m->shared->lexicon;
	*out = &v->base;
	return SQLITE_OK;
}

static int disconnect_table(sqlite3_vtab *base)
{
	struct pf_vtab *v = (struct pf_vtab *)base;

	if (v->lexicon->users == 1)
		v->shared->lexicon = NULL;
	pf_lexicon_close(v->lexicon);
	free(v);
	return SQLITE_OK;
}

static int best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	struct pf_vtab *v = (struct pf_vtab *)base;
	struct pf_err err = { 0 };

	if (pf_lexicon_load(v->lexicon, &err))
		return fail(base, &err);
	return pf_vtab_plan(v, info);
}

/* ---- cursors ---- */

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
	struct pf_vtab_cursor *c = pf_calloc(1, sizeof(*c));

	(void)base;
	*out = &c->base;
	return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
	struct pf_vtab_cursor *c = (struct pf_vtab_cursor *)base;

	pf_scan_release(&c->scan);
	pf_vtab_group_release(&c->group);
	pf_buf_release(&c->text);
	pf_buf_release(&c->args);
	pf_buf_release(&c->wanted_key);
	free(c);
	return SQLITE_OK;
}

static int next_row(sqlite3_vtab_cursor *base)
{
	struct pf_vtab_cursor *c = (struct pf_vtab_cursor *)base;
	struct pf_vtab *v = (struct pf_vtab *)base->pVtab;
	struct pf_err err = { 0 };
	int rc;

	if (v->shape->is_arg)
		rc = pf_vtab_next_arg(c, &err);
	else if (c->group.key != PF_GROUP_NONE)
		rc = pf_vtab_group_next(&c->group, &c->scan, &err);
	else
		rc = pf_scan_next(&c->scan, &err);
	c->is_eof = rc <= 0;
	return rc < 0 ? fail(base->pVtab, &err) : SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *base, int plan, const char *codes,
		  int argc, sqlite3_value **argv)
{
	struct pf_vtab_cursor *c = (struct pf_vtab_cursor *)base;
	struct pf_vtab *v = (struct pf_vtab *)base->pVtab;
	struct pf_err err = { 0 };

	(void)argc;
	c->is_eof = true;
	if (!c->is_ready) {
		if (pf_lexicon_load(v->lexicon, &err) ||
		    pf_scan_init(&c->scan, v->lexicon, &err)) {
			pf_scan_release(&c->scan);
			return fail(base->pVtab, &err);
		}
		c->is_ready = true;
	}
	memset(&c->walk, 0, sizeof(c->walk));
	if (pf_vtab_apply(c, plan, codes ? codes : "", argv, &err))
		return fail(base->pVtab, &err);
	return next_row(base);
}

static int is_eof(sqlite3_vtab_cursor *base)
{
	return ((struct pf_vtab_cursor *)base)->is_eof;
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *out, int i)
{
	struct pf_vtab_cursor *c = (struct pf_vtab_cursor *)base;
	const struct pf_vtab *v = (const struct pf_vtab *)base->pVtab;
	struct pf_err err = { 0 };
	int rc;

	rc = v->shape->is_arg ? pf_vtab_arg_column(c, out, i, &err)
			      : pf_vtab_event_column(c, out, i, &err);
	return rc ? fail(base->pVtab, &err) : SQLITE_OK;
}

static int no_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *out)
{
	(void)base;
	*out = 0;
	return SQLITE_OK;
}

/* Without xCreate: the tables are there by name alone. */
static const sqlite3_module methods = {
	.iVersion = 2,
	.xConnect = connect_table,
	.xBestIndex = best_index,
	.xDisconnect = disconnect_table,
	.xOpen = open_cursor,
	.xClose = close_cursor,
	.xFilter = filter,
	.xNext = next_row,
	.xEof = is_eof,
	.xColumn = column,
	.xRowid = no_rowid,
};

/* ---- registration ---- */

static void free_module(void *p)
{
	struct module *m = p;

	if (--*m->users == 0) {
		free(m->users);
		free(m->shared);
	}
	free(m);
}

int pf_vtab_register_with(sqlite3 *sql, size_t group_bytes, struct pf_err *err)
{
	size_t count = sizeof(shapes) / sizeof(*shapes);
	struct pf_vtab_shared *shared = pf_calloc(1, sizeof(*shared));
	unsigned *users = pf_calloc(1, sizeof(*users));
	int rc = SQLITE_OK;

	*users = (unsigned)count;
	shared->group_bytes = group_bytes;
	for (size_t i = 0; i < count; i++) {
		struct module *m = pf_calloc(1, sizeof(*m));

		m->shape = &shapes[i];
		m->shared = shared;
		m->users = users;
		/* SQLite frees the module, also when this fails. */
		if (sqlite3_create_module_v2(sql, shapes[i].name, &methods, m,
					     free_module))
			rc = SQLITE_ERROR;
	}
	if (rc ||
	    sqlite3_exec(sql, pf_asset("schema/views_read.sql", NULL), NULL,
			 NULL, NULL) ||
	    sqlite3_exec(sql, pf_asset("schema/views_event.sql", NULL), NULL,
			 NULL, NULL))
		return pf_fail(err, PF_EDB, "cannot register tables: %s",
			       sqlite3_errmsg(sql));
	return 0;
}

int pf_vtab_register(sqlite3 *sql, struct pf_err *err)
{
	return pf_vtab_register_with(sql, PF_VTAB_GROUP_BYTES, err);
}
