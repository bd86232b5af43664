/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "ingest/ingest.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/tempfile.h"
#include "base/xxh128.h"
#include "formats/refusal.h"
#include "ingest/impl.h"
#include "ingest/source_name.h"

/*
 * A trace that was read leaves the ingest that read it.  It takes along what
 * is its own; of what the next traces add to, it gets a copy: kinds of types,
 * metadata and the few names that mean something.
 */

static void *copy(const void *list, size_t count, size_t element_bytes)
{
	void *p = pf_calloc(count + 1, element_bytes);

	if (count)
		memcpy(p, list, count * element_bytes);
	return p;
}

static void begin_next(struct pf_ingest *in)
{
	if (in->file_bytes > 0)
		in->bytes_before += in->file_bytes;
	in->events_before += in->event_count;
	memset(in->later, 0, sizeof(in->later));
	in->tracks = NULL;
	in->tracks_cap = 0;
	in->first_track = in->track_count;
	pf_ids_release(&in->track_names); /* those of the trace before */
	in->mark = (struct pf_ingest_mark){
		.strings = in->strings.count,
		.argsets = in->argsets.count,
		.types = in->types.count,
		.metadata_texts = in->metadata_texts.count,
		.step_names = in->step_name_count,
		.comm_names = in->comm_name_count,
		.empty_name = in->empty_name,
		.window_end_name = in->window_end_name,
	};
	in->runs = NULL;
	memset(&in->process_names, 0, sizeof(in->process_names));
	in->runs_total = 0;
	memset(&in->repairs, 0, sizeof(in->repairs));
	in->event_count = in->metadata_count = in->json_bytes = 0;
	in->file_bytes = in->stored_count = 0;
	in->paired_count = in->no_phase_count = 0;
	in->first_ns = in->last_ns = 0;
	in->format_name = NULL;
	in->found_list = false;
	in->ts_fraction_digits = 0;
	in->facts = 0;
	in->link_equal = in->link_differ = in->link_absent = 0;
	in->ext_lower = 0;
	memset(in->kind_count, 0, sizeof(in->kind_count));
	in->extra_facts = NULL;
	in->extra_fact_count = in->extra_facts_cap = 0;
}

/* An ingest like another, with its own lists of what has a meaning. */
static struct pf_ingest *copy_job(const struct pf_ingest *in)
{
	struct pf_ingest *job = copy(in, 1, sizeof(*in));

	/* How many there are is all that is asked of them from here on. */
	job->strings = (struct pf_ids){ .count = in->strings.count };
	job->argsets = (struct pf_ids){ .count = in->argsets.count };
	job->types = (struct pf_ids){ .count = in->types.count };
	job->track_names = (struct pf_ids){ 0 };
	job->metadata_texts =
		(struct pf_ids){ .count = in->metadata_texts.count };
	job->metadata = copy(in->metadata, in->metadata_texts.count,
			     sizeof(*in->metadata));
	job->type = copy(in->type, in->types.count, sizeof(*in->type));
	job->step_names = copy(in->step_names, in->step_name_count,
			       sizeof(*in->step_names));
	job->comm_names = copy(in->comm_names, in->comm_name_count,
			       sizeof(*in->comm_names));
	job->workers = NULL;
	job->boots = NULL;
	job->boot_count = job->boots_cap = 0;
	return job;
}

/*
 * What was read of the trace at hand, to be finished beside the
 * reading of the next; "in" is left ready for that.  Dropping also closes and
 * frees what a finished one has left.
 */
static struct pf_ingest *ingest_split(struct pf_ingest *in)
{
	struct pf_ingest *job;

	pf_ingest_device_reserve(in);
	job = copy_job(in);
	begin_next(in);
	return job;
}

/* Once its runs have been merged. */
static void ingest_close_runs(struct pf_ingest *in)
{
	if (in->runs && !in->runs_lent) {
		pf_scratch_close(in->runs);
		free(in->runs);
	}
	in->runs = NULL;
}

static void drop_tracks(struct pf_ingest_track *tracks, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(tracks[i].pid);
		free(tracks[i].tid);
		free(tracks[i].name);
		free(tracks[i].runs);
	}
}

/* What is of the trace at hand alone. */
static void drop_trace(struct pf_ingest *in)
{
	ingest_close_runs(in);
	pf_buf_release(&in->process_names);
	for (int i = 0; i < PF_LATER_LISTS; i++)
		pf_later_release(&in->later[i]);
	drop_tracks(in->tracks, in->track_count - in->first_track);
	free(in->tracks);
	for (size_t i = 0; i < in->extra_fact_count; i++)
		free(in->extra_facts[i].key);
	free(in->extra_facts);
}

