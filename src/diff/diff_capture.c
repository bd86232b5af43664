/* SPDX-License-Identifier: MIT */
/*
 * The steps and their classes are what pf_steps_answer() says, in ns: there is
 * one sweep in this program.  The host's side of a step comes from the same
 * rows that it is made of.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "diff/diff_capture.h"
#include "events/interval.h"
#include "base/stats.h"
#include "events/step.h"
#include "analysis/steps.h"
#include "base/mem.h"
#include "base/sat.h"
#include "base/search.h"
#include "store/named.h"
#include "table/find.h"

static const char *const class_names[PF_STEP_CLASSES] = {
	"kernel", "copy", "memset", "comm", "runtime", "data", "cpu", "other",
};

const char *pf_step_class_name(enum pf_step_class class)
{
	return class_names[class];
}

static const struct {
	const char *key, *title;
} counts[PF_COUNT_COUNTS] = {
	[PF_COUNT_KERNELS] = { "kernels", "Kernels" },
	[PF_COUNT_COLLECTIVES] = { "collectives", "Kernels of communication" },
	[PF_COUNT_LAUNCHES] = { "launches", "Calls that launch kernels" },
	[PF_COUNT_GRAPHS] = { "graph_launches", "Calls that launch graphs" },
	[PF_COUNT_SYNCS] = { "syncs", "Blocking calls" },
	[PF_COUNT_ALLOCATIONS] = { "allocations", "Calls of the allocator" },
	[PF_COUNT_TENSORS] = { "tensor_allocations", "Tensors allocated" },
	[PF_COUNT_HTOD] = { "copies_htod", "Copies to GPU" },
	[PF_COUNT_DTOH] = { "copies_dtoh", "Copies to host" },
	[PF_COUNT_DTOD] = { "copies_dtod", "Copies on GPU" },
	[PF_COUNT_OTHER_COPIES] = { "copies_other", "Other copies" },
	[PF_COUNT_HTOD_BYTES] = { "bytes_htod", "copied to GPU" },
	[PF_COUNT_DTOH_BYTES] = { "bytes_dtoh", "copied to host" },
	[PF_COUNT_DTOD_BYTES] = { "bytes_dtod", "copied on GPU" },
	[PF_COUNT_OTHER_BYTES] = { "bytes_other", "copied otherwise" },
	[PF_COUNT_MEMSETS] = { "memsets", "Memsets" },
	[PF_COUNT_OPS] = { "ops", "Operators" },
	[PF_COUNT_CALLS] = { "calls", "Runtime calls" },
	[PF_COUNT_GPU_NS] = { "gpu_ns", "Time of GPU work" },
	[PF_COUNT_WORK_NS] = { "kernel_ns", "Time of kernels" },
};

const char *pf_step_count_key(enum pf_step_count count)
{
	return counts[count].key;
}

const char *pf_step_count_title(enum pf_step_count count)
{
	return counts[count].title;
}

/* ---- steps ---- */

struct host_step {
	int64_t trace_id, step, start_ns, end_ns;
};

/* Profiler steps need no reading of GPU work to know where they begin. */
static int load_profiler_steps(struct pf_db *db, struct host_step **out,
			       size_t *count, struct pf_err *err)
{
	sqlite3_stmt *stmt = pf_named_prepare(db, "step_list", err);
	size_t cap = 0;
	int rc;

	if (!stmt)
		return -1;
	while ((rc = pf_db_step(db, stmt, err)) == 1) {
		struct host_step *s;

		*out = pf_grow(*out, &cap, *count + 1, sizeof(**out));
		s = &(*out)[(*count)++];
		s->trace_id = sqlite3_column_int64(stmt, 0);
		s->step = sqlite3_column_int64(stmt, 1);
		s->start_ns = sqlite3_column_int64(stmt, 2);
		s->end_ns =
			pf_span_end(s->start_ns, sqlite3_column_int64(stmt, 3));
	}
	sqlite3_finalize(stmt);
	return rc;
}

