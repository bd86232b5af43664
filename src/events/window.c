/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "events/window.h"

#include <inttypes.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/order.h"
#include "base/sat.h"
#include "base/search.h"
#include "base/stats.h"
#include "events/hints.h"
#include "events/interval.h"
#include "events/names.h"
#include "events/step.h"
#include "events/traces.h"
#include "store/query.h"

static int parse_steps(const char *text, int64_t *first, int64_t *last,
		       struct pf_err *err)
{
	if (!pf_num_range(text, strlen(text), first, last))
		return pf_fail(err, PF_EUSAGE,
			       "'%s' names no steps; say '3' or '3..8'", text);
	return 0;
}

int pf_window_check_ranks(const char *list, struct pf_err *err)
{
	const char *at = list;
	int64_t first, last;
	int rc = list ? -1 : 0;

	while (at && (rc = pf_window_range(&at, &first, &last)) == 1)
		;
	return !rc ? 0
		   : pf_fail(err, PF_EUSAGE,
			     "'%s' names no ranks; say '3' or '0..7,64'", list);
}

/*
 * The steps of a trace that are asked for: from the first to the last.  Those
 * that hold nothing, and a last one that is cut off, are steps for who asks
 * for their number.
 */
static bool cut_to_steps(struct pf_window *w, struct pf_window_trace *t,
			 const struct pf_steps *steps, bool is_by_number,
			 int64_t skip, int64_t first, int64_t last)
{
	size_t i = pf_steps_first(steps, t->trace_id);
	bool any = false;

	for (; pf_steps_is_of(steps, i, t->trace_id); i++) {
		const struct pf_step *s = &steps->items[i];

		if ((s->is_empty && !is_by_number) || skip-- > 0 ||
		    s->step < first || s->step > last)
			continue;
		if (any && s->is_partial && !is_by_number) {
			w->cut_count++;
			continue;
		}
		if (!any)
			t->from_ns = s->start_ns;
		t->to_ns = s->end_ns;
		any = true;
	}
	return any;
}

void pf_window_to_whole_steps(struct pf_window *w, struct pf_window_trace *t,
			      const struct pf_steps *steps)
{
	cut_to_steps(w, t, steps, false, 0, INT64_MIN, INT64_MAX);
}

static int refuse_steps(struct pf_db *db)
{
	enum pf_producer from;

	PF_TRY(pf_hint_producer(db, &from));
	return pf_fail(db->err, PF_EDATA, "there are no profiler steps; %s",
		       pf_hint(from, PF_HINT_STEPS));
}

/* None of them is asked for: which are there? */
static int name_steps(const struct pf_steps *steps, struct pf_err *err)
{
	int64_t first = INT64_MAX, last = INT64_MIN;

	for (size_t i = 0; i < steps->count; i++) {
		PF_AT_MOST(first, steps->items[i].step);
		PF_AT_LEAST(last, steps->items[i].step);
	}
	return pf_fail(
		err, PF_EDATA,
		"no such steps: there are %zu, with numbers from %lld to "
		"%lld",
		steps->count, (long long)first, (long long)last);
}

static int apply_steps(struct pf_db *db, const struct pf_window_args *args,
		       struct pf_window *w)
{
	PF_AUTO(pf_steps_release) struct pf_steps steps = { 0 };
	int64_t first = INT64_MIN, last = INT64_MAX;
	size_t kept = 0;
	int rc;

	PF_TRY(args->step &&
	       parse_steps(args->step, &first, &last, db->err) < 0);
	rc = pf_steps_load(db, args->steps, &steps);
	for (size_t i = 0; !rc && i < w->count; i++) {
		if (cut_to_steps(w, &w->traces[i], &steps, args->step != NULL,
				 args->skip_first, first, last))
			w->traces[kept++] = w->traces[i];
	}
	if (!rc && !steps.count)
		rc = refuse_steps(db);
	else if (!rc && !kept)
		rc = name_steps(&steps, db->err);
	w->count = kept;
	w->is_restricted = w->is_asked = true;
	return rc;
}

static void apply_times(const struct pf_window_args *args, struct pf_window *w)
{
	for (size_t i = 0; i < w->count; i++) {
		struct pf_window_trace *t = &w->traces[i];
		int64_t from = pf_span_end(t->first_ns, args->from_ns);
		int64_t to = pf_span_end(t->first_ns, args->to_ns);

		if (args->from_ns >= 0 && from > t->from_ns)
			t->from_ns = from;
		if (args->to_ns >= 0 && to < t->to_ns)
			t->to_ns = to;
	}
	if (args->from_ns >= 0 || args->to_ns >= 0)
		w->is_restricted = w->is_asked = true;
}

