/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/intern.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/path.h"
#include "ingest/plan.h"
#include "ingest/source_name.h"
#include "show/rows.h"

/* ---- runs ---- */

static void add_run(struct pf_plan *plan, char *name)
{
	plan->runs = pf_grow(plan->runs, &plan->runs_cap, plan->run_count + 1,
			     sizeof(*plan->runs));
	plan->runs[plan->run_count++] = (struct pf_plan_run){ .name = name };
}

static bool is_rave(const struct pf_chosen *c)
{
	return c->format && !strcmp(c->format, "rave");
}

/*
 * RAVE writes rows into the folder of its logger and traces where it was
 * started: they are of the only run that has traces.
 */
static void find_runs(struct pf_plan *plan)
{
	const struct pf_selection *choice = plan->choice;
	const char **paths = pf_calloc(choice->count + 1, sizeof(*paths));
	size_t *files = pf_calloc(choice->count + 1, sizeof(*files));
	size_t count = 0, own_count = 0, *first;

	for (int rave = 0; rave < 2; rave++)
		for (size_t i = 0; i < choice->count; i++) {
			const struct pf_chosen *c = &choice->items[i];

			if (c->why || is_rave(c) != rave)
				continue;
			files[count] = i;
			paths[count++] = c->path;
		}
	first = pf_source_runs(paths, count);
	for (size_t i = 0; i < count; i++) {
		struct pf_plan_file *f = &plan->files[files[i]];

		if (!is_rave(&choice->items[files[i]]))
			own_count += first[i] == i;
		else if (own_count == 1)
			continue; /* run 0 */
		if (first[i] != i) {
			f->run = plan->files[files[first[i]]].run;
			continue;
		}
		f->run = plan->run_count;
		add_run(plan, pf_source_run(paths[i]));
	}
	for (size_t i = 0; i < choice->count; i++)
		if (!choice->items[i].why)
			pf_paths_add(&plan->runs[plan->files[i].run].traces,
				     choice->items[i].path);
	free(first);
	free(files);
	free(paths);
}

/* Files of one trace have one number. */
static void find_joins(struct pf_plan *plan)
{
	const struct pf_selection *choice = plan->choice;
	const char **paths = pf_calloc(choice->count + 1, sizeof(*paths));
	size_t *joins;

	for (size_t i = 0; i < choice->count; i++)
		paths[i] = choice->items[i].why ? "" : choice->items[i].path;
	joins = pf_source_joins(paths, choice->count);
	for (size_t i = 0; i < choice->count; i++) {
		plan->files[i].first = joins[i];
		if (!choice->items[i].why && joins[i] == i)
			plan->runs[plan->files[i].run].trace_count++;
	}
	free(joins);
	free(paths);
}

/* ---- ranks and cycles ---- */

/* As the view trace_cycle has them, of what is not read yet. */
struct span {
	uint32_t worker;
	int64_t rank, span;
	size_t file;
};

static bool is_of_one(const struct span *a, const struct span *b)
{
	return a->worker == b->worker && a->rank == b->rank;
}

PF_ORDER(by_worker, struct span,
	 PF_UP(worker) PF_UP(rank) PF_UP(span) PF_UP(file))

static void number_cycles(struct pf_plan *plan, struct span *spans,
			  size_t count)
{
	int64_t cycle = 0;

	pf_sort(spans, count, sizeof(*spans), by_worker);
	for (size_t i = 0; i < count; i++) {
		bool is_first = !i || !is_of_one(&spans[i - 1], &spans[i]);
		bool is_last =
			i + 1 == count || !is_of_one(&spans[i + 1], &spans[i]);

		cycle = is_first ? 1 : cycle + 1;
		if (!is_first || !is_last)
			plan->files[spans[i].file].cycle = cycle;
	}
}

static void read_names(struct pf_plan *plan)
{
	const struct pf_selection *choice = plan->choice;
	struct span *spans = pf_calloc(choice->count + 1, sizeof(*spans));
	struct pf_paths paths = { 0 };
	struct pf_intern workers;
	size_t count = 0, read = 0;
	int64_t *ranks;

	pf_selection_paths(choice, &paths);
	ranks = pf_source_ranks((const char *const *)paths.items, paths.count);
	pf_intern_init(&workers);
	for (size_t i = 0; i < choice->count; i++) {
		const struct pf_chosen *c = &choice->items[i];
		struct pf_source_name name;

		if (c->why)
			continue;
		pf_source_name_read(&name, c->path);
		plan->files[i].rank = c->rank;
		if (c->rank < 0)
			plan->files[i].rank = ranks[read];
		read++;
		if (name.worker)
			spans[count++] = (struct span){
				pf_intern_add(&workers, name.worker,
					      strlen(name.worker)),
				plan->files[i].rank, name.span, i
			};
		free(name.worker);
	}
	number_cycles(plan, spans, count);
	pf_intern_release(&workers);
	pf_paths_release(&paths);
	free(ranks);
	free(spans);
}

