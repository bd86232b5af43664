/* SPDX-License-Identifier: MIT */
/*
 * Folded stacks: lines "frame;frame;frame N", as torch's export_stacks(),
 * py-spy and stackcollapse write them.  Equal stacks are one sample with the
 * sum.  What N counts, the file does not say.
 *
 * torch wrote the innermost frame first once, and later the outermost: where
 * more lines end than begin with a module's own line they are turned round.
 */
#include "config.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/intern.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/port.h"
#include "base/sat.h"
#include "base/spool.h"
#include "formats/sink.h"
#include "formats/json/lexer.h"
#include "formats/input.h"
#include "ingest/impl.h"

#define STACK_BYTES_MAX (256u << 20) /* of different ones */
#define LOOK_BYTES      4096u

struct reading {
	struct pf_ingest *in;
	struct pf_ingest_sink sink;
	struct pf_intern stacks, frames, nodes;
	int64_t *sums; /* by stack */
	size_t sums_cap;
	int64_t begins, ends; /* lines, with a module's own line there */
	bool is_turned;
	struct pf_ingest_stacks chains; /* the nodes */
	int64_t sample_base;
};

/* ---- lines ---- */

static bool is_module(const char *p, size_t len)
{
	static const char word[] = "<module>";

	return len >= sizeof(word) - 1 &&
	       memmem(p, len, word, sizeof(word) - 1);
}

static void look_at_ends(struct reading *r, const char *p, size_t len)
{
	const char *first = memchr(p, ';', len);
	const char *last = pf_memrchr(p, ';', len);

	if (!first)
		return;
	r->begins += is_module(p, (size_t)(first - p));
	r->ends += is_module(last + 1, (size_t)(p + len - last - 1));
}

/* The number behind the last blank; -1: it is none, or below 0. */
static int64_t value_of(const struct pf_text_line *line, size_t *len)
{
	const char *blank = pf_memrchr(line->text, ' ', line->len);
	size_t digits;
	char text[24];
	int64_t n;

	if (!blank || line->is_too_long)
		return -1;
	*len = (size_t)(blank - line->text);
	digits = line->len - *len - 1;
	if (!digits || digits >= sizeof(text) ||
	    strspn(blank + 1, "0123456789") < digits)
		return -1;
	memcpy(text, blank + 1, digits);
	text[digits] = '\0';
	return pf_num_int(text, &n) ? -1 : n;
}

/* No frame may be empty: then it is not known what was meant. */
static bool is_stack(const char *p, size_t len)
{
	bool is_start = true;

	for (size_t i = 0; i < len; i++) {
		if (is_start && p[i] == ';')
			return false;
		is_start = p[i] == ';';
	}
	return len && !is_start;
}

static int take_line(struct reading *r, const struct pf_text_line *line,
		     struct pf_err *err)
{
	struct pf_ingest *in = r->in;
	uint32_t before = r->stacks.count, n;
	size_t len = 0;
	int64_t value;

	if (!line->len)
		return 0;
	in->event_count++;
	value = memchr(line->text, '\0', line->len) ? -1 : value_of(line, &len);
	if (value < 0 || !is_stack(line->text, len)) {
		pf_repair_note(&in->repairs, PF_SKIP_MALFORMED, 1,
			       line->offset);
		return 0;
	}
	in->metadata_count++;
	look_at_ends(r, line->text, len);
	n = pf_intern_add(&r->stacks, line->text, len);
	if (r->stacks.bytes_len > STACK_BYTES_MAX)
		return pf_fail(err, PF_ELIMIT,
			       "has more than 256 MiB of different stacks");
	PF_ROOM(r->sums, r->sums_cap, n + 1);
	r->sums[n] = n < before ? pf_sat_add(r->sums[n], value) : value;
	return 0;
}

/* ---- rows of stacks ---- */

