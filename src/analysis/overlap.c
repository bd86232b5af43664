/* SPDX-License-Identifier: MIT */
/* Each device of a trace has a sweep with a set per class. */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>

#include "events/interval.h"
#include "analysis/overlap.h"
#include "events/trust.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/sat.h"
#include "table/rows.h"

#define BIT(set) (1u << (set))
#define ALL_BITS (BIT(PF_GPU_CLASSES) - 1)

/* What is being swept. */
struct overlap {
	struct pf_overlap *out;
	struct device {
		struct pf_sweep sweep;
		int64_t count, hi_ns;
	} * devices; /* as those of "out" */
	size_t cap, out_cap, first;
};

static void figure(struct pf_sweep *s, int64_t count,
		   struct pf_overlap_figures *out)
{
	unsigned compute = BIT(PF_GPU_COMPUTE), comm = BIT(PF_GPU_COMM);
	unsigned copy = BIT(PF_GPU_COPY), memset_bit = BIT(PF_GPU_MEMSET);

	out->event_count += count;
	pf_sat_sum(&out->total_ns, pf_sweep_time(s, 0, 0, 0));
	pf_sat_sum(&out->busy_ns, pf_sweep_time(s, ALL_BITS, 0, 0));
	pf_sat_sum(&out->idle_ns, pf_sweep_time(s, 0, 0, ALL_BITS));
	pf_sat_sum(&out->computation_ns, pf_sweep_time(s, 0, compute, 0));
	pf_sat_sum(&out->exposed_comm_ns, pf_sweep_time(s, 0, comm, compute));
	pf_sat_sum(&out->exposed_copy_ns,
		   pf_sweep_time(s, 0, copy, compute | comm));
	pf_sat_sum(&out->exposed_memset_ns,
		   pf_sweep_time(s, 0, memset_bit, compute | comm | copy));
	pf_sat_sum(&out->comm_ns, pf_sweep_time(s, 0, comm, 0));
	pf_sat_sum(&out->copy_ns, pf_sweep_time(s, 0, copy, 0));
	pf_sat_sum(&out->memset_ns, pf_sweep_time(s, 0, memset_bit, 0));
	pf_sat_sum(&out->overlap_ns, pf_sweep_time(s, 0, comm | compute, 0));
	for (unsigned mask = 1; mask <= ALL_BITS; mask++)
		pf_sat_sum(&out->together_ns[mask],
			   pf_sweep_time(s, 0, mask, ALL_BITS & ~mask));
}

static void add_shares(struct pf_overlap_figures *f)
{
	f->computation_share = pf_ratio((double)f->computation_ns, f->total_ns);
	f->exposed_comm_share =
		pf_ratio((double)f->exposed_comm_ns, f->total_ns);
	f->exposed_copy_share =
		pf_ratio((double)f->exposed_copy_ns, f->total_ns);
	f->exposed_memset_share =
		pf_ratio((double)f->exposed_memset_ns, f->total_ns);
	f->idle_share = pf_ratio((double)f->idle_ns, f->total_ns);
	f->overlap_share = pf_ratio((double)f->overlap_ns, f->comm_ns);
}

static struct device *find_device(struct overlap *o,
				  const struct pf_gpu_event *ev)
{
	struct pf_overlap *out = o->out;
	size_t n = out->device_count;
	struct device *d;

	for (size_t i = o->first; i < n; i++)
		if (out->devices[i].device == ev->device)
			return &o->devices[i];
	out->devices = pf_grow(out->devices, &o->out_cap, n + 1,
			       sizeof(*out->devices));
	out->devices[n] =
		(struct pf_overlap_device){ .trace_id = ev->trace->trace_id,
					    .rank = ev->trace->rank,
					    .device = ev->device };
	o->devices = pf_grow(o->devices, &o->cap, n + 1, sizeof(*o->devices));
	d = &o->devices[n];
	d->count = 0;
	d->hi_ns = ev->trace->hi_ns;
	pf_sweep_init(&d->sweep);
	pf_sweep_begin(&d->sweep, ev->trace->lo_ns);
	out->device_count++;
	pf_gpu_set_add(&out->gpus, ev->trace, ev->device);
	return d;
}

static int gather(struct pf_gpu *gpu, struct overlap *o, struct pf_err *err)
{
	const struct pf_gpu_event *ev;
	int rc;

	while ((rc = pf_gpu_next(gpu, &ev, err)) == 1) {
		struct device *d;

		if (ev->is_first_of_trace)
			o->first = o->out->device_count;
		d = find_device(o, ev);
		if (ev->is_outside)
			continue;
		d->count++;
		pf_sweep_add(&d->sweep, ev->class, ev->start_ns, ev->end_ns);
		if (ev->class == PF_GPU_COMM &&
		    pf_comm_table_add(o->out->comm, gpu, ev, err) < 0)
			return -1;
	}
	return rc;
}

