/* SPDX-License-Identifier: MIT */
/*
 * Rules but "position" are equality of a part of the key: rows of one part
 * that are left on both sides become one pair.  By position: rows that are
 * paired already and in the same order on both sides divide the others of
 * their path into runs (a longest common subsequence, as keys are distinct);
 * runs of equal length are paired one by one.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "compare/diff_match.h"
#include "base/order.h"
#include "compare/family.h"
#include "base/mem.h"
#include "base/search.h"

#define NO_LAUNCH "(no launch record)"
#define PART_MAX  8

struct matcher {
	struct pf_intern *texts;
	struct pf_families *families;
	uint32_t *family; /* by number of text; UINT32_MAX: not yet */
	size_t family_count;
	const struct pf_side *side[2];
	uint32_t *of[2];
	struct pf_pairs *out;
	uint32_t none, no_launch;
};

const char *pf_match_name(enum pf_match match)
{
	static const char *const names[] = {
		[PF_MATCH_EXACT] = "exact",   [PF_MATCH_STREAM] = "stream",
		[PF_MATCH_SHAPE] = "shape",   [PF_MATCH_POSITION] = "position",
		[PF_MATCH_FAMILY] = "family", [PF_MATCH_GROUP] = "group",
		[PF_MATCH_ADDED] = "added",   [PF_MATCH_REMOVED] = "removed",
	};

	return names[match];
}

/* ---- pairs ---- */

static uint32_t new_pair(struct matcher *m, enum pf_match match)
{
	struct pf_pairs *p = m->out;

	p->items = pf_grow(p->items, &p->cap, p->count + 1, sizeof(*p->items));
	p->items[p->count] = (struct pf_pair){ .match = match,
					       .a_row = PF_NO_ROW,
					       .b_row = PF_NO_ROW };
	return (uint32_t)p->count++;
}

static void put(struct matcher *m, uint32_t pair, int side, size_t row)
{
	struct pf_pair *p = &m->out->items[pair];
	const struct pf_work_row *rows = m->side[side]->work;
	uint32_t *most = side ? &p->b_row : &p->a_row;

	m->of[side][row] = pair;
	*(side ? &p->b_rows : &p->a_rows) += 1;
	*(side ? &p->b_count : &p->a_count) += rows[row].count;
	*(side ? &p->b_ns : &p->a_ns) += rows[row].ns;
	if (*most == PF_NO_ROW || rows[row].ns > rows[*most].ns)
		*most = (uint32_t)row;
}

/* ---- rules by a part of the key ---- */

static uint32_t family_of(struct matcher *m, uint32_t kernel)
{
	struct pf_buf text = { 0 };
	size_t len;

	if (kernel >= m->family_count)
		return kernel;
	if (m->family[kernel] == UINT32_MAX) {
		pf_family_name(m->families,
			       pf_intern_text(m->texts, kernel, NULL), &text);
		len = text.len;
		m->family[kernel] =
			pf_intern_add(m->texts, len ? text.data : "", len);
		pf_buf_release(&text);
	}
	return m->family[kernel];
}

/* The part of a row's key that a rule asks for; 0: the rule is not for it. */
struct rule {
	enum pf_match match;
	size_t (*part)(struct matcher *m, const struct pf_work_key *k,
		       uint32_t out[PART_MAX]);
};

static size_t part_exact(struct matcher *m, const struct pf_work_key *k,
			 uint32_t out[PART_MAX])
{
	const uint32_t part[] = { k->path,   k->op,
				  k->shapes, k->kernel,
				  k->role,   k->class,
				  k->kind,   k->module ^ k->annotation };

	(void)m;
	memcpy(out, part, sizeof(part));
	return sizeof(part);
}

static size_t part_stream(struct matcher *m, const struct pf_work_key *k,
			  uint32_t out[PART_MAX])
{
	const uint32_t part[] = { k->path, k->op, k->shapes, k->kernel };

	(void)m;
	memcpy(out, part, sizeof(part));
	return sizeof(part);
}

