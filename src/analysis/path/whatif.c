/* SPDX-License-Identifier: MIT */
/* Questions and their answers: those that were asked, or the usual ones. */
#include "analysis/path/change_impl.h"

#include "base/stats.h"
#include "events/kernel_name.h"
#include "store/threads.h"
#include "show/rows.h"

#define TOP 10 /* names of which "gone" and "2x as fast" are asked */

static const char *say(struct path *p, uint32_t name, bool is_work,
		       const char *what, struct pf_err *err)
{
	const char *text = pf_names_frame(p->names, name, err);
	struct pf_buf out = { 0 };

	if (!text)
		return NULL;
	if (is_work)
		text = pf_kernel_short_kept(&p->out->texts, text);
	pf_buf_addf(&out, "%s %s", text, what);
	text = pf_arena_string(&p->out->texts, out.data);
	pf_buf_release(&out);
	return text;
}

/* Of a name that holds much of the path: gone, and in half the time. */
static int ask_of(struct path *p, struct path_changes *c,
		  const struct path_ledger *l, uint32_t name, bool is_work,
		  struct pf_err *err)
{
	static const struct {
		const char *work, *op;
		double factor;
	} asked[] = { { "is gone", "takes no time of its own", 0 },
		      { "is 2x as fast", "itself is 2x as fast", 0.5 } };

	for (size_t i = 0; i < 2; i++) {
		const char *text =
			say(p, name, is_work,
			    is_work ? asked[i].work : asked[i].op, err);
		struct path_change *q;

		if (!text)
			return -1;
		q = path_change_add(c, text);
		if (is_work) {
			q->has_gpu = true;
			q->work_name = name;
			q->work_factor = asked[i].factor;
		} else {
			q->has_host = true;
			q->key = path_ledger_key(l, name);
			q->host_factor = asked[i].factor;
		}
	}
	return 0;
}

/* Those that hold most of the path. */
static int ask_of_top(struct path *p, const struct path_rows *rows,
		      struct path_changes *c, const struct path_ledger *l,
		      struct pf_err *err)
{
	uint32_t names[TOP];
	int rc = 0;

	for (unsigned i = 0; i < 2; i++) {
		bool is_work = !i;
		size_t count = path_rows_top(rows, is_work, names, TOP);

		for (size_t k = 0; !rc && k < count; k++)
			rc = ask_of(p, c, l, names[k], is_work, err);
	}
	return rc;
}

int path_ask(struct path *p, struct path_changes *c, struct pf_err *err)
{
	const struct pf_opt_list *asked = &p->args->what_if,
				 *beside = &p->args->beside;
	int rc = 0;

	for (size_t i = 0; !rc && i < asked->count; i++)
		rc = path_change_parse(c, asked->items[i], err);
	if (!rc && !asked->count && !p->args->is_bare)
		path_change_standard(c, p->out->recorded.has_work);
	c->own_count = c->count;
	for (size_t i = 0; !rc && i < beside->count; i++)
		rc = path_change_parse(c, beside->items[i], err);
	return rc;
}

static bool makes_slower(const struct path_change *q)
{
	bool slower = q->work_factor > 1 || q->host_factor > 1;

	for (size_t i = 0; i < PF_GPU_CLASSES; i++)
		slower |= q->by_class[i] > 1;
	return slower;
}

/* What the answers are worked out of: bounds first, then lanes. */
struct answers {
	struct path *p;
	struct path_changes *changes;
	const struct path_ledger *ledger;
	struct path_far far;
	size_t count;             /* of questions */
	struct path_lane *bounds; /* by question */
	struct path_lane *lanes;
	uint32_t *plain, *pessimistic; /* lanes by question, or none */
	size_t lane_count;
};

static uint32_t add_lane(struct answers *a, const struct path_change *q,
			 bool is_pessimistic)
{
	a->lanes[a->lane_count] =
		(struct path_lane){ .change = q,
				    .is_pessimistic = is_pessimistic };
	return (uint32_t)a->lane_count++;
}

/*
 * What takes nothing off the path and makes nothing slower leaves the window
 * as it is: most questions of most traces need no replay.
 */
