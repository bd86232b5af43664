/* SPDX-License-Identifier: MIT */
#include "unit/support.h"

#include <string.h>

#include "base/opt.h"

struct args {
	bool all, abort;
	int64_t limit, min_ns;
	const char *name;
	struct pf_opt_list only;
	int format;
};

static const struct args defaults = { .limit = 20, .name = "x" };

static const struct pf_opt opts[] = {
	{ 'a', "all", NULL, "", PF_OPT_FLAG, offsetof(struct args, all), 0, 0 },
	{ 'b', "abort", NULL, "", PF_OPT_FLAG, offsetof(struct args, abort), 0,
	  0 },
	{ 'n', "limit", "N", "", PF_OPT_INT, offsetof(struct args, limit), -1,
	  99 },
	{ 'm', "min", "DURATION", "", PF_OPT_NS, offsetof(struct args, min_ns),
	  0, 0 },
	{ 0, "name", "NAME", "", PF_OPT_STRING, offsetof(struct args, name), 0,
	  0 },
	{ 0, "name-only", "NAME", "", PF_OPT_LIST, offsetof(struct args, only),
	  0, 0 },
	{ 'f', "format", "text|csv|json", "", PF_OPT_CHOICE,
	  offsetof(struct args, format), 0, 0 },
	{ 0 }
};

/* What a parse left: filled by parse(), dropped by drop(). */
struct result {
	struct args args;
	struct pf_opt_set set;
	char *argv[16];
	char line[256];
	int argc, rc;
	struct pf_err err;
};

/* Words are separated by one space; "" stands for no words. */
static void parse(struct result *r, const char *line)
{
	char *word = r->line, *space;

	memset(r, 0, sizeof(*r));
	r->args = defaults;
	r->set = (struct pf_opt_set){ opts, &r->args, &defaults };
	memcpy(r->line, line, strlen(line) + 1);
	while (*line && word) {
		space = strchr(word, ' ');
		if (space)
			*space++ = '\0';
		r->argv[r->argc++] = word;
		word = space;
	}
	r->rc = pf_opt_parse(&r->set, 1, false, &r->argc, r->argv, &r->err);
}

static void parse_ok(struct result *r, const char *line)
{
	parse(r, line);
	support_no_error(&r->err);
	assert_int_equal(r->rc, 0);
}

static void drop(struct result *r)
{
	pf_opt_release(&r->set, 1);
}

static void refused(const char *line, const char *text)
{
	struct result r;

	parse(&r, line);
	assert_int_equal(r.rc, -1);
	support_error(&r.err, PF_EUSAGE, text);
	drop(&r);
}

static void every_spelling_of_a_value(void **state)
{
	static const char *const lines[] = { "-n5",       "-n 5",
					     "--limit 5", "--limit=5",
					     "--lim 5",   "--l=5",
					     "-an5" };
	struct result r;

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		parse_ok(&r, lines[i]);
		assert_int_equal(r.args.limit, 5);
		assert_int_equal(r.argc, 0);
	}
}

static void every_kind(void **state)
{
	struct result r;

	(void)state;
	parse_ok(&r, "-ab --limit -1 -m1.5us --name y --name-only p "
		     "--name-only q,r -f json");
	assert_true(r.args.all);
	assert_true(r.args.abort);
	assert_int_equal(r.args.limit, -1);
	assert_int_equal(r.args.min_ns, 1500);
	assert_string_equal(r.args.name, "y");
	assert_int_equal(r.args.only.count, 2);
	assert_string_equal(r.args.only.items[1], "q,r");
	assert_int_equal(r.args.format, 2);
	drop(&r);
}

static void defaults_stay_and_come_back(void **state)
{
	struct result r;

	(void)state;
	parse_ok(&r, "");
	assert_int_equal(r.args.limit, 20);
	parse_ok(&r, "-a --no-all -n7 --no-limit --name-only p --no-name-only "
		     "--name q --no-name");
	assert_false(r.args.all);
	assert_int_equal(r.args.limit, 20);
	assert_int_equal(r.args.only.count, 0);
	assert_string_equal(r.args.name, "x");
	drop(&r);
}

