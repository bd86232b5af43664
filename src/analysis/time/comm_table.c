/* SPDX-License-Identifier: MIT */
/*
 * The arguments of one argset are read once.  A row's key is what the table
 * shows of it, with a NUL after each part.
 */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "events/collective.h"
#include "analysis/time/comm_table.h"
#include "base/intern.h"
#include "analysis/time/kernels.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/sat.h"
#include "store/texts.h"
#include "show/rows.h"
#include "formats/event.h"

#define NO_ROW (UINT64_MAX - 1)

/* What an argset says: its row, and the size of a message. */
struct message {
	size_t row;
	int64_t in_bytes, out_bytes, bytes;
};

struct pf_comm_table {
	struct pf_texts texts;
	struct pf_intern keys;
	struct pf_comm_row *rows; /* by number of their key */
	size_t row_count, row_cap, shown_count;
	struct pf_map argsets; /* argset.id -> message, NO_ROW: none */
	struct message *messages;
	size_t message_count, message_cap;
	struct pf_map names;   /* string.id -> row */
	struct pf_map records; /* ids of collectives that were counted */
	struct rule {
		const char *words;
		int64_t count, ns;
	} rules[PF_COMM_RULES];
};

static char *take_text(struct pf_json value)
{
	struct pf_buf text = { 0 };

	if (!value.p)
		return NULL;
	pf_buf_adds(&text, "");
	pf_json_text(value, &text);
	return text.data;
}

/* The row of a collective, made if there is none. */
static size_t find_row(struct pf_comm_table *t, const struct pf_collective *c)
{
	struct pf_comm_row row = { .collective = take_text(c->name),
				   .group = take_text(c->group),
				   .description = take_text(c->description),
				   .dtype = take_text(c->dtype),
				   .group_size = c->group_size,
				   .factor = pf_collective_factor(c) };
	const char *const parts[] = { row.collective, row.group,
				      row.description, row.dtype };
	struct pf_buf key = { 0 };
	size_t n;

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		pf_buf_add(&key, parts[i] ? parts[i] : "",
			   parts[i] ? strlen(parts[i]) + 1 : 1);
	pf_buf_addf(&key, "%" PRId64, row.group_size);
	n = pf_intern_add(&t->keys, key.data, key.len);
	pf_buf_release(&key);
	if (n < t->row_count) {
		for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
			free((char *)parts[i]);
		return n;
	}
	t->rows = pf_grow(t->rows, &t->row_cap, n + 1, sizeof(*t->rows));
	t->rows[n] = row;
	t->row_count = n + 1;
	return n;
}

/* What the arguments say of a collective: *out NULL if nothing. */
static int find_message(struct pf_comm_table *t, uint32_t args,
			const struct message **out, struct pf_err *err)
{
	struct pf_collective c;
	const char *text;
	size_t len;
	uint64_t *place;
	int rc;

	*out = NULL;
	if (args >= PF_ID_INLINE)
		return 0;
	place = pf_map_at(&t->argsets, args);
	if (*place == UINT64_MAX) {
		rc = pf_texts_get(&t->texts, PF_TEXT_ARGS, args, &text, &len,
				  err);
		if (rc < 0)
			return -1;
		*place = NO_ROW;
		if (rc == 1 && pf_collective_read(text, len, &c)) {
			t->messages = pf_grow(t->messages, &t->message_cap,
					      t->message_count + 1,
					      sizeof(*t->messages));
			t->messages[t->message_count] =
				(struct message){ find_row(t, &c), c.in_bytes,
						  c.out_bytes,
						  pf_collective_bytes(&c) };
			*place = t->message_count++;
		}
	}
	if (*place != NO_ROW)
		*out = &t->messages[*place];
	return 0;
}

/* A row for what has no arguments, by the name of a range or kernel. */
static int find_named(struct pf_comm_table *t, struct pf_gpu *gpu,
		      const struct pf_gpu_event *ev, size_t *row,
		      struct pf_err *err)
{
	bool is_kernel = ev->comm.name == PF_ID_NONE;
	uint64_t *place =
		pf_map_at(&t->names, is_kernel ? ev->name : ev->comm.name);
	struct pf_collective c = { .group_size = -1,
				   .in_bytes = -1,
				   .out_bytes = -1 };
	struct pf_buf name = { 0 };
	const char *text;

