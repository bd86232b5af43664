/* SPDX-License-Identifier: MIT */
/* Time of a thread is given to modules as it passes; see events/nest.h. */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "events/interval.h"
#include "analysis/time/modules.h"
#include "analysis/time/modules_impl.h"
#include "events/names.h"
#include "events/nest.h"
#include "events/track_read.h"
#include "base/mem.h"
#include "base/sat.h"
#include "analysis/graphs/graphs.h"
#include "events/by_event.h"
#include "store/cursor.h"
#include "formats/event.h"

#define MAX_NODES  131072 /* further modules, as part of what they are in */
#define NAME_BYTES 200    /* of a module that are kept */

struct open {
	struct pf_nest_range range;
	uint32_t node;
	bool is_op; /* or inside an op of this module */
};

struct modules {
	struct pf_db *db;
	struct pf_window window;
	struct pf_names *names;
	struct pf_module_tree tree;
	struct pf_map children; /* parent and text -> node */
	struct pf_map known;    /* name -> text + 1, 0: no module */
	struct pf_intern numbers;
	char **texts; /* the same; they stay where they are */
	size_t text_count, text_cap;
	struct pf_nest nest; /* struct open */
	uint32_t depth_max;
	const struct pf_window_trace *trace; /* NULL: no weights */
	const struct pf_graphs *graphs;      /* or NULL */
	int64_t *now;                        /* work of one launch */
	size_t now_count, now_cap;
	struct pf_by_event *works;
};

/* ---- the tree ---- */

/* Bytes of a name that are kept: whole characters. */
static size_t cut(const char *s)
{
	size_t len = strnlen(s, NAME_BYTES);

	while (len && s[len] && ((unsigned char)s[len] & 0xc0) == 0x80)
		len--;
	return len;
}

/* The number of a module's name: names that begin alike are two. */
static uint32_t add_text(struct modules *m, const char *s)
{
	uint32_t n = pf_intern_add(&m->numbers, s, strlen(s));

	if (n == m->text_count) {
		m->texts = pf_grow(m->texts, &m->text_cap, m->text_count + 1,
				   sizeof(*m->texts));
		m->texts[m->text_count++] = pf_memdup0(s, cut(s));
	}
	return n;
}

/* *text: the number of the module's name + 1, or 0 if it is none. */
static int module_name(struct modules *m, uint32_t name, uint64_t *text,
		       struct pf_err *err)
{
	uint64_t *known = pf_map_at(&m->known, name);
	size_t len = strlen(PF_MODULE_PREFIX);
	char *s;

	if (*known == UINT64_MAX) {
		s = pf_names_text_take(m->names, name, err);
		if (!s)
			return -1;
		*known = 0;
		if (!strncmp(s, PF_MODULE_PREFIX, len))
			*known = 1 + add_text(m, s + len);
		free(s);
	}
	*text = *known;
	return 0;
}

static uint32_t add_node(struct pf_module_tree *t, struct pf_module node)
{
	t->nodes = pf_grow(t->nodes, &t->cap, t->count + 1, sizeof(*t->nodes));
	t->nodes[t->count] = node;
	return (uint32_t)t->count++;
}

/* The node of a module inside a node: that itself if there is no room. */
static uint32_t child(struct modules *m, uint32_t parent, uint32_t text)
{
	struct pf_module_tree *t = &m->tree;
	uint32_t depth = t->nodes[parent].depth + 1;
	uint64_t *at;

	if (depth > m->depth_max) {
		t->folded++;
		return parent;
	}
	at = pf_map_at(&m->children, (uint64_t)parent << 32 | text);
	if (*at == UINT64_MAX)
		*at = t->count < MAX_NODES
			      ? add_node(t,
					 (struct pf_module){
						 .parent = parent,
						 .depth = depth,
						 .name = m->texts[text] })
			      : parent;
	if (*at == parent)
		t->folded++;
	return (uint32_t)*at;
}

/* ---- threads ---- */

static void add_time(struct modules *m, uint32_t node, int64_t from_ns,
		     int64_t to_ns)
{
	if (m->trace && pf_window_cut(m->trace, &from_ns, &to_ns))
		pf_sat_sum(&m->tree.nodes[node].host_ns, to_ns - from_ns);
}

/* Up to here: ranges end, and the innermost one's module gets the time. */
static void go_to(struct modules *m, int64_t at_ns)
{
	const struct open *o;
	int64_t from_ns, to_ns;

	while ((o = pf_nest_pass(&m->nest, at_ns, &from_ns, &to_ns)))
		add_time(m, o->node, from_ns, to_ns);
}

static int take(struct modules *m, const struct pf_block *b, uint32_t i,
		struct pf_err *err)
{
	unsigned kind = pf_names_kind(m->names, b->type[i]);
	struct open *o;
	bool counts = m->trace && b->start_ns[i] >= m->trace->from_ns &&
		      b->start_ns[i] < m->trace->to_ns;
	int64_t end_ns = pf_span_end(b->start_ns[i], b->dur_ns[i]);
	uint64_t text = 0;

	go_to(m, b->start_ns[i]);
	if (kind > PF_KIND_OVERHEAD)
		return 0;
	o = pf_nest_enter(
		&m->nest,
		(struct pf_nest_range){ end_ns, kind == PF_KIND_PYTHON }, true);
	if (!o)
		return 0;
	if (kind == PF_KIND_PYTHON &&
	    module_name(m, b->name[i], &text, err) < 0)
		return -1;
	if (text) {
		uint32_t node = child(m, o->node, (uint32_t)(text - 1));

		if (node != o->node) {
			m->tree.nodes[node].calls += counts;
			o->is_op = false;
		}
		o->node = node;
	} else if (kind == PF_KIND_CPU_OP && !o->is_op) {
		m->tree.nodes[o->node].ops += counts;
		o->is_op = true;
	}
	return 0;
}

