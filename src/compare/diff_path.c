/* SPDX-License-Identifier: MIT */
/*
 * The critical paths of both sides by what they are made of.  A path adds up
 * to its window, so the differences add up to that of the windows.  A window
 * holds all steps, also those that are cut off: figures are per step of it.
 */
#include "config.h"

#include <stdlib.h>

#include "compare/diff_impl.h"

#include "base/order.h"

/* ---- of a capture ---- */

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

int pf_capture_path(struct pf_db *db, const struct pf_window_args *args,
		    const struct pf_window *window, struct pf_capture *c,
		    struct pf_err *err)
{
	struct sink sink = { { add_tile }, c };
	const struct pf_path_args asked = { .window = *args,
					    .is_bare = true,
					    .also = &sink.sink };
	struct pf_path path = { 0 };
	int rc;

	if (pf_path_check(window, err) < 0)
		return -1;
	rc = pf_path_find(db, &asked, &path, err);
	c->path_steps = path.step_count > 0 ? path.step_count : 1;
	c->path_window_ns = path.window_ns;
	pf_path_release(&path);
	return rc;
}

/* ---- of both sides ---- */

static int by_change(const void *a, const void *b)
{
	const struct pf_diff_time *x = a, *y = b;
	int64_t dx = llabs(x->ns.delta), dy = llabs(y->ns.delta);

	if (dx != dy)
		return dx > dy ? -1 : 1;
	if (x->ns.a != y->ns.a)
		return x->ns.a > y->ns.a ? -1 : 1;
	return x < y ? -1 : x > y;
}

void pf_diff_find_path(struct pf_diff_run *d)
{
	int64_t a[PF_PATH_CATEGORIES], b[PF_PATH_CATEGORIES];
	struct pf_diff *out = d->out;

	if (!d->args->path || !d->a.path_steps || !d->b.path_steps)
		return;
	pf_mean_parts(d->a.path_ns, PF_PATH_CATEGORIES, d->a.path_steps, a);
	pf_mean_parts(d->b.path_ns, PF_PATH_CATEGORIES, d->b.path_steps, b);
	for (size_t i = 0; i < PF_PATH_CATEGORIES; i++)
		if (d->a.path_ns[i] || d->b.path_ns[i])
			out->path[out->path_count++] = (struct pf_diff_time){
				pf_path_category_name((enum pf_path_category)i),
				pf_both(a[i], b[i]),
				pf_both(d->a.path_ns[i], d->b.path_ns[i])
			};
	pf_sort(out->path, out->path_count, sizeof(*out->path), by_change);
	out->path[out->path_count++] = (struct pf_diff_time){
		"the window",
		pf_both(pf_mean(d->a.path_window_ns, d->a.path_steps),
			pf_mean(d->b.path_window_ns, d->b.path_steps)),
		pf_both(d->a.path_window_ns, d->b.path_window_ns)
	};
}
