/* SPDX-License-Identifier: MIT */
/*
 * Names are matched once each; threads are read for the events that bear one.
 * The ranges of a thread wait at the end of the list and stay if they are more
 * than those of the thread that leads its trace.
 */
#include "config.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "events/interval.h"
#include "events/step_names.h"
#include "events/track_read.h"
#include "base/mem.h"
#include "store/cursor.h"
#include "store/query.h"

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
			if (n > most)
				most = n;
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

	if (len > NAME_BYTES_MAX)
		len = NAME_BYTES_MAX;
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

struct finder {
	struct pf_db *db;
	struct pf_step_regex *regex;
	struct pf_map numbers; /* name -> its number + 1, 0: it has none */
	struct pf_steps *out;
	size_t cap;
};

static int match_names(struct finder *f, struct pf_err *err)
{
	sqlite3_stmt *st = pf_named_prepare(f->db, "string_list", err);
	int rc;

	if (!st)
		return -1;
	while ((rc = pf_db_step(f->db, st, err)) == 1) {
		int64_t id = sqlite3_column_int64(st, 0);
		const char *text = (const char *)sqlite3_column_text(st, 1);
		size_t len = (size_t)sqlite3_column_bytes(st, 1);

		if (text && pf_step_regex_matches(f->regex, text, len))
			*pf_map_at(&f->numbers, (uint64_t)id) =
				(uint64_t)(number_of(text, len) + 1);
	}
	sqlite3_finalize(st);
	return rc;
}

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
		     int64_t number, struct pf_err *err)
{
	struct pf_steps *out = f->out;
	int64_t end = pf_span_end(start_ns, dur_ns);

	if (out->count > first &&
	    start_ns < out->items[out->count - 1].host_end_ns)
		return 0;
	if (out->count == RANGES_MAX)
		return pf_fail(err, PF_ELIMIT,
			       "more than %u ranges match --steps", RANGES_MAX);
	out->items = pf_grow(out->items, &f->cap, out->count + 1,
			     sizeof(*out->items));
	out->items[out->count++] = (struct pf_step){
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

static int read_thread(struct finder *f, const struct pf_track *track,
		       struct pf_err *err)
{
	static const uint64_t columns =
		PF_COLBIT(PF_COL_START) | PF_COLBIT(PF_COL_DUR) |
		PF_COLBIT(PF_COL_NAME) | PF_COLBIT(PF_COL_INLINE);
	struct pf_cursor *c = pf_cursor_new(f->db, track->id, columns, err);
	size_t first = f->out->count;
	struct pf_span s;
	int64_t number;
	int rc;

	if (!c)
		return -1;
	while ((rc = pf_cursor_next(c, &s, err)) == 1)
		if (s.dur_ns > 0 && find_number(f, &s, &number) &&
		    (rc = add_range(f, first, track->trace_id, track->id,
				    s.start_ns, s.dur_ns, number, err)) < 0)
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
		      size_t best, struct pf_err *err)
{
	struct pf_async_range a;
	struct pf_async all;
	uint32_t lane = 0;
	bool cross = false, best_cross = false;
	int rc = pf_async_open(&all, f->db, trace_id, err);

	while (!rc && (rc = pf_async_next(&all, &a, err)) == 1) {
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
			       number_of(a.name, len), err);
	}
	best_cross = is_more(f->out, first, best) ? cross : best_cross;
	keep_more(f->out, first, best);
	pf_async_close(&all);
	if (!rc && best_cross)
		rc = pf_fail(err, PF_EDATA,
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
		      size_t count, struct pf_err *err)
{
	struct pf_steps *out = f->out;
	size_t first = out->count, best = out->count;

	for (size_t i = 0; i < count; i++) {
		if (strcmp(tracks[i].class_name, "host") != 0)
			continue;
		if (read_thread(f, &tracks[i], err) < 0)
			return -1;
		best = keep_more(out, first, best);
	}
	if (read_lanes(f, tracks->trace_id, first, best, err))
		return -1;
	number_steps(out, first);
	return 0;
}

int pf_step_names_load(struct pf_db *db, const char *pattern,
		       struct pf_steps *out, struct pf_err *err)
{
	struct finder f = { .db = db, .out = out };
	struct pf_track *tracks = NULL;
	size_t count = 0;
	int rc = -1;

	pf_map_init(&f.numbers);
	f.regex = pf_step_regex_new(pattern, err);
	if (f.regex && !match_names(&f, err))
		rc = pf_tracks_load(db, 0, &tracks, &count, err);
	for (size_t i = 0, end; !rc && i < count; i = end) {
		for (end = i + 1;
		     end < count && tracks[end].trace_id == tracks[i].trace_id;)
			end++;
		rc = read_trace(&f, &tracks[i], end - i, err);
	}
	if (!rc && !out->count)
		rc = pf_fail(err, PF_EDATA,
			     "no range of the host matches --steps '%s'",
			     pattern);
	pf_tracks_free(tracks, count);
	pf_step_regex_free(f.regex);
	pf_map_release(&f.numbers);
	return rc;
}
