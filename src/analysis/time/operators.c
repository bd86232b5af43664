/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "analysis/time/operators.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/order.h"
#include "base/sat.h"
#include "events/args.h"
#include "events/ask.h"
#include "events/gpu.h"
#include "events/traces.h"
#include "events/interval.h"
#include "events/names.h"
#include "events/nest.h"
#include "show/doc.h"
#include "store/cursor.h"
#include "store/query.h"
#include "store/texts.h"

/* ---- operations of TPUs ---- */

#define NOT_COUNTED SIZE_MAX
#define PS          1000 /* of a nanosecond */

/* What the arguments of an operation say; texts are in the arena. */
struct said {
	const char *op, *category;
	int64_t flops, bytes, device_from_ps, device_ps;
};

struct open {
	int64_t end_ps;
	size_t row; /* or NOT_COUNTED */
	int64_t from_ps, own_ps, inner_ps;
	double compute_ps, memory_ps; /* at the peaks; not a number: unknown */
};

static const struct open outermost = { .row = NOT_COUNTED };

struct reading {
	struct pf_hlo_ops *out;
	struct pf_names *names;
	struct pf_texts texts;
	struct pf_intern keys; /* group -> row */
	struct pf_map said_at; /* argset -> said */
	struct said *said;
	size_t said_count, said_cap;
	struct pf_nest nest;
	const struct pf_window_trace *trace;
};

/* ---- arguments ---- */

/* A whole number, which may be a slot ("$n"); -1: there is none. */
static int64_t number_of(struct pf_json text, const char *key,
			 const struct pf_span *e)
{
	struct pf_json v = pf_json_get(text, key);
	int64_t n, slot;

	if (v.len == 2 && v.p[0] == '$') {
		slot = v.p[1] - 'a';
		return slot >= PF_SLOT_GENERIC && slot < PF_SLOT_COUNT &&
				       e->mask >> slot & 1 &&
				       !(e->slot[slot] & 15) &&
				       e->slot[slot] >= 0
			       ? e->slot[slot] >> 4
			       : -1;
	}
	return pf_json_int(v, &n) && n >= 0 ? n : -1;
}

/* Without the colon behind which the type of a TensorFlow op stands. */
static const char *text_of(struct reading *r, struct pf_json text,
			   const char *key, bool is_op)
{
	struct pf_buf out = { 0 };
	const char *kept = NULL;
	char *colon;

	pf_json_text(pf_json_get(text, key), &out);
	colon = is_op && out.len ? memchr(out.data, ':', out.len) : NULL;
	if (colon)
		*colon = '\0';
	if (out.len && *out.data)
		kept = pf_arena_string(&r->out->texts, out.data);
	pf_buf_release(&out);
	return kept;
}

static struct said read_said(struct reading *r, struct pf_json text,
			     const struct pf_span *e)
{
	return (struct said){
		.op = text_of(r, text, "tf_op", true),
		.category = text_of(r, text, "hlo_category", false),
		.flops = number_of(text, "flops", e),
		.bytes = number_of(text, "bytes_accessed", e),
		.device_from_ps = number_of(text, "device_offset_ps", e),
		.device_ps = number_of(text, "device_duration_ps", e),
	};
}

static int find_said(struct reading *r, const struct pf_span *e,
		     struct said *out, struct pf_err *err)
{
	struct pf_json text = { e->inline_args, e->inline_args_len };
	uint64_t *at;

	*out = (struct said){
		.flops = -1, .bytes = -1, .device_from_ps = -1, .device_ps = -1
	};
	if (e->args == PF_ID_NONE)
		return 0;
	if (e->args == PF_ID_INLINE) {
		*out = read_said(r, text, e);
		return 0;
	}
	if (pf_texts_get(&r->texts, PF_TEXT_ARGS, e->args, &text.p, &text.len,
			 err) < 0)
		return -1;
	at = pf_map_at(&r->said_at, e->args);
	if (*at == UINT64_MAX) {
		r->said = pf_grow(r->said, &r->said_cap, r->said_count + 1,
				  sizeof(*r->said));
		*at = r->said_count++;
		r->said[*at] = read_said(r, text, e);
	}
	*out = r->said[*at];
	out->flops = number_of(text, "flops", e);
	out->bytes = number_of(text, "bytes_accessed", e);
	out->device_from_ps = number_of(text, "device_offset_ps", e);
	out->device_ps = number_of(text, "device_duration_ps", e);
	return 0;
}

/* ---- groups ---- */

