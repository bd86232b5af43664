/* SPDX-License-Identifier: MIT */
/*
 * Ranges by their names, found once: threads are read only if there is such a
 * name at all.  Memory grows with the ranges, 24 bytes each.
 */
#include "analysis/advise/advise_impl.h"

#include "base/order.h"
#include "events/interval.h"
#include "events/track_read.h"
#include "store/query.h"
#include "formats/event.h"

struct named {
	int64_t name_id, mark;
};

static const struct pf_field named_fields[] = {
	PF_FIELD(struct named, name_id, "name_id", NULL, PF_INT),
	PF_FIELD(struct named, mark, "mark", NULL, PF_INT),
};

struct reader {
	struct advise_marks *out;
	const struct named *names;
	size_t name_count, cap;
	uint32_t track_id;
};

PF_ORDER(by_place, struct advise_span,
	 PF_UP(mark) PF_UP(track_id) PF_UP(start_ns))

static uint32_t mark_of(const struct reader *r, uint32_t name)
{
	size_t lo = 0, hi = r->name_count;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (r->names[mid].name_id < (int64_t)name)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == r->name_count || r->names[lo].name_id != (int64_t)name ||
	    r->names[lo].mark <= 0 || r->names[lo].mark >= ADVISE_MARKS)
		return 0;
	return (uint32_t)r->names[lo].mark;
}

static int take(void *context, const struct pf_block *b, uint32_t i,
		int64_t event_id, struct pf_err *err)
{
	struct reader *r = context;
	struct advise_marks *m = r->out;
	uint32_t mark = mark_of(r, b->name[i]);

	(void)event_id;
	(void)err;
	if (!mark)
		return 0;
	m->spans = pf_grow(m->spans, &r->cap, m->count + 1, sizeof(*m->spans));
	m->spans[m->count++] = (struct advise_span){
		.start_ns = b->start_ns[i],
		.end_ns = pf_span_end(b->start_ns[i], b->dur_ns[i]),
		.track_id = r->track_id,
		.mark = mark,
	};
	m->calls[mark]++;
	return 0;
}

/* What overlaps becomes one. */
static void unite(struct advise_marks *m)
{
	size_t kept = 0;

	pf_sort(m->spans, m->count, sizeof(*m->spans), by_place);
	for (size_t i = 0; i < m->count; i++) {
		struct advise_span *last = kept ? &m->spans[kept - 1] : NULL;
		const struct advise_span s = m->spans[i];

		if (last && last->mark == s.mark &&
		    last->track_id == s.track_id &&
		    s.start_ns <= last->end_ns) {
			if (s.end_ns > last->end_ns)
				last->end_ns = s.end_ns;
			continue;
		}
		m->spans[kept++] = s;
	}
	m->count = kept;
	for (uint32_t mark = 0, i = 0; mark <= ADVISE_MARKS; mark++) {
		while (i < kept && m->spans[i].mark < mark)
			i++;
		m->first[mark] = i;
	}
}

static int read_threads(struct pf_db *db, int64_t trace_id, struct reader *r,
			struct pf_err *err)
{
	const struct pf_track_reader reader = { .event = take };
	struct pf_track *tracks = NULL;
	size_t count = 0;
	int rc = pf_tracks_load(db, trace_id, &tracks, &count, err);

	for (size_t i = 0; !rc && i < count; i++) {
		if (strcmp(tracks[i].class_name, "host") != 0)
			continue;
		r->track_id = tracks[i].id;
		rc = pf_track_read(db, &tracks[i], &reader, r, err);
	}
	pf_tracks_free(tracks, count);
	return rc;
}

static void find_framework(struct advise_marks *m, const struct named *names,
			   size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (names[i].mark == ADVISE_NAMES_JAX)
			m->framework = "JAX";
		else if (names[i].mark == ADVISE_NAMES_TENSORFLOW &&
			 !m->framework)
			m->framework = "TensorFlow";
	}
}

static bool has_ranges(const struct named *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (names[i].mark < ADVISE_MARKS)
			return true;
	return false;
}

int advise_marks_load(struct pf_db *db, int64_t trace_id,
		      struct advise_marks *out, struct pf_err *err)
{
	struct pf_arena texts = { 0 };
	struct reader r = { .out = out };
	struct named *names =
		pf_named_rows_take(db, "advise_marks", PF_FIELDS(named_fields),
				   &texts, &r.name_count, err);
	int rc = names ? 0 : -1;

	r.names = names;
	if (!rc)
		find_framework(out, names, r.name_count);
	if (!rc && has_ranges(names, r.name_count))
		rc = read_threads(db, trace_id, &r, err);
	unite(out);
	free(names);
	pf_arena_release(&texts);
	return rc;
}

void advise_marks_release(struct advise_marks *m)
{
	free(m->spans);
	*m = (struct advise_marks){ 0 };
}

/* Is an instant of a thread in a range of this mark? */
static bool is_in(const struct advise_marks *m, uint32_t mark,
		  uint32_t track_id, int64_t at_ns)
{
	size_t lo = m->first[mark], hi = m->first[mark + 1];
	const size_t first = lo;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct advise_span *s = &m->spans[mid];

		if (s->track_id < track_id ||
		    (s->track_id == track_id && s->start_ns <= at_ns))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo > first && m->spans[lo - 1].track_id == track_id &&
	       m->spans[lo - 1].end_ns > at_ns;
}

unsigned advise_marks_at(const struct advise_marks *m, uint32_t track_id,
			 int64_t at_ns)
{
	unsigned bits = 0;

	for (uint32_t mark = 1; mark < ADVISE_MARKS; mark++)
		if (m->first[mark] < m->first[mark + 1] &&
		    is_in(m, mark, track_id, at_ns))
			bits |= 1u << mark;
	return bits;
}
