/* SPDX-License-Identifier: MIT */
/*
 * A step's number need not be unique in a trace (several captures in one
 * file): what another thread launched in it belongs to the last listed step
 * of its number that began before that ended.
 */
#include "config.h"

#include "events/step.h"

#include <regex.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/order.h"
#include "base/sat.h"
#include "base/search.h"
#include "base/stats.h"
#include "events/gpu.h"
#include "events/interval.h"
#include "events/names.h"
#include "events/traces.h"
#include "store/cursor.h"
#include "store/kept.h"
#include "store/query.h"

/*
 * Names are matched once each; threads are read for the events that bear one.
 * The ranges of a thread wait at the end of the list and stay if they are more
 * than those of the thread that leads its trace.
 */

#define PATTERN_MAX    256
#define REPEAT_MAX     1000
#define NAME_BYTES_MAX 1024
#define RANGES_MAX     (1u << 20)

struct pf_step_regex {
	regex_t compiled;
};

/* ---- patterns ---- */

/*
 * The product of all repetition counts ("a{2,30}" has 30): what a compiled
 * pattern grows by.  Brackets and escapes are not looked into, so that it may
 * be too large, never too small.
 */
static unsigned long repetitions(const char *pattern)
{
	unsigned long all = 1;

	for (const char *p = pattern; (p = strchr(p, '{')); p++) {
		unsigned long most = 1;

		for (const char *q = p + 1; *q && *q != '}'; q++) {
			char *end;
			unsigned long n = strtoul(q, &end, 10);

			if (end == q)
				continue;
			PF_AT_LEAST(most, n);
			q = end - 1;
		}
		if (most > REPEAT_MAX || (all *= most) > REPEAT_MAX)
			return REPEAT_MAX + 1;
	}
	return all;
}

static bool has_back_reference(const char *pattern)
{
	for (const char *p = pattern; (p = strchr(p, '\\')); p += 2) {
		if (p[1] >= '1' && p[1] <= '9')
			return true;
		if (!p[1])
			break;
	}
	return false;
}

struct pf_step_regex *pf_step_regex_new(const char *pattern, struct pf_err *err)
{
	struct pf_step_regex *r;
	char why[128];
	int rc;

	if (strlen(pattern) > PATTERN_MAX ||
	    repetitions(pattern) > REPEAT_MAX) {
		pf_fail(err, PF_EUSAGE,
			"the pattern of --steps is too large: it may have %d "
			"characters and repeat %d times in all",
			PATTERN_MAX, REPEAT_MAX);
		return NULL;
	}
	if (has_back_reference(pattern)) {
		pf_fail(err, PF_EUSAGE,
			"'%s': patterns have no back-references", pattern);
		return NULL;
	}
	r = pf_calloc(1, sizeof(*r));
	rc = regcomp(&r->compiled, pattern, REG_EXTENDED | REG_NOSUB);
	if (!rc)
		return r;
	regerror(rc, &r->compiled, why, sizeof(why));
	pf_fail(err, PF_EUSAGE, "'%s' is no pattern: %s", pattern, why);
	free(r);
	return NULL;
}

void pf_step_regex_free(struct pf_step_regex *r)
{
	if (!r)
		return;
	regfree(&r->compiled);
	free(r);
}

bool pf_step_regex_matches(const struct pf_step_regex *r, const char *name,
			   size_t len)
{
	char text[NAME_BYTES_MAX + 1];

	PF_AT_MOST(len, NAME_BYTES_MAX);
	memcpy(text, name, len);
	text[len] = '\0';
	return !regexec(&r->compiled, text, 0, NULL, 0);
}

/* ---- names ---- */

/* The number at the end of a name, -1 if there is none. */
static int64_t number_of(const char *name, size_t len)
{
	size_t digits = 0;
	int64_t n = 0;

	while (digits < len && name[len - 1 - digits] >= '0' &&
	       name[len - 1 - digits] <= '9')
		digits++;
	if (!digits || digits > 18)
		return -1;
	for (size_t i = len - digits; i < len; i++)
		n = n * 10 + (name[i] - '0');
	return n;
}

