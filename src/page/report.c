/* SPDX-License-Identifier: MIT */
/*
 * The report: its parts, each the answer of a command, which two threads work
 * out; the tiles above them; and what is told of one capture beside others.
 */
#include "config.h"

#include "page/report.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>

#include "analysis/time/counters.h"
#include "analysis/time/modules.h"
#include "analysis/time/training.h"
#include "base/mem.h"
#include "events/gpu.h"
#include "events/host.h"
#include "events/step.h"
#include "events/trust.h"
#include "page/gather.h"
#include "page/html.h"
#include "show/escape.h"
#include "store/kept.h"
#include "torch/rules.h"
#include "torch/table.h"

/* ---- one function per part ---- */

static int run_steps(struct pf_db *db, struct pf_parts *p)
{
	const struct pf_steps_args args = {
		.window = p->window,
		.empty_count = p->empty_step_count,
		.cut_count = p->cut_step_count,
	};
	struct pf_doc *doc = &p->doc[PF_PART_STEPS];

	PF_TRY(pf_steps_answer(db, &args, &p->steps, doc));
	return pf_training_steps(db, doc);
}

/* What is shown of gaps, and told to the calls that wait. */
static int find_gaps(struct pf_db *db, struct pf_gap_sink *also, void *context)
{
	struct pf_parts *p = context;
	const struct pf_gaps_args args = { .window = p->window,
					   .limit = PF_REPORT_ROWS,
					   .micro_ns = PF_GAPS_MICRO_NS,
					   .also = also };

	return pf_gaps(db, &args, &p->gaps, &p->doc[PF_PART_GAPS]);
}

/* And gaps, of which it needs some.  Advice reads it where no path is. */
static int run_syncs(struct pf_db *db, struct pf_parts *p)
{
	const struct pf_gap_source gaps = { find_gaps, p };
	const struct pf_syncs_args args = { .window = p->window,
					    .max_per_step = -1,
					    .fail_on = -1,
					    .gaps = &gaps };
	bool is_failed;

	if (p->no_tiles && p->traces.count < 2)
		return find_gaps(db, NULL, p);
	return pf_syncs(db, &args, &p->syncs, &p->doc[PF_PART_SYNCS],
			&is_failed);
}

static int run_overlap(struct pf_db *db, struct pf_parts *p)
{
	const struct pf_overlap_args args = { .window = p->window };

	return pf_overlap(db, &args, &p->overlap, &p->doc[PF_PART_OVERLAP]);
}

/* A path is one trace's; of times that it cannot count it says so. */
static int run_path(struct pf_db *db, struct pf_parts *p)
{
	struct pf_path_args args = {
		.window = p->window,
		.is_bare = p->no_page,
		.at_work = &p->at_work,
	};
	struct pf_doc *doc = &p->doc[PF_PART_PATH];
	int rc = 0;

	if (p->traces.count > 1) {
		pf_doc_finding(doc,
			       "a critical path is one trace's, and there are "
			       "%zu; --rank or --trace chooses one",
			       p->traces.count);
		return 0;
	}
	rc = pf_advise_begin(db, &args, p->advise);
	if (p->track.most)
		pf_path_track_begin(&p->track, &args);
	if (!rc)
		rc = p->no_page ? pf_path_find(db, &args, &p->path)
				: pf_path(db, &args, &p->path, doc);
	if (!rc)
		rc = pf_advise_end(p->advise, &p->path);
	if (!rc)
		return 0;
	pf_path_track_release(&p->track);
	pf_advise_release(p->advise);
	if (db->err->code != PF_EDATA)
		return -1;
	pf_doc_finding(doc, "%s", db->err->text);
	*db->err = (struct pf_err){ 0 };
	return 0;
}

static int run_launches(struct pf_db *db, struct pf_parts *p)
{
	const struct pf_launches_args args = { .window = p->window,
					       .only_counts = p->no_page,
					       .no_causes = true };

	return pf_launches(db, &args, &p->launches, &p->doc[PF_PART_LAUNCHES]);
}

static int run_kernels(struct pf_db *db, struct pf_parts *p)
{
	const struct pf_kernels_args args = { .window = p->window };

	return pf_kernels(db, &args, &p->kernels, &p->doc[PF_PART_KERNELS]);
}

static int run_callers(struct pf_db *db, struct pf_parts *p)
{
	const struct pf_kernels_args args = { .window = p->window,
					      .group = PF_KERNELS_BY_NAME_OP,
					      .no_ranks = p->no_page };

	return pf_kernels(db, &args, &p->callers, &p->doc[PF_PART_CALLERS]);
}