/* ---- GPU work ---- */

/* The module that work was captured in, by lines of names. */
static uint32_t captured_in(struct modules *m, const char *path)
{
	uint32_t node = PF_MODULE_ROOT;

	while (*path) {
		size_t len = strcspn(path, "\n");
		char *name = pf_memdup0(path, len);

		node = child(m, node, add_text(m, name));
		free(name);
		path += len;
		path += *path == '\n';
	}
	return node;
}

/* The works of one launch, which is in a module. */
static void add_launch(struct modules *m, int64_t launch_id, uint32_t node)
{
	const struct pf_graph *g =
		m->graphs ? pf_graphs_of(m->graphs, launch_id) : NULL;

	/* Works that the window cuts are no whole replay. */
	if (g && g->count != m->now_count)
		g = NULL;
	for (size_t i = 0; i < m->now_count; i++) {
		const char *path =
			g ? pf_graphs_text(m->graphs, g->nodes[i].path) : NULL;
		uint32_t at = path ? captured_in(m, path) : node;

		pf_sat_sum(&m->tree.nodes[at].gpu_ns, m->now[i]);
		if (path)
			pf_sat_sum(&m->tree.nodes[at].replayed_ns, m->now[i]);
	}
}

/* All work that this event of the track launched; of 0: that nothing did. */
static int add_launched(struct modules *m, int64_t event_id, struct pf_err *err)
{
	const struct open *o = pf_nest_top(&m->nest);
	const struct pf_event_work *w;
	const struct pf_block *none;
	uint32_t ignored;

	m->now_count = 0;
	while ((w = pf_by_event_peek(m->works, err)) &&
	       w->launch_id == event_id) {
		if (event_id) {
			m->now = pf_grow(m->now, &m->now_cap, m->now_count + 1,
					 sizeof(*m->now));
			m->now[m->now_count++] = w->dur_ns;
		} else {
			pf_sat_sum(&m->tree.unlaunched_ns, w->dur_ns);
		}
		pf_by_event_next(m->works, &none, &ignored, err);
	}
	if (m->now_count)
		add_launch(m, event_id, o ? o->node : PF_MODULE_ROOT);
	return err->code ? -1 : 0;
}

/* ---- the whole ---- */

static int check_met(const struct modules *m, bool is_met, struct pf_err *err)
{
	const struct pf_event_work *w;

	if (is_met || err->code)
		return err->code ? -1 : 0;
	w = pf_by_event_peek(m->works, err);
	return pf_fail(err, PF_EDB, "launch call %" PRId64 " is missing",
		       w ? w->launch_id : 0);
}

static int take_event(void *context, const struct pf_block *b, uint32_t i,
		      int64_t event_id, struct pf_err *err)
{
	if (take(context, b, i, err) < 0)
		return -1;
	return add_launched(context, event_id, err);
}

static int read_track(struct modules *m, const struct pf_track *t,
		      struct pf_err *err)
{
	static const struct pf_track_reader reader = { .event = take_event };

	pf_nest_clear(&m->nest);
	if (pf_track_read(m->db, t, &reader, m, err) < 0)
		return -1;
	go_to(m, INT64_MAX);
	return check_met(m, !pf_by_event_is_on(m->works, t->id, err), err);
}

static int read_tracks(struct modules *m, struct pf_err *err)
{
	struct pf_track *tracks;
	size_t count;
	int rc = pf_tracks_load(m->db, 0, &tracks, &count, err);

	for (size_t i = 0; !rc && i < count; i++) {
		bool is_host = !strcmp(tracks[i].class_name, "host");

		m->trace =
			is_host ? pf_window_find(&m->window, tracks[i].trace_id)
				: NULL;
		if (m->trace || pf_by_event_is_on(m->works, tracks[i].id, err))
			rc = read_track(m, &tracks[i], err);
	}
	pf_tracks_free(tracks, count);
	return rc ? rc : check_met(m, !pf_by_event_peek(m->works, err), err);
}

int pf_modules(struct pf_db *db, const struct pf_modules_args *args,
	       struct pf_doc *doc, struct pf_err *err)
{
	static const struct open outermost = { .node = PF_MODULE_ROOT };
	struct modules m = { .db = db,
			     .nest = { .width = sizeof(outermost),
				       .outermost = &outermost } };
	int rc = -1;

	if (pf_window_resolve(db, &args->window, &m.window, err) < 0)
		return -1;
	m.depth_max = (uint32_t)args->depth;
	m.graphs = m.tree.graphs = args->graphs;
	pf_map_init(&m.children);
	pf_map_init(&m.known);
	pf_intern_init(&m.numbers);
	add_node(&m.tree, (struct pf_module){ .name = "" });
	m.names = pf_names_new(db, err);
	m.tree.scope = pf_window_scope(&m.window);
	if (m.names && !pf_hint_producer(db, &m.tree.producer, err) &&
	    (m.works = pf_by_event_work(db, &m.window, 0, err)) &&
	    !add_launched(&m, 0, err))
		rc = read_tracks(&m, err);
	if (!rc)
		pf_modules_show(&m.tree, doc);
	pf_by_event_free(m.works);
	pf_names_free(m.names);
	pf_map_release(&m.children);
	pf_map_release(&m.known);
	pf_intern_release(&m.numbers);
	free(m.now);
	for (size_t i = 0; i < m.text_count; i++)
		free(m.texts[i]);
	free(m.texts);
	free(m.tree.nodes);
	pf_nest_release(&m.nest);
	pf_window_release(&m.window);
	return rc;
}
