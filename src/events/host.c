/* SPDX-License-Identifier: MIT */
/*
 * Threads are a heap by the next span of each.  A span that ends at or before
 * the largest end of its class on its thread adds nothing to any union.
 */
#include "config.h"

#include "events/host.h"

#include "base/heap.h"
#include "base/intern.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/order.h"
#include "base/sat.h"
#include "base/search.h"
#include "events/gpu.h"
#include "events/interval.h"
#include "events/nest.h"
#include "events/step.h"
#include "events/traces.h"
#include "events/window.h"
#include "store/cursor.h"
#include "store/kept.h"
#include "store/query.h"
#include "store/texts.h"

struct thread {
	struct pf_cursor *cursor;
	const struct pf_block *block;
	int64_t track_id;
	uint32_t place;
	int64_t covered_to[PF_HOST_CLASSES];
	struct pf_host_span span;
};

struct pf_host {
	struct pf_db *db;
	struct thread *threads;
	size_t open, cap;
	struct pf_names *names;
	struct pf_map steps; /* string.id of ranges that --steps names */
};

/* Ranges that --steps names are steps and no work. */
static int add_steps(struct pf_host *h, const char *pattern)
{
	PF_AUTO(pf_step_regex_freed)
	struct pf_step_regex *regex = pf_step_regex_new(pattern, h->db->err);

	return regex ? pf_step_regex_ids(regex, h->db, &h->steps) : -1;
}

static bool is_step(const struct pf_host *h, const struct pf_name_class *class,
		    uint32_t name)
{
	return class->is_step ||
	       (h->steps.count && pf_map_has(&h->steps, name));
}

/* The class of an event by its kind and name; PF_HOST_CLASSES: it has none. */
static enum pf_host_class classify(struct pf_host *h, unsigned kind,
				   const struct pf_name_class *class,
				   uint32_t name)
{
	if (kind == PF_KIND_RUNTIME || kind == PF_KIND_DRIVER)
		return PF_HOST_RUNTIME;
	if (class->range == PF_CAUSE_DATA)
		return PF_HOST_DATA;
	/* TensorFlow has no categories, only names */
	if (kind == PF_KIND_HOST || is_step(h, class, name))
		return PF_HOST_CLASSES;
	return class->range == PF_CAUSE_COMM ? PF_HOST_COMM : PF_HOST_CPU;
}

/* An event as a span: 1, 0 if it adds nothing to its thread, or -1. */
static int take(struct pf_host *h, struct thread *t, uint32_t i)
{
	const struct pf_block *b = t->block;
	unsigned kind = pf_names_kind(h->names, b->type[i]);
	const struct pf_name_class *name;
	enum pf_host_class class;
	int64_t end;

	if (kind != PF_KIND_RUNTIME && kind != PF_KIND_DRIVER &&
	    kind != PF_KIND_CPU_OP && kind != PF_KIND_ANNOTATION &&
	    kind != PF_KIND_HOST)
		return 0;
	name = pf_names_class(h->names, b->name[i]);
	PF_TRY(!name);
	class = classify(h, kind, name, b->name[i]);
	end = pf_span_end(b->start_ns[i], b->dur_ns[i]);
	if (class == PF_HOST_CLASSES)
		return 0;
	t->span = (struct pf_host_span){ .start_ns = b->start_ns[i],
					 .end_ns = end,
					 .track_id = t->track_id,
					 .class = class };
	if (class == PF_HOST_RUNTIME) {
		t->span.is_sync = name->is_sync;
		t->span.is_launch = name->launches != PF_LAUNCHES_NONE;
		t->span.is_kernel_launch = name->launches == PF_LAUNCHES_KERNEL;
	}
	/* within another it adds no time, but counts */
	if (end <= t->covered_to[class])
		return t->span.is_sync || t->span.is_launch;
	t->covered_to[class] = end;
	return 1;
}

/* The next span of a thread that adds something: 1, 0 or -1. */
static int advance(struct pf_host *h, struct thread *t)
{
	for (;;) {
		uint32_t first;
		int rc = 0;

		while (!rc && t->block && t->place < t->block->count)
			rc = take(h, t, t->place++);
		if (rc)
			return rc;
		rc = pf_cursor_block(t->cursor, &t->block, &first, h->db->err);
		if (rc <= 0)
			return rc;
		t->place = 0;
	}
}

static bool is_earlier(const void *a, const void *b)
{
	const struct thread *x = a, *y = b;

	return x->span.start_ns < y->span.start_ns;
}

static int open_thread(void *context, const struct pf_track *track)
{
	static const uint64_t columns =
		PF_COLBIT(PF_COL_START) | PF_COLBIT(PF_COL_DUR) |
		PF_COLBIT(PF_COL_NAME) | PF_COLBIT(PF_COL_TYPE);
	struct pf_host *h = context;
	struct thread *t;
	int rc;

	PF_ROOM(h->threads, h->cap, h->open + 1);
	t = &h->threads[h->open];
	memset(t, 0, sizeof(*t));
	for (size_t i = 0; i < PF_HOST_CLASSES; i++)
		t->covered_to[i] = INT64_MIN;
	t->track_id = track->id;
	t->cursor = pf_cursor_new(h->db, track->id, columns);
	rc = advance(h, t);
	if (rc == 1)
		h->open++;
	else
		pf_cursor_free(t->cursor);
	return rc < 0 ? -1 : 0;
}

struct pf_host *pf_host_new(struct pf_db *db, int64_t trace_id,
			    const char *steps)
{
	struct pf_host *h = pf_calloc(1, sizeof(*h));

	h->db = db;
	h->names = pf_names_new(db);
	if (h->names && !(steps && add_steps(h, steps)) &&
	    !pf_host_tracks(db, trace_id, open_thread, h)) {
		pf_heap_make(h->threads, sizeof(*h->threads), h->open,
			     is_earlier);
		return h;
	}
	pf_host_free(h);
	return NULL;
}

void pf_host_free(struct pf_host *h)
{
	if (!h)
		return;
	for (size_t i = 0; i < h->open; i++)
		pf_cursor_free(h->threads[i].cursor);
	free(h->threads);
	pf_names_free(h->names);
	pf_map_release(&h->steps);
	free(h);
}