/* Who holds it matters to a verdict only where there is too little. */
static bool is_about_all(const struct pf_usage *u)
{
	const struct pf_usage_device *d = pf_usage_fullest(u);

	if ((d && d->capacity_share >= PF_USAGE_EDGE) || pf_usage_growing(u))
		return false;
	return !u->oom_count && u->producer != PF_FROM_SNAPSHOT &&
	       u->producer != PF_FROM_TABLES;
}

static int run_memory(struct pf_db *db, struct pf_parts *p)
{
	struct pf_usage_args args = { .window = p->window,
				      .points = PF_USAGE_POINTS,
				      .no_sites = p->no_page };

	if (p->no_page)
		PF_TRY(pf_usage_find(db, &args, NULL, &p->memory));
	if (!p->no_page || !is_about_all(&p->memory)) {
		args.no_sites = false;
		pf_usage_release(&p->memory);
		PF_TRY(pf_usage(db, &args, &p->memory,
				&p->doc[PF_PART_MEMORY]));
	}
	return pf_training_memory(db, &p->doc[PF_PART_MEMORY]);
}

static int run_modules(struct pf_db *db, struct pf_parts *p)
{
	const struct pf_modules_args args = { .window = p->window,
					      .depth = PF_MODULES_DEPTH };

	return pf_modules(db, &args, &p->doc[PF_PART_MODULES]);
}

/* Where most time is above its roof comes first; nothing without shapes. */
static int run_roofline(struct pf_db *db, struct pf_parts *p)
{
	const struct pf_roofline_args args = { .window = p->window,
					       .group = PF_ROOFLINE_BY_SHAPE };
	struct pf_doc *doc = &p->doc[PF_PART_ROOFLINE];
	bool has_shapes;

	PF_TRY(pf_trust_has_shapes(db, &has_shapes));
	if (!has_shapes && !p->traces.is_tpu) {
		pf_doc_finding(doc, "No operator has the shapes of its inputs");
		return 0;
	}
	if (p->no_page)
		return pf_roofline_find(db, &args, &p->roofline);
	doc->lists = "calls";
	doc->order = (struct pf_order){ "above_roof_ns", -1 };
	PF_TRY(pf_roofline_answer(db, &args, &p->roofline, doc) < 0);
	return pf_doc_settle(doc, db->err);
}

/* What they are called, and texts of them, are the program's or a machine's. */
static int run_counters(struct pf_db *db, struct pf_parts *p)
{
	const struct pf_counters_args args = { .window = p->window };

	if (p->redact && pf_redact_is_strict(p->redact))
		return 0;
	return pf_counters(db, &args, &p->doc[PF_PART_COUNTERS]);
}

static int run_doctor(struct pf_db *db, struct pf_parts *p)
{
	const struct pf_doctor_args args = { .fail_on = -1 };
	bool is_failed;

	return pf_doctor(db, &args, &p->doctor, &p->doc[PF_PART_DOCTOR],
			 &is_failed);
}

/*
 * key_averages() of the first trace, as torch sorts it by device time, or
 * where there is none by CPU time.
 */
static int run_ops(struct pf_db *db, struct pf_parts *p)
{
	const struct pf_averages_args args = {
		.trace_id = p->traces.traces[0].trace_id,
		.step = -1,
		.grouping_count = 1,
	};
	struct pf_averages *averages = &p->averages;
	PF_OWN const struct pf_average **rows = NULL;
	struct pf_table *t;

	PF_TRY(pf_averages_get(db, &args, averages, db->err));
	for (size_t i = 0; i < averages->list[0].count; i++)
		p->ops_by_device |=
			averages->list[0].rows[i].sum.ns[PF_FIG_SELF_DEVICE] !=
			0;
	t = pf_averages_table(&p->doc[PF_PART_OPS], false);
	rows = pf_torch_sorted(averages->list[0].rows, averages->list[0].count,
			       p->ops_by_device ? PF_SORT_SELF_DEVICE
						: PF_SORT_SELF_CPU);
	for (size_t i = 0; i < averages->list[0].count; i++)
		pf_averages_add(t, rows[i]);
	return 0;
}

