/* SPDX-License-Identifier: MIT */
/*
 * Threads of the host in one pass: the calls that the graph is made of, each
 * with the operator, line and module around it, and when a thread works.
 */
#include "analysis/path/path_impl.h"

#include "base/order.h"
#include "base/search.h"
#include "events/interval.h"
#include "events/nest.h"

/* What is open. */
struct frame {
	struct pf_nest_range range;
	uint32_t name, op, frame, module;
	bool is_user; /* frame is the user's */
	bool is_asleep;
};

static const struct frame outermost = { { 0, false }, PF_ID_NONE, PF_ID_NONE,
					PF_ID_NONE,   PF_ID_NONE, false,
					true };

struct reader {
	struct path *p;
	struct path_thread *thread;
	uint32_t number;  /* of the thread */
	uint32_t by_call; /* the next of p->by_call */
	struct pf_nest open;
	int64_t at_ns;   /* of the last event; INT64_MIN: there was none */
	bool was_asleep; /* just before that instant */
	bool has_around;
	struct path_around around; /* of the last call, and its number */
	uint32_t around_number;
	bool has_correlation;
	const struct pf_block *block;
	uint32_t corr_at, corr_event; /* in the dense column, and its event */
};

/* Calls that launched, by_call, are in the order of events. */
static uint32_t works_of(struct reader *r, int64_t event_id, uint32_t *first)
{
	struct path *p = r->p;
	uint32_t i = r->by_call;

	while (i < p->with_call && p->launched[i].launch_id < event_id)
		i++;
	*first = i;
	while (i < p->with_call && p->launched[i].launch_id == event_id)
		i++;
	r->by_call = i;
	return i - *first;
}

static int64_t correlation_of(struct reader *r, const struct pf_block *b,
			      uint32_t i)
{
	const uint32_t bit = 1u << PF_SLOT_CORRELATION;

	if (r->block != b || r->corr_event > i) {
		r->block = b;
		r->corr_at = r->corr_event = 0;
	}
	for (; r->corr_event < i; r->corr_event++)
		r->corr_at += (b->mask[r->corr_event] & bit) != 0;
	return b->mask[i] & bit ? b->slot[PF_SLOT_CORRELATION][r->corr_at] : -1;
}

/* Places are few, and calls of one follow each other. */
static uint32_t around_of(struct reader *r, uint32_t name,
			  const struct frame *f)
{
	const struct path_around around = { name, r->number, f->op, f->frame,
					    f->module };

	if (!r->has_around || memcmp(&around, &r->around, sizeof(around)) != 0)
		r->around_number = pf_intern_add(
			&r->p->arounds, (const char *)&around, sizeof(around));
	r->has_around = true;
	r->around = around;
	return r->around_number;
}

static void add_correlation(struct reader *r, int64_t correlation,
			    const struct path_call *c)
{
	struct path *p = r->p;

	p->correlations =
		pf_grow(p->correlations, &p->correlation_cap,
			(size_t)p->call_count + 1, sizeof(*p->correlations));
	p->correlations[p->call_count] = correlation;
	if (c->is_record)
		*pf_map_at(&p->record_at, (uint64_t)correlation) =
			p->call_count;
	if (c->is_stream_wait)
		*pf_map_at(&p->wait_at, (uint64_t)correlation) = p->call_count;
}

static int add_call(struct reader *r, const struct pf_block *b, uint32_t i,
		    int64_t event_id, const struct pf_name_class *class,
		    struct pf_err *err)
{
	struct path *p = r->p;
	const struct frame *f = pf_nest_top(&r->open);
	uint32_t first, count = works_of(r, event_id, &first);
	struct path_call *c;

	if (!count && !class->waits &&
	    !(r->has_correlation &&
	      (class->is_record || class->is_stream_wait)))
		return 0;
	if (count > PATH_OF_CALL_MAX)
		return pf_fail(err, PF_EDATA, "too much GPU work of one call");
	f = f ? f : &outermost;
	p->calls = pf_grow(p->calls, &p->call_cap, (size_t)p->call_count + 1,
			   sizeof(*p->calls));
	c = &p->calls[p->call_count];
	*c = (struct path_call){
		.start_ns = b->start_ns[i],
		.end_ns = pf_span_end(b->start_ns[i], b->dur_ns[i]),
		.around = around_of(r, b->name[i], f),
		.first_work = first,
		.needs = PF_PATH_NONE,
		.work_count = count & PATH_OF_CALL_MAX,
		.waits = class->waits & 7,
		.is_record = class->is_record,
		.is_stream_wait = class->is_stream_wait,
	};
	if (r->has_correlation)
		add_correlation(r, correlation_of(r, b, i), c);
	for (uint32_t k = first; k < first + count; k++)
		p->works[p->by_call[k]].call = p->call_count;
	r->thread->launch_count += count > 0;
	p->call_count++;
	return 0;
}

