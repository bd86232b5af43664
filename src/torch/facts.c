/* SPDX-License-Identifier: MIT */
/*
 * The arrays grow to the largest id asked for; ids from blocks are bounded by
 * ID_MAX because a block may say anything.
 */
#include "config.h"

#include "torch/impl.h"

#include <ctype.h>
#include <inttypes.h>

#include "base/demangle.h"
#include "base/heap.h"
#include "base/mem.h"
#include "base/port.h"
#include "store/comm_rule.h"

/*
 * A binary heap of tracks by their current event.  A track's stored order is
 * (start, -end, file order); events that tie in start and end are put into
 * torch's order in a small window (TIES_MAX; longer ties keep file order).
 *
 * Invariants: heap[0..live) are tracks with at least one event in their
 * window, the smallest key on top; a window never spans two blocks, because
 * inline texts are borrowed from the block.
 */

#define TIES_MAX 256

struct source {
	struct pf_cursor *cursor;
	const struct pf_block *block;
	struct pf_fe *window;
	size_t window_cap;
	uint32_t at, filled;
	uint32_t pos;                    /* next event of the block */
	uint32_t slot_at[PF_SLOT_COUNT]; /* values used of each slot */
	size_t inline_at;
	uint32_t track;
};

struct pf_merge {
	struct pf_facts *facts;
	struct source *sources;
	struct source **heap;
	size_t count, live;
	int64_t rival_ns; /* the earliest start below the top of the heap */
	uint32_t kinds, slots;
	bool names, args, started;
};

static bool is_before(const struct pf_fe *a, const struct pf_fe *b)
{
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns;
	if (a->end_ns != b->end_ns)
		return a->end_ns > b->end_ns;
	if (a->is_late != b->is_late)
		return b->is_late;
	if (a->position != b->position)
		return a->position < b->position;
	return a->track < b->track;
}

/* ---- one track ---- */

static void take_inline(struct source *s, struct pf_text_ref *ref)
{
	const struct pf_buf *text = &s->block->inline_text;
	uint32_t len;

	if (text->len < s->inline_at + 4)
		return;
	len = (uint32_t)(unsigned char)text->data[s->inline_at] |
	      (uint32_t)(unsigned char)text->data[s->inline_at + 1] << 8 |
	      (uint32_t)(unsigned char)text->data[s->inline_at + 2] << 16 |
	      (uint32_t)(unsigned char)text->data[s->inline_at + 3] << 24;
	if (len > text->len - s->inline_at - 4)
		return;
	ref->inline_text = text->data + s->inline_at + 4;
	ref->inline_len = len;
	s->inline_at += 4 + (size_t)len;
}

static int64_t take_slot(struct source *s, unsigned slot)
{
	uint32_t at = s->slot_at[slot]++;

	return at < s->block->slot_count[slot] ? s->block->slot[slot][at] : 0;
}

static int64_t end_ns(const struct pf_block *b, uint32_t i)
{
	int64_t dur = b->dur_ns[i] > 0 ? b->dur_ns[i] : 0, end;

	if (__builtin_add_overflow(b->start_ns[i], dur, &end))
		return INT64_MAX;
	return end;
}

/* Kinds that torch knows before it reads Kineto's own events. */
static bool is_torch_event(unsigned kind)
{
	return kind == PF_KIND_CPU_OP || kind == PF_KIND_ANNOTATION ||
	       kind == PF_KIND_PYTHON || kind == PF_KIND_MEMORY ||
	       kind == PF_KIND_OOM;
}

/* Pass over the slots of an event that is not wanted. */
static void skip_slots(const struct pf_merge *m, struct source *s,
		       uint32_t mask)
{
	for (uint32_t left = mask & m->slots; left; left &= left - 1)
		s->slot_at[__builtin_ctz(left)]++;
}

/* Inline texts lie in event order. */
static void take_texts(struct source *s, struct pf_fe *e)
{
	if (e->name.id == PF_ID_INLINE)
		take_inline(s, &e->name);
	if (e->args.id == PF_ID_INLINE)
		take_inline(s, &e->args);
}

#define RARE_SLOTS                                                             \
	(1u << PF_SLOT_SEQUENCE | 1u << PF_SLOT_FWD_THREAD |                   \
	 1u << PF_SLOT_PY_ID | 1u << PF_SLOT_PY_PARENT | 1u << PF_SLOT_BYTES)

