/* SPDX-License-Identifier: MIT */
/* What was met is shown if its times are on one clock. */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/arrival_impl.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/sat.h"
#include "table/rows.h"

#define EARLY_MAX 0.01 /* of collectives: they cannot end before they begin */
#define CLOCK_MAX 0.01 /* of the window: what the clocks may differ in all */

static int64_t mean_window(const struct arrivals *a)
{
	int64_t sum = 0;

	for (size_t i = 0; i < a->rank_count; i++)
		pf_sat_sum(&sum, a->ranks[i].window_ns);
	return sum / (int64_t)a->rank_count;
}

/* By how much ends of collectives differ from their mean, on any rank. */
static int64_t clock_error(const struct arrivals *a)
{
	int64_t worst = 0;

	for (size_t i = 0; i < a->rank_count; i++) {
		const struct pf_arrival_rank *r = &a->ranks[i];
		int64_t mean = r->count ? r->end_ns / r->count : 0;

		if (mean < 0)
			mean = -mean;
		if (mean > worst)
			worst = mean;
	}
	return worst;
}

enum machine { ONE, SEVERAL, UNKNOWN };

static enum machine find_machine(const struct arrivals *a, size_t *other)
{
	enum machine machine = ONE;

	for (size_t i = 0; i < a->rank_count; i++) {
		if (!a->ranks[i].host || !a->ranks[0].host) {
			machine = UNKNOWN;
		} else if (strcmp(a->ranks[i].host, a->ranks[0].host) != 0) {
			*other = i;
			return SEVERAL;
		}
	}
	return machine;
}

/* Are the times of all ranks on one clock?  Else say why not. */
static void check_clock(struct arrivals *a, enum machine machine, size_t other)
{
	double count = (double)a->count;
	double apart = (double)clock_error(a) * count;
	char shown[PF_NUM_MAX];

	if (machine == SEVERAL)
		pf_buf_addf(&a->why,
			    "ranks %" PRId64 " and %" PRId64
			    " ran on different machines, whose clocks differ",
			    a->ranks[0].rank, a->ranks[other].rank);
	else if (a->mixed_count)
		pf_buf_adds(&a->why,
			    a->is_named_mixed
				    ? "ranks run different collectives in one "
				      "process group"
				    : "the traces do not name process groups, "
				      "and ranks run collectives in different "
				      "order");
	else if ((double)a->early_count > EARLY_MAX * count)
		pf_buf_addf(&a->why,
			    "%" PRId64 " of %" PRId64
			    " collectives end on one rank before another has "
			    "begun, so the clocks differ",
			    a->early_count, a->count);
	else if (machine == UNKNOWN &&
		 apart > CLOCK_MAX * (double)mean_window(a))
		pf_buf_addf(&a->why,
			    "the traces do not say that the ranks ran on one "
			    "machine, and their collectives end %s apart",
			    pf_num_show_ns(shown, clock_error(a)));
}

static size_t find_straggler(const struct arrivals *a)
{
	size_t best = 0;

	for (size_t i = 1; i < a->rank_count; i++)
		if (a->ranks[i].late_ns > a->ranks[best].late_ns ||
		    (a->ranks[i].late_ns == a->ranks[best].late_ns &&
		     a->ranks[i].rank < a->ranks[best].rank))
			best = i;
	return best;
}

void pf_arrivals_settle(struct arrivals *a, struct pf_arrivals *out)
{
	const struct pf_arrival_rank *s = &a->ranks[find_straggler(a)];
	const struct pf_arrival_rank *waiting = &a->ranks[a->worst.rank];
	size_t other = 0;
	enum machine machine = find_machine(a, &other);

	if (!a->why.len)
		check_clock(a, machine, other);
	if (a->why.len)
		out->withheld = pf_strdup(a->why.data);
	out->count = a->count;
	out->spread_ns = a->spread_ns;
	out->window_ns = mean_window(a);
	out->clock_ns = clock_error(a);
	out->machine = machine == ONE ? "yes" : "not recorded";
	out->straggler_rank = s->rank;
	out->straggler_trace_id = s->trace_id;
	out->straggler_ns = s->late_ns;
	out->straggler_share = pf_num_share(s->late_ns, out->window_ns);
	out->straggler_gain_ns = s->gain_ns;
	out->longest_wait_ns = a->worst_ns;
	out->longest_wait_trace_id = waiting->trace_id;
	out->longest_wait_start_ns =
		a->worst.start_ns - waiting->base_ns - waiting->first_ns;
	out->ranks = a->ranks;
	out->rank_count = a->rank_count;
	a->ranks = NULL;
	a->rank_count = 0;
}

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct pf_arrivals, member, key, title, kind)
static const struct pf_field figures[] = {
	FIELD(count, "arrival_count", "Collectives of several ranks", PF_COUNT),
	FIELD(spread_ns, "arrival_spread_ns", "  first to last rank, summed",
	      PF_NS),
	FIELD(window_ns, "arrival_window_ns", "  in, mean of the ranks", PF_NS),
	FIELD(clock_ns, "arrival_clock_ns", "  their ends differ by", PF_NS),
	FIELD(machine, "arrival_machine", "  on one machine", PF_TEXT),
};
static const struct pf_field straggler[] = {
	FIELD(straggler_rank, "straggler_rank", "Straggler", PF_INT),
	FIELD(straggler_trace_id, "straggler_trace_id", "  its trace", PF_INT),
	FIELD(straggler_ns, "straggler_ns", "  others wait for it", PF_NS),
	FIELD(straggler_share, "straggler_share", "  of the time", PF_RATIO),
	FIELD(straggler_gain_ns, "straggler_gain_ns",
	      "  less with the next one", PF_NS),
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
	if (a->withheld || !a->rank_count)
		return;
	PF_SCALARS(doc, figures, *a);
	if (a->straggler_ns)
		PF_SCALARS(doc, straggler, *a);
	PF_ROWS(doc, "arrivals", "Arrival of ranks at collectives", rank_fields,
		a->ranks, a->rank_count);
}
