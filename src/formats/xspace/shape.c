/* SPDX-License-Identifier: MIT */
/*
 * Invariant: of two events with one key the text of the arguments, the slots
 * that they have and what they are is the same.  A number that is too large
 * for a slot, or negative, is part of the key.
 */
#include "config.h"

#include <string.h>

#include "base/mem.h"
#include "formats/xspace/args.h"
#include "formats/xspace/shape.h"

#define SHAPES (1u << 15)

struct pf_xs_shape *pf_xs_shapes_new(void)
{
	return pf_calloc(SHAPES, sizeof(struct pf_xs_shape));
}

static bool add(struct pf_xs_shape_key *key, const void *p, size_t len)
{
	if (len > PF_XS_KEY_MAX - key->len)
		return false;
	memcpy(key->bytes + key->len, p, len);
	key->len += len;
	return true;
}

/* Is it one that only its slot tells from others?  Then its value, too. */
static bool is_number(const struct pf_xs_stat *stat, int64_t *value)
{
	*value = (int64_t)stat->value;
	if (stat->kind == 2)
		return pf_xs_decimal(stat->value, value);
	return (stat->kind == 3 || stat->kind == 4) &&
	       stat->value < (uint64_t)PF_XS_SLOT_LIMIT;
}

static bool add_stat(struct pf_xs_shape_key *key, const struct pf_xs_stat *stat,
		     size_t i)
{
	size_t len = (size_t)(stat->text.end - stat->text.p);
	int64_t value;
	bool is_slot = is_number(stat, &value);
	const uint64_t head[2] = { (uint64_t)stat->id,
				   stat->kind | (uint64_t)is_slot << 8 |
					   (uint64_t)len << 32 };

	if (!add(key, head, sizeof(head)))
		return false;
	if (stat->kind == 5)
		return add(key, stat->text.p, len);
	if (!is_slot)
		return add(key, &stat->value, sizeof(stat->value));
	if (key->count == PF_SLOT_COUNT)
		return false;
	key->values[key->count++] = value;
	key->numbers |= UINT64_C(1) << i;
	if (stat->kind == 2)
		key->decimals |= UINT64_C(1) << (key->count - 1);
	return true;
}

bool pf_xs_shape_key(const struct pf_xs_map *m, const struct pf_xs_name *name,
		     int64_t meta, const struct pf_xs_stat *stats, size_t count,
		     struct pf_xs_shape_key *key)
{
	const int64_t head[] = { m->line.serial, name->host_kind,
				 name->is_freed, name->stats_len ? meta : 0 };

	key->len = key->count = 0;
	key->numbers = key->decimals = 0;
	/* This one has its number from its name. */
	if (m->line.has_steps && name->has_number)
		return false;
	add(key, head, sizeof(head));
	for (size_t i = 0; i < count; i++)
		if (!add_stat(key, &stats[i], i))
			return false;
	return true;
}

struct pf_xs_shape *pf_xs_shape_find(const struct pf_xs_map *m,
				     const struct pf_xs_shape_key *key,
				     bool *is_known)
{
	struct pf_dict_hash d = pf_dict_hash(key->bytes, key->len, 0);
	struct pf_xs_shape *s = &m->memos->shapes[d.low % SHAPES];

	*is_known = s->low == d.low && s->high == d.high &&
		    s->generation == m->generation;
	if (!*is_known)
		*s = (struct pf_xs_shape){ .low = d.low, .high = d.high };
	return s;
}

void pf_xs_shape_slots(struct pf_xs_map *m, const struct pf_xs_shape *s,
		       const struct pf_xs_shape_key *key)
{
	m->mask = s->mask;
	for (unsigned i = 0; i < key->count; i++) {
		unsigned slot = s->slots[i];
		int64_t value = key->values[i];

		if (slot >= PF_SLOT_FRACTION && !(key->decimals >> i & 1))
			value *= 16;
		if (slot == PF_SLOT_BYTES && s->made.is_freed)
			value = -value;
		m->slots[slot] = value;
	}
}
