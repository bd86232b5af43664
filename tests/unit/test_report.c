/* SPDX-License-Identifier: MIT */
#include "unit/support.h"

#include <stdlib.h>
#include <string.h>

#include "page/page.c"
#include "base/utf8.h"
#include "show/escape.h"
#include "page/html.c"
#include "page/redact.c"
#include "page/report.h"

/* ---- base ---- */

static void is_hash(const char *text, size_t len, const char *hex)
{
	uint8_t hash[SHA256_BYTES];
	struct pf_buf out = { 0 };

	sha256(text, len, hash);
	for (size_t i = 0; i < sizeof(hash); i++)
		pf_buf_addf(&out, "%02x", hash[i]);
	assert_string_equal(out.data, hex);
	pf_buf_release(&out);
}

/* FIPS 180-4's examples, and lengths around the padding's borders. */
static void hashes(void **state)
{
	char a[128];

	(void)state;
	memset(a, 'a', sizeof(a));
	is_hash("", 0,
		"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b8"
		"55");
	is_hash("abc", 3,
		"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015"
		"ad");
	is_hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56,
		"248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06"
		"c1");
	is_hash(a, 55,
		"9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f7343"
		"18");
	is_hash(a, 64,
		"ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668"
		"eb");
}

static void is_base64(const char *text, const char *want)
{
	struct pf_buf out = { 0 };

	pf_base64(&out, text, strlen(text));
	assert_string_equal(out.data, want);
	pf_buf_release(&out);
}

/* RFC 4648's examples. */
static void base64s(void **state)
{
	(void)state;
	is_base64("", "");
	is_base64("f", "Zg==");
	is_base64("fo", "Zm8=");
	is_base64("foo", "Zm9v");
	is_base64("foobar", "Zm9vYmFy");
	is_base64("\xff\xfe\xfd", "//79");
}

/* ---- figures ---- */

static void is_ns(int64_t ns, const char *want)
{
	struct pf_buf out = { 0 };

	pf_figure_ns(&out, ns);
	assert_string_equal(out.data, want);
	pf_buf_release(&out);
}

static void times_have_three_digits(void **state)
{
	(void)state;
	is_ns(0, "0 ns");
	is_ns(999, "999 ns");
	is_ns(1000, "1.00 us");
	is_ns(12345, "12.3 us");
	is_ns(9999, "10.0 us");
	is_ns(99949, "99.9 us");
	is_ns(99950, "100 us");
	is_ns(999499, "999 us");
	is_ns(999500, "1.00 ms");
	is_ns(644423000, "644 ms");
	is_ns(999500000, "1.000 s");
	is_ns(1211182250, "1.211 s");
	is_ns(99999499999, "100.0 s");
	is_ns(INT64_MAX, "9223372037 s");
	is_ns(-1500, "-1.50 us");
}

static void is_bytes(int64_t bytes, const char *want)
{
	struct pf_buf out = { 0 };

	pf_figure_bytes(&out, bytes);
	assert_string_equal(out.data, want);
	pf_buf_release(&out);
}

static void is_ratio(double ratio, const char *want)
{
	struct pf_buf out = { 0 };

	pf_figure_ratio(&out, ratio);
	assert_string_equal(out.data, want);
	pf_buf_release(&out);
}

static void bytes_and_ratios(void **state)
{
	(void)state;
	is_bytes(0, "0 B");
	is_bytes(1023, "1023 B");
	is_bytes(1024, "1.0 KiB");
	is_bytes(1024 * 1024 - 1, "1.0 MiB");
	is_bytes(INT64_C(85018279936), "79.2 GiB");
	is_bytes(INT64_MAX, "8.0 EiB");
	is_bytes(-2048, "-2.0 KiB");
	is_ratio(0, "0.0 %");
	is_ratio(0.0001, "<0.1 %");
	is_ratio(-0.0001, "> -0.1 %");
	is_ratio(-0.0005, "-0.1 %");
	is_ratio(0.5321, "53.2 %");
	is_ratio(0.99999, ">99.9 %");
	is_ratio(1, "100.0 %");
	is_ratio(0.0 / 0.0, "n/a");
}

/* Whatever the parts, their tenths of a percent sum to 1000. */
static void shares_sum_up(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (int round = 0; round < 2000; round++) {
		int64_t values[8], whole = 0;
		int tenths[8], sum = 0;

		for (size_t i = 0; i < 8; i++) {
			values[i] = (int64_t)(support_random(&seed) %
					      (round % 7 ? 1000000007u : 5u));
			whole += values[i];
		}
		pf_chart_tenths(values, 8, whole, tenths);
		for (size_t i = 0; i < 8; i++)
			sum += tenths[i];
		assert_int_equal(sum, whole ? 1000 : 0);
	}
}

/* ---- escaping ---- */

static void is_html(const char *text, size_t len, const char *want)
{
	struct pf_buf out = { 0 };

	pf_buf_adds(&out, "");
	pf_escape_html(&out, text, len);
	assert_string_equal(out.data, want);
	pf_buf_release(&out);
}