/*
 * The same of a file that could not be read: what is left of it is that it
 * could not be, and why; "in" is as if it had never been looked at.
 */
static struct pf_ingest *ingest_give_up(struct pf_ingest *in, const char *why)
{
	struct pf_ingest *job = pf_calloc(1, sizeof(*job));
	const struct pf_ingest_mark mark = in->mark;

	job->options = in->options;
	job->db = in->db;
	job->trace_id = in->trace_id;
	job->path = in->path;
	job->is_last = in->is_last;
	job->named_rank = in->named_rank;
	job->file_bytes = in->file_bytes;
	job->mark = mark;
	job->unread = pf_strdup(why);
	drop_trace(in);
	/* readers know names by ids that are given anew now */
	pf_ingest_workers_free(in->workers);
	in->workers = NULL;
	pf_ids_cut(&in->strings, mark.strings);
	pf_ids_cut(&in->argsets, mark.argsets);
	pf_ids_cut(&in->types, mark.types);
	pf_ids_cut(&in->metadata_texts, mark.metadata_texts);
	in->step_name_count = mark.step_names;
	in->comm_name_count = mark.comm_names;
	in->empty_name = mark.empty_name;
	in->window_end_name = mark.window_end_name;
	in->track_count = in->first_track;
	begin_next(in);
	return job;
}

/* and what is left */
static void ingest_drop(struct pf_ingest *in)
{
	drop_trace(in);
	pf_sorter_free(in->calls);
	pf_ingest_arrows_free(in->arrows);
	free(in->type);
	free(in->unread);
	for (size_t i = 0; i < in->boot_count; i++)
		free(in->boots[i].id);
	free(in->boots);
	free(in->step_names);
	free(in->comm_names);
	free(in->comms);
	free(in->steps);
	pf_ids_release(&in->strings);
	pf_ids_release(&in->argsets);
	pf_ids_release(&in->types);
	pf_ids_release(&in->track_names);
	pf_ids_release(&in->metadata_texts);
	free(in->metadata);
	pf_ingest_workers_free(in->workers);
	free(in);
}

/* ---- the traces of several processes that one file had ---- */

/* What is of one of them before its tracks are counted out. */
struct share {
	struct pf_later members, metadata;
	size_t first, behind; /* of the tracks of all */
	int64_t event_count, metadata_count;
};

struct pf_ingest_shares {
	struct pf_ingest *all;
	const struct pf_ingest_owners *o;
	struct share *of;
	size_t next;
	bool is_only; /* the next is all that is wanted */
};

static int share_member(void *arg, const struct pf_later_row *row,
			struct pf_err *err)
{
	struct pf_ingest_shares *s = arg;
	int rc = 0;

	for (size_t i = 0; i < s->o->count && !rc; i++)
		rc = pf_later_put(&s->of[i].members, s->all->directory, row,
				  err);
	return rc;
}

static int put_metadata(struct pf_ingest_shares *s, size_t i,
			const struct pf_later_row *row, int64_t count,
			struct pf_err *err)
{
	s->of[i].metadata_count += count;
	return pf_later_put(&s->of[i].metadata, s->all->directory, row, err);
}

static int share_metadata(void *arg, const struct pf_later_row *row,
			  struct pf_err *err)
{
	struct pf_ingest_shares *s = arg;
	struct pf_ingest_metadata one = { row->a, 1 };
	struct pf_ingest_metadata *m =
		row->b ? &s->all->metadata[row->b - 1] : &one;
	uint32_t owner = pf_ingest_owner_of_metadata(
		s->o, row->first, row->first_len, m->last_order, m->count);
	int rc = 0;

	if (owner != PF_INGEST_EACH_OWNER)
		return put_metadata(s, owner, row, m->count, err);
	m->count /= (int64_t)s->o->count;
	for (size_t i = 0; i < s->o->count && !rc; i++)
		rc = put_metadata(s, i, row, m->count, err);
	return rc;
}

static void share_tracks(struct pf_ingest_shares *s)
{
	const struct pf_ingest *all = s->all;
	size_t t = all->first_track;

	for (size_t i = 0; i < s->o->count; i++) {
		struct share *own = &s->of[i];

		own->first = t;
		own->event_count = own->metadata_count;
		for (; t < all->track_count &&
		       pf_ingest_track(all, t)->owner == i;
		     t++)
			for (size_t k = 0;
			     k < pf_ingest_track(all, t)->run_count; k++)
				own->event_count +=
					pf_ingest_track(all, t)->runs[k].count;
		own->behind = t;
	}
	/* what was skipped is counted with the first */
	s->of[0].event_count = all->event_count;
	for (size_t i = 1; i < s->o->count; i++)
		s->of[0].event_count -= s->of[i].event_count;
}