static const char *differing(const char *a, const char *b)
{
	return a && b && !strcmp(a, b) ? a : NULL;
}

static size_t find_row(struct reading *r, const char *name,
		       const struct said *s)
{
	struct pf_hlo_ops *out = r->out;
	const char *op = s->op ? s->op : name;
	const char *key = out->group == PF_HLO_BY_NAME ? name
			  : out->group == PF_HLO_BY_OP ? op
			  : s->category                ? s->category
						       : "(not said)";
	size_t at = pf_intern_add(&r->keys, key, strlen(key));

	if (at == out->count) {
		out->rows = pf_grow(out->rows, &out->cap, out->count + 1,
				    sizeof(*out->rows));
		out->rows[out->count++] = (struct pf_hlo_op){
			.name = pf_arena_string(&out->texts, key),
			.op = s->op,
			.category = s->category,
		};
	}
	out->rows[at].op = differing(out->rows[at].op, s->op);
	out->rows[at].category = differing(out->rows[at].category, s->category);
	return at;
}

/* What only begins or awaits a transfer does not run for as long as that. */
static bool is_async(const char *category)
{
	return strstr(category, "-start") || strstr(category, "-done");
}

/* One of unknown size makes the sum unknown. */
static void add_known(int64_t *sum, int64_t n)
{
	if (n < 0 || *sum < 0)
		*sum = -1;
	else
		pf_sat_sum(sum, n);
}

static void find_roof(const struct reading *r, const char *name,
		      const struct said *s, struct open *o)
{
	const struct pf_hlo_peaks *p = &r->out->peaks;

	o->compute_ps = o->memory_ps = NAN;
	if (!s->category || is_async(s->category) ||
	    pf_gpu_classify_op(name, s->category) == PF_GPU_COMM)
		return;
	if (s->flops >= 0)
		o->compute_ps = (double)s->flops / p->flops * PS;
	if (s->bytes >= 0 && !(s->flops > 0 && isnan(p->flops)))
		o->memory_ps = (double)s->bytes / p->bytes * PS;
}

/* One whose bytes, or operations that it has, have no peak has no roof. */
static void hold(struct pf_hlo_op *row, const struct open *o)
{
	double roof_ps = fmax(o->compute_ps, o->memory_ps); /* of one known */
	int64_t ps;

	if (isnan(o->memory_ps) || !(roof_ps > 0) || o->inner_ps)
		return;
	if (roof_ps > (double)o->own_ps) {
		pf_sat_sum(&row->over_ns, o->own_ps);
		return;
	}
	ps = llround(roof_ps);
	pf_sat_sum(&row->roofed_ns, o->own_ps);
	pf_sat_sum(&row->roof_ns, ps);
	if (o->compute_ps > o->memory_ps)
		pf_sat_sum(&row->compute_ns, o->own_ps);
}

/* An operation has ended: what was in it is not its own. */
static void settle(struct reading *r, const struct open *o)
{
	struct pf_hlo_op *row;

	if (o->row == NOT_COUNTED)
		return;
	row = &r->out->rows[o->row];
	if (o->own_ps > o->inner_ps)
		pf_sat_sum(&row->self_ns, o->own_ps - o->inner_ps);
	pf_sat_sum(&row->total_ns, o->own_ps);
	hold(row, o);
}

static void go_to(struct reading *r, int64_t at_ps)
{
	const struct open *o;

	while ((o = pf_nest_ended(&r->nest, at_ps)))
		settle(r, o);
}

static int64_t to_ps(int64_t ns)
{
	const int64_t most = INT64_MAX / PS;

	return ns > most ? INT64_MAX : ns < -most ? -INT64_MAX : ns * PS;
}

static int take(struct reading *r, const struct pf_span *e, struct pf_err *err)
{
	struct pf_hlo_op *row;
	struct said said;
	struct open *o, now = { .row = NOT_COUNTED };
	int64_t from_ps = to_ps(e->start_ns);
	char *name;

	if (find_said(r, e, &said, err))
		return -1;
	now.own_ps = to_ps(e->dur_ns);
	if (said.device_from_ps >= 0 && said.device_ps >= 0) {
		from_ps = said.device_from_ps;
		now.own_ps = said.device_ps;
	}
	go_to(r, from_ps);
	if (e->start_ns >= r->trace->from_ns && e->start_ns < r->trace->to_ns) {
		name = e->name == PF_ID_INLINE
			       ? pf_memdup0(e->inline_name, e->inline_name_len)
			       : pf_names_text_take(r->names, e->name);
		if (!name)
			return -1;
		now.row = find_row(r, *name ? name : "(unnamed)", &said);
		find_roof(r, name, &said, &now);
		free(name);
		row = &r->out->rows[now.row];
		row->calls++;
		add_known(&row->flops, said.flops);
		add_known(&row->bytes, said.bytes);
	}
	now.from_ps = from_ps;
	o = pf_nest_top(&r->nest);
	/* What is put on the host's clock may change places. */
	if (o && from_ps >= o->from_ps)
		pf_sat_sum(&o->inner_ps, now.own_ps);
	o = pf_nest_push(&r->nest, pf_sat_add(from_ps, now.own_ps));
	now.end_ps = pf_sat_add(from_ps, now.own_ps);
	if (o)
		*o = now;
	else
		settle(r, &now);
	return 0;
}

