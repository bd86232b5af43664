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

#include "base/intern.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/port.h"
#include "formats/kineto/work.h"

#define LINKS_MAX   65536u
#define THREADS_MAX 65536u
#define DEVICES_MAX 256u

/* What is known of a thread. */
enum { THREAD_SEEN, THREAD_NAMED };

struct nsys {
	struct pf_reading reading;
	struct pf_sink sink;
	struct pf_foreign *f;
	struct pf_reader_options options;
	struct pf_lookup texts; /* StringIds */
	int schema;             /* 3025 for 3.25; 0: not known */
	int64_t only_process;   /* the one with calls; -1: several */
#define NO_PROCESS (-2)
	int64_t machine;       /* of the first process */
	struct pf_map threads; /* globalTid */
	struct pf_map gpu_of;  /* a process's device -> the machine's */
	bool is_by_machine;    /* numbers of devices */
	struct pf_sink_user gpus[DEVICES_MAX]; /* a number, a GPU */
	size_t gpu_count;
	struct pf_keys waits;  /* calls that wait: what for */
	struct pf_keys graphs; /* kernels that are nodes of a graph */
	struct pf_map labels;  /* of NVTX's domains and categories -> texts */
	struct pf_intern label_texts;
	bool has_labels;
	int64_t range_count; /* external ids */
	int64_t open_count;  /* ranges without an end */
	struct pf_buf clean;
};

/* What all tables have in common: times, names, processes, tracks. */

#define THREAD_BITS 24
#define LOW_BITS    ((INT64_C(1) << THREAD_BITS) - 1)

/* ---- names ---- */

/* A text of StringIds, borrowed until the next call; false: none. */
static bool nsys_string(struct nsys *n, int64_t id, const char **text,
			size_t *len)
{
	return pf_lookup_find(&n->texts, id) &&
	       pf_rows_text(&n->texts.rows, 0, text, len);
}

static uint32_t nsys_name(struct nsys *n, const struct pf_rows *r, int column)
{
	return pf_reading_name(&n->reading, &n->texts, r, column);
}

/* ---- processes and threads ---- */

/* As it is shown: a process number, with the machine if there are several. */
static int64_t nsys_pid(int64_t global_id)
{
	return global_id >> THREAD_BITS & LOW_BITS;
}

static int64_t nsys_tid(int64_t global_id)
{
	return global_id & LOW_BITS;
}

/*
 * The number of a process by its globalPid or globalTid, from 0; -1: not
 * known.
 */
static int64_t nsys_process(struct nsys *n, int64_t global_id)
{
	global_id &= ~LOW_BITS;
	if (!n->sink.processes.count)
		n->machine = global_id >> (2 * THREAD_BITS);
	return pf_sink_process(&n->sink, (uint64_t)global_id);
}

/*
 * What links a call and its work; 0: nothing.  The first process's are as in
 * the file, the others' have its number above.
 */
static int64_t nsys_key(int64_t process, int64_t correlation)
{
	if (process < 0 || correlation <= 0 || correlation > UINT32_MAX)
		return 0;
	return process << 32 | correlation;
}

/* ---- tracks ---- */

static uint32_t nsys_lane(struct nsys *n, char letter, int64_t global_id,
			  const char *tid)
{
	int64_t machine = global_id >> (2 * THREAD_BITS);
	char pid[48];

	nsys_process(n, global_id);
	const char *own = PF_PRINTED(24, "%" PRId64, nsys_tid(global_id));
	snprintf(pid, sizeof(pid), "%" PRId64, nsys_pid(global_id));
	if (machine != n->machine)
		snprintf(pid, sizeof(pid), "%" PRId64 " (machine %" PRId64 ")",
			 nsys_pid(global_id), machine);
	return pf_sink_track(&n->sink, letter, pid, tid ? tid : own);
}

static uint32_t nsys_host_track(struct nsys *n, const struct pf_rows *r,
				int column)
{
	uint32_t *memo;
	int64_t id;

	if (pf_rows_int(r, column, &id) != PF_CELL_INT)
		return pf_sink_track(&n->sink, 'h', "", "");
	if (pf_sink_memo(&n->sink, PF_MEMO_HOST_TRACK, 0, (uint64_t)id, &memo))
		return *memo;
	if (n->threads.count < THREADS_MAX) {
		uint64_t *known = pf_map_at(&n->threads, (uint64_t)id);

		if (*known == UINT64_MAX)
			*known = THREAD_SEEN;
	}
	return *memo = nsys_lane(n, 'h', id, NULL);
}

/* Of a device's instants. */
static uint32_t nsys_mark_track(struct nsys *n, int64_t device)
{
	return pf_sink_track(&n->sink, 'm', PF_PRINTED(24, "%" PRId64, device),
			     "events");
}

static uint64_t device_key(int64_t pid, int64_t device)
{
	return (uint64_t)pid << 32 ^ (uint64_t)device;
}

/*
 * A device's number: as rows have it, or, where several processes mean several
 * GPUs by one number, that of the machine.
 */
static int64_t nsys_device_number(struct nsys *n, int64_t global_pid,
				  int64_t device)
{
	uint64_t *gpu;

	if (!n->is_by_machine)
		return device;
	gpu = pf_map_at(&n->gpu_of, device_key(nsys_pid(global_pid), device));
	if (*gpu == UINT64_MAX)
		*gpu = (uint64_t)device;
	return (int64_t)*gpu;
}