int pf_host_next(struct pf_host *h, struct pf_host_span *out)
{
	struct thread *top = h->threads; /* NULL: it had none */
	int rc;

	if (!h->open)
		return 0;
	*out = top->span;
	rc = advance(h, top);
	PF_TRY(rc < 0);
	if (rc == 0) {
		pf_cursor_free(top->cursor);
		h->threads[0] = h->threads[--h->open];
	}
	pf_heap_sink(h->threads, sizeof(*top), h->open, 0, is_earlier);
	return 1;
}

/*
 * Invariant: open holds the events that were taken in and had not ended when
 * the last of them began.  What an event passes on to
 * those inside it (cause, op, frame) is worked out once, when it is pushed.
 */

/* Calls of a kind that are remembered: more than wait in a queue. */
#define CALLS_MAX 2048

struct frame {
	struct pf_nest_range range;
	bool is_user; /* place.frame is the user's */
	bool in_block;
	uint32_t inherited; /* cause that holds for all inside */
	uint32_t own;       /* name, if it is one that users know */
	struct pf_inner inner;
	struct pf_place place;
};

/* The last calls of a kind: a ring. */
struct calls {
	struct past_call {
		uint32_t seq;
		struct pf_place place;
	} * items;
	size_t count; /* that were ever put in */
};

struct pf_walk {
	struct pf_names *names;
	const struct pf_pageable *pageable;
	const struct pf_first_uses *firsts;
	struct pf_cursor *cursor;
	const struct pf_block *block; /* NULL: read the next */
	uint32_t first_seq, at;
	bool is_ended;
	int64_t track_id;
	struct pf_nest open;        /* struct frame */
	struct pf_block_call last;  /* that blocks */
	struct pf_block_call found; /* the same, of streams or a first use */
	bool has_found;
	struct calls graphs, waits; /* that launch one; of streams */
};

static const struct pf_place nowhere = { PF_CAUSE_UNRECORDED, PF_ID_NONE,
					 PF_ID_NONE,          PF_ID_NONE,
					 PF_ID_NONE,          PF_ID_NONE };

static const struct frame outermost = {
	.inherited = PF_CAUSE_UNRECORDED,
	.place = { PF_CAUSE_UNRECORDED, PF_ID_NONE, PF_ID_NONE, PF_ID_NONE,
		   PF_ID_NONE, PF_ID_NONE },
	.inner = { .op_seq = UINT32_MAX,
		   .name = PF_ID_NONE,
		   .module = PF_ID_NONE },
};

/* ---- copies from pageable memory ---- */

static void free_pageable(void *p)
{
	free(((struct pf_pageable *)p)->ids);
	free(p);
}

static void *read_pageable(struct pf_db *db, const char *ignored)
{
	struct pf_pageable *p = pf_calloc(1, sizeof(*p));
	PF_STMT(stmt) = pf_named_prepare(db, "pageable_copies", db->err);
	size_t cap = 0;
	int rc = stmt ? 1 : -1;

	(void)ignored;
	while (rc > 0 && (rc = pf_db_step(db, stmt, db->err)) == 1)
		*PF_ONE_MORE(p->ids, p->count, cap) =
			sqlite3_column_int64(stmt, 0);
	if (!rc)
		return p;
	free_pageable(p);
	return NULL;
}

const struct pf_pageable *pf_pageable(struct pf_db *db)
{
	return pf_memo_get(db, read_pageable, free_pageable, NULL);
}

static bool has_id(const int64_t *ids, size_t count, int64_t id)
{
	size_t i;

	if (!count || id < ids[0] || id > ids[count - 1])
		return false;
	i = PF_SEARCH(k, count, ids[k] < id);
	return ids[i] == id;
}

/* ---- first uses ---- */

#define FIRST_NS       PF_FIRST_LEAST_NS /* or longer, and */
#define FIRST_TIMES    20       /* as long as the median of its name; */
#define FIRST_ALONE_NS 1000000  /* or longer, of a name that has no others */
#define FIRST_CALLS    2        /* of a name; or one of a few that take */
#define FIRST_HUGE_NS  10000000 /* ... as long as no stall */
#define FIRST_HUGE     3
#define LONG_MAX       256  /* of a name: others are not looked at, nor are */
#define NAMES_MAX      1024 /* other names, of which operators get half, */
#define FIRSTS_MAX     1024 /* nor more calls of a trace, or operators, */
			    /* whose work each may see */

/* Lengths by their highest bit and the three below it. */
#define SUB  3
#define BINS (64 << SUB)

static size_t bin_of(int64_t ns)
{
	int top;

	if (ns < 1 << SUB)
		return ns < 0 ? 0 : (size_t)ns;
	top = 63 - __builtin_clzll((unsigned long long)ns);
	return (size_t)(top - SUB + 1) << SUB |
	       ((uint64_t)ns >> (top - SUB) & ((1 << SUB) - 1));
}

/* The least length in a bin. */
static int64_t least_of(size_t bin)
{
	size_t top = bin >> SUB, low = bin & ((1 << SUB) - 1);

	return top ? (int64_t)(((size_t)1 << SUB | low) << (top - 1))
		   : (int64_t)low;
}

/* The calls of a name in a trace, or its operators. */
struct named {
	int64_t count, long_count, huge_count;
	int64_t sum_ns;
	int64_t first_ns[FIRST_CALLS]; /* when the first ones began */
	uint32_t bins[BINS];
};

/* A call that may be a first use, or an operator by its own time. */
struct lengthy {
	int64_t trace_id, start_ns, end_ns, ns, event_id;
	int64_t count, sum_ns; /* of its name */
	struct pf_union busy;  /* work while it goes on */
	uint32_t name;
	bool is_kernel;     /* it launches kernels, */
	bool is_copy;       /* or copies: those may take long, too */
	bool is_new_kernel; /* the first of their name; an operator one, too */
	bool is_early;      /* one of the first of its name, or of few */
	bool is_op, is_first; /* of an operator: a first use */
};

/* An operator or call; ns: an operator's less what is in it. */
struct call {
	int64_t start_ns, end_ns, ns, event_id;
	uint32_t name;
};

/* What is open on a thread. */
struct range {
	int64_t end_ns;
	bool is_op;
	struct call call;
};

static const struct range nothing;

struct firsts {
	struct pf_db *db;
	struct pf_names *texts;
	struct pf_nest open; /* struct range */
	/* By name: its place in names and 1, or 0; behind them that of texts
	 * that are no string of the database. */
	uint32_t *places;
	struct named *names;
	size_t name_count, name_cap;
	struct lengthy *calls;
	size_t count, cap, from; /* from: of the trace at hand */
	struct pf_map with_work; /* traces that have any */
	struct pf_ints *links;   /* of work, as far as one was asked for */
	const struct pf_track *track;
	bool no_ops;
};

