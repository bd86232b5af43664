/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "torch/averages.h"

#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/tempfile.h"
#include "torch/engine.h"

/*
 * What is known before anything is summed up: which events there are, and
 * which operator each belongs to.
 */

/* ---- which operator an event belongs to ---- */

#define OPEN_MAX 16384

/*
 * open[] is ordered by start.  Ended operators go when they are on top; one
 * that ended below a longer one stays for a while and does no harm.
 */
void pf_engine_open_op(struct pf_engine *e, const struct pf_fe *fe,
		       bool is_candidate)
{
	struct pf_host_track *t = &e->host[fe->track];

	while (t->open_count &&
	       t->open[t->open_count - 1].end_ns < fe->start_ns)
		t->open_count--;
	if (t->open_count >= OPEN_MAX)
		return;
	*PF_ONE_MORE(t->open, t->open_count, t->open_cap) = (struct pf_open_op){
		.start_ns = fe->start_ns,
		.end_ns = fe->end_ns,
		.id = fe->external_id,
		.is_candidate = is_candidate,
		.is_operator = fe->kind == PF_KIND_CPU_OP,
	};
}

static void engine_forget_ops(struct pf_engine *e)
{
	for (size_t i = 0; i < e->track_count; i++)
		e->host[i].open_count = 0;
}

/* The open operator of an id on the event's own thread, or NULL. */
static const struct pf_open_op *engine_find_op(const struct pf_engine *e,
					       uint32_t track, int64_t id,
					       int64_t at_ns)
{
	const struct pf_host_track *t = &e->host[track];

	for (size_t i = t->open_count; i-- > 0;) {
		const struct pf_open_op *op = &t->open[i];

		if (op->id == id && op->end_ns >= at_ns)
			return op;
	}
	return NULL;
}

/* Innermost open operator; rather one that contains the whole call. */
static int64_t containing_op(const struct pf_engine *e, const struct pf_fe *fe)
{
	const struct pf_host_track *t = &e->host[fe->track];
	int64_t touching = 0;

	for (size_t i = t->open_count; i-- > 0;) {
		const struct pf_open_op *op = &t->open[i];

		if (!op->is_operator || op->end_ns < fe->start_ns)
			continue;
		if (op->end_ns >= fe->end_ns)
			return op->id;
		if (!touching)
			touching = op->id;
	}
	return touching;
}

static bool has_own_fallback(unsigned kind)
{
	return kind != PF_KIND_RUNTIME && kind != PF_KIND_DRIVER &&
	       kind != PF_KIND_KERNEL && kind != PF_KIND_MEMCPY &&
	       kind != PF_KIND_MEMSET;
}

int64_t pf_engine_call_link(const struct pf_engine *e, const struct pf_fe *fe)
{
	const struct pf_open_op *op;
	bool is_own = fe->external_id == fe->correlation;

	if (e->rules.links == PF_LINK_LOST)
		return containing_op(e, fe);
	if (fe->external_id <= 0 || (is_own && has_own_fallback(fe->kind)))
		return 0;
	if (e->rules.links == PF_LINK_GIVEN || !is_own)
		return fe->external_id;
	op = engine_find_op(e, fe->track, fe->external_id, fe->end_ns);
	return op && op->is_operator ? fe->external_id : 0;
}

int pf_engine_device_link(struct pf_engine *e, const struct pf_fe *fe,
			  int64_t *link)
{
	bool is_own = fe->external_id == fe->correlation;
	const int64_t *record;
	int found;

	*link = 0;
	if (fe->kind == PF_KIND_GPU_ANNOTATION ||
	    fe->kind == PF_KIND_PROFILER_RANGE)
		return 0;
	if (e->rules.links == PF_LINK_GIVEN ||
	    (e->rules.links == PF_LINK_MIXED && !is_own)) {
		if (fe->external_id > 0 &&
		    !(is_own && has_own_fallback(fe->kind)))
			*link = fe->external_id;
		return 0;
	}
	if (e->rules.links == PF_LINK_MIXED && has_own_fallback(fe->kind))
		return 0;
	if (!e->call_links)
		return 0;
	found = pf_lookup_find(&e->device_calls, fe->correlation,
			       (const void **)&record, e->err);
	if (found == 1)
		*link = record[1];
	return found < 0 ? -1 : 0;
}

static struct pf_number_list *add_list(struct pf_engine *e, size_t at)
{
	struct pf_number_list *list = &e->numbers[at];

	list->spool =
		pf_spool_new(sizeof(struct pf_collider), 1u << 19, e->temp_dir);
	pf_lookup_init(&list->lookup, list->spool);
	return list;
}

/* A call or overhead event of a track may own kernels of others. */
static int engine_collide(struct pf_engine *e, uint32_t track,
			  const struct pf_collider *c)
{
	struct pf_host_track *t = &e->host[track];

	if (c->id <= 0)
		return 0;
	if (!t->numbers && e->number_count < PF_NUMBER_LISTS_MAX)
		t->numbers = add_list(e, e->number_count++);
	if (t->numbers && c->id > t->numbers->last_id) {
		t->numbers->last_id = c->id;
		return pf_spool_add(t->numbers->spool, c, e->err);
	}
	if (!e->collider_sorter)
		e->collider_sorter =
			pf_sorter_new(sizeof(*c), 1u << 20, e->temp_dir);
	return pf_sorter_add(e->collider_sorter, c, e->err);
}

/* All colliders are known: sort the rest, keeping the last of each id. */
static int engine_colliders(struct pf_engine *e)
{
	const struct pf_collider *c;
	struct pf_collider last = { 0 };
	struct pf_spool *spool;

	if (!e->collider_sorter)
		return 0;
	PF_TRY(pf_sorter_finish(e->collider_sorter, e->err));
	spool = add_list(e, e->number_count++)->spool;
	while ((c = pf_sorter_next(e->collider_sorter, e->err))) {
		if (last.id && c->id != last.id &&
		    pf_spool_add(spool, &last, e->err))
			return -1;
		last = *c;
	}
	if (e->err->code || (last.id && pf_spool_add(spool, &last, e->err)))
		return -1;
	pf_sorter_free(e->collider_sorter);
	e->collider_sorter = NULL;
	return 0;
}

