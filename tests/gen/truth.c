/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "gen/gen.h"

#include <stdlib.h>
#include <string.h>

#define ROWS_MAX 4096 /* a power of two; names are a fixed set */

struct row {
	const char *what, *category, *name;
	int64_t count, total_ns;
};

struct gen_truth {
	struct row row[ROWS_MAX];
	size_t used;
};

struct gen_truth *gen_truth_new(void)
{
	return calloc(1, sizeof(struct gen_truth));
}

void gen_truth_free(struct gen_truth *t)
{
	free(t);
}

void gen_truth_add(struct gen_truth *t, const char *what, const char *category,
		   const char *name, int64_t dur_ns)
{
	uintptr_t hash = (uintptr_t)name * 31 + (uintptr_t)category * 17 +
			 (uintptr_t)what;
	size_t i;

	for (i = (hash ^ hash >> 12) % ROWS_MAX; t->row[i].what;
	     i = (i + 1) % ROWS_MAX) {
		if (t->row[i].name == name && t->row[i].what == what &&
		    t->row[i].category == category)
			break;
	}
	if (!t->row[i].what) {
		if (++t->used == ROWS_MAX) {
			fputs("mktrace: too many names\n", stderr);
			exit(3);
		}
		t->row[i].what = what;
		t->row[i].category = category;
		t->row[i].name = name;
	}
	t->row[i].count++;
	t->row[i].total_ns += dur_ns;
}

static int by_text(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int order = strcmp(x->what, y->what);

	if (!order)
		order = strcmp(x->category, y->category);
	return order ? order : strcmp(x->name, y->name);
}

static void put_quoted(FILE *f, const char *s)
{
	fputc('"', f);
	for (; *s; s++) {
		if (*s == '"')
			fputc('"', f);
		fputc(*s, f);
	}
	fputc('"', f);
}

/* Rows of equal text but other addresses are added up here. */
static size_t gather(const struct gen_truth *t, struct row *out)
{
	size_t i, n = 0, kept = 0;

	for (i = 0; i < ROWS_MAX; i++)
		if (t->row[i].what)
			out[n++] = t->row[i];
	qsort(out, n, sizeof(out[0]), by_text);
	for (i = 0; i < n; i++) {
		if (kept && !by_text(&out[kept - 1], &out[i])) {
			out[kept - 1].count += out[i].count;
			out[kept - 1].total_ns += out[i].total_ns;
		} else {
			out[kept++] = out[i];
		}
	}
	return kept;
}

int gen_truth_write(const struct gen_truth *t, const char *path)
{
	struct row *rows = calloc(ROWS_MAX, sizeof(*rows));
	FILE *f = fopen(path, "w");
	size_t i, n;
	int failed;

	if (!f || !rows) {
		if (f)
			fclose(f);
		free(rows);
		return -1;
	}
	n = gather(t, rows);
	fputs("what,category,name,count,total_ns\n", f);
	for (i = 0; i < n; i++) {
		fprintf(f, "%s,%s,", rows[i].what, rows[i].category);
		put_quoted(f, rows[i].name);
		fprintf(f, ",%lld,%lld\n", (long long)rows[i].count,
			(long long)rows[i].total_ns);
	}
	free(rows);
	failed = ferror(f);
	return fclose(f) || failed ? -1 : 0;
}
