/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <string.h>

#include "compare/diff_gate.h"
#include "compare/diff_judge.h"
#include "base/buf.h"
#include "base/num.h"
#include "base/opt.h"

/* ---- figures ---- */

enum { STEP_TIME, GPU_BUSY, IDLE, PEAK_MEMORY, RESERVED_MEMORY, COPIES, OWN };

static bool own_figure(const struct pf_capture *a, const struct pf_capture *b,
		       size_t n, struct pf_gate_figure *out)
{
	static const struct {
		const char *key;
		enum pf_col_kind kind;
	} words[OWN] = {
		[STEP_TIME] = { "step_time", PF_NS },
		[GPU_BUSY] = { "gpu_busy", PF_NS },
		[IDLE] = { "idle", PF_NS },
		[PEAK_MEMORY] = { "peak_memory", PF_BYTES },
		[RESERVED_MEMORY] = { "reserved_memory", PF_BYTES },
		[COPIES] = { "copies", PF_COUNT },
	};

	out->key = words[n].key;
	out->kind = words[n].kind;
	switch (n) {
	case STEP_TIME:
		out->of.value = pf_step_total;
		break;
	case GPU_BUSY:
		out->of.value = pf_step_busy;
		break;
	case IDLE:
		out->of.value = pf_step_idle;
		break;
	case COPIES:
		for (int c = PF_COUNT_HTOD; c <= PF_COUNT_OTHER_COPIES; c++) {
			out->a += a->count[c];
			out->b += b->count[c];
		}
		break;
	default:
		out->a = n == PEAK_MEMORY ? a->peak_bytes : a->reserved_bytes;
		out->b = n == PEAK_MEMORY ? b->peak_bytes : b->reserved_bytes;
		out->a_steps = out->a >= 0;
		out->b_steps = out->b >= 0;
	}
	return true;
}

static enum pf_col_kind kind_of(enum pf_step_count count)
{
	if (count >= PF_COUNT_HTOD_BYTES && count <= PF_COUNT_OTHER_BYTES)
		return PF_BYTES;
	return count == PF_COUNT_GPU_NS || count == PF_COUNT_WORK_NS ? PF_NS
								     : PF_COUNT;
}

/* Figure n of those that can be checked; false past the last. */
static bool figure_at(const void *of, size_t n, struct pf_gate_figure *out)
{
	const struct pf_gate_sides *sides = of;
	const struct pf_capture *a = sides->a, *b = sides->b;

	*out = (struct pf_gate_figure){ .a_steps = a->steps,
					.b_steps = b->steps };
	if (n < OWN)
		return own_figure(a, b, n, out);
	n -= OWN;
	if (n < PF_COUNT_COUNTS) {
		out->key = pf_step_counts[n].key;
		out->kind = kind_of((enum pf_step_count)n);
		out->a = a->count[n];
		out->b = b->count[n];
		if (!pf_side_knows(a, b, (enum pf_step_count)n))
			out->a_steps = 0;
		if (!pf_side_knows(b, a, (enum pf_step_count)n))
			out->b_steps = 0;
		out->of = (struct pf_step_figure){ pf_step_counted, n };
		return true;
	}
	n -= PF_COUNT_COUNTS;
	if (n >= PF_STEP_CLASSES)
		return false;
	out->key = pf_step_class_name((enum pf_step_class)n);
	out->kind = PF_NS;
	out->of = (struct pf_step_figure){ pf_step_class, n };
	return true;
}

/* ---- expressions ---- */

static int bad(const char *expression, const char *why, struct pf_err *err)
{
	return pf_fail(err, PF_EUSAGE,
		       "'%s' is no check: %s; write for example "
		       "'step_time>5%%', 'syncs>0', 'kernels>+3', 'copy>100us'",
		       expression, why);
}

static bool find_figure(const char *name, const struct pf_gate_figures *all,
			struct pf_gate_figure *out)
{
	for (size_t n = 0; all->at(all->of, n, out); n++)
		if (!strcmp(out->key, name))
			return true;
	return false;
}

static int no_figure(const char *expression, const char *name,
		     const struct pf_gate_figures *figures, struct pf_err *err)
{
	struct pf_suggest s = { .word = name };
	struct pf_gate_figure f;
	struct pf_buf all = { 0 };

	for (size_t n = 0; figures->at(figures->of, n, &f); n++) {
		pf_suggest_offer(&s, f.key);
		pf_buf_addf(&all, "%s%s", n ? ", " : "", f.key);
	}
	if (s.best)
		pf_fail(err, PF_EUSAGE,
			"'%s': there is no figure '%s'; did you mean '%s'?",
			expression, name, s.best);
	else
		pf_fail(err, PF_EUSAGE,
			"'%s': there is no figure '%s'; the figures are %s",
			expression, name, all.data);
	pf_buf_release(&all);
	return -1;
}