static void ingest_shares_free(struct pf_ingest_shares *s);

static struct pf_ingest_shares *ingest_share(struct pf_ingest *all,
					     const struct pf_ingest_owners *o,
					     struct pf_err *err)
{
	struct pf_ingest_shares *s = pf_calloc(1, sizeof(*s));
	const unsigned only = all->options->process;

	s->is_only = only > 0;
	s->next = only ? only - 1 : 0;
	s->all = all;
	s->o = o;
	s->of = pf_calloc(o->count, sizeof(*s->of));
	if (pf_later_each(&all->later[PF_LATER_MEMBER], share_member, s, err) ||
	    pf_later_each(&all->later[PF_LATER_METADATA], share_metadata, s,
			  err)) {
		ingest_shares_free(s);
		return NULL;
	}
	share_tracks(s);
	return s;
}

static void count_kind(void *arg, const struct pf_run_event *ev)
{
	struct pf_ingest *job = arg;

	job->kind_count[job->type[ev->type].kind]++;
}

/* What is the first's alone. */
static void forget_first(struct pf_ingest *all)
{
	memset(&all->repairs, 0, sizeof(all->repairs));
	all->json_bytes = all->paired_count = all->no_phase_count = 0;
	all->file_bytes = -1;
}

static struct pf_ingest *new_share(struct pf_ingest_shares *s, size_t n)
{
	struct pf_ingest *all = s->all, *job = copy_job(all);
	const size_t count = s->of[n].behind - s->of[n].first;

	job->tracks = copy(&all->tracks[s->of[n].first - all->first_track],
			   count, sizeof(*job->tracks));
	job->tracks_cap = count + 1;
	job->extra_facts = NULL;
	job->extra_fact_count = job->extra_facts_cap = 0;
	job->process_names = (struct pf_buf){ 0 };
	job->runs_lent = true;
	if (n)
		return job;
	memset(all->later, 0, sizeof(all->later));
	forget_first(all);
	return job;
}

/* The last is what is left of all, which owns the runs. */
static struct pf_ingest *last_share(struct pf_ingest_shares *s)
{
	struct pf_ingest *all = s->all;
	const struct share *own = &s->of[s->next];
	const size_t from = own->first - all->first_track;
	const size_t to = own->behind - all->first_track;

	if (s->is_only) {
		drop_tracks(all->tracks, from);
		drop_tracks(all->tracks + to, all->track_count - own->behind);
		if (s->next)
			forget_first(all);
	}
	memmove(all->tracks, all->tracks + from,
		(to - from) * sizeof(*all->tracks));
	s->all = NULL;
	return all;
}

void pf_ingest_process_digest(const char *file, size_t process,
			      char out[PF_XXH128_TEXT])
{
	struct pf_xxh128 *digest = pf_xxh128_new();
	char number[24];

	snprintf(number, sizeof(number), " %zu", process);
	pf_xxh128_add(digest, file, strlen(file));
	pf_xxh128_add(digest, number, strlen(number));
	pf_xxh128_text(digest, out);
	pf_xxh128_free(digest);
}

/* As many as there are owners; NULL on an error. */
static struct pf_ingest *ingest_share_next(struct pf_ingest_shares *s,
					   struct pf_err *err)
{
	const bool is_last = s->is_only || s->next + 1 == s->o->count;
	struct share *own = &s->of[s->next];
	struct pf_ingest *job;

	job = is_last ? last_share(s) : new_share(s, s->next);
	job->later[PF_LATER_MEMBER] = own->members;
	job->later[PF_LATER_METADATA] = own->metadata;
	own->members = own->metadata = (struct pf_later){ 0 };
	job->event_count = own->event_count;
	job->metadata_count = own->metadata_count;
	job->first_track = own->first;
	job->track_count = own->behind;
	job->is_last &= is_last;
	if (!s->is_only)
		job->trace_id += (int64_t)s->next;
	job->owner_rank = s->o->ranks[s->next];
	pf_ingest_note_fact(job, "merged_count", (int64_t)s->o->count);
	pf_ingest_process_digest(job->digest, ++s->next, job->digest);
	memset(job->kind_count, 0, sizeof(job->kind_count));
	for (size_t i = job->first_track; i < job->track_count; i++) {
		const struct pf_ingest_track *t = pf_ingest_track(job, i);

		if (pf_run_each(job->runs, t->runs, t->run_count, count_kind,
				job, err)) {
			ingest_drop(job);
			return NULL;
		}
	}
	return job;
}

