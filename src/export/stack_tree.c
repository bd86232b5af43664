/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "export/stack_tree.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/sat.h"
#include "base/utf8.h"

#define NODES_MAX   (1u << 26)
#define FLUSH_BYTES 65536

void pf_stack_tree_init(struct pf_stack_tree *t)
{
	*t = (struct pf_stack_tree){ 0 };
	t->nodes = pf_grow(NULL, &t->cap, 1, sizeof(*t->nodes));
	t->nodes[t->count++] = (struct pf_stack_node){ 0 };
}

void pf_stack_tree_release(struct pf_stack_tree *t)
{
	pf_intern_release(&t->frames);
	pf_map_release(&t->children);
	free(t->nodes);
	*t = (struct pf_stack_tree){ 0 };
}

uint32_t pf_stack_frame(struct pf_stack_tree *t, const char *name, size_t len)
{
	struct pf_buf text = { 0 };
	const char *p = name, *end = name + len, *semicolon;
	uint32_t frame;

	if (!len)
		return pf_intern_add(&t->frames, "(no name)", 9);
	while ((semicolon = memchr(p, ';', (size_t)(end - p)))) {
		pf_utf8_mask(&text, p, (size_t)(semicolon - p));
		pf_buf_adds(&text, "\\x3b");
		p = semicolon + 1;
	}
	pf_utf8_mask(&text, p, (size_t)(end - p));
	frame = pf_intern_add(&t->frames, text.data, text.len);
	pf_buf_release(&text);
	return frame;
}

uint32_t pf_stack_child(struct pf_stack_tree *t, uint32_t parent,
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
	t->nodes = pf_grow(t->nodes, &t->cap, t->count + 1, sizeof(*t->nodes));
	t->nodes[t->count] = (struct pf_stack_node){ parent, frame, 0 };
	return (uint32_t)t->count++;
}

void pf_stack_add(struct pf_stack_tree *t, uint32_t node, int64_t weight)
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
static uint32_t *ranks_take(const struct pf_stack_tree *t)
{
	uint32_t count = t->frames.count;
	struct ranked *list = pf_calloc(count + 1u, sizeof(*list));
	uint32_t *ranks = pf_calloc(count + 1u, sizeof(*ranks));

	for (uint32_t i = 0; i < count; i++) {
		list[i].text = pf_intern_text(&t->frames, i, &list[i].len);
		list[i].frame = i;
	}
	pf_sort(list, count, sizeof(*list), by_text);
	for (uint32_t i = 0; i < count; i++)
		ranks[list[i].frame] = i;
	free(list);
	return ranks;
}

/* Every node but the root, those of a parent together; to be freed. */
static struct child *children_take(const struct pf_stack_tree *t)
{
	struct child *list = pf_calloc(t->count, sizeof(*list));
	uint32_t *ranks = ranks_take(t);

	for (size_t i = 1; i < t->count; i++)
		list[i - 1] =
			(struct child){ t->nodes[i].parent,
					ranks[t->nodes[i].frame], (uint32_t)i };
	if (t->count > 1)
		pf_sort(list, t->count - 1, sizeof(*list), by_parent);
	free(ranks);
	return list;
}

struct printer {
	struct pf_stack_tree *tree;
	struct pf_outfile *out;
	struct child *children;
	uint32_t *first; /* of each node's in children */
	struct level *levels;
	size_t depth, cap;
	struct pf_buf line, buf;
};

static void push(struct printer *p, uint32_t node)
{
	p->levels =
		pf_grow(p->levels, &p->cap, p->depth + 1, sizeof(*p->levels));
	p->levels[p->depth++] =
		(struct level){ p->first[node], p->first[node + 1],
				p->line.len };
}

static int print_node(struct printer *p, uint32_t node, struct pf_err *err)
{
	const struct pf_stack_node *n = &p->tree->nodes[node];
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
	push(p, PF_STACK_ROOT);
	while (p->depth) {
		struct level *top = &p->levels[p->depth - 1];
		uint32_t node;

		p->line.len = top->len;
		if (top->next == top->end) {
			p->depth--;
			continue;
		}
		node = p->children[top->next++].node;
		if (print_node(p, node, err) < 0)
			return -1;
		push(p, node);
	}
	return p->buf.len
		       ? pf_outfile_write(p->out, p->buf.data, p->buf.len, err)
		       : 0;
}

int pf_stack_print(struct pf_stack_tree *t, struct pf_outfile *out,
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
