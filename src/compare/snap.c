/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "compare/snap.h"

#include <inttypes.h>

#include "analysis/memory/snap_state.h"
#include "analysis/memory/usage.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/order.h"
#include "base/sat.h"
#include "events/ask.h"
#include "store/query.h"

/* ---- finding ---- */

struct change {
	const char *name;  /* "GPU 0" */
	const char *frame; /* of lines; "(no stack)" where there is none */
	/* Of A, of B, and their difference. */
	int64_t reserved[3], bytes[3], count[3]; /* the last: blocks */
};

/* What is allocated, and what was at the peaks of GPUs whose history both have. */
enum { GPUS, LINES, PEAKS, PEAK_LINES, LISTS };

struct changes {
	struct pf_keyed lists[LISTS]; /* struct change */
	int64_t lost_segments;        /* of both, which could not be read */
	struct pf_arena texts;
};

static void release_changes(struct changes *d)
{
	for (int i = 0; i < LISTS; i++)
		pf_keyed_end(&d->lists[i]);
	pf_arena_release(&d->texts);
}

#define ROW(d, list, i) PF_KEYED_ROW(&(d)->lists[list], struct change, i)

static struct change *row_of(struct changes *d, int list, const char *name,
			     const char *frame)
{
	PF_AUTO(pf_buf_release) struct pf_buf key = { 0 };
	struct change *row;
	size_t n;

	pf_buf_addf(&key, "%s\n%s", name, frame ? frame : "");
	n = pf_keyed_at_text(&d->lists[list], key.data, key.len);
	row = ROW(d, list, n);
	if (!row->name) {
		row->name = pf_arena_string(&d->texts, name);
		row->frame = pf_arena_string(&d->texts, frame);
	}
	return row;
}

/* One of the two snapshots. */
struct side {
	struct pf_db *db;
	int n; /* 0: A, 1: B */
	struct pf_snap_state state;
	struct pf_stack_lines lines;
};

static void release_side(struct side *s)
{
	pf_stack_lines_release(&s->lines);
	pf_snap_state_release(&s->state);
}

static int read_block(struct changes *d, struct side *s, sqlite3_stmt *st)
{
	const char *state = pf_sqlite_text(st, 3);
	const char *frame = "(no stack)";
	const struct pf_snap_now *now =
		pf_snap_now_of(&s->state, sqlite3_column_int64(st, 0),
			       sqlite3_column_int64(st, 1));
	int64_t bytes = sqlite3_column_int64(st, 5);
	int64_t stack = pf_db_int_or(st, 6, 0);

	if (!now || !state || strcmp(state, "active_allocated") != 0)
		return 0;
	if (stack)
		frame = pf_stack_line(&s->lines, stack);
	PF_TRY(!frame);
	for (int list = GPUS; list <= LINES; list++) {
		struct change *c = row_of(d, list, now->name,
					  list == LINES ? frame : NULL);

		pf_sat_sum(&c->bytes[s->n], bytes);
		c->count[s->n]++;
	}
	return 0;
}

static int read_blocks(struct changes *d, struct side *s)
{
	PF_STMT(st) = pf_named_prepare(s->db, "snap_blocks", s->db->err);
	int rc;

	while ((rc = pf_db_step(s->db, st, s->db->err)) == 1)
		PF_TRY(read_block(d, s, st));
	return rc;
}

static int read_side(struct changes *d, struct pf_db *db, int n,
		     const struct pf_window_args *args)
{
	PF_AUTO(release_side)
	struct side s = { .db = db, .n = n, .lines = { .db = db } };
	PF_AUTO(pf_window_release) struct pf_window window = { 0 };

	PF_TRY(pf_window_resolve(db, args, &window));
	PF_TRY(pf_snap_state_find(db, &window, &s.state));
	pf_sat_sum(&d->lost_segments, s.state.lost_segments);
	for (size_t i = 0; i < s.state.now_count; i++) {
		const struct pf_snap_now *now = &s.state.now[i];

		pf_sat_sum(&row_of(d, GPUS, now->name, NULL)->reserved[n],
			   now->reserved);
	}
	return read_blocks(d, &s);
}