/* The last collider with an id, if there is one. */
static int last_collider(struct pf_engine *e, int64_t id,
			 struct pf_collider *last, bool *is_there)
{
	*is_there = false;
	for (size_t i = 0; i < e->number_count; i++) {
		const struct pf_collider *c;
		int found = pf_lookup_find(&e->numbers[i].lookup, id,
					   (const void **)&c, e->err);

		if (found < 0)
			return -1;
		if (!found || (*is_there && c->start_ns < last->start_ns))
			continue;
		*last = *c;
		*is_there = true;
	}
	return 0;
}

/*
 * A call goes to the thread of the last candidate with the id it links to:
 * its operator, or an event that happens to have the same number.
 */
int pf_engine_linked_thread(struct pf_engine *e, const struct pf_fe *fe,
			    int64_t link, uint32_t *thread)
{
	const struct pf_open_op *op =
		engine_find_op(e, fe->track, link, fe->start_ns);
	struct pf_collider c;
	bool is_there;

	if (op && !op->is_candidate)
		op = NULL;
	*thread = op ? fe->track : e->stop_track;
	PF_TRY(last_collider(e, link, &c, &is_there));
	if (is_there && (!op || c.start_ns >= op->start_ns))
		*thread = c.thread == PF_NO_TRACK ? e->stop_track
						  : (uint32_t)c.thread;
	return 0;
}

/* ---- lookup ---- */

static int key_at(struct pf_lookup *l, uint64_t i, int64_t *key,
		  struct pf_err *err)
{
	const void *record = pf_spool_at(l->spool, i, err);

	if (!record)
		return -1;
	memcpy(key, record, sizeof(*key));
	return 0;
}

int pf_lookup_search(struct pf_lookup *l, int64_t key, struct pf_err *err)
{
	uint64_t i = pf_spool_lower_bound(l->spool, key, err);

	if (i == UINT64_MAX)
		return -1;
	l->index = i;
	l->upto = INT64_MAX;
	l->above = INT64_MIN;
	if (i < pf_spool_count(l->spool) && key_at(l, i, &l->upto, err))
		return -1;
	if (i && key_at(l, i - 1, &l->above, err))
		return -1;
	return 0;
}

/*
 * The first pass: what kinds of events are on which host track, and with it
 * the thread on which the profiler was stopped (torch puts what has no
 * operator there; the trace does not say which it was).
 */

static bool is_without_rf(const struct pf_block *b, uint32_t i)
{
	return !(b->mask[i] >> PF_SLOT_RF_ID & 1);
}

static int count_kinds(struct pf_engine *e, size_t index)
{
	const uint64_t columns =
		PF_COLBIT(PF_COL_TYPE) |
		(e->unfinished_by_rf ? PF_COLBIT(PF_COL_MASK) : 0);
	uint64_t *count = e->host[index].kind_count;
	const struct pf_block *block;
	PF_AUTO(pf_cursor_freed) struct pf_cursor *c = NULL;
	uint32_t first_seq;
	int rc;

	c = pf_cursor_new(e->db, e->tracks[index].id, columns);
	while ((rc = pf_cursor_block(c, &block, &first_seq, e->err)) == 1)
		for (uint32_t i = 0; i < block->count; i++) {
			unsigned kind =
				pf_facts_kind(&e->facts, block->type[i]);

			count[kind]++;
			if (e->unfinished_by_rf && is_without_rf(block, i) &&
			    pf_kind_in(kind, PF_KINDS_OP))
				e->has_late_op = true;
		}
	return rc;
}

static int count_steps(struct pf_engine *e)
{
	PF_STMT(st) = pf_db_prepare(
		e->db,
		"SELECT track_id, count(*) FROM step WHERE trace_id = ?1"
		" GROUP BY track_id",
		e->err);
	int rc;

	sqlite3_bind_int64(st, 1, e->args->trace_id);
	while ((rc = pf_db_step(e->db, st, e->err)) == 1)
		for (size_t i = 0; i < e->track_count; i++)
			if (e->tracks[i].id == sqlite3_column_int64(st, 0))
				e->host[i].steps =
					(uint64_t)sqlite3_column_int64(st, 1);
	return rc;
}

static uint64_t ops_on(const struct pf_host_track *t)
{
	return t->kind_count[PF_KIND_CPU_OP] +
	       t->kind_count[PF_KIND_ANNOTATION];
}

/* Most steps; else the process's main thread; else most operators. */
static uint32_t find_stop_track(const struct pf_engine *e)
{
	uint32_t best = (uint32_t)e->track_count;
	uint64_t most = 0;

	for (uint32_t i = 0; i < e->track_count; i++)
		if (e->is_host[i] && e->host[i].steps > most) {
			most = e->host[i].steps;
			best = i;
		}
	for (uint32_t i = 0; !most && i < e->track_count; i++)
		if (e->is_host[i] && ops_on(&e->host[i]) &&
		    !strcmp(e->tracks[i].pid, e->tracks[i].tid)) {
			most = 1;
			best = i;
		}
	if (most)
		return best;
	for (uint32_t i = 0; i < e->track_count; i++)
		if (e->is_host[i] && ops_on(&e->host[i]) > most) {
			most = ops_on(&e->host[i]);
			best = i;
		}
	return best;
}

static struct pf_merge *read_track(struct pf_engine *e, size_t index,
				   uint32_t kinds, uint64_t columns)
{
	const struct pf_merge_args args = {
		.tracks = &e->tracks[index],
		.count = 1,
		.kinds = kinds,
		.columns = columns,
	};

	return pf_merge_new(e->db, &e->facts, &args, e->err);
}

