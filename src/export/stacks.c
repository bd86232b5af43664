/* SPDX-License-Identifier: MIT */
/*
 * Stacks with weights are gathered in a tree, and written as lines in the form
 * that flamegraph.pl, speedscope and inferno read: frames from the outermost to
 * the innermost with ";" between them, a blank and the weight.  Time of a
 * thread is given to nodes as it passes; see events/nest.h.
 *
 * In a frame, ";" and whatever could end a line or steer a terminal is
 * written as \xNN; an empty name is "(no name)".  Memory grows with the
 * number of different stacks and names.
 */
#include "config.h"

#include "export/stacks.h"

#include <inttypes.h>

#include "analysis/idle/gaps.h"
#include "analysis/memory/usage.h"
#include "base/buf.h"
#include "base/intern.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/order.h"
#include "base/outplace.h"
#include "base/path.h"
#include "base/sat.h"
#include "base/utf8.h"
#include "events/gpu.h"
#include "events/interval.h"
#include "events/names.h"
#include "events/nest.h"
#include "events/traces.h"
#include "events/trust.h"
#include "formats/event.h"
#include "store/cursor.h"
#include "store/query.h"
#include "store/texts.h"

/* ---- the tree ---- */

#define NODES_MAX   (1u << 26)
#define FLUSH_BYTES 65536

#define STACK_ROOT 0

struct stack_node {
	uint32_t parent, frame;
	int64_t weight;
};

struct stack_tree {
	struct pf_intern frames; /* as they are written */
	struct pf_map children;  /* parent and frame -> node */
	struct stack_node *nodes;
	size_t count, cap;
	int64_t total, line_count; /* of weights; of nodes that have one */
};

static void stack_tree_init(struct stack_tree *t)
{
	*t = (struct stack_tree){ 0 };
	t->nodes = pf_grow(NULL, &t->cap, 1, sizeof(*t->nodes));
	t->nodes[t->count++] = (struct stack_node){ 0 };
}

static void stack_tree_release(struct stack_tree *t)
{
	pf_intern_release(&t->frames);
	pf_map_release(&t->children);
	free(t->nodes);
	*t = (struct stack_tree){ 0 };
}

/* The number of a frame with this name. */
static uint32_t stack_frame(struct stack_tree *t, const char *name, size_t len)
{
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };
	const char *p = name, *end = name + len, *semicolon;

	if (!len)
		return pf_intern_add(&t->frames, "(no name)", 9);
	while ((semicolon = memchr(p, ';', (size_t)(end - p)))) {
		pf_utf8_mask(&text, p, (size_t)(semicolon - p));
		pf_buf_adds(&text, "\\x3b");
		p = semicolon + 1;
	}
	pf_utf8_mask(&text, p, (size_t)(end - p));
	return pf_intern_add(&t->frames, text.data, text.len);
}

/* The node of a frame inside a node; PF_ELIMIT (UINT32_MAX) past 2^26. */
static uint32_t stack_child(struct stack_tree *t, uint32_t parent,
			    uint32_t frame, struct pf_err *err)
{
	uint64_t *place =
		pf_map_at(&t->children, (uint64_t)parent << 32 | frame);

	if (*place != UINT64_MAX)
		return (uint32_t)*place;
	if (t->count == NODES_MAX) {
		pf_fail(err, PF_ELIMIT, "more than %u different stacks",
			NODES_MAX);
		return UINT32_MAX;
	}
	*place = t->count;
	*PF_ONE_MORE(t->nodes, t->count, t->cap) =
		(struct stack_node){ parent, frame, 0 };
	return (uint32_t)t->count - 1;
}

/* Weights are not negative. */
static void stack_add(struct stack_tree *t, uint32_t node, int64_t weight)
{
	int64_t *at = &t->nodes[node].weight;

	if (weight <= 0)
		return;
	t->line_count += *at == 0;
	pf_sat_sum(at, weight);
	pf_sat_sum(&t->total, weight);
}

/* ---- lines ---- */

struct ranked {
	const char *text;
	size_t len;
	uint32_t frame;
};

struct child {
	uint32_t parent, rank, node;
};

/* Where the walk stands in a node. */
struct level {
	size_t next, end; /* its children that are left */
	size_t len;       /* of the line before its children */
};

static int by_text(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	size_t len = x->len < y->len ? x->len : y->len;
	int order = memcmp(x->text, y->text, len);

	return order ? order : (x->len > y->len) - (x->len < y->len);
}

PF_ORDER(by_parent, struct child, PF_UP(parent) PF_UP(rank))

