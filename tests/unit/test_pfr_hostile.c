/* SPDX-License-Identifier: MIT */
/*
 * Captures that no agent wrote: memory and time stay bounded, whatever they
 * say, and what is not taken in is counted.
 */
#include "unit/support.h"

#include <stdlib.h>
#include <string.h>

#include "gen/pfrread.h"
#include "gen/pfrw.h"
#include "formats/pfr/file.c"

#define PUSH   16
#define MARK   18
#define RSTART 19
#define REND   20

/* Payload type 2 with its eight bytes if it is not 0. */
static void put_nvtx(struct pfrw *w, unsigned type, uint64_t ns, uint64_t tid,
		     const char *name, size_t len, uint64_t domain,
		     uint64_t range, uint64_t payload)
{
	pfrw_open(w, type);
	pfrw_start(w, ns);
	pfrw_varint(w, tid);
	pfrw_varint(w, name ? len * 2 + 1 : 0);
	if (name)
		pfrw_bytes(w, name, len);
	pfrw_varint(w, domain);
	pfrw_varint(w, 0);
	pfrw_varint(w, 0);
	pfrw_varint(w, range);
	pfrw_varint(w, payload ? 2 : 0);
	if (payload)
		pfrw_u64(w, payload);
	pfrw_close(w);
}

static void read_all(const struct pfrw *w, struct pfrread *r)
{
	assert_true(pfrread(w->data, w->len, 0, 1000, r));
	assert_true(pfrread_adds_up(r, w->len));
}

/* The bucket that ranges.c puts a number in. */
static uint32_t bucket_of(uint64_t a)
{
	uint64_t hash =
		a * UINT64_C(0x9e3779b97f4a7c15) * UINT64_C(0xd6e8feb86659fd93);

	return (uint32_t)(hash >> 40) & 4095;
}

/* A value that comes again, longer each time. */
static void lines_stay_small(void **state)
{
	const size_t len = 1u << 20;
	char *line = malloc(len);
	struct pf_pfr_lines l = { 0 };

	(void)state;
	memset(line, 'v', len);
	for (int round = 0; round < 2; round++)
		for (int k = 0; k < 20; k++) {
			line[0] = (char)('a' + k);
			line[1] = '=';
			lines_add(&l, (unsigned char *)line, round ? len : 3);
		}
	assert_int_equal(l.count, 20);
	assert_true(l.bytes <= 8u << 20);
	assert_true(l.left_out >= 12);
	free(line);
	lines_release(&l);
}

static void define(struct pf_pfr_defs *d, unsigned table, uint64_t id,
		   size_t len)
{
	struct pfrw w = { 0 };
	char *text = malloc(len + 1);

	memset(text, 't', len);
	text[len] = '\0';
	if (table == PF_PFR_STR)
		pfrw_string(&w, id, text);
	else
		pfrw_keyed(&w, table, id, text);
	defs_add(d, w.body, w.body_len);
	free(text);
	free(w.body);
}

static void long_texts_are_lost(void **state)
{
	struct pf_pfr_defs d = { 0 };

	(void)state;
	define(&d, PF_PFR_STR, 1, PF_PFR_TEXT_MAX);
	define(&d, PF_PFR_STR, 2, PF_PFR_TEXT_MAX + 1);
	define(&d, PF_PFR_DOMAIN, 3, PF_PFR_TEXT_MAX + 1);
	pf_pfr_defs_seal(&d);
	assert_int_equal(pf_pfr_string(&d, 1).len, PF_PFR_TEXT_MAX);
	assert_null(pf_pfr_string(&d, 2).p);
	assert_null(pf_pfr_keyed_text(&d, PF_PFR_DOMAIN, 3).p);
	assert_int_equal(d.past_cap, 2);
	defs_release(&d);
}

