/* SPDX-License-Identifier: MIT */
/*
 * Classes are kept in an array by string.id as far as ids are dense; beyond
 * that (a damaged database) each is worked out anew.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "events/kinds.h"
#include "events/names.h"
#include "base/intern.h"
#include "events/words.h"
#include "base/mem.h"
#include "store/texts.h"

#define DENSE_IDS (1u << 24)

struct slot {
	bool is_known;
	struct pf_name_class class;
};

struct pf_names {
	struct pf_db *db;
	struct pf_texts by_id;
	struct slot *slots;
	size_t slot_count;
	struct pf_kinds kinds;
	struct pf_name_class other; /* of the last name that has no slot */
	uint32_t other_name;
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

static void classify_call(const char *name, struct pf_name_class *c)
{
	c->call = PF_CAUSE_RUNTIME;
	if (pf_word(PF_WORD_CALL_SYNC, name)) {
		c->call = PF_CAUSE_SYNC;
		c->is_sync = c->is_blocking = true;
	} else if (pf_word(PF_WORD_CALL_COPY, name)) {
		c->waits_by_memory = strstr(name, "Async") != NULL;
		c->is_blocking = !c->waits_by_memory;
		if (c->is_blocking)
			c->call = PF_CAUSE_COPY;
	} else if (pf_word(PF_WORD_CALL_FILL, name)) {
		c->waits_by_memory = strstr(name, "Async") == NULL;
	} else if (pf_word(PF_WORD_CALL_BLOCKING, name)) {
		c->call = PF_CAUSE_ALLOCATOR;
		c->is_blocking = !strstr(name, "Async");
	} else if (pf_word(PF_WORD_CALL_ALLOCATOR, name)) {
		c->call = PF_CAUSE_ALLOCATOR;
	} else if (pf_word(PF_WORD_CALL_MODULE, name)) {
		c->call = PF_CAUSE_MODULE;
	}
	c->waits = pf_word(PF_WORD_WAIT_STREAM, name)  ? PF_WAITS_STREAM
		   : pf_word(PF_WORD_WAIT_EVENT, name) ? PF_WAITS_EVENT
		   : pf_word(PF_WORD_WAIT_ALL, name) &&
				   !strstr(name, "Async") &&
				   !strstr(name, "Host")
			   ? PF_WAITS_ALL
			   : PF_WAITS_NOT;
	c->is_record = pf_word(PF_WORD_EVENT_RECORD, name);
	c->is_graph = pf_word(PF_WORD_CALL_GRAPH, name);
	c->is_stream_wait = pf_word(PF_WORD_CALL_STREAM_WAIT, name);
	if (pf_word(PF_WORD_CALL_NO_LAUNCH, name))
		return;
	c->launches = pf_word(PF_WORD_CALL_COPIES, name)   ? PF_LAUNCHES_COPY
		      : pf_word(PF_WORD_CALL_LAUNCH, name) ? PF_LAUNCHES_KERNEL
							   : PF_LAUNCHES_NONE;
}

/* ---- other ranges ---- */

static bool is_compile(const char *name)
{
	const char *function = strstr(name, "): ");

	if (pf_word(PF_WORD_COMPILE, name))
		return true;
	function = function ? function + 3 : name;
	/* compile_wrapper() runs what was compiled */
	return strstr(function, "compile") && pf_word(PF_WORD_COMPILER, name) &&
	       !strstr(function, "compiled") &&
	       !strstr(function, "compile_wrapper");
}

static bool is_comm_wait(const char *name)
{
	/* XLA runs its collectives on the CPU under the names of operations */
	return pf_word(PF_WORD_COMM_WAIT, name) ||
	       pf_word(PF_WORD_COMM_HLO, name) ||
	       (pf_word(PF_WORD_COMM_HOST, name) &&
		(strstr(name, "wait") || strstr(name, "barrier")));
}

/* Overheads as CUPTI names them. */
static enum pf_cause classify_overhead(const char *name)
{
	if (pf_word(PF_WORD_OVERHEAD_MODULE, name))
		return PF_CAUSE_MODULE;
	return pf_word(PF_WORD_OVERHEAD_NONE, name) ? PF_CAUSE_UNRECORDED
						    : PF_CAUSE_PROFILER;
}

static enum pf_cause classify_range(const char *name)
{
	if (pf_word(PF_WORD_OVERHEAD_MODULE, name))
		return PF_CAUSE_MODULE;
	if (is_compile(name))
		return PF_CAUSE_COMPILE;
	if (pf_word(PF_WORD_DATA, name))
		return PF_CAUSE_DATA;
	if (pf_word(PF_WORD_GC, name))
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

struct pf_name_class pf_name_classify(const char *name)
{
	struct pf_name_class c = { 0 };

	classify_call(name, &c);
	c.range = (uint8_t)classify_range(name);
	c.overhead = (uint8_t)classify_overhead(name);
	c.is_user_python = find_line(name) && !pf_word(PF_WORD_LIBRARY, name);
	c.is_step = pf_word(PF_WORD_STEP, name);
	c.is_optimizer = pf_word(PF_WORD_OPTIMIZER, name);
	c.is_module =
		!strncmp(name, PF_MODULE_PREFIX, strlen(PF_MODULE_PREFIX));
	c.is_asleep = pf_word(PF_WORD_ASLEEP, name);
	c.is_wrapper = !strstr(name, "::") && !strstr(name, "Backward") &&
		       c.range != PF_CAUSE_DATA;
	c.is_free = pf_word(PF_WORD_FREE, name);
	c.is_wait = pf_word(PF_WORD_WAIT_RECORD, name);
	return c;
}

/* ---- by id ---- */

char *pf_names_text_take(struct pf_names *n, uint32_t name, struct pf_err *err)
{
	const char *text;
	size_t len;
	int rc = pf_texts_get(&n->by_id, PF_TEXT_NAME, name, &text, &len, err);

	if (rc < 0)
		return NULL;
	return rc ? pf_memdup0(text, len) : pf_strdup("(name not listed)");
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
	} else if (name == n->other_name) {
		return out;
	}
	text = pf_names_text_take(n, name, err);
	if (!text)
		return NULL;
	*out = pf_name_classify(text);
	free(text);
	if (name < n->slot_count)
		n->slots[name].is_known = true;
	else
		n->other_name = name;
	return out;
}

size_t pf_names_count(const struct pf_names *n)
{
	return n->slot_count;
}

unsigned pf_names_kind(const struct pf_names *n, uint32_t type)
{
	return pf_kinds_at(&n->kinds, type);
}

bool pf_names_is_nvtx(const struct pf_names *n, uint32_t type)
{
	return pf_kinds_is_nvtx(&n->kinds, type);
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
	n->other_name = PF_ID_NONE;
	pf_map_init(&n->frames);
	n->by_id.db = db;
	if (!pf_kinds_load(&n->kinds, db, err) && !make_slots(n, err))
		return n;
	pf_names_free(n);
	return NULL;
}

void pf_names_free(struct pf_names *n)
{
	if (!n)
		return;
	pf_texts_release(&n->by_id);
	pf_kinds_release(&n->kinds);
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

bool pf_name_is_whole_graph(const char *name)
{
	if (!strncmp(name, "CUDA ", 5))
		name += 5;
	if (strncmp(name, "graph ", 6) != 0)
		return false;
	name += 6;
	return *name && !name[strspn(name, "0123456789")];
}
