/* SPDX-License-Identifier: MIT */
#include "unit/support.h"

#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/sha256.h"
#include "base/utf8.h"
#include "render/escape.h"
#include "report/chart.h"
#include "report/figure.h"
#include "report/payload.h"
#include "report/titles.h"
#include "report/redact.h"
#include "report/report.h"

/* ---- base ---- */

static void is_hash(const char *text, size_t len, const char *hex)
{
	uint8_t hash[PF_SHA256_BYTES];
	struct pf_buf out = { 0 };

	pf_sha256(text, len, hash);
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
	is_ns(1000, "1.00 µs");
	is_ns(12345, "12.3 µs");
	is_ns(9999, "10.0 µs");
	is_ns(99949, "99.9 µs");
	is_ns(99950, "100 µs");
	is_ns(999499, "999 µs");
	is_ns(999500, "1.00 ms");
	is_ns(644423000, "644 ms");
	is_ns(999500000, "1.000 s");
	is_ns(1211182250, "1.211 s");
	is_ns(99999499999, "100.0 s");
	is_ns(INT64_MAX, "9223372037 s");
	is_ns(-1500, "-1.50 µs");
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

static void is_path(const char *path, bool is_strict, const char *want)
{
	struct pf_buf out = { 0 };

	pf_redact_path(path, strlen(path), "/home/x/job/", is_strict, &out);
	assert_string_equal(out.data, want);
	pf_buf_release(&out);
}

static void paths_lose_their_beginning(void **state)
{
	(void)state;
	is_path("/opt/lib/python3.11/site-packages/torch/a.py", false,
		"torch/a.py");
	is_path("/usr/lib/python3.12/json/x.py", false, "json/x.py");
	is_path("/usr/lib/python3/dist-packages/y.py", true, "y.py");
	is_path("/home/x/job/src/train.py", true, "src/train.py");
	is_path("/data/private/a/b.py", false, "/data/private/a/b.py");
	is_path("/data/private/a/b.py", true, "a/b.py");
	is_path("C:\\Users\\x\\b.py", true, "x\\b.py");
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
	pf_titles_add(t, &a, &b, &out);
	assert_string_equal(out.data + 3, want);
	pf_buf_release(&a);
	pf_buf_release(&b);
	pf_buf_release(&out);
}

static void tooltips_are_written_on_change(void **state)
{
	struct pf_titles t;

	(void)state;
	pf_titles_init(&t);
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

/* ---- verdicts ---- */

/* Documents with figures of our choice. */
struct world {
	int64_t window_ns, idle_ns, sync_ns, data_ns, launch_ns, copy_ns;
	int64_t comm_ns, exposed_ns, orphans, events;
	int64_t product_ns, fp32_ns, unknown_ns;
	const char *compute; /* of the second GPU; NULL: not recorded */
	double capacity_share;
	int64_t step_ns[4];
	const char *trust;
};

static const struct world quiet = { .window_ns = 1000000,
				    .events = 100,
				    .compute = "8.0",
				    .step_ns = { 100, 100, 100, 100 } };

static void add_causes(struct pf_doc *doc, const struct world *w)
{
	static const struct pf_col cols[] = {
		{ "cause", "", PF_TEXT },       { "ns", "", PF_NS },
		{ "count", "", PF_COUNT },      { "recoverable_ns", "", PF_NS },
		{ "idle_share", "", PF_RATIO },
	};
	const struct {
		const char *name;
		int64_t ns;
	} causes[] = { { "data loading", w->data_ns },
		       { "sync", w->sync_ns },
		       { "launch latency", w->launch_ns },
		       { "blocking copy", w->copy_ns } };
	struct pf_table *t = pf_doc_table(doc, "causes", NULL, cols, 5);

	for (size_t i = 0; i < 4; i++) {
		pf_table_string(t, causes[i].name);
		pf_table_int(t, causes[i].ns);
		pf_table_int(t, 1);
		pf_table_int(t, causes[i].ns);
		pf_table_real(t, w->idle_ns ? (double)causes[i].ns /
						      (double)w->idle_ns
					    : 0);
	}
}

static void add_syncs(struct pf_doc *doc, const struct world *w)
{
	static const struct pf_col cols[] = { { "kind", "", PF_TEXT },
					      { "idle_ns", "", PF_NS } };
	struct pf_table *t = pf_doc_table(doc, "sites", NULL, cols, 2);

	pf_doc_int(doc, "count", "", PF_COUNT, 4);
	pf_doc_int(doc, "blocked_ns", "", PF_NS, 4000);
	pf_table_string(t, "sync");
	pf_table_int(t, w->sync_ns);
	pf_table_string(t, "blocking copy");
	pf_table_int(t, 12345678);
}

static void add_memory(struct pf_doc *doc, const struct world *w)
{
	static const struct pf_col cols[] = {
		{ "device", "", PF_TEXT },
		{ "device_type", "", PF_INT },
		{ "capacity_share", "", PF_RATIO },
		{ "peak_bytes", "", PF_BYTES },
		{ "capacity_bytes", "", PF_BYTES },
	};
	struct pf_table *t;

	if (w->capacity_share <= 0)
		return;
	t = pf_doc_table(doc, "devices", NULL, cols, 5);
	pf_table_string(t, "GPU 0");
	pf_table_int(t, 1);
	pf_table_real(t, w->capacity_share);
	pf_table_int(t, 1000);
	pf_table_int(t, 2000);
}

static void add_steps(struct pf_doc *doc, const struct world *w)
{
	static const struct pf_col cols[] = { { "step", "", PF_INT },
					      { "dur_ns", "", PF_NS } };
	struct pf_table *t = pf_doc_table(doc, "steps", NULL, cols, 2);

	pf_doc_int(doc, "step_count", "", PF_COUNT, 4);
	pf_doc_int(doc, "p50_ns", "", PF_NS, 100);
	for (size_t i = 0; i < 4; i++) {
		pf_table_int(t, (int64_t)i);
		pf_table_int(t, w->step_ns[i]);
	}
}

static void add_checks(struct pf_doc *doc, const struct world *w)
{
	static const struct pf_col cols[] = { { "check", "", PF_TEXT },
					      { "count", "", PF_COUNT },
					      { "share", "", PF_RATIO },
					      { "verdict", "", PF_TEXT } };
	struct pf_table *t = pf_doc_table(doc, "checks", NULL, cols, 4);

	pf_table_string(t, "head orphans");
	pf_table_int(t, 3);
	pf_table_real(t, 0.25);
	pf_table_string(t, w->trust ? w->trust : "ok");
}

static void add_devices(struct pf_doc *doc, const struct world *w)
{
	static const struct pf_col cols[] = { { "compute", "", PF_TEXT } };
	struct pf_table *t = pf_doc_table(doc, "devices", NULL, cols, 1);

	pf_table_string(t, "9.0");
	pf_table_string(t, w->compute);
}

static void add_products(struct pf_doc *doc, const struct world *w)
{
	static const struct pf_col cols[] = {
		{ "short_name", "", PF_TEXT },  { "op", "", PF_TEXT },
		{ "class", "", PF_TEXT },       { "precision", "", PF_TEXT },
		{ "op_eligible", "", PF_TEXT },
	};
	static const char *const rows[][5] = {
		{ "attend", "aten::mm", "attention", "fp32", "yes" },
		{ "tf32gemm", "aten::mm", "gemm", "tf32", "yes" },
		{ "solver", "aten::linalg_inv", "gemm", "fp32", "no" },
		{ "scudnn", "aten::cudnn_convolution", "conv", "fp32", "yes" },
		{ "sgemm", "(none)", "gemm", "fp32", NULL },
	};
	struct pf_table *t = pf_doc_table(doc, "kernels", NULL, cols, 5);

	pf_doc_int(doc, "product_ns", "", PF_NS, w->product_ns);
	pf_doc_int(doc, "product_fp32_ns", "", PF_NS, w->fp32_ns);
	pf_doc_int(doc, "product_unknown_ns", "", PF_NS, w->unknown_ns);
	for (size_t r = 0; r < 5; r++)
		for (size_t c = 0; c < 5; c++)
			pf_table_string(t, rows[r][c]);
}

static void make(const struct world *w, struct pf_parts *p)
{
	struct pf_doc *gaps = &p->doc[PF_PART_GAPS];
	struct pf_doc *overlap = &p->doc[PF_PART_OVERLAP];
	struct pf_doc *launches = &p->doc[PF_PART_LAUNCHES];

	memset(p, 0, sizeof(*p));
	p->db_name = "t.db";
	pf_buf_adds(&p->steps_text, "0..3");
	pf_doc_int(gaps, "window_ns", "", PF_NS, w->window_ns);
	pf_doc_int(gaps, "idle_ns", "", PF_NS, w->idle_ns);
	pf_doc_real(gaps, "idle_share", "", PF_RATIO,
		    (double)w->idle_ns / (double)w->window_ns);
	add_causes(gaps, w);
	add_syncs(&p->doc[PF_PART_SYNCS], w);
	pf_doc_int(overlap, "event_count", "", PF_COUNT, w->events);
	pf_doc_int(overlap, "total_ns", "", PF_NS, w->window_ns);
	pf_doc_int(overlap, "comm_ns", "", PF_NS, w->comm_ns);
	pf_doc_int(overlap, "exposed_comm_ns", "", PF_NS, w->exposed_ns);
	pf_doc_int(launches, "launch_count", "", PF_COUNT, 100);
	pf_doc_int(launches, "orphan_count", "", PF_COUNT, w->orphans);
	add_memory(&p->doc[PF_PART_MEMORY], w);
	add_steps(&p->doc[PF_PART_STEPS], w);
	add_checks(&p->doc[PF_PART_DOCTOR], w);
	add_devices(&p->doc[PF_PART_INFO], w);
	add_products(&p->doc[PF_PART_CALLERS], w);
}

static const struct pf_verdict *find(const struct pf_verdicts *v,
				     const char *id)
{
	for (size_t i = 0; i < v->count; i++)
		if (!strcmp(v->all[i].id, id))
			return &v->all[i];
	return NULL;
}

/* 'f' fired as a note or warning, 'b' as bad, '-' fine, 'w' withheld. */
static char state_of(const struct world *w, const char *id)
{
	struct pf_parts p;
	struct pf_verdicts v;
	const struct pf_verdict *found;
	char c;

	make(w, &p);
	pf_verdicts_find(&p, &v);
	found = find(&v, id);
	c = !found                             ? '?'
	    : found->state == PF_RULE_WITHHELD ? 'w'
	    : found->state == PF_RULE_FINE     ? '-'
	    : found->severity == PF_BAD        ? 'b'
					       : 'f';
	pf_verdicts_release(&v);
	pf_parts_release(&p);
	return c;
}

/* Each rule at its thresholds and just above. */
static void rules_fire_above_their_thresholds(void **state)
{
	struct world w;

	(void)state;
#define AT(field, value, id, want)                                             \
	do {                                                                   \
		w = quiet;                                                     \
		w.field = (value);                                             \
		assert_int_equal(state_of(&w, id), want);                      \
	} while (0)
	AT(idle_ns, 100000, "V1", '-');
	AT(idle_ns, 100001, "V1", 'f');
	AT(idle_ns, 500000, "V1", 'f');
	AT(idle_ns, 500001, "V1", 'b');
	AT(sync_ns, 20000, "V2", '-');
	AT(sync_ns, 20001, "V2", 'f');
	AT(sync_ns, 100001, "V2", 'b');
	AT(data_ns, 50000, "V3", '-');
	AT(data_ns, 50001, "V3", 'f');
	AT(data_ns, 200001, "V3", 'b');
	AT(launch_ns, 30000, "V4", '-');
	AT(launch_ns, 30001, "V4", 'f');
	AT(launch_ns, 150001, "V4", 'b');
	AT(copy_ns, 10000, "V7", '-');
	AT(copy_ns, 10001, "V7", 'f');
	AT(copy_ns, 50001, "V7", 'b');
	AT(capacity_share, 0.9, "V8", '-');
	AT(capacity_share, 0.901, "V8", 'f');
	AT(capacity_share, 0.971, "V8", 'b');
	AT(trust, "note", "V9", '-');
	AT(trust, "warn", "V9", 'f');
	AT(trust, "bad", "V9", 'b');
	AT(step_ns[0], 150, "V11", '-');
	AT(step_ns[0], 151, "V11", 'f');
#undef AT
	w = quiet;
	w.comm_ns = 400000;
	w.exposed_ns = 100000;
	assert_int_equal(state_of(&w, "V5"), '-');
	w.exposed_ns = 100001;
	assert_int_equal(state_of(&w, "V5"), 'f');
	w.exposed_ns = 300001;
	assert_int_equal(state_of(&w, "V5"), 'b');
}

static void rules_are_withheld(void **state)
{
	struct world w = quiet;

	(void)state;
	assert_int_equal(state_of(&w, "V5"), 'w'); /* no communication */
	assert_int_equal(state_of(&w, "V6"), 'w');
	assert_int_equal(state_of(&w, "V8"), 'w');
	assert_int_equal(state_of(&w, "V10"), 'w');
	assert_int_equal(state_of(&w, "V0"), 'f');
	w.launch_ns = 200000;
	w.orphans = 25; /* a fifth */
	assert_int_equal(state_of(&w, "V4"), 'b');
	w.orphans = 26;
	assert_int_equal(state_of(&w, "V4"), 'w');
	w = quiet;
	w.events = 0;
	w.idle_ns = 900000;
	for (const char *id = "1234567"; *id; id++) {
		const char name[] = { 'V', *id, '\0' };

		assert_int_equal(state_of(&w, name), 'w');
	}
}

/* The sentence of a rule, or why it is withheld. */
static void has_sentence(const struct world *w, const char *id,
			 const char *want)
{
	struct pf_parts p;
	struct pf_verdicts v;
	struct pf_buf text = { 0 };

	make(w, &p);
	pf_verdicts_find(&p, &v);
	pf_say_plain(&text, &find(&v, id)->sentence);
	assert_string_equal(text.data, want);
	pf_buf_release(&text);
	pf_verdicts_release(&v);
	pf_parts_release(&p);
}

static void precision(void **state)
{
	struct world w = quiet;

	(void)state;
	w.product_ns = 1000000;
	w.fp32_ns = 100000;
	assert_int_equal(state_of(&w, "V10"), '-');
	w.fp32_ns = 100001;
	assert_int_equal(state_of(&w, "V10"), 'f');
	w.unknown_ns = 200000;
	assert_int_equal(state_of(&w, "V10"), 'f');
	has_sentence(&w, "V10",
		     "10.0 % of the time in matrix products and convolutions "
		     "(100 µs of 1.00 ms) runs in fp32 kernels, most of all "
		     "in scudnn from aten::cudnn_convolution; the precision "
		     "of 20.0 % is not known");
	w.unknown_ns = 200001;
	has_sentence(&w, "V10",
		     "the names of kernels do not say the precision of 20.0 % "
		     "of the time in matrix products and convolutions");
	assert_int_equal(state_of(&w, "V10"), 'w');
	w.unknown_ns = 0;
	w.compute = "7.0";
	assert_int_equal(state_of(&w, "V10"), 'f');
	w.compute = "6.1";
	has_sentence(&w, "V10", "the GPU has no tensor cores");
	w.compute = NULL;
	has_sentence(&w, "V10", "the trace does not say what GPU it is from");
	w = quiet;
	has_sentence(&w, "V10",
		     "no kernel is known to be a matrix product or a "
		     "convolution");
	w.events = 0;
	w.product_ns = w.fp32_ns = 10;
	has_sentence(&w, "V10", "there is no GPU activity in this trace");
}

/* Trouble with the trace first, then what can be won; causes once. */
static void verdicts_are_ranked(void **state)
{
	struct world w = quiet;
	struct pf_parts p;
	struct pf_verdicts v;
	int64_t won = 0;

	(void)state;
	w.idle_ns = 600000;
	w.data_ns = 300000;
	w.launch_ns = 200000;
	w.copy_ns = 100000;
	w.trust = "bad";
	make(&w, &p);
	pf_verdicts_find(&p, &v);
	assert_string_equal(v.all[0].id, "V9");
	assert_string_equal(v.all[1].id, "V1");
	/* V1 names data loading, so V3 does not */
	assert_true(find(&v, "V3")->is_folded);
	assert_string_equal(v.all[2].id, "V4");
	assert_string_equal(v.all[3].id, "V7");
	assert_int_equal(v.fired, 4);
	for (size_t i = 0; i < v.count; i++)
		if (strchr("2347", v.all[i].id[1]) && !v.all[i].id[2] &&
		    v.all[i].recoverable_ns > 0)
			won += v.all[i].recoverable_ns;
	assert_true(won <= w.idle_ns);
	pf_verdicts_release(&v);
	pf_parts_release(&p);
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
	assert_int_equal(pf_page_check_url("https://a/%f#L%l", &err), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(pf_page_check_url(bad[i], &err), -1);
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
		cmocka_unit_test(rules_fire_above_their_thresholds),
		cmocka_unit_test(rules_are_withheld),
		cmocka_unit_test(precision),
		cmocka_unit_test(verdicts_are_ranked),
		cmocka_unit_test(urls_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
