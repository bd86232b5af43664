/* SPDX-License-Identifier: MIT */
/*
 * One pass over a trace's GPU work in order of time.  A sweep sums up what the
 * GPU did, and what hosts did of a few causes beside it; the sums are read at
 * marks (starts and ends of steps, ends of collectives) as time passes them,
 * so that the time between any two is a difference of sums.  When launches are
 * known, a second pass in their order finds what each collective needed.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "base/mem.h"
#include "base/sat.h"
#include "events/by_event.h"
#include "analysis/ranks/digest_impl.h"

#define TIME_MAX (INT64_C(1) << 61) /* so that differences are numbers */

/* ---- marks ---- */

static bool is_earlier(const void *a, const void *b)
{
	const struct mark *x = a, *y = b;

	return x->at_ns < y->at_ns;
}

static void add_mark(struct making *m, int64_t at_ns, enum mark_kind kind,
		     size_t index)
{
	m->marks = pf_grow(m->marks, &m->mark_cap, m->mark_count + 1,
			   sizeof(*m->marks));
	m->marks[m->mark_count] =
		(struct mark){ .at_ns = at_ns, .kind = kind, .index = index };
	pf_heap_rise(m->marks, sizeof(*m->marks), m->mark_count++, is_earlier);
}

/*
 * What was done up to where the sweep is, each instant by its first set; what
 * hosts did while the GPU was idle.
 */
static void read_sums(const struct pf_sweep *s, struct sums *out)
{
	const unsigned hosts = ((1u << PF_HOST_CAUSES) - 1) << PF_DOING_IDLE;

	*out = (struct sums){ 0 };
	for (unsigned mask = 0; mask < 1u << (PF_DOING_IDLE + PF_HOST_CAUSES);
	     mask++) {
		unsigned doing =
			(unsigned)__builtin_ctz(mask | 1u << PF_DOING_IDLE);

		if (!s->by_mask[mask])
			continue;
		pf_sat_sum(
			&out->ns[doing < PF_DOING_IDLE ? doing : PF_DOING_IDLE],
			s->by_mask[mask]);
		for (unsigned rest = doing < PF_DOING_IDLE ? 0 : mask & hosts;
		     rest; rest &= rest - 1)
			pf_sat_sum(&out->host_ns[(unsigned)__builtin_ctz(rest) -
						 PF_DOING_IDLE],
				   s->by_mask[mask]);
	}
}

static void take_difference(const struct sums *to, const struct sums *from,
			    int64_t *ns, int64_t *host_ns)
{
	for (unsigned i = 0; i < PF_DOING_COUNT; i++)
		ns[i] = pf_sat_sub(to->ns[i], from->ns[i]);
	for (unsigned i = 0; host_ns && i < PF_HOST_CAUSES; i++)
		host_ns[i] = pf_sat_sub(to->host_ns[i], from->host_ns[i]);
}

static void pass_mark(struct making *m, const struct mark *mark)
{
	struct sums now;

	if (mark->kind == MARK_END &&
	    m->ends[mark->index].end_ns != mark->at_ns)
		return; /* another kernel of it ends later */
	read_sums(&m->sweep, &now);
	switch (mark->kind) {
	case MARK_END:
		m->ends[mark->index].sums = now;
		m->ends[mark->index].is_past = true;
		break;
	case MARK_STEP_START:
		m->step_sums[mark->index] = now;
		break;
	case MARK_STEP_END:
		take_difference(&now, &m->step_sums[mark->index],
				m->d.steps[mark->index].ns, NULL);
		break;
	}
}

/* ---- exposed communication ---- */

static void add_piece(struct making *m, size_t op, int64_t from_ns, int64_t ns)
{
	struct open_piece *last =
		m->piece_count ? &m->pieces[m->piece_count - 1] : NULL;

	if (op == NO_OP || ns <= 0)
		return;
	if (last && last->op == op && last->from_ns + last->ns == from_ns) {
		last->ns += ns;
		return;
	}
	if (m->d.ops[op].piece_count == PIECES_MAX) {
		pf_sat_sum(&m->d.ops[op].unsplit_ns, ns);
		return;
	}
	m->d.ops[op].piece_count++;
	m->pieces = pf_grow(m->pieces, &m->piece_cap, m->piece_count + 1,
			    sizeof(*m->pieces));
	m->pieces[m->piece_count++] = (struct open_piece){ op, from_ns, ns };
}