static size_t part_shape(struct matcher *m, const struct pf_work_key *k,
			 uint32_t out[PART_MAX])
{
	const uint32_t part[] = { k->path, k->op, k->kernel };

	(void)m;
	memcpy(out, part, sizeof(part));
	return sizeof(part);
}

static size_t part_family_path(struct matcher *m, const struct pf_work_key *k,
			       uint32_t out[PART_MAX])
{
	const uint32_t part[] = { k->path, family_of(m, k->kernel), k->class };

	memcpy(out, part, sizeof(part));
	return sizeof(part);
}

static size_t part_family_op(struct matcher *m, const struct pf_work_key *k,
			     uint32_t out[PART_MAX])
{
	const uint32_t part[] = { k->op, family_of(m, k->kernel), k->class };

	memcpy(out, part, sizeof(part));
	return k->op == m->none ? 0 : sizeof(part);
}

static size_t part_family_region(struct matcher *m, const struct pf_work_key *k,
				 uint32_t out[PART_MAX])
{
	const uint32_t part[] = { k->region, family_of(m, k->kernel),
				  k->class };

	memcpy(out, part, sizeof(part));
	return k->region == m->none ? 0 : sizeof(part);
}

static size_t part_family(struct matcher *m, const struct pf_work_key *k,
			  uint32_t out[PART_MAX])
{
	const uint32_t part[] = { family_of(m, k->kernel), k->class };

	memcpy(out, part, sizeof(part));
	return sizeof(part);
}

static size_t part_path(struct matcher *m, const struct pf_work_key *k,
			uint32_t out[PART_MAX])
{
	out[0] = k->path;
	return k->path == m->none || k->path == m->no_launch ? 0 : sizeof(*out);
}

static size_t part_region(struct matcher *m, const struct pf_work_key *k,
			  uint32_t out[PART_MAX])
{
	out[0] = k->region;
	return k->region == m->none ? 0 : sizeof(*out);
}

static void mark(struct matcher *m, const struct rule *rule, int side,
		 struct pf_intern *parts, uint32_t *part_of)
{
	const struct pf_side *s = m->side[side];
	uint32_t part[PART_MAX];

	for (size_t i = 0; i < s->work_count; i++) {
		size_t len = 0;

		part_of[i] = UINT32_MAX;
		if (m->of[side][i] == UINT32_MAX)
			len = rule->part(m, &s->work[i].key, part);
		if (len)
			part_of[i] =
				pf_intern_add(parts, (const char *)part, len);
	}
}

static void apply(struct matcher *m, const struct rule *rule)
{
	struct pf_intern parts;
	uint32_t *part_of[2], *pair_of;
	unsigned char *has;

	pf_intern_init(&parts);
	for (int s = 0; s < 2; s++) {
		part_of[s] = pf_calloc(m->side[s]->work_count + 1,
				       sizeof(*part_of[s]));
		mark(m, rule, s, &parts, part_of[s]);
	}
	has = pf_calloc(parts.count + (size_t)1, sizeof(*has));
	pair_of = pf_calloc(parts.count + (size_t)1, sizeof(*pair_of));
	for (size_t i = 0; i < parts.count; i++)
		pair_of[i] = UINT32_MAX;
	for (int s = 0; s < 2; s++)
		for (size_t i = 0; i < m->side[s]->work_count; i++)
			if (part_of[s][i] != UINT32_MAX)
				has[part_of[s][i]] |= (unsigned char)(1 << s);
	for (int s = 0; s < 2; s++)
		for (size_t i = 0; i < m->side[s]->work_count; i++) {
			uint32_t part = part_of[s][i];

			if (part == UINT32_MAX || has[part] != 3)
				continue;
			if (pair_of[part] == UINT32_MAX)
				pair_of[part] = new_pair(m, rule->match);
			put(m, pair_of[part], s, i);
		}
	free(has);
	free(pair_of);
	free(part_of[0]);
	free(part_of[1]);
	pf_intern_release(&parts);
}

/* ---- by position ---- */

struct place {
	uint32_t path, row;
	uint64_t first;
};

PF_ORDER(by_path, struct place, PF_UP(path) PF_UP(first) PF_UP(row))

