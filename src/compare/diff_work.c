/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "events/args.h"
#include "compare/diff_work.h"
#include "events/gpu.h"
#include "base/mem.h"
#include "base/spool.h"
#include "store/query.h"

#define DENSE_IDS (1u << 22)
#define NODES_MAX (1u << 18)
#define NO_NAME   "(name not listed)"
#define NO_LAUNCH "(no launch record)"
#define BEFORE    "(launched before the capture)"
#define MIGRATED  "(unified memory)"
#define OTHER     "(other)"

/* ---- names ---- */

static void describe_name(struct pf_work *w, struct pf_work_name *n,
			  const char *text)
{
	struct pf_name_class class = pf_name_classify(text);

	n->text = pf_capture_text(w->c, text);
	n->is_step = class.is_step;
	n->is_module = class.is_module;
	n->is_allocator = class.call == PF_CAUSE_ALLOCATOR;
	n->is_graph = class.is_graph;
	n->is_launch = class.launches == PF_LAUNCHES_KERNEL;
	memset(n->rows, 0xff, sizeof(n->rows));
	pf_buf_clear(&w->text);
	pf_name_without_counts(text, &w->text);
	n->node_text = pf_capture_text(w->c, w->text.data);
}

struct pf_work_name *pf_work_name(struct pf_work *w, uint32_t name,
				  struct pf_err *err)
{
	struct pf_work_name *n = &w->other_name;
	const char *text;
	int rc;

	if (name < w->name_count) {
		n = &w->names[name];
		if (n->text != UINT32_MAX)
			return n;
	}
	rc = pf_texts_get(&w->texts, PF_TEXT_NAME, name, &text, NULL, err);
	if (rc < 0)
		return NULL;
	describe_name(w, n, rc ? text : NO_NAME);
	return n;
}

static int argset_text(struct pf_work *w, uint32_t args, const char **text,
		       struct pf_err *err)
{
	int rc = 0;

	if (args < PF_ID_INLINE)
		rc = pf_texts_get(&w->texts, PF_TEXT_ARGS, args, text, NULL,
				  err);
	if (!rc)
		*text = NULL;
	return rc < 0 ? -1 : 0;
}

int pf_work_shapes(struct pf_work *w, uint32_t args, uint32_t *out,
		   struct pf_err *err)
{
	uint64_t *place = pf_map_at(&w->shapes, args);
	struct pf_json whole, dims, types;
	const char *text;

	if (*place != UINT64_MAX) {
		*out = (uint32_t)*place;
		return 0;
	}
	if (argset_text(w, args, &text, err) < 0)
		return -1;
	pf_buf_clear(&w->text);
	pf_buf_adds(&w->text, "");
	if (text) {
		whole = (struct pf_json){ text, strlen(text) };
		dims = pf_json_get(whole, "Input Dims");
		if (!dims.p)
			dims = pf_json_get(whole, "Input dims");
		types = pf_json_get(whole, "Input type");
		if (dims.p)
			pf_buf_add(&w->text, dims.p, dims.len);
		if (dims.p && types.p) {
			pf_buf_addc(&w->text, ' ');
			pf_buf_add(&w->text, types.p, types.len);
		}
		w->c->has_shapes |= dims.p != NULL;
	}
	*place = *out = pf_capture_text(w->c, w->text.data);
	return 0;
}

int pf_work_memory_device(struct pf_work *w, uint32_t args, int64_t *device,
			  struct pf_err *err)
{
	uint64_t *place = pf_map_at(&w->memories, args);
	int64_t type = 0, id = 0;
	struct pf_json whole;
	const char *text;

	if (*place == UINT64_MAX) {
		if (argset_text(w, args, &text, err) < 0)
			return -1;
		if (text) {
			whole = (struct pf_json){ text, strlen(text) };
			pf_json_int(pf_json_get(whole, "Device Type"), &type);
			pf_json_int(pf_json_get(whole, "Device Id"), &id);
		}
		*place = type && id >= 0 && id < 1 << 20 ? (uint64_t)id + 1 : 0;
	}
	*device = (int64_t)*place - 1;
	return 0;
}

/* ---- places ---- */

uint32_t pf_work_node(struct pf_work *w, uint32_t parent, uint32_t name,
		      uint32_t kind)
{
	const uint32_t key[3] = { parent, name, kind };
	uint32_t known = w->node_keys.count, n;
	struct pf_node_place *node;

	if (parent == PF_NODE_OTHER || known >= NODES_MAX)
		return PF_NODE_OTHER;
	n = pf_intern_add(&w->node_keys, (const char *)key, sizeof(key)) + 2;
	if (w->node_keys.count == known)
		return n;
	w->nodes = pf_grow(w->nodes, &w->node_cap, n + (size_t)1,
			   sizeof(*w->nodes));
	node = &w->nodes[n];
	*node = w->nodes[parent];
	node->parent = parent;
	node->name = name;
	node->kind = kind;
	if (kind == PF_KIND_PYTHON)
		node->module = n;
	else if (kind == PF_KIND_ANNOTATION)
		node->annotation = n;
	return n;
}

