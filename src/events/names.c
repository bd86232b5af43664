/* SPDX-License-Identifier: MIT */
/*
 * Classes are kept in an array by string.id as far as ids are dense; beyond
 * that (a damaged database) each is worked out anew.
 */
#include "config.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "events/names.h"
#include "base/intern.h"
#include "base/mem.h"
#include "trace/event.h"

#define DENSE_IDS (1u << 24)

struct slot {
	bool is_known;
	struct pf_name_class class;
};

struct pf_names {
	struct pf_db *db;
	sqlite3_stmt *text;
	struct slot *slots;
	size_t slot_count;
	unsigned char kinds[256]; /* of types 0..255 */
	struct pf_name_class other;
	struct pf_map frames; /* string.id -> its text among these */
	struct pf_arena texts;
};

const char *pf_cause_name(enum pf_cause cause)
{
	static const char *const names[] = {
		"sync",
		"blocking copy",
		"allocator",
		"module load",
		"compile",
		"data loading",
		"garbage collection",
		"profiler",
		"communication wait",
		"runtime",
		"op overhead",
		"python",
		"annotation",
		"unrecorded",
		"launch latency",
		"dependency",
		"graph",
		"device latency",
		"no launch record",
		"micro",
	};

	return names[cause];
}

bool pf_cause_is_after_call(enum pf_cause cause)
{
	switch (cause) {
	case PF_CAUSE_SYNC:
	case PF_CAUSE_COPY:
	case PF_CAUSE_ALLOCATOR:
	case PF_CAUSE_RUNTIME:
	case PF_CAUSE_OP:
	case PF_CAUSE_PYTHON:
	case PF_CAUSE_ANNOTATION:
	case PF_CAUSE_UNRECORDED:
	case PF_CAUSE_LAUNCH:
		return true;
	default:
		return false;
	}
}

/* ---- calls ---- */

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static bool begins_any(const char *text, const char *const *with)
{
	for (; *with; with++)
		if (begins(text, *with))
			return true;
	return false;
}

static bool has_any(const char *text, const char *const *parts)
{
	for (; *parts; parts++)
		if (strstr(text, *parts))
			return true;
	return false;
}

/* The name of a call without its vendor: NULL if it is none. */
static const char *verb_of(const char *name)
{
	static const char *const vendors[] = { "cuda", "hip", "cu", "musa",
					       "mc" };

	for (size_t i = 0; i < sizeof(vendors) / sizeof(*vendors); i++) {
		size_t len = strlen(vendors[i]);

		if (!strncmp(name, vendors[i], len) &&
		    isupper((unsigned char)name[len]))
			return name + len;
	}
	return NULL;
}

static void classify_call(const char *name, struct pf_name_class *c)
{
	static const char *const syncs[] = { "DeviceSynchronize",
					     "CtxSynchronize",
					     "StreamSynchronize",
					     "EventSynchronize", NULL };
	static const char *const copies[] = { "Memcpy", "Memset", NULL };
	static const char *const blocking[] = {
		"Malloc",   "Free",           "HostAlloc",      "MemAlloc",
		"MemFree",  "HostUnregister", "MemHostAlloc",   "HostMalloc",
		"HostFree", "MemFreeHost",    "ExtMallocWithF", NULL
	};
	static const char *const allocator[] = {
		"HostRegister", "MemGetInfo",   "MemCreate",
		"MemMap",       "MemSetAccess", "MemUnmap",
		"MemRelease",   "MemAddress",   NULL
	};
	static const char *const modules[] = { "ModuleLoad", "LibraryLoad",
					       "ModuleGetLoading", NULL };
	const char *verb = verb_of(name);

	c->call = PF_CAUSE_RUNTIME;
	if (!verb)
		return;
	if (begins_any(verb, syncs)) {
		c->call = PF_CAUSE_SYNC;
		c->is_blocking = true;
	} else if (begins_any(verb, copies)) {
		c->is_async_copy = strstr(verb, "Async") != NULL;
		c->is_blocking = !c->is_async_copy;
		if (c->is_blocking)
			c->call = PF_CAUSE_COPY;
	} else if (begins_any(verb, blocking)) {
		c->call = PF_CAUSE_ALLOCATOR;
		c->is_blocking = !strstr(verb, "Async");
	} else if (begins_any(verb, allocator)) {
		c->call = PF_CAUSE_ALLOCATOR;
	} else if (begins_any(verb, modules)) {
		c->call = PF_CAUSE_MODULE;
	}
	c->is_graph = begins(verb, "GraphLaunch");
	c->is_stream_wait = begins(verb, "StreamWait");
}

