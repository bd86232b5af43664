/* SPDX-License-Identifier: MIT */
/*
 * torch's export_memory_timeline(): what tensors hold by what they are for.
 * Two forms: rows of what changes (*.raw.json.gz: [t, action, bytes, category],
 * t in ns, -1: before the first), and levels (*.json: all times in us, then a
 * row of levels for each, whose first is no category).  Each row becomes a
 * counter event with the levels after it.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sat.h"
#include "base/spool.h"
#include "ingest/ingest_impl.h"
#include "formats/argline.h"
#include "formats/json/lexer.h"

#define CATEGORIES  8
#define COLUMNS     (CATEGORIES + 1)
#define SPOOL_BYTES (4u << 20)
#define LEVEL_MAX   (INT64_C(1) << 58) /* of a slot */

static const char *const names[CATEGORIES] = {
	"PARAMETER",  "OPTIMIZER_STATE", "INPUT",           "TEMPORARY",
	"ACTIVATION", "GRADIENT",        "AUTOGRAD_DETAIL", "UNKNOWN",
};

struct reading {
	struct pf_ingest *in;
	struct pf_ingest_sink sink;
	struct pf_lexer tokens;
	struct pf_argline args;
	struct pf_spool *times; /* the first list */
	int64_t row[COLUMNS];   /* the list at hand */
	size_t row_count;       /* of it, more than there is room for too */
	int64_t level[CATEGORIES], at_peak[CATEGORIES];
	int64_t total, peak, peak_row, peak_ns, event_rows;
	int64_t first, last_ns; /* of the file; relative to the first, in ns */
	bool has_first, is_micro;
};

static int refuse(const struct reading *r, const char *what, struct pf_err *err)
{
	return pf_fail(err, PF_EDATA,
		       "begins as a memory timeline of torch, but %s at byte "
		       "%" PRId64,
		       what, r->tokens.offset);
}

/*
 * Numbers up to ']', from the token at hand on; the first COLUMNS of them stay
 * in row, all in "spool".
 */
static int read_list(struct reading *r, struct pf_spool *spool,
		     struct pf_err *err)
{
	struct pf_lexer *t = &r->tokens;
	int64_t n;

	r->row_count = 0;
	while (t->kind != PF_LEXER_CLOSE) {
		if (!pf_lexer_int(t, &n))
			return refuse(r, "has no whole number", err);
		if (r->row_count < COLUMNS)
			r->row[r->row_count] = n;
		r->row_count++;
		if ((spool && pf_spool_add(spool, &n, err)) ||
		    pf_lexer_next(t, err))
			return -1;
		if (t->kind == PF_LEXER_COMMA && pf_lexer_next(t, err))
			return -1;
	}
	return 0;
}

/* ---- events ---- */

/* Times are of the clock since 1970 if they are large enough. */
static void take_time(struct reading *r, int64_t time)
{
	int64_t limit = INT64_MAX / 1000;

	if (time >= 0 && !r->has_first) {
		r->has_first = true;
		r->first = time;
		if (time >= INT64_C(100000000000000000))
			r->is_micro = false;
		else if (time >= INT64_C(100000000000000))
			r->is_micro = true;
	}
	if (time < 0 || !r->has_first)
		return;
	time -= r->first;
	r->last_ns = !r->is_micro    ? time
		     : time > limit  ? INT64_MAX
		     : time < -limit ? INT64_MIN
				     : time * 1000;
}

static int put_event(struct reading *r, struct pf_err *err)
{
	static const char track[] = "c00000012Memory by category";
	static const char name[] = "Memory by category";
	struct pf_parsed *p = &r->sink.parsed;
	struct pf_event ev = {
		.start_ns = r->last_ns,
		.ph = 'C',
		.kind = PF_KIND_COUNTER,
		.order = (int32_t)p->batch.event_count++,
	};

	if (!pf_time_fits(ev.start_ns, 0)) {
		pf_repair_note(&p->batch.repairs, PF_SKIP_TIME_RANGE, 1,
			       r->tokens.offset);
		return 0;
	}
	pf_argline_open(&r->args);
	for (int i = 0; i < CATEGORIES; i++)
		pf_argline_slot(&r->args, names[i],
				(enum pf_slot)(PF_SLOT_GENERIC + i),
				r->level[i] * 16);
	ev.args = pf_argline_close(&r->args, &p->args);
	ev.name = pf_dict_find(&p->names, name, sizeof(name) - 1, 0);
	ev.track = pf_dict_find(&p->tracks, track, sizeof(track) - 1, 0);
	ev.type = pf_batch_type(&p->batch,
				pf_dict_find(&p->categories, "memory", 6, 0),
				'C', PF_KIND_COUNTER);
	p->batch.kind_count[PF_KIND_COUNTER]++;
	pf_batch_put(&p->batch, &ev, r->args.mask, r->args.slots);
	return pf_ingest_sink_offer(&r->sink, err) < 0 ? -1 : 0;
}