static bool is_region(const struct pf_node_place *n)
{
	return n->kind == PF_KIND_PYTHON || n->kind == PF_KIND_ANNOTATION;
}

/* Names from the root to a node, joined by " > ". */
static uint32_t path_text(struct pf_work *w, uint32_t node, bool only_regions)
{
	uint32_t chain[64];
	size_t count = 0, cut = 0;

	if (node == PF_NODE_OTHER)
		return pf_capture_own_text(w->c, OTHER);
	for (; node > PF_NODE_OTHER; node = w->nodes[node].parent) {
		if (only_regions && !is_region(&w->nodes[node]))
			continue;
		if (count == sizeof(chain) / sizeof(*chain)) {
			/* the ends say most: drop from the middle */
			memmove(chain + 32, chain + 33, 31 * sizeof(*chain));
			count--;
			cut++;
		}
		chain[count++] = w->nodes[node].name;
	}
	pf_buf_clear(&w->text);
	pf_buf_adds(&w->text, "");
	while (count-- > 0) {
		pf_buf_adds(&w->text,
			    pf_intern_text(&w->c->texts, chain[count], NULL));
		if (count)
			pf_buf_adds(&w->text,
				    cut && count == 32 ? " > ... > " : " > ");
	}
	return pf_capture_own_text(w->c, w->text.data);
}

static uint32_t node_text(struct pf_work *w, uint32_t node)
{
	return node <= PF_NODE_OTHER ? w->none : w->nodes[node].name;
}

/* ---- rows ---- */

/* While rows are gathered; node and slot become texts at the end. */
struct row_key {
	uint32_t node, op, shapes, kernel, slot, class, kind;
};

static struct pf_work_row *work_row(struct pf_work *w,
				    const struct row_key *wanted)
{
	struct pf_capture *c = w->c;
	struct row_key key = *wanted;
	struct pf_work_row *row;
	uint32_t n;

	if (w->row_keys.count >= PF_CAPTURE_ROWS_MAX) {
		key = (struct row_key){ .node = PF_NODE_OTHER,
					.op = w->none,
					.shapes = w->none,
					.kernel = pf_capture_own_text(c, OTHER),
					.class = wanted->class,
					.kind = wanted->kind };
	}
	n = pf_intern_add(&w->row_keys, (const char *)&key, sizeof(key));
	if (n < c->work_count)
		return &c->work[n];
	c->work =
		pf_grow(c->work, &w->work_cap, n + (size_t)1, sizeof(*c->work));
	c->work_count = n + (size_t)1;
	row = &c->work[n];
	*row = (struct pf_work_row){ .first = w->order };
	row->key = (struct pf_work_key){ .path = key.node,
					 .op = key.op,
					 .shapes = key.shapes,
					 .kernel = key.kernel,
					 .role = key.slot,
					 .class = key.class,
					 .kind = key.kind };
	return row;
}

/* Copies by their way, as the breakdown of steps has them. */
static void count_copy(struct pf_capture *c, struct pf_capture_step *s,
		       const struct pf_launched *l)
{
	s->count[PF_COUNT_HTOD + l->way]++;
	if (l->bytes >= 0)
		pf_capture_add(c, &s->count[PF_COUNT_HTOD_BYTES + l->way],
			       l->bytes);
}

static void count_work(struct pf_capture *c, struct pf_capture_step *s,
		       const struct pf_launched *l)
{
	pf_capture_add(c, &s->count[PF_COUNT_GPU_NS], l->dur_ns);
	if (l->kind == PF_KIND_KERNEL) {
		s->count[PF_COUNT_KERNELS]++;
		pf_capture_add(c, &s->count[PF_COUNT_WORK_NS], l->dur_ns);
		s->count[PF_COUNT_COLLECTIVES] += l->class == PF_GPU_COMM;
	}
	s->count[PF_COUNT_MEMSETS] += l->kind == PF_KIND_MEMSET;
	if (l->class == PF_GPU_COPY)
		count_copy(c, s, l);
}

int pf_work_add(struct pf_work *w, const struct pf_launched *l, uint32_t node,
		uint32_t op, uint32_t shapes, struct pf_capture_step *step,
		struct pf_err *err)
{
	struct pf_work_name *name;
	struct row_key key;
	struct pf_work_row *row;

