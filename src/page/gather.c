/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>

#include "torch/table.h"
#include "torch/rules.h"
#include "analysis/time/counters.h"
#include "analysis/time/modules.h"
#include "base/mem.h"
#include "events/gpu.h"
#include "events/step.h"
#include "events/trust.h"
#include "page/gather.h"
#include "store/kept.h"
#include "store/threads.h"
#include "analysis/time/training.h"

/* ---- one function per part ---- */

static int run_steps(struct pf_db *db, struct pf_parts *p)
{
	const struct pf_steps_args args = {
		.window = p->window,
		.empty_count = p->empty_step_count,
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

	if (d && d->capacity_share >= PF_USAGE_EDGE)
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
		if (steps->first_step < first)
			first = steps->first_step;
		if (steps->last_step > last)
			last = steps->last_step;
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
		if (s->step < first)
			first = s->step;
		if (s->step > last)
			last = s->step;
	}
	for (size_t i = 0; i < steps.count && first <= last; i++)
		if (steps.items[i].is_empty &&
		    (steps.items[i].step < first || steps.items[i].step > last))
			p->empty_step_count++;
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

#define KEPT_BYTES (18u << 20) /* of blocks that several parts read */

#define BESIDE PF_PART_COUNT /* the work beside, where parts are counted */

/*
 * Steps need no row that is still being read when the first part begins; then
 * parts by the time they can take, so that the last is a short one.  The work
 * beside, which keeps what it makes, waits until the path has gone.
 */
static const enum pf_part order[] = {
	PF_PART_STEPS,   PF_PART_PATH,     PF_PART_SYNCS,   PF_PART_MEMORY,
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
	if (!rc)
		run_parts(q, q->db);
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

int pf_parts_gather(struct pf_db *db, const struct pf_window_args *window,
		    const char *db_name, const struct pf_redact *redact,
		    const struct pf_parts_beside *beside, struct pf_parts *out)
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

void pf_parts_release(struct pf_parts *p)
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

const char *pf_parts_query_of(const struct pf_parts *p, enum pf_part part,
			      const char *table)
{
	return strncmp(table, "training_", 9) != 0 && !p->traces.is_tpu
		       ? parts[part].query
		       : NULL;
}
