/* SPDX-License-Identifier: MIT */
/*
 * profan capture [options] -- PROGRAM ARG...
 *
 * All it does for the capture is to set variables (agent/README.md), so any
 * launcher works without it.  The program's standard output is its own: what
 * we have to say goes to standard error.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/outplace.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "cmd/capture_files.h"
#include "cmd/capture_run.h"
#include "cmd/cmd.h"
#include "store/db.h"

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

static bool add_if_there(struct pf_buf *found, const char *folder,
			 const char *name)
{
	char *path;

	pf_buf_clear(found);
	pf_buf_addf(found, "%s%s%s", folder, *folder ? "/" : "", name);
	path = realpath(found->data, NULL);
	pf_buf_clear(found);
	if (!path)
		return false;
	pf_buf_adds(found, path);
	free(path);
	return true;
}

/*
 * Where the program itself is: in the tree it was built in, or in a prefix, so
 * that a folder that was moved, or unpacked by pip, is as good.
 */
static bool find_beside(struct pf_buf *found)
{
	char self[PATH_MAX], *slash;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n <= 0)
		return false;
	self[n] = '\0';
	slash = strrchr(self, '/');
	if (!slash)
		return false;
	*slash = '\0';
	return add_if_there(found, self, AGENT) ||
	       add_if_there(found, self, ".libs/" AGENT) ||
	       add_if_there(found, self, "../lib/profan/" AGENT);
}

static int find_agent(const struct capture_args *a, struct pf_buf *found,
		      struct pf_err *err)
{
	const char *named = a->agent;

	if (!named)
		named = getenv("PROFAN_AGENT");
	if (named && *named) {
		if (add_if_there(found, "", named))
			return 0;
		return pf_fail_errno(err, "cannot find the agent '%s'", named);
	}
	if (find_beside(found) || add_if_there(found, PKGLIBDIR, AGENT))
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
	char *copy;
	size_t len;
	int rc;

	if (n < 0)
		return 0;
	word = pf_opt_choice(words, n, &len);
	copy = pf_memdup0(word, len);
	rc = set_variable(name, copy, err);
	free(copy);
	return rc;
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

	if (check_kinds(a->kinds, err))
		return -1;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (set_variable(texts[i].name, texts[i].value, err))
			return -1;
	if (set_choice("PROFAN_GRAPH", "node|graph", a->graph, err) ||
	    set_choice("PROFAN_START", "on|off|api|signal", a->start, err) ||
	    set_choice("PROFAN_CLOCK", "monotonic|realtime", a->clock, err))
		return -1;
	if (set_number("PROFAN_DELAY_S", a->delay_ns, second, true, err) ||
	    set_number("PROFAN_DURATION_S", a->duration_ns, second, true,
		       err) ||
	    set_number("PROFAN_FLUSH_MS", a->flush_ns, milli, false, err) ||
	    set_number("PROFAN_EXIT_MS", a->exit_ns, milli, false, err))
		return -1;
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
	struct pf_buf text = { 0 };
	int rc;

	pf_buf_adds(&text, agent);
	if (others && *others)
		pf_buf_addf(&text, ":%s", others);
	rc = set_variable("LD_PRELOAD", text.data, err);
	pf_buf_release(&text);
	return rc;
}

static int set_up(const struct capture_args *a, const char *pattern,
		  struct pf_err *err)
{
	struct pf_buf agent = { 0 };
	int rc = -1;

	if (!find_agent(a, &agent, err) &&
	    !set_injection("CUDA_INJECTION64_PATH", agent.data, a->force,
			   err) &&
	    !set_injection("NVTX_INJECTION64_PATH", agent.data, a->force,
			   err) &&
	    (!a->preload || !set_preload(agent.data, err)))
		rc = set_options(a, pattern, err);
	pf_buf_release(&agent);
	return rc;
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

	return pf_cmd_run(pf_cmd_find("table", err), 5, argv, stderr, err);
}

/* Read what the run left, and say what it was. */
static int read_files(const struct capture_args *a,
		      const struct pf_capture_files *files, bool quiet,
		      struct pf_err *err)
{
	struct pf_capture_names names = { 0 };
	int rc = pf_capture_files_new(files, &names, err);

	if (!rc && !names.count) {
		pf_log_warn("capture: the program made no CUDA or NVTX call "
			    "that could be recorded");
	} else if (!rc) {
		rc = pf_cmd_ingest_files((const char *const *)names.items,
					 names.count, a->db, NULL, err);
		if (rc)
			pf_log_note("what was captured stays in '%s'",
				    files->folder);
		if (!rc && !quiet)
			rc = show_table(a->db, err);
		if (!rc)
			pf_log_note("captured %zu file%s in '%s', database "
				    "'%s'",
				    names.count, names.count == 1 ? "" : "s",
				    files->folder, a->db);
	}
	pf_capture_names_release(&names);
	return rc;
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

static int run(struct pf_ctx *cx, void *p, struct pf_err *err)
{
	const struct capture_args *a = p;
	const char *pattern = a->out ? a->out : getenv("PROFAN_OUT");
	const struct pf_outrule rule = { .is_ours = pf_db_is_ours,
					 .is_database = true };
	struct pf_capture_files files;
	int rc = -1, status = 0;

	if (!pattern || !*pattern)
		pattern = PATTERN;
	/* Rather before a long run than after it. */
	if (!a->no_ingest && pf_outplace_check(a->db, &rule, err))
		return -1;
	if (pf_capture_files_init(&files, pattern, err))
		return -1;
	if (set_up(a, files.pattern, err))
		goto out;
	rc = a->no_ingest ? pf_capture_become(cx->argv, &status, err)
			  : pf_capture_run(cx->argv, &status, err);
	if (rc) {
		pf_log(PF_LOG_ERROR, "capture: %s", err->text);
		rc = status;
	} else {
		rc = finish(a, &files, cx->quiet, status, err);
	}
out:
	pf_capture_files_release(&files);
	return rc;
}

PF_COMMAND(20, capture) = {
	.name = "capture",
	.args = "[--] PROGRAM [ARG]...",
	.summary = "run a program and record what it does on host and GPU",
	.details =
		"Sets the variables that make the CUDA driver and NVTX load "
		"profan's agent, runs the program, and reads the files that "
		"it and its children wrote into a database; the first table "
		"is printed on standard error. Without CUDA, NVTX ranges are "
		"recorded. Standard input and output are the program's alone, "
		"and so is the exit status: 128+N if signal N ended it, 127 "
		"if it is not there, 126 if it cannot be run.",
	.needs = PF_RUNS_PROGRAM,
	.min_args = 1,
	.max_args = -1,
	.opts = opts,
	.args_bytes = sizeof(struct capture_args),
	.defaults = &defaults,
	.examples = "profan capture python train.py --lr 0.1\n"
		    "profan capture --ingest run.db -o runs/a-%p.pfr -- ./a\n"
		    "profan capture -o t-r%q{RANK}-%p.pfr torchrun job.py\n"
		    "profan capture --no-ingest ./server\n",
	.run = run,
};
