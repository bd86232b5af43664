/* SPDX-License-Identifier: MIT */
/* The analyses that advice rests on, beside the path. */
#include "analysis/advise/advise_impl.h"

#include <stdatomic.h>

#include "events/gpu.h"
#include "events/trust.h"
#include "store/kept.h"
#include "store/threads.h"

#define KEPT_BYTES (32u << 20) /* of blocks that several read */

struct beside {
	const struct pf_window_args *window;
	struct pf_kernels callers;
	struct pf_launches launches;
	struct pf_overlap overlap;
	struct pf_step_times steps;
	struct pf_usage memory;
	struct pf_info info;
	struct pf_roofline roofline;
};

static int find_callers(struct pf_db *db, struct beside *b, struct pf_err *err)
{
	const struct pf_kernels_args args = {
		.window = *b->window,
		.group = PF_KERNELS_BY_NAME_OP,
		.no_ranks = true,
	};

	return pf_kernels_find(db, &args, &b->callers, err);
}

static int find_launches(struct pf_db *db, struct beside *b, struct pf_err *err)
{
	const struct pf_launches_args args = { .window = *b->window,
					       .only_counts = true };

	return pf_launches_find(db, &args, 0, &b->launches, err);
}

static int find_overlap(struct pf_db *db, struct beside *b, struct pf_err *err)
{
	const struct pf_overlap_args args = { .window = *b->window };

	return pf_overlap_find(db, &args, &b->overlap, err);
}

static int find_steps(struct pf_db *db, struct beside *b, struct pf_err *err)
{
	const struct pf_steps_args args = { .window = *b->window,
					    .only_times = true };

	return pf_step_times_find(db, &args, &b->steps, err);
}

static int find_memory(struct pf_db *db, struct beside *b, struct pf_err *err)
{
	const struct pf_usage_args args = { .window = *b->window };

	return pf_usage_find(db, &args, NULL, &b->memory, err);
}

static int find_info(struct pf_db *db, struct beside *b, struct pf_err *err)
{
	struct pf_doc doc = { 0 };
	int rc = pf_info(db, &b->info, &doc, err);

	pf_doc_release(&doc);
	return rc;
}

static int find_roofs(struct pf_db *db, struct beside *b, struct pf_err *err)
{
	const struct pf_roofline_args args = { .window = *b->window,
					       .group = PF_ROOFLINE_BY_OP };
	bool has_shapes;

	if (pf_trust_has_shapes(db, &has_shapes, err) < 0)
		return -1;
	return has_shapes ? pf_roofline_find(db, &args, &b->roofline, err) : 0;
}

/* By the time they take: the last are short ones. */
static int (*const finders[])(struct pf_db *db, struct beside *b,
			      struct pf_err *err) = {
	find_callers, find_launches, find_roofs, find_memory,
	find_info,    find_overlap,  find_steps,
};
#define FINDERS (sizeof(finders) / sizeof(*finders))

/* One thread begins with the path; what is left is for who has time. */
struct gathering {
	struct pf_db *db, other;
	const struct pf_advise_args *args;
	struct pf_advise *out;
	struct beside *beside;
	atomic_size_t next;
	int rc[1 + FINDERS]; /* the path's first */
	struct pf_err err[1 + FINDERS];
};

static void find_on(struct gathering *g, struct pf_db *db)
{
	size_t n;

	while ((n = atomic_fetch_add(&g->next, 1)) < FINDERS)
		g->rc[1 + n] = finders[n](db, g->beside, &g->err[1 + n]);
}

static void find_path(void *p)
{
	struct gathering *g = p;

	g->rc[0] = pf_advise_read(g->db, g->args, g->out, &g->err[0]);
	if (!g->rc[0])
		find_on(g, g->db);
}

static void find_beside(void *p)
{
	struct gathering *g = p;

	find_on(g, &g->other);
}

static void release(struct beside *b)
{
	pf_kernels_release(&b->callers);
	pf_launches_release(&b->launches);
	pf_overlap_release(&b->overlap);
	pf_step_times_release(&b->steps);
	pf_usage_release(&b->memory);
	pf_info_release(&b->info);
	pf_roofline_release(&b->roofline);
}

static int gather(struct pf_db *db, const struct pf_advise_args *args,
		  struct beside *b, struct pf_advise *a, struct pf_err *err)
{
	struct gathering *g = pf_calloc(1, sizeof(*g));
	int rc;

	g->db = db;
	g->args = args;
	g->out = a;
	g->beside = b;
	pf_kept_start(db, KEPT_BYTES);
	/* most read these rows: they come before blocks take the room */
	rc = pf_gpu_links_keep(db, err);
	if (!rc)
		rc = pf_db_open_beside(&g->other, db, err);
	if (!rc)
		pf_threads_both(find_path, g, find_beside, g);
	for (size_t i = 0; !rc && i < 1 + FINDERS; i++) {
		rc = g->rc[i];
		if (rc)
			*err = g->err[i];
	}
	pf_db_close(&g->other);
	free(g);
	return rc;
}

/* Before all of several ranks is read, to be refused. */
static int check_window(struct pf_db *db, const struct pf_window_args *args,
			struct pf_err *err)
{
	struct pf_window window = { 0 };
	int rc = pf_window_resolve(db, args, &window, err);

	if (!rc)
		rc = pf_path_check(&window, err);
	pf_window_release(&window);
	return rc;
}

int pf_advise_find(struct pf_db *db, const struct pf_advise_args *args,
		   struct pf_advise *out, struct pf_err *err)
{
	struct beside *b = pf_calloc(1, sizeof(*b));
	const struct pf_advise_from from = { &b->callers, &b->launches,
					     &b->overlap, &b->steps,
					     &b->memory,  &b->info,
					     &b->roofline };
	int rc;

	b->window = &args->window;
	rc = check_window(db, &args->window, err);
	if (!rc)
		rc = gather(db, args, b, out, err);
	if (!rc)
		rc = pf_advise_judge(out, args, &from, err);
	release(b);
	free(b);
	return rc;
}

int pf_advise(struct pf_db *db, const struct pf_advise_args *args,
	      struct pf_doc *doc, struct pf_err *err)
{
	struct pf_advise a = { 0 };
	int rc = pf_advise_find(db, args, &a, err);

	if (!rc) {
		pf_advise_show(&a, doc);
		rc = pf_trust_note(db, &a.tiles->path->window,
				   PF_TRUST_WORK | PF_TRUST_LINKS, doc, err);
	}
	pf_advise_release(&a);
	return rc;
}