/* The start of the profiler's own span on a track: 1 found, 0, -1. */
static int find_span(struct pf_engine *e, size_t index)
{
	PF_AUTO(pf_merge_freed)
	struct pf_merge *m =
		read_track(e, index, PF_KINDBIT(PF_KIND_TRACE_SPAN),
			   PF_COLBIT(PF_COL_NAME) | PF_COLBIT(PF_COL_ARGS));
	const struct pf_fe *fe;
	struct pf_name_fact name;
	int found = 0;

	if (!m)
		return -1;
	while (!found && (fe = pf_merge_next(m, e->err))) {
		if (pf_facts_name(&e->facts, fe->kind, &fe->name, &name,
				  e->err))
			break;
		if (!(name.flags & PF_NAME_SPAN))
			continue;
		e->trace_start_ns = fe->start_ns;
		e->trace_end_ns = fe->end_ns;
		found = 1;
	}
	return e->err->code ? -1 : found;
}

/*
 * Times count from the span "PyTorch Profiler (0)", else from the first
 * event.  Spans have a track of their own, named so.
 */
static int find_trace_start(struct pf_engine *e)
{
	int64_t first = INT64_MAX;

	e->trace_end_ns = INT64_MAX;

	for (size_t i = 0; i < e->track_count; i++) {
		const struct pf_track *t = &e->tracks[i];
		int found = 0;

		if (!strcmp(t->pid, "Spans") ||
		    (!e->is_host[i] && !e->is_device[i] &&
		     t->event_count < 1000))
			found = find_span(e, i);
		if (found)
			return found < 0 ? -1 : 0;
		if ((e->is_host[i] || e->is_device[i]) && t->event_count &&
		    t->first_ns < first)
			first = t->first_ns;
	}
	e->trace_start_ns = first == INT64_MAX ? 0 : first;
	return 0;
}

/* ---- numbers of unlinked calls ---- */

static uint64_t calls_on(const struct pf_host_track *t)
{
	uint64_t count = 0;

	for (unsigned k = 0; k < PF_KIND_COUNT; k++)
		if (pf_kind_in(k, PF_KINDS_CALL))
			count += t->kind_count[k];
	return count;
}

/*
 * An unlinked call with the number of an operator draws that operator's calls
 * to the stop thread.  That changes nothing where all calls are there anyway.
 */
static bool needs_numbers(const struct pf_engine *e)
{
	if (!e->rules.unlinked_claims || pf_engine_needs_calls(e))
		return false;
	for (size_t i = 0; i < e->track_count; i++)
		if (i != e->stop_track && calls_on(&e->host[i]))
			return true;
	return false;
}

static int collect_numbers(struct pf_engine *e, size_t index)
{
	PF_AUTO(pf_merge_freed)
	struct pf_merge *m = read_track(
		e, index, PF_KINDS_CALL,
		PF_COLBIT(PF_COL_SLOT + PF_SLOT_EXTERNAL_ID) |
			PF_COLBIT(PF_COL_SLOT + PF_SLOT_CORRELATION));
	const struct pf_fe *fe;
	int rc = m ? 0 : -1;

	while (!rc && (fe = pf_merge_next(m, e->err))) {
		const struct pf_collider c = { fe->correlation, fe->start_ns,
					       PF_NO_TRACK };

		if (!pf_engine_call_link(e, fe))
			rc = engine_collide(e, (uint32_t)index, &c);
	}
	return rc || e->err->code ? -1 : 0;
}

/* Operators of a track that end behind the profiler's span. */
static int find_late_ops(struct pf_engine *e, size_t index)
{
	PF_AUTO(pf_merge_freed)
	struct pf_merge *m = read_track(e, index, PF_KINDS_OP, 0);
	const struct pf_fe *fe;

	while (m && !e->has_late_op && (fe = pf_merge_next(m, e->err)))
		e->has_late_op = pf_engine_ends_late(e, fe);
	return e->err->code ? -1 : 0;
}

static int engine_survey(struct pf_engine *e)
{
	for (size_t i = 0; i < e->track_count; i++)
		if (e->is_host[i] && count_kinds(e, i))
			return -1;
	PF_TRY(count_steps(e));
	e->stop_track = find_stop_track(e);
	if (needs_numbers(e))
		for (size_t i = 0; i < e->track_count; i++)
			if (calls_on(&e->host[i]) && collect_numbers(e, i))
				return -1;
	PF_TRY(find_trace_start(e));
	for (size_t i = 0; i < e->track_count && !e->has_late_op; i++)
		if (e->is_host[i] && e->tracks[i].last_ns > e->trace_end_ns &&
		    !e->rules.unfinished_kept && !e->rules.is_us &&
		    find_late_ops(e, i))
			return -1;
	return 0;
}

/*
 * Looks at operators and runtime calls before anything else, where one of
 * two things must be known ahead: which operator a call belongs to (the
 * trace has lost it, or says it ambiguously), or which calls have the same
 * number as an operator and so take its kernels and calls.
 */

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
	op = engine_find_op(e, fe->track, link, fe->start_ns);
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
		    struct pf_sorter *links, const struct pf_fe *fe)
{
	int64_t link = pf_engine_call_link(e, fe);
	struct pf_collider c;
	struct recent *r;

	if (e->rules.links == PF_LINK_LOST ||
	    (e->rules.links == PF_LINK_MIXED &&
	     fe->external_id == fe->correlation))
		PF_TRY(keep_link(links, fe->correlation, link, e->err));
	if (!e->rules.unlinked_claims || fe->correlation <= 0)
		return 0;
	if (link && e->rules.candidates != PF_CANDIDATES_ALL)
		return 0;
	c.id = fe->correlation;
	c.start_ns = fe->start_ns;
	c.thread = thread_so_far(e, recent, fe, link);
	r = &recent[(uint64_t)c.id % RECENT];
	*r = (struct recent){ c.id, c.start_ns, (uint32_t)c.thread };
	return engine_collide(e, fe->track, &c);
}

