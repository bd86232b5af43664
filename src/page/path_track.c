/* SPDX-License-Identifier: MIT */
/*
 * What runs is named and coloured as on its own track.  What lies between, as
 * a delay or a wait, is named by what it is: the works that it lies between
 * are its neighbours.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/mem.h"
#include "base/sat.h"
#include "store/cursor.h"
#include "page/path_track.h"

#define LABEL "critical path"

static uint8_t host_cat(const char *kind)
{
	static const struct {
		const char *kind;
		enum pf_slice_cat cat;
	} cats[] = {
		{ "op", PF_CAT_OP },
		{ "runtime", PF_CAT_RUNTIME },
		{ "python", PF_CAT_PYTHON },
		{ "sync call", PF_CAT_WAIT },
		{ "data loading", PF_CAT_WAIT },
	};

	for (size_t i = 0; i < sizeof(cats) / sizeof(*cats); i++)
		if (!strcmp(cats[i].kind, kind))
			return (uint8_t)cats[i].cat;
	return PF_CAT_OTHER;
}

static uint8_t cat_of(const struct pf_path_tile *tile)
{
	switch ((unsigned)tile->category) {
	case PF_PATH_KERNEL:
		return PF_CAT_KERNEL;
	case PF_PATH_COMM:
		return PF_CAT_COMM;
	case PF_PATH_COPY:
	case PF_PATH_MEMSET:
		return PF_CAT_COPY;
	case PF_PATH_LAUNCH_CALL:
		return PF_CAT_RUNTIME;
	case PF_PATH_RETURN:
	case PF_PATH_QUEUE:
	case PF_PATH_WAIT:
	case PF_PATH_INFERRED:
		return PF_CAT_WAIT;
	default:
		return tile->category < PF_PATH_KERNEL ? host_cat(tile->kind)
						       : PF_CAT_OTHER;
	}
}

static int take(struct pf_path_sink *sink, const struct pf_path_tile *tile,
		struct pf_err *err)
{
	struct pf_path_track *t = (struct pf_path_track *)sink;
	bool runs = tile->category <= PF_PATH_LAUNCH_CALL;

	if (t->count < t->most) {
		t->pieces = pf_grow(t->pieces, &t->cap, t->count + 1,
				    sizeof(*t->pieces));
		t->pieces[t->count++] =
			(struct pf_path_piece){ tile->start_ns, tile->end_ns,
						runs ? tile->name : PF_ID_NONE,
						cat_of(tile),
						(uint8_t)tile->category };
	}
	t->all++;
	return t->next ? t->next->tile(t->next, tile, err) : 0;
}

void pf_path_track_begin(struct pf_path_track *t, struct pf_path_args *args)
{
	t->sink.tile = take;
	t->next = args->also;
	args->also = &t->sink;
}

void pf_path_track_release(struct pf_path_track *t)
{
	free(t->pieces);
	*t = (struct pf_path_track){ 0 };
}

/* ---- names ---- */

/* Those of the track, behind those of the timeline. */
struct namer {
	struct pf_timeline *out;
	struct pf_names *names;
	const struct pf_redact *redact;
	struct pf_intern texts;
	struct pf_map known; /* string.id, or a category above -> number */
};

static void put_name(struct namer *n, const char *text, size_t len,
		     uint64_t *number)
{
	struct pf_timeline *out = n->out;
	uint32_t known = n->texts.count;

	*number = pf_intern_add(&n->texts, text, len);
	if (*number < known)
		return;
	out->names = pf_grow(out->names, &out->name_cap, out->name_count + 1,
			     sizeof(*out->names));
	out->names[out->name_count++] =
		(struct pf_slice_name){ (uint32_t)len, out->texts.len, 0 };
	pf_buf_add(&out->texts, text, len);
}

