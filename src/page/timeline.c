/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "page/timeline.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/intern.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/sat.h"
#include "events/step.h"
#include "page/html.h"
#include "store/db.h"
#include "store/threads.h"

#define NAMES_PART 4 /* names may fill so much of the room: a quarter */

/* ---- names ---- */

/* Those of all sides, each once. */
struct names {
	struct pf_intern texts;
	int64_t *time_ns;
	size_t cap;
	uint32_t *map; /* to what the page has */
	size_t kept;
};

struct ranked {
	uint32_t name;
	int64_t time_ns;
};

PF_ORDER(by_time, struct ranked, PF_DOWN(time_ns) PF_UP(name))

/* Slices get the numbers that names have over all sides. */
static void merge_names(struct names *n, struct pf_timeline *t)
{
	PF_OWN uint32_t *map = pf_calloc(t->name_count + 1, sizeof(*map));

	for (size_t i = 0; i < t->name_count; i++) {
		uint32_t had = n->texts.count, at;

		at = pf_intern_add(&n->texts, t->texts.data + t->names[i].at,
				   t->names[i].len);
		PF_ROOM(n->time_ns, n->cap, n->texts.count);
		if (n->texts.count > had)
			n->time_ns[at] = 0;
		pf_sat_sum(&n->time_ns[at], t->names[i].time_ns);
		map[i] = at;
	}
	for (int g = 0; g < PF_SLICE_GROUPS; g++)
		for (uint32_t i = 0; i < t->group[g].count; i++)
			t->group[g].name[i] = map[t->group[g].name[i]];
}

/* Too many names: those with the least time become one, the last. */
static void choose_names(struct names *names, int64_t room)
{
	uint32_t count = names->texts.count;
	PF_OWN struct ranked *r = pf_calloc((size_t)count + 1, sizeof(*r));
	uint32_t *map = pf_calloc((size_t)count + 1, sizeof(*map));
	int64_t bytes = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < count; i++) {
		r[i] = (struct ranked){ i, names->time_ns[i] };
		map[i] = UINT32_MAX;
	}
	pf_sort(r, count, sizeof(*r), by_time);
	for (; n < count; n++) {
		size_t len;

		pf_intern_text(&names->texts, r[n].name, &len);
		if (bytes + (int64_t)len + 3 > room / NAMES_PART)
			break;
		bytes += (int64_t)len + 3;
		map[r[n].name] = 0;
	}
	for (uint32_t i = 0; i < count; i++)
		if (map[i] != UINT32_MAX)
			map[i] = (uint32_t)names->kept++;
	for (uint32_t i = 0; i < count; i++)
		if (map[i] == UINT32_MAX)
			map[i] = (uint32_t)names->kept;
	names->map = map;
}

/* The same for all sides; then slices have the numbers of the page. */
static void number_names(struct names *n, struct pf_timelines *all,
			 int64_t room)
{
	for (size_t i = 0; i < all->count; i++)
		merge_names(n, &all->side[i].slices);
	choose_names(n, room);
	for (size_t i = 0; i < all->count; i++) {
		for (int k = 0; k < PF_SLICE_GROUPS; k++) {
			struct pf_slices *g = &all->side[i].slices.group[k];

			for (uint32_t j = 0; j < g->count; j++)
				g->name[j] = n->map[g->name[j]];
		}
	}
}

static void release_names(struct names *n)
{
	pf_intern_release(&n->texts);
	free(n->time_ns);
	free(n->map);
}

/* A JSON array. */
static void write_names(struct pf_buf *out, const struct names *n)
{
	static const char other[] = "(other names)";
	PF_AUTO(pf_jsonw_end) struct pf_jsonw w = { .out = out };

	pf_jsonw_array(&w);
	for (uint32_t i = 0; i < n->texts.count; i++) {
		size_t len;
		const char *s = pf_intern_text(&n->texts, i, &len);

		if (n->map[i] < n->kept)
			pf_jsonw_string(&w, s, len);
	}
	if (n->kept < n->texts.count)
		pf_jsonw_string(&w, other, sizeof(other) - 1);
}

