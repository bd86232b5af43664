/* SPDX-License-Identifier: MIT */
/*
 * Each host thread is walked once, with the ranges that are open on it.  Time
 * is given to the innermost call as it passes; see events/nest.h.  Memory
 * grows with the number of different names.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/time/calls.h"
#include "base/intern.h"
#include "base/order.h"
#include "events/medians.h"
#include "base/num.h"
#include "base/sat.h"
#include "base/stats.h"
#include "events/interval.h"
#include "events/names.h"
#include "events/nest.h"
#include "events/track_read.h"
#include "store/cursor.h"
#include "show/rows.h"
#include "formats/event.h"

#define NO_CALL INT64_MAX

struct open {
	int64_t end_ns;
	int64_t call; /* the innermost, in calls; NO_CALL, also: not counted */
	uint32_t inside; /* name of the innermost op or range */
};

static const struct open outermost = { .call = NO_CALL, .inside = PF_ID_NONE };

struct group {
	uint32_t name, inside;
	struct pf_stats stats;
	int64_t self_ns;
};

struct calls {
	struct pf_db *db;
	struct pf_names *names;
	int by;
	struct pf_map by_key; /* name and inside -> group */
	struct group *groups;
	size_t count, cap;
	struct pf_nest nest; /* struct open */
	struct pf_sorter *values;
	const struct pf_window_trace *trace;
};

static size_t find_group(struct calls *c, uint32_t name, uint32_t inside)
{
	uint64_t *at = pf_map_at(&c->by_key, (uint64_t)inside << 32 | name);

	if (*at == UINT64_MAX) {
		*at = c->count++;
		c->groups = pf_grow(c->groups, &c->cap, c->count,
				    sizeof(*c->groups));
		c->groups[*at] =
			(struct group){ .name = name, .inside = inside };
	}
	return (size_t)*at;
}

/* Up to here: ranges end, and the innermost call gets the time. */
static void go_to(struct calls *c, int64_t at_ns)
{
	const struct open *o;
	int64_t from_ns, to_ns;

	while ((o = pf_nest_pass(&c->nest, at_ns, &from_ns, &to_ns)))
		if (o->call != NO_CALL)
			pf_sat_sum(&c->groups[o->call].self_ns,
				   to_ns - from_ns);
}

static int add_call(struct calls *c, struct open *o, uint32_t name,
		    int64_t dur_ns, struct pf_err *err)
{
	size_t n = find_group(c, name, o ? o->inside : PF_ID_NONE);

	pf_stats_add(&c->groups[n].stats, dur_ns);
	if (o)
		o->call = (int64_t)n;
	return pf_medians_add(c->values, (int64_t)n, dur_ns, err);
}

static int take(void *context, const struct pf_block *b, uint32_t i,
		int64_t event_id, struct pf_err *err)
{
	struct calls *c = context;
	unsigned kind = pf_names_kind(c->names, b->type[i]);
	bool is_call = kind == PF_KIND_RUNTIME || kind == PF_KIND_DRIVER;
	int64_t start_ns = b->start_ns[i];
	struct open *o;

	(void)event_id;
	if (!is_call &&
	    (c->by == PF_CALLS_BY_NAME ||
	     kind != (c->by == PF_CALLS_BY_OP ? PF_KIND_CPU_OP
					      : PF_KIND_ANNOTATION)))
		return 0;
	go_to(c, start_ns);
	o = pf_nest_push(&c->nest, pf_span_end(start_ns, b->dur_ns[i]));
	if (!is_call) {
		if (o)
			o->inside = b->name[i];
		return 0;
	}
	if (o)
		o->call = NO_CALL;
	if (start_ns < c->trace->from_ns || start_ns >= c->trace->to_ns)
		return 0;
	return add_call(c, o, b->name[i], b->dur_ns[i], err);
}

static int read_track(struct calls *c, const struct pf_track *t,
		      struct pf_err *err)
{
	static const struct pf_track_reader reader = { .event = take };
	int rc;

	pf_nest_clear(&c->nest);
	rc = pf_track_read(c->db, t, &reader, c, err);
	go_to(c, INT64_MAX);
	return rc;
}

static int read_trace(struct calls *c, struct pf_err *err)
{
	struct pf_track *tracks;
	size_t count;
	int rc =
		pf_tracks_load(c->db, c->trace->trace_id, &tracks, &count, err);

	for (size_t i = 0; !rc && i < count; i++)
		if (!strcmp(tracks[i].class_name, "host"))
			rc = read_track(c, &tracks[i], err);
	pf_tracks_free(tracks, count);
	return rc;
}

PF_ORDER(by_total, struct pf_call,
	 PF_DOWN(total_ns) PF_ALPHA(name) PF_ALPHA(inside))

/* NULL: none, or an error. */
static const char *text_of(struct calls *c, struct pf_calls *out, uint32_t name,
			   struct pf_err *err)
{
	const char *kept;
	char *text;

	if (name == PF_ID_NONE)
		return NULL;
	text = pf_names_text_take(c->names, name, err);
	kept = text ? pf_arena_string(&out->texts, text) : NULL;
	free(text);
	return kept;
}