/* Factors of units; a plain number is in the figure's own unit. */
static int64_t factor_of(const char *unit, enum pf_col_kind kind)
{
	static const struct {
		const char *unit;
		enum pf_col_kind kind;
		int64_t factor;
	} units[] = {
		{ "ns", PF_NS, 1 },           { "us", PF_NS, 1000 },
		{ "ms", PF_NS, 1000000 },     { "s", PF_NS, 1000000000 },
		{ "B", PF_BYTES, 1 },         { "kB", PF_BYTES, 1000 },
		{ "MB", PF_BYTES, 1000000 },  { "GB", PF_BYTES, 1000000000 },
		{ "KiB", PF_BYTES, 1 << 10 }, { "MiB", PF_BYTES, 1 << 20 },
		{ "GiB", PF_BYTES, 1 << 30 },
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (kind == units[i].kind && !strcmp(units[i].unit, unit))
			return units[i].factor;
	return 0;
}

/* "+1.5" into limit and scale: at most six digits after the point. */
static const char *read_number(const char *s, struct pf_gate *g)
{
	bool is_negative = *s == '-', has_digit = false;
	int64_t n = 0;

	s += *s == '-' || *s == '+';
	g->scale = 1;
	for (bool after = false;; s++) {
		if (*s == '.' && !after) {
			after = true;
			continue;
		}
		if (*s < '0' || *s > '9')
			break;
		if (n > INT64_C(1000000000000) ||
		    (after && g->scale == 1000000))
			return NULL;
		n = 10 * n + (*s - '0');
		g->scale *= after ? 10 : 1;
		has_digit = true;
	}
	g->limit = is_negative ? -n : n;
	return has_digit ? s : NULL;
}

int pf_gate_read(const char *expression, const struct pf_gate_figures *figures,
		 struct pf_gate *g, struct pf_gate_figure *f,
		 struct pf_err *err)
{
	size_t len = strcspn(expression, "<>= ");
	const char *s = expression + len;
	int64_t factor;

	*g = (struct pf_gate){ 0 };
	if (!len || len >= sizeof(g->name))
		return bad(expression, "a name of a figure comes first", err);
	memcpy(g->name, expression, len);
	if (!find_figure(g->name, figures, f))
		return no_figure(expression, g->name, figures, err);
	s += strspn(s, " ");
	if (*s != '<' && *s != '>')
		return bad(expression, "'>' or '<' follows the name", err);
	g->is_less = *s++ == '<';
	g->or_equal = *s == '=';
	s += g->or_equal;
	s += strspn(s, " ");
	s = read_number(s, g);
	if (!s)
		return bad(expression, "a number follows", err);
	s += strspn(s, " ");
	g->is_percent = !strcmp(s, "%");
	if (g->is_percent || !*s)
		return 0;
	factor = factor_of(s, f->kind);
	if (!factor || __builtin_mul_overflow(g->limit, factor, &g->limit))
		return bad(expression, "the unit does not fit", err);
	return 0;
}

static int parse(const char *expression, const struct pf_gate_sides *sides,
		 struct pf_gate *g, struct pf_gate_figure *f,
		 struct pf_err *err)
{
	const struct pf_gate_figures figures = { figure_at, sides };

	return pf_gate_read(expression, &figures, g, f, err);
}

int pf_gate_parse(const char *expression, struct pf_err *err)
{
	static const struct pf_capture none;
	static const struct pf_gate_sides nothing = { .a = &none, .b = &none };
	struct pf_gate_figure f;
	struct pf_gate g;

	return parse(expression, &nothing, &g, &f, err);
}

/* ---- checks ---- */

bool pf_gate_holds(const struct pf_gate *g, const struct pf_gate_figure *f)
{
	__int128_t a = (__int128_t)f->a * f->b_steps;
	__int128_t b = (__int128_t)f->b * f->a_steps;
	__int128_t change = (b - a) * g->scale, limit;

	if (g->is_percent) {
		change *= 100;
		limit = a * g->limit;
		/* from nothing to something is more than any share */
		if (!a && b)
			return (b > 0) != g->is_less;
	} else {
		limit = (__int128_t)f->a_steps * f->b_steps * g->limit;
	}
	if (change == limit)
		return g->or_equal;
	return (change < limit) == g->is_less;
}

static void show(char out[PF_NUM_MAX], const struct pf_gate_figure *f,
		 int64_t sum, int64_t steps)
{
	switch (f->kind) {
	case PF_NS:
		pf_num_show_ns(out, pf_mean(sum, steps));
		break;
	case PF_BYTES:
		pf_num_show_bytes(out, pf_mean(sum, steps));
		break;
	default:
		pf_num_show_real(out, (double)sum / (double)steps);
	}
}

void pf_gate_say_change(struct pf_buf *out, const struct pf_gate_figure *f)
{
	char from[PF_NUM_MAX], to[PF_NUM_MAX], share[PF_NUM_MAX];
	double a = (double)f->a / (double)f->a_steps;
	double b = (double)f->b / (double)f->b_steps;

	show(from, f, f->a, f->a_steps);
	show(to, f, f->b, f->b_steps);
	pf_buf_addf(out, "%s was %s and is %s per step", f->key, from, to);
	if (a > 0)
		pf_buf_addf(out, " (%s%s)", b > a ? "+" : "",
			    pf_num_show_ratio(share, b / a - 1));
}

static void say_grade(struct pf_buf *out, const struct pf_judged *j)
{
	switch (j->grade) {
	case PF_GRADE_UNKNOWN:
		pf_buf_adds(out, ", but noise is unknown (one step)");
		break;
	case PF_GRADE_AS_CAPTURES:
		pf_buf_addf(out,
			    ", but captures of one program differ by up to "
			    "%.0f %% of the longer step",
			    100 * PF_CAPTURES_DIFFER);
		break;
	default:
		pf_buf_adds(out, ", but that is no clear change");
	}
}

/* What is compared of a time: the median of A, and it with the shift. */
static void judge(const struct pf_gate_times *times, struct pf_gate_figure *f,
		  struct pf_judged *out)
{
	if (f->of.value == pf_step_total)
		*out = *times->total;
	else
		pf_judge_figure(times->judge, &f->of, out);
	f->a = out->a_ns;
	f->b = out->a_ns + out->rank.shift;
	f->a_steps = f->b_steps = 1;
}

static void check_time(const char *expression, const struct pf_gate *g,
		       struct pf_gate_figure *f,
		       const struct pf_gate_times *times, struct pf_doc *doc,
		       bool *is_failed)
{
	struct pf_buf text = { 0 };
	struct pf_judged judged;

	judge(times, f, &judged);
	if (pf_gate_holds(g, f)) {
		pf_gate_say_change(&text, f);
		if (judged.grade >= PF_GRADE_LIKELY) {
			*is_failed = true;
			pf_doc_failed(doc, "%s: %s", expression, text.data);
		} else {
			say_grade(&text, &judged);
			pf_doc_note(doc, "not failed: %s: %s", expression,
				    text.data);
		}
	}
	pf_buf_release(&text);
}

static const char *where_unknown(const struct pf_gate_figure *f)
{
	return f->a_steps > 0   ? "side B"
	       : f->b_steps > 0 ? "side A"
				: "either side";
}

int pf_gate_check(const char *expression, const struct pf_gate_sides *sides,
		  struct pf_doc *doc, bool *is_failed, struct pf_err *err)
{
	const struct pf_gate_times *times = sides->times;
	struct pf_gate_figure f;
	struct pf_buf text = { 0 };
	struct pf_gate g;

	if (parse(expression, sides, &g, &f, err) < 0)
		return -1;
	if (sides->is_cut) {
		*is_failed = true;
		pf_doc_failed(doc,
			      "%s: a side is cut off or damaged; --force "
			      "compares what is there",
			      expression);
	} else if (f.a_steps <= 0 || f.b_steps <= 0) {
		*is_failed = true;
		pf_doc_failed(doc, "%s: %s is not recorded on %s", expression,
			      f.key, where_unknown(&f));
	} else if (f.kind == PF_NS && !times) {
		*is_failed = true;
		pf_doc_failed(doc,
			      "%s: times are not comparable; --force "
			      "compares them all the same",
			      expression);
	} else if (f.kind == PF_NS) {
		check_time(expression, &g, &f, times, doc, is_failed);
	} else if (pf_gate_holds(&g, &f)) {
		*is_failed = true;
		pf_gate_say_change(&text, &f);
		pf_doc_failed(doc, "%s: %s", expression, text.data);
	}
	pf_buf_release(&text);
	return 0;
}
