/* SPDX-License-Identifier: MIT */
/*
 * RPD, the databases of rocmProfileData: calls, operations of GPUs, which of
 * them belong together, and counters over time.  Texts are numbers of one
 * table.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "formats/sqlite/foreign.h"
#include "formats/rocm/map.h"
#include "formats/rocm/rocm.h"

#define TEXTS          1024u
#define TEXT_BYTES_MAX 4096u

enum lookup { STRINGS, KERNELS, COPIES, CALLS, LOOKUPS };

struct rpd {
	struct pf_reading reading;
	struct pf_rocm map;
	struct pf_foreign *f;
	struct pf_lookup lookups[LOOKUPS];
	struct pf_keys call_of; /* an operation's */
	struct pf_keys ops_of;  /* a call's; how many */
	struct pf_buf type;     /* of the operation at hand */
	/* texts that were found, by their number: rows repeat few */
	struct text {
		bool is_known;
		int64_t id;
		struct pf_buf text;
	} texts[TEXTS];
};

bool pf_rpd_claims(struct pf_foreign *f)
{
	return pf_foreign_table(f, "rocpd_api") &&
	       pf_foreign_table(f, "rocpd_op");
}

static void note(struct rpd *r, enum pf_repair_kind kind)
{
	pf_sink_note(&r->map.sink, kind);
}

/*
 * The text of a number in a column, borrowed until the next call; false: none
 * or an empty one.
 */
static bool text_of(struct rpd *r, const struct pf_rows *row, int column,
		    const char **text, size_t *len)
{
	struct text *known;
	int64_t id;

	*len = 0;
	if (pf_rows_int(row, column, &id) != PF_CELL_INT)
		return false;
	known = &r->texts[(uint64_t)id % TEXTS];
	if (!known->is_known || known->id != id) {
		if (!pf_lookup_find(&r->lookups[STRINGS], id) ||
		    !pf_rows_text(&r->lookups[STRINGS].rows, 0, text, len) ||
		    !*len)
			return false;
		if (*len > TEXT_BYTES_MAX)
			return true;
		pf_buf_clear(&known->text);
		pf_buf_add(&known->text, *text, *len);
		known->id = id;
		known->is_known = true;
	}
	*text = known->text.data;
	*len = known->text.len;
	return true;
}

/* The same, or "string 4711" in own. */
static void name_of(struct rpd *r, const struct pf_rows *row, int column,
		    char own[48], const char **text, size_t *len)
{
	int64_t id;

	if (text_of(r, row, column, text, len))
		return;
	note(r, PF_REPAIR_LOST_NAME);
	snprintf(own, 48, "no name");
	if (pf_rows_int(row, column, &id) == PF_CELL_INT)
		snprintf(own, 48, "string %" PRId64, id);
	*text = own;
	*len = strlen(own);
}

/* ---- calls ---- */

static const char *const call_columns[] = { "start",  "end", "pid",
					    "tid",    "id",  "apiName_id",
					    "args_id" };
enum { PID = 2, TID, ID, API, ARGS };

/* Calls have no domain: their names say it.  What RPD does itself is, too. */
static const struct pf_rocm_domain *domain_of(const char *p, size_t len)
{
	static const struct {
		const char *prefix, *domain;
	} prefixes[] = {
		{ "hip", "HIP_RUNTIME_API" },
		{ "__hip", "HIP_COMPILER_API" },
		{ "hsa_", "HSA_CORE_API" },
		{ "nccl", "RCCL_API" },
		{ "UserMarker", "MARKER_CORE_API" },
		{ "hcc_activity_callback", "OVERHEAD" },
	};
	static const char rows[] = "Table::writeRows";

	for (size_t i = 0; i < PF_LEN(prefixes); i++)
		if (pf_begins(p, len, prefixes[i].prefix))
			return pf_rocm_domain(prefixes[i].domain,
					      strlen(prefixes[i].domain));
	if (memmem(p, len, rows, sizeof(rows) - 1))
		return pf_rocm_domain("OVERHEAD", 8);
	return pf_rocm_domain("", 0);
}

