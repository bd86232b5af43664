/* SPDX-License-Identifier: MIT */
#include "unit/support.h"

#include <stdlib.h>
#include <string.h>

#include "gen/pfrread.h"
#include "gen/pfrw.h"
#include "formats/pfr/file.c"
#include "formats/pfr/frame.h"
#include "formats/kineto/work.c"

#define FRAMES 12

/* ---- a small file with something of everything ---- */

static void put_nvtx(struct pfrw *w, unsigned type, uint64_t ns, uint64_t tid,
		     const char *name, uint64_t domain, uint64_t range)
{
	const uint64_t rest[] = { domain, 0, 0, range, 0 };

	pfrw_open(w, type);
	pfrw_start(w, ns);
	pfrw_varint(w, tid);
	pfrw_varint(w, name ? strlen(name) * 2 + 1 : 0);
	if (name)
		pfrw_bytes(w, name, strlen(name));
	pfrw_varints(w, 5, rest);
	pfrw_close(w);
}

static void define(struct pfrw *w)
{
	static const uint32_t numbers[10] = { 8, 1, 1, 64, 1, 1, 32, 0, 16, 0 };

	pfrw_string(w, 1, "_Z3fooi");
	pfrw_launch(w, 1, 1, numbers);
	pfrw_cbid(w, 2, 211, "cudaLaunchKernel_v7000");
	pfrw_keyed(w, 4, 7, "main");
	pfrw_keyed(w, 5, 1, "NCCL");
	pfrw_frame(w, 2, 0);
}

static void put_cuda(struct pfrw *w, uint64_t base)
{
	static const uint64_t kernel[] = { 1, 0, 1, 7, 0, 0 };
	static const uint64_t call[] = { 211 << 1, 7, 0 };
	static const uint64_t place[] = { 0, 1, 7, 0 };

	pfrw_base(w, base);
	for (uint64_t i = 0; i < 3; i++) {
		pfrw_open(w, 5);
		pfrw_span(w, base + i * 100, base + i * 100 + 20, i + 1);
		pfrw_varints(w, 3, call);
		pfrw_close(w);
		pfrw_open(w, 1);
		pfrw_span(w, base + i * 100 + 30, base + i * 100 + 90, i + 1);
		pfrw_varints(w, 6, kernel);
		pfrw_close(w);
	}
	pfrw_open(w, 3);
	pfrw_span(w, base + 400, base + 450, 9);
	pfrw_varint(w, 4096);
	pfrw_varint(w, 1);
	pfrw_byte(w, 1 << 4 | 3);
	pfrw_varint(w, 0);
	pfrw_varints(w, 4, place);
	pfrw_close(w);
	pfrw_frame(w, 3, 0);
}

/* Offsets of the frames, and one more for the end. */
static void make_file(struct pfrw *w, size_t at[FRAMES + 1])
{
	size_t n = 0;

	pfrw_init(w);
	at[n++] = w->len;
	pfrw_lines(w, 1, "pid=7\nhost=a%25b\nRANK=2\n");
	at[n++] = w->len;
	pfrw_lines(w, 5, "device.0.SMs=4\ncontext.1.dev=0\n");
	at[n++] = w->len;
	define(w);
	at[n++] = w->len;
	pfrw_base(w, 1000);
	put_nvtx(w, 16, 1000, 7, "outer", 0, 0);
	put_nvtx(w, 16, 1010, 7, "other domain", 1, 0);
	put_nvtx(w, 19, 1020, 7, "process", 0, 5);
	pfrw_frame(w, 3, 0);
	at[n++] = w->len;
	put_cuda(w, 1100);
	at[n++] = w->len;
	pfrw_base(w, 1600);
	put_nvtx(w, 17, 1600, 7, NULL, 0, 0);
	put_nvtx(w, 18, 1601, 7, "mark", 0, 0);
	put_nvtx(w, 17, 1610, 7, NULL, 1, 0);
	put_nvtx(w, 20, 1620, 9, NULL, 0, 5);
	pfrw_frame(w, 3, 0);
	at[n++] = w->len;
	put_cuda(w, 1700);
	at[n++] = w->len;
	put_cuda(w, 2300);
	at[n++] = w->len;
	define(w);
	at[n++] = w->len;
	for (int i = 0; i < 4; i++)
		pfrw_u64(w, i == 1 ? 5000000 : 1000);
	pfrw_frame(w, 4, 0);
	at[n++] = w->len;
	pfrw_lines(w, 6, "events=30\n");
	at[n++] = w->len;
	pfrw_frame(w, 7, 0);
	at[n++] = w->len;
	assert_int_equal(n, FRAMES + 1);
}