/* What runs on a device: kernels, graphs, copies, fills, synchronisation. */

/* The columns that all of them begin with. */
#define PLACE                                                                  \
	"start", "end", "deviceId", "contextId", "streamId", "correlationId",  \
		"globalPid", "graphNodeId"
enum { DEVICE = 2, CONTEXT, STREAM, CORRELATION, PID, NODE, REST };

static struct pf_work_place read_place(struct nsys *n, const struct pf_rows *r)
{
	struct pf_work_place p = {
		.context = pf_rows_int_or(r, CONTEXT, -1),
		.stream = pf_rows_int_or(r, STREAM, -1),
		.queue = PF_WORK_NONE,
	};
	int64_t pid, process, node = pf_rows_int_or(r, NODE, 0);

	/* A row without a process is of the one that makes calls. */
	if (pf_rows_int(r, PID, &pid) == PF_CELL_INT)
		process = nsys_process(n, pid);
	else
		process = n->only_process < 0 ? -1 : n->only_process;
	p.pid = pid;
	p.correlation = nsys_key(process, pf_rows_int_or(r, CORRELATION, 0));
	p.node = node > 0 ? (uint64_t)node : 0;
	p.device = pf_rows_int(r, DEVICE, &p.device) == PF_CELL_INT
			   ? nsys_device_number(n, pid, p.device)
			   : PF_WORK_NONE;
	return p;
}

/* Several may have streams of one number on one device. */
static struct pf_work_place work_place(struct nsys *n, const struct pf_rows *r)
{
	struct pf_work_place p = read_place(n, r);

	p.process = nsys_process(n, p.pid);
	p.pid = nsys_pid(p.pid);
	return p;
}

/* ---- kernels ---- */

static const char *const kernel_columns[] = {
	PLACE,
	"demangledName",
	"shortName",
	"mangledName",
	"gridX",
	"gridY",
	"gridZ",
	"blockX",
	"blockY",
	"blockZ",
	"registersPerThread",
	"staticSharedMemory",
	"dynamicSharedMemory",
	"localMemoryPerThread",
	"clusterX",
	"clusterY",
	"clusterZ",
	"launchType",
};
enum { NAME = REST, SHORT_NAME, MANGLED_NAME, GRID, LAUNCH_NUMBERS = 14 };

static uint32_t low_bits(int64_t v)
{
	return v < 0 ? 0 : v > UINT32_MAX ? UINT32_MAX : (uint32_t)v;
}

/* CUPTI's 0 regular, 1 and 2 cooperative are 1, 2 and 3 here. */
static uint32_t launch_type(int64_t v)
{
	return v == 2 || v == 3 ? (uint32_t)(v - 1) : 0;
}

static struct pf_work_launch read_launch(const struct pf_rows *r)
{
	uint32_t v[LAUNCH_NUMBERS - 1];

	for (int i = 0; i < LAUNCH_NUMBERS - 1; i++)
		v[i] = low_bits(pf_rows_int_or(r, GRID + i, 0));
	return (struct pf_work_launch){
		.grid = { v[0], v[1], v[2] },
		.block = { v[3], v[4], v[5] },
		.registers = v[6],
		.static_bytes = v[7],
		.dynamic_bytes = v[8],
		.local_bytes = v[9],
		.cluster = { v[10], v[11], v[12] },
		.launch_type = launch_type(
			pf_rows_int_or(r, GRID + LAUNCH_NUMBERS - 1, 0)),
	};
}

/* Names by demangledName; the other two where it is missing. */
static uint32_t kernel_name(struct nsys *n, const struct pf_rows *r)
{
	int column = NAME;
	int64_t id;

	while (column < MANGLED_NAME &&
	       pf_rows_int(r, column, &id) != PF_CELL_INT)
		column++;
	return nsys_name(n, r, column);
}

static void map_kernel(void *reader, const struct pf_rows *r,
		       struct pf_sink_put *put)
{
	struct nsys *n = reader;
	struct pf_work_place p = work_place(n, r);
	struct pf_work_launch l;

	put->name = kernel_name(n, r);
	if (p.node)
		pf_keys_add(&n->graphs, p.correlation, 1, n->f->err);
	l = read_launch(r);
	pf_work_kernel(&n->sink, &p, &l, put);
}

/* ---- whole graphs ---- */

static const char *const graph_columns[] = { PLACE, "graphId", "graphExecId" };

/*
 * One record of all that a graph did.  Where its kernels were recorded, too,
 * it is a range around them and no work of its own.
 */
static void map_graph(void *reader, const struct pf_rows *r,
		      struct pf_sink_put *put)
{
	struct nsys *n = reader;
	int64_t graph, exec, has_nodes;
	struct pf_work_place p = work_place(n, r);
	enum pf_cat what = PF_CAT_KERNEL;

	if (pf_keys_find(&n->graphs, p.correlation, &has_nodes, n->f->err))
		what = PF_CAT_GRAPH;
	graph = pf_rows_int_or(r, REST, 0);
	exec = pf_rows_int_or(r, REST + 1, 0);
	put->name = pf_sink_word(&n->sink,
				 PF_PRINTED(48, "CUDA graph %" PRId64, graph));
	pf_work_open(&n->sink, &p, what, put);
	pf_work_args(&n->sink, &p);
	pf_argline_fixed(&n->sink.args, "graph", graph);
	if (exec)
		pf_argline_fixed(&n->sink.args, "graph exec id", exec);
	pf_sink_close(&n->sink, put);
}

