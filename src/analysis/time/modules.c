/* SPDX-License-Identifier: MIT */
/* Time of a thread is given to modules as it passes; see events/nest.h. */
#include "config.h"

#include "analysis/time/modules.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/graphs/graphs.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/intern.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/order.h"
#include "base/sat.h"
#include "events/ask.h"
#include "events/gpu.h"
#include "events/hints.h"
#include "events/interval.h"
#include "events/names.h"
#include "events/nest.h"
#include "events/traces.h"
#include "formats/event.h"
#include "show/doc.h"
#include "store/cursor.h"

/* The tree, which is measured below and printed here. */

#define PF_MODULE_ROOT 0 /* outside any module */

struct pf_module {
	uint32_t parent, depth; /* depth of the root: 0 */
	const char *name;       /* without "nn.Module: "; "" of the root */
	int64_t calls, ops;
	int64_t gpu_ns, host_ns; /* self */
	int64_t replayed_ns; /* of gpu_ns, by graphs whose modules are known */
	int64_t gpu_total_ns, host_total_ns; /* with all inside: show */
};

struct pf_module_tree {
	struct pf_module *nodes; /* a parent comes before what is in it */
	size_t count, cap;
	int64_t unlaunched_ns; /* GPU work without a launch call */
	enum pf_producer producer;
	const char *scope;              /* pf_window_scope() */
	const struct pf_graphs *graphs; /* or NULL */
	uint64_t folded; /* calls that are part of the module around */
};

#define OUTSIDE    "(outside any module)"
#define UNLAUNCHED "(no launch call)"

/* A module, or a sum of several.  -1: that makes no sense here. */
struct row {
	const char *shown, *path, *name;
	int64_t depth, calls, ops, gpu_total_ns, gpu_ns, host_total_ns, host_ns;
	int64_t replayed_ns;
	double share; /* of all GPU work */
};

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct row, member, key, title, kind)
static const struct pf_field module_fields[] = {
	FIELD(shown, "module", "Module", PF_TEXT | PF_BRIEF),
	FIELD(path, "path", "Path", PF_PATH | PF_FULL),
	FIELD(name, "name", "Name", PF_TEXT | PF_FULL),
	FIELD(depth, "depth", "Depth", PF_INT | PF_FULL),
	FIELD(calls, "calls", "Calls", PF_COUNT),
	FIELD(ops, "op_count", "Ops", PF_COUNT | PF_SPARE),
	FIELD(gpu_total_ns, "gpu_total_ns", "GPU total", PF_NS | PF_KNOWN),
	FIELD(gpu_ns, "gpu_self_ns", "GPU self", PF_NS | PF_KNOWN),
	FIELD(replayed_ns, "replayed_ns", "Replayed", PF_NS | PF_KNOWN),
	FIELD(share, "share", "Of GPU", PF_RATIO | PF_BAR | PF_FULL),
	FIELD(host_total_ns, "host_total_ns", "Host total", PF_NS),
	FIELD(host_ns, "host_self_ns", "Host self", PF_NS | PF_FULL),
};

#define FIELD_COUNT (sizeof(module_fields) / sizeof(*module_fields))

static const struct pf_field class_fields[] = {
	FIELD(name, "class", "Class", PF_TEXT),
	FIELD(calls, "calls", "Calls", PF_COUNT | PF_KNOWN),
	FIELD(ops, "op_count", "Ops", PF_COUNT | PF_KNOWN),
	FIELD(gpu_ns, "gpu_self_ns", "GPU self", PF_NS | PF_KNOWN),
	FIELD(share, "share", "Of GPU", PF_RATIO | PF_BAR),
	FIELD(host_ns, "host_self_ns", "Host self", PF_NS | PF_KNOWN),
};
#undef FIELD

static int64_t gpu_total(const struct pf_module_tree *t)
{
	return t->nodes[PF_MODULE_ROOT].gpu_total_ns + t->unlaunched_ns;
}

