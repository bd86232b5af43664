/* SPDX-License-Identifier: MIT */
/*
 * The passes that fill groups: allocations, the events of the host with the
 * GPU time that is theirs, and those of devices.
 */
#include "config.h"

#include "base/mem.h"
#include "torch/engine.h"

/* The groups of a row, both in one number. */
static int find_groups(struct pf_engine *e, const struct pf_engine_row *row,
		       uint64_t *groups)
{
	struct pf_args_fact args = { e->facts.no_shapes, e->facts.empty, 0 };
	uint32_t found[PF_GROUPINGS_MAX] = { 0 };

	if (row->has_args &&
	    pf_facts_args(&e->facts, &row->args, &args, e->err))
		return -1;
	if (row->has_stack)
		args.stack = row->stack;
	for (size_t i = 0; i < e->grouping_count; i++) {
		const struct pf_grouping *g = &e->args->grouping[i];
		struct pf_group_key key = {
			.name = row->name.text,
			.overload = g->by_overload ? row->name.overload
						   : e->facts.empty,
			.shapes = g->by_shape ? args.shapes : e->facts.empty,
			.stack = g->stack
					 ? pf_engine_cut_stack(e, i, args.stack)
					 : e->facts.empty,
			.is_device = row->is_device,
			.is_annotation = row->is_annotation,
		};

		found[i] = pf_groups_find(&e->groups[i], &key);
	}
	if (e->grouping_count > 1)
		e->groups[1].group[found[1]].coarse = found[0];
	*groups = (uint64_t)found[1] << 32 | found[0];
	return 0;
}

/* Find the groups of an event and take its tickets. */
static int engine_begin(struct pf_engine *e, const struct pf_engine_row *row,
			struct pf_node *node)
{
	uint32_t args = row->has_args ? row->args.id : PF_ID_NONE;
	uint64_t key = (uint64_t)row->name.text << 34 |
		       (uint64_t)row->is_device << 33 |
		       (uint64_t)row->is_annotation << 32 | args;
	bool is_kept = args != PF_ID_INLINE && row->name.text < 1u << 30 &&
		       !row->has_stack && !e->args->grouping[0].by_overload;
	uint64_t groups = UINT64_MAX;

	if (is_kept)
		groups = *pf_map_at(&e->rows, key);
	if (groups == UINT64_MAX) {
		PF_TRY(find_groups(e, row, &groups));
		if (is_kept)
			*pf_map_at(&e->rows, key) = groups;
	}
	node->group[0] = (uint32_t)groups;
	node->group[1] = (uint32_t)(groups >> 32);
	for (size_t i = 0; i < e->grouping_count; i++)
		node->ticket[i] =
			pf_groups_begin(&e->groups[i], node->group[i]);
	return 0;
}

/* ---- memory ---- */

#define BUDGET_BYTES (1u << 20)

/* In the spool of sums: sums of all records before this one. */
struct prefix {
	int64_t t_ns, cpu_bytes, device_bytes;
};

/* A stretch of time that some event of a track covers. */
struct stretch {
	int64_t low_ns, high_ns;
};

struct pf_memory {
	struct pf_err *err;
	bool is_rounded;
	int64_t base_ns;
	struct pf_sorter *records, *stretches;
	struct pf_spool *prefixes, *orphans;
	struct pf_lookup low, high;
	struct prefix low_sum, high_sum; /* of the last lookups */
	size_t track_count;
	struct stretch *open; /* of each track, the last so far */
};

/* base_ns: what is added to times to make them absolute. */
static struct pf_memory *memory_new(const struct pf_engine *e)
{
	struct pf_memory *m = pf_calloc(1, sizeof(*m));
	const char *temp_dir = e->temp_dir;

	m->err = e->err;
	m->is_rounded = e->rules.border == PF_BORDER_DOUBLE;
	m->base_ns = e->base_ns;
	m->records = pf_sorter_new(sizeof(struct pf_memory_record),
				   BUDGET_BYTES, temp_dir);
	m->stretches =
		pf_sorter_new(sizeof(struct stretch), BUDGET_BYTES, temp_dir);
	m->prefixes =
		pf_spool_new(sizeof(struct prefix), 2 * BUDGET_BYTES, temp_dir);
	m->orphans = pf_spool_new(sizeof(struct pf_memory_record), BUDGET_BYTES,
				  temp_dir);
	pf_lookup_init(&m->low, m->prefixes);
	pf_lookup_init(&m->high, m->prefixes);
	m->track_count = e->track_count;
	m->open = pf_calloc(e->track_count + 1, sizeof(*m->open));
	for (size_t i = 0; i < e->track_count; i++)
		m->open[i] = (struct stretch){ INT64_MIN, INT64_MIN };
	return m;
}

void pf_memory_free(struct pf_memory *m)
{
	if (!m)
		return;
	pf_sorter_free(m->records);
	pf_sorter_free(m->stretches);
	pf_spool_free(m->prefixes);
	pf_spool_free(m->orphans);
	free(m->open);
	free(m);
}

