/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <math.h>

#include "analysis/time/counters.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/order.h"
#include "base/sat.h"
#include "base/data.h"
#include "events/args.h"
#include "events/ask.h"
#include "events/step.h"
#include "store/argtext.h"
#include "store/cursor.h"
#include "store/query.h"
#include "store/texts.h"
#include "formats/event.h"

#define SERIES_MAX 100000u

struct series {
	int64_t trace_id, rank, sample_count;
	double min, mean, max, last;
	const char *track, *name, *key;
	double sum;
};
#define FIELD(...) PF_FIELD(struct series, __VA_ARGS__)
static const struct pf_field series_fields[] = {
	FIELD(trace_id, "Trace", PF_INT | PF_FULL),
	FIELD(rank, "Rank", PF_INT | PF_FULL | PF_KNOWN),
	FIELD(track, "Of", PF_TEXT),
	FIELD(name, "Counter", PF_TEXT),
	FIELD(key, "Value", PF_TEXT),
	FIELD(sample_count, "Samples", PF_COUNT),
	FIELD(min, "Least", PF_REAL),
	FIELD(mean, "Mean", PF_REAL),
	FIELD(max, "Most", PF_REAL),
	FIELD(last, "Last", PF_REAL),
};
#undef FIELD

/* Samples of a series in a step. */
struct in_step {
	int64_t trace_id, step, sample_count, counter_trace_id;
	double mean, sum;
	const char *track, *key;
	uint32_t series;
	size_t place; /* of the step */
};
#define FIELD(...) PF_FIELD(struct in_step, __VA_ARGS__)
static const struct pf_field step_fields[] = {
	FIELD(trace_id, "Trace", PF_INT),
	FIELD(step, "Step", PF_INT),
	FIELD(counter_trace_id, "Trace of it", PF_INT | PF_FULL),
	FIELD(track, "Of", PF_TEXT),
	FIELD(key, "Value", PF_TEXT),
	FIELD(sample_count, "Samples", PF_COUNT),
	FIELD(mean, "Mean", PF_REAL),
};
#undef FIELD

/*
 * A value that is a text (a performance state, a mask of reasons): it holds
 * from its sample to the next one of its GPU.
 */
struct state {
	int64_t trace_id, rank, sample_count, time_ns;
	double share; /* of the time between the samples of the value */
	const char *track, *name, *key, *value;
	const char *meaning; /* or NULL */
	bool holds;          /* work is slower for it */
	uint32_t of;         /* which value, and in which order it came */
	uint32_t number;
};
#define FIELD(...) PF_FIELD(struct state, __VA_ARGS__)
static const struct pf_field state_fields[] = {
	FIELD(trace_id, "Trace", PF_INT | PF_FULL),
	FIELD(rank, "Rank", PF_INT | PF_FULL | PF_KNOWN),
	FIELD(track, "Of", PF_TEXT),
	FIELD(name, "Counter", PF_TEXT | PF_FULL),
	FIELD(key, "Value", PF_TEXT),
	FIELD(value, "State", PF_TEXT),
	FIELD(meaning, "Meaning", PF_TEXT),
	FIELD(sample_count, "Samples", PF_COUNT),
	FIELD(time_ns, "Time", PF_NS),
	FIELD(share, "Share", PF_RATIO),
};
#undef FIELD

/* A value that has states. */
struct stateful {
	int64_t at_ns, time_ns; /* of its last sample; between all */
	int64_t row;            /* of its last sample */
	uint32_t state;         /* at that */
	uint32_t count;         /* distinct ones */
};
#define STATES_MAX 64u /* of a value; others are one */
#define OTHERS     "(other texts)"

struct base {
	int64_t trace_id, base_ns;
};
static const struct pf_field base_fields[] = {
	PF_FIELD(struct base, trace_id, "", PF_INT),
	PF_FIELD(struct base, base_ns, "", PF_INT | PF_MAYBE),
};

