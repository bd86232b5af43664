/* SPDX-License-Identifier: MIT */
/*
 * Rules but "position" are equality of a part of the key: rows of one part
 * that are left on both sides become one pair.  By position: rows that are
 * paired already and in the same order on both sides divide the others of
 * their path into runs (a longest common subsequence, as keys are distinct);
 * runs of equal length are paired one by one.
 */
#include "config.h"

#include "compare/diff_match.h"

#include <ctype.h>
#include <strings.h>

#include "base/mem.h"
#include "base/order.h"
#include "base/search.h"
#include "events/gpu.h"
#include "formats/event.h"

struct pool {
	struct pf_capture *out;
	struct pf_intern *texts;
	const struct pf_capture *from;
	uint32_t *numbers; /* of the capture's texts; UINT32_MAX: not yet */
	uint32_t none;
	enum pf_diff_by by;
};

static uint32_t text_of(struct pool *p, uint32_t n)
{
	const char *text;
	size_t len;

	if (p->numbers[n] == UINT32_MAX) {
		text = pf_intern_text(&p->from->texts, n, &len);
		p->numbers[n] = pf_intern_add(p->texts, text, len);
	}
	return p->numbers[n];
}

static uint32_t word(struct pool *p, const char *s)
{
	return pf_intern_add(p->texts, s, strlen(s));
}

static const char *category_of(uint32_t kind)
{
	return kind == PF_KIND_KERNEL   ? "kernel"
	       : kind == PF_KIND_MEMCPY ? "gpu_memcpy"
					: "gpu_memset";
}

/* The members of a key; texts come first. */
enum {
	PATH,
	REGION,
	MODULE,
	ANNOTATION,
	OP,
	SHAPES,
	KERNEL,
	TEXTS,
	ROLE = TEXTS,
	CLASS,
	KIND,
	MEMBERS
};
union key {
	struct pf_work_key key;
	uint32_t member[MEMBERS];
};
_Static_assert(sizeof(struct pf_work_key) == MEMBERS * sizeof(uint32_t),
	       "a member of keys has no number");

/* Keep what rows are put together by; the rest is the same for all. */
static struct pf_work_key key_of(struct pool *p, const struct pf_work_key *k)
{
	static const unsigned kept[] = {
		[PF_BY_OP] = 1 << OP,
		[PF_BY_SHAPE] = 1 << OP | 1 << SHAPES,
		[PF_BY_KERNEL] = 1 << KERNEL | 1 << CLASS | 1 << KIND,
		[PF_BY_MODULE] = 1 << MODULE,
		[PF_BY_ANNOTATION] = 1 << ANNOTATION,
		[PF_BY_STACK] = 1 << PATH,
		[PF_BY_CLASS] = 1 << CLASS,
		[PF_BY_CATEGORY] = 1 << KIND,
		[PF_BY_ALL] = (1 << MEMBERS) - 1,
	};
	const union key from = { *k };
	union key out = { .member = { 0 } };

	for (size_t i = 0; i < MEMBERS; i++) {
		bool is_kept = kept[p->by] >> i & 1;

		if (i < TEXTS)
			out.member[i] =
				is_kept ? text_of(p, from.member[i]) : p->none;
		else if (is_kept)
			out.member[i] = from.member[i];
	}
	if (p->by == PF_BY_CLASS)
		out.key.kernel =
			word(p, pf_gpu_class_name((enum pf_gpu_class)k->class));
	if (p->by == PF_BY_CATEGORY)
		out.key.kernel = word(p, category_of(k->kind));
	return out.key;
}

static void pool_work(struct pool *p, const struct pf_work_row *from,
		      uint64_t first)
{
	struct pf_work_key key = key_of(p, &from->key);
	size_t known = p->out->work.count;
	struct pf_work_row *row =
		pf_capture_row(&p->out->work, &key, sizeof(key));

	if (p->out->work.count > known)
		row->first = first + from->first;
	pf_row_sums_add(&row->sum, &from->sum);
}