static int by_device(const void *a, const void *b)
{
	const struct pf_overlap_device *x = a, *y = b;

	if (x->trace_id != y->trace_id)
		return x->trace_id < y->trace_id ? -1 : 1;
	return (x->device > y->device) - (x->device < y->device);
}

static void take_together(struct pf_overlap *o)
{
	for (unsigned mask = 1; mask <= ALL_BITS; mask++) {
		int64_t ns = o->all.together_ns[mask];
		struct pf_buf name = { 0 };

		if (!ns)
			continue;
		for (unsigned c = 0; c < PF_GPU_CLASSES; c++)
			if (mask & BIT(c))
				pf_buf_addf(&name, "%s%s", name.len ? ", " : "",
					    pf_gpu_class_name(c));
		o->together[o->together_count++] = (struct pf_overlap_together){
			pf_arena_string(&o->texts, name.data), ns,
			pf_num_share(ns, o->all.busy_ns)
		};
		pf_buf_release(&name);
	}
}

/* Time on one GPU hides nothing on another: figures of all are sums. */
static void add_up(struct overlap *o)
{
	struct pf_overlap *out = o->out;

	for (size_t i = 0; i < out->device_count; i++) {
		struct device *d = &o->devices[i];

		pf_sweep_to(&d->sweep, d->hi_ns);
		figure(&d->sweep, d->count, &out->devices[i].f);
		figure(&d->sweep, d->count, &out->all);
		add_shares(&out->devices[i].f);
	}
	add_shares(&out->all);
	take_together(out);
	if (out->device_count)
		qsort(out->devices, out->device_count, sizeof(*out->devices),
		      by_device);
}

int pf_overlap_find(struct pf_db *db, const struct pf_overlap_args *args,
		    struct pf_overlap *out, struct pf_err *err)
{
	struct overlap o = { .out = out };
	struct pf_gpu *gpu = NULL;
	int rc = pf_window_resolve(db, &args->window, &out->window, err);

	if (!rc)
		rc = pf_arrivals_find(db, &out->window, &out->arrivals, err);
	if (!rc)
		rc = pf_window_to_steps(db, &out->window, &out->step_count,
					NULL, err);
	if (!rc) {
		out->comm = pf_comm_table_new(db);
		gpu = pf_gpu_new(db, &out->window, PF_GPU_OUTSIDE, err);
		rc = gpu ? gather(gpu, &o, err) : -1;
	}
	if (!rc) {
		add_up(&o);
		out->collectives =
			pf_comm_table_rows(out->comm, &out->collective_count);
	}
	pf_gpu_free(gpu);
	free(o.devices);
	return rc;
}

void pf_overlap_release(struct pf_overlap *o)
{
	pf_comm_table_free(o->comm);
	pf_arrivals_release(&o->arrivals);
	pf_arena_release(&o->texts);
	free(o->devices);
	pf_gpu_set_release(&o->gpus);
	pf_window_release(&o->window);
	*o = (struct pf_overlap){ 0 };
}

/* ---- how it is said ---- */

