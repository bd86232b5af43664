/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/named.h"
#include "store/texts.h"

#define KEPT       256 /* a power of 2 */
#define KEPT_BYTES 240

/* The last text of those whose ids share this place. */
struct pf_texts_kept {
	int64_t id;
	uint32_t is_there, len;
	char text[KEPT_BYTES];
};

static void keep(struct pf_texts_kept *k, int64_t id, const char *text,
		 size_t len)
{
	k->is_there = len < KEPT_BYTES;
	if (!k->is_there)
		return;
	k->id = id;
	k->len = (uint32_t)len;
	memcpy(k->text, text, len + 1);
}

static int load(struct pf_db *db, sqlite3_stmt *st, int64_t id,
		const char **text, size_t *len, struct pf_err *err)
{
	const char *found = NULL;
	int rc;

	sqlite3_reset(st);
	sqlite3_bind_int64(st, 1, id);
	rc = pf_db_step(db, st, err);
	if (rc == 1)
		found = (const char *)sqlite3_column_text(st, 0);
	*text = found ? found : "";
	*len = found ? (size_t)sqlite3_column_bytes(st, 0) : 0;
	return rc;
}

int pf_texts_get(struct pf_texts *t, enum pf_texts_of table, int64_t id,
		 const char **text, size_t *len, struct pf_err *err)
{
	static const char *const queries[] = { "string_text", "argset_text" };
	struct pf_texts_of_table *of = &t->of[table];
	struct pf_texts_kept *kept;
	size_t found_len;
	int rc = 1;

	if (!of->stmt) {
		of->stmt = pf_named_prepare(t->db, queries[table], err);
		if (!of->stmt)
			return -1;
		of->kept = pf_calloc(KEPT, sizeof(*of->kept));
	}
	kept = &of->kept[(uint64_t)id & (KEPT - 1)];
	if (kept->is_there && kept->id == id) {
		*text = kept->text;
		found_len = kept->len;
	} else {
		rc = load(t->db, of->stmt, id, text, &found_len, err);
		if (rc == 1)
			keep(kept, id, *text, found_len);
	}
	if (len)
		*len = found_len;
	return rc;
}

void pf_texts_release(struct pf_texts *t)
{
	for (int i = 0; i < PF_TEXT_TABLES; i++) {
		sqlite3_finalize(t->of[i].stmt);
		free(t->of[i].kept);
	}
	*t = (struct pf_texts){ 0 };
}
