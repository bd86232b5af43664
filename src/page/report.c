/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "page/report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/path.h"
#include "page/figure.h"
#include "page/html.h"
#include "show/escape.h"

/* A tile; what stands below its number is left to say. */
static struct pf_buf *add(struct pf_tiles *out, const char *key,
			  const char *title, enum pf_col_kind kind,
			  struct pf_cell value)
{
	struct pf_tile *t = &out->tile[out->count++];

	*t = (struct pf_tile){ { key, title, kind }, value, { 0 } };
	return &t->detail;
}

static struct pf_buf *add_int(struct pf_tiles *out, const char *key,
			      const char *title, enum pf_col_kind kind,
			      int64_t n)
{
	return add(out, key, title, kind,
		   (struct pf_cell){ PF_CELL_INT, { .i = n } });
}

static struct pf_buf *add_real(struct pf_tiles *out, const char *key,
			       const char *title, enum pf_col_kind kind,
			       double d)
{
	return add(out, key, title, kind,
		   (struct pf_cell){ PF_CELL_REAL, { .d = d } });
}

/* "166 to 188 ms": one unit, if it is one. */
static void add_range(struct pf_buf *out, int64_t least, int64_t most)
{
	PF_AUTO(pf_buf_release) struct pf_buf low = { 0 }, high = { 0 };
	const char *unit, *other;

	pf_figure_ns(&low, least);
	pf_figure_ns(&high, most);
	unit = strchr(low.data, ' ');
	other = strchr(high.data, ' ');
	if (unit && other && !strcmp(unit, other))
		pf_buf_add(out, low.data, (size_t)(unit - low.data));
	else
		pf_buf_adds(out, low.data);
	pf_buf_adds(out, " to ");
	pf_buf_adds(out, high.data);
}

static void add_step_time(const struct pf_parts *p, struct pf_tiles *out)
{
	const struct pf_step_times *s = &p->steps;
	int64_t n = s->full_count, least = INT64_MAX;
	bool is_trace = !p->steps_text.len;
	struct pf_buf *detail;

	if (n <= 0)
		return;
	detail = add_int(out, "p50_ns",
			 is_trace ? "Window"
			 : n > 1  ? "Step, median"
				  : "Step",
			 PF_NS, s->dur.p50_ns);
	for (size_t i = 0; i < s->count; i++)
		if (s->steps[i].dur_ns < least)
			least = s->steps[i].dur_ns;
	if (n == 1) {
		pf_buf_adds(detail,
			    is_trace ? "without profiler steps" : "one step");
		return;
	}
	add_range(detail, least, s->dur.max_ns);
	pf_buf_adds(detail, ", n = ");
	pf_figure_count(detail, n);
}

/* What a training script timed itself, where it was one. */
static void add_batches(const struct pf_parts *p, struct pf_tiles *out)
{
	const struct pf_table *t =
		pf_doc_find_table(&p->doc[PF_PART_STEPS], "training_times");
	struct pf_buf *detail;

	if (pf_table_rows(t) != 1 || !pf_table_at(t, 0, "median_ns"))
		return;
	detail = add_int(out, "batch_median_ns", "Timed batch, median", PF_NS,
			 pf_table_int_at(t, 0, "median_ns"));
	pf_buf_adds(detail, "longest ");
	pf_figure_ns(detail, pf_table_int_at(t, 0, "longest_ns"));
	pf_buf_adds(detail, ", n = ");
	pf_figure_count(detail, pf_table_int_at(t, 0, "row_count"));
}

static void add_gpu(const struct pf_parts *p, struct pf_tiles *out)
{
	const struct pf_gap_device *gaps = &p->gaps.all;
	const struct pf_overlap_figures *f = &p->overlap.all;
	struct pf_buf *detail;

	if (gaps->window_ns <= 0)
		return;
	detail = add_real(out, "busy_share",
			  pf_window_title(&p->traces, "GPU busy"), PF_RATIO,
			  (double)gaps->busy_ns / (double)gaps->window_ns);
	pf_figure_ns(detail, gaps->busy_ns);
	pf_buf_adds(detail, " of ");
	pf_figure_ns(detail, gaps->window_ns);
	pf_figure_ns(add_real(out, "idle_share",
			      pf_window_title(&p->traces, "GPU idle"), PF_RATIO,
			      gaps->idle_share),
		     gaps->idle_ns);
	if (!f->comm_ns || f->total_ns <= 0)
		return;
	detail = add_real(out, "exposed_comm_share", "Exposed comm.", PF_RATIO,
			  (double)f->exposed_comm_ns / (double)f->total_ns);
	pf_figure_ns(detail, f->exposed_comm_ns);
	pf_buf_adds(detail, " of ");
	pf_figure_ns(detail, f->comm_ns);
}

