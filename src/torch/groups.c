/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "torch/groups.h"

#include <math.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/order.h"

/* ---- floating point operations ---- */

enum pf_flop_op pf_flops_op(const char *name, size_t len)
{
	static const struct {
		const char *name;
		enum pf_flop_op op;
	} known[] = {
		{ "aten::mm", PF_FLOP_MM },
		{ "aten::addmm", PF_FLOP_ADDMM },
		{ "aten::bmm", PF_FLOP_BMM },
		{ "aten::baddbmm", PF_FLOP_BADDBMM },
		{ "aten::add", PF_FLOP_POINTWISE },
		{ "aten::mul", PF_FLOP_POINTWISE },
		{ "aten::conv2d", PF_FLOP_CONV2D },
	};

	for (size_t i = 0; i < PF_LEN(known); i++)
		if (strlen(known[i].name) == len &&
		    !memcmp(known[i].name, name, len))
			return known[i].op;
	return PF_FLOP_NONE;
}

enum input { NO_TENSOR, TENSOR, UNKNOWN };

/*
 * Lists and scalars have types of their own.  No type has what is no tensor
 * although the formula's operators take nothing else there: one of symbolic
 * sizes.
 */
static enum input input_dims(struct pf_json args, size_t n, struct pf_dims *out)
{
	static const char *const others[] = {
		"\"Scalar\"",
		"\"ScalarList\"",
		"\"TensorList\"",
		"\"GenericList\"",
	};
	struct pf_json types = pf_json_get(args, "Input type");
	struct pf_json list = pf_json_get(args, "Input Dims");
	struct pf_json type = pf_json_at(types, n);

	if (!types.p || !list.p || pf_json_is(type, "\"\""))
		return UNKNOWN;
	for (size_t i = 0; type.p && i < PF_LEN(others); i++)
		if (pf_json_is(type, others[i]))
			return NO_TENSOR;
	return type.p && pf_json_dims(pf_json_at(list, n), out) ? TENSOR
								: NO_TENSOR;
}

/* Both tensors, or what the worse of them is. */
static enum input two_inputs(struct pf_json args, size_t first,
			     struct pf_dims *a, struct pf_dims *b)
{
	enum input x = input_dims(args, first, a);
	enum input y = input_dims(args, first + 1, b);

	if (x == NO_TENSOR || y == NO_TENSOR)
		return NO_TENSOR;
	return x == UNKNOWN ? x : y;
}

static uint64_t product(const struct pf_dims *d)
{
	uint64_t all = 1;

	for (size_t i = 0; i < d->count; i++)
		all *= d->size[i];
	return all;
}

static enum input flops_matmul(struct pf_json args, size_t first, bool batched,
			       uint64_t *out)
{
	struct pf_dims a, b;
	enum input in = two_inputs(args, first, &a, &b);
	uint64_t n;

	if (in != TENSOR)
		return in;
	if (!a.count || !a.size[a.count - 1] || (batched && !a.size[0]))
		return NO_TENSOR;
	n = product(&a) / a.size[a.count - 1];
	if (batched)
		n /= a.size[0];
	*out = 2 * n * product(&b);
	return TENSOR;
}

/* A pair such as stride: one number stands for both. */
static bool read_pair(struct pf_json concrete, size_t n, int64_t out[2])
{
	struct pf_dims d;

	if (!pf_json_dims(pf_json_at(concrete, n), &d) || !d.count)
		return false;
	out[0] = (int64_t)d.size[0];
	out[1] = (int64_t)d.size[d.count > 1 ? 1 : 0];
	return true;
}

static uint64_t out_size(uint64_t in, int64_t pad, int64_t dilation,
			 uint64_t kernel, int64_t stride)
{
	uint64_t n =
		in + 2 * (uint64_t)pad - (uint64_t)dilation * (kernel - 1) - 1;

	/* C++ divides signed numbers here; -1 / -1 style overflow is barred. */
	if (stride == -1)
		return 0 - n + 1;
	return (uint64_t)((int64_t)n / stride) + 1;
}

