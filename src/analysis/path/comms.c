/* SPDX-License-Identifier: MIT */
/*
 * When threads of a process communicate: gloo has threads of its own, and of
 * the one that waits for them nothing but its step is recorded.  By process
 * and time, cut so that no two of one process overlap.
 */
#include "analysis/path/path_impl.h"

void path_comms_add(struct path *p, const char *pid, uint32_t name,
		    int64_t start_ns, int64_t end_ns)
{
	p->comms = pf_grow(p->comms, &p->comm_cap, p->comm_count + 1,
			   sizeof(*p->comms));
	p->comms[p->comm_count++] =
		(struct path_comm){ start_ns, end_ns, pid, name };
}

static int by_start(const void *a, const void *b)
{
	const struct path_comm *x = a, *y = b;
	int order = strcmp(x->pid, y->pid);

	if (order)
		return order;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->end_ns != y->end_ns)
		return x->end_ns > y->end_ns ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

/* What reaches behind the last one: of its name it is one with it. */
static void add_behind(struct path *p, size_t *n, struct path_comm c)
{
	struct path_comm *last = &p->comms[*n - 1];

	c.start_ns = last->end_ns;
	if (last->name == c.name)
		last->end_ns = c.end_ns;
	else
		p->comms[(*n)++] = c;
}

void path_comms_settle(struct path *p)
{
	size_t n = 0;

	path_sort(p->comms, p->comm_count, sizeof(*p->comms), by_start);
	for (size_t i = 0; i < p->comm_count; i++) {
		const struct path_comm *c = &p->comms[i];
		struct path_comm *last = n ? &p->comms[n - 1] : NULL;

		if (!last || strcmp(last->pid, c->pid) != 0 ||
		    c->start_ns > last->end_ns)
			p->comms[n++] = *c;
		else if (c->end_ns > last->end_ns)
			add_behind(p, &n, *c);
	}
	p->comm_count = n;
}

const struct path_comm *path_comm_after(const struct path *p, const char *pid,
					int64_t at_ns)
{
	size_t lo = 0, hi = p->comm_count;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int order = strcmp(p->comms[mid].pid, pid);

		if (order < 0 || (!order && p->comms[mid].end_ns <= at_ns))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < p->comm_count && !strcmp(p->comms[lo].pid, pid)
		       ? &p->comms[lo]
		       : NULL;
}