/* From the last start up to an instant: of the kernels that run, the oldest. */
static void expose_to(struct making *m, int64_t to_ns)
{
	int64_t at =
		m->exposed_ns > m->computed_ns ? m->exposed_ns : m->computed_ns;
	size_t kept = 0;

	for (size_t i = 0; i < m->running_count; i++) {
		struct running *k = &m->running[i];
		int64_t end = k->end_ns < to_ns ? k->end_ns : to_ns;

		if (end > at) {
			add_piece(m, k->op, at, end - at);
			at = end;
		}
		if (k->end_ns > to_ns)
			m->running[kept++] = *k;
	}
	m->running_count = kept;
	if (to_ns > m->exposed_ns)
		m->exposed_ns = to_ns;
}

/* ---- time goes on ---- */

static int add_host_to(struct making *m, int64_t to_ns, struct pf_err *err)
{
	while (m->host && m->host->start_ns <= to_ns) {
		pf_sweep_add(&m->sweep,
			     PF_DOING_IDLE + (unsigned)m->host->cause,
			     m->host->start_ns, m->host->end_ns);
		m->host = pf_sorter_next(m->hosts, err);
		if (err->code)
			return -1;
	}
	return 0;
}

/* All that starts before is known: pass the marks up to an instant. */
static int pass_to(struct making *m, int64_t to_ns, struct pf_err *err)
{
	while (m->mark_count && m->marks[0].at_ns <= to_ns) {
		struct mark mark = m->marks[0];

		m->marks[0] = m->marks[--m->mark_count];
		pf_heap_sink(m->marks, sizeof(*m->marks), m->mark_count, 0,
			     is_earlier);
		if (add_host_to(m, mark.at_ns, err) < 0)
			return -1;
		pf_sweep_to(&m->sweep, mark.at_ns);
		pass_mark(m, &mark);
	}
	if (add_host_to(m, to_ns, err) < 0)
		return -1;
	pf_sweep_to(&m->sweep, to_ns);
	return 0;
}

/* Computation begins: which collectives that have ended did it wait for? */
static void open_gates(struct making *m, int64_t start_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < m->closed_count; i++) {
		size_t op = m->closed[i];
		int64_t end_ns = m->ends[op].end_ns;

		if (end_ns > start_ns) {
			m->closed[kept++] = op;
			continue;
		}
		m->d.ops[op].gates = start_ns - end_ns <= GATE_NS &&
				     (!m->has_computed ||
				      m->computed_ns <= end_ns - BEFORE_NS);
	}
	m->closed_count = kept;
}

/* ---- collectives ---- */

static size_t add_op(struct making *m, const struct pf_gpu_event *ev,
		     const struct what *what)
{
	struct pf_digest *d = &m->d;
	size_t n = d->op_count, group = what->group;
	struct pf_digest_op *op;

	d->ops = pf_grow(d->ops, &d->op_cap, n + 1, sizeof(*d->ops));
	m->ends = pf_grow(m->ends, &m->end_cap, n + 1, sizeof(*m->ends));
	op = &d->ops[d->op_count++];
	*op = (struct pf_digest_op){ .start_ns = ev->start_ns,
				     .end_ns = ev->start_ns,
				     .ready_ns = ev->start_ns,
				     .step = -1,
				     .stream = ev->stream,
				     .bytes = what->bytes,
				     .size = what->size,
				     .group = (uint32_t)group,
				     .kind = what->sync };
	m->ends[n] = (struct op_end){ .end_ns = INT64_MIN };
	while (m->last_count <= group) {
		m->lasts = pf_grow(m->lasts, &m->last_cap, m->last_count + 1,
				   sizeof(*m->lasts));
		m->lasts[m->last_count++] = NO_OP;
	}
	if (m->lasts[group] != NO_OP) {
		const struct op_end *end = &m->ends[m->lasts[group]];
		struct sums now;

		read_sums(&m->sweep, &now);
		op->has_since = true;
		if (end->is_past)
			take_difference(&now, &end->sums, op->since_ns,
					op->host_ns);
	}
	m->lasts[group] = n;
	m->closed = pf_grow(m->closed, &m->closed_cap, m->closed_count + 1,
			    sizeof(*m->closed));
	m->closed[m->closed_count++] = n;
	return n;
}

