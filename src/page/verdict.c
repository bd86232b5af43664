/* SPDX-License-Identifier: MIT */
/*
 * Each rule reads figures of the parts and of nothing else.  Idle time has
 * one cause per piece, and a cause belongs to one rule besides the first, so
 * what the rules say can be won adds up to no more than the idle time.
 */
#include "config.h"

#include "page/verdict.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/roofline/gpus.h"
#include "analysis/time/steps.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/order.h"
#include "show/doc.h"

/* ---- what rules write their sentences with ---- */

/* Append words of ours, or a figure as people read it. */
static void say(struct pf_verdict *v, const char *words)
{
	pf_buf_adds(&v->sentence, words);
}

static void say_ratio(struct pf_verdict *v, double ratio)
{
	char text[PF_NUM_MAX];

	say(v, pf_num_show_ratio(text, ratio));
}

static void say_ns(struct pf_verdict *v, int64_t ns)
{
	char text[PF_NUM_MAX];

	say(v, pf_num_show_ns(text, ns));
}

static void say_bytes(struct pf_verdict *v, int64_t bytes)
{
	char text[PF_NUM_MAX];

	say(v, pf_num_show_bytes(text, bytes));
}

static void say_count(struct pf_verdict *v, int64_t n, const char *one,
		      const char *many)
{
	char text[PF_NUM_MAX];

	say(v, pf_num_show_count(text, n));
	pf_buf_addc(&v->sentence, ' ');
	say(v, n == 1 ? one : many);
}

/* Append a text that may be shown, at most 160 bytes, between its marks. */
static void say_name(struct pf_verdict *v, const char *name)
{
	size_t len = strlen(name);
	size_t cut = len > 160 ? 157 : len;

	while (cut < len && cut > 0 &&
	       ((unsigned char)name[cut] & 0xc0) == 0x80)
		cut--;
	pf_buf_addc(&v->sentence, PF_SAY_NAME);
	for (size_t i = 0; i < cut; i++)
		pf_buf_addc(&v->sentence,
			    name[i] == PF_SAY_NAME || name[i] == PF_SAY_END
				    ? ' '
				    : name[i]);
	if (cut < len)
		pf_buf_adds(&v->sentence, "...");
	pf_buf_addc(&v->sentence, PF_SAY_END);
}

/* Append a text of the trace as a name, and also to "place", or NULL. */
static void say_text(const struct pf_parts *p, struct pf_verdict *v,
		     const char *text, struct pf_buf *place)
{
	struct pf_buf shown = { 0 };

	say_name(v, pf_parts_text(p, text, &shown));
	if (place)
		pf_buf_adds(place, shown.data);
	pf_buf_release(&shown);
}

/* The rule cannot be applied: the reason instead of a sentence. */
static void rule_withhold(struct pf_verdict *v, const char *why)
{
	v->state = PF_RULE_WITHHELD;
	pf_buf_clear(&v->sentence);
	say(v, why);
}

/* Why there is no GPU work to speak of, where there is none. */
static const char *rule_no_gpu(const struct pf_parts *p)
{
	if (p->steps.window.has_unread)
		return "no GPU activity could be read";
	if (p->steps.recorded.producer == PF_FROM_TABLES)
		return "there is no trace, only what stands beside one";
	return p->steps.is_untimed ? "a memory snapshot has no GPU work"
				   : "there is no GPU activity in this trace";
}

#define CAPTURED 0.5 /* of launches: a capture of graphs, and of no program */

/* Is there any GPU work to judge?  If not, the rule is withheld. */
static bool rule_has_gpu(const struct pf_parts *p, struct pf_verdict *v)
{
	if (p->doctor.captured_share > CAPTURED)
		rule_withhold(v, "graphs are captured here, and run when they "
				 "are replayed");
	else if (!p->overlap.all.event_count)
		rule_withhold(v, rule_no_gpu(p));
	return v->state != PF_RULE_WITHHELD;
}

/* How many steps figures are of; without steps 1, all of the window. */
static int64_t rule_steps(const struct pf_parts *p)
{
	int64_t n = p->steps.full_count;

	return p->steps_text.len && n > 0 ? n : 1;
}

/* " per step" or " in the trace". */
static const char *rule_each(const struct pf_parts *p)
{
	return p->steps_text.len ? " per step" : " in the trace";
}

/* ---- what a rule is ---- */

struct pf_report_rule {
	const char *id, *title, *section;
	enum pf_part part;
	double warn, bad; /* it fires above; 0: it decides itself */
	/*
	 * Fill in what was measured, and the sentence as if it had fired; or
	 * state PF_RULE_WITHHELD and why.
	 */
	void (*apply)(const struct pf_parts *p, struct pf_verdict *v);
};

/*
 * The rules about the trace as a whole: what to trust, its first steps, what
 * decides how long it takes.
 */

#define TRUST_NAMED 3

static bool is_verdict(const struct pf_doctor_check *c, const char *verdict)
{
	return c->verdict && !strcmp(c->verdict, verdict);
}

/* Worse checks first, then those that touch more. */
static const struct pf_doctor_check *next_check(const struct pf_doctor *d,
						const char *verdict,
						double below, double *share)
{
	const struct pf_doctor_check *best = NULL;

	*share = -1;
	for (size_t i = 0; i < PF_DOCTOR_CHECKS; i++) {
		const struct pf_doctor_check *c = &d->checks[i];
		double mine = isnan(c->share) ? 0 : c->share;

		if (!is_verdict(c, verdict) || mine >= below || mine <= *share)
			continue;
		*share = mine;
		best = c;
	}
	return best;
}

static void say_check(struct pf_verdict *v, const struct pf_doctor_check *c,
		      int named)
{
	char count[PF_NUM_MAX];

	say(v, named ? ", " : "");
	say(v, c->name);
	say(v, " (");
	say(v, pf_num_show_count(count, c->count));
	if (!isnan(c->share)) {
		say(v, ", ");
		say_ratio(v, c->share);
		if (c->gpu_ns > 0)
			say(v, " of GPU time");
	}
	say(v, ")");
}

static void apply_trust(const struct pf_parts *p, struct pf_verdict *v)
{
	static const char *const verdicts[] = { "bad", "warn" };
	int64_t count = 0, bad = 0;
	int named = 0;

	for (size_t i = 0; i < PF_DOCTOR_CHECKS; i++) {
		bad += is_verdict(&p->doctor.checks[i], "bad");
		count += is_verdict(&p->doctor.checks[i], "warn");
	}
	count += bad;
	/* as on a scale: 1 is a warning, 2 is bad */
	v->measured = bad ? 2 : count ? 1 : 0;
	say(v, "Trace quality: ");
	for (size_t i = 0; i < 2; i++) {
		double below = 1e300, share;
		const struct pf_doctor_check *c;

		while (named < TRUST_NAMED &&
		       (c = next_check(&p->doctor, verdicts[i], below,
				       &share))) {
			say_check(v, c, named++);
			below = share;
		}
	}
	if (count > named) {
		say(v, " and ");
		say_count(v, count - named, "more check", "more checks");
	}
	say(v, "; figures that rest on this may be off");
}

static const struct pf_report_rule rule_trust = {
	"V9", "trace quality", "quality", PF_PART_DOCTOR, 0.5, 1.5, apply_trust
};

/* What the trace is of, before what is in it. */
static void apply_captured(const struct pf_parts *p, struct pf_verdict *v)
{
	if (p->doctor.captured_share < 0) {
		rule_withhold(v, "there are no launches in this trace");
		return;
	}
	v->measured = p->doctor.captured_share;
	v->is_note = v->measured > CAPTURED;
	say(v, "This is a capture of graphs: ");
	say_ratio(v, v->measured);
	say(v, " of the launches are recorded into them and run when they are "
	       "replayed; 'profan graphs --capture' names that work by this");
}

static const struct pf_report_rule rule_captured = {
	"V17", "capture of graphs", "launches", PF_PART_LAUNCHES, 0,
	0,     apply_captured
};

/* How many steps --skip-first must leave out: of any trace the most. */
static size_t find_warm_up(const struct pf_parts *p)
{
	struct pf_steps_warm_up w = { 0, SIZE_MAX };

	pf_steps_find_warm_up(p->steps.steps, sizeof(*p->steps.steps),
			      p->steps.count, &w);
	return w.most;
}