/* The place of each frame in the order of texts; to be freed. */
static uint32_t *ranks_take(const struct stack_tree *t)
{
	uint32_t count = t->frames.count;
	PF_OWN struct ranked *list = pf_calloc(count + 1u, sizeof(*list));
	uint32_t *ranks = pf_calloc(count + 1u, sizeof(*ranks));

	for (uint32_t i = 0; i < count; i++) {
		list[i].text = pf_intern_text(&t->frames, i, &list[i].len);
		list[i].frame = i;
	}
	pf_sort(list, count, sizeof(*list), by_text);
	for (uint32_t i = 0; i < count; i++)
		ranks[list[i].frame] = i;
	return ranks;
}

/* Every node but the root, those of a parent together; to be freed. */
static struct child *children_take(const struct stack_tree *t)
{
	struct child *list = pf_calloc(t->count, sizeof(*list));
	PF_OWN uint32_t *ranks = ranks_take(t);

	for (size_t i = 1; i < t->count; i++)
		list[i - 1] =
			(struct child){ t->nodes[i].parent,
					ranks[t->nodes[i].frame], (uint32_t)i };
	if (t->count > 1)
		pf_sort(list, t->count - 1, sizeof(*list), by_parent);
	return list;
}

struct printer {
	struct stack_tree *tree;
	struct pf_outfile *out;
	struct child *children;
	uint32_t *first; /* of each node's in children */
	struct level *levels;
	size_t depth, cap;
	struct pf_buf line, buf;
};

static void push(struct printer *p, uint32_t node)
{
	*PF_ONE_MORE(p->levels, p->depth, p->cap) =
		(struct level){ p->first[node], p->first[node + 1],
				p->line.len };
}

static int print_node(struct printer *p, uint32_t node, struct pf_err *err)
{
	const struct stack_node *n = &p->tree->nodes[node];
	size_t len;
	const char *text = pf_intern_text(&p->tree->frames, n->frame, &len);
	int rc = 0;

	if (p->line.len)
		pf_buf_addc(&p->line, ';');
	pf_buf_add(&p->line, text, len);
	if (!n->weight)
		return 0;
	pf_buf_add(&p->buf, p->line.data, p->line.len);
	pf_buf_addf(&p->buf, " %" PRId64 "\n", n->weight);
	if (p->buf.len >= FLUSH_BYTES) {
		rc = pf_outfile_write(p->out, p->buf.data, p->buf.len, err);
		pf_buf_clear(&p->buf);
	}
	return rc;
}

static int print_all(struct printer *p, struct pf_err *err)
{
	push(p, STACK_ROOT);
	while (p->depth) {
		struct level *top = &p->levels[p->depth - 1];
		uint32_t node;

		p->line.len = top->len;
		if (top->next == top->end) {
			p->depth--;
			continue;
		}
		node = p->children[top->next++].node;
		PF_TRY(print_node(p, node, err) < 0);
		push(p, node);
	}
	return p->buf.len
		       ? pf_outfile_write(p->out, p->buf.data, p->buf.len, err)
		       : 0;
}

/* A line for each node with a weight, in the order of frames' bytes. */
static int stack_print(struct stack_tree *t, struct pf_outfile *out,
		       struct pf_err *err)
{
	struct printer p = { .tree = t, .out = out };
	int rc;

	p.children = children_take(t);
	p.first = pf_calloc(t->count + 1, sizeof(*p.first));
	for (size_t i = 1; i < t->count; i++)
		p.first[t->nodes[i].parent + 1]++;
	for (size_t i = 0; i < t->count; i++)
		p.first[i + 1] += p.first[i];
	rc = print_all(&p, err);
	free(p.children);
	free(p.first);
	free(p.levels);
	pf_buf_release(&p.line);
	pf_buf_release(&p.buf);
	return rc;
}

/* ---- stacks of snapshots and samples ---- */

struct frames {
	struct pf_db *db;
	struct stack_tree *tree; /* whose frames they become */
	bool has_lines;          /* "file.py:12:f", or "f" */
	struct pf_texts texts;
	sqlite3_stmt *st;
	uint32_t *path; /* of the stack at hand, the innermost first */
	size_t count, cap;
};

static int frames_begin(struct frames *f, struct pf_db *db,
			struct stack_tree *tree, bool has_lines)
{
	*f = (struct frames){ .db = db,
			      .tree = tree,
			      .has_lines = has_lines,
			      .texts = { .db = db } };
	f->st = pf_named_prepare(db, "snap_frames", db->err);
	return f->st ? 0 : -1;
}

