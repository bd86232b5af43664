/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <ctype.h>
#include <inttypes.h>

#include "base/order.h"
#include "events/names.h"
#include "base/mem.h"
#include "page/redact.h"
#include "base/search.h"
#include "store/query.h"

struct pf_redact {
	bool is_strict, is_short;
	struct pf_buf common; /* folder of all Python files, or empty */
	char **private;       /* names of ranges, sorted */
	size_t private_count, private_cap;
};

void pf_redact_shorten(struct pf_redact *r)
{
	r->is_short = true;
}

bool pf_redact_is_strict(const struct pf_redact *r)
{
	return r->is_strict;
}

/* ---- paths ---- */

/* The end of the last "word" in p[0..len), NULL if it is not there. */
static const char *after(const char *p, size_t len, const char *word)
{
	size_t n = strlen(word);
	const char *found = NULL;

	for (const char *at = p;
	     (at = memmem(at, len - (size_t)(at - p), word, n)) != NULL; at++)
		found = at + n;
	return found;
}

/* What follows ".../lib/python3.11/". */
static const char *after_library(const char *p, size_t len)
{
	const char *at = after(p, len, "/lib/python"), *end = p + len;

	if (!at)
		return NULL;
	while (at < end && (isdigit((unsigned char)*at) || *at == '.'))
		at++;
	return at < end && *at == '/' ? at + 1 : NULL;
}

static const char *after_package(const char *p, size_t len)
{
	const char *at = after(p, len, "site-packages/");

	if (!at)
		at = after(p, len, "dist-packages/");
	return at ? at : after_library(p, len);
}

static bool is_slash(char c)
{
	return c == '/' || c == '\\';
}

static const char *base_name(const char *p, size_t len)
{
	const char *at = p + len;

	while (at > p && !is_slash(at[-1]))
		at--;
	return at;
}

/*
 * Append a path without what comes before its package or "common" (ends with
 * '/', or empty); strict: only its last part.
 */
static void redact_path(const char *path, size_t len, const char *common,
			bool is_strict, struct pf_buf *out)
{
	const char *end = path + len, *at = NULL;
	size_t n = strlen(common);

	if (is_strict)
		at = base_name(path, len);
	if (!at)
		at = after_package(path, len);
	if (!at && n && len > n && !memcmp(path, common, n))
		at = path + n;
	if (!at)
		at = path;
	pf_buf_add(out, at, (size_t)(end - at));
}

/* ---- texts of which nothing of a path but a file's name is shown ---- */

/* Bytes of a word that may be a path. */
static size_t word_length(const char *s, size_t len)
{
	size_t n = 0;

	while (n < len && !isspace((unsigned char)s[n]) &&
	       !strchr("()\"',;<>", s[n]))
		n++;
	return n;
}

/* Does it name a file: "x.py", "x.cu:12", "x.so.1"? */
static bool is_file_name(const char *s, size_t len)
{
	static const char *const ends[] = { ".py",   ".pyx", ".pyc", ".so",
					    ".c",    ".cc",  ".cpp", ".cxx",
					    ".h",    ".hpp", ".cu",  ".cuh",
					    ".js",   ".db",  ".gz",  ".json",
					    ".ipynb" };
	const char *dot = s, *end = s + len;

	while ((dot = memchr(dot, '.', (size_t)(end - dot)))) {
		for (size_t i = 0; i < PF_LEN(ends); i++) {
			size_t n = strlen(ends[i]);

			if ((size_t)(end - dot) >= n &&
			    !memcmp(dot, ends[i], n) &&
			    (dot + n == end || !isalnum((unsigned char)dot[n])))
				return dot > s;
		}
		dot++;
	}
	return false;
}

/*
 * Bytes up to the end of the file in "any thing/b.py(12): f", "b.py:12 f" or
 * "b.py <module>"; 0: no file.
 */
static size_t python_file(const char *s, size_t len)
{
	static const char module[] = " <module>";
	const char *at = s, *end = s + len;

	while ((at = memmem(at, (size_t)(end - at), ".py", 3))) {
		at += 3;
		if (at == end || *at == '(' || *at == ':' ||
		    ((size_t)(end - at) == sizeof(module) - 1 &&
		     !memcmp(at, module, sizeof(module) - 1)))
			return (size_t)(at - s);
	}
	return 0;
}