static bool has_seq(const struct pfrread *r, uint32_t seq)
{
	for (size_t i = 0; i + 4 <= r->seqs.len; i += 4)
		if (!memcmp(r->seqs.data + i, &seq, 4))
			return true;
	return false;
}

static bool has_line(const struct pfrread *r, const char *text)
{
	return r->log.data && strstr(r->log.data, text);
}

/* ---- the tests ---- */

static void crc_is_castagnoli(void **state)
{
	struct pf_crc32c fast, plain;
	unsigned char bytes[300];
	uint64_t random = 1;

	(void)state;
	pf_crc32c_init(&fast, false);
	pf_crc32c_init(&plain, true);
	assert_int_equal(pf_crc32c(&fast, "123456789", 9), 0xe3069283);
	assert_int_equal(pf_crc32c(&plain, "123456789", 9), 0xe3069283);
	assert_int_equal(pf_crc32c(&plain, "", 0), 0);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)support_random(&random);
	for (size_t from = 0; from < 9; from++)
		for (size_t len = 0; len < sizeof(bytes) - 9; len++) {
			uint32_t want = pfrw_crc32c(bytes + from, len);

			assert_int_equal(pf_crc32c(&fast, bytes + from, len),
					 want);
			assert_int_equal(pf_crc32c(&plain, bytes + from, len),
					 want);
		}
}

static void whole_file(void **state)
{
	struct pfrread r, other;
	size_t at[FRAMES + 1];
	struct pfrw w;

	(void)state;
	make_file(&w, at);
	assert_true(pfrread(w.data, w.len, 0, 1000, &r));
	assert_true(pfrread_adds_up(&r, w.len));
	assert_int_equal(r.loss.good_frames, FRAMES);
	assert_int_equal(r.loss.skipped_bytes, 0);
	assert_int_equal(r.loss.bad_frames, 0);
	assert_int_equal(r.loss.missing_frames, 0);
	assert_true(r.loss.has_end);
	assert_int_equal(r.skipped, 0);
	assert_int_equal(r.paired, 3);
	/* 21 of CUDA, 3 ranges, a mark; a thread's name */
	assert_int_equal(r.stored, 25);
	assert_int_equal(r.metadata, 1);
	assert_true(has_line(&r, "foo(int)\t{\"device\":0,\"context\":1,"
				 "\"stream\":7,\"correlation\":$b,"
				 "\"registers per thread\":32,"
				 "\"shared memory\":16,"
				 "\"blocks per SM\":2.000000,"
				 "\"grid\":[8,1,1],\"block\":[64,1,1]}\t"
				 "g0000000107\tkernel\tX 7 1130 60 5 2 1\n"));
	assert_true(has_line(&r, "cudaLaunchKernel\t{\"cbid\":211,"
				 "\"correlation\":$b}\th0000000177\t"
				 "cuda_runtime\tX 4 1100 20 4 2 1\n"));
	assert_true(has_line(&r, "Memcpy HtoD (Pageable -> Device)\t"));
	/* 4096 bytes in 50 ns: 81.92 GB/s */
	assert_true(has_line(&r, " 9 4096 1310720006\n"));
	/* closed by its own domain's pop though they cross */
	assert_true(has_line(&r, "outer\t{\"External id\":$a}\th0000000177\t"
				 "nvtx\tX 1 1000 600 1 1 1\n"));
	assert_true(has_line(&r, "other domain\t{\"External id\":$a,"
				 "\"domain\":\"NCCL\"}\th0000000177\tnvtx\t"
				 "X 1 1010 600 2 1 2\n"));
	assert_true(has_line(&r, "process\ta000000017ranges\tnvtx\t"
				 "X 19 1020 600 3 0\n"));
	/* pieces and batches change nothing */
	for (size_t piece = 1; piece < 200; piece += 7) {
		assert_true(pfrread(w.data, w.len, piece, piece, &other));
		assert_string_equal(other.log.data, r.log.data);
		pfrread_release(&other);
	}
	pfrread_release(&r);
	pfrw_release(&w);
}

