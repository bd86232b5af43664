/* SPDX-License-Identifier: MIT */
/* What is found about ranks, in words and as tables. */
#include "config.h"

#include <inttypes.h>
#include <math.h>

#include "analysis/ranks/arrival.h"
#include "analysis/ranks/impl.h"
#include "analysis/ranks/ranks.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/order.h"
#include "base/port.h"
#include "base/sat.h"
#include "base/stats.h"
#include "show/doc.h"

/* What ranks.h found, as 'overlap' and the report show it. */

/* What of a trace was asked for. */
static int64_t window_of(const struct pf_window *w, int64_t trace_id)
{
	const struct pf_window_trace *t = pf_window_find(w, trace_id);
	int64_t from, to;

	if (!t)
		return 0;
	from = t->from_ns > t->first_ns ? t->from_ns : t->first_ns;
	to = t->to_ns < t->last_ns ? t->to_ns : t->last_ns;
	return to > from ? pf_sat_sub(to, from) : 0;
}

static const char *machine_of(const struct pf_ranks *r)
{
	bool is_one = true;

	for (size_t i = 0; i < r->rank_count; i++) {
		if (!r->ranks[i].host)
			return "not recorded";
		is_one &= !strcmp(r->ranks[i].host, r->ranks[0].host);
	}
	return is_one ? "yes" : "no";
}

/* Others may wait for a rank and lose nothing by it: ranks.h says who costs. */
static void take_straggler(struct pf_arrivals *a, const struct pf_ranks *r)
{
	const struct pf_ranks_rank *s;

	a->total_ns = r->total_ns;
	if (r->straggler < 0)
		return;
	s = &r->ranks[r->straggler];
	a->has_straggler = true;
	a->straggler_rank = s->rank;
	a->straggler_trace_id = s->trace_id;
	a->straggler_ns = s->late_ns;
	a->straggler_gain_ns = s->gain_ns;
	a->straggler_share = pf_num_share(s->late_ns, a->window_ns);
	a->straggler_saved_ns = s->saved_ns;
	a->straggler_saved_share = pf_num_share(s->saved_ns, r->total_ns);
}

static void settle(struct pf_arrivals *a, const struct pf_window *window)
{
	const struct pf_ranks *r = &a->of;
	int64_t sum = 0;

	if (!r->rank_count)
		return;
	for (size_t i = 0; i < r->rank_count; i++) {
		r->ranks[i].window_ns = window_of(window, r->ranks[i].trace_id);
		pf_sat_sum(&sum, r->ranks[i].window_ns);
	}
	a->window_ns = sum / (int64_t)r->rank_count;
	if (r->withheld || !r->met_count) {
		a->withheld = r->withheld ? r->withheld
			      : r->partly ? r->partly
					  : "no collective was found on "
					    "several ranks";
		return;
	}
	a->machine = machine_of(r);
	for (size_t i = 0; i < r->kind_count; i++)
		pf_sat_sum(&a->spread_ns, r->kinds[i].spread_ns);
	take_straggler(a, r);
	a->longest_wait_ns = r->longest_wait_ns;
	a->longest_wait_trace_id = r->ranks[r->longest_wait_rank].trace_id;
	a->longest_wait_start_ns = r->longest_wait_start_ns;
}

int pf_arrivals_find(struct pf_db *db, const struct pf_window *window,
		     struct pf_arrivals *out)
{
	const struct pf_ranks_args args = { 0 };
	PF_AUTO(pf_ranks_freed) struct pf_ranks_job *job = NULL;

	if (!pf_window_has_processes(window))
		return 0;
	job = pf_ranks_new(&args);
	PF_TRY(pf_ranks_add(job, db, window));
	PF_TRY(pf_ranks_find(job, &out->of, db->err));
	settle(out, window);
	return 0;
}

void pf_arrivals_release(struct pf_arrivals *a)
{
	pf_ranks_release(&a->of);
	*a = (struct pf_arrivals){ 0 };
}

#define FIELD(...) PF_FIELD(struct pf_arrivals, __VA_ARGS__)
static const struct pf_field figures[] = {
	FIELD(of.met_count, "arrival_count", "Collectives of several ranks",
	      PF_COUNT),
	FIELD(of.left_count, "arrival_left_count",
	      "  and those that met no other", PF_COUNT | PF_FULL),
	FIELD(spread_ns, "arrival_spread_ns", "  first to last rank, summed",
	      PF_NS),
	FIELD(window_ns, "arrival_window_ns", "  in, mean of the ranks", PF_NS),
	FIELD(of.clock_ns, "arrival_clock_ns", "  clocks differ by up to",
	      PF_NS),
	FIELD(machine, "arrival_machine", "  on one machine", PF_TEXT),
};
static const struct pf_field arrival_straggler[] = {
	FIELD(straggler_rank, "Straggler", PF_INT),
	FIELD(straggler_trace_id, "  its trace", PF_INT | PF_FULL),
	FIELD(straggler_ns, "  others wait for it", PF_NS),
	FIELD(straggler_share, "  of the time", PF_RATIO),
	FIELD(straggler_gain_ns, "  less with the next one", PF_NS | PF_FULL),
	FIELD(straggler_saved_ns, "  like the others it would save", PF_NS),
};
static const struct pf_field longest[] = {
	FIELD(longest_wait_ns, "Longest wait", PF_NS),
	FIELD(longest_wait_trace_id, "  in trace", PF_INT),
	FIELD(longest_wait_start_ns, "  from", PF_NS),
};
#undef FIELD

