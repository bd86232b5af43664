/* SPDX-License-Identifier: MIT */
/*
 * rocpd, the databases of rocprofv3 (schema 3).  All tables of a run have its
 * GUID in their names, and a file may hold several runs (merged ones do); the
 * views that put them together are not read.  A row's event says its domain
 * and what links a call to its work.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <strings.h>

#include "base/json.h"
#include "base/mem.h"
#include "formats/rocm/map.h"
#include "formats/rocm/rocm.h"
#include "formats/sqlite/foreign.h"

/* Tables that are looked up by number. */
enum lookup { STRINGS, EVENTS, SYMBOLS, THREADS, PROCESSES, LOOKUPS };

#define DOMAINS 8u

struct rocpd {
	struct pf_reading reading;
	struct pf_rocm map;
	struct pf_foreign *f;
	/* runs: the ends of their tables' names */
	const char **runs;
	size_t run_count, runs_cap, run;
	bool is_open, is_described;
	struct pf_lookup lookups[LOOKUPS];
	/* threads that have events, by process and thread */
	struct pf_map threads;
	struct pf_buf text;
	/* found last: a process, a thread, an agent, a few domains */
	bool has_pid, has_tid;
	int64_t last_id, last_pid, last_of, last_thread, last_tid;
	struct known_domain {
		int64_t category;
		const struct pf_rocm_domain *domain; /* NULL: none yet */
	} domains[DOMAINS];
};

/* What a row's event says. */
struct event {
	int64_t category; /* number of a string; -1: none */
	int64_t link;
};

/* Rows of rocpd as events. */

/* The columns that all of them begin with. */
#define PLACE "start", "end", "pid", "tid", "event_id"
enum { PID = 2, TID, EVENT, REST, QUEUE = REST, STREAM };

/* ---- texts ---- */

/* A text borrowed until the next call; false: there is none. */
static bool find_text(struct rocpd *r, int64_t id, const char **text,
		      size_t *len)
{
	return pf_lookup_find(&r->lookups[STRINGS], id) &&
	       pf_rows_text(&r->lookups[STRINGS].rows, 0, text, len);
}

/* ---- events: what is said of a row beside its times ---- */

static const char *const event_columns[] = { "category_id", "stack_id",
					     "extdata" };

static struct event find_event(struct rocpd *r, const struct pf_rows *row)
{
	struct pf_lookup *events = &r->lookups[EVENTS];
	struct event e = { .category = -1 };
	int64_t id;

	if (pf_rows_int(row, EVENT, &id) == PF_CELL_INT &&
	    pf_lookup_find(events, id)) {
		e.category = pf_rows_int_or(&events->rows, 0, -1);
		e.link = pf_rows_int_or(&events->rows, 1, 0);
	}
	return e;
}

/* The text behind "message" of the event found last; false: none. */
static bool event_message(struct rocpd *r, const char **text, size_t *len)
{
	static const char key[] = "\"message\":";
	const char *json, *p, *end;
	size_t n;

	if (!pf_rows_text(&r->lookups[EVENTS].rows, 2, &json, &n))
		return false;
	end = json + n;
	p = memmem(json, n, key, sizeof(key) - 1);
	if (!p)
		return false;
	for (p += sizeof(key) - 1; p < end && *p == ' ';)
		p++;
	if (p == end || *p++ != '"')
		return false;
	for (json = p; p < end && *p != '"'; p++)
		p += *p == '\\';
	if (p >= end)
		return false;
	pf_buf_clear(&r->text);
	pf_json_unescape(json, (size_t)(p - json), &r->text);
	*text = r->text.data ? r->text.data : "";
	*len = r->text.len;
	return true;
}

/* ---- who ---- */

/*
 * The number in a column is that of a row of another table, which has the
 * system's; without such a row it is taken for the system's.
 */
static int64_t system_number(struct rocpd *r, enum lookup table, int64_t id)
{
	return pf_lookup_find(&r->lookups[table], id)
		       ? pf_rows_int_or(&r->lookups[table].rows, 0, id)
		       : id;
}