static void pool_op(struct pool *p, const struct pf_op_row *from)
{
	const struct pf_op_key key = { text_of(p, from->key.name),
				       text_of(p, from->key.shapes),
				       from->key.kind };
	struct pf_op_row *row = pf_capture_row(&p->out->ops, &key, sizeof(key));

	pf_row_sums_add(&row->sum, &from->sum);
}

static void pool_waits(struct pool *p, const struct pf_keyed *from,
		       struct pf_keyed *to)
{
	for (size_t i = 0; i < from->count; i++) {
		const struct pf_wait_row *r =
			PF_KEYED_ROW(from, struct pf_wait_row, i);
		const struct pf_wait_key key = { r->key.cause,
						 text_of(p, r->key.name),
						 text_of(p, r->key.op),
						 text_of(p, r->key.frame) };
		struct pf_wait_row *row = pf_capture_row(to, &key, sizeof(key));

		pf_row_sums_add(&row->sum, &r->sum);
	}
}

static void pool_sums(struct pf_capture *s, const struct pf_capture *c)
{
	s->steps += c->steps;
	for (size_t i = 0; i < PF_FIGURES; i++) {
		if (!pf_figure_is_peak(i))
			s->of[i] += c->of[i];
		else if (c->of[i] > s->of[i])
			s->of[i] = c->of[i];
	}
	for (size_t i = 0; i < PF_CAUSE_COUNT; i++)
		s->cause_ns[i] += c->cause_ns[i];
	for (size_t i = 0; i < PF_PATH_CATEGORIES; i++)
		s->path_ns[i] += c->path_ns[i];
	s->path_window_ns += c->path_window_ns;
	s->path_steps += c->path_steps;
	s->gpu_events += c->gpu_events;
	s->before_count += c->before_count;
	s->migrated_count += c->migrated_count;
	s->without_launch += c->without_launch;
	s->outside_count += c->outside_count;
	s->lost.cut_count += c->lost.cut_count;
	s->lost.dropped_count += c->lost.dropped_count;
	s->lost.skipped_count += c->lost.skipped_count;
	s->has_steps |= c->has_steps;
	s->has_shapes |= c->has_shapes;
	s->has_code |= c->has_code;
}

static void pool_capture(struct pool *p, const struct pf_capture *c, bool first)
{
	struct pf_capture *s = p->out;

	p->from = c;
	p->numbers = pf_calloc(c->texts.count + (size_t)1, sizeof(*p->numbers));
	for (size_t i = 0; i < c->texts.count; i++)
		p->numbers[i] = UINT32_MAX;
	pool_sums(s, c);
	if (first) {
		s->device_count = c->device_count;
		s->world_size = c->world_size;
		s->trace_count = c->trace_count;
		s->device_name = text_of(p, c->device_name);
		s->hardware = text_of(p, c->hardware);
		s->platform = text_of(p, c->platform);
		s->versions = text_of(p, c->versions);
		s->options = text_of(p, c->options);
	}
	for (size_t i = 0; i < c->work.count; i++)
		pool_work(p, pf_work_at(c, i), first ? 0 : UINT64_C(1) << 40);
	for (size_t i = 0; i < c->ops.count; i++)
		pool_op(p, pf_op_at(c, i));
	pool_waits(p, &c->idle, &s->idle);
	pool_waits(p, &c->sites, &s->sites);
	free(p->numbers);
}

void pf_side_pool(struct pf_capture *out, struct pf_intern *texts,
		  const struct pf_capture *const *captures, size_t count,
		  enum pf_diff_by by)
{
	struct pool p = { .out = out, .texts = texts, .by = by };

	*out = (struct pf_capture){
		.captures = captures,
		.capture_count = count,
		.of = { [PF_FIGURE_PEAK] = -1, [PF_FIGURE_RESERVED] = -1 }
	};
	p.none = word(&p, "");
	pf_capture_rows_begin(out);
	for (size_t i = 0; i < count; i++)
		pool_capture(&p, captures[i], i == 0);
	pf_capture_find_means(out);
}

bool pf_side_knows(const struct pf_capture *s, const struct pf_capture *other,
		   enum pf_step_figure figure)
{
	enum pf_figure_of of = pf_step_figures[figure].of;

