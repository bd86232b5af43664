/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "compare/snap.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/memory/snap_state.h"
#include "analysis/memory/usage.h"
#include "base/intern.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/order.h"
#include "base/sat.h"
#include "show/doc.h"
#include "store/query.h"

/* ---- finding ---- */

struct finder {
	struct pf_snap_diff *out;
	struct pf_intern gpus,
		lines; /* names; names and lines: numbers of rows */
	struct pf_intern peaks, peak_lines; /* the same of peaks */
};

/* One of the two snapshots. */
struct side {
	struct pf_db *db;
	bool is_b;
	struct pf_window window;
	struct pf_snap_state state;
	struct pf_stack_lines lines;
};

/* Rows that are found by a key, which are made as they are asked for. */
static struct pf_snap_change *find_row(struct pf_intern *keys,
				       struct pf_snap_change **rows,
				       size_t *count, size_t *cap,
				       struct pf_arena *texts, const char *name,
				       const char *frame)
{
	struct pf_buf key = { 0 };
	uint32_t at;

	pf_buf_addf(&key, "%s\n%s", name, frame ? frame : "");
	at = pf_intern_add(keys, key.data, key.len);
	pf_buf_release(&key);
	if (at == *count) {
		*rows = pf_grow(*rows, cap, *count + 1, sizeof(**rows));
		(*rows)[(*count)++] = (struct pf_snap_change){
			.name = pf_arena_string(texts, name),
			.frame = frame ? pf_arena_string(texts, frame) : NULL
		};
	}
	return &(*rows)[at];
}

static struct pf_snap_change *find_gpu(struct finder *f, const char *name)
{
	struct pf_snap_diff *d = f->out;

	return find_row(&f->gpus, &d->gpus, &d->gpu_count, &d->gpu_cap,
			&d->texts, name, NULL);
}

static struct pf_snap_change *find_line(struct finder *f, const char *name,
					const char *frame)
{
	struct pf_snap_diff *d = f->out;

	return find_row(&f->lines, &d->lines, &d->line_count, &d->line_cap,
			&d->texts, name, frame);
}

static void add_block(struct pf_snap_change *c, bool is_b, int64_t bytes)
{
	pf_sat_sum(is_b ? &c->b_bytes : &c->a_bytes, bytes);
	*(is_b ? &c->b_count : &c->a_count) += 1;
}

static int read_block(struct finder *f, struct side *s, sqlite3_stmt *st)
{
	const char *state = (const char *)sqlite3_column_text(st, 3);
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
	if (!frame)
		return -1;
	add_block(find_gpu(f, now->name), s->is_b, bytes);
	add_block(find_line(f, now->name, frame), s->is_b, bytes);
	return 0;
}

static int read_blocks(struct finder *f, struct side *s)
{
	sqlite3_stmt *st = pf_named_prepare(s->db, "snap_blocks", s->db->err);
	int rc = -1;

	while (st && (rc = pf_db_step(s->db, st, s->db->err)) == 1)
		if (read_block(f, s, st)) {
			rc = -1;
			break;
		}
	sqlite3_finalize(st);
	return rc;
}

static int read_side(struct finder *f, struct side *s,
		     const struct pf_window_args *window)
{
	int rc = pf_window_resolve(s->db, window, &s->window);

	if (rc < 0)
		return -1;
	s->lines.db = s->db;
	rc = pf_snap_state_find(s->db, &s->window, &s->state);
	pf_sat_sum(&f->out->lost_segments, s->state.lost_segments);
	for (size_t i = 0; !rc && i < s->state.now_count; i++) {
		const struct pf_snap_now *now = &s->state.now[i];
		struct pf_snap_change *gpu = find_gpu(f, now->name);

		pf_sat_sum(s->is_b ? &gpu->b_reserved : &gpu->a_reserved,
			   now->reserved);
	}
	if (!rc)
		rc = read_blocks(f, s);
	pf_stack_lines_release(&s->lines);
	pf_snap_state_release(&s->state);
	pf_window_release(&s->window);
	return rc;
}

/* ---- peaks ---- */

#define BEFORE "(before the history)"