static void apply_warm_up(const struct pf_parts *p, struct pf_verdict *v)
{
	int64_t median = p->steps.dur.p50_ns;
	int64_t first = p->steps.count ? p->steps.steps[0].dur_ns : 0;
	size_t count = find_warm_up(p);

	if (!p->steps_text.len || rule_steps(p) < 3) {
		rule_withhold(v, "needs three profiler steps");
		return;
	}
	v->measured = median > 0 ? (double)first / (double)median : 0;
	v->affected_ns = first - median;
	pf_buf_addf(&v->sentence, "The first step takes %.1f", v->measured);
	say(v, " times the median (");
	say_ns(v, first);
	say(v, " to ");
	say_ns(v, median);
	if (count < 2) {
		say(v, ") and is part of all figures; --skip-first 1 leaves "
		       "it out");
		return;
	}
	pf_buf_addf(&v->sentence,
		    "); the first %zu steps are warm-up and part of all "
		    "figures; --skip-first %zu leaves them out",
		    count, count);
}

static const struct pf_report_rule rule_warm_up = {
	"V11", "warm-up",    "breakdown", PF_PART_STEPS, PF_WARM_UP_TIMES,
	0,     apply_warm_up
};

/* Of the usual questions the one that saves most. */
static const struct pf_path_answer *best_answer(const struct pf_path *path)
{
	const struct pf_path_answer *best = NULL;

	for (size_t i = 0; i < path->answer_count; i++)
		if (!best || path->answers[i].saved_ns > best->saved_ns)
			best = &path->answers[i];
	return best;
}

/* A fact, no fault: where the host decides, faster GPU work changes little. */
static void apply_path(const struct pf_parts *p, struct pf_verdict *v)
{
	const struct pf_path *path = &p->path;
	const struct pf_path_answer *best = best_answer(path);

	if (p->doctor.captured_share > CAPTURED) {
		rule_has_gpu(p, v);
		return;
	}
	if ((!path->category_count && !path->is_brief) || !path->work_count) {
		rule_withhold(v, p->traces.count > 1
					 ? "a critical path is one trace's"
					 : "there is no GPU work on a path");
		return;
	}
	v->measured = (double)path->host_ns / (double)path->window_ns;
	v->is_note = v->measured > PF_PATH_WORTH_SAYING;
	v->affected_ns = path->host_ns;
	if (path->is_brief)
		return;
	say(v, "On the critical path ");
	if (!path->step_count) {
		say(v, "of ");
		say_ns(v, path->window_ns);
		say(v, " ");
	}
	say_ratio(v, v->measured);
	say(v, " is time of the host and ");
	say_ratio(v, (double)path->gpu_ns / (double)path->window_ns);
	say(v, " is GPU work; most is ");
	say(v, path->categories[0].category);
	say(v, " (");
	say_ratio(v, path->categories[0].share);
	say(v, ")");
	if (!best || best->saved_ns <= 0)
		return;
	say(v, "; \"");
	say_text(p, v, best->question, NULL);
	say(v, "\" would save most (");
	say_ratio(v, best->saved_share);
	say(v, path->begins_cold && best->of_host
		       ? "), also of what runs before the first GPU work"
		       : ")");
}

static const struct pf_report_rule rule_path = {
	"V15", "critical path", "path", PF_PART_PATH, 0, 0, apply_path
};

/* The rule about what kernels are made of. */

#define UNKNOWN_MAX  0.2 /* of the time in products */
#define TENSOR_MAJOR 7   /* of compute capability: with tensor cores */

enum cores { NOT_SAID, UNKNOWN_NAME, NO_CORES, HAS_CORES };

/* By its compute capability, else by what the table of GPUs says of its name. */
static enum cores find_cores(const struct pf_gpus *gpus,
			     const struct pf_info_device *d)
{
	const struct pf_gpu_about about = { d->name, d->sm_count,
					    d->memory_bytes };
	int64_t major = d->compute ? strtol(d->compute, NULL, 10) : 0;
	struct pf_gpu_peaks peaks;

	if (major > 0)
		return major < TENSOR_MAJOR ? NO_CORES : HAS_CORES;
	if (!d->name || !*d->name)
		return NOT_SAID;
	if (!gpus || !pf_gpus_match(gpus, &about, &peaks))
		return UNKNOWN_NAME;
	return isnan(peaks.rate[PF_PEAK_FP16]) &&
			       isnan(peaks.rate[PF_PEAK_BF16])
		       ? NO_CORES
		       : HAS_CORES;
}

/* The least that holds of all GPUs. */
static enum cores find_least(const struct pf_parts *p)
{
	enum cores least = p->info.device_count ? HAS_CORES : NOT_SAID;
	struct pf_err ignored = { 0 };
	struct pf_gpus *gpus = pf_gpus_new(&ignored);

	for (size_t i = 0; i < p->info.device_count; i++) {
		enum cores own = find_cores(gpus, &p->info.devices[i]);

		least = own < least ? own : least;
	}
	pf_gpus_free(gpus);
	return least;
}

static bool is_one_of(const char *s, const char *a, const char *b)
{
	return s && (!strcmp(s, a) || !strcmp(s, b));
}

/* The kernel that holds most of the time in single precision. */
static void say_fp32_kernel(const struct pf_parts *p, struct pf_verdict *v)
{
	for (int64_t i = 0; i < p->callers.row_count; i++) {
		const struct pf_kernel_row *k = &p->callers.rows[i];

		if (!is_one_of(k->class_word, "gemm", "conv") ||
		    !is_one_of(k->precision, "fp32", "fp32") ||
		    !k->short_name || is_one_of(k->op_eligible, "no", "no"))
			continue;
		say(v, ", most of all in ");
		say_text(p, v, k->short_name, NULL);
		if (k->second && strcmp(k->second, "(none)") != 0) {
			say(v, " from ");
			say_text(p, v, k->second, &v->place);
		}
		return;
	}
}

static bool is_precision_known(const struct pf_parts *p, struct pf_verdict *v,
			       int64_t all, int64_t unknown)
{
	enum cores cores = find_least(p);
	double share = all > 0 ? (double)unknown / (double)all : 0;

	if (cores == NOT_SAID) {
		rule_withhold(v, "the trace does not say what GPU it is from");
	} else if (cores == UNKNOWN_NAME) {
		rule_withhold(v, "it is not known whether the GPU has "
				 "tensor cores");
	} else if (cores == NO_CORES) {
		rule_withhold(v, "the GPU has no tensor cores");
	} else if (all <= 0) {
		rule_withhold(v,
			      "no kernel is known to be a matrix product or a "
			      "convolution");
	} else if (share > UNKNOWN_MAX) {
		rule_withhold(v,
			      "the names of kernels do not say the precision "
			      "of ");
		say_ratio(v, share);
		say(v, " of the time in matrix products and convolutions");
	} else {
		return true;
	}
	return false;
}

static void apply_precision(const struct pf_parts *p, struct pf_verdict *v)
{
	int64_t all = p->callers.product_ns;
	int64_t fp32 = p->callers.product_fp32_ns;
	int64_t unknown = p->callers.product_unknown_ns;

	if (!rule_has_gpu(p, v) || !is_precision_known(p, v, all, unknown))
		return;
	v->measured = (double)fp32 / (double)all;
	v->affected_ns = fp32;
	say_ratio(v, v->measured);
	say(v, " of the time in matrix products and convolutions (");
	say_ns(v, fp32);
	say(v, " of ");
	say_ns(v, all);
	say(v, ") runs in fp32 kernels");
	say_fp32_kernel(p, v);
	if (unknown > 0) {
		say(v, "; the precision of ");
		say_ratio(v, (double)unknown / (double)all);
		say(v, " is not known");
	}
}

static const struct pf_report_rule rule_precision = {
	"V10", "precision", "kernels", PF_PART_CALLERS, 0.10, 0, apply_precision
};

#define DOMINANT 0.5 /* of GPU time */