static struct named *named_of(struct firsts *f, uint32_t name, bool is_op)
{
	const size_t count = pf_names_count(f->texts);
	uint32_t *place = &f->places[name < count ? name : count];

	if (!*place) {
		if (f->name_count >= (size_t)NAMES_MAX >> is_op)
			return NULL;
		*PF_ONE_MORE(f->names, f->name_count, f->name_cap) =
			(struct named){ .first_ns = { INT64_MAX, INT64_MAX } };
		*place = (uint32_t)f->name_count;
	}
	return &f->names[*place - 1];
}

static void count_call(struct firsts *f, const struct call *c,
		       const struct pf_name_class *class)
{
	struct named *n = named_of(f, c->name, !class);
	int64_t start = c->start_ns;

	if (!n)
		return;
	n->count++;
	n->huge_count += c->ns >= FIRST_HUGE_NS;
	pf_sat_sum(&n->sum_ns, c->ns);
	n->bins[bin_of(c->ns)]++;
	for (size_t i = 0; i < FIRST_CALLS; i++) {
		int64_t other = n->first_ns[i];

		if (start < other) {
			n->first_ns[i] = start;
			start = other;
		}
	}
	if (c->ns < FIRST_NS || n->long_count++ >= LONG_MAX)
		return;
	*PF_ONE_MORE(f->calls, f->count, f->cap) = (struct lengthy){
		.trace_id = f->track->trace_id,
		.start_ns = c->start_ns,
		.end_ns = c->end_ns,
		.ns = c->ns,
		.event_id = c->event_id,
		.name = c->name,
		.is_kernel = class && class->launches == PF_LAUNCHES_KERNEL,
		.is_copy = class && class->launches == PF_LAUNCHES_COPY,
		.is_op = !class,
	};
}

/* What waits for the GPU takes as long as that, and modules load code anyway. */
static bool may_be_first(const struct pf_name_class *class)
{
	return class->call == PF_CAUSE_RUNTIME ||
	       class->call == PF_CAUSE_COPY ||
	       class->call == PF_CAUSE_ALLOCATOR;
}

/* Up to here: operators end, whose own time is known then. */
static void end_ops(struct firsts *f, int64_t at_ns)
{
	const struct range *r;

	while ((r = pf_nest_ended(&f->open, at_ns)))
		if (r->is_op)
			count_call(f, &r->call, NULL);
}

static void begin_range(struct firsts *f, const struct call *c, bool is_op)
{
	struct range *in = pf_nest_top(&f->open), *r;

	if (in)
		in->call.ns = pf_sat_sub(in->call.ns,
					 pf_sat_sub(c->end_ns < in->end_ns
							    ? c->end_ns
							    : in->end_ns,
						    c->start_ns));
	r = pf_nest_room(&f->open);
	if (r)
		*r = (struct range){ c->end_ns, is_op, *c };
}

static int take_call(void *context, const struct pf_block *b, uint32_t i,
		     int64_t event_id)
{
	struct firsts *f = context;
	const unsigned kind = pf_names_kind(f->texts, b->type[i]);
	const struct call c = { .start_ns = b->start_ns[i],
				.end_ns = pf_span_end(b->start_ns[i],
						      b->dur_ns[i]),
				.ns = b->dur_ns[i],
				.event_id = event_id,
				.name = b->name[i] };
	const struct pf_name_class *class;

	if (kind > PF_KIND_OVERHEAD)
		return 0;
	if (!f->no_ops) {
		end_ops(f, c.start_ns);
		begin_range(f, &c,
			    kind == PF_KIND_CPU_OP && c.name != PF_ID_INLINE);
	}
	if (kind != PF_KIND_RUNTIME && kind != PF_KIND_DRIVER)
		return 0;
	class = pf_names_class(f->texts, c.name);
	if (class && may_be_first(class))
		count_call(f, &c, class);
	return class ? 0 : -1;
}

static int count_calls(void *context, const struct pf_track *t)
{
	static const struct pf_track_reader reader = { .event = take_call };
	struct firsts *f = context;
	int rc;

	f->track = t;
	rc = pf_track_read(f->db, t, &reader, f);
	end_ops(f, INT64_MAX);
	return rc;
}

/* The median is exact to an eighth; of two calls it is the shorter one. */
static bool is_lengthy(const struct lengthy *c, const struct named *n)
{
	int64_t below = 0, ns = c->ns;
	size_t bin = 0;

	if (!c->is_op && n->count <= FIRST_CALLS && ns < FIRST_ALONE_NS)
		return false;
	if (n->count == 1)
		return !c->is_op && !c->is_copy;
	while (bin + 1 < BINS && (below += n->bins[bin]) * 2 < n->count)
		bin++;
	return ns / FIRST_TIMES >= least_of(bin);
}

PF_ORDER(by_start, struct lengthy, PF_UP(start_ns) PF_UP(event_id))

/* Of a trace whose calls are counted: those that are left. */
static void end_names(struct firsts *f)
{
	size_t kept = f->from, of[2] = { 0 };

	for (size_t i = f->from; i < f->count; i++) {
		struct lengthy *c = &f->calls[i];
		const struct named *n = named_of(f, c->name, c->is_op);

		c->is_early = c->start_ns <= n->first_ns[FIRST_CALLS - 1] ||
			      (!c->is_op && c->ns >= FIRST_HUGE_NS &&
			       n->huge_count <= FIRST_HUGE);
		c->count = n->count;
		c->sum_ns = n->sum_ns;
		if ((c->is_early || c->is_kernel || c->is_op) &&
		    is_lengthy(c, n))
			f->calls[kept++] = *c;
	}
	f->count = kept;
	if (f->count > f->from)
		pf_sort(f->calls + f->from, f->count - f->from,
			sizeof(*f->calls), by_start);
	kept = f->from;
	for (size_t i = f->from; i < f->count; i++)
		if (of[f->calls[i].is_op]++ < FIRSTS_MAX)
			f->calls[kept++] = f->calls[i];
	f->from = f->count = kept;
	f->name_count = 0;
	memset(f->places, 0,
	       (pf_names_count(f->texts) + 1) * sizeof(*f->places));
}