/* Per step those in them, as in "syncs"; 0 steps: of the whole. */
static void add_syncs(const struct pf_parts *p, int64_t steps,
		      struct pf_tiles *out)
{
	const struct pf_syncs *s = &p->syncs;
	struct pf_buf *detail =
		add_real(out, "syncs_per_step",
			 steps ? "Syncs per step" : "Syncs", PF_REAL,
			 steps ? (double)s->in_steps_count / (double)steps
			       : (double)s->count);

	pf_buf_adds(detail, "CPU blocked ");
	pf_figure_ns(detail, steps ? s->in_steps_ns / steps : s->blocked_ns);
}

static void add_counts(const struct pf_parts *p, struct pf_tiles *out)
{
	const struct pf_kernels *k = &p->callers;
	int64_t steps = p->steps.full_count, n = k->calls;
	bool is_trace = !p->steps_text.len || steps <= 0;
	struct pf_buf *detail;

	if (n <= 0)
		return;
	if (is_trace)
		steps = 1;
	if (p->syncs.has_calls)
		add_syncs(p, is_trace ? 0 : steps, out);
	detail = add_real(out, "kernels_per_step",
			  is_trace ? "Kernels" : "Kernels per step", PF_REAL,
			  (double)n / (double)steps);
	pf_figure_ns(detail, k->total_ns / n);
	pf_buf_adds(detail, " on average");
	if (!k->tensor_core_ns || isnan(k->tensor_core_share))
		return; /* too little is known */
	pf_buf_adds(add_real(out, "tensor_core_share", "Tensor cores", PF_RATIO,
			     k->tensor_core_share),
		    "of kernel time");
}

/* Of a snapshot without a history there is only its own time. */
static void add_reserved(const struct pf_snap_state *snap, struct pf_tiles *out)
{
	const struct pf_snap_now *most = pf_snap_fullest(snap);
	struct pf_buf *detail;

	if (!most)
		return;
	detail = add_int(out, "reserved_bytes", "Reserved memory", PF_BYTES,
			 most->reserved);
	pf_figure_bytes(detail, most->allocated);
	pf_buf_adds(detail, " allocated");
}

static void add_memory(const struct pf_parts *p, struct pf_tiles *out)
{
	const struct pf_usage_device *best = NULL;
	struct pf_buf *detail;

	for (size_t i = 0; i < p->memory.device_count; i++) {
		const struct pf_usage_device *d = &p->memory.devices[i];

		if (d->at.device_type > 0 && d->peak > (best ? best->peak : 0))
			best = d;
	}
	if (!best) {
		add_reserved(&p->memory.snap, out);
		return;
	}
	detail =
		add_int(out, "peak_bytes", "Peak memory", PF_BYTES, best->peak);
	if (best->capacity == PF_NO_INT)
		return;
	pf_figure_ratio(detail, best->capacity_share);
	pf_buf_adds(detail, " of ");
	pf_figure_bytes(detail, best->capacity);
}

static void tiles_find(const struct pf_parts *p, struct pf_tiles *out)
{
	memset(out, 0, sizeof(*out));
	add_step_time(p, out);
	add_batches(p, out);
	add_gpu(p, out);
	add_counts(p, out);
	add_memory(p, out);
}

static void tiles_release(struct pf_tiles *t)
{
	for (size_t i = 0; i < t->count; i++)
		pf_buf_release(&t->tile[i].detail);
	t->count = 0;
}

/* As scalars of a document. */
static void tiles_scalars(const struct pf_tiles *t, struct pf_doc *doc)
{
	for (size_t i = 0; i < t->count; i++) {
		const struct pf_tile *a = &t->tile[i];

		if (a->value.type == PF_CELL_INT)
			pf_doc_int(doc, a->col.key, a->col.title, a->col.kind,
				   a->value.v.i);
		else
			pf_doc_real(doc, a->col.key, a->col.title, a->col.kind,
				    a->value.v.d);
	}
}

