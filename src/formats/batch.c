/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "formats/batch.h"
#include "formats/category.h"

static const struct {
	char letter;
	const char *name;
} track_classes[] = {
	{ 'h', "host" }, { 'g', "gpu" },   { 'c', "counter" },
	{ 'f', "flow" }, { 'a', "async" }, { 'm', "mark" },
};

char pf_track_class_letter(enum pf_kind kind)
{
	return pf_kind_track_class(kind)[0];
}

const char *pf_track_class_name(char letter)
{
	for (size_t i = 0; i < sizeof(track_classes) / sizeof(*track_classes);
	     i++)
		if (track_classes[i].letter == letter)
			return track_classes[i].name;
	return "host";
}

static void clean(struct pf_dict *d, struct pf_dict_entry *e, const char *raw,
		  struct pf_buf *text)
{
	size_t at = 0, from = 0; /* what is whole begins there */

	(void)d;
	while (at < e->raw_len) {
		uint32_t code;
		size_t n = pf_utf8_next(raw + at, e->raw_len - at, &code);

		if (code == PF_UTF8_BAD || !code) {
			pf_buf_add(text, raw + from, at - from);
			pf_buf_adds(text, "\xef\xbf\xbd");
			from = at + n;
		}
		at += n;
	}
	if (at > from)
		pf_buf_add(text, raw + from, at - from);
}

void pf_parsed_init(struct pf_parsed *p)
{
	pf_dict_init(&p->names, clean);
	pf_dict_init(&p->args, clean);
	pf_dict_init(&p->tracks, clean);
	pf_dict_init(&p->categories, clean);
}

void pf_parsed_release(struct pf_parsed *p)
{
	struct pf_batch *b = &p->batch;

	free(b->events);
	free(b->slots);
	free(b->types);
	pf_buf_release(&b->members);
	pf_buf_release(&b->metadata);
	pf_dict_release(&p->names);
	pf_dict_release(&p->args);
	pf_dict_release(&p->tracks);
	pf_dict_release(&p->categories);
}

static void clear_batch(struct pf_batch *b)
{
	struct pf_batch kept = *b;

	memset(b, 0, sizeof(*b));
	b->events = kept.events;
	b->events_cap = kept.events_cap;
	b->slots = kept.slots;
	b->slots_cap = kept.slots_cap;
	b->types = kept.types;
	b->types_cap = kept.types_cap;
	b->members = kept.members;
	b->metadata = kept.metadata;
	pf_buf_clear(&b->members);
	pf_buf_clear(&b->metadata);
}

bool pf_parsed_begin(struct pf_parsed *p)
{
	struct pf_dict *dicts[] = { &p->names, &p->args, &p->tracks,
				    &p->categories };
	bool cleared = false;

	clear_batch(&p->batch);
	for (size_t i = 0; i < sizeof(dicts) / sizeof(*dicts); i++) {
		pf_dict_forget_fresh(dicts[i]);
		if (!pf_dict_is_large(dicts[i]))
			continue;
		pf_dict_clear(dicts[i]);
		cleared = true;
	}
	return cleared;
}

uint32_t pf_batch_type(struct pf_batch *b, uint32_t category, char ph,
		       enum pf_kind kind)
{
	struct pf_event_type *t = b->types;

	for (size_t i = b->type_count; i-- > 0;)
		if (t[i].category == category && t[i].ph == (uint8_t)ph &&
		    t[i].kind == kind)
			return (uint32_t)i;
	b->types = pf_grow(b->types, &b->types_cap, b->type_count + 1,
			   sizeof(*b->types));
	b->types[b->type_count] = (struct pf_event_type){
		.category = category, .ph = (uint8_t)ph, .kind = (uint8_t)kind
	};
	return (uint32_t)b->type_count++;
}

void pf_batch_member(struct pf_batch *b, const char *key,
		     const struct pf_buf *value)
{
	uint32_t lens[2] = { (uint32_t)strlen(key), (uint32_t)value->len };

	pf_buf_add(&b->members, lens, sizeof(lens));
	pf_buf_adds(&b->members, key);
	pf_buf_add(&b->members, value->data, value->len);
}

void pf_batch_grow(struct pf_batch *b)
{
	b->slots = pf_grow(b->slots, &b->slots_cap,
			   b->slot_count + PF_SLOT_COUNT, sizeof(*b->slots));
	b->events = pf_grow(b->events, &b->events_cap, b->count + 1,
			    sizeof(*b->events));
}

void pf_batch_metadata(struct pf_batch *b, const struct pf_buf *json)
{
	uint32_t head[2] = { (uint32_t)b->event_count, (uint32_t)json->len };

	pf_buf_add(&b->metadata, head, sizeof(head));
	pf_buf_add(&b->metadata, json->data, json->len);
	b->metadata_count++;
}

void pf_batch_name(struct pf_batch *b, const char *what, int64_t pid,
		   uint64_t tid, const char *name, size_t len)
{
	struct pf_buf text = { 0 };

	pf_buf_addf(&text,
		    "{\"name\":\"%s\",\"ph\":\"M\",\"pid\":%" PRId64
		    ",\"tid\":%" PRIu64 ",\"args\":{\"name\":",
		    what, pid, tid);
	pf_jsonw_quote(&text, name, len, false);
	pf_buf_adds(&text, "}}");
	pf_batch_metadata(b, &text);
	b->event_count++;
	pf_buf_release(&text);
}
