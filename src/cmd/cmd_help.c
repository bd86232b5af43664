/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <string.h>

#include "base/asset.h"
#include "base/data.h"
#include "base/json.h"
#include "cmd/cmd.h"
#include "show/glossary.h"
#include "show/json.h"
#include "show/render.h"

/*
 * Completion scripts, printed from the tables of commands and options, so
 * that they cannot differ from what the program takes.
 */
#define SHELL_WORDS "bash|zsh|fish"
enum shell { SHELL_BASH, SHELL_ZSH, SHELL_FISH };

/*
 * Names and option words are plain; help texts may hold anything and are
 * quoted for each shell.
 */

static void for_opts(const struct pf_cmd *cmd,
		     void (*call)(const struct pf_cmd *cmd,
				  const struct pf_opt *opt, FILE *out),
		     FILE *out)
{
	const struct pf_opt *sets[PF_CMD_OPT_SETS];

	pf_cmd_opts(cmd, sets);
	for (int i = 0; i < PF_CMD_OPT_SETS; i++) {
		const struct pf_opt *opt = sets[i];

		for (; opt && opt->name; opt++)
			call(cmd, opt, out);
	}
}

/* The words that may follow an option, "a|b"; NULL: it takes anything. */
static const char *words_of(const struct pf_cmd *cmd, const struct pf_opt *opt)
{
	if (opt->kind == PF_OPT_CHOICE)
		return opt->arg;
	return !strcmp(opt->name, "sort") ? cmd->sorts : NULL;
}

static void print_words(const char *words, FILE *out)
{
	const char *word;
	size_t len;

	for (int n = 0; (word = pf_opt_choice(words, n, &len)); n++)
		fprintf(out, "%s%.*s", n ? " " : "", (int)len, word);
}

static void print_names(FILE *out)
{
	for (size_t i = 0; pf_cmds[i]; i++)
		fprintf(out, "%s%s", i ? " " : "", pf_cmds[i]->name);
}

/* Inside '...' of zsh, in a place where : [ ] \ have a meaning. */
static void print_zsh_text(const char *text, FILE *out)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", out);
		else if (strchr(":[]\\", *text))
			fprintf(out, "\\%c", *text);
		else
			fputc(*text, out);
	}
}

/* Inside '...' of fish. */
static void print_fish_text(const char *text, FILE *out)
{
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			fputc('\\', out);
		fputc(*text, out);
	}
}

static void bash_word(const struct pf_cmd *cmd, const struct pf_opt *opt,
		      FILE *out)
{
	(void)cmd;
	fprintf(out, " --%s", opt->name);
}

static void bash_choice(const struct pf_cmd *cmd, const struct pf_opt *opt,
			FILE *out)
{
	if (!words_of(cmd, opt))
		return;
	fprintf(out, "\t\"%s --%s\"", cmd->name, opt->name);
	if (opt->c)
		fprintf(out, "|\"%s -%c\"", cmd->name, opt->c);
	fputs(") words='", out);
	print_words(words_of(cmd, opt), out);
	fputs("';;\n", out);
}

/* Words that stand before a database: once they are begun, it is no file. */
static void bash_words(FILE *out)
{
	const char *word;
	size_t len;

	for (size_t i = 0; pf_cmds[i]; i++)
		for (int n = 0;
		     pf_cmds[i]->words &&
		     (word = pf_opt_choice(pf_cmds[i]->words, n, &len));
		     n++)
			fprintf(out, "\t\"%s 2 %c\"*) words='%.*s';;\n",
				pf_cmds[i]->name, *word, (int)len, word);
}

static void print_bash(FILE *out)
{
	fputs("_profan()\n{\n"
	      "\tlocal cur=${COMP_WORDS[COMP_CWORD]} words=\n"
	      "\tlocal prev=${COMP_WORDS[COMP_CWORD-1]} cmd=${COMP_WORDS[1]}\n"
	      "\tCOMPREPLY=()\n"
	      "\tif [ \"$COMP_CWORD\" -eq 1 ] || [ \"$cmd $COMP_CWORD\" = "
	      "'help 2' ]; then\n\t\twords='",
	      out);
	print_names(out);
	fputs("'\n\tfi\n\tcase \"$cmd $prev\" in\n", out);
	for (size_t i = 0; pf_cmds[i]; i++)
		for_opts(pf_cmds[i], bash_choice, out);
	fputs("\tesac\n\tcase \"$cmd $cur\" in\n", out);
	for (size_t i = 0; pf_cmds[i]; i++) {
		fprintf(out, "\t\"%s -\"*) words='", pf_cmds[i]->name);
		for_opts(pf_cmds[i], bash_word, out);
		fputs("';;\n", out);
	}
	fputs("\tesac\n\tcase \"$cmd $COMP_CWORD $cur\" in\n", out);
	bash_words(out);
	fputs("\tesac\n"
	      "\t[ -z \"$words\" ] || mapfile -t COMPREPLY < "
	      "<(compgen -W \"$words\" -- \"$cur\")\n"
	      "}\ncomplete -o default -F _profan profan\n",
	      out);
}

