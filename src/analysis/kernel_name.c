/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "analysis/kernels.h"

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

void pf_kernel_short_name(struct pf_buf *out, const char *name)
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