#define FIELD(...) PF_FIELD(struct pf_ranks_rank, __VA_ARGS__)
static const struct pf_field rank_fields[] = {
	FIELD(rank, "Rank", PF_INT),
	FIELD(count, "Collectives", PF_COUNT),
	FIELD(last_count, "Last", PF_COUNT),
	FIELD(late_ns, "Others wait for it", PF_NS),
	FIELD(waited_ns, "It waits", PF_NS),
	FIELD(gain_ns, "To the next one", PF_NS | PF_FULL),
	FIELD(window_ns, "Window", PF_NS | PF_FULL),
	FIELD(trace_id, "Trace", PF_INT | PF_FULL),
};

void pf_arrivals_show(const struct pf_arrivals *a, struct pf_doc *doc)
{
	if (a->withheld)
		pf_doc_string(doc, "arrival_withheld", "Ranks are not compared",
			      a->withheld);
	if (a->of.left_out)
		pf_doc_string(doc, "arrival_left_out", "Ranks left out",
			      a->of.left_out);
	if (a->withheld || !a->of.rank_count)
		return;
	PF_SCALARS(doc, figures, *a);
	if (a->has_straggler)
		PF_SCALARS(doc, arrival_straggler, *a);
	if (a->longest_wait_ns)
		PF_SCALARS(doc, longest, *a);
	PF_ROWS(doc, "arrivals", "Arrival of ranks at collectives", rank_fields,
		a->of.ranks, a->of.rank_count);
}

#undef FIELD

/* Of few ranks all are shown, of many how they are spread and the worst. */

#define FIELD(...) PF_FIELD(struct pf_ranks_stage, __VA_ARGS__)
static const struct pf_field stage_fields[] = {
	FIELD(stage, "Stage", PF_INT),
	FIELD(stage_count, "Of", PF_INT),
	FIELD(rank_count, "Ranks", PF_COUNT),
	FIELD(step_count, "Steps of ranks", PF_COUNT | PF_FULL),
	FIELD(step_ns, "Step", PF_NS | PF_MAYBE),
	FIELD(computation_ns, "Compute", PF_NS | PF_MAYBE),
	FIELD(factor, "Of median", PF_REAL),
	FIELD(bubble_ns, "Bubble", PF_NS | PF_MAYBE),
	FIELD(bubble, "Bubble %", PF_RATIO),
	FIELD(ideal, "ideal_bubble", "Ideal", PF_RATIO),
	FIELD(receive_wait_ns, "Waits to receive", PF_NS | PF_MAYBE | PF_FULL),
};
#undef FIELD

#define FIELD(...) PF_FIELD(struct pf_ranks_pipe, __VA_ARGS__)
static const struct pf_field pipe_fields[] = {
	FIELD(rank, "Rank", PF_INT),
	FIELD(stage, "Stage", PF_INT | PF_MAYBE),
	FIELD(stage_count, "Of", PF_INT | PF_MAYBE | PF_FULL),
	FIELD(microbatches, "Microbatches", PF_INT | PF_MAYBE | PF_FULL),
	FIELD(receive_count, "Receives", PF_COUNT),
	FIELD(left_count, "Whose send is unknown", PF_COUNT | PF_FULL),
	FIELD(receive_wait_ns, "It waits", PF_NS | PF_MAYBE),
	FIELD(receive_transfer_ns, "Transfer", PF_NS | PF_MAYBE),
	FIELD(step_count, "Steps", PF_COUNT | PF_FULL),
	FIELD(step_ns, "In steps of", PF_NS | PF_MAYBE | PF_FULL),
	FIELD(computation_ns, "Computation", PF_NS | PF_MAYBE | PF_FULL),
	FIELD(input_ns, "For input", PF_NS | PF_MAYBE),
	FIELD(drain_ns, "At the end", PF_NS | PF_MAYBE),
	FIELD(bubble_ns, "Bubble", PF_NS | PF_MAYBE | PF_FULL),
	FIELD(bubble, "Bubble %", PF_RATIO),
	FIELD(ideal, "ideal_bubble", "Ideal", PF_RATIO | PF_FULL),
};
#undef FIELD

/* ---- bubbles in words ---- */

struct whole {
	int64_t bubble_ns, step_ns;
	double ideal;          /* of all stages; or not a number */
	int64_t stage_count;   /* of all; or -1 */
	int64_t unknown_count; /* ranks */
	const struct pf_ranks_stage *slowest;
};

static struct whole look(const struct pf_ranks *r)
{
	struct whole w = { .ideal = NAN };

	for (size_t i = 0; i < r->pipe_count; i++) {
		const struct pf_ranks_pipe *p = &r->pipes[i];

		if (p->bubble_ns == PF_NO_INT) {
			w.unknown_count++;
			continue;
		}
		pf_sat_sum(&w.bubble_ns, p->bubble_ns);
		pf_sat_sum(&w.step_ns, p->step_ns);
	}
	for (size_t i = 0; i < r->stage_count; i++) {
		const struct pf_ranks_stage *s = &r->stages[i];

		w.stage_count = i && s->stage_count != w.stage_count
					? -1
					: s->stage_count;
		w.ideal = !i || s->ideal == w.ideal ? s->ideal : NAN;
		if (s->factor > PF_RANKS_EVEN &&
		    (!w.slowest || s->factor > w.slowest->factor))
			w.slowest = s;
	}
	return w;
}