/* Turn the sorted links into a spool, the first call of a number wins. */
static int spool_links(struct pf_engine *e, struct pf_sorter *links)
{
	const int64_t *record;
	int64_t last = INT64_MIN;

	PF_TRY(pf_sorter_finish(links, e->err));
	e->call_links =
		pf_spool_new(2 * sizeof(int64_t), 1u << 20, e->temp_dir);
	while ((record = pf_sorter_next(links, e->err))) {
		if (record[0] != last &&
		    pf_spool_add(e->call_links, record, e->err))
			return -1;
		last = record[0];
	}
	pf_lookup_init(&e->device_calls, e->call_links);
	return e->err->code ? -1 : 0;
}

/*
 * The ids of overhead events: each has the id of the event around it in the
 * profiler's C++ tree, on the stop thread.  That tree is not the one of
 * groups.h: all events are in it, and an event that ends closes all in it.
 */

/* The id an event of the stop thread has of its own. */
static int64_t own_id(const struct pf_fe *fe)
{
	if (pf_kind_in(fe->kind, PF_KINDS_CALL))
		return fe->correlation;
	return fe->kind == PF_KIND_PYTHON ? 0 : fe->external_id;
}

static int see_overhead(struct pf_engine *e, struct pf_cxx_stack *s,
			const struct pf_fe *fe)
{
	bool is_call = pf_kind_in(fe->kind, PF_KINDS_CALL);
	const struct pf_cxx_open *around;
	int64_t id;

	if (is_call && pf_engine_call_link(e, fe))
		return 0;
	if (!is_call && fe->kind != PF_KIND_OVERHEAD &&
	    fe->track != e->stop_track)
		return 0;
	around = pf_cxx_top(s, fe->start_ns);
	id = own_id(fe);
	if (fe->kind == PF_KIND_OVERHEAD) {
		struct pf_collider c = { 0, fe->start_ns, PF_NO_TRACK };

		id = around ? around->id : 0;
		c.id = id;
		if (pf_spool_add(e->overhead_ids, &id, e->err) ||
		    engine_collide(e, fe->track, &c))
			return -1;
	}
	if (fe->end_ns > fe->start_ns)
		pf_cxx_push(s, fe->end_ns, fe->end_ns, id);
	return 0;
}

/* The stop thread and every track with overhead or runtime calls. */
static bool *choose_tracks(const struct pf_engine *e)
{
	bool *use = pf_calloc(e->track_count + 1, sizeof(*use));

	for (size_t i = 0; i < e->track_count; i++) {
		const uint64_t *count = e->host[i].kind_count;

		use[i] = e->is_host[i] &&
			 (i == e->stop_track || count[PF_KIND_OVERHEAD] ||
			  count[PF_KIND_RUNTIME] || count[PF_KIND_DRIVER]);
	}
	return use;
}

/* ---- all of it in one pass ---- */

struct ahead {
	struct recent *recent;
	struct pf_sorter *links; /* NULL: calls are not looked at */
	bool *claims;            /* by track; NULL: nor is overhead */
	struct pf_cxx_stack stack;
};

/* Operators that torch drops by name make no calls. */
static int look(struct pf_engine *e, void *context, const struct pf_fe *fe)
{
	struct ahead *a = context;

	if (fe->kind == PF_KIND_CPU_OP)
		pf_engine_open_op(e, fe, true);
	if (a->links && pf_kind_in(fe->kind, PF_KINDS_CALL))
		PF_TRY(see_call(e, a->recent, a->links, fe));
	if (a->claims && a->claims[fe->track])
		return see_overhead(e, &a->stack, fe);
	return 0;
}

static int engine_before(struct pf_engine *e)
{
	uint64_t columns = PF_COLBIT(PF_COL_SLOT + PF_SLOT_EXTERNAL_ID) |
			   PF_COLBIT(PF_COL_SLOT + PF_SLOT_CORRELATION);
	struct ahead a = { 0 };
	uint32_t kinds = 0;
	int rc;

	if (pf_engine_needs_calls(e) && pf_engine_has(e, PF_KINDS_CALL)) {
		kinds = PF_KINDBIT(PF_KIND_CPU_OP) | PF_KINDS_CALL;
		a.links = pf_sorter_new(2 * sizeof(int64_t), 2u << 20,
					e->temp_dir);
		a.recent = pf_calloc(RECENT, sizeof(*a.recent));
	}
	if (e->rules.overhead_claims &&
	    pf_engine_has(e, PF_KINDBIT(PF_KIND_OVERHEAD))) {
		kinds = PF_KINDS_OP | PF_KINDS_CALL |
			PF_KINDBIT(PF_KIND_PYTHON) |
			PF_KINDBIT(PF_KIND_OVERHEAD);
		columns |= PF_COLBIT(PF_COL_SLOT + PF_SLOT_EV_IDX);
		e->overhead_ids =
			pf_spool_new(sizeof(int64_t), 1u << 17, e->temp_dir);
		a.claims = choose_tracks(e);
	}
	rc = pf_engine_before(e, kinds, kinds ? columns : 0, look, &a);
	if (!rc && a.links)
		rc = spool_links(e, a.links);
	engine_forget_ops(e);
	pf_sorter_free(a.links);
	free(a.recent);
	free(a.claims);
	free(a.stack.open);
	return rc;
}

#define WAITING_MAX 65536 /* events that wait for an earlier one */

/* ---- setting up ---- */

static bool meta_is_set(struct pf_db *db, int64_t trace_id, const char *key,
			struct pf_err *err)
{
	PF_STMT(st) = pf_db_prepare(db,
				    "SELECT value FROM trace_meta WHERE"
				    " trace_id = ?1 AND key = ?2",
				    err);
	bool is_set = false;

	if (!st)
		return false;
	sqlite3_bind_int64(st, 1, trace_id);
	sqlite3_bind_text(st, 2, key, -1, SQLITE_STATIC);
	if (pf_db_step(db, st, err) == 1) {
		const char *v = (const char *)sqlite3_column_text(st, 0);

		is_set = v && (!strcmp(v, "1") || !strcmp(v, "true") ||
			       !strcmp(v, "\"1\""));
	}
	return is_set;
}

