/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"
#include "base/mem.h"
#include "show/doc.h"

struct thing {
	const char *name;
	int64_t count, after_ns;
	double share;
	bool is_last;
};

static const struct pf_field fields[] = {
	PF_FIELD(struct thing, after_ns, "After", PF_NS | PF_KNOWN),
	PF_FIELD(struct thing, name, "Name", PF_TEXT),
	PF_FIELD(struct thing, count, "Count", PF_COUNT | PF_FULL),
	PF_FIELD(struct thing, share, "Share", PF_RATIO),
	PF_FIELD(struct thing, is_last, "Last", PF_INT | PF_ABSENT),
};

static const struct thing things[] = {
	{ "one", -7, 5, 0.5, false },
	{ NULL, 8, -1, NAN, true },
};

/* Each cell is that of its field, whatever the order in the struct. */
static void rows_are_structs(void **state)
{
	struct pf_doc doc = { 0 };
	struct pf_table *t = PF_ROWS(&doc, "things", NULL, fields, things, 2);

	(void)state;
	assert_int_equal(pf_table_col_count(t), 4);
	assert_int_equal(pf_table_cols(t)[0].kind, PF_NS);
	assert_int_equal(pf_table_cols(t)[2].kind, PF_COUNT | PF_FULL);
	assert_int_equal(pf_table_int_at(t, 0, "after_ns"), 5);
	assert_int_equal(pf_table_int_at(t, 0, "count"), -7);
	assert_string_equal(pf_table_text_at(t, 0, "name"), "one");
	assert_true(pf_table_real_at(t, 0, "share") == 0.5);
	assert_null(pf_table_at(t, 1, "after_ns"));
	assert_null(pf_table_at(t, 1, "name"));
	assert_null(pf_table_at(t, 1, "share"));
	assert_null(pf_table_at(t, 1, "is_last"));
	pf_doc_release(&doc);
}

static void figures_are_structs(void **state)
{
	struct pf_doc doc = { 0 };

	(void)state;
	PF_SCALARS(&doc, fields, things[0]);
	assert_int_equal(doc.scalar_count, 4);
	assert_int_equal(pf_doc_find(&doc, "count")->cell.v.i, -7);
	assert_string_equal(pf_doc_find(&doc, "name")->cell.v.text.s, "one");
	pf_doc_release(&doc);
}

/* Does it end in abort()? */
static bool aborts(void (*misuse)(struct pf_table *))
{
	pid_t child = fork();
	int status;

	if (!child) {
		static const struct rlimit none = { 0, 0 };
		struct pf_doc doc = { 0 };

		setrlimit(RLIMIT_CORE, &none);
		signal(SIGABRT, SIG_DFL);
		misuse(PF_ROWS(&doc, "things", NULL, fields, things, 2));
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void read_well(struct pf_table *t)
{
	pf_table_int_at(t, 7, "count");
	pf_table_int_at(t, 0, "is_last");
	pf_table_int_at(NULL, 0, "anything");
}

static void read_renamed(struct pf_table *t)
{
	pf_table_int_at(t, 0, "counts");
}

static void leave_row_open(struct pf_table *t)
{
	pf_table_int(t, 1);
	pf_table_row_count(t);
}

static void put_other_struct(struct pf_table *t)
{
	int64_t other = 1;

	PF_PUT(t, fields, other);
}

static void misuse_ends_the_program(void **state)
{
	(void)state;
	assert_false(aborts(read_well));
	assert_true(aborts(read_renamed));
	assert_true(aborts(leave_row_open));
	assert_true(aborts(put_other_struct));
}

static void arena_keeps_what_it_gave(void **state)
{
	struct pf_arena a = { 0 };
	const char *text = pf_arena_text(&a, "a\0b", 3);
	char *big = pf_arena_alloc(&a, 100000);
	int64_t *number = pf_arena_alloc(&a, sizeof(*number));

	(void)state;
	big[0] = big[99999] = 'x';
	*number = 7;
	assert_int_equal((uintptr_t)number % sizeof(*number), 0);
	assert_memory_equal(text, "a\0b", 4);
	assert_null(pf_arena_string(&a, NULL));
	assert_string_equal(pf_arena_string(&a, "x"), "x");
	pf_arena_release(&a);
	assert_null(a.chunks);
}

static void arenas_share_long_texts(void **state)
{
	struct pf_arena a = { 0 }, b = { 0 };
	char text[4096];
	const char *of_a, *of_b;

	(void)state;
	memset(text, 'x', sizeof(text));
	of_a = pf_arena_text(&a, text, sizeof(text));
	of_b = pf_arena_text(&b, text, sizeof(text));
	assert_ptr_equal(of_a, of_b);
	assert_ptr_not_equal(of_b, pf_arena_text(&b, text, sizeof(text) - 1));
	pf_arena_release(&a);
	assert_memory_equal(of_b, text, sizeof(text));
	assert_int_equal(of_b[sizeof(text)], '\0');
	text[0] = '\0'; /* is no end of it */
	assert_memory_equal(pf_arena_text(&a, text, sizeof(text)), text,
			    sizeof(text));
	pf_arena_release(&b);
	pf_arena_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_structs),
		cmocka_unit_test(figures_are_structs),
		cmocka_unit_test(misuse_ends_the_program),
		cmocka_unit_test(arena_keeps_what_it_gave),
		cmocka_unit_test(arenas_share_long_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
