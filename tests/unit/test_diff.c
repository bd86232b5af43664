/* SPDX-License-Identifier: MIT */
/* Means that add up, exact ranks, families of kernels, checks, matching. */
#include "unit/support.h"

#include <stdlib.h>
#include <string.h>

#include "compare/diff_capture.c"
#include "compare/diff_judge.c"
#include "formats/event.h"

/* ---- means ---- */

static void means(void **state)
{
	const int64_t thirds[] = { 1, 1, 1 }, mixed[] = { 7, -2, 0, 5, 1 };
	int64_t out[5];

	(void)state;
	assert_int_equal(pf_mean(7, 2), 4);
	assert_int_equal(pf_mean(-7, 2), -3);
	assert_int_equal(pf_mean(7, 0), 0);
	assert_int_equal(pf_mean(INT64_MAX, INT64_MAX), 1);
	/* 3 / 2 is 2: the first two are rounded up */
	pf_mean_parts(thirds, 3, 2, out);
	assert_int_equal(out[0], 1);
	assert_int_equal(out[1], 1);
	assert_int_equal(out[2], 0);
	pf_mean_parts(mixed, 5, 3, out);
	assert_int_equal(out[0] + out[1] + out[2] + out[3] + out[4],
			 pf_mean(11, 3));
	assert_int_equal(out[1], -1);
}

static void means_at_random(void **state)
{
	uint64_t seed = 7;

	(void)state;
	for (int round = 0; round < 2000; round++) {
		int64_t sums[20], out[20], sum = 0, total = 0;
		size_t count = 1 + support_random(&seed) % 20;
		int64_t steps = 1 + (int64_t)(support_random(&seed) % 97);

		for (size_t i = 0; i < count; i++) {
			sums[i] = (int64_t)(support_random(&seed) % 2000) - 500;
			sum += sums[i];
		}
		pf_mean_parts(sums, count, steps, out);
		for (size_t i = 0; i < count; i++) {
			total += out[i];
			assert_true(labs(out[i] * steps - sums[i]) < steps);
		}
		assert_int_equal(total, pf_mean(sum, steps));
	}
}

static void more_of_it(void **state)
{
	(void)state;
	/* from 2 a step of 10 ns to 3: 10 more */
	assert_int_equal(pf_mean_more(8, 80, 4, 6, 2), 10);
	assert_int_equal(pf_mean_more(6, 60, 2, 8, 4), -10);
	assert_int_equal(pf_mean_more(3, 10, 1, 4, 1), 3); /* 10 / 3 */
	assert_int_equal(pf_mean_more(2, 5, 1, 3, 1), 3);  /* 2.5 */
	assert_int_equal(pf_mean_more(2, 5, 1, 1, 1), -3);
	assert_int_equal(pf_mean_more(0, 0, 1, 5, 1), 0);
	/* no overflow on the way */
	assert_int_equal(
		pf_mean_more(1000000, INT64_C(1) << 60, 1000, 1000000, 1000),
		0);
	assert_int_equal(pf_mean_compare(1, 3, 2, 6), 0);
	assert_int_equal(pf_mean_compare(1, 3, 1, 2), 1);
	assert_int_equal(pf_mean_compare(INT64_MAX, 2, INT64_MAX, 3), -1);
}

/* ---- ranks ---- */

static bool is_near(double a, double b)
{
	return a - b < 1e-12 && b - a < 1e-12;
}

