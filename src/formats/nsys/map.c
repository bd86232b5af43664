/* SPDX-License-Identifier: MIT */
/* What all tables have in common: times, names, processes, tracks. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "formats/nsys/impl.h"

#define THREAD_BITS 24
#define LOW_BITS    ((INT64_C(1) << THREAD_BITS) - 1)

/* ---- names ---- */

int pf_nsys_string(struct pf_nsys *n, int64_t id, const char **text,
		   size_t *len)
{
	int rc = pf_lookup_find(&n->texts, id, n->f->err);

	return rc == 1 ? pf_rows_text(&n->texts.rows, 0, text, len) : rc;
}

static uint32_t lost_name(struct pf_nsys *n, int64_t id)
{
	char text[40];

	snprintf(text, sizeof(text), "string %" PRId64, id);
	return pf_sink_word(&n->sink, text);
}

/* The entry of the text of a number in a column. */
static int nsys_name(struct pf_nsys *n, const struct pf_rows *r, int column,
		     uint32_t *entry)
{
	const char *text;
	uint32_t *memo;
	size_t len;
	int64_t id;
	int rc;

	if (pf_rows_int(r, column, &id) != PF_CELL_INT) {
		pf_sink_note(&n->sink, PF_REPAIR_LOST_NAME);
		*entry = pf_sink_word(&n->sink, "no name");
		return 0;
	}
	if (pf_sink_memo(&n->sink, PF_MEMO_NAME, 0, (uint64_t)id, &memo)) {
		*entry = *memo;
		return 0;
	}
	rc = pf_nsys_string(n, id, &text, &len);
	if (rc < 0)
		return -1;
	*entry = *memo =
		rc ? pf_sink_text(&n->sink, text, len) : lost_name(n, id);
	if (rc)
		return 0;
	/* Every event is counted. */
	pf_sink_forget(&n->sink, PF_MEMO_NAME, 0, (uint64_t)id);
	pf_sink_note(&n->sink, PF_REPAIR_LOST_NAME);
	return 0;
}

/* ---- processes and threads ---- */

int64_t pf_nsys_pid(int64_t global_id)
{
	return global_id >> THREAD_BITS & LOW_BITS;
}

int64_t pf_nsys_tid(int64_t global_id)
{
	return global_id & LOW_BITS;
}

/*
 * The number of a process by its globalPid or globalTid, from 0; -1: not
 * known.
 */
static int64_t nsys_process(struct pf_nsys *n, int64_t global_id)
{
	uint64_t *number;

	global_id &= ~LOW_BITS;
	if (n->processes.count && global_id == n->last_pid)
		return n->last_process;
	if (!n->processes.count)
		n->machine = global_id >> (2 * THREAD_BITS);
	if (n->processes.count >= PF_NSYS_PROCESSES_MAX)
		return -1;
	number = pf_map_at(&n->processes, (uint64_t)global_id);
	if (*number == UINT64_MAX)
		*number = n->processes.count - 1;
	n->last_pid = global_id;
	n->last_process = (int64_t)*number;
	return n->last_process;
}

/* The first process's are as in the file, the others' have its number above. */
/* What links a call and its work; 0: nothing. */
static int64_t nsys_key(int64_t process, int64_t correlation)
{
	if (process < 0 || correlation <= 0 || correlation > UINT32_MAX)
		return 0;
	return process << 32 | correlation;
}

/* Take the key as the event's correlation. */
static void nsys_arg_key(struct pf_nsys *n, int64_t process,
			 int64_t correlation)
{
	int64_t key = nsys_key(process, correlation);

	pf_argline_slot(&n->sink.args, "correlation", PF_SLOT_CORRELATION, key);
}

/* ---- tracks ---- */

static uint32_t nsys_lane(struct pf_nsys *n, char letter, int64_t global_id,
			  const char *tid)
{
	int64_t machine = global_id >> (2 * THREAD_BITS);
	char pid[48], own[24];

	nsys_process(n, global_id);
	snprintf(own, sizeof(own), "%" PRId64, pf_nsys_tid(global_id));
	snprintf(pid, sizeof(pid), "%" PRId64, pf_nsys_pid(global_id));
	if (machine != n->machine)
		snprintf(pid, sizeof(pid), "%" PRId64 " (machine %" PRId64 ")",
			 pf_nsys_pid(global_id), machine);
	return pf_sink_track(&n->sink, letter, pid, tid ? tid : own);
}

static uint32_t nsys_host_track(struct pf_nsys *n, const struct pf_rows *r,
				int column)
{
	uint32_t *memo;
	int64_t id;

	if (pf_rows_int(r, column, &id) != PF_CELL_INT)
		return pf_sink_track(&n->sink, 'h', "", "");
	if (pf_sink_memo(&n->sink, PF_MEMO_HOST_TRACK, 0, (uint64_t)id, &memo))
		return *memo;
	if (n->threads.count < PF_NSYS_THREADS_MAX) {
		uint64_t *known = pf_map_at(&n->threads, (uint64_t)id);

		if (*known == UINT64_MAX)
			*known = PF_NSYS_SEEN;
	}
	return *memo = nsys_lane(n, 'h', id, NULL);
}