static const struct part {
	const char *command, *options, *query;
	bool has_window;
	int (*run)(struct pf_db *db, struct pf_parts *p);
	bool of_page; /* no verdict reads it */
} parts[PF_PART_COUNT] = {
	[PF_PART_INFO] = { "info", "", NULL, false, NULL, false },
	[PF_PART_STEPS] = { "steps", "", "step_classes", true, run_steps,
			    false },
	[PF_PART_GAPS] = { "gaps", "", "idle_gaps", true, NULL, false },
	[PF_PART_SYNCS] = { "syncs", "", "sync_blocked", true, run_syncs,
			    false },
	[PF_PART_PATH] = { "path", "", NULL, true, run_path, false },
	[PF_PART_OVERLAP] = { "overlap", "", "comm_overlap", true, run_overlap,
			      false },
	[PF_PART_LAUNCHES] = { "launches", "", "launch_delay", true,
			       run_launches, false },
	[PF_PART_KERNELS] = { "kernels", "", "kernels_by_name", true,
			      run_kernels, true },
	[PF_PART_CALLERS] = { "kernels", " --group name,op", NULL, true,
			      run_callers, false },
	[PF_PART_MEMORY] = { "memory", "", NULL, true, run_memory, false },
	[PF_PART_MODULES] = { "modules", "", NULL, true, run_modules, true },
	[PF_PART_DOCTOR] = { "doctor", "", "launched_before", false, run_doctor,
			     false },
	[PF_PART_COUNTERS] = { "counters", "", NULL, true, run_counters, true },
	[PF_PART_OPS] = { "table", " --sort self_device_time_total", NULL,
			  false, run_ops, false },
	[PF_PART_ROOFLINE] = { "roofline",
			       " --group op,shape --sort above_roof_ns", NULL,
			       true, run_roofline, false },
};

/* ---- the window ---- */

static bool is_asked_for(const struct pf_window_args *w)
{
	return w->steps || w->step || w->skip_first || w->whole ||
	       w->from_ns >= 0 || w->to_ns >= 0;
}

/* "5..10", as an option says it. */
static void say_steps(struct pf_buf *out, int64_t first, int64_t last)
{
	pf_buf_addf(out, "%" PRId64, first);
	if (last != first)
		pf_buf_addf(out, "..%" PRId64, last);
}

/* The profiler steps of all traces. */
static void find_steps(struct pf_parts *p)
{
	int64_t first = INT64_MAX, last = -1;

	for (size_t i = 0; i < p->info.step_count; i++) {
		const struct pf_info_steps *steps = &p->info.steps[i];

		if (steps->first_step < 0)
			continue;
		PF_AT_MOST(first, steps->first_step);
		PF_AT_LEAST(last, steps->last_step);
	}
	if (first > last)
		return;
	say_steps(&p->steps_text, first, last);
}

/*
 * Where nothing is asked for: the steps that every command takes, less those
 * at the end that are cut off.
 */
static int find_window(struct pf_db *db, struct pf_parts *p)
{
	int64_t first = INT64_MAX, last = -1;
	struct pf_steps steps = { 0 };

	if (is_asked_for(&p->window))
		return 0;
	PF_TRY(pf_steps_load(db, NULL, &steps));
	for (size_t i = 0; i < steps.count; i++) {
		const struct pf_step *s = &steps.items[i];

		if (s->is_partial || s->step < 0)
			continue;
		PF_AT_MOST(first, s->step);
		PF_AT_LEAST(last, s->step);
	}
	for (size_t i = 0; i < steps.count && first <= last; i++) {
		const struct pf_step *s = &steps.items[i];

		if (!s->is_partial || (s->step >= first && s->step <= last))
			continue;
		p->empty_step_count += s->is_empty;
		p->cut_step_count += !s->is_empty;
	}
	pf_steps_release(&steps);
	if (first > last)
		return 0;
	say_steps(&p->whole_text, first, last);
	p->window.step = p->whole_text.data;
	return 0;
}

/* Steps that --steps names: their numbers. */
static void find_named_steps(struct pf_parts *p)
{
	const struct pf_step_time *steps = p->steps.steps;
	size_t n = p->steps.count;

	if (p->steps_text.len || !n || steps->step < 0)
		return;
	say_steps(&p->steps_text, steps->step, steps[n - 1].step);
}

/* ---- two at a time ---- */

#define KEPT_BYTES (28u << 20) /* of blocks that several parts read */

#define BESIDE PF_PART_COUNT /* the work beside, where parts are counted */

/*
 * The path takes longest, and all that comes before it is read when it begins;
 * then parts by the time they can take, so that the last is a short one.  The
 * work beside, which keeps what it makes, waits until the path has gone.
 */
static const enum pf_part order[] = {
	PF_PART_PATH,    PF_PART_STEPS,    PF_PART_SYNCS,   PF_PART_MEMORY,
	PF_PART_DOCTOR,  PF_PART_LAUNCHES, PF_PART_MODULES, PF_PART_ROOFLINE,
	PF_PART_CALLERS, PF_PART_KERNELS,  BESIDE,          PF_PART_OVERLAP,
	PF_PART_OPS,     PF_PART_COUNTERS,
};