/* A wrong pattern is an error also where no step is asked for. */
static int check_pattern(const char *pattern, struct pf_err *err)
{
	PF_AUTO(pf_step_regex_freed)
	struct pf_step_regex *regex = pf_step_regex_new(pattern, err);

	return regex ? 0 : -1;
}

int pf_window_resolve(struct pf_db *db, const struct pf_window_args *args,
		      struct pf_window *out)
{
	*out = (struct pf_window){ .device = args->device,
				   .steps = args->steps,
				   .is_whole = args->whole };
	if (args->whole && (args->step || args->skip_first))
		return pf_fail(
			db->err, PF_EUSAGE,
			"--whole-capture goes without --step and --skip-first");
	if (args->from_ns >= 0 && args->to_ns >= 0 &&
	    args->from_ns >= args->to_ns)
		return pf_fail(db->err, PF_EUSAGE,
			       "--from must be earlier than --to");
	PF_TRY(pf_window_check_ranks(args->rank, db->err) < 0);
	PF_TRY(args->steps && check_pattern(args->steps, db->err) < 0);
	PF_TRY(pf_window_load(db, args, out) < 0);
	PF_TRY((args->step || args->skip_first) &&
	       apply_steps(db, args, out) < 0);
	apply_times(args, out);
	return 0;
}

/* ---- what times are shares of ---- */

static struct pf_window_trace *find_trace(struct pf_window *w, int64_t id)
{
	const struct pf_window_trace *t = pf_window_find(w, id);

	return t ? &w->traces[t - w->traces] : NULL;
}

static bool is_all_time(const struct pf_window_trace *t)
{
	return t->from_ns == INT64_MIN && t->to_ns == INT64_MAX;
}

/*
 * From the first to the last of a track that times are shares of: work of a
 * device; where none was recorded operators of the host, and what else bounds the
 * time of their threads; where there are no operators the same of calls.  What the
 * profiler writes of itself, such as when it began and ended, is none of them.
 */
struct extent {
	const struct pf_kinds *kinds;
	struct pf_names *names;
	enum pf_device_row row;
	enum { NOTHING, CALLS, OPS, WORK } of;
	int64_t lo_ns, hi_ns;
	bool is_on;
};

static int widen(void *context, const struct pf_block *b, uint32_t i,
		 int64_t event_id)
{
	struct extent *e = context;
	unsigned kind = pf_kinds_at(e->kinds, b->type[i]);
	int64_t end_ns = pf_span_end(b->start_ns[i], b->dur_ns[i]);
	const struct pf_name_class *class;

	(void)event_id;
	if (e->row != PF_WORK_NONE) {
		if (!pf_is_work(e->row, kind))
			return 0;
		e->of = WORK;
	} else if (kind == PF_KIND_CPU_OP) {
		e->of = OPS;
	} else if (kind == PF_KIND_RUNTIME || kind == PF_KIND_DRIVER) {
		e->of = e->of < CALLS ? CALLS : e->of;
	} else {
		class = pf_names_class(e->names, b->name[i]);
		PF_TRY(!class);
		if (!pf_name_bounds(kind, class, &e->is_on))
			return 0;
	}
	PF_AT_MOST(e->lo_ns, b->start_ns[i]);
	PF_AT_LEAST(e->hi_ns, end_ns);
	return 0;
}

/* "of" is what the trace's span is of until now. */
static int settle_track(struct pf_db *db, const struct pf_kinds *kinds,
			struct pf_names *names, const struct pf_track *track,
			struct pf_window_trace *t, uint8_t *of)
{
	static const struct pf_track_reader reader = { .event = widen };
	struct extent e = { .kinds = kinds,
			    .names = names,
			    .row = pf_work_row(track, t->is_tpu),
			    .lo_ns = INT64_MAX,
			    .hi_ns = INT64_MIN };

	PF_TRY(pf_track_read(db, track, &reader, &e) < 0);
	if (e.of == NOTHING || e.of < *of)
		return 0;
	if (e.of > *of || e.lo_ns < t->lo_ns)
		t->lo_ns = e.lo_ns;
	if (e.of > *of || e.hi_ns > t->hi_ns)
		t->hi_ns = e.hi_ns;
	*of = (uint8_t)e.of;
	return 0;
}

