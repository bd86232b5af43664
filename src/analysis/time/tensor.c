/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/time/tensor.h"
#include "base/mem.h"
#include "base/data.h"

enum { PATTERN, TENSOR_CORES, CLASS, PRECISION, COLUMNS };

struct row {
	unsigned char words[COLUMNS]; /* numbers of words, each plus one */
	char *part;                   /* the longest that has no wildcard */
	bool is_whole;                /* the pattern is "*part*" */
};

struct pf_tensor {
	struct pf_data *data, *ops;
	struct row *rows; /* of data */
};

static const char *const uses[PF_TENSOR_USES] = { "no", "yes", "unknown" };
static const char *const classes[PF_CLASSES] = { "unknown",       "gemm",
						 "conv",          "attention",
						 "communication", "other" };
static const char *const precisions[PF_PRECISIONS] = {
	"unknown", "fp64", "fp32", "tf32", "fp16",
	"bf16",    "fp8",  "int8", "int4", "mixed"
};

/* The words of each column. */
static const struct {
	const char *const *words;
	int count;
} columns[COLUMNS] = {
	[TENSOR_CORES] = { uses, PF_TENSOR_USES },
	[CLASS] = { classes, PF_CLASSES },
	[PRECISION] = { precisions, PF_PRECISIONS },
};

const char *pf_tensor_word(enum pf_tensor_use use)
{
	return uses[use];
}

const char *pf_class_word(enum pf_kernel_class class)
{
	return class ? classes[class] : NULL;
}

const char *pf_precision_word(enum pf_precision precision)
{
	return precision ? precisions[precision] : NULL;
}

/* Looking for a part first is many times faster. */
static bool row_fits(const struct row *row, const char *pattern,
		     const char *name)
{
	return strstr(name, row->part) &&
	       (row->is_whole || !fnmatch(pattern, name, 0));
}

static void take_part(struct row *row, const char *pattern)
{
	const char *best = pattern;
	size_t longest = 0, len;

	for (const char *s = pattern; *s; s += len + (s[len] != '\0')) {
		len = strcspn(s, "*?");
		if (len > longest) {
			longest = len;
			best = s;
		}
	}
	row->part = pf_memdup0(best, longest);
	row->is_whole = best == pattern + 1 && *pattern == '*' &&
			!strcmp(best + longest, "*");
}

/* The number of a word plus one; 0: no word, -1: none of these. */
static int find_word(int column, const char *word)
{
	for (int i = 0; *word && i < columns[column].count; i++)
		if (!strcmp(columns[column].words[i], word))
			return i + 1;
	return *word ? -1 : 0;
}

static int take_rows(struct pf_tensor *t, struct pf_err *err)
{
	size_t count = pf_data_rows(t->data);

	t->rows = pf_calloc(count + 1, sizeof(*t->rows));
	for (size_t i = 0; i < count; i++) {
		take_part(&t->rows[i], pf_data_cell(t->data, i, PATTERN));
		for (int column = TENSOR_CORES; column < COLUMNS; column++) {
			const char *word =
				pf_data_cell(t->data, i, (size_t)column);
			int n = find_word(column, word);

			if (n < 0)
				return pf_fail(err, PF_EDATA,
					       "data/kernels.csv: '%s' is no "
					       "word of its column",
					       word);
			t->rows[i].words[column] = (unsigned char)n;
		}
	}
	return 0;
}

struct pf_tensor *pf_tensor_new(struct pf_err *err)
{
	struct pf_tensor *t = pf_calloc(1, sizeof(*t));

	t->data = pf_data_new("data/kernels.csv",
			      "pattern,tensor_cores,class,precision,what", err);
	t->ops = t->data ? pf_data_new("data/matrix_ops.csv", "pattern,what",
				       err)
			 : NULL;
	if (t->ops && !take_rows(t, err))
		return t;
	pf_tensor_free(t);
	return NULL;
}

void pf_tensor_free(struct pf_tensor *t)
{
	if (!t)
		return;
	for (size_t i = 0; t->rows && i < pf_data_rows(t->data); i++)
		free(t->rows[i].part);
	pf_data_free(t->data);
	pf_data_free(t->ops);
	free(t->rows);
	free(t);
}

struct pf_kernel_kind pf_tensor_kind(const struct pf_tensor *t,
				     const char *name)
{
	int found[COLUMNS] = { 0 }, missing = COLUMNS - 1;
	struct pf_kernel_kind kind = { .use = PF_TENSOR_UNKNOWN };

	for (size_t i = 0; missing && i < pf_data_rows(t->data); i++) {
		const struct row *row = &t->rows[i];

		if (!row_fits(row, pf_data_cell(t->data, i, PATTERN), name))
			continue;
		for (int column = TENSOR_CORES; column < COLUMNS; column++) {
			if (found[column] || !row->words[column])
				continue;
			found[column] = row->words[column];
			missing--;
		}
		if (found[CLASS] && !found[PRECISION] &&
		    !pf_class_multiplies(
			    (enum pf_kernel_class)(found[CLASS] - 1))) {
			found[PRECISION] = PF_PRECISION_UNKNOWN + 1;
			missing--;
		}
	}
	if (found[TENSOR_CORES])
		kind.use = (enum pf_tensor_use)(found[TENSOR_CORES] - 1);
	if (found[CLASS])
		kind.class = (enum pf_kernel_class)(found[CLASS] - 1);
	if (found[PRECISION] && pf_class_multiplies(kind.class))
		kind.precision = (enum pf_precision)(found[PRECISION] - 1);
	return kind;
}

bool pf_tensor_op(const struct pf_tensor *t, const char *op)
{
	for (size_t i = 0; i < pf_data_rows(t->ops); i++)
		if (!fnmatch(pf_data_cell(t->ops, i, PATTERN), op, 0))
			return true;
	return false;
}
