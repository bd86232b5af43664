/* SPDX-License-Identifier: MIT */
/* Batches, made in one thread, become runs in the order of the file. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "formats/json/chrome.h"
#include "formats/planes.h"
#include "formats/refusal.h"
#include "ingest/impl.h"
#include "store/argtext.h"

#define BATCH_EVENTS   32768u
#define FRAMES_AT_ONCE 4096u

/* ---- batches ---- */

void pf_ingest_batcher_init(struct pf_ingest_batcher *b, struct pf_ingest *in)
{
	*b = (struct pf_ingest_batcher){ .in = in };
	b->sorter = pf_ingest_sorter_new();
	pthread_mutex_init(&b->lock, NULL);
}

void pf_ingest_batcher_release(struct pf_ingest_batcher *b)
{
	pthread_mutex_destroy(&b->lock);
	pf_ingest_sorter_free(b->sorter);
	free(b->type_ids);
}

/* Its texts get their ids. */
static int ingest_batcher_settle(struct pf_ingest_batcher *b,
				 struct pf_parsed *p, struct pf_err *err)
{
	return pf_ingest_settle(b->in, p, &b->type_ids, &b->type_ids_cap, err);
}

int pf_ingest_batcher_put(struct pf_ingest_batcher *b, struct pf_parsed *p,
			  struct pf_err *err)
{
	int64_t first_order = b->in->event_count;

	pf_ingest_count(b->in, &p->batch);
	PF_TRY(ingest_batcher_settle(b, p, err));
	return pf_ingest_write_runs(b->in, b->sorter, p, b->type_ids,
				    first_order, &b->lock, err);
}

/* ---- stacks ---- */

int pf_ingest_stacks_begin(struct pf_ingest *in, struct pf_ingest_stacks *s,
			   struct pf_err *err)
{
	return pf_db_number(in->db, "SELECT coalesce(max(id), 0) FROM stack",
			    &s->stack_base, err) ||
			       pf_db_number(in->db,
					    "SELECT coalesce(max(id), 0)"
					    " FROM stack_frame",
					    &s->frame_base, err)
		       ? -1
		       : 0;
}

/* Frames [from, to), whose texts get their ids together. */
static int put_frames(const struct pf_ingest_stacks *s,
		      struct pf_ingest_batcher *b, struct pf_parsed *p,
		      sqlite3_stmt *st, uint32_t from, uint32_t to,
		      struct pf_err *err)
{
	uint32_t entries[FRAMES_AT_ONCE][2];
	struct pf_ingest_frame f;

	for (uint32_t i = from; i < to; i++) {
		s->frame(s->arg, i, &f);
		entries[i - from][0] =
			pf_dict_find(&p->names, f.file, f.file_len, 0);
		entries[i - from][1] =
			pf_dict_find(&p->names, f.name, f.name_len, 0);
	}
	PF_TRY(ingest_batcher_settle(b, p, err));
	for (uint32_t i = from; i < to; i++) {
		const struct pf_dict_entry *names = p->names.entries;

		s->frame(s->arg, i, &f);
		sqlite3_bind_int64(st, 1, s->frame_base + i + 1);
		sqlite3_bind_int64(st, 2, names[entries[i - from][0]].gid);
		if (f.line >= 0)
			sqlite3_bind_int64(st, 3, f.line);
		sqlite3_bind_int64(st, 4, names[entries[i - from][1]].gid);
		PF_TRY(pf_db_put(b->in->db, st, err));
	}
	pf_parsed_begin(p);
	return 0;
}

static int put_all_frames(const struct pf_ingest_stacks *s,
			  struct pf_ingest_batcher *b, struct pf_parsed *p,
			  struct pf_err *err)
{
	sqlite3_stmt *st = pf_db_prepare(
		b->in->db, "INSERT INTO stack_frame VALUES(?1,?2,?3,?4)", err);
	uint32_t count = s->frames->count;
	int rc = st ? 0 : -1;

	for (uint32_t i = 0; i < count && !rc; i += FRAMES_AT_ONCE)
		rc = put_frames(s, b, p, st, i,
				count - i < FRAMES_AT_ONCE ? count
							   : i + FRAMES_AT_ONCE,
				err);
	sqlite3_finalize(st);
	return rc;
}

int pf_ingest_stacks_put(const struct pf_ingest_stacks *s,
			 struct pf_ingest_batcher *b, struct pf_parsed *p,
			 struct pf_err *err)
{
	sqlite3_stmt *st;
	int rc;

