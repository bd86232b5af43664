/* SPDX-License-Identifier: MIT */
/* Recognition of torch releases and what they change. */
#include "unit/support.h"

#include "torch/rules.c"

static const struct pf_rule_facts modern = {
	.fraction_digits = 3,
	.link_differ = 100,
	.link_absent = 2,
	.ev_idx = 1,
	.rf_id = 1,
	.input_dims = 1,
	.input_strides = 1,
	.has_base = true,
	.has_trace_id = true,
};

static void recognises_modern(void **state)
{
	struct pf_rules r = pf_rules_for(&modern, 0, 0);

	(void)state;
	assert_int_equal(r.torch, 209);
	assert_int_equal(r.links, PF_LINK_GIVEN);
	assert_int_equal(r.candidates, PF_CANDIDATES_UNLINKED);
	assert_int_equal(r.border, PF_BORDER_DOUBLE);
	assert_true(r.annotations_apart && r.byte_units && r.compensated);
	assert_false(r.python_in_tree || r.python_rows || r.stack_limit);
}

static void names_devices(void **state)
{
	struct pf_rule_facts f = modern;

	(void)state;
	assert_string_equal(pf_rules_for(&f, 0, 0).device, "CUDA");
	f.device = "MTIA";
	assert_string_equal(pf_rules_for(&f, 0, 0).device, "MTIA");
	assert_string_equal(pf_rules_for(&f, 203, 0).device, "CUDA");
}

static void recognises_old(void **state)
{
	struct pf_rule_facts f = { .link_equal = 10,
				   .profiler_event_index = 1 };
	struct pf_rules r = pf_rules_for(&f, 0, 0);

	(void)state;
	assert_int_equal(r.torch, 113);
	assert_int_equal(r.links, PF_LINK_LOST);
	assert_int_equal(r.candidates, PF_CANDIDATES_ALL);
	assert_true(r.is_us && r.stack_limit && !r.annotations_apart);
	assert_true(r.narrow_start_ns == 1000 && r.narrow_end_ns == 0);
	f = (struct pf_rule_facts){ .ext_lower = 5, .link_differ = 5 };
	r = pf_rules_for(&f, 0, 0);
	assert_int_equal(r.torch, 110);
	assert_int_equal(r.links, PF_LINK_GIVEN);
	assert_int_equal(r.candidates, PF_CANDIDATES_OPS);
	assert_false(r.unlinked_in_tree);
}

/* Captures of profan's own: nothing is guessed from numbers. */
static void knows_captures(void **state)
{
	struct pf_rule_facts f = { .fraction_digits = 3,
				   .has_base = true,
				   .is_capture = true };
	struct pf_rules r = pf_rules_for(&f, 0, 0);

	(void)state;
	assert_int_equal(r.torch, 215);
	assert_int_equal(r.links, PF_LINK_LOST);
	assert_int_equal(r.candidates, PF_CANDIDATES_OPS);
	assert_false(r.overhead_claims || r.unlinked_claims);
	assert_true(r.is_capture);
	/* whatever release the user wants the table to look like */
	r = pf_rules_for(&f, 206, 0);
	assert_int_equal(r.torch, 206);
	assert_int_equal(r.links, PF_LINK_LOST);
	assert_false(r.overhead_claims || r.unlinked_claims);
}

static void recognises_between(void **state)
{
	struct pf_rule_facts f = modern;

	(void)state;
	f.link_absent = 0;
	f.link_equal = 4;
	assert_int_equal(pf_rules_for(&f, 0, 0).torch, 205);
	assert_int_equal(pf_rules_for(&f, 0, 0).links, PF_LINK_MIXED);
	f = modern;
	f.memory_records = 1;
	assert_int_equal(pf_rules_for(&f, 0, 0).torch, 206);
	f.finished = 1;
	assert_int_equal(pf_rules_for(&f, 0, 0).torch, 209);
	f.finished_true = 1;
	assert_int_equal(pf_rules_for(&f, 0, 0).torch, 207);
	f = modern;
	f.link_absent = 0;
	f.has_trace_id = false;
	assert_int_equal(pf_rules_for(&f, 0, 0).torch, 205);
	f = modern;
	f.has_base = false;
	assert_int_equal(pf_rules_for(&f, 0, 0).torch, 203);
	assert_false(pf_rules_for(&f, 0, 0).is_us);
	f = modern;
	f.torch = 206;
	f.python = 12;
	assert_int_equal(pf_rules_for(&f, 0, 0).torch, 206);
}

