/* SPDX-License-Identifier: MIT */
/*
 * What is known before anything is summed up: which events there are, and
 * which operator each belongs to.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "torch/engine.h"

bool pf_engine_has(const struct pf_engine *e, uint32_t kinds)
{
	for (size_t i = 0; i < e->track_count; i++)
		for (unsigned k = 0; k < PF_KIND_COUNT; k++)
			if (pf_kind_in(k, kinds) && e->host[i].kind_count[k])
				return true;
	return false;
}

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
int pf_engine_colliders(struct pf_engine *e)
{
	const struct pf_collider *c;
	struct pf_collider last = { 0 };
	struct pf_spool *spool;

	if (!e->collider_sorter)
		return 0;
	if (pf_sorter_finish(e->collider_sorter, e->err))
		return -1;
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
	if (last_collider(e, link, &c, &is_there))
		return -1;
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
	struct pf_cursor *c;
	uint32_t first_seq;
	int rc;

	c = pf_cursor_new(e->db, e->tracks[index].id, columns, e->err);
	if (!c)
		return -1;
	while ((rc = pf_cursor_block(c, &block, &first_seq, e->err)) == 1)
		for (uint32_t i = 0; i < block->count; i++) {
			unsigned kind =
				pf_facts_kind(&e->facts, block->type[i]);

			count[kind]++;
			if (e->unfinished_by_rf && is_without_rf(block, i) &&
			    pf_kind_in(kind, PF_KINDS_OP))
				e->has_late_op = true;
		}
	pf_cursor_free(c);
	return rc;
}

static int count_steps(struct pf_engine *e)
{
	sqlite3_stmt *st = pf_db_prepare(
		e->db,
		"SELECT track_id, count(*) FROM step WHERE trace_id = ?1"
		" GROUP BY track_id",
		e->err);
	int rc;

	if (!st)
		return -1;
	sqlite3_bind_int64(st, 1, e->args->trace_id);
	while ((rc = pf_db_step(e->db, st, e->err)) == 1)
		for (size_t i = 0; i < e->track_count; i++)
			if (e->tracks[i].id == sqlite3_column_int64(st, 0))
				e->host[i].steps =
					(uint64_t)sqlite3_column_int64(st, 1);
	sqlite3_finalize(st);
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

/* The start of the profiler's own span on a track: 1 found, 0, -1. */
static int find_span(struct pf_engine *e, size_t index)
{
	const struct pf_merge_args args = {
		.tracks = &e->tracks[index],
		.count = 1,
		.kinds = PF_KINDBIT(PF_KIND_TRACE_SPAN),
		.columns = PF_COLBIT(PF_COL_NAME) | PF_COLBIT(PF_COL_ARGS),
		.first_ns = INT64_MIN,
	};
	struct pf_merge *m = pf_merge_new(e->db, &e->facts, &args, e->err);
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
	pf_merge_free(m);
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
	const struct pf_merge_args args = {
		.tracks = &e->tracks[index],
		.count = 1,
		.kinds = PF_KINDS_CALL,
		.columns = PF_COLBIT(PF_COL_SLOT + PF_SLOT_EXTERNAL_ID) |
			   PF_COLBIT(PF_COL_SLOT + PF_SLOT_CORRELATION),
		.first_ns = INT64_MIN,
	};
	struct pf_merge *m = pf_merge_new(e->db, &e->facts, &args, e->err);
	const struct pf_fe *fe;
	int rc = m ? 0 : -1;

	while (!rc && (fe = pf_merge_next(m, e->err))) {
		const struct pf_collider c = { fe->correlation, fe->start_ns,
					       PF_NO_TRACK };

		if (!pf_engine_call_link(e, fe))
			rc = engine_collide(e, (uint32_t)index, &c);
	}
	pf_merge_free(m);
	return rc || e->err->code ? -1 : 0;
}

/* Operators of a track that end behind the profiler's span. */
static int find_late_ops(struct pf_engine *e, size_t index)
{
	const struct pf_merge_args args = {
		.tracks = &e->tracks[index],
		.count = 1,
		.kinds = PF_KINDS_OP,
		.first_ns = INT64_MIN,
	};
	struct pf_merge *m = pf_merge_new(e->db, &e->facts, &args, e->err);
	const struct pf_fe *fe;

	while (m && !e->has_late_op && (fe = pf_merge_next(m, e->err)))
		e->has_late_op = pf_engine_ends_late(e, fe);
	pf_merge_free(m);
	return e->err->code ? -1 : 0;
}

int pf_engine_survey(struct pf_engine *e)
{
	for (size_t i = 0; i < e->track_count; i++)
		if (e->is_host[i] && count_kinds(e, i))
			return -1;
	if (count_steps(e))
		return -1;
	e->stop_track = find_stop_track(e);
	if (needs_numbers(e))
		for (size_t i = 0; i < e->track_count; i++)
			if (calls_on(&e->host[i]) && collect_numbers(e, i))
				return -1;
	if (find_trace_start(e))
		return -1;
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
		if (keep_link(links, fe->correlation, link, e->err))
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
	return engine_collide(e, fe->track, &c);
}

