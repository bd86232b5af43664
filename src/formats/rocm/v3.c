/* SPDX-License-Identifier: MIT */
/*
 * rocprofv3's JSON: one object whose one member is a list of tools, each with
 * what it defines (agents, strings, kernels) and then its records, in lists by
 * domain.  It is read once, in one pass; a name whose definition came later is
 * lost, and counted.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "formats/rocm/v3_impl.h"

/* ---- records ---- */

enum {
	KIND,
	OPERATION,
	THREAD,
	LINK,
	START,
	END,
	AGENT,
	QUEUE,
	STREAM,
	KERNEL,
	PRIVATE,
	GROUP,
	BLOCK,
	GRID = BLOCK + 3,
	FROM = GRID + 3,
	TO,
	BYTES,
	SIZE,
	ADDRESS,
	ADDRESS_HANDLE,
	OWNER,
	RECORD_FIELDS
};
static const struct pf_json_field record_fields[] = {
	[KIND] = { NULL, "kind" },
	[OPERATION] = { NULL, "operation" },
	[THREAD] = { NULL, "thread_id" },
	[LINK] = { "correlation_id", "internal" },
	[START] = { NULL, "start_timestamp" },
	[END] = { NULL, "end_timestamp" },
	[AGENT] = { "agent_id", "handle" },
	[QUEUE] = { "queue_id", "handle" },
	[STREAM] = { "stream_id", "handle" },
	[KERNEL] = { "dispatch_info", "kernel_id" },
	[PRIVATE] = { "dispatch_info", "private_segment_size" },
	[GROUP] = { "dispatch_info", "group_segment_size" },
	[BLOCK] = { "workgroup_size", "x" },
	[BLOCK + 1] = { "workgroup_size", "y" },
	[BLOCK + 2] = { "workgroup_size", "z" },
	[GRID] = { "grid_size", "x" },
	[GRID + 1] = { "grid_size", "y" },
	[GRID + 2] = { "grid_size", "z" },
	[FROM] = { "src_agent_id", "handle" },
	[TO] = { "dst_agent_id", "handle" },
	[BYTES] = { NULL, "bytes" },
	[SIZE] = { NULL, "allocation_size" },
	[ADDRESS] = { NULL, "address" },
	[ADDRESS_HANDLE] = { "address", "handle" },
	[OWNER] = { NULL, "size" }, /* of the record: told apart, not used */
};

static int64_t number(const struct pf_v3 *r, unsigned field)
{
	int64_t v = pf_json_field_int(&r->record, field, -1);

	return v < 0 ? -1 : v;
}

static bool read_times(struct pf_v3 *r, struct pf_sink_put *put)
{
	const struct pf_json_fields *f = &r->record;

	if (f->values[START].is == PF_JSON_NONE) {
		pf_sink_note(&r->map.sink, PF_SKIP_NO_TIME);
		return false;
	}
	if (f->values[START].is != PF_JSON_INT ||
	    (f->values[END].is && f->values[END].is != PF_JSON_INT)) {
		pf_sink_note(&r->map.sink, PF_SKIP_MALFORMED);
		return false;
	}
	if (!f->values[END].is)
		pf_sink_note(&r->map.sink, PF_REPAIR_NO_DURATION);
	return pf_sink_times(&r->map.sink, f->values[START].number,
			     f->values[END].is ? f->values[END].number
					       : f->values[START].number,
			     put);
}

static const char *kind_text(const struct pf_v3 *r, size_t *len)
{
	int64_t kind = number(r, KIND);

	*len = 0;
	if (kind < 0 || kind >= (int64_t)r->kind_count)
		return "";
	return pf_intern_text(&r->texts, r->kind_name[kind], len);
}

