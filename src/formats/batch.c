/* SPDX-License-Identifier: MIT */
#include "config.h"

#define XXH_INLINE_ALL
#include "formats/batch.h"

#include <inttypes.h>
#include <xxhash.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "formats/category.h"

/*
 * Invariants: entries [0, fresh) have a gid, entries [fresh, count) do not;
 * every entry is in the table; the table is at most half full.  Raw bytes and
 * canonical texts lie in two buffers, in the order of the entries.
 */

#define RAW_MAX   (6u << 20)
#define COUNT_MAX (1u << 16)

struct pf_dict_hash pf_dict_hash(const void *p, size_t len, uint32_t salt)
{
	XXH128_hash_t h = XXH3_128bits_withSeed(p, len, pf_hash_seed() + salt);

	return (struct pf_dict_hash){ h.low64, h.high64 };
}

static void table_reset(struct pf_dict *d, size_t size)
{
	free(d->table);
	d->table = pf_calloc(size, sizeof(*d->table));
	d->table_mask = size - 1;
}

void pf_dict_init(struct pf_dict *d, pf_dict_classify_fn *classify)
{
	memset(d, 0, sizeof(*d));
	d->seed = pf_hash_seed();
	d->classify = classify;
	table_reset(d, 4096);
}

void pf_dict_release(struct pf_dict *d)
{
	free(d->entries);
	free(d->table);
	pf_buf_release(&d->raw);
	pf_buf_release(&d->text);
	memset(d, 0, sizeof(*d));
}

void pf_dict_clear(struct pf_dict *d)
{
	d->count = d->fresh = 0;
	pf_buf_clear(&d->raw);
	pf_buf_clear(&d->text);
	table_reset(d, 4096);
}

static void table_put(struct pf_dict *d, size_t i)
{
	size_t at = d->entries[i].hash & d->table_mask;

	while (d->table[at])
		at = (at + 1) & d->table_mask;
	d->table[at] = (uint32_t)i + 1;
}

static void table_rebuild(struct pf_dict *d, size_t size)
{
	table_reset(d, size);
	for (size_t i = 0; i < d->count; i++)
		table_put(d, i);
}

/*
 * Forget the entries without a gid: their chunk is parsed again.  They came
 * last, so no other stands where it does because of them.
 */
static void dict_forget_fresh(struct pf_dict *d)
{
	if (d->fresh == d->count)
		return;
	for (size_t i = d->count; i-- > d->fresh;) {
		size_t at = d->entries[i].hash & d->table_mask;

		while (d->table[at] != (uint32_t)i + 1)
			at = (at + 1) & d->table_mask;
		d->table[at] = 0;
	}
	d->raw.len = d->entries[d->fresh].raw_at;
	d->text.len = d->entries[d->fresh].text_at;
	d->count = d->fresh;
}

void pf_dict_settle(struct pf_dict *d)
{
	d->fresh = d->count;
}

bool pf_dict_is_large(const struct pf_dict *d)
{
	return d->raw.len > RAW_MAX || d->text.len > RAW_MAX ||
	       d->count > COUNT_MAX;
}

static uint32_t insert(struct pf_dict *d, const char *raw, size_t len,
		       uint32_t salt, uint64_t hash)
{
	struct pf_dict_entry *e;

	PF_ROOM(d->entries, d->cap, d->count + 1);
	e = &d->entries[d->count];
	*e = (struct pf_dict_entry){ .hash = hash,
				     .raw_at = d->raw.len,
				     .raw_len = (uint32_t)len,
				     .salt = salt,
				     .gid = PF_GID_UNSET,
				     .text_at = d->text.len };
	pf_buf_add(&d->raw, raw, len);
	pf_buf_reserve(&d->text, 0); /* an empty text has a place, too */
	d->classify(d, e, raw, &d->text);
	e->text_len = (uint32_t)(d->text.len - e->text_at);
	d->count++;
	if (d->count * 2 > d->table_mask)
		table_rebuild(d, (d->table_mask + 1) * 2);
	else
		table_put(d, d->count - 1);
	return (uint32_t)d->count - 1;
}

