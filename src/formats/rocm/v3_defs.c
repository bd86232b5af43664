/* SPDX-License-Identifier: MIT */
/* What a tool of rocprofv3's JSON defines: agents, strings, kernels. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "formats/rocm/v3_impl.h"

#define OPERATIONS_MAX 65536u
#define TEXTS_MAX      (1u << 19)
#define TEXT_BYTES_MAX (64u << 20)

/* Names are kept in memory, up to a limit; past it they are lost. */
static bool has_room(const struct pf_v3 *r)
{
	return r->texts.count < TEXTS_MAX &&
	       r->texts.bytes_len < TEXT_BYTES_MAX;
}

/* ---- definitions ---- */

enum { HANDLE, TYPE, ORDINAL, NODE, PRODUCT, ARCHITECTURE, UNITS, WAVE, WAVES };
static const struct pf_json_field agent_fields[] = {
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

static void take_agent(struct pf_v3 *r)
{
	const struct pf_json_fields *f = &r->agent;
	struct pf_rocm_agent a = {
		.set = r->tool,
		.id = pf_json_field_int(f, HANDLE, -1),
		.ordinal = -1,
	};
	struct pf_rocm_gpu gpu = {
		.units = pf_json_field_int(f, UNITS, 0),
		.wave = pf_json_field_int(f, WAVE, 0),
		.waves_per_unit = pf_json_field_int(f, WAVES, 0),
	};

	if (pf_json_field_int(f, TYPE, 0) == TYPE_GPU)
		a.ordinal = pf_json_field_int(f, ORDINAL,
					      pf_json_field_int(f, NODE, -1));
	if (!pf_json_field_text(f, PRODUCT, &gpu.name, &gpu.name_len) ||
	    !gpu.name_len)
		pf_json_field_text(f, ARCHITECTURE, &gpu.name, &gpu.name_len);
	pf_rocm_add_agent(&r->map, &a, &gpu);
}

enum { KERNEL_ID, SHOWN, DEMANGLED, MANGLED, OWN, MORE };
static const struct pf_json_field symbol_fields[] = {
	[KERNEL_ID] = { NULL, "kernel_id" },
	[SHOWN] = { NULL, "formatted_kernel_name" },
	[DEMANGLED] = { NULL, "demangled_kernel_name" },
	[MANGLED] = { NULL, "kernel_name" },
	[OWN] = { NULL, "arch_vgpr_count" },
	[MORE] = { NULL, "accum_vgpr_count" },
};

static void take_symbol(struct pf_v3 *r)
{
	const struct pf_json_fields *f = &r->symbol;
	int64_t id = pf_json_field_int(f, KERNEL_ID, -1);
	int64_t own = pf_json_field_int(f, OWN, -1);
	int64_t more = pf_json_field_int(f, MORE, -1);
	uint32_t registers = PF_KINETO_UNKNOWN;
	const char *text;
	size_t len;
	unsigned i = SHOWN;

	if (own >= 0 && more >= 0 && own < 1 << 20 && more < 1 << 20)
		registers = (uint32_t)(own + more);
	while (i <= MANGLED && !pf_json_field_text(f, i, &text, &len))
		i++;
	if (id < 0 || i > MANGLED || !has_room(r))
		return;
	*pf_map_at(&r->kernels, (uint64_t)id) =
		(uint64_t)registers << 32 | pf_intern_add(&r->texts, text, len);
}

/* Each object of a list, of which a field table is read. */
static bool read_objects(struct pf_v3 *r, struct pf_json_fields *f,
			 void (*take)(struct pf_v3 *), struct pf_err *err)
{
	enum pf_token token = pf_tokens_next(&r->tokens, err);

	if (token != PF_TOKEN_LIST)
		return pf_tokens_skip(&r->tokens, token, err);
	while ((token = pf_tokens_next(&r->tokens, err)) != PF_TOKEN_LIST_END) {
		if (token != PF_TOKEN_OBJECT) {
			if (!pf_tokens_skip(&r->tokens, token, err))
				return false;
			continue;
		}
		if (!pf_json_fields_read(f, &r->tokens, err))
			return false;
		take(r);
	}
	return true;
}

bool pf_v3_is_text(const struct pf_tokens *t, const char *word)
{
	return t->text_len == strlen(word) &&
	       !memcmp(t->text, word, t->text_len);
}

/* A list of texts, which become the operations of a kind. */
static bool read_operations(struct pf_v3 *r, size_t kind, struct pf_err *err)
{
	enum pf_token token = pf_tokens_next(&r->tokens, err);

	if (token != PF_TOKEN_LIST)
		return pf_tokens_skip(&r->tokens, token, err);
	r->kind_first[kind] = r->op_count;
	while ((token = pf_tokens_next(&r->tokens, err)) != PF_TOKEN_LIST_END) {
		if (token != PF_TOKEN_TEXT) {
			if (!pf_tokens_skip(&r->tokens, token, err))
				return false;
			continue;
		}
		if (r->op_count == OPERATIONS_MAX)
			continue;
		r->ops = pf_grow(r->ops, &r->ops_cap, r->op_count + 1,
				 sizeof(*r->ops));
		r->ops[r->op_count++] = pf_intern_add(&r->texts, r->tokens.text,
						      r->tokens.text_len);
		r->kind_ops[kind]++;
	}
	return true;
}

/* {"kind": "HIP_RUNTIME_API", "operations": [...]} */
static bool read_kind(struct pf_v3 *r, struct pf_err *err)
{
	size_t kind = r->kind_count < PF_V3_KINDS_MAX ? r->kind_count++
						      : PF_V3_KINDS_MAX - 1;
	enum pf_token token;

	r->kind_name[kind] = pf_intern_add(&r->texts, "", 0);
	r->kind_ops[kind] = 0;
	while ((token = pf_tokens_next(&r->tokens, err)) !=
	       PF_TOKEN_OBJECT_END) {
		bool is_kind;

		if (token != PF_TOKEN_KEY)
			return false;
		is_kind = pf_v3_is_text(&r->tokens, "kind");
		if (!is_kind && pf_v3_is_text(&r->tokens, "operations")) {
			if (!read_operations(r, kind, err))
				return false;
			continue;
		}
		token = pf_tokens_next(&r->tokens, err);
		if (is_kind && token == PF_TOKEN_TEXT)
			r->kind_name[kind] = pf_intern_add(
				&r->texts, r->tokens.text, r->tokens.text_len);
		if (!pf_tokens_skip(&r->tokens, token, err))
			return false;
	}
	return true;
}

static bool read_kinds(struct pf_v3 *r, struct pf_err *err)
{
	enum pf_token token = pf_tokens_next(&r->tokens, err);

	if (token != PF_TOKEN_LIST)
		return pf_tokens_skip(&r->tokens, token, err);
	r->kind_count = r->op_count = 0;
	while ((token = pf_tokens_next(&r->tokens, err)) != PF_TOKEN_LIST_END)
		if (token == PF_TOKEN_OBJECT
			    ? !read_kind(r, err)
			    : !pf_tokens_skip(&r->tokens, token, err))
			return false;
	return true;
}

/* [{"key": link, "value": "a range's text"}] */
enum { MARK_KEY, MARK_TEXT };
static const struct pf_json_field mark_fields[] = {
	[MARK_KEY] = { NULL, "key" },
	[MARK_TEXT] = { NULL, "value" },
};

static bool read_marks(struct pf_v3 *r, struct pf_err *err)
{
	struct pf_json_fields f;
	enum pf_token token = pf_tokens_next(&r->tokens, err);
	bool good = true;

	if (token != PF_TOKEN_LIST)
		return pf_tokens_skip(&r->tokens, token, err);
	pf_json_fields_init(&f, mark_fields, 2);
	while (good &&
	       (token = pf_tokens_next(&r->tokens, err)) != PF_TOKEN_LIST_END) {
		const char *text;
		size_t len;

		if (token != PF_TOKEN_OBJECT) {
			good = pf_tokens_skip(&r->tokens, token, err);
			continue;
		}
		good = pf_json_fields_read(&f, &r->tokens, err);
		if (good && !r->is_sealed && has_room(r) &&
		    pf_json_field_text(&f, MARK_TEXT, &text, &len) &&
		    pf_keys_add(&r->marks, pf_json_field_int(&f, MARK_KEY, 0),
				pf_intern_add(&r->texts, text, len), err))
			good = false;
	}
	pf_json_fields_release(&f);
	return good;
}

bool pf_v3_read_strings(struct pf_v3 *r, struct pf_err *err)
{
	enum pf_token token = pf_tokens_next(&r->tokens, err);
	bool good = true;

	if (token != PF_TOKEN_OBJECT)
		return pf_tokens_skip(&r->tokens, token, err);
	while (good && (token = pf_tokens_next(&r->tokens, err)) !=
			       PF_TOKEN_OBJECT_END) {
		if (token != PF_TOKEN_KEY)
			return false;
		if (pf_v3_is_text(&r->tokens, "buffer_records"))
			good = read_kinds(r, err);
		else if (pf_v3_is_text(&r->tokens, "marker_api"))
			good = read_marks(r, err);
		else
			good = pf_tokens_skip(&r->tokens,
					      pf_tokens_next(&r->tokens, err),
					      err);
	}
	return good;
}

/* Of what the tool says of its run: the process, and no command line. */
bool pf_v3_read_metadata(struct pf_v3 *r, struct pf_err *err)
{
	static const struct pf_json_field fields[] = { { NULL, "pid" } };
	struct pf_json_fields f;
	enum pf_token token = pf_tokens_next(&r->tokens, err);
	bool good;

	if (token != PF_TOKEN_OBJECT)
		return pf_tokens_skip(&r->tokens, token, err);
	pf_json_fields_init(&f, fields, 1);
	good = pf_json_fields_read(&f, &r->tokens, err);
	if (good)
		r->pid = pf_json_field_int(&f, 0, 0);
	pf_json_fields_release(&f);
	return good;
}

/* ---- */

bool pf_v3_read_agents(struct pf_v3 *r, struct pf_err *err)
{
	return read_objects(r, &r->agent, take_agent, err);
}

bool pf_v3_read_symbols(struct pf_v3 *r, struct pf_err *err)
{
	return read_objects(r, &r->symbol, take_symbol, err);
}

#define FIELDS(list) list, sizeof(list) / sizeof(*(list))

void pf_v3_init_fields(struct pf_v3 *r)
{
	pf_json_fields_init(&r->agent, FIELDS(agent_fields));
	pf_json_fields_init(&r->symbol, FIELDS(symbol_fields));
}
