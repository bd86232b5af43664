/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/time/operators.h"
#include "base/num.h"
#include "base/order.h"
#include "base/sat.h"
#include "events/trust.h"
#include "analysis/graphs/graphs.h"
#include "analysis/roofline/links.h"
#include "analysis/roofline/sums.h"
#include "show/rows.h"

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct pf_roofline_row, member, key, title, kind)
#define FIELD_KEYS 7 /* of the fields, the first: what a row is */
static const struct pf_field fields[] = {
	FIELD(op, "op", "Operator", PF_TEXT),
	FIELD(short_kernel, "short_name", "Kernel", PF_TEXT | PF_BRIEF),
	FIELD(kernel, "kernel", "Kernel", PF_TEXT | PF_FULL),
	FIELD(shapes, "input_shapes", "Shapes", PF_TEXT),
	FIELD(types, "input_types", "Types", PF_TEXT | PF_FULL),
	FIELD(values, "input_values", "Values", PF_TEXT | PF_FULL),
	FIELD(family, "family", "Family", PF_TEXT | PF_OURS),
	FIELD(precision, "precision", "Precision", PF_TEXT | PF_FULL | PF_OURS),
	FIELD(s.calls, "calls", "Calls", PF_COUNT | PF_SPARE),
	FIELD(s.replayed, "replayed_calls", "Replayed", PF_COUNT | PF_SPARE),
	FIELD(s.kernel_ns, "kernel_ns", "GPU time", PF_NS),
	FIELD(time_share, "share", "Share", PF_RATIO | PF_FULL),
	FIELD(s.min_ns, "min_ns", "Min", PF_NS | PF_FULL),
	FIELD(s.max_ns, "max_ns", "Max", PF_NS | PF_FULL),
	FIELD(s.matrix, "matrix_flops", "Products",
	      PF_COUNT | PF_FULL | PF_MAYBE),
	FIELD(s.vector, "vector_flops", "Other arithmetic",
	      PF_COUNT | PF_FULL | PF_MAYBE),
	FIELD(s.bytes, "least_bytes", "Bytes", PF_BYTES | PF_FULL | PF_MAYBE),
	FIELD(short_tflops, "tflops", "TFLOP/s", PF_REAL | PF_BRIEF),
	FIELD(tflops, "tflop_per_s", "TFLOP/s", PF_REAL | PF_FULL),
	FIELD(short_gbps, "gbps", "GB/s", PF_REAL | PF_BRIEF),
	FIELD(gbps, "gb_per_s", "GB/s", PF_REAL | PF_FULL),
	FIELD(intensity, "flop_per_byte", "FLOP/byte", PF_REAL | PF_FULL),
	FIELD(bound, "bound", "Bound by", PF_TEXT | PF_OURS),
	FIELD(share, "roof_share", "Of roof", PF_RATIO),
	FIELD(roof_ns, "roof_ns", "At the roof", PF_NS | PF_FULL | PF_MAYBE),
	FIELD(above_ns, "above_roof_ns", "Above it", PF_NS | PF_MAYBE),
};
#undef FIELD
#define FIELD_COUNT (sizeof(fields) / sizeof(*fields))

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct pf_roofline_use, member, key, title, kind)
static const struct pf_field use_fields[] = {
	FIELD(trace_id, "trace_id", "Trace", PF_INT | PF_FULL),
	FIELD(rank, "rank", "Rank", PF_INT | PF_KNOWN | PF_FULL),
	FIELD(step, "step", "Step", PF_INT | PF_KNOWN),
	FIELD(time_ns, "time_ns", "Time", PF_NS),
	FIELD(device_count, "gpu_count", "GPUs", PF_COUNT | PF_FULL),
	FIELD(matrix, "matrix_flops", "FLOPs of products", PF_COUNT),
	FIELD(recomputed, "recomputed_flops", "Recomputed",
	      PF_COUNT | PF_QUIET),
	FIELD(mfu, "mfu", "MFU", PF_RATIO),
	FIELD(hfu, "hfu", "HFU", PF_RATIO),
};
#undef FIELD
#define USE_COUNT (sizeof(use_fields) / sizeof(*use_fields))

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct pf_roof_link, member, key, title, kind)
static const struct pf_field link_fields[] = {
	FIELD(collective, "collective", "Collective", PF_TEXT),
	FIELD(group, "group", "Group", PF_TEXT | PF_FULL),
	FIELD(group_size, "group_size", "Ranks", PF_INT | PF_KNOWN),
	FIELD(is_within, "one_machine", "One machine",
	      PF_TEXT | PF_OURS | PF_FULL),
	FIELD(bytes, "bytes", "Bytes", PF_BYTES | PF_KNOWN),
	FIELD(count, "count", "Count", PF_COUNT | PF_SPARE),
	FIELD(timed, "timed", "Time of", PF_TEXT | PF_OURS),
	FIELD(ns, "time_ns", "Time", PF_NS),
	FIELD(bus_rate, "bus_gb_per_s", "Bus GB/s", PF_REAL),
	FIELD(link_rate, "link_gb_per_s", "Link", PF_REAL),
	FIELD(share, "link_share", "Of link", PF_RATIO),
};
#undef FIELD

