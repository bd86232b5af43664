/* SPDX-License-Identifier: MIT */
#include "unit/support.h"

#include <csv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "show/escape.h"
#include "show/render.h"

static const struct pf_col cols[] = {
	{ "name", "Name", PF_TEXT },
	{ "count", "Count", PF_COUNT },
	{ "time_ns", "Time", PF_NS },
	{ "share", "Share", PF_RATIO },
};

static void print(const struct pf_style *style, const struct pf_doc *doc,
		  struct pf_buf *out)
{
	struct pf_err err = { 0 };
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	assert_int_equal(pf_render_doc(style, doc, f, &err), 0);
	fclose(f);
	pf_buf_add(out, text, len);
	free(text);
}

static void prints(const struct pf_format *format, int width,
		   const struct pf_doc *doc, const char *want)
{
	struct pf_style style = { .format = format,
				  .width = width,
				  .command = "test" };
	struct pf_buf out = { 0 };

	print(&style, doc, &out);
	assert_string_equal(out.data, want);
	pf_buf_release(&out);
}

static void fill(struct pf_doc *doc, const char *name, size_t len)
{
	struct pf_table *t = pf_doc_table(doc, "t", "Title", cols, 4);

	pf_table_text(t, name, len);
	pf_table_int(t, 1234);
	pf_table_int(t, 1500000);
	pf_table_real(t, 0.25);
	pf_table_string(t, "b");
	pf_table_null(t);
	pf_table_int(t, 12);
	pf_table_real(t, 1);
}

static void numbers_keep_their_units(void **state)
{
	static const struct pf_col prose[] = {
		{ "what", "What", PF_TEXT | PF_WHOLE },
	};
	struct pf_doc doc = { 0 };

	(void)state;
	pf_doc_finding(&doc, "it takes 1.5 ms, or 20 %% of it");
	prints(&pf_format_text, 14, &doc,
	       "it takes\n1.5 ms, or\n20 % of it.\n");
	pf_doc_release(&doc);
	pf_table_string(pf_doc_table(&doc, "t", "Title", prose, 1),
			"takes 20.25 % of it");
	prints(&pf_format_text, 12, &doc,
	       "Title\nWhat\n------------\ntakes\n20.25 % of\nit\n");
	pf_doc_release(&doc);
}

static void every_format(void **state)
{
	struct pf_doc doc = { 0 };

	(void)state;
	fill(&doc, "a,b", 3);
	pf_doc_int(&doc, "size_bytes", "Size", PF_BYTES, 2000);
	pf_doc_string(&doc, "path", "The path", "x");
	pf_doc_note(&doc, "%d left out", 3);
	prints(&pf_format_text, 80, &doc,
	       "Size      1.95 KiB\n"
	       "The path  x\n"
	       "\n"
	       "Title\n"
	       "Name  Count      Time     Share\n"
	       "----  -----  --------  --------\n"
	       "a,b   1,234  1.500 ms   25.00 %\n"
	       "b         -     12 ns  100.00 %\n"
	       "\n"
	       "Note: 3 left out\n");
	prints(&pf_format_csv, 80, &doc,
	       "key,value\nsize_bytes,2000\npath,x\n\n"
	       "name,count,time_ns,share\n\"a,b\",1234,1500000,0.25\n"
	       "b,,12,1\n");
	prints(&pf_format_json, 80, &doc,
	       "{\n\t\"command\": \"test\",\n\t\"version\": 1,\n"
	       "\t\"scalars\": {\n"
	       "\t\t\"size_bytes\": 2000,\n\t\t\"path\": \"x\"\n\t},\n"
	       "\t\"tables\": {\n\t\t\"t\": [\n"
	       "\t\t\t{\"name\": \"a,b\", \"count\": 1234, "
	       "\"time_ns\": 1500000, \"share\": 0.25},\n"
	       "\t\t\t{\"name\": \"b\", \"count\": null, "
	       "\"time_ns\": 12, \"share\": 1}\n"
	       "\t\t]\n\t},\n\t\"notes\": [\n\t\t\"3 left out\"\n\t]\n}\n");
	prints(&pf_format_md, 80, &doc,
	       "| What | Value |\n| :--- | :--- |\n| Size | 1.95 KiB |\n"
	       "| The path | `x` |\n\n**Title**\n\n"
	       "| Name | Count | Time | Share |\n"
	       "| :--- | ---: | ---: | ---: |\n"
	       "| `a,b` | 1,234 | 1.500 ms | 25.00 % |\n"
	       "| `b` |  | 12 ns | 100.00 % |\n\n- 3 left out\n");
	pf_doc_release(&doc);
}

