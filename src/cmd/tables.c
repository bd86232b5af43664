/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/outfile.h"
#include "cmd/output.h"
#include "show/find.h"

#define FIGURES "figures"

/* The document of one table alone, borrowed; t NULL: of the figures. */
static struct pf_doc alone(const struct pf_doc *doc, struct pf_table **t)
{
	if (t)
		return (struct pf_doc){ .tables = t, .table_count = 1 };
	return (struct pf_doc){ .scalars = doc->scalars,
				.scalar_count = doc->scalar_count };
}

static int no_such_table(const struct pf_doc *doc, const char *name,
			 struct pf_err *err)
{
	struct pf_buf names = { 0 };

	pf_buf_adds(&names, FIGURES);
	for (size_t i = 0; i < doc->table_count; i++)
		pf_buf_addf(&names, ", %s", pf_table_name(doc->tables[i]));
	pf_fail(err, PF_EUSAGE, "there is no table '%s'; there are: %s", name,
		names.data);
	pf_buf_release(&names);
	return -1;
}

int pf_tables_print(const struct pf_ctx *cx, const struct pf_doc *doc,
		    const char *name, struct pf_err *err)
{
	struct pf_doc one = alone(doc, NULL);
	size_t i = 0;

	if (strcmp(name, FIGURES) != 0) {
		while (i < doc->table_count &&
		       strcmp(pf_table_name(doc->tables[i]), name) != 0)
			i++;
		if (i == doc->table_count)
			return no_such_table(doc, name, err);
		one = alone(doc, &doc->tables[i]);
	}
	return pf_render_doc(&cx->style, &one, cx->out, err);
}

/* What is printed, into a file. */
static int write_one(const struct pf_ctx *cx, const struct pf_doc *one,
		     const char *path, struct pf_err *err)
{
	const struct pf_outrule rule = {
		.inputs = cx->db ? cx->db->inputs : NULL,
		.input_count = cx->db ? cx->db->input_count : 0,
	};
	struct pf_outfile *file = pf_outfile_open(path, &rule, cx->out, err);
	char *text = NULL;
	size_t len = 0;
	FILE *f = file ? open_memstream(&text, &len) : NULL;
	int rc = -1;

	if (file && !f)
		pf_fail_errno(err, "cannot write '%s'", path);
	if (f) {
		rc = pf_render_doc(&cx->style, one, f, err);
		if (fclose(f) && !rc)
			rc = pf_fail_errno(err, "cannot write '%s'", path);
	}
	if (!rc)
		rc = pf_outfile_write(file, text, len, err);
	if (!rc)
		rc = pf_outfile_commit(file, err);
	pf_outfile_free(file);
	free(text);
	return rc;
}

int pf_tables_write(const struct pf_ctx *cx, const struct pf_doc *doc,
		    const char *folder, struct pf_err *err)
{
	struct pf_buf path = { 0 };
	int rc = 0;

	if (mkdir(folder, 0777) && errno != EEXIST)
		return pf_fail_errno(err, "cannot make the folder '%s'",
				     folder);
	for (size_t i = 0; !rc && i <= doc->table_count; i++) {
		struct pf_doc one = alone(doc, i ? &doc->tables[i - 1] : NULL);

		if (!i && !doc->scalar_count)
			continue;
		pf_buf_clear(&path);
		pf_buf_addf(&path, "%s/%s.%s", folder,
			    i ? pf_table_name(doc->tables[i - 1]) : FIGURES,
			    cx->style.format->name);
		rc = write_one(cx, &one, path.data, err);
	}
	pf_buf_release(&path);
	return rc;
}
