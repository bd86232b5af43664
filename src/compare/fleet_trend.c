/* SPDX-License-Identifier: MIT */
/*
 * Nights are in memory; both statements have them in one order.  Kernels are read one after the other, each with its
 * nights, so that memory grows with nights alone.
 */
#include "config.h"

#include "compare/fleet_trend.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/num.h"
#include "base/order.h"
#include "base/sat.h"
#include "compare/diff_judge.h"
#include "events/names.h"
#include "show/doc.h"
#include "store/query.h"

#define COUNT_MAX 1e12 /* of a step; more is damage */

static const struct pf_fleet_figure *figure_of(size_t n)
{
	return &pf_fleet_step_figures.items[n];
}

#define FIGURES pf_fleet_step_figures.count

static bool is_time(size_t figure)
{
	return PF_COL_KIND(figure_of(figure)->of.col.kind) == PF_NS;
}

/* The fine value of a figure; PF_NO_INT: unknown. */
static int64_t night_value(const struct pf_night *night, size_t figure)
{
	int64_t ns = night->ns[figure];
	double count = night->count[figure];

	/* no comparison holds of what is not known */
	if (!is_time(figure))
		return count >= 0 && count < COUNT_MAX
			       ? llround(count * PF_NIGHT_FINE)
			       : PF_NO_INT;
	/* a step is less than a month, so that this fits */
	return ns < 0 || ns > INT64_MAX / 4 / PF_NIGHT_FINE
		       ? PF_NO_INT
		       : ns * PF_NIGHT_FINE;
}

/* ---- nights ---- */

#define N(member, key, kind) PF_FIELD(struct pf_night, member, key, key, kind)
static const struct pf_field night_fields[] = {
	N(capture_id, "capture_id", PF_INT),
	N(taken, "taken", PF_TEXT),
	N(capture, "capture", PF_TEXT),
	N(commit, "commit", PF_TEXT),
	N(rank_count, "rank_count", PF_COUNT),
	N(name_count, "name_count", PF_COUNT),
	N(labels, "labels", PF_TEXT),
};
#undef N

static void add_sums(struct pf_fleet_trend *t, sqlite3_stmt *st)
{
	int64_t id = sqlite3_column_int64(st, PF_FLEET_CAPTURE_ID);
	struct pf_night *n = t->nights;

	while (n < t->nights + t->count && n->capture_id != id)
		n++;
	if (n == t->nights + t->count)
		return;
	pf_sat_sum(&n->step_count, sqlite3_column_int64(st, PF_FLEET_UNIT));
	for (size_t i = 0; i < FIGURES; i++)
		pf_sat_sum(&n->ns[i],
			   sqlite3_column_int64(st, PF_FLEET_SUMS + (int)i));
}

/* Of a night that has its sums. */
static void find_means(struct pf_night *n)
{
	for (size_t i = 0; i < FIGURES; i++) {
		n->count[i] = pf_ratio((double)n->ns[i], n->step_count);
		n->ns[i] = n->step_count ? llround(n->count[i]) : PF_NO_INT;
	}
}

static int read_nights(struct pf_db *db, struct pf_fleet_trend *t)
{
	sqlite3_stmt *st;
	int rc = -1;

	t->nights = pf_named_rows_take(db, "fleet/show_trend",
				       PF_FIELDS(night_fields), &t->texts,
				       &t->count, db->err);
	st = t->nights ? pf_fleet_sums_prepare(db, &pf_fleet_step_figures)
		       : NULL;
	while (st && (rc = pf_db_step(db, st, db->err)) == 1)
		add_sums(t, st);
	sqlite3_finalize(st);
	for (size_t i = 0; !rc && i < t->count; i++) {
		t->without_steps += !t->nights[i].step_count;
		find_means(&t->nights[i]);
	}
	return rc;
}

/* ---- changes ---- */

static struct pf_fleet_change *add(struct pf_fleet_trend *t)
{
	t->changes = pf_grow(t->changes, &t->change_cap, t->change_count + 1,
			     sizeof(*t->changes));
	return &t->changes[t->change_count++];
}

