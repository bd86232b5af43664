/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "store/lexicon.h"

#include "base/mem.h"
#include "base/search.h"
#include "formats/event.h"

struct pf_lexicon *pf_lexicon_open(sqlite3 *sql, size_t group_bytes)
{
	struct pf_lexicon *d = pf_calloc(1, sizeof(*d));

	d->db.sql = sql;
	d->users = 1;
	d->group_bytes = group_bytes;
	return d;
}

static void release(struct pf_lexicon *d)
{
	for (size_t i = 0; i < d->string_count; i++)
		free(d->string[i].text);
	free(d->string);
	for (size_t i = 0; i < d->type_count; i++) {
		free(d->type[i].ph);
		free(d->type[i].category);
	}
	free(d->type);
	free(d->track);
	for (size_t i = 0; d->args && i < PF_LEXICON_ARGS; i++)
		free(d->args[i].text);
	free(d->args);
	free(d->args_text);
	sqlite3_finalize(d->get_string);
	sqlite3_finalize(d->get_args);
	sqlite3_finalize(d->find_string);
}

void pf_lexicon_close(struct pf_lexicon *d)
{
	if (--d->users)
		return;
	release(d);
	free(d);
}

/* ---- what is read at once ---- */

static int load_types(struct pf_lexicon *d, struct pf_err *err)
{
	PF_STMT(st) = pf_db_prepare(
		&d->db,
		"SELECT id, ph, category, kind,"
		" dense_rank() OVER (ORDER BY category) - 1"
		" FROM main.event_type WHERE id >= 0 AND id < 65536"
		" ORDER BY id",
		err);
	size_t cap = 0;
	int rc;

	while ((rc = pf_db_step(&d->db, st, err)) > 0) {
		size_t id = (size_t)sqlite3_column_int64(st, 0);
		struct pf_lexicon_type *t;
		const char *ph = (const char *)sqlite3_column_text(st, 1);
		const char *category = (const char *)sqlite3_column_text(st, 2);
		int64_t kind = sqlite3_column_int64(st, 3);
		int64_t rank = sqlite3_column_int64(st, 4);

		d->type = pf_grow_zero(d->type, &cap, id + 1, sizeof(*d->type));
		t = d->type + id;
		d->type_count = id + 1;
		t->ph = pf_strdup(ph ? ph : "");
		t->category = pf_strdup(category ? category : "");
		t->kind = kind >= 0 && kind < PF_KIND_COUNT ? (uint32_t)kind
							    : PF_KIND_HOST;
		t->category_rank = (uint32_t)rank;
		if (d->category_count <= (size_t)rank)
			d->category_count = (size_t)rank + 1;
	}
	return rc;
}

static int load_tracks(struct pf_lexicon *d, struct pf_err *err)
{
	sqlite3_stmt *st =
		pf_db_prepare(&d->db,
			      "SELECT id, trace_id FROM main.track ORDER BY id"
			      " LIMIT 1048576",
			      err);
	size_t cap = 0;
	int rc;

	while ((rc = pf_db_step(&d->db, st, err)) > 0) {
		d->track = pf_grow(d->track, &cap, d->track_count + 1,
				   sizeof(*d->track));
		d->track[d->track_count].id = sqlite3_column_int64(st, 0);
		d->track[d->track_count++].trace_id =
			sqlite3_column_int64(st, 1);
	}
	sqlite3_finalize(st);
	return rc;
}

static int load_shape(struct pf_lexicon *d, struct pf_err *err)
{
	int64_t count, has_inline;

	PF_TRY(pf_db_number(&d->db, "SELECT max(id) + 1 FROM main.string",
			    &count, err));
	PF_TRY(pf_db_number(&d->db,
			    "SELECT 1 FROM main.block_column"
			    " WHERE column_id = 8 LIMIT 1",
			    &has_inline, err));
	if (count < 0 || count > PF_LEXICON_IDS_MAX)
		count = PF_LEXICON_IDS_MAX;
	d->has_inline = has_inline;
	d->string = pf_calloc((size_t)count + 1, sizeof(*d->string));
	d->string_count = (size_t)count;
	d->args = pf_calloc(PF_LEXICON_ARGS, sizeof(*d->args));
	return 0;
}

