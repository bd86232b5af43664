/* SPDX-License-Identifier: MIT */
/* What ranks.h found, as 'overlap' and the report show it. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/sat.h"
#include "analysis/ranks/arrival.h"
#include "analysis/ranks/ranks.h"
#include "show/rows.h"

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

static void take_ranks(struct pf_arrivals *a, const struct pf_ranks *r,
		       const struct pf_window *window)
{
	int64_t sum = 0;

	a->rank_count = r->rank_count;
	a->ranks = pf_calloc(r->rank_count + 1, sizeof(*a->ranks));
	for (size_t i = 0; i < r->rank_count; i++) {
		const struct pf_ranks_rank *from = &r->ranks[i];

		a->ranks[i] = (struct pf_arrival_rank){
			.trace_id = from->trace_id,
			.rank = from->rank,
			.window_ns = window_of(window, from->trace_id),
			.count = from->count,
			.last_count = from->last_count,
			.waited_ns = from->waited_ns,
			.late_ns = from->late_ns,
			.gain_ns = from->gain_ns,
		};
		pf_sat_sum(&sum, a->ranks[i].window_ns);
	}
	if (r->rank_count)
		a->window_ns = sum / (int64_t)r->rank_count;
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

static void settle(struct pf_arrivals *a, const struct pf_ranks *r,
		   const struct pf_window *window)
{
	if (!r->rank_count)
		return;
	take_ranks(a, r, window);
	if (r->left_out)
		a->left_out = pf_strdup(r->left_out);
	if (r->withheld || !r->met_count) {
		a->withheld = pf_strdup(r->withheld ? r->withheld
					: r->partly ? r->partly
						    : "no collective was found "
						      "on several ranks");
		return;
	}
	a->count = r->met_count;
	a->left_count = r->left_count;
	a->clock_ns = r->clock_ns;
	a->machine = machine_of(r);
	for (size_t i = 0; i < r->kind_count; i++)
		pf_sat_sum(&a->spread_ns, r->kinds[i].spread_ns);
	take_straggler(a, r);
	a->longest_wait_ns = r->longest_wait_ns;
	a->longest_wait_trace_id = a->ranks[r->longest_wait_rank].trace_id;
	a->longest_wait_start_ns = r->longest_wait_start_ns;
}

int pf_arrivals_find(struct pf_db *db, const struct pf_window *window,
		     struct pf_arrivals *out, struct pf_err *err)
{
	const struct pf_ranks_args args = { 0 };
	struct pf_ranks_job *job;
	struct pf_ranks found = { 0 };
	int rc;

	if (!pf_window_has_processes(window))
		return 0;
	job = pf_ranks_new(&args);
	rc = pf_ranks_add(job, db, window, err);
	if (!rc)
		rc = pf_ranks_find(job, &found, err);
	if (!rc)
		settle(out, &found, window);
	pf_ranks_release(&found);
	pf_ranks_free(job);
	return rc;
}

void pf_arrivals_release(struct pf_arrivals *a)
{
	free(a->ranks);
	free(a->withheld);
	free(a->left_out);
	*a = (struct pf_arrivals){ 0 };
}

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct pf_arrivals, member, key, title, kind)
static const struct pf_field figures[] = {
	FIELD(count, "arrival_count", "Collectives of several ranks", PF_COUNT),
	FIELD(left_count, "arrival_left_count", "  and those that met no other",
	      PF_COUNT | PF_FULL),
	FIELD(spread_ns, "arrival_spread_ns", "  first to last rank, summed",
	      PF_NS),
	FIELD(window_ns, "arrival_window_ns", "  in, mean of the ranks", PF_NS),
	FIELD(clock_ns, "arrival_clock_ns", "  clocks differ by up to", PF_NS),
	FIELD(machine, "arrival_machine", "  on one machine", PF_TEXT),
};
static const struct pf_field straggler[] = {
	FIELD(straggler_rank, "straggler_rank", "Straggler", PF_INT),
	FIELD(straggler_trace_id, "straggler_trace_id", "  its trace",
	      PF_INT | PF_FULL),
	FIELD(straggler_ns, "straggler_ns", "  others wait for it", PF_NS),
	FIELD(straggler_share, "straggler_share", "  of the time", PF_RATIO),
	FIELD(straggler_gain_ns, "straggler_gain_ns",
	      "  less with the next one", PF_NS | PF_FULL),
	FIELD(straggler_saved_ns, "straggler_saved_ns",
	      "  like the others it would save", PF_NS),
};
static const struct pf_field longest[] = {
	FIELD(longest_wait_ns, "longest_wait_ns", "Longest wait", PF_NS),
	FIELD(longest_wait_trace_id, "longest_wait_trace_id", "  in trace",
	      PF_INT),
	FIELD(longest_wait_start_ns, "longest_wait_start_ns", "  from", PF_NS),
};
#undef FIELD

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct pf_arrival_rank, member, key, title, kind)
static const struct pf_field rank_fields[] = {
	FIELD(rank, "rank", "Rank", PF_INT),
	FIELD(count, "count", "Collectives", PF_COUNT),
	FIELD(last_count, "last_count", "Last", PF_COUNT),
	FIELD(late_ns, "late_ns", "Others wait for it", PF_NS),
	FIELD(waited_ns, "waited_ns", "It waits", PF_NS),
	FIELD(gain_ns, "gain_ns", "To the next one", PF_NS | PF_FULL),
	FIELD(window_ns, "window_ns", "Window", PF_NS | PF_FULL),
	FIELD(trace_id, "trace_id", "Trace", PF_INT | PF_FULL),
};

void pf_arrivals_show(const struct pf_arrivals *a, struct pf_doc *doc)
{
	if (a->withheld)
		pf_doc_string(doc, "arrival_withheld", "Ranks are not compared",
			      a->withheld);
	if (a->left_out)
		pf_doc_string(doc, "arrival_left_out", "Ranks left out",
			      a->left_out);
	if (a->withheld || !a->rank_count)
		return;
	PF_SCALARS(doc, figures, *a);
	if (a->has_straggler)
		PF_SCALARS(doc, straggler, *a);
	if (a->longest_wait_ns)
		PF_SCALARS(doc, longest, *a);
	PF_ROWS(doc, "arrivals", "Arrival of ranks at collectives", rank_fields,
		a->ranks, a->rank_count);
}
