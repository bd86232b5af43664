/* SPDX-License-Identifier: MIT */
/* Tiles as sums: by category, by what was asked for, and one by one. */
#include "analysis/path/path_impl.h"

#include "base/order.h"
#include "base/sat.h"
#include "base/search.h"
#include "events/kernel_name.h"
#include "show/rows.h"

/* What tiles of a row have in common; padding is zero. */
struct key {
	int32_t category; /* -1: any */
	uint32_t name;
	int64_t step; /* number in the window; -1: none */
};

#define OF_GRAPH (-2) /* as a step: the name is a text of graphs */

struct sum {
	int64_t ns, count, longest_ns, replayed_ns;
};

#define RECENT 64 /* a power of 2 */

struct sums {
	struct pf_intern keys;
	struct sum *items;
	size_t cap;
	/* keys that came of late, by their bits: tiles of few follow others */
	struct recent {
		struct key key;
		uint32_t number; /* of the key, and 1; 0: none */
	} recent[RECENT];
};

struct path_rows {
	struct path *p;
	struct sums categories, rows;
	struct sums tops[2];   /* of operators; of GPU work */
	size_t item_cap, step; /* the step at hand */
	bool is_replayed;      /* does the name of the tile come of a graph? */
	struct pf_map modules; /* text of graphs -> name in texts of "out" */
};

/* The sum of a key that has none at hand: its number. */
static uint32_t find_sum(struct sums *s, const struct key *key)
{
	uint32_t n, known = s->keys.count;

	n = pf_intern_add(&s->keys, (const char *)key, sizeof(*key));
	s->items = pf_grow(s->items, &s->cap, (size_t)n + 1, sizeof(*s->items));
	if (n == known)
		s->items[n] = (struct sum){ 0 };
	return n;
}

static struct sum *add_sum(struct sums *s, struct key key, int64_t ns)
{
	struct recent *r = &s->recent[(key.name ^ (uint32_t)key.category * 7 ^
				       (uint32_t)key.step * 13) &
				      (RECENT - 1)];
	uint32_t n;

	if (!r->number || memcmp(&r->key, &key, sizeof(key)) != 0)
		*r = (struct recent){ key, find_sum(s, &key) + 1 };
	n = r->number - 1;
	s->items[n].ns += ns;
	s->items[n].count++;
	if (ns > s->items[n].longest_ns)
		s->items[n].longest_ns = ns;
	return &s->items[n];
}

/* To what was asked for. */
static void add_row(struct path_rows *r, struct key key, int64_t ns)
{
	struct sum *sum = add_sum(&r->rows, key, ns);

	if (r->is_replayed)
		sum->replayed_ns += ns;
}

static bool is_of_gpu(enum pf_path_category category)
{
	return category >= PF_PATH_KERNEL && category <= PF_PATH_MEMSET;
}

/* Is what tiles of a category name GPU work? */
static bool is_work(int category)
{
	return category >= PF_PATH_KERNEL && category != PF_PATH_LAUNCH_CALL &&
	       category != PF_PATH_RETURN && category != PF_PATH_QUEUE;
}

static struct key key_of(const struct path_rows *r,
			 const struct pf_path_tile *tile)
{
	struct key key = { -1, PF_ID_NONE, -1 };

	switch ((enum pf_path_group)r->p->args->group) {
	case PF_PATH_BY_NAME:
		key.category = tile->category;
		key.name = tile->name;
		break;
	case PF_PATH_BY_OP:
		key.name = path_replayed_op(r->p, tile->node);
		if (key.name == PF_NO_TEXT)
			key.name = tile->op;
		else
			key.step = OF_GRAPH;
		break;
	case PF_PATH_BY_KERNEL:
		key.category = tile->category;
		if (is_of_gpu(tile->category))
			key.name = tile->name;
		break;
	case PF_PATH_BY_MODULE:
		key.name = path_replayed_module(tile->node);
		if (key.name == PF_NO_TEXT)
			key.name = tile->module;
		else
			key.step = OF_GRAPH;
		break;
	case PF_PATH_BY_LINE:
		key.name = tile->frame;
		break;
	case PF_PATH_BY_STEP:
	case PF_PATH_BY_CATEGORY:
		key.category = tile->category;
		break;
	}
	return key;
}

/* A step reaches to the start of the next, the last one to the end. */
static void add_by_step(struct path_rows *r, const struct pf_path_tile *tile)
{
	const struct path *p = r->p;
	int64_t at = tile->start_ns;

	while (at < tile->end_ns) {
		struct key key = key_of(r, tile);
		int64_t end = tile->end_ns;

		while (r->step + 1 < p->step_count &&
		       p->steps[r->step + 1].host_start_ns <= at)
			r->step++;
		if (p->step_count)
			key.step = (int64_t)r->step;
		if (r->step + 1 < p->step_count &&
		    p->steps[r->step + 1].host_start_ns < end)
			end = p->steps[r->step + 1].host_start_ns;
		add_row(r, key, end - at);
		at = end;
	}
}