static int take_items(struct calls *c, struct pf_calls *out, struct pf_err *err)
{
	int64_t *counts = pf_calloc(c->count + 1, sizeof(*counts));
	int64_t *medians = pf_calloc(c->count + 1, sizeof(*medians));
	int rc;

	for (size_t i = 0; i < c->count; i++) {
		counts[i] = c->groups[i].stats.count;
		out->count += counts[i];
		pf_sat_sum(&out->total_ns, c->groups[i].stats.sum);
		pf_sat_sum(&out->self_ns, c->groups[i].self_ns);
	}
	rc = pf_medians_find(c->values, counts, medians, err);
	out->items = pf_calloc(c->count + 1, sizeof(*out->items));
	for (size_t i = 0; !rc && i < c->count; i++) {
		const struct group *g = &c->groups[i];

		out->items[out->item_count++] = (struct pf_call){
			.name = text_of(c, out, g->name, err),
			.inside = text_of(c, out, g->inside, err),
			.count = g->stats.count,
			.total_ns = g->stats.sum,
			.self_ns = g->self_ns,
			.median_ns = medians[i],
			.min_ns = g->stats.min,
			.max_ns = g->stats.max,
			.mean_ns = pf_stats_mean(&g->stats),
			.sd_ns = pf_stats_sd(&g->stats),
			.share = pf_ratio((double)g->stats.sum, out->total_ns),
		};
		rc = err->code ? -1 : 0;
	}
	if (!rc)
		pf_sort(out->items, out->item_count, sizeof(*out->items),
			by_total);
	free(counts);
	free(medians);
	return rc;
}

int pf_calls_find(struct pf_db *db, const struct pf_calls_args *args,
		  struct pf_calls *out, struct pf_err *err)
{
	struct calls c = { .db = db,
			   .by = args->by,
			   .nest = { .width = sizeof(outermost),
				     .outermost = &outermost } };
	int rc = pf_window_resolve(db, &args->window, &out->window, err);

	if (rc)
		return -1;
	pf_map_init(&c.by_key);
	c.values = pf_sorter_temp(sizeof(struct pf_group_value));
	c.names = pf_names_new(db, err);
	rc = c.names ? 0 : -1;
	for (size_t i = 0; !rc && i < out->window.count; i++) {
		c.trace = &out->window.traces[i];
		rc = read_trace(&c, err);
	}
	if (!rc)
		rc = take_items(&c, out, err);
	pf_names_free(c.names);
	pf_sorter_free(c.values);
	pf_map_release(&c.by_key);
	pf_nest_release(&c.nest);
	free(c.groups);
	return rc;
}

void pf_calls_release(struct pf_calls *c)
{
	pf_arena_release(&c->texts);
	pf_window_release(&c->window);
	free(c->items);
	*c = (struct pf_calls){ 0 };
}

/* ---- how it is said ---- */

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct pf_call, member, key, title, kind)
static const struct pf_field fields[] = {
	FIELD(name, "call", "Call", PF_TEXT),
	FIELD(inside, "inside", "Inside", PF_TEXT),
	FIELD(share, "share", "Share", PF_RATIO),
	FIELD(count, "count", "Calls", PF_COUNT),
	FIELD(total_ns, "total_ns", "Total", PF_NS),
	FIELD(self_ns, "self_ns", "Self", PF_NS | PF_FULL),
	FIELD(mean_ns, "mean_ns", "Mean", PF_NS),
	FIELD(median_ns, "median_ns", "Median", PF_NS),
	FIELD(min_ns, "min_ns", "Min", PF_NS | PF_FULL),
	FIELD(max_ns, "max_ns", "Max", PF_NS),
	FIELD(sd_ns, "sd_ns", "StdDev", PF_REAL | PF_FULL),
};
#undef FIELD
#define FIELD_COUNT  (sizeof(fields) / sizeof(*fields))
#define FIELD_INSIDE 1 /* places in fields */
#define FIELD_MEAN   6

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct pf_calls, member, key, title, kind)
static const struct pf_field figures[] = {
	FIELD(count, "call_count", "Calls", PF_COUNT),
	FIELD(total_ns, "total_ns", "Their time", PF_NS),
	FIELD(self_ns, "self_ns", "  counted once where calls are nested",
	      PF_NS),
};
#undef FIELD

static void add_finding(const struct pf_calls *c, struct pf_doc *doc)
{
	char part[PF_NUM_MAX], time[PF_NUM_MAX], all[PF_NUM_MAX];
	const struct pf_call *most = c->items;

	doc->is_nothing = !c->item_count;
	if (!c->item_count && c->window.has_unread) {
		pf_doc_finding(doc, "No calls could be read");
		return;
	}
	if (!c->item_count) {
		pf_doc_finding(
			doc,
			"There are no calls of a GPU's runtime or "
			"driver%s%s",
			c->recorded.has_calls ? pf_window_scope(&c->window)
					      : "; ",
			c->recorded.has_calls
				? ""
				: pf_hint(c->recorded.producer, PF_HINT_CALLS));
		return;
	}
	if (!c->total_ns) {
		pf_doc_finding(doc, "Calls take no time%s",
			       pf_window_scope(&c->window));
		return;
	}
	pf_doc_finding(doc, "%s takes %s of the time in calls%s (%s of %s)",
		       most->name, pf_num_show_ratio(part, most->share),
		       pf_window_scope(&c->window),
		       pf_num_show_ns(time, most->total_ns),
		       pf_num_show_ns(all, c->total_ns));
}

void pf_calls_show(const struct pf_calls *c, int by, struct pf_doc *doc)
{
	struct pf_field shown[FIELD_COUNT];

	memcpy(shown, fields, sizeof(fields));
	if (by == PF_CALLS_BY_NAME)
		shown[FIELD_INSIDE].col.kind |= PF_ABSENT;
	else
		/* text has no room for both */
		shown[FIELD_MEAN].col.kind |= PF_FULL;
	if (by == PF_CALLS_BY_OP)
		shown[FIELD_INSIDE].col.title = "Operator";
	else
		shown[FIELD_INSIDE].col.title = "Range";
	add_finding(c, doc);
	PF_SCALARS(doc, figures, *c);
	PF_ROWS(doc, "calls", "Calls of the runtime and the driver", shown,
		c->items, c->item_count);
}