/* Who launched the first work of a kernel: its call, and its operator. */
static int add_new(struct firsts *f, struct pf_map *ids, int64_t event_id)
{
	const int64_t *row;

	if (!f->links)
		return 0;
	PF_TRY(pf_gpu_links_next(f->links, event_id, &row, f->db->err));
	for (size_t i = 1; i <= 2; i++)
		if (row[i] != PF_INTS_NULL && pf_map_has(ids, (uint64_t)row[i]))
			f->calls[*pf_map_at(ids, (uint64_t)row[i])]
				.is_new_kernel = true;
	return 0;
}

/* Work of the trace at hand, whose calls are [*from, f->count). */
static int add_work(struct firsts *f, struct pf_map *ids,
		    struct pf_map *kernels, size_t *from,
		    const struct pf_gpu_event *w)
{
	while (*from < f->count &&
	       f->calls[*from].trace_id == w->trace->trace_id &&
	       (f->calls[*from].is_op || f->calls[*from].end_ns <= w->start_ns))
		++*from;
	for (size_t i = *from; i < f->count; i++) {
		struct lengthy *c = &f->calls[i];

		if (c->trace_id != w->trace->trace_id ||
		    c->start_ns >= w->end_ns)
			break;
		if (w->start_ns < c->end_ns)
			pf_union_add(&c->busy,
				     w->start_ns > c->start_ns ? w->start_ns
							       : c->start_ns,
				     w->end_ns < c->end_ns ? w->end_ns
							   : c->end_ns);
	}
	if (w->kind != PF_KIND_KERNEL || w->name == PF_ID_INLINE ||
	    *pf_map_at(kernels, w->name) != UINT64_MAX)
		return 0;
	*pf_map_at(kernels, w->name) = 0;
	return add_new(f, ids, w->event_id);
}

/* Who launched what matters where not all that is left is early anyway. */
static int open_links(struct firsts *f)
{
	bool is_asked = false;

	for (size_t i = 0; i < f->count; i++)
		is_asked |= f->calls[i].is_op || !f->calls[i].is_early;
	if (!is_asked)
		return 0;
	f->links = pf_gpu_links_new(f->db, true);
	return f->links ? 0 : -1;
}

static int add_works(struct firsts *f, const struct pf_window *window)
{
	struct pf_gpu *g = pf_gpu_new(f->db, window, 0);
	struct pf_map ids = { 0 }, kernels = { 0 };
	const struct pf_gpu_event *w;
	int rc = g ? open_links(f) : -1;
	size_t from = 0;

	for (size_t i = 0; i < f->count; i++)
		*pf_map_at(&ids, (uint64_t)f->calls[i].event_id) = i;
	while (!rc && (rc = pf_gpu_next(g, &w)) == 1) {
		if (w->is_first_of_trace) {
			pf_map_release(&kernels);
			*pf_map_at(&f->with_work,
				   (uint64_t)w->trace->trace_id) = 1;
		}
		while (from < f->count &&
		       f->calls[from].trace_id < w->trace->trace_id)
			from++;
		rc = add_work(f, &ids, &kernels, &from, w);
	}
	pf_gpu_free(g);
	pf_ints_free(f->links);
	pf_map_release(&ids);
	pf_map_release(&kernels);
	return rc;
}

PF_ORDER(by_length, struct lengthy,
	 PF_DOWN(is_op) PF_UP(trace_id) PF_UP(name) PF_DOWN(ns) PF_UP(event_id))

static bool is_same(const struct lengthy *c, const struct lengthy *other)
{
	return c->is_op && other->is_op && c->trace_id == other->trace_id &&
	       c->name == other->name;
}

/*
 * Operators differ in what they are given, and each shape may have a kernel of
 * its own that is looked for once.  Of a name those are first uses that launch
 * a kernel first, or the longest, if it is early: if they are twice as long as
 * any other, as what comes again in each step is not, and so much longer than
 * all others together.  "of": the candidates of a name, the longest first.
 */
static void find_first_ops(struct lengthy *of, size_t count)
{
	int64_t others = of->count, others_ns = of->sum_ns, least_ns;
	size_t firsts = 0;

	while (firsts < count && others > 1 &&
	       (of[firsts].is_new_kernel || (!firsts && of->is_early))) {
		others--;
		others_ns = pf_sat_sub(others_ns, of[firsts++].ns);
	}
	least_ns = firsts < count ? of[firsts].ns : 0;
	for (size_t i = 0; i < firsts; i++)
		of[i].is_first = of[i].ns / 2 >= least_ns &&
				 of[i].ns / FIRST_TIMES > others_ns / others;
}

/*
 * Without a GPU an operator that waited for a processor looks the same: there
 * first uses are those of several.  "of": the candidates of a trace, by name.
 */
#define FIRST_OPS 3
static void doubt_first_ops(struct lengthy *of, size_t count)
{
	size_t names = 0, last = SIZE_MAX;

	for (size_t i = 0; i < count; i++) {
		if (of[i].is_first &&
		    (last == SIZE_MAX || of[last].name != of[i].name)) {
			names++;
			last = i;
		}
	}
	for (size_t i = 0; names < FIRST_OPS && i < count; i++)
		of[i].is_first = false;
}

static bool is_first(const struct lengthy *c)
{
	return c->is_op
		       ? c->is_first
		       : (c->is_early || c->is_new_kernel) &&
				 c->busy.covered_ns <
					 (c->end_ns - c->start_ns) /
						 (c->is_copy ? FIRST_TIMES : 2);
}

PF_ORDER(by_id, struct lengthy, PF_UP(event_id))

static struct pf_first_uses *firsts_of(struct firsts *f)
{
	struct pf_first_uses *out = pf_calloc(1, sizeof(*out));

	out->ids = pf_calloc(f->count + 1, sizeof(*out->ids));
	pf_sort(f->calls, f->count, sizeof(*f->calls), by_length);
	for (size_t i = 0, next; i < f->count; i = next) {
		for (next = i + 1;
		     next < f->count && is_same(&f->calls[i], &f->calls[next]);)
			next++;
		if (f->calls[i].is_op)
			find_first_ops(&f->calls[i], next - i);
	}
	for (size_t i = 0, next; i < f->count; i = next) {
		const uint64_t trace_id = (uint64_t)f->calls[i].trace_id;

		for (next = i + 1;
		     next < f->count &&
		     (uint64_t)f->calls[next].trace_id == trace_id;)
			next++;
		if (!pf_map_has(&f->with_work, trace_id))
			doubt_first_ops(&f->calls[i], next - i);
	}
	pf_sort(f->calls, f->count, sizeof(*f->calls), by_id);
	for (size_t i = 0; i < f->count; i++)
		if (is_first(&f->calls[i]))
			out->ids[out->count++] = f->calls[i].event_id;
	return out;
}