static int find_name(struct namer *n, const struct pf_path_piece *p,
		     uint32_t *out, struct pf_err *err)
{
	uint64_t key = p->name == PF_ID_NONE ? UINT64_C(1) << 32 | p->category
					     : p->name;
	uint64_t *number = pf_map_at(&n->known, key);
	const char *own =
		pf_path_category_name((enum pf_path_category)p->category);
	char *text;

	if (*number == UINT64_MAX && p->name == PF_ID_NONE) {
		put_name(n, own, strlen(own), number);
	} else if (*number == UINT64_MAX) {
		struct pf_buf shown = { 0 };

		text = pf_names_text_take(n->names, p->name, err);
		if (!text)
			return -1;
		pf_timeline_show_name(n->redact, text, strlen(text), &shown);
		put_name(n, shown.data, shown.len, number);
		pf_buf_release(&shown);
		free(text);
	}
	*out = (uint32_t)*number;
	return 0;
}

/* ---- the group ---- */

static struct pf_slices *open_group(const struct pf_path_track *t,
				    struct pf_timeline *out)
{
	struct pf_slices *g = &out->group[PF_SLICES_PATH];

	free(g->tracks); /* room for those of threads, of which it has none */
	*g = (struct pf_slices){ .all = t->all, .until_ns = INT64_MAX };
	out->is_wanted[PF_SLICES_PATH] = true;
	g->tracks = pf_calloc(1, sizeof(*g->tracks));
	g->track_count = 1;
	g->tracks->depths = 1;
	pf_buf_adds(&g->tracks->label, LABEL);
	g->start_ns = pf_alloc(t->count * sizeof(*g->start_ns));
	g->dur_ns = pf_alloc(t->count * sizeof(*g->dur_ns));
	g->name = pf_alloc(t->count * sizeof(*g->name));
	g->depth = pf_calloc(t->count, 1);
	g->cat = pf_alloc(t->count);
	if (t->all > (int64_t)t->count)
		g->until_ns = t->pieces[t->count - 1].end_ns - out->first_ns;
	return g;
}

int pf_path_track_put(const struct pf_path_track *t, struct pf_names *names,
		      const struct pf_redact *redact, struct pf_timeline *out,
		      struct pf_err *err)
{
	struct namer n = { .out = out, .names = names, .redact = redact };
	uint32_t before = (uint32_t)out->name_count;
	struct pf_slices *g;
	int rc = 0;

	if (!t->count)
		return 0;
	g = open_group(t, out);
	pf_intern_init(&n.texts);
	pf_map_init(&n.known);
	out->name_cap = out->name_count;
	for (size_t i = 0; i < t->count && !rc; i++) {
		const struct pf_path_piece *p = &t->pieces[i];
		int64_t ns = p->end_ns - p->start_ns;
		uint32_t name;

		rc = find_name(&n, p, &name, err);
		if (rc)
			break;
		g->start_ns[i] = p->start_ns - out->first_ns;
		g->dur_ns[i] = ns;
		g->name[i] = before + name;
		g->cat[i] = p->cat;
		pf_sat_sum(&out->names[before + name].time_ns, ns);
		g->count++;
	}
	g->tracks->count = g->count;
	pf_intern_release(&n.texts);
	pf_map_release(&n.known);
	return rc;
}

int pf_path_track_add(struct pf_db *db, const struct pf_window_args *window,
		      int64_t most, const struct pf_redact *redact,
		      struct pf_timeline *out, struct pf_err *err)
{
	struct pf_path_track track = { .most = most > 0 ? (size_t)most : 0 };
	struct pf_path_args args = { .window = *window, .is_bare = true };
	struct pf_path path = { 0 };
	int rc;

	if (!track.most)
		return 0;
	args.window.trace = out->trace_id;
	args.window.rank = NULL;
	pf_path_track_begin(&track, &args);
	rc = pf_path_find(db, &args, &path, err);
	if (!rc)
		rc = pf_path_track_put(&track, path.names, redact, out, err);
	pf_path_release(&path);
	pf_path_track_release(&track);
	if (rc >= 0 || err->code != PF_EDATA)
		return rc;
	*err = (struct pf_err){ 0 };
	return 0;
}
