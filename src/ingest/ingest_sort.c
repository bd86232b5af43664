/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ingest/ingest_impl.h"

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

struct pf_ingest_sorter *pf_ingest_sorter_new(void)
{
	return pf_calloc(1, sizeof(struct pf_ingest_sorter));
}

void pf_ingest_sorter_free(struct pf_ingest_sorter *s)
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
		s->bounds = pf_grow(s->bounds, &s->bounds_cap, count + 2,
				    sizeof(*s->bounds));
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

	s->first =
		pf_grow(s->first, &s->first_cap, tracks + 2, sizeof(*s->first));
	s->keys = pf_grow(s->keys, &s->keys_cap, b->count, sizeof(*s->keys));
	s->spare =
		pf_grow(s->spare, &s->spare_cap, b->count, sizeof(*s->spare));
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
	t->runs = pf_grow(t->runs, &t->runs_cap, t->run_count + 1,
			  sizeof(*t->runs));
	t->runs[t->run_count++] = *run;
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

int pf_ingest_write_runs(struct pf_ingest *in, struct pf_ingest_sorter *s,
			 struct pf_parsed *p, const uint32_t *type_ids,
			 int64_t first_order, pthread_mutex_t *lock,
			 struct pf_err *err)
{
	struct written *list = NULL;
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
		list = pf_grow(list, &cap, count + 1, sizeof(*list));
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
	free(list);
	return rc;
}