/*
 * Which traces of a database the timeline shows: the first, and of the others
 * the one whose GPU is idle most.
 */

/* ---- ranks ---- */

#define SLICE_BYTES 8 /* of the largest page for each slice */

/* How the clocks of two traces were put on one. */
enum clock {
	CLOCK_OWN,  /* they overlap: as recorded */
	CLOCK_STEP, /* the start of a step that both have */
	CLOCK_FIRST /* their first events */
};

/* How many slices a page has room for. */
static int64_t ranks_slices(const struct pf_page_args *page)
{
	return page->timeline == PF_TIMELINE_NONE
		       ? 0
		       : page->max_html_bytes / SLICE_BYTES;
}

static int load(struct pf_db *db, const struct pf_window *w, size_t which,
		struct pf_report *r, size_t side)
{
	int64_t slices = ranks_slices(&r->args.page);

	if (w->count > 1)
		slices /= PF_TIMELINE_SIDES;
	r->timelines.count = side + 1;
	return pf_timeline_load(db, &w->traces[which], r->redact,
				(enum pf_timeline_want)r->args.page.timeline,
				slices, &r->timelines.side[side].slices);
}

/* Load the first trace, which needs no other part of the report. */
static int ranks_load_first(struct pf_db *db, const struct pf_parts *p,
			    struct pf_report *r)
{
	return load(db, &p->traces, 0, r, 0);
}

/* The place of the trace whose GPU is idle most, the first aside; 0: none. */
static size_t find_idle(const struct pf_report *r, double *share)
{
	const struct pf_gaps *gaps = &r->parts.gaps;
	const struct pf_window *w = &r->parts.traces;
	size_t best = 0;

	*share = -1;
	for (size_t i = 1; i < w->count; i++)
		for (size_t k = 0; k < gaps->device_count; k++) {
			const struct pf_gap_device *d = &gaps->devices[k];

			if (d->trace_id == w->traces[i].trace_id &&
			    d->idle_share > *share) {
				*share = d->idle_share;
				best = i;
			}
		}
	return best;
}

/* ---- one clock ---- */

/* Where a step of a trace begins; -1: it has none such. */
static int64_t step_start(const struct pf_step_times *s, int64_t trace_id,
			  int64_t step)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->steps[i].trace_id == trace_id &&
		    s->steps[i].step == step)
			return s->steps[i].start_ns;
	return -1;
}

/* By how much the second trace is moved to meet the first. */
static enum clock find_clock(const struct pf_report *r, int64_t *move_ns)
{
	const struct pf_timeline *a = &r->timelines.side[0].slices;
	const struct pf_timeline *b = &r->timelines.side[1].slices;
	const struct pf_step_times *s = &r->parts.steps;

	*move_ns = 0;
	if (a->first_ns < b->last_ns && b->first_ns < a->last_ns)
		return CLOCK_OWN;
	for (size_t i = 0; i < s->count; i++) {
		const struct pf_step_time *step = &s->steps[i];
		int64_t other;

		if (step->trace_id != a->trace_id || step->step < 0)
			continue;
		other = step_start(s, b->trace_id, step->step);
		if (other < 0)
			continue;
		*move_ns = step->start_ns - other;
		return CLOCK_STEP;
	}
	*move_ns = a->first_ns - b->first_ns;
	return CLOCK_FIRST;
}

static enum clock set_clock(struct pf_report *r)
{
	struct pf_timeline_side *a = &r->timelines.side[0];
	struct pf_timeline_side *b = &r->timelines.side[1];
	int64_t move_ns;
	enum clock clock = find_clock(r, &move_ns);
	int64_t later = b->slices.first_ns + move_ns - a->slices.first_ns;

	a->shift_ns = later < 0 ? -later : 0;
	b->shift_ns = later > 0 ? later : 0;
	return clock;
}

/* ---- steps and marks ---- */

static void add_steps(const struct pf_report *r, struct pf_timeline_side *s)
{
	const struct pf_step_times *steps = &r->parts.steps;
	PF_AUTO(pf_buf_release) struct pf_buf label = { 0 };

	for (size_t i = 0; i < steps->count; i++) {
		const struct pf_step_time *step = &steps->steps[i];
		int64_t at = step->start_ns - s->slices.first_ns;

		if (step->step < 0 || step->trace_id != s->slices.trace_id)
			continue;
		pf_buf_clear(&label);
		pf_buf_addf(&label, "%" PRId64, step->step);
		pf_timeline_add_span(&s->steps, at, at + step->dur_ns,
				     label.data);
	}
}