static void map_call(void *reader, const struct pf_rows *row,
		     struct pf_sink_put *put)
{
	struct rpd *r = reader;
	struct pf_rocm_call call = { 0 };
	char own[48];

	call.pid = pf_rows_int_or(row, PID, 0);
	call.tid = pf_rows_int_or(row, TID, 0);
	call.id = pf_rows_int_or(row, ID, 0);
	name_of(r, row, API, own, &call.name, &call.name_len);
	call.domain = domain_of(call.name, call.name_len);
	/* Numbers of calls are the file's, whatever the process. */
	if (call.domain->category == PF_CAT_RANGE)
		text_of(r, row, ARGS, &call.name, &call.name_len);
	pf_rocm_put_call(&r->map, &call, put);
}

/* ---- operations ---- */

static const char *const op_columns[] = {
	"start", "end", "id", "gpuId", "queueId", "opType_id", "description_id",
};
enum { OP = 2, GPU, QUEUE, TYPE, DESCRIPTION };

static const char *const kernel_columns[] = {
	"gridX",      "gridY",      "gridZ",         "workgroupX",
	"workgroupY", "workgroupZ", "kernelName_id",
};
static const char *const copy_columns[] = { "size", "width", "height" };
static const char *const api_columns[] = { "apiName_id" };
static const char *const string_columns[] = { "string" };

/* Those calls take a grid of work-items, all others one of blocks. */
static bool has_items(struct rpd *r, int64_t call)
{
	const char *name;
	size_t len;

	return pf_lookup_find(&r->lookups[CALLS], call) &&
	       text_of(r, &r->lookups[CALLS].rows, 0, &name, &len) &&
	       (pf_is(name, len, "hipExtModuleLaunchKernel") ||
		pf_is(name, len, "hipHccModuleLaunchKernel"));
}

static uint32_t size_of(int64_t v)
{
	return v > 0 && v < PF_WORK_UNKNOWN ? (uint32_t)v : 0;
}

/* The launch of a call, if it is of this kernel. */
static struct pf_work_launch read_launch(struct rpd *r, int64_t call,
					 int64_t name)
{
	const struct pf_rows *row = &r->lookups[KERNELS].rows;
	struct pf_work_launch l = { .grid = { PF_WORK_UNKNOWN },
				    .registers = PF_WORK_UNKNOWN,
				    .dynamic_bytes = PF_WORK_UNKNOWN };
	bool items;

	if (!call || !pf_lookup_find(&r->lookups[KERNELS], call) ||
	    pf_rows_int_or(row, 6, -1) != name)
		return l;
	items = has_items(r, call);
	for (int i = 0; i < 3; i++) {
		int64_t grid = pf_rows_int_or(row, i, 0);
		int64_t group = pf_rows_int_or(row, i + 3, 0);

		l.block[i] = size_of(group);
		l.grid[i] = items ? pf_rocm_blocks(grid, group) : size_of(grid);
	}
	if (!l.grid[0] || !l.block[0])
		l.grid[0] = PF_WORK_UNKNOWN;
	return l;
}

/* Bytes of a call that did one operation; -1: not known. */
static int64_t read_bytes(struct rpd *r, int64_t call)
{
	const struct pf_rows *row = &r->lookups[COPIES].rows;
	int64_t count, bytes, width, height;

	if (!pf_keys_find(&r->ops_of, call, &count, r->f->err) || count != 1 ||
	    !pf_lookup_find(&r->lookups[COPIES], call))
		return -1;
	bytes = pf_rows_int_or(row, 0, -1);
	width = pf_rows_int_or(row, 1, 0);
	height = pf_rows_int_or(row, 2, 0);
	if (bytes < 0 && width > 0 && height > 0 && width < INT64_MAX / height)
		return width * height;
	return bytes;
}

#define DEVICE_MEMORY 3 /* of CUPTI */