static int settle_row(struct reading *r, struct pf_err *err)
{
	r->total = 0;
	for (int i = 0; i < CATEGORIES; i++) {
		if (r->level[i] >= LEVEL_MAX || r->level[i] <= -LEVEL_MAX)
			return refuse(r, "has a level that is too large", err);
		r->total += r->level[i];
	}
	if (!r->event_rows || r->total > r->peak) {
		r->peak = r->total;
		r->peak_row = r->event_rows;
		r->peak_ns = r->last_ns;
		memcpy(r->at_peak, r->level, sizeof(r->level));
	}
	r->event_rows++;
	return put_event(r, err);
}

/* ---- rows of what changes ---- */

static int take_change(struct reading *r, struct pf_err *err)
{
	int64_t category = r->row[3];

	if (r->row_count != 4)
		return refuse(r, "has a row of another length", err);
	if (category < 0 || category >= CATEGORIES)
		return refuse(r, "has an unknown category", err);
	take_time(r, r->row[0]);
	r->level[category] = pf_sat_add(r->level[category], r->row[2]);
	return settle_row(r, err);
}

/* Behind the first row. */
static int read_changes(struct reading *r, struct pf_err *err)
{
	struct pf_lexer *t = &r->tokens;

	while (t->kind == PF_LEXER_COMMA) {
		if (pf_lexer_want(t, PF_LEXER_OPEN, err) ||
		    pf_lexer_next(t, err) || read_list(r, NULL, err) ||
		    take_change(r, err) || pf_lexer_next(t, err))
			return -1;
	}
	return t->kind == PF_LEXER_CLOSE
		       ? 0
		       : refuse(r, "its list does not end", err);
}

/* ---- levels ---- */

static int take_levels(struct reading *r, uint64_t i, struct pf_err *err)
{
	const int64_t *time = pf_spool_at(r->times, i, err);

	if (!time)
		return -1;
	if (r->row_count != COLUMNS)
		return refuse(r, "has a row of another length", err);
	take_time(r, *time);
	memcpy(r->level, r->row + 1, sizeof(r->level));
	return settle_row(r, err);
}

/* Behind the '[' of the first row of levels. */
static int read_levels(struct reading *r, struct pf_err *err)
{
	struct pf_lexer *t = &r->tokens;
	uint64_t count = pf_spool_count(r->times), i = 0;

	while (t->kind == PF_LEXER_OPEN) {
		if (i == count)
			return refuse(r, "has more rows than times", err);
		if (pf_lexer_next(t, err) || read_list(r, NULL, err) ||
		    take_levels(r, i++, err) || pf_lexer_next(t, err))
			return -1;
		if (t->kind == PF_LEXER_COMMA && pf_lexer_next(t, err))
			return -1;
	}
	if (t->kind != PF_LEXER_CLOSE)
		return refuse(r, "its list does not end", err);
	if (i != count)
		return refuse(r, "has fewer rows than times", err);
	return pf_lexer_want(t, PF_LEXER_CLOSE, err);
}

/* ---- all of it ---- */

/* "[[": what follows the first list says which form it is. */
static int read_document(struct reading *r, struct pf_err *err)
{
	struct pf_lexer *t = &r->tokens;

	if (pf_lexer_want(t, PF_LEXER_OPEN, err) ||
	    pf_lexer_want(t, PF_LEXER_OPEN, err) || pf_lexer_next(t, err) ||
	    read_list(r, r->times, err) || pf_lexer_next(t, err))
		return -1;
	if (t->kind == PF_LEXER_CLOSE)
		return take_change(r, err);
	if (t->kind != PF_LEXER_COMMA)
		return refuse(r, "has something else than lists", err);
	if (pf_lexer_want(t, PF_LEXER_OPEN, err) || pf_lexer_next(t, err))
		return -1;
	if (t->kind != PF_LEXER_NUMBER) {
		r->is_micro = true;
		return read_levels(r, err);
	}
	if (take_change(r, err) || read_list(r, NULL, err) ||
	    take_change(r, err) || pf_lexer_next(t, err))
		return -1;
	return read_changes(r, err);
}