/* Exactly the frames that are whole are there, whatever follows is gone. */
static void cut_anywhere(void **state)
{
	size_t at[FRAMES + 1];
	struct pfrw w;

	(void)state;
	make_file(&w, at);
	for (size_t len = 0; len <= w.len; len++) {
		/* a copy, so that reading past its end is seen */
		unsigned char *copy = malloc(len + 1);
		struct pfrread r;

		memcpy(copy, w.data, len);
		assert_int_equal(pfrread(copy, len, 0, 1000, &r), len >= 16);
		for (uint32_t i = 0; len >= 16 && i < FRAMES; i++) {
			uint32_t payload;

			memcpy(&payload, w.data + at[i] + 12, 4);
			assert_int_equal(has_seq(&r, i),
					 at[i] + 24 + payload <= len);
		}
		if (len >= 16) {
			assert_true(pfrread_adds_up(&r, len));
			assert_int_equal(r.loss.missing_frames, 0);
			pfrread_release(&r);
		}
		free(copy);
	}
	pfrw_release(&w);
}

/* A bit of a frame costs that frame at most, and is counted exactly. */
static void flip_anything(void **state)
{
	size_t at[FRAMES + 1];
	struct pfrw w;

	(void)state;
	make_file(&w, at);
	for (size_t bit = 16 * 8; bit < w.len * 8; bit++) {
		uint32_t hit = 0, payload;
		struct pfrread r;
		bool padding, header;

		while (at[hit + 1] <= bit / 8)
			hit++;
		memcpy(&payload, w.data + at[hit] + 12, 4);
		header = bit / 8 < at[hit] + 24;
		padding = bit / 8 >= at[hit] + 24 + payload;
		w.data[bit / 8] ^= (unsigned char)(1u << bit % 8);
		assert_true(pfrread(w.data, w.len, 0, 1000, &r));
		w.data[bit / 8] ^= (unsigned char)(1u << bit % 8);
		for (uint32_t i = 0; i < FRAMES; i++)
			assert_int_equal(has_seq(&r, i), i != hit || padding);
		assert_true(pfrread_adds_up(&r, w.len));
		assert_int_equal(r.loss.bad_frames, !header && !padding);
		/* nothing comes behind the last one to miss it */
		assert_int_equal(r.loss.missing_frames,
				 header && hit != FRAMES - 1);
		assert_int_equal(r.loss.has_end, hit != FRAMES - 1 || padding);
		if (!padding)
			assert_int_equal(r.loss.skipped_bytes,
					 at[hit + 1] - at[hit]);
		pfrread_release(&r);
	}
	pfrw_release(&w);
}

/* Bytes taken out: every frame outside of the hole is there. */
static void holes(void **state)
{
	size_t at[FRAMES + 1];
	unsigned char *copy;
	struct pfrw w;

	(void)state;
	make_file(&w, at);
	copy = malloc(w.len);
	for (size_t from = 16; from < w.len; from += 3)
		for (size_t size = 1; size < w.len - from; size += 61) {
			size_t len = w.len - size;
			struct pfrread r;

			memcpy(copy, w.data, from);
			memcpy(copy + from, w.data + from + size, len - from);
			assert_true(pfrread(copy, len, 0, 1000, &r));
			for (uint32_t i = 0; i < FRAMES; i++)
				if (at[i + 1] <= from || at[i] >= from + size)
					assert_true(has_seq(&r, i));
			assert_true(pfrread_adds_up(&r, len));
			pfrread_release(&r);
		}
	free(copy);
	pfrw_release(&w);
}

/* The recap at the end stands in for a lost definition. */
static void lost_definitions(void **state)
{
	size_t at[FRAMES + 1];
	struct pfrread whole, r;
	struct pfrw w;

	(void)state;
	make_file(&w, at);
	assert_true(pfrread(w.data, w.len, 0, 1000, &whole));
	w.data[at[2] + 30] ^= 1;
	assert_true(pfrread(w.data, w.len, 0, 1000, &r));
	assert_string_equal(r.log.data, whole.log.data);
	pfrread_release(&r);
	w.data[at[8] + 30] ^= 1;
	assert_true(pfrread(w.data, w.len, 0, 1000, &r));
	assert_true(has_line(&r, "#1 (lost)\t{\"device\":0"));
	assert_true(has_line(&r, "#211 (lost)\t{\"cbid\":211"));
	assert_true(has_line(&r, "\"domain\":\"#1 (lost)\""));
	assert_true(pfrread_adds_up(&r, w.len));
	pfrread_release(&r);
	pfrread_release(&whole);
	pfrw_release(&w);
}

