/* SPDX-License-Identifier: MIT */
/*
 * From bytes to runs: which format a file has, and how batches become sorted
 * runs in the order of the file, made in one thread or by several workers.
 */
#include "config.h"

#include <stdio.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/sat.h"
#include "base/tempfile.h"
#include "events/names.h"
#include "formats/json/chrome.h"
#include "formats/logs/telemetry.h"
#include "formats/nsys/nsys.h"
#include "formats/pfr/map.h"
#include "formats/planes.h"
#include "formats/refusal.h"
#include "formats/rocm/rocm.h"
#include "formats/xspace/map.h"
#include "ingest/impl.h"
#include "store/argtext.h"
#include "store/db.h"
#include "store/threads.h"

/* ---- runs ---- */

/* Most bytes that one event takes without its inline texts. */
#define EVENT_MAX ((9 + PF_SLOT_COUNT) * 10)

static inline char *put_varint(char *p, uint64_t v)
{
	while (v >= 0x80) {
		*p++ = (char)(v | 0x80);
		v >>= 7;
	}
	*p++ = (char)v;
	return p;
}

static inline char *put_signed(char *p, int64_t from, int64_t to)
{
	int64_t d = (int64_t)((uint64_t)to - (uint64_t)from);

	return put_varint(p, (uint64_t)d << 1 ^ (uint64_t)(d >> 63));
}

/* Ids next to the top mean "none" and "inline": make them small. */
static inline uint64_t fold_id(uint32_t id)
{
	return (uint32_t)(id + 2);
}

void pf_run_put(struct pf_run_memory *m, const struct pf_run_event *ev,
		struct pf_buf *out)
{
	const int64_t *value = ev->slots;
	char *p;

	pf_buf_reserve(out, EVENT_MAX);
	p = out->data + out->len;
	p = put_signed(p, m->start_ns, ev->start_ns);
	p = put_varint(p, (uint64_t)ev->dur_ns);
	p = put_signed(p, m->order, ev->order);
	p = put_varint(p, fold_id(ev->name));
	p = put_varint(p, ev->type);
	p = put_varint(p, fold_id(ev->args));
	p = put_varint(p, ev->mask);
	m->start_ns = ev->start_ns;
	m->order = ev->order;
	for (uint32_t mask = ev->mask; mask; mask &= mask - 1) {
		int slot = __builtin_ctz(mask);

		p = put_signed(p, m->slot[slot], *value);
		m->slot[slot] = *value++;
	}
	if (ev->name == PF_ID_INLINE)
		p = put_varint(p, ev->inline_name_len);
	if (ev->args == PF_ID_INLINE)
		p = put_varint(p, ev->inline_args_len);
	out->len = (size_t)(p - out->data);
	if (ev->name == PF_ID_INLINE)
		pf_buf_add(out, ev->inline_name, ev->inline_name_len);
	if (ev->args == PF_ID_INLINE)
		pf_buf_add(out, ev->inline_args, ev->inline_args_len);
}

void pf_run_open(struct pf_run_reader *r, const struct pf_scratch *from,
		 const struct pf_run *run, size_t buffer_bytes)
{
	memset(r, 0, sizeof(*r));
	r->from = from;
	r->at = run->offset;
	r->end = run->offset + run->bytes;
	r->left = run->count;
	PF_AT_MOST(buffer_bytes, run->bytes);
	PF_AT_LEAST(buffer_bytes, EVENT_MAX);
	r->buffer_bytes = buffer_bytes;
	r->buffer = pf_alloc(buffer_bytes + EVENT_MAX);
	r->event.slots = r->slots;
}

void pf_run_close(struct pf_run_reader *r)
{
	free(r->buffer);
	r->buffer = NULL;
}

static int read_more(struct pf_run_reader *r, size_t need, struct pf_err *err)
{
	size_t rest = r->have - r->used, want;

	memmove(r->buffer, r->buffer + r->used, rest);
	r->used = 0;
	r->have = rest;
	if (need > r->buffer_bytes) {
		r->buffer_bytes = need;
		r->buffer = pf_realloc(r->buffer, need + EVENT_MAX, 1);
	}
	want = r->buffer_bytes - rest;
	if (want > r->end - r->at)
		want = (size_t)(r->end - r->at);
	PF_TRY(pf_scratch_read(r->from, r->buffer + rest, want, r->at, err));
	r->at += want;
	r->have += want;
	return 0;
}

/* At least "need" unread bytes in the buffer, or all that the run has. */
static inline int fill(struct pf_run_reader *r, size_t need, struct pf_err *err)
{
	return r->have - r->used >= need || r->at == r->end
		       ? 0
		       : read_more(r, need, err);
}

static inline const char *get_varint(const char *p, uint64_t *v)
{
	uint64_t x = (unsigned char)*p & 0x7f;
	int shift = 7;

	while (*p++ & 0x80) {
		x |= (uint64_t)((unsigned char)*p & 0x7f) << shift;
		shift += 7;
	}
	*v = x;
	return p;
}

static inline const char *get_signed(const char *p, int64_t *value)
{
	uint64_t v;

	p = get_varint(p, &v);
	*value = (int64_t)((uint64_t)*value +
			   (v >> 1 ^ (uint64_t)(-(int64_t)(v & 1))));
	return p;
}

static int read_inline(struct pf_run_reader *r, uint32_t name_len,
		       uint32_t args_len, struct pf_err *err)
{
	struct pf_run_event *ev = &r->event;

	PF_TRY(fill(r, (size_t)name_len + args_len, err));
	ev->inline_name = r->buffer + r->used;
	ev->inline_args = ev->inline_name + name_len;
	ev->inline_name_len = name_len;
	ev->inline_args_len = args_len;
	r->used += (size_t)name_len + args_len;
	return 0;
}

int pf_run_next(struct pf_run_reader *r, struct pf_err *err)
{
	struct pf_run_event *ev = &r->event;
	struct pf_run_memory *m = &r->memory;
	uint64_t v, name_len = 0, args_len = 0;
	int64_t *value = r->slots;
	const char *p;

	if (!r->left)
		return 0;
	r->left--;
	PF_TRY(fill(r, EVENT_MAX, err));
	p = r->buffer + r->used;
	p = get_signed(p, &m->start_ns);
	p = get_varint(p, &v);
	ev->dur_ns = (int64_t)v;
	p = get_signed(p, &m->order);
	p = get_varint(p, &v);
	ev->name = (uint32_t)v - 2;
	p = get_varint(p, &v);
	ev->type = (uint32_t)v;
	p = get_varint(p, &v);
	ev->args = (uint32_t)v - 2;
	p = get_varint(p, &v);
	ev->mask = (uint32_t)v;
	ev->start_ns = m->start_ns;
	ev->order = m->order;
	for (uint32_t mask = ev->mask; mask; mask &= mask - 1) {
		int slot = __builtin_ctz(mask);

		p = get_signed(p, &m->slot[slot]);
		*value++ = m->slot[slot];
	}
	if (ev->name == PF_ID_INLINE)
		p = get_varint(p, &name_len);
	if (ev->args == PF_ID_INLINE)
		p = get_varint(p, &args_len);
	r->used = (size_t)(p - r->buffer);
	ev->inline_name_len = ev->inline_args_len = 0;
	if (name_len + args_len == 0)
		return 1;
	return read_inline(r, (uint32_t)name_len, (uint32_t)args_len, err) ? -1
									   : 1;
}

#define EACH_BYTES (64u << 10)

int pf_run_each(const struct pf_scratch *from, const struct pf_run *runs,
		size_t count,
		void (*visit)(void *arg, const struct pf_run_event *ev),
		void *arg, struct pf_err *err)
{
	struct pf_run_reader reader;
	int rc = 0;

	for (size_t i = 0; i < count && !rc; i++) {
		pf_run_open(&reader, from, &runs[i], EACH_BYTES);
		while ((rc = pf_run_next(&reader, err)) > 0)
			visit(arg, &reader.event);
		pf_run_close(&reader);
	}
	return rc;
}

/* ---- sort ---- */

/* What is compared, and which event of the batch it stands for. */
struct key {
	int64_t start_ns, dur_ns;
	uint32_t index;
};

struct pf_ingest_sorter {
	struct key *keys, *spare;
	size_t keys_cap, spare_cap;
	uint32_t *first; /* of each track's keys */
	size_t first_cap;
	size_t *bounds; /* of ascending stretches */
	size_t bounds_cap;
	struct pf_buf bytes;
};

static struct pf_ingest_sorter *ingest_sorter_new(void)
{
	return pf_calloc(1, sizeof(struct pf_ingest_sorter));
}

static void ingest_sorter_free(struct pf_ingest_sorter *s)
{
	if (!s)
		return;
	free(s->keys);
	free(s->spare);
	free(s->first);
	free(s->bounds);
	pf_buf_release(&s->bytes);
	free(s);
}

/* Index breaks ties: it is the order in the file. */
static inline bool in_order(const struct key *a, const struct key *b)
{
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns;
	if (a->dur_ns != b->dur_ns)
		return a->dur_ns > b->dur_ns;
	return a->index < b->index;
}

static void merge(const struct key *a, const struct key *a_end,
		  const struct key *b, const struct key *b_end, struct key *out)
{
	while (a < a_end && b < b_end)
		*out++ = in_order(b, a) ? *b++ : *a++;
	memcpy(out, a, (size_t)(a_end - a) * sizeof(*a));
	out += a_end - a;
	memcpy(out, b, (size_t)(b_end - b) * sizeof(*b));
}

/*
 * Natural merge sort: a chunk is mostly a few ascending stretches (operators,
 * then Python functions, then runtime calls), so few passes are needed.
 */
static void sort_keys(struct pf_ingest_sorter *s, struct key *keys, size_t n)
{
	struct key *from = keys, *to = s->spare;
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		if (i && in_order(&keys[i - 1], &keys[i]))
			continue;
		PF_ROOM(s->bounds, s->bounds_cap, count + 2);
		s->bounds[count++] = i;
	}
	while (count > 1) {
		size_t merged = 0;

		s->bounds[count] = n;
		for (size_t i = 0; i < count; i += 2) {
			size_t a = s->bounds[i], b = s->bounds[i + 1];
			size_t end = i + 1 < count ? s->bounds[i + 2] : b;

			merge(from + a, from + b, from + b, from + end, to + a);
			s->bounds[merged++] = a;
		}
		count = merged;
		keys = from;
		from = to;
		to = keys;
	}
	if (from == s->spare)
		memcpy(to, from, n * sizeof(*to));
}

