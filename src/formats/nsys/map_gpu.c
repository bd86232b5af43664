/* SPDX-License-Identifier: MIT */
/* What runs on a device: kernels, graphs, copies, fills, synchronisation. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/nsys/nsys_impl.h"

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
		p->process = pf_nsys_process(n, p->pid);
	} else {
		p->pid = 0;
		p->process = n->only_process < 0 ? -1 : n->only_process;
	}
	if (p->has_device)
		p->device = pf_nsys_device_number(n, p->pid, p->device);
}

static uint32_t track_of(struct pf_nsys *n, const struct place *p)
{
	return pf_nsys_gpu_track(n, p->has_device ? p->device : -1,
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
	pf_nsys_arg_key(n, p->process, p->correlation);
}

static void arg_node(struct pf_nsys *n, const struct place *p)
{
	if (p->node > 0)
		pf_argline_number(&n->sink.args, "graph node id",
				  (uint64_t)p->node);
}

static int start_put(struct pf_nsys *n, const struct pf_rows *r,
		     struct place *p, struct pf_sink_put *put)
{
	if (!pf_reading_times(&n->reading, r, put))
		return 0;
	read_place(n, r, p);
	put->track = track_of(n, p);
	put->ph = 'X';
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
		       pf_nsys_key(p->process, p->correlation));
	if (p->node > 0)
		pf_argline_set(&n->sink.args, PF_SLOT_GENERIC, p->node << 4);
	return *memo;
}

/* Names by demangledName; the other two where it is missing. */
static int kernel_name(struct pf_nsys *n, const struct pf_rows *r,
		       uint32_t *entry, struct pf_err *err)
{
	int column = NAME;
	int64_t id;

	while (column < MANGLED_NAME &&
	       pf_rows_int(r, column, &id) != PF_CELL_INT)
		column++;
	return pf_nsys_name(n, r, column, entry, err);
}