/* ---- copies and fills ---- */

static const char *const copy_columns[] = {
	PLACE,         "bytes",       "copyKind",  "srcKind",        "dstKind",
	"srcDeviceId", "dstDeviceId", "copyCount", "migrationCause",
};
enum { BYTES = REST, COPY_KIND, FROM_KIND, TO_KIND, FROM, TO, COPIES, CAUSE };

/* ENUM_CUDA_MEM_KIND: 0 pageable, 1 pinned, 2 device, ...; CUPTI's less 1. */
static int64_t memory_kind(const struct pf_rows *r, int column)
{
	int64_t kind = pf_rows_int_or(r, column, -1);

	return kind < 0 || kind > 14 ? -1 : kind < 7 ? kind + 1 : 0;
}

static void map_copy(void *reader, const struct pf_rows *r,
		     struct pf_sink_put *put)
{
	struct nsys *n = reader;
	int64_t count, kind = pf_rows_int_or(r, COPY_KIND, 0);
	struct pf_work_place p = work_place(n, r);

	put->name = pf_work_copy_name(
		&n->sink, kind < 0 || kind > 255 ? 255 : (uint64_t)kind,
		memory_kind(r, FROM_KIND), memory_kind(r, TO_KIND));
	pf_work_copy(&n->sink, &p, pf_rows_int_or(r, BYTES, -1),
		     pf_rows_int_or(r, FROM, -1), pf_rows_int_or(r, TO, -1),
		     put);
	count = pf_rows_int_or(r, COPIES, 1);
	if (count > 1)
		pf_argline_fixed(&n->sink.args, "copies", count);
	if (pf_rows_int(r, CAUSE, &count) == PF_CELL_INT)
		pf_argline_fixed(&n->sink.args, "migration cause", count);
	pf_work_close(&n->sink, &p, put);
}

static const char *const fill_columns[] = { PLACE, "bytes", "memKind",
					    "value" };

static void map_fill(void *reader, const struct pf_rows *r,
		     struct pf_sink_put *put)
{
	struct nsys *n = reader;
	int64_t memory = memory_kind(r, BYTES + 1);
	struct pf_work_place p = work_place(n, r);

	pf_work_fill(&n->sink, &p, memory < 0 ? 0 : (uint64_t)memory,
		     pf_rows_int_or(r, BYTES, -1), put);
}

/* ---- waits ---- */

static const char *const sync_columns[] = { PLACE, "eventId", "syncType" };

#define TRUSTED_SCHEMA 3025 /* from here on syncType is what CUPTI says */

/*
 * What a wait is for is what its call says: the numbers of syncType meant
 * other things in most versions.
 */
static int64_t wait_type(struct nsys *n, const struct pf_rows *r,
			 const struct pf_work_place *p)
{
	int64_t type;

	if (pf_keys_find(&n->waits, p->correlation, &type, n->f->err))
		return type;
	return n->schema >= TRUSTED_SCHEMA ? pf_rows_int_or(r, REST + 1, 0) : 0;
}

static void map_sync(void *reader, const struct pf_rows *r,
		     struct pf_sink_put *put)
{
	struct nsys *n = reader;
	const char *word;
	int64_t type, event;
	struct pf_work_place p = work_place(n, r);

	type = wait_type(n, r, &p);
	word = type > 0 && type < 5 ? pf_work_sync_word((uint64_t)type)
				    : "Wait";
	put->name = pf_sink_word(&n->sink, word);
	pf_work_open(&n->sink, &p, PF_CAT_SYNC, put);
	pf_argline_text(&n->sink.args, "cuda_sync_kind", word, strlen(word));
	event = pf_rows_int_or(r, REST, -1);
	if (event >= 0 && event != UINT32_MAX)
		pf_argline_number(&n->sink.args, "wait_on_cuda_event_id",
				  (uint64_t)event);
	pf_work_args(&n->sink, &p);
	pf_sink_close(&n->sink, put);
}

/* ---- events ---- */

static const char *const event_columns[] = {
	"timestamp",     "nothing",   "deviceId",    "contextId", "streamId",
	"correlationId", "globalPid", "graphNodeId", "eventId"
};

/* Before schema 3.24 they have no times, and later only on request. */
static void map_event(void *reader, const struct pf_rows *r,
		      struct pf_sink_put *put)
{
	struct nsys *n = reader;
	struct pf_work_place p;
	int64_t ns;

	if (pf_rows_int(r, 0, &ns) != PF_CELL_INT || !ns) {
		pf_sink_note(&n->sink, PF_SKIP_UNTIMED);
		return;
	}
	if (!pf_sink_times(&n->sink, ns, ns, put))
		return;
	p = read_place(n, r);
	put->track =
		nsys_mark_track(n, p.device == PF_WORK_NONE ? -1 : p.device);
	pf_work_event(&n->sink, &p, low_bits(pf_rows_int_or(r, REST, 0)), put);
}

/* What happens on the host: calls, overhead, ranges. */

/* ---- calls ---- */