static int read_track(struct reading *r, struct pf_db *db,
		      const struct pf_track *t)
{
	uint64_t columns = PF_COLBIT(PF_COL_START) | PF_COLBIT(PF_COL_DUR) |
			   PF_COLBIT(PF_COL_NAME) | PF_COLBIT(PF_COL_TYPE) |
			   PF_COLBIT(PF_COL_ARGS) | PF_COLBIT(PF_COL_INLINE);
	struct pf_cursor *c;
	struct pf_span e;
	int rc;

	for (int i = PF_SLOT_GENERIC; i < PF_SLOT_COUNT; i++)
		columns |= PF_COLBIT(PF_COL_SLOT + i);
	c = pf_cursor_new(db, t->id, columns, db->err);
	if (!c)
		return -1;
	pf_nest_clear(&r->nest);
	while ((rc = pf_cursor_next(c, &e, db->err)) == 1) {
		if (pf_names_kind(r->names, e.type) == PF_KIND_GPU_OTHER &&
		    take(r, &e, db->err)) {
			rc = -1;
			break;
		}
	}
	go_to(r, INT64_MAX);
	pf_cursor_free(c);
	return rc;
}

static int read_trace(struct reading *r, struct pf_db *db,
		      const struct pf_window *window)
{
	struct pf_track *tracks;
	size_t count;
	int rc = pf_tracks_load(db, r->trace->trace_id, &tracks, &count,
				db->err);

	for (size_t i = 0; !rc && i < count; i++)
		if (pf_work_row(&tracks[i], r->trace->is_tpu) == PF_WORK_OPS &&
		    (window->device < 0 ||
		     pf_work_device(&tracks[i]) == window->device))
			rc = read_track(r, db, &tracks[i]);
	pf_tracks_free(tracks, count);
	return rc;
}

/* ---- the whole ---- */

PF_ORDER(by_self, struct pf_hlo_op, PF_DOWN(self_ns) PF_ALPHA(name))

static void finish(struct pf_hlo_ops *out)
{
	for (size_t i = 0; i < out->count; i++) {
		out->rows[i].self_ns /= PS; /* until here picoseconds */
		out->rows[i].total_ns /= PS;
		out->rows[i].roofed_ns /= PS;
		out->rows[i].roof_ns /= PS;
		out->rows[i].over_ns /= PS;
		out->rows[i].compute_ns /= PS;
		out->rows[i].above_ns =
			out->rows[i].roofed_ns - out->rows[i].roof_ns;
		out->calls += out->rows[i].calls;
		pf_sat_sum(&out->self_ns, out->rows[i].self_ns);
	}
	for (size_t i = 0; i < out->count; i++) {
		struct pf_hlo_op *row = &out->rows[i];
		bool has_rate = row->self_ns > 0 &&
				row->self_ns == row->total_ns &&
				row->category && !is_async(row->category);

		row->share = pf_ratio((double)row->self_ns, out->self_ns);
		row->flops_per_s = row->gb_per_s = NAN;
		if (has_rate && row->flops >= 0)
			row->flops_per_s =
				(double)row->flops * 1e9 / (double)row->self_ns;
		if (has_rate && row->bytes >= 0)
			row->gb_per_s =
				(double)row->bytes / (double)row->self_ns;
	}
	pf_sort(out->rows, out->count, sizeof(*out->rows), by_self);
}

int pf_hlo_ops_find(struct pf_db *db, const struct pf_window *window,
		    enum pf_hlo_group group, const struct pf_hlo_peaks *peaks,
		    struct pf_hlo_ops *out)
{
	static const struct pf_hlo_peaks none = { NAN, NAN };
	struct reading r = { .out = out, .texts.db = db };
	int rc = 0;