/*
 * t/1000 rounded once to a double.  Below 2^53 the division does that itself;
 * above, dividing a rounded t would round twice: so the whole part, which is
 * exact, and the fraction to the bits that are left for it, halves to even.
 */
static double divide_1000(int64_t t)
{
	uint64_t whole, fraction, rest;
	unsigned bits;

	if (t < INT64_C(1) << 53)
		return (double)t / 1000.0;
	whole = (uint64_t)t / 1000;
	bits = 53 - (64 - (unsigned)__builtin_clzll(whole));
	if (bits > 52) /* more than 2^53: no time of this epoch */
		return (double)t / 1000.0;
	fraction = ((uint64_t)t % 1000) << bits;
	rest = fraction % 1000;
	fraction /= 1000;
	if (rest > 500 ||
	    (rest == 500 && ((fraction | (bits ? 0 : whole)) & 1)))
		fraction++;
	return (double)whole + (double)fraction / (double)(UINT64_C(1) << bits);
}

double pf_memory_round(int64_t t_ns)
{
	return divide_1000(t_ns) * 1000.0;
}

/* The borders of an event as absolute integers, both included. */
static struct stretch borders(const struct pf_memory *m, int64_t start_ns,
			      int64_t end_ns)
{
	struct stretch s;
	double low, high;

	if (__builtin_add_overflow(start_ns, m->base_ns, &s.low_ns))
		s.low_ns = INT64_MAX;
	if (__builtin_add_overflow(end_ns, m->base_ns, &s.high_ns))
		s.high_ns = INT64_MAX;
	if (!m->is_rounded)
		return s;
	low = pf_memory_round(s.low_ns);
	high = pf_memory_round(s.high_ns);
	/* Towards the inside; conversion alone cuts towards 0. */
	if (low > -9e18 && low < 9e18)
		s.low_ns = (int64_t)low + ((double)(int64_t)low < low);
	if (high > -9e18 && high < 9e18)
		s.high_ns = (int64_t)high - ((double)(int64_t)high > high);
	return s;
}

static void memory_add(struct pf_memory *m, const struct pf_memory_record *r)
{
	struct pf_memory_record copy;

	memset(&copy, 0, sizeof(copy));
	copy.position = r->position;
	copy.cpu_bytes = r->cpu_bytes;
	copy.device_bytes = r->device_bytes;
	copy.track = r->track;
	copy.is_oom = r->is_oom;
	if (__builtin_add_overflow(r->t_ns, m->base_ns, &copy.t_ns))
		copy.t_ns = INT64_MAX;
	pf_sorter_add(m->records, &copy, m->err);
}

/* An event takes records; those of a track come in the order of their start. */
static void memory_cover(struct pf_memory *m, const struct pf_fe *fe)
{
	struct stretch s = borders(m, fe->start_ns, fe->end_ns);
	struct stretch *open = &m->open[fe->track];

	if (s.high_ns < s.low_ns)
		return;
	if (s.low_ns > open->high_ns) {
		pf_sorter_add(m->stretches, open, m->err);
		*open = s;
	} else if (s.high_ns > open->high_ns) {
		open->high_ns = s.high_ns;
	}
}

static void add_prefix(struct pf_memory *m, const struct pf_memory_record *r,
		       struct prefix *sum)
{
	sum->t_ns = r->t_ns;
	pf_spool_add(m->prefixes, sum, m->err);
	sum->cpu_bytes =
		(int64_t)((uint64_t)sum->cpu_bytes + (uint64_t)r->cpu_bytes);
	sum->device_bytes = (int64_t)((uint64_t)sum->device_bytes +
				      (uint64_t)r->device_bytes);
}

static void add_orphan(struct pf_memory *m, const struct pf_memory_record *r)
{
	struct pf_memory_record orphan = *r;

	if (__builtin_sub_overflow(r->t_ns, m->base_ns, &orphan.t_ns))
		orphan.t_ns = r->t_ns;
	pf_spool_add(m->orphans, &orphan, m->err);
}

/* Everything was shown: walk records and stretches together. */
static void memory_finish(struct pf_memory *m)
{
	struct prefix sum = { 0 };
	int64_t covered_to = INT64_MIN;
	const struct pf_memory_record *r;
	const struct stretch *s;

	for (size_t i = 0; i < m->track_count; i++)
		pf_sorter_add(m->stretches, &m->open[i], m->err);
	if (pf_sorter_finish(m->records, m->err) ||
	    pf_sorter_finish(m->stretches, m->err))
		return;
	s = pf_sorter_next(m->stretches, m->err);
	while ((r = pf_sorter_next(m->records, m->err))) {
		for (; s && s->low_ns <= r->t_ns;
		     s = pf_sorter_next(m->stretches, m->err))
			if (s->high_ns > covered_to)
				covered_to = s->high_ns;
		if (!r->is_oom)
			add_prefix(m, r, &sum);
		if (r->is_oom || r->t_ns > covered_to)
			add_orphan(m, r);
	}
	sum.t_ns = INT64_MAX;
	pf_spool_add(m->prefixes, &sum, m->err);
}

