/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "cmd/timings.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#define PHASES_MAX 8

/* The last is that of the thread that starts; others ask for it, too. */
static clockid_t clocks[] = { CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID,
			      CLOCK_THREAD_CPUTIME_ID };
#define CLOCKS (sizeof(clocks) / sizeof(*clocks))

struct phase {
	const char *name;
	int64_t ns[CLOCKS];
};

/* The callback that says a phase has no argument: one ingest at a time. */
static struct {
	struct phase phase[PHASES_MAX];
	size_t count, current;
	int64_t since_ns[CLOCKS];
} state;

static size_t find(const char *name)
{
	size_t i = 0;

	while (i < state.count && strcmp(state.phase[i].name, name))
		i++;
	if (i == state.count && i < PHASES_MAX)
		state.phase[state.count++] = (struct phase){ .name = name };
	return i < PHASES_MAX ? i : PHASES_MAX - 1;
}

/* What passed since the last call belongs to the current phase. */
static void add_up(void)
{
	for (size_t i = 0; i < CLOCKS; i++) {
		struct timespec now;
		int64_t ns;

		clock_gettime(clocks[i], &now);
		ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
		if (state.count)
			state.phase[state.current].ns[i] +=
				ns - state.since_ns[i];
		state.since_ns[i] = ns;
	}
}

void pf_timings_start(void)
{
	memset(&state, 0, sizeof(state));
	pthread_getcpuclockid(pthread_self(), &clocks[CLOCKS - 1]);
	pf_timings_phase(NULL);
}

void pf_timings_phase(const char *name)
{
	add_up();
	state.current = find(name ? name : "reading");
}

static void show(FILE *f, const struct phase *p)
{
	fprintf(f, "%-10s", p->name);
	for (size_t i = 0; i < CLOCKS; i++)
		fprintf(f, " %13.1f", (double)p->ns[i] / 1e6);
	fputc('\n', f);
}

void pf_timings_show(FILE *f)
{
	struct phase all = { .name = "all" };

	add_up();
	fprintf(f, "%-10s %13s %13s %13s\n", "phase", "passed (ms)", "CPU (ms)",
		"1st thread");
	for (size_t i = 0; i < state.count; i++) {
		show(f, &state.phase[i]);
		for (size_t k = 0; k < CLOCKS; k++)
			all.ns[k] += state.phase[i].ns[k];
	}
	show(f, &all);
}