static void an_empty_document(void **state)
{
	struct pf_doc doc = { 0 };

	(void)state;
	prints(&pf_format_text, 80, &doc, "");
	prints(&pf_format_csv, 80, &doc, "");
	prints(&pf_format_md, 80, &doc, "");
	prints(&pf_format_json, 80, &doc,
	       "{\n\t\"command\": \"test\",\n\t\"version\": 1,\n"
	       "\t\"scalars\": {},\n"
	       "\t\"tables\": {},\n\t\"notes\": []\n}\n");
	pf_doc_table(&doc, "t", "Title", cols, 4);
	prints(&pf_format_text, 80, &doc, "");
	prints(&pf_format_csv, 80, &doc, "name,count,time_ns,share\n");
	pf_doc_release(&doc);
}

static size_t longest_line(const char *text)
{
	size_t longest = 0;

	while (*text) {
		size_t len = strcspn(text, "\n");

		longest = len > longest ? len : longest;
		text += len + (text[len] == '\n');
	}
	return longest;
}

/* Is every line at most this wide, and beginning and end of it shown? */
static void names_are_shortened_to_the_width(void **state)
{
	static const char name[] =
		"void at::native::vectorized_elementwise_kernel<4, "
		"at::native::CUDAFunctor_add<float>>(int, float)"
		"-of-which-there-is-more-than-two-lines-have-room-for-the-end";
	struct pf_style style = { .format = &pf_format_text,
				  .width = 80,
				  .command = "test" };
	struct pf_doc doc = { 0 };

	(void)state;
	pf_doc_finding(&doc, "%s is long", name);
	pf_doc_string(&doc, "name", "Name", name);
	fill(&doc, name, strlen(name));
	pf_doc_note(&doc, "%s again", name);
	for (style.width = 12; style.width < 130; style.width++) {
		struct pf_buf out = { 0 };

		print(&style, &doc, &out);
		assert_true(longest_line(out.data) <= (size_t)style.width);
		if (style.width >= 45) {
			assert_non_null(strstr(out.data, "\nvoid at::"));
			assert_non_null(strstr(out.data, "-end"));
		}
		pf_buf_release(&out);
	}
	pf_doc_release(&doc);
}

static void a_name_has_two_lines(void **state)
{
	struct pf_doc doc = { 0 };

	(void)state;
	fill(&doc, "kernel_of_a_library<float, 128, true>", 37);
	prints(&pf_format_text, 53, &doc,
	       "Title\n"
	       "Name                        Count      Time     Share\n"
	       "--------------------------  -----  --------  --------\n"
	       "kernel_of_a_library<float,  1,234  1.500 ms   25.00 %\n"
	       "  128, true>\n"
	       "b                               -     12 ns  100.00 %\n");
	pf_doc_release(&doc);
}

static void spare_columns_go_before_names_are_cut(void **state)
{
	static const struct pf_col spare[] = {
		{ "name", "Name", PF_TEXT },
		{ "count", "Count", PF_COUNT },
		{ "time_ns", "Time", PF_NS | PF_SPARE },
		{ "share", "Share", PF_RATIO | PF_SPARE },
	};
	static const char name[] = "a-name-of-forty-columns-and-of-ten-more-";
	struct pf_doc doc = { 0 };
	struct pf_table *t = pf_doc_table(&doc, "t", NULL, spare, 4);

	(void)state;
	pf_table_string(t, name);
	pf_table_int(t, 1);
	pf_table_int(t, 2000);
	pf_table_real(t, 0.5);
	prints(&pf_format_text, 57, &doc,
	       "Name                                      Count      Time\n"
	       "----------------------------------------  -----  --------\n"
	       "a-name-of-forty-columns-and-of-ten-more-      1  2.000 us\n");
	prints(&pf_format_text, 56, &doc,
	       "Name                                      Count\n"
	       "----------------------------------------  -----\n"
	       "a-name-of-forty-columns-and-of-ten-more-      1\n");
	pf_doc_release(&doc);
}