static void add_peak_line(struct finder *f, const struct side *s,
			  const char *name, const char *frame, int64_t bytes)
{
	struct pf_snap_diff *d = f->out;
	struct pf_snap_change *line = find_row(
		&f->peak_lines, &d->peak_lines, &d->peak_line_count,
		&d->peak_line_cap, &d->texts, name, frame ? frame : BEFORE);

	pf_sat_sum(s->is_b ? &line->b_bytes : &line->a_bytes, bytes);
}

/* What was alive at the peak of a GPU; the rest was there before. */
static void read_peak(struct finder *f, const struct side *s,
		      const struct pf_usage *u, const struct pf_usage_device *p)
{
	struct pf_snap_diff *d = f->out;
	struct pf_snap_change *gpu =
		find_row(&f->peaks, &d->peaks, &d->peak_count, &d->peak_cap,
			 &d->texts, p->at.device, NULL);
	int64_t rest = p->peak;

	*(s->is_b ? &gpu->b_bytes : &gpu->a_bytes) = p->peak;
	*(s->is_b ? &gpu->b_count : &gpu->a_count) = 1; /* it is known */
	for (size_t i = 0; i < u->alive_count; i++) {
		const struct pf_usage_group *g = &u->alive[i];

		if (strcmp(g->at.device, p->at.device) != 0 || !g->site.frame)
			continue;
		add_peak_line(f, s, p->at.device, g->site.frame, g->bytes);
		rest = pf_sat_sub(rest, g->bytes);
	}
	if (rest)
		add_peak_line(f, s, p->at.device, NULL, rest);
}

static int read_peaks(struct finder *f, const struct side *s,
		      const struct pf_window_args *window)
{
	const struct pf_usage_args args = { .window = *window };
	struct pf_usage u = { 0 };
	int rc = pf_usage_find(s->db, &args, NULL, &u);

	for (size_t i = 0; !rc && i < u.device_count; i++)
		if (u.devices[i].peak != PF_NO_INT)
			read_peak(f, s, &u, &u.devices[i]);
	pf_usage_release(&u);
	return rc;
}

static bool is_of_both(const struct pf_snap_diff *d, const char *name)
{
	for (size_t i = 0; i < d->peak_count; i++)
		if (!strcmp(d->peaks[i].name, name))
			return d->peaks[i].a_count && d->peaks[i].b_count;
	return false;
}

/* A peak that one of the two did not record cannot be compared. */
static void drop_unknown(struct pf_snap_diff *d)
{
	size_t kept = 0;

	for (size_t i = 0; i < d->peak_line_count; i++)
		if (is_of_both(d, d->peak_lines[i].name))
			d->peak_lines[kept++] = d->peak_lines[i];
	d->peak_line_count = kept;
	kept = 0;
	for (size_t i = 0; i < d->peak_count; i++)
		if (d->peaks[i].a_count && d->peaks[i].b_count)
			d->peaks[kept++] = d->peaks[i];
	d->peak_count = kept;
}

static void subtract(struct pf_snap_change *c, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		c[i].reserved = pf_sat_sub(c[i].b_reserved, c[i].a_reserved);
		c[i].bytes = pf_sat_sub(c[i].b_bytes, c[i].a_bytes);
		c[i].count = c[i].b_count - c[i].a_count;
	}
}

PF_ORDER(by_change, struct pf_snap_change,
	 PF_FAR(bytes) PF_ALPHA(name) PF_ALPHA(frame))

PF_ORDER(by_name, struct pf_snap_change, PF_ALPHA(name))

static void put_in_order(struct pf_snap_diff *d)
{
	subtract(d->gpus, d->gpu_count);
	subtract(d->lines, d->line_count);
	pf_sort(d->gpus, d->gpu_count, sizeof(*d->gpus), by_name);
	pf_sort(d->lines, d->line_count, sizeof(*d->lines), by_change);
	drop_unknown(d);
	subtract(d->peaks, d->peak_count);
	subtract(d->peak_lines, d->peak_line_count);
	pf_sort(d->peaks, d->peak_count, sizeof(*d->peaks), by_name);
	pf_sort(d->peak_lines, d->peak_line_count, sizeof(*d->peak_lines),
		by_change);
}

