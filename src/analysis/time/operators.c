/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "analysis/time/operators.h"

#include <math.h>

#include "base/intern.h"
#include "base/num.h"
#include "base/order.h"
#include "base/sat.h"
#include "events/args.h"
#include "events/ask.h"
#include "events/gpu.h"
#include "events/traces.h"
#include "events/names.h"
#include "events/nest.h"
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

/* Texts NULL: not said, or they differ.  -1, not a number: not recorded. */
struct hlo_op {
	const char *name, *op, *category;
	int64_t calls, self_ns, total_ns, flops, bytes;
	double share;                         /* of all self time */
	double flops_per_s, tflops, gb_per_s; /* while it ran itself */
	/*
	 * Of the self time: what has a roof, which is the time at the roof and
	 * that above it, and what was faster than its roof.
	 */
	int64_t roofed_ns, roof_ns, above_ns, over_ns;
	int64_t compute_ns; /* of roofed_ns: arithmetic bounds it */
	const char *bound;
	double roof_share;
};

/* Operations of a category, in whatever rows. */
struct hlo_kind {
	const char *name;
	int64_t self_ns;
};

struct pf_hlo_roofs {
	struct pf_ask ask;
	enum pf_hlo_group group;
	struct pf_hlo_peaks peaks;
	struct pf_keyed rows;  /* struct hlo_op, the most self time first */
	struct pf_keyed kinds; /* struct hlo_kind, in the same order */
	struct hlo_op all;     /* their self time and roofs */
	struct pf_texts texts;
	struct pf_keyed said; /* struct said, by argset: its texts */
	struct pf_nest nest;  /* struct open */
	const struct pf_window_trace *trace;
};

struct open {
	int64_t end_ps;
	size_t row;           /* or NOT_COUNTED */
	const char *category; /* or NULL */
	int64_t from_ps, own_ps, inner_ps;
	double compute_ps, memory_ps; /* at the peaks; not a number: unknown */
};

static const struct open outermost = { .row = NOT_COUNTED };

static struct hlo_op *op_at(const struct pf_hlo_roofs *r, size_t i)
{
	return PF_KEYED_ROW(&r->rows, struct hlo_op, i);
}

static struct hlo_kind *kind_at(const struct pf_hlo_roofs *r, size_t i)
{
	return PF_KEYED_ROW(&r->kinds, struct hlo_kind, i);
}

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
static const char *text_of(struct pf_hlo_roofs *r, struct pf_json text,
			   const char *key, bool is_op)
{
	PF_AUTO(pf_buf_release) struct pf_buf out = { 0 };
	const char *kept = NULL;
	char *colon;

	pf_json_text(pf_json_get(text, key), &out);
	colon = is_op && out.len ? memchr(out.data, ':', out.len) : NULL;
	if (colon)
		*colon = '\0';
	if (out.len && *out.data)
		kept = pf_arena_string(&r->ask.memory, out.data);
	return kept;
}

static struct said said_texts(struct pf_hlo_roofs *r, struct pf_json text)
{
	return (struct said){ .op = text_of(r, text, "tf_op", true),
			      .category =
				      text_of(r, text, "hlo_category", false) };
}

static struct said find_said(struct pf_hlo_roofs *r, const struct pf_span *e)
{
	struct pf_json text = { e->inline_args, e->inline_args_len };
	struct said said = {
		.flops = -1, .bytes = -1, .device_from_ps = -1, .device_ps = -1
	};
	size_t known = r->said.count, n;

	if (e->args == PF_ID_NONE ||
	    (e->args != PF_ID_INLINE &&
	     pf_texts_get(&r->texts, PF_TEXT_ARGS, e->args, &text.p, &text.len,
			  r->ask.err) < 0))
		return said;
	if (e->args == PF_ID_INLINE) {
		said = said_texts(r, text);
	} else {
		n = pf_keyed_at(&r->said, e->args);
		if (n == known)
			*PF_KEYED_ROW(&r->said, struct said, n) =
				said_texts(r, text);
		said = *PF_KEYED_ROW(&r->said, struct said, n);
	}
	said.flops = number_of(text, "flops", e);
	said.bytes = number_of(text, "bytes_accessed", e);
	said.device_from_ps = number_of(text, "device_offset_ps", e);
	said.device_ps = number_of(text, "device_duration_ps", e);
	return said;
}