/* Frames missing between push and pop: nothing is paired across them. */
static void torn_ranges(void **state)
{
	struct pfrread r;
	struct pfrw w;
	size_t from, to;

	(void)state;
	pfrw_init(&w);
	pfrw_base(&w, 1000);
	put_nvtx(&w, 16, 1000, 7, "outer", 0, 0);
	put_nvtx(&w, 16, 1010, 7, "inner", 0, 0);
	put_nvtx(&w, 19, 1020, 7, "process", 0, 5);
	pfrw_frame(&w, 3, 0);
	from = w.len;
	pfrw_base(&w, 1100);
	put_nvtx(&w, 17, 1100, 7, NULL, 0, 0);
	pfrw_frame(&w, 3, 0);
	to = w.len;
	pfrw_base(&w, 1200);
	put_nvtx(&w, 17, 1200, 7, NULL, 0, 0);
	put_nvtx(&w, 20, 1300, 7, NULL, 0, 5);
	pfrw_frame(&w, 3, 0);
	memmove(w.data + from, w.data + to, w.len - to);
	w.len -= to - from;
	assert_true(pfrread(w.data, w.len, 0, 1000, &r));
	assert_int_equal(r.loss.missing_frames, 1);
	assert_true(has_line(&r, "\"end\":\"lost\"}\th00000000"));
	assert_true(has_line(&r, "X 1 1000 10 0 1 1\n"));
	assert_true(has_line(&r, "X 19 1020 280 2 0\n"));
	assert_int_equal(r.skipped, 1); /* the pop that is left */
	assert_true(pfrread_adds_up(&r, w.len));
	pfrread_release(&r);
	pfrw_release(&w);
}

static void odd_events(void **state)
{
	static const uint64_t kernel[] = { 1, 0, 1, 7, 0, 0 };
	struct pfrread r;
	struct pfrw w;

	(void)state;
	pfrw_init(&w);
	pfrw_base(&w, 1000);
	pfrw_open(&w, 1 | 0x80); /* no times */
	pfrw_varint(&w, 0);
	pfrw_varint(&w, 0);
	pfrw_zigzag(&w, 3);
	w.correlation = 3;
	pfrw_varints(&w, 6, kernel);
	pfrw_close(&w);
	pfrw_open(&w, 100); /* no such type */
	pfrw_bytes(&w, "abc", 3);
	pfrw_close(&w);
	pfrw_open(&w, 1); /* too short */
	pfrw_span(&w, 1000, 1010, 3);
	pfrw_close(&w);
	pfrw_open(&w, 1); /* ends before it starts */
	pfrw_span(&w, 1050, 1040, 4);
	pfrw_varints(&w, 6, kernel);
	pfrw_close(&w);
	pfrw_open(&w, 1); /* fields of a later version behind it */
	pfrw_span(&w, 1100, 1140, 5);
	pfrw_varints(&w, 6, kernel);
	pfrw_varints(&w, 6, kernel);
	pfrw_close(&w);
	pfrw_byte(&w, 1); /* runs past the end */
	pfrw_byte(&w, 200);
	pfrw_frame(&w, 3, 0);
	assert_true(pfrread(w.data, w.len, 0, 1000, &r));
	assert_int_equal(r.events, 6);
	assert_int_equal(r.stored, 2);
	assert_int_equal(r.metadata, 1); /* the one without times */
	assert_int_equal(r.skipped, 3);
	assert_true(has_line(&r, "X 7 1050 0 3 2 4\n"));
	assert_true(has_line(&r, "X 7 1100 40 4 "));
	pfrread_release(&r);
	pfrw_release(&w);
}

/* A long body has a longer head; realtime is put on the monotonic clock. */
static void long_and_realtime(void **state)
{
	struct pfrread r;
	struct pfrw w;
	char name[400];

	(void)state;
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	pfrw_init(&w);
	pfrw_base(&w, 1000);
	put_nvtx(&w, 18, 1000, 7, name, 0, 0);
	put_nvtx(&w, 18, 1001, 7, "after", 0, 0);
	pfrw_frame(&w, 3, 0);
	for (uint64_t i = 0; i < 2; i++) {
		pfrw_u64(&w, 990 + i * 1000);
		pfrw_u64(&w, 50000 + i * 2000); /* runs twice as fast */
		pfrw_u64(&w, 1010 + i * 1000);
		pfrw_u64(&w, 0);
		pfrw_frame(&w, 4, 0);
	}
	pfrw_base(&w, 51000);
	put_nvtx(&w, 18, 51000, 7, "between", 0, 0);
	put_nvtx(&w, 18, 49900, 7, "before", 0, 0);
	put_nvtx(&w, 18, 52300, 7, "behind", 0, 0);
	pfrw_frame(&w, 3, 1);
	assert_true(pfrread(w.data, w.len, 0, 1000, &r));
	assert_int_equal(r.skipped, 0);
	assert_true(has_line(&r, name));
	assert_true(has_line(&r, "after\t"));
	assert_true(has_line(&r, "i 16 1500 0 2 "));
	assert_true(has_line(&r, "i 16 900 0 3 "));
	assert_true(has_line(&r, "i 16 2300 0 4 "));
	pfrread_release(&r);
	pfrw_release(&w);
}

