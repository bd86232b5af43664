/* SPDX-License-Identifier: MIT */
/*
 * NVTX for the program: ranges and marks go to the calling thread's ring.
 * Domains, categories and registered strings are objects in memory that is
 * kept over fork and never freed: programs hold pointers to them for ever.
 */
#include "config.h"

#include "agent.h"
#include "nvtx_abi.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <wchar.h>

#define EXPORT       __attribute__((visibility("default")))
#define OBJECT_BYTES (16u << 20)
#define BUCKETS      4096u
#define WIDE_BYTES   4096u /* wide text is cut at this many bytes of UTF-8 */
#define NVTX_SHARE   192u  /* of the strings, in 256ths: kernels need some */
#define NOT_RECORDED (UINT64_C(1) << 63)
#define NO_PUSH_POP  (-2)

enum object_kind { DOMAIN = 1, CATEGORY, STRING, RESOURCE };

struct object {
	struct object *next;     /* of its bucket */
	struct object *older;    /* of all */
	_Atomic uint64_t cached; /* string: generation << 32 | id */
	uint32_t kind, domain, id, len;
	char text[];
};

static struct {
	pthread_mutex_t lock;
	uint8_t *_Atomic memory; /* set once */
	size_t used;
	uint32_t domains;
	struct object *newest;
	struct object *buckets[BUCKETS];
} objects = { .lock = PTHREAD_MUTEX_INITIALIZER, .domains = 1 };

static _Atomic uint64_t next_range = 1;
static pthread_key_t ring_key;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static bool have_key;

/* ---- objects ---- */

static uint32_t hash_object(uint32_t kind, uint32_t domain, uint32_t id,
			    const char *text, uint32_t len)
{
	uint32_t h = kind * 31 + domain * 65599 + id * 2654435761u;

	for (uint32_t i = 0; i < len; i++)
		h = (h ^ (uint8_t)text[i]) * 16777619u;
	return h % BUCKETS;
}

static struct object *find_object(uint32_t bucket, uint32_t kind,
				  uint32_t domain, uint32_t id,
				  const char *text, uint32_t len)
{
	struct object *o = objects.buckets[bucket];

	while (o && (o->kind != kind || o->domain != domain ||
		     (kind == CATEGORY && o->id != id) || o->len != len ||
		     memcmp(o->text, text, len) != 0))
		o = o->next;
	return o;
}

static struct object *new_object(uint32_t len)
{
	size_t bytes = (sizeof(struct object) + len + 15) & ~(size_t)15;
	struct object *o;

	if (!objects.memory) {
		void *p = mmap(NULL, OBJECT_BYTES, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
			       0);
		if (p == MAP_FAILED)
			return NULL;
		atomic_store_explicit(&objects.memory, p, memory_order_release);
	}
	if (bytes > OBJECT_BYTES - objects.used)
		return NULL;
	o = (struct object *)(void *)(objects.memory + objects.used);
	objects.used += bytes;
	return o;
}

/* Find or make an object; *fresh if it was made.  NULL: no room. */
static struct object *get_object(uint32_t kind, uint32_t domain, uint32_t id,
				 const char *text, uint32_t len, bool *fresh)
{
	uint32_t bucket =
		hash_object(kind, domain, kind == CATEGORY ? id : 0, text, len);
	struct object *o;

	*fresh = false;
	pthread_mutex_lock(&objects.lock);
	o = find_object(bucket, kind, domain, id, text, len);
	if (!o && !(kind == DOMAIN && objects.domains >= PF_DOMAINS) &&
	    (o = new_object(len))) {
		o->kind = kind;
		o->domain = domain;
		o->id = kind == DOMAIN ? objects.domains++ : id;
		o->len = len;
		memcpy(o->text, text, len);
		o->next = objects.buckets[bucket];
		objects.buckets[bucket] = o;
		o->older = objects.newest;
		objects.newest = o;
		*fresh = true;
	}
	pthread_mutex_unlock(&objects.lock);
	return o;
}

/* Is this pointer of the program's one of our objects? */
static const struct object *as_object(const void *p, uint32_t kind)
{
	uintptr_t at = (uintptr_t)p;
	uintptr_t base = (uintptr_t)atomic_load_explicit(&objects.memory,
							 memory_order_acquire);
	const struct object *o = p;

	if (!base || at < base || at >= base + OBJECT_BYTES || at % 16 ||
	    o->kind != kind)
		return NULL;
	return o;
}

