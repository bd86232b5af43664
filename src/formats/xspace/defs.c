/* SPDX-License-Identifier: MIT */
/* What a plane defines: places in the file, sorted by id. */
#include "config.h"

#include <string.h>

#include "base/mem.h"
#include "formats/xspace/space.h"

#define LINES_BYTES (1u << 20)
#define SORT_BYTES  (4u << 20)
#define MAP_BYTES   (8u << 20)

struct reading {
	struct pf_xs_space *space;
	struct pf_xs_defs *defs;
	struct pf_sorter *sorters[PF_XS_MAPS];
	int64_t order;
};

static void note(struct pf_xs_space *s, int64_t at)
{
	pf_repair_note(&s->repairs, PF_REPAIR_BAD_MESSAGE, 1, at);
}

/* An entry of a map: key and message. */
static int add_entry(struct reading *r, enum pf_xs_def_map map,
		     const struct pf_xs_span *entry, struct pf_err *err)
{
	struct pf_xs_cursor c = { r->space->bytes, entry->at, entry->end };
	struct pf_xs_def def = { .order = -r->order++ };
	struct pf_xs_span f;
	enum pf_xs_got got;

	while ((got = pf_xs_step(&c, &f, err)) == PF_XS_FIELD) {
		if (f.number == 1 && f.wire == PF_XS_VARINT)
			def.id = (int64_t)f.value;
		if (f.number == 2 && f.wire == PF_XS_LENGTH) {
			def.at = f.at;
			def.end = f.end;
		}
	}
	if (got == PF_XS_ERROR)
		return -1;
	if (got != PF_XS_END) {
		note(r->space, entry->at);
		return 0;
	}
	return pf_sorter_add(r->sorters[map], &def, err);
}

static int add_field(struct reading *r, const struct pf_xs_span *f,
		     struct pf_err *err)
{
	struct pf_xs_piece piece = { f->at, f->end };
	struct pf_xs_defs *d = r->defs;

	if (f->wire != PF_XS_LENGTH)
		return 0;
	if (f->number == 3)
		return pf_spool_add(d->lines, &piece, err);
	if (f->number == 4)
		return add_entry(r, PF_XS_EVENTS, f, err);
	if (f->number == 5)
		return add_entry(r, PF_XS_STATS, f, err);
	if (f->number == 6 && d->stat_count < PF_XS_STATS_MAX)
		d->stats[d->stat_count++] = piece;
	return 0;
}

static int read_fields(struct reading *r, const struct pf_xs_plane *plane,
		       struct pf_err *err)
{
	struct pf_xs_cursor c = { r->space->bytes, plane->at, plane->end };
	struct pf_xs_span f;
	enum pf_xs_got got;
	bool ends_the_file = plane->end == r->space->bytes->size;

	while ((got = pf_xs_step(&c, &f, err)) == PF_XS_FIELD)
		if (add_field(r, &f, err))
			return -1;
	if (got == PF_XS_ERROR)
		return -1;
	/* Of a line that is cut off its first events are good. */
	if (got == PF_XS_CUT && ends_the_file && f.number == 3)
		return add_field(r, &f, err);
	if (got != PF_XS_END &&
	    !(ends_the_file && r->space->repairs.of[PF_REPAIR_CUT_OFF].count))
		note(r->space, c.at);
	return 0;
}

/* The last definition of an id is the one that counts, and sorted first. */
static int settle(struct reading *r, enum pf_xs_def_map map, struct pf_err *err)
{
	struct pf_spool *out = r->defs->maps[map];
	const struct pf_xs_def *def;
	bool has_last = false;
	int64_t last = 0;

	if (pf_sorter_finish(r->sorters[map], err))
		return -1;
	while ((def = pf_sorter_next(r->sorters[map], err))) {
		if (has_last && def->id == last)
			continue;
		has_last = true;
		last = def->id;
		if (pf_spool_add(out, def, err))
			return -1;
	}
	return err->code ? -1 : 0;
}

int pf_xs_defs_read(struct pf_xs_defs *d, struct pf_xs_space *s,
		    const struct pf_xs_plane *plane, struct pf_err *err)
{
	struct reading r = { .space = s, .defs = d };
	int rc;

	memset(d, 0, sizeof(*d));
	d->lines =
		pf_spool_new(sizeof(struct pf_xs_piece), LINES_BYTES, s->dir);
	for (int i = 0; i < PF_XS_MAPS; i++) {
		d->maps[i] = pf_spool_new(sizeof(struct pf_xs_def), MAP_BYTES,
					  s->dir);
		r.sorters[i] = pf_sorter_new(sizeof(struct pf_xs_def),
					     SORT_BYTES, s->dir);
	}
	rc = read_fields(&r, plane, err);
	for (int i = 0; i < PF_XS_MAPS; i++) {
		if (!rc)
			rc = settle(&r, (enum pf_xs_def_map)i, err);
		pf_sorter_free(r.sorters[i]);
	}
	return rc;
}

