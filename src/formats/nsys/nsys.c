/* SPDX-License-Identifier: MIT */
/*
 * The order of the tables: calls before what they caused, so that it is known
 * what a wait is for; kernels before the graphs that they are nodes of; ranges
 * without an end last, when the end of everything else is known.
 */
#include "config.h"

#include "formats/nsys/nsys.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "base/mem.h"
#include "formats/nsys/impl.h"

/*
 * What the file says of itself: versions, the clock, devices, names.  Nothing
 * else of these tables is read: they hold environments and command lines.
 */

#define NAME_MAX_BYTES 1024

/* ---- versions ---- */

static const char *const meta_columns[] = { "name", "value" };

static bool is_version(const char *p, size_t len)
{
	if (!len || len > 40)
		return false;
	for (size_t i = 0; i < len; i++)
		if (!strchr("0123456789.-", p[i]) || !p[i])
			return false;
	return true;
}

static void note_schema(struct pf_nsys *n, const char *p, size_t len)
{
	char text[48];
	char *end;
	long major;

	memcpy(text, p, len);
	text[len] = '\0';
	major = strtol(text, &end, 10);
	if (major >= 0 && major < 1000 && *end == '.')
		n->schema =
			(int)(major * 1000 + strtol(end + 1, NULL, 10) % 1000);
}

static int meta_row(void *reader, const struct pf_rows *r)
{
	struct pf_nsys *n = reader;
	static const char *const names[] = { "EXPORT_PRODUCT_VERSION",
					     "EXPORT_SCHEMA_VERSION" };
	static const char *const keys[] = { "product_version",
					    "schema_version" };
	const char *name, *value;
	size_t len, value_len;

	(void)r->from->err;
	if (!pf_rows_text(r, 0, &name, &len))
		return 0;
	for (size_t i = 0; i < 2; i++) {
		if (len != strlen(names[i]) || memcmp(name, names[i], len))
			continue;
		if (!pf_rows_text(r, 1, &value, &value_len) ||
		    !is_version(value, value_len))
			return 0;
		pf_argline_text(&n->sink.args, keys[i], value, value_len);
		if (i)
			note_schema(n, value, value_len);
		return 0;
	}
	return 0;
}

static int put_versions(struct pf_nsys *n)
{
	static const char *const tables[] = { "META_DATA_EXPORT",
					      "EXPORT_META_DATA" };
	int rc = 0;

	pf_argline_open(&n->sink.args);
	for (size_t i = 0; i < 2 && !rc; i++)
		rc = pf_reading_each(&n->reading, tables[i],
				     PF_COLUMNS(meta_columns), meta_row);
	if (!n->sink.args.text.len)
		return rc;
	pf_buf_addc(&n->sink.args.text, '}');
	pf_batch_member(&n->sink.parsed.batch, "nsightSystems",
			&n->sink.args.text);
	return rc;
}

/* ---- the clock ---- */

static const char *const clock_columns[] = { "utcEpochNs" };

static int clock_row(void *reader, const struct pf_rows *r)
{
	struct pf_nsys *n = reader;
	struct pf_buf text = { 0 };
	int64_t ns;

	(void)r->from->err;
	if (pf_rows_int(r, 0, &ns) != PF_CELL_INT || ns <= 0)
		return 0;
	pf_buf_addf(&text, "%" PRId64, ns);
	pf_batch_member(&n->sink.parsed.batch, "baseTimeNanoseconds", &text);
	pf_buf_release(&text);
	return 1;
}

/* ---- devices ---- */

static const char *const gpu_columns[] = {
	"id",
	"cuDevice",
	"name",
	"totalMemory",
	"computeMajor",
	"computeMinor",
	"maxRegistersPerSm",
	"threadsPerWarp",
	"maxShmemPerSm",
	"smCount",
	"maxWarpsPerSm",
};
enum { GPU_ID, ORDINAL, GPU_NAME, NUMBERS, WARP = 7, SMS = 9, WARPS_PER_SM };

static const char *const gpu_keys[] = {
	"totalGlobalMem", "computeMajor",
	"computeMinor",   "regsPerMultiprocessor",
	"warpSize",       "sharedMemPerMultiprocessor",
	"numSms",
};

