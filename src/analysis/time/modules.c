/* SPDX-License-Identifier: MIT */
/* Time of a thread is given to modules as it passes; see events/nest.h. */
#include "config.h"

#include "analysis/time/modules.h"

#include <inttypes.h>

#include "analysis/graphs/graphs.h"
#include "base/buf.h"
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
#include "store/cursor.h"

#define MODULE_ROOT 0 /* outside any module */

struct module {
	uint32_t parent, depth; /* depth of the root: 0 */
	/* The first in it, and the one after it; MODULE_ROOT: nobody. */
	uint32_t inside, after;
	const char *name; /* without "nn.Module: "; "" of the root */
	int64_t calls, ops;
	int64_t gpu_ns, host_ns; /* self */
	int64_t replayed_ns; /* of gpu_ns, by graphs whose modules are known */
	int64_t gpu_total_ns,
		host_total_ns; /* with all inside: once it is known */
};

struct open {
	struct pf_nest_range range;
	uint32_t node;
	bool is_op; /* or inside an op of this module */
};

struct modules {
	struct pf_ask ask;
	/* struct module, by parent and text; parents before what is in them */
	struct pf_keyed nodes;
	int64_t unlaunched_ns; /* GPU work without a launch call */
	uint64_t folded;       /* calls that are part of the module around */
	struct pf_map known;   /* name -> text + 1, 0: no module */
	struct pf_keyed texts; /* const char *: what is kept of each */
	struct pf_nest nest;   /* struct open */
	int64_t depth_max;
	const struct pf_window_trace *trace; /* NULL: no weights */
	struct pf_graphs *graphs;            /* or NULL */
	int64_t *now;                        /* work of one launch */
	size_t now_count, now_cap;
	struct pf_by_event *works;
};

static struct module *node_at(const struct modules *m, size_t i)
{
	return PF_KEYED_ROW(&m->nodes, struct module, i);
}

#define OUTSIDE    "(outside any module)"
#define UNLAUNCHED "(no launch call)"

/* A module, or a sum of several.  -1: that makes no sense here. */
struct row {
	const char *shown, *path, *name;
	int64_t depth, calls, ops, gpu_total_ns, gpu_ns, host_total_ns, host_ns;
	int64_t replayed_ns;
	double share; /* of all GPU work */
};

#define FIELD(...) PF_FIELD(struct row, __VA_ARGS__)
static const struct pf_field class_fields[] = {
	FIELD(name, "class", "Class", PF_TEXT),
	FIELD(calls, "Calls", PF_COUNT | PF_KNOWN),
	FIELD(ops, "op_count", "Ops", PF_COUNT | PF_KNOWN),
	FIELD(gpu_ns, "gpu_self_ns", "GPU self", PF_NS | PF_KNOWN),
	FIELD(share, "Of GPU", PF_RATIO | PF_BAR),
	FIELD(host_ns, "host_self_ns", "Host self", PF_NS | PF_KNOWN),
};

static int64_t gpu_total(const struct modules *m)
{
	return node_at(m, MODULE_ROOT)->gpu_total_ns + m->unlaunched_ns;
}

static void add_totals(struct modules *m)
{
	for (size_t i = 0; i < m->nodes.count; i++) {
		node_at(m, i)->gpu_total_ns = node_at(m, i)->gpu_ns;
		node_at(m, i)->host_total_ns = node_at(m, i)->host_ns;
	}
	for (size_t i = m->nodes.count; i-- > 1;) {
		struct module *n = node_at(m, i), *p = node_at(m, n->parent);

		pf_sat_sum(&p->gpu_total_ns, n->gpu_total_ns);
		pf_sat_sum(&p->host_total_ns, n->host_total_ns);
	}
}

/* ---- rows of modules ---- */

struct place {
	struct module *n;
};