	*out = (struct pf_hlo_ops){ .group = group,
				    .peaks = peaks ? *peaks : none };
	r.names = pf_names_new(db);
	if (!r.names)
		return -1;
	r.nest.width = sizeof(struct open);
	r.nest.outermost = &outermost;
	pf_intern_init(&r.keys);
	pf_map_init(&r.said_at);
	for (size_t i = 0; !rc && i < window->count; i++) {
		r.trace = &window->traces[i];
		if (r.trace->is_tpu)
			rc = read_trace(&r, db, window);
	}
	finish(out);
	pf_nest_release(&r.nest);
	pf_map_release(&r.said_at);
	pf_intern_release(&r.keys);
	pf_texts_release(&r.texts);
	pf_names_free(r.names);
	free(r.said);
	return rc;
}

void pf_hlo_ops_release(struct pf_hlo_ops *ops)
{
	free(ops->rows);
	pf_arena_release(&ops->texts);
	*ops = (struct pf_hlo_ops){ 0 };
}

void pf_hlo_ops_show(const struct pf_hlo_ops *ops, struct pf_doc *doc)
{
#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct pf_hlo_op, member, key, title, kind)
	static const struct pf_field all[] = {
		FIELD(name, "name", "Operation", PF_TEXT),
		FIELD(op, "op", "Operator", PF_TEXT | PF_FULL),
		FIELD(category, "category", "Category", PF_TEXT),
		FIELD(calls, "calls", "Calls", PF_COUNT),
		FIELD(self_ns, "self_ns", "Self", PF_NS),
		FIELD(share, "share", "Share", PF_RATIO | PF_BAR),
		FIELD(total_ns, "total_ns", "Total", PF_NS),
		FIELD(flops, "flops", "Operations",
		      PF_COUNT | PF_FULL | PF_KNOWN),
		FIELD(bytes, "bytes", "Bytes", PF_BYTES | PF_FULL | PF_KNOWN),
		FIELD(flops_per_s, "flops_per_s", "FLOP/s", PF_REAL | PF_FULL),
		FIELD(gb_per_s, "gb_per_s", "GB/s", PF_REAL | PF_FULL),
	};
#undef FIELD
	struct pf_table *t = pf_doc_fields(
		doc, "operations", "Operations of the TPUs", PF_FIELDS(all));

	for (size_t i = 0; i < ops->count; i++)
		PF_PUT(t, all, ops->rows[i]);
}

void pf_hlo_ops_tell(const struct pf_hlo_ops *ops, struct pf_doc *doc)
{
	char share[PF_NUM_MAX], ns[PF_NUM_MAX], sum[PF_NUM_MAX];

	pf_doc_finding(doc,
		       "%s takes %s of the time of the TPUs' operations "
		       "(%s of %s)",
		       ops->rows[0].name,
		       pf_num_show_ratio(share, ops->rows[0].share),
		       pf_num_show_ns(ns, ops->rows[0].self_ns),
		       pf_num_show_ns(sum, ops->self_ns));
}

/* ---- against their roofs ---- */

struct roof_row {
	struct pf_hlo_op o;
	const char *bound;
	double tflops, roof_share;
};

static void sum_roofs(const struct pf_hlo_ops *ops, struct pf_hlo_op *sum)
{
	*sum = (struct pf_hlo_op){ .self_ns = ops->self_ns };
	for (size_t i = 0; i < ops->count; i++) {
		pf_sat_sum(&sum->roofed_ns, ops->rows[i].roofed_ns);
		pf_sat_sum(&sum->roof_ns, ops->rows[i].roof_ns);
		pf_sat_sum(&sum->above_ns, ops->rows[i].above_ns);
		pf_sat_sum(&sum->over_ns, ops->rows[i].over_ns);
	}
}

/* By most of the time that has a roof; without any nothing bounds it. */
static const char *bound_of(const struct pf_hlo_op *o)
{
	if (!o->roofed_ns)
		return o->over_ns ? "over roof" : NULL;
	return o->compute_ns > o->roofed_ns - o->compute_ns ? "compute"
							    : "memory";
}

