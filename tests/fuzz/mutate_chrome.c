/* SPDX-License-Identifier: MIT */
/*
 * libFuzzer's mutator for lists of Chrome's events: events change places, come
 * twice and go; members get values that are at some edge, or those of another
 * event, so that ranges cross and nest and calls have other kernels.  All that
 * is no such list, and every fourth input that is one, libFuzzer mutates.
 */
#include "config.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

#define EVENTS   256
#define COUNT(a) (sizeof(a) / sizeof(*(a)))

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
			       unsigned seed);

/* ---- what members may be ---- */

static const char *const numbers[] = {
	"0",
	"1",
	"2",
	"-1",
	"0.001",
	"1.5",
	"1e3",
	"1e300",
	"null",
	"\"7\"",
	"true",
	"4294967295",
	"2147483648",
	"9007199254740993",
	"9223372036854775.807",
	"9223372036854775.808",
	"9223372036854775807",
	"-9223372036854775808",
	"18446744073709551615",
};
static const char *const phases[] = { "\"X\"", "\"B\"", "\"E\"", "\"b\"",
				      "\"e\"", "\"n\"", "\"s\"", "\"t\"",
				      "\"f\"", "\"i\"", "\"I\"", "\"M\"",
				      "\"C\"", "\"N\"", "\"O\"", "\"D\"",
				      "\"\"" };
static const char *const categories[] = {
	"\"cpu_op\"",
	"\"kernel\"",
	"\"gpu_memcpy\"",
	"\"gpu_memset\"",
	"\"cuda_runtime\"",
	"\"cuda_driver\"",
	"\"user_annotation\"",
	"\"gpu_user_annotation\"",
	"\"ac2g\"",
	"\"fwdbwd\"",
	"\"python_function\"",
	"\"cpu_instant_event\"",
	"\"cuda_sync\"",
	"\"overhead\"",
	"\"Trace\"",
	"\"\"",
};
static const char *const names[] = {
	"\"ProfilerStep#1\"",
	"\"ProfilerStep#99999999999999999999\"",
	"\"cudaLaunchKernel\"",
	"\"cudaGraphLaunch\"",
	"\"cudaStreamWaitEvent\"",
	"\"cudaStreamSynchronize\"",
	"\"Memcpy HtoD (Pinned -> Device)\"",
	"\"Context Sync\"",
	"\"nccl:all_reduce\"",
	"\"record_param_comms\"",
	"\"[memory]\"",
	"\"process_name\"",
	"\"process_labels\"",
	"\"thread_name\"",
	"\"thread_sort_index\"",
	"\"Record Window End\"",
	"\"Iteration Start: PyTorch Profiler\"",
	"\"\"",
};
static const char *const others[] = {
	"{}",        "[]",         "[1,1,1]",     "[[2,3],[]]",     "\"\"",
	"\"GPU 0\"", "\"python\"", "\"\\ud800\"", "\"4294967296\"", "null",
};

#define MAY_BE(list) list, COUNT(list)
static const struct member {
	const char *key;
	bool is_argument;
	const char *const *values;
	size_t count;
} members[] = {
	{ "ph", false, MAY_BE(phases) },
	{ "cat", false, MAY_BE(categories) },
	{ "name", false, MAY_BE(names) },
	{ "pid", false, MAY_BE(numbers) },
	{ "tid", false, MAY_BE(numbers) },
	{ "ts", false, MAY_BE(numbers) },
	{ "dur", false, MAY_BE(numbers) },
	{ "id", false, MAY_BE(numbers) },
	{ "bp", false, MAY_BE(others) },
	{ "args", false, MAY_BE(others) },
	{ "External id", true, MAY_BE(numbers) },
	{ "correlation", true, MAY_BE(numbers) },
	{ "device", true, MAY_BE(numbers) },
	{ "stream", true, MAY_BE(numbers) },
	{ "context", true, MAY_BE(numbers) },
	{ "bytes", true, MAY_BE(numbers) },
	{ "grid", true, MAY_BE(others) },
	{ "block", true, MAY_BE(others) },
	{ "labels", true, MAY_BE(others) },
	{ "sort_index", true, MAY_BE(numbers) },
	{ "Bytes", true, MAY_BE(numbers) },
	{ "Addr", true, MAY_BE(numbers) },
	{ "Device Id", true, MAY_BE(numbers) },
	{ "Total Allocated", true, MAY_BE(numbers) },
	{ "Python id", true, MAY_BE(numbers) },
	{ "Python parent id", true, MAY_BE(numbers) },
	{ "Sequence number", true, MAY_BE(numbers) },
	{ "Fwd thread id", true, MAY_BE(numbers) },
	{ "Input Dims", true, MAY_BE(others) },
	{ "Collective name", true, MAY_BE(names) },
	{ "wait_on_stream", true, MAY_BE(numbers) },
};

/* ---- where things are ---- */

struct span {
	const char *from, *to;
};

/* Behind the value that begins here, or the end. */
static const char *behind(const char *p, const char *end)
{
	size_t depth = 0;

	for (; p < end; p++) {
		if (*p == '"') {
			for (p++; p < end && *p != '"'; p++)
				p += *p == '\\';
			if (p >= end)
				return end;
		} else if (*p == '{' || *p == '[') {
			depth++;
		} else if (*p == '}' || *p == ']') {
			if (!depth)
				return p;
			depth--;
		} else if (*p == ',' && !depth) {
			return p;
		} else {
			continue;
		}
		if (!depth)
			return p + (*p != ',');
	}
	return end;
}

