/* SPDX-License-Identifier: MIT */
/*
 * profan table [DB]: what key_averages().table() prints.
 * profan table verdicts [DB]: the rules of a report.
 */
#include "config.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "analysis/time/operators.h"
#include "torch/table.h"
#include "base/log.h"
#include "base/num.h"
#include "base/path.h"
#include "cmd/cmd.h"
#include "events/hints.h"
#include "compare/fleet_show.h"
#include "show/escape.h"
#include "page/report.h"

struct table_args {
	const char *sort, *header, *torch;
	int64_t limit, stack, max_name, max_source, max_shapes, step, rank,
		trace, cycle, from_ns, to_ns;
	bool by_shape, by_overload, top_level, with_flops;
	int unit;
	struct pf_graph_evidence evidence;
};

#define LIMIT_UNSET -2 /* 100 in torch's text, everything elsewhere */
#define LIMIT_TEXT  100

static const struct table_args defaults = {
	.limit = LIMIT_UNSET,
	.max_name = 55,
	.max_source = 75,
	.max_shapes = 80,
	.step = -1,
	.rank = -1,
	.trace = -1,
	.from_ns = -1,
	.to_ns = -1,
};

#define FIELD(f) offsetof(struct table_args, f)

static const struct pf_opt opts[] = {
	{ 's', "sort", "KEY", "sort by a key of torch, such as cuda_time_total",
	  PF_OPT_STRING, FIELD(sort), 0, 0 },
	{ 'n', "limit", "N", "print at most N rows, -1: all (text: 100)",
	  PF_OPT_INT, FIELD(limit), -1, INT32_MAX },
	{ 0, "group-by-input-shape", NULL, "a row for each shape of inputs",
	  PF_OPT_FLAG, FIELD(by_shape), 0, 0 },
	{ 0, "group-by-overload-name", NULL,
	  "a row for each overload of an operator", PF_OPT_FLAG,
	  FIELD(by_overload), 0, 0 },
	{ 0, "group-by-stack", "N", "a row for each innermost N stack entries",
	  PF_OPT_INT, FIELD(stack), 0, 1000 },
	{ 0, "top-level", NULL, "leave out what other events contain",
	  PF_OPT_FLAG, FIELD(top_level), 0, 0 },
	{ 0, "with-flops", NULL,
	  "FLOPs, too, where the trace does not say that they were asked for",
	  PF_OPT_FLAG, FIELD(with_flops), 0, 0 },
	{ 0, "step", "N", "only what begins inside ProfilerStep#N", PF_OPT_INT,
	  FIELD(step), 0, 0 },
	PF_WINDOW_TIMES(struct table_args, from_ns, to_ns),
	{ 0, "rank", "N", "the trace of this rank", PF_OPT_INT, FIELD(rank), 0,
	  0 },
	{ 0, "trace", "N", "the trace of this number in 'profan info'",
	  PF_OPT_INT, FIELD(trace), 0, 0 },
	{ 0, "cycle", "N", "the Nth capture of a process, by its file's name",
	  PF_OPT_INT, FIELD(cycle), 1, 1000000000 },
	{ 0, "torch", "X.Y", "as that release does (default: recognised)",
	  PF_OPT_STRING, FIELD(torch), 0, 0 },
	{ 0, "header", "TEXT", "print a line of text first", PF_OPT_STRING,
	  FIELD(header), -1, 0 },
	{ 0, "time-unit", "auto|s|ms|us", "print all times in this unit",
	  PF_OPT_CHOICE, FIELD(unit), 0, 0 },
	{ 0, "max-name-width", "N", "cut names to N columns (default 55)",
	  PF_OPT_INT, FIELD(max_name), 0, 100000 },
	{ 0, "max-src-width", "N", "cut source lines (default 75)", PF_OPT_INT,
	  FIELD(max_source), 0, 100000 },
	{ 0, "max-shapes-width", "N", "cut shapes (default 80)", PF_OPT_INT,
	  FIELD(max_shapes), 0, 100000 },
	PF_GRAPH_OPTS(struct table_args, evidence),
	{ 0 }
};

