/* SPDX-License-Identifier: MIT */
#include "unit/support.h"

#include <stdlib.h>
#include <string.h>

#include "base/spool.h"
#include "base/tempfile.h"

struct record {
	int64_t first, second, serial;
};

static void add_random(struct pf_spool *s, struct record *all, size_t count,
		       uint64_t *seed)
{
	struct pf_err err = { 0 };

	for (size_t i = 0; i < count; i++) {
		all[i].first = (int64_t)(i * 3);
		all[i].second = (int64_t)support_random(seed);
		all[i].serial = (int64_t)i;
		assert_int_equal(pf_spool_add(s, &all[i], &err), 0);
		if (i % 7 == 0) {
			size_t j = support_random(seed) % (i + 1);
			const void *got = pf_spool_at(s, j, &err);

			assert_memory_equal(got, &all[j], sizeof(*all));
		}
	}
}

static void spool_returns_what_was_added(void **state)
{
	static const size_t budgets[] = { 0, 200000, 100 << 20 };
	size_t count = 50000;
	struct record *all = calloc(count, sizeof(*all));
	char *dir = support_tmp_take();
	uint64_t seed = 7;

	(void)state;
	for (size_t b = 0; b < 3; b++) {
		struct pf_err err = { 0 };
		struct pf_spool *s =
			pf_spool_new(sizeof(*all), budgets[b], dir);

		pf_spool_keep(s, b == 1 ? 300000 : 0);
		add_random(s, all, count, &seed);
		assert_int_equal(pf_spool_count(s), count);
		for (size_t i = 0; i < count; i++)
			assert_memory_equal(pf_spool_at(s, i, &err), &all[i],
					    sizeof(*all));
		assert_null(pf_spool_at(s, count, &err));
		pf_spool_free(s);
	}
	support_tmp_release(dir);
	free(all);
}

static void spool_lower_bound_is_exact(void **state)
{
	size_t count = 20000;
	char *dir = support_tmp_take();
	struct pf_spool *s = pf_spool_new(24, 0, dir);
	struct pf_err err = { 0 };
	uint64_t seed = 11;

	(void)state;
	assert_int_equal(pf_spool_lower_bound(s, 5, &err), 0);
	for (size_t i = 0; i < count; i++) {
		struct record r = { .first = (int64_t)(i / 3) * 2 };

		assert_int_equal(pf_spool_add(s, &r, &err), 0);
	}
	for (int i = 0; i < 20000; i++) {
		int64_t key = (int64_t)(support_random(&seed) % 14000) - 10;
		uint64_t want = key <= 0 ? 0 : (uint64_t)(key + 1) / 2 * 3;

		if (want > count)
			want = count;
		assert_int_equal(pf_spool_lower_bound(s, key, &err), want);
	}
	pf_spool_free(s);
	support_tmp_release(dir);
}

static int compare(const void *a, const void *b)
{
	const struct record *x = a, *y = b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	if (x->second != y->second)
		return x->second < y->second ? -1 : 1;
	return x->serial < y->serial ? -1 : x->serial > y->serial;
}

/* Keys by shape: random, nearly sorted, descending, all equal, interleaved */
static int64_t shaped(int shape, size_t i, uint64_t *seed)
{
	int64_t r = (int64_t)(support_random(seed) >> 40);

	switch (shape) {
	case 0:
		return r - 5000000;
	case 1:
		return (int64_t)i * 4 + (r % 100 ? 0 : -(r % 90000));
	case 2:
		return -(int64_t)i;
	case 3:
		return 3;
	default:
		return (int64_t)(i + (i % 2 ? 100000 : 0));
	}
}

static void sort_and_check(size_t count, size_t budget, int shape,
			   const char *dir)
{
	struct record *all = calloc(count + 1, sizeof(*all));
	struct pf_sorter *s = pf_sorter_new(sizeof(*all), budget, dir);
	struct pf_err err = { 0 };
	uint64_t seed = 99;

	for (size_t i = 0; i < count; i++) {
		all[i].first = shaped(shape, i, &seed);
		all[i].second = (int64_t)(support_random(&seed) % 3);
		all[i].serial = (int64_t)i;
		assert_int_equal(pf_sorter_add(s, &all[i], &err), 0);
	}
	qsort(all, count, sizeof(*all), compare);
	assert_int_equal(pf_sorter_finish(s, &err), 0);
	for (size_t i = 0; i < count; i++) {
		const void *got = pf_sorter_next(s, &err);

		assert_non_null(got);
		assert_memory_equal(got, &all[i], sizeof(*all));
	}
	assert_null(pf_sorter_next(s, &err));
	assert_null(pf_sorter_next(s, &err));
	support_no_error(&err);
	pf_sorter_free(s);
	free(all);
}

static void sorter_sorts_every_shape(void **state)
{
	static const size_t counts[] = { 0, 1, 2, 17, 1024, 1025, 30000 };
	static const size_t budgets[] = { 0, 3000, 100000, 64 << 20 };
	char *dir = support_tmp_take();

	(void)state;
	for (size_t c = 0; c < 7; c++)
		for (size_t b = 0; b < 4; b++)
			for (int shape = 0; shape < 5; shape++)
				sort_and_check(counts[c], budgets[b], shape,
					       dir);
	support_tmp_release(dir);
}

/* Words of any size, and bytes behind the last whole word. */
static void packed_records_come_back(void **state)
{
	char last[43] = { 0 }, got[43] = { 0 }, record[43], bytes[64];
	uint64_t seed = 3;

	(void)state;
	for (size_t width = 0; width <= sizeof(record); width++) {
		memset(last, 0, sizeof(last));
		memset(got, 0, sizeof(got));
		for (int i = 0; i < 500; i++) {
			for (size_t k = 0; k + 8 <= width; k += 8) {
				uint64_t v = support_random(&seed);

				v >>= support_random(&seed) % 65 % 64;
				v *= support_random(&seed) % 3;
				memcpy(record + k, &v, 8);
			}
			for (size_t k = width / 8 * 8; k < width; k++)
				record[k] = (char)support_random(&seed);
			const char *end =
				pf_pack_put(bytes, last, record, width);

			assert_in_range(end - bytes, 0, PF_PACK_MAX(width));
			assert_ptr_equal(pf_pack_get(bytes, got, width), end);
			assert_memory_equal(got, record, width);
		}
	}
}

static void a_missing_folder_is_an_error(void **state)
{
	struct pf_spool *s = pf_spool_new(8, 0, "/nonexistent/folder");
	struct pf_err err = { 0 };
	int64_t r = 1;
	int rc = 0;

	(void)state;
	for (int i = 0; !rc && i < 100000; i++)
		rc = pf_spool_add(s, &r, &err);
	assert_int_equal(rc, -1);
	support_error(&err, PF_EIO, "/nonexistent/folder");
	pf_spool_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spool_returns_what_was_added),
		cmocka_unit_test(spool_lower_bound_is_exact),
		cmocka_unit_test(sorter_sorts_every_shape),
		cmocka_unit_test(packed_records_come_back),
		cmocka_unit_test(a_missing_folder_is_an_error),
	};

	return cmocka_run_group_tests_name("spool", tests, NULL, NULL);
}