/* Keys of the batch, grouped by track: track t's begin at first[t]. */
static void group_by_track(struct pf_ingest_sorter *s,
			   const struct pf_parsed *p)
{
	const struct pf_batch *b = &p->batch;
	size_t tracks = p->tracks.count;
	uint32_t sum = 0;

	PF_ROOM(s->first, s->first_cap, tracks + 2);
	PF_ROOM(s->keys, s->keys_cap, b->count);
	PF_ROOM(s->spare, s->spare_cap, b->count);
	memset(s->first, 0, (tracks + 2) * sizeof(*s->first));
	for (size_t i = 0; i < b->count; i++)
		s->first[b->events[i].track + 2]++;
	for (size_t t = 0; t < tracks + 2; t++) {
		sum += s->first[t];
		s->first[t] = sum;
	}
	/* first[t + 1] runs from the begin to the end of track t's keys */
	for (size_t i = 0; i < b->count; i++) {
		const struct pf_event *ev = &b->events[i];

		s->keys[s->first[ev->track + 1]++] =
			(struct key){ ev->start_ns, ev->dur_ns, (uint32_t)i };
	}
}

static void put_event(struct pf_run_memory *memory, const struct pf_parsed *p,
		      const struct pf_event *ev, const uint32_t *type_ids,
		      int64_t first_order, struct pf_buf *out)
{
	const struct pf_dict_entry *name = &p->names.entries[ev->name];
	struct pf_run_event r = {
		.start_ns = ev->start_ns,
		.dur_ns = ev->dur_ns,
		.order = first_order + ev->order,
		.name = name->gid,
		.args = PF_ID_NONE,
		.type = type_ids[ev->type],
		.mask = ev->mask,
		.slots = p->batch.slots + ev->slot_at,
	};

	if (name->gid == PF_ID_INLINE) {
		r.inline_name = p->names.text.data + name->text_at;
		r.inline_name_len = name->text_len;
	}
	if (ev->args != PF_ID_NONE) {
		const struct pf_dict_entry *args = &p->args.entries[ev->args];

		r.args = args->gid;
		if (args->gid == PF_ID_INLINE) {
			r.inline_args = p->args.text.data + args->text_at;
			r.inline_args_len = args->text_len;
		}
	}
	pf_run_put(memory, &r, out);
}

/* One track's events: sort, then append to s->bytes. */
static void put_run(struct pf_ingest_sorter *s, const struct pf_parsed *p,
		    const uint32_t *type_ids, int64_t first_order, size_t from,
		    size_t to, struct pf_run *run, bool *begin_end,
		    uint32_t *kinds)
{
	struct pf_run_memory memory = { 0 };
	size_t begin = s->bytes.len;
	bool any = false;
	uint32_t seen = 0;

	sort_keys(s, s->keys + from, to - from);
	for (size_t i = from; i < to; i++) {
		const struct pf_event *ev = &p->batch.events[s->keys[i].index];

		any |= ev->ph == 'B' || ev->ph == 'E';
		seen |= UINT32_C(1) << ev->kind;
		put_event(&memory, p, ev, type_ids, first_order, &s->bytes);
	}
	*begin_end = any;
	*kinds = seen;
	run->offset = begin;
	run->bytes = (uint32_t)(s->bytes.len - begin);
	run->count = (uint32_t)(to - from);
	run->first_start_ns = s->keys[from].start_ns;
	run->last_start_ns = s->keys[to - 1].start_ns;
}

/* Remember a run that was written (lock held if there is one to hold). */
static int add_run(struct pf_ingest *in, struct pf_ingest_track *t,
		   const struct pf_run *run, struct pf_err *err)
{
	if (++in->runs_total > PF_INGEST_RUNS_MAX)
		return pf_fail(err, PF_ELIMIT,
			       "too many threads and streams interleaved (more "
			       "than %u pieces)",
			       PF_INGEST_RUNS_MAX);
	*PF_ONE_MORE(t->runs, t->run_count, t->runs_cap) = *run;
	return 0;
}

struct written {
	struct pf_run run;
	uint32_t track; /* global */
	uint32_t kinds;
	bool begin_end;
};

static int register_runs(struct pf_ingest *in, struct written *list,
			 size_t count, pthread_mutex_t *lock,
			 struct pf_err *err)
{
	int rc = 0;

	pthread_mutex_lock(lock);
	for (size_t i = 0; i < count && !rc; i++) {
		struct pf_ingest_track *t = pf_ingest_track(in, list[i].track);

		t->has_begin_end |= list[i].begin_end;
		t->kinds |= list[i].kinds;
		rc = add_run(in, t, &list[i].run, err);
	}
	pthread_mutex_unlock(lock);
	return rc;
}

static void count_lost(struct pf_ingest *in, int64_t count,
		       pthread_mutex_t *lock)
{
	pthread_mutex_lock(lock);
	pf_repair_note(&in->repairs, PF_SKIP_TRACKS, count, 0);
	pthread_mutex_unlock(lock);
}

static int ingest_write_runs(struct pf_ingest *in, struct pf_ingest_sorter *s,
			     struct pf_parsed *p, const uint32_t *type_ids,
			     int64_t first_order, pthread_mutex_t *lock,
			     struct pf_err *err)
{
	PF_OWN struct written *list = NULL;
	size_t count = 0, cap = 0;
	uint64_t offset;
	int rc = -1;

	if (!p->batch.count)
		return 0;
	pf_buf_clear(&s->bytes);
	group_by_track(s, p);
	for (size_t t = 0; t < p->tracks.count; t++) {
		size_t from = t ? s->first[t] : 0, to = s->first[t + 1];

		if (from == to)
			continue;
		if (p->tracks.entries[t].gid == PF_ID_INLINE) {
			count_lost(in, (int64_t)(to - from), lock);
			continue;
		}
		PF_ROOM(list, cap, count + 1);
		list[count].track = p->tracks.entries[t].gid;
		put_run(s, p, type_ids, first_order, from, to, &list[count].run,
			&list[count].begin_end, &list[count].kinds);
		count++;
	}
	if (pf_scratch_add(in->runs, s->bytes.data, s->bytes.len, &offset, err))
		goto out;
	for (size_t i = 0; i < count; i++) {
		list[i].run.offset += offset;
		list[i].run.chunk_first = first_order;
		list[i].run.chunk_behind = first_order + p->batch.event_count;
	}
	rc = register_runs(in, list, count, lock, err);
out:
	return rc;
}

/*
 * Global ids, in file order.  Entries that a worker met for the first time
 * are looked up here, in the order in which it met them; as turns follow the
 * file, an id tells when its text first appeared, whatever the chunks were.
 */

static int later(struct pf_ingest *in, enum pf_ingest_later list, int64_t a,
		 int64_t b, const char *first, size_t first_len,
		 const char *second, size_t second_len, struct pf_err *err)
{
	const struct pf_later_row row = {
		.a = a,
		.b = b,
		.first = first,
		.first_len = (uint32_t)first_len,
		.second = second,
		.second_len = (uint32_t)second_len,
	};

	return pf_later_put(&in->later[list], in->directory, &row, err);
}

/* ---- strings ---- */

static void note_step_name(struct pf_ingest *in, uint32_t id, const char *text,
			   size_t len)
{
	static const char prefix[] = "ProfilerStep#";
	size_t n = sizeof(prefix) - 1;
	int64_t step = 0;

	if (len <= n || len > n + 18 || memcmp(text, prefix, n))
		return;
	for (size_t i = n; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return;
		step = step * 10 + (text[i] - '0');
	}
	PF_ROOM(in->step_names, in->step_names_cap, in->step_name_count + 1);
	in->step_names[in->step_name_count].id = id;
	in->step_names[in->step_name_count++].step = step;
}

/* The last event that Kineto writes into a file. */
static const char window_end[] = "Record Window End";

/* Remember the name if it is one of a communication operator. */
static void note_comm_name(struct pf_ingest *in, uint32_t id, const char *text,
			   size_t len)
{
	unsigned n = pf_word_n(PF_WORD_COMM_OP, text, len);

	if (!n)
		return;
	PF_ROOM(in->comm_names, in->comm_names_cap, in->comm_name_count + 1);
	in->comm_names[in->comm_name_count].id = id;
	in->comm_names[in->comm_name_count++].rule =
		(enum pf_comm_rule)(PF_COMM_NAME + n);
}

static int settle_name(struct pf_ingest *in, const struct pf_dict *d,
		       struct pf_dict_entry *e, struct pf_err *err)
{
	const char *text = d->text.data + e->text_at;
	bool is_new;

	e->gid = pf_ids_find(&in->strings, text, e->text_len, 0, PF_NAMES_MAX,
			     &is_new);
	if (!is_new)
		return 0;
	if (e->text_len == 0)
		in->empty_name = e->gid;
	if (e->text_len == sizeof(window_end) - 1 &&
	    !memcmp(text, window_end, e->text_len))
		in->window_end_name = e->gid;
	note_step_name(in, e->gid, text, e->text_len);
	note_comm_name(in, e->gid, text, e->text_len);
	return later(in, PF_LATER_STRING, e->gid, 0, text, e->text_len, NULL, 0,
		     err);
}

static int settle_args(struct pf_ingest *in, const struct pf_dict *d,
		       struct pf_dict_entry *e, struct pf_err *err)
{
	const char *text = d->text.data + e->text_at;
	bool is_new;

	e->gid = pf_ids_find(&in->argsets, text, e->text_len, e->salt,
			     PF_NAMES_MAX, &is_new);
	if (!is_new)
		return 0;
	return later(in, PF_LATER_ARGSET, e->gid, e->salt, text, e->text_len,
		     NULL, 0, err);
}

static size_t parse_hex8(const char *p)
{
	size_t v = 0;

	for (int i = 0; i < 8; i++)
		v = v * 16 +
		    (size_t)(p[i] <= '9' ? p[i] - '0' : p[i] - 'a' + 10);
	return v;
}

/* Text: class letter, 8 hex digits of pid length, pid, tid (chrome.h). */
static int settle_track(struct pf_ingest *in, const struct pf_dict *d,
			struct pf_dict_entry *e, struct pf_err *err)
{
	const char *text = d->text.data + e->text_at;
	size_t pid_len, max = PF_INGEST_TRACKS_MAX;
	struct pf_ingest_track *t;
	bool is_new;

	(void)err;
	PF_AT_MOST(max, PF_INGEST_TRACK_IDS - in->first_track);
	e->gid = pf_ids_find(&in->track_names, text, e->text_len,
			     (uint32_t)in->trace_id, max, &is_new);
	if (e->gid != PF_ID_INLINE)
		e->gid += (uint32_t)in->first_track;
	if (!is_new)
		return 0;
	PF_ROOM(in->tracks, in->tracks_cap,
		in->track_count + 1 - in->first_track);
	t = pf_ingest_track(in, in->track_count++);
	pid_len = parse_hex8(text + 1);
	*t = (struct pf_ingest_track){
		.class_letter = text[0],
		.pid = pf_memdup0(text + 9, pid_len),
		.tid = pf_memdup0(text + 9 + pid_len,
				  e->text_len - 9 - pid_len),
	};
	return 0;
}