/* Within a parent the largest first. */
PF_ORDER(by_total, struct place,
	 PF_UP(n->parent) PF_DOWN(n->gpu_total_ns) PF_DOWN(n->host_total_ns)
		 PF_ALPHA(n->name) PF_UP(n))

static void put_in_order(struct modules *m)
{
	PF_OWN struct place *list = pf_calloc(m->nodes.count, sizeof(*list));

	for (size_t i = 1; i < m->nodes.count; i++)
		list[i - 1].n = node_at(m, i);
	pf_sort(list, m->nodes.count - 1, sizeof(*list), by_total);
	for (size_t i = m->nodes.count - 1; i-- > 0;) {
		struct module *n = list[i].n, *p = node_at(m, n->parent);

		n->after = p->inside;
		p->inside = (uint32_t)(n - node_at(m, 0));
	}
}

/* What is in a node comes after it, then the next one beside it. */
static uint32_t next_node(const struct modules *m, uint32_t node)
{
	if (node_at(m, node)->inside)
		return node_at(m, node)->inside;
	while (node != MODULE_ROOT && !node_at(m, node)->after)
		node = node_at(m, node)->parent;
	return node_at(m, node)->after;
}

static void add_path(const struct modules *m, const struct module *n,
		     struct pf_buf *out)
{
	for (uint32_t d = 1; d <= n->depth; d++) {
		const struct module *at = n;

		while (at->depth > d)
			at = node_at(m, at->parent);
		if (d > 1)
			pf_buf_addc(out, '/');
		pf_buf_adds(out, at->name);
	}
}

static bool is_empty(const struct module *n)
{
	return !n->calls && !n->ops && !n->gpu_total_ns && !n->host_total_ns;
}

static struct row row_of(const struct modules *m, const struct module *n,
			 const char *name)
{
	const int64_t gpu_ns = gpu_total(m);
	const bool has_gpu = gpu_ns > 0;

	return (struct row){ .name = name,
			     .depth = n->depth,
			     .calls = n->calls,
			     .ops = n->ops,
			     .gpu_total_ns = has_gpu ? n->gpu_total_ns : -1,
			     .gpu_ns = has_gpu ? n->gpu_ns : -1,
			     .replayed_ns = has_gpu ? n->replayed_ns : -1,
			     .host_total_ns = n->host_total_ns,
			     .host_ns = n->host_ns,
			     .share = has_gpu ? pf_num_share(n->gpu_ns, gpu_ns)
					      : NAN };
}

/* Each after what it is in; nodes that the window leaves empty are not. */
static void add_modules(struct modules *m, struct pf_doc *doc)
{
	const struct pf_field fields[] = {
		FIELD(shown, "module", "Module", PF_TEXT | PF_BRIEF),
		FIELD(path, "Path", PF_PATH | PF_FULL),
		FIELD(name, "Name", PF_TEXT | PF_FULL),
		FIELD(depth, "Depth", PF_INT | PF_FULL),
		FIELD(calls, "Calls", PF_COUNT),
		FIELD(ops, "op_count", "Ops", PF_COUNT | PF_SPARE),
		FIELD(gpu_total_ns, "GPU total", PF_NS | PF_KNOWN),
		FIELD(gpu_ns, "gpu_self_ns", "GPU self", PF_NS | PF_KNOWN),
		FIELD(replayed_ns, "Replayed",
		      PF_NS | PF_KNOWN | (m->graphs ? 0 : PF_ABSENT)),
		FIELD(share, "Of GPU", PF_RATIO | PF_BAR | PF_FULL),
		FIELD(host_total_ns, "Host total", PF_NS),
		FIELD(host_ns, "host_self_ns", "Host self", PF_NS | PF_FULL),
	};
	struct pf_table *t = pf_doc_fields(
		doc, "modules", "Modules, as they call", PF_FIELDS(fields));

	put_in_order(m);
	for (uint32_t at = next_node(m, MODULE_ROOT); at != MODULE_ROOT;
	     at = next_node(m, at)) {
		const struct module *n = node_at(m, at);
		PF_AUTO(pf_buf_release) struct pf_buf shown = { 0 };
		PF_AUTO(pf_buf_release) struct pf_buf path = { 0 };
		struct row row = row_of(m, n, n->name);

		for (uint32_t d = 1; d < n->depth && d < 32; d++)
			pf_buf_adds(&shown, "\xc2\xa0\xc2\xa0");
		pf_buf_adds(&shown, n->name);
		add_path(m, n, &path);
		row.shown = shown.data;
		row.path = path.data;
		if (!is_empty(n))
			PF_PUT(t, fields, row);
	}
}
#undef FIELD

