/* SPDX-License-Identifier: MIT */
/*
 * Arguments that are no options move to the front of argv as they are met;
 * "kept" of them are there at any time, and kept <= the index being read.
 */
#include "config.h"

#include "base/opt.h"

#include "base/mem.h"
#include "base/num.h"

#define WORD_MAX 63

static size_t min3(size_t a, size_t b, size_t c)
{
	PF_AT_MOST(a, b);
	return c < a ? c : a;
}

/* Levenshtein, one row at a time. */
static size_t distance(const char *a, const char *b)
{
	size_t row[WORD_MAX + 1];
	size_t a_len = strnlen(a, WORD_MAX), b_len = strnlen(b, WORD_MAX);

	for (size_t j = 0; j <= b_len; j++)
		row[j] = j;
	for (size_t i = 1; i <= a_len; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= b_len; j++) {
			size_t above = row[j];

			row[j] = min3(row[j - 1] + 1, above + 1,
				      diagonal + (a[i - 1] != b[j - 1]));
			diagonal = above;
		}
	}
	return row[b_len];
}

void pf_suggest_offer(struct pf_suggest *s, const char *candidate)
{
	size_t d = distance(s->word, candidate);

	if (d > (strnlen(candidate, WORD_MAX) + 2) / 3)
		return;
	if (!s->best || d < s->distance) {
		s->best = candidate;
		s->distance = d;
	}
}

struct parser {
	const struct pf_opt_set *sets;
	size_t set_count;
	char **argv;
	int argc, at, kept;
	struct pf_err *err;
};

/* A row and the set it is from. */
struct match {
	const struct pf_opt_set *set;
	const struct pf_opt *opt;
	bool is_off; /* written as --no-NAME */
};

const char *pf_opt_choice(const char *words, int n, size_t *len)
{
	for (; n > 0; n--) {
		words += strcspn(words, "|");
		if (!*words)
			return NULL;
		words++;
	}
	*len = strcspn(words, "|");
	return words;
}

static size_t field_bytes(enum pf_opt_kind kind)
{
	switch (kind) {
	case PF_OPT_FLAG:
		return sizeof(bool);
	case PF_OPT_INT:
	case PF_OPT_NS:
		return sizeof(int64_t);
	case PF_OPT_STRING:
		return sizeof(const char *);
	case PF_OPT_CHOICE:
		return sizeof(int);
	case PF_OPT_LIST:
		return sizeof(struct pf_opt_list);
	}
	return 0;
}

static void store(const struct match *m, const void *value)
{
	memcpy((char *)m->set->args + m->opt->off, value,
	       field_bytes(m->opt->kind));
}

static void drop_list(const struct pf_opt_set *set, const struct pf_opt *opt)
{
	struct pf_opt_list list, empty = { 0 };

	memcpy(&list, (char *)set->args + opt->off, sizeof(list));
	free(list.items);
	memcpy((char *)set->args + opt->off, &empty, sizeof(empty));
}

/* --no-NAME: a flag is off, anything else is as it was at first. */
static void restore(const struct match *m)
{
	const char *defaults = m->set->defaults;
	const char zero[sizeof(struct pf_opt_list)] = { 0 };

	if (m->opt->kind == PF_OPT_LIST)
		drop_list(m->set, m->opt);
	else if (m->opt->kind == PF_OPT_FLAG || !defaults)
		store(m, zero);
	else
		store(m, defaults + m->opt->off);
}

static int store_int(struct parser *p, const struct match *m, const char *text)
{
	int64_t min = m->opt->min, max = m->opt->max, n;

	if (min == 0 && max == 0)
		max = INT64_MAX;
	if (pf_num_int(text, &n) < 0)
		return pf_fail(p->err, PF_EUSAGE,
			       "'%s' is not a number that --%s can take", text,
			       m->opt->name);
	if (n < min || n > max)
		return pf_fail(
			p->err, PF_EUSAGE, "--%s takes %lld to %lld, not '%s'",
			m->opt->name, (long long)min, (long long)max, text);
	store(m, &n);
	return 0;
}

static int store_ns(struct parser *p, const struct match *m, const char *text)
{
	int64_t ns;

	if (pf_num_ns(text, &ns) < 0)
		return pf_fail(p->err, PF_EUSAGE,
			       "'%s' is not a duration such as 250us, 1.5ms "
			       "or 2s for --%s",
			       text, m->opt->name);
	store(m, &ns);
	return 0;
}

