/* SPDX-License-Identifier: MIT */
/* Names of kernels as people read them. */
#ifndef PF_EVENTS_KERNEL_NAME_H
#define PF_EVENTS_KERNEL_NAME_H

#include <stddef.h>

#include "base/buf.h"
#include "base/mem.h"

/*
 * Add a kernel's name without return type, namespaces and parameters:
 * "void at::native::reduce_kernel<512, at::F>(int)" is
 * "reduce_kernel<512, F>".  One that is mangled, with types that the runtime's
 * demangler does not know too, is demangled for it; of one that cannot be
 * demangled it is the innermost name, "kernel<...>".
 */
void pf_kernel_short_name(struct pf_buf *out, const char *name);

/* The same, kept in the arena; the name itself if it has no shorter. */
const char *pf_kernel_short_kept(struct pf_arena *texts, const char *name);

/*
 * Add a text without template arguments: "void f<512, g<int>>(h<int>*)" is
 * "void f(h*)".  Other angle brackets stay ("<module>", "operator<", "->"),
 * so any text may be given.  Of a name that was cut ("f<512, ...") the dots
 * are left.
 */
void pf_kernel_without_templates(struct pf_buf *out, const char *s, size_t len);

#endif