struct rest_row {
	const char *op, *why;
	int64_t count, ns;
	double share;
};

static const struct pf_field rest_fields[] = {
	PF_FIELD(struct rest_row, op, "op", "Operator", PF_TEXT),
	PF_FIELD(struct rest_row, why, "why", "Why", PF_TEXT | PF_OURS),
	PF_FIELD(struct rest_row, count, "work_count", "GPU events", PF_COUNT),
	PF_FIELD(struct rest_row, ns, "gpu_ns", "GPU time", PF_NS),
	PF_FIELD(struct rest_row, share, "share", "Share", PF_RATIO),
};

const char *pf_roof_bound_word(enum pf_roof_bound bound)
{
	static const char *const words[PF_ROOF_BOUNDS] = {
		[PF_ROOF_COMPUTE] = "compute", [PF_ROOF_MEMORY] = "memory",
		[PF_ROOF_LATENCY] = "latency", [PF_ROOF_OVER] = "over roof",
		[PF_ROOF_HOST] = "host copy",  [PF_ROOF_UNKNOWN] = NULL,
	};

	return words[bound];
}

/* ---- the sentence and the figures ---- */

static bool has_roof(const struct pf_roofline *r)
{
	return r->all.roofed_ns > 0;
}

static void add_finding(const struct pf_roofline *r, struct pf_doc *doc)
{
	char part[PF_NUM_MAX], above[PF_NUM_MAX], all[PF_NUM_MAX];
	const char *scope = pf_window_scope(&r->walk.window);

	doc->is_nothing = !r->gpu_ns;
	if (!r->gpu_ns) {
		pf_doc_finding(doc, "%s, so nothing to hold against a roof",
			       pf_window_no_work(&r->walk.window));
		return;
	}
	pf_num_show_ns(all, r->gpu_ns);
	pf_num_show_ratio(part,
			  pf_num_share(has_roof(r) ? (int64_t)r->all.roofed_ns
						   : r->modelled_ns,
				       r->gpu_ns));
	if (!r->modelled_ns)
		pf_doc_finding(doc,
			       "No GPU work%s (%s) is of an operator whose "
			       "shapes were recorded and that has a model",
			       scope, all);
	else if (!has_roof(r))
		pf_doc_finding(doc,
			       "%s of the GPU time%s (%s) has a model; how "
			       "fast the GPU could be is not known",
			       part, scope, all);
	else
		pf_doc_finding(doc,
			       "%s of GPU time%s are above the roofs of %s, "
			       "which hold for %s of it (%s)",
			       pf_num_show_ns(above, llround(r->all.above_ns)),
			       scope, r->peaks.name ? r->peaks.name : "--peak",
			       part, all);
}

static void add_real(struct pf_doc *doc, const char *key, const char *title,
		     enum pf_col_kind kind, double value)
{
	if (isnan(value))
		pf_doc_null(doc, key, title, kind);
	else
		pf_doc_real(doc, key, title, kind, value);
}