/* "HIP_RUNTIME_API 17" where there is no such operation. */
static const char *operation_text(struct pf_v3 *r, char own[64], size_t *len)
{
	int64_t kind = number(r, KIND), op = number(r, OPERATION);

	if (kind >= 0 && kind < (int64_t)r->kind_count && op >= 0 &&
	    op < (int64_t)r->kind_ops[kind])
		return pf_intern_text(&r->texts,
				      r->ops[r->kind_first[kind] + (size_t)op],
				      len);
	pf_sink_note(&r->map.sink, PF_REPAIR_LOST_NAME);
	snprintf(own, 64, "operation %" PRId64 " of kind %" PRId64, op, kind);
	*len = strlen(own);
	return own;
}

static const struct pf_rocm_agent *agent_of(struct pf_v3 *r, unsigned field)
{
	int64_t id = number(r, field);

	if (id < 0)
		return NULL;
	if (r->last_agent && r->last_agent->id == id &&
	    r->last_agent->set == r->tool)
		return r->last_agent;
	return r->last_agent = pf_rocm_agent(&r->map, r->tool, id);
}

static int64_t device_of(struct pf_v3 *r, unsigned field)
{
	const struct pf_rocm_agent *a = agent_of(r, field);

	return a ? a->device : -1;
}

static struct pf_rocm_work work_of(struct pf_v3 *r)
{
	return (struct pf_rocm_work){
		.process = r->process,
		.pid = r->pid,
		.device = -1,
		.queue = number(r, QUEUE),
		.stream = number(r, STREAM),
		.id = number(r, LINK),
	};
}

static struct pf_pfr_launch launch_of(struct pf_v3 *r)
{
	struct pf_rocm_shape shape = { .group_bytes = number(r, GROUP),
				       .private_bytes = number(r, PRIVATE) };

	for (unsigned i = 0; i < 3; i++) {
		shape.items[i] = number(r, GRID + i);
		shape.block[i] = number(r, BLOCK + i);
	}
	return pf_rocm_launch(&shape);
}

static void put_kernel(struct pf_v3 *r, struct pf_sink_put *put)
{
	struct pf_rocm_work work = work_of(r);
	int64_t id = number(r, KERNEL);
	struct pf_pfr_launch l = launch_of(r);
	uint64_t found = UINT64_MAX;
	const char *text;
	char own[48];
	size_t len;

	if (id >= 0 && pf_map_has(&r->kernels, (uint64_t)id))
		found = *pf_map_at(&r->kernels, (uint64_t)id);
	if (found != UINT64_MAX) {
		l.registers = (uint32_t)(found >> 32);
		text = pf_intern_text(&r->texts, (uint32_t)found, &len);
		put->name = pf_sink_text(&r->map.sink, text, len);
	} else {
		pf_sink_note(&r->map.sink, PF_REPAIR_LOST_NAME);
		snprintf(own, sizeof(own), "kernel %" PRId64, id);
		put->name = pf_sink_word(&r->map.sink, own);
	}
	work.agent = agent_of(r, AGENT);
	if (work.agent)
		work.device = work.agent->device;
	pf_rocm_put_kernel(&r->map, &work, &l, put);
}

static void put_copy(struct pf_v3 *r, struct pf_sink_put *put)
{
	struct pf_rocm_work work = work_of(r);
	struct pf_rocm_copy copy = { 0 };
	char own[64];

	copy.name = operation_text(r, own, &copy.name_len);
	copy.bytes = number(r, BYTES);
	copy.from = device_of(r, FROM);
	copy.to = device_of(r, TO);
	work.device = copy.from >= 0 ? copy.from : copy.to;
	pf_rocm_put_copy(&r->map, &work, &copy, put);
}

static struct pf_rocm_call call_of(struct pf_v3 *r)
{
	struct pf_rocm_call c = {
		.process = r->process,
		.pid = r->pid,
		.tid = pf_json_field_int(&r->record, THREAD, 0),
		.id = number(r, LINK),
	};
	const char *text;
	size_t len;

	text = kind_text(r, &len);
	c.domain = pf_rocm_domain(text, len);
	return c;
}

