/* SPDX-License-Identifier: MIT */
/*
 * In so many bytes every table keeps its first N rows, with the largest N that
 * fits; in so many lines tables give rows one by one.  Both are found by
 * printing into memory.  What is left out is said in notes, which count as
 * well.
 */
#include "config.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/num.h"
#include "show/render.h"

/* Notes of what N rows a table leave out; returns how many notes there were. */
static size_t add_notes(struct pf_doc *doc, size_t rows)
{
	size_t before = doc->note_count;

	for (size_t i = 0; i < doc->table_count; i++) {
		const struct pf_table *t = doc->tables[i];
		size_t count = pf_table_row_count(t);
		char number[PF_NUM_MAX];

		if (count > rows)
			pf_doc_note(doc,
				    "%s row%s of '%s' left out for --budget; "
				    "--table %s shows all",
				    pf_num_show_count(number,
						      (int64_t)(count - rows)),
				    count - rows == 1 ? "" : "s",
				    pf_table_name(t), pf_table_name(t));
	}
	return before;
}

static void drop_notes(struct pf_doc *doc, size_t before)
{
	while (doc->note_count > before)
		free(doc->notes[--doc->note_count]);
}

/* The document as a text, which the caller frees. */
static char *text_take(const struct pf_style *style, const struct pf_doc *doc,
		       size_t *bytes, struct pf_err *err)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, bytes);
	int rc = -1;

	if (!f)
		pf_fail_errno(err, "cannot write output");
	else
		rc = pf_render_doc(style, doc, f, err);
	if (f && fclose(f) && !rc)
		rc = pf_fail_errno(err, "cannot write output");
	if (!rc)
		return text;
	free(text);
	return NULL;
}

/* Print with at most so many rows a table; out NULL: only count the bytes. */
static int print(struct pf_style style, struct pf_doc *doc, size_t rows,
		 FILE *out, size_t *bytes, struct pf_err *err)
{
	size_t *each = pf_calloc(doc->table_count + 1, sizeof(*each));
	size_t before = add_notes(doc, rows);
	char *text;

	for (size_t i = 0; i < doc->table_count; i++)
		each[i] = rows;
	style.rows = each;
	text = text_take(&style, doc, bytes, err);
	if (text && out)
		fwrite(text, 1, *bytes, out);
	drop_notes(doc, before);
	free(each);
	if (!text)
		return -1;
	free(text);
	return 0;
}

static size_t most_rows(const struct pf_doc *doc)
{
	size_t most = 0;

	for (size_t i = 0; i < doc->table_count; i++)
		if (pf_table_row_count(doc->tables[i]) > most)
			most = pf_table_row_count(doc->tables[i]);
	return most;
}

int pf_render_budget(const struct pf_style *style, struct pf_doc *doc,
		     FILE *out, size_t budget, struct pf_err *err)
{
	size_t low = 0, high = most_rows(doc), bytes;

	if (print(*style, doc, high, NULL, &bytes, err))
		return -1;
	if (bytes <= budget)
		return print(*style, doc, high, out, &bytes, err);
	if (print(*style, doc, 0, NULL, &bytes, err))
		return -1;
	if (bytes > budget)
		return pf_fail(err, PF_EUSAGE,
			       "without any rows it has %zu bytes, more than "
			       "'--budget %zu'",
			       bytes, budget);
	/* low fits, high does not */
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (print(*style, doc, middle, NULL, &bytes, err))
			return -1;
		if (bytes <= budget)
			low = middle;
		else
			high = middle;
	}
	return print(*style, doc, low, out, &bytes, err);
}

/* ---- lines ---- */

struct page {
	const struct pf_style *style;
	struct pf_doc *doc;
	size_t *rows; /* of each table */
	size_t left;  /* rows that are left out */
};

/* "out" NULL: only count. */
static int print_page(const struct page *p, FILE *out, size_t *lines,
		      struct pf_err *err)
{
	struct pf_style style = *p->style;
	size_t before = p->doc->note_count, bytes;
	char *text, number[PF_NUM_MAX];

	style.rows = p->rows;
	style.is_page = true;
	if (p->left)
		pf_doc_note(p->doc,
			    "%s row%s of tables left out, to be a page; "
			    "--limit -1 shows all",
			    pf_num_show_count(number, (int64_t)p->left),
			    p->left == 1 ? "" : "s");
	text = text_take(&style, p->doc, &bytes, err);
	drop_notes(p->doc, before);
	if (!text)
		return -1;
	*lines = 0;
	for (size_t i = 0; i < bytes; i++)
		*lines += text[i] == '\n';
	if (out)
		fwrite(text, 1, bytes, out);
	free(text);
	return 0;
}

/* The last small table but the first goes; 1: there is none. */
static int leave_out(struct page *p)
{
	for (size_t i = p->doc->table_count; i-- > 1;) {
		if (p->rows[i] != 1)
			continue;
		p->rows[i] = 0;
		p->left++;
		return 0;
	}
	return 1;
}

/* A row less of the table with the most lines to give; 1: none has any. */
static int shorten(struct page *p, size_t lines, struct pf_err *err)
{
	size_t best = 0, most = 0;

	for (size_t i = 0; i < p->doc->table_count; i++) {
		size_t least = pf_table_least(p->doc->tables[i]), fewer, gain;

		if (p->rows[i] <= least)
			continue;
		p->rows[i]--;
		if (print_page(p, NULL, &fewer, err) < 0)
			return -1;
		p->rows[i]++;
		/* at least something: a row may share its lines */
		gain = (p->rows[i] - least) *
		       (fewer < lines ? lines - fewer : 1);
		if (gain >= most) {
			most = gain;
			best = i;
		}
	}
	if (!most)
		return leave_out(p);
	p->rows[best]--;
	p->left++;
	return 0;
}

int pf_render_lines(const struct pf_style *style, struct pf_doc *doc, FILE *out,
		    size_t lines, struct pf_err *err)
{
	struct page p = { .style = style, .doc = doc };
	size_t count;
	int rc;

	p.rows = pf_calloc(doc->table_count + 1, sizeof(*p.rows));
	for (size_t i = 0; i < doc->table_count; i++)
		p.rows[i] = pf_table_row_count(doc->tables[i]);
	rc = print_page(&p, NULL, &count, err);
	while (!rc && count > lines && !(rc = shorten(&p, count, err)))
		rc = print_page(&p, NULL, &count, err);
	if (rc >= 0)
		rc = print_page(&p, out, &count, err);
	free(p.rows);
	return rc;
}