/* Turn the sorted links into a spool, the first call of a number wins. */
static int spool_links(struct pf_engine *e, struct pf_sorter *links)
{
	const int64_t *record;
	int64_t last = INT64_MIN;

	if (pf_sorter_finish(links, e->err))
		return -1;
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

static int walk(struct pf_engine *e, struct pf_merge *m, struct recent *recent,
		struct pf_sorter *links)
{
	const struct pf_fe *fe;

	/* Operators that torch drops by name make no calls. */
	while ((fe = pf_merge_next(m, e->err))) {
		if (pf_kind_in(fe->kind, PF_KINDS_CALL)) {
			if (see_call(e, recent, links, fe))
				return -1;
			continue;
		}
		pf_engine_open_op(e, fe, true);
	}
	return e->err->code ? -1 : 0;
}

int pf_engine_calls(struct pf_engine *e)
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
	m = pf_merge_new(e->db, &e->facts, &args, e->err);
	if (m && !walk(e, m, recent, links))
		rc = spool_links(e, links);
	engine_forget_ops(e);
	pf_merge_free(m);
	pf_sorter_free(links);
	free(recent);
	return rc;
}

/*
 * The ids of overhead events: each has the id of the event around it in the
 * profiler's C++ tree, on the stop thread.  That tree is not the one of
 * groups.h: all events are in it, and an event that ends closes all in it.
 */

#define DEPTH_MAX 16384

const struct pf_cxx_open *pf_cxx_top(struct pf_cxx_stack *s, int64_t start_ns)
{
	while (s->depth && s->open[s->depth - 1].first_end_ns < start_ns)
		s->depth--;
	return s->depth ? &s->open[s->depth - 1] : NULL;
}

void pf_cxx_push(struct pf_cxx_stack *s, int64_t closed_ns, int64_t end_ns,
		 int64_t id)
{
	if (s->depth >= DEPTH_MAX)
		return;
	s->open = pf_grow(s->open, &s->cap, s->depth + 1, sizeof(*s->open));
	if (s->depth && s->open[s->depth - 1].first_end_ns < closed_ns)
		closed_ns = s->open[s->depth - 1].first_end_ns;
	s->open[s->depth++] = (struct pf_cxx_open){ closed_ns, end_ns, id };
}

/* The id an event of the stop thread has of its own. */
static int64_t own_id(const struct pf_fe *fe)
{
	if (pf_kind_in(fe->kind, PF_KINDS_CALL))
		return fe->correlation;
	return fe->kind == PF_KIND_PYTHON ? 0 : fe->external_id;
}

static int see(struct pf_engine *e, struct pf_cxx_stack *s,
	       const struct pf_fe *fe)
{
	bool is_call = pf_kind_in(fe->kind, PF_KINDS_CALL);
	const struct pf_cxx_open *around;
	int64_t id;

	if (fe->kind == PF_KIND_CPU_OP)
		pf_engine_open_op(e, fe, true);
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

int pf_engine_overhead(struct pf_engine *e)
{
	struct pf_merge_args args = {
		.tracks = e->tracks,
		.count = e->track_count,
		.kinds = PF_KINDS_OP | PF_KINDS_CALL |
			 PF_KINDBIT(PF_KIND_PYTHON) |
			 PF_KINDBIT(PF_KIND_OVERHEAD),
		.columns = PF_COLBIT(PF_COL_SLOT + PF_SLOT_EV_IDX) |
			   PF_COLBIT(PF_COL_SLOT + PF_SLOT_EXTERNAL_ID) |
			   PF_COLBIT(PF_COL_SLOT + PF_SLOT_CORRELATION),
		.first_ns = INT64_MIN,
	};
	struct pf_cxx_stack stack = { 0 };
	const struct pf_fe *fe;
	struct pf_merge *m;
	bool *use;
	int rc = -1;

	if (!e->rules.overhead_claims ||
	    !pf_engine_has(e, PF_KINDBIT(PF_KIND_OVERHEAD)))
		return 0;
	e->overhead_ids = pf_spool_new(sizeof(int64_t), 1u << 17, e->temp_dir);
	use = choose_tracks(e);
	args.use = use;
	m = pf_merge_new(e->db, &e->facts, &args, e->err);
	if (!m)
		goto out;
	while ((fe = pf_merge_next(m, e->err)))
		if (see(e, &stack, fe))
			goto out;
	rc = e->err->code ? -1 : 0;
out:
	engine_forget_ops(e);
	pf_merge_free(m);
	free(stack.open);
	free(use);
	return rc;
}
