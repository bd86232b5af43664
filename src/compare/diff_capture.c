/* SPDX-License-Identifier: MIT */
/*
 * The steps and their classes are those of analysis/time/steps.h: there is one
 * sweep in this program.
 */
#include "config.h"

#include "compare/diff_capture.h"

#include <ctype.h>
#include <math.h>
#include <strings.h>
#include <sys/stat.h>

#include "analysis/idle/gaps.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/sat.h"
#include "base/search.h"
#include "base/spool.h"
#include "base/stats.h"
#include "events/args.h"
#include "events/gpu.h"
#include "events/interval.h"
#include "events/nest.h"
#include "formats/event.h"
#include "store/cursor.h"
#include "store/query.h"
#include "store/texts.h"
#include "store/threads.h"
#include "torch/averages.h"

static int64_t floor_div(int64_t n, int64_t d, int64_t *rest)
{
	int64_t q = n / d;

	*rest = n % d;
	if (*rest < 0) {
		*rest += d;
		q--;
	}
	return q;
}

int64_t pf_mean(int64_t sum, int64_t steps)
{
	int64_t rest, mean;

	if (steps <= 0)
		return 0;
	mean = floor_div(sum, steps, &rest);
	return mean + (rest >= steps - rest);
}

struct part {
	int64_t rest;
	size_t place;
};

PF_ORDER(by_rest, struct part, PF_DOWN(rest) PF_UP(place))

void pf_mean_parts(const int64_t *sums, size_t count, int64_t steps,
		   int64_t *out)
{
	PF_OWN struct part *parts = pf_calloc(count + 1, sizeof(*parts));
	int64_t left, sum = 0;

	for (size_t i = 0; i < count; i++)
		sum = (int64_t)((uint64_t)sum + (uint64_t)sums[i]);
	left = pf_mean(sum, steps);
	for (size_t i = 0; i < count; i++) {
		parts[i].place = i;
		out[i] = steps > 0 ? floor_div(sums[i], steps, &parts[i].rest)
				   : 0;
		left -= out[i];
	}
	pf_sort(parts, count, sizeof(*parts), by_rest);
	for (size_t i = 0; i < count && left > 0; i++, left--)
		out[parts[i].place]++;
}

int64_t pf_mean_more(int64_t a_count, int64_t a_ns, int64_t a_steps,
		     int64_t b_count, int64_t b_steps)
{
	__int128_t more, whole;

	if (!a_count || a_steps <= 0 || b_steps <= 0)
		return 0;
	more = ((__int128_t)b_count * a_steps - (__int128_t)a_count * b_steps) *
	       a_ns;
	whole = (__int128_t)a_steps * b_steps * a_count;
	return (int64_t)((2 * more + (more < 0 ? -whole : whole)) /
			 (2 * whole));
}

int pf_mean_compare(int64_t a, int64_t a_steps, int64_t b, int64_t b_steps)
{
	__int128_t x = (__int128_t)a * b_steps, y = (__int128_t)b * a_steps;

	return (y > x) - (y < x);
}

/*
 * The step on the host in which an instant lies, or the one whose whole time it
 * lies in; or NULL.
 */
static struct pf_capture_step *find_step(struct pf_capture *c, int64_t trace_id,
					 int64_t at_ns, bool on_host)
{
	struct pf_capture_step *all = c->each_step;
	const struct pf_step_time *s;
	size_t low =
		PF_SEARCH(i, c->step_count,
			  all[i].time.trace_id < trace_id ||
				  (all[i].time.trace_id == trace_id &&
				   (on_host ? all[i].time.host_start_ns
					    : all[i].time.start_ns) <= at_ns));

	if (!low)
		return NULL;
	s = &c->each_step[low - 1].time;
	if (s->trace_id != trace_id)
		return NULL;
	/* a window that is no step holds its last instant, too */
	if (at_ns >= (on_host ? s->host_end_ns : s->end_ns) &&
	    !(s->step < 0 && at_ns == s->end_ns))
		return NULL;
	return &c->each_step[low - 1];
}

/* The number of a text of the trace. */
static uint32_t capture_text(struct pf_capture *c, const char *s)
{
	PF_AUTO(pf_buf_release) struct pf_buf shown = { 0 };

	if (!c->filter.write)
		return pf_capture_own_text(c, s);
	pf_buf_adds(&shown, "");
	c->filter.write(c->filter.context, s, strlen(s), &shown);
	return pf_intern_add(&c->texts, shown.data, shown.len);
}

/*
 * The inside of capture_work(): GPU work is sorted by its launch call, so
 * that one walk over each host thread finds where every launch came from.
 *
 * A node is a place in the tree of modules, annotations and operators; equal
 * places are one node.
 */

#define PF_NODE_ROOT  0          /* nothing around */
#define PF_NODE_OTHER 1          /* more places than are kept */
#define PF_NODE_NONE  UINT32_MAX /* not looked for yet */

struct pf_node_place {
	uint32_t parent;
	uint32_t name;               /* number of a text */
	uint32_t kind;               /* enum pf_kind */
	uint32_t module, annotation; /* nodes; ROOT: none */
};

/* What a string.id stands for. */
struct pf_work_name {
	uint32_t text;      /* number, UINT32_MAX: not looked up */
	uint32_t node_text; /* the same without numbers of steps */
	bool is_step, is_module, is_allocator, is_launch, is_graph;
	bool is_user, is_builtin; /* Python functions */
	uint32_t rows[3]; /* of an annotation, a call; UINT32_MAX: none yet */
};

/* GPU work on its way to its launch call; the first two are sorted by. */
struct pf_launched {
	int64_t launch_id, order;
	int64_t trace_id, start_ns, dur_ns, bytes;
	uint32_t name, slot;
	uint8_t kind, class, way, origin; /* as of struct pf_gpu_event */
	uint32_t unused;
};

struct pf_work_slot { /* a stream of a device */
	int64_t device, stream, ns;
};

struct pf_work {
	struct pf_db *db;
	const struct pf_window *window;
	struct pf_capture *c;
	struct pf_texts texts;
	struct pf_kinds kinds;
	struct pf_work_name *names;
	size_t name_count; /* ids below it are looked up once */
	struct pf_work_name other_name;
	struct pf_map shapes;        /* argset.id -> number of text */
	struct pf_map memories;      /* argset.id -> device + 1, 0: no GPU */
	struct pf_intern node_keys;  /* bytes of (parent, name, kind) */
	struct pf_node_place *nodes; /* by number in node_keys + 2 */
	size_t node_cap;
	struct pf_map op_of;   /* name and arguments -> row of c->ops */
	struct pf_map code_of; /* name and caller -> the same */
	struct pf_sorter *launched;
	const struct pf_launched *next; /* NULL: no more */
	struct pf_keyed slots;          /* struct pf_work_slot */
	struct pf_map slot_of;          /* track and configuration -> slot */
	uint64_t order;
	bool has_memory;
	uint32_t none; /* number of the empty text */
	struct pf_buf text;
};

static struct pf_work_slot *slot_at(const struct pf_work *w, size_t slot)
{
	return PF_KEYED_ROW(&w->slots, struct pf_work_slot, slot);
}

#define DENSE_IDS (1u << 22)
#define NODES_MAX (1u << 18)
#define NO_NAME   "(name not listed)"
#define NO_LAUNCH "(no launch record)"
#define BEFORE    "(launched before the capture)"
#define MIGRATED  "(unified memory)"
#define OTHER     "(other)"

/* ---- names in the trace ---- */

static void describe_name(struct pf_work *w, struct pf_work_name *n,
			  const char *text)
{
	struct pf_name_class class = pf_name_classify(text);

	n->text = capture_text(w->c, text);
	n->is_step = class.is_step;
	n->is_module = class.is_module;
	n->is_allocator = class.call == PF_CAUSE_ALLOCATOR;
	n->is_graph = class.is_graph;
	n->is_launch = class.launches == PF_LAUNCHES_KERNEL;
	n->is_user = class.is_user_python;
	n->is_builtin = *text == '<';
	memset(n->rows, 0xff, sizeof(n->rows));
	pf_buf_clear(&w->text);
	pf_name_without_counts(text, &w->text);
	n->node_text = capture_text(w->c, w->text.data);
}

/* NULL on an error. */
static struct pf_work_name *work_name(struct pf_work *w, uint32_t name)
{
	struct pf_work_name *n = &w->other_name;
	const char *text;
	int rc;

	if (name < w->name_count) {
		n = &w->names[name];
		if (n->text != UINT32_MAX)
			return n;
	}
	rc = pf_texts_get(&w->texts, PF_TEXT_NAME, name, &text, NULL,
			  w->db->err);
	if (rc < 0)
		return NULL;
	describe_name(w, n, rc ? text : NO_NAME);
	return n;
}

static int argset_text(struct pf_work *w, uint32_t args, const char **text)
{
	int rc = 0;

	if (args < PF_ID_INLINE)
		rc = pf_texts_get(&w->texts, PF_TEXT_ARGS, args, text, NULL,
				  w->db->err);
	if (!rc)
		*text = NULL;
	return rc < 0 ? -1 : 0;
}

/* The shapes and types of the inputs in arguments; "" if they say none. */
static int work_shapes(struct pf_work *w, uint32_t args, uint32_t *out)
{
	uint64_t *place = pf_map_at(&w->shapes, args);
	struct pf_json whole, dims, types;
	const char *text;

	if (*place != UINT64_MAX) {
		*out = (uint32_t)*place;
		return 0;
	}
	PF_TRY(argset_text(w, args, &text));
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
	*place = *out = capture_text(w->c, w->text.data);
	return 0;
}