static int store_choice(struct parser *p, const struct match *m,
			const char *text)
{
	size_t len, text_len = strlen(text);
	const char *word;

	for (int n = 0; (word = pf_opt_choice(m->opt->arg, n, &len)); n++) {
		if (len == text_len && !memcmp(word, text, len)) {
			store(m, &n);
			return 0;
		}
	}
	return pf_fail(p->err, PF_EUSAGE, "--%s takes %s, not '%s'",
		       m->opt->name, m->opt->arg, text);
}

static void add_item(const struct match *m, const char *text)
{
	struct pf_opt_list list;

	memcpy(&list, (char *)m->set->args + m->opt->off, sizeof(list));
	*PF_ONE_MORE(list.items, list.count, list.cap) = text;
	store(m, &list);
}

static int store_text(struct parser *p, const struct match *m, const char *text)
{
	switch (m->opt->kind) {
	case PF_OPT_INT:
		return store_int(p, m, text);
	case PF_OPT_NS:
		return store_ns(p, m, text);
	case PF_OPT_CHOICE:
		return store_choice(p, m, text);
	case PF_OPT_STRING:
		if (!*text && !m->opt->min)
			return pf_fail(p->err, PF_EUSAGE,
				       "--%s cannot be empty", m->opt->name);
		store(m, &text);
		return 0;
	case PF_OPT_LIST:
		add_item(m, text);
		return 0;
	case PF_OPT_FLAG:
		break;
	}
	return 0;
}

/* Value is what followed "=" or the short letter, or NULL. */
static int apply(struct parser *p, const struct match *m, const char *value)
{
	const bool on = true;

	if (m->is_off || m->opt->kind == PF_OPT_FLAG) {
		if (value)
			return pf_fail(p->err, PF_EUSAGE,
				       "--%s%s takes no value",
				       m->is_off ? "no-" : "", m->opt->name);
		if (m->is_off)
			restore(m);
		else
			store(m, &on);
		return 0;
	}
	if (!value) {
		if (p->at >= p->argc)
			return pf_fail(p->err, PF_EUSAGE, "--%s needs %s",
				       m->opt->name, m->opt->arg);
		value = p->argv[p->at++];
	}
	return store_text(p, m, value);
}

struct search {
	const char *word;
	size_t len;
	struct match found;
	const char *other; /* a second option that the word begins */
	bool is_exact;
};

static void consider(struct search *s, const struct pf_opt_set *set,
		     const struct pf_opt *opt, bool is_off)
{
	bool is_exact = strlen(opt->name) == s->len;

	if (s->is_exact || strncmp(opt->name, s->word, s->len) != 0)
		return;
	if (!s->found.opt || is_exact) {
		s->found = (struct match){ set, opt, is_off };
		s->is_exact = is_exact;
	} else {
		s->other = opt->name;
	}
}

static void search_sets(const struct parser *p, struct search *s, bool is_off)
{
	for (size_t i = 0; i < p->set_count; i++) {
		const struct pf_opt *opt = p->sets[i].opts;

		for (; opt && opt->name; opt++)
			consider(s, &p->sets[i], opt, is_off);
	}
}

/* The option that takes a word: "--json" is "--format json". */
static const struct pf_opt *find_choice(const struct parser *p,
					const char *word)
{
	for (size_t i = 0; i < p->set_count; i++) {
		const struct pf_opt *opt = p->sets[i].opts;

		for (; opt && opt->name; opt++) {
			const char *value;
			size_t len;

			for (int n = 0;
			     opt->kind == PF_OPT_CHOICE &&
			     (value = pf_opt_choice(opt->arg, n, &len));
			     n++)
				if (len == strlen(word) &&
				    !strncmp(value, word, len))
					return opt;
		}
	}
	return NULL;
}

static int no_such_option(struct parser *p, const char *dashes,
			  const char *word, size_t len)
{
	PF_OWN char *copy = pf_memdup0(word, len);
	struct pf_suggest s = { .word = copy };
	const struct pf_opt *choice;

	for (size_t i = 0; i < p->set_count; i++) {
		const struct pf_opt *opt = p->sets[i].opts;

		for (; opt && opt->name; opt++)
			pf_suggest_offer(&s, opt->name);
	}
	if ((choice = find_choice(p, copy)))
		pf_fail(p->err, PF_EUSAGE,
			"there is no option '%s%s'; did you mean --%s %s?",
			dashes, copy, choice->name, copy);
	else if (!strcmp(copy, "o") || !strcmp(copy, "output"))
		pf_fail(p->err, PF_EUSAGE,
			"there is no option '%s%s'; '>FILE' behind all others "
			"writes what is printed",
			dashes, copy);
	else if (s.best)
		pf_fail(p->err, PF_EUSAGE,
			"there is no option '%s%s'; did you mean --%s?", dashes,
			copy, s.best);
	else
		pf_fail(p->err, PF_EUSAGE, "there is no option '%s%s'", dashes,
			copy);
	return -1;
}