static void ingest_shares_free(struct pf_ingest_shares *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->o->count; i++) {
		pf_later_release(&s->of[i].members);
		pf_later_release(&s->of[i].metadata);
	}
	if (s->all) {
		/* those before the next are of others */
		struct pf_ingest *all = s->all;
		size_t gone = s->of[s->next].first - all->first_track;

		memmove(all->tracks, all->tracks + gone,
			(all->track_count - all->first_track - gone) *
				sizeof(*all->tracks));
		all->track_count -= gone;
		ingest_drop(all);
	}
	free(s->of);
	free(s);
}

/* ---- lane ---- */

struct pf_ingest_lane {
	pf_lane_work *finish;
	void *arg;
	pthread_t thread;
	bool started;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct pf_ingest *ring[PF_LANE_WAITING];
	uint64_t put, taken, finished; /* how many so far */
	struct pf_lane_task *offer;    /* NULL: none, or it is taken */
	pf_lane_help *help;            /* NULL: no help is wanted */
	void *help_arg;
	bool is_helping;
	bool closing;
	_Atomic bool failed;
	struct pf_err err;
};

/* Behind one that failed the rest are only freed. */
static void finish_one(struct pf_ingest_lane *l, struct pf_ingest *job)
{
	struct pf_err err = { 0 };

	if (atomic_load(&l->failed)) {
		ingest_drop(job);
		return;
	}
	if (!l->finish(l->arg, job, &err))
		return;
	l->err = err;
	atomic_store(&l->failed, true);
}

/* The lock is held, and not while it helps. */
static void help_once(struct pf_ingest_lane *l)
{
	pf_lane_help *help = l->help;
	bool has_more;

	l->is_helping = true;
	pthread_mutex_unlock(&l->lock);
	has_more = help(l->help_arg);
	pthread_mutex_lock(&l->lock);
	l->is_helping = false;
	if (!has_more)
		l->help = NULL;
	pthread_cond_broadcast(&l->changed);
}

static void *work(void *arg)
{
	struct pf_ingest_lane *l = arg;
	struct pf_ingest *job;

	pthread_mutex_lock(&l->lock);
	for (;;) {
		if (l->taken == l->put) {
			if (l->closing)
				break;
			if (l->help)
				help_once(l);
			else
				pthread_cond_wait(&l->changed, &l->lock);
			continue;
		}
		job = l->ring[l->taken++ % PF_LANE_WAITING];
		pthread_cond_broadcast(&l->changed);
		pthread_mutex_unlock(&l->lock);
		finish_one(l, job);
		pthread_mutex_lock(&l->lock);
		l->finished++;
		pthread_cond_broadcast(&l->changed);
	}
	pthread_mutex_unlock(&l->lock);
	return NULL;
}

/*
 * Without a thread of its own (or when none can be had) each trace is
 * finished by who puts it.
 */
static struct pf_ingest_lane *lane_new(pf_lane_work *finish, void *arg,
				       bool beside)
{
	struct pf_ingest_lane *l = pf_calloc(1, sizeof(*l));

	l->finish = finish;
	l->arg = arg;
	pthread_mutex_init(&l->lock, NULL);
	pthread_cond_init(&l->changed, NULL);
	l->started = beside && !pthread_create(&l->thread, NULL, work, l);
	return l;
}

/* ---- parts of it ---- */

/* The lock is held, and not while it runs. */
static void run_offer(struct pf_ingest_lane *l, struct pf_lane_task *task)
{
	task->is_taken = true;
	l->offer = NULL;
	pthread_mutex_unlock(&l->lock);
	task->run(task->arg);
	pthread_mutex_lock(&l->lock);
	task->is_done = true;
	pthread_cond_broadcast(&l->changed);
}

/* For what comes next; the lock is held. */
static void wait_usefully(struct pf_ingest_lane *l)
{
	if (l->offer)
		run_offer(l, l->offer);
	else
		pthread_cond_wait(&l->changed, &l->lock);
}

bool pf_lane_is_beside(const struct pf_ingest_lane *l)
{
	return l->started;
}

/* One at a time; it is the lane's until it is collected. */
static void lane_offer(struct pf_ingest_lane *l, struct pf_lane_task *task)
{
	pthread_mutex_lock(&l->lock);
	l->offer = task;
	pthread_cond_broadcast(&l->changed);
	pthread_mutex_unlock(&l->lock);
}

