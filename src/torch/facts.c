/* SPDX-License-Identifier: MIT */
/*
 * The arrays grow to the largest id asked for; ids from blocks are bounded by
 * ID_MAX because a block may say anything.
 */
#include "config.h"

#include "torch/facts.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/demangle.h"
#include "base/mem.h"
#include "events/words.h"
#include "store/comm_rule.h"

#define ID_MAX (1u << 22)

int pf_facts_init(struct pf_facts *f, struct pf_db *db, struct pf_err *err)
{
	memset(f, 0, sizeof(*f));
	f->db = db;
	pf_intern_init(&f->texts);
	pf_map_init(&f->flops);
	f->empty = pf_intern_add(&f->texts, "", 0);
	f->no_shapes = pf_intern_add(&f->texts, "[]", 2);
	f->collection = pf_intern_add(&f->texts, "Python GC", 9);
	f->by_id.db = db;
	return pf_kinds_load(&f->kinds, db, err);
}

void pf_facts_release(struct pf_facts *f)
{
	pf_intern_release(&f->texts);
	pf_map_release(&f->flops);
	pf_texts_release(&f->by_id);
	free(f->names.fact);
	free(f->ops.fact);
	free(f->args);
	pf_kinds_release(&f->kinds);
	pf_buf_release(&f->scratch);
	memset(f, 0, sizeof(*f));
}

/* The text of a reference; borrowed until the statement is used again. */
static int load_text(struct pf_facts *f, enum pf_texts_of table,
		     const struct pf_text_ref *ref, struct pf_json *out,
		     struct pf_err *err)
{
	int rc;

	*out = (struct pf_json){ "", 0 };
	if (ref->id == PF_ID_NONE)
		return 0;
	if (ref->id == PF_ID_INLINE) {
		if (ref->inline_text)
			*out = (struct pf_json){ ref->inline_text,
						 ref->inline_len };
		return 0;
	}
	rc = pf_texts_get(&f->by_id, table, ref->id, &out->p, &out->len, err);
	if (rc < 0)
		return -1;
	if (rc == 0)
		return pf_fail(err, PF_EDB, "text %" PRIu32 " is missing",
			       ref->id);
	return 0;
}

static bool has_prefix(struct pf_json s, const char *prefix)
{
	size_t len = strlen(prefix);

	return s.len >= len && !memcmp(s.p, prefix, len);
}

static bool is_dropped(struct pf_json name)
{
	static const char *const dropped[] = {
		"[memory]",
		"[OutOfMemory]",
		"profiler::_record_function_enter",
		"profiler::_record_function_enter_new",
		"profiler::_record_function_exit",
		"aten::is_leaf",
		"aten::output_nr",
		"aten::_version",
	};

	for (size_t i = 0; i < sizeof(dropped) / sizeof(*dropped); i++)
		if (pf_json_is(name, dropped[i]))
			return true;
	return false;
}

/*
 * "aten::add.Tensor" -> the length of "aten::add": a namespace, a name and an
 * overload are identifiers.  The whole length where there is no overload.
 */
static size_t op_name_len(const char *p, size_t len)
{
	const char *dot = memrchr(p, '.', len);
	size_t colons = 0;

	for (size_t i = 0; dot && i < len; i++) {
		colons += p[i] == ':' && p + i < dot;
		if (p + i != dot && p[i] != '_' && p[i] != ':' &&
		    !isalnum((unsigned char)p[i]))
			return len;
	}
	return dot && colons == 2 && dot + 1 < p + len ? (size_t)(dot - p)
						       : len;
}

/* A range of a backend: "nccl:all_reduce". */
static bool is_c10d(struct pf_json name)
{
	return PF_COMM_NAME + pf_word_n(PF_WORD_COMM_OP, name.p, name.len) >=
	       PF_COMM_NCCL;
}

/*
 * torch shows every name of more than one byte through the C++ demangler
 * (StringTable in torch/autograd/profiler_util.py), user's labels too: "Pi"
 * becomes "int*".  Names of kernels were demangled by Kineto already.
 */
