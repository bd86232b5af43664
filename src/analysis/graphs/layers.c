/* SPDX-License-Identifier: MIT */
/* What a kernel is for, by its name, and which sequences of them are layers. */
#include "config.h"

#include <ctype.h>
#include <regex.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analysis/graphs/graphs.h"
#include "base/data.h"
#include "base/mem.h"
#include "base/order.h"

#define NAME_MAX_BYTES 1024 /* of a name that are looked at */

struct pf_roles {
	struct pf_data *data;
	struct rule {
		regex_t match;
		enum pf_role role;
	} * rules;
	size_t count;
};

static const char *const roles_words[PF_ROLES] = {
	"other",     "communication", "copy",        "kv cache",
	"attention", "rope",          "routing",     "expert gemm",
	"norm",      "activation",    "quantize",    "gemm",
	"embedding", "sampling",      "elementwise", "reduction",
};

const char *pf_role_word(enum pf_role role)
{
	return roles_words[role < PF_ROLES ? role : PF_ROLE_OTHER];
}

static enum pf_role find_word(const char *word)
{
	for (size_t i = 0; i < PF_ROLES; i++)
		if (!strcmp(roles_words[i], word))
			return (enum pf_role)i;
	return PF_ROLES;
}

struct pf_roles *pf_roles_new(struct pf_err *err)
{
	struct pf_roles *r = pf_calloc(1, sizeof(*r));
	size_t rows;

	r->data = pf_data_new("data/roles.csv", "role,pattern", err);
	rows = r->data ? pf_data_rows(r->data) : 0;
	r->rules = pf_calloc(rows + 1, sizeof(*r->rules));
	for (; r->count < rows; r->count++) {
		struct rule *rule = &r->rules[r->count];

		rule->role = find_word(pf_data_cell(r->data, r->count, 0));
		if (rule->role == PF_ROLES ||
		    regcomp(&rule->match, pf_data_cell(r->data, r->count, 1),
			    REG_EXTENDED | REG_ICASE | REG_NOSUB))
			break;
	}
	if (r->data && r->count == rows)
		return r;
	if (r->data)
		pf_fail(err, PF_EDATA,
			"'data/roles.csv' has a wrong line of "
			"'%s'",
			pf_data_cell(r->data, r->count, 0));
	pf_roles_free(r);
	return NULL;
}

void pf_roles_free(struct pf_roles *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->count; i++)
		regfree(&r->rules[i].match);
	free(r->rules);
	pf_data_free(r->data);
	free(r);
}

