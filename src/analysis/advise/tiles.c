/* SPDX-License-Identifier: MIT */
/*
 * The pieces of the path come in order of time.  Those that may be part of
 * something longer wait until that is known; then each is added to its row.
 */
#include "config.h"

#include "analysis/advise/impl.h"

#include "analysis/time/kernels.h"
#include "base/order.h"
#include "base/search.h"
#include "events/traces.h"
#include "events/trust.h"
#include "store/query.h"
#include "events/interval.h"
#include "events/names.h"
#include "events/nest.h"
#include "formats/event.h"

/*
 * Ranges by their names, found once: threads are read only if there is such a
 * name at all.  Memory grows with the ranges, 24 bytes each.
 */

struct named {
	int64_t name_id, mark;
};

static const struct pf_field named_fields[] = {
	PF_FIELD(struct named, name_id, "name_id", NULL, PF_INT),
	PF_FIELD(struct named, mark, "mark", NULL, PF_INT),
};

struct reader {
	struct pf_db *db;
	struct advise_marks *out;
	struct advise_ranges *ranges; /* NULL: they are not asked for */
	struct pf_names *names;
	size_t range_cap;
	struct pf_nest open;   /* struct open_range */
	struct pf_map doubles; /* by argset.id; empty: there is none */
	bool is_double;        /* the last product whose types are known */
	uint8_t *of_name;      /* mark by string.id, or 0 */
	size_t name_count, cap, collective_cap;
	/* of a thread */
	uint32_t track_id;
	int64_t node_start_ns, node_end_ns; /* of backward's graph, the last */
	int64_t optimizer_end_ns; /* of the last one, optimizer_at of spans */
	size_t optimizer_at;
	int64_t checkpoint_end_ns;
	bool is_again; /* does that node compute what forward has? */
};

PF_ORDER(by_place, struct advise_span,
	 PF_UP(mark) PF_UP(track_id) PF_UP(start_ns))
PF_ORDER(by_start, struct advise_span, PF_UP(track_id) PF_UP(start_ns))

_Static_assert(ADVISE_NAMES_JAX < UINT8_MAX, "a mark fits");

static void list_names(struct reader *r, const struct named *names,
		       size_t count)
{
	r->of_name = pf_calloc(r->name_count + 1, 1);
	for (size_t i = 0; i < count; i++)
		if ((uint64_t)names[i].name_id < r->name_count &&
		    names[i].mark > 0 && names[i].mark < ADVISE_NAMES_JAX)
			r->of_name[names[i].name_id] = (uint8_t)names[i].mark;
}

/*
 * Where functions are not recorded, what torch's checkpoints compute again are
 * operators of forward in a node of backward, from its begin on.  Nodes are of
 * use in ranges that do both.  An optimizer's step in which gradients are zeroed or
 * backward runs was given a closure, as by Lightning: it is all of a step, and no
 * optimizer's.  Is it kept?
 */
static bool see_node(struct reader *r, struct advise_span *s)
{
	if ((s->mark == ADVISE_MARK_ZERO_GRAD ||
	     s->mark == ADVISE_MARK_BACKWARD) &&
	    s->start_ns < r->optimizer_end_ns) {
		r->out->spans[r->optimizer_at].mark = ADVISE_MARK_NONE;
		r->out->calls[ADVISE_MARK_OPTIMIZER]--;
		r->optimizer_end_ns = INT64_MIN;
	}
	switch (s->mark) {
	case ADVISE_MARK_CHECKPOINT:
		r->checkpoint_end_ns = s->end_ns;
		return true;
	case ADVISE_MARK_BACKWARD:
		if (s->start_ns >= r->node_end_ns) {
			r->node_start_ns = s->start_ns;
			r->node_end_ns = s->end_ns;
			r->is_again = false;
		}
		return s->start_ns < r->checkpoint_end_ns;
	case ADVISE_MARK_FORWARD:
	case ADVISE_MARK_FORWARD_TOO:
		if (s->start_ns >= r->node_end_ns ||
		    s->start_ns < r->checkpoint_end_ns)
			return false;
		r->is_again |= s->mark == ADVISE_MARK_FORWARD;
		s->start_ns = r->node_start_ns;
		s->mark = ADVISE_MARK_AGAIN;
		return r->is_again;
	default:
		return true;
	}
}

/* Past the dictionary's cap types are as those of the product before it. */
static bool is_double(struct reader *r, uint32_t args)
{
	if (args != PF_ID_INLINE)
		r->is_double = pf_map_has(&r->doubles, args);
	return r->is_double;
}

/* More of them, or deeper ones, count as what is around them. */
#define RANGES_MAX  65536
#define RANGES_DEEP 64

struct open_range {
	struct pf_nest_range range;
	uint32_t number;
};

static const struct open_range outside = { 0 };

/* Time goes on: what has been the innermost up to then. */
static void pass_ranges(struct reader *r, int64_t to_ns)
{
	struct advise_ranges *all = r->ranges;
	const struct open_range *o;
	int64_t from, to;

	while ((o = pf_nest_pass(&r->open, to_ns, &from, &to)))
		*PF_ONE_MORE(all->spans, all->count, r->range_cap) =
			(struct advise_span){ from, to, r->track_id,
					      o->number };
}