/* Of a device's instants. */
static uint32_t nsys_mark_track(struct pf_nsys *n, int64_t device)
{
	char pid[24];

	snprintf(pid, sizeof(pid), "%" PRId64, device);
	return pf_sink_track(&n->sink, 'm', pid, "events");
}

/* Several processes may have streams of one number on one device. */
static uint32_t nsys_gpu_track(struct pf_nsys *n, int64_t device,
			       int64_t stream, int64_t global_pid)
{
	int64_t process = nsys_process(n, global_pid);
	uint32_t track, *memo = NULL;

	if (device >= 0 && device <= 0xffff &&
	    pf_sink_memo(&n->sink, PF_MEMO_GPU_TRACK,
			 (uint64_t)(process + 1) << 16 | (uint64_t)device,
			 (uint64_t)stream, &memo))
		return *memo;
	track = pf_sink_gpu_track(&n->sink, device,
				  stream == UINT32_MAX ? -1 : stream, process,
				  pf_nsys_pid(global_pid));
	if (memo)
		*memo = track;
	return track;
}

/* What runs on a device: kernels, graphs, copies, fills, synchronisation. */

/* The columns that all of them begin with. */
#define PLACE                                                                  \
	"start", "end", "deviceId", "contextId", "streamId", "correlationId",  \
		"globalPid", "graphNodeId"
enum { DEVICE = 2, CONTEXT, STREAM, CORRELATION, PID, NODE, REST };

/* Where a row's work ran, and for whom. */
struct place {
	int64_t device, context, stream, correlation, pid, process, node;
	bool has_device, has_stream;
};

static void read_place(struct pf_nsys *n, const struct pf_rows *r,
		       struct place *p)
{
	p->has_device = pf_rows_int(r, DEVICE, &p->device) == PF_CELL_INT;
	p->has_stream = pf_rows_int(r, STREAM, &p->stream) == PF_CELL_INT;
	p->context = pf_rows_int_or(r, CONTEXT, -1);
	p->correlation = pf_rows_int_or(r, CORRELATION, 0);
	p->node = pf_rows_int_or(r, NODE, 0);
	/* A row without a process is of the one that makes calls. */
	if (pf_rows_int(r, PID, &p->pid) == PF_CELL_INT) {
		p->process = nsys_process(n, p->pid);
	} else {
		p->pid = 0;
		p->process = n->only_process < 0 ? -1 : n->only_process;
	}
	if (p->has_device)
		p->device = pf_nsys_device_number(n, p->pid, p->device);
}

static uint32_t track_of(struct pf_nsys *n, const struct place *p)
{
	return nsys_gpu_track(n, p->has_device ? p->device : -1,
			      p->has_stream ? p->stream : -1, p->pid);
}

static void arg_place(struct pf_nsys *n, const struct place *p)
{
	if (p->has_device)
		pf_argline_fixed(&n->sink.args, "device", p->device);
	pf_argline_fixed(&n->sink.args, "context", p->context);
	pf_argline_fixed(&n->sink.args, "stream",
			 !p->has_stream || p->stream == UINT32_MAX ? -1
								   : p->stream);
	nsys_arg_key(n, p->process, p->correlation);
}

static void arg_node(struct pf_nsys *n, const struct place *p)
{
	if (p->node > 0)
		pf_argline_number(&n->sink.args, "graph node id",
				  (uint64_t)p->node);
}

