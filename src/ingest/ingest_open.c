/* SPDX-License-Identifier: MIT */
/* Which format a file has, and what the readers of all of them share. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ingest/ingest_impl.h"

#define PF_ENTRY(name) extern const struct pf_ingest_format pf_ingest_##name;
#include "ingest/formats.inc"
#undef PF_ENTRY
#define PF_ENTRY(name) &pf_ingest_##name,
static const struct pf_ingest_format *const formats[] = {
#include "ingest/formats.inc"
};

const struct pf_ingest_format *pf_ingest_find_format(const char *head,
						     size_t len)
{
	size_t i = 0;

	while (!formats[i]->claims(head, len))
		i++;
	return formats[i];
}

void pf_ingest_count(struct pf_ingest *in, const struct pf_batch *b)
{
	in->event_count += b->event_count;
	in->paired_count += b->paired_count;
	in->no_phase_count += b->no_phase_count;
	in->metadata_count += b->metadata_count;
	pf_repairs_add(&in->repairs, &b->repairs);
	if (b->ts_fraction_digits > in->ts_fraction_digits)
		in->ts_fraction_digits = b->ts_fraction_digits;
	in->facts |= b->facts;
	in->link_equal += b->link_equal;
	in->link_differ += b->link_differ;
	in->link_absent += b->link_absent;
	in->ext_lower += b->ext_lower;
	for (int k = 0; k < PF_KIND_COUNT; k++)
		in->kind_count[k] += b->kind_count[k];
}

void pf_ingest_note_fact(struct pf_ingest *in, const char *key, int64_t value)
{
	in->extra_facts =
		pf_grow(in->extra_facts, &in->extra_facts_cap,
			in->extra_fact_count + 1, sizeof(*in->extra_facts));
	in->extra_facts[in->extra_fact_count].key = pf_strdup(key);
	in->extra_facts[in->extra_fact_count++].value = value;
}

int pf_ingest_add_part(struct pf_ingest *in, struct pf_input *part,
		       struct pf_err *err)
{
	char digest[PF_XXH128_TEXT];

	if (pf_input_finish(part, err))
		return -1;
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

int pf_ingest_read(struct pf_ingest *in, struct pf_err *err)
{
	struct pf_input *input = pf_input_open(in->path, err);
	const struct pf_ingest_format *format;
	struct pf_buf head = { 0 };
	int64_t n;
	int rc = -1;

	if (!input) {
		in->file_bytes = -1;
		return -1;
	}
	pf_buf_reserve(&head, PF_INGEST_HEAD_BYTES);
	n = pf_input_read(input, head.data, PF_INGEST_HEAD_BYTES, err);
	if (n >= 0) {
		head.len = (size_t)n;
		format = pf_ingest_find_format(head.data, head.len);
		in->format_name = format->name;
		rc = 0;
		if (format->writes) {
			pf_lane_wait(in->lane);
			rc = pf_ingest_mark_stacks(in, err);
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
	pf_buf_release(&head);
	pf_input_close(input);
	return rc;
}

/* ---- byte by byte, in one thread ---- */

void pf_ingest_sink_init(struct pf_ingest_sink *s, struct pf_ingest *in,
			 struct pf_input *input, const struct pf_buf *head)
{
	*s = (struct pf_ingest_sink){ .in = in, .from = { input, head, 0 } };
	s->most = pf_ingest_batch_events(in);
	pf_parsed_init(&s->parsed);
	pf_ingest_batcher_init(&s->batcher, in);
	in->found_list = true;
}

void pf_ingest_sink_release(struct pf_ingest_sink *s)
{
	pf_ingest_batcher_release(&s->batcher);
	pf_parsed_release(&s->parsed);
}

int64_t pf_ingest_sink_read(void *sink, void *buf, size_t len,
			    struct pf_err *err)
{
	struct pf_ingest_sink *s = sink;
	struct pf_ingest *in = s->in;
	int64_t n = pf_headed_read(&s->from, buf, len, err);

	if (n < 0)
		return -1;
	in->json_bytes += n;
	if (in->options->progress)
		in->options->progress(in->bytes_before +
					      pf_input_consumed(s->from.input),
				      in->events_before + in->event_count);
	return n;
}

int pf_ingest_sink_flush(struct pf_ingest_sink *s, struct pf_err *err)
{
	if (pf_ingest_batcher_put(&s->batcher, &s->parsed, err))
		return -1;
	return pf_parsed_begin(&s->parsed);
}

int pf_ingest_sink_offer(struct pf_ingest_sink *s, struct pf_err *err)
{
	return s->parsed.batch.count < s->most ? 0
					       : pf_ingest_sink_flush(s, err);
}
