/* SPDX-License-Identifier: MIT */
/*
 * A trace that was read leaves the ingest that read it.  It takes along what
 * is its own; of what the next traces add to, it gets a copy: kinds of types,
 * metadata and the few names that mean something.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/xxh128.h"
#include "ingest/ingest_impl.h"

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

struct pf_ingest *pf_ingest_split(struct pf_ingest *in)
{
	struct pf_ingest *job;

	pf_ingest_device_reserve(in);
	job = copy_job(in);
	begin_next(in);
	return job;
}

void pf_ingest_close_runs(struct pf_ingest *in)
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
	pf_ingest_close_runs(in);
	pf_buf_release(&in->process_names);
	for (int i = 0; i < PF_LATER_LISTS; i++)
		pf_later_release(&in->later[i]);
	drop_tracks(in->tracks, in->track_count - in->first_track);
	free(in->tracks);
	for (size_t i = 0; i < in->extra_fact_count; i++)
		free(in->extra_facts[i].key);
	free(in->extra_facts);
}

struct pf_ingest *pf_ingest_give_up(struct pf_ingest *in, const char *why)
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

void pf_ingest_drop(struct pf_ingest *in)
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

struct pf_ingest_shares *pf_ingest_share(struct pf_ingest *all,
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
		pf_ingest_shares_free(s);
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

struct pf_ingest *pf_ingest_share_next(struct pf_ingest_shares *s,
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
			pf_ingest_drop(job);
			return NULL;
		}
	}
	return job;
}

void pf_ingest_shares_free(struct pf_ingest_shares *s)
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
		pf_ingest_drop(all);
	}
	free(s->of);
	free(s);
}
