/* SPDX-License-Identifier: MIT */
/*
 * What RAVE's training script writes beside its traces: a row for each batch
 * that it timed or whose memory it looked at, and a summary.  A row that has
 * no step is skipped and counted; numbers that are none (NaN) are NULL.
 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ingest/ingest_impl.h"
#include "formats/json/lexer.h"

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
static const char *const keys[MEMBERS] = {
	[STEP] = "step",
	[BATCH_IDX] = "batch_idx",
	[SECONDS] = "total_batch_time",
	[RATE] = "samples_per_second",
	[CPU_PERCENT] = "cpu_memory_percent",
	[ALLOCATED_GIB] = "gpu_memory_allocated_gb",
	[RESERVED_GIB] = "gpu_memory_reserved_gb",
};

struct reading {
	struct pf_ingest *in;
	struct pf_lexer tokens;
	sqlite3_stmt *timing, *memory, *fact;
	int64_t ordinal, fact_count;
};

struct row {
	double real[MEMBERS]; /* not a number: not there */
	int64_t whole[MEMBERS];
	bool is_whole[MEMBERS];
};

/* ---- rows ---- */

static int read_member(struct reading *r, struct row *row, struct pf_err *err)
{
	struct pf_lexer *t = &r->tokens;
	int which = 0;

	while (which < MEMBERS && strcmp(t->text, keys[which]) != 0)
		which++;
	if (pf_lexer_want(t, PF_LEXER_COLON, err) || pf_lexer_next(t, err))
		return -1;
	if (which < MEMBERS) {
		if (!pf_lexer_real(t, &row->real[which]))
			row->real[which] = NAN;
		row->is_whole[which] = pf_lexer_int(t, &row->whole[which]);
	}
	return pf_lexer_skip(t, err);
}

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

static int put_row(struct reading *r, const struct row *row, struct pf_err *err)
{
	bool is_timing = isnan(row->real[CPU_PERCENT]) &&
			 isnan(row->real[ALLOCATED_GIB]) &&
			 isnan(row->real[RESERVED_GIB]);
	sqlite3_stmt *st = is_timing ? r->timing : r->memory;

	sqlite3_bind_int64(st, 1, r->in->trace_id);
	sqlite3_bind_int64(st, 2, ++r->ordinal);
	sqlite3_bind_int64(st, 3, row->whole[STEP]);
	if (row->is_whole[BATCH_IDX])
		sqlite3_bind_int64(st, 4, row->whole[BATCH_IDX]);
	if (is_timing) {
		bind_scaled(st, 5, row->real[SECONDS], 1e9);
		bind_real(st, 6, row->real[RATE]);
	} else {
		bind_real(st, 5, row->real[CPU_PERCENT]);
		bind_scaled(st, 6, row->real[ALLOCATED_GIB], GIB);
		bind_scaled(st, 7, row->real[RESERVED_GIB], GIB);
	}
	return pf_db_put(r->in->db, st, err);
}

/* Behind '{' or a comma of an object: its members. */
static int read_row(struct reading *r, struct row *row, struct pf_err *err)
{
	struct pf_lexer *t = &r->tokens;

	for (int i = 0; i < MEMBERS; i++) {
		row->real[i] = NAN;
		row->is_whole[i] = false;
	}
	if (pf_lexer_next(t, err))
		return -1;
	while (t->kind == PF_LEXER_STRING) {
		if (read_member(r, row, err) || pf_lexer_next(t, err))
			return -1;
		if (t->kind == PF_LEXER_COMMA && pf_lexer_next(t, err))
			return -1;
	}
	if (t->kind != PF_LEXER_FINISH)
		return pf_fail(err, PF_EDATA,
			       "has a row that does not end, at byte %lld",
			       (long long)t->offset);
	return 0;
}

