/* SPDX-License-Identifier: MIT */
#include "unit/support.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/outplace.h"

static int ends = -1, begins = -1; /* files of two other writers */

static int write_partial(void)
{
	int fd = open("t.db.partial", O_RDWR | O_CREAT | O_EXCL, 0600);

	assert_true(fd >= 0);
	assert_int_equal(syscall(SYS_flock, fd, LOCK_EX | LOCK_NB), 0);
	return fd;
}

/*
 * Before ours is asked whether its writer lives that one has put it in its
 * place, and another writes one of this name.
 */
int flock(int fd, int how)
{
	if (ends >= 0) {
		assert_int_equal(rename("t.db.partial", "t.db"), 0);
		close(ends);
		ends = -1;
		begins = write_partial();
	}
	return (int)syscall(SYS_flock, fd, how);
}

static void what_another_began_meanwhile_is_not_left_over(void **state)
{
	const struct pf_outrule rule = { .replace = true };
	struct pf_outplace place;
	struct pf_err err = { 0 };
	struct stat own, named;

	(void)state;
	ends = write_partial();
	assert_int_equal(pf_outplace_open(&place, "t.db", &rule, &err), -1);
	assert_int_equal(err.code, PF_EBUSY);
	assert_int_equal(fstat(begins, &own), 0);
	assert_int_equal(lstat("t.db.partial", &named), 0);
	assert_true(own.st_ino == named.st_ino);
	close(begins);
}

static void what_is_left_over_is_removed(void **state)
{
	const struct pf_outrule rule = { .replace = true };
	struct pf_outplace place;
	struct pf_err err = { 0 };

	(void)state;
	assert_int_equal(pf_outplace_open(&place, "t.db", &rule, &err), 0);
	assert_int_equal(pf_outplace_commit(&place, &err), 0);
	pf_outplace_release(&place);
	assert_int_equal(access("t.db.partial", F_OK), -1);
	assert_int_equal(access("t.db", F_OK), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_another_began_meanwhile_is_not_left_over),
		cmocka_unit_test(what_is_left_over_is_removed),
	};
	char folder[] = "/tmp/profan-outplace-XXXXXX";
	int rc;

	if (!mkdtemp(folder) || chdir(folder))
		return 1;
	rc = cmocka_run_group_tests_name("outplace", tests, NULL, NULL);
	unlink("t.db");
	unlink("t.db.partial");
	return chdir("/") || rmdir(folder) || rc;
}