uint32_t pf_dict_find(struct pf_dict *d, const char *raw, size_t len,
		      uint32_t salt)
{
	uint64_t hash = XXH3_64bits_withSeed(raw, len, d->seed + salt);
	size_t at = hash & d->table_mask;

	for (; d->table[at]; at = (at + 1) & d->table_mask) {
		const struct pf_dict_entry *e = &d->entries[d->table[at] - 1];

		if (e->hash == hash && e->raw_len == len && e->salt == salt &&
		    !memcmp(d->raw.data + e->raw_at, raw, len))
			return d->table[at] - 1;
	}
	return insert(d, raw, len, salt, hash);
}

uint32_t pf_dict_word(struct pf_dict *d, const char *word)
{
	return pf_dict_find(d, word, strlen(word), 0);
}

void pf_dict_no_text(struct pf_dict *d, struct pf_dict_entry *e,
		     const char *raw, struct pf_buf *text)
{
	(void)d, (void)e, (void)raw, (void)text;
}

static const struct {
	char letter;
	const char *name;
} track_classes[] = {
	{ 'h', "host" }, { 'g', "gpu" },   { 'c', "counter" },
	{ 'f', "flow" }, { 'a', "async" }, { 'm', "mark" },
};

char pf_track_class_letter(enum pf_kind kind)
{
	if (pf_kind_is_gpu_track(kind))
		return 'g';
	switch (kind) {
	case PF_KIND_COUNTER:
		return 'c';
	case PF_KIND_FLOW:
		return 'f';
	case PF_KIND_ASYNC:
		return 'a';
	case PF_KIND_TRACE_SPAN:
		return 'm';
	default:
		return 'h';
	}
}

const char *pf_track_class_name(char letter)
{
	for (size_t i = 0; i < PF_LEN(track_classes); i++)
		if (track_classes[i].letter == letter)
			return track_classes[i].name;
	return "host";
}

uint32_t pf_parsed_track(struct pf_parsed *p, char letter, const char *pid,
			 const char *tid)
{
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };

	pf_buf_addf(&text, "%c%08zx%s%s", letter, strlen(pid), pid, tid);
	return pf_dict_find(&p->tracks, text.data, text.len, 0);
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
	for (size_t i = 0; i < PF_LEN(dicts); i++) {
		dict_forget_fresh(dicts[i]);
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
	PF_ROOM(b->types, b->types_cap, b->type_count + 1);
	b->types[b->type_count] = (struct pf_event_type){
		.category = category, .ph = (uint8_t)ph, .kind = (uint8_t)kind
	};
	return (uint32_t)b->type_count++;
}

void pf_batch_store(struct pf_batch *b, struct pf_event *ev, uint32_t category,
		    uint32_t mask, const int64_t *values)
{
	ev->type = pf_batch_type(b, category, (char)ev->ph,
				 (enum pf_kind)ev->kind);
	b->kind_count[ev->kind]++;
	pf_batch_put(b, ev, mask, values);
}

void pf_batch_member(struct pf_batch *b, const char *key,
		     const struct pf_buf *value)
{
	uint32_t lens[2] = { (uint32_t)strlen(key), (uint32_t)value->len };

	pf_buf_add(&b->members, lens, sizeof(lens));
	pf_buf_adds(&b->members, key);
	pf_buf_add(&b->members, value->data, value->len);
}

void pf_batch_base(struct pf_batch *b, int64_t base_ns)
{
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };

	pf_buf_addi(&text, base_ns);
	pf_batch_member(b, "baseTimeNanoseconds", &text);
}

void pf_batch_grow(struct pf_batch *b)
{
	PF_ROOM(b->slots, b->slots_cap, b->slot_count + PF_SLOT_COUNT);
	PF_ROOM(b->events, b->events_cap, b->count + 1);
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
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };

	pf_buf_addf(&text,
		    "{\"name\":\"%s\",\"ph\":\"M\",\"pid\":%" PRId64
		    ",\"tid\":%" PRIu64 ",\"args\":{\"name\":",
		    what, pid, tid);
	pf_jsonw_quote(&text, name, len, false);
	pf_buf_adds(&text, "}}");
	pf_batch_metadata(b, &text);
	b->event_count++;
}