static uint32_t add_node(struct reading *r, uint32_t parent, const char *frame,
			 size_t len)
{
	struct pf_snap_stack node = { parent,
				      pf_intern_add(&r->frames, frame, len) };

	return pf_intern_add(&r->nodes, (const char *)&node, sizeof(node)) + 1;
}

/* The stack's node; frames from the outermost on. */
static uint32_t add_stack(struct reading *r, const char *p, size_t len)
{
	const char *end = p + len, *semi;
	uint32_t node = 0;

	while (!r->is_turned && (semi = memchr(p, ';', (size_t)(end - p)))) {
		node = add_node(r, node, p, (size_t)(semi - p));
		p = semi + 1;
	}
	while (r->is_turned && (semi = pf_memrchr(p, ';', (size_t)(end - p)))) {
		node = add_node(r, node, semi + 1, (size_t)(end - semi - 1));
		end = semi;
	}
	return add_node(r, node, p, (size_t)(end - p));
}

static int put_samples(struct reading *r, struct pf_err *err)
{
	PF_STMT(st) = pf_db_prepare(
		r->in->db, "INSERT INTO sample VALUES(?1,?2,?3,?4,NULL)", err);

	PF_TRY(!st);
	for (uint32_t i = 0; i < r->stacks.count; i++) {
		size_t len;
		const char *text = pf_intern_text(&r->stacks, i, &len);

		PF_BIND(st, r->sample_base + i + 1, r->in->trace_id,
			r->chains.stack_base + add_stack(r, text, len),
			r->sums[i]);
		PF_TRY(pf_db_put(r->in->db, st, err));
	}
	return 0;
}

static void frame_of(const void *arg, uint32_t i, struct pf_ingest_frame *out)
{
	const struct reading *r = arg;

	*out = (struct pf_ingest_frame){ .file = "", .line = -1 };
	out->name = pf_intern_text(&r->frames, i, &out->name_len);
}

static int put_all(struct reading *r, struct pf_err *err)
{
	r->is_turned = r->ends > r->begins;
	pf_ingest_note_fact(r->in, "folded_turned", r->is_turned);
	PF_TRY(pf_ingest_stacks_begin(r->in, &r->chains, err));
	PF_TRY(pf_db_number(r->in->db,
			    "SELECT coalesce(max(id), 0) FROM sample",
			    &r->sample_base, err));
	PF_TRY(put_samples(r, err));
	return pf_ingest_stacks_put(&r->chains, &r->sink.batcher,
				    &r->sink.parsed, err);
}

/* ---- all of folded stacks ---- */

static int read_lines(struct reading *r, struct pf_err *err)
{
	struct pf_lines lines = { .read = pf_ingest_sink_read,
				  .arg = &r->sink };
	struct pf_text_line line;
	int rc;

	while ((rc = pf_lines_next(&lines, &line, err)) == 1)
		if (take_line(r, &line, err)) {
			rc = -1;
			break;
		}
	pf_lines_release(&lines);
	if (!rc && !r->stacks.count)
		rc = pf_fail(err, PF_EDATA,
			     "has no line of a folded stack, and is no trace");
	return rc;
}

static int read_folded(struct pf_ingest *in, struct pf_input *input,
		       const struct pf_buf *head, struct pf_err *err)
{
	struct reading r = { .in = in };
	int rc;

	r.chains = (struct pf_ingest_stacks){ .frames = &r.frames,
					      .stacks = &r.nodes,
					      .frame = frame_of,
					      .arg = &r };

	pf_ingest_sink_init(&r.sink, in, input, head);
	rc = read_lines(&r, err);
	if (!rc)
		rc = put_all(&r, err);
	pf_intern_release(&r.stacks);
	pf_intern_release(&r.frames);
	pf_intern_release(&r.nodes);
	pf_ingest_sink_release(&r.sink);
	free(r.sums);
	return rc;
}