struct counters {
	struct pf_ask ask;
	struct pf_keyed series;   /* struct series, by track, name and key */
	struct pf_keyed stateful; /* struct stateful, of the same keys */
	struct pf_keyed states;   /* struct state, by which of them and text */
	struct pf_keyed cells;    /* struct in_step, by series and step */
	struct pf_data *reasons;
	int64_t row; /* events so far */
	struct pf_steps steps;
	struct base *bases;
	size_t base_count;
	struct pf_texts texts;
	struct pf_buf text, key;
	struct pf_counter_sink *sink; /* NULL: the document */
	/* the track at hand */
	const struct pf_window_trace *trace;
	const struct pf_track *track;
};

static struct series *series_at(const struct counters *c, size_t i)
{
	return PF_KEYED_ROW(&c->series, struct series, i);
}

static struct stateful *stateful_at(const struct counters *c, size_t i)
{
	return PF_KEYED_ROW(&c->stateful, struct stateful, i);
}

static struct state *state_at(const struct counters *c, size_t i)
{
	return PF_KEYED_ROW(&c->states, struct state, i);
}

/* ---- series ---- */

/* What names the process of the track at hand. */
static const char *track_name(struct counters *c)
{
	const struct pf_track *t = c->track;

	return pf_arena_string(&c->ask.memory, *t->pid ? t->pid : t->tid);
}

/* The row of a value under a name; more than SERIES_MAX are an error. */
static size_t find_value(struct counters *c, struct pf_keyed *in,
			 const char *name, const struct pf_arg *a)
{
	size_t n;

	pf_buf_clear(&c->key);
	pf_buf_addf(&c->key, "%u", c->track->id);
	pf_buf_addc(&c->key, '\0');
	pf_buf_add(&c->key, name, strlen(name) + 1);
	pf_buf_add(&c->key, a->key, a->key_len);
	n = pf_keyed_at_text(in, c->key.data, c->key.len);
	if (n >= SERIES_MAX)
		pf_fail(c->ask.err, PF_ELIMIT,
			"more than %u series of counters", SERIES_MAX);
	return n;
}

static uint32_t find_series(struct counters *c, const char *name,
			    const struct pf_arg *a)
{
	size_t known = c->series.count, n = find_value(c, &c->series, name, a);

	if (n == known)
		*series_at(c, n) = (struct series){
			.trace_id = c->track->trace_id,
			.rank = c->trace->rank,
			.track = track_name(c),
			.name = pf_arena_string(&c->ask.memory, name),
			.key = pf_arena_text(&c->ask.memory, a->key,
					     a->key_len),
			.min = INFINITY,
			.max = -INFINITY,
		};
	return (uint32_t)n;
}

/* ---- steps ---- */

/* What an instant of a trace is in another; false if it cannot be said. */
static bool move(const struct counters *c, int64_t from, int64_t to,
		 int64_t *at_ns)
{
	int64_t a = PF_NO_INT, b = PF_NO_INT, shift;

	if (from == to)
		return true;
	for (size_t i = 0; i < c->base_count; i++) {
		if (c->bases[i].trace_id == from)
			a = c->bases[i].base_ns;
		if (c->bases[i].trace_id == to)
			b = c->bases[i].base_ns;
	}
	return a != PF_NO_INT && b != PF_NO_INT &&
	       !__builtin_sub_overflow(a, b, &shift) &&
	       !__builtin_add_overflow(*at_ns, shift, at_ns);
}

static void add_cell(struct counters *c, uint32_t n, size_t place, double value)
{
	const struct series *s = series_at(c, n);
	size_t i = pf_keyed_at(&c->cells, (uint64_t)n << 32 | (uint32_t)place);
	struct in_step *cell = PF_KEYED_ROW(&c->cells, struct in_step, i);

	cell->trace_id = c->steps.items[place].trace_id;
	cell->step = c->steps.items[place].step;
	cell->counter_trace_id = s->trace_id;
	cell->track = s->track;
	cell->key = s->key;
	cell->series = n;
	cell->place = place;
	cell->sum += value;
	cell->sample_count++;
}