static int take_range(struct reader *r, const struct pf_block *b, uint32_t i)
{
	const struct pf_name_class *class;
	struct advise_range key = { 0 };
	struct open_range *o;

	if (!r->ranges ||
	    pf_names_kind(r->names, b->type[i]) != PF_KIND_ANNOTATION)
		return 0;
	class = pf_names_class(r->names, b->name[i]);
	PF_TRY(!class);
	if (class->is_step || class->is_library_range)
		return 0;
	pass_ranges(r, b->start_ns[i]);
	o = pf_nest_push(&r->open, pf_span_end(b->start_ns[i], b->dur_ns[i]));
	if (!o || r->open.depth > RANGES_DEEP ||
	    r->ranges->keys.count >= RANGES_MAX)
		return 0;
	key.outer = o->number; /* as a copy of what it is in */
	key.name = b->name[i];
	o->number = 1 + pf_intern_add(&r->ranges->keys, (const char *)&key,
				      sizeof(key));
	return 0;
}

static int take_mark(void *context, const struct pf_block *b, uint32_t i,
		     int64_t event_id)
{
	struct reader *r = context;
	struct advise_marks *m = r->out;
	struct advise_span s = {
		.start_ns = b->start_ns[i],
		.end_ns = pf_span_end(b->start_ns[i], b->dur_ns[i]),
		.track_id = r->track_id,
		.mark = b->name[i] < r->name_count ? r->of_name[b->name[i]] : 0,
	};
	struct advise_span *last = m->count ? &m->spans[m->count - 1] : NULL;

	(void)event_id;
	PF_TRY(take_range(r, b, i));
	if (s.mark == ADVISE_MARK_COLLECTIVE) {
		*PF_ONE_MORE(m->collectives, m->collective_count,
			     r->collective_cap) = s.start_ns;
		return 0;
	}
	if (!s.mark || !see_node(r, &s) ||
	    (s.mark == ADVISE_MARK_DOUBLE &&
	     !(r->doubles.count && is_double(r, b->args[i]))))
		return 0;
	m->calls[s.mark]++;
	if (last && !by_place(last, &s)) { /* goes on */
		last->end_ns =
			s.end_ns > last->end_ns ? s.end_ns : last->end_ns;
		return 0;
	}
	if (s.mark == ADVISE_MARK_OPTIMIZER) {
		r->optimizer_at = m->count;
		r->optimizer_end_ns = s.end_ns;
	}
	*PF_ONE_MORE(m->spans, m->count, r->cap) = s;
	return 0;
}

/* What overlaps becomes one. */
static void unite(struct advise_marks *m)
{
	size_t kept = 0;

	pf_sort(m->spans, m->count, sizeof(*m->spans), by_place);
	for (size_t i = 0; i < m->count; i++) {
		struct advise_span *last = kept ? &m->spans[kept - 1] : NULL;
		const struct advise_span s = m->spans[i];

		if (last && last->mark == s.mark &&
		    last->track_id == s.track_id &&
		    s.start_ns <= last->end_ns) {
			if (s.end_ns > last->end_ns)
				last->end_ns = s.end_ns;
			continue;
		}
		m->spans[kept++] = s;
	}
	m->count = kept;
	for (uint32_t mark = 0, i = 0; mark <= ADVISE_MARKS; mark++) {
		while (i < kept && m->spans[i].mark < mark)
			i++;
		m->first[mark] = i;
	}
}

static int read_thread(void *context, const struct pf_track *t)
{
	static const struct pf_track_reader readers[] = {
		{ .event = take_mark },
		{ .event = take_mark, .columns = PF_COLBIT(PF_COL_ARGS) },
	};
	struct reader *r = context;

	r->track_id = t->id;
	r->node_end_ns = r->checkpoint_end_ns = INT64_MIN;
	r->optimizer_end_ns = INT64_MIN;
	pf_nest_clear(&r->open);
	r->is_double = false;
	PF_TRY(pf_track_read(r->db, t, &readers[r->doubles.count > 0], r));
	pass_ranges(r, INT64_MAX);
	return 0;
}

static void find_framework(struct advise_marks *m, const struct named *names,
			   size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (names[i].mark == ADVISE_NAMES_JAX)
			m->framework = "JAX";
		else if (names[i].mark == ADVISE_NAMES_TENSORFLOW &&
			 !m->framework)
			m->framework = "TensorFlow";
	}
}

static bool has_ranges(const struct named *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (names[i].mark < ADVISE_MARKS ||
		    names[i].mark == ADVISE_MARK_COLLECTIVE)
			return true;
	return false;
}

/*
 * Where functions are recorded lines say where time is; and what JAX and
 * TensorFlow record as ranges are mostly their own.
 */
static int has_places(struct pf_db *db, const struct advise_marks *m)
{
	PF_AUTO(pf_kinds_release) struct pf_kinds kinds = { 0 };
	bool has_functions = false, any = false;

	PF_TRY(pf_kinds_load(&kinds, db, db->err));
	for (uint32_t i = 0; i < kinds.count; i++) {
		has_functions |= pf_kinds_at(&kinds, i) == PF_KIND_PYTHON;
		any |= pf_kinds_at(&kinds, i) == PF_KIND_ANNOTATION;
	}
	return any && !has_functions && !m->framework;
}

