/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "formats/xspace/args.h"
#include "formats/xspace/memo.h"
#include "formats/xspace/shape.h"

#define SLOTS         (1u << 15)
#define TEXT_MAX      (12u << 20)
#define LONG_NAME_MAX (64u << 10)
#define META_MAX      (256u << 10)

struct pf_xs_memos *pf_xs_memos_new(void)
{
	struct pf_xs_memos *t = pf_calloc(1, sizeof(*t));

	t->keys = pf_calloc(SLOTS, sizeof(*t->keys));
	t->names = pf_calloc(SLOTS, sizeof(*t->names));
	t->shapes = pf_xs_shapes_new();
	t->text_generation = 1;
	return t;
}

void pf_xs_memos_free(struct pf_xs_memos *t)
{
	free(t->keys);
	free(t->names);
	free(t->shapes);
	pf_buf_release(&t->text);
	pf_buf_release(&t->raw);
	pf_buf_release(&t->extra);
	pf_buf_release(&t->pieces);
	free(t);
}

void pf_xs_memos_forget(struct pf_xs_memos *t)
{
	pf_buf_clear(&t->text);
	t->text_generation++;
}

void pf_xs_memos_trim(struct pf_xs_memos *t)
{
	if (t->text.len > TEXT_MAX)
		pf_xs_memos_forget(t);
}

/* ---- statistics ---- */

static enum pf_xs_role find_role(const char *name)
{
	static const struct {
		const char *name;
		enum pf_xs_role role;
	} roles[] = {
		{ "correlation_id", PF_XS_CORRELATION },
		{ "step_num", PF_XS_STEP },
		{ "tf_op", PF_XS_OPERATOR },
		{ "kernel_name", PF_XS_OPERATOR },
		{ "hlo_op", PF_XS_OPERATOR },
		{ "kernel_details", PF_XS_KERNEL_DETAILS },
		{ "memcpy_details", PF_XS_COPY_DETAILS },
		{ "memset_details", PF_XS_FILL_DETAILS },
		{ "allocator_name", PF_XS_ALLOCATOR },
		{ "index_on_host", PF_XS_ALLOCATOR_INDEX },
		{ "allocation_bytes", PF_XS_ALLOCATED },
		{ "bytes_allocated", PF_XS_IN_USE },
		{ "addr", PF_XS_ADDRESS },
	};

	for (size_t i = 0; i < sizeof(roles) / sizeof(*roles); i++)
		if (!strcmp(roles[i].name, name))
			return roles[i].role;
	return pf_is_runtime_stat(name, strlen(name)) ? PF_XS_RUNTIME
						      : PF_XS_PLAIN;
}

static int read_key(struct pf_xs_map *m, int64_t id, struct pf_xs_key *out,
		    struct pf_err *err)
{
	struct pf_xs_memos *t = m->memos;
	const struct pf_xs_def *def =
		pf_xs_def_find(&m->defs, PF_XS_STATS, id, err);

	*out = (struct pf_xs_key){ .at = (uint32_t)t->text.len };
	if (!def)
		return err->code ? -1 : 0;
	pf_buf_clear(&t->raw);
	if (pf_xs_def_name(&m->names, def, 2, PF_XS_TEXT_MAX + 1, &t->raw, err))
		return -1;
	if (!t->raw.len)
		return 0;
	out->role = find_role(t->raw.data);
	pf_xs_quote(&t->text, t->raw.data, t->raw.len);
	out->len = (uint32_t)(t->text.len - out->at);
	return 0;
}

const struct pf_xs_key *pf_xs_find_key(struct pf_xs_map *m, int64_t id,
				       struct pf_err *err)
{
	struct pf_xs_memos *t = m->memos;
	struct pf_xs_key_slot *slot = &t->keys[(uint64_t)id % SLOTS];

	if (slot->id == id && slot->generation == t->text_generation)
		return &slot->key;
	slot->id = id;
	slot->generation = t->text_generation;
	return read_key(m, id, &slot->key, err) ? NULL : &slot->key;
}

/* ---- events ---- */

static void classify(struct pf_xs_name *out, const struct pf_buf *name,
		     const struct pf_buf *shown)
{
	enum pf_kind work =
		pf_work_kind(name->data, name->len, false, false, false);

	out->host_kind = pf_host_kind(name->data, name->len);
	out->is_hip = name->len > 3 && !memcmp(name->data, "hip", 3);
	out->is_freed = out->host_kind == PF_KIND_MEMORY &&
			memmem(name->data, name->len, "Deallocation", 12);
	out->is_tf_data = pf_is_tf_data(name->data, name->len);
	out->is_copy = work == PF_KIND_MEMCPY;
	out->is_fill = work == PF_KIND_MEMSET;
	out->is_operator =
		pf_is_operator(name->data, name->len, shown->data, shown->len);
	out->has_number = pf_step_of(name->data, name->len, &out->number);
}