/* A fact, no fault: nothing else is worth as much. */
static void apply_dominant(const struct pf_parts *p, struct pf_verdict *v)
{
	const struct pf_kernel_row *top = p->callers.rows;
	const int64_t all = p->callers.total_ns;

	if (!rule_has_gpu(p, v))
		return;
	if (!p->callers.row_count || all <= 0) {
		rule_withhold(v, "there are no kernels in this trace");
		return;
	}
	v->affected_ns = top->ns.of.sum;
	v->measured = (double)v->affected_ns / (double)all;
	v->is_note = v->measured > DOMINANT;
	say_ratio(v, v->measured);
	say(v, " of the time in kernels is one, ");
	say_text(p, v, top->short_name ? top->short_name : top->first,
		 &v->place);
	say(v, " (");
	say_count(v, top->ns.of.count, "call", "calls");
	say(v, ")");
}

static const struct pf_report_rule rule_dominant = {
	"V16", "one kernel", "kernels", PF_PART_CALLERS, 0, 0, apply_dominant
};

/* The rule about ranks that wait for each other. */

/* The steps of one trace. */
static int64_t steps_of(const struct pf_parts *p, int64_t trace_id)
{
	int64_t n = 0;

	for (size_t i = 0; p->steps_text.len && i < p->steps.count; i++)
		n += p->steps.steps[i].trace_id == trace_id;
	return n ? n : 1;
}

/* How often it was the last, in how many collectives. */
static void say_last(const struct pf_arrivals *a, struct pf_verdict *v)
{
	char count[PF_NUM_MAX];

	for (size_t i = 0; i < a->of.rank_count; i++) {
		const struct pf_ranks_rank *r = &a->of.ranks[i];

		if (r->trace_id != a->straggler_trace_id)
			continue;
		say(v, "; it comes last to ");
		say_count(v, r->last_count, "collective", "collectives");
		say(v, " of ");
		say(v, pf_num_show_count(count, r->count));
	}
}

/* The reason may quote names of process groups. */
static void withhold(const struct pf_parts *p, struct pf_verdict *v)
{
	struct pf_buf text = { 0 };

	if (p->redact && pf_redact_is_strict(p->redact))
		rule_withhold(v, "ranks cannot be compared, as 'profan "
				 "overlap' explains");
	else
		rule_withhold(v, pf_parts_text(p, p->overlap.arrivals.withheld,
					       &text));
	pf_buf_release(&text);
}

/* "; others wait 80 us per step for it" */
static void say_rank_waits(const struct pf_parts *p,
			   const struct pf_arrivals *a, struct pf_verdict *v)
{
	if (!a->straggler_ns)
		return;
	say(v, "; others wait ");
	say_ns(v, a->straggler_ns / steps_of(p, a->straggler_trace_id));
	say(v, rule_each(p));
	say(v, " for it");
}

/*
 * Whom 'profan ranks' names, by what it would save: others may wait for a rank
 * and lose nothing, where they wait in several groups at one time, or nothing
 * then waits for them.
 */
static void apply_straggler(const struct pf_parts *p, struct pf_verdict *v)
{
	const struct pf_arrivals *a = &p->overlap.arrivals;

	if (!rule_has_gpu(p, v))
		return;
	if (a->withheld) {
		withhold(p, v);
		return;
	}
	if (p->traces.count < 2) {
		rule_withhold(v, "needs traces of several ranks");
		return;
	}
	if (a->total_ns == PF_NO_INT) {
		rule_withhold(v, "what differences of ranks cost is not "
				 "known");
		return;
	}
	if (!a->has_straggler)
		return;
	v->measured = a->straggler_saved_share;
	v->affected_ns = a->straggler_ns;
	v->recoverable_ns = a->straggler_saved_ns;
	pf_buf_addf(&v->sentence, "Rank %" PRId64 " is the straggler",
		    a->straggler_rank);
	say(v, ": like the others it would save ");
	say_ns(v, a->straggler_saved_ns);
	say(v, " of ");
	say_ns(v, a->total_ns);
	say(v, " (");
	say_ratio(v, v->measured);
	say(v, ")");
	say_rank_waits(p, a, v);
	say_last(a, v);
	v->trace_id = a->longest_wait_trace_id;
	v->from_ns = a->longest_wait_start_ns;
	v->to_ns = v->from_ns + a->longest_wait_ns;
}

static const struct pf_report_rule rule_straggler = {
	"V6", "stragglers", "comm", PF_PART_OVERLAP, 0.05, 0.15, apply_straggler
};

/*
 * The rules for traces without GPU work: what the CPU does.  Where there is
 * any, the time of the host matters as far as GPUs wait for it, which the
 * other rules say.
 */

#define WORTH_SAYING 0.1 /* of self CPU time */

static bool is_host_only(const struct pf_parts *p, struct pf_verdict *v)
{
	if (!p->overlap.all.event_count)
		return true;
	rule_withhold(v, "the trace has GPU work; this is for those without");
	return false;
}

static void say_threads(const struct pf_parts *p, struct pf_verdict *v)
{
	for (size_t i = 0; i < p->info.tracks_count; i++) {
		const struct pf_info_tracks *t = &p->info.tracks[i];

		if (!t->class || strcmp(t->class, "host") != 0)
			continue;
		say(v, "; ");
		say_count(v, t->track_count, "thread is", "threads are");
		say(v, " recorded");
	}
}

/* Of several traces averages are of the first. */
static void say_first(const struct pf_parts *p, struct pf_verdict *v)
{
	const struct pf_window_trace *first = p->traces.traces;

	if (p->traces.count < 2)
		return;
	if (first->rank >= 0)
		pf_buf_addf(&v->sentence, " of rank %" PRId64, first->rank);
	else
		pf_buf_addf(&v->sentence, " of trace %" PRId64,
			    first->trace_id);
}

/* Is there anything on the host but calls of runtimes and the profiler? */
static bool has_operators(const struct pf_parts *p)
{
	static const char *const others[] = { "overhead", "cuda_runtime",
					      "cuda_driver", "cuda_sync" };
	const struct pf_table *t =
		pf_doc_find_table(&p->doc[PF_PART_INFO], "categories");

	for (size_t i = 0; i < pf_table_rows(t); i++) {
		const char *category = pf_table_text_at(t, i, "category");
		size_t k = 0;

		while (k < sizeof(others) / sizeof(*others) &&
		       (!category || strcmp(category, others[k]) != 0))
			k++;
		if (k == sizeof(others) / sizeof(*others))
			return true;
	}
	return !t;
}

/* By self CPU time, as in the table of operators; labels are none. */
static void apply_operators(const struct pf_parts *p, struct pf_verdict *v)
{
	const struct pf_average_list *list = &p->averages.list[0];
	const struct pf_average *top = NULL;
	int64_t all = 0, most = 0;

	if (!is_host_only(p, v))
		return;
	for (size_t i = 0; i < list->count; i++) {
		int64_t ns = list->rows[i].sum.ns[PF_FIG_SELF_CPU];

		all += ns;
		if (ns <= most || list->rows[i].is_annotation)
			continue;
		most = ns;
		top = &list->rows[i];
	}
	if (!top || !has_operators(p)) {
		rule_withhold(v, "there are no operators in this trace");
		return;
	}
	v->measured = (double)most / (double)all;
	/* a fact, no fault: some operator is always the first */
	v->is_note = v->measured > WORTH_SAYING;
	v->affected_ns = most;
	say_text(p, v, top->name, &v->place);
	say(v, " takes ");
	say_ratio(v, v->measured);
	say(v, " of the capture's self CPU time");
	say_first(p, v);
	say(v, " (");
	say_ns(v, most);
	say(v, " of ");
	say_ns(v, all);
	say(v, ", ");
	say_count(v, (int64_t)top->count, "call", "calls");
	say(v, ")");
	if (p->traces.count < 2)
		say_threads(p, v);
}

/* A class of the steps: its share of them. */
static void apply_class(const struct pf_parts *p, struct pf_verdict *v,
			enum pf_step_class class, const char *what)
{
	const struct pf_step_spread *c = &p->steps.classes[class];