static enum input flops_conv2d(struct pf_json args, uint64_t *out)
{
	struct pf_json concrete = pf_json_get(args, "Concrete Inputs");
	int64_t stride[2], pad[2], dilation[2], groups;
	struct pf_dims in, w;
	enum input both = two_inputs(args, 0, &in, &w);
	uint64_t n;

	if (both != TENSOR)
		return both;
	if (in.count != 4 || w.count != 4)
		return NO_TENSOR;
	if (!concrete.p)
		return UNKNOWN;
	if (!read_pair(concrete, 3, stride) || !read_pair(concrete, 4, pad) ||
	    !read_pair(concrete, 5, dilation) ||
	    !pf_json_int(pf_json_at(concrete, 6), &groups))
		return NO_TENSOR;
	if (!stride[0] || !stride[1] || !groups)
		return NO_TENSOR;
	n = 2 * in.size[0];
	n *= out_size(in.size[2], pad[0], dilation[0], w.size[2], stride[0]);
	n *= out_size(in.size[3], pad[1], dilation[1], w.size[3], stride[1]);
	n *= w.size[2] * w.size[3] * in.size[1] * w.size[0];
	*out = n / (uint64_t)groups;
	return TENSOR;
}

static enum input flops_pointwise(struct pf_json args, uint64_t *out)
{
	struct pf_dims a;
	enum input in = input_dims(args, 0, &a);

	if (in == TENSOR)
		*out = product(&a);
	return in;
}

bool pf_flops(enum pf_flop_op op, struct pf_json args, uint64_t *out)
{
	*out = 0;
	switch (op) {
	case PF_FLOP_MM:
		return flops_matmul(args, 0, false, out) != UNKNOWN;
	case PF_FLOP_ADDMM:
		return flops_matmul(args, 1, false, out) != UNKNOWN;
	case PF_FLOP_BMM:
		return flops_matmul(args, 0, true, out) != UNKNOWN;
	case PF_FLOP_BADDBMM:
		return flops_matmul(args, 1, true, out) != UNKNOWN;
	case PF_FLOP_POINTWISE:
		return flops_pointwise(args, out) != UNKNOWN;
	case PF_FLOP_CONV2D:
		return flops_conv2d(args, out) != UNKNOWN;
	case PF_FLOP_NONE:
		break;
	}
	return true;
}

/* ---- sums ---- */

static void flops_add(struct pf_flops_sum *sum, const struct pf_flops_sum *part)
{
	sum->low += part->low;
	sum->high += part->high + (sum->low < part->low);
	sum->unknown_count += part->unknown_count;
}

int pf_flops_compare(const struct pf_flops_sum *a, const struct pf_flops_sum *b)
{
	if (!a->unknown_count != !b->unknown_count)
		return a->unknown_count ? -1 : 1;
	if (a->unknown_count)
		return 0;
	if (a->high != b->high)
		return a->high < b->high ? -1 : 1;
	return (a->low > b->low) - (a->low < b->low);
}

/* The first 64 bits, the last of which stands for all behind it. */
double pf_flops_double(const struct pf_flops_sum *sum)
{
	uint64_t top = sum->high, rest = sum->low;
	int shift;

	if (!top)
		return (double)rest;
	shift = __builtin_clzll(top);
	if (shift) {
		top = top << shift | rest >> (64 - shift);
		rest <<= shift;
	}
	return ldexp((double)(top | (rest != 0)), 64 - shift);
}

char *pf_flops_digits(char out[PF_FLOPS_DIGITS], const struct pf_flops_sum *sum)
{
	unsigned __int128 n = (unsigned __int128)sum->high << 64 | sum->low;
	char *p = out + PF_FLOPS_DIGITS - 1;

	*p = '\0';
	do
		*--p = (char)('0' + (int)(n % 10));
	while (n /= 10);
	return p;
}