static int find_trace(struct pf_db *db, const struct table_args *a, int64_t *id)
{
	PF_STMT(st) = pf_db_prepare(db,
				    "SELECT id, count(*) OVER () FROM trace"
				    " WHERE (?1 < 0 OR rank = ?1)"
				    " AND (?2 < 0 OR id = ?2)"
				    " AND (?3 = 0 OR id IN (SELECT trace_id"
				    " FROM trace_cycle WHERE cycle = ?3))"
				    " ORDER BY id LIMIT 1",
				    db->err);
	int64_t count;
	int rc;

	PF_BIND(st, a->rank, a->trace, a->cycle);
	rc = pf_db_step(db, st, db->err);
	*id = sqlite3_column_int64(st, 0);
	count = sqlite3_column_int64(st, 1);
	PF_TRY(rc < 0);
	if (!rc && a->cycle)
		return pf_fail(db->err, PF_EUSAGE,
			       "there is no cycle %" PRId64
			       " of such a trace; 'profan info' lists them",
			       a->cycle);
	if (!rc && a->trace >= 0)
		return pf_fail(db->err, PF_EUSAGE,
			       "there is no trace %" PRId64
			       "; 'profan info' lists them",
			       a->trace);
	if (!rc && a->rank >= 0)
		return pf_fail(db->err, PF_EUSAGE,
			       "there is no trace of rank %" PRId64, a->rank);
	if (!rc)
		return pf_fail(db->err, PF_EDB, "'%s': holds no trace",
			       db->path);
	if (count > 1)
		pf_log(PF_LOG_NOTE,
		       "first of %" PRId64
		       " traces (choose with --rank, --trace or --cycle)",
		       count);
	return 0;
}

/* One line about what the table leaves out. */
static void show_trust(const struct pf_averages_trust *t)
{
	PF_AUTO(pf_buf_release) struct pf_buf line = { 0 };

	if (t->skipped)
		pf_buf_addf(&line, ", %s event%s skipped",
			    PF_SHOW_COUNT(t->skipped), pf_plural(t->skipped));
	if (t->repaired)
		pf_buf_addf(&line, ", %s repaired", PF_SHOW_COUNT(t->repaired));
	if (t->too_deep)
		pf_buf_addf(&line, ", %s nested too deep",
			    PF_SHOW_COUNT((int64_t)t->too_deep));
	if (t->unlinked_ns > 0)
		pf_buf_addf(&line, ", %.2f %% of GPU time is given to no op",
			    100.0 * (double)t->unlinked_ns /
				    (double)t->device_ns);
	if (line.len)
		pf_log(PF_LOG_WARNING, "left out: %s", line.data + 2);
}

/* Where the trace tells less than torch knew, what of the table is affected. */
static void note_limits(const struct pf_averages *a, struct pf_doc *doc)
{
	int64_t calls = (int64_t)a->trust.flops_unknown_count;

	if (a->rules.is_rounded && a->list[0].count)
		pf_doc_note(doc, "%s", PF_RULES_ROUNDED);
	if (a->has_flops && calls)
		pf_doc_note(doc,
			    "FLOPs of %s operator%s are unknown, and of rows "
			    "with them: their shapes are not in the trace "
			    "(symbolic sizes have none)",
			    PF_SHOW_COUNT(calls), pf_plural(calls));
}

static int show_doc(struct pf_ctx *cx, const struct pf_torch_table *tt,
		    bool by_overload, struct pf_doc *doc)
{
	struct pf_table *t = pf_averages_table(doc, by_overload);
	int64_t printed = 0;

	for (size_t i = 0; i < tt->count && printed != tt->limit; i++) {
		if (tt->top_level && tt->rows[i]->has_parent)
			continue;
		printed++;
		pf_averages_add(t, tt->rows[i]);
	}
	return pf_render_doc(&cx->style, doc, cx->out, cx->err);
}

/* Byte for byte as torch prints it, but a terminal is not steered by names. */
static void write_text(const struct pf_buf *text, FILE *out)
{
	PF_AUTO(pf_buf_release) struct pf_buf masked = { 0 };

	if (!text->len)
		return;
	if (isatty(fileno(out)))
		pf_escape_lines(&masked, text->data, text->len);
	else
		pf_buf_add(&masked, text->data, text->len);
	fwrite(masked.data, 1, masked.len, out);
}