static void zsh_opt(const struct pf_cmd *cmd, const struct pf_opt *opt,
		    FILE *out)
{
	fprintf(out, "\t\t\t'--%s%s[", opt->name, opt->arg ? "=" : "");
	print_zsh_text(opt->help, out);
	fputc(']', out);
	if (words_of(cmd, opt)) {
		fputs(":value:(", out);
		print_words(words_of(cmd, opt), out);
		fputc(')', out);
	} else if (opt->arg) {
		fprintf(out, ":%s:%s", opt->arg,
			opt->kind == PF_OPT_INT || opt->kind == PF_OPT_NS
				? " "
				: "_files");
	}
	fputs("' \\\n", out);
}

static void print_zsh(FILE *out)
{
	fputs("#compdef profan\n_profan()\n{\n"
	      "\tlocal -a commands\n\tcommands=(\n",
	      out);
	for (size_t i = 0; pf_cmds[i]; i++) {
		fprintf(out, "\t\t'%s:", pf_cmds[i]->name);
		print_zsh_text(pf_cmds[i]->summary, out);
		fputs("'\n", out);
	}
	fputs("\t)\n"
	      "\tif (( CURRENT == 2 )); then\n"
	      "\t\t_describe command commands\n\t\treturn\n\tfi\n"
	      "\tlocal cmd=$words[2]\n"
	      "\tshift words\n\t(( CURRENT-- ))\n"
	      "\tcase $cmd in\n",
	      out);
	for (size_t i = 0; pf_cmds[i]; i++) {
		fprintf(out, "\t%s)\n\t\t_arguments \\\n", pf_cmds[i]->name);
		for_opts(pf_cmds[i], zsh_opt, out);
		if (pf_cmds[i]->words) {
			fputs("\t\t\t'1: :{_alternative \"words:word:(", out);
			print_words(pf_cmds[i]->words, out);
			fputs(")\" files:file:_files}' \\\n", out);
		}
		fputs("\t\t\t'*:file:_files'\n\t\t;;\n", out);
	}
	fputs("\tesac\n}\n"
	      "if [ \"$funcstack[1]\" = _profan ]; then\n"
	      "\t_profan \"$@\"\nelse\n\tcompdef _profan profan\nfi\n",
	      out);
}

static void fish_opt(const struct pf_cmd *cmd, const struct pf_opt *opt,
		     FILE *out)
{
	fprintf(out,
		"complete -c profan -n '__fish_seen_subcommand_from %s' "
		"-l %s",
		cmd->name, opt->name);
	if (opt->c)
		fprintf(out, " -s %c", opt->c);
	if (words_of(cmd, opt)) {
		fputs(" -x -a '", out);
		print_words(words_of(cmd, opt), out);
		fputc('\'', out);
	} else if (opt->arg) {
		fputs(" -r", out);
	}
	fputs(" -d '", out);
	print_fish_text(opt->help, out);
	fputs("'\n", out);
}

static void print_fish(FILE *out)
{
	for (size_t i = 0; pf_cmds[i]; i++) {
		fprintf(out,
			"complete -c profan -n __fish_use_subcommand -f "
			"-a %s -d '",
			pf_cmds[i]->name);
		print_fish_text(pf_cmds[i]->summary, out);
		fputs("'\n", out);
		for_opts(pf_cmds[i], fish_opt, out);
		if (pf_cmds[i]->words) {
			fprintf(out,
				"complete -c profan -n "
				"'__fish_seen_subcommand_from %s' -a '",
				pf_cmds[i]->name);
			print_words(pf_cmds[i]->words, out);
			fputs("'\n", out);
		}
	}
}

static void completion_print(enum shell shell, FILE *out)
{
	switch (shell) {
	case SHELL_BASH:
		print_bash(out);
		break;
	case SHELL_ZSH:
		print_zsh(out);
		break;
	case SHELL_FISH:
		print_fish(out);
		break;
	}
}

