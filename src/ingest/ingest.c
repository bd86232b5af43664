/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "ingest/ingest_impl.h"

#define CALLS_BYTES (8u << 20)
#define RUNS_ROOM   (16u << 20) /* in memory, the rest on disk */

/* ---- one trace ---- */

static void begin_trace(struct pf_ingest *in, const char *path)
{
	in->trace_id++;
	in->path = path;
	in->first_track = in->track_count;
	in->runs_total = 0;
	memset(&in->repairs, 0, sizeof(in->repairs));
	in->event_count = in->metadata_count = in->json_bytes = 0;
	in->stored_count = in->paired_count = in->no_phase_count = 0;
	in->first_ns = in->last_ns = 0;
	in->found_list = false;
	in->format = NULL;
	in->ts_fraction_digits = 0;
	in->facts = 0;
	in->link_equal = in->link_differ = in->link_absent = 0;
	in->ext_lower = 0;
	memset(in->kind_count, 0, sizeof(in->kind_count));
	in->step_count = 0;
	in->comm_count = 0;
	in->calls = pf_sorter_new(sizeof(struct pf_ingest_call), CALLS_BYTES,
				  in->directory);
}

static void end_trace(struct pf_ingest *in)
{
	if (in->file_bytes > 0)
		in->bytes_before += in->file_bytes;
	in->events_before += in->event_count;
	for (size_t i = 0; i < in->extra_fact_count; i++)
		free(in->extra_facts[i].key);
	in->extra_fact_count = 0;
	pf_scratch_close(&in->runs);
	pf_sorter_free(in->calls);
	in->calls = NULL;
}

static int check_read(struct pf_ingest *in, struct pf_err *err)
{
	if (!in->json_bytes)
		return pf_fail(err, PF_EDATA, "is empty");
	if (!in->found_list)
		return pf_fail(err, PF_EDATA,
			       "is JSON without a list of trace events");
	if (!pf_ingest_has_events(in->event_count, in->no_phase_count,
				  &in->repairs))
		return pf_fail(err, PF_EDATA,
			       "is a list of other things than trace events "
			       "(none has a \"ph\")");
	if (!in->event_count && in->repairs.of[PF_REPAIR_CUT_OFF].count)
		return pf_fail(err, PF_EDATA, "has no complete event");
	return 0;
}

static int check_strict(const struct pf_ingest *in, struct pf_err *err)
{
	for (int k = 0; in->options->strict && k < PF_REPAIR_KINDS; k++)
		if (in->repairs.of[k].count && k != PF_SKIP_PYTHON &&
		    !pf_repair_is_usual((enum pf_repair_kind)k))
			return pf_fail(
				err, PF_EDATA,
				"%s (%lld times, first at byte %lld), "
				"which --strict refuses",
				pf_repair_text((enum pf_repair_kind)k),
				(long long)in->repairs.of[k].count,
				(long long)in->repairs.of[k].first_offset);
	return 0;
}

/* ---- extra work beside the GPU rows ---- */

struct extra {
	struct pf_ingest *in;
	pthread_t thread;
	bool started;
	void *prepared;
	struct pf_err err;
};

static void *prepare_extra(void *arg)
{
	struct extra *x = arg;

	x->prepared = x->in->options->extra->prepare(&x->in->db,
						     x->in->trace_id, &x->err);
	return NULL;
}

static int finish_extra(struct extra *x, int rc, struct pf_err *err)
{
	const struct pf_ingest_extra *e = x->in->options->extra;

	if (x->started)
		pthread_join(x->thread, NULL);
	if (!rc && !x->prepared) {
		*err = x->err;
		rc = -1;
	}
	if (!rc)
		rc = e->store(&x->in->db, x->in->trace_id, x->prepared, err);
	if (x->prepared)
		e->release(x->prepared);
	return rc;
}

static int write_rows(struct pf_ingest *in, struct pf_err *err)
{
	struct extra x = { .in = in };
	int rc;

	if (pf_ingest_trace_rows(in, err) || pf_ingest_steps(in, err))
		return -1;
	if (!in->options->extra)
		return pf_ingest_gpu_rows(in, err);
	x.started = !pthread_create(&x.thread, NULL, prepare_extra, &x);
	rc = pf_ingest_gpu_rows(in, err);
	if (!x.started)
		prepare_extra(&x);
	return finish_extra(&x, rc, err);
}