static void html_is_escaped(void **state)
{
	(void)state;
	is_html("<b>&\"'", 6, "&lt;b&gt;&amp;&quot;&#39;");
	is_html("a\0b", 3, "a\\u{0}b");
	is_html("\x1b[31m\x7f", 6, "\\u{1b}[31m\\u{7f}");
	is_html("\xe2\x80\xae\xe2\x80\xa8\xe2\x81\xa6\xd8\x9c", 11,
		"\\u{202e}\\u{2028}\\u{2066}\\u{61c}");
	is_html("\xff\xed\xa0\x80", 4,
		"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	is_html("tab\tline\n", 9, "tab\tline\n");
	is_html("µ\xf0\x9f\x98\x80", 6, "µ\xf0\x9f\x98\x80");
}

/* Random bytes never become markup, and always UTF-8. */
static void html_is_always_text(void **state)
{
	static const char odd[] = "<>&\"'/!-=\0\x1b\xe2\x80\xae\xff script";
	uint64_t seed = 7;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		char text[24];
		size_t len = support_random(&seed) % sizeof(text), n;
		struct pf_buf out = { 0 };
		uint32_t code;

		for (size_t i = 0; i < len; i++)
			text[i] = odd[support_random(&seed) % sizeof(odd)];
		pf_buf_adds(&out, "");
		pf_escape_html(&out, text, len);
		assert_int_equal(strcspn(out.data, "<>\"'"), out.len);
		for (size_t i = 0; i < out.len; i += n) {
			n = pf_utf8_next(out.data + i, out.len - i, &code);
			assert_true(code != PF_UTF8_BAD);
			assert_true(code >= ' ');
		}
		pf_buf_release(&out);
	}
}

static void shows_path(const char *path, bool is_strict, const char *want)
{
	struct pf_buf out = { 0 };

	redact_path(path, strlen(path), "/home/x/job/", is_strict, &out);
	assert_string_equal(out.data, want);
	pf_buf_release(&out);
}

static void paths_lose_their_beginning(void **state)
{
	(void)state;
	shows_path("/opt/lib/python3.11/site-packages/torch/a.py", false,
		   "torch/a.py");
	shows_path("/usr/lib/python3.12/json/x.py", false, "json/x.py");
	shows_path("/usr/lib/python3/dist-packages/y.py", true, "y.py");
	shows_path("/home/x/job/src/train.py", true, "train.py");
	shows_path("/data/private/a/b.py", false, "/data/private/a/b.py");
	shows_path("/data/private/a/b.py", true, "b.py");
	shows_path("C:\\Users\\x\\b.py", true, "b.py");
}

/* ---- the timeline's bytes ---- */

static struct pf_slices slices_of(uint32_t count, int64_t *start, int64_t *dur,
				  uint32_t *name, uint8_t *depth,
				  struct pf_slice_track *track)
{
	struct pf_slices g = { .tracks = track,
			       .track_count = 1,
			       .count = count,
			       .start_ns = start,
			       .dur_ns = dur,
			       .name = name,
			       .depth = depth };

	track->count = count;
	track->depths = 1;
	return g;
}

static void assert_payload(const struct pf_slices *g, const uint8_t *want,
			   size_t len)
{
	struct pf_buf out = { 0 };

	pf_payload_encode(g, 2, &out);
	assert_int_equal(out.len, len);
	assert_memory_equal(out.data, want, len);
	pf_buf_release(&out);
}

/* Two slices, the second 69,695 ns after the end of the first. */
static void payload_is_as_described(void **state)
{
	static const uint8_t want[] = {
		'P',  'F',  'T', '2',  2, 0, 0, 0, 1,    0,    0, 0, 2, 0, 0, 0,
		0,    0,    0,   0,    0, 0, 0, 0, 2,    0,    0, 0, 1, 0, 0, 0,
		0,    1,    0,   0,    0, 0, /* gaps */
		0x05, 0x3f, 0,   0x10, 0, 1, 0, 0, 0x2c, 0x01, 1, 0, 0, 0, 0, 0
	};
	int64_t start[] = { 5, 70000 }, dur[] = { 300, 1 };
	uint32_t name[] = { 0, 1 };
	uint8_t depth[] = { 0, 0 };
	struct pf_slice_track track = { 0 };
	struct pf_slices g = slices_of(2, start, dur, name, depth, &track);

	(void)state;
	assert_payload(&g, want, sizeof(want));
}

/* A holds B and the begin of C, which holds D; C ends after A: when A ends is
 * told last, 40 ns back.  In the order of names: B, A, D, C. */