static void add_peaks(const struct pf_roofline *r, struct pf_doc *doc)
{
	pf_doc_string(doc, "gpu", "GPU", r->peaks.name);
	if (r->precision != PF_PEAK_NONE) {
		double peak = pf_gpu_peaks_matrix(&r->peaks, r->precision);

		pf_doc_string(doc, "precision", "Most products in",
			      pf_peak_word(r->precision));
		add_real(doc, "peak_tflop_per_s", "  peak, TFLOP/s", PF_REAL,
			 peak / 1e3);
	}
	add_real(doc, "peak_gb_per_s", "Memory, GB/s", PF_REAL,
		 r->peaks.rate[PF_PEAK_BYTES]);
}

/* Without any call that has a model nothing is known. */
static void add_sum(struct pf_doc *doc, const char *key, const char *title,
		    enum pf_col_kind kind, int64_t sum, bool is_known)
{
	if (sum == PF_NO_INT || !is_known)
		pf_doc_null(doc, key, title, kind);
	else
		pf_doc_int(doc, key, title, kind, sum);
}

static void add_figures(const struct pf_roofline *r, struct pf_doc *doc)
{
	add_peaks(r, doc);
	pf_doc_int(doc, "gpu_ns", "GPU time, summed", PF_NS, r->gpu_ns);
	pf_doc_int(doc, "modelled_ns", "  has a model", PF_NS, r->modelled_ns);
	pf_doc_int(doc, "comm_ns", "  communication", PF_NS | PF_QUIET,
		   r->comm_ns);
	pf_doc_int(doc, "not_modelled_ns", "  has none", PF_NS, r->rest_ns);
	/* products may be in what has no model: 0 is said where there is none */
	add_sum(doc, "matrix_flops", "FLOPs of products", PF_COUNT,
		r->all.matrix, r->all.calls && (r->all.matrix || !r->rest_ns));
	pf_doc_int(doc, "recomputed_flops", "  done again in backward",
		   PF_COUNT | PF_QUIET, r->recomputed);
	add_sum(doc, "vector_flops", "  of other arithmetic", PF_COUNT,
		r->all.vector, r->all.calls);
	add_sum(doc, "least_bytes", "Bytes to move at least", PF_BYTES,
		r->all.bytes, r->all.calls);
	if (has_roof(r)) {
		pf_doc_int(doc, "roof_ns", "GPU time at the roofs", PF_NS,
			   llround(r->all.roof_ns));
		pf_doc_int(doc, "above_roof_ns", "  above them", PF_NS,
			   llround(r->all.above_ns));
	}
	pf_doc_int(doc, "use_ns",
		   r->step_count ? "Steps, of each GPU"
				 : "First to last GPU work",
		   PF_NS, r->use_ns);
	add_real(doc, "mfu", "  MFU", PF_RATIO, r->mfu);
	add_real(doc, "hfu", "  HFU", PF_RATIO, r->hfu);
}

/* ---- tables ---- */

static void hide(struct pf_field *shown, const char *key)
{
	for (size_t i = 0; i < FIELD_COUNT; i++)
		if (!strcmp(shown[i].col.key, key))
			shown[i].col.kind |= PF_ABSENT;
}

static void add_rows(const struct pf_roofline *r, struct pf_doc *doc)
{
	static const unsigned has[][FIELD_KEYS] = {
		/* op, kernel twice, shapes, types, values, family */
		[PF_ROOFLINE_BY_OP] = { 1, 0, 0, 0, 0, 0, 1 },
		[PF_ROOFLINE_BY_SHAPE] = { 1, 0, 0, 1, 1, 1, 1 },
		[PF_ROOFLINE_BY_KERNEL] = { 0, 1, 1, 0, 0, 0, 0 },
	};
	struct pf_field shown[FIELD_COUNT];

	memcpy(shown, fields, sizeof(fields));
	for (size_t i = 0; i < FIELD_KEYS; i++)
		if (!has[r->group][i])
			shown[i].col.kind |= PF_ABSENT;
	shown[FIELD_KEYS - 1].col.kind |= PF_FULL;
	if (r->group == PF_ROOFLINE_BY_KERNEL)
		shown[FIELD_KEYS].col.kind |= PF_ABSENT;
	if (!r->walk.how_ns)
		hide(shown, "replayed_calls");
	PF_ROWS(doc, "calls", "Calls against their roofs", shown, r->rows,
		r->row_count);
}

