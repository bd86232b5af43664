/* SPDX-License-Identifier: MIT */
/* The look of torch's table, cell by cell and line by line. */
#include "unit/support.h"

#include <stdlib.h>
#include <string.h>

#include "torch/table.c"

static void check_time(double us, enum pf_torch_unit unit, const char *want)
{
	struct pf_buf out = { 0 };

	torch_time(&out, us, unit);
	assert_string_equal(out.data, want);
	pf_buf_release(&out);
}

static void times(void **state)
{
	(void)state;
	check_time(0, PF_UNIT_AUTO, "0.000us");
	check_time(999.9994, PF_UNIT_AUTO, "999.999us");
	check_time(999.9996, PF_UNIT_AUTO, "1000.000us");
	check_time(1000, PF_UNIT_AUTO, "1.000ms");
	check_time(1e6, PF_UNIT_AUTO, "1.000s");
	check_time(-5000, PF_UNIT_AUTO, "-5000.000us");
	check_time(1234, PF_UNIT_S, "0.001s");
	check_time(1e6, PF_UNIT_US, "1000000.000us");
	check_time(1500, PF_UNIT_MS, "1.500ms");
}

static void check_memory(int64_t n, bool byte_units, const char *want)
{
	struct pf_buf out = { 0 };

	torch_memory(&out, n, byte_units);
	assert_string_equal(out.data, want);
	pf_buf_release(&out);
}

static void memory(void **state)
{
	(void)state;
	check_memory(0, false, "0 b");
	check_memory(1023, true, "1023 B");
	check_memory(1024, false, "1.00 Kb");
	check_memory(-1536, true, "-1.50 KB");
	check_memory(1 << 20, false, "1.00 Mb");
	check_memory(INT64_C(5) << 30, true, "5.00 GB");
	check_memory(INT64_MIN, true, "-8589934592.00 GB");
}

static struct pf_average row(const char *name, double self_cpu, double device)
{
	struct pf_average r = { .name = name,
				.shapes = "",
				.stack = "",
				.overload = "",
				.count = 1 };

	r.sum.us[PF_FIG_SELF_CPU] = self_cpu;
	r.sum.us[PF_FIG_CPU] = self_cpu;
	r.sum.us[PF_FIG_SELF_DEVICE] = device;
	r.sum.us[PF_FIG_DEVICE] = device;
	return r;
}

static void print(const struct pf_average *rows, size_t count,
		  struct pf_torch_table *t, struct pf_buf *out)
{
	static const struct pf_rules plain = { .annotations_apart = true,
					       .byte_units = true,
					       .device = "CUDA" };
	const struct pf_average **sorted =
		pf_torch_sorted(rows, count, PF_SORT_SELF_CPU);

	if (!t->rules)
		t->rules = &plain;
	t->rows = sorted;
	t->count = count;
	if (!t->limit)
		t->limit = 100;
	t->max_name = 55;
	t->max_source = 75;
	t->max_shapes = 80;
	pf_torch_print(t, out);
	free(sorted);
}

static void plain_table(void **state)
{
	struct pf_average rows[] = { row("b", 1, 0), row("aa", 3, 0) };
	struct pf_torch_table t = { .header = "Hello" };
	struct pf_buf out = { 0 };

	(void)state;
	rows[0].is_async = true;
	print(rows, 2, &t, &out);
	assert_string_equal(
		out.data,
		"============================================="
		"=============================================\nHello\n"
		"------  ------------  ------------  ------------  "
		"------------  ------------  ------------  \n"
		"  Name    Self CPU %      Self CPU   CPU total %     "
		"CPU total  CPU time avg    # of Calls  \n"
		"------  ------------  ------------  ------------  "
		"------------  ------------  ------------  \n"
		"    aa        75.00%       3.000us        75.00%       "
		"3.000us       3.000us             1  \n"
		"     b        25.00%       1.000us             0       "
		"1.000us       1.000us             1  \n"
		"------  ------------  ------------  ------------  "
		"------------  ------------  ------------  \n"
		"Self CPU time total: 4.000us\n");
	pf_buf_release(&out);
}

/* FLOPs and source change places under their headers. */
static void swapped_columns(void **state)
{
	struct pf_average rows[] = { row("op", 1, 0) };
	struct pf_torch_table t = { .has_flops = true };
	struct pf_buf out = { 0 };

	(void)state;
	rows[0].stack = "a.py(1): f\nb.py(2): g";
	rows[0].sum.flops.low = 2500;
	rows[0].shapes = "[[1]]";
	print(rows, 1, &t, &out);
	assert_non_null(strstr(out.data, "Input Shapes  Source Location  "
					 "Total KFLOPs  \n"));
	assert_non_null(strstr(out.data, "  [[1]]     2.500          "
					 "a.py(1): f  \n"));
	assert_non_null(strstr(out.data, "      b.py(2): g  \n"));
	pf_buf_release(&out);
}