static void define(struct pf_agent *a, const struct object *o)
{
	uint64_t ids[2] = { o->id, 0 };
	bool fits;

	if (o->kind == DOMAIN) {
		fits = pf_defs_name(&a->defs, PF_DEF_DOMAIN, ids, 1, o->text,
				    o->len);
	} else if (o->kind == CATEGORY) {
		ids[0] = o->domain;
		ids[1] = o->id;
		fits = pf_defs_name(&a->defs, PF_DEF_CATEGORY, ids, 2, o->text,
				    o->len);
	} else {
		return;
	}
	if (!fits)
		PF_COUNT_ADD(a->counts.no_names, 1);
}

/* The oldest first, so that the last name of a category holds. */
void pf_nvtx_define(struct pf_agent *a)
{
	struct object *o, *list = NULL;

	pthread_mutex_lock(&objects.lock);
	for (o = objects.newest; o; o = o->older)
		o->next = NULL; /* buckets are made anew below */
	memset(objects.buckets, 0, sizeof(objects.buckets));
	while ((o = objects.newest)) {
		objects.newest = o->older;
		o->older = list;
		list = o;
	}
	while ((o = list)) {
		uint32_t bucket = hash_object(o->kind, o->domain,
					      o->kind == CATEGORY ? o->id : 0,
					      o->text, o->len);
		list = o->older;
		o->older = objects.newest;
		objects.newest = o;
		o->next = objects.buckets[bucket];
		objects.buckets[bucket] = o;
		define(a, o);
	}
	pthread_mutex_unlock(&objects.lock);
}

void pf_nvtx_child(void)
{
	static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;

	memcpy(&objects.lock, &fresh, sizeof(fresh));
	if (have_key)
		pthread_setspecific(ring_key, NULL);
}

/* ---- text ---- */

struct text {
	uint32_t id; /* in the string table, 0: none */
	uint32_t len;
	const char *text;
	char wide[WIDE_BYTES];
};

static uint32_t utf8(const wchar_t *w, char *out, uint32_t room, bool *cut)
{
	uint32_t n = 0;

	for (; *w; w++) {
		uint32_t c = (uint32_t)*w;
		if (n + 4 > room) {
			*cut = true;
			break;
		}
		if (c < 0x80) {
			out[n++] = (char)c;
		} else if (c < 0x800) {
			out[n++] = (char)(0xC0 | c >> 6);
			out[n++] = (char)(0x80 | (c & 63));
		} else if (c < 0x10000) {
			out[n++] = (char)(0xE0 | c >> 12);
			out[n++] = (char)(0x80 | (c >> 6 & 63));
			out[n++] = (char)(0x80 | (c & 63));
		} else {
			out[n++] = (char)(0xF0 | (c >> 18 & 7));
			out[n++] = (char)(0x80 | (c >> 12 & 63));
			out[n++] = (char)(0x80 | (c >> 6 & 63));
			out[n++] = (char)(0x80 | (c & 63));
		}
	}
	return n;
}

static void text_of(struct pf_agent *a, struct text *t, const void *message,
		    int32_t type)
{
	bool cut = false;

	t->id = t->len = 0;
	t->text = NULL;
	if (!message)
		return;
	if (type == PF_NVTX_ASCII) {
		t->text = message;
		t->len = (uint32_t)strnlen(message, PF_STRING_MAX + 1);
		cut = t->len > PF_STRING_MAX;
		t->len -= cut;
	} else if (type == PF_NVTX_UNICODE) {
		t->text = t->wide;
		t->len = utf8(message, t->wide, sizeof(t->wide), &cut);
	}
	if (cut)
		PF_COUNT_ADD(a->counts.cut_names, 1);
}

/* The name of an event: an id if there is room for one, else short text. */
static void intern(struct pf_agent *a, struct text *t)
{
	if (!t->len)
		return;
	t->id = pf_defs_id(&a->defs, &a->defs.strings, t->text, t->len,
			   NVTX_SHARE);
	if (t->id) {
		t->len = 0;
	} else if (t->len > PF_NAME_MAX) {
		t->len = PF_NAME_MAX;
		PF_COUNT_ADD(a->counts.cut_names, 1);
	}
}

static void registered(struct pf_agent *a, struct text *t, const void *handle)
{
	struct object *o =
		(struct object *)(uintptr_t)as_object(handle, STRING);
	uint64_t cached;

	t->id = t->len = 0;
	if (!o)
		return;
	cached = atomic_load_explicit(&o->cached, memory_order_acquire);
	if (cached >> 32 == a->generation && (uint32_t)cached) {
		t->id = (uint32_t)cached;
		return;
	}
	t->text = o->text;
	t->len = o->len;
	intern(a, t);
	if (t->id)
		atomic_store_explicit(&o->cached,
				      (uint64_t)a->generation << 32 | t->id,
				      memory_order_release);
}

