/* SPDX-License-Identifier: MIT */
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
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ingest/ingest_impl.h"
#include "ingest/ingest_lane.h"
#include "store/threads.h"
#include "formats/json/chrome.h"

#define CHUNK_BYTES (2u << 20)
#define WORKERS_MAX 16

struct chunk {
	char *text;
	size_t cap, len;
	int64_t offset;
	uint64_t index;
	bool final;
};

struct reading {
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
	struct reading *r;
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

static void fail(struct reading *r, const struct pf_err *err)
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
static int read_chunk(struct reading *r, struct chunk *c, struct pf_err *err)
{
	size_t cut;
	int64_t n;

	if (r->at_end)
		return 0;
	reserve(c, r->tail.len + r->chunk_bytes);
	if (r->tail.len)
		memcpy(c->text, r->tail.data, r->tail.len);
	n = pf_input_read(r->input, c->text + r->tail.len, r->chunk_bytes, err);
	if (n < 0)
		return -1;
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
static struct pf_doc_state guess_state(struct reading *r, const struct chunk *c)
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
	struct reading *r = w->r;
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
	struct reading *r = w->r;

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
	struct reading *r = w->r;
	const char *text = w->chunk.text;
	size_t len = w->chunk.len;

	if (parsed && !r->carry.len && same_state(guessed, &r->state))
		r->state = *reached;
	else if (parse_again(w, &text, &len, &used, err))
		return -1;
	keep_carry(w, text + used, len - used);
	w->first_order = r->in->event_count;
	pf_ingest_count(r->in, &w->chrome.out.batch);
	atomic_store(&r->events, r->in->event_count);
	return pf_ingest_settle(r->in, &w->chrome.out, &w->type_ids,
				&w->type_ids_cap, err);
}

/* 1 done, 0 stop because another worker failed, -1 an error of our own. */
static int do_chunk(struct worker *w, struct pf_err *err)
{
	struct reading *r = w->r;
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
	    pf_ingest_write_runs(r->in, w->sorter, &w->chrome.out, w->type_ids,
				 w->first_order, &r->turn_lock, err))
		rc = -1;
	return rc;
}

/* A chunk; false: there is no more to do. */
static bool work_once(void *arg)
{
	struct worker *w = arg;
	struct reading *r = w->r;
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
		w->sorter = pf_ingest_sorter_new();
	}
	return all;
}

void pf_ingest_workers_free(struct pf_ingest_workers *all)
{
	for (unsigned i = 0; all && i < all->count; i++) {
		struct worker *w = &all->of[i];

		pf_chrome_release(&w->chrome);
		pf_ingest_sorter_free(w->sorter);
		pf_buf_release(&w->joined);
		free(w->chunk.text);
		free(w->type_ids);
	}
	free(all);
}

/* One of them is the lane's thread, if it has one. */
static void run_workers(struct reading *r, struct pf_ingest_workers *all)
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
	struct reading r = { .in = in, .input = input };
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

static bool claims(const char *head, size_t len)
{
	(void)head;
	(void)len;
	return true;
}

PF_INGEST_FORMAT(90, chrome) = { PF_INGEST_CHROME_NAME, claims, read_chrome,
				 pf_ingest_look_json, false };