static const char *thread_name(const struct path *p, uint32_t track_id)
{
	size_t i = PF_SEARCH(k, p->track_count, p->tracks[k].id < track_id);

	return track_id && i < p->track_count && p->tracks[i].id == track_id
		       ? p->tracks[i].tid
		       : NULL;
}

static const char *op_of(const struct path_rows *r,
			 const struct pf_path_tile *tile, struct pf_err *err)
{
	struct path *p = r->p;
	uint32_t text = path_replayed_op(p, tile->node);

	if (text == PF_NO_TEXT)
		return pf_names_frame(p->names, tile->op, err);
	return pf_graphs_text(p->args->graphs, text);
}

/* As torch names its call. */
static const char *replayed_module(struct path_rows *r, uint32_t text)
{
	uint64_t *at = pf_map_at(&r->modules, text);
	struct pf_buf name = { 0 };

	if (*at == UINT64_MAX) {
		pf_buf_addf(&name, PF_MODULE_PREFIX "%s",
			    pf_graphs_text(r->p->args->graphs, text));
		*at = (uintptr_t)pf_arena_string(&r->p->out->texts, name.data);
		pf_buf_release(&name);
	}
	return (const char *)(uintptr_t)*at;
}

static const char *module_of(struct path_rows *r,
			     const struct pf_path_tile *tile,
			     struct pf_err *err)
{
	uint32_t text = path_replayed_module(tile->node);

	return text == PF_NO_TEXT
		       ? pf_names_frame(r->p->names, tile->module, err)
		       : replayed_module(r, text);
}

static void add_item(struct path_rows *r, const struct pf_path_tile *tile,
		     struct pf_err *err)
{
	struct path *p = r->p;
	struct pf_path *out = p->out;
	const char *name = pf_names_frame(p->names, tile->name, err);

	out->items = pf_grow(out->items, &r->item_cap, out->item_count + 1,
			     sizeof(*out->items));
	out->items[out->item_count++] = (struct pf_path_item){
		.start_ns = tile->start_ns - p->trace->first_ns,
		.ns = tile->end_ns - tile->start_ns,
		.device = tile->device,
		.stream = tile->stream,
		.category = pf_path_category_name(tile->category),
		.kind = tile->kind,
		.name = name,
		.short_name = is_work(tile->category)
				      ? pf_kernel_short_kept(&out->texts, name)
				      : name,
		.op = op_of(r, tile, err),
		.frame = pf_names_frame(p->names, tile->frame, err),
		.module = module_of(r, tile, err),
		.thread = pf_arena_string(&out->texts,
					  thread_name(p, tile->track_id)),
		.is_inferred = tile->is_inferred,
	};
}

int path_rows_add(void *context, const struct pf_path_tile *tile,
		  struct pf_err *err)
{
	struct path_rows *r = context;
	struct path *p = r->p;
	struct pf_path *out = p->out;
	int64_t ns = tile->end_ns - tile->start_ns;
	struct key key = { (int32_t)tile->category, PF_ID_NONE, -1 };

	r->is_replayed =
		(p->args->group == PF_PATH_BY_MODULE
			 ? path_replayed_module(tile->node)
			 : path_replayed_op(p, tile->node)) != PF_NO_TEXT;
	add_sum(&r->categories, key, ns);
	key = (struct key){ -1, tile->name, -1 };
	if (is_of_gpu(tile->category))
		add_sum(&r->tops[1], key, ns);
	else if (tile->is_op)
		add_sum(&r->tops[0], key, ns);
	if (p->args->group == PF_PATH_BY_STEP)
		add_by_step(r, tile);
	else
		add_row(r, key_of(r, tile), ns);
	if (is_of_gpu(tile->category) && tile->node)
		out->how_ns[tile->node->how] += ns;
	if (is_of_gpu(tile->category))
		out->gpu_ns += ns;
	else if (tile->category <= PF_PATH_LAUNCH_CALL)
		out->host_ns += ns;
	else if (tile->category >= PF_PATH_NO_LAUNCH)
		out->unexplained_ns += ns;
	else
		out->between_ns += ns;
	if (tile->is_inferred)
		out->inferred_ns += ns;
	if (p->args->list)
		add_item(r, tile, err);
	if (!err->code && p->args->also)
		return p->args->also->tile(p->args->also, tile, err);
	return err->code ? -1 : 0;
}

static int by_time(const void *a, const void *b)
{
	const struct pf_path_row *x = a, *y = b;

	if (x->step != y->step)
		return x->step < y->step ? -1 : 1;
	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	if (x->category != y->category && x->category && y->category)
		return strcmp(x->category, y->category);
	if (!x->name || !y->name)
		return !x->name - !y->name;
	return strcmp(x->name, y->name);
}

