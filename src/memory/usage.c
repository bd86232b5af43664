/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>

#include "events/trust.h"
#include "memory/usage_impl.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/sat.h"
#include "store/named.h"

static int load_capacities(struct pf_usage *u, struct pf_db *db,
			   struct pf_err *err)
{
	sqlite3_stmt *stmt = pf_named_prepare(db, "memory_devices", err);
	int rc;

	if (!stmt)
		return -1;
	for (uint32_t i = 0; i < u->allocs.device_count; i++)
		u->devices[i].capacity = -1;
	while ((rc = pf_db_step(db, stmt, err)) == 1) {
		for (uint32_t i = 0; i < u->allocs.device_count; i++) {
			const struct pf_alloc_device *d = &u->allocs.devices[i];

			if (d->type > 0 &&
			    d->trace->trace_id ==
				    sqlite3_column_int64(stmt, 0) &&
			    d->number == sqlite3_column_int64(stmt, 1))
				u->devices[i].capacity =
					sqlite3_column_int64(stmt, 2);
		}
	}
	sqlite3_finalize(stmt);
	return rc;
}

/* The device that people mean: the accelerator with the largest peak. */
static const struct pf_usage_device *main_device(const struct pf_usage *u)
{
	const struct pf_usage_device *best = NULL;
	bool is_best_gpu = false;

	for (uint32_t i = 0; i < u->allocs.device_count; i++) {
		const struct pf_usage_device *d = &u->devices[i];
		bool is_gpu = u->allocs.devices[i].type > 0;

		if (!d->has_inside || (is_best_gpu && !is_gpu))
			continue;
		if (!best || is_gpu > is_best_gpu || d->peak > best->peak) {
			best = d;
			is_best_gpu = is_gpu;
		}
	}
	return best;
}

static void add_finding(const struct pf_usage *u, struct pf_doc *doc)
{
	const struct pf_usage_device *d = main_device(u);
	char name[PF_USAGE_NAME_MAX], peak[PF_NUM_MAX], of[PF_NUM_MAX];
	char part[PF_NUM_MAX], time[PF_NUM_MAX];
	const struct pf_alloc_device *which;
	bool has_blocks = d && d->no_address_count < d->record_count;

	doc->is_nothing = !d;
	if (!d) {
		pf_doc_finding(doc, "There are no memory records; %s",
			       pf_hint(u->producer, PF_HINT_MEMORY));
		return;
	}
	which = &u->allocs.devices[d - u->devices];
	pf_usage_device_label(u, (uint32_t)(d - u->devices), name);
	pf_num_show_ns(time, pf_sat_sub(d->peak_ns, which->trace->first_ns));
	if (!d->is_absolute) {
		pf_doc_finding(
			doc,
			"%s: at most %s more than at the start, after "
			"%s; this trace has no totals",
			name,
			pf_num_show_bytes(peak,
					  pf_sat_sub(d->peak, d->start_level)),
			time);
		return;
	}
	pf_num_show_bytes(peak, d->peak);
	pf_num_show_bytes(of, d->capacity);
	pf_num_show_ratio(part,
			  pf_num_share(pf_sat_sub(d->peak, d->alive), d->peak));
	pf_doc_finding(
		doc, "%s: at most %s%s%s allocated, after %s%s%s%s", name, peak,
		d->capacity > 0 ? " of " : "", d->capacity > 0 ? of : "", time,
		has_blocks ? "; " : "", has_blocks ? part : "",
		has_blocks ? " of it dates from before the capture" : "");
}

static void add_notes(const struct pf_usage *u, struct pf_doc *doc)
{
	int64_t no_address = 0, jumps = 0, twice = 0, reused = 0, relative = 0;
	char text[PF_NUM_MAX];

	for (uint32_t i = 0; i < u->allocs.device_count; i++) {
		const struct pf_usage_device *d = &u->devices[i];

		no_address += d->no_address_count;
		jumps += d->jump_count;
		twice += d->twice_count;
		reused += d->reused_count;
		relative += d->has_inside && !d->is_absolute;
	}
	if (relative)
		pf_doc_note(doc, "records without totals: what was allocated "
				 "before the capture is not known");
	if (no_address)
		pf_doc_note(doc,
			    "%s records have no address: what is alive and "
			    "kept does not cover them",
			    pf_num_show_count(text, no_address));
	if (jumps)
		pf_doc_note(doc,
			    "%s totals do not continue the one before them: "
			    "records are missing there",
			    pf_num_show_count(text, jumps));
	if (twice)
		pf_doc_note(doc, "%s frees of what was freed already",
			    pf_num_show_count(text, twice));
	if (reused)
		pf_doc_note(doc,
			    "%s addresses were allocated again without "
			    "having been freed",
			    pf_num_show_count(text, reused));
}

static int answer(struct pf_usage *u, struct pf_doc *doc, struct pf_err *err)
{
	add_finding(u, doc);
	if (pf_usage_fill_tables(u, err) < 0)
		return -1;
	add_notes(u, doc);
	return 0;
}

static void tear_down(struct pf_usage *u)
{
	for (uint32_t i = 0; u->devices && i < u->allocs.device_count; i++) {
		pf_map_release(&u->devices[i].by_address);
		free(u->devices[i].blocks);
		free(u->devices[i].free_places);
	}
	free(u->devices);
	pf_intern_release(&u->alive.keys);
	pf_intern_release(&u->kept.keys);
	pf_intern_release(&u->texts);
	pf_map_release(&u->texts_by_name);
	free(u->alive.items);
	free(u->kept.items);
	pf_allocs_release(&u->allocs);
}

static int set_up(struct pf_usage *u, struct pf_db *db,
		  const struct pf_window *window, struct pf_err *err)
{
	u->has_traces = window->count > 1;
	pf_intern_init(&u->alive.keys);
	pf_intern_init(&u->kept.keys);
	pf_intern_init(&u->texts);
	pf_map_init(&u->texts_by_name);
	if (pf_hint_producer(db, &u->producer, err) < 0 ||
	    pf_allocs_load(db, window, &u->allocs, err) < 0)
		return -1;
	u->devices =
		pf_calloc(u->allocs.device_count + 1u, sizeof(*u->devices));
	for (uint32_t i = 0; i < u->allocs.device_count; i++) {
		pf_map_init(&u->devices[i].by_address);
		u->devices[i].part = -1;
	}
	return load_capacities(u, db, err);
}

int pf_usage(struct pf_db *db, const struct pf_usage_args *args,
	     struct pf_doc *doc, struct pf_err *err)
{
	struct pf_usage u = { .args = args };
	struct pf_window window = { 0 };
	int rc = -1;

	if (pf_window_resolve(db, &args->window, &window, err) < 0)
		return -1;
	if (!set_up(&u, db, &window, err) && !pf_usage_levels(&u, err)) {
		pf_usage_begin_tables(&u, doc);
		rc = pf_usage_blocks(&u, err);
	}
	if (!rc)
		rc = answer(&u, doc, err);
	if (!rc)
		rc = pf_trust_note(db, &window, PF_TRUST_STACKS, doc, err);
	tear_down(&u);
	pf_window_release(&window);
	return rc;
}
