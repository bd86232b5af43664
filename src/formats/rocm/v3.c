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

#include "base/mem.h"
#include "formats/json/lexer.h"
#include "formats/rocm/map.h"
#include "formats/rocm/rocm.h"
#include "formats/sqlite/foreign.h"

#define KINDS_MAX 256u

enum state { AT_TOP, IN_TOP, IN_TOOLS, IN_TOOL, IN_LISTS, IN_LIST, AT_END };

/* What becomes of the records of a list. */
enum list { KERNELS, COPIES, MEMORY, SCRATCH, CALLS, UNREAD };

struct v3 {
	struct pf_reader base;
	struct pf_rocm map;
	struct pf_lexer tokens;
	enum state state;
	enum list list;
	char list_name[40];
	int64_t tool; /* from 0 */
	int64_t pid, process;
	struct pf_intern texts; /* names of kinds, operations, kernels */
	uint32_t kind_name[KINDS_MAX];
	size_t kind_first[KINDS_MAX], kind_ops[KINDS_MAX];
	size_t kind_count;
	uint32_t *ops; /* names */
	size_t op_count, ops_cap;
	struct pf_map kernels; /* of this tool: registers << 32 | name */
	struct pf_keys marks;  /* of this tool: a range's text, by its link */
	const char *dir;
	struct pf_members record, agent, symbol, mark, metadata;
};

/* What a tool of rocprofv3's JSON defines: agents, strings, kernels. */

#define OPERATIONS_MAX 65536u
#define TEXTS_MAX      (1u << 19)
#define TEXT_BYTES_MAX (64u << 20)

/* Names are kept in memory, up to a limit; past it they are lost. */
static bool has_room(const struct v3 *r)
{
	return r->texts.count < TEXTS_MAX &&
	       r->texts.bytes_len < TEXT_BYTES_MAX;
}

static bool is_named(const struct pf_lexer *t, const char *key)
{
	return pf_is(t->text, t->text_len, key);
}

/* ---- definitions ---- */

enum { HANDLE, TYPE, ORDINAL, NODE, PRODUCT, ARCHITECTURE, UNITS, WAVE, WAVES };
static const struct pf_member agent_fields[] = {
	[HANDLE] = { "id", "handle" },
	[TYPE] = { NULL, "type" },
	[ORDINAL] = { NULL, "logical_node_type_id" },
	[NODE] = { NULL, "node_id" },
	[PRODUCT] = { NULL, "product_name" },
	[ARCHITECTURE] = { NULL, "name" },
	[UNITS] = { NULL, "cu_count" },
	[WAVE] = { NULL, "wave_front_size" },
	[WAVES] = { NULL, "max_waves_per_cu" },
};
#define TYPE_GPU 2

static void take_agent(struct v3 *r)
{
	const struct pf_members *f = &r->agent;
	struct pf_rocm_agent a = {
		.set = r->tool,
		.id = pf_member_int(f, HANDLE, -1),
		.ordinal = -1,
	};
	struct pf_rocm_gpu gpu = {
		.units = pf_member_int(f, UNITS, 0),
		.wave = pf_member_int(f, WAVE, 0),
		.waves_per_unit = pf_member_int(f, WAVES, 0),
	};

	if (pf_member_int(f, TYPE, 0) == TYPE_GPU)
		a.ordinal =
			pf_member_int(f, ORDINAL, pf_member_int(f, NODE, -1));
	if (!pf_member_text(f, PRODUCT, &gpu.name, &gpu.name_len) ||
	    !gpu.name_len)
		pf_member_text(f, ARCHITECTURE, &gpu.name, &gpu.name_len);
	pf_rocm_add_agent(&r->map, &a, &gpu);
}

enum { KERNEL_ID, SHOWN, DEMANGLED, MANGLED, OWN, MORE };
static const struct pf_member symbol_fields[] = {
	[KERNEL_ID] = { NULL, "kernel_id" },
	[SHOWN] = { NULL, "formatted_kernel_name" },
	[DEMANGLED] = { NULL, "demangled_kernel_name" },
	[MANGLED] = { NULL, "kernel_name" },
	[OWN] = { NULL, "arch_vgpr_count" },
	[MORE] = { NULL, "accum_vgpr_count" },
};

