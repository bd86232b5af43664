/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "formats/pfr/defs.h"
#include "base/order.h"
#include "base/search.h"

/* Several times what a writer may define (agent/FORMAT.md, section 8). */
#define TEXT_MAX     (64u << 20)
#define STRINGS_MAX  (1u << 20)
#define LAUNCHES_MAX (1u << 20)
#define KEYED_MAX    (1u << 18)

void pf_pfr_defs_release(struct pf_pfr_defs *d)
{
	pf_buf_release(&d->text);
	free(d->strings);
	free(d->launches);
	free(d->keyed);
	memset(d, 0, sizeof(*d));
}

bool pf_pfr_read_name(struct pf_wire *w, struct pf_pfr_name *name)
{
	uint64_t v;

	*name = (struct pf_pfr_name){ 0 };
	if (!pf_wire_varint(w, &v))
		return false;
	name->id = v / 2;
	if (!(v & 1))
		return true;
	if (v / 2 > (uint64_t)(w->end - w->p))
		return false;
	name->id = 0;
	name->text = (const char *)w->p;
	name->len = (size_t)(v / 2);
	w->p += name->len;
	return true;
}

bool pf_pfr_read_launch(struct pf_wire *w, bool whole, struct pf_pfr_launch *l)
{
	uint32_t *const fields[] = {
		&l->grid[0],     &l->grid[1],      &l->grid[2],
		&l->block[0],    &l->block[1],     &l->block[2],
		&l->registers,   &l->static_bytes, &l->dynamic_bytes,
		&l->local_bytes, &l->cluster[0],   &l->cluster[1],
		&l->cluster[2],  &l->launch_type,
	};
	const size_t count = sizeof(fields) / sizeof(*fields);

	memset(l, 0, sizeof(*l));
	if (!pf_pfr_read_name(w, &l->name))
		return false;
	for (size_t i = 0; i < count; i++) {
		uint64_t v;

		/* The cluster and launch type may be left out of a LAUNCH. */
		if (i == count - 4 && !whole && w->p == w->end)
			return true;
		if (!pf_wire_varint(w, &v))
			return false;
		*fields[i] = v > UINT32_MAX ? UINT32_MAX : (uint32_t)v;
	}
	return true;
}

/* Copy a text; false: past the limit. */
static bool keep(struct pf_pfr_defs *d, const void *p, size_t len, size_t *at)
{
	if (len > PF_PFR_TEXT_MAX || len > TEXT_MAX - d->text.len) {
		d->past_cap++;
		return false;
	}
	*at = d->text.len;
	pf_buf_add(&d->text, p, len);
	return true;
}

static bool same_text(const struct pf_pfr_defs *d, size_t at, size_t old_len,
		      const struct pf_wire *w)
{
	size_t len = (size_t)(w->end - w->p);

	return old_len == len && !memcmp(d->text.data + at, w->p, len);
}

static bool add_string(struct pf_pfr_defs *d, struct pf_wire *w)
{
	struct pf_pfr_def *def;
	size_t old = d->string_cap;
	uint64_t id;

	if (!pf_wire_varint(w, &id) || !id)
		return false;
	if (id >= STRINGS_MAX) {
		d->past_cap++;
		return true;
	}
	if (id >= old) {
		d->strings = pf_grow(d->strings, &d->string_cap, (size_t)id + 1,
				     sizeof(*d->strings));
		memset(d->strings + old, 0,
		       (d->string_cap - old) * sizeof(*d->strings));
	}
	def = &d->strings[id];
	/* The recap says again what is known. */
	if (def->known && same_text(d, def->at, def->len, w))
		return true;
	if (!keep(d, w->p, (size_t)(w->end - w->p), &def->at))
		return true;
	def->len = (uint32_t)(w->end - w->p);
	def->known = true;
	return true;
}

static bool add_launch(struct pf_pfr_defs *d, struct pf_wire *w)
{
	struct pf_pfr_launch_def def = { .known = true };
	size_t old = d->launch_cap;
	uint64_t id;

	if (!pf_wire_varint(w, &id) || !id ||
	    !pf_pfr_read_launch(w, false, &def.launch))
		return false;
	if (id >= LAUNCHES_MAX) {
		d->past_cap++;
		return true;
	}
	if (id < old && d->launches[id].known)
		return true; /* defined once with one meaning */
	if (def.launch.name.text &&
	    !keep(d, def.launch.name.text, def.launch.name.len, &def.text_at))
		return true;
	if (id >= old) {
		d->launches = pf_grow(d->launches, &d->launch_cap,
				      (size_t)id + 1, sizeof(*d->launches));
		memset(d->launches + old, 0,
		       (d->launch_cap - old) * sizeof(*d->launches));
	}
	d->launches[id] = def;
	return true;
}

