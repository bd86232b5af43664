/* SPDX-License-Identifier: MIT */
/* Layers in sequences of kernels that are written down as letters. */
#include "unit/support.h"

#include <string.h>

#include "analysis/graphs/graphs.c"

/* n: norm, g: product, a: attention, s: activation; others: no matter. */
static enum pf_role role_by(char c)
{
	switch (c) {
	case 'n':
	case 'N':
	case 'm':
		return PF_ROLE_NORM;
	case 'g':
	case 'G':
	case 'h':
	case 'k':
	case 'l':
		return PF_ROLE_GEMM;
	case 'a':
	case 'A':
		return PF_ROLE_ATTENTION;
	case 's':
		return PF_ROLE_ACTIVATION;
	default:
		return PF_ROLE_OTHER;
	}
}

static struct pf_layer_node nodes[4096];

static int64_t find(const char *kernels)
{
	size_t len = strlen(kernels);

	for (size_t i = 0; i < len; i++)
		nodes[i] = (struct pf_layer_node){ .name = (uint32_t)kernels[i],
						   .role = role_by(kernels[i]),
						   .ns = 10 };
	return layers_find(nodes, len);
}

static void layers(void **state)
{
	(void)state;
	assert_int_equal(find("e"
			      "ngragngsG"
			      "ngragngsG"
			      "ngragngsG"
			      "nh"),
			 3);
	assert_int_equal(nodes[0].layer, -1);
	assert_int_equal(nodes[1].layer, 0);
	assert_int_equal(nodes[1].place, 0);
	assert_int_equal(nodes[9].layer, 0);
	assert_int_equal(nodes[10].layer, 1);
	assert_int_equal(nodes[27].layer, 2);
	assert_int_equal(nodes[28].layer, -1);
	assert_int_equal(nodes[2].part, PF_PART_QKV);
	assert_int_equal(nodes[5].part, PF_PART_OUT);
	assert_int_equal(nodes[7].part, PF_PART_UP);
	assert_int_equal(nodes[9].part, PF_PART_DOWN);
	assert_int_equal(nodes[1].part, PF_PART_NONE);
}

/* Two kinds of attention take turns: a period of two layers. */
static void two_in_a_period(void **state)
{
	(void)state;
	assert_int_equal(find("ngrahmksl"
			      "ngrAhmksl"
			      "ngrahmksl"
			      "ngrAhmksl"
			      "ngrahmksl"
			      "ngrAhmksl"),
			 6);
	assert_int_equal(nodes[8].layer, 0);
	assert_int_equal(nodes[9].layer, 1);
	assert_int_equal(nodes[9].place, 0);
	assert_int_equal(nodes[53].layer, 5);
}

/* The first layer has another norm, which may be the embedding's. */
static void first_differs(void **state)
{
	(void)state;
	assert_int_equal(find("x"
			      "Ngrahmksl"
			      "ngrahmksl"
			      "ngrahmksl"
			      "ngrahmksl"),
			 4);
	assert_int_equal(nodes[1].layer, -1);
	assert_int_equal(nodes[2].layer, 0);
	assert_int_equal(nodes[9].layer, 0);
	assert_int_equal(nodes[10].layer, 1);
}

static void none(void **state)
{
	(void)state;
	assert_int_equal(find(""), 0);
	assert_int_equal(find("g"), 0);
	/* short, of few names, or a small part of all */
	assert_int_equal(find("ngngngngngng"), 0);
	assert_int_equal(find("aaaaaaaaaaaaaaaaaaaaaaa"), 0);
	assert_int_equal(find("abcdefghijklmopqrstuvwxyzABCDEFHIJKLMOPQRSTUVW"
			      "ngrag"
			      "ngrag"),
			 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(layers),
		cmocka_unit_test(two_in_a_period),
		cmocka_unit_test(first_differs),
		cmocka_unit_test(none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