static struct place *places_take(const struct pf_side *s)
{
	struct place *list = pf_calloc(s->work_count + 1, sizeof(*list));

	for (size_t i = 0; i < s->work_count; i++)
		list[i] = (struct place){ s->work[i].key.path, (uint32_t)i,
					  s->work[i].first };
	pf_sort(list, s->work_count, sizeof(*list), by_path);
	return list;
}

static bool is_alike(const struct matcher *m, size_t a, size_t b)
{
	const struct pf_work_key *x = &m->side[0]->work[a].key;
	const struct pf_work_key *y = &m->side[1]->work[b].key;

	return x->kind == y->kind && x->class == y->class;
}

/* Rows of a and of b between two that are paired. */
static void pair_runs(struct matcher *m, const struct place *a, size_t a_count,
		      const struct place *b, size_t b_count)
{
	size_t left[2] = { 0, 0 }, i = 0, k = 0;

	for (size_t n = 0; n < a_count; n++)
		left[0] += m->of[0][a[n].row] == UINT32_MAX;
	for (size_t n = 0; n < b_count; n++)
		left[1] += m->of[1][b[n].row] == UINT32_MAX;
	if (!left[0] || left[0] != left[1])
		return;
	for (; i < a_count && k < b_count; i++, k++) {
		uint32_t pair;

		while (i < a_count && m->of[0][a[i].row] != UINT32_MAX)
			i++;
		while (k < b_count && m->of[1][b[k].row] != UINT32_MAX)
			k++;
		if (i == a_count || k == b_count)
			return;
		if (!is_alike(m, a[i].row, b[k].row))
			continue;
		pair = new_pair(m, PF_MATCH_POSITION);
		put(m, pair, 0, a[i].row);
		put(m, pair, 1, b[k].row);
	}
}

/*
 * The longest ascending subsequence of values[0..count), UINT32_MAX left out:
 * places of its members into "chain", in order.  Returns how many.
 */
static size_t find_chain(const uint32_t *values, size_t count, uint32_t *chain)
{
	uint32_t *tail = pf_calloc(count + 1, sizeof(*tail));
	uint32_t *before = pf_calloc(count + 1, sizeof(*before));
	size_t length = 0;

	for (size_t i = 0; i < count; i++) {
		size_t low;

		if (values[i] == UINT32_MAX)
			continue;
		low = PF_SEARCH(k, length, values[tail[k]] < values[i]);
		before[i] = low ? tail[low - 1] : UINT32_MAX;
		tail[low] = (uint32_t)i;
		if (low == length)
			length++;
	}
	for (size_t n = length, at = length ? tail[length - 1] : 0; n-- > 0;) {
		chain[n] = (uint32_t)at;
		at = before[at];
	}
	free(tail);
	free(before);
	return length;
}

static void match_path(struct matcher *m, const struct place *a, size_t a_count,
		       const struct place *b, size_t b_count, uint32_t *where)
{
	uint32_t *values = pf_calloc(a_count + 1, sizeof(*values));
	uint32_t *chain = pf_calloc(a_count + 1, sizeof(*chain));
	size_t length, i = 0, k = 0;

	for (size_t n = b_count; n-- > 0;)
		if (m->of[1][b[n].row] != UINT32_MAX)
			where[m->of[1][b[n].row]] = (uint32_t)n;
	for (size_t n = 0; n < a_count; n++) {
		uint32_t pair = m->of[0][a[n].row];

		values[n] = pair == UINT32_MAX ? UINT32_MAX : where[pair];
	}
	length = find_chain(values, a_count, chain);
	for (size_t n = 0; n <= length; n++) {
		size_t i_end = n < length ? chain[n] : a_count;
		size_t k_end = n < length ? values[chain[n]] : b_count;

		pair_runs(m, a + i, i_end - i, b + k, k_end - k);
		i = i_end + 1;
		k = k_end + 1;
	}
	for (size_t n = 0; n < b_count; n++)
		if (m->of[1][b[n].row] != UINT32_MAX)
			where[m->of[1][b[n].row]] = UINT32_MAX;
	free(values);
	free(chain);
}

