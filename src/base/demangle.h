/* SPDX-License-Identifier: MIT */
/*
 * Names through the C++ runtime's demangler, which was not made for names
 * that nobody vouches for: a substitution can double what was printed before
 * it, so a short name may print without end.  Names with few substitutions
 * are safe and done here; others by a child process with limits, which dies
 * alone if it must.
 */
#ifndef PF_BASE_DEMANGLE_H
#define PF_BASE_DEMANGLE_H

#include <stddef.h>
#include <sys/types.h>

/* Zero is a good start; one per thread. */
struct pf_demangler {
	pid_t pid; /* 0: no child */
	int fd;    /* to and from it */
	unsigned deaths;
};

void pf_demangler_release(struct pf_demangler *d);

/*
 * The demangled name, to be freed; NULL if it is no mangled name, longer
 * than the runtime takes (1024) or more than 64 KiB when printed.
 */
char *pf_demangle_take(struct pf_demangler *d, const char *name, size_t len);

#endif