int64_t pf_flops_known(const struct pf_flops_sum *sum)
{
	return sum->unknown_count || sum->high || sum->low > INT64_MAX
		       ? -1
		       : (int64_t)sum->low;
}

#define SPILL_BYTES (2u << 20)

struct pf_waiting {
	double us[PF_FIG_COUNT];
	enum { OPEN, ADD, DROP } state;
};

/* A settled event of a spilled group; sorted by the first two. */
struct spilled {
	int64_t group, ticket;
	double us[PF_FIG_COUNT];
};

void pf_groups_init(struct pf_groups *g, uint64_t waiting_max,
		    const char *temp_dir)
{
	memset(g, 0, sizeof(*g));
	g->waiting_max = waiting_max;
	g->temp_dir = temp_dir;
}

void pf_groups_release(struct pf_groups *g)
{
	for (size_t i = 0; i < g->count; i++)
		free(g->group[i].ring);
	free(g->group);
	pf_map_release(&g->by_key);
	pf_map_release(&g->by_texts);
	pf_map_release(&g->by_overload);
	pf_sorter_free(g->spill);
	memset(g, 0, sizeof(*g));
}

uint32_t pf_groups_find(struct pf_groups *g, const struct pf_group_key *key)
{
	uint64_t *texts, *found;

	/* Shapes, stack and overload get a small number of their own. */
	texts = pf_map_at(&g->by_texts,
			  (uint64_t)key->shapes << 32 | key->stack);
	if (*texts == UINT64_MAX)
		*texts = g->by_texts.count - 1;
	texts = pf_map_at(&g->by_overload, *texts << 32 | key->overload);
	if (*texts == UINT64_MAX)
		*texts = g->by_overload.count - 1;
	found = pf_map_at(&g->by_key, *texts << 34 | (uint64_t)key->name << 2 |
					      (uint64_t)key->is_device << 1 |
					      key->is_annotation);
	if (*found == UINT64_MAX) {
		PF_ROOM(g->group, g->cap, g->count + 1);
		memset(&g->group[g->count], 0, sizeof(*g->group));
		g->group[g->count].key = *key;
		*found = g->count++;
	}
	return (uint32_t)*found;
}

static struct pf_waiting *place_of(struct pf_group *group, uint64_t ticket)
{
	return &group->ring[ticket & (group->ring_size - 1)];
}

static void grow_ring(struct pf_group *group)
{
	size_t size = group->ring_size ? group->ring_size * 2 : 2;
	struct pf_waiting *ring = pf_alloc(size * sizeof(*ring));

	for (uint64_t t = group->settled; t < group->issued; t++)
		ring[t & (size - 1)] = *place_of(group, t);
	free(group->ring);
	group->ring = ring;
	group->ring_size = size;
}

uint64_t pf_groups_begin(struct pf_groups *g, uint32_t index)
{
	struct pf_group *group = &g->group[index];

	if (group->is_spilled)
		return group->issued++;
	if (group->issued - group->settled == group->ring_size)
		grow_ring(group);
	place_of(group, group->issued)->state = OPEN;
	g->waiting++;
	return group->issued++;
}

static void add_us(struct pf_group *group, const double us[PF_FIG_COUNT])
{
	for (int i = 0; i < PF_FIG_COUNT; i++)
		group->sum.us[i] += us[i];
}

static int spill_one(struct pf_groups *g, uint32_t index, uint64_t ticket,
		     const double us[PF_FIG_COUNT], struct pf_err *err)
{
	struct spilled record = { index, (int64_t)ticket, { 0 } };

	if (!g->spill)
		g->spill =
			pf_sorter_new(sizeof(record), SPILL_BYTES, g->temp_dir);
	memcpy(record.us, us, sizeof(record.us));
	return pf_sorter_add(g->spill, &record, err);
}