/* The sums before the first record at or after t; "last" keeps them. */
static int prefix_at(struct pf_memory *m, struct pf_lookup *l, int64_t t,
		     struct prefix *last)
{
	const struct prefix *p;
	uint64_t i;

	if (t > l->above && t <= l->upto)
		return 0;
	PF_TRY(pf_lookup_bound(l, t, &i, m->err));
	p = pf_spool_at(m->prefixes, i, m->err);
	if (!p)
		return -1;
	*last = *p;
	return 0;
}

/* Sums of the records of an event, CPU and device. */
static int memory_sums(struct pf_memory *m, int64_t start_ns, int64_t end_ns,
		       int64_t *cpu_bytes, int64_t *device_bytes)
{
	struct stretch s = borders(m, start_ns, end_ns);
	const struct prefix *low = &m->low_sum, *high = &m->high_sum;

	*cpu_bytes = *device_bytes = 0;
	if (s.high_ns < s.low_ns || s.high_ns == INT64_MAX)
		return 0;
	PF_TRY(prefix_at(m, &m->low, s.low_ns, &m->low_sum));
	PF_TRY(prefix_at(m, &m->high, s.high_ns + 1, &m->high_sum));
	*cpu_bytes =
		(int64_t)((uint64_t)high->cpu_bytes - (uint64_t)low->cpu_bytes);
	*device_bytes = (int64_t)((uint64_t)high->device_bytes -
				  (uint64_t)low->device_bytes);
	return 0;
}

/* Orphan i in order of time, NULL at the end or on an error. */
static const struct pf_memory_record *memory_orphan(struct pf_memory *m,
						    uint64_t i)
{
	return i < pf_spool_count(m->orphans)
		       ? pf_spool_at(m->orphans, i, m->err)
		       : NULL;
}

static void add_record(struct pf_engine *e, const struct pf_fe *fe)
{
	struct pf_memory_record r = { .t_ns = fe->start_ns,
				      .position = fe->position,
				      .track = fe->track,
				      .is_oom = fe->kind == PF_KIND_OOM };
	struct pf_args_fact args;

	if (pf_facts_args(&e->facts, &fe->args, &args, e->err))
		return;
	if (args.flags & PF_ARGS_CPU_MEMORY)
		r.cpu_bytes = fe->bytes;
	if (args.flags & PF_ARGS_DEVICE_MEMORY ||
	    (args.flags & PF_ARGS_XPU_MEMORY && e->rules.xpu_memory))
		r.device_bytes = fe->bytes;
	if (r.is_oom)
		r.cpu_bytes = r.device_bytes = 0;
	memory_add(e->memory, &r);
}

static void cover_op(struct pf_engine *e, const struct pf_fe *fe)
{
	struct pf_name_fact name;
	struct pf_args_fact args = { 0 };

	/* What is not finished is no event, or ends with one that is. */
	if (e->has_finished_key && !e->rules.unfinished_kept &&
	    pf_facts_args(&e->facts, &fe->args, &args, e->err))
		return;
	if (args.flags & PF_ARGS_UNFINISHED ||
	    (pf_kind_in(fe->kind, PF_KINDS_OP) && pf_engine_ends_late(e, fe)))
		return;
	if (pf_facts_name(&e->facts, fe->kind, &fe->name, &name, e->err))
		return;
	if (!(name.flags & PF_NAME_DROPPED) &&
	    !pf_engine_skips_python(e, fe, &name))
		memory_cover(e->memory, fe);
}

int pf_engine_before(struct pf_engine *e, uint32_t kinds, uint64_t columns,
		     pf_engine_see *see, void *context)
{
	struct pf_merge_args args = {
		.tracks = e->tracks,
		.count = e->track_count,
		.kinds = kinds,
		.columns = columns,
		.use = e->is_host,
	};
	PF_AUTO(pf_merge_freed) struct pf_merge *m = NULL;
	const struct pf_fe *fe;

	if (pf_engine_has(e, PF_KINDS_MEMORY)) {
		e->memory = memory_new(e);
		args.kinds |= PF_KINDS_MEMORY | PF_KINDS_OP | PF_KINDS_CALL |
			      PF_KINDBIT(PF_KIND_OVERHEAD);
		args.columns |= PF_COLBIT(PF_COL_SLOT + PF_SLOT_EV_IDX) |
				PF_COLBIT(PF_COL_NAME) |
				PF_COLBIT(PF_COL_ARGS) |
				PF_COLBIT(PF_COL_SLOT + PF_SLOT_BYTES);
		if (e->rules.python_in_tree || e->has_collections)
			args.kinds |= PF_KINDBIT(PF_KIND_PYTHON);
	}
	m = args.kinds ? pf_merge_new(e->db, &e->facts, &args, e->err) : NULL;
	while (m && !e->err->code && (fe = pf_merge_next(m, e->err))) {
		if (pf_kind_in(fe->kind, PF_KINDS_MEMORY))
			add_record(e, fe);
		else if (e->memory)
			cover_op(e, fe);
		if (pf_kind_in(fe->kind, kinds))
			PF_TRY(see(e, context, fe));
	}
	if (e->memory)
		memory_finish(e->memory);
	return e->err->code ? -1 : 0;
}