static void take_symbol(struct v3 *r)
{
	const struct pf_members *f = &r->symbol;
	int64_t id = pf_member_int(f, KERNEL_ID, -1);
	uint32_t registers = pf_rocm_registers(pf_member_int(f, OWN, -1),
					       pf_member_int(f, MORE, -1));
	const char *text;
	size_t len;
	unsigned i = SHOWN;

	while (i <= MANGLED && !pf_member_text(f, i, &text, &len))
		i++;
	if (id < 0 || i > MANGLED || !has_room(r))
		return;
	*pf_map_at(&r->kernels, (uint64_t)id) =
		(uint64_t)registers << 32 | pf_intern_add(&r->texts, text, len);
}

/* Each object of a list, of which a field table is read. */
static void read_objects(struct v3 *r, struct pf_members *f,
			 void (*take)(struct v3 *))
{
	if (pf_lexer_open(&r->tokens, PF_LEXER_LIST))
		while (pf_lexer_element(&r->tokens, PF_LEXER_OBJECT) &&
		       pf_members_read(f, &r->tokens))
			take(r);
}

/* A list of texts, which become the operations of a kind. */
static void read_operations(struct v3 *r, size_t kind)
{
	if (!pf_lexer_open(&r->tokens, PF_LEXER_LIST))
		return;
	r->kind_first[kind] = r->op_count;
	while (pf_lexer_element(&r->tokens, PF_LEXER_TEXT)) {
		if (r->op_count == OPERATIONS_MAX)
			continue;
		*PF_ONE_MORE(r->ops, r->op_count, r->ops_cap) = pf_intern_add(
			&r->texts, r->tokens.text, r->tokens.text_len);
		r->kind_ops[kind]++;
	}
}

/* {"kind": "HIP_RUNTIME_API", "operations": [...]} */
static void read_kind(struct v3 *r)
{
	size_t kind =
		r->kind_count < KINDS_MAX ? r->kind_count++ : KINDS_MAX - 1;
	struct pf_lexer *t = &r->tokens;

	r->kind_name[kind] = pf_intern_add(&r->texts, "", 0);
	r->kind_ops[kind] = 0;
	while (pf_lexer_key(t)) {
		bool is_kind = is_named(t, "kind");

		if (is_named(t, "operations"))
			read_operations(r, kind);
		else if (pf_lexer_open(t, PF_LEXER_TEXT) && is_kind)
			r->kind_name[kind] =
				pf_intern_add(&r->texts, t->text, t->text_len);
	}
}

static void read_kinds(struct v3 *r)
{
	if (!pf_lexer_open(&r->tokens, PF_LEXER_LIST))
		return;
	r->kind_count = r->op_count = 0;
	while (pf_lexer_element(&r->tokens, PF_LEXER_OBJECT))
		read_kind(r);
}

/* [{"key": link, "value": "a range's text"}] */
enum { MARK_KEY, MARK_TEXT };
static const struct pf_member mark_fields[] = {
	[MARK_KEY] = { NULL, "key" },
	[MARK_TEXT] = { NULL, "value" },
};

static void take_mark(struct v3 *r)
{
	const char *text;
	size_t len;

	if (!r->marks.is_sealed && has_room(r) &&
	    pf_member_text(&r->mark, MARK_TEXT, &text, &len))
		pf_keys_add(&r->marks, pf_member_int(&r->mark, MARK_KEY, 0),
			    pf_intern_add(&r->texts, text, len), r->tokens.err);
}

static void read_strings(struct v3 *r)
{
	struct pf_lexer *t = &r->tokens;

	if (!pf_lexer_open(t, PF_LEXER_OBJECT))
		return;
	while (pf_lexer_key(t)) {
		if (is_named(t, "buffer_records"))
			read_kinds(r);
		else if (is_named(t, "marker_api"))
			read_objects(r, &r->mark, take_mark);
		else
			pf_lexer_pass(t);
	}
}

/* Of what the tool says of its run: the process, and no command line. */
static const struct pf_member metadata_fields[] = { { NULL, "pid" } };