static void ranks(void **state)
{
	const int64_t low[] = { 1, 2, 3, 4 }, high[] = { 11, 12, 13, 14 };
	const int64_t a[] = { 1, 4, 5, 8 }, b[] = { 2, 3, 6, 7 };
	const int64_t five[] = { 10, 11, 12, 13, 14 };
	struct pf_rank r;

	(void)state;
	/* of the 70 orders of 4 and 4, two are as extreme */
	rank_compare(low, 4, high, 4, &r);
	assert_true(is_near(r.p, 2.0 / 70));
	assert_int_equal(r.shift, 10);
	assert_int_equal(r.shift_low, 7);
	assert_int_equal(r.shift_high, 13);
	assert_true(is_near(r.confidence, 1 - 2.0 / 70));
	/* U is 8 of 16: the middle, so nothing is known */
	rank_compare(a, 4, b, 4, &r);
	assert_true(is_near(r.p, 1));
	/* 126 orders of 4 and 5; U <= 1 in two of them (Mann, Whitney) */
	rank_compare(low, 4, five, 5, &r);
	assert_true(is_near(r.p, 2.0 / 126));
	assert_true(is_near(r.confidence, 1 - 2.0 * 2 / 126));
}

/* The same by counting: every way to choose which values are of b. */
static void ranks_by_counting(void **state)
{
	uint64_t seed = 11;

	(void)state;
	for (int round = 0; round < 30; round++) {
		int64_t all[9], a[9], b[9];
		size_t n = 4 + support_random(&seed) % 2, na = 0, nb = 0;
		unsigned chosen = 0, extreme = 0, orders = 0;
		struct pf_rank r;
		double u = 0, other;

		for (size_t i = 0; i < 9; i++)
			all[i] = (int64_t)(10 * i + support_random(&seed) % 9);
		while ((size_t)__builtin_popcount(chosen) < n)
			chosen |= 1u << support_random(&seed) % 9;
		for (size_t i = 0; i < 9; i++) {
			if (chosen >> i & 1)
				b[nb++] = all[i];
			else
				a[na++] = all[i];
		}
		for (size_t i = 0; i < na; i++)
			for (size_t k = 0; k < nb; k++)
				u += b[k] > a[i];
		if (u > (double)(na * nb) - u)
			u = (double)(na * nb) - u;
		for (unsigned set = 0; set < 512; set++) {
			if ((size_t)__builtin_popcount(set) != n)
				continue;
			orders++;
			other = 0;
			for (size_t i = 0; i < 9; i++)
				for (size_t k = 0; k < i; k++)
					other += (set >> i & 1) &&
						 !(set >> k & 1);
			extreme += other <= u || (double)(na * nb) - other <= u;
		}
		rank_compare(a, na, b, nb, &r);
		assert_true(r.p - (double)extreme / orders < 1e-9 &&
			    (double)extreme / orders - r.p < 1e-9);
	}
}

/* Steps of long captures: as exact ranks have it where both can. */
static void many_ranks(void **state)
{
	int64_t a[400], b[400];
	struct pf_rank r;

	(void)state;
	for (int64_t i = 0; i < 400; i++) {
		a[i] = i * 7919 % 400;
		b[i] = i * 6007 % 400 + 20;
	}
	rank_compare(a, 400, b, 400, &r);
	assert_int_equal(r.shift, 20);
	assert_true(r.shift_low > 0 && r.shift_low < 20);
	assert_int_equal(r.shift_low + r.shift_high, 40);
	assert_true(r.p > 0.01 && r.p < 0.02);
	/* one value more than the exact distribution takes */
	rank_compare(a, PF_RANK_MAX, b, PF_RANK_MAX, &r);
	assert_true(r.confidence >= 0.95 && r.confidence < 0.96);
	rank_compare(a, PF_RANK_MAX + 1, b, PF_RANK_MAX, &r);
	assert_true(is_near(r.confidence, 0.95));
	/* the ends of what times may be */
	a[0] = -(INT64_C(1) << 56);
	b[0] = INT64_C(1) << 56;
	rank_compare(a, 1, b, 1, &r);
	assert_int_equal(r.shift, INT64_C(1) << 57);
	assert_true(is_near(r.p, 1) && is_near(r.confidence, 0));
}

/* ---- families ---- */