	PF_TRY(put_all_frames(s, b, p, err));
	st = pf_db_prepare(b->in->db, "INSERT INTO stack VALUES(?1,?2,?3)",
			   err);
	rc = st ? 0 : -1;
	for (uint32_t i = 0; i < s->stacks->count && !rc; i++) {
		struct pf_snap_stack stack;
		size_t len;

		memcpy(&stack, pf_intern_text(s->stacks, i, &len),
		       sizeof(stack));
		sqlite3_bind_int64(st, 1, s->stack_base + i + 1);
		if (stack.parent)
			sqlite3_bind_int64(st, 2, s->stack_base + stack.parent);
		sqlite3_bind_int64(st, 3, s->frame_base + stack.frame + 1);
		rc = pf_db_put(b->in->db, st, err);
	}
	sqlite3_finalize(st);
	return rc;
}

size_t pf_ingest_batch_events(const struct pf_ingest *in)
{
	size_t most = in->options->chunk_bytes;

	return !most || most > BATCH_EVENTS ? BATCH_EVENTS : most;
}

/* ---- readers ---- */

static int read_all(struct pf_ingest_batcher *b, struct pf_reader *reader,
		    struct pf_err *err)
{
	struct pf_ingest *in = b->in;
	int rc;

	do {
		rc = reader->fill(reader, pf_ingest_batch_events(in), err);
		if (rc >= 0 && pf_ingest_batcher_put(b, reader->parsed, err))
			rc = -1;
		if (in->options->progress)
			in->options->progress(in->bytes_before,
					      in->events_before +
						      in->event_count);
	} while (rc == 1);
	return rc;
}

static void note_facts(struct pf_ingest *in, struct pf_reader *reader)
{
	char key[128];
	int64_t value;

	if (!reader->fact)
		return;
	for (size_t i = 0; reader->fact(reader, i, key, sizeof(key), &value);
	     i++)
		pf_ingest_note_fact(in, key, value);
}

int pf_ingest_drain(struct pf_ingest *in, struct pf_reader *reader,
		    struct pf_err *err)
{
	struct pf_ingest_batcher batcher;
	int rc;

	pf_ingest_batcher_init(&batcher, in);
	rc = read_all(&batcher, reader, err);
	if (!rc)
		note_facts(in, reader);
	pf_ingest_batcher_release(&batcher);
	in->found_list = true;
	return rc;
}

/* Which format a file has, and what the readers of all of them share. */

#define PF_ENTRY(name) extern const struct pf_ingest_format pf_ingest_##name;
#include "ingest/formats.inc"
#undef PF_ENTRY
#define PF_ENTRY(name) &pf_ingest_##name,
static const struct pf_ingest_format *const formats[] = {
#include "ingest/formats.inc"
};

/* Whose the first bytes are; never NULL. */
static const struct pf_ingest_format *ingest_find_format(const char *head,
							 size_t len)
{
	size_t i = 0;

	while (!formats[i]->claims(head, len))
		i++;
	return formats[i];
}

void pf_ingest_count(struct pf_ingest *in, const struct pf_batch *b)
{
	in->event_count += b->event_count;
	in->paired_count += b->paired_count;
	in->no_phase_count += b->no_phase_count;
	in->metadata_count += b->metadata_count;
	pf_repairs_add(&in->repairs, &b->repairs);
	if (b->ts_fraction_digits > in->ts_fraction_digits)
		in->ts_fraction_digits = b->ts_fraction_digits;
	in->facts |= b->facts;
	in->link_equal += b->link_equal;
	in->link_differ += b->link_differ;
	in->link_absent += b->link_absent;
	in->ext_lower += b->ext_lower;
	for (int k = 0; k < PF_KIND_COUNT; k++)
		in->kind_count[k] += b->kind_count[k];
}

void pf_ingest_note_fact(struct pf_ingest *in, const char *key, int64_t value)
{
	in->extra_facts =
		pf_grow(in->extra_facts, &in->extra_facts_cap,
			in->extra_fact_count + 1, sizeof(*in->extra_facts));
	in->extra_facts[in->extra_fact_count].key = pf_strdup(key);
	in->extra_facts[in->extra_fact_count++].value = value;
}

