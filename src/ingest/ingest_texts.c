/* SPDX-License-Identifier: MIT */
/* Texts found while reading, written table by table. */
#include "config.h"

#include "ingest/ingest_impl.h"

struct writing {
	struct pf_ingest *in;
	enum pf_ingest_later list;
	sqlite3_stmt *st;
};

static const char *const statements[PF_LATER_LISTS] = {
	[PF_LATER_STRING] = "INSERT INTO string(id, text) VALUES(?1, ?2)",
	[PF_LATER_ARGSET] =
		"INSERT INTO argset(id, mask, text) VALUES(?1, ?2, ?3)",
	[PF_LATER_TYPE] = "INSERT INTO event_type(id, ph, category, kind)"
			  " VALUES(?1, ?2, ?3, ?4)",
	[PF_LATER_MEMBER] =
		"INSERT OR REPLACE INTO trace_meta(trace_id, key, value)"
		" VALUES(?1, ?2, ?3)",
	[PF_LATER_METADATA] =
		"INSERT INTO metadata_event(trace_id, file_order, json, count)"
		" VALUES(?1, ?2, ?3, ?4)",
};

static void bind_text(sqlite3_stmt *st, int i, const char *p, size_t len)
{
	sqlite3_bind_text(st, i, len ? p : "", (int)len, SQLITE_STATIC);
}

static void bind_metadata(const struct writing *w,
			  const struct pf_later_row *row)
{
	struct pf_ingest_metadata m = { row->a, 1 };

	if (row->b)
		m = w->in->metadata[row->b - 1];
	sqlite3_bind_int64(w->st, 1, w->in->trace_id);
	sqlite3_bind_int64(w->st, 2, m.last_order);
	bind_text(w->st, 3, row->first, row->first_len);
	sqlite3_bind_int64(w->st, 4, m.count);
}

static void bind_row(const struct writing *w, const struct pf_later_row *row)
{
	switch (w->list) {
	case PF_LATER_STRING:
		sqlite3_bind_int64(w->st, 1, row->a);
		bind_text(w->st, 2, row->first, row->first_len);
		break;
	case PF_LATER_ARGSET:
		sqlite3_bind_int64(w->st, 1, row->a);
		sqlite3_bind_int64(w->st, 2, row->b);
		bind_text(w->st, 3, row->first, row->first_len);
		break;
	case PF_LATER_TYPE:
		sqlite3_bind_int64(w->st, 1, row->a);
		bind_text(w->st, 2, row->first, row->first_len);
		bind_text(w->st, 3, row->second, row->second_len);
		sqlite3_bind_int64(w->st, 4, row->b);
		break;
	case PF_LATER_MEMBER:
		sqlite3_bind_int64(w->st, 1, w->in->trace_id);
		bind_text(w->st, 2, row->first, row->first_len);
		bind_text(w->st, 3, row->second, row->second_len);
		break;
	case PF_LATER_METADATA:
		bind_metadata(w, row);
		break;
	case PF_LATER_LISTS:
		break;
	}
}

static int write_row(void *arg, const struct pf_later_row *row,
		     struct pf_err *err)
{
	struct writing *w = arg;
	int rc;

	bind_row(w, row);
	rc = pf_db_step(w->in->db, w->st, err);
	sqlite3_reset(w->st);
	if (rc < 0 || w->list != PF_LATER_ARGSET)
		return rc < 0 ? -1 : 0;
	return pf_config_put(w->in, (uint32_t)row->a, row->first,
			     row->first_len, err);
}

int pf_ingest_texts(struct pf_ingest *in, struct pf_err *err)
{
	int rc = pf_config_prepare(in, err);

	for (int list = 0; list < PF_LATER_LISTS && !rc; list++) {
		struct writing w = { .in = in,
				     .list = (enum pf_ingest_later)list };

		w.st = pf_db_prepare(in->db, statements[list], err);
		rc = w.st ? pf_later_each(&in->later[list], write_row, &w, err)
			  : -1;
		sqlite3_finalize(w.st);
	}
	sqlite3_finalize(in->put_config);
	in->put_config = NULL;
	return rc;
}
