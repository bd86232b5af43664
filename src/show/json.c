/* SPDX-License-Identifier: MIT */
/*
 * One object per document, one line per row.  Levels: 1 the document, 2
 * "scalars", "tables" and "notes", 3 the rows of a table.
 */
#include "config.h"

#include "show/json.h"

#include <stdio.h>
#include <string.h>

#include "show/format.h"

static void add_cell(struct pf_jsonw *w, const struct pf_cell *cell)
{
	switch (cell->type) {
	case PF_CELL_NULL:
		pf_jsonw_null(w);
		break;
	case PF_CELL_INT:
		pf_jsonw_int(w, cell->v.i);
		break;
	case PF_CELL_REAL:
		pf_jsonw_real(w, cell->v.d);
		break;
	case PF_CELL_TEXT:
		pf_jsonw_string(w, cell->v.text.s, cell->v.text.len);
		break;
	}
}

static void begin(struct pf_printer *p)
{
	p->json.indent_depth = 3;
	pf_jsonw_object(&p->json);
	pf_jsonw_key(&p->json, "command");
	pf_jsonw_string(&p->json, p->style.command, strlen(p->style.command));
	pf_jsonw_key(&p->json, "version");
	pf_jsonw_int(&p->json, PF_DOC_VERSION);
}

static void scalars(struct pf_printer *p, const struct pf_scalar *s,
		    size_t count)
{
	pf_jsonw_key(&p->json, "scalars");
	pf_jsonw_object(&p->json);
	for (size_t i = 0; i < count; i++) {
		pf_jsonw_key(&p->json, s[i].col.key);
		add_cell(&p->json, &s[i].cell);
	}
	pf_jsonw_end(&p->json);
	pf_jsonw_key(&p->json, "tables");
	pf_jsonw_object(&p->json);
}

/* Each row has the same keys, which are quoted once. */
static void head(struct pf_printer *p)
{
	pf_buf_clear(&p->keys);
	for (size_t i = 0; i < p->col_count; i++) {
		const char *key = p->cols[i].key;

		pf_jsonw_quote(&p->keys, key, strlen(key),
			       p->json.escape_markup);
		pf_buf_add(&p->keys, ": ", 3);
	}
	pf_jsonw_key(&p->json, p->name);
	pf_jsonw_array(&p->json);
}

/* A number that 64 bits cannot hold (pf_table_digits()). */
static bool is_digits(enum pf_col_kind kind, const struct pf_cell *cell)
{
	return PF_COL_KIND(kind) == PF_COUNT && cell->type == PF_CELL_TEXT;
}

static void row(struct pf_printer *p, const struct pf_cell *cells)
{
	const char *key = p->keys.data;

	pf_jsonw_object(&p->json);
	for (size_t i = 0; i < p->col_count; i++) {
		size_t len = strlen(key);

		pf_jsonw_key_again(&p->json, key, len);
		key += len + 1;
		if (is_digits(p->cols[i].kind, &cells[i]))
			pf_jsonw_digits(&p->json, cells[i].v.text.s);
		else
			add_cell(&p->json, &cells[i]);
	}
	pf_jsonw_end(&p->json);
}

static void tail(struct pf_printer *p)
{
	pf_jsonw_end(&p->json);
}

static void notes(struct pf_printer *p, const char *const *texts, size_t count)
{
	pf_jsonw_end(&p->json);
	pf_jsonw_key(&p->json, "notes");
	pf_jsonw_array(&p->json);
	for (size_t i = 0; i < count; i++)
		pf_jsonw_string(&p->json, texts[i], strlen(texts[i]));
	pf_jsonw_end(&p->json);
}

static void end(struct pf_printer *p)
{
	pf_jsonw_end(&p->json);
}

static const struct pf_format_ops ops = { .begin = begin,
					  .scalars = scalars,
					  .head = head,
					  .row = row,
					  .tail = tail,
					  .notes = notes,
					  .end = end };

PF_FORMAT(30, json) = { "json", PF_WIDE, &ops };

/* ---- schema ---- */

/* By enum pf_col_kind: its word, and the JSON type of its cells. */
static const struct {
	const char *word, *type;
} kinds[] = {
	[PF_TEXT] = { "text", "string" },
	[PF_PATH] = { "path", "string" },
	[PF_INT] = { "integer", "integer" },
	[PF_COUNT] = { "count", "integer" },
	[PF_NS] = { "ns", "integer" },
	[PF_BYTES] = { "bytes", "integer" },
	[PF_RATIO] = { "ratio", "number" },
	[PF_REAL] = { "real", "number" },
	[PF_ANY] = { "any", NULL },
};

const char *pf_kind_word(enum pf_col_kind kind)
{
	return kinds[PF_COL_KIND(kind)].word;
}

int pf_kind_of_word(const char *word)
{
	for (int i = 0; i < (int)(PF_LEN(kinds)); i++)
		if (!strcmp(kinds[i].word, word))
			return i;
	return -1;
}

static void add(struct pf_jsonw *w, const char *key, const char *value)
{
	pf_jsonw_key(w, key);
	pf_jsonw_string(w, value, strlen(value));
}