/* Bubbles in a sentence, if they are known; tables; notes. */
static bool pipeline_finding(const struct pf_ranks *r, struct pf_buf *out)
{
	struct whole w = look(r);

	if (!r->waits_to_receive || !r->stage_count || w.stage_count < 0 ||
	    w.step_ns <= 0)
		return false;
	pf_buf_addf(out, "%s of the steps are bubbles of %" PRId64 " stages",
		    PF_SHOW_SHARE(w.bubble_ns, w.step_ns), w.stage_count);
	if (!isnan(w.ideal))
		pf_buf_addf(out, " (1F1B of even stages: %s)",
			    PF_SHOW_RATIO(w.ideal));
	if (w.slowest)
		pf_buf_addf(out,
			    "; stage %" PRId64
			    " computes longest, %.2f times the median stage",
			    w.slowest->stage, w.slowest->factor);
	return true;
}

/* ---- notes ---- */

static void show_notes(const struct pf_ranks *r, struct pf_doc *doc)
{
	int64_t left = 0, unknown = look(r).unknown_count;

	for (size_t i = 0; i < r->pipe_count; i++)
		left += r->pipes[i].left_count;
	if (r->pipes_withheld)
		pf_doc_note(doc, "%s", r->pipes_withheld);
	if (left)
		pf_doc_note(doc,
			    "of %" PRId64
			    " receives it is not known when their sends began; "
			    "steps that have such messages are left out of "
			    "bubbles",
			    left);
	if (unknown)
		pf_doc_note(doc,
			    "bubbles of %" PRId64
			    " ranks are not known: they need steps "
			    "(ProfilerStep#N, or --steps) whose messages all "
			    "met theirs",
			    unknown);
	if (r->waits_to_receive)
		pf_doc_note(
			doc,
			"what ranks cost is not worked out: they also wait for "
			"each other in sends and receives, and only "
			"collectives "
			"are replayed");
}

static void pipeline_show(const struct pf_ranks *r, struct pf_doc *doc)
{
	if (r->unknown_pipe_count)
		pf_doc_note(doc,
			    "sends and receives of %" PRId64
			    " ranks are not known: an earlier version of "
			    "profan made their digests",
			    r->unknown_pipe_count);
	if (!r->has_pipes)
		return;
	if (r->stage_count)
		PF_ROWS(doc, "stages", "Stages of pipelines, means of steps",
			stage_fields, r->stages, r->stage_count);
	if (r->pipe_count)
		PF_ROWS(doc, "receives", "Waiting for sends, and bubbles",
			pipe_fields, r->pipes, r->pipe_count);
	show_notes(r, doc);
}

/* Ranks side by side as groups: machines, racks, places in the model. */

struct group {
	const char *value; /* NULL: ranks that say none */
	int64_t count;
	/* sums, then means of ranks; of costs: the worst rank and its */
	struct pf_ranks_rank of;
};

/* What is summed of ranks, and what is a mean in the end. */
static const struct {
	size_t at;
	bool is_mean;
} group_sums[] = {
	{ offsetof(struct pf_ranks_rank, root_ns), false },
	{ offsetof(struct pf_ranks_rank, last_count), false },
	{ offsetof(struct pf_ranks_rank, window_ns), true },
	{ offsetof(struct pf_ranks_rank, computation_ns), true },
	{ offsetof(struct pf_ranks_rank, wait_ns), true },
	{ offsetof(struct pf_ranks_rank, transfer_ns), true },
	{ offsetof(struct pf_ranks_rank, other_comm_ns), true },
	{ offsetof(struct pf_ranks_rank, copy_ns), true },
	{ offsetof(struct pf_ranks_rank, idle_ns), true },
};
#define GROUP_SUMS (PF_LEN(group_sums))

#define FIELD(...) PF_FIELD(struct group, __VA_ARGS__)
static const struct pf_field fields[] = {
	FIELD(value, "Of", PF_TEXT),
	FIELD(count, "rank_count", "Ranks", PF_COUNT),
	FIELD(of.last_count, "last_count", "Last", PF_COUNT | PF_FULL),
	FIELD(of.root_ns, "root_ns", "Waits they began", PF_NS),
	FIELD(of.rank, "worst_rank", "Costs most", PF_INT | PF_MAYBE),
	FIELD(of.saved_ns, "saved_ns", "It costs", PF_NS | PF_MAYBE),
	FIELD(of.window_ns, "window_ns", "Window", PF_NS | PF_FULL),
	FIELD(of.computation_ns, "computation_ns", "Compute", PF_NS),
	FIELD(of.wait_ns, "exposed_wait_ns", "Wait", PF_NS),
	FIELD(of.transfer_ns, "exposed_transfer_ns", "Transfer",
	      PF_NS | PF_FULL),
	FIELD(of.other_comm_ns, "exposed_other_ns",
	      "Exposed, met no other or not split", PF_NS | PF_FULL),
	FIELD(of.copy_ns, "exposed_copy_ns", "Exposed copies", PF_NS | PF_FULL),
	FIELD(of.idle_ns, "idle_ns", "Idle", PF_NS),
};
#undef FIELD