/* A series: values of the nights that have one. */
struct series {
	int64_t *values, *calls;
	size_t *nights;
	size_t count;
	const char *kernel;
	size_t figure;
	double rate;
};

static void set_up(struct series *s, size_t count)
{
	*s = (struct series){
		.values = pf_calloc(count + 1, sizeof(*s->values)),
		.calls = pf_calloc(count + 1, sizeof(*s->calls)),
		.nights = pf_calloc(count + 1, sizeof(*s->nights)),
	};
}

static void release(struct series *s)
{
	free(s->values);
	free(s->calls);
	free(s->nights);
}

static void put(struct series *s, size_t night, int64_t value, int64_t calls)
{
	s->values[s->count] = value;
	s->calls[s->count] = calls;
	s->nights[s->count++] = night;
}

static int64_t weight_of(double sum)
{
	return sum < 9e18 ? (int64_t)sum : INT64_MAX;
}

/* What it comes to in the nights after it, fine. */
static int64_t weigh(const struct series *s, const struct pf_change *c)
{
	double sum = 0;

	for (size_t i = c->at; i < c->to; i++)
		sum += (double)s->calls[i] * (double)c->rank.shift;
	return weight_of(fabs(sum) / (double)(c->to - c->at));
}

static void find_changes(struct pf_fleet_trend *t, const struct series *s)
{
	struct pf_changes found;

	pf_changes_find(s->values, s->count, s->rate, &found);
	for (size_t i = 0; i < found.count; i++) {
		const struct pf_change *c = &found.items[i];

		*add(t) = (struct pf_fleet_change){
			.night = s->nights[c->at],
			.figure = s->figure,
			.kernel = s->kernel ? pf_arena_string(&t->texts,
							      s->kernel)
					    : NULL,
			.before = c->before,
			.after = c->after,
			.shift = c->rank.shift,
			.low = c->rank.shift_low,
			.high = c->rank.shift_high,
			.p = c->rank.p,
			.before_count = (int64_t)(c->at - c->from),
			.after_count = (int64_t)(c->to - c->at),
			.weight = s->kernel ? weigh(s, c) : 0,
		};
	}
	pf_changes_release(&found);
}

static void find_of_steps(struct pf_fleet_trend *t)
{
	struct series s;

	set_up(&s, t->count);
	s.rate = PF_CHANGE_RATE / 2 / (double)FIGURES;
	t->least = pf_changes_least(s.rate);
	for (s.figure = 0; s.figure < FIGURES; s.figure++) {
		s.count = 0;
		for (size_t i = 0; i < t->count; i++) {
			int64_t value = night_value(&t->nights[i], s.figure);

			if (value != PF_NO_INT)
				put(&s, i, value, 1);
		}
		find_changes(t, &s);
	}
	release(&s);
}

/* ---- kernels ---- */

enum { NAME_ID, NAME, CAPTURE_ID, CALLS, TOTAL_NS };

static int64_t per_call(int64_t total_ns, int64_t calls)
{
	__int128 fine = (__int128)total_ns * PF_NIGHT_FINE;

	fine = (fine + calls / 2) / calls;
	return total_ns >= 0 && fine < INT64_MAX / 4 ? (int64_t)fine
						     : PF_NO_INT;
}

/*
 * It is in every night since one and in none before, or the other way round;
 * nights without any kernel say nothing.
 */
static void find_new(struct pf_fleet_trend *t, const struct series *s)
{
	const struct pf_night *nights = t->nights;
	size_t first = s->nights[0], last = s->nights[s->count - 1];
	size_t inside = 0, before = 0, after = 0;
	bool is_new;

	for (size_t i = 0; i < t->count; i++) {
		if (!nights[i].name_count)
			continue;
		before += i < first;
		after += i > last;
		inside += i >= first && i <= last;
	}
	is_new = before && !after;
	if (inside != s->count || (!is_new && (before || !after)))
		return;
	if (!is_new)
		while (!nights[++last].name_count)
			;
	*add(t) = (struct pf_fleet_change){
		.what = is_new ? PF_FLEET_NEW : PF_FLEET_GONE,
		.night = is_new ? first : last,
		.kernel = pf_arena_string(&t->texts, s->kernel),
		.before = is_new ? PF_NO_INT : s->values[s->count - 1],
		.after = is_new ? s->values[0] : PF_NO_INT,
		.shift = PF_NO_INT,
		.low = PF_NO_INT,
		.high = PF_NO_INT,
		.p = NAN,
		.before_count = (int64_t)(is_new ? before : inside),
		.after_count = (int64_t)(is_new ? inside : after),
		.weight = weight_of((double)s->calls[0] * (double)s->values[0]),
	};
}