/*
 * The main pass: every CPU event in torch's order, with its thread, kernels
 * and memory, into the tree.
 */

/* How far truncation to microseconds can make a child end too late. */
#define TRUNCATION_NS 1000

struct host_pass {
	struct pf_engine *e;
	uint64_t overhead_at, orphan_at;
	int64_t orphan_ns; /* no later than the next one */
	bool may_be_unfinished;
	struct pf_cxx_stack *open; /* of each thread; NULL: not needed */
};

/* One event on its way into the tree. */
struct item {
	const struct pf_fe *fe;
	struct pf_name_fact name;
	struct pf_args_fact args;
	int64_t end_ns, id, link;
	uint32_t thread, stack;
	bool is_op, is_async, has_stack;
};

/* Where a call or overhead without an operator nests. */
static uint32_t unlinked_thread(const struct pf_engine *e,
				const struct pf_fe *fe)
{
	if (e->rules.is_capture)
		return fe->track;
	return e->rules.unlinked_in_tree ? e->stop_track
					 : (uint32_t)e->track_count + 1;
}

/* Id, link and thread of a runtime call. */
static int place_call(struct pf_engine *e, struct item *it)
{
	it->link = pf_engine_call_link(e, it->fe);
	it->id = it->fe->correlation;
	if (it->link)
		return pf_engine_linked_thread(e, it->fe, it->link,
					       &it->thread);
	it->thread = unlinked_thread(e, it->fe);
	return 0;
}

static int place_overhead(struct host_pass *p, struct item *it)
{
	struct pf_engine *e = p->e;
	const int64_t *id;

	it->thread = unlinked_thread(e, it->fe);
	if (!e->overhead_ids)
		return 0;
	id = pf_spool_at(e->overhead_ids, p->overhead_at++, p->e->err);
	if (!id)
		return -1;
	it->id = *id;
	return 0;
}

/* May this event take the kernels whose link is its id? */
static bool is_candidate(const struct pf_engine *e, const struct item *it)
{
	if (it->is_async || it->id <= 0)
		return false;
	if (it->is_op)
		return true;
	switch (e->rules.candidates) {
	case PF_CANDIDATES_OPS:
		return false;
	case PF_CANDIDATES_ALL:
		return true;
	case PF_CANDIDATES_UNLINKED:
		break;
	}
	if (it->fe->kind == PF_KIND_OVERHEAD)
		return e->rules.overhead_claims;
	return !it->link && e->rules.unlinked_claims;
}

static int take_kernels(struct pf_engine *e, const struct item *it,
			struct pf_node *n)
{
	struct pf_host_track *t = &e->host[it->fe->track];
	struct pf_lookup *l = it->is_op ? &t->op_kernels : &t->call_kernels;
	const struct pf_kernel_sum *sum;
	int found;

	if (!is_candidate(e, it) || !l->spool)
		return 0;
	found = pf_lookup_find(l, it->id, (const void **)&sum, e->err);
	if (found == 1) {
		n->kernel_us = sum->us;
		n->kernel_ns = sum->ns;
	}
	return found < 0 ? -1 : 0;
}

/* The innermost event of a thread that is open at a time, or NULL. */
static const struct pf_node *enclosing(const struct pf_engine *e,
				       uint32_t thread, int64_t at_ns)
{
	const struct pf_stack *s = &e->tree.stack[thread];

	for (size_t i = s->depth; i-- > 0;)
		if (s->node[i].place.end_ns > at_ns)
			return &s->node[i];
	return NULL;
}

/*
 * Only a function of TorchScript may wait and go on on another thread.  What
 * the dispatcher or autograd runs ends where it began: it crosses others when
 * it is what ends a range (under a dispatch mode), or by adjusted times.
 */
static bool may_move(const struct pf_engine *e, const struct item *it)
{
	const char *name = pf_intern_text(&e->facts.texts, it->name.text, NULL);

	return !(it->fe->mask & 1u << PF_SLOT_SEQUENCE) &&
	       !strstr(name, "::") && strcmp(name, "PythonDispatchMode") != 0;
}

/*
 * An operator begins inside another of its thread and ends after it: it was
 * finished elsewhere, which is what torch calls asynchronous.
 */
static bool breaks_nesting(const struct pf_engine *e, const struct item *it)
{
	const struct pf_node *around =
		enclosing(e, it->thread, it->fe->start_ns);
	uint64_t slack = e->rules.is_us ? TRUNCATION_NS : 0;

	return !e->rules.is_capture && around && around->is_op &&
	       it->fe->kind == PF_KIND_CPU_OP &&
	       it->end_ns > around->place.end_ns &&
	       (uint64_t)it->end_ns - (uint64_t)around->place.end_ns > slack &&
	       may_move(e, it);
}