static int one_number(struct pf_db *db, const char *sql, int64_t trace_id,
		      int64_t step, int64_t out[2], struct pf_err *err)
{
	PF_STMT(st) = pf_db_prepare(db, sql, err);
	int rc;

	PF_TRY(!st);
	sqlite3_bind_int64(st, 1, trace_id);
	if (sqlite3_bind_parameter_count(st) > 1)
		sqlite3_bind_int64(st, 2, step);
	rc = pf_db_step(db, st, err);
	if (rc == 1) {
		out[0] = sqlite3_column_int64(st, 0);
		out[1] = sqlite3_column_int64(st, 1);
		if (sqlite3_column_type(st, 1) == SQLITE_NULL &&
		    sqlite3_column_type(st, 0) == SQLITE_NULL)
			rc = 0;
	}
	return rc;
}

static int choose_part(struct pf_engine *e)
{
	const struct pf_window_trace *part = e->args->part;
	int64_t span[2] = { INT64_MIN, INT64_MAX };
	int found = 1;

	if (e->args->step >= 0)
		found = one_number(e->db,
				   "SELECT min(s.start_ns),"
				   " max(s.start_ns + s.dur_ns) FROM step s"
				   " JOIN track t ON t.id = s.track_id"
				   " WHERE s.trace_id = ?1 AND s.step = ?2"
				   " AND t.class = 'host'",
				   e->args->trace_id, e->args->step, span,
				   e->err);
	if (found < 0)
		return -1;
	if (!found)
		return pf_fail(e->err, PF_EUSAGE, "there is no step %lld",
			       (long long)e->args->step);
	e->from_ns = part && part->from_ns > span[0] ? part->from_ns : span[0];
	e->to_ns = part && part->to_ns < span[1] ? part->to_ns : span[1];
	return 0;
}

/* Set trust->skipped and trust->repaired from what ingest wrote. */
static int averages_read_trust(struct pf_db *db, int64_t trace_id,
			       struct pf_averages_trust *trust,
			       struct pf_err *err)
{
	int64_t row[2] = { 0, 0 };

	/* Empty objects and picoseconds (pf_repair_is_usual) take nothing away. */
	PF_TRY(one_number(db,
			  "SELECT coalesce(sum(count), 0), 0 FROM repair"
			  " WHERE trace_id = ?1 AND is_skip AND kind NOT IN"
			  " ('empty', 'unread_table')",
			  trace_id, 0, row, err) < 0);
	trust->skipped = row[0];
	row[0] = 0;
	PF_TRY(one_number(db,
			  "SELECT coalesce(sum(count), 0), 0 FROM repair"
			  " WHERE trace_id = ?1 AND NOT is_skip"
			  " AND kind NOT IN ('skipped_bytes', 'rounded_time')",
			  trace_id, 0, row, err) < 0);
	trust->repaired = row[0];
	return 0;
}

static int read_trace(struct pf_engine *e)
{
	int64_t row[2] = { 0, 0 };

	PF_TRY(one_number(e->db,
			  "SELECT coalesce(base_ns, 0), 0 FROM trace"
			  " WHERE id = ?1",
			  e->args->trace_id, 0, row, e->err) < 0);
	e->base_ns = row[0];
	PF_TRY(averages_read_trust(e->db, e->args->trace_id, &e->result->trust,
				   e->err));
	e->result->has_memory =
		meta_is_set(e->db, e->args->trace_id, "profile_memory", e->err);
	e->result->has_flops =
		e->args->with_flops ||
		meta_is_set(e->db, e->args->trace_id, "with_flops", e->err);
	return e->err->code ? -1 : 0;
}

static int load_tracks(struct pf_engine *e)
{
	PF_TRY(pf_tracks_load(e->db, e->args->trace_id, &e->tracks,
			      &e->track_count, e->err));
	e->is_host = pf_calloc(e->track_count + 1, sizeof(bool));
	e->is_device = pf_calloc(e->track_count + 1, sizeof(bool));
	e->host = pf_calloc(e->track_count + 1, sizeof(*e->host));
	for (size_t i = 0; i < e->track_count; i++) {
		e->is_host[i] = !strcmp(e->tracks[i].class_name, "host");
		e->is_device[i] = !strcmp(e->tracks[i].class_name, "gpu");
	}
	return 0;
}

/*
 * The second grouping is finer than the first; without any shapes in the
 * trace it is the first one again.
 */
static void choose_groupings(struct pf_engine *e,
			     const struct pf_rule_facts *facts)
{
	e->grouping_count = e->args->grouping_count;
	if (e->grouping_count > 1 && !facts->input_dims)
		e->grouping_count = 1;
}

static int set_up(struct pf_engine *e)
{
	struct pf_rule_facts facts;

	if (e->args->facts)
		facts = *e->args->facts;
	else if (pf_rules_read_facts(e->db, e->args->trace_id, &facts, e->err))
		return -1;
	e->rules = pf_rules_for(&facts, e->args->torch, e->args->python);
	e->has_finished_key = facts.finished;
	e->has_collections = facts.has_collections;
	e->unfinished_by_rf = facts.rf_id && !facts.finished;
	e->result->rules = e->rules;
	e->is_foreign = facts.is_foreign;
	if (pf_facts_init(&e->facts, e->db, e->err) || read_trace(e) ||
	    load_tracks(e) || choose_part(e))
		return -1;
	e->facts.plain_names = e->rules.is_capture;
	e->facts.has_overloads = facts.has_overloads;
	choose_groupings(e, &facts);
	pf_engine_stacks_init(e, &facts);
	for (size_t i = 0; i < e->grouping_count; i++) {
		pf_groups_init(&e->groups[i], WAITING_MAX, e->temp_dir);
		e->groups[i].count_max = e->args->groups_max;
	}
	e->groups[0].is_coarse = e->grouping_count > 1;
	/* Two threads more: of nobody, and of calls before 1.13. */
	pf_tree_init(&e->tree, e->groups, e->grouping_count, e->track_count + 2,
		     e->rules.compensated);
	return 0;
}