static void free_firsts(void *p)
{
	free(((struct pf_first_uses *)p)->ids);
	free(p);
}

static void *read_firsts(struct pf_db *db, const char *calls_alone)
{
	const struct pf_window_args args = PF_WINDOW_DEFAULTS;
	struct firsts f = { .db = db,
			    .texts = pf_names_new(db),
			    .open = { .width = sizeof(struct range),
				      .outermost = &nothing },
			    .no_ops = calls_alone };
	struct pf_first_uses *out = NULL;
	struct pf_window window = { .device = -1 };
	int rc = f.texts ? pf_window_load(db, &args, &window) : -1;

	if (!rc)
		f.places = pf_calloc(pf_names_count(f.texts) + 1,
				     sizeof(*f.places));
	for (size_t i = 0; !rc && i < window.count; i++) {
		rc = pf_host_tracks(db, window.traces[i].trace_id, count_calls,
				    &f);
		end_names(&f);
	}
	if (!rc && f.count)
		rc = add_works(&f, &window);
	if (!rc)
		out = firsts_of(&f);
	pf_window_release(&window);
	pf_names_free(f.texts);
	free(f.places);
	pf_nest_release(&f.open);
	pf_map_release(&f.with_work);
	free(f.names);
	free(f.calls);
	return out;
}

const struct pf_first_uses *pf_first_uses(struct pf_db *db, bool with_ops)
{
	/* where others read them too, they ask for all */
	return pf_memo_get(db, read_firsts, free_firsts,
			   with_ops || db->kept ? NULL : "calls");
}

bool pf_is_first_use(const struct pf_first_uses *f, int64_t event_id)
{
	return has_id(f->ids, f->count, event_id);
}

struct pf_call_way pf_call_way(const struct pf_pageable *pageable,
			       const struct pf_first_uses *firsts,
			       const struct pf_name_class *class,
			       int64_t event_id)
{
	struct pf_call_way way = { .is_blocking = class->is_blocking,
				   .cause = class->call };

	if (class->waits_by_memory &&
	    has_id(pageable->ids, pageable->count, event_id)) {
		way.is_blocking = true;
		way.cause = PF_CAUSE_COPY;
	}
	way.is_first_use = pf_is_first_use(firsts, event_id);
	if (way.is_first_use)
		way.cause = PF_CAUSE_MODULE;
	return way;
}

/* ---- overheads ---- */

static void put_overhead(struct pf_overheads *o, struct pf_overhead item)
{
	*PF_ONE_MORE(o->items, o->count, o->cap) = item;
}

static int add_overheads(struct pf_overheads *o, struct pf_db *db,
			 struct pf_names *names, uint32_t track)
{
	struct pf_cursor *c = pf_cursor_new(
		db, track,
		PF_COLBIT(PF_COL_START) | PF_COLBIT(PF_COL_DUR) |
			PF_COLBIT(PF_COL_NAME) | PF_COLBIT(PF_COL_TYPE));
	struct pf_span s;
	int rc = 0;

	while (!rc && (rc = pf_cursor_next(c, &s, db->err)) == 1) {
		int64_t end = pf_span_end(s.start_ns, s.dur_ns), start;
		const struct pf_name_class *class;

		rc = 0;
		start = o->count && o->items[o->count - 1].end_ns > s.start_ns
				? o->items[o->count - 1].end_ns
				: s.start_ns;
		if (pf_names_kind(names, s.type) != PF_KIND_OVERHEAD ||
		    start >= end)
			continue;
		class = pf_names_class(names, s.name);
		if (!class)
			rc = -1;
		else if (class->overhead != PF_CAUSE_UNRECORDED) {
			put_overhead(o,
				     (struct pf_overhead){ start, end, s.name,
							   class->overhead });
		}
	}
	pf_cursor_free(c);
	return rc;
}

/* Where managed memory of a trace goes back to the host. */
struct paging {
	int64_t trace_id, from_ns, to_ns, name_id;
};

/* Of all traces at once: names of all are looked through for it. */
static void *read_pagings(struct pf_db *db, const char *name)
{
#define F(member) PF_FIELD(struct paging, member, "", PF_INT)
	static const struct pf_field fields[] = { F(trace_id), F(from_ns),
						  F(to_ns), F(name_id) };
#undef F

	return pf_named_rows_new(db, name, PF_FIELDS(fields));
}

/* Between those overheads that are there. */
static void add_paging(struct pf_overheads *o, struct pf_overhead paging)
{
	struct pf_overheads all = { 0 };

	for (size_t i = 0; i <= o->count; i++) {
		struct pf_overhead part = paging;

		if (i < o->count && o->items[i].start_ns < part.end_ns)
			part.end_ns = o->items[i].start_ns;
		if (part.start_ns < part.end_ns)
			put_overhead(&all, part);
		if (i == o->count)
			break;
		put_overhead(&all, o->items[i]);
		PF_AT_LEAST(paging.start_ns, o->items[i].end_ns);
	}
	pf_overheads_release(o);
	*o = all;
}

int pf_overheads_load(struct pf_overheads *o, struct pf_db *db,
		      struct pf_names *names, int64_t trace_id,
		      const struct pf_track *tracks, size_t count)
{
	const struct pf_named_rows *all;

	/* Kineto gives them the process -1 */
	for (size_t i = 0; i < count; i++)
		PF_TRY(!strcmp(tracks[i].class_name, "host") &&
		       !strcmp(tracks[i].pid, "-1") &&
		       add_overheads(o, db, names, tracks[i].id) < 0);
	all = pf_memo_get(db, read_pagings, pf_named_rows_free, "paging");
	for (size_t i = 0; all && i < all->count; i++) {
		const struct paging *p = (struct paging *)all->rows + i;

		if (p->trace_id == trace_id)
			add_paging(o,
				   (struct pf_overhead){ p->from_ns, p->to_ns,
							 (uint32_t)p->name_id,
							 PF_CAUSE_COPY });
	}
	return all ? 0 : -1;
}

void pf_overheads_release(struct pf_overheads *o)
{
	free(o->items);
	*o = (struct pf_overheads){ 0 };
}

/* Does an overhead explain more than what the thread was in? */
static bool is_vague(uint32_t cause)
{
	return cause == PF_CAUSE_MODULE ||
	       (cause >= PF_CAUSE_RUNTIME && cause <= PF_CAUSE_LAUNCH);
}