static void add_to_steps(struct counters *c, uint32_t n, int64_t at_ns,
			 double value)
{
	for (size_t i = 0; i < c->ask.window.count && c->steps.count; i++) {
		int64_t id = c->ask.window.traces[i].trace_id, ns = at_ns;
		size_t place;

		if (!move(c, c->trace->trace_id, id, &ns))
			continue;
		place = pf_steps_at(&c->steps, id, ns);
		if (place < c->steps.count)
			add_cell(c, n, place, value);
	}
}

/* ---- samples ---- */

/* A number, also as the text of one. */
static bool number_of(const struct pf_arg *a, double *value)
{
	char text[64], *end;

	const char *p = a->value;
	size_t len = a->value_len;

	if (len > 2 && *p == '"') {
		p++;
		len -= 2;
	}
	if (!len || len >= sizeof(text) || !strchr("-0123456789", *p) ||
	    memchr(p, 'x', len))
		return false;
	memcpy(text, p, len);
	text[len] = '\0';
	*value = strtod(text, &end);
	return !*end && isfinite(*value);
}

/* ---- states ---- */

/* What the bits of a mask of clocks' reasons mean; NULL of another value. */
static const char *mask_meaning(struct counters *c, const char *key,
				const char *value, bool *holds)
{
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };
	unsigned long long bits;
	const char *kept;
	char *end;

	if (strncmp(key, "clocks_throttle_reasons.active", 30) != 0 &&
	    strncmp(key, "clocks_event_reasons.active", 27) != 0)
		return NULL;
	bits = strtoull(value, &end, 16);
	if (strncmp(value, "0x", 2) != 0 || *end)
		return NULL;
	for (size_t i = 0; i < pf_data_rows(c->reasons); i++) {
		int64_t bit = pf_num_or_none(pf_data_cell(c->reasons, i, 0));

		if (bit < 0 || bit > 63 || !(bits >> bit & 1))
			continue;
		bits &= ~(1ull << bit);
		*holds |= *pf_data_cell(c->reasons, i, 1) == '1';
		pf_buf_addf(&text, "%s%s", text.len ? ", " : "",
			    pf_data_cell(c->reasons, i, 2));
	}
	if (bits)
		pf_buf_addf(&text, "%sbits 0x%llx, which are not known",
			    text.len ? ", " : "", bits);
	kept = pf_arena_string(&c->ask.memory,
			       text.len ? text.data : "nothing");
	return kept;
}

static uint32_t find_state(struct counters *c, uint32_t of, const char *name,
			   const struct pf_arg *a, const char *value)
{
	size_t known = c->states.count, n;
	struct state *s;

	if (stateful_at(c, of)->count == STATES_MAX)
		value = OTHERS;
	pf_buf_clear(&c->key);
	pf_buf_addf(&c->key, "%u %s", of, value);
	n = pf_keyed_at_text(&c->states, c->key.data, c->key.len);
	if (n < known)
		return (uint32_t)n;
	s = state_at(c, n);
	*s = (struct state){
		.trace_id = c->track->trace_id,
		.rank = c->trace->rank,
		.track = track_name(c),
		.name = pf_arena_string(&c->ask.memory, name),
		.key = pf_arena_text(&c->ask.memory, a->key, a->key_len),
		.value = pf_arena_string(&c->ask.memory, value),
		.of = of,
		.number = (uint32_t)n,
	};
	s->meaning = mask_meaning(c, s->key, value, &s->holds);
	if (stateful_at(c, of)->count < STATES_MAX)
		stateful_at(c, of)->count++;
	return (uint32_t)n;
}