static void tear_down(struct pf_engine *e)
{
	pf_engine_stacks_release(e);
	for (size_t i = 0; e->host && i < e->track_count; i++)
		free(e->host[i].open);
	for (size_t i = 0; i < PF_GROUPINGS_MAX; i++) {
		pf_groups_release(&e->groups[i]);
		pf_map_release(&e->stacks[i]);
	}
	pf_map_release(&e->rows);
	pf_tree_release(&e->tree);
	pf_tracks_free(e->tracks, e->track_count);
	free(e->is_host);
	free(e->is_device);
	free(e->host);
	pf_sorter_free(e->collider_sorter);
	for (size_t i = 0; i <= PF_NUMBER_LISTS_MAX; i++)
		pf_spool_free(e->numbers[i].spool);
	pf_spool_free(e->call_links);
	pf_spool_free(e->overhead_ids);
	pf_spool_free(e->op_kernels);
	pf_spool_free(e->call_kernels);
	pf_memory_free(e->memory);
	pf_facts_release(&e->facts);
}

/* ---- results ---- */

static void copy_row(const struct pf_engine *e, const struct pf_group *g,
		     struct pf_average *row)
{
	const struct pf_intern *t = &e->facts.texts;

	row->name = pf_intern_text(t, g->key.name, NULL);
	row->shapes = pf_intern_text(t, g->key.shapes, NULL);
	row->stack = pf_intern_text(t, g->key.stack, NULL);
	row->overload = pf_intern_text(t, g->key.overload, NULL);
	row->is_device = g->key.is_device;
	row->is_annotation = g->key.is_annotation;
	row->is_async = g->is_async;
	row->has_parent = g->has_parent;
	row->count = g->count;
	row->sum = g->sum;
}

static int finish_list(struct pf_engine *e, size_t i)
{
	struct pf_average_list *list = &e->result->list[i];
	struct pf_groups *g = &e->groups[i];

	PF_TRY(pf_groups_finish(g, e->err));
	list->count = g->count;
	list->rows = pf_calloc(g->count + 1, sizeof(*list->rows));
	for (size_t n = 0; n < g->count; n++)
		copy_row(e, &g->group[n], &list->rows[n]);
	return 0;
}

/* The second grouping of a trace without shapes. */
static void repeat_list(struct pf_engine *e)
{
	const struct pf_average_list *from = &e->result->list[0];
	struct pf_average_list *to = &e->result->list[1];

	to->count = from->count;
	to->rows = pf_calloc(from->count + 1, sizeof(*to->rows));
	for (size_t n = 0; n < from->count; n++) {
		to->rows[n] = from->rows[n];
		to->rows[n].shapes = "[]";
	}
}

static int finish(struct pf_engine *e)
{
	if (e->grouping_count > 1)
		pf_groups_fold(&e->groups[0], &e->groups[1]);
	for (size_t i = 0; i < e->grouping_count; i++)
		PF_TRY(finish_list(e, i));
	if (e->args->grouping_count > e->grouping_count)
		repeat_list(e);
	if (pf_engine_has(e, PF_KINDS_MEMORY))
		e->result->has_memory = true;
	e->result->trust.too_deep = e->tree.too_deep;
	for (size_t i = 0; i < e->result->list[0].count; i++)
		e->result->trust.flops_unknown_count +=
			e->result->list[0].rows[i].sum.flops.unknown_count;
	/* The rows point into these bytes: they move to the result. */
	e->result->text = e->facts.texts.bytes;
	e->facts.texts.bytes = NULL;
	return 0;
}

/* Beside the database if that can be: /tmp may be memory. */
static char *choose_temp_dir(const struct pf_db *db)
{
	const char *slash = db->path ? strrchr(db->path, '/') : NULL;
	const char *asked = pf_temp_dir_asked();
	char *dir = asked    ? pf_strdup(asked)
		    : !slash ? pf_strdup(".")
		    : slash == db->path
			    ? pf_strdup("/")
			    : pf_memdup0(db->path, (size_t)(slash - db->path));

	if (!access(dir, W_OK))
		return dir;
	free(dir);
	return pf_strdup(pf_temp_dir());
}

int pf_averages(struct pf_db *db, const struct pf_averages_args *args,
		struct pf_averages *out, struct pf_err *err)
{
	struct pf_engine e = {
		.db = db, .err = err, .args = args, .result = out
	};
	PF_OWN char *temp_dir = choose_temp_dir(db);
	int rc = -1;

	memset(out, 0, sizeof(*out));
	e.temp_dir = temp_dir;
	if (set_up(&e))
		rc = -1;
	else if (e.is_foreign)
		rc = finish(&e);
	else if (!engine_survey(&e) && !engine_before(&e) &&
		 !engine_colliders(&e) && !pf_engine_device(&e) &&
		 !pf_engine_host(&e))
		rc = finish(&e);
	tear_down(&e);
	if (rc)
		pf_averages_release(out);
	return rc;
}

void pf_averages_release(struct pf_averages *a)
{
	for (size_t i = 0; i < 2; i++)
		free(a->list[i].rows);
	free(a->text);
	memset(a, 0, sizeof(*a));
}

/*
 * The table "average": groupings 0 (none) and 1 (by input shape) under the
 * rules recognised at ingest.  What else a reader needs is in trace_fact
 * under "averages_...".
 */

/*
 * Ingest takes no more memory than this many groups need.  A trace with more
 * (an address in every name) has no stored averages: "table" works them out,
 * as it does where FLOPs are more than a column holds.
 */
#define STORED_GROUPS_MAX 65536

static void bind_text(sqlite3_stmt *st, int at, const char *text)
{
	sqlite3_bind_text(st, at, text, -1, SQLITE_STATIC);
}

static int insert_row(struct pf_db *db, sqlite3_stmt *st,
		      const struct pf_average *r, size_t position,
		      struct pf_err *err)
{
	int at = 3;