/* A frame like "<module>", "[unknown]" or "/lib/libc.so" and its number. */
static bool is_odd_stack(const char *p, size_t len)
{
	const struct pf_text_line line = { .text = p, .len = len };
	size_t stack;

	return (*p != '[' || (len > 1 && isalpha((unsigned char)p[1]))) &&
	       value_of(&line, &stack) >= 0 && is_stack(p, stack);
}

/*
 * Text that is no JSON, has a ';' and whose first line ends with a number, or
 * is longer than what is looked at.  What begins as markup, lists and paths do
 * is told by its whole first line.
 */
static bool claims(const char *head, size_t len)
{
	const char *end = len ? memchr(head, '\n', len) : NULL;

	if (!len || strchr("{,\"}]#-0123456789 \t\r\n", head[0]))
		return false;
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)head[i] < ' ' && !strchr("\t\r\n", head[i]))
			return false;
	if (end && end > head && end[-1] == '\r')
		end--;
	if (!memchr(head, ';', len))
		return false;
	if (strchr("<[/", head[0]))
		return end && is_odd_stack(head, (size_t)(end - head));
	return (!end || (end > head && end[-1] >= '0' && end[-1] <= '9') ||
		memchr(head, ';', (size_t)(end - head)));
}

/* Folders hold texts of every kind: most of the first lines are stacks. */
static int look(struct pf_input *input, struct pf_buf *head,
		struct pf_seen *seen, struct pf_err *err)
{
	struct pf_text_line line = { 0 };
	size_t stacks = 0, lines = 0;

	PF_TRY(pf_input_append(input, head, LOOK_BYTES, err) < 0);
	for (size_t at = 0, next; at < head->len; at = next) {
		const char *end;
		size_t len;

		line.text = head->data + at;
		end = memchr(line.text, '\n', head->len - at);
		line.len = end ? (size_t)(end - line.text) : head->len - at;
		next = at + line.len + 1;
		/* the last may go on */
		if (!line.len || (!end && lines))
			continue;
		lines++;
		line.len -= line.text[line.len - 1] == '\r';
		stacks += !end || (value_of(&line, &len) >= 0 &&
				   is_stack(line.text, len));
	}
	if (stacks * 2 >= lines)
		return 1;
	snprintf(seen->why, sizeof(seen->why),
		 "is a text whose lines are no stacks");
	return 0;
}

PF_INGEST_FORMAT(50, folded) = { "folded", claims, read_folded, look, true };

/*
 * What RAVE's training script writes beside its traces: a row for each batch
 * that it timed or whose memory it looked at, and a summary.  A row that has
 * no step is skipped and counted; numbers that are none (NaN) are NULL.
 */

#define GIB       1073741824.0
#define FACTS_MAX 256

/* What a row may have, in the order of the columns of both tables. */
enum member {
	STEP,
	BATCH_IDX,
	SECONDS,
	RATE,
	CPU_PERCENT,
	ALLOCATED_GIB,
	RESERVED_GIB,
	MEMBERS
};
static const struct pf_member keys[MEMBERS] = {
	[STEP] = { NULL, "step" },
	[BATCH_IDX] = { NULL, "batch_idx" },
	[SECONDS] = { NULL, "total_batch_time" },
	[RATE] = { NULL, "samples_per_second" },
	[CPU_PERCENT] = { NULL, "cpu_memory_percent" },
	[ALLOCATED_GIB] = { NULL, "gpu_memory_allocated_gb" },
	[RESERVED_GIB] = { NULL, "gpu_memory_reserved_gb" },
};

struct rave_reading {
	struct pf_ingest *in;
	struct pf_lexer tokens;
	struct pf_members row;
	sqlite3_stmt *timing, *memory, *fact;
	int64_t ordinal, fact_count;
};

static int rave_refuse(const struct rave_reading *r, const char *what,
		       struct pf_err *err)
{
	return err->code ? -1
			 : pf_fail(err, PF_EDATA, "%s, at byte %" PRId64, what,
				   pf_lexer_start(&r->tokens));
}