/* ---- groups ---- */

static const char *differing(const char *a, const char *b)
{
	return a && b && !strcmp(a, b) ? a : NULL;
}

static size_t find_row(struct pf_hlo_roofs *r, const char *name,
		       const struct said *s)
{
	const char *op = s->op ? s->op : name;
	const char *key = r->group == PF_HLO_BY_NAME ? name
			  : r->group == PF_HLO_BY_OP ? op
			  : s->category              ? s->category
						     : "(not said)";
	size_t known = r->rows.count;
	size_t at = pf_keyed_at_text(&r->rows, key, strlen(key));
	struct hlo_op *row = op_at(r, at);

	if (at == known)
		*row = (struct hlo_op){
			.name = pf_arena_string(&r->ask.memory, key),
			.op = s->op,
			.category = s->category,
		};
	row->op = differing(row->op, s->op);
	row->category = differing(row->category, s->category);
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

static void find_roof(const struct pf_hlo_peaks *p, const char *name,
		      const struct said *s, struct open *o)
{
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
static void hold(struct hlo_op *row, const struct open *o)
{
	double roof_ps = fmax(o->compute_ps, o->memory_ps); /* of one known */

	if (isnan(o->memory_ps) || !(roof_ps > 0) || o->inner_ps)
		return;
	if (roof_ps > (double)o->own_ps) {
		pf_sat_sum(&row->over_ns, o->own_ps);
		return;
	}
	pf_sat_sum(&row->roofed_ns, o->own_ps);
	pf_sat_sum(&row->roof_ns, llround(roof_ps));
	if (o->compute_ps > o->memory_ps)
		pf_sat_sum(&row->compute_ns, o->own_ps);
}

static void add_kind(struct pf_hlo_roofs *r, const char *category, int64_t ps)
{
	size_t at = pf_keyed_at_text(&r->kinds, category, strlen(category));
	struct hlo_kind *kind = kind_at(r, at);

	kind->name = category;
	pf_sat_sum(&kind->self_ns, ps);
}

/* An operation has ended: what was in it is not its own. */
static void settle(struct pf_hlo_roofs *r, const struct open *o)
{
	const int64_t self_ps =
		o->own_ps > o->inner_ps ? o->own_ps - o->inner_ps : 0;
	struct hlo_op *row;

	if (o->row == NOT_COUNTED)
		return;
	row = op_at(r, o->row);
	pf_sat_sum(&row->self_ns, self_ps);
	if (o->category)
		add_kind(r, o->category, self_ps);
	pf_sat_sum(&row->total_ns, o->own_ps);
	hold(row, o);
}

static void go_to(struct pf_hlo_roofs *r, int64_t at_ps)
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

/* Counted where it begins. */
static void count_op(struct pf_hlo_roofs *r, const struct pf_span *e,
		     const struct said *said, struct open *now)
{
	PF_OWN char *name =
		e->name == PF_ID_INLINE
			? pf_memdup0(e->inline_name, e->inline_name_len)
			: pf_names_text_take(r->ask.names, e->name);
	struct hlo_op *row;

	if (!name)
		return;
	now->row = find_row(r, *name ? name : "(unnamed)", said);
	now->category = said->category;
	find_roof(&r->peaks, name, said, now);
	row = op_at(r, now->row);
	row->calls++;
	add_known(&row->flops, said->flops);
	add_known(&row->bytes, said->bytes);
}

static void take(struct pf_hlo_roofs *r, const struct pf_span *e)
{
	struct said said = find_said(r, e);
	struct open *o, now = { .row = NOT_COUNTED,
				.from_ps = to_ps(e->start_ns),
				.own_ps = to_ps(e->dur_ns) };

	if (said.device_from_ps >= 0 && said.device_ps >= 0) {
		now.from_ps = said.device_from_ps;
		now.own_ps = said.device_ps;
	}
	go_to(r, now.from_ps);
	if (e->start_ns >= r->trace->from_ns && e->start_ns < r->trace->to_ns)
		count_op(r, e, &said, &now);
	o = pf_nest_top(&r->nest);
	/* What is put on the host's clock may change places. */
	if (o && now.from_ps >= o->from_ps)
		pf_sat_sum(&o->inner_ps, now.own_ps);
	now.end_ps = pf_sat_add(now.from_ps, now.own_ps);
	o = pf_nest_push(&r->nest, now.end_ps);
	if (o)
		*o = now;
	else
		settle(r, &now);
}

static void read_track(struct pf_hlo_roofs *r, const struct pf_track *t)
{
	uint64_t columns = PF_COLBIT(PF_COL_START) | PF_COLBIT(PF_COL_DUR) |
			   PF_COLBIT(PF_COL_NAME) | PF_COLBIT(PF_COL_TYPE) |
			   PF_COLBIT(PF_COL_ARGS) | PF_COLBIT(PF_COL_INLINE);
	struct pf_err *err = r->ask.err;
	PF_AUTO(pf_cursor_freed) struct pf_cursor *c = NULL;
	struct pf_span e;

	for (int i = PF_SLOT_GENERIC; i < PF_SLOT_COUNT; i++)
		columns |= PF_COLBIT(PF_COL_SLOT + i);
	c = pf_cursor_new(r->ask.db, t->id, columns);
	pf_nest_clear(&r->nest);
	while (!err->code && pf_cursor_next(c, &e, err) == 1)
		if (pf_names_kind(r->ask.names, e.type) == PF_KIND_GPU_OTHER)
			take(r, &e);
	go_to(r, INT64_MAX);
}

static void read_trace(struct pf_hlo_roofs *r)
{
	const int64_t device = r->ask.window.device;
	struct pf_track *tracks = NULL;
	size_t count = 0;

	pf_tracks_load(r->ask.db, r->trace->trace_id, &tracks, &count,
		       r->ask.err);
	for (size_t i = 0; !r->ask.err->code && i < count; i++)
		if (pf_work_row(&tracks[i], r->trace->is_tpu) == PF_WORK_OPS &&
		    (device < 0 || pf_work_device(&tracks[i]) == device))
			read_track(r, &tracks[i]);
	pf_tracks_free(tracks, count);
}

/* ---- the whole ---- */

PF_ORDER(by_self, struct hlo_op, PF_DOWN(self_ns) PF_ALPHA(name))
PF_ORDER(kind_by_self, struct hlo_kind, PF_DOWN(self_ns) PF_ALPHA(name))

/* By most of the time that has a roof; without any nothing bounds it. */
static const char *bound_of(const struct hlo_op *o)
{
	if (!o->roofed_ns)
		return o->over_ns ? "over roof" : NULL;
	return o->compute_ns > o->roofed_ns - o->compute_ns ? "compute"
							    : "memory";
}

static void find_rates(struct hlo_op *row)
{
	bool has_rate = row->self_ns > 0 && row->self_ns == row->total_ns &&
			row->category && !is_async(row->category);

	row->flops_per_s = row->gb_per_s = NAN;
	if (has_rate && row->flops >= 0)
		row->flops_per_s =
			(double)row->flops * 1e9 / (double)row->self_ns;
	if (has_rate && row->bytes >= 0)
		row->gb_per_s = (double)row->bytes / (double)row->self_ns;
	row->tflops = row->flops_per_s / 1e12;
}

static void finish(struct pf_hlo_roofs *r)
{
	struct hlo_op *row, *all = &r->all;

	for (size_t i = 0; i < r->rows.count; i++) {
		row = op_at(r, i);
		row->self_ns /= PS; /* until here picoseconds */
		row->total_ns /= PS;
		row->roofed_ns /= PS;
		row->roof_ns /= PS;
		row->over_ns /= PS;
		row->compute_ns /= PS;
		row->above_ns = row->roofed_ns - row->roof_ns;
		pf_sat_sum(&all->self_ns, row->self_ns);
		pf_sat_sum(&all->roofed_ns, row->roofed_ns);
		pf_sat_sum(&all->roof_ns, row->roof_ns);
		pf_sat_sum(&all->above_ns, row->above_ns);
		pf_sat_sum(&all->over_ns, row->over_ns);
		row->roof_share =
			pf_ratio((double)row->roof_ns, row->roofed_ns);
		row->bound = bound_of(row);
		if (!row->roofed_ns)
			row->roof_ns = row->above_ns = -1;
		find_rates(row);
	}
	for (size_t i = 0; i < r->rows.count; i++)
		op_at(r, i)->share =
			pf_ratio((double)op_at(r, i)->self_ns, all->self_ns);
	pf_keyed_sort(&r->rows, by_self);
	for (size_t i = 0; i < r->kinds.count; i++)
		kind_at(r, i)->self_ns /= PS;
	pf_keyed_sort(&r->kinds, kind_by_self);
}

struct pf_hlo_roofs *pf_hlo_roofs_new(struct pf_db *db,
				      const struct pf_window *window,
				      enum pf_hlo_group group,
				      const struct pf_hlo_peaks *peaks)
{
	struct pf_hlo_roofs *r = pf_calloc(1, sizeof(*r));

	pf_ask_begin_in(&r->ask, db, window);
	r->group = group;
	r->peaks = *peaks;
	r->texts.db = db;
	r->nest.width = sizeof(struct open);
	r->nest.outermost = &outermost;
	pf_keyed_begin(&r->rows, sizeof(struct hlo_op), PF_KEYED_SUMS);
	pf_keyed_begin(&r->kinds, sizeof(struct hlo_kind), PF_KEYED_SUMS);
	pf_keyed_begin(&r->said, sizeof(struct said), PF_KEYED_SUMS);
	for (size_t i = 0; i < window->count && pf_ask_names(&r->ask); i++) {
		r->trace = &window->traces[i];
		if (r->trace->is_tpu)
			read_trace(r);
	}
	finish(r);
	if (r->rows.count && !db->err->code)
		return r;
	pf_hlo_roofs_free(r);
	return NULL;
}

void pf_hlo_roofs_free(struct pf_hlo_roofs *r)
{
	pf_nest_release(&r->nest);
	pf_texts_release(&r->texts);
	pf_keyed_end(&r->rows);
	pf_keyed_end(&r->kinds);
	pf_keyed_end(&r->said);
	pf_ask_end(&r->ask);
	free(r);
}

#define FIELD(...) PF_FIELD(struct hlo_op, __VA_ARGS__)
static const struct pf_field op_fields[] = {
	FIELD(name, "Operation", PF_TEXT),
	FIELD(op, "Operator", PF_TEXT | PF_FULL),
	FIELD(category, "Category", PF_TEXT),
	FIELD(calls, "Calls", PF_COUNT),
	FIELD(self_ns, "Self", PF_NS),
	FIELD(share, "Share", PF_RATIO | PF_BAR),
	FIELD(total_ns, "Total", PF_NS),
	FIELD(flops, "Operations", PF_COUNT | PF_FULL | PF_KNOWN),
	FIELD(bytes, "Bytes", PF_BYTES | PF_FULL | PF_KNOWN),
	FIELD(flops_per_s, "FLOP/s", PF_REAL | PF_FULL),
	FIELD(gb_per_s, "GB/s", PF_REAL | PF_FULL),
};

/*
 * The operation that takes most, or where none takes half of the time, the
 * kind that does: a compiler numbers those alike.
 */
static void say_most(const struct pf_hlo_roofs *r, struct pf_doc *doc)
{
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };
	const int64_t all_ns = r->all.self_ns;
	const struct hlo_op *op = op_at(r, 0);
	struct hlo_kind most = { op->name, op->self_ns };
	const char *category = op->category, *done;

	if (op->self_ns < all_ns / 2 && r->kinds.count &&
	    kind_at(r, 0)->self_ns >= all_ns / 2) {
		most = *kind_at(r, 0);
		category = most.name;
		/* of which each row lacks less than a nanosecond */
		PF_AT_MOST(most.self_ns, all_ns);
	}
	done = category ? strstr(category, "-done") : NULL;
	pf_buf_addf(&text,
		    "%s takes %s of the time of the TPUs' operations (%s of "
		    "%s)",
		    most.name, PF_SHOW_SHARE(most.self_ns, all_ns),
		    PF_SHOW_NS(most.self_ns), PF_SHOW_NS(all_ns));
	if (done)
		pf_buf_addf(&text,
			    ": there they wait for what %.*s-start began",
			    (int)(done - category), category);
	pf_doc_finding(doc, "%s", text.data);
}

int pf_hlo_ops(struct pf_db *db, const struct pf_window *window,
	       enum pf_hlo_group group, bool has_finding, struct pf_doc *doc)
{
	static const struct pf_hlo_peaks none = { NAN, NAN };
	struct pf_hlo_roofs *r = pf_hlo_roofs_new(db, window, group, &none);
	const struct hlo_op *most;

	if (!r)
		return db->err->code ? -1 : 0;
	most = op_at(r, 0);
	if (has_finding)
		say_most(r, doc);
	PF_ROWS(doc, "operations", "Operations of the TPUs", op_fields, most,
		r->rows.count);
	pf_hlo_roofs_free(r);
	return 1;
}

/* ---- against their roofs ---- */

static const struct pf_field roof_fields[] = {
	FIELD(name, "Operation", PF_TEXT),
	FIELD(category, "Category", PF_TEXT | PF_FULL),
	FIELD(calls, "Calls", PF_COUNT | PF_SPARE),
	FIELD(self_ns, "Self", PF_NS),
	FIELD(share, "Share", PF_RATIO | PF_FULL),
	FIELD(flops, "Operations", PF_COUNT | PF_FULL | PF_KNOWN),
	FIELD(bytes, "Bytes", PF_BYTES | PF_FULL | PF_KNOWN),
	FIELD(tflops, "tflop_per_s", "TFLOP/s", PF_REAL),
	FIELD(gb_per_s, "GB/s", PF_REAL),
	FIELD(bound, "Bound by", PF_TEXT | PF_OURS),
	FIELD(roof_share, "Of roof", PF_RATIO | PF_BAR),
	FIELD(roofed_ns, "Has a roof", PF_NS | PF_FULL),
	FIELD(roof_ns, "At the roof", PF_NS | PF_FULL | PF_KNOWN),
	FIELD(above_ns, "above_roof_ns", "Above it", PF_NS | PF_KNOWN),
	FIELD(over_ns, "over_roof_ns", "Faster than it", PF_NS | PF_FULL),
};
#undef FIELD

void pf_hlo_roofs_show(const struct pf_hlo_roofs *r, struct pf_doc *doc)
{
	const struct hlo_op *all = &r->all;

	pf_doc_int(doc, "tpu_self_ns", "Operations of the TPUs", PF_NS,
		   all->self_ns);
	if (all->roofed_ns) {
		pf_doc_int(doc, "tpu_roof_ns", "  at the roofs", PF_NS,
			   all->roof_ns);
		pf_doc_int(doc, "tpu_above_roof_ns", "  above them", PF_NS,
			   all->above_ns);
		pf_doc_int(doc, "tpu_over_roof_ns", "  faster than them",
			   PF_NS | PF_QUIET, all->over_ns);
		pf_doc_int(doc, "tpu_no_roof_ns", "  without one", PF_NS,
			   all->self_ns - all->roofed_ns - all->over_ns);
	}
	PF_ROWS(doc, "operations", "Operations of the TPUs against their roofs",
		roof_fields, op_at(r, 0), r->rows.count);
	if (all->over_ns)
		pf_doc_note(doc, "recorded bytes are of all memories of a TPU, "
				 "and the roof is of the largest: what reads "
				 "the nearer ones may be faster than it");
}

/* Why what is above the roofs is nothing to gain; false: it may be. */
static bool say_no_gain(const struct pf_roofed *r, const char *peak,
			struct pf_buf *out)
{
	const bool is_least = r->ns - r->roofed_ns > r->roofed_ns;
	const int64_t most_ns = r->roofed_ns / 2, nearly_ns = most_ns / 2 * 3;
	const bool is_over = r->over_ns > nearly_ns;
	const int64_t part_ns = is_over ? r->over_ns : r->short_ns;

	if (!is_over && r->short_ns <= most_ns && r->above_ns)
		return false;
	if (is_least)
		pf_buf_adds(out, "Of the rest, ");
	else
		pf_buf_addf(out, "Of %s that has a roof, ", r->work);
	const char *share = PF_SHOW_SHARE(part_ns, r->roofed_ns);
	const char *ns = PF_SHOW_NS(part_ns);
	if (is_over)
		pf_buf_addf(out,
			    "%s (%s) is faster than its roof. What could be "
			    "gained is not known: the peaks of %s are too low, "
			    "or data was in a cache",
			    share, ns, peak);
	else if (r->short_ns > most_ns)
		pf_buf_addf(
			out,
			"%s (%s) is in kernels that are too short for a roof: "
			"fewer of them save more than faster ones",
			share, ns);
	else
		pf_buf_addf(out, "nothing is slower than at the roofs of %s",
			    peak);
	return true;
}

void pf_roofed_tell(const struct pf_roofed *r, const char *peak,
		    struct pf_doc *doc)
{
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };
	int64_t rest_ns = r->ns - r->roofed_ns;

	peak = peak ? peak : "--peak";
	const char *above = PF_SHOW_NS(r->above_ns);
	const char *share = PF_SHOW_SHARE(r->above_ns, r->roofed_ns);
	const char *rest = PF_SHOW_SHARE(rest_ns, r->ns);
	const char *all = PF_SHOW_NS(r->ns);
	if (rest_ns > r->roofed_ns)
		pf_buf_addf(&text, "For %s of %s (%s of %s) no roof is known. ",
			    rest, r->work, PF_SHOW_NS(rest_ns), all);
	if (say_no_gain(r, peak, &text))
		;
	else if (rest_ns > r->roofed_ns)
		pf_buf_addf(&text,
			    "At the roofs of %s the rest would take %s (%s) "
			    "less",
			    peak, above, share);
	else if (rest_ns > 0)
		pf_buf_addf(&text,
			    "At the roofs of %s, %s of %s would take %s (%s) "
			    "less. For the other %s no roof is known",
			    peak, PF_SHOW_NS(r->roofed_ns), r->work, above,
			    share, rest);
	else
		pf_buf_addf(&text,
			    "At the roofs of %s, %s (%s) would take %s (%s) "
			    "less",
			    peak, r->work, all, above, share);
	pf_doc_finding(doc, "%s", text.data);
}