static void end_kernel(struct pf_fleet_trend *t, struct series *s)
{
	if (s->count) {
		find_changes(t, s);
		find_new(t, s);
	}
	s->count = 0;
}

/* Rows of a kernel stand together, in the order of nights. */
static int read_kernels(struct pf_db *db, struct pf_fleet_trend *t,
			struct series *s)
{
	sqlite3_stmt *st = pf_named_prepare(db, "fleet/trend_kernels", db->err);
	int64_t name_id = PF_NO_INT;
	struct pf_buf name = { 0 };
	size_t night = 0;
	int rc = st ? 0 : -1;

	while (!rc && (rc = pf_db_step(db, st, db->err)) == 1) {
		int64_t id = sqlite3_column_int64(st, NAME_ID);
		int64_t capture = sqlite3_column_int64(st, CAPTURE_ID);
		int64_t calls = sqlite3_column_int64(st, CALLS), value;

		if (id != name_id) {
			end_kernel(t, s);
			night = 0;
			name_id = id;
			pf_buf_clear(&name);
			pf_buf_adds(&name, (const char *)sqlite3_column_text(
						   st, NAME));
			s->kernel = name.data;
		}
		while (night < t->count &&
		       t->nights[night].capture_id != capture)
			night++;
		value = calls > 0 ? per_call(sqlite3_column_int64(st, TOTAL_NS),
					     calls)
				  : PF_NO_INT;
		if (night < t->count && value != PF_NO_INT)
			put(s, night, value, calls);
		rc = 0;
	}
	if (!rc)
		end_kernel(t, s);
	sqlite3_finalize(st);
	pf_buf_release(&name);
	return rc;
}

static int find_of_kernels(struct pf_db *db, struct pf_fleet_trend *t)
{
	struct series s;
	int rc = pf_db_number(db, "SELECT count(DISTINCT name_id) FROM kernel",
			      &t->kernel_count, db->err);

	if (rc || !t->kernel_count)
		return rc;
	set_up(&s, t->count);
	s.rate = PF_CHANGE_RATE / 2 / (double)t->kernel_count;
	t->least_kernels = pf_changes_least(s.rate);
	rc = read_kernels(db, t, &s);
	release(&s);
	return rc;
}

/* ---- the whole ---- */

static int by_night(const void *a, const void *b)
{
	const struct pf_fleet_change *x = a, *y = b;

	if (x->night != y->night)
		return x->night < y->night ? 1 : -1;
	if (!x->kernel != !y->kernel)
		return x->kernel ? 1 : -1;
	if (!x->kernel)
		return (x->figure > y->figure) - (x->figure < y->figure);
	if (x->what != y->what)
		return x->what < y->what ? -1 : 1;
	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return strcmp(x->kernel, y->kernel);
}

static void put_in_order(struct pf_fleet_trend *t)
{
	pf_sort(t->changes, t->change_count, sizeof(*t->changes), by_night);
}

int pf_fleet_trend_find(struct pf_db *db, struct pf_fleet_trend *t)
{
	*t = (struct pf_fleet_trend){ 0 };
	if (read_nights(db, t))
		return -1;
	find_of_steps(t);
	if (find_of_kernels(db, t))
		return -1;
	put_in_order(t);
	return 0;
}

/* ---- captures that are in no fleet ---- */