	return s->gpu_events || !other->gpu_events ||
	       (of == PF_OF_CALLS ? s->of[PF_FIGURE_CALLS] > 0
				  : of != PF_OF_WORK);
}

/* ---- families of kernels ---- */

enum { CELL_MATCH, CELL_TEXT, CELL_FAMILY };

struct pf_data *pf_families_new(struct pf_err *err)
{
	return pf_data_new("data/families.csv", "match,text,family", err);
}

static const char *find(const struct pf_data *f, const char *kernel)
{
	for (size_t i = 0; i < pf_data_rows(f); i++) {
		const char *text = pf_data_cell(f, i, CELL_TEXT);
		const char *at = strcasestr(kernel, text);

		if (at &&
		    (at == kernel || *pf_data_cell(f, i, CELL_MATCH) == 'c'))
			return pf_data_cell(f, i, CELL_FAMILY);
	}
	return NULL;
}

/* "sm80", "ampere", "128x64", "3", "ldg8": not what it computes. */
static bool is_detail(const char *word, size_t len)
{
	static const char *const architectures[] = {
		"ampere", "hopper", "volta",     "turing", "maxwell",
		"pascal", "ada",    "blackwell", "gfx",    "kernel",
	};
	bool has_digit = false;

	for (size_t i = 0; i < len; i++)
		has_digit |= isdigit((unsigned char)word[i]) != 0;
	if (has_digit)
		return true;
	for (size_t i = 0; i < PF_LEN(architectures); i++)
		if (strlen(architectures[i]) == len &&
		    !strncasecmp(word, architectures[i], len))
			return true;
	return false;
}

/* Words between underscores, without details and template arguments. */
static void add_words(struct pf_buf *out, const char *name)
{
	size_t before = out->len, whole = strcspn(name, "<(");

	for (size_t at = 0; at < whole;) {
		size_t len = strcspn(name + at, "_");

		if (at + len > whole)
			len = whole - at;
		if (len && !is_detail(name + at, len)) {
			if (out->len > before)
				pf_buf_addc(out, '_');
			pf_buf_add(out, name + at, len);
		}
		at += len + 1;
	}
	if (out->len == before)
		pf_buf_add(out, name, whole);
}

void pf_family_name(const struct pf_data *f, const char *kernel,
		    struct pf_buf *out)
{
	const char *family = find(f, kernel);
	PF_AUTO(pf_buf_release) struct pf_buf name = { 0 };

	if (family) {
		pf_buf_adds(out, family);
		return;
	}
	/* "Memcpy HtoD (Pinned -> Device)": the whole says what it is */
	if (!strncmp(kernel, "Memcpy ", 7) || !strncmp(kernel, "Memset ", 7)) {
		pf_buf_adds(out, kernel);
		return;
	}
	pf_kernel_short_name(&name, kernel);
	add_words(out, name.data);
}

const char *const pf_match_names[] = {
	[PF_MATCH_EXACT] = "exact",   [PF_MATCH_STREAM] = "stream",
	[PF_MATCH_SHAPE] = "shape",   [PF_MATCH_POSITION] = "position",
	[PF_MATCH_FAMILY] = "family", [PF_MATCH_GROUP] = "group",
	[PF_MATCH_ADDED] = "added",   [PF_MATCH_REMOVED] = "removed",
};

/* ---- pairs ---- */

void pf_pairs_begin(struct pf_pairs *p, const struct pf_keyed *a,
		    const struct pf_keyed *b)
{
	*p = (struct pf_pairs){ .rows = { a, b } };
	for (int s = 0; s < 2; s++) {
		size_t count = p->rows[s]->count;

		p->of[s] = pf_calloc(count + 1, sizeof(*p->of[s]));
		memset(p->of[s], 0xff, count * sizeof(*p->of[s]));
	}
}

void pf_pairs_release(struct pf_pairs *p)
{
	free(p->items);
	free(p->of[0]);
	free(p->of[1]);
	*p = (struct pf_pairs){ 0 };
}

