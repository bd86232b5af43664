/* SPDX-License-Identifier: MIT */
/*
 * When threads of a process communicate: gloo has threads of its own, and of
 * the one that waits for them nothing but its step is recorded.  By process
 * and time, cut so that no two of one process overlap.
 */
#include "analysis/path/path_impl.h"

#include "base/order.h"

void path_comms_add(struct path *p, const char *pid, uint32_t name,
		    int64_t start_ns, int64_t end_ns)
{
	p->comms = pf_grow(p->comms, &p->comm_cap, p->comm_count + 1,
			   sizeof(*p->comms));
	p->comms[p->comm_count++] =
		(struct path_comm){ start_ns, end_ns, pid, name };
}

PF_ORDER(by_start, struct path_comm,
	 PF_ALPHA(pid) PF_UP(start_ns) PF_DOWN(end_ns) PF_UP(name))

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
