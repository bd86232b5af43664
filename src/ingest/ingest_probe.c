/* SPDX-License-Identifier: MIT */
/*
 * Is a file a trace, and what does its beginning say of it?  JSON is read up to
 * its first event, to its end if it has none.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "ingest/ingest_impl.h"
#include "store/argtext.h"
#include "formats/json/chrome.h"
#include "formats/planes.h"
#include "formats/refusal.h"

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
	if (pf_chrome_parse(&p->chrome, &p->state, p->text.data, p->text.len,
			    p->offset, final, &used, err))
		return -1;
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
		format = pf_ingest_find_format(head.data, head.len);
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