static void families(void **state)
{
	static const char *const same[][2] = {
		{ "ampere_sgemm_128x64_tn",
		  "Cijk_Ailk_Bljk_SB_MT64x64x16_SE_1LDSB0" },
		{ "sm80_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize128x64x16",
		  "nvjet_hsh_128x64_64x4_2x1_v_bz_TNT" },
		{ "void flash_fwd_kernel<Flash_fwd_kernel_traits<64>>(int)",
		  "attn_fwd" },
		{ "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)",
		  "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevArgs)" },
		{ "triton_poi_fused_add_mul_3",
		  "void at::native::vectorized_elementwise_kernel<4, "
		  "at::native::CUDAFunctor_add<float>>(int)" },
		{ "my_scan_kernel_v2", "my_scan_kernel_v3" },
		{ "void mine::step<128, 4>(float*)",
		  "void mine::step<256, 8>(float*)" },
	};
	static const char *const other[][2] = {
		{ "flash_fwd_kernel", "flash_bwd_kernel" },
		{ "ncclDevKernel_AllReduce_Sum", "ncclDevKernel_SendRecv" },
		{ "my_scan_kernel", "my_sort_kernel" },
		{ "Memcpy HtoD (Pinned -> Device)",
		  "Memcpy DtoH (Device -> Pinned)" },
	};
	struct pf_err err = { 0 };
	struct pf_data *f = families_new(&err);
	struct pf_buf text[2] = { { 0 }, { 0 } };

	(void)state;
	support_no_error(&err);
	for (size_t i = 0; i < 7 + 4; i++) {
		const char *const *pair = i < 7 ? same[i] : other[i - 7];

		for (size_t k = 0; k < 2; k++) {
			pf_buf_clear(&text[k]);
			family_name(f, pair[k], &text[k]);
		}
		if (i < 7)
			assert_string_equal(text[0].data, text[1].data);
		else
			assert_string_not_equal(text[0].data, text[1].data);
	}
	pf_buf_release(&text[0]);
	pf_buf_release(&text[1]);
	pf_data_free(f);
}

/* Names of every kind must give a name, never an empty one from a full one. */
static void odd_families(void **state)
{
	static const char *const names[] = { "",   "_",      "___",
					     "<",  "(x)",    "7",
					     "a_", "gfx942", "\xff\xfe" };
	struct pf_err err = { 0 };
	struct pf_data *f = families_new(&err);

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct pf_buf text = { 0 };

		family_name(f, names[i], &text);
		if (strlen(names[i]) > 0 && strcmp(names[i], "<") != 0 &&
		    names[i][0] != '(')
			assert_true(text.len > 0);
		pf_buf_release(&text);
	}
	pf_data_free(f);
}

/* ---- checks ---- */

/* Counts and memory: exactly, to the last one. */
static bool fails(const char *check, int64_t a, int64_t a_steps, int64_t b,
		  int64_t b_steps)
{
	struct pf_capture x = { .steps = a_steps,
				.of[PF_FIGURE_SYNCS] = a,
				.of[PF_FIGURE_PEAK] = a,
				.of[PF_FIGURE_RESERVED] = -1 };
	struct pf_capture y = { .steps = b_steps,
				.of[PF_FIGURE_SYNCS] = b,
				.of[PF_FIGURE_PEAK] = b,
				.of[PF_FIGURE_RESERVED] = -1 };
	const struct pf_gate_sides sides = { &x, &y, NULL, false };
	struct pf_doc doc = { 0 };
	struct pf_err err = { 0 };
	bool is_failed = false;

	assert_int_equal(pf_gate_check(check, &sides, &doc, &is_failed, &err),
			 0);
	assert_int_equal(doc.note_count, is_failed);
	assert_int_equal(doc.failed_count, is_failed);
	pf_doc_release(&doc);
	return is_failed;
}

