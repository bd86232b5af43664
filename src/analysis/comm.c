/* SPDX-License-Identifier: MIT */
/*
 * Events of a thread are stored in order of their start, an enclosing one
 * first: the events in a range follow it without a gap, so a range is a span
 * of event ids, from its own to that of the first event that starts at or
 * after its end.  Only blocks that hold a name of interest, and those that a
 * range reaches into, are read.
 *
 * ranges are in order of their id.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/comm.h"
#include "analysis/interval.h"
#include "base/mem.h"
#include "store/block_load.h"
#include "store/named.h"
#include "store/varint.h"
#include "trace/event.h"

#define NO_RANGE  SIZE_MAX
#define MAX_DEPTH 64 /* of ranges in ranges */

struct name {
	uint32_t id;
	enum pf_comm_rule rule;
};

struct range {
	int64_t id, end_id; /* [id, end_id) */
	int64_t end_ns;
	size_t parent; /* the one open when it began */
	size_t below;  /* the next one that is open, while it is */
	uint32_t args, name;
	enum pf_comm_rule rule;
};

struct pf_comm {
	struct pf_db *db;
	struct name *names; /* by id */
	size_t name_count, name_cap;
	struct range *ranges;
	size_t count, cap;
	size_t open; /* the last one that is open, or NO_RANGE */
	unsigned depth;
	sqlite3_stmt *work;
	int64_t work_trace_id, work_event_id, work_launch_id;
	bool has_work;
};

const char *pf_comm_rule_words(enum pf_comm_rule rule)
{
	static const char *const words[PF_COMM_RULES] = {
		[PF_COMM_NONE] = "",
		[PF_COMM_NAME] = "name of the kernel",
		[PF_COMM_RECORD] = "launched in record_param_comms",
		[PF_COMM_C10D] = "launched in c10d::",
		[PF_COMM_NCCL] = "launched in nccl:",
		[PF_COMM_GLOO] = "launched in gloo:",
	};

	return words[rule];
}

/* ---- names ---- */

static int load_names(struct pf_comm *c, struct pf_err *err)
{
	sqlite3_stmt *stmt = pf_named_prepare(c->db, "comm_names", err);
	int rc;

	if (!stmt)
		return -1;
	while ((rc = pf_db_step(c->db, stmt, err)) == 1) {
		c->names = pf_grow(c->names, &c->name_cap, c->name_count + 1,
				   sizeof(*c->names));
		c->names[c->name_count++] = (struct name){
			(uint32_t)sqlite3_column_int64(stmt, 0),
			(enum pf_comm_rule)sqlite3_column_int(stmt, 1),
		};
	}
	sqlite3_finalize(stmt);
	return rc;
}

static enum pf_comm_rule find_rule(const struct pf_comm *c, uint32_t name)
{
	size_t low = 0, high = c->name_count;

	if (name < c->names[0].id || name > c->names[high - 1].id)
		return PF_COMM_NONE;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (c->names[middle].id < name)
			low = middle + 1;
		else
			high = middle;
	}
	return low < c->name_count && c->names[low].id == name
		       ? c->names[low].rule
		       : PF_COMM_NONE;
}

/* Is a name of interest among those of a block (varints of differences)? */
static bool has_name(const struct pf_comm *c, const unsigned char *p, int len)
{
	unsigned char tail[2 * PF_VARINT_MAX] = { 0 };
	const unsigned char *end = p + len;
	uint64_t name = 0, step;

	while (p && p < end) {
		const unsigned char *at = p;

		if (end - p < PF_VARINT_MAX) {
			memcpy(tail, p, (size_t)(end - p));
			at = pf_varint_get(tail, &step);
			at = at ? p + (at - tail) : NULL;
		} else {
			at = pf_varint_get(p, &step);
		}
		if (!at)
			return true; /* damaged: read it and see */
		p = at;
		name += step;
		if (name <= UINT32_MAX && find_rule(c, (uint32_t)name))
			return true;
	}
	return false;
}

/* ---- ranges ---- */

/* Ranges that end at or before a time end before the event of this id. */
static void close_ranges(struct pf_comm *c, int64_t start_ns, int64_t id)
{
	size_t *link = &c->open;

	while (*link != NO_RANGE) {
		struct range *r = &c->ranges[*link];

		if (r->end_ns > start_ns) {
			link = &r->below;
			continue;
		}
		r->end_id = id;
		*link = r->below;
		c->depth--;
	}
}

static void open_range(struct pf_comm *c, const struct pf_block *b, uint32_t i,
		       int64_t id, enum pf_comm_rule rule)
{
	if (c->depth == MAX_DEPTH)
		return; /* those around it stand for it */
	c->ranges =
		pf_grow(c->ranges, &c->cap, c->count + 1, sizeof(*c->ranges));
	c->ranges[c->count] = (struct range){
		.id = id,
		.end_id = INT64_MAX,
		.end_ns = pf_span_end(b->start_ns[i], b->dur_ns[i]),
		.parent = c->open,
		.below = c->open,
		.args = b->args[i] < PF_ID_INLINE ? b->args[i] : PF_ID_NONE,
		.name = b->name[i],
		.rule = rule,
	};
	c->open = c->count++;
	c->depth++;
}

static void scan_block(struct pf_comm *c, const struct pf_block *b,
		       int64_t first_id)
{
	for (uint32_t i = 0; i < b->count; i++) {
		enum pf_comm_rule rule = find_rule(c, b->name[i]);

		if (c->open != NO_RANGE)
			close_ranges(c, b->start_ns[i], first_id + i);
		if (rule)
			open_range(c, b, i, first_id + i, rule);
	}
}

