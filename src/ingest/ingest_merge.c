/* SPDX-License-Identifier: MIT */
/*
 * Each track's runs, merged into nesting order, become its blocks.  On the
 * way, with only the open spans in memory: the parent of every host event,
 * the launch calls by correlation with the operator around each, the
 * profiler's steps, and the rows of annotations.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ingest/ingest_impl.h"
#include "base/search.h"

/* A span that is still open, and the innermost operator at or above it. */
struct open_span {
	int64_t end_ns;
	uint32_t seq;
	uint32_t comm; /* innermost communication at or above it, 0 = none */
	int64_t op_id; /* 0 = none (id 0 never exists: tracks begin at 1) */
	bool is_python;
};

struct merging {
	struct pf_ingest *in;
	struct pf_block_writer *writer;
	struct pf_block *block;
	uint32_t track_id, seq, block_no;
	bool host;
	struct open_span *open;
	size_t open_count, open_cap;
	struct pf_later annotations;
	sqlite3_stmt *put_annotation;
	struct pf_ingest_device *device; /* made for the first line of one */
	/* what has a time begins in between; see find_times() */
	int64_t first_ns, last_ns;
	bool is_unset; /* what says 0 has none either */
};

/* ---- events without a time ---- */

/*
 * Who does not know when an event was writes 0 or -1 for it (a torch that lost
 * half of its times did), or a time of another clock; and one such event would
 * make the window hours or decades long.  So 0 is no time where all others are
 * an hour and ten times their own span away; and what is half a year and more
 * from where most events are is on no clock of theirs.  Times that do begin at
 * 0 pass: others follow them, or reach back to them.
 */
#define FAR_NS     (INT64_C(3600) * 1000000000)
#define FAR_TIMES  10
#define ERA_BITS   54 /* 2^54 ns are 208 days */
#define ERAS       ((size_t)1 << (63 - ERA_BITS))
#define READ_BYTES (64u << 10)

struct era {
	int64_t count, first_ns, last_ns;
};

static bool is_unset(int64_t start_ns)
{
	return start_ns == 0 || start_ns == -1 || start_ns == -1000;
}

static size_t era_of(int64_t start_ns)
{
	return (size_t)((start_ns + PF_TIME_MAX_NS + 1) >> ERA_BITS);
}

static void add_to_era(struct era *eras, int64_t count, int64_t first_ns,
		       int64_t last_ns)
{
	struct era *e = &eras[era_of(first_ns)];

	if (!e->count || first_ns < e->first_ns)
		e->first_ns = first_ns;
	if (!e->count || last_ns > e->last_ns)
		e->last_ns = last_ns;
	e->count += count;
}

/* A run is read only if its ends do not say where all of it is. */
static int add_run(const struct pf_ingest *in, const struct pf_run *run,
		   struct era *eras, struct pf_err *err)
{
	struct pf_run_reader r;
	int rc;

	if ((run->first_start_ns > 0 || run->last_start_ns < -1000) &&
	    era_of(run->first_start_ns) == era_of(run->last_start_ns)) {
		add_to_era(eras, run->count, run->first_start_ns,
			   run->last_start_ns);
		return 0;
	}
	pf_run_open(&r, in->runs, run, READ_BYTES);
	while ((rc = pf_run_next(&r, err)) == 1)
		if (!is_unset(r.event.start_ns))
			add_to_era(eras, 1, r.event.start_ns, r.event.start_ns);
	pf_run_close(&r);
	return rc;
}

/* Where most events are, and whether 0 is far from there. */
static void choose_era(struct merging *m, const struct era *eras)
{
	int64_t all = 0, most = 0;

	for (size_t i = 0; i < ERAS; i++) {
		size_t first = i;
		int64_t count = 0;

		for (; i < ERAS && eras[i].count; i++)
			count += eras[i].count;
		all += count;
		if (count <= most)
			continue;
		most = count;
		m->first_ns = eras[first].first_ns;
		m->last_ns = eras[i - 1].last_ns;
	}
	m->is_unset = most && m->first_ns >= FAR_NS &&
		      m->first_ns / FAR_TIMES >= m->last_ns - m->first_ns;
	if (most > all / 2)
		return;
	m->first_ns = INT64_MIN;
	m->last_ns = INT64_MAX;
	m->is_unset = false;
}

