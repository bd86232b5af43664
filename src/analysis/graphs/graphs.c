/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "analysis/graphs/graphs.h"

#include <ctype.h>
#include <regex.h>

#include "base/data.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/order.h"
#include "base/outplace.h"
#include "base/sat.h"
#include "base/spool.h"
#include "base/stats.h"
#include "events/args.h"
#include "events/gpu.h"
#include "events/hints.h"
#include "events/interval.h"
#include "events/names.h"
#include "events/nest.h"
#include "events/step.h"
#include "events/traces.h"
#include "show/doc.h"
#include "store/cursor.h"
#include "store/texts.h"

/* What a kernel is for, by its name, and which sequences of them are layers. */

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

/* "kv cache", ... */
static const char *role_word(enum pf_role role)
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

static void roles_free(struct pf_roles *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->count; i++)
		regfree(&r->rules[i].match);
	free(r->rules);
	pf_data_free(r->data);
	free(r);
}

static struct pf_roles *roles_new(struct pf_err *err)
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
	roles_free(r);
	return NULL;
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

/* The first row that fits the name before "<", else the whole. */
static enum pf_role role_named(const struct pf_roles *r, const char *name)
{
	size_t len = strnlen(name, NAME_MAX_BYTES);
	PF_OWN char *text = pf_memdup0(name, len);
	char *end = is_whole(text) ? NULL : strchr(text, '<');
	enum pf_role role = PF_ROLE_OTHER;