#define THREADS_MAX 65536u
#define ID_BITS     28 /* of processes and threads that are remembered */

static uint64_t thread_key(const struct rocpd *r, int64_t process,
			   int64_t thread)
{
	return (uint64_t)r->run << 56 ^ (uint64_t)process << ID_BITS ^
	       (uint64_t)thread;
}

static void read_process(struct rocpd *r, const struct pf_rows *row,
			 int64_t *process, int64_t *pid)
{
	int64_t id = pf_rows_int_or(row, PID, 0);

	*process = pf_sink_process(&r->map.sink,
				   (uint64_t)r->run << 48 ^ (uint64_t)id);
	if (!r->has_pid || id != r->last_id) {
		r->last_pid = system_number(r, PROCESSES, id);
		r->has_pid = true;
		r->last_id = id;
	}
	*pid = r->last_pid;
}

static void read_thread(struct rocpd *r, const struct pf_rows *row,
			struct pf_rocm_call *c)
{
	int64_t process = pf_rows_int_or(row, PID, 0);
	int64_t id = pf_rows_int_or(row, TID, 0);
	uint64_t *known;

	read_process(r, row, &c->process, &c->pid);
	if (!r->has_tid || id != r->last_thread || process != r->last_of) {
		r->last_tid = system_number(r, THREADS, id);
		if (r->threads.count < THREADS_MAX) {
			known = pf_map_at(&r->threads,
					  thread_key(r, process, id));
			if (*known == UINT64_MAX)
				*known = (uint64_t)c->process;
		}
		r->has_tid = true;
		r->last_thread = id;
		r->last_of = process;
	}
	c->tid = r->last_tid;
}

/* ---- calls ---- */

static const char *const region_columns[] = { PLACE, "name_id" };

static const struct pf_rocm_domain *domain_of(struct rocpd *r, int64_t category)
{
	struct known_domain *d = &r->domains[(uint64_t)category % DOMAINS];
	const char *text = "";
	size_t len = 0;

	if (d->domain && category == d->category)
		return d->domain;
	if (category >= 0)
		find_text(r, category, &text, &len);
	*d = (struct known_domain){ category, pf_rocm_domain(text, len) };
	return d->domain;
}

static void map_region(void *reader, const struct pf_rows *row,
		       struct pf_sink_put *put)
{
	struct rocpd *r = reader;
	struct pf_rocm_call call = { 0 };
	struct event event;
	char own[48];

	event = find_event(r, row);
	call.id = event.link;
	call.domain = domain_of(r, event.category);
	read_thread(r, row, &call);
	/* A range's text is beside its event; its name is roctx's function. */
	if (call.domain->category == PF_CAT_RANGE) {
		pf_reading_text(&r->reading, &r->lookups[STRINGS], row, REST,
				own, &call.function, &call.function_len);
		if (!event_message(r, &call.name, &call.name_len)) {
			call.name = call.function;
			call.name_len = call.function_len;
		}
	} else {
		call.has_entry = true;
		call.entry = pf_reading_name(&r->reading, &r->lookups[STRINGS],
					     row, REST);
	}
	pf_rocm_put_call(&r->map, &call, put);
}

/* ---- work of GPUs ---- */

static int64_t known_or(const struct pf_rows *row, int column)
{
	int64_t v = pf_rows_int_or(row, column, -1);

	return v < 0 ? -1 : v;
}

static struct pf_work_place read_place(struct rocpd *r,
				       const struct pf_rows *row,
				       int64_t device)
{
	int64_t process, pid;

	read_process(r, row, &process, &pid);
	return pf_rocm_place(process, pid, device, known_or(row, QUEUE),
			     known_or(row, STREAM), find_event(r, row).link);
}

/* -1: not known. */
static int64_t device_of(struct rocpd *r, const struct pf_rows *row, int column)
{
	int64_t id;

	return pf_rows_int(row, column, &id) == PF_CELL_INT
		       ? pf_rocm_device(&r->map, (int64_t)r->run, id)
		       : -1;
}

