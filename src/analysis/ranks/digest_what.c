/* SPDX-License-Identifier: MIT */
/* Which collective of which group a kernel is: by arguments, else by names. */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "analysis/ranks/digest_impl.h"
#include "store/query.h"

void pf_digest_init_words(struct making *m)
{
	pf_intern_init(&m->groups);
	pf_map_init(&m->argsets);
	pf_map_init(&m->syncs);
	pf_map_init(&m->hashes);
}

void pf_digest_release_words(struct making *m)
{
	pf_intern_release(&m->groups);
	pf_map_release(&m->argsets);
	pf_map_release(&m->syncs);
	pf_map_release(&m->hashes);
	for (size_t i = 0; i < m->source_count; i++)
		free(m->sources[i].host);
	free(m->sources);
	free(m->said);
	free(m->hash);
}

/* What it is, if it is no collective of all. */
static enum pf_p2p p2p_of(enum pf_sync sync, struct pf_json name)
{
	return sync == PF_SYNC_NONE ? pf_collective_p2p(name) : PF_P2P_NONE;
}

static void read_said(struct making *m, const struct pf_collective *c,
		      const char *text, size_t len, struct said *out)
{
	enum pf_sync sync = pf_collective_sync(c->name);
	enum pf_p2p p2p = p2p_of(sync, c->name);
	struct pf_buf group = { 0 };

	pf_buf_adds(&group, "");
	if (c->group.p)
		pf_json_text(c->group, &group);
	*out = (struct said){ pf_intern_add(&m->groups, group.data, group.len),
			      sync,
			      p2p,
			      pf_collective_bytes(c),
			      c->group_size,
			      pf_collective_peer(text, len, p2p) };
	pf_buf_release(&group);
}

/* What arguments say; NULL: nothing. */
static int read_args(struct making *m, uint32_t args, const struct said **out,
		     struct pf_err *err)
{
	struct pf_collective c;
	const char *text;
	size_t len;
	uint64_t *place;
	int rc;

	*out = NULL;
	if (args >= PF_ID_INLINE)
		return 0;
	place = pf_map_at(&m->argsets, args);
	if (*place == UINT64_MAX) {
		rc = pf_texts_get(&m->texts, PF_TEXT_ARGS, args, &text, &len,
				  err);
		if (rc < 0)
			return -1;
		*place = 0;
		if (rc == 1 && pf_collective_read(text, len, &c)) {
			m->said = pf_grow(m->said, &m->said_cap,
					  m->said_count + 1, sizeof(*m->said));
			read_said(m, &c, text, len, &m->said[m->said_count]);
			*place = ++m->said_count;
		}
	}
	if (*place)
		*out = &m->said[*place - 1];
	return 0;
}

/* By the range around its launch, or by its own name. */
static int read_name(struct making *m, uint32_t name, struct what *out,
		     struct pf_err *err)
{
	uint64_t *place = pf_map_at(&m->syncs, name);
	const char *text;

	if (*place == UINT64_MAX) {
		text = pf_gpu_name(m->gpu, name, err);
		if (!text)
			return -1;
		out->sync = pf_collective_sync(
			(struct pf_json){ text, strlen(text) });
		out->p2p = p2p_of(out->sync,
				  (struct pf_json){ text, strlen(text) });
		*place = (uint64_t)out->p2p << 8 | out->sync;
	}
	out->sync = (enum pf_sync)(*place & 0xff);
	out->p2p = (enum pf_p2p)(*place >> 8);
	return 0;
}

/* The group of a digest by its text. */
static size_t find_group(struct making *m, uint32_t text)
{
	struct pf_digest *d = &m->d;
	uint64_t *place = pf_map_at(&m->group_places, text);

	if (*place == UINT64_MAX) {
		*place = d->group_count;
		d->groups = pf_grow(d->groups, &d->group_cap,
				    d->group_count + 1, sizeof(*d->groups));
		d->groups[d->group_count++] =
			pf_strdup(pf_intern_text(&m->groups, text, NULL));
	}
	return (size_t)*place;
}

static void take_said(struct making *m, const struct said *said,
		      struct what *out)
{
	*out = (struct what){ .sync = said->sync,
			      .p2p = said->p2p,
			      .bytes = said->bytes,
			      .size = said->size,
			      .peer = said->peer };
	if (out->sync != PF_SYNC_NONE || out->p2p)
		out->group = find_group(m, said->group);
}

int pf_digest_find_message(struct making *m, uint32_t args, struct what *out,
			   struct pf_err *err)
{
	const struct said *said;

	if (read_args(m, args, &said, err) < 0)
		return -1;
	if (!said || (said->p2p != PF_P2P_SEND && said->p2p != PF_P2P_RECEIVE))
		return 0;
	take_said(m, said, out);
	return 1;
}

/* Several messages, or of what else is made of such kernels? */
static int check_kernel(struct making *m, uint32_t name, struct what *out,
			struct pf_err *err)
{
	struct what own;

	if (out->p2p != PF_P2P_SEVERAL)
		return 0;
	if (read_name(m, name, &own, err) < 0)
		return -1;
	out->p2p = own.p2p;
	return 0;
}

int pf_digest_find_what(struct making *m, const struct pf_gpu_event *ev,
			struct what *out, struct pf_err *err)
{
	const struct said *said;

	if (read_args(m, ev->config, &said, err) < 0)
		return -1;
	if (!said && ev->comm.record_id &&
	    read_args(m, ev->comm.record_args, &said, err) < 0)
		return -1;
	if (said) {
		take_said(m, said, out);
		return check_kernel(m, ev->name, out, err);
	}
	*out = (struct what){ .bytes = -1, .size = -1, .peer = -1 };
	if (read_name(m, ev->comm.name == PF_ID_NONE ? ev->name : ev->comm.name,
		      out, err) < 0)
		return -1;
	if (out->sync != PF_SYNC_NONE || out->p2p)
		out->group = find_group(m, pf_intern_add(&m->groups, "", 0));
	return check_kernel(m, ev->name, out, err);
}

/* ---- where traces are from ---- */

int pf_digest_load_sources(struct making *m, struct pf_err *err)
{
	sqlite3_stmt *st = pf_named_prepare(m->db, "rank_traces", err);
	int rc = -1;

	while (st && (rc = pf_db_step(m->db, st, err)) == 1) {
		const char *host = (const char *)sqlite3_column_text(st, 3);

		m->sources = pf_grow(m->sources, &m->source_cap,
				     m->source_count + 1, sizeof(*m->sources));
		m->sources[m->source_count++] = (struct source){
			.trace_id = sqlite3_column_int64(st, 0),
			.base_ns = sqlite3_column_int64(st, 1),
			.world = sqlite3_column_int64(st, 2),
			.host = host && *host ? pf_strdup(host) : NULL
		};
	}
	sqlite3_finalize(st);
	return rc;
}

const struct source *pf_digest_source(const struct making *m)
{
	size_t low = 0, high = m->source_count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (m->sources[mid].trace_id < m->trace->trace_id)
			low = mid + 1;
		else
			high = mid;
	}
	return low < m->source_count &&
			       m->sources[low].trace_id == m->trace->trace_id
		       ? &m->sources[low]
		       : NULL;
}