/* ---- rows of RAVE ---- */

static void bind_real(sqlite3_stmt *st, int i, double value)
{
	if (isfinite(value))
		sqlite3_bind_double(st, i, value);
}

/* Of a value that is too large to be one, nothing. */
static void bind_scaled(sqlite3_stmt *st, int i, double value, double scale)
{
	if (isfinite(value) && fabs(value * scale) < 9e18)
		sqlite3_bind_int64(st, i, (int64_t)llround(value * scale));
}

static int put_row(struct rave_reading *r, struct pf_err *err)
{
	const struct pf_member_value *whole = r->row.values;
	double real[MEMBERS];
	sqlite3_stmt *st = r->memory;

	for (unsigned i = 0; i < MEMBERS; i++)
		real[i] = pf_member_real(&r->row, i);
	if (isnan(real[CPU_PERCENT]) && isnan(real[ALLOCATED_GIB]) &&
	    isnan(real[RESERVED_GIB]))
		st = r->timing;
	PF_BIND(st, r->in->trace_id, ++r->ordinal, whole[STEP].number);
	if (whole[BATCH_IDX].is == PF_MEMBER_INT)
		sqlite3_bind_int64(st, 4, whole[BATCH_IDX].number);
	if (st == r->timing) {
		bind_scaled(st, 5, real[SECONDS], 1e9);
		bind_real(st, 6, real[RATE]);
	} else {
		bind_real(st, 5, real[CPU_PERCENT]);
		bind_scaled(st, 6, real[ALLOCATED_GIB], GIB);
		bind_scaled(st, 7, real[RESERVED_GIB], GIB);
	}
	return pf_db_put(r->in->db, st, err);
}

static int read_rows(struct rave_reading *r, struct pf_err *err)
{
	struct pf_ingest *in = r->in;
	struct pf_lexer *t = &r->tokens;

	while (pf_lexer_next(t) != PF_LEXER_LIST_END) {
		int64_t offset = pf_lexer_start(t);

		if (t->kind != PF_LEXER_OBJECT)
			return rave_refuse(r, "has something else than a row",
					   err);
		if (!pf_members_read(&r->row, t))
			return rave_refuse(r, "has a row that does not end",
					   err);
		in->event_count++;
		if (r->row.values[STEP].is != PF_MEMBER_INT)
			pf_repair_note(&in->repairs, PF_SKIP_MALFORMED, 1,
				       offset);
		else if (put_row(r, err))
			return -1;
		else
			in->metadata_count++;
	}
	return 0;
}

/* ---- the summary ---- */

static int put_fact(struct rave_reading *r, const char *key, struct pf_err *err)
{
	double value;

	r->in->event_count++;
	if (!pf_lexer_real(&r->tokens, &value) ||
	    r->fact_count++ == FACTS_MAX) {
		pf_repair_note(&r->in->repairs, PF_SKIP_MALFORMED, 1,
			       pf_lexer_start(&r->tokens));
		return 0;
	}
	r->in->metadata_count++;
	sqlite3_bind_int64(r->fact, 1, r->in->trace_id);
	sqlite3_bind_text(r->fact, 2, key, -1, SQLITE_TRANSIENT);
	sqlite3_bind_double(r->fact, 3, value);
	return pf_db_put(r->in->db, r->fact, err);
}

static int read_summary(struct rave_reading *r, struct pf_err *err)
{
	struct pf_lexer *t = &r->tokens;
	char key[128 + 1];

	while (pf_lexer_key(t)) {
		snprintf(key, sizeof(key), "%.*s", (int)t->text_len, t->text);
		pf_lexer_next(t);
		PF_TRY(put_fact(r, key, err));
		pf_lexer_skip(t);
	}
	return t->kind == PF_LEXER_OBJECT_END
		       ? 0
		       : rave_refuse(r, "is a summary that does not end", err);
}