static int settle_dict(struct pf_ingest *in, struct pf_dict *d,
		       int (*settle)(struct pf_ingest *, const struct pf_dict *,
				     struct pf_dict_entry *, struct pf_err *),
		       struct pf_err *err)
{
	for (size_t i = d->fresh; i < d->count; i++)
		PF_TRY(!(d->entries[i].flags & PF_DICT_BAD) &&
		       settle(in, d, &d->entries[i], err));
	pf_dict_settle(d);
	return 0;
}

/* ---- types ---- */

static int settle_type(struct pf_ingest *in, const struct pf_parsed *p,
		       const struct pf_event_type *t, uint32_t *id,
		       struct pf_err *err)
{
	const struct pf_dict_entry *e = &p->categories.entries[t->category];
	const char *text = p->categories.text.data + e->text_at;
	char ph[2] = { (char)t->ph, '\0' };
	size_t len = e->text_len;
	bool is_new;

	*id = pf_ids_find(&in->types, text, len,
			  (uint32_t)(t->ph << 8 | t->kind),
			  PF_INGEST_TYPES_MAX - 4096, &is_new);
	if (*id == PF_ID_INLINE) {
		/* Too many categories: the rest are stored without one. */
		len = 0;
		*id = pf_ids_find(&in->types, "", 0,
				  (uint32_t)(t->ph << 8 | t->kind),
				  PF_INGEST_TYPES_MAX, &is_new);
	}
	if (!is_new)
		return 0;
	PF_ROOM(in->type, in->type_cap, (size_t)*id + 1);
	in->type[*id] = (struct pf_ingest_type){ t->ph, t->kind };
	return later(in, PF_LATER_TYPE, *id, t->kind, ph, 1, text, len, err);
}

/* ---- what is no event ---- */

static int note_members(struct pf_ingest *in, const struct pf_batch *b,
			struct pf_err *err)
{
	uint32_t lens[2];

	for (size_t at = 0; at < b->members.len;
	     at += (size_t)lens[0] + lens[1]) {
		const char *p = b->members.data + at;

		memcpy(lens, p, sizeof(lens));
		p += sizeof(lens);
		at += sizeof(lens);
		PF_TRY(later(in, PF_LATER_MEMBER, 0, 0, p, lens[0], p + lens[0],
			     lens[1], err));
	}
	return 0;
}

/* Its row, of which it is one more: 0 of one that has a row of its own. */
static int64_t count_metadata(struct pf_ingest *in, const char *text,
			      size_t len, int64_t order, bool *is_new)
{
	uint32_t id = pf_ids_find(&in->metadata_texts, text, len,
				  (uint32_t)in->trace_id,
				  PF_INGEST_METADATA_MAX, is_new);

	*is_new |= id == PF_ID_INLINE;
	if (id == PF_ID_INLINE)
		return 0;
	PF_ROOM(in->metadata, in->metadata_cap, id + (size_t)1);
	if (*is_new)
		in->metadata[id].count = 0;
	in->metadata[id].last_order = order;
	in->metadata[id].count++;
	return (int64_t)id + 1;
}

static int note_metadata(struct pf_ingest *in, const struct pf_batch *b,
			 int64_t first_order, struct pf_err *err)
{
	uint32_t head[2];

	for (size_t at = 0; at < b->metadata.len; at += head[1]) {
		const char *p = b->metadata.data + at;
		int64_t order, row;
		bool is_new;

		memcpy(head, p, sizeof(head));
		p += sizeof(head);
		at += sizeof(head);
		order = first_order + head[0];
		pf_ingest_note_process(in, p, head[1], order);
		row = count_metadata(in, p, head[1], order, &is_new);
		PF_TRY(is_new && later(in, PF_LATER_METADATA, order, row, p,
				       head[1], NULL, 0, err));
	}
	return 0;
}

/* In file order; called by one worker at a time. */
static int ingest_settle(struct pf_ingest *in, struct pf_parsed *p,
			 uint32_t **type_ids, size_t *type_ids_cap,
			 struct pf_err *err)
{
	struct pf_batch *b = &p->batch;
	int64_t first_order = in->event_count - b->event_count;

	if (pf_lane_failed(in->lane)) /* nobody will see this */
		return pf_fail(err, PF_EDATA, "an earlier trace failed");
	PF_TRY(settle_dict(in, &p->names, settle_name, err));
	PF_TRY(settle_dict(in, &p->args, settle_args, err));
	PF_TRY(settle_dict(in, &p->tracks, settle_track, err));
	pf_dict_settle(&p->categories);
	*type_ids = pf_grow(*type_ids, type_ids_cap, b->type_count + 1,
			    sizeof(**type_ids));
	for (size_t i = 0; i < b->type_count; i++)
		PF_TRY(settle_type(in, p, &b->types[i], &(*type_ids)[i], err));
	return note_members(in, b, err) ||
			       note_metadata(in, b, first_order, err)
		       ? -1
		       : 0;
}

/* Add what a batch counted to the trace's counts; in the order of the file. */
static void ingest_count(struct pf_ingest *in, const struct pf_parsed *p)
{
	const struct pf_batch *b = &p->batch;

	in->event_count += b->event_count;
	in->paired_count += b->paired_count;
	in->no_phase_count += b->no_phase_count;
	in->metadata_count += b->metadata_count;
	pf_repairs_add(&in->repairs, &b->repairs);
	PF_AT_LEAST(in->ts_fraction_digits, b->ts_fraction_digits);
	in->facts |= b->facts;
	in->link_equal += b->link_equal;
	in->link_differ += b->link_differ;
	in->link_absent += b->link_absent;
	in->ext_lower += b->ext_lower;
	for (int k = 0; k < PF_KIND_COUNT; k++)
		in->kind_count[k] += b->kind_count[k];
	if (in->options->counted)
		in->options->counted(p);
}

#define BATCH_EVENTS   32768u
#define FRAMES_AT_ONCE 4096u

/* ---- batches ---- */

static void ingest_batcher_init(struct pf_ingest_batcher *b,
				struct pf_ingest *in)
{
	*b = (struct pf_ingest_batcher){ .in = in };
	b->sorter = ingest_sorter_new();
	pthread_mutex_init(&b->lock, NULL);
}

static void ingest_batcher_release(struct pf_ingest_batcher *b)
{
	pthread_mutex_destroy(&b->lock);
	ingest_sorter_free(b->sorter);
	free(b->type_ids);
}

/* Its texts get their ids. */
static int ingest_batcher_settle(struct pf_ingest_batcher *b,
				 struct pf_parsed *p, struct pf_err *err)
{
	return ingest_settle(b->in, p, &b->type_ids, &b->type_ids_cap, err);
}

/* It is counted, settled and written as runs in the order of the file. */
static int ingest_batcher_put(struct pf_ingest_batcher *b, struct pf_parsed *p,
			      struct pf_err *err)
{
	int64_t first_order = b->in->event_count;

	ingest_count(b->in, p);
	PF_TRY(ingest_batcher_settle(b, p, err));
	return ingest_write_runs(b->in, b->sorter, p, b->type_ids, first_order,
				 &b->lock, err);
}

/* ---- stacks ---- */

int pf_ingest_stacks_begin(struct pf_ingest *in, struct pf_ingest_stacks *s,
			   struct pf_err *err)
{
	return pf_db_number(in->db, "SELECT coalesce(max(id), 0) FROM stack",
			    &s->stack_base, err) ||
			       pf_db_number(in->db,
					    "SELECT coalesce(max(id), 0)"
					    " FROM stack_frame",
					    &s->frame_base, err)
		       ? -1
		       : 0;
}

/* Frames [from, to), whose texts get their ids together. */
static int put_frames(const struct pf_ingest_stacks *s,
		      struct pf_ingest_batcher *b, struct pf_parsed *p,
		      sqlite3_stmt *st, uint32_t from, uint32_t to,
		      struct pf_err *err)
{
	uint32_t entries[FRAMES_AT_ONCE][2];
	struct pf_ingest_frame f;

	for (uint32_t i = from; i < to; i++) {
		s->frame(s->arg, i, &f);
		entries[i - from][0] =
			pf_dict_find(&p->names, f.file, f.file_len, 0);
		entries[i - from][1] =
			pf_dict_find(&p->names, f.name, f.name_len, 0);
	}
	PF_TRY(ingest_batcher_settle(b, p, err));
	for (uint32_t i = from; i < to; i++) {
		const struct pf_dict_entry *names = p->names.entries;

		s->frame(s->arg, i, &f);
		PF_BIND(st, s->frame_base + i + 1,
			names[entries[i - from][0]].gid);
		if (f.line >= 0)
			sqlite3_bind_int64(st, 3, f.line);
		sqlite3_bind_int64(st, 4, names[entries[i - from][1]].gid);
		PF_TRY(pf_db_put(b->in->db, st, err));
	}
	pf_parsed_begin(p);
	return 0;
}

static int put_all_frames(const struct pf_ingest_stacks *s,
			  struct pf_ingest_batcher *b, struct pf_parsed *p,
			  struct pf_err *err)
{
	PF_STMT(st) = pf_db_prepare(
		b->in->db, "INSERT INTO stack_frame VALUES(?1,?2,?3,?4)", err);
	uint32_t count = s->frames->count;

	PF_TRY(!st);
	for (uint32_t i = 0; i < count; i += FRAMES_AT_ONCE)
		PF_TRY(put_frames(
			s, b, p, st, i,
			count - i < FRAMES_AT_ONCE ? count : i + FRAMES_AT_ONCE,
			err));
	return 0;
}

int pf_ingest_stacks_put(const struct pf_ingest_stacks *s,
			 struct pf_ingest_batcher *b, struct pf_parsed *p,
			 struct pf_err *err)
{
	PF_STMT(st) = NULL;

	PF_TRY(put_all_frames(s, b, p, err));
	st = pf_db_prepare(b->in->db, "INSERT INTO stack VALUES(?1,?2,?3)",
			   err);
	PF_TRY(!st);
	for (uint32_t i = 0; i < s->stacks->count; i++) {
		struct pf_snap_stack stack;
		size_t len;

		memcpy(&stack, pf_intern_text(s->stacks, i, &len),
		       sizeof(stack));
		sqlite3_bind_int64(st, 1, s->stack_base + i + 1);
		if (stack.parent)
			sqlite3_bind_int64(st, 2, s->stack_base + stack.parent);
		sqlite3_bind_int64(st, 3, s->frame_base + stack.frame + 1);
		PF_TRY(pf_db_put(b->in->db, st, err));
	}
	return 0;
}