static void add_state(struct counters *c, int64_t at_ns, const char *name,
		      const struct pf_arg *a)
{
	size_t known = c->stateful.count,
	       of = find_value(c, &c->stateful, name, a);
	struct stateful *v = stateful_at(c, of);
	PF_AUTO(pf_buf_release) struct pf_buf value = { 0 };

	if (of == known) {
		*v = (struct stateful){ .at_ns = at_ns };
	} else if (v->row + 1 == c->row) { /* else it was not known between */
		int64_t ns = pf_sat_sub(at_ns, v->at_ns);

		pf_sat_sum(&state_at(c, v->state)->time_ns, ns);
		pf_sat_sum(&v->time_ns, ns);
	}
	pf_json_text((struct pf_json){ a->value, a->value_len }, &value);
	pf_buf_addc(&value, '\0');
	v->state = find_state(c, (uint32_t)of, name, a, value.data);
	v->at_ns = at_ns;
	v->row = c->row;
	state_at(c, v->state)->sample_count++;
}

PF_ORDER(by_value, struct state, PF_UP(of) PF_DOWN(time_ns) PF_UP(number))

static void settle_states(struct counters *c)
{
	for (uint32_t i = 0; i < c->states.count; i++) {
		struct state *s = state_at(c, i);
		int64_t all_ns = stateful_at(c, s->of)->time_ns;

		s->share = all_ns > 0 ? pf_num_share(s->time_ns, all_ns) : NAN;
	}
	pf_keyed_sort(&c->states, by_value);
}

/* How long clocks of a GPU are held down, whatever for. */
struct held {
	const struct state *longest; /* NULL: never */
	int64_t time_ns;
	double share;
	bool is_mixed; /* by other states, too */
};

/* Of the value that says so longest; states are in order. */
static struct held most_held(const struct counters *c)
{
	struct held most = { 0 }, h = { 0 };

	for (uint32_t i = 0; i < c->states.count; i++) {
		const struct state *s = state_at(c, i);

		if (i && s->of != s[-1].of)
			h = (struct held){ 0 };
		if (!s->holds || s->time_ns <= 0)
			continue;
		h.is_mixed = h.longest;
		h.longest = h.longest ? h.longest : s;
		pf_sat_sum(&h.time_ns, s->time_ns);
		if (h.time_ns > most.time_ns)
			most = h;
	}
	if (most.longest)
		most.share =
			pf_num_share(most.time_ns,
				     stateful_at(c, most.longest->of)->time_ns);
	return most;
}

static void tell(struct counters *c, uint32_t n, int64_t at_ns, double value)
{
	const struct pf_window *w = &c->ask.window;
	const struct series *s = series_at(c, n);
	struct pf_counter of = { c->trace, n, s->track, s->name, s->key };

	for (size_t i = 0; of.trace->is_side && i < w->count; i++)
		if (!w->traces[i].is_side &&
		    move(c, c->trace->trace_id, w->traces[i].trace_id, &at_ns))
			of.trace = &w->traces[i];
	c->sink->sample(c->sink, &of, at_ns, value);
}

static void add_number(struct counters *c, int64_t at_ns, const char *name,
		       const struct pf_arg *a, double value)
{
	uint32_t n = find_series(c, name, a);
	struct series *s = series_at(c, n);

	s->sample_count++;
	s->sum += value;
	s->last = value;
	PF_AT_MOST(s->min, value);
	PF_AT_LEAST(s->max, value);
	if (c->sink)
		tell(c, n, at_ns, value);
	else
		add_to_steps(c, n, at_ns, value);
}