	w->order++;
	if (!step || step->time.is_partial)
		w->c->outside_count++;
	if (!step)
		return 0;
	name = pf_work_name(w, l->name, err);
	if (!name)
		return -1;
	count_work(w->c, step, l);
	if (step->time.is_partial)
		return 0;
	key = (struct row_key){ node,    op,       shapes, name->text,
				l->slot, l->class, l->kind };
	row = work_row(w, &key);
	row->count++;
	pf_capture_add(w->c, &row->ns, l->dur_ns);
	pf_capture_add(w->c, &w->slots[l->slot].ns, l->dur_ns);
	return 0;
}

int pf_work_add_orphan(struct pf_work *w, const struct pf_launched *l,
		       struct pf_err *err)
{
	bool is_before = l->origin == PF_GPU_BEFORE;
	bool is_migrated = l->origin == PF_GPU_MIGRATED;
	uint32_t node = pf_work_node(
		w, PF_NODE_ROOT,
		pf_capture_own_text(w->c, is_before     ? BEFORE
					  : is_migrated ? MIGRATED
							: NO_LAUNCH),
		PF_KIND_CPU_OP);

	w->c->before_count += is_before;
	w->c->migrated_count += is_migrated;
	w->c->without_launch += !is_before && !is_migrated;
	return pf_work_add(w, l, node, w->none, w->none,
			   pf_capture_step_over(w->c, l->trace_id, l->start_ns),
			   err);
}

struct pf_op_row *pf_work_op(struct pf_work *w, uint32_t name, uint32_t shapes,
			     uint32_t kind)
{
	struct pf_capture *c = w->c;
	uint32_t key[3] = { name, shapes, kind }, n;

	if (w->op_keys.count >= PF_CAPTURE_ROWS_MAX) {
		key[0] = pf_capture_own_text(c, OTHER);
		key[1] = w->none;
	}
	n = pf_intern_add(&w->op_keys, (const char *)key, sizeof(key));
	if (n < c->op_count)
		return &c->ops[n];
	c->ops = pf_grow(c->ops, &w->op_cap, n + (size_t)1, sizeof(*c->ops));
	c->op_count = n + (size_t)1;
	c->ops[n] = (struct pf_op_row){ .name = key[0],
					.shapes = key[1],
					.kind = kind };
	return &c->ops[n];
}

/* ---- GPU work ---- */

static uint32_t slot_of(struct pf_work *w, int64_t device, int64_t stream)
{
	for (size_t i = 0; i < w->slot_count; i++)
		if (w->slots[i].device == device &&
		    w->slots[i].stream == stream)
			return (uint32_t)i;
	w->slots = pf_grow(w->slots, &w->slot_cap, w->slot_count + 1,
			   sizeof(*w->slots));
	w->slots[w->slot_count] = (struct pf_work_slot){ device, stream, 0 };
	return (uint32_t)w->slot_count++;
}

static uint32_t find_slot(struct pf_work *w, const struct pf_gpu_event *ev)
{
	uint64_t track = (uint64_t)ev->event_id >> 32;
	uint64_t *slot = pf_map_at(&w->slot_of, track << 32 | ev->config);

	if (*slot == UINT64_MAX)
		*slot = slot_of(w, ev->device, ev->stream);
	return (uint32_t)*slot;
}

static int gather_work(struct pf_work *w, const struct pf_gpu_event *ev,
		       int64_t order, struct pf_err *err)
{
	struct pf_launched l = {
		.launch_id = ev->launch_id,
		.order = order,
		.trace_id = ev->trace->trace_id,
		.start_ns = ev->start_ns,
		.dur_ns = ev->dur_ns,
		.bytes = ev->bytes,
		.name = ev->name,
		.slot = find_slot(w, ev),
		.kind = (uint8_t)ev->kind,
		.class = (uint8_t)ev->class,
		.way = (uint8_t)ev->way,
		.origin = (uint8_t)ev->origin,
	};

	w->c->gpu_events++;
	if (!l.launch_id)
		return pf_work_add_orphan(w, &l, err);
	return pf_sorter_add(w->launched, &l, err);
}

/* All work of the traces: its step says whether it counts. */
static int gather(struct pf_work *w, struct pf_err *err)
{
	struct pf_window all = { .count = w->window->count,
				 .device = w->window->device };
	const struct pf_gpu_event *ev;
	struct pf_gpu *gpu;
	int64_t order = 0;
	int rc = -1;

	all.traces = pf_calloc(all.count + 1, sizeof(*all.traces));
	for (size_t i = 0; i < all.count; i++) {
		all.traces[i] = w->window->traces[i];
		all.traces[i].from_ns = INT64_MIN;
		all.traces[i].to_ns = INT64_MAX;
	}
	gpu = pf_gpu_new(w->db, &all, PF_GPU_LINKS | PF_GPU_BYTES, err);
	while (gpu && (rc = pf_gpu_next(gpu, &ev, err)) == 1)
		if ((rc = gather_work(w, ev, order++, err)) < 0)
			break;
	pf_gpu_free(gpu);
	free(all.traces);
	if (rc < 0 || pf_sorter_finish(w->launched, err) < 0)
		return -1;
	return pf_work_next(w, err);
}

