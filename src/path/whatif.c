/* SPDX-License-Identifier: MIT */
/* Questions and their answers: those that were asked, or the usual ones. */
#include "path/change_impl.h"

#include "base/stats.h"
#include "events/kernel_name.h"
#include "table/rows.h"

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
static int ask_of(struct path *p, struct path_changes *c, uint32_t name,
		  bool is_work, struct pf_err *err)
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
			q->op_name = name;
			q->host_factor = asked[i].factor;
		}
	}
	return 0;
}

static int ask_usual(struct path *p, const struct path_rows *rows,
		     struct path_changes *c, struct pf_err *err)
{
	uint32_t names[TOP];
	int rc = 0;

	path_change_standard(c);
	for (unsigned i = 0; i < 2; i++) {
		bool is_work = !i;
		size_t count = path_rows_top(rows, is_work, names, TOP);

		for (size_t k = 0; !rc && k < count; k++)
			rc = ask_of(p, c, names[k], is_work, err);
	}
	return rc;
}

static bool makes_slower(const struct path_change *q)
{
	bool slower = q->work_factor > 1 || q->host_factor > 1;

	for (size_t i = 0; i < PF_GPU_CLASSES; i++)
		slower |= q->by_class[i] > 1;
	return slower;
}

/*
 * What takes nothing off the path and makes nothing slower leaves the window
 * as it is: most questions of most traces need no replay.
 */
static void answer(struct path *p, const struct path_change *q,
		   struct pf_path_answer *out)
{
	const int64_t window = p->out->window_ns;
	int64_t bound = path_bound(p, q);
	bool is_moot = !bound && !makes_slower(q);

	*out = (struct pf_path_answer){
		.question = pf_arena_string(&p->out->texts, q->text),
		.ns = is_moot ? window : path_answer(p, q, false),
		.pessimistic_ns = PF_NO_INT,
		.bound_ns = bound < 0 ? PF_NO_INT : bound,
	};
	if (p->with_order)
		out->pessimistic_ns = is_moot || !p->graph.order_edges
					      ? out->ns
					      : path_answer(p, q, true);
	out->saved_ns = window - out->ns;
	out->saved_share = pf_ratio((double)out->saved_ns, window);
	out->least_ns = out->pessimistic_ns == PF_NO_INT
				? PF_NO_INT
				: window - out->pessimistic_ns;
}

int path_what_if(struct path *p, const struct path_rows *rows,
		 struct pf_err *err)
{
	const struct pf_opt_list *asked = &p->args->what_if;
	struct pf_path *out = p->out;
	struct path_changes c = { 0 };
	int rc = 0;

	for (size_t i = 0; !rc && i < asked->count; i++)
		rc = path_change_parse(&c, asked->items[i], err);
	if (!rc && !asked->count)
		rc = ask_usual(p, rows, &c, err);
	if (!rc)
		rc = path_fold(p, &c, err);
	if (!rc) {
		out->answers = pf_calloc(c.count + 1, sizeof(*out->answers));
		for (size_t i = 0; i < c.count; i++)
			answer(p, &c.items[i], &out->answers[i]);
		out->answer_count = c.count;
	}
	path_changes_release(&c);
	return rc;
}