static void what_does_not_fit_goes_below(void **state)
{
	struct pf_doc doc = { 0 };

	(void)state;
	fill(&doc, "n", 1);
	prints(&pf_format_text, 21, &doc,
	       "Title\n"
	       "Name  Count      Time\n"
	       "       Share\n"
	       "----  -----  --------\n"
	       "    --------\n"
	       "n     1,234  1.500 ms\n"
	       "     25.00 %\n"
	       "b         -     12 ns\n"
	       "    100.00 %\n");
	pf_doc_release(&doc);
}

/* Names that differ only in what a cut in the middle takes away. */
static void cut_names_stay_apart(void **state)
{
	static const struct pf_col one[] = { { "name", "Name", PF_TEXT },
					     { "n", "N", PF_INT } };
	struct pf_doc doc = { 0 };
	struct pf_table *t = pf_doc_table(&doc, "t", NULL, one, 2);
	struct pf_style style = { .format = &pf_format_text,
				  .width = 45,
				  .command = "test" };
	struct pf_buf name = { 0 }, out = { 0 };

	(void)state;
	for (int i = 0; i < 26; i++) {
		pf_buf_clear(&name);
		for (int k = 0; k < 100; k++)
			pf_buf_addc(&name, k == 55 ? 'a' + (char)i : '-');
		pf_table_text(t, name.data, name.len);
		pf_table_int(t, i);
	}
	print(&style, &doc, &out);
	assert_true(longest_line(out.data) <= 45);
	for (char c = 'a'; c <= 'z'; c++)
		assert_non_null(strchr(out.data + 12, c));
	pf_buf_release(&name);
	pf_buf_release(&out);
	pf_doc_release(&doc);
}

/* Rows that look the same get the column that tells them apart. */
static void hidden_columns_tell_rows_apart(void **state)
{
	static const struct pf_col hidden[] = {
		{ "name", "Kernel", PF_TEXT | PF_FULL },
		{ "short_name", "Kernel", PF_TEXT | PF_BRIEF },
		{ "op", "Op", PF_TEXT | PF_FULL },
		{ "kind", "Kind", PF_TEXT | PF_FULL },
	};
	static const char *const rows[][4] = {
		{ "a::k", "k", "mm", "x" },
		{ "b::k", "k", "mm", "x" },
		{ "c::l", "l", "mm", "x" },
	};
	struct pf_doc doc = { 0 };
	struct pf_table *t = pf_doc_table(&doc, "t", NULL, hidden, 4);

	(void)state;
	for (size_t i = 0; i < 3; i++)
		for (size_t c = 0; c < 4; c++)
			pf_table_string(t, rows[i][c]);
	prints(&pf_format_text, 80, &doc, "Kernel\n------\na::k\nb::k\nl\n");
	pf_table_string(t, "c::l");
	pf_table_string(t, "l");
	pf_table_string(t, "add");
	pf_table_string(t, "x");
	prints(&pf_format_text, 80, &doc,
	       "Kernel  Op\n------  ---\na::k    mm\nb::k    mm\n"
	       "c::l    mm\nc::l    add\n");
	pf_doc_release(&doc);
}

static void wide_letters_are_aligned(void **state)
{
	static const struct pf_col two[] = { { "a", "A", PF_TEXT },
					     { "b", "B", PF_INT } };
	struct pf_doc doc = { 0 };
	struct pf_table *t = pf_doc_table(&doc, "t", NULL, two, 2);

	(void)state;
	pf_table_string(t, "\xe4\xb8\xad\xe6\x96\x87");
	pf_table_int(t, 1);
	pf_table_string(t, "\xc3\xa9");
	pf_table_int(t, 22);
	prints(&pf_format_text, 80, &doc,
	       "A      B\n----  --\n\xe4\xb8\xad\xe6\x96\x87   1\n"
	       "\xc3\xa9     22\n");
	pf_doc_release(&doc);
}

static void md_is(const char *s, size_t len, const char *want)
{
	struct pf_buf out = { 0 };

	pf_escape_md(&out, s, len);
	assert_string_equal(out.data, want);
	pf_buf_release(&out);
}

static void no_name_breaks_out_of_markdown(void **state)
{
	(void)state;
	md_is("a|b", 3, "`a\\|b`");
	md_is("a\\|b", 4, "`a\\x7cb`");
	md_is("a`b", 3, "``a`b``");
	md_is("`", 1, "`` ` ``");
	md_is("``x", 3, "``` ``x ```");
	md_is("@user #12 <b>", 13, "`@user #12 <b>`");
	md_is("a\nb", 3, "`a\\x0ab`");
	md_is(" ", 1, "`   `");
}

