/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "events/kinds.h"
#include "base/mem.h"
#include "store/query.h"

#define TYPES_MAX 65536 /* as ingest writes */

int pf_kinds_load(struct pf_kinds *k, struct pf_db *db, struct pf_err *err)
{
	sqlite3_stmt *stmt = pf_named_prepare(db, "event_kinds", err);
	size_t cap = 0;
	int rc = stmt ? 0 : -1;

	while (!rc && (rc = pf_db_step(db, stmt, err)) == 1) {
		int64_t id = sqlite3_column_int64(stmt, 0);
		int64_t kind = sqlite3_column_int64(stmt, 1);
		size_t old = k->count;

		rc = 0;
		if (id < 0 || id >= TYPES_MAX || kind < 0 ||
		    kind >= PF_KIND_COUNT)
			continue;
		if ((size_t)id >= old) {
			k->count = (size_t)id + 1;
			k->of = pf_grow(k->of, &cap, k->count, 1);
			memset(k->of + old, PF_KIND_COUNT, k->count - old);
		}
		k->of[id] = (unsigned char)kind;
		if (sqlite3_column_int(stmt, 2))
			k->of[id] |= PF_KINDS_NVTX;
	}
	sqlite3_finalize(stmt);
	return rc;
}

void pf_kinds_release(struct pf_kinds *k)
{
	free(k->of);
	*k = (struct pf_kinds){ 0 };
}