	if (!is_host_only(p, v))
		return;
	if (!p->steps.full_count) {
		rule_withhold(v, "there are no complete steps");
		return;
	}
	v->affected_ns = c->sum_ns;
	v->measured = c->share;
	say(v, what);
	say_ratio(v, v->measured);
	say(v, !p->steps_text.len   ? " of the trace ("
	       : rule_steps(p) == 1 ? " of the step ("
				    : " of the steps (");
	say_ns(v, c->mean_ns);
	say(v, rule_steps(p) == 1 ? ")" : " per step)");
}

static void apply_data(const struct pf_parts *p, struct pf_verdict *v)
{
	apply_class(p, v, PF_STEP_DATA, "The CPU loads data for ");
	/* what others wait for; communication may hide behind operators */
	v->recoverable_ns = v->affected_ns;
}

static void apply_host_comm(const struct pf_parts *p, struct pf_verdict *v)
{
	apply_class(p, v, PF_STEP_COMM,
		    "Communication, or waiting for it, takes ");
}

static const struct pf_report_rule rule_operators = {
	"V12", "operators", "ops", PF_PART_OPS, 0, 0, apply_operators
};
static const struct pf_report_rule rule_host_data = {
	"V13", "data loading", "breakdown", PF_PART_STEPS,
	0.10,  0.25,           apply_data
};
static const struct pf_report_rule rule_host_comm = {
	"V14", "communication", "breakdown", PF_PART_STEPS, 0.10,
	0.25,  apply_host_comm
};

/* ---- rules ---- */

#define MANY        0.5 /* of an effect: its cause */
#define SOME        0.1 /* of an effect: the largest piece in one place */
#define ORPHANS_MAX 0.2 /* of GPU work without a launch call */

/* A slow link between ranks: GB/s (bytes per ns) on the bus, ns for a call. */
#define SLOW_LINK    10.0
#define SLOW_CALL_NS 50000.0
#define WAITING      3 /* times longer than that: ranks wait */

/* " of the step", " of 6 steps", what is between them, " of the trace". */
static void say_span(const struct pf_parts *p, struct pf_verdict *v)
{
	int64_t n = p->gaps.step_count ? p->gaps.step_count : rule_steps(p);

	if (!p->steps_text.len) {
		pf_buf_addf(&v->sentence,
			    " between the first and the last %s work",
			    pf_window_device(&p->traces));
	} else if (n == 1) {
		say(v, " of the step");
	} else {
		say(v, " of ");
		say_count(v, n, "step", "steps");
		if (p->gaps.window.between_share >= PF_WINDOW_BETWEEN)
			say(v, " and the time between them");
	}
}

/* "file.py:12 f": the function and the place. */
static void say_frame(const struct pf_parts *p, struct pf_verdict *v,
		      const char *text)
{
	struct pf_buf shown = { 0 };
	const char *frame = pf_parts_text(p, text, &shown);
	const char *space = strrchr(frame, ' ');
	const char *colon =
		space ? memrchr(frame, ':', (size_t)(space - frame)) : NULL;

	if (!colon || colon + 1 == space ||
	    colon + 1 + strspn(colon + 1, "0123456789") != space) {
		say_name(v, frame); /* an annotation */
	} else {
		shown.data[space - frame] = '\0';
		say_name(v, space + 1);
		say(v, " (");
		say_name(v, frame);
		say(v, ")");
		pf_buf_clear(&v->place);
		pf_buf_adds(&v->place, frame);
	}
	pf_buf_release(&shown);
}

static void say_culprit(const struct pf_parts *p, struct pf_verdict *v,
			const struct pf_gap_culprit *c)
{
	/* an annotation is no line: the call or operator says more */
	if (c->frame && *c->frame &&
	    (c->place.frame != PF_ID_NONE || !c->name || !*c->name)) {
		say_frame(p, v, c->frame);
	} else if (c->name && *c->name) {
		pf_buf_clear(&v->place);
		say_text(p, v, c->name, &v->place);
	} else {
		return;
	}
	say(v, ", cause: ");
	say(v, c->cause);
}

/* ---- idle time ---- */

static struct pf_gap_cause find_cause(const struct pf_parts *p,
				      enum pf_cause cause)
{
	for (size_t i = 0; i < p->gaps.cause_count; i++)
		if (p->gaps.causes[i].cause == cause)
			return p->gaps.causes[i];
	return (struct pf_gap_cause){ 0 };
}

static double of_window(const struct pf_parts *p, int64_t ns)
{
	return pf_num_share(ns, p->gaps.all.window_ns);
}

/* Point at the longest gap with this cause (PF_CAUSE_COUNT: any). */
static void point_at_gap(const struct pf_parts *p, struct pf_verdict *v,
			 enum pf_cause cause)
{
	for (size_t i = 0; i < p->gaps.gap_count; i++) {
		const struct pf_gap_item *gap = &p->gaps.gaps[i];

		if (cause != PF_CAUSE_COUNT &&
		    strcmp(gap->cause, pf_cause_name(cause)) != 0)
			continue;
		v->from_ns = gap->start_ns;
		v->to_ns = gap->start_ns + gap->ns;
		v->trace_id = gap->trace_id;
		return;
	}
}

/* Of several GPUs the one that is idle most. */
static void say_worst(const struct pf_parts *p, struct pf_verdict *v)
{
	const struct pf_gap_device *worst = p->gaps.devices;
	size_t n = p->gaps.device_count;

	if (p->gaps.gpus.count < 2)
		return;
	for (size_t i = 1; i < n; i++)
		if (p->gaps.devices[i].idle_share > worst->idle_share)
			worst = &p->gaps.devices[i];
	say(v, ", sum of ");
	say_count(v, (int64_t)p->gaps.gpus.count, pf_window_device(&p->traces),
		  pf_window_title(&p->traces, "GPUs"));
	say(v, ", most on");
	if (worst->rank >= 0)
		pf_buf_addf(&v->sentence, " rank %" PRId64, worst->rank);
	pf_buf_addf(&v->sentence, " %s %" PRId64 " with ",
		    pf_window_device(&p->traces),
		    worst->device < 0 ? 0 : worst->device);
	say_ratio(v, worst->idle_share);
}

static void say_long_gaps(const struct pf_parts *p, struct pf_verdict *v)
{
	int64_t count = 0, ns = 0;

	for (size_t i = 0; i < p->gaps.length_count; i++) {
		const struct pf_gap_length *length = &p->gaps.lengths[i];

		if (length->from_ns < 1000000)
			continue;
		count += length->count;
		ns += length->ns;
	}
	if (!count || p->gaps.all.idle_ns <= 0)
		return;
	say(v, "; ");
	say_ratio(v, (double)ns / (double)p->gaps.all.idle_ns);
	say(v, " of it in ");
	say_count(v, count, "gap", "gaps");
	say(v, " of 1 ms or more");
}

static void say_unknown(const struct pf_parts *p, struct pf_verdict *v)
{
	int64_t idle = p->gaps.all.idle_ns;
	int64_t ns = find_cause(p, PF_CAUSE_UNRECORDED).ns +
		     find_cause(p, PF_CAUSE_NO_LAUNCH).ns;

	if (p->gaps.culprit_count &&
	    (p->gaps.culprits[0].place.cause == PF_CAUSE_UNRECORDED ||
	     p->gaps.culprits[0].place.cause == PF_CAUSE_NO_LAUNCH))
		return; /* that was said */
	if (idle <= 0 || (double)ns < 0.01 * (double)idle)
		return;
	say(v, "; ");
	say_ratio(v, (double)ns / (double)idle);
	say(v, " has no recorded cause");
}

static double largest_share(const struct pf_parts *p)
{
	return p->gaps.culprit_count ? p->gaps.culprits[0].idle_share : 0;
}

/* What idle time is in: work that it was before is none of it. */
static void say_piece(const struct pf_parts *p, struct pf_verdict *v,
		      const struct pf_gap_culprit *c)
{
	enum pf_cause cause = (enum pf_cause)c->place.cause;
	bool is_before =
		cause == PF_CAUSE_NO_LAUNCH || cause == PF_CAUSE_DEVICE;

	if ((c->name || c->frame) && !is_before) {
		say_culprit(p, v, c);
		return;
	}
	say(v, pf_gap_phrase(cause));
	if (c->name) {
		say(v, cause == PF_CAUSE_NO_LAUNCH ? ", " : ", before ");
		say_text(p, v, c->name, NULL);
	}
}

