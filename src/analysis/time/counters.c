/* SPDX-License-Identifier: MIT */
/* Invariant: series[n] belongs to key n of "keys". */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/time/counters.h"
#include "base/buf.h"
#include "base/intern.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/order.h"
#include "base/sat.h"
#include "base/data.h"
#include "events/args.h"
#include "events/step.h"
#include "store/argtext.h"
#include "store/cursor.h"
#include "store/query.h"
#include "store/texts.h"
#include "show/doc.h"
#include "formats/event.h"

#define SERIES_MAX 100000u

struct series {
	int64_t trace_id, rank, sample_count;
	double min, mean, max, last;
	const char *track, *name, *key;
	double sum;
};
#define FIELD(member, title, kind)                                             \
	PF_FIELD(struct series, member, #member, title, kind)
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
#define FIELD(member, title, kind)                                             \
	PF_FIELD(struct in_step, member, #member, title, kind)
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
#define FIELD(member, title, kind)                                             \
	PF_FIELD(struct state, member, #member, title, kind)
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
	PF_FIELD(struct base, trace_id, "trace_id", "", PF_INT),
	PF_FIELD(struct base, base_ns, "base_ns", "", PF_INT | PF_MAYBE),
};

struct counters {
	struct pf_db *db;
	struct pf_window *window;
	struct pf_intern keys;
	struct series *series;
	size_t series_cap;
	struct pf_intern values, state_keys; /* numbers of the next two */
	struct stateful *stateful;
	struct state *states;
	size_t stateful_cap, states_cap;
	struct pf_data *reasons;
	int64_t row;                /* events so far */
	struct pf_map cells_by_key; /* series and step -> cell */
	struct in_step *cells;
	size_t cell_count, cells_cap;
	struct pf_steps steps;
	struct base *bases;
	size_t base_count;
	struct pf_texts texts;
	struct pf_arena arena;
	struct pf_buf text, key;
	/* the track at hand */
	const struct pf_window_trace *trace;
	const struct pf_track *track;
};

/* ---- series ---- */

static void start_series(struct counters *c, const char *name,
			 const struct pf_arg *a)
{
	const struct pf_track *t = c->track;
	const char *track = *t->pid ? t->pid : t->tid;

	c->series = pf_grow(c->series, &c->series_cap, c->keys.count,
			    sizeof(*c->series));
	c->series[c->keys.count - 1] = (struct series){
		.trace_id = t->trace_id,
		.rank = c->trace->rank,
		.track = pf_arena_string(&c->arena, track),
		.name = pf_arena_string(&c->arena, name),
		.key = pf_arena_text(&c->arena, a->key, a->key_len),
		.min = INFINITY,
		.max = -INFINITY,
	};
}

static uint32_t find_value(struct counters *c, struct pf_intern *in,
			   const char *name, const struct pf_arg *a)
{
	pf_buf_clear(&c->key);
	pf_buf_addf(&c->key, "%u", c->track->id);
	pf_buf_addc(&c->key, '\0');
	pf_buf_add(&c->key, name, strlen(name) + 1);
	pf_buf_add(&c->key, a->key, a->key_len);
	return pf_intern_add(in, c->key.data, c->key.len);
}

/* UINT32_MAX on an error. */
static uint32_t find_series(struct counters *c, const char *name,
			    const struct pf_arg *a)
{
	uint32_t before = c->keys.count, n = find_value(c, &c->keys, name, a);

	if (n < before)
		return n;
	if (n >= SERIES_MAX) {
		pf_fail(c->db->err, PF_ELIMIT,
			"more than %u series of counters", SERIES_MAX);
		return UINT32_MAX;
	}
	start_series(c, name, a);
	return n;
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
	uint64_t *cell = pf_map_at(&c->cells_by_key,
				   (uint64_t)n << 32 | (uint32_t)place);

	if (*cell == UINT64_MAX) {
		const struct series *s = &c->series[n];

		*cell = c->cell_count;
		c->cells = pf_grow(c->cells, &c->cells_cap, c->cell_count + 1,
				   sizeof(*c->cells));
		c->cells[c->cell_count++] = (struct in_step){
			.trace_id = c->steps.items[place].trace_id,
			.step = c->steps.items[place].step,
			.counter_trace_id = s->trace_id,
			.track = s->track,
			.key = s->key,
			.series = n,
			.place = place,
		};
	}
	c->cells[*cell].sum += value;
	c->cells[*cell].sample_count++;
}

static void add_to_steps(struct counters *c, uint32_t n, int64_t at_ns,
			 double value)
{
	for (size_t i = 0; i < c->window->count && c->steps.count; i++) {
		int64_t id = c->window->traces[i].trace_id, ns = at_ns;
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
	struct pf_buf text = { 0 };
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
	kept = pf_arena_string(&c->arena, text.len ? text.data : "nothing");
	pf_buf_release(&text);
	return kept;
}

static void start_state(struct counters *c, uint32_t of, const char *name,
			const struct pf_arg *a, const char *value)
{
	const struct pf_track *t = c->track;
	struct state *s;

	c->states = pf_grow(c->states, &c->states_cap, c->state_keys.count,
			    sizeof(*c->states));
	s = &c->states[c->state_keys.count - 1];
	*s = (struct state){
		.trace_id = t->trace_id,
		.rank = c->trace->rank,
		.track = pf_arena_string(&c->arena, *t->pid ? t->pid : t->tid),
		.name = pf_arena_string(&c->arena, name),
		.key = pf_arena_text(&c->arena, a->key, a->key_len),
		.value = pf_arena_string(&c->arena, value),
		.of = of,
		.number = c->state_keys.count - 1,
	};
	s->meaning = mask_meaning(c, s->key, value, &s->holds);
}

static uint32_t find_state(struct counters *c, uint32_t of, const char *name,
			   const struct pf_arg *a, const char *value)
{
	uint32_t before = c->state_keys.count, n;

	if (c->stateful[of].count == STATES_MAX)
		value = OTHERS;
	pf_buf_clear(&c->key);
	pf_buf_addf(&c->key, "%u %s", of, value);
	n = pf_intern_add(&c->state_keys, c->key.data, c->key.len);
	if (n < before)
		return n;
	start_state(c, of, name, a, value);
	if (c->stateful[of].count < STATES_MAX)
		c->stateful[of].count++;
	return n;
}

static int add_state(struct counters *c, int64_t at_ns, const char *name,
		     const struct pf_arg *a)
{
	uint32_t before = c->values.count,
		 of = find_value(c, &c->values, name, a);
	struct pf_buf value = { 0 };
	struct stateful *v;

	if (of >= SERIES_MAX)
		return pf_fail(c->db->err, PF_ELIMIT,
			       "more than %u series of counters", SERIES_MAX);
	c->stateful = pf_grow(c->stateful, &c->stateful_cap, (size_t)of + 1,
			      sizeof(*c->stateful));
	v = &c->stateful[of];
	if (of == before) {
		*v = (struct stateful){ .at_ns = at_ns };
	} else if (v->row + 1 == c->row) { /* else it was not known between */
		int64_t ns = pf_sat_sub(at_ns, v->at_ns);

		pf_sat_sum(&c->states[v->state].time_ns, ns);
		pf_sat_sum(&v->time_ns, ns);
	}
	pf_json_text((struct pf_json){ a->value, a->value_len }, &value);
	pf_buf_addc(&value, '\0');
	v->state = find_state(c, of, name, a, value.data);
	v->at_ns = at_ns;
	v->row = c->row;
	c->states[v->state].sample_count++;
	pf_buf_release(&value);
	return 0;
}

PF_ORDER(by_value, struct state, PF_UP(of) PF_DOWN(time_ns) PF_UP(number))

static void settle_states(struct counters *c)
{
	for (uint32_t i = 0; i < c->state_keys.count; i++) {
		struct state *s = &c->states[i];
		int64_t all_ns = c->stateful[s->of].time_ns;

		s->share = all_ns > 0 ? pf_num_share(s->time_ns, all_ns) : NAN;
	}
	pf_sort(c->states, c->state_keys.count, sizeof(*c->states), by_value);
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

	for (uint32_t i = 0; i < c->state_keys.count; i++) {
		const struct state *s = &c->states[i];

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
		most.share = pf_num_share(
			most.time_ns, c->stateful[most.longest->of].time_ns);
	return most;
}

static int add_event(struct counters *c, const struct pf_span *e,
		     const char *name)
{
	struct pf_argtext it = { .text = c->text.data, .len = c->text.len };
	struct pf_arg a;
	double value;

	while (pf_argtext_next(&it, &a)) {
		struct series *s;
		uint32_t n;

		if (!number_of(&a, &value)) {
			if (a.value_len && *a.value == '"' && *a.key != '@' &&
			    add_state(c, e->start_ns, name, &a))
				return -1;
			continue;
		}
		n = find_series(c, name, &a);
		if (n == UINT32_MAX)
			return -1;
		s = &c->series[n];
		s->sample_count++;
		s->sum += value;
		s->last = value;
		if (value < s->min)
			s->min = value;
		if (value > s->max)
			s->max = value;
		add_to_steps(c, n, e->start_ns, value);
	}
	return 0;
}

static int read_event(struct counters *c, const struct pf_span *e)
{
	const char *name = e->inline_name, *args = e->inline_args;
	size_t len = e->inline_args_len;

	c->row++;
	if (e->args == PF_ID_NONE || e->start_ns < c->trace->from_ns ||
	    e->start_ns >= c->trace->to_ns)
		return 0;
	if (e->args != PF_ID_INLINE &&
	    pf_texts_get(&c->texts, PF_TEXT_ARGS, e->args, &args, &len,
			 c->db->err) < 0)
		return -1;
	pf_buf_clear(&c->text);
	pf_argtext_build(args, len, e->mask, e->slot, &c->text);
	if (e->name == PF_ID_INLINE)
		name = pf_arena_text(&c->arena, name, e->inline_name_len);
	else if (pf_texts_get(&c->texts, PF_TEXT_NAME, e->name, &name, NULL,
			      c->db->err) < 0)
		return -1;
	return add_event(c, e, name);
}

static int read_track(struct counters *c)
{
	uint64_t columns = PF_COLBIT(PF_COL_START) | PF_COLBIT(PF_COL_NAME) |
			   PF_COLBIT(PF_COL_ARGS) | PF_COLBIT(PF_COL_MASK) |
			   PF_COLBIT(PF_COL_INLINE);
	struct pf_cursor *cursor;
	struct pf_span e;
	int rc;

	for (int s = 0; s < PF_SLOT_COUNT; s++)
		columns |= PF_COLBIT(PF_COL_SLOT + s);
	cursor = pf_cursor_new(c->db, c->track->id, columns, c->db->err);
	if (!cursor)
		return -1;
	pf_cursor_overlap(cursor, c->trace->from_ns, c->trace->to_ns);
	while ((rc = pf_cursor_next(cursor, &e, c->db->err)) == 1)
		if (read_event(c, &e)) {
			rc = -1;
			break;
		}
	pf_cursor_free(cursor);
	return rc;
}

/* Is it of the GPU that is asked for? */
static bool is_wanted(const struct counters *c, const struct pf_track *t)
{
	int64_t device;
	bool is_gpu = !strncmp(t->pid, "GPU ", 4);

	return c->window->device < 0 ||
	       (!pf_num_int(t->pid + (is_gpu ? 4 : 0), &device) &&
		device == c->window->device);
}

static int read_trace(struct counters *c)
{
	struct pf_track *tracks;
	size_t count;
	int rc = pf_tracks_load(c->db, c->trace->trace_id, &tracks, &count,
				c->db->err);

	if (rc)
		return -1;
	for (size_t i = 0; i < count && !rc; i++) {
		c->track = &tracks[i];
		if (!strcmp(tracks[i].class_name, "counter") &&
		    is_wanted(c, &tracks[i]))
			rc = read_track(c);
	}
	pf_tracks_free(tracks, count);
	return rc;
}

/* ---- what it is ---- */

PF_ORDER(by_step, struct in_step, PF_UP(place) PF_UP(series))

static void show(struct counters *c, struct pf_doc *doc)
{
	char count[PF_NUM_MAX], part[PF_NUM_MAX];
	const struct state *held;
	struct held most;
	int64_t samples = 0;

	settle_states(c);
	most = most_held(c);
	held = most.longest;

	for (uint32_t i = 0; i < c->keys.count; i++) {
		struct series *s = &c->series[i];

		s->mean = s->sum / (double)s->sample_count;
		samples += s->sample_count;
	}
	for (size_t i = 0; i < c->cell_count; i++)
		c->cells[i].mean =
			c->cells[i].sum / (double)c->cells[i].sample_count;
	pf_sort(c->cells, c->cell_count, sizeof(*c->cells), by_step);
	doc->is_nothing = !c->keys.count && !c->state_keys.count;
	if (doc->is_nothing)
		pf_doc_finding(doc,
			       "There are no counters; nvidia-smi "
			       "--query-gpu=timestamp,"
			       "index,power.draw,clocks.sm,utilization.gpu "
			       "--format=csv -lms 100 logs power, clocks and "
			       "utilization while a program runs, and profan "
			       "reads that log beside its trace");
	else
		pf_doc_finding(
			doc,
			"%u series of counters with %s sample%s%s%s%s%s%s%s",
			c->keys.count, pf_num_show_count(count, samples),
			samples == 1 ? "" : "s", held ? "; clocks of " : "",
			held ? held->track : "", held ? " are held down " : "",
			held ? pf_num_show_ratio(part, most.share) : "",
			!held           ? ""
			: most.is_mixed ? " of the time, longest by "
					: " of the time by ",
			held ? held->meaning : "");
	PF_WINDOW_ROWS(c->window, doc, "counters", "Counters", series_fields,
		       c->series, c->keys.count);
	PF_WINDOW_ROWS(c->window, doc, "states", "States, and how long each",
		       state_fields, c->states, c->state_keys.count);
	PF_ROWS(doc, "steps", "Means by step", step_fields, c->cells,
		c->cell_count);
}

/* Counters whose time of day is not known beside steps whose is. */
static void note_bases(const struct counters *c, struct pf_doc *doc)
{
	for (uint32_t i = 0; i < c->keys.count && c->steps.count; i++) {
		int64_t id = c->series[i].trace_id, ns = 0;

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

static int fill(struct counters *c, struct pf_doc *doc)
{
	c->bases = pf_named_rows_take(c->db, "counter_bases",
				      PF_FIELDS(base_fields), &c->arena,
				      &c->base_count, c->db->err);
	c->reasons = pf_data_new("data/clock_reasons.csv", "bit,holds,reason",
				 c->db->err);
	if (!c->reasons || !c->bases ||
	    pf_window_steps(c->db, c->window, &c->steps))
		return -1;
	for (size_t i = 0; i < c->window->count; i++) {
		c->trace = &c->window->traces[i];
		if (read_trace(c))
			return -1;
	}
	show(c, doc);
	note_bases(c, doc);
	return 0;
}

int pf_counters(struct pf_db *db, const struct pf_counters_args *args,
		struct pf_doc *doc)
{
	struct pf_window_args all = args->window;
	struct pf_window window;
	struct counters c = { .db = db, .window = &window };
	int rc;

	all.beside = true;
	if (pf_window_resolve(db, &all, &window))
		return -1;
	c.texts.db = db;
	pf_intern_init(&c.keys);
	pf_intern_init(&c.values);
	pf_intern_init(&c.state_keys);
	pf_map_init(&c.cells_by_key);
	rc = fill(&c, doc);
	pf_intern_release(&c.keys);
	pf_intern_release(&c.values);
	pf_intern_release(&c.state_keys);
	pf_data_free(c.reasons);
	pf_map_release(&c.cells_by_key);
	pf_texts_release(&c.texts);
	pf_arena_release(&c.arena);
	pf_buf_release(&c.text);
	pf_buf_release(&c.key);
	pf_steps_release(&c.steps);
	free(c.series);
	free(c.stateful);
	free(c.states);
	free(c.cells);
	free(c.bases);
	pf_window_release(&window);
	return rc;
}
