/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "formats/kineto/work.h"

#include <stdio.h>

#include "base/mem.h"
#include "formats/json/mend.h"

#define UNIFIED      11
#define UNIFIED_LAST 13

static const char *copy_word(uint64_t kind)
{
	static const char *const words[] = { NULL,   "HtoD", "DtoH", "HtoA",
					     "AtoH", "AtoA", "AtoD", "DtoA",
					     "DtoD", "HtoH", "PtoP", "HtoD",
					     "DtoH", "DtoD" };

	return kind && kind < PF_LEN(words) ? words[kind] : "<unknown>";
}

const char *pf_work_memory_word(uint64_t kind)
{
	static const char *const words[] = {
		"Unknown", "Pageable", "Pinned",        "Device",
		"Array",   "Managed",  "Device Static", "Managed Static",
	};

	return kind < PF_LEN(words) ? words[kind] : "Unrecognized";
}

const char *pf_work_sync_word(uint64_t type)
{
	static const char *const words[] = {
		"Unknown Sync", "Event Sync",   "Stream Wait Event",
		"Stream Sync",  "Context Sync",
	};

	return words[type < PF_LEN(words) ? type : 0];
}

const char *pf_work_overhead_word(uint64_t kind)
{
	static const char *const words[] = {
		"Unknown",
		"Buffer Flush",
		"Instrumentation",
		"Resource",
		"Runtime Triggered Module Loading",
		"Lazy Function Loading",
		"Command Buffer Full",
		"Activity Buffer Request",
		"UVM Activity Init",
	};

	if (kind == 1)
		return "Driver Compiler";
	if (kind & 0xffff || kind >> 16 >= PF_LEN(words))
		return "Unrecognized";
	return words[kind >> 16];
}

static bool drop_suffix(const char *p, size_t *len, const char *suffix)
{
	size_t n = strlen(suffix);

	if (*len <= n || memcmp(p + *len - n, suffix, n))
		return false;
	*len -= n;
	return true;
}

static void drop_version(const char *p, size_t *len)
{
	size_t digits = 0;

	while (digits < *len && p[*len - 1 - digits] >= '0' &&
	       p[*len - 1 - digits] <= '9')
		digits++;
	if (digits >= 4 && *len > digits + 2 &&
	    !memcmp(p + *len - digits - 2, "_v", 2))
		*len -= digits + 2;
}

void pf_work_call_stem(const char **name, size_t *len)
{
	while (*len > 2 && !memcmp(*name, "__", 2)) {
		*name += 2;
		*len -= 2;
	}
	if (!drop_suffix(*name, len, "_ptsz"))
		drop_suffix(*name, len, "_ptds");
	drop_version(*name, len);
	/* __cudaLaunchKernel_ptsz_v13000 */
	if (!drop_suffix(*name, len, "_ptsz"))
		drop_suffix(*name, len, "_ptds");
}

uint32_t pf_work_copy_name(struct pf_sink *s, uint64_t kind, int64_t from,
			   int64_t to)
{
	uint32_t *memo;
	char text[96];
	int len;

	if (pf_sink_memo(s, PF_MEMO_COPY, kind & UINT32_MAX,
			 (uint64_t)from << 32 ^ (uint32_t)to, &memo))
		return *memo;
	len = snprintf(text, sizeof(text), "Memcpy %s", copy_word(kind));
	if (kind >= UNIFIED && kind <= UNIFIED_LAST)
		snprintf(text + len, sizeof(text) - (size_t)len,
			 " (unified memory)");
	else if (from >= 0 || to >= 0)
		snprintf(text + len, sizeof(text) - (size_t)len, " (%s -> %s)",
			 pf_work_memory_word(from < 0 ? 0 : (uint64_t)from),
			 pf_work_memory_word(to < 0 ? 0 : (uint64_t)to));
	return *memo = pf_sink_word(s, text);
}

/* ---- names of torch's emit_nvtx() ---- */

/* The parts of a range that torch's emit_nvtx() named. */
struct torch_name {
	size_t name_len; /* of the operator's name */
	bool has_sequence, has_op_id;
	int64_t sequence, op_id;
	const char *sizes; /* JSON: a list of lists; NULL if absent */
	size_t sizes_len;
};

struct cursor {
	const char *p, *end;
};

static bool take(struct cursor *c, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(c->end - c->p) < n || memcmp(c->p, word, n))
		return false;
	c->p += n;
	return true;
}