static bool is_unfinished(const struct host_pass *p, const struct item *it)
{
	return pf_engine_ends_late(p->e, it->fe) ||
	       it->args.flags & PF_ARGS_UNFINISHED;
}

/*
 * The profiler ended before the operator, which ended on no thread and so is
 * asynchronous: it takes the end of its parent in the C++ tree.  Without one
 * it ends with the trace since 2.12, and is not there at all before (false).
 */
static bool finish_early(struct host_pass *p, struct item *it)
{
	const struct pf_engine *e = p->e;
	const struct pf_cxx_open *around;

	around = p->open ? pf_cxx_top(&p->open[it->thread], it->fe->start_ns)
			 : NULL;
	if (e->rules.unfinished_kept && !around) {
		it->is_async = true;
		if (e->trace_end_ns < it->end_ns &&
		    e->trace_end_ns >= it->fe->start_ns)
			it->end_ns = e->trace_end_ns;
		return true;
	}
	if (!around) {
		it->end_ns = INT64_MIN;
		return false;
	}
	it->end_ns = around->end_ns;
	it->is_async = true;
	return true;
}

/*
 * Where adjust_timestamps leaves a Python function no time, Kineto gives it the
 * end of its own capture; no other ends after the profiler's span.
 */
static bool has_no_time(const struct pf_engine *e, const struct pf_fe *fe)
{
	return fe->kind == PF_KIND_PYTHON && fe->end_ns > e->trace_end_ns;
}

/* What is open in the C++ tree, for what is not finished. */
static void open_cxx(struct host_pass *p, const struct item *it,
		     bool is_finished)
{
	struct pf_cxx_stack *s;

	if (!p->open || it->end_ns <= it->fe->start_ns)
		return;
	s = &p->open[it->thread];
	pf_cxx_top(s, it->fe->start_ns);
	pf_cxx_push(s, is_finished ? it->end_ns : INT64_MAX, it->end_ns, 0);
}

static int take_memory(struct pf_engine *e, const struct item *it,
		       struct pf_node *n)
{
	if (!e->memory)
		return 0;
	return memory_sums(e->memory, it->fe->start_ns, it->end_ns,
			   &n->cpu_bytes, &n->device_bytes);
}

static int take_flops(struct pf_engine *e, const struct item *it,
		      struct pf_node *n)
{
	unsigned op = it->name.flags >> PF_NAME_FLOP_SHIFT;

	if (!op || !it->is_op || !e->result->has_flops)
		return 0;
	return pf_facts_flops(&e->facts, op, &it->fe->args, &n->flops, e->err);
}

static int begin_row(struct pf_engine *e, const struct item *it,
		     struct pf_node *n)
{
	bool is_collection = pf_engine_is_collection(e, it->fe, &it->name);
	struct pf_engine_row row = { .name = it->name,
				     .args = it->fe->args,
				     .has_args = it->is_op || is_collection };

	n->is_python = it->fe->kind == PF_KIND_PYTHON && !is_collection;
	n->is_row = !n->is_python || e->rules.python_rows;
	if (it->fe->start_ns < e->from_ns || it->fe->start_ns >= e->to_ns)
		n->is_row = false;
	n->has_stack = it->has_stack;
	n->stack = it->stack;
	PF_TRY(pf_engine_host_stack(e, it->fe, n,
				    n->has_parent ? n - 1 : NULL));
	if (!n->is_row)
		return 0;
	row.has_stack = n->has_stack;
	row.stack = n->stack;
	row.is_annotation = it->fe->kind == PF_KIND_ANNOTATION &&
			    e->rules.annotations_apart;
	return engine_begin(e, &row, n);
}

static void settle_place(const struct item *it, struct pf_node *n,
			 const struct pf_engine *e)
{
	n->place = (struct pf_fe_place){ it->fe->start_ns, it->end_ns,
					 it->fe->position,
					 it->fe->is_late ? 1 : 0 };
	n->name = it->name.text;
	n->is_op = it->is_op;
	n->cpu_us = pf_engine_dur_us(e, it->fe->start_ns, it->end_ns);
}

/* An asynchronous event stands alone: only its duration and memory count. */
static int put_async(struct pf_engine *e, const struct item *it)
{
	struct pf_figures f = { 0 };
	struct pf_node n = { 0 };

	settle_place(it, &n, e);
	if (take_memory(e, it, &n) || take_flops(e, it, &n) ||
	    begin_row(e, it, &n))
		return -1;
	f.ns[PF_FIG_CPU] = it->end_ns - it->fe->start_ns;
	f.us[PF_FIG_CPU] = n.cpu_us;
	f.bytes[PF_FIG_CPU] = n.cpu_bytes;
	f.bytes[PF_FIG_DEVICE] = n.device_bytes;
	f.flops = n.flops;
	return pf_tree_settle_alone(&e->tree, &n, &f, true, e->err);
}