static void choose_lanes(struct answers *a)
{
	add_lane(a, NULL, false);
	for (size_t i = 0; i < a->count; i++) {
		const struct path_change *q = &a->changes->items[i];
		bool is_moot = !a->bounds[i].ns && !makes_slower(q);

		a->plain[i] = a->pessimistic[i] = PF_PATH_NONE;
		if (is_moot)
			continue;
		a->plain[i] = add_lane(a, q, false);
	}
	if (!a->p->with_order || !a->p->graph.order_edges)
		return;
	/* beside each other: edges of order are of few groups then */
	for (size_t i = 0; i < a->count; i++)
		if (a->plain[i] != PF_PATH_NONE)
			a->pessimistic[i] =
				add_lane(a, &a->changes->items[i], true);
}

static bool changes_host_alone(const struct path_change *q)
{
	return (q->has_host || q->no_waits) && !q->has_gpu && !q->no_comm;
}

static void tell(const struct answers *a, size_t i, struct pf_path_answer *out)
{
	struct path *p = a->p;
	const int64_t window = p->out->window_ns, bound = a->bounds[i].ns;

	*out = (struct pf_path_answer){
		.question = pf_arena_string(&p->out->texts,
					    a->changes->items[i].text),
		.ns = a->plain[i] == PF_PATH_NONE ? window
						  : a->lanes[a->plain[i]].ns,
		.pessimistic_ns = PF_NO_INT,
		.least_ns = PF_NO_INT,
		.of_host = changes_host_alone(&a->changes->items[i]),
		.bound_ns = bound < 0 ? PF_NO_INT : bound,
	};
	out->saved_ns = window - out->ns;
	out->saved_share = pf_ratio((double)out->saved_ns, window);
	if (!p->with_order)
		return;
	out->pessimistic_ns = a->pessimistic[i] == PF_PATH_NONE
				      ? out->ns
				      : a->lanes[a->pessimistic[i]].ns;
	out->least_ns = window - out->pessimistic_ns;
}

/* Where the answer of a question stands: those beside come last. */
static size_t place_of(const struct path *p, const struct path_changes *c,
		       size_t i, size_t count)
{
	const size_t beside = p->args->beside.count;

	if (i < c->own_count)
		return i;
	return i < c->own_count + beside ? i - c->own_count + count - beside
					 : i - beside;
}

static void find_bounds(void *context)
{
	struct answers *a = context;

	path_bound(a->p, a->ledger, a->bounds, a->count);
}

static void find_far(void *context)
{
	struct answers *a = context;

	path_far_find(a->p, &a->far);
}

static void find_answers(struct path *p, struct path_changes *c,
			 const struct path_ledger *l, size_t count)
{
	struct pf_path *out = p->out;
	struct answers a = {
		.p = p, .changes = c, .ledger = l, .count = count
	};

	a.bounds = pf_calloc(count + 1, sizeof(*a.bounds));
	a.lanes = pf_calloc(2 * count + 1, sizeof(*a.lanes));
	a.plain = pf_calloc(count + 1, sizeof(*a.plain));
	a.pessimistic = pf_calloc(count + 1, sizeof(*a.pessimistic));
	for (size_t i = 0; i < count; i++)
		a.bounds[i].change = &c->items[i];
	pf_threads_both(find_bounds, &a, find_far, &a);
	/* nobody follows the path again: what is next takes the room */
	free(p->chain);
	p->chain = NULL;
	choose_lanes(&a);
	path_answer(p, &a.far, l, a.lanes, a.lane_count);
	path_far_release(&a.far);
	out->replay_ns = a.lanes[0].ns - out->window_ns;
	out->answers = pf_calloc(count + 1, sizeof(*out->answers));
	for (size_t i = 0; i < count; i++)
		tell(&a, i, &out->answers[place_of(p, c, i, count)]);
	if (count) {
		out->beside_count = p->args->beside.count;
		out->answer_count = count - out->beside_count;
		out->beside = out->answers + out->answer_count;
	}
	free(a.bounds);
	free(a.lanes);
	free(a.plain);
	free(a.pessimistic);
}

int path_what_if(struct path *p, const struct path_rows *rows,
		 struct path_changes *c, const struct path_ledger *l,
		 struct pf_err *err)
{
	bool has_path = p->out->category_count > 0;

	p->out->replay_ns = PF_NO_INT;
	if (p->args->is_bare && !c->count)
		return 0;
	if (has_path && !p->args->is_bare && !p->args->what_if.count &&
	    ask_of_top(p, rows, c, l, err) < 0)
		return -1;
	find_answers(p, c, l, has_path ? c->count : 0);
	return 0;
}