int pf_lexicon_load(struct pf_lexicon *d, struct pf_err *err)
{
	if (d->is_loaded)
		return 0;
	release(d);
	d->string = NULL;
	d->type = NULL;
	d->track = NULL;
	d->args = NULL;
	d->args_text = NULL;
	d->get_string = d->get_args = d->find_string = NULL;
	d->string_count = d->type_count = d->track_count = 0;
	d->category_count = 0;
	PF_TRY(load_shape(d, err));
	PF_TRY(load_types(d, err));
	PF_TRY(load_tracks(d, err));
	d->get_string = pf_db_prepare(
		&d->db, "SELECT text FROM main.string WHERE id = ?1", err);
	d->get_args = pf_db_prepare(
		&d->db, "SELECT text FROM main.argset WHERE id = ?1", err);
	d->find_string = pf_db_prepare(
		&d->db, "SELECT id FROM main.string WHERE text = ?1", err);
	if (!d->get_string || !d->get_args || !d->find_string)
		return -1;
	d->is_loaded = true;
	return 0;
}

/* ---- look-ups ---- */

/* Run "st" for an id: a copy of its text in *text, or 0 or -1. */
static int get_text(struct pf_lexicon *d, sqlite3_stmt *st, uint32_t id,
		    char **text, size_t *len, struct pf_err *err)
{
	int rc;

	sqlite3_bind_int64(st, 1, id);
	rc = pf_db_step(&d->db, st, err);
	if (rc > 0) {
		const unsigned char *p = sqlite3_column_text(st, 0);

		*len = p ? (size_t)sqlite3_column_bytes(st, 0) : 0;
		*text = pf_memdup0(p ? (const char *)p : "", *len);
	}
	sqlite3_reset(st);
	return rc;
}

int pf_lexicon_string(struct pf_lexicon *d, uint32_t id, const char **text,
		      uint32_t *len, struct pf_err *err)
{
	struct pf_lexicon_text *s = d->string + id;
	char *copy;
	size_t n;
	int rc;

	if (id < d->string_count && s->text) {
		*text = s->text;
		*len = s->len;
		return 1;
	}
	rc = get_text(d, d->get_string, id, &copy, &n, err);
	if (rc <= 0)
		return rc;
	*text = copy;
	*len = (uint32_t)n;
	if (id < d->string_count && d->text_bytes + n < PF_LEXICON_TEXT_MAX) {
		d->text_bytes += n + 32;
		s->text = copy;
		s->len = (uint32_t)n;
		return 1;
	}
	free(d->args_text);
	d->args_text = copy;
	return 2;
}

int64_t pf_lexicon_find_string(struct pf_lexicon *d, const char *text, int len,
			       struct pf_err *err)
{
	int64_t id = -1;
	int rc;

	sqlite3_bind_text(d->find_string, 1, text, len, SQLITE_STATIC);
	rc = pf_db_step(&d->db, d->find_string, err);
	if (rc > 0)
		id = sqlite3_column_int64(d->find_string, 0);
	sqlite3_reset(d->find_string);
	sqlite3_clear_bindings(d->find_string);
	return rc < 0 ? -2 : id;
}

int pf_lexicon_args_text(struct pf_lexicon *d, uint32_t id, const char **text,
			 size_t *len, struct pf_err *err)
{
	struct pf_lexicon_args *a = d->args + id % PF_LEXICON_ARGS;
	char *copy;
	int rc;

	if (a->text && a->id == id) {
		*text = a->text;
		*len = a->len;
		return 1;
	}
	rc = get_text(d, d->get_args, id, &copy, len, err);
	if (rc <= 0)
		return rc;
	*text = copy;
	if (*len <= PF_LEXICON_ARGS_MAX) {
		free(a->text);
		a->text = copy;
		a->len = *len;
		a->id = id;
	} else {
		free(d->args_text);
		d->args_text = copy;
	}
	return 1;
}

int64_t pf_lexicon_trace(const struct pf_lexicon *d, uint32_t track_id)
{
	size_t low = PF_SEARCH(i, d->track_count, d->track[i].id < track_id);

	return low < d->track_count && d->track[low].id == track_id
		       ? d->track[low].trace_id
		       : -1;
}