	if (end) {
		*end = '\0';
		role = look(r, text);
		*end = '<';
	}
	if (role == PF_ROLE_OTHER)
		role = look(r, text);
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

/* Append the family of a name that has this role. */
static void role_family(const char *name, enum pf_role role, struct pf_buf *out)
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
	*PF_ONE_MORE(f->sections, f->section_count, f->section_cap) = s;
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
	PF_OWN uint32_t *row = pf_calloc(len + 1, sizeof(*row));
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

/* How many layers there are; 0 where less than half of the time repeats. */
static int64_t layers_find(struct pf_layer_node *nodes, size_t count)
{
	struct find f = { .nodes = nodes, .n = count };
	uint32_t largest = 0;
	int64_t layers;

	for (size_t i = 0; i < count; i++) {
		nodes[i].layer = nodes[i].place = -1;
		nodes[i].part = PF_PART_NONE;
		PF_AT_LEAST(largest, nodes[i].name);
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

/*
 * Threads are walked once, each call with what it launched; what is open
 * around it follows the parents that ingest stored.
 */

#define NAMES_MAX  (1u << 20)
#define NODES_MAX  (1u << 20) /* of all graphs */
#define LAUNCH_MAX (1u << 16) /* works of one launch that are nodes */
#define EAGER_MAX  20000
/* Ranges that serving and training put around an iteration. */
#define ITERATION "^(execute_|step\\[|ProfilerStep#|vllm::|forward$|run_batch)"
#define STEP      "ProfilerStep#"
#define WORK_MAX  INT64_C(4000000000) /* comparisons for layers, about 4 s */

/* What a name means, by string.id. */
struct meaning {
	uint32_t text, module; /* in texts, or PF_NO_TEXT */
	bool is_known, is_graph, is_begin, is_end, is_launch, is_copy;
	bool is_root;
	bool is_whole; /* the record of a whole graph */
};

struct open {
	struct pf_nest_event event;
	uint32_t op, module;
	uint32_t root_name; /* in texts */
	int64_t root;       /* event id of an iteration, or 0 */
	int64_t root_ns;
	bool is_module;      /* itself */
	bool is_op;          /* itself: */
	uint32_t name, args; /* string.id, argset.id */
	uint32_t around;     /* in arounds, once something was captured */
};

/* GPU work by its launch call; sorted by the first two. */
struct work {
	int64_t launch_id, start_ns, dur_ns, stream;
	uint32_t name;
	bool is_comm, is_copy;
};

/* The same by its iteration. */
struct part {
	int64_t root, start_ns, dur_ns, root_ns, trace_id;
	uint32_t name, root_name;
	bool is_comm, is_copy, is_replayed, is_whole;
};

struct read {
	struct pf_db *db;
	struct pf_graphs *out;
	enum pf_graphs_read what;
	struct pf_step_regex *iteration;
	bool has_pattern; /* that was asked for */
	bool has_args;    /* as in pf_graphs_args */
	struct pf_kinds kinds;
	struct pf_texts texts;
	struct meaning *meanings;
	size_t meaning_count;
	struct pf_nest open; /* struct open */
	size_t top; /* so many hold the event at hand, which is the last */
	struct pf_by_event *works;
	struct work *now; /* of one launch */
	size_t now_count, now_cap;
	struct pf_intern sequences; /* of names: graphs */
	struct pf_sorter *parts;
	const struct pf_track *track;
	bool is_capturing;
	int64_t call_end_ns; /* of the last captured call */
	int64_t call_ns;     /* when the call at hand began */
};

static struct open *open_at(const struct read *r, size_t i)
{
	return pf_nest_at(&r->open, i);
}

/* ---- names ---- */

static const struct meaning no_meaning = { .text = PF_NO_TEXT,
					   .module = PF_NO_TEXT };

static void classify(struct read *r, const char *text, size_t len,
		     struct meaning *m)
{
	struct pf_name_class class = pf_name_classify(text);

	m->text = pf_intern_add(&r->out->texts, text, len);
	m->module = PF_NO_TEXT;
	if (!strncmp(text, PF_MODULE_PREFIX, strlen(PF_MODULE_PREFIX)))
		m->module = pf_intern_add(&r->out->texts,
					  text + strlen(PF_MODULE_PREFIX),
					  len - strlen(PF_MODULE_PREFIX));
	m->is_graph = class.is_graph;
	m->is_begin = class.capture == 1;
	m->is_end = class.capture == 2;
	m->is_copy = strstr(text, "Memcpy") || strstr(text, "Memset");
	m->is_launch = m->is_copy || (strstr(text, "Launch") &&
				      !strstr(text, "LaunchHostFunc"));
	m->is_whole = pf_name_is_whole_graph(text);
	m->is_root = pf_step_regex_matches(r->iteration, text, len);
	m->is_known = true;
}

static int mean(struct read *r, uint32_t name, const struct meaning **out)
{
	const char *text;
	struct meaning *m;
	size_t len;

	*out = &no_meaning;
	if (name >= NAMES_MAX)
		return 0;
	r->meanings = pf_grow_zero(r->meanings, &r->meaning_count,
				   (size_t)name + 1, sizeof(*m));
	m = &r->meanings[name];
	*out = m;
	if (m->is_known)
		return 0;
	PF_TRY(pf_texts_get(&r->texts, PF_TEXT_NAME, name, &text, &len,
			    r->db->err) < 0);
	classify(r, text, len, m);
	return 0;
}

/* ---- graphs ---- */

/* The role of a kernel's name, asked for once. */
static enum pf_role role_of_name(struct pf_graphs *g, uint32_t text)
{
	g->role_of =
		pf_grow_zero(g->role_of, &g->role_cap, (size_t)text + 1, 1);
	if (!g->role_of[text])
		g->role_of[text] =
			(uint8_t)(1 + role_named(g->roles,
						 pf_graphs_text(g, text)));
	return (enum pf_role)(g->role_of[text] - 1);
}

static enum pf_role role_of(struct read *r, uint32_t text, bool is_comm,
			    bool is_copy)
{
	if (is_comm)
		return PF_ROLE_COMM;
	if (is_copy)
		return PF_ROLE_COPY;
	return text == PF_NO_TEXT ? PF_ROLE_OTHER : role_of_name(r->out, text);
}

static int make_graph(struct read *r, struct pf_graph *g)
{
	g->count = r->now_count;
	g->nodes = pf_calloc(g->count + 1, sizeof(*g->nodes));
	r->out->node_count += g->count;
	for (size_t i = 0; i < g->count; i++) {
		const struct work *w = &r->now[i];
		struct pf_graph_node *n = &g->nodes[i];
		const struct meaning *m;

		PF_TRY(mean(r, w->name, &m));
		n->in.name = m->text == PF_NO_TEXT
				     ? pf_intern_add(&r->out->texts, "", 0)
				     : m->text;
		n->in.role = role_of(r, m->text, w->is_comm, w->is_copy);
		n->op = n->module = n->path = n->around = PF_NO_TEXT;
		n->how = n->in.role == PF_ROLE_OTHER ? PF_HOW_NONE
						     : PF_HOW_CLASS;
		n->stream = w->stream;
		n->min_ns = INT64_MAX;
	}
	return 0;
}

/* The graph of these works; NULL: there is no room, or an error. */
static struct pf_graph *find_graph(struct read *r)
{
	struct pf_graphs *o = r->out;
	struct pf_buf key = { 0 };
	uint32_t n, known = r->sequences.count;

	if (r->now_count > LAUNCH_MAX)
		return NULL;
	pf_buf_add(&key, &r->track->trace_id, sizeof(r->track->trace_id));
	for (size_t i = 0; i < r->now_count; i++)
		pf_buf_add(&key, &r->now[i].name, sizeof(r->now[i].name));
	if (o->node_count + r->now_count > NODES_MAX) {
		pf_buf_release(&key);
		return NULL;
	}
	n = pf_intern_add(&r->sequences, key.data, key.len);
	pf_buf_release(&key);
	if (n < known)
		return &o->graphs[n];
	*PF_ONE_MORE(o->graphs, o->count, o->cap) =
		(struct pf_graph){ .trace_id = r->track->trace_id,
				   .first_ns = r->now[0].start_ns,
				   .place = o->launches,
				   .number = n };
	return make_graph(r, &o->graphs[n]) < 0 ? NULL : &o->graphs[n];
}

static int add_replay(struct read *r)
{
	struct pf_graphs *o = r->out;
	struct pf_graph *g = find_graph(r);

	PF_TRY(r->db->err->code);
	for (size_t i = 0; i < r->now_count; i++) {
		int64_t ns = r->now[i].dur_ns;

		pf_sat_sum(&o->replayed_ns, ns);
		o->replayed_count++;
		if (!g) {
			pf_sat_sum(&o->past_ns, ns);
			o->past_count++;
			continue;
		}
		pf_sat_sum(&g->nodes[i].in.ns, ns);
		pf_sat_sum(&g->ns, ns);
		PF_AT_MOST(g->nodes[i].min_ns, ns);
		PF_AT_LEAST(g->nodes[i].max_ns, ns);
	}
	o->launches++;
	if (!g)
		return 0;
	g->replays++;
	*PF_ONE_MORE(o->launches_by_id, o->launch_count, o->launch_cap) =
		(struct pf_graph_launch){ r->now[0].launch_id, g->number, 0,
					  r->call_ns };
	return 0;
}

/* ---- what is not replayed ---- */

/* The modules that are open, a line each. */
static uint32_t open_path(struct read *r)
{
	PF_AUTO(pf_buf_release) struct pf_buf path = { 0 };
	uint32_t text = PF_NO_TEXT;

	for (size_t i = 0; i < r->top; i++)
		if (open_at(r, i)->is_module)
			pf_buf_addf(
				&path, "%s%s", path.len ? "\n" : "",
				pf_graphs_text(r->out, open_at(r, i)->module));
	if (path.len)
		text = pf_intern_add(&r->out->texts, path.data, path.len);
	return text;
}

static int add_eager(struct read *r, const struct work *w,
		     const struct open *in)
{
	struct pf_graphs *o = r->out;
	const struct meaning *m;

	if (!in || in->op == PF_NO_TEXT || o->eager_count == EAGER_MAX)
		return 0;
	PF_TRY(mean(r, w->name, &m));
	if (m->text == PF_NO_TEXT)
		return 0;
	*PF_ONE_MORE(o->eager, o->eager_count,
		     o->eager_cap) = (struct pf_graph_eager){
		w->start_ns,  m->text,
		in->op,       in->module,
		open_path(r), role_of(r, m->text, w->is_comm, w->is_copy)
	};
	return 0;
}

static int add_part(struct read *r, const struct work *w, const struct open *in,
		    bool is_replayed)
{
	struct part p = { .start_ns = w->start_ns,
			  .dur_ns = w->dur_ns,
			  .trace_id = r->track->trace_id,
			  .name = w->name,
			  .is_comm = w->is_comm,
			  .is_copy = w->is_copy,
			  .is_replayed = is_replayed };
	const struct meaning *m;

	if (!in || !in->root || r->out->is_brief)
		return 0;
	PF_TRY(mean(r, w->name, &m));
	p.is_whole = m->is_whole;
	p.is_replayed |= m->is_whole;
	p.root = in->root;
	p.root_ns = in->root_ns;
	p.root_name = in->root_name;
	return pf_sorter_add(r->parts, &p, r->db->err);
}

static int use_works(struct read *r, const struct meaning *call)
{
	const struct open *in = r->top ? open_at(r, r->top - 1) : NULL;
	bool is_graph = call->is_graph, is_replay = is_graph;
	const struct meaning *only;
	int rc = 0;

	/* a record of all of a graph is no node of it */
	if (is_graph && r->now_count == 1) {
		PF_TRY(mean(r, r->now->name, &only));
		is_replay = !only->is_whole;
	}
	if (r->what == PF_GRAPHS_OWN && is_replay)
		rc = add_replay(r);
	for (size_t i = 0; !rc && i < r->now_count; i++) {
		if (r->what == PF_GRAPHS_OWN)
			rc = add_part(r, &r->now[i], in, is_replay);
		else if (r->what == PF_GRAPHS_EAGER && !is_graph)
			rc = add_eager(r, &r->now[i], in);
	}
	return rc;
}

/* ---- captures ---- */

/* 1: a call has arguments, borrowed until the next are read. */
static int read_args(struct read *r, uint32_t args, struct pf_json *out)
{
	if (args >= PF_ID_INLINE)
		return 0;
	return pf_texts_get(&r->texts, PF_TEXT_ARGS, args, &out->p, &out->len,
			    r->db->err) < 0
		       ? -1
		       : 1;
}

/* ROCm records which kernel a call launches. */
static int kernel_of(struct read *r, uint32_t args, uint32_t *out)
{
	PF_AUTO(pf_buf_release) struct pf_buf name = { 0 };
	struct pf_json kernel;
	int rc = read_args(r, args, &kernel);

	*out = PF_NO_TEXT;
	if (rc <= 0)
		return rc;
	kernel = pf_json_get(kernel, "kernel");
	if (!kernel.p)
		return 0;
	pf_json_text(kernel, &name);
	*out = pf_intern_add(&r->out->texts, name.data ? name.data : "",
			     name.len);
	return 0;
}

static int args_of(struct read *r, uint32_t args, uint32_t *out)
{
	struct pf_json object;
	int rc = read_args(r, args, &object);

	*out = PF_NO_TEXT;
	if (rc <= 0)
		return rc;
	*out = pf_intern_add(&r->out->texts, object.p, object.len);
	return 0;
}

/* The operators that are open: the innermost of them. */
static int find_around(struct read *r, uint32_t *out)
{
	struct pf_graphs *g = r->out;
	const struct meaning *m;

	*out = PF_NO_TEXT;
	for (size_t i = 0; i < r->top; i++) {
		struct open *o = open_at(r, i);
		struct pf_graph_around a = { *out, PF_NO_TEXT, PF_NO_TEXT };

		if (!o->is_op)
			continue;
		if (o->around == PF_NO_TEXT) {
			if (g->around_count == NODES_MAX)
				return 0;
			PF_TRY(mean(r, o->name, &m));
			PF_TRY(args_of(r, o->args, &a.args) < 0);
			a.name = m->text;
			o->around = (uint32_t)g->around_count;
			*PF_ONE_MORE(g->arounds, g->around_count,
				     g->around_cap) = a;
		}
		*out = o->around;
	}
	return 0;
}

static int capture(struct read *r, const struct meaning *m,
		   const struct pf_block *b, uint32_t i)
{
	const struct open *in = r->top ? open_at(r, r->top - 1) : NULL;
	struct pf_graphs *o = r->out;
	struct pf_graph_call call = { PF_NO_TEXT, PF_NO_TEXT, PF_NO_TEXT,
				      PF_NO_TEXT, PF_NO_TEXT, m->is_copy };
	struct pf_graph_capture *c;

	if (m->is_begin) {
		*PF_ONE_MORE(o->captures, o->capture_count, o->capture_cap) =
			(struct pf_graph_capture){ 0 };
		r->is_capturing = true;
		r->call_end_ns = INT64_MIN;
		return 0;
	}
	if (m->is_end)
		r->is_capturing = false;
	/* A driver's call inside a runtime's is the same launch. */
	if (!r->is_capturing || !m->is_launch ||
	    b->start_ns[i] < r->call_end_ns)
		return 0;
	r->call_end_ns = pf_span_end(b->start_ns[i], b->dur_ns[i]);
	PF_TRY(kernel_of(r, b->args[i], &call.kernel) < 0);
	if (in) {
		call.op = in->op;
		call.module = in->module;
		call.path = open_path(r);
	}
	PF_TRY(r->has_args && find_around(r, &call.around) < 0);
	c = &o->captures[o->capture_count - 1];
	if (c->count == LAUNCH_MAX)
		return 0;
	*PF_ONE_MORE(c->calls, c->count, c->cap) = call;
	return 0;
}

/* ---- threads ---- */

static void push(struct read *r, const struct meaning *m, unsigned kind,
		 int64_t event_id, const struct pf_block *b, uint32_t i)
{
	const struct pf_nest_event event = {
		.end_ns = pf_span_end(b->start_ns[i], b->dur_ns[i]),
		.seq = (uint32_t)((uint64_t)event_id & UINT32_MAX),
		.is_python = kind == PF_KIND_PYTHON,
	};
	struct open o = { .op = PF_NO_TEXT,
			  .module = PF_NO_TEXT,
			  .root_name = PF_NO_TEXT };
	bool is_under;
	size_t at = pf_nest_place(&r->open, b->start_ns[i], event, b->parent[i],
				  &is_under);

	r->top = at;
	if (is_under && event.is_python)
		return;
	if (!is_under)
		r->open.depth = at;
	if (at)
		o = *open_at(r, at - 1);
	o.event = event;
	o.is_module = false;
	o.is_op = kind == PF_KIND_CPU_OP;
	o.name = b->name[i];
	o.args = b->args[i];
	o.around = PF_NO_TEXT;
	if (kind == PF_KIND_CPU_OP)
		o.op = m->text;
	if (kind == PF_KIND_PYTHON && m->module != PF_NO_TEXT) {
		o.module = m->module;
		o.is_module = true;
	}
	if (kind == PF_KIND_ANNOTATION && m->is_root && !o.root) {
		o.root = event_id;
		o.root_ns = b->start_ns[i];
		o.root_name = m->text;
	}
	r->top += pf_nest_insert(&r->open, at, &o);
}

static int take_works(struct read *r, int64_t event_id, const struct meaning *m)
{
	const struct pf_block *none;
	const struct work *w;
	uint32_t ignored;

	r->now_count = 0;
	while ((w = pf_by_event_peek(r->works)) && w->launch_id == event_id) {
		if (event_id) {
			*PF_ONE_MORE(r->now, r->now_count, r->now_cap) = *w;
		}
		pf_by_event_next(r->works, &none, &ignored);
	}
	PF_TRY(r->db->err->code);
	return r->now_count ? use_works(r, m) : 0;
}

static int take(void *context, const struct pf_block *b, uint32_t i,
		int64_t event_id)
{
	struct read *r = context;
	unsigned kind = pf_kinds_at(&r->kinds, b->type[i]);
	const struct meaning *m;

	PF_TRY(mean(r, b->name[i], &m));
	push(r, m, kind, event_id, b, i);
	r->call_ns = b->start_ns[i];
	PF_TRY((kind == PF_KIND_RUNTIME || kind == PF_KIND_DRIVER) &&
	       capture(r, m, b, i) < 0);
	return take_works(r, event_id, m);
}

static int read_tracks(struct read *r)
{
	static const struct pf_track_reader reader = {
		.event = take,
		.columns = PF_COLBIT(PF_COL_PARENT) | PF_COLBIT(PF_COL_ARGS),
	};
	struct pf_track *tracks;
	size_t count;
	int rc = pf_tracks_load(r->db, 0, &tracks, &count, r->db->err);

	PF_TRY(rc < 0);
	rc = take_works(r, 0, &no_meaning);
	for (size_t i = 0; !rc && i < count; i++) {
		r->track = &tracks[i];
		r->open.depth = r->top = 0;
		r->is_capturing = false;
		if (!strcmp(tracks[i].class_name, "host") ||
		    pf_by_event_is_on(r->works, tracks[i].id))
			rc = pf_track_read(r->db, &tracks[i], &reader, r);
	}
	pf_tracks_free(tracks, count);
	return rc || r->db->err->code ? -1 : 0;
}

static int count_work(struct read *r, const struct pf_gpu_event *ev)
{
	const struct meaning *m;

	pf_sat_sum(&r->out->gpu_ns, ev->dur_ns);
	if (ev->kind != PF_KIND_KERNEL)
		return 0;
	PF_TRY(mean(r, ev->name, &m));
	if (m->is_whole) {
		pf_sat_sum(&r->out->whole_ns, ev->dur_ns);
		r->out->whole_count++;
	}
	return 0;
}

static int gather(struct read *r, const struct pf_window *window)
{
	PF_AUTO(pf_gpu_freed)
	struct pf_gpu *gpu =
		pf_gpu_new(r->db, window, PF_GPU_CALLS | PF_GPU_STARTS);
	const struct pf_gpu_event *ev;
	int rc = -1;

	r->works = pf_by_event_new(r->db, sizeof(struct work), 0);
	while (gpu && (rc = pf_gpu_next(gpu, &ev)) == 1) {
		struct work w = {
			.launch_id = ev->launch_id,
			.start_ns = ev->start_ns,
			.dur_ns = ev->dur_ns,
			.stream = ev->stream,
			.name = ev->name,
			.is_comm = ev->class == PF_GPU_COMM,
			.is_copy = ev->class == PF_GPU_COPY ||
				   ev->class == PF_GPU_MEMSET,
		};

		rc = r->what == PF_GRAPHS_OWN ? count_work(r, ev) : 0;
		if (!rc)
			rc = pf_by_event_add(r->works, &w);
		if (rc < 0)
			break;
	}
	return rc;
}

/* ---- iterations ---- */

struct sequence {
	struct pf_layer_node *nodes;
	size_t count, cap;
	struct pf_intern known; /* names of sequences -> layers */
	struct known_layers {
		int64_t layers;
		uint8_t *is_in;
	} * found;
	size_t found_cap;
	int64_t left;   /* of the comparisons */
	bool has_whole; /* graphs of unknown kernels */
};

/*
 * A step of training without graphs: what repeats in it may be batches, and
 * its operators are known anyway.
 */
static bool is_plain_step(const struct read *r,
			  const struct pf_graph_iteration *it)
{
	return !r->has_pattern && !it->replayed_ns &&
	       !strncmp(pf_graphs_text(r->out, it->name), STEP, strlen(STEP));
}

static void end_iteration(struct read *r, struct sequence *s,
			  struct pf_graph_iteration *it)
{
	uint32_t before = s->known.count, n;
	struct known_layers *k;
	struct pf_buf key = { 0 };

	it->layers = it->layer_ns = PF_NO_INT;
	if (is_plain_step(r, it)) {
		r->out->iteration_count--;
		return;
	}
	if (!s->count || s->has_whole || s->count > PF_LAYERS_MAX_KERNELS)
		return;
	for (size_t i = 0; i < s->count; i++)
		pf_buf_add(&key, &s->nodes[i].name, sizeof(uint32_t));
	n = pf_intern_add(&s->known, key.data, key.len);
	pf_buf_release(&key);
	PF_ROOM(s->found, s->found_cap, (size_t)n + 1);
	k = &s->found[n];
	if (n == before) {
		int64_t cost = (int64_t)(s->count * s->count / 2);

		*k = (struct known_layers){ .layers = PF_NO_INT };
		if (cost < s->left) {
			s->left -= cost;
			k->layers = layers_find(s->nodes, s->count);
			k->is_in = pf_calloc(s->count, 1);
			for (size_t i = 0; i < s->count; i++)
				k->is_in[i] = s->nodes[i].layer >= 0;
		}
	}
	it->layers = k->layers;
	it->layer_ns = k->is_in ? 0 : PF_NO_INT;
	for (size_t i = 0; k->is_in && i < s->count; i++)
		if (k->is_in[i])
			pf_sat_sum(&it->layer_ns, s->nodes[i].ns);
}

static int add_kernel(struct read *r, struct sequence *s, const struct part *p)
{
	const struct meaning *m;

	if (s->count > PF_LAYERS_MAX_KERNELS)
		return 0;
	PF_TRY(mean(r, p->name, &m));
	*PF_ONE_MORE(s->nodes, s->count, s->cap) = (struct pf_layer_node){
		.name = m->text == PF_NO_TEXT
				? pf_intern_add(&r->out->texts, "", 0)
				: m->text,
		.role = role_of(r, m->text, p->is_comm, p->is_copy),
		.ns = p->dur_ns,
	};
	return 0;
}

static int add_iterations(struct read *r, struct sequence *s)
{
	struct pf_graphs *o = r->out;
	struct pf_graph_iteration *it = NULL;
	const struct part *p;
	int64_t root = 0;

	PF_TRY(pf_sorter_finish(r->parts, r->db->err) < 0);
	while ((p = pf_sorter_next(r->parts, r->db->err))) {
		if (!it || p->root != root) {
			if (it)
				end_iteration(r, s, it);
			o->iterations =
				pf_grow(o->iterations, &o->iteration_cap,
					o->iteration_count + 1, sizeof(*it));
			it = &o->iterations[o->iteration_count++];
			*it = (struct pf_graph_iteration){
				.trace_id = p->trace_id,
				.start_ns = p->root_ns,
				.name = p->root_name,
			};
			root = p->root;
			s->count = 0;
			s->has_whole = false;
		}
		s->has_whole |= p->is_whole;
		it->kernels++;
		pf_sat_sum(&it->ns, p->dur_ns);
		if (p->is_replayed)
			pf_sat_sum(&it->replayed_ns, p->dur_ns);
		PF_TRY(add_kernel(r, s, p));
	}
	if (it && !r->db->err->code)
		end_iteration(r, s, it);
	return r->db->err->code ? -1 : 0;
}

static int read_iterations(struct read *r)
{
	struct sequence s = { .left = WORK_MAX };
	int rc;

	rc = add_iterations(r, &s);
	for (uint32_t i = 0; i < s.known.count; i++)
		free(s.found[i].is_in);
	free(s.found);
	free(s.nodes);
	pf_intern_release(&s.known);
	return rc;
}

/* ---- the whole ---- */

PF_ORDER(by_start, struct pf_graph_eager, PF_UP(start_ns))

static void end_reading(struct read *r)
{
	pf_by_event_free(r->works);
	pf_sorter_free(r->parts);
	pf_step_regex_free(r->iteration);
	pf_kinds_release(&r->kinds);
	pf_texts_release(&r->texts);
	pf_intern_release(&r->sequences);
	free(r->meanings);
	pf_nest_release(&r->open);
	free(r->now);
}

int pf_graphs_read(struct pf_db *db, const struct pf_graphs_args *args,
		   enum pf_graphs_read what, struct pf_graphs *out)
{
	static const struct pf_window_args all = PF_WINDOW_DEFAULTS;
	PF_AUTO(end_reading)
	struct read r = { .db = db,
			  .out = out,
			  .what = what,
			  .has_pattern = args->iteration,
			  .has_args = args->has_args,
			  .texts = { .db = db },
			  .open = { .width = sizeof(struct open) } };
	PF_AUTO(pf_window_release) struct pf_window other = { 0 };
	const bool is_own = what == PF_GRAPHS_OWN;
	struct pf_window *window = is_own ? &out->window : &other;

	out->is_brief = args->is_brief;
	r.parts = pf_sorter_temp(sizeof(struct part));
	r.iteration = pf_step_regex_new(
		args->iteration ? args->iteration : ITERATION, db->err);
	PF_TRY(!r.iteration ||
	       (!out->roles && !(out->roles = roles_new(db->err))));
	PF_TRY(pf_window_resolve(db, is_own ? &args->window : &all, window));
	PF_TRY(pf_kinds_load(&r.kinds, db, db->err));
	PF_TRY(gather(&r, window) || read_tracks(&r));
	PF_TRY(is_own && !args->is_brief && read_iterations(&r));
	pf_sort(out->eager, out->eager_count, sizeof(*out->eager), by_start);
	return 0;
}

/*
 * A capture has the calls of a graph in its order, so the two must be of one
 * length; where names are recorded, what was captured and not replayed may be
 * passed over.  An eager run is aligned as sequences are: equal names are
 * worth most, places that nothing faces cost something.
 */

#define ALIGN_CELLS (64u << 20) /* bytes that an alignment may take */

static const char *const part_words[PF_PARTS] = { NULL,     "qkv", "out",
						  "router", "up",  "down" };

/* ---- captures ---- */

static bool is_same(const struct pf_graph_call *c,
		    const struct pf_graph_node *n)
{
	if (c->kernel != PF_NO_TEXT)
		return c->kernel == n->in.name;
	return c->is_copy == (n->in.role == PF_ROLE_COPY);
}

static void claim(struct pf_graph_node *n, const struct pf_graph_call *c,
		  enum pf_graph_how how)
{
	n->op = c->op;
	n->module = c->module;
	n->path = c->path;
	n->around = c->around;
	n->how = how;
}

static bool match_all(struct pf_graph *g, const struct pf_graph_capture *c)
{
	bool has_names = true;

	if (g->count != c->count)
		return false;
	for (size_t i = 0; i < g->count; i++) {
		if (!is_same(&c->calls[i], &g->nodes[i]))
			return false;
		has_names &=
			c->calls[i].kernel != PF_NO_TEXT || c->calls[i].is_copy;
	}
	for (size_t i = 0; i < g->count; i++)
		claim(&g->nodes[i], &c->calls[i],
		      has_names ? PF_HOW_EXACT : PF_HOW_ORDER);
	return true;
}

/* The call of each node, or c->count; how many have one. */
static size_t match_some(const struct pf_graph *g,
			 const struct pf_graph_capture *c, size_t *at)
{
	size_t from = 0, met = 0;

	for (size_t i = 0; i < g->count; i++) {
		size_t j = from;

		while (j < c->count && !is_same(&c->calls[j], &g->nodes[i]))
			j++;
		at[i] = j;
		if (j == c->count)
			continue;
		met++;
		from = j + 1;
	}
	return met;
}

/* The operators of a graph by a capture; false: it is another. */
static bool graph_match(struct pf_graphs *g, struct pf_graph *graph,
			const struct pf_graph_capture *c)
{
	size_t apart = graph->count > c->count ? graph->count - c->count
					       : c->count - graph->count;
	bool has_names = false;
	size_t *at;

	(void)g;
	if (!c->count || apart > 2 + graph->count / 50)
		return false;
	if (match_all(graph, c))
		return true;
	for (size_t i = 0; i < c->count; i++)
		has_names |= c->calls[i].kernel != PF_NO_TEXT;
	if (!has_names)
		return false;
	at = pf_calloc(graph->count + 1, sizeof(*at));
	if (50 * match_some(graph, c, at) < 49 * graph->count) {
		free(at);
		return false;
	}
	for (size_t i = 0; i < graph->count; i++)
		if (at[i] < c->count)
			claim(&graph->nodes[i], &c->calls[at[i]], PF_HOW_EXACT);
	free(at);
	return true;
}

/* ---- an eager run ---- */

enum step { BOTH, NODE, OTHER };

struct side {
	uint32_t name, family;
	enum pf_role role;
};

static int worth(const struct side *a, const struct side *b)
{
	if (a->name == b->name)
		return 4;
	if (a->family == b->family)
		return 3;
	return a->role == b->role && a->role != PF_ROLE_OTHER ? 1 : -3;
}

static uint32_t family_of(struct pf_graphs *g, struct pf_intern *families,
			  uint32_t name, enum pf_role role)
{
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };
	uint32_t n;

	role_family(pf_graphs_text(g, name), role, &text);
	n = pf_intern_add(families, text.data, text.len);
	return n;
}

/* Which step leads to each cell, row by row. */
static uint8_t *fill(const struct side *a, size_t n, const struct side *b,
		     size_t m)
{
	uint8_t *back = pf_alloc((n + 1) * (m + 1));
	PF_OWN int *row = pf_calloc(m + 1, sizeof(*row));

	memset(back, OTHER, m + 1);
	for (size_t j = 0; j <= m; j++)
		row[j] = -(int)j;
	for (size_t i = 1; i <= n; i++) {
		uint8_t *to = back + i * (m + 1);
		int diagonal = row[0];

		row[0] = -(int)i;
		to[0] = NODE;
		for (size_t j = 1; j <= m; j++) {
			int both = diagonal + worth(&a[i - 1], &b[j - 1]);
			int node = row[j] - 1, other = row[j - 1] - 1;

			diagonal = row[j];
			if (both >= node && both >= other) {
				row[j] = both;
				to[j] = BOTH;
			} else {
				row[j] = node >= other ? node : other;
				to[j] = node >= other ? NODE : OTHER;
			}
		}
	}
	return back;
}

static void claim_eager(struct pf_graph_node *n, const struct pf_graph_eager *e,
			int value)
{
	if (value < 1)
		return;
	n->module = e->module;
	n->path = e->path;
	/* Its place is known; what computes there may be another operator. */
	n->op = value > 1 ? e->op : PF_NO_TEXT;
	n->how = value == 4   ? PF_HOW_ALIGNED
		 : value == 3 ? PF_HOW_FAMILY
			      : PF_HOW_POSITION;
}

static void align(struct pf_graph *graph, const struct pf_graph_eager *eager,
		  const struct side *a, const struct side *b, size_t m)
{
	size_t i = graph->count, j = m;
	PF_OWN uint8_t *back = fill(a, i, b, m);

	while (i > 0 && j > 0) {
		switch (back[i * (m + 1) + j]) {
		case BOTH:
			claim_eager(&graph->nodes[i - 1], &eager[j - 1],
				    worth(&a[i - 1], &b[j - 1]));
			i--;
			j--;
			break;
		case NODE:
			i--;
			break;
		default:
			j--;
		}
	}
}

/* And by kernels of an eager run. */
static void graph_align(struct pf_graphs *g, struct pf_graph *graph)
{
	size_t n = graph->count, m = ALIGN_CELLS / (n + 1);
	PF_AUTO(pf_intern_release) struct pf_intern families = { 0 };
	struct side *a, *b;

	PF_AT_MOST(m, g->eager_count);
	if (!m)
		return;
	a = pf_calloc(n + 1, sizeof(*a));
	b = pf_calloc(m + 1, sizeof(*b));
	for (size_t i = 0; i < n; i++)
		a[i] = (struct side){
			graph->nodes[i].in.name,
			family_of(g, &families, graph->nodes[i].in.name,
				  graph->nodes[i].in.role),
			graph->nodes[i].in.role,
		};
	for (size_t i = 0; i < m; i++)
		b[i] = (struct side){
			g->eager[i].name,
			family_of(g, &families, g->eager[i].name,
				  g->eager[i].role),
			g->eager[i].role,
		};
	align(graph, g->eager, a, b, m);
	free(a);
	free(b);
}

void pf_graphs_release(struct pf_graphs *g)
{
	pf_window_release(&g->window);
	pf_intern_release(&g->texts);
	roles_free(g->roles);
	for (size_t i = 0; i < g->count; i++)
		free(g->graphs[i].nodes);
	for (size_t i = 0; i < g->capture_count; i++)
		free(g->captures[i].calls);
	free(g->role_of);
	free(g->graphs);
	free(g->iterations);
	free(g->captures);
	free(g->arounds);
	free(g->eager);
	free(g->launches_by_id);
	*g = (struct pf_graphs){ 0 };
}

const char *pf_graphs_text(const struct pf_graphs *g, uint32_t text)
{
	size_t len;

	return text == PF_NO_TEXT ? NULL
				  : pf_intern_text(&g->texts, text, &len);
}

static const char *graph_how_word(enum pf_graph_how how)
{
	static const char *const words[PF_HOWS] = {
		"eager",  "exact",    "order", "aligned",
		"family", "position", "class", "none",
	};

	return words[how];
}

static void find_layers(struct pf_graph *g)
{
	PF_OWN struct pf_layer_node *nodes =
		pf_calloc(g->count + 1, sizeof(*nodes));

	for (size_t i = 0; i < g->count; i++)
		nodes[i] = g->nodes[i].in;
	g->layers = layers_find(nodes, g->count);
	for (size_t i = 0; i < g->count; i++) {
		g->nodes[i].in = nodes[i];
		if (nodes[i].layer >= 0)
			pf_sat_sum(&g->layer_ns, nodes[i].ns);
	}
}

/* The capture of its place first: the n-th launch is of the n-th. */
static bool match(struct pf_graphs *g, struct pf_graph *graph)
{
	for (size_t i = 0; i < g->capture_count; i++) {
		size_t at = ((size_t)graph->place + i) % g->capture_count;

		if (graph_match(g, graph, &g->captures[at]))
			return true;
	}
	return false;
}

PF_ORDER(by_first, struct pf_graph,
	 PF_UP(trace_id) PF_UP(first_ns) PF_UP(place))

PF_ORDER(by_launch, struct pf_graph_launch, PF_UP(launch_id))

/* Graphs got their order: launches know them by index. */
static void settle_launches(struct pf_graphs *g)
{
	PF_OWN uint32_t *at = pf_calloc(g->count + 1, sizeof(*at));

	for (size_t i = 0; i < g->count; i++)
		at[g->graphs[i].number] = (uint32_t)i;
	for (size_t i = 0; i < g->launch_count; i++)
		g->launches_by_id[i].graph = at[g->launches_by_id[i].graph];
	pf_sort(g->launches_by_id, g->launch_count, sizeof(*g->launches_by_id),
		by_launch);
}

void pf_graphs_explain(struct pf_graphs *g)
{
	pf_sort(g->graphs, g->count, sizeof(*g->graphs), by_first);
	settle_launches(g);
	for (size_t i = 0; i < g->count; i++) {
		struct pf_graph *graph = &g->graphs[i];

		if (!g->is_brief)
			find_layers(graph);
		if (!match(g, graph))
			graph_align(g, graph);
		for (size_t j = 0; j < graph->count; j++)
			pf_sat_sum(&graph->how_ns[graph->nodes[j].how],
				   graph->nodes[j].in.ns);
	}
}

/* What was found of graphs, for analyses of something else. */

static struct pf_graph_launch *find_launch(const struct pf_graphs *g,
					   int64_t launch_id)
{
	size_t from = 0, to = g->launch_count;

	while (from < to) {
		size_t at = from + (to - from) / 2;

		if (g->launches_by_id[at].launch_id < launch_id)
			from = at + 1;
		else
			to = at;
	}
	if (from == g->launch_count ||
	    g->launches_by_id[from].launch_id != launch_id)
		return NULL;
	return &g->launches_by_id[from];
}

const struct pf_graph *pf_graphs_of(const struct pf_graphs *g,
				    int64_t launch_id)
{
	const struct pf_graph_launch *l = find_launch(g, launch_id);

	return l ? &g->graphs[l->graph] : NULL;
}

int64_t pf_graphs_launch_ns(const struct pf_graphs *g, int64_t launch_id)
{
	const struct pf_graph_launch *l = find_launch(g, launch_id);

	return l ? l->start_ns : 0;
}

int64_t pf_graphs_launch_at(const struct pf_graphs *g, int64_t launch_id)
{
	const struct pf_graph_launch *l = find_launch(g, launch_id);

	return l ? l - g->launches_by_id : 0;
}

const struct pf_graph_node *pf_graphs_next(struct pf_graphs *g,
					   int64_t launch_id)
{
	struct pf_graph_launch *l = find_launch(g, launch_id);
	const struct pf_graph *graph = l ? &g->graphs[l->graph] : NULL;

	return graph && l->next < graph->count ? &graph->nodes[l->next++]
					       : NULL;
}

const char *pf_graphs_op(const struct pf_graphs *g,
			 const struct pf_graph_node *n)
{
	if (n->how > PF_HOW_FAMILY)
		return NULL;
	return pf_graphs_text(g, n->op);
}

void pf_graphs_say_how(const int64_t *how_ns, int64_t of_ns, struct pf_buf *out)
{
	const char *before = "";

	for (size_t h = 0; h < PF_HOWS; h++) {
		if (!how_ns[h])
			continue;
		pf_buf_addf(out, "%s%s %s", before,
			    graph_how_word((enum pf_graph_how)h),
			    PF_SHOW_SHARE(how_ns[h], of_ns));
		before = ", ";
	}
}

void pf_graphs_note(const struct pf_graphs *g, struct pf_doc *doc)
{
	int64_t how_ns[PF_HOWS] = { 0 };
	PF_AUTO(pf_buf_release) struct pf_buf parts = { 0 };

	if (!g->replayed_ns)
		return;
	for (size_t i = 0; i < g->count; i++)
		for (size_t h = 0; h < PF_HOWS; h++)
			how_ns[h] += g->graphs[i].how_ns[h];
	how_ns[PF_HOW_NONE] += g->past_ns;
	pf_graphs_say_how(how_ns, g->replayed_ns, &parts);
	pf_doc_note(doc, "%s of GPU time is replayed by graphs: %s",
		    PF_SHOW_SHARE(g->replayed_ns, g->gpu_ns),
		    parts.data ? parts.data : "");
}

/* The nodes of all launches as a table of a new file, for SQL. */

static const char *const schemas[] = { "schema/graph_node.sql", NULL };

/* It is no profan database: nothing of ours reads it. */
static const struct pf_db_kind kind_of_store = {
	.application_id = 0,
	.version = 1,
	.what = "a file of nodes",
	.schemas = schemas,
};

/* What is not bound is null. */
static void bind_text(sqlite3_stmt *st, int at, const char *text)
{
	if (text)
		sqlite3_bind_text(st, at, text, -1, SQLITE_STATIC);
}

static int put_launch(const struct pf_graphs *g, struct pf_db *to,
		      sqlite3_stmt *st, const struct pf_graph_launch *l)
{
	const struct pf_graph *graph = &g->graphs[l->graph];

	for (size_t i = 0; i < graph->count; i++) {
		const struct pf_graph_node *n = &graph->nodes[i];

		PF_BIND(st, graph->trace_id, l->launch_id, (int64_t)i);
		bind_text(st, 4, role_word(n->in.role));
		if (n->in.layer >= 0)
			sqlite3_bind_int64(st, 5, n->in.layer);
		bind_text(st, 6, part_words[n->in.part]);
		bind_text(st, 7, pf_graphs_text(g, n->op));
		bind_text(st, 8, pf_graphs_text(g, n->module));
		bind_text(st, 9, graph_how_word(n->how));
		PF_TRY(pf_db_put(to, st, to->err));
	}
	return 0;
}

static int fill_store(const struct pf_graphs *g, struct pf_db *to)
{
	PF_STMT(st) = pf_db_prepare(
		to, "INSERT INTO graph_node VALUES(?,?,?,?,?,?,?,?,?)",
		to->err);

	PF_TRY(!st);
	for (size_t i = 0; i < g->launch_count; i++)
		PF_TRY(put_launch(g, to, st, &g->launches_by_id[i]));
	return 0;
}

int pf_graphs_store(const struct pf_graphs *g, const struct pf_db *db,
		    const char *path)
{
	struct pf_outrule rule = { .is_database = true };
	struct pf_outplace place;
	struct pf_db to = { 0 };
	int rc;

	pf_db_protect(db, &rule);
	PF_TRY(pf_outplace_open(&place, path, &rule, db->err));
	rc = pf_db_create_kind(&to, place.partial, &kind_of_store, db->err);
	if (!rc)
		rc = fill_store(g, &to);
	if (!rc)
		rc = pf_db_finish_with(&to, "schema/graph_node_indexes.sql",
				       db->err);
	if (!rc)
		rc = pf_outplace_commit(&place, db->err);
	pf_db_close(&to);
	pf_outplace_release(&place);
	return rc;
}

/* ---- graphs show ---- */

struct graph_row {
	int64_t trace_id, graph, replays, nodes, ns, mean_ns, layers, layer_ns;
	double share;
	int64_t how_ns[PF_HOWS];
};

#define FIELD(...) PF_FIELD(struct graph_row, __VA_ARGS__)
static const struct pf_field graph_fields[] = {
	FIELD(trace_id, "Trace", PF_INT | PF_FULL),
	FIELD(graph, "Graph", PF_INT),
	FIELD(replays, "Replays", PF_COUNT),
	FIELD(nodes, "Nodes", PF_COUNT),
	FIELD(ns, "gpu_ns", "GPU time", PF_NS),
	FIELD(share, "Share", PF_RATIO),
	FIELD(mean_ns, "A replay", PF_NS),
	FIELD(layers, "Layers", PF_COUNT),
	FIELD(layer_ns, "In layers", PF_NS | PF_FULL),
	FIELD(how_ns[PF_HOW_EXACT], "exact_ns", "Exact", PF_NS | PF_FULL),
	FIELD(how_ns[PF_HOW_ORDER], "order_ns", "Order", PF_NS | PF_FULL),
	FIELD(how_ns[PF_HOW_ALIGNED], "aligned_ns", "Aligned", PF_NS | PF_FULL),
	FIELD(how_ns[PF_HOW_FAMILY], "family_ns", "Family", PF_NS | PF_FULL),
	FIELD(how_ns[PF_HOW_POSITION], "position_ns", "Position",
	      PF_NS | PF_FULL),
	FIELD(how_ns[PF_HOW_CLASS], "class_ns", "Class", PF_NS | PF_FULL),
	FIELD(how_ns[PF_HOW_NONE], "none_ns", "None", PF_NS | PF_FULL),
};
#undef FIELD

struct word_row {
	const char *word, *part;
	int64_t count, ns;
	double share;
};

#define FIELD(...) PF_FIELD(struct word_row, __VA_ARGS__)
static const struct pf_field how_fields[] = {
	FIELD(word, "how", "How", PF_TEXT | PF_OURS),
	FIELD(part, "meaning", "What says so", PF_TEXT | PF_OURS),
	FIELD(count, "work_count", "GPU events", PF_COUNT),
	FIELD(ns, "gpu_ns", "GPU time", PF_NS),
	FIELD(share, "Share", PF_RATIO),
};
static const struct pf_field role_fields[] = {
	FIELD(word, "role", "Role", PF_TEXT | PF_OURS),
	FIELD(part, "Part", PF_TEXT | PF_OURS),
	FIELD(count, "work_count", "GPU events", PF_COUNT),
	FIELD(ns, "gpu_ns", "GPU time", PF_NS),
	FIELD(share, "Share", PF_RATIO),
};
static const struct pf_field op_fields[] = {
	FIELD(word, "op", "Operator", PF_TEXT),
	FIELD(count, "work_count", "GPU events", PF_COUNT),
	FIELD(ns, "gpu_ns", "GPU time", PF_NS),
	FIELD(share, "Share", PF_RATIO),
};
#undef FIELD

struct layer_row {
	int64_t trace_id, graph, layer, nodes, ns, attention_ns, gemm_ns;
	int64_t other_ns, usual_ns;
	double against; /* the layers with as many kernels: how much more */
};

#define FIELD(...) PF_FIELD(struct layer_row, __VA_ARGS__)
static const struct pf_field layer_fields[] = {
	FIELD(trace_id, "Trace", PF_INT | PF_FULL),
	FIELD(graph, "Graph", PF_INT),
	FIELD(layer, "Layer", PF_INT),
	FIELD(nodes, "Nodes", PF_COUNT),
	FIELD(ns, "replay_ns", "A replay", PF_NS),
	FIELD(attention_ns, "Attention", PF_NS),
	FIELD(gemm_ns, "Products", PF_NS),
	FIELD(other_ns, "Other", PF_NS),
	FIELD(usual_ns, "Usual", PF_NS | PF_FULL),
	FIELD(against, "against_usual", "Against usual", PF_RATIO | PF_SIGNED),
};
#undef FIELD

struct node_row {
	int64_t trace_id, graph, node, stream, layer, place, ns, min_ns, max_ns;
	const char *role, *part, *how, *op, *module, *name;
};

#define FIELD(...) PF_FIELD(struct node_row, __VA_ARGS__)
static const struct pf_field node_fields[] = {
	FIELD(trace_id, "Trace", PF_INT | PF_FULL),
	FIELD(graph, "Graph", PF_INT),
	FIELD(node, "Node", PF_INT),
	FIELD(stream, "Stream", PF_INT | PF_KNOWN | PF_FULL),
	FIELD(layer, "Layer", PF_INT | PF_KNOWN),
	FIELD(place, "Place", PF_INT | PF_KNOWN | PF_FULL),
	FIELD(role, "Role", PF_TEXT | PF_OURS),
	FIELD(part, "Part", PF_TEXT | PF_OURS | PF_FULL),
	FIELD(how, "How", PF_TEXT | PF_OURS),
	FIELD(op, "Operator", PF_TEXT),
	FIELD(module, "Module", PF_TEXT | PF_FULL),
	FIELD(ns, "replay_ns", "A replay", PF_NS),
	FIELD(min_ns, "Shortest", PF_NS | PF_FULL),
	FIELD(max_ns, "Longest", PF_NS | PF_FULL),
	FIELD(name, "Kernel", PF_TEXT),
};
#undef FIELD

struct iteration_row {
	int64_t trace_id, start_ns, kernels, ns, replayed_ns, layers, layer_ns;
	const char *name;
};

#define FIELD(...) PF_FIELD(struct iteration_row, __VA_ARGS__)
static const struct pf_field iteration_fields[] = {
	FIELD(trace_id, "Trace", PF_INT | PF_FULL),
	FIELD(start_ns, "Start", PF_INT | PF_FULL),
	FIELD(name, "iteration", "Iteration", PF_TEXT),
	FIELD(kernels, "work_count", "GPU events", PF_COUNT),
	FIELD(ns, "gpu_ns", "GPU time", PF_NS),
	FIELD(replayed_ns, "Replayed", PF_NS),
	FIELD(layers, "Layers", PF_COUNT | PF_MAYBE),
	FIELD(layer_ns, "In layers", PF_NS | PF_MAYBE),
};
#undef FIELD

/* ---- the sentence and the figures ---- */

/* What is replayed of all that was recorded, by kernels or as a whole. */
static int64_t replayed(const struct pf_graphs *g)
{
	return pf_sat_add(g->replayed_ns, g->whole_ns);
}

static void find_whole(const struct pf_graphs *g, struct pf_doc *doc)
{
	pf_doc_finding(doc,
		       "Graphs were recorded as a whole, without their "
		       "kernels: what %s launch%s of them replay%s is not "
		       "known (%s, %s of the GPU time%s)",
		       PF_SHOW_COUNT(g->whole_count),
		       g->whole_count == 1 ? "" : "es",
		       g->whole_count == 1 ? "s" : "", PF_SHOW_NS(g->whole_ns),
		       PF_SHOW_SHARE(g->whole_ns, g->gpu_ns),
		       pf_window_scope(&g->window));
}

static void add_none(const struct pf_graphs *g, struct pf_doc *doc)
{
	if (!g->recorded.has_work)
		pf_doc_finding(doc, "%s", pf_window_no_work(&g->window));
	else if (g->whole_count)
		find_whole(g, doc);
	else if (!g->recorded.has_calls)
		pf_doc_finding(doc, "There are no launch calls: whether graphs "
				    "replay GPU work is not known");
	else
		pf_doc_finding(doc, "No GPU work%s is replayed by a graph",
			       pf_window_scope(&g->window));
}

static void add_finding(const struct pf_graphs *g, const int64_t *how_ns,
			struct pf_doc *doc)
{
	int64_t ops = how_ns[PF_HOW_EXACT] + how_ns[PF_HOW_ORDER] +
		      how_ns[PF_HOW_ALIGNED] + how_ns[PF_HOW_FAMILY];

	doc->is_nothing = !g->launches && !g->iteration_count;
	if (!g->launches) {
		add_none(g, doc);
		return;
	}
	pf_doc_finding(
		doc,
		"%s of the GPU time%s is replayed by graphs (%s of %s); the "
		"operator is known of %s of that",
		PF_SHOW_SHARE(replayed(g), g->gpu_ns),
		pf_window_scope(&g->window), PF_SHOW_NS(replayed(g)),
		PF_SHOW_NS(g->gpu_ns), PF_SHOW_SHARE(ops, replayed(g)));
}

static void add_figure(struct pf_doc *doc, const char *key, const char *title,
		       enum pf_col_kind kind, bool is_known, int64_t value)
{
	if (is_known)
		pf_doc_int(doc, key, title, kind, value);
	else
		pf_doc_null(doc, key, title, kind);
}

/* Launches are told by calls, graphs and what they replay by kernels. */
static void add_figures(const struct pf_graphs *g, struct pf_doc *doc)
{
	bool has_calls = g->recorded.has_calls || !g->recorded.has_work;
	bool has_kernels = has_calls && !g->whole_count;

	pf_doc_int(doc, "gpu_ns", "GPU time, summed", PF_NS, g->gpu_ns);
	add_figure(doc, "replayed_ns", "  replayed by graphs", PF_NS, has_calls,
		   replayed(g));
	pf_doc_int(doc, "whole_ns", "    recorded as a whole", PF_NS | PF_QUIET,
		   g->whole_ns);
	add_figure(doc, "replayed_count", "GPU events replayed", PF_COUNT,
		   has_kernels, g->replayed_count);
	add_figure(doc, "launch_count", "Launches of graphs", PF_COUNT,
		   has_calls, pf_sat_add(g->launches, g->whole_count));
	pf_doc_int(doc, "whole_count", "  recorded as a whole",
		   PF_COUNT | PF_QUIET, g->whole_count);
	add_figure(doc, "graph_count", "  different graphs", PF_COUNT,
		   has_kernels, (int64_t)g->count);
	pf_doc_int(doc, "capture_count", "Captures", PF_COUNT | PF_QUIET,
		   (int64_t)g->capture_count);
	pf_doc_int(doc, "past_ns", "Replayed, not looked at", PF_NS | PF_QUIET,
		   g->past_ns);
}

/* ---- tables ---- */

static void add_graphs(const struct pf_graphs *g, struct pf_doc *doc)
{
	struct pf_table *t =
		pf_doc_fields(doc, "graphs", "Graphs", PF_FIELDS(graph_fields));

	for (size_t i = 0; i < g->count; i++) {
		const struct pf_graph *graph = &g->graphs[i];
		struct graph_row row = {
			.trace_id = graph->trace_id,
			.graph = (int64_t)i,
			.replays = graph->replays,
			.nodes = (int64_t)graph->count,
			.ns = graph->ns,
			.mean_ns = graph->ns / graph->replays,
			.layers = graph->layers,
			.layer_ns = graph->layer_ns,
			.share = pf_ratio((double)graph->ns, g->gpu_ns),
		};

		memcpy(row.how_ns, graph->how_ns, sizeof(row.how_ns));
		PF_PUT(t, graph_fields, row);
	}
}

PF_ORDER(by_ns, struct word_row, PF_DOWN(ns) PF_ALPHA(word) PF_ALPHA(part))

static void put_words(const struct pf_graphs *g, struct pf_table *t,
		      const struct pf_field *fields, size_t field_count,
		      struct word_row *rows, size_t count)
{
	pf_sort(rows, count, sizeof(*rows), by_ns);
	for (size_t i = 0; i < count; i++) {
		rows[i].share = pf_ratio((double)rows[i].ns, g->replayed_ns);
		if (rows[i].count)
			pf_table_put(t, fields, field_count, &rows[i],
				     sizeof(rows[i]));
	}
}

static void add_hows(const struct pf_graphs *g, const struct word_row *hows,
		     struct pf_doc *doc)
{
	static const char *const meanings[PF_HOWS] = {
		[PF_HOW_EAGER] = "its own launch",
		[PF_HOW_EXACT] = "a capture of the same kernels",
		[PF_HOW_ORDER] = "a capture of as many calls",
		[PF_HOW_ALIGNED] = "the same kernel in an eager run",
		[PF_HOW_FAMILY] = "a like kernel in an eager run",
		[PF_HOW_POSITION] = "its place; no operator",
		[PF_HOW_CLASS] = "its name: a role, no operator",
		[PF_HOW_NONE] = "nothing",
	};
	struct pf_table *t =
		pf_doc_fields(doc, "evidence", "What says which operator",
			      PF_FIELDS(how_fields));

	for (size_t i = 0; i < PF_HOWS; i++) {
		struct word_row row = hows[i];

		row.part = meanings[i];
		row.share = pf_ratio((double)row.ns, g->replayed_ns);
		if (row.count)
			PF_PUT(t, how_fields, row);
	}
}

static void add_roles(const struct pf_graphs *g, struct pf_doc *doc)
{
	struct word_row rows[PF_ROLES * PF_PARTS] = { { 0 } };
	struct pf_table *t = pf_doc_fields(doc, "roles", "Replayed, by role",
					   PF_FIELDS(role_fields));

	for (size_t i = 0; i < PF_ROLES * PF_PARTS; i++) {
		rows[i].word = role_word((enum pf_role)(i / PF_PARTS));
		rows[i].part = part_words[i % PF_PARTS];
	}
	for (size_t i = 0; i < g->count; i++)
		for (size_t j = 0; j < g->graphs[i].count; j++) {
			const struct pf_layer_node *n =
				&g->graphs[i].nodes[j].in;
			struct word_row *row =
				&rows[n->role * PF_PARTS + n->part];

			row->count += g->graphs[i].replays;
			pf_sat_sum(&row->ns, n->ns);
		}
	put_words(g, t, PF_FIELDS(role_fields), rows, PF_ROLES * PF_PARTS);
}

static void add_ops(const struct pf_graphs *g, struct pf_doc *doc)
{
	PF_OWN struct word_row *rows = NULL;
	size_t cap = 0, count = 0;
	struct pf_table *t;
	PF_AUTO(pf_map_release) struct pf_map at = { 0 };

	for (size_t i = 0; i < g->count; i++)
		for (size_t j = 0; j < g->graphs[i].count; j++) {
			const struct pf_graph_node *n = &g->graphs[i].nodes[j];
			uint64_t *place;

			if (n->op == PF_NO_TEXT)
				continue;
			place = pf_map_at(&at, n->op);
			if (*place == UINT64_MAX) {
				*place = count;
				*PF_ONE_MORE(rows, count, cap) =
					(struct word_row){
						.word = pf_graphs_text(g, n->op)
					};
			}
			rows[*place].count += g->graphs[i].replays;
			pf_sat_sum(&rows[*place].ns, n->in.ns);
		}
	if (count) {
		t = pf_doc_fields(doc, "ops", "Replayed, by operator",
				  PF_FIELDS(op_fields));
		put_words(g, t, PF_FIELDS(op_fields), rows, count);
	}
}

/* The median of layers with as many kernels; 0: there are no others. */
static int64_t usual(const struct layer_row *rows, size_t count, int64_t nodes)
{
	PF_OWN int64_t *values = pf_calloc(count + 1, sizeof(*values));
	int64_t middle = 0;
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		if (rows[i].nodes == nodes)
			values[n++] = rows[i].ns;
	pf_sort(values, n, sizeof(*values), pf_stats_compare);
	if (n > 2)
		middle = values[n / 2];
	return middle;
}

static bool is_attention(enum pf_role role)
{
	return role == PF_ROLE_ATTENTION || role == PF_ROLE_KV_CACHE ||
	       role == PF_ROLE_ROPE;
}

static void add_layers_of(const struct pf_graph *g, size_t number,
			  struct pf_table *t)
{
	size_t count = (size_t)g->layers;
	PF_OWN struct layer_row *rows = pf_calloc(count + 1, sizeof(*rows));

	for (size_t i = 0; i < g->count; i++) {
		const struct pf_layer_node *n = &g->nodes[i].in;
		struct layer_row *row;

		if (n->layer < 0)
			continue;
		row = &rows[n->layer];
		row->nodes++;
		pf_sat_sum(&row->ns, n->ns);
		pf_sat_sum(is_attention(n->role) ? &row->attention_ns
			   : n->role == PF_ROLE_GEMM ||
					   n->role == PF_ROLE_EXPERT_GEMM
				   ? &row->gemm_ns
				   : &row->other_ns,
			   n->ns);
	}
	for (size_t i = 0; i < count; i++) {
		struct layer_row row = rows[i];

		row.trace_id = g->trace_id;
		row.graph = (int64_t)number;
		row.layer = (int64_t)i;
		row.usual_ns = usual(rows, count, row.nodes);
		row.against =
			pf_ratio((double)(row.ns - row.usual_ns), row.usual_ns);
		row.usual_ns /= g->replays;
		row.attention_ns /= g->replays;
		row.gemm_ns /= g->replays;
		row.ns /= g->replays;
		row.other_ns = row.ns - row.attention_ns - row.gemm_ns;
		PF_PUT(t, layer_fields, row);
	}
}

static void add_nodes(const struct pf_graphs *g, struct pf_doc *doc)
{
	struct pf_table *t =
		pf_doc_fields(doc, "nodes", "Nodes", PF_FIELDS(node_fields));

	for (size_t i = 0; i < g->count; i++)
		for (size_t j = 0; j < g->graphs[i].count; j++) {
			const struct pf_graph_node *n = &g->graphs[i].nodes[j];
			struct node_row row = {
				.trace_id = g->graphs[i].trace_id,
				.graph = (int64_t)i,
				.node = (int64_t)j,
				.stream = n->stream,
				.layer = n->in.layer,
				.place = n->in.place,
				.ns = n->in.ns / g->graphs[i].replays,
				.min_ns = n->min_ns,
				.max_ns = n->max_ns,
				.role = role_word(n->in.role),
				.part = part_words[n->in.part],
				.how = graph_how_word(n->how),
				.op = pf_graphs_text(g, n->op),
				.module = pf_graphs_text(g, n->module),
				.name = pf_graphs_text(g, n->in.name),
			};

			PF_PUT(t, node_fields, row);
		}
}

static void list_iterations(const struct pf_graphs *g, struct pf_doc *doc)
{
	struct pf_table *t;

	if (!g->iteration_count)
		return;
	t = pf_doc_fields(doc, "iterations", "Iterations",
			  PF_FIELDS(iteration_fields));
	for (size_t i = 0; i < g->iteration_count; i++) {
		const struct pf_graph_iteration *it = &g->iterations[i];
		struct iteration_row row = {
			it->trace_id,    it->start_ns,
			it->kernels,     it->ns,
			it->replayed_ns, it->layers,
			it->layer_ns,    pf_graphs_text(g, it->name),
		};

		PF_PUT(t, iteration_fields, row);
	}
}

void pf_graphs_show(const struct pf_graphs *g,
		    const struct pf_graphs_args *args, struct pf_doc *doc)
{
	struct word_row hows[PF_HOWS] = { { 0 } };
	int64_t how_ns[PF_HOWS] = { 0 };
	struct pf_table *t;

	for (size_t i = 0; i < PF_HOWS; i++)
		hows[i].word = graph_how_word((enum pf_graph_how)i);
	for (size_t i = 0; i < g->count; i++)
		for (size_t j = 0; j < g->graphs[i].count; j++) {
			const struct pf_graph_node *n = &g->graphs[i].nodes[j];

			hows[n->how].count += g->graphs[i].replays;
			pf_sat_sum(&hows[n->how].ns, n->in.ns);
			pf_sat_sum(&how_ns[n->how], n->in.ns);
		}
	add_finding(g, how_ns, doc);
	add_figures(g, doc);
	add_graphs(g, doc);
	add_hows(g, hows, doc);
	add_roles(g, doc);
	add_ops(g, doc);
	if (args->has_layers) {
		t = pf_doc_fields(doc, "layers", "Layers of graphs",
				  PF_FIELDS(layer_fields));
		for (size_t i = 0; i < g->count; i++)
			add_layers_of(&g->graphs[i], i, t);
	}
	if (args->has_nodes)
		add_nodes(g, doc);
	list_iterations(g, doc);
	if (g->whole_count)
		pf_doc_note(doc, "graphs recorded as a whole: %s",
			    pf_hint(g->recorded.producer, PF_HINT_GRAPHS));
}