static void frames_end(struct frames *f)
{
	sqlite3_finalize(f->st);
	pf_texts_release(&f->texts);
	free(f->path);
}

static int add_name(struct frames *f, int column, struct pf_buf *out)
{
	const char *text;
	size_t len;
	int rc = pf_texts_get(&f->texts, PF_TEXT_NAME,
			      sqlite3_column_int64(f->st, column), &text, &len,
			      f->db->err);

	if (rc >= 0)
		pf_buf_add(out, text, len);
	return rc < 0 ? -1 : 0;
}

static int add_place(struct frames *f, struct pf_buf *out)
{
	PF_AUTO(pf_buf_release) struct pf_buf file = { 0 };
	int rc = add_name(f, 0, &file);

	pf_buf_addc(&file, '\0');
	pf_buf_addf(out, "%s:%" PRId64 ":", pf_path_base(file.data),
		    pf_db_int_or(f->st, 1, 0));
	return rc;
}

/* f->path of a stack.id. */
static int read_frames(struct frames *f, int64_t stack)
{
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };
	int rc;

	f->count = 0;
	sqlite3_bind_int64(f->st, 1, stack);
	while ((rc = pf_db_step(f->db, f->st, f->db->err)) == 1) {
		pf_buf_clear(&text);
		if ((f->has_lines && add_place(f, &text)) ||
		    add_name(f, 2, &text)) {
			rc = -1;
			break;
		}
		*PF_ONE_MORE(f->path, f->count, f->cap) =
			stack_frame(f->tree, text.data, text.len);
	}
	sqlite3_reset(f->st);
	return rc;
}

/*
 * Memory by call stack.  At the end of a snapshot: a line for each block, as
 * torch's _memory_viz.memory() writes them, with what rounding up takes as
 * "<gaps>", which is negative where a free block is smaller than what was asked
 * for when it was in use: so the lines of a block add up to its size.  At the peak: a line for each stack that holds any.
 */

struct writer {
	struct pf_db *db;
	const struct pf_stacks_args *args;
	struct pf_stacks_result *result;
	struct frames frames;
	struct stack_tree masked; /* frames as they are written */
	struct pf_map lines;      /* stack.id -> text in the arena */
	struct pf_arena arena;
	sqlite3_stmt *pasts; /* by block */
	int64_t past_block;  /* of the row at hand; or INT64_MAX */
	struct pf_outfile *out;
	struct pf_buf line;
};

static void add_frame(struct writer *w, struct pf_buf *out, uint32_t frame)
{
	size_t len;
	const char *text = pf_intern_text(&w->masked.frames, frame, &len);

	pf_buf_add(out, text, len);
}

/* Of a stack.id; NULL on an error. */
static const char *stack_text(struct writer *w, int64_t stack)
{
	uint64_t *known = pf_map_at(&w->lines, (uint64_t)stack);
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };

	if (*known != UINT64_MAX)
		return (const char *)(uintptr_t)*known;
	if (read_frames(&w->frames, stack))
		return NULL;
	pf_buf_adds(&text, "");
	for (size_t i = w->frames.count; i-- > 0;) {
		add_frame(w, &text, w->frames.path[i]);
		if (i)
			pf_buf_addc(&text, ';');
	}
	*known = (uintptr_t)pf_arena_string(&w->arena, text.data);
	return (const char *)(uintptr_t)*known;
}

/* ---- lines ---- */

static int put(struct writer *w, int64_t bytes)
{
	pf_buf_addf(&w->line, " %" PRId64 "\n", bytes);
	w->result->line_count++;
	pf_sat_sum(&w->result->total_ns, bytes);
	return pf_outfile_write(w->out, w->line.data, w->line.len, w->db->err);
}

static void begin_block(struct writer *w, sqlite3_stmt *st)
{
	const char *state = pf_sqlite_text(st, 3);
	uint32_t frame = stack_frame(&w->masked, state, strlen(state));
	const char *stream = pf_sqlite_text(st, 2);

	pf_buf_clear(&w->line);
	pf_buf_addf(&w->line, "stream_%s;", stream ? stream : "0");
	add_frame(w, &w->line, frame);
	pf_buf_addc(&w->line, ';');
}

static int put_line(struct writer *w, sqlite3_stmt *st, int64_t stack,
		    int64_t bytes)
{
	const char *text = stack ? stack_text(w, stack) : "<non-python>";

	PF_TRY(!text);
	begin_block(w, st);
	pf_buf_adds(&w->line, text);
	return put(w, bytes);
}