static struct pf_night night_of(const struct pf_trend_row *row, size_t number,
				bool has_steps)
{
	struct pf_night night = {
		.capture_id = (int64_t)number,
		.capture = row->path,
		.rank_count = 1,
		.step_count = has_steps ? row->steps : 0,
	};

	for (size_t i = 0; i < FIGURES; i++) {
		struct pf_cell cell = pf_field_cell(&figure_of(i)->night, row);

		night.ns[i] = has_steps && cell.type == PF_CELL_INT ? cell.v.i
								    : PF_NO_INT;
		night.count[i] =
			has_steps && cell.type == PF_CELL_REAL ? cell.v.d : NAN;
	}
	return night;
}

/* A kernel's calls in a capture, and their time. */
struct called {
	int64_t calls, ns;
};

static void add_kernels(const struct pf_capture *c, size_t number,
			size_t captures, struct pf_intern *names,
			struct called **all, size_t *cap)
{
	for (size_t i = 0; i < c->work.count; i++) {
		const struct pf_work_row *row = pf_work_at(c, i);
		const char *name =
			pf_intern_text(&c->texts, row->key.kernel, NULL);
		size_t before = *cap, n;
		struct called *one;

		if (row->key.kind != PF_KIND_KERNEL)
			continue;
		n = pf_intern_add(names, name, strlen(name));
		*all = pf_grow(*all, cap, (n + 1) * captures, sizeof(**all));
		if (*cap > before)
			memset(*all + before, 0,
			       (*cap - before) * sizeof(**all));
		one = &(*all)[n * captures + number];
		one->calls += row->sum.count;
		one->ns += row->sum.ns;
	}
}

static void find_of_calls(struct pf_fleet_trend *t,
			  const struct pf_intern *names,
			  const struct called *all)
{
	struct series s;

	t->kernel_count = names->count;
	if (!names->count)
		return;
	set_up(&s, t->count);
	s.rate = PF_CHANGE_RATE / 2 / (double)t->kernel_count;
	t->least_kernels = pf_changes_least(s.rate);
	for (size_t i = 0; i < names->count * t->count; i++)
		t->nights[i % t->count].name_count += all[i].calls > 0;
	for (uint32_t k = 0; k < names->count; k++) {
		s.kernel = pf_intern_text(names, k, NULL);
		for (size_t i = 0; i < t->count; i++) {
			const struct called *c = &all[k * t->count + i];
			int64_t value = c->calls > 0 ? per_call(c->ns, c->calls)
						     : PF_NO_INT;

			if (value != PF_NO_INT)
				put(&s, i, value, c->calls);
		}
		end_kernel(t, &s);
	}
	release(&s);
}

void pf_fleet_trend_of(const struct pf_trend *trend,
		       const struct pf_capture *const *captures,
		       struct pf_fleet_trend *t)
{
	struct pf_intern names;
	struct called *all = NULL;
	size_t cap = 0;

	*t = (struct pf_fleet_trend){ .count = trend->count };
	pf_intern_init(&names);
	t->nights = pf_calloc(trend->count + 1, sizeof(*t->nights));
	for (size_t i = 0; i < trend->count; i++) {
		t->nights[i] =
			night_of(&trend->rows[i], i, captures[i]->has_steps);
		t->without_steps += !captures[i]->has_steps;
		add_kernels(captures[i], i, trend->count, &names, &all, &cap);
	}
	find_of_steps(t);
	find_of_calls(t, &names, all);
	put_in_order(t);
	pf_intern_release(&names);
	free(all);
}

void pf_fleet_trend_release(struct pf_fleet_trend *t)
{
	free(t->nights);
	free(t->changes);
	pf_arena_release(&t->texts);
	*t = (struct pf_fleet_trend){ 0 };
}

/* What is said of captures one after the other, and the checks. */

#define DAY 10 /* characters of a time that are its day */

/* ---- words ---- */

static const char *plural(size_t n)
{
	return n == 1 ? "" : "s";
}

/* A fine value in the unit of the figure; of kernels, of a call. */
static const char *value_of(char out[PF_NUM_MAX], int64_t fine,
			    enum pf_col_kind kind)
{
	if (fine == PF_NO_INT)
		return NULL;
	return kind == PF_NS
		       ? pf_num_show_ns(out, (fine + PF_NIGHT_FINE / 2) /
						     PF_NIGHT_FINE)
		       : pf_num_show_real(out, (double)fine / PF_NIGHT_FINE);
}