static size_t take_comm(struct making *m, const struct pf_gpu_event *ev,
			const struct what *what, int64_t end_ns)
{
	uint64_t *place = NULL;
	size_t op;

	if (what->sync == PF_SYNC_NONE)
		return NO_OP;
	if (ev->comm.record_id)
		place = pf_map_at(&m->records, (uint64_t)ev->comm.record_id);
	if (place && *place != UINT64_MAX) {
		op = (size_t)*place;
	} else {
		op = add_op(m, ev, what);
		if (place)
			*place = op;
	}
	if (end_ns > m->ends[op].end_ns) {
		m->ends[op].end_ns = m->d.ops[op].end_ns = end_ns;
		m->ends[op].is_past = false;
		add_mark(m, end_ns, MARK_END, op);
	}
	return op;
}

/* ---- an event ---- */

static int add_launch(struct making *m, const struct pf_gpu_event *ev,
		      int64_t end_ns, size_t op, size_t gate,
		      struct pf_err *err)
{
	struct launched l = { .launch_id = ev->launch_id,
			      .event_id = ev->event_id,
			      .start_ns = ev->start_ns,
			      .end_ns = end_ns,
			      .op = op == NO_OP ? -1 : (int64_t)op,
			      .gate = gate == NO_OP ? -1 : (int64_t)gate };

	return pf_by_event_add(m->launches, &l, err);
}

static int take_computation(struct making *m, const struct pf_gpu_event *ev,
			    int64_t end_ns, struct pf_err *err)
{
	size_t gate;

	open_gates(m, ev->start_ns);
	gate = pf_digest_compute(m, ev->start_ns, end_ns);
	if (!m->has_computed || end_ns > m->computed_ns)
		m->computed_ns = end_ns;
	m->has_computed = true;
	if (pf_digest_count_kernel(m, ev, err) < 0)
		return -1;
	return add_launch(m, ev, end_ns, NO_OP, gate, err);
}

static int take_communication(struct making *m, const struct pf_gpu_event *ev,
			      int64_t end_ns, struct pf_err *err)
{
	size_t count = m->d.op_count, op;
	struct what what;

	if (pf_digest_find_what(m, ev, &what, err) < 0)
		return -1;
	op = take_comm(m, ev, &what, end_ns);
	if (what.p2p)
		pf_digest_take_p2p(m, ev, &what, end_ns);
	else
		pf_digest_take_other(m, ev->start_ns, end_ns);
	m->running = pf_grow(m->running, &m->running_cap, m->running_count + 1,
			     sizeof(*m->running));
	m->running[m->running_count++] = (struct running){ op, end_ns };
	if (op == NO_OP || m->d.op_count == count)
		return 0;
	return add_launch(m, ev, end_ns, op, NO_OP, err);
}

static int take(struct making *m, const struct pf_gpu_event *ev,
		struct pf_err *err)
{
	static const unsigned sets[PF_GPU_CLASSES] = {
		[PF_GPU_COMPUTE] = PF_DOING_COMPUTATION,
		[PF_GPU_COMM] = PF_DOING_COMMUNICATION,
		[PF_GPU_COPY] = PF_DOING_COPY,
		[PF_GPU_MEMSET] = PF_DOING_COPY,
	};
	int64_t end_ns = pf_span_end(ev->start_ns, ev->dur_ns);

	if (!m->has_begun) {
		m->has_begun = true;
		m->d.start_ns = ev->start_ns;
		if (m->mark_count && m->marks[0].at_ns < ev->start_ns)
			m->d.start_ns = m->marks[0].at_ns;
		m->d.end_ns = m->d.start_ns;
		m->exposed_ns = ev->start_ns;
		m->computed_ns = INT64_MIN;
		m->busy_ns = m->d.start_ns;
		pf_sweep_begin(&m->sweep, m->d.start_ns);
	}
	if (end_ns > m->d.end_ns)
		m->d.end_ns = end_ns;
	if (pass_to(m, ev->start_ns, err) < 0)
		return -1;
	expose_to(m, ev->start_ns);
	if (ev->class == PF_GPU_COMPUTE &&
	    take_computation(m, ev, end_ns, err) < 0)
		return -1;
	if (ev->class == PF_GPU_COMM &&
	    take_communication(m, ev, end_ns, err) < 0)
		return -1;
	if (sets[ev->class] == PF_DOING_COPY)
		pf_digest_take_other(m, ev->start_ns, end_ns);
	pf_sweep_add(&m->sweep, sets[ev->class], ev->start_ns, end_ns);
	return 0;
}

