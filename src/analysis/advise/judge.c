/* SPDX-License-Identifier: MIT */
/*
 * The judge: every rule takes the rows of the path that are its own, or where
 * there is no path the idle time of its causes; their sum is what it can save
 * at most.  Then it says what sums do not.  What is given is ranked by that,
 * and said here, in one voice for all commands.
 */
#include "config.h"

#include <ctype.h>
#include <inttypes.h>

#include "analysis/advise/impl.h"
#include "base/order.h"
#include "base/sat.h"
#include "events/gpu.h"
#include "show/escape.h"

/* ---- places ---- */

/* What rows of a place have in common; padding is zero. */
struct place_key {
	const char *name, *at;
	uint64_t category;
};

static const char *place_of(const struct advise_row *r)
{
	if (*r->frame && (pf_name_has_line(r->frame) || !*r->op))
		return r->frame;
	return *r->op ? r->op : NULL;
}

static void add_place(struct pf_advice_place *p, const struct advise_row *r,
		      bool is_line, int64_t first_ns)
{
	const char *at = place_of(r);

	p->what = is_line ? "line" : pf_path_category_name(r->category);
	p->name = is_line ? at : *r->short_name ? r->short_name : NULL;
	p->at = is_line ? NULL : at;
	p->ns += r->ns;
	p->count += r->count;
	p->blocked_ns += r->blocked_ns;
	if (r->longest_ns > p->longest_ns) {
		p->longest_ns = r->longest_ns;
		p->from_ns = r->longest_at_ns - first_ns;
	}
}

PF_ORDER(by_time, struct pf_advice_place, PF_DOWN(ns) PF_UP(from_ns))
PF_ORDER(by_wait, struct pf_advice_place,
	 PF_DOWN(blocked_ns) PF_DOWN(ns) PF_UP(from_ns))

/* Rows differ in more than their place: put those of one together. */
static void find_places(const struct advise_tiles *t, bool by_line,
			struct pf_advice *a)
{
	struct pf_advice_place *all = NULL;
	struct pf_intern keys = { 0 };
	size_t cap = 0;

	for (size_t i = 0; i < t->row_count; i++) {
		const struct advise_row *r = &t->rows[i];
		bool is_line = by_line && pf_name_has_line(r->frame);
		struct place_key key = { is_line ? NULL : r->name, place_of(r),
					 is_line ? 0 : r->category };
		uint32_t known = keys.count, n;

		if (!(r->advice & a->bit))
			continue;
		n = pf_intern_add(&keys, (const char *)&key, sizeof(key));
		all = pf_grow(all, &cap, (size_t)n + 1, sizeof(*all));
		if (n == known)
			all[n] = (struct pf_advice_place){ .longest_ns = -1 };
		add_place(&all[n], r, is_line, t->first_ns);
	}
	pf_sort(all, keys.count, sizeof(*all), a->by_waits ? by_wait : by_time);
	a->place_count = 0;
	while (a->place_count < PF_ADVICE_PLACES &&
	       a->place_count < keys.count) {
		a->places[a->place_count] = all[a->place_count];
		a->place_count++;
	}
	free(all);
	pf_intern_release(&keys);
}

/* Of what advice is about: a place that holds as much is named. */
#define MUCH  (1.0 / 3)
#define WORTH 0.1 /* and beside a line a name, or of all without a GPU */

/* Does the first place hold most of it, or a wait that may be what costs it? */
static bool is_most(const struct pf_advice *a)
{
	const struct pf_advice_place *most = &a->places[0];

	return a->by_waits && most->blocked_ns
		       ? most->blocked_ns >= a->at_most_ns / 3
		       : most->ns >= a->on_path_ns / 2;
}

/* ---- ranges of the program's own, where no line is known ---- */

#define NO_RANGE  UINT32_MAX
#define ALL_OF_IT 0.98 /* of the path: it says no more than a step does */

/* Is a range of that name, or in one? */
static bool is_inside(const struct advise_tiles *t, uint32_t range,
		      uint32_t name)
{
	for (; range; range = t->range[range].outer)
		if (t->range[range].name == name)
			return true;
	return false;
}

/* Each name once, however often a part is in it. */
static void add_held(const struct advise_tiles *t, uint32_t range, int64_t ns,
		     int64_t *held)
{
	for (; range; range = t->range[range].outer)
		if (!is_inside(t, t->range[range].outer, t->range[range].name))
			held[t->range[range].name] += ns;
}

static bool is_of(const struct advise_row *r, const struct pf_advice_place *p)
{
	const char *at = place_of(r);

	return !strcmp(p->what, pf_path_category_name(r->category)) &&
	       !strcmp(r->short_name, p->name ? p->name : "") &&
	       !strcmp(at ? at : "", p->at ? p->at : "");
}

/*
 * Of all, of what advice is about, or of one of its places, which are by the
 * longest wait or by time: what ranges hold, by name, and what that is of.
 */
static int64_t add_ranges(const struct advise_tiles *t,
			  const struct pf_advice *a,
			  const struct pf_advice_place *place, int64_t *held)
{
	int64_t whole_ns = 0, ns;

	for (size_t i = 0; i < t->row_count; i++) {
		const struct advise_row *r = &t->rows[i];

		if ((a && !(r->advice & a->bit)) || (place && !is_of(r, place)))
			continue;
		for (size_t k = 0; k < r->part_count; k++) {
			ns = a && a->by_waits ? r->parts[k].blocked_ns
					      : r->parts[k].ns;
			add_held(t, r->parts[k].range, ns, held);
			whole_ns += ns;
		}
	}
	return whole_ns;
}

/*
 * The innermost that has most of it, if it is not around all of the path.  Of
 * one name there may be many, also in each other.
 */
static struct pf_advice_range find_range(const struct advise_tiles *t,
					 const struct pf_advice *a,
					 const struct pf_advice_place *place)
{
	const uint32_t count = t->range_name_count;
	PF_OWN int64_t *held = pf_calloc(count + 1, sizeof(*held));
	PF_OWN int64_t *all = pf_calloc(count + 1, sizeof(*all));
	uint32_t most = NO_RANGE;
	int64_t whole_ns, all_ns;

	if (!count)
		return (struct pf_advice_range){ 0 };
	whole_ns = add_ranges(t, a, place, held);
	for (uint32_t i = 0; whole_ns && i < count; i++)
		if (held[i] >= whole_ns - held[i] &&
		    (most == NO_RANGE || held[i] <= held[most]))
			most = i;
	all_ns = add_ranges(t, NULL, NULL, all);
	if (most == NO_RANGE || pf_num_share(all[most], all_ns) >= ALL_OF_IT)
		return (struct pf_advice_range){ 0 };
	return (struct pf_advice_range){ t->range_names[most],
					 held[most] == whole_ns };
}

/*
 * By name, or where none holds most of it and a line does, by line: that may be
 * all of a program, so the largest name is kept, too.  Without a line a range
 * of the program's own says where the first, or all, is.
 */
static void find_best_places(const struct advise_tiles *t, struct pf_advice *a)
{
	struct pf_advice_place largest;

	a->by_waits = a->on_path_ns < a->at_most_ns / 2;
	find_places(t, false, a);
	if (!a->place_count)
		return;
	a->places[0].range = find_range(t, a, &a->places[0]);
	if (is_most(a))
		return;
	largest = a->places[0];
	find_places(t, true, a);
	if (is_most(a)) {
		if (!a->by_waits && largest.name &&
		    strcmp(largest.name, a->places[0].name) != 0)
			a->largest = largest;
		return;
	}
	find_places(t, false, a);
	a->places[0].range = largest.range;
	if (!a->by_waits)
		a->range = find_range(t, a, NULL);
}

/* ---- one rule ---- */

static int64_t take_rows(struct pf_advise *a, const struct advise_rule *rule,
			 uint32_t bit)
{
	struct advise_tiles *t = a->tiles;
	int64_t ns = 0;

	if (rule->find)
		rule->find(a);
	for (size_t i = 0; rule->owns && i < t->row_count; i++) {
		if (!rule->owns(&t->rows[i]))
			continue;
		t->rows[i].advice |= bit;
		ns += t->rows[i].ns;
	}
	return ns;
}

/* Does the path's answer to a question say what is saved? */
static bool is_answer(const struct pf_advise *a, const char *question,
		      const struct pf_advice *out)
{
	const struct pf_path_answer *w =
		question ? advise_answer(a->tiles->path, question) : NULL;

	return w &&
	       (out->at_most_ns == PF_NO_INT || w->saved_ns == out->at_most_ns);
}

