/* SPDX-License-Identifier: MIT */
/*
 * Each device of a trace has a sweep with a set per class; the sweep of the
 * whole trace is added to the figures of all when the trace ends.
 */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analysis/gpu.h"
#include "analysis/interval.h"
#include "analysis/overlap.h"
#include "base/mem.h"
#include "base/num.h"

#define BIT(class) (1u << (class))
#define ALL_BITS   (BIT(PF_GPU_CLASSES) - 1)

struct figures {
	int64_t total, busy, idle, computation, exposed_comm, exposed_copy,
		exposed_memset, comm, overlap, copy, memset, count;
};

struct device {
	int64_t trace_id, rank, device, count;
	struct pf_sweep sweep;
};

struct overlap {
	struct device *devices; /* those of one trace after another */
	size_t count, cap, first;
	struct pf_sweep trace;
	int64_t trace_count;
	struct figures all;
};

static void figure(struct pf_sweep *s, int64_t count, struct figures *out)
{
	unsigned compute = BIT(PF_GPU_COMPUTE), comm = BIT(PF_GPU_COMM);
	unsigned copy = BIT(PF_GPU_COPY), memset_bit = BIT(PF_GPU_MEMSET);

	pf_sweep_finish(s);
	out->count += count;
	out->total += pf_sweep_time(s, 0, 0, 0);
	out->busy += pf_sweep_time(s, ALL_BITS, 0, 0);
	out->idle += pf_sweep_time(s, 0, 0, ALL_BITS);
	out->computation += pf_sweep_time(s, 0, compute, 0);
	out->exposed_comm += pf_sweep_time(s, 0, comm, compute);
	out->exposed_copy += pf_sweep_time(s, 0, copy, compute | comm);
	out->exposed_memset +=
		pf_sweep_time(s, 0, memset_bit, compute | comm | copy);
	out->comm += pf_sweep_time(s, 0, comm, 0);
	out->copy += pf_sweep_time(s, 0, copy, 0);
	out->memset += pf_sweep_time(s, 0, memset_bit, 0);
	out->overlap += pf_sweep_time(s, 0, comm | compute, 0);
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
	pf_sweep_init(&d->sweep);
	return d;
}

static void end_trace(struct overlap *o)
{
	figure(&o->trace, o->trace_count, &o->all);
	pf_sweep_init(&o->trace);
	o->trace_count = 0;
	o->first = o->count;
}

static int gather(struct pf_gpu *gpu, struct overlap *o, struct pf_err *err)
{
	const struct pf_gpu_event *ev;
	int rc;

	pf_sweep_init(&o->trace);
	while ((rc = pf_gpu_next(gpu, &ev, err)) == 1) {
		struct device *d;

		if (ev->is_first_of_trace)
			end_trace(o);
		d = find_device(o, ev);
		d->count++;
		o->trace_count++;
		pf_sweep_add(&d->sweep, ev->class, ev->start_ns, ev->end_ns);
		pf_sweep_add(&o->trace, ev->class, ev->start_ns, ev->end_ns);
	}
	end_trace(o);
	return rc;
}

static int by_device(const void *a, const void *b)
{
	const struct device *x = a, *y = b;

	if (x->trace_id != y->trace_id)
		return x->trace_id < y->trace_id ? -1 : 1;
	return (x->device > y->device) - (x->device < y->device);
}

static double share(int64_t part, int64_t whole)
{
	return whole > 0 ? (double)part / (double)whole : 0;
}

static void add_scalars(struct pf_doc *doc, const struct figures *f)
{
	char busy[PF_NUM_MAX], comm[PF_NUM_MAX];

	if (!f->count)
		pf_doc_finding(doc, "There is no GPU work");
	else if (!f->comm)
		pf_doc_finding(
			doc,
			"GPU busy %s of the time, without any "
			"communication",
			pf_num_show_ratio(busy, share(f->busy, f->total)));
	else
		pf_doc_finding(
			doc,
			"GPU busy %s of the time; %s of the communication "
			"hides behind computation",
			pf_num_show_ratio(busy, share(f->busy, f->total)),
			pf_num_show_ratio(comm, share(f->overlap, f->comm)));
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

static void add_device(struct pf_table *t, struct device *d)
{
	struct figures f = { 0 };

	figure(&d->sweep, d->count, &f);
	if (d->rank >= 0)
		pf_table_int(t, d->rank);
	else
		pf_table_null(t);
	if (d->device >= 0)
		pf_table_int(t, d->device);
	else
		pf_table_null(t);
	pf_table_int(t, f.total);
	pf_table_int(t, f.busy);
	pf_table_int(t, f.idle);
	pf_table_int(t, f.computation);
	pf_table_int(t, f.exposed_comm);
	pf_table_int(t, f.exposed_copy);
	pf_table_int(t, f.exposed_memset);
	pf_table_int(t, f.comm);
	pf_table_int(t, f.overlap);
	if (f.comm)
		pf_table_real(t, share(f.overlap, f.comm));
	else
		pf_table_null(t);
	pf_table_int(t, f.count);
	pf_table_int(t, d->trace_id);
}

static void add_devices(struct pf_doc *doc, struct overlap *o)
{
	static const struct pf_col cols[] = {
		{ "rank", "Rank", PF_INT },
		{ "device", "GPU", PF_INT },
		{ "total_ns", "Total", PF_NS },
		{ "busy_ns", "Busy", PF_NS },
		{ "idle_ns", "Idle", PF_NS },
		{ "computation_ns", "Computation", PF_NS },
		{ "exposed_comm_ns", "Exposed communication", PF_NS },
		{ "exposed_copy_ns", "Exposed copies", PF_NS },
		{ "exposed_memset_ns", "Exposed memsets", PF_NS },
		{ "comm_ns", "Communication", PF_NS },
		{ "overlap_ns", "Overlap", PF_NS },
		{ "overlap_share", "Share of communication", PF_RATIO },
		{ "event_count", "GPU events", PF_COUNT },
		{ "trace_id", "Trace", PF_INT },
	};
	struct pf_table *t = pf_doc_table(doc, "devices", "By device", cols,
					  sizeof(cols) / sizeof(*cols));

	if (o->count)
		qsort(o->devices, o->count, sizeof(*o->devices), by_device);
	for (size_t i = 0; i < o->count; i++)
		add_device(t, &o->devices[i]);
}

int pf_overlap(struct pf_db *db, const struct pf_overlap_args *args,
	       struct pf_doc *doc, struct pf_err *err)
{
	struct pf_window window = { 0 };
	struct overlap o = { 0 };
	struct pf_gpu *gpu = NULL;
	int rc = pf_window_resolve(db, &args->window, &window, err);

	if (!rc) {
		gpu = pf_gpu_new(db, &window, 0, err);
		rc = gpu ? gather(gpu, &o, err) : -1;
	}
	if (!rc) {
		add_scalars(doc, &o.all);
		add_devices(doc, &o);
		if (!o.all.count)
			pf_doc_note(doc, "record GPU work with "
					 "activities=[ProfilerActivity.CPU, "
					 "ProfilerActivity.CUDA]");
	}
	pf_gpu_free(gpu);
	free(o.devices);
	pf_window_release(&window);
	return rc;
}