	sqlite3_bind_int64(st, at++, (int64_t)position);
	bind_text(st, at++, r->name);
	bind_text(st, at++, r->shapes);
	bind_text(st, at++, r->is_device ? "CUDA" : "CPU");
	sqlite3_bind_int(st, at++, r->is_annotation);
	sqlite3_bind_int(st, at++, r->is_async);
	sqlite3_bind_int(st, at++, r->has_parent);
	sqlite3_bind_int64(st, at++, (int64_t)r->count);
	for (int i = 0; i < PF_FIG_COUNT; i++)
		sqlite3_bind_int64(st, at++, r->sum.ns[i]);
	for (int i = 0; i < PF_FIG_COUNT; i++)
		sqlite3_bind_double(st, at++, r->sum.us[i]);
	for (int i = 0; i < PF_FIG_COUNT; i++)
		sqlite3_bind_int64(st, at++, r->sum.bytes[i]);
	if (r->sum.flops.unknown_count)
		sqlite3_bind_null(st, at++);
	else
		sqlite3_bind_int64(st, at++, pf_flops_known(&r->sum.flops));
	PF_TRY(pf_db_step(db, st, err) < 0);
	sqlite3_reset(st);
	return 0;
}

static int insert_list(struct pf_db *db, int64_t trace_id, int grouping,
		       const struct pf_average_list *list, struct pf_err *err)
{
	PF_STMT(st) = pf_db_prepare(
		db,
		"INSERT INTO average VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8,"
		" ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20,"
		" ?21, ?22, ?23)",
		err);
	int rc = st ? 0 : -1;

	PF_TRY(!st);
	sqlite3_bind_int64(st, 1, trace_id);
	sqlite3_bind_int(st, 2, grouping);
	for (size_t i = 0; !rc && i < list->count; i++)
		rc = insert_row(db, st, &list->rows[i], i, err);
	return rc;
}

/* The facts that go with the rows, and where they are kept in memory. */
#define FACTS(a)                                                               \
	{                                                                      \
		{ "averages_device_ns", (a)->trust.device_ns },                \
			{ "averages_unlinked_ns", (a)->trust.unlinked_ns },    \
			{ "averages_unlinked_count",                           \
			  (int64_t)(a)->trust.unlinked_count },                \
			{ "averages_too_deep", (int64_t)(a)->trust.too_deep }, \
			{ "averages_flops_unknown",                            \
			  (int64_t)(a)->trust.flops_unknown_count },           \
			{ "averages_has_memory", (a)->has_memory },            \
			{ "averages_has_flops", (a)->has_flops },              \
	}

static int insert_facts(struct pf_db *db, int64_t trace_id,
			const struct pf_averages *a, struct pf_err *err)
{
	const struct {
		const char *key;
		int64_t value;
	} facts[] = FACTS(a);
	PF_STMT(st) = pf_db_prepare(
		db, "INSERT OR REPLACE INTO trace_fact VALUES (?1, ?2, ?3)",
		err);
	int rc = st ? 0 : -1;

	for (size_t i = 0; !rc && i < PF_LEN(facts); i++) {
		sqlite3_bind_int64(st, 1, trace_id);
		bind_text(st, 2, facts[i].key);
		sqlite3_bind_int64(st, 3, facts[i].value);
		rc = pf_db_step(db, st, err) < 0 ? -1 : 0;
		sqlite3_reset(st);
	}
	return rc;
}

/* Columns hold FLOPs below 2^63, and NULL where they are not known. */
static bool has_large_flops(const struct pf_averages *a)
{
	for (size_t i = 0; i < 2; i++)
		for (size_t k = 0; k < a->list[i].count; k++) {
			const struct pf_flops_sum *f =
				&a->list[i].rows[k].sum.flops;

			if (!f->unknown_count && pf_flops_known(f) < 0)
				return true;
		}
	return false;
}

struct stored {
	struct pf_db *db;
	int64_t trace_id;
	struct pf_rule_facts facts; /* of before the next trace's texts */
	struct pf_averages averages;
};

static void *begin(struct pf_db *db, int64_t trace_id, struct pf_err *err)
{
	struct stored *s = pf_calloc(1, sizeof(*s));

	s->db = db;
	s->trace_id = trace_id;
	if (!pf_rules_read_facts(db, trace_id, &s->facts, err))
		return s;
	free(s);
	pf_while(err, "averages");
	return NULL;
}

static int prepare(void *work, struct pf_err *err)
{
	struct stored *s = work;
	struct pf_averages *out = &s->averages;
	const struct pf_averages_args args = {
		.trace_id = s->trace_id,
		.facts = &s->facts,
		.step = -1,
		.groups_max = STORED_GROUPS_MAX,
		.grouping = { { .by_shape = false }, { .by_shape = true } },
		.grouping_count = 2,
	};

	if (!pf_averages(s->db, &args, out, err)) {
		out->is_left_out = has_large_flops(out);
		return 0;
	}
	if (err->code != PF_ELIMIT)
		return pf_while(err, "averages");
	memset(err, 0, sizeof(*err));
	memset(out, 0, sizeof(*out));
	out->is_left_out = true;
	return 0;
}

static int store(void *work, struct pf_err *err)
{
	const struct stored *s = work;
	const struct pf_averages *a = &s->averages;
	int rc;

	if (a->is_left_out)
		return 0;
	rc = insert_facts(s->db, s->trace_id, a, err);
	for (int i = 0; !rc && i < 2; i++)
		rc = insert_list(s->db, s->trace_id, i, &a->list[i], err);
	return rc ? pf_while(err, "averages") : 0;
}

static void release(void *work)
{
	struct stored *s = work;

	pf_averages_release(&s->averages);
	free(s);
}

const struct pf_ingest_extra pf_averages_extra = { begin, prepare, store,
						   release };

/* ---- reading ---- */

