/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/jsonw.h"
#include "base/mem.h"
#include "report/figure.h"
#include "report/html.h"
#include "report/payload.h"
#include "report/timeline.h"
#include "table/find.h"

#define MARKS_MAX  200
#define NAMES_PART 4 /* names may fill so much of the room: a quarter */

/* ---- names ---- */

struct ranked {
	uint32_t name;
	int64_t time_ns;
};

static int by_time(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns > y->time_ns ? -1 : 1;
	return (x->name > y->name) - (x->name < y->name);
}

/*
 * Too many names: those with the least time become one.  The last name of the
 * list, if any were dropped.
 */
static uint32_t *choose_names(struct pf_timeline *t, int64_t room, size_t *kept)
{
	static const char other[] = "(other names)";
	struct ranked *r = pf_calloc(t->name_count + 1, sizeof(*r));
	uint32_t *map = pf_calloc(t->name_count + 1, sizeof(*map));
	int64_t bytes = 0;
	size_t n = 0;

	for (size_t i = 0; i < t->name_count; i++)
		r[i] = (struct ranked){ (uint32_t)i, t->names[i].time_ns };
	qsort(r, t->name_count, sizeof(*r), by_time);
	for (size_t i = 0; i < t->name_count; i++)
		map[i] = UINT32_MAX;
	while (n < t->name_count) {
		bytes += t->names[r[n].name].len + 3;
		if (bytes > room / NAMES_PART)
			break;
		map[r[n].name] = 0;
		n++;
	}
	*kept = 0;
	for (size_t i = 0; i < t->name_count; i++)
		if (map[i] != UINT32_MAX)
			map[i] = (uint32_t)(*kept)++;
	if (n < t->name_count) {
		for (size_t i = 0; i < t->name_count; i++)
			if (map[i] == UINT32_MAX)
				map[i] = (uint32_t)*kept;
		t->names[t->name_count] =
			(struct pf_slice_name){ .len = sizeof(other) - 1,
						.at = t->texts.len };
		pf_buf_adds(&t->texts, other);
	}
	free(r);
	return map;
}

static void write_names(struct pf_jsonw *w, const struct pf_timeline *t,
			const uint32_t *map, size_t kept)
{
	bool has_other = false;

	pf_jsonw_key(w, "names");
	pf_jsonw_array(w);
	for (size_t i = 0; i < t->name_count; i++) {
		if (map[i] < kept)
			pf_jsonw_string(w, t->texts.data + t->names[i].at,
					t->names[i].len);
		else
			has_other = true;
	}
	if (has_other)
		pf_jsonw_string(w, t->texts.data + t->names[t->name_count].at,
				t->names[t->name_count].len);
	pf_jsonw_end(w);
}

/* ---- steps and marks ---- */

static void write_steps(struct pf_jsonw *w, const struct pf_report *r,
			const struct pf_timeline *t)
{
	const struct pf_table *steps =
		pf_doc_find_table(&r->parts.doc[PF_PART_STEPS], "steps");

	pf_jsonw_key(w, "steps");
	pf_jsonw_array(w);
	for (size_t i = 0; i < pf_table_rows(steps); i++) {
		int64_t at =
			pf_table_int_at(steps, i, "start_ns") - t->first_ns;

		if (!pf_table_at(steps, i, "step") ||
		    pf_table_int_at(steps, i, "trace_id") != t->trace_id)
			continue;
		pf_jsonw_array(w);
		pf_jsonw_int(w, at);
		pf_jsonw_int(w, at + pf_table_int_at(steps, i, "dur_ns"));
		pf_jsonw_int(w, pf_table_int_at(steps, i, "step"));
		pf_jsonw_end(w);
	}
	pf_jsonw_end(w);
}

static void write_mark(struct pf_jsonw *w, int64_t from, int64_t to,
		       const char *label)
{
	pf_jsonw_object(w);
	pf_jsonw_key(w, "t0");
	pf_jsonw_int(w, from);
	pf_jsonw_key(w, "t1");
	pf_jsonw_int(w, to);
	pf_jsonw_key(w, "label");
	pf_jsonw_string(w, label, strlen(label));
	pf_jsonw_end(w);
}

