/* SPDX-License-Identifier: MIT */
/*
 * profan capture [options] -- PROGRAM ARG...
 *
 * All it does for the capture is to set variables (agent/README.md), so any
 * launcher works without it.  The program's standard output is its own: what
 * we have to say goes to standard error.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <regex.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/asset.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/outplace.h"
#include "base/port.h"
#include "cmd/cmd.h"
#include "store/db.h"

/*
 * The files that a captured run leaves: the agent names them after a pattern
 * (agent/FORMAT.md, %p %h %t %n %q{VAR} %%) in one folder.  Whatever fits the
 * pattern and was not there before is the run's.
 */

struct pf_capture_names {
	char **items; /* owned; in order of name, numbers by value */
	size_t count, cap;
};

struct pf_capture_files {
	char *pattern; /* absolute, for the agent */
	char *folder;
	regex_t names;
	struct pf_capture_names before;
};

static void capture_names_release(struct pf_capture_names *n)
{
	for (size_t i = 0; i < n->count; i++)
		free(n->items[i]);
	free(n->items);
	memset(n, 0, sizeof(*n));
}

static void add_name(struct pf_capture_names *n, char *name)
{
	*PF_ONE_MORE(n->items, n->count, n->cap) = name;
}

/* ---- the pattern as a regular expression for names ---- */

static void add_literal(struct pf_buf *out, char c)
{
	if (strchr("\\^$.[]|()*+?{}", c))
		pf_buf_addc(out, '\\');
	pf_buf_addc(out, c);
}

/* What stands for the sequence at p (behind its %); p behind it. */
static const char *add_sequence(struct pf_buf *out, const char *p)
{
	const char *end;

	switch (*p) {
	case 'p':
	case 't':
	case 'n':
		pf_buf_adds(out, "[0-9]+");
		return p + 1;
	case 'h':
		pf_buf_adds(out, ".*");
		return p + 1;
	case 'q':
		end = p[1] == '{' ? strchr(p, '}') : NULL;
		if (end) {
			pf_buf_adds(out, "[A-Za-z0-9._-]*");
			return end + 1;
		}
		break;
	case '%':
		add_literal(out, '%');
		return p + 1;
	}
	/* as the agent does with what it does not know */
	add_literal(out, '%');
	return p;
}

static int compile(regex_t *re, const char *base, struct pf_err *err)
{
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };
	int rc;

	pf_buf_addc(&text, '^');
	for (const char *p = base; *p;) {
		if (*p == '%')
			p = add_sequence(&text, p + 1);
		else
			add_literal(&text, *p++);
	}
	/* A name that is taken gets a number. */
	pf_buf_adds(&text, "(\\.[0-9]{1,3})?$");
	rc = regcomp(re, text.data, REG_EXTENDED | REG_NOSUB);
	return rc ? pf_fail(err, PF_EUSAGE, "'%s' is no name for files", base)
		  : 0;
}

/* ---- the folder ---- */

static int make_folder(const char *path, struct pf_err *err)
{
	PF_OWN char *copy = pf_strdup(path);

	for (char *p = copy + 1;; p++) {
		char end = *p;

		if (end && end != '/')
			continue;
		*p = '\0';
		if (mkdir(copy, 0777) && errno != EEXIST)
			return pf_fail_errno(err, "cannot make folder '%s'",
					     path);
		if (!end)
			return 0;
		*p = end;
	}
}

static int by_version(const struct dirent **a, const struct dirent **b)
{
	return pf_strverscmp((*a)->d_name, (*b)->d_name);
}

static int list(const struct pf_capture_files *f, struct pf_capture_names *out,
		struct pf_err *err)
{
	PF_OWN struct dirent **found = NULL;
	int n = scandir(f->folder, &found, NULL, by_version);

	if (n < 0)
		return pf_fail_errno(err, "cannot read folder '%s'", f->folder);
	for (int i = 0; i < n; i++) {
		if (!regexec(&f->names, found[i]->d_name, 0, NULL, 0))
			add_name(out, pf_strdup(found[i]->d_name));
		free(found[i]);
	}
	return 0;
}