static void payload_tells_what_overlaps(void **state)
{
	static const uint8_t want[] = {
		'P', 'F', 'T', '2', 4, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0,
		0, 0, 0, 0, 0, 4, 0, 0, 0, 3, 0, 0, 0, 1, 0, 3, 1, 0, 0, 0, 0,
		0, 1, 1, 2,
		/* gaps */
		10, 0, 30, 60, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		/* tails */
		20, 216, 5, 15, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255, 0, 0
	};
	int64_t start[] = { 0, 10, 90, 120 }, dur[] = { 100, 20, 50, 5 };
	uint32_t name[] = { 1, 0, 3, 1 };
	uint8_t depth[] = { 0, 1, 1, 2 };
	struct pf_slice_track track = { 0 };
	struct pf_slices g = slices_of(4, start, dur, name, depth, &track);

	(void)state;
	track.depths = 3;
	assert_payload(&g, want, sizeof(want));
}

static uint32_t u32_at(const struct pf_buf *b, size_t at)
{
	const uint8_t *p = (const uint8_t *)b->data + at;

	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
	       (uint32_t)p[3] << 24;
}

static void assert_escape(const struct pf_buf *b, size_t at, uint32_t slice,
			  uint32_t high)
{
	assert_int_equal(u32_at(b, at), slice);
	assert_int_equal(u32_at(b, at + 4), high);
}

/* What 31 bits and a sign do not hold has an escape, and nothing else has. */
static void payload_escapes_high_words(void **state)
{
	const int64_t half = INT64_C(1) << 31, most = (INT64_C(1) << 53) - 1;
	int64_t start[] = { half - 1, 3 * half - 2, 4 * half, 0, 5 };
	int64_t dur[] = { half - 1, half, most, 10, 4 * half };
	uint32_t name[] = { 0, 0, 65535, 1, 1 };
	uint8_t depth[] = { 0, 0, 0, 0, 1 };
	struct pf_slice_track tracks[2] = { { 0 },
					    { .count = 2, .depths = 2 } };
	struct pf_slices g = slices_of(3, start, dur, name, depth, tracks);
	struct pf_buf out = { 0 };
	size_t escapes;

	(void)state;
	g.count = 5;
	g.track_count = 2;
	pf_payload_encode(&g, 4, &out);
	assert_int_equal(u32_at(&out, 16), 1);
	assert_int_equal(u32_at(&out, 20), 4);
	escapes = out.len - (size_t)8 * 5;
	assert_escape(&out, escapes, 1, 1);
	assert_escape(&out, escapes + 8, 1, 1);
	assert_escape(&out, escapes + 16, 2, 1u << 21);
	assert_escape(&out, escapes + 24, 3, UINT32_MAX - 1); /* 5 - 2^33 */
	assert_escape(&out, escapes + 32, 4, 2);
	pf_buf_release(&out);
}

/* ---- tooltips ---- */

static void assert_title(struct pf_titles *t, const char *shown,
			 const char *whole, const char *want)
{
	struct pf_buf a = { 0 }, b = { 0 }, out = { 0 };

	pf_buf_adds(&a, shown);
	pf_buf_adds(&b, whole);
	pf_buf_adds(&out, "<td");
	titles_add(t, &a, &b, &out);
	assert_string_equal(out.data + 3, want);
	pf_buf_release(&a);
	pf_buf_release(&b);
	pf_buf_release(&out);
}

static void tooltips_are_written_on_change(void **state)
{
	struct pf_err err = { 0 };
	struct pf_titles t;

	(void)state;
	assert_int_equal(pf_titles_init(&t, &err), 0);
	assert_title(&t, "a", "a", "");
	assert_title(&t, "f", "f<1>", " title=\"f<1>\"");
	assert_title(&t, "f", "f<1>", "");
	assert_title(&t, "f", "f<2>", " title=\"f<2>\"");
	assert_title(&t, "g", "f<2>", " title=\"f<2>\"");
	assert_title(&t, "f<2>", "f<2>", "");
	assert_title(&t, "f", "f<1>", " title=\"f<1>\"");
	assert_title(&t, "f", "f", " title=\"f\"");
	assert_title(&t, "f", "f", "");
	assert_title(&t, "", "", "");
	pf_titles_release(&t);
}

static void urls_are_checked(void **state)
{
	static const char *const bad[] = {
		"http://a/%f",        "javascript:%f", "https://a/x",
		"https://a/\"%f",     "https://a/ %f", "https://a/<%f",
		"https://\xc3\xa4/%f"
	};
	struct pf_err err = { 0 };

	(void)state;
	assert_int_equal(page_check_url("https://a/%f#L%l", &err), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(page_check_url(bad[i], &err), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hashes),
		cmocka_unit_test(base64s),
		cmocka_unit_test(times_have_three_digits),
		cmocka_unit_test(bytes_and_ratios),
		cmocka_unit_test(shares_sum_up),
		cmocka_unit_test(html_is_escaped),
		cmocka_unit_test(html_is_always_text),
		cmocka_unit_test(paths_lose_their_beginning),
		cmocka_unit_test(payload_is_as_described),
		cmocka_unit_test(payload_tells_what_overlaps),
		cmocka_unit_test(payload_escapes_high_words),
		cmocka_unit_test(tooltips_are_written_on_change),
		cmocka_unit_test(urls_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
