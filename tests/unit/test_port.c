/* SPDX-License-Identifier: MIT */
/* What systems have not, held against the system that has it. */
#include "config.h"

#include "unit/support.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/port.h"

#ifdef __GLIBC__

static int sign(int n)
{
	return (n > 0) - (n < 0);
}

/* All pairs of texts of up to four of these. */
#define LETTERS     "0129a."
#define LETTERS_MAX 4

static void spell(unsigned n, char *text)
{
	for (; n; n /= sizeof(LETTERS))
		if (n % sizeof(LETTERS))
			*text++ = LETTERS[n % sizeof(LETTERS) - 1];
	*text = '\0';
}

static void numbers_are_in_order(void **state)
{
	unsigned all = 1;

	(void)state;
	for (unsigned i = 0; i < LETTERS_MAX; i++)
		all *= sizeof(LETTERS);
	for (unsigned i = 0; i < all; i++)
		for (unsigned j = 0; j < all; j++) {
			char a[LETTERS_MAX + 1], b[LETTERS_MAX + 1];

			spell(i, a);
			spell(j, b);
			if (sign(pf_strverscmp(a, b)) != sign(strverscmp(a, b)))
				fail_msg("'%s' and '%s'", a, b);
		}
	assert_true(pf_strverscmp("step_9\xff", "step_10") < 0);
	assert_true(pf_strverscmp("a\xff", "aa") > 0);
}

static void the_last_is_found(void **state)
{
	const char text[] = "a;b;\xff";

	(void)state;
	for (size_t n = 0; n <= sizeof(text); n++)
		for (const char *c = "a;b\xffz"; *c; c++)
			assert_ptr_equal(pf_memrchr(text, *c, n),
					 memrchr(text, *c, n));
}

#else

static void numbers_are_in_order(void **state)
{
	(void)state;
	assert_true(pf_strverscmp("step_9", "step_10") < 0);
	assert_true(pf_strverscmp("1.09", "1.1") < 0);
}

static void the_last_is_found(void **state)
{
	const char text[] = "a;b;c";

	(void)state;
	assert_ptr_equal(pf_memrchr(text, ';', 5), text + 3);
	assert_null(pf_memrchr(text, 'z', 5));
}

#endif

/* A file's own name, not its folder's: an emulator may show another root. */
static void files_have_names(void **state)
{
	char made[] = "test_port.XXXXXX", path[PATH_MAX];
	int fd = mkstemp(made);
	bool known = pf_path_of_fd(fd, path);

	(void)state;
	unlink(made);
	close(fd);
	assert_true(known);
	assert_int_equal(*path, '/');
	assert_string_equal(strrchr(path, '/') + 1, made);
	assert_false(pf_path_of_fd(-1, path));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_in_order),
		cmocka_unit_test(the_last_is_found),
		cmocka_unit_test(files_have_names),
	};

	return cmocka_run_group_tests_name("port", tests, NULL, NULL);
}