void pf_hlo_roofs_tell(const struct pf_hlo_roofs *r, const char *peak,
		       struct pf_doc *doc)
{
	const struct hlo_op *all = &r->all;
	struct pf_roofed said = { "the TPUs' operations",
				  all->self_ns,
				  all->roofed_ns,
				  all->above_ns,
				  0,
				  0 };

	if (all->roofed_ns)
		pf_roofed_tell(&said, peak, doc);
	else
		pf_doc_finding(doc,
			       "The TPUs' operations take %s; how fast they "
			       "could be is not known",
			       PF_SHOW_NS(all->self_ns));
}

/* ---- operators ---- */

struct row {
	const char *name;
	int64_t calls, cpu_ns, work_count, gpu_ns;
	double share;
};

static const struct pf_field fields[] = {
	PF_FIELD(struct row, name, "Operator", PF_TEXT),
	PF_FIELD(struct row, calls, "Calls", PF_COUNT | PF_KNOWN),
	PF_FIELD(struct row, cpu_ns, "CPU", PF_NS | PF_KNOWN),
	PF_FIELD(struct row, work_count, "GPU events", PF_COUNT | PF_KNOWN),
	PF_FIELD(struct row, gpu_ns, "GPU", PF_NS | PF_KNOWN),
	PF_FIELD(struct row, share, "Share", PF_RATIO),
};