static int show(struct pf_ctx *cx, const struct table_args *a,
		const struct pf_averages *averages, enum pf_torch_sort sort)
{
	const struct pf_average_list *list = &averages->list[0];
	PF_OWN const struct pf_average **rows =
		pf_torch_sorted(list->rows, list->count, sort);
	bool is_text = cx->style.format == &pf_format_text;
	int64_t unset = is_text ? LIMIT_TEXT : -1;
	const struct pf_torch_table t = {
		.rules = &averages->rules,
		.rows = rows,
		.count = list->count,
		.has_memory = averages->has_memory,
		.has_flops = averages->has_flops,
		.limit = a->limit == LIMIT_UNSET ? unset : a->limit,
		.max_name = a->max_name,
		.max_source = a->max_source,
		.max_shapes = a->max_shapes,
		.top_level = a->top_level,
		.header = a->header,
		.unit = (enum pf_torch_unit)a->unit,
	};
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };
	PF_AUTO(pf_doc_release) struct pf_doc doc = { 0 };
	enum pf_producer from = PF_FROM_TORCH;

	note_limits(averages, &doc);
	if (!list->count && (a->step >= 0 || a->from_ns >= 0 || a->to_ns >= 0))
		pf_log_note(
			"nothing that the table counts begins in this time");
	else if (!list->count && pf_hint_producer(cx->db, &from))
		return -1;
	else if (!list->count)
		pf_log_note("no operators of torch in this trace: its table "
			    "has no rows%s%s",
			    from == PF_FROM_LEGACY ? "; " : "",
			    from == PF_FROM_LEGACY ? pf_hint(from, PF_HINT_WORK)
						   : "");
	if (!is_text)
		return show_doc(cx, &t, a->by_overload, &doc);
	pf_torch_print(&t, &text);
	write_text(&text, cx->out);
	for (size_t i = 0; i < doc.note_count; i++)
		pf_log_note("%s", doc.notes[i]);
	return 0;
}

/* ---- tables of our own ---- */

/* They have these options and no others. */
static int check_options(const struct table_args *a, const char *words,
			 const char *why, struct pf_err *err)
{
	return pf_opt_other(opts, a, &defaults, words)
		       ? pf_fail(err, PF_EUSAGE, "%s", why)
		       : 0;
}

static struct pf_doc begin_list(const struct pf_ctx *cx,
				const struct table_args *a)
{
	bool is_text = cx->style.format == &pf_format_text;
	struct pf_doc doc = { .lists = "operators" };

	doc.order.limit = a->limit != LIMIT_UNSET ? a->limit
			  : is_text               ? LIMIT_TEXT
						  : -1;
	return doc;
}

static int end_list(struct pf_ctx *cx, struct pf_doc *doc)
{
	PF_TRY(pf_doc_settle(doc, cx->err) < 0);
	return pf_render_doc(&cx->style, doc, cx->out, cx->err);
}

/* ---- traces that torch's profiler did not write ---- */

static int is_xspace(struct pf_db *db, int64_t trace_id)
{
	PF_STMT(st) = pf_db_prepare(db,
				    "SELECT 1 FROM trace WHERE id = ?1 "
				    "AND format IN ('xspace', 'tf-json')",
				    db->err);

	sqlite3_bind_int64(st, 1, trace_id);
	return pf_db_step(db, st, db->err);
}

static int show_operators(struct pf_ctx *cx, const struct table_args *a,
			  const struct pf_window *window)
{
	PF_AUTO(pf_doc_release) struct pf_doc doc = begin_list(cx, a);

	PF_TRY(check_options(a, "limit from to rank trace cycle",
			     "this trace is no PyTorch profile: 'table' of it "
			     "has no options but --limit, --from, --to, "
			     "--rank, --trace and --cycle",
			     cx->err));
	PF_TRY(pf_operators(cx->db, window, &doc));
	return end_list(cx, &doc);
}