#define ORDERED (PF_LEN(order))
_Static_assert(ORDERED == PF_PART_COUNT - 1,
	       "every part but info, and gaps, which come with syncs");

/* The first release of torch whose rules a trace follows; 0: none does. */
static int find_torch(struct pf_db *db, struct pf_parts *p)
{
	for (size_t i = 0; i < p->traces.count && !p->torch; i++) {
		struct pf_rule_facts facts = { 0 };

		if (p->traces.traces[i].is_side)
			continue;
		PF_TRY(pf_rules_read_facts(db, p->traces.traces[i].trace_id,
					   &facts, db->err));
		if (facts.is_foreign)
			continue;
		p->torch = pf_rules_for(&facts, 0, 0).torch;
		p->is_torch_said = facts.torch > 0;
	}
	return 0;
}

static int find_about(struct pf_db *db, struct pf_parts *p)
{
	PF_TRY(pf_info(db, &p->info, &p->doc[PF_PART_INFO]));
	PF_TRY(pf_training_summary(db, &p->doc[PF_PART_INFO]));
	find_steps(p);
	PF_TRY(find_window(db, p));
	PF_TRY(pf_window_resolve(db, &p->window, &p->traces));
	pf_window_options(&p->window, &p->window_text);
	return find_torch(db, p);
}

/*
 * What threads share.  One begins with what the parts are about, the other
 * with rows that half of the parts read, which come before blocks take the
 * room; each then takes parts, which are its alone.
 */
struct queue {
	struct pf_db *db;
	struct pf_parts *parts;
	const struct pf_parts_beside *beside;
	pthread_mutex_t lock;
	pthread_cond_t known; /* what the parts are about: */
	bool is_known;
	int about_rc, links_rc;
	struct pf_err about_err, links_err;
	atomic_uint next;
	int rc[PF_PART_COUNT + 1];
	struct pf_err err[PF_PART_COUNT + 1];
};

static void run_part(struct queue *q, struct pf_db *db, enum pf_part part)
{
	const struct pf_parts_beside *beside = q->beside;

	db->err = &q->err[part];

	if (part == BESIDE) {
		if (beside)
			q->rc[part] =
				beside->run(db, q->parts, beside->context);
		return;
	}
	if (parts[part].of_page && q->parts->no_page)
		return;
	q->rc[part] = parts[part].run(db, q->parts);
	if (q->rc[part])
		pf_while(&q->err[part], "%s", parts[part].command);
}

static void run_parts(struct queue *q, struct pf_db *db)
{
	unsigned n;

	while ((n = atomic_fetch_add(&q->next, 1)) < ORDERED)
		run_part(q, db, order[n]);
}

/* false: there is nothing to be known. */
static bool wait_for_about(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	while (!q->is_known)
		pthread_cond_wait(&q->known, &q->lock);
	pthread_mutex_unlock(&q->lock);
	return !q->about_rc;
}

static void *run_other(void *p)
{
	struct queue *q = p;
	struct pf_db *db = &q->parts->beside;

	q->links_rc = pf_db_open_beside(db, q->db, &q->links_err);
	if (!q->links_rc)
		q->links_rc = pf_gpu_links_keep(db);
	if (!q->links_rc && wait_for_about(q))
		run_parts(q, db);
	atomic_fetch_sub(&q->parts->at_work, 1);
	return NULL;
}

static void run_first(struct queue *q)
{
	int rc;

	q->db->err = &q->about_err;
	rc = find_about(q->db, q->parts);
	pthread_mutex_lock(&q->lock);
	q->about_rc = rc;
	q->is_known = true;
	pthread_cond_signal(&q->known);
	pthread_mutex_unlock(&q->lock);
	if (!rc) {
		pf_first_uses(q->db, true);
		run_parts(q, q->db);
	}
	atomic_fetch_sub(&q->parts->at_work, 1);
}

/* The first error in the order of parts, whichever thread met it first. */
static int first_error(const struct queue *q, struct pf_err *err)
{
	if (q->links_rc || q->about_rc) {
		*err = q->links_rc ? q->links_err : q->about_err;
		return -1;
	}
	for (int i = 0; i <= PF_PART_COUNT; i++)
		if (q->rc[i]) {
			*err = q->err[i];
			return q->rc[i];
		}
	return 0;
}