/* Without a path what it would say of one is said by other commands. */
static void say_command(const struct pf_advise *a,
			const struct pf_advise_args *args,
			const struct advise_rule *rule, struct pf_advice *out)
{
	bool is_apart = !a->has_path && !strcmp(rule->command, "path");
	/* without kernels the path has operators */
	bool is_of_ops = a->has_path && !a->has_work &&
			 !strcmp(rule->command, "kernels");
	const char *asked = out->asked ? out->asked : rule->question;

	if (!out->shown_by)
		out->shown_by = is_of_ops             ? "path"
				: !is_apart           ? rule->command
				: !a->has_work        ? "steps"
				: rule->apart_command ? rule->apart_command
						      : "gaps";
	pf_buf_addf(&out->command, "profan %s ", out->shown_by);
	pf_shell_word(&out->command, args->db_name);
	if (!strcmp(out->shown_by, "path") && is_answer(a, asked, out)) {
		pf_buf_adds(&out->command, " --what-if ");
		pf_shell_word(&out->command, asked);
	}
	if (!is_apart && rule->options)
		pf_buf_adds(&out->command,
			    is_of_ops ? " --group op" : rule->options);
	if (strcmp(out->shown_by, "doctor") != 0)
		pf_window_options(&args->window, &out->command);
}

/* A text of the trace as it may be shown, in "out". */
static const char *advise_text(const struct pf_advise_args *args,
			       const char *text, struct pf_buf *out)
{
	return args->show ? args->show(args->context, text, out) : text;
}

/* A kernel without what its template was made for, which may be long. */
static void say_kernel(const char *name, struct pf_buf *out)
{
	const char *open = *name ? strchr(name + 1, '<') : NULL;
	struct pf_buf text = { 0 };

	pf_buf_add(&text, name, open ? (size_t)(open - name) : strlen(name));
	if (open)
		pf_buf_adds(&text, "<...>");
	pf_say_name(out, text.data);
	pf_buf_release(&text);
}

static void say_name(const struct pf_advise_args *args,
		     const struct pf_advice_place *place, struct pf_buf *out)
{
	struct pf_buf shown = { 0 };
	const char *name = advise_text(args, place->name, &shown);

	if (!strcmp(place->what, pf_path_category_name(PF_PATH_KERNEL)))
		say_kernel(name, out);
	else
		pf_say_name(out, name);
	pf_buf_release(&shown);
}

/* "The largest part there, 12 %, is in NAME", behind the line that it is in. */
static void say_largest(const struct pf_advise_args *args,
			struct pf_advice *out)
{
	const struct pf_advice_place *largest = &out->largest;
	bool is_there;
	double part;

	if (!largest->name ||
	    pf_num_share(largest->ns, out->on_path_ns) < WORTH)
		return;
	is_there = largest->at && !strcmp(largest->at, out->places[0].name);
	part = pf_num_share(largest->ns,
			    is_there ? out->places[0].ns : out->on_path_ns);
	pf_buf_addf(&out->sentence, ". %she largest part%s, %s, is in ",
		    is_there ? "T" : "Beside it t", is_there ? " there" : "",
		    PF_SHOW_RATIO(part));
	say_name(args, largest, &out->sentence);
}

static void say_range(const struct pf_advise_args *args,
		      const struct pf_advice_range *range, const char *before,
		      struct pf_buf *out)
{
	struct pf_buf shown = { 0 };

	pf_buf_addf(out, "%sinside the range ", before);
	pf_say_name(out, advise_text(args, range->name, &shown));
	pf_buf_release(&shown);
}

/*
 * "Most of it is in NAME at LINE", where one place holds half of it or more, or
 * "inside the range NAME"; and what the largest of them holds.
 */
static void say_place(const struct pf_advise *a,
		      const struct pf_advise_args *args, struct pf_advice *out)
{
	const double least = a->has_work || !out->is_rest ? MUCH : WORTH;
	const struct pf_advice_place *most = out->places;
	const bool is_wait = out->by_waits && most->blocked_ns;
	const double part = pf_num_share(most->ns, out->on_path_ns);
	struct pf_buf shown = { 0 };

	if (out->place_count && out->range.name)
		say_range(args, &out->range, ". Most of it is ",
			  &out->sentence);
	if (!out->place_count || !most->name ||
	    (!is_most(out) && (is_wait || part < least)))
		return;
	if (is_most(out) && is_wait)
		pf_buf_addf(&out->sentence,
			    ". On it the host waits longest, %s, in ",
			    PF_SHOW_NS(most->blocked_ns));
	else if (is_most(out))
		pf_buf_adds(&out->sentence, ". Most of it is in ");
	else
		pf_buf_addf(&out->sentence, ". The largest part, %s, is in ",
			    PF_SHOW_RATIO(part));
	say_name(args, most, &out->sentence);
	if (most->at && strcmp(most->at, most->name) != 0) {
		pf_buf_adds(&out->sentence,
			    pf_name_has_line(most->at) ? " at " : " of ");
		pf_say_name(&out->sentence,
			    advise_text(args, most->at, &shown));
	}
	if (most->range.name && strcmp(most->range.name, most->name) != 0 &&
	    (!out->range.name ||
	     strcmp(most->range.name, out->range.name) != 0))
		say_range(args, &most->range,
			  most->range.is_all ? " " : ", mostly ",
			  &out->sentence);
	say_largest(args, out);
	pf_buf_release(&shown);
}

/*
 * "Without loading data at most 12 % of 6 steps (1 ms of 8 ms) would be saved,
 * and at least 500 us. On the critical path that is 2 ms", as it was worked
 * out anew: bounds, where all else takes as long as it did.  Where they are one
 * figure, that much is likely and not more than that, for what is left on the
 * host often runs faster without what is gone.
 */
static void say_answer(const struct pf_advise *a,
		       const struct advise_rule *rule, struct pf_advice *out)
{
	struct pf_buf *to = &out->sentence;
	bool is_likely = !rule->is_rest && out->likely_ns == out->at_most_ns;
	char ns[PF_NUM_MAX];

	pf_buf_addf(to, "Without %s %s",
		    out->subject ? out->subject : rule->subject,
		    is_likely ? "" : "at most ");
	pf_window_say_part(a->window, to, out->at_most_ns, out->whole_ns,
			   a->step_count);
	pf_buf_addf(to, " would %sbe saved", is_likely ? "likely " : "");
	if (out->likely_ns > 0 && out->likely_ns < out->at_most_ns)
		pf_buf_addf(to, ", and at least %s%s",
			    pf_num_show_ns(ns, out->likely_ns),
			    rule->likely ? " by hiding it" : "");
	out->is_said = true;
	if (out->on_path_ns == out->at_most_ns)
		return;
	/* the rest is what comes after it sooner */
	pf_buf_addf(to, ". On the critical path that is %s%s",
		    out->on_path_ns < out->at_most_ns / 2 ? "only " : "",
		    pf_num_show_ns(ns, out->on_path_ns));
}

/* What is said of "The GPU" is of the TPU where there is one. */
static void say_subject(const struct pf_advise *a, const char *subject,
			struct pf_buf *out)
{
	static const char gpu[] = "The GPU ";
	size_t skip =
		strncmp(subject, gpu, sizeof(gpu) - 1) ? 0 : sizeof(gpu) - 1;

	if (skip)
		pf_buf_addf(out, "The %s ", pf_window_device(a->window));
	pf_buf_addf(out, "%s ", subject + skip);
}

/*
 * "Copying holds 12 % of 6 steps (1 ms of 8 ms) on the critical path", or where
 * there is no path "The GPU waits for data 12 % of 6 steps (1 ms of 8 ms)".
 */