static void add_families(const struct pf_roofline *r, struct pf_doc *doc)
{
	struct pf_field shown[FIELD_COUNT];

	memcpy(shown, fields, sizeof(fields));
	for (size_t i = 0; i + 1 < FIELD_KEYS; i++)
		shown[i].col.kind |= PF_ABSENT;
	if (!r->walk.how_ns)
		hide(shown, "replayed_calls");
	PF_ROWS(doc, "families", "By family", shown, r->families,
		r->family_count);
}

static void add_uses(const struct pf_roofline *r, struct pf_doc *doc)
{
	struct pf_field shown[USE_COUNT];

	memcpy(shown, use_fields, sizeof(use_fields));
	if (r->walk.window.count > 1)
		shown[pf_window_has_ranks(&r->walk.window) ? 1 : 0].col.kind &=
			~(unsigned)PF_FULL;
	if (r->step_count)
		PF_ROWS(doc, "steps", "Steps against the peak", shown, r->steps,
			r->step_count);
	if (r->trace_count > 1) {
		shown[2].col.kind |= PF_ABSENT;
		PF_ROWS(doc, "traces", "Traces against the peak", shown,
			r->traces, r->trace_count);
	}
}

static void add_links(const struct pf_roofline *r, struct pf_doc *doc)
{
	if (r->link_count)
		PF_ROWS(doc, "links", "Collectives against the link",
			link_fields, r->links, r->link_count);
}

PF_ORDER(by_time, struct pf_roof_rest, PF_DOWN(ns) PF_ALPHA(op) PF_UP(why))

static void add_rest(const struct pf_roofline *r, struct pf_doc *doc)
{
	static const char *const whys[PF_ROOF_WHYS] = {
		[PF_ROOF_NO_MODEL] = "no model",
		[PF_ROOF_NO_SHAPES] = "no shapes",
		[PF_ROOF_ODD] = "other form",
		[PF_ROOF_NO_OP] = "no operator",
		[PF_ROOF_COMM] = "communication",
	};
	size_t count = r->walk.rest_count;
	struct pf_roof_rest *rest = pf_calloc(count + 1, sizeof(*rest));
	struct pf_table *t =
		pf_doc_fields(doc, "not_modelled", "GPU time without a roof",
			      PF_FIELDS(rest_fields));

	if (count)
		memcpy(rest, r->walk.rest, count * sizeof(*rest));
	pf_sort(rest, count, sizeof(*rest), by_time);
	for (size_t i = 0; i < count; i++) {
		struct rest_row row = {
			.op = rest[i].op,
			.why = whys[rest[i].why],
			.count = rest[i].count,
			.ns = rest[i].ns,
			.share = pf_ratio((double)rest[i].ns, r->gpu_ns),
		};

		PF_PUT(t, rest_fields, row);
	}
	free(rest);
}

/* How much work of graphs there is, and how its operators are known. */
static void add_replayed(const struct pf_roof_walk *w, struct pf_doc *doc)
{
	struct pf_buf parts = { 0 };
	char share[PF_NUM_MAX];
	int64_t ns = 0;

	for (size_t h = 0; w->how_ns && h < PF_HOWS; h++)
		pf_sat_sum(&ns, w->how_ns[h]);
	if (!ns)
		return;
	pf_graphs_say_how(w->how_ns, ns, &parts);
	pf_doc_note(doc, "%s of GPU time is replayed by graphs: %s",
		    pf_num_show_ratio(share, pf_num_share(ns, w->started_ns)),
		    parts.data);
	pf_buf_release(&parts);
}