/* ---- the calling thread ---- */

static void thread_ends(void *ring)
{
	pf_local.ring = NULL;
	if (pf_agent_now())
		pf_ring_end(ring);
}

static void make_key(void)
{
	have_key = !pthread_key_create(&ring_key, thread_ends);
}

static struct pf_ring *my_ring(struct pf_agent *a)
{
	if (!pf_local.ring) {
		pthread_once(&key_once, make_key);
		pf_local.ring = pf_ring_take(&a->rings);
		if (pf_local.ring && have_key)
			pthread_setspecific(ring_key, pf_local.ring);
		if (pf_local.ring)
			pf_threads_add(&a->threads, pf_local.ring->tid, false);
	}
	return pf_local.ring;
}

/* The agent, for a call of NVTX; NULL: the call is dropped and counted. */
static struct pf_agent *enter(struct pf_inside *in)
{
	struct pf_agent *a;

	if (!pf_enter(in)) {
		a = pf_agent_now();
		if (a)
			PF_COUNT_ADD(a->counts.dropped_nvtx, 1);
		return NULL;
	}
	a = pf_agent_get();
	if (!a)
		pf_leave(in);
	return a;
}

static bool recording(const struct pf_agent *a)
{
	return atomic_load_explicit(&a->window, memory_order_relaxed) ==
	       PF_OPEN;
}

static bool add(struct pf_agent *a, struct pf_ring *r, struct pf_slot *s,
		const char *text)
{
	bool wake = false, added;

	s->time_ns = pf_now_ns();
	added = !atomic_load_explicit(&a->closed, memory_order_relaxed) &&
		pf_ring_add(r, s, text, &wake);
	if (!added)
		PF_COUNT_ADD(a->counts.dropped_nvtx, 1);
	if (wake)
		pf_wake_post(&a->writer);
	return added;
}

/* ---- events ---- */

struct event {
	uint8_t type; /* enum pf_event_type */
	const void *domain;
	const struct pf_nvtx_attributes *attributes; /* or */
	const void *message;
	int32_t message_type;
};

#define HAS(at, field)                                                         \
	((at)->size >=                                                         \
	 offsetof(struct pf_nvtx_attributes, field) + sizeof((at)->field))

/* Domain handles that are not ours count as the default domain. */
static uint32_t domain_id(const void *handle)
{
	const struct object *o = as_object(handle, DOMAIN);

	return o ? o->id : 0;
}

static void fill(struct pf_agent *a, const struct event *v, struct pf_slot *s,
		 struct text *t)
{
	const struct pf_nvtx_attributes *at = v->attributes;
	const void *message = v->message;
	int32_t type = v->message_type;

	memset(s, 0, sizeof(*s));
	s->type = v->type;
	s->domain = domain_id(v->domain);
	if (at) {
		message = HAS(at, message) ? at->message : NULL;
		type = HAS(at, message) ? at->message_type : 0;
		s->category = HAS(at, category) ? at->category : 0;
		if (HAS(at, colour) && at->colour_type == PF_NVTX_ARGB)
			s->colour = at->colour;
		if (HAS(at, payload) && at->payload_type > 0 &&
		    at->payload_type < 128) {
			s->payload_type = (uint8_t)at->payload_type;
			s->payload = at->payload;
		}
	}
	if (type == PF_NVTX_REGISTERED) {
		registered(a, t, message);
	} else {
		text_of(a, t, message, type);
		intern(a, t);
	}
	s->name = t->id;
	s->text_len = t->len;
}

static int push(const struct event *v)
{
	struct pf_inside in;
	struct pf_agent *a = enter(&in);
	struct pf_ring *r;
	struct pf_slot s;
	struct text t;
	int depth = NO_PUSH_POP;

	if (!a)
		return NO_PUSH_POP;
	r = my_ring(a);
	if (!r) {
		PF_COUNT_ADD(a->counts.dropped_nvtx, 1);
	} else if (!recording(a)) {
		depth = pf_ring_open(r, domain_id(v->domain), false);
	} else {
		bool deep;
		fill(a, v, &s, &t);
		deep = r->depths[s.domain].depth >= PF_DEPTH_MAX;
		if (deep)
			PF_COUNT_ADD(a->counts.dropped_nvtx, 1);
		depth = pf_ring_open(r, s.domain,
				     !deep && add(a, r, &s, t.text));
	}
	pf_leave(&in);
	return depth;
}