/* ---- all of RAVE ---- */

static int rave_read_document(struct rave_reading *r, struct pf_err *err)
{
	struct pf_lexer *t = &r->tokens;

	PF_TRY(pf_lexer_next(t) == PF_LEXER_LIST ? read_rows(r, err)
						 : read_summary(r, err));
	if (pf_lexer_next(t) != PF_LEXER_END)
		pf_repair_note(&r->in->repairs, PF_REPAIR_TRAILING_BYTES, 1,
			       pf_lexer_start(t));
	return err->code ? -1 : 0;
}

static int read_rave(struct pf_ingest *in, struct pf_input *input,
		     const struct pf_buf *head, struct pf_err *err)
{
	PF_AUTO(pf_ingest_sink_release) struct pf_ingest_sink s = { 0 };
	struct rave_reading r = {
		.in = in,
		.tokens = { .read = pf_ingest_sink_read,
			    .arg = &s,
			    .err = err },
	};
	int rc = -1;

	pf_ingest_sink_init(&s, in, input, head);
	pf_members_init(&r.row, keys, MEMBERS);
	r.timing = pf_db_prepare(
		in->db, "INSERT INTO train_row VALUES(?1,?2,?3,?4,?5,?6)", err);
	r.memory = r.timing ? pf_db_prepare(in->db,
					    "INSERT INTO train_memory VALUES"
					    "(?1,?2,?3,?4,?5,?6,?7)",
					    err)
			    : NULL;
	r.fact = r.memory ? pf_db_prepare(in->db,
					  "INSERT OR REPLACE INTO train_fact "
					  "VALUES(?1,?2,?3)",
					  err)
			  : NULL;
	if (r.fact)
		rc = rave_read_document(&r, err);
	sqlite3_finalize(r.timing);
	sqlite3_finalize(r.memory);
	sqlite3_finalize(r.fact);
	pf_lexer_release(&r.tokens);
	pf_members_release(&r.row);
	return rc;
}

/* "[ {"step": 1, "batch_idx": ...", "{ "total_training_time_seconds"". */
static bool rave_claims(const char *head, size_t len)
{
	static const char *const begins[] = {
		"[{\"step\":",
		"{\"total_training_time_seconds\":",
	};
	char text[PF_INGEST_HEAD_BYTES + 1];
	size_t n = 0;

	for (size_t i = 0; i < len && i < PF_INGEST_HEAD_BYTES; i++)
		if (!strchr(" \t\r\n", head[i]) || !head[i])
			text[n++] = head[i] ? head[i] : '?';
	text[n] = '\0';
	if (!strncmp(text, begins[1], strlen(begins[1])))
		return true;
	return !strncmp(text, begins[0], strlen(begins[0])) &&
	       (strstr(text, "\"batch_idx\"") ||
		strstr(text, "\"cpu_memory_percent\""));
}

PF_INGEST_FORMAT(40, rave) = { "rave", rave_claims, read_rave, NULL, true };

/*
 * torch's export_memory_timeline(): what tensors hold by what they are for.
 * Two forms: rows of what changes (*.raw.json.gz: [t, action, bytes, category],
 * t in ns, -1: before the first), and levels (*.json: all times in us, then a
 * row of levels for each, whose first is no category).  Each row becomes a
 * counter event with the levels after it.
 */

#define CATEGORIES  8
#define COLUMNS     (CATEGORIES + 1)
#define SPOOL_BYTES (4u << 20)
#define LEVEL_MAX   (INT64_C(1) << 58) /* of a slot */

static const char *const names[CATEGORIES] = {
	"PARAMETER",  "OPTIMIZER_STATE", "INPUT",           "TEMPORARY",
	"ACTIVATION", "GRADIENT",        "AUTOGRAD_DETAIL", "UNKNOWN",
};