static void device_columns(void **state)
{
	struct pf_average rows[] = { row("k", 0, 4), row("note", 0, 9),
				     row("op", 2, 1) };
	struct pf_torch_table t = { .has_memory = true };
	struct pf_buf out = { 0 };

	(void)state;
	rows[0].is_device = rows[1].is_device = true;
	rows[1].is_annotation = true;
	rows[2].sum.bytes[PF_FIG_SELF_DEVICE] = -1;
	print(rows, 3, &t, &out);
	/* Neither the annotation nor the CPU row is in the total. */
	assert_non_null(strstr(out.data, "Self CUDA time total: 4.000us\n"));
	assert_non_null(strstr(out.data, "225.00%"));
	assert_non_null(strstr(out.data, "Self CPU Mem"));
	/* Nothing allocates more than it frees: no device memory. */
	assert_null(strstr(out.data, "CUDA Mem"));
	pf_buf_release(&out);
}

/* What is no GPU of CUDA's has its own name over its columns. */
static void other_devices(void **state)
{
	static const struct pf_rules rules = { .device = "MTIA" };
	struct pf_average rows[] = { row("k", 0, 4) };
	struct pf_torch_table t = { .rules = &rules, .has_memory = true };
	struct pf_buf out = { 0 };

	(void)state;
	rows[0].is_device = true;
	rows[0].sum.bytes[PF_FIG_SELF_DEVICE] = 1;
	print(rows, 1, &t, &out);
	assert_non_null(strstr(out.data, "     Self MTIA   Self MTIA %    "
					 "MTIA total  MTIA time avg  "));
	assert_non_null(strstr(out.data, "      MTIA Mem  Self MTIA Mem  "));
	assert_non_null(strstr(out.data, "Self MTIA time total: 4.000us\n"));
	assert_null(strstr(out.data, "CUDA"));
	pf_buf_release(&out);
}

static void long_names(void **state)
{
	char name[200];
	struct pf_average rows[1];
	struct pf_torch_table t = { .limit = -1 };
	struct pf_buf out = { 0 };

	(void)state;
	memset(name, 'x', 51);
	name[51] = '\0';
	rows[0] = row(name, 1, 0);
	print(rows, 1, &t, &out);
	assert_null(strstr(out.data, "..."));
	pf_buf_clear(&out);
	/* 52 code points of two bytes each. */
	for (int i = 0; i < 52; i++)
		memcpy(name + 2 * (size_t)i, "\xc3\xa9", 3);
	print(rows, 1, &t, &out);
	assert_non_null(strstr(out.data, "\xc3\xa9...  "));
	pf_buf_release(&out);
}

static void top_level(void **state)
{
	struct pf_average rows[] = { row("in", 9, 0), row("out", 1, 0) };
	struct pf_torch_table t = { .top_level = true, .limit = 1 };
	struct pf_buf out = { 0 };

	(void)state;
	rows[0].has_parent = true;
	print(rows, 2, &t, &out);
	assert_null(strstr(out.data, "   in  "));
	assert_non_null(strstr(out.data, "    out  "));
	assert_non_null(strstr(out.data, "only display top-level ops"));
	pf_buf_release(&out);
}

static void no_rows(void **state)
{
	struct pf_torch_table t = { .limit = 1 };
	struct pf_buf out = { 0 };

	(void)state;
	print(NULL, 0, &t, &out);
	assert_int_equal(out.len, 0);
	pf_buf_release(&out);
}

static void sorting(void **state)
{
	struct pf_average rows[] = { row("a", 1, 5), row("b", 2, 5),
				     row("c", 1, 7) };
	const struct pf_average **s;

	(void)state;
	s = pf_torch_sorted(rows, 3, PF_SORT_SELF_DEVICE);
	assert_string_equal(s[0]->name, "c");
	assert_string_equal(s[1]->name, "a");
	assert_string_equal(s[2]->name, "b");
	free(s);
	rows[0].sum.bytes[PF_FIG_SELF_CPU] = -5;
	s = pf_torch_sorted(rows, 3, PF_SORT_SELF_CPU_MEMORY);
	assert_string_equal(s[2]->name, "a");
	free(s);
}

static void sort_names(void **state)
{
	struct pf_err err = { 0 };
	enum pf_torch_sort key;

	(void)state;
	assert_int_equal(pf_torch_sort_key("cuda_time_total", &key, &err), 0);
	assert_int_equal(key, PF_SORT_DEVICE);
	assert_int_equal(pf_torch_sort_key("device_time", &key, &err), 0);
	assert_int_equal(key, PF_SORT_DEVICE_AVERAGE);
	assert_int_equal(pf_torch_sort_key("self_xpu_memory_usage", &key, &err),
			 0);
	assert_int_equal(key, PF_SORT_SELF_DEVICE_MEMORY);
	assert_int_equal(pf_torch_sort_key("count", &key, &err), 0);
	assert_int_equal(key, PF_SORT_COUNT);
	assert_int_equal(pf_torch_sort_key("cuda", &key, &err), -1);
	support_error(&err, PF_EUSAGE, "'cuda'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times),
		cmocka_unit_test(memory),
		cmocka_unit_test(plain_table),
		cmocka_unit_test(swapped_columns),
		cmocka_unit_test(device_columns),
		cmocka_unit_test(other_devices),
		cmocka_unit_test(long_names),
		cmocka_unit_test(top_level),
		cmocka_unit_test(no_rows),
		cmocka_unit_test(sorting),
		cmocka_unit_test(sort_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