/* Most events of a batch: few if small chunks are asked for, as tests do. */
static size_t ingest_batch_events(const struct pf_ingest *in)
{
	size_t most = in->options->chunk_bytes;

	return !most || most > BATCH_EVENTS ? BATCH_EVENTS : most;
}

/* ---- readers ---- */

static int read_all(struct pf_ingest_batcher *b, struct pf_reader *reader,
		    struct pf_err *err)
{
	struct pf_ingest *in = b->in;
	int rc;

	do {
		rc = reader->fill(reader, ingest_batch_events(in), err);
		if (rc >= 0 && ingest_batcher_put(b, reader->parsed, err))
			rc = -1;
		if (in->options->progress)
			in->options->progress(in->bytes_before,
					      in->events_before +
						      in->event_count);
	} while (rc == 1);
	return rc;
}

static void note_facts(struct pf_ingest *in, struct pf_reader *reader)
{
	char key[128];
	int64_t value;

	if (!reader->fact)
		return;
	for (size_t i = 0; reader->fact(reader, i, key, sizeof(key), &value);
	     i++)
		pf_ingest_note_fact(in, key, value);
}

/* All that a reader gives, written as runs. */
static int ingest_drain(struct pf_ingest *in, struct pf_reader *reader,
			struct pf_err *err)
{
	struct pf_ingest_batcher batcher;
	int rc;

	ingest_batcher_init(&batcher, in);
	rc = read_all(&batcher, reader, err);
	if (!rc)
		note_facts(in, reader);
	ingest_batcher_release(&batcher);
	in->found_list = true;
	return rc;
}

/* Which format a file has, and what the readers of all of them share. */

#define PF_ENTRY(name) extern const struct pf_ingest_format pf_ingest_##name;
#include "ingest/formats.inc"
#undef PF_ENTRY
#define PF_ENTRY(name) &pf_ingest_##name,
static const struct pf_ingest_format *const formats[] = {
#include "ingest/formats.inc"
};

/* Whose the first bytes are; never NULL. */
static const struct pf_ingest_format *ingest_find_format(const char *head,
							 size_t len)
{
	size_t i = 0;

	while (!formats[i]->claims(head, len))
		i++;
	return formats[i];
}

void pf_ingest_note_fact(struct pf_ingest *in, const char *key, int64_t value)
{
	PF_ROOM(in->extra_facts, in->extra_facts_cap, in->extra_fact_count + 1);
	in->extra_facts[in->extra_fact_count].key = pf_strdup(key);
	in->extra_facts[in->extra_fact_count++].value = value;
}

/* A file of this trace, behind the first, was read. */
static int ingest_add_part(struct pf_ingest *in, struct pf_input *part,
			   struct pf_err *err)
{
	char digest[PF_XXH128_TEXT];

	PF_TRY(pf_input_finish(part, err));
	pf_input_digest(part, digest);
	pf_buf_adds(&in->part_digests, digest);
	in->part_bytes += pf_input_size(part);
	in->parts_read++;
	if (pf_input_damaged(part))
		pf_repair_note(&in->repairs, PF_REPAIR_COMPRESSION, 1,
			       in->json_bytes);
	return 0;
}

/* The digest of several files is that of their digests. */
static int add_parts(struct pf_ingest *in, struct pf_err *err)
{
	struct pf_xxh128 *all;

	if (in->parts_read != in->part_count)
		return pf_fail(err, PF_EDATA,
			       "is no CSV of rocprofv3, as its name and '%s' "
			       "beside it say",
			       in->parts[in->parts_read]);
	if (!in->part_count)
		return 0;
	all = pf_xxh128_new();
	pf_xxh128_add(all, in->digest, strlen(in->digest));
	pf_xxh128_add(all, in->part_digests.data, in->part_digests.len);
	pf_xxh128_text(all, in->digest);
	pf_xxh128_free(all);
	in->file_bytes += in->part_bytes;
	return 0;
}

/*
 * What a format is about to write, should its file turn out to be one that
 * cannot be read, begins behind the mark.
 */
static int mark_stacks(struct pf_ingest *in, struct pf_err *err)
{
	PF_STMT(st) =
		pf_db_prepare(in->db,
			      "SELECT (SELECT coalesce(max(id), 0) FROM stack),"
			      " (SELECT coalesce(max(id), 0) FROM stack_frame)",
			      err);
	int rc = pf_db_step(in->db, st, err);

	if (rc == 1) {
		in->mark.stack = sqlite3_column_int64(st, 0);
		in->mark.stack_frame = sqlite3_column_int64(st, 1);
		in->mark.has_stacks = true;
	}
	return rc < 0 ? -1 : 0;
}

int pf_ingest_read(struct pf_ingest *in, struct pf_err *err)
{
	struct pf_input *input = pf_input_open(in->path, err);
	const struct pf_ingest_format *format;
	PF_AUTO(pf_buf_release) struct pf_buf head = { 0 };
	int rc = -1;

	if (!input) {
		in->file_bytes = -1;
		return -1;
	}
	if (pf_input_append(input, &head, PF_INGEST_HEAD_BYTES, err) >= 0) {
		format = ingest_find_format(head.data, head.len);
		in->format_name = format->name;
		rc = 0;
		if (format->writes) {
			pf_lane_wait(in->lane);
			rc = mark_stacks(in, err);
		}
		if (!rc)
			rc = format->read(in, input, &head, err);
	}
	if (!rc)
		rc = pf_input_finish(input, err);
	pf_input_digest(input, in->digest);
	in->file_bytes = pf_input_size(input);
	in->compression = pf_input_compression(input);
	if (pf_input_damaged(input))
		pf_repair_note(&in->repairs, PF_REPAIR_COMPRESSION, 1,
			       in->json_bytes);
	if (!rc)
		rc = add_parts(in, err);
	pf_buf_release(&in->part_digests);
	pf_input_close(input);
	return rc;
}

/* ---- byte by byte, in one thread ---- */

void pf_ingest_sink_init(struct pf_ingest_sink *s, struct pf_ingest *in,
			 struct pf_input *input, const struct pf_buf *head)
{
	*s = (struct pf_ingest_sink){ .in = in, .from = { input, head, 0 } };
	s->most = ingest_batch_events(in);
	pf_parsed_init(&s->parsed);
	ingest_batcher_init(&s->batcher, in);
	in->found_list = true;
}

void pf_ingest_sink_release(struct pf_ingest_sink *s)
{
	ingest_batcher_release(&s->batcher);
	pf_parsed_release(&s->parsed);
}

int64_t pf_ingest_sink_read(void *sink, void *buf, size_t len,
			    struct pf_err *err)
{
	struct pf_ingest_sink *s = sink;
	struct pf_ingest *in = s->in;
	int64_t n = pf_headed_read(&s->from, buf, len, err);

	PF_TRY(n < 0);
	in->json_bytes += n;
	if (in->options->progress)
		in->options->progress(in->bytes_before +
					      pf_input_consumed(s->from.input),
				      in->events_before + in->event_count);
	return n;
}

int pf_ingest_sink_flush(struct pf_ingest_sink *s, struct pf_err *err)
{
	PF_TRY(ingest_batcher_put(&s->batcher, &s->parsed, err));
	return pf_parsed_begin(&s->parsed);
}

int pf_ingest_sink_offer(struct pf_ingest_sink *s, struct pf_err *err)
{
	return s->parsed.batch.count < s->most ? 0
					       : pf_ingest_sink_flush(s, err);
}

/*
 * Is a file a trace, and what does its beginning say of it?  JSON is read up to
 * its first event, to its end if it has none.
 */

/* Most say in the first piece what they are; the rest is read by larger ones. */
#define PIECE_LEAST (8u << 10)
#define PIECE_MOST  (256u << 10)

bool pf_ingest_has_events(int64_t event_count, int64_t no_phase_count,
			  const struct pf_repairs *repairs)
{
	int64_t other =
		no_phase_count + repairs->of[PF_SKIP_NOT_AN_EVENT].count;

	return !other || other + repairs->of[PF_SKIP_EMPTY].count < event_count;
}

struct probe {
	struct pf_chrome chrome;
	struct pf_doc_state state;
	struct pf_buf text; /* what is not understood yet */
	struct pf_repairs repairs;
	int64_t offset, event_count, no_phase_count;
};

static int parse_piece(struct probe *p, bool final, struct pf_err *err)
{
	const struct pf_batch *b = &p->chrome.out.batch;
	size_t used = 0;

	pf_buf_reserve(&p->text, p->text.len + PF_SCAN_PAD);
	memset(p->text.data + p->text.len, 0, PF_SCAN_PAD);
	pf_parsed_begin(&p->chrome.out);
	PF_TRY(pf_chrome_parse(&p->chrome, &p->state, p->text.data, p->text.len,
			       p->offset, final, &used, err));
	p->event_count += b->event_count;
	p->no_phase_count += b->no_phase_count;
	pf_repairs_add(&p->repairs, &b->repairs);
	memmove(p->text.data, p->text.data + used, p->text.len - used);
	p->text.len -= used;
	p->offset += (int64_t)used;
	return 0;
}

/* ---- what it says of its rank ---- */

static int64_t number_of(const struct pf_arg *a)
{
	char text[24];
	int64_t n;

	if (a->value_len >= sizeof(text))
		return -1;
	memcpy(text, a->value, a->value_len);
	text[a->value_len] = '\0';
	return pf_num_int(text, &n) || n < 0 ? -1 : n;
}

static bool is_key(const struct pf_arg *a, const char *key)
{
	return a->key_len == strlen(key) && !memcmp(a->key, key, a->key_len);
}

static void read_distributed(const char *text, size_t len, struct pf_seen *seen)
{
	struct pf_argtext it = { .text = text, .len = len };
	struct pf_arg a;

	while (pf_argtext_next(&it, &a)) {
		if (is_key(&a, "rank"))
			seen->rank = number_of(&a);
		else if (is_key(&a, "world_size"))
			seen->world_size = number_of(&a);
	}
}

/* Members of the top object that came before the first event. */
static void read_members(const struct pf_buf *members, struct pf_seen *seen)
{
	static const char key[] = "distributedInfo";
	size_t at = 0;

	while (at < members->len) {
		const char *p = members->data + at;
		uint32_t lens[2];

		memcpy(lens, p, sizeof(lens));
		p += sizeof(lens);
		if (lens[0] == sizeof(key) - 1 && !memcmp(p, key, lens[0]))
			read_distributed(p + lens[0], lens[1], seen);
		at += sizeof(lens) + lens[0] + lens[1];
	}
}

/* ---- what it says of its processes ---- */

static bool is_text(const struct pf_arg *a, const char *text)
{
	return a->value_len == strlen(text) + 2 && *a->value == '"' &&
	       !memcmp(a->value + 1, text, a->value_len - 2);
}