static void say_share(const struct pf_advise *a,
		      const struct pf_advise_args *args,
		      const struct advise_rule *rule, struct pf_advice *out)
{
	const bool is_own = !out->sentence.len;

	/* what a rule has said itself is all, but for what holds of it */
	if (!rule->subject ||
	    (out->sentence.len &&
	     pf_num_share(out->on_path_ns, out->whole_ns) < PF_ADVISE_SHOWN))
		return;
	if (out->sentence.len)
		pf_buf_adds(&out->sentence, ". ");
	if (!a->has_path)
		out->subject = a->has_work ? rule->apart : rule->alone;
	if (a->has_path && rule->question) {
		say_answer(a, rule, out);
	} else {
		say_subject(a, out->subject ? out->subject : rule->subject,
			    &out->sentence);
		pf_window_say_part(a->window, &out->sentence, out->on_path_ns,
				   out->whole_ns, a->step_count);
		if (a->has_path)
			pf_buf_adds(&out->sentence, " on the critical path");
	}
	if (is_own)
		out->place_at = out->sentence.len;
	/* without all of its work a program takes no time: nobody asks that */
	out->is_said |= out->is_rest && !a->has_work &&
			out->at_most_ns == out->on_path_ns;
	say_place(a, args, out);
}

void pf_advice_say_gain(const struct pf_advice *v, struct pf_buf *out)
{
	char text[PF_NUM_MAX];

	if (v->at_most_ns == PF_NO_INT || v->is_said)
		return;
	pf_buf_addf(out, "At most %s", pf_num_show_ns(text, v->at_most_ns));
	pf_buf_addf(out, " (%s) would be saved",
		    pf_num_show_ratio(text, v->measured));
	if (v->cap)
		pf_buf_addf(out, ", %s", v->cap);
}

/* What it saves, or where nothing bounds that holds. */
static int64_t weight_of(const struct pf_advice *v)
{
	return (v->at_most_ns == PF_NO_INT ? v->on_path_ns : v->at_most_ns) -
	       v->unsure_ns;
}

#define BUSY 0.95 /* of what is behind what was queued: GPU work is all */

/* Is most of a row of the path what advice that is given is about? */
static bool is_advised(const struct pf_advise *a, const struct pf_path_row *row)
{
	const char *name = row->name ? row->name : "";
	uint32_t bits = 0;
	int64_t ns = 0;

	for (size_t i = 0; i < a->given; i++)
		bits |= a->all[i].bit;
	for (size_t i = 0; i < a->tiles->row_count; i++) {
		const struct advise_row *r = &a->tiles->rows[i];

		if (r->advice & bits && (int)r->category == row->in &&
		    !strcmp(r->name, name))
			ns += r->ns;
	}
	return ns > row->ns / 2;
}

bool pf_advise_say_rest(const struct pf_advise *a,
			const struct pf_advise_args *args, struct pf_buf *out)
{
	const struct pf_path *p = a->tiles->path;
	const struct pf_path_row *most = p->rows; /* by category and name */
	struct pf_buf shown = { 0 };

	if (pf_path_say_behind(p, out))
		return true;
	if (!p->row_count || (a->given && most->ns <= weight_of(a->all)))
		return false;
	if (most->in == PF_PATH_QUEUED && p->row_count > 1 &&
	    pf_num_share(p->gpu_ns, p->rest_ns) >= BUSY)
		most++;
	/* which may all bear one name */
	if (p->bare_ns >= most->ns) {
		advise_say_bare(a, pf_num_share(p->bare_ns, p->window_ns), out);
		return true;
	}
	if (is_advised(a, most) || most->share < PF_ADVISE_SHOWN)
		return false;
	if (most->short_name && !pf_path_is_before(most->in)) {
		say_kernel(advise_text(args, most->short_name, &shown), out);
		pf_buf_adds(out, " holds ");
		pf_path_say_share(p, most->share, out);
		pf_buf_addf(out, ", %s", pf_path_category_phrase(most->in));
		if (pf_name_is_whole_graph(most->short_name))
			pf_buf_addf(out, "; %s",
				    pf_hint(a->producer, PF_HINT_GRAPHS));
	} else {
		pf_path_say_share(p, most->share, out);
		pf_buf_addf(out, " is %s", pf_path_category_phrase(most->in));
		if (most->short_name) {
			pf_buf_adds(out, ", before ");
			say_kernel(advise_text(args, most->short_name, &shown),
				   out);
		}
	}
	pf_buf_release(&shown);
	return true;
}

/* A change that the path was worked out with saves what that says. */
static void take_answer(const struct pf_advise *a,
			const struct advise_rule *rule, struct pf_advice *out)
{
	const struct pf_path_answer *w =
		rule->question ? advise_answer(a->tiles->path, rule->question)
			       : NULL;

	if (!w)
		return;
	/* less than all that the question is about may be its own */
	if (w->bound_ns == PF_NO_INT || w->saved_ns < out->on_path_ns)
		out->at_most_ns = w->saved_ns > 0 ? w->saved_ns : 0;
	w = rule->likely ? advise_answer(a->tiles->path, rule->likely) : w;
	if (w && w->least_ns <= out->at_most_ns)
		out->likely_ns = w->least_ns;
}

/* What no change to its rows beats: as if there were no such time; or NULL. */
static const char *cap_of(const struct pf_advise *a,
			  const struct advise_rule *rule,
			  const struct pf_advice *out)
{
	bool is_kernels = true, is_host = !rule->question && !rule->is_left_out;

	for (size_t i = 0; i < a->tiles->row_count; i++) {
		const struct advise_row *r = &a->tiles->rows[i];

		if (!(r->advice & out->bit))
			continue;
		is_kernels &= advise_is_kernel(r);
		is_host &= advise_is_host(r);
	}
	/* who needs fewer kernels saves more than the host's time for them */
	return is_kernels              ? rule->cap
	       : is_host && !rule->cap ? ADVISE_FREE_HOST
				       : NULL;
}

/*
 * Faster kernels save no more than none would, for the host that launches them
 * may be hardly ahead of them; nor a faster host more than one that takes no
 * time.
 */
static void cap(const struct pf_advise *a, const struct advise_rule *rule,
		struct pf_advice *out)
{
	const char *question = cap_of(a, rule, out);
	const struct pf_path_answer *none =
		question ? advise_answer(a->tiles->path, question) : NULL;

	if (!none || !out->on_path_ns || none->saved_ns >= out->at_most_ns)
		return;
	out->at_most_ns = none->saved_ns > 0 ? none->saved_ns : 0;
	out->measured = pf_num_share(out->at_most_ns, a->window_ns);
	if (strcmp(out->confidence, "hint") != 0)
		out->confidence = "model";
	out->cap = question == rule->cap ? "as without any kernel"
					 : "as with a host that takes no time";
}

/*
 * What the host no longer does lets streams run beside each other, too: a GPU
 * that works all the time is not done sooner.
 */
static void say_beyond_idle(const struct pf_advise *a, struct pf_advice *out)
{
	const struct pf_overlap *o = a->from->overlap;
	int64_t idle_ns;

	/* busy time of another window bounds nothing */
	if (!a->has_path || !out->on_path_ns || out->at_most_ns == PF_NO_INT ||
	    !o || o->device_count != 1 || o->all.total_ns > a->window_ns)
		return;
	for (size_t i = 0; i < a->tiles->row_count; i++) {
		const struct advise_row *r = &a->tiles->rows[i];

		if (r->advice & out->bit && !advise_is_host(r) &&
		    r->category != PF_PATH_LAUNCH_DELAY &&
		    r->category != PF_PATH_GAP && r->category != PF_PATH_RETURN)
			return;
	}
	idle_ns = a->window_ns - o->all.busy_ns;
	if (idle_ns >= 0 && pf_num_share(out->at_most_ns - idle_ns,
					 a->window_ns) >= PF_ADVISE_SHOWN)
		pf_buf_addf(advise_next(out),
			    "The GPU is idle for only %s: more is saved only "
			    "where streams then run side by side",
			    PF_SHOW_NS(idle_ns));
}

#define MUCH_BEFORE 0.1 /* of what advice holds */

/* What the steps of the window did not launch is none that they repeat. */
static void say_before(const struct pf_advise *a, struct pf_advice *out)
{
	const int64_t before = advise_held(a, out->bit, ADVISE_BEFORE);

	if (before && pf_num_share(before, out->on_path_ns) >= MUCH_BEFORE)
		pf_buf_addf(advise_next(out),
			    "%s of what it holds is " PF_GPU_BEFORE_WORDS
			    ": later steps save less",
			    PF_SHOW_NS(before));
}

static bool is_about_time(const struct pf_advise *a)
{
	return a->has_path || a->has_work || !a->from->steps ||
	       pf_step_times_is_divided(a->from->steps);
}

