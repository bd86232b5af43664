/* SPDX-License-Identifier: MIT */
/* profan ingest TRACE... [-o OUT.db] */
#include "config.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/demangle.h"
#include "base/intern.h"
#include "base/json.h"
#include "base/log.h"
#include "base/num.h"
#include "base/order.h"
#include "base/sat.h"
#include "base/tempfile.h"
#include "cmd/cmd.h"
#include "ingest/files.h"
#include "ingest/ingest.h"
#include "show/render.h"
#include "store/query.h"
#include "torch/averages.h"

/*
 * Where the time of an ingest went: for each phase the time that passed, the
 * CPU time of all threads, and that of the first of them, which is what more
 * threads do not share.
 */

#define PHASES_MAX 8

/* The last is that of the thread that starts; others ask for it, too. */
static clockid_t clocks[] = { CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID,
			      CLOCK_THREAD_CPUTIME_ID };
#define CLOCKS (PF_LEN(clocks))

struct phase {
	const char *name;
	int64_t ns[CLOCKS];
};

/* The callback that says a phase has no argument: one ingest at a time. */
static struct {
	struct phase phase[PHASES_MAX];
	size_t count, current;
	int64_t since_ns[CLOCKS];
} state;

static size_t find(const char *name)
{
	size_t i = 0;

	while (i < state.count && strcmp(state.phase[i].name, name))
		i++;
	if (i == state.count && i < PHASES_MAX)
		state.phase[state.count++] = (struct phase){ .name = name };
	return i < PHASES_MAX ? i : PHASES_MAX - 1;
}

static int64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* What passed since the last call belongs to the current phase. */
static void add_up(void)
{
	for (size_t i = 0; i < CLOCKS; i++) {
		int64_t ns = clock_ns(clocks[i]);

		if (state.count)
			state.phase[state.current].ns[i] +=
				ns - state.since_ns[i];
		state.since_ns[i] = ns;
	}
}

/* What pf_ingest_options.phase calls: a phase by name, NULL: reading. */
static void timings_phase(const char *name)
{
	add_up();
	state.current = find(name ? name : "reading");
}

/* The first phase begins. */
static void timings_start(void)
{
	memset(&state, 0, sizeof(state));
#ifdef HAVE_PTHREAD_GETCPUCLOCKID
	pthread_getcpuclockid(pthread_self(), &clocks[CLOCKS - 1]);
#else /* as if all was done by this thread, which is so without threads */
	clocks[CLOCKS - 1] = CLOCK_PROCESS_CPUTIME_ID;
#endif
	timings_phase(NULL);
}

static void show(FILE *f, const struct phase *p)
{
	fprintf(f, "%-10s", p->name);
	for (size_t i = 0; i < CLOCKS; i++)
		fprintf(f, " %13.1f", (double)p->ns[i] / 1e6);
	fputc('\n', f);
}

/* The last phase has ended: a line for each. */
static void timings_show(FILE *f)
{
	struct phase all = { .name = "all" };

	add_up();
	fprintf(f, "%-10s %13s %13s %13s\n", "phase", "passed (ms)", "CPU (ms)",
		"1st thread");
	for (size_t i = 0; i < state.count; i++) {
		show(f, &state.phase[i]);
		for (size_t k = 0; k < CLOCKS; k++)
			all.ns[k] += state.phase[i].ns[k];
	}
	show(f, &all);
}

/* ---- what was read so far ---- */

#define COUNTS_NS INT64_C(200000000) /* between two lines */
#define WORK_ROWS 8                  /* that a line has */
#define WORK_MAX  10000u             /* names: no more are remembered */

struct work {
	int64_t ns, calls;
	uint32_t name;
};
PF_ORDER(by_time, struct work, PF_DOWN(ns) PF_UP(name))

/* As state: one ingest at a time. */
static struct {
	int64_t kind[PF_KIND_COUNT];
	int64_t said_ns;
	struct pf_intern names; /* of GPU work */
	struct work work[WORK_MAX];
	bool is_work_all;
} counts;

