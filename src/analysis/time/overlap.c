/* SPDX-License-Identifier: MIT */
/*
 * Each device of a trace has a sweep with a set per class, and for TPUs sets of
 * operations around others and of what is under way beside them.
 */
#include "config.h"

#include "analysis/time/overlap.h"

#include <inttypes.h>

#include "base/intern.h"
#include "base/num.h"
#include "base/order.h"
#include "base/sat.h"
#include "events/args.h"
#include "events/ask.h"
#include "events/interval.h"
#include "events/trust.h"
#include "formats/event.h"
#include "store/texts.h"

/* What an argset says: its row, and the size of a message. */
struct message {
	size_t row; /* NO_ROW: nothing */
	int64_t in_bytes, out_bytes, bytes;
};
#define NO_ROW SIZE_MAX

struct pf_comm_table {
	struct pf_texts texts;
	struct pf_arena kept;     /* texts of rows */
	struct pf_keyed rows;     /* struct pf_comm_row, by what is shown */
	struct pf_keyed messages; /* struct message, by argset.id */
	struct pf_map names;      /* string.id -> row */
	struct pf_map records;    /* ids of collectives that were counted */
	struct rule {
		const char *words;
		int64_t count, ns;
	} rules[PF_COMM_RULES];
};

static struct pf_comm_row *row_at(const struct pf_comm_table *t, size_t i)
{
	return PF_KEYED_ROW(&t->rows, struct pf_comm_row, i);
}

/* The row of a collective, made if there is none. */
static size_t find_row(struct pf_comm_table *t, const struct pf_collective *c)
{
	const struct pf_json parts[] = { c->name, c->group, c->description,
					 c->dtype };
	const char *texts[4] = { 0 };
	size_t at[4], known = t->rows.count, n;
	PF_AUTO(pf_buf_release) struct pf_buf key = { 0 };

	for (size_t i = 0; i < 4; i++) {
		at[i] = key.len;
		pf_json_text(parts[i], &key);
		pf_buf_addc(&key, '\0');
	}
	pf_buf_addf(&key, "%" PRId64, c->group_size);
	n = pf_keyed_at_text(&t->rows, key.data, key.len);
	for (size_t i = 0; n == known && i < 4; i++)
		if (parts[i].p)
			texts[i] = pf_arena_string(&t->kept, key.data + at[i]);
	if (n == known)
		*row_at(t, n) =
			(struct pf_comm_row){ .collective = texts[0],
					      .group = texts[1],
					      .description = texts[2],
					      .dtype = texts[3],
					      .group_size = c->group_size,
					      .factor =
						      pf_collective_factor(c) };
	return n;
}

/* What the arguments say of a collective, read once; NULL: nothing. */
static const struct message *find_message(struct pf_comm_table *t,
					  uint32_t args)
{
	size_t known = t->messages.count, n;
	struct pf_collective c;
	struct message *m;
	const char *text;
	size_t len;

	if (args >= PF_ID_INLINE)
		return NULL;
	n = pf_keyed_at(&t->messages, args);
	m = PF_KEYED_ROW(&t->messages, struct message, n);
	if (n == known) {
		m->row = NO_ROW;
		if (pf_texts_get(&t->texts, PF_TEXT_ARGS, args, &text, &len,
				 t->texts.db->err) == 1 &&
		    pf_collective_read(text, len, &c))
			*m = (struct message){ find_row(t, &c), c.in_bytes,
					       c.out_bytes,
					       pf_collective_bytes(&c) };
	}
	return m->row == NO_ROW ? NULL : m;
}

/* A row for what has no arguments, by the name of a range or kernel. */
static size_t find_named(struct pf_comm_table *t, struct pf_gpu *gpu,
			 const struct pf_gpu_event *ev)
{
	bool is_kernel = ev->comm.name == PF_ID_NONE;
	uint32_t id = is_kernel ? ev->name : ev->comm.name;
	uint64_t *place = pf_map_at(&t->names, id);
	struct pf_collective c = { .group_size = -1,
				   .in_bytes = -1,
				   .out_bytes = -1 };
	struct pf_buf name = { 0 };
	const char *text;

	if (*place == UINT64_MAX) {
		text = pf_gpu_name(gpu, id);
		if (text && is_kernel)
			pf_kernel_short_name(&name, text);
		else
			pf_buf_adds(&name, text ? text : "");
		c.name = (struct pf_json){ name.data, name.len };
		*place = find_row(t, &c);
		pf_buf_release(&name);
	}
	return *place;
}