/* What it is, by its type; its description is the kernel's name. */
static void put_op(struct rpd *r, const struct pf_rows *row, int64_t call,
		   struct pf_work_place *place, struct pf_sink_put *put)
{
	struct pf_rocm_copy copy = { .from = -1, .to = -1 };
	struct pf_buf *type = &r->type;
	struct pf_work_launch launch;
	const char *name;
	char own[48];
	size_t len;

	name_of(r, row, TYPE, own, &name, &len);
	if (pf_begins(name, len, "Copy") ||
	    pf_begins(name, len, "FillBuffer")) {
		snprintf(own, sizeof(own), "%.*s", (int)(len < 40 ? len : 40),
			 name);
		copy.name = own;
		copy.name_len = strlen(own);
		copy.bytes = read_bytes(r, call);
		if (own[0] == 'C')
			pf_rocm_put_copy(&r->map, place, &copy, put);
		else
			pf_work_fill(&r->map.sink, place, DEVICE_MEMORY,
				     copy.bytes, put);
		return;
	}
	pf_buf_clear(type);
	pf_buf_add(type, name, len);
	if (!pf_is(type->data, type->len, "KernelExecution")) {
		/* Barriers and markers take no time of the GPU's. */
		put->name = pf_sink_text(&r->map.sink, type->data, type->len);
		pf_work_open(&r->map.sink, place, PF_CAT_ROCM_WORK, put);
		pf_work_args(&r->map.sink, place);
		pf_work_close(&r->map.sink, place, put);
		return;
	}
	if (!text_of(r, row, DESCRIPTION, &name, &len)) {
		name = type->data;
		len = type->len;
	}
	put->name = pf_sink_text(&r->map.sink, name, len);
	launch = read_launch(r, call, pf_rows_int_or(row, DESCRIPTION, -2));
	pf_work_kernel(&r->map.sink, place, &launch, put);
}

static void map_op(void *reader, const struct pf_rows *row,
		   struct pf_sink_put *put)
{
	struct rpd *r = reader;
	struct pf_work_place place;
	int64_t call = 0;

	pf_keys_find(&r->call_of, pf_rows_int_or(row, OP, 0), &call, r->f->err);
	place = pf_rocm_place(0, 0, pf_rows_int_or(row, GPU, -1),
			      pf_rows_int_or(row, QUEUE, -1), -1, call);
	put_op(r, row, call, &place, put);
}

/* ---- counters ---- */

static const char *const monitor_columns[] = {
	"start", "end", "deviceType", "deviceId", "monitorType", "value",
};
enum { DEVICE_TYPE = 2, DEVICE, MONITOR, VALUE };

/* Values are texts, of numbers. */
static bool read_value(const struct pf_rows *row, double *value)
{
	const char *text;
	char *end, own[64];
	size_t len;

	if (pf_rows_real(row, VALUE, value))
		return true;
	if (!pf_rows_text(row, VALUE, &text, &len) || !len ||
	    len >= sizeof(own))
		return false;
	memcpy(own, text, len);
	own[len] = '\0';
	*value = strtod(own, &end);
	return end == own + len && *value > -1e300 && *value < 1e300;
}

static void map_monitor(void *reader, const struct pf_rows *row,
			struct pf_sink_put *put)
{
	struct rpd *r = reader;
	const char *what, *type;
	size_t len, type_len;
	double value;

	if (!read_value(row, &value) ||
	    !pf_rows_text(row, MONITOR, &what, &len)) {
		note(r, PF_SKIP_MALFORMED);
		return;
	}
	if (!pf_rows_text(row, DEVICE_TYPE, &type, &type_len) || type_len > 32)
		type_len = 0;
	const char *pid = PF_PRINTED(64, "%.*s %" PRId64, (int)type_len,
				     type_len ? type : "",
				     pf_rows_int_or(row, DEVICE, -1));
	put->category = PF_CAT_ROCM_CALL;
	put->kind = PF_KIND_COUNTER;
	put->ph = 'C';
	put->dur_ns = 0;
	put->name = pf_sink_text(&r->map.sink, what, len);
	put->track = pf_sink_track(&r->map.sink, 'c', pid, "");
	pf_argline_open(&r->map.sink.args);
	pf_argline_real(&r->map.sink.args, "value", value);
	pf_sink_close(&r->map.sink, put);
}