/* The statistics of the metadata itself, as pieces of arguments. */
static int read_more(struct pf_xs_map *m, const struct pf_xs_def *def,
		     struct pf_err *err)
{
	size_t len = (size_t)(def->end - def->at);
	struct pf_xs_memos *t = m->memos;
	struct pf_wire message;
	struct pf_xs_field f;
	const unsigned char *p;
	size_t at = 0;

	if (len > META_MAX)
		return 0;
	p = pf_xs_bytes_at(&m->names, def->at, len, err);
	if (!p)
		return -1;
	pf_buf_clear(&t->extra);
	for (message = (struct pf_wire){ p, p + len };
	     pf_xs_next(&message, &f) == PF_XS_FIELD;)
		if (f.number == 5 && f.wire == PF_XS_LENGTH &&
		    f.text.end - f.text.p < PF_XS_TEXT_MAX)
			pf_xs_keep_stat(&t->extra, f.text);
	while (at < t->extra.len)
		if (pf_xs_add_more(m, &at, err))
			return -1;
	return 0;
}

/* "%add.1 = f32[4] add(...)", the text of an operation, is "add.1". */
static void shorten(const struct pf_buf *text, struct pf_buf *out)
{
	const char *end = text->len ? strstr(text->data, " = ") : NULL;

	if (end && end > text->data + 1 && *text->data == '%')
		pf_buf_add(out, text->data + 1, (size_t)(end - text->data) - 1);
}

static int read_name(struct pf_xs_map *m, int64_t id, struct pf_xs_name *out,
		     struct pf_err *err)
{
	bool is_tpu = m->plane->what.kind == PF_PLANE_TPU;
	struct pf_xs_memos *t = m->memos;
	const struct pf_xs_def *def =
		pf_xs_def_find(&m->defs, PF_XS_EVENTS, id, err);
	struct pf_buf shown = { 0 }, long_name = { 0 };
	char unknown[40];
	int rc = 0;

	*out = (struct pf_xs_name){ .is_known = def };
	if (!def && err->code)
		return -1;
	pf_buf_clear(&t->raw);
	if (def)
		rc = pf_xs_def_name(&m->names, def, 2, LONG_NAME_MAX, &t->raw,
				    err) ||
		     pf_xs_def_name(&m->names, def, 4, LONG_NAME_MAX, &shown,
				    err);
	if (!rc && !def) {
		snprintf(unknown, sizeof(unknown), "unknown %" PRId64, id);
		pf_buf_adds(&t->raw, unknown);
	}
	if (!t->raw.data)
		pf_buf_adds(&t->raw, "");
	if (is_tpu && !shown.len)
		shorten(&t->raw, &shown);
	classify(out, &t->raw, &shown);
	pf_buf_clear(&t->pieces);
	/* The name of a TPU's operation is all of its text. */
	if (is_tpu && shown.len) {
		out->entry = pf_dict_find(&m->parsed.names, shown.data,
					  shown.len, 0);
		pf_buf_add(&long_name, t->raw.data, t->raw.len);
	} else {
		out->entry = pf_dict_find(&m->parsed.names, t->raw.data,
					  t->raw.len, 0);
	}
	if (!rc && def)
		rc = read_more(m, def, err);
	if (is_tpu && shown.len)
		pf_xs_add_long_name(m, &long_name);
	pf_buf_release(&shown);
	pf_buf_release(&long_name);
	out->stats_at = (uint32_t)t->text.len;
	out->stats_len = (uint32_t)t->pieces.len;
	pf_buf_add(&t->text, t->pieces.data, t->pieces.len);
	return rc ? -1 : 0;
}

const struct pf_xs_name *pf_xs_find_name(struct pf_xs_map *m, int64_t id,
					 struct pf_err *err)
{
	struct pf_xs_memos *t = m->memos;
	struct pf_xs_name_slot *slot = &t->names[(uint64_t)id % SLOTS];

	if (slot->id == id && slot->generation == m->generation &&
	    slot->text_generation == t->text_generation)
		return &slot->name;
	slot->id = id;
	slot->generation = m->generation;
	slot->text_generation = t->text_generation;
	return read_name(m, id, &slot->name, err) ? NULL : &slot->name;
}
