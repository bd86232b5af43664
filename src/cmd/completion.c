/* SPDX-License-Identifier: MIT */
/*
 * Names and option words are plain; help texts may hold anything and are
 * quoted for each shell.
 */
#include "config.h"

#include <string.h>

#include "cmd/cmd.h"

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

void pf_completion_print(enum pf_shell shell, FILE *out)
{
	switch (shell) {
	case PF_SHELL_BASH:
		print_bash(out);
		break;
	case PF_SHELL_ZSH:
		print_zsh(out);
		break;
	case PF_SHELL_FISH:
		print_fish(out);
		break;
	}
}