int pf_step_regex_ids(const struct pf_step_regex *r, struct pf_db *db,
		      struct pf_map *ids)
{
	PF_STMT(st) = pf_named_prepare(db, "string_list", db->err);
	int rc;

	while ((rc = pf_db_step(db, st, db->err)) == 1) {
		uint64_t id = (uint64_t)sqlite3_column_int64(st, 0);
		const char *text = pf_sqlite_text(st, 1);
		size_t len = (size_t)sqlite3_column_bytes(st, 1);

		if (text && pf_step_regex_matches(r, text, len))
			*pf_map_at(ids, id) =
				(uint64_t)(number_of(text, len) + 1);
	}
	return rc;
}

struct finder {
	struct pf_db *db;
	struct pf_step_regex *regex;
	struct pf_map numbers; /* of names; see pf_step_regex_ids() */
	struct pf_steps *out;
	size_t cap;
};

/* Does the event bear such a name?  *number: -1 if it has none. */
static bool find_number(struct finder *f, const struct pf_span *s,
			int64_t *number)
{
	const uint64_t *place;

	if (s->name == PF_ID_INLINE) {
		*number = number_of(s->inline_name, s->inline_name_len);
		return pf_step_regex_matches(f->regex, s->inline_name,
					     s->inline_name_len);
	}
	place = pf_map_at(&f->numbers, s->name);
	*number = (int64_t)*place - 1;
	return *place != UINT64_MAX;
}

/* ---- threads ---- */

static int add_range(struct finder *f, size_t first, int64_t trace_id,
		     uint32_t track_id, int64_t start_ns, int64_t dur_ns,
		     int64_t number)
{
	struct pf_steps *out = f->out;
	int64_t end = pf_span_end(start_ns, dur_ns);

	if (out->count > first &&
	    start_ns < out->items[out->count - 1].host_end_ns)
		return 0;
	if (out->count == RANGES_MAX)
		return pf_fail(f->db->err, PF_ELIMIT,
			       "more than %u ranges match --steps", RANGES_MAX);
	*PF_ONE_MORE(out->items, out->count, f->cap) = (struct pf_step){
		.trace_id = trace_id,
		.track_id = track_id,
		.step = number,
		.host_start_ns = start_ns,
		.host_end_ns = end,
		.start_ns = start_ns,
		.end_ns = end,
	};
	return 0;
}

static int read_thread(struct finder *f, const struct pf_track *track)
{
	static const uint64_t columns =
		PF_COLBIT(PF_COL_START) | PF_COLBIT(PF_COL_DUR) |
		PF_COLBIT(PF_COL_NAME) | PF_COLBIT(PF_COL_INLINE);
	struct pf_cursor *c = pf_cursor_new(f->db, track->id, columns);
	size_t first = f->out->count;
	struct pf_span s;
	int64_t number;
	int rc;

	while ((rc = pf_cursor_next(c, &s, f->db->err)) == 1)
		if (s.dur_ns > 0 && find_number(f, &s, &number) &&
		    (rc = add_range(f, first, track->trace_id, track->id,
				    s.start_ns, s.dur_ns, number)) < 0)
			break;
	pf_cursor_free(c);
	return rc;
}

static bool is_more(const struct pf_steps *out, size_t first, size_t best)
{
	return out->count - best > best - first;
}

/*
 * The ranges from "best" on stay if they are more than those before, from
 * "first" on.  Returns where the next ones go.
 */
static size_t keep_more(struct pf_steps *out, size_t first, size_t best)
{
	size_t own = out->count - best;

	if (is_more(out, first, best)) {
		memmove(&out->items[first], &out->items[best],
			own * sizeof(*out->items));
		best = first + own;
	}
	out->count = best;
	return best;
}

