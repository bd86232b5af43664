/* SPDX-License-Identifier: MIT */
/*
 * Finds the command, runs it, prints its error once and chooses the exit
 * code: 0 done, 1 a check that was asked for failed, 2 wrong usage, 3 data or
 * environment, 128 + signal when stopped by one.  Without a command it is 2,
 * and help is printed.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "cmd/cmd.h"

#define NO_COMMAND 2

#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "unknown"
#endif

/* 0, or -1 if the output did not arrive.  A closed pipe is no error. */
static int finish_output(struct pf_err *err)
{
	errno = 0;
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	if (errno == EPIPE)
		return 0;
	if (errno)
		return pf_fail_write(err, STDOUT_FILENO, 0,
				     "cannot write output");
	return pf_fail(err, PF_EIO, "cannot write output");
}

static int exit_code(const struct pf_err *err)
{
	switch (err->code) {
	case PF_OK:
		return 0;
	case PF_EUSAGE:
		return 2;
	case PF_ESTOP:
		return 130;
	default:
		return 3;
	}
}

/* Is the first argument no command but what a command would read? */
static bool is_path(const char *word)
{
	static const char *const parts[] = { "/",       ".json", ".pfr",
					     ".sqlite", ".db",   ".rpd" };
	struct pf_err ignored = { 0 };

	if (pf_cmd_find(word, &ignored))
		return false;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (strstr(word, parts[i]))
			return true;
	return !access(word, F_OK);
}

static int run_command(int argc, char **argv, struct pf_err *err)
{
	bool is_summary = is_path(argv[1]);
	const struct pf_cmd *cmd =
		pf_cmd_find(is_summary ? "summary" : argv[1], err);
	int first = is_summary ? 1 : 2, rc = -1;

	if (cmd)
		rc = pf_cmd_run(cmd, argc - first, argv + first, stdout, err);
	if (rc < 0 && cmd)
		pf_while(err, "%s", cmd->name);
	return rc;
}

static int run_main(int argc, char **argv, struct pf_err *err)
{
	if (argc < 2) {
		pf_cmd_usage(NULL, stdout);
		return NO_COMMAND;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		pf_cmd_usage(NULL, stdout);
		return 0;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		puts("profan " PACKAGE_VERSION);
		return 0;
	}
	if (argv[1][0] == '-')
		return pf_fail(err, PF_EUSAGE,
			       "there is no option '%s' before a command",
			       argv[1]);
	return run_command(argc, argv, err);
}

/*
 * A file opened while 0, 1 or 2 are closed would take their place and get
 * what is meant for them.  Read-only, so that output to it still fails.
 */
static void hold_standard_files(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	struct pf_err err = { 0 }, output = { 0 };
	int rc;

	hold_standard_files();
	pf_mem_keep_below(PF_MEM_KEEP_MUCH);
	rc = run_main(argc, argv, &err);
	if (finish_output(&output) < 0 && rc >= 0) {
		err = output;
		rc = -1;
	}
	if (rc >= 0)
		return rc;
	pf_log(PF_LOG_ERROR, "%s", err.text);
	return exit_code(&err);
}