static void a_bar_outside_of_tables_stays(void **state)
{
	static const struct pf_col bars[] = { { "a", "A|B", PF_TEXT } };
	struct pf_doc doc = { 0 };
	struct pf_table *t;

	(void)state;
	pf_doc_finding(&doc, "the op x|y`z");
	t = pf_doc_table(&doc, "t", "T|U", bars, 1);
	pf_table_string(t, "c|d");
	pf_doc_note(&doc, "e|f");
	prints(&pf_format_md, 0, &doc,
	       "the op ``x|y`z``.\n\n**`T|U`**\n\n"
	       "| `A\\|B` |\n| :--- |\n| `c\\|d` |\n\n- `e|f`\n");
	pf_doc_release(&doc);
}

static void text_shows_no_control_bytes(void **state)
{
	static const char name[] = "\x1b]0;x\x07\n\xff\xe2\x80\xae";
	struct pf_style style = { .width = 0, .command = "t" };
	struct pf_doc doc = { 0 };

	(void)state;
	fill(&doc, name, sizeof(name) - 1);
	pf_doc_string(&doc, "k", "K", name);
	pf_doc_note(&doc, "'%s' is odd", name);
	for (size_t i = 0; pf_formats[i]->ops; i++) {
		struct pf_buf out = { 0 };

		style.format = pf_formats[i];
		if (style.format != &pf_format_csv) {
			print(&style, &doc, &out);
			assert_null(memchr(out.data, 0x1b, out.len));
			assert_null(memchr(out.data, 0x07, out.len));
			assert_null(strstr(out.data, "\xe2\x80\xae"));
		}
		pf_buf_release(&out);
	}
	pf_doc_release(&doc);
}

/* libcsv reads back what was written: cells are joined by 0x01, rows 0x02. */
static void on_cell(void *s, size_t len, void *arg)
{
	pf_buf_add(arg, s, len);
	pf_buf_addc(arg, 1);
}

static void on_row(int c, void *arg)
{
	(void)c;
	pf_buf_addc(arg, 2);
}

static void csv_reads_back(void **state)
{
	static const struct pf_col one[] = { { "a,\"", "A", PF_TEXT },
					     { "b", "B", PF_TEXT } };
	static const char *const names[] = {
		"plain", " edge ", "\"", "a,b",         "x\r\ny",
		"",      "=1+1",   "\t", "caf\xc3\xa9", "\x1b[1m",
	};
	struct pf_style style = { .format = &pf_format_csv,
				  .width = 80,
				  .command = "test" };
	struct pf_buf want = { 0 }, got = { 0 }, out = { 0 };
	struct pf_doc doc = { 0 };
	struct pf_table *t = pf_doc_table(&doc, "t", NULL, one, 2);
	struct csv_parser parser;

	(void)state;
	pf_buf_adds(&want, "a,\"\1b\1\2");
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		pf_table_string(t, names[i]);
		pf_table_string(t, "z");
		pf_buf_addf(&want, "%s\1z\1\2", names[i]);
	}
	print(&style, &doc, &out);
	assert_int_equal(csv_init(&parser, CSV_STRICT), 0);
	assert_int_equal(
		csv_parse(&parser, out.data, out.len, on_cell, on_row, &got),
		out.len);
	csv_fini(&parser, on_cell, on_row, &got);
	csv_free(&parser);
	assert_string_equal(got.data, want.data);
	pf_buf_release(&want);
	pf_buf_release(&got);
	pf_buf_release(&out);
	pf_doc_release(&doc);
}

