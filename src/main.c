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
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "base/inside.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/num.h"
#include "cmd/cmd.h"
#include "store/db.h"

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

/* Says what went wrong; the exit code. */
static int say(const struct pf_err *err)
{
	pf_log(PF_LOG_ERROR, "%s", err->text);
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
	struct pf_err ignored = { 0 };

	if (pf_cmd_find(word, &ignored))
		return false;
	if (strpbrk(word, "/.")) /* as no command is called */
		return true;
	return !access(word, F_OK);
}

static int run_command(int argc, char **argv, FILE *out,
		       struct pf_cmd_kept *kept, struct pf_err *err)
{
	bool is_summary = is_path(argv[1]);
	const struct pf_cmd *cmd =
		pf_cmd_find(is_summary ? "summary" : argv[1], err);
	int first = is_summary ? 1 : 2, rc = -1;

	pf_log_set_level(PF_LOG_NOTE); /* the one before may have been quiet */
	if (cmd)
		rc = pf_cmd_run(cmd, argc - first, argv + first, out, kept,
				err);
	if (rc < 0 && cmd)
		pf_while(err, "%s", cmd->name);
	return rc;
}

/*
 * --serve: for a program that asks often.  A request is the number of words of
 * a command line, as in "profan gaps job.db", and these, each with a NUL behind
 * it; the answer is a line with the exit code and the number of bytes, and
 * these.  Messages have gone to stderr before.
 */

#define WORDS_MAX 100000

struct request {
	struct pf_arena texts;
	char **argv; /* and a NULL; commands change their order */
	size_t argc, cap;
};

static void clear_request(struct request *r)
{
	pf_arena_release(&r->texts);
	free(r->argv);
	*r = (struct request){ 0 };
}

/* 1, or 0 if the input ended. */
static int read_request(FILE *in, struct request *r, struct pf_err *err)
{
	PF_OWN char *word = NULL;
	size_t cap = 0;
	int64_t count = 0;
	int rc = getdelim(&word, &cap, '\0', in) > 0;

	if (rc && (pf_num_int(word, &count) || count < 2 || count > WORDS_MAX))
		rc = pf_fail(err, PF_EUSAGE, "'%s' is no number of words",
			     word);
	while (rc > 0 && r->argc < (size_t)count) {
		rc = getdelim(&word, &cap, '\0', in) > 0;
		*PF_ONE_MORE(r->argv, r->argc, r->cap) =
			(char *)pf_arena_string(&r->texts, rc ? word : "");
	}
	*PF_ONE_MORE(r->argv, r->argc, r->cap) = NULL;
	r->argc--;
	return rc;
}

static int run_one(const struct request *r, FILE *out, struct pf_cmd_kept *kept)
{
	struct pf_err err = { 0 };
	const struct pf_cmd *cmd = pf_cmd_find(r->argv[1], &err);
	int rc;

	err = (struct pf_err){ 0 };
	if (cmd && cmd->needs & PF_RUNS_PROGRAM)
		rc = pf_fail(&err, PF_EUSAGE, "'%s' is not served", cmd->name);
	else
		rc = run_command((int)r->argc, r->argv, out, kept, &err);
	return rc < 0 ? say(&err) : rc;
}

static int serve_one(const struct request *r, struct pf_cmd_kept *kept,
		     struct pf_err *err)
{
	PF_OWN char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	int code;

	if (!out)
		return pf_fail_errno(err, "cannot serve");
	code = run_one(r, out, kept);
	fclose(out);
	printf("%d %zu\n", code, len);
	fwrite(text, 1, len, stdout);
	return finish_output(err);
}

/* What the commands read is not the requests. */
static int serve(struct pf_err *err)
{
	FILE *in = fdopen(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3), "r");
	struct pf_cmd_kept kept = { 0 };
	struct request r = { 0 };
	int rc;

	if (!in || !freopen("/dev/null", "r", stdin))
		return pf_fail_errno(err, "cannot serve");
	while ((rc = read_request(in, &r, err)) > 0 &&
	       !(rc = serve_one(&r, &kept, err)))
		clear_request(&r);
	clear_request(&r);
	pf_cmd_kept_release(&kept);
	fclose(in);
	return rc;
}

/* ---- for a program that asks: before all else ---- */

#define ENDING_S 5 /* for what removes its unfinished files */

static void *wait_for_end(void *pipe)
{
	char byte;
	ssize_t n;

	do
		n = read((int)(intptr_t)pipe, &byte, 1);
	while (n > 0 || (n < 0 && errno == EINTR));
	kill(getpid(), SIGTERM);
	sleep(ENDING_S);
	kill(getpid(), SIGKILL);
	return NULL;
}

/*
 * --until-end-of=NUMBER, of an open pipe whose other end the asker alone has: it
 * may be killed, at any time, and nobody else would stop what it asked for.
 */
static int end_with(const char *number, struct pf_err *err)
{
	sigset_t all, before;
	pthread_t thread;
	int64_t pipe;
	int rc;

	if (pf_num_int(number, &pipe) || pipe < 0 || pipe > INT32_MAX)
		return pf_fail(err, PF_EUSAGE, "'%s' is no open pipe", number);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&thread, NULL, wait_for_end,
			    (void *)(intptr_t)pipe);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc)
		return pf_fail(err, PF_EIO, "no thread can be had: %s",
			       strerror(rc));
	pthread_detach(thread);
	return 0;
}

/* The value of such an option, which is taken away, or NULL. */
static const char *take_option(int *argc, char ***argv, const char *option)
{
	const size_t len = strlen(option);

	if (*argc < 2 || strncmp((*argv)[1], option, len) != 0)
		return NULL;
	--*argc;
	return *++*argv + len;
}

/*
 * --inside=FOLDER, of which there may be many: what is below none of these
 * folders is not read (base/inside.h).
 */
static int take_limits(int *argc, char ***argv, struct pf_err *err)
{
	const char *folder, *pipe = take_option(argc, argv, "--until-end-of=");

	while ((folder = take_option(argc, argv, "--inside="))) {
		if (*folder != '/')
			return pf_fail(err, PF_EUSAGE,
				       "'%s' does not begin at '/'", folder);
		pf_inside_add(folder);
	}
	PF_TRY(pf_db_see_files(err)); /* before there are threads */
	return pipe ? end_with(pipe, err) : 0;
}

/*
 * --stay, before a command: main() is called again in this process, as the page
 * does it (contrib/wasm/host.js), and databases stay open for the next.
 */
static struct pf_cmd_kept *take_stay(int *argc, char ***argv)
{
	static struct pf_cmd_kept kept;

	if (*argc < 3 || strcmp((*argv)[1], "--stay") != 0)
		return NULL;
	--*argc;
	++*argv;
	return &kept;
}

static int run_main(int argc, char **argv, struct pf_err *err)
{
	struct pf_cmd_kept *kept;

	PF_TRY(take_limits(&argc, &argv, err));
	kept = take_stay(&argc, &argv);
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
	if (!strcmp(argv[1], "--serve") && argc == 2)
		return serve(err);
	if (argv[1][0] == '-')
		return pf_fail(
			err, PF_EUSAGE,
			"there is no option '%s' before a command: options "
			"follow it, 'profan COMMAND --help' lists them",
			argv[1]);
	return run_command(argc, argv, stdout, kept, err);
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
	/* nobody asks for its statistics; threads would wait for their lock */
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	rc = run_main(argc, argv, &err);
	if (finish_output(&output) < 0 && rc >= 0) {
		err = output;
		rc = -1;
	}
	if (rc >= 0)
		return rc;
	return say(&err);
}
