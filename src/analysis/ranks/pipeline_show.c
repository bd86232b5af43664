/* SPDX-License-Identifier: MIT */
/* Bubbles and waits in receives, in words and as tables. */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/sat.h"
#include "analysis/ranks/ranks_show.h"
#include "show/rows.h"

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct pf_ranks_stage, member, key, title, kind)
static const struct pf_field stage_fields[] = {
	FIELD(stage, "stage", "Stage", PF_INT),
	FIELD(stage_count, "stage_count", "Of", PF_INT),
	FIELD(rank_count, "rank_count", "Ranks", PF_COUNT),
	FIELD(step_count, "step_count", "Steps of ranks", PF_COUNT | PF_FULL),
	FIELD(step_ns, "step_ns", "Step", PF_NS | PF_MAYBE),
	FIELD(computation_ns, "computation_ns", "Compute", PF_NS | PF_MAYBE),
	FIELD(factor, "factor", "Of median", PF_REAL),
	FIELD(bubble_ns, "bubble_ns", "Bubble", PF_NS | PF_MAYBE),
	FIELD(bubble, "bubble", "Bubble %", PF_RATIO),
	FIELD(ideal, "ideal_bubble", "Ideal", PF_RATIO),
	FIELD(receive_wait_ns, "receive_wait_ns", "Waits to receive",
	      PF_NS | PF_MAYBE | PF_FULL),
};
#undef FIELD

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct pf_ranks_pipe, member, key, title, kind)
static const struct pf_field pipe_fields[] = {
	FIELD(rank, "rank", "Rank", PF_INT),
	FIELD(stage, "stage", "Stage", PF_INT | PF_MAYBE),
	FIELD(stage_count, "stage_count", "Of", PF_INT | PF_MAYBE | PF_FULL),
	FIELD(microbatches, "microbatches", "Microbatches",
	      PF_INT | PF_MAYBE | PF_FULL),
	FIELD(receive_count, "receive_count", "Receives", PF_COUNT),
	FIELD(left_count, "left_count", "Whose send is unknown",
	      PF_COUNT | PF_FULL),
	FIELD(receive_wait_ns, "receive_wait_ns", "It waits", PF_NS | PF_MAYBE),
	FIELD(receive_transfer_ns, "receive_transfer_ns", "Transfer",
	      PF_NS | PF_MAYBE),
	FIELD(step_count, "step_count", "Steps", PF_COUNT | PF_FULL),
	FIELD(step_ns, "step_ns", "In steps of", PF_NS | PF_MAYBE | PF_FULL),
	FIELD(computation_ns, "computation_ns", "Computation",
	      PF_NS | PF_MAYBE | PF_FULL),
	FIELD(input_ns, "input_ns", "For input", PF_NS | PF_MAYBE),
	FIELD(drain_ns, "drain_ns", "At the end", PF_NS | PF_MAYBE),
	FIELD(bubble_ns, "bubble_ns", "Bubble", PF_NS | PF_MAYBE | PF_FULL),
	FIELD(bubble, "bubble", "Bubble %", PF_RATIO),
	FIELD(ideal, "ideal_bubble", "Ideal", PF_RATIO | PF_FULL),
};
#undef FIELD

/* ---- in words ---- */

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

bool pf_pipeline_finding(const struct pf_ranks *r, struct pf_buf *out)
{
	struct whole w = look(r);
	char share[PF_NUM_MAX], ideal[PF_NUM_MAX];

	if (!r->waits_to_receive || !r->stage_count || w.stage_count < 0 ||
	    w.step_ns <= 0)
		return false;
	pf_buf_addf(
		out, "%s of the steps are bubbles of %" PRId64 " stages",
		pf_num_show_ratio(share, pf_num_share(w.bubble_ns, w.step_ns)),
		w.stage_count);
	if (!isnan(w.ideal))
		pf_buf_addf(out, " (1F1B of even stages: %s)",
			    pf_num_show_ratio(ideal, w.ideal));
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

void pf_pipeline_show(const struct pf_ranks *r, struct pf_doc *doc)
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