/* The same of ranges that are no thread's, lane by lane. */
static int read_lanes(struct finder *f, int64_t trace_id, size_t first,
		      size_t best)
{
	struct pf_async_range a;
	struct pf_async all;
	uint32_t lane = 0;
	bool cross = false, best_cross = false;
	int rc = pf_async_open(&all, f->db, trace_id);

	while (!rc && (rc = pf_async_next(&all, &a)) == 1) {
		size_t len = strlen(a.name);

		if (a.track_id != lane) {
			best_cross = is_more(f->out, first, best) ? cross
								  : best_cross;
			best = keep_more(f->out, first, best);
			cross = false;
		}
		lane = a.track_id;
		rc = 0;
		if (a.dur_ns <= 0 ||
		    !pf_step_regex_matches(f->regex, a.name, len))
			continue;
		cross |= f->out->count > best &&
			 a.start_ns <
				 f->out->items[f->out->count - 1].host_end_ns &&
			 pf_span_end(a.start_ns, a.dur_ns) >
				 f->out->items[f->out->count - 1].host_end_ns;
		rc = add_range(f, best, trace_id, 0, a.start_ns, a.dur_ns,
			       number_of(a.name, len));
	}
	best_cross = is_more(f->out, first, best) ? cross : best_cross;
	keep_more(f->out, first, best);
	pf_async_close(&all);
	if (!rc && best_cross)
		rc = pf_fail(f->db->err, PF_EDATA,
			     "start/end ranges that match --steps cross each "
			     "other: which of them is a step cannot be told");
	return rc;
}

/* Numbers of the ranges from "first" on, which are one trace's. */
static void number_steps(struct pf_steps *steps, size_t first)
{
	bool ascend = true;

	for (size_t i = first; i < steps->count; i++)
		ascend &= steps->items[i].step >= 0 &&
			  (i == first ||
			   steps->items[i].step > steps->items[i - 1].step);
	for (size_t i = first; !ascend && i < steps->count; i++)
		steps->items[i].step = (int64_t)(i - first);
}

static int read_trace(struct finder *f, const struct pf_track *tracks,
		      size_t count)
{
	struct pf_steps *out = f->out;
	size_t first = out->count, best = out->count;

	for (size_t i = 0; i < count; i++) {
		if (strcmp(tracks[i].class_name, "host") != 0)
			continue;
		PF_TRY(read_thread(f, &tracks[i]) < 0);
		best = keep_more(out, first, best);
	}
	PF_TRY(read_lanes(f, tracks->trace_id, first, best));
	number_steps(out, first);
	return 0;
}

/*
 * The ranges as steps by trace and start: only trace_id, track_id, step and
 * the times on the host are set.  PF_EDATA if no range matches.
 */
static int step_names_load(struct pf_db *db, const char *pattern,
			   struct pf_steps *out)
{
	struct finder f = { .db = db, .out = out };
	struct pf_track *tracks = NULL;
	size_t count = 0;
	int rc = -1;

	f.regex = pf_step_regex_new(pattern, db->err);
	if (f.regex && !pf_step_regex_ids(f.regex, db, &f.numbers))
		rc = pf_tracks_load(db, 0, &tracks, &count, db->err);
	for (size_t i = 0, end; !rc && i < count; i = end) {
		for (end = i + 1;
		     end < count && tracks[end].trace_id == tracks[i].trace_id;)
			end++;
		rc = read_trace(&f, &tracks[i], end - i);
	}
	if (!rc && !out->count)
		rc = pf_fail(db->err, PF_EDATA,
			     "no range of the host matches --steps '%s'",
			     pattern);
	pf_tracks_free(tracks, count);
	pf_step_regex_free(f.regex);
	pf_map_release(&f.numbers);
	return rc;
}

/* ---- profiler steps ---- */