/* ---- which call did what ---- */

static const char *const link_columns[] = { "op_id", "api_id" };

static bool link_row(void *reader, const struct pf_rows *row)
{
	struct rpd *r = reader;
	int64_t op, call;

	if (pf_rows_int(row, 0, &op) == PF_CELL_INT &&
	    pf_rows_int(row, 1, &call) == PF_CELL_INT && op > 0 && call > 0) {
		pf_keys_add(&r->call_of, op, call, r->f->err);
		pf_keys_add(&r->ops_of, call, 1, r->f->err);
	}
	return true;
}

static void open_all(struct pf_reading *g)
{
	struct rpd *r = (struct rpd *)g;
	static const struct {
		const char *table, *key;
		const char *const *columns;
		size_t count;
	} lookups[LOOKUPS] = {
		[STRINGS] = { "rocpd_string", "id",
			      PF_COLUMNS(string_columns) },
		[KERNELS] = { "rocpd_kernelapi", "api_ptr_id",
			      PF_COLUMNS(kernel_columns) },
		[COPIES] = { "rocpd_copyapi", "api_ptr_id",
			     PF_COLUMNS(copy_columns) },
		[CALLS] = { "rocpd_api", "id", PF_COLUMNS(api_columns) },
	};

	for (size_t i = 0; i < LOOKUPS; i++)
		pf_lookup_open(&r->lookups[i], r->f,
			       pf_foreign_table(r->f, lookups[i].table),
			       lookups[i].key, lookups[i].columns,
			       lookups[i].count);
	pf_reading_each(&r->reading, "rocpd_api_ops", PF_COLUMNS(link_columns),
			link_row);
}

/* ---- reading ---- */

static const char *const describe[] = {
	"rocpd_metadata", "rocpd_string",
	"rocpd_api_ops",  "rocpd_kernelapi",
	"rocpd_copyapi",  "rocpd_kernelcodeobject",
	"rocpd_ustring",  NULL,
};

static void free_reader(struct pf_reader *base)
{
	PF_OWN struct rpd *r = (struct rpd *)base;

	for (size_t i = 0; i < LOOKUPS; i++)
		pf_lookup_close(&r->lookups[i]);
	pf_reading_release(&r->reading);
	pf_rocm_release(&r->map);
	pf_keys_release(&r->call_of);
	pf_keys_release(&r->ops_of);
	pf_buf_release(&r->type);
	for (size_t i = 0; i < TEXTS; i++)
		pf_buf_release(&r->texts[i].text);
}

static const struct pf_reading_table tables[] = {
	PF_READ("rocpd_api", call_columns, map_call),
	PF_READ("rocpd_op", op_columns, map_op),
	PF_READ("rocpd_monitor", monitor_columns, map_monitor),
};

struct pf_reader *pf_rpd_new(struct pf_foreign *f,
			     const struct pf_reader_options *options)
{
	struct rpd *r = pf_calloc(1, sizeof(*r));

	pf_rocm_init(&r->map);
	pf_keys_init(&r->call_of, options->dir);
	pf_keys_init(&r->ops_of, options->dir);
	r->ops_of.sums = true;
	r->f = f;
	r->reading = (struct pf_reading){
		.base = { &r->map.sink.parsed, pf_reading_run, pf_reading_fact,
			  free_reader },
		.begin = open_all,
		.name = "rpd",
		.describe = describe,
		.f = f,
		.sink = &r->map.sink,
		.tables = tables,
		.table_count = PF_LEN(tables),
	};
	return &r->reading.base;
}