static void checks(void **state)
{
	(void)state;
	/* 100 and 105 a step, to the last one */
	assert_false(fails("syncs>5%", 200, 2, 315, 3));
	assert_true(fails("syncs>=5%", 200, 2, 315, 3));
	assert_true(fails("syncs>5%", 200, 2, 316, 3));
	assert_true(fails("syncs>4.999999%", 200, 2, 315, 3));
	assert_true(fails("syncs>+4", 200, 2, 315, 3));
	assert_false(fails("syncs>5", 200, 2, 315, 3));
	assert_false(fails("syncs<0", 200, 2, 315, 3));
	assert_true(fails("syncs<-4%", 315, 3, 200, 2));
	assert_true(fails("syncs <= -5", 315, 3, 200, 2));
	assert_false(fails("syncs<-5", 315, 3, 200, 2));
	/* from nothing */
	assert_true(fails("syncs>500%", 0, 1, 1, 1));
	assert_false(fails("syncs>0%", 0, 1, 0, 1));
	assert_false(fails("syncs<-5%", 0, 1, 1, 1));
	/* memory is not per step */
	assert_false(fails("peak_memory>5%", 100, 7, 105, 3));
	assert_true(fails("peak_memory>4B", 100, 7, 105, 3));
	assert_true(fails("peak_memory>0.000004MB", 100, 7, 105, 3) ==
		    fails("peak_memory>4B", 100, 7, 105, 3));
	/* not recorded: it cannot be said that it holds */
	assert_true(fails("reserved_memory>5%", 100, 1, 100, 1));
	/* times that cannot be compared */
	assert_true(fails("step_time>500%", 100, 1, 100, 1));
	/* large numbers do not overflow */
	assert_true(fails("syncs>99%", INT64_C(1) << 55, 1000, INT64_C(1) << 56,
			  1000));
}

/* ---- verdicts ---- */

struct judging {
	struct pf_capture_step steps[8][600];
	struct pf_capture captures[8];
	const struct pf_capture *lists[2][4];
	struct pf_capture sides[2];
	struct pf_judged judged;
};

/* A capture of the side whose steps take so many us, up to 0. */
static void add_capture(struct judging *g, int side, const int64_t *us)
{
	struct pf_capture *s = &g->sides[side];
	size_t n = 4 * (size_t)side + s->capture_count;
	struct pf_capture *c = &g->captures[n];

	c->each_step = g->steps[n];
	for (; us[c->step_count]; c->step_count++) {
		struct pf_capture_step *step = &c->each_step[c->step_count];

		step->time.dur_ns = us[c->step_count] * 1000;
		step->of[PF_FIGURE_TIME] = step->time.dur_ns;
	}
	g->lists[side][s->capture_count++] = c;
	s->captures = g->lists[side];
}

static enum pf_grade judge(struct judging *g)
{
	static const struct pf_window_args whole = PF_WINDOW_DEFAULTS;
	const struct pf_judge by = {
		.a = &g->sides[0],
		.b = &g->sides[1],
		.warm_up = pf_judge_warm_up(&whole, &g->sides[0], &g->sides[1]),
	};

	pf_judge_figure(&by, PF_FIGURE_TIME, &g->judged);
	return g->judged.grade;
}

static enum pf_grade judge_two(const int64_t *a, const int64_t *b,
			       struct judging *g)
{
	memset(g, 0, sizeof(*g));
	add_capture(g, 0, a);
	add_capture(g, 1, b);
	return judge(g);
}

#define US(...) ((const int64_t[]){ __VA_ARGS__, 0 })

