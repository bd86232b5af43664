/* SPDX-License-Identifier: MIT */
/*
 * A question is one change or several with ";" between: "gpu:^ampere=0.5",
 * "data=0;sync=off".  Changes of the host in one question have one factor,
 * and so have those of GPU work by name.
 */
#include "analysis/path/change_impl.h"

#include <math.h>

#define FACTOR_MAX 1000.0

struct path_change *path_change_add(struct path_changes *c, const char *text)
{
	struct path_change *q;

	c->items = pf_grow(c->items, &c->cap, c->count + 1, sizeof(*c->items));
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
	struct path_change *q;
	const char *name;  /* before ":" or "=" */
	const char *regex; /* between; "" */
	const char *value; /* behind the last "=" */
	double factor;
	bool is_number;
};

static int refuse(const struct wish *w, const char *why, struct pf_err *err)
{
	return pf_fail(err, PF_EUSAGE, "--what-if '%s': %s", w->q->text, why);
}

static int need_factor(const struct wish *w, struct pf_err *err)
{
	if (w->is_number)
		return 0;
	return refuse(w, "a factor from 0 to 1000 has to follow '='", err);
}

static int compile(const struct wish *w, regex_t *out, bool *has,
		   struct pf_err *err)
{
	if (*has)
		return refuse(w, "the same change twice", err);
	if (!*w->regex)
		return refuse(w, "a regex has to follow ':'", err);
	if (regcomp(out, w->regex, REG_EXTENDED | REG_NOSUB) != 0)
		return refuse(w, "the regex is wrong", err);
	*has = true;
	return 0;
}

static int on_host(const struct wish *w, struct pf_err *err)
{
	struct path_change *q = w->q;

	if (need_factor(w, err) < 0)
		return -1;
	if (q->has_host && q->host_factor != w->factor)
		return refuse(w, "changes of the host have one factor", err);
	q->has_host = true;
	q->host_factor = w->factor;
	return 0;
}

static int by_class(const struct wish *w, unsigned class, struct pf_err *err)
{
	if (need_factor(w, err) < 0)
		return -1;
	w->q->by_class[class] = w->factor;
	w->q->has_gpu = true;
	return 0;
}

static int want_gpu(const struct wish *w, struct pf_err *err)
{
	if (need_factor(w, err) < 0)
		return -1;
	if (w->q->has_work_regex || (w->q->has_op_regex && *w->regex))
		return refuse(w, "GPU work is changed by one name", err);
	w->q->has_gpu = true;
	if (!*w->regex) {
		for (size_t i = 0; i < PF_GPU_CLASSES; i++)
			w->q->by_class[i] = w->factor;
		return 0;
	}
	w->q->work_factor = w->factor;
	return compile(w, &w->q->work_regex, &w->q->has_work_regex, err);
}

static int want_class(const struct wish *w, struct pf_err *err)
{
	static const char *const names[] = { "compute", "comm", "copy",
					     "memset" };

	for (unsigned i = 0; i < PF_GPU_CLASSES; i++)
		if (!strcmp(w->regex, names[i]))
			return by_class(w, i, err);
	return refuse(w, "classes are compute, comm, copy and memset", err);
}

static int want_copy(const struct wish *w, struct pf_err *err)
{
	return by_class(w, PF_GPU_COPY, err) < 0
		       ? -1
		       : by_class(w, PF_GPU_MEMSET, err);
}

static int want_host(const struct wish *w, struct pf_err *err)
{
	if (on_host(w, err) < 0)
		return -1;
	if (*w->regex)
		return compile(w, &w->q->host_regex, &w->q->has_host_regex,
			       err);
	w->q->host_kinds |= PATH_IS_ANY;
	return 0;
}

static int want_op(const struct wish *w, struct pf_err *err)
{
	if (w->q->has_work_regex)
		return refuse(w, "GPU work is changed by one name", err);
	if (on_host(w, err) < 0)
		return -1;
	w->q->has_gpu = true;
	w->q->work_factor = w->factor;
	return compile(w, &w->q->op_regex, &w->q->has_op_regex, err);
}

static int want_data(const struct wish *w, struct pf_err *err)
{
	w->q->host_kinds |= PATH_IS_DATA;
	return on_host(w, err);
}

static int want_gc(const struct wish *w, struct pf_err *err)
{
	w->q->host_kinds |= PATH_IS_GC;
	return on_host(w, err);
}

static int want_alloc(const struct wish *w, struct pf_err *err)
{
	w->q->host_kinds |= PATH_IS_ALLOC;
	return on_host(w, err);
}

static int want_sync(const struct wish *w, struct pf_err *err)
{
	if (strcmp(w->value, "off") != 0)
		return refuse(w, "it is 'sync=off'", err);
	w->q->no_waits = true;
	return 0;
}

static int want_launch(const struct wish *w, struct pf_err *err)
{
	if (!w->is_number || w->factor != 0)
		return refuse(w, "it is 'launch=0'", err);
	w->q->least_launch = true;
	w->q->host_kinds |= PATH_IS_CODE;
	return on_host(w, err);
}

static int want_comm(const struct wish *w, struct pf_err *err)
{
	if (strcmp(w->value, "hidden") != 0)
		return refuse(w, "it is 'comm=hidden'", err);
	w->q->no_comm = true;
	return 0;
}

static const struct {
	const char *name;
	int (*want)(const struct wish *w, struct pf_err *err);
	bool takes_regex;
} wishes[] = {
	{ "gpu", want_gpu, true },        { "class", want_class, true },
	{ "host", want_host, true },      { "op", want_op, true },
	{ "data", want_data, false },     { "gc", want_gc, false },
	{ "alloc", want_alloc, false },   { "sync", want_sync, false },
	{ "launch", want_launch, false }, { "comm", want_comm, false },
	{ "copy", want_copy, false },
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
	struct wish w = { .q = q, .name = text, .regex = "" };

	if (!value)
		return refuse(&w, "'=' and what it becomes are missing", err);
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
			return refuse(&w, "it takes no regex", err);
		return wishes[i].want(&w, err);
	}
	return refuse(&w,
		      "there are gpu, class, host, op, data, gc, alloc, sync, "
		      "launch, comm and copy",
		      err);
}

int path_change_parse(struct path_changes *c, const char *text,
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

	q = path_change_add(c, "calls do not wait for the GPU");
	q->no_waits = true;
	q = path_change_add(c, "operators, calls and Python take no time, "
			       "as in one GPU graph");
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
}

void path_change_standard(struct path_changes *c, bool has_gpu_work)
{
	struct path_change *q;

	q = path_change_add(c, "data loading takes no time");
	q->has_host = true;
	q->host_kinds = PATH_IS_DATA;
	q->host_factor = 0;
	if (has_gpu_work)
		ask_of_gpu(c);
	q = path_change_add(c, "the host is 2x as fast");
	q->has_host = true;
	q->host_kinds = PATH_IS_ANY;
	q->host_factor = 0.5;
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
