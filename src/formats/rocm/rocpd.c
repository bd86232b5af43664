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
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "base/mem.h"
#include "formats/rocm/map.h"
#include "formats/rocm/rocm.h"
#include "formats/sqlite/foreign.h"

/* What the parts of the reader of rocpd share.  Not for others. */

/* Tables that are looked up by number. */
enum pf_rocpd_lookup {
	PF_ROCPD_STRINGS,
	PF_ROCPD_EVENTS,
	PF_ROCPD_SYMBOLS,
	PF_ROCPD_THREADS,
	PF_ROCPD_PROCESSES,
	PF_ROCPD_LOOKUPS
};

#define PF_ROCPD_REST_MAX 64u
#define PF_ROCPD_DOMAINS  8u

struct pf_rocpd {
	struct pf_reader base;
	struct pf_rocm map;
	struct pf_foreign *f;
	struct pf_reading reading;
	/* runs: the ends of their tables' names */
	const char **runs;
	size_t run_count, runs_cap, run;
	bool is_open, is_described;
	struct pf_lookup lookups[PF_ROCPD_LOOKUPS];
	/* threads that have events, by process and thread */
	struct pf_map threads;
	struct pf_buf text;
	/* found last: a process, a thread, an agent, a few domains */
	bool has_pid, has_tid;
	int64_t last_id, last_pid, last_of, last_thread, last_tid;
	struct pf_rocpd_domain {
		int64_t category;
		const struct pf_rocm_domain *domain; /* NULL: none yet */
	} domains[PF_ROCPD_DOMAINS];
	const struct pf_rocm_agent *agent;
	/* rows that are not read, by kind of table */
	struct pf_rocpd_rest {
		char table[80];
		int64_t rows;
	} rest[PF_ROCPD_REST_MAX];
	size_t rest_count, rest_seen;
};

/* What a row's event says. */
struct pf_rocpd_event {
	int64_t category; /* number of a string; -1: none */
	int64_t link;
};

/*
 * What rocpd says of itself: versions, devices, names.  Nothing else of these
 * tables is read: they hold environments and command lines.
 */

#define NAME_MAX_BYTES 1024

/* ---- versions ---- */

static const char *const meta_columns[] = { "tag", "value" };

