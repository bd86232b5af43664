/* SPDX-License-Identifier: MIT */
/*
 * Sends and receives of a trace, and the time without computation that the end
 * of one ended.  What a kernel moves is said by its arguments; that of several
 * messages at once says nothing, and moves those that were recorded on its
 * launching thread since the kernel before, and have no kernel of their own.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"
#include "base/sat.h"
#include "events/track_read.h"
#include "analysis/ranks/digest_impl.h"

#define QUIETS_MAX 32 /* of a kernel */

/* ---- messages ---- */

static void add_message(struct making *m, struct pf_digest_p2p *p,
			const struct what *what)
{
	struct pf_digest *d = &m->d;

	if (!p->message_count)
		p->message_from = d->message_count;
	d->messages = pf_grow(d->messages, &d->message_cap,
			      d->message_count + 1, sizeof(*d->messages));
	d->messages[d->message_count++] = (struct pf_digest_message){
		.peer = what->peer,
		.bytes = what->bytes,
		.group = (uint32_t)what->group,
		.is_receive = what->p2p == PF_P2P_RECEIVE,
	};
	p->message_count++;
}

void pf_digest_take_p2p(struct making *m, const struct pf_gpu_event *ev,
			const struct what *what, int64_t end_ns)
{
	struct pf_digest *d = &m->d;
	size_t n = d->p2p_count;

	if (what->p2p == PF_P2P_SEVERAL) {
		m->unsaid = pf_grow(m->unsaid, &m->unsaid_cap,
				    m->unsaid_count + 1, sizeof(*m->unsaid));
		m->unsaid[m->unsaid_count++] =
			(struct unsaid){ ev->launch_id, n };
	} else if (ev->comm.record_id) {
		uint64_t *place = pf_map_at(&m->p2p_records,
					    (uint64_t)ev->comm.record_id);

		if (*place != UINT64_MAX) {
			if (end_ns > d->p2ps[*place].end_ns)
				d->p2ps[*place].end_ns = end_ns;
			return;
		}
		*place = n;
	}
	d->p2ps = pf_grow(d->p2ps, &d->p2p_cap, n + 1, sizeof(*d->p2ps));
	d->p2ps[d->p2p_count++] = (struct pf_digest_p2p){
		.start_ns = ev->start_ns,
		.end_ns = end_ns,
	};
	if (what->p2p != PF_P2P_SEVERAL)
		add_message(m, &d->p2ps[n], what);
	if (what->p2p == PF_P2P_SEND)
		return; /* nothing waits for its end */
	m->received = pf_grow(m->received, &m->received_cap,
			      m->received_count + 1, sizeof(*m->received));
	m->received[m->received_count++] = n;
}

/* ---- time without computation ---- */

static void add_quiet(struct making *m, size_t p2p, struct pf_digest_piece q)
{
	struct pf_digest *d = &m->d;
	struct pf_digest_p2p *p = &d->p2ps[p2p];

	if (!p->quiet_count)
		p->quiet_from = d->quiet_count;
	if (p->quiet_count == QUIETS_MAX) {
		pf_sat_sum(&p->unsplit_ns, q.ns);
		return;
	}
	d->quiets = pf_grow(d->quiets, &d->quiet_cap, d->quiet_count + 1,
			    sizeof(*d->quiets));
	q.after_ns -= p->start_ns;
	d->quiets[d->quiet_count++] = q;
	p->quiet_count++;
}

/* How long nothing ran since an instant. */
static int64_t quiet_since(const struct making *m, int64_t at_ns)
{
	int64_t sum = 0;

	for (size_t i = m->quiet_count; i-- > 0;) {
		const struct pf_digest_piece *q = &m->quiets[i];

		if (q->after_ns + q->ns <= at_ns)
			break;
		sum += q->after_ns < at_ns ? q->after_ns + q->ns - at_ns
					   : q->ns;
	}
	return sum;
}

/* What was received last, since computation had ended. */
static size_t find_gate(struct making *m, int64_t start_ns)
{
	size_t kept = 0, gate = NO_OP;

	for (size_t i = 0; i < m->received_count; i++) {
		size_t n = m->received[i];
		int64_t end_ns = m->d.p2ps[n].end_ns;

		if (end_ns > start_ns)
			m->received[kept++] = n;
		else if ((!m->has_computed ||
			  m->computed_ns <= end_ns - BEFORE_NS) &&
			 (gate == NO_OP || end_ns >= m->d.p2ps[gate].end_ns))
			gate = n;
	}
	m->received_count = kept;
	return gate;
}

/* Work that is no send nor receive begins. */
static void end_quiet(struct making *m, int64_t start_ns, int64_t end_ns)
{
	if (start_ns > m->busy_ns) {
		m->quiets = pf_grow(m->quiets, &m->quiet_cap,
				    m->quiet_count + 1, sizeof(*m->quiets));
		m->quiets[m->quiet_count++] =
			(struct pf_digest_piece){ m->busy_ns,
						  start_ns - m->busy_ns };
	}
	if (end_ns > m->busy_ns)
		m->busy_ns = end_ns;
}