static void lane_collect(struct pf_ingest_lane *l, struct pf_lane_task *task)
{
	pthread_mutex_lock(&l->lock);
	if (!task->is_taken)
		run_offer(l, task);
	while (!task->is_done)
		pthread_cond_wait(&l->changed, &l->lock);
	pthread_mutex_unlock(&l->lock);
}

/* ---- all of it ---- */

bool pf_lane_failed(const struct pf_ingest_lane *l)
{
	return atomic_load(&l->failed);
}

void pf_lane_wait(struct pf_ingest_lane *l)
{
	pthread_mutex_lock(&l->lock);
	while (l->started && l->finished < l->put)
		pthread_cond_wait(&l->changed, &l->lock);
	pthread_mutex_unlock(&l->lock);
}

void pf_lane_ask(struct pf_ingest_lane *l, pf_lane_help *help, void *arg)
{
	pthread_mutex_lock(&l->lock);
	l->help = help;
	l->help_arg = arg;
	pthread_cond_broadcast(&l->changed);
	pthread_mutex_unlock(&l->lock);
}

void pf_lane_thank(struct pf_ingest_lane *l)
{
	pthread_mutex_lock(&l->lock);
	l->help = NULL;
	while (l->is_helping)
		pthread_cond_wait(&l->changed, &l->lock);
	pthread_mutex_unlock(&l->lock);
}

static int lane_put(struct pf_ingest_lane *l, struct pf_ingest *job)
{
	if (!l->started) {
		finish_one(l, job);
		return atomic_load(&l->failed) ? -1 : 0;
	}
	pthread_mutex_lock(&l->lock);
	while (l->put - l->taken == PF_LANE_WAITING)
		wait_usefully(l);
	l->ring[l->put++ % PF_LANE_WAITING] = job;
	pthread_cond_broadcast(&l->changed);
	pthread_mutex_unlock(&l->lock);
	return atomic_load(&l->failed) ? -1 : 0;
}

/*
 * Wait until all are finished.  The first that failed is the one that the
 * error is of; those behind it were not finished.  What is still offered can be
 * collected until the lane is freed.
 */
static int lane_finish(struct pf_ingest_lane *l, struct pf_err *err)
{
	int rc;

	if (l->started) {
		pthread_mutex_lock(&l->lock);
		l->closing = true;
		pthread_cond_broadcast(&l->changed);
		while (l->finished < l->put)
			wait_usefully(l);
		pthread_mutex_unlock(&l->lock);
		pthread_join(l->thread, NULL);
	}
	rc = atomic_load(&l->failed) ? -1 : 0;
	if (rc)
		*err = l->err;
	return rc;
}

static void lane_free(struct pf_ingest_lane *l)
{
	pthread_mutex_destroy(&l->lock);
	pthread_cond_destroy(&l->changed);
	free(l);
}

#define CALLS_BYTES (8u << 20)
#define RUNS_ROOM   (16u << 20) /* in memory, the rest on disk */

/* What is made of an ingest: a database in its place. */
struct making {
	const struct pf_ingest_options *options;
	struct pf_outplace place;
	struct pf_db db;
	char *directory;
	struct extra *before; /* of the trace that was finished last */
	size_t *joins;        /* of each path the first of its trace */
	const int64_t *ranks; /* of each path, by its name */
	int64_t *own_ranks;
	size_t *next;        /* and the next one of it; 0: none */
	size_t last;         /* where the last trace begins */
	size_t unread_count; /* traces that could not be read */
	struct pf_err first; /* why the first of them could not be */
};

/* ---- one trace ---- */

static int check_read(struct pf_ingest *in, struct pf_err *err)
{
	if (!in->json_bytes)
		return pf_fail(err, PF_EDATA, "%s",
			       pf_refusal_of_empty(in->path));
	if (!in->found_list)
		return pf_fail(err, PF_EDATA,
			       "is JSON without a list of trace events");
	if (!pf_ingest_has_events(in->event_count, in->no_phase_count,
				  &in->repairs))
		return pf_fail(err, PF_EDATA,
			       "is a list of other things than trace events "
			       "(none has a \"ph\")");
	if (!in->event_count && in->repairs.of[PF_REPAIR_CUT_OFF].count)
		return pf_fail(err, PF_EDATA, "has no complete event");
	return 0;
}

static int check_strict(const struct pf_ingest *in, struct pf_err *err)
{
	for (int k = 0; in->options->strict && k < PF_REPAIR_KINDS; k++)
		if (in->repairs.of[k].count && k != PF_SKIP_PYTHON &&
		    !pf_repair_is_usual((enum pf_repair_kind)k))
			return pf_fail(
				err, PF_EDATA,
				"%s (%lld times, first at byte %lld), "
				"which --strict refuses",
				pf_repair_text((enum pf_repair_kind)k),
				(long long)in->repairs.of[k].count,
				(long long)in->repairs.of[k].first_offset);
	return 0;
}