static int start_put(struct pf_nsys *n, const struct pf_rows *r,
		     enum pf_cat what, struct place *p, struct pf_sink_put *put)
{
	pf_sink_is(put, what);
	if (!pf_reading_times(&n->reading, r, put))
		return 0;
	read_place(n, r, p);
	put->track = track_of(n, p);
	pf_argline_open(&n->sink.args);
	return 1;
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

static void arg_launch(struct pf_nsys *n, const struct place *p,
		       const int64_t *v)
{
	static const struct pf_kineto_device unknown = { -1, -1 };
	const struct pf_nsys_device *d =
		p->has_device ? pf_nsys_device(n, p->device) : NULL;
	const struct pf_pfr_launch l = {
		.grid = { low_bits(v[0]), low_bits(v[1]), low_bits(v[2]) },
		.block = { low_bits(v[3]), low_bits(v[4]), low_bits(v[5]) },
		.registers = low_bits(v[6]),
		.static_bytes = low_bits(v[7]),
		.dynamic_bytes = low_bits(v[8]),
		.local_bytes = low_bits(v[9]),
		.cluster = { low_bits(v[10]), low_bits(v[11]),
			     low_bits(v[12]) },
		.launch_type = launch_type(v[13]),
	};

	pf_kineto_launch(&n->sink.args, &l, d ? &d->kineto : &unknown);
}

static uint32_t write_kernel_args(struct pf_nsys *n, const struct place *p,
				  const int64_t *v)
{
	arg_place(n, p);
	arg_launch(n, p, v);
	arg_node(n, p);
	return pf_argline_close(&n->sink.args, &n->sink.parsed.args);
}

/* Arguments of which only the slots differ, by all that they are made of. */
static uint32_t kernel_args(struct pf_nsys *n, const struct pf_rows *r,
			    const struct place *p)
{
	int64_t v[LAUNCH_NUMBERS + 4];
	struct pf_dict_hash digest;
	uint32_t *memo;

	for (int i = 0; i < LAUNCH_NUMBERS; i++)
		v[i] = pf_rows_int_or(r, GRID + i, 0);
	v[LAUNCH_NUMBERS] = p->has_device ? p->device : INT64_MIN;
	v[LAUNCH_NUMBERS + 1] = p->context;
	v[LAUNCH_NUMBERS + 2] = p->has_stream ? p->stream : INT64_MIN;
	v[LAUNCH_NUMBERS + 3] = p->node > 0;
	digest = pf_dict_hash(v, sizeof(v), 0);
	if (p->node >= INT64_C(1) << 58)
		return write_kernel_args(n, p, v);
	if (!pf_memo_find(&n->sink.memos, digest.low, digest.high, &memo)) {
		*memo = write_kernel_args(n, p, v);
		return *memo;
	}
	pf_argline_set(&n->sink.args, PF_SLOT_CORRELATION,
		       nsys_key(p->process, p->correlation));
	if (p->node > 0)
		pf_argline_set(&n->sink.args, PF_SLOT_GENERIC, p->node << 4);
	return *memo;
}

/* Names by demangledName; the other two where it is missing. */
static int kernel_name(struct pf_nsys *n, const struct pf_rows *r,
		       uint32_t *entry)
{
	int column = NAME;
	int64_t id;

	while (column < MANGLED_NAME &&
	       pf_rows_int(r, column, &id) != PF_CELL_INT)
		column++;
	return nsys_name(n, r, column, entry);
}

static int map_kernel(void *reader, const struct pf_rows *r)
{
	struct pf_nsys *n = reader;
	struct pf_sink_put put = { 0 };
	struct place p;

	if (!start_put(n, r, PF_CAT_KERNEL, &p, &put))
		return 0;
	PF_TRY(kernel_name(n, r, &put.name));
	if (p.node &&
	    pf_keys_add(&n->graphs, nsys_key(p.process, p.correlation), 1,
			r->from->err))
		return -1;
	put.args = kernel_args(n, r, &p);
	pf_sink_store(&n->sink, &put);
	return 0;
}

static int seal_graphs(void *reader, struct pf_err *err)
{
	struct pf_nsys *n = reader;

	return pf_keys_seal(&n->graphs, err);
}

const struct pf_reading_table pf_nsys_kernels = {
	.name = "CUPTI_ACTIVITY_KIND_KERNEL",
	PF_COLUMNS(kernel_columns),
	.map = map_kernel,
	.end = seal_graphs,
	.must = NODE,
};

/* ---- whole graphs ---- */

static const char *const graph_columns[] = { PLACE, "graphId", "graphExecId" };

/*
 * One record of all that a graph did.  Where its kernels were recorded, too,
 * it is a range around them and no work of its own.
 */
static int map_graph(void *reader, const struct pf_rows *r)
{
	struct pf_nsys *n = reader;
	struct pf_sink_put put = { 0 };
	int64_t graph, exec, has_nodes;
	struct place p;
	char name[48];
	int rc;

	if (!start_put(n, r, PF_CAT_KERNEL, &p, &put))
		return 0;
	rc = pf_keys_find(&n->graphs, nsys_key(p.process, p.correlation),
			  &has_nodes, r->from->err);
	if (rc < 0)
		return -1;
	if (rc) {
		pf_sink_is(&put, PF_CAT_GRAPH);
	}
	graph = pf_rows_int_or(r, REST, 0);
	exec = pf_rows_int_or(r, REST + 1, 0);
	snprintf(name, sizeof(name), "CUDA graph %" PRId64, graph);
	put.name = pf_sink_word(&n->sink, name);
	arg_place(n, &p);
	pf_argline_fixed(&n->sink.args, "graph", graph);
	if (exec)
		pf_argline_fixed(&n->sink.args, "graph exec id", exec);
	pf_sink_close(&n->sink, &put);
	return 0;
}

const struct pf_reading_table pf_nsys_graphs = {
	.name = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
	PF_COLUMNS(graph_columns),
	.map = map_graph,
	.must = NODE,
};

/* ---- copies and fills ---- */

static const char *const copy_columns[] = {
	PLACE,         "bytes",       "copyKind",  "srcKind",        "dstKind",
	"srcDeviceId", "dstDeviceId", "copyCount", "migrationCause",
};
enum { BYTES = REST, COPY_KIND, FROM_KIND, TO_KIND, FROM, TO, COPIES, CAUSE };

static void arg_bytes(struct pf_nsys *n, const struct pf_rows *r,
		      int64_t dur_ns)
{
	int64_t bytes;

	if (pf_rows_int(r, BYTES, &bytes) == PF_CELL_INT && bytes >= 0)
		pf_kineto_bytes(&n->sink.args, (uint64_t)bytes, dur_ns);
}

/* ENUM_CUDA_MEM_KIND: 0 pageable, 1 pinned, 2 device, ...; CUPTI's less 1. */
static const char *memory_word(int64_t kind)
{
	return pf_pfr_memory_word(kind >= 0 && kind < 7 ? (uint64_t)kind + 1
							: 0);
}

/* Copies of unified memory: 11 to the device, 12 to the host, 13 between. */
static const char *copy_word(int64_t kind)
{
	static const char *const unified[] = { "HtoD", "DtoH", "DtoD" };

	if (kind >= 11 && kind <= 13)
		return unified[kind - 11];
	return pf_pfr_copy_word(kind < 0 ? 0 : (uint64_t)kind);
}

static uint32_t copy_name(struct pf_nsys *n, const struct pf_rows *r)
{
	int64_t kind = pf_rows_int_or(r, COPY_KIND, 0);
	int64_t from = pf_rows_int_or(r, FROM_KIND, -1);
	int64_t to = pf_rows_int_or(r, TO_KIND, -1);
	uint32_t *memo;
	char text[96];

	if (kind < 0 || kind > 255)
		kind = 255;
	if (from < 0 || from > 14)
		from = 15;
	if (to < 0 || to > 14)
		to = 15;
	if (pf_sink_memo(&n->sink, PF_MEMO_COPY, 0,
			 (uint64_t)(kind << 8 | from << 4 | to), &memo))
		return *memo;
	if (kind >= 11 && kind <= 13)
		snprintf(text, sizeof(text), "Memcpy %s (unified memory)",
			 copy_word(kind));
	else if (from == 15 && to == 15)
		snprintf(text, sizeof(text), "Memcpy %s", copy_word(kind));
	else
		snprintf(text, sizeof(text), "Memcpy %s (%s -> %s)",
			 copy_word(kind), memory_word(from), memory_word(to));
	return *memo = pf_sink_word(&n->sink, text);
}

static int map_copy(void *reader, const struct pf_rows *r)
{
	struct pf_nsys *n = reader;
	struct pf_sink_put put = { 0 };
	int64_t from, to, count;
	struct place p;

	(void)r->from->err;
	if (!start_put(n, r, PF_CAT_COPY, &p, &put))
		return 0;
	put.name = copy_name(n, r);
	arg_place(n, &p);
	arg_bytes(n, r, put.dur_ns);
	if (pf_rows_int(r, FROM, &from) == PF_CELL_INT &&
	    pf_rows_int(r, TO, &to) == PF_CELL_INT && from != to) {
		pf_argline_fixed(&n->sink.args, "fromDevice", from);
		pf_argline_fixed(&n->sink.args, "toDevice", to);
	}
	count = pf_rows_int_or(r, COPIES, 1);
	if (count > 1)
		pf_argline_fixed(&n->sink.args, "copies", count);
	if (pf_rows_int(r, CAUSE, &count) == PF_CELL_INT)
		pf_argline_fixed(&n->sink.args, "migration cause", count);
	arg_node(n, &p);
	pf_sink_close(&n->sink, &put);
	return 0;
}

const struct pf_reading_table pf_nsys_copies = {
	.name = "CUPTI_ACTIVITY_KIND_MEMCPY",
	PF_COLUMNS(copy_columns),
	.map = map_copy,
	.must = NODE,
};

static const char *const fill_columns[] = { PLACE, "bytes", "memKind",
					    "value" };

static int map_fill(void *reader, const struct pf_rows *r)
{
	struct pf_nsys *n = reader;
	struct pf_sink_put put = { 0 };
	struct place p;
	char text[64];

	(void)r->from->err;
	if (!start_put(n, r, PF_CAT_FILL, &p, &put))
		return 0;
	snprintf(text, sizeof(text), "Memset (%s)",
		 memory_word(pf_rows_int_or(r, BYTES + 1, -1)));
	put.name = pf_sink_word(&n->sink, text);
	arg_place(n, &p);
	arg_bytes(n, r, put.dur_ns);
	arg_node(n, &p);
	pf_sink_close(&n->sink, &put);
	return 0;
}

const struct pf_reading_table pf_nsys_fills = {
	.name = "CUPTI_ACTIVITY_KIND_MEMSET",
	PF_COLUMNS(fill_columns),
	.map = map_fill,
	.must = NODE,
};

/* ---- waits ---- */

static const char *const sync_columns[] = { PLACE, "eventId", "syncType" };

#define TRUSTED_SCHEMA 3025 /* from here on syncType is what CUPTI says */

/*
 * What a wait is for is what its call says: the numbers of syncType meant
 * other things in most versions.
 */
static int wait_type(struct pf_nsys *n, const struct pf_rows *r,
		     const struct place *p, int64_t *type)
{
	int rc = pf_keys_find(&n->waits, nsys_key(p->process, p->correlation),
			      type, n->f->err);

	if (rc)
		return rc < 0 ? -1 : 0;
	*type = 0;
	if (n->schema >= TRUSTED_SCHEMA)
		*type = pf_rows_int_or(r, REST + 1, 0);
	return 0;
}

static int map_sync(void *reader, const struct pf_rows *r)
{
	struct pf_nsys *n = reader;
	struct pf_sink_put put = { 0 };
	const char *word;
	int64_t type, event;
	struct place p;

	if (!start_put(n, r, PF_CAT_SYNC, &p, &put))
		return 0;
	PF_TRY(wait_type(n, r, &p, &type));
	word = type > 0 && type < 5 ? pf_pfr_sync_word((uint64_t)type) : "Wait";
	put.name = pf_sink_word(&n->sink, word);
	pf_argline_text(&n->sink.args, "cuda_sync_kind", word, strlen(word));
	event = pf_rows_int_or(r, REST, -1);
	if (event >= 0 && event != UINT32_MAX)
		pf_argline_number(&n->sink.args, "wait_on_cuda_event_id",
				  (uint64_t)event);
	arg_place(n, &p);
	pf_sink_close(&n->sink, &put);
	return 0;
}

const struct pf_reading_table pf_nsys_syncs = {
	.name = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
	PF_COLUMNS(sync_columns),
	.map = map_sync,
	.must = NODE,
};

/* ---- events ---- */

static const char *const event_columns[] = {
	"timestamp",     "nothing",   "deviceId",    "contextId", "streamId",
	"correlationId", "globalPid", "graphNodeId", "eventId"
};

/* Before schema 3.24 they have no times, and later only on request. */
static int map_event(void *reader, const struct pf_rows *r)
{
	struct pf_nsys *n = reader;
	struct pf_sink_put put = { 0 };
	struct place p;
	int64_t ns;

	(void)r->from->err;
	if (pf_rows_int(r, 0, &ns) != PF_CELL_INT || !ns) {
		pf_sink_note(&n->sink, PF_SKIP_UNTIMED);
		return 0;
	}
	if (!pf_sink_times(&n->sink, ns, ns, &put))
		return 0;
	read_place(n, r, &p);
	pf_sink_is(&put, PF_CAT_CUDA_EVENT);
	put.name = pf_sink_word(&n->sink, "cudaEventRecord");
	put.track = nsys_mark_track(n, p.has_device ? p.device : -1);
	pf_argline_open(&n->sink.args);
	pf_argline_number(&n->sink.args, "event",
			  low_bits(pf_rows_int_or(r, REST, 0)));
	nsys_arg_key(n, p.process, p.correlation);
	pf_argline_fixed(&n->sink.args, "context", p.context);
	pf_argline_fixed(&n->sink.args, "on stream", p.stream);
	pf_sink_close(&n->sink, &put);
	return 0;
}

const struct pf_reading_table pf_nsys_events = {
	.name = "CUPTI_ACTIVITY_KIND_CUDA_EVENT",
	PF_COLUMNS(event_columns),
	.map = map_event,
};

/* What happens on the host: calls, overhead, ranges. */

/* ---- calls ---- */

#define CALL "start", "end", "globalTid", "nameId", "correlationId"
enum { TID = 2, CALL_NAME, CALL_CORRELATION, CLASS, RESULT };

static const char *const call_columns[] = { CALL, "eventClass", "returnValue" };

/* What a call waits for, by its name: a number of pf_pfr_sync_word(). */
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

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (memmem(name, len, parts[i].part, strlen(parts[i].part)))
			return parts[i].type;
	return 0;
}