#define CALL "start", "end", "globalTid", "nameId", "correlationId"
enum { TID = 2, CALL_NAME, CALL_CORRELATION, CLASS, RESULT };

static const char *const call_columns[] = { CALL, "eventClass", "returnValue" };

/* What a call waits for, by its name: a number of pf_work_sync_word(). */
static uint32_t wait_of(const char *name, size_t len)
{
	static const struct {
		const char *part;
		uint32_t type;
	} parts[] = {
		{ "EventSynchronize", 1 }, { "EventQuery", 1 },
		{ "StreamWaitEvent", 2 },  { "StreamSynchronize", 3 },
		{ "StreamQuery", 3 },      { "DeviceSynchronize", 4 },
		{ "CtxSynchronize", 4 },   { "DeviceReset", 4 },
		{ "cuProfilerStop", 4 },   { "cudaProfilerStop", 4 },
	};

	for (size_t i = 0; i < PF_LEN(parts); i++)
		if (memmem(name, len, parts[i].part, strlen(parts[i].part)))
			return parts[i].type;
	return 0;
}

/* The name without its version, and what the call waits for. */
static uint32_t call_name(struct nsys *n, const struct pf_rows *r,
			  uint32_t *wait)
{
	uint32_t *memo, entry;
	const char *text;
	int64_t id;
	size_t len;

	*wait = 0;
	if (pf_rows_int(r, CALL_NAME, &id) != PF_CELL_INT)
		return nsys_name(n, r, CALL_NAME);
	if (pf_sink_memo(&n->sink, PF_MEMO_CALL, 0, (uint64_t)id, &memo)) {
		*wait = *memo & 7;
		return *memo >> 3;
	}
	if (nsys_string(n, id, &text, &len)) {
		pf_work_call_stem(&text, &len);
		*wait = wait_of(text, len);
		entry = pf_sink_text(&n->sink, text, len);
		*memo = entry << 3 | *wait;
		return entry;
	}
	pf_sink_forget(&n->sink, PF_MEMO_CALL, 0, (uint64_t)id);
	return nsys_name(n, r, CALL_NAME);
}

static void map_call(void *reader, const struct pf_rows *r,
		     struct pf_sink_put *put)
{
	struct nsys *n = reader;
	int64_t id, key, process = -1;
	uint32_t wait;

	pf_sink_is(put, pf_rows_int_or(r, CLASS, 0) == 1 ? PF_CAT_DRIVER
							 : PF_CAT_RUNTIME);
	put->name = call_name(n, r, &wait);
	put->track = nsys_host_track(n, r, TID);
	if (pf_rows_int(r, TID, &id) == PF_CELL_INT)
		process = nsys_process(n, id);
	if (n->only_process == NO_PROCESS)
		n->only_process = process;
	else if (n->only_process != process)
		n->only_process = -1;
	key = nsys_key(process, pf_rows_int_or(r, CALL_CORRELATION, 0));
	if (wait)
		pf_keys_add(&n->waits, key, wait, n->f->err);
	pf_work_call(&n->sink, key, PF_WORK_NONE, pf_rows_int_or(r, RESULT, 0),
		     put);
}

/* ---- overhead, and calls of the system's libraries ---- */

static const char *const host_columns[] = { CALL };

static void map_host(struct nsys *n, const struct pf_rows *r, enum pf_cat what,
		     struct pf_sink_put *put)
{
	pf_sink_is(put, what);
	put->name = nsys_name(n, r, CALL_NAME);
	put->track = nsys_host_track(n, r, TID);
	pf_argline_open(&n->sink.args);
	pf_sink_close(&n->sink, put);
}

static void map_overhead(void *reader, const struct pf_rows *r,
			 struct pf_sink_put *put)
{
	map_host(reader, r, PF_CAT_OVERHEAD, put);
}

static void map_os_call(void *reader, const struct pf_rows *r,
			struct pf_sink_put *put)
{
	map_host(reader, r, PF_CAT_OS_CALL, put);
}

static bool wants_os_calls(const void *reader)
{
	const struct nsys *n = reader;

	return n->options.os_calls;
}

/*
 * NVTX: ranges of threads and of processes, marks, and the rows that name
 * domains and categories, which are read first.
 */

static const char *const range_columns[] = {
	"start",      "end",         "eventType",  "globalTid",   "text",
	"textId",     "domainId",    "category",   "color",       "uint64Value",
	"int64Value", "uint32Value", "int32Value", "doubleValue", "floatValue",
	"jsonText",   "jsonTextId",
};
enum {
	TYPE = 2,
	RANGE_TID,
	TEXT,
	TEXT_ID,
	DOMAIN,
	CATEGORY,
	COLOR,
	INTEGERS,
	REALS = INTEGERS + 4,
	JSON = REALS + 2,
	JSON_ID
};

enum event_type { /* ENUM_NSYS_EVENT_TYPE */
		  NAME_CATEGORY = 33,
		  MARK = 34,
		  NAME_THREAD = 39,
		  PUSH_POP = 59,
		  START_END = 60,
		  DOMAIN_CREATE = 75
};

#define LABELS_MAX     4096
#define LABEL_TEXT_MAX (1u << 20)

/* ---- texts ---- */