static void put_memory(struct pf_v3 *r, struct pf_sink_put *put)
{
	static const char prefix[] = "MEMORY_ALLOCATION_";
	struct pf_rocm_call c = call_of(r);
	struct pf_rocm_memory m = { .is_scratch = r->list == PF_V3_SCRATCH };
	int64_t address = number(r, ADDRESS_HANDLE);
	char own[64];

	if (address < 0)
		address = number(r, ADDRESS);
	m.what = operation_text(r, own, &m.what_len);
	if (m.what_len > sizeof(prefix) - 1 &&
	    !memcmp(m.what, prefix, sizeof(prefix) - 1)) {
		m.what += sizeof(prefix) - 1;
		m.what_len -= sizeof(prefix) - 1;
	}
	m.device = device_of(r, AGENT);
	m.bytes = number(r, SIZE);
	m.address = address < 0 ? 0 : (uint64_t)address;
	pf_rocm_put_memory(&r->map, &c, &m, put);
}

static int put_call(struct pf_v3 *r, struct pf_sink_put *put,
		    struct pf_err *err)
{
	struct pf_rocm_call c = call_of(r);
	int64_t text = 0;
	char own[64];
	int rc = 0;

	c.name = operation_text(r, own, &c.name_len);
	if (c.domain->category == PF_ROCM_CAT_NVTX) {
		rc = pf_keys_find(&r->marks, c.id, &text, err);
		c.function = c.name;
		c.function_len = c.name_len;
		if (rc == 1)
			c.name = pf_intern_text(&r->texts, (uint32_t)text,
						&c.name_len);
	}
	pf_rocm_put_call(&r->map, &c, put);
	return rc < 0 ? -1 : 0;
}

static int put_record(struct pf_v3 *r, struct pf_err *err)
{
	struct pf_sink_put put = { 0 };
	int rc = 0;

	if (read_times(r, &put)) {
		if (r->list == PF_V3_KERNELS)
			put_kernel(r, &put);
		else if (r->list == PF_V3_COPIES)
			put_copy(r, &put);
		else if (r->list == PF_V3_CALLS)
			rc = put_call(r, &put, err);
		else
			put_memory(r, &put);
	}
	r->map.sink.parsed.batch.event_count++;
	return rc;
}

/* Records of a list that is not read, by its name. */
static void count_unread(struct pf_v3 *r)
{
	struct pf_batch *b = &r->map.sink.parsed.batch;
	size_t i = 0;

	b->event_count++;
	pf_repair_note(&b->repairs, PF_SKIP_TABLE, 1,
		       pf_tokens_offset(&r->tokens));
	while (i < r->rest_count && strcmp(r->rest[i].name, r->list_name) != 0)
		i++;
	if (i == PF_V3_LISTS_MAX)
		return;
	if (i == r->rest_count) {
		snprintf(r->rest[i].name, sizeof(r->rest[i].name), "%s",
			 r->list_name);
		r->rest_count++;
	}
	r->rest[i].rows++;
}

/* ---- places ---- */

static void note_cut(struct pf_v3 *r)
{
	pf_repair_note(&r->map.sink.parsed.batch.repairs, PF_REPAIR_CUT_OFF, 1,
		       pf_tokens_offset(&r->tokens));
	r->state = PF_V3_AT_END;
}

static enum pf_v3_list list_of(const struct pf_tokens *t)
{
	static const struct {
		const char *name;
		enum pf_v3_list list;
	} lists[] = {
		{ "kernel_dispatch", PF_V3_KERNELS },
		{ "memory_copy", PF_V3_COPIES },
		{ "memory_allocation", PF_V3_MEMORY },
		{ "scratch_memory", PF_V3_SCRATCH },
	};
	static const char api[] = "_api";
	size_t n = sizeof(api) - 1;

	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		if (pf_v3_is_text(t, lists[i].name))
			return lists[i].list;
	return t->text_len > n && !memcmp(t->text + t->text_len - n, api, n)
		       ? PF_V3_CALLS
		       : PF_V3_UNREAD;
}