static void say_largest(const struct pf_parts *p, struct pf_verdict *v)
{
	const struct pf_gap_culprit *most = p->gaps.culprits;
	const struct pf_gap_cause *cause = p->gaps.causes;
	double part = largest_share(p);

	if (part >= SOME && cause->idle_share >= MANY &&
	    cause->cause != (enum pf_cause)most->place.cause) {
		say(v, "; ");
		say_ratio(v, cause->idle_share);
		say(v, " of it is ");
		say(v, pf_gap_phrase(cause->cause));
	}
	if (part >= SOME) {
		say(v, part >= MANY ? "; " : "; largest in one place: ");
		say_ratio(v, part);
		say(v, " of it is ");
		say_piece(p, v, most);
	} else if (p->gaps.cause_count) {
		say(v, "; no single cause found, the largest part (");
		say_ratio(v, cause->idle_share);
		say(v, ") is ");
		say(v, pf_gap_phrase(cause->cause));
	}
}

/* Of the cause that say_largest() names, that part of it. */
static int64_t named_recoverable(const struct pf_parts *p)
{
	struct pf_gap_cause cause;

	if (!p->gaps.cause_count)
		return 0;
	if (largest_share(p) < SOME)
		return p->gaps.causes[0].recoverable_ns;
	cause = find_cause(p, p->gaps.culprits[0].place.cause);
	return cause.recoverable_ns < p->gaps.culprits[0].ns
		       ? cause.recoverable_ns
		       : p->gaps.culprits[0].ns;
}

static void say_before_most(const struct pf_parts *p, struct pf_verdict *v,
			    const struct pf_gap_culprit *most)
{
	const enum pf_cause cause = (enum pf_cause)most->place.cause;
	const char *queued = pf_gap_queued(cause);

	say(v, ", ");
	say_ratio(v, most->idle_share);
	say(v, " of it ");
	say(v, queued ? queued : pf_gap_phrase(cause));
	if (queued || !most->name)
		return;
	say(v, ", ");
	say_text(p, v, most->name, NULL);
}

/*
 * Of the time before the first GPU work, which is no part of idle time: first,
 * for what holds the time is what is said last.
 */
static void say_before(const struct pf_parts *p, struct pf_verdict *v)
{
	const struct pf_gaps *before = p->gaps.before;

	if (!before)
		return;
	say_ns(v, before->all.window_ns);
	pf_buf_addf(&v->sentence, " pass before the first %s work",
		    pf_window_device(&p->traces));
	if (before->culprit_count)
		say_before_most(p, v, &before->culprits[0]);
	say(v, "; ");
}

/* The capture began in the middle of a wait: that is left out. */
static void apply_idle_rest(const struct pf_parts *p, struct pf_verdict *v)
{
	int64_t wait = p->gaps.head_wait_ns;
	int64_t window = p->gaps.all.window_ns - wait;

	v->is_note = true;
	v->affected_ns = p->gaps.all.idle_ns - wait;
	v->measured = pf_num_share(v->affected_ns, window);
	v->recoverable_ns = 0;
	say(v, "The capture began in the middle of a wait of ");
	say_ns(v, wait);
	pf_buf_addf(&v->sentence,
		    ", which --from %" PRId64 "us leaves out; in the rest the "
		    "%s is idle ",
		    p->gaps.head_wait_end_ns / 1000,
		    pf_window_device(&p->traces));
	say_ratio(v, v->measured);
	say(v, " (");
	say_ns(v, v->affected_ns);
	say(v, " of ");
	say_ns(v, window);
	say(v, ")");
}

static void apply_idle(const struct pf_parts *p, struct pf_verdict *v)
{
	if (!rule_has_gpu(p, v))
		return;
	point_at_gap(p, v, PF_CAUSE_COUNT);
	if (p->gaps.head_wait_ns) {
		apply_idle_rest(p, v);
		return;
	}
	v->measured = p->gaps.all.idle_share;
	v->affected_ns = p->gaps.all.idle_ns;
	v->recoverable_ns = named_recoverable(p);
	say_before(p, v);
	say(v, pf_window_title(&p->traces, "GPU idle"));
	say(v, " ");
	say_ratio(v, v->measured);
	say_span(p, v);
	say(v, " (");
	say_ns(v, v->affected_ns);
	say(v, " of ");
	say_ns(v, p->gaps.all.window_ns);
	say_worst(p, v);
	say(v, ")");
	say_long_gaps(p, v);
	say_largest(p, v);
	say_unknown(p, v);
}

static const struct pf_report_rule rule_idle = {
	"V1", "idle time", "idle", PF_PART_GAPS, 0.10, 0.50, apply_idle
};

/* ---- parts of idle time ---- */

/*
 * Calls that wait, and idle time due to them, but for copies, which are V7's,
 * and for the allocator, whose calls only have to wait.
 */
struct waits {
	int64_t count, blocked_ns, idle_ns;
	int64_t in_steps_count, in_steps_ns; /* calls between steps left out */
	const struct pf_sync_site *most;
};

static struct waits find_waits(const struct pf_syncs *syncs)
{
	struct waits w = { 0 };

	for (size_t i = 0; i < syncs->site_count; i++) {
		const struct pf_sync_site *site = &syncs->all[i];

		if (!strcmp(site->kind, pf_cause_name(PF_CAUSE_COPY)) ||
		    !strcmp(site->kind, pf_cause_name(PF_CAUSE_ALLOCATOR)))
			continue;
		if (!w.most)
			w.most = site;
		w.count += site->count;
		w.blocked_ns += site->blocked_ns;
		w.idle_ns += site->idle_ns;
		w.in_steps_count += site->in_steps_count;
		w.in_steps_ns += site->in_steps_ns;
	}
	return w;
}

static void say_dearest(const struct pf_parts *p, struct pf_verdict *v,
			const struct pf_sync_site *most)
{
	if (most && most->op) {
		say(v, ", most from ");
		say_text(p, v, most->op, NULL);
	}
	if (most && most->frame) {
		say(v, most->op ? " at " : ", most at ");
		say_frame(p, v, most->frame);
	}
}

/*
 * A host that does not wait is that much earlier in all, and no GPU can gain
 * more by it.  Of several GPUs to a program nothing says which of them gains.
 */
static int64_t most_to_win(const struct pf_parts *p, const struct waits *w)
{
	if (p->syncs.device_count > (int64_t)p->syncs.window.count ||
	    w->idle_ns < w->blocked_ns)
		return w->idle_ns;
	return w->blocked_ns;
}

/* "4 synchronizations per step block the CPU for 2 ms per step" */
static void say_waits(const struct pf_parts *p, struct pf_verdict *v,
		      const struct waits *w)
{
	int64_t n = rule_steps(p), ns = w->blocked_ns, count = w->count;
	int64_t idle_ns = w->idle_ns, few = 0;
	const char *each = rule_each(p);

	if (p->steps_text.len && w->in_steps_count < n) {
		few = n; /* less than one a step: of all of them */
		each = "";
	} else if (p->steps_text.len) {
		count = (w->in_steps_count + n / 2) / n;
		ns = w->in_steps_ns / n;
		idle_ns /= n;
	}
	say_count(v, count, "synchronization", "synchronizations");
	if (w->count < p->syncs.count)
		say(v, " besides copies and allocations");
	if (few)
		pf_buf_addf(&v->sentence, " in %" PRId64 " steps", few);
	say(v, each);
	say(v, count == 1 ? " blocks" : " block");
	say(v, " the CPU for ");
	say_ns(v, ns);
	say(v, count == 1 ? "; it leaves the GPU idle "
			  : "; they leave the GPU idle ");
	say_ns(v, idle_ns);
	say(v, each);
}

static void apply_sync(const struct pf_parts *p, struct pf_verdict *v)
{
	struct waits w = find_waits(&p->syncs);

	if (!rule_has_gpu(p, v))
		return;
	if (!p->syncs.has_calls) {
		rule_withhold(v, "the trace has no runtime calls");
		return;
	}
	v->recoverable_ns = most_to_win(p, &w);
	v->measured = of_window(p, v->recoverable_ns);
	v->affected_ns = w.blocked_ns;
	say_waits(p, v, &w);
	say_dearest(p, v, w.most);
	point_at_gap(p, v, PF_CAUSE_SYNC);
}