/* A folder's name as a part of the pattern: % is %%. */
static void add_folder(struct pf_buf *out, const char *folder)
{
	for (; *folder; folder++)
		pf_buf_adds(out,
			    *folder == '%' ? "%%" : (char[]){ *folder, '\0' });
}

static int make_absolute(struct pf_capture_files *f, const char *base,
			 struct pf_err *err)
{
	PF_OWN char *real = realpath(f->folder, NULL);
	struct pf_buf text = { 0 };

	if (!real)
		return pf_fail_errno(err, "cannot use folder '%s'", f->folder);
	free(f->folder);
	f->folder = pf_strdup(real);
	add_folder(&text, f->folder);
	pf_buf_addc(&text, '/');
	pf_buf_adds(&text, base);
	f->pattern = text.data;
	return 0;
}

static void capture_files_release(struct pf_capture_files *f)
{
	if (f->folder)
		regfree(&f->names);
	free(f->folder);
	free(f->pattern);
	capture_names_release(&f->before);
	memset(f, 0, sizeof(*f));
}

/*
 * Make the pattern absolute, make its folder if it is missing, and see what
 * is there.  PF_EUSAGE if the folder's part has a % sequence.
 */
static int capture_files_init(struct pf_capture_files *f, const char *pattern,
			      struct pf_err *err)
{
	const char *slash = strrchr(pattern, '/');
	const char *base = slash ? slash + 1 : pattern;

	memset(f, 0, sizeof(*f));
	if (slash && memchr(pattern, '%', (size_t)(slash - pattern)))
		return pf_fail(err, PF_EUSAGE,
			       "'%s': only the file's name may have %% "
			       "sequences, not its folder",
			       pattern);
	if (!*base)
		return pf_fail(err, PF_EUSAGE, "'%s' names a folder", pattern);
	PF_TRY(compile(&f->names, base, err));
	f->folder = slash == pattern ? pf_strdup("/")
		    : slash ? pf_memdup0(pattern, (size_t)(slash - pattern))
			    : pf_strdup(".");
	return make_folder(f->folder, err) || make_absolute(f, base, err) ||
			       list(f, &f->before, err)
		       ? -1
		       : 0;
}

static bool was_there(const struct pf_capture_files *f, const char *name)
{
	for (size_t i = 0; i < f->before.count; i++)
		if (!strcmp(f->before.items[i], name))
			return true;
	return false;
}

/* Paths of the files that are new; released by the caller. */
static int capture_files_new(const struct pf_capture_files *f,
			     struct pf_capture_names *out, struct pf_err *err)
{
	PF_AUTO(capture_names_release) struct pf_capture_names all = { 0 };

	PF_TRY(list(f, &all, err));
	for (size_t i = 0; i < all.count; i++) {
		struct pf_buf path = { 0 };

		if (was_there(f, all.items[i]))
			continue;
		pf_buf_addf(&path, "%s/%s", f->folder, all.items[i]);
		add_name(out, path.data);
	}
	return 0;
}

/*
 * A program as a child that does not notice: it has our standard files, our
 * signal mask and dispositions; signals sent to us alone reach it too (those
 * of a terminal reach it anyway).
 */

/* ---- capture run ---- */

extern char **environ;

static const int forwarded[] = { SIGINT,  SIGTERM, SIGHUP,
				 SIGQUIT, SIGUSR1, SIGUSR2 };
#define FORWARDED (PF_LEN(forwarded))

static volatile sig_atomic_t child; /* who gets them */

#ifndef SI_KERNEL /* nobody sent it; but on Linux also one outside a container */
#define IS_OF_KERNEL(info) (!(info)->si_pid)
#else
#define IS_OF_KERNEL(info) ((info)->si_code == SI_KERNEL)
#endif

/* From the kernel: a terminal's key, which the child has got as well. */
static void forward(int number, siginfo_t *info, void *context)
{
	int saved = errno;

	(void)context;
	if (!IS_OF_KERNEL(info) && child > 0)
		kill((pid_t)child, number);
	errno = saved;
}

static int cannot_run(const char *program, int error, int *status,
		      struct pf_err *err)
{
	*status = error == ENOENT ? 127 : 126;
	errno = error;
	return pf_fail_errno(err, "cannot run '%s'", program);
}