/* ---- peaks ---- */

/* What was alive at the peak of a GPU; the rest was there before. */
static void read_peak(struct changes *d, int n, const struct pf_usage *u,
		      const struct pf_usage_device *p)
{
	const char *name = p->at.device;
	struct change *gpu = row_of(d, PEAKS, name, NULL);
	int64_t rest = p->peak;

	gpu->bytes[n] = p->peak;
	gpu->count[n] = 1; /* it is known */
	for (size_t i = 0; i < u->alive_count; i++) {
		const struct pf_usage_group *g = &u->alive[i];

		if (strcmp(g->at.device, name) != 0 || !g->site.frame)
			continue;
		pf_sat_sum(
			&row_of(d, PEAK_LINES, name, g->site.frame)->bytes[n],
			g->bytes);
		rest = pf_sat_sub(rest, g->bytes);
	}
	if (rest)
		pf_sat_sum(&row_of(d, PEAK_LINES, name, "(before the history)")
				    ->bytes[n],
			   rest);
}

static int read_peaks(struct changes *d, struct pf_db *db, int n,
		      const struct pf_window_args *window)
{
	const struct pf_usage_args args = { .window = *window };
	PF_AUTO(pf_usage_release) struct pf_usage u = { 0 };

	PF_TRY(pf_usage_find(db, &args, NULL, &u));
	for (size_t i = 0; i < u.device_count; i++)
		if (u.devices[i].peak != PF_NO_INT)
			read_peak(d, n, &u, &u.devices[i]);
	return 0;
}

static bool is_of_both(const struct changes *d, const char *name)
{
	for (size_t i = 0; i < d->lists[PEAKS].count; i++) {
		const struct change *peak = ROW(d, PEAKS, i);

		if (!strcmp(peak->name, name))
			return peak->count[0] && peak->count[1];
	}
	return false;
}

/* A peak that one of the two did not record cannot be compared. */
static void drop_unknown(struct changes *d, int list)
{
	struct pf_keyed *rows = &d->lists[list];
	size_t kept = 0;

	for (size_t i = 0; i < rows->count; i++)
		if (is_of_both(d, ROW(d, list, i)->name))
			*ROW(d, list, kept++) = *ROW(d, list, i);
	rows->count = kept;
}

PF_ORDER(by_change, struct change,
	 PF_FAR(bytes[2]) PF_ALPHA(name) PF_ALPHA(frame))

PF_ORDER(by_name, struct change, PF_ALPHA(name))

static void put_in_order(struct changes *d, int list)
{
	for (size_t i = 0; i < d->lists[list].count; i++) {
		struct change *c = ROW(d, list, i);

		c->reserved[2] = pf_sat_sub(c->reserved[1], c->reserved[0]);
		c->bytes[2] = pf_sat_sub(c->bytes[1], c->bytes[0]);
		c->count[2] = c->count[1] - c->count[0];
	}
	pf_keyed_sort(&d->lists[list],
		      list == GPUS || list == PEAKS ? by_name : by_change);
}

static int find(struct changes *d, struct pf_db *const dbs[2],
		const struct pf_window_args *window)
{
	for (int n = 0; n < 2; n++)
		PF_TRY(read_side(d, dbs[n], n, window));
	for (int n = 0; n < 2; n++)
		PF_TRY(read_peaks(d, dbs[n], n, window));
	drop_unknown(d, PEAK_LINES);
	drop_unknown(d, PEAKS);
	for (int list = 0; list < LISTS; list++)
		put_in_order(d, list);
	return 0;
}

/* ---- showing ---- */

