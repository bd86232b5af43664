/* SPDX-License-Identifier: MIT */
#include "unit/support.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/demangle.h"

static void shows(const char *name, const char *want)
{
	char *got = pf_demangle_take(name, strlen(name));

	if (want)
		assert_string_equal(got, want);
	else
		assert_null(got);
	free(got);
}

static void names_are_shown_as_torch_shows_them(void **state)
{
	(void)state;
	shows("_Z3addPfii", "add(float*, int, int)");
	shows("_ZN2at6native3sumILi4EfEEvPKT0_",
	      "void at::native::sum<4, float>(float const*)");
	shows("Pi", "int*"); /* a label of the user's */
}

static void other_names_stay(void **state)
{
	(void)state;
	shows("", NULL);
	shows("i", NULL);
	shows("aten::add", NULL);
	shows("hello", NULL);
	shows("_Z", NULL);
	shows("_Z3ad", NULL);
	assert_null(pf_demangle_take("_Z3addi\0", 8));
}

/* a<X, X>, X being the type before it: twice the text each time. */
static void a_bomb_is_stopped(void **state)
{
	static const char ids[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	struct pf_buf name = { 0 };

	(void)state;
	pf_buf_adds(&name, "_Z1f1aIiE");
	for (size_t i = 0; ids[i]; i++) {
		pf_buf_addf(&name, "S_IS%c_S%c_E", ids[i], ids[i]);
		if (i == 1)
			shows(name.data, "f(a<int>, a<a<int>, a<int> >, "
					 "a<a<a<int>, a<int> >, "
					 "a<a<int>, a<int> > >)");
	}
	shows(name.data, NULL);
	pf_buf_release(&name);
}

static void lengths_end_at_the_runtimes(void **state)
{
	char name[1100];

	(void)state;
	memset(name, 'P', sizeof(name));
	for (size_t len = 1000; len <= sizeof(name); len++) {
		name[len - 1] = 'i';
		free(pf_demangle_take(name, len));
		name[len - 1] = 'P';
	}
	name[1024] = 'i';
	assert_null(pf_demangle_take(name, 1025));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_shown_as_torch_shows_them),
		cmocka_unit_test(other_names_stay),
		cmocka_unit_test(a_bomb_is_stopped),
		cmocka_unit_test(lengths_end_at_the_runtimes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