/* A word with folders in it, not a quotient of profan's or "GB/s". */
static bool is_path(const char *s, size_t len)
{
	const char *base = base_name(s, len);

	return len > 1 && base > s &&
	       (is_slash(*s) || *s == '~' || *s == '.' ||
		memmem(s, len, ":/", 2) || memmem(s, len, ":\\", 2) ||
		is_file_name(base, (size_t)(s + len - base)));
}

static void add_files_only(const char *s, size_t len, struct pf_buf *out)
{
	size_t n = python_file(s, len);

	if (n) {
		redact_path(s, n, "", true, out);
		s += n;
		len -= n;
	}
	for (; len; s += n, len -= n) {
		const char *base;

		n = word_length(s, len);
		base = base_name(s, n);
		if (!n)
			pf_buf_addc(out, s[n++]);
		else if (!is_path(s, n))
			pf_buf_add(out, s, n);
		else if (is_file_name(base, (size_t)(s + n - base)))
			redact_path(s, n, "", true, out);
		else
			pf_buf_adds(out, "...");
	}
}

/* ---- texts ---- */

static bool is_absolute(const char *s, size_t len)
{
	return (len > 1 && s[0] == '/' && s[1] != '/') ||
	       (len > 3 && isalpha((unsigned char)s[0]) && s[1] == ':' &&
		is_slash(s[2]));
}

/* The same where it has all of its folders. */
static size_t file_length(const char *s, size_t len)
{
	return is_absolute(s, len) ? python_file(s, len) : 0;
}

/* The number of a text that a user gave to an annotation, or -1. */
static int64_t find_private(const struct pf_redact *r, const char *s,
			    size_t len)
{
	size_t low =
		PF_SEARCH(i, r->private_count, strcmp(r->private[i], s) < 0);

	return low < r->private_count && !strcmp(r->private[low], s) &&
			       strlen(s) == len
		       ? (int64_t)low
		       : -1;
}

static void redact_text(const struct pf_redact *r, const char *s, size_t len,
			struct pf_buf *out)
{
	const char *common = r->common.data ? r->common.data : "";
	size_t file = file_length(s, len);
	bool is_start = true;

	if (find_private(r, s, len) >= 0) {
		pf_buf_addf(out, "annotation %" PRId64,
			    find_private(r, s, len) + 1);
		return;
	}
	if (r->is_strict) {
		add_files_only(s, len, out);
		return;
	}
	if (file) {
		redact_path(s, file, common, false, out);
		s += file;
		len -= file;
	}
	if (!memchr(s, '/', len) && !memchr(s, '\\', len)) {
		pf_buf_add(out, s, len); /* no path is in it */
		return;
	}
	while (len) {
		size_t n = is_start && is_absolute(s, len) ? word_length(s, len)
							   : 0;

		if (n && after_package(s, n)) {
			redact_path(s, n, common, false, out);
		} else {
			n = 1;
			pf_buf_addc(out, *s);
		}
		is_start = isspace((unsigned char)s[n - 1]) ||
			   (s[n - 1] && strchr("(\"'=,:[<", s[n - 1]));
		s += n;
		len -= n;
	}
}

void pf_redact_text(const struct pf_redact *r, const char *s, size_t len,
		    struct pf_buf *out)
{
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };

	if (!r->is_short || !memchr(s, '<', len)) {
		redact_text(r, s, len, out);
		return;
	}
	pf_buf_adds(&text, "");
	redact_text(r, s, len, &text);
	pf_kernel_without_templates(out, text.data, text.len);
}

/* ---- documents ---- */

static void redact_table(const struct pf_redact *r, struct pf_table **table)
{
	const struct pf_table *t = *table;
	size_t cols = pf_table_col_count(t);
	struct pf_table *out =
		pf_table_new(pf_table_name(t), pf_table_title(t),
			     pf_table_cols(t), pf_table_declared(t));
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };

	for (size_t i = 0; i < pf_table_row_count(t); i++) {
		const struct pf_cell *row = pf_table_row(t, i);

		for (size_t c = 0; c < cols; c++) {
			if (row[c].type != PF_CELL_TEXT ||
			    pf_table_cols(t)[c].kind & PF_OURS) {
				pf_table_cell(out, &row[c]);
				continue;
			}
			pf_buf_clear(&text);
			pf_buf_adds(&text, "");
			pf_redact_text(r, row[c].v.text.s, row[c].v.text.len,
				       &text);
			pf_table_text(out, text.data, text.len);
		}
	}
	pf_table_free(*table);
	*table = out;
}