/* ---- steps and marks: on the side's own clock ---- */

void pf_timeline_add_span(struct pf_timeline_spans *spans, int64_t from_ns,
			  int64_t to_ns, const char *label)
{
	struct pf_timeline_span *s;
	size_t len = strlen(label);

	s = PF_ONE_MORE(spans->items, spans->count, spans->cap);
	*s = (struct pf_timeline_span){ from_ns, to_ns, pf_alloc(len + 1) };
	memcpy(s->label, label, len + 1);
}

static void release_spans(struct pf_timeline_spans *spans)
{
	for (size_t i = 0; i < spans->count; i++)
		free(spans->items[i].label);
	free(spans->items);
}

void pf_timelines_release(struct pf_timelines *all)
{
	for (size_t i = 0; i < PF_TIMELINE_SIDES; i++) {
		struct pf_timeline_side *s = &all->side[i];

		pf_timeline_release(&s->slices);
		pf_buf_release(&s->key);
		pf_buf_release(&s->label);
		release_spans(&s->steps);
		release_spans(&s->marks);
	}
	pf_buf_release(&all->note);
	memset(all, 0, sizeof(*all));
}

static void write_steps(struct pf_jsonw *w, const struct pf_timeline_spans *s)
{
	pf_jsonw_key(w, "steps");
	pf_jsonw_array(w);
	for (size_t i = 0; i < s->count; i++) {
		pf_jsonw_array(w);
		pf_jsonw_int(w, s->items[i].from_ns);
		pf_jsonw_int(w, s->items[i].to_ns);
		pf_jsonw_string(w, s->items[i].label,
				strlen(s->items[i].label));
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

static void write_marks(struct pf_jsonw *w, const struct pf_timeline_spans *s)
{
	pf_jsonw_key(w, "marks");
	pf_jsonw_array(w);
	for (size_t i = 0; i < s->count; i++)
		write_mark(w, s->items[i].from_ns, s->items[i].to_ns,
			   s->items[i].label);
	pf_jsonw_end(w);
}

static void write_side(struct pf_jsonw *w, const struct pf_timeline_side *s)
{
	pf_jsonw_object(w);
	pf_jsonw_key(w, "label");
	pf_jsonw_string(w, s->label.len ? s->label.data : "", s->label.len);
	const char *text = PF_PRINTED(24, "%" PRId64, s->slices.first_ns);
	pf_jsonw_key(w, "origin_ns");
	pf_jsonw_string(w, text, strlen(text));
	pf_jsonw_key(w, "span_ns");
	pf_jsonw_int(w, s->slices.last_ns - s->slices.first_ns);
	pf_jsonw_key(w, "shift_ns");
	pf_jsonw_int(w, s->shift_ns);
	write_steps(w, &s->steps);
	write_marks(w, &s->marks);
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

static void block_id(char *id, size_t size, size_t side,
		     enum pf_slice_group which)
{
	snprintf(id, size, "p%zu", side * PF_SLICE_GROUPS + (size_t)which);
}

static void write_group(struct pf_jsonw *w, const struct pf_timelines *all,
			size_t side, enum pf_slice_group which)
{
	static const char *const keys[] = { "gpu", "path", "ops", "python" };
	const struct pf_timeline_side *s = &all->side[side];
	const struct pf_slices *g = &s->slices.group[which];
	struct pf_buf key = { 0 };
	char id[24];

	block_id(id, sizeof(id), side, which);
	if (s->key.len)
		pf_buf_addf(&key, "%s.", s->key.data);
	pf_buf_adds(&key, keys[which]);
	pf_jsonw_object(w);
	pf_jsonw_key(w, "id");
	pf_jsonw_string(w, id, strlen(id));
	pf_jsonw_key(w, "key");
	pf_jsonw_string(w, key.data, key.len);
	pf_buf_release(&key);
	pf_jsonw_key(w, "side");
	pf_jsonw_int(w, (int64_t)side);
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

/* The end of the last trace on the page's clock. */
static int64_t timelines_span_ns(const struct pf_timelines *all)
{
	int64_t span = 0;

	for (size_t i = 0; i < all->count; i++) {
		const struct pf_timeline_side *s = &all->side[i];
		int64_t end =
			s->shift_ns + s->slices.last_ns - s->slices.first_ns;

		PF_AT_LEAST(span, end);
	}
	return span;
}

static void write_island(struct pf_buf *out, const struct pf_timelines *all)
{
	struct pf_jsonw w = { .out = out, .escape_markup = true };

	pf_buf_adds(out, "<script type=\"application/json\" id=\"tl\">");
	pf_jsonw_object(&w);
	pf_jsonw_key(&w, "v");
	pf_jsonw_int(&w, 3);
	pf_jsonw_key(&w, "span_ns");
	pf_jsonw_int(&w, timelines_span_ns(all));
	pf_jsonw_key(&w, "cats");
	pf_jsonw_array(&w);
	for (int i = 0; i < PF_CATS; i++)
		pf_jsonw_string(&w, pf_slice_cats[i], strlen(pf_slice_cats[i]));
	pf_jsonw_end(&w);
	pf_jsonw_key(&w, "sides");
	pf_jsonw_array(&w);
	for (size_t i = 0; i < all->count; i++)
		write_side(&w, &all->side[i]);
	pf_jsonw_end(&w);
	pf_jsonw_key(&w, "groups");
	pf_jsonw_array(&w);
	for (size_t i = 0; i < all->count; i++)
		for (int g = 0; g < PF_SLICE_GROUPS; g++)
			if (all->side[i].slices.group[g].count)
				write_group(&w, all, i, (enum pf_slice_group)g);
	pf_jsonw_end(&w);
	pf_jsonw_end(&w);
	pf_buf_adds(out, "</script>\n");
}

/* ---- the section ---- */

static void add_missing(struct pf_buf *out, const struct pf_timelines *all,
			const struct pf_timeline_side *s,
			enum pf_slice_group which)
{
	static const char *const what[] = {
		[PF_SLICES_GPU] = "GPU work",
		[PF_SLICES_PATH] = "pieces of the critical path",
		[PF_SLICES_OPS] = "operators and calls",
		[PF_SLICES_PYTHON] = "Python functions",
	};
	const struct pf_slices *g = &s->slices.group[which];
	int64_t missing = g->all - g->count;

	if (missing <= 0)
		return;
	pf_buf_adds(out, "<p class=note>Not in the timeline: ");
	pf_figure_count(out, missing);
	pf_buf_addf(out, " of ");
	pf_figure_count(out, g->all);
	pf_buf_addf(out, " %s", what[which]);
	if (s->key.len) {
		pf_buf_adds(out, " of ");
		pf_html_text(out, s->label.data);
	}
	if (!s->slices.is_wanted[which])
		pf_buf_adds(out, ", as <code>--timeline</code> says");
	else if (!g->count)
		pf_buf_adds(out, ", for their size");
	else if (g->until_ns != INT64_MAX) {
		pf_buf_adds(out, ", those that begin after ");
		pf_figure_ns(out, g->until_ns);
		pf_buf_adds(out, ", for their size");
	} else {
		pf_buf_adds(out, ", nested too deep or odd in their times");
	}
	if (!g->count || g->until_ns != INT64_MAX)
		pf_buf_addf(out, "; %s", all->more);
	pf_buf_adds(out, ".</p>\n");
}

static void add_section(struct pf_buf *out, const struct pf_timelines *all)
{
	pf_buf_adds(out, "<noscript><p>The timeline needs JavaScript; "
			 "everything else is here.</p></noscript>\n"
			 "<div id=app></div>\n");
	if (all->note.len)
		pf_buf_addf(out, "<p class=note>%s</p>\n", all->note.data);
	for (size_t i = 0; i < all->count; i++)
		for (int g = 0; g < PF_SLICE_GROUPS; g++)
			add_missing(out, all, &all->side[i],
				    (enum pf_slice_group)g);
}

/* Packed bytes that the page does not show as text. */
static int add_block(struct pf_buf *out, const char *id,
		     const struct pf_buf *raw, struct pf_err *err)
{
	int rc;

	pf_buf_addf(out, "<script type=\"application/octet-stream\" id=\"%s\">",
		    id);
	rc = pf_payload_pack(raw, out, err);
	pf_buf_adds(out, "</script>\n");
	return rc;
}

static int add_names(struct pf_buf *out, const struct names *names,
		     struct pf_err *err)
{
	PF_AUTO(pf_buf_release) struct pf_buf raw = { 0 };

	write_names(&raw, names);
	return add_block(out, "pn", &raw, err);
}

/* Payloads in the order of the page; whoever has time makes the next. */
struct payloads {
	unsigned name_bytes;
	struct payload {
		struct pf_slices *slices;
		char id[24];
		struct pf_buf block;
		int rc;
		struct pf_err err;
	} items[PF_TIMELINE_SIDES * PF_SLICE_GROUPS];
	size_t count;
	atomic_size_t next;
};

static void make_payloads(void *context)
{
	struct payloads *all = context;
	size_t n;

	while ((n = atomic_fetch_add(&all->next, 1)) < all->count) {
		struct payload *p = &all->items[n];
		PF_AUTO(pf_buf_release) struct pf_buf raw = { 0 };

		pf_payload_encode(p->slices, all->name_bytes, &raw);
		pf_slices_drop(p->slices);
		p->rc = add_block(&p->block, p->id, &raw, &p->err);
	}
}

static void list_payloads(struct pf_timelines *all, struct payloads *out)
{
	for (int g = 0; g < PF_SLICE_GROUPS; g++)
		for (size_t i = 0; i < all->count; i++) {
			struct pf_slices *s = &all->side[i].slices.group[g];
			struct payload *p = &out->items[out->count];

			if (!s->count)
				continue;
			out->count++;
			p->slices = s;
			block_id(p->id, sizeof(p->id), i,
				 (enum pf_slice_group)g);
		}
}

/* Those that do not fit are left out. */
static int add_payloads(struct pf_timelines *all, unsigned name_bytes,
			int64_t room, struct pf_buf *data, struct pf_err *err)
{
	PF_OWN struct payloads *list = pf_calloc(1, sizeof(*list));
	int rc = 0;

	list->name_bytes = name_bytes;
	list_payloads(all, list);
	pf_threads_both(make_payloads, list, make_payloads, list);
	for (size_t i = 0; i < list->count; i++) {
		struct payload *p = &list->items[i];

		if (!rc && p->rc) {
			rc = p->rc;
			*err = p->err;
		}
		if ((int64_t)(data->len + p->block.len) > room) {
			p->slices->count = 0;
			p->slices->until_ns = INT64_MAX;
		} else {
			pf_buf_add(data, p->block.data, p->block.len);
		}
		pf_buf_release(&p->block);
	}
	return rc;
}

bool pf_timelines_have(const struct pf_timelines *all)
{
	for (size_t i = 0; i < all->count; i++)
		for (int g = 0; g < PF_SLICE_GROUPS; g++)
			if (all->side[i].slices.group[g].count)
				return true;
	return false;
}

int pf_timeline_html(struct pf_timelines *all, int64_t room,
		     struct pf_buf *section, struct pf_buf *data,
		     struct pf_err *err)
{
	PF_AUTO(pf_buf_release) struct pf_buf payloads = { 0 };
	PF_AUTO(release_names) struct names names = { 0 };

	number_names(&names, all, room > 0 ? room : 0);
	PF_TRY(add_names(&payloads, &names, err));
	PF_TRY(add_payloads(all, names.kept < 65535 ? 2 : 4, room, &payloads,
			    err));
	if (pf_timelines_have(all)) {
		add_section(section, all);
		write_island(data, all);
		pf_buf_add(data, payloads.data, payloads.len);
	} else {
		pf_buf_adds(section, "<p>There is no timeline on this page: "
				     "it was left out, or the trace has no "
				     "events that last.</p>\n");
	}
	return 0;
}

/* ---- of both sides of a comparison ---- */

#define SLICE_BYTES 8 /* of the largest page for each slice */

/* What a side tells beside its slices. */
struct found {
	int64_t step, at_ns; /* the first full step, if there is one */
	bool has_step;
	size_t traces;
};

static int add_steps(struct pf_db *db, const struct pf_window *w,
		     struct pf_timeline_side *s, struct found *f)
{
	PF_AUTO(pf_buf_release) struct pf_buf label = { 0 };
	PF_AUTO(pf_steps_release) struct pf_steps steps;

	PF_TRY(pf_window_steps(db, w, &steps));
	for (size_t i = 0; i < steps.count; i++) {
		const struct pf_step *step = &steps.items[i];
		int64_t at = step->host_start_ns - s->slices.first_ns;

		if (step->trace_id != s->slices.trace_id)
			continue;
		pf_buf_clear(&label);
		pf_buf_addf(&label, "%" PRId64, step->step);
		pf_timeline_add_span(&s->steps, at,
				     step->host_end_ns - s->slices.first_ns,
				     label.data);
		if (step->is_partial || f->has_step)
			continue;
		f->has_step = true;
		f->step = step->step;
		f->at_ns = at;
	}
	return 0;
}

static int load(struct pf_db *db, const struct pf_diff_timeline_args *args,
		struct pf_timeline_side *s, struct found *f)
{
	const struct pf_page_args *page = args->page;
	const int64_t slices =
		page->max_html_bytes / SLICE_BYTES / PF_TIMELINE_SIDES;
	PF_AUTO(pf_window_release) struct pf_window w = { 0 };

	PF_TRY(pf_window_resolve(db, args->window, &w));
	f->traces = w.count;
	PF_TRY(pf_timeline_load(db, &w.traces[0], args->redact,
				(enum pf_timeline_want)page->timeline, slices,
				&s->slices));
	PF_TRY(pf_path_track_add(db, args->window, slices, args->redact,
				 &s->slices));
	return add_steps(db, &w, s, f);
}

static void add_note(struct pf_buf *out, const struct found found[2],
		     size_t captures)
{
	const struct found *a = &found[0], *b = &found[1];

	if (a->has_step && b->has_step)
		pf_buf_addf(out,
			    "A above, B below, moved so that step %" PRId64
			    " of A and step %" PRId64 " of B begin together.",
			    a->step, b->step);
	else
		pf_buf_adds(out, "A above, B below, moved so that their first "
				 "events begin together.");
	if (captures > 2 || a->traces > 1 || b->traces > 1)
		pf_buf_adds(out, " Of each side it is the first trace, and "
				 "its critical path.");
}

int pf_diff_timeline(const struct pf_diff_timeline_args *args,
		     struct pf_timelines *out, struct pf_err *err)
{
	static const char *const keys[] = { "a", "b" },
				 *labels[] = { "A", "B" };
	struct found found[2] = { { 0 } };
	int64_t later;

	if (args->page->timeline == PF_TIMELINE_NONE)
		return 0;
	for (size_t i = 0; i < 2; i++) {
		struct pf_timeline_side *s = &out->side[i];
		PF_AUTO(pf_db_close) struct pf_db db = { 0 };

		PF_TRY(pf_db_open(&db, args->paths[i], false, err));
		out->count = i + 1;
		pf_buf_adds(&s->key, keys[i]);
		pf_buf_adds(&s->label, labels[i]);
		PF_TRY(load(&db, args, s, &found[i]));
	}
	later = found[0].has_step && found[1].has_step
			? found[0].at_ns - found[1].at_ns
			: 0;
	out->side[0].shift_ns = later < 0 ? -later : 0;
	out->side[1].shift_ns = later > 0 ? later : 0;
	add_note(&out->note, found, args->captures);
	out->more = PF_TIMELINE_MORE;
	return 0;
}
