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
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analysis/time/kernels.h"
#include "base/data.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/search.h"
#include "events/gpu.h"
#include "formats/event.h"

struct pool {
	struct pf_side *out;
	struct pf_intern *texts;
	const struct pf_capture *from;
	uint32_t *numbers; /* of the capture's texts; UINT32_MAX: not yet */
	struct pf_intern keys[4];
	size_t caps[4];
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

/* Keep what rows are put together by; the rest is the same for all. */
static struct pf_work_key key_of(struct pool *p, const struct pf_work_key *k)
{
	struct pf_work_key out = { .path = p->none,
				   .region = p->none,
				   .module = p->none,
				   .annotation = p->none,
				   .op = p->none,
				   .shapes = p->none,
				   .kernel = p->none };

	switch (p->by) {
	case PF_BY_OP:
		out.op = text_of(p, k->op);
		break;
	case PF_BY_SHAPE:
		out.op = text_of(p, k->op);
		out.shapes = text_of(p, k->shapes);
		break;
	case PF_BY_KERNEL:
		out.kernel = text_of(p, k->kernel);
		out.class = k->class;
		out.kind = k->kind;
		break;
	case PF_BY_MODULE:
		out.module = text_of(p, k->module);
		break;
	case PF_BY_ANNOTATION:
		out.annotation = text_of(p, k->annotation);
		break;
	case PF_BY_STACK:
		out.path = text_of(p, k->path);
		break;
	case PF_BY_CLASS:
		out.kernel =
			word(p, pf_gpu_class_name((enum pf_gpu_class)k->class));
		out.class = k->class;
		break;
	case PF_BY_CATEGORY:
		out.kernel = word(p, category_of(k->kind));
		out.kind = k->kind;
		break;
	case PF_BY_ALL:
		out = *k;
		out.path = text_of(p, k->path);
		out.region = text_of(p, k->region);
		out.module = text_of(p, k->module);
		out.annotation = text_of(p, k->annotation);
		out.op = text_of(p, k->op);
		out.shapes = text_of(p, k->shapes);
		out.kernel = text_of(p, k->kernel);
		break;
	}
	return out;
}

enum { WORK, OPS, IDLE, SITES };

/* The place of a key in one of the lists, which is made longer for it. */
static void *place_of(struct pool *p, int list, const void *key, size_t key_len,
		      void **rows, size_t *count, size_t row_len, bool *is_new)
{
	uint32_t n = pf_intern_add(&p->keys[list], key, key_len);

	*is_new = n == *count;
	if (*is_new) {
		*rows = pf_grow(*rows, &p->caps[list], n + (size_t)1, row_len);
		memset((char *)*rows + n * row_len, 0, row_len);
		*count = n + (size_t)1;
	}
	return (char *)*rows + n * row_len;
}

static void pool_work(struct pool *p, const struct pf_work_row *from,
		      uint64_t first)
{
	struct pf_work_key key = key_of(p, &from->key);
	struct pf_work_row *row;
	bool is_new;

	row = place_of(p, WORK, &key, sizeof(key), (void **)&p->out->work,
		       &p->out->work_count, sizeof(*row), &is_new);
	if (is_new) {
		row->key = key;
		row->first = first + from->first;
	}
	row->count += from->count;
	row->ns += from->ns;
}

static void pool_op(struct pool *p, const struct pf_op_row *from)
{
	uint32_t key[3] = { text_of(p, from->name), text_of(p, from->shapes),
			    from->kind };
	struct pf_op_row *row;
	bool is_new;

	row = place_of(p, OPS, key, sizeof(key), (void **)&p->out->ops,
		       &p->out->op_count, sizeof(*row), &is_new);
	row->name = key[0];
	row->shapes = key[1];
	row->kind = key[2];
	row->count += from->count;
	row->ns += from->ns;
	row->self_ns += from->self_ns;
}

static void pool_wait(struct pool *p, int list, struct pf_wait_row **rows,
		      size_t *count, const struct pf_wait_row *from)
{
	uint32_t key[4] = { from->cause, text_of(p, from->name),
			    text_of(p, from->op), text_of(p, from->frame) };
	struct pf_wait_row *row;
	bool is_new;

	row = place_of(p, list, key, sizeof(key), (void **)rows, count,
		       sizeof(*row), &is_new);
	row->cause = key[0];
	row->name = key[1];
	row->op = key[2];
	row->frame = key[3];
	row->count += from->count;
	row->ns += from->ns;
	row->idle_ns += from->idle_ns;
}

static void pool_sums(struct pf_side *s, const struct pf_capture *c)
{
	s->steps += (int64_t)c->full_count;
	s->step_ns += c->step_ns;
	s->busy_ns += c->busy_ns;
	for (size_t i = 0; i < PF_STEP_CLASSES; i++)
		s->class_ns[i] += c->class_ns[i];
	for (size_t i = 0; i < PF_COUNT_COUNTS; i++)
		s->count[i] += c->count[i];
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
	if (c->peak_bytes > s->peak_bytes)
		s->peak_bytes = c->peak_bytes;
	if (c->reserved_bytes > s->reserved_bytes)
		s->reserved_bytes = c->reserved_bytes;
}

static void pool_capture(struct pool *p, const struct pf_capture *c, bool first)
{
	struct pf_side *s = p->out;

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
	for (size_t i = 0; i < c->work_count; i++)
		pool_work(p, &c->work[i], first ? 0 : UINT64_C(1) << 40);
	for (size_t i = 0; i < c->op_count; i++)
		pool_op(p, &c->ops[i]);
	for (size_t i = 0; i < c->idle_count; i++)
		pool_wait(p, IDLE, &s->idle, &s->idle_count, &c->idle[i]);
	for (size_t i = 0; i < c->site_count; i++)
		pool_wait(p, SITES, &s->sites, &s->site_count, &c->sites[i]);
	free(p->numbers);
}

void pf_side_pool(struct pf_side *out, struct pf_intern *texts,
		  const struct pf_capture *const *captures, size_t count,
		  enum pf_diff_by by)
{
	struct pool p = { .out = out, .texts = texts, .by = by };

