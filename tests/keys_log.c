/* SPDX-License-Identifier: MIT */
/*
 * Linked into a copy of the program in front of show/find.c (--wrap): says
 * which keys are asked for, from where, and whether they were there, so that
 * tests/keys.sh knows of a key that no analysis has any more.
 *
 * A line of $PROFAN_KEYS: "PLACE TABLE KEY 0|1"; the place is an address for
 * addr2line, the table "-" for the figures of a document, the key "-" for a
 * table itself.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "show/doc.h"

extern const char __executable_start[];

static FILE *out;

__attribute__((constructor)) static void open_list(void)
{
	const char *path = getenv("PROFAN_KEYS");

	out = path ? fopen(path, "a") : NULL;
}

static void say(const void *place, const char *table, const char *key,
		bool found)
{
	if (!out)
		return;
	fprintf(out, "%tx %s %s %d\n",
		(const char *)place - __executable_start - 1, table, key,
		found);
}

#define PLACE __builtin_return_address(0)

static void say_column(const void *place, const struct pf_table *t,
		       const char *key)
{
	bool found = false;

	if (!t)
		return;
	for (size_t i = 0; i < pf_table_col_count(t); i++)
		found |= !strcmp(pf_table_cols(t)[i].key, key);
	say(place, pf_table_name(t), key, found);
}

static void say_figure(const void *place, const struct pf_doc *doc,
		       const char *key)
{
	bool found = false;

	for (size_t i = 0; i < doc->scalar_count; i++)
		found |= !strcmp(doc->scalars[i].col.key, key);
	say(place, "-", key, found);
}

/* A function that takes a table, perhaps more, and a key. */
#define COLUMN(type, name, row, given)                                         \
	type __real_##name(const struct pf_table *t row, const char *key);     \
	type __wrap_##name(const struct pf_table *t row, const char *key);     \
	type __wrap_##name(const struct pf_table *t row, const char *key)      \
	{                                                                      \
		say_column(PLACE, t, key);                                     \
		return __real_##name(t given, key);                            \
	}
#define ROW   , size_t row
#define GIVEN , row
COLUMN(int, pf_table_find, , )
COLUMN(int, pf_table_need, , )
COLUMN(const struct pf_cell *, pf_table_at, ROW, GIVEN)
COLUMN(int64_t, pf_table_int_at, ROW, GIVEN)
COLUMN(double, pf_table_real_at, ROW, GIVEN)
COLUMN(const char *, pf_table_text_at, ROW, GIVEN)

const struct pf_scalar *__real_pf_doc_find(const struct pf_doc *doc,
					   const char *key);
const struct pf_scalar *__wrap_pf_doc_find(const struct pf_doc *doc,
					   const char *key);
const struct pf_scalar *__wrap_pf_doc_find(const struct pf_doc *doc,
					   const char *key)
{
	say_figure(PLACE, doc, key);
	return __real_pf_doc_find(doc, key);
}

const struct pf_table *__real_pf_doc_find_table(const struct pf_doc *doc,
						const char *name);
const struct pf_table *__wrap_pf_doc_find_table(const struct pf_doc *doc,
						const char *name);
const struct pf_table *__wrap_pf_doc_find_table(const struct pf_doc *doc,
						const char *name)
{
	const struct pf_table *t = __real_pf_doc_find_table(doc, name);

	say(PLACE, name, "-", t != NULL);
	return t;
}
