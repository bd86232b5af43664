/* SPDX-License-Identifier: MIT */
/* What was found of graphs, for analyses of something else. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "analysis/graphs/graphs.h"

static struct pf_graph_launch *find_launch(const struct pf_graphs *g,
					   int64_t launch_id)
{
	size_t from = 0, to = g->launch_count;

	while (from < to) {
		size_t at = from + (to - from) / 2;

		if (g->launches_by_id[at].launch_id < launch_id)
			from = at + 1;
		else
			to = at;
	}
	if (from == g->launch_count ||
	    g->launches_by_id[from].launch_id != launch_id)
		return NULL;
	return &g->launches_by_id[from];
}

const struct pf_graph *pf_graphs_of(const struct pf_graphs *g,
				    int64_t launch_id)
{
	const struct pf_graph_launch *l = find_launch(g, launch_id);

	return l ? &g->graphs[l->graph] : NULL;
}

int64_t pf_graphs_launch_ns(const struct pf_graphs *g, int64_t launch_id)
{
	const struct pf_graph_launch *l = find_launch(g, launch_id);

	return l ? l->start_ns : 0;
}

int64_t pf_graphs_launch_at(const struct pf_graphs *g, int64_t launch_id)
{
	const struct pf_graph_launch *l = find_launch(g, launch_id);

	return l ? l - g->launches_by_id : 0;
}

const struct pf_graph_node *pf_graphs_next(struct pf_graphs *g,
					   int64_t launch_id)
{
	struct pf_graph_launch *l = find_launch(g, launch_id);
	const struct pf_graph *graph = l ? &g->graphs[l->graph] : NULL;

	return graph && l->next < graph->count ? &graph->nodes[l->next++]
					       : NULL;
}

const char *pf_graphs_op(const struct pf_graphs *g,
			 const struct pf_graph_node *n)
{
	if (n->how > PF_HOW_FAMILY)
		return NULL;
	return pf_graphs_text(g, n->op);
}

void pf_graphs_say_how(const int64_t *how_ns, int64_t of_ns, struct pf_buf *out)
{
	char share[PF_NUM_MAX];
	const char *before = "";

	for (size_t h = 0; h < PF_HOWS; h++) {
		if (!how_ns[h])
			continue;
		pf_buf_addf(out, "%s%s %s", before,
			    pf_graph_how_word((enum pf_graph_how)h),
			    pf_num_show_ratio(share,
					      pf_num_share(how_ns[h], of_ns)));
		before = ", ";
	}
}

void pf_graphs_note(const struct pf_graphs *g, struct pf_doc *doc)
{
	int64_t how_ns[PF_HOWS] = { 0 };
	char share[PF_NUM_MAX];
	struct pf_buf parts = { 0 };

	if (!g->replayed_ns)
		return;
	for (size_t i = 0; i < g->count; i++)
		for (size_t h = 0; h < PF_HOWS; h++)
			how_ns[h] += g->graphs[i].how_ns[h];
	how_ns[PF_HOW_NONE] += g->past_ns;
	pf_graphs_say_how(how_ns, g->replayed_ns, &parts);
	pf_doc_note(doc, "%s of GPU time is replayed by graphs: %s",
		    pf_num_show_ratio(share,
				      pf_num_share(g->replayed_ns, g->gpu_ns)),
		    parts.data ? parts.data : "");
	pf_buf_release(&parts);
}