PF_ORDER(by_name, struct pf_path_row, PF_UP(name == NULL) PF_ALPHA(name))

/* Operators and modules that both calls and graphs have are one row. */
static size_t merge_names(const struct path *p, struct pf_path_row *rows,
			  size_t count)
{
	size_t n = 0;

	pf_sort(rows, count, sizeof(*rows), by_name);
	for (size_t i = 0; i < count; i++) {
		struct pf_path_row *to = n ? &rows[n - 1] : NULL;

		if (!to || by_name(to, &rows[i]) != 0) {
			rows[n++] = rows[i];
			continue;
		}
		to->ns += rows[i].ns;
		to->count += rows[i].count;
		to->replayed_ns += rows[i].replayed_ns;
		if (rows[i].longest_ns > to->longest_ns)
			to->longest_ns = rows[i].longest_ns;
		to->share = pf_ratio((double)to->ns, p->out->window_ns);
	}
	return n;
}

static const char *name_of(struct path_rows *r, const struct key *key,
			   struct pf_err *err)
{
	const struct path *p = r->p;

	if (key->step != OF_GRAPH)
		return pf_names_frame(p->names, key->name, err);
	return p->args->group == PF_PATH_BY_MODULE
		       ? replayed_module(r, key->name)
		       : pf_graphs_text(p->args->graphs, key->name);
}

static int take(struct path_rows *r, struct sums *s, struct pf_path_row **rows,
		size_t *count, struct pf_err *err)
{
	struct path *p = r->p;

	*rows = pf_calloc((size_t)s->keys.count + 1, sizeof(**rows));
	for (uint32_t i = 0; i < s->keys.count; i++) {
		struct pf_path_row *row = &(*rows)[(*count)++];
		struct key key;

		memcpy(&key, pf_intern_text(&s->keys, i, NULL), sizeof(key));
		*row = (struct pf_path_row){
			.name = name_of(r, &key, err),
			.step = key.step < 0 ? PF_NO_INT
					     : p->steps[key.step].step,
			.ns = s->items[i].ns,
			.count = s->items[i].count,
			.longest_ns = s->items[i].longest_ns,
			.replayed_ns = s->items[i].replayed_ns,
			.share = pf_ratio((double)s->items[i].ns,
					  p->out->window_ns),
		};
		row->short_name = is_work(key.category)
					  ? pf_kernel_short_kept(&p->out->texts,
								 row->name)
					  : row->name;
		if (key.category >= 0)
			row->category = pf_path_category_name(
				(enum pf_path_category)key.category);
	}
	if (p->args->graphs && s == &r->rows &&
	    (p->args->group == PF_PATH_BY_OP ||
	     p->args->group == PF_PATH_BY_MODULE))
		*count = merge_names(p, *rows, *count);
	pf_sort(*rows, *count, sizeof(**rows), by_time);
	return err->code ? -1 : 0;
}

size_t path_rows_top(const struct path_rows *r, bool of_work, uint32_t *names,
		     size_t max)
{
	const struct sums *s = &r->tops[of_work];
	int64_t *ns = pf_calloc(max + 1, sizeof(*ns));
	size_t count = 0;

	for (uint32_t i = 0; i < s->keys.count; i++) {
		struct key key;
		size_t at = count < max ? count++ : max;

		memcpy(&key, pf_intern_text(&s->keys, i, NULL), sizeof(key));
		for (; at > 0 && ns[at - 1] < s->items[i].ns; at--)
			if (at < max) {
				ns[at] = ns[at - 1];
				names[at] = names[at - 1];
			}
		if (at < max) {
			ns[at] = s->items[i].ns;
			names[at] = key.name;
		}
	}
	free(ns);
	return count;
}

struct path_rows *path_rows_new(struct path *p)
{
	struct path_rows *r = pf_calloc(1, sizeof(*r));

	r->p = p;
	pf_intern_init(&r->categories.keys);
	pf_intern_init(&r->rows.keys);
	pf_intern_init(&r->tops[0].keys);
	pf_intern_init(&r->tops[1].keys);
	pf_map_init(&r->modules);
	return r;
}

int path_rows_finish(struct path_rows *r, struct pf_err *err)
{
	struct pf_path *out = r->p->out;

	if (take(r, &r->categories, &out->categories, &out->category_count,
		 err) < 0)
		return -1;
	return take(r, &r->rows, &out->rows, &out->row_count, err);
}

void path_rows_free(struct path_rows *r)
{
	if (!r)
		return;
	pf_intern_release(&r->categories.keys);
	pf_intern_release(&r->rows.keys);
	pf_map_release(&r->modules);
	free(r->categories.items);
	free(r->rows.items);
	for (size_t i = 0; i < 2; i++) {
		pf_intern_release(&r->tops[i].keys);
		free(r->tops[i].items);
	}
	free(r);
}
