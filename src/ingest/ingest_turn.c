/* SPDX-License-Identifier: MIT */
/*
 * Global ids, in file order.  Entries that a worker met for the first time
 * are looked up here, in the order in which it met them; as turns follow the
 * file, an id tells when its text first appeared, whatever the chunks were.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ingest/ingest_impl.h"

static int later(struct pf_ingest *in, enum pf_ingest_later list, int64_t a,
		 int64_t b, const char *first, size_t first_len,
		 const char *second, size_t second_len, struct pf_err *err)
{
	const struct pf_later_row row = {
		.a = a,
		.b = b,
		.first = first,
		.first_len = (uint32_t)first_len,
		.second = second,
		.second_len = (uint32_t)second_len,
	};

	return pf_later_put(&in->later[list], in->directory, &row, err);
}

/* ---- strings ---- */

static void note_step_name(struct pf_ingest *in, uint32_t id, const char *text,
			   size_t len)
{
	static const char prefix[] = "ProfilerStep#";
	size_t n = sizeof(prefix) - 1;
	int64_t step = 0;

	if (len <= n || len > n + 18 || memcmp(text, prefix, n))
		return;
	for (size_t i = n; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return;
		step = step * 10 + (text[i] - '0');
	}
	in->step_names =
		pf_grow(in->step_names, &in->step_names_cap,
			in->step_name_count + 1, sizeof(*in->step_names));
	in->step_names[in->step_name_count].id = id;
	in->step_names[in->step_name_count++].step = step;
}

/* The last event that Kineto writes into a file. */
static const char window_end[] = "Record Window End";

static int settle_name(struct pf_ingest *in, const struct pf_dict *d,
		       struct pf_dict_entry *e, struct pf_err *err)
{
	const char *text = d->text.data + e->text_at;
	bool is_new;

	e->gid = pf_ids_find(&in->strings, text, e->text_len, 0, PF_NAMES_MAX,
			     &is_new);
	if (!is_new)
		return 0;
	if (e->text_len == 0)
		in->empty_name = e->gid;
	if (e->text_len == sizeof(window_end) - 1 &&
	    !memcmp(text, window_end, e->text_len))
		in->window_end_name = e->gid;
	note_step_name(in, e->gid, text, e->text_len);
	pf_ingest_comm_note_name(in, e->gid, text, e->text_len);
	return later(in, PF_LATER_STRING, e->gid, 0, text, e->text_len, NULL, 0,
		     err);
}

static int settle_args(struct pf_ingest *in, const struct pf_dict *d,
		       struct pf_dict_entry *e, struct pf_err *err)
{
	const char *text = d->text.data + e->text_at;
	bool is_new;

	e->gid = pf_ids_find(&in->argsets, text, e->text_len, e->salt,
			     PF_NAMES_MAX, &is_new);
	if (!is_new)
		return 0;
	return later(in, PF_LATER_ARGSET, e->gid, e->salt, text, e->text_len,
		     NULL, 0, err);
}

static size_t parse_hex8(const char *p)
{
	size_t v = 0;

	for (int i = 0; i < 8; i++)
		v = v * 16 +
		    (size_t)(p[i] <= '9' ? p[i] - '0' : p[i] - 'a' + 10);
	return v;
}

/* Text: class letter, 8 hex digits of pid length, pid, tid (chrome.h). */
static int settle_track(struct pf_ingest *in, const struct pf_dict *d,
			struct pf_dict_entry *e, struct pf_err *err)
{
	const char *text = d->text.data + e->text_at;
	size_t pid_len, max = PF_INGEST_TRACKS_MAX;
	struct pf_ingest_track *t;
	bool is_new;

	(void)err;
	if (max > PF_INGEST_TRACK_IDS - in->first_track)
		max = PF_INGEST_TRACK_IDS - in->first_track;
	e->gid = pf_ids_find(&in->track_names, text, e->text_len,
			     (uint32_t)in->trace_id, max, &is_new);
	if (e->gid != PF_ID_INLINE)
		e->gid += (uint32_t)in->first_track;
	if (!is_new)
		return 0;
	in->tracks = pf_grow(in->tracks, &in->tracks_cap,
			     in->track_count + 1 - in->first_track,
			     sizeof(*in->tracks));
	t = pf_ingest_track(in, in->track_count++);
	pid_len = parse_hex8(text + 1);
	*t = (struct pf_ingest_track){
		.class_letter = text[0],
		.pid = pf_memdup0(text + 9, pid_len),
		.tid = pf_memdup0(text + 9 + pid_len,
				  e->text_len - 9 - pid_len),
	};
	return 0;
}

