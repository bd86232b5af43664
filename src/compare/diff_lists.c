/* SPDX-License-Identifier: MIT */
/*
 * Lists of operators, idle time and blocking calls as outer joins of both
 * sides.  What is left of one name on both sides after equal keys were joined
 * is one row: the same operator with other shapes, the same place on another
 * line.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "compare/diff_impl.h"
#include "base/mem.h"
#include "base/order.h"
#include "formats/event.h"

enum join { JOIN_EXACT, JOIN_OTHER, JOIN_ADDED, JOIN_REMOVED };

/* Both sides of one thing; what the values are is the list's business. */
struct joined {
	enum join join;
	uint32_t a_row, b_row; /* the first, or PF_NO_ROW */
	int64_t a[3], b[3];    /* sums */
	int64_t weight;        /* orders the list, largest first */
};

struct joins {
	struct joined *items;
	size_t count, cap;
};

/* The keys of a row: all of it, and what may stay the same. */
struct list {
	const void *rows[2];
	size_t counts[2];
	size_t row_bytes;
	void (*keys)(struct pf_diff_run *d, const void *row, uint32_t whole[4],
		     uint32_t part[4]);
	void (*values)(const void *row, int64_t out[3]);
};

static const void *row_at(const struct list *l, int side, size_t i)
{
	return (const char *)l->rows[side] + i * l->row_bytes;
}

static void join_row(struct joins *j, uint32_t at, const struct list *l,
		     int side, size_t i)
{
	struct joined *out = &j->items[at];
	uint32_t *first = side ? &out->b_row : &out->a_row;
	int64_t *sums = side ? out->b : out->a, values[3] = { 0 };

	if (*first == PF_NO_ROW)
		*first = (uint32_t)i;
	l->values(row_at(l, side, i), values);
	for (size_t k = 0; k < 3; k++)
		sums[k] += values[k];
}

static uint32_t new_join(struct joins *j, enum join join)
{
	j->items = pf_grow(j->items, &j->cap, j->count + 1, sizeof(*j->items));
	j->items[j->count] = (struct joined){ .join = join,
					      .a_row = PF_NO_ROW,
					      .b_row = PF_NO_ROW };
	return (uint32_t)j->count++;
}

/* Join rows that are left and have equal keys (the whole or the part). */
static void join_by(struct pf_diff_run *d, struct joins *j,
		    const struct list *l, uint32_t *of[2], bool is_part)
{
	struct pf_intern keys;
	uint32_t *key_of[2], *join_of;
	unsigned char *has;

	pf_intern_init(&keys);
	for (int s = 0; s < 2; s++) {
		key_of[s] = pf_calloc(l->counts[s] + 1, sizeof(*key_of[s]));
		for (size_t i = 0; i < l->counts[s]; i++) {
			uint32_t key[2][4] = { { 0 } };

			l->keys(d, row_at(l, s, i), key[0], key[1]);
			key_of[s][i] = UINT32_MAX;
			if (of[s][i] == UINT32_MAX)
				key_of[s][i] = pf_intern_add(
					&keys, (const char *)key[is_part],
					sizeof(key[0]));
		}
	}
	has = pf_calloc(keys.count + (size_t)1, 1);
	join_of = pf_calloc(keys.count + (size_t)1, sizeof(*join_of));
	memset(join_of, 0xff, keys.count * sizeof(*join_of));
	for (int s = 0; s < 2; s++)
		for (size_t i = 0; i < l->counts[s]; i++)
			if (key_of[s][i] != UINT32_MAX)
				has[key_of[s][i]] |= (unsigned char)(1 << s);
	for (int s = 0; s < 2; s++)
		for (size_t i = 0; i < l->counts[s]; i++) {
			uint32_t key = key_of[s][i];

			if (key == UINT32_MAX || has[key] != 3)
				continue;
			if (join_of[key] == UINT32_MAX)
				join_of[key] = new_join(
					j, is_part ? JOIN_OTHER : JOIN_EXACT);
			of[s][i] = join_of[key];
			join_row(j, of[s][i], l, s, i);
		}
	free(has);
	free(join_of);
	free(key_of[0]);
	free(key_of[1]);
	pf_intern_release(&keys);
}