static bool is_asked(const struct pf_window *window, int64_t trace_id)
{
	for (size_t i = 0; i < window->count; i++)
		if (window->traces[i].trace_id == trace_id)
			return true;
	return false;
}

static int read_block(struct pf_comm *c, sqlite3_stmt *data, int64_t id,
		      int64_t count, struct pf_block *b, struct pf_err *err)
{
	static const uint64_t columns =
		PF_COLBIT(PF_COL_START) | PF_COLBIT(PF_COL_DUR) |
		PF_COLBIT(PF_COL_NAME) | PF_COLBIT(PF_COL_ARGS);

	if (count < 1 || count > PF_BLOCK_EVENTS)
		return pf_fail(err, PF_EDB, "block %lld is damaged",
			       (long long)id);
	if (pf_block_load(c->db, data, id, (uint32_t)count, columns, b, err))
		return -1;
	scan_block(c, b,
		   (int64_t)((uint64_t)id >> 18 << 32 |
			     ((uint64_t)id & 0x3ffff) << PF_BLOCK_SHIFT));
	return 0;
}

static int read_blocks(struct pf_comm *c, const struct pf_window *window,
		       struct pf_err *err)
{
	sqlite3_stmt *list = pf_named_prepare(c->db, "comm_blocks", err);
	sqlite3_stmt *data = list ? pf_block_statement(c->db, err) : NULL;
	int64_t track = -1;
	struct pf_block b;
	int rc = data ? 0 : -1;

	pf_block_init(&b);
	while (!rc && (rc = pf_db_step(c->db, list, err)) == 1) {
		int64_t id = sqlite3_column_int64(list, 0);

		rc = 0;
		if (!is_asked(window, sqlite3_column_int64(list, 1)))
			continue;
		if (id >> 18 != track) {
			track = id >> 18;
			close_ranges(c, INT64_MAX, track << 32);
		}
		if (c->open == NO_RANGE &&
		    !has_name(c, sqlite3_column_blob(list, 3),
			      sqlite3_column_bytes(list, 3)))
			continue;
		rc = read_block(c, data, id, sqlite3_column_int64(list, 2), &b,
				err);
	}
	close_ranges(c, INT64_MAX, (track + 1) << 32);
	pf_block_release(&b);
	sqlite3_finalize(list);
	sqlite3_finalize(data);
	return rc;
}

/* ---- work ---- */

static int next_work(struct pf_comm *c, struct pf_err *err)
{
	int rc = pf_db_step(c->db, c->work, err);

	c->has_work = rc == 1;
	if (rc == 1) {
		c->work_trace_id = sqlite3_column_int64(c->work, 0);
		c->work_event_id = sqlite3_column_int64(c->work, 1);
		c->work_launch_id = sqlite3_column_int64(c->work, 2);
	}
	return rc < 0 ? -1 : 0;
}

/* All ranges around an event, from the inside out. */
static void find_op(const struct pf_comm *c, int64_t id, struct pf_comm_op *out)
{
	enum pf_comm_rule named = PF_COMM_RECORD;
	size_t low = 0, high = c->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (c->ranges[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = low ? low - 1 : NO_RANGE; i != NO_RANGE;
	     i = c->ranges[i].parent) {
		const struct range *r = &c->ranges[i];

		if (id >= r->end_id)
			continue;
		if (!out->rule || r->rule < out->rule)
			out->rule = r->rule;
		if (r->rule > named) {
			named = r->rule == PF_COMM_C10D ? r->rule
							: PF_COMM_RULES;
			out->name = r->name;
		}
		if (r->rule == PF_COMM_RECORD && !out->record_id) {
			out->record_id = r->id;
			out->record_args = r->args;
		}
	}
}

int pf_comm_at(struct pf_comm *c, int64_t trace_id, int64_t event_id,
	       struct pf_comm_op *out, struct pf_err *err)
{
	*out = (struct pf_comm_op){ .record_args = PF_ID_NONE,
				    .name = PF_ID_NONE };
	while (c->has_work && c->work_trace_id < trace_id)
		if (next_work(c, err) < 0)
			return -1;
	if (!c->has_work || c->work_event_id != event_id)
		return 0;
	find_op(c, c->work_launch_id, out);
	return next_work(c, err);
}

bool pf_comm_any(const struct pf_comm *c)
{
	return c->count > 0;
}

static int set_up(struct pf_comm *c, const struct pf_window *window,
		  struct pf_err *err)
{
	if (load_names(c, err) < 0)
		return -1;
	if (c->name_count && read_blocks(c, window, err) < 0)
		return -1;
	if (!c->count)
		return 0;
	c->work = pf_named_prepare(c->db, "comm_work", err);
	if (!c->work)
		return -1;
	sqlite3_bind_int64(c->work, 1, c->ranges[0].id);
	sqlite3_bind_int64(c->work, 2,
			   c->ranges[c->count - 1].id | (int64_t)UINT32_MAX);
	return next_work(c, err);
}

struct pf_comm *pf_comm_new(struct pf_db *db, const struct pf_window *window,
			    struct pf_err *err)
{
	struct pf_comm *c = pf_calloc(1, sizeof(*c));

	c->db = db;
	c->open = NO_RANGE;
	if (!set_up(c, window, err))
		return c;
	pf_comm_free(c);
	return NULL;
}

void pf_comm_free(struct pf_comm *c)
{
	if (!c)
		return;
	sqlite3_finalize(c->work);
	free(c->names);
	free(c->ranges);
	free(c);
}