/* Its own or a registered one; false: none. */
static bool text_of(struct nsys *n, const struct pf_rows *r, int own, int id,
		    const char **text, size_t *len)
{
	int64_t number;

	return pf_rows_text(r, own, text, len) ||
	       (pf_rows_int(r, id, &number) == PF_CELL_INT &&
		nsys_string(n, number, text, len));
}

/* ---- names of domains and categories ---- */

static int64_t process_of(struct nsys *n, const struct pf_rows *r)
{
	int64_t id;

	return pf_rows_int(r, RANGE_TID, &id) == PF_CELL_INT
		       ? nsys_process(n, id)
		       : -1;
}

/* The name of a domain (category -1) or of a category in it. */
static uint64_t label_key(struct nsys *n, const struct pf_rows *r,
			  int64_t domain, int64_t category)
{
	const int64_t key[] = { process_of(n, r), domain, category };

	return pf_dict_hash(key, sizeof(key), 0).low;
}

static void add_label(struct nsys *n, const struct pf_rows *r, int64_t category)
{
	uint64_t key = label_key(n, r, pf_rows_int_or(r, DOMAIN, 0), category);
	const char *text;
	size_t len;

	if (n->labels.count < LABELS_MAX && !pf_map_has(&n->labels, key) &&
	    text_of(n, r, TEXT, TEXT_ID, &text, &len) &&
	    n->label_texts.bytes_len + len < LABEL_TEXT_MAX)
		*pf_map_at(&n->labels, key) =
			pf_intern_add(&n->label_texts, text, len);
}

/* They may stand behind the first range that has one, in the table at hand. */
static void read_labels(struct nsys *n)
{
	const struct pf_reading *g = &n->reading;
	struct pf_rows r;

	if (n->has_labels)
		return;
	n->has_labels = true;
	pf_rows_open(&r, n->f, pf_reading_version(g, &g->tables[g->at]),
		     PF_COLUMNS(range_columns), "\"eventType\" IN (33, 75)");
	while (pf_rows_next(&r)) {
		int64_t type = pf_rows_int_or(&r, TYPE, 0);

		if (type == DOMAIN_CREATE)
			add_label(n, &r, -1);
		else if (type == NAME_CATEGORY)
			add_label(n, &r, pf_rows_int_or(&r, CATEGORY, 0));
	}
	pf_rows_close(&r);
}

/* ---- arguments ---- */

static void arg_label(struct nsys *n, const struct pf_rows *r, const char *name,
		      int64_t domain, int64_t category)
{
	uint64_t key = label_key(n, r, domain, category);
	const char *text;
	size_t len;

	if (!pf_map_has(&n->labels, key)) {
		pf_argline_fixed(&n->sink.args, name,
				 category < 0 ? domain : category);
		return;
	}
	text = pf_intern_text(&n->label_texts,
			      (uint32_t)*pf_map_at(&n->labels, key), &len);
	pf_argline_text(&n->sink.args, name, text, len);
}

static void arg_payload(struct nsys *n, const struct pf_rows *r)
{
	const char *text;
	double real;
	int64_t v;
	size_t len;

	for (int i = 0; i < 4; i++) {
		if (pf_rows_int(r, INTEGERS + i, &v) != PF_CELL_INT)
			continue;
		if (v >= 0)
			pf_argline_number(&n->sink.args, "payload",
					  (uint64_t)v);
		else
			pf_argline_fixed(&n->sink.args, "payload", v);
		return;
	}
	for (int i = 0; i < 2; i++)
		if (pf_rows_real(r, REALS + i, &real)) {
			pf_argline_real(&n->sink.args, "payload", real);
			return;
		}
	if (text_of(n, r, JSON, JSON_ID, &text, &len))
		pf_argline_text(&n->sink.args, "payload", text, len);
}

static void arg_common(void *reader, const void *record)
{
	struct nsys *n = reader;
	const struct pf_rows *r = record;
	int64_t domain = pf_rows_int_or(r, DOMAIN, 0);
	int64_t category = pf_rows_int_or(r, CATEGORY, 0);

	if (domain || category > 0)
		read_labels(n);
	if (domain)
		arg_label(n, r, "domain", domain, -1);
	if (category > 0)
		arg_label(n, r, "category", domain, category);
	pf_work_color(&n->sink, (uint32_t)pf_rows_int_or(r, COLOR, 0));
	arg_payload(n, r);
}

/* ---- ranges ---- */

/* Nothing but a name, as most. */
static bool is_bare(const struct pf_rows *r)
{
	int64_t v;

	for (int i = DOMAIN; i <= COLOR; i++)
		if (pf_rows_int_or(r, i, 0))
			return false;
	for (int i = INTEGERS; i <= JSON_ID; i++)
		if (pf_rows_int(r, i, &v) != PF_CELL_NULL)
			return false;
	return true;
}

static void put_range(struct nsys *n, const struct pf_rows *r,
		      struct pf_sink_put *put, bool is_async, bool is_open)
{
	struct pf_work_range range = {
		.text = "",
		.is_async = is_async,
		.id = ++n->range_count,
		.end = is_open ? "open" : NULL,
		.more = is_bare(r) ? NULL : arg_common,
		.reader = n,
		.record = r,
	};

	text_of(n, r, TEXT, TEXT_ID, &range.text, &range.len);
	put->track =
		is_async ? nsys_lane(n, 'a', pf_rows_int_or(r, RANGE_TID, 0),
				     "ranges")
			 : nsys_host_track(n, r, RANGE_TID);
	pf_work_range(&n->sink, &range, put);
}

