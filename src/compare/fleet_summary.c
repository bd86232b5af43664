/* SPDX-License-Identifier: MIT */
/*
 * All is found before anything is written, so that a rank is there as a whole
 * or not at all.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/idle/gaps.h"
#include "analysis/memory/usage.h"
#include "analysis/time/kernels.h"
#include "analysis/time/overlap.h"
#include "analysis/time/steps.h"
#include "analysis/trust/doctor.h"
#include "base/mem.h"
#include "compare/fleet.h"
#include "ingest/source_name.h"
#include "store/query.h"
#include "torch/averages.h"

#define F(row, member, key)       PF_FIELD(row, member, key, key, PF_INT)
#define F_KNOWN(row, member, key) PF_FIELD(row, member, key, key, PF_KNOWN)
#define F_MAYBE(row, member, key) PF_FIELD(row, member, key, key, PF_MAYBE)

/* ---- columns ---- */

#define S struct pf_step_time
static const struct pf_field step_fields[] = {
	F_KNOWN(S, step, "step"),
	F(S, is_partial, "is_partial"),
	F(S, start_ns, "start_ns"),
	F(S, dur_ns, "dur_ns"),
	F(S, class_ns[PF_STEP_KERNEL], "kernel_ns"),
	F(S, class_ns[PF_STEP_COPY], "copy_ns"),
	F(S, class_ns[PF_STEP_MEMSET], "memset_ns"),
	F(S, class_ns[PF_STEP_COMM], "comm_ns"),
	F(S, class_ns[PF_STEP_RUNTIME], "runtime_ns"),
	F(S, class_ns[PF_STEP_DATA], "data_ns"),
	F(S, class_ns[PF_STEP_CPU], "cpu_ns"),
	F(S, class_ns[PF_STEP_OTHER], "other_ns"),
	F(S, busy_ns, "busy_ns"),
	F(S, kernels, "kernel_count"),
	F(S, copies, "copy_count"),
	F(S, memsets, "memset_count"),
	F(S, launches, "launch_count"),
	F(S, syncs, "sync_count"),
};
#undef S

#define K struct pf_kernel_row
static const struct pf_field kernel_fields[] = {
	F(K, first, "name"),          F(K, class_word, "class"),
	F(K, precision, "precision"), F(K, ns.of.count, "calls"),
	F(K, ns.of.sum, "total_ns"),  F(K, ns.of.min, "min_ns"),
	F(K, ns.median, "median_ns"), F(K, ns.of.max, "max_ns"),
	F(K, ns.sd, "sd_ns"),
};
#undef K

/* Counts of averages are unsigned. */
struct op {
	const char *name;
	int64_t calls, flops;
	bool is_device, is_annotation;
	struct pf_figures sum;
};

static const struct pf_field op_fields[] = {
	F(struct op, name, "name"),
	F(struct op, is_device, "is_device"),
	F(struct op, is_annotation, "is_user_annotation"),
	F(struct op, calls, "calls"),
	F(struct op, sum.ns[PF_FIG_SELF_CPU], "self_cpu_ns"),
	F(struct op, sum.ns[PF_FIG_CPU], "cpu_total_ns"),
	F(struct op, sum.ns[PF_FIG_SELF_DEVICE], "self_device_ns"),
	F(struct op, sum.ns[PF_FIG_DEVICE], "device_total_ns"),
	F(struct op, sum.bytes[PF_FIG_SELF_CPU], "self_cpu_mem_bytes"),
	F(struct op, sum.bytes[PF_FIG_CPU], "cpu_mem_bytes"),
	F(struct op, sum.bytes[PF_FIG_SELF_DEVICE], "self_device_mem_bytes"),
	F(struct op, sum.bytes[PF_FIG_DEVICE], "device_mem_bytes"),
	F_KNOWN(struct op, flops, "flops"),
};

static const struct pf_field idle_fields[] = {
	F(struct pf_gap_cause, name, "cause"),
	F(struct pf_gap_cause, ns, "ns"),
	F(struct pf_gap_cause, count, "gap_count"),
	F(struct pf_gap_cause, longest_ns, "longest_ns"),
	F(struct pf_gap_cause, recoverable_ns, "recoverable_ns"),
};