/* Become the program instead: returns only if that fails, as above. */
static int capture_become(char *const *argv, int *status, struct pf_err *err)
{
	execvp(argv[0], argv);
	return cannot_run(argv[0], errno, status, err);
}

static int start(char *const *argv, const sigset_t *mask, pid_t *pid)
{
	posix_spawnattr_t attr;
	int rc = posix_spawnattr_init(&attr);

	if (rc)
		return rc;
	posix_spawnattr_setsigmask(&attr, mask);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	rc = posix_spawnp(pid, argv[0], NULL, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	return rc;
}

static void catch_signals(struct sigaction old[FORWARDED])
{
	struct sigaction action = { .sa_sigaction = forward,
				    .sa_flags = SA_SIGINFO | SA_RESTART };

	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < FORWARDED; i++) {
		sigaction(forwarded[i], NULL, &old[i]);
		/* What is ignored stays so, for us as for the child. */
		if (old[i].sa_handler != SIG_IGN)
			sigaction(forwarded[i], &action, NULL);
	}
}

static int wait_for(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status)
				   : WEXITSTATUS(status);
}

/*
 * Whoever started us may ignore SIGCHLD: then the kernel would forget the
 * program's status.  It has to be so before there is a child.
 */
static void heed_child(struct sigaction *old)
{
	const struct sigaction action = { .sa_handler = SIG_DFL };

	sigaction(SIGCHLD, NULL, old);
	if (old->sa_handler == SIG_IGN || old->sa_flags & SA_NOCLDWAIT)
		sigaction(SIGCHLD, &action, NULL);
}

/*
 * Run argv[0], found in PATH, until it ends.  *status: its exit code, 128 + n
 * if signal n ended it, 127 if there is no such program, 126 if it cannot be
 * run (and then err says why and -1 is returned).
 */
