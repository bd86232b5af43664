/* SPDX-License-Identifier: MIT */
/*
 * Two passes.  The first finds the good frames, gathers what they define and
 * remembers where the EVENTS are; the second makes events of them, when every
 * name is known.  What cannot be read twice (a pipe, compressed data) is kept
 * in an unlinked file between the passes.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/tempfile.h"
#include "formats/pfr/map.h"
#include "ingest/ingest_impl.h"
#include "base/sat.h"

#define INDEX_BYTES (4u << 20)

/* An EVENTS frame for the second pass. */
struct kept {
	uint64_t at; /* of its payload in the file that is read again */
	int64_t offset;
	uint32_t len;
	uint16_t flags, after_a_gap;
};

struct reading {
	struct pf_ingest *in;
	struct pf_headed from; /* behind the file's header */
	struct pf_pfr_file file;
	struct pf_pfr_map map;
	struct pf_spool *index;
	int fd, temp_fd; /* what to read again; ours to close, or -1 */
	uint64_t kept_bytes;
	struct pf_ingest_batcher batcher;
};

/* ---- the first pass ---- */

static int keep(struct reading *r, const struct pf_pfr_frame *f,
		struct pf_err *err)
{
	struct kept k = {
		.at = (uint64_t)f->offset + PF_PFR_FRAME_BYTES,
		.offset = f->offset,
		.len = f->len,
		.flags = f->flags,
		.after_a_gap = f->after_a_gap,
	};

	if (r->temp_fd >= 0) {
		k.at = r->kept_bytes;
		r->kept_bytes += f->len;
		if (pf_tempfile_write(r->temp_fd, f->payload, f->len, k.at,
				      err))
			return -1;
	}
	return pf_spool_add(r->index, &k, err);
}

static int scan(struct reading *r, struct pf_pfr_scan *s, struct pf_err *err)
{
	struct pf_pfr_frame f;
	bool gap = false;
	int rc;

	while ((rc = pf_pfr_scan_next(s, &f, err)) == 1) {
		/* The gap is torn by the next events, whatever is between. */
		gap |= f.after_a_gap;
		if (f.type != PF_PFR_EVENTS) {
			pf_pfr_file_add(&r->file, &f);
			continue;
		}
		f.after_a_gap = gap;
		gap = false;
		if (keep(r, &f, err))
			return -1;
	}
	pf_pfr_defs_seal(&r->file.defs);
	r->in->json_bytes = s->offset + (int64_t)s->have;
	r->in->found_list = true;
	if (!rc && !s->loss.good_frames)
		return pf_fail(err, PF_EDATA,
			       "is a .pfr file without a whole frame");
	return rc;
}

/* ---- what the file says of itself ---- */

static void note_loss(struct pf_ingest *in, const struct pf_pfr_loss *loss)
{
	const struct {
		enum pf_repair_kind kind;
		int64_t count, first;
	} counts[] = {
		{ PF_REPAIR_BAD_FRAME, loss->bad_frames, loss->first_bad },
		{ PF_REPAIR_SKIPPED_BYTES, loss->skipped_bytes,
		  loss->first_skipped },
		{ PF_REPAIR_MISSING_FRAMES, loss->missing_frames,
		  loss->first_missing },
		{ PF_REPAIR_NO_END, !loss->has_end, in->json_bytes },
	};

	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		if (counts[i].count)
			pf_repair_note(&in->repairs, counts[i].kind,
				       counts[i].count, counts[i].first);
	pf_ingest_note_fact(in, "pfr_frames", loss->good_frames);
	pf_ingest_note_fact(in, "pfr_bad_frames", loss->bad_frames);
	pf_ingest_note_fact(in, "pfr_skipped_bytes", loss->skipped_bytes);
	pf_ingest_note_fact(in, "pfr_missing_frames", loss->missing_frames);
	pf_ingest_note_fact(in, "pfr_end", loss->has_end);
}

/* The agent's own counts, and what they say was never written. */
static void note_stat(struct reading *r)
{
	static const char *const dropped[] = { "dropped_cupti", "dropped_queue",
					       "dropped_nvtx", "discarded" };
	const struct pf_pfr_lines *stat = &r->file.stat;
	const struct pf_pfr_line *cut = pf_pfr_line_of(stat, "truncated");
	int64_t v, sum = 0;

	for (size_t i = 0; i < stat->count; i++) {
		char key[320];

		if (!pf_pfr_line_int(stat, stat->items[i].key, &v))
			continue;
		snprintf(key, sizeof(key), "stat_%s", stat->items[i].key);
		pf_ingest_note_fact(r->in, key, v);
	}
	for (size_t i = 0; i < sizeof(dropped) / sizeof(*dropped); i++)
		if (pf_pfr_line_int(stat, dropped[i], &v))
			pf_sat_sum(&sum, v);
	/* Before its last STAT the agent wrote so many events. */
	if (pf_pfr_line_int(stat, "events", &v)) {
		v -= r->in->event_count - r->in->metadata_count +
		     r->map.untimed;
		if (v > 0)
			pf_repair_note(&r->in->repairs, PF_REPAIR_LOST_EVENTS,
				       v, PF_OFFSET_UNKNOWN);
		pf_ingest_note_fact(r->in, "pfr_lost_events", v > 0 ? v : 0);
	}
	if (sum)
		pf_repair_note(&r->in->repairs, PF_REPAIR_NOT_RECORDED, sum,
			       PF_OFFSET_UNKNOWN);
	if (cut || (pf_pfr_line_int(stat, "takeover", &v) && v))
		pf_repair_note(&r->in->repairs, PF_REPAIR_STOPPED, 1,
			       PF_OFFSET_UNKNOWN);
	v = r->file.defs.bad + r->file.defs.past_cap + r->file.meta.left_out +
	    r->file.info.left_out + stat->left_out;
	if (v)
		pf_repair_note(&r->in->repairs, PF_REPAIR_BAD_DEFINITION, v,
			       PF_OFFSET_UNKNOWN);
}