static bool take_number(struct cursor *c, int64_t *out)
{
	const char *start = c->p;
	int64_t v = 0;

	while (c->p < c->end && *c->p >= '0' && *c->p <= '9' &&
	       c->p - start < 18)
		v = v * 10 + (*c->p++ - '0');
	*out = v;
	return c->p > start;
}

/* Brackets, numbers, commas and blanks, with the brackets in pairs. */
static bool take_list(struct cursor *c)
{
	int depth = 0;

	if (c->p == c->end || *c->p != '[')
		return false;
	while (c->p < c->end) {
		char x = *c->p++;

		depth += x == '[';
		depth -= x == ']';
		if (!strchr("[](), -0123456789", x) || !x || depth > 16)
			return false;
		if (!depth)
			return true;
	}
	return false;
}

static bool take_part(struct cursor *c, struct torch_name *out)
{
	if (take(c, ", seq = ")) {
		out->has_sequence = true;
		return take_number(c, &out->sequence);
	}
	if (take(c, ", op_id = ")) {
		out->has_op_id = true;
		return take_number(c, &out->op_id);
	}
	if (take(c, ", input_op_ids = "))
		return take_list(c);
	if (!take(c, ", sizes = "))
		return false;
	out->sizes = c->p;
	if (!take_list(c))
		return false;
	out->sizes_len = (size_t)(c->p - out->sizes);
	return !memchr(out->sizes, '(', out->sizes_len);
}

/* Where the first of the parts behind a name begins; NULL: it has none. */
static const char *first_part(const struct cursor *c)
{
	static const char *const first[] = { ", seq = ", ", op_id = ",
					     ", sizes = " };
	struct cursor at = *c;

	while (at.p < c->end &&
	       (at.p = memchr(at.p, ',', (size_t)(c->end - at.p)))) {
		const char *comma = at.p;

		for (size_t i = 0; i < PF_LEN(first); i++)
			if (take(&at, first[i]))
				return comma;
		at.p++;
	}
	return NULL;
}

/*
 * "aten::view, seq = 7, op_id = 314290, sizes = [[2, 3], []]", all parts but
 * the name optional.  False for any other text.
 */
static bool split_torch_name(const char *text, size_t len,
			     struct torch_name *out)
{
	struct cursor c = { text, text + len };

	memset(out, 0, sizeof(*out));
	c.p = first_part(&c);
	if (!c.p || c.p == text)
		return false;
	out->name_len = (size_t)(c.p - text);
	while (c.p < c.end)
		if (!take_part(&c, out))
			return false;
	return true;
}

#define SIZES_MAX 16384 /* bytes of shapes in a name of torch */

static void triple(struct pf_argline *a, const char *key, const uint32_t v[3])
{
	pf_argline_key(a, key);
	pf_buf_addf(&a->text, "[%u,%u,%u]", v[0], v[1], v[2]);
}

/* As Kineto works it out, where the device is known. */
static void waves(struct pf_sink *s, const struct pf_work_launch *l,
		  int64_t device)
{
	const struct pf_sink_known *gpu = pf_sink_known(s, device);
	struct pf_argline *a = &s->args;
	double blocks, threads;

	if (!gpu || gpu->sms <= 0)
		return;
	blocks =
		(double)l->grid[0] * l->grid[1] * l->grid[2] / (double)gpu->sms;
	threads = (double)l->block[0] * l->block[1] * l->block[2];
	pf_argline_key(a, "blocks per SM");
	pf_buf_addf(&a->text, "%.6f", blocks);
	if (gpu->warp <= 0)
		return;
	pf_argline_key(a, "warps per SM");
	pf_buf_addf(&a->text, "%.6f", blocks * threads / (double)gpu->warp);
}

/* Registers, shared memory, grid, block and what else differs from 0. */
static void launch_args(struct pf_sink *s, const struct pf_work_launch *l,
			int64_t device)
{
	struct pf_argline *a = &s->args;
	static const char *const types[] = { NULL, "cooperative",
					     "cooperative on several devices",
					     "command list" };

	if (l->registers != PF_WORK_UNKNOWN)
		pf_argline_fixed(a, "registers per thread", l->registers);
	if (l->dynamic_bytes != PF_WORK_UNKNOWN)
		pf_argline_fixed(a, "shared memory",
				 (int64_t)l->static_bytes + l->dynamic_bytes);
	if (l->grid[0] != PF_WORK_UNKNOWN) {
		waves(s, l, device);
		triple(a, "grid", l->grid);
		triple(a, "block", l->block);
	}
	if (l->local_bytes)
		pf_argline_fixed(a, "local memory per thread", l->local_bytes);
	if (l->cluster[0])
		triple(a, "cluster", l->cluster);
	if (l->launch_type && l->launch_type < 4)
		pf_argline_text(a, "launch type", types[l->launch_type],
				strlen(types[l->launch_type]));
}