/*
 * Devices first: where one works the host is not read.  Blocks are read, not
 * rows: that takes a tenth of the time.
 */
static int settle_work(struct pf_db *db, struct pf_window *w)
{
	PF_OWN uint8_t *of = pf_calloc(w->count + 1, sizeof(*of));
	PF_AUTO(pf_kinds_release) struct pf_kinds kinds = { 0 };
	PF_AUTO(pf_names_freed) struct pf_names *names = pf_names_new(db);
	struct pf_track *tracks = NULL;
	size_t count = 0;
	int rc = names ? pf_kinds_load(&kinds, db, db->err) : -1;

	if (!rc)
		rc = pf_tracks_load(db, 0, &tracks, &count, db->err);
	for (size_t i = 0; !rc && i < 2 * count; i++) {
		const struct pf_track *track = &tracks[i % count];
		struct pf_window_trace *t = find_trace(w, track->trace_id);
		bool is_device =
			t && pf_work_row(track, t->is_tpu) != PF_WORK_NONE;

		if (!t || !is_all_time(t) || is_device != (i < count) ||
		    (!is_device && of[t - w->traces] == WORK))
			continue;
		rc = settle_track(db, &kinds, names, track, t,
				  &of[t - w->traces]);
	}
	pf_tracks_free(tracks, count);
	return rc;
}

int pf_window_settle(struct pf_db *db, struct pf_window *w)
{
	bool any_is_all = false;

	for (size_t i = 0; i < w->count; i++) {
		struct pf_window_trace *t = &w->traces[i];

		t->lo_ns = t->from_ns > t->first_ns ? t->from_ns : t->first_ns;
		t->hi_ns = t->to_ns < t->last_ns ? t->to_ns : t->last_ns;
		PF_AT_LEAST(t->hi_ns, t->lo_ns);
		any_is_all |= is_all_time(t);
	}
	return any_is_all ? settle_work(db, w) : 0;
}

const char *pf_window_scope(const struct pf_window *w)
{
	return w->is_restricted ? "" : " in the capture";
}

void pf_window_say_part(const struct pf_window *w, struct pf_buf *out,
			int64_t part_ns, int64_t window_ns, int64_t step_count)
{
	const char *share = PF_SHOW_SHARE(part_ns, window_ns);
	const char *part = PF_SHOW_NS(part_ns);
	const char *time = PF_SHOW_NS(window_ns);

	if (!step_count)
		pf_buf_addf(out, "%s of %s", share, time);
	else if (step_count == 1)
		pf_buf_addf(out, "%s of the step (%s of %s)", share, part,
			    time);
	else
		pf_buf_addf(out, "%s of %s steps%s (%s of %s)", share,
			    PF_SHOW_COUNT(step_count),
			    w->between_share >= PF_WINDOW_BETWEEN
				    ? " and the time between them"
				    : "",
			    part, time);
}

/* ---- steps ---- */

void pf_window_say_cut(int64_t count, struct pf_buf *out)
{
	if (count)
		pf_buf_addf(
			out, "%s %s cut off and left out", PF_SHOW_COUNT(count),
			count == 1 ? "step at the end of its trace is"
				   : "steps at the end of their traces are");
}

/*
 * Steps that hold something, from the window's start to its end; 0 if it does
 * not end with steps.
 */
static int64_t count_steps(const struct pf_window_trace *t,
			   const struct pf_steps *steps)
{
	size_t i = pf_steps_first(steps, t->trace_id);
	bool is_first = false, is_last = false;
	int64_t count = 0;

	for (; pf_steps_is_of(steps, i, t->trace_id); i++) {
		const struct pf_step *s = &steps->items[i];

		if (s->start_ns < t->from_ns || s->end_ns > t->to_ns)
			continue;
		is_first |= s->start_ns == t->from_ns;
		is_last |= s->end_ns == t->to_ns;
		count += !s->is_empty;
	}
	return is_first && is_last ? count : 0;
}