static void add_known(int64_t *sum, int64_t value)
{
	if (value >= 0)
		pf_sat_sum(sum, value);
}

static void add_message(struct pf_comm_row *row, const struct message *m,
			int64_t dur_ns, bool is_first)
{
	if (is_first) {
		row->message_count++;
		add_known(&row->in_bytes, m->in_bytes);
		add_known(&row->out_bytes, m->out_bytes);
	}
	if (m->bytes < 0)
		return;
	row->rated_count += is_first;
	pf_sat_sum(&row->rated_ns, dur_ns);
	if (is_first)
		pf_sat_sum(&row->rated_bytes, m->bytes);
}

void pf_comm_table_add(struct pf_comm_table *t, struct pf_gpu *gpu,
		       const struct pf_gpu_event *ev)
{
	const struct message *m = find_message(t, ev->config);
	bool is_first = true;
	struct pf_comm_row *row;

	t->rules[ev->comm.rule].count++;
	add_known(&t->rules[ev->comm.rule].ns, ev->dur_ns);
	if (!m && ev->comm.record_id) {
		uint64_t *seen =
			pf_map_at(&t->records, (uint64_t)ev->comm.record_id);

		is_first = *seen == UINT64_MAX;
		*seen = 1;
		m = find_message(t, ev->comm.record_args);
	}
	row = row_at(t, m ? m->row : find_named(t, gpu, ev));
	pf_stats_add(&row->dur, ev->dur_ns);
	if (m)
		add_message(row, m, ev->dur_ns, is_first);
}

/* ---- the answer ---- */

PF_ORDER(by_time, struct pf_comm_row,
	 PF_DOWN(dur.count != 0) PF_DOWN(dur.sum) PF_ALPHA(collective)
		 PF_ALPHA(group) PF_ALPHA(description) PF_ALPHA(dtype)
			 PF_UP(group_size))

static double rate_of(const struct pf_comm_row *row, double factor)
{
	return row->rated_count && row->rated_ns > 0 && factor >= 0
		       ? factor * (double)row->rated_bytes /
				 (double)row->rated_ns
		       : NAN;
}

static void settle(struct pf_comm_row *row)
{
	row->mean_ns = pf_stats_mean(&row->dur);
	row->algorithm_rate = rate_of(row, 1);
	row->bus_rate = rate_of(row, row->factor);
	if (row->group_size <= 0)
		row->group_size = -1;
	if (!row->rated_count)
		row->in_bytes = row->out_bytes = -1;
}

#define FIELD(...) PF_FIELD(struct pf_comm_row, __VA_ARGS__)
static const struct pf_field row_fields[] = {
	FIELD(collective, "Collective", PF_TEXT),
	FIELD(group, "Group", PF_TEXT),
	FIELD(description, "group_description", "Description",
	      PF_TEXT | PF_FULL),
	FIELD(group_size, "Ranks", PF_COUNT | PF_KNOWN),
	FIELD(dtype, "Type", PF_TEXT | PF_FULL),
	FIELD(dur.count, "count", "Kernels", PF_COUNT),
	FIELD(message_count, "Messages", PF_COUNT | PF_FULL),
	FIELD(in_bytes, "Data in", PF_BYTES | PF_KNOWN),
	FIELD(out_bytes, "Data out", PF_BYTES | PF_FULL | PF_KNOWN),
	FIELD(dur.sum, "total_ns", "Total", PF_NS | PF_FULL),
	FIELD(mean_ns, "Mean", PF_NS),
	FIELD(dur.min, "min_ns", "Shortest", PF_NS | PF_FULL),
	FIELD(dur.max, "max_ns", "Longest", PF_NS | PF_FULL),
	FIELD(algorithm_rate, "algorithm_gb_per_s", "Alg GB/s", PF_REAL),
	FIELD(bus_rate, "bus_gb_per_s", "Bus GB/s", PF_REAL),
};
#undef FIELD