static void add_totals(struct pf_module_tree *t)
{
	for (size_t i = 0; i < t->count; i++) {
		t->nodes[i].gpu_total_ns = t->nodes[i].gpu_ns;
		t->nodes[i].host_total_ns = t->nodes[i].host_ns;
	}
	for (size_t i = t->count; i-- > 1;) {
		struct pf_module *n = &t->nodes[i], *p = &t->nodes[n->parent];

		pf_sat_sum(&p->gpu_total_ns, n->gpu_total_ns);
		pf_sat_sum(&p->host_total_ns, n->host_total_ns);
	}
}

/* ---- rows of modules ---- */

static int compare_int(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

/* Within a parent the largest first. */
static int compare_nodes(const void *pa, const void *pb)
{
	const struct pf_module *a = *(const struct pf_module *const *)pa;
	const struct pf_module *b = *(const struct pf_module *const *)pb;
	int c = compare_int(a->parent, b->parent);

	if (!c)
		c = compare_int(b->gpu_total_ns, a->gpu_total_ns);
	if (!c)
		c = compare_int(b->host_total_ns, a->host_total_ns);
	if (!c)
		c = strcmp(a->name, b->name);
	return c ? c : (a > b) - (a < b);
}

/* Who comes first in each node, and after each: PF_MODULE_ROOT is nobody. */
struct order {
	uint32_t *inside, *after;
};

static void put_in_order(const struct pf_module_tree *t, struct order *o)
{
	const struct pf_module **list = pf_calloc(t->count, sizeof(*list));

	o->inside = pf_calloc(t->count, sizeof(*o->inside));
	o->after = pf_calloc(t->count, sizeof(*o->after));
	for (size_t i = 1; i < t->count; i++)
		list[i] = &t->nodes[i];
	if (t->count > 1)
		pf_sort(list + 1, t->count - 1, sizeof(*list), compare_nodes);
	for (size_t i = t->count; i-- > 1;) {
		uint32_t node = (uint32_t)(list[i] - t->nodes);

		o->after[node] = o->inside[list[i]->parent];
		o->inside[list[i]->parent] = node;
	}
	free(list);
}

static void add_path(const struct pf_module_tree *t, uint32_t node,
		     struct pf_buf *out)
{
	uint32_t depth = t->nodes[node].depth;

	for (uint32_t d = 1; d <= depth; d++) {
		uint32_t at = node;

		while (t->nodes[at].depth > d)
			at = t->nodes[at].parent;
		if (d > 1)
			pf_buf_addc(out, '/');
		pf_buf_adds(out, t->nodes[at].name);
	}
}

static bool is_empty(const struct pf_module *n)
{
	return !n->calls && !n->ops && !n->gpu_total_ns && !n->host_total_ns;
}

static struct row row_of(const struct pf_module_tree *t,
			 const struct pf_module *n, const char *name)
{
	const bool has_gpu = gpu_total(t) > 0;

	return (struct row){ .name = name,
			     .depth = n->depth,
			     .calls = n->calls,
			     .ops = n->ops,
			     .gpu_total_ns = has_gpu ? n->gpu_total_ns : -1,
			     .gpu_ns = has_gpu ? n->gpu_ns : -1,
			     .replayed_ns = has_gpu ? n->replayed_ns : -1,
			     .host_total_ns = n->host_total_ns,
			     .host_ns = n->host_ns,
			     .share = pf_num_share(n->gpu_ns, gpu_total(t)) };
}

static void add_row(const struct pf_module_tree *t, uint32_t node,
		    const struct pf_field *fields, struct pf_table *out)
{
	const struct pf_module *n = &t->nodes[node];
	struct row row = row_of(t, n, n->name);
	struct pf_buf shown = { 0 }, path = { 0 };

	for (uint32_t d = 1; d < n->depth && d < 32; d++)
		pf_buf_adds(&shown, "\xc2\xa0\xc2\xa0");
	pf_buf_adds(&shown, n->name);
	add_path(t, node, &path);
	row.shown = shown.data;
	row.path = path.data;
	pf_table_put(out, fields, FIELD_COUNT, &row, sizeof(row));
	pf_buf_release(&shown);
	pf_buf_release(&path);
}

/* Each after what it is in; nodes that the window leaves empty are not. */
static void add_modules(const struct pf_module_tree *t,
			const struct pf_field *fields, struct pf_table *out)
{
	struct order o;
	uint32_t node;

	put_in_order(t, &o);
	node = o.inside[PF_MODULE_ROOT];
	while (node != PF_MODULE_ROOT) {
		if (!is_empty(&t->nodes[node]))
			add_row(t, node, fields, out);
		if (o.inside[node]) {
			node = o.inside[node];
			continue;
		}
		while (node != PF_MODULE_ROOT && !o.after[node])
			node = t->nodes[node].parent;
		node = o.after[node];
	}
	free(o.inside);
	free(o.after);
}

/* ---- classes ---- */

struct module_class {
	struct pf_module sum;
	const char *name;
};

/* "Linear_12" is a Linear. */
static size_t class_len(const char *name)
{
	size_t len = strlen(name), end = len;

	while (end && name[end - 1] >= '0' && name[end - 1] <= '9')
		end--;
	return end > 1 && end < len && name[end - 1] == '_' ? end - 1 : len;
}

PF_ORDER(compare_classes, struct module_class,
	 PF_DOWN(sum.gpu_ns) PF_DOWN(sum.host_ns) PF_ALPHA(name))

static void add_class(struct pf_keyed *classes, const struct pf_module *n)
{
	size_t at = pf_keyed_at_text(classes, n->name, class_len(n->name));
	struct pf_module *sum =
		&PF_KEYED_ROW(classes, struct module_class, at)->sum;

	sum->calls += n->calls;
	sum->ops += n->ops;
	pf_sat_sum(&sum->gpu_ns, n->gpu_ns);
	pf_sat_sum(&sum->host_ns, n->host_ns);
}

/* Every class of modules, and what is in none: the whole. */
static void add_classes(const struct pf_module_tree *t, struct pf_table *out)
{
	struct row row;
	struct pf_keyed classes;
	struct module_class *list;
	size_t count;

	pf_keyed_begin(&classes, sizeof(*list), PF_KEYED_SUMS);
	for (size_t i = 1; i < t->count; i++)
		if (!is_empty(&t->nodes[i]))
			add_class(&classes, &t->nodes[i]);
	list = classes.rows;
	count = classes.count;
	for (uint32_t i = 0; i < count; i++)
		list[i].name = pf_intern_text(&classes.texts, i, NULL);
	pf_sort(list, count, sizeof(*list), compare_classes);
	for (size_t i = 0; i < count; i++) {
		row = row_of(t, &list[i].sum, list[i].name);
		PF_PUT(out, class_fields, row);
	}
	pf_keyed_end(&classes);
	if (!count)
		return;
	row = row_of(t, &t->nodes[PF_MODULE_ROOT], OUTSIDE);
	row.calls = -1;
	PF_PUT(out, class_fields, row);
	row = row_of(t, &(struct pf_module){ .gpu_ns = t->unlaunched_ns },
		     UNLAUNCHED);
	row.calls = row.ops = row.host_ns = -1;
	if (row.gpu_ns > 0)
		PF_PUT(out, class_fields, row);
}

/* ---- the document ---- */

static void add_finding(const struct pf_module_tree *t, struct pf_doc *doc)
{
	const struct pf_module *root = &t->nodes[PF_MODULE_ROOT];
	int64_t gpu = gpu_total(t), host = root->host_total_ns;
	char part[PF_NUM_MAX], time[PF_NUM_MAX];

	if (t->count == 1)
		pf_doc_finding(doc, "There are no calls of modules; %s",
			       pf_hint(t->producer, PF_HINT_MODULES));
	else if (gpu)
		pf_doc_finding(
			doc, "%s of %s of GPU work%s is launched %sin modules",
			pf_num_show_ratio(
				part,
				pf_num_share(root->gpu_total_ns - root->gpu_ns,
					     gpu)),
			pf_num_show_ns(time, gpu), t->scope,
			t->graphs ? "or replayed " : "");
	else
		pf_doc_finding(
			doc, "%s of %s of host time is in modules",
			pf_num_show_ratio(
				part, pf_num_share(host - root->host_ns, host)),
			pf_num_show_ns(time, host));
}

struct figures {
	int64_t gpu_ns, gpu_inside_ns, gpu_outside_ns, unlaunched_ns;
	int64_t host_ns, host_inside_ns, host_outside_ns;
};

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct figures, member, key, title, kind)