	*out = (struct pf_side){ .captures = captures,
				 .capture_count = count,
				 .peak_bytes = -1,
				 .reserved_bytes = -1 };
	p.none = word(&p, "");
	for (size_t i = 0; i < 4; i++)
		pf_intern_init(&p.keys[i]);
	for (size_t i = 0; i < count; i++)
		pool_capture(&p, captures[i], i == 0);
	for (size_t i = 0; i < 4; i++)
		pf_intern_release(&p.keys[i]);
}

void pf_side_release(struct pf_side *s)
{
	free(s->work);
	free(s->ops);
	free(s->idle);
	free(s->sites);
	*s = (struct pf_side){ 0 };
}

bool pf_side_knows(const struct pf_side *s, const struct pf_side *other,
		   enum pf_step_count count)
{
	if (s->gpu_events || !other->gpu_events)
		return true;
	switch (count) {
	case PF_COUNT_TENSORS:
	case PF_COUNT_OPS:
		return true;
	case PF_COUNT_LAUNCHES:
	case PF_COUNT_GRAPHS:
	case PF_COUNT_SYNCS:
	case PF_COUNT_ALLOCATIONS:
	case PF_COUNT_CALLS:
		return s->count[PF_COUNT_CALLS];
	default:
		return false;
	}
}

/* ---- families of kernels ---- */

struct pf_families {
	struct pf_data *data;
};

enum { MATCH, TEXT, FAMILY };

struct pf_families *pf_families_new(struct pf_err *err)
{
	struct pf_families *f = pf_calloc(1, sizeof(*f));

	f->data = pf_data_new("data/families.csv", "match,text,family", err);
	if (f->data)
		return f;
	free(f);
	return NULL;
}

void pf_families_free(struct pf_families *f)
{
	if (!f)
		return;
	pf_data_free(f->data);
	free(f);
}

static const char *find(const struct pf_families *f, const char *kernel)
{
	for (size_t i = 0; i < pf_data_rows(f->data); i++) {
		const char *text = pf_data_cell(f->data, i, TEXT);
		const char *at = strcasestr(kernel, text);

		if (at &&
		    (at == kernel || *pf_data_cell(f->data, i, MATCH) == 'c'))
			return pf_data_cell(f->data, i, FAMILY);
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
	for (size_t i = 0; i < sizeof(architectures) / sizeof(*architectures);
	     i++)
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

void pf_family_name(const struct pf_families *f, const char *kernel,
		    struct pf_buf *out)
{
	const char *family = find(f, kernel);
	struct pf_buf name = { 0 };

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
	pf_buf_release(&name);
}

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