/* ---- with what graphs replay under its operators ---- */

static int show_named(struct pf_ctx *cx, const struct table_args *a,
		      const struct pf_averages *averages, int64_t trace_id)
{
	struct pf_window_args asked = PF_WINDOW_DEFAULTS;
	PF_AUTO(pf_doc_release) struct pf_doc doc = begin_list(cx, a);
	PF_AUTO(pf_graphs_release) struct pf_graphs graphs = { 0 };
	const struct pf_named_work_args args = { &graphs.window, &graphs,
						 &averages->list[0] };
	struct pf_graphs *named;

	asked.trace = trace_id;
	asked.whole = true;
	PF_TRY(pf_cmd_name_graphs(cx->db, &a->evidence, &asked, &graphs,
				  &named));
	PF_TRY(pf_named_work(cx->db, &args, &doc));
	return end_list(cx, &doc);
}

static int show_verdicts(struct pf_ctx *cx, const struct table_args *a)
{
	struct pf_report_args args = { .window = PF_WINDOW_DEFAULTS,
				       .page.timeline = PF_TIMELINE_NONE,
				       .no_page = true };
	PF_AUTO(pf_report_release) struct pf_report report = { 0 };
	PF_AUTO(pf_doc_release) struct pf_doc doc = { 0 };
	char step[PF_NUM_MAX], rank[PF_NUM_MAX];

	PF_TRY(check_options(a, "step from to rank trace cycle",
			     "'table verdicts' has no options but --step, "
			     "--from, --to, --rank, --trace and --cycle",
			     cx->err));
	if (a->step >= 0) {
		snprintf(step, sizeof(step), "%" PRId64, a->step);
		args.window.step = step;
	}
	if (a->rank >= 0) {
		snprintf(rank, sizeof(rank), "%" PRId64, a->rank);
		args.window.rank = rank;
	}
	args.window.from_ns = a->from_ns;
	args.window.to_ns = a->to_ns;
	args.window.trace = a->trace;
	args.window.cycle = a->cycle;
	PF_TRY(pf_report_make(cx->db, &args, pf_path_base(cx->db_name),
			      &report));
	pf_verdicts_list(&report.verdicts, &report.parts, &doc);
	return pf_render_doc(&cx->style, &doc, cx->out, cx->err);
}

static bool is_named(const struct table_args *a)
{
	return a->evidence.is_wanted || a->evidence.captures.count ||
	       a->evidence.with;
}

/* All of the trace, or what --from and --to leave of it. */
static int find_part(struct pf_db *db, const struct table_args *a,
		     int64_t trace_id, struct pf_window *out)
{
	struct pf_window_args args = PF_WINDOW_DEFAULTS;

	args.trace = trace_id;
	args.whole = true;
	args.from_ns = a->from_ns;
	args.to_ns = a->to_ns;
	return pf_window_resolve(db, &args, out);
}

static int show_averages(struct pf_ctx *cx, const struct table_args *a,
			 const struct pf_averages_args *args,
			 enum pf_torch_sort sort)
{
	PF_AUTO(pf_averages_release) struct pf_averages averages = { 0 };
	int rc;

	PF_TRY(pf_averages_get(cx->db, args, &averages, cx->err));
	if (is_named(a)) /* whose rows say what has no operator */
		return show_named(cx, a, &averages, args->trace_id);
	rc = show(cx, a, &averages, sort);
	show_trust(&averages.trust);
	return rc;
}

enum { VERDICTS }; /* of the words */

