/* SPDX-License-Identifier: MIT */
/* Each device of a trace has a sweep with a set per class. */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analysis/arrival.h"
#include "analysis/comm_table.h"
#include "events/gpu.h"
#include "events/interval.h"
#include "analysis/overlap.h"
#include "events/trust.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/sat.h"

#define BIT(class) (1u << (class))
#define ALL_BITS   (BIT(PF_GPU_CLASSES) - 1)

struct figures {
	int64_t total, busy, idle, computation, exposed_comm, exposed_copy,
		exposed_memset, comm, overlap, copy, memset, count;
	int64_t together[1 << PF_GPU_CLASSES]; /* exactly these classes run */
};

struct device {
	int64_t trace_id, rank, device, count, hi_ns;
	struct pf_sweep sweep;
	struct figures figures;
};

struct overlap {
	struct device *devices; /* those of one trace after another */
	size_t count, cap, first;
	struct figures all;
	int64_t step_count; /* of the window, or 0 */
	struct pf_comm_table *comm;
};

static void figure(struct pf_sweep *s, int64_t count, struct figures *out)
{
	unsigned compute = BIT(PF_GPU_COMPUTE), comm = BIT(PF_GPU_COMM);
	unsigned copy = BIT(PF_GPU_COPY), memset_bit = BIT(PF_GPU_MEMSET);

	out->count += count;
	pf_sat_sum(&out->total, pf_sweep_time(s, 0, 0, 0));
	pf_sat_sum(&out->busy, pf_sweep_time(s, ALL_BITS, 0, 0));
	pf_sat_sum(&out->idle, pf_sweep_time(s, 0, 0, ALL_BITS));
	pf_sat_sum(&out->computation, pf_sweep_time(s, 0, compute, 0));
	pf_sat_sum(&out->exposed_comm, pf_sweep_time(s, 0, comm, compute));
	pf_sat_sum(&out->exposed_copy,
		   pf_sweep_time(s, 0, copy, compute | comm));
	pf_sat_sum(&out->exposed_memset,
		   pf_sweep_time(s, 0, memset_bit, compute | comm | copy));
	pf_sat_sum(&out->comm, pf_sweep_time(s, 0, comm, 0));
	pf_sat_sum(&out->copy, pf_sweep_time(s, 0, copy, 0));
	pf_sat_sum(&out->memset, pf_sweep_time(s, 0, memset_bit, 0));
	pf_sat_sum(&out->overlap, pf_sweep_time(s, 0, comm | compute, 0));
	for (unsigned mask = 1; mask <= ALL_BITS; mask++)
		pf_sat_sum(&out->together[mask],
			   pf_sweep_time(s, 0, mask, ALL_BITS & ~mask));
}

static struct device *find_device(struct overlap *o,
				  const struct pf_gpu_event *ev)
{
	struct device *d;

	for (size_t i = o->first; i < o->count; i++)
		if (o->devices[i].device == ev->device)
			return &o->devices[i];
	o->devices =
		pf_grow(o->devices, &o->cap, o->count + 1, sizeof(*o->devices));
	d = &o->devices[o->count++];
	d->trace_id = ev->trace->trace_id;
	d->rank = ev->trace->rank;
	d->device = ev->device;
	d->count = 0;
	d->hi_ns = ev->trace->hi_ns;
	pf_sweep_init(&d->sweep);
	pf_sweep_begin(&d->sweep, ev->trace->lo_ns);
	return d;
}

static int gather(struct pf_gpu *gpu, struct overlap *o, struct pf_err *err)
{
	const struct pf_gpu_event *ev;
	int rc;

	while ((rc = pf_gpu_next(gpu, &ev, err)) == 1) {
		struct device *d;

		if (ev->is_first_of_trace)
			o->first = o->count;
		d = find_device(o, ev);
		d->count++;
		pf_sweep_add(&d->sweep, ev->class, ev->start_ns, ev->end_ns);
		if (ev->class == PF_GPU_COMM &&
		    pf_comm_table_add(o->comm, gpu, ev, err) < 0)
			return -1;
	}
	return rc;
}