#define G struct pf_gap_culprit
static const struct pf_field site_fields[] = {
	F(G, cause, "cause"),
	F(G, name, "name"),
	F(G, op, "op"),
	F(G, frame, "frame"),
	F(G, ns, "ns"),
	F(G, count, "gap_count"),
	F(G, longest_ns, "longest_ns"),
};
#undef G

#define D struct pf_overlap_device
static const struct pf_field device_fields[] = {
	F_KNOWN(D, device, "device"),
	F(D, f.total_ns, "total_ns"),
	F(D, f.busy_ns, "busy_ns"),
	F(D, f.idle_ns, "idle_ns"),
	F(D, f.computation_ns, "computation_ns"),
	F(D, f.exposed_comm_ns, "exposed_comm_ns"),
	F(D, f.exposed_copy_ns, "exposed_copy_ns"),
	F(D, f.exposed_memset_ns, "exposed_memset_ns"),
	F(D, f.comm_ns, "comm_ns"),
	F(D, f.copy_ns, "copy_ns"),
	F(D, f.memset_ns, "memset_ns"),
	F(D, f.overlap_ns, "overlap_ns"),
	F(D, f.event_count, "event_count"),
};
#undef D

#define C struct pf_comm_row
static const struct pf_field collective_fields[] = {
	F(C, collective, "collective"),
	F(C, group, "group"),
	F(C, description, "description"),
	F(C, dtype, "dtype"),
	F_KNOWN(C, group_size, "group_size"),
	F(C, dur.count, "calls"),
	F(C, dur.sum, "total_ns"),
	F(C, dur.min, "min_ns"),
	F(C, dur.max, "max_ns"),
	F(C, message_count, "message_count"),
	F_KNOWN(C, in_bytes, "in_bytes"),
	F_KNOWN(C, out_bytes, "out_bytes"),
};
#undef C

static const struct pf_field finding_fields[] = {
	F(struct pf_doctor_check, name, "check"),
	F(struct pf_doctor_check, verdict, "verdict"),
	F(struct pf_doctor_check, count, "count"),
	F_KNOWN(struct pf_doctor_check, gpu_ns, "gpu_ns"),
};

#define M struct pf_usage_device
static const struct pf_field memory_fields[] = {
	F(M, at.device, "device"),
	F(M, is_absolute, "is_absolute"),
	F_MAYBE(M, peak, "peak_bytes"),
	F_MAYBE(M, capacity, "capacity_bytes"),
	F_MAYBE(M, peak_reserved, "peak_reserved_bytes"),
	F_MAYBE(M, unused, "unused_bytes"),
	F_MAYBE(M, allocation_count, "allocation_count"),
	F_MAYBE(M, allocated, "allocated_bytes"),
	F_MAYBE(M, freed_count, "freed_count"),
	F_MAYBE(M, freed, "freed_bytes"),
	F_MAYBE(M, kept_count, "kept_count"),
	F_MAYBE(M, kept, "kept_bytes"),
	F_MAYBE(M, oom_count, "oom_count"),
};
#undef M

/* As schema/fleet/trace.sql has them. */
#define R struct pf_fleet_rank
static const struct pf_field trace_fields[] = {
	F_MAYBE(R, trace_id, "trace_id"),
	F_MAYBE(R, rank, "rank"),
	F_MAYBE(R, world_size, "world_size"),
	F(R, path, "path"),
	F(R, xxh128, "xxh128"),
	F(R, format, "format"),
	F_MAYBE(R, file_bytes, "file_bytes"),
	F_MAYBE(R, json_bytes, "json_bytes"),
	F_MAYBE(R, base_ns, "base_ns"),
	F_MAYBE(R, first_ns, "first_ns"),
	F_MAYBE(R, last_ns, "last_ns"),
	F_MAYBE(R, event_count, "event_count"),
	F_MAYBE(R, stored_count, "stored_count"),
	F_MAYBE(R, metadata_count, "metadata_count"),
	F_MAYBE(R, paired_count, "paired_count"),
	F_MAYBE(R, skipped_count, "skipped_count"),
};
#undef R

/* ---- finding ---- */

struct found {
	struct pf_fleet_rank rank;
	struct pf_arena texts;
	struct pf_step_times steps;
	struct pf_kernels kernels;
	struct pf_averages averages;
	bool has_averages;
	struct pf_gaps gaps;
	struct pf_overlap overlap;
	struct pf_doctor doctor;
	struct pf_usage usage;
	struct pf_buf digest;
};