	if (*place == UINT64_MAX) {
		text = pf_gpu_name(gpu, is_kernel ? ev->name : ev->comm.name,
				   err);
		if (!text)
			return -1;
		if (is_kernel)
			pf_kernel_short_name(&name, text);
		else
			pf_buf_adds(&name, text);
		c.name = (struct pf_json){ name.data, name.len };
		*place = find_row(t, &c);
		pf_buf_release(&name);
	}
	*row = *place;
	return 0;
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

int pf_comm_table_add(struct pf_comm_table *t, struct pf_gpu *gpu,
		      const struct pf_gpu_event *ev, struct pf_err *err)
{
	const struct message *m;
	bool is_first = true;
	size_t row;

	t->rules[ev->comm.rule].count++;
	add_known(&t->rules[ev->comm.rule].ns, ev->dur_ns);
	if (find_message(t, ev->config, &m, err) < 0)
		return -1;
	if (!m && ev->comm.record_id) {
		uint64_t *seen =
			pf_map_at(&t->records, (uint64_t)ev->comm.record_id);

		is_first = *seen == UINT64_MAX;
		*seen = 1;
		if (find_message(t, ev->comm.record_args, &m, err) < 0)
			return -1;
	}
	if (m)
		row = m->row;
	else if (find_named(t, gpu, ev, &row, err) < 0)
		return -1;
	pf_stats_add(&t->rows[row].dur, ev->dur_ns);
	if (m)
		add_message(&t->rows[row], m, ev->dur_ns, is_first);
	return 0;
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

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct pf_comm_row, member, key, title, kind)
static const struct pf_field row_fields[] = {
	FIELD(collective, "collective", "Collective", PF_TEXT),
	FIELD(group, "group", "Group", PF_TEXT),
	FIELD(description, "group_description", "Description",
	      PF_TEXT | PF_FULL),
	FIELD(group_size, "group_size", "Ranks", PF_COUNT | PF_KNOWN),
	FIELD(dtype, "dtype", "Type", PF_TEXT | PF_FULL),
	FIELD(dur.count, "count", "Kernels", PF_COUNT),
	FIELD(message_count, "message_count", "Messages", PF_COUNT | PF_FULL),
	FIELD(in_bytes, "in_bytes", "Data in", PF_BYTES | PF_KNOWN),
	FIELD(out_bytes, "out_bytes", "Data out",
	      PF_BYTES | PF_FULL | PF_KNOWN),
	FIELD(dur.sum, "total_ns", "Total", PF_NS | PF_FULL),
	FIELD(mean_ns, "mean_ns", "Mean", PF_NS),
	FIELD(dur.min, "min_ns", "Shortest", PF_NS | PF_FULL),
	FIELD(dur.max, "max_ns", "Longest", PF_NS | PF_FULL),
	FIELD(algorithm_rate, "algorithm_gb_per_s", "Alg GB/s", PF_REAL),
	FIELD(bus_rate, "bus_gb_per_s", "Bus GB/s", PF_REAL),
};
#undef FIELD

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct rule, member, key, title, kind)
static const struct pf_field rule_fields[] = {
	FIELD(words, "rule", "Rule", PF_TEXT | PF_OURS),
	FIELD(count, "count", "Events", PF_COUNT),
	FIELD(ns, "total_ns", "Total", PF_NS),
};
#undef FIELD

const struct pf_comm_row *pf_comm_table_rows(struct pf_comm_table *t,
					     size_t *count)
{
	pf_sort(t->rows, t->row_count, sizeof(*t->rows), by_time);
	while (t->shown_count < t->row_count &&
	       t->rows[t->shown_count].dur.count)
		settle(&t->rows[t->shown_count++]);
	*count = t->shown_count;
	return t->rows;
}

void pf_comm_table_show(const struct pf_comm_table *t,
			const struct pf_window *window, struct pf_doc *doc)
{
	struct pf_table *rules;

	PF_WINDOW_ROWS(window, doc, "collectives",
		       "Communication by collective and group", row_fields,
		       t->rows, t->shown_count);
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
	pf_intern_init(&t->keys);
	pf_map_init(&t->argsets);
	pf_map_init(&t->names);
	pf_map_init(&t->records);
	return t;
}

void pf_comm_table_free(struct pf_comm_table *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->row_count; i++) {
		free((char *)t->rows[i].collective);
		free((char *)t->rows[i].group);
		free((char *)t->rows[i].description);
		free((char *)t->rows[i].dtype);
	}
	pf_texts_release(&t->texts);
	pf_intern_release(&t->keys);
	pf_map_release(&t->argsets);
	pf_map_release(&t->names);
	pf_map_release(&t->records);
	free(t->rows);
	free(t->messages);
	free(t);
}