static int next_past(struct writer *w)
{
	int rc = pf_db_step(w->db, w->pasts, w->db->err);

	w->past_block = rc == 1 ? sqlite3_column_int64(w->pasts, 0) : INT64_MAX;
	return rc < 0 ? -1 : 0;
}

/* What it holds, what it held before, and what that leaves of its size. */
static int put_block(struct writer *w, sqlite3_stmt *st)
{
	int64_t id = sqlite3_column_int64(st, 7);
	int64_t bytes = sqlite3_column_int64(st, 5);
	int64_t rest = pf_sat_sub(sqlite3_column_int64(st, 4), bytes);
	int rc = put_line(w, st, pf_db_int_or(st, 6, 0), bytes);

	while (!rc && w->past_block <= id) {
		bytes = sqlite3_column_int64(w->pasts, 1);
		if (w->past_block == id) {
			rest = pf_sat_sub(rest, bytes);
			rc = put_line(w, st, pf_db_int_or(w->pasts, 2, 0),
				      bytes);
		}
		if (!rc)
			rc = next_past(w);
	}
	if (rc || !rest)
		return rc;
	begin_block(w, st);
	pf_buf_adds(&w->line, "<gaps>");
	return put(w, rest);
}

static int at_end(struct writer *w)
{
	struct pf_window_args args = w->args->window;
	PF_AUTO(pf_window_release) struct pf_window window;
	sqlite3_stmt *st = NULL;
	int rc;

	args.beside = true;
	PF_TRY(pf_window_resolve(w->db, &args, &window));
	w->pasts = pf_named_prepare(w->db, "snap_pasts", w->db->err);
	if (w->pasts && !next_past(w))
		st = pf_named_prepare(w->db, "snap_blocks", w->db->err);
	while ((rc = pf_db_step(w->db, st, w->db->err)) == 1) {
		if (!pf_window_find(&window, sqlite3_column_int64(st, 0)) ||
		    (window.device >= 0 &&
		     window.device != sqlite3_column_int64(st, 1)))
			continue;
		if (put_block(w, st)) {
			rc = -1;
			break;
		}
	}
	sqlite3_finalize(st);
	sqlite3_finalize(w->pasts);
	return rc < 0 ? -1 : 0;
}

static int put_group(struct writer *w, const struct pf_usage_group *g)
{
	const char *text = g->site.stack >= 0 ? stack_text(w, g->site.stack)
			   : g->site.outer_op ? g->site.outer_op
					      : "<non-python>";

	PF_TRY(!text);
	pf_buf_clear(&w->line);
	pf_buf_addf(&w->line, "%s;%s", g->at.device, text);
	return put(w, g->bytes);
}

static int at_peak(struct writer *w)
{
	const struct pf_usage_args args = { .window = w->args->window };
	PF_AUTO(pf_usage_release) struct pf_usage u = { 0 };
	int rc = pf_usage_find(w->db, &args, NULL, &u);

	for (size_t i = 0; !rc && i < u.alive_count; i++)
		rc = put_group(w, &u.alive[i]);
	return rc;
}

static int write_all(struct writer *w, FILE *out)
{
	struct pf_outrule rule = { .replace = w->args->force,
				   .option = "--force" };
	int rc;

	pf_db_protect(w->db, &rule);
	w->out = pf_outfile_open(w->args->out, &rule, out, w->db->err);
	PF_TRY(!w->out);
	rc = w->args->at_peak ? at_peak(w) : at_end(w);
	if (!w->result->line_count) {
		w->result->nothing =
			w->args->at_peak
				? "there are no allocations"
				: "there are no blocks of a memory snapshot, "
				  "which torch.cuda.memory._dump_snapshot() "
				  "writes; --at peak takes allocations";
		w->result->hint =
			w->args->at_peak ? PF_HINT_MEMORY : PF_HINT_NONE;
	}
	if (!rc)
		rc = pf_outfile_commit(w->out, w->db->err);
	pf_outfile_free(w->out);
	return rc;
}

/* The weights of memory, whose lines are not summed. */
static int stacks_memory(struct pf_db *db, const struct pf_stacks_args *args,
			 FILE *out, struct pf_stacks_result *result)
{
	struct writer w = { .db = db, .args = args, .result = result };
	int rc;

	*result = (struct pf_stacks_result){ .has_python = true };
	stack_tree_init(&w.masked);
	rc = frames_begin(&w.frames, db, &w.masked, true);
	if (!rc)
		rc = write_all(&w, out);
	frames_end(&w.frames);
	stack_tree_release(&w.masked);
	pf_map_release(&w.lines);
	pf_arena_release(&w.arena);
	pf_buf_release(&w.line);
	return rc;
}

