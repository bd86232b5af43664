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

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/sat.h"
#include "ingest/ingest_impl.h"
#include "formats/lines.h"

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
	const char *last = memrchr(p, ';', len);

	if (!first)
		return;
	r->begins += is_module(p, (size_t)(first - p));
	r->ends += is_module(last + 1, (size_t)(p + len - last - 1));
}

/* The number behind the last blank; -1: it is none, or below 0. */
static int64_t value_of(const struct pf_text_line *line, size_t *len)
{
	const char *blank = memrchr(line->text, ' ', line->len);
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
	r->sums = pf_grow(r->sums, &r->sums_cap, n + 1, sizeof(*r->sums));
	r->sums[n] = n < before ? pf_sat_add(r->sums[n], value) : value;
	return 0;
}

/* ---- rows ---- */

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
	while (r->is_turned && (semi = memrchr(p, ';', (size_t)(end - p)))) {
		node = add_node(r, node, semi + 1, (size_t)(end - semi - 1));
		end = semi;
	}
	return add_node(r, node, p, (size_t)(end - p));
}

static int put_samples(struct reading *r, struct pf_err *err)
{
	sqlite3_stmt *st = pf_db_prepare(
		r->in->db, "INSERT INTO sample VALUES(?1,?2,?3,?4,NULL)", err);
	int rc = st ? 0 : -1;

	for (uint32_t i = 0; i < r->stacks.count && !rc; i++) {
		size_t len;
		const char *text = pf_intern_text(&r->stacks, i, &len);

		sqlite3_bind_int64(st, 1, r->sample_base + i + 1);
		sqlite3_bind_int64(st, 2, r->in->trace_id);
		sqlite3_bind_int64(
			st, 3, r->chains.stack_base + add_stack(r, text, len));
		sqlite3_bind_int64(st, 4, r->sums[i]);
		rc = pf_db_put(r->in->db, st, err);
	}
	sqlite3_finalize(st);
	return rc;
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
	if (pf_ingest_stacks_begin(r->in, &r->chains, err) ||
	    pf_db_number(r->in->db, "SELECT coalesce(max(id), 0) FROM sample",
			 &r->sample_base, err) ||
	    put_samples(r, err))
		return -1;
	return pf_ingest_stacks_put(&r->chains, &r->sink.batcher,
				    &r->sink.parsed, err);
}

/* ---- all of it ---- */

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
	pf_intern_init(&r.stacks);
	pf_intern_init(&r.frames);
	pf_intern_init(&r.nodes);
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

/*
 * Text that is no JSON, has a ';' and whose first line ends with a number, or
 * is longer than what is looked at.
 */
static bool claims(const char *head, size_t len)
{
	const char *end = len ? memchr(head, '\n', len) : NULL;

	if (!len || strchr("{[,\"}]/#-0123456789 \t\r\n", head[0]) ||
	    (head[0] == '<' && (len < 9 || memcmp(head, "<built-in", 9))))
		return false;
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)head[i] < ' ' && !strchr("\t\r\n", head[i]))
			return false;
	if (end && end > head && end[-1] == '\r')
		end--;
	return memchr(head, ';', len) &&
	       (!end || (end > head && end[-1] >= '0' && end[-1] <= '9') ||
		memchr(head, ';', (size_t)(end - head)));
}

/* Folders hold texts of every kind: most of the first lines are stacks. */
static int look(struct pf_input *input, struct pf_buf *head,
		struct pf_seen *seen, struct pf_err *err)
{
	struct pf_text_line line = { 0 };
	size_t stacks = 0, lines = 0;
	int64_t n;

	pf_buf_reserve(head, head->len + LOOK_BYTES);
	n = pf_input_read(input, head->data + head->len, LOOK_BYTES, err);
	if (n < 0)
		return -1;
	head->len += (size_t)n;
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
