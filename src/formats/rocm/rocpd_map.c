/* SPDX-License-Identifier: MIT */
/* Rows of rocpd as events. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/rocm/rocpd_impl.h"

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
			 int64_t id, int64_t *number, struct pf_err *err)
{
	int rc = pf_lookup_find(&r->lookups[table], id, err);

	*number = id;
	if (rc == 1)
		*number = pf_rows_int_or(&r->lookups[table].rows, 0, id);
	return rc < 0 ? -1 : 0;
}

#define THREADS_MAX 65536u
#define ID_BITS     28 /* of processes and threads that are remembered */

uint64_t pf_rocpd_thread_key(const struct pf_rocpd *r, int64_t process,
			     int64_t thread)
{
	return (uint64_t)r->run << 56 ^ (uint64_t)process << ID_BITS ^
	       (uint64_t)thread;
}

int pf_rocpd_pid(struct pf_rocpd *r, int64_t id, int64_t *pid,
		 struct pf_err *err)
{
	return system_number(r, PF_ROCPD_PROCESSES, id, pid, err);
}

static int read_process(struct pf_rocpd *r, const struct pf_rows *row,
			int64_t *process, int64_t *pid, struct pf_err *err)
{
	int64_t id = pf_rows_int_or(row, PID, 0);

	*process =
		pf_rocm_process(&r->map, (uint64_t)r->run << 48 ^ (uint64_t)id);
	if (r->has_pid && id == r->last_id) {
		*pid = r->last_pid;
		return 0;
	}
	if (pf_rocpd_pid(r, id, pid, err))
		return -1;
	r->has_pid = true;
	r->last_id = id;
	r->last_pid = *pid;
	return 0;
}

static int read_thread(struct pf_rocpd *r, const struct pf_rows *row,
		       struct pf_rocm_call *c, struct pf_err *err)
{
	int64_t process = pf_rows_int_or(row, PID, 0);
	int64_t id = pf_rows_int_or(row, TID, 0);
	uint64_t *known;

	if (read_process(r, row, &c->process, &c->pid, err))
		return -1;
	if (r->has_tid && id == r->last_thread && process == r->last_of) {
		c->tid = r->last_tid;
		return 0;
	}
	if (system_number(r, PF_ROCPD_THREADS, id, &c->tid, err))
		return -1;
	if (r->threads.count < THREADS_MAX) {
		known = pf_map_at(&r->threads,
				  pf_rocpd_thread_key(r, process, id));
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

/* The text of a number in a column: borrowed, or "string 4711" in own. */
static int read_name(struct pf_rocpd *r, const struct pf_rows *row, int column,
		     char own[48], const char **text, size_t *len,
		     struct pf_err *err)
{
	int64_t id;
	int rc = 0;

	snprintf(own, 48, "no name");
	if (pf_rows_int(row, column, &id) == PF_CELL_INT) {
		rc = pf_rocpd_text(r, id, text, len, err);
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
			  int column, char own[48], struct pf_rocm_call *c,
			  struct pf_err *err)
{
	uint32_t *memo = NULL;
	int64_t id;

	if (c->domain->category != PF_ROCM_CAT_NVTX &&
	    pf_rows_int(row, column, &id) == PF_CELL_INT &&
	    pf_rocm_memo(&r->map, PF_ROCM_MEMO_NAME, 0, id, &memo)) {
		c->has_entry = true;
		c->entry = *memo;
		return 0;
	}
	if (memo)
		pf_rocm_forget(&r->map, PF_ROCM_MEMO_NAME, 0, id);
	if (read_name(r, row, column, own, &c->name, &c->name_len, err))
		return -1;
	/* One that is lost is counted each time. */
	if (memo && c->name != own) {
		pf_rocm_memo(&r->map, PF_ROCM_MEMO_NAME, 0, id, &memo);
		c->entry = pf_sink_text(&r->map.sink, c->name, c->name_len);
		c->has_entry = true;
		*memo = c->entry;
	}
	return 0;
}

static const char *const region_columns[] = { PLACE, "name_id" };

static int domain_of(struct pf_rocpd *r, int64_t category,
		     const struct pf_rocm_domain **domain, struct pf_err *err)
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
	rc = category < 0 ? 0 : pf_rocpd_text(r, category, &text, &len, err);
	if (rc < 0)
		return -1;
	*domain = rc ? pf_rocm_domain(text, len) : pf_rocm_domain("", 0);
	*d = (struct pf_rocpd_domain){ category, *domain };
	return 0;
}

/* A range's text is beside its event; its name is roctx's function. */
static void use_message(struct pf_rocpd *r, struct pf_rocm_call *c)
{
	if (c->domain->category != PF_ROCM_CAT_NVTX)
		return;
	c->function = c->name;
	c->function_len = c->name_len;
	pf_rocpd_message(r, &c->name, &c->name_len);
}

static int map_region(void *reader, const struct pf_rows *row,
		      struct pf_err *err)
{
	struct pf_rocpd *r = reader;
	struct pf_sink_put put = { 0 };
	struct pf_rocm_call call = { 0 };
	struct pf_rocpd_event event;
	char own[48];

	if (!pf_reading_times(&r->reading, row, &put))
		return 0;
	if (pf_rocpd_event(r, row, EVENT, &event, err) ||
	    domain_of(r, event.category, &call.domain, err) ||
	    read_thread(r, row, &call, err) ||
	    read_call_name(r, row, REST, own, &call, err))
		return -1;
	call.id = event.link;
	use_message(r, &call);
	pf_rocm_put_call(&r->map, &call, &put);
	return 0;
}

const struct pf_reading_table pf_rocpd_regions = {
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
		     struct pf_rocm_work *w, struct pf_err *err)
{
	struct pf_rocpd_event event;

	if (read_process(r, row, &w->process, &w->pid, err) ||
	    pf_rocpd_event(r, row, EVENT, &event, err))
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
		       uint32_t *entry, uint32_t *registers, struct pf_err *err)
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
	if (pf_rocm_memo(&r->map, PF_ROCM_MEMO_KERNEL, 0, id, &memo) &&
	    pf_rocm_memo(&r->map, PF_ROCM_MEMO_KERNEL, 1, id, &second)) {
		*entry = *memo;
		*registers = *second;
		return 0;
	}
	rc = pf_lookup_find(&r->lookups[PF_ROCPD_SYMBOLS], id, err);
	if (rc < 0)
		return -1;
	if (rc && (pf_rows_text(symbol, 0, &text, &len) ||
		   pf_rows_text(symbol, 1, &text, &len))) {
		*entry = pf_sink_text(&r->map.sink, text, len);
		*registers = registers_of(symbol);
		pf_rocm_memo(&r->map, PF_ROCM_MEMO_KERNEL, 0, id, &memo);
		*memo = *entry;
		pf_rocm_memo(&r->map, PF_ROCM_MEMO_KERNEL, 1, id, &memo);
		*memo = *registers;
		return 0;
	}
	/* Every event is counted. */
	pf_rocm_forget(&r->map, PF_ROCM_MEMO_KERNEL, 0, id);
	note(r, PF_REPAIR_LOST_NAME);
	lost(own, "kernel", id);
	*entry = pf_sink_word(&r->map.sink, own);
	return 0;
}

static int map_dispatch(void *reader, const struct pf_rows *row,
			struct pf_err *err)
{
	struct pf_rocpd *r = reader;
	struct pf_sink_put put = { 0 };
	struct pf_rocm_work work = { 0 };
	struct pf_pfr_launch launch;

