/* SPDX-License-Identifier: MIT */
/*
 * One input, two ways: whole by the plain scanner, and by a scanner and in
 * pieces that the last byte chooses.  Both must give the same events, strings,
 * repairs and facts, byte for byte.  The parsers live on from input to input,
 * as from chunk to chunk.
 */
#include "config.h"

#include "fuzz/fuzz.h"

#include <string.h>

#include "formats/json/chrome.h"

static void log_text(struct pf_buf *log, const struct pf_dict *d, uint32_t at)
{
	const struct pf_dict_entry *e;

	if (at == PF_ID_NONE) {
		pf_buf_adds(log, " -");
		return;
	}
	FUZZ_CHECK(at < d->count);
	e = &d->entries[at];
	pf_buf_addf(log, " %u:", (unsigned)e->text_len);
	pf_buf_add(log, d->text.data + e->text_at, e->text_len);
}

/* Touches every byte that the reader gives out. */
static void log_batch(struct pf_buf *log, const struct pf_chrome *c,
		      int64_t first)
{
	const struct pf_batch *b = &c->out.batch;
	size_t i;

	for (i = 0; i < b->count; i++) {
		const struct pf_event *e = &b->events[i];
		uint32_t m, at = e->slot_at;

		pf_buf_addf(log, "%lld %c %d %lld %lld",
			    (long long)(first + e->order), e->ph, e->kind,
			    (long long)e->start_ns, (long long)e->dur_ns);
		FUZZ_CHECK(e->dur_ns >= 0);
		log_text(log, &c->out.names, e->name);
		log_text(log, &c->out.args, e->args);
		log_text(log, &c->out.tracks, e->track);
		FUZZ_CHECK(e->type < b->type_count);
		log_text(log, &c->out.categories, b->types[e->type].category);
		for (m = e->mask; m; m &= m - 1) {
			FUZZ_CHECK(at < b->slot_count);
			pf_buf_addf(log, " %d=%lld", __builtin_ctz(m),
				    (long long)b->slots[at++]);
		}
		pf_buf_addc(log, '\n');
	}
}

/* Counts of repairs and events; "first_offset" too, for chunks keep it. */
static void log_counts(struct pf_buf *log, const struct pf_repairs *r,
		       int64_t events)
{
	int k;

	for (k = 0; k < PF_REPAIR_KINDS; k++)
		if (r->of[k].count)
			pf_buf_addf(log, "%s %lld at %lld\n",
				    pf_repair_word((enum pf_repair_kind)k),
				    (long long)r->of[k].count,
				    (long long)r->of[k].first_offset);
	pf_buf_addf(log, "events %lld\n", (long long)events);
}

/* One for each scanner and its whole text, never released. */
static struct pf_chrome *parser(enum pf_scanner scanner, bool is_whole)
{
	static struct pf_chrome all[2][2];
	static bool made[2][2];

	if (!made[scanner][is_whole])
		pf_chrome_init(&all[scanner][is_whole], scanner);
	made[scanner][is_whole] = true;
	return &all[scanner][is_whole];
}

/*
 * Feed the text in pieces of at most "piece" bytes as the readers do: what
 * was not understood stands in front of the next piece.
 */
static void feed(struct pf_buf *log, const uint8_t *data, size_t size,
		 size_t piece, struct pf_chrome *c)
{
	struct pf_doc_state state = { 0 };
	struct pf_repairs repairs = { 0 };
	struct pf_buf text = { 0 };
	struct pf_err err = { 0 };
	int64_t events = 0, offset = 0;
	size_t at = 0, used;
	bool final;

	do {
		size_t n = size - at < piece ? size - at : piece;

		pf_buf_add(&text, data + at, n);
		at += n;
		final = at == size;
		pf_buf_reserve(&text, PF_SCAN_PAD);
		memset(text.data + text.len, 0, PF_SCAN_PAD);
		pf_parsed_begin(&c->out);
		if (pf_chrome_parse(c, &state, text.data, text.len, offset,
				    final, &used, &err) < 0) {
			pf_buf_addf(log, "error %d\n", (int)err.code);
			break;
		}
		FUZZ_CHECK(used <= text.len);
		FUZZ_CHECK(!final || used == text.len);
		log_batch(log, c, events);
		events += c->out.batch.event_count;
		pf_repairs_add(&repairs, &c->out.batch.repairs);
		memmove(text.data, text.data + used, text.len - used);
		text.len -= used;
		offset += (int64_t)used;
	} while (!final);
	if (err.code == PF_OK)
		log_counts(log, &repairs, events);
	pf_buf_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const size_t small[] = { 1, 2, 3, 5, 7, 17, 64, 200 };
	static struct pf_buf whole, part;
	enum pf_scanner scanner;
	unsigned choice = size ? data[size - 1] : 0;
	size_t piece;

	if (size > 1 << 16)
		return 0;
	scanner = choice & 1 ? PF_SCANNER_PLAIN : PF_SCANNER_BEST;
	/* what is not understood is read again with each piece: not too many */
	piece = size / 24 + small[choice >> 1 & 7];
	if (choice & 16)
		piece = size + 1;
	pf_buf_clear(&whole);
	pf_buf_clear(&part);
	feed(&whole, data, size, size + 1, parser(PF_SCANNER_PLAIN, true));
	feed(&part, data, size, piece, parser(scanner, false));
	if (part.len == whole.len &&
	    (!part.len || !memcmp(part.data, whole.data, part.len)))
		return 0;
	fprintf(stderr, "whole:\n%s\npieces of %zu, scanner %d:\n%s\n",
		whole.data, piece, (int)scanner, part.data);
	abort();
}