static bool is_judgeable(const struct pf_advise *a,
			 const struct advise_rule *rule, struct pf_advice *out)
{
	const bool is_torch = advise_is_torch(a);

	if (!a->has_path && (!a->from->gaps || !a->from->gaps->window.count))
		advise_not_judged(out, "there is nothing whose end could be "
				       "explained");
	else if (!is_about_time(a))
		advise_not_judged(out, "neither operators, calls nor GPU work "
				       "are recorded");
	else if (!a->has_work && rule->needs != ADVISE_NEEDS_PATH &&
		 rule->needs != ADVISE_NEEDS_OPS)
		advise_not_judged(out, "there is no GPU work in this trace");
	else if (!a->has_path && !rule->apart)
		advise_not_judged(out, a->from->gaps->window.count > 1
					       ? "it needs a critical path, "
						 "which is of one trace: "
						 "--rank N"
					       : "it needs a critical path");
	else if (rule->needs >= ADVISE_NEEDS_TORCH && !is_torch)
		advise_not_judged(out,
				  "no operators of PyTorch launch GPU work "
				  "or are on the critical path");
	else if (!a->has_path && !a->has_work && rule->causes && !rule->alone)
		advise_not_judged(out, "there is no GPU work in this trace");
	else
		return true;
	return false;
}

/* ---- without a path: what is idle, or exposed, bounds nothing ---- */

/* Idle time of the causes, and the places that hold most of it. */
static void take_apart(const struct pf_advise_from *from,
		       const struct advise_rule *rule, struct pf_advice *out)
{
	const struct pf_gaps *g = from->gaps;

	out->at_most_ns = PF_NO_INT;
	out->whole_ns = g->all.window_ns;
	out->on_path_ns = rule->apart_ns ? rule->apart_ns(from, &out->whole_ns)
					 : advise_idle_of(g, rule->causes);
	for (size_t i = 0; i < g->culprit_count; i++) {
		const struct pf_gap_culprit *c = &g->culprits[i];
		const bool is_range = c->place.frame == PF_ID_NONE;

		if (!(rule->causes & 1u << c->place.cause) || rule->is_spread ||
		    c->ns > out->on_path_ns || !(c->name || c->frame) ||
		    out->place_count == PF_ADVICE_PLACES)
			continue;
		out->places[out->place_count++] = (struct pf_advice_place){
			.what = c->cause,
			.name = c->short_name ? c->short_name : c->name,
			.at = is_range || !c->frame ? c->op : c->frame,
			.range = { is_range ? c->frame : NULL, true },
			.ns = c->ns,
			.count = c->count,
			.longest_ns = c->longest_ns,
			.from_ns = PF_NO_INT,
		};
	}
	out->measured = pf_num_share(out->on_path_ns, out->whole_ns);
	out->confidence = "hint";
}

static void take_path(struct pf_advise *a, const struct advise_rule *rule,
		      struct pf_advice *out)
{
	out->whole_ns = a->window_ns;
	out->on_path_ns = take_rows(a, rule, out->bit);
	out->at_most_ns = out->on_path_ns;
	take_answer(a, rule, out);
	out->measured = pf_num_share(out->at_most_ns, a->window_ns);
}

#define HIDDEN_SHARE 0.1 /* of the window: worth looking for */

/* What a GPU does behind a host that may be so slow by the profiler alone. */
static bool say_hidden(const struct pf_advise *a,
		       const struct advise_rule *rule, struct pf_advice *out)
{
	char why[160];
	int64_t gpu_ns, whole_ns;
	double part;

	if (!a->has_path || !a->tiles->path->recorded.dense_count ||
	    !rule->cap || !rule->apart_ns)
		return false;
	gpu_ns = rule->apart_ns(a->from, &whole_ns);
	part = pf_num_share(gpu_ns, a->window_ns);
	if (!(part >= HIDDEN_SHARE))
		return false;
	snprintf(why, sizeof(why),
		 "the GPU spends %s (%s) on it, behind a host that recording "
		 "slowed: time steps without the profiler",
		 PF_SHOW_NS(gpu_ns), PF_SHOW_RATIO(part));
	advise_not_judged(out, why);
	return true;
}

/* A cause that is not on the path may be in what no record explains. */
static void say_below(const struct pf_advise *a, const struct advise_rule *rule,
		      struct pf_advice *out)
{
	const struct pf_path *p = a->tiles->path;
	char share[PF_NUM_MAX];
	const char *does = a->has_path ? "would save" : "holds";
	struct pf_buf why = { 0 };

	if (a->has_path && p->unexplained_ns > p->window_ns / 2) {
		pf_buf_adds(&why, "no record explains ");
		pf_path_say_share(
			p, pf_num_share(p->unexplained_ns, p->window_ns), &why);
		advise_not_judged(out, why.data);
		pf_buf_release(&why);
		return;
	}
	if (say_hidden(a, rule, out))
		return;
	if (out->measured != 0)
		pf_buf_addf(&why, "it %s %s, less than %s", does,
			    pf_num_show_ratio(share, out->measured),
			    PF_SHOW_RATIO(out->threshold));
	else
		pf_buf_addf(&why, "it %s nothing", does);
	advise_fine(out, why.data);
	pf_buf_release(&why);
}

/* ---- what to do, in words of the reader's framework ---- */

#define TORCH "PyTorch"
#define JAX   "JAX"
#define TF    "TensorFlow"
/* PyTorch, recorded by its own profiler, which has what is to be set. */
#define PROFILER "torch.profiler"