static void checks_show_nothing_but_checks(void **state)
{
	struct pf_doc doc = { 0 };

	(void)state;
	fill(&doc, "a", 1);
	pf_doc_finding(&doc, "a \"b\" & 5 %%, \x1b");
	pf_doc_passed(&doc, "copies<1");
	pf_doc_unjudged(&doc, "idle>1%", "by chance: 2 %%");
	pf_doc_failed(&doc, "x,y:z", "is\n::error::");
	prints(&pf_format_junit, 0, &doc,
	       "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	       "<testsuites>\n"
	       "<testsuite name=\"profan test\" tests=\"3\" failures=\"1\">\n"
	       "<testcase classname=\"profan test\" name=\"copies&lt;1\"/>\n"
	       "<testcase classname=\"profan test\" name=\"idle&gt;1%\">"
	       "<system-out>by chance: 2 %</system-out></testcase>\n"
	       "<testcase classname=\"profan test\" name=\"x,y:z\">"
	       "<failure message=\"is\n::error::\"/></testcase>\n"
	       "<system-out>a &quot;b&quot; &amp; 5 %, \\u{1b}</system-out>\n"
	       "</testsuite>\n"
	       "</testsuites>\n");
	prints(&pf_format_github, 0, &doc,
	       "::warning title=profan test idle>1%25::by chance%3A 2 %25\n"
	       "::error title=profan test x%2Cy%3Az::is%0A%3A%3Aerror%3A%3A\n"
	       "::notice title=profan test::a \"b\" & 5 %25%2C \\u{1b}\n");
	pf_doc_release(&doc);
}

static void rows_come_one_by_one(void **state)
{
	static const struct pf_col two[] = { { "n", "n", PF_ANY },
					     { "n", "n", PF_ANY } };
	struct pf_style style = { .format = &pf_format_text,
				  .width = 80,
				  .command = "q" };
	struct pf_err err = { 0 };

	(void)state;
	for (size_t n = 0; pf_formats[n]->ops; n++) {
		struct pf_cell cells[2] = { { PF_CELL_INT, { .i = 0 } },
					    { PF_CELL_REAL, { .d = 0.5 } } };
		struct pf_row_sink *sink;
		char *text = NULL;
		size_t len = 0, lines = 0;
		FILE *f;

		if (pf_formats[n] == &pf_format_schema)
			continue; /* has no rows */
		f = open_memstream(&text, &len);
		style.format = pf_formats[n];
		sink = pf_render_rows(&style, "rows", f);
		assert_int_equal(sink->head(sink, two, 2, &err), 0);
		for (; cells[0].v.i < 25000; cells[0].v.i++)
			assert_int_equal(sink->row(sink, cells, &err), 0);
		assert_int_equal(pf_render_finish(sink, &err), 0);
		fclose(f);
		for (size_t i = 0; i < len; i++)
			lines += text[i] == '\n';
		assert_true(lines >= 25001);
		assert_non_null(strstr(text, "24999"));
		if (style.format == &pf_format_csv)
			assert_memory_equal(text, "n,n_2\n0,0.5\n", 12);
		free(text);
	}
}

static void full_disks_are_noticed(void **state)
{
	struct pf_style style = { .format = &pf_format_csv,
				  .width = 80,
				  .command = "q" };
	struct pf_err err = { 0 };
	FILE *f = fopen("/dev/full", "w");
	struct pf_row_sink *sink = pf_render_rows(&style, "rows", f);
	struct pf_cell cells[4] = { { PF_CELL_INT, { .i = 1 } } };
	int rc = sink->head(sink, cols, 4, &err);

	(void)state;
	for (int i = 0; !rc && i < 1000000; i++)
		rc = sink->row(sink, cells, &err);
	assert_int_equal(rc, -1);
	support_error(&err, PF_EIO, "cannot write output");
	pf_render_free(sink);
	fclose(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_keep_their_units),
		cmocka_unit_test(every_format),
		cmocka_unit_test(an_empty_document),
		cmocka_unit_test(names_are_shortened_to_the_width),
		cmocka_unit_test(a_name_has_two_lines),
		cmocka_unit_test(spare_columns_go_before_names_are_cut),
		cmocka_unit_test(what_does_not_fit_goes_below),
		cmocka_unit_test(cut_names_stay_apart),
		cmocka_unit_test(hidden_columns_tell_rows_apart),
		cmocka_unit_test(wide_letters_are_aligned),
		cmocka_unit_test(no_name_breaks_out_of_markdown),
		cmocka_unit_test(a_bar_outside_of_tables_stays),
		cmocka_unit_test(text_shows_no_control_bytes),
		cmocka_unit_test(csv_reads_back),
		cmocka_unit_test(checks_show_nothing_but_checks),
		cmocka_unit_test(rows_come_one_by_one),
		cmocka_unit_test(full_disks_are_noticed),
	};

	return cmocka_run_group_tests_name("render", tests, NULL, NULL);
}
