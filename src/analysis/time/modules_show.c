/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "analysis/time/modules_impl.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/order.h"
#include "base/sat.h"
#include "analysis/graphs/graphs.h"
#include "show/rows.h"

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
	FIELD(share, "share", "Of GPU", PF_RATIO | PF_FULL),
	FIELD(host_total_ns, "host_total_ns", "Host total", PF_NS),
	FIELD(host_ns, "host_self_ns", "Host self", PF_NS | PF_FULL),
};

#define FIELD_COUNT (sizeof(module_fields) / sizeof(*module_fields))

static const struct pf_field class_fields[] = {
	FIELD(name, "class", "Class", PF_TEXT),
	FIELD(calls, "calls", "Calls", PF_COUNT | PF_KNOWN),
	FIELD(ops, "op_count", "Ops", PF_COUNT | PF_KNOWN),
	FIELD(gpu_ns, "gpu_self_ns", "GPU self", PF_NS | PF_KNOWN),
	FIELD(share, "share", "Of GPU", PF_RATIO),
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

/* ---- the tree ---- */

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
	char *name;
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

static void add_class(struct module_class **list, size_t *count, size_t *cap,
		      const char *name, size_t len, const struct pf_module *n,
		      struct pf_intern *known)
{
	uint32_t at = pf_intern_add(known, name, len);

	if (at == *count) {
		*list = pf_grow(*list, cap, *count + 1, sizeof(**list));
		(*list)[(*count)++] =
			(struct module_class){ .name = pf_memdup0(name, len) };
	}
	(*list)[at].sum.calls += n->calls;
	(*list)[at].sum.ops += n->ops;
	pf_sat_sum(&(*list)[at].sum.gpu_ns, n->gpu_ns);
	pf_sat_sum(&(*list)[at].sum.host_ns, n->host_ns);
}

/* Every class of modules, and what is in none: the whole. */
static void add_classes(const struct pf_module_tree *t, struct pf_table *out)
{
	struct row row;
	struct pf_intern known;
	struct module_class *list = NULL;
	size_t count = 0, cap = 0;

	pf_intern_init(&known);
	for (size_t i = 1; i < t->count; i++)
		if (!is_empty(&t->nodes[i]))
			add_class(&list, &count, &cap, t->nodes[i].name,
				  class_len(t->nodes[i].name), &t->nodes[i],
				  &known);
	pf_sort(list, count, sizeof(*list), compare_classes);
	for (size_t i = 0; i < count; i++) {
		row = row_of(t, &list[i].sum, list[i].name);
		PF_PUT(out, class_fields, row);
		free(list[i].name);
	}
	free(list);
	pf_intern_release(&known);
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

void pf_modules_show(struct pf_module_tree *t, struct pf_doc *doc)
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
