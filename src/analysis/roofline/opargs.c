/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/num.h"
#include "analysis/roofline/opargs.h"

enum column { TYPE, BYTES, PRECISION };

struct pf_op_types {
	struct pf_data *data;
};

struct pf_op_types *pf_op_types_new(struct pf_err *err)
{
	struct pf_op_types *t = pf_calloc(1, sizeof(*t));

	t->data = pf_data_new("data/op_types.csv", "type,bytes,precision", err);
	if (t->data)
		return t;
	free(t);
	return NULL;
}

void pf_op_types_free(struct pf_op_types *t)
{
	if (!t)
		return;
	pf_data_free(t->data);
	free(t);
}

bool pf_op_args_read(struct pf_json object, struct pf_op_args *out)
{
	out->dims = pf_json_get(object, "Input Dims");
	if (!out->dims.p) /* traces of 2021 */
		out->dims = pf_json_get(object, "Input dims");
	out->types = pf_json_get(object, "Input type");
	out->values = pf_json_get(object, "Concrete Inputs");
	return out->dims.p != NULL;
}

/* A text without its quotes; anything else as it is. */
static struct pf_json bare(struct pf_json v)
{
	if (v.p && v.len >= 2 && *v.p == '"')
		return (struct pf_json){ v.p + 1, v.len - 2 };
	return v;
}

static bool is_word(struct pf_json v, const char *word)
{
	return v.len == strlen(word) && !strncasecmp(v.p, word, v.len);
}

bool pf_op_is_tensor(const struct pf_op_args *a, size_t n)
{
	static const char *const others[] = {
		"", "Scalar", "ScalarList", "TensorList", "GenericList",
	};
	struct pf_json type = bare(pf_json_at(a->types, n));

	if (!type.p || !pf_json_at(a->dims, n).p)
		return false;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (is_word(type, others[i]))
			return false;
	return true;
}

bool pf_op_is_untyped(const struct pf_op_args *a, size_t n)
{
	struct pf_json type = bare(pf_json_at(a->types, n));

	return type.p && !type.len;
}

bool pf_op_dims(const struct pf_op_args *a, size_t n, struct pf_dims *out)
{
	struct pf_json v = bare(pf_json_at(a->dims, n));

	out->count = 0;
	if (!v.p || (v.len && !pf_json_dims(v, out)))
		return false;
	for (size_t i = 0; i < out->count; i++)
		if (out->size[i] > INT64_MAX) /* below 0 */
			return false;
	return true;
}

bool pf_op_type(const struct pf_op_args *a, size_t n, uint64_t *bytes,
		enum pf_peak *peak)
{
	struct pf_json type = bare(pf_json_at(a->types, n));
	const struct pf_data *d = a->known->data;

	for (size_t i = 0; type.p && i < pf_data_rows(d); i++) {
		const char *word;

		if (!is_word(type, pf_data_cell(d, i, TYPE)))
			continue;
		word = pf_data_cell(d, i, PRECISION);
		*bytes = (uint64_t)pf_num_or_none(pf_data_cell(d, i, BYTES));
		*peak = pf_peak_find(word, strlen(word));
		return true;
	}
	return false;
}

struct pf_json pf_op_value(const struct pf_op_args *a, size_t n)
{
	struct pf_json v = bare(pf_json_at(a->values, n));

	if (v.p && (!v.len || is_word(v, "None")))
		v.p = NULL;
	return v;
}

static bool flag(struct pf_json v, bool by_default)
{
	int64_t number;

	if (!v.p)
		return by_default;
	if (is_word(v, "true"))
		return true;
	if (is_word(v, "false"))
		return false;
	return pf_json_int(v, &number) ? number != 0 : by_default;
}

bool pf_op_flag(const struct pf_op_args *a, size_t n, bool by_default)
{
	return flag(pf_op_value(a, n), by_default);
}

bool pf_op_flag_at(const struct pf_op_args *a, size_t n, size_t i,
		   bool by_default)
{
	return flag(pf_json_at(pf_op_value(a, n), i), by_default);
}

bool pf_op_int(const struct pf_op_args *a, size_t n, int64_t *out)
{
	struct pf_json v = pf_op_value(a, n);

	return v.p && pf_json_int(v, out);
}

bool pf_op_list(const struct pf_op_args *a, size_t n, struct pf_op_ints *out)
{
	struct pf_json v = pf_op_value(a, n), item;

	out->count = 0;
	if (!v.p)
		return false;
	if (*v.p != '[') {
		out->count = 1;
		return pf_json_int(v, &out->at[0]);
	}
	while ((item = pf_json_at(v, out->count)).p) {
		if (out->count == PF_OP_INTS ||
		    !pf_json_int(item, &out->at[out->count]))
			return false;
		out->count++;
	}
	return true;
}