static void read_event(struct counters *c, const struct pf_span *e)
{
	const char *name = e->inline_name, *args = e->inline_args;
	struct pf_err *err = c->ask.err;
	size_t len = e->inline_args_len;
	struct pf_argtext it = { 0 };
	struct pf_arg a;
	double value;

	c->row++;
	if (e->args == PF_ID_NONE || e->start_ns < c->trace->from_ns ||
	    e->start_ns >= c->trace->to_ns ||
	    (e->args != PF_ID_INLINE &&
	     pf_texts_get(&c->texts, PF_TEXT_ARGS, e->args, &args, &len, err) <
		     0))
		return;
	pf_buf_clear(&c->text);
	pf_argtext_build(args, len, e->mask, e->slot, &c->text);
	if (e->name == PF_ID_INLINE)
		name = pf_arena_text(&c->ask.memory, name, e->inline_name_len);
	else if (pf_texts_get(&c->texts, PF_TEXT_NAME, e->name, &name, NULL,
			      err) < 0)
		return;
	it.text = c->text.data;
	it.len = c->text.len;
	while (!err->code && pf_argtext_next(&it, &a))
		if (number_of(&a, &value))
			add_number(c, e->start_ns, name, &a, value);
		else if (a.value_len && *a.value == '"' && *a.key != '@')
			add_state(c, e->start_ns, name, &a);
}

static void read_track(struct counters *c)
{
	uint64_t columns = PF_COLBIT(PF_COL_START) | PF_COLBIT(PF_COL_NAME) |
			   PF_COLBIT(PF_COL_ARGS) | PF_COLBIT(PF_COL_MASK) |
			   PF_COLBIT(PF_COL_INLINE);
	struct pf_err *err = c->ask.err;
	PF_AUTO(pf_cursor_freed) struct pf_cursor *cursor = NULL;
	struct pf_span e;

	for (int s = 0; s < PF_SLOT_COUNT; s++)
		columns |= PF_COLBIT(PF_COL_SLOT + s);
	cursor = pf_cursor_new(c->ask.db, c->track->id, columns);
	pf_cursor_overlap(cursor, c->trace->from_ns, c->trace->to_ns);
	while (!err->code && pf_cursor_next(cursor, &e, err) == 1)
		read_event(c, &e);
}

/* Is it of the GPU that is asked for? */
static bool is_wanted(const struct counters *c, const struct pf_track *t)
{
	int64_t device;
	bool is_gpu = !strncmp(t->pid, "GPU ", 4);

	return c->ask.window.device < 0 ||
	       (!pf_num_int(t->pid + (is_gpu ? 4 : 0), &device) &&
		device == c->ask.window.device);
}

static void read_trace(struct counters *c)
{
	struct pf_track *tracks = NULL;
	size_t count = 0;

	pf_tracks_load(c->ask.db, c->trace->trace_id, &tracks, &count,
		       c->ask.err);
	for (size_t i = 0; i < count && !c->ask.err->code; i++) {
		c->track = &tracks[i];
		if (!strcmp(tracks[i].class_name, "counter") &&
		    is_wanted(c, &tracks[i]))
			read_track(c);
	}
	pf_tracks_free(tracks, count);
}

/* ---- what it is ---- */

PF_ORDER(by_step, struct in_step, PF_UP(place) PF_UP(series))