struct timeline_reading {
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

static int refuse(const struct timeline_reading *r, const char *what,
		  struct pf_err *err)
{
	return err->code ? -1
			 : pf_fail(err, PF_EDATA,
				   "begins as a memory timeline of torch, but "
				   "%s at byte %" PRId64,
				   what, pf_lexer_start(&r->tokens));
}

/*
 * Numbers up to ']', from the token at hand on; the first COLUMNS of them stay
 * in row, all in "spool".
 */
static int read_list(struct timeline_reading *r, struct pf_spool *spool,
		     struct pf_err *err)
{
	struct pf_lexer *t = &r->tokens;
	int64_t n;

	for (r->row_count = 0; t->kind != PF_LEXER_LIST_END; r->row_count++) {
		if (!pf_lexer_int(t, &n))
			return refuse(r, "has no whole number", err);
		if (r->row_count < COLUMNS)
			r->row[r->row_count] = n;
		if (spool)
			PF_TRY(pf_spool_add(spool, &n, err));
		pf_lexer_next(t);
	}
	return 0;
}

/* The same of a list whose '[' is at hand. */
static int next_list(struct timeline_reading *r, struct pf_spool *spool,
		     struct pf_err *err)
{
	pf_lexer_next(&r->tokens);
	return read_list(r, spool, err);
}

/* ---- events ---- */

/* Times are of the clock since 1970 if they are large enough. */
static void take_time(struct timeline_reading *r, int64_t time)
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

static int put_event(struct timeline_reading *r, struct pf_err *err)
{
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
			       pf_lexer_start(&r->tokens));
		return 0;
	}
	pf_argline_open(&r->args);
	for (int i = 0; i < CATEGORIES; i++)
		pf_argline_slot(&r->args, names[i],
				(enum pf_slot)(PF_SLOT_GENERIC + i),
				r->level[i] * 16);
	ev.args = pf_argline_close(&r->args, &p->args);
	ev.name = pf_dict_word(&p->names, name);
	ev.track = pf_parsed_track(p, 'c', name, "");
	pf_batch_store(&p->batch, &ev, pf_dict_word(&p->categories, "memory"),
		       r->args.mask, r->args.slots);
	return pf_ingest_sink_offer(&r->sink, err) < 0 ? -1 : 0;
}

static int settle_row(struct timeline_reading *r, struct pf_err *err)
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

static int take_change(struct timeline_reading *r, struct pf_err *err)
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

/* The end of the list of rows; they have been read. */
static int end_rows(struct timeline_reading *r, struct pf_err *err)
{
	return r->tokens.kind == PF_LEXER_LIST_END
		       ? 0
		       : refuse(r, "its list does not end", err);
}

/* Behind the first row. */
static int read_changes(struct timeline_reading *r, struct pf_err *err)
{
	while (r->tokens.kind == PF_LEXER_LIST) {
		PF_TRY(next_list(r, NULL, err));
		PF_TRY(take_change(r, err));
		pf_lexer_next(&r->tokens);
	}
	return end_rows(r, err);
}

/* ---- levels ---- */

static int take_levels(struct timeline_reading *r, uint64_t i,
		       struct pf_err *err)
{
	const int64_t *time = pf_spool_at(r->times, i, err);

	PF_TRY(!time);
	if (r->row_count != COLUMNS)
		return refuse(r, "has a row of another length", err);
	take_time(r, *time);
	memcpy(r->level, r->row + 1, sizeof(r->level));
	return settle_row(r, err);
}

/* From the '[' of the first row of levels on. */
static int read_levels(struct timeline_reading *r, struct pf_err *err)
{
	struct pf_lexer *t = &r->tokens;
	uint64_t count = pf_spool_count(r->times), i = 0;

	while (t->kind == PF_LEXER_LIST) {
		if (i == count)
			return refuse(r, "has more rows than times", err);
		PF_TRY(next_list(r, NULL, err));
		PF_TRY(take_levels(r, i++, err));
		pf_lexer_next(t);
	}
	PF_TRY(end_rows(r, err));
	if (i != count)
		return refuse(r, "has fewer rows than times", err);
	pf_lexer_next(t);
	return end_rows(r, err);
}