struct sums {
	int64_t operators, work_count, gpu_ns, none_count, none_ns;
};

static const struct pf_field sum_fields[] = {
	PF_FIELD(struct sums, operators, "Operators", PF_COUNT | PF_KNOWN),
	PF_FIELD(struct sums, work_count, "GPU events", PF_COUNT | PF_KNOWN),
	PF_FIELD(struct sums, gpu_ns, "GPU time, summed", PF_NS | PF_KNOWN),
};

static void show_sums(const struct sums *sums, struct pf_doc *doc)
{
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
			    PF_SHOW_COUNT(sums->none_count),
			    PF_SHOW_NS(sums->none_ns));
}

/* What TPUs ran; where there is nothing else, it is the answer. */
static void add_tpus(struct pf_db *db, const struct pf_window *window,
		     bool is_alone, struct pf_doc *doc)
{
	if (pf_hlo_ops(db, window, PF_HLO_BY_NAME, is_alone, doc) == 1)
		doc->is_nothing = false;
}

/* Shares are of all GPU work, which the rows give together. */
static void settle_rows(struct pf_keyed *rows, const struct sums *sums)
{
	for (size_t i = 0; i < rows->count; i++) {
		struct row *row = PF_KEYED_ROW(rows, struct row, i);

		/* Not recorded on the host: unknown. */
		if (!row->calls)
			row->calls = row->cpu_ns = -1;
		if (!sums->work_count)
			row->work_count = row->gpu_ns = -1;
		row->share = pf_ratio((double)row->gpu_ns, sums->gpu_ns);
	}
}