/* The name without its version, and what the call waits for. */
static int call_name(struct pf_nsys *n, const struct pf_rows *r,
		     uint32_t *entry, uint32_t *wait)
{
	uint32_t *memo;
	const char *text;
	int64_t id;
	size_t len;

	*wait = 0;
	if (pf_rows_int(r, CALL_NAME, &id) != PF_CELL_INT)
		return nsys_name(n, r, CALL_NAME, entry);
	if (pf_sink_memo(&n->sink, PF_MEMO_CALL, 0, (uint64_t)id, &memo)) {
		*entry = *memo >> 3;
		*wait = *memo & 7;
		return 0;
	}
	*memo = 0;
	if (pf_nsys_string(n, id, &text, &len) == 1) {
		pf_pfr_call_stem(&text, &len);
		*wait = wait_of(text, len);
		*entry = pf_sink_text(&n->sink, text, len);
		*memo = *entry << 3 | *wait;
		return 0;
	}
	pf_sink_forget(&n->sink, PF_MEMO_CALL, 0, (uint64_t)id);
	return n->f->err->code ? -1 : nsys_name(n, r, CALL_NAME, entry);
}

static uint32_t call_args(struct pf_nsys *n, const struct pf_rows *r,
			  int64_t process, int64_t correlation)
{
	int64_t result = pf_rows_int_or(r, RESULT, 0);
	uint32_t *memo;

	pf_argline_set(&n->sink.args, PF_SLOT_CORRELATION,
		       nsys_key(process, correlation));
	if (pf_sink_memo(&n->sink, PF_MEMO_CALL_ARGS, 0, (uint64_t)result,
			 &memo))
		return *memo;
	nsys_arg_key(n, process, correlation);
	if (result)
		pf_argline_fixed(&n->sink.args, "return value", result);
	return *memo = pf_argline_close(&n->sink.args, &n->sink.parsed.args);
}