void pf_digest_take_other(struct making *m, int64_t start_ns, int64_t end_ns)
{
	end_quiet(m, start_ns, end_ns);
}

/*
 * Computation waited for what was received if it, or other work before it,
 * began at once.  Else its host may have waited: then it is launched later.
 */
size_t pf_digest_compute(struct making *m, int64_t start_ns, int64_t end_ns)
{
	size_t gate;
	bool is_sure;

	end_quiet(m, start_ns, end_ns);
	gate = find_gate(m, start_ns);
	is_sure = gate == NO_OP ||
		  quiet_since(m, m->d.p2ps[gate].end_ns) <= GATE_NS;
	for (size_t i = 0; gate != NO_OP && i < m->quiet_count; i++)
		add_quiet(m, gate, m->quiets[i]);
	m->quiet_count = 0;
	return is_sure ? NO_OP : gate;
}

/* When the launch call of computation began; has_call: if it is known. */
void pf_digest_confirm_gate(struct making *m, size_t gate, bool has_call,
			    int64_t call_ns)
{
	struct pf_digest_p2p *p = &m->d.p2ps[gate];

	if (has_call && call_ns >= p->end_ns)
		return;
	p->quiet_count = 0;
	p->unsplit_ns = 0;
}

/* ---- messages without a kernel of their own ---- */

struct recorded {
	int64_t event_id;
	struct what what;
};

struct recording {
	struct making *m;
	struct pf_map is_record; /* string.id -> 1: a record */
	struct recorded *items;
	size_t count, cap;
};

static int is_record(struct recording *r, uint32_t name, struct pf_err *err)
{
	uint64_t *place = pf_map_at(&r->is_record, name);
	const char *text;

	if (*place == UINT64_MAX) {
		if (pf_texts_get(&r->m->texts, PF_TEXT_NAME, name, &text, NULL,
				 err) < 0)
			return -1;
		*place = !strcmp(text, "record_param_comms");
	}
	return (int)*place;
}

static int take_record(void *context, const struct pf_block *b, uint32_t i,
		       int64_t event_id, struct pf_err *err)
{
	struct recording *r = context;
	struct recorded one = { .event_id = event_id };
	int rc;

	if (pf_names_kind(r->m->names, b->type[i]) != PF_KIND_CPU_OP ||
	    b->name[i] >= PF_ID_INLINE ||
	    pf_map_has(&r->m->p2p_records, (uint64_t)event_id))
		return 0;
	rc = is_record(r, b->name[i], err);
	if (rc == 1)
		rc = pf_digest_find_message(r->m, b->args[i], &one.what, err);
	if (rc != 1)
		return rc;
	r->items = pf_grow(r->items, &r->cap, r->count + 1, sizeof(*r->items));
	r->items[r->count++] = one;
	return 0;
}

PF_ORDER(by_event, struct recorded, PF_UP(event_id))

PF_ORDER(by_launch, struct unsaid, PF_UP(launch_id) PF_UP(p2p))

/* Ids of events are in the order of a thread, threads one after the other. */
static void give_messages(struct recording *r)
{
	struct making *m = r->m;
	size_t at = 0;

	pf_sort(r->items, r->count, sizeof(*r->items), by_event);
	pf_sort(m->unsaid, m->unsaid_count, sizeof(*m->unsaid), by_launch);
	for (size_t i = 0; i < m->unsaid_count; i++) {
		const struct unsaid *u = &m->unsaid[i];

		for (; at < r->count && r->items[at].event_id < u->launch_id;
		     at++)
			if (r->items[at].event_id >> 32 == u->launch_id >> 32)
				add_message(m, &m->d.p2ps[u->p2p],
					    &r->items[at].what);
	}
}

int pf_digest_settle_p2p(struct making *m, struct pf_err *err)
{
	const struct pf_track_reader reader = {
		.event = take_record, .columns = PF_COLBIT(PF_COL_ARGS)
	};
	struct recording r = { .m = m };
	struct pf_track *tracks = NULL;
	size_t count = 0;
	int rc;

	m->d.knows_p2p = true;
	if (!m->unsaid_count)
		return 0;
	pf_map_init(&r.is_record);
	rc = pf_tracks_load(m->db, m->trace->trace_id, &tracks, &count, err);
	for (size_t i = 0; !rc && i < count; i++)
		if (!strcmp(tracks[i].class_name, "host"))
			rc = pf_track_read(m->db, &tracks[i], &reader, &r, err);
	if (!rc)
		give_messages(&r);
	pf_tracks_free(tracks, count);
	pf_map_release(&r.is_record);
	free(r.items);
	return rc;
}

void pf_digest_end_p2p(struct making *m)
{
	pf_map_release(&m->p2p_records);
	free(m->unsaid);
	free(m->received);
	free(m->quiets);
}