static bool read_key(struct pf_wire *w, unsigned table, uint64_t *key)
{
	uint64_t low;

	if (!pf_wire_varint(w, key))
		return false;
	if (table == PF_PFR_THREAD || table == PF_PFR_DOMAIN)
		return true;
	if (!pf_wire_varint(w, &low))
		return false;
	*key = table == PF_PFR_CBID ? low << 1 | (*key == 1)
				    : *key << 32 | (uint32_t)low;
	return true;
}

static bool add_keyed(struct pf_pfr_defs *d, unsigned table, struct pf_wire *w)
{
	struct pf_pfr_keyed k = { .table = (uint8_t)table,
				  .order = d->keyed_count };

	if (!read_key(w, table, &k.key))
		return false;
	if (d->keyed_count >= KEYED_MAX && !d->is_keyed_full) {
		pf_pfr_defs_seal(d); /* forgets what came again */
		k.order = d->keyed_count;
		/* or sorting is all that would be done from here on */
		d->is_keyed_full = d->keyed_count > KEYED_MAX / 8 * 7;
	}
	if (d->keyed_count >= KEYED_MAX || d->is_keyed_full) {
		d->past_cap++;
		return true;
	}
	k.len = (uint32_t)(w->end - w->p);
	if (!keep(d, w->p, k.len, &k.at))
		return true;
	d->keyed = pf_grow(d->keyed, &d->keyed_cap, d->keyed_count + 1,
			   sizeof(*d->keyed));
	d->keyed[d->keyed_count++] = k;
	return true;
}

static bool add_entry(struct pf_pfr_defs *d, unsigned table, struct pf_wire *w)
{
	switch (table) {
	case PF_PFR_STR:
		return add_string(d, w);
	case PF_PFR_LAUNCH:
		return add_launch(d, w);
	case PF_PFR_CBID:
	case PF_PFR_THREAD:
	case PF_PFR_DOMAIN:
	case PF_PFR_CATEGORY:
		return add_keyed(d, table, w);
	default:
		return true; /* of a later minor version */
	}
}

void pf_pfr_defs_add(struct pf_pfr_defs *d, const unsigned char *p, size_t len)
{
	struct pf_wire w = { p, p + len };

	while (w.p < w.end) {
		unsigned table = *w.p++;
		struct pf_wire body;
		uint64_t n;

		if (!pf_wire_varint(&w, &n) || n > (uint64_t)(w.end - w.p)) {
			d->bad++;
			return;
		}
		body = (struct pf_wire){ w.p, w.p + n };
		w.p += n;
		if (!add_entry(d, table, &body))
			d->bad++;
	}
}

static int compare_keys(const struct pf_pfr_keyed *x,
			const struct pf_pfr_keyed *y)
{
	if (x->table != y->table)
		return x->table < y->table ? -1 : 1;
	return (x->key > y->key) - (x->key < y->key);
}

PF_ORDER(compare, struct pf_pfr_keyed, PF_UP(table) PF_UP(key) PF_UP(order))

/* Sorted, and only the last one of each key. */
void pf_pfr_defs_seal(struct pf_pfr_defs *d)
{
	size_t kept = 0;

	pf_sort(d->keyed, d->keyed_count, sizeof(*d->keyed), compare);
	for (size_t i = 0; i < d->keyed_count; i++)
		if (i + 1 == d->keyed_count ||
		    compare_keys(&d->keyed[i], &d->keyed[i + 1]))
			d->keyed[kept++] = d->keyed[i];
	d->keyed_count = kept;
	for (size_t i = 0; i < kept; i++)
		d->keyed[i].order = i;
	for (size_t i = 0; i < d->launch_cap; i++)
		if (d->launches[i].launch.name.text)
			d->launches[i].launch.name.text =
				d->text.data + d->launches[i].text_at;
}

struct pf_pfr_text pf_pfr_string(const struct pf_pfr_defs *d, uint64_t id)
{
	if (id >= d->string_cap || !d->strings[id].known)
		return (struct pf_pfr_text){ NULL, 0 };
	return (struct pf_pfr_text){ d->text.data + d->strings[id].at,
				     d->strings[id].len };
}

const struct pf_pfr_launch *pf_pfr_launch_of(const struct pf_pfr_defs *d,
					     uint64_t id)
{
	return id < d->launch_cap && d->launches[id].known
		       ? &d->launches[id].launch
		       : NULL;
}

struct pf_pfr_text pf_pfr_keyed_text(const struct pf_pfr_defs *d,
				     enum pf_pfr_table table, uint64_t key)
{
	const struct pf_pfr_keyed want = { .table = (uint8_t)table,
					   .key = key };
	size_t at = PF_SEARCH(i, d->keyed_count,
			      compare_keys(&d->keyed[i], &want) < 0);

	if (at == d->keyed_count || compare_keys(&d->keyed[at], &want))
		return (struct pf_pfr_text){ NULL, 0 };
	return (struct pf_pfr_text){ d->text.data + d->keyed[at].at,
				     d->keyed[at].len };
}