static int find_times(struct merging *m, struct pf_err *err)
{
	struct pf_ingest *in = m->in;
	struct era *eras = pf_calloc(ERAS, sizeof(*eras));
	int rc = 0;

	for (size_t i = in->first_track; i < in->track_count && !rc; i++) {
		const struct pf_ingest_track *t = pf_ingest_track(in, i);

		for (size_t k = 0; k < t->run_count && !rc; k++)
			rc = add_run(in, &t->runs[k], eras, err);
	}
	choose_era(m, eras);
	free(eras);
	return rc;
}

/* A range may last from 0 to the others; work of a GPU does not take hours. */
static bool has_time(const struct merging *m, const struct pf_ingest_track *t,
		     const struct pf_run_event *ev)
{
	if (!is_unset(ev->start_ns))
		return ev->start_ns >= m->first_ns &&
		       ev->start_ns <= m->last_ns;
	return !m->is_unset || (t->class_letter != 'g' &&
				ev->start_ns + ev->dur_ns >= m->first_ns);
}

static void leave_out(struct merging *m, const struct pf_run_event *ev)
{
	pf_repair_note(&m->in->repairs, PF_SKIP_NO_TIME, 1, PF_OFFSET_UNKNOWN);
	m->in->kind_count[m->in->type[ev->type].kind]--;
}

/* ---- the tree ---- */

/*
 * Real stacks stay far below these; they bound time and memory on a track
 * whose spans overlap without nesting.
 */
#define OPEN_MAX   4096
#define SEARCH_MAX 512

/*
 * Close what has ended, then find the innermost span that contains the event.
 * A span that overlaps without containing it stays open but is no parent.
 */
static const struct open_span *enclosing(struct merging *m, int64_t start_ns,
					 int64_t end_ns)
{
	while (m->open_count && m->open[m->open_count - 1].end_ns <= start_ns &&
	       m->open[m->open_count - 1].end_ns < end_ns)
		m->open_count--;
	for (size_t i = m->open_count, n = 0; i-- > 0 && n < SEARCH_MAX; n++)
		if (m->open[i].end_ns >= end_ns && m->open[i].end_ns > start_ns)
			return &m->open[i];
	return NULL;
}

static void drop_ended(struct merging *m, int64_t start_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < m->open_count; i++)
		if (m->open[i].end_ns > start_ns)
			m->open[kept++] = m->open[i];
	m->open_count = kept;
}

/*
 * How many open spans hold what begins now before this one does: what outlives
 * a Python function that it began in goes under that (events/nest.h).
 */
static size_t count_over(const struct merging *m, int64_t end_ns)
{
	size_t over = 0;

	for (size_t i = m->open_count, n = 1; i-- > 0 && n <= SEARCH_MAX; n++) {
		if (m->open[i].end_ns >= end_ns)
			break;
		if (m->open[i].is_python)
			over = n;
	}
	return over;
}

static void open_span(struct merging *m, struct open_span span,
		      int64_t start_ns)
{
	size_t over;

	if (m->open_count == OPEN_MAX)
		drop_ended(m, start_ns);
	if (m->open_count == OPEN_MAX)
		return;
	m->open = pf_grow(m->open, &m->open_cap, m->open_count + 1,
			  sizeof(*m->open));
	over = count_over(m, span.end_ns);
	if (over) {
		struct open_span *at = &m->open[m->open_count - over];

		memmove(at + 1, at, over * sizeof(*at));
		span.is_python = false; /* as pf_nest_enter() */
	}
	m->open[m->open_count++ - over] = span;
}

/* ---- what falls out ---- */

static int64_t event_id(const struct merging *m)
{
	return (int64_t)m->track_id << 32 | m->seq;
}