/* {"name":"process_name","args":{"name":"/host:CPU"}} */
static bool names_plane(const char *json, size_t len)
{
	struct pf_argtext it = { .text = json, .len = len };
	struct pf_arg a, args = { 0 };
	bool is_name = false;

	while (pf_argtext_next(&it, &a)) {
		is_name |= is_key(&a, "name") && is_text(&a, "process_name");
		if (is_key(&a, "args"))
			args = a;
	}
	it = (struct pf_argtext){ .text = args.value, .len = args.value_len };
	while (is_name && args.value && pf_argtext_next(&it, &a))
		if (is_key(&a, "name") && a.value_len > 2 &&
		    pf_is_plane(a.value + 1, a.value_len - 2))
			return true;
	return false;
}

/* Metadata events that came before the first other event. */
static void read_processes(const struct pf_buf *metadata, struct pf_seen *seen)
{
	size_t at = 0;

	while (at < metadata->len) {
		uint32_t head[2]; /* order, length */

		memcpy(head, metadata->data + at, sizeof(head));
		at += sizeof(head);
		if (names_plane(metadata->data + at, head[1]))
			seen->format = PF_INGEST_PLANES_NAME;
		at += head[1];
	}
}

/* ---- JSON ---- */

static void say(struct pf_seen *seen, const char *why)
{
	snprintf(seen->why, sizeof(seen->why), "%s", why);
}

static void say_broken(struct pf_seen *seen, const char *why)
{
	say(seen, why);
	seen->is_broken = true;
}

static int say_none(const struct probe *p, struct pf_seen *seen)
{
	if (!p->state.found_list)
		say(seen, "is JSON without a list of trace events");
	else if (p->event_count)
		say(seen, "is a list of other things than trace events");
	else if (p->repairs.of[PF_REPAIR_CUT_OFF].count)
		say_broken(seen, "has no complete event");
	else
		return 1;
	return 0;
}

static int probe_json(struct probe *p, struct pf_input *input,
		      struct pf_seen *seen, struct pf_err *err)
{
	struct pf_err parse = { 0 };

	for (size_t piece = PIECE_LEAST;; piece = PIECE_MOST) {
		int64_t n;

		n = pf_input_append(input, &p->text, piece, err);
		PF_TRY(n < 0);
		if (parse_piece(p, n < (int64_t)piece, &parse) ||
		    p->text.len > PF_INGEST_CARRY_MAX) {
			say_broken(seen,
				   parse.code ? parse.text : "is no trace");
			return 0;
		}
		read_members(&p->chrome.out.batch.members, seen);
		read_processes(&p->chrome.out.batch.metadata, seen);
		if (p->event_count &&
		    pf_ingest_has_events(p->event_count, p->no_phase_count,
					 &p->repairs))
			return 1;
		if (n < (int64_t)piece)
			return say_none(p, seen);
	}
}

/* The look of JSON, which is every file that no other format claims. */
static int ingest_look_json(struct pf_input *input, struct pf_buf *head,
			    struct pf_seen *seen, struct pf_err *err)
{
	struct probe p = { 0 };
	int rc;

	pf_chrome_init(&p.chrome, PF_SCANNER_BEST);
	pf_buf_add(&p.text, head->data, head->len);
	rc = probe_json(&p, input, seen, err);
	pf_chrome_release(&p.chrome);
	pf_buf_release(&p.text);
	return rc;
}

/* ---- any file ---- */

static int look_json(struct pf_input *input, const char *path,
		     struct pf_seen *seen, struct pf_err *err)
{
	const struct pf_ingest_format *format;
	PF_AUTO(pf_buf_release) struct pf_buf head = { 0 };
	int64_t n;
	int rc;

	n = pf_input_append(input, &head, PF_INGEST_HEAD_BYTES, err);
	if (n > 0) {
		format = ingest_find_format(head.data, head.len);
		rc = format->look ? format->look(input, &head, seen, err) : 1;
		if (rc != 1)
			seen->format = NULL;
		else if (!seen->format)
			seen->format = format->name;
	} else {
		say_broken(seen, pf_refusal_of_empty(path));
		rc = (int)n;
	}
	return rc;
}

int pf_ingest_probe(const char *path, struct pf_seen *seen, struct pf_err *err)
{
	struct pf_input *input = pf_input_open(path, err);
	struct pf_err failed = { 0 };
	struct pf_seen unasked;
	int rc;

	if (!seen)
		seen = &unasked;
	*seen = (struct pf_seen){ .rank = -1,
				  .world_size = -1,
				  .file_bytes = -1 };
	PF_TRY(!input);
	seen->file_bytes = pf_input_size(input);
	rc = look_json(input, path, seen, &failed);
	pf_input_close(input);
	if (rc < 0 && failed.code == PF_EDATA) {
		/* packed, and gives not a byte */
		say_broken(seen, failed.text);
		rc = 0;
	}
	if (!rc && seen->file_bytes && pf_refusal_of_name(path))
		say(seen, pf_refusal_of_name(path));
	if (rc < 0)
		*err = failed;
	return rc;
}

/*
 * Equal workers.  Each in a loop: under input_lock read a chunk and cut it
 * where an event probably ends; parse it, guessing that it begins between two
 * events; wait for its turn; in its turn check the guess, give ids, add up;
 * then, beside the others, sort and write.
 *
 * What is true in a turn (turn_lock held, turn == index):
 *   - everything before this chunk is settled, and state says where in the
 *     document the chunk before ended, carry holds what it did not use;
 *   - the chunk's own parse counts only if state is what it guessed and carry
 *     is empty; else it is parsed again, with the carry in front.
 * So the result is that of one parser reading the file from front to back.
 */

#define CHUNK_BYTES (2u << 20)
#define WORKERS_MAX 16

struct chunk {
	char *text;
	size_t cap, len;
	int64_t offset;
	uint64_t index;
	bool final;
};

struct json_reading {
	struct pf_ingest *in;
	struct pf_input *input;
	size_t chunk_bytes;
	pthread_mutex_t input_lock;
	struct pf_buf tail; /* behind the last cut */
	int64_t next_offset;
	uint64_t next_index;
	bool at_end;
	_Atomic int64_t events; /* for the progress line */
	pthread_mutex_t turn_lock;
	pthread_cond_t turn_changed;
	uint64_t turn;
	struct pf_doc_state state;
	struct pf_buf carry;
	bool failed;
	struct pf_err err;
};

struct worker {
	struct json_reading *r;
	pthread_t thread;
	struct chunk chunk;
	struct pf_buf joined;
	struct pf_chrome chrome;
	struct pf_ingest_sorter *sorter;
	uint32_t *type_ids;
	size_t type_ids_cap;
	int64_t first_order;
};

struct pf_ingest_workers {
	struct worker of[WORKERS_MAX];
	unsigned count;
};

static void fail(struct json_reading *r, const struct pf_err *err)
{
	pthread_mutex_lock(&r->turn_lock);
	if (!r->failed)
		r->err = *err;
	r->failed = true;
	pthread_cond_broadcast(&r->turn_changed);
	pthread_mutex_unlock(&r->turn_lock);
}

static void reserve(struct chunk *c, size_t len)
{
	if (c->cap >= len + PF_SCAN_PAD)
		return;
	c->cap = len + PF_SCAN_PAD;
	c->text = pf_realloc(c->text, c->cap, 1);
}

/* 1 a chunk, 0 the end, -1 an error; input_lock is held. */
static int read_chunk(struct json_reading *r, struct chunk *c,
		      struct pf_err *err)
{
	size_t cut;
	int64_t n;

	if (r->at_end)
		return 0;
	reserve(c, r->tail.len + r->chunk_bytes);
	if (r->tail.len)
		memcpy(c->text, r->tail.data, r->tail.len);
	n = pf_input_read(r->input, c->text + r->tail.len, r->chunk_bytes, err);
	PF_TRY(n < 0);
	c->len = r->tail.len + (size_t)n;
	c->final = r->at_end = (size_t)n < r->chunk_bytes;
	cut = c->final ? c->len : pf_chrome_cut(c->text, c->len);
	pf_buf_clear(&r->tail);
	pf_buf_add(&r->tail, c->text + cut, c->len - cut);
	c->len = cut;
	memset(c->text + cut, 0, PF_SCAN_PAD);
	c->offset = r->next_offset;
	c->index = r->next_index++;
	r->next_offset += (int64_t)cut;
	if (r->in->options->progress)
		r->in->options->progress(
			r->in->bytes_before + pf_input_consumed(r->input),
			r->in->events_before + atomic_load(&r->events));
	return 1;
}

/* Where a chunk probably begins: between two events of the list. */
static struct pf_doc_state guess_state(struct json_reading *r,
				       const struct chunk *c)
{
	struct pf_doc_state s = { 0 };

	if (c->index == 0)
		return s;
	pthread_mutex_lock(&r->turn_lock);
	s = r->state;
	pthread_mutex_unlock(&r->turn_lock);
	if (s.place == PF_DOC_START)
		s.in_object = s.found_list = true;
	s.place = PF_DOC_EVENTS;
	s.want_comma = false;
	s.after_comma = true;
	return s;
}

static bool same_state(const struct pf_doc_state *a,
		       const struct pf_doc_state *b)
{
	return a->place == b->place && a->in_object == b->in_object &&
	       a->want_comma == b->want_comma &&
	       (a->want_comma || a->after_comma == b->after_comma) &&
	       a->after_comma == b->after_comma &&
	       a->found_list == b->found_list && a->trailing == b->trailing &&
	       a->nested == b->nested && a->documents == b->documents;
}

/* The text that counts in a turn: the chunk, or the carry and the chunk. */
static int parse_again(struct worker *w, const char **text, size_t *len,
		       size_t *used, struct pf_err *err)
{
	struct json_reading *r = w->r;
	struct chunk *c = &w->chunk;
	int64_t offset = c->offset - (int64_t)r->carry.len;

	*text = c->text;
	*len = c->len;
	if (r->carry.len) {
		pf_buf_clear(&w->joined);
		pf_buf_reserve(&w->joined, r->carry.len + c->len + PF_SCAN_PAD);
		pf_buf_add(&w->joined, r->carry.data, r->carry.len);
		pf_buf_add(&w->joined, c->text, c->len);
		memset(w->joined.data + w->joined.len, 0, PF_SCAN_PAD);
		*text = w->joined.data;
		*len = w->joined.len;
	}
	pf_parsed_begin(&w->chrome.out);
	return pf_chrome_parse(&w->chrome, &r->state, *text, *len, offset,
			       c->final, used, err);
}