static const char *const dispatch_columns[] = {
	PLACE,
	"queue_id",
	"stream_id",
	"agent_id",
	"kernel_id",
	"private_segment_size",
	"group_segment_size",
	"workgroup_size_x",
	"workgroup_size_y",
	"workgroup_size_z",
	"grid_size_x",
	"grid_size_y",
	"grid_size_z",
};
enum { AGENT = STREAM + 1, KERNEL, SHAPE };

/* By display_name; kernel_name where it is missing. */
static uint32_t read_kernel(struct rocpd *r, const struct pf_rows *row,
			    uint32_t *registers)
{
	const struct pf_rows *symbol = &r->lookups[SYMBOLS].rows;
	uint32_t *memo, *second, entry;
	const char *text;
	size_t len;
	int64_t id;

	*registers = PF_WORK_UNKNOWN;
	if (pf_rows_int(row, KERNEL, &id) != PF_CELL_INT) {
		pf_sink_note(&r->map.sink, PF_REPAIR_LOST_NAME);
		return pf_sink_word(&r->map.sink, "no name");
	}
	if (pf_sink_memo(&r->map.sink, PF_MEMO_KERNEL, 0, (uint64_t)id,
			 &memo) &&
	    pf_sink_memo(&r->map.sink, PF_MEMO_KERNEL, 1, (uint64_t)id,
			 &second)) {
		*registers = *second;
		return *memo;
	}
	if (pf_lookup_find(&r->lookups[SYMBOLS], id) &&
	    (pf_rows_text(symbol, 0, &text, &len) ||
	     pf_rows_text(symbol, 1, &text, &len))) {
		entry = pf_sink_text(&r->map.sink, text, len);
		*registers = pf_rocm_registers(pf_rows_int_or(symbol, 2, -1),
					       pf_rows_int_or(symbol, 3, -1));
		pf_sink_memo(&r->map.sink, PF_MEMO_KERNEL, 0, (uint64_t)id,
			     &memo);
		*memo = entry;
		pf_sink_memo(&r->map.sink, PF_MEMO_KERNEL, 1, (uint64_t)id,
			     &memo);
		*memo = *registers;
		return entry;
	}
	/* Every event is counted. */
	pf_sink_forget(&r->map.sink, PF_MEMO_KERNEL, 0, (uint64_t)id);
	pf_sink_note(&r->map.sink, PF_REPAIR_LOST_NAME);
	return pf_sink_word(&r->map.sink,
			    PF_PRINTED(48, "kernel %" PRId64, id));
}

static void map_dispatch(void *reader, const struct pf_rows *row,
			 struct pf_sink_put *put)
{
	struct rocpd *r = reader;
	struct pf_work_place place;
	struct pf_work_launch launch;
	int64_t shape[PF_ROCM_SHAPE];

	for (int i = 0; i < PF_ROCM_SHAPE; i++)
		shape[i] = known_or(row, SHAPE + i);
	launch = pf_rocm_launch(shape);
	place = read_place(r, row, device_of(r, row, AGENT));
	put->name = read_kernel(r, row, &launch.registers);
	pf_work_kernel(&r->map.sink, &place, &launch, put);
}

/* ---- copies ---- */

static const char *const copy_columns[] = {
	PLACE,  "queue_id",     "stream_id",    "name_id",
	"size", "src_agent_id", "dst_agent_id",
};
enum { COPY_NAME = REST + 2, SIZE, FROM, TO };

static void map_copy(void *reader, const struct pf_rows *row,
		     struct pf_sink_put *put)
{
	struct rocpd *r = reader;
	struct pf_work_place place;
	struct pf_rocm_copy copy = { 0 };
	char own[48];