/* Products in double, where some may be and no kernel's name says it. */
static int list_doubles(struct reader *r, const struct named *names,
			size_t count)
{
	PF_STMT(st) = NULL;
	bool any = false;
	int rc;

	for (size_t i = 0; i < count; i++)
		any |= names[i].mark == ADVISE_MARK_DOUBLE;
	if (!any)
		return 0;
	st = pf_named_prepare(r->db, "argset_double", r->db->err);
	while ((rc = pf_db_step(r->db, st, r->db->err)) == 1)
		*pf_map_at(&r->doubles, (uint64_t)sqlite3_column_int64(st, 0)) =
			1;
	return rc;
}

static int marks_load(struct pf_db *db, int64_t trace_id,
		      struct pf_names *texts, bool has_work,
		      struct advise_tiles *out)
{
	struct pf_arena arena = { 0 };
	struct advise_marks *marks = &out->marks;
	struct reader r = { .db = db,
			    .out = marks,
			    .names = texts,
			    .name_count = pf_names_count(texts),
			    .open = { .width = sizeof(struct open_range),
				      .outermost = &outside } };
	size_t count = 0;
	struct named *names = pf_named_read(
		db, "advise_marks", PF_FIELDS(named_fields), &arena, &count);
	int rc = names ? 0 : -1;

	if (!rc) {
		find_framework(marks, names, count);
		rc = has_places(db, marks);
		r.ranges = rc > 0 ? &out->ranges : NULL;
		rc = rc < 0 ? -1 : 0;
	}
	if (!rc && !has_work)
		rc = list_doubles(&r, names, count);
	if (!rc && (r.ranges || has_ranges(names, count))) {
		list_names(&r, names, count);
		rc = pf_host_tracks(db, trace_id, read_thread, &r);
	}
	unite(marks);
	pf_sort(out->ranges.spans, out->ranges.count,
		sizeof(*out->ranges.spans), by_start);
	pf_nest_release(&r.open);
	free(r.of_name);
	pf_map_release(&r.doubles);
	pf_arena_release(&arena);
	return rc;
}

static void marks_release(struct advise_marks *m)
{
	free(m->spans);
	free(m->collectives);
	*m = (struct advise_marks){ 0 };
}

static bool has_begun(const struct advise_span *s, uint32_t track_id,
		      int64_t at_ns)
{
	return s->track_id < track_id ||
	       (s->track_id == track_id && s->start_ns <= at_ns);
}

/*
 * Of spans that do not overlap, the one that an instant of a thread is in; or
 * NULL.  *begun: how many had begun when that was last asked, for mostly time
 * goes on.
 */
static const struct advise_span *span_at(const struct advise_span *s,
					 size_t count, size_t *begun,
					 uint32_t track_id, int64_t at_ns)
{
	size_t n = *begun;

	if (n < count && has_begun(&s[n], track_id, at_ns))
		n++;
	if ((n && !has_begun(&s[n - 1], track_id, at_ns)) ||
	    (n < count && has_begun(&s[n], track_id, at_ns)))
		n = PF_SEARCH(i, count, has_begun(&s[i], track_id, at_ns));
	*begun = n;
	return n && s[n - 1].track_id == track_id && s[n - 1].end_ns > at_ns
		       ? &s[n - 1]
		       : NULL;
}

static bool is_in(struct advise_marks *m, uint32_t mark, uint32_t track_id,
		  int64_t at_ns)
{
	const size_t first = m->first[mark];

	return span_at(&m->spans[first], m->first[mark + 1] - first,
		       &m->begun[mark], track_id, at_ns) != NULL;
}

static unsigned marks_at(struct advise_marks *m, uint32_t track_id,
			 int64_t at_ns)
{
	unsigned bits = 0;

	for (uint32_t mark = 1; mark < ADVISE_MARKS; mark++)
		if (m->first[mark] < m->first[mark + 1] &&
		    is_in(m, mark, track_id, at_ns))
			bits |= 1u << mark;
	return bits;
}

/*
 * What follows each other on the path, by its operators, wherever the path
 * is: on the host where launching bounds it, on the GPU elsewhere.
 *
 * Attention: products of batches of matrices, pointwise work, a softmax,
 * pointwise work, products again.  A softmax over classes has no second
 * product.  A chain: three pieces of GPU work or more, or their launches, of
 * pointwise operators alone; or without a GPU three such operators.
 */

static enum advise_role role_of_text(const char *op)
{
	if (!*op)
		return ADVISE_ROLE_NONE;
	for (int i = 0; i < ADVISE_ROLES - ADVISE_ROLE_PRODUCT; i++)
		if (pf_word((enum pf_word)(PF_WORD_OP_PRODUCT + i), op))
			return (enum advise_role)(ADVISE_ROLE_PRODUCT + i);
	return ADVISE_ROLE_OTHER;
}

/* Both begin as all zero. */
struct advise_attention {
	unsigned state;
	size_t from, last; /* in what is pending */
};
struct advise_chain {
	size_t from, last;
	unsigned works;
};

/* Does what is pending up to "at" go on?  *done: [from, last] is whole. */
enum { IDLE, PRODUCT, SOFTMAX, WHOLE };

