/* SPDX-License-Identifier: MIT */
/*
 * What every unit test includes, and the only header that it needs for
 * cmocka, whose header must come after these others.
 */
#ifndef PF_TESTS_SUPPORT_H
#define PF_TESTS_SUPPORT_H

#include "config.h"

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

/* Fails the test with the message if err is set. */
void support_no_error(const struct pf_err *err);

/* Fails the test unless err is set, has the code and holds the text. */
void support_error(const struct pf_err *err, enum pf_code code,
		   const char *text);

/*
 * A new empty folder below the build folder; remove with
 * support_tmp_release(), which deletes the files in it (not folders) and it.
 */
char *support_tmp_take(void);
void support_tmp_release(char *dir);

/* dir/name, to be freed by the caller. */
char *support_path_take(const char *dir, const char *name);

/* Write a whole file; fails the test if it cannot. */
void support_write(const char *path, const void *data, size_t len);

/* Read a whole file into an empty buffer; fails the test if it cannot. */
void support_read(const char *path, struct pf_buf *out);

/* Deterministic random numbers: *state must not be 0 (xorshift64*). */
uint64_t support_random(uint64_t *state);

#endif