static void add_notes(const struct pf_roofline *r, struct pf_doc *doc)
{
	char ns[PF_NUM_MAX];

	if (r->has_several)
		pf_doc_note(doc, "the traces are of several kinds of GPU: "
				 "--trace asks for one of them");
	else if (!r->peaks.name && r->device && *r->device)
		pf_doc_note(doc,
			    "'%s' is not among the GPUs whose peaks are "
			    "known; --gpu and --peak give them",
			    r->device);
	else if (!r->peaks.name)
		pf_doc_note(doc, "the trace does not say which GPU it is of; "
				 "--gpu and --peak give its peaks");
	if (r->all.bound_ns[PF_ROOF_OVER])
		pf_doc_note(doc,
			    "%s are of calls that were faster than their "
			    "roof: their data was in a cache, products were "
			    "rounded to tf32 or left out, or the peak is "
			    "another",
			    pf_num_show_ns(ns, r->all.bound_ns[PF_ROOF_OVER]));
	if (r->all.bound_ns[PF_ROOF_HOST])
		pf_doc_note(doc,
			    "%s are of copies from or to the host, which "
			    "the GPU's memory does not bound: they have no "
			    "roof",
			    pf_num_show_ns(ns, r->all.bound_ns[PF_ROOF_HOST]));
	if (r->fast_links)
		pf_doc_note(doc,
			    "%s of collectives were faster than the link that "
			    "data/gpus.csv has for this GPU: theirs is another",
			    pf_num_show_count(ns, r->fast_links));
	if (!isnan(r->mfu) && r->rest_ns)
		pf_doc_note(doc,
			    "MFU and HFU are of what has a model: whatever "
			    "products are in the other %s come on top",
			    pf_num_show_ns(ns, r->rest_ns));
	if (has_roof(r))
		pf_doc_note(doc, "time above a roof is time of the GPU: a "
				 "step that waits for its host gains nothing "
				 "by it");
}

void pf_roofline_show(const struct pf_roofline *r, struct pf_doc *doc)
{
	add_finding(r, doc);
	add_figures(r, doc);
	add_rows(r, doc);
	add_families(r, doc);
	add_uses(r, doc);
	add_links(r, doc);
	add_rest(r, doc);
	add_replayed(&r->walk, doc);
	add_notes(r, doc);
}

/* Then it does not matter that the trace itself has none. */
static bool has_captured_shapes(const struct pf_roof_walk *w)
{
	for (size_t i = 0; w->how_ns && i < w->shape_count; i++)
		if (w->shapes[i].dims)
			return true;
	return false;
}

/* 1: there are some; where there is no GPU work, they are the answer. */
static int show_tpus(struct pf_db *db, const struct pf_roofline *r,
		     struct pf_doc *doc, struct pf_err *err)
{
	const struct pf_hlo_peaks peaks = { r->peaks.rate[PF_PEAK_BF16] * 1e3,
					    r->peaks.rate[PF_PEAK_BYTES] };
	struct pf_hlo_ops ops = { 0 };
	int rc = pf_hlo_ops_find(db, &r->walk.window,
				 r->group == PF_ROOFLINE_BY_OP ? PF_HLO_BY_OP
							       : PF_HLO_BY_NAME,
				 &peaks, &ops, err);

	if (!rc && ops.count) {
		doc->is_nothing = false;
		pf_hlo_ops_tell_roofs(&ops, r->peaks.name, doc);
		add_peaks(r, doc);
		add_real(doc, "bf16_tflop_per_s", "Products in bf16, TFLOP/s",
			 PF_REAL, r->peaks.rate[PF_PEAK_BF16]);
		pf_hlo_ops_show_roofs(&ops, doc);
		add_notes(r, doc);
		rc = 1;
	}
	pf_hlo_ops_release(&ops);
	return rc;
}

int pf_roofline_answer(struct pf_db *db, const struct pf_roofline_args *args,
		       struct pf_roofline *out, struct pf_doc *doc,
		       struct pf_err *err)
{
	unsigned needs = PF_TRUST_WORK | PF_TRUST_LINKS;

	if (pf_roofline_find(db, args, out, err) < 0)
		return -1;
	if (!out->gpu_ns) {
		int rc = show_tpus(db, out, doc, err);

		if (rc)
			return rc < 0 ? -1
				      : pf_trust_note(db, &out->walk.window,
						      PF_TRUST_TPUS, doc, err);
	}
	pf_roofline_show(out, doc);
	if (!has_captured_shapes(&out->walk))
		needs |= PF_TRUST_SHAPES;
	return pf_trust_note(db, &out->walk.window, needs, doc, err);
}

int pf_roofline(struct pf_db *db, const struct pf_roofline_args *args,
		struct pf_doc *doc, struct pf_err *err)
{
	struct pf_roofline r = { .group = PF_ROOFLINE_BY_OP };
	int rc = pf_roofline_answer(db, args, &r, doc, err);

	pf_roofline_release(&r);
	return rc;
}