/* Without calls of modules it is not known what would be in them. */
static void add_figures(const struct pf_module_tree *t, struct pf_doc *doc)
{
	const struct pf_module *root = &t->nodes[PF_MODULE_ROOT];
	const int of_gpu = gpu_total(t) ? PF_NS : PF_ABSENT;
	const struct pf_field figure_fields[] = {
		FIELD(gpu_ns, "gpu_ns", "GPU work", of_gpu),
		FIELD(gpu_inside_ns, "gpu_in_modules_ns",
		      "GPU work, in modules", of_gpu | PF_KNOWN),
		FIELD(gpu_outside_ns, "gpu_outside_ns", "GPU work, outside",
		      of_gpu | PF_KNOWN),
		FIELD(unlaunched_ns, "gpu_no_launch_ns",
		      "GPU work, no launch call", of_gpu),
		FIELD(host_ns, "host_ns", "Host time", PF_NS | PF_KNOWN),
		FIELD(host_inside_ns, "host_in_modules_ns",
		      "Host time, in modules", PF_NS | PF_KNOWN),
		FIELD(host_outside_ns, "host_outside_ns", "Host time, outside",
		      PF_NS | PF_KNOWN),
	};
	struct figures f = {
		gpu_total(t),        root->gpu_total_ns - root->gpu_ns,
		root->gpu_ns,        t->unlaunched_ns,
		root->host_total_ns, root->host_total_ns - root->host_ns,
		root->host_ns
	};

	if (t->count == 1)
		f.gpu_inside_ns = f.gpu_outside_ns = f.host_inside_ns =
			f.host_outside_ns = -1;
	if (t->count == 1 && !f.host_ns)
		f.host_ns = -1;
	PF_SCALARS(doc, figure_fields, f);
}