/* ---- samples ---- */

static int add(struct frames *f, int64_t stack, int64_t value)
{
	uint32_t node = STACK_ROOT;

	PF_TRY(read_frames(f, stack));
	while (f->count--) {
		node = stack_child(f->tree, node, f->path[f->count],
				   f->db->err);
		PF_TRY(node == UINT32_MAX);
	}
	stack_add(f->tree, node, value);
	return 0;
}

/* 1 if there are any, even if they count nothing. */
static int stacks_samples(struct pf_db *db, const struct pf_window *window,
			  struct stack_tree *tree)
{
	PF_STMT(st) = pf_named_prepare(db, "stack_samples", db->err);
	struct frames f;
	int rc = frames_begin(&f, db, tree, false), any = 0;

	if (!st)
		rc = -1;
	while (!rc && (rc = pf_db_step(db, st, db->err)) == 1) {
		rc = 0;
		if (!pf_window_find(window, sqlite3_column_int64(st, 0)))
			continue;
		any = 1;
		rc = add(&f, sqlite3_column_int64(st, 1),
			 sqlite3_column_int64(st, 2));
	}
	frames_end(&f);
	return rc < 0 ? -1 : any;
}

int pf_stacks_samples_most(struct pf_db *db, struct pf_doc *doc)
{
	PF_STMT(st) = pf_named_prepare(db, "stack_samples_most", db->err);
	int rc = pf_db_step(db, st, db->err);
	double all = rc == 1 ? sqlite3_column_double(st, 2) : 0;

	if (all > 0)
		pf_doc_finding(
			doc, "%s of what %s %s ends in %s",
			PF_SHOW_RATIO(sqlite3_column_double(st, 1) / all),
			PF_SHOW_COUNT(sqlite3_column_int64(st, 3)),
			sqlite3_column_int64(st, 3) == 1 ? "stack counts"
							 : "stacks count",
			pf_sqlite_text(st, 0));
	return rc < 0 ? -1 : 0;
}

/* Is there nothing else in the database? */
static int stacks_only_samples(struct pf_db *db)
{
	PF_STMT(st) = pf_named_prepare(db, "stack_samples_only", db->err);
	int rc = pf_db_step(db, st, db->err);

	if (rc == 1)
		rc = sqlite3_column_int(st, 0);
	return rc;
}

struct open {
	struct pf_nest_range range;
	uint32_t node;
};

struct stacks {
	struct pf_gap_sink sink; /* first */
	struct pf_db *db;
	int weight; /* enum pf_stacks_weight */
	const struct pf_stacks_args *args;
	struct pf_window window;
	struct pf_names *names;
	struct stack_tree tree;
	struct pf_map frames;                /* name -> frame */
	struct pf_nest nest;                 /* struct open */
	const struct pf_window_trace *trace; /* of cpu; NULL: no weights */
	struct open outside;                 /* all ranges: of the track */
	int64_t deep_count;
	bool has_python;
	bool has_samples; /* folded stacks */
};

/* ---- frames ---- */

static int frame_of(struct stacks *s, uint32_t name, uint32_t *frame)
{
	uint64_t *known = pf_map_at(&s->frames, name);
	const struct pf_name_class *class;
	PF_OWN char *text = NULL;

	if (*known != UINT64_MAX) {
		*frame = (uint32_t)*known;
		return 0;
	}
	class = pf_names_class(s->names, name);
	text = class ? pf_names_text_take(s->names, name) : NULL;
	PF_TRY(!text);
	if (class->is_step)
		*frame = stack_frame(&s->tree, "ProfilerStep", 12);
	else
		*frame = stack_frame(&s->tree, text, strlen(text));
	*known = *frame;
	return 0;
}

/* The node of a name inside a node; UINT32_MAX on an error. */
static uint32_t child(struct stacks *s, uint32_t parent, uint32_t name)
{
	uint32_t frame;

	if (frame_of(s, name, &frame) < 0)
		return UINT32_MAX;
	return stack_child(&s->tree, parent, frame, s->db->err);
}

static uint32_t text_child(struct stacks *s, uint32_t parent, const char *text)
{
	return stack_child(&s->tree, parent,
			   stack_frame(&s->tree, text, strlen(text)),
			   s->db->err);
}

