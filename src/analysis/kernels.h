/* SPDX-License-Identifier: MIT */
/*
 * Kernels by name, by name and operator, by name and launch geometry, by
 * operator and shapes of its inputs, or by operator; and by stream.  Figures of a launch configuration are
 * given where they are the same for all calls, rates as means weighted by
 * duration over the calls that have them.
 */
#ifndef PF_ANALYSIS_KERNELS_H
#define PF_ANALYSIS_KERNELS_H

#include "events/window.h"
#include "base/buf.h"
#include "base/err.h"
#include "store/db.h"
#include "table/doc.h"

#define PF_KERNELS_GROUPS "name|name,op|name,grid,block|op,shape|op"

struct pf_kernels_args {
	struct pf_window_args window;
	int group; /* index of the word */
};

int pf_kernels(struct pf_db *db, const struct pf_kernels_args *args,
	       struct pf_doc *doc, struct pf_err *err);

/*
 * Add a kernel's name without return type, namespaces and parameters:
 * "void at::native::reduce_kernel<512, at::F>(int)" is
 * "reduce_kernel<512, F>".
 */
void pf_kernel_short_name(struct pf_buf *out, const char *name);

/*
 * Add a text without template arguments: "void f<512, g<int>>(h<int>*)" is
 * "void f(h*)".  Other angle brackets stay ("<module>", "operator<", "->"),
 * so any text may be given.  Of a name that was cut ("f<512, ...") the dots
 * are left.
 */
void pf_kernel_without_templates(struct pf_buf *out, const char *s, size_t len);

#endif