/* What a chunk did not use goes in front of the next one. */
static void keep_carry(struct worker *w, const char *text, size_t len)
{
	struct json_reading *r = w->r;

	pf_buf_clear(&r->carry);
	if (len <= PF_INGEST_CARRY_MAX) {
		pf_buf_add(&r->carry, text, len);
		return;
	}
	/* Too large to be one event: drop it and look for the next one. */
	pf_repair_note(&w->chrome.out.batch.repairs, PF_SKIP_TOO_LARGE, 1,
		       w->chunk.offset);
	w->chrome.out.batch.event_count++;
	r->state.want_comma = true;
}

/* The turn itself; turn_lock is held. */
static int take_turn(struct worker *w, const struct pf_doc_state *guessed,
		     const struct pf_doc_state *reached, bool parsed,
		     size_t used, struct pf_err *err)
{
	struct json_reading *r = w->r;
	const char *text = w->chunk.text;
	size_t len = w->chunk.len;

	if (parsed && !r->carry.len && same_state(guessed, &r->state))
		r->state = *reached;
	else if (parse_again(w, &text, &len, &used, err))
		return -1;
	keep_carry(w, text + used, len - used);
	w->first_order = r->in->event_count;
	ingest_count(r->in, &w->chrome.out);
	atomic_store(&r->events, r->in->event_count);
	return ingest_settle(r->in, &w->chrome.out, &w->type_ids,
			     &w->type_ids_cap, err);
}

/* 1 done, 0 stop because another worker failed, -1 an error of our own. */
static int do_chunk(struct worker *w, struct pf_err *err)
{
	struct json_reading *r = w->r;
	struct pf_doc_state guessed = guess_state(r, &w->chunk),
			    reached = guessed;
	size_t used = 0;
	bool parsed;
	int rc = 0;

	pf_parsed_begin(&w->chrome.out);
	parsed = !pf_chrome_parse(&w->chrome, &reached, w->chunk.text,
				  w->chunk.len, w->chunk.offset, w->chunk.final,
				  &used, err);
	pthread_mutex_lock(&r->turn_lock);
	while (r->turn != w->chunk.index && !r->failed)
		pthread_cond_wait(&r->turn_changed, &r->turn_lock);
	if (!r->failed)
		rc = take_turn(w, &guessed, &reached, parsed, used, err) ? -1
									 : 1;
	r->turn++;
	pthread_cond_broadcast(&r->turn_changed);
	pthread_mutex_unlock(&r->turn_lock);
	if (rc == 1 &&
	    ingest_write_runs(r->in, w->sorter, &w->chrome.out, w->type_ids,
			      w->first_order, &r->turn_lock, err))
		rc = -1;
	return rc;
}

/* A chunk; false: there is no more to do. */
static bool work_once(void *arg)
{
	struct worker *w = arg;
	struct json_reading *r = w->r;
	struct pf_err err = { 0 };
	int rc;

	pthread_mutex_lock(&r->input_lock);
	rc = read_chunk(r, &w->chunk, &err);
	if (rc < 0)
		r->at_end = true;
	pthread_mutex_unlock(&r->input_lock);
	if (rc == 1)
		rc = do_chunk(w, &err);
	if (rc < 0)
		fail(r, &err);
	return rc == 1;
}

static void *work(void *arg)
{
	while (work_once(arg))
		;
	return NULL;
}

unsigned pf_ingest_threads(const struct pf_ingest_options *o)
{
	size_t n = o->threads ? o->threads : pf_threads_default();

	return (unsigned)(n > WORKERS_MAX ? WORKERS_MAX : n);
}

bool pf_ingest_is_pair(const struct pf_ingest *in)
{
	return pf_lane_is_beside(in->lane) &&
	       pf_ingest_threads(in->options) == 2;
}

static struct pf_ingest_workers *new_workers(const struct pf_ingest_options *o)
{
	struct pf_ingest_workers *all = pf_calloc(1, sizeof(*all));

	all->count = pf_ingest_threads(o);
	for (unsigned i = 0; i < all->count; i++) {
		struct worker *w = &all->of[i];

		pf_chrome_init(&w->chrome, o->scanner);
		w->chrome.skip_python = o->skip_python;
		w->sorter = ingest_sorter_new();
	}
	return all;
}

void pf_ingest_workers_free(struct pf_ingest_workers *all)
{
	for (unsigned i = 0; all && i < all->count; i++) {
		struct worker *w = &all->of[i];

		pf_chrome_release(&w->chrome);
		ingest_sorter_free(w->sorter);
		pf_buf_release(&w->joined);
		free(w->chunk.text);
		free(w->type_ids);
	}
	free(all);
}

/* One of them is the lane's thread, if it has one. */
static void run_workers(struct json_reading *r, struct pf_ingest_workers *all)
{
	const unsigned count = all->count - pf_lane_is_beside(r->in->lane);
	unsigned started = 1;

	for (unsigned i = 0; i < all->count; i++) {
		all->of[i].r = r;
		/* Names and arguments are the same in all traces. */
		pf_dict_clear(&all->of[i].chrome.out.tracks);
	}
	if (count < all->count)
		pf_lane_ask(r->in->lane, work_once, &all->of[count]);
	while (started < count &&
	       !pthread_create(&all->of[started].thread, NULL, work,
			       &all->of[started]))
		started++;
	work(&all->of[0]);
	for (unsigned i = 1; i < started; i++)
		pthread_join(all->of[i].thread, NULL);
	pf_lane_thank(r->in->lane);
}

static int read_chrome(struct pf_ingest *in, struct pf_input *input,
		       const struct pf_buf *head, struct pf_err *err)
{
	struct json_reading r = { .in = in, .input = input };
	int rc = 0;

	pf_buf_add(&r.tail, head->data, head->len);
	r.chunk_bytes = in->options->chunk_bytes ? in->options->chunk_bytes
						 : CHUNK_BYTES;
	pthread_mutex_init(&r.input_lock, NULL);
	pthread_mutex_init(&r.turn_lock, NULL);
	pthread_cond_init(&r.turn_changed, NULL);
	if (!in->workers)
		in->workers = new_workers(in->options);
	run_workers(&r, in->workers);
	if (r.failed) {
		*err = r.err;
		rc = -1;
	}
	in->json_bytes = r.next_offset;
	in->found_list = r.state.found_list;
	pf_buf_release(&r.tail);
	pf_buf_release(&r.carry);
	pthread_mutex_destroy(&r.input_lock);
	pthread_mutex_destroy(&r.turn_lock);
	pthread_cond_destroy(&r.turn_changed);
	return rc;
}

static bool claims_json(const char *head, size_t len)
{
	(void)head;
	(void)len;
	return true;
}

PF_INGEST_FORMAT(90, chrome) = { PF_INGEST_CHROME_NAME, claims_json,
				 read_chrome, ingest_look_json, false };

#define INDEX_BYTES (4u << 20)

/* An EVENTS frame for the second pass. */
struct kept {
	uint64_t at; /* of its payload in the file that is read again */
	int64_t offset;
	uint32_t len;
	uint16_t flags, after_a_gap;
};

struct reading {
	struct pf_ingest *in;
	struct pf_headed from; /* behind the file's header */
	struct pf_pfr_file file;
	struct pf_pfr_map map;
	struct pf_spool *index;
	int fd, temp_fd; /* what to read again; ours to close, or -1 */
	uint64_t kept_bytes;
	struct pf_ingest_batcher batcher;
};

/* ---- captures: the first pass ---- */

/*
 * Two passes.  The first finds the good frames, gathers what they define and
 * remembers where the EVENTS are; the second makes events of them, when every
 * name is known.  What cannot be read twice (a pipe, compressed data) is kept
 * in an unlinked file between the passes.
 */

static int keep(struct reading *r, const struct pf_pfr_frame *f,
		struct pf_err *err)
{
	struct kept k = {
		.at = (uint64_t)f->offset + PF_PFR_FRAME_BYTES,
		.offset = f->offset,
		.len = f->len,
		.flags = f->flags,
		.after_a_gap = f->after_a_gap,
	};

	if (r->temp_fd >= 0) {
		k.at = r->kept_bytes;
		r->kept_bytes += f->len;
		PF_TRY(pf_tempfile_write(r->temp_fd, f->payload, f->len, k.at,
					 err));
	}
	return pf_spool_add(r->index, &k, err);
}

static int scan(struct reading *r, struct pf_pfr_scan *s, struct pf_err *err)
{
	struct pf_pfr_frame f;
	bool gap = false;
	int rc;

	while ((rc = pf_pfr_scan_next(s, &f, err)) == 1) {
		/* The gap is torn by the next events, whatever is between. */
		gap |= f.after_a_gap;
		if (f.type != PF_PFR_EVENTS) {
			pf_pfr_file_add(&r->file, &f);
			continue;
		}
		f.after_a_gap = gap;
		gap = false;
		PF_TRY(keep(r, &f, err));
	}
	pf_pfr_defs_seal(&r->file.defs);
	r->in->json_bytes = s->offset + (int64_t)s->have;
	r->in->found_list = true;
	if (!rc && !s->loss.good_frames)
		return pf_fail(err, PF_EDATA,
			       "is a .pfr file without a whole frame");
	return rc;
}

/* ---- what the file says of itself ---- */

static void note_loss(struct pf_ingest *in, const struct pf_pfr_loss *loss)
{
	const struct {
		enum pf_repair_kind kind;
		int64_t count, first;
	} counts[] = {
		{ PF_REPAIR_BAD_FRAME, loss->bad_frames, loss->first_bad },
		{ PF_REPAIR_SKIPPED_BYTES, loss->skipped_bytes,
		  loss->first_skipped },
		{ PF_REPAIR_MISSING_FRAMES, loss->missing_frames,
		  loss->first_missing },
		{ PF_REPAIR_NO_END, !loss->has_end, in->json_bytes },
	};

	for (size_t i = 0; i < PF_LEN(counts); i++)
		if (counts[i].count)
			pf_repair_note(&in->repairs, counts[i].kind,
				       counts[i].count, counts[i].first);
	pf_ingest_note_fact(in, "pfr_frames", loss->good_frames);
	pf_ingest_note_fact(in, "pfr_bad_frames", loss->bad_frames);
	pf_ingest_note_fact(in, "pfr_skipped_bytes", loss->skipped_bytes);
	pf_ingest_note_fact(in, "pfr_missing_frames", loss->missing_frames);
	pf_ingest_note_fact(in, "pfr_end", loss->has_end);
}