static enum pf_col_kind kind_of(const struct pf_fleet_change *c)
{
	return c->kernel || is_time(c->figure) ? PF_NS : PF_COUNT;
}

static double share_of(const struct pf_fleet_change *c)
{
	return c->shift == PF_NO_INT ? NAN
				     : pf_ratio((double)c->shift, c->before);
}

/* " +2.4 % (37.6 ms to 38.5 ms)" */
static void say_change(struct pf_buf *out, const struct pf_fleet_change *c)
{
	char from[PF_NUM_MAX], to[PF_NUM_MAX], share[PF_NUM_MAX];

	if (c->before > 0)
		pf_buf_addf(out, " %s%s", c->shift > 0 ? "+" : "",
			    pf_num_show_ratio(share, share_of(c)));
	pf_buf_addf(out, " (%s to %s)", value_of(from, c->before, kind_of(c)),
		    value_of(to, c->after, kind_of(c)));
}

/* "2026-10-11 (night 40, commit 1a2b3c)" */
static void say_night(struct pf_buf *out, const struct pf_night *n)
{
	if (n->taken)
		pf_buf_addf(out, "%.*s (", DAY, n->taken);
	pf_buf_adds(out, n->capture);
	if (n->commit)
		pf_buf_addf(out, ", commit %s", n->commit);
	if (n->taken)
		pf_buf_addc(out, ')');
}

/* ---- the finding ---- */

/* Changes of the last night that has any stand first. */
static size_t count_latest(const struct pf_fleet_trend *t)
{
	size_t n = 0;

	while (n < t->change_count &&
	       t->changes[n].night == t->changes[0].night)
		n++;
	return n;
}

/* The step itself, and what of its parts changed most. */
static void say_steps(struct pf_buf *out, const struct pf_fleet_change *c,
		      size_t count)
{
	const struct pf_fleet_change *most = NULL;
	const char *comma = ": ";

	for (size_t i = 0; i < count; i++) {
		const char *key = figure_of(c[i].figure)->name;

		if (c[i].kernel || kind_of(&c[i]) != PF_NS ||
		    !strcmp(key, "gpu_busy"))
			continue;
		if (!strcmp(key, "step_time")) {
			pf_buf_adds(out, ": step");
			say_change(out, &c[i]);
			comma = ", ";
		} else if (!most || llabs(c[i].shift) > llabs(most->shift)) {
			most = &c[i];
		}
	}
	if (!most)
		return;
	pf_buf_addf(out, "%s%s", comma, figure_of(most->figure)->name);
	say_change(out, most);
}

static void say_kernels(struct pf_buf *out, const struct pf_fleet_change *c,
			size_t count, bool is_first)
{
	const struct pf_fleet_change *most = NULL;
	size_t changed = 0;
	char share[PF_NUM_MAX];

	for (size_t i = 0; i < count; i++) {
		if (!c[i].kernel || c[i].what != PF_FLEET_CHANGED)
			continue;
		most = most ? most : &c[i];
		changed++;
	}
	if (!most)
		return;
	pf_buf_addf(out, "%s%zu kernel%s another time per call, most ",
		    is_first ? ": " : "; ", changed,
		    changed == 1 ? " has" : "s have");
	pf_kernel_short_name(out, most->kernel);
	pf_buf_addf(out, " (%s%s)", most->shift > 0 ? "+" : "",
		    pf_num_show_ratio(share, share_of(most)));
}

/* Counts, where neither times nor kernels changed. */
static void say_counts(struct pf_buf *out, const struct pf_fleet_change *c,
		       size_t count)
{
	size_t new = 0, gone = 0;

	for (size_t i = 0; i < count; i++) {
		new += c[i].what == PF_FLEET_NEW;
		gone += c[i].what == PF_FLEET_GONE;
		if (c[i].kernel)
			continue;
		pf_buf_addf(out, ": %s per step", figure_of(c[i].figure)->name);
		say_change(out, &c[i]);
		return;
	}
	pf_buf_addf(out, ": %zu kernel%s new and %zu gone", new, plural(new),
		    gone);
}

