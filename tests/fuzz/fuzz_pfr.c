/* SPDX-License-Identifier: MIT */
/*
 * Bytes that begin as a .pfr file as one, others as the payload of a frame of
 * the type that the last byte chooses (checksums keep a fuzzer from there):
 * by its reader alone, and sometimes as the one frame of a good file.  No
 * fault, all bytes and events are accounted for, and the pieces a file is read
 * in change nothing.
 */
#include "config.h"

#include "fuzz/fuzz.h"

#include <string.h>

#include "gen/pfrread.h"
#include "gen/pfrw.h"
#include "formats/pfr/file.c"

static void check(const void *data, size_t len, size_t piece)
{
	struct pfrread whole, parts;

	if (!pfrread(data, len, 0, 1000, &whole))
		return;
	FUZZ_CHECK(pfrread_adds_up(&whole, len));
	FUZZ_CHECK(pfrread(data, len, piece, piece, &parts));
	FUZZ_CHECK(pfrread_adds_up(&parts, len));
	FUZZ_CHECK(parts.log.len == whole.log.len);
	FUZZ_CHECK(!whole.log.len ||
		   !memcmp(parts.log.data, whole.log.data, whole.log.len));
	pfrread_release(&whole);
	pfrread_release(&parts);
}

/* Definitions that events can refer to, then the bytes as a frame. */
static void as_payload(const uint8_t *data, size_t size, unsigned type,
		       size_t piece)
{
	static const uint32_t numbers[10] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 };
	struct pfrw w;

	pfrw_init(&w);
	pfrw_lines(&w, 1, "pid=1\n");
	pfrw_string(&w, 1, "_Z3fooi");
	pfrw_launch(&w, 1, 1, numbers);
	pfrw_cbid(&w, 2, 1, "cudaLaunchKernel_v7000");
	pfrw_frame(&w, 2, 0);
	pfrw_bytes(&w, data, size > 60000 ? 60000 : size);
	pfrw_frame(&w, type, piece & 1);
	check(w.data, w.len, piece);
	pfrw_release(&w);
}

static void read_events(const uint8_t *data, size_t size)
{
	struct pf_pfr_body body;
	struct pf_pfr_event ev = { 0 };
	enum pf_pfr_got got;
	size_t events = 0;

	if (!pf_pfr_body_init(&body, data, size))
		return;
	while ((got = pf_pfr_body_next(&body, &ev)) != PF_PFR_GOT_END &&
	       got != PF_PFR_GOT_CUT) {
		FUZZ_CHECK(++events <= size);
		if (got != PF_PFR_GOT_EVENT)
			continue;
		FUZZ_CHECK(ev.count <= PF_PFR_FIELDS);
		FUZZ_CHECK(ev.name.len <= size);
		memset(&ev, 0, sizeof(ev));
	}
}

static void read_definitions(const uint8_t *data, size_t size)
{
	struct pf_pfr_defs defs = { 0 };
	unsigned id = size ? data[size / 2] : 0;
	struct pf_pfr_text text;

	defs_add(&defs, data, size / 2);
	defs_add(&defs, data + size / 2, size - size / 2);
	pf_pfr_defs_seal(&defs);
	text = pf_pfr_string(&defs, id);
	FUZZ_CHECK(text.len <= PF_PFR_TEXT_MAX);
	pf_pfr_launch_of(&defs, id);
	for (int table = PF_PFR_CBID; table <= PF_PFR_CATEGORY; table++)
		FUZZ_CHECK(pf_pfr_keyed_text(&defs, table, id).len <=
			   PF_PFR_TEXT_MAX);
	defs_release(&defs);
}

static void read_lines(const uint8_t *data, size_t size)
{
	struct pf_pfr_lines lines = { 0 };
	int64_t n;

	lines_add(&lines, data, size / 3);
	lines_add(&lines, data + size / 3, size - size / 3);
	for (size_t i = 1; i < lines.count; i++)
		FUZZ_CHECK(strcmp(lines.items[i - 1].key, lines.items[i].key) <
			   0);
	if (lines.count)
		pf_pfr_line_int(&lines, lines.items[0].key, &n);
	lines_release(&lines);
}

static void read_clock(const uint8_t *data, size_t size)
{
	struct pf_pfr_clock clock = { 0 };
	int64_t base = 0;

	for (size_t at = 0; at < size; at += 16)
		clock_add(&clock, data + at, size - at < 16 ? size - at : 16);
	FUZZ_CHECK(clock_base(&clock, &base) == (clock.count > 0));
	for (size_t at = 0; at + 8 <= size; at += 8) {
		int64_t ns;

		memcpy(&ns, data + at, 8);
		pf_pfr_clock_monotonic(&clock, ns);
	}
	clock_release(&clock);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned choice = size ? data[size - 1] : 0, type = 1 + choice % 6;
	size_t piece = 1u + choice % 61u;

	if (size > 1 << 18)
		return 0;
	if (pf_pfr_claims(data, size)) {
		check(data, size, piece);
		return 0;
	}
	if (choice >= 252)
		as_payload(data, size, type, piece);
	if (type == PF_PFR_EVENTS)
		read_events(data, size);
	else if (type == PF_PFR_DEF)
		read_definitions(data, size);
	else if (type == PF_PFR_CLOCK)
		read_clock(data, size);
	else
		read_lines(data, size);
	return 0;
}