static const char *blanks(const char *p, const char *end)
{
	while (p < end && strchr(" \t\r\n", *p) && *p)
		p++;
	return p;
}

static size_t find_events(const char *p, const char *end, struct span *out)
{
	size_t count = 0;

	while ((p = memchr(p, '[', (size_t)(end - p)))) {
		p = blanks(p + 1, end);
		if (p < end && *p == '{')
			break;
	}
	while (p && p < end && *p == '{' && count < EVENTS) {
		out[count].from = p;
		out[count++].to = p = behind(p, end);
		p = blanks(p, end);
		p = p < end && *p == ',' ? blanks(p + 1, end) : NULL;
	}
	return count;
}

static bool find_value(const struct span *event, const char *key,
		       struct span *out)
{
	char quoted[32];
	const char *p;
	size_t len = strlen(key) + 2;

	quoted[0] = quoted[len - 1] = '"';
	memcpy(quoted + 1, key, len - 2);
	p = memmem(event->from, (size_t)(event->to - event->from), quoted, len);
	if (!p)
		return false;
	p = blanks(p + len, event->to);
	if (p >= event->to || *p != ':')
		return false;
	out->from = blanks(p + 1, event->to);
	out->to = behind(out->from, event->to);
	return true;
}

/* ---- changes ---- */

static uint32_t below(uint64_t *state, size_t n)
{
	*state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (uint32_t)((*state >> 33) % n);
}

static void add(struct pf_buf *out, const char *from, const char *to)
{
	pf_buf_add(out, from, (size_t)(to - from));
}

/* The value of a member, or where one would be added: new is true then. */
static struct span place_of(const struct span *event, const struct member *m,
			    bool *is_new)
{
	struct span at;

	*is_new = !find_value(event, m->key, &at);
	if (!*is_new)
		return at;
	at = *event;
	if (m->is_argument && find_value(event, "args", &at) &&
	    (at.from >= at.to || *at.from != '{'))
		at = *event;
	at.from++;
	at.to = at.from;
	return at;
}

static void change_member(const struct span *events, size_t count,
			  const struct span *all, uint64_t *random,
			  struct pf_buf *out)
{
	const struct span *event = &events[below(random, count)];
	const struct member *m = &members[below(random, COUNT(members))];
	const char *text = m->values[below(random, m->count)];
	struct span value = { text, text + strlen(text) }, theirs, at;
	bool is_new;

	if (below(random, 2) &&
	    find_value(&events[below(random, count)], m->key, &theirs))
		value = theirs;
	at = place_of(event, m, &is_new);
	add(out, all->from, at.from);
	if (is_new)
		pf_buf_addf(out, "\"%s\":", m->key);
	add(out, value.from, value.to);
	if (is_new && *blanks(at.to, event->to - 1) != '}')
		pf_buf_addc(out, ',');
	add(out, at.to, all->to);
}

/* Events a and b, a before b, each in the other's place. */
static void swap(const struct span *a, const struct span *b,
		 const struct span *all, struct pf_buf *out)
{
	add(out, all->from, a->from);
	add(out, b->from, b->to);
	add(out, a->to, b->from);
	add(out, a->from, a->to);
	add(out, b->to, all->to);
}

static void copy_before(const struct span *what, const struct span *where,
			const struct span *all, struct pf_buf *out)
{
	add(out, all->from, where->from);
	add(out, what->from, what->to);
	pf_buf_addc(out, ',');
	add(out, where->from, all->to);
}

/* With the comma behind it, or before it if it is the last. */
static void drop(const struct span *events, size_t count, size_t i,
		 const struct span *all, struct pf_buf *out)
{
	const char *from = events[i].from, *to = events[i].to;

	if (i + 1 < count)
		to = events[i + 1].from;
	else if (i)
		from = events[i - 1].to;
	add(out, all->from, from);
	add(out, to, all->to);
}

static void change(const struct span *all, const struct span *events,
		   size_t count, uint64_t *random, struct pf_buf *out)
{
	size_t i = below(random, count), k = below(random, count);

	switch (below(random, 12)) {
	case 0:
		if (i != k)
			swap(&events[i < k ? i : k], &events[i < k ? k : i],
			     all, out);
		break;
	case 1:
		copy_before(&events[i], &events[k], all, out);
		break;
	case 2:
		drop(events, count, i, all, out);
		break;
	case 3: /* the last byte chooses how it is read */
		add(out, all->from, all->to);
		pf_buf_addc(out, (char)below(random, 256));
		break;
	default:
		change_member(events, count, all, random, out);
	}
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
			       unsigned seed)
{
	struct span all = { (char *)data, (char *)data + size }, events[EVENTS];
	uint64_t random = seed;
	size_t count = find_events(all.from, all.to, events);
	struct pf_buf out = { 0 };

	if (count && below(&random, 4))
		change(&all, events, count, &random, &out);
	if (out.len && out.len <= max_size) {
		size = out.len;
		memcpy(data, out.data, size);
	} else {
		size = LLVMFuzzerMutate(data, size, max_size);
	}
	pf_buf_release(&out);
	return size;
}