static int map_call(void *reader, const struct pf_rows *r)
{
	struct pf_nsys *n = reader;
	struct pf_sink_put put = { 0 };
	int64_t correlation = pf_rows_int_or(r, CALL_CORRELATION, 0);
	int64_t id, process = -1;
	uint32_t wait;

	if (!pf_reading_times(&n->reading, r, &put))
		return 0;
	pf_sink_is(&put, pf_rows_int_or(r, CLASS, 0) == 1 ? PF_CAT_DRIVER
							  : PF_CAT_RUNTIME);
	PF_TRY(call_name(n, r, &put.name, &wait));
	put.track = nsys_host_track(n, r, TID);
	if (pf_rows_int(r, TID, &id) == PF_CELL_INT)
		process = nsys_process(n, id);
	if (n->only_process == PF_NSYS_NO_PROCESS)
		n->only_process = process;
	else if (n->only_process != process)
		n->only_process = -1;
	if (wait && pf_keys_add(&n->waits, nsys_key(process, correlation), wait,
				r->from->err))
		return -1;
	pf_argline_open(&n->sink.args);
	put.args = call_args(n, r, process, correlation);
	pf_sink_store(&n->sink, &put);
	return 0;
}

static int seal_waits(void *reader, struct pf_err *err)
{
	struct pf_nsys *n = reader;

	return pf_keys_seal(&n->waits, err);
}