/* What few readers ask for; of others it stays 0. */
static void take_rare(struct source *s, uint32_t has, struct pf_fe *e)
{
	const struct {
		unsigned slot;
		int64_t *to;
	} rare[] = {
		{ PF_SLOT_SEQUENCE, &e->sequence },
		{ PF_SLOT_FWD_THREAD, &e->forward_thread },
		{ PF_SLOT_PY_ID, &e->python_id },
		{ PF_SLOT_PY_PARENT, &e->python_parent },
		{ PF_SLOT_BYTES, &e->bytes },
	};

	for (size_t i = 0; i < PF_LEN(rare); i++)
		*rare[i].to = has >> rare[i].slot & 1
				      ? take_slot(s, rare[i].slot)
				      : 0;
}

/* Decode event s->pos into "e" and go on; false: not a kind asked for. */
static bool take_event(const struct pf_merge *m, struct source *s,
		       struct pf_fe *e)
{
	const struct pf_block *b = s->block;
	uint32_t i = s->pos++;
	unsigned kind = pf_facts_kind(m->facts, b->type[i]);
	uint32_t mask = b->mask[i], has = mask & m->slots;
	int64_t ev_idx = 0;

	e->name = (struct pf_text_ref){ .id = m->names ? b->name[i]
						       : PF_ID_NONE };
	e->args =
		(struct pf_text_ref){ .id = m->args ? b->args[i] : PF_ID_NONE };
	if (m->args && b->inline_text.len)
		take_texts(s, e);
	if (!(m->kinds >> kind & 1)) {
		skip_slots(m, s, mask);
		return false;
	}
	e->kind = (uint8_t)kind;
	e->external_id = has & 1u << PF_SLOT_EXTERNAL_ID
				 ? take_slot(s, PF_SLOT_EXTERNAL_ID)
				 : 0;
	e->correlation = has & 1u << PF_SLOT_CORRELATION
				 ? take_slot(s, PF_SLOT_CORRELATION)
				 : 0;
	if (has & 1u << PF_SLOT_EV_IDX)
		ev_idx = take_slot(s, PF_SLOT_EV_IDX);
	if (m->slots & RARE_SLOTS)
		take_rare(s, has, e);
	e->start_ns = b->start_ns[i];
	e->end_ns = end_ns(b, i);
	e->mask = mask;
	e->track = s->track;
	e->is_late = !(mask & 1u << PF_SLOT_EV_IDX) || !is_torch_event(kind);
	e->position = e->is_late || !(has & 1u << PF_SLOT_EV_IDX) ? b->order[i]
								  : ev_idx;
	return true;
}

static int next_block(struct source *s, struct pf_err *err)
{
	uint32_t first_seq;
	int rc = pf_cursor_block(s->cursor, &s->block, &first_seq, err);

	s->pos = 0;
	s->inline_at = 0;
	memset(s->slot_at, 0, sizeof(s->slot_at));
	return rc;
}

/* Does the next event of the block tie with those of the window? */
static bool ties(const struct source *s)
{
	const struct pf_block *b = s->block;

	return s->pos < b->count && s->filled < TIES_MAX &&
	       b->start_ns[s->pos] == s->window->start_ns &&
	       end_ns(b, s->pos) == s->window->end_ns;
}

/* Put the last event of the window in its place among the ties. */
static void sort_in(struct source *s)
{
	uint32_t i = s->filled - 1;
	struct pf_fe e = s->window[i];

	for (; i && is_before(&e, &s->window[i - 1]); i--)
		s->window[i] = s->window[i - 1];
	s->window[i] = e;
}

/* Fill the window again: 1, 0 at the end of the track, -1 on error. */
static int refill(const struct pf_merge *m, struct source *s,
		  struct pf_err *err)
{
	s->at = s->filled = 0;
	while (!s->filled || ties(s)) {
		if (!s->block || s->pos >= s->block->count) {
			int rc = next_block(s, err);

			if (rc <= 0)
				return rc;
			continue;
		}
		if (s->filled == s->window_cap)
			PF_ROOM_ZERO(s->window, s->window_cap, s->filled + 1u);
		if (take_event(m, s, &s->window[s->filled]) && s->filled++)
			sort_in(s);
	}
	return 1;
}

/* ---- the heap ---- */

static const struct pf_fe *head(const struct source *s)
{
	return &s->window[s->at];
}

static bool head_is_before(const void *a, const void *b)
{
	const struct source *const *x = a, *const *y = b;

	return is_before(head(*x), head(*y));
}

