/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/demangle.h"
#include "base/mem.h"
#include "events/kernel_name.h"

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '~';
}

/* Length of the word at s, template arguments not included. */
static size_t word_length(const char *s)
{
	size_t len = 0;

	while (is_word(s[len]))
		len++;
	return len;
}

/* Is this a C++ name that was demangled? */
static bool is_demangled(const char *name)
{
	return strstr(name, "::") || strchr(name, '<') ||
	       !strncmp(name, "void ", 5);
}

static void add_short(struct pf_buf *out, const char *name)
{
	static const char anonymous[] = "(anonymous namespace)::";
	const char *s = name;
	int depth = 0;
	size_t len;

	pf_buf_adds(out, "");
	if (!is_demangled(name)) {
		pf_buf_adds(out, name);
		return;
	}
	if (!strncmp(s, "void ", 5))
		s += 5;
	while (*s) {
		if (!strncmp(s, anonymous, sizeof(anonymous) - 1)) {
			s += sizeof(anonymous) - 1;
			continue;
		}
		len = word_length(s);
		if (len && s[len] == ':' && s[len + 1] == ':') {
			s += len + 2;
			continue;
		}
		if (len) {
			pf_buf_add(out, s, len);
			s += len;
			continue;
		}
		if (*s == '(' && !depth)
			return; /* the parameters */
		depth += *s == '<' || *s == '(' || *s == '{';
		depth -= *s == '>' || *s == ')' || *s == '}';
		pf_buf_addc(out, *s++);
	}
}

/*
 * Types that came after libsupc++'s demangler, and types that it knows and no
 * kernel has, which stand for them meanwhile: builtin types are no
 * candidates for substitution, so that all else stays as it is.
 */
static const struct {
	const char *mangled, *known, *printed, *name;
} types[] = {
	{ "DF16b", "De", "decimal128", "__bf16" },
	{ "DF16_", "Df", "decimal32", "_Float16" },
};

/* Add what stands at *s: a name with its length, a type, one character. */
static void add_known(struct pf_buf *out, const char **s)
{
	char *end;
	unsigned long len;

	if (isdigit((unsigned char)**s)) {
		len = strtoul(*s, &end, 10);
		if (len > strlen(end))
			len = 0;
		pf_buf_add(out, *s, (size_t)(end - *s) + len);
		*s = end + len;
		return;
	}
	/* a literal's digits are no length: "Li64E" */
	if (**s == 'L' && islower((unsigned char)(*s)[1])) {
		len = 2 + strspn(*s + 2, "n0123456789");
		pf_buf_add(out, *s, len);
		*s += len;
		return;
	}
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		size_t n = strlen(types[i].mangled);

		if (!strncmp(*s, types[i].mangled, n)) {
			pf_buf_adds(out, types[i].known);
			*s += n;
			return;
		}
	}
	pf_buf_addc(out, *(*s)++);
}

/* A type's name in place of the one that stood for it. */
static void rename_types(struct pf_buf *out, const char *s)
{
	while (*s) {
		size_t i = 0, n = sizeof(types) / sizeof(*types);

		while (i < n && strncmp(s, types[i].printed,
					strlen(types[i].printed)) != 0)
			i++;
		pf_buf_add(out, i < n ? types[i].name : s,
			   i < n ? strlen(types[i].name) : 1);
		s += i < n ? strlen(types[i].printed) : 1;
	}
}

/* The innermost of the names "_ZN1a1b..." begins with; false: there is none. */
static bool add_innermost(struct pf_buf *out, const char *s)
{
	const char *name = NULL;
	size_t len = 0, n;

	s += strlen("_Z");
	s += *s == 'N';
	while (isdigit((unsigned char)*s)) {
		char *end;

		n = strtoul(s, &end, 10);
		if (!n || n > strlen(end))
			break;
		name = end;
		len = n;
		s = end + n;
	}
	if (!name)
		return false;
	pf_buf_add(out, name, len);
	if (*s == 'I')
		pf_buf_adds(out, "<...>");
	return true;
}

static void add_short_of_mangled(struct pf_buf *out, const char *name)
{
	struct pf_buf known = { 0 }, text = { 0 };
	char *plain;

	for (const char *s = name; *s;)
		add_known(&known, &s);
	plain = pf_demangle_take(known.data, known.len);
	if (plain) {
		rename_types(&text, plain);
		add_short(out, text.data);
	} else if (!add_innermost(out, name)) {
		pf_buf_adds(out, name);
	}
	pf_buf_release(&known);
	pf_buf_release(&text);
	free(plain);
}

void pf_kernel_short_name(struct pf_buf *out, const char *name)
{
	if (!strncmp(name, "_Z", 2))
		add_short_of_mangled(out, name);
	else
		add_short(out, name);
}

/* ---- without template arguments ---- */

/* Does '<' at s[at] begin arguments: does it follow a name? */
static bool begins_arguments(const char *s, size_t at)
{
	static const char word[] = "operator";
	size_t n = sizeof(word) - 1, name = at;

	if (!at || !(is_word(s[at - 1]) || s[at - 1] == ')'))
		return false;
	while (name > 0 && is_word(s[name - 1]))
		name--;
	return at - name != n || memcmp(s + name, word, n) != 0;
}

/*
 * For each '<' that begins arguments the place of its '>', else 0.  What is
 * between round, square and curly brackets opens and closes there; "->" and
 * comparisons in brackets close nothing.
 */
static void match_brackets(const char *s, size_t len, size_t *end)
{
	static const char open[] = "<([{", close[] = ">)]}";
	size_t *stack = pf_calloc(len + 1, sizeof(*stack)), depth = 0;

	for (size_t i = 0; i < len; i++) {
		const char *kind = s[i] ? strchr(close, s[i]) : NULL;

		if (s[i] == '<' ? begins_arguments(s, i)
				: s[i] && strchr(open, s[i])) {
			stack[depth++] = i;
		} else if (kind && s[i] == '>') {
			if (depth && s[stack[depth - 1]] == '<' &&
			    s[i - 1] != '-')
				end[stack[--depth]] = i;
		} else if (kind) {
			char wanted = open[kind - close];

			while (depth && s[stack[depth - 1]] == '<' &&
			       wanted != '<')
				depth--;
			if (depth && s[stack[depth - 1]] == wanted)
				depth--;
		}
	}
	free(stack);
}

void pf_kernel_without_templates(struct pf_buf *out, const char *s, size_t len)
{
	size_t *end = pf_calloc(len + 1, sizeof(*end));
	bool has_dots = true; /* as far as is known */

	match_brackets(s, len, end);
	for (size_t i = 0; i < len; i++) {
		const char *rest = NULL;

		if (end[i]) {
			i = end[i];
			continue;
		}
		/* a name that was cut: up to the dots that say so */
		if (s[i] == '<' && has_dots && begins_arguments(s, i)) {
			rest = memmem(s + i, len - i, "...", 3);
			has_dots = rest != NULL;
		}
		if (rest)
			i = (size_t)(rest - s);
		pf_buf_addc(out, s[i]);
	}
	free(end);
}

const char *pf_kernel_short_kept(struct pf_arena *texts, const char *name)
{
	struct pf_buf text = { 0 };
	const char *kept = name;

	if (name)
		pf_kernel_short_name(&text, name);
	if (name && strcmp(text.data, name) != 0)
		kept = pf_arena_string(texts, text.data);
	pf_buf_release(&text);
	return kept;
}