static uint32_t new_pair(struct pf_pairs *p, enum pf_match match)
{
	p->items = pf_grow(p->items, &p->cap, p->count + 1, sizeof(*p->items));
	p->items[p->count] = (struct pf_pair){ .match = match,
					       .a_row = PF_NO_ROW,
					       .b_row = PF_NO_ROW };
	return (uint32_t)p->count++;
}

static const void *row_at(const struct pf_pairs *p, int side, size_t row)
{
	const struct pf_keyed *rows = p->rows[side];

	return (const char *)rows->rows + row * rows->width;
}

static void put(struct pf_pairs *p, uint32_t pair, int side, size_t row)
{
	const struct pf_row_sums *sum = row_at(p, side, row), *most;
	struct pf_pair *to = &p->items[pair];
	uint32_t *named = side ? &to->b_row : &to->a_row;

	p->of[side][row] = pair;
	*(side ? &to->b_rows : &to->a_rows) += 1;
	pf_row_sums_add(side ? &to->b : &to->a, sum);
	most = *named == PF_NO_ROW ? NULL : row_at(p, side, *named);
	if (!most || (p->by_time && sum->ns > most->ns))
		*named = (uint32_t)row;
}

/* The number of each row's part; UINT32_MAX: it has none, or has a pair. */
static uint32_t *parts_take(const struct pf_pairs *p, int side,
			    pf_part_fn *part, void *context,
			    struct pf_intern *parts)
{
	uint32_t *part_of =
		pf_calloc(p->rows[side]->count + 1, sizeof(*part_of));
	uint32_t key[PF_PART_MAX];

	for (size_t i = 0; i < p->rows[side]->count; i++) {
		size_t len = 0;

		if (p->of[side][i] == UINT32_MAX)
			len = part(context, row_at(p, side, i), key);
		part_of[i] = len ? pf_intern_add(parts, (const char *)key, len)
				 : UINT32_MAX;
	}
	return part_of;
}

void pf_pairs_join(struct pf_pairs *p, enum pf_match match, pf_part_fn *part,
		   void *context)
{
	PF_AUTO(pf_intern_release) struct pf_intern parts = { 0 };
	PF_OWN uint32_t *pair_of = NULL;
	uint32_t *part_of[2];
	PF_OWN unsigned char *has = NULL;

	for (int s = 0; s < 2; s++)
		part_of[s] = parts_take(p, s, part, context, &parts);
	has = pf_calloc(parts.count + (size_t)1, sizeof(*has));
	pair_of = pf_calloc(parts.count + (size_t)1, sizeof(*pair_of));
	for (size_t i = 0; i < parts.count; i++)
		pair_of[i] = UINT32_MAX;
	for (int s = 0; s < 2; s++)
		for (size_t i = 0; i < p->rows[s]->count; i++)
			if (part_of[s][i] != UINT32_MAX)
				has[part_of[s][i]] |= (unsigned char)(1 << s);
	for (int s = 0; s < 2; s++)
		for (size_t i = 0; i < p->rows[s]->count; i++) {
			uint32_t n = part_of[s][i];

			if (n == UINT32_MAX || has[n] != 3)
				continue;
			if (pair_of[n] == UINT32_MAX)
				pair_of[n] = new_pair(p, match);
			put(p, pair_of[n], s, i);
		}
	free(part_of[0]);
	free(part_of[1]);
}

void pf_pairs_rest(struct pf_pairs *p)
{
	for (int s = 0; s < 2; s++)
		for (size_t i = 0; i < p->rows[s]->count; i++)
			if (p->of[s][i] == UINT32_MAX)
				put(p,
				    new_pair(p, s ? PF_MATCH_ADDED
						  : PF_MATCH_REMOVED),
				    s, i);
}

/* ---- rules of GPU work ---- */

#define NO_LAUNCH "(no launch record)"

struct matcher {
	struct pf_intern *texts;
	struct pf_data *families;
	uint32_t *family; /* by number of text; UINT32_MAX: not yet */
	size_t family_count;
	const struct rule *rule;
	struct pf_pairs *out;
	uint32_t none, no_launch;
};