static void grades(void **state)
{
	struct judging *g = calloc(1, sizeof(*g));

	(void)state;
	/* ResNet50 with no worker, again, and with four: steps in us */
#define W0  US(187948, 175153, 179740, 174577, 182229, 165983)
#define W0B US(171772, 149600, 149800, 149500, 154300, 154500)
#define W4B US(170100, 122500, 123200, 118600, 119700, 122000)
	assert_int_equal(judge_two(W0, W0B, g), PF_GRADE_AS_CAPTURES);
	assert_int_equal(judge_two(W0B, W0, g), PF_GRADE_AS_CAPTURES);
	assert_int_equal(judge_two(W0, W4B, g), PF_GRADE_LIKELY);
	assert_true(g->judged.rank.shift < 0 && g->judged.is_below);
	assert_int_equal(judge_two(W4B, W0, g), PF_GRADE_LIKELY);
	assert_true(g->judged.rank.shift > 0 && g->judged.is_above);
	/* one step: nothing is known of noise */
	assert_int_equal(judge_two(US(100), US(300, 301, 302), g),
			 PF_GRADE_UNKNOWN);
	/* three steps cannot be tested, but may be far apart, or not */
	assert_int_equal(judge_two(US(100, 101, 99), US(130, 131, 130), g),
			 PF_GRADE_LIKELY);
	assert_int_equal(judge_two(US(100, 101, 99), US(110, 111, 110), g),
			 PF_GRADE_AS_CAPTURES);
	assert_int_equal(judge_two(US(100, 120, 99), US(130, 151, 130), g),
			 PF_GRADE_NONE);
	/* long steps scatter more: a tenth of them is far, by the ratio */
	assert_int_equal(judge_two(US(155, 217, 254), US(7, 10, 12), g),
			 PF_GRADE_LIKELY);
	assert_int_equal(judge_two(US(7, 10, 12), US(155, 217, 254), g),
			 PF_GRADE_LIKELY);
	assert_int_equal(judge_two(US(155, 217, 254), US(30, 50, 60), g),
			 PF_GRADE_NONE);
	/* the floor is of the longer side: 15 of 100 */
	assert_int_equal(judge_two(US(85, 85, 85), US(100, 100, 100), g),
			 PF_GRADE_LIKELY);
	assert_int_equal(judge_two(US(86, 86, 86), US(100, 100, 100), g),
			 PF_GRADE_AS_CAPTURES);
	assert_int_equal(judge_two(US(100, 100), US(100, 100), g),
			 PF_GRADE_NONE);
	free(g);
}

static void warm_up(void **state)
{
	struct judging *g = calloc(1, sizeof(*g));

	(void)state;
	/* the same number of steps on both sides */
	judge_two(US(300, 100, 101, 99, 100), US(99, 100, 101, 100, 100), g);
	assert_int_equal(g->judged.a_count, 4);
	assert_int_equal(g->judged.b_count, 4);
	assert_int_equal(g->judged.a_ns, 100000);
	/* up to 1.25 medians is no warm-up */
	judge_two(US(125, 100, 100, 100), US(100, 100, 100, 100), g);
	assert_int_equal(g->judged.a_count, 4);
	judge_two(US(126, 100, 100, 100), US(100, 100, 100, 100), g);
	assert_int_equal(g->judged.a_count, 3);
	/* only leading ones */
	judge_two(US(100, 300, 100, 100), US(100, 100, 100, 100), g);
	assert_int_equal(g->judged.a_count, 4);
	/* two steps are kept */
	judge_two(US(900, 800, 100, 100, 100), US(100, 101, 100), g);
	assert_int_equal(g->judged.a_count, 4);
	assert_int_equal(g->judged.b_count, 2);
	free(g);
}

/* The medians of captures are what is tested. */
static void captures(void **state)
{
	struct judging *g = calloc(1, sizeof(*g));

	(void)state;
	for (int64_t i = 0; i < 4; i++) {
		add_capture(g, 0, US(100 + i, 100 + i, 900));
		add_capture(g, 1, US(105 + i, 105 + i, 1));
		assert_int_equal(judge(g), i < 1   ? PF_GRADE_NONE
					   : i < 3 ? PF_GRADE_AS_CAPTURES
						   : PF_GRADE_TESTED);
	}
	assert_int_equal(g->judged.rank.shift, 5000);
	assert_true(is_near(g->judged.rank.p, 2.0 / 70));
	assert_true(is_near(pf_rank_least_p(4, 4), 2.0 / 70));
	assert_true(is_near(pf_rank_least_p(2, 2), 2.0 / 6));
	assert_true(is_near(pf_rank_least_p(1, 1), 1));
	free(g);
}