static bool attention_step(struct advise_attention *a, enum advise_role role,
			   size_t at, bool *done)
{
	*done = false;
	switch (role) {
	case ADVISE_ROLE_PRODUCT:
		if (a->state == IDLE)
			a->from = at;
		a->state = a->state == SOFTMAX || a->state == WHOLE ? WHOLE
								    : PRODUCT;
		a->last = at;
		return true;
	case ADVISE_ROLE_SOFTMAX:
		if (a->state == PRODUCT || a->state == SOFTMAX) {
			a->state = SOFTMAX;
			return true;
		}
		break;
	case ADVISE_ROLE_NONE:
	case ADVISE_ROLE_VIEW:
	case ADVISE_ROLE_POINTWISE:
		if (a->state == PRODUCT || a->state == SOFTMAX)
			return true;
		if (a->state == WHOLE && role == ADVISE_ROLE_NONE)
			return true;
		break;
	default:
		break;
	}
	*done = a->state == WHOLE;
	a->state = IDLE;
	return false;
}

#define CHAIN_LEAST 3 /* pieces of work */

static bool chain_step(struct advise_chain *c, enum advise_role role,
		       bool is_work, size_t at, bool *done)
{
	*done = false;
	if (role == ADVISE_ROLE_POINTWISE) {
		if (!c->works && !is_work)
			return false;
		if (!c->works)
			c->from = at;
		c->works += is_work;
		c->last = at;
		return true;
	}
	if (c->works && (role == ADVISE_ROLE_NONE ||
			 (role == ADVISE_ROLE_VIEW && !is_work)))
		return true;
	*done = c->works >= CHAIN_LEAST;
	c->works = 0;
	return false;
}

#define PENDING_MAX 4096  /* pieces; a longer sequence is none */
#define CALLER_NS   10000 /* between two calls: what it takes to call */

/* What pieces of a row have in common; no padding. */
struct key {
	uint32_t category, flags, name, op, frame, range;
};

struct sum {
	int64_t ns, count, blocked_ns, longest_ns, longest_at_ns;
};

/* Host time without a launch in between; begins as all zero. */
struct advise_stretch {
	size_t from; /* in what is pending */
	int64_t since_ns;
	bool is_open, is_long;
};

struct piece {
	struct key key;
	int64_t start_ns, end_ns;
};

struct advise_taker {
	struct pf_path_sink sink;
	struct advise_tiles *out;
	struct pf_db *db;
	struct pf_names *texts; /* the path's own are not open yet */
	struct pf_intern keys;
	struct sum *sums;
	size_t sum_cap;
	struct piece *pending;
	size_t pending_count, pending_cap;
	struct advise_attention attention;
	struct advise_chain chain;
	struct advise_stretch stretch;
	bool has_attention, has_chain; /* does what is pending go on? */
	bool is_launch;                /* does the last piece launch work? */
	uint8_t *roles;                /* by string.id: enum advise_role */
	size_t role_count;
	int64_t late_ns;    /* the first step's end; INT64_MIN: no steps */
	int64_t tail_ns;    /* the last part of the window */
	bool is_after_copy; /* the last piece was a copy from pageable memory */
	bool is_after_comm; /* ... communication on the GPU */
	bool is_begun;      /* GPU work on the path has a call, or had one */
	bool was_launch;    /* ... the call that launched what comes next */
	bool was_log;       /* ... of what logs */
	bool is_captured;   /* what is launched goes into a graph */
	bool has_work;      /* does the trace have any GPU work? */
};

static struct sum *sum_of(struct advise_taker *t, const struct key *key)
{
	uint32_t known = t->keys.count, n;

	n = pf_intern_add(&t->keys, (const char *)key, sizeof(*key));
	t->sums =
		pf_grow(t->sums, &t->sum_cap, (size_t)n + 1, sizeof(*t->sums));
	if (n == known)
		t->sums[n] = (struct sum){ 0 };
	return &t->sums[n];
}

static void add(struct advise_taker *t, const struct piece *p)
{
	int64_t ns = p->end_ns - p->start_ns;
	struct sum *s = sum_of(t, &p->key);

	s->ns += ns;
	s->count++;
	if (ns > s->longest_ns) {
		s->longest_ns = ns;
		s->longest_at_ns = p->start_ns;
	}
}

static void flush(struct advise_taker *t)
{
	for (size_t i = 0; i < t->pending_count; i++)
		add(t, &t->pending[i]);
	t->pending_count = 0;
}

static void set_flag(struct advise_taker *t, size_t from, size_t last,
		     uint32_t flag)
{
	for (size_t i = from; i <= last && i < t->pending_count; i++)
		t->pending[i].key.flags |= flag;
}

static int role_of(struct advise_taker *t, uint32_t op, enum advise_role *out)
{
	char *text;

	*out = op == PF_ID_NONE ? ADVISE_ROLE_NONE : ADVISE_ROLE_OTHER;
	if (op >= t->role_count)
		return 0;
	if (!t->roles[op]) {
		text = pf_names_text_take(t->texts, op);
		PF_TRY(!text);
		t->roles[op] = (uint8_t)role_of_text(text);
		free(text);
	}
	*out = (enum advise_role)t->roles[op];
	return 0;
}

/* What has nothing to do with operators, as code, ends whatever went on. */
static enum advise_role role_in(const struct advise_taker *t,
				const struct pf_path_tile *tile,
				enum advise_role role)
{
	/* operators themselves are longer than launches */
	const int64_t long_ns = t->has_work ? ADVISE_CODE_NS : ADVISE_LONG_NS;

