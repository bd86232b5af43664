/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "cmd/cmd.h"
#include "cmd/completion.h"

struct help_args {
	int shell; /* enum pf_shell, -1: none */
};

static const struct help_args defaults = { .shell = -1 };

static const struct pf_opt opts[] = {
	{ 0, "completion", PF_SHELL_WORDS,
	  "print a completion script for this shell", PF_OPT_CHOICE,
	  offsetof(struct help_args, shell), 0, 0 },
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
	.examples = "profan help table\n"
		    "source <(profan help --completion bash)\n"
		    "profan help --completion fish | source\n",
	.run = run,
};