static struct pf_name_fact judge_name(struct pf_facts *f, struct pf_json name)
{
	static const char step[] = "ProfilerStep*";
	struct pf_name_fact fact = { 0, f->empty, PF_NAME_KNOWN };
	char *demangled = NULL;

	if (!f->plain_names || has_prefix(name, "_Z"))
		demangled = pf_demangle_take(name.p, name.len);
	fact.flags |=
		(uint8_t)(pf_flops_op(name.p, name.len) << PF_NAME_FLOP_SHIFT);
	if (is_dropped(name))
		fact.flags |= PF_NAME_DROPPED;
	if (is_c10d(name))
		fact.flags |= PF_NAME_C10D;
	if (has_prefix(name, "PyTorch Profiler (0)"))
		fact.flags |= PF_NAME_SPAN;
	if (has_prefix(name, "ProfilerStep#")) {
		fact.flags |= PF_NAME_STEP;
		name = (struct pf_json){ step, sizeof(step) - 1 };
	}
	if (demangled)
		name = (struct pf_json){ demangled, strlen(demangled) };
	fact.text = pf_intern_add(&f->texts, name.p, name.len);
	free(demangled);
	return fact;
}

/*
 * Where capture_overload_names is on Kineto writes "NAME.OVERLOAD" for an
 * operator of an overload; torch keeps the two apart, and its key is NAME.
 */
static struct pf_name_fact judge_op(struct pf_facts *f, struct pf_json name)
{
	size_t len = op_name_len(name.p, name.len);
	struct pf_name_fact fact =
		judge_name(f, (struct pf_json){ name.p, len });

	if (len < name.len)
		fact.overload = pf_intern_add(&f->texts, name.p + len + 1,
					      name.len - len - 1);
	return fact;
}

int pf_facts_name_slow(struct pf_facts *f, bool is_op,
		       const struct pf_text_ref *ref, struct pf_name_fact *out,
		       struct pf_err *err)
{
	struct pf_names *names = is_op ? &f->ops : &f->names;
	struct pf_json name;

	if (load_text(f, PF_TEXT_NAME, ref, &name, err))
		return pf_while(err, "name");
	*out = is_op ? judge_op(f, name) : judge_name(f, name);
	if (ref->id >= ID_MAX)
		return 0;
	names->fact = pf_grow_zero(names->fact, &names->cap, ref->id + 1u,
				   sizeof(*names->fact));
	names->fact[ref->id] = *out;
	return 0;
}

/* ---- argument texts ---- */

static bool is_nested(struct pf_json item)
{
	for (size_t i = 1; i < item.len; i++)
		if (item.p[i] == '[')
			return true;
	return false;
}

static void add_dims(struct pf_json item, struct pf_buf *out)
{
	struct pf_json rest = { item.p + 1, item.len - 2 }, size;
	const char *separator = "";

	pf_buf_addc(out, '[');
	while (pf_json_item(&rest, &size)) {
		pf_buf_adds(out, separator);
		pf_buf_add(out, size.p, size.len);
		separator = ", ";
	}
	pf_buf_addc(out, ']');
}

void pf_facts_shapes(struct pf_json dims, struct pf_buf *out)
{
	const char *separator = "";
	struct pf_json item;

	if (dims.p && dims.len >= 2 && *dims.p == '"')
		dims = (struct pf_json){ dims.p + 1, dims.len - 2 };
	pf_buf_addc(out, '[');
	if (dims.p && dims.len >= 2 && *dims.p == '[') {
		dims = (struct pf_json){ dims.p + 1, dims.len - 2 };
		while (pf_json_item(&dims, &item)) {
			pf_buf_adds(out, separator);
			if (*item.p == '[' && item.len >= 2 && !is_nested(item))
				add_dims(item, out);
			else
				pf_buf_adds(out, "[]");
			separator = ", ";
		}
	}
	pf_buf_addc(out, ']');
}