int pf_ingest_add_part(struct pf_ingest *in, struct pf_input *part,
		       struct pf_err *err)
{
	char digest[PF_XXH128_TEXT];

	PF_TRY(pf_input_finish(part, err));
	pf_input_digest(part, digest);
	pf_buf_adds(&in->part_digests, digest);
	in->part_bytes += pf_input_size(part);
	in->parts_read++;
	if (pf_input_damaged(part))
		pf_repair_note(&in->repairs, PF_REPAIR_COMPRESSION, 1,
			       in->json_bytes);
	return 0;
}

/* The digest of several files is that of their digests. */
static int add_parts(struct pf_ingest *in, struct pf_err *err)
{
	struct pf_xxh128 *all;

	if (in->parts_read != in->part_count)
		return pf_fail(err, PF_EDATA,
			       "is no CSV of rocprofv3, as its name and '%s' "
			       "beside it say",
			       in->parts[in->parts_read]);
	if (!in->part_count)
		return 0;
	all = pf_xxh128_new();
	pf_xxh128_add(all, in->digest, strlen(in->digest));
	pf_xxh128_add(all, in->part_digests.data, in->part_digests.len);
	pf_xxh128_text(all, in->digest);
	pf_xxh128_free(all);
	in->file_bytes += in->part_bytes;
	return 0;
}

int pf_ingest_read(struct pf_ingest *in, struct pf_err *err)
{
	struct pf_input *input = pf_input_open(in->path, err);
	const struct pf_ingest_format *format;
	struct pf_buf head = { 0 };
	int64_t n;
	int rc = -1;

	if (!input) {
		in->file_bytes = -1;
		return -1;
	}
	pf_buf_reserve(&head, PF_INGEST_HEAD_BYTES);
	n = pf_input_read(input, head.data, PF_INGEST_HEAD_BYTES, err);
	if (n >= 0) {
		head.len = (size_t)n;
		format = ingest_find_format(head.data, head.len);
		in->format_name = format->name;
		rc = 0;
		if (format->writes) {
			pf_lane_wait(in->lane);
			rc = pf_ingest_mark_stacks(in, err);
		}
		if (!rc)
			rc = format->read(in, input, &head, err);
	}
	if (!rc)
		rc = pf_input_finish(input, err);
	pf_input_digest(input, in->digest);
	in->file_bytes = pf_input_size(input);
	in->compression = pf_input_compression(input);
	if (pf_input_damaged(input))
		pf_repair_note(&in->repairs, PF_REPAIR_COMPRESSION, 1,
			       in->json_bytes);
	if (!rc)
		rc = add_parts(in, err);
	pf_buf_release(&in->part_digests);
	pf_buf_release(&head);
	pf_input_close(input);
	return rc;
}

/* ---- byte by byte, in one thread ---- */

void pf_ingest_sink_init(struct pf_ingest_sink *s, struct pf_ingest *in,
			 struct pf_input *input, const struct pf_buf *head)
{
	*s = (struct pf_ingest_sink){ .in = in, .from = { input, head, 0 } };
	s->most = pf_ingest_batch_events(in);
	pf_parsed_init(&s->parsed);
	pf_ingest_batcher_init(&s->batcher, in);
	in->found_list = true;
}

void pf_ingest_sink_release(struct pf_ingest_sink *s)
{
	pf_ingest_batcher_release(&s->batcher);
	pf_parsed_release(&s->parsed);
}

int64_t pf_ingest_sink_read(void *sink, void *buf, size_t len,
			    struct pf_err *err)
{
	struct pf_ingest_sink *s = sink;
	struct pf_ingest *in = s->in;
	int64_t n = pf_headed_read(&s->from, buf, len, err);

	if (n < 0)
		return -1;
	in->json_bytes += n;
	if (in->options->progress)
		in->options->progress(in->bytes_before +
					      pf_input_consumed(s->from.input),
				      in->events_before + in->event_count);
	return n;
}

int pf_ingest_sink_flush(struct pf_ingest_sink *s, struct pf_err *err)
{
	PF_TRY(pf_ingest_batcher_put(&s->batcher, &s->parsed, err));
	return pf_parsed_begin(&s->parsed);
}

int pf_ingest_sink_offer(struct pf_ingest_sink *s, struct pf_err *err)
{
	return s->parsed.batch.count < s->most ? 0
					       : pf_ingest_sink_flush(s, err);
}