/* The value of a slot, "none" if the event has it not. */
static int64_t slot_of(const struct pf_run_event *ev, enum pf_slot slot,
		       int64_t none)
{
	uint32_t bit = UINT32_C(1) << slot;

	return ev->mask & bit
		       ? ev->slots[__builtin_popcount(ev->mask & (bit - 1))]
		       : none;
}

static int note_call(struct merging *m, const struct pf_run_event *ev,
		     int64_t op_id, uint32_t comm, struct pf_err *err)
{
	struct pf_ingest_call call = {
		.start_ns = ev->start_ns,
		.event_id = event_id(m),
		.op_id = op_id,
		.dur_ns = ev->dur_ns,
		.comm = comm,
	};

	call.correlation = slot_of(ev, PF_SLOT_CORRELATION, 0);
	return call.correlation > 0 ? pf_sorter_add(m->in->calls, &call, err)
				    : 0;
}

static int64_t step_number(const struct pf_ingest *in, uint32_t name)
{
	size_t low =
		PF_SEARCH(i, in->step_name_count, in->step_names[i].id < name);

	return low < in->step_name_count && in->step_names[low].id == name
		       ? in->step_names[low].step
		       : -1;
}

/* A step says its number in its name or in an argument. */
static void note_step(struct merging *m, const struct pf_run_event *ev)
{
	struct pf_ingest *in = m->in;
	int64_t step = slot_of(ev, PF_SLOT_STEP, -16) / 16;

	if (step < 0 && m->host)
		step = step_number(in, ev->name);
	if (step < 0)
		return;
	in->steps = pf_grow(in->steps, &in->steps_cap, in->step_count + 1,
			    sizeof(*in->steps));
	in->steps[in->step_count++] =
		(struct pf_ingest_step){ .step = step,
					 .start_ns = ev->start_ns,
					 .dur_ns = ev->dur_ns,
					 .event_id = event_id(m),
					 .of_device = !m->host };
}

/* Devices have steps once more: they count where the host has none. */
static void choose_steps(struct pf_ingest *in)
{
	size_t kept = 0;
	bool has_host = false;

	for (size_t i = 0; i < in->step_count; i++)
		has_host |= !in->steps[i].of_device;
	for (size_t i = 0; i < in->step_count; i++)
		if (!has_host || !in->steps[i].of_device)
			in->steps[kept++] = in->steps[i];
	in->step_count = kept;
}

struct annotation {
	int64_t start_ns, dur_ns;
};

/*
 * Rows of annotations wait until all blocks are written: otherwise the two
 * threads would take turns in the file as chance has it.
 */
static int note_annotation(struct merging *m, const struct pf_run_event *ev,
			   struct pf_err *err)
{
	const struct annotation span = { ev->start_ns, ev->dur_ns };
	const struct pf_later_row row = { .a = event_id(m),
					  .b = ev->name,
					  .first = (const char *)&span,
					  .first_len = sizeof(span) };

	return pf_later_put(&m->annotations, m->in->directory, &row, err);
}

static int put_annotation(void *arg, const struct pf_later_row *row,
			  struct pf_err *err)
{
	struct merging *m = arg;
	sqlite3_stmt *st = m->put_annotation;
	struct annotation span;
	int rc;

	memcpy(&span, row->first, sizeof(span));
	sqlite3_bind_int64(st, 1, row->a);
	sqlite3_bind_int64(st, 2, m->in->trace_id);
	sqlite3_bind_int64(st, 3, span.start_ns);
	sqlite3_bind_int64(st, 4, span.dur_ns);
	sqlite3_bind_int64(st, 5, row->b);
	rc = pf_db_step(m->in->db, st, err);
	sqlite3_reset(st);
	return rc < 0 ? -1 : 0;
}

static int put_annotations(struct merging *m, struct pf_err *err)
{
	int rc = -1;

	m->put_annotation = pf_db_prepare(
		m->in->db,
		"INSERT INTO annotation(event_id, trace_id, start_ns, dur_ns,"
		" name_id) VALUES(?1, ?2, ?3, ?4, ?5)",
		err);
	if (m->put_annotation)
		rc = pf_later_each(&m->annotations, put_annotation, m, err);
	sqlite3_finalize(m->put_annotation);
	return rc;
}