/* How many steps begin at or before an instant of a trace; all before it. */
static size_t begun(const struct pf_steps *steps, int64_t trace_id,
		    int64_t at_ns)
{
	const struct pf_step *s = steps->items;

	return PF_SEARCH(i, steps->count,
			 s[i].trace_id < trace_id ||
				 (s[i].trace_id == trace_id &&
				  s[i].host_start_ns <= at_ns));
}

#define AHEAD 0.05 /* of all */

void pf_step_say_ahead(int64_t count, int64_t ahead_ns, int64_t whole_ns,
		       struct pf_buf *out)
{
	if (ahead_ns <= 0 || pf_num_share(ahead_ns, whole_ns) < AHEAD)
		return;
	if (count == 1)
		pf_buf_adds(out, "From its begin on the host to its end the "
				 "step takes ");
	else
		pf_buf_addf(out,
			    "From the first begin on the host to the last end "
			    "the %s steps take ",
			    PF_SHOW_COUNT(count));
	pf_buf_adds(out, PF_SHOW_NS(whole_ns));
}

/* The last step of this number that begins at or before start_ns. */
static struct pf_step *find_step(struct pf_steps *steps, int64_t trace_id,
				 int64_t number, int64_t start_ns)
{
	size_t low = begun(steps, trace_id, start_ns);

	while (low-- > 0 && steps->items[low].trace_id == trace_id)
		if (steps->items[low].step == number)
			return &steps->items[low];
	return NULL;
}

/* What a step of another thread launched belongs to the listed one. */
static void add_other(struct pf_steps *steps, const struct pf_step *other)
{
	struct pf_step *s =
		find_step(steps, other->trace_id, other->step, other->end_ns);

	if (!s)
		return;
	pf_sat_sum(&s->gpu_count, other->gpu_count);
	PF_AT_LEAST(s->end_ns, other->end_ns);
}

static struct pf_step read_step(sqlite3_stmt *st)
{
	struct pf_step s = {
		.trace_id = sqlite3_column_int64(st, 0),
		.step = sqlite3_column_int64(st, 1),
		.host_start_ns = sqlite3_column_int64(st, 2),
		.gpu_count = sqlite3_column_int64(st, 4),
		.track_id = sqlite3_column_int64(st, 7),
	};

	s.host_end_ns =
		pf_span_end(s.host_start_ns, sqlite3_column_int64(st, 3));
	s.start_ns = s.host_start_ns;
	s.end_ns = s.host_end_ns;
	if (s.gpu_count && sqlite3_column_int64(st, 5) > s.end_ns)
		s.end_ns = sqlite3_column_int64(st, 5);
	return s;
}

static int load_rows(struct pf_db *db, struct pf_steps *out)
{
	PF_STMT(stmt) = pf_named_prepare(db, "step_list", db->err);
	size_t cap = 0;
	int rc;

	while ((rc = pf_db_step(db, stmt, db->err)) == 1) {
		struct pf_step s = read_step(stmt);

		if (!sqlite3_column_int(stmt, 6)) {
			add_other(out, &s);
			continue;
		}
		*PF_ONE_MORE(out->items, out->count, cap) = s;
	}
	return rc;
}

/* ---- steps of other names: the call of each piece of GPU work is read ---- */

/* The step of a trace that a call lies in entirely. */
static struct pf_step *step_around(struct pf_steps *steps, int64_t trace_id,
				   int64_t at_ns, int64_t dur_ns)
{
	size_t i = pf_steps_at(steps, trace_id, at_ns);

	if (i == steps->count ||
	    steps->items[i].host_end_ns < pf_span_end(at_ns, dur_ns))
		return NULL;
	return &steps->items[i];
}

