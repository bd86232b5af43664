/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "store/named.h"
#include "store/texts.h"

int pf_texts_get(struct pf_texts *t, enum pf_texts_of table, int64_t id,
		 const char **text, size_t *len, struct pf_err *err)
{
	static const char *const queries[] = { "string_text", "argset_text" };
	sqlite3_stmt **st = &t->of[table];
	const char *found = NULL;
	int rc;

	if (!*st)
		*st = pf_named_prepare(t->db, queries[table], err);
	if (!*st)
		return -1;
	sqlite3_reset(*st);
	sqlite3_bind_int64(*st, 1, id);
	rc = pf_db_step(t->db, *st, err);
	if (rc == 1)
		found = (const char *)sqlite3_column_text(*st, 0);
	*text = found ? found : "";
	if (len)
		*len = found ? (size_t)sqlite3_column_bytes(*st, 0) : 0;
	return rc;
}

void pf_texts_release(struct pf_texts *t)
{
	for (int i = 0; i < PF_TEXT_TABLES; i++)
		sqlite3_finalize(t->of[i]);
	*t = (struct pf_texts){ 0 };
}