static void read_metadata(struct v3 *r)
{
	if (pf_lexer_open(&r->tokens, PF_LEXER_OBJECT) &&
	    pf_members_read(&r->metadata, &r->tokens))
		r->pid = pf_member_int(&r->metadata, 0, 0);
}

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
	SHAPE,
	FROM = SHAPE + PF_ROCM_SHAPE,
	TO,
	BYTES,
	SIZE,
	ADDRESS,
	ADDRESS_HANDLE,
	OWNER,
	RECORD_FIELDS
};
static const struct pf_member record_fields[] = {
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
	[SHAPE] = { "dispatch_info", "private_segment_size" },
	[SHAPE + 1] = { "dispatch_info", "group_segment_size" },
	[SHAPE + 2] = { "workgroup_size", "x" },
	[SHAPE + 3] = { "workgroup_size", "y" },
	[SHAPE + 4] = { "workgroup_size", "z" },
	[SHAPE + 5] = { "grid_size", "x" },
	[SHAPE + 6] = { "grid_size", "y" },
	[SHAPE + 7] = { "grid_size", "z" },
	[FROM] = { "src_agent_id", "handle" },
	[TO] = { "dst_agent_id", "handle" },
	[BYTES] = { NULL, "bytes" },
	[SIZE] = { NULL, "allocation_size" },
	[ADDRESS] = { NULL, "address" },
	[ADDRESS_HANDLE] = { "address", "handle" },
	[OWNER] = { NULL, "size" }, /* of the record: told apart, not used */
};

static int64_t number(const struct v3 *r, unsigned field)
{
	int64_t v = pf_member_int(&r->record, field, -1);

	return v < 0 ? -1 : v;
}