/* Bytes, and how fast they were copied or filled if that took any time. */
static void bytes_args(struct pf_argline *a, int64_t bytes, int64_t dur_ns)
{
	unsigned __int128 rate;

	if (bytes < 0)
		return;
	pf_argline_slot(a, "bytes", PF_SLOT_BYTES, bytes);
	if (dur_ns <= 0)
		return;
	/* GB/s is bytes per ns; six digits behind the point. */
	rate = ((unsigned __int128)bytes * 1000000 +
		(unsigned __int128)dur_ns / 2) /
	       (unsigned __int128)dur_ns;
	if (rate < UINT64_C(1) << 58)
		pf_argline_slot(a, "memory bandwidth (GB/s)", PF_SLOT_BANDWIDTH,
				(int64_t)rate * 16 + 6);
}

/* ---- work of a device ---- */

void pf_work_correlation(struct pf_sink *s, int64_t correlation)
{
	pf_argline_slot(&s->args, "correlation", PF_SLOT_CORRELATION,
			correlation);
}

/* CUPTI's number of no stream is none. */
static int64_t stream_of(const struct pf_work_place *p)
{
	return p->stream == UINT32_MAX ? -1 : p->stream;
}

void pf_work_args(struct pf_sink *s, const struct pf_work_place *p)
{
	struct pf_argline *a = &s->args;

	if (p->device != PF_WORK_NONE)
		pf_argline_fixed(a, "device", p->device);
	if (p->context != PF_WORK_NONE)
		pf_argline_fixed(a, "context", p->context);
	pf_argline_fixed(a, "stream", stream_of(p));
	if (p->queue != PF_WORK_NONE)
		pf_argline_fixed(a, "queue", p->queue);
	pf_work_correlation(s, p->correlation);
}

static bool has_numbers(const struct pf_work_place *p)
{
	return p->graph | p->node | p->queued_ns | p->submitted_ns;
}

/* Of a text that is known, only the slots. */
static void number_args(struct pf_argline *a, const struct pf_work_place *p,
			bool is_known)
{
	static const char *const keys[] = { "graph id", "graph node id",
					    "queued", "submitted" };
	const uint64_t numbers[] = { p->graph, p->node, p->queued_ns,
				     p->submitted_ns };

	for (size_t i = 0; i < PF_LEN(keys); i++)
		if (!numbers[i])
			continue;
		else if (is_known)
			pf_argline_set(
				a,
				(enum pf_slot)(PF_SLOT_GENERIC + a->generic++),
				(int64_t)(numbers[i] << 4));
		else
			pf_argline_number(a, keys[i], numbers[i]);
}

void pf_work_open(struct pf_sink *s, const struct pf_work_place *p,
		  enum pf_cat what, struct pf_sink_put *put)
{
	pf_sink_is(put, what);
	put->track =
		pf_sink_gpu_track(s, p->device == PF_WORK_NONE ? -1 : p->device,
				  stream_of(p), p->process, p->pid);
	pf_argline_open(&s->args);
}

void pf_work_close(struct pf_sink *s, const struct pf_work_place *p,
		   struct pf_sink_put *put)
{
	number_args(&s->args, p, false);
	pf_sink_close(s, put);
}

/* ---- kernels ---- */

/* Which numbers an event has besides. */
static uint64_t numbers_of(const struct pf_work_place *p)
{
	if (!has_numbers(p))
		return 0;
	return (p->graph > 0) | (uint64_t)(p->node > 0) << 1 |
	       (uint64_t)(p->queued_ns > 0) << 2 |
	       (uint64_t)(p->submitted_ns > 0) << 3;
}