/* The agent's own counts, and what they say was never written. */
static void note_stat(struct reading *r)
{
	static const char *const dropped[] = { "dropped_cupti", "dropped_queue",
					       "dropped_nvtx", "discarded" };
	const struct pf_pfr_lines *stat = &r->file.stat;
	const struct pf_pfr_line *cut = pf_pfr_line_of(stat, "truncated");
	int64_t v, sum = 0;

	for (size_t i = 0; i < stat->count; i++) {
		if (!pf_pfr_line_int(stat, stat->items[i].key, &v))
			continue;
		pf_ingest_note_fact(
			r->in, PF_PRINTED(320, "stat_%s", stat->items[i].key),
			v);
	}
	for (size_t i = 0; i < PF_LEN(dropped); i++)
		if (pf_pfr_line_int(stat, dropped[i], &v))
			pf_sat_sum(&sum, v);
	/* Before its last STAT the agent wrote so many events. */
	if (pf_pfr_line_int(stat, "events", &v)) {
		v -= r->in->event_count - r->in->metadata_count +
		     r->map.untimed;
		if (v > 0)
			pf_repair_note(&r->in->repairs, PF_REPAIR_LOST_EVENTS,
				       v, PF_OFFSET_UNKNOWN);
		pf_ingest_note_fact(r->in, "pfr_lost_events", v > 0 ? v : 0);
	}
	if (sum)
		pf_repair_note(&r->in->repairs, PF_REPAIR_NOT_RECORDED, sum,
			       PF_OFFSET_UNKNOWN);
	if (cut || (pf_pfr_line_int(stat, "takeover", &v) && v))
		pf_repair_note(&r->in->repairs, PF_REPAIR_STOPPED, 1,
			       PF_OFFSET_UNKNOWN);
	v = r->file.defs.bad + r->file.defs.past_cap + r->file.meta.left_out +
	    r->file.info.left_out + stat->left_out;
	if (v)
		pf_repair_note(&r->in->repairs, PF_REPAIR_BAD_DEFINITION, v,
			       PF_OFFSET_UNKNOWN);
}

/*
 * All processes of one boot have one monotonic clock: so that their events
 * fit exactly, the first file says what its zero is for all of them.
 */
static void share_base(struct reading *r)
{
	const struct pf_pfr_line *boot =
		pf_pfr_line_of(&r->file.meta, "boot_id");
	struct pf_ingest *in = r->in;

	pf_pfr_file_find_base(&r->file);
	if (!boot || !*boot->value || !r->file.has_base)
		return;
	for (size_t i = 0; i < in->boot_count; i++)
		if (!strcmp(in->boots[i].id, boot->value)) {
			r->file.base_ns = in->boots[i].base_ns;
			return;
		}
	*PF_ONE_MORE(in->boots, in->boot_count, in->boots_cap) =
		(struct pf_ingest_boot){ pf_strdup(boot->value),
					 r->file.base_ns };
}

/* ---- the second pass ---- */

static int settle(struct reading *r, struct pf_err *err)
{
	PF_TRY(ingest_batcher_put(&r->batcher, &r->map.sink.parsed, err));
	pf_pfr_map_begin(&r->map);
	return 0;
}

static int map_frame(struct reading *r, const struct kept *k,
		     struct pf_buf *payload, struct pf_err *err)
{
	const struct pf_pfr_frame f = {
		.payload = (const unsigned char *)payload->data,
		.len = k->len,
		.type = PF_PFR_EVENTS,
		.flags = k->flags,
		.offset = k->offset,
		.after_a_gap = k->after_a_gap,
	};

	if (pf_tempfile_read(r->fd, payload->data, k->len, k->at, err))
		return pf_while(err, "the second time");
	pf_pfr_map_frame(&r->map, &f);
	if (r->in->options->progress)
		r->in->options->progress(r->in->bytes_before + k->offset,
					 r->in->events_before +
						 r->in->event_count);
	return 0;
}

static int map_all(struct reading *r, struct pf_err *err)
{
	size_t most = ingest_batch_events(r->in);
	PF_AUTO(pf_buf_release) struct pf_buf payload = { 0 };

	pf_buf_reserve(&payload, PF_PFR_EVENTS_MAX);
	pf_pfr_map_begin(&r->map);
	pf_pfr_file_describe(&r->file, &r->map.sink);
	for (uint64_t i = 0; i < pf_spool_count(r->index); i++) {
		const struct kept *k = pf_spool_at(r->index, i, err);

		PF_TRY(!k);
		PF_TRY(map_frame(r, k, &payload, err));
		if (pf_sink_is_full(&r->map.sink, most))
			PF_TRY(settle(r, err));
	}
	pf_pfr_map_finish(&r->map);
	return settle(r, err);
}

/* ---- all of it ---- */

static int open_again(struct reading *r, struct pf_err *err)
{
	r->fd = pf_input_plain_fd(r->from.input);
	r->temp_fd = -1;
	if (r->fd >= 0)
		return 0;
	r->fd = r->temp_fd = pf_tempfile_open(r->in->directory, err);
	return r->fd < 0 ? -1 : 0;
}

static int read_pfr(struct pf_ingest *in, struct pf_input *input,
		    const struct pf_buf *head, struct pf_err *err)
{
	struct reading r = { .in = in,
			     .from = { input, head, PF_PFR_HEADER_BYTES } };
	struct pf_pfr_scan s;
	int rc = -1;

	PF_TRY(pf_pfr_check_header(head->data, head->len, err));
	PF_TRY(open_again(&r, err));
	r.index = pf_spool_new(sizeof(struct kept), INDEX_BYTES, in->directory);
	ingest_batcher_init(&r.batcher, in);
	pf_pfr_scan_init(&s, pf_headed_read, &r.from, in->options->chunk_bytes);
	if (!scan(&r, &s, err)) {
		share_base(&r);
		pf_pfr_map_init(&r.map, &r.file);
		rc = map_all(&r, err);
		note_loss(in, &s.loss);
		note_stat(&r);
		pf_ingest_note_fact(in, "pfr_left_mangled", r.map.left_mangled);
		pf_pfr_map_release(&r.map);
	}
	pf_pfr_scan_release(&s);
	ingest_batcher_release(&r.batcher);
	pf_spool_free(r.index);
	pf_pfr_file_release(&r.file);
	if (r.temp_fd >= 0)
		close(r.temp_fd);
	return rc;
}

static bool claims(const char *head, size_t len)
{
	return pf_pfr_claims(head, len);
}

PF_INGEST_FORMAT(10, pfr) = { "pfr", claims, read_pfr, NULL, false };

/*
 * XSpace files (*.xplane.pb): planes are found first, then each is read twice,
 * what it defines and its lines.  What cannot be read anywhere (a pipe,
 * compressed data) is kept in an unlinked file.
 */

#define PIECE_BYTES  (256u << 10)
#define WINDOW_BYTES (512u << 10)

struct xspace_reading {
	struct pf_ingest *in;
	struct pf_xs_space space;
	struct pf_xs_map map;
	struct pf_ingest_batcher batcher;
	int64_t at; /* where the plane at hand ends */
};

static void xspace_settle(void *arg)
{
	struct xspace_reading *r = arg;
	struct pf_ingest *in = r->in;

	if (r->space.err->code ||
	    ingest_batcher_put(&r->batcher, &r->map.parsed, r->space.err))
		return;
	pf_xs_map_begin(&r->map);
	if (in->options->progress)
		in->options->progress(in->bytes_before + r->space.bytes->at,
				      in->events_before + in->event_count);
}

static void map_planes(struct xspace_reading *r)
{
	struct pf_xs_map *m = &r->map;

	m->batch_events = ingest_batch_events(r->in);
	m->settle = xspace_settle;
	m->settle_arg = r;
	pf_xs_map_begin(m);
	pf_xs_map_describe(m);
	for (size_t i = 0; i < r->space.plane_count; i++)
		pf_xs_map_plane(m, &r->space.planes[i]);
	xspace_settle(r);
}

static int read_space(struct xspace_reading *r, struct pf_xs_bytes *bytes,
		      struct pf_err *err)
{
	struct pf_ingest *in = r->in;
	int rc = pf_xs_space_read(&r->space, bytes, in->directory, err);

	if (!rc) {
		pf_xs_map_init(&r->map, &r->space);
		map_planes(r);
		pf_xs_map_release(&r->map);
		rc = err->code ? -1 : 0;
	}
	if (!rc && !r->space.whole && !in->event_count)
		rc = pf_fail(err, PF_EDATA,
			     "is cut off before its first event");
	pf_repairs_add(&in->repairs, &r->space.repairs);
	pf_xs_space_release(&r->space);
	return rc;
}

/* ---- the bytes ---- */

/* All of the input in a file without a name. */
static int64_t xspace_keep(struct pf_input *input, const struct pf_buf *head,
			   int fd, struct pf_err *err)
{
	PF_OWN char *piece = pf_alloc(PIECE_BYTES);
	int64_t at = (int64_t)head->len, n = 0;
	int rc = pf_tempfile_write(fd, head->data, head->len, 0, err);

	while (!rc && (n = pf_input_read(input, piece, PIECE_BYTES, err)) > 0) {
		rc = pf_tempfile_write(fd, piece, (size_t)n, (uint64_t)at, err);
		at += n;
	}
	return rc || n < 0 ? -1 : at;
}

static int read_xspace(struct pf_ingest *in, struct pf_input *input,
		       const struct pf_buf *head, struct pf_err *err)
{
	struct xspace_reading r = { .in = in };
	int fd = pf_input_plain_fd(input), temp_fd = -1;
	int64_t size = pf_input_size(input);
	struct pf_xs_bytes bytes;
	int rc = -1;

	if (fd < 0) {
		fd = temp_fd = pf_tempfile_open(in->directory, err);
		size = fd < 0 ? -1 : xspace_keep(input, head, fd, err);
	}
	if (size >= 0) {
		pf_xs_bytes_init(&bytes, fd, size, WINDOW_BYTES);
		ingest_batcher_init(&r.batcher, in);
		in->json_bytes = size;
		in->found_list = true;
		rc = read_space(&r, &bytes, err);
		ingest_batcher_release(&r.batcher);
		pf_xs_bytes_release(&bytes);
	}
	if (temp_fd >= 0)
		close(temp_fd);
	return rc;
}

PF_INGEST_FORMAT(15, xspace) = { "xspace", pf_xs_claims, read_xspace, NULL,
				 false };

/* Logs of nvidia-smi and dcgmi, line by line. */

#define LOOK_BYTES 8192u

static int read_lines(struct pf_ingest_sink *s, struct pf_tele *t,
		      struct pf_err *err)
{
	PF_AUTO(pf_lines_release)
	struct pf_lines lines = { .read = pf_ingest_sink_read, .arg = s };
	struct pf_text_line line;
	int rc;

	while ((rc = pf_lines_next(&lines, &line, err)) == 1)
		if (pf_tele_line(t, &line, &s->parsed, err) ||
		    pf_ingest_sink_offer(s, err) < 0) {
			rc = -1;
			break;
		}
	return rc;
}