static const struct pf_report_rule rule_sync = {
	"V2", "synchronizations", "syncs", PF_PART_SYNCS, 0.02, 0.10, apply_sync
};

/* The culprit that holds most of a cause. */
static const struct pf_gap_culprit *find_culprit(const struct pf_parts *p,
						 enum pf_cause cause)
{
	for (size_t i = 0; i < p->gaps.culprit_count; i++) {
		const struct pf_gap_culprit *c = &p->gaps.culprits[i];

		if (c->place.cause == cause && (c->name || c->frame))
			return c;
	}
	return NULL;
}

static void say_most(const struct pf_parts *p, struct pf_verdict *v,
		     enum pf_cause cause, int64_t whole_ns)
{
	const struct pf_gap_culprit *c = find_culprit(p, cause);
	double part = c ? pf_num_share(c->ns, whole_ns) : 0;

	if (part < SOME)
		return;
	say(v, part >= MANY ? "; " : "; largest in one place: ");
	say_ratio(v, part);
	say(v, " of it in ");
	say_culprit(p, v, c);
}

static void apply_input(const struct pf_parts *p, struct pf_verdict *v)
{
	struct pf_gap_cause c = find_cause(p, PF_CAUSE_DATA);

	if (!rule_has_gpu(p, v))
		return;
	v->recoverable_ns = v->affected_ns = c.ns;
	v->measured = of_window(p, c.ns);
	pf_buf_addf(&v->sentence, "The %s waits for data ",
		    pf_window_device(&p->traces));
	say_ratio(v, v->measured);
	say_span(p, v);
	say(v, " (");
	say_ns(v, c.ns);
	say(v, ")");
	say_most(p, v, PF_CAUSE_DATA, c.ns);
	point_at_gap(p, v, PF_CAUSE_DATA);
}

static const struct pf_report_rule rule_input = {
	"V3", "input", "input", PF_PART_GAPS, 0.05, 0.20, apply_input
};

static void apply_launch(const struct pf_parts *p, struct pf_verdict *v)
{
	int64_t count = p->callers.calls, timed = p->launches.kernel_count;
	int64_t orphans = p->launches.orphan_count;
	int64_t known = p->launches.all.count;
	bool is_all;

	if (!rule_has_gpu(p, v))
		return;
	if (p->traces.is_tpu) {
		rule_withhold(v, "TPUs are given whole programs");
		return;
	}
	if ((double)orphans > ORPHANS_MAX * (double)(orphans + known)) {
		rule_withhold(v,
			      "more than a fifth of the GPU work has no launch "
			      "call in the trace");
		return;
	}
	v->recoverable_ns = v->affected_ns = p->gaps.launching_ns;
	v->measured = of_window(p, v->affected_ns);
	/* where the CPU is ahead for the most part it is not what bounds */
	is_all = v->measured > v->bad && !pf_launches_are_late(&p->launches);
	say(v, is_all ? "Launch-bound: " : "Launch-bound in places: ");
	say_count(v, count / rule_steps(p), "kernel", "kernels");
	say(v, rule_each(p));
	if (timed) {
		say(v, ", ");
		if (p->launches.short_kernel_count)
			say_ratio(v,
				  pf_num_share(p->launches.short_kernel_count,
					       timed));
		else
			say(v, "none");
		say(v, " of them under ");
		say_ns(v, PF_LAUNCH_SHORT_NS);
	}
	say(v, "; the GPU starves ");
	say_ns(v, v->affected_ns / rule_steps(p));
	say(v, rule_each(p));
	say(v, " while the CPU launches (");
	say_ratio(v, v->measured);
	say(v, ")");
	point_at_gap(p, v, PF_CAUSE_LAUNCH);
}

static const struct pf_report_rule rule_launch = {
	"V4", "launch overhead", "idle", PF_PART_GAPS, 0.03, 0.15, apply_launch
};

static void apply_copies(const struct pf_parts *p, struct pf_verdict *v)
{
	struct pf_gap_cause c = find_cause(p, PF_CAUSE_COPY);

	if (!rule_has_gpu(p, v))
		return;
	v->recoverable_ns = v->affected_ns = c.ns;
	v->measured = of_window(p, c.ns);
	say(v, "Pageable or synchronous copies leave the GPU idle for ");
	say_ns(v, c.ns);
	say(v, " (");
	say_ratio(v, v->measured);
	say_span(p, v);
	say(v, ") in ");
	say_count(v, c.count, "gap", "gaps");
	say_most(p, v, PF_CAUSE_COPY, c.ns);
	point_at_gap(p, v, PF_CAUSE_COPY);
}

static const struct pf_report_rule rule_copies = {
	"V7", "blocking copies", "idle", PF_PART_GAPS, 0.01, 0.05, apply_copies
};

/* ---- the rest ---- */

/*
 * Where most of the communication takes far longer than its bytes would even
 * over a slow link, ranks wait for each other.
 */
static void say_waiting(const struct pf_parts *p, struct pf_verdict *v)
{
	double bytes = 0, ns = 0, due = 0;

	for (size_t i = 0; i < p->overlap.collective_count; i++) {
		const struct pf_comm_row *row = &p->overlap.collectives[i];

		if (isnan(row->bus_rate))
			continue;
		bytes += (double)row->rated_bytes * row->factor;
		ns += (double)row->rated_ns;
		due += (double)row->rated_count * SLOW_CALL_NS;
	}
	due += bytes / SLOW_LINK;
	if (ns < MANY * (double)p->overlap.all.comm_ns || ns < WAITING * due)
		return;
	pf_buf_addf(&v->sentence,
		    "; at %.1f GB/s of bus bandwidth most of it is waiting for "
		    "other ranks, not transfer",
		    bytes / ns);
}

static void apply_comm(const struct pf_parts *p, struct pf_verdict *v)
{
	const struct pf_overlap_figures *all = &p->overlap.all;
	const struct pf_comm_row *longest = NULL;
	int64_t comm = all->comm_ns, exposed = all->exposed_comm_ns;

	if (!rule_has_gpu(p, v))
		return;
	if (!comm) {
		rule_withhold(v, "no GPU work of this trace is communication");
		return;
	}
	v->measured = pf_num_share(exposed, all->total_ns);
	v->recoverable_ns = v->affected_ns = exposed;
	say(v, "Communication takes ");
	say_ns(v, comm / rule_steps(p));
	say(v, rule_each(p));
	say(v, ", ");
	say_ratio(v, (double)exposed / (double)comm);
	say(v, " of it exposed (");
	say_ratio(v, v->measured);
	say_span(p, v);
	say(v, ")");
	say_waiting(p, v);
	for (size_t i = 0; i < p->overlap.collective_count; i++) {
		const struct pf_comm_row *row = &p->overlap.collectives[i];

		if (row->collective &&
		    row->dur.max > (longest ? longest->dur.max : 0))
			longest = row;
	}
	if (!longest)
		return;
	say(v, "; longest call ");
	say_text(p, v, longest->collective, NULL);
	say(v, ", ");
	say_ns(v, longest->dur.max);
}

static const struct pf_report_rule rule_comm = {
	"V5",      "exposed communication", "comm", PF_PART_OVERLAP, 0.10, 0.30,
	apply_comm
};

/* The GPU whose peak is closest to its capacity; NULL: none is known. */
static const struct pf_usage_device *fullest(const struct pf_usage *u)
{
	const struct pf_usage_device *best = NULL;

	for (size_t i = 0; i < u->device_count; i++) {
		const struct pf_usage_device *d = &u->devices[i];

		if (d->at.device_type > 0 && !isnan(d->capacity_share) &&
		    (!best || d->capacity_share > best->capacity_share))
			best = d;
	}
	return best;
}