static int settle_dict(struct pf_ingest *in, struct pf_dict *d,
		       int (*settle)(struct pf_ingest *, const struct pf_dict *,
				     struct pf_dict_entry *, struct pf_err *),
		       struct pf_err *err)
{
	for (size_t i = d->fresh; i < d->count; i++)
		if (!(d->entries[i].flags & PF_DICT_BAD) &&
		    settle(in, d, &d->entries[i], err))
			return -1;
	pf_dict_settle(d);
	return 0;
}

/* ---- types ---- */

static int settle_type(struct pf_ingest *in, const struct pf_parsed *p,
		       const struct pf_event_type *t, uint32_t *id,
		       struct pf_err *err)
{
	const struct pf_dict_entry *e = &p->categories.entries[t->category];
	const char *text = p->categories.text.data + e->text_at;
	char ph[2] = { (char)t->ph, '\0' };
	size_t len = e->text_len;
	bool is_new;

	*id = pf_ids_find(&in->types, text, len,
			  (uint32_t)(t->ph << 8 | t->kind),
			  PF_INGEST_TYPES_MAX - 4096, &is_new);
	if (*id == PF_ID_INLINE) {
		/* Too many categories: the rest are stored without one. */
		len = 0;
		*id = pf_ids_find(&in->types, "", 0,
				  (uint32_t)(t->ph << 8 | t->kind),
				  PF_INGEST_TYPES_MAX, &is_new);
	}
	if (!is_new)
		return 0;
	in->type = pf_grow(in->type, &in->type_cap, (size_t)*id + 1,
			   sizeof(*in->type));
	in->type[*id] = (struct pf_ingest_type){ t->ph, t->kind };
	return later(in, PF_LATER_TYPE, *id, t->kind, ph, 1, text, len, err);
}

/* ---- what is no event ---- */

static int note_members(struct pf_ingest *in, const struct pf_batch *b,
			struct pf_err *err)
{
	const char *p = b->members.data, *end = p + b->members.len;
	uint32_t lens[2];

	while (p < end) {
		memcpy(lens, p, sizeof(lens));
		p += sizeof(lens);
		if (later(in, PF_LATER_MEMBER, 0, 0, p, lens[0], p + lens[0],
			  lens[1], err))
			return -1;
		p += (size_t)lens[0] + lens[1];
	}
	return 0;
}

/* Its row, of which it is one more: 0 of one that has a row of its own. */
static int64_t count_metadata(struct pf_ingest *in, const char *text,
			      size_t len, int64_t order, bool *is_new)
{
	uint32_t id = pf_ids_find(&in->metadata_texts, text, len,
				  (uint32_t)in->trace_id,
				  PF_INGEST_METADATA_MAX, is_new);

	*is_new |= id == PF_ID_INLINE;
	if (id == PF_ID_INLINE)
		return 0;
	in->metadata = pf_grow(in->metadata, &in->metadata_cap, id + (size_t)1,
			       sizeof(*in->metadata));
	if (*is_new)
		in->metadata[id].count = 0;
	in->metadata[id].last_order = order;
	in->metadata[id].count++;
	return (int64_t)id + 1;
}

static int note_metadata(struct pf_ingest *in, const struct pf_batch *b,
			 int64_t first_order, struct pf_err *err)
{
	const char *p = b->metadata.data, *end = p + b->metadata.len;
	uint32_t head[2];

	for (; p < end; p += head[1]) {
		int64_t order, row;
		bool is_new;

		memcpy(head, p, sizeof(head));
		p += sizeof(head);
		order = first_order + head[0];
		pf_ingest_note_process(in, p, head[1], order);
		row = count_metadata(in, p, head[1], order, &is_new);
		if (is_new && later(in, PF_LATER_METADATA, order, row, p,
				    head[1], NULL, 0, err))
			return -1;
	}
	return 0;
}

int pf_ingest_settle(struct pf_ingest *in, struct pf_parsed *p,
		     uint32_t **type_ids, size_t *type_ids_cap,
		     struct pf_err *err)
{
	struct pf_batch *b = &p->batch;
	int64_t first_order = in->event_count - b->event_count;

	if (pf_lane_failed(in->lane)) /* nobody will see this */
		return pf_fail(err, PF_EDATA, "an earlier trace failed");
	if (settle_dict(in, &p->names, settle_name, err) ||
	    settle_dict(in, &p->args, settle_args, err) ||
	    settle_dict(in, &p->tracks, settle_track, err))
		return -1;
	pf_dict_settle(&p->categories);
	*type_ids = pf_grow(*type_ids, type_ids_cap, b->type_count + 1,
			    sizeof(**type_ids));
	for (size_t i = 0; i < b->type_count; i++)
		if (settle_type(in, p, &b->types[i], &(*type_ids)[i], err))
			return -1;
	return note_members(in, b, err) ||
			       note_metadata(in, b, first_order, err)
		       ? -1
		       : 0;
}