const struct pf_reading_table pf_nsys_calls = {
	.name = "CUPTI_ACTIVITY_KIND_RUNTIME",
	PF_COLUMNS(call_columns),
	.map = map_call,
	.end = seal_waits,
	.must = CLASS,
};

/* ---- overhead, and calls of the system's libraries ---- */

static const char *const host_columns[] = { CALL };

static int map_host(struct pf_nsys *n, const struct pf_rows *r,
		    enum pf_cat what)
{
	struct pf_sink_put put = { 0 };

	if (!pf_reading_times(&n->reading, r, &put))
		return 0;
	pf_sink_is(&put, what);
	PF_TRY(nsys_name(n, r, CALL_NAME, &put.name));
	put.track = nsys_host_track(n, r, TID);
	pf_argline_open(&n->sink.args);
	pf_sink_close(&n->sink, &put);
	return 0;
}

static int map_overhead(void *reader, const struct pf_rows *r)
{
	return map_host(reader, r, PF_CAT_OVERHEAD);
}

const struct pf_reading_table pf_nsys_overhead = {
	.name = "CUPTI_ACTIVITY_KIND_OVERHEAD",
	PF_COLUMNS(host_columns),
	.map = map_overhead,
};

const struct pf_reading_table pf_nsys_own_overhead = {
	.name = "PROFILER_OVERHEAD",
	PF_COLUMNS(host_columns),
	.map = map_overhead,
};

static int map_os_call(void *reader, const struct pf_rows *r)
{
	return map_host(reader, r, PF_CAT_OS_CALL);
}

static bool wants_os_calls(const void *reader)
{
	const struct pf_nsys *n = reader;

	return n->options.os_calls;
}

const struct pf_reading_table pf_nsys_os_calls = {
	.name = "OSRT_API",
	PF_COLUMNS(host_columns),
	.map = map_os_call,
	.wanted = wants_os_calls,
};

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

/* Its own or a registered one: 1, 0 none, -1 a failure. */
static int text_of(struct pf_nsys *n, const struct pf_rows *r, int own, int id,
		   const char **text, size_t *len)
{
	int64_t number;

	if (pf_rows_text(r, own, text, len))
		return 1;
	if (pf_rows_int(r, id, &number) != PF_CELL_INT)
		return 0;
	return pf_nsys_string(n, number, text, len);
}

/* ---- names of domains and categories ---- */

static int64_t process_of(struct pf_nsys *n, const struct pf_rows *r)
{
	int64_t id;

	return pf_rows_int(r, RANGE_TID, &id) == PF_CELL_INT
		       ? nsys_process(n, id)
		       : -1;
}

static const struct pf_nsys_label *find_label(const struct pf_nsys *n,
					      int64_t process, int64_t domain,
					      int64_t category)
{
	const struct pf_nsys_label *l = (const void *)n->labels.data;

	for (size_t i = 0; i < n->label_count; i++)
		if (l[i].domain == domain && l[i].category == category &&
		    l[i].process == process)
			return &l[i];
	return NULL;
}

static int add_label(struct pf_nsys *n, const struct pf_rows *r,
		     int64_t category)
{
	struct pf_nsys_label l = {
		.process = process_of(n, r),
		.domain = pf_rows_int_or(r, DOMAIN, 0),
		.category = category,
		.at = n->label_text.len,
	};
	const char *text;
	int rc;

	if (n->label_count >= LABELS_MAX ||
	    find_label(n, l.process, l.domain, l.category))
		return 0;
	rc = text_of(n, r, TEXT, TEXT_ID, &text, &l.len);
	if (rc <= 0)
		return rc;
	if (l.len > LABEL_TEXT_MAX - n->label_text.len)
		return 0;
	pf_buf_add(&n->label_text, text, l.len);
	pf_buf_add(&n->labels, &l, sizeof(l));
	n->label_count++;
	return 0;
}

/* They may stand behind the first range that has one. */
static int read_labels(struct pf_nsys *n)
{
	struct pf_rows r;
	int rc;

	if (n->has_labels)
		return 0;
	n->has_labels = true;
	rc = pf_rows_open(
		&r, n->f, pf_reading_version(&n->reading, &pf_nsys_ranges),
		PF_COLUMNS(range_columns), "\"eventType\" IN (33, 75)");
	if (!rc)
		while ((rc = pf_rows_next(&r)) == 1) {
			int64_t type = pf_rows_int_or(&r, TYPE, 0);

			if (type == DOMAIN_CREATE)
				rc = add_label(n, &r, -1);
			else if (type == NAME_CATEGORY)
				rc = add_label(n, &r,
					       pf_rows_int_or(&r, CATEGORY, 0));
			if (rc < 0)
				break;
		}
	pf_rows_close(&r);
	return rc < 0 ? -1 : 0;
}

