/* SPDX-License-Identifier: MIT */
/* What is not known, or not set, is null and never an empty list. */
#include "config.h"

#include <string.h>

#include "base/jsonw.h"
#include "cmd/describe.h"
#include "base/asset.h"
#include "base/data.h"
#include "show/schema.h"

#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "unknown"
#endif

#define HEADER  "table,column,kind,title"
#define FIGURES "figures"

enum { TABLE, COLUMN, KIND, TITLE };

static void add_string(struct pf_jsonw *w, const char *key, const char *s)
{
	pf_jsonw_key(w, key);
	if (s)
		pf_jsonw_string(w, s, strlen(s));
	else
		pf_jsonw_null(w);
}

static void add_int(struct pf_jsonw *w, const char *key, int64_t n)
{
	pf_jsonw_key(w, key);
	pf_jsonw_int(w, n);
}

static void add_bool(struct pf_jsonw *w, const char *key, bool is_true)
{
	pf_jsonw_key(w, key);
	pf_jsonw_bool(w, is_true);
}

/* The parts of a text between any of these letters; empty ones are none. */
static void add_words(struct pf_jsonw *w, const char *key, const char *text,
		      const char *between)
{
	pf_jsonw_key(w, key);
	pf_jsonw_array(w);
	while (text && *text) {
		size_t len = strcspn(text, between);

		if (len)
			pf_jsonw_string(w, text, len);
		text += len + (text[len] != '\0');
	}
	pf_jsonw_end(w);
}

/* ---- options ---- */

static const char *const types[] = {
	[PF_OPT_FLAG] = "flag",   [PF_OPT_INT] = "integer",
	[PF_OPT_STRING] = "text", [PF_OPT_LIST] = "list",
	[PF_OPT_NS] = "duration", [PF_OPT_CHOICE] = "choice",
};

/* A number that the option could not be given is "not set". */
static void add_number(struct pf_jsonw *w, const struct pf_opt *opt, int64_t n)
{
	int64_t max = !opt->min && !opt->max ? INT64_MAX : opt->max;

	if (opt->kind == PF_OPT_NS ? n < 0 : n < opt->min || n > max)
		pf_jsonw_null(w);
	else
		pf_jsonw_int(w, n);
}

static void add_word(struct pf_jsonw *w, const struct pf_opt *opt, int n)
{
	size_t len;
	const char *word = n < 0 ? NULL : pf_opt_choice(opt->arg, n, &len);

	if (word)
		pf_jsonw_string(w, word, len);
	else
		pf_jsonw_null(w);
}

/* defaults NULL: all zero */
static void add_default(struct pf_jsonw *w, const struct pf_opt *opt,
			const void *defaults)
{
	static const int64_t zero[4];
	const void *at = defaults ? (const char *)defaults + opt->off
				  : (const void *)zero;
	const char *text;

	pf_jsonw_key(w, "default");
	switch (opt->kind) {
	case PF_OPT_FLAG:
		pf_jsonw_bool(w, *(const bool *)at);
		break;
	case PF_OPT_INT:
	case PF_OPT_NS:
		add_number(w, opt, *(const int64_t *)at);
		break;
	case PF_OPT_STRING:
		text = *(const char *const *)at;
		if (text)
			pf_jsonw_string(w, text, strlen(text));
		else
			pf_jsonw_null(w);
		break;
	case PF_OPT_LIST:
		pf_jsonw_array(w);
		pf_jsonw_end(w);
		break;
	case PF_OPT_CHOICE:
		add_word(w, opt, *(const int *)at);
		break;
	}
}

static void add_opt(struct pf_jsonw *w, const struct pf_opt *opt,
		    const void *defaults)
{
	const char letter[2] = { opt->c, '\0' };

	pf_jsonw_object(w);
	add_string(w, "name", opt->name);
	add_string(w, "short", opt->c ? letter : NULL);
	add_string(w, "type", types[opt->kind]);
	add_string(w, "value", opt->arg);
	add_string(w, "help", opt->help);
	if (opt->kind == PF_OPT_CHOICE)
		add_words(w, "choices", opt->arg, "|");
	if (opt->kind == PF_OPT_INT) {
		add_int(w, "min", opt->min);
		add_int(w, "max",
			!opt->min && !opt->max ? INT64_MAX : opt->max);
	}
	add_default(w, opt, defaults);
	pf_jsonw_end(w);
}