static const char *const device_columns[] = { "gpuId", "cudaId", "pid" };

static uint64_t device_key(int64_t pid, int64_t device)
{
	return (uint64_t)pid << 32 ^ (uint64_t)device;
}

/* Which GPU a process means by a number. */
static int device_row(void *reader, const struct pf_rows *r)
{
	struct pf_nsys *n = reader;
	int64_t gpu, device, pid = pf_rows_int_or(r, 2, 0);
	struct pf_sink_user *u;

	(void)r->from->err;
	if (pf_rows_int(r, 0, &gpu) != PF_CELL_INT ||
	    pf_rows_int(r, 1, &device) != PF_CELL_INT || gpu < 0 ||
	    n->gpu_of.count >= PF_NSYS_PROCESSES_MAX)
		return 0;
	*pf_map_at(&n->gpu_of, device_key(pid, device)) = (uint64_t)gpu;
	for (size_t i = 0; i < n->gpu_count; i++)
		if (n->gpus[i].device == device) {
			n->is_by_machine |= n->gpus[i].process != gpu;
			return 0;
		}
	if (n->gpu_count == PF_NSYS_DEVICES_MAX)
		return 0;
	u = &n->gpus[n->gpu_count++];
	*u = (struct pf_sink_user){ device, gpu };
	return 0;
}

int64_t pf_nsys_device_number(struct pf_nsys *n, int64_t global_pid,
			      int64_t device)
{
	uint64_t *gpu;

	if (!n->is_by_machine)
		return device;
	gpu = pf_map_at(&n->gpu_of,
			device_key(pf_nsys_pid(global_pid), device));
	if (*gpu == UINT64_MAX)
		*gpu = (uint64_t)device;
	return (int64_t)*gpu;
}

const struct pf_nsys_device *pf_nsys_device(const struct pf_nsys *n,
					    int64_t number)
{
	for (size_t i = 0; i < n->device_count; i++)
		if (n->devices[i].number == number)
			return &n->devices[i];
	return NULL;
}

/* The number that rows have for a GPU of the machine; -1: none has. */
static int64_t number_of(struct pf_nsys *n, const struct pf_rows *r)
{
	int64_t id = pf_rows_int_or(r, GPU_ID, -1);

	if (n->is_by_machine)
		return id;
	for (size_t i = 0; i < n->gpu_count; i++)
		if (n->gpus[i].process == id)
			return n->gpus[i].device;
	return n->gpu_count ? -1 : pf_rows_int_or(r, ORDINAL, id);
}

static void put_gpu(struct pf_nsys *n, const struct pf_rows *r, int64_t number)
{
	struct pf_buf *text = &n->clean;
	int64_t warps = pf_rows_int_or(r, WARPS_PER_SM, 0);
	int64_t warp = pf_rows_int_or(r, WARP, 0), v;
	const char *name;
	size_t len;

	pf_buf_addf(text, "%s{\"id\":%" PRId64, text->len > 1 ? "," : "",
		    number);
	if (pf_rows_text(r, GPU_NAME, &name, &len) && len &&
	    len <= NAME_MAX_BYTES) {
		pf_buf_adds(text, ",\"name\":");
		pf_jsonw_quote(text, name, len, false);
	}
	for (size_t i = 0; i < sizeof(gpu_keys) / sizeof(*gpu_keys); i++) {
		v = pf_rows_int_or(r, NUMBERS + (int)i, 0);
		if (v > 0)
			pf_buf_addf(text, ",\"%s\":%" PRId64, gpu_keys[i], v);
	}
	if (warps > 0 && warps < 1 << 16 && warp > 0 && warp < 1 << 16)
		pf_buf_addf(text, ",\"maxThreadsPerMultiprocessor\":%" PRId64,
			    warps * warp);
	pf_buf_addc(text, '}');
}