static uint8_t memory_flag(struct pf_json value)
{
	int64_t type;

	if (!pf_json_int(value, &type))
		return 0;
	switch (type) {
	case 0: /* CPU */
	case 2: /* MKLDNN */
	case 5: /* IDEEP */
		return PF_ARGS_CPU_MEMORY;
	case 1:  /* CUDA */
	case 6:  /* HIP */
	case 20: /* PrivateUse1 */
		return PF_ARGS_DEVICE_MEMORY;
	case 12:
		return PF_ARGS_XPU_MEMORY;
	default:
		return 0;
	}
}

static void judge_arg(struct pf_facts *f, struct pf_json key,
		      struct pf_json value, struct pf_args_fact *fact)
{
	pf_buf_clear(&f->scratch);
	if (pf_json_is(key, "Input Dims")) {
		pf_facts_shapes(value, &f->scratch);
		fact->shapes = pf_intern_add(&f->texts, f->scratch.data,
					     f->scratch.len);
	} else if (pf_json_is(key, "Call stack")) {
		pf_json_text(value, &f->scratch);
		fact->stack = pf_intern_add(
			&f->texts, f->scratch.data ? f->scratch.data : "",
			f->scratch.len);
	} else if (pf_json_is(key, "Device Type")) {
		fact->flags |= memory_flag(value);
	} else if (pf_json_is(key, "finished")) {
		if (pf_json_is(value, "false") ||
		    pf_json_is(value, "\"false\"") ||
		    pf_json_is(value, "\"False\""))
			fact->flags |= PF_ARGS_UNFINISHED;
	} else if (pf_json_is(key, "hidden")) {
		if (pf_json_is(value, "1") || pf_json_is(value, "\"1\""))
			fact->flags |= PF_ARGS_HIDDEN;
	}
}

int pf_facts_args_slow(struct pf_facts *f, const struct pf_text_ref *ref,
		       struct pf_args_fact *out, struct pf_err *err)
{
	struct pf_json rest, key, value;

	*out = (struct pf_args_fact){ f->no_shapes, f->empty, PF_ARGS_KNOWN };
	if (load_text(f, PF_TEXT_ARGS, ref, &rest, err))
		return pf_while(err, "arguments");
	while (pf_json_member(&rest, &key, &value))
		judge_arg(f, key, value, out);
	if (ref->id >= ID_MAX)
		return 0;
	f->args = pf_grow_zero(f->args, &f->args_cap, ref->id + 1u,
			       sizeof(*f->args));
	f->args[ref->id] = *out;
	return 0;
}

/* The map has nothing yet, or what is not known: no FLOPs to be kept there. */
#define NO_FLOPS      UINT64_MAX
#define UNKNOWN_FLOPS (UINT64_MAX - 1)

int pf_facts_flops(struct pf_facts *f, enum pf_flop_op op,
		   const struct pf_text_ref *args, struct pf_flops_sum *out,
		   struct pf_err *err)
{
	bool keep = args->id < ID_MAX;
	uint64_t flops = NO_FLOPS;
	struct pf_json text;

	*out = (struct pf_flops_sum){ 0 };
	if (args->id == PF_ID_NONE) {
		out->unknown_count = 1;
		return 0;
	}
	if (keep)
		flops = *pf_map_at(&f->flops, (uint64_t)args->id << 3 | op);
	if (flops < UNKNOWN_FLOPS) {
		out->low = flops;
		return 0;
	}
	if (flops == NO_FLOPS) {
		if (load_text(f, PF_TEXT_ARGS, args, &text, err))
			return pf_while(err, "arguments");
		if (pf_flops(op, text, &out->low)) {
			if (keep && out->low < UNKNOWN_FLOPS)
				*pf_map_at(&f->flops, (uint64_t)args->id << 3 |
							      op) = out->low;
			return 0;
		}
		if (keep)
			*pf_map_at(&f->flops, (uint64_t)args->id << 3 | op) =
				UNKNOWN_FLOPS;
	}
	out->unknown_count = 1;
	return 0;
}