static int meta_row(void *reader, const struct pf_rows *row)
{
	static const char key[] = "schema_version";
	struct pf_rocpd *r = reader;
	const char *tag, *value;
	size_t len, n;

	(void)row->from->err;
	if (!pf_rows_text(row, 0, &tag, &len) || len != sizeof(key) - 1 ||
	    memcmp(tag, key, len) != 0 || !pf_rows_text(row, 1, &value, &n) ||
	    !n || n > 20 || strspn(value, "0123456789.") != n)
		return 0;
	pf_argline_open(&r->map.sink.args);
	pf_argline_text(&r->map.sink.args, key, value, n);
	pf_buf_addc(&r->map.sink.args.text, '}');
	pf_batch_member(&r->map.sink.parsed.batch, "rocpd",
			&r->map.sink.args.text);
	return 1;
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

static int agent_row(void *reader, const struct pf_rows *row)
{
	struct pf_rocpd *r = reader;
	struct pf_rocm_agent agent = { .set = (int64_t)r->run, .ordinal = -1 };
	struct pf_rocm_gpu gpu = { 0 };
	const char *type, *more;
	size_t len, n;

	(void)row->from->err;
	if (pf_rows_int(row, ID, &agent.id) != PF_CELL_INT)
		return 0;
	agent.node = pf_rows_int_or(row, NODE, 0);
	if (pf_rows_text(row, TYPE, &type, &n) && n == 3 &&
	    !memcmp(type, "GPU", 3))
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
	return 0;
}

static const char *const guid_columns[] = { "guid" };

/* Tables without a run in their names hold one. */
static int guid_row(void *reader, const struct pf_rows *row)
{
	struct pf_rocpd *r = reader;
	const char *guid;
	size_t len;

	if (!pf_rows_text(row, 0, &guid, &len))
		return 0;
	if (r->text.len &&
	    (r->text.len != len || memcmp(r->text.data, guid, len) != 0))
		return pf_fail(row->from->err, PF_EDATA,
			       "the rocpd database holds several runs in one "
			       "set of tables, whose rows cannot be told "
			       "apart: give the files that it was made of");
	pf_buf_clear(&r->text);
	pf_buf_add(&r->text, guid, len);
	return 0;
}

/* Versions and devices of all runs, before the first event. */
static int rocpd_describe(struct pf_rocpd *r)
{
	struct pf_reading *g = &r->reading;

	for (r->run = 0; r->run < r->run_count; r->run++) {
		g->suffix = r->runs[r->run];
		pf_buf_clear(&r->text);
		if ((!r->run &&
		     pf_reading_each(g, "rocpd_metadata",
				     PF_COLUMNS(meta_columns), meta_row)) ||
		    pf_reading_each(g, "rocpd_info_agent",
				    PF_COLUMNS(agent_columns), agent_row) ||
		    (!*g->suffix &&
		     pf_reading_each(g, "rocpd_info_process",
				     PF_COLUMNS(guid_columns), guid_row)))
			return -1;
	}
	r->run = 0;
	pf_rocm_put_devices(&r->map);
	return 0;
}

/* ---- names of threads ---- */

static const char *const thread_columns[] = { "id", "pid", "tid", "name" };

static uint64_t rocpd_thread_key(const struct pf_rocpd *r, int64_t process,
				 int64_t thread);
static int rocpd_pid(struct pf_rocpd *r, int64_t id, int64_t *pid);

/* Of those that have events. */
static int thread_row(void *reader, const struct pf_rows *row)
{
	struct pf_rocpd *r = reader;
	int64_t id, process, pid;
	const char *name;
	uint64_t key;
	size_t len;

	if (pf_rows_int(row, 0, &id) != PF_CELL_INT ||
	    !pf_rows_text(row, 3, &name, &len) || !len || len > NAME_MAX_BYTES)
		return 0;
	process = pf_rows_int_or(row, 1, 0);
	key = rocpd_thread_key(r, process, id);
	if (!pf_map_has(&r->threads, key) || rocpd_pid(r, process, &pid))
		return row->from->err->code ? -1 : 0;
	pf_batch_name(&r->map.sink.parsed.batch, "thread_name", pid,
		      (uint64_t)pf_rows_int_or(row, 2, id), name, len);
	return 0;
}

/* Names of the processes and threads of a run that have events. */
static int rocpd_name_all(struct pf_rocpd *r)
{
	return pf_reading_each(&r->reading, "rocpd_info_thread",
			       PF_COLUMNS(thread_columns), thread_row);
}

/* Rows of rocpd as events. */

/* The columns that all of them begin with. */
#define PLACE "start", "end", "pid", "tid", "event_id"
enum { PID = 2, TID, EVENT, REST };

static void note(struct pf_rocpd *r, enum pf_repair_kind kind)
{
	pf_sink_note(&r->map.sink, kind);
}

/* ---- who ---- */

/*
 * The number in a column is that of a row of another table, which has the
 * system's; without such a row it is taken for the system's.
 */
static int system_number(struct pf_rocpd *r, enum pf_rocpd_lookup table,
			 int64_t id, int64_t *number)
{
	int rc = pf_lookup_find(&r->lookups[table], id, r->f->err);

	*number = id;
	if (rc == 1)
		*number = pf_rows_int_or(&r->lookups[table].rows, 0, id);
	return rc < 0 ? -1 : 0;
}

#define THREADS_MAX 65536u
#define ID_BITS     28 /* of processes and threads that are remembered */

static uint64_t rocpd_thread_key(const struct pf_rocpd *r, int64_t process,
				 int64_t thread)
{
	return (uint64_t)r->run << 56 ^ (uint64_t)process << ID_BITS ^
	       (uint64_t)thread;
}

/* The system's number of a process; what the run says of it. */
static int rocpd_pid(struct pf_rocpd *r, int64_t id, int64_t *pid)
{
	return system_number(r, PF_ROCPD_PROCESSES, id, pid);
}

static int read_process(struct pf_rocpd *r, const struct pf_rows *row,
			int64_t *process, int64_t *pid)
{
	int64_t id = pf_rows_int_or(row, PID, 0);

	*process =
		pf_rocm_process(&r->map, (uint64_t)r->run << 48 ^ (uint64_t)id);
	if (r->has_pid && id == r->last_id) {
		*pid = r->last_pid;
		return 0;
	}
	PF_TRY(rocpd_pid(r, id, pid));
	r->has_pid = true;
	r->last_id = id;
	r->last_pid = *pid;
	return 0;
}

static int read_thread(struct pf_rocpd *r, const struct pf_rows *row,
		       struct pf_rocm_call *c)
{
	int64_t process = pf_rows_int_or(row, PID, 0);
	int64_t id = pf_rows_int_or(row, TID, 0);
	uint64_t *known;

	PF_TRY(read_process(r, row, &c->process, &c->pid));
	if (r->has_tid && id == r->last_thread && process == r->last_of) {
		c->tid = r->last_tid;
		return 0;
	}
	PF_TRY(system_number(r, PF_ROCPD_THREADS, id, &c->tid));
	if (r->threads.count < THREADS_MAX) {
		known = pf_map_at(&r->threads,
				  rocpd_thread_key(r, process, id));
		if (*known == UINT64_MAX)
			*known = (uint64_t)c->process;
	}
	r->has_tid = true;
	r->last_thread = id;
	r->last_of = process;
	r->last_tid = c->tid;
	return 0;
}

/* ---- names ---- */

static void lost(char text[48], const char *what, int64_t id)
{
	snprintf(text, 48, "%s %" PRId64, what, id);
}

static int rocpd_text(struct pf_rocpd *r, int64_t id, const char **text,
		      size_t *len);

/* The text of a number in a column: borrowed, or "string 4711" in own. */
static int read_name(struct pf_rocpd *r, const struct pf_rows *row, int column,
		     char own[48], const char **text, size_t *len)
{
	int64_t id;
	int rc = 0;

	snprintf(own, 48, "no name");
	if (pf_rows_int(row, column, &id) == PF_CELL_INT) {
		rc = rocpd_text(r, id, text, len);
		lost(own, "string", id);
	}
	if (rc)
		return rc < 0 ? -1 : 0;
	note(r, PF_REPAIR_LOST_NAME);
	*text = own;
	*len = strlen(own);
	return 0;
}

/* ---- calls ---- */

/* Of a call by its number, which most rows repeat; of a range its text. */
static int read_call_name(struct pf_rocpd *r, const struct pf_rows *row,
			  int column, char own[48], struct pf_rocm_call *c)
{
	uint32_t *memo = NULL;
	int64_t id;

	if (c->domain->category != PF_CAT_RANGE &&
	    pf_rows_int(row, column, &id) == PF_CELL_INT &&
	    pf_sink_memo(&r->map.sink, PF_MEMO_NAME, 0, (uint64_t)id, &memo)) {
		c->has_entry = true;
		c->entry = *memo;
		return 0;
	}
	if (memo)
		pf_sink_forget(&r->map.sink, PF_MEMO_NAME, 0, (uint64_t)id);
	PF_TRY(read_name(r, row, column, own, &c->name, &c->name_len));
	/* One that is lost is counted each time. */
	if (memo && c->name != own) {
		pf_sink_memo(&r->map.sink, PF_MEMO_NAME, 0, (uint64_t)id,
			     &memo);
		c->entry = pf_sink_text(&r->map.sink, c->name, c->name_len);
		c->has_entry = true;
		*memo = c->entry;
	}
	return 0;
}

static const char *const region_columns[] = { PLACE, "name_id" };

static int domain_of(struct pf_rocpd *r, int64_t category,
		     const struct pf_rocm_domain **domain)
{
	struct pf_rocpd_domain *d =
		&r->domains[(uint64_t)category % PF_ROCPD_DOMAINS];
	const char *text;
	size_t len;
	int rc;

	if (d->domain && category == d->category) {
		*domain = d->domain;
		return 0;
	}
	rc = category < 0 ? 0 : rocpd_text(r, category, &text, &len);
	if (rc < 0)
		return -1;
	*domain = rc ? pf_rocm_domain(text, len) : pf_rocm_domain("", 0);
	*d = (struct pf_rocpd_domain){ category, *domain };
	return 0;
}

static bool rocpd_message(struct pf_rocpd *r, const char **text, size_t *len);

/* A range's text is beside its event; its name is roctx's function. */
static void use_message(struct pf_rocpd *r, struct pf_rocm_call *c)
{
	if (c->domain->category != PF_CAT_RANGE)
		return;
	c->function = c->name;
	c->function_len = c->name_len;
	rocpd_message(r, &c->name, &c->name_len);
}

static int rocpd_event(struct pf_rocpd *r, const struct pf_rows *row,
		       int column, struct pf_rocpd_event *e);

static int map_region(void *reader, const struct pf_rows *row)
{
	struct pf_rocpd *r = reader;
	struct pf_sink_put put = { 0 };
	struct pf_rocm_call call = { 0 };
	struct pf_rocpd_event event;
	char own[48];

	if (!pf_reading_times(&r->reading, row, &put))
		return 0;
	if (rocpd_event(r, row, EVENT, &event) ||
	    domain_of(r, event.category, &call.domain) ||
	    read_thread(r, row, &call) ||
	    read_call_name(r, row, REST, own, &call))
		return -1;
	call.id = event.link;
	use_message(r, &call);
	pf_rocm_put_call(&r->map, &call, &put);
	return 0;
}

static const struct pf_reading_table pf_rocpd_regions = {
	.name = "rocpd_region",
	PF_COLUMNS(region_columns),
	.map = map_region,
};

/* ---- work of GPUs ---- */

static int64_t known_or(const struct pf_rows *row, int column)
{
	int64_t v = pf_rows_int_or(row, column, -1);

	return v < 0 ? -1 : v;
}

static int read_work(struct pf_rocpd *r, const struct pf_rows *row, int queue,
		     struct pf_rocm_work *w)
{
	struct pf_rocpd_event event;

	if (read_process(r, row, &w->process, &w->pid) ||
	    rocpd_event(r, row, EVENT, &event))
		return -1;
	w->id = event.link;
	w->device = -1;
	w->queue = known_or(row, queue);
	w->stream = known_or(row, queue + 1);
	return 0;
}

/* NULL: not known. */
static const struct pf_rocm_agent *agent_of(struct pf_rocpd *r,
					    const struct pf_rows *row,
					    int column)
{
	int64_t id;

	if (pf_rows_int(row, column, &id) != PF_CELL_INT)
		return NULL;
	if (r->agent && r->agent->id == id && r->agent->set == (int64_t)r->run)
		return r->agent;
	return r->agent = pf_rocm_agent(&r->map, (int64_t)r->run, id);
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
enum {
	QUEUE = REST,
	STREAM,
	AGENT,
	KERNEL,
	PRIVATE,
	GROUP,
	WORKGROUP,
	GRID = WORKGROUP + 3
};

static struct pf_pfr_launch launch_of(const struct pf_rows *row)
{
	struct pf_rocm_shape shape = {
		.group_bytes = pf_rows_int_or(row, GROUP, -1),
		.private_bytes = pf_rows_int_or(row, PRIVATE, -1),
	};

	for (int i = 0; i < 3; i++) {
		shape.items[i] = pf_rows_int_or(row, GRID + i, 0);
		shape.block[i] = pf_rows_int_or(row, WORKGROUP + i, 0);
	}
	return pf_rocm_launch(&shape);
}

/* Registers of a thread: what the symbol's code takes. */
static uint32_t registers_of(const struct pf_rows *symbol)
{
	int64_t own = pf_rows_int_or(symbol, 2, -1);
	int64_t more = pf_rows_int_or(symbol, 3, -1);

	if (own < 0 || more < 0 || own > 1 << 20 || more > 1 << 20)
		return PF_KINETO_UNKNOWN;
	return (uint32_t)(own + more);
}

/* By display_name; kernel_name where it is missing. */
static int read_kernel(struct pf_rocpd *r, const struct pf_rows *row,
		       uint32_t *entry, uint32_t *registers)
{
	const struct pf_rows *symbol = &r->lookups[PF_ROCPD_SYMBOLS].rows;
	uint32_t *memo, *second;
	const char *text;
	char own[48];
	size_t len;
	int64_t id;
	int rc;

	*registers = PF_KINETO_UNKNOWN;
	if (pf_rows_int(row, KERNEL, &id) != PF_CELL_INT) {
		note(r, PF_REPAIR_LOST_NAME);
		*entry = pf_sink_word(&r->map.sink, "no name");
		return 0;
	}
	if (pf_sink_memo(&r->map.sink, PF_MEMO_KERNEL, 0, (uint64_t)id,
			 &memo) &&
	    pf_sink_memo(&r->map.sink, PF_MEMO_KERNEL, 1, (uint64_t)id,
			 &second)) {
		*entry = *memo;
		*registers = *second;
		return 0;
	}
	rc = pf_lookup_find(&r->lookups[PF_ROCPD_SYMBOLS], id, r->f->err);
	if (rc < 0)
		return -1;
	if (rc && (pf_rows_text(symbol, 0, &text, &len) ||
		   pf_rows_text(symbol, 1, &text, &len))) {
		*entry = pf_sink_text(&r->map.sink, text, len);
		*registers = registers_of(symbol);
		pf_sink_memo(&r->map.sink, PF_MEMO_KERNEL, 0, (uint64_t)id,
			     &memo);
		*memo = *entry;
		pf_sink_memo(&r->map.sink, PF_MEMO_KERNEL, 1, (uint64_t)id,
			     &memo);
		*memo = *registers;
		return 0;
	}
	/* Every event is counted. */
	pf_sink_forget(&r->map.sink, PF_MEMO_KERNEL, 0, (uint64_t)id);
	note(r, PF_REPAIR_LOST_NAME);
	lost(own, "kernel", id);
	*entry = pf_sink_word(&r->map.sink, own);
	return 0;
}

static int map_dispatch(void *reader, const struct pf_rows *row)
{
	struct pf_rocpd *r = reader;
	struct pf_sink_put put = { 0 };
	struct pf_rocm_work work = { 0 };
	struct pf_pfr_launch launch;

	if (!pf_reading_times(&r->reading, row, &put))
		return 0;
	launch = launch_of(row);
	if (read_work(r, row, QUEUE, &work) ||
	    read_kernel(r, row, &put.name, &launch.registers))
		return -1;
	work.agent = agent_of(r, row, AGENT);
	if (work.agent)
		work.device = work.agent->device;
	pf_rocm_put_kernel(&r->map, &work, &launch, &put);
	return 0;
}

static const struct pf_reading_table pf_rocpd_dispatches = {
	.name = "rocpd_kernel_dispatch",
	PF_COLUMNS(dispatch_columns),
	.map = map_dispatch,
};

/* ---- copies ---- */

static const char *const copy_columns[] = {
	PLACE,  "queue_id",     "stream_id",    "name_id",
	"size", "src_agent_id", "dst_agent_id",
};
enum { COPY_NAME = REST + 2, SIZE, FROM, TO };

static int64_t device_of(struct pf_rocpd *r, const struct pf_rows *row,
			 int column)
{
	const struct pf_rocm_agent *a = agent_of(r, row, column);

	return a ? a->device : -1;
}

static int map_copy(void *reader, const struct pf_rows *row)
{
	struct pf_rocpd *r = reader;
	struct pf_sink_put put = { 0 };
	struct pf_rocm_work work = { 0 };
	struct pf_rocm_copy copy = { 0 };
	char own[48];

	if (!pf_reading_times(&r->reading, row, &put))
		return 0;
	if (read_work(r, row, QUEUE, &work) ||
	    read_name(r, row, COPY_NAME, own, &copy.name, &copy.name_len))
		return -1;
	copy.bytes = known_or(row, SIZE);
	copy.from = device_of(r, row, FROM);
	copy.to = device_of(r, row, TO);
	work.device = copy.from >= 0 ? copy.from : copy.to;
	pf_rocm_put_copy(&r->map, &work, &copy, &put);
	return 0;
}

static const struct pf_reading_table pf_rocpd_copies = {
	.name = "rocpd_memory_copy",
	PF_COLUMNS(copy_columns),
	.map = map_copy,
};

/* ---- memory ---- */

static const char *const memory_columns[] = {
	PLACE, "type", "level", "agent_id", "address", "size",
};
enum { ALLOCATION_TYPE = REST, LEVEL, OWNER, ADDRESS, BYTES };

static int map_memory(void *reader, const struct pf_rows *row)
{
	struct pf_rocpd *r = reader;
	struct pf_sink_put put = { 0 };
	struct pf_rocm_call call = { 0 };
	struct pf_rocm_memory memory = { .what = "no name", .what_len = 7 };
	struct pf_rocpd_event event;
	const char *level;
	size_t len;

	if (!pf_reading_times(&r->reading, row, &put))
		return 0;
	if (rocpd_event(r, row, EVENT, &event) || read_thread(r, row, &call))
		return -1;
	call.id = event.link;
	pf_rows_text(row, ALLOCATION_TYPE, &memory.what, &memory.what_len);
	memory.is_scratch = pf_rows_text(row, LEVEL, &level, &len) &&
			    len == 7 && !memcmp(level, "SCRATCH", 7);
	memory.device = device_of(r, row, OWNER);
	memory.bytes = known_or(row, BYTES);
	memory.address = (uint64_t)pf_rows_int_or(row, ADDRESS, 0);
	pf_rocm_put_memory(&r->map, &call, &memory, &put);
	return 0;
}

static const struct pf_reading_table pf_rocpd_allocations = {
	.name = "rocpd_memory_allocate",
	PF_COLUMNS(memory_columns),
	.map = map_memory,
};

#define RUNS_MAX 4096

static const char stem[] = "rocpd_kernel_dispatch";

bool pf_rocpd_claims(struct pf_foreign *f)
{
	return pf_foreign_has_prefix(f, stem);
}

/* ---- texts ---- */

/* 1 and a text borrowed until the next call, 0: there is none. */
static int rocpd_text(struct pf_rocpd *r, int64_t id, const char **text,
		      size_t *len)
{
	int rc = pf_lookup_find(&r->lookups[PF_ROCPD_STRINGS], id, r->f->err);

	return rc == 1 ? pf_rows_text(&r->lookups[PF_ROCPD_STRINGS].rows, 0,
				      text, len)
		       : rc;
}

/* ---- events: what is said of a row beside its times ---- */

static const char *const event_columns[] = { "category_id", "stack_id",
					     "extdata" };

/* Find the event of a row by the number in a column. */
static int rocpd_event(struct pf_rocpd *r, const struct pf_rows *row,
		       int column, struct pf_rocpd_event *e)
{
	struct pf_lookup *events = &r->lookups[PF_ROCPD_EVENTS];
	int64_t id;
	int rc;

	*e = (struct pf_rocpd_event){ .category = -1 };
	if (pf_rows_int(row, column, &id) != PF_CELL_INT)
		return 0;
	rc = pf_lookup_find(events, id, r->f->err);
	if (rc <= 0)
		return rc;
	e->category = pf_rows_int_or(&events->rows, 0, -1);
	e->link = pf_rows_int_or(&events->rows, 1, 0);
	return 0;
}

/* The text behind "message" of the event found last; false: none. */
static bool rocpd_message(struct pf_rocpd *r, const char **text, size_t *len)
{
	static const char key[] = "\"message\":";
	const char *json, *p, *end;
	size_t n;

	if (!pf_rows_text(&r->lookups[PF_ROCPD_EVENTS].rows, 2, &json, &n))
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
} lookups[PF_ROCPD_LOOKUPS] = {
	[PF_ROCPD_STRINGS] = { "rocpd_string", PF_COLUMNS(text_columns) },
	[PF_ROCPD_EVENTS] = { "rocpd_event", PF_COLUMNS(event_columns) },
	[PF_ROCPD_SYMBOLS] = { "rocpd_info_kernel_symbol",
			       PF_COLUMNS(symbol_columns) },
	[PF_ROCPD_THREADS] = { "rocpd_info_thread",
			       PF_COLUMNS(rocpd_thread_columns) },
	[PF_ROCPD_PROCESSES] = { "rocpd_info_process",
				 PF_COLUMNS(process_columns) },
};

static int open_lookups(struct pf_rocpd *r)
{
	for (size_t i = 0; i < PF_ROCPD_LOOKUPS; i++) {
		const char *table =
			pf_reading_find(&r->reading, lookups[i].table);

		PF_TRY(pf_lookup_open(&r->lookups[i], r->f, table, "id",
				      lookups[i].columns, lookups[i].count));
	}
	return 0;
}

static void close_lookups(struct pf_rocpd *r)
{
	for (size_t i = 0; i < PF_ROCPD_LOOKUPS; i++)
		pf_lookup_close(&r->lookups[i]);
}

/* The ends of names, with one table of a kind that only rocpd has. */
static void find_runs(struct pf_rocpd *r)
{
	size_t n = sizeof(stem) - 1;

	for (size_t i = 0; i < r->f->table_count; i++) {
		const char *name = r->f->tables[i];

		if (strncasecmp(name, stem, n) != 0 || r->run_count == RUNS_MAX)
			continue;
		r->runs = pf_grow(r->runs, &r->runs_cap, r->run_count + 1,
				  sizeof(*r->runs));
		r->runs[r->run_count++] = name + n;
	}
}

/* ---- reading ---- */

/* Tables that describe, and hold no events. */
static bool describes(const char *name)
{
	static const char *const prefixes[] = {
		"sqlite_",     "rocpd_metadata", "rocpd_string", "rocpd_info_",
		"rocpd_track", "rocpd_event",    "rocpd_arg",
	};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (!strncasecmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

/* Rows that were not read, by kind of table: runs are not told apart. */
static void note_rest(struct pf_rocpd *r)
{
	size_t cut = strlen(r->reading.suffix);

	for (size_t i = r->rest_seen; i < r->reading.rest_count; i++) {
		const struct pf_reading_rest *rest = &r->reading.rest[i];
		size_t len = strlen(rest->table) - cut, k = 0;

		while (k < r->rest_count &&
		       (strlen(r->rest[k].table) != len ||
			memcmp(r->rest[k].table, rest->table, len) != 0))
			k++;
		if (k == PF_ROCPD_REST_MAX)
			continue;
		if (k == r->rest_count) {
			snprintf(r->rest[k].table, sizeof(r->rest[k].table),
				 "%.*s", (int)len, rest->table);
			r->rest_count++;
		}
		r->rest[k].rows += rest->rows;
	}
	r->rest_seen = r->reading.rest_count;
}

static int read_run(struct pf_rocpd *r, size_t most)
{
	int rc;

	if (!r->is_open) {
		r->reading.at = 0;
		r->reading.suffix = r->runs[r->run];
		PF_TRY(open_lookups(r));
		r->is_open = true;
	}
	rc = pf_reading_fill(&r->reading, most);
	if (rc)
		return rc;
	if (pf_reading_count_rest(&r->reading, describes) || rocpd_name_all(r))
		return -1;
	note_rest(r);
	close_lookups(r);
	r->is_open = false;
	r->run++;
	/* What was found of this run's numbers is void. */
	r->map.sink.memos.generation++;
	r->has_pid = r->has_tid = false;
	memset(r->domains, 0, sizeof(r->domains));
	r->agent = NULL;
	return 0;
}

static int fill(struct pf_reader *base, size_t most, struct pf_err *err)
{
	struct pf_rocpd *r = (struct pf_rocpd *)base;
	int rc;

	r->f->err = err;
	pf_sink_begin(&r->map.sink);
	if (!r->is_described && rocpd_describe(r))
		return -1;
	r->is_described = true;
	while (r->run < r->run_count) {
		rc = read_run(r, most);
		if (rc)
			return rc;
	}
	return 0;
}

static bool fact(struct pf_reader *base, size_t i, char *key, size_t key_size,
		 int64_t *value)
{
	struct pf_rocpd *r = (struct pf_rocpd *)base;

	if (i >= r->rest_count)
		return false;
	snprintf(key, key_size, "rocpd_unread_%s", r->rest[i].table);
	*value = r->rest[i].rows;
	return true;
}

/* ---- opening ---- */

static void free_reader(struct pf_reader *base)
{
	struct pf_rocpd *r = (struct pf_rocpd *)base;

	close_lookups(r);
	pf_reading_release(&r->reading);
	pf_rocm_release(&r->map);
	pf_map_release(&r->threads);
	pf_buf_release(&r->text);
	free(r->runs);
	free(r);
}

static const struct pf_reading_table *const tables[] = {
	&pf_rocpd_regions,
	&pf_rocpd_dispatches,
	&pf_rocpd_copies,
	&pf_rocpd_allocations,
};

struct pf_reader *pf_rocpd_new(struct pf_foreign *f,
			       const struct pf_reader_options *options)
{
	struct pf_rocpd *r = pf_calloc(1, sizeof(*r));

	(void)options;
	pf_rocm_init(&r->map);
	pf_map_init(&r->threads);
	r->f = f;
	r->base = (struct pf_reader){ &r->map.sink.parsed, fill, fact,
				      free_reader };
	r->reading = (struct pf_reading){
		.f = f,
		.sink = &r->map.sink,
		.reader = r,
		.tables = tables,
		.table_count = sizeof(tables) / sizeof(*tables),
	};
	find_runs(r);
	return &r->base;
}