/* One without multiprocessors is no GPU that CUDA knows. */
static int gpu_row(void *reader, const struct pf_rows *r)
{
	struct pf_nsys *n = reader;
	int64_t number = number_of(n, r), sms;
	struct pf_nsys_device *d;

	(void)r->from->err;
	if ((pf_rows_int(r, SMS, &sms) == PF_CELL_INT && sms <= 0) ||
	    number < 0 || pf_nsys_device(n, number) ||
	    n->device_count == PF_NSYS_DEVICES_MAX)
		return 0;
	d = &n->devices[n->device_count++];
	*d = (struct pf_nsys_device){
		.number = number,
		.kineto = { .sms = pf_rows_int_or(r, SMS, -1),
			    .warp = pf_rows_int_or(r, WARP, -1) },
	};
	put_gpu(n, r, number);
	return 0;
}

static int put_devices(struct pf_nsys *n)
{
	PF_TRY(pf_reading_each(&n->reading, "TARGET_INFO_CUDA_DEVICE",
			       PF_COLUMNS(device_columns), device_row));
	pf_buf_clear(&n->clean);
	pf_buf_addc(&n->clean, '[');
	PF_TRY(pf_reading_each(&n->reading, "TARGET_INFO_GPU",
			       PF_COLUMNS(gpu_columns), gpu_row));
	pf_buf_addc(&n->clean, ']');
	if (n->device_count)
		pf_batch_member(&n->sink.parsed.batch, "deviceProperties",
				&n->clean);
	return 0;
}

/* What the file says of itself and of devices, before the first event. */
static int nsys_describe(struct pf_nsys *n)
{
	PF_TRY(put_versions(n));
	PF_TRY(pf_reading_each(&n->reading, "TARGET_INFO_SESSION_START_TIME",
			       PF_COLUMNS(clock_columns), clock_row));
	return put_devices(n);
}

/* ---- names ---- */

static const char *const process_columns[] = { "globalPid", "pid", "name" };

/* Of those that have events: the file names all that ran on the machine. */
static int process_row(void *reader, const struct pf_rows *r)
{
	struct pf_nsys *n = reader;
	const char *name, *slash;
	int64_t id;
	size_t len;

	(void)r->from->err;
	if (pf_rows_int(r, 0, &id) != PF_CELL_INT ||
	    !pf_map_has(&n->processes, (uint64_t)id) ||
	    !pf_rows_text(r, 2, &name, &len) || !len || len > NAME_MAX_BYTES)
		return 0;
	slash = memrchr(name, '/', len);
	if (slash && slash + 1 < name + len) {
		len -= (size_t)(slash + 1 - name);
		name = slash + 1;
	}
	pf_batch_name(&n->sink.parsed.batch, "process_name", pf_nsys_pid(id), 0,
		      name, len);
	return 0;
}

static const char *const thread_columns[] = { "globalTid", "nameId" };

static int thread_row(void *reader, const struct pf_rows *r)
{
	struct pf_nsys *n = reader;
	const char *name;
	int64_t id, text;
	size_t len;
	int rc;

	if (pf_rows_int(r, 0, &id) != PF_CELL_INT ||
	    pf_rows_int(r, 1, &text) != PF_CELL_INT ||
	    !pf_map_has(&n->threads, (uint64_t)id) ||
	    *pf_map_at(&n->threads, (uint64_t)id) != PF_NSYS_SEEN)
		return 0;
	rc = pf_nsys_string(n, text, &name, &len);
	if (rc == 1 && len && len <= NAME_MAX_BYTES)
		pf_batch_name(&n->sink.parsed.batch, "thread_name",
			      pf_nsys_pid(id), (uint64_t)pf_nsys_tid(id), name,
			      len);
	return rc < 0 ? -1 : 0;
}

/* Names of the processes and threads that have events; behind the last. */
static int nsys_name_all(struct pf_nsys *n)
{
	return pf_reading_each(&n->reading, "PROCESSES",
			       PF_COLUMNS(process_columns), process_row) ||
			       pf_reading_each(&n->reading, "ThreadNames",
					       PF_COLUMNS(thread_columns),
					       thread_row)
		       ? -1
		       : 0;
}

/* ---- what is not read ---- */