/* ---- classes ---- */

/* "Linear_12" is a Linear. */
static size_t class_len(const char *name)
{
	size_t len = strlen(name), end = len;

	while (end && name[end - 1] >= '0' && name[end - 1] <= '9')
		end--;
	return end > 1 && end < len && name[end - 1] == '_' ? end - 1 : len;
}

PF_ORDER(by_self, struct module,
	 PF_DOWN(gpu_ns) PF_DOWN(host_ns) PF_ALPHA(name))

/* Rows of struct module, a class each, the most time first; to be ended. */
static struct module *sum_classes(const struct modules *m,
				  struct pf_keyed *classes)
{
	struct module *sum;

	pf_keyed_begin(classes, sizeof(*sum), PF_KEYED_SUMS);
	for (size_t i = 1; i < m->nodes.count; i++) {
		const struct module *n = node_at(m, i);
		size_t at;

		if (is_empty(n))
			continue;
		at = pf_keyed_at_text(classes, n->name, class_len(n->name));
		sum = PF_KEYED_ROW(classes, struct module, at);
		sum->calls += n->calls;
		sum->ops += n->ops;
		pf_sat_sum(&sum->gpu_ns, n->gpu_ns);
		pf_sat_sum(&sum->host_ns, n->host_ns);
	}
	sum = classes->rows;
	for (uint32_t i = 0; i < classes->count; i++)
		sum[i].name = pf_intern_text(&classes->texts, i, NULL);
	pf_sort(sum, classes->count, sizeof(*sum), by_self);
	return sum;
}

/* Every class of modules, and what is in none: the whole. */
static void add_classes(const struct modules *m, struct pf_doc *doc)
{
	struct pf_table *t = pf_doc_fields(doc, "classes", "Self time by class",
					   PF_FIELDS(class_fields));
	PF_AUTO(pf_keyed_end) struct pf_keyed classes = { 0 };
	struct module *sum = sum_classes(m, &classes);
	struct row row;

	for (size_t i = 0; i < classes.count; i++) {
		row = row_of(m, &sum[i], sum[i].name);
		PF_PUT(t, class_fields, row);
	}
	if (classes.count) {
		row = row_of(m, node_at(m, MODULE_ROOT), OUTSIDE);
		row.calls = -1;
		PF_PUT(t, class_fields, row);
	}
	row = row_of(m, &(struct module){ .gpu_ns = m->unlaunched_ns },
		     UNLAUNCHED);
	row.calls = row.ops = row.host_ns = -1;
	if (classes.count && row.gpu_ns > 0)
		PF_PUT(t, class_fields, row);
}

/* ---- the document ---- */