/*
 * Is a file a trace, and what does its beginning say of it?  JSON is read up to
 * its first event, to its end if it has none.
 */

/* Most say in the first piece what they are; the rest is read by larger ones. */
#define PIECE_LEAST (8u << 10)
#define PIECE_MOST  (256u << 10)

bool pf_ingest_has_events(int64_t event_count, int64_t no_phase_count,
			  const struct pf_repairs *repairs)
{
	int64_t other =
		no_phase_count + repairs->of[PF_SKIP_NOT_AN_EVENT].count;

	return !other || other + repairs->of[PF_SKIP_EMPTY].count < event_count;
}

struct probe {
	struct pf_chrome chrome;
	struct pf_doc_state state;
	struct pf_buf text; /* what is not understood yet */
	struct pf_repairs repairs;
	int64_t offset, event_count, no_phase_count;
};

static int parse_piece(struct probe *p, bool final, struct pf_err *err)
{
	const struct pf_batch *b = &p->chrome.out.batch;
	size_t used = 0;

	pf_buf_reserve(&p->text, p->text.len + PF_SCAN_PAD);
	memset(p->text.data + p->text.len, 0, PF_SCAN_PAD);
	pf_parsed_begin(&p->chrome.out);
	PF_TRY(pf_chrome_parse(&p->chrome, &p->state, p->text.data, p->text.len,
			       p->offset, final, &used, err));
	p->event_count += b->event_count;
	p->no_phase_count += b->no_phase_count;
	pf_repairs_add(&p->repairs, &b->repairs);
	memmove(p->text.data, p->text.data + used, p->text.len - used);
	p->text.len -= used;
	p->offset += (int64_t)used;
	return 0;
}

/* ---- what it says of its rank ---- */

static int64_t number_of(const struct pf_arg *a)
{
	char text[24];
	int64_t n;

	if (a->value_len >= sizeof(text))
		return -1;
	memcpy(text, a->value, a->value_len);
	text[a->value_len] = '\0';
	return pf_num_int(text, &n) || n < 0 ? -1 : n;
}

static bool is_key(const struct pf_arg *a, const char *key)
{
	return a->key_len == strlen(key) && !memcmp(a->key, key, a->key_len);
}

static void read_distributed(const char *text, size_t len, struct pf_seen *seen)
{
	struct pf_argtext it = { .text = text, .len = len };
	struct pf_arg a;

	while (pf_argtext_next(&it, &a)) {
		if (is_key(&a, "rank"))
			seen->rank = number_of(&a);
		else if (is_key(&a, "world_size"))
			seen->world_size = number_of(&a);
	}
}

/* Members of the top object that came before the first event. */
static void read_members(const struct pf_buf *members, struct pf_seen *seen)
{
	static const char key[] = "distributedInfo";
	size_t at = 0;

	while (at < members->len) {
		const char *p = members->data + at;
		uint32_t lens[2];

		memcpy(lens, p, sizeof(lens));
		p += sizeof(lens);
		if (lens[0] == sizeof(key) - 1 && !memcmp(p, key, lens[0]))
			read_distributed(p + lens[0], lens[1], seen);
		at += sizeof(lens) + lens[0] + lens[1];
	}
}

/* ---- what it says of its processes ---- */

static bool is_text(const struct pf_arg *a, const char *text)
{
	return a->value_len == strlen(text) + 2 && *a->value == '"' &&
	       !memcmp(a->value + 1, text, a->value_len - 2);
}

/* {"name":"process_name","args":{"name":"/host:CPU"}} */
static bool names_plane(const char *json, size_t len)
{
	struct pf_argtext it = { .text = json, .len = len };
	struct pf_arg a, args = { 0 };
	bool is_name = false;

	while (pf_argtext_next(&it, &a)) {
		is_name |= is_key(&a, "name") && is_text(&a, "process_name");
		if (is_key(&a, "args"))
			args = a;
	}
	it = (struct pf_argtext){ .text = args.value, .len = args.value_len };
	while (is_name && args.value && pf_argtext_next(&it, &a))
		if (is_key(&a, "name") && a.value_len > 2 &&
		    pf_is_plane(a.value + 1, a.value_len - 2))
			return true;
	return false;
}