int pf_operators(struct pf_db *db, const struct pf_window *window,
		 struct pf_doc *doc)
{
	const struct pf_window_trace *part = &window->traces[0];
	/* with the table of events, which torch's own table does not need */
	PF_AUTO(pf_db_close) struct pf_db other = { 0 };
	PF_STMT(st) = NULL;
	PF_AUTO(pf_arena_release) struct pf_arena names = { 0 };
	struct sums sums = { 0 };
	PF_AUTO(pf_keyed_end) struct pf_keyed rows = { 0 };

	pf_keyed_begin(&rows, sizeof(struct row), PF_KEYED_SUMS);
	PF_TRY(pf_db_open(&other, db->path, true, db->err));
	st = pf_named_prepare(&other, "operators", db->err);
	sqlite3_bind_int64(st, 1, part->trace_id);
	sqlite3_bind_int64(st, 2, part->from_ns);
	sqlite3_bind_int64(st, 3, part->to_ns);
	while (pf_db_step(&other, st, db->err) == 1) {
		const char *name = pf_sqlite_text(st, 0);
		bool has_name = name && *name;
		size_t n = pf_keyed_at(&rows, rows.count);
		struct row *row = PF_KEYED_ROW(&rows, struct row, n);

		row->name = pf_arena_string(&names, has_name ? name : "(none)");
		row->calls = sqlite3_column_int64(st, 1);
		row->cpu_ns = sqlite3_column_int64(st, 2);
		row->work_count = sqlite3_column_int64(st, 3);
		row->gpu_ns = sqlite3_column_int64(st, 4);
		sums.operators += has_name;
		pf_sat_sum(&sums.work_count, row->work_count);
		pf_sat_sum(&sums.gpu_ns, row->gpu_ns);
		if (!has_name) {
			sums.none_count = row->work_count;
			sums.none_ns = row->gpu_ns;
		}
	}
	if (!db->err->code) {
		show_sums(&sums, doc);
		settle_rows(&rows, &sums);
		PF_ROWS(doc, "operators", "Operators", fields,
			PF_KEYED_ROW(&rows, struct row, 0), rows.count);
		add_tpus(db, window, doc->is_nothing, doc);
	}
	return db->err->code ? -1 : 0;
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
	PF_FIELD(struct named_row, name, "Operator", PF_TEXT),
	PF_FIELD(struct named_row, calls, "Calls", PF_COUNT | PF_MAYBE),
	PF_FIELD(struct named_row, self_cpu_ns, "Self CPU", PF_NS | PF_MAYBE),
	PF_FIELD(struct named_row, cpu_total_ns, "CPU total",
		 PF_NS | PF_MAYBE | PF_FULL),
	PF_FIELD(struct named_row, launched_count, "Launched works",
		 PF_COUNT | PF_FULL),
	PF_FIELD(struct named_row, launched_ns, "Launched", PF_NS | PF_FULL),
	PF_FIELD(struct named_row, replayed_count, "Replayed works",
		 PF_COUNT | PF_FULL),
	PF_FIELD(struct named_row, replayed_ns, "Replayed", PF_NS),
	PF_FIELD(struct named_row, gpu_ns, "GPU", PF_NS),
	PF_FIELD(struct named_row, share, "Share", PF_RATIO),
};

