/* SPDX-License-Identifier: MIT */
/* Is a file a trace?  Read up to its first event, to its end if it has none. */
#include "config.h"

#include <string.h>

#include "ingest/ingest_impl.h"
#include "trace/chrome.h"

#define PIECE_BYTES (256u << 10)

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
	if (pf_chrome_parse(&p->chrome, &p->state, p->text.data, p->text.len,
			    p->offset, final, &used, err))
		return -1;
	p->event_count += b->event_count;
	p->no_phase_count += b->no_phase_count;
	pf_repairs_add(&p->repairs, &b->repairs);
	memmove(p->text.data, p->text.data + used, p->text.len - used);
	p->text.len -= used;
	p->offset += (int64_t)used;
	return 0;
}

/* 1 a trace, 0 none, -1 an error of reading. */
static int probe_json(struct probe *p, struct pf_input *input,
		      struct pf_err *err)
{
	struct pf_err parse = { 0 };

	for (;;) {
		int64_t n;

		pf_buf_reserve(&p->text, p->text.len + PIECE_BYTES);
		n = pf_input_read(input, p->text.data + p->text.len,
				  PIECE_BYTES, err);
		if (n < 0)
			return -1;
		p->text.len += (size_t)n;
		if (parse_piece(p, n < (int64_t)PIECE_BYTES, &parse) ||
		    p->text.len > PF_INGEST_CARRY_MAX)
			return 0;
		if (p->event_count &&
		    pf_ingest_has_events(p->event_count, p->no_phase_count,
					 &p->repairs))
			return 1;
		if (n < (int64_t)PIECE_BYTES)
			return p->state.found_list && !p->event_count;
	}
}

static int probe(struct probe *p, struct pf_input *input, struct pf_err *err)
{
	int64_t n;

	pf_buf_reserve(&p->text, PF_INGEST_HEAD_BYTES + PF_SCAN_PAD);
	n = pf_input_read(input, p->text.data, PF_INGEST_HEAD_BYTES, err);
	if (n <= 0)
		return (int)n;
	p->text.len = (size_t)n;
	if (pf_ingest_is_other(p->text.data, p->text.len))
		return !pf_ingest_is_sqlite(p->text.data, p->text.len) ||
		       pf_ingest_is_foreign(pf_input_plain_fd(input));
	return probe_json(p, input, err);
}

int pf_ingest_probe(const char *path, struct pf_err *err)
{
	struct pf_input *input = pf_input_open(path, err);
	struct pf_err failed = { 0 };
	struct probe p = { 0 };
	int rc;

	if (!input)
		return -1;
	pf_chrome_init(&p.chrome, PF_SCANNER_BEST);
	rc = probe(&p, input, &failed);
	pf_input_close(input);
	pf_chrome_release(&p.chrome);
	pf_buf_release(&p.text);
	if (rc < 0 && failed.code == PF_EDATA)
		return 0; /* compressed data that gives not a byte */
	if (rc < 0)
		*err = failed;
	return rc;
}