/* Framework NULL: any.  Of a rule the first that fits counts. */
static const struct {
	const char *id, *framework, *variant, *remedy, *code;
} remedies[] = {
	{ "A1", TORCH, "no workers",
	  "the loader has no workers: give it processes of its "
	  "own, as many as there are CPU cores to spare",
	  "DataLoader(dataset, num_workers=4, persistent_workers=True,\n"
	  "           pin_memory=True)" },
	{ "A1", TORCH, "no workers, no GPU",
	  "the loader has no workers: give it processes of its "
	  "own, as many as there are CPU cores to spare",
	  "DataLoader(dataset, num_workers=4, persistent_workers=True)" },
	{ "A1", TORCH, "new workers",
	  "workers are started here, as at each pass over the data: keep them "
	  "from one to the next",
	  "DataLoader(dataset, num_workers=4, persistent_workers=True)" },
	{ "A1", TORCH, "batches",
	  "it does not wait for the workers, but takes batches over from "
	  "them: pass fewer and larger tensors",
	  "DataLoader(dataset, num_workers=4, collate_fn=into_few_tensors)" },
	{ "A1", TORCH, "workers",
	  "the workers do not keep up: more of them, more batches ahead, or "
	  "cheaper transforms",
	  "DataLoader(dataset, num_workers=8, prefetch_factor=4,\n"
	  "           persistent_workers=True)" },
	{ "A1", TF, NULL,
	  "read and transform in parallel, and prepare batches ahead",
	  "ds = ds.map(f, num_parallel_calls=tf.data.AUTOTUNE)\n"
	  "ds = ds.batch(n).prefetch(tf.data.AUTOTUNE)" },
	{ "A1", JAX, NULL,
	  "load the next batch in another thread, and put it on the device "
	  "while this one is computed",
	  "grain.MapDataset.source(data).to_iter_dataset(\n"
	  "    grain.ReadOptions(num_threads=16, prefetch_buffer_size=500))" },
	{ "A1", NULL, NULL,
	  "load the next batch in another thread or process while this one is "
	  "computed",
	  NULL },
	{ "A2", NULL, "paged",
	  "the host reads it page by page: prefetch it to the host, or copy it "
	  "to a buffer of the host's",
	  "cudaMemPrefetchAsync(p, bytes, cudaCpuDeviceId, stream);" },
	{ "A2", TORCH, NULL,
	  "let the loader pin its batches, and copy without waiting",
	  "DataLoader(dataset, pin_memory=True)\n"
	  "batch = batch.to(device, non_blocking=True)" },
	{ "A2", JAX, NULL,
	  "put the next batch on the device before this step is waited for: "
	  "device_put does not wait",
	  "following = jax.device_put(next(batches))" },
	{ "A2", TF, NULL, "let the dataset copy batches ahead",
	  "ds = ds.apply(tf.data.experimental.prefetch_to_device('/gpu:0'))" },
	{ "A2", NULL, NULL,
	  "allocate host buffers with cudaMallocHost or hipHostMalloc, and "
	  "copy without waiting, on a stream of its own",
	  NULL },
	{ "A25", TORCH, "results",
	  "copy results into pinned memory while the next part is computed, or "
	  "keep them on the GPU",
	  "pinned.copy_(result, non_blocking=True)" },
	{ "A25", TORCH, NULL,
	  "keep on the GPU what is used again, or copy the next part on a "
	  "stream of its own while this one is computed",
	  "with torch.cuda.stream(copies):\n"
	  "    following = host.to(device, non_blocking=True)\n"
	  "torch.cuda.current_stream().wait_stream(copies)" },
	{ "A25", NULL, NULL,
	  "keep on the device what is used again, or copy the next part on a "
	  "stream of its own while this one is computed",
	  NULL },
	{ "A3", TORCH, "item",
	  "keep results on the GPU and read them every so many steps, not in "
	  "each; boolean indexing and nonzero() wait for a size: use where()",
	  "total += loss.detach()      # no .item() here\n"
	  "if step % 100 == 0:\n"
	  "    print(total.item())" },
	{ "A3", TORCH, "explicit",
	  "the script itself waits, as for timing: leave it out, or time with "
	  "events",
	  "start.record(); ...; end.record()\n"
	  "# later: start.elapsed_time(end)" },
	{ "A3", TORCH, "collective",
	  "the host waits for a collective, and so for the slowest rank: let "
	  "only the stream wait for it, and leave barriers out of steps",
	  "work = dist.all_reduce(t, async_op=True); ...; work.wait()\n"
	  "# no dist.barrier() or torch.cuda.synchronize() in steps" },
	{ "A3", TORCH, "copy",
	  "copy results back without waiting, and read them a step later",
	  "host = result.to('cpu', non_blocking=True)" },
	{ "A3", TORCH, "pageable",
	  "it waits for what comes before a copy from pageable memory: keep "
	  "the tensor on the GPU, or pin it and copy without waiting",
	  "x = x.pin_memory().to(device, non_blocking=True)" },
	{ "A3", NULL, "launches",
	  "each call that launches work waits until it is done, as where "
	  "somebody looks for an error",
	  "unset CUDA_LAUNCH_BLOCKING HIP_LAUNCH_BLOCKING "
	  "AMD_SERIALIZE_KERNEL" },
	{ "A3", NULL, "other launches",
	  "each call that launches work waits until it is done: let the device "
	  "take work ahead, if it can",
	  NULL },
	{ "A3", TORCH, "anywhere",
	  "read results less often, and wait for an event instead of the "
	  "device",
	  NULL },
	{ "A3", TORCH, NULL,
	  "this operator waits by itself: call it less often, or choose one "
	  "that does not",
	  NULL },
	{ "A3", JAX, NULL,
	  "keep results on the device: float(), np.asarray() and "
	  "block_until_ready() wait for all before them",
	  "if step % 100 == 0:\n"
	  "    print(float(loss))" },
	{ "A3", TF, NULL,
	  "keep results as tensors: numpy() and print() of one wait for it",
	  "if step % 100 == 0:\n"
	  "    print(loss.numpy())" },
	{ "A3", NULL, NULL,
	  "wait later, and for an event instead of the device", NULL },
	{ "A4", TORCH, "vllm/",
	  "let the server replay its steps as CUDA graphs, as it does unless "
	  "it is told not to, and capture the batch sizes that it serves",
	  "vllm serve MODEL    # without --enforce-eager\n"
	  "LLM(model, enforce_eager=False)" },
	{ "A4", TORCH, "sglang/",
	  "let the server replay its steps as CUDA graphs, as it does unless "
	  "it is told not to, and capture the batch sizes that it serves",
	  "python -m sglang.launch_server --cuda-graph-max-bs N\n"
	  "# without --disable-cuda-graph" },
	{ "A4", TORCH, "compiled",
	  "parts are compiled already: let CUDA graphs launch them, too",
	  "torch.compile(model, mode='reduce-overhead')" },
	{ "A4", TORCH, "compiled graphs",
	  "parts are compiled and replayed as graphs already: compile what "
	  "launches the rest, too, or give each step more samples",
	  NULL },
	{ "A4", TORCH, "graph breaks",
	  "parts are compiled already: look for graph breaks, and let CUDA "
	  "graphs launch what is left",
	  "TORCH_LOGS=graph_breaks python train.py\n"
	  "torch.compile(model, mode='reduce-overhead', fullgraph=True)" },
	{ "A4", TORCH, "no graphs", "compile the model, which fuses kernels",
	  "model = torch.compile(model)" },
	{ "A4", TORCH, NULL,
	  "compile the model, which fuses kernels, and replay the step as a "
	  "CUDA graph where its shapes do not change",
	  "model = torch.compile(model, mode='reduce-overhead')" },
	{ "A4", JAX, NULL,
	  "compile the whole step as one function, and let loops run in it",
	  "step = jax.jit(step, donate_argnums=0)\n"
	  "state, losses = jax.lax.scan(step, state, batches)" },
	{ "A4", TF, NULL, "compile the whole step, which fuses kernels",
	  "@tf.function(jit_compile=True)\ndef step(batch): ..." },
	{ "A4", NULL, NULL,
	  "fuse small kernels, and launch those that repeat as one CUDA or "
	  "HIP graph",
	  NULL },
	{ "A5", TORCH, NULL,
	  "find what changes from call to call (shapes, Python values) and "
	  "makes it compile again",
	  "TORCH_LOGS=recompiles python train.py\n"
	  "torch.compile(model, dynamic=True)" },
	{ "A5", JAX, NULL,
	  "keep shapes and static arguments the same, or keep what was "
	  "compiled",
	  "jax.config.update('jax_explain_cache_misses', True)\n"
	  "jax.config.update('jax_compilation_cache_dir', folder)" },
	{ "A5", TF, NULL, "pass tensors of one signature, not Python values",
	  "@tf.function(reduce_retracing=True)\ndef step(batch): ..." },
	{ "A5", NULL, NULL, "keep shapes the same, so that it compiles once",
	  NULL },
	{ "A6", TORCH, "double",
	  "compute in single precision where the results allow it, from the "
	  "data on",
	  "torch.set_default_dtype(torch.float32)\n"
	  "model = model.float(); x = x.float()" },
	{ "A6", TORCH, "tf32",
	  "let products round to TF32, or run them in bfloat16 where the model "
	  "allows it",
	  "torch.set_float32_matmul_precision('high')\n"
	  "with torch.autocast('cuda', dtype=torch.bfloat16): ..." },
	{ "A6", TORCH, "bf16",
	  "run products in bfloat16 where the model allows it",
	  "with torch.autocast('cuda', dtype=torch.bfloat16): ..." },
	{ "A6", TORCH, "fp16",
	  "run products in half precision where the model allows it, and scale "
	  "the loss; this GPU has neither TF32 nor bfloat16",
	  "with torch.autocast('cuda', dtype=torch.float16): ...\n"
	  "scaler = torch.amp.GradScaler()" },
	{ "A6", JAX, NULL, "let products round, or compute in bfloat16",
	  "jax.config.update('jax_default_matmul_precision', 'tensorfloat32')\n"
	  "x.astype(jnp.bfloat16)" },
	{ "A6", TF, NULL, "compute in mixed precision",
	  "tf.keras.mixed_precision.set_global_policy('mixed_bfloat16')" },
	{ "A6", NULL, NULL, "multiply in reduced precision", NULL },
	{ "A7", TORCH, NULL,
	  "call the fused kernel instead of product, softmax and product",
	  "out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)" },
	{ "A8", TORCH, "other",
	  "torch has no fused kernel for this optimizer: compile its step",
	  "step = torch.compile(optimizer.step)" },
	{ "A8", TORCH, "no GPU",
	  "update a parameter in one pass instead of one an operation",
	  "torch.optim.AdamW(params, fused=True)   # or SGD, Adam, Adagrad" },
	{ "A8", TORCH, "foreach",
	  "one kernel for all parameters instead of one an operation",
	  "torch.optim.AdamW(params, fused=True)   # or SGD, Adam, Adagrad" },
	{ "A8", TORCH, NULL,
	  "update all parameters together instead of one after the other",
	  "torch.optim.SGD(params, lr, fused=True) # or AdamW; or "
	  "foreach=True" },
	{ "A9", TORCH, NULL, "keep images with channels last",
	  "model = model.to(memory_format=torch.channels_last)\n"
	  "x = x.to(memory_format=torch.channels_last)" },
	{ "A9", NULL, NULL, "keep tensors in the layout of the convolutions",
	  NULL },
	{ "A23", NULL, NULL,
	  "pad vocabularies, features and lengths of sequences to multiples of "
	  "8, better of 64: tensor cores then load 16 bytes at a time",
	  "size = (size + 63) // 64 * 64" },
	{ "A24", TORCH, NULL,
	  "checkpoint no more blocks than the memory needs, or keep what takes "
	  "long to compute",
	  "x = checkpoint(block, x, use_reentrant=False) if i % 2 else "
	  "block(x)\n"
	  "create_selective_checkpoint_contexts([torch.ops.aten.mm.default])" },
	{ "A10", TORCH, "compiled graphs",
	  "compiled graphs copy what they are given and what they return: "
	  "compile larger parts, or keep inputs where they are",
	  "torch._dynamo.mark_static_address(x)" },
	{ "A10", TORCH, NULL,
	  "make tensors in the type, on the device and in the layout in which "
	  "they are used; avoid contiguous() and clone() on the way",
	  "torch.ones(n, device=x.device, dtype=x.dtype)" },
	{ "A11", TORCH, "room",
	  "give each step more samples: the GPU and its memory have room",
	  "DataLoader(dataset, batch_size=2 * batch_size)" },
	{ "A11", TORCH, NULL,
	  "do in one call what is alike, on stacked tensors, or run what is "
	  "independent on other streams",
	  "torch.linalg.qr(torch.stack(matrices)); torch.func.vmap(f)(batch)\n"
	  "with torch.cuda.stream(other): ..." },
	{ "A11", JAX, NULL, "do in one call what is alike, on stacked arrays",
	  "jax.vmap(f)(jnp.stack(arrays))" },
	{ "A11", NULL, NULL,
	  "do in one call what is alike, or run what is independent on other "
	  "streams",
	  NULL },
	{ "A12", TORCH, "driver",
	  "let torch keep the memory that it frees: its caching allocator is "
	  "off, or gives all back",
	  "unset PYTORCH_NO_CUDA_MEMORY_CACHING PYTORCH_NO_HIP_MEMORY_CACHING\n"
	  "# and no torch.cuda.empty_cache() in steps" },
	{ "A12", NULL, "once",
	  "profile several steps behind a warm-up: a pool asks the driver "
	  "while it grows",
	  NULL },
	{ "A12", TORCH, NULL,
	  "let segments grow instead of allocating new ones, drop what is not "
	  "needed, or compute activations again",
	  "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\n"
	  "torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)" },
	{ "A13", NULL, "late",
	  "one rank is late, and the others wait: find what it does meanwhile",
	  NULL },
	{ "A13", NULL, "stages",
	  "it waits for what a neighbour sends: give each stage as much to do, "
	  "or split the batch into more pieces",
	  NULL },
	{ "A13", TORCH, "barrier",
	  "leave barriers out of steps: they send nothing, and collectives "
	  "wait for all ranks anyway",
	  "# no dist.barrier() in steps" },
	{ "A13", TORCH, "many",
	  "join small ones: communicate one flat tensor, or let "
	  "DistributedDataParallel put gradients into buckets",
	  "flat = torch.cat([p.grad.flatten() for p in params])\n"
	  "dist.all_reduce(flat)" },
	{ "A13", TORCH, "small",
	  "many small messages: put gradients into larger buckets",
	  "DistributedDataParallel(model, bucket_cap_mb=100)" },
	{ "A13", TORCH, NULL,
	  "start communication earlier and let it run beside computation",
	  "DistributedDataParallel(model, gradient_as_bucket_view=True)\n"
	  "work = dist.all_reduce(t, async_op=True); ...; work.wait()" },
	{ "A13", JAX, NULL,
	  "let the compiler run collectives beside computation",
	  "XLA_FLAGS=--xla_gpu_enable_latency_hiding_scheduler=true" },
	{ "A13", NULL, NULL,
	  "start communication earlier, and let other work run beside it",
	  NULL },
	{ "A14", NULL, "asked",
	  "the program asks for it: do that every so many steps, or leave it "
	  "to Python; gc.freeze() leaves out what lives on",
	  "if step % 1000 == 0: gc.collect()" },
	{ "A14", NULL, NULL,
	  "freeze what lives on, and collect by hand between steps",
	  "gc.freeze(); gc.disable()\n"
	  "if step % 1000 == 0: gc.collect()" },
	{ "A15", TORCH, NULL, "drop gradients instead of filling them with 0",
	  "optimizer.zero_grad(set_to_none=True)" },
	{ "A16", PROFILER, "steps",
	  "tell the profiler where a step ends: without a schedule it records "
	  "no steps",
	  "profile(schedule=torch.profiler.schedule(wait=1, warmup=1, "
	  "active=3),\n"
	  "        ...) as prof: ...\n"
	  "prof.step()   # at the end of each step" },
	{ "A16", PROFILER, "stacks", "record Python functions, with_stack=True",
	  "profile(with_stack=True, ...)" },
	{ "A16", TF, "stacks", "record Python functions",
	  "tf.profiler.experimental.ProfilerOptions(python_tracer_level=1)\n"
	  "with tf.profiler.experimental.Trace('part'): ..." },
	{ "A16", JAX, "stacks", "record Python functions",
	  "options = jax.profiler.ProfileOptions()\n"
	  "options.python_tracer_level = 1" },
	{ "A16", NULL, "steps", "name the ranges that are steps",
	  "--steps REGEX" },
	{ "A17", TORCH, "dense",
	  "where few rows of an embedding are used, let its gradient hold no "
	  "others",
	  "nn.Embedding(n, d, sparse=True)   # SGD, Adagrad, SparseAdam" },
	{ "A17", TORCH, NULL, "sort once, and sum by segments",
	  "torch.segment_reduce(values[order], 'sum', lengths=counts)" },
	{ "A18", NULL, NULL, "do it every so many steps, or in another thread",
	  "if step % 100 == 0: log(...)" },
	{ "A19", TORCH, NULL, "compile the function that holds them",
	  "@torch.compile\ndef activation(x): ..." },
	{ "A19", NULL, NULL, "write them as one kernel", NULL },
	{ "A21", TORCH, "traced",
	  "the stack of each operator is written down, as torch does to "
	  "detect anomalies: switch that off",
	  "torch.autograd.set_detect_anomaly(False)" },
	{ "A21", TORCH, "compiled",
	  "parts are compiled already: compile what is not, do it for more "
	  "samples at once, or try another number of threads",
	  "torch.set_num_threads(n)" },
	{ "A21", TORCH, "no GPU",
	  "compile the function that holds it, do it for more samples at "
	  "once, or try another number of threads",
	  "model = torch.compile(model)\n"
	  "torch.set_num_threads(n)" },
	{ "A21", JAX, "one by one",
	  "operators run one by one: compile the step as one function",
	  "step = jax.jit(step)" },
	{ "A21", TF, "one by one",
	  "operators run one by one: compile the step as one function",
	  "step = tf.function(step)" },
	{ "A21", NULL, "waits",
	  "the program itself waits there, for time to pass, a lock, a file, "
	  "or who else works: find out what for",
	  NULL },
	{ "A21", NULL, "Python",
	  "do less of it, in larger pieces by a library that is compiled, or "
	  "in other processes",
	  NULL },
	{ "A21", PROFILER, "range",
	  "nothing is recorded in that range: functions, or ranges of your "
	  "own, say what it does",
	  "profile(with_stack=True, ...)\n"
	  "with torch.profiler.record_function('part'): ..." },
	{ "A21", NULL, "range",
	  "nothing is recorded in that range: ranges of your own say what it "
	  "does",
	  NULL },
	{ "A21", JAX, "no GPU",
	  "compile larger parts as one function, or do it for more samples at "
	  "once",
	  "step = jax.jit(step); jax.vmap(f)(batch)" },
	{ "A21", NULL, "no GPU",
	  "do less of it, do it for more samples at once, or try another "
	  "number of threads",
	  NULL },
	{ "A21", NULL, "once",
	  "one call is most of it: run it before the profile begins, which "
	  "shows "
	  "whether it is a first use; else let the device do it",
	  NULL },
	{ "A21", NULL, NULL,
	  "do less of it, do it in another thread or process while the device "
	  "works, or let the device do it",
	  NULL },
	{ "A22", TORCH, "not the first",
	  "steps ran before it, unrecorded: see what it does that later ones "
	  "do not, or leave it out",
	  "--skip-first 1" },
	{ "A22", PROFILER, NULL,
	  "run the same work a few times before the profiler records",
	  "schedule=torch.profiler.schedule(wait=1, warmup=2, active=5)" },
	{ "A22", NULL, NULL,
	  "run the same work a few times before the profiler records", NULL },
	{ "A20", TORCH, NULL,
	  "decode for many requests at once, so that reading the weights once "
	  "serves all of them, and replay the step as a CUDA graph",
	  "decode = torch.compile(decode, mode='reduce-overhead')" },
};

