/* SPDX-License-Identifier: MIT */
/*
 * Names through libiberty's demangler, which is the C++ runtime's of GCC, too,
 * and so torch's, but the same whatever compiled profan.  It was not made for names
 * that nobody vouches for: a substitution can double what was printed before
 * it, so a short name may print without end.  It is stopped after
 * PF_DEMANGLED_MAX bytes.
 */
#pragma once

#include <stddef.h>

#define PF_DEMANGLED_MAX (64u << 10)

/*
 * The demangled name, to be freed; NULL if it is no mangled name, longer
 * than is asked for (1024), or would print more than PF_DEMANGLED_MAX.
 */
char *pf_demangle_take(const char *name, size_t len);
