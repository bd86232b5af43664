/* SPDX-License-Identifier: MIT */
/* Ranks side by side as groups: machines, racks, places in the model. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/sat.h"
#include "analysis/ranks/ranks_show.h"
#include "base/order.h"
#include "show/rows.h"

struct group {
	const char *value; /* NULL: ranks that say none */
	int64_t count, worst_rank, saved_ns;
	int64_t root_ns, last_count;
	/* sums, then means of ranks */
	int64_t window_ns, computation_ns, wait_ns, transfer_ns, other_comm_ns;
	int64_t copy_ns, idle_ns;
};

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct group, member, key, title, kind)
static const struct pf_field fields[] = {
	FIELD(value, "value", "Of", PF_TEXT),
	FIELD(count, "rank_count", "Ranks", PF_COUNT),
	FIELD(last_count, "last_count", "Last", PF_COUNT | PF_FULL),
	FIELD(root_ns, "root_ns", "Waits they began", PF_NS),
	FIELD(worst_rank, "worst_rank", "Costs most", PF_INT | PF_MAYBE),
	FIELD(saved_ns, "saved_ns", "It costs", PF_NS | PF_MAYBE),
	FIELD(window_ns, "window_ns", "Window", PF_NS | PF_FULL),
	FIELD(computation_ns, "computation_ns", "Compute", PF_NS),
	FIELD(wait_ns, "exposed_wait_ns", "Wait", PF_NS),
	FIELD(transfer_ns, "exposed_transfer_ns", "Transfer", PF_NS | PF_FULL),
	FIELD(other_comm_ns, "exposed_other_ns",
	      "Exposed, met no other or not split", PF_NS | PF_FULL),
	FIELD(copy_ns, "exposed_copy_ns", "Exposed copies", PF_NS | PF_FULL),
	FIELD(idle_ns, "idle_ns", "Idle", PF_NS),
};
#undef FIELD

/* A text, or numbers as numbers; those that say nothing last. */
static int by_value(const void *a, const void *b)
{
	const char *x = ((const struct group *)a)->value;
	const char *y = ((const struct group *)b)->value;

	if (!x || !y)
		return !x - !y;
	return strverscmp(x, y);
}

PF_ORDER(by_root, struct group, PF_DOWN(root_ns) PF_THEN(by_value))

static struct group one(const struct pf_ranks_rank *r, const char *value)
{
	return (struct group){ .value = value,
			       .count = 1,
			       .worst_rank =
				       r->saved_ns > 0 ? r->rank : PF_NO_INT,
			       .saved_ns = r->saved_ns,
			       .root_ns = r->root_ns,
			       .last_count = r->last_count,
			       .window_ns = r->window_ns,
			       .computation_ns = r->computation_ns,
			       .wait_ns = r->wait_ns,
			       .transfer_ns = r->transfer_ns,
			       .other_comm_ns = r->other_comm_ns,
			       .copy_ns = r->copy_ns,
			       .idle_ns = r->idle_ns };
}

static void add(struct group *to, const struct group *g)
{
	if (g->saved_ns > to->saved_ns) {
		to->saved_ns = g->saved_ns;
		to->worst_rank = g->worst_rank;
	}
	to->count += g->count;
	pf_sat_sum(&to->root_ns, g->root_ns);
	pf_sat_sum(&to->last_count, g->last_count);
	pf_sat_sum(&to->window_ns, g->window_ns);
	pf_sat_sum(&to->computation_ns, g->computation_ns);
	pf_sat_sum(&to->wait_ns, g->wait_ns);
	pf_sat_sum(&to->transfer_ns, g->transfer_ns);
	pf_sat_sum(&to->other_comm_ns, g->other_comm_ns);
	pf_sat_sum(&to->copy_ns, g->copy_ns);
	pf_sat_sum(&to->idle_ns, g->idle_ns);
}

static void divide(struct group *g)
{
	int64_t *const sums[] = { &g->window_ns,     &g->computation_ns,
				  &g->wait_ns,       &g->transfer_ns,
				  &g->other_comm_ns, &g->copy_ns,
				  &g->idle_ns };

	for (size_t i = 0; i < sizeof(sums) / sizeof(*sums); i++)
		*sums[i] = *sums[i] / g->count +
			   (*sums[i] % g->count * 2 >= g->count);
}

void pf_ranks_show_by(const struct pf_ranks *r, const char *key,
		      const char *const *values, bool is_wide,
		      struct pf_doc *doc)
{
	struct group *groups = pf_calloc(r->rank_count + 1, sizeof(*groups));
	struct pf_buf title = { 0 };
	size_t count = 0;

	for (size_t i = 0; i < r->rank_count; i++)
		groups[i] = one(&r->ranks[i], values[i]);
	pf_sort(groups, r->rank_count, sizeof(*groups), by_value);
	for (size_t i = 0; i < r->rank_count; i++) {
		if (i && !by_value(&groups[count - 1], &groups[i]))
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
	pf_buf_release(&title);
	free(groups);
}