static void counts_say_work(struct pf_jsonw *w)
{
	uint32_t n = counts.is_work_all ? counts.names.count : 0;
	PF_OWN struct work *sorted = pf_calloc(n + (size_t)1, sizeof(*sorted));

	memcpy(sorted, counts.work, n * sizeof(*sorted));
	pf_sort(sorted, n, sizeof(*sorted), by_time);
	pf_jsonw_array(w);
	for (uint32_t i = 0; i < n && i < WORK_ROWS; i++) {
		size_t len;
		const char *name =
			pf_intern_text(&counts.names, sorted[i].name, &len);
		PF_OWN char *plain = pf_demangle_take(name, len);

		pf_jsonw_object(w);
		pf_jsonw_key(w, "name");
		pf_jsonw_string(w, plain ? plain : name,
				plain ? strlen(plain) : len);
		pf_jsonw_key(w, "calls");
		pf_jsonw_int(w, sorted[i].calls);
		pf_jsonw_key(w, "total_ns");
		pf_jsonw_int(w, sorted[i].ns);
		pf_jsonw_end(w);
	}
	pf_jsonw_end(w);
}

static void counts_say(void)
{
	const int64_t *n = counts.kind;
	PF_AUTO(pf_buf_release) struct pf_buf line = { 0 };
	struct pf_jsonw w = { .out = &line };
	int64_t all = 0, work = 0;

	for (unsigned k = 0; k < PF_KIND_COUNT; k++) {
		all += n[k];
		work += pf_kind_is_gpu_work(k) ? n[k] : 0;
	}
	pf_buf_addf(&line,
		    "{\"events\": %" PRId64 ", \"gpu_events\": %" PRId64
		    ", \"operators\": %" PRId64 ", \"calls\": %" PRId64
		    ", \"python_functions\": %" PRId64 ", \"gpu_work\": ",
		    all, work, n[PF_KIND_CPU_OP],
		    n[PF_KIND_RUNTIME] + n[PF_KIND_DRIVER], n[PF_KIND_PYTHON]);
	counts_say_work(&w);
	pf_buf_adds(&line, "}\n");
	fwrite(line.data, 1, line.len, stderr);
}

/* Of more names than are remembered the longest may be missing: then none. */
static void counts_add_work(const struct pf_parsed *p)
{
	const struct pf_dict *names = &p->names;

	for (size_t i = 0; i < p->batch.count && counts.is_work_all; i++) {
		const struct pf_event *e = &p->batch.events[i];
		const struct pf_dict_entry *name = &names->entries[e->name];
		uint32_t n;

		if (!pf_kind_is_gpu_work(e->kind) || e->dur_ns < 0)
			continue;
		n = pf_intern_add(&counts.names,
				  names->text.data + name->text_at,
				  name->text_len);
		counts.is_work_all = counts.names.count < WORK_MAX;
		counts.work[n].name = n;
		counts.work[n].calls++;
		pf_sat_sum(&counts.work[n].ns, e->dur_ns);
	}
}

static void counts_add(const struct pf_parsed *p)
{
	int64_t ns = clock_ns(CLOCK_MONOTONIC);

	for (int k = 0; k < PF_KIND_COUNT; k++)
		counts.kind[k] += p->batch.kind_count[k];
	counts_add_work(p);
	if (ns - counts.said_ns < COUNTS_NS)
		return;
	counts.said_ns = ns;
	counts_say();
}

/* ---- the command ---- */

struct ingest_args {
	const char *out;
	const char *tmp;
	bool strict, no_python, timings, counts, os_calls, dry_run, keep_going,
		salvage;
	int64_t rank, threads;
	struct pf_tele_options telemetry;
};

static const struct ingest_args defaults = { .out = "profan.db", .rank = -1 };