/*
 * Commands for programs: everything that help says, as JSON, and the schemas
 * of documents.  Options are those of the tables that parse them.  Figures,
 * tables and columns are those of data/documents/COMMAND.csv: which there are
 * is only known when a document is made, so this is what documents were seen
 * to have; tests/documents.sh holds it against what commands print, and with
 * UPDATE=1 writes it.  It is the promise that render.h makes for a version.
 */

/* What is not known, or not set, is null and never an empty list. */

#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "unknown"
#endif

#define HEADER   "table,column,kind,title,for"
#define FIGURES  "figures"
#define PROGRAMS "programs" /* a column that text leaves out: for these */

enum { TABLE, COLUMN, KIND, TITLE, FOR };

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
	const char *name = PF_PRINTED(128, "data/documents/%s.csv", cmd->name);
	return pf_asset(name, NULL) ? pf_data_new(name, HEADER, err) : NULL;
}

static struct pf_col record_col(const struct pf_data *d, size_t row)
{
	int kind = pf_kind_of_word(pf_data_cell(d, row, KIND));

	if (kind < 0)
		kind = PF_ANY;
	if (!strcmp(pf_data_cell(d, row, FOR), PROGRAMS))
		kind |= PF_FULL;
	return (struct pf_col){ .key = pf_data_cell(d, row, COLUMN),
				.title = pf_data_cell(d, row, TITLE),
				.kind = (enum pf_col_kind)kind };
}

static void add_col(struct pf_jsonw *w, const struct pf_col *col)
{
	pf_jsonw_object(w);
	add_string(w, "name", col->key);
	add_string(w, "title", col->title);
	add_string(w, "kind", pf_kind_word(col->kind));
	add_bool(w, "people", !(col->kind & PF_FULL));
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

/* The row of a table itself names no column: its title, or "". */
static const char *table_title(const struct pf_data *d, size_t row)
{
	const char *column = pf_data_cell(d, row, COLUMN);

	return *column ? "" : pf_data_cell(d, row, TITLE);
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
	pf_jsonw_key(w, "titles");
	pf_jsonw_object(w);
	for (row = 0; row < pf_data_rows(d); row++)
		if (*table_title(d, row))
			add_string(w, pf_data_cell(d, row, TABLE),
				   table_title(d, row));
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
				table_title(d, row), is_open(d, row));
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
	PF_AUTO(pf_data_freed) struct pf_data *record = read_record(cmd, err);

	PF_TRY(!record && err->code);
	pf_jsonw_object(w);
	add_string(w, "name", cmd->name);
	add_string(w, "usage", cmd->args);
	add_string(w, "group", cmd->group);
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
	return 0;
}

/* All commands, or one. */
static int describe_json(const struct pf_cmd *cmd, FILE *out,
			 struct pf_err *err)
{
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };
	struct pf_jsonw w = { .out = &text, .indent_depth = 4 };

	pf_jsonw_object(&w);
	add_string(&w, "program", "profan");
	add_string(&w, "program_version", PACKAGE_VERSION);
	add_int(&w, "document_version", PF_DOC_VERSION);
	pf_jsonw_key(&w, "commands");
	pf_jsonw_array(&w);
	for (size_t i = 0; pf_cmds[i]; i++)
		if (!cmd || cmd == pf_cmds[i])
			PF_TRY(add_command(&w, pf_cmds[i], err));
	pf_jsonw_end(&w);
	pf_jsonw_end(&w);
	fwrite(text.data, 1, text.len, out);
	return 0;
}

/* PF_EUSAGE if the command prints no document. */
static int describe_schema(const struct pf_cmd *cmd, FILE *out,
			   struct pf_err *err)
{
	PF_AUTO(pf_data_freed) struct pf_data *record = read_record(cmd, err);
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };
	struct pf_jsonw w = { .out = &text };

	PF_TRY(!record && err->code);
	if (!shows_document(cmd))
		return pf_fail(err, PF_EUSAGE,
			       "'%s' prints no document, so it has no schema",
			       cmd->name);
	if (record)
		write_schema(&w, cmd, record);
	else
		pf_schema_open(&w, cmd->name);
	fwrite(text.data, 1, text.len, out);
	return 0;
}

#define FORMATS "text|json|schema"
enum { TEXT, JSON, SCHEMA };

/* ---- words ---- */

#define WORDS "words"

static void add_word_row(struct pf_table *t, const struct pf_data *words,
			 size_t row)
{
	for (size_t c = 0; c <= PF_GLOSSARY_MEANING; c++)
		pf_table_string(t, pf_data_cell(words, row, c));
}