/* The outermost frames, if they are wanted: the trace, if it is not alone. */
static uint32_t root(struct stacks *s, int64_t trace_id, const char *label)
{
	struct pf_buf text = { 0 };
	uint32_t node = STACK_ROOT;

	if (!s->args->threads)
		return node;
	if (s->window.count > 1) {
		pf_buf_addf(&text, "trace %" PRId64, trace_id);
		node = text_child(s, node, text.data);
		pf_buf_release(&text);
	}
	return node == UINT32_MAX ? node : text_child(s, node, label);
}

static uint32_t thread_root(struct stacks *s, const struct pf_track *t)
{
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };

	if (t->thread_name)
		pf_buf_adds(&text, t->thread_name);
	else
		pf_buf_addf(&text, "thread %s", t->tid);
	return root(s, t->trace_id, text.data);
}

/* ---- threads ---- */

static void add_time(struct stacks *s, uint32_t node, int64_t from_ns,
		     int64_t to_ns)
{
	if (!s->trace || !pf_window_cut(s->trace, &from_ns, &to_ns))
		return;
	stack_add(&s->tree, node, to_ns - from_ns);
}

/* Up to here: ranges end, and the innermost one gets the time. */
static void go_to(struct stacks *s, int64_t at_ns)
{
	const struct open *o;
	int64_t from_ns, to_ns;

	while ((o = pf_nest_pass(&s->nest, at_ns, &from_ns, &to_ns)))
		add_time(s, o->node, from_ns, to_ns);
}

static uint32_t innermost(const struct stacks *s)
{
	const struct open *o = pf_nest_top(&s->nest);

	return o ? o->node : s->outside.node;
}

static int take(struct stacks *s, const struct pf_block *b, uint32_t i)
{
	unsigned kind = pf_names_kind(s->names, b->type[i]);
	int64_t end_ns = pf_span_end(b->start_ns[i], b->dur_ns[i]);
	struct open *o;
	uint32_t node;

	go_to(s, b->start_ns[i]);
	if (kind > PF_KIND_OVERHEAD)
		return 0;
	if (s->nest.depth >= PF_STACKS_DEPTH) {
		s->deep_count++;
		return 0;
	}
	s->has_python |= kind == PF_KIND_PYTHON;
	o = pf_nest_enter(
		&s->nest,
		(struct pf_nest_range){ end_ns, kind == PF_KIND_PYTHON }, true);
	node = child(s, o->node, b->name[i]);
	PF_TRY(node == UINT32_MAX);
	o->node = node;
	return 0;
}

static int begin_track(struct stacks *s, const struct pf_track *t)
{
	pf_nest_clear(&s->nest);
	s->nest.outermost = &s->outside;
	s->outside.node = thread_root(s, t);
	return s->outside.node == UINT32_MAX ? -1 : 0;
}

/* ---- cpu ---- */

static int take_event(void *context, const struct pf_block *b, uint32_t i,
		      int64_t event_id)
{
	(void)event_id;
	return take(context, b, i);
}

static int read_thread(void *context, const struct pf_track *t)
{
	struct stacks *s = context;
	const struct pf_track_reader reader = { .event = take_event,
						.within = s->trace };

	PF_TRY(begin_track(s, t));
	PF_TRY(pf_track_read(s->db, t, &reader, s) < 0);
	go_to(s, INT64_MAX);
	return 0;
}

static int weigh_cpu(struct stacks *s)
{
	for (size_t i = 0; i < s->window.count; i++) {
		s->trace = &s->window.traces[i];
		PF_TRY(pf_host_tracks(s->db, s->trace->trace_id, read_thread,
				      s));
	}
	return 0;
}

/* ---- gpu ---- */

struct gpu_walk {
	struct stacks *stacks;
	struct pf_by_event *works;
	struct pf_track *tracks;
	size_t track_count;
};

/* The call that launched the next work; -1: there is none, or an error. */
static int64_t next_launch(struct gpu_walk *g)
{
	const struct pf_event_work *w = pf_by_event_peek(g->works);

	return w ? w->launch_id : -1;
}

/* All work of one call, 0: of none. */
static int add_launched(struct stacks *s, struct gpu_walk *g, int64_t launch_id,
			uint32_t parent)
{
	const struct pf_block *none;
	const struct pf_event_work *w;
	uint32_t ignored, node;

	while (next_launch(g) == launch_id) {
		w = pf_by_event_next(g->works, &none, &ignored);
		node = child(s, parent, w->name);
		PF_TRY(node == UINT32_MAX);
		stack_add(&s->tree, node, w->dur_ns);
	}
	return s->db->err->code ? -1 : 0;
}

