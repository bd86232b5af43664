/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <string.h>

#include "events/args.h"
#include "analysis/idle/tpu_calls.h"
#include "store/argtext.h"
#include "formats/event.h"

#define TYPES 64 /* of numbers: below it */
#define READ  (((1u << PF_SLOT_GENERIC_COUNT) - 1) << PF_SLOT_GENERIC)

/* What a text of arguments says of an event. */
enum said { SAYS_NOTHING, SAYS_NUMBER };

/* The text of an event's arguments, without what is in its slots. */
static int text_of(struct pf_tpu_calls *c, const struct pf_span *s,
		   struct pf_json *out, struct pf_err *err)
{
	*out = (struct pf_json){ "", 0 };
	if (s->args == PF_ID_INLINE)
		*out = (struct pf_json){ s->inline_args, s->inline_args_len };
	else if (s->args != PF_ID_NONE)
		return pf_texts_get(&c->texts, PF_TEXT_ARGS, s->args, &out->p,
				    &out->len, err) < 0
			       ? -1
			       : 0;
	return 0;
}

/* The number and its type as one; false: it says none. */
static bool number_of(struct pf_json text, const struct pf_span *s,
		      const char *key, const char *type_key, uint64_t *out)
{
	struct pf_buf whole = { 0 };
	struct pf_json args;
	int64_t number, type;
	bool is_said;

	pf_argtext_build(text.p, text.len, s->mask & READ, s->slot, &whole);
	args = (struct pf_json){ whole.data, whole.len };
	is_said = pf_json_int(pf_json_get(args, key), &number) &&
		  pf_json_int(pf_json_get(args, type_key), &type) &&
		  type >= 0 && type < TYPES;
	if (is_said)
		*out = (uint64_t)number * TYPES + (uint64_t)type;
	pf_buf_release(&whole);
	return is_said;
}

/* Of one thread: texts that say nothing are looked at once. */
static int load_track(struct pf_tpu_calls *c, struct pf_db *db,
		      uint32_t track_id, struct pf_map *said,
		      struct pf_err *err)
{
	struct pf_cursor *cursor =
		pf_cursor_new(db, track_id, PF_TPU_CALL_COLUMNS, err);
	struct pf_span s;
	int rc = cursor ? 0 : -1;

	while (!rc && (rc = pf_cursor_next(cursor, &s, err)) == 1) {
		uint64_t *seen = NULL, *call, key;
		struct pf_json text;

		rc = 0;
		if (s.args < PF_ID_INLINE)
			seen = pf_map_at(said, s.args);
		if (s.args == PF_ID_NONE || (seen && *seen == SAYS_NOTHING))
			continue;
		if (text_of(c, &s, &text, err)) {
			rc = -1;
			continue;
		}
		if (seen)
			*seen = memmem(text.p, text.len, "\"_p\":", 5)
					? SAYS_NUMBER
					: SAYS_NOTHING;
		if ((seen && *seen == SAYS_NOTHING) ||
		    !number_of(text, &s, "_p", "_pt", &key))
			continue;
		call = pf_map_at(&c->of, key);
		/* given away twice, it is nobody's */
		*call = *call == UINT64_MAX ? (uint64_t)track_id << 32 | s.seq
					    : 0;
	}
	pf_cursor_free(cursor);
	return rc;
}

int pf_tpu_calls_load(struct pf_tpu_calls *c, struct pf_db *db,
		      const struct pf_track *tracks, size_t count,
		      struct pf_err *err)
{
	struct pf_map said;
	int rc = 0;

	pf_tpu_calls_release(c);
	pf_map_init(&c->of);
	c->texts.db = db;
	pf_map_init(&said);
	for (size_t i = 0; !rc && i < count; i++)
		if (!strcmp(tracks[i].class_name, "host"))
			rc = load_track(c, db, tracks[i].id, &said, err);
	pf_map_release(&said);
	return rc;
}

void pf_tpu_calls_release(struct pf_tpu_calls *c)
{
	if (!c->texts.db)
		return;
	pf_map_release(&c->of);
	pf_texts_release(&c->texts);
	*c = (struct pf_tpu_calls){ 0 };
}

int pf_tpu_calls_find(struct pf_tpu_calls *c, const struct pf_span *program,
		      int64_t *event_id, struct pf_err *err)
{
	struct pf_json text;
	uint64_t key;

	*event_id = 0;
	if (text_of(c, program, &text, err))
		return -1;
	if (number_of(text, program, "_c", "_ct", &key) &&
	    pf_map_has(&c->of, key))
		*event_id = (int64_t)*pf_map_at(&c->of, key);
	return 0;
}
