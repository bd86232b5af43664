/* SPDX-License-Identifier: MIT */
/*
 * nvtxrun [--threads N] [--loops N] [--kill]: a program with NVTX ranges, as
 * one that was built with NVIDIA's headers: it loads what
 * NVTX_INJECTION64_PATH names and calls through the slots it was given.
 */
#include "config.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Slots of module 1 of NVTX 3. */
enum {
	MARK = 2,
	RANGE_START = 5,
	RANGE_END = 7,
	PUSH = 9,
	POP = 11,
	SLOTS = 16
};

typedef void (*slot_fn)(void);
static slot_fn slots[SLOTS];
static slot_fn *table[SLOTS];

static int get_module(uint32_t module, slot_fn ***out, unsigned *size)
{
	if (module != 1)
		return 0;
	for (int i = 0; i < SLOTS; i++)
		table[i] = &slots[i];
	*out = table;
	*size = SLOTS;
	return 1;
}

static const struct {
	size_t size;
	int (*get)(uint32_t module, slot_fn ***out, unsigned *size);
} callbacks = { sizeof(callbacks), get_module };

static const void *get_export_table(uint32_t id)
{
	return id == 1 ? &callbacks : NULL;
}

static void load(void)
{
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *lib = path ? dlopen(path, RTLD_LAZY) : NULL;
	int (*init)(const void *(*get)(uint32_t));

	if (!lib)
		return;
	*(void **)&init = dlsym(lib, "InitializeInjectionNvtx2");
	if (init)
		init(get_export_table);
}

static void push(const char *name)
{
	if (slots[PUSH])
		((int (*)(const char *))slots[PUSH])(name);
}

static void pop(void)
{
	if (slots[POP])
		((int (*)(void))slots[POP])();
}

/* Long enough for a clock to see. */
static void work(void)
{
	const struct timespec t = { .tv_nsec = 20000 };

	nanosleep(&t, NULL);
}

static void *ranges(void *arg)
{
	long loops = *(long *)arg;
	char name[48];

	for (long i = 0; i < loops; i++) {
		snprintf(name, sizeof(name), "ProfilerStep#%ld", i);
		push(name);
		push("aten::linear, seq = 4, op_id = 77, sizes = [[2, 3], []]");
		push("inner");
		work();
		pop();
		pop();
		if (slots[MARK])
			((void (*)(const char *))slots[MARK])("a mark");
		pop();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	long threads = 1, loops = 3;
	uint64_t id = 0;
	pthread_t others[16];
	int kill_us = 0;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--threads") && i + 1 < argc)
			threads = strtol(argv[++i], NULL, 10);
		else if (!strcmp(argv[i], "--loops") && i + 1 < argc)
			loops = strtol(argv[++i], NULL, 10);
		else if (!strcmp(argv[i], "--kill"))
			kill_us = 1;
		else
			return 2;
	}
	load();
	if (slots[RANGE_START])
		id = ((uint64_t(*)(const char *))slots[RANGE_START])("all");
	for (long i = 1; i < threads && i <= 16; i++)
		pthread_create(&others[i - 1], NULL, ranges, &loops);
	ranges(&loops);
	for (long i = 1; i < threads && i <= 16; i++)
		pthread_join(others[i - 1], NULL);
	if (kill_us) {
		const struct timespec t = { .tv_sec = 1 };

		push("never popped");
		nanosleep(&t, NULL); /* more than a flush period */
		raise(SIGKILL);
	}
	if (slots[RANGE_END])
		((void (*)(uint64_t))slots[RANGE_END])(id);
	puts("done");
	return 0;
}