static void check_stem(const char *name, const char *want)
{
	size_t len = strlen(name);

	pf_work_call_stem(&name, &len);
	assert_int_equal(len, strlen(want));
	assert_memory_equal(name, want, len);
}

static void words(void **state)
{
	struct torch_name t;
	const char *text;

	(void)state;
	check_stem("cudaLaunchKernel_v7000", "cudaLaunchKernel");
	check_stem("__cudaLaunchKernel_v13000", "cudaLaunchKernel");
	check_stem("__cudaLaunchKernel_ptsz_v13000", "cudaLaunchKernel");
	check_stem("cudaMemcpyAsync_ptsz_v7000", "cudaMemcpyAsync");
	check_stem("cuMemcpyHtoD_v2", "cuMemcpyHtoD_v2");
	check_stem("cuLaunchKernel_ptsz", "cuLaunchKernel");
	check_stem("cuMemcpyHtoD_v2_ptds", "cuMemcpyHtoD_v2");
	check_stem("__", "__");
	assert_string_equal(pf_work_overhead_word(4 << 16),
			    "Runtime Triggered Module Loading");
	assert_string_equal(pf_work_overhead_word(1), "Driver Compiler");
	assert_string_equal(pf_work_overhead_word(7), "Unrecognized");
	assert_string_equal(pf_work_overhead_word(UINT64_MAX), "Unrecognized");
	text = "aten::view, seq = 7, op_id = 12, sizes = [[2, 3], []], "
	       "input_op_ids = [(1,0), (2,1)]";
	assert_true(split_torch_name(text, strlen(text), &t));
	assert_int_equal(t.name_len, 10);
	assert_int_equal(t.sequence, 7);
	assert_int_equal(t.op_id, 12);
	assert_int_equal(t.sizes_len, 12);
	text = "aten::view, op_id = 314290";
	assert_true(split_torch_name(text, strlen(text), &t));
	assert_int_equal(t.op_id, 314290);
	assert_null(t.sizes);
	for (const char *const *p =
		     (const char *const[]){ "aten::view", "a, b",
					    "x, op_id = ", "x, op_id = 1, more",
					    "x, sizes = [[2, 3]",
					    "x, sizes = [2] y", "x, seq = -1",
					    ", op_id = 3", NULL };
	     *p; p++)
		assert_false(split_torch_name(*p, strlen(*p), &t));
}

static void text_lines(void **state)
{
	static const char text[] = "a=1\nb=x%25y%0Az%zz\nno key\n=v\na=22\n"
				   "c d=5\nlast=%41";
	struct pf_pfr_lines l = { 0 };
	int64_t v;

	(void)state;
	lines_add(&l, (const unsigned char *)text, strlen(text));
	assert_int_equal(l.count, 3);
	assert_true(pf_pfr_line_int(&l, "a", &v));
	assert_int_equal(v, 22);
	assert_string_equal(pf_pfr_line_of(&l, "b")->value, "x%y\nz%zz");
	assert_string_equal(pf_pfr_line_of(&l, "last")->value, "A");
	assert_false(pf_pfr_line_int(&l, "b", &v));
	assert_null(pf_pfr_line_of(&l, "no key"));
	lines_release(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(crc_is_castagnoli),
		cmocka_unit_test(whole_file),
		cmocka_unit_test(cut_anywhere),
		cmocka_unit_test(flip_anything),
		cmocka_unit_test(holes),
		cmocka_unit_test(lost_definitions),
		cmocka_unit_test(torn_ranges),
		cmocka_unit_test(odd_events),
		cmocka_unit_test(long_and_realtime),
		cmocka_unit_test(words),
		cmocka_unit_test(text_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