void pf_hlo_ops_show_roofs(const struct pf_hlo_ops *ops, struct pf_doc *doc)
{
#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct roof_row, member, key, title, kind)
	static const struct pf_field all[] = {
		FIELD(o.name, "name", "Operation", PF_TEXT),
		FIELD(o.category, "category", "Category", PF_TEXT | PF_FULL),
		FIELD(o.calls, "calls", "Calls", PF_COUNT | PF_SPARE),
		FIELD(o.self_ns, "self_ns", "Self", PF_NS),
		FIELD(o.share, "share", "Share", PF_RATIO | PF_FULL),
		FIELD(o.flops, "flops", "Operations",
		      PF_COUNT | PF_FULL | PF_KNOWN),
		FIELD(o.bytes, "bytes", "Bytes", PF_BYTES | PF_FULL | PF_KNOWN),
		FIELD(tflops, "tflop_per_s", "TFLOP/s", PF_REAL),
		FIELD(o.gb_per_s, "gb_per_s", "GB/s", PF_REAL),
		FIELD(bound, "bound", "Bound by", PF_TEXT | PF_OURS),
		FIELD(roof_share, "roof_share", "Of roof", PF_RATIO | PF_BAR),
		FIELD(o.roofed_ns, "roofed_ns", "Has a roof", PF_NS | PF_FULL),
		FIELD(o.roof_ns, "roof_ns", "At the roof",
		      PF_NS | PF_FULL | PF_KNOWN),
		FIELD(o.above_ns, "above_roof_ns", "Above it",
		      PF_NS | PF_KNOWN),
		FIELD(o.over_ns, "over_roof_ns", "Faster than it",
		      PF_NS | PF_FULL),
	};
#undef FIELD
	struct pf_hlo_op sum;
	struct pf_table *t;

	sum_roofs(ops, &sum);
	pf_doc_int(doc, "tpu_self_ns", "Operations of the TPUs", PF_NS,
		   sum.self_ns);
	if (sum.roofed_ns) {
		pf_doc_int(doc, "tpu_roof_ns", "  at the roofs", PF_NS,
			   sum.roof_ns);
		pf_doc_int(doc, "tpu_above_roof_ns", "  above them", PF_NS,
			   sum.above_ns);
		pf_doc_int(doc, "tpu_over_roof_ns", "  faster than them",
			   PF_NS | PF_QUIET, sum.over_ns);
		pf_doc_int(doc, "tpu_no_roof_ns", "  without one", PF_NS,
			   sum.self_ns - sum.roofed_ns - sum.over_ns);
	}
	t = pf_doc_fields(doc, "operations",
			  "Operations of the TPUs against their roofs",
			  PF_FIELDS(all));
	for (size_t i = 0; i < ops->count; i++) {
		struct roof_row row = { .o = ops->rows[i] };

		row.bound = bound_of(&row.o);
		if (!row.o.roofed_ns)
			row.o.roof_ns = row.o.above_ns = -1;
		row.tflops = row.o.flops_per_s / 1e12;
		row.roof_share =
			pf_ratio((double)row.o.roof_ns, row.o.roofed_ns);
		PF_PUT(t, all, row);
	}
	if (sum.over_ns)
		pf_doc_note(doc, "recorded bytes are of all memories of a TPU, "
				 "and the roof is of the largest: what reads "
				 "the nearer ones may be faster than it");
}

void pf_hlo_ops_tell_roofs(const struct pf_hlo_ops *ops, const char *peak,
			   struct pf_doc *doc)
{
	char above[PF_NUM_MAX], part[PF_NUM_MAX], all[PF_NUM_MAX];
	struct pf_hlo_op sum;

	sum_roofs(ops, &sum);
	pf_num_show_ns(all, ops->self_ns);
	pf_num_show_ratio(part, pf_num_share(sum.roofed_ns, ops->self_ns));
	if (sum.roofed_ns)
		pf_doc_finding(doc,
			       "%s of the time of the TPUs' operations are "
			       "above the roofs of %s, which hold for %s of "
			       "it (%s)",
			       pf_num_show_ns(above, sum.above_ns),
			       peak ? peak : "--peak", part, all);
	else
		pf_doc_finding(doc,
			       "The TPUs' operations take %s; how fast they "
			       "could be is not known",
			       all);
}

/* ---- operators ---- */

struct row {
	const char *name;
	int64_t calls, cpu_ns, work_count, gpu_ns;
	double share;
};

static const struct pf_field fields[] = {
	PF_FIELD(struct row, name, "name", "Operator", PF_TEXT),
	PF_FIELD(struct row, calls, "calls", "Calls", PF_COUNT | PF_KNOWN),
	PF_FIELD(struct row, cpu_ns, "cpu_ns", "CPU", PF_NS | PF_KNOWN),
	PF_FIELD(struct row, work_count, "work_count", "GPU events",
		 PF_COUNT | PF_KNOWN),
	PF_FIELD(struct row, gpu_ns, "gpu_ns", "GPU", PF_NS | PF_KNOWN),
	PF_FIELD(struct row, share, "share", "Share", PF_RATIO),
};