static struct joins join_take(struct pf_diff_run *d, const struct list *l)
{
	struct joins j = { 0 };
	uint32_t *of[2];

	for (int s = 0; s < 2; s++) {
		of[s] = pf_calloc(l->counts[s] + 1, sizeof(*of[s]));
		memset(of[s], 0xff, l->counts[s] * sizeof(*of[s]));
	}
	join_by(d, &j, l, of, false);
	join_by(d, &j, l, of, true);
	for (int s = 0; s < 2; s++) {
		for (size_t i = 0; i < l->counts[s]; i++)
			if (of[s][i] == UINT32_MAX)
				join_row(&j,
					 new_join(&j, s ? JOIN_ADDED
							: JOIN_REMOVED),
					 l, s, i);
		free(of[s]);
	}
	return j;
}

PF_ORDER(by_weight, struct joined, PF_DOWN(weight) PF_UP(a_row) PF_UP(b_row))

/* Order by how much value k changes per step. */
static void order(struct pf_diff_run *d, struct joins *j, size_t k)
{
	for (size_t i = 0; i < j->count; i++) {
		struct joined *x = &j->items[i];
		int64_t change = pf_mean(x->b[k], d->b.steps) -
				 pf_mean(x->a[k], d->a.steps);

		x->weight = change < 0 ? -change : change;
	}
	pf_sort(j->items, j->count, sizeof(*j->items), by_weight);
}

/* Means of value k of all items, that add up. */
static int64_t *means_take(const struct joins *j, size_t k, int64_t steps,
			   bool is_b)
{
	int64_t *sums = pf_calloc(j->count + 1, sizeof(*sums));
	int64_t *out = pf_calloc(j->count + 1, sizeof(*out));

	for (size_t i = 0; i < j->count; i++)
		sums[i] = is_b ? j->items[i].b[k] : j->items[i].a[k];
	pf_mean_parts(sums, j->count, steps, out);
	free(sums);
	return out;
}

/* In the first so many values. */
static bool is_unchanged(const struct pf_diff_run *d, const struct joined *x,
			 size_t values)
{
	for (size_t k = 0; k < values; k++)
		if (pf_mean_compare(x->a[k], d->a.steps, x->b[k], d->b.steps))
			return false;
	return x->join == JOIN_EXACT;
}

/* ---- operators ---- */

static void op_keys(struct pf_diff_run *d, const void *row, uint32_t whole[4],
		    uint32_t part[4])
{
	const struct pf_op_row *r = row;

	(void)d;
	whole[0] = part[0] = r->name;
	whole[1] = r->shapes;
	whole[2] = part[2] = r->kind;
}

static void op_values(const void *row, int64_t out[3])
{
	const struct pf_op_row *r = row;

	out[0] = r->count;
	out[1] = r->ns;
	out[2] = r->self_ns;
}

static struct joins join_ops(struct pf_diff_run *d)
{
	const struct list l = { { d->a.ops, d->b.ops },
				{ d->a.op_count, d->b.op_count },
				sizeof(struct pf_op_row),
				op_keys,
				op_values };

	return join_take(d, &l);
}

bool pf_diff_same_ops(const struct pf_diff_run *d)
{
	struct joins j = join_ops((struct pf_diff_run *)d);
	bool is_same = true;

	for (size_t i = 0; i < j.count && is_same; i++) {
		const struct joined *x = &j.items[i];
		uint32_t kind = x->a_row != PF_NO_ROW ? d->a.ops[x->a_row].kind
						      : d->b.ops[x->b_row].kind;

		if (kind == PF_KIND_CPU_OP)
			is_same = x->join == JOIN_EXACT &&
				  !pf_mean_compare(x->a[0], d->a.steps, x->b[0],
						   d->b.steps);
	}
	free(j.items);
	return is_same;
}

static const char *category_of(uint32_t kind)
{
	switch (kind) {
	case PF_KIND_CPU_OP:
		return "op";
	case PF_KIND_ANNOTATION:
		return "annotation";
	default:
		return "call";
	}
}

static const struct pf_op_row *op_of(const struct pf_diff_run *d,
				     const struct joined *x)
{
	return x->a_row != PF_NO_ROW ? &d->a.ops[x->a_row]
				     : &d->b.ops[x->b_row];
}