void pf_fleet_changes_say(const struct pf_fleet_trend *t, struct pf_buf *out)
{
	size_t count = count_latest(t), before = 0, length;

	if (!count)
		return;
	for (size_t i = count; i < t->change_count; i++)
		before += i == count ||
			  t->changes[i].night != t->changes[i - 1].night;
	say_night(out, &t->nights[t->changes[0].night]);
	length = out->len;
	say_steps(out, t->changes, count);
	say_kernels(out, t->changes, count, out->len == length);
	if (out->len == length)
		say_counts(out, t->changes, count);
	if (before)
		pf_buf_addf(out, "; %zu earlier capture%s changed something",
			    before, plural(before));
}

static void say_latest(const struct pf_fleet_trend *t, struct pf_doc *doc)
{
	struct pf_buf out = { 0 };

	pf_fleet_changes_say(t, &out);
	pf_doc_finding(doc, "Since %s", out.data);
	pf_buf_release(&out);
}

static void say_even(const struct pf_fleet_trend *t, struct pf_doc *doc)
{
	size_t known = t->count - t->without_steps;

	if (known < t->least)
		pf_doc_finding(doc,
			       "%zu capture%s with whole steps %s too few to "
			       "tell a change from chance, which takes %zu",
			       known, plural(known), known == 1 ? "is" : "are",
			       t->least);
	else
		pf_doc_finding(doc,
			       "No change in %zu captures that is more than "
			       "how they vary",
			       t->count);
}

/* ---- tables ---- */

struct change_row {
	const char *day, *taken, *capture, *commit, *of, *name, *from, *to;
	const char *unit;
	double before, after, shift, low, high, share, p;
	int64_t before_count, after_count;
};

#define C(member, key, title, kind)                                            \
	PF_FIELD(struct change_row, member, key, title, kind)
static const struct pf_field change_fields[] = {
	C(day, "since", "Since", PF_TEXT | PF_BRIEF),
	C(taken, "taken", "Taken", PF_TEXT | PF_FULL),
	C(capture, "capture", "Capture", PF_TEXT),
	C(commit, "commit", "Commit", PF_TEXT | PF_FULL),
	C(of, "of", "Of", PF_TEXT | PF_FULL),
	C(name, "name", "Figure or kernel", PF_TEXT),
	C(from, "from", "Before", PF_TEXT | PF_BRIEF),
	C(to, "to", "After", PF_TEXT | PF_BRIEF),
	C(unit, "unit", "Unit", PF_TEXT | PF_FULL),
	C(before, "before", "Before", PF_REAL | PF_FULL),
	C(after, "after", "After", PF_REAL | PF_FULL),
	C(shift, "shift", "Shift", PF_REAL | PF_FULL),
	C(low, "shift_low", "From", PF_REAL | PF_FULL),
	C(high, "shift_high", "To", PF_REAL | PF_FULL),
	C(share, "change", "Change", PF_RATIO | PF_SIGNED),
	C(p, "p", "p", PF_REAL | PF_FULL),
	C(before_count, "before_count", "Captures before", PF_COUNT | PF_FULL),
	C(after_count, "after_count", "Captures after", PF_COUNT | PF_FULL),
};
#undef C

static double plain(int64_t fine)
{
	return fine == PF_NO_INT ? NAN : (double)fine / PF_NIGHT_FINE;
}

