/* SPDX-License-Identifier: MIT */
/*
 * Classes are kept in an array by string.id as far as ids are dense, which all
 * readers of a database share; beyond that (a damaged database) each is worked
 * out anew.
 */
#include "config.h"

#include "events/names.h"

#include <ctype.h>
#include <sched.h>
#include <stdatomic.h>
#include <strings.h>

#include "base/demangle.h"
#include "base/intern.h"
#include "store/cursor.h"
#include "store/kept.h"
#include "store/query.h"
#include "store/texts.h"

/* ---- kinds ---- */

#define TYPES_MAX 65536 /* as ingest writes */

int pf_kinds_load(struct pf_kinds *k, struct pf_db *db, struct pf_err *err)
{
	sqlite3_stmt *stmt = pf_named_prepare(db, "event_kinds", err);
	size_t cap = 0;
	int rc = stmt ? 0 : -1;

	while (!rc && (rc = pf_db_step(db, stmt, err)) == 1) {
		int64_t id = sqlite3_column_int64(stmt, 0);
		int64_t kind = sqlite3_column_int64(stmt, 1);
		size_t old = k->count;

		rc = 0;
		if (id < 0 || id >= TYPES_MAX || kind < 0 ||
		    kind >= PF_KIND_COUNT)
			continue;
		if ((size_t)id >= old) {
			k->count = (size_t)id + 1;
			k->of = pf_grow(k->of, &cap, k->count, 1);
			memset(k->of + old, PF_KIND_COUNT, k->count - old);
		}
		k->of[id] = (unsigned char)kind;
		if (sqlite3_column_int(stmt, 2))
			k->of[id] |= PF_KINDS_NVTX;
		if (sqlite3_column_int(stmt, 3))
			k->of[id] |= PF_KINDS_PAIRED;
	}
	pf_db_keep(db, stmt);
	return rc;
}

void pf_kinds_release(struct pf_kinds *k)
{
	free(k->of);
	*k = (struct pf_kinds){ 0 };
}

#define DENSE_IDS (1u << 24)

/* Whoever takes an empty one fills it; until it is full nobody reads it. */
enum { EMPTY, TAKEN, FULL };

struct slot {
	atomic_uchar state;
	bool is_step; /* a step bears it, whatever it says */
	struct pf_name_class class;
};

struct classes {
	struct slot *slots;
	size_t count;
};

struct pf_names {
	struct pf_db *db;
	struct pf_texts by_id;
	const struct classes *classes;
	struct pf_kinds kinds;
	struct pf_name_class other; /* of the last name that has no slot */
	uint32_t other_name;
	struct pf_map frames; /* string.id -> its text among these */
	struct pf_arena texts;
};

/* In the order of enum pf_cause. */
static const struct {
	const char *name, *phrase;
	bool is_after_call;
} causes[PF_CAUSE_COUNT] = {
	{ "sync", "in calls that wait for the GPU", true },
	{ "blocking copy", "in copies that block the host", true },
	{ "allocator", "in the allocator", true },
	{ "first use", "in first uses, which load code or start the driver",
	  false },
	{ "compile", "compiling", false },
	{ "data loading", "loading data", false },
	{ "garbage collection", "in garbage collection", false },
	{ "profiler", "the profiler's own work", false },
	{ "communication wait", "waiting for other processes", false },
	{ "runtime", "in calls of the runtime", true },
	{ "operators", "in operators on the CPU", true },
	{ "python", "in Python", true },
	{ "range", "in ranges, outside of operators", true },
	{ "unrecorded", "time without records", true },
	{ "launch latency", "in launch calls and until their work begins",
	  true },
	{ "dependency", "waiting for another stream", false },
	{ "graph", "between kernels of graphs", false },
	{ "queued behind", "work queued behind what was not recorded", false },
	{ "no launch record", "before work without a launch call", false },
	{ "micro", "in short gaps", false },
};

const char *pf_cause_name(enum pf_cause cause)
{
	return causes[cause].name;
}

const char *pf_cause_phrase(enum pf_cause cause)
{
	return causes[cause].phrase;
}