static const struct pf_opt opts[] = {
	{ 'o', "output", "DB",
	  "write the database here (default profan.db); a folder: one of each "
	  "run into it",
	  PF_OPT_STRING, offsetof(struct ingest_args, out), 0, 0 },
	{ 0, "strict", NULL, "refuse a trace that needs any repair",
	  PF_OPT_FLAG, offsetof(struct ingest_args, strict), 0, 0 },
	{ 0, "keep-going", NULL,
	  "leave out files that cannot be read, say so, and exit with 1",
	  PF_OPT_FLAG, offsetof(struct ingest_args, keep_going), 0, 0 },
	{ 0, "salvage", NULL,
	  "keep what is before the cut of a memory snapshot, and read *.tmp of "
	  "folders; exit with 1 if a snapshot is cut",
	  PF_OPT_FLAG, offsetof(struct ingest_args, salvage), 0, 0 },
	{ 0, "tmp", "DIR",
	  "temporary files go here (default $TMPDIR, else beside DB)",
	  PF_OPT_STRING, offsetof(struct ingest_args, tmp), 0, 0 },
	{ 0, "no-python-functions", NULL,
	  "leave out python_function events (counted)", PF_OPT_FLAG,
	  offsetof(struct ingest_args, no_python), 0, 0 },
	{ 0, "osrt", NULL,
	  "keep operating system calls of Nsight Systems exports", PF_OPT_FLAG,
	  offsetof(struct ingest_args, os_calls), 0, 0 },
	{ 0, "rank", "N", "rank of the first trace, if the file does not say",
	  PF_OPT_INT, offsetof(struct ingest_args, rank), 0, 1000000 },
	{ 0, "tz", "ZONE",
	  "zone of times in logs that have none: +02:00, -07:00, Z",
	  PF_OPT_STRING, offsetof(struct ingest_args, telemetry.zone), 0, 0 },
	{ 0, "columns", "LIST",
	  "columns of an nvidia-smi log without its first line", PF_OPT_STRING,
	  offsetof(struct ingest_args, telemetry.columns), 0, 0 },
	{ 0, "gpus", "N",
	  "rows of a log that names no GPU are of N GPUs in turn", PF_OPT_INT,
	  offsetof(struct ingest_args, telemetry.gpus), 1, 1024 },
	{ 0, "interval", "TIME", "between rows of a log that has no times",
	  PF_OPT_NS, offsetof(struct ingest_args, telemetry.interval_ns), 0,
	  0 },
	{ 0, "start", "TIME", "when the first row of such a log was written",
	  PF_OPT_STRING, offsetof(struct ingest_args, telemetry.start), 0, 0 },
	{ 'j', "threads", "N",
	  "readers to use (default: one per processor, at most 4)", PF_OPT_INT,
	  offsetof(struct ingest_args, threads), 1, 16 },
	{ 0, "dry-run", NULL,
	  "print what would be read, and into what; write nothing", PF_OPT_FLAG,
	  offsetof(struct ingest_args, dry_run), 0, 0 },
	{ 0, "counts", NULL,
	  "say on stderr, as JSON, what has been read so far", PF_OPT_FLAG,
	  offsetof(struct ingest_args, counts), 0, 0 },
	{ 0, "timings", NULL, "print where the time went", PF_OPT_FLAG,
	  offsetof(struct ingest_args, timings), 0, 0 },
	{ 0 }
};

static void enter_phase(const char *name)
{
	pf_progress_phase(name);
	timings_phase(name);
}

/* What is not in the database, though the files may have it. */
struct missing {
	bool is_over; /* threads past a limit, or a snapshot that is cut */
	size_t unread_count;
};

static void show_unread(const char *path, const char *why, void *arg)
{
	((struct missing *)arg)->unread_count++;
	pf_log_warn("'%s': %s; left out", path, why);
}