/* All of them, or one by its name; returns how many. */
static size_t find_words(const struct pf_data *words, const char *name,
			 struct pf_doc *doc)
{
	static const struct pf_col cols[] = {
		{ "word", "Word", PF_TEXT | PF_WHOLE },
		{ "of", "Of", PF_TEXT | PF_FULL },
		{ "meaning", "Meaning", PF_TEXT | PF_WHOLE },
	};
	struct pf_table *t = pf_doc_table(doc, WORDS, NULL, cols, 3);
	size_t n = 0;

	for (size_t i = 0; i < pf_data_rows(words); i++) {
		if (strcmp(name, WORDS) != 0 &&
		    strcasecmp(name,
			       pf_data_cell(words, i, PF_GLOSSARY_WORD)) != 0)
			continue;
		add_word_row(t, words, i);
		n++;
	}
	return n;
}

/* 1 if no word is called so. */
static int explain(const char *name, int format, const struct pf_ctx *cx)
{
	struct pf_style style = { .format = &pf_format_text,
				  .width = 80,
				  .command = "help" };
	PF_AUTO(pf_data_freed) struct pf_data *words = pf_glossary_new(cx->err);
	PF_AUTO(pf_doc_release) struct pf_doc doc = { 0 };
	int rc = -1;

	if (format == JSON)
		style.format = &pf_format_json;
	if (words)
		rc = find_words(words, name, &doc)
			     ? pf_render_doc(&style, &doc, cx->out, cx->err)
			     : 1;
	return rc;
}

struct help_args {
	int shell;  /* enum shell, -1: none */
	int format; /* of FORMATS */
};

static const struct help_args cmd_help_defaults = { .shell = -1 };

static const struct pf_opt opts[] = {
	{ 0, "completion", SHELL_WORDS,
	  "print a completion script for this shell", PF_OPT_CHOICE,
	  offsetof(struct help_args, shell), 0, 0 },
	{ 'f', "format", FORMATS,
	  "json: for programs; schema: the JSON Schema of a command's json",
	  PF_OPT_CHOICE, offsetof(struct help_args, format), 0, 0 },
	{ 0 }
};

static int run(struct pf_ctx *cx, void *args)
{
	const struct help_args *a = args;
	const struct pf_cmd *cmd = NULL;

	if (a->shell >= 0) {
		completion_print((enum shell)a->shell, cx->out);
		return 0;
	}
	if (cx->argc) {
		struct pf_err unknown = { 0 };

		cmd = pf_cmd_find(cx->argv[0], &unknown);
		if (!cmd && a->format != SCHEMA) {
			int rc = explain(cx->argv[0], a->format, cx);

			if (rc <= 0)
				return rc;
		}
		if (!cmd)
			return pf_fail(cx->err, PF_EUSAGE, "%s%s", unknown.text,
				       a->format == SCHEMA
					       ? ""
					       : " ('profan help words' lists "
						 "words)");
	}
	if (a->format == JSON)
		return describe_json(cmd, cx->out, cx->err);
	if (a->format == SCHEMA && !cmd)
		return pf_fail(cx->err, PF_EUSAGE,
			       "a schema is of one command: profan help "
			       "COMMAND --format schema");
	if (a->format == SCHEMA)
		return describe_schema(cmd, cx->out, cx->err);
	pf_cmd_usage(cmd, cx->out);
	return 0;
}

PF_COMMAND(540, help) = {
	.name = "help",
	.group = PF_GROUP_GIVE,
	.args = "[COMMAND|words|WORD]",
	.summary = "explain a command or a word, or list the commands",
	.max_args = 1,
	.opts = opts,
	PF_DEFAULTS(cmd_help_defaults),
	.details = "Words are those of tables and reports that are profan's "
		   "own, such as causes of idle time and parts of the "
		   "critical path: all of them, or one.  "
		   "Json is for programs: every command with its options, "
		   "their types and defaults, and the figures, tables and "
		   "columns that its documents may have, with their kinds "
		   "(ns, bytes, ratio, ...).  Schema is the JSON Schema "
		   "(2020-12) of what one command prints with --format json.  "
		   "Documents in JSON have a version: within one, figures, "
		   "tables and columns may be added; none is renamed, removed "
		   "or of another kind.",
	.examples = "profan help table\n"
		    "profan help words\n"
		    "profan help 'launch delay'\n"
		    "profan help gaps --format schema\n"
		    "source <(profan help --completion bash)\n"
		    "profan help --completion fish | source\n",
	.run = run,
};
