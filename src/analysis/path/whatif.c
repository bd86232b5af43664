/* SPDX-License-Identifier: MIT */
/* Questions and their answers: those that were asked, or the usual ones. */
#include "config.h"

#include "analysis/path/impl.h"
#include "events/names.h"
#include "show/doc.h"

/*
 * A question is one change or several with ";" between: "gpu:^ampere=0.5",
 * "data=0;sync=off".  Changes of the host in one question have one factor,
 * and so have those of GPU work by name.
 */

#define FACTOR_MAX 1000.0

/* One that changes nothing. */
static struct path_change *path_change_add(struct path_changes *c,
					   const char *text)
{
	struct path_change *q;

	PF_ROOM(c->items, c->cap, c->count + 1);
	q = &c->items[c->count++];
	*q = (struct path_change){ .text = text,
				   .work_name = PF_ID_NONE,
				   .key = PF_PATH_NONE,
				   .work_factor = 1,
				   .host_factor = 1 };
	for (size_t i = 0; i < PF_GPU_CLASSES; i++)
		q->by_class[i] = 1;
	return q;
}

/* ---- what users write ---- */

struct wish {
	struct pf_err *err;
	struct path_change *q;
	const char *name;  /* before ":" or "=" */
	const char *regex; /* between; "" */
	const char *value; /* behind the last "=" */
	double factor;
	bool is_number;
};

static int refuse(const struct wish *w, const char *why)
{
	return pf_fail(w->err, PF_EUSAGE, "--what-if '%s': %s", w->q->text,
		       why);
}

static int need_factor(const struct wish *w)
{
	if (w->is_number)
		return 0;
	return refuse(w, "a factor from 0 to 1000 has to follow '='");
}

static int compile(const struct wish *w, regex_t *out, bool *has)
{
	if (*has)
		return refuse(w, "the same change twice");
	if (!*w->regex)
		return refuse(w, "a regex has to follow ':'");
	if (regcomp(out, w->regex, REG_EXTENDED | REG_NOSUB) != 0)
		return refuse(w, "the regex is wrong");
	*has = true;
	return 0;
}

static int on_host(const struct wish *w)
{
	struct path_change *q = w->q;

	if (need_factor(w) < 0)
		return -1;
	if (q->has_host && q->host_factor != w->factor)
		return refuse(w, "changes of the host have one factor");
	q->has_host = true;
	q->host_factor = w->factor;
	return 0;
}

static int by_class(const struct wish *w, unsigned class)
{
	if (need_factor(w) < 0)
		return -1;
	w->q->by_class[class] = w->factor;
	w->q->has_gpu = true;
	return 0;
}

static int want_gpu(const struct wish *w)
{
	if (need_factor(w) < 0)
		return -1;
	if (w->q->has_work_regex || (w->q->has_op_regex && *w->regex))
		return refuse(w, "GPU work is changed by one name");
	w->q->has_gpu = true;
	if (!*w->regex) {
		for (size_t i = 0; i < PF_GPU_CLASSES; i++)
			w->q->by_class[i] = w->factor;
		return 0;
	}
	w->q->work_factor = w->factor;
	return compile(w, &w->q->work_regex, &w->q->has_work_regex);
}

static int want_class(const struct wish *w)
{
	static const char *const names[] = { "compute", "comm", "copy",
					     "memset" };

	for (unsigned i = 0; i < PF_GPU_CLASSES; i++)
		if (!strcmp(w->regex, names[i]))
			return by_class(w, i);
	return refuse(w, "classes are compute, comm, copy and memset");
}

static int want_copy(const struct wish *w)
{
	if (!strcmp(w->value, "async")) {
		w->q->no_copy_waits = true;
		return 0;
	}
	return by_class(w, PF_GPU_COPY) < 0 ? -1 : by_class(w, PF_GPU_MEMSET);
}

static int want_host(const struct wish *w)
{
	if (on_host(w) < 0)
		return -1;
	if (*w->regex)
		return compile(w, &w->q->host_regex, &w->q->has_host_regex);
	w->q->host_kinds |= PATH_IS_ANY;
	return 0;
}

static int want_op(const struct wish *w)
{
	if (w->q->has_work_regex)
		return refuse(w, "GPU work is changed by one name");
	if (on_host(w) < 0)
		return -1;
	w->q->has_gpu = true;
	w->q->work_factor = w->factor;
	return compile(w, &w->q->op_regex, &w->q->has_op_regex);
}

static int want_data(const struct wish *w)
{
	w->q->host_kinds |= PATH_IS_DATA;
	return on_host(w);
}

static int want_gc(const struct wish *w)
{
	w->q->host_kinds |= PATH_IS_GC;
	return on_host(w);
}

static int want_first(const struct wish *w)
{
	w->q->host_kinds |= PATH_IS_FIRST;
	return on_host(w);
}

static int want_alloc(const struct wish *w)
{
	w->q->host_kinds |= PATH_IS_ALLOC;
	w->q->no_allocs = w->factor == 0;
	return on_host(w);
}

static int want_sync(const struct wish *w)
{
	if (strcmp(w->value, "off") != 0)
		return refuse(w, "it is 'sync=off'");
	w->q->no_waits = true;
	return 0;
}