static bool find_digest(struct pf_sink *s, const struct pf_work_place *p,
			const struct pf_work_launch *l, uint32_t **memo)
{
	const struct {
		struct pf_work_launch launch;
		int64_t device, context, stream, queue;
		uint64_t has;
	} all = {
		*l, p->device, p->context, p->stream, p->queue, numbers_of(p)
	};
	struct pf_dict_hash digest = pf_dict_hash(&all, sizeof(all), 0);

	return pf_memo_find(&s->memos, digest.low, digest.high, memo);
}

/*
 * The text of a kernel's arguments by all that it is made of, but its slots.
 * False: it is not known, or (no memo) a number is too large for a slot.
 */
static bool find_text(struct pf_sink *s, const struct pf_work_place *p,
		      const struct pf_work_launch *l, uint32_t **memo)
{
	if ((p->graph | p->node | p->queued_ns | p->submitted_ns) >> 58)
		return false;
	if (!p->launch_id || (uint64_t)p->device >> 8 ||
	    (uint64_t)p->context >> 16 || (uint64_t)p->stream >> 24)
		return find_digest(s, p, l, memo);
	return pf_sink_memo(s, PF_MEMO_KERNEL_ARGS,
			    numbers_of(p) << 48 | (uint64_t)p->device << 40 |
				    (uint64_t)p->context << 24 |
				    (uint64_t)p->stream,
			    p->launch_id, memo);
}

void pf_work_kernel(struct pf_sink *s, const struct pf_work_place *p,
		    const struct pf_work_launch *l, struct pf_sink_put *put)
{
	uint32_t *memo = NULL;

	pf_work_open(s, p, PF_CAT_KERNEL, put);
	if (l && find_text(s, p, l, &memo)) {
		pf_argline_set(&s->args, PF_SLOT_CORRELATION, p->correlation);
		if (has_numbers(p))
			number_args(&s->args, p, true);
		put->args = *memo;
		pf_sink_store(s, put);
		return;
	}
	pf_work_args(s, p);
	if (l)
		launch_args(s, l, p->device);
	pf_work_close(s, p, put);
	if (memo)
		*memo = put->args;
}

/* ---- copies, fills, events ---- */

void pf_work_copy(struct pf_sink *s, const struct pf_work_place *p,
		  int64_t bytes, int64_t from, int64_t to,
		  struct pf_sink_put *put)
{
	pf_work_open(s, p, PF_CAT_COPY, put);
	pf_work_args(s, p);
	bytes_args(&s->args, bytes, put->dur_ns);
	if (from < 0 || to < 0 || from == to)
		return;
	pf_argline_fixed(&s->args, "fromDevice", from);
	pf_argline_fixed(&s->args, "toDevice", to);
}

void pf_work_fill(struct pf_sink *s, const struct pf_work_place *p,
		  uint64_t memory, int64_t bytes, struct pf_sink_put *put)
{
	put->name = pf_sink_word(
		s, PF_PRINTED(64, "Memset (%s)", pf_work_memory_word(memory)));
	pf_work_open(s, p, PF_CAT_FILL, put);
	pf_work_args(s, p);
	bytes_args(&s->args, bytes, put->dur_ns);
	pf_work_close(s, p, put);
}

void pf_work_event(struct pf_sink *s, const struct pf_work_place *p,
		   uint64_t event, struct pf_sink_put *put)
{
	pf_sink_is(put, PF_CAT_CUDA_EVENT);
	put->name = pf_sink_word(s, "cudaEventRecord");
	pf_argline_open(&s->args);
	pf_argline_number(&s->args, "event", event);
	pf_work_correlation(s, p->correlation);
	pf_argline_fixed(&s->args, "context", p->context);
	pf_argline_fixed(&s->args, "on stream", p->stream);
	pf_sink_close(s, put);
}

/* ---- calls ---- */

/* A call's arguments differ in a slot alone. */
void pf_work_call(struct pf_sink *s, int64_t correlation, int64_t cbid,
		  int64_t result, struct pf_sink_put *put)
{
	struct pf_argline *a = &s->args;
	uint32_t *memo;

	pf_argline_open(a);
	pf_argline_set(a, PF_SLOT_CORRELATION, correlation);
	if (!pf_sink_memo(s, PF_MEMO_CALL_ARGS, (uint64_t)cbid,
			  (uint64_t)result, &memo)) {
		if (cbid != PF_WORK_NONE)
			pf_argline_fixed(a, "cbid", cbid);
		pf_work_correlation(s, correlation);
		if (result)
			pf_argline_fixed(a, "return value", result);
		*memo = pf_argline_close(a, &s->parsed.args);
	}
	put->args = *memo;
	pf_sink_store(s, put);
}