/* A push that was not recorded has a pop that is not. */
static int pop(const void *domain)
{
	struct pf_inside in;
	struct pf_agent *a = enter(&in);
	struct pf_slot s = { .type = PF_EV_POP, .domain = domain_id(domain) };
	struct pf_ring *r;
	bool recorded = false;
	int depth = NO_PUSH_POP;

	if (!a)
		return NO_PUSH_POP;
	r = my_ring(a);
	if (r)
		depth = pf_ring_close(r, s.domain, &recorded);
	if (recorded)
		add(a, r, &s, NULL);
	pf_leave(&in);
	return depth;
}

/* A mark, or the start of a range: its id. */
static uint64_t mark(const struct event *v)
{
	struct pf_inside in;
	struct pf_agent *a = enter(&in);
	struct pf_slot s;
	struct text t;
	struct pf_ring *r;
	uint64_t range = atomic_fetch_add(&next_range, 1);
	bool added = false;

	if (!a)
		return range | NOT_RECORDED;
	r = my_ring(a);
	if (!r) {
		PF_COUNT_ADD(a->counts.dropped_nvtx, 1);
	} else if (recording(a)) {
		fill(a, v, &s, &t);
		s.range = v->type == PF_EV_RANGE_START ? range : 0;
		added = add(a, r, &s, t.text);
	}
	pf_leave(&in);
	return added ? range : range | NOT_RECORDED;
}

static void range_end(const void *domain, uint64_t range)
{
	struct pf_inside in;
	struct pf_agent *a;
	struct pf_slot s = { .type = PF_EV_RANGE_END,
			     .range = range,
			     .domain = domain_id(domain) };
	struct pf_ring *r;

	if (range & NOT_RECORDED || !range)
		return;
	a = enter(&in);
	if (!a)
		return;
	r = my_ring(a);
	if (r)
		add(a, r, &s, NULL);
	else
		PF_COUNT_ADD(a->counts.dropped_nvtx, 1);
	pf_leave(&in);
}

/* ---- names ---- */

/* Make an object of a text; NULL if there is no room for it. */
static struct object *name(enum object_kind kind, const void *domain,
			   uint32_t id, const void *message, int32_t type)
{
	struct pf_inside in;
	struct pf_agent *a = enter(&in);
	struct object *o = NULL;
	struct text t;
	bool fresh;

	if (!a)
		return NULL;
	text_of(a, &t, message, type);
	if (t.text) {
		o = get_object(kind, domain_id(domain), id, t.text, t.len,
			       &fresh);
		if (!o)
			PF_COUNT_ADD(a->counts.no_names, 1);
		else if (fresh || kind == CATEGORY)
			define(a, o);
	}
	pf_leave(&in);
	return o;
}

static void name_thread(uint32_t tid, const void *message, int32_t type)
{
	struct pf_inside in;
	struct pf_agent *a = enter(&in);
	uint64_t id = tid;
	struct text t;

	if (!a)
		return;
	text_of(a, &t, message, type);
	pf_threads_add(&a->threads, tid, true);
	if (t.text &&
	    !pf_defs_name(&a->defs, PF_DEF_THREAD, &id, 1, t.text, t.len))
		PF_COUNT_ADD(a->counts.no_names, 1);
	pf_leave(&in);
}

/* ---- NVTX's functions ---- */

#define EVENT(t, d, at, m, mt)                                                 \
	&(struct event)                                                        \
	{                                                                      \
		.type = (t), .domain = (d), .attributes = (at),                \
		.message = (m), .message_type = (mt)                           \
	}
#define ATTRIBUTES const struct pf_nvtx_attributes *at

static void mark_ex(ATTRIBUTES)
{
	mark(EVENT(PF_EV_MARK, NULL, at, NULL, 0));
}

static void mark_a(const char *m)
{
	mark(EVENT(PF_EV_MARK, NULL, NULL, m, PF_NVTX_ASCII));
}

static void mark_w(const wchar_t *m)
{
	mark(EVENT(PF_EV_MARK, NULL, NULL, m, PF_NVTX_UNICODE));
}

static uint64_t start_ex(ATTRIBUTES)
{
	return mark(EVENT(PF_EV_RANGE_START, NULL, at, NULL, 0));
}

static uint64_t start_a(const char *m)
{
	return mark(EVENT(PF_EV_RANGE_START, NULL, NULL, m, PF_NVTX_ASCII));
}

static uint64_t start_w(const wchar_t *m)
{
	return mark(EVENT(PF_EV_RANGE_START, NULL, NULL, m, PF_NVTX_UNICODE));
}

static void end(uint64_t range)
{
	range_end(NULL, range);
}

static int push_ex(ATTRIBUTES)
{
	return push(EVENT(PF_EV_PUSH, NULL, at, NULL, 0));
}