/* The profiler's own work is of nothing that is around it. */
static void leave(struct pf_place *place)
{
	if (place->cause == PF_CAUSE_PROFILER)
		place->op = place->outer_op = place->frame = place->note =
			PF_ID_NONE;
}

int64_t pf_overheads_part(const struct pf_overheads *o, int64_t from_ns,
			  int64_t to_ns, struct pf_place *place)
{
	const struct pf_overhead *item;
	size_t i;

	if (!pf_overheads_any(o, from_ns, to_ns) || !is_vague(place->cause))
		return to_ns;
	i = PF_SEARCH(k, o->count, o->items[k].end_ns <= from_ns);
	item = &o->items[i];
	if (item->start_ns >= to_ns)
		return to_ns;
	if (item->start_ns > from_ns)
		return item->start_ns;
	/* a function may do more than to read pages */
	if (item->cause != PF_CAUSE_COPY ||
	    place->cause == PF_CAUSE_UNRECORDED) {
		place->cause = item->cause;
		place->name = item->name;
		leave(place);
	}
	return item->end_ns < to_ns ? item->end_ns : to_ns;
}

/* ---- events ---- */

struct pf_walk *pf_walk_new(struct pf_db *db, struct pf_names *names,
			    const struct pf_pageable *pageable,
			    uint32_t track_id)
{
	struct pf_walk *w = pf_calloc(1, sizeof(*w));

	w->names = names;
	w->pageable = pageable;
	w->track_id = track_id;
	w->last.end_ns = INT64_MIN;
	w->open.width = sizeof(struct frame);
	w->open.outermost = &outermost;
	w->cursor = pf_cursor_new(
		db, track_id,
		PF_COLBIT(PF_COL_START) | PF_COLBIT(PF_COL_DUR) |
			PF_COLBIT(PF_COL_NAME) | PF_COLBIT(PF_COL_TYPE));
	w->firsts = pf_first_uses(db, true);
	if (w->firsts) {
		pf_cursor_ahead(w->cursor);
		return w;
	}
	pf_walk_free(w);
	return NULL;
}

void pf_walk_free(struct pf_walk *w)
{
	if (!w)
		return;
	pf_cursor_free(w->cursor);
	pf_nest_release(&w->open);
	free(w->graphs.items);
	free(w->waits.items);
	free(w);
}

/* Is there a next event?  1, 0 or -1. */
static int peek(struct pf_walk *w, struct pf_err *err)
{
	int rc;

	if (w->block && w->at < w->block->count)
		return 1;
	if (w->is_ended)
		return 0;
	rc = pf_cursor_block(w->cursor, &w->block, &w->first_seq, err);
	w->at = 0;
	if (rc == 1)
		return 1;
	w->block = NULL;
	w->is_ended = true;
	return rc;
}

static bool is_frame_kind(unsigned kind)
{
	return kind <= PF_KIND_OVERHEAD;
}

static void remember(struct calls *c, uint32_t seq,
		     const struct pf_place *place)
{
	if (!c->items)
		c->items = pf_calloc(CALLS_MAX, sizeof(*c->items));
	c->items[c->count++ % CALLS_MAX] = (struct past_call){ seq, *place };
}

/* The last of them before an event, or NULL. */
static const struct past_call *last_before(const struct calls *c, uint32_t seq)
{
	size_t kept = c->count < CALLS_MAX ? c->count : CALLS_MAX;

	for (size_t i = 1; i <= kept; i++) {
		const struct past_call *p =
			&c->items[(c->count - i) % CALLS_MAX];

		if (p->seq < seq)
			return p;
	}
	return NULL;
}

bool pf_walk_graph(const struct pf_walk *w, uint32_t seq, struct pf_place *out)
{
	const struct past_call *p =
		seq < UINT32_MAX ? last_before(&w->graphs, seq + 1) : NULL;

	if (!p || p->seq != seq)
		return false;
	*out = p->place;
	return true;
}

bool pf_walk_stream_wait(const struct pf_walk *w, uint32_t after_seq,
			 uint32_t before_seq, struct pf_place *out)
{
	const struct past_call *p = last_before(&w->waits, before_seq);

	if (!p || p->seq < after_seq)
		return false;
	*out = p->place;
	return true;
}

static struct pf_block_call call_of(const struct pf_walk *w, uint32_t seq,
				    const struct frame *f)
{
	return (struct pf_block_call){
		.event_id = (int64_t)((uint64_t)w->track_id << 32 | seq),
		.start_ns = w->block->start_ns[w->at],
		.end_ns = f->range.end_ns,
		.place = f->place,
	};
}

/* Of the next event. */
static int64_t next_id(const struct pf_walk *w)
{
	return (int64_t)((uint64_t)w->track_id << 32 | (w->first_seq + w->at));
}

static void push_call(struct pf_walk *w, struct frame *f, uint32_t name,
		      const struct pf_name_class *class)
{
	uint32_t seq = w->first_seq + w->at;
	struct pf_call_way way =
		pf_call_way(w->pageable, w->firsts, class, next_id(w));
	uint32_t cause = way.cause;

	f->place.cause = cause;
	f->place.name = name;
	if (cause < f->inherited && cause <= PF_CAUSE_COMM)
		f->inherited = cause;
	if (class->is_graph)
		remember(&w->graphs, seq, &f->place);
	if (class->is_stream_wait) {
		remember(&w->waits, seq, &f->place);
		w->found = call_of(w, seq, f);
		w->found.is_stream_wait = true;
		w->has_found = true;
	}
	if (!way.is_blocking || f->in_block)
		return;
	f->in_block = true;
	w->found = call_of(w, seq, f);
	w->found.is_first_use = way.is_first_use;
	w->has_found = true;
	if (!way.is_first_use)
		w->last = w->found;
}

/* What time is that only the range itself explains. */
static uint32_t own_cause(unsigned kind)
{
	switch (kind) {
	case PF_KIND_CPU_OP:
		return PF_CAUSE_OP;
	case PF_KIND_PYTHON:
		return PF_CAUSE_PYTHON;
	default:
		return PF_CAUSE_ANNOTATION;
	}
}