static void map_range(struct nsys *n, const struct pf_rows *r, bool is_async,
		      struct pf_sink_put *put)
{
	int64_t ns;

	if ((r->has & 2) && pf_rows_int(r, 1, &ns) == PF_CELL_NULL &&
	    pf_rows_int(r, 0, &ns) == PF_CELL_INT) {
		/* Its end is known when all times are. */
		n->sink.parsed.batch.event_count--;
		n->open_count++;
		return;
	}
	if (pf_reading_times(&n->reading, r, put))
		put_range(n, r, put, is_async, false);
}

static void map_mark(struct nsys *n, const struct pf_rows *r,
		     struct pf_sink_put *put)
{
	struct pf_work_range mark = {
		.text = "", .more = arg_common, .reader = n, .record = r
	};
	int64_t ns;

	if (pf_rows_int(r, 0, &ns) != PF_CELL_INT) {
		pf_sink_note(&n->sink, PF_SKIP_NO_TIME);
		return;
	}
	if (!pf_sink_times(&n->sink, ns, ns, put))
		return;
	text_of(n, r, TEXT, TEXT_ID, &mark.text, &mark.len);
	put->track = nsys_host_track(n, r, RANGE_TID);
	pf_work_mark(&n->sink, &mark, put);
}

/* ---- names of domains and threads ---- */

/* Names of domains and categories are metadata, those of threads theirs. */
static void map_label(struct nsys *n, const struct pf_rows *r, int64_t type)
{
	struct pf_batch *b = &n->sink.parsed.batch;
	const char *text = "";
	size_t len = 0;
	int64_t id = pf_rows_int_or(r, RANGE_TID, 0);

	text_of(n, r, TEXT, TEXT_ID, &text, &len);
	if (len > LABEL_TEXT_MAX)
		len = 0;
	if (type == NAME_THREAD) {
		*pf_map_at(&n->threads, (uint64_t)id) = THREAD_NAMED;
		pf_batch_name(b, "thread_name", nsys_pid(id),
			      (uint64_t)nsys_tid(id), text, len);
		b->event_count--; /* the row is counted by the caller */
		return;
	}
	pf_buf_clear(&n->clean);
	pf_buf_addf(&n->clean,
		    "{\"name\":\"%s\",\"ph\":\"M\",\"pid\":%" PRId64
		    ",\"args\":{\"domain\":%" PRId64 ",\"category\":%" PRId64
		    ",\"name\":",
		    type == DOMAIN_CREATE ? "nvtx_domain" : "nvtx_category",
		    nsys_pid(id), pf_rows_int_or(r, DOMAIN, 0),
		    pf_rows_int_or(r, CATEGORY, 0));
	pf_jsonw_quote(&n->clean, text, len, false);
	pf_buf_adds(&n->clean, "}}");
	pf_batch_metadata(b, &n->clean);
}

static void map_nvtx(void *reader, const struct pf_rows *r,
		     struct pf_sink_put *put)
{
	struct nsys *n = reader;
	int64_t type = pf_rows_int_or(r, TYPE, 0);

	switch (type) {
	case PUSH_POP:
	case START_END:
		map_range(n, r, type == START_END, put);
		break;
	case MARK:
		map_mark(n, r, put);
		break;
	case NAME_CATEGORY:
	case NAME_THREAD:
	case DOMAIN_CREATE:
		map_label(n, r, type);
		break;
	default:
		pf_sink_note(&n->sink, PF_SKIP_RECORD_TYPE);
	}
}

/* ---- those that stayed open end with the file ---- */

static void map_open(void *reader, const struct pf_rows *r,
		     struct pf_sink_put *put)
{
	struct nsys *n = reader;
	int64_t ns, type = pf_rows_int_or(r, TYPE, 0);

	/* The others have been met. */
	if (pf_rows_int(r, 0, &ns) != PF_CELL_INT) {
		n->sink.parsed.batch.event_count--;
		return;
	}
	if (!pf_sink_times(&n->sink, ns,
			   n->sink.last_ns > ns ? n->sink.last_ns : ns, put))
		return;
	pf_sink_note(&n->sink, PF_REPAIR_OPEN_RANGE);
	put_range(n, r, put, type == START_END, true);
}

static bool has_open(const void *reader)
{
	const struct nsys *n = reader;

	return n->open_count > 0;
}

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

static void note_schema(struct nsys *n, const char *p, size_t len)
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

static bool meta_row(void *reader, const struct pf_rows *r)
{
	struct nsys *n = reader;
	static const char *const names[] = { "EXPORT_PRODUCT_VERSION",
					     "EXPORT_SCHEMA_VERSION" };
	static const char *const keys[] = { "product_version",
					    "schema_version" };
	const char *name, *value;
	size_t len, value_len;

	if (!pf_rows_text(r, 0, &name, &len))
		return true;
	for (size_t i = 0; i < 2; i++) {
		if (!pf_is(name, len, names[i]))
			continue;
		if (!pf_rows_text(r, 1, &value, &value_len) ||
		    !is_version(value, value_len))
			return true;
		pf_argline_text(&n->sink.args, keys[i], value, value_len);
		if (i)
			note_schema(n, value, value_len);
		return true;
	}
	return true;
}