static void add_change(const struct pf_fleet_trend *t,
		       const struct pf_fleet_change *c, struct pf_table *table)
{
	static const char *const gone[] = {
		[PF_FLEET_NEW] = "new", [PF_FLEET_GONE] = "gone"
	};
	const struct pf_night *n = &t->nights[c->night];
	char from[PF_NUM_MAX], to[PF_NUM_MAX], day[DAY + 1] = "";
	struct change_row row = {
		.day = n->taken ? day : n->capture,
		.taken = n->taken,
		.capture = n->capture,
		.commit = n->commit,
		.of = c->kernel ? "kernel" : "step",
		.name = c->kernel ? c->kernel : figure_of(c->figure)->name,
		.from = value_of(from, c->before, kind_of(c)),
		.to = value_of(to, c->after, kind_of(c)),
		.unit = kind_of(c) == PF_NS ? "ns" : "count",
		.before = plain(c->before),
		.after = plain(c->after),
		.shift = plain(c->shift),
		.low = plain(c->low),
		.high = plain(c->high),
		.share = share_of(c),
		.p = c->p,
		.before_count = c->before_count,
		.after_count = c->after_count,
	};

	if (n->taken)
		snprintf(day, sizeof(day), "%s", n->taken);
	if (c->what == PF_FLEET_NEW)
		row.from = gone[PF_FLEET_NEW];
	if (c->what == PF_FLEET_GONE)
		row.to = gone[PF_FLEET_GONE];
	PF_PUT(table, change_fields, row);
}

#define N(member, key, title, kind)                                            \
	PF_FIELD(struct pf_night, member, key, title, kind)
static const struct pf_field shown_night_fields[] = {
	N(taken, "taken", "Taken", PF_TEXT),
	N(capture, "capture", "Capture", PF_TEXT),
	N(commit, "commit", "Commit", PF_TEXT),
	N(rank_count, "rank_count", "Ranks", PF_COUNT),
	N(step_count, "step_count", "Steps", PF_COUNT | PF_FULL),
	N(name_count, "name_count", "Kernel names", PF_COUNT | PF_FULL),
	N(labels, "labels", "Labels", PF_TEXT | PF_FULL),
};
#undef N
#define SHOWN  (sizeof(shown_night_fields) / sizeof(*shown_night_fields))
#define COMMIT 2
#define BEFORE 5 /* the figures of a step */

static struct pf_field night_field(size_t figure)
{
	static const struct pf_field ns = PF_FIELD(struct pf_night, ns[0], "",
						   "", PF_NS),
				     count = PF_FIELD(struct pf_night, count[0],
						      "", "", PF_REAL);
	struct pf_field field = is_time(figure) ? ns : count;

	field.col = figure_of(figure)->night.col;
	field.at += figure * sizeof(int64_t);
	return field;
}

static void show_nights(const struct pf_fleet_trend *t, size_t first,
			struct pf_doc *doc)
{
	struct pf_field fields[SHOWN + PF_FLEET_FIGURES];
	size_t count = 0;
	bool has_commit = false;

	for (size_t i = 0; i < t->count; i++)
		has_commit |= t->nights[i].commit != NULL;
	for (size_t i = 0; i < SHOWN; i++) {
		for (size_t k = 0; i == BEFORE && k < FIGURES; k++)
			fields[count++] = night_field(k);
		fields[count++] = shown_night_fields[i];
	}
	if (!has_commit)
		fields[COMMIT].col.kind |= PF_FULL;
	pf_doc_rows(doc, "trend", "Means of whole steps of all ranks", fields,
		    count, t->nights + first, t->count - first,
		    sizeof(*t->nights));
}

static void show_changes(const struct pf_fleet_trend *t, size_t count,
			 struct pf_doc *doc)
{
	struct pf_table *table =
		pf_doc_fields(doc, "changes",
			      "What changed, of a step or per call of a kernel",
			      PF_FIELDS(change_fields));

	for (size_t i = 0; i < count; i++)
		add_change(t, &t->changes[i], table);
}

/* How far what is said can be trusted. */
static void show_chances(const struct pf_fleet_trend *t, struct pf_doc *doc)
{
	if (t->count >= t->least && t->count < t->least_kernels)
		pf_doc_note(doc,
			    "a change of one of %" PRId64 " kernels would take "
			    "%zu captures to tell from chance",
			    t->kernel_count, t->least_kernels);
	if (t->change_count)
		pf_doc_note(doc,
			    "of captures that vary by chance alone, at most "
			    "1 fleet in %.0f shows any change",
			    1 / PF_CHANGE_RATE);
}

