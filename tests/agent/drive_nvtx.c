/* SPDX-License-Identifier: MIT */
/*
 * NVTX as its headers do it: at the first call the library that
 * NVTX_INJECTION64_PATH names is loaded and fills in a table of functions;
 * what it does not fill in does nothing.
 */
#include "config.h"

#include "drive.h"
#include "nvtx_abi.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <wchar.h>

static pf_nvtx_fn *core[16], *core2[16];
static pf_nvtx_fn **core_slots[16], **core2_slots[16];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static int module_table(int module, pf_nvtx_fn ****table, unsigned *size)
{
	if (module != PF_NVTX_CORE && module != PF_NVTX_CORE2)
		return 0;
	*table = module == PF_NVTX_CORE ? core_slots : core2_slots;
	*size = 16;
	return 1;
}

static const void *get_table(uint32_t table)
{
	static const struct pf_nvtx_callbacks callbacks = { sizeof(callbacks),
							    module_table };

	return table == PF_NVTX_TABLE_CALLBACKS ? &callbacks : NULL;
}

static void load(void)
{
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *h = path ? dlopen(path, RTLD_LAZY) : NULL;
	int (*start)(pf_nvtx_export_fn *) = NULL;

	for (int i = 0; i < 16; i++) {
		core_slots[i] = &core[i];
		core2_slots[i] = &core2[i];
	}
	if (h)
		start = (int (*)(pf_nvtx_export_fn *))dlsym(
			h, "InitializeInjectionNvtx2");
	if (start && !start(get_table) && h)
		dlclose(h);
}

#define CALL(table, i, type, otherwise, ...)                                   \
	(pthread_once(&once, load),                                            \
	 (table)[i] ? ((type)(table)[i])(__VA_ARGS__) : (otherwise))
#define CALL0(table, i, type, ...)                                             \
	do {                                                                   \
		pthread_once(&once, load);                                     \
		if ((table)[i])                                                \
			((type)(table)[i])(__VA_ARGS__);                       \
	} while (0)

typedef int push_a_fn(const char *);
typedef int push_w_fn(const wchar_t *);
typedef int pop_fn(void);
typedef void mark_a_fn(const char *);
typedef uint64_t start_a_fn(const char *);
typedef void end_fn(uint64_t);
typedef int domain_push_fn(void *, const struct pf_nvtx_attributes *);
typedef int domain_pop_fn(void *);
typedef void *text_fn(const char *);
typedef void *string_fn(void *, const char *);
typedef void category_fn(void *, uint32_t, const char *);
typedef void thread_fn(uint32_t, const char *);

static int push(const char *s)
{
	return CALL(core, 9, push_a_fn *, -2, s);
}

static int pop(void)
{
	pthread_once(&once, load);
	return core[11] ? ((pop_fn *)core[11])() : -2;
}

/* Per round: 3 pushes, 3 pops, a mark and a range: 9 events. */
static void round_of(void *domain, void *string, uint64_t i)
{
	struct pf_nvtx_attributes a = { .version = 3,
					.size = sizeof(a),
					.category = 5,
					.colour_type = PF_NVTX_ARGB,
					.colour = 0xff112233,
					.payload_type = 1,
					.payload = i,
					.message_type = PF_NVTX_REGISTERED,
					.message = string };
	uint64_t range;

	push("outer");
	CALL(core, 10, push_w_fn *, -2, L"inner \u20ac");
	CALL(core2, 4, domain_push_fn *, -2, domain, &a);
	CALL0(core, 2, mark_a_fn *, "mark");
	range = CALL(core, 5, start_a_fn *, 0, "process range");
	CALL(core2, 5, domain_pop_fn *, -2, domain);
	pop();
	pop();
	CALL0(core, 7, end_fn *, range);
}

void *drive_nvtx_thread(void *n)
{
	void *domain = CALL(core2, 12, text_fn *, NULL, "a domain");
	void *string = CALL(core2, 10, string_fn *, NULL, domain, "registered");

	CALL0(core2, 8, category_fn *, domain, 5, "a category");
	for (uint64_t i = 0; i < (uintptr_t)n; i++)
		round_of(domain, string, i);
	return NULL;
}

void drive_nvtx_deep(uint64_t n)
{
	int highest = -1, last = 0;

	for (uint64_t i = 0; i < n; i++)
		highest = push("deep");
	for (uint64_t i = 0; i < n; i++)
		last = pop();
	printf("depth=%d\nlast=%d\nbelow=%d\n", highest, last, pop());
}

void drive_nvtx_unique(uint64_t n)
{
	char name[64];

	for (uint64_t i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "aten::view, op_id = %llu",
			 (unsigned long long)i);
		push(name);
		pop();
	}
}

static _Atomic uint64_t pairs_ns;

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void *pairs(void *n)
{
	uint64_t begin = cpu_ns();

	for (uint64_t i = 0; i < (uintptr_t)n; i++) {
		push("a range of usual length");
		pop();
	}
	pairs_ns += cpu_ns() - begin;
	return NULL;
}

void drive_nvtx_time(unsigned threads, uint64_t n)
{
	pthread_t t[64];

	pairs((void *)(uintptr_t)10);
	pairs_ns = 0;
	for (unsigned i = 0; i < threads && i < 64; i++)
		pthread_create(&t[i], NULL, pairs, (void *)(uintptr_t)n);
	for (unsigned i = 0; i < threads && i < 64; i++)
		pthread_join(t[i], NULL);
	printf("pair_ns=%llu\n",
	       (unsigned long long)(pairs_ns / (n * threads)));
}

static void *cancelled(void *unused)
{
	pthread_cancel(pthread_self()); /* at the next cancellation point */
	push("first");
	pop();
	return unused;
}

void drive_nvtx_cancel(void)
{
	pthread_t t;

	pthread_once(&once, load);
	pthread_create(&t, NULL, cancelled, NULL);
	pthread_join(t, NULL);
	push("second");
	pop();
}

static void *first_call(void *nothing)
{
	push("first");
	pop();
	return nothing;
}

void drive_nvtx_small(void)
{
	pthread_attr_t attr;
	pthread_t t;

	pthread_once(&once, load);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, PTHREAD_STACK_MIN);
	if (!pthread_create(&t, &attr, first_call, NULL))
		pthread_join(t, NULL);
	pthread_attr_destroy(&attr);
}

static volatile sig_atomic_t signals;

static void on_alarm(int number)
{
	(void)number;
	push("in a signal handler");
	pop();
	signals++;
}

void drive_nvtx_signal(void)
{
	struct itimerval every = { { 0, 200 }, { 0, 200 } }, never = { 0 };

	push("first"); /* loads the library */
	pop();
	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &every, NULL);
	for (int i = 0; i < 200000; i++) {
		push("not in a signal handler");
		pop();
	}
	setitimer(ITIMER_REAL, &never, NULL);
	printf("signals=%d\n", (int)signals);
}