static int load_host_steps(struct pf_db *db, const struct pf_window *window,
			   struct host_step **out, size_t *count,
			   struct pf_err *err)
{
	struct pf_steps steps = { 0 };
	int rc;

	if (!window->steps)
		return load_profiler_steps(db, out, count, err);
	rc = pf_window_steps(db, window, &steps, err);
	*out = pf_calloc(steps.count + 1, sizeof(**out));
	for (size_t i = 0; !rc && i < steps.count; i++) {
		const struct pf_step *s = &steps.items[i];

		(*out)[(*count)++] =
			(struct host_step){ s->trace_id, s->step,
					    s->host_start_ns, s->host_end_ns };
	}
	pf_steps_release(&steps);
	return rc;
}

static int find_column(const struct pf_table *t, const char *key)
{
	const struct pf_col *cols = pf_table_cols(t);

	for (size_t i = 0; i < pf_table_col_count(t); i++)
		if (!strcmp(cols[i].key, key))
			return (int)i;
	return -1;
}

/* The columns of the table "steps" that are taken over. */
enum { STEP, START, DUR, BUSY, PARTIAL, TRACE, FIRST_CLASS };
#define TAKEN (FIRST_CLASS + PF_STEP_CLASSES)

static int find_columns(const struct pf_table *t, int columns[TAKEN],
			struct pf_err *err)
{
	static const char *const keys[TAKEN] = {
		"step",       "start_ns",  "dur_ns",  "busy_ns",   "is_partial",
		"trace_id",   "kernel_ns", "copy_ns", "memset_ns", "comm_ns",
		"runtime_ns", "data_ns",   "cpu_ns",  "other_ns",
	};

	for (size_t i = 0; i < TAKEN; i++) {
		columns[i] = find_column(t, keys[i]);
		if (columns[i] < 0)
			return pf_fail(err, PF_EDATA,
				       "the table of steps has no '%s'",
				       keys[i]);
	}
	return 0;
}

static int64_t number(const struct pf_cell *cells, int column, int64_t none)
{
	return cells[column].type == PF_CELL_INT ? cells[column].v.i : none;
}

/*
 * The host's side of a step: the last step of its number on the host that
 * began by then.  Steps of another kind are taken as they are.
 */
static void place_on_host(struct pf_capture_step *s, const struct host_step *h,
			  size_t count)
{
	s->host_start_ns = s->start_ns;
	s->host_end_ns = s->end_ns;
	for (size_t i = 0; s->step >= 0 && i < count; i++) {
		if (h[i].trace_id != s->trace_id || h[i].step != s->step ||
		    h[i].start_ns > s->start_ns || h[i].end_ns > s->end_ns)
			continue;
		s->host_start_ns = h[i].start_ns;
		s->host_end_ns = h[i].end_ns;
	}
}

static void add_step(struct pf_capture *c, const struct pf_cell *cells,
		     const int columns[TAKEN])
{
	struct pf_capture_step *s = &c->steps[c->step_count++];

	s->trace_id = number(cells, columns[TRACE], 0);
	s->step = number(cells, columns[STEP], -1);
	s->start_ns = number(cells, columns[START], 0);
	s->end_ns = pf_span_end(s->start_ns, number(cells, columns[DUR], 0));
	s->busy_ns = number(cells, columns[BUSY], 0);
	s->is_partial = number(cells, columns[PARTIAL], 0) != 0;
	for (size_t k = 0; k < PF_STEP_CLASSES; k++)
		s->class_ns[k] = number(cells, columns[FIRST_CLASS + k], 0);
	c->has_steps |= s->step >= 0;
}

static int take_steps(struct pf_db *db, const struct pf_window *window,
		      struct pf_capture *c, const struct pf_table *t,
		      struct pf_err *err)
{
	size_t rows = pf_table_row_count(t), hosts = 0;
	struct host_step *host = NULL;
	int columns[TAKEN];
	int rc = find_columns(t, columns, err);