/* ---- other ranges ---- */

static bool is_compile(const char *name)
{
	static const char *const where[] = { "_dynamo", "_inductor", "triton",
					     "dynamo.", NULL };
	static const char *const whole[] = {
		"entire_frame_compile", "backend_compile", "inductor_compile",
		"compile_fx_inner",     "async_compile",   NULL
	};
	const char *function = strstr(name, "): ");

	if (has_any(name, whole))
		return true;
	function = function ? function + 3 : name;
	/* compile_wrapper() runs what was compiled */
	return strstr(function, "compile") && has_any(name, where) &&
	       !strstr(function, "compiled") &&
	       !strstr(function, "compile_wrapper");
}

static bool is_comm_wait(const char *name)
{
	static const char *const where[] = { "c10d", "distributed",
					     "ProcessGroup", NULL };

	if (begins(name, "gloo:"))
		return true;
	return has_any(name, where) &&
	       (strstr(name, "wait") || strstr(name, "barrier"));
}

/*
 * Overheads as CUPTI names them.  A full command buffer is no overhead: the
 * GPU has enough to do.
 */
static enum pf_cause classify_overhead(const char *name)
{
	static const char *const modules[] = {
		"Lazy Function Loading", "Runtime Triggered Module Loading",
		"Driver Compiler", NULL
	};

	if (begins_any(name, modules))
		return PF_CAUSE_MODULE;
	if (begins(name, "Command Buffer Full"))
		return PF_CAUSE_UNRECORDED;
	return PF_CAUSE_PROFILER;
}

static enum pf_cause classify_range(const char *name)
{
	static const char *const data[] = { "enumerate(DataLoader)",
					    "enumerate(DataPipe)",
					    "torch/utils/data/",
					    "IteratorGetNext", NULL };
	static const char *const gc[] = { "gc.collect",
					  "<built-in function collect",
					  "<built-in method collect",
					  "garbage collection",
					  "Garbage Collection",
					  "Python GC",
					  NULL };

	if (classify_overhead(name) == PF_CAUSE_MODULE)
		return PF_CAUSE_MODULE;
	if (is_compile(name))
		return PF_CAUSE_COMPILE;
	if (has_any(name, data))
		return PF_CAUSE_DATA;
	if (has_any(name, gc))
		return PF_CAUSE_GC;
	if (is_comm_wait(name))
		return PF_CAUSE_COMM;
	return PF_CAUSE_UNRECORDED;
}

/* "(123): " of a Python function; NULL if there is none. */
static const char *find_line(const char *name)
{
	const char *p = name;

	while ((p = strchr(p, '('))) {
		size_t digits = strspn(p + 1, "0123456789");

		if (digits && !strncmp(p + 1 + digits, "): ", 3))
			return p;
		p++;
	}
	return NULL;
}

static bool is_user_python(const char *name)
{
	static const char *const not_user[] = {
		"/torch/",     "site-packages", "dist-packages",
		"lib/python3", "threading.py",  NULL
	};

	return find_line(name) && !begins(name, "torch/") &&
	       !begins(name, "<built-in") && !has_any(name, not_user);
}

struct pf_name_class pf_name_classify(const char *name)
{
	struct pf_name_class c = { 0 };

	classify_call(name, &c);
	c.range = (uint8_t)classify_range(name);
	c.overhead = (uint8_t)classify_overhead(name);
	c.is_user_python = is_user_python(name);
	c.is_step = begins(name, "ProfilerStep#");
	c.is_wait = strstr(name, "Stream Wait") != NULL;
	return c;
}

/* ---- by id ---- */

char *pf_names_text_take(struct pf_names *n, uint32_t name, struct pf_err *err)
{
	char *out = NULL;
	int rc;

	sqlite3_reset(n->text);
	sqlite3_bind_int64(n->text, 1, name);
	rc = pf_db_step(n->db, n->text, err);
	if (rc == 1)
		out = pf_memdup0(sqlite3_column_blob(n->text, 0),
				 (size_t)sqlite3_column_bytes(n->text, 0));
	else if (rc == 0)
		out = pf_strdup("(name not listed)");
	sqlite3_reset(n->text);
	return out;
}

char *pf_names_frame_take(struct pf_names *n, uint32_t name, struct pf_err *err)
{
	char *text = pf_names_text_take(n, name, err), *line, *end;

	line = text ? (char *)find_line(text) : NULL;
	if (!line)
		return text;
	/* "(12): f" and ":12 f" */
	end = strchr(line, ')');
	*line = ':';
	memmove(end, end + 2, strlen(end + 2) + 1);
	return text;
}