bool pf_cause_is_after_call(enum pf_cause cause)
{
	return causes[cause].is_after_call;
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
	c->capture = (uint8_t)pf_word(PF_WORD_CALL_CAPTURE, name);
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
	if (strstr(name, "profiler") && pf_word(PF_WORD_PROFILER, name))
		return PF_CAUSE_PROFILER;
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

bool pf_name_has_line(const char *frame)
{
	const char *p = frame;

	if (strstr(frame, ".py:"))
		return true;
	while ((p = strchr(p, ':'))) {
		size_t digits = strspn(++p, "0123456789");

		if (digits && p[digits] == ' ')
			return true;
	}
	return false;
}

/* Python's own modules have no folder; JAX writes "$train.py:12 f" of all. */
static bool is_user_python(const char *name)
{
	bool is_jax = *name == '$' && pf_name_has_line(name);

	return (is_jax || find_line(name)) && !pf_word(PF_WORD_LIBRARY, name) &&
	       !(is_jax && pf_word(PF_WORD_LIBRARY, name + 1));
}

struct pf_name_class pf_name_classify(const char *name)
{
	struct pf_name_class c = { 0 };

	classify_call(name, &c);
	c.range = (uint8_t)classify_range(name);
	c.overhead = (uint8_t)classify_overhead(name);
	c.is_user_python = is_user_python(name);
	c.is_step = c.is_numbered = pf_word(PF_WORD_STEP, name);
	c.is_optimizer = pf_word(PF_WORD_OPTIMIZER, name);
	c.is_library_range = c.is_optimizer ||
			     pf_word(PF_WORD_LIBRARY_RANGE, name) ||
			     pf_word(PF_WORD_COMM_OP, name);
	c.is_module =
		!strncmp(name, PF_MODULE_PREFIX, strlen(PF_MODULE_PREFIX));
	c.is_asleep = pf_word(PF_WORD_ASLEEP, name);
	c.woken_by = pf_word(PF_WORD_OF_LOCK, name)     ? PF_WOKEN_LOCK
		     : pf_word(PF_WORD_OF_ENGINE, name) ? PF_WOKEN_ENGINE
		     : pf_word(PF_WORD_OF_POOL, name)   ? PF_WOKEN_POOL
							: PF_WOKEN_NOT;
	c.wakes = pf_word(PF_WORD_WAKES, name);
	c.is_node = pf_word(PF_WORD_NODE, name);
	c.is_comm_op =
		c.range != PF_CAUSE_COMM && pf_word(PF_WORD_COMM_OP, name);
	c.is_wrapper = !strstr(name, "::") && !strstr(name, "Backward") &&
		       c.range != PF_CAUSE_DATA;
	c.is_free = pf_word(PF_WORD_FREE, name);
	c.is_wait = pf_word(PF_WORD_WAIT_RECORD, name);
	return c;
}

/* ---- by id ---- */

char *pf_names_text_take(struct pf_names *n, uint32_t name)
{
	const char *text;
	size_t len;
	int rc = pf_texts_get(&n->by_id, PF_TEXT_NAME, name, &text, &len,
			      n->db->err);

	if (rc < 0)
		return NULL;
	return rc ? pf_memdup0(text, len) : pf_strdup("(name not listed)");
}

void pf_name_as_frame(char *text)
{
	char *line = (char *)find_line(text), *end;

	if (!line)
		return;
	/* "(12): f" and ":12 f" */
	end = strchr(line, ')');
	if (!strcmp(end, "): <module>")) {
		memmove(line, end + 2, strlen(end + 2) + 1);
		return;
	}
	*line = ':';
	memmove(end, end + 2, strlen(end + 2) + 1);
}

char *pf_names_frame_take(struct pf_names *n, uint32_t name)
{
	char *text = pf_names_text_take(n, name);

	if (text)
		pf_name_as_frame(text);
	return text;
}

const char *pf_names_frame(struct pf_names *n, uint32_t name)
{
	uint64_t *at;
	char *text;

	if (name == PF_ID_NONE)
		return NULL;
	at = pf_map_at(&n->frames, name);
	if (*at == UINT64_MAX) {
		text = pf_names_frame_take(n, name);
		if (!text)
			return NULL;
		*at = (uintptr_t)pf_arena_string(&n->texts, text);
		free(text);
	}
	return (const char *)(uintptr_t)*at;
}

/* Another may be filling it, which takes no longer than the copy. */
static void fill(struct slot *slot, const struct pf_name_class *class)
{
	unsigned char state = EMPTY;

	if (atomic_compare_exchange_strong(&slot->state, &state, TAKEN)) {
		slot->class = *class;
		atomic_store_explicit(&slot->state, FULL, memory_order_release);
	}
	while (atomic_load_explicit(&slot->state, memory_order_acquire) != FULL)
		sched_yield();
}

/* Not inline: many events have few names, and this is not in their way. */
__attribute__((noinline)) static const struct pf_name_class *classify(
	struct pf_names *n, uint32_t name, struct slot *slot)
{
	PF_OWN char *text = pf_names_text_take(n, name);
	struct pf_name_class class;

	if (!text)
		return NULL;
	class = pf_name_classify(text);
	class.is_step |= slot && slot->is_step;
	if (slot) {
		fill(slot, &class);
		return &slot->class;
	}
	n->other = class;
	n->other_name = name;
	return &n->other;
}

const struct pf_name_class *pf_names_class(struct pf_names *n, uint32_t name)
{
	struct slot *slot =
		name < n->classes->count ? &n->classes->slots[name] : NULL;

	if (slot &&
	    atomic_load_explicit(&slot->state, memory_order_acquire) == FULL)
		return &slot->class;
	if (!slot && name == n->other_name)
		return &n->other;
	return classify(n, name, slot);
}

size_t pf_names_count(const struct pf_names *n)
{
	return n->classes->count;
}

unsigned pf_names_kind(const struct pf_names *n, uint32_t type)
{
	return pf_kinds_at(&n->kinds, type);
}

bool pf_names_is_nvtx(const struct pf_names *n, uint32_t type)
{
	return pf_kinds_is_nvtx(&n->kinds, type);
}

bool pf_names_is_paired(const struct pf_names *n, uint32_t type)
{
	return pf_kinds_is_paired(&n->kinds, type);
}

/* Steps of JAX and TensorFlow have names of the program's own. */
static int name_step(struct pf_db *db, struct classes *out, int64_t start_ns,
		     int64_t event_id)
{
	struct pf_cursor *c = pf_cursor_new(db, pf_track_of(event_id),
					    PF_COLBIT(PF_COL_NAME));
	struct pf_span s;
	int rc;

	pf_cursor_seek(c, start_ns);
	while ((rc = pf_cursor_next(c, &s, db->err)) == 1 &&
	       s.seq != (uint32_t)event_id)
		;
	if (rc == 1 && s.name < out->count)
		out->slots[s.name].is_step = true;
	pf_cursor_free(c);
	return rc < 0 ? -1 : 0;
}

static int name_steps(struct pf_db *db, struct classes *out)
{
	PF_STMT(st) = pf_named_prepare(db, "step_named", db->err);
	int rc;

	while ((rc = pf_db_step(db, st, db->err)) == 1)
		PF_TRY(name_step(db, out, sqlite3_column_int64(st, 1),
				 sqlite3_column_int64(st, 2)));
	return rc;
}

static void free_classes(void *p)
{
	struct classes *c = p;

	free(c->slots);
	free(c);
}

static void *make_classes(struct pf_db *db, const char *arg)
{
	sqlite3_stmt *stmt =
		pf_db_prepare(db, "SELECT max(id) FROM string", db->err);
	struct classes *c;
	int64_t last;
	int rc;

	(void)arg;
	if (!stmt)
		return NULL;
	rc = pf_db_step(db, stmt, db->err);
	last = rc == 1 ? sqlite3_column_int64(stmt, 0) : 0;
	sqlite3_finalize(stmt);
	if (rc < 0)
		return NULL;
	c = pf_calloc(1, sizeof(*c));
	c->count = last < 0           ? 0
		   : last < DENSE_IDS ? (size_t)last + 1
				      : DENSE_IDS;
	c->slots = pf_calloc(c->count + 1, sizeof(*c->slots));
	if (!name_steps(db, c))
		return c;
	free_classes(c);
	return NULL;
}

struct pf_names *pf_names_new(struct pf_db *db)
{
	struct pf_names *n = pf_calloc(1, sizeof(*n));

	n->db = db;
	n->other_name = PF_ID_NONE;
	n->by_id.db = db;
	n->classes = pf_memo_get(db, make_classes, free_classes, NULL);
	if (n->classes && !pf_kinds_load(&n->kinds, db, db->err))
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
	for (size_t i = 0; i < PF_LEN(words); i++) {
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

/* ---- words ---- */

static bool begins(const char *name, size_t len, const char *text, size_t n)
{
	return len >= n && !memcmp(name, text, n);
}

static bool has_like(const char *name, size_t len, const char *text, size_t n)
{
	const char bit = 'a' ^ 'A'; /* without it more may fit, not less */

	for (size_t i = 0; i + n <= len; i++)
		if ((name[i] | bit) == (*text | bit) &&
		    !strncasecmp(name + i, text, n))
			return true;
	return false;
}

static bool is_in_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool has_word(const char *name, size_t len, const char *text, size_t n)
{
	const char *at = name, *end = name + len;

	while ((at = memmem(at, (size_t)(end - at), text, n))) {
		if ((at == name || !is_in_word(at[-1])) &&
		    (at + n == end || !is_in_word(at[n])))
			return true;
		at++;
	}
	return false;
}

/* The length of a call's vendor in its name; 0: it is none. */
static size_t find_verb(const char *name, size_t len)
{
	const struct pf_word_row *row =
		&pf_word_rows[pf_word_first[PF_WORD_VENDOR]];
	const struct pf_word_row *end = pf_word_rows + pf_word_row_count;

	for (; row < end && row->word == PF_WORD_VENDOR; row++)
		if (len > row->len && begins(name, len, row->text, row->len) &&
		    isupper((unsigned char)name[row->len]))
			return row->len;
	return 0;
}

static bool fits(const struct pf_word_row *row, const char *name, size_t len,
		 size_t verb)
{
	switch ((enum pf_word_match)row->match) {
	case PF_MATCH_HAS:
		return memmem(name, len, row->text, row->len) != NULL;
	case PF_MATCH_LIKE:
		return has_like(name, len, row->text, row->len);
	case PF_MATCH_WORD:
		return has_word(name, len, row->text, row->len);
	case PF_MATCH_IS:
		return len == row->len && !memcmp(name, row->text, len);
	case PF_MATCH_BEGINS:
		return begins(name, len, row->text, row->len);
	case PF_MATCH_VERB:
		return verb &&
		       begins(name + verb, len - verb, row->text, row->len);
	}
	return false;
}

unsigned pf_word_n(enum pf_word word, const char *name, size_t len)
{
	size_t first = pf_word_first[word];
	size_t verb = pf_word_rows[first].match == PF_MATCH_VERB
			      ? find_verb(name, len)
			      : 0;

	for (size_t i = first;
	     i < pf_word_row_count && pf_word_rows[i].word == (unsigned)word;
	     i++)
		if (fits(&pf_word_rows[i], name, len, verb))
			return (unsigned)(i - first) + 1;
	return 0;
}

/* ---- names of kernels ---- */

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '~';
}

/* Length of the word at s, template arguments not included. */
static size_t word_length(const char *s)
{
	size_t len = 0;

	while (is_word(s[len]))
		len++;
	return len;
}

/* Is this a C++ name that was demangled? */
static bool is_demangled(const char *name)
{
	return strstr(name, "::") || strchr(name, '<') ||
	       !strncmp(name, "void ", 5);
}

static void add_short(struct pf_buf *out, const char *name)
{
	static const char anonymous[] = "(anonymous namespace)::";
	const char *s = name;
	int depth = 0;
	size_t len;

	pf_buf_adds(out, "");
	if (!is_demangled(name)) {
		pf_buf_adds(out, name);
		return;
	}
	if (!strncmp(s, "void ", 5))
		s += 5;
	while (*s) {
		if (!strncmp(s, anonymous, sizeof(anonymous) - 1)) {
			s += sizeof(anonymous) - 1;
			continue;
		}
		len = word_length(s);
		if (len && s[len] == ':' && s[len + 1] == ':') {
			s += len + 2;
			continue;
		}
		if (len) {
			pf_buf_add(out, s, len);
			s += len;
			continue;
		}
		if (*s == '(' && !depth)
			return; /* the parameters */
		depth += *s == '<' || *s == '(' || *s == '{';
		depth -= *s == '>' || *s == ')' || *s == '}';
		pf_buf_addc(out, *s++);
	}
}

/*
 * Types that came after libsupc++'s demangler, and types that it knows and no
 * kernel has, which stand for them meanwhile: builtin types are no
 * candidates for substitution, so that all else stays as it is.
 */
static const struct {
	const char *mangled, *known, *printed, *name;
} types[] = {
	{ "DF16b", "De", "decimal128", "__bf16" },
	{ "DF16_", "Df", "decimal32", "_Float16" },
};

/* Add what stands at *s: a name with its length, a type, one character. */
static void add_known(struct pf_buf *out, const char **s)
{
	char *end;
	unsigned long len;

	if (isdigit((unsigned char)**s)) {
		len = strtoul(*s, &end, 10);
		if (len > strlen(end))
			len = 0;
		pf_buf_add(out, *s, (size_t)(end - *s) + len);
		*s = end + len;
		return;
	}
	/* a literal's digits are no length: "Li64E" */
	if (**s == 'L' && islower((unsigned char)(*s)[1])) {
		len = 2 + strspn(*s + 2, "n0123456789");
		pf_buf_add(out, *s, len);
		*s += len;
		return;
	}
	for (size_t i = 0; i < PF_LEN(types); i++) {
		size_t n = strlen(types[i].mangled);

		if (!strncmp(*s, types[i].mangled, n)) {
			pf_buf_adds(out, types[i].known);
			*s += n;
			return;
		}
	}
	pf_buf_addc(out, *(*s)++);
}

/* A type's name in place of the one that stood for it. */
static void rename_types(struct pf_buf *out, const char *s)
{
	while (*s) {
		size_t i = 0, n = PF_LEN(types);

		while (i < n && strncmp(s, types[i].printed,
					strlen(types[i].printed)) != 0)
			i++;
		pf_buf_add(out, i < n ? types[i].name : s,
			   i < n ? strlen(types[i].name) : 1);
		s += i < n ? strlen(types[i].printed) : 1;
	}
}

/* The innermost of the names "_ZN1a1b..." begins with; false: there is none. */
static bool add_innermost(struct pf_buf *out, const char *s)
{
	const char *name = NULL;
	size_t len = 0, n;

	s += strlen("_Z");
	s += *s == 'N';
	while (isdigit((unsigned char)*s)) {
		char *end;

		n = strtoul(s, &end, 10);
		if (!n || n > strlen(end))
			break;
		name = end;
		len = n;
		s = end + n;
	}
	if (!name)
		return false;
	pf_buf_add(out, name, len);
	if (*s == 'I')
		pf_buf_adds(out, "<...>");
	return true;
}

static void add_short_of_mangled(struct pf_buf *out, const char *name)
{
	PF_AUTO(pf_buf_release) struct pf_buf known = { 0 }, text = { 0 };
	PF_OWN char *plain = NULL;

	for (const char *s = name; *s;)
		add_known(&known, &s);
	plain = pf_demangle_take(known.data, known.len);
	if (plain) {
		rename_types(&text, plain);
		add_short(out, text.data);
	} else if (!add_innermost(out, name)) {
		pf_buf_adds(out, name);
	}
}

void pf_kernel_short_name(struct pf_buf *out, const char *name)
{
	if (!strncmp(name, "_Z", 2))
		add_short_of_mangled(out, name);
	else
		add_short(out, name);
}

/* ---- without template arguments ---- */

/* Does '<' at s[at] begin arguments: does it follow a name? */
static bool begins_arguments(const char *s, size_t at)
{
	static const char word[] = "operator";
	size_t n = sizeof(word) - 1, name = at;

	if (!at || !(is_word(s[at - 1]) || s[at - 1] == ')'))
		return false;
	while (name > 0 && is_word(s[name - 1]))
		name--;
	return at - name != n || memcmp(s + name, word, n) != 0;
}

/*
 * For each '<' that begins arguments the place of its '>', else 0.  What is
 * between round, square and curly brackets opens and closes there; "->" and
 * comparisons in brackets close nothing.
 */
static void match_brackets(const char *s, size_t len, size_t *end)
{
	static const char open[] = "<([{", close[] = ">)]}";
	PF_OWN size_t *stack = pf_calloc(len + 1, sizeof(*stack));
	size_t depth = 0;

	for (size_t i = 0; i < len; i++) {
		const char *kind = s[i] ? strchr(close, s[i]) : NULL;

		if (s[i] == '<' ? begins_arguments(s, i)
				: s[i] && strchr(open, s[i])) {
			stack[depth++] = i;
		} else if (kind && s[i] == '>') {
			if (depth && s[stack[depth - 1]] == '<' &&
			    s[i - 1] != '-')
				end[stack[--depth]] = i;
		} else if (kind) {
			char wanted = open[kind - close];

			while (depth && s[stack[depth - 1]] == '<' &&
			       wanted != '<')
				depth--;
			if (depth && s[stack[depth - 1]] == wanted)
				depth--;
		}
	}
}

void pf_kernel_without_templates(struct pf_buf *out, const char *s, size_t len)
{
	PF_OWN size_t *end = pf_calloc(len + 1, sizeof(*end));
	bool has_dots = true; /* as far as is known */

	match_brackets(s, len, end);
	for (size_t i = 0; i < len; i++) {
		const char *rest = NULL;

		if (end[i]) {
			i = end[i];
			continue;
		}
		/* a name that was cut: up to the dots that say so */
		if (s[i] == '<' && has_dots && begins_arguments(s, i)) {
			rest = memmem(s + i, len - i, "...", 3);
			has_dots = rest != NULL;
		}
		if (rest)
			i = (size_t)(rest - s);
		pf_buf_addc(out, s[i]);
	}
}

const char *pf_kernel_short_kept(struct pf_arena *texts, const char *name)
{
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };
	const char *kept = name;

	if (name)
		pf_kernel_short_name(&text, name);
	if (name && strcmp(text.data, name) != 0)
		kept = pf_arena_string(texts, text.data);
	return kept;
}