/*
 * All processes of one boot have one monotonic clock: so that their events
 * fit exactly, the first file says what its zero is for all of them.
 */
static void share_base(struct reading *r)
{
	const struct pf_pfr_line *boot =
		pf_pfr_line_of(&r->file.meta, "boot_id");
	struct pf_ingest *in = r->in;

	pf_pfr_file_find_base(&r->file);
	if (!boot || !*boot->value || !r->file.has_base)
		return;
	for (size_t i = 0; i < in->boot_count; i++)
		if (!strcmp(in->boots[i].id, boot->value)) {
			r->file.base_ns = in->boots[i].base_ns;
			return;
		}
	in->boots = pf_grow(in->boots, &in->boots_cap, in->boot_count + 1,
			    sizeof(*in->boots));
	in->boots[in->boot_count].id = pf_strdup(boot->value);
	in->boots[in->boot_count++].base_ns = r->file.base_ns;
}

/* ---- the second pass ---- */

static int settle(struct reading *r, struct pf_err *err)
{
	if (pf_ingest_batcher_put(&r->batcher, &r->map.sink.parsed, err))
		return -1;
	pf_pfr_map_begin(&r->map);
	return 0;
}

static int map_frame(struct reading *r, const struct kept *k,
		     struct pf_buf *payload, struct pf_err *err)
{
	const struct pf_pfr_frame f = {
		.payload = (const unsigned char *)payload->data,
		.len = k->len,
		.type = PF_PFR_EVENTS,
		.flags = k->flags,
		.offset = k->offset,
		.after_a_gap = k->after_a_gap,
	};

	if (pf_tempfile_read(r->fd, payload->data, k->len, k->at, err))
		return pf_while(err, "the second time");
	pf_pfr_map_frame(&r->map, &f);
	if (r->in->options->progress)
		r->in->options->progress(r->in->bytes_before + k->offset,
					 r->in->events_before +
						 r->in->event_count);
	return 0;
}

static int map_all(struct reading *r, struct pf_err *err)
{
	size_t most = pf_ingest_batch_events(r->in);
	struct pf_buf payload = { 0 };
	int rc = 0;

	pf_buf_reserve(&payload, PF_PFR_EVENTS_MAX);
	pf_pfr_map_begin(&r->map);
	pf_pfr_file_describe(&r->file, &r->map.sink.parsed.batch);
	for (uint64_t i = 0; i < pf_spool_count(r->index) && !rc; i++) {
		const struct kept *k = pf_spool_at(r->index, i, err);

		rc = k ? map_frame(r, k, &payload, err) : -1;
		if (!rc && pf_sink_is_full(&r->map.sink, most))
			rc = settle(r, err);
	}
	if (!rc) {
		pf_pfr_map_finish(&r->map);
		rc = settle(r, err);
	}
	pf_buf_release(&payload);
	return rc;
}

/* ---- all of it ---- */

static int open_again(struct reading *r, struct pf_err *err)
{
	r->fd = pf_input_plain_fd(r->from.input);
	r->temp_fd = -1;
	if (r->fd >= 0)
		return 0;
	r->fd = r->temp_fd = pf_tempfile_open(r->in->directory, err);
	return r->fd < 0 ? -1 : 0;
}

static int read_pfr(struct pf_ingest *in, struct pf_input *input,
		    const struct pf_buf *head, struct pf_err *err)
{
	struct reading r = { .in = in,
			     .from = { input, head, PF_PFR_HEADER_BYTES } };
	struct pf_pfr_scan s;
	int rc = -1;

	if (pf_pfr_check_header(head->data, head->len, err) ||
	    open_again(&r, err))
		return -1;
	r.index = pf_spool_new(sizeof(struct kept), INDEX_BYTES, in->directory);
	pf_ingest_batcher_init(&r.batcher, in);
	pf_pfr_scan_init(&s, pf_headed_read, &r.from, in->options->chunk_bytes);
	if (!scan(&r, &s, err)) {
		share_base(&r);
		pf_pfr_map_init(&r.map, &r.file);
		rc = map_all(&r, err);
		note_loss(in, &s.loss);
		note_stat(&r);
		pf_ingest_note_fact(in, "pfr_left_mangled", r.map.left_mangled);
		pf_pfr_map_release(&r.map);
	}
	pf_pfr_scan_release(&s);
	pf_ingest_batcher_release(&r.batcher);
	pf_spool_free(r.index);
	pf_pfr_file_release(&r.file);
	if (r.temp_fd >= 0)
		close(r.temp_fd);
	return rc;
}

static bool claims(const char *head, size_t len)
{
	return pf_pfr_claims(head, len);
}

PF_INGEST_FORMAT(10, pfr) = { "pfr", claims, read_pfr, NULL, false };