/* A text, or numbers as numbers; those that say nothing last. */
static int by_group_value(const void *a, const void *b)
{
	const char *x = ((const struct group *)a)->value;
	const char *y = ((const struct group *)b)->value;

	if (!x || !y)
		return !x - !y;
	return pf_strverscmp(x, y);
}

PF_ORDER(by_root, struct group, PF_DOWN(of.root_ns) PF_THEN(by_group_value))

static int64_t *sum_at(struct group *g, size_t i)
{
	return (void *)((char *)&g->of + group_sums[i].at);
}

static void add(struct group *to, struct group *g)
{
	if (g->of.saved_ns > to->of.saved_ns) {
		to->of.saved_ns = g->of.saved_ns;
		to->of.rank = g->of.rank;
	}
	to->count += g->count;
	for (size_t i = 0; i < GROUP_SUMS; i++)
		pf_sat_sum(sum_at(to, i), *sum_at(g, i));
}

static void divide(struct group *g)
{
	for (size_t i = 0; i < GROUP_SUMS; i++) {
		int64_t *sum = sum_at(g, i);

		if (group_sums[i].is_mean)
			*sum = *sum / g->count +
			       (*sum % g->count * 2 >= g->count);
	}
}

void pf_ranks_show_by(const struct pf_ranks *r, const char *key,
		      const char *const *values, bool is_wide,
		      struct pf_doc *doc)
{
	PF_OWN struct group *groups =
		pf_calloc(r->rank_count + 1, sizeof(*groups));
	PF_AUTO(pf_buf_release) struct pf_buf title = { 0 };
	size_t count = 0;

	for (size_t i = 0; i < r->rank_count; i++) {
		groups[i] = (struct group){ values[i], 1, r->ranks[i] };
		if (r->ranks[i].saved_ns <= 0)
			groups[i].of.rank = PF_NO_INT;
	}
	pf_sort(groups, r->rank_count, sizeof(*groups), by_group_value);
	for (size_t i = 0; i < r->rank_count; i++) {
		if (i && !by_group_value(&groups[count - 1], &groups[i]))
			add(&groups[count - 1], &groups[i]);
		else
			groups[count++] = groups[i];
	}
	for (size_t i = 0; i < count; i++)
		divide(&groups[i]);
	if (!is_wide)
		pf_sort(groups, count, sizeof(*groups), by_root);
	pf_buf_addf(&title, "Ranks by %s, means of their times", key);
	pf_doc_rows(doc, "by", title.data, PF_FIELDS(fields), groups, count,
		    sizeof(*groups));
}

/* ---- in words ---- */

/* What a rank does that makes it late. */
static const char *const gpu_doing[PF_LATE_BY_HOST] = {
	[PF_LATE_COMPUTATION] = "computes longer than others",
	[PF_LATE_COMMUNICATION] =
		"comes late out of collectives of other groups",
	[PF_LATE_COPY] = "copies longer than others",
	[PF_LATE_HOST] = "is late: its GPU waits for its host",
	[PF_LATE_BEFORE] = "leaves collectives later than others",
	[PF_LATE_UNKNOWN] = "begins later than others",
};

/* Of one without a GPU. */
static const char *const host_doing[PF_LATE_BY_HOST] = {
	[PF_LATE_COMPUTATION] = "runs operators for longer than others",
	[PF_LATE_COMMUNICATION] =
		"comes late out of collectives of other kinds",
	[PF_LATE_HOST] = "spends longer outside of operators than others",
	[PF_LATE_BEFORE] = "leaves collectives later than others",
	[PF_LATE_UNKNOWN] = "begins later than others",
};

static const char *doing_of(const char *cause, bool is_of_hosts)
{
	const char *const *doing = is_of_hosts ? host_doing : gpu_doing;

	for (unsigned i = 0; cause && i < PF_LATE_BY_HOST; i++)
		if (!strcmp(cause, pf_late_cause_name(i)))
			return doing[i];
	return NULL;
}

/* Why its computation is longer, if that is known. */
static void say_work(const struct pf_ranks_rank *s, bool is_of_hosts,
		     struct pf_buf *out)
{
	const char *what = is_of_hosts ? "operators" : "kernels";

	if (s->work == PF_WORK_MORE)
		pf_buf_addf(out, " (it runs more or other %s)", what);
	else if (s->work == PF_WORK_SOME)
		pf_buf_addf(out, " (some of its %s are slower)", what);
	else if (s->work == PF_WORK_SLOWER)
		pf_buf_addf(out, " (the same %s take %.2f times as long)", what,
			    s->factor);
}

/* "Rank 3 computes longer than others (...)" */
static void say_late(const struct pf_ranks_rank *s, bool is_of_hosts,
		     struct pf_buf *out)
{
	const char *words = doing_of(s->cause, is_of_hosts);

	pf_buf_addf(out, "Rank %" PRId64 " ", s->rank);
	if (words)
		pf_buf_adds(out, words);
	else if (s->cause)
		pf_buf_addf(out,
			    is_of_hosts ? "is late because of %s"
					: "is late: its GPU waits for %s",
			    s->cause);
	else
		pf_buf_adds(out, "is slow");
	if (s->cause &&
	    !strcmp(s->cause, pf_late_cause_name(PF_LATE_COMPUTATION)))
		say_work(s, is_of_hosts, out);
}