/* An object with these members and, but for "open", no others; then them. */
static void add_object(struct pf_jsonw *w, bool is_open)
{
	pf_jsonw_object(w);
	add(w, "type", "object");
	pf_jsonw_key(w, "additionalProperties");
	pf_jsonw_bool(w, is_open);
	pf_jsonw_key(w, "properties");
	pf_jsonw_object(w);
}

static void end_object(struct pf_jsonw *w)
{
	pf_jsonw_end(w);
	pf_jsonw_end(w);
}

static void schema_begin(struct pf_jsonw *w, const char *command, bool is_open)
{
	static const char *const members[] = { "command", "version", "scalars",
					       "tables", "notes" };
	char text[128];

	w->indent_depth = 6;
	pf_jsonw_object(w);
	add(w, "$schema", "https://json-schema.org/draft/2020-12/schema");
	snprintf(text, sizeof(text), "urn:profan:document:%d:%s",
		 PF_DOC_VERSION, command);
	add(w, "$id", text);
	snprintf(text, sizeof(text), "profan %s --format json", command);
	add(w, "title", text);
	add(w, "type", "object");
	pf_jsonw_key(w, "additionalProperties");
	pf_jsonw_bool(w, false);
	pf_jsonw_key(w, "required");
	pf_jsonw_array(w);
	for (size_t i = 0; i < PF_LEN(members); i++)
		pf_jsonw_string(w, members[i], strlen(members[i]));
	pf_jsonw_end(w);
	pf_jsonw_key(w, "properties");
	pf_jsonw_object(w);
	pf_jsonw_key(w, "command");
	pf_jsonw_object(w);
	add(w, "const", command);
	pf_jsonw_end(w);
	pf_jsonw_key(w, "version");
	pf_jsonw_object(w);
	pf_jsonw_key(w, "const");
	pf_jsonw_int(w, PF_DOC_VERSION);
	pf_jsonw_end(w);
	pf_jsonw_key(w, "scalars");
	add_object(w, is_open);
}

void pf_schema_begin(struct pf_jsonw *w, const char *command)
{
	schema_begin(w, command, false);
}

void pf_schema_col(struct pf_jsonw *w, const struct pf_col *col)
{
	const char *type = kinds[PF_COL_KIND(col->kind)].type;

	pf_jsonw_key(w, col->key);
	pf_jsonw_object(w);
	add(w, "title", col->title ? col->title : col->key);
	add(w, "kind", pf_kind_word(col->kind));
	if (col->kind & PF_FULL) {
		pf_jsonw_key(w, "people");
		pf_jsonw_bool(w, false);
	}
	pf_jsonw_key(w, "type");
	pf_jsonw_array(w);
	if (!type)
		pf_jsonw_string(w, "string", 6);
	pf_jsonw_string(w, type ? type : "number",
			strlen(type ? type : "number"));
	pf_jsonw_string(w, "null", 4);
	pf_jsonw_end(w);
	pf_jsonw_end(w);
}

void pf_schema_tables(struct pf_jsonw *w)
{
	end_object(w);
	pf_jsonw_key(w, "tables");
	add_object(w, false);
}

/* Rows are objects with these columns. */
void pf_schema_table(struct pf_jsonw *w, const char *name, const char *title,
		     bool is_open)
{
	pf_jsonw_key(w, name);
	pf_jsonw_object(w);
	if (title && *title)
		add(w, "title", title);
	add(w, "type", "array");
	pf_jsonw_key(w, "items");
	add_object(w, is_open);
}

void pf_schema_table_end(struct pf_jsonw *w)
{
	end_object(w);
	pf_jsonw_end(w);
}

void pf_schema_end(struct pf_jsonw *w)
{
	end_object(w);
	pf_jsonw_key(w, "notes");
	pf_jsonw_object(w);
	add(w, "type", "array");
	pf_jsonw_key(w, "items");
	pf_jsonw_object(w);
	add(w, "type", "string");
	pf_jsonw_end(w);
	pf_jsonw_end(w);
	pf_jsonw_end(w);
	pf_jsonw_end(w);
}

void pf_schema_open(struct pf_jsonw *w, const char *command)
{
	schema_begin(w, command, true);
	end_object(w);
	pf_jsonw_key(w, "tables");
	add_object(w, true);
	pf_schema_end(w);
}

/* ---- the format ---- */

static void format_begin(struct pf_printer *p)
{
	pf_schema_begin(&p->json, p->style.command);
}

static void schema_scalars(struct pf_printer *p, const struct pf_scalar *s,
			   size_t count)
{
	for (size_t i = 0; i < count; i++)
		pf_schema_col(&p->json, &s[i].col);
	pf_schema_tables(&p->json);
}

static void schema_head(struct pf_printer *p)
{
	pf_schema_table(&p->json, p->name, p->title, false);
	for (size_t i = 0; i < p->col_count; i++)
		pf_schema_col(&p->json, &p->cols[i]);
}

static void schema_tail(struct pf_printer *p)
{
	pf_schema_table_end(&p->json);
}

static void schema_end(struct pf_printer *p)
{
	pf_schema_end(&p->json);
}

static const struct pf_format_ops schema_ops = { .begin = format_begin,
						 .scalars = schema_scalars,
						 .head = schema_head,
						 .tail = schema_tail,
						 .end = schema_end };

PF_FORMAT(50, schema) = { "schema", PF_WIDE, &schema_ops };