static void say_inside(const struct modules *m, struct pf_doc *doc)
{
	const struct module *root = node_at(m, MODULE_ROOT);
	int64_t gpu = gpu_total(m), host = root->host_total_ns;
	int64_t all = gpu ? gpu : host;
	int64_t inside =
		gpu ? root->gpu_total_ns - root->gpu_ns : host - root->host_ns;
	PF_AUTO(pf_keyed_end) struct pf_keyed classes = { 0 };
	const struct module *most = sum_classes(m, &classes);
	int64_t most_ns = !classes.count ? 0
			  : gpu          ? most->gpu_ns
					 : most->host_ns;
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };
	const char *part = PF_SHOW_SHARE(inside, all);
	const char *time = PF_SHOW_NS(all);

	if (gpu)
		pf_buf_addf(&text,
			    "%s of %s of GPU work%s is launched %sin modules",
			    part, time, pf_window_scope(&m->ask.window),
			    m->graphs ? "or replayed " : "");
	else
		pf_buf_addf(&text, "%s of %s of host time is in modules", part,
			    time);
	if (most_ns > 0)
		pf_buf_addf(&text, ". Modules of class %s have most of it: %s",
			    most->name, PF_SHOW_SHARE(most_ns, all));
	pf_doc_finding(doc, "%s", text.data);
}

static void add_finding(const struct modules *m, enum pf_producer producer,
			struct pf_doc *doc)
{
	if (doc->is_nothing)
		pf_doc_finding(doc, "There are no calls of modules; %s",
			       pf_hint(producer, PF_HINT_MODULES));
	else
		say_inside(m, doc);
}

struct figures {
	int64_t gpu_ns, gpu_inside_ns, gpu_outside_ns, unlaunched_ns;
	int64_t host_ns, host_inside_ns, host_outside_ns;
};

#define FIELD(...) PF_FIELD(struct figures, __VA_ARGS__)

/* Without calls of modules it is not known what would be in them. */
static void add_figures(const struct modules *m, struct pf_doc *doc)
{
	const struct module *root = node_at(m, MODULE_ROOT);
	const int of_gpu = gpu_total(m) ? PF_NS : PF_ABSENT;
	const struct pf_field figure_fields[] = {
		FIELD(gpu_ns, "GPU work", of_gpu),
		FIELD(gpu_inside_ns, "gpu_in_modules_ns",
		      "GPU work, in modules", of_gpu | PF_KNOWN),
		FIELD(gpu_outside_ns, "GPU work, outside", of_gpu | PF_KNOWN),
		FIELD(unlaunched_ns, "gpu_no_launch_ns",
		      "GPU work, no launch call", of_gpu),
		FIELD(host_ns, "Host time", PF_NS | PF_KNOWN),
		FIELD(host_inside_ns, "host_in_modules_ns",
		      "Host time, in modules", PF_NS | PF_KNOWN),
		FIELD(host_outside_ns, "Host time, outside", PF_NS | PF_KNOWN),
	};
	struct figures f = {
		gpu_total(m),        root->gpu_total_ns - root->gpu_ns,
		root->gpu_ns,        m->unlaunched_ns,
		root->host_total_ns, root->host_total_ns - root->host_ns,
		root->host_ns
	};

	if (doc->is_nothing)
		f.gpu_inside_ns = f.gpu_outside_ns = f.host_inside_ns =
			f.host_outside_ns = -1;
	if (doc->is_nothing && !f.host_ns)
		f.host_ns = -1;
	PF_SCALARS(doc, figure_fields, f);
}
#undef FIELD

static void modules_show(struct modules *m, enum pf_producer producer,
			 struct pf_doc *doc)
{
	add_totals(m);
	doc->is_nothing = m->nodes.count == 1;
	add_finding(m, producer, doc);
	add_figures(m, doc);
	add_modules(m, doc);
	add_classes(m, doc);
	if (!doc->is_nothing && node_at(m, MODULE_ROOT)->gpu_ns)
		pf_doc_note(doc,
			    "outside is what no call of a module launches, "
			    "as backward and optimizers");
	if (m->graphs)
		pf_graphs_note(m->graphs, doc);
	if (m->folded)
		pf_doc_note(doc,
			    "%" PRIu64 " calls of modules deeper than --depth "
			    "are part of the module around them",
			    m->folded);
}