static void say_straggler(const struct pf_ranks *r, struct pf_buf *out)
{
	const struct pf_ranks_rank *s = &r->ranks[r->straggler];

	say_late(s, r->is_of_hosts, out);
	pf_buf_addf(out,
		    "; were it like the others, %s of %s (%s) would be saved",
		    PF_SHOW_NS(s->saved_ns), PF_SHOW_NS(r->total_ns),
		    PF_SHOW_SHARE(s->saved_ns, r->total_ns));
}

/* "4 ranks", or "4 of 8 ranks" where others are in no trace. */
static void say_count(const struct pf_ranks *r, struct pf_buf *out)
{
	pf_buf_addf(out, "%zu", r->rank_count);
	if (r->world > (int64_t)r->rank_count && !r->left_out)
		pf_buf_addf(out, " of the job's %" PRId64, r->world);
	pf_buf_adds(out, " ranks");
}

static void say_compared(const struct pf_ranks *r, struct pf_buf *out)
{
	int64_t ns = r->total_ns > r->ideal_ns ? r->total_ns - r->ideal_ns : 0;
	bool is_even = r->slowdown < PF_RANKS_EVEN;

	if (!is_even)
		pf_buf_adds(out, "No rank alone is slow; were each of ");
	say_count(r, out);
	pf_buf_addf(out, "%s like the median, %s of the time would be saved",
		    is_even ? " are even: were each" : "",
		    PF_SHOW_SHARE(ns, r->total_ns));
}

const struct pf_ranks_rank *pf_ranks_say_late(const struct pf_ranks *r,
					      struct pf_buf *out)
{
	const struct pf_ranks_rank *most = r->ranks;
	char waits[PF_NUM_MAX];

	if (r->rank_count < 2 || r->withheld ||
	    (r->total_ns != PF_NO_INT && r->straggler < 0))
		return NULL;
	if (r->straggler >= 0) {
		say_straggler(r, out);
		return &r->ranks[r->straggler];
	}
	for (size_t i = 1; i < r->rank_count; i++)
		if (r->ranks[i].root_ns > most->root_ns)
			most = &r->ranks[i];
	if (pf_num_share(most->root_ns, most->window_ns) < PF_RANKS_EVEN - 1)
		return NULL;
	say_late(most, r->is_of_hosts, out);
	pf_buf_addf(out, "; it began %s of waits",
		    pf_num_show_ns(waits, most->root_ns));
	return most;
}

/* Where it is not worked out what ranks cost. */
static void say_costs_unknown(const struct pf_ranks *r, struct pf_buf *out)
{
	if (pf_ranks_say_late(r, out))
		pf_buf_adds(out, ". ");
	say_count(r, out);
	pf_buf_addf(out,
		    " are compared%s; what their differences cost is not known",
		    r->left_out ? ", and the rest left out" : "");
}

/* Without a full stop: who is slow, why and what it costs, or that none is. */
static void ranks_finding(const struct pf_ranks *r, struct pf_buf *out)
{
	if (r->rank_count < 2 && r->left_out)
		pf_buf_addf(out,
			    "Fewer than two ranks are left to compare, without "
			    "%s",
			    r->left_out);
	else if (r->rank_count < 2)
		pf_buf_adds(out, "There is one rank: nothing to compare");
	else if (r->withheld)
		pf_buf_addf(out, "Ranks are not compared: %s", r->withheld);
	else if (pipeline_finding(r, out))
		return;
	else if (r->straggler >= 0)
		pf_ranks_say_late(r, out);
	else if (r->total_ns != PF_NO_INT)
		say_compared(r, out);
	else
		say_costs_unknown(r, out);
}

/* ---- tables ---- */

#define FIELD(...) PF_FIELD(struct pf_ranks, __VA_ARGS__)
static const struct pf_field show_figures[] = {
	FIELD(met_count, "Collectives of several ranks", PF_COUNT),
	FIELD(left_count, "  and those that met no other", PF_COUNT),
	FIELD(clock_ns, "Clocks differ by up to", PF_NS),
	FIELD(residual_ns, "  and ends, once aligned, by", PF_NS),
	FIELD(component_count, "Clocks that nothing joins", PF_COUNT | PF_FULL),
	FIELD(early_count, "Ends before another start", PF_COUNT | PF_FULL),
};
static const struct pf_field costs[] = {
	FIELD(total_ns, "First to last collective", PF_NS),
	FIELD(ideal_ns, "  with median gaps on all ranks", PF_NS),
	FIELD(slowdown, "  slower by a factor of", PF_REAL),
};
#undef FIELD