static void put_versions(struct nsys *n)
{
	static const char *const tables[] = { "META_DATA_EXPORT",
					      "EXPORT_META_DATA" };

	pf_argline_open(&n->sink.args);
	for (size_t i = 0; i < 2; i++)
		pf_reading_each(&n->reading, tables[i],
				PF_COLUMNS(meta_columns), meta_row);
	if (!n->sink.args.text.len)
		return;
	pf_buf_addc(&n->sink.args.text, '}');
	pf_batch_member(&n->sink.parsed.batch, "nsightSystems",
			&n->sink.args.text);
}

/* ---- the clock ---- */

static const char *const clock_columns[] = { "utcEpochNs" };

static bool clock_row(void *reader, const struct pf_rows *r)
{
	struct nsys *n = reader;
	int64_t ns;

	if (pf_rows_int(r, 0, &ns) != PF_CELL_INT || ns <= 0)
		return true;
	pf_batch_base(&n->sink.parsed.batch, ns);
	return false;
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
	"memoryBandwidth",
};
/* the numbers are those of struct pf_sink_gpu */
enum { GPU_ID, ORDINAL, GPU_NAME, NUMBERS, SMS = 9 };

static const char *const device_columns[] = { "gpuId", "cudaId", "pid" };

/* Which GPU a process means by a number. */
static bool device_row(void *reader, const struct pf_rows *r)
{
	struct nsys *n = reader;
	int64_t gpu, device, pid = pf_rows_int_or(r, 2, 0);
	struct pf_sink_user *u;

	if (pf_rows_int(r, 0, &gpu) != PF_CELL_INT ||
	    pf_rows_int(r, 1, &device) != PF_CELL_INT || gpu < 0 ||
	    n->gpu_of.count >= LINKS_MAX)
		return true;
	*pf_map_at(&n->gpu_of, device_key(pid, device)) = (uint64_t)gpu;
	for (size_t i = 0; i < n->gpu_count; i++)
		if (n->gpus[i].device == device) {
			n->is_by_machine |= n->gpus[i].process != gpu;
			return true;
		}
	if (n->gpu_count == DEVICES_MAX)
		return true;
	u = &n->gpus[n->gpu_count++];
	*u = (struct pf_sink_user){ device, gpu };
	return true;
}

/* The number that rows have for a GPU of the machine; -1: none has. */
static int64_t number_of(struct nsys *n, const struct pf_rows *r)
{
	int64_t id = pf_rows_int_or(r, GPU_ID, -1);

	if (n->is_by_machine)
		return id;
	for (size_t i = 0; i < n->gpu_count; i++)
		if (n->gpus[i].process == id)
			return n->gpus[i].device;
	return n->gpu_count ? -1 : pf_rows_int_or(r, ORDINAL, id);
}

static void put_gpu(struct nsys *n, const struct pf_rows *r, int64_t number)
{
	struct pf_sink_gpu gpu = { .id = number };

	if (!pf_rows_text(r, GPU_NAME, &gpu.name, &gpu.name_len) ||
	    !gpu.name_len || gpu.name_len > NAME_MAX_BYTES)
		gpu.name = NULL;
	for (int i = 0; i < PF_GPU_NUMBERS; i++) {
		int64_t v = pf_rows_int_or(r, NUMBERS + i, 0);

		gpu.numbers[i] = v > 0 ? v : -1;
	}
	pf_sink_add_gpu(&n->sink, &gpu);
}

/* One without multiprocessors is no GPU that CUDA knows. */
static bool gpu_row(void *reader, const struct pf_rows *r)
{
	struct nsys *n = reader;
	int64_t number = number_of(n, r), sms;

	if ((pf_rows_int(r, SMS, &sms) != PF_CELL_INT || sms > 0) &&
	    number >= 0 && !pf_sink_known(&n->sink, number) &&
	    n->sink.known_count < DEVICES_MAX)
		put_gpu(n, r, number);
	return true;
}

static void put_devices(struct nsys *n)
{
	pf_reading_each(&n->reading, "TARGET_INFO_CUDA_DEVICE",
			PF_COLUMNS(device_columns), device_row);
	pf_reading_each(&n->reading, "TARGET_INFO_GPU", PF_COLUMNS(gpu_columns),
			gpu_row);
	pf_sink_put_gpus(&n->sink);
}

/* ---- names ---- */

static const char *const process_columns[] = { "globalPid", "pid", "name" };

/* Of those that have events: the file names all that ran on the machine. */
static bool process_row(void *reader, const struct pf_rows *r)
{
	struct nsys *n = reader;
	const char *name, *slash;
	int64_t id;
	size_t len;

	if (pf_rows_int(r, 0, &id) != PF_CELL_INT ||
	    !pf_map_has(&n->sink.processes, (uint64_t)id) ||
	    !pf_rows_text(r, 2, &name, &len) || !len || len > NAME_MAX_BYTES)
		return true;
	slash = pf_memrchr(name, '/', len);
	if (slash && slash + 1 < name + len) {
		len -= (size_t)(slash + 1 - name);
		name = slash + 1;
	}
	pf_batch_name(&n->sink.parsed.batch, "process_name", nsys_pid(id), 0,
		      name, len);
	return true;
}

static const char *const thread_columns[] = { "globalTid", "nameId" };