static int read_rows(struct reading *r, struct pf_err *err)
{
	struct pf_ingest *in = r->in;
	struct pf_lexer *t = &r->tokens;
	struct row row;

	for (;;) {
		int64_t offset;

		if (pf_lexer_next(t, err))
			return -1;
		if (t->kind == PF_LEXER_CLOSE)
			return 0;
		if (t->kind == PF_LEXER_COMMA)
			continue;
		if (t->kind != PF_LEXER_BEGIN)
			return pf_fail(err, PF_EDATA,
				       "has something else than a row at byte "
				       "%lld",
				       (long long)t->offset);
		offset = t->offset;
		if (read_row(r, &row, err))
			return -1;
		in->event_count++;
		if (!row.is_whole[STEP])
			pf_repair_note(&in->repairs, PF_SKIP_MALFORMED, 1,
				       offset);
		else if (put_row(r, &row, err))
			return -1;
		else
			in->metadata_count++;
	}
}

/* ---- the summary ---- */

static int put_fact(struct reading *r, const char *key, struct pf_err *err)
{
	double value;

	r->in->event_count++;
	if (!pf_lexer_real(&r->tokens, &value) ||
	    r->fact_count++ == FACTS_MAX) {
		pf_repair_note(&r->in->repairs, PF_SKIP_MALFORMED, 1,
			       r->tokens.offset);
		return 0;
	}
	r->in->metadata_count++;
	sqlite3_bind_int64(r->fact, 1, r->in->trace_id);
	sqlite3_bind_text(r->fact, 2, key, -1, SQLITE_TRANSIENT);
	sqlite3_bind_double(r->fact, 3, value);
	return pf_db_put(r->in->db, r->fact, err);
}

static int read_summary(struct reading *r, struct pf_err *err)
{
	struct pf_lexer *t = &r->tokens;
	char key[PF_LEXER_MAX + 1];

	if (pf_lexer_next(t, err))
		return -1;
	while (t->kind == PF_LEXER_STRING) {
		snprintf(key, sizeof(key), "%.*s", PF_LEXER_MAX, t->text);
		if (pf_lexer_want(t, PF_LEXER_COLON, err) ||
		    pf_lexer_next(t, err) || put_fact(r, key, err) ||
		    pf_lexer_skip(t, err) || pf_lexer_next(t, err))
			return -1;
		if (t->kind == PF_LEXER_COMMA && pf_lexer_next(t, err))
			return -1;
	}
	return t->kind == PF_LEXER_FINISH
		       ? 0
		       : pf_fail(err, PF_EDATA,
				 "is a summary that does not end, at byte %lld",
				 (long long)t->offset);
}

/* ---- all of it ---- */

static int read_document(struct reading *r, struct pf_err *err)
{
	struct pf_lexer *t = &r->tokens;

	if (pf_lexer_next(t, err))
		return -1;
	if (t->kind == PF_LEXER_OPEN ? read_rows(r, err) : read_summary(r, err))
		return -1;
	if (pf_lexer_next(t, err))
		return -1;
	if (t->kind != PF_LEXER_END)
		pf_repair_note(&r->in->repairs, PF_REPAIR_TRAILING_BYTES, 1,
			       t->offset);
	return 0;
}

static int read_rave(struct pf_ingest *in, struct pf_input *input,
		     const struct pf_buf *head, struct pf_err *err)
{
	struct pf_ingest_sink s;
	struct reading r = { .in = in };
	int rc = -1;

	pf_ingest_sink_init(&s, in, input, head);
	r.tokens.read = pf_ingest_sink_read;
	r.tokens.arg = &s;
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
		rc = read_document(&r, err);
	sqlite3_finalize(r.timing);
	sqlite3_finalize(r.memory);
	sqlite3_finalize(r.fact);
	pf_lexer_release(&r.tokens);
	pf_ingest_sink_release(&s);
	return rc;
}

/* "[ {"step": 1, "batch_idx": ...", "{ "total_training_time_seconds"". */
static bool claims(const char *head, size_t len)
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

PF_INGEST_FORMAT(40, rave) = { "rave", claims, read_rave, NULL, true };