static int run_all(struct pf_db *db, struct pf_parts *p,
		   const struct pf_parts_beside *beside)
{
	PF_OWN struct queue *q = pf_calloc(1, sizeof(*q));
	struct pf_err *given = db->err;
	pthread_t other;
	bool has_other;
	int rc;

	q->db = db;
	q->parts = p;
	q->beside = beside;
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->known, NULL);
	atomic_store(&p->at_work, 2);
	has_other =
		!db->is_for_one && !pthread_create(&other, NULL, run_other, q);
	db->err = &q->links_err;
	if (!has_other) {
		atomic_store(&p->at_work, 1);
		q->links_rc = pf_gpu_links_keep(db);
	}
	if (has_other || !q->links_rc)
		run_first(q);
	if (has_other)
		pthread_join(other, NULL);
	db->err = p->beside.err = given;
	rc = first_error(q, given);
	pthread_cond_destroy(&q->known);
	pthread_mutex_destroy(&q->lock);
	return rc;
}

/*
 * Run the analyses; texts go through "redact"; beside may be NULL.  Without
 * options of a window, the profiler steps are the window; without steps it is
 * from the first to the last GPU work.
 */
static int parts_gather(struct pf_db *db, const struct pf_window_args *window,
			const char *db_name, const struct pf_redact *redact,
			const struct pf_parts_beside *beside,
			struct pf_parts *out)
{
	*out = (struct pf_parts){ .window = *window,
				  .db_name = db_name,
				  .redact = redact,
				  .advise = beside ? beside->advise : NULL,
				  .no_page = beside && beside->no_page,
				  .no_tiles = beside && beside->no_tiles,
				  .track.most =
					  beside ? beside->path_pieces : 0 };
	pf_kept_start(db, KEPT_BYTES);
	PF_TRY(run_all(db, out, beside));
	pf_kept_stop(db);
	find_named_steps(out);
	for (int i = 0; i < PF_PART_COUNT; i++)
		pf_redact_doc(redact, &out->doc[i]);
	return 0;
}

static void parts_release(struct pf_parts *p)
{
	for (int i = 0; i < PF_PART_COUNT; i++)
		pf_doc_release(&p->doc[i]);
	pf_info_release(&p->info);
	pf_step_times_release(&p->steps);
	pf_gaps_release(&p->gaps);
	pf_syncs_release(&p->syncs);
	pf_path_release(&p->path);
	pf_path_track_release(&p->track);
	pf_overlap_release(&p->overlap);
	pf_launches_release(&p->launches);
	pf_kernels_release(&p->kernels);
	pf_kernels_release(&p->callers);
	pf_usage_release(&p->memory);
	pf_averages_release(&p->averages);
	pf_doctor_release(&p->doctor);
	pf_roofline_release(&p->roofline);
	pf_db_close(&p->beside);
	pf_window_release(&p->traces);
	pf_buf_release(&p->window_text);
	pf_buf_release(&p->steps_text);
	pf_buf_release(&p->whole_text);
}

void pf_parts_command(const struct pf_parts *p, enum pf_part part,
		      struct pf_buf *out)
{
	pf_buf_addf(out, "profan %s ", parts[part].command);
	pf_shell_word(out, p->db_name);
	pf_buf_adds(out, part == PF_PART_OPS && !p->ops_by_device
				 ? " --sort self_cpu_time_total"
				 : parts[part].options);
	if (parts[part].has_window && p->window_text.len)
		pf_buf_adds(out, p->window_text.data);
}

const char *pf_parts_query(enum pf_part part)
{
	return parts[part].query;
}

/* ---- tiles ---- */

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
		PF_AT_MOST(least, s->steps[i].dur_ns);
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

	PF_TRY(r->parts.traces.count == 1 &&
	       pf_path_track_put(&r->parts.track, r->parts.path.names,
				 r->redact, &all->side[0].slices) < 0);
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
static int report_judge(struct pf_report *r)
{
	struct pf_parts *p = &r->parts;
	const struct pf_advise_from from = {
		&p->callers, &p->launches, &p->overlap, &p->steps, &p->memory,
		&p->info,    &p->roofline, &p->gaps,    &p->syncs
	};

	p->judged =
		(struct pf_advise_args){ p->window, p->db_name, show_text, p };
	PF_TRY(pf_advise_each(r->db, &p->judged, &from, p->advise));
	pf_advise_judge(p->advise, &p->judged, &from);
	return 0;
}

static int load_beside(struct pf_db *db, const struct pf_parts *p,
		       void *context)
{
	struct pf_report *r = context;

	PF_TRY(r->args.page.timeline != PF_TIMELINE_NONE &&
	       ranks_load_first(db, p, r) < 0);
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
	PF_TRY(!out->redact || parts_gather(db, &args->window,
					    args->page.redact ? "DB" : db_name,
					    out->redact, &beside, &out->parts));
	PF_TRY(report_judge(out));
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
	parts_release(&r->parts);
	pf_redact_free(r->redact);
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