/* In place of the rule's. */
static const struct {
	const char *id, *framework, *variant, *title;
} titles[] = {
	{ "A1", TORCH, "new workers", "keep the DataLoader's workers" },
	{ "A1", TORCH, "batches", "fewer and larger tensors a batch" },
	{ "A1", TF, NULL, "parallel input, or cheaper transforms" },
	{ "A1", JAX, NULL, "parallel input, or cheaper transforms" },
	{ "A2", NULL, "paged", "copy managed memory back at once" },
	{ "A3", TORCH, "explicit", "fewer waits of the script" },
	{ "A3", TORCH, "pageable", "copies to the GPU that do not wait" },
	{ "A3", NULL, "launches", "launches that do not wait" },
	{ "A3", NULL, "other launches", "launches that do not wait" },
	{ "A3", TORCH, "collective",
	  "let the stream wait for collectives, not the host" },
	{ "A4", TORCH, "no graphs", "fewer, larger kernels: torch.compile" },
	{ "A6", NULL, "double", "single precision for products" },
	{ "A12", TORCH, "driver", "keep memory instead of asking the driver" },
	{ "A13", NULL, "stages", "stages that take as long, or more pieces" },
	{ "A13", TORCH, "barrier", "no barriers in steps" },
	{ "A13", TORCH, "many", "fewer, larger collectives" },
	{ "A21", NULL, "no GPU",
	  "less, or faster, operators and Python on the CPU" },
	{ "A21", NULL, "waits", "less waiting on the host" },
	{ "A21", NULL, "Python", "less, or faster, Python on the host" },
	{ "A21", NULL, "compiled",
	  "less, or faster, operators and Python on the CPU" },
};