/* One line per kind of repair: what, how often, where first. */
static void show_repairs(const struct pf_ingest_report *r, void *arg)
{
	if (r->repairs->of[PF_SKIP_TRACKS].count ||
	    r->repairs->of[PF_REPAIR_CUT_SNAPSHOT].count)
		((struct missing *)arg)->is_over = true;
	for (int k = 0; k < PF_REPAIR_KINDS; k++) {
		const int64_t count = r->repairs->of[k].count;
		const int64_t at = r->repairs->of[k].first_offset;

		if (!count || pf_repair_is_usual((enum pf_repair_kind)k))
			continue;
		const char *shown = PF_SHOW_COUNT(count);
		if (at >= 0)
			pf_log_warn("'%s': %s: %s, first at byte %" PRId64,
				    r->path,
				    pf_repair_text((enum pf_repair_kind)k),
				    shown, at);
		else
			pf_log_warn("'%s': %s: %s", r->path,
				    pf_repair_text((enum pf_repair_kind)k),
				    shown);
	}
}

/* Values that tests set to exercise every path with small inputs. */
static void read_hooks(struct pf_ingest_options *o)
{
	const char *chunk = getenv("PROFAN_CHUNK_BYTES");
	const char *threads = getenv("PROFAN_THREADS");
	const char *scanner = getenv("PROFAN_SCANNER");
	int64_t n;

	if (chunk && !pf_num_int(chunk, &n) && n > 0 && n <= 1 << 30)
		o->chunk_bytes = (size_t)n;
	if (threads && !o->threads && !pf_num_int(threads, &n) && n > 0 &&
	    n <= 16)
		o->threads = (unsigned)n;
	if (scanner && !strcmp(scanner, "plain"))
		o->scanner = PF_SCANNER_PLAIN;
}

/* Figures of several jobs would be put together without a word. */
static int warn_of_mixed(const char *path, struct pf_err *err)
{
	PF_AUTO(pf_db_close) struct pf_db db = { 0 };
	PF_STMT(st) = NULL;

	PF_TRY(pf_db_open(&db, path, false, err));
	st = pf_named_prepare(&db, "ingest_mixed", err);
	PF_TRY(pf_db_step(&db, st, err) < 0);
	if (sqlite3_column_type(st, 0) != SQLITE_NULL)
		pf_log_warn("these traces seem to be of several jobs, and "
			    "their figures are put together: %s",
			    pf_sqlite_text(st, 0));
	return 0;
}

/* 1: something is missing, which the database counts. */
static int ingest(struct pf_ingest_options *o, struct pf_err *err)
{
	struct missing missing = { 0 };
	int rc;

	o->extra = &pf_averages_extra;
	o->report = show_repairs;
	o->report_arg = &missing;
	o->unread = show_unread;
	o->progress = pf_progress_set;
	o->phase = enter_phase;
	read_hooks(o);
	pf_progress_start("ingest", pf_ingest_total_bytes(o));
	timings_start();
	memset(&counts, 0, sizeof(counts));
	counts.is_work_all = true;
	rc = pf_ingest(o, err);
	pf_progress_stop();
	if (o->counted)
		counts_say();
	pf_intern_release(&counts.names);
	if (!rc && o->path_count > 1)
		rc = warn_of_mixed(o->out, err);
	if (!rc && missing.unread_count)
		pf_log_warn("%zu of %zu files could not be read; 'profan info' "
			    "lists them",
			    missing.unread_count, o->path_count);
	return !rc && (missing.is_over || missing.unread_count) ? 1 : rc;
}

int pf_cmd_ingest_files(const char *const *paths, size_t count, const char *out,
			const char *cache, struct pf_err *err)
{
	struct pf_ingest_options o = { .paths = paths,
				       .path_count = count,
				       .out = out,
				       .cache = cache,
				       .rank = -1 };

	return ingest(&o, err) < 0 ? -1 : 0;
}

static void add_counted(struct pf_buf *out, int64_t n, const char *one)
{
	if (n)
		pf_buf_addf(out, ", %s %s%s", PF_SHOW_COUNT(n), one,
			    pf_plural(n));
}