/* The device of a memory record's arguments; -1: no GPU. */
static int work_memory_device(struct pf_work *w, uint32_t args, int64_t *device)
{
	uint64_t *place = pf_map_at(&w->memories, args);
	int64_t type = 0, id = 0;
	struct pf_json whole;
	const char *text;

	if (*place == UINT64_MAX) {
		PF_TRY(argset_text(w, args, &text));
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

static uint32_t work_node(struct pf_work *w, uint32_t parent, uint32_t name,
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
	PF_ROOM(w->nodes, w->node_cap, n + (size_t)1);
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
		if (count == PF_LEN(chain)) {
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

/* While rows are gathered, the path is a node and the role a slot. */
static struct pf_work_row *work_row(struct pf_work *w,
				    const struct pf_work_key *wanted)
{
	struct pf_keyed *rows = &w->c->work;
	struct pf_work_key key = *wanted;
	size_t known = rows->count;
	struct pf_work_row *row;

	if (known >= PF_CAPTURE_ROWS_MAX)
		key = (struct pf_work_key){
			.path = PF_NODE_OTHER,
			.op = w->none,
			.shapes = w->none,
			.kernel = pf_capture_own_text(w->c, OTHER),
			.class = wanted->class,
			.kind = wanted->kind,
		};
	row = pf_capture_row(rows, &key, sizeof(key));
	if (rows->count > known)
		row->first = w->order;
	return row;
}

/* Copies by their way, as the breakdown of steps has them. */
static void count_copy(struct pf_capture *c, struct pf_capture_step *s,
		       const struct pf_launched *l)
{
	s->of[PF_FIGURE_COPIES]++;
	s->of[PF_FIGURE_HTOD + l->way]++;
	if (l->bytes >= 0)
		pf_capture_add(c, &s->of[PF_FIGURE_HTOD_BYTES + l->way],
			       l->bytes);
}

static void count_work(struct pf_capture *c, struct pf_capture_step *s,
		       const struct pf_launched *l)
{
	pf_capture_add(c, &s->of[PF_FIGURE_GPU_NS], l->dur_ns);
	if (l->kind == PF_KIND_KERNEL) {
		s->of[PF_FIGURE_KERNELS]++;
		pf_capture_add(c, &s->of[PF_FIGURE_WORK_NS], l->dur_ns);
		s->of[PF_FIGURE_COLLECTIVES] += l->class == PF_GPU_COMM;
	}
	s->of[PF_FIGURE_MEMSETS] += l->kind == PF_KIND_MEMSET;
	if (l->class == PF_GPU_COPY)
		count_copy(c, s, l);
}

/* Take in GPU work that was launched from a place. */
static int work_add(struct pf_work *w, const struct pf_launched *l,
		    uint32_t node, uint32_t op, uint32_t shapes,
		    struct pf_capture_step *step)
{
	struct pf_work_name *name;
	struct pf_work_key key;
	struct pf_work_row *row;

	w->order++;
	if (!step || step->time.is_partial)
		w->c->outside_count++;
	if (!step)
		return 0;
	name = work_name(w, l->name);
	PF_TRY(!name);
	count_work(w->c, step, l);
	if (step->time.is_partial)
		return 0;
	key = (struct pf_work_key){ .path = node,
				    .op = op,
				    .shapes = shapes,
				    .kernel = name->text,
				    .role = l->slot,
				    .class = l->class,
				    .kind = l->kind };
	row = work_row(w, &key);
	row->sum.count++;
	pf_capture_add(w->c, &row->sum.ns, l->dur_ns);
	pf_capture_add(w->c, &slot_at(w, l->slot)->ns, l->dur_ns);
	return 0;
}

/* The same of work without a launch call. */
static int work_add_orphan(struct pf_work *w, const struct pf_launched *l)
{
	bool is_before = l->origin == PF_GPU_BEFORE;
	bool is_migrated = l->origin == PF_GPU_MIGRATED;
	uint32_t node =
		work_node(w, PF_NODE_ROOT,
			  pf_capture_own_text(w->c, is_before     ? BEFORE
						    : is_migrated ? MIGRATED
								  : NO_LAUNCH),
			  PF_KIND_CPU_OP);

	w->c->before_count += is_before;
	w->c->migrated_count += is_migrated;
	w->c->without_launch += !is_before && !is_migrated;
	return work_add(w, l, node, w->none, w->none,
			find_step(w->c, l->trace_id, l->start_ns, false));
}

/* The number of an operator's row, which is counted by the caller. */
static uint32_t work_op(struct pf_work *w, uint32_t name, uint32_t shapes,
			uint32_t kind)
{
	struct pf_keyed *ops = &w->c->ops;
	struct pf_op_key key = { name, shapes, kind };
	struct pf_op_row *row;

	if (ops->count >= PF_CAPTURE_ROWS_MAX) {
		key.name = pf_capture_own_text(w->c, OTHER);
		key.shapes = w->none;
	}
	row = pf_capture_row(ops, &key, sizeof(key));
	return (uint32_t)(row - (struct pf_op_row *)ops->rows);
}

/* ---- GPU work ---- */

static uint32_t find_slot(struct pf_work *w, const struct pf_gpu_event *ev)
{
	uint64_t track = (uint64_t)ev->event_id >> 32;
	uint64_t *slot = pf_map_at(&w->slot_of, track << 32 | ev->config);
	const int64_t key[] = { ev->device, ev->stream };

	if (*slot == UINT64_MAX) {
		*slot = pf_keyed_at_text(&w->slots, (const char *)key,
					 sizeof(key));
		*slot_at(w, *slot) =
			(struct pf_work_slot){ ev->device, ev->stream,
					       slot_at(w, *slot)->ns };
	}
	return (uint32_t)*slot;
}

static int gather_work(struct pf_work *w, const struct pf_gpu_event *ev,
		       int64_t order)
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
		return work_add_orphan(w, &l);
	return pf_sorter_add(w->launched, &l, w->db->err);
}

/* w->next, in order of launch calls. */
static int work_next(struct pf_work *w)
{
	w->next = pf_sorter_next(w->launched, w->db->err);
	return !w->next && w->db->err->code ? -1 : 0;
}

/* All work of the traces: its step says whether it counts. */
static int gather(struct pf_work *w)
{
	struct pf_window all = { .count = w->window->count,
				 .device = w->window->device };
	PF_OWN struct pf_window_trace *traces =
		pf_calloc(all.count + 1, sizeof(*traces));
	PF_AUTO(pf_gpu_freed) struct pf_gpu *gpu = NULL;
	const struct pf_gpu_event *ev;
	int64_t order = 0;
	int rc = -1;

	all.traces = traces;
	for (size_t i = 0; i < all.count; i++) {
		all.traces[i] = w->window->traces[i];
		all.traces[i].from_ns = INT64_MIN;
		all.traces[i].to_ns = INT64_MAX;
	}
	gpu = pf_gpu_new(w->db, &all, PF_GPU_LINKS | PF_GPU_BYTES);
	while (gpu && (rc = pf_gpu_next(gpu, &ev)) == 1)
		PF_TRY(gather_work(w, ev, order++) < 0);
	PF_TRY(rc < 0 || pf_sorter_finish(w->launched, w->db->err) < 0);
	return work_next(w);
}

/*
 * The stack holds the events around the one at hand, found by the parents
 * that ingest wrote.  Places are looked for only where something is launched.
 * A child's time is taken off the self time of what is around it when the
 * child comes, so nothing waits for the end of an event.
 */

#define DEPTH_MAX 4096 /* deeper events count for what is around them */
#define NO_PLACE  UINT32_MAX

struct entry {
	struct pf_nest_event event;
	uint32_t name, args, kind;
	uint32_t node;       /* PF_NODE_NONE: not looked for */
	uint32_t op;         /* innermost operator at or below, in the stack */
	uint32_t counted;    /* innermost entry at or below with a row */
	uint32_t row;        /* of c->ops */
	int64_t part_end_ns; /* till then its time is its row's */
};

struct host {
	struct pf_work *w;
	int64_t trace_id;
	uint32_t track_id;
	struct pf_nest stack; /* struct entry */
	size_t top; /* so many hold the event at hand, which is the last */
	bool is_one_step;             /* the trace has no steps */
	struct pf_capture_step *step; /* the last one that was found */
	bool has_step;                /* on this thread, the last ends here: */
	int64_t step_end_ns;
	const struct pf_block *block;
	uint32_t slots[PF_SLOT_COUNT]; /* values used up */
};

static struct entry *entry_at(const struct host *h, size_t i)
{
	return pf_nest_at(&h->stack, i);
}

static struct pf_capture_step *step_at(struct host *h, int64_t at_ns)
{
	const struct pf_capture_step *s = h->step;

	if (s && at_ns >= s->time.host_start_ns && at_ns < s->time.host_end_ns)
		return h->step;
	h->step = find_step(h->w->c, h->trace_id, at_ns, true);
	return h->step;
}

/* The place of an entry of the stack. */
static int place_of(struct host *h, uint32_t at, uint32_t *out)
{
	uint32_t from = at + 1, node = PF_NODE_ROOT;

	while (from > 0 && entry_at(h, from - 1)->node == PF_NODE_NONE)
		from--;
	if (from > 0)
		node = entry_at(h, from - 1)->node;
	for (; from <= at; from++) {
		struct entry *e = entry_at(h, from);
		struct pf_work_name *name = work_name(h->w, e->name);

		PF_TRY(!name);
		if (e->kind == PF_KIND_CPU_OP ||
		    (e->kind == PF_KIND_ANNOTATION && !name->is_step) ||
		    (e->kind == PF_KIND_PYTHON && name->is_module))
			node = work_node(h->w, node, name->node_text, e->kind);
		e->node = node;
	}
	*out = node;
	return 0;
}

/* GPU work of the launch call that is on top of the stack. */
static int take_launched(struct host *h, int64_t id, int64_t start_ns,
			 int64_t dur_ns)
{
	struct pf_capture_step *step = step_at(h, start_ns);
	struct pf_work *w = h->w;
	uint32_t node = PF_NODE_ROOT, op = w->none, shapes = w->none, at;
	struct pf_work_name *name;

	while (w->next && w->next->launch_id < id)
		PF_TRY(work_add_orphan(w, w->next) < 0 || work_next(w));
	if (!w->next || w->next->launch_id != id)
		return 0;
	PF_TRY(h->top && place_of(h, (uint32_t)h->top - 1, &node) < 0);
	at = h->top ? entry_at(h, h->top - 1)->op : NO_PLACE;
	if (at != NO_PLACE) {
		name = work_name(w, entry_at(h, at)->name);
		PF_TRY(!name ||
		       work_shapes(w, entry_at(h, at)->args, &shapes) < 0);
		op = name->text;
	}
	/* as in events/step.h, the whole call lies in its step */
	if (step && step->time.step >= 0 &&
	    pf_span_end(start_ns, dur_ns) > step->time.host_end_ns)
		step = NULL;
	while (w->next && w->next->launch_id == id) {
		/* a trace without steps is one of what ran in it */
		if (h->is_one_step)
			step = find_step(w->c, h->trace_id, w->next->start_ns,
					 false);
		PF_TRY(work_add(w, w->next, node, op, shapes, step));
		PF_TRY(work_next(w));
	}
	return 0;
}

static void count_call(struct pf_capture_step *s, struct pf_work_name *name)
{
	s->of[PF_FIGURE_CALLS]++;
	s->of[PF_FIGURE_LAUNCHES] += name->is_launch;
	s->of[PF_FIGURE_GRAPHS] += name->is_graph;
	s->of[PF_FIGURE_ALLOCATIONS] += name->is_allocator;
}

/* The function that is around, of the user's own if there is one; or 0. */
static uint32_t caller_of(struct host *h, struct pf_work_name **name)
{
	uint32_t out = 0;

	*name = NULL;
	for (size_t i = h->top; i-- > 0;) {
		const struct entry *e = entry_at(h, i);
		struct pf_work_name *n;

		if (e->kind != PF_KIND_PYTHON)
			continue;
		n = work_name(h->w, e->name);
		if (!n || (*name && !n->is_user))
			continue;
		*name = n;
		out = e->name + 1;
		if (n->is_user)
			break;
	}
	return out;
}

/* "model.py:12 forward", "<built-in method sum of Tensor object>" */
static uint32_t frame_text(struct pf_work *w, uint32_t text)
{
	char *at, *end;

	pf_buf_clear(&w->text);
	pf_buf_adds(&w->text, pf_intern_text(&w->c->texts, text, NULL));
	pf_name_as_frame(w->text.data);
	at = strstr(w->text.data, " at 0x");
	end = at ? at + 6 + strspn(at + 6, "0123456789ABCDEFabcdef") : NULL;
	if (end)
		memmove(at, end, strlen(end) + 1);
	return pf_capture_own_text(w->c, w->text.data);
}

/* Of what is built in, which has no line, by who calls it. */
static uint32_t row_of_code(struct host *h, const struct entry *e,
			    const struct pf_work_name *name)
{
	struct pf_work_name *by = NULL;
	uint32_t caller = name->is_builtin ? caller_of(h, &by) : 0;
	struct pf_work *w = h->w;
	uint64_t *place =
		pf_map_at(&w->code_of, (uint64_t)e->name << 32 | caller);

	if (*place == UINT64_MAX)
		*place = work_op(w, frame_text(w, name->node_text),
				 by ? frame_text(w, by->node_text) : w->none,
				 e->kind);
	return (uint32_t)*place;
}

/* Of operators those of other shapes have rows of their own; 0, -1. */
static int row_of(struct host *h, const struct entry *e,
		  struct pf_work_name *name, uint32_t *row)
{
	struct pf_work *w = h->w;
	uint32_t shapes = w->none, *known;
	uint64_t *place;

	if (e->kind == PF_KIND_PYTHON) {
		w->c->has_code = true;
		*row = row_of_code(h, e, name);
		return 0;
	}
	if (name->is_step) {
		*row = work_op(w, pf_capture_own_text(w->c, PF_STEP_ITSELF),
			       w->none, e->kind);
		return 0;
	}
	if (e->kind != PF_KIND_CPU_OP) {
		known = &name->rows[e->kind == PF_KIND_ANNOTATION ? 0
				    : e->kind == PF_KIND_RUNTIME  ? 1
								  : 2];
		if (*known == UINT32_MAX)
			*known = work_op(w, name->node_text, shapes, e->kind);
		*row = *known;
		return 0;
	}
	place = pf_map_at(&w->op_of, (uint64_t)e->name << 32 | e->args);
	if (*place == UINT64_MAX) {
		PF_TRY(work_shapes(w, e->args, &shapes));
		*place = work_op(w, name->node_text, shapes, e->kind);
	}
	*row = (uint32_t)*place;
	return 0;
}

static struct pf_row_sums *sums_of_op(struct pf_capture *c, uint32_t row)
{
	return &PF_KEYED_ROW(&c->ops, struct pf_op_row, row)->sum;
}

/*
 * Take its time from what is around it, the innermost of so many first.  What
 * outlives its step or an operator is in each till that ends; with a GPU, where
 * no sum is made of it, in the first alone.
 */
static void take_from(struct host *h, size_t top, const struct entry *e,
		      int64_t start_ns)
{
	struct pf_capture *c = h->w->c;
	uint32_t at = top ? entry_at(h, top - 1)->counted : NO_PLACE;

	while (at != NO_PLACE && start_ns < e->part_end_ns) {
		const struct entry *up = entry_at(h, at);
		int64_t end = up->part_end_ns < e->part_end_ns ? up->part_end_ns
							       : e->part_end_ns;

		if (end > start_ns) {
			pf_capture_add(c, &sums_of_op(c, up->row)->part_ns,
				       -pf_sat_sub(end, start_ns));
			start_ns = end;
		}
		at = at && !c->gpu_events ? entry_at(h, at - 1)->counted
					  : NO_PLACE;
	}
}

/*
 * Operators, annotations and calls have rows, and where no GPU works Python
 * functions and steps: then the rows of a step's thread add up to it.
 */
static int count_range(struct host *h, size_t top, struct entry *e,
		       int64_t start_ns, int64_t dur_ns)
{
	struct pf_capture_step *s = step_at(h, start_ns);
	struct pf_work_name *name;
	struct pf_capture *c = h->w->c;
	struct pf_row_sums *sum;

	if (!s)
		return 0;
	name = work_name(h->w, e->name);
	PF_TRY(!name);
	if (e->kind == PF_KIND_RUNTIME || e->kind == PF_KIND_DRIVER)
		count_call(s, name);
	s->of[PF_FIGURE_OPS] += e->kind == PF_KIND_CPU_OP;
	if (s->time.is_partial || (name->is_step && c->gpu_events))
		return 0;
	if (name->is_step)
		h->step_end_ns = e->event.end_ns;
	else if (!c->gpu_events && h->has_step &&
		 e->event.end_ns > h->step_end_ns)
		e->part_end_ns =
			h->step_end_ns > start_ns ? h->step_end_ns : start_ns;
	h->has_step |= name->is_step;
	PF_TRY(row_of(h, e, name, &e->row));
	sum = sums_of_op(c, e->row);
	sum->count++;
	pf_capture_add(c, &sum->ns, dur_ns);
	pf_capture_add(c, &sum->part_ns, pf_sat_sub(e->part_end_ns, start_ns));
	take_from(h, top, e, start_ns);
	return 0;
}

/*
 * Put an entry below those from a place on.  What they held next to it is part
 * of it from now on.
 */
static void insert(struct host *h, size_t at, struct entry e)
{
	const uint32_t beside = e.counted;

	if (e.kind == PF_KIND_CPU_OP)
		e.op = (uint32_t)at;
	if (e.row != NO_PLACE)
		e.counted = (uint32_t)at;
	if (!pf_nest_insert(&h->stack, at, &e))
		return;
	h->top = at + 1;
	for (size_t i = at + 1; i < h->stack.depth; i++) {
		struct entry *over = entry_at(h, i);

		over->op += over->op != NO_PLACE && over->op >= at;
		if (over->counted == beside)
			over->counted = e.counted;
		else
			over->counted += over->counted != NO_PLACE;
	}
}

/* Take what ended off the stack and put the event on it. */
static int push(struct host *h, uint32_t seq, uint32_t i, unsigned kind)
{
	const struct pf_block *b = h->block;
	int64_t start = b->start_ns[i], dur = b->dur_ns[i];
	struct entry e = { .event = { .end_ns = pf_span_end(start, dur),
				      .seq = seq,
				      .is_python = kind == PF_KIND_PYTHON },
			   .name = b->name[i],
			   .args = b->args[i],
			   .kind = kind,
			   .node = PF_NODE_NONE,
			   .op = NO_PLACE,
			   .counted = NO_PLACE,
			   .row = NO_PLACE };
	bool is_under;
	uint32_t ignored;
	size_t at, top;

	e.part_end_ns = e.event.end_ns;
	at = pf_nest_place(&h->stack, start, e.event, b->parent[i], &is_under);
	h->top = at;
	if (is_under && e.event.is_python)
		return 0;
	PF_TRY(is_under &&
	       place_of(h, (uint32_t)h->stack.depth - 1, &ignored) < 0);
	top = is_under || h->w->c->gpu_events ? at : h->stack.depth;
	if (!is_under)
		h->stack.depth = at;
	if (at) {
		e.op = entry_at(h, at - 1)->op;
		e.counted = entry_at(h, at - 1)->counted;
	}
	if (kind == PF_KIND_CPU_OP || kind == PF_KIND_ANNOTATION ||
	    kind == PF_KIND_RUNTIME || kind == PF_KIND_DRIVER ||
	    (kind == PF_KIND_PYTHON && !h->w->c->gpu_events))
		PF_TRY(count_range(h, top, &e, start, dur));
	if (h->stack.depth < DEPTH_MAX)
		insert(h, at, e);
	return 0;
}

/* ---- memory ---- */

static int64_t slot_value(struct host *h, uint32_t mask, int slot)
{
	if (!(mask >> slot & 1) || h->slots[slot] >= h->block->slot_count[slot])
		return -1;
	return h->block->slot[slot][h->slots[slot]];
}

static int take_memory(struct host *h, uint32_t i)
{
	const struct pf_block *b = h->block;
	struct pf_capture *c = h->w->c;
	uint32_t mask = b->mask[i];
	int64_t allocated = slot_value(h, mask, PF_SLOT_ALLOCATED);
	int64_t reserved = slot_value(h, mask, PF_SLOT_RESERVED);
	int64_t bytes = slot_value(h, mask, PF_SLOT_BYTES);
	struct pf_capture_step *s;
	int64_t device;

	PF_TRY(work_memory_device(h->w, b->args[i], &device));
	if (device < 0)
		return 0;
	s = step_at(h, b->start_ns[i]);
	if (s && bytes > 0)
		s->of[PF_FIGURE_TENSORS]++;
	PF_AT_LEAST(c->of[PF_FIGURE_PEAK], allocated);
	PF_AT_LEAST(c->of[PF_FIGURE_RESERVED], reserved);
	return 0;
}

static void use_slots(struct host *h, uint32_t mask)
{
	static const int used[] = { PF_SLOT_ALLOCATED, PF_SLOT_RESERVED,
				    PF_SLOT_BYTES };

	for (size_t k = 0; k < PF_LEN(used); k++)
		h->slots[used[k]] += mask >> used[k] & 1;
}

/* ---- threads ---- */

static int walk_block(struct host *h, uint32_t first_seq)
{
	const struct pf_block *b = h->block;
	bool has_memory = h->w->has_memory;
	int64_t track = (int64_t)((uint64_t)h->track_id << 32);

	memset(h->slots, 0, sizeof(h->slots));
	for (uint32_t i = 0; i < b->count; i++) {
		unsigned kind = pf_kinds_at(&h->w->kinds, b->type[i]);
		uint32_t seq = first_seq + i;

		PF_TRY(kind == PF_KIND_MEMORY && take_memory(h, i) < 0);
		if (has_memory)
			use_slots(h, b->mask[i]);
		if (kind == PF_KIND_MEMORY || kind == PF_KIND_OOM ||
		    kind == PF_KIND_INSTANT)
			continue;
		PF_TRY(push(h, seq, i, kind));
		PF_TRY(h->w->next && h->w->next->launch_id <= (track | seq) &&
		       take_launched(h, track | seq, b->start_ns[i],
				     b->dur_ns[i]) < 0);
	}
	return 0;
}

static int walk_track(void *context, const struct pf_track *track)
{
	struct host *h = context;
	uint64_t columns = PF_COLBIT(PF_COL_START) | PF_COLBIT(PF_COL_DUR) |
			   PF_COLBIT(PF_COL_NAME) | PF_COLBIT(PF_COL_TYPE) |
			   PF_COLBIT(PF_COL_ARGS) | PF_COLBIT(PF_COL_PARENT);
	PF_AUTO(pf_cursor_freed) struct pf_cursor *cursor = NULL;
	uint32_t first;
	int rc;

	if (h->w->has_memory)
		columns |= PF_COLBIT(PF_COL_SLOT + PF_SLOT_ALLOCATED) |
			   PF_COLBIT(PF_COL_SLOT + PF_SLOT_RESERVED) |
			   PF_COLBIT(PF_COL_SLOT + PF_SLOT_BYTES);
	cursor = pf_cursor_new(h->w->db, track->id, columns);
	h->track_id = track->id;
	h->stack.depth = h->top = 0;
	h->has_step = false;
	while ((rc = pf_cursor_block(cursor, &h->block, &first,
				     h->w->db->err)) == 1)
		PF_TRY(walk_block(h, first) < 0);
	return rc;
}

/* Walk the host threads of a trace. */
static int work_walk(struct pf_work *w, int64_t trace_id)
{
	struct host h = { .w = w,
			  .trace_id = trace_id,
			  .stack = { .width = sizeof(struct entry) } };
	int rc;

	for (size_t i = 0; i < w->c->step_count; i++)
		if (w->c->each_step[i].time.trace_id == trace_id)
			h.is_one_step = w->c->each_step[i].time.step < 0;
	rc = pf_host_tracks(w->db, trace_id, walk_track, &h);
	pf_nest_release(&h.stack);
	return rc;
}

/* ---- the work of a capture ---- */

/* Of each device the stream with most work is the main one. */
static uint32_t role_of(const struct pf_work *w, uint32_t slot)
{
	const struct pf_work_slot *own = slot_at(w, slot), *s = w->slots.rows;

	for (size_t i = 0; i < w->slots.count; i++, s++)
		if (s->device == own->device &&
		    (s->ns > own->ns ||
		     (s->ns == own->ns && s->stream < own->stream)))
			return 1;
	return 0;
}

/* Turn nodes and slots into what other databases can be compared with. */
static void settle(struct pf_work *w)
{
	struct pf_capture *c = w->c;

	for (size_t i = 0; i < c->work.count; i++) {
		struct pf_work_key *k =
			&PF_KEYED_ROW(&c->work, struct pf_work_row, i)->key;
		uint32_t node = k->path;

		k->path = path_text(w, node, false);
		k->region = path_text(w, node, true);
		k->module = node_text(w, w->nodes[node].module);
		k->annotation = node_text(w, w->nodes[node].annotation);
		k->role = role_of(w, k->role);
	}
}

static int make_names(struct pf_work *w)
{
	int64_t count;

	PF_TRY(pf_db_number(w->db, "SELECT ifnull(max(id) + 1, 0) FROM string",
			    &count, w->db->err));
	w->name_count = count < DENSE_IDS ? (size_t)count : DENSE_IDS;
	w->names = pf_calloc(w->name_count + 1, sizeof(*w->names));
	for (size_t i = 0; i < w->name_count; i++)
		w->names[i].text = UINT32_MAX;
	return 0;
}

static void init(struct pf_work *w)
{
	w->nodes = pf_grow(NULL, &w->node_cap, 2, sizeof(*w->nodes));
	memset(w->nodes, 0, 2 * sizeof(*w->nodes));
	pf_keyed_begin(&w->slots, sizeof(struct pf_work_slot), PF_KEYED_SUMS);
	w->launched = pf_sorter_temp(sizeof(struct pf_launched));
}

static void release(struct pf_work *w)
{
	pf_map_release(&w->shapes);
	pf_map_release(&w->memories);
	pf_map_release(&w->op_of);
	pf_map_release(&w->code_of);
	pf_map_release(&w->slot_of);
	pf_kinds_release(&w->kinds);
	pf_intern_release(&w->node_keys);
	pf_sorter_free(w->launched);
	pf_texts_release(&w->texts);
	pf_buf_release(&w->text);
	free(w->names);
	free(w->nodes);
	pf_keyed_end(&w->slots);
}

static int run(struct pf_work *w)
{
	PF_TRY(pf_kinds_load(&w->kinds, w->db, w->db->err) < 0);
	PF_TRY(make_names(w));
	PF_TRY(gather(w));
	for (size_t i = 0; i < w->kinds.count; i++)
		w->has_memory |= w->kinds.of[i] == PF_KIND_MEMORY;
	for (size_t i = 0; i < w->window->count; i++)
		PF_TRY(work_walk(w, w->window->traces[i].trace_id) < 0);
	/* launch calls that no thread has */
	while (w->next)
		PF_TRY(work_add_orphan(w, w->next) < 0 || work_next(w));
	settle(w);
	return 0;
}

/* What a capture is loaded from. */
struct loading {
	struct pf_db *db;
	const struct pf_window_args *args;
	const struct pf_window *window;
	struct pf_capture *c;
};

static int capture_work(struct loading *l)
{
	PF_AUTO(release)
	struct pf_work w = { .db = l->db,
			     .window = l->window,
			     .c = l->c,
			     .texts = { .db = l->db },
			     .none = pf_capture_own_text(l->c, "") };

	init(&w);
	return run(&w);
}

/* ---- key_averages() ---- */

static void take_row(struct pf_capture *c, size_t *cap,
		     const struct pf_average *from)
{
	struct pf_average_row *row;

	c->averages = pf_grow_zero(c->averages, cap, c->average_count + 1,
				   sizeof(*c->averages));
	row = &c->averages[c->average_count++];
	row->name = capture_text(c, from->name);
	row->is_device = from->is_device;
	pf_capture_add(c, &row->value[0], (int64_t)from->count);
	for (size_t i = 0; i < PF_FIG_COUNT; i++) {
		pf_capture_add(c, &row->value[1 + i], from->sum.ns[i]);
		pf_capture_add(c, &row->value[1 + PF_FIG_COUNT + i],
			       from->sum.bytes[i]);
	}
}

static int capture_averages(struct loading *l)
{
	size_t cap = 0;

	for (size_t i = 0; i < l->window->count; i++) {
		const struct pf_averages_args args = {
			.trace_id = l->window->traces[i].trace_id,
			.step = -1,
			.grouping_count = 1,
		};
		PF_AUTO(pf_averages_release) struct pf_averages a = { 0 };

		PF_TRY(pf_averages_get(l->db, &args, &a, l->db->err));
		for (size_t k = 0; k < a.list[0].count; k++)
			take_row(l->c, &cap, &a.list[0].rows[k]);
	}
	return 0;
}

/* ---- advice ---- */

static int capture_advise(struct loading *l)
{
	const struct pf_advise_args asked = { .window = *l->args,
					      .db_name = "DB" };
	PF_AUTO(pf_advise_release) struct pf_advise advise = { 0 };
	struct pf_capture *c = l->c;
	int64_t steps;

	PF_TRY(pf_advise_find(l->db, &asked, &advise));
	steps = advise.step_count > 0 ? advise.step_count : 1;
	for (size_t i = 0; i < advise.count; i++) {
		const struct pf_advice *v = &advise.all[i];
		const char *reason =
			v->state == PF_ADVICE_GIVEN ? NULL : v->sentence.data;
		bool has_bound = v->state == PF_ADVICE_GIVEN &&
				 v->at_most_ns != PF_NO_INT;

		c->advice[c->advice_count++] = (struct pf_capture_advice){
			.id = v->id,
			.title = v->title,
			.state = v->state,
			.at_most_ns = has_bound ? pf_mean(v->at_most_ns, steps)
						: PF_NO_INT,
			.share = has_bound ? pf_ratio((double)v->at_most_ns,
						      advise.window_ns)
					   : NAN,
			.reason = pf_capture_own_text(c, reason ? reason : ""),
		};
	}
	return 0;
}

/* ---- the critical path ---- */

struct sink {
	struct pf_path_sink sink; /* first */
	struct pf_capture *capture;
};

static int add_tile(struct pf_path_sink *sink, const struct pf_path_tile *tile,
		    struct pf_err *err)
{
	struct pf_capture *c = ((struct sink *)sink)->capture;

	(void)err;
	pf_capture_add(c, &c->path_ns[tile->category],
		       tile->end_ns - tile->start_ns);
	return 0;
}

static int capture_path(struct loading *l)
{
	struct sink sink = { { .tile = add_tile }, l->c };
	const struct pf_path_args asked = { .window = *l->args,
					    .is_bare = true,
					    .also = &sink.sink };
	PF_AUTO(pf_path_release) struct pf_path path = { 0 };
	int rc;

	PF_TRY(pf_path_check(l->window, l->db->err));
	rc = pf_path_find(l->db, &asked, &path);
	l->c->path_steps = path.step_count > 0 ? path.step_count : 1;
	l->c->path_window_ns = path.window_ns;
	return rc;
}

/* ---- idle time and blocking calls ---- */

/*
 * Gaps are looked for from the first full step to the last and their pieces
 * cut to full steps, so that causes add up to the idle time of these steps,
 * device by device.
 */

struct waits {
	struct pf_gap_sink sink;
	struct pf_capture *c;
	struct pf_gpu_set gpus;
	struct pf_db *db;
	struct pf_names *names;
	const struct pf_pageable *pageable;
	const struct pf_gap *gap;
	int64_t at_ns; /* where the next piece of the gap begins */
};

/*
 * The row of a place, whose texts are numbers of strings as long as rows are
 * gathered.  Of more than are kept what is not "kept" is put together.
 */
static struct pf_row_sums *wait_row(struct pf_keyed *rows,
				    const struct pf_place *place, uint32_t kept)
{
	struct pf_wait_key key = { place->cause, place->name, place->op,
				   place->frame != PF_ID_NONE ? place->frame
							      : place->note };
	struct pf_wait_row *row;

	if (rows->count >= PF_CAPTURE_ROWS_MAX)
		key = (struct pf_wait_key){ place->cause, kept, PF_ID_NONE,
					    PF_ID_NONE };
	row = pf_capture_row(rows, &key, sizeof(key));
	return &row->sum;
}

static struct pf_row_sums *site_row(struct waits *w,
				    const struct pf_place *place)
{
	return wait_row(&w->c->sites, place, place->name);
}

/* What of a span lies in full steps of its trace. */
static int64_t in_full_steps(struct pf_capture *c, int64_t trace_id,
			     int64_t from_ns, int64_t to_ns)
{
	const struct pf_capture_step *step = c->each_step;
	size_t low = PF_SEARCH(i, c->step_count,
			       step[i].time.trace_id < trace_id ||
				       (step[i].time.trace_id == trace_id &&
					step[i].time.end_ns <= from_ns));
	int64_t ns = 0;

	for (; low < c->step_count; low++) {
		const struct pf_step_time *s = &c->each_step[low].time;
		int64_t from = s->start_ns > from_ns ? s->start_ns : from_ns;
		int64_t to = s->end_ns < to_ns ? s->end_ns : to_ns;

		if (s->trace_id != trace_id || s->start_ns >= to_ns)
			break;
		if (!s->is_partial && to > from)
			pf_capture_add(c, &ns, pf_sat_sub(to, from));
	}
	return ns;
}

static void on_piece(struct pf_gap_sink *sink, const struct pf_gap *gap,
		     const struct pf_place *place, int64_t ns)
{
	struct waits *w = (struct waits *)sink;
	struct pf_row_sums *sum;
	int64_t inside;

	if (w->gap != gap) {
		w->gap = gap;
		w->at_ns = gap->start_ns;
	}
	inside = in_full_steps(w->c, gap->trace->trace_id, w->at_ns,
			       pf_span_end(w->at_ns, ns));
	w->at_ns = pf_span_end(w->at_ns, ns);
	if (!inside)
		return;
	sum = wait_row(&w->c->idle, place, PF_ID_NONE);
	sum->count++;
	pf_capture_add(w->c, &sum->ns, inside);
	pf_capture_add(w->c, &w->c->cause_ns[place->cause], inside);
}

static void on_gap(struct pf_gap_sink *sink, const struct pf_gap *gap)
{
	struct waits *w = (struct waits *)sink;
	int64_t inside;

	w->gap = NULL;
	if (gap->drained.end_ns == INT64_MIN)
		return;
	inside = in_full_steps(w->c, gap->trace->trace_id, gap->start_ns,
			       gap->end_ns);
	if (inside)
		pf_capture_add(w->c, &site_row(w, &gap->drained.place)->part_ns,
			       inside);
}

static void on_device(struct pf_gap_sink *sink, const struct pf_gap_device *d)
{
	struct waits *w = (struct waits *)sink;

	if (d->event_count)
		pf_gpu_set_add(&w->gpus, d->trace, d->device);
	w->c->device_count = (int64_t)w->gpus.count;
}

/* ---- blocking calls ---- */

static void add_call(struct waits *w, int64_t trace_id,
		     const struct pf_block_call *call)
{
	struct pf_capture_step *s =
		find_step(w->c, trace_id, call->start_ns, true);
	struct pf_row_sums *sum;

	if (!s)
		return;
	s->of[PF_FIGURE_SYNCS]++;
	if (s->time.is_partial)
		return;
	sum = site_row(w, &call->place);
	sum->count++;
	pf_capture_add(w->c, &sum->ns,
		       pf_sat_sub(call->end_ns, call->start_ns));
}

static int wait_track(void *context, const struct pf_track *track)
{
	struct waits *w = context;
	PF_AUTO(pf_walk_freed)
	struct pf_walk *walk =
		pf_walk_new(w->db, w->names, w->pageable, track->id);
	struct pf_block_call call;
	int rc;

	PF_TRY(!walk);
	while ((rc = pf_walk_next_call(walk, &call, w->db->err)) == 1)
		if (!call.is_stream_wait)
			add_call(w, track->trace_id, &call);
	return rc;
}

/* ---- names of places ---- */

static int name_text(struct waits *w, uint32_t *name)
{
	PF_OWN char *text = *name != PF_ID_NONE
				    ? pf_names_frame_take(w->names, *name)
				    : pf_strdup("");

	if (text)
		*name = capture_text(w->c, text);
	return text ? 0 : -1;
}

static int take_names(struct waits *w, struct pf_keyed *rows)
{
	for (size_t i = 0; i < rows->count; i++) {
		struct pf_wait_key *key =
			&PF_KEYED_ROW(rows, struct pf_wait_row, i)->key;

		PF_TRY(name_text(w, &key->name));
		PF_TRY(name_text(w, &key->op));
		PF_TRY(name_text(w, &key->frame));
	}
	return 0;
}

/* ---- idle time and calls ---- */

/* From the first full step of each trace to its last. */
static void narrow(struct pf_window *window, const struct pf_capture *c)
{
	window->is_restricted = true;
	for (size_t i = 0; i < window->count; i++) {
		struct pf_window_trace *t = &window->traces[i];
		bool any = false;

		for (size_t k = 0; k < c->step_count; k++) {
			const struct pf_step_time *s = &c->each_step[k].time;

			if (s->trace_id != t->trace_id || s->is_partial)
				continue;
			if (!any)
				t->from_ns = s->start_ns;
			t->to_ns = s->end_ns;
			any = true;
		}
		if (!any)
			t->to_ns = t->from_ns = t->first_ns;
	}
}

static void waits_release(struct waits *w)
{
	pf_names_free(w->names);
	pf_gpu_set_release(&w->gpus);
}

static int capture_waits(struct loading *l)
{
	PF_AUTO(waits_release)
	struct waits w = { .sink = { .piece = on_piece,
				     .gap = on_gap,
				     .device = on_device },
			   .c = l->c,
			   .db = l->db,
			   .names = pf_names_new(l->db),
			   .pageable = pf_pageable(l->db) };
	struct pf_window own = *l->window;
	size_t bytes = own.count * sizeof(*own.traces);
	PF_OWN struct pf_window_trace *traces = pf_alloc(bytes + 1);

	own.traces = memcpy(traces, l->window->traces, bytes);
	narrow(&own, l->c);
	PF_TRY(!w.names || !w.pageable || pf_window_settle(l->db, &own));
	PF_TRY(pf_gap_find(l->db, &own, w.names, w.pageable, PF_GAPS_MICRO_NS,
			   &w.sink));
	for (size_t i = 0; i < own.count; i++)
		PF_TRY(pf_host_tracks(l->db, own.traces[i].trace_id, wait_track,
				      &w));
	PF_TRY(take_names(&w, &l->c->idle));
	return take_names(&w, &l->c->sites);
}

#define FIGURE(id, key, column, title, kind, of)                               \
	[PF_FIGURE_##id] = { key, column, title, PF_##kind, PF_OF_##of }
#define COUNT(id, key, title, of) FIGURE(id, key, key, title, COUNT, of)
#define COPIED(id, key, title)    FIGURE(id, key, key, title, BYTES, WORK)
#define CLASS(id, word, column)                                                \
	[PF_FIGURE_CLASS + PF_STEP_##                                          \
		id] = { word, word "_ns", word, PF_NS, PF_OF_TIME }
const struct pf_step_figure_words pf_step_figures[PF_FIGURES] = {
	FIGURE(TIME, "step_time", "step_ns", "step", NS, TIME),
	FIGURE(BUSY, "gpu_busy", "busy_ns", "GPU busy", NS, TIME),
	FIGURE(IDLE, "idle", "idle_ns", "GPU idle", NS, TIME),
	FIGURE(PEAK, "peak_memory", "peak_bytes", "peak allocated", BYTES,
	       MEMORY),
	FIGURE(RESERVED, "reserved_memory", "reserved_bytes", "peak reserved",
	       BYTES, MEMORY),
	COUNT(COPIES, "copies", "Copies", WORK),
	COUNT(KERNELS, "kernels", "Kernels", WORK),
	COUNT(COLLECTIVES, "collectives", "Kernels of communication", WORK),
	COUNT(LAUNCHES, "launches", "Calls that launch kernels", CALLS),
	COUNT(GRAPHS, "graph_launches", "Calls that launch graphs", CALLS),
	COUNT(SYNCS, "syncs", "Blocking calls", CALLS),
	COUNT(ALLOCATIONS, "allocations", "Calls of the allocator", CALLS),
	COUNT(TENSORS, "tensor_allocations", "Tensors allocated", MEMORY),
	COUNT(HTOD, "copies_htod", "Copies to GPU", WORK),
	COUNT(DTOH, "copies_dtoh", "Copies to host", WORK),
	COUNT(DTOD, "copies_dtod", "Copies on GPU", WORK),
	COUNT(PTOP, "copies_ptop", "Copies between GPUs", WORK),
	COUNT(OTHER_COPIES, "copies_other", "Other copies", WORK),
	COPIED(HTOD_BYTES, "bytes_htod", "copied to GPU"),
	COPIED(DTOH_BYTES, "bytes_dtoh", "copied to host"),
	COPIED(DTOD_BYTES, "bytes_dtod", "copied on GPU"),
	COPIED(PTOP_BYTES, "bytes_ptop", "copied between GPUs"),
	COPIED(OTHER_BYTES, "bytes_other", "copied otherwise"),
	COUNT(MEMSETS, "memsets", "Memsets", WORK),
	COUNT(OPS, "ops", "Operators", OPS),
	COUNT(CALLS, "calls", "Runtime calls", CALLS),
	FIGURE(GPU_NS, "gpu_ns", "gpu_ns", "Time of GPU work", NS, WORK),
	FIGURE(WORK_NS, "kernel_ns", "kernel_work_ns", "Time of kernels", NS,
	       WORK),
	PF_STEP_CLASSES_OF(CLASS),
};

/* ---- steps ---- */

static int load_steps(struct loading *l)
{
	const struct pf_steps_args args = { .window = *l->args };
	PF_AUTO(pf_step_times_release) struct pf_step_times times = { 0 };
	struct pf_capture *c = l->c;

	PF_TRY(pf_step_times_find(l->db, &args, &times));
	c->each_step = pf_calloc(times.count + 1, sizeof(*c->each_step));
	c->step_count = times.count;
	c->has_steps = times.has_steps;
	c->only_starts = pf_step_times_only_start(&times);
	c->is_untimed = times.is_untimed;
	c->recorded = times.recorded;
	c->busy_share = isnan(times.busy_share) ? -1 : times.busy_share;
	c->between_share = times.window.between_share;
	for (size_t i = 0; i < c->step_count; i++) {
		const struct pf_step_time *s = &times.steps[i];
		int64_t *of = c->each_step[i].of;

		c->each_step[i].time = *s;
		of[PF_FIGURE_TIME] = s->dur_ns;
		of[PF_FIGURE_BUSY] = s->busy_ns;
		of[PF_FIGURE_IDLE] = s->dur_ns - s->busy_ns;
		memcpy(&of[PF_FIGURE_CLASS], s->class_ns, sizeof(s->class_ns));
	}
	return 0;
}

/* ---- the whole ---- */

static uint32_t column_text(struct pf_capture *c, sqlite3_stmt *stmt, int i)
{
	const char *text = pf_sqlite_text(stmt, i);

	return capture_text(c, text ? text : "");
}

static int load_about(struct loading *l)
{
	PF_STMT(stmt) = pf_named_prepare(l->db, "capture_about", l->db->err);
	int rc = pf_db_step(l->db, stmt, l->db->err);
	struct pf_capture *c = l->c;

	if (rc == 1) {
		c->device_name = column_text(c, stmt, 0);
		c->versions = column_text(c, stmt, 1);
		c->options = column_text(c, stmt, 2);
		c->xxh128 = column_text(c, stmt, 5);
		c->hardware = column_text(c, stmt, 6);
		c->platform = column_text(c, stmt, 7);
		c->trace_count = sqlite3_column_int64(stmt, 3);
		c->world_size = pf_db_int_or(stmt, 4, -1);
	}
	return rc < 0 ? -1 : 0;
}

/* All sums are there. */
static void capture_find_means(struct pf_capture *c)
{
	int64_t *mean = c->mean;

	for (size_t i = 0; i < PF_FIGURE_CLASS; i++)
		mean[i] = pf_figure_is_peak(i) ? c->of[i]
					       : pf_mean(c->of[i], c->steps);
	pf_mean_parts(&c->of[PF_FIGURE_CLASS], PF_STEP_CLASSES, c->steps,
		      &mean[PF_FIGURE_CLASS]);
	pf_mean_parts(c->cause_ns, PF_CAUSE_COUNT, c->steps, c->cause_mean_ns);
	mean[PF_FIGURE_IDLE] = mean[PF_FIGURE_TIME] - mean[PF_FIGURE_BUSY];
}

static int add_up(struct loading *l)
{
	struct pf_capture *c = l->c;
	PF_OWN int64_t *list = pf_calloc(c->step_count + 1, sizeof(*list));

	for (size_t i = 0; i < c->step_count; i++) {
		const struct pf_step_time *s = &c->each_step[i].time;

		if (s->is_partial)
			continue;
		list[c->steps++] = s->dur_ns;
		for (size_t k = 0; k < PF_FIGURES; k++)
			if (!pf_figure_is_peak(k))
				pf_capture_add(c, &c->of[k],
					       c->each_step[i].of[k]);
	}
	capture_find_means(c);
	pf_sort(list, (size_t)c->steps, sizeof(*list), pf_stats_compare);
	c->time = (struct pf_capture_times){
		pf_stats_quantile(list, (size_t)c->steps, 50),
		pf_stats_quantile(list, (size_t)c->steps, 0),
		pf_stats_quantile(list, (size_t)c->steps, 100),
	};
	return 0;
}

static int load_parts(struct pf_db *db, const struct pf_window_args *args,
		      unsigned want, struct pf_capture *c)
{
	static const struct {
		unsigned want; /* 0: always */
		int (*load)(struct loading *l);
	} parts[] = {
		{ 0, load_about },
		{ 0, load_steps },
		{ PF_CAPTURE_WORK, capture_work },
		{ PF_CAPTURE_WAITS, capture_waits },
		{ PF_CAPTURE_AVERAGES, capture_averages },
		{ PF_CAPTURE_PATH, capture_path },
		{ PF_CAPTURE_ADVICE, capture_advise },
		{ 0, add_up },
	};
	PF_AUTO(pf_window_release) struct pf_window window = { 0 };
	struct loading l = {
		.db = db, .args = args, .window = &window, .c = c
	};

	PF_TRY(pf_window_resolve(db, args, &window));
	PF_TRY(pf_trust_lost(db, &window, &c->lost));
	for (size_t i = 0; i < PF_LEN(parts); i++) {
		PF_TRY((!parts[i].want || (want & parts[i].want)) &&
		       parts[i].load(&l));
		if (c->is_too_large)
			return pf_fail(db->err, PF_ELIMIT,
				       "times or sizes are too large to be "
				       "added up");
	}
	return 0;
}

/* ---- rows ---- */

static void capture_rows_begin(struct pf_capture *c)
{
	pf_keyed_begin(&c->work, sizeof(struct pf_work_row), PF_KEYED_SUMS);
	pf_keyed_begin(&c->ops, sizeof(struct pf_op_row), PF_KEYED_SUMS);
	pf_keyed_begin(&c->idle, sizeof(struct pf_wait_row), PF_KEYED_SUMS);
	pf_keyed_begin(&c->sites, sizeof(struct pf_wait_row), PF_KEYED_SUMS);
}

void pf_capture_rows_end(struct pf_capture *c)
{
	pf_keyed_end(&c->work);
	pf_keyed_end(&c->ops);
	pf_keyed_end(&c->idle);
	pf_keyed_end(&c->sites);
}

static void capture_release(struct pf_capture *c)
{
	if (!c->path)
		return;
	pf_capture_rows_end(c);
	pf_intern_release(&c->texts);
	free(c->path);
	free(c->each_step);
	free(c->averages);
	*c = (struct pf_capture){ 0 };
}

const char *pf_capture_no_step(const struct pf_capture *c)
{
	return c->is_untimed ? "is a memory snapshot, which has no GPU work"
			     : "has no complete step";
}

/* ---- some captures ---- */

/* Each capture has a connection of its own, so two can be read at once. */

struct job {
	const char *path;
	const struct pf_window_args *window;
	unsigned want;
	struct pf_capture *out;
	struct pf_err err;
	int rc;
};

static void load(void *arg)
{
	struct job *job = arg;
	struct pf_capture *c = job->out;
	PF_AUTO(pf_db_close) struct pf_db db = { 0 };

	job->rc = pf_db_open(&db, job->path, false, &job->err);
	if (job->rc)
		return;
	capture_rows_begin(c);
	c->path = pf_strdup(db.path);
	c->of[PF_FIGURE_PEAK] = c->of[PF_FIGURE_RESERVED] = -1;
	c->world_size = -1;
	job->rc = load_parts(&db, job->window, job->want, c);
	if (job->rc)
		pf_while(&job->err, "'%s'", db.path);
}

/* The first path of the same file. */
static size_t first_of(const char *const *paths, size_t i)
{
	struct stat own, other;

	if (stat(paths[i], &own))
		return i;
	for (size_t k = 0; k < i; k++)
		if (!stat(paths[k], &other) && own.st_dev == other.st_dev &&
		    own.st_ino == other.st_ino)
			return k;
	return i;
}

int pf_captures_load(const char *const *paths, char *const *names, size_t count,
		     const struct pf_window_args *window, unsigned want,
		     struct pf_captures *out, struct pf_err *err)
{
	PF_OWN struct job *jobs = pf_calloc(count + 1, sizeof(*jobs));
	size_t files = 0;
	int rc = 0;

	*out = (struct pf_captures){
		.filter = out->filter,
		.own = pf_calloc(count + 1, sizeof(*out->own)),
		.items = pf_calloc(count + 1, sizeof(*out->items)),
		.count = count,
	};
	for (size_t i = 0; i < count; i++) {
		size_t first = first_of(paths, i);

		out->items[i] = &out->own[first];
		out->own[i].filter = out->filter;
		if (first == i)
			jobs[files++] = (struct job){ .path = paths[i],
						      .window = window,
						      .want = want,
						      .out = &out->own[i] };
	}
	for (size_t i = 0; i < files && !rc; i += 2) {
		size_t some = files - i < 2 ? files - i : 2;

		if (some == 2)
			pf_threads_both(load, &jobs[i], load, &jobs[i + 1]);
		else
			load(&jobs[i]);
		for (size_t k = i; k < i + some && !rc; k++) {
			rc = jobs[k].rc;
			if (rc)
				*err = jobs[k].err;
		}
	}
	for (size_t i = 0; !rc && names && i < count; i++) {
		if (!out->own[i].path)
			continue;
		free(out->own[i].path);
		out->own[i].path = pf_strdup(names[i]);
	}
	return rc;
}

void pf_captures_release(struct pf_captures *c)
{
	for (size_t i = 0; i < c->count; i++)
		capture_release(&c->own[i]);
	free(c->own);
	free(c->items);
	*c = (struct pf_captures){ 0 };
}

/*
 * Rules but "position" are equality of a part of the key: rows of one part
 * that are left on both sides become one pair.  By position: rows that are
 * paired already and in the same order on both sides divide the others of
 * their path into runs (a longest common subsequence, as keys are distinct);
 * runs of equal length are paired one by one.
 */

struct pool {
	struct pf_capture *out;
	struct pf_intern *texts;
	const struct pf_capture *from;
	uint32_t *numbers; /* of the capture's texts; UINT32_MAX: not yet */
	uint32_t none;
	enum pf_diff_by by;
};

static uint32_t text_of(struct pool *p, uint32_t n)
{
	const char *text;
	size_t len;

	if (p->numbers[n] == UINT32_MAX) {
		text = pf_intern_text(&p->from->texts, n, &len);
		p->numbers[n] = pf_intern_add(p->texts, text, len);
	}
	return p->numbers[n];
}

static uint32_t word(struct pool *p, const char *s)
{
	return pf_intern_add(p->texts, s, strlen(s));
}

static const char *category_of(uint32_t kind)
{
	return kind == PF_KIND_KERNEL   ? "kernel"
	       : kind == PF_KIND_MEMCPY ? "gpu_memcpy"
					: "gpu_memset";
}

/* The members of a key; texts come first. */
enum {
	PATH,
	REGION,
	MODULE,
	ANNOTATION,
	OP,
	SHAPES,
	KERNEL,
	TEXTS,
	ROLE = TEXTS,
	CLASS,
	KIND,
	MEMBERS
};
union key {
	struct pf_work_key key;
	uint32_t member[MEMBERS];
};
_Static_assert(sizeof(struct pf_work_key) == MEMBERS * sizeof(uint32_t),
	       "a member of keys has no number");

/* Keep what rows are put together by; the rest is the same for all. */
static struct pf_work_key key_of(struct pool *p, const struct pf_work_key *k)
{
	static const unsigned kept[] = {
		[PF_BY_OP] = 1 << OP,
		[PF_BY_SHAPE] = 1 << OP | 1 << SHAPES,
		[PF_BY_KERNEL] = 1 << KERNEL | 1 << CLASS | 1 << KIND,
		[PF_BY_MODULE] = 1 << MODULE,
		[PF_BY_ANNOTATION] = 1 << ANNOTATION,
		[PF_BY_STACK] = 1 << PATH,
		[PF_BY_CLASS] = 1 << CLASS,
		[PF_BY_CATEGORY] = 1 << KIND,
		[PF_BY_ALL] = (1 << MEMBERS) - 1,
	};
	const union key from = { *k };
	union key out = { .member = { 0 } };

	for (size_t i = 0; i < MEMBERS; i++) {
		bool is_kept = kept[p->by] >> i & 1;

		if (i < TEXTS)
			out.member[i] =
				is_kept ? text_of(p, from.member[i]) : p->none;
		else if (is_kept)
			out.member[i] = from.member[i];
	}
	if (p->by == PF_BY_CLASS)
		out.key.kernel =
			word(p, pf_gpu_class_name((enum pf_gpu_class)k->class));
	if (p->by == PF_BY_CATEGORY)
		out.key.kernel = word(p, category_of(k->kind));
	return out.key;
}

static void pool_work(struct pool *p, const struct pf_work_row *from,
		      uint64_t first)
{
	struct pf_work_key key = key_of(p, &from->key);
	size_t known = p->out->work.count;
	struct pf_work_row *row =
		pf_capture_row(&p->out->work, &key, sizeof(key));

	if (p->out->work.count > known)
		row->first = first + from->first;
	pf_row_sums_add(&row->sum, &from->sum);
}

static void pool_op(struct pool *p, const struct pf_op_row *from)
{
	const struct pf_op_key key = { text_of(p, from->key.name),
				       text_of(p, from->key.shapes),
				       from->key.kind };
	struct pf_op_row *row = pf_capture_row(&p->out->ops, &key, sizeof(key));

	pf_row_sums_add(&row->sum, &from->sum);
}

static void pool_waits(struct pool *p, const struct pf_keyed *from,
		       struct pf_keyed *to)
{
	for (size_t i = 0; i < from->count; i++) {
		const struct pf_wait_row *r =
			PF_KEYED_ROW(from, struct pf_wait_row, i);
		const struct pf_wait_key key = { r->key.cause,
						 text_of(p, r->key.name),
						 text_of(p, r->key.op),
						 text_of(p, r->key.frame) };
		struct pf_wait_row *row = pf_capture_row(to, &key, sizeof(key));

		pf_row_sums_add(&row->sum, &r->sum);
	}
}

static void pool_sums(struct pf_capture *s, const struct pf_capture *c)
{
	s->steps += c->steps;
	for (size_t i = 0; i < PF_FIGURES; i++) {
		if (!pf_figure_is_peak(i))
			s->of[i] += c->of[i];
		else if (c->of[i] > s->of[i])
			s->of[i] = c->of[i];
	}
	for (size_t i = 0; i < PF_CAUSE_COUNT; i++)
		s->cause_ns[i] += c->cause_ns[i];
	for (size_t i = 0; i < PF_PATH_CATEGORIES; i++)
		s->path_ns[i] += c->path_ns[i];
	s->path_window_ns += c->path_window_ns;
	s->path_steps += c->path_steps;
	s->gpu_events += c->gpu_events;
	s->before_count += c->before_count;
	s->migrated_count += c->migrated_count;
	s->without_launch += c->without_launch;
	s->outside_count += c->outside_count;
	s->lost.cut_count += c->lost.cut_count;
	s->lost.dropped_count += c->lost.dropped_count;
	s->lost.skipped_count += c->lost.skipped_count;
	s->has_steps |= c->has_steps;
	s->only_starts |= c->only_starts;
	s->has_shapes |= c->has_shapes;
	s->has_code |= c->has_code;
}

static void pool_capture(struct pool *p, const struct pf_capture *c, bool first)
{
	struct pf_capture *s = p->out;

	p->from = c;
	p->numbers = pf_calloc(c->texts.count + (size_t)1, sizeof(*p->numbers));
	for (size_t i = 0; i < c->texts.count; i++)
		p->numbers[i] = UINT32_MAX;
	pool_sums(s, c);
	if (first) {
		s->device_count = c->device_count;
		s->world_size = c->world_size;
		s->trace_count = c->trace_count;
		s->device_name = text_of(p, c->device_name);
		s->hardware = text_of(p, c->hardware);
		s->platform = text_of(p, c->platform);
		s->versions = text_of(p, c->versions);
		s->options = text_of(p, c->options);
	}
	for (size_t i = 0; i < c->work.count; i++)
		pool_work(p, pf_work_at(c, i), first ? 0 : UINT64_C(1) << 40);
	for (size_t i = 0; i < c->ops.count; i++)
		pool_op(p, pf_op_at(c, i));
	pool_waits(p, &c->idle, &s->idle);
	pool_waits(p, &c->sites, &s->sites);
	free(p->numbers);
}

void pf_side_pool(struct pf_capture *out, struct pf_intern *texts,
		  const struct pf_capture *const *captures, size_t count,
		  enum pf_diff_by by)
{
	struct pool p = { .out = out, .texts = texts, .by = by };

	*out = (struct pf_capture){
		.captures = captures,
		.capture_count = count,
		.of = { [PF_FIGURE_PEAK] = -1, [PF_FIGURE_RESERVED] = -1 }
	};
	p.none = word(&p, "");
	capture_rows_begin(out);
	for (size_t i = 0; i < count; i++)
		pool_capture(&p, captures[i], i == 0);
	capture_find_means(out);
}

bool pf_side_knows(const struct pf_capture *s, const struct pf_capture *other,
		   enum pf_step_figure figure)
{
	enum pf_figure_of of = pf_step_figures[figure].of;

	return s->gpu_events || !other->gpu_events ||
	       (of == PF_OF_CALLS ? s->of[PF_FIGURE_CALLS] > 0
				  : of != PF_OF_WORK);
}

/* ---- families of kernels ---- */

enum { CELL_MATCH, CELL_TEXT, CELL_FAMILY };

/*
 * The family of a kernel: what stays the same of its name when the library,
 * its release or the GPU changes.  data/families.csv says what vendors'
 * kernels compute; any other name is its short form without template
 * arguments, architectures, tile sizes and counters.
 */
static struct pf_data *families_new(struct pf_err *err)
{
	return pf_data_new("data/families.csv", "match,text,family", err);
}

static const char *find(const struct pf_data *f, const char *kernel)
{
	for (size_t i = 0; i < pf_data_rows(f); i++) {
		const char *text = pf_data_cell(f, i, CELL_TEXT);
		const char *at = strcasestr(kernel, text);

		if (at &&
		    (at == kernel || *pf_data_cell(f, i, CELL_MATCH) == 'c'))
			return pf_data_cell(f, i, CELL_FAMILY);
	}
	return NULL;
}

/* "sm80", "ampere", "128x64", "3", "ldg8": not what it computes. */
static bool is_detail(const char *word, size_t len)
{
	static const char *const architectures[] = {
		"ampere", "hopper", "volta",     "turing", "maxwell",
		"pascal", "ada",    "blackwell", "gfx",    "kernel",
	};
	bool has_digit = false;

	for (size_t i = 0; i < len; i++)
		has_digit |= isdigit((unsigned char)word[i]) != 0;
	if (has_digit)
		return true;
	for (size_t i = 0; i < PF_LEN(architectures); i++)
		if (strlen(architectures[i]) == len &&
		    !strncasecmp(word, architectures[i], len))
			return true;
	return false;
}

/* Words between underscores, without details and template arguments. */
static void add_words(struct pf_buf *out, const char *name)
{
	size_t before = out->len, whole = strcspn(name, "<(");

	for (size_t at = 0; at < whole;) {
		size_t len = strcspn(name + at, "_");

		if (at + len > whole)
			len = whole - at;
		if (len && !is_detail(name + at, len)) {
			if (out->len > before)
				pf_buf_addc(out, '_');
			pf_buf_add(out, name + at, len);
		}
		at += len + 1;
	}
	if (out->len == before)
		pf_buf_add(out, name, whole);
}

/* Add the family of a kernel's name; of copies and fills too. */
static void family_name(const struct pf_data *f, const char *kernel,
			struct pf_buf *out)
{
	const char *family = find(f, kernel);
	PF_AUTO(pf_buf_release) struct pf_buf name = { 0 };

	if (family) {
		pf_buf_adds(out, family);
		return;
	}
	/* "Memcpy HtoD (Pinned -> Device)": the whole says what it is */
	if (!strncmp(kernel, "Memcpy ", 7) || !strncmp(kernel, "Memset ", 7)) {
		pf_buf_adds(out, kernel);
		return;
	}
	pf_kernel_short_name(&name, kernel);
	add_words(out, name.data);
}

const char *const pf_match_names[] = {
	[PF_MATCH_EXACT] = "exact",   [PF_MATCH_STREAM] = "stream",
	[PF_MATCH_SHAPE] = "shape",   [PF_MATCH_POSITION] = "position",
	[PF_MATCH_FAMILY] = "family", [PF_MATCH_GROUP] = "group",
	[PF_MATCH_ADDED] = "added",   [PF_MATCH_REMOVED] = "removed",
};

/* ---- pairs ---- */

static void pairs_begin(struct pf_pairs *p, const struct pf_keyed *a,
			const struct pf_keyed *b)
{
	*p = (struct pf_pairs){ .rows = { a, b } };
	for (int s = 0; s < 2; s++) {
		size_t count = p->rows[s]->count;

		p->of[s] = pf_calloc(count + 1, sizeof(*p->of[s]));
		memset(p->of[s], 0xff, count * sizeof(*p->of[s]));
	}
}

void pf_pairs_release(struct pf_pairs *p)
{
	free(p->items);
	free(p->of[0]);
	free(p->of[1]);
	*p = (struct pf_pairs){ 0 };
}

static uint32_t new_pair(struct pf_pairs *p, enum pf_match match)
{
	*PF_ONE_MORE(p->items, p->count, p->cap) = (struct pf_pair){
		.match = match, .a_row = PF_NO_ROW, .b_row = PF_NO_ROW
	};
	return (uint32_t)p->count - 1;
}

static const void *row_at(const struct pf_pairs *p, int side, size_t row)
{
	const struct pf_keyed *rows = p->rows[side];

	return (const char *)rows->rows + row * rows->width;
}

static void put(struct pf_pairs *p, uint32_t pair, int side, size_t row)
{
	const struct pf_row_sums *sum = row_at(p, side, row), *most;
	struct pf_pair *to = &p->items[pair];
	uint32_t *named = side ? &to->b_row : &to->a_row;

	p->of[side][row] = pair;
	*(side ? &to->b_rows : &to->a_rows) += 1;
	pf_row_sums_add(side ? &to->b : &to->a, sum);
	most = *named == PF_NO_ROW ? NULL : row_at(p, side, *named);
	if (!most || (p->by_time && sum->ns > most->ns))
		*named = (uint32_t)row;
}

/* The number of each row's part; UINT32_MAX: it has none, or has a pair. */
static uint32_t *parts_take(const struct pf_pairs *p, int side,
			    pf_part_fn *part, void *context,
			    struct pf_intern *parts)
{
	uint32_t *part_of =
		pf_calloc(p->rows[side]->count + 1, sizeof(*part_of));
	uint32_t key[PF_PART_MAX];

	for (size_t i = 0; i < p->rows[side]->count; i++) {
		size_t len = 0;

		if (p->of[side][i] == UINT32_MAX)
			len = part(context, row_at(p, side, i), key);
		part_of[i] = len ? pf_intern_add(parts, (const char *)key, len)
				 : UINT32_MAX;
	}
	return part_of;
}

/* Rows whose keys have the same part are a pair. */
static void pairs_join(struct pf_pairs *p, enum pf_match match,
		       pf_part_fn *part, void *context)
{
	PF_AUTO(pf_intern_release) struct pf_intern parts = { 0 };
	PF_OWN uint32_t *pair_of = NULL;
	uint32_t *part_of[2];
	PF_OWN unsigned char *has = NULL;

	for (int s = 0; s < 2; s++)
		part_of[s] = parts_take(p, s, part, context, &parts);
	has = pf_calloc(parts.count + (size_t)1, sizeof(*has));
	pair_of = pf_calloc(parts.count + (size_t)1, sizeof(*pair_of));
	for (size_t i = 0; i < parts.count; i++)
		pair_of[i] = UINT32_MAX;
	for (int s = 0; s < 2; s++)
		for (size_t i = 0; i < p->rows[s]->count; i++)
			if (part_of[s][i] != UINT32_MAX)
				has[part_of[s][i]] |= (unsigned char)(1 << s);
	for (int s = 0; s < 2; s++)
		for (size_t i = 0; i < p->rows[s]->count; i++) {
			uint32_t n = part_of[s][i];

			if (n == UINT32_MAX || has[n] != 3)
				continue;
			if (pair_of[n] == UINT32_MAX)
				pair_of[n] = new_pair(p, match);
			put(p, pair_of[n], s, i);
		}
	free(part_of[0]);
	free(part_of[1]);
}

static void pairs_rest(struct pf_pairs *p)
{
	for (int s = 0; s < 2; s++)
		for (size_t i = 0; i < p->rows[s]->count; i++)
			if (p->of[s][i] == UINT32_MAX)
				put(p,
				    new_pair(p, s ? PF_MATCH_ADDED
						  : PF_MATCH_REMOVED),
				    s, i);
}

struct pf_pairs pf_pairs_take(const struct pf_keyed *a,
			      const struct pf_keyed *b, pf_part_fn *whole,
			      pf_part_fn *part, void *context)
{
	struct pf_pairs p;

	pairs_begin(&p, a, b);
	pairs_join(&p, PF_MATCH_EXACT, whole, context);
	pairs_join(&p, PF_MATCH_SHAPE, part, context);
	pairs_rest(&p);
	return p;
}

/* ---- rules of GPU work ---- */

struct matcher {
	struct pf_intern *texts;
	struct pf_data *families;
	uint32_t *family; /* by number of text; UINT32_MAX: not yet */
	size_t family_count;
	const struct rule *rule;
	struct pf_pairs *out;
	uint32_t none, no_launch;
};

static uint32_t family_of(struct matcher *m, uint32_t kernel)
{
	struct pf_buf text = { 0 };

	if (kernel >= m->family_count)
		return kernel;
	if (m->family[kernel] == UINT32_MAX) {
		family_name(m->families, pf_intern_text(m->texts, kernel, NULL),
			    &text);
		m->family[kernel] = pf_intern_add(
			m->texts, text.len ? text.data : "", text.len);
		pf_buf_release(&text);
	}
	return m->family[kernel];
}

/* The part is these members of the key, and what the flags say. */
enum {
	FAMILY = 1, /* the family of the kernel, too */
	TOLD = 2    /* only of rows whose first member says something */
};
struct rule {
	enum pf_match match;
	unsigned flags;
	size_t count, member[PF_PART_MAX];
};

static size_t part_of_work(void *context, const void *row,
			   uint32_t out[PF_PART_MAX])
{
	const union key key = { ((const struct pf_work_row *)row)->key };
	struct matcher *m = context;
	const struct rule *rule = m->rule;
	size_t n = 0;

	for (; n < rule->count; n++)
		out[n] = key.member[rule->member[n]];
	if ((rule->flags & TOLD) &&
	    (out[0] == m->none || out[0] == m->no_launch))
		return 0;
	if (rule->flags & FAMILY)
		out[n++] = family_of(m, key.key.kernel);
	return n * sizeof(*out);
}

static const struct rule rules[] = {
	{ PF_MATCH_EXACT,
	  0,
	  9,
	  { PATH, OP, SHAPES, KERNEL, ROLE, CLASS, KIND, MODULE, ANNOTATION } },
	{ PF_MATCH_STREAM, 0, 4, { PATH, OP, SHAPES, KERNEL } },
	{ PF_MATCH_SHAPE, 0, 3, { PATH, OP, KERNEL } },
	{ PF_MATCH_POSITION, 0, 0, { 0 } },
	{ PF_MATCH_FAMILY, FAMILY, 2, { PATH, CLASS } },
	{ PF_MATCH_FAMILY, FAMILY | TOLD, 2, { OP, CLASS } },
	{ PF_MATCH_GROUP, TOLD, 1, { PATH } },
	{ PF_MATCH_FAMILY, FAMILY | TOLD, 2, { REGION, CLASS } },
	{ PF_MATCH_GROUP, TOLD, 1, { REGION } },
	{ PF_MATCH_FAMILY, FAMILY, 1, { CLASS } },
};

/* ---- by position ---- */

struct place {
	uint32_t path, row;
	uint64_t first;
};

PF_ORDER(by_path, struct place, PF_UP(path) PF_UP(first) PF_UP(row))

static struct place *places_take(const struct pf_keyed *rows)
{
	struct place *list = pf_calloc(rows->count + 1, sizeof(*list));

	for (size_t i = 0; i < rows->count; i++) {
		const struct pf_work_row *row =
			PF_KEYED_ROW(rows, struct pf_work_row, i);

		list[i] = (struct place){ row->key.path, (uint32_t)i,
					  row->first };
	}
	pf_sort(list, rows->count, sizeof(*list), by_path);
	return list;
}

static bool is_alike(const struct pf_pairs *p, size_t a, size_t b)
{
	const struct pf_work_row *x = row_at(p, 0, a), *y = row_at(p, 1, b);

	return x->key.kind == y->key.kind && x->key.class == y->key.class;
}

/* Rows of a and of b between two that are paired. */
static void pair_runs(struct pf_pairs *p, const struct place *a, size_t a_count,
		      const struct place *b, size_t b_count)
{
	size_t left[2] = { 0, 0 }, i = 0, k = 0;

	for (size_t n = 0; n < a_count; n++)
		left[0] += p->of[0][a[n].row] == UINT32_MAX;
	for (size_t n = 0; n < b_count; n++)
		left[1] += p->of[1][b[n].row] == UINT32_MAX;
	if (!left[0] || left[0] != left[1])
		return;
	for (; i < a_count && k < b_count; i++, k++) {
		uint32_t pair;

		while (i < a_count && p->of[0][a[i].row] != UINT32_MAX)
			i++;
		while (k < b_count && p->of[1][b[k].row] != UINT32_MAX)
			k++;
		if (i == a_count || k == b_count)
			return;
		if (!is_alike(p, a[i].row, b[k].row))
			continue;
		pair = new_pair(p, PF_MATCH_POSITION);
		put(p, pair, 0, a[i].row);
		put(p, pair, 1, b[k].row);
	}
}

/*
 * The longest ascending subsequence of values[0..count), UINT32_MAX left out:
 * places of its members into "chain", in order.  Returns how many.
 */
static size_t find_chain(const uint32_t *values, size_t count, uint32_t *chain)
{
	PF_OWN uint32_t *tail = pf_calloc(count + 1, sizeof(*tail));
	PF_OWN uint32_t *before = pf_calloc(count + 1, sizeof(*before));
	size_t length = 0;

	for (size_t i = 0; i < count; i++) {
		size_t low;

		if (values[i] == UINT32_MAX)
			continue;
		low = PF_SEARCH(k, length, values[tail[k]] < values[i]);
		before[i] = low ? tail[low - 1] : UINT32_MAX;
		tail[low] = (uint32_t)i;
		if (low == length)
			length++;
	}
	for (size_t n = length, at = length ? tail[length - 1] : 0; n-- > 0;) {
		chain[n] = (uint32_t)at;
		at = before[at];
	}
	return length;
}

static void match_path(struct pf_pairs *p, const struct place *a,
		       size_t a_count, const struct place *b, size_t b_count,
		       uint32_t *where)
{
	PF_OWN uint32_t *values = pf_calloc(a_count + 1, sizeof(*values));
	PF_OWN uint32_t *chain = pf_calloc(a_count + 1, sizeof(*chain));
	size_t length, i = 0, k = 0;

	for (size_t n = b_count; n-- > 0;)
		if (p->of[1][b[n].row] != UINT32_MAX)
			where[p->of[1][b[n].row]] = (uint32_t)n;
	for (size_t n = 0; n < a_count; n++) {
		uint32_t pair = p->of[0][a[n].row];

		values[n] = pair == UINT32_MAX ? UINT32_MAX : where[pair];
	}
	length = find_chain(values, a_count, chain);
	for (size_t n = 0; n <= length; n++) {
		size_t i_end = n < length ? chain[n] : a_count;
		size_t k_end = n < length ? values[chain[n]] : b_count;

		pair_runs(p, a + i, i_end - i, b + k, k_end - k);
		i = i_end + 1;
		k = k_end + 1;
	}
	for (size_t n = 0; n < b_count; n++)
		if (p->of[1][b[n].row] != UINT32_MAX)
			where[p->of[1][b[n].row]] = UINT32_MAX;
}

static size_t run_length(const struct place *list, size_t count)
{
	size_t n = 0;

	while (n < count && list[n].path == list[0].path)
		n++;
	return n;
}

static void match_positions(struct matcher *m)
{
	struct pf_pairs *p = m->out;
	size_t counts[2] = { p->rows[0]->count, p->rows[1]->count };
	PF_OWN struct place *a = places_take(p->rows[0]);
	PF_OWN struct place *b = places_take(p->rows[1]);
	/* pairs made here are of rows that are behind */
	PF_OWN uint32_t *where =
		pf_calloc(p->count + counts[0] + 1, sizeof(*where));
	size_t i = 0, k = 0;

	for (size_t n = 0; n < p->count + counts[0]; n++)
		where[n] = UINT32_MAX;
	while (i < counts[0] && k < counts[1]) {
		size_t na = run_length(a + i, counts[0] - i);
		size_t nb = run_length(b + k, counts[1] - k);

		if (a[i].path < b[k].path) {
			i += na;
		} else if (a[i].path > b[k].path) {
			k += nb;
		} else {
			if (a[i].path != m->no_launch)
				match_path(p, a + i, na, b + k, nb, where);
			i += na;
			k += nb;
		}
	}
}

/* ---- the whole ---- */

static void match_all(struct matcher *m, enum pf_diff_by by)
{
	/* put together by less, rows are the same or not */
	size_t count = by == PF_BY_ALL ? PF_LEN(rules) : 1;

	for (m->rule = rules; m->rule < rules + count; m->rule++)
		if (m->rule->match == PF_MATCH_POSITION)
			match_positions(m);
		else
			pairs_join(m->out, m->rule->match, part_of_work, m);
	pairs_rest(m->out);
}

int pf_match(struct pf_intern *texts, const struct pf_capture *a,
	     const struct pf_capture *b, enum pf_diff_by by,
	     struct pf_pairs *out, struct pf_err *err)
{
	struct matcher m = { .texts = texts, .out = out };

	pairs_begin(out, &a->work, &b->work);
	out->by_time = true;
	m.families = families_new(err);
	PF_TRY(!m.families);
	m.none = pf_intern_add(texts, "", 0);
	m.no_launch = pf_intern_add(texts, NO_LAUNCH, strlen(NO_LAUNCH));
	m.family_count = texts->count;
	m.family = pf_calloc(m.family_count + 1, sizeof(*m.family));
	memset(m.family, 0xff, m.family_count * sizeof(*m.family));
	match_all(&m, by);
	free(m.family);
	pf_data_free(m.families);
	return 0;
}