#define FIELD(...) PF_FIELD(struct change, __VA_ARGS__)
static const struct pf_field gpu_fields[] = {
	FIELD(name, "device", "Device", PF_TEXT),
	FIELD(bytes[2], "allocated_change_bytes", "Change",
	      PF_BYTES | PF_SIGNED),
	FIELD(bytes[0], "a_allocated_bytes", "A allocated", PF_BYTES),
	FIELD(bytes[1], "b_allocated_bytes", "B allocated", PF_BYTES),
	FIELD(count[2], "block_change", "Blocks", PF_INT | PF_SIGNED),
	FIELD(reserved[0], "a_reserved_bytes", "A reserved", PF_BYTES),
	FIELD(reserved[1], "b_reserved_bytes", "B reserved", PF_BYTES),
	FIELD(reserved[2], "reserved_change_bytes", "Reserved, change",
	      PF_BYTES | PF_SIGNED | PF_FULL),
	FIELD(count[0], "a_block_count", "A blocks", PF_COUNT | PF_FULL),
	FIELD(count[1], "b_block_count", "B blocks", PF_COUNT | PF_FULL),
};
static const struct pf_field line_fields[] = {
	FIELD(name, "device", "Device", PF_TEXT),
	FIELD(bytes[2], "change_bytes", "Change", PF_BYTES | PF_SIGNED),
	FIELD(bytes[0], "a_bytes", "A", PF_BYTES),
	FIELD(bytes[1], "b_bytes", "B", PF_BYTES),
	FIELD(count[2], "block_change", "Blocks", PF_INT | PF_SIGNED),
	FIELD(frame, "Line", PF_PATH),
	FIELD(count[0], "a_block_count", "A blocks", PF_COUNT | PF_FULL),
	FIELD(count[1], "b_block_count", "B blocks", PF_COUNT | PF_FULL),
};
static const struct pf_field peak_fields[] = {
	FIELD(name, "device", "Device", PF_TEXT),
	FIELD(bytes[2], "change_bytes", "Change", PF_BYTES | PF_SIGNED),
	FIELD(bytes[0], "a_peak_bytes", "A peak", PF_BYTES),
	FIELD(bytes[1], "b_peak_bytes", "B peak", PF_BYTES),
};
static const struct pf_field peak_line_fields[] = {
	FIELD(name, "device", "Device", PF_TEXT),
	FIELD(bytes[2], "change_bytes", "Change", PF_BYTES | PF_SIGNED),
	FIELD(bytes[0], "a_bytes", "A", PF_BYTES),
	FIELD(bytes[1], "b_bytes", "B", PF_BYTES),
	FIELD(frame, "Line", PF_PATH),
};
#undef FIELD

/* The GPU with the largest change, the first of several; NULL: no GPU. */
static const struct change *main_gpu(const struct changes *d)
{
	const struct change *best = NULL;

	for (size_t i = 0; i < d->lists[GPUS].count; i++) {
		const struct change *gpu = ROW(d, GPUS, i);

		if (!best || llabs(gpu->bytes[2]) > llabs(best->bytes[2]))
			best = gpu;
	}
	return best;
}

static const char *more_or_less(int64_t n)
{
	return n < 0 ? "less" : "more";
}

static void add_line(const struct change *line, struct pf_buf *out)
{
	if (!line || !line->bytes[2])
		return;
	pf_buf_addf(out, "; the largest change is at %s: %s %s", line->frame,
		    PF_SHOW_BYTES(llabs(line->bytes[2])),
		    more_or_less(line->bytes[2]));
	if (line->count[2])
		pf_buf_addf(out, ", %s %s %s",
			    PF_SHOW_COUNT(llabs(line->count[2])),
			    llabs(line->count[2]) == 1 ? "block" : "blocks",
			    more_or_less(line->count[2]));
}

static const struct change *first_of(const struct changes *d, int list,
				     const struct change *gpu)
{
	for (size_t i = 0; i < d->lists[list].count; i++)
		if (!strcmp(ROW(d, list, i)->name, gpu->name))
			return ROW(d, list, i);
	return NULL;
}