int pf_snap_diff_find(struct pf_db *a, struct pf_db *b,
		      const struct pf_window_args *window,
		      struct pf_snap_diff *out)
{
	struct finder f = { .out = out };
	struct side sides[] = { { .db = a }, { .db = b, .is_b = true } };
	int rc;

	pf_intern_init(&f.gpus);
	pf_intern_init(&f.lines);
	pf_intern_init(&f.peaks);
	pf_intern_init(&f.peak_lines);
	rc = read_side(&f, &sides[0], window);
	if (!rc)
		rc = read_side(&f, &sides[1], window);
	for (size_t i = 0; !rc && i < 2; i++)
		rc = read_peaks(&f, &sides[i], window);
	if (!rc)
		put_in_order(out);
	pf_intern_release(&f.gpus);
	pf_intern_release(&f.lines);
	pf_intern_release(&f.peaks);
	pf_intern_release(&f.peak_lines);
	return rc;
}

void pf_snap_diff_release(struct pf_snap_diff *d)
{
	free(d->gpus);
	free(d->lines);
	free(d->peaks);
	free(d->peak_lines);
	pf_arena_release(&d->texts);
	*d = (struct pf_snap_diff){ 0 };
}

/* ---- showing ---- */

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct pf_snap_change, member, key, title, kind)
static const struct pf_field gpu_fields[] = {
	FIELD(name, "device", "Device", PF_TEXT),
	FIELD(bytes, "allocated_change_bytes", "Change", PF_BYTES | PF_SIGNED),
	FIELD(a_bytes, "a_allocated_bytes", "A allocated", PF_BYTES),
	FIELD(b_bytes, "b_allocated_bytes", "B allocated", PF_BYTES),
	FIELD(count, "block_change", "Blocks", PF_INT | PF_SIGNED),
	FIELD(a_reserved, "a_reserved_bytes", "A reserved", PF_BYTES),
	FIELD(b_reserved, "b_reserved_bytes", "B reserved", PF_BYTES),
	FIELD(reserved, "reserved_change_bytes", "Reserved, change",
	      PF_BYTES | PF_SIGNED | PF_FULL),
	FIELD(a_count, "a_block_count", "A blocks", PF_COUNT | PF_FULL),
	FIELD(b_count, "b_block_count", "B blocks", PF_COUNT | PF_FULL),
};
static const struct pf_field line_fields[] = {
	FIELD(name, "device", "Device", PF_TEXT),
	FIELD(bytes, "change_bytes", "Change", PF_BYTES | PF_SIGNED),
	FIELD(a_bytes, "a_bytes", "A", PF_BYTES),
	FIELD(b_bytes, "b_bytes", "B", PF_BYTES),
	FIELD(count, "block_change", "Blocks", PF_INT | PF_SIGNED),
	FIELD(frame, "frame", "Line", PF_PATH),
	FIELD(a_count, "a_block_count", "A blocks", PF_COUNT | PF_FULL),
	FIELD(b_count, "b_block_count", "B blocks", PF_COUNT | PF_FULL),
};
static const struct pf_field peak_fields[] = {
	FIELD(name, "device", "Device", PF_TEXT),
	FIELD(bytes, "change_bytes", "Change", PF_BYTES | PF_SIGNED),
	FIELD(a_bytes, "a_peak_bytes", "A peak", PF_BYTES),
	FIELD(b_bytes, "b_peak_bytes", "B peak", PF_BYTES),
};
static const struct pf_field peak_line_fields[] = {
	FIELD(name, "device", "Device", PF_TEXT),
	FIELD(bytes, "change_bytes", "Change", PF_BYTES | PF_SIGNED),
	FIELD(a_bytes, "a_bytes", "A", PF_BYTES),
	FIELD(b_bytes, "b_bytes", "B", PF_BYTES),
	FIELD(frame, "frame", "Line", PF_PATH),
};
#undef FIELD

/* The GPU with the largest change, the first of several; NULL: no GPU. */
static const struct pf_snap_change *main_gpu(const struct pf_snap_diff *d)
{
	const struct pf_snap_change *best = NULL;

	for (size_t i = 0; i < d->gpu_count; i++)
		if (!best || llabs(d->gpus[i].bytes) > llabs(best->bytes))
			best = &d->gpus[i];
	return best;
}

