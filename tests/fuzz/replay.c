/* SPDX-License-Identifier: MIT */
/*
 * Runs a fuzz target over files, and over damaged copies of each: cut, and
 * bytes turned over, by a fixed random sequence; more if LONG is set, and
 * most if EVERY is.  usage: fuzz_X FILE...
 */
#include "config.h"

#include "fuzz/fuzz.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define SIZE_MAX_BYTES (1u << 20)

static uint64_t next(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * UINT64_C(2685821657736338717);
}

/* In memory of its exact size, so that sanitizers see every overrun. */
static void run(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	if (!copy)
		exit(99);
	memcpy(copy, data, size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
}

static bool is_set(const char *variable)
{
	const char *value = getenv(variable);

	return value && *value;
}

static void run_damaged(uint8_t *data, size_t size)
{
	int count = is_set("EVERY") ? 30 : is_set("LONG") ? 8 : 2;
	uint64_t random = 88172645463325252u;
	int i, j;

	for (i = 0; i < count && size; i++) {
		size_t at[3];
		uint8_t old[3];

		run(data, next(&random) % size);
		for (j = 0; j < 3; j++) {
			at[j] = next(&random) % size;
			old[j] = data[at[j]];
			data[at[j]] = (uint8_t)(next(&random) >> 24);
		}
		run(data, size);
		while (j-- > 0)
			data[at[j]] = old[j];
	}
}

int main(int argc, char **argv)
{
	uint8_t *data = malloc(SIZE_MAX_BYTES);
	int i;

	if (!data)
		return 99;
	printf("1..%d\n", argc - 1);
	for (i = 1; i < argc; i++) {
		FILE *f = fopen(argv[i], "rb");
		size_t size;

		if (!f) {
			printf("not ok %d - '%s': %s\n", i, argv[i],
			       strerror(errno));
			continue;
		}
		size = fread(data, 1, SIZE_MAX_BYTES, f);
		fclose(f);
		run(data, size);
		run_damaged(data, size);
		printf("ok %d - %s\n", i,
		       strrchr(argv[i], '/') ? strrchr(argv[i], '/') + 1
					     : argv[i]);
		fflush(stdout);
	}
	free(data);
	return 0;
}