static uint32_t family_of(struct matcher *m, uint32_t kernel)
{
	struct pf_buf text = { 0 };

	if (kernel >= m->family_count)
		return kernel;
	if (m->family[kernel] == UINT32_MAX) {
		pf_family_name(m->families,
			       pf_intern_text(m->texts, kernel, NULL), &text);
		m->family[kernel] = pf_intern_add(
			m->texts, text.len ? text.data : "", text.len);
		pf_buf_release(&text);
	}
	return m->family[kernel];
}

/* The part is these members of the key, and what the flags say. */
enum {
	FAMILY = 1, /* the family of the kernel, too */
	TOLD = 2    /* only of rows whose first member says something */
};
struct rule {
	enum pf_match match;
	unsigned flags;
	size_t count, member[PF_PART_MAX];
};

static size_t part_of_work(void *context, const void *row,
			   uint32_t out[PF_PART_MAX])
{
	const union key key = { ((const struct pf_work_row *)row)->key };
	struct matcher *m = context;
	const struct rule *rule = m->rule;
	size_t n = 0;

	for (; n < rule->count; n++)
		out[n] = key.member[rule->member[n]];
	if ((rule->flags & TOLD) &&
	    (out[0] == m->none || out[0] == m->no_launch))
		return 0;
	if (rule->flags & FAMILY)
		out[n++] = family_of(m, key.key.kernel);
	return n * sizeof(*out);
}

static const struct rule rules[] = {
	{ PF_MATCH_EXACT,
	  0,
	  9,
	  { PATH, OP, SHAPES, KERNEL, ROLE, CLASS, KIND, MODULE, ANNOTATION } },
	{ PF_MATCH_STREAM, 0, 4, { PATH, OP, SHAPES, KERNEL } },
	{ PF_MATCH_SHAPE, 0, 3, { PATH, OP, KERNEL } },
	{ PF_MATCH_POSITION, 0, 0, { 0 } },
	{ PF_MATCH_FAMILY, FAMILY, 2, { PATH, CLASS } },
	{ PF_MATCH_FAMILY, FAMILY | TOLD, 2, { OP, CLASS } },
	{ PF_MATCH_GROUP, TOLD, 1, { PATH } },
	{ PF_MATCH_FAMILY, FAMILY | TOLD, 2, { REGION, CLASS } },
	{ PF_MATCH_GROUP, TOLD, 1, { REGION } },
	{ PF_MATCH_FAMILY, FAMILY, 1, { CLASS } },
};

/* ---- by position ---- */

struct place {
	uint32_t path, row;
	uint64_t first;
};

PF_ORDER(by_path, struct place, PF_UP(path) PF_UP(first) PF_UP(row))

static struct place *places_take(const struct pf_keyed *rows)
{
	struct place *list = pf_calloc(rows->count + 1, sizeof(*list));

	for (size_t i = 0; i < rows->count; i++) {
		const struct pf_work_row *row =
			PF_KEYED_ROW(rows, struct pf_work_row, i);

		list[i] = (struct place){ row->key.path, (uint32_t)i,
					  row->first };
	}
	pf_sort(list, rows->count, sizeof(*list), by_path);
	return list;
}

static bool is_alike(const struct pf_pairs *p, size_t a, size_t b)
{
	const struct pf_work_row *x = row_at(p, 0, a), *y = row_at(p, 1, b);

	return x->key.kind == y->key.kind && x->key.class == y->key.class;
}

/* Rows of a and of b between two that are paired. */
static void pair_runs(struct pf_pairs *p, const struct place *a, size_t a_count,
		      const struct place *b, size_t b_count)
{
	size_t left[2] = { 0, 0 }, i = 0, k = 0;

	for (size_t n = 0; n < a_count; n++)
		left[0] += p->of[0][a[n].row] == UINT32_MAX;
	for (size_t n = 0; n < b_count; n++)
		left[1] += p->of[1][b[n].row] == UINT32_MAX;
	if (!left[0] || left[0] != left[1])
		return;
	for (; i < a_count && k < b_count; i++, k++) {
		uint32_t pair;

		while (i < a_count && p->of[0][a[i].row] != UINT32_MAX)
			i++;
		while (k < b_count && p->of[1][b[k].row] != UINT32_MAX)
			k++;
		if (i == a_count || k == b_count)
			return;
		if (!is_alike(p, a[i].row, b[k].row))
			continue;
		pair = new_pair(p, PF_MATCH_POSITION);
		put(p, pair, 0, a[i].row);
		put(p, pair, 1, b[k].row);
	}
}