static void recognises_new(void **state)
{
	struct pf_rule_facts f = modern;

	(void)state;
	f.finished = f.scope = 1;
	assert_int_equal(pf_rules_for(&f, 0, 0).torch, 211);
	f.has_trace_id = false; /* written in Python */
	assert_int_equal(pf_rules_for(&f, 0, 0).torch, 214);
	f.has_host_name = true;
	assert_int_equal(pf_rules_for(&f, 0, 0).torch, 214);
	f.python_functions = 7;
	assert_int_equal(pf_rules_for(&f, 0, 0).torch, 212);
	f.call_from = 7;
	assert_int_equal(pf_rules_for(&f, 0, 0).torch, 214);
	f.priority = 1;
	assert_int_equal(pf_rules_for(&f, 0, 0).torch, 215);
}

static void what_changed(void **state)
{
	(void)state;
	assert_false(pf_rules_for(&modern, 207, 0).byte_units);
	assert_int_equal(pf_rules_for(&modern, 210, 0).border,
			 PF_BORDER_DOUBLE);
	assert_int_equal(pf_rules_for(&modern, 211, 0).border, PF_BORDER_EXACT);
	assert_true(pf_rules_for(&modern, 213, 0).python_rows);
	assert_true(pf_rules_for(&modern, 213, 0).overhead_claims);
	assert_false(pf_rules_for(&modern, 214, 0).python_rows);
	assert_true(pf_rules_for(&modern, 214, 0).python_in_tree);
	assert_false(pf_rules_for(&modern, 214, 0).overhead_claims);
	assert_true(pf_rules_for(&modern, 214, 0).unlinked_claims);
	assert_false(pf_rules_for(&modern, 215, 0).unlinked_claims);
	assert_true(pf_rules_for(&modern, 206, 0).compensated);
	assert_false(pf_rules_for(&modern, 206, 11).compensated);
	assert_true(pf_rules_for(&modern, 205, 12).compensated);
}

static void check_parse(const char *text, int torch, int python)
{
	struct pf_err err = { 0 };
	int got, got_python;

	assert_int_equal(pf_rules_parse(text, &got, &got_python, &err), 0);
	assert_int_equal(got, torch);
	assert_int_equal(got_python, python);
}

static void parses(void **state)
{
	static const char *const bad[] = { "",      "2",    "2.",   "x",
					   "2.6x",  "1.2",  "2.6/", "2.6/4.1",
					   "2.6/3", "-2.6", "2.6 ", "2.600",
					   "1.14",  "1.7",  "2.16", "9.9" };
	struct pf_err err;
	int torch, python;

	(void)state;
	check_parse("2.6", 206, 0);
	check_parse("2.6.0", 206, 0);
	check_parse("1.13", 113, 0);
	check_parse("2.12/3.11", 212, 11);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		err = (struct pf_err){ 0 };
		assert_int_equal(pf_rules_parse(bad[i], &torch, &python, &err),
				 -1);
		assert_int_equal(err.code, PF_EUSAGE);
	}
}

static void metadata(void **state)
{
	int torch = 0, python = 0;

	(void)state;
	rules_scan_metadata("{\"pip\": [\"torch==2.7.1\", \"x\"]}", &torch,
			    &python);
	assert_int_equal(torch, 207);
	assert_int_equal(python, 0);
	rules_scan_metadata("{\"torch_version\": \"2.6.0+cu124\","
			    " \"python_version\": \"3.12.11 (main)\"}",
			    &torch, &python);
	assert_int_equal(torch, 206);
	assert_int_equal(python, 12);
	rules_scan_metadata("\"torch_version\": nonsense", &torch, &python);
	assert_int_equal(torch, 206);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recognises_modern),
		cmocka_unit_test(names_devices),
		cmocka_unit_test(recognises_old),
		cmocka_unit_test(knows_captures),
		cmocka_unit_test(recognises_between),
		cmocka_unit_test(recognises_new),
		cmocka_unit_test(what_changed),
		cmocka_unit_test(parses),
		cmocka_unit_test(metadata),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