/* The top may be too large for its place. */
static void settle_top(struct pf_merge *m)
{
	pf_heap_sink(m->heap, sizeof(*m->heap), m->live, 0, head_is_before);
	m->rival_ns = INT64_MAX;
	for (size_t i = 1; i < m->live && i <= 2; i++)
		PF_AT_MOST(m->rival_ns, head(m->heap[i])->start_ns);
}

static int open_source(struct pf_merge *m, struct pf_db *db,
		       const struct pf_merge_args *args, uint32_t track,
		       struct pf_err *err)
{
	struct source *s = &m->sources[m->count++];
	uint64_t columns = args->columns | PF_COLBIT(PF_COL_START) |
			   PF_COLBIT(PF_COL_DUR) | PF_COLBIT(PF_COL_ORDER) |
			   PF_COLBIT(PF_COL_TYPE) | PF_COLBIT(PF_COL_MASK);
	int rc;

	if (m->args)
		columns |= PF_COLBIT(PF_COL_INLINE) | PF_COLBIT(PF_COL_NAME);
	s->track = track;
	s->window_cap = 4;
	s->window = pf_calloc(s->window_cap, sizeof(*s->window));
	s->cursor = pf_cursor_new(db, args->tracks[track].id, columns);
	pf_cursor_ahead(s->cursor);
	rc = refill(m, s, err);
	if (rc == 1)
		m->heap[m->live++] = s;
	return rc < 0 ? -1 : 0;
}

struct pf_merge *pf_merge_new(struct pf_db *db, struct pf_facts *facts,
			      const struct pf_merge_args *args,
			      struct pf_err *err)
{
	struct pf_merge *m = pf_calloc(1, sizeof(*m));

	m->facts = facts;
	m->kinds = args->kinds;
	m->slots = (uint32_t)(args->columns >> PF_COL_SLOT);
	m->args = args->columns >> PF_COL_ARGS & 1;
	/* Inline texts can only be told apart when both are read. */
	m->names = m->args || args->columns >> PF_COL_NAME & 1;
	m->sources = pf_calloc(args->count + 1, sizeof(*m->sources));
	m->heap = pf_calloc(args->count + 1, sizeof(struct source *));
	for (uint32_t i = 0; i < args->count; i++) {
		if (args->use && !args->use[i])
			continue;
		if (open_source(m, db, args, i, err)) {
			pf_merge_free(m);
			return NULL;
		}
	}
	pf_heap_make(m->heap, sizeof(*m->heap), m->live, head_is_before);
	settle_top(m);
	return m;
}

void pf_merge_free(struct pf_merge *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->count; i++) {
		pf_cursor_free(m->sources[i].cursor);
		free(m->sources[i].window);
	}
	free(m->sources);
	free(m->heap);
	free(m);
}

/* Leave the event that was handed out last. */
static int step(struct pf_merge *m, struct pf_err *err)
{
	struct source *s = m->heap[0];

	if (++s->at >= s->filled) {
		int rc = refill(m, s, err);

		PF_TRY(rc < 0);
		if (rc == 0)
			m->heap[0] = m->heap[--m->live];
		/* one thread is mostly at work: its next event comes next */
		else if (head(s)->start_ns < m->rival_ns)
			return 0;
	}
	settle_top(m);
	return 0;
}

const struct pf_fe *pf_merge_next(struct pf_merge *m, struct pf_err *err)
{
	if (m->started && m->live && step(m, err))
		return NULL;
	m->started = true;
	return m->live ? head(m->heap[0]) : NULL;
}

#define ID_MAX (1u << 22)

int pf_facts_init(struct pf_facts *f, struct pf_db *db, struct pf_err *err)
{
	memset(f, 0, sizeof(*f));
	f->db = db;
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
	PF_TRY(rc < 0);
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

	for (size_t i = 0; i < PF_LEN(dropped); i++)
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
	const char *dot = pf_memrchr(p, '.', len);
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
	PF_OWN char *demangled = NULL;

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
	PF_ROOM_ZERO(names->fact, names->cap, ref->id + 1u);
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

/*
 * "Input Dims" as Python prints the list: tensor lists become [].  Appended.
 */
static void facts_shapes(struct pf_json dims, struct pf_buf *out)
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
		facts_shapes(value, &f->scratch);
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
	PF_ROOM_ZERO(f->args, f->args_cap, ref->id + 1u);
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