/* The places of verdicts and the longest gaps. */
static void add_marks(const struct pf_report *r, struct pf_timeline_side *s)
{
	const struct pf_gaps *gaps = &r->parts.gaps;

	for (size_t i = 0; i < r->verdicts.fired; i++) {
		const struct pf_verdict *v = &r->verdicts.all[i];

		if (v->from_ns >= 0 && v->trace_id == s->slices.trace_id)
			pf_timeline_add_span(&s->marks, v->from_ns, v->to_ns,
					     v->title);
	}
	for (size_t i = 0; i < gaps->gap_count && i < PF_TIMELINE_MARKS / 2;
	     i++) {
		const struct pf_gap_item *gap = &gaps->gaps[i];

		if (gap->trace_id == s->slices.trace_id)
			pf_timeline_add_span(&s->marks, gap->start_ns,
					     gap->start_ns + gap->ns,
					     gap->cause);
	}
}

/* Of several traces each has a path of its own. */
static int add_paths(struct pf_report *r)
{
	struct pf_timelines *all = &r->timelines;
	int64_t pieces = ranks_slices(&r->args.page) / PF_TIMELINE_SIDES;

	if (r->parts.traces.count == 1)
		return 0;
	for (size_t i = 0; i < all->count; i++)
		PF_TRY(pf_path_track_add(r->db, &r->parts.window, pieces,
					 r->redact, &all->side[i].slices));
	return 0;
}

static bool has_path(const struct pf_timelines *all)
{
	for (size_t i = 0; i < all->count; i++)
		if (all->side[i].slices.group[PF_SLICES_PATH].count)
			return true;
	return false;
}

/* ---- names of sides, and the note ---- */

static void name_side(const struct pf_report *r, size_t which,
		      struct pf_timeline_side *s)
{
	const struct pf_window *w = &r->parts.traces;
	bool is_rank = pf_window_has_ranks(w);
	int64_t n = is_rank ? w->traces[which].rank : (int64_t)which + 1;

	pf_buf_addf(&s->label, "%s %" PRId64, is_rank ? "rank" : "trace", n);
	if (r->timelines.count > 1)
		pf_buf_addf(&s->key, "%c%" PRId64, is_rank ? 'r' : 't', n);
}

static void add_clock(struct pf_buf *out, enum clock clock)
{
	static const char *const words[] = {
		[CLOCK_OWN] = "on the clock that they were recorded with",
		[CLOCK_STEP] = ("moved so that a step begins in both at the "
				"same time, for they were not recorded at the "
				"same time"),
		[CLOCK_FIRST] = ("moved so that both begin at the same time, "
				 "for they were not recorded at the same time"),
	};

	pf_buf_adds(out, words[clock]);
}

static void add_note(struct pf_report *r, double share, enum clock clock)
{
	struct pf_timelines *all = &r->timelines;
	struct pf_buf *out = &all->note;
	const struct pf_window *w = &r->parts.traces;
	PF_AUTO(pf_buf_release) struct pf_buf db = { 0 };

	pf_buf_addf(out, "The timeline shows %s, the first of ",
		    all->side[0].label.data);
	pf_figure_count(out, (int64_t)w->count);
	pf_buf_adds(out, " traces");
	if (all->count > 1) {
		pf_buf_addf(out, ", and %s, ", all->side[1].label.data);
		if (w->count > 2)
			pf_buf_adds(out, "of the others the one "
					 "whose GPU is idle most (");
		else
			pf_buf_adds(out, "the other (GPU idle ");
		pf_html_ratio(out, share);
		pf_buf_adds(out, "), ");
		add_clock(out, clock);
	}
	pf_buf_addc(out, '.');
	if (has_path(all))
		pf_buf_adds(out, " A critical path is of its trace alone: "
				 "what other traces do is not on it.");
	if (pf_window_has_ranks(w)) {
		pf_shell_word(&db, r->parts.db_name);
		pf_buf_adds(out, " One rank alone: <code>profan report ");
		pf_html_text(out, db.data);
		pf_buf_adds(out, " --rank N</code>.");
	}
}