#define FIELD(...) PF_FIELD(struct pf_ranks_rank, __VA_ARGS__)
static const struct pf_field show_rank_fields[] = {
	FIELD(rank, "Rank", PF_INT),
	FIELD(host, "Machine", PF_TEXT | PF_FULL),
	FIELD(last_count, "Last", PF_COUNT),
	FIELD(count, "Of", PF_COUNT),
	FIELD(root_ns, "Waits it began", PF_NS),
	FIELD(cause, "Because of", PF_TEXT),
	FIELD(waited_ns, "It waits", PF_NS),
	FIELD(saved_ns, "It costs", PF_NS | PF_MAYBE),
	FIELD(late_ns, "Others wait for it", PF_NS | PF_FULL),
	FIELD(gain_ns, "To the next one", PF_NS | PF_FULL),
	FIELD(window_ns, "Window", PF_NS | PF_FULL),
	FIELD(computation_ns, "Computation", PF_NS | PF_FULL),
	FIELD(wait_ns, "exposed_wait_ns", "Exposed wait", PF_NS | PF_FULL),
	FIELD(transfer_ns, "exposed_transfer_ns", "Exposed transfer",
	      PF_NS | PF_FULL),
	FIELD(other_comm_ns, "exposed_other_ns",
	      "Exposed, met no other or not split", PF_NS | PF_FULL),
	FIELD(copy_ns, "exposed_copy_ns", "Exposed copies", PF_NS | PF_FULL),
	FIELD(idle_ns, "Idle", PF_NS | PF_FULL),
	FIELD(trace_id, "Trace", PF_INT | PF_FULL),
};
static const struct pf_field time_fields[] = {
	FIELD(rank, "Rank", PF_INT),
	FIELD(window_ns, "Window", PF_NS),
	FIELD(computation_ns, "Compute", PF_NS),
	FIELD(wait_ns, "exposed_wait_ns", "Wait", PF_NS),
	FIELD(transfer_ns, "exposed_transfer_ns", "Transfer", PF_NS),
	FIELD(other_comm_ns, "exposed_other_ns", "Other", PF_NS),
	FIELD(copy_ns, "exposed_copy_ns", "Copies", PF_NS),
	FIELD(idle_ns, "Idle", PF_NS),
};
static const struct pf_field work_fields[] = {
	FIELD(rank, "Rank", PF_INT),
	FIELD(kernel_ns, "It takes", PF_NS | PF_MAYBE | PF_FULL),
	FIELD(middle_ns, "Middle", PF_NS | PF_MAYBE),
	FIELD(more_ns, "More", PF_NS | PF_MAYBE),
	FIELD(slower_ns, "All slower", PF_NS | PF_MAYBE),
	FIELD(factor, "By", PF_REAL | PF_FULL),
	FIELD(some_ns, "Some", PF_NS | PF_MAYBE),
	FIELD(why_longer, "why", "That is", PF_TEXT),
};
static const struct pf_field clock_fields[] = {
	FIELD(rank, "Rank", PF_INT),
	FIELD(host, "Machine", PF_TEXT),
	FIELD(offset_ns, "Ahead by", PF_NS),
	FIELD(error_ns, "Within", PF_NS | PF_KNOWN),
	FIELD(scatter_ns, "Ends scatter", PF_NS),
	FIELD(drift_ppm, "Drift ppm", PF_REAL),
	FIELD(drift_bound_ppm, "Seen from ppm", PF_REAL),
	FIELD(seen_count, "Ends", PF_COUNT),
	FIELD(reference, "reference_rank", "Against", PF_INT | PF_FULL),
	FIELD(begins_ns, "First event", PF_NS | PF_FULL),
};
#undef FIELD

#define FIELD(...) PF_FIELD(struct pf_ranks_step, __VA_ARGS__)
static const struct pf_field step_fields[] = {
	FIELD(step, "Step", PF_INT),
	FIELD(count, "Collectives", PF_COUNT),
	FIELD(spread_ns, "First to last", PF_NS),
	FIELD(late_rank, "Late rank", PF_INT | PF_MAYBE),
	FIELD(late_ns, "Waits it began", PF_NS),
	FIELD(cause, "Because of", PF_TEXT),
};
#undef FIELD

#define FIELD(...) PF_FIELD(struct pf_ranks_kind, __VA_ARGS__)
static const struct pf_field kind_fields[] = {
	FIELD(kind, "Collective", PF_TEXT),
	FIELD(size, "group_size", "Ranks", PF_INT | PF_KNOWN),
	FIELD(bytes, "Bytes", PF_BYTES | PF_KNOWN),
	FIELD(across, "across_machines", "Across", PF_TEXT | PF_FULL),
	FIELD(count, "Count", PF_COUNT),
	FIELD(spread_ns, "Spread", PF_NS),
	FIELD(transfer_ns, "Transfer", PF_NS),
	FIELD(algorithm_rate, "algorithm_gb_per_s", "GB/s", PF_REAL),
	FIELD(bus_rate, "bus_gb_per_s", "Bus GB/s", PF_REAL),
};
#undef FIELD