/* Work out the totals and fill in the document. */
static void modules_show(struct pf_module_tree *t, struct pf_doc *doc)
{
	struct pf_field shown[FIELD_COUNT];

	add_totals(t);
	doc->is_nothing = t->count == 1;
	add_finding(t, doc);
	add_figures(t, doc);
	memcpy(shown, module_fields, sizeof(shown));
	for (size_t i = 0; !t->graphs && i < FIELD_COUNT; i++)
		if (!strcmp(shown[i].col.key, "replayed_ns"))
			shown[i].col.kind |= PF_ABSENT;
	add_modules(t, shown,
		    pf_doc_fields(doc, "modules", "Modules, as they call",
				  shown, FIELD_COUNT));
	add_classes(t, pf_doc_fields(doc, "classes", "Self time by class",
				     PF_FIELDS(class_fields)));
	if (t->count > 1 && t->nodes[PF_MODULE_ROOT].gpu_ns)
		pf_doc_note(doc,
			    "outside is what no call of a module launches, "
			    "as backward and optimizers");
	if (t->graphs)
		pf_graphs_note(t->graphs, doc);
	if (t->folded)
		pf_doc_note(doc,
			    "%" PRIu64 " calls of modules deeper than --depth "
			    "are part of the module around them",
			    t->folded);
}

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

