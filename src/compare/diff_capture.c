/* SPDX-License-Identifier: MIT */
/*
 * The steps and their classes are those of analysis/time/steps.h: there is one
 * sweep in this program.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare/diff_capture.h"
#include "base/order.h"
#include "events/interval.h"
#include "base/stats.h"
#include "events/step.h"
#include "analysis/time/steps.h"
#include "base/mem.h"
#include "base/sat.h"
#include "base/search.h"
#include "store/query.h"
#include "formats/event.h"

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
	[PF_COUNT_PTOP] = { "copies_ptop", "Copies between GPUs" },
	[PF_COUNT_OTHER_COPIES] = { "copies_other", "Other copies" },
	[PF_COUNT_HTOD_BYTES] = { "bytes_htod", "copied to GPU" },
	[PF_COUNT_DTOH_BYTES] = { "bytes_dtoh", "copied to host" },
	[PF_COUNT_DTOD_BYTES] = { "bytes_dtod", "copied on GPU" },
	[PF_COUNT_PTOP_BYTES] = { "bytes_ptop", "copied between GPUs" },
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

static int load_steps(struct pf_db *db,
		      const struct pf_window_args *window_args,
		      struct pf_capture *c, struct pf_err *err)
{
	const struct pf_steps_args args = { .window = *window_args };
	struct pf_step_times times = { 0 };
	int rc = pf_step_times_find(db, &args, &times, err);

	c->steps = pf_calloc(times.count + 1, sizeof(*c->steps));
	c->step_count = rc ? 0 : times.count;
	c->has_steps = times.has_steps;
	c->is_untimed = times.is_untimed;
	c->recorded = times.recorded;
	c->busy_share = isnan(times.busy_share) ? -1 : times.busy_share;
	c->between_share = times.window.between_share;
	for (size_t i = 0; i < c->step_count; i++)
		c->steps[i].time = times.steps[i];
	pf_step_times_release(&times);
	return rc;
}

/* ---- finding steps ---- */

static struct pf_capture_step *find_step(struct pf_capture *c, int64_t trace_id,
					 int64_t at_ns, bool on_host)
{
	struct pf_capture_step *all = c->steps;
	const struct pf_step_time *s;
	size_t low =
		PF_SEARCH(i, c->step_count,
			  all[i].time.trace_id < trace_id ||
				  (all[i].time.trace_id == trace_id &&
				   (on_host ? all[i].time.host_start_ns
					    : all[i].time.start_ns) <= at_ns));

	if (!low)
		return NULL;
	s = &c->steps[low - 1].time;
	if (s->trace_id != trace_id)
		return NULL;
	/* a window that is no step holds its last instant, too */
	if (at_ns >= (on_host ? s->host_end_ns : s->end_ns) &&
	    !(s->step < 0 && at_ns == s->end_ns))
		return NULL;
	return &c->steps[low - 1];
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
		c->hardware = column_text(c, stmt, 6);
		c->platform = column_text(c, stmt, 7);
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
		const struct pf_step_time *s = &c->steps[i].time;

		if (s->is_partial)
			continue;
		c->full_count++;
		pf_capture_add(c, &c->step_ns, s->dur_ns);
		pf_capture_add(c, &c->busy_ns, s->busy_ns);
		for (size_t k = 0; k < PF_STEP_CLASSES; k++)
			pf_capture_add(c, &c->class_ns[k], s->class_ns[k]);
		for (size_t k = 0; k < PF_COUNT_COUNTS; k++)
			pf_capture_add(c, &c->count[k], c->steps[i].count[k]);
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
		rc = pf_trust_lost(db, &window, &c->lost, err);
	if (!rc)
		rc = load_steps(db, args, c, err);
	if (!rc && (want & PF_CAPTURE_WORK))
		rc = pf_capture_work(db, &window, c, err);
	if (!rc)
		rc = check_sums(c, err);
	if (!rc && (want & PF_CAPTURE_WAITS))
		rc = pf_capture_waits(db, &window, c, err);
	if (!rc && (want & PF_CAPTURE_AVERAGES))
		rc = pf_capture_averages(db, &window, c, err);
	if (!rc && (want & PF_CAPTURE_PATH))
		rc = pf_capture_path(db, args, &window, c, err);
	if (!rc && (want & PF_CAPTURE_ADVICE))
		rc = pf_capture_advise(db, args, c, err);
	if (!rc)
		add_up(c);
	if (!rc)
		rc = check_sums(c, err);
	pf_window_release(&window);
	return rc < 0 ? pf_while(err, "'%s'", db->path) : 0;
}

bool pf_capture_is_kernel(const struct pf_work_row *row)
{
	return row->key.kind == PF_KIND_KERNEL;
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
		if (!c->steps[i].time.is_partial)
			list[(*count)++] = c->steps[i].time.dur_ns;
	pf_sort(list, *count, sizeof(*list), pf_stats_compare);
	return list;
}

int64_t pf_capture_percentile(const struct pf_capture *c, unsigned percent)
{
	size_t count;
	int64_t *list = durations_take(c, &count), out;

	out = pf_stats_quantile(list, count, percent);
	free(list);
	return out;
}

const char *pf_capture_no_step(const struct pf_capture *c)
{
	return c->is_untimed ? "is a memory snapshot, which has no GPU work"
			     : "has no complete step";
}