static void note_facts(struct reading *r)
{
	char key[64];
	struct pf_ingest *in = r->in;

	pf_ingest_note_fact(in, "timeline_peak_bytes", r->peak);
	pf_ingest_note_fact(in, "timeline_peak_row", r->peak_row);
	pf_ingest_note_fact(in, "timeline_peak_ns", r->peak_ns);
	for (int i = 0; i < CATEGORIES; i++) {
		snprintf(key, sizeof(key), "timeline_peak_%s", names[i]);
		pf_ingest_note_fact(in, key, r->at_peak[i]);
		snprintf(key, sizeof(key), "timeline_end_%s", names[i]);
		pf_ingest_note_fact(in, key, r->level[i]);
	}
}

static void note_base(struct reading *r)
{
	struct pf_buf text = { 0 };
	int64_t unit = r->is_micro ? 1000 : 1;

	if (!r->has_first || r->first > INT64_MAX / unit ||
	    r->first * unit < INT64_C(100000000000000000))
		return;
	pf_buf_addf(&text, "%" PRId64, r->first * unit);
	pf_batch_member(&r->sink.parsed.batch, "baseTimeNanoseconds", &text);
	pf_buf_release(&text);
}

static int read_all(struct reading *r, struct pf_err *err)
{
	if (read_document(r, err) || pf_lexer_next(&r->tokens, err))
		return -1;
	if (r->tokens.kind != PF_LEXER_END)
		pf_repair_note(&r->in->repairs, PF_REPAIR_TRAILING_BYTES, 1,
			       r->tokens.offset);
	note_facts(r);
	note_base(r);
	return pf_ingest_sink_flush(&r->sink, err) < 0 ? -1 : 0;
}

static int read_timeline(struct pf_ingest *in, struct pf_input *input,
			 const struct pf_buf *head, struct pf_err *err)
{
	struct reading r = { .in = in };
	int rc;

	pf_ingest_sink_init(&r.sink, in, input, head);
	r.tokens.read = pf_ingest_sink_read;
	r.tokens.arg = &r.sink;
	r.times = pf_spool_new(sizeof(int64_t), SPOOL_BYTES, in->directory);
	rc = read_all(&r, err);
	pf_spool_free(r.times);
	pf_argline_release(&r.args);
	pf_lexer_release(&r.tokens);
	pf_ingest_sink_release(&r.sink);
	return rc;
}

/* A list of lists: no trace begins so. */
static bool claims(const char *head, size_t len)
{
	size_t lists = 0;

	for (size_t i = 0; i < len && lists < 2; i++) {
		if (head[i] == '[')
			lists++;
		else if (!head[i] || !strchr(" \t\r\n", head[i]))
			return false;
	}
	return lists == 2;
}

/* ---- other lists of lists ---- */

/* The first list, and how the second begins; true where it is cut off. */
static bool has_form(struct reading *r)
{
	struct pf_lexer *t = &r->tokens;
	struct pf_err cut = { 0 };

	if (pf_lexer_next(t, &cut) || pf_lexer_next(t, &cut) ||
	    pf_lexer_next(t, &cut))
		return true;
	if (read_list(r, NULL, &cut))
		return t->kind == PF_LEXER_END;
	if (pf_lexer_next(t, &cut) || t->kind == PF_LEXER_END)
		return true;
	if (t->kind == PF_LEXER_CLOSE)
		return r->row_count == 4;
	if (pf_lexer_next(t, &cut) || pf_lexer_next(t, &cut))
		return true;
	return t->kind == PF_LEXER_NUMBER ? r->row_count == 4
					  : t->kind != PF_LEXER_STRING;
}

static int look(struct pf_input *input, struct pf_buf *head,
		struct pf_seen *seen, struct pf_err *err)
{
	struct pf_headed from = { .head = head };
	struct reading r = { .tokens = { .read = pf_headed_read,
					 .arg = &from } };
	bool is;

	(void)input;
	(void)err;
	is = has_form(&r);
	pf_lexer_release(&r.tokens);
	if (!is)
		snprintf(seen->why, sizeof(seen->why),
			 "is a list of other things than trace events");
	return is;
}

PF_INGEST_FORMAT(45, memtimeline) = { "memtimeline", claims, read_timeline,
				      look, false };
