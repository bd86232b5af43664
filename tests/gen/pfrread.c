/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gen/pfrread.h"
#include "formats/pfr/map.h"

struct source {
	const unsigned char *p;
	size_t left;
};

static int64_t take(void *arg, void *buf, size_t len, struct pf_err *err)
{
	struct source *s = arg;

	(void)err;
	if (len > s->left)
		len = s->left;
	if (len)
		memcpy(buf, s->p, len);
	s->p += len;
	s->left -= len;
	return (int64_t)len;
}

static void log_text(struct pf_buf *log, const struct pf_dict *d, uint32_t i)
{
	if (i == PF_ID_NONE)
		return;
	pf_buf_add(log, d->text.data + d->entries[i].text_at,
		   d->entries[i].text_len);
	pf_buf_addc(log, '\t');
}

/* What the store does with a batch, as text. */
static void settle(struct pf_pfr_map *m, struct pfrread *r, bool last)
{
	struct pf_parsed *p = &m->sink.parsed;
	struct pf_batch *b = &p->batch;

	for (size_t i = 0; i < b->count; i++) {
		const struct pf_event *e = &b->events[i];

		log_text(&r->log, &p->names, e->name);
		log_text(&r->log, &p->args, e->args);
		log_text(&r->log, &p->tracks, e->track);
		log_text(&r->log, &p->categories, b->types[e->type].category);
		pf_buf_addf(&r->log,
			    "%c %d %" PRId64 " %" PRId64 " %" PRId64 " %x",
			    e->ph, e->kind, e->start_ns, e->dur_ns,
			    r->events + e->order, e->mask);
		for (int k = 0; k < __builtin_popcount(e->mask); k++)
			pf_buf_addf(&r->log, " %" PRId64,
				    b->slots[e->slot_at + (unsigned)k]);
		pf_buf_addc(&r->log, '\n');
	}
	r->events += b->event_count;
	r->stored += (int64_t)b->count;
	r->paired += b->paired_count;
	r->metadata += b->metadata_count;
	for (int k = PF_REPAIR_FIRST_SKIP; k < PF_REPAIR_KINDS; k++)
		r->skipped += b->repairs.of[k].count;
	pf_dict_settle(&p->names);
	pf_dict_settle(&p->args);
	pf_dict_settle(&p->tracks);
	pf_dict_settle(&p->categories);
	if (!last)
		pf_pfr_map_begin(m);
}

struct kept {
	struct pf_pfr_frame frame;
	unsigned char *payload;
};

static void map_all(struct pf_pfr_file *file, struct kept *kept, size_t count,
		    size_t batch_events, struct pfrread *r)
{
	struct pf_pfr_map m;

	pf_pfr_map_init(&m, file);
	pf_pfr_map_begin(&m);
	pf_pfr_file_describe(file, &m.sink);
	for (size_t i = 0; i < count; i++) {
		pf_pfr_map_frame(&m, &kept[i].frame);
		if (m.sink.parsed.batch.count >= batch_events)
			settle(&m, r, false);
		free(kept[i].payload);
	}
	pf_pfr_map_finish(&m);
	settle(&m, r, true);
	pf_pfr_map_release(&m);
}

bool pfrread(const void *data, size_t len, size_t read_bytes,
	     size_t batch_events, struct pfrread *r)
{
	struct source source = { data, len };
	struct pf_pfr_file file = { 0 };
	struct pf_pfr_scan scan;
	struct pf_pfr_frame f;
	struct pf_err err = { 0 };
	struct kept *kept = NULL;
	size_t count = 0, cap = 0;
	bool gap = false;

	memset(r, 0, sizeof(*r));
	if (pf_pfr_check_header(data, len, &err))
		return false;
	source.p += PF_PFR_HEADER_BYTES;
	source.left -= PF_PFR_HEADER_BYTES;
	pf_pfr_scan_init(&scan, take, &source, read_bytes);
	while (pf_pfr_scan_next(&scan, &f, &err) == 1) {
		pf_buf_add(&r->seqs, &f.seq, sizeof(f.seq));
		r->frames[f.type < 15 ? f.type : 15]++;
		r->good_bytes += PF_PFR_FRAME_BYTES + f.len;
		gap |= f.after_a_gap;
		if (f.type != PF_PFR_EVENTS) {
			pf_pfr_file_add(&file, &f);
			continue;
		}
		kept = pf_grow(kept, &cap, count + 1, sizeof(*kept));
		kept[count].payload = pf_alloc(f.len + 1u);
		memcpy(kept[count].payload, f.payload, f.len);
		kept[count].frame = f;
		kept[count].frame.payload = kept[count].payload;
		kept[count++].frame.after_a_gap = gap;
		gap = false;
	}
	r->loss = scan.loss;
	/* What is neither skipped nor a frame is padding. */
	r->good_bytes += scan.padding_bytes;
	pf_pfr_defs_seal(&file.defs);
	map_all(&file, kept, count, batch_events, r);
	free(kept);
	pf_pfr_scan_release(&scan);
	pf_pfr_file_release(&file);
	return true;
}

void pfrread_release(struct pfrread *r)
{
	pf_buf_release(&r->seqs);
	pf_buf_release(&r->log);
}

bool pfrread_adds_up(const struct pfrread *r, size_t len)
{
	return PF_PFR_HEADER_BYTES + r->good_bytes + r->loss.skipped_bytes ==
		       (int64_t)len &&
	       r->events == r->stored + r->paired + r->metadata + r->skipped;
}