	switch ((unsigned)tile->category) {
	case PF_CAUSE_SYNC:
	case PF_CAUSE_COPY:
	case PF_CAUSE_DATA:
	case PF_CAUSE_COMPILE:
	case PF_CAUSE_UNRECORDED:
	case PF_PATH_COMM:
	case PF_PATH_RETURN:
	case PF_PATH_HANDOFF:
	case PF_PATH_QUEUED:
	case PF_PATH_NO_LAUNCH:
	case PF_PATH_UNEXPLAINED:
		return ADVISE_ROLE_OTHER;
	default:
		break;
	}
	if (role == ADVISE_ROLE_NONE && tile->track_id &&
	    tile->end_ns - tile->start_ns >= long_ns)
		return ADVISE_ROLE_OTHER;
	return role;
}

/*
 * Does a kernel, or its launch if the path goes on from there, count here?
 * Without any the operators themselves are the work.
 */
static int find_work(struct advise_taker *t, const struct pf_path_tile *tile,
		     uint32_t *flags, bool *out)
{
	const struct pf_name_class *class;
	bool was_launch = t->was_launch;

	t->is_launch = false;
	t->was_launch = tile->category == PF_PATH_LAUNCH_CALL ||
			(was_launch && tile->category == PF_PATH_LAUNCH_DELAY);
	*out = t->was_launch ? !was_launch
			     : tile->category == PF_PATH_KERNEL && !was_launch;
	*flags |= t->is_captured ? ADVISE_CAPTURE : 0;
	if (!t->has_work)
		*out = (unsigned)tile->category == PF_CAUSE_OP;
	if (((unsigned)tile->category != PF_CAUSE_RUNTIME &&
	     (unsigned)tile->category != PF_CAUSE_MODULE) ||
	    tile->name == PF_ID_NONE)
		return 0;
	class = pf_names_class(t->texts, tile->name);
	PF_TRY(!class);
	*out = class->launches == PF_LAUNCHES_KERNEL;
	t->is_launch = class->launches != PF_LAUNCHES_NONE;
	if (class->capture)
		t->is_captured = class->capture == 1;
	*flags |= class->capture ? ADVISE_CAPTURE : 0;
	return 0;
}

/*
 * From one launch to the next on the host: what takes as long as none does is
 * no launching, however short its pieces are.
 */
static void stretch_step(struct advise_taker *t)
{
	struct advise_stretch *s = &t->stretch;
	size_t at = t->pending_count - 1;
	const struct piece *p = &t->pending[at];
	bool is_host = p->key.category < PF_CAUSE_UNRECORDED;

	if (!is_host || t->is_launch || p->key.flags & ADVISE_LONG) {
		*s = (struct advise_stretch){ 0 };
		return;
	}
	if (!s->is_open)
		*s = (struct advise_stretch){ .from = at,
					      .since_ns = p->start_ns,
					      .is_open = true };
	if (p->end_ns - s->since_ns < ADVISE_LONG_NS)
		return;
	set_flag(t, s->is_long ? at : s->from, at, ADVISE_APART);
	s->is_long = true;
}

/* The piece that was put last may go on with what is pending. */
static void follow(struct advise_taker *t, enum advise_role role,
		   bool is_of_work)
{
	size_t at = t->pending_count - 1;
	bool done;

	t->has_attention = attention_step(&t->attention, role, at, &done);
	if (done) {
		set_flag(t, t->attention.from, t->attention.last,
			 ADVISE_SEQUENCE);
		t->out->sequence_count++;
	}
	/* what ended one may begin the next */
	if (!t->has_attention)
		t->has_attention =
			attention_step(&t->attention, role, at, &done);
	t->has_chain = chain_step(&t->chain, role, is_of_work, at, &done);
	if (done) {
		set_flag(t, t->chain.from, t->chain.last, ADVISE_CHAIN);
		t->out->chain_count++;
	}
	stretch_step(t);
	if (t->has_attention || t->has_chain ||
	    (t->stretch.is_open && !t->stretch.is_long)) {
		if (t->pending_count < PENDING_MAX)
			return;
		t->attention = (struct advise_attention){ 0 };
		t->chain = (struct advise_chain){ 0 };
	}
	flush(t);
	t->stretch.from = 0;
}

/* The end of all. */
static void finish(struct advise_taker *t)
{
	bool done;

	attention_step(&t->attention, ADVISE_ROLE_OTHER, 0, &done);
	if (done) {
		set_flag(t, t->attention.from, t->attention.last,
			 ADVISE_SEQUENCE);
		t->out->sequence_count++;
	}
	chain_step(&t->chain, ADVISE_ROLE_OTHER, false, 0, &done);
	if (done) {
		set_flag(t, t->chain.from, t->chain.last, ADVISE_CHAIN);
		t->out->chain_count++;
	}
	flush(t);
}

/* Of a tile's name: whether that is a step. */
static int find_step(struct advise_taker *t, const struct pf_path_tile *tile,
		     uint32_t *flags)
{
	const struct pf_name_class *class;

	if ((unsigned)tile->category != PF_CAUSE_ANNOTATION ||
	    tile->name == PF_ID_NONE)
		return 0;
	class = pf_names_class(t->texts, tile->name);
	PF_TRY(!class);
	*flags |= class->is_step ? ADVISE_STEP : 0;
	return 0;
}

/* Who waits last in a step, as for timing, has little of it left. */
#define ENDS_SHARE 20