static int want_launch(const struct wish *w)
{
	if (!w->is_number || w->factor != 0)
		return refuse(w, "it is 'launch=0'");
	w->q->least_launch = true;
	w->q->host_kinds |= PATH_IS_CODE;
	return on_host(w);
}

static int want_comm(const struct wish *w)
{
	if (strcmp(w->value, "hidden") != 0)
		return refuse(w, "it is 'comm=hidden'");
	w->q->no_comm = true;
	return 0;
}

static const struct {
	const char *name;
	int (*want)(const struct wish *w);
	bool takes_regex;
} wishes[] = {
	{ "gpu", want_gpu, true },        { "class", want_class, true },
	{ "host", want_host, true },      { "op", want_op, true },
	{ "data", want_data, false },     { "gc", want_gc, false },
	{ "alloc", want_alloc, false },   { "sync", want_sync, false },
	{ "launch", want_launch, false }, { "comm", want_comm, false },
	{ "copy", want_copy, false },     { "first", want_first, false },
};

/* "12.5", from 0 to FACTOR_MAX. */
static bool parse_factor(const char *s, double *out)
{
	size_t len = strspn(s, "0123456789.");
	char *end;

	if (!len || s[len])
		return false;
	*out = strtod(s, &end);
	return !*end && *out >= 0 && *out <= FACTOR_MAX;
}

/* One change; the text is cut into its parts. */
static int parse_one(struct path_change *q, char *text, struct pf_err *err)
{
	char *value = strrchr(text, '='), *colon = strchr(text, ':');
	struct wish w = { .err = err, .q = q, .name = text, .regex = "" };

	if (!value)
		return refuse(&w, "'=' and what it becomes are missing");
	*value++ = '\0';
	if (colon && colon < value) {
		*colon = '\0';
		w.regex = colon + 1;
	}
	w.value = value;
	w.is_number = parse_factor(value, &w.factor);
	for (size_t i = 0; i < sizeof(wishes) / sizeof(*wishes); i++) {
		if (strcmp(wishes[i].name, w.name) != 0)
			continue;
		if (!wishes[i].takes_regex && colon && colon < value)
			return refuse(&w, "it takes no regex");
		return wishes[i].want(&w);
	}
	return refuse(&w,
		      "there are gpu, class, host, op, data, gc, alloc, first, "
		      "sync, launch, comm and copy");
}

/* As the user wrote it: PF_EUSAGE if it makes no sense. */
static int path_change_parse(struct path_changes *c, const char *text,
			     struct pf_err *err)
{
	struct path_change *q = path_change_add(c, text);
	char *copy = pf_strdup(text), *at = copy, *next;
	int rc = 0;

	for (; !rc && at; at = next) {
		next = strchr(at, ';');
		if (next)
			*next++ = '\0';
		rc = parse_one(q, at, err);
	}
	free(copy);
	return rc;
}

/* ---- the standard ones ---- */

/* What a GPU's calls and work take. */
static void ask_of_gpu(struct path_changes *c)
{
	struct path_change *q;

	q = path_change_add(c, "calls that synchronize do not wait");
	q->no_waits = true;
	q = path_change_add(c, PATH_NO_CODE);
	q->has_host = q->least_launch = true;
	q->host_kinds = PATH_IS_CODE;
	q->host_factor = 0;
	q = path_change_add(c, "communication is hidden");
	q->no_comm = true;
	q = path_change_add(c, "copies and fills take no time");
	q->has_gpu = true;
	q->by_class[PF_GPU_COPY] = q->by_class[PF_GPU_MEMSET] = 0;
	q = path_change_add(c, "kernels are 2x as fast");
	q->has_gpu = true;
	q->by_class[PF_GPU_COMPUTE] = 0.5;
	q = path_change_add(c, "the host is 2x as fast");
	q->has_host = true;
	q->host_kinds = PATH_IS_ANY;
	q->host_factor = 0.5;
}

/*
 * The questions that are asked without being asked for: without GPU work none
 * of what it takes (without launch calls all host time would be "overhead"; and
 * a host that is alone, twice as fast, takes half the time).
 */
static void path_change_standard(struct path_changes *c, bool has_gpu_work)
{
	struct path_change *q;

	q = path_change_add(c, "data loading takes no time");
	q->has_host = true;
	q->host_kinds = PATH_IS_DATA;
	q->host_factor = 0;
	if (has_gpu_work)
		ask_of_gpu(c);
}

void path_changes_release(struct path_changes *c)
{
	for (size_t i = 0; i < c->count; i++) {
		struct path_change *q = &c->items[i];

		if (q->has_work_regex)
			regfree(&q->work_regex);
		if (q->has_host_regex)
			regfree(&q->host_regex);
		if (q->has_op_regex)
			regfree(&q->op_regex);
		free(q->below);
		free(q->graph_ops);
		free(q->names);
	}
	free(c->items);
	*c = (struct path_changes){ 0 };
}

#define TOP 10 /* names of which "gone" and "2x as fast" are asked */

