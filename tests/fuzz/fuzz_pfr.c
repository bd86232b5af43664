/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a .pfr file, and as the payload of one good frame of it (the
 * checksums keep a fuzzer from there): no fault, all bytes and events are
 * accounted for, and the pieces it is read in change nothing.
 */
#include "config.h"

#include "fuzz/fuzz.h"

#include <string.h>

#include "gen/pfrread.h"
#include "gen/pfrw.h"

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t piece;

	if (size > 1 << 18)
		return 0;
	piece = size ? 1u + data[size - 1] % 61u : 1;
	check(data, size, piece);
	for (unsigned type = 1; type <= 6; type++)
		as_payload(data, size, type, piece);
	return 0;
}