static bool is_written_in(const struct pf_advise *a, const char *framework)
{
	if (framework && !strcmp(framework, PROFILER))
		return advise_is_torch_profiled(a);
	return !framework || (a->framework && !strcmp(framework, a->framework));
}

/* Is a row of these tables about it?  What it does not name may be any. */
#define IS_ABOUT(row, advice, judged, its_variant)                             \
	(!strcmp((row).id, (advice)->id) &&                                    \
	 is_written_in(judged, (row).framework) &&                             \
	 (!(row).variant || !strcmp((row).variant, its_variant)))

static void find_remedy(const struct pf_advise *a, struct pf_advice *out,
			const char *variant)
{
	for (size_t i = 0; i < PF_LEN(titles); i++)
		if (IS_ABOUT(titles[i], out, a, variant))
			out->title = titles[i].title;
	for (size_t i = 0; i < PF_LEN(remedies); i++) {
		if (!IS_ABOUT(remedies[i], out, a, variant))
			continue;
		out->remedy = remedies[i].remedy;
		out->code = remedies[i].code;
		return;
	}
}

#define STALL_PIECES 4   /* so many would be about as long */
#define STALL_HOLDS  0.8 /* of all that it holds */

/* Who does much the same many times takes most of the time once. */
static void say_stall(const struct pf_advise *a, struct pf_advice *out)
{
	int64_t longest_ns = 0, count = 0;

	for (size_t i = 0; i < a->tiles->row_count; i++) {
		const struct advise_row *r = &a->tiles->rows[i];

		if (!(r->advice & out->bit))
			continue;
		count += r->count;
		PF_AT_LEAST(longest_ns, r->longest_ns);
	}
	if (count >= STALL_PIECES &&
	    (double)longest_ns >= STALL_HOLDS * (double)out->on_path_ns)
		pf_buf_addf(advise_next(out),
			    "One of %s pieces of it takes %s: that may be a "
			    "stall, of which this cures nothing",
			    PF_SHOW_COUNT(count), PF_SHOW_NS(longest_ns));
}

/* ---- of several traces, each judged alone ---- */

/* "rank 2", "trace 3" */
static const char *name_alone(const struct pf_advise *a, size_t i,
			      char text[PF_NUM_MAX])
{
	const struct pf_window_trace *t = &a->window->traces[i];
	bool by_rank = pf_window_has_ranks(a->window);

	snprintf(text, PF_NUM_MAX, "%s %" PRId64, by_rank ? "rank" : "trace",
		 by_rank ? t->rank : t->trace_id);
	return text;
}

/* Is the same said of each of them? */
static bool is_of_all(const struct pf_advise *a, const struct pf_advice *most)
{
	for (size_t i = 0; i < a->alone_count; i++)
		if (strcmp(advise_of(&a->alone[i], most->id)->sentence.data,
			   most->sentence.data) != 0)
			return false;
	return true;
}

/*
 * "Without loading data each trace alone would save at most 12 % of 10 steps
 * (1 ms of 8 ms). Of rank 1 that is 700 us. Most of it is in NAME at LINE"; where
 * a rule has words of its own, those about the trace in which it is most.
 */
static void say_alone(const struct pf_advise *a, const struct advise_rule *rule,
		      size_t i, const struct pf_advice *most,
		      struct pf_advice *out)
{
	struct pf_buf *to = &out->sentence;
	char text[PF_NUM_MAX];

	if (!most->place_at) {
		if (!is_of_all(a, most))
			pf_buf_addf(to, "Of %s: ", name_alone(a, i, text));
		pf_buf_add(to, most->sentence.data, most->sentence.len);
		return;
	}
	pf_buf_addf(to,
		    rule->question ? "Without %s each trace alone would "
				     "save at most "
				   : "%s ",
		    most->subject ? most->subject : rule->subject);
	pf_window_say_part(a->window, to, out->on_path_ns, out->whole_ns,
			   a->step_count);
	if (!rule->question)
		pf_buf_adds(to, " on the critical paths");
	pf_buf_addf(to, ". Of %s that is %s", name_alone(a, i, text),
		    PF_SHOW_NS(advise_alone_ns(most)));
	pf_buf_add(to, most->sentence.data + most->place_at,
		   most->sentence.len - most->place_at);
}

/* The sum of what is said of each, and who has most of it. */
static void judge_alone(const struct pf_advise *a,
			const struct advise_rule *rule, struct pf_advice *out)
{
	const struct pf_advice *most = advise_of(&a->alone[0], rule->id);
	size_t at = 0;

	out->whole_ns = a->window_ns;
	out->at_most_ns = PF_NO_INT;
	out->confidence = "hint";
	for (size_t i = 0; i < a->alone_count; i++) {
		const struct pf_advice *v = advise_of(&a->alone[i], rule->id);
		int64_t ns = advise_alone_ns(v);

		pf_sat_sum(&out->on_path_ns, ns);
		if (ns)
			pf_sat_sum(&out->unsure_ns, v->unsure_ns);
		if (v->state > most->state ||
		    (v->state == most->state && ns <= advise_alone_ns(most)))
			continue;
		most = v;
		at = i;
	}
	out->measured = pf_num_share(out->on_path_ns, out->whole_ns);
	out->title = most->title;
	out->is_last = most->is_last;
	out->shown_by = "steps"; /* that are of all; its command is of one */
	pf_buf_add(&out->command, most->command.data, most->command.len);
	if (!advise_is_open(most)) {
		out->state = most->state;
		pf_buf_add(&out->sentence, most->sentence.data,
			   most->sentence.len);
		return;
	}
	if (out->measured < out->threshold) {
		say_below(a, rule, out);
		return;
	}
	say_alone(a, rule, at, most, out);
	out->remedy = most->remedy;
	out->code = most->code;
	if (rule->among)
		rule->among(a, out);
	else
		pf_buf_add(&out->detail, most->detail.data, most->detail.len);
	if (out->variant)
		find_remedy(a, out, out->variant);
}

