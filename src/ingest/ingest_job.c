/* SPDX-License-Identifier: MIT */
/*
 * A trace that was read leaves the ingest that read it.  It takes along what
 * is its own; of what the next traces add to, it gets a copy: kinds of types,
 * metadata and the few names that mean something.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
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
	};
	memset(&in->runs, 0, sizeof(in->runs));
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

struct pf_ingest *pf_ingest_split(struct pf_ingest *in)
{
	struct pf_ingest *job;

	pf_ingest_device_reserve(in);
	job = copy(in, 1, sizeof(*in));

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
	begin_next(in);
	return job;
}

/* What is of the trace at hand alone. */
static void drop_trace(struct pf_ingest *in)
{
	pf_scratch_close(&in->runs);
	for (int i = 0; i < PF_LATER_LISTS; i++)
		pf_later_release(&in->later[i]);
	for (size_t i = in->first_track; i < in->track_count; i++) {
		struct pf_ingest_track *t = pf_ingest_track(in, i);

		free(t->pid);
		free(t->tid);
		free(t->name);
		free(t->runs);
	}
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
	in->track_count = in->first_track;
	begin_next(in);
	return job;
}

void pf_ingest_drop(struct pf_ingest *in)
{
	drop_trace(in);
	pf_sorter_free(in->calls);
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