static bool read_times(struct v3 *r, struct pf_sink_put *put)
{
	const struct pf_members *f = &r->record;

	if (f->values[START].is == PF_MEMBER_NONE) {
		pf_sink_note(&r->map.sink, PF_SKIP_NO_TIME);
		return false;
	}
	if (f->values[START].is != PF_MEMBER_INT ||
	    (f->values[END].is && f->values[END].is != PF_MEMBER_INT)) {
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

static const char *kind_text(const struct v3 *r, size_t *len)
{
	int64_t kind = number(r, KIND);

	*len = 0;
	if (kind < 0 || kind >= (int64_t)r->kind_count)
		return "";
	return pf_intern_text(&r->texts, r->kind_name[kind], len);
}

/* "HIP_RUNTIME_API 17" where there is no such operation. */
static const char *operation_text(struct v3 *r, char own[64], size_t *len)
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

static int64_t device_of(struct v3 *r, unsigned field)
{
	return pf_rocm_device(&r->map, r->tool, number(r, field));
}

static struct pf_work_place place_of(struct v3 *r, int64_t device)
{
	return pf_rocm_place(r->process, r->pid, device, number(r, QUEUE),
			     number(r, STREAM), number(r, LINK));
}

static void put_kernel(struct v3 *r, struct pf_sink_put *put)
{
	struct pf_work_place place = place_of(r, device_of(r, AGENT));
	int64_t id = number(r, KERNEL), shape[PF_ROCM_SHAPE];
	struct pf_work_launch l;
	uint64_t found = UINT64_MAX;
	const char *text;
	char own[48];
	size_t len;

	for (unsigned i = 0; i < PF_ROCM_SHAPE; i++)
		shape[i] = number(r, SHAPE + i);
	l = pf_rocm_launch(shape);
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
	pf_work_kernel(&r->map.sink, &place, &l, put);
}

static void put_copy(struct v3 *r, struct pf_sink_put *put)
{
	struct pf_work_place place = place_of(r, -1);
	struct pf_rocm_copy copy = { 0 };
	char own[64];

	copy.name = operation_text(r, own, &copy.name_len);
	copy.bytes = number(r, BYTES);
	copy.from = device_of(r, FROM);
	copy.to = device_of(r, TO);
	pf_rocm_put_copy(&r->map, &place, &copy, put);
}

static struct pf_rocm_call call_of(struct v3 *r)
{
	struct pf_rocm_call c = {
		.process = r->process,
		.pid = r->pid,
		.tid = pf_member_int(&r->record, THREAD, 0),
		.id = number(r, LINK),
	};
	const char *text;
	size_t len;

	text = kind_text(r, &len);
	c.domain = pf_rocm_domain(text, len);
	return c;
}

static void put_memory(struct v3 *r, struct pf_sink_put *put)
{
	struct pf_rocm_call c = call_of(r);
	struct pf_rocm_memory m = { .is_scratch = r->list == SCRATCH };
	int64_t address = number(r, ADDRESS_HANDLE);
	char own[64];

	if (address < 0)
		address = number(r, ADDRESS);
	m.what = operation_text(r, own, &m.what_len);
	m.device = device_of(r, AGENT);
	m.bytes = number(r, SIZE);
	m.address = address < 0 ? 0 : (uint64_t)address;
	pf_rocm_put_memory(&r->map, &c, &m, put);
}

static void put_call(struct v3 *r, struct pf_sink_put *put)
{
	struct pf_rocm_call c = call_of(r);
	int64_t text = 0;
	char own[64];

	c.name = operation_text(r, own, &c.name_len);
	if (c.domain->category == PF_CAT_RANGE) {
		c.function = c.name;
		c.function_len = c.name_len;
		if (pf_keys_find(&r->marks, c.id, &text, r->tokens.err))
			c.name = pf_intern_text(&r->texts, (uint32_t)text,
						&c.name_len);
	}
	pf_rocm_put_call(&r->map, &c, put);
}

static void put_record(struct v3 *r)
{
	struct pf_sink_put put = { 0 };

	if (read_times(r, &put)) {
		if (r->list == KERNELS)
			put_kernel(r, &put);
		else if (r->list == COPIES)
			put_copy(r, &put);
		else if (r->list == CALLS)
			put_call(r, &put);
		else
			put_memory(r, &put);
	}
	r->map.sink.parsed.batch.event_count++;
}

/* ---- places ---- */

static enum list list_of(const struct pf_lexer *t)
{
	static const struct {
		const char *name;
		enum list list;
	} lists[] = {
		{ "kernel_dispatch", KERNELS },
		{ "memory_copy", COPIES },
		{ "memory_allocation", MEMORY },
		{ "scratch_memory", SCRATCH },
	};
	static const char api[] = "_api";
	size_t n = sizeof(api) - 1;

	for (size_t i = 0; i < PF_LEN(lists); i++)
		if (is_named(t, lists[i].name))
			return lists[i].list;
	return t->text_len > n && !memcmp(t->text + t->text_len - n, api, n)
		       ? CALLS
		       : UNREAD;
}

/* A member of a tool, whose key is at hand. */
static void read_member(struct v3 *r)
{
	struct pf_lexer *t = &r->tokens;

	if (is_named(t, "metadata")) {
		read_metadata(r);
	} else if (is_named(t, "agents")) {
		read_objects(r, &r->agent, take_agent);
	} else if (is_named(t, "kernel_symbols")) {
		read_objects(r, &r->symbol, take_symbol);
	} else if (is_named(t, "strings")) {
		read_strings(r);
	} else if (!is_named(t, "buffer_records") &&
		   !is_named(t, "callback_records")) {
		pf_lexer_pass(t);
	} else if (pf_lexer_open(t, PF_LEXER_OBJECT)) {
		r->process = pf_sink_process(&r->map.sink, (uint64_t)r->tool);
		pf_keys_seal(&r->marks, t->err);
		r->state = IN_LISTS;
	}
}

static void read_element(struct v3 *r)
{
	struct pf_lexer *t = &r->tokens;

	if (r->list == UNREAD) {
		pf_sink_unread(&r->map.sink, r->list_name, strlen(r->list_name),
			       1, pf_lexer_offset(t));
		pf_lexer_skip(t);
	} else if (t->kind != PF_LEXER_OBJECT) {
		r->map.sink.parsed.batch.event_count++;
		pf_sink_note(&r->map.sink, PF_SKIP_NOT_AN_EVENT);
		pf_lexer_skip(t);
	} else if (pf_members_read(&r->record, t)) {
		put_record(r);
	}
}

static void begin_tool(struct v3 *r)
{
	r->tool++;
	r->pid = 0;
	pf_map_release(&r->kernels);
	pf_keys_release(&r->marks);
	pf_keys_init(&r->marks, r->dir);
	r->state = IN_TOOL;
}

/* ---- one token, by where the reader is ---- */

static void in_lists(struct v3 *r)
{
	struct pf_lexer *t = &r->tokens;

	if (t->kind != PF_LEXER_KEY) {
		pf_lexer_skip(t);
		return;
	}
	r->list = list_of(t);
	snprintf(r->list_name, sizeof(r->list_name), "%.*s",
		 (int)(t->text_len < 39 ? t->text_len : 39), t->text);
	if (pf_lexer_open(t, PF_LEXER_LIST))
		r->state = IN_LIST;
}

static void step(struct v3 *r)
{
	static const struct {
		enum pf_lexer_kind end; /* of where it is, */
		enum state outside;
	} ends[] = {
		[IN_TOP] = { PF_LEXER_OBJECT_END, AT_END },
		[IN_TOOLS] = { PF_LEXER_LIST_END, IN_TOP },
		[IN_TOOL] = { PF_LEXER_OBJECT_END, IN_TOOLS },
		[IN_LISTS] = { PF_LEXER_OBJECT_END, IN_TOOL },
		[IN_LIST] = { PF_LEXER_LIST_END, IN_LISTS },
	};
	struct pf_lexer *t = &r->tokens;
	enum pf_lexer_kind token = pf_lexer_next(t);

	if (token == PF_LEXER_END)
		return;
	if (r->state != AT_TOP && token == ends[r->state].end) {
		r->state = ends[r->state].outside;
		return;
	}
	switch (r->state) {
	case AT_TOP:
		if (token == PF_LEXER_OBJECT)
			r->state = IN_TOP;
		else
			t->kind = PF_LEXER_END;
		break;
	case IN_TOP:
		if (token == PF_LEXER_KEY &&
		    is_named(t, "rocprofiler-sdk-tool"))
			r->state = IN_TOOLS;
		else
			pf_lexer_skip(t);
		break;
	case IN_TOOLS:
		if (token == PF_LEXER_OBJECT)
			begin_tool(r);
		else if (token != PF_LEXER_LIST)
			pf_lexer_skip(t);
		break;
	case IN_TOOL:
		if (token == PF_LEXER_KEY)
			read_member(r);
		break;
	case IN_LISTS:
		in_lists(r);
		break;
	case IN_LIST:
		read_element(r);
		break;
	case AT_END:
		break;
	}
}

/* ---- the reader ---- */

static int fill(struct pf_reader *base, size_t most, struct pf_err *err)
{
	struct v3 *r = (struct v3 *)base;

	r->tokens.err = err;
	pf_sink_begin(&r->map.sink);
	while (r->state != AT_END && !pf_sink_is_full(&r->map.sink, most)) {
		step(r);
		PF_TRY(err->code);
		if (r->tokens.kind == PF_LEXER_END) {
			pf_repair_note(&r->map.sink.parsed.batch.repairs,
				       PF_REPAIR_CUT_OFF, 1,
				       pf_lexer_offset(&r->tokens));
			r->state = AT_END;
		}
	}
	if (r->state != AT_END)
		return 1;
	pf_sink_put_gpus(&r->map.sink);
	return 0;
}

static bool fact(struct pf_reader *base, size_t i, char *key, size_t key_size,
		 int64_t *value)
{
	struct v3 *r = (struct v3 *)base;

	return pf_sink_fact(&r->map.sink, "rocprofv3", i, key, key_size, value);
}

static void free_reader(struct pf_reader *base)
{
	PF_OWN struct v3 *r = (struct v3 *)base;

	pf_rocm_release(&r->map);
	pf_lexer_release(&r->tokens);
	pf_intern_release(&r->texts);
	pf_map_release(&r->kernels);
	pf_keys_release(&r->marks);
	pf_members_release(&r->record);
	pf_members_release(&r->agent);
	pf_members_release(&r->symbol);
	pf_members_release(&r->mark);
	pf_members_release(&r->metadata);
	free(r->ops);
}

struct pf_reader *pf_rocprofv3_new(const struct pf_rocm_stream *from,
				   const struct pf_reader_options *options)
{
	struct v3 *r = pf_calloc(1, sizeof(*r));

	r->base = (struct pf_reader){ &r->map.sink.parsed, fill, fact,
				      free_reader };
	pf_rocm_init(&r->map);
	r->tokens.read = from->read;
	r->tokens.arg = from->arg;
	r->dir = options->dir;
	r->tool = -1;
	pf_keys_init(&r->marks, r->dir);
	pf_members_init(&r->record, PF_COLUMNS(record_fields));
	pf_members_init(&r->agent, PF_COLUMNS(agent_fields));
	pf_members_init(&r->symbol, PF_COLUMNS(symbol_fields));
	pf_members_init(&r->mark, PF_COLUMNS(mark_fields));
	pf_members_init(&r->metadata, PF_COLUMNS(metadata_fields));
	return &r->base;
}