/* What changes more than what is allocated in the end. */
static void add_peak(const struct change *gpu, const struct change *peak,
		     const struct change *line, struct pf_doc *doc)
{
	PF_AUTO(pf_buf_release) struct pf_buf at = { 0 };

	add_line(line, &at);
	pf_doc_finding(doc,
		       "%s: the peak is %s %s in B than in A (%s, %s)%s; when "
		       "the snapshots were taken, %s allocated",
		       gpu->name, PF_SHOW_BYTES(llabs(peak->bytes[2])),
		       peak->bytes[2] < 0 ? "lower" : "higher",
		       PF_SHOW_BYTES(peak->bytes[1]),
		       PF_SHOW_BYTES(peak->bytes[0]), at.data ? at.data : "",
		       gpu->bytes[2] ? "the difference is smaller in what is"
				     : "as much was");
}

static void add_finding(const struct changes *d, struct pf_doc *doc)
{
	const struct change *gpu = main_gpu(d), *peak;
	PF_AUTO(pf_buf_release) struct pf_buf line = { 0 };

	if (!gpu) {
		pf_doc_finding(doc, "%s",
			       d->lost_segments
				       ? PF_SNAP_ALL_LOST
				       : "Neither snapshot has any segments");
		return;
	}
	peak = first_of(d, PEAKS, gpu);
	if (peak && llabs(peak->bytes[2]) > llabs(gpu->bytes[2])) {
		add_peak(gpu, peak, first_of(d, PEAK_LINES, gpu), doc);
		return;
	}
	const char *a = PF_SHOW_BYTES(gpu->bytes[0]);
	add_line(first_of(d, LINES, gpu), &line);
	if (gpu->reserved[2])
		pf_buf_addf(&line, "; %s %s reserved",
			    PF_SHOW_BYTES(llabs(gpu->reserved[2])),
			    more_or_less(gpu->reserved[2]));
	if (gpu->bytes[2])
		pf_doc_finding(doc,
			       "%s: %s %s allocated in B than in A (%s, %s)%s",
			       gpu->name, PF_SHOW_BYTES(llabs(gpu->bytes[2])),
			       more_or_less(gpu->bytes[2]),
			       PF_SHOW_BYTES(gpu->bytes[1]), a,
			       line.data ? line.data : "");
	else
		pf_doc_finding(doc,
			       "As much is allocated in B as in A (%s on %s)%s",
			       a, gpu->name, line.data ? line.data : "");
}

#define LIST(doc, name, title, fields, d, list)                                \
	pf_doc_rows(doc, name, title, PF_FIELDS(fields),                       \
		    (d)->lists[list].rows, (d)->lists[list].count,             \
		    sizeof(struct change))

static void show(const struct changes *d, struct pf_doc *doc)
{
	add_finding(d, doc);
	LIST(doc, "devices", "Allocated when the snapshots were taken",
	     gpu_fields, d, GPUS);
	LIST(doc, "lines", "By line of the program", line_fields, d, LINES);
	LIST(doc, "peaks", "Peaks", peak_fields, d, PEAKS);
	LIST(doc, "peak_lines", "Alive at the peak, by line", peak_line_fields,
	     d, PEAK_LINES);
	pf_snap_note_lost(d->lost_segments, doc);
	pf_doc_note(doc, "where both were taken at the same point of a step, "
			 "what B has more of may be a leak");
}

int pf_snap_diff(struct pf_db *a, struct pf_db *b,
		 const struct pf_window_args *window, struct pf_doc *doc)
{
	struct pf_db *const dbs[] = { a, b };
	PF_AUTO(release_changes) struct changes d = { 0 };

	for (int i = 0; i < LISTS; i++)
		pf_keyed_begin(&d.lists[i], sizeof(struct change),
			       PF_KEYED_SUMS);
	PF_TRY(find(&d, dbs, window));
	show(&d, doc);
	return 0;
}

/* ---- of many snapshots ---- */

struct row {
	const char *capture;
	struct pf_snap_now now; /* without texts */
	int64_t change;
};

