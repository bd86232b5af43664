/* SPDX-License-Identifier: MIT */
/* Help texts from the tables of commands and options, for 80 columns. */
#include "config.h"

#include <string.h>

#include "cmd/cmd.h"

#define WIDTH 80

/* Words wrapped at WIDTH; "at" columns are used, lines begin at "indent". */
static void print_wrapped(FILE *out, const char *text, int at, int indent)
{
	while (*text) {
		int len = (int)strcspn(text, " \n");

		if (at > indent && at + 1 + len > WIDTH) {
			fprintf(out, "\n%*s", indent, "");
			at = indent;
		} else if (at > indent) {
			fputc(' ', out);
			at++;
		}
		fprintf(out, "%.*s", len, text);
		at += len;
		text += len;
		for (; *text == ' ' || *text == '\n'; text++) {
			if (*text != '\n')
				continue;
			fprintf(out, "\n%*s", text[1] ? indent : 0, "");
			at = indent;
		}
	}
	if (at > indent)
		fputc('\n', out);
}

static void print_row(FILE *out, const char *left, const char *right,
		      int column)
{
	int at = fprintf(out, "  %s", left);

	if (at + 2 > column) {
		fputc('\n', out);
		at = 0;
	}
	fprintf(out, "%*s", column - at, "");
	print_wrapped(out, right, column, column);
}

static void print_opts(FILE *out, const struct pf_opt *opt)
{
	char left[128];

	for (; opt && opt->name; opt++) {
		char letter[5] = "    ";

		if (opt->c)
			snprintf(letter, sizeof(letter), "-%c, ", opt->c);
		snprintf(left, sizeof(left), "%s--%s%s%s", letter, opt->name,
			 opt->arg ? " " : "", opt->arg ? opt->arg : "");
		print_row(out, left, opt->help, 28);
	}
}

static void print_examples(FILE *out, const char *line)
{
	fputs("\nExamples:\n", out);
	while (*line) {
		int len = (int)strcspn(line, "\n");

		fprintf(out, "  %.*s\n", len, line);
		line += len + (line[len] == '\n');
	}
}

static void print_command(const struct pf_cmd *cmd, FILE *out)
{
	const struct pf_opt *sets[PF_CMD_OPT_SETS];

	fprintf(out, "Usage: profan %s [OPTION]... %s\n\n", cmd->name,
		cmd->args);
	print_wrapped(out, cmd->summary, 0, 0);
	if (cmd->details) {
		fputc('\n', out);
		print_wrapped(out, cmd->details, 0, 0);
	}
	if (cmd->needs & PF_NEEDS_DB) {
		fputc('\n', out);
		print_wrapped(out,
			      "DB is a database made by 'profan ingest', or "
			      "traces or a folder of them, which are read into "
			      "a database beside them ('profan clean' removes "
			      "it); without it $PROFAN_DB is used, else "
			      "profan.db.",
			      0, 0);
	}
	fputs("\nOptions:\n", out);
	pf_cmd_opts(cmd, sets);
	for (size_t i = 0; i < PF_CMD_OPT_SETS; i++)
		print_opts(out, sets[i]);
	if (cmd->examples)
		print_examples(out, cmd->examples);
}

static void print_overview(FILE *out)
{
	fputs("Usage: profan TRACE...\n"
	      "       profan COMMAND [OPTION]... [ARGUMENT]...\n\n",
	      out);
	print_wrapped(out,
		      "Put profiler traces of GPU and machine learning "
		      "programs (PyTorch, Kineto, Chrome JSON) into one SQLite "
		      "file, and print what is in it. Of a trace, several, a "
		      "folder of them or such a file alone: where the time "
		      "goes, in a few lines.",
		      0, 0);
	fputs("\nCommands:\n", out);
	for (size_t i = 0; pf_cmds[i]; i++)
		print_row(out, pf_cmds[i]->name, pf_cmds[i]->summary, 12);
	fputs("\nOptions:\n"
	      "  -h, --help                show this help; "
	      "'profan help COMMAND' for a command\n"
	      "  -V, --version             show the version\n"
	      "\nExamples:\n"
	      "  profan trace.json.gz\n"
	      "  profan ingest trace.json.gz -o job.db\n"
	      "  profan table job.db\n"
	      "  profan query job.db "
	      "'SELECT name, count(*) FROM event GROUP BY name'\n",
	      out);
}

void pf_cmd_usage(const struct pf_cmd *cmd, FILE *out)
{
	if (cmd)
		print_command(cmd, out);
	else
		print_overview(out);
}
