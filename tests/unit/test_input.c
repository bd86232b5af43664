/* SPDX-License-Identifier: MIT */
#include "unit/support.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>
#include <zstd.h>

#include "base/mem.h"
#include "formats/input.h"

#define TEXT_BYTES 300000u

/* Some text that does not compress to nothing. */
static char *make_text(void)
{
	char *text = pf_alloc(TEXT_BYTES);
	uint64_t seed = 42;

	for (size_t i = 0; i < TEXT_BYTES; i++)
		text[i] = (char)('a' + support_random(&seed) % 7);
	return text;
}

static void add_gzip(struct pf_buf *out, const char *p, size_t len)
{
	z_stream z = { 0 };
	size_t most;

	assert_int_equal(
		deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY),
		Z_OK);
	most = deflateBound(&z, len) + 64;
	pf_buf_reserve(out, most);
	z.next_in = (unsigned char *)(uintptr_t)p;
	z.avail_in = (uInt)len;
	z.next_out = (unsigned char *)out->data + out->len;
	z.avail_out = (uInt)most;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	out->len += z.total_out;
	deflateEnd(&z);
}

static void add_zstd(struct pf_buf *out, const char *p, size_t len)
{
	size_t most = ZSTD_compressBound(len);

	pf_buf_reserve(out, most);
	out->len += ZSTD_compress(out->data + out->len, most, p, len, 1);
}

/* Read all in pieces; returns the length, -1 on an error. */
static int64_t read_all(const char *path, size_t piece, struct pf_buf *out,
			bool *damaged, struct pf_err *err)
{
	struct pf_input *in = pf_input_open(path, err);
	char *buf = pf_alloc(piece);
	int64_t n = -1;

	pf_buf_clear(out);
	*damaged = false;
	while (in && (n = pf_input_read(in, buf, piece, err)) > 0)
		pf_buf_add(out, buf, (size_t)n);
	if (in)
		*damaged = pf_input_damaged(in);
	pf_input_close(in);
	free(buf);
	return n < 0 ? -1 : (int64_t)out->len;
}

static void check(const char *path, const struct pf_buf *file, const char *text,
		  bool expect_damage)
{
	static const size_t pieces[] = { 1, 1000, 65536, 1 << 20 };
	struct pf_buf got = { 0 };
	struct pf_err err = { 0 };
	bool damaged;

	support_write(path, file->data, file->len);
	for (size_t i = 0; i < sizeof(pieces) / sizeof(*pieces); i++) {
		int64_t n = read_all(path, pieces[i], &got, &damaged, &err);

		assert_true(n >= 0);
		assert_int_equal(damaged, expect_damage);
		assert_true((size_t)n <= TEXT_BYTES);
		assert_true(expect_damage || n == TEXT_BYTES);
		assert_memory_equal(got.data, text, (size_t)n);
	}
	pf_buf_release(&got);
}

static void test_codings(void **state)
{
	char *dir = support_tmp_take(), *path = support_path_take(dir, "t");
	char *text = make_text();
	struct pf_buf file = { 0 };

	(void)state;
	pf_buf_add(&file, text, TEXT_BYTES);
	check(path, &file, text, false);
	pf_buf_clear(&file);
	add_gzip(&file, text, TEXT_BYTES);
	check(path, &file, text, false);
	pf_buf_adds(&file, "junk behind the last member");
	check(path, &file, text, false);
	/* several members */
	pf_buf_clear(&file);
	add_gzip(&file, text, 1000);
	add_gzip(&file, text + 1000, 0);
	add_gzip(&file, text + 1000, TEXT_BYTES - 1000);
	check(path, &file, text, false);
	pf_buf_clear(&file);
	add_zstd(&file, text, 5000);
	add_zstd(&file, text + 5000, TEXT_BYTES - 5000);
	check(path, &file, text, false);
	setenv("PROFAN_INFLATE", "zlib", 1);
	pf_buf_clear(&file);
	add_gzip(&file, text, 1000);
	add_gzip(&file, text + 1000, TEXT_BYTES - 1000);
	check(path, &file, text, false);
	unsetenv("PROFAN_INFLATE");
	pf_buf_release(&file);
	free(text);
	free(path);
	support_tmp_release(dir);
}

/* Cut compressed files give what they can and say that they are damaged. */
static void test_cut_files(void **state)
{
	char *dir = support_tmp_take(), *path = support_path_take(dir, "t");
	char *text = make_text();
	struct pf_buf file = { 0 };
	size_t whole;

	(void)state;
	for (int inflate = 0; inflate < 3; inflate++) {
		if (inflate == 1)
			setenv("PROFAN_INFLATE", "zlib", 1);
		pf_buf_clear(&file);
		if (inflate < 2)
			add_gzip(&file, text, TEXT_BYTES);
		else
			add_zstd(&file, text, TEXT_BYTES);
		whole = file.len;
		/* zstd gives nothing before its first whole block */
		for (size_t k = inflate == 2 ? 2 : 1; k < 4; k++) {
			file.len = whole * k / 4;
			check(path, &file, text, true);
		}
		file.len = whole - 3; /* in the trailer */
		check(path, &file, text, true);
	}
	unsetenv("PROFAN_INFLATE");
	pf_buf_release(&file);
	free(text);
	free(path);
	support_tmp_release(dir);
}

static void test_refused(void **state)
{
	char *dir = support_tmp_take();
	char *missing = support_path_take(dir, "missing");
	struct pf_err err = { 0 };

	(void)state;
	assert_null(pf_input_open(missing, &err));
	support_error(&err, PF_EOPEN, "cannot open");
	assert_null(pf_input_open(dir, &err));
	support_error(&err, PF_EOPEN, "is a directory");
	free(missing);
	support_tmp_release(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_codings),
		cmocka_unit_test(test_cut_files),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