static const struct pf_snap_change *main_line(const struct pf_snap_diff *d,
					      const struct pf_snap_change *gpu)
{
	for (size_t i = 0; i < d->line_count; i++)
		if (!strcmp(d->lines[i].name, gpu->name))
			return &d->lines[i];
	return NULL;
}

static const char *more_or_less(int64_t n)
{
	return n < 0 ? "less" : "more";
}

static void add_line(const struct pf_snap_change *line, struct pf_buf *out)
{
	char bytes[PF_NUM_MAX], blocks[PF_NUM_MAX];

	if (!line || !line->bytes)
		return;
	pf_num_show_bytes(bytes, llabs(line->bytes));
	pf_num_show_count(blocks, llabs(line->count));
	pf_buf_addf(out, "; the largest change is at %s: %s %s", line->frame,
		    bytes, more_or_less(line->bytes));
	if (line->count)
		pf_buf_addf(out, ", %s %s %s", blocks,
			    llabs(line->count) == 1 ? "block" : "blocks",
			    more_or_less(line->count));
}

static void add_finding(const struct pf_snap_diff *d, struct pf_doc *doc)
{
	const struct pf_snap_change *gpu = main_gpu(d);
	char change[PF_NUM_MAX], a[PF_NUM_MAX], b[PF_NUM_MAX];
	struct pf_buf line = { 0 };

	if (!gpu) {
		pf_doc_finding(doc, "%s",
			       d->lost_segments
				       ? PF_SNAP_ALL_LOST
				       : "Neither snapshot has any segments");
		return;
	}
	pf_num_show_bytes(a, gpu->a_bytes);
	pf_num_show_bytes(b, gpu->b_bytes);
	add_line(main_line(d, gpu), &line);
	if (gpu->reserved)
		pf_buf_addf(&line, "; %s %s reserved",
			    pf_num_show_bytes(change, llabs(gpu->reserved)),
			    more_or_less(gpu->reserved));
	if (gpu->bytes)
		pf_doc_finding(
			doc, "%s: %s %s allocated in B than in A (%s, %s)%s",
			gpu->name, pf_num_show_bytes(change, llabs(gpu->bytes)),
			more_or_less(gpu->bytes), b, a,
			line.data ? line.data : "");
	else
		pf_doc_finding(doc,
			       "As much is allocated in B as in A (%s on %s)%s",
			       a, gpu->name, line.data ? line.data : "");
	pf_buf_release(&line);
}

void pf_snap_diff_show(const struct pf_snap_diff *d, struct pf_doc *doc)
{
	add_finding(d, doc);
	PF_ROWS(doc, "devices", "Allocated when the snapshots were taken",
		gpu_fields, d->gpus, d->gpu_count);
	PF_ROWS(doc, "lines", "By line of the program", line_fields, d->lines,
		d->line_count);
	PF_ROWS(doc, "peaks", "Peaks", peak_fields, d->peaks, d->peak_count);
	PF_ROWS(doc, "peak_lines", "Alive at the peak, by line",
		peak_line_fields, d->peak_lines, d->peak_line_count);
	pf_snap_note_lost(d->lost_segments, doc);
	pf_doc_note(doc, "where both were taken at the same point of a step, "
			 "what B has more of may be a leak");
}

/* ---- of many snapshots ---- */

struct row {
	const char *capture;
	int64_t trace_id, device;
	int64_t allocated, change, reserved, whole, split, largest;
};

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct row, member, key, title, kind)
static const struct pf_field fields[] = {
	FIELD(capture, "capture", "Capture", PF_PATH),
	FIELD(trace_id, "trace_id", "Trace", PF_INT | PF_FULL),
	FIELD(device, "device", "GPU", PF_INT),
	FIELD(allocated, "allocated_bytes", "Allocated", PF_BYTES),
	FIELD(change, "change_bytes", "Change",
	      PF_BYTES | PF_SIGNED | PF_MAYBE),
	FIELD(reserved, "reserved_bytes", "Reserved", PF_BYTES),
	FIELD(whole, "whole_bytes", "Free segments", PF_BYTES),
	FIELD(split, "split_bytes", "Free between", PF_BYTES),
	FIELD(largest, "largest_bytes", "Largest", PF_BYTES | PF_FULL),
};
#undef FIELD