void pf_plan_make(struct pf_plan *plan, const struct pf_selection *choice)
{
	*plan = (struct pf_plan){ .choice = choice };
	plan->files = pf_calloc(choice->count + 1, sizeof(*plan->files));
	for (size_t i = 0; i < choice->count; i++)
		plan->files[i].rank = plan->files[i].cycle = -1;
	find_runs(plan);
	find_joins(plan);
	read_names(plan);
}

void pf_plan_release(struct pf_plan *plan)
{
	for (size_t i = 0; i < plan->run_count; i++) {
		free(plan->runs[i].name);
		free(plan->runs[i].database);
		pf_paths_release(&plan->runs[i].traces);
	}
	free(plan->runs);
	free(plan->files);
	*plan = (struct pf_plan){ 0 };
}

void pf_plan_say(const struct pf_plan *plan)
{
	bool has_folder = false;

	for (size_t i = 0; i < plan->choice->count; i++)
		has_folder |= pf_is_folder(plan->choice->items[i].under);
	if (has_folder && plan->run_count > 1)
		pf_log_note("%zu runs are put together: 'profan ingest "
			    "--dry-run' lists them, -o DIR keeps them apart",
			    plan->run_count);
}

int pf_plan_traces(char *const *arguments, size_t count, struct pf_paths *out,
		   struct pf_err *err)
{
	struct pf_selection choice = { 0 };
	struct pf_plan plan;
	int rc = pf_choose(arguments, count, false, &choice, err);

	if (!rc) {
		pf_selection_say(&choice);
		pf_plan_make(&plan, &choice);
		pf_plan_say(&plan);
		pf_plan_release(&plan);
		pf_selection_paths(&choice, out);
	}
	pf_selection_release(&choice);
	return rc;
}

/* ---- a database each ---- */

/* What of a run's folder is not in the argument, else the argument's name. */
static const char *name_in(const char *run, const char *under)
{
	size_t n = strlen(under);

	while (n > 1 && under[n - 1] == '/')
		n--;
	if (!strncmp(run, under, n) && run[n] == '/' && run[n + 1])
		return run + n + 1;
	if (!strcmp(under, ".") && strcmp(run, ".") != 0)
		return run;
	return pf_path_base(run);
}

static char *database_of(const char *folder, const char *run, const char *under)
{
	const char *name = name_in(run, under);
	struct pf_buf path = { 0 };

	if (!*name || !strcmp(name, ".") || !strcmp(name, "..") ||
	    !strcmp(name, "/"))
		name = "profan";
	pf_buf_addf(&path, "%s%s", folder,
		    folder[strlen(folder) - 1] == '/' ? "" : "/");
	for (; *name; name++)
		pf_buf_addc(&path, *name == '/' ? '_' : *name);
	pf_buf_adds(&path, ".db");
	return path.data;
}

int pf_plan_split(struct pf_plan *plan, const char *folder, struct pf_err *err)
{
	const struct pf_selection *choice = plan->choice;
	struct pf_intern names;
	int rc = 0;

	pf_intern_init(&names);
	for (size_t i = 0; i < choice->count && !rc; i++) {
		struct pf_plan_run *run = &plan->runs[plan->files[i].run];
		size_t before = names.count;

		if (choice->items[i].why || run->database)
			continue;
		run->database =
			database_of(folder, run->name, choice->items[i].under);
		pf_intern_add(&names, run->database, strlen(run->database));
		if (names.count == before)
			rc = pf_fail(err, PF_EUSAGE,
				     "two runs would be '%s': ingest them one "
				     "by one",
				     run->database);
	}
	pf_intern_release(&names);
	return rc;
}

/* ---- what it is ---- */