	place = read_place(r, row, -1);
	pf_reading_text(&r->reading, &r->lookups[STRINGS], row, COPY_NAME, own,
			&copy.name, &copy.name_len);
	copy.bytes = known_or(row, SIZE);
	copy.from = device_of(r, row, FROM);
	copy.to = device_of(r, row, TO);
	pf_rocm_put_copy(&r->map, &place, &copy, put);
}

/* ---- memory ---- */

static const char *const memory_columns[] = {
	PLACE, "type", "level", "agent_id", "address", "size",
};
enum { ALLOCATION_TYPE = REST, LEVEL, OWNER, ADDRESS, BYTES };

static void map_memory(void *reader, const struct pf_rows *row,
		       struct pf_sink_put *put)
{
	struct rocpd *r = reader;
	struct pf_rocm_call call = { 0 };
	struct pf_rocm_memory memory = { .what = "no name", .what_len = 7 };
	const char *level;
	size_t len;

	call.id = find_event(r, row).link;
	read_thread(r, row, &call);
	pf_rows_text(row, ALLOCATION_TYPE, &memory.what, &memory.what_len);
	memory.is_scratch = pf_rows_text(row, LEVEL, &level, &len) &&
			    pf_is(level, len, "SCRATCH");
	memory.device = device_of(r, row, OWNER);
	memory.bytes = known_or(row, BYTES);
	memory.address = (uint64_t)pf_rows_int_or(row, ADDRESS, 0);
	pf_rocm_put_memory(&r->map, &call, &memory, put);
}

/* ---- names of threads ---- */

#define NAME_MAX_BYTES 1024

static const char *const thread_columns[] = { "id", "pid", "tid", "name" };

/* Of those that have events. */
static bool thread_row(void *reader, const struct pf_rows *row)
{
	struct rocpd *r = reader;
	int64_t id, process;
	const char *name;
	uint64_t key;
	size_t len;

	if (pf_rows_int(row, 0, &id) != PF_CELL_INT ||
	    !pf_rows_text(row, 3, &name, &len) || !len || len > NAME_MAX_BYTES)
		return true;
	process = pf_rows_int_or(row, 1, 0);
	key = thread_key(r, process, id);
	if (pf_map_has(&r->threads, key))
		pf_batch_name(&r->map.sink.parsed.batch, "thread_name",
			      system_number(r, PROCESSES, process),
			      (uint64_t)pf_rows_int_or(row, 2, id), name, len);
	return true;
}

/*
 * What rocpd says of itself: versions, devices, names.  Nothing else of these
 * tables is read: they hold environments and command lines.
 */

/* ---- versions ---- */

static const char *const meta_columns[] = { "tag", "value" };

static bool meta_row(void *reader, const struct pf_rows *row)
{
	static const char key[] = "schema_version";
	struct rocpd *r = reader;
	const char *tag, *value;
	size_t len, n;

	if (!pf_rows_text(row, 0, &tag, &len) || !pf_is(tag, len, key) ||
	    !pf_rows_text(row, 1, &value, &n) || !n || n > 20 ||
	    strspn(value, "0123456789.") != n)
		return true;
	pf_argline_open(&r->map.sink.args);
	pf_argline_text(&r->map.sink.args, key, value, n);
	pf_buf_addc(&r->map.sink.args.text, '}');
	pf_batch_member(&r->map.sink.parsed.batch, "rocpd",
			&r->map.sink.args.text);
	return false;
}

/* ---- agents ---- */

static const char *const agent_columns[] = {
	"id", "nid", "type", "type_index", "product_name", "name", "extdata",
};
enum { ID, NODE, TYPE, ORDINAL, PRODUCT, ARCHITECTURE, MORE };

/* A number behind a key of an object's text, 0 if there is none. */
static int64_t number_of(const char *json, size_t len, const char *key)
{
	const char *p = memmem(json, len, key, strlen(key)), *end = json + len;
	int64_t v = 0;

	if (!p)
		return 0;
	for (p += strlen(key); p < end && *p == ' ';)
		p++;
	for (; p < end && *p >= '0' && *p <= '9' && v < INT64_MAX / 16; p++)
		v = v * 10 + (*p - '0');
	return v;
}