static int extend_named(struct pf_db *db, struct pf_steps *steps)
{
	static const struct pf_window_args all = PF_WINDOW_DEFAULTS;
	PF_AUTO(pf_window_release) struct pf_window window = { .device = -1 };
	PF_AUTO(pf_by_event_freed) struct pf_by_event *works = NULL;
	const struct pf_event_work *w;
	const struct pf_block *b;
	uint32_t i;

	if (!pf_window_load(db, &all, &window))
		works = pf_by_event_work(db, &window,
					 PF_COLBIT(PF_COL_START) |
						 PF_COLBIT(PF_COL_DUR));
	while (works && (w = pf_by_event_next(works, &b, &i))) {
		struct pf_step *s = NULL;

		if (b)
			s = step_around(steps, w->trace_id, b->start_ns[i],
					b->dur_ns[i]);
		if (!s)
			continue;
		pf_sat_sum(&s->gpu_count, 1);
		PF_AT_LEAST(s->end_ns, w->end_ns);
	}
	return db->err->code ? -1 : 0;
}

/* Steps first..end-1 are those of one trace. */
static void settle(struct pf_step *steps, size_t count)
{
	struct pf_step *last = &steps[count - 1];
	int64_t total = 0;

	for (size_t i = 0; i < count; i++) {
		pf_sat_sum(&total, steps[i].gpu_count);
		if (i && steps[i].start_ns < steps[i - 1].end_ns)
			steps[i].start_ns = steps[i - 1].end_ns;
		PF_AT_LEAST(steps[i].end_ns, steps[i].start_ns);
	}
	if (total && count > 1)
		last->is_partial =
			!last->gpu_count ||
			(double)last->gpu_count <
				0.8 * (double)steps[count - 2].gpu_count;
}

/* ---- steps that hold nothing ---- */

#define EMPTY_PART 100

/* Of all but one, which is in the shorter half. */
static int64_t median_of_others(const struct pf_step *steps, size_t count)
{
	PF_OWN int64_t *list = pf_calloc(count, sizeof(*list));

	for (size_t i = 0; i < count; i++)
		list[i] = steps[i].end_ns - steps[i].start_ns;
	pf_sort(list, count, sizeof(*list), pf_stats_compare);
	return list[count / 2];
}

/* Operators of a trace, and the steps that they begin in. */
struct operators {
	struct pf_db *db;
	struct pf_kinds kinds;
	const struct pf_window_trace *within; /* NULL: until one is found */
	const struct pf_step *steps;          /* of this trace, by start */
	size_t count;
	bool *hold; /* of each of them */
	bool is_any;
};

static int note_operator(void *context, const struct pf_block *b, uint32_t i,
			 int64_t event_id)
{
	struct operators *o = context;
	const struct pf_step *s = o->steps;
	int64_t at_ns = b->start_ns[i];
	size_t n;

	(void)event_id;
	if (pf_kinds_at(&o->kinds, b->type[i]) != PF_KIND_CPU_OP)
		return 0;
	o->is_any = true;
	n = PF_SEARCH(k, o->count, s[k].host_start_ns <= at_ns);
	if (n && at_ns < s[n - 1].host_end_ns)
		o->hold[n - 1] = true;
	return 0;
}

static bool is_more_wanted(void *context, const struct pf_track *t)
{
	const struct operators *o = context;

	(void)t;
	return o->within || !o->is_any;
}

static int find_operators(void *context, const struct pf_track *t)
{
	struct operators *o = context;
	const struct pf_track_reader reader = { .event = note_operator,
						.wants_more = is_more_wanted,
						.within = o->within };

	return pf_track_read(o->db, t, &reader, o);
}

static bool may_be_empty(const struct pf_step *s, int64_t median_ns)
{
	return !s->gpu_count &&
	       s->end_ns - s->start_ns < median_ns / EMPTY_PART;
}