static const char *const join_names[] = { "exact", "shape", "added",
					  "removed" };

static struct pf_diff_op op_row(struct pf_diff_run *d, const struct joined *x)
{
	const struct pf_op_row *a =
		x->a_row == PF_NO_ROW ? NULL : &d->a.ops[x->a_row];
	const struct pf_op_row *b =
		x->b_row == PF_NO_ROW ? NULL : &d->b.ops[x->b_row];
	const struct pf_op_row *any = a ? a : b;

	return (struct pf_diff_op){
		.name = pf_diff_keep_known(d, any->name),
		.kind = category_of(any->kind),
		.is_call = any->kind != PF_KIND_CPU_OP &&
			   any->kind != PF_KIND_ANNOTATION,
		.match = join_names[x->join],
		.a_shapes = a ? pf_diff_keep(d, a->shapes) : NULL,
		.b_shapes = b ? pf_diff_keep(d, b->shapes) : NULL,
		.count = pf_both_counts(d, x->a[0], x->b[0]),
		.ns = pf_both(pf_mean(x->a[1], d->a.steps),
			      pf_mean(x->b[1], d->b.steps)),
		.calls = pf_both(x->a[0], x->b[0]),
		.sum_ns = pf_both(x->a[1], x->b[1]),
	};
}

/* How many joins have each name: a number for each text. */
static uint32_t *name_uses_take(const struct pf_diff_run *d,
				const struct joins *j)
{
	uint32_t *uses = pf_calloc(d->texts.count + (size_t)1, sizeof(*uses));

	for (size_t i = 0; i < j->count; i++)
		uses[op_of(d, &j->items[i])->name]++;
	return uses;
}

/* " float" of "[[3,224]] ["float","Bool"]": the type of the first input. */
static void add_type(struct pf_buf *out, const char *shapes)
{
	const char *type = strchr(shapes, '"');
	size_t len = type ? strcspn(type + 1, "\"") : 0;

	if (len)
		pf_buf_addf(out, " %.*s", (int)len, type + 1);
}

/* An operator's name, with its shapes if there are several of the name. */
static const char *shown_op(struct pf_diff_run *d, const struct joined *x,
			    const uint32_t *uses)
{
	const struct pf_op_row *op = op_of(d, x);
	struct pf_buf out = { 0 };

	if (uses[op->name] < 2)
		return pf_diff_keep(d, op->name);
	pf_buf_adds(&out, pf_diff_text(d, op->name));
	pf_diff_add_dims(&out, pf_diff_text(d, op->shapes));
	add_type(&out, pf_diff_text(d, op->shapes));
	return pf_diff_keep_buf(d, &out);
}

void pf_diff_find_ops(struct pf_diff_run *d)
{
	struct joins j = join_ops(d);
	uint32_t *uses = name_uses_take(d, &j);
	struct pf_diff *out = d->out;
	int64_t *a, *b;

	/* calls that are not recorded count for what called them */
	out->has_self = pf_side_knows(&d->a, &d->b, PF_COUNT_CALLS) &&
			pf_side_knows(&d->b, &d->a, PF_COUNT_CALLS);
	order(d, &j, out->has_self ? 2 : 1);
	a = means_take(&j, 2, d->a.steps, false);
	b = means_take(&j, 2, d->b.steps, true);
	out->ops = pf_calloc(j.count + 1, sizeof(*out->ops));
	for (size_t i = 0; !out->is_cut && i < j.count; i++) {
		struct pf_diff_op *row = &out->ops[out->op_count];

		if (!d->args->wide &&
		    is_unchanged(d, &j.items[i], out->has_self ? 3 : 2))
			continue;
		*row = op_row(d, &j.items[i]);
		if (row->is_call && !out->has_self)
			continue;
		row->self_ns = pf_both(a[i], b[i]);
		if (!out->has_self)
			row->self_ns =
				(struct pf_both){ a[i], b[i], PF_NO_INT, NAN };
		row->shown = shown_op(d, &j.items[i], uses);
		out->op_count++;
	}
	free(uses);
	free(a);
	free(b);
	free(j.items);
}

/* ---- changes of structure ---- */

