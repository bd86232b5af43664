/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "fuzz/events.h"

#include <inttypes.h>
#include <string.h>

static void log_text(struct pf_buf *log, const struct pf_dict *d, uint32_t i)
{
	if (i == PF_ID_NONE)
		return;
	FUZZ_CHECK(i < d->count);
	pf_buf_add(log, d->text.data + d->entries[i].text_at,
		   d->entries[i].text_len);
	pf_buf_addc(log, '\t');
}

static void log_event(struct fuzz_events *x, const struct pf_parsed *p,
		      const struct pf_event *e)
{
	FUZZ_CHECK(pf_time_fits(e->start_ns, e->dur_ns) && e->dur_ns >= 0);
	FUZZ_CHECK(e->type < p->batch.type_count && e->kind < PF_KIND_COUNT);
	log_text(&x->log, &p->names, e->name);
	log_text(&x->log, &p->args, e->args);
	log_text(&x->log, &p->tracks, e->track);
	log_text(&x->log, &p->categories, p->batch.types[e->type].category);
	pf_buf_addf(&x->log, "%d %" PRId64 " %" PRId64 " %" PRId64, e->kind,
		    e->start_ns, e->dur_ns, x->events + e->order);
	for (int k = 0; k < __builtin_popcount(e->mask); k++)
		pf_buf_addf(&x->log, " %" PRId64,
			    p->batch.slots[e->slot_at + (unsigned)k]);
	pf_buf_addc(&x->log, '\n');
}

void fuzz_events_take(struct fuzz_events *x, struct pf_parsed *p)
{
	for (size_t i = 0; i < p->batch.count; i++)
		log_event(x, p, &p->batch.events[i]);
	x->events += p->batch.event_count;
	x->stored += (int64_t)p->batch.count;
	x->metadata += p->batch.metadata_count;
	x->paired += p->batch.paired_count;
	for (int k = PF_REPAIR_FIRST_SKIP; k < PF_REPAIR_KINDS; k++)
		x->skipped += p->batch.repairs.of[k].count;
	pf_dict_settle(&p->names);
	pf_dict_settle(&p->args);
	pf_dict_settle(&p->tracks);
	pf_dict_settle(&p->categories);
}

void fuzz_events_check(const struct fuzz_events *x)
{
	FUZZ_CHECK(x->events ==
		   x->stored + x->metadata + x->paired + x->skipped);
}

void fuzz_events_same(struct fuzz_events *a, struct fuzz_events *b)
{
	FUZZ_CHECK(a->events == b->events);
	FUZZ_CHECK(a->log.len == b->log.len);
	FUZZ_CHECK(!a->log.len ||
		   !memcmp(a->log.data, b->log.data, a->log.len));
	pf_buf_release(&a->log);
	pf_buf_release(&b->log);
}