const char *pf_names_frame(struct pf_names *n, uint32_t name,
			   struct pf_err *err)
{
	uint64_t *at;
	char *text;

	if (name == PF_ID_NONE)
		return NULL;
	at = pf_map_at(&n->frames, name);
	if (*at == UINT64_MAX) {
		text = pf_names_frame_take(n, name, err);
		if (!text)
			return NULL;
		*at = (uintptr_t)pf_arena_string(&n->texts, text);
		free(text);
	}
	return (const char *)(uintptr_t)*at;
}

const struct pf_name_class *pf_names_class(struct pf_names *n, uint32_t name,
					   struct pf_err *err)
{
	struct pf_name_class *out = &n->other;
	char *text;

	if (name < n->slot_count) {
		if (n->slots[name].is_known)
			return &n->slots[name].class;
		out = &n->slots[name].class;
	}
	text = pf_names_text_take(n, name, err);
	if (!text)
		return NULL;
	*out = pf_name_classify(text);
	free(text);
	if (name < n->slot_count)
		n->slots[name].is_known = true;
	return out;
}

unsigned pf_names_kind(const struct pf_names *n, uint32_t type)
{
	return type < sizeof(n->kinds) ? n->kinds[type] : PF_KIND_COUNT;
}

static int load_kinds(struct pf_names *n, struct pf_err *err)
{
	sqlite3_stmt *stmt = pf_db_prepare(
		n->db, "SELECT id, kind FROM event_type ORDER BY id", err);
	int rc;

	if (!stmt)
		return -1;
	memset(n->kinds, PF_KIND_COUNT, sizeof(n->kinds));
	while ((rc = pf_db_step(n->db, stmt, err)) == 1) {
		int64_t id = sqlite3_column_int64(stmt, 0);
		int64_t kind = sqlite3_column_int64(stmt, 1);

		if (id >= 0 && id < (int64_t)sizeof(n->kinds) && kind >= 0 &&
		    kind < PF_KIND_COUNT)
			n->kinds[id] = (unsigned char)kind;
	}
	sqlite3_finalize(stmt);
	return rc;
}

static int make_slots(struct pf_names *n, struct pf_err *err)
{
	sqlite3_stmt *stmt =
		pf_db_prepare(n->db, "SELECT max(id) FROM string", err);
	int64_t last;
	int rc;

	if (!stmt)
		return -1;
	rc = pf_db_step(n->db, stmt, err);
	last = rc == 1 ? sqlite3_column_int64(stmt, 0) : 0;
	sqlite3_finalize(stmt);
	if (rc < 0)
		return -1;
	n->slot_count = last < 0           ? 0
			: last < DENSE_IDS ? (size_t)last + 1
					   : DENSE_IDS;
	n->slots = pf_calloc(n->slot_count + 1, sizeof(*n->slots));
	return 0;
}

struct pf_names *pf_names_new(struct pf_db *db, struct pf_err *err)
{
	struct pf_names *n = pf_calloc(1, sizeof(*n));

	n->db = db;
	pf_map_init(&n->frames);
	n->text =
		pf_db_prepare(db, "SELECT text FROM string WHERE id = ?1", err);
	if (n->text && !load_kinds(n, err) && !make_slots(n, err))
		return n;
	pf_names_free(n);
	return NULL;
}

void pf_names_free(struct pf_names *n)
{
	if (!n)
		return;
	sqlite3_finalize(n->text);
	pf_map_release(&n->frames);
	pf_arena_release(&n->texts);
	free(n->slots);
	free(n);
}

/* ---- counts ---- */

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Does what was copied so far end with a word that a count follows? */
static bool ends_counting(const struct pf_buf *b)
{
	static const char *const words[] = { "step", "iter", "iteration",
					     "batch", "epoch" };
	size_t len = b->len;

	if (len && b->data[len - 1] == '#')
		return true;
	while (len && strchr(" _:=-", b->data[len - 1]))
		len--;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		size_t n = strlen(words[i]);

		if (len >= n && !strncasecmp(b->data + len - n, words[i], n) &&
		    (len == n || !is_letter(b->data[len - n - 1])))
			return true;
	}
	return false;
}

void pf_name_without_counts(const char *s, struct pf_buf *out)
{
	size_t digits;

	pf_buf_adds(out, "");
	for (; *s; s += digits ? digits : 1) {
		digits = strspn(s, "0123456789");
		if (digits && ends_counting(out))
			pf_buf_addc(out, 'N');
		else
			pf_buf_add(out, s, digits ? digits : 1);
	}
}