static int map_kernel(void *reader, const struct pf_rows *r, struct pf_err *err)
{
	struct pf_nsys *n = reader;
	struct pf_sink_put put = { .category = PF_NSYS_CAT_KERNEL,
				   .kind = PF_KIND_KERNEL };
	struct place p;

	if (!start_put(n, r, &p, &put))
		return 0;
	if (kernel_name(n, r, &put.name, err))
		return -1;
	if (p.node &&
	    pf_keys_add(&n->graphs, pf_nsys_key(p.process, p.correlation), 1,
			err))
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
static int map_graph(void *reader, const struct pf_rows *r, struct pf_err *err)
{
	struct pf_nsys *n = reader;
	struct pf_sink_put put = { .category = PF_NSYS_CAT_KERNEL,
				   .kind = PF_KIND_KERNEL };
	int64_t graph, exec, has_nodes;
	struct place p;
	char name[48];
	int rc;

	if (!start_put(n, r, &p, &put))
		return 0;
	rc = pf_keys_find(&n->graphs, pf_nsys_key(p.process, p.correlation),
			  &has_nodes, err);
	if (rc < 0)
		return -1;
	if (rc) {
		put.kind = PF_KIND_GPU_ANNOTATION;
		put.category = PF_NSYS_CAT_GRAPH_RANGE;
	}
	graph = pf_rows_int_or(r, REST, 0);
	exec = pf_rows_int_or(r, REST + 1, 0);
	snprintf(name, sizeof(name), "CUDA graph %" PRId64, graph);
	put.name = pf_sink_word(&n->sink, name);
	arg_place(n, &p);
	pf_argline_fixed(&n->sink.args, "graph", graph);
	if (exec)
		pf_argline_fixed(&n->sink.args, "graph exec id", exec);
	put.args = pf_argline_close(&n->sink.args, &n->sink.parsed.args);
	pf_sink_store(&n->sink, &put);
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
	if (pf_nsys_memo(n, PF_NSYS_MEMO_COPY_NAME, 0,
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

static int map_copy(void *reader, const struct pf_rows *r, struct pf_err *err)
{
	struct pf_nsys *n = reader;
	struct pf_sink_put put = { .category = PF_NSYS_CAT_MEMCPY,
				   .kind = PF_KIND_MEMCPY };
	int64_t from, to, count;
	struct place p;

	(void)err;
	if (!start_put(n, r, &p, &put))
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
	put.args = pf_argline_close(&n->sink.args, &n->sink.parsed.args);
	pf_sink_store(&n->sink, &put);
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

static int map_fill(void *reader, const struct pf_rows *r, struct pf_err *err)
{
	struct pf_nsys *n = reader;
	struct pf_sink_put put = { .category = PF_NSYS_CAT_MEMSET,
				   .kind = PF_KIND_MEMSET };
	struct place p;
	char text[64];

	(void)err;
	if (!start_put(n, r, &p, &put))
		return 0;
	snprintf(text, sizeof(text), "Memset (%s)",
		 memory_word(pf_rows_int_or(r, BYTES + 1, -1)));
	put.name = pf_sink_word(&n->sink, text);
	arg_place(n, &p);
	arg_bytes(n, r, put.dur_ns);
	arg_node(n, &p);
	put.args = pf_argline_close(&n->sink.args, &n->sink.parsed.args);
	pf_sink_store(&n->sink, &put);
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
		     const struct place *p, int64_t *type, struct pf_err *err)
{
	int rc = pf_keys_find(
		&n->waits, pf_nsys_key(p->process, p->correlation), type, err);

	if (rc)
		return rc < 0 ? -1 : 0;
	*type = 0;
	if (n->schema >= TRUSTED_SCHEMA)
		*type = pf_rows_int_or(r, REST + 1, 0);
	return 0;
}

static int map_sync(void *reader, const struct pf_rows *r, struct pf_err *err)
{
	struct pf_nsys *n = reader;
	struct pf_sink_put put = { .category = PF_NSYS_CAT_SYNC,
				   .kind = PF_KIND_GPU_SYNC };
	const char *word;
	int64_t type, event;
	struct place p;

	if (!start_put(n, r, &p, &put))
		return 0;
	if (wait_type(n, r, &p, &type, err))
		return -1;
	word = type > 0 && type < 5 ? pf_pfr_sync_word((uint64_t)type) : "Wait";
	put.name = pf_sink_word(&n->sink, word);
	pf_argline_text(&n->sink.args, "cuda_sync_kind", word, strlen(word));
	event = pf_rows_int_or(r, REST, -1);
	if (event >= 0 && event != UINT32_MAX)
		pf_argline_number(&n->sink.args, "wait_on_cuda_event_id",
				  (uint64_t)event);
	arg_place(n, &p);
	put.args = pf_argline_close(&n->sink.args, &n->sink.parsed.args);
	pf_sink_store(&n->sink, &put);
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
static int map_event(void *reader, const struct pf_rows *r, struct pf_err *err)
{
	struct pf_nsys *n = reader;
	struct pf_sink_put put = { .category = PF_NSYS_CAT_CUDA_EVENT,
				   .kind = PF_KIND_CUDA_EVENT,
				   .ph = 'i' };
	struct place p;
	int64_t ns;

	(void)err;
	if (pf_rows_int(r, 0, &ns) != PF_CELL_INT || !ns) {
		pf_sink_note(&n->sink, PF_SKIP_UNTIMED);
		return 0;
	}
	if (!pf_sink_times(&n->sink, ns, ns, &put))
		return 0;
	read_place(n, r, &p);
	put.name = pf_sink_word(&n->sink, "cudaEventRecord");
	put.track = pf_nsys_mark_track(n, p.has_device ? p.device : -1);
	pf_argline_open(&n->sink.args);
	pf_argline_number(&n->sink.args, "event",
			  low_bits(pf_rows_int_or(r, REST, 0)));
	pf_nsys_arg_key(n, p.process, p.correlation);
	pf_argline_fixed(&n->sink.args, "context", p.context);
	pf_argline_fixed(&n->sink.args, "on stream", p.stream);
	put.args = pf_argline_close(&n->sink.args, &n->sink.parsed.args);
	pf_sink_store(&n->sink, &put);
	return 0;
}

const struct pf_reading_table pf_nsys_events = {
	.name = "CUPTI_ACTIVITY_KIND_CUDA_EVENT",
	PF_COLUMNS(event_columns),
	.map = map_event,
};
