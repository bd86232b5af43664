/* SPDX-License-Identifier: MIT */
/*
 * libiberty's demangler hands its text over piece by piece.  It allocates
 * nothing meanwhile (all it needs is on the stack), so a jump out of it is
 * safe, and so is its size: 1024 characters make at most 2048 components.
 */
#include "config.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdbool.h>
#include <string.h>

#include <libiberty/demangle.h>

#include "base/buf.h"
#include "base/demangle.h"

#define MANGLED_MAX 1024u

struct printed {
	struct pf_buf text;
	jmp_buf too_long;
};

static bool may_be_mangled(const char *name, size_t len)
{
	if (len < 2 || len > MANGLED_MAX)
		return false;
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)name[i];

		if (!isalnum(c) && c != '_' && c != '.' && c != '$')
			return false;
	}
	return true;
}

static void put(const char *s, size_t n, void *p)
{
	struct printed *printed = p;

	if (n > PF_DEMANGLED_MAX - printed->text.len)
		longjmp(printed->too_long, 1);
	pf_buf_add(&printed->text, s, n);
}

char *pf_demangle_take(const char *name, size_t len)
{
	char mangled[MANGLED_MAX + 1];
	struct printed printed = { 0 };

	if (!may_be_mangled(name, len))
		return NULL;
	memcpy(mangled, name, len);
	mangled[len] = '\0';
	if (setjmp(printed.too_long) ||
	    !cplus_demangle_v3_callback(mangled, DMGL_PARAMS | DMGL_TYPES, put,
					&printed)) {
		pf_buf_release(&printed.text);
		return NULL;
	}
	return printed.text.data;
}