void pf_window_note_steps(struct pf_window *w, const struct pf_steps *steps)
{
	int64_t between_ns = 0, all_ns = 0;

	for (size_t k = 0; k < w->count; k++) {
		const struct pf_window_trace *t = &w->traces[k];
		size_t i = pf_steps_first(steps, t->trace_id);
		int64_t last_ns = INT64_MAX;

		for (; pf_steps_is_of(steps, i, t->trace_id); i++) {
			const struct pf_step *s = &steps->items[i];

			if (s->is_partial || s->start_ns < t->from_ns ||
			    s->end_ns > t->to_ns)
				continue;
			if (s->start_ns > last_ns)
				pf_sat_sum(&between_ns, s->start_ns - last_ns);
			else if (last_ns == INT64_MAX)
				last_ns = s->start_ns;
			if (s->end_ns <= last_ns)
				continue;
			pf_sat_sum(&all_ns, s->end_ns - last_ns);
			last_ns = s->end_ns;
		}
	}
	w->between_share = pf_num_share(between_ns, all_ns);
}

int pf_window_to_device(struct pf_db *db, struct pf_window *w)
{
	struct pf_track track = { 0 };
	PF_STMT(st) = NULL;
	int rc = 0;

	if (w->device >= 0 || w->count != 1 || w->steps || w->is_whole)
		return 0;
	st = pf_named_prepare(db, "trust_steps", db->err);
	PF_BIND(st, w->traces->trace_id, w->traces->trace_id);
	while ((rc = pf_db_step(db, st, db->err)) == 1) {
		track.pid = pf_sqlite_text(st, 1);
		w->device = pf_work_device(&track);
	}
	return rc;
}

int pf_window_to_steps(struct pf_db *db, struct pf_window *w,
		       int64_t *step_count, struct pf_steps *all)
{
	struct pf_steps steps = { 0 };
	bool is_all = true, is_cut = false;

	*step_count = 0;
	PF_TRY(pf_steps_load(db, w->steps, &steps));
	for (size_t i = 0; i < w->count; i++) {
		struct pf_window_trace *t = &w->traces[i];
		int64_t count;

		if (!w->is_restricted && !w->is_whole)
			pf_window_to_whole_steps(w, t, &steps);
		count = count_steps(t, &steps);
		*step_count += count;
		is_all &= count > 0;
		is_cut |= count > 0;
	}
	if (!is_all)
		*step_count = 0;
	w->is_restricted |= is_cut;
	if (is_cut && pf_window_to_device(db, w) < 0) {
		pf_steps_release(&steps);
		return -1;
	}
	pf_window_note_steps(w, &steps);
	if (all)
		*all = steps;
	else
		pf_steps_release(&steps);
	return pf_window_settle(db, w);
}

int pf_window_steps(struct pf_db *db, const struct pf_window *w,
		    struct pf_steps *out)
{
	return pf_steps_load(db, w->steps, out);
}

static int gpu_order(const struct pf_gpu_id *a, const struct pf_gpu_id *b)
{
	if (a->worker_id != b->worker_id)
		return a->worker_id < b->worker_id ? -1 : 1;
	return (a->device > b->device) - (a->device < b->device);
}

void pf_gpu_set_add(struct pf_gpu_set *set, const struct pf_window_trace *trace,
		    int64_t device)
{
	const struct pf_gpu_id id = { trace->worker_id, device };
	const struct pf_gpu_id *g = set->items;
	size_t at = PF_SEARCH(i, set->count, gpu_order(&g[i], &id) < 0);

	if (at < set->count && !gpu_order(&g[at], &id))
		return;
	PF_ROOM(set->items, set->cap, set->count + 1);
	memmove(&set->items[at + 1], &set->items[at],
		(set->count++ - at) * sizeof(*set->items));
	set->items[at] = id;
}

void pf_gpu_set_release(struct pf_gpu_set *set)
{
	free(set->items);
	*set = (struct pf_gpu_set){ 0 };
}

/* ---- which trace a row is of ---- */

const char *pf_window_no_work(const struct pf_window *w)
{
	if (w->has_unread)
		return "No GPU work could be read";
	return w->tpu_count ? "There is no GPU work, but that of TPUs, which "
			      "only 'profan kernels', 'table', 'roofline', "
			      "'overlap', 'gaps' and 'steps' look into"
			    : "There is no GPU work";
}

const char *pf_window_device(const struct pf_window *w)
{
	return w->is_tpu ? "TPU" : "GPU";
}