/* From now on this group's events go to the sorter. */
static int spill_group(struct pf_groups *g, uint32_t index, struct pf_err *err)
{
	struct pf_group *group = &g->group[index];

	for (uint64_t t = group->settled; t < group->issued; t++) {
		struct pf_waiting *w = place_of(group, t);

		PF_TRY(w->state == ADD && spill_one(g, index, t, w->us, err));
	}
	g->waiting -= group->issued - group->settled;
	group->is_spilled = true;
	free(group->ring);
	group->ring = NULL;
	group->ring_size = 0;
	return 0;
}

/* Add what no longer waits for an earlier event. */
static void advance(struct pf_groups *g, struct pf_group *group)
{
	while (group->settled < group->issued) {
		struct pf_waiting *w = place_of(group, group->settled);

		if (w->state == OPEN)
			return;
		if (w->state == ADD)
			add_us(group, w->us);
		group->settled++;
		g->waiting--;
	}
}

static bool is_earlier(const struct pf_fe_place *a, const struct pf_fe_place *b)
{
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns;
	if (a->end_ns != b->end_ns)
		return a->end_ns > b->end_ns;
	if (a->class != b->class)
		return a->class < b->class;
	return a->position < b->position;
}

/* Unsigned inside, so that hostile sums wrap and stay defined. */
static void add_figures(struct pf_figures *sum, const struct pf_figures *f)
{
	for (int i = 0; i < PF_FIG_COUNT; i++) {
		sum->ns[i] =
			(int64_t)((uint64_t)sum->ns[i] + (uint64_t)f->ns[i]);
		sum->bytes[i] = (int64_t)((uint64_t)sum->bytes[i] +
					  (uint64_t)f->bytes[i]);
	}
	flops_add(&sum->flops, &f->flops);
}

static void see_first(struct pf_group *group, const struct pf_fe_place *place,
		      bool is_async, bool has_parent)
{
	if (group->count && !is_earlier(place, &group->first))
		return;
	group->first = *place;
	group->is_async = is_async;
	group->has_parent = has_parent;
}

static void add_exact(struct pf_group *group, const struct pf_settle *s,
		      const struct pf_figures *f)
{
	see_first(group, &s->place, s->is_async, s->has_parent);
	group->count++;
	add_figures(&group->sum, f);
}

void pf_groups_fold(struct pf_groups *coarse, const struct pf_groups *fine)
{
	for (size_t i = 0; i < fine->count; i++) {
		const struct pf_group *from = &fine->group[i];
		struct pf_group *to;

		if (!from->count || from->coarse >= coarse->count)
			continue;
		to = &coarse->group[from->coarse];
		see_first(to, &from->first, from->is_async, from->has_parent);
		to->count += from->count;
		add_figures(&to->sum, &from->sum);
	}
}

/* Its figures are known; figures NULL: it does not count after all. */
static int groups_settle(struct pf_groups *g, const struct pf_settle *s,
			 const struct pf_figures *figures, struct pf_err *err)
{
	struct pf_group *group = &g->group[s->group];
	struct pf_waiting *w;

	if (g->count_max && g->count > g->count_max)
		return pf_fail(err, PF_ELIMIT, "more than %zu groups",
			       g->count_max);
	if (figures && !g->is_coarse)
		add_exact(group, s, figures);
	if (group->is_spilled)
		return figures ? spill_one(g, s->group, s->ticket, figures->us,
					   err)
			       : 0;
	if (s->ticket == group->settled) {
		if (figures)
			add_us(group, figures->us);
		group->settled++;
		g->waiting--;
		advance(g, group);
		return 0;
	}
	w = place_of(group, s->ticket);
	w->state = figures ? ADD : DROP;
	if (figures)
		memcpy(w->us, figures->us, sizeof(w->us));
	if (g->waiting > g->waiting_max &&
	    group->issued - group->settled > g->waiting_max / 16)
		return spill_group(g, s->group, err);
	return 0;
}

