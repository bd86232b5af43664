/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/data.h"
#include "analysis/roofline/models.h"
#include "base/order.h"

#define HEADER                                                                 \
	"op,in_place,outermost,family,formula,tensors,extra,ops,without,"      \
	"teaches"
enum column {
	OP,
	IN_PLACE,
	OUTERMOST,
	FAMILY,
	FORMULA,
	TENSORS,
	EXTRA,
	OPS,
	WITHOUT,
	TEACHES
};

struct pf_op_models {
	struct pf_data *data;
	struct pf_op_model *models; /* by name */
	size_t count, cap;
	struct pf_arena texts;
};

/* "0 1 2": at most max numbers; the others are -1.  false: something else. */
static bool read_list(const char *s, int *out, size_t max)
{
	for (size_t i = 0; i < max; i++) {
		out[i] = -1;
		if (*s < '0' || *s > '9')
			continue;
		out[i] = 0;
		while (*s >= '0' && *s <= '9' && out[i] < 1000)
			out[i] = out[i] * 10 + (*s++ - '0');
		s += *s == ' ';
	}
	return !*s;
}

static int add_model(struct pf_op_models *m, struct pf_op_model model,
		     bool in_place)
{
	m->models =
		pf_grow(m->models, &m->cap, m->count + 2, sizeof(*m->models));
	m->models[m->count++] = model;
	if (in_place) {
		size_t len = strlen(model.op);
		char *name = pf_arena_alloc(&m->texts, len + 2);

		memcpy(name, model.op, len);
		memcpy(name + len, "_", 2);
		model.op = name;
		m->models[m->count++] = model;
	}
	return 0;
}

static int read_row(struct pf_op_models *m, size_t row, struct pf_err *err)
{
	const struct pf_data *d = m->data;
	const char *formula = pf_data_cell(d, row, FORMULA);
	struct pf_op_model model = {
		.op = pf_data_cell(d, row, OP),
		.family = pf_data_cell(d, row, FAMILY),
		.is_outermost = *pf_data_cell(d, row, OUTERMOST),
		.formula = pf_formula_find(formula),
	};
	int64_t ops = pf_num_or_none(pf_data_cell(d, row, OPS));

	model.ops = ops > 0 ? (uint64_t)ops : 0;
	if ((*formula && !model.formula) ||
	    !read_list(pf_data_cell(d, row, TENSORS), model.tensors,
		       PF_MODEL_TENSORS) ||
	    !read_list(pf_data_cell(d, row, EXTRA), &model.extra, 1) ||
	    !read_list(pf_data_cell(d, row, WITHOUT), model.without,
		       PF_MODEL_WITHOUT) ||
	    !read_list(pf_data_cell(d, row, TEACHES), model.teaches, 3))
		return pf_fail(err, PF_EDATA,
			       "'data/op_models.csv' has a wrong line of '%s'",
			       model.op);
	return add_model(m, model, *pf_data_cell(d, row, IN_PLACE));
}

PF_ORDER(by_name, struct pf_op_model, PF_ALPHA(op))

struct pf_op_models *pf_op_models_new(struct pf_err *err)
{
	struct pf_op_models *m = pf_calloc(1, sizeof(*m));
	int rc = 0;

	m->data = pf_data_new("data/op_models.csv", HEADER, err);
	for (size_t i = 0; m->data && !rc && i < pf_data_rows(m->data); i++)
		rc = read_row(m, i, err);
	if (!m->data || rc) {
		pf_op_models_free(m);
		return NULL;
	}
	pf_sort(m->models, m->count, sizeof(*m->models), by_name);
	return m;
}

void pf_op_models_free(struct pf_op_models *m)
{
	if (!m)
		return;
	pf_data_free(m->data);
	pf_arena_release(&m->texts);
	free(m->models);
	free(m);
}

bool pf_op_model_owns(const struct pf_op_model *outer,
		      const struct pf_op_model *in)
{
	return in->is_outermost && !strcmp(outer->family, in->family);
}

const struct pf_op_model *pf_op_models_find(const struct pf_op_models *m,
					    const char *op)
{
	struct pf_op_model key = { .op = op };

	return bsearch(&key, m->models, m->count, sizeof(key), by_name);
}