static void show(struct counters *c, struct pf_doc *doc)
{
	struct in_step *cell = c->cells.rows;
	const struct state *held;
	struct held most;
	int64_t samples = 0;

	settle_states(c);
	most = most_held(c);
	held = most.longest;

	for (uint32_t i = 0; i < c->series.count; i++) {
		struct series *s = series_at(c, i);

		s->mean = s->sum / (double)s->sample_count;
		samples += s->sample_count;
	}
	for (size_t i = 0; i < c->cells.count; i++)
		cell[i].mean = cell[i].sum / (double)cell[i].sample_count;
	pf_keyed_sort(&c->cells, by_step);
	doc->is_nothing = !c->series.count && !c->states.count;
	if (doc->is_nothing)
		pf_doc_finding(doc,
			       "There are no counters; of NVIDIA's GPUs "
			       "nvidia-smi --query-gpu=timestamp,"
			       "index,power.draw,clocks.sm,utilization.gpu "
			       "--format=csv -lms 100 logs power, clocks and "
			       "utilization while a program runs, and profan "
			       "reads that log beside its trace");
	else
		pf_doc_finding(
			doc,
			"%zu series of counters with %s sample%s%s%s%s%s%s%s",
			c->series.count, PF_SHOW_COUNT(samples),
			pf_plural(samples), held ? "; clocks of " : "",
			held ? held->track : "", held ? " are held down " : "",
			held ? PF_SHOW_RATIO(most.share) : "",
			!held           ? ""
			: most.is_mixed ? " of the time, longest by "
					: " of the time by ",
			held ? held->meaning : "");
	PF_WINDOW_ROWS(&c->ask.window, doc, "counters", "Counters",
		       series_fields, series_at(c, 0), c->series.count);
	PF_WINDOW_ROWS(&c->ask.window, doc, "states",
		       "States, and how long each", state_fields,
		       state_at(c, 0), c->states.count);
	PF_ROWS(doc, "steps", "Means by step", step_fields, cell,
		c->cells.count);
}

/* Counters whose time of day is not known beside steps whose is. */
static void note_bases(const struct counters *c, struct pf_doc *doc)
{
	for (uint32_t i = 0; i < c->series.count && c->steps.count; i++) {
		int64_t id = series_at(c, i)->trace_id, ns = 0;

		if (move(c, id, c->steps.items[0].trace_id, &ns))
			continue;
		pf_doc_note(doc,
			    "trace %" PRId64 " does not say what time of day "
			    "it was in a known zone, so its samples belong to "
			    "no step: profan ingest --tz=+HH:MM says the zone",
			    id);
		return;
	}
}

static void fill(struct counters *c, struct pf_doc *doc)
{
	const struct pf_window *w = &c->ask.window;
	struct pf_err *err = c->ask.err;

	c->bases = pf_named_read(c->ask.db, "counter_bases",
				 PF_FIELDS(base_fields), &c->ask.memory,
				 &c->base_count);
	c->reasons =
		pf_data_new("data/clock_reasons.csv", "bit,holds,reason", err);
	if (!err->code && doc)
		pf_window_steps(c->ask.db, w, &c->steps);
	for (size_t i = 0; i < w->count && !err->code; i++) {
		c->trace = &w->traces[i];
		read_trace(c);
	}
	if (err->code || !doc)
		return;
	show(c, doc);
	note_bases(c, doc);
}

static int run(struct pf_db *db, const struct pf_window_args *window,
	       struct pf_counter_sink *sink, struct pf_doc *doc)
{
	struct pf_window_args all = *window;
	struct counters c = { .texts.db = db, .sink = sink };

	all.beside = true;
	pf_keyed_begin(&c.series, sizeof(struct series), PF_KEYED_SUMS);
	pf_keyed_begin(&c.stateful, sizeof(struct stateful), PF_KEYED_SUMS);
	pf_keyed_begin(&c.states, sizeof(struct state), PF_KEYED_SUMS);
	pf_keyed_begin(&c.cells, sizeof(struct in_step), PF_KEYED_SUMS);
	if (!pf_ask_begin(&c.ask, db, &all))
		fill(&c, doc);
	pf_keyed_end(&c.series);
	pf_keyed_end(&c.stateful);
	pf_keyed_end(&c.states);
	pf_keyed_end(&c.cells);
	pf_data_free(c.reasons);
	pf_texts_release(&c.texts);
	pf_buf_release(&c.text);
	pf_buf_release(&c.key);
	pf_steps_release(&c.steps);
	return pf_ask_end(&c.ask);
}

int pf_counters(struct pf_db *db, const struct pf_counters_args *args,
		struct pf_doc *doc)
{
	return run(db, &args->window, NULL, doc);
}

int pf_counters_tell(struct pf_db *db, const struct pf_window_args *window,
		     struct pf_counter_sink *sink)
{
	return run(db, window, sink, NULL);
}