/* Time in which the thread works; what is close is one. */
static void add_busy(struct reader *r, int64_t start_ns, int64_t end_ns)
{
	struct path *p = r->p;
	struct path_busy *b = p->busy_count > r->thread->first_busy
				      ? &p->busy[p->busy_count - 1]
				      : NULL;

	if (b && start_ns - b->end_ns < PF_PATH_HANDOFF_NS) {
		if (end_ns > b->end_ns)
			b->end_ns = end_ns;
		return;
	}
	p->busy = pf_grow(p->busy, &p->busy_cap, (size_t)p->busy_count + 1,
			  sizeof(*p->busy));
	p->busy[p->busy_count++] =
		(struct path_busy){ start_ns, end_ns, r->was_asleep };
}

static void add_range(struct frame *f, unsigned kind, uint32_t name,
		      const struct pf_name_class *class)
{
	f->is_asleep = kind != PF_KIND_PYTHON || class->is_asleep;
	f->name = name;
	if (kind == PF_KIND_CPU_OP && !class->is_step)
		f->op = name;
	if (kind != PF_KIND_PYTHON)
		return;
	if (class->is_module)
		f->module = name;
	if (class->is_user_python || !f->is_user)
		f->frame = name;
	f->is_user |= class->is_user_python;
}

/* A new instant: what was open just before it? */
static void go_to(struct reader *r, int64_t at_ns)
{
	const struct frame *f;

	if (at_ns > r->at_ns) {
		pf_nest_drop(&r->open, at_ns - 1);
		f = pf_nest_top(&r->open);
		r->was_asleep = !f || f->is_asleep;
		r->at_ns = at_ns;
	}
	pf_nest_drop(&r->open, at_ns);
}

/* As steps count it: by its name, where no GPU works. */
static bool is_comm(const struct path *p, unsigned kind,
		    const struct pf_name_class *class)
{
	return !p->work_count && class->range == PF_CAUSE_COMM &&
	       (kind == PF_KIND_CPU_OP || kind == PF_KIND_ANNOTATION);
}

static int event(void *context, const struct pf_block *b, uint32_t i,
		 int64_t event_id, struct pf_err *err)
{
	struct reader *r = context;
	struct path *p = r->p;
	struct path_thread *t = r->thread;
	unsigned kind = pf_names_kind(p->names, b->type[i]);
	int64_t start = b->start_ns[i], end = pf_span_end(start, b->dur_ns[i]);
	bool is_call = kind == PF_KIND_RUNTIME || kind == PF_KIND_DRIVER;
	const struct pf_name_class *class;
	struct frame *f;

	if (kind > PF_KIND_OVERHEAD)
		return 0;
	class = pf_names_class(p->names, b->name[i], err);
	if (!class || path_check_time(start, end, err) < 0)
		return -1;
	go_to(r, start);
	if (is_call && add_call(r, b, i, event_id, class, err) < 0)
		return -1;
	if (is_call || kind == PF_KIND_CPU_OP) {
		if (!t->has_op && !t->has_call)
			t->first_ns = start;
		t->has_op |= !is_call;
		t->has_call |= is_call;
		t->last_ns = end > t->last_ns ? end : t->last_ns;
	}
	if ((is_call || (kind == PF_KIND_CPU_OP && !class->is_wrapper)) &&
	    (!p->has_bounds || end > p->w0_ns))
		add_busy(r, start, end);
	if (is_comm(p, kind, class))
		path_comms_add(p, t->pid, b->name[i], start, end);
	f = pf_nest_enter(&r->open,
			  (struct pf_nest_range){ end, kind == PF_KIND_PYTHON },
			  false);
	if (f)
		add_range(f, kind, b->name[i], class);
	return 0;
}

