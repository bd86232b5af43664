/* SPDX-License-Identifier: MIT */
/* What is said of captures one after the other, and the checks. */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "compare/change.h"
#include "events/names.h"
#include "compare/fleet_trend.h"
#include "show/rows.h"

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
	return c->kernel ? PF_NS : pf_night_figures[c->figure].kind;
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
		const char *key = pf_night_figures[c[i].figure].key;

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
	pf_buf_addf(out, "%s%s", comma, pf_night_figures[most->figure].key);
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
		pf_buf_addf(out, ": %s per step",
			    pf_night_figures[c[i].figure].key);
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
		.name = c->kernel ? c->kernel : pf_night_figures[c->figure].key,
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
static const struct pf_field night_fields[] = {
	N(taken, "taken", "Taken", PF_TEXT),
	N(capture, "capture", "Capture", PF_TEXT),
	N(commit, "commit", "Commit", PF_TEXT),
	N(rank_count, "rank_count", "Ranks", PF_COUNT),
	N(step_count, "step_count", "Steps", PF_COUNT | PF_FULL),
	N(ns[0], "step_ns", "Step", PF_NS | PF_MAYBE),
	N(ns[1], "kernel_ns", "Kernel", PF_NS | PF_MAYBE),
	N(ns[2], "copy_ns", "Copy", PF_NS | PF_MAYBE | PF_FULL),
	N(ns[3], "memset_ns", "Memset", PF_NS | PF_MAYBE | PF_FULL),
	N(ns[4], "comm_ns", "Comm", PF_NS | PF_MAYBE),
	N(ns[5], "runtime_ns", "Runtime", PF_NS | PF_MAYBE | PF_FULL),
	N(ns[6], "data_ns", "Data", PF_NS | PF_MAYBE | PF_FULL),
	N(ns[7], "cpu_ns", "CPU", PF_NS | PF_MAYBE | PF_FULL),
	N(ns[8], "other_ns", "Other", PF_NS | PF_MAYBE | PF_SPARE),
	N(ns[9], "busy_ns", "Busy", PF_NS | PF_MAYBE | PF_FULL),
	N(count[0], "kernels", "Kernels", PF_REAL | PF_FULL),
	N(count[1], "copies", "Copies", PF_REAL | PF_FULL),
	N(count[2], "launches", "Launches", PF_REAL | PF_FULL),
	N(count[3], "syncs", "Syncs", PF_REAL | PF_FULL),
	N(name_count, "name_count", "Kernel names", PF_COUNT | PF_FULL),
	N(labels, "labels", "Labels", PF_TEXT | PF_FULL),
};
#undef N
#define COMMIT 2

static void show_nights(const struct pf_fleet_trend *t, size_t first,
			struct pf_doc *doc)
{
	struct pf_field fields[sizeof(night_fields) / sizeof(*night_fields)];
	bool has_commit = false;

	for (size_t i = 0; i < t->count; i++)
		has_commit |= t->nights[i].commit != NULL;
	memcpy(fields, night_fields, sizeof(fields));
	if (!has_commit)
		fields[COMMIT].col.kind |= PF_FULL;
	pf_doc_rows(doc, "trend", "Means of whole steps of all ranks",
		    PF_FIELDS(fields), t->nights + first, t->count - first,
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
	if (n >= PF_NIGHT_FIGURES)
		return false;
	(void)unused;
	*out = (struct pf_gate_figure){
		.key = pf_night_figures[n].key,
		.title = pf_night_figures[n].title,
		.kind = pf_night_figures[n].kind,
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

		if (!c->kernel && !strcmp(pf_night_figures[c->figure].key, key))
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
