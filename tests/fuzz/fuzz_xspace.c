/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as an XSpace, in memory: refused, or events that are accounted
 * for, however few go into a batch.
 */
#include "config.h"

#include "fuzz/fuzz.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/tempfile.h"
#include "xspace/map.h"

struct reading {
	struct pf_xs_map map;
	struct pf_buf log; /* every event */
	int64_t events, stored, skipped;
};

static void log_text(struct pf_buf *log, const struct pf_dict *d, uint32_t i)
{
	if (i == PF_ID_NONE)
		return;
	FUZZ_CHECK(i < d->count);
	pf_buf_add(log, d->text.data + d->entries[i].text_at,
		   d->entries[i].text_len);
	pf_buf_addc(log, '\t');
}

static void log_event(struct reading *r, const struct pf_event *e)
{
	const struct pf_parsed *p = &r->map.parsed;

	FUZZ_CHECK(pf_time_fits(e->start_ns, e->dur_ns) && e->dur_ns >= 0);
	FUZZ_CHECK(e->type < p->batch.type_count && e->kind < PF_KIND_COUNT);
	log_text(&r->log, &p->names, e->name);
	log_text(&r->log, &p->args, e->args);
	log_text(&r->log, &p->tracks, e->track);
	log_text(&r->log, &p->categories, p->batch.types[e->type].category);
	pf_buf_addf(&r->log, "%d %" PRId64 " %" PRId64 " %" PRId64, e->kind,
		    e->start_ns, e->dur_ns, r->events + e->order);
	for (int k = 0; k < __builtin_popcount(e->mask); k++)
		pf_buf_addf(&r->log, " %" PRId64,
			    p->batch.slots[e->slot_at + (unsigned)k]);
	pf_buf_addc(&r->log, '\n');
}

static int settle(void *arg, struct pf_err *err)
{
	struct reading *r = arg;
	struct pf_parsed *p = &r->map.parsed;

	(void)err;
	for (size_t i = 0; i < p->batch.count; i++)
		log_event(r, &p->batch.events[i]);
	r->events += p->batch.event_count;
	r->stored += (int64_t)p->batch.count;
	for (int k = PF_REPAIR_FIRST_SKIP; k < PF_REPAIR_KINDS; k++)
		r->skipped += p->batch.repairs.of[k].count;
	pf_dict_settle(&p->names);
	pf_dict_settle(&p->args);
	pf_dict_settle(&p->tracks);
	pf_dict_settle(&p->categories);
	pf_xs_map_begin(&r->map);
	return 0;
}

static void read_all(struct reading *r, const uint8_t *data, size_t size,
		     size_t batch_events)
{
	struct pf_xs_bytes bytes;
	struct pf_xs_space space;
	struct pf_err err = { 0 };
	int rc;

	memset(r, 0, sizeof(*r));
	pf_xs_bytes_of_memory(&bytes, data, size);
	rc = pf_xs_space_read(&space, &bytes, pf_temp_dir(), &err);
	FUZZ_CHECK(!rc || err.code == PF_EDATA);
	if (!rc) {
		pf_xs_map_init(&r->map, &space);
		r->map.batch_events = batch_events;
		r->map.settle = settle;
		r->map.settle_arg = r;
		pf_xs_map_begin(&r->map);
		FUZZ_CHECK(!pf_xs_map_describe(&r->map, &err));
		for (size_t i = 0; i < space.plane_count; i++)
			FUZZ_CHECK(!pf_xs_map_plane(&r->map, &space.planes[i],
						    &err));
		settle(r, &err);
		pf_xs_map_release(&r->map);
	}
	FUZZ_CHECK(r->events == r->stored + r->skipped);
	pf_xs_space_release(&space);
	pf_xs_bytes_release(&bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct reading whole, parts;

	if (size > 1 << 18)
		return 0;
	pf_xs_claims((const char *)data, size < 16 ? size : 16);
	read_all(&whole, data, size, 1000);
	read_all(&parts, data, size, 1);
	FUZZ_CHECK(whole.events == parts.events);
	FUZZ_CHECK(whole.log.len == parts.log.len);
	FUZZ_CHECK(!whole.log.len ||
		   !memcmp(whole.log.data, parts.log.data, whole.log.len));
	pf_buf_release(&whole.log);
	pf_buf_release(&parts.log);
	return 0;
}