static int capture_run(char *const *argv, int *status, struct pf_err *err)
{
	struct sigaction old[FORWARDED], old_child;
	sigset_t ours, before;
	pid_t pid = 0;
	int error;

	/* Until the handlers are there signals wait. */
	sigemptyset(&ours);
	for (size_t i = 0; i < FORWARDED; i++)
		sigaddset(&ours, forwarded[i]);
	sigprocmask(SIG_BLOCK, &ours, &before);
	heed_child(&old_child);
	error = start(argv, &before, &pid);
	if (!error) {
		child = pid;
		catch_signals(old);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (!error)
		*status = wait_for(pid);
	sigaction(SIGCHLD, &old_child, NULL);
	if (error)
		return cannot_run(argv[0], error, status, err);
	child = 0;
	for (size_t i = 0; i < FORWARDED; i++)
		sigaction(forwarded[i], &old[i], NULL);
	return 0;
}

#define AGENT   "libprofan_agent.so"
#define PATTERN "profan-%h-%p.pfr"
#define UNSET   (-1)

struct capture_args {
	const char *out, *db, *kinds, *signal, *cupti, *agent;
	int graph, start, clock; /* index of the word; UNSET */
	int64_t delay_ns, duration_ns, flush_ns, exit_ns, max_mb;
	bool no_ingest, no_nvtx, no_subscribe, no_cmdline, preload, force;
	bool verbose;
};

static const struct capture_args defaults = {
	.db = "profan.db",
	.graph = UNSET,
	.start = UNSET,
	.clock = UNSET,
	.delay_ns = UNSET,
	.duration_ns = UNSET,
	.flush_ns = UNSET,
	.exit_ns = UNSET,
	.max_mb = UNSET,
};

#define OFF(field) offsetof(struct capture_args, field)

static const struct pf_opt opts[] = {
	{ 'o', "output", "PATTERN", "name the files so (default " PATTERN ")",
	  PF_OPT_STRING, OFF(out), 0, 0 },
	{ 0, "ingest", "DB", "read them into this database (profan.db)",
	  PF_OPT_STRING, OFF(db), 0, 0 },
	{ 0, "no-ingest", NULL, "only record: become the program", PF_OPT_FLAG,
	  OFF(no_ingest), 0, 0 },
	{ 'k', "kinds", "GROUPS", "what to record (+NAME, -NAME, all)",
	  PF_OPT_STRING, OFF(kinds), 0, 0 },
	{ 0, "graph", "node|graph", "CUDA graphs by kernel or as a whole",
	  PF_OPT_CHOICE, OFF(graph), 0, 0 },
	{ 0, "start", "on|off|api|signal",
	  "when recording begins (api: cudaProfilerStart)", PF_OPT_CHOICE,
	  OFF(start), 0, 0 },
	{ 0, "signal", "NAME", "signal that starts and stops (USR2)",
	  PF_OPT_STRING, OFF(signal), 0, 0 },
	{ 0, "delay", "DURATION", "begin so long after the start", PF_OPT_NS,
	  OFF(delay_ns), 0, 0 },
	{ 0, "duration", "DURATION", "stop so long after the beginning",
	  PF_OPT_NS, OFF(duration_ns), 0, 0 },
	{ 0, "flush", "DURATION", "write so often (default 1s)", PF_OPT_NS,
	  OFF(flush_ns), 0, 0 },
	{ 0, "exit-wait", "DURATION",
	  "hold the program's end at most so long (2s)", PF_OPT_NS,
	  OFF(exit_ns), 0, 0 },
	{ 0, "max-size", "MB", "stop at this size of a file (4096)", PF_OPT_INT,
	  OFF(max_mb), 1, 1 << 24 },
	{ 0, "clock", "monotonic|realtime", "clock of CUPTI's events",
	  PF_OPT_CHOICE, OFF(clock), 0, 0 },
	{ 0, "no-nvtx", NULL, "record no NVTX ranges", PF_OPT_FLAG,
	  OFF(no_nvtx), 0, 0 },
	{ 0, "no-subscribe", NULL, "leave CUPTI's callbacks to others",
	  PF_OPT_FLAG, OFF(no_subscribe), 0, 0 },
	{ 0, "no-cmdline", NULL, "do not store the command line", PF_OPT_FLAG,
	  OFF(no_cmdline), 0, 0 },
	{ 0, "preload", NULL,
	  "also preload the agent, for programs that "
	  "_exit",
	  PF_OPT_FLAG, OFF(preload), 0, 0 },
	{ 0, "agent", "FILE", "the agent's library", PF_OPT_STRING, OFF(agent),
	  0, 0 },
	{ 0, "cupti", "FILE", "the CUPTI library to use", PF_OPT_STRING,
	  OFF(cupti), 0, 0 },
	{ 0, "force", NULL, "replace another tool's injection", PF_OPT_FLAG,
	  OFF(force), 0, 0 },
	{ 'v', "verbose", NULL, "let the agent say what it does", PF_OPT_FLAG,
	  OFF(verbose), 0, 0 },
	{ 0 }
};

/* ---- the agent ---- */

static int find_agent(const struct capture_args *a, struct pf_buf *found,
		      struct pf_err *err)
{
	const char *named = a->agent;

	if (!named)
		named = getenv("PROFAN_AGENT");
	if (named && *named) {
		PF_OWN char *path = realpath(named, NULL);

		pf_buf_adds(found, path ? path : "");
		if (found->len)
			return 0;
		return pf_fail_errno(err, "cannot find the agent '%s'", named);
	}
	if (pf_asset_find(AGENT, ".libs/" AGENT, NULL, found) ||
	    pf_asset_find(AGENT, "../lib/profan/" AGENT, PKGLIBDIR "/" AGENT,
			  found))
		return 0;
	return pf_fail(err, PF_EIO,
		       "cannot find " AGENT " beside profan or in " PKGLIBDIR
		       "; name it with --agent");
}

/* ---- variables ---- */

static int set_variable(const char *name, const char *value, struct pf_err *err)
{
	if (value && setenv(name, value, 1))
		return pf_fail_errno(err, "cannot set %s", name);
	return 0;
}

static int set_choice(const char *name, const char *words, int n,
		      struct pf_err *err)
{
	const char *word;
	PF_OWN char *copy = NULL;
	size_t len;

	if (n < 0)
		return 0;
	word = pf_opt_choice(words, n, &len);
	copy = pf_memdup0(word, len);
	return set_variable(name, copy, err);
}

/* A number of units with a fraction of digits: "1.500". */
static int set_number(const char *name, int64_t value, int64_t unit,
		      bool fraction, struct pf_err *err)
{
	char text[64];

	if (value < 0)
		return 0;
	if (fraction)
		snprintf(text, sizeof(text), "%" PRId64 ".%09" PRId64,
			 value / unit, value % unit);
	else
		snprintf(text, sizeof(text), "%" PRId64,
			 value / unit + (value % unit > 0));
	return set_variable(name, text, err);
}

/* "kernel,+memory,-driver,all"; the agent would only warn of others. */
static int check_kinds(const char *text, struct pf_err *err)
{
	static const char words[] =
		"all|kernel|memcpy|memset|runtime|driver|sync|overhead|info|"
		"events|memory|uvm|env|external|latency|nvtx";
	const char *word;
	size_t len, found;

	for (; text && *text; text += len + (text[len] == ',')) {
		bool is_known = false;

		text += *text == '+' || *text == '-';
		len = strcspn(text, ",");
		for (int i = 0; (word = pf_opt_choice(words, i, &found)); i++)
			is_known |= found == len && !memcmp(word, text, len);
		if (len && !is_known)
			return pf_fail(err, PF_EUSAGE,
				       "'--kinds' knows no '%.*s'; it may be "
				       "one or several of %s",
				       (int)len, text, words);
	}
	return 0;
}

static int set_options(const struct capture_args *a, const char *pattern,
		       struct pf_err *err)
{
	const int64_t second = 1000000000, milli = 1000000;
	const struct {
		const char *name, *value;
	} texts[] = {
		{ "PROFAN_OUT", pattern },
		{ "PROFAN_KINDS", a->kinds },
		{ "PROFAN_SIGNAL", a->signal },
		{ "PROFAN_CUPTI", a->cupti },
		{ "PROFAN_NVTX", a->no_nvtx ? "0" : NULL },
		{ "PROFAN_SUBSCRIBE", a->no_subscribe ? "0" : NULL },
		{ "PROFAN_CMDLINE", a->no_cmdline ? "0" : NULL },
		{ "PROFAN_VERBOSE", a->verbose ? "1" : NULL },
	};

	PF_TRY(check_kinds(a->kinds, err));
	for (size_t i = 0; i < PF_LEN(texts); i++)
		PF_TRY(set_variable(texts[i].name, texts[i].value, err));
	PF_TRY(set_choice("PROFAN_GRAPH", "node|graph", a->graph, err));
	PF_TRY(set_choice("PROFAN_START", "on|off|api|signal", a->start, err));
	PF_TRY(set_choice("PROFAN_CLOCK", "monotonic|realtime", a->clock, err));
	PF_TRY(set_number("PROFAN_DELAY_S", a->delay_ns, second, true, err));
	PF_TRY(set_number("PROFAN_DURATION_S", a->duration_ns, second, true,
			  err));
	PF_TRY(set_number("PROFAN_FLUSH_MS", a->flush_ns, milli, false, err));
	PF_TRY(set_number("PROFAN_EXIT_MS", a->exit_ns, milli, false, err));
	return set_number("PROFAN_MAX_MB", a->max_mb, 1, false, err);
}

/* Another tool's library is not pushed aside unasked. */
static int set_injection(const char *name, const char *agent, bool force,
			 struct pf_err *err)
{
	const char *other = getenv(name);

	if (other && *other && strcmp(other, agent) && !force)
		return pf_fail(err, PF_EIO,
			       "%s is '%s', another tool's; --force replaces "
			       "it",
			       name, other);
	return set_variable(name, agent, err);
}

static int set_preload(const char *agent, struct pf_err *err)
{
	const char *others = getenv("LD_PRELOAD");
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };

	pf_buf_adds(&text, agent);
	if (others && *others)
		pf_buf_addf(&text, ":%s", others);
	return set_variable("LD_PRELOAD", text.data, err);
}