#define FIELD(...) PF_FIELD(struct rule, __VA_ARGS__)
static const struct pf_field rule_fields[] = {
	FIELD(words, "rule", "Rule", PF_TEXT | PF_OURS),
	FIELD(count, "Events", PF_COUNT),
	FIELD(ns, "total_ns", "Total", PF_NS),
};
#undef FIELD

const struct pf_comm_row *pf_comm_table_rows(struct pf_comm_table *t,
					     size_t *count)
{
	pf_keyed_sort(&t->rows, by_time);
	while (t->rows.count && !row_at(t, t->rows.count - 1)->dur.count)
		t->rows.count--;
	for (size_t i = 0; i < t->rows.count; i++)
		settle(row_at(t, i));
	*count = t->rows.count;
	return t->rows.rows;
}

/* Add the tables "collectives" of those rows and "comm_rules". */
static void comm_table_show(const struct pf_comm_table *t,
			    const struct pf_window *window, struct pf_doc *doc)
{
	struct pf_table *rules;

	PF_WINDOW_ROWS(window, doc, "collectives",
		       "Communication by collective and group", row_fields,
		       row_at(t, 0), t->rows.count);
	rules = pf_doc_fields(doc, "comm_rules", "Why it is communication",
			      PF_FIELDS(rule_fields));
	for (int i = 0; i < PF_COMM_RULES; i++) {
		struct rule rule = t->rules[i];

		rule.words = pf_window_title(
			window, pf_comm_rule_words((enum pf_comm_rule)i));
		if (rule.count)
			PF_PUT(rules, rule_fields, rule);
	}
}

struct pf_comm_table *pf_comm_table_new(struct pf_db *db)
{
	struct pf_comm_table *t = pf_calloc(1, sizeof(*t));

	t->texts.db = db;
	pf_keyed_begin(&t->rows, sizeof(struct pf_comm_row), PF_KEYED_SUMS);
	pf_keyed_begin(&t->messages, sizeof(struct message), PF_KEYED_SUMS);
	return t;
}

void pf_comm_table_free(struct pf_comm_table *t)
{
	if (!t)
		return;
	pf_texts_release(&t->texts);
	pf_arena_release(&t->kept);
	pf_keyed_end(&t->rows);
	pf_keyed_end(&t->messages);
	pf_map_release(&t->names);
	pf_map_release(&t->records);
	free(t);
}

#define BIT(set)  (1u << (set))
#define ALL_BITS  (BIT(PF_GPU_CLASSES) - 1)
#define AROUND    PF_GPU_CLASSES /* a set, too, as are: */
#define FLIGHT(c) ((c) == PF_GPU_COMM ? AROUND + 1 : AROUND + 2)

_Static_assert(FLIGHT(PF_GPU_COPY) < PF_SWEEP_SETS, "a set for each");

/* What is being swept. */
struct overlap {
	struct pf_overlap *out;
	struct device {
		struct pf_sweep sweep;
		int64_t count, hi_ns;
	} * devices; /* as those of "out" */
	size_t cap, out_cap;
	struct pf_map of_trace; /* device -> those of the trace that is read */
};

/*
 * The sets of a sweep as classes: an operation around others computes where
 * none of them runs, and what is under way is of its class.
 */
static unsigned on_device(unsigned mask)
{
	return mask & ALL_BITS      ? mask & ALL_BITS
	       : mask & BIT(AROUND) ? BIT(PF_GPU_COMPUTE)
				    : 0;
}

static unsigned under_way(unsigned mask)
{
	return (mask & BIT(FLIGHT(PF_GPU_COMM)) ? BIT(PF_GPU_COMM) : 0) |
	       (mask & BIT(FLIGHT(PF_GPU_COPY)) ? BIT(PF_GPU_COPY) : 0);
}

/* Time of exactly these classes: what none of those above it hides. */
static void add_exposed(struct pf_overlap_figures *out, unsigned classes,
			int64_t ns)
{
	int64_t *const parts[] = { &out->computation_ns, &out->exposed_comm_ns,
				   &out->exposed_copy_ns,
				   &out->exposed_memset_ns };
	size_t top = 0;

	while (top < PF_GPU_CLASSES && !(classes & BIT(top)))
		top++;
	pf_sat_sum(top < PF_GPU_CLASSES ? parts[top] : &out->idle_ns, ns);
}