void pf_xs_defs_release(struct pf_xs_defs *d)
{
	pf_spool_free(d->lines);
	for (int i = 0; i < PF_XS_MAPS; i++)
		pf_spool_free(d->maps[i]);
}

const struct pf_xs_def *pf_xs_def_find(struct pf_xs_defs *d,
				       enum pf_xs_def_map map, int64_t id,
				       struct pf_err *err)
{
	uint64_t i = pf_spool_lower_bound(d->maps[map], id, err);
	const struct pf_xs_def *def;

	if (i == UINT64_MAX || i == pf_spool_count(d->maps[map]))
		return NULL;
	def = pf_spool_at(d->maps[map], i, err);
	return def && def->id == id ? def : NULL;
}

bool pf_xs_stat_read(struct pf_wire message, struct pf_xs_stat *out)
{
	struct pf_xs_field f;
	enum pf_xs_got got;

	*out = (struct pf_xs_stat){ 0 };
	while ((got = pf_xs_next(&message, &f)) == PF_XS_FIELD) {
		if (f.number == 1 && f.wire == PF_XS_VARINT)
			out->id = (int64_t)f.value;
		else if (f.number >= 2 && f.number <= 8) {
			static const unsigned wires[] = {
				[2] = PF_XS_FIXED,  [3] = PF_XS_VARINT,
				[4] = PF_XS_VARINT, [5] = PF_XS_LENGTH,
				[6] = PF_XS_LENGTH, [7] = PF_XS_VARINT,
				[8] = PF_XS_LENGTH,
			};

			if (f.wire != wires[f.number])
				return false;
			out->kind = (unsigned)f.number;
			out->value = f.value;
			if (f.wire == PF_XS_LENGTH)
				out->text = f.text;
		}
	}
	return got == PF_XS_END;
}

/* ---- statistics of the plane itself ---- */

static int one_stat(struct pf_xs_defs *d, struct pf_xs_space *s,
		    const struct pf_xs_piece *piece, struct pf_buf name[2],
		    struct pf_xs_stat *stat, struct pf_err *err)
{
	size_t len = (size_t)(piece->end - piece->at);
	const struct pf_xs_def *def;
	const unsigned char *p;

	pf_buf_clear(&name[0]);
	pf_buf_clear(&name[1]);
	if (piece->end - piece->at > (int64_t)PF_XS_PIECE_MAX)
		return 0;
	p = pf_xs_bytes_at(s->bytes, piece->at, len, err);
	if (!p)
		return -1;
	if (!pf_xs_stat_read((struct pf_wire){ p, p + len }, stat)) {
		note(s, piece->at);
		return 0;
	}
	if (stat->kind == 5)
		pf_buf_add(&name[1], stat->text.p,
			   (size_t)(stat->text.end - stat->text.p));
	def = pf_xs_def_find(d, PF_XS_STATS, stat->id, err);
	if (def &&
	    pf_xs_def_name(s->bytes, def, 2, PF_XS_NAME_MAX, &name[0], err))
		return -1;
	def = stat->kind == 7 ? pf_xs_def_find(d, PF_XS_STATS,
					       (int64_t)stat->value, err)
			      : NULL;
	if (def &&
	    pf_xs_def_name(s->bytes, def, 2, PF_XS_NAME_MAX, &name[1], err))
		return -1;
	return err->code ? -1 : 1;
}

int pf_xs_plane_stats(struct pf_xs_defs *d, struct pf_xs_space *s,
		      pf_xs_take_fn *take, void *arg, struct pf_err *err)
{
	struct pf_buf name[2] = { { 0 }, { 0 } };
	struct pf_xs_stat stat;
	int rc = 0;

	for (size_t i = 0; i < d->stat_count && rc >= 0; i++) {
		rc = one_stat(d, s, &d->stats[i], name, &stat, err);
		if (rc == 1 && name[0].len)
			take(arg, name[0].data, &stat,
			     name[1].data ? name[1].data : "", name[1].len);
	}
	pf_buf_release(&name[0]);
	pf_buf_release(&name[1]);
	return rc < 0 ? -1 : 0;
}