/* A host event: parent distance in *parent, and the by-products. */
static int host_event(struct merging *m, const struct pf_run_event *ev,
		      uint32_t *parent, struct pf_err *err)
{
	int64_t end_ns = ev->start_ns + ev->dur_ns;
	const struct open_span *p = enclosing(m, ev->start_ns, end_ns);
	int64_t op_id = p ? p->op_id : 0;
	uint32_t comm =
		pf_ingest_comm_enter(m->in, p ? p->comm : 0, ev, event_id(m));
	unsigned kind = m->in->type[ev->type].kind;

	*parent = p ? m->seq - p->seq : 0;
	if (kind == PF_KIND_CPU_OP)
		op_id = event_id(m);
	if (ev->dur_ns > 0)
		open_span(m,
			  (struct open_span){ end_ns, m->seq, comm, op_id,
					      kind == PF_KIND_PYTHON },
			  ev->start_ns);
	if (kind == PF_KIND_RUNTIME || kind == PF_KIND_DRIVER)
		return note_call(m, ev, op_id, comm, err);
	if (kind == PF_KIND_ANNOTATION || kind == PF_KIND_CPU_OP)
		note_step(m, ev);
	return kind == PF_KIND_ANNOTATION ? note_annotation(m, ev, err) : 0;
}

/* ---- blocks ---- */

static void add_inline(struct pf_buf *out, const char *text, uint32_t len)
{
	unsigned char head[4] = { (unsigned char)len, (unsigned char)(len >> 8),
				  (unsigned char)(len >> 16),
				  (unsigned char)(len >> 24) };

	pf_buf_add(out, head, sizeof(head));
	pf_buf_add(out, text, len);
}

static void add_to_block(struct pf_block *b, const struct pf_run_event *ev,
			 uint32_t parent)
{
	uint32_t i = b->count++;
	const int64_t *value = ev->slots;

	b->start_ns[i] = ev->start_ns;
	b->dur_ns[i] = ev->dur_ns;
	b->order[i] = ev->order;
	b->name[i] = ev->name;
	b->type[i] = ev->type;
	b->args[i] = ev->args;
	b->parent[i] = parent;
	b->mask[i] = ev->mask;
	for (uint32_t mask = ev->mask; mask; mask &= mask - 1) {
		int s = __builtin_ctz(mask);

		b->slot[s][b->slot_count[s]++] = *value++;
	}
	if (ev->name == PF_ID_INLINE)
		add_inline(&b->inline_text, ev->inline_name,
			   ev->inline_name_len);
	if (ev->args == PF_ID_INLINE)
		add_inline(&b->inline_text, ev->inline_args,
			   ev->inline_args_len);
}

static void put_block(struct merging *m)
{
	pf_block_writer_put(m->writer, m->block, m->track_id, m->block_no++);
	m->block = NULL;
}

static void note_span(struct pf_ingest_track *t, const struct pf_run_event *ev)
{
	int64_t end_ns = ev->start_ns + ev->dur_ns;

	if (!t->event_count++)
		t->first_ns = ev->start_ns, t->last_ns = end_ns;
	if (end_ns > t->last_ns)
		t->last_ns = end_ns;
}

/* An event on a line of a device, with the type that it has there. */
static int device_event(struct merging *m, const struct pf_ingest_track *t,
			const struct pf_run_event **ev,
			struct pf_run_event *own, struct pf_err *err)
{
	if (!t->line)
		return 0;
	if (!m->device)
		m->device = pf_ingest_device_new(m->in);
	*own = **ev;
	if (pf_ingest_device_event(m->in, m->device, t, own, err))
		return -1;
	m->in->kind_count[m->in->type[(*ev)->type].kind]--;
	m->in->kind_count[m->in->type[own->type].kind]++;
	*ev = own;
	return 0;
}

/*
 * Arrows that begin on this track before a time belong to what is innermost
 * where they begin, whatever else begins there.
 */