/* ---- all of it of a timeline ---- */

/* "[[": what follows the first list says which form it is. */
static int read_document(struct timeline_reading *r, struct pf_err *err)
{
	struct pf_lexer *t = &r->tokens;

	pf_lexer_next(t);
	pf_lexer_next(t);
	PF_TRY(next_list(r, r->times, err));
	if (pf_lexer_next(t) == PF_LEXER_LIST_END)
		return take_change(r, err);
	if (t->kind != PF_LEXER_LIST)
		return refuse(r, "has something else than lists", err);
	if (pf_lexer_next(t) != PF_LEXER_NUMBER) {
		r->is_micro = true;
		return read_levels(r, err);
	}
	PF_TRY(take_change(r, err));
	PF_TRY(read_list(r, NULL, err));
	PF_TRY(take_change(r, err));
	pf_lexer_next(t);
	return read_changes(r, err);
}

static void note_facts(struct timeline_reading *r)
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

static void note_base(struct timeline_reading *r)
{
	int64_t unit = r->is_micro ? 1000 : 1;

	if (r->has_first && r->first <= INT64_MAX / unit &&
	    r->first * unit >= INT64_C(100000000000000000))
		pf_batch_base(&r->sink.parsed.batch, r->first * unit);
}

static int read_all(struct timeline_reading *r, struct pf_err *err)
{
	PF_TRY(read_document(r, err));
	if (pf_lexer_next(&r->tokens) != PF_LEXER_END)
		pf_repair_note(&r->in->repairs, PF_REPAIR_TRAILING_BYTES, 1,
			       pf_lexer_start(&r->tokens));
	PF_TRY(err->code);
	note_facts(r);
	note_base(r);
	return pf_ingest_sink_flush(&r->sink, err) < 0 ? -1 : 0;
}

static int read_timeline(struct pf_ingest *in, struct pf_input *input,
			 const struct pf_buf *head, struct pf_err *err)
{
	struct timeline_reading r = { .in = in };
	int rc;

	pf_ingest_sink_init(&r.sink, in, input, head);
	r.tokens.read = pf_ingest_sink_read;
	r.tokens.arg = &r.sink;
	r.tokens.err = err;
	r.times = pf_spool_new(sizeof(int64_t), SPOOL_BYTES, in->directory);
	rc = read_all(&r, err);
	pf_spool_free(r.times);
	pf_argline_release(&r.args);
	pf_lexer_release(&r.tokens);
	pf_ingest_sink_release(&r.sink);
	return rc;
}

/* A list of lists: no trace begins so. */
static bool timeline_claims(const char *head, size_t len)
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
static bool has_form(struct timeline_reading *r)
{
	struct pf_lexer *t = &r->tokens;
	struct pf_err cut = { 0 };

	t->err = &cut;
	pf_lexer_next(t);
	pf_lexer_next(t);
	if (next_list(r, NULL, &cut))
		return t->kind == PF_LEXER_END;
	if (pf_lexer_next(t) == PF_LEXER_LIST_END)
		return r->row_count == 4;
	pf_lexer_next(t);
	return t->kind == PF_LEXER_NUMBER
		       ? r->row_count == 4
		       : t->kind != PF_LEXER_TEXT && t->kind != PF_LEXER_KEY;
}

static int timeline_look(struct pf_input *input, struct pf_buf *head,
			 struct pf_seen *seen, struct pf_err *err)
{
	struct pf_headed from = { .head = head };
	struct timeline_reading r = { .tokens = { .read = pf_headed_read,
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

PF_INGEST_FORMAT(45, memtimeline) = { "memtimeline", timeline_claims,
				      read_timeline, timeline_look, false };