static int set_up(const struct capture_args *a, const char *pattern,
		  struct pf_err *err)
{
	PF_AUTO(pf_buf_release) struct pf_buf agent = { 0 };

	PF_TRY(find_agent(a, &agent, err));
	PF_TRY(set_injection("CUDA_INJECTION64_PATH", agent.data, a->force,
			     err));
	PF_TRY(set_injection("NVTX_INJECTION64_PATH", agent.data, a->force,
			     err));
	PF_TRY(a->preload && set_preload(agent.data, err));
	return set_options(a, pattern, err);
}

/* ---- afterwards ---- */

static int show_table(const char *db, struct pf_err *err)
{
	char *argv[] = { (char *)db,
			 (char *)"--sort",
			 (char *)"self_cuda_time_total",
			 (char *)"--limit",
			 (char *)"10",
			 NULL };

	return pf_cmd_run(pf_cmd_find("table", err), 5, argv, stderr, NULL,
			  err);
}

/* Read what the run left, and say what it was. */
static int read_files(const struct capture_args *a,
		      const struct pf_capture_files *files, bool quiet,
		      struct pf_err *err)
{
	PF_AUTO(capture_names_release) struct pf_capture_names names = { 0 };

	PF_TRY(capture_files_new(files, &names, err));
	if (!names.count) {
		pf_log_warn("capture: the program made no CUDA or NVTX call "
			    "that could be recorded");
		return 0;
	}
	if (pf_cmd_ingest_files((const char *const *)names.items, names.count,
				a->db, NULL, err)) {
		pf_log_note("what was captured stays in '%s'", files->folder);
		return -1;
	}
	PF_TRY(!quiet && show_table(a->db, err));
	pf_log_note("captured %zu file%s in '%s', database '%s'", names.count,
		    pf_plural(names.count), files->folder, a->db);
	return 0;
}

