/* SPDX-License-Identifier: MIT */
/*
 * Every rule takes the rows of the path that are its own; their sum is what it
 * can save at most.  Then it says what sums do not.  What is given is ranked
 * by that.
 */
#include "analysis/advise/advise_impl.h"

#include "base/order.h"

#define NO_KERNELS "class:compute=0"

const char *advise_questions[] = { "data=0",  "sync=off",    "launch=0",
				   "gc=0",    "comm=hidden", "alloc=0",
				   NO_KERNELS };
const size_t advise_question_count =
	sizeof(advise_questions) / sizeof(*advise_questions);

static const struct {
	const struct advise_rule *rules;
	const size_t *count;
} families[] = {
	{ advise_host_rules, &advise_host_rule_count },
	{ advise_gpu_rules, &advise_gpu_rule_count },
	{ advise_state_rules, &advise_state_rule_count },
};

bool advise_is_one_of(const char *s, const char *const *list)
{
	for (; *list; list++)
		if (!strcmp(s, *list))
			return true;
	return false;
}

bool advise_has_one_of(const char *s, const char *const *list)
{
	for (; *list; list++)
		if (strstr(s, *list))
			return true;
	return false;
}

static void say_why(struct pf_advice *a, enum pf_advice_state state,
		    const char *why)
{
	a->state = state;
	pf_buf_clear(&a->sentence);
	pf_buf_adds(&a->sentence, why);
}

void advise_fine(struct pf_advice *a, const char *why)
{
	say_why(a, PF_ADVICE_FINE, why);
}

void advise_not_judged(struct pf_advice *a, const char *why)
{
	say_why(a, PF_ADVICE_NOT_JUDGED, why);
}

void advise_first_alone(const struct pf_advise *a,
			bool (*owns)(const struct advise_row *r),
			struct pf_advice *out)
{
	const struct advise_tiles *t = a->tiles;

	if (out->on_path_ns <= 0)
		return;
	if (!t->has_late) {
		advise_not_judged(out, "whether it is the warm-up alone shows "
				       "only in several steps");
		return;
	}
	for (size_t i = 0; i < t->row_count; i++)
		if (owns(&t->rows[i]) && t->rows[i].flags & ADVISE_LATE)
			return;
	advise_fine(out, "it is in the first step alone, which --skip-first 1 "
			 "leaves out");
}

/* ---- places ---- */

/* What rows of a place have in common; padding is zero. */
struct place_key {
	const char *name, *at;
	uint64_t category;
};

static const char *place_of(const struct advise_row *r)
{
	if (*r->frame && (strstr(r->frame, ".py:") || !*r->op))
		return r->frame;
	return *r->op ? r->op : NULL;
}

static void add_place(struct pf_advice_place *p, const struct advise_row *r,
		      int64_t first_ns)
{
	p->what = pf_path_category_name(r->category);
	p->name = *r->short_name ? r->short_name : NULL;
	p->at = place_of(r);
	p->ns += r->ns;
	p->count += r->count;
	if (r->longest_ns > p->longest_ns) {
		p->longest_ns = r->longest_ns;
		p->from_ns = r->longest_at_ns - first_ns;
	}
}

PF_ORDER(by_time, struct pf_advice_place, PF_DOWN(ns) PF_UP(from_ns))

/* Rows differ in more than their place: put those of one together. */
static void find_places(const struct advise_tiles *t, struct pf_advice *a)
{
	struct pf_advice_place *all = NULL;
	struct pf_intern keys;
	size_t cap = 0;

	pf_intern_init(&keys);
	for (size_t i = 0; i < t->row_count; i++) {
		const struct advise_row *r = &t->rows[i];
		struct place_key key = { r->name, place_of(r), r->category };
		uint32_t known = keys.count, n;

		if (!(r->advice & a->bit))
			continue;
		n = pf_intern_add(&keys, (const char *)&key, sizeof(key));
		all = pf_grow(all, &cap, (size_t)n + 1, sizeof(*all));
		if (n == known)
			all[n] = (struct pf_advice_place){ .longest_ns = -1 };
		add_place(&all[n], r, t->first_ns);
	}
	pf_sort(all, keys.count, sizeof(*all), by_time);
	while (a->place_count < PF_ADVICE_PLACES &&
	       a->place_count < keys.count) {
		a->places[a->place_count] = all[a->place_count];
		a->place_count++;
	}
	free(all);
	pf_intern_release(&keys);
}