/* For a person who waited: what came of it, and what to do with it. */
static int say_done(const char *path, struct pf_err *err)
{
	PF_AUTO(pf_buf_release) struct pf_buf line = { 0 };
	PF_AUTO(pf_db_close) struct pf_db db = { 0 };
	PF_STMT(st) = NULL;
	int rc;

	PF_TRY(pf_db_open(&db, path, false, err));
	st = pf_named_prepare(&db, "ingest_done", err);
	rc = pf_db_step(&db, st, err);
	if (rc == 1) {
		add_counted(&line, sqlite3_column_int64(st, 0), "event");
		add_counted(&line, sqlite3_column_int64(st, 1), "GPU");
		add_counted(&line, sqlite3_column_int64(st, 2), "step");
		pf_log_note("%s: %s; next: profan report %s", path,
			    line.len ? line.data + 2 : "no events", path);
	}
	return rc < 0 ? -1 : 0;
}

/* ---- which files, into what ---- */

static int read_run(const struct ingest_args *a, const struct pf_paths *list,
		    const char *out, struct pf_err *err)
{
	struct pf_ingest_options o = {
		.paths = (const char *const *)list->items,
		.path_count = list->count,
		.out = out,
		.strict = a->strict,
		.keep_going = a->keep_going,
		.salvage = a->salvage,
		.skip_python = a->no_python,
		.os_calls = a->os_calls,
		.telemetry = a->telemetry,
		.rank = a->rank,
		.threads = (unsigned)a->threads,
		.counted = a->counts ? counts_add : NULL,
	};
	int rc = ingest(&o, err);

	if (rc >= 0 && pf_progress_is_watched() && say_done(out, err))
		rc = -1;
	return rc;
}

static int read_runs(const struct ingest_args *a, const struct pf_plan *plan,
		     struct pf_err *err)
{
	int rc = 0, worst = 0;

	for (size_t i = 0; i < plan->run_count && rc >= 0; i++) {
		const struct pf_plan_run *run = &plan->runs[i];

		rc = read_run(a, &run->traces, run->database, err);
		worst |= rc;
		if (rc >= 0)
			pf_log_note("%s: %zu trace%s of %s", run->database,
				    run->traces.count,
				    pf_plural(run->traces.count), run->name);
	}
	return rc < 0 ? -1 : worst;
}

static int read_all(const struct ingest_args *a, const struct pf_plan *plan,
		    struct pf_err *err)
{
	PF_AUTO(pf_paths_release) struct pf_paths list = { 0 };

	pf_plan_say(plan);
	pf_selection_paths(plan->choice, &list);
	return read_run(a, &list, a->out, err);
}

static int show_plan(struct pf_ctx *cx, const struct pf_plan *plan,
		     const char *out)
{
	PF_AUTO(pf_doc_release) struct pf_doc doc = { 0 };

	pf_plan_show(plan, out, &doc);
	return pf_render_doc(&cx->style, &doc, cx->out, cx->err);
}

static int follow(struct pf_ctx *cx, const struct ingest_args *a,
		  const struct pf_selection *choice, struct pf_err *err)
{
	bool is_split = pf_is_folder(a->out);
	PF_AUTO(pf_plan_release) struct pf_plan plan = { 0 };

	pf_plan_make(&plan, choice);
	PF_TRY(is_split && pf_plan_split(&plan, a->out, err));
	return a->dry_run ? show_plan(cx, &plan, a->out)
	       : is_split ? read_runs(a, &plan, err)
			  : read_all(a, &plan, err);
}

/* Of all that makes temporary files, SQLite too. */
static int use_folder(const char *dir, struct pf_err *err)
{
	if (!pf_is_folder(dir) || setenv("TMPDIR", dir, 1) ||
	    !pf_temp_dir_asked())
		return pf_fail(err, PF_EUSAGE,
			       "--tmp '%s' is no folder that can be written to",
			       dir);
	return 0;
}