static int put(struct pf_engine *e, const struct item *it)
{
	struct pf_node *n;

	if (it->is_async)
		return put_async(e, it);
	n = pf_tree_push(&e->tree, it->thread, it->fe->start_ns, it->end_ns,
			 e->err);
	if (!n)
		return e->err->code ? -1 : 0;
	settle_place(it, n, e);
	if (take_kernels(e, it, n) || take_memory(e, it, n) ||
	    take_flops(e, it, n))
		return -1;
	return begin_row(e, it, n);
}

static int see_op(struct host_pass *p, struct item *it)
{
	struct pf_engine *e = p->e;
	bool is_dropped = it->name.flags & PF_NAME_DROPPED;
	bool is_finished;

	if (p->may_be_unfinished || e->rules.hidden_events)
		if (pf_facts_args(&e->facts, &it->fe->args, &it->args,
				  p->e->err))
			return -1;
	is_finished = !is_unfinished(p, it);
	if (!is_finished && !finish_early(p, it))
		is_dropped = true;
	open_cxx(p, it, is_finished);
	if (it->args.flags & PF_ARGS_HIDDEN && e->rules.hidden_events)
		is_dropped = true;
	it->is_async |= (it->fe->kind == PF_KIND_ANNOTATION &&
			 it->name.flags & PF_NAME_C10D) ||
			breaks_nesting(e, it);
	if (it->fe->kind == PF_KIND_CPU_OP)
		pf_engine_open_op(e, it->fe, !is_dropped && !it->is_async);
	return is_dropped ? 0 : put(e, it);
}

static int see(struct host_pass *p, const struct pf_fe *fe)
{
	struct pf_engine *e = p->e;
	struct item it = { .fe = fe,
			   .end_ns = fe->end_ns,
			   .thread = fe->track,
			   .id = fe->external_id };

	PF_TRY(pf_facts_name(&e->facts, fe->kind, &fe->name, &it.name,
			     p->e->err));
	if (has_no_time(e, fe))
		it.end_ns = fe->start_ns;
	if (fe->kind == PF_KIND_PYTHON)
		open_cxx(p, &it, true);
	if (pf_engine_skips_python(e, fe, &it.name))
		return 0;
	if (pf_kind_in(fe->kind, PF_KINDS_OP)) {
		it.is_op = true;
		return see_op(p, &it);
	}
	it.id = 0;
	it.has_stack = e->has_call_stacks && fe->kind != PF_KIND_PYTHON;
	if (pf_kind_in(fe->kind, PF_KINDS_CALL)) {
		PF_TRY(place_call(e, &it));
		PF_TRY(pf_engine_event_stack(e, fe, it.link, &it.stack));
	} else if (fe->kind == PF_KIND_OVERHEAD) {
		PF_TRY(place_overhead(p, &it));
		PF_TRY(pf_engine_event_stack(e, fe, 0, &it.stack));
	}
	return it.name.flags & PF_NAME_DROPPED ? 0 : put(e, &it);
}

/*
 * Memory records of no event are events themselves: zero length, so they come
 * after everything that begins at the same time.
 */
static int see_orphans(struct host_pass *p, const struct pf_fe *before)
{
	struct pf_engine *e = p->e;
	const struct pf_memory_record *r = NULL;

	while (e->memory && (r = memory_orphan(e->memory, p->orphan_at)) &&
	       (!before || r->t_ns < before->start_ns)) {
		struct pf_engine_row row = { .is_device = false };
		const char *name = r->is_oom ? "[OutOfMemory]" : "[memory]";
		struct pf_memory_record copy = *r;
		struct pf_node *n;

		p->orphan_at++;
		n = pf_tree_push(&e->tree, copy.track, copy.t_ns, copy.t_ns,
				 p->e->err);
		if (!n && p->e->err->code)
			return -1;
		if (!n || copy.t_ns < e->from_ns || copy.t_ns >= e->to_ns)
			continue;
		n->place.position = copy.position;
		n->place.class = copy.is_oom ? 3 : 2;
		n->cpu_bytes = copy.cpu_bytes;
		n->device_bytes = copy.device_bytes;
		n->name = pf_intern_add(&e->facts.texts, name, strlen(name));
		n->is_row = true;
		row.name.text = n->name;
		PF_TRY(engine_begin(e, &row, n));
	}
	p->orphan_ns = r ? r->t_ns : INT64_MAX;
	return p->e->err->code ? -1 : 0;
}

static uint32_t host_kinds(const struct host_pass *p)
{
	const struct pf_engine *e = p->e;
	uint32_t kinds =
		PF_KINDS_OP | PF_KINDS_CALL | PF_KINDBIT(PF_KIND_OVERHEAD);

	if (e->rules.python_in_tree || e->has_collections || p->open)
		kinds |= PF_KINDBIT(PF_KIND_PYTHON);
	return kinds;
}