/* ---- one rule ---- */

static int64_t take_rows(struct advise_tiles *t, const struct advise_rule *rule,
			 uint32_t bit)
{
	int64_t ns = 0;

	for (size_t i = 0; rule->owns && i < t->row_count; i++) {
		if (!rule->owns(&t->rows[i]))
			continue;
		t->rows[i].advice |= bit;
		ns += t->rows[i].ns;
	}
	return ns;
}

static void say_command(const struct advise_rule *rule,
			const struct pf_advise_args *args, struct pf_buf *out)
{
	pf_buf_addf(out, "profan %s ", rule->command);
	pf_shell_word(out, args->db_name);
	pf_buf_adds(out, rule->options);
	if (strcmp(rule->command, "doctor") != 0)
		pf_window_options(&args->window, out);
}

/*
 * "If loading data took no time, 12 % of 6 steps (1 ms of 8 ms) would be saved",
 * or "Copying holds 12 % of 6 steps (1 ms of 8 ms) on the critical path".
 */
static void say_share(const struct pf_advise *a, const struct advise_rule *rule,
		      struct pf_advice *out)
{
	char own[PF_NUM_MAX];
	struct pf_buf all = { 0 };

	if (!rule->subject)
		return;
	pf_buf_adds(&all, rule->subject);
	pf_buf_adds(&all, rule->question ? ", " : " ");
	pf_window_say_part(&a->tiles->path->window, &all,
			   rule->question ? out->at_most_ns : out->on_path_ns,
			   a->window_ns, a->step_count);
	pf_buf_adds(&all, rule->question ? " would be saved"
					 : " on the critical path");
	if (rule->question && out->on_path_ns > out->at_most_ns)
		pf_buf_addf(&all,
			    ", of the %s of the critical path that it holds",
			    pf_num_show_ns(own, out->on_path_ns));
	if (out->sentence.len)
		pf_buf_adds(&all, out->sentence.data);
	pf_buf_release(&out->sentence);
	out->sentence = all;
}

static const struct pf_path_answer *find_answer(const struct pf_path *p,
						const char *question)
{
	for (size_t i = 0; i < p->beside_count; i++)
		if (!strcmp(p->beside[i].question, question))
			return &p->beside[i];
	return NULL;
}

/* A change that the path was worked out with saves what that says. */
static void take_answer(const struct pf_advise *a, const char *question,
			struct pf_advice *out)
{
	const struct pf_path_answer *w =
		question ? find_answer(a->tiles->path, question) : NULL;

	if (!w)
		return;
	/* less than all that the question is about may be its own */
	if (w->bound_ns == PF_NO_INT || w->saved_ns < out->on_path_ns)
		out->at_most_ns = w->saved_ns > 0 ? w->saved_ns : 0;
	if (w->least_ns <= out->at_most_ns)
		out->likely_ns = w->least_ns;
}

/*
 * Faster kernels save no more than none would: the host that launches them may
 * be hardly ahead of them.
 */
static void cap_kernels(const struct pf_advise *a,
			const struct advise_rule *rule, struct pf_advice *out)
{
	const struct pf_path_answer *none =
		find_answer(a->tiles->path, NO_KERNELS);
	char saved[PF_NUM_MAX];

	for (size_t i = 0; i < a->tiles->row_count; i++)
		if (a->tiles->rows[i].advice & out->bit &&
		    a->tiles->rows[i].category != PF_PATH_KERNEL)
			return;
	if (rule->question || !rule->subject || !none || !out->on_path_ns ||
	    none->saved_ns >= out->at_most_ns)
		return;
	out->at_most_ns = none->saved_ns > 0 ? none->saved_ns : 0;
	out->measured = pf_num_share(out->at_most_ns, a->window_ns);
	out->confidence = "model";
	pf_buf_addf(&out->sentence, "; without any kernel %s would be saved",
		    pf_num_show_ns(saved, out->at_most_ns));
}