static const char *redact_string(const struct pf_redact *r, const char *s,
				 struct pf_arena *texts)
{
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };

	pf_buf_adds(&text, "");
	if (!r->is_strict)
		pf_redact_text(r, s, strlen(s), &text);
	return pf_arena_text(texts, text.data, text.len);
}

void pf_redact_doc(const struct pf_redact *r, struct pf_doc *doc)
{
	for (size_t i = 0; i < doc->table_count; i++)
		redact_table(r, &doc->tables[i]);
	for (size_t i = 0; i < doc->note_count; i++)
		doc->notes[i] = redact_string(r, doc->notes[i], &doc->texts);
	for (size_t i = 0; i < doc->scalar_count; i++) {
		struct pf_cell *cell = &doc->scalars[i].cell;

		if (cell->type != PF_CELL_TEXT)
			continue;
		cell->v.text.s = redact_string(r, cell->v.text.s, &doc->texts);
		cell->v.text.len = strlen(cell->v.text.s);
	}
}

/* ---- what the database holds ---- */

static void keep_common(struct pf_redact *r, const char *s, bool is_first)
{
	size_t len = file_length(s, strlen(s)), n = 0;

	if (!len || after_package(s, len))
		return;
	if (is_first) {
		pf_buf_add(&r->common, s, len);
	} else {
		while (n < r->common.len && n < len &&
		       r->common.data[n] == s[n])
			n++;
		r->common.len = n;
	}
	while (r->common.len && r->common.data[r->common.len - 1] != '/')
		r->common.len--;
	r->common.data[r->common.len] = '\0';
}

static void keep_private(struct pf_redact *r, const char *s)
{
	*PF_ONE_MORE(r->private, r->private_count, r->private_cap) =
		pf_strdup(s);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* In order, each once: its place is its number. */
static void order_private(struct pf_redact *r)
{
	size_t kept = 0;

	pf_sort(r->private, r->private_count, sizeof(*r->private), by_text);
	for (size_t i = 0; i < r->private_count; i++) {
		char *s = r->private[i];

		if (kept && !strcmp(r->private[kept - 1], s))
			free(s);
		else
			r->private[kept++] = s;
	}
	r->private_count = kept;
}

static int load_files(struct pf_redact *r, struct pf_db *db)
{
	PF_STMT(st) = pf_named_prepare(db, "redact_files", db->err);
	int rc;

	while ((rc = pf_db_step(db, st, db->err)) == 1) {
		const char *s = pf_sqlite_text(st, 0);

		if (s)
			keep_common(r, s, !r->common.data);
	}
	return rc;
}

static void keep_range(struct pf_redact *r, const char *s, struct pf_buf *place)
{
	keep_private(r, s);
	pf_buf_clear(place);
	pf_name_without_counts(s, place);
	if (strcmp(place->data, s) != 0)
		keep_private(r, place->data);
}

/*
 * Also as a comparison shows them.  All events are read, on a connection of
 * its own, which has the tables of events.
 */
static int load_private(struct pf_redact *r, const char *path,
			struct pf_err *err)
{
	PF_AUTO(pf_db_close) struct pf_db db = { 0 };
	PF_STMT(st) = NULL;
	PF_AUTO(pf_buf_release) struct pf_buf place = { 0 };
	int rc;

	PF_TRY(pf_db_open(&db, path, true, err));
	st = pf_named_prepare(&db, "redact_ranges", err);
	while ((rc = pf_db_step(&db, st, err)) == 1) {
		const char *s = pf_sqlite_text(st, 0);

		if (s)
			keep_range(r, s, &place);
	}
	order_private(r);
	return rc;
}

int pf_redact_add(struct pf_redact *r, struct pf_db *db)
{
	PF_TRY(load_files(r, db));
	return r->is_strict ? load_private(r, db->path, db->err) : 0;
}

struct pf_redact *pf_redact_new(struct pf_db *db, bool is_strict)
{
	struct pf_redact *r = pf_calloc(1, sizeof(*r));

	r->is_strict = is_strict;
	if (!pf_redact_add(r, db))
		return r;
	pf_redact_free(r);
	return NULL;
}

void pf_redact_free(struct pf_redact *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->private_count; i++)
		free(r->private[i]);
	free(r->private);
	pf_buf_release(&r->common);
	free(r);
}
