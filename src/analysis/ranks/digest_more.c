/* SPDX-License-Identifier: MIT */
/* Beside the pass over GPU work: hosts, kernels by name, launches. */
#include "config.h"

#include <string.h>

#include "base/mem.h"
#include "base/order.h"
#include "base/sat.h"
#include "events/track_read.h"
#include "analysis/ranks/digest_impl.h"

/* ---- what hosts do ---- */

static enum pf_digest_host host_cause(enum pf_cause cause)
{
	switch (cause) {
	case PF_CAUSE_DATA:
		return PF_HOST_LOADS;
	case PF_CAUSE_GC:
		return PF_HOST_COLLECTS;
	case PF_CAUSE_COMPILE:
		return PF_HOST_COMPILES;
	case PF_CAUSE_ALLOCATOR:
		return PF_HOST_ALLOCATES;
	case PF_CAUSE_MODULE:
		return PF_HOST_LOADS_CODE;
	default:
		return PF_HOST_CAUSES;
	}
}

static int take_host(void *context, const struct pf_block *b, uint32_t i,
		     int64_t event_id, struct pf_err *err)
{
	struct making *m = context;
	const struct pf_name_class *name;
	unsigned kind = pf_names_kind(m->names, b->type[i]);
	struct host_span span;
	enum pf_cause cause;

	(void)event_id;
	if (kind > PF_KIND_OVERHEAD)
		return 0;
	name = pf_names_class(m->names, b->name[i], err);
	if (!name)
		return -1;
	cause = (enum pf_cause)(
		kind == PF_KIND_RUNTIME || kind == PF_KIND_DRIVER ? name->call
		: kind == PF_KIND_OVERHEAD ? name->overhead
					   : name->range);
	span.cause = (int64_t)host_cause(cause);
	if (span.cause == PF_HOST_CAUSES)
		return 0;
	span.start_ns = b->start_ns[i];
	span.end_ns = pf_span_end(b->start_ns[i], b->dur_ns[i]);
	return pf_sorter_add(m->hosts, &span, err);
}

int pf_digest_load_hosts(struct making *m, struct pf_err *err)
{
	const struct pf_track_reader reader = { .event = take_host };
	struct pf_track *tracks = NULL;
	size_t count = 0;
	int rc =
		pf_tracks_load(m->db, m->trace->trace_id, &tracks, &count, err);

	m->hosts = pf_sorter_temp(sizeof(struct host_span));
	for (size_t i = 0; !rc && i < count; i++)
		if (!strcmp(tracks[i].class_name, "host"))
			rc = pf_track_read(m->db, &tracks[i], &reader, m, err);
	pf_tracks_free(tracks, count);
	if (!rc)
		rc = pf_sorter_finish(m->hosts, err);
	if (!rc)
		m->host = pf_sorter_next(m->hosts, err);
	return rc || err->code ? -1 : 0;
}

/* ---- kernels ---- */

static int find_hash(struct making *m, uint32_t name, uint64_t *out,
		     struct pf_err *err)
{
	uint64_t *place = pf_map_at(&m->hashes, name);
	const char *text;

	if (*place == UINT64_MAX) {
		text = pf_gpu_name(m->gpu, name, err);
		if (!text)
			return -1;
		m->hash = pf_grow(m->hash, &m->hash_cap, m->hash_count + 1,
				  sizeof(*m->hash));
		m->hash[m->hash_count] = pf_digest_hash(text, strlen(text));
		*place = m->hash_count++;
	}
	*out = m->hash[*place];
	return 0;
}

int pf_digest_count_kernel(struct making *m, const struct pf_gpu_event *ev,
			   struct pf_err *err)
{
	struct pf_digest *d = &m->d;
	uint64_t *place = pf_map_at(&m->kernel_places, ev->name);
	struct pf_digest_kernel k = { 0 };

	if (*place == UINT64_MAX) {
		if (find_hash(m, ev->name, &k.name_hash, err) < 0)
			return -1;
		*place = d->kernel_count;
		d->kernels = pf_grow(d->kernels, &d->kernel_cap,
				     d->kernel_count + 1, sizeof(*d->kernels));
		d->kernels[d->kernel_count++] = k;
	}
	d->kernels[*place].count++;
	pf_sat_sum(&d->kernels[*place].ns, ev->dur_ns);
	return 0;
}

PF_ORDER(by_time, struct pf_digest_kernel, PF_DOWN(ns) PF_UP(name_hash))

PF_ORDER(by_hash, struct pf_digest_kernel, PF_UP(name_hash))

/* The longest, and the rest as one. */
void pf_digest_settle_kernels(struct making *m)
{
	struct pf_digest *d = &m->d;

	if (!d->kernel_count)
		return;
	pf_sort(d->kernels, d->kernel_count, sizeof(*d->kernels), by_time);
	for (size_t i = KERNELS_MAX; i < d->kernel_count; i++) {
		struct pf_digest_kernel *rest = &d->kernels[KERNELS_MAX - 1];

		rest->name_hash = 0;
		rest->count += d->kernels[i].count;
		pf_sat_sum(&rest->ns, d->kernels[i].ns);
	}
	if (d->kernel_count > KERNELS_MAX)
		d->kernel_count = KERNELS_MAX;
	pf_sort(d->kernels, d->kernel_count, sizeof(*d->kernels), by_hash);
}

/* ---- launches ---- */

/* In order of launches; of one instant collectives come first. */
struct in_order {
	int64_t at_ns, is_computation;
	int64_t end_ns, op;
};

/* By the calls, as far as they are known; else by the start of the work. */
static int order_launches(struct making *m, struct pf_sorter *order,
			  struct pf_err *err)
{
	const struct launched *l;
	const struct pf_block *b;
	uint32_t i;

	while ((l = pf_by_event_next(m->launches, &b, &i, err))) {
		struct in_order o = { b ? b->start_ns[i] : l->start_ns,
				      l->op < 0, l->end_ns, l->op };

		if (l->gate >= 0)
			pf_digest_confirm_gate(m, (size_t)l->gate, b,
					       b ? b->start_ns[i] : 0);
		if (pf_sorter_add(order, &o, err) < 0)
			return -1;
	}
	return err->code ? -1 : pf_sorter_finish(order, err);
}

/* What a collective needed: the computation that was launched before it. */
int pf_digest_settle_launches(struct making *m, struct pf_err *err)
{
	struct pf_sorter *order = pf_sorter_temp(sizeof(struct in_order));
	const struct in_order *o;
	int64_t end_ns = INT64_MIN;
	int rc = order_launches(m, order, err);

	while (!rc && (o = pf_sorter_next(order, err))) {
		struct pf_digest_op *op;
		size_t step;

		if (o->is_computation) {
			if (o->end_ns > end_ns)
				end_ns = o->end_ns;
			continue;
		}
		op = &m->d.ops[o->op];
		op->ready_ns = end_ns > o->at_ns ? end_ns : o->at_ns;
		if (op->ready_ns > op->start_ns)
			op->ready_ns = op->start_ns;
		step = pf_steps_at(m->steps, m->trace->trace_id, o->at_ns);
		if (step < m->steps->count)
			op->step = m->steps->items[step].step;
	}
	pf_sorter_free(order);
	return rc || err->code ? -1 : 0;
}