static int find_trace(struct pf_db *db, struct found *f)
{
	size_t count;
	struct pf_fleet_rank *rows =
		pf_named_rows_take(db, "fleet/trace", PF_FIELDS(trace_fields),
				   &f->texts, &count, db->err);
	int rc = rows ? 0 : -1;

	if (!rc && count != 1)
		rc = pf_fail(db->err, PF_EDATA,
			     "'%s' holds %zu traces, and a rank of a fleet is "
			     "one: merge the traces themselves",
			     db->path, count);
	if (!rc)
		f->rank = rows[0];
	free(rows);
	return rc;
}

/* What is no trace of torch's has no key_averages(). */
static int find_averages(struct pf_db *db, struct found *f)
{
	const struct pf_averages_args args = {
		.trace_id = f->rank.trace_id,
		.step = -1,
		.grouping_count = 1,
	};
	int rc;

	if (f->rank.format && (!strcmp(f->rank.format, "xspace") ||
			       !strcmp(f->rank.format, "tf-json")))
		return 0;
	rc = pf_averages_load(db, &args, &f->averages, db->err);
	if (!rc)
		rc = pf_averages(db, &args, &f->averages, db->err) < 0 ? -1 : 1;
	f->has_averages = rc == 1;
	return rc < 0 ? -1 : 0;
}

static int find(struct pf_db *db, struct found *f)
{
	const struct pf_window_args window = PF_WINDOW_DEFAULTS;
	const struct pf_steps_args steps = { .window = window };
	const struct pf_kernels_args kernels = { .window = window };
	const struct pf_overlap_args overlap = { .window = window };
	const struct pf_gaps_args gaps = { .window = window,
					   .micro_ns = PF_GAPS_MICRO_NS };
	const struct pf_usage_args usage = { .window = window };

	if (find_trace(db, f) || pf_step_times_find(db, &steps, &f->steps) ||
	    pf_kernels_find(db, &kernels, &f->kernels) ||
	    find_averages(db, f) || pf_gaps_find(db, &gaps, &f->gaps) ||
	    pf_overlap_find(db, &overlap, &f->overlap) ||
	    pf_doctor_find(db, &f->doctor) ||
	    pf_usage_find(db, &usage, NULL, &f->usage) ||
	    pf_fleet_digest_make(db, &f->digest))
		return -1;
	return 0;
}

static void release(struct found *f)
{
	pf_step_times_release(&f->steps);
	pf_kernels_release(&f->kernels);
	if (f->has_averages)
		pf_averages_release(&f->averages);
	pf_gaps_release(&f->gaps);
	pf_overlap_release(&f->overlap);
	pf_doctor_release(&f->doctor);
	pf_usage_release(&f->usage);
	pf_buf_release(&f->digest);
	pf_arena_release(&f->texts);
}

/* ---- writing ---- */

static int put_ops(struct pf_fleet_out *out, const struct pf_averages *a)
{
	const struct pf_average_list *list = &a->list[0];
	struct op *ops = pf_calloc(list->count + 1, sizeof(*ops));
	int rc;

	for (size_t i = 0; i < list->count; i++) {
		const struct pf_average *from = &list->rows[i];

		ops[i] = (struct op){ .name = from->name,
				      .calls = (int64_t)from->count,
				      .flops = pf_flops_known(&from->sum.flops),
				      .is_device = from->is_device,
				      .is_annotation = from->is_annotation,
				      .sum = from->sum };
	}
	rc = PF_FLEET_PUT(out, "op", op_fields, ops, list->count, out->db->err);
	free(ops);
	return rc;
}

static int put_findings(struct pf_fleet_out *out, const struct pf_doctor *d)
{
	struct pf_doctor_check bad[PF_DOCTOR_CHECKS];
	size_t count = 0;

	for (size_t i = 0; i < PF_DOCTOR_CHECKS; i++)
		if (d->checks[i].name && strcmp(d->checks[i].verdict, "ok"))
			bad[count++] = d->checks[i];
	return PF_FLEET_PUT(out, "finding", finding_fields, bad, count,
			    out->db->err);
}