static bool ends_step(const struct advise_taker *t,
		      const struct pf_path_tile *tile)
{
	const struct pf_steps *steps = &t->out->steps;
	size_t lo = 0, hi = steps->count;
	const struct pf_step *s;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (steps->items[mid].host_end_ns < tile->end_ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == steps->count)
		return false;
	s = &steps->items[lo];
	return s->host_end_ns - tile->end_ns <
	       (s->host_end_ns - s->start_ns) / ENDS_SHARE;
}

static uint32_t flags_of(const struct advise_taker *t,
			 const struct pf_path_tile *tile)
{
	bool is_of_work = tile->called_ns != PF_NO_INT;
	uint32_t flags =
		marks_at(&t->out->marks,
			 is_of_work ? tile->called_track : tile->track_id,
			 is_of_work ? tile->called_ns : tile->start_ns);

	if ((unsigned)tile->category == PF_CAUSE_PROFILER)
		return 0; /* whatever it is in */
	if (!strcmp(tile->kind, "data loading"))
		flags |= ADVISE_DATA;
	if (tile->end_ns - tile->start_ns >= ADVISE_LONG_NS)
		flags |= ADVISE_LONG;
	if (t->out->has_late && tile->start_ns >= t->late_ns)
		flags |= ADVISE_LATE;
	if (tile->start_ns >= t->tail_ns &&
	    (unsigned)tile->category == PF_CAUSE_ALLOCATOR)
		flags |= ADVISE_TAIL;
	if (tile->category == PF_PATH_RETURN && t->is_after_copy)
		flags |= ADVISE_AWAITED;
	if ((tile->category == PF_PATH_RETURN ||
	     (unsigned)tile->category == PF_CAUSE_SYNC) &&
	    ends_step(t, tile))
		flags |= ADVISE_ENDS;
	if (tile->category == PF_PATH_RETURN && t->is_after_comm)
		flags |= ADVISE_COMM;
	return flags;
}

/* Work without a call, up to the first that has one. */
static void find_before(struct advise_taker *t, const struct pf_path_tile *tile,
			uint32_t *flags)
{
	if (tile->category < PF_PATH_KERNEL ||
	    tile->category > PF_PATH_MEMSET || t->is_begun)
		return;
	t->is_begun = tile->called_ns != PF_NO_INT;
	*flags |= t->is_begun ? 0 : ADVISE_BEFORE;
}

/* What the caller needs from one call of what logs to the next goes with it. */
static void find_log(struct advise_taker *t, const struct pf_path_tile *tile,
		     uint32_t *flags)
{
	const uint32_t log = 1u << ADVISE_MARK_LOG;
	bool was_log = t->was_log;

	t->was_log = *flags & log;
	if (was_log && (unsigned)tile->category == PF_CAUSE_PYTHON &&
	    tile->end_ns - tile->start_ns <= CALLER_NS)
		*flags |= log;
}

static int find_copy(struct advise_taker *t, const struct pf_path_tile *tile)
{
	char *text;

	t->is_after_copy = false;
	t->is_after_comm = tile->category == PF_PATH_COMM;
	if (tile->category != PF_PATH_COPY)
		return 0;
	text = pf_names_text_take(t->texts, tile->name);
	PF_TRY(!text);
	t->is_after_copy =
		strstr(text, "HtoD") &&
		(strstr(text, "Pageable") || advise_may_be_pageable(text));
	free(text);
	return 0;
}

/* Of GPU work the range that it was launched in. */
static uint32_t range_of(const struct advise_taker *t,
			 const struct pf_path_tile *tile)
{
	struct advise_ranges *r = &t->out->ranges;
	bool is_of_work = tile->called_ns != PF_NO_INT;
	const struct advise_span *s =
		span_at(r->spans, r->count, &r->begun,
			is_of_work ? tile->called_track : tile->track_id,
			is_of_work ? tile->called_ns : tile->start_ns);

	return s ? s->mark : 0;
}

static struct key key_of(const struct advise_taker *t,
			 const struct pf_path_tile *tile)
{
	return (struct key){ .category = tile->category,
			     .flags = flags_of(t, tile),
			     .name = tile->name,
			     .op = tile->op,
			     .frame = tile->frame,
			     .range = range_of(t, tile) };
}

/* A script that waits for its step to end, as for timing, waits for no result. */
static int take_wait(struct pf_path_sink *s, const struct pf_path_tile *tile,
		     struct pf_err *err)
{
	struct advise_taker *t = (struct advise_taker *)s;
	const struct key key = key_of(t, tile);
	struct sum *sum = sum_of(t, &key);

	(void)err;
	if (tile->start_ns == tile->end_ns) {
		sum->count++;
		if (!sum->longest_ns)
			sum->longest_at_ns = tile->end_ns;
	}
	if (tile->op != PF_ID_NONE || !(key.flags & ADVISE_ENDS))
		sum->blocked_ns += tile->end_ns - tile->called_ns;
	return 0;
}

static int take(struct pf_path_sink *s, const struct pf_path_tile *tile,
		struct pf_err *err)
{
	struct advise_taker *t = (struct advise_taker *)s;
	struct piece p = {
		.key = key_of(t, tile),
		.start_ns = tile->start_ns,
		.end_ns = tile->end_ns,
	};
	enum advise_role role;
	bool is_work;