/* ---- the end of a trace ---- */

/* Pieces by collective, each from its start. */
static void settle_pieces(struct making *m)
{
	struct pf_digest *d = &m->d;
	size_t at = 0;

	d->pieces = pf_calloc(m->piece_count + 1, sizeof(*d->pieces));
	d->piece_count = m->piece_count;
	for (size_t i = 0; i < d->op_count; i++) {
		d->ops[i].piece_from = at;
		at += d->ops[i].piece_count;
		d->ops[i].piece_count = 0;
	}
	for (size_t i = 0; i < m->piece_count; i++) {
		const struct open_piece *p = &m->pieces[i];
		struct pf_digest_op *op = &d->ops[p->op];

		d->pieces[op->piece_from + op->piece_count++] =
			(struct pf_digest_piece){ p->from_ns - op->start_ns,
						  p->ns };
	}
}

static int64_t absolute(int64_t ns, int64_t base_ns)
{
	int64_t sum = pf_sat_add(ns, base_ns);

	return sum > TIME_MAX ? TIME_MAX : sum < -TIME_MAX ? -TIME_MAX : sum;
}

/* From the trace's own zero to the clock that it names. */
static void add_base(struct pf_digest *d, int64_t base_ns)
{
	d->start_ns = absolute(d->start_ns, base_ns);
	d->end_ns = absolute(d->end_ns, base_ns);
	d->first_ns = absolute(d->first_ns, base_ns);
	for (size_t i = 0; i < d->op_count; i++) {
		struct pf_digest_op *op = &d->ops[i];

		op->start_ns = absolute(op->start_ns, base_ns);
		op->end_ns = absolute(op->end_ns, base_ns);
		op->ready_ns = absolute(op->ready_ns, base_ns);
	}
	for (size_t i = 0; i < d->p2p_count; i++) {
		struct pf_digest_p2p *p = &d->p2ps[i];

		p->start_ns = absolute(p->start_ns, base_ns);
		p->end_ns = absolute(p->end_ns, base_ns);
	}
	for (size_t i = 0; i < d->step_count; i++) {
		d->steps[i].start_ns = absolute(d->steps[i].start_ns, base_ns);
		d->steps[i].end_ns = absolute(d->steps[i].end_ns, base_ns);
	}
}

static int finish(struct making *m, struct pf_err *err)
{
	struct sums sums;
	int64_t end_ns = m->d.end_ns;

	if (m->has_begun) {
		for (size_t i = 0; i < m->d.step_count; i++)
			if (m->d.steps[i].end_ns > end_ns)
				end_ns = m->d.steps[i].end_ns;
		expose_to(m, end_ns);
		if (pass_to(m, m->d.end_ns, err) < 0)
			return -1;
		read_sums(&m->sweep, &sums);
		memcpy(m->d.ns, sums.ns, sizeof(m->d.ns));
		if (pass_to(m, end_ns, err) < 0)
			return -1;
	}
	settle_pieces(m);
	if (pf_digest_settle_launches(m, err) < 0 ||
	    pf_digest_settle_p2p(m, err) < 0)
		return -1;
	pf_digest_settle_kernels(m);
	return 0;
}

/* ---- a trace ---- */