/* Tables that describe, and hold no events. */
/* Does a table describe, and hold no events? */
static bool nsys_describes(const char *name)
{
	static const char *const prefixes[] = {
		"sqlite_",          "StringIds",      "META_DATA_",
		"EXPORT_META_DATA", "TARGET_INFO_",   "ENUM_",
		"ANALYSIS_",        "ProcessStreams", "PROCESSES",
		"ThreadNames",      "NVTX_PAYLOAD_",  "SystemInfo",
	};
	static const char callchains[] = "_CALLCHAINS";
	size_t len = strlen(name), n = sizeof(callchains) - 1;

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (!strncasecmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return len > n && !strcasecmp(name + len - n, callchains);
}

static const char *const text_columns[] = { "value" };

static const struct pf_reading_table *const tables_read[] = {
	&pf_nsys_calls,    &pf_nsys_kernels,  &pf_nsys_copies,
	&pf_nsys_fills,    &pf_nsys_graphs,   &pf_nsys_syncs,
	&pf_nsys_events,   &pf_nsys_overhead, &pf_nsys_own_overhead,
	&pf_nsys_os_calls, &pf_nsys_ranges,   &pf_nsys_open_ranges,
};
#define TABLES (sizeof(tables_read) / sizeof(*tables_read))

bool pf_nsys_claims(struct pf_foreign *f)
{
	return pf_foreign_has_prefix(f, "CUPTI_ACTIVITY_KIND_") ||
	       pf_foreign_has_prefix(f, "NVTX_EVENTS") ||
	       pf_foreign_table(f, "OSRT_API") ||
	       (pf_foreign_table(f, "TARGET_INFO_SESSION_START_TIME") &&
		pf_foreign_table(f, "StringIds"));
}

/* ---- reading ---- */

static int fill(struct pf_reader *base, size_t most, struct pf_err *err)
{
	struct pf_nsys *n = (struct pf_nsys *)base;
	int rc;

	n->f->err = err;
	pf_sink_begin(&n->sink);
	if (!n->is_described && nsys_describe(n))
		return -1;
	n->is_described = true;
	rc = pf_reading_fill(&n->reading, most);
	if (rc)
		return rc;
	return pf_reading_count_rest(&n->reading, nsys_describes) ||
			       nsys_name_all(n)
		       ? -1
		       : 0;
}

/* ---- facts ---- */

static bool fact(struct pf_reader *base, size_t i, char *key, size_t key_size,
		 int64_t *value)
{
	struct pf_nsys *n = (struct pf_nsys *)base;

	if (i >= n->reading.rest_count)
		return false;
	snprintf(key, key_size, "nsys_unread_%.80s", n->reading.rest[i].table);
	*value = n->reading.rest[i].rows;
	return true;
}

/* ---- opening ---- */

static void free_reader(struct pf_reader *base)
{
	struct pf_nsys *n = (struct pf_nsys *)base;

	pf_reading_release(&n->reading);
	pf_lookup_close(&n->texts);
	pf_sink_release(&n->sink);
	pf_map_release(&n->processes);
	pf_map_release(&n->threads);
	pf_map_release(&n->gpu_of);
	pf_keys_release(&n->waits);
	pf_keys_release(&n->graphs);
	pf_buf_release(&n->labels);
	pf_buf_release(&n->label_text);
	pf_buf_release(&n->clean);
	free(n);
}

struct pf_reader *pf_nsys_new(struct pf_foreign *f,
			      const struct pf_reader_options *options)
{
	struct pf_nsys *n = pf_calloc(1, sizeof(*n));

	n->base =
		(struct pf_reader){ &n->sink.parsed, fill, fact, free_reader };
	n->f = f;
	n->options = *options;
	n->only_process = PF_NSYS_NO_PROCESS;
	n->reading = (struct pf_reading){
		.f = f,
		.sink = &n->sink,
		.reader = n,
		.tables = tables_read,
		.table_count = TABLES,
	};
	pf_sink_init(&n->sink);
	pf_map_init(&n->processes);
	pf_map_init(&n->threads);
	pf_map_init(&n->gpu_of);
	pf_keys_init(&n->waits, options->dir);
	pf_keys_init(&n->graphs, options->dir);
	if (!pf_lookup_open(&n->texts, f, pf_foreign_table(f, "StringIds"),
			    "id", PF_COLUMNS(text_columns)))
		return &n->base;
	free_reader(&n->base);
	return NULL;
}
