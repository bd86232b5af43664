/* SPDX-License-Identifier: MIT */
/*
 * Looks at operators and runtime calls before anything else, where one of
 * two things must be known ahead: which operator a call belongs to (the
 * trace has lost it, or says it ambiguously), or which calls have the same
 * number as an operator and so take its kernels and calls.
 */
#include "config.h"

#include "torch/engine.h"

#include <stdlib.h>

#include "base/mem.h"

/* Calls seen last, by number: enough to hold those of open operators. */
#define RECENT (1u << 16)

struct recent {
	int64_t id, start_ns;
	uint32_t thread;
};

/*
 * The thread a call has when torch comes to it as a candidate: that of the
 * last candidate before it with the id it links to.
 */
static uint32_t thread_so_far(const struct pf_engine *e,
			      const struct recent *recent,
			      const struct pf_fe *fe, int64_t link)
{
	const struct pf_open_op *op;
	const struct recent *r;

	if (!link)
		return e->stop_track;
	op = pf_engine_find_op(e, fe->track, link, fe->start_ns);
	if (op && !op->is_candidate)
		op = NULL;
	r = &recent[(uint64_t)link % RECENT];
	if (r->id == link && (!op || r->start_ns >= op->start_ns))
		return r->thread;
	return op ? fe->track : e->stop_track;
}

/* Keep a link that the device events cannot tell from their arguments. */
static int keep_link(struct pf_sorter *links, int64_t correlation, int64_t link,
		     struct pf_err *err)
{
	int64_t record[2] = { correlation, link };

	return link ? pf_sorter_add(links, record, err) : 0;
}

static int see_call(struct pf_engine *e, struct recent *recent,
		    struct pf_sorter *links, const struct pf_fe *fe,
		    struct pf_err *err)
{
	int64_t link = pf_engine_call_link(e, fe);
	struct pf_collider c;
	struct recent *r;

	if (e->rules.links == PF_LINK_LOST ||
	    (e->rules.links == PF_LINK_MIXED &&
	     fe->external_id == fe->correlation))
		if (keep_link(links, fe->correlation, link, err))
			return -1;
	if (!e->rules.unlinked_claims || fe->correlation <= 0)
		return 0;
	if (link && e->rules.candidates != PF_CANDIDATES_ALL)
		return 0;
	c.id = fe->correlation;
	c.start_ns = fe->start_ns;
	c.thread = thread_so_far(e, recent, fe, link);
	r = &recent[(uint64_t)c.id % RECENT];
	*r = (struct recent){ c.id, c.start_ns, (uint32_t)c.thread };
	return pf_engine_collide(e, fe->track, &c, err);
}

/* Turn the sorted links into a spool, the first call of a number wins. */
static int spool_links(struct pf_engine *e, struct pf_sorter *links,
		       struct pf_err *err)
{
	const int64_t *record;
	int64_t last = INT64_MIN;

	if (pf_sorter_finish(links, err))
		return -1;
	e->call_links =
		pf_spool_new(2 * sizeof(int64_t), 1u << 20, e->temp_dir);
	while ((record = pf_sorter_next(links, err))) {
		if (record[0] != last &&
		    pf_spool_add(e->call_links, record, err))
			return -1;
		last = record[0];
	}
	pf_lookup_init(&e->device_calls, e->call_links);
	return err->code ? -1 : 0;
}

static int walk(struct pf_engine *e, struct pf_merge *m, struct recent *recent,
		struct pf_sorter *links, struct pf_err *err)
{
	const struct pf_fe *fe;

	/* Operators that torch drops by name make no calls. */
	while ((fe = pf_merge_next(m, err))) {
		if (pf_kind_in(fe->kind, PF_KINDS_CALL)) {
			if (see_call(e, recent, links, fe, err))
				return -1;
			continue;
		}
		pf_engine_open_op(e, fe, true);
	}
	return err->code ? -1 : 0;
}

int pf_engine_calls(struct pf_engine *e, struct pf_err *err)
{
	const struct pf_merge_args args = {
		.tracks = e->tracks,
		.count = e->track_count,
		.kinds = PF_KINDBIT(PF_KIND_CPU_OP) | PF_KINDS_CALL,
		.columns = PF_COLBIT(PF_COL_SLOT + PF_SLOT_EXTERNAL_ID) |
			   PF_COLBIT(PF_COL_SLOT + PF_SLOT_CORRELATION),
		.first_ns = INT64_MIN,
		.use = e->is_host,
	};
	struct pf_sorter *links;
	struct recent *recent;
	struct pf_merge *m;
	int rc = -1;

	if (!pf_engine_needs_calls(e) || !pf_engine_has(e, PF_KINDS_CALL))
		return 0;
	links = pf_sorter_new(2 * sizeof(int64_t), 2u << 20, e->temp_dir);
	recent = pf_calloc(RECENT, sizeof(*recent));
	m = pf_merge_new(e->db, &e->facts, &args, err);
	if (m && !walk(e, m, recent, links, err))
		rc = spool_links(e, links, err);
	pf_engine_forget_ops(e);
	pf_merge_free(m);
	pf_sorter_free(links);
	free(recent);
	return rc;
}