static void add_finding(struct pf_doc *doc, const struct pf_overlap *o)
{
	const struct pf_overlap_figures *f = &o->all;
	char comm[PF_NUM_MAX];
	struct pf_buf text = { 0 };

	doc->is_nothing = !o->device_count;
	if (!o->device_count) {
		pf_doc_finding(doc, "%s", pf_window_no_work(&o->window));
		return;
	}
	if (o->gpus.count > 1)
		pf_buf_addf(&text, "%zu GPUs busy ", o->gpus.count);
	else
		pf_buf_addf(&text, "GPU busy ");
	pf_window_say_part(&text, f->busy_ns, f->total_ns, o->step_count);
	if (!f->comm_ns)
		pf_buf_addf(&text, ", without any communication");
	else
		pf_buf_addf(&text,
			    "; %s of the communication hides behind "
			    "computation",
			    pf_num_show_ratio(comm, pf_num_share(f->overlap_ns,
								 f->comm_ns)));
	pf_doc_finding(doc, "%.*s", (int)text.len, text.data);
	pf_buf_release(&text);
}

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct pf_overlap, all.member, key, title, kind)
static const struct pf_field figures[] = {
	FIELD(total_ns, "total_ns", "Total", PF_NS),
	FIELD(busy_ns, "busy_ns", "Busy", PF_NS),
	FIELD(idle_ns, "idle_ns", "Idle", PF_NS),
	FIELD(computation_ns, "computation_ns", "Computation", PF_NS),
	FIELD(exposed_comm_ns, "exposed_comm_ns", "Exposed communication",
	      PF_NS),
	FIELD(exposed_copy_ns, "exposed_copy_ns", "Exposed copies", PF_NS),
	FIELD(exposed_memset_ns, "exposed_memset_ns", "Exposed memsets", PF_NS),
	FIELD(comm_ns, "comm_ns", "Communication", PF_NS),
	FIELD(overlap_ns, "overlap_ns", "of it behind computation", PF_NS),
	FIELD(copy_ns, "copy_ns", "Copies", PF_NS),
	FIELD(memset_ns, "memset_ns", "Memsets", PF_NS),
	FIELD(event_count, "event_count", "GPU events", PF_COUNT),
};
#undef FIELD

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct pf_overlap_device, member, key, title, kind)
static const struct pf_field device_fields[] = {
	FIELD(rank, "rank", "Rank", PF_INT | PF_KNOWN),
	FIELD(device, "device", "GPU", PF_INT | PF_KNOWN),
	FIELD(f.total_ns, "total_ns", "Total", PF_NS),
	FIELD(f.busy_ns, "busy_ns", "Busy", PF_NS | PF_FULL),
	FIELD(f.idle_ns, "idle_ns", "Idle", PF_NS | PF_FULL),
	FIELD(f.computation_ns, "computation_ns", "Computation",
	      PF_NS | PF_FULL),
	FIELD(f.exposed_comm_ns, "exposed_comm_ns", "Comm", PF_NS | PF_FULL),
	FIELD(f.exposed_copy_ns, "exposed_copy_ns", "Copies", PF_NS | PF_FULL),
	FIELD(f.exposed_memset_ns, "exposed_memset_ns", "Memsets",
	      PF_NS | PF_FULL),
	FIELD(f.comm_ns, "comm_ns", "Communication", PF_NS | PF_FULL),
	FIELD(f.overlap_ns, "overlap_ns", "Overlap", PF_NS | PF_FULL),
	FIELD(f.computation_share, "computation_share", "Compute",
	      PF_RATIO | PF_BRIEF),
	FIELD(f.exposed_comm_share, "exposed_comm_share", "Comm",
	      PF_RATIO | PF_BRIEF),
	FIELD(f.exposed_copy_share, "exposed_copy_share", "Copies",
	      PF_RATIO | PF_BRIEF),
	FIELD(f.exposed_memset_share, "exposed_memset_share", "Memsets",
	      PF_RATIO | PF_BRIEF),
	FIELD(f.idle_share, "idle_share", "Idle", PF_RATIO | PF_BRIEF),
	FIELD(f.overlap_share, "overlap_share", "Hidden", PF_RATIO),
	FIELD(f.event_count, "event_count", "Events", PF_COUNT | PF_FULL),
	FIELD(trace_id, "trace_id", "Trace", PF_INT | PF_FULL),
};
#undef FIELD

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct pf_overlap_together, member, key, title, kind)
static const struct pf_field together_fields[] = {
	FIELD(classes, "classes", "Running together", PF_TEXT),
	FIELD(ns, "ns", "Time", PF_NS),
	FIELD(busy_share, "busy_share", "Of busy", PF_RATIO),
};

void pf_overlap_show(const struct pf_overlap *o, struct pf_doc *doc)
{
	add_finding(doc, o);
	PF_SCALARS(doc, figures, *o);
	PF_WINDOW_ROWS(&o->window, doc, "devices",
		       "By GPU, each instant counted once, from left to right",
		       device_fields, o->devices, o->device_count);
	PF_ROWS(doc, "together", "What runs at the same time", together_fields,
		o->together, o->together_count);
	pf_comm_table_show(o->comm, doc);
	pf_arrivals_show(&o->arrivals, doc);
}

int pf_overlap(struct pf_db *db, const struct pf_overlap_args *args,
	       struct pf_overlap *kept, struct pf_doc *doc, struct pf_err *err)
{
	struct pf_overlap own = { 0 }, *o = kept ? kept : &own;
	int rc = pf_overlap_find(db, args, o, err);

	if (!rc) {
		pf_overlap_show(o, doc);
		rc = pf_trust_note(db, &o->window, PF_TRUST_WORK, doc, err);
	}
	pf_overlap_release(&own);
	return rc;
}