/* Past the limit of keys: not sorted again for each of them. */
static void keys_without_end(void **state)
{
	const uint64_t limit = 1u << 18, more = 1u << 18;
	struct pf_pfr_defs d = { 0 };

	(void)state;
	for (uint64_t k = 0; k < limit + more; k++)
		define(&d, PF_PFR_THREAD, k + 1, 1);
	pf_pfr_defs_seal(&d);
	assert_int_equal(d.past_cap, more);
	assert_non_null(pf_pfr_keyed_text(&d, PF_PFR_THREAD, limit).p);
	assert_null(pf_pfr_keyed_text(&d, PF_PFR_THREAD, limit + 1).p);
	defs_release(&d);
}

/* Ranges that stay open own their names, up to 64 MiB of them. */
static void names_of_open_ranges(void **state)
{
	const size_t len = 16000, frames = 1100;
	char *name = malloc(len);
	struct pfrread r;
	struct pfrw w;

	(void)state;
	memset(name, 'n', len);
	pfrw_init(&w);
	for (size_t f = 0; f < frames; f++) {
		pfrw_base(&w, 1000);
		for (int i = 0; i < 4; i++)
			put_nvtx(&w, PUSH, 1000, 7, name, len, 0, 0, 0);
		pfrw_frame(&w, 3, 0);
	}
	read_all(&w, &r);
	assert_int_equal(r.stored, (64u << 20) / len);
	assert_int_equal(r.stored + r.skipped, 4 * frames);
	pfrread_release(&r);
	pfrw_release(&w);
	free(name);
}

/* Numbers that were chosen to fall together. */
static void numbers_that_collide(void **state)
{
	struct pfrread r;
	struct pfrw w;
	uint64_t id = 0;

	(void)state;
	pfrw_init(&w);
	for (size_t n = 0; n < 5000; n++) {
		do
			id++;
		while (bucket_of(id) != 1);
		if (!(n % 500))
			pfrw_base(&w, 1000);
		put_nvtx(&w, RSTART, 1000, 7, NULL, 0, 0, id, 0);
		if (n < 1100)
			put_nvtx(&w, PUSH, 1000, id, NULL, 0, 0, 0, 0);
		if (n % 500 == 499)
			pfrw_frame(&w, 3, 0);
	}
	pfrw_base(&w, 2000);
	put_nvtx(&w, REND, 2000, 7, NULL, 0, 0, id, 0);
	pfrw_frame(&w, 3, 0);
	read_all(&w, &r);
	assert_int_equal(r.stored, 4096 + 1024);
	assert_int_equal(r.skipped, 5000 - 4096 + 1100 - 1024 + 1);
	pfrread_release(&r);
	pfrw_release(&w);
}

/* One long text in the arguments of many events. */
static void texts_in_arguments(void **state)
{
	static char domain[60001];
	struct pfrread r;
	struct pfrw w;

	(void)state;
	memset(domain, 'd', sizeof(domain) - 1);
	pfrw_init(&w);
	pfrw_keyed(&w, PF_PFR_DOMAIN, 1, domain);
	pfrw_frame(&w, 2, 0);
	pfrw_base(&w, 1000);
	for (uint64_t i = 1; i <= 100; i++)
		put_nvtx(&w, MARK, 1000, 7, "m", 1, 1, 0, i);
	pfrw_frame(&w, 3, 0);
	read_all(&w, &r);
	assert_int_equal(r.stored, 100);
	assert_true(r.log.len < 100 * 5000);
	assert_non_null(strstr(r.log.data, "ddd...\",\"payload\":100}"));
	pfrread_release(&r);
	pfrw_release(&w);
}

