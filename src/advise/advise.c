/* SPDX-License-Identifier: MIT */
/* The analyses that advice rests on, beside the path. */
#include "advise/advise_impl.h"

#include "events/gpu.h"
#include "events/trust.h"
#include "store/ints.h"
#include "store/kept.h"
#include "store/threads.h"

#define KEPT_BYTES (32u << 20) /* of blocks that several read */

struct beside {
	struct pf_db db;
	const struct pf_window_args *window;
	struct pf_kernels callers;
	struct pf_launches launches;
	struct pf_overlap overlap;
	struct pf_step_times steps;
	struct pf_usage memory;
	struct pf_info info;
	struct pf_roofline roofline;
	int rc;
	struct pf_err err;
};

static int find_roofs(struct beside *b, struct pf_err *err)
{
	const struct pf_roofline_args args = { .window = *b->window,
					       .group = PF_ROOFLINE_BY_OP };
	bool has_shapes;

	if (pf_trust_has_shapes(&b->db, &has_shapes, err) < 0)
		return -1;
	return has_shapes ? pf_roofline_find(&b->db, &args, &b->roofline, err)
			  : 0;
}

static int find_all(struct beside *b, struct pf_err *err)
{
	const struct pf_kernels_args kernels = {
		.window = *b->window,
		.group = PF_KERNELS_BY_NAME_OP,
		.no_ranks = true,
	};
	const struct pf_launches_args launches = { .window = *b->window,
						   .only_counts = true };
	const struct pf_overlap_args overlap = { .window = *b->window };
	const struct pf_steps_args steps = { .window = *b->window,
					     .only_times = true };
	const struct pf_usage_args memory = { .window = *b->window };
	struct pf_doc doc = { 0 };
	int rc;

	if (pf_kernels_find(&b->db, &kernels, &b->callers, err) < 0 ||
	    pf_launches_find(&b->db, &launches, 0, &b->launches, err) < 0 ||
	    pf_overlap_find(&b->db, &overlap, &b->overlap, err) < 0 ||
	    pf_step_times_find(&b->db, &steps, &b->steps, err) < 0 ||
	    pf_usage_find(&b->db, &memory, NULL, &b->memory, err) < 0)
		return -1;
	rc = pf_info(&b->db, &b->info, &doc, err);
	pf_doc_release(&doc);
	return rc ? rc : find_roofs(b, err);
}

static void run_beside(void *p)
{
	struct beside *b = p;

	b->rc = find_all(b, &b->err);
}

/* The path and its rows. */
struct reading {
	struct pf_db *db;
	const struct pf_advise_args *args;
	struct pf_advise *out;
	struct pf_err *err;
	int rc;
};

static void read_path(void *p)
{
	struct reading *r = p;

	r->rc = pf_advise_read(r->db, r->args, r->out, r->err);
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
	pf_db_close(&b->db);
}

/* Most of them read these rows: they come before blocks take the room. */
static int keep_links(struct pf_db *db, struct pf_err *err)
{
	struct pf_ints *links = pf_gpu_links_new(db, true, err);

	pf_ints_free(links);
	return links ? 0 : -1;
}

static int gather(struct pf_db *db, const struct pf_advise_args *args,
		  struct beside *b, struct pf_advise *a, struct pf_err *err)
{
	struct reading path = { db, args, a, err, 0 };

	pf_kept_start(db, KEPT_BYTES);
	if (keep_links(db, err) < 0 || pf_db_open_beside(&b->db, db, err) < 0)
		return -1;
	pf_threads_both(read_path, &path, run_beside, b);
	if (!path.rc && b->rc) {
		*err = b->err;
		return -1;
	}
	return path.rc;
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