/* ---- nodes and names ---- */

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
static int module_name(struct modules *m, uint32_t name, uint64_t *text)
{
	uint64_t *known = pf_map_at(&m->known, name);
	size_t len = strlen(PF_MODULE_PREFIX);
	char *s;

	if (*known == UINT64_MAX) {
		s = pf_names_text_take(m->names, name);
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

static int take(struct modules *m, const struct pf_block *b, uint32_t i)
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
	if (kind == PF_KIND_PYTHON && module_name(m, b->name[i], &text) < 0)
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
static int add_launched(struct modules *m, int64_t event_id)
{
	const struct open *o = pf_nest_top(&m->nest);
	const struct pf_event_work *w;
	const struct pf_block *none;
	uint32_t ignored;

	m->now_count = 0;
	while ((w = pf_by_event_peek(m->works)) && w->launch_id == event_id) {
		if (event_id) {
			m->now = pf_grow(m->now, &m->now_cap, m->now_count + 1,
					 sizeof(*m->now));
			m->now[m->now_count++] = w->dur_ns;
		} else {
			pf_sat_sum(&m->tree.unlaunched_ns, w->dur_ns);
		}
		pf_by_event_next(m->works, &none, &ignored);
	}
	if (m->now_count)
		add_launch(m, event_id, o ? o->node : PF_MODULE_ROOT);
	return m->db->err->code ? -1 : 0;
}

/* ---- the whole ---- */

static int check_met(const struct modules *m, bool is_met)
{
	const struct pf_event_work *w;

	if (is_met || m->db->err->code)
		return m->db->err->code ? -1 : 0;
	w = pf_by_event_peek(m->works);
	return pf_fail(m->db->err, PF_EDB, "launch call %" PRId64 " is missing",
		       w ? w->launch_id : 0);
}

static int take_event(void *context, const struct pf_block *b, uint32_t i,
		      int64_t event_id)
{
	if (take(context, b, i) < 0)
		return -1;
	return add_launched(context, event_id);
}

static int read_track(struct modules *m, const struct pf_track *t)
{
	static const struct pf_track_reader reader = { .event = take_event };

	pf_nest_clear(&m->nest);
	if (pf_track_read(m->db, t, &reader, m) < 0)
		return -1;
	go_to(m, INT64_MAX);
	return check_met(m, !pf_by_event_is_on(m->works, t->id));
}

static int read_tracks(struct modules *m)
{
	struct pf_track *tracks;
	size_t count;
	int rc = pf_tracks_load(m->db, 0, &tracks, &count, m->db->err);

	for (size_t i = 0; !rc && i < count; i++) {
		bool is_host = !strcmp(tracks[i].class_name, "host");

		m->trace =
			is_host ? pf_window_find(&m->window, tracks[i].trace_id)
				: NULL;
		if (m->trace || pf_by_event_is_on(m->works, tracks[i].id))
			rc = read_track(m, &tracks[i]);
	}
	pf_tracks_free(tracks, count);
	return rc ? rc : check_met(m, !pf_by_event_peek(m->works));
}

int pf_modules(struct pf_db *db, const struct pf_modules_args *args,
	       struct pf_doc *doc)
{
	static const struct open outermost = { .node = PF_MODULE_ROOT };
	struct modules m = { .db = db,
			     .nest = { .width = sizeof(outermost),
				       .outermost = &outermost } };
	int rc = -1;

	if (pf_window_resolve(db, &args->window, &m.window) < 0)
		return -1;
	m.depth_max = (uint32_t)args->depth;
	m.graphs = m.tree.graphs = args->graphs;
	pf_map_init(&m.children);
	pf_map_init(&m.known);
	pf_intern_init(&m.numbers);
	add_node(&m.tree, (struct pf_module){ .name = "" });
	m.names = pf_names_new(db);
	m.tree.scope = pf_window_scope(&m.window);
	if (m.names && !pf_hint_producer(db, &m.tree.producer) &&
	    (m.works = pf_by_event_work(db, &m.window, 0)) &&
	    !add_launched(&m, 0))
		rc = read_tracks(&m);
	if (!rc)
		modules_show(&m.tree, doc);
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