/* ---- arguments ---- */

static void arg_label(struct pf_nsys *n, const char *key, int64_t process,
		      int64_t domain, int64_t category)
{
	const struct pf_nsys_label *l =
		find_label(n, process, domain, category);

	if (l)
		pf_argline_text(&n->sink.args, key, n->label_text.data + l->at,
				l->len);
	else
		pf_argline_fixed(&n->sink.args, key,
				 category < 0 ? domain : category);
}

static int arg_payload(struct pf_nsys *n, const struct pf_rows *r)
{
	const char *text;
	double real;
	int64_t v;
	size_t len;
	int rc;

	for (int i = 0; i < 4; i++) {
		if (pf_rows_int(r, INTEGERS + i, &v) != PF_CELL_INT)
			continue;
		if (v >= 0)
			pf_argline_number(&n->sink.args, "payload",
					  (uint64_t)v);
		else
			pf_argline_fixed(&n->sink.args, "payload", v);
		return 0;
	}
	for (int i = 0; i < 2; i++)
		if (pf_rows_real(r, REALS + i, &real)) {
			pf_argline_real(&n->sink.args, "payload", real);
			return 0;
		}
	rc = text_of(n, r, JSON, JSON_ID, &text, &len);
	if (rc == 1)
		pf_argline_text(&n->sink.args, "payload", text, len);
	return rc < 0 ? -1 : 0;
}

static int arg_common(struct pf_nsys *n, const struct pf_rows *r)
{
	int64_t domain = pf_rows_int_or(r, DOMAIN, 0);
	int64_t category = pf_rows_int_or(r, CATEGORY, 0);
	int64_t color = pf_rows_int_or(r, COLOR, 0);

	if ((domain || category > 0) && read_labels(n))
		return -1;
	if (domain)
		arg_label(n, "domain", process_of(n, r), domain, -1);
	if (category > 0)
		arg_label(n, "category", process_of(n, r), domain, category);
	if (color) {
		pf_argline_key(&n->sink.args, "color");
		pf_buf_addf(&n->sink.args.text, "\"#%08" PRIx32 "\"",
			    (uint32_t)color);
	}
	return arg_payload(n, r);
}

/* ---- ranges ---- */

/* Nothing but a name, and numbers that torch put there: as most. */
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

/* Then the text of their arguments is known, and only slots differ. */
static bool bare_args(struct pf_nsys *n, const struct pf_rows *r,
		      const struct pf_pfr_torch_name *torch, uint32_t **memo)
{
	const int64_t most = INT64_C(1) << 58; /* of a number's slot */
	uint64_t key = 0;

	*memo = NULL;
	if (torch && (torch->sizes || torch->op_id >= most))
		return false;
	if (!is_bare(r))
		return false;
	if (torch)
		key = 1 | (uint64_t)torch->has_sequence << 1 |
		      (uint64_t)torch->has_op_id << 2;
	if (!pf_sink_memo(&n->sink, PF_MEMO_RANGE_ARGS, 0, key, memo))
		return false;
	pf_argline_set(&n->sink.args, PF_SLOT_EXTERNAL_ID, n->range_count);
	if (key & 2)
		pf_argline_set(&n->sink.args, PF_SLOT_SEQUENCE,
			       torch->sequence);
	if (key & 4)
		pf_argline_set(&n->sink.args, PF_SLOT_GENERIC,
			       torch->op_id << 4);
	return true;
}

static int range_args(struct pf_nsys *n, const struct pf_rows *r,
		      const struct pf_pfr_torch_name *torch, bool is_open,
		      uint32_t *entry)
{
	uint32_t *memo = NULL;

	n->range_count++;
	pf_argline_open(&n->sink.args);
	if (!is_open && bare_args(n, r, torch, &memo)) {
		*entry = *memo;
		return 0;
	}
	pf_argline_slot(&n->sink.args, "External id", PF_SLOT_EXTERNAL_ID,
			n->range_count);
	if (torch)
		pf_kineto_torch(&n->sink.args, torch);
	PF_TRY(arg_common(n, r));
	if (is_open)
		pf_argline_text(&n->sink.args, "end", "open", 4);
	*entry = pf_argline_close(&n->sink.args, &n->sink.parsed.args);
	if (memo)
		*memo = *entry;
	return 0;
}

static int put_range(struct pf_nsys *n, const struct pf_rows *r,
		     struct pf_sink_put *put, bool is_async, bool is_open)
{
	struct pf_pfr_torch_name torch;
	const char *text = "";
	size_t len = 0;
	bool split;

	if (text_of(n, r, TEXT, TEXT_ID, &text, &len) < 0)
		return -1;
	split = pf_kineto_range(text, len, is_async, &torch, put);
	put->name = pf_sink_text(&n->sink, text, split ? torch.name_len : len);
	put->track =
		is_async ? nsys_lane(n, 'a', pf_rows_int_or(r, RANGE_TID, 0),
				     "ranges")
			 : nsys_host_track(n, r, RANGE_TID);
	PF_TRY(range_args(n, r, split ? &torch : NULL, is_open, &put->args));
	pf_sink_store(&n->sink, put);
	return 0;
}