static int push_a(const char *m)
{
	return push(EVENT(PF_EV_PUSH, NULL, NULL, m, PF_NVTX_ASCII));
}

static int push_w(const wchar_t *m)
{
	return push(EVENT(PF_EV_PUSH, NULL, NULL, m, PF_NVTX_UNICODE));
}

static int pop_default(void)
{
	return pop(NULL);
}

static void category_a(uint32_t id, const char *m)
{
	name(CATEGORY, NULL, id, m, PF_NVTX_ASCII);
}

static void category_w(uint32_t id, const wchar_t *m)
{
	name(CATEGORY, NULL, id, m, PF_NVTX_UNICODE);
}

static void thread_a(uint32_t tid, const char *m)
{
	name_thread(tid, m, PF_NVTX_ASCII);
}

static void thread_w(uint32_t tid, const wchar_t *m)
{
	name_thread(tid, m, PF_NVTX_UNICODE);
}

static void domain_mark(const void *d, ATTRIBUTES)
{
	mark(EVENT(PF_EV_MARK, d, at, NULL, 0));
}

static uint64_t domain_start(const void *d, ATTRIBUTES)
{
	return mark(EVENT(PF_EV_RANGE_START, d, at, NULL, 0));
}

static int domain_push(const void *d, ATTRIBUTES)
{
	return push(EVENT(PF_EV_PUSH, d, at, NULL, 0));
}

static void *resource_create(const void *d, const void *attributes)
{
	static char handle; /* resources are not recorded */

	(void)d;
	(void)attributes;
	return &handle;
}

static void do_nothing(const void *p)
{
	(void)p;
}

static void domain_category_a(const void *d, uint32_t id, const char *m)
{
	name(CATEGORY, d, id, m, PF_NVTX_ASCII);
}

static void domain_category_w(const void *d, uint32_t id, const wchar_t *m)
{
	name(CATEGORY, d, id, m, PF_NVTX_UNICODE);
}

static void *string_a(const void *d, const char *m)
{
	return name(STRING, d, 0, m, PF_NVTX_ASCII);
}

static void *string_w(const void *d, const wchar_t *m)
{
	return name(STRING, d, 0, m, PF_NVTX_UNICODE);
}

static void *domain_a(const char *m)
{
	return name(DOMAIN, NULL, 0, m, PF_NVTX_ASCII);
}

static void *domain_w(const wchar_t *m)
{
	return name(DOMAIN, NULL, 0, m, PF_NVTX_UNICODE);
}

#define FN(f) (pf_nvtx_fn *)(f)

static pf_nvtx_fn *const core[] = {
	NULL,           FN(mark_ex),    FN(mark_a),   FN(mark_w),
	FN(start_ex),   FN(start_a),    FN(start_w),  FN(end),
	FN(push_ex),    FN(push_a),     FN(push_w),   FN(pop_default),
	FN(category_a), FN(category_w), FN(thread_a), FN(thread_w),
};

static pf_nvtx_fn *const core2[] = {
	NULL,
	FN(domain_mark),
	FN(domain_start),
	FN(range_end),
	FN(domain_push),
	FN(pop),
	FN(resource_create),
	FN(do_nothing),
	FN(domain_category_a),
	FN(domain_category_w),
	FN(string_a),
	FN(string_w),
	FN(domain_a),
	FN(domain_w),
	FN(do_nothing),
	FN(do_nothing),
};

static void put_functions(const struct pf_nvtx_callbacks *c, int module,
			  pf_nvtx_fn *const *ours, unsigned count)
{
	pf_nvtx_fn ***table = NULL;
	unsigned size = 0;

	if (!c->module_table(module, &table, &size) || !table)
		return;
	for (unsigned i = 1; i < size && i < count; i++)
		if (table[i])
			*table[i] = ours[i];
}

EXPORT int InitializeInjectionNvtx2(pf_nvtx_export_fn *get_table);

/* Each copy of NVTX in the process calls this.  0 would unload us. */
int InitializeInjectionNvtx2(pf_nvtx_export_fn *get_table)
{
	const struct pf_nvtx_callbacks *c;
	struct pf_inside in;

	if (!pf_enter(&in))
		return 1;
	c = get_table && pf_options_get()->nvtx
		    ? get_table(PF_NVTX_TABLE_CALLBACKS)
		    : NULL;
	if (c && c->size >= sizeof(*c) && c->module_table) {
		put_functions(c, PF_NVTX_CORE, core,
			      sizeof(core) / sizeof(core[0]));
		put_functions(c, PF_NVTX_CORE2, core2,
			      sizeof(core2) / sizeof(core2[0]));
	}
	pf_leave(&in);
	return 1;
}