int pf_engine_host(struct pf_engine *e)
{
	const uint64_t backward =
		e->wants_stacks
			? PF_COLBIT(PF_COL_SLOT + PF_SLOT_SEQUENCE) |
				  PF_COLBIT(PF_COL_SLOT + PF_SLOT_FWD_THREAD) |
				  PF_COLBIT(PF_COL_SLOT + PF_SLOT_PY_ID) |
				  PF_COLBIT(PF_COL_SLOT + PF_SLOT_PY_PARENT)
			: 0;
	struct host_pass p = { .e = e,
			       .orphan_ns = INT64_MIN,
			       .may_be_unfinished = e->has_finished_key };
	struct pf_merge_args args = {
		.tracks = e->tracks,
		.count = e->track_count,
		.columns = PF_COLBIT(PF_COL_SLOT + PF_SLOT_EV_IDX) |
			   PF_COLBIT(PF_COL_NAME) | PF_COLBIT(PF_COL_ARGS) |
			   PF_COLBIT(PF_COL_SLOT + PF_SLOT_EXTERNAL_ID) |
			   PF_COLBIT(PF_COL_SLOT + PF_SLOT_CORRELATION) |
			   backward,
		.use = e->is_host,
	};
	struct pf_merge *m;
	const struct pf_fe *fe;
	int rc;

	/* Python's functions are most of a trace: only where they are asked. */
	if (e->has_finished_key || e->has_late_op)
		p.open = pf_calloc(e->track_count + 2, sizeof(*p.open));
	args.kinds = host_kinds(&p);
	m = pf_merge_new(e->db, &e->facts, &args, e->err);
	rc = m ? 0 : -1;
	while (!rc && (fe = pf_merge_next(m, e->err))) {
		if (e->memory && fe->start_ns > p.orphan_ns)
			rc = see_orphans(&p, fe);
		if (!rc)
			rc = see(&p, fe);
	}
	if (!rc && !e->err->code)
		rc = see_orphans(&p, NULL);
	pf_merge_free(m);
	for (size_t i = 0; p.open && i < e->track_count + 2; i++)
		free(p.open[i].open);
	free(p.open);
	if (rc || e->err->code)
		return -1;
	return pf_tree_finish(&e->tree, e->err);
}

/*
 * GPU events: rows of their own, and kernel time summed by link for the
 * events of the host to take.
 */

#define TIES_MAX   64
#define SUMS_BYTES (1u << 20) /* in memory, and as much again packed */

/* For the sorter: by link, then start. */
struct launched {
	int64_t link, start_ns, order, ns;
};

static int add_row(struct pf_engine *e, const struct pf_fe *fe,
		   int64_t start_ns, int64_t end_ns, uint32_t stack)
{
	struct pf_engine_row row = { .is_device = true,
				     .has_stack = e->has_call_stacks,
				     .stack = stack };
	struct pf_figures f = { 0 };
	struct pf_node n = { 0 };

	PF_TRY(pf_facts_name(&e->facts, fe->kind, &fe->name, &row.name,
			     e->err));
	if (row.name.flags & PF_NAME_DROPPED)
		return 0;
	row.is_annotation =
		(fe->kind == PF_KIND_GPU_ANNOTATION &&
		 e->rules.annotations_apart) ||
		(fe->kind == PF_KIND_GPU_SYNC && e->rules.waits_apart);
	PF_TRY(engine_begin(e, &row, &n));
	n.is_row = true;
	n.place = (struct pf_fe_place){ start_ns, end_ns, fe->position, 1 };
	f.ns[PF_FIG_DEVICE] = f.ns[PF_FIG_SELF_DEVICE] = end_ns - start_ns;
	f.us[PF_FIG_DEVICE] = pf_engine_dur_us(e, start_ns, end_ns);
	f.us[PF_FIG_SELF_DEVICE] = f.us[PF_FIG_DEVICE];
	return pf_tree_settle_alone(&e->tree, &n, &f, false, e->err);
}

/* Hostile times may be too long to be summed. */
static void add_wrapping(int64_t *sum, int64_t ns)
{
	*sum = (int64_t)((uint64_t)*sum + (uint64_t)ns);
}

static void narrow(const struct pf_engine *e, int64_t *start_ns,
		   int64_t *end_ns)
{
	int64_t cut = e->rules.narrow_start_ns + e->rules.narrow_end_ns;

	if (*end_ns - *start_ns < cut)
		return;
	*start_ns += e->rules.narrow_start_ns;
	*end_ns -= e->rules.narrow_end_ns;
}