/* Metadata events that came before the first other event. */
static void read_processes(const struct pf_buf *metadata, struct pf_seen *seen)
{
	size_t at = 0;

	while (at < metadata->len) {
		uint32_t head[2]; /* order, length */

		memcpy(head, metadata->data + at, sizeof(head));
		at += sizeof(head);
		if (names_plane(metadata->data + at, head[1]))
			seen->format = PF_INGEST_PLANES_NAME;
		at += head[1];
	}
}

/* ---- JSON ---- */

static void say(struct pf_seen *seen, const char *why)
{
	snprintf(seen->why, sizeof(seen->why), "%s", why);
}

static bool has_events(const struct probe *p)
{
	return pf_ingest_has_events(p->event_count, p->no_phase_count,
				    &p->repairs);
}

static void say_broken(struct pf_seen *seen, const char *why)
{
	say(seen, why);
	seen->is_broken = true;
}

static int say_none(const struct probe *p, struct pf_seen *seen)
{
	if (!p->state.found_list)
		say(seen, "is JSON without a list of trace events");
	else if (p->event_count)
		say(seen, "is a list of other things than trace events");
	else if (p->repairs.of[PF_REPAIR_CUT_OFF].count)
		say_broken(seen, "has no complete event");
	else
		return 1;
	return 0;
}

static int probe_json(struct probe *p, struct pf_input *input,
		      struct pf_seen *seen, struct pf_err *err)
{
	struct pf_err parse = { 0 };

	for (size_t piece = PIECE_LEAST;; piece = PIECE_MOST) {
		int64_t n;

		pf_buf_reserve(&p->text, p->text.len + piece);
		n = pf_input_read(input, p->text.data + p->text.len, piece,
				  err);
		if (n < 0)
			return -1;
		p->text.len += (size_t)n;
		if (parse_piece(p, n < (int64_t)piece, &parse) ||
		    p->text.len > PF_INGEST_CARRY_MAX) {
			say_broken(seen,
				   parse.code ? parse.text : "is no trace");
			return 0;
		}
		read_members(&p->chrome.out.batch.members, seen);
		read_processes(&p->chrome.out.batch.metadata, seen);
		if (p->event_count && has_events(p))
			return 1;
		if (n < (int64_t)piece)
			return say_none(p, seen);
	}
}

int pf_ingest_look_json(struct pf_input *input, struct pf_buf *head,
			struct pf_seen *seen, struct pf_err *err)
{
	struct probe p = { 0 };
	int rc;

	pf_chrome_init(&p.chrome, PF_SCANNER_BEST);
	pf_buf_add(&p.text, head->data, head->len);
	rc = probe_json(&p, input, seen, err);
	pf_chrome_release(&p.chrome);
	pf_buf_release(&p.text);
	return rc;
}

/* ---- any file ---- */

static int look(struct pf_input *input, const char *path, struct pf_seen *seen,
		struct pf_err *err)
{
	const struct pf_ingest_format *format;
	struct pf_buf head = { 0 };
	int64_t n;
	int rc;

	pf_buf_reserve(&head, PF_INGEST_HEAD_BYTES);
	n = pf_input_read(input, head.data, PF_INGEST_HEAD_BYTES, err);
	if (n > 0) {
		head.len = (size_t)n;
		format = ingest_find_format(head.data, head.len);
		rc = format->look ? format->look(input, &head, seen, err) : 1;
		if (rc != 1)
			seen->format = NULL;
		else if (!seen->format)
			seen->format = format->name;
	} else {
		say_broken(seen, pf_refusal_of_empty(path));
		rc = (int)n;
	}
	pf_buf_release(&head);
	return rc;
}

int pf_ingest_probe(const char *path, struct pf_seen *seen, struct pf_err *err)
{
	struct pf_input *input = pf_input_open(path, err);
	struct pf_err failed = { 0 };
	struct pf_seen unasked;
	int rc;

	if (!seen)
		seen = &unasked;
	*seen = (struct pf_seen){ .rank = -1,
				  .world_size = -1,
				  .file_bytes = -1 };
	if (!input)
		return -1;
	seen->file_bytes = pf_input_size(input);
	rc = look(input, path, seen, &failed);
	pf_input_close(input);
	if (rc < 0 && failed.code == PF_EDATA) {
		/* packed, and gives not a byte */
		say_broken(seen, failed.text);
		rc = 0;
	}
	if (!rc && seen->file_bytes && pf_refusal_of_name(path))
		say(seen, pf_refusal_of_name(path));
	if (rc < 0)
		*err = failed;
	return rc;
}