static int put(struct pf_fleet_out *out, const struct found *f)
{
	size_t sites = f->gaps.culprit_count < PF_FLEET_SITES
			       ? f->gaps.culprit_count
			       : PF_FLEET_SITES;

	if (pf_fleet_put_rank(out, &f->rank) ||
	    PF_FLEET_PUT(out, "step", step_fields, f->steps.steps,
			 f->steps.count, out->db->err) ||
	    PF_FLEET_PUT(out, "kernel", kernel_fields, f->kernels.rows,
			 (size_t)f->kernels.row_count, out->db->err) ||
	    (f->has_averages && put_ops(out, &f->averages)) ||
	    PF_FLEET_PUT(out, "idle", idle_fields, f->gaps.causes,
			 f->gaps.cause_count, out->db->err) ||
	    PF_FLEET_PUT(out, "idle_site", site_fields, f->gaps.culprits, sites,
			 out->db->err) ||
	    PF_FLEET_PUT(out, "device", device_fields, f->overlap.devices,
			 f->overlap.device_count, out->db->err) ||
	    PF_FLEET_PUT(out, "collective", collective_fields,
			 f->overlap.collectives, f->overlap.collective_count,
			 out->db->err) ||
	    put_findings(out, &f->doctor) ||
	    PF_FLEET_PUT(out, "memory", memory_fields, f->usage.devices,
			 f->usage.device_count, out->db->err) ||
	    pf_fleet_digest_put(out, &f->digest))
		return -1;
	return 0;
}

/* ---- the rank ---- */

char *pf_fleet_capture_name(const char *path)
{
	char *run = pf_source_run(path), *base = strrchr(run, '/');
	char *name;

	base = base ? base + 1 : run;
	name = pf_strdup(*base && strcmp(base, ".") && strcmp(base, "..")
				 ? base
				 : "capture");
	free(run);
	return name;
}

static void bind_text(sqlite3_stmt *st, int at, const char *text)
{
	sqlite3_bind_text(st, at, text, -1, SQLITE_STATIC);
}

static void bind_int(sqlite3_stmt *st, int at, int64_t value)
{
	if (value == PF_NO_INT)
		sqlite3_bind_null(st, at);
	else
		sqlite3_bind_int64(st, at, value);
}

/* A capture of its own: the merge puts those of one name together. */
static int put_capture(struct pf_fleet_out *out, const char *name)
{
	sqlite3_stmt *st = pf_db_prepare(
		out->db, "INSERT INTO capture VALUES(?1, ?2, NULL)",
		out->db->err);
	int rc = -1;

	if (st) {
		sqlite3_bind_int64(st, 1, out->rank_id);
		bind_text(st, 2, name);
		rc = pf_db_step(out->db, st, out->db->err);
	}
	sqlite3_finalize(st);
	return rc;
}

int pf_fleet_put_rank(struct pf_fleet_out *out, const struct pf_fleet_rank *r)
{
	sqlite3_stmt *st = pf_db_prepare(
		out->db,
		"INSERT INTO rank VALUES(?1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8,"
		" ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)",
		out->db->err);
	const char *const texts[] = { r->labels, r->error,  r->path,
				      r->db,     r->xxh128, r->format };
	const int64_t numbers[] = { r->file_bytes,   r->json_bytes,
				    r->base_ns,      r->first_ns,
				    r->last_ns,      r->event_count,
				    r->stored_count, r->metadata_count,
				    r->paired_count, r->skipped_count };
	int at = 1, rc = -1;

	out->rank_id++;
	if (st) {
		sqlite3_bind_int64(st, at++, out->rank_id);
		bind_int(st, at++, r->rank);
		bind_int(st, at++, r->world_size);
		for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
			bind_text(st, at++, texts[i]);
		for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
			bind_int(st, at++, numbers[i]);
		bind_text(st, at, PACKAGE_VERSION);
		rc = pf_db_step(out->db, st, out->db->err);
	}
	sqlite3_finalize(st);
	return rc < 0 ? -1 : put_capture(out, r->capture);
}

int pf_fleet_summarise(struct pf_fleet_out *out, struct pf_db *db,
		       const char *capture, const char *db_path, bool *is_fatal)
{
	struct found *f = pf_calloc(1, sizeof(*f));
	int rc = find(db, f);

	*is_fatal = false;
	if (!rc) {
		char *name = pf_fleet_capture_name(f->rank.path);

		f->rank.capture = capture ? capture : name;
		f->rank.labels = f->rank.error = NULL;
		f->rank.db = db_path;
		rc = put(out, f);
		*is_fatal = rc;
		free(name);
	}
	release(f);
	free(f);
	return rc;
}