static void put_change(struct pf_diff_run *d, size_t *cap, const char *change,
		       const char *what, double a, double b)
{
	struct pf_diff *out = d->out;

	out->changes = pf_grow(out->changes, cap, out->change_count + 1,
			       sizeof(*out->changes));
	out->changes[out->change_count++] =
		(struct pf_diff_change){ change, what, a / (double)d->a.steps,
					 b / (double)d->b.steps };
}

/* What happened to a pair of GPU work; NULL: nothing. */
static const char *change_of(const struct pf_diff_run *d,
			     const struct pf_pair *p)
{
	switch (p->match) {
	case PF_MATCH_SHAPE:
		return "shape changed";
	case PF_MATCH_STREAM:
		return "stream changed";
	case PF_MATCH_POSITION:
	case PF_MATCH_FAMILY:
		return p->a_rows != p->b_rows || p->a_count * d->b.steps !=
							 p->b_count * d->a.steps
			       ? "kernels changed"
			       : "kernel changed";
	case PF_MATCH_GROUP:
		return p->b_rows < p->a_rows ? "kernels fused"
					     : "kernels changed";
	case PF_MATCH_ADDED:
		return "kernel added";
	case PF_MATCH_REMOVED:
		return "kernel removed";
	default:
		return pf_mean_compare(p->a_count, d->a.steps, p->b_count,
				       d->b.steps)
			       ? "number of kernels"
			       : NULL;
	}
}

static void add_gpu_changes(struct pf_diff_run *d, size_t *cap)
{
	for (size_t i = 0; i < d->pairs.count; i++) {
		const struct pf_pair *p = d->rows[i].pair;
		const char *change = change_of(d, p);

		if (change)
			put_change(d, cap, change, d->names[i],
				   (double)p->a_count, (double)p->b_count);
	}
}

static const char *op_change(const struct pf_diff_run *d,
			     const struct joined *x)
{
	switch (x->join) {
	case JOIN_ADDED:
		return "op added";
	case JOIN_REMOVED:
		return "op removed";
	case JOIN_OTHER:
		return "op with other shapes";
	default:
		return pf_mean_compare(x->a[0], d->a.steps, x->b[0], d->b.steps)
			       ? "number of ops"
			       : NULL;
	}
}

static void add_op_changes(struct pf_diff_run *d, size_t *cap)
{
	struct joins j = join_ops(d);
	uint32_t *uses = name_uses_take(d, &j);

	order(d, &j, 0);
	for (size_t i = 0; i < j.count; i++) {
		const struct joined *x = &j.items[i];
		const char *change = op_change(d, x);

		if (change && op_of(d, x)->kind == PF_KIND_CPU_OP)
			put_change(d, cap, change, shown_op(d, x, uses),
				   (double)x->a[0], (double)x->b[0]);
	}
	free(uses);
	free(j.items);
}

void pf_diff_find_changes(struct pf_diff_run *d)
{
	size_t cap = 0;

	/* what is missing may be what was cut off */
	if (d->out->is_cut)
		return;
	if (!pf_diff_is_one_sided(d->out))
		add_gpu_changes(d, &cap);
	add_op_changes(d, &cap);
}

/* ---- idle time and blocking calls ---- */

/* "model.py:12 forward" without the line. */
static uint32_t without_line(struct pf_diff_run *d, uint32_t frame)
{
	const char *text = pf_diff_text(d, frame), *colon = strrchr(text, ':');
	struct pf_buf out = { 0 };
	size_t digits = colon ? strspn(colon + 1, "0123456789") : 0;

	if (!digits)
		return frame;
	pf_buf_add(&out, text, (size_t)(colon - text));
	pf_buf_adds(&out, colon + 1 + digits);
	frame = pf_intern_add(&d->texts, out.data, out.len);
	pf_buf_release(&out);
	return frame;
}

static void wait_keys(struct pf_diff_run *d, const void *row, uint32_t whole[4],
		      uint32_t part[4])
{
	const struct pf_wait_row *r = row;

	whole[0] = part[0] = r->cause;
	whole[1] = part[1] = r->name;
	whole[2] = part[2] = r->op;
	whole[3] = r->frame;
	part[3] = without_line(d, r->frame);
}

static void wait_values(const void *row, int64_t out[3])
{
	const struct pf_wait_row *r = row;

	out[0] = r->count;
	out[1] = r->ns;
	out[2] = r->idle_ns;
}