/* As pf_track_read(), with correlations where records ask for them. */
static int read_track(struct reader *r, const struct pf_track *t,
		      struct pf_err *err)
{
	uint64_t columns = PF_COLBIT(PF_COL_START) | PF_COLBIT(PF_COL_DUR) |
			   PF_COLBIT(PF_COL_NAME) | PF_COLBIT(PF_COL_TYPE);
	struct pf_cursor *c;
	const struct pf_block *b;
	uint32_t first;
	int rc;

	if (r->has_correlation)
		columns |= PF_COLBIT(PF_COL_SLOT + PF_SLOT_CORRELATION);
	c = pf_cursor_new(r->p->db, t->id, columns, err);
	rc = c ? 0 : -1;
	if (c)
		pf_cursor_ahead(c);
	while (!rc && (rc = pf_cursor_block(c, &b, &first, err)) == 1) {
		rc = 0;
		r->block = NULL;
		for (uint32_t i = 0; !rc && i < b->count; i++)
			rc = event(
				r, b, i,
				(int64_t)((uint64_t)t->id << 32 | (first + i)),
				err);
	}
	pf_cursor_free(c);
	return rc;
}

static int read_thread(struct reader *r, const struct pf_track *t,
		       struct pf_err *err)
{
	struct path *p = r->p;
	const int64_t first_id = (int64_t)((uint64_t)t->id << 32);
	int rc;

	r->number = p->thread_count++;
	r->thread = &p->threads[r->number];
	*r->thread = (struct path_thread){
		.track_id = t->id,
		.pid = t->pid,
		.last_ns = INT64_MIN,
		.first_call = p->call_count,
		.first_busy = p->busy_count,
		.first_point = PF_PATH_NONE,
	};
	r->by_call = (uint32_t)PF_SEARCH(i, p->with_call,
					 p->launched[i].launch_id < first_id);
	r->at_ns = INT64_MIN;
	pf_nest_clear(&r->open);
	rc = read_track(r, t, err);
	r->thread->call_count = p->call_count - r->thread->first_call;
	r->thread->busy_count = p->busy_count - r->thread->first_busy;
	return rc;
}

PF_ORDER(by_launch, struct path_launched, PF_UP(launch_id) PF_UP(work))

static size_t track_at(const struct path *p, int64_t launch_id)
{
	return PF_SEARCH(k, p->track_count,
			 p->tracks[k].id < pf_track_of(launch_id));
}

/* Those of one track beside each other: there they are nearly in order. */
static void gather_by_track(struct path *p)
{
	struct path_launched *out =
		pf_alloc(((size_t)p->with_call + 1) * sizeof(*out));
	uint32_t *at = pf_calloc(p->track_count + 2, sizeof(*at));

	for (uint32_t i = 0; i < p->with_call; i++)
		at[track_at(p, p->launched[i].launch_id) + 1]++;
	for (size_t k = 0; k < p->track_count; k++)
		at[k + 1] += at[k];
	for (uint32_t i = 0; i < p->with_call; i++)
		out[at[track_at(p, p->launched[i].launch_id)]++] =
			p->launched[i];
	free(at);
	free(p->launched);
	p->launched = out;
}

static void order_by_call(struct path *p)
{
	gather_by_track(p);
	path_sort(p->launched, p->with_call, sizeof(*p->launched), by_launch);
	p->by_call = pf_alloc(((size_t)p->with_call + 1) * sizeof(*p->by_call));
	for (uint32_t i = 0; i < p->with_call; i++)
		p->by_call[i] = p->launched[i].work;
}

int path_load_host(struct path *p, struct pf_err *err)
{
	struct reader r = { .p = p,
			    .open = { .width = sizeof(struct frame),
				      .outermost = &outermost },
			    .has_correlation = p->sync_count > 0 };
	int rc = 0;

	order_by_call(p);
	p->threads = pf_calloc(p->track_count + 1, sizeof(*p->threads));
	for (size_t i = 0; !rc && i < p->track_count; i++)
		if (!strcmp(p->tracks[i].class_name, "host"))
			rc = read_thread(&r, &p->tracks[i], err);
	pf_nest_release(&r.open);
	path_comms_settle(p);
	for (uint32_t i = 0; i < p->thread_count; i++)
		p->has_ops |= p->threads[i].has_op;
	free(p->launched);
	p->launched = NULL;
	return rc;
}

bool path_is_compute(const struct path *p, const struct path_thread *t)
{
	return p->has_ops ? t->has_op
			  : t->has_call || t->track_id == p->main_track;
}