static const char *say(struct path *p, uint32_t name, bool is_work,
		       const char *what)
{
	const char *text = pf_names_frame(p->names, name);
	PF_AUTO(pf_buf_release) struct pf_buf out = { 0 };

	if (!text)
		return NULL;
	if (is_work)
		text = pf_kernel_short_kept(&p->out->texts, text);
	pf_buf_addf(&out, "%s %s", text, what);
	text = pf_arena_string(&p->out->texts, out.data);
	return text;
}

/* Of a name that holds much of the path: gone, and in half the time. */
static int ask_of(struct path *p, struct path_changes *c,
		  const struct path_ledger *l, uint32_t name, bool is_work)
{
	static const struct {
		const char *work, *op;
		double factor;
	} asked[] = { { "is gone", "takes no time of its own", 0 },
		      { "is 2x as fast", "itself is 2x as fast", 0.5 } };

	for (size_t i = 0; i < 2; i++) {
		const char *text = say(p, name, is_work,
				       is_work ? asked[i].work : asked[i].op);
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
		      struct path_changes *c, const struct path_ledger *l)
{
	uint32_t names[TOP];
	int rc = 0;

	for (unsigned i = 0; i < 2; i++) {
		bool is_work = !i;
		size_t count = path_rows_top(rows, is_work, names, TOP);

		for (size_t k = 0; !rc && k < count; k++)
			rc = ask_of(p, c, l, names[k], is_work);
	}
	return rc;
}

int path_ask(struct path *p, struct path_changes *c)
{
	const struct pf_opt_list *asked = &p->args->what_if,
				 *beside = &p->args->beside;
	int rc = 0;

	for (size_t i = 0; !rc && i < asked->count; i++)
		rc = path_change_parse(c, asked->items[i], p->db->err);
	if (!rc && !asked->count && !p->args->is_bare)
		path_change_standard(c, p->out->recorded.has_work);
	c->own_count = c->count;
	for (size_t i = 0; !rc && i < beside->count; i++)
		rc = path_change_parse(c, beside->items[i], p->db->err);
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
		.work_count = PF_NO_INT,
		.work_ns = PF_NO_INT,
		.changed_host_ns = PF_NO_INT,
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

/*
 * What a question that was asked is about.  One about names that nothing has
 * is a mistake, and not 0 ns: PF_EUSAGE.
 */
static int tell_changed(const struct answers *a, size_t i,
			struct pf_path_answer *out)
{
	const struct path_change *q = &a->changes->items[i];

	if (q->has_gpu) {
		out->work_count = a->bounds[i].work_count;
		out->work_ns = a->bounds[i].work_ns;
	}
	if (path_change_is_folded(q))
		out->changed_host_ns = a->ledger->folded_ns[i];
	if ((!q->has_work_regex && !q->has_host_regex && !q->has_op_regex) ||
	    out->work_count > 0 || out->changed_host_ns > 0)
		return 0;
	return pf_fail(a->p->db->err, PF_EUSAGE,
		       "--what-if '%s': nothing on this path's threads and "
		       "GPUs has such a name",
		       q->text);
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

static int find_answers(struct path *p, struct path_changes *c,
			const struct path_ledger *l, size_t count)
{
	struct pf_path *out = p->out;
	struct answers a = {
		.p = p, .changes = c, .ledger = l, .count = count
	};
	int rc;

	a.bounds = pf_calloc(count + 1, sizeof(*a.bounds));
	a.lanes = pf_calloc(2 * count + 1, sizeof(*a.lanes));
	a.plain = pf_calloc(count + 1, sizeof(*a.plain));
	a.pessimistic = pf_calloc(count + 1, sizeof(*a.pessimistic));
	for (size_t i = 0; i < count; i++)
		a.bounds[i].change = &c->items[i];
	rc = path_bound(p, l, a.bounds, count);
	if (!rc) {
		choose_lanes(&a);
		rc = path_answer(p, l, a.lanes, a.lane_count);
	}
	out->replay_ns = a.lanes[0].ns - out->window_ns;
	out->answers = pf_calloc(count + 1, sizeof(*out->answers));
	for (size_t i = 0; i < count; i++)
		tell(&a, i, &out->answers[place_of(p, c, i, count)]);
	if (count) {
		out->beside_count = p->args->beside.count;
		out->answer_count = count - out->beside_count;
		out->beside = out->answers + out->answer_count;
	}
	for (size_t i = 0; !rc && count && i < p->args->what_if.count; i++)
		rc = tell_changed(&a, i, &out->answers[i]);
	free(a.bounds);
	free(a.lanes);
	free(a.plain);
	free(a.pessimistic);
	return rc;
}

int path_what_if(struct path *p, const struct path_rows *rows,
		 struct path_changes *c, const struct path_ledger *l)
{
	bool has_path = p->out->category_count > 0;

	p->out->replay_ns = PF_NO_INT;
	if (p->args->is_bare && !c->count)
		return 0;
	if (has_path && !p->args->is_bare && !p->args->what_if.count &&
	    ask_of_top(p, rows, c, l) < 0)
		return -1;
	return find_answers(p, c, l, has_path ? c->count : 0);
}