static int resolve_arrows(struct merging *m, int64_t before_ns,
			  struct pf_err *err)
{
	int64_t ns;

	while (pf_ingest_arrow_begins(m->in->arrows, m->track_id - 1, before_ns,
				      &ns)) {
		const struct open_span *p = enclosing(m, ns, ns);

		if (pf_ingest_arrow_resolve(m->in->arrows, p ? p->op_id : 0,
					    p ? p->comm : 0, err))
			return -1;
	}
	return 0;
}

static int one_event(struct merging *m, struct pf_ingest_track *t,
		     const struct pf_run_event *ev, struct pf_err *err)
{
	struct pf_run_event own;
	uint32_t parent = 0;

	if (device_event(m, t, &ev, &own, err))
		return -1;
	if (m->host &&
	    ((m->in->arrows && resolve_arrows(m, ev->start_ns, err)) ||
	     host_event(m, ev, &parent, err)))
		return -1;
	if (m->in->type[ev->type].kind == PF_KIND_GPU_ANNOTATION)
		note_step(m, ev);
	if (!m->block)
		m->block = pf_block_writer_take(m->writer);
	if (!m->block)
		return pf_fail(err, PF_EDB, "cannot write blocks");
	add_to_block(m->block, ev, parent);
	note_span(t, ev);
	if (m->seq == UINT32_MAX)
		return pf_fail(err, PF_ELIMIT,
			       "more events on one track than "
			       "can be numbered");
	m->seq++;
	if (m->block->count == PF_BLOCK_EVENTS)
		put_block(m);
	return 0;
}

static int merge_track(struct merging *m, struct pf_ingest_track *t,
		       struct pf_err *err)
{
	const struct pf_run_event *ev;
	struct pf_run_heap *heap;
	int rc;

	if (t->has_begin_end && pf_ingest_pair(m->in, t, err))
		return -1;
	m->track_id =
		(uint32_t)(m->in->first_track + (size_t)(t - m->in->tracks)) +
		1;
	m->seq = m->block_no = 0;
	m->host = t->class_letter == 'h';
	m->open_count = 0;
	heap = pf_run_heap_new(m->in->runs, t->runs, t->run_count);
	while ((rc = pf_run_heap_next(heap, &ev, err)) > 0)
		if (!has_time(m, t, ev)) {
			leave_out(m, ev);
		} else if (one_event(m, t, ev, err)) {
			rc = -1;
			break;
		}
	if (!rc && m->host)
		rc = resolve_arrows(m, INT64_MAX, err);
	pf_run_heap_free(heap);
	free(t->runs);
	t->runs = NULL;
	t->run_count = t->runs_cap = 0;
	if (m->block && !rc)
		put_block(m);
	return rc;
}

static void add_up(struct pf_ingest *in, const struct pf_ingest_track *t)
{
	if (!t->event_count)
		return;
	if (!in->stored_count || t->first_ns < in->first_ns)
		in->first_ns = t->first_ns;
	if (!in->stored_count || t->last_ns > in->last_ns)
		in->last_ns = t->last_ns;
	in->stored_count += t->event_count;
}

int pf_ingest_merge(struct pf_ingest *in, struct pf_err *err)
{
	struct merging m = { .in = in, .writer = pf_block_writer_new(in) };
	struct pf_err later = { 0 };
	int rc = find_times(&m, err);

	for (size_t i = in->first_track; i < in->track_count && !rc; i++) {
		rc = merge_track(&m, pf_ingest_track(in, i), err);
		add_up(in, pf_ingest_track(in, i));
	}
	/* The writer's own error says more than "cannot write blocks". */
	if (pf_block_writer_finish(m.writer, &later)) {
		*err = later;
		rc = -1;
	}
	choose_steps(in);
	if (!rc)
		rc = pf_ingest_device_types(in, m.device, err);
	if (!rc)
		rc = put_annotations(&m, err);
	pf_later_release(&m.annotations);
	pf_ingest_device_free(m.device);
	free(m.open);
	return rc;
}
