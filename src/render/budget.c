/* SPDX-License-Identifier: MIT */
/*
 * Every table keeps its first N rows, with the largest N that fits; it is
 * looked for by printing into memory.  What is left out is said in notes, which
 * count as well.
 */
#include "config.h"

#include <stdlib.h>

#include "base/num.h"
#include "render/render.h"

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

/* Print with at most so many rows a table; out NULL: only count the bytes. */
static int print(struct pf_style style, struct pf_doc *doc, size_t rows,
		 FILE *out, size_t *bytes, struct pf_err *err)
{
	char *text = NULL;
	size_t before = add_notes(doc, rows);
	FILE *f = open_memstream(&text, bytes);
	int rc = -1;

	style.has_rows = true;
	style.rows = rows;
	if (!f)
		pf_fail_errno(err, "cannot write output");
	else
		rc = pf_render_doc(&style, doc, f, err);
	if (f && fclose(f) && !rc)
		rc = pf_fail_errno(err, "cannot write output");
	if (!rc && out)
		fwrite(text, 1, *bytes, out);
	free(text);
	drop_notes(doc, before);
	return rc;
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