/* The places of verdicts and the longest gaps. */
static void write_marks(struct pf_jsonw *w, const struct pf_report *r,
			const struct pf_timeline *t)
{
	const struct pf_table *gaps =
		pf_doc_find_table(&r->parts.doc[PF_PART_GAPS], "gaps");

	pf_jsonw_key(w, "marks");
	pf_jsonw_array(w);
	for (size_t i = 0; i < r->verdicts.fired; i++) {
		const struct pf_verdict *v = &r->verdicts.all[i];

		if (v->from_ns >= 0 && v->trace_id == t->trace_id)
			write_mark(w, v->from_ns, v->to_ns, v->title);
	}
	for (size_t i = 0; i < pf_table_rows(gaps) && i < MARKS_MAX / 2; i++) {
		int64_t at = pf_table_int_at(gaps, i, "start_ns");
		const char *cause = pf_table_text_at(gaps, i, "cause");

		if (pf_table_int_at(gaps, i, "trace_id") == t->trace_id)
			write_mark(w, at, at + pf_table_int_at(gaps, i, "ns"),
				   cause ? cause : "idle");
	}
	pf_jsonw_end(w);
}

/* ---- groups ---- */

static void write_track(struct pf_jsonw *w, const struct pf_slice_track *t)
{
	pf_jsonw_object(w);
	pf_jsonw_key(w, "label");
	pf_jsonw_string(w, t->label.data ? t->label.data : "", t->label.len);
	pf_jsonw_key(w, "id");
	pf_jsonw_int(w, t->track_id);
	if (t->launches) {
		pf_jsonw_key(w, "launches");
		pf_jsonw_int(w, t->launches);
	}
	if (t->is_waiting) {
		pf_jsonw_key(w, "wait");
		pf_jsonw_int(w, 1);
	}
	pf_jsonw_end(w);
}

static void write_group(struct pf_jsonw *w, const struct pf_timeline *t,
			enum pf_slice_group which)
{
	const struct pf_slices *g = &t->group[which];
	char id[8] = { 'p', (char)('0' + which), '\0' };

	pf_jsonw_object(w);
	pf_jsonw_key(w, "id");
	pf_jsonw_string(w, id, 2);
	pf_jsonw_key(w, "key");
	pf_jsonw_string(w, pf_slice_group_key(which),
			strlen(pf_slice_group_key(which)));
	pf_jsonw_key(w, "n");
	pf_jsonw_int(w, g->count);
	if (g->until_ns != INT64_MAX) {
		pf_jsonw_key(w, "until");
		pf_jsonw_int(w, g->until_ns);
	}
	pf_jsonw_key(w, "tracks");
	pf_jsonw_array(w);
	for (size_t i = 0; i < g->track_count; i++)
		write_track(w, &g->tracks[i]);
	pf_jsonw_end(w);
	pf_jsonw_end(w);
}

static void write_island(struct pf_buf *out, const struct pf_report *r,
			 const struct pf_timeline *t, const uint32_t *map,
			 size_t kept)
{
	struct pf_jsonw w = { .out = out, .escape_markup = true };
	char text[24];

	pf_buf_adds(out, "<script type=\"application/json\" id=\"tl\">");
	pf_jsonw_object(&w);
	pf_jsonw_key(&w, "v");
	pf_jsonw_int(&w, 1);
	snprintf(text, sizeof(text), "%" PRId64, t->first_ns);
	pf_jsonw_key(&w, "origin_ns");
	pf_jsonw_string(&w, text, strlen(text));
	pf_jsonw_key(&w, "span_ns");
	pf_jsonw_int(&w, t->last_ns - t->first_ns);
	pf_jsonw_key(&w, "cats");
	pf_jsonw_array(&w);
	for (int i = 0; i < PF_CATS; i++) {
		const char *name = pf_slice_cat_name((enum pf_slice_cat)i);

		pf_jsonw_string(&w, name, strlen(name));
	}
	pf_jsonw_end(&w);
	write_steps(&w, r, t);
	write_marks(&w, r, t);
	pf_jsonw_key(&w, "groups");
	pf_jsonw_array(&w);
	for (int g = 0; g < PF_SLICE_GROUPS; g++)
		if (t->group[g].count)
			write_group(&w, t, (enum pf_slice_group)g);
	pf_jsonw_end(&w);
	write_names(&w, t, map, kept);
	pf_jsonw_end(&w);
	pf_buf_adds(out, "</script>\n");
}