static size_t run_length(const struct place *list, size_t count)
{
	size_t n = 0;

	while (n < count && list[n].path == list[0].path)
		n++;
	return n;
}

static void match_positions(struct matcher *m)
{
	size_t counts[2] = { m->side[0]->work_count, m->side[1]->work_count };
	struct place *a = places_take(m->side[0]), *b = places_take(m->side[1]);
	/* pairs made here are of rows that are behind */
	uint32_t *where =
		pf_calloc(m->out->count + counts[0] + 1, sizeof(*where));
	size_t i = 0, k = 0;

	for (size_t n = 0; n < m->out->count + counts[0]; n++)
		where[n] = UINT32_MAX;
	while (i < counts[0] && k < counts[1]) {
		size_t na = run_length(a + i, counts[0] - i);
		size_t nb = run_length(b + k, counts[1] - k);

		if (a[i].path < b[k].path) {
			i += na;
		} else if (a[i].path > b[k].path) {
			k += nb;
		} else {
			if (a[i].path != m->no_launch)
				match_path(m, a + i, na, b + k, nb, where);
			i += na;
			k += nb;
		}
	}
	free(where);
	free(a);
	free(b);
}

/* ---- the whole ---- */

static void match_rest(struct matcher *m)
{
	for (int s = 0; s < 2; s++)
		for (size_t i = 0; i < m->side[s]->work_count; i++)
			if (m->of[s][i] == UINT32_MAX)
				put(m,
				    new_pair(m, s ? PF_MATCH_ADDED
						  : PF_MATCH_REMOVED),
				    s, i);
}

static void match_all(struct matcher *m, enum pf_diff_by by)
{
	static const struct rule first[] = { { PF_MATCH_EXACT, part_exact },
					     { PF_MATCH_STREAM, part_stream },
					     { PF_MATCH_SHAPE, part_shape } };
	static const struct rule families[] = {
		{ PF_MATCH_FAMILY, part_family_path },
		{ PF_MATCH_FAMILY, part_family_op },
		{ PF_MATCH_FAMILY, part_family_region },
		{ PF_MATCH_FAMILY, part_family },
	};
	static const struct rule groups[] = { { PF_MATCH_GROUP, part_path },
					      { PF_MATCH_GROUP, part_region } };

	apply(m, &first[0]);
	if (by == PF_BY_ALL) {
		apply(m, &first[1]);
		apply(m, &first[2]);
		match_positions(m);
		apply(m, &families[0]);
		apply(m, &families[1]);
		apply(m, &groups[0]);
		apply(m, &families[2]);
		apply(m, &groups[1]);
		apply(m, &families[3]);
	}
	match_rest(m);
}

int pf_match(struct pf_intern *texts, const struct pf_side *a,
	     const struct pf_side *b, enum pf_diff_by by, struct pf_pairs *out,
	     struct pf_err *err)
{
	struct matcher m = { .texts = texts, .side = { a, b }, .out = out };

	*out = (struct pf_pairs){ 0 };
	m.families = pf_families_new(err);
	if (!m.families)
		return -1;
	m.none = pf_intern_add(texts, "", 0);
	m.no_launch = pf_intern_add(texts, NO_LAUNCH, strlen(NO_LAUNCH));
	m.family_count = texts->count;
	m.family = pf_calloc(m.family_count + 1, sizeof(*m.family));
	memset(m.family, 0xff, m.family_count * sizeof(*m.family));
	for (int s = 0; s < 2; s++) {
		m.of[s] =
			pf_calloc(m.side[s]->work_count + 1, sizeof(*m.of[s]));
		memset(m.of[s], 0xff, m.side[s]->work_count * sizeof(*m.of[s]));
	}
	out->of_a = m.of[0];
	out->of_b = m.of[1];
	match_all(&m, by);
	free(m.family);
	pf_families_free(m.families);
	return 0;
}

void pf_pairs_release(struct pf_pairs *p)
{
	free(p->items);
	free(p->of_a);
	free(p->of_b);
	*p = (struct pf_pairs){ 0 };
}