static int see_device(struct pf_engine *e, struct pf_sorter *sorter,
		      const struct pf_fe *fe)
{
	int64_t start_ns = fe->start_ns, end_ns = fe->end_ns, link;
	struct pf_averages_trust *trust = &e->result->trust;
	struct launched l = { 0 };
	uint32_t stack = 0;
	bool counts;

	if (fe->kind == PF_KIND_GPU_ANNOTATION)
		narrow(e, &start_ns, &end_ns);
	counts = start_ns >= e->from_ns && start_ns < e->to_ns;
	if (pf_engine_device_link(e, fe, &link) ||
	    pf_engine_event_stack(e, fe, link, &stack) ||
	    (counts && add_row(e, fe, start_ns, end_ns, stack)))
		return -1;
	if (counts && pf_kind_is_gpu_work(fe->kind)) {
		add_wrapping(&trust->device_ns, end_ns - start_ns);
		if (link <= 0) {
			add_wrapping(&trust->unlinked_ns, end_ns - start_ns);
			trust->unlinked_count++;
		}
	}
	if (link <= 0)
		return 0;
	l.link = link;
	l.start_ns = start_ns;
	l.order = fe->position;
	l.ns = end_ns - start_ns;
	return pf_sorter_add(sorter, &l, e->err);
}

/* ---- sums by link ---- */

/* Kernels of one link that begin together, in file order. */
struct ties {
	struct launched item[TIES_MAX];
	size_t count;
};

static void flush(const struct pf_engine *e, struct ties *t, struct pf_fsum *us)
{
	for (size_t i = 0; i < t->count; i++) {
		int64_t start_ns = t->item[i].start_ns;

		pf_fsum_add(
			us,
			pf_engine_dur_us(e, start_ns, start_ns + t->item[i].ns),
			e->rules.compensated);
	}
	t->count = 0;
}

static void add_tie(struct ties *t, const struct launched *l)
{
	size_t i = t->count++;

	for (; i && l->order < t->item[i - 1].order; i--)
		t->item[i] = t->item[i - 1];
	t->item[i] = *l;
}

static int put_sum(struct pf_engine *e, struct pf_kernel_sum *sum,
		   const struct pf_fsum *us)
{
	sum->us = pf_fsum_total(us);
	PF_TRY(pf_spool_add(e->op_kernels, sum, e->err));
	return e->call_kernels ? pf_spool_add(e->call_kernels, sum, e->err) : 0;
}

static int sum_links(struct pf_engine *e, struct pf_sorter *sorter)
{
	struct pf_kernel_sum sum = { 0 };
	struct ties ties = { .count = 0 };
	struct pf_fsum us = { 0, 0 };
	const struct launched *l;

	while ((l = pf_sorter_next(sorter, e->err))) {
		bool is_new = l->link != sum.link;

		if (is_new || ties.count == TIES_MAX ||
		    (ties.count && ties.item[0].start_ns != l->start_ns))
			flush(e, &ties, &us);
		if (is_new) {
			if (sum.link && put_sum(e, &sum, &us))
				return -1;
			sum = (struct pf_kernel_sum){ .link = l->link };
			us = (struct pf_fsum){ 0, 0 };
		}
		add_tie(&ties, l);
		add_wrapping(&sum.ns, l->ns);
	}
	flush(e, &ties, &us);
	if (e->err->code || (sum.link && put_sum(e, &sum, &us)))
		return -1;
	return 0;
}

static struct pf_spool *new_sums(const struct pf_engine *e)
{
	struct pf_spool *s = pf_spool_new(sizeof(struct pf_kernel_sum),
					  SUMS_BYTES, e->temp_dir);

	pf_spool_keep(s, SUMS_BYTES);
	return s;
}

static void open_sums(struct pf_engine *e)
{
	e->op_kernels = new_sums(e);
	/* Calls have numbers of their own: another place in the spool. */
	if (e->rules.candidates == PF_CANDIDATES_ALL ||
	    e->rules.unlinked_claims)
		e->call_kernels = new_sums(e);
	for (size_t i = 0; i < e->track_count; i++) {
		pf_lookup_init(&e->host[i].op_kernels, e->op_kernels);
		pf_lookup_init(&e->host[i].call_kernels, e->call_kernels);
	}
}

int pf_engine_device(struct pf_engine *e)
{
	const struct pf_merge_args args = {
		.tracks = e->tracks,
		.count = e->track_count,
		.kinds = PF_KINDS_DEVICE,
		.columns = PF_COLBIT(PF_COL_NAME) | PF_COLBIT(PF_COL_ARGS) |
			   PF_COLBIT(PF_COL_SLOT + PF_SLOT_EXTERNAL_ID) |
			   PF_COLBIT(PF_COL_SLOT + PF_SLOT_CORRELATION),
		.use = e->is_device,
	};
	struct pf_sorter *sorter =
		pf_sorter_new(sizeof(struct launched), 2u << 20, e->temp_dir);
	struct pf_merge *m = pf_merge_new(e->db, &e->facts, &args, e->err);
	const struct pf_fe *fe;
	int rc = -1;

	open_sums(e);
	if (!m)
		goto out;
	while ((fe = pf_merge_next(m, e->err)))
		if (see_device(e, sorter, fe))
			goto out;
	if (e->err->code || pf_sorter_finish(sorter, e->err))
		goto out;
	rc = sum_links(e, sorter);
out:
	pf_merge_free(m);
	pf_sorter_free(sorter);
	return rc;
}