static int parse_long(struct parser *p, const char *word)
{
	const char *equals = strchr(word, '=');
	struct search s = { .word = word };

	s.len = equals ? (size_t)(equals - word) : strlen(word);
	search_sets(p, &s, false);
	if (!s.found.opt && s.len > 3 && !strncmp(word, "no-", 3)) {
		s.word += 3;
		s.len -= 3;
		search_sets(p, &s, true);
		s.word -= 3;
		s.len += 3;
	}
	if (!s.found.opt || s.len == 0)
		return no_such_option(p, "--", s.word, s.len);
	if (!s.is_exact && s.other)
		return pf_fail(p->err, PF_EUSAGE,
			       "'--%s' could be --%s or --%s", word,
			       s.found.opt->name, s.other);
	return apply(p, &s.found, equals ? equals + 1 : NULL);
}

static bool find_short(const struct parser *p, char c, struct match *m)
{
	for (size_t i = 0; i < p->set_count; i++) {
		const struct pf_opt *opt = p->sets[i].opts;

		for (; opt && opt->name; opt++) {
			if (opt->c != c)
				continue;
			*m = (struct match){ &p->sets[i], opt, false };
			return true;
		}
	}
	return false;
}

static int parse_short(struct parser *p, const char *letters)
{
	struct match m;

	for (; *letters; letters++) {
		if (!find_short(p, *letters, &m))
			return no_such_option(p, "-", letters, 1);
		if (m.opt->kind == PF_OPT_FLAG) {
			apply(p, &m, NULL);
			continue;
		}
		return apply(p, &m, letters[1] ? letters + 1 : NULL);
	}
	return 0;
}

/* "-- text" in one word is SQL that begins with a comment. */
static bool is_comment(const char *word)
{
	return word[1] == '-' && (word[2] == ' ' || word[2] == '\n');
}

static void keep_rest(struct parser *p)
{
	while (p->at < p->argc)
		p->argv[p->kept++] = p->argv[p->at++];
}

int pf_opt_parse(const struct pf_opt_set *sets, size_t count, bool is_head,
		 int *argc, char **argv, struct pf_err *err)
{
	struct parser p = { sets, count, argv, *argc, 0, 0, err };
	int rc = 0;

	while (!rc && p.at < p.argc) {
		char *word = argv[p.at++];

		if (!strcmp(word, "--")) {
			keep_rest(&p);
		} else if (word[0] != '-' || !word[1] || is_comment(word)) {
			argv[p.kept++] = word;
			if (is_head)
				keep_rest(&p);
		} else if (word[1] == '-') {
			rc = parse_long(&p, word + 2);
		} else {
			rc = parse_short(&p, word + 1);
		}
	}
	if (p.kept < *argc)
		argv[p.kept] = NULL;
	*argc = p.kept;
	return rc;
}

bool pf_opt_is_set(const struct pf_opt *opt, const void *args,
		   const void *defaults)
{
	static const char zero[sizeof(struct pf_opt_list)];
	const char *was = defaults ? (const char *)defaults + opt->off : zero;
	size_t bytes = opt->kind == PF_OPT_FLAG     ? sizeof(bool)
		       : opt->kind == PF_OPT_CHOICE ? sizeof(int)
		       : opt->kind == PF_OPT_STRING ? sizeof(const char *)
		       : opt->kind == PF_OPT_LIST   ? sizeof(struct pf_opt_list)
						    : sizeof(int64_t);

	return memcmp((const char *)args + opt->off, was, bytes) != 0;
}

static bool has_word(const char *words, const char *word)
{
	size_t len = strlen(word);

	for (; *words; words += strspn(words, " ")) {
		size_t n = strcspn(words, " ");

		if (n == len && !strncmp(words, word, len))
			return true;
		words += n;
	}
	return false;
}

const char *pf_opt_other(const struct pf_opt *opts, const void *args,
			 const void *defaults, const char *words)
{
	for (; opts && opts->name; opts++)
		if (!has_word(words, opts->name) &&
		    pf_opt_is_set(opts, args, defaults))
			return opts->name;
	return NULL;
}

void pf_opt_release(const struct pf_opt_set *sets, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct pf_opt *opt = sets[i].opts;

		for (; opt && opt->name; opt++) {
			if (opt->kind == PF_OPT_LIST)
				drop_list(&sets[i], opt);
		}
	}
}