static int add_unlaunched(struct stacks *s, struct gpu_walk *g)
{
	uint32_t root;

	if (next_launch(g))
		return s->db->err->code ? -1 : 0;
	root = text_child(s, STACK_ROOT, "(no launch call)");
	return root == UINT32_MAX ? -1 : add_launched(s, g, 0, root);
}

static bool has_launch(void *walk, const struct pf_track *t)
{
	struct gpu_walk *g = walk;

	return pf_by_event_is_on(g->works, t->id);
}

static int take_launch(void *walk, const struct pf_block *b, uint32_t i,
		       int64_t event_id)
{
	struct gpu_walk *g = walk;
	struct stacks *s = g->stacks;

	PF_TRY(take(s, b, i));
	return add_launched(s, g, event_id, innermost(s));
}

static int read_launches(struct gpu_walk *g, const struct pf_track *t)
{
	static const struct pf_track_reader reader = { .event = take_launch,
						       .wants_more =
							       has_launch };

	PF_TRY(begin_track(g->stacks, t));
	return pf_track_read(g->stacks->db, t, &reader, g);
}

static int weigh_launched(struct stacks *s, struct gpu_walk *g)
{
	int64_t launch_id;

	PF_TRY(add_unlaunched(s, g));
	for (size_t i = 0; i < g->track_count; i++)
		if (has_launch(g, &g->tracks[i]) &&
		    (read_launches(g, &g->tracks[i]) < 0 ||
		     has_launch(g, &g->tracks[i])))
			break;
	launch_id = next_launch(g);
	if (!s->db->err->code && launch_id > 0)
		return pf_fail(s->db->err, PF_EDB,
			       "launch call %" PRId64 " is missing", launch_id);
	return s->db->err->code ? -1 : 0;
}

static int weigh_gpu(struct stacks *s)
{
	struct gpu_walk g = { .stacks = s,
			      .works = pf_by_event_work(s->db, &s->window, 0) };
	int rc = g.works ? pf_tracks_load(s->db, 0, &g.tracks, &g.track_count,
					  s->db->err)
			 : -1;

	if (!rc)
		rc = weigh_launched(s, &g);
	pf_tracks_free(g.tracks, g.track_count);
	pf_by_event_free(g.works);
	return rc;
}

/* ---- idle ---- */

static uint32_t idle_root(struct stacks *s, const struct pf_gap *gap)
{
	return root(s, gap->trace->trace_id,
		    PF_PRINTED(32, "GPU %" PRId64, gap->device));
}

/* Cause, line or annotation, outermost op, op, what holds it. */
static void on_piece(struct pf_gap_sink *sink, const struct pf_gap *gap,
		     const struct pf_place *place, int64_t ns)
{
	struct stacks *s = (struct stacks *)sink;
	uint32_t names[] = { place->frame != PF_ID_NONE ? place->frame
							: place->note,
			     place->outer_op, place->op, place->name };
	uint32_t node = s->db->err->code ? UINT32_MAX : idle_root(s, gap);
	uint32_t last = PF_ID_NONE;

	if (node != UINT32_MAX)
		node = text_child(s, node,
				  pf_cause_name((enum pf_cause)place->cause));
	for (size_t i = 0; i < 4 && node != UINT32_MAX; i++) {
		if (names[i] == PF_ID_NONE || names[i] == last)
			continue;
		/* a line holds what it is the innermost of */
		if (i == 3 && names[3] == names[0])
			continue;
		last = names[i];
		node = child(s, node, names[i]);
	}
	s->has_python |= place->frame != PF_ID_NONE;
	if (node != UINT32_MAX)
		stack_add(&s->tree, node, ns);
}

static int weigh_idle(struct stacks *s)
{
	const struct pf_pageable *pageable = pf_pageable(s->db);
	int64_t ignored;
	int rc = pageable ? 0 : -1;

	s->sink.piece = on_piece;
	if (!rc)
		rc = pf_window_to_steps(s->db, &s->window, &ignored, NULL);
	if (!rc)
		rc = pf_gap_find(s->db, &s->window, s->names, pageable,
				 PF_GAPS_MICRO_NS, &s->sink);
	return rc < 0 || s->db->err->code ? -1 : 0;
}

/* ---- the whole ---- */