static void report(const struct pf_ingest *in)
{
	const struct pf_ingest_report r = {
		.path = in->path,
		.trace_id = in->trace_id,
		.events = in->event_count,
		.json_bytes = in->json_bytes,
		.file_bytes = in->file_bytes,
		.repairs = &in->repairs,
	};

	if (in->options->report)
		in->options->report(&r, in->options->report_arg);
}

/* The line for the user follows the reading as long as there is any. */
static void enter(const struct pf_ingest *in, const char *phase)
{
	if (in->options->phase && in->is_last)
		in->options->phase(phase);
}

/* Of a file, and not of all: what was written before it is whole. */
static bool is_of_file(const struct making *m, struct pf_ingest *in,
		       const struct pf_err *err)
{
	return m->options->keep_going && err->code != PF_ESTOP &&
	       err->code != PF_EBUSY && !pf_lane_failed(in->lane);
}

static int give_up(struct making *m, struct pf_ingest *in, struct pf_err *err)
{
	const struct pf_ingest_options *o = m->options;
	struct pf_err why = *err;
	struct pf_ingest *job;

	memset(err, 0, sizeof(*err));
	if (o->unread)
		o->unread(in->path, why.text, o->report_arg);
	job = ingest_give_up(in, why.text);
	if (!m->unread_count++) {
		m->first = why;
		pf_while(&m->first, "'%s'", job->path);
	}
	return lane_put(in->lane, job);
}

static void join_paths(struct making *m)
{
	size_t count = m->options->path_count;

	m->joins = pf_source_joins(m->options->paths, count);
	if (!m->options->ranks)
		m->own_ranks = pf_source_ranks(m->options->paths, count);
	m->ranks = m->own_ranks ? m->own_ranks : m->options->ranks;
	m->next = pf_calloc(count + 1, sizeof(*m->next));
	for (size_t i = count; i-- > 0;) {
		if (m->joins[i] == i) {
			m->last = m->last > i ? m->last : i;
			continue;
		}
		m->next[i] = m->next[m->joins[i]];
		m->next[m->joins[i]] = i;
	}
}

/* What is read behind the first file, and whether any trace is behind it. */
static void find_parts(const struct making *m, struct pf_ingest *in, size_t i)
{
	in->part_count = in->parts_read = 0;
	in->part_bytes = 0;
	in->is_last = i == m->last;
	in->named_rank = m->ranks[i];
	for (size_t k = m->next[i]; k; k = m->next[k]) {
		in->parts = pf_grow(in->parts, &in->parts_cap,
				    in->part_count + 1, sizeof(*in->parts));
		in->parts[in->part_count++] = m->options->paths[k];
	}
}

/* What was read is one trace, or one of each process (merged.c). */
static int put_traces(struct pf_ingest *in,
		      const struct pf_ingest_owners *owners, struct pf_err *err)
{
	const size_t count = in->options->process ? 1 : owners->count;
	struct pf_ingest *job = ingest_split(in);
	struct pf_ingest_shares *shares;
	int rc = 0;

	if (owners->count == 1)
		return lane_put(in->lane, job);
	shares = ingest_share(job, owners, err);
	for (size_t i = 0; i < count && shares && !rc; i++) {
		job = ingest_share_next(shares, err);
		rc = job ? lane_put(in->lane, job) : -1;
	}
	in->trace_id += (int64_t)count - 1;
	if (!shares)
		return -1;
	pf_lane_wait(in->lane); /* nobody has the runs any more */
	ingest_shares_free(shares);
	return rc;
}

static int read_trace(struct making *m, struct pf_ingest *in, size_t i,
		      struct pf_err *err)
{
	struct pf_ingest_owners owners = { 0 };
	int rc;

	in->trace_id++;
	in->path = in->options->paths[i];
	find_parts(m, in, i);
	in->runs = pf_calloc(1, sizeof(*in->runs));
	PF_TRY(pf_scratch_open(in->runs, RUNS_ROOM, in->directory, err));
	rc = pf_ingest_read(in, err) || check_read(in, err) ||
			     pf_ingest_owners_find(in, &owners, err)
		     ? -1
		     : put_traces(in, &owners, err);
	pf_ingest_owners_release(&owners);
	if (!rc || pf_lane_failed(in->lane))
		return rc;
	if (err->code == PF_EDATA && in->json_bytes &&
	    pf_refusal_of_name(in->path))
		pf_fail(err, PF_EDATA, "%s", pf_refusal_of_name(in->path));
	return is_of_file(m, in, err) ? give_up(m, in, err)
				      : pf_while(err, "'%s'", in->path);
}