static int read_log(enum pf_tele_kind kind, struct pf_ingest *in,
		    struct pf_input *input, const struct pf_buf *head,
		    struct pf_err *err)
{
	struct pf_tele *t = pf_tele_new(kind, &in->options->telemetry);
	PF_AUTO(pf_ingest_sink_release) struct pf_ingest_sink s = { 0 };
	int rc;

	pf_ingest_sink_init(&s, in, input, head);
	rc = read_lines(&s, t, err);
	if (!rc)
		rc = pf_tele_finish(t, &s.parsed, err);
	if (!rc)
		rc = pf_ingest_sink_flush(&s, err) < 0 ? -1 : 0;
	pf_tele_free(t);
	return rc;
}

/* Folders hold tables of every kind: the first line says which it is. */
static int look_at(enum pf_tele_kind kind, struct pf_input *input,
		   struct pf_buf *head, struct pf_seen *seen,
		   struct pf_err *err)
{
	static const struct pf_tele_options unknown = { 0 };
	struct pf_tele *t = pf_tele_new(kind, &unknown);
	struct pf_text_line line = { 0 };
	struct pf_err why = { 0 };
	PF_AUTO(pf_parsed_release) struct pf_parsed parsed = { 0 };
	int64_t n;
	char *end;

	pf_parsed_init(&parsed);
	n = pf_input_append(input, head, LOOK_BYTES, err);
	end = memchr(head->data, '\n', head->len);
	line.text = head->data;
	line.len = end ? (size_t)(end - head->data) : head->len;
	if (line.len && line.text[line.len - 1] == '\r')
		line.len--;
	if (n >= 0)
		pf_tele_line(t, &line, &parsed, &why);
	seen->needs_interval = why.code == PF_EUSAGE;
	snprintf(seen->why, sizeof(seen->why), "%s", why.text);
	pf_tele_free(t);
	return n < 0 ? -1 : !why.code || seen->needs_interval;
}

/* One format for each kind of log. */
#define LOG(kind, word)                                                        \
	static int read_##word(struct pf_ingest *in, struct pf_input *input,   \
			       const struct pf_buf *head, struct pf_err *err)  \
	{                                                                      \
		return read_log(kind, in, input, head, err);                   \
	}                                                                      \
	static int look_##word(struct pf_input *input, struct pf_buf *head,    \
			       struct pf_seen *seen, struct pf_err *err)       \
	{                                                                      \
		return look_at(kind, input, head, seen, err);                  \
	}                                                                      \
	static bool claims_##word(const char *head, size_t len)                \
	{                                                                      \
		return pf_tele_claims(kind, head, len);                        \
	}

LOG(PF_TELE_SMI, smi)
LOG(PF_TELE_DMON, dmon)
LOG(PF_TELE_DCGMI, dcgmi)

PF_INGEST_FORMAT(30, smi) = { "smi", claims_smi, read_smi, look_smi, false };
PF_INGEST_FORMAT(31, dmon) = { "dmon", claims_dmon, read_dmon, look_dmon,
			       false };
PF_INGEST_FORMAT(32, dcgmi) = { "dcgmi", claims_dcgmi, read_dcgmi, look_dcgmi,
				false };

/* JSON and CSV of rocprofv3. */

/* A file, and those of the same run that are read behind it. */
struct stream {
	struct pf_ingest *in;
	struct pf_headed from;
	struct pf_input *part; /* the one at hand, if it is not the first */
	size_t part_count;     /* that were opened */
};

static int64_t read_input(void *arg, void *buf, size_t len, struct pf_err *err)
{
	struct stream *s = arg;
	int64_t n = s->part ? pf_input_read(s->part, buf, len, err)
			    : pf_headed_read(&s->from, buf, len, err);

	if (n > 0)
		s->in->json_bytes += n;
	return n;
}

static int close_part(struct stream *s, struct pf_err *err)
{
	int rc = s->part ? ingest_add_part(s->in, s->part, err) : 0;

	pf_input_close(s->part);
	s->part = NULL;
	return rc;
}

static int next_part(void *arg, struct pf_err *err)
{
	struct stream *s = arg;
	const char *path;
	int rc = close_part(s, err);

	if (rc || s->part_count == s->in->part_count)
		return rc;
	path = s->in->parts[s->part_count++];
	s->part = pf_input_open(path, err);
	return s->part ? 1 : pf_while(err, "'%s'", path);
}

/* {"rocprofiler-sdk-tool": ... */
static bool is_json(const char *head, size_t len)
{
	static const char key[] = "\"rocprofiler-sdk-tool\"";
	size_t at = 1;

	if (!len || *head != '{')
		return false;
	while (at < len && strchr(" \t\r\n", head[at]))
		at++;
	return len - at >= sizeof(key) - 1 &&
	       !memcmp(head + at, key, sizeof(key) - 1);
}

static bool rocm_claims(const char *head, size_t len)
{
	return is_json(head, len) || pf_rocm_csv_claims(head, len);
}

static int read_stream(struct pf_ingest *in, struct pf_input *input,
		       const struct pf_buf *head, struct pf_err *err)
{
	struct stream s = { .in = in, .from = { input, head, 0 } };
	const struct pf_rocm_stream from = { read_input, next_part,
					     in->part_count > 0, &s };
	const struct pf_reader_options options = { .dir = in->directory };
	struct pf_reader *reader = is_json(head->data, head->len)
					   ? pf_rocprofv3_new(&from, &options)
					   : pf_rocm_csv_new(&from);
	int rc = ingest_drain(in, reader, err);

	reader->free(reader);
	pf_input_close(s.part);
	return rc;
}

PF_INGEST_FORMAT(30, rocprofv3) = { "rocprofv3", rocm_claims, read_stream, NULL,
				    false };

/*
 * Databases of other programs: which they are is said by their tables.  Those
 * of the list are read, in the order of their tables and rows; others are
 * refused by name.
 */

#define NAMED 10 /* tables of a database that nobody knows */

static const struct source {
	const char *format; /* trace.format */
	bool (*claims)(struct pf_foreign *f);
	struct pf_reader *(*open)(struct pf_foreign *f,
				  const struct pf_reader_options *options);
} sources[] = {
	{ "nsys", pf_nsys_claims, pf_nsys_new },
	{ "rpd", pf_rpd_claims, pf_rpd_new },
	{ "rocpd", pf_rocpd_claims, pf_rocpd_new },
};

static const struct source *find_source(struct pf_foreign *f)
{
	if (f->application_id == PF_APPLICATION_ID)
		return NULL;
	for (size_t i = 0; i < PF_LEN(sources); i++)
		if (sources[i].claims(f))
			return &sources[i];
	return NULL;
}

/* ---- what it is ---- */

static int refuse_unknown(const struct pf_foreign *f, struct pf_err *err)
{
	PF_AUTO(pf_buf_release) struct pf_buf names = { 0 };

	for (size_t i = 0; i < f->table_count && i < NAMED; i++)
		pf_buf_addf(&names, "%s%.40s", i ? ", " : "", f->tables[i]);
	if (f->table_count > NAMED)
		pf_buf_adds(&names, ", ...");
	pf_fail(err, PF_EDATA,
		"is an SQLite database without a trace that profan knows; its "
		"tables: %s",
		f->table_count ? names.data : "none");
	return -1;
}

static int refuse(const struct pf_foreign *f, struct pf_err *err)
{
	if (f->application_id == PF_APPLICATION_ID)
		return pf_fail(err, PF_EDATA,
			       "is a database of profan and no trace; commands "
			       "take it as it is");
	if (pf_foreign_table(f, "read_only_ops") &&
	    pf_foreign_table(f, "db_version"))
		return pf_fail(err, PF_EDATA,
			       "is a database of DLProf, which has no trace; "
			       "the report of Nsight Systems that it was made "
			       "of has: 'nsys export --type sqlite REPORT'");
	if (pf_foreign_table(f, "KERN"))
		return pf_fail(err, PF_EDATA,
			       "is a database of rocprof (version 1), which "
			       "profan does not read: trace with 'rocprofv3 "
			       "--runtime-trace --output-format rocpd -- "
			       "PROGRAM'");
	return refuse_unknown(f, err);
}

/* Does a file begin as a database of SQLite does? */
static bool ingest_is_sqlite(const char *head, size_t len)
{
	static const char magic[] = "SQLite format 3";

	return len >= sizeof(magic) && !memcmp(head, magic, sizeof(magic));
}

const char *pf_ingest_foreign(int fd, struct pf_err *why)
{
	const struct source *source;
	struct pf_foreign f;

	if (pf_foreign_open(&f, fd, why))
		return NULL;
	source = find_source(&f);
	if (!source)
		refuse(&f, why);
	pf_foreign_close(&f);
	return source ? source->format : NULL;
}

static int look(struct pf_input *input, struct pf_buf *head,
		struct pf_seen *seen, struct pf_err *err)
{
	int fd = pf_input_plain_fd(input);
	struct pf_err why = { 0 };

	(void)head;
	if (fd < 0)
		pf_fail(&why, PF_EDATA, "is an SQLite database that is packed");
	else
		seen->format = pf_ingest_foreign(fd, &why);
	if (why.code && !pf_err_is_of_input(&why)) {
		*err = why;
		return -1;
	}
	snprintf(seen->why, sizeof(seen->why), "%s", why.text);
	return seen->format != NULL;
}

/* ---- reading ---- */

static int read_database(struct pf_ingest *in, struct pf_foreign *f,
			 struct pf_err *err)
{
	const struct source *source = find_source(f);
	const struct pf_reader_options options = {
		.os_calls = in->options->os_calls,
		.dir = in->directory,
	};
	struct pf_reader *reader;
	int rc;

	if (!source)
		return refuse(f, err);
	in->format_name = source->format;
	reader = source->open(f, &options);
	PF_TRY(!reader);
	rc = ingest_drain(in, reader, err);
	reader->free(reader);
	return rc;
}

static int read_sqlite(struct pf_ingest *in, struct pf_input *input,
		       const struct pf_buf *head, struct pf_err *err)
{
	int fd = pf_input_plain_fd(input), rc;
	struct pf_foreign f;

	(void)head;
	if (strcmp(pf_input_compression(input), "none") != 0)
		return pf_fail(err, PF_EDATA,
			       "is an SQLite database inside %s: unpack it "
			       "first",
			       pf_input_compression(input));
	if (fd < 0)
		return pf_fail(err, PF_EDATA,
			       "an SQLite database cannot be read from a pipe: "
			       "give the name of the file");
	PF_TRY(pf_foreign_open(&f, fd, err));
	rc = read_database(in, &f, err);
	pf_foreign_close(&f);
	in->json_bytes = pf_input_size(input);
	return rc;
}

PF_INGEST_FORMAT(20, sqlite) = { "sqlite", ingest_is_sqlite, read_sqlite, look,
				 false };