int pf_work_next(struct pf_work *w, struct pf_err *err)
{
	w->next = pf_sorter_next(w->launched, err);
	return !w->next && err->code ? -1 : 0;
}

/* ---- the whole ---- */

/* Of each device the stream with most work is the main one. */
static uint32_t role_of(const struct pf_work *w, uint32_t slot)
{
	const struct pf_work_slot *own = &w->slots[slot];

	for (size_t i = 0; i < w->slot_count; i++) {
		const struct pf_work_slot *s = &w->slots[i];

		if (s->device == own->device &&
		    (s->ns > own->ns ||
		     (s->ns == own->ns && s->stream < own->stream)))
			return 1;
	}
	return 0;
}

/* Turn nodes and slots into what other databases can be compared with. */
static void settle(struct pf_work *w)
{
	struct pf_capture *c = w->c;

	for (size_t i = 0; i < c->work_count; i++) {
		struct pf_work_key *k = &c->work[i].key;
		uint32_t node = k->path;

		k->path = path_text(w, node, false);
		k->region = path_text(w, node, true);
		k->module = node_text(w, w->nodes[node].module);
		k->annotation = node_text(w, w->nodes[node].annotation);
		k->role = role_of(w, k->role);
	}
}

static int make_names(struct pf_work *w, struct pf_err *err)
{
	sqlite3_stmt *stmt =
		pf_db_prepare(w->db, "SELECT max(id) FROM string", err);
	int64_t last = -1;
	int rc;

	if (!stmt)
		return -1;
	rc = pf_db_step(w->db, stmt, err);
	if (rc == 1)
		last = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	if (rc < 0)
		return -1;
	w->name_count = last < 0           ? 0
			: last < DENSE_IDS ? (size_t)last + 1
					   : DENSE_IDS;
	w->names = pf_calloc(w->name_count + 1, sizeof(*w->names));
	for (size_t i = 0; i < w->name_count; i++)
		w->names[i].text = UINT32_MAX;
	return 0;
}

static void init(struct pf_work *w)
{
	pf_map_init(&w->shapes);
	pf_map_init(&w->memories);
	pf_map_init(&w->op_of);
	pf_map_init(&w->slot_of);
	pf_intern_init(&w->node_keys);
	pf_intern_init(&w->row_keys);
	pf_intern_init(&w->op_keys);
	w->nodes = pf_grow(NULL, &w->node_cap, 2, sizeof(*w->nodes));
	memset(w->nodes, 0, 2 * sizeof(*w->nodes));
	w->launched = pf_sorter_temp(sizeof(struct pf_launched));
}

static void release(struct pf_work *w)
{
	pf_map_release(&w->shapes);
	pf_map_release(&w->memories);
	pf_map_release(&w->op_of);
	pf_map_release(&w->slot_of);
	pf_kinds_release(&w->kinds);
	pf_intern_release(&w->node_keys);
	pf_intern_release(&w->row_keys);
	pf_intern_release(&w->op_keys);
	pf_sorter_free(w->launched);
	pf_texts_release(&w->texts);
	pf_buf_release(&w->text);
	free(w->names);
	free(w->nodes);
	free(w->slots);
}

static int run(struct pf_work *w, struct pf_err *err)
{
	w->texts.db = w->db;
	if (pf_kinds_load(&w->kinds, w->db, err) < 0 ||
	    make_names(w, err) < 0 || gather(w, err) < 0)
		return -1;
	for (size_t i = 0; i < w->kinds.count; i++)
		w->has_memory |= w->kinds.of[i] == PF_KIND_MEMORY;
	for (size_t i = 0; i < w->window->count; i++)
		if (pf_work_walk(w, w->window->traces[i].trace_id, err) < 0)
			return -1;
	/* launch calls that no thread has */
	while (w->next)
		if (pf_work_add_orphan(w, w->next, err) < 0 ||
		    pf_work_next(w, err) < 0)
			return -1;
	settle(w);
	return 0;
}

int pf_capture_work(struct pf_db *db, const struct pf_window *window,
		    struct pf_capture *c, struct pf_err *err)
{
	struct pf_work w = { .db = db, .window = window, .c = c };
	int rc;

	init(&w);
	w.none = pf_capture_own_text(c, "");
	rc = run(&w, err);
	release(&w);
	return rc;
}