static void figure(const struct pf_sweep *s, int64_t count,
		   struct pf_overlap_figures *out)
{
	out->event_count += count;
	for (unsigned mask = 0; mask < 1u << PF_SWEEP_SETS; mask++) {
		unsigned busy = on_device(mask), any = busy | under_way(mask);
		int64_t ns = s->by_mask[mask];

		if (!ns)
			continue;
		pf_sat_sum(&out->total_ns, ns);
		add_exposed(out, busy, ns);
		if (busy)
			pf_sat_sum(&out->busy_ns, ns);
		if (busy)
			pf_sat_sum(&out->together_ns[any], ns);
		if (any & BIT(PF_GPU_COMM))
			pf_sat_sum(&out->comm_ns, ns);
		if (any & BIT(PF_GPU_COPY))
			pf_sat_sum(&out->copy_ns, ns);
		if (any & BIT(PF_GPU_MEMSET))
			pf_sat_sum(&out->memset_ns, ns);
		if (any & BIT(PF_GPU_COMM) && busy & BIT(PF_GPU_COMPUTE))
			pf_sat_sum(&out->overlap_ns, ns);
	}
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
	uint64_t *at = pf_map_at(&o->of_trace, (uint64_t)ev->device);
	struct device *d;

	if (*at != UINT64_MAX)
		return &o->devices[*at];
	*at = n;
	PF_ROOM(out->devices, o->out_cap, n + 1);
	out->devices[n] =
		(struct pf_overlap_device){ .trace_id = ev->trace->trace_id,
					    .rank = ev->trace->rank,
					    .device = ev->device };
	PF_ROOM(o->devices, o->cap, n + 1);
	d = &o->devices[n];
	d->count = 0;
	d->hi_ns = ev->trace->hi_ns;
	pf_sweep_init(&d->sweep);
	pf_sweep_begin(&d->sweep, ev->trace->lo_ns);
	out->device_count++;
	pf_gpu_set_add(&out->gpus, ev->trace, ev->device);
	return d;
}

static unsigned set_of(const struct pf_gpu_event *ev)
{
	return ev->is_in_flight ? FLIGHT(ev->class)
	       : ev->is_around  ? AROUND
				: ev->class;
}

static void gather(struct pf_ask *q, struct overlap *o)
{
	const struct pf_gpu_event *ev;

	while ((ev = pf_ask_gpu(q, PF_GPU_OUTSIDE | PF_GPU_TPUS))) {
		struct device *d;

		if (ev->is_first_of_trace)
			pf_map_release(&o->of_trace);
		d = find_device(o, ev);
		if (ev->is_outside)
			continue;
		d->count += !ev->is_in_flight;
		pf_sweep_add(&d->sweep, set_of(ev), ev->start_ns, ev->end_ns);
		if (ev->class == PF_GPU_COMM && !ev->is_in_flight)
			pf_comm_table_add(o->out->comm, q->gpu, ev);
	}
}

PF_ORDER(by_device, struct pf_overlap_device, PF_UP(trace_id) PF_UP(device))

static void take_together(struct pf_overlap *o, struct pf_arena *texts)
{
	for (unsigned mask = 1; mask <= ALL_BITS; mask++) {
		int64_t ns = o->all.together_ns[mask];
		PF_AUTO(pf_buf_release) struct pf_buf name = { 0 };

		if (!ns)
			continue;
		for (unsigned c = 0; c < PF_GPU_CLASSES; c++)
			if (mask & BIT(c))
				pf_buf_addf(&name, "%s%s", name.len ? ", " : "",
					    pf_gpu_class_name(c));
		o->together[o->together_count++] = (struct pf_overlap_together){
			pf_arena_string(texts, name.data), ns,
			pf_num_share(ns, o->all.busy_ns)
		};
	}
}

/* Time on one GPU hides nothing on another: figures of all are sums. */
static void add_up(struct overlap *o, struct pf_arena *texts)
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
	take_together(out, texts);
	pf_sort(out->devices, out->device_count, sizeof(*out->devices),
		by_device);
}

int pf_overlap_find(struct pf_db *db, const struct pf_overlap_args *args,
		    struct pf_overlap *out)
{
	struct overlap o = { .out = out };
	struct pf_ask q;