	(void)err;
	if (role_of(t, tile->op, &role) < 0 || find_copy(t, tile) < 0 ||
	    find_work(t, tile, &p.key.flags, &is_work) < 0 ||
	    find_step(t, tile, &p.key.flags) < 0)
		return -1;
	find_log(t, tile, &p.key.flags);
	find_before(t, tile, &p.key.flags);
	*PF_ONE_MORE(t->pending, t->pending_count, t->pending_cap) = p;
	follow(t, role_in(t, tile, role), is_work);
	return 0;
}

/* ---- rows ---- */

PF_ORDER(by_time, struct advise_row,
	 PF_DOWN(ns) PF_UP(category) PF_ALPHA(name) PF_ALPHA(op) PF_ALPHA(frame)
		 PF_UP(flags))

static const char *text_of(struct advise_taker *t, uint32_t id)
{
	const char *text = pf_names_frame(t->out->path->names, id);

	return text ? text : "";
}

/* A product in single precision that may run in another. */
static bool is_single(const struct pf_tensor *tensor,
		      const struct advise_row *r)
{
	struct pf_kernel_kind kind;

	if (r->category != PF_PATH_KERNEL)
		return false;
	kind = pf_tensor_kind(tensor, r->name);
	return (kind.class == PF_CLASS_GEMM || kind.class == PF_CLASS_CONV) &&
	       kind.precision == PF_PRECISION_FP32 &&
	       (strncmp(r->op, "aten::", 6) != 0 ||
		pf_tensor_op(tensor, r->op));
}

/* Ranges by number, and names that they share. */
static void make_ranges(struct advise_taker *t)
{
	struct advise_tiles *out = t->out;
	const struct pf_intern *keys = &out->ranges.keys;
	struct pf_intern names = { 0 };
	struct advise_range r;

	out->range_count = keys->count + 1;
	out->range = pf_calloc(out->range_count, sizeof(*out->range));
	for (uint32_t i = 1; i < out->range_count; i++) {
		memcpy(&r, pf_intern_text(keys, i - 1, NULL), sizeof(r));
		out->range[i].outer = r.outer;
		out->range[i].name = pf_intern_add(
			&names, (const char *)&r.name, sizeof(r.name));
	}
	out->range_name_count = names.count;
	out->range_names =
		pf_calloc(names.count + 1, sizeof(*out->range_names));
	for (uint32_t i = 0; i < names.count; i++) {
		memcpy(&r.name, pf_intern_text(&names, i, NULL),
		       sizeof(r.name));
		out->range_names[i] = text_of(t, r.name);
	}
	pf_intern_release(&names);
}

PF_ORDER(by_row, struct advise_part, PF_UP(row) PF_UP(longest_at_ns))

/* Sums of rows and ranges become the parts of rows, these in order. */
static uint32_t make_parts(struct advise_taker *t, struct pf_intern *rows)
{
	struct advise_tiles *out = t->out;

	out->parts = pf_calloc((size_t)t->keys.count + 1, sizeof(*out->parts));
	for (uint32_t i = 0; i < t->keys.count; i++) {
		const struct sum *s = &t->sums[i];
		struct advise_part *part = &out->parts[i];
		struct key key;

		memcpy(&key, pf_intern_text(&t->keys, i, NULL), sizeof(key));
		*part = (struct advise_part){
			s->ns,         s->count,         s->blocked_ns,
			s->longest_ns, s->longest_at_ns, 0,
			key.range
		};
		key.range = 0;
		part->row =
			pf_intern_add(rows, (const char *)&key, sizeof(key));
	}
	pf_sort(out->parts, t->keys.count, sizeof(*out->parts), by_row);
	return t->keys.count;
}

static void add_part(struct advise_row *r, const struct advise_part *part)
{
	if (!r->part_count++)
		r->parts = part;
	r->ns += part->ns;
	r->count += part->count;
	r->blocked_ns += part->blocked_ns;
	if (r->part_count > 1 && part->longest_ns <= r->longest_ns)
		return;
	r->longest_ns = part->longest_ns;
	r->longest_at_ns = part->longest_at_ns;
}

static int make_rows(struct advise_taker *t)
{
	struct advise_tiles *out = t->out;
	const struct pf_tensor *tensor = pf_tensor_of(t->db);
	PF_AUTO(pf_intern_release) struct pf_intern keys = { 0 };
	uint32_t part_count;

	PF_TRY(!tensor);
	make_ranges(t);
	part_count = make_parts(t, &keys);
	out->row_count = keys.count;
	out->rows = pf_calloc(out->row_count + 1, sizeof(*out->rows));
	for (uint32_t i = 0; i < part_count; i++)
		add_part(&out->rows[out->parts[i].row], &out->parts[i]);
	for (uint32_t i = 0; i < keys.count; i++) {
		struct advise_row *r = &out->rows[i];
		struct key key;

		memcpy(&key, pf_intern_text(&keys, i, NULL), sizeof(key));
		r->category = (enum pf_path_category)key.category;
		r->flags = key.flags;
		r->name = text_of(t, key.name);
		r->op = text_of(t, key.op);
		r->frame = text_of(t, key.frame);
		if (is_single(tensor, r))
			r->flags |= ADVISE_FP32;
		if (advise_is_kernel(r) && strcasestr(r->op, "conv") &&
		    pf_tensor_kind(tensor, r->name).class == PF_CLASS_COPY)
			r->flags |= ADVISE_TURNS;
		/* where nothing is launched no piece is too short to be code */
		if (!out->path->work_count)
			r->flags |= ADVISE_LONG | ADVISE_ALONE;
		out->has_functions |= pf_name_has_line(r->frame) ||
				      strstr(r->frame, " <module>");
		r->short_name =
			advise_is_gpu(r)
				? pf_kernel_short_kept(&out->texts, r->name)
				: r->name;
	}
	pf_sort(out->rows, out->row_count, sizeof(*out->rows), by_time);
	return t->db->err->code ? -1 : 0;
}

