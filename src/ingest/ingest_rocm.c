/* SPDX-License-Identifier: MIT */
/* JSON and CSV of rocprofv3. */
#include "config.h"

#include <string.h>

#include "ingest/ingest_impl.h"
#include "rocm/rocm.h"

struct stream {
	struct pf_ingest *in;
	struct pf_headed from;
};

static int64_t read_input(void *arg, void *buf, size_t len, struct pf_err *err)
{
	struct stream *s = arg;
	int64_t n = pf_headed_read(&s->from, buf, len, err);

	if (n > 0)
		s->in->json_bytes += n;
	return n;
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
	struct stream s = { in, { input, head, 0 } };
	const struct pf_rocm_stream from = { read_input, &s };
	const struct pf_reader_options options = { .dir = in->directory };
	struct pf_reader *reader = is_json(head->data, head->len)
					   ? pf_rocprofv3_new(&from, &options)
					   : pf_rocm_csv_new(&from);
	int rc = pf_ingest_drain(in, reader, err);

	reader->free(reader);
	return rc;
}

PF_INGEST_FORMAT(30, rocprofv3) = { "rocprofv3", claims, read_stream, NULL,
				    false };