static void take_steps(struct making *m)
{
	struct pf_digest *d = &m->d;

	for (size_t i = 0; i < m->steps->count; i++) {
		const struct pf_step *s = &m->steps->items[i];

		if (s->trace_id != m->trace->trace_id || s->is_empty ||
		    s->end_ns <= m->trace->from_ns ||
		    s->start_ns >= m->trace->to_ns)
			continue;
		d->steps = pf_grow(d->steps, &d->step_cap, d->step_count + 1,
				   sizeof(*d->steps));
		d->steps[d->step_count++] =
			(struct pf_digest_step){ .step = s->step,
						 .start_ns = s->start_ns,
						 .end_ns = s->end_ns };
	}
	m->step_sums = pf_calloc(d->step_count + 1, sizeof(*m->step_sums));
	for (size_t i = 0; i < d->step_count; i++) {
		add_mark(m, d->steps[i].start_ns, MARK_STEP_START, i);
		add_mark(m, d->steps[i].end_ns, MARK_STEP_END, i);
	}
}

static int begin(struct making *m, const struct pf_window_trace *trace,
		 struct pf_err *err)
{
	m->trace = trace;
	m->d = (struct pf_digest){ .rank = trace->rank,
				   .world = -1,
				   .trace_id = trace->trace_id,
				   .first_ns = trace->first_ns };
	pf_sweep_init(&m->sweep);
	pf_map_init(&m->records);
	pf_map_init(&m->kernel_places);
	pf_map_init(&m->group_places);
	pf_map_init(&m->p2p_records);
	m->launches = pf_by_event_new(m->db, sizeof(struct launched),
				      PF_COLBIT(PF_COL_START));
	take_steps(m);
	return pf_digest_load_hosts(m, err);
}

static void end(struct making *m)
{
	pf_digest_release(&m->d);
	pf_map_release(&m->records);
	pf_map_release(&m->kernel_places);
	pf_map_release(&m->group_places);
	pf_by_event_free(m->launches);
	pf_sorter_free(m->hosts);
	free(m->marks);
	free(m->ends);
	free(m->step_sums);
	free(m->pieces);
	free(m->running);
	free(m->closed);
	free(m->lasts);
	pf_digest_end_p2p(m);
	memset(&m->trace, 0, sizeof(*m) - offsetof(struct making, trace));
}

static int hand_over(struct making *m, const struct pf_digest_sink *sink,
		     struct pf_err *err)
{
	const struct source *from = pf_digest_source(m);

	if (finish(m, err) < 0)
		return -1;
	if (from) {
		m->d.world = from->world;
		m->d.host = from->host ? pf_strdup(from->host) : NULL;
		add_base(&m->d, from->base_ns);
	}
	return sink->take(sink->context, &m->d, err);
}

/* Up to a trace, or the end: those without GPU work have digests, too. */
static int go_on(struct making *m, const struct pf_window *w, size_t *next,
		 const struct pf_window_trace *to,
		 const struct pf_digest_sink *sink, struct pf_err *err)
{
	for (;;) {
		int rc = 0;

		if (m->trace) {
			rc = hand_over(m, sink, err);
			end(m);
		}
		if (rc || *next == w->count)
			return rc;
		if (begin(m, &w->traces[(*next)++], err) < 0) {
			end(m);
			return -1;
		}
		if (m->trace == to)
			return 0;
	}
}

int pf_digests_make(struct pf_db *db, const struct pf_window *window,
		    const struct pf_digest_sink *sink, struct pf_err *err)
{
	struct pf_steps steps = { 0 };
	struct making m = { .db = db, .steps = &steps, .texts = { .db = db } };
	const struct pf_gpu_event *ev;
	size_t next = 0;
	int rc = pf_steps_load(db, window->steps, &steps, err);

	pf_digest_init_words(&m);
	if (!rc)
		rc = pf_digest_load_sources(&m, err);
	if (!rc) {
		m.names = pf_names_new(db, err);
		m.gpu = pf_gpu_new(db, window, PF_GPU_STARTS | PF_GPU_CALLS,
				   err);
		rc = m.names && m.gpu ? 0 : -1;
	}
	while (!rc && (rc = pf_gpu_next(m.gpu, &ev, err)) == 1) {
		rc = 0;
		if (ev->trace != m.trace)
			rc = go_on(&m, window, &next, ev->trace, sink, err);
		if (!rc)
			rc = take(&m, ev, err);
	}
	if (!rc)
		rc = go_on(&m, window, &next, NULL, sink, err);
	end(&m);
	pf_digest_release_words(&m);
	pf_names_free(m.names);
	pf_gpu_free(m.gpu);
	pf_texts_release(&m.texts);
	pf_steps_release(&steps);
	return rc;
}