/* What a capture of this kind could not have, whatever is asked of it. */
static bool say_other(const struct pf_recorded *has, struct pf_stacks_result *r)
{
	if (has->producer == PF_FROM_SNAPSHOT)
		r->nothing = "a memory snapshot has no time in stacks; "
			     "--weight memory shows what is allocated";
	else if (has->producer == PF_FROM_TABLES)
		r->nothing = "there are no stacks";
	if (has->producer == PF_FROM_TABLES)
		r->hint = PF_HINT_STACKS;
	return r->nothing != NULL;
}

static void say_work(const struct stacks *s, const struct pf_recorded *has,
		     struct pf_stacks_result *r)
{
	bool is_idle = s->weight == PF_STACKS_IDLE;

	if (has->has_work) {
		r->nothing = is_idle ? "no GPU is idle"
				     : "there is no GPU work in the window";
		return;
	}
	r->nothing = s->window.tpu_count
			     ? "there is no GPU work, but that of TPUs, which "
			       "is not looked into; --weight cpu shows the host"
		     : is_idle ? "there is no GPU work, so when a GPU is idle "
				 "is not known"
			       : "there is no GPU work; --weight cpu shows the "
				 "host";
	if (!s->window.tpu_count)
		r->hint = PF_HINT_WORK;
}

/* Why there are no stacks, and what would record some. */
static int say_nothing(const struct stacks *s, struct pf_stacks_result *r)
{
	struct pf_recorded has;
	bool has_host;

	PF_TRY(pf_trust_recorded(s->db, &s->window, &has));
	if (s->weight == PF_STACKS_SAMPLES) {
		r->nothing = s->has_samples ? "the folded stacks count nothing"
					    : "there are no folded stacks";
	} else if (s->weight != PF_STACKS_CPU) {
		if (!say_other(&has, r))
			say_work(s, &has, r);
	} else if (!say_other(&has, r)) {
		has_host = has.has_calls || has.has_ops || has.has_ranges;
		r->nothing = has_host ? "there are no ranges on the host in "
					"the window"
				      : "there are no ranges on the host";
		r->hint = has_host ? PF_HINT_NONE : PF_HINT_CALLS;
	}
	return 0;
}

static int weigh_samples(struct stacks *s)
{
	int rc = stacks_samples(s->db, &s->window, &s->tree);

	s->has_python = true; /* nothing is missing */
	s->has_samples = rc == 1;
	return rc < 0 ? -1 : 0;
}

static int print(struct stacks *s, FILE *out)
{
	struct pf_outrule rule = { .replace = s->args->force,
				   .option = "--force" };
	PF_AUTO(pf_outfile_freed) struct pf_outfile *f = NULL;
	int rc;

	pf_db_protect(s->db, &rule);
	f = pf_outfile_open(s->args->out, &rule, out, s->db->err);
	rc = f ? stack_print(&s->tree, f, s->db->err) : -1;
	if (!rc)
		rc = pf_outfile_commit(f, s->db->err);
	return rc;
}

int pf_stacks(struct pf_db *db, const struct pf_stacks_args *args, FILE *out,
	      struct pf_stacks_result *result)
{
	static int (*const weigh[])(struct stacks *) = { weigh_gpu, weigh_cpu,
							 weigh_idle, NULL,
							 weigh_samples };
	struct pf_window_args window = args->window;
	struct stacks s = { .db = db,
			    .args = args,
			    .nest = { .width = sizeof(struct open) } };
	int rc = -1;

	if (args->weight == PF_STACKS_MEMORY)
		return stacks_memory(db, args, out, result);
	s.weight = args->weight;
	if (s.weight == PF_STACKS_GPU) {
		rc = stacks_only_samples(db);
		PF_TRY(rc < 0);
		if (rc)
			s.weight = PF_STACKS_SAMPLES;
	}
	window.beside = s.weight == PF_STACKS_SAMPLES;
	rc = -1;
	PF_TRY(pf_window_resolve(db, &window, &s.window));
	stack_tree_init(&s.tree);
	s.names = pf_names_new(db);
	if (s.names)
		rc = weigh[s.weight](&s);
	if (!rc)
		rc = print(&s, out);
	*result = (struct pf_stacks_result){
		.total_ns = s.tree.total,
		.line_count = s.tree.line_count,
		.is_samples = s.weight == PF_STACKS_SAMPLES,
		.has_python = s.has_python,
		.deep_count = s.deep_count,
	};
	if (!rc && !s.tree.total)
		rc = say_nothing(&s, result);
	pf_names_free(s.names);
	pf_map_release(&s.frames);
	stack_tree_release(&s.tree);
	pf_nest_release(&s.nest);
	pf_window_release(&s.window);
	return rc;
}