static int run(struct pf_ctx *cx, void *p)
{
	const struct ingest_args *a = p;
	struct pf_selection choice = { .keep_going = a->keep_going,
				       .salvage = a->salvage,
				       .has_interval =
					       a->telemetry.interval_ns > 0 };
	struct pf_err none = { 0 };
	int rc;

	if (!strcmp(a->out, "-"))
		return pf_fail(cx->err, PF_EUSAGE,
			       "a database cannot be written to standard "
			       "output; name a file");
	if ((a->keep_going || a->salvage) && a->strict)
		return pf_fail(cx->err, PF_EUSAGE, "%s goes without --strict",
			       a->salvage ? "--salvage" : "--keep-going");
	PF_TRY(a->tmp && use_folder(a->tmp, cx->err));
	PF_TRY(a->telemetry.zone &&
	       pf_tele_check_zone(a->telemetry.zone, cx->err));
	PF_TRY(a->telemetry.start &&
	       pf_tele_check_start(a->telemetry.start, cx->err));
	rc = pf_choose(cx->argv, (size_t)cx->argc, a->dry_run, &choice,
		       cx->err);
	if (!rc && !a->dry_run)
		pf_selection_say(&choice);
	if (!rc)
		rc = follow(cx, a, &choice, cx->err);
	else if (a->dry_run && choice.count) /* why there are none */
		follow(cx, a, &choice, &none);
	if (rc >= 0 && a->timings && !a->dry_run)
		timings_show(cx->out);
	pf_selection_release(&choice);
	return rc;
}

PF_COMMAND(105, ingest) = {
	.name = "ingest",
	.group = PF_GROUP_READ,
	.args = "TRACE...",
	.summary = "read traces into one database",
	.details = "TRACE is JSON (Kineto/PyTorch and other Chrome traces), a "
		   "profile of TensorFlow, JAX or PyTorch/XLA (*.xplane.pb), "
		   "a memory snapshot of torch (the pickle that "
		   "torch.cuda.memory._dump_snapshot() writes), a capture "
		   "(*.pfr) or a log of GPUs, plain, gzip or zstd, an export "
		   "of Nsight Systems (nsys export --type sqlite), a "
		   "database, JSON or CSV of AMD's rocprofv3 (rocpd), or a "
		   "database of rocmProfileData (RPD); its first bytes say "
		   "which.  '-' is standard input.  Several files become "
		   "several traces (ranks, or captures of one process) of one "
		   "database.  A folder is all traces and memory snapshots "
		   "below it; files in it that are none are passed over, and "
		   "one line says so.  --dry-run says what would be read.  A "
		   "database that was there is replaced only by a complete "
		   "one.\n"
		   "\n"
		   "Damaged input is mended: every whole event is kept, and "
		   "one line for each kind of repair says how often it was "
		   "needed and at which byte first; with --strict any repair "
		   "is an error.  A file that cannot be read (it is missing, "
		   "empty, damaged from its first byte, or something else) "
		   "ends the whole, and nothing is written; with --keep-going "
		   "it is left out, and the exit status is 1.  A memory "
		   "snapshot that ends early is refused, as its end says what "
		   "all of it is; --salvage keeps what is before that place.",
	.needs = PF_SHOWS_DOC,
	.min_args = 1,
	.max_args = -1,
	.opts = opts,
	PF_DEFAULTS(defaults),
	.examples =
		"profan ingest trace.json.gz\n"
		"profan ingest profan-*.pfr -o run.db\n"
		"profan ingest plugins/profile/*/*.xplane.pb -o jax.db\n"
		"profan ingest rank*.json -o job.db\n"
		"profan ingest --keep-going --tmp /dev/shm ranks -o job.db\n"
		"profan ingest --salvage oom.pickle -o oom.db\n"
		"profan ingest report1.sqlite -o nsys.db\n"
		"profan ingest 4711_results.db -o rocm.db\n"
		"profan ingest runs/bert -o bert.db\n"
		"profan ingest --dry-run runs\n"
		"profan ingest runs -o databases/\n"
		"zcat trace.json.gz | profan ingest - -o t.db\n",
	.run = run,
};
