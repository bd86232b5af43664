/* SPDX-License-Identifier: MIT */
/*
 * What a kernel is for in a model, by its name alone (data/roles.csv), and
 * what stays of a name when shapes, tiles and counters change.
 */
#ifndef PF_ANALYSIS_GRAPHS_ROLES_H
#define PF_ANALYSIS_GRAPHS_ROLES_H

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/* Those that layers are found by; the others are only named. */
enum pf_role {
	PF_ROLE_OTHER,
	PF_ROLE_COMM,
	PF_ROLE_COPY,
	PF_ROLE_KV_CACHE,
	PF_ROLE_ATTENTION,
	PF_ROLE_ROPE,
	PF_ROLE_ROUTING,
	PF_ROLE_EXPERT_GEMM,
	PF_ROLE_NORM,
	PF_ROLE_ACTIVATION,
	PF_ROLE_QUANTIZE,
	PF_ROLE_GEMM,
	PF_ROLE_EMBEDDING,
	PF_ROLE_SAMPLING,
	PF_ROLE_ELEMENTWISE,
	PF_ROLE_REDUCTION,
	PF_ROLES
};

/* "kv cache", ... */
const char *pf_role_word(enum pf_role role);

struct pf_roles;
struct pf_roles *pf_roles_new(struct pf_err *err);
void pf_roles_free(struct pf_roles *r);

/* The first row that fits the name before "<", else the whole. */
enum pf_role pf_role_of(const struct pf_roles *r, const char *name);

/* Append the family of a name that has this role. */
void pf_role_family(const char *name, enum pf_role role, struct pf_buf *out);

#endif