/* With all parts there: the path, the other trace, the clock, steps, marks. */
static int ranks_finish(struct pf_report *r)
{
	struct pf_timelines *all = &r->timelines;
	enum clock clock = CLOCK_OWN;
	double share = 0;
	size_t other = find_idle(r, &share);

	if (r->parts.traces.count == 1 &&
	    pf_path_track_put(&r->parts.track, r->parts.path.names, r->redact,
			      &all->side[0].slices) < 0)
		return -1;
	if (other) {
		PF_TRY(load(r->db, &r->parts.traces, other, r, 1));
		clock = set_clock(r);
		name_side(r, other, &all->side[1]);
	}
	PF_TRY(add_paths(r));
	name_side(r, 0, &all->side[0]);
	all->more = PF_TIMELINE_MORE;
	for (size_t i = 0; i < all->count; i++) {
		add_steps(r, &all->side[i]);
		add_marks(r, &all->side[i]);
	}
	if (r->parts.traces.count > 1)
		add_note(r, share, clock);
	return 0;
}

/* Texts as the page may show them. */
static const char *show_text(const void *context, const char *text,
			     struct pf_buf *out)
{
	pf_buf_clear(out);
	return pf_parts_text(context, text, out);
}

/* The advice, of the path and the parts. */
static void report_judge(struct pf_report *r)
{
	struct pf_parts *p = &r->parts;
	const struct pf_advise_from from = {
		&p->callers, &p->launches, &p->overlap, &p->steps, &p->memory,
		&p->info,    &p->roofline, &p->gaps,    &p->syncs
	};

	p->judged =
		(struct pf_advise_args){ p->window, p->db_name, show_text, p };
	pf_advise_judge(p->advise, &p->judged, &from);
}

/* How to see the rest: places, code, and what could not be judged. */
void pf_report_advise_command(const struct pf_report *r, struct pf_buf *out)
{
	pf_buf_adds(out, "profan advise ");
	pf_shell_word(out, r->parts.db_name);
	pf_window_options(&r->parts.window, out);
}

static int load_beside(struct pf_db *db, const struct pf_parts *p,
		       void *context)
{
	struct pf_report *r = context;

	if (r->args.page.timeline != PF_TIMELINE_NONE &&
	    ranks_load_first(db, p, r) < 0)
		return -1;
	return 0;
}

int pf_report_make(struct pf_db *db, const struct pf_report_args *args,
		   const char *db_name, struct pf_report *out)
{
	const struct pf_parts_beside beside = {
		.no_page = args->no_page,
		.no_tiles = args->no_tiles,
		.run = load_beside,
		.context = out,
		.advise = &out->advise,
		.path_pieces =
			args->no_page ? 0 : (size_t)ranks_slices(&args->page),
	};

	memset(out, 0, sizeof(*out));
	out->db = db;
	out->args = *args;
	out->redact = pf_redact_new(db, args->page.redact);
	if (out->redact && args->page.names == PF_NAMES_SHORT)
		pf_redact_shorten(out->redact);
	if (!out->redact || pf_parts_gather(db, &args->window,
					    args->page.redact ? "DB" : db_name,
					    out->redact, &beside, &out->parts))
		return -1;
	report_judge(out);
	pf_verdicts_find(&out->parts, &out->verdicts);
	if (!args->no_tiles)
		tiles_find(&out->parts, &out->tiles);
	if (args->page.timeline != PF_TIMELINE_NONE)
		return ranks_finish(out);
	return 0;
}

void pf_report_release(struct pf_report *r)
{
	pf_verdicts_release(&r->verdicts);
	tiles_release(&r->tiles);
	pf_timelines_release(&r->timelines);
	pf_advise_release(&r->advise);
	pf_parts_release(&r->parts);
	pf_redact_free(r->redact);
}

void pf_report_title(const struct pf_report *r, struct pf_buf *out)
{
	const struct pf_info *info = &r->parts.info;
	PF_AUTO(pf_buf_release) struct pf_buf path = { 0 };

	if (info->trace_count == 1 && r->args.page.redact)
		pf_buf_adds(out, "a trace");
	else if (info->trace_count == 1 && info->traces->path)
		pf_buf_adds(out,
			    pf_path_base(pf_parts_text(
				    &r->parts, info->traces->path, &path)));
	else
		pf_buf_addf(out, "%zu traces", info->trace_count);
}