static bool thread_row(void *reader, const struct pf_rows *r)
{
	struct nsys *n = reader;
	const char *name;
	int64_t id, text;
	size_t len;

	if (pf_rows_int(r, 0, &id) != PF_CELL_INT ||
	    pf_rows_int(r, 1, &text) != PF_CELL_INT ||
	    !pf_map_has(&n->threads, (uint64_t)id) ||
	    *pf_map_at(&n->threads, (uint64_t)id) != THREAD_SEEN)
		return true;
	if (nsys_string(n, text, &name, &len) && len && len <= NAME_MAX_BYTES)
		pf_batch_name(&n->sink.parsed.batch, "thread_name",
			      nsys_pid(id), (uint64_t)nsys_tid(id), name, len);
	return true;
}

/* ---- what is not read ---- */

static const char *const describe[] = {
	"StringIds%",   "META_DATA_%", "EXPORT_META_DATA%", "TARGET_INFO_%",
	"ENUM_%",       "ANALYSIS_%",  "ProcessStreams%",   "PROCESSES%",
	"ThreadNames%", "SystemInfo%", "NVTX_PAYLOAD_%",    "%_CALLCHAINS",
	NULL,
};

static const char *const text_columns[] = { "value" };

static const struct pf_reading_table tables_read[] = {
	PF_READ("CUPTI_ACTIVITY_KIND_RUNTIME", call_columns, map_call,
		.must = CLASS),
	PF_READ("CUPTI_ACTIVITY_KIND_KERNEL", kernel_columns, map_kernel,
		.must = NODE),
	PF_READ("CUPTI_ACTIVITY_KIND_MEMCPY", copy_columns, map_copy,
		.must = NODE),
	PF_READ("CUPTI_ACTIVITY_KIND_MEMSET", fill_columns, map_fill,
		.must = NODE),
	PF_READ("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", graph_columns, map_graph,
		.must = NODE),
	PF_READ("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", sync_columns, map_sync,
		.must = NODE),
	PF_READ("CUPTI_ACTIVITY_KIND_CUDA_EVENT", event_columns, map_event,
		.is_untimed = true),
	PF_READ("CUPTI_ACTIVITY_KIND_OVERHEAD", host_columns, map_overhead),
	PF_READ("PROFILER_OVERHEAD", host_columns, map_overhead),
	PF_READ("OSRT_API", host_columns, map_os_call,
		.wanted = wants_os_calls),
	PF_READ("NVTX_EVENTS", range_columns, map_nvtx, .is_untimed = true,
		.must = TEXT),
	PF_READ("NVTX_EVENTS", range_columns, map_open,
		.where = "\"end\" IS NULL AND \"eventType\" IN (59, 60)",
		.is_untimed = true, .wanted = has_open, .must = TEXT),
};

bool pf_nsys_claims(struct pf_foreign *f)
{
	return pf_foreign_has_prefix(f, "CUPTI_ACTIVITY_KIND_") ||
	       pf_foreign_has_prefix(f, "NVTX_EVENTS") ||
	       pf_foreign_table(f, "OSRT_API") ||
	       (pf_foreign_table(f, "TARGET_INFO_SESSION_START_TIME") &&
		pf_foreign_table(f, "StringIds"));
}

/* ---- reading ---- */

static void begin(struct pf_reading *g)
{
	put_versions((struct nsys *)g);
	pf_reading_each(g, "TARGET_INFO_SESSION_START_TIME",
			PF_COLUMNS(clock_columns), clock_row);
	put_devices((struct nsys *)g);
}

static void finish(struct pf_reading *g)
{
	pf_reading_each(g, "PROCESSES", PF_COLUMNS(process_columns),
			process_row);
	pf_reading_each(g, "ThreadNames", PF_COLUMNS(thread_columns),
			thread_row);
}

/* ---- opening ---- */

static void free_reader(struct pf_reader *base)
{
	PF_OWN struct nsys *n = (struct nsys *)base;

	pf_reading_release(&n->reading);
	pf_lookup_close(&n->texts);
	pf_sink_release(&n->sink);
	pf_map_release(&n->threads);
	pf_map_release(&n->gpu_of);
	pf_keys_release(&n->waits);
	pf_keys_release(&n->graphs);
	pf_map_release(&n->labels);
	pf_intern_release(&n->label_texts);
	pf_buf_release(&n->clean);
}

struct pf_reader *pf_nsys_new(struct pf_foreign *f,
			      const struct pf_reader_options *options)
{
	struct nsys *n = pf_calloc(1, sizeof(*n));

	n->f = f;
	n->options = *options;
	n->only_process = NO_PROCESS;
	n->reading = (struct pf_reading){
		.base = { &n->sink.parsed, pf_reading_run, pf_reading_fact,
			  free_reader },
		.begin = begin,
		.finish = finish,
		.name = "nsys",
		.describe = describe,
		.f = f,
		.sink = &n->sink,
		.tables = tables_read,
		.table_count = PF_LEN(tables_read),
	};
	pf_sink_init(&n->sink);
	pf_keys_init(&n->waits, options->dir);
	pf_keys_init(&n->graphs, options->dir);
	pf_lookup_open(&n->texts, f, pf_foreign_table(f, "StringIds"), "id",
		       PF_COLUMNS(text_columns));
	return &n->reading.base;
}