static void add_opts(struct pf_jsonw *w, const struct pf_cmd *cmd)
{
	const struct pf_opt *sets[PF_CMD_OPT_SETS];

	pf_cmd_opts(cmd, sets);
	pf_jsonw_key(w, "options");
	pf_jsonw_array(w);
	for (size_t i = 0; i < PF_CMD_OPT_SETS; i++)
		for (const struct pf_opt *o = sets[i]; o && o->name; o++)
			add_opt(w, o, i ? pf_cmd_common : cmd->defaults);
	pf_jsonw_end(w);
}

/* ---- documents ---- */

/* What was written down of a command's documents: NULL without err if none. */
static struct pf_data *read_record(const struct pf_cmd *cmd, struct pf_err *err)
{
	char name[128];

	snprintf(name, sizeof(name), "data/documents/%s.csv", cmd->name);
	return pf_asset(name, NULL) ? pf_data_new(name, HEADER, err) : NULL;
}

static struct pf_col record_col(const struct pf_data *d, size_t row)
{
	int kind = pf_kind_of_word(pf_data_cell(d, row, KIND));

	return (struct pf_col){ .key = pf_data_cell(d, row, COLUMN),
				.title = pf_data_cell(d, row, TITLE),
				.kind = kind < 0 ? PF_ANY
						 : (enum pf_col_kind)kind };
}

static void add_col(struct pf_jsonw *w, const struct pf_col *col)
{
	pf_jsonw_object(w);
	add_string(w, "name", col->key);
	add_string(w, "title", col->title);
	add_string(w, "kind", pf_kind_word(col->kind));
	pf_jsonw_end(w);
}

/* Rows of a table follow each other; returns the one behind them. */
static size_t add_cols(struct pf_jsonw *w, const struct pf_data *d, size_t row,
		       void (*add)(struct pf_jsonw *w,
				   const struct pf_col *col))
{
	const char *table = pf_data_cell(d, row, TABLE);

	for (; row < pf_data_rows(d) &&
	       !strcmp(pf_data_cell(d, row, TABLE), table);
	     row++) {
		struct pf_col col = record_col(d, row);

		if (*col.key)
			add(w, &col);
	}
	return row;
}

/* Figures come first in a record. */
static bool has_figures(const struct pf_data *d)
{
	return pf_data_rows(d) && !strcmp(pf_data_cell(d, 0, TABLE), FIGURES);
}

static void add_document(struct pf_jsonw *w, const struct pf_data *d)
{
	size_t row = 0;

	pf_jsonw_key(w, "document");
	if (!d) {
		pf_jsonw_null(w);
		return;
	}
	pf_jsonw_object(w);
	pf_jsonw_key(w, "scalars");
	pf_jsonw_array(w);
	if (has_figures(d))
		row = add_cols(w, d, row, add_col);
	pf_jsonw_end(w);
	pf_jsonw_key(w, "tables");
	pf_jsonw_object(w);
	while (row < pf_data_rows(d)) {
		pf_jsonw_key(w, pf_data_cell(d, row, TABLE));
		pf_jsonw_array(w);
		row = add_cols(w, d, row, add_col);
		pf_jsonw_end(w);
	}
	pf_jsonw_end(w);
	pf_jsonw_end(w);
}

/* A table whose columns are what was asked for: its only row names none. */
static bool is_open(const struct pf_data *d, size_t row)
{
	const char *table = pf_data_cell(d, row, TABLE);

	return !*pf_data_cell(d, row, COLUMN) &&
	       (row + 1 == pf_data_rows(d) ||
		strcmp(pf_data_cell(d, row + 1, TABLE), table) != 0);
}