#define MAX_NODES  131072 /* further modules, as part of what they are in */
#define NAME_BYTES 200    /* of a module that are kept */

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
	size_t known = m->texts.count;
	size_t n = pf_keyed_at_text(&m->texts, s, strlen(s));

	if (n == known)
		*PF_KEYED_ROW(&m->texts, const char *, n) =
			pf_arena_text(&m->ask.memory, s, cut(s));
	return (uint32_t)n;
}

/* The number of the module's name + 1, or 0 if it is none. */
static uint64_t module_name(struct modules *m, uint32_t name)
{
	uint64_t *known = pf_map_at(&m->known, name);
	size_t len = strlen(PF_MODULE_PREFIX);
	char *s;

	if (*known == UINT64_MAX) {
		s = pf_names_text_take(m->ask.names, name);
		*known = s && !strncmp(s, PF_MODULE_PREFIX, len)
				 ? 1 + add_text(m, s + len)
				 : 0;
		free(s);
	}
	return *known;
}

/* The node of a module inside a node: that itself if there is no room. */
static uint32_t child(struct modules *m, uint32_t parent, uint32_t text)
{
	uint64_t key = (uint64_t)parent << 32 | text;
	uint32_t depth = node_at(m, parent)->depth + 1;
	size_t known = m->nodes.count, n;

	if (depth > m->depth_max ||
	    (known == MAX_NODES && !pf_map_has(&m->nodes.numbers, key))) {
		m->folded++;
		return parent;
	}
	n = pf_keyed_at(&m->nodes, key);
	if (n == known)
		*node_at(m, n) = (struct module){
			.parent = parent,
			.depth = depth,
			.name = *PF_KEYED_ROW(&m->texts, const char *, text),
		};
	return (uint32_t)n;
}

/* ---- threads ---- */

/* Up to here: ranges end, and the innermost one's module gets the time. */
static void go_to(struct modules *m, int64_t at_ns)
{
	const struct open *o;
	int64_t from_ns, to_ns;

	while ((o = pf_nest_pass(&m->nest, at_ns, &from_ns, &to_ns)))
		if (m->trace && pf_window_cut(m->trace, &from_ns, &to_ns))
			pf_sat_sum(&node_at(m, o->node)->host_ns,
				   to_ns - from_ns);
}

static void take(struct modules *m, const struct pf_block *b, uint32_t i)
{
	unsigned kind = pf_names_kind(m->ask.names, b->type[i]);
	struct open *o;
	bool counts = m->trace && b->start_ns[i] >= m->trace->from_ns &&
		      b->start_ns[i] < m->trace->to_ns;
	int64_t end_ns = pf_span_end(b->start_ns[i], b->dur_ns[i]);
	uint64_t text;

	go_to(m, b->start_ns[i]);
	if (kind > PF_KIND_OVERHEAD)
		return;
	o = pf_nest_enter(
		&m->nest,
		(struct pf_nest_range){ end_ns, kind == PF_KIND_PYTHON }, true);
	if (!o)
		return;
	text = kind == PF_KIND_PYTHON ? module_name(m, b->name[i]) : 0;
	if (text) {
		uint32_t node = child(m, o->node, (uint32_t)(text - 1));

		if (node != o->node) {
			node_at(m, node)->calls += counts;
			o->is_op = false;
		}
		o->node = node;
	} else if (kind == PF_KIND_CPU_OP && !o->is_op) {
		node_at(m, o->node)->ops += counts;
		o->is_op = true;
	}
}

/* ---- GPU work ---- */

/* The module that work was captured in, by lines of names. */
static uint32_t captured_in(struct modules *m, const char *path)
{
	uint32_t node = MODULE_ROOT;

	while (*path) {
		size_t len = strcspn(path, "\n");
		PF_OWN char *name = pf_memdup0(path, len);

		node = child(m, node, add_text(m, name));
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

		pf_sat_sum(&node_at(m, at)->gpu_ns, m->now[i]);
		if (path)
			pf_sat_sum(&node_at(m, at)->replayed_ns, m->now[i]);
	}
}