/* What holds most of the peak of a device. */
static void say_holder(const struct pf_parts *p, struct pf_verdict *v,
		       const char *device)
{
	const struct pf_usage_group *g = p->memory.alive;
	const struct pf_usage_group *end = g + p->memory.alive_count;

	while (g < end && strcmp(g->at.device, device) != 0)
		g++;
	if (g == end || (!g->site.outer_op && !g->site.frame))
		return;
	say(v, "; ");
	say_ratio(v, g->peak_share);
	if (g->count == PF_NO_INT) { /* no block of the capture */
		say(v, " of the peak dates from before the capture");
		return;
	}
	say(v, " of the peak is held by ");
	if (g->site.outer_op)
		say_text(p, v, g->site.outer_op, NULL);
	if (g->site.frame) {
		if (g->site.outer_op)
			say(v, " at ");
		say_frame(p, v, g->site.frame);
	}
}

static void apply_memory(const struct pf_parts *p, struct pf_verdict *v)
{
	const struct pf_usage_device *d = fullest(&p->memory);

	if (pf_usage_told_oom(&p->memory)) {
		v->warn = v->bad = 0; /* it happened: no threshold */
		v->is_note = true;
		v->severity = PF_BAD;
		say(v, pf_doc_find_finding(&p->doc[PF_PART_MEMORY]));
		return;
	}
	if (!d) {
		rule_withhold(
			v, p->memory.device_count
				   ? "how much is allocated in all, or how "
				     "much there is, is not recorded"
				   : "there are no memory events; record with "
				     "profile_memory=True");
		return;
	}
	v->measured = d->capacity_share;
	say(v, "Peak memory ");
	say_bytes(v, d->peak);
	say(v, " of ");
	say_bytes(v, d->capacity);
	say(v, " (");
	say_ratio(v, v->measured);
	say(v, ") on ");
	say(v, d->at.device);
	say_holder(p, v, d->at.device);
}

static const struct pf_report_rule rule_memory = {
	"V8", "memory", "memory", PF_PART_MEMORY, 0.90, 0.97, apply_memory
};

/* ---- one cause, one verdict ---- */

/*
 * Where the verdict on idle time names a cause, the verdict on that cause
 * would say the same again: fold it.
 */
static void rules_fold(const struct pf_parts *p, struct pf_verdicts *out)
{
	static const struct {
		enum pf_cause cause;
		const char *id;
	} owners[] = {
		{ PF_CAUSE_DATA, "V3" },   { PF_CAUSE_SYNC, "V2" },
		{ PF_CAUSE_LAUNCH, "V4" }, { PF_CAUSE_RUNTIME, "V4" },
		{ PF_CAUSE_OP, "V4" },     { PF_CAUSE_MICRO, "V4" },
		{ PF_CAUSE_COPY, "V7" },
	};
	enum pf_cause cause;

	if (!out->count || out->all[0].state != PF_RULE_FIRED ||
	    !p->gaps.cause_count)
		return;
	cause = largest_share(p) < SOME
			? p->gaps.causes[0].cause
			: (enum pf_cause)p->gaps.culprits[0].place.cause;
	for (size_t i = 0; i < sizeof(owners) / sizeof(*owners); i++)
		for (size_t k = 0; k < out->count; k++)
			if (owners[i].cause == cause &&
			    !strcmp(owners[i].id, out->all[k].id) &&
			    out->all[k].state == PF_RULE_FIRED)
				out->all[k].is_folded = true;
}

const char *pf_severity_word(enum pf_severity s)
{
	static const char *const words[] = { "note", "warning", "severe" };

	return words[s];
}

void pf_verdict_stake(struct pf_buf *out, const struct pf_verdict *v)
{
	char ns[PF_NUM_MAX];

	pf_buf_addf(out, "holds %s", pf_num_show_ns(ns, v->recoverable_ns));
}

static const struct pf_report_rule *const rules[] = {
	&rule_idle,      &rule_sync,      &rule_input,   &rule_launch,
	&rule_comm,      &rule_straggler, &rule_copies,  &rule_memory,
	&rule_trust,     &rule_precision, &rule_warm_up, &rule_operators,
	&rule_host_data, &rule_host_comm, &rule_path,    &rule_dominant,
	&rule_captured,
};

_Static_assert(sizeof(rules) / sizeof(*rules) < PF_VERDICTS, "one for V0");

/* Trouble with the trace comes first, then the severe, most to win first. */
static int by_rank(const void *a, const void *b)
{
	const struct pf_verdict *x = a, *y = b;
	int trust_x = x->part == PF_PART_DOCTOR && x->severity == PF_BAD;
	int trust_y = y->part == PF_PART_DOCTOR && y->severity == PF_BAD;

	if (x->state != y->state)
		return (int)x->state - (int)y->state;
	if (x->state == PF_RULE_FIRED && x->is_folded != y->is_folded)
		return x->is_folded - y->is_folded;
	if (x->state == PF_RULE_FIRED && trust_x != trust_y)
		return trust_y - trust_x;
	if (x->state == PF_RULE_FIRED && x->severity != y->severity)
		return (int)y->severity - (int)x->severity;
	if (x->state == PF_RULE_FIRED && x->recoverable_ns != y->recoverable_ns)
		return x->recoverable_ns > y->recoverable_ns ? -1 : 1;
	if (strlen(x->id) != strlen(y->id))
		return strlen(x->id) < strlen(y->id) ? -1 : 1;
	return strcmp(x->id, y->id);
}

static void set_state(struct pf_verdict *v)
{
	if (v->state == PF_RULE_WITHHELD)
		return;
	v->state = v->is_note ? PF_RULE_FIRED : PF_RULE_FINE;
	if (v->warn > 0 && v->measured > v->warn) {
		v->state = PF_RULE_FIRED;
		v->severity =
			v->bad > 0 && v->measured > v->bad ? PF_BAD : PF_WARN;
	}
}

/* What is left when nothing fired. */
static void add_clean(const struct pf_parts *p, struct pf_verdicts *out)
{
	struct pf_verdict *v = &out->all[out->count++];
	double busy = 1 - p->gaps.all.idle_share;

	*v = (struct pf_verdict){ .id = "V0",
				  .title = "nothing found",
				  .section = "fine",
				  .part = PF_PART_GAPS,
				  .recoverable_ns = -1,
				  .affected_ns = -1,
				  .from_ns = -1 };
	pf_buf_adds(&v->sentence, "Nothing is above its threshold");
	if (p->gaps.all.window_ns) {
		pf_buf_addf(&v->sentence, "; the %s is busy ",
			    pf_window_device(&p->traces));
		say_ratio(v, busy);
		pf_buf_adds(&v->sentence, " of the time");
	} else if (p->steps.recorded.producer != PF_FROM_TABLES) {
		/* That a log of a GPU has no work in it means nothing. */
		pf_buf_adds(&v->sentence, "; ");
		pf_buf_adds(&v->sentence, rule_no_gpu(p));
	}
}

void pf_verdicts_find(const struct pf_parts *p, struct pf_verdicts *out)
{
	memset(out, 0, sizeof(*out));
	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
		struct pf_verdict *v = &out->all[out->count++];

		*v = (struct pf_verdict){ .id = rules[i]->id,
					  .title = rules[i]->title,
					  .section = rules[i]->section,
					  .part = rules[i]->part,
					  .severity = PF_NOTE,
					  .recoverable_ns = -1,
					  .affected_ns = -1,
					  .from_ns = -1,
					  .warn = rules[i]->warn,
					  .bad = rules[i]->bad };
		rules[i]->apply(p, v);
		set_state(v);
		out->fired += v->state == PF_RULE_FIRED && !v->is_folded;
	}
	rules_fold(p, out);
	out->fired = 0;
	for (size_t i = 0; i < out->count; i++)
		out->fired += out->all[i].state == PF_RULE_FIRED &&
			      !out->all[i].is_folded;
	if (!out->fired) {
		add_clean(p, out);
		out->fired = 1;
	}
	pf_sort(out->all, out->count, sizeof(*out->all), by_rank);
}

void pf_verdicts_release(struct pf_verdicts *v)
{
	for (size_t i = 0; i < v->count; i++) {
		pf_buf_release(&v->all[i].sentence);
		pf_buf_release(&v->all[i].place);
	}
	v->count = 0;
}