static void judge(struct pf_advise *a, const struct pf_advise_args *args,
		  const struct advise_rule *rule, struct pf_advice *out)
{
	const char *variant = "";

	*out = (struct pf_advice){ .id = rule->id,
				   .kind = rule->kind,
				   .title = rule->title,
				   .likely_ns = PF_NO_INT,
				   .threshold = rule->decides ? NAN
							      : PF_ADVISE_SHOWN,
				   .confidence = rule->confidence,
				   .causes = rule->causes,
				   .is_rest = rule->is_rest,
				   .bit = 1u << a->count };
	pf_buf_adds(&out->sentence, "");
	pf_buf_adds(&out->detail, "");
	if (a->alone_count) {
		judge_alone(a, rule, out);
		return;
	}
	if (!is_judgeable(a, rule, out))
		return;
	if (a->has_path)
		take_path(a, rule, out);
	else
		take_apart(a->from, rule, out);
	if (rule->judge)
		rule->judge(a, out);
	if (!advise_is_open(out))
		return;
	cap(a, rule, out);
	if (out->measured < out->threshold) {
		say_below(a, rule, out);
		return;
	}
	if (a->has_path)
		find_best_places(a->tiles, out);
	say_share(a, args, rule, out);
	if (rule->needs == ADVISE_NEEDS_OPS || (out->is_rest && !a->has_work))
		say_stall(a, out);
	say_before(a, out);
	say_beyond_idle(a, out);
	if (rule->variant)
		variant = rule->variant(a, out);
	find_remedy(a, out, variant);
}

static void apply(struct pf_advise *a, const struct pf_advise_args *args,
		  const struct advise_rule *rule)
{
	struct pf_advice *out = &a->all[a->count];

	judge(a, args, rule, out);
	if (!out->command.len)
		say_command(a, args, rule, out);
	a->count++;
}

/* ---- all of them ---- */

static int by_gain(const void *a, const void *b)
{
	const struct pf_advice *x = a, *y = b;

	if (x->state != y->state)
		return (int)x->state - (int)y->state;
	if (x->state == PF_ADVICE_GIVEN && x->is_last != y->is_last)
		return x->is_last - y->is_last;
	if (x->state == PF_ADVICE_GIVEN && weight_of(x) != weight_of(y))
		return weight_of(x) > weight_of(y) ? -1 : 1;
	return x->bit < y->bit ? -1 : x->bit > y->bit;
}

/* By what its operators are called. */
static const char *find_framework_of(const struct pf_kernels *k,
				     const struct advise_tiles *t)
{
	for (int64_t i = 0; k && i < k->row_count; i++)
		if (k->rows[i].second &&
		    !strncmp(k->rows[i].second, "aten::", 6))
			return "PyTorch";
	for (size_t i = 0; i < t->row_count; i++)
		if (!strncmp(t->rows[i].op, "aten::", 6))
			return "PyTorch";
	return t->marks.framework;
}

/*
 * Without a GPU all that there is on the host is its work: what names a cause of a
 * part of it comes before that, if it is worth being named and no piece is larger.
 */
#define NOT_SMALL 4 /* parts of it */

static bool comes_last(const struct pf_advise *a, const struct pf_advice *v)
{
	uint32_t named = 0;
	int64_t largest_ns = 0;

	for (size_t i = 0; i < a->count; i++) {
		const struct pf_advice *other = &a->all[i];

		if (!other->is_rest && !advise_rules[i].is_of_all &&
		    advise_is_open(other) && other->at_most_ns != PF_NO_INT)
			named |= other->bit;
	}
	for (size_t i = 0; i < a->tiles->row_count; i++) {
		const struct advise_row *r = &a->tiles->rows[i];

		if (r->advice & v->bit && !(r->advice & named) &&
		    r->ns > largest_ns)
			largest_ns = r->ns;
	}
	for (size_t i = 0; i < a->count; i++)
		if (a->all[i].bit & named &&
		    a->all[i].measured >= PF_ADVISE_FIRST &&
		    weight_of(&a->all[i]) > largest_ns &&
		    weight_of(&a->all[i]) > weight_of(v) / NOT_SMALL)
			return true;
	return false;
}

/*
 * What advice about all that there is of a kind shares with advice that names
 * a cause goes with that: the rest is what it has to say.  Where the profiler
 * slowed such short pieces, half of it: they took 1.4 to 2.4 times as long.
 */
static void leave_to_others(struct pf_advise *a)
{
	const struct pf_recorded *recorded = &a->tiles->path->recorded;
	uint32_t named = 0;
	char ns[PF_NUM_MAX];
	size_t at;

	for (size_t i = 0; i < a->count; i++) {
		const struct pf_advice *v = &a->all[i];

		if (!v->is_rest && advise_is_open(v) &&
		    strcmp(v->confidence, "hint") != 0)
			named |= v->bit;
	}
	for (size_t i = 0; i < a->count; i++) {
		struct pf_advice *v = &a->all[i];

		if (!v->is_rest || !advise_is_open(v))
			continue;
		for (size_t k = 0; k < a->tiles->row_count; k++) {
			const struct advise_row *r = &a->tiles->rows[k];

			if (r->advice & v->bit && r->advice & named)
				v->unsure_ns += r->ns;
		}
		if (v->unsure_ns && v->unsure_ns > v->at_most_ns / 4)
			pf_buf_addf(
				advise_next(v),
				"Other advice is about %s of that time, too",
				pf_num_show_ns(ns, v->unsure_ns));
		v->is_last = !a->has_work && comes_last(a, v);
		if (!recorded->dense_count || !a->has_work)
			continue;
		v->unsure_ns += weight_of(v) / 2;
		at = advise_next(v)->len;
		pf_recorded_say(recorded, &v->detail);
		v->detail.data[at] =
			(char)toupper((unsigned char)v->detail.data[at]);
	}
}

/* What the first step has of what advice holds, beyond what others have. */
static int64_t warm_up_ns(const struct pf_advise *a, const struct pf_advice *v)
{
	const int64_t others = advise_held(a, v->bit, ADVISE_LATE);
	int64_t first = advise_held(a, v->bit, 0) - others;

	if (a->step_count > 1)
		first -= others / (a->step_count - 1);
	return first > 0 ? first : 0;
}

/* What a warm-up leaves out is its, whatever is in it. */
static void leave_to_warm_up(struct pf_advise *a)
{
	const struct pf_advice *warm_up = NULL;

	for (size_t i = 0; i < a->count; i++)
		if (advise_rules[i].is_warm_up && advise_is_open(&a->all[i]))
			warm_up = &a->all[i];
	if (!warm_up || warm_up->at_most_ns == PF_NO_INT || !a->tiles->has_late)
		return;
	for (size_t i = 0; i < a->count; i++) {
		struct pf_advice *v = &a->all[i];

		if (v != warm_up && advise_is_open(v) && v->on_path_ns > 0)
			v->unsure_ns += (int64_t)(pf_num_share(warm_up_ns(a, v),
							       v->on_path_ns) *
						  (double)weight_of(v));
	}
}

void pf_advise_judge(struct pf_advise *a, const struct pf_advise_args *args,
		     const struct pf_advise_from *from)
{
	a->from = from;
	if (!a->tiles) {
		a->tiles = pf_calloc(1, sizeof(*a->tiles));
		a->tiles->path = &a->tiles->own_path;
	}
	a->has_path = a->tiles->path->category_count > 0;
	a->window = &a->tiles->path->window;
	if (!a->has_path && from->gaps) {
		a->window = &from->gaps->window;
		a->window_ns = from->gaps->all.window_ns;
		a->step_count = from->gaps->step_count;
	}
	a->has_work = a->has_path ? a->tiles->path->work_count > 0
				  : from->gaps && from->gaps->all.event_count;
	a->framework = find_framework_of(from->callers, a->tiles);
	a->window_ns = a->alone_count ? 0 : a->window_ns;
	for (size_t i = 0; i < a->alone_count; i++) {
		pf_sat_sum(&a->window_ns, a->alone[i].window_ns);
		a->framework = a->alone[i].framework;
	}
	for (size_t i = 0; i < advise_rule_count; i++)
		apply(a, args, &advise_rules[i]);
	a->from = NULL;
	if (!a->alone_count) {
		leave_to_others(a);
		leave_to_warm_up(a);
	}
	pf_sort(a->all, a->count, sizeof(*a->all), by_gain);
	while (a->given < a->count && a->all[a->given].state == PF_ADVICE_GIVEN)
		a->given++;
}
