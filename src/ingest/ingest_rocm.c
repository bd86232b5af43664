/* SPDX-License-Identifier: MIT */
/* JSON and CSV of rocprofv3. */
#include "config.h"

#include <string.h>

#include "ingest/ingest_impl.h"
#include "formats/rocm/rocm.h"

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
	int rc = s->part ? pf_ingest_add_part(s->in, s->part, err) : 0;

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

static bool claims(const char *head, size_t len)
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
	int rc = pf_ingest_drain(in, reader, err);

	reader->free(reader);
	pf_input_close(s.part);
	return rc;
}

PF_INGEST_FORMAT(30, rocprofv3) = { "rocprofv3", claims, read_stream, NULL,
				    false };
