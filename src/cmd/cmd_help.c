/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "cmd/cmd.h"
#include "cmd/describe.h"

struct help_args {
	int shell;  /* enum pf_shell, -1: none */
	int format; /* of FORMATS */
};

#define FORMATS "text|json|schema"
enum { TEXT, JSON, SCHEMA };

static const struct help_args defaults = { .shell = -1 };

static const struct pf_opt opts[] = {
	{ 0, "completion", PF_SHELL_WORDS,
	  "print a completion script for this shell", PF_OPT_CHOICE,
	  offsetof(struct help_args, shell), 0, 0 },
	{ 'f', "format", FORMATS,
	  "json: for programs; schema: the JSON Schema of a command's json",
	  PF_OPT_CHOICE, offsetof(struct help_args, format), 0, 0 },
	{ 0 }
};

static int run(struct pf_ctx *cx, void *args, struct pf_err *err)
{
	const struct help_args *a = args;
	const struct pf_cmd *cmd = NULL;

	if (a->shell >= 0) {
		pf_completion_print((enum pf_shell)a->shell, cx->out);
		return 0;
	}
	if (cx->argc) {
		cmd = pf_cmd_find(cx->argv[0], err);
		if (!cmd)
			return -1;
	}
	if (a->format == JSON)
		return pf_describe_json(cmd, cx->out, err);
	if (a->format == SCHEMA && !cmd)
		return pf_fail(err, PF_EUSAGE,
			       "a schema is of one command: profan help "
			       "COMMAND --format schema");
	if (a->format == SCHEMA)
		return pf_describe_schema(cmd, cx->out, err);
	pf_cmd_usage(cmd, cx->out);
	return 0;
}

PF_COMMAND(210, help) = {
	.name = "help",
	.args = "[COMMAND]",
	.summary = "explain a command, or list them all",
	.max_args = 1,
	.opts = opts,
	.args_bytes = sizeof(struct help_args),
	.defaults = &defaults,
	.details = "Json has every command with its options, their types and "
		   "defaults, and the figures, tables and columns of its "
		   "documents.  A schema (JSON Schema 2020-12) describes what "
		   "a command prints with --format json; within a version "
		   "nothing is renamed or removed.",
	.examples = "profan help table\n"
		    "profan help gaps --format schema\n"
		    "source <(profan help --completion bash)\n"
		    "profan help --completion fish | source\n",
	.run = run,
};