/* Nearly normal, with a tenth of steps disturbed, in hundredths of a us. */
static int64_t noisy_us(uint64_t *seed, int64_t mean, int64_t percent)
{
	int64_t sum = -6000;

	for (int i = 0; i < 12; i++)
		sum += (int64_t)(support_random(seed) % 1000);
	if (support_random(seed) % 10 == 0)
		sum = 5 * labs(sum);
	return mean + mean * percent * sum / 100000;
}

/*
 * Of captures without a shift, each with a drift of its own of up to 10 %, at
 * most one in a hundred is called a change; one of 30 % is found.
 */
static void false_and_true_alarms(void **state)
{
	static const size_t lengths[] = { 3, 4, 6, 10, 30, 200 };
	struct judging *g = calloc(1, sizeof(*g));
	uint64_t seed = 3;

	(void)state;
	for (size_t k = 0; k < 6; k++) {
		int wrong = 0, found = 0, rounds = 200;

		for (int round = 0; round < 2 * rounds; round++) {
			int64_t us[2][201] = { { 0 } };
			bool shifted = round % 2;

			for (int side = 0; side < 2; side++) {
				int64_t mean = 95000 +
					       (int64_t)(support_random(&seed) %
							 10000);

				if (side && shifted)
					mean = mean * 14 / 10;
				for (size_t i = 0; i < lengths[k]; i++)
					us[side][i] = noisy_us(&seed, mean, 3);
			}
			judge_two(us[0], us[1], g);
			if (shifted)
				found += g->judged.grade == PF_GRADE_LIKELY;
			else
				wrong += g->judged.grade >= PF_GRADE_LIKELY;
		}
		assert_true(wrong <= rounds / 100);
		if (lengths[k] >= 6)
			assert_true(found >= rounds * 9 / 10);
	}
	free(g);
}

/* A time fails only if its change is likely. */
static void checks_of_times(void **state)
{
	struct judging *g = calloc(1, sizeof(*g));
	const struct pf_judge by = { .a = &g->sides[0], .b = &g->sides[1] };
	const struct pf_gate_times times = { &by, &g->judged };
	const struct {
		const int64_t *b;
		const char *check;
		bool fails, notes;
	} cases[] = {
		{ US(110, 110, 110), "step_time>5%", false, true },
		{ US(110, 110, 110), "step_time>15%", false, false },
		{ US(130, 130, 130), "step_time>5%", true, false },
		{ US(130, 130, 130), "step_time>30%", false, false },
		{ US(130, 130, 130), "step_time>=30%", true, false },
		{ US(90, 100, 300), "step_time>=0%", false, true },
		{ US(300), "step_time>5%", false, true },
		{ US(70, 70, 70), "step_time<-20%", true, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct pf_doc doc = { 0 };
		struct pf_err err = { 0 };
		bool is_failed = false;
		const struct pf_gate_sides sides = { &g->sides[0], &g->sides[1],
						     &times, false };

		judge_two(US(100, 100, 100), cases[i].b, g);
		g->sides[0].steps = g->sides[1].steps = 3;
		assert_int_equal(pf_gate_check(cases[i].check, &sides, &doc,
					       &is_failed, &err),
				 0);
		assert_int_equal(is_failed, cases[i].fails);
		assert_int_equal(doc.failed_count, cases[i].fails);
		assert_int_equal(doc.note_count,
				 cases[i].fails || cases[i].notes);
		pf_doc_release(&doc);
	}
	free(g);
}

static void wrong_checks(void **state)
{
	static const char *const texts[] = {
		"",
		">",
		"step_time",
		"step_time>",
		"step_time>-",
		"step_time>.",
		"step_time>5%x",
		"step_time>5 kB",
		"kernels>1s",
		"no_figure>1",
		"step_time>1.0000001",
		"step_time>99999999999999",
		"step_time==5",
		"a_name_that_is_much_longer_than_any_figure_has>1",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct pf_err err = { 0 };

		assert_int_equal(pf_gate_parse(texts[i], &err), -1);
		support_error(&err, PF_EUSAGE, texts[i]);
	}
}

/* ---- matching ---- */

struct matching {
	struct pf_intern texts;
	struct pf_work_row rows[2][16];
	struct pf_capture side[2];
	struct pf_pairs pairs;
};

static uint32_t text(struct matching *s, const char *t)
{
	return pf_intern_add(&s->texts, t, strlen(t));
}

static void add_row(struct matching *s, int side, const char *path,
		    const char *shapes, const char *kernel, int64_t ns)
{
	struct pf_capture *x = &s->side[side];
	struct pf_work_row *r = &s->rows[side][x->work.count];
	const char *last = strrchr(path, ' ');

	*r = (struct pf_work_row){ .sum = { .count = 1, .ns = ns } };
	r->first = x->work.count++;
	r->key = (struct pf_work_key){ .path = text(s, path),
				       .region = text(s, ""),
				       .module = text(s, ""),
				       .annotation = text(s, ""),
				       .op = text(s, last ? last + 1 : path),
				       .shapes = text(s, shapes),
				       .kernel = text(s, kernel),
				       .kind = PF_KIND_KERNEL };
	x->work.rows = s->rows[side];
	x->work.width = sizeof(*r);
	x->steps = 1;
}

static void match(struct matching *s)
{
	struct pf_err err = { 0 };
	int64_t sums[4] = { 0 };

	assert_int_equal(pf_match(&s->texts, &s->side[0], &s->side[1],
				  PF_BY_ALL, &s->pairs, &err),
			 0);
	/* every row is in one pair: sums hold */
	for (size_t i = 0; i < s->pairs.count; i++) {
		sums[0] += s->pairs.items[i].a.ns;
		sums[1] += s->pairs.items[i].b.ns;
		sums[2] += s->pairs.items[i].a_rows;
		sums[3] += s->pairs.items[i].b_rows;
	}
	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; i < s->side[side].work.count; i++)
			sums[side] -= s->rows[side][i].sum.ns;
		assert_int_equal(sums[side], 0);
		assert_int_equal(sums[2 + side], s->side[side].work.count);
	}
}