/* Steps of one trace: where it has neither operators nor work, who knows? */
static int mark_empty(struct pf_db *db, struct pf_step *steps, size_t count)
{
	struct operators o = { .db = db, .steps = steps, .count = count };
	struct pf_window_trace within = { .trace_id = steps->trace_id,
					  .from_ns = INT64_MAX };
	int64_t median_ns = median_of_others(steps, count), launched = 0;

	for (size_t i = 0; i < count; i++) {
		pf_sat_sum(&launched, steps[i].gpu_count);
		if (!may_be_empty(&steps[i], median_ns))
			continue;
		if (within.from_ns == INT64_MAX)
			within.from_ns = steps[i].host_start_ns;
		within.to_ns = steps[i].host_end_ns;
	}
	if (within.from_ns == INT64_MAX)
		return 0;
	o.hold = pf_calloc(count, sizeof(*o.hold));
	/* Of those that may be empty, where the first begins and the last ends. */
	o.within = &within;
	if (!pf_kinds_load(&o.kinds, db, db->err))
		pf_host_tracks(db, within.trace_id, find_operators, &o);
	o.within = NULL;
	if (!launched && !o.is_any && !db->err->code)
		pf_host_tracks(db, within.trace_id, find_operators, &o);
	for (size_t i = 0; (launched || o.is_any) && i < count; i++)
		if (may_be_empty(&steps[i], median_ns) && !o.hold[i])
			steps[i].is_empty = steps[i].is_partial = true;
	pf_kinds_release(&o.kinds);
	free(o.hold);
	return db->err->code ? -1 : 0;
}

int64_t pf_steps_alone(struct pf_db *db)
{
	PF_STMT(st) = pf_named_prepare(db, "steps_alone", db->err);

	return st && pf_db_step(db, st, db->err) == 1
		       ? sqlite3_column_int64(st, 0)
		       : 0;
}

static int load(struct pf_db *db, const char *regex, struct pf_steps *out)
{
	if (!regex)
		return load_rows(db, out);
	PF_TRY(step_names_load(db, regex, out) < 0);
	return out->count ? extend_named(db, out) : 0;
}

static void free_steps(void *steps)
{
	pf_steps_release(steps);
	free(steps);
}

static void *make_steps(struct pf_db *db, const char *regex)
{
	struct pf_steps *s = pf_calloc(1, sizeof(*s));

	if (load(db, regex, s) < 0) {
		free_steps(s);
		return NULL;
	}
	for (size_t i = 0, end; i < s->count; i = end) {
		for (end = i + 1;
		     end < s->count &&
		     s->items[end].trace_id == s->items[i].trace_id;)
			end++;
		settle(&s->items[i], end - i);
		if (!regex && mark_empty(db, &s->items[i], end - i) < 0) {
			free_steps(s);
			return NULL;
		}
	}
	return s;
}

int pf_steps_load(struct pf_db *db, const char *regex, struct pf_steps *out)
{
	const struct pf_steps *s =
		pf_memo_get(db, make_steps, free_steps, regex);

	*out = (struct pf_steps){ 0 };
	PF_TRY(!s);
	out->items = pf_calloc(s->count, sizeof(*s->items));
	out->count = s->count;
	if (s->count)
		memcpy(out->items, s->items, s->count * sizeof(*s->items));
	return 0;
}

size_t pf_steps_first(const struct pf_steps *steps, int64_t trace_id)
{
	const struct pf_step *s = steps->items;
	size_t first = PF_SEARCH(i, steps->count, s[i].trace_id < trace_id);

	return pf_steps_is_of(steps, first, trace_id) ? first : steps->count;
}

size_t pf_steps_at(const struct pf_steps *steps, int64_t trace_id,
		   int64_t at_ns)
{
	size_t low = begun(steps, trace_id, at_ns);

	if (!low || steps->items[low - 1].trace_id != trace_id ||
	    steps->items[low - 1].host_end_ns <= at_ns)
		return steps->count;
	return low - 1;
}

void pf_steps_release(struct pf_steps *steps)
{
	free(steps->items);
	*steps = (struct pf_steps){ 0 };
}