#define FIELD(...) PF_FIELD(struct pf_ranks_meeting, __VA_ARGS__)
static const struct pf_field meeting_fields[] = {
	FIELD(group, "Group", PF_TEXT),
	FIELD(number, "Number", PF_INT),
	FIELD(kind, "Collective", PF_TEXT),
	FIELD(step, "Step", PF_INT | PF_MAYBE),
	FIELD(count, "ranks", "Ranks", PF_INT),
	FIELD(last_rank, "Last", PF_INT | PF_MAYBE),
	FIELD(middle_rank, "Middle", PF_INT | PF_MAYBE),
	FIELD(spread_ns, "Spread", PF_NS),
	FIELD(gain_ns, "Gain", PF_NS),
	FIELD(transfer_ns, "Transfer", PF_NS),
	FIELD(late_ns, "Late", PF_NS | PF_MAYBE),
	FIELD(why_ns[PF_LATE_COMPUTATION], "computation_ns", "Computation",
	      PF_NS | PF_MAYBE),
	FIELD(why_ns[PF_LATE_COMMUNICATION], "communication_ns",
	      "Communication", PF_NS | PF_MAYBE),
	FIELD(why_ns[PF_LATE_COPY], "copy_ns", "Copies", PF_NS | PF_MAYBE),
	FIELD(why_ns[PF_LATE_HOST], "idle_ns", "Idle", PF_NS | PF_MAYBE),
	FIELD(why_ns[PF_LATE_BEFORE], "before_ns", "Before", PF_NS | PF_MAYBE),
	FIELD(cause, "Because of", PF_TEXT),
	FIELD(root_rank, "Root", PF_INT | PF_MAYBE),
	FIELD(root_cause, "Its cause", PF_TEXT),
};
#undef FIELD

/* How a figure is spread over ranks; imbalance is (max - mean) / max. */
struct spread {
	const char *figure;
	int64_t min_ns, low_ns, median_ns, high_ns, max_ns, mean_ns, max_rank;
	double imbalance;
};

#define FIELD(...) PF_FIELD(struct spread, __VA_ARGS__)
static const struct pf_field spread_fields[] = {
	FIELD(figure, "Of a rank", PF_TEXT),
	FIELD(min_ns, "Least", PF_NS),
	FIELD(low_ns, "p25_ns", "25 %", PF_NS | PF_FULL),
	FIELD(median_ns, "Median", PF_NS),
	FIELD(high_ns, "p75_ns", "75 %", PF_NS | PF_FULL),
	FIELD(max_ns, "Most", PF_NS),
	FIELD(max_rank, "By rank", PF_INT),
	FIELD(mean_ns, "Mean", PF_NS | PF_FULL),
	FIELD(imbalance, "Imbalance", PF_RATIO),
};
#undef FIELD

static void take_spread(const struct pf_ranks *r, size_t at, int64_t *values,
			struct spread *row)
{
	size_t n = r->rank_count;
	double mean = 0;

	for (size_t i = 0; i < n; i++) {
		memcpy(&values[i], (const char *)&r->ranks[i] + at,
		       sizeof(*values));
		if (!i || values[i] > row->max_ns) {
			row->max_ns = values[i];
			row->max_rank = r->ranks[i].rank;
		}
		mean += (double)values[i] / (double)n;
	}
	pf_sort(values, n, sizeof(*values), pf_stats_compare);
	row->min_ns = values[0];
	row->low_ns = pf_stats_quantile(values, n, 25);
	row->median_ns = pf_stats_quantile(values, n, 50);
	row->high_ns = pf_stats_quantile(values, n, 75);
	row->mean_ns = llround(mean);
	row->imbalance = row->max_ns > 0 ? 1 - mean / (double)row->max_ns : NAN;
}

static void show_spread(const struct pf_ranks *r, struct pf_doc *doc)
{
	static const struct {
		const char *name;
		size_t at;
	} figures_of[] = {
		{ "computation",
		  offsetof(struct pf_ranks_rank, computation_ns) },
		{ "exposed wait", offsetof(struct pf_ranks_rank, wait_ns) },
		{ "exposed transfer",
		  offsetof(struct pf_ranks_rank, transfer_ns) },
		{ "idle", offsetof(struct pf_ranks_rank, idle_ns) },
		{ "waits it began", offsetof(struct pf_ranks_rank, root_ns) },
	};
	struct pf_table *t = pf_doc_fields(doc, "spread", "Spread over ranks",
					   PF_FIELDS(spread_fields));
	PF_OWN int64_t *values = pf_calloc(r->rank_count + 1, sizeof(*values));

	for (size_t f = 0; f < PF_LEN(figures_of); f++) {
		struct spread row = { .figure = figures_of[f].name };

		take_spread(r, figures_of[f].at, values, &row);
		PF_PUT(t, spread_fields, row);
	}
}

PF_ORDER(by_cost, struct pf_ranks_rank,
	 PF_DOWN(saved_ns) PF_DOWN(root_ns) PF_UP(rank))

PF_ORDER(by_offset, struct pf_ranks_rank, PF_FAR(offset_ns) PF_UP(rank))

PF_ORDER(by_late, struct pf_ranks_step, PF_DOWN(late_ns) PF_UP(step))

/* Copies in another order: the outermost first. */
static void *sorted(const void *rows, size_t count, size_t bytes, bool is_so,
		    int (*order)(const void *a, const void *b))
{
	void *copy = pf_calloc(count + 1, bytes);

	if (count)
		memcpy(copy, rows, count * bytes);
	if (is_so)
		pf_sort(copy, count, bytes, order);
	return copy;
}

/* People see ranks that compute longer than others. */
static void show_work(const struct pf_ranks *r,
		      const struct pf_ranks_rank *ranks, bool is_wide,
		      struct pf_doc *doc)
{
	PF_OWN struct pf_ranks_rank *shown =
		pf_calloc(r->rank_count + 1, sizeof(*shown));
	size_t count = 0;

	for (size_t i = 0; i < r->rank_count; i++)
		if (is_wide || ranks[i].work > PF_WORK_ALIKE)
			shown[count++] = ranks[i];
	if (is_wide || count)
		PF_ROWS(doc, "work",
			r->is_of_hosts
				? "Operators, against a middle rank"
				: "Kernels of computation, against a middle "
				  "rank",
			work_fields, shown, count);
}