static void report(const struct pf_ingest *in)
{
	const struct pf_ingest_report r = {
		.path = in->path,
		.trace_id = in->trace_id,
		.events = in->event_count,
		.json_bytes = in->json_bytes,
		.file_bytes = in->file_bytes,
		.repairs = &in->repairs,
	};

	if (in->options->report)
		in->options->report(&r, in->options->report_arg);
}

static void enter(const struct pf_ingest *in, const char *phase)
{
	if (in->options->phase)
		in->options->phase(phase);
}

static int ingest_trace(struct pf_ingest *in, const char *path,
			struct pf_err *err)
{
	int rc = -1;

	begin_trace(in, path);
	if (pf_scratch_open(&in->runs, RUNS_ROOM, in->directory, err))
		goto out;
	if (pf_ingest_read(in, err) || check_read(in, err)) {
		pf_while(err, "'%s'", path);
		goto out;
	}
	enter(in, "linking");
	if (pf_ingest_texts(in, err) || pf_ingest_device_tracks(in, err) ||
	    pf_ingest_merge(in, err))
		goto out;
	pf_scratch_close(&in->runs);
	if (check_strict(in, err)) {
		pf_while(err, "'%s'", path);
		goto out;
	}
	enter(in, "averages");
	rc = write_rows(in, err);
	if (!rc)
		report(in);
out:
	enter(in, NULL);
	end_trace(in);
	return rc;
}

/* ---- all of them ---- */

static int set_up(struct pf_ingest *in, struct pf_err *err)
{
	const char *out = in->options->out, *slash = strrchr(out, '/');
	const struct pf_outrule rule = {
		.inputs = in->options->paths,
		.input_count = in->options->path_count,
		.is_ours = pf_db_is_ours,
		.is_database = true,
	};

	in->empty_name = PF_ID_NONE;
	in->directory = slash == out ? pf_strdup("/")
			: slash      ? pf_memdup0(out, (size_t)(slash - out))
				     : pf_strdup(".");
	if (pf_outplace_open(&in->place, out, &rule, err))
		return -1;
	return pf_db_create(&in->db, in->place.partial, err);
}

static int put_mark(struct pf_ingest *in, struct pf_err *err)
{
	sqlite3_stmt *st = pf_db_prepare(
		&in->db, "INSERT INTO meta VALUES('cache', ?1)", err);
	int rc = -1;

	if (st) {
		sqlite3_bind_text(st, 1, in->options->cache, -1, SQLITE_STATIC);
		rc = pf_db_step(&in->db, st, err);
	}
	sqlite3_finalize(st);
	return rc;
}

static int finish(struct pf_ingest *in, struct pf_err *err)
{
	enter(in, "writing");
	if (in->options->cache && put_mark(in, err))
		return -1;
	if (pf_db_finish(&in->db, err))
		return -1;
	return pf_outplace_commit(&in->place, err);
}

static void release(struct pf_ingest *in)
{
	pf_db_close(&in->db);
	pf_outplace_release(&in->place);
	for (int i = 0; i < PF_LATER_LISTS; i++)
		pf_later_release(&in->later[i]);
	for (size_t i = 0; i < in->track_count; i++) {
		free(in->tracks[i].pid);
		free(in->tracks[i].tid);
		free(in->tracks[i].name);
		free(in->tracks[i].runs);
	}
	free(in->tracks);
	free(in->type);
	free(in->extra_facts);
	for (size_t i = 0; i < in->boot_count; i++)
		free(in->boots[i].id);
	free(in->boots);
	free(in->step_names);
	free(in->comm_names);
	free(in->comms);
	free(in->steps);
	free(in->directory);
	pf_ids_release(&in->strings);
	pf_ids_release(&in->argsets);
	pf_ids_release(&in->types);
	pf_ids_release(&in->track_names);
	pf_ids_release(&in->metadata_texts);
	free(in->metadata);
}

int pf_ingest(const struct pf_ingest_options *options, struct pf_err *err)
{
	struct pf_ingest *in = pf_calloc(1, sizeof(*in));
	int rc;

	in->options = options;
	rc = set_up(in, err);
	for (size_t i = 0; i < options->path_count && !rc; i++)
		rc = ingest_trace(in, options->paths[i], err);
	if (!rc)
		rc = finish(in, err);
	release(in);
	free(in);
	return rc;
}

int64_t pf_ingest_total_bytes(const struct pf_ingest_options *options)
{
	int64_t total = 0;
	struct stat info;

	for (size_t i = 0; i < options->path_count; i++) {
		if (stat(options->paths[i], &info) || !S_ISREG(info.st_mode))
			return 0;
		total += info.st_size;
	}
	return total;
}