static int compare_first(const void *a, const void *b)
{
	const struct pf_group *x = a, *y = b;

	if (is_earlier(&x->first, &y->first))
		return -1;
	return is_earlier(&y->first, &x->first);
}

int pf_groups_finish(struct pf_groups *g, struct pf_err *err)
{
	const struct spilled *record;
	size_t kept = 0;

	if (g->spill) {
		PF_TRY(pf_sorter_finish(g->spill, err));
		while ((record = pf_sorter_next(g->spill, err)))
			add_us(&g->group[record->group], record->us);
		PF_TRY(err->code);
	}
	for (size_t i = 0; i < g->count; i++) {
		free(g->group[i].ring);
		g->group[i].ring = NULL;
		if (g->group[i].count)
			g->group[kept++] = g->group[i];
	}
	g->count = kept;
	pf_sort(g->group, kept, sizeof(*g->group), compare_first);
	return 0;
}

/*
 * Invariants: node[0..depth) of a stack are open and each lies within the one
 * before it; an event's parent is the node under it.  A closed only child of
 * its parent's name stays readable in node[depth] (holds_child of the node
 * under it is set) until the parent gets a second child or closes.
 */

#define DEPTH_MAX 16384

void pf_tree_init(struct pf_tree *t, struct pf_groups *groups,
		  size_t grouping_count, size_t stacks, bool compensated)
{
	memset(t, 0, sizeof(*t));
	t->groups = groups;
	t->grouping_count = grouping_count;
	t->compensated = compensated;
	t->stack_count = stacks;
	t->stack = pf_calloc(stacks + 1, sizeof(*t->stack));
}

void pf_tree_release(struct pf_tree *t)
{
	for (size_t i = 0; t->stack && i < t->stack_count; i++)
		free(t->stack[i].node);
	free(t->stack);
	memset(t, 0, sizeof(*t));
}

int pf_tree_settle(struct pf_tree *t, const struct pf_node *n,
		   const struct pf_figures *f, bool is_async,
		   struct pf_err *err)
{
	if (!n->is_row)
		return 0;
	for (size_t i = 0; i < t->grouping_count; i++) {
		struct pf_settle s = { .group = n->group[i],
				       .ticket = n->ticket[i],
				       .place = n->place,
				       .is_async = is_async,
				       .has_parent = n->has_parent };

		PF_TRY(groups_settle(&t->groups[i], &s, f, err));
	}
	return 0;
}