static const struct pf_wait_row *any_wait(const struct joined *x,
					  const struct pf_wait_row *a,
					  const struct pf_wait_row *b)
{
	return x->a_row != PF_NO_ROW ? &a[x->a_row] : &b[x->b_row];
}

static struct pf_diff_wait wait_row(struct pf_diff_run *d,
				    const struct joined *x,
				    const struct pf_wait_row *a,
				    const struct pf_wait_row *b)
{
	static const char *const names[] = { "exact", "line", "added",
					     "removed" };
	const struct pf_wait_row *r = any_wait(x, a, b);
	struct pf_diff_wait row = {
		.why = (enum pf_cause)r->cause,
		.cause = pf_cause_name((enum pf_cause)r->cause),
		.name = pf_diff_keep_known(d, r->name),
		.frame = pf_diff_keep_known(d, r->frame),
		.op = pf_diff_keep_known(d, r->op),
		.match = names[x->join],
		.count = pf_both_counts(d, x->a[0], x->b[0]),
		.calls = pf_both(x->a[0], x->b[0]),
		.sum_ns = pf_both(x->a[1], x->b[1]),
	};

	row.where = row.frame ? row.frame : row.op;
	return row;
}

static void find_idle_sites(struct pf_diff_run *d)
{
	const struct list l = { { d->a.idle, d->b.idle },
				{ d->a.idle_count, d->b.idle_count },
				sizeof(struct pf_wait_row),
				wait_keys,
				wait_values };
	struct joins j = join_take(d, &l);
	struct pf_diff *out = d->out;
	int64_t *a, *b;

	order(d, &j, 1);
	a = means_take(&j, 1, d->a.steps, false);
	b = means_take(&j, 1, d->b.steps, true);
	out->idle_sites = pf_calloc(j.count + 1, sizeof(*out->idle_sites));
	for (size_t i = 0; i < j.count; i++) {
		struct pf_diff_wait *row =
			&out->idle_sites[out->idle_site_count];

		if (!d->args->wide && a[i] == b[i])
			continue;
		*row = wait_row(d, &j.items[i], d->a.idle, d->b.idle);
		row->ns = pf_both(a[i], b[i]);
		out->idle_site_count++;
	}
	free(a);
	free(b);
	free(j.items);
}

static void find_sync_sites(struct pf_diff_run *d)
{
	const struct list l = { { d->a.sites, d->b.sites },
				{ d->a.site_count, d->b.site_count },
				sizeof(struct pf_wait_row),
				wait_keys,
				wait_values };
	struct joins j = join_take(d, &l);
	struct pf_diff *out = d->out;
	int64_t *means[4];

	order(d, &j, 0);
	for (size_t k = 0; k < 4; k++)
		means[k] = means_take(&j, 1 + k / 2,
				      k % 2 ? d->b.steps : d->a.steps, k % 2);
	out->sync_sites = pf_calloc(j.count + 1, sizeof(*out->sync_sites));
	for (size_t i = 0; i < j.count; i++) {
		struct pf_diff_wait *row =
			&out->sync_sites[out->sync_site_count];

		if (!d->args->wide && is_unchanged(d, &j.items[i], 3))
			continue;
		*row = wait_row(d, &j.items[i], d->a.sites, d->b.sites);
		row->ns = pf_both(means[0][i], means[1][i]);
		row->idle_ns = pf_both(means[2][i], means[3][i]);
		out->sync_site_count++;
	}
	for (size_t k = 0; k < 4; k++)
		free(means[k]);
	free(j.items);
}

void pf_diff_find_waits(struct pf_diff_run *d)
{
	struct pf_diff *out = d->out;

	if (pf_diff_is_one_sided(out) || out->is_cut)
		return;
	for (size_t i = 0; i < PF_CAUSE_COUNT; i++)
		if (d->a.cause_ns[i] || d->b.cause_ns[i])
			out->causes[out->cause_count++] = (struct pf_diff_time){
				pf_cause_name((enum pf_cause)i),
				pf_both(d->a_cause_ns[i], d->b_cause_ns[i]),
				pf_both(d->a.cause_ns[i], d->b.cause_ns[i])
			};
	find_idle_sites(d);
	find_sync_sites(d);
}