struct sums {
	int64_t operators, work_count, gpu_ns, none_count, none_ns;
};

static const struct pf_field sum_fields[] = {
	PF_FIELD(struct sums, operators, "operators", "Operators",
		 PF_COUNT | PF_KNOWN),
	PF_FIELD(struct sums, work_count, "work_count", "GPU events",
		 PF_COUNT | PF_KNOWN),
	PF_FIELD(struct sums, gpu_ns, "gpu_ns", "GPU time, summed",
		 PF_NS | PF_KNOWN),
};

static sqlite3_stmt *prepare(struct pf_db *db, int64_t trace_id)
{
	sqlite3_stmt *st = pf_named_prepare(db, "operators", db->err);

	if (st)
		sqlite3_bind_int64(st, 1, trace_id);
	return st;
}

static struct row read_row(sqlite3_stmt *st)
{
	return (struct row){
		.name = (const char *)sqlite3_column_text(st, 0),
		.calls = sqlite3_column_int64(st, 1),
		.cpu_ns = sqlite3_column_int64(st, 2),
		.work_count = sqlite3_column_int64(st, 3),
		.gpu_ns = sqlite3_column_int64(st, 4),
	};
}

/* Shares are of all GPU work, which the rows give together. */
static int add_up(struct pf_db *db, int64_t trace_id, struct sums *sums)
{
	sqlite3_stmt *st = prepare(db, trace_id);
	int rc;

	if (!st)
		return -1;
	while ((rc = pf_db_step(db, st, db->err)) == 1) {
		struct row row = read_row(st);

		if (row.name && *row.name) {
			sums->operators++;
		} else {
			sums->none_count = row.work_count;
			sums->none_ns = row.gpu_ns;
		}
		pf_sat_sum(&sums->work_count, row.work_count);
		pf_sat_sum(&sums->gpu_ns, row.gpu_ns);
	}
	sqlite3_finalize(st);
	return rc;
}

static void show_sums(const struct sums *sums, struct pf_doc *doc)
{
	char ns[PF_NUM_MAX], count[PF_NUM_MAX];
	struct sums shown = *sums; /* what nobody recorded is not known */

	pf_doc_finding(
		doc, "%s",
		sums->operators
			? "Operators by name; this is not torch's table, "
			  "whose profiler did not write this trace"
		: sums->work_count
			? "No operators were recorded; all GPU work is "
			  "of no operator"
			: "No operators were recorded, and no GPU work");
	doc->is_nothing = !sums->operators && !sums->work_count;
	if (!sums->operators)
		shown.operators = -1;
	if (!sums->work_count)
		shown.work_count = shown.gpu_ns = -1;
	PF_SCALARS(doc, sum_fields, shown);
	if (sums->none_count)
		pf_doc_note(doc,
			    "%s GPU events (%s) say no operator, and their "
			    "launch calls are in none",
			    pf_num_show_count(count, sums->none_count),
			    pf_num_show_ns(ns, sums->none_ns));
}

/* What TPUs ran; where there is nothing else, it is the answer. */
static int add_tpus(struct pf_db *db, int64_t trace_id, bool is_alone,
		    struct pf_doc *doc)
{
	struct pf_window_args args = PF_WINDOW_DEFAULTS;
	struct pf_window window = { 0 };
	struct pf_hlo_ops ops = { 0 };
	int rc;

	args.trace = trace_id;
	args.whole = true;
	rc = pf_window_resolve(db, &args, &window);
	if (!rc)
		rc = pf_hlo_ops_find(db, &window, PF_HLO_BY_NAME, NULL, &ops);
	if (!rc && ops.count) {
		if (is_alone)
			pf_hlo_ops_tell(&ops, doc);
		doc->is_nothing = false;
		pf_hlo_ops_show(&ops, doc);
	}
	pf_hlo_ops_release(&ops);
	pf_window_release(&window);
	return rc;
}