struct dumps {
	struct row *rows;
	size_t count, cap;
	int64_t lost_segments;
};

/* The row of the same device in the dump before, or NULL. */
static const struct row *before(const struct dumps *d, size_t at)
{
	for (size_t i = at; i-- > 0;)
		if (d->rows[i].device == d->rows[at].device)
			return &d->rows[i];
	return NULL;
}

static void add(struct dumps *d, const char *capture,
		const struct pf_snap_now *now)
{
	const struct row *last;
	struct row *row;

	d->rows = pf_grow(d->rows, &d->cap, d->count + 1, sizeof(*d->rows));
	row = &d->rows[d->count++];
	*row = (struct row){
		.capture = capture,
		.trace_id = now->trace_id,
		.device = now->device,
		.allocated = now->allocated,
		.change = PF_NO_INT,
		.reserved = now->reserved,
		.whole = now->whole,
		.split = now->split,
		.largest = now->largest,
	};
	last = before(d, d->count - 1);
	if (last)
		row->change = pf_sat_sub(row->allocated, last->allocated);
}

static int add_database(struct dumps *d, const char *path, const char *name,
			const struct pf_window_args *args, struct pf_err *err)
{
	struct pf_snap_state state = { 0 };
	struct pf_window window = { 0 };
	struct pf_db db = { 0 };
	int rc = pf_db_open(&db, path, false, err);

	if (!rc)
		rc = pf_window_resolve(&db, args, &window);
	if (!rc)
		rc = pf_snap_state_find(&db, &window, &state);
	for (size_t i = 0; !rc && i < state.now_count; i++)
		add(d, name, &state.now[i]);
	pf_sat_sum(&d->lost_segments, state.lost_segments);
	pf_snap_state_release(&state);
	pf_window_release(&window);
	pf_db_close(&db);
	return rc;
}

/* Of the device that has most reserved in any dump. */
static void say(const struct dumps *d, struct pf_doc *doc)
{
	char first_text[PF_NUM_MAX], last_text[PF_NUM_MAX];
	const struct row *most = d->rows, *first = NULL, *last = NULL;
	size_t dumps = 0, grown = 0;

	for (size_t i = 1; i < d->count; i++)
		if (d->rows[i].reserved > most->reserved)
			most = &d->rows[i];
	for (size_t i = 0; i < d->count; i++) {
		const struct row *row = &d->rows[i];

		if (row->device != most->device)
			continue;
		first = first ? first : row;
		last = row;
		dumps++;
		grown += row->change != PF_NO_INT && row->change > 0;
	}
	pf_num_show_bytes(first_text, first->allocated);
	pf_num_show_bytes(last_text, last->allocated);
	if (dumps < 2)
		pf_doc_finding(doc,
			       "GPU %" PRId64 ": %s allocated, in one dump",
			       most->device, last_text);
	else
		pf_doc_finding(
			doc,
			"GPU %" PRId64 ": %s allocated in the first dump "
			"and %s in the last; it grew in %s%zu of %zu",
			most->device, first_text, last_text,
			grown == dumps - 1 ? "each, " : "", grown, dumps - 1);
}

int pf_snap_trend(const char *const *paths, char *const *names, size_t count,
		  const struct pf_window_args *window, struct pf_doc *doc,
		  struct pf_err *err)
{
	struct dumps d = { 0 };
	int rc = 0;

	for (size_t i = 0; !rc && i < count; i++)
		rc = add_database(&d, paths[i], names[i], window, err);
	if (!rc && !d.count) {
		pf_doc_finding(doc, "%s",
			       d.lost_segments
				       ? PF_SNAP_ALL_LOST
				       : "These snapshots have no segments: "
					 "nothing was reserved when they were "
					 "taken");
		doc->is_nothing = true;
	} else if (!rc) {
		say(&d, doc);
		PF_ROWS(doc, "dumps", "Memory in each dump", fields, d.rows,
			d.count);
	}
	pf_snap_note_lost(d.lost_segments, doc);
	free(d.rows);
	return rc;
}