/*
 * The longest ascending subsequence of values[0..count), UINT32_MAX left out:
 * places of its members into "chain", in order.  Returns how many.
 */
static size_t find_chain(const uint32_t *values, size_t count, uint32_t *chain)
{
	PF_OWN uint32_t *tail = pf_calloc(count + 1, sizeof(*tail));
	PF_OWN uint32_t *before = pf_calloc(count + 1, sizeof(*before));
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
	return length;
}

static void match_path(struct pf_pairs *p, const struct place *a,
		       size_t a_count, const struct place *b, size_t b_count,
		       uint32_t *where)
{
	PF_OWN uint32_t *values = pf_calloc(a_count + 1, sizeof(*values));
	PF_OWN uint32_t *chain = pf_calloc(a_count + 1, sizeof(*chain));
	size_t length, i = 0, k = 0;

	for (size_t n = b_count; n-- > 0;)
		if (p->of[1][b[n].row] != UINT32_MAX)
			where[p->of[1][b[n].row]] = (uint32_t)n;
	for (size_t n = 0; n < a_count; n++) {
		uint32_t pair = p->of[0][a[n].row];

		values[n] = pair == UINT32_MAX ? UINT32_MAX : where[pair];
	}
	length = find_chain(values, a_count, chain);
	for (size_t n = 0; n <= length; n++) {
		size_t i_end = n < length ? chain[n] : a_count;
		size_t k_end = n < length ? values[chain[n]] : b_count;

		pair_runs(p, a + i, i_end - i, b + k, k_end - k);
		i = i_end + 1;
		k = k_end + 1;
	}
	for (size_t n = 0; n < b_count; n++)
		if (p->of[1][b[n].row] != UINT32_MAX)
			where[p->of[1][b[n].row]] = UINT32_MAX;
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
	struct pf_pairs *p = m->out;
	size_t counts[2] = { p->rows[0]->count, p->rows[1]->count };
	PF_OWN struct place *a = places_take(p->rows[0]);
	PF_OWN struct place *b = places_take(p->rows[1]);
	/* pairs made here are of rows that are behind */
	PF_OWN uint32_t *where =
		pf_calloc(p->count + counts[0] + 1, sizeof(*where));
	size_t i = 0, k = 0;

	for (size_t n = 0; n < p->count + counts[0]; n++)
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
				match_path(p, a + i, na, b + k, nb, where);
			i += na;
			k += nb;
		}
	}
}

/* ---- the whole ---- */

static void match_all(struct matcher *m, enum pf_diff_by by)
{
	/* put together by less, rows are the same or not */
	size_t count = by == PF_BY_ALL ? PF_LEN(rules) : 1;

	for (m->rule = rules; m->rule < rules + count; m->rule++)
		if (m->rule->match == PF_MATCH_POSITION)
			match_positions(m);
		else
			pf_pairs_join(m->out, m->rule->match, part_of_work, m);
	pf_pairs_rest(m->out);
}

int pf_match(struct pf_intern *texts, const struct pf_capture *a,
	     const struct pf_capture *b, enum pf_diff_by by,
	     struct pf_pairs *out, struct pf_err *err)
{
	struct matcher m = { .texts = texts, .out = out };

	pf_pairs_begin(out, &a->work, &b->work);
	out->by_time = true;
	m.families = pf_families_new(err);
	if (!m.families)
		return -1;
	m.none = pf_intern_add(texts, "", 0);
	m.no_launch = pf_intern_add(texts, NO_LAUNCH, strlen(NO_LAUNCH));
	m.family_count = texts->count;
	m.family = pf_calloc(m.family_count + 1, sizeof(*m.family));
	memset(m.family, 0xff, m.family_count * sizeof(*m.family));
	match_all(&m, by);
	free(m.family);
	pf_data_free(m.families);
	return 0;
}