/*
 * ---- extra work: from the GPU rows on, and beside the merge of the next ----
 */

struct extra {
	struct pf_ingest *in;
	struct pf_lane_task task;
	pthread_t thread;
	enum { NOT_YET, ON_THREAD, OFFERED, DONE } how;
	void *work;
	int rc; /* of preparing it */
	struct pf_err err;
};

static void prepare_extra(void *arg)
{
	struct extra *x = arg;

	x->rc = x->in->options->extra->prepare(x->work, &x->err);
}

static void *prepare_on_thread(void *arg)
{
	prepare_extra(arg);
	return NULL;
}

/*
 * Of two threads none is left for it alone.  When it is prepared depends on
 * the threads; what it begins with does not, as nothing is written meanwhile.
 */
static struct extra *begin_extra(struct pf_ingest *in, struct pf_err *err)
{
	void *work = in->options->extra->begin(in->db, in->trace_id, err);
	struct extra *x;

	if (!work)
		return NULL;
	x = pf_calloc(1, sizeof(*x));
	x->in = in;
	x->work = work;
	x->task = (struct pf_lane_task){ .run = prepare_extra, .arg = x };
	if (pf_ingest_is_pair(in)) {
		x->how = OFFERED;
		lane_offer(in->lane, &x->task);
	} else if (!pthread_create(&x->thread, NULL, prepare_on_thread, x)) {
		x->how = ON_THREAD;
	}
	return x;
}

static void end_extra(struct extra *x)
{
	switch (x->how) {
	case NOT_YET:
		prepare_extra(x);
		break;
	case ON_THREAD:
		pthread_join(x->thread, NULL);
		break;
	case OFFERED:
		lane_collect(x->in->lane, &x->task);
		break;
	case DONE:
		break;
	}
	x->how = DONE;
}

/* "rc" is what came of the trace so far. */
static int finish_extra(struct extra *x, int rc, struct pf_err *err)
{
	const struct pf_ingest_extra *e = x->in->options->extra;

	end_extra(x);
	if (!rc && x->rc) {
		*err = x->err;
		rc = -1;
	}
	if (!rc)
		rc = e->store(x->work, err);
	e->release(x->work);
	free(x);
	return rc;
}

/* Of the trace before, if there is one; its rows stand behind the next's. */
static int finish_before(struct making *m, struct pf_err *err)
{
	struct extra *x = m->before;
	struct pf_ingest *in;
	int rc;

	if (!x)
		return 0;
	m->before = NULL;
	in = x->in;
	rc = finish_extra(x, 0, err);
	if (!rc)
		report(in);
	enter(in, NULL);
	ingest_drop(in);
	return rc;
}

/* Behind those before it; what a format wrote of it while reading goes. */
static int put_unread(struct making *m, struct pf_ingest *in,
		      struct pf_err *err)
{
	int rc = finish_before(m, err);

	if (!rc)
		rc = pf_ingest_unread_row(in, err);
	ingest_drop(in);
	return rc;
}

/* What is written when blocks are; the extra work is left in m->before. */
static int write_rows(struct making *m, struct pf_ingest *in,
		      struct pf_err *err)
{
	struct extra *x;

	if (pf_ingest_trace_rows(in, err) || pf_ingest_steps(in, err))
		return -1;
	if (!in->options->extra)
		return pf_ingest_gpu_rows(in, err);
	x = begin_extra(in, err);
	if (!x)
		return -1;
	if (pf_ingest_gpu_rows(in, err))
		return finish_extra(x, -1, err);
	pf_db_start_sync(in->db);
	if (x->how == NOT_YET)
		end_extra(x);
	pf_sorter_free(in->calls);
	in->calls = NULL;
	m->before = x;
	return 0;
}

/* ---- what follows the reading ---- */

static int merge(struct pf_ingest *in, struct pf_err *err)
{
	in->calls = pf_sorter_new(sizeof(struct pf_ingest_call), CALLS_BYTES,
				  in->directory);
	enter(in, "linking");
	if (pf_ingest_texts(in, err) || pf_ingest_device_tracks(in, err) ||
	    pf_ingest_arrows_gather(in, err) || pf_ingest_merge(in, err))
		return -1;
	ingest_close_runs(in); /* their memory and place on the disk */
	pf_db_start_sync(in->db);
	return 0;
}