static bool agent_row(void *reader, const struct pf_rows *row)
{
	struct rocpd *r = reader;
	struct pf_rocm_agent agent = { .set = (int64_t)r->run, .ordinal = -1 };
	struct pf_rocm_gpu gpu = { 0 };
	const char *type, *more;
	size_t len, n;

	if (pf_rows_int(row, ID, &agent.id) != PF_CELL_INT)
		return true;
	agent.node = pf_rows_int_or(row, NODE, 0);
	if (pf_rows_text(row, TYPE, &type, &n) && pf_is(type, n, "GPU"))
		agent.ordinal = pf_rows_int_or(row, ORDINAL, -1);
	if (!pf_rows_text(row, PRODUCT, &gpu.name, &gpu.name_len) ||
	    !gpu.name_len)
		pf_rows_text(row, ARCHITECTURE, &gpu.name, &gpu.name_len);
	if (pf_rows_text(row, MORE, &more, &len)) {
		gpu.units = number_of(more, len, "\"cu_count\":");
		gpu.wave = number_of(more, len, "\"wave_front_size\":");
		gpu.waves_per_unit =
			number_of(more, len, "\"max_waves_per_cu\":");
		gpu.bytes = number_of(more, len, "\"size_in_bytes\":");
	}
	pf_rocm_add_agent(&r->map, &agent, &gpu);
	return true;
}

static const char *const guid_columns[] = { "guid" };

/* Tables without a run in their names hold one. */
static bool guid_row(void *reader, const struct pf_rows *row)
{
	struct rocpd *r = reader;
	const char *guid;
	size_t len;

	if (!pf_rows_text(row, 0, &guid, &len))
		return true;
	if (r->text.len &&
	    (r->text.len != len || memcmp(r->text.data, guid, len) != 0))
		pf_fail(row->from->err, PF_EDATA,
			"the rocpd database holds several runs in one "
			"set of tables, whose rows cannot be told "
			"apart: give the files that it was made of");
	pf_buf_clear(&r->text);
	pf_buf_add(&r->text, guid, len);
	return true;
}

/* Versions and devices of all runs, before the first event. */
static void rocpd_describe(struct rocpd *r)
{
	struct pf_reading *g = &r->reading;

	for (r->run = 0; r->run < r->run_count; r->run++) {
		g->suffix = r->runs[r->run];
		pf_buf_clear(&r->text);
		if (!r->run)
			pf_reading_each(g, "rocpd_metadata",
					PF_COLUMNS(meta_columns), meta_row);
		pf_reading_each(g, "rocpd_info_agent",
				PF_COLUMNS(agent_columns), agent_row);
		if (!*g->suffix)
			pf_reading_each(g, "rocpd_info_process",
					PF_COLUMNS(guid_columns), guid_row);
	}
	r->run = 0;
	pf_sink_put_gpus(&r->map.sink);
}

#define RUNS_MAX 4096

static const char stem[] = "rocpd_kernel_dispatch";

bool pf_rocpd_claims(struct pf_foreign *f)
{
	return pf_foreign_has_prefix(f, stem);
}

/* ---- runs ---- */

static const char *const text_columns[] = { "string" };

static const char *const symbol_columns[] = {
	"display_name",
	"kernel_name",
	"arch_vgpr_count",
	"accum_vgpr_count",
};
static const char *const rocpd_thread_columns[] = { "tid" };
static const char *const process_columns[] = { "pid" };

static const struct {
	const char *table;
	const char *const *columns;
	size_t count;
} lookups[LOOKUPS] = {
	[STRINGS] = { "rocpd_string", PF_COLUMNS(text_columns) },
	[EVENTS] = { "rocpd_event", PF_COLUMNS(event_columns) },
	[SYMBOLS] = { "rocpd_info_kernel_symbol", PF_COLUMNS(symbol_columns) },
	[THREADS] = { "rocpd_info_thread", PF_COLUMNS(rocpd_thread_columns) },
	[PROCESSES] = { "rocpd_info_process", PF_COLUMNS(process_columns) },
};