static int by_device(const void *a, const void *b)
{
	const struct device *x = a, *y = b;

	if (x->trace_id != y->trace_id)
		return x->trace_id < y->trace_id ? -1 : 1;
	return (x->device > y->device) - (x->device < y->device);
}

static void add_finding(struct pf_doc *doc, const struct overlap *o)
{
	const struct figures *f = &o->all;
	char comm[PF_NUM_MAX];
	struct pf_buf text = { 0 };

	doc->is_nothing = !f->count;
	if (!f->count) {
		pf_doc_finding(doc, "There is no GPU work");
		return;
	}
	if (o->count > 1)
		pf_buf_addf(&text, "%zu GPUs busy ", o->count);
	else
		pf_buf_addf(&text, "GPU busy ");
	pf_window_say_part(&text, f->busy, f->total, o->step_count);
	if (!f->comm)
		pf_buf_addf(&text, ", without any communication");
	else
		pf_buf_addf(&text,
			    "; %s of the communication hides behind "
			    "computation",
			    pf_num_show_ratio(
				    comm, pf_num_share(f->overlap, f->comm)));
	pf_doc_finding(doc, "%.*s", (int)text.len, text.data);
	pf_buf_release(&text);
}

static void add_scalars(struct pf_doc *doc, const struct figures *f)
{
	pf_doc_int(doc, "total_ns", "Total", PF_NS, f->total);
	pf_doc_int(doc, "busy_ns", "Busy", PF_NS, f->busy);
	pf_doc_int(doc, "idle_ns", "Idle", PF_NS, f->idle);
	pf_doc_int(doc, "computation_ns", "Computation", PF_NS, f->computation);
	pf_doc_int(doc, "exposed_comm_ns", "Exposed communication", PF_NS,
		   f->exposed_comm);
	pf_doc_int(doc, "exposed_copy_ns", "Exposed copies", PF_NS,
		   f->exposed_copy);
	pf_doc_int(doc, "exposed_memset_ns", "Exposed memsets", PF_NS,
		   f->exposed_memset);
	pf_doc_int(doc, "comm_ns", "Communication", PF_NS, f->comm);
	pf_doc_int(doc, "overlap_ns", "of it behind computation", PF_NS,
		   f->overlap);
	pf_doc_int(doc, "copy_ns", "Copies", PF_NS, f->copy);
	pf_doc_int(doc, "memset_ns", "Memsets", PF_NS, f->memset);
	pf_doc_int(doc, "event_count", "GPU events", PF_COUNT, f->count);
}

static void add_device(struct pf_table *t, const struct device *d)
{
	const struct figures f = d->figures;

	pf_table_known(t, d->rank);
	pf_table_known(t, d->device);
	pf_table_int(t, f.total);
	pf_table_int(t, f.busy);
	pf_table_int(t, f.idle);
	pf_table_int(t, f.computation);
	pf_table_int(t, f.exposed_comm);
	pf_table_int(t, f.exposed_copy);
	pf_table_int(t, f.exposed_memset);
	pf_table_int(t, f.comm);
	pf_table_int(t, f.overlap);
	pf_table_ratio(t, f.computation, f.total);
	pf_table_ratio(t, f.exposed_comm, f.total);
	pf_table_ratio(t, f.exposed_copy, f.total);
	pf_table_ratio(t, f.exposed_memset, f.total);
	pf_table_ratio(t, f.idle, f.total);
	pf_table_ratio(t, f.overlap, f.comm);
	pf_table_int(t, f.count);
	pf_table_int(t, d->trace_id);
}

/* Time on one GPU hides nothing on another: figures of all are sums. */
static void add_up(struct overlap *o)
{
	if (o->count)
		qsort(o->devices, o->count, sizeof(*o->devices), by_device);
	for (size_t i = 0; i < o->count; i++) {
		struct device *d = &o->devices[i];

		d->figures = (struct figures){ 0 };
		pf_sweep_to(&d->sweep, d->hi_ns);
		figure(&d->sweep, d->count, &d->figures);
		figure(&d->sweep, d->count, &o->all);
	}
}