	out->comm = pf_comm_table_new(db);
	if (!pf_ask_begin(&q, db, &args->window) &&
	    !pf_arrivals_find(db, &q.window, &out->arrivals) &&
	    !pf_window_to_steps(db, &q.window, &out->step_count, NULL))
		gather(&q, &o);
	if (!db->err->code)
		add_up(&o, &q.memory);
	out->collectives =
		pf_comm_table_rows(out->comm, &out->collective_count);
	pf_map_release(&o.of_trace);
	free(o.devices);
	return pf_ask_keep(&q, &out->window, &out->texts);
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
	const char *device = pf_window_device(&o->window);
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };

	doc->is_nothing = !o->device_count;
	if (!o->device_count) {
		pf_doc_finding(doc, "%s", pf_window_no_work(&o->window));
		return;
	}
	if (!f->total_ns) {
		pf_doc_finding(doc, "%s work takes no time", device);
		return;
	}
	if (o->gpus.count > 1)
		pf_buf_addf(&text, "%zu %ss busy ", o->gpus.count, device);
	else
		pf_buf_addf(&text, "%s busy ", device);
	pf_window_say_part(&o->window, &text, f->busy_ns, f->total_ns,
			   o->step_count);
	if (!f->comm_ns)
		pf_buf_addf(&text, ", without any communication");
	else
		pf_buf_addf(&text,
			    "; %s of the communication hides behind "
			    "computation",
			    PF_SHOW_SHARE(f->overlap_ns, f->comm_ns));
	pf_doc_finding(doc, "%.*s", (int)text.len, text.data);
}

#define FIELD(...) PF_FIELD(struct pf_overlap_figures, __VA_ARGS__)
static const struct pf_field figures[] = {
	FIELD(total_ns, "Total", PF_NS),
	FIELD(busy_ns, "Busy", PF_NS),
	FIELD(idle_ns, "Idle", PF_NS),
	FIELD(computation_ns, "Computation", PF_NS),
	FIELD(exposed_comm_ns, "Exposed communication", PF_NS),
	FIELD(exposed_copy_ns, "Exposed copies", PF_NS),
	FIELD(exposed_memset_ns, "Exposed memsets", PF_NS),
	FIELD(comm_ns, "Communication", PF_NS),
	FIELD(overlap_ns, "of it behind computation", PF_NS),
	FIELD(copy_ns, "Copies", PF_NS),
	FIELD(memset_ns, "Memsets", PF_NS),
	FIELD(event_count, "GPU events", PF_COUNT),
};
#undef FIELD

#define FIELD(...) PF_FIELD(struct pf_overlap_device, __VA_ARGS__)
static const struct pf_field device_fields[] = {
	FIELD(rank, "Rank", PF_INT | PF_KNOWN),
	FIELD(device, "GPU", PF_INT | PF_KNOWN),
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
	FIELD(trace_id, "Trace", PF_INT | PF_FULL),
};
#undef FIELD

#define FIELD(...) PF_FIELD(struct pf_overlap_together, __VA_ARGS__)
static const struct pf_field together_fields[] = {
	FIELD(classes, "Running together", PF_TEXT),
	FIELD(ns, "Time", PF_NS),
	FIELD(busy_share, "Of busy", PF_RATIO),
};

static void overlap_show(const struct pf_overlap *o, struct pf_doc *doc)
{
	add_finding(doc, o);
	PF_WINDOW_SCALARS(&o->window, doc, figures, o->all);
	PF_WINDOW_ROWS(&o->window, doc, "devices",
		       "By GPU, each instant counted once, from left to right",
		       device_fields, o->devices, o->device_count);
	PF_ROWS(doc, "together", "What runs at the same time", together_fields,
		o->together, o->together_count);
	comm_table_show(o->comm, &o->window, doc);
	pf_arrivals_show(&o->arrivals, doc);
}

int pf_overlap(struct pf_db *db, const struct pf_overlap_args *args,
	       struct pf_overlap *kept, struct pf_doc *doc)
{
	PF_AUTO(pf_overlap_release) struct pf_overlap own = { 0 };
	struct pf_overlap *o = kept ? kept : &own;

	PF_TRY(pf_overlap_find(db, args, o));
	overlap_show(o, doc);
	return pf_trust_note(db, &o->window, PF_TRUST_WORK | PF_TRUST_TPUS,
			     doc);
}

#undef FIELD