/* The program's status is ours, unless it did well and we did not. */
static int finish(const struct capture_args *a,
		  const struct pf_capture_files *files, bool quiet, int status,
		  struct pf_err *err)
{
	if (!read_files(a, files, quiet, err))
		return status;
	if (!status)
		return -1;
	pf_log(PF_LOG_ERROR, "capture: %s", err->text);
	return status;
}

static int run(struct pf_ctx *cx, void *p)
{
	const struct capture_args *a = p;
	const char *pattern = a->out ? a->out : getenv("PROFAN_OUT");
	const struct pf_outrule rule = { .is_ours = pf_db_is_ours,
					 .is_database = true };
	PF_AUTO(capture_files_release) struct pf_capture_files files = { 0 };
	int status = 0;

	if (!pattern || !*pattern)
		pattern = PATTERN;
	/* Rather before a long run than after it. */
	PF_TRY(!a->no_ingest && pf_outplace_check(a->db, &rule, cx->err));
	PF_TRY(capture_files_init(&files, pattern, cx->err));
	PF_TRY(set_up(a, files.pattern, cx->err));
	if (!(a->no_ingest ? capture_become(cx->argv, &status, cx->err)
			   : capture_run(cx->argv, &status, cx->err)))
		return finish(a, &files, cx->quiet, status, cx->err);
	pf_log(PF_LOG_ERROR, "capture: %s", cx->err->text);
	return status;
}

PF_COMMAND(115, capture) = {
	.name = "capture",
	.group = PF_GROUP_READ,
	.args = "[--] PROGRAM [ARG]...",
	.summary = "run a program and record what it does on host and GPU",
	.details = "The program needs no change: variables make the CUDA "
		   "driver and NVTX load profan's agent, which writes one "
		   ".pfr file for each process, children included; then the "
		   "files are read into a database.  Without CUDA the "
		   "program's NVTX ranges are recorded.  Its own "
		   "torch.profiler or jax.profiler gets no GPU work "
		   "meanwhile.\n"
		   "\n"
		   "Standard input and output are the program's, and signals "
		   "sent to 'profan capture' reach it; the first table and "
		   "all messages go to standard error.  The exit status is "
		   "the program's, 128+N if signal N ended it, 127 if there "
		   "is no such program, 126 if it cannot be run; 3 if it did "
		   "well but its files cannot be read.",
	.needs = PF_RUNS_PROGRAM,
	.min_args = 1,
	.max_args = -1,
	.opts = opts,
	PF_DEFAULTS(defaults),
	.examples = "profan capture python train.py --lr 0.1\n"
		    "profan capture --ingest run.db -o runs/a-%p.pfr -- ./a\n"
		    "profan capture -o t-r%q{RANK}-%p.pfr torchrun job.py\n"
		    "profan capture --no-ingest ./server\n",
	.run = run,
};