static void open_lookups(struct rocpd *r)
{
	for (size_t i = 0; i < LOOKUPS; i++)
		pf_lookup_open(&r->lookups[i], r->f,
			       pf_reading_find(&r->reading, lookups[i].table),
			       "id", lookups[i].columns, lookups[i].count);
}

static void close_lookups(struct rocpd *r)
{
	for (size_t i = 0; i < LOOKUPS; i++)
		pf_lookup_close(&r->lookups[i]);
}

/* The ends of names, with one table of a kind that only rocpd has. */
static void find_runs(struct rocpd *r)
{
	size_t n = sizeof(stem) - 1;

	for (size_t i = 0; i < r->f->table_count; i++) {
		const char *name = r->f->tables[i];

		if (strncasecmp(name, stem, n) != 0 || r->run_count == RUNS_MAX)
			continue;
		*PF_ONE_MORE(r->runs, r->run_count, r->runs_cap) = name + n;
	}
}

/* ---- reading ---- */

static const char *const describe[] = {
	"rocpd_metadata%", "rocpd_string%", "rocpd_info_%", "rocpd_track%",
	"rocpd_event%",    "rocpd_arg%",    NULL,
};

/* 1: the batch is full. */
static int read_run(struct rocpd *r, size_t most)
{
	int rc;

	if (!r->is_open) {
		r->reading.at = 0;
		r->reading.suffix = r->runs[r->run];
		open_lookups(r);
		r->is_open = true;
	}
	rc = pf_reading_fill(&r->reading, most);
	if (rc)
		return rc;
	pf_reading_count_rest(&r->reading);
	pf_reading_each(&r->reading, "rocpd_info_thread",
			PF_COLUMNS(thread_columns), thread_row);
	close_lookups(r);
	r->is_open = false;
	r->run++;
	/* What was found of this run's numbers is void. */
	r->map.sink.memos.generation++;
	r->has_pid = r->has_tid = false;
	memset(r->domains, 0, sizeof(r->domains));
	return 0;
}

static int fill(struct pf_reader *base, size_t most, struct pf_err *err)
{
	struct rocpd *r = (struct rocpd *)base;
	int rc = 0;

	r->f->err = err;
	pf_sink_begin(&r->map.sink);
	if (!r->is_described)
		rocpd_describe(r);
	r->is_described = true;
	while (r->run < r->run_count && !rc)
		rc = read_run(r, most);
	return err->code ? -1 : rc;
}

/* ---- opening ---- */

static void free_reader(struct pf_reader *base)
{
	PF_OWN struct rocpd *r = (struct rocpd *)base;

	close_lookups(r);
	pf_reading_release(&r->reading);
	pf_rocm_release(&r->map);
	pf_map_release(&r->threads);
	pf_buf_release(&r->text);
	free(r->runs);
}

static const struct pf_reading_table tables[] = {
	PF_READ("rocpd_region", region_columns, map_region),
	PF_READ("rocpd_kernel_dispatch", dispatch_columns, map_dispatch),
	PF_READ("rocpd_memory_copy", copy_columns, map_copy),
	PF_READ("rocpd_memory_allocate", memory_columns, map_memory),
};

struct pf_reader *pf_rocpd_new(struct pf_foreign *f,
			       const struct pf_reader_options *options)
{
	struct rocpd *r = pf_calloc(1, sizeof(*r));

	(void)options;
	pf_rocm_init(&r->map);
	r->f = f;
	r->reading = (struct pf_reading){
		.base = { &r->map.sink.parsed, fill, pf_reading_fact,
			  free_reader },
		.name = "rocpd",
		.describe = describe,
		.f = f,
		.sink = &r->map.sink,
		.tables = tables,
		.table_count = PF_LEN(tables),
	};
	find_runs(r);
	return &r->reading.base;
}