/* All work that this event of the track launched; of 0: that nothing did. */
static void add_launched(struct modules *m, int64_t event_id)
{
	const struct open *o = pf_nest_top(&m->nest);
	const struct pf_event_work *w;
	const struct pf_block *none;
	uint32_t ignored;

	m->now_count = 0;
	while ((w = pf_by_event_peek(m->works)) && w->launch_id == event_id) {
		if (event_id) {
			*PF_ONE_MORE(m->now, m->now_count, m->now_cap) =
				w->dur_ns;
		} else {
			pf_sat_sum(&m->unlaunched_ns, w->dur_ns);
		}
		pf_by_event_next(m->works, &none, &ignored);
	}
	if (m->now_count)
		add_launch(m, event_id, o ? o->node : MODULE_ROOT);
}

/* ---- the whole ---- */

static void check_met(const struct modules *m, bool is_met)
{
	const struct pf_event_work *w;

	if (is_met || m->ask.err->code)
		return;
	w = pf_by_event_peek(m->works);
	pf_fail(m->ask.err, PF_EDB, "launch call %" PRId64 " is missing",
		w ? w->launch_id : 0);
}

static int take_event(void *context, const struct pf_block *b, uint32_t i,
		      int64_t event_id)
{
	struct modules *m = context;

	take(m, b, i);
	add_launched(m, event_id);
	return m->ask.err->code ? -1 : 0;
}

static void read_track(struct modules *m, const struct pf_track *t)
{
	static const struct pf_track_reader reader = { .event = take_event };

	pf_nest_clear(&m->nest);
	if (pf_track_read(m->ask.db, t, &reader, m) < 0)
		return;
	go_to(m, INT64_MAX);
	check_met(m, !pf_by_event_is_on(m->works, t->id));
}

static void read_tracks(struct modules *m)
{
	struct pf_err *err = m->ask.err;
	struct pf_track *tracks = NULL;
	size_t count = 0;

	pf_tracks_load(m->ask.db, 0, &tracks, &count, err);
	for (size_t i = 0; !err->code && i < count; i++) {
		const struct pf_track *t = &tracks[i];

		m->trace = !strcmp(t->class_name, "host")
				   ? pf_window_find(&m->ask.window, t->trace_id)
				   : NULL;
		if (m->trace || pf_by_event_is_on(m->works, t->id))
			read_track(m, t);
	}
	pf_tracks_free(tracks, count);
	check_met(m, !pf_by_event_peek(m->works));
}

int pf_modules(struct pf_db *db, const struct pf_modules_args *args,
	       struct pf_doc *doc)
{
	static const struct open outermost = { .node = MODULE_ROOT };
	struct modules m = { .depth_max = args->depth,
			     .graphs = args->graphs,
			     .nest = { .width = sizeof(outermost),
				       .outermost = &outermost } };
	enum pf_producer producer;

	pf_keyed_begin(&m.nodes, sizeof(struct module), PF_KEYED_SUMS);
	pf_keyed_begin(&m.texts, sizeof(const char *), PF_KEYED_SUMS);
	node_at(&m, pf_keyed_at(&m.nodes, UINT64_MAX))->name = "";
	if (!pf_ask_begin(&m.ask, db, &args->window) && pf_ask_names(&m.ask) &&
	    !pf_hint_producer(db, &producer) &&
	    (m.works = pf_by_event_work(db, &m.ask.window, 0))) {
		add_launched(&m, 0);
		read_tracks(&m);
	}
	if (!db->err->code)
		modules_show(&m, producer, doc);
	pf_by_event_free(m.works);
	pf_keyed_end(&m.nodes);
	pf_keyed_end(&m.texts);
	pf_map_release(&m.known);
	free(m.now);
	pf_nest_release(&m.nest);
	return pf_ask_end(&m.ask);
}