/* The rule that row i of a was matched by, and its partner in b. */
static enum pf_match rule_of(const struct matching *s, size_t i, size_t partner)
{
	uint32_t pair = s->pairs.of[0][i];

	if (partner < 16)
		assert_int_equal(s->pairs.of[1][partner], pair);
	return s->pairs.items[pair].match;
}

static void release_all(struct matching *s)
{
	pf_pairs_release(&s->pairs);
	pf_intern_release(&s->texts);
}

static void all_rules(void **state)
{
	struct matching s = { 0 };

	(void)state;
	add_row(&s, 0, "aten::a", "[1]", "same", 10);
	add_row(&s, 0, "aten::b", "[1]", "shaped", 20);
	add_row(&s, 0, "aten::c", "[1]", "k1", 30);
	add_row(&s, 0, "aten::c", "[1]", "old", 40);
	add_row(&s, 0, "aten::c", "[1]", "k3", 50);
	add_row(&s, 0, "x > aten::d", "[1]", "sgemm_1", 60);
	add_row(&s, 0, "aten::e", "[1]", "gone", 70);
	add_row(&s, 1, "aten::a", "[1]", "same", 11);
	add_row(&s, 1, "aten::b", "[2]", "shaped", 21);
	add_row(&s, 1, "aten::c", "[1]", "k1", 31);
	add_row(&s, 1, "aten::c", "[1]", "new", 41);
	add_row(&s, 1, "aten::c", "[1]", "k3", 51);
	add_row(&s, 1, "y > aten::d", "[1]", "Cijk_2", 61);
	add_row(&s, 1, "aten::f", "[1]", "came", 71);
	match(&s);
	assert_int_equal(rule_of(&s, 0, 0), PF_MATCH_EXACT);
	assert_int_equal(rule_of(&s, 1, 1), PF_MATCH_SHAPE);
	assert_int_equal(rule_of(&s, 2, 2), PF_MATCH_EXACT);
	assert_int_equal(rule_of(&s, 3, 3), PF_MATCH_POSITION);
	assert_int_equal(rule_of(&s, 4, 4), PF_MATCH_EXACT);
	assert_int_equal(rule_of(&s, 5, 5), PF_MATCH_FAMILY);
	assert_int_equal(rule_of(&s, 6, 99), PF_MATCH_REMOVED);
	assert_int_equal(s.pairs.items[s.pairs.of[1][6]].match, PF_MATCH_ADDED);
	release_all(&s);
}