static void show_tables(const struct pf_ranks *r, bool is_wide,
			struct pf_doc *doc)
{
	bool is_many = !is_wide && r->rank_count > PF_RANKS_FEW;
	PF_OWN struct pf_ranks_rank *ranks = sorted(
		r->ranks, r->rank_count, sizeof(*ranks), is_many, by_cost);
	PF_OWN struct pf_ranks_rank *clocks = sorted(
		r->ranks, r->rank_count, sizeof(*clocks), is_many, by_offset);
	PF_OWN struct pf_ranks_step *steps = sorted(
		r->steps, r->step_count, sizeof(*steps), is_many, by_late);

	PF_ROWS(doc, "ranks", "Late at collectives", show_rank_fields, ranks,
		r->rank_count);
	show_spread(r, doc);
	if (!is_many && !is_wide)
		PF_ROWS(doc, "times",
			r->is_of_hosts ? "What hosts do, each instant once"
				       : "What GPUs do, each instant once",
			time_fields, ranks, r->rank_count);
	show_work(r, ranks, is_wide, doc);
	PF_ROWS(doc, "steps", "By step", step_fields, steps, r->step_count);
	PF_ROWS(doc, "clocks", "Clocks, by the ends of collectives",
		clock_fields, clocks, r->rank_count);
	PF_ROWS(doc, "collectives", "Transfer, once all ranks have come",
		kind_fields, r->kinds, r->kind_count);
	if (is_wide)
		PF_ROWS(doc, "meetings", "Collectives one by one",
			meeting_fields, r->meetings, r->meeting_count);
}

void pf_ranks_show(const struct pf_ranks *r, bool is_wide, struct pf_doc *doc)
{
	struct pf_buf text = { 0 };

	ranks_finding(r, &text);
	pf_doc_finding(doc, "%.*s", (int)text.len, text.data);
	pf_buf_release(&text);
	doc->is_nothing = r->rank_count < 2 || r->withheld;
	pf_doc_int(doc, "rank_count", "Ranks", PF_COUNT,
		   (int64_t)r->rank_count);
	if (r->left_out)
		pf_doc_string(doc, "left_out", "Left out", r->left_out);
	if (r->withheld) {
		pf_doc_string(doc, "withheld", "Ranks are not compared",
			      r->withheld);
		return;
	}
	PF_SCALARS(doc, show_figures, *r);
	if (r->total_ns != PF_NO_INT)
		PF_SCALARS(doc, costs, *r);
	pipeline_show(r, doc);
	show_tables(r, is_wide, doc);
	if (r->rank_count > 1 && r->left_out && r->total_ns == PF_NO_INT &&
	    !r->waits_to_receive)
		pf_doc_note(doc, "what ranks cost is not worked out: in some "
				 "collectives they wait for ranks that are "
				 "left out");
	if (r->partly)
		pf_doc_note(doc,
			    r->met_count ? "left out: %s"
					 : "%s: clocks are taken as they are",
			    r->partly);
	if (r->component_count > 1)
		pf_doc_note(doc,
			    "no collective joins all ranks: %" PRId64
			    " parts of the job have clocks of their own",
			    r->component_count);
}

/* ---- checks ---- */

struct gate {
	bool is_waste;
	double limit;
};

static int parse(const char *expression, struct gate *out, struct pf_err *err)
{
	static const char *const names[] = { "straggler>", "waste>" };

	for (int i = 0; i < 2; i++) {
		size_t len = strlen(names[i]);
		char *end;

		if (strncmp(expression, names[i], len) != 0)
			continue;
		out->is_waste = i;
		out->limit = strtod(expression + len, &end) / 100;
		if (end != expression + len && !strcmp(end, "%") &&
		    out->limit >= 0 && out->limit <= 1)
			return 0;
	}
	return pf_fail(err, PF_EUSAGE,
		       "'%s' is no check; write for example 'straggler>2%%' or "
		       "'waste>5%%'",
		       expression);
}

int pf_ranks_gate_parse(const char *expression, struct pf_err *err)
{
	return parse(expression, &(struct gate){ 0 }, err);
}

int pf_ranks_gate(const char *expression, const struct pf_ranks *r,
		  struct pf_doc *doc, bool *is_failed, struct pf_err *err)
{
	struct gate gate;
	int64_t lost = 0;
	double share;

	PF_TRY(parse(expression, &gate, err) < 0);
	if (r->total_ns == PF_NO_INT) {
		pf_doc_failed(doc, expression,
			      !r->withheld ? "%s: what ranks cost is not known"
					   : "%s: ranks are not compared",
			      expression);
		*is_failed = true;
		return 0;
	}
	if (gate.is_waste)
		lost = r->total_ns - r->ideal_ns;
	else if (r->straggler >= 0)
		lost = r->ranks[r->straggler].saved_ns;
	share = pf_num_share(lost, r->total_ns);
	if (share > gate.limit) {
		pf_doc_failed(doc, expression, "%s: it is %s", expression,
			      PF_SHOW_RATIO(share));
		*is_failed = true;
	} else {
		pf_doc_passed(doc, expression);
	}
	return 0;
}