static bool is_judgeable(const struct pf_advise *a,
			 const struct advise_rule *rule, struct pf_advice *out)
{
	const struct pf_path *p = a->tiles->path;

	if (!p->category_count)
		advise_not_judged(out, "there is nothing whose end could be "
				       "explained");
	else if (!p->work_count && rule->needs != ADVISE_NEEDS_PATH)
		advise_not_judged(out, "there is no GPU work in this trace");
	else if (rule->needs == ADVISE_NEEDS_TORCH &&
		 (!a->framework || strcmp(a->framework, "PyTorch") != 0))
		advise_not_judged(out, "there are no operators of PyTorch in "
				       "this trace");
	else
		return true;
	return false;
}

static void say_below(const struct advise_rule *rule, struct pf_advice *out)
{
	char share[PF_NUM_MAX], least[PF_NUM_MAX];
	struct pf_buf why = { 0 };

	if (out->measured != 0)
		pf_buf_addf(&why, "it would save %s, less than %s",
			    pf_num_show_ratio(share, out->measured),
			    pf_num_show_ratio(least, rule->threshold));
	else
		pf_buf_adds(&why, "it would save nothing");
	advise_fine(out, why.data);
	pf_buf_release(&why);
}

static void apply(struct pf_advise *a, const struct pf_advise_args *args,
		  const struct pf_advise_from *from,
		  const struct advise_rule *rule)
{
	struct pf_advice *out = &a->all[a->count];
	const char *variant = "";

	*out = (struct pf_advice){ .id = rule->id,
				   .title = rule->title,
				   .likely_ns = PF_NO_INT,
				   .threshold = rule->threshold > 0
							? rule->threshold
							: NAN,
				   .confidence = rule->confidence,
				   .bit = 1u << a->count };
	a->count++;
	pf_buf_adds(&out->sentence, "");
	say_command(rule, args, &out->command);
	if (!is_judgeable(a, rule, out))
		return;
	out->on_path_ns = take_rows(a->tiles, rule, out->bit);
	out->at_most_ns = out->on_path_ns;
	take_answer(a, rule->question, out);
	out->measured = pf_num_share(out->at_most_ns, a->window_ns);
	if (rule->judge)
		rule->judge(a, from, out);
	if (!advise_is_open(out))
		return;
	cap_kernels(a, rule, out);
	if (out->measured < rule->threshold) {
		say_below(rule, out);
		return;
	}
	say_share(a, rule, out);
	find_places(a->tiles, out);
	if (rule->variant)
		variant = rule->variant(a, from, out);
	advise_remedy(out, a->framework, variant);
}

/* ---- all of them ---- */

static int by_gain(const void *a, const void *b)
{
	const struct pf_advice *x = a, *y = b;

	if (x->state != y->state)
		return (int)x->state - (int)y->state;
	if (x->state == PF_ADVICE_GIVEN && x->is_last != y->is_last)
		return x->is_last - y->is_last;
	if (x->state == PF_ADVICE_GIVEN && x->at_most_ns != y->at_most_ns)
		return x->at_most_ns > y->at_most_ns ? -1 : 1;
	return x->bit < y->bit ? -1 : x->bit > y->bit;
}

/* By what its operators are called. */
static const char *find_framework(const struct pf_kernels *k,
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

int pf_advise_judge(struct pf_advise *a, const struct pf_advise_args *args,
		    const struct pf_advise_from *from, struct pf_err *err)
{
	(void)err;
	a->framework = find_framework(from->callers, a->tiles);
	for (size_t i = 0; i < sizeof(families) / sizeof(*families); i++)
		for (size_t k = 0; k < *families[i].count; k++)
			apply(a, args, from, &families[i].rules[k]);
	pf_sort(a->all, a->count, sizeof(*a->all), by_gain);
	while (a->given < a->count && a->all[a->given].state == PF_ADVICE_GIVEN)
		a->given++;
	return 0;
}

int64_t pf_advise_union(const struct pf_advise *a, size_t first)
{
	uint32_t bits = 0;
	int64_t ns = 0;

	for (size_t i = 0; i < first && i < a->given; i++)
		bits |= a->all[i].bit;
	for (size_t i = 0; i < a->tiles->row_count; i++)
		if (a->tiles->rows[i].advice & bits)
			ns += a->tiles->rows[i].ns;
	return ns;
}
