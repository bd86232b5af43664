/* SPDX-License-Identifier: MIT */
/*
 * Which flow events have their partner in the window.  Events of one arrow
 * have the same category, name and id; they are brought together by a sort of
 * fixed memory, and those of arrows with a start and an end by another.
 */
#define XXH_INLINE_ALL
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "events/args.h"
#include "export/slice_impl.h"
#include "base/mem.h"
#include "base/spool.h"
#include "formats/event.h"

#define ARROW_MAX 65536u

struct seen {
	int64_t arrow, event_id, ph;
};

struct kept {
	int64_t event_id, zero;
};

/* The events of one arrow. */
struct arrow {
	int64_t key;
	bool has_start, has_end;
	int64_t *ids;
	size_t count, cap;
};

struct pf_slice_flows {
	struct pf_sorter *seen, *kept;
	const struct kept *next; /* of those kept */
	struct kept current;
};

struct pf_slice_flows *pf_slice_flows_new(void)
{
	struct pf_slice_flows *f = pf_calloc(1, sizeof(*f));

	f->seen = pf_sorter_temp(sizeof(struct seen));
	f->kept = pf_sorter_temp(sizeof(struct kept));
	return f;
}

void pf_slice_flows_free(struct pf_slice_flows *f)
{
	if (!f)
		return;
	pf_sorter_free(f->seen);
	pf_sorter_free(f->kept);
	free(f);
}

/* Two arrows that collide would only keep one end too many. */
static uint64_t hash(uint64_t h, const void *data, size_t len)
{
	return XXH3_64bits_withSeed(data, len, h);
}

static int64_t id_of(uint32_t track, uint32_t seq)
{
	return (int64_t)((uint64_t)track << 32 | seq);
}

int pf_slice_flows_see(struct pf_slice_flows *f, struct pf_lexicon *lexicon,
		       uint32_t track, const struct pf_span *e,
		       struct pf_err *err)
{
	const struct pf_lexicon_type *type;
	struct pf_json args = { e->inline_args, e->inline_args_len }, id;
	struct seen s = { .event_id = id_of(track, e->seq) };
	uint64_t h = 0;
	int rc;

	if (e->type >= lexicon->type_count || !lexicon->type[e->type].ph)
		return 0;
	type = &lexicon->type[e->type];
	h = hash(h, type->category, strlen(type->category));
	h = hash(h, &e->name, sizeof(e->name));
	if (e->mask >> PF_SLOT_FLOW_ID & 1) {
		h = hash(h, &e->slot[PF_SLOT_FLOW_ID], sizeof(int64_t));
	} else if (e->args != PF_ID_NONE) {
		rc = e->args == PF_ID_INLINE
			     ? 1
			     : pf_lexicon_args_text(lexicon, e->args, &args.p,
						    &args.len, err);
		if (rc < 0)
			return -1;
		id = rc ? pf_json_get(args, "@id") : (struct pf_json){ 0 };
		if (id.p)
			h = hash(h, id.p, id.len);
	}
	s.arrow = (int64_t)h;
	s.ph = *type->ph;
	return pf_sorter_add(f->seen, &s, err);
}

/* Keep what was gathered of an arrow. */
static int keep(struct pf_slice_flows *f, struct arrow *a, struct pf_err *err)
{
	for (size_t i = 0; i < a->count; i++) {
		struct kept k = { a->ids[i], 0 };

		if (pf_sorter_add(f->kept, &k, err) < 0)
			return -1;
	}
	a->count = 0;
	return 0;
}

static int end_arrow(struct pf_slice_flows *f, struct arrow *a,
		     struct pf_err *err)
{
	int rc = a->has_start && a->has_end ? keep(f, a, err) : 0;

	a->count = 0;
	a->has_start = a->has_end = false;
	return rc;
}

static int add_to_arrow(struct pf_slice_flows *f, struct arrow *a,
			const struct seen *s, struct pf_err *err)
{
	if (a->key != s->arrow && end_arrow(f, a, err) < 0)
		return -1;
	a->key = s->arrow;
	a->has_start |= s->ph == 's';
	a->has_end |= s->ph == 'f';
	/* that many are no arrow of a profiler: all of them */
	if (a->count == ARROW_MAX) {
		a->has_start = a->has_end = true;
		if (keep(f, a, err) < 0)
			return -1;
	}
	a->ids = pf_grow(a->ids, &a->cap, a->count + 1, sizeof(*a->ids));
	a->ids[a->count++] = s->event_id;
	return 0;
}

static int next_kept(struct pf_slice_flows *f, struct pf_err *err)
{
	f->next = pf_sorter_next(f->kept, err);
	if (f->next) {
		f->current = *f->next;
		f->next = &f->current;
	}
	return err->code ? -1 : 0;
}

int pf_slice_flows_settle(struct pf_slice_flows *f, struct pf_err *err)
{
	struct arrow a = { 0 };
	const struct seen *s;
	int rc = pf_sorter_finish(f->seen, err);

	while (!rc && (s = pf_sorter_next(f->seen, err)))
		rc = add_to_arrow(f, &a, s, err);
	if (!rc && err->code)
		rc = -1;
	if (!rc)
		rc = end_arrow(f, &a, err);
	free(a.ids);
	if (!rc)
		rc = pf_sorter_finish(f->kept, err);
	return rc ? -1 : next_kept(f, err);
}

int pf_slice_flows_take(struct pf_slice_flows *f, uint32_t track, uint32_t seq,
			struct pf_err *err)
{
	if (!f->next || f->current.event_id != id_of(track, seq))
		return 0;
	return next_kept(f, err) < 0 ? -1 : 1;
}