/* A member of a tool, whose key is at hand. */
static bool read_member(struct pf_v3 *r, struct pf_err *err)
{
	struct pf_tokens *t = &r->tokens;
	enum pf_token token;

	if (pf_v3_is_text(t, "metadata"))
		return pf_v3_read_metadata(r, err);
	if (pf_v3_is_text(t, "agents"))
		return pf_v3_read_agents(r, err);
	if (pf_v3_is_text(t, "kernel_symbols"))
		return pf_v3_read_symbols(r, err);
	if (pf_v3_is_text(t, "strings"))
		return pf_v3_read_strings(r, err);
	if (!pf_v3_is_text(t, "buffer_records") &&
	    !pf_v3_is_text(t, "callback_records"))
		return pf_tokens_skip(t, pf_tokens_next(t, err), err);
	token = pf_tokens_next(t, err);
	if (token != PF_TOKEN_OBJECT)
		return pf_tokens_skip(t, token, err);
	r->process = pf_rocm_process(&r->map, (uint64_t)r->tool);
	if (!r->is_sealed && pf_keys_seal(&r->marks, err))
		return false;
	r->is_sealed = true;
	r->state = PF_V3_IN_LISTS;
	return true;
}

static bool read_element(struct pf_v3 *r, enum pf_token token,
			 struct pf_err *err)
{
	if (r->list == PF_V3_UNREAD) {
		count_unread(r);
		return pf_tokens_skip(&r->tokens, token, err);
	}
	if (token != PF_TOKEN_OBJECT) {
		r->map.sink.parsed.batch.event_count++;
		pf_sink_note(&r->map.sink, PF_SKIP_NOT_AN_EVENT);
		return pf_tokens_skip(&r->tokens, token, err);
	}
	return pf_json_fields_read(&r->record, &r->tokens, err) &&
	       !put_record(r, err);
}

static void begin_tool(struct pf_v3 *r)
{
	r->tool++;
	r->pid = 0;
	r->last_agent = NULL;
	pf_map_release(&r->kernels);
	pf_map_init(&r->kernels);
	pf_keys_release(&r->marks);
	pf_keys_init(&r->marks, r->dir);
	r->is_sealed = false;
	r->state = PF_V3_IN_TOOL;
}

/* ---- one token, by where the reader is; false: END or a failure ---- */

static bool at_top(struct pf_v3 *r, enum pf_token token, struct pf_err *err)
{
	(void)err;
	r->state = PF_V3_IN_TOP;
	return token == PF_TOKEN_OBJECT;
}

static bool in_top(struct pf_v3 *r, enum pf_token token, struct pf_err *err)
{
	if (token == PF_TOKEN_OBJECT_END)
		r->state = PF_V3_AT_END;
	else if (token == PF_TOKEN_KEY &&
		 pf_v3_is_text(&r->tokens, "rocprofiler-sdk-tool"))
		r->state = PF_V3_IN_TOOLS;
	else
		return pf_tokens_skip(&r->tokens, token, err);
	return true;
}

static bool in_tools(struct pf_v3 *r, enum pf_token token, struct pf_err *err)
{
	if (token == PF_TOKEN_LIST_END)
		r->state = PF_V3_IN_TOP;
	else if (token == PF_TOKEN_OBJECT)
		begin_tool(r);
	else if (token != PF_TOKEN_LIST)
		return pf_tokens_skip(&r->tokens, token, err);
	return true;
}

static bool in_tool(struct pf_v3 *r, enum pf_token token, struct pf_err *err)
{
	if (token == PF_TOKEN_OBJECT_END)
		r->state = PF_V3_IN_TOOLS;
	else if (token == PF_TOKEN_KEY)
		return read_member(r, err);
	return true;
}