static void others_stay_in_order(void **state)
{
	struct result r;

	(void)state;
	parse_ok(&r, "one -a - two -n 3 -- --limit -x");
	assert_int_equal(r.argc, 5);
	assert_string_equal(r.argv[0], "one");
	assert_string_equal(r.argv[1], "-");
	assert_string_equal(r.argv[2], "two");
	assert_string_equal(r.argv[3], "--limit");
	assert_string_equal(r.argv[4], "-x");
	assert_true(r.args.all);
	assert_int_equal(r.args.limit, 3);
}

static void sql_may_begin_with_a_comment(void **state)
{
	char *argv[] = { (char *)"-- comment\nSELECT 1", (char *)"-a" };
	struct args args = defaults;
	struct pf_opt_set set = { opts, &args, &defaults };
	struct pf_err err = { 0 };
	int argc = 2;

	(void)state;
	assert_int_equal(pf_opt_parse(&set, 1, false, &argc, argv, &err), 0);
	assert_int_equal(argc, 1);
	assert_true(args.all);
}

static void a_whole_name_beats_a_beginning(void **state)
{
	struct result r;

	(void)state;
	parse_ok(&r, "--name z");
	assert_string_equal(r.args.name, "z");
	refused("--nam z", "'--nam' could be --name or --name-only");
	refused("--a", "could be --all or --abort");
}

static void wrong_use_is_explained(void **state)
{
	(void)state;
	refused("--limt 5", "did you mean --limit?");
	refused("--json", "did you mean --format json?");
	refused("--zzzzzzzz", "there is no option '--zzzzzzzz'");
	refused("-z", "there is no option '-z'");
	refused("--=5", "there is no option '--'");
	refused("--limit", "--limit needs N");
	refused("-n", "--limit needs N");
	refused("--limit x", "'x' is not a number");
	refused("--limit 100", "--limit takes -1 to 99, not '100'");
	refused("--limit 99999999999999999999", "not a number");
	refused("--min 5", "'5' is not a duration");
	refused("--format xml", "--format takes text|csv|json, not 'xml'");
	refused("--format te", "--format takes");
	refused("--name=", "--name cannot be empty");
	refused("--all=1", "--all takes no value");
	refused("--no-limit=1", "--no-limit takes no value");
}

static const char *other(const char *line, const char *words)
{
	const char *out;
	struct result r;

	parse_ok(&r, line);
	out = pf_opt_other(opts, &r.args, &defaults, words);
	drop(&r);
	return out;
}

static void what_else_was_given_is_found(void **state)
{
	(void)state;
	assert_null(other("", ""));
	assert_null(other("--limit 20 --no-all", ""));
	assert_string_equal(other("--limit 21", ""), "limit");
	assert_string_equal(other("--min 1us --format csv", "min"), "format");
	assert_null(other("--name z --format csv", "format name"));
	/* words are whole */
	assert_string_equal(other("--name z", "name-only n names"), "name");
	assert_string_equal(other("--name-only z", "name"), "name-only");
	assert_null(other("--name-only z --all", "all name-only"));
}

static void choice_words_are_counted(void **state)
{
	size_t len = 0;

	(void)state;
	assert_memory_equal(pf_opt_choice("a|bc|d", 1, &len), "bc", 2);
	assert_int_equal(len, 2);
	assert_null(pf_opt_choice("a|bc|d", 3, &len));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_spelling_of_a_value),
		cmocka_unit_test(every_kind),
		cmocka_unit_test(defaults_stay_and_come_back),
		cmocka_unit_test(others_stay_in_order),
		cmocka_unit_test(sql_may_begin_with_a_comment),
		cmocka_unit_test(a_whole_name_beats_a_beginning),
		cmocka_unit_test(wrong_use_is_explained),
		cmocka_unit_test(what_else_was_given_is_found),
		cmocka_unit_test(choice_words_are_counted),
	};

	return cmocka_run_group_tests_name("opt", tests, NULL, NULL);
}