void pf_report_doc(const struct pf_report *r, struct pf_doc *doc)
{
	const struct pf_verdict *v = &r->verdicts.all[0];
	PF_AUTO(pf_buf_release) struct pf_buf first = { 0 };

	pf_say_plain(&first, &v->sentence);
	pf_verdict_say_gain(v, ". ", &first);
	pf_doc_finding(doc, "%s", first.data);
	tiles_scalars(&r->tiles, doc);
	pf_verdicts_tables(&r->verdicts, &r->parts, doc);
}

/* A summary for pull requests and CI logs: the same sentences. */

/* Names as code, the rest as it is: those words are ours. */
static void add_sentence(struct pf_buf *out, const struct pf_buf *sentence)
{
	const char *s = sentence->data, *end = s ? s + sentence->len : s;

	while (s < end) {
		const char *mark = s;

		while (mark < end && *mark != PF_SAY_NAME &&
		       *mark != PF_SAY_END)
			mark++;
		if (mark < end && *mark == PF_SAY_END)
			pf_escape_md_line(out, s, (size_t)(mark - s));
		else
			pf_buf_add(out, s, (size_t)(mark - s));
		s = mark + 1;
	}
}

static void add_verdicts(struct pf_buf *out, const struct pf_report *r)
{
	const struct pf_verdicts *v = &r->verdicts;
	PF_AUTO(pf_buf_release) struct pf_buf command = { 0 };

	for (size_t i = 0; i < v->fired && i < PF_VERDICTS_SHOWN; i++) {
		const struct pf_verdict *of = &v->all[i];

		pf_buf_addf(out, "- **%s:** ", pf_severity_word(of->severity));
		add_sentence(out, &of->sentence);
		pf_verdict_say_gain(of, ". ", out);
		if (of->advice && of->advice->remedy)
			pf_buf_addf(out, ". To try: %s", of->advice->remedy);
		pf_buf_adds(out, ".\n");
	}
	if (v->fired > PF_VERDICTS_SHOWN)
		pf_buf_addf(out, "- and %zu more\n",
			    v->fired - PF_VERDICTS_SHOWN);
	pf_report_advise_command(r, &command);
	pf_buf_adds(out, "\nWhere it is, and what to write: ");
	pf_escape_md_line(out, command.data, command.len);
	pf_buf_addc(out, '\n');
}

static void add_tiles(struct pf_buf *out, const struct pf_tiles *tiles)
{
	pf_buf_adds(out, "\n<details><summary>Figures</summary>\n\n"
			 "| | | |\n|---|---:|---|\n");
	for (size_t i = 0; i < tiles->count; i++) {
		const struct pf_tile *t = &tiles->tile[i];

		pf_buf_addf(out, "| %s | ", t->col.title);
		pf_figure_cell(out, &t->value, t->col.kind);
		pf_buf_addf(out, " | %s |\n",
			    t->detail.data ? t->detail.data : "");
	}
	pf_buf_adds(out, "\n</details>\n");
}

static void add_classes(struct pf_buf *out, const struct pf_parts *p)
{
	if (p->steps.is_untimed)
		return;
	pf_buf_adds(out, "\n| Where the step goes | Mean | Share |\n"
			 "|---|---:|---:|\n");
	for (int i = 0; i < PF_STEP_CLASSES; i++) {
		const struct pf_step_spread *class = &p->steps.classes[i];

		if (!class->mean_ns)
			continue;
		pf_buf_addf(out, "| %s | ", class->name);
		pf_figure_ns(out, class->mean_ns);
		pf_buf_adds(out, " | ");
		pf_figure_ratio(out, class->share);
		pf_buf_adds(out, " |\n");
	}
}

void pf_report_md(const struct pf_report *r, const char *html_name,
		  struct pf_buf *out)
{
	PF_AUTO(pf_buf_release) struct pf_buf title = { 0 };

	pf_report_title(r, &title);
	pf_buf_adds(out, "<!-- profan:report -->\n### profan: ");
	pf_escape_md_sentence(out, title.data, title.len);
	pf_buf_adds(out, "\n\n");
	add_verdicts(out, r);
	add_classes(out, &r->parts);
	add_tiles(out, &r->tiles);
	if (html_name) {
		pf_buf_adds(out, "\nThe whole report: ");
		pf_escape_md_line(out, html_name, strlen(html_name));
		pf_buf_addc(out, '\n');
	}
}