static bool in_lists(struct pf_v3 *r, enum pf_token token, struct pf_err *err)
{
	struct pf_tokens *t = &r->tokens;

	if (token == PF_TOKEN_OBJECT_END) {
		r->state = PF_V3_IN_TOOL;
		return true;
	}
	if (token != PF_TOKEN_KEY)
		return pf_tokens_skip(t, token, err);
	r->list = list_of(t);
	snprintf(r->list_name, sizeof(r->list_name), "%.*s",
		 (int)(t->text_len < 39 ? t->text_len : 39), t->text);
	token = pf_tokens_next(t, err);
	if (token != PF_TOKEN_LIST)
		return pf_tokens_skip(t, token, err);
	r->state = PF_V3_IN_LIST;
	return true;
}

static bool in_list(struct pf_v3 *r, enum pf_token token, struct pf_err *err)
{
	if (token != PF_TOKEN_LIST_END)
		return read_element(r, token, err);
	r->state = PF_V3_IN_LISTS;
	return true;
}

static bool step(struct pf_v3 *r, struct pf_err *err)
{
	static bool (*const steps[])(struct pf_v3 *, enum pf_token,
				     struct pf_err *) = {
		[PF_V3_AT_TOP] = at_top,     [PF_V3_IN_TOP] = in_top,
		[PF_V3_IN_TOOLS] = in_tools, [PF_V3_IN_TOOL] = in_tool,
		[PF_V3_IN_LISTS] = in_lists, [PF_V3_IN_LIST] = in_list,
	};
	enum pf_token token = pf_tokens_next(&r->tokens, err);

	return token != PF_TOKEN_END && token != PF_TOKEN_FAILURE &&
	       steps[r->state](r, token, err);
}

/* ---- the reader ---- */

static int fill(struct pf_reader *base, size_t most, struct pf_err *err)
{
	struct pf_v3 *r = (struct pf_v3 *)base;

	pf_sink_begin(&r->map.sink);
	while (r->state != PF_V3_AT_END &&
	       !pf_sink_is_full(&r->map.sink, most)) {
		if (step(r, err))
			continue;
		if (err->code)
			return -1;
		note_cut(r);
	}
	if (r->state != PF_V3_AT_END)
		return 1;
	pf_rocm_put_devices(&r->map);
	return 0;
}

static bool fact(struct pf_reader *base, size_t i, char *key, size_t key_size,
		 int64_t *value)
{
	struct pf_v3 *r = (struct pf_v3 *)base;

	if (i >= r->rest_count)
		return false;
	snprintf(key, key_size, "rocprofv3_unread_%s", r->rest[i].name);
	*value = r->rest[i].rows;
	return true;
}

static void free_reader(struct pf_reader *base)
{
	struct pf_v3 *r = (struct pf_v3 *)base;

	pf_rocm_release(&r->map);
	pf_tokens_release(&r->tokens);
	pf_intern_release(&r->texts);
	pf_map_release(&r->kernels);
	pf_keys_release(&r->marks);
	pf_json_fields_release(&r->record);
	pf_json_fields_release(&r->agent);
	pf_json_fields_release(&r->symbol);
	free(r->ops);
	free(r);
}

#define FIELDS(list) list, sizeof(list) / sizeof(*(list))

struct pf_reader *pf_rocprofv3_new(const struct pf_rocm_stream *from,
				   const struct pf_reader_options *options)
{
	struct pf_v3 *r = pf_calloc(1, sizeof(*r));

	r->base = (struct pf_reader){ &r->map.sink.parsed, fill, fact,
				      free_reader };
	pf_rocm_init(&r->map);
	r->tokens.read = from->read;
	r->tokens.arg = from->arg;
	r->dir = options->dir;
	r->tool = -1;
	pf_intern_init(&r->texts);
	pf_map_init(&r->kernels);
	pf_keys_init(&r->marks, r->dir);
	pf_json_fields_init(&r->record, FIELDS(record_fields));
	pf_v3_init_fields(r);
	return &r->base;
}