int pf_operators(struct pf_db *db, int64_t trace_id, struct pf_doc *doc)
{
	struct sums sums = { 0 };
	struct pf_table *t;
	sqlite3_stmt *st;
	int rc;

	if (add_up(db, trace_id, &sums))
		return -1;
	show_sums(&sums, doc);
	t = pf_doc_fields(doc, "operators", "Operators", PF_FIELDS(fields));
	st = prepare(db, trace_id);
	if (!st)
		return -1;
	while ((rc = pf_db_step(db, st, db->err)) == 1) {
		struct row row = read_row(st);

		if (!row.name || !*row.name)
			row.name = "(none)";
		/* Not recorded on the host: unknown. */
		if (!row.calls)
			row.calls = row.cpu_ns = -1;
		if (!sums.work_count)
			row.work_count = row.gpu_ns = -1;
		row.share = sums.gpu_ns > 0
				    ? (double)row.gpu_ns / (double)sums.gpu_ns
				    : NAN;
		PF_PUT(t, fields, row);
	}
	sqlite3_finalize(st);
	return rc ? rc
		  : add_tpus(db, trace_id, !sums.operators && !sums.work_count,
			     doc);
}

/*
 * GPU work comes in order of time; what graphs replay is named on the way, and
 * all else when its operators have been met in the order of their events.
 */

struct named_row {
	const char *name;
	int64_t calls, self_cpu_ns, cpu_total_ns; /* PF_NO_INT: no such row */
	int64_t launched_count, launched_ns, replayed_count, replayed_ns;
	int64_t gpu_ns;
	double share;
};

static const struct pf_field named_fields[] = {
	PF_FIELD(struct named_row, name, "name", "Operator", PF_TEXT),
	PF_FIELD(struct named_row, calls, "calls", "Calls",
		 PF_COUNT | PF_MAYBE),
	PF_FIELD(struct named_row, self_cpu_ns, "self_cpu_ns", "Self CPU",
		 PF_NS | PF_MAYBE),
	PF_FIELD(struct named_row, cpu_total_ns, "cpu_total_ns", "CPU total",
		 PF_NS | PF_MAYBE | PF_FULL),
	PF_FIELD(struct named_row, launched_count, "launched_count",
		 "Launched works", PF_COUNT | PF_FULL),
	PF_FIELD(struct named_row, launched_ns, "launched_ns", "Launched",
		 PF_NS | PF_FULL),
	PF_FIELD(struct named_row, replayed_count, "replayed_count",
		 "Replayed works", PF_COUNT | PF_FULL),
	PF_FIELD(struct named_row, replayed_ns, "replayed_ns", "Replayed",
		 PF_NS),
	PF_FIELD(struct named_row, gpu_ns, "gpu_ns", "GPU", PF_NS),
	PF_FIELD(struct named_row, share, "share", "Share", PF_RATIO),
};

#define NONE "(none)"

/* Work that its operator is yet to be asked for: a record of events/gpu.h. */
struct item {
	int64_t op_id, order, dur_ns;
};

struct walk {
	struct pf_gpu *gpu;
	struct pf_graphs *graphs;
	struct pf_names *names;
	struct pf_by_event *by_op;
	struct pf_keyed rows; /* struct named_row */
	int64_t gpu_ns, gpu_count, replayed_ns, replayed_count, none_ns;
};

static struct named_row *row_of(struct walk *w, const char *name)
{
	size_t known = w->rows.count;
	size_t n = pf_keyed_at_text(&w->rows, name, strlen(name));
	struct named_row *row = PF_KEYED_ROW(&w->rows, struct named_row, n);

	if (n == known)
		row->calls = row->self_cpu_ns = row->cpu_total_ns = PF_NO_INT;
	return row;
}

static int gather(struct walk *w)
{
	const struct pf_gpu_event *ev;
	struct item item = { 0 };
	int rc;

	while ((rc = pf_gpu_next(w->gpu, &ev)) == 1) {
		const struct pf_graph_node *n =
			ev->launch_id ? pf_graphs_next(w->graphs, ev->launch_id)
				      : NULL;
		const char *op = n ? pf_graphs_op(w->graphs, n) : NULL;

		pf_sat_sum(&w->gpu_ns, ev->dur_ns);
		w->gpu_count++;
		if (op && *op) {
			struct named_row *row = row_of(w, op);

			row->replayed_count++;
			pf_sat_sum(&row->replayed_ns, ev->dur_ns);
			w->replayed_count++;
			pf_sat_sum(&w->replayed_ns, ev->dur_ns);
			continue;
		}
		item.op_id = ev->op_id;
		item.order++;
		item.dur_ns = ev->dur_ns;
		if (pf_by_event_add(w->by_op, &item) < 0)
			return -1;
	}
	return rc;
}