struct row {
	int64_t number, run, rank, world_size, cycle, file_bytes;
	const char *run_path, *format, *path;
};
#define FIELD(member, title, kind)                                             \
	PF_FIELD(struct row, member, #member, title, kind)
static const struct pf_field file_fields[] = {
	FIELD(run, "Run", PF_INT),
	FIELD(number, "Trace", PF_INT),
	FIELD(rank, "Rank", PF_INT | PF_KNOWN),
	FIELD(world_size, "World", PF_INT | PF_KNOWN),
	FIELD(cycle, "Cycle", PF_INT | PF_KNOWN),
	FIELD(format, "Format", PF_TEXT),
	FIELD(file_bytes, "Size", PF_BYTES | PF_KNOWN),
	FIELD(path, "File", PF_PATH),
	FIELD(run_path, "Folder", PF_PATH | PF_FULL),
};
#undef FIELD

struct run_row {
	int64_t run, trace_count;
	const char *run_path, *database;
};
static const struct pf_field run_fields[] = {
	PF_FIELD(struct run_row, run, "run", "Run", PF_INT),
	PF_FIELD(struct run_row, trace_count, "trace_count", "Traces",
		 PF_COUNT),
	PF_FIELD(struct run_row, run_path, "run_path", "Folder", PF_PATH),
	PF_FIELD(struct run_row, database, "database", "Database", PF_PATH),
};

struct passed_row {
	const char *path, *why;
};
static const struct pf_field passed_fields[] = {
	PF_FIELD(struct passed_row, path, "path", "File", PF_PATH),
	PF_FIELD(struct passed_row, why, "why", "It ...", PF_TEXT),
};

/* A trace has the number that it gets in its database. */
static void show_files(const struct pf_plan *plan, struct pf_doc *doc)
{
	struct pf_table *t = pf_doc_fields(doc, "files", "Files that are read",
					   PF_FIELDS(file_fields));
	int64_t *counts = pf_calloc(plan->run_count + 1, sizeof(*counts));
	int64_t all = 0;

	for (size_t i = 0; i < plan->choice->count; i++) {
		const struct pf_chosen *c = &plan->choice->items[i];
		const struct pf_plan_file *f = &plan->files[i];
		const struct pf_plan_run *run = &plan->runs[f->run];
		struct row row = {
			.rank = f->rank,
			.world_size = c->world_size,
			.cycle = f->cycle,
			.file_bytes = c->file_bytes,
			.format = c->format,
			.path = c->path,
		};

		if (c->why)
			continue;
		row.run = (int64_t)f->run + 1;
		row.run_path = run->name;
		if (plan->files[i].first == i)
			plan->files[i].number =
				run->database ? ++counts[f->run] : ++all;
		row.number = plan->files[plan->files[i].first].number;
		PF_PUT(t, file_fields, row);
	}
	free(counts);
}

static void show_passed(const struct pf_plan *plan, struct pf_doc *doc)
{
	struct pf_table *t =
		pf_doc_fields(doc, "passed", "Files that are passed over",
			      PF_FIELDS(passed_fields));

	for (size_t i = 0; i < plan->choice->count; i++) {
		const struct pf_chosen *c = &plan->choice->items[i];
		struct passed_row row = { c->path, c->why };

		if (c->why)
			PF_PUT(t, passed_fields, row);
	}
}

static void show_runs(const struct pf_plan *plan, const char *out,
		      struct pf_doc *doc)
{
	struct pf_table *t =
		pf_doc_fields(doc, "runs", "Runs", PF_FIELDS(run_fields));

	for (size_t i = 0; i < plan->run_count; i++) {
		const struct pf_plan_run *run = &plan->runs[i];
		struct run_row row = { (int64_t)i + 1, run->trace_count,
				       run->name,
				       run->database ? run->database : out };

		PF_PUT(t, run_fields, row);
	}
}

static const char *plural(size_t n)
{
	return n == 1 ? "" : "s";
}

void pf_plan_show(const struct pf_plan *plan, const char *out,
		  struct pf_doc *doc)
{
	const struct pf_selection *choice = plan->choice;
	size_t passed = choice->count - choice->read_count, traces = 0;

	for (size_t i = 0; i < plan->run_count; i++)
		traces += (size_t)plan->runs[i].trace_count;

	pf_doc_finding(doc,
		       "%zu trace%s of %zu run%s; %zu file%s %s passed over; "
		       "nothing is written",
		       traces, plural(traces), plan->run_count,
		       plural(plan->run_count), passed, plural(passed),
		       passed == 1 ? "is" : "are");
	show_runs(plan, out, doc);
	show_files(plan, doc);
	show_passed(plan, doc);
	if (choice->others)
		pf_doc_note(doc,
			    "%zu other file%s in these folders %s not called "
			    "as a trace",
			    choice->others, plural(choice->others),
			    choice->others == 1 ? "is" : "are");
	if (plan->run_count > 1 && !plan->runs[0].database)
		pf_doc_note(doc, "-o DIR makes a database of each run");
}