void pf_verdict_command(const struct pf_verdict *v, const struct pf_parts *p,
			struct pf_buf *out)
{
	if (v->from_ns < 0)
		return;
	pf_buf_adds(out, "profan slice ");
	pf_shell_word(out, p->db_name);
	if (p->traces.count > 1)
		pf_buf_addf(out, " --trace %" PRId64, v->trace_id);
	pf_buf_addf(out, " --from %" PRId64 "ns --to %" PRId64 "ns", v->from_ns,
		    v->to_ns);
	pf_buf_adds(out, " -o slice.json");
}

void pf_say_plain(struct pf_buf *out, const struct pf_buf *sentence)
{
	for (size_t i = 0; i < sentence->len; i++)
		if (sentence->data[i] != PF_SAY_NAME &&
		    sentence->data[i] != PF_SAY_END)
			pf_buf_addc(out, sentence->data[i]);
}

static const char *const states[] = { "fired", "fine", "withheld" };

/* How a rule came out. */
static const char *state_word(const struct pf_verdict *v)
{
	return v->is_folded ? "part of V1" : states[v->state];
}

/* The quality of a trace is graded: there is no figure. */
static bool is_measured(const struct pf_verdict *v)
{
	return v->state != PF_RULE_WITHHELD && v->warn > 0 &&
	       v->part != PF_PART_DOCTOR;
}

/* A rule, whether it fired or not: what tables show of it. */
struct row {
	const char *id, *title, *state, *severity, *place, *query;
	const char *part_command, *command; /* that shows its part, its place */
	const char *sentence, *reason,
		*found;             /* of a verdict, why not, either */
	double measured, warn, bad; /* not a number: there is none */
	int64_t recoverable_ns, affected_ns, from_ns, to_ns, trace_id;
};

/* The texts that are made here; they are kept in "texts". */
static void add_texts(const struct pf_verdict *v, const struct pf_parts *p,
		      struct pf_arena *texts, struct row *row)
{
	struct pf_buf place = { 0 }, part = { 0 }, sentence = { 0 };

	pf_parts_command(p, v->part, &part);
	pf_verdict_command(v, p, &place);
	pf_buf_adds(&sentence, "");
	pf_say_plain(&sentence, &v->sentence);
	row->part_command = pf_arena_string(texts, part.data);
	row->command = place.len ? pf_arena_string(texts, place.data)
				 : row->part_command;
	if (v->state != PF_RULE_FINE)
		row->found = pf_arena_string(texts, sentence.data);
	if (v->state == PF_RULE_FIRED)
		row->sentence = row->found;
	else
		row->reason = row->found;
	pf_buf_release(&place);
	pf_buf_release(&part);
	pf_buf_release(&sentence);
}

static struct row row_of(const struct pf_verdict *v, const struct pf_parts *p,
			 struct pf_arena *texts)
{
	bool has_fired = v->state == PF_RULE_FIRED;
	bool has_place = has_fired && v->from_ns >= 0;
	bool has_scale = v->part != PF_PART_DOCTOR;
	struct row row = {
		.id = v->id,
		.title = v->title,
		.state = state_word(v),
		.severity = has_fired ? pf_severity_word(v->severity) : NULL,
		.place = has_fired && v->place.len ? v->place.data : NULL,
		.query = pf_parts_query(v->part),
		.measured = is_measured(v) ? v->measured : NAN,
		.warn = has_scale && v->warn > 0 ? v->warn : NAN,
		.bad = has_scale && v->bad > 0 ? v->bad : NAN,
		.recoverable_ns = has_fired ? v->recoverable_ns : -1,
		.affected_ns = has_fired ? v->affected_ns : -1,
		.from_ns = has_place ? v->from_ns : -1,
		.to_ns = has_place ? v->to_ns : -1,
		.trace_id = has_place ? v->trace_id : -1
	};

	add_texts(v, p, texts, &row);
	return row;
}

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct row, member, key, title, kind)
static const struct pf_field verdict_fields[] = {
	FIELD(severity, "severity", "Severity", PF_TEXT),
	FIELD(sentence, "sentence", "Verdict", PF_TEXT | PF_WHOLE),
	FIELD(id, "id", "Rule", PF_TEXT),
	FIELD(recoverable_ns, "recoverable_ns", "Recoverable",
	      PF_NS | PF_KNOWN),
	FIELD(affected_ns, "affected_ns", "Affected", PF_NS | PF_KNOWN),
	FIELD(place, "place", "Place", PF_PATH | PF_SPARE),
	FIELD(from_ns, "from_ns", "From", PF_NS | PF_KNOWN | PF_SPARE),
	FIELD(to_ns, "to_ns", "To", PF_NS | PF_KNOWN | PF_SPARE),
	FIELD(query, "query", "Query", PF_TEXT | PF_SPARE),
	FIELD(command, "command", "Shown by", PF_TEXT | PF_WHOLE),
};

static const struct pf_field check_fields[] = {
	FIELD(id, "id", "Rule", PF_TEXT),
	FIELD(title, "title", "Checked", PF_TEXT),
	FIELD(state, "state", "Result", PF_TEXT),
	FIELD(measured, "measured", "Measured", PF_RATIO),
	FIELD(warn, "threshold", "Threshold", PF_RATIO),
	FIELD(reason, "reason", "Why not", PF_TEXT | PF_WHOLE),
};

static const struct pf_field rule_fields[] = {
	FIELD(id, "id", "Rule", PF_TEXT),
	FIELD(title, "title", "Checked", PF_TEXT),
	FIELD(state, "state", "Result", PF_TEXT),
	FIELD(severity, "severity", "Severity", PF_TEXT),
	FIELD(measured, "measured", "Measured", PF_RATIO),
	FIELD(warn, "warn_above", "Warns above", PF_RATIO | PF_FULL),
	FIELD(bad, "bad_above", "Severe above", PF_RATIO | PF_FULL),
	FIELD(recoverable_ns, "recoverable_ns", "Recoverable",
	      PF_NS | PF_KNOWN),
	FIELD(affected_ns, "affected_ns", "Affected",
	      PF_NS | PF_FULL | PF_KNOWN),
	FIELD(place, "place", "Place", PF_PATH | PF_FULL),
	FIELD(from_ns, "t0_ns", "From", PF_NS | PF_FULL | PF_KNOWN),
	FIELD(to_ns, "t1_ns", "To", PF_NS | PF_FULL | PF_KNOWN),
	FIELD(trace_id, "trace_id", "Trace", PF_INT | PF_FULL | PF_KNOWN),
	FIELD(query, "query", "Query", PF_TEXT | PF_FULL),
	FIELD(part_command, "command", "Shown by", PF_TEXT | PF_FULL),
	FIELD(sentence, "sentence", "Verdict", PF_TEXT | PF_FULL),
	FIELD(reason, "reason", "Why not", PF_TEXT | PF_FULL),
	FIELD(found, "found", "Verdict, or why not",
	      PF_TEXT | PF_BRIEF | PF_WHOLE),
};
#undef FIELD

void pf_verdicts_tables(const struct pf_verdicts *v, const struct pf_parts *p,
			struct pf_doc *doc)
{
	struct pf_table *fired = pf_doc_fields(doc, "verdicts", "Verdicts",
					       PF_FIELDS(verdict_fields));
	struct pf_table *checks = pf_doc_fields(doc, "checks", "Checked",
						PF_FIELDS(check_fields));
	struct pf_arena texts = { 0 };

	for (size_t i = 0; i < v->count; i++) {
		struct row row = row_of(&v->all[i], p, &texts);

		if (i < v->fired)
			PF_PUT(fired, verdict_fields, row);
		else
			PF_PUT(checks, check_fields, row);
	}
	pf_arena_release(&texts);
}

void pf_verdicts_list(const struct pf_verdicts *v, const struct pf_parts *p,
		      struct pf_doc *doc)
{
	struct pf_table *t =
		pf_doc_fields(doc, "verdicts", NULL, PF_FIELDS(rule_fields));
	struct pf_arena texts = { 0 };

	for (size_t i = 0; i < v->count; i++) {
		struct row row = row_of(&v->all[i], p, &texts);

		PF_PUT(t, rule_fields, row);
	}
	pf_arena_release(&texts);
}
