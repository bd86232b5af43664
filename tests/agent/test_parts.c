/* SPDX-License-Identifier: MIT */
/* Parts of the agent that can be had without loading it.  Speaks TAP. */
#include "config.h"

#include "crc32c.h"
#include "counts.h"
#include "cupti.h"
#include "defs.h"
#include "events.h"
#include "ring.h"

#include <stdio.h>
#include <stdlib.h>

static int count, failed;

static void check(bool good, const char *what)
{
	printf("%sok %d - %s\n", good ? "" : "not ", ++count, what);
	failed += !good;
}

static void test_crc(void)
{
	uint8_t bytes[300];
	bool same = true;

	pf_crc32c_init();
	check(pf_crc32c("123456789", 9) == 0xE3069283 &&
		      pf_crc32c_tables("123456789", 9) == 0xE3069283,
	      "the checksum of 123456789");
	check(pf_crc32c("", 0) == 0, "the checksum of nothing");
	for (int i = 0; i < 300; i++)
		bytes[i] = (uint8_t)(i * 37 + i / 7);
	for (int from = 0; from < 9; from++)
		for (int len = 0; len + from <= 300; len++)
			same &= pf_crc32c(bytes + from, (size_t)len) ==
				pf_crc32c_tables(bytes + from, (size_t)len);
	check(same, "instruction and tables agree at every length");
}

static void test_calls(void)
{
	static const struct {
		uint32_t domain;
		const char *name;
		enum pf_call want;
	} calls[] = {
		{ 2, "cudaLaunchKernel_v7000", PF_CALL_KEEP },
		{ 2, "__cudaLaunchKernel_ptsz_v13000", PF_CALL_KEEP },
		{ 2, "cudaGetDevice_v3020", PF_CALL_DROP },
		{ 2, "cudaGetDeviceCount_v3020", PF_CALL_KEEP },
		{ 2, "cudaStreamIsCapturing_ptsz_v10000", PF_CALL_DROP },
		{ 2, "cudaEventQuery_v3020", PF_CALL_QUERY },
		{ 2, "cudaStreamQuery_ptsz_v7000", PF_CALL_QUERY },
		{ 2, "cudaEventCreateWithFlags_v3020", PF_CALL_DROP },
		{ 2, "v12345", PF_CALL_KEEP },
		{ 2, "", PF_CALL_KEEP },
		{ 2, NULL, PF_CALL_KEEP },
		{ 1, "cuLaunchKernelEx_ptsz", PF_CALL_KEEP },
		{ 1, "cuMemcpyHtoDAsync_v2_ptsz", PF_CALL_KEEP },
		{ 1, "cuCtxSynchronize_v2", PF_CALL_KEEP },
		{ 1, "cuStreamWaitEvent_ptsz", PF_CALL_KEEP },
		{ 1, "cuStreamWaitValue32", PF_CALL_DROP },
		{ 1, "cuMemAlloc_v2", PF_CALL_DROP },
		{ 1, "cuMemMapArrayAsync", PF_CALL_DROP },
		{ 1, "cuPointerGetAttribute", PF_CALL_DROP },
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		char what[128];
		snprintf(what, sizeof(what), "filter: %s",
			 calls[i].name ? calls[i].name : "no name");
		check(pf_cupti_call(calls[i].domain, calls[i].name) ==
			      calls[i].want,
		      what);
	}
}

static void test_defs(void)
{
	uint8_t *memory = calloc(1, pf_defs_memory());
	struct pf_defs d = { 0 };
	uint32_t id, most = 0, len;
	bool right = true;

	pf_defs_init(&d, memory);
	check(pf_defs_id(&d, &d.strings, "one", 3, 256) == 1 &&
		      pf_defs_id(&d, &d.strings, "two", 3, 256) == 2 &&
		      pf_defs_id(&d, &d.strings, "one", 3, 256) == 1 &&
		      pf_defs_id(&d, &d.strings, "on", 2, 256) == 3,
	      "strings get ids from 1, once each");
	check(pf_defs_id(&d, &d.launches, "one", 3, 256) == 1,
	      "each table has its own");
	for (uint32_t i = 3; i < 70000; i++) {
		id = pf_defs_id(&d, &d.strings, &i, sizeof(i),
				i < 60000 ? 192 : 256);
		right &= !id ||
			 !memcmp(pf_defs_string(&d, id, &len), &i, sizeof(i));
		most = id > most ? id : most;
		if (i == 59999)
			right &= most == 49152;
	}
	check(right && most > 49152 && most <= 65536,
	      "a share of the table, then the rest, then none");
	check(pf_defs_id(&d, &d.strings, "new", 3, 256) == 0 || most < 65536,
	      "a full table has no room");
	check(pf_defs_id(&d, &d.strings, "two", 3, 256) == 2,
	      "and still finds what it has");
	free(memory);
}

static void test_ring(void)
{
	struct pf_rings rings;
	uint8_t *memory = calloc(1, pf_rings_memory());
	struct pf_chunk *chunk = calloc(1, sizeof(*chunk));
	struct pf_events events = { .chunk = chunk };
	struct pf_slot push = { .time_ns = 5, .type = PF_EV_PUSH };
	struct pf_slot pop = { .time_ns = 6, .type = PF_EV_POP };
	struct pf_ring *r;
	uint32_t pushes = 0, pops = 0;
	bool half, halves = false, full;

	pf_rings_init(&rings, memory);
	r = pf_ring_take(&rings);
	while (pf_ring_add(r, &push, NULL, &half)) {
		pushes++;
		halves |= half;
	}
	check(pushes > PF_RING_SLOTS / 3 && halves,
	      "a ring takes pushes until each has room for its pop");
	while (r->open && pf_ring_add(r, &pop, NULL, &half))
		pops++;
	check(pops == pushes, "then every pop finds its place");
	for (pushes = 0; pf_ring_read(r, &events, &full) || full;) {
		if (full) {
			pushes += chunk->events;
			chunk->len = chunk->events = 0;
		}
	}
	check(pushes + chunk->events == 2 * pops, "all are read");
	pf_ring_end(r);
	check(!pf_ring_read(r, &events, &full) && pf_ring_take(&rings) == r,
	      "a ring whose thread has ended is used again");
	free(chunk);
	free(memory);
}

static void test_counts(void)
{
	struct pf_counts *c = calloc(1, sizeof(*c));
	static const char want[] = "records=7\nkind.10=5\ntruncated=size\n";
	char text[8192];
	size_t n;

	c->records = 7;
	c->kinds[10] = 5;
	c->truncated = PF_TRUNCATED_SIZE;
	n = pf_counts_text(c, text, sizeof(text));
	check(n == sizeof(want) - 1 && !memcmp(text, want, n),
	      "totals as lines");
	for (size_t room = 0; room < sizeof(want); room++)
		if (pf_counts_text(c, text, room) > room)
			failed++;
	free(c);
}

int main(void)
{
	test_crc();
	test_calls();
	test_defs();
	test_ring();
	test_counts();
	printf("1..%d\n", count);
	return failed != 0;
}