	if (!rc)
		rc = load_host_steps(db, window, &host, &hosts, err);
	c->steps = pf_calloc(rows + 1, sizeof(*c->steps));
	for (size_t i = 0; !rc && i < rows; i++) {
		add_step(c, pf_table_row(t, i), columns);
		place_on_host(&c->steps[i], host, hosts);
	}
	free(host);
	return rc;
}

static int load_steps(struct pf_db *db,
		      const struct pf_window_args *window_args,
		      const struct pf_window *window, struct pf_capture *c,
		      struct pf_err *err)
{
	const struct pf_steps_args args = { .window = *window_args };
	const struct pf_table *t = NULL;
	const struct pf_scalar *busy;
	struct pf_doc doc = { 0 };
	int rc = pf_steps_answer(db, &args, &doc, err);

	for (size_t i = 0; !rc && i < doc.table_count; i++)
		if (!strcmp(pf_table_name(doc.tables[i]), "steps"))
			t = doc.tables[i];
	if (!rc)
		rc = t ? take_steps(db, window, c, t, err)
		       : pf_fail(err, PF_EDATA, "there is no table of steps");
	busy = pf_doc_find(&doc, "busy_share");
	c->busy_share =
		busy && busy->cell.type == PF_CELL_REAL ? busy->cell.v.d : -1;
	pf_doc_release(&doc);
	return rc;
}

/* ---- finding steps ---- */

static struct pf_capture_step *find_step(struct pf_capture *c, int64_t trace_id,
					 int64_t at_ns, bool on_host)
{
	struct pf_capture_step *s = c->steps;
	size_t low = PF_SEARCH(i, c->step_count,
			       s[i].trace_id < trace_id ||
				       (s[i].trace_id == trace_id &&
					(on_host ? s[i].host_start_ns
						 : s[i].start_ns) <= at_ns));

	if (!low)
		return NULL;
	s = &c->steps[low - 1];
	if (s->trace_id != trace_id)
		return NULL;
	/* the whole trace holds its last instant, too */
	if (s->step < 0 && at_ns == s->end_ns)
		return s;
	return at_ns < (on_host ? s->host_end_ns : s->end_ns) ? s : NULL;
}

struct pf_capture_step *pf_capture_step_at(struct pf_capture *c,
					   int64_t trace_id, int64_t at_ns)
{
	return find_step(c, trace_id, at_ns, true);
}

struct pf_capture_step *pf_capture_step_over(struct pf_capture *c,
					     int64_t trace_id, int64_t at_ns)
{
	return find_step(c, trace_id, at_ns, false);
}

/* ---- the whole ---- */

uint32_t pf_capture_text(struct pf_capture *c, const char *s)
{
	struct pf_buf shown = { 0 };
	uint32_t n;

	if (!c->filter.write)
		return pf_capture_own_text(c, s);
	pf_buf_adds(&shown, "");
	c->filter.write(c->filter.context, s, strlen(s), &shown);
	n = pf_intern_add(&c->texts, shown.data, shown.len);
	pf_buf_release(&shown);
	return n;
}

static uint32_t column_text(struct pf_capture *c, sqlite3_stmt *stmt, int i)
{
	const char *text = (const char *)sqlite3_column_text(stmt, i);

	return pf_capture_text(c, text ? text : "");
}

static int load_about(struct pf_db *db, struct pf_capture *c,
		      struct pf_err *err)
{
	sqlite3_stmt *stmt = pf_named_prepare(db, "capture_about", err);
	int rc;

