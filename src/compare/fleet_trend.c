/* SPDX-License-Identifier: MIT */
/*
 * Nights are in memory; both statements have them in one order.  Kernels are read one after the other, each with its
 * nights, so that memory grows with nights alone.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/order.h"
#include "compare/change.h"
#include "compare/fleet_trend.h"
#include "store/query.h"

#define COUNT_MAX 1e12 /* of a step; more is damage */

const struct pf_night_figure pf_night_figures[PF_NIGHT_FIGURES] = {
	{ "step_time", "Step", PF_NS, 0 },
	{ "kernel", "Kernel", PF_NS, 1 },
	{ "copy", "Copy", PF_NS, 2 },
	{ "memset", "Memset", PF_NS, 3 },
	{ "comm", "Comm", PF_NS, 4 },
	{ "runtime", "Runtime", PF_NS, 5 },
	{ "data", "Data", PF_NS, 6 },
	{ "cpu", "CPU", PF_NS, 7 },
	{ "other", "Other", PF_NS, 8 },
	{ "gpu_busy", "GPU busy", PF_NS, 9 },
	{ "kernels", "Kernels", PF_COUNT, 0 },
	{ "copies", "Copies", PF_COUNT, 1 },
	{ "launches", "Launches", PF_COUNT, 2 },
	{ "syncs", "Syncs", PF_COUNT, 3 },
};

int64_t pf_night_value(const struct pf_night *night, size_t figure)
{
	const struct pf_night_figure *f = &pf_night_figures[figure];

	/* no comparison holds of what is not known */
	if (f->kind != PF_NS)
		return night->count[f->n] >= 0 && night->count[f->n] < COUNT_MAX
			       ? llround(night->count[f->n] * PF_NIGHT_FINE)
			       : PF_NO_INT;
	/* a step is less than a month, so that this fits */
	return night->ns[f->n] < 0 ||
			       night->ns[f->n] > INT64_MAX / 4 / PF_NIGHT_FINE
		       ? PF_NO_INT
		       : night->ns[f->n] * PF_NIGHT_FINE;
}

/* ---- nights ---- */

#define N(member, key, kind) PF_FIELD(struct pf_night, member, key, key, kind)
static const struct pf_field night_fields[] = {
	N(capture_id, "capture_id", PF_INT),
	N(taken, "taken", PF_TEXT),
	N(capture, "capture", PF_TEXT),
	N(commit, "commit", PF_TEXT),
	N(rank_count, "rank_count", PF_COUNT),
	N(step_count, "step_count", PF_COUNT),
	N(ns[0], "step_ns", PF_NS),
	N(ns[1], "kernel_ns", PF_NS),
	N(ns[2], "copy_ns", PF_NS),
	N(ns[3], "memset_ns", PF_NS),
	N(ns[4], "comm_ns", PF_NS),
	N(ns[5], "runtime_ns", PF_NS),
	N(ns[6], "data_ns", PF_NS),
	N(ns[7], "cpu_ns", PF_NS),
	N(ns[8], "other_ns", PF_NS),
	N(ns[9], "busy_ns", PF_NS),
	N(name_count, "name_count", PF_COUNT),
	N(count[0], "kernels", PF_REAL),
	N(count[1], "copies", PF_REAL),
	N(count[2], "launches", PF_REAL),
	N(count[3], "syncs", PF_REAL),
	N(labels, "labels", PF_TEXT),
};
#undef N

static int read_nights(struct pf_db *db, struct pf_fleet_trend *t,
		       struct pf_err *err)
{
	t->nights = pf_named_rows_take(db, "fleet/show_trend",
				       PF_FIELDS(night_fields), &t->texts,
				       &t->count, err);
	for (size_t i = 0; t->nights && i < t->count; i++)
		t->without_steps += !t->nights[i].step_count;
	return t->nights ? 0 : -1;
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
	s.rate = PF_CHANGE_RATE / 2 / PF_NIGHT_FIGURES;
	t->least = pf_changes_least(s.rate);
	for (s.figure = 0; s.figure < PF_NIGHT_FIGURES; s.figure++) {
		s.count = 0;
		for (size_t i = 0; i < t->count; i++) {
			int64_t value = pf_night_value(&t->nights[i], s.figure);

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
			struct series *s, struct pf_err *err)
{
	sqlite3_stmt *st = pf_named_prepare(db, "fleet/trend_kernels", err);
	int64_t name_id = PF_NO_INT;
	struct pf_buf name = { 0 };
	size_t night = 0;
	int rc = st ? 0 : -1;

	while (!rc && (rc = pf_db_step(db, st, err)) == 1) {
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

static int find_of_kernels(struct pf_db *db, struct pf_fleet_trend *t,
			   struct pf_err *err)
{
	struct series s;
	int rc = pf_db_number(db, "SELECT count(DISTINCT name_id) FROM kernel",
			      &t->kernel_count, err);

	if (rc || !t->kernel_count)
		return rc;
	set_up(&s, t->count);
	s.rate = PF_CHANGE_RATE / 2 / (double)t->kernel_count;
	t->least_kernels = pf_changes_least(s.rate);
	rc = read_kernels(db, t, &s, err);
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

int pf_fleet_trend_find(struct pf_db *db, struct pf_fleet_trend *t,
			struct pf_err *err)
{
	*t = (struct pf_fleet_trend){ 0 };
	if (read_nights(db, t, err))
		return -1;
	find_of_steps(t);
	if (find_of_kernels(db, t, err))
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
		.ns = { row->step_ns },
		.count = { row->count[PF_COUNT_KERNELS], 0,
			   row->count[PF_COUNT_LAUNCHES],
			   row->count[PF_COUNT_SYNCS] },
	};

	for (size_t i = 0; i < PF_STEP_CLASSES; i++)
		night.ns[1 + i] = row->class_ns[i];
	night.ns[PF_NIGHT_TIMES - 1] = row->busy_ns;
	for (size_t i = PF_COUNT_HTOD; i <= PF_COUNT_OTHER_COPIES; i++)
		night.count[1] += row->count[i];
	for (size_t i = 0; !has_steps && i < PF_NIGHT_TIMES; i++)
		night.ns[i] = PF_NO_INT;
	for (size_t i = 0; !has_steps && i < PF_NIGHT_COUNTS; i++)
		night.count[i] = -1;
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
	for (size_t i = 0; i < c->work_count; i++) {
		const struct pf_work_row *row = &c->work[i];
		const char *name =
			pf_intern_text(&c->texts, row->key.kernel, NULL);
		size_t before = *cap, n;
		struct called *one;

		if (!pf_capture_is_kernel(row))
			continue;
		n = pf_intern_add(names, name, strlen(name));
		*all = pf_grow(*all, cap, (n + 1) * captures, sizeof(**all));
		if (*cap > before)
			memset(*all + before, 0,
			       (*cap - before) * sizeof(**all));
		one = &(*all)[n * captures + number];
		one->calls += row->count;
		one->ns += row->ns;
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