static int map_range(struct pf_nsys *n, const struct pf_rows *r, bool is_async)
{
	struct pf_sink_put put = { 0 };
	int64_t ns;

	if ((r->has & 2) && pf_rows_int(r, 1, &ns) == PF_CELL_NULL &&
	    pf_rows_int(r, 0, &ns) == PF_CELL_INT) {
		/* Its end is known when all times are. */
		n->sink.parsed.batch.event_count--;
		n->open_count++;
		return 0;
	}
	if (!pf_reading_times(&n->reading, r, &put))
		return 0;
	return put_range(n, r, &put, is_async, false);
}

static int map_mark(struct pf_nsys *n, const struct pf_rows *r)
{
	struct pf_sink_put put = { 0 };
	const char *text = "";
	size_t len = 0;
	int64_t ns;

	if (pf_rows_int(r, 0, &ns) != PF_CELL_INT) {
		pf_sink_note(&n->sink, PF_SKIP_NO_TIME);
		return 0;
	}
	if (!pf_sink_times(&n->sink, ns, ns, &put))
		return 0;
	if (text_of(n, r, TEXT, TEXT_ID, &text, &len) < 0)
		return -1;
	pf_sink_is(&put, PF_CAT_MARK);
	put.name = pf_sink_text(&n->sink, text, len);
	put.track = nsys_host_track(n, r, RANGE_TID);
	pf_argline_open(&n->sink.args);
	PF_TRY(arg_common(n, r));
	pf_sink_close(&n->sink, &put);
	return 0;
}

/* ---- names of domains and threads ---- */

/* Names of domains and categories are metadata, those of threads theirs. */
static int map_label(struct pf_nsys *n, const struct pf_rows *r, int64_t type)
{
	struct pf_batch *b = &n->sink.parsed.batch;
	const char *text = "";
	size_t len = 0;
	int64_t id = pf_rows_int_or(r, RANGE_TID, 0);

	if (text_of(n, r, TEXT, TEXT_ID, &text, &len) < 0)
		return -1;
	if (len > LABEL_TEXT_MAX)
		len = 0;
	if (type == NAME_THREAD) {
		*pf_map_at(&n->threads, (uint64_t)id) = PF_NSYS_NAMED;
		pf_batch_name(b, "thread_name", pf_nsys_pid(id),
			      (uint64_t)pf_nsys_tid(id), text, len);
		b->event_count--; /* the row is counted by the caller */
		return 0;
	}
	pf_buf_clear(&n->clean);
	pf_buf_addf(&n->clean,
		    "{\"name\":\"%s\",\"ph\":\"M\",\"pid\":%" PRId64
		    ",\"args\":{\"domain\":%" PRId64 ",\"category\":%" PRId64
		    ",\"name\":",
		    type == DOMAIN_CREATE ? "nvtx_domain" : "nvtx_category",
		    pf_nsys_pid(id), pf_rows_int_or(r, DOMAIN, 0),
		    pf_rows_int_or(r, CATEGORY, 0));
	pf_jsonw_quote(&n->clean, text, len, false);
	pf_buf_adds(&n->clean, "}}");
	pf_batch_metadata(b, &n->clean);
	return 0;
}

static int map_nvtx(void *reader, const struct pf_rows *r)
{
	struct pf_nsys *n = reader;
	int64_t type = pf_rows_int_or(r, TYPE, 0);

	switch (type) {
	case PUSH_POP:
	case START_END:
		return map_range(n, r, type == START_END);
	case MARK:
		return map_mark(n, r);
	case NAME_CATEGORY:
	case NAME_THREAD:
	case DOMAIN_CREATE:
		return map_label(n, r, type);
	default:
		pf_sink_note(&n->sink, PF_SKIP_RECORD_TYPE);
		return 0;
	}
}

const struct pf_reading_table pf_nsys_ranges = {
	.name = "NVTX_EVENTS",
	PF_COLUMNS(range_columns),
	.map = map_nvtx,
	.must = TEXT,
};

/* ---- those that stayed open end with the file ---- */

static int map_open(void *reader, const struct pf_rows *r)
{
	struct pf_nsys *n = reader;
	struct pf_sink_put put = { 0 };
	int64_t ns, type = pf_rows_int_or(r, TYPE, 0);

	/* The others have been met. */
	if (pf_rows_int(r, 0, &ns) != PF_CELL_INT) {
		n->sink.parsed.batch.event_count--;
		return 0;
	}
	if (!pf_sink_times(&n->sink, ns,
			   n->sink.last_ns > ns ? n->sink.last_ns : ns, &put))
		return 0;
	pf_sink_note(&n->sink, PF_REPAIR_OPEN_RANGE);
	return put_range(n, r, &put, type == START_END, true);
}

static bool has_open(const void *reader)
{
	const struct pf_nsys *n = reader;

	return n->open_count > 0;
}

const struct pf_reading_table pf_nsys_open_ranges = {
	.name = "NVTX_EVENTS",
	PF_COLUMNS(range_columns),
	.where = "\"end\" IS NULL AND \"eventType\" IN (59, 60)",
	.map = map_open,
	.wanted = has_open,
	.must = TEXT,
};
