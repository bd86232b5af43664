/* SPDX-License-Identifier: MIT */
/*
 * The rules about the trace as a whole: what to trust, its first steps, what
 * decides how long it takes.
 */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/time/steps.h"
#include "page/figure.h"
#include "page/rules.h"
#include "page/say.h"

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
	pf_say(v, named ? ", " : "");
	pf_say(v, c->name);
	pf_say(v, " (");
	pf_figure_count(&v->sentence, c->count);
	if (!isnan(c->share)) {
		pf_say(v, ", ");
		pf_say_ratio(v, c->share);
		if (c->gpu_ns > 0)
			pf_say(v, " of GPU time");
	}
	pf_say(v, ")");
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
	pf_say(v, "Trace quality: ");
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
		pf_say(v, " and ");
		pf_say_count(v, count - named, "more check", "more checks");
	}
	pf_say(v, "; figures that rest on this may be off");
}

const struct pf_report_rule pf_rule_trust = {
	"V9", "trace quality", "quality", PF_PART_DOCTOR, 0.5, 1.5, apply_trust
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

	if (!p->steps_text.len || pf_rule_steps(p) < 3) {
		pf_rule_withhold(v, "needs three profiler steps");
		return;
	}
	v->measured = median > 0 ? (double)first / (double)median : 0;
	v->affected_ns = first - median;
	pf_buf_addf(&v->sentence, "The first step takes %.1f", v->measured);
	pf_say(v, " times the median (");
	pf_say_ns(v, first);
	pf_say(v, " to ");
	pf_say_ns(v, median);
	if (count < 2) {
		pf_say(v, ") and is part of all figures; --skip-first 1 leaves "
			  "it out");
		return;
	}
	pf_buf_addf(&v->sentence,
		    "); the first %zu steps are warm-up and part of all "
		    "figures; --skip-first %zu leaves them out",
		    count, count);
}

const struct pf_report_rule pf_rule_warm_up = {
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

	if ((!path->category_count && !path->is_brief) || !path->work_count) {
		pf_rule_withhold(v, p->traces.count > 1
					    ? "a critical path is one trace's"
					    : "there is no GPU work on a path");
		return;
	}
	v->measured = (double)path->host_ns / (double)path->window_ns;
	v->is_note = v->measured > PF_PATH_WORTH_SAYING;
	v->affected_ns = path->host_ns;
	if (path->is_brief)
		return;
	pf_say(v, "On the critical path ");
	if (!path->step_count) {
		pf_say(v, "of ");
		pf_say_ns(v, path->window_ns);
		pf_say(v, " ");
	}
	pf_say_ratio(v, v->measured);
	pf_say(v, " is time of the host and ");
	pf_say_ratio(v, (double)path->gpu_ns / (double)path->window_ns);
	pf_say(v, " is GPU work; most is ");
	pf_say(v, path->categories[0].category);
	pf_say(v, " (");
	pf_say_ratio(v, path->categories[0].share);
	pf_say(v, ")");
	if (!best || best->saved_ns <= 0)
		return;
	pf_say(v, "; of the usual questions \"");
	pf_say_text(p, v, best->question, NULL);
	pf_say(v, "\" would save most (");
	pf_say_ratio(v, best->saved_share);
	pf_say(v, path->begins_cold && best->of_host
			  ? "), also of what runs before the first GPU work"
			  : ")");
}

const struct pf_report_rule pf_rule_path = {
	"V15", "critical path", "path", PF_PART_PATH, 0, 0, apply_path
};