/* ---- all of it ---- */

/* Marks and steps of the trace, before its path is read. */
static int prepare(struct advise_taker *t, const struct pf_window_args *args)
{
	PF_AUTO(pf_window_release) struct pf_window window = { 0 };
	const struct pf_window_trace *w;
	struct pf_recorded recorded;
	int64_t from_ns, to_ns;
	size_t first;

	PF_TRY(pf_window_resolve(t->db, args, &window));
	PF_TRY(pf_trust_recorded(t->db, &window, &recorded));
	t->has_work = recorded.has_work;
	w = window.traces;
	t->out->first_ns = w->first_ns;
	from_ns = w->from_ns > w->first_ns ? w->from_ns : w->first_ns;
	to_ns = w->to_ns < w->last_ns ? w->to_ns : w->last_ns;
	t->tail_ns = to_ns - (to_ns - from_ns) / ADVISE_TAIL_PART;
	PF_TRY(!t->has_work &&
	       pf_trust_has_shapes(t->db, &t->out->has_shapes) < 0);
	PF_TRY(marks_load(t->db, w->trace_id, t->texts, t->has_work, t->out));
	PF_TRY(pf_window_steps(t->db, &window, &t->out->steps));
	first = pf_steps_first(&t->out->steps, w->trace_id);
	if (pf_steps_is_of(&t->out->steps, first + 1, w->trace_id)) {
		t->out->has_late = true;
		t->late_ns = t->out->steps.items[first].host_end_ns;
	}
	return 0;
}

static void free_taker(struct advise_taker *t)
{
	if (!t)
		return;
	pf_names_free(t->texts);
	pf_intern_release(&t->keys);
	free(t->sums);
	free(t->pending);
	free(t->roles);
	free(t);
}

int pf_advise_begin(struct pf_db *db, struct pf_path_args *path,
		    struct pf_advise *out)
{
	struct advise_taker *t = pf_calloc(1, sizeof(*t));

	*out = (struct pf_advise){ 0 };
	t->sink.tile = take;
	t->sink.wait = take_wait;
	t->db = db;
	t->late_ns = INT64_MIN;
	t->out = out->tiles = pf_calloc(1, sizeof(*out->tiles));
	t->out->taker = t;
	t->texts = pf_names_new(db);
	PF_TRY(!t->texts);
	t->role_count = pf_names_count(t->texts);
	t->roles = pf_calloc(t->role_count + 1, 1);
	PF_TRY(pf_hint_producer(db, &out->producer) < 0);
	path->also = &t->sink;
	path->beside =
		(struct pf_opt_list){ advise_questions, advise_question_count,
				      advise_question_count };
	return prepare(t, &path->window);
}

int pf_advise_end(struct pf_advise *a, const struct pf_path *path)
{
	struct advise_taker *t = a->tiles->taker;
	int rc;

	a->tiles->path = path;
	a->window_ns = path->window_ns;
	a->step_count = path->step_count;
	/* steps that end behind the path are no shorter for what is on it */
	if (!a->step_count)
		a->window_ns += path->behind_ns;
	finish(t);
	rc = make_rows(t);
	free_taker(t);
	a->tiles->taker = NULL;
	return rc;
}

int pf_advise_read(struct pf_db *db, const struct pf_advise_args *args,
		   struct pf_advise *out)
{
	struct pf_path_args asked = {
		.window = args->window,
		.group = PF_PATH_BY_NAME,
		.is_bare = true,
	};
	struct pf_path *path;

	PF_TRY(pf_advise_begin(db, &asked, out) < 0);
	path = &out->tiles->own_path;
	PF_TRY(pf_path_find(db, &asked, path) < 0);
	return pf_advise_end(out, path);
}

void pf_advise_release(struct pf_advise *a)
{
	struct advise_tiles *t = a->tiles;

	for (size_t i = 0; i < a->alone_count; i++)
		pf_advise_release(&a->alone[i]);
	free(a->alone);
	if (a->late)
		pf_advise_release(a->late);
	free(a->late);
	for (size_t i = 0; i < a->count; i++) {
		pf_buf_release(&a->all[i].sentence);
		pf_buf_release(&a->all[i].detail);
		pf_buf_release(&a->all[i].command);
	}
	if (t) {
		free_taker(t->taker);
		pf_path_release(&t->own_path);
		marks_release(&t->marks);
		free(t->ranges.spans);
		pf_intern_release(&t->ranges.keys);
		free(t->range);
		free(t->range_names);
		free(t->parts);
		pf_steps_release(&t->steps);
		free(t->rows);
		pf_arena_release(&t->texts);
		free(t);
	}
	*a = (struct pf_advise){ 0 };
}
