/* SPDX-License-Identifier: MIT */
/* Logs of nvidia-smi and dcgmi, line by line. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "ingest/ingest_impl.h"
#include "formats/logs/telemetry.h"

#define LOOK_BYTES 8192u

static int read_lines(struct pf_ingest_sink *s, struct pf_tele *t,
		      struct pf_err *err)
{
	struct pf_lines lines = { .read = pf_ingest_sink_read, .arg = s };
	struct pf_text_line line;
	int rc;

	while ((rc = pf_lines_next(&lines, &line, err)) == 1)
		if (pf_tele_line(t, &line, &s->parsed, err) ||
		    pf_ingest_sink_offer(s, err) < 0) {
			rc = -1;
			break;
		}
	pf_lines_release(&lines);
	return rc;
}

static int read_log(enum pf_tele_kind kind, struct pf_ingest *in,
		    struct pf_input *input, const struct pf_buf *head,
		    struct pf_err *err)
{
	struct pf_tele *t = pf_tele_new(kind, &in->options->telemetry);
	struct pf_ingest_sink s;
	int rc;

	pf_ingest_sink_init(&s, in, input, head);
	rc = read_lines(&s, t, err);
	if (!rc)
		rc = pf_tele_finish(t, &s.parsed, err);
	if (!rc)
		rc = pf_ingest_sink_flush(&s, err) < 0 ? -1 : 0;
	pf_ingest_sink_release(&s);
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
	struct pf_parsed parsed = { 0 };
	int64_t n;
	char *end;

	pf_parsed_init(&parsed);
	pf_buf_reserve(head, head->len + LOOK_BYTES);
	n = pf_input_read(input, head->data + head->len, LOOK_BYTES, err);
	head->len += n < 0 ? 0 : (size_t)n;
	end = memchr(head->data, '\n', head->len);
	line.text = head->data;
	line.len = end ? (size_t)(end - head->data) : head->len;
	if (line.len && line.text[line.len - 1] == '\r')
		line.len--;
	if (n >= 0)
		pf_tele_line(t, &line, &parsed, &why);
	seen->needs_interval = why.code == PF_EUSAGE;
	snprintf(seen->why, sizeof(seen->why), "%s", why.text);
	pf_parsed_release(&parsed);
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