/* Times at the ends of the numbers: nothing overflows (sanitizers look). */
static void times_that_overflow(void **state)
{
	static const uint64_t far[] = { 0, UINT64_MAX, UINT64_MAX - 1,
					UINT64_C(1) << 62 };
	struct pfrread r;
	struct pfrw w;

	(void)state;
	pfrw_init(&w);
	for (size_t i = 0; i < 4; i++)
		for (int realtime = 0; realtime < 2; realtime++) {
			const uint64_t start = UINT64_C(1) << 61;

			pfrw_u64(&w, 0);
			pfrw_u64(&w, i & 1 ? (uint64_t)INT64_MAX : 0);
			pfrw_u64(&w, i & 2 ? (uint64_t)INT64_MAX : 0);
			pfrw_u64(&w, 0);
			pfrw_frame(&w, 4, 0);
			pfrw_base(&w, start);
			pfrw_open(&w, 1);
			pfrw_span(&w, start, start + 5, 1);
			for (int k = 0; k < 7; k++)
				pfrw_varint(&w, far[i] >> (k == 0 ? 40 : 0));
			pfrw_varint(&w, far[i]); /* queued */
			pfrw_varint(&w, far[i] ^ 1);
			pfrw_close(&w);
			pfrw_frame(&w, 3, (unsigned)realtime);
		}
	read_all(&w, &r);
	assert_int_equal(r.events, 8);
	pfrread_release(&r);
	pfrw_release(&w);
}

/* Headers that claim all that follows, each wrongly. */
static void headers_in_headers(void **state)
{
	const size_t headers = 60000;
	unsigned char head[24] = { 'P', 'F', 'R', 'M', 2 };
	const uint32_t len = 1u << 20;
	struct pfrread r;
	struct pfrw w;
	uint32_t crc;

	(void)state;
	memcpy(head + 12, &len, 4);
	crc = pfrw_crc32c(head, 20);
	memcpy(head + 20, &crc, 4);
	pfrw_init(&w);
	for (size_t i = 0; i < headers; i++)
		pfrw_bytes(&w, head, sizeof(head));
	w.data = realloc(w.data, w.len + w.body_len);
	memcpy(w.data + w.len, w.body, w.body_len);
	w.len = w.cap = w.len + w.body_len;
	w.body_len = 0;
	pfrw_lines(&w, 1, "pid=7\n");
	read_all(&w, &r);
	assert_int_equal(r.loss.good_frames, 1);
	assert_int_equal(r.loss.skipped_bytes, headers * sizeof(head));
	/* nearly all that one payload claims was passed over */
	assert_true(r.loss.bad_frames < 20000);
	pfrread_release(&r);
	pfrw_release(&w);
}

static void add_pair(struct pf_pfr_clock *c, uint64_t mono, uint64_t real)
{
	const uint64_t pair[3] = { mono, real, mono };

	clock_add(c, (const unsigned char *)pair, sizeof(pair));
}

/* Near or far from the time before: the same pair is found. */
static void clocks_are_searched(void **state)
{
	const size_t count = 1u << 18;
	struct pf_pfr_clock c = { 0 };
	uint64_t seed = 1;

	(void)state;
	for (uint64_t i = 0; i < count; i++)
		add_pair(&c, 1000 * i, 5000 + 2000 * i);
	for (size_t n = 0; n < 200000; n++) {
		int64_t real, want;

		seed = seed * UINT64_C(6364136223846793005) + 1;
		real = 5000 +
		       (int64_t)(seed >> 33) % (2000 * (int64_t)count) / 2 * 2;
		want = (real - 5000) / 2;
		if (real > 5000 + 2000 * (int64_t)(count - 1))
			want = 1000 * (int64_t)(count - 1) + real - 5000 -
			       2000 * (int64_t)(count - 1);
		assert_int_equal(pf_pfr_clock_monotonic(&c, real), want);
	}
	clock_release(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_stay_small),
		cmocka_unit_test(long_texts_are_lost),
		cmocka_unit_test(keys_without_end),
		cmocka_unit_test(names_of_open_ranges),
		cmocka_unit_test(numbers_that_collide),
		cmocka_unit_test(texts_in_arguments),
		cmocka_unit_test(times_that_overflow),
		cmocka_unit_test(headers_in_headers),
		cmocka_unit_test(clocks_are_searched),
	};

	return cmocka_run_group_tests_name("pfr_hostile", tests, NULL, NULL);
}