/* ---- the section ---- */

static void add_missing(struct pf_buf *out, const struct pf_timeline *t,
			enum pf_slice_group which)
{
	static const char *const what[] = { "GPU work", "operators and calls",
					    "Python functions" };
	const struct pf_slices *g = &t->group[which];
	int64_t missing = g->all - g->count;

	if (missing <= 0)
		return;
	pf_buf_adds(out, "<p class=note>Not in the timeline: ");
	pf_figure_count(out, missing);
	pf_buf_addf(out, " of ");
	pf_figure_count(out, g->all);
	pf_buf_addf(out, " %s", what[which]);
	if (!g->count)
		pf_buf_adds(out, ", for their size");
	else if (g->until_ns != INT64_MAX) {
		pf_buf_adds(out, ", those that begin after ");
		pf_figure_ns(out, g->until_ns);
		pf_buf_adds(out, ", for their size");
	} else {
		pf_buf_adds(out, ", nested too deep or odd in their times");
	}
	if (!g->count || g->until_ns != INT64_MAX)
		pf_buf_adds(out, "; <code>--timeline full --max-html 64M"
				 "</code> brings them back");
	pf_buf_adds(out, ".</p>\n");
}

static void add_section(struct pf_buf *out, const struct pf_report *r,
			const struct pf_timeline *t)
{
	size_t traces = r->parts.traces.count;

	pf_buf_adds(out, "<noscript><p>The timeline needs JavaScript; "
			 "everything else is here.</p></noscript>\n"
			 "<div id=app></div>\n");
	if (traces > 1) {
		pf_buf_adds(out, "<p class=note>The timeline shows the first "
				 "of ");
		pf_figure_count(out, (int64_t)traces);
		pf_buf_adds(out, " traces.</p>\n");
	}
	for (int g = 0; g < PF_SLICE_GROUPS; g++)
		add_missing(out, t, (enum pf_slice_group)g);
}

/* One payload; left out if it does not fit. */
static int add_payload(struct pf_timeline *t, enum pf_slice_group which,
		       unsigned name_bytes, int64_t room, struct pf_buf *data,
		       struct pf_err *err)
{
	struct pf_slices *g = &t->group[which];
	struct pf_buf raw = { 0 };
	size_t before = data->len;
	int rc;

	if (!g->count)
		return 0;
	pf_payload_encode(g, name_bytes, &raw);
	pf_buf_addf(data,
		    "<script type=\"application/octet-stream\" id=\"p%d\">",
		    (int)which);
	rc = pf_payload_pack(&raw, data, err);
	pf_buf_adds(data, "</script>\n");
	pf_buf_release(&raw);
	if (!rc && (int64_t)data->len > room) {
		data->len = before;
		g->count = 0;
		g->until_ns = INT64_MAX;
	}
	return rc;
}

int pf_timeline_html(struct pf_report *r, int64_t room, struct pf_buf *section,
		     struct pf_buf *data, struct pf_err *err)
{
	struct pf_timeline *t = &r->timeline;
	struct pf_buf payloads = { 0 };
	size_t kept;
	uint32_t *map = choose_names(t, room > 0 ? room : 0, &kept);
	int64_t names = 0, shown = 0;
	int rc = 0;

	for (size_t i = 0; i < t->name_count; i++)
		if (map[i] < kept)
			names += t->names[i].len + 3;
	for (int g = 0; g < PF_SLICE_GROUPS; g++)
		for (uint32_t i = 0; i < t->group[g].count; i++)
			t->group[g].name[i] = map[t->group[g].name[i]];
	for (int g = 0; g < PF_SLICE_GROUPS && !rc; g++) {
		rc = add_payload(t, (enum pf_slice_group)g,
				 kept < 65535 ? 2 : 4, room - names, &payloads,
				 err);
		shown += t->group[g].count;
	}
	if (!rc && shown) {
		add_section(section, r, t);
		write_island(data, r, t, map, kept);
		pf_buf_add(data, payloads.data, payloads.len);
	} else if (!rc) {
		pf_buf_adds(section, "<p>There is no timeline on this page: "
				     "it was left out, or the trace has no "
				     "events that last.</p>\n");
	}
	pf_buf_release(&payloads);
	free(map);
	return rc;
}
