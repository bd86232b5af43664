/* SPDX-License-Identifier: MIT */
/*
 * Which advice is done: A is given it, and B is not, as its cause is not there
 * or too small.  What one side cannot judge is neither done nor new.
 */
#include "config.h"

#include <math.h>

#include "compare/diff_impl.h"

/* ---- of a capture ---- */

static void keep(struct pf_capture *c, const struct pf_advice *v)
{
	bool is_given = v->state == PF_ADVICE_GIVEN;

	c->advice[c->advice_count++] = (struct pf_capture_advice){
		.id = v->id,
		.title = v->title,
		.state = v->state,
		.at_most_ns = is_given ? v->at_most_ns : PF_NO_INT,
		.reason = pf_capture_own_text(
			c, v->sentence.data ? v->sentence.data : ""),
	};
}

int pf_capture_advise(struct pf_db *db, const struct pf_window_args *args,
		      struct pf_capture *c, struct pf_err *err)
{
	const struct pf_advise_args asked = { .window = *args,
					      .db_name = "DB" };
	struct pf_advise advise = { 0 };
	int rc = pf_advise_find(db, &asked, &advise, err);

	for (size_t i = 0; !rc && i < advise.count; i++)
		keep(c, &advise.all[i]);
	c->advice_window_ns = advise.window_ns;
	c->advice_steps = advise.step_count > 0 ? advise.step_count : 1;
	pf_advise_release(&advise);
	return rc;
}

/* ---- of both sides ---- */

enum change { DONE, NEW, OPEN, NOT_JUDGED, NEVER };
static const char *const changes[] = { "done", "new", "open", "not judged" };

/* By the state in A and in B: given, fine, not judged. */
static const enum change table[3][3] = {
	{ OPEN, DONE, NOT_JUDGED },
	{ NEW, NEVER, NEVER },
	{ NOT_JUDGED, NEVER, NEVER },
};

static int64_t per_step(const struct pf_capture *c,
			const struct pf_capture_advice *v)
{
	return v->at_most_ns == PF_NO_INT
		       ? PF_NO_INT
		       : pf_mean(v->at_most_ns, c->advice_steps);
}

static double share(const struct pf_capture *c,
		    const struct pf_capture_advice *v)
{
	return v->at_most_ns == PF_NO_INT
		       ? NAN
		       : pf_ratio((double)v->at_most_ns, c->advice_window_ns);
}

static void add(struct pf_diff_run *d, enum change change,
		const struct pf_capture_advice *a,
		const struct pf_capture_advice *b)
{
	const struct pf_capture *in_a = d->a.captures[0],
				*in_b = d->b.captures[0];
	struct pf_diff *out = d->out;
	const char *reason = NULL;

	if (b->state != PF_ADVICE_GIVEN)
		reason = pf_intern_text(&in_b->texts, b->reason, NULL);
	else if (a->state != PF_ADVICE_GIVEN)
		reason = pf_intern_text(&in_a->texts, a->reason, NULL);
	out->advice[out->advice_count++] = (struct pf_diff_advice){
		.change = changes[change],
		.id = a->id,
		.title = a->title,
		.a_at_most_ns = per_step(in_a, a),
		.b_at_most_ns = per_step(in_b, b),
		.a_share = share(in_a, a),
		.b_share = share(in_b, b),
		.reason = pf_diff_keep_text(d, reason),
	};
}

static const struct pf_capture_advice *find(const struct pf_capture *c,
					    const char *id)
{
	for (size_t i = 0; i < c->advice_count; i++)
		if (!strcmp(c->advice[i].id, id))
			return &c->advice[i];
	return NULL;
}

/* "done: A1, A5; new: A3" */
static void say(struct pf_diff_run *d)
{
	const struct pf_diff *out = d->out;
	struct pf_buf line = { 0 };
	const char *last = NULL;

	for (size_t i = 0; i < out->advice_count; i++) {
		const struct pf_diff_advice *v = &out->advice[i];

		if (last != v->change)
			pf_buf_addf(&line, "%s%s: ", last ? "; " : "",
				    v->change);
		pf_buf_addf(&line, "%s%s", last == v->change ? ", " : "",
			    v->id);
		last = v->change;
	}
	pf_diff_note(d, "advice: %s",
		     line.len ? line.data : "neither side is given any");
	pf_buf_release(&line);
}

void pf_diff_find_advice(struct pf_diff_run *d)
{
	const struct pf_capture *a = d->a.captures[0], *b = d->b.captures[0];

	if (!d->args->advice || !a->advice_count || !b->advice_count)
		return;
	for (int change = DONE; change < NEVER; change++) {
		/* what A is given in its order, then what B alone is */
		for (size_t i = 0; i < a->advice_count + b->advice_count; i++) {
			bool of_b = i >= a->advice_count;
			const char *id =
				of_b ? b->advice[i - a->advice_count].id
				     : a->advice[i].id;
			const struct pf_capture_advice *x = find(a, id),
						       *y = find(b, id);

			if (x && y && of_b == (x->state != PF_ADVICE_GIVEN) &&
			    table[x->state][y->state] == (enum change)change)
				add(d, (enum change)change, x, y);
		}
	}
	say(d);
}