	if (!pf_reading_times(&r->reading, row, &put))
		return 0;
	launch = launch_of(row);
	if (read_work(r, row, QUEUE, &work, err) ||
	    read_kernel(r, row, &put.name, &launch.registers, err))
		return -1;
	work.agent = agent_of(r, row, AGENT);
	if (work.agent)
		work.device = work.agent->device;
	pf_rocm_put_kernel(&r->map, &work, &launch, &put);
	return 0;
}

const struct pf_reading_table pf_rocpd_dispatches = {
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

static int map_copy(void *reader, const struct pf_rows *row, struct pf_err *err)
{
	struct pf_rocpd *r = reader;
	struct pf_sink_put put = { 0 };
	struct pf_rocm_work work = { 0 };
	struct pf_rocm_copy copy = { 0 };
	char own[48];

	if (!pf_reading_times(&r->reading, row, &put))
		return 0;
	if (read_work(r, row, QUEUE, &work, err) ||
	    read_name(r, row, COPY_NAME, own, &copy.name, &copy.name_len, err))
		return -1;
	copy.bytes = known_or(row, SIZE);
	copy.from = device_of(r, row, FROM);
	copy.to = device_of(r, row, TO);
	work.device = copy.from >= 0 ? copy.from : copy.to;
	pf_rocm_put_copy(&r->map, &work, &copy, &put);
	return 0;
}

const struct pf_reading_table pf_rocpd_copies = {
	.name = "rocpd_memory_copy",
	PF_COLUMNS(copy_columns),
	.map = map_copy,
};

/* ---- memory ---- */

static const char *const memory_columns[] = {
	PLACE, "type", "level", "agent_id", "address", "size",
};
enum { TYPE = REST, LEVEL, OWNER, ADDRESS, BYTES };

static int map_memory(void *reader, const struct pf_rows *row,
		      struct pf_err *err)
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
	if (pf_rocpd_event(r, row, EVENT, &event, err) ||
	    read_thread(r, row, &call, err))
		return -1;
	call.id = event.link;
	pf_rows_text(row, TYPE, &memory.what, &memory.what_len);
	memory.is_scratch = pf_rows_text(row, LEVEL, &level, &len) &&
			    len == 7 && !memcmp(level, "SCRATCH", 7);
	memory.device = device_of(r, row, OWNER);
	memory.bytes = known_or(row, BYTES);
	memory.address = (uint64_t)pf_rows_int_or(row, ADDRESS, 0);
	pf_rocm_put_memory(&r->map, &call, &memory, &put);
	return 0;
}

const struct pf_reading_table pf_rocpd_allocations = {
	.name = "rocpd_memory_allocate",
	PF_COLUMNS(memory_columns),
	.map = map_memory,
};