static void anchors(void **state)
{
	struct matching s = { 0 };

	(void)state;
	/* one more kernel in front does not shift the pairs behind it */
	add_row(&s, 0, "op", "", "x", 1);
	add_row(&s, 0, "op", "", "anchor", 2);
	add_row(&s, 0, "op", "", "y", 3);
	add_row(&s, 1, "op", "", "p", 4);
	add_row(&s, 1, "op", "", "q", 5);
	add_row(&s, 1, "op", "", "anchor", 6);
	add_row(&s, 1, "op", "", "z", 7);
	match(&s);
	assert_int_equal(rule_of(&s, 1, 2), PF_MATCH_EXACT);
	assert_int_equal(rule_of(&s, 2, 3), PF_MATCH_POSITION);
	/* one became two: a group */
	assert_int_equal(rule_of(&s, 0, 0), PF_MATCH_GROUP);
	assert_int_equal(rule_of(&s, 0, 1), PF_MATCH_GROUP);
	release_all(&s);
}

static void crossed_anchors(void **state)
{
	struct matching s = { 0 };

	(void)state;
	add_row(&s, 0, "op", "", "m", 1);
	add_row(&s, 0, "op", "", "n", 2);
	add_row(&s, 0, "op", "", "u", 3);
	add_row(&s, 1, "op", "", "n", 4);
	add_row(&s, 1, "op", "", "m", 5);
	add_row(&s, 1, "op", "", "v", 6);
	match(&s);
	assert_int_equal(rule_of(&s, 0, 1), PF_MATCH_EXACT);
	assert_int_equal(rule_of(&s, 1, 0), PF_MATCH_EXACT);
	assert_int_equal(rule_of(&s, 2, 2), PF_MATCH_POSITION);
	release_all(&s);
}

/* Any rows on both sides: match() itself checks that sums hold. */
static void matching_at_random(void **state)
{
	static const char *const words[] = { "a", "b", "c", "gemm", "" };
	uint64_t seed = 5;

	(void)state;
	for (int round = 0; round < 500; round++) {
		struct matching s = { 0 };

		for (int side = 0; side < 2; side++) {
			size_t count = support_random(&seed) % 16;

			s.side[side].work.rows = s.rows[side];
			for (size_t i = 0; i < count; i++)
				add_row(&s, side,
					words[support_random(&seed) % 5],
					words[support_random(&seed) % 3],
					words[support_random(&seed) % 4],
					(int64_t)(support_random(&seed) % 99));
		}
		match(&s);
		release_all(&s);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(means),
		cmocka_unit_test(means_at_random),
		cmocka_unit_test(more_of_it),
		cmocka_unit_test(ranks),
		cmocka_unit_test(ranks_by_counting),
		cmocka_unit_test(many_ranks),
		cmocka_unit_test(families),
		cmocka_unit_test(odd_families),
		cmocka_unit_test(checks),
		cmocka_unit_test(wrong_checks),
		cmocka_unit_test(grades),
		cmocka_unit_test(warm_up),
		cmocka_unit_test(captures),
		cmocka_unit_test(false_and_true_alarms),
		cmocka_unit_test(checks_of_times),
		cmocka_unit_test(all_rules),
		cmocka_unit_test(anchors),
		cmocka_unit_test(crossed_anchors),
		cmocka_unit_test(matching_at_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