static bool begins(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

/* Names that are one word: what is in it counts from the start. */
static bool is_whole(const char *name)
{
	return begins(name, "_Z") || begins(name, "Cijk") ||
	       begins(name, "triton");
}

static enum pf_role look(const struct pf_roles *r, const char *name)
{
	for (size_t i = 0; i < r->count; i++)
		if (!regexec(&r->rules[i].match, name, 0, NULL, 0))
			return r->rules[i].role;
	return PF_ROLE_OTHER;
}

enum pf_role pf_role_of(const struct pf_roles *r, const char *name)
{
	size_t len = strnlen(name, NAME_MAX_BYTES);
	char *text = pf_memdup0(name, len);
	char *end = is_whole(text) ? NULL : strchr(text, '<');
	enum pf_role role = PF_ROLE_OTHER;

	if (end) {
		*end = '\0';
		role = look(r, text);
		*end = '<';
	}
	if (role == PF_ROLE_OTHER)
		role = look(r, text);
	free(text);
	return role;
}

static bool says_gemm(const char *name)
{
	static const char *const parts[] = { "gemm", "nvjet", "cutlass",
					     "xmma" };

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (strcasestr(name, parts[i]))
			return true;
	return false;
}

void pf_role_family(const char *name, enum pf_role role, struct pf_buf *out)
{
	size_t len;

	if (begins(name, "void "))
		name += 5;
	if (begins(name, "Cijk_")) {
		pf_buf_adds(out, "Cijk");
		return;
	}
	if (role == PF_ROLE_GEMM && says_gemm(name)) {
		pf_buf_adds(out, "gemm");
		return;
	}
	len = begins(name, "_Z") ? strlen(name) : strcspn(name, "<");
	if (!begins(name, "(anonymous"))
		len = strcspn(name, "(") < len ? strcspn(name, "(") : len;
	pf_buf_adds(out, "");
	for (size_t i = 0; i < len; i++) {
		bool is_number = isdigit((unsigned char)name[i]);

		if (!is_number)
			pf_buf_add(out, &name[i], 1);
		else if (!i || !isdigit((unsigned char)name[i - 1]))
			pf_buf_adds(out, "#");
	}
}

/*
 * Comparing every place with that p on, for every p, takes n * n / 2
 * comparisons of numbers: 0.1 s for the longest sequence.  Stretches are kept
 * by length; what is taken is known by the next free place, so that each
 * stretch is judged at once.
 */

#define PERIOD_MIN  5 /* shorter ones, or of fewer names, are no layer */
#define NAMES_MIN   4
#define STRETCH_MAX (1u << 18) /* more are those of a hostile trace */

struct stretch {
	size_t from, to, period;
};

/* A stretch that counts: where its layers begin. */
struct section {
	size_t *cuts, count, cap;
	size_t to, period, layers; /* in a period */
};

struct find {
	struct pf_layer_node *nodes;
	size_t n;
	struct stretch *all;
	size_t count, cap;
	struct section *sections;
	size_t section_count, section_cap;
	uint8_t *taken;
	uint32_t *before; /* how many of the places before are taken */
	uint32_t *seen;   /* of a name: how often, in what is looked at */
};

/* ---- what repeats ---- */

static size_t distinct(struct find *f, size_t from, size_t count)
{
	size_t names = 0;

	for (size_t i = from; i < from + count; i++)
		names += !f->seen[f->nodes[i].name]++;
	for (size_t i = from; i < from + count; i++)
		f->seen[f->nodes[i].name] = 0;
	return names;
}

static void add_stretch(struct find *f, size_t from, size_t to, size_t period)
{
	if (f->count == STRETCH_MAX || distinct(f, from, period) < NAMES_MIN)
		return;
	*PF_ONE_MORE(f->all, f->count, f->cap) =
		(struct stretch){ from, to, period };
}

static void find_stretches(struct find *f)
{
	const struct pf_layer_node *s = f->nodes;

	for (size_t p = PERIOD_MIN; p <= f->n / 2; p++)
		for (size_t i = 0; i + p < f->n;) {
			size_t j = i;

			while (j + p < f->n && s[j].name == s[j + p].name)
				j++;
			if (j - i >= p)
				add_stretch(f, i, j + p, p);
			i = j + 1;
		}
}

/* The longest first, then the shorter period, then the later. */
static int by_length(const void *a, const void *b)
{
	const struct stretch *x = a, *y = b;
	size_t len = x->to - x->from, other = y->to - y->from;

	if (len != other)
		return len < other ? 1 : -1;
	if (x->period != y->period)
		return x->period < y->period ? -1 : 1;
	return x->from < y->from ? 1 : x->from > y->from ? -1 : 0;
}

/* ---- where a layer begins ---- */

/* Place i of a stretch of a period, which goes round. */
static enum pf_role role_at(const struct find *f, size_t from, size_t period,
			    size_t i)
{
	return f->nodes[from + i % period].role;
}

static bool has_gemm(const struct find *f, size_t from, size_t period,
		     size_t after, size_t before)
{
	for (size_t i = after + 1; i < before; i++)
		if (role_at(f, from, period, i) == PF_ROLE_GEMM)
			return true;
	return false;
}

static size_t rotation(const struct find *f, size_t from, size_t p)
{
	size_t at = 0;

	while (at < p && (role_at(f, from, p, at) != PF_ROLE_ATTENTION ||
			  role_at(f, from, p, at + p - 1) == PF_ROLE_ATTENTION))
		at++;
	if (at == p)
		return 0;
	for (size_t back = 1; back < p; back++) {
		size_t norm = at + p - back;

		/* A norm of queries or keys lies behind the product. */
		if (role_at(f, from, p, norm) == PF_ROLE_NORM &&
		    has_gemm(f, from, p, norm, at + p))
			return norm % p;
	}
	return 0;
}

/* In how many layers a period falls: as often as most kernels occur. */
static size_t layers_in(struct find *f, size_t from, size_t p)
{
	size_t best = 1, most = 0;

	for (size_t i = from; i < from + p; i++)
		f->seen[f->nodes[i].name]++;
	for (size_t i = from; i < from + p; i++) {
		size_t times = f->seen[f->nodes[i].name], covered = 0;

		if (times == best && most)
			continue;
		for (size_t j = from; j < from + p; j++)
			covered += f->seen[f->nodes[j].name] == times;
		if (covered > most || (covered == most && times < best)) {
			most = covered;
			best = times;
		}
	}
	for (size_t i = from; i < from + p; i++)
		f->seen[f->nodes[i].name] = 0;
	return most * 2 >= p ? best : 1;
}

static void add_cut(struct section *s, size_t at)
{
	*PF_ONE_MORE(s->cuts, s->count, s->cap) = at;
}

/* The norm that begins the layer of an attention, or "from". */
static size_t norm_before(const struct find *f, size_t from, size_t attention)
{
	bool has_product = false;

	for (size_t i = attention; i > from; i--) {
		if (has_product && f->nodes[i].role == PF_ROLE_NORM)
			return i;
		has_product |= f->nodes[i].role == PF_ROLE_GEMM;
	}
	return from;
}

/* The further layers of a period that begins at "from". */
static void split(const struct find *f, struct section *s, size_t from)
{
	size_t end = from + s->period < s->to ? from + s->period : s->to;
	size_t count = 0;

	for (size_t i = from; i < end; i++) {
		size_t norm;

		if (f->nodes[i].role != PF_ROLE_ATTENTION ||
		    (i && f->nodes[i - 1].role == PF_ROLE_ATTENTION) ||
		    !count++ || count > s->layers)
			continue;
		norm = norm_before(f, s->cuts[s->count - 1], i);
		if (norm > s->cuts[s->count - 1])
			add_cut(s, norm);
	}
}

static void add_section(struct find *f, size_t from, size_t to, size_t period)
{
	struct section s = { .to = to,
			     .period = period,
			     .layers = layers_in(f, from, period) };

	for (size_t at = from + rotation(f, from, period); at <= to;
	     at += period) {
		add_cut(&s, at);
		if (s.layers > 1)
			split(f, &s, at);
	}
	f->sections = pf_grow(f->sections, &f->section_cap,
			      f->section_count + 1, sizeof(s));
	f->sections[f->section_count++] = s;
	memset(f->taken + from, 1, to - from);
	for (size_t i = 0; i < f->n; i++)
		f->before[i + 1] = f->before[i] + f->taken[i];
}

static void choose(struct find *f)
{
	pf_sort(f->all, f->count, sizeof(*f->all), by_length);
	for (size_t i = 0; i < f->count; i++) {
		struct stretch s = f->all[i];

		while (s.from < s.to && f->taken[s.from])
			s.from++;
		while (s.to > s.from && f->taken[s.to - 1])
			s.to--;
		if (s.to - s.from >= 2 * s.period &&
		    f->before[s.to] == f->before[s.from])
			add_section(f, s.from, s.to, s.period);
	}
}

/* ---- ragged beginnings ---- */

/*
 * The stretch before a section that is most like its first layer: the longest
 * common subsequence of each stretch that ends there, in one pass back.
 */
static double most_alike(const struct find *f, size_t lo, size_t end,
			 size_t first, size_t len, size_t size, size_t *from)
{
	size_t least = 3 * size / 5, most = 7 * size / 5;
	uint32_t *row = pf_calloc(len + 1, sizeof(*row));
	double best = 0;

	for (size_t i = end; i > lo && end - i < most; i--) {
		uint32_t diagonal = 0;
		double alike;

		for (size_t j = len; j > 0; j--) {
			uint32_t above = row[j - 1],
				 left = j < len ? row[j] : 0;

			if (f->nodes[i - 1].name ==
			    f->nodes[first + j - 1].name)
				row[j - 1] = diagonal + 1;
			else if (left > above)
				row[j - 1] = left;
			diagonal = above;
		}
		alike = 2.0 * row[0] / (double)(end - i + 1 + len);
		if (end - i + 1 >= least && alike > best) {
			best = alike;
			*from = i - 1;
		}
	}
	free(row);
	return best;
}

static size_t end_before(const struct find *f, const struct section *s)
{
	size_t end = 0;

	for (size_t i = 0; i < f->section_count; i++) {
		const struct section *o = &f->sections[i];

		if (o != s && o->to <= s->cuts[0] && o->to > end)
			end = o->to;
	}
	return end;
}

static void grow(const struct find *f, struct section *s)
{
	size_t size = s->period / s->layers, lo = end_before(f, s), from = 0;
	size_t first = s->cuts[0];
	size_t len = (s->count > 1 ? s->cuts[1] : s->to) - first;

	size += !size;
	while (5 * (s->cuts[0] - lo) >= 3 * size &&
	       most_alike(f, lo, s->cuts[0], first, len, size, &from) >= 0.75) {
		add_cut(s, 0);
		memmove(s->cuts + 1, s->cuts,
			(s->count - 1) * sizeof(*s->cuts));
		s->cuts[0] = from;
	}
}

/* ---- names ---- */

static enum pf_layer_part part_of(const struct pf_layer_node *n, size_t i,
				  size_t to, size_t last_attention,
				  bool is_behind)
{
	bool has_norm = false;

	if (!is_behind)
		return PF_PART_QKV;
	for (size_t j = last_attention; j < i; j++)
		has_norm |= n[j].role == PF_ROLE_NORM;
	if (!has_norm)
		return PF_PART_OUT;
	for (size_t j = i + 1; j < to; j++) {
		if (n[j].role == PF_ROLE_ROUTING ||
		    n[j].role == PF_ROLE_EXPERT_GEMM)
			return PF_PART_ROUTER;
		if (n[j].role == PF_ROLE_ACTIVATION)
			return PF_PART_UP;
		if (n[j].role == PF_ROLE_ATTENTION || n[j].role == PF_ROLE_NORM)
			break;
	}
	return PF_PART_DOWN;
}

static void name_layer(struct pf_layer_node *n, size_t from, size_t to,
		       int64_t layer)
{
	size_t last = SIZE_MAX;
	bool is_behind = false;

	for (size_t i = from; i < to; i++)
		if (n[i].role == PF_ROLE_ATTENTION)
			last = i;
	for (size_t i = from; i < to; i++) {
		n[i].layer = layer;
		n[i].place = (int64_t)(i - from);
		is_behind |= n[i].role == PF_ROLE_ATTENTION;
		if (n[i].role == PF_ROLE_GEMM && last != SIZE_MAX)
			n[i].part = part_of(n, i, to, last, is_behind);
	}
}

static int64_t name_section(struct find *f, const struct section *s,
			    int64_t layer)
{
	for (size_t i = 0; i < s->count; i++) {
		size_t from = s->cuts[i], to;

		if (i + 1 < s->count)
			to = s->cuts[i + 1];
		else
			to = from + (i ? from - s->cuts[i - 1] : s->period);
		if (i + 1 == s->count && to > s->to)
			to = s->to;
		if (to < from || 5 * (to - from) * s->layers < 3 * s->period)
			continue;
		name_layer(f->nodes, from, to, layer++);
	}
	return layer;
}

PF_ORDER(by_place, struct section, PF_UP(cuts[0]))

static int64_t name_all(struct find *f)
{
	double all = 0, inside = 0;
	int64_t layers = 0;

	pf_sort(f->sections, f->section_count, sizeof(*f->sections), by_place);
	for (size_t i = 0; i < f->n; i++)
		all += (double)f->nodes[i].ns;
	for (size_t i = 0; i < f->section_count; i++) {
		struct section *s = &f->sections[i];

		if (100 * (s->to - s->cuts[0]) < 3 * f->n)
			s->count = 0;
		for (size_t j = s->cuts[0]; s->count && j < s->to; j++)
			inside += (double)f->nodes[j].ns;
	}
	if (inside < 0.5 * all || !f->section_count)
		return 0;
	for (size_t i = 0; i < f->section_count; i++)
		layers = name_section(f, &f->sections[i], layers);
	return layers;
}

int64_t pf_layers_find(struct pf_layer_node *nodes, size_t count)
{
	struct find f = { .nodes = nodes, .n = count };
	uint32_t largest = 0;
	int64_t layers;

	for (size_t i = 0; i < count; i++) {
		nodes[i].layer = nodes[i].place = -1;
		nodes[i].part = PF_PART_NONE;
		if (nodes[i].name > largest)
			largest = nodes[i].name;
	}
	if (count > PF_LAYERS_MAX_KERNELS)
		return 0;
	f.taken = pf_calloc(count + 1, 1);
	f.before = pf_calloc(count + 1, sizeof(*f.before));
	f.seen = pf_calloc((size_t)largest + 1, sizeof(*f.seen));
	find_stretches(&f);
	choose(&f);
	for (size_t i = 0; i < f.section_count; i++)
		grow(&f, &f.sections[i]);
	layers = name_all(&f);
	for (size_t i = 0; i < f.section_count; i++)
		free(f.sections[i].cuts);
	free(f.sections);
	free(f.all);
	free(f.taken);
	free(f.before);
	free(f.seen);
	return layers;
}
