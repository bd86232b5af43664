/* SPDX-License-Identifier: MIT */
/*
 * A fuzz target is one function; replay.c runs it over files where libFuzzer
 * is missing, so that make check runs every corpus everywhere.
 */
#ifndef PF_TESTS_FUZZ_H
#define PF_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The property that must hold; abort() is what libFuzzer understands. */
#define FUZZ_CHECK(condition)                                                  \
	do {                                                                   \
		if (!(condition)) {                                            \
			fprintf(stderr, "%s:%d: not true: %s\n", __FILE__,     \
				__LINE__, #condition);                         \
			abort();                                               \
		}                                                              \
	} while (0)

#endif