static int run(struct pf_ctx *cx, void *p)
{
	const struct table_args *a = p;
	enum pf_torch_sort sort = PF_SORT_NONE;
	PF_AUTO(pf_window_release) struct pf_window window = { 0 };
	struct pf_averages_args args = {
		.step = a->step,
		.with_flops = a->with_flops,
		.grouping = { { .by_shape = a->by_shape,
				.by_overload = a->by_overload,
				.stack = (unsigned)a->stack } },
		.grouping_count = 1,
	};
	int rc;

	if (cx->word == VERDICTS)
		return show_verdicts(cx, a);
	PF_TRY(is_named(a) &&
	       check_options(a, "graphs capture with limit rank trace cycle",
			     "'table' with --graphs, --capture or --with is "
			     "not torch's: it has no other options but "
			     "--limit, --rank, --trace and --cycle",
			     cx->err));
	PF_TRY(a->sort && pf_torch_sort_key(a->sort, &sort, cx->err));
	PF_TRY(a->torch &&
	       pf_rules_parse(a->torch, &args.torch, &args.python, cx->err));
	PF_TRY(find_trace(cx->db, a, &args.trace_id));
	PF_TRY(find_part(cx->db, a, args.trace_id, &window));
	if (window.is_restricted)
		args.part = &window.traces[0];
	rc = is_xspace(cx->db, args.trace_id);
	return rc < 0 ? -1
	       : rc   ? show_operators(cx, a, &window)
		      : show_averages(cx, a, &args, sort);
}

PF_COMMAND(215, table) = {
	.name = "table",
	.group = PF_GROUP_TIME,
	.args = "[verdicts] [DB]",
	.words = "verdicts",
	.summary = "print torch's key_averages() table, or the verdicts",
	.details = "The text is what PyTorch's profiler would have printed in "
		   "the process that wrote the trace, byte for byte.  Other "
		   "formats give every column with exact nanoseconds and "
		   "bytes.  Sort keys are torch's, with cuda_ or device_: "
		   "self_cuda_time_total, cuda_time_total, cuda_time, "
		   "self_cuda_memory_usage, cuda_memory_usage, the same with "
		   "cpu_, count, flops, key (the name) and none.  torch 1.13 "
		   "to 2.3 wrote whole microseconds: a call on the CPU is up "
		   "to 1 us longer in such a trace than in torch's own table.\n"
		   "\n"
		   "With --from and --to: of the calls, ranges and GPU work "
		   "that begin in this time, each with all of its length, "
		   "what the table of all of the trace counts of them.  GPU "
		   "time in the rows of operators is that of the work which "
		   "they launched, whenever it ran.\n"
		   "\n"
		   "Of profiles of TensorFlow, JAX and PyTorch/XLA "
		   "(*.xplane.pb): operators by name, the calls of each on "
		   "the host and their time with everything in them, and the "
		   "GPU work whose launch call is in one or which says that "
		   "it is of one.\n"
		   "\n"
		   "With --graphs, --capture or --with: operators by name "
		   "with what the host did, and all GPU work of the trace, "
		   "each piece once.  Work that graphs replay is under the "
		   "operator that 'profan graphs' names (exact, order, "
		   "aligned or family); all else is under the operator around "
		   "its launch call, or under (none).  The rows add up to the "
		   "GPU time of the trace.\n"
		   "\n"
		   "Neither of the two is torch's table: no sort keys, and of "
		   "the options they have --limit, --rank and --trace, and the "
		   "first --from and --to.\n"
		   "\n"
		   "With the word verdicts (a database of that name is "
		   "./verdicts): the rules of 'profan report', a row each in "
		   "its order, whether they fired or not, with what they "
		   "measured and where they fire, or why they could not be "
		   "applied.  Of the options it has --step, --from, --to, "
		   "--rank, --trace, --format and --width; without them it "
		   "looks at what the "
		   "report looks at.",
	.needs = PF_NEEDS_DB | PF_SHOWS_DOC,
	.opts = opts,
	PF_DEFAULTS(defaults),
	.sorts = "self_cuda_time_total|cuda_time_total|cuda_time|"
		 "self_cpu_time_total|cpu_time_total|cpu_time|"
		 "self_cuda_memory_usage|cuda_memory_usage|"
		 "self_cpu_memory_usage|cpu_memory_usage|count|flops|key|none",
	.examples = "profan table --sort cuda_time_total --limit 20\n"
		    "profan table job.db --group-by-input-shape\n"
		    "profan table --format csv --limit -1\n"
		    "profan table --torch 2.4 --step 12\n"
		    "profan table decode.db --capture capture.json.gz\n"
		    "profan table verdicts job.db --format json\n",
	.run = run,
	.fleet = pf_fleet_table,
};