static void add_devices(struct pf_doc *doc, const struct overlap *o)
{
	static const struct pf_col cols[] = {
		{ "rank", "Rank", PF_INT },
		{ "device", "GPU", PF_INT },
		{ "total_ns", "Total", PF_NS },
		{ "busy_ns", "Busy", PF_NS | PF_FULL },
		{ "idle_ns", "Idle", PF_NS | PF_FULL },
		{ "computation_ns", "Computation", PF_NS | PF_FULL },
		{ "exposed_comm_ns", "Comm", PF_NS | PF_FULL },
		{ "exposed_copy_ns", "Copies", PF_NS | PF_FULL },
		{ "exposed_memset_ns", "Memsets", PF_NS | PF_FULL },
		{ "comm_ns", "Communication", PF_NS | PF_FULL },
		{ "overlap_ns", "Overlap", PF_NS | PF_FULL },
		{ "computation_share", "Compute", PF_RATIO | PF_BRIEF },
		{ "exposed_comm_share", "Comm", PF_RATIO | PF_BRIEF },
		{ "exposed_copy_share", "Copies", PF_RATIO | PF_BRIEF },
		{ "exposed_memset_share", "Memsets", PF_RATIO | PF_BRIEF },
		{ "idle_share", "Idle", PF_RATIO | PF_BRIEF },
		{ "overlap_share", "Hidden", PF_RATIO },
		{ "event_count", "Events", PF_COUNT | PF_FULL },
		{ "trace_id", "Trace", PF_INT | PF_FULL },
	};
	struct pf_table *t = pf_doc_table(
		doc, "devices",
		"By GPU, each instant counted once, from left to right", cols,
		sizeof(cols) / sizeof(*cols));

	for (size_t i = 0; i < o->count; i++)
		add_device(t, &o->devices[i]);
}

static void add_together(struct pf_doc *doc, const struct figures *f)
{
	static const struct pf_col cols[] = {
		{ "classes", "Running together", PF_TEXT },
		{ "ns", "Time", PF_NS },
		{ "busy_share", "Of busy", PF_RATIO },
	};
	struct pf_table *t =
		pf_doc_table(doc, "together", "What runs at the same time",
			     cols, sizeof(cols) / sizeof(*cols));

	for (unsigned mask = 1; mask <= ALL_BITS; mask++) {
		struct pf_buf name = { 0 };

		if (!f->together[mask])
			continue;
		for (unsigned class = 0; class < PF_GPU_CLASSES; class ++)
			if (mask & BIT(class))
				pf_buf_addf(&name, "%s%s", name.len ? ", " : "",
					    pf_gpu_class_name(class));
		pf_table_string(t, name.data);
		pf_table_int(t, f->together[mask]);
		pf_table_real(t, pf_num_share(f->together[mask], f->busy));
		pf_buf_release(&name);
	}
}

int pf_overlap(struct pf_db *db, const struct pf_overlap_args *args,
	       struct pf_doc *doc, struct pf_err *err)
{
	struct pf_window window = { 0 }, asked = { 0 };
	struct overlap o = { 0 };
	struct pf_gpu *gpu = NULL;
	int rc = pf_window_resolve(db, &args->window, &window, err);

	if (!rc)
		rc = pf_window_resolve(db, &args->window, &asked, err);
	if (!rc)
		rc = pf_window_to_steps(db, &window, &o.step_count, NULL, err);

	if (!rc) {
		o.comm = pf_comm_table_new(db, err);
		gpu = o.comm ? pf_gpu_new(db, &window, 0, err) : NULL;
		rc = gpu ? gather(gpu, &o, err) : -1;
	}
	if (!rc) {
		add_up(&o);
		add_finding(doc, &o);
		add_scalars(doc, &o.all);
		add_devices(doc, &o);
		add_together(doc, &o.all);
		pf_comm_table_show(o.comm, doc);
		rc = pf_arrivals(db, &asked, doc, err);
	}
	if (!rc)
		rc = pf_trust_note(db, &window, PF_TRUST_WORK, doc, err);
	pf_gpu_free(gpu);
	pf_comm_table_free(o.comm);
	free(o.devices);
	pf_window_release(&asked);
	pf_window_release(&window);
	return rc;
}