static int64_t wrap_sub(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

static void figure_out(const struct pf_node *n, struct pf_figures *f)
{
	double child_cpu = pf_fsum_total(&n->child_cpu);
	double child_device = pf_fsum_total(&n->child_device);

	f->ns[PF_FIG_CPU] = wrap_sub(n->place.end_ns, n->place.start_ns);
	f->ns[PF_FIG_SELF_CPU] = wrap_sub(f->ns[PF_FIG_CPU], n->child_cpu_ns);
	f->ns[PF_FIG_DEVICE] =
		pf_num_wrap_add(n->kernel_ns, n->child_device_ns);
	f->ns[PF_FIG_SELF_DEVICE] = n->kernel_ns;
	f->us[PF_FIG_CPU] = n->cpu_us;
	f->us[PF_FIG_SELF_CPU] = n->cpu_us - child_cpu;
	f->us[PF_FIG_DEVICE] = n->kernel_us + child_device;
	f->us[PF_FIG_SELF_DEVICE] = f->us[PF_FIG_DEVICE] - child_device;
	f->bytes[PF_FIG_CPU] = n->cpu_bytes;
	f->bytes[PF_FIG_SELF_CPU] = wrap_sub(n->cpu_bytes, n->child_cpu_bytes);
	f->bytes[PF_FIG_DEVICE] = n->device_bytes;
	f->bytes[PF_FIG_SELF_DEVICE] =
		wrap_sub(n->device_bytes, n->child_device_bytes);
	f->flops = n->flops;
}

static void add_child(struct pf_tree *t, struct pf_node *parent,
		      const struct pf_figures *f)
{
	pf_fsum_add(&parent->child_cpu, f->us[PF_FIG_CPU], t->compensated);
	pf_fsum_add(&parent->child_device, f->us[PF_FIG_DEVICE],
		    t->compensated);
	parent->child_cpu_ns =
		pf_num_wrap_add(parent->child_cpu_ns, f->ns[PF_FIG_CPU]);
	parent->child_device_ns =
		pf_num_wrap_add(parent->child_device_ns, f->ns[PF_FIG_DEVICE]);
	parent->child_cpu_bytes =
		pf_num_wrap_add(parent->child_cpu_bytes, f->bytes[PF_FIG_CPU]);
	parent->child_device_bytes = pf_num_wrap_add(parent->child_device_bytes,
						     f->bytes[PF_FIG_DEVICE]);
}

/* The held child of "parent" is no duplicate: settle it. */
static int release_child(struct pf_tree *t, struct pf_node *parent,
			 struct pf_err *err)
{
	struct pf_figures f;

	parent->holds_child = false;
	figure_out(parent + 1, &f);
	add_child(t, parent, &f);
	return pf_tree_settle(t, parent + 1, &f, false, err);
}

/* The held child of n is a duplicate: n takes its children and kernels. */
static int absorb_child(struct pf_tree *t, struct pf_node *n,
			struct pf_err *err)
{
	const struct pf_node *child = n + 1;

	n->holds_child = false;
	n->child_cpu = child->child_cpu;
	n->child_device = child->child_device;
	n->child_cpu_ns = child->child_cpu_ns;
	n->child_device_ns = child->child_device_ns;
	n->child_cpu_bytes = child->child_cpu_bytes;
	n->child_device_bytes = child->child_device_bytes;
	n->kernel_us = child->kernel_us;
	n->kernel_ns = child->kernel_ns;
	return pf_tree_settle(t, child, NULL, false, err);
}

/* Close the innermost event of a stack. */
static int pop(struct pf_tree *t, struct pf_stack *s, struct pf_err *err)
{
	struct pf_node *n = &s->node[--s->depth];
	struct pf_node *parent = s->depth ? n - 1 : NULL;
	struct pf_figures f;

	PF_TRY(n->holds_child && absorb_child(t, n, err));
	if (parent && parent->children == 1 && parent->name == n->name) {
		parent->holds_child = true;
		return 0;
	}
	figure_out(n, &f);
	if (parent)
		add_child(t, parent, &f);
	return pf_tree_settle(t, n, &f, false, err);
}

struct pf_node *pf_tree_push(struct pf_tree *t, uint32_t thread,
			     int64_t start_ns, int64_t end_ns,
			     struct pf_err *err)
{
	struct pf_stack *s = &t->stack[thread];
	struct pf_node *n;

	while (s->depth) {
		const struct pf_fe_place *top = &s->node[s->depth - 1].place;

		if (start_ns < top->end_ns && end_ns <= top->end_ns)
			break;
		if (pop(t, s, err))
			return NULL;
	}
	if (s->depth >= DEPTH_MAX) {
		t->too_deep++;
		return NULL;
	}
	/* One place more than depth: pop() keeps a held child there. */
	PF_ROOM(s->node, s->cap, s->depth + 2);
	if (s->depth) {
		struct pf_node *parent = &s->node[s->depth - 1];

		if (parent->holds_child && release_child(t, parent, err))
			return NULL;
		parent->children++;
	}
	n = &s->node[s->depth];
	memset(n, 0, sizeof(*n));
	n->has_parent = s->depth > 0;
	n->place.start_ns = start_ns;
	n->place.end_ns = end_ns;
	s->depth++;
	return n;
}

int pf_tree_finish(struct pf_tree *t, struct pf_err *err)
{
	for (size_t i = 0; i < t->stack_count; i++)
		while (t->stack[i].depth)
			PF_TRY(pop(t, &t->stack[i], err));
	return 0;
}