static void push_range(const struct pf_walk *w, struct frame *f, unsigned kind,
		       uint32_t name, const struct pf_name_class *class)
{
	uint32_t cause =
		kind == PF_KIND_OVERHEAD ? class->overhead : class->range;

	if (kind == PF_KIND_CPU_OP && !class->is_step) {
		f->place.op = name;
		if (f->place.outer_op == PF_ID_NONE)
			f->place.outer_op = name;
	} else if (kind == PF_KIND_PYTHON) {
		if (class->is_user_python || !f->is_user)
			f->place.frame = name;
		f->is_user |= class->is_user_python;
	} else if (kind != PF_KIND_OVERHEAD && !class->is_step) {
		f->place.note = name;
	}
	if (!class->is_step && kind != PF_KIND_OVERHEAD &&
	    (kind != PF_KIND_PYTHON || class->is_user_python))
		f->own = name;
	/* steps are many: as a culprit they are one */
	f->place.name = class->is_step ? PF_ID_NONE : name;
	PF_AT_MOST(f->inherited, cause);
	if (cause == PF_CAUSE_UNRECORDED)
		cause = class->is_step ? PF_CAUSE_ANNOTATION : own_cause(kind);
	f->place.cause =
		cause == PF_CAUSE_OP && pf_is_first_use(w->firsts, next_id(w))
			? PF_CAUSE_MODULE
			: cause;
}

static bool is_op_or_range(unsigned kind)
{
	return kind == PF_KIND_CPU_OP || kind == PF_KIND_ANNOTATION;
}

/* Take in the next event, which peek() found. */
static int walk_event(struct pf_walk *w)
{
	const struct pf_block *b = w->block;
	uint32_t i = w->at, name = b->name[i];
	unsigned kind = pf_names_kind(w->names, b->type[i]);
	const struct pf_name_class *class;
	uint32_t before, held;
	struct frame *f;

	pf_nest_drop(&w->open, b->start_ns[i]);
	if (!is_frame_kind(kind) || w->open.depth >= PF_NEST_DEPTH) {
		w->at++;
		return 0;
	}
	class = pf_names_class(w->names, name);
	PF_TRY(!class);
	PF_NEST_OF(&w->open, struct frame);
	f = pf_nest_enter(&w->open,
			  (struct pf_nest_range){
				  pf_span_end(b->start_ns[i], b->dur_ns[i]),
				  kind == PF_KIND_PYTHON },
			  false);
	f->inner.seq = w->first_seq + i;
	f->inner.name = name;
	f->inner.kind = (uint8_t)kind;
	f->inner.waits = class->waits &&
			 (kind == PF_KIND_RUNTIME || kind == PF_KIND_DRIVER);
	if (is_op_or_range(kind))
		f->inner.op_seq = f->inner.seq;
	if (kind == PF_KIND_PYTHON && class->is_module)
		f->inner.module = name;
	f->inner.is_in_data |= class->range == PF_CAUSE_DATA &&
			       kind != PF_KIND_RUNTIME &&
			       kind != PF_KIND_DRIVER;
	f->own = PF_ID_NONE;
	before = f->inherited;
	held = f->place.name;
	if (kind == PF_KIND_RUNTIME || kind == PF_KIND_DRIVER)
		push_call(w, f, name, class);
	else
		push_range(w, f, kind, name, class);
	/* what is outside explains more: it stays the cause */
	if (before <= PF_CAUSE_COMM && f->inherited == before) {
		f->place.cause = before;
		f->place.name = held;
	}
	leave(&f->place);
	w->at++;
	return 0;
}

int pf_walk_to(struct pf_walk *w, int64_t at_ns, struct pf_err *err)
{
	int rc;

	while ((rc = peek(w, err)) == 1 && w->block->start_ns[w->at] <= at_ns)
		PF_TRY(walk_event(w));
	return rc < 0 ? -1 : 0;
}

bool pf_walk_is_past(const struct pf_walk *w, uint32_t seq)
{
	return w->is_ended || (w->block && seq < w->first_seq + w->at);
}

bool pf_walk_is_open(const struct pf_walk *w, uint32_t seq, int64_t at_ns,
		     struct pf_place *out, int64_t *end_ns)
{
	for (size_t i = w->open.depth; i-- > 0;) {
		const struct frame *f = pf_nest_at(&w->open, i);

		if (f->inner.seq == seq && f->range.end_ns > at_ns) {
			*out = f->place;
			*end_ns = f->range.end_ns;
			return true;
		}
	}
	return false;
}

/* ---- pieces ---- */

/* Where the piece that begins now must end; takes in events that begin now. */
static int next_change(struct pf_walk *w, int64_t at_ns, uint32_t stop_seq,
		       int64_t limit_ns, int64_t *out, struct pf_err *err)
{
	int rc;

	*out = limit_ns;
	while ((rc = peek(w, err)) == 1) {
		int64_t start = w->block->start_ns[w->at];

		if (start >= limit_ns)
			return 0;
		if (start > at_ns) {
			*out = start;
			return 0;
		}
		if (w->first_seq + w->at == stop_seq) {
			*out = at_ns;
			return 0;
		}
		PF_TRY(walk_event(w));
	}
	return rc;
}

int pf_walk_piece(struct pf_walk *w, int64_t at_ns, uint32_t stop_seq,
		  int64_t limit_ns, struct pf_place *out, int64_t *end_ns,
		  struct pf_err *err)
{
	const struct frame *f;

	*end_ns = at_ns;
	PF_TRY(next_change(w, at_ns, stop_seq, limit_ns, end_ns, err) < 0);
	pf_nest_drop(&w->open, at_ns);
	f = pf_nest_top(&w->open);
	*out = f ? f->place : nowhere;
	if (out->cause == PF_CAUSE_PYTHON) /* the user's function */
		out->name = out->frame;
	if (*end_ns <= at_ns) {
		*end_ns = at_ns;
		if (peek(w, err) == 1)
			out->name = w->block->name[w->at];
		return 0;
	}
	if (f && f->range.end_ns < *end_ns)
		*end_ns = f->range.end_ns;
	return 1;
}

#define OPEN_LOOKED_AT 1024 /* of hostile ones: deeper than programs are */

size_t pf_walk_open(const struct pf_walk *w, uint32_t *names, size_t max)
{
	size_t n = 0;

	for (size_t i = 0; i < w->open.depth && i < OPEN_LOOKED_AT && n < max;
	     i++) {
		const struct frame *f = pf_nest_at(&w->open, i);

		if (f->own != PF_ID_NONE)
			names[n++] = f->own;
	}
	return n;
}

const struct pf_inner *pf_walk_at(const struct pf_walk *w, size_t i)
{
	const struct frame *f =
		i < w->open.depth ? pf_nest_at(&w->open, i) : NULL;

	return f ? &f->inner : NULL;
}

