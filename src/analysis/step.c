/* SPDX-License-Identifier: MIT */
/*
 * A step's number need not be unique in a trace (several captures in one
 * file), so a GPU event belongs to the last step of its number that began
 * before it did.
 */
#include "config.h"

#include <stdlib.h>

#include "analysis/interval.h"
#include "analysis/step.h"
#include "base/mem.h"
#include "store/named.h"

static int load_rows(struct pf_db *db, struct pf_steps *out, struct pf_err *err)
{
	sqlite3_stmt *stmt = pf_named_prepare(db, "step_list", err);
	size_t cap = 0;
	int rc;

	if (!stmt)
		return -1;
	while ((rc = pf_db_step(db, stmt, err)) == 1) {
		struct pf_step *s;

		out->items = pf_grow(out->items, &cap, out->count + 1,
				     sizeof(*out->items));
		s = &out->items[out->count++];
		*s = (struct pf_step){
			.trace_id = sqlite3_column_int64(stmt, 0),
			.step = sqlite3_column_int64(stmt, 1),
			.host_start_ns = sqlite3_column_int64(stmt, 2),
		};
		s->host_end_ns = pf_span_end(s->host_start_ns,
					     sqlite3_column_int64(stmt, 3));
		s->start_ns = s->host_start_ns;
		s->end_ns = s->host_end_ns;
	}
	sqlite3_finalize(stmt);
	return rc;
}

static bool is_step_of(const struct pf_steps *steps, size_t i, int64_t trace_id,
		       int64_t number, int64_t start_ns)
{
	return i < steps->count && steps->items[i].trace_id == trace_id &&
	       steps->items[i].step == number &&
	       steps->items[i].host_start_ns <= start_ns;
}

/* The last step of this number that begins at or before start_ns. */
static struct pf_step *find_step(struct pf_steps *steps, int64_t trace_id,
				 int64_t number, int64_t start_ns)
{
	size_t low = 0, high = steps->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct pf_step *s = &steps->items[middle];

		if (s->trace_id < trace_id ||
		    (s->trace_id == trace_id && s->host_start_ns <= start_ns))
			low = middle + 1;
		else
			high = middle;
	}
	while (low-- > 0 && steps->items[low].trace_id == trace_id)
		if (steps->items[low].step == number)
			return &steps->items[low];
	return NULL;
}

/* Events come in order of time: the step of one is mostly that of the next. */
static int extend(struct pf_db *db, struct pf_steps *steps, struct pf_err *err)
{
	sqlite3_stmt *stmt = pf_named_prepare(db, "step_work", err);
	size_t last = 0;
	int rc;

	if (!stmt)
		return -1;
	while ((rc = pf_db_step(db, stmt, err)) == 1) {
		int64_t trace_id = sqlite3_column_int64(stmt, 0);
		int64_t number = sqlite3_column_int64(stmt, 1);
		int64_t start = sqlite3_column_int64(stmt, 2);
		int64_t end = pf_span_end(start, sqlite3_column_int64(stmt, 3));
		struct pf_step *s = &steps->items[last];

		if (!is_step_of(steps, last, trace_id, number, start) ||
		    (last + 1 < steps->count &&
		     steps->items[last + 1].trace_id == trace_id &&
		     steps->items[last + 1].host_start_ns <= start))
			s = find_step(steps, trace_id, number, start);
		if (!s)
			continue;
		last = (size_t)(s - steps->items);
		s->gpu_count++;
		if (end > s->end_ns)
			s->end_ns = end;
	}
	sqlite3_finalize(stmt);
	return rc;
}

/* Steps first..end-1 are those of one trace. */
static void settle(struct pf_step *steps, size_t count)
{
	struct pf_step *last = &steps[count - 1];
	int64_t total = 0;

	for (size_t i = 0; i < count; i++) {
		total += steps[i].gpu_count;
		if (i && steps[i].start_ns < steps[i - 1].end_ns)
			steps[i].start_ns = steps[i - 1].end_ns;
		if (steps[i].end_ns < steps[i].start_ns)
			steps[i].end_ns = steps[i].start_ns;
	}
	if (total && count > 1)
		last->is_partial =
			!last->gpu_count ||
			(double)last->gpu_count <
				0.8 * (double)steps[count - 2].gpu_count;
}

int pf_steps_load(struct pf_db *db, struct pf_steps *out, struct pf_err *err)
{
	*out = (struct pf_steps){ 0 };
	if (load_rows(db, out, err) < 0)
		return -1;
	if (out->count && extend(db, out, err) < 0)
		return -1;
	for (size_t i = 0, end; i < out->count; i = end) {
		for (end = i + 1;
		     end < out->count &&
		     out->items[end].trace_id == out->items[i].trace_id;)
			end++;
		settle(&out->items[i], end - i);
	}
	return 0;
}

void pf_steps_release(struct pf_steps *steps)
{
	free(steps->items);
	*steps = (struct pf_steps){ 0 };
}