static int resolve(struct walk *w, struct pf_err *err)
{
	const struct item *item;
	const struct pf_block *block;
	uint32_t place;

	while ((item = pf_by_event_next(w->by_op, &block, &place))) {
		char *name =
			block ? pf_names_text_take(w->names, block->name[place])
			      : pf_strdup(NONE);
		struct named_row *row;

		if (!name)
			return -1;
		row = row_of(w, name);
		row->launched_count++;
		pf_sat_sum(&row->launched_ns, item->dur_ns);
		if (!block)
			pf_sat_sum(&w->none_ns, item->dur_ns);
		free(name);
	}
	return err->code ? -1 : 0;
}

/* What torch's table says of operators, and of calls outside of them. */
static void add_host(struct walk *w, const struct pf_average_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct pf_average *a = &list->rows[i];
		struct named_row *row;

		if (a->is_device || a->is_annotation)
			continue;
		row = row_of(w, a->name);
		if (row->calls == PF_NO_INT)
			row->calls = row->self_cpu_ns = row->cpu_total_ns = 0;
		pf_sat_sum(&row->calls, (int64_t)a->count);
		pf_sat_sum(&row->self_cpu_ns, a->sum.ns[PF_FIG_SELF_CPU]);
		pf_sat_sum(&row->cpu_total_ns, a->sum.ns[PF_FIG_CPU]);
	}
}

/* Most of the GPU first, then most of the host. */
PF_ORDER(by_time, struct named_row,
	 PF_DOWN(gpu_ns) PF_DOWN(self_cpu_ns) PF_ALPHA(name))

static void finish_rows(struct walk *w)
{
	struct named_row *row = w->rows.rows;

	for (uint32_t i = 0; i < w->rows.count; i++, row++) {
		row->name = pf_intern_text(&w->rows.texts, i, NULL);
		row->gpu_ns = row->launched_ns;
		pf_sat_sum(&row->gpu_ns, row->replayed_ns);
		row->share = pf_num_share(row->gpu_ns, w->gpu_ns);
	}
	/* names stay where they are */
	pf_sort(w->rows.rows, w->rows.count, w->rows.width, by_time);
}

static void show(const struct walk *w, struct pf_doc *doc)
{
	char all[PF_NUM_MAX], named[PF_NUM_MAX];

	if (w->replayed_count)
		pf_doc_finding(doc,
			       "%s of GPU work by operator, %s of it replayed "
			       "by graphs and named by evidence",
			       pf_num_show_ns(all, w->gpu_ns),
			       pf_num_show_ns(named, w->replayed_ns));
	else
		pf_doc_finding(doc,
			       "%s of GPU work by operator; none of it is "
			       "replayed by graphs and has a known operator",
			       pf_num_show_ns(all, w->gpu_ns));
	pf_doc_int(doc, "gpu_ns", "GPU time, summed", PF_NS, w->gpu_ns);
	pf_doc_int(doc, "work_count", "GPU events", PF_COUNT, w->gpu_count);
	pf_doc_int(doc, "replayed_ns", "Replayed, operator named", PF_NS,
		   w->replayed_ns);
	pf_doc_int(doc, "replayed_count", "GPU events replayed and named",
		   PF_COUNT, w->replayed_count);
	pf_doc_int(doc, "none_ns", "Of no operator", PF_NS, w->none_ns);
	PF_ROWS(doc, "operators", "Operators", named_fields,
		PF_KEYED_ROW(&w->rows, struct named_row, 0), w->rows.count);
	pf_graphs_note(w->graphs, doc);
}

static int find(struct walk *w, struct pf_db *db,
		const struct pf_named_work_args *args)
{
	w->names = pf_names_new(db);
	w->gpu = pf_gpu_new(db, args->window, PF_GPU_LINKS);
	w->by_op = pf_by_event_new(db, sizeof(struct item),
				   PF_COLBIT(PF_COL_NAME));
	if (!w->names || !w->gpu || gather(w) < 0)
		return -1;
	return resolve(w, db->err);
}

int pf_named_work(struct pf_db *db, const struct pf_named_work_args *args,
		  struct pf_doc *doc)
{
	struct walk w = { .graphs = args->graphs };
	int rc;

	pf_keyed_begin(&w.rows, sizeof(struct named_row), PF_KEYED_SUMS);
	rc = find(&w, db, args);
	if (!rc) {
		add_host(&w, args->averages);
		finish_rows(&w);
		show(&w, doc);
	}
	pf_by_event_free(w.by_op);
	pf_gpu_free(w.gpu);
	pf_names_free(w.names);
	pf_keyed_end(&w.rows);
	return rc;
}