void pf_fleet_changes_show(const struct pf_fleet_trend *t, int64_t limit,
			   struct pf_doc *doc)
{
	size_t count = t->change_count;

	if (t->count < t->least)
		return;
	if (limit >= 0 && count > (size_t)limit)
		count = (size_t)limit;
	show_changes(t, count, doc);
	if (count < t->change_count)
		pf_doc_note(doc,
			    "%zu more rows of 'changes'; --format csv has "
			    "each",
			    t->change_count - count);
	show_chances(t, doc);
}

static void show_notes(const struct pf_fleet_trend *t, size_t first,
		       struct pf_doc *doc)
{
	if (first)
		pf_doc_note(doc, "%zu earlier capture%s; --limit -1 shows all",
			    first, plural(first));
	if (t->without_steps)
		pf_doc_note(doc, "%zu capture%s no whole step",
			    t->without_steps,
			    t->without_steps == 1 ? " has" : "s have");
	show_chances(t, doc);
}

void pf_fleet_trend_show(const struct pf_fleet_trend *t, int64_t limit,
			 struct pf_doc *doc)
{
	size_t first = limit >= 0 && (size_t)limit < t->count
			       ? t->count - (size_t)limit
			       : 0;

	if (t->change_count)
		say_latest(t, doc);
	else
		say_even(t, doc);
	pf_doc_int(doc, "capture_count", "Captures", PF_COUNT,
		   (int64_t)t->count);
	pf_doc_int(doc, "kernel_count", "Kernels looked at", PF_COUNT | PF_FULL,
		   t->kernel_count);
	pf_doc_int(doc, "least_captures", "Captures that a change takes",
		   PF_COUNT | PF_FULL, (int64_t)t->least);
	show_changes(t, t->change_count, doc);
	show_nights(t, first, doc);
	show_notes(t, first, doc);
}

/* ---- checks ---- */

/* The figures themselves, of whose last change there is none yet. */
static bool figure_at(const void *unused, size_t n, struct pf_gate_figure *out)
{
	if (n >= FIGURES)
		return false;
	(void)unused;
	*out = (struct pf_gate_figure){
		.key = figure_of(n)->name,
		.kind = is_time(n) ? PF_NS : PF_COUNT,
		.a_steps = PF_NIGHT_FINE,
		.b_steps = PF_NIGHT_FINE,
	};
	return true;
}

static const struct pf_gate_figures figures = { figure_at, NULL };

int pf_fleet_gate_parse(const char *expression, struct pf_err *err)
{
	struct pf_gate_figure f;
	struct pf_gate gate;

	return pf_gate_read(expression, &figures, &gate, &f, err);
}

/* The last change of a figure, or NULL. */
static const struct pf_fleet_change *last_of(const struct pf_fleet_trend *t,
					     const char *key)
{
	for (size_t i = 0; i < t->change_count; i++) {
		const struct pf_fleet_change *c = &t->changes[i];

		if (!c->kernel && !strcmp(figure_of(c->figure)->name, key))
			return c;
	}
	return NULL;
}

int pf_fleet_gate(const char *expression, const struct pf_fleet_trend *t,
		  struct pf_doc *doc, bool *is_failed, struct pf_err *err)
{
	const struct pf_fleet_change *c;
	struct pf_buf text = { 0 };
	struct pf_gate_figure f;
	struct pf_gate gate;

	if (pf_gate_read(expression, &figures, &gate, &f, err))
		return -1;
	c = last_of(t, gate.name);
	if (!c && t->count - t->without_steps < t->least) {
		pf_doc_note(doc,
			    "not failed: %s: it takes %zu captures to tell a "
			    "change from chance",
			    expression, t->least);
		return 0;
	}
	if (!c)
		return 0;
	f.a = c->before;
	f.b = c->before + c->shift;
	if (pf_gate_holds(&gate, &f)) {
		pf_gate_say_change(&text, &f);
		pf_buf_adds(&text, " since ");
		say_night(&text, &t->nights[c->night]);
		pf_doc_failed(doc, "%s: %s", expression, text.data);
		*is_failed = true;
	}
	pf_buf_release(&text);
	return 0;
}