uint32_t pf_walk_track(const struct pf_walk *w)
{
	return (uint32_t)w->track_id;
}

const struct pf_inner *pf_walk_inner(const struct pf_walk *w)
{
	const struct frame *f = pf_nest_top(&w->open);

	return f ? &f->inner : &outermost.inner;
}

int64_t pf_walk_stop_end(const struct pf_walk *w)
{
	return pf_span_end(w->block->start_ns[w->at], w->block->dur_ns[w->at]);
}

/* ---- other threads ---- */

#define OTHERS_MAX 32

struct pf_others {
	struct pf_walk *walks[OTHERS_MAX];
	size_t count;
};

PF_ORDER(by_events, struct pf_track, PF_DOWN(event_count) PF_UP(id))

struct pf_others *pf_others_new(struct pf_db *db, struct pf_names *names,
				const struct pf_track *tracks, size_t count)
{
	const struct pf_pageable *pageable = pf_pageable(db);
	struct pf_track *hosts = pf_calloc(count + 1, sizeof(*hosts));
	struct pf_others *o = pf_calloc(1, sizeof(*o));
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		if (!strcmp(tracks[i].class_name, "host"))
			hosts[n++] = tracks[i];
	pf_sort(hosts, n, sizeof(*hosts), by_events);
	while (pageable && o->count < n && o->count < OTHERS_MAX &&
	       (o->walks[o->count] =
			pf_walk_new(db, names, pageable, hosts[o->count].id)))
		o->count++;
	free(hosts);
	if (o->count == n || o->count == OTHERS_MAX)
		return o;
	pf_others_free(o);
	return NULL;
}

void pf_others_free(struct pf_others *o)
{
	for (size_t i = 0; o && i < o->count; i++)
		pf_walk_free(o->walks[i]);
	free(o);
}

int pf_walk_says(const struct pf_walk *w, const struct pf_place *place)
{
	const struct frame *f = pf_nest_top(&w->open);
	const struct pf_name_class *class;

	if (!f || place->cause == PF_CAUSE_UNRECORDED)
		return 0;
	class = pf_names_class(w->names, f->inner.name);
	PF_TRY(!class);
	return !class->is_step &&
	       !(f->inner.kind != PF_KIND_CPU_OP && class->is_asleep);
}

int pf_others_piece(struct pf_others *o, bool no_python, int64_t at_ns,
		    int64_t limit_ns, const struct pf_walk **of,
		    struct pf_place *out, int64_t *end_ns, struct pf_err *err)
{
	const struct pf_walk *asleep = NULL;
	struct pf_place place, around = nowhere;

	*of = NULL;
	*end_ns = limit_ns;
	for (size_t i = 0; !*of && i < o->count; i++) {
		int rc;

		/* what a thread before this one begins to do ends the piece */
		PF_TRY(pf_walk_to(o->walks[i], at_ns, err));
		PF_TRY(pf_walk_piece(o->walks[i], at_ns, UINT32_MAX, *end_ns,
				     &place, end_ns, err) < 0);
		rc = pf_walk_says(o->walks[i], &place);
		PF_TRY(rc < 0);
		if (no_python &&
		    pf_walk_inner(o->walks[i])->kind == PF_KIND_PYTHON)
			continue;
		if (rc) {
			*of = o->walks[i];
			*out = place;
		} else if (!asleep && place.op != PF_ID_NONE) {
			asleep = o->walks[i];
			around = place;
		}
	}
	if (!*of && asleep) {
		*of = asleep;
		*out = around;
		out->cause = PF_CAUSE_OP;
		out->name = out->op;
	}
	return 0;
}

/* ---- blocking calls ---- */

const struct pf_block_call *pf_walk_last_block(const struct pf_walk *w)
{
	return &w->last;
}

int pf_walk_next_call(struct pf_walk *w, struct pf_block_call *out,
		      struct pf_err *err)
{
	int rc;

	w->has_found = false;
	while ((rc = peek(w, err)) == 1) {
		PF_TRY(walk_event(w));
		if (!w->has_found)
			continue;
		*out = w->found;
		return 1;
	}
	return rc;
}

/* ---- launches into graphs ---- */

struct captured {
	struct pf_names *names;
	const struct pf_window_trace *trace; /* whose thread is read */
	struct pf_db *db;
	int64_t count;
	bool is_capturing; /* a graph, on that */
};

static int take_captured(void *context, const struct pf_block *b, uint32_t i,
			 int64_t event_id)
{
	struct captured *c = context;
	unsigned kind = pf_names_kind(c->names, b->type[i]);
	const struct pf_name_class *class;

	(void)event_id;
	if (kind != PF_KIND_RUNTIME && kind != PF_KIND_DRIVER)
		return 0;
	class = pf_names_class(c->names, b->name[i]);
	PF_TRY(!class);
	if (class->capture)
		c->is_capturing = class->capture == 1;
	c->count += c->is_capturing && class->launches != PF_LAUNCHES_NONE &&
		    b->start_ns[i] >= c->trace->from_ns &&
		    b->start_ns[i] < c->trace->to_ns;
	return 0;
}

static int read_captured(void *context, const struct pf_track *t)
{
	static const struct pf_track_reader reader = { .event = take_captured };
	struct captured *c = context;

	c->is_capturing = false;
	return pf_track_read(c->db, t, &reader, c);
}

int pf_captured_find(struct pf_db *db, const struct pf_window *window,
		     struct pf_names *names, int64_t *count)
{
	PF_STMT(st) = pf_named_prepare(db, "has_captures", db->err);
	struct captured c = { .names = names, .db = db };
	bool has_some =
		pf_db_step(db, st, db->err) == 1 && sqlite3_column_int64(st, 0);

	for (size_t i = 0;
	     has_some && names && i < window->count && !db->err->code; i++) {
		c.trace = &window->traces[i];
		pf_host_tracks(db, c.trace->trace_id, read_captured, &c);
	}
	*count = c.count;
	return db->err->code ? -1 : 0;
}

bool pf_captured_say(int64_t captured_count, int64_t work_count,
		     struct pf_buf *out)
{
	const bool is_one = captured_count == 1;

	if (captured_count <= work_count)
		return false;
	pf_buf_addf(out,
		    "%s launch%s recorded into graphs and run%s when these "
		    "are replayed. ",
		    PF_SHOW_COUNT(captured_count), is_one ? " is" : "es are",
		    is_one ? "s" : "");
	return true;
}