/* Texts gather in one buffer; rows hold offsets until all are there. */
struct texts {
	struct pf_buf bytes;
	size_t *start; /* name and shapes of each row */
	size_t cap, count;
};

static void keep_text(struct texts *t, sqlite3_stmt *st, int column)
{
	const char *text = (const char *)sqlite3_column_text(st, column);

	*PF_ONE_MORE(t->start, t->count, t->cap) = t->bytes.len;
	pf_buf_adds(&t->bytes, text ? text : "");
	pf_buf_addc(&t->bytes, '\0');
}

static void read_row(sqlite3_stmt *st, struct texts *texts,
		     struct pf_average *r)
{
	const char *device = (const char *)sqlite3_column_text(st, 2);
	int at = 3;

	keep_text(texts, st, 0);
	keep_text(texts, st, 1);
	r->is_device = device && strcmp(device, "CPU");
	r->is_annotation = sqlite3_column_int(st, at++);
	r->is_async = sqlite3_column_int(st, at++);
	r->has_parent = sqlite3_column_int(st, at++);
	r->count = (uint64_t)sqlite3_column_int64(st, at++);
	for (int i = 0; i < PF_FIG_COUNT; i++)
		r->sum.ns[i] = sqlite3_column_int64(st, at++);
	for (int i = 0; i < PF_FIG_COUNT; i++)
		r->sum.us[i] = sqlite3_column_double(st, at++);
	for (int i = 0; i < PF_FIG_COUNT; i++)
		r->sum.bytes[i] = sqlite3_column_int64(st, at++);
	r->sum.flops.unknown_count = sqlite3_column_type(st, at) == SQLITE_NULL;
	r->sum.flops.low = (uint64_t)sqlite3_column_int64(st, at++);
}

static int read_list(struct pf_db *db, int64_t trace_id, bool by_shape,
		     struct pf_averages *out, struct pf_err *err)
{
	sqlite3_stmt *st = pf_db_prepare(
		db,
		"SELECT name, input_shapes, device_type, is_user_annotation,"
		" is_async, has_parent, count, self_cpu_ns, cpu_total_ns,"
		" self_device_ns, device_total_ns, self_cpu_us, cpu_total_us,"
		" self_device_us, device_total_us, self_cpu_mem_bytes,"
		" cpu_mem_bytes, self_device_mem_bytes, device_mem_bytes,"
		" flops FROM average WHERE trace_id = ?1 AND grouping = ?2"
		" ORDER BY position",
		err);
	struct pf_average_list *list = &out->list[0];
	struct texts texts = { 0 };
	size_t cap = 0;
	int rc;

	sqlite3_bind_int64(st, 1, trace_id);
	sqlite3_bind_int(st, 2, by_shape);
	while ((rc = pf_db_step(db, st, err)) == 1) {
		list->rows = pf_grow(list->rows, &cap, list->count + 1,
				     sizeof(*list->rows));
		memset(&list->rows[list->count], 0, sizeof(*list->rows));
		read_row(st, &texts, &list->rows[list->count++]);
	}
	sqlite3_finalize(st);
	out->text = texts.bytes.data;
	for (size_t i = 0; i < list->count; i++) {
		list->rows[i].name = out->text + texts.start[2 * i];
		list->rows[i].shapes = out->text + texts.start[2 * i + 1];
		list->rows[i].stack = "";
		list->rows[i].overload = "";
	}
	free(texts.start);
	return rc;
}

static void set_fact(struct pf_averages *out, const char *key, int64_t v)
{
	if (!strcmp(key, "averages_device_ns"))
		out->trust.device_ns = v;
	else if (!strcmp(key, "averages_unlinked_ns"))
		out->trust.unlinked_ns = v;
	else if (!strcmp(key, "averages_unlinked_count"))
		out->trust.unlinked_count = (uint64_t)v;
	else if (!strcmp(key, "averages_too_deep"))
		out->trust.too_deep = (uint64_t)v;
	else if (!strcmp(key, "averages_flops_unknown"))
		out->trust.flops_unknown_count = (uint64_t)v;
	else if (!strcmp(key, "averages_has_memory"))
		out->has_memory = v;
	else if (!strcmp(key, "averages_has_flops"))
		out->has_flops = v;
}

/* 1 if they were stored. */
static int read_facts(struct pf_db *db, int64_t trace_id,
		      struct pf_averages *out, struct pf_err *err)
{
	PF_STMT(st) = pf_db_prepare(
		db,
		"SELECT key, value FROM trace_fact WHERE trace_id = ?1"
		" AND key GLOB 'averages_*'",
		err);
	bool is_stored = false;
	int rc;

	sqlite3_bind_int64(st, 1, trace_id);
	while ((rc = pf_db_step(db, st, err)) == 1) {
		const char *key = (const char *)sqlite3_column_text(st, 0);

		is_stored = true;
		if (key)
			set_fact(out, key, sqlite3_column_int64(st, 1));
	}
	return rc < 0 ? -1 : is_stored;
}

int pf_averages_load(struct pf_db *db, const struct pf_averages_args *args,
		     struct pf_averages *out, struct pf_err *err)
{
	struct pf_rule_facts facts;
	int rc;

	memset(out, 0, sizeof(*out));
	if (args->torch || args->python || args->step >= 0 || args->part ||
	    args->grouping_count != 1 || args->grouping[0].stack ||
	    args->grouping[0].by_overload)
		return 0;
	PF_TRY(pf_rules_read_facts(db, args->trace_id, &facts, err));
	out->rules = pf_rules_for(&facts, 0, 0);
	rc = read_facts(db, args->trace_id, out, err);
	if (rc == 1)
		rc = averages_read_trust(db, args->trace_id, &out->trust, err);
	else
		return rc;
	if (!rc)
		rc = read_list(db, args->trace_id, args->grouping[0].by_shape,
			       out, err);
	if (!rc && args->with_flops && !out->has_flops) {
		pf_averages_release(out);
		return 0;
	}
	if (!rc)
		return 1;
	pf_averages_release(out);
	return -1;
}
