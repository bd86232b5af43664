/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/tensor.h"
#include "base/mem.h"
#include "embed/data.h"

enum { PATTERN, TENSOR_CORES };

struct pf_tensor {
	struct pf_data *data;
	enum pf_tensor_use *uses; /* of each row */
};

static const char *const words[PF_TENSOR_USES] = { "no", "yes", "unknown" };

const char *pf_tensor_word(enum pf_tensor_use use)
{
	return words[use];
}

/* "*" stands for anything; goes back to the last one only. */
static bool fits(const char *pattern, const char *name)
{
	const char *star = NULL, *from = NULL;

	while (*name) {
		if (*pattern == '*') {
			star = pattern++;
			from = name;
		} else if (*pattern == *name) {
			pattern++;
			name++;
		} else if (star) {
			pattern = star + 1;
			name = ++from;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

static int take_uses(struct pf_tensor *t, struct pf_err *err)
{
	size_t rows = pf_data_rows(t->data);

	t->uses = pf_calloc(rows + 1, sizeof(*t->uses));
	for (size_t i = 0; i < rows; i++) {
		const char *word = pf_data_cell(t->data, i, TENSOR_CORES);

		if (!strcmp(word, words[PF_TENSOR_YES]))
			t->uses[i] = PF_TENSOR_YES;
		else if (strcmp(word, words[PF_TENSOR_NO]) != 0)
			return pf_fail(err, PF_EDATA,
				       "data/kernels.csv: '%s' is neither yes "
				       "nor no",
				       word);
	}
	return 0;
}

struct pf_tensor *pf_tensor_new(struct pf_err *err)
{
	struct pf_tensor *t = pf_calloc(1, sizeof(*t));

	t->data = pf_data_new("data/kernels.csv", "pattern,tensor_cores,what",
			      err);
	if (t->data && !take_uses(t, err))
		return t;
	pf_tensor_free(t);
	return NULL;
}

void pf_tensor_free(struct pf_tensor *t)
{
	if (!t)
		return;
	pf_data_free(t->data);
	free(t->uses);
	free(t);
}

enum pf_tensor_use pf_tensor_find(const struct pf_tensor *t, const char *name)
{
	for (size_t i = 0; i < pf_data_rows(t->data); i++)
		if (fits(pf_data_cell(t->data, i, PATTERN), name))
			return t->uses[i];
	return PF_TENSOR_UNKNOWN;
}
