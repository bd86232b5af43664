/* SPDX-License-Identifier: MIT */
/*
 * The recorded arguments of one call of an operator: sizes ("Input Dims"),
 * types ("Input type") and values ("Concrete Inputs"), each a JSON list.
 * Borrowed from the text they are read from.  What is not recorded, or is not
 * of the form that is asked for, is false: a formula then has no answer.
 */
#ifndef PF_ANALYSIS_ROOFLINE_OPARGS_H
#define PF_ANALYSIS_ROOFLINE_OPARGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "events/args.h"
#include "analysis/roofline/gpus.h"

struct pf_op_types;
struct pf_op_types *pf_op_types_new(struct pf_err *err);
void pf_op_types_free(struct pf_op_types *t);

struct pf_op_args {
	struct pf_json dims, types, values;
	const struct pf_op_types *known;
};

/* Of the argument object of an event; false: no sizes were recorded. */
bool pf_op_args_read(struct pf_json object, struct pf_op_args *out);

/* Is argument n a tensor, as its type says? */
bool pf_op_is_tensor(const struct pf_op_args *a, size_t n);
/*
 * Has argument n no type at all?  So are tensors recorded whose sizes are
 * symbolic, and those that the caller left out.
 */
bool pf_op_is_untyped(const struct pf_op_args *a, size_t n);
/* The sizes of argument n, also of a scalar, which has none. */
bool pf_op_dims(const struct pf_op_args *a, size_t n, struct pf_dims *out);
/* Bytes of an element, and the precision that products of it have. */
bool pf_op_type(const struct pf_op_args *a, size_t n, uint64_t *bytes,
		enum pf_peak *peak);

/* The value of argument n as text, outside quotes; p NULL: not recorded. */
struct pf_json pf_op_value(const struct pf_op_args *a, size_t n);
/* "False", "True", 0, 1, ...; what is not recorded is the default. */
bool pf_op_flag(const struct pf_op_args *a, size_t n, bool by_default);
/* Item i of a list of such. */
bool pf_op_flag_at(const struct pf_op_args *a, size_t n, size_t i,
		   bool by_default);
/* A number, or a list of numbers with one for all; false: neither. */
bool pf_op_int(const struct pf_op_args *a, size_t n, int64_t *out);
#define PF_OP_INTS 8
struct pf_op_ints {
	int64_t at[PF_OP_INTS];
	size_t count;
};
bool pf_op_list(const struct pf_op_args *a, size_t n, struct pf_op_ints *out);

#endif
