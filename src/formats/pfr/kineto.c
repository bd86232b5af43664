/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "formats/pfr/kineto.h"

#include <string.h>

#include "formats/json/mend.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

const char *pf_pfr_copy_word(uint64_t kind)
{
	static const char *const words[] = { NULL,   "HtoD", "DtoH", "HtoA",
					     "AtoH", "AtoA", "AtoD", "DtoA",
					     "DtoD", "HtoH", "PtoP" };

	return kind && kind < COUNT(words) ? words[kind] : "<unknown>";
}

const char *pf_pfr_memory_word(uint64_t kind)
{
	static const char *const words[] = {
		"Unknown", "Pageable", "Pinned",        "Device",
		"Array",   "Managed",  "Device Static", "Managed Static",
	};

	return kind < COUNT(words) ? words[kind] : "Unrecognized";
}

const char *pf_pfr_sync_word(uint64_t type)
{
	static const char *const words[] = {
		"Unknown Sync", "Event Sync",   "Stream Wait Event",
		"Stream Sync",  "Context Sync",
	};

	return words[type < COUNT(words) ? type : 0];
}

const char *pf_pfr_overhead_word(uint64_t kind)
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
	if (kind & 0xffff || kind >> 16 >= COUNT(words))
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

void pf_pfr_call_stem(const char **name, size_t *len)
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

/* ---- names of torch's emit_nvtx() ---- */

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

static bool take_part(struct cursor *c, struct pf_pfr_torch_name *out)
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

		for (size_t i = 0; i < COUNT(first); i++)
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
static bool pfr_split_torch_name(const char *text, size_t len,
				 struct pf_pfr_torch_name *out)
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

/* Does torch mark a step by that name, "ProfilerStep#N"? */
static bool is_step(const char *text, size_t len)
{
	static const char step[] = "ProfilerStep#";

	return len > sizeof(step) - 1 && !memcmp(text, step, sizeof(step) - 1);
}

bool pf_kineto_range(const char *text, size_t len, bool is_async,
		     struct pf_pfr_torch_name *torch, struct pf_sink_put *put)
{
	bool split = text && pfr_split_torch_name(text, len, torch);

	pf_sink_is(put, split ? PF_CAT_OP : PF_CAT_RANGE);
	if (is_async)
		put->kind = PF_KIND_ASYNC;
	else if (is_step(text, len))
		pf_sink_is(put, PF_CAT_STEP);
	return split;
}

#define SIZES_MAX 16384 /* bytes of shapes in a name of torch */

static void triple(struct pf_argline *a, const char *key, const uint32_t v[3])
{
	pf_argline_key(a, key);
	pf_buf_addf(&a->text, "[%u,%u,%u]", v[0], v[1], v[2]);
}

/* As Kineto works it out, where the device is known. */
static void waves(struct pf_argline *a, const struct pf_pfr_launch *l,
		  const struct pf_kineto_device *device)
{
	double blocks, threads;

	if (device->sms <= 0)
		return;
	blocks = (double)l->grid[0] * l->grid[1] * l->grid[2] /
		 (double)device->sms;
	threads = (double)l->block[0] * l->block[1] * l->block[2];
	pf_argline_key(a, "blocks per SM");
	pf_buf_addf(&a->text, "%.6f", blocks);
	if (device->warp <= 0)
		return;
	pf_argline_key(a, "warps per SM");
	pf_buf_addf(&a->text, "%.6f", blocks * threads / (double)device->warp);
}

void pf_kineto_launch(struct pf_argline *a, const struct pf_pfr_launch *l,
		      const struct pf_kineto_device *device)
{
	static const char *const types[] = { NULL, "cooperative",
					     "cooperative on several devices",
					     "command list" };

	if (l->registers != PF_KINETO_UNKNOWN)
		pf_argline_fixed(a, "registers per thread", l->registers);
	if (l->dynamic_bytes != PF_KINETO_UNKNOWN)
		pf_argline_fixed(a, "shared memory",
				 (int64_t)l->static_bytes + l->dynamic_bytes);
	if (l->grid[0] != PF_KINETO_UNKNOWN) {
		waves(a, l, device);
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

void pf_kineto_bytes(struct pf_argline *a, uint64_t bytes, int64_t dur_ns)
{
	unsigned __int128 rate;

	if (bytes > INT64_MAX)
		bytes = INT64_MAX;
	pf_argline_slot(a, "bytes", PF_SLOT_BYTES, (int64_t)bytes);
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

void pf_kineto_torch(struct pf_argline *a, const struct pf_pfr_torch_name *t)
{
	struct pf_mend mend = { .p = t->sizes, .end = t->sizes + t->sizes_len };
	size_t len;

	if (t->has_sequence)
		pf_argline_slot(a, "Sequence number", PF_SLOT_SEQUENCE,
				t->sequence);
	if (t->has_op_id)
		pf_argline_number(a, "op_id", (uint64_t)t->op_id);
	if (!t->sizes || t->sizes_len > SIZES_MAX)
		return;
	len = a->text.len;
	pf_argline_key(a, "Input Dims");
	if (pf_mend_value(&mend, &a->text) != PF_MEND_OK || mend.p != mend.end)
		a->text.len = len;
}