/* ---- ranges ---- */

static void torch_args(struct pf_argline *a, const struct torch_name *t)
{
	struct pf_mend mend = { .p = t->sizes };
	size_t len;

	if (t->has_sequence)
		pf_argline_slot(a, "Sequence number", PF_SLOT_SEQUENCE,
				t->sequence);
	if (t->has_op_id)
		pf_argline_number(a, "op_id", (uint64_t)t->op_id);
	if (!t->sizes || t->sizes_len > SIZES_MAX)
		return;
	mend.end = t->sizes + t->sizes_len;
	len = a->text.len;
	pf_argline_key(a, "Input Dims");
	if (pf_mend_value(&mend, &a->text) != PF_MEND_OK || mend.p != mend.end)
		a->text.len = len;
}

/*
 * Nothing but a name, and numbers that torch put there, as most have: then the
 * text of the arguments is known, and only slots differ.
 */
static bool find_bare(struct pf_sink *s, const struct pf_work_range *r,
		      const struct torch_name *t, uint32_t **memo)
{
	*memo = NULL;
	if (!r->id || r->more || r->end || t->sizes || t->op_id >> 58 ||
	    !pf_sink_memo(s, PF_MEMO_RANGE_ARGS, 0,
			  t->has_sequence | (uint64_t)t->has_op_id << 1, memo))
		return false;
	pf_argline_set(&s->args, PF_SLOT_EXTERNAL_ID, r->id);
	if (t->has_sequence)
		pf_argline_set(&s->args, PF_SLOT_SEQUENCE, t->sequence);
	if (t->has_op_id)
		pf_argline_set(&s->args, PF_SLOT_GENERIC, t->op_id << 4);
	return true;
}

static uint32_t range_args(struct pf_sink *s, const struct pf_work_range *r,
			   const struct torch_name *t)
{
	struct pf_argline *a = &s->args;
	uint32_t *memo, entry;

	pf_argline_open(a);
	if (find_bare(s, r, t, &memo))
		return *memo;
	if (r->id)
		pf_argline_slot(a, "External id", PF_SLOT_EXTERNAL_ID, r->id);
	torch_args(a, t);
	if (r->more)
		r->more(r->reader, r->record);
	if (r->end)
		pf_argline_text(a, "end", r->end, strlen(r->end));
	entry = pf_argline_close(a, &s->parsed.args);
	if (memo)
		*memo = entry;
	return entry;
}

void pf_work_range(struct pf_sink *s, const struct pf_work_range *r,
		   struct pf_sink_put *put)
{
	struct torch_name torch;
	uint32_t *memo;
	bool split = split_torch_name(r->text, r->len, &torch);
	/* torch marks steps so, "ProfilerStep#N" */
	bool is_step =
		r->len > 13 && pf_begins(r->text, r->len, "ProfilerStep#");

	if (!split)
		torch = (struct torch_name){ .name_len = r->len };
	pf_sink_is(put, r->is_async ? PF_CAT_RANGE
			: is_step   ? PF_CAT_STEP
			: split     ? PF_CAT_OP
				    : PF_CAT_RANGE);
	if (r->is_async)
		put->kind = PF_KIND_ASYNC;
	if (!r->text_id)
		put->name = pf_sink_text(s, r->text, torch.name_len);
	else if (pf_sink_memo(s, PF_MEMO_NAME, 0, r->text_id, &memo))
		put->name = *memo;
	else
		put->name = *memo = pf_sink_text(s, r->text, torch.name_len);
	put->args = range_args(s, r, &torch);
	pf_sink_store(s, put);
}

void pf_work_mark(struct pf_sink *s, const struct pf_work_range *r,
		  struct pf_sink_put *put)
{
	pf_sink_is(put, PF_CAT_MARK);
	put->name = pf_sink_text(s, r->text, r->len);
	pf_argline_open(&s->args);
	if (r->more)
		r->more(r->reader, r->record);
	pf_sink_close(s, put);
}

void pf_work_color(struct pf_sink *s, uint32_t color)
{
	if (!color)
		return;
	pf_argline_key(&s->args, "color");
	pf_buf_addf(&s->args.text, "\"#%08x\"", (unsigned)color);
}