static void write_schema(struct pf_jsonw *w, const struct pf_cmd *cmd,
			 const struct pf_data *d)
{
	size_t row = 0;

	pf_schema_begin(w, cmd->name);
	if (has_figures(d))
		row = add_cols(w, d, row, pf_schema_col);
	pf_schema_tables(w);
	while (row < pf_data_rows(d)) {
		pf_schema_table(w, pf_data_cell(d, row, TABLE),
				is_open(d, row));
		row = add_cols(w, d, row, pf_schema_col);
		pf_schema_table_end(w);
	}
	pf_schema_end(w);
}

/* ---- commands ---- */

/* One of the formats of documents may be asked for. */
static bool shows_document(const struct pf_cmd *cmd)
{
	const struct pf_opt *opt = cmd->opts;

	if (cmd->needs & PF_SHOWS_DOC)
		return true;
	for (; opt && opt->name; opt++)
		if (!strcmp(opt->name, "format") && strstr(opt->arg, "|md"))
			return true;
	return false;
}

static int add_command(struct pf_jsonw *w, const struct pf_cmd *cmd,
		       struct pf_err *err)
{
	struct pf_data *record = read_record(cmd, err);

	if (!record && err->code)
		return -1;
	pf_jsonw_object(w);
	add_string(w, "name", cmd->name);
	add_string(w, "usage", cmd->args);
	add_string(w, "summary", cmd->summary);
	add_string(w, "details", cmd->details);
	add_bool(w, "reads_database", cmd->needs & PF_NEEDS_DB);
	add_bool(w, "shows_document", shows_document(cmd));
	add_bool(w, "runs_program", cmd->needs & PF_RUNS_PROGRAM);
	add_int(w, "min_arguments", cmd->min_args);
	pf_jsonw_key(w, "max_arguments");
	if (cmd->max_args < 0)
		pf_jsonw_null(w);
	else
		pf_jsonw_int(w, cmd->max_args);
	add_words(w, "words", cmd->words, "|");
	add_words(w, "lists", cmd->lists, " ");
	add_words(w, "sorts", cmd->sorts, "|");
	add_int(w, "text_rows", cmd->text_rows);
	add_int(w, "data_rows", cmd->data_rows);
	add_words(w, "examples", cmd->examples, "\n");
	add_opts(w, cmd);
	add_document(w, record);
	pf_jsonw_end(w);
	pf_data_free(record);
	return 0;
}

int pf_describe_json(const struct pf_cmd *cmd, FILE *out, struct pf_err *err)
{
	struct pf_buf text = { 0 };
	struct pf_jsonw w = { .out = &text, .indent_depth = 4 };
	int rc = 0;

	pf_jsonw_object(&w);
	add_string(&w, "program", "profan");
	add_string(&w, "program_version", PACKAGE_VERSION);
	add_int(&w, "document_version", PF_DOC_VERSION);
	pf_jsonw_key(&w, "commands");
	pf_jsonw_array(&w);
	for (size_t i = 0; !rc && pf_cmds[i]; i++)
		if (!cmd || cmd == pf_cmds[i])
			rc = add_command(&w, pf_cmds[i], err);
	pf_jsonw_end(&w);
	pf_jsonw_end(&w);
	if (!rc)
		fwrite(text.data, 1, text.len, out);
	pf_buf_release(&text);
	return rc;
}

int pf_describe_schema(const struct pf_cmd *cmd, FILE *out, struct pf_err *err)
{
	struct pf_data *record = read_record(cmd, err);
	struct pf_buf text = { 0 };
	struct pf_jsonw w = { .out = &text };

	if (!record && err->code)
		return -1;
	if (!shows_document(cmd))
		return pf_fail(err, PF_EUSAGE,
			       "'%s' prints no document, so it has no schema",
			       cmd->name);
	if (record)
		write_schema(&w, cmd, record);
	else
		pf_schema_open(&w, cmd->name);
	fwrite(text.data, 1, text.len, out);
	pf_data_free(record);
	pf_buf_release(&text);
	return 0;
}