/* Work that its operator is yet to be asked for: a record of events/gpu.h. */
struct item {
	int64_t op_id, order, dur_ns;
};

struct walk {
	struct pf_ask ask;
	struct pf_graphs *graphs;
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

static void gather(struct walk *w)
{
	const struct pf_gpu_event *ev;
	struct item item = { 0 };

	while ((ev = pf_ask_gpu(&w->ask, PF_GPU_LINKS))) {
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
		pf_by_event_add(w->by_op, &item);
	}
}

static void resolve(struct walk *w)
{
	const struct item *item;
	const struct pf_block *block;
	uint32_t place;

	while (pf_ask_names(&w->ask) &&
	       (item = pf_by_event_next(w->by_op, &block, &place))) {
		PF_OWN char *name =
			block ? pf_names_text_take(w->ask.names,
						   block->name[place])
			      : pf_strdup("(none)");
		struct named_row *row;

		if (!name)
			return;
		row = row_of(w, name);
		row->launched_count++;
		pf_sat_sum(&row->launched_ns, item->dur_ns);
		if (!block)
			pf_sat_sum(&w->none_ns, item->dur_ns);
	}
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
	if (w->replayed_count)
		pf_doc_finding(doc,
			       "%s of GPU work by operator, %s of it replayed "
			       "by graphs and named by evidence",
			       PF_SHOW_NS(w->gpu_ns),
			       PF_SHOW_NS(w->replayed_ns));
	else
		pf_doc_finding(doc,
			       "%s of GPU work by operator; none of it is "
			       "replayed by graphs and has a known operator",
			       PF_SHOW_NS(w->gpu_ns));
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

int pf_named_work(struct pf_db *db, const struct pf_named_work_args *args,
		  struct pf_doc *doc)
{
	struct walk w = { .graphs = args->graphs };

	pf_ask_begin_in(&w.ask, db, args->window);
	pf_keyed_begin(&w.rows, sizeof(struct named_row), PF_KEYED_SUMS);
	w.by_op = pf_by_event_new(db, sizeof(struct item),
				  PF_COLBIT(PF_COL_NAME));
	gather(&w);
	resolve(&w);
	if (!db->err->code) {
		add_host(&w, args->averages);
		finish_rows(&w);
		show(&w, doc);
	}
	pf_by_event_free(w.by_op);
	pf_keyed_end(&w.rows);
	return pf_ask_end(&w.ask);
}