const char *pf_window_title(const struct pf_window *w, const char *title)
{
	static const struct {
		const char *gpu, *tpu;
	} titles[] = {
		{ "GPU", "TPU" },
		{ "GPUs", "TPUs" },
		{ "By GPU", "By TPU" },
		{ "By GPU, each instant counted once, from left to right",
		  "By TPU, each instant counted once, from left to right" },
		{ "GPU busy", "TPU busy" },
		{ "Any GPU busy", "Any TPU busy" },
		{ "GPU idle", "TPU idle" },
		{ "GPU events", "TPU operations" },
		{ "GPU in kernels", "TPU in operations without copies" },
		{ "Kernels", "Operations" },
		{ "name of the kernel", "name or category of the operation" },
		{ "Kernels, summed", "Operations, summed" },
		{ "Before the first GPU work", "Before the first TPU work" },
	};

	for (size_t i = 0; w->is_tpu && i < PF_LEN(titles); i++)
		if (!strcmp(title, titles[i].gpu))
			return titles[i].tpu;
	return title;
}

bool pf_window_has_processes(const struct pf_window *w)
{
	for (size_t i = 1; i < w->count; i++)
		if (w->traces[i].worker_id != w->traces[0].worker_id)
			return true;
	return false;
}

bool pf_window_has_ranks(const struct pf_window *w)
{
	PF_OWN int64_t *ranks = pf_calloc(w->count, sizeof(*ranks));
	bool is_good = true;

	for (size_t i = 0; i < w->count; i++)
		ranks[i] = w->traces[i].rank;
	pf_sort(ranks, w->count, sizeof(*ranks), pf_stats_compare);
	for (size_t i = 0; i < w->count; i++)
		is_good &= ranks[i] >= 0 && (!i || ranks[i] != ranks[i - 1]);
	return is_good;
}

/* The same fields with titles of the window, which the caller frees. */
static struct pf_field *retitle(const struct pf_window *w,
				const struct pf_field *fields, size_t count)
{
	struct pf_field *shown = pf_calloc(count, sizeof(*shown));

	memcpy(shown, fields, count * sizeof(*shown));
	for (size_t i = 0; i < count; i++)
		shown[i].col.title = pf_window_title(w, shown[i].col.title);
	return shown;
}

void pf_window_put(const struct pf_window *w, struct pf_doc *doc,
		   const struct pf_field *fields, size_t count, const void *row,
		   size_t row_bytes)
{
	PF_OWN struct pf_field *shown = retitle(w, fields, count);

	pf_doc_put(doc, shown, count, row, row_bytes);
}

struct pf_table *pf_window_rows(const struct pf_window *w, struct pf_doc *doc,
				const char *name, const char *title,
				const struct pf_field *fields, size_t count,
				const void *rows, size_t row_count,
				size_t row_bytes)
{
	const char *key = pf_window_has_ranks(w) ? "rank" : "trace_id";
	PF_OWN struct pf_field *shown = retitle(w, fields, count);

	for (size_t i = 0; i < count && w->count > 1; i++)
		if (!strcmp(shown[i].col.key, key))
			shown[i].col.kind &= ~PF_FULL;
	return pf_doc_rows(doc, name, pf_window_title(w, title), shown, count,
			   rows, row_count, row_bytes);
}

static void add_word(struct pf_buf *out, const char *option, const char *word)
{
	if (!word)
		return;
	pf_buf_addf(out, " --%s ", option);
	pf_shell_word(out, word);
}

static void add_number(struct pf_buf *out, const char *option, int64_t none,
		       int64_t n)
{
	if (n > none)
		pf_buf_addf(out, " --%s %" PRId64, option, n);
}

static void add_time(struct pf_buf *out, const char *option, int64_t ns)
{
	char shown[PF_NUM_MAX];

	if (ns >= 0)
		pf_buf_addf(out, " --%s %s", option,
			    pf_num_option_ns(shown, ns));
}

void pf_window_options(const struct pf_window_args *w, struct pf_buf *out)
{
	add_word(out, "steps", w->steps);
	add_word(out, "step", w->step);
	if (w->whole)
		pf_buf_adds(out, " --whole-capture");
	add_number(out, "skip-first", 0, w->skip_first);
	add_time(out, "from", w->from_ns);
	add_time(out, "to", w->to_ns);
	add_word(out, "rank", w->rank);
	add_number(out, "trace", -1, w->trace);
	add_number(out, "cycle", 0, w->cycle);
	add_number(out, "device", -1, w->device);
}