static int finish_trace(void *arg, struct pf_ingest *in, struct pf_err *err)
{
	struct making *m = arg;
	struct pf_err earlier = { 0 };
	int rc;

	if (in->unread)
		return put_unread(m, in, err);
	rc = merge(in, err);
	if (finish_before(m, &earlier)) {
		*err = earlier;
		rc = -1;
	}
	if (!rc && check_strict(in, err))
		rc = pf_while(err, "'%s'", in->path);
	if (!rc) {
		enter(in, "averages");
		rc = write_rows(m, in, err);
	}
	if (m->before)
		return rc;
	if (!rc)
		report(in);
	enter(in, NULL);
	ingest_drop(in);
	return rc;
}

/* ---- all of them ---- */

static struct pf_ingest *new_reading(struct making *m,
				     struct pf_ingest_lane *lane)
{
	struct pf_ingest *in = pf_calloc(1, sizeof(*in));

	in->options = m->options;
	in->db = &m->db;
	in->directory = m->directory;
	in->lane = lane;
	in->owner_rank = -1;
	in->empty_name = in->mark.empty_name = PF_ID_NONE;
	in->window_end_name = in->mark.window_end_name = PF_ID_NONE;
	return in;
}

/* An earlier trace's error comes first; it is why reading was stopped. */
static int ingest_traces(struct making *m, struct pf_err *err)
{
	const struct pf_ingest_options *o = m->options;
	struct pf_ingest_lane *lane;
	struct pf_err earlier = { 0 };
	struct pf_ingest *in;
	size_t traces = 0;
	int rc = 0;

	join_paths(m);
	lane = lane_new(finish_trace, m,
			o->path_count > 1 && pf_ingest_threads(o) > 1);
	in = new_reading(m, lane);
	m->db.is_for_one = pf_ingest_is_pair(in);
	for (size_t i = 0; i < o->path_count && !rc; i++) {
		if (m->joins[i] != i)
			continue;
		traces++;
		rc = read_trace(m, in, i, err);
	}
	if (lane_finish(lane, &earlier) || finish_before(m, &earlier)) {
		*err = earlier;
		rc = -1;
	}
	lane_free(lane);
	free(in->parts);
	ingest_drop(in);
	if (!rc && m->unread_count == traces) {
		*err = m->first;
		rc = traces == 1 ? -1 : pf_while(err, "no file could be read");
	}
	return rc;
}

static int set_up(struct making *m, struct pf_err *err)
{
	const char *out = m->options->out, *slash = strrchr(out, '/');
	const struct pf_outrule rule = {
		.inputs = m->options->paths,
		.input_count = m->options->path_count,
		.is_ours = pf_db_is_ours,
		.is_database = true,
	};

	m->directory = pf_temp_dir_asked() ? pf_strdup(pf_temp_dir_asked())
		       : slash == out      ? pf_strdup("/")
		       : slash ? pf_memdup0(out, (size_t)(slash - out))
			       : pf_strdup(".");
	PF_TRY(pf_outplace_open(&m->place, out, &rule, err));
	return pf_db_create(&m->db, m->place.partial, err);
}

static int put_mark(struct making *m, struct pf_err *err)
{
	sqlite3_stmt *st = pf_db_prepare(
		&m->db, "INSERT INTO meta VALUES('cache', ?1)", err);
	int rc = -1;

	if (st) {
		sqlite3_bind_text(st, 1, m->options->cache, -1, SQLITE_STATIC);
		rc = pf_db_step(&m->db, st, err);
	}
	sqlite3_finalize(st);
	return rc;
}

static int finish(struct making *m, struct pf_err *err)
{
	if (m->options->phase)
		m->options->phase("writing");
	if (m->options->cache && put_mark(m, err))
		return -1;
	PF_TRY(pf_db_finish(&m->db, err));
	return pf_outplace_commit(&m->place, err);
}

int pf_ingest(const struct pf_ingest_options *options, struct pf_err *err)
{
	struct making m = { .options = options };
	int rc;

	pf_mem_keep_below(PF_MEM_KEEP_LITTLE); /* bounded: invariant I5 */
	rc = set_up(&m, err);
	if (!rc)
		rc = ingest_traces(&m, err);
	if (!rc)
		rc = finish(&m, err);
	pf_db_close(&m.db);
	pf_outplace_release(&m.place);
	free(m.directory);
	free(m.joins);
	free(m.own_ranks);
	free(m.next);
	return rc;
}

int64_t pf_ingest_total_bytes(const struct pf_ingest_options *options)
{
	int64_t total = 0;
	struct stat info;

	for (size_t i = 0; i < options->path_count; i++) {
		if (stat(options->paths[i], &info) || !S_ISREG(info.st_mode))
			return 0;
		total += info.st_size;
	}
	return total;
}