#define FIELD(...) PF_FIELD(struct row, __VA_ARGS__)
static const struct pf_field fields[] = {
	FIELD(capture, "Capture", PF_PATH),
	FIELD(now.trace_id, "trace_id", "Trace", PF_INT | PF_FULL),
	FIELD(now.device, "device", "GPU", PF_INT),
	FIELD(now.allocated, "allocated_bytes", "Allocated", PF_BYTES),
	FIELD(change, "change_bytes", "Change",
	      PF_BYTES | PF_SIGNED | PF_MAYBE),
	FIELD(now.reserved, "reserved_bytes", "Reserved", PF_BYTES),
	FIELD(now.whole, "whole_bytes", "Free segments", PF_BYTES),
	FIELD(now.split, "split_bytes", "Free between", PF_BYTES),
	FIELD(now.largest, "largest_bytes", "Largest", PF_BYTES | PF_FULL),
};
#undef FIELD

struct dumps {
	struct row *rows;
	size_t count, cap;
	int64_t lost_segments;
};

static void release_dumps(struct dumps *d)
{
	free(d->rows);
}

static void add(struct dumps *d, const char *capture,
		const struct pf_snap_now *now)
{
	size_t before = d->count;
	struct row *row;

	while (before && d->rows[before - 1].now.device != now->device)
		before--;
	row = PF_ONE_MORE(d->rows, d->count, d->cap);
	*row = (struct row){ capture, *now, PF_NO_INT };
	if (before)
		row->change = pf_sat_sub(now->allocated,
					 d->rows[before - 1].now.allocated);
}

static int add_database(struct dumps *d, const char *path, const char *name,
			const struct pf_window_args *args, struct pf_err *err)
{
	PF_AUTO(pf_snap_state_release) struct pf_snap_state state = { 0 };
	PF_AUTO(pf_window_release) struct pf_window window = { 0 };
	PF_AUTO(pf_db_close) struct pf_db db = { 0 };

	PF_TRY(pf_db_open(&db, path, false, err));
	PF_TRY(pf_window_resolve(&db, args, &window));
	PF_TRY(pf_snap_state_find(&db, &window, &state));
	for (size_t i = 0; i < state.now_count; i++)
		add(d, name, &state.now[i]);
	pf_sat_sum(&d->lost_segments, state.lost_segments);
	return 0;
}

/* Of the device that has most reserved in any dump. */
static void say(const struct dumps *d, struct pf_doc *doc)
{
	const struct row *most = d->rows, *first = NULL, *last = NULL;
	size_t dumps = 0, grown = 0;

	for (size_t i = 1; i < d->count; i++)
		if (d->rows[i].now.reserved > most->now.reserved)
			most = &d->rows[i];
	for (size_t i = 0; i < d->count; i++) {
		const struct row *row = &d->rows[i];

		if (row->now.device != most->now.device)
			continue;
		first = first ? first : row;
		last = row;
		dumps++;
		grown += row->change != PF_NO_INT && row->change > 0;
	}
	const char *last_text = PF_SHOW_BYTES(last->now.allocated);
	if (dumps < 2)
		pf_doc_finding(doc,
			       "GPU %" PRId64 ": %s allocated, in one dump",
			       most->now.device, last_text);
	else
		pf_doc_finding(
			doc,
			"GPU %" PRId64 ": %s allocated in the first dump "
			"and %s in the last; it grew in %s%zu of %zu",
			most->now.device, PF_SHOW_BYTES(first->now.allocated),
			last_text, grown == dumps - 1 ? "each, " : "", grown,
			dumps - 1);
}

int pf_snap_trend(const char *const *paths, char *const *names, size_t count,
		  const struct pf_window_args *window, struct pf_doc *doc,
		  struct pf_err *err)
{
	PF_AUTO(release_dumps) struct dumps d = { 0 };

	for (size_t i = 0; i < count; i++)
		PF_TRY(add_database(&d, paths[i], names[i], window, err));
	if (!d.count) {
		pf_doc_finding(doc, "%s",
			       d.lost_segments
				       ? PF_SNAP_ALL_LOST
				       : "These snapshots have no segments: "
					 "nothing was reserved when they were "
					 "taken");
		doc->is_nothing = true;
	} else {
		say(&d, doc);
		PF_ROWS(doc, "dumps", "Memory in each dump", fields, d.rows,
			d.count);
	}
	pf_snap_note_lost(d.lost_segments, doc);
	return 0;
}
