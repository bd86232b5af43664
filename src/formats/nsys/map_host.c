/* SPDX-License-Identifier: MIT */
/* What happens on the host: calls, overhead, ranges. */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "formats/nsys/nsys_impl.h"

/* ---- calls ---- */

#define CALL "start", "end", "globalTid", "nameId", "correlationId"
enum { TID = 2, NAME, CORRELATION, CLASS, RESULT };

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
		     uint32_t *entry, uint32_t *wait, struct pf_err *err)
{
	uint32_t *memo;
	const char *text;
	int64_t id;
	size_t len;

	*wait = 0;
	if (pf_rows_int(r, NAME, &id) != PF_CELL_INT)
		return pf_nsys_name(n, r, NAME, entry, err);
	if (pf_nsys_memo(n, PF_NSYS_MEMO_CALL_NAME, 0, (uint64_t)id, &memo)) {
		*entry = *memo >> 3;
		*wait = *memo & 7;
		return 0;
	}
	*memo = 0;
	if (pf_nsys_string(n, id, &text, &len, err) == 1) {
		pf_pfr_call_stem(&text, &len);
		*wait = wait_of(text, len);
		*entry = pf_sink_text(&n->sink, text, len);
		*memo = *entry << 3 | *wait;
		return 0;
	}
	pf_memo_forget(&n->sink.memos,
		       PF_NSYS_MEMO_KEY(PF_NSYS_MEMO_CALL_NAME, 0),
		       (uint64_t)id);
	return err->code ? -1 : pf_nsys_name(n, r, NAME, entry, err);
}

static uint32_t call_args(struct pf_nsys *n, const struct pf_rows *r,
			  int64_t process, int64_t correlation)
{
	int64_t result = pf_rows_int_or(r, RESULT, 0);
	uint32_t *memo;

	pf_argline_set(&n->sink.args, PF_SLOT_CORRELATION,
		       pf_nsys_key(process, correlation));
	if (pf_nsys_memo(n, PF_NSYS_MEMO_CALL_ARGS, 0, (uint64_t)result, &memo))
		return *memo;
	pf_nsys_arg_key(n, process, correlation);
	if (result)
		pf_argline_fixed(&n->sink.args, "return value", result);
	return *memo = pf_argline_close(&n->sink.args, &n->sink.parsed.args);
}

static int map_call(void *reader, const struct pf_rows *r, struct pf_err *err)
{
	struct pf_nsys *n = reader;
	bool driver = pf_rows_int_or(r, CLASS, 0) == 1;
	struct pf_sink_put put = {
		.category = driver ? PF_NSYS_CAT_DRIVER : PF_NSYS_CAT_RUNTIME,
		.kind = driver ? PF_KIND_DRIVER : PF_KIND_RUNTIME,
		.ph = 'X',
	};
	int64_t correlation = pf_rows_int_or(r, CORRELATION, 0);
	int64_t id, process = -1;
	uint32_t wait;

	if (!pf_reading_times(&n->reading, r, &put))
		return 0;
	if (call_name(n, r, &put.name, &wait, err))
		return -1;
	put.track = pf_nsys_host_track(n, r, TID);
	if (pf_rows_int(r, TID, &id) == PF_CELL_INT)
		process = pf_nsys_process(n, id);
	if (n->only_process == PF_NSYS_NO_PROCESS)
		n->only_process = process;
	else if (n->only_process != process)
		n->only_process = -1;
	if (wait && pf_keys_add(&n->waits, pf_nsys_key(process, correlation),
				wait, err))
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
		    struct pf_sink_put *put, struct pf_err *err)
{
	put->ph = 'X';
	if (!pf_reading_times(&n->reading, r, put))
		return 0;
	if (pf_nsys_name(n, r, NAME, &put->name, err))
		return -1;
	put->track = pf_nsys_host_track(n, r, TID);
	pf_argline_open(&n->sink.args);
	put->args = PF_ID_NONE;
	pf_sink_store(&n->sink, put);
	return 0;
}

static int map_overhead(void *reader, const struct pf_rows *r,
			struct pf_err *err)
{
	struct pf_nsys *n = reader;
	struct pf_sink_put put = { .category = PF_NSYS_CAT_OVERHEAD,
				   .kind = PF_KIND_OVERHEAD };

	return map_host(n, r, &put, err);
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

static int map_os_call(void *reader, const struct pf_rows *r,
		       struct pf_err *err)
{
	struct pf_nsys *n = reader;
	struct pf_sink_put put = { .category = PF_NSYS_CAT_OSRT,
				   .kind = PF_KIND_HOST };

	return map_host(n, r, &put, err);
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