	if (!stmt)
		return -1;
	rc = pf_db_step(db, stmt, err);
	if (rc == 1) {
		c->device_name = column_text(c, stmt, 0);
		c->versions = column_text(c, stmt, 1);
		c->options = column_text(c, stmt, 2);
		c->xxh128 = column_text(c, stmt, 5);
		c->trace_count = sqlite3_column_int64(stmt, 3);
		c->world_size = sqlite3_column_type(stmt, 4) == SQLITE_NULL
					? -1
					: sqlite3_column_int64(stmt, 4);
	}
	sqlite3_finalize(stmt);
	return rc < 0 ? -1 : 0;
}

static void add_up(struct pf_capture *c)
{
	for (size_t i = 0; i < c->step_count; i++) {
		const struct pf_capture_step *s = &c->steps[i];

		if (s->is_partial)
			continue;
		c->full_count++;
		pf_capture_add(c, &c->step_ns,
			       pf_sat_sub(s->end_ns, s->start_ns));
		pf_capture_add(c, &c->busy_ns, s->busy_ns);
		for (size_t k = 0; k < PF_STEP_CLASSES; k++)
			pf_capture_add(c, &c->class_ns[k], s->class_ns[k]);
		for (size_t k = 0; k < PF_COUNT_COUNTS; k++)
			pf_capture_add(c, &c->count[k], s->count[k]);
	}
}

static int check_sums(const struct pf_capture *c, struct pf_err *err)
{
	if (!c->is_too_large)
		return 0;
	return pf_fail(err, PF_ELIMIT,
		       "times or sizes are too large to be added up");
}

int pf_capture_load(struct pf_db *db, const struct pf_window_args *args,
		    unsigned want, struct pf_capture *c, struct pf_err *err)
{
	struct pf_window window = { 0 };
	int rc = pf_window_resolve(db, args, &window, err);

	pf_intern_init(&c->texts);
	c->path = pf_strdup(db->path);
	c->peak_bytes = c->reserved_bytes = c->world_size = -1;
	if (!rc)
		rc = load_about(db, c, err);
	if (!rc)
		rc = load_steps(db, args, &window, c, err);
	if (!rc && (want & PF_CAPTURE_WORK))
		rc = pf_capture_work(db, &window, c, err);
	if (!rc)
		rc = check_sums(c, err);
	if (!rc && (want & PF_CAPTURE_WAITS))
		rc = pf_capture_waits(db, &window, c, err);
	if (!rc && (want & PF_CAPTURE_AVERAGES))
		rc = pf_capture_averages(db, &window, c, err);
	if (!rc)
		add_up(c);
	if (!rc)
		rc = check_sums(c, err);
	pf_window_release(&window);
	return rc < 0 ? pf_while(err, "'%s'", db->path) : 0;
}

void pf_capture_release(struct pf_capture *c)
{
	if (!c->path)
		return;
	pf_intern_release(&c->texts);
	free(c->path);
	free(c->steps);
	free(c->work);
	free(c->ops);
	free(c->idle);
	free(c->sites);
	free(c->averages);
	*c = (struct pf_capture){ 0 };
}

/* Durations of full steps, ascending; the caller frees them. */
static int64_t *durations_take(const struct pf_capture *c, size_t *count)
{
	int64_t *list = pf_calloc(c->step_count + 1, sizeof(*list));

	*count = 0;
	for (size_t i = 0; i < c->step_count; i++)
		if (!c->steps[i].is_partial)
			list[(*count)++] = pf_sat_sub(c->steps[i].end_ns,
						      c->steps[i].start_ns);
	qsort(list, *count, sizeof(*list), pf_stats_compare);
	return list;
}

int64_t pf_capture_percentile(const struct pf_capture *c, unsigned percent)
{
	size_t count;
	int64_t *list = durations_take(c, &count), out;

	out = count ? list[pf_stats_rank(count, percent)] : 0;
	free(list);
	return out;
}

int64_t pf_capture_spread(const struct pf_capture *c)
{
	return pf_capture_percentile(c, 75) - pf_capture_percentile(c, 25);
}
