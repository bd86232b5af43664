/* SPDX-License-Identifier: MIT */
/*
 * A program to be captured: plays CUDA's driver and NVTX with a fake CUPTI.
 * Its arguments are actions, done one after the other:
 *
 *   init                load $CUDA_INJECTION64_PATH as cuInit does
 *   late, stop, again   load the agent by ourselves, profan_start/_stop
 *   flush               profan_flush
 *   launch:N            N launches: API call, kernel; each 16th a copy
 *   kernels:N           N launches of kernels alone
 *   configs:N           N kernels, each configured as no other
 *   threads:T:N         T threads with N launches each
 *   rate:N              N launches at 1 million records a second
 *   all                 one record of each kind
 *   unknown, zero, backwards, names, queries
 *                       odd records (see the code)
 *   drop:N              CUPTI says that it dropped N
 *   takeover            another client takes CUPTI's buffers
 *   nvtx:N, nvtxthreads:T:N, nvtxtime:T:N, nvtxdeep:N, unique:N, nvtxsignal
 *   profstart, profstop, destroy   calls that the agent listens to
 *   sleep:MS, fork:ACTION, fork2:ACTION, vfork, exec (the rest, anew)
 *   forkstorm:N, pretend:MS
 *   cost                CPU time in the callback, memory
 *   closefds, limit:BYTES, raise:SIGNAL, touch:FILE
 *   exit, _exit, quick_exit, abort, term, kill, hang
 *
 * Prints what it did, and its pid, as lines of `key=value`.
 */
#include "config.h"

#include "cupti_abi.h"
#include "drive.h"
#include "fakecupti.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static fake_record_fn *record;
static fake_done_fn *done;
static fake_size_fn *size;
static fake_now_fn *now;
static _Atomic uint32_t next_correlation = 1;
static char **program;

static void *symbol(const char *name)
{
	const char *path = getenv("PROFAN_CUPTI");
	static void *h;

	if (!h)
		h = dlopen(path ? path : "libcupti.so.13", RTLD_NOW);
	return h ? dlsym(h, name) : NULL;
}

static void find_fake(void)
{
	record = symbol("fake_record");
	done = symbol("fake_done");
	size = symbol("fake_size");
	now = symbol("fake_now");
}

/* ---- records ---- */

static void put(uint8_t *r, uint32_t kind, uint32_t at, uint64_t v, uint32_t n)
{
	if (at + n <= size(kind))
		memcpy(r + at, &v, n);
}

#define P32(at, v) put(r, kind, at, v, 4)
#define P64(at, v) put(r, kind, at, v, 8)
#define P16(at, v) put(r, kind, at, v, 2)
#define P8(at, v)  put(r, kind, at, v, 1)

static void api(uint32_t kind, uint32_t cbid, uint32_t corr, uint64_t start,
		uint64_t end, uint32_t result)
{
	uint8_t *r = record ? record(kind) : NULL;

	if (!r)
		return;
	P32(PF_API_CBID, cbid);
	P64(PF_API_START, start);
	P64(PF_API_END, end);
	P32(24, getpid());
	P32(PF_API_THREAD, syscall(SYS_gettid));
	P32(PF_API_CORRELATION, corr);
	P32(PF_API_RETURN, result);
	done();
}

static void kernel(uint32_t corr, uint64_t start, uint64_t end,
		   const char *name, uint32_t grid)
{
	uint32_t kind = PF_KIND_KERNEL;
	uint8_t *r = record ? record(kind) : NULL;

	if (!r)
		return;
	P16(PF_KERNEL_REGS, 32);
	P64(PF_KERNEL_START, start);
	P64(PF_KERNEL_END, end);
	P32(PF_KERNEL_DEVICE, 1);
	P32(PF_KERNEL_CONTEXT, 2);
	P32(PF_KERNEL_STREAM, 7);
	for (uint32_t i = 0; i < 3; i++) {
		P32(PF_KERNEL_GRID + 4 * i, grid + i);
		P32(PF_KERNEL_BLOCK + 4 * i, 128 + i);
		P32(PF_KERNEL_CLUSTER + 4 * i, grid % 2 ? 1 + i : 0);
	}
	P32(PF_KERNEL_SMEM_STATIC, 1024);
	P32(PF_KERNEL_SMEM_STATIC + 4, 2048);
	P32(PF_KERNEL_LOCAL, 16);
	P32(PF_KERNEL_CORRELATION, corr);
	P64(PF_KERNEL_NAME, (uintptr_t)name);
	P64(PF_KERNEL_QUEUED, start - 100);
	P64(PF_KERNEL_SUBMITTED, start - 50);
	P8(PF_KERNEL_LAUNCH_TYPE, 1);
	P64(PF_KERNEL_GRAPH_NODE, 77);
	P32(PF_KERNEL_GRAPH, 8);
	P32(PF_KERNEL_CHANNEL, 9);
	done();
}

static void copy(uint32_t kind, uint32_t corr, uint64_t start, uint64_t end)
{
	uint8_t *r = record ? record(kind) : NULL;
	bool peer = kind == PF_KIND_MEMCPY2;

	if (!r)
		return;
	P8(PF_MEMCPY_KIND, peer ? 10 : 1);
	P8(PF_MEMCPY_SRC, peer ? 3 : 2);
	P8(PF_MEMCPY_DST, 3);
	P8(PF_MEMCPY_FLAGS, 1);
	P64(PF_MEMCPY_BYTES, 1 << 20);
	P64(PF_MEMCPY_START, start);
	P64(PF_MEMCPY_END, end);
	P32(PF_MEMCPY_DEVICE, 1);
	P32(PF_MEMCPY_CONTEXT, 2);
	P32(PF_MEMCPY_STREAM, 7);
	P32(peer ? PF_PEER_CORRELATION : PF_MEMCPY_CORRELATION, corr);
	P64(peer ? PF_PEER_GRAPH_NODE : PF_MEMCPY_GRAPH_NODE, 5);
	P32(peer ? PF_PEER_GRAPH : PF_MEMCPY_GRAPH, 6);
	if (peer) {
		P32(PF_PEER_SRC_DEVICE, 3);
		P32(PF_PEER_DST_DEVICE, 4);
	}
	done();
}

/* Any record by its words: pairs of offset, bytes and value, then 0, 0, 0. */
static void any(uint32_t kind, const uint64_t *words)
{
	uint8_t *r = record ? record(kind) : NULL;

	if (!r)
		return;
	for (; words[1]; words += 3)
		put(r, kind, (uint32_t)words[0], words[2], (uint32_t)words[1]);
	done();
}

#define ANY(kind, ...) any(kind, (const uint64_t[]){ __VA_ARGS__, 0, 0, 0 })

static const char *const kernel_names[4] = {
	"_Z6vecaddPKfS0_Pfi",
	"ampere_sgemm_128x64_tn",
	"_ZN2at6native29vectorized_elementwise_kernelILi4EEEvi",
	"triton_poi_fused_add_0",
};

static void launch(uint64_t i)
{
	uint64_t t = now ? now() : 0;
	uint32_t corr = next_correlation++;

	api(PF_KIND_RUNTIME, 211, corr, t, t + 500, 0);
	if (i % 16 == 15)
		copy(PF_KIND_MEMCPY, corr, t + 1000, t + 1500);
	else
		kernel(corr, t + 1000, t + 1000 + i % 1000, kernel_names[i % 4],
		       (uint32_t)(i % 64) + 1);
}

static void launches(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		launch(i);
	printf("launches=%llu\n", (unsigned long long)n);
}

/* Only kernels, and a launch call for each. */
static void kernels(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		uint64_t t = now ? now() : 0;
		uint32_t corr = next_correlation++;
		api(PF_KIND_RUNTIME, 211, corr, t, t + 500, 0);
		kernel(corr, t + 1000, t + 2000, kernel_names[0], 1);
	}
}

/* Each launch is configured as no other. */
static void configs(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		kernel((uint32_t)i, 1000 + i, 2000 + i, kernel_names[0],
		       (uint32_t)i);
}

static void *launch_thread(void *n)
{
	for (uint64_t i = 0; i < (uintptr_t)n; i++)
		launch(i);
	return NULL;
}

static void threads(unsigned count, void *(*fn)(void *), uint64_t n)
{
	pthread_t t[256];

	for (unsigned i = 0; i < count && i < 256; i++)
		pthread_create(&t[i], NULL, fn, (void *)(uintptr_t)n);
	for (unsigned i = 0; i < count && i < 256; i++)
		pthread_join(t[i], NULL);
	printf("threads=%u\n", count);
}

/* Two records each 2 us. */
static void rate(uint64_t n)
{
	struct timespec t;
	uint64_t begin, due;

	clock_gettime(CLOCK_MONOTONIC, &t);
	begin = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
	for (uint64_t i = 0; i < n; i++) {
		launch(i);
		if (i % 1000 != 999)
			continue;
		due = begin + (i + 1) * 2000;
		t.tv_sec = (time_t)(due / 1000000000u);
		t.tv_nsec = (long)(due % 1000000000u);
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
	}
	printf("launches=%llu\n", (unsigned long long)n);
}

static void all_kinds(void)
{
	uint64_t t = now(), pid = (uint64_t)getpid();
	uint64_t tid = (uint64_t)syscall(SYS_gettid);
	void *details = malloc(12); /* the agent is to free it */

	ANY(PF_KIND_DEVICE, 8, 8, 2039000000, 16, 8, UINT64_C(85899345920), 28,
	    4, 52428800, 32, 4, 32, 36, 4, 1980000, 40, 4, 3, 44, 4, 132, 52, 4,
	    64, 56, 4, 32, 60, 4, 233472, 64, 4, 65536, 104, 4, 9, 108, 4, 0,
	    112, 4, 1, 120, 8, UINT64_C(0x0807060504030201), 128, 8,
	    UINT64_C(0x100F0E0D0C0B0A09), 136, 8,
	    (uintptr_t) "FAKE H100 100%\n", 145, 1, 1);
	ANY(PF_KIND_CONTEXT, 4, 4, 2, 8, 4, 1, 12, 2, 1, 14, 2, 7, 16, 4, 5, 20,
	    1, 1, 22, 2, 66);
	ANY(PF_KIND_STREAM, 4, 4, 2, 8, 4, 7, 12, 4, 3, 16, 4, 1, 20, 4, 44);
	kernel(101, t + 1000, t + 2000, kernel_names[0], 1);
	kernel(102, t + 3000, t + 4000, kernel_names[1], 2);
	copy(PF_KIND_MEMCPY, 103, t + 5000, t + 6000);
	copy(PF_KIND_MEMCPY2, 104, t + 7000, t + 8000);
	ANY(PF_KIND_MEMSET, 4, 4, 255, 8, 8, 4096, 16, 8, t + 9000, 24, 8,
	    t + 9500, 32, 4, 1, 36, 4, 2, 40, 4, 7, 44, 4, 105, 50, 2, 3, 64, 8,
	    4, 72, 4, 6);
	api(PF_KIND_RUNTIME, 211, 101, t, t + 500, 0);
	api(PF_KIND_DRIVER, 307, 102, t + 600, t + 700, 1);
	api(PF_KIND_INTERNAL, 0, 106, t + 800, t + 900, 0);
	ANY(PF_KIND_SYNC, 4, 4, 3, 8, 8, t + 10, 16, 8, t + 20, 24, 4, 107, 28,
	    4, 2, 32, 4, 7, 36, 4, 0xffffffff, 40, 8, 99, 48, 4, 600);
	ANY(PF_KIND_SYNC, 4, 4, 4, 8, 8, t + 30, 16, 8, t + 40, 24, 4, 108, 28,
	    4, 2, 32, 4, 0xffffffff, 36, 4, 0xffffffff);
	ANY(PF_KIND_EVENT, 4, 4, 109, 8, 4, 2, 12, 4, 7, 16, 4, 11, 24, 4, 1,
	    40, 8, t + 50, 48, 8, 99);
	ANY(PF_KIND_OVERHEAD, 4, 4, 6 << 16, 8, 4, 2, 12, 4, pid, 16, 4, tid,
	    20, 4, 12345, 24, 8, t + 60, 32, 8, t + 70, 40, 4, 110, 48, 8,
	    (uintptr_t)details);
	ANY(PF_KIND_OVERHEAD, 4, 4, 1 << 16, 8, 4, 5, 12, 4, 1, 16, 4, 2, 20, 4,
	    7, 24, 8, t + 80, 32, 8, t + 90);
	ANY(PF_KIND_MEMORY2, 4, 4, 1, 8, 4, 3, 12, 4, 111, 16, 8,
	    0x7f0000000000, 24, 8, 1 << 21, 32, 8, t + 100, 40, 8, 0x401000, 48,
	    4, pid, 52, 4, 1, 56, 4, 2, 60, 4, 7, 64, 8, (uintptr_t) "weights",
	    72, 4, 1, 80, 4, 1, 88, 8, 0x7e0000000000);
	ANY(PF_KIND_GRAPH, 4, 4, 112, 8, 8, t + 110, 16, 8, t + 120, 24, 4, 1,
	    28, 4, 3, 32, 4, 2, 36, 4, 7, 48, 4, 4, 52, 4, 5);
	ANY(PF_KIND_JIT, 4, 4, 1, 8, 4, 2, 12, 4, 1, 16, 8, t + 130, 24, 8,
	    t + 140, 32, 4, 113, 64, 4, pid, 68, 4, tid);
	ANY(PF_KIND_UVM, 4, 4, 2, 8, 8, 65536, 16, 8, t + 150, 24, 8, t + 160,
	    32, 8, 0x7d0000000000, 40, 4, 1, 44, 4, 2);
	ANY(PF_KIND_ENVIRONMENT, 4, 4, 1, 8, 8, t + 170, 16, 4, 3, 20, 4,
	    300000, 24, 4, 700000);
	ANY(PF_KIND_EXTERNAL, 4, 4, 3, 8, 8, 4242, 16, 4, 101);
	if (size(PF_KIND_OVERHEAD) < 56)
		free(details);
	printf("time=%llu\ntid=%llu\n", (unsigned long long)t,
	       (unsigned long long)tid);
}

static char *long_name(size_t len, char c)
{
	char *s = malloc(len + 1);

	memset(s, c, len);
	s[len] = '\0';
	return s;
}

/* Names: none, empty, 65 535 bytes, more, not UTF-8, one pointer twice. */
static void names(void)
{
	uint64_t t = now();
	char *reused = long_name(8, 'r'), *exact = long_name(65535, 'e');
	char *longer = long_name(70000, 'l');

	kernel(1, t, t + 1, NULL, 1);
	kernel(2, t, t + 1, "", 1);
	kernel(3, t, t + 1, exact, 1);
	kernel(4, t, t + 1, longer, 1);
	kernel(5, t, t + 1, longer, 1);
	kernel(6, t, t + 1, "\xff\xfe bad", 1);
	kernel(7, t, t + 1, reused, 1);
	((void (*)(uint32_t))symbol("cuptiActivityFlushAll"))(0);
	memset(reused, 's', 4); /* as a module loaded in another's place */
	kernel(8, t, t + 1, reused, 1);
	kernel(9, t, t + 1, reused, 1);
	((void (*)(uint32_t))symbol("cuptiActivityFlushAll"))(0);
	free(reused);
	free(exact);
	free(longer);
}

static void zero(void)
{
	uint64_t t = now();

	kernel(1, 0, 0, kernel_names[0], 1);
	kernel(2, t, 0, kernel_names[0], 1);
	kernel(3, t + 10, t + 20, kernel_names[0], 1);
	api(PF_KIND_RUNTIME, 211, 4, 0, 0, 0);
	ANY(PF_KIND_EVENT, 4, 4, 5, 12, 4, 7);
}

static void backwards(void)
{
	kernel(1, 5000, 4000, kernel_names[0], 1);
}

static void unknown(void)
{
	uint64_t t = now();
	void (*enable)(uint32_t) =
		(void (*)(uint32_t))symbol("cuptiActivityEnable");

	enable(46);
	ANY(46, 8, 8, t); /* a kind that the library knows and we do not */
	kernel(1, t, t + 1, kernel_names[0], 1);
}

static void queries(void)
{
	uint64_t t = now();
	int (*recorded)(uint32_t, uint32_t) =
		(int (*)(uint32_t, uint32_t))symbol("fake_recorded");

	api(PF_KIND_RUNTIME, 136, 1, t, t + 1, 600);
	api(PF_KIND_RUNTIME, 136, 2, t, t + 1, 0);
	api(PF_KIND_RUNTIME, 17, 3, t, t + 1, 0);
	api(PF_KIND_DRIVER, 152, 4, t, t + 1, 0);
	api(PF_KIND_DRIVER, 652, 5, t, t + 1, 0);
	api(PF_KIND_RUNTIME, 505, 6, t, t + 1, 0);
	api(PF_KIND_RUNTIME, 3000000, 7, t, t + 1, 0);
	printf("recorded=%d%d%d\n", recorded(2, 17), recorded(1, 304),
	       recorded(2, 211));
}

/* ---- life ---- */

static void sleep_ms(uint64_t ms)
{
	struct timespec t = { (time_t)(ms / 1000),
			      (long)(ms % 1000) * 1000000 };

	nanosleep(&t, NULL);
}

static int load(const char *variable, const char *entry, int flags)
{
	const char *path = getenv(variable);
	void *h = path ? dlopen(path, RTLD_NOW | flags) : NULL;
	int (*fn)(void) = h ? (int (*)(void))dlsym(h, entry) : NULL;

	if (path && !fn)
		fprintf(stderr, "drive: %s: %s\n", path, dlerror());
	return fn ? fn() : -9;
}

static void init(void)
{
	find_fake();
	errno = 77;
	printf("init=%d\n",
	       load("CUDA_INJECTION64_PATH", "InitializeInjection", 0));
	if (now == NULL)
		find_fake();
	printf("errno=%d\n", errno);
}

static void child_of(const char *action, bool with_exit)
{
	pid_t pid;
	int status;
	char *again[] = { (char *)(uintptr_t)action, NULL };

	fflush(stdout);
	pid = fork();
	if (!pid) {
		printf("child=%d\n", (int)getpid());
		drive_actions(again);
		fflush(stdout);
		if (with_exit)
			exit(0);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	printf("waited=%d\n", status);
}

/* Children, one after the other, while four threads are busy. */
static void fork_storm(uint64_t n)
{
	pthread_t t[4];
	int status, good = 0;

	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL,
			       i % 2 ? launch_thread : drive_nvtx_thread,
			       (void *)(uintptr_t)20000);
	fflush(stdout);
	for (uint64_t i = 0; i < n; i++) {
		pid_t pid = fork();
		if (!pid) {
			drive_nvtx_thread((void *)(uintptr_t)3);
			exit(0);
		}
		waitpid(pid, &status, 0);
		good += status == 0;
	}
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	printf("good=%d\n", good);
}

/* The driver's callbacks of launches that leave no records. */
static void pretend(uint64_t ms)
{
	fake_call_fn *c = (fake_call_fn *)symbol("fake_call");

	for (uint64_t i = 0; i < ms / 10; i++) {
		c(PF_DOMAIN_DRIVER, 307, PF_SITE_ENTER, "cuLaunchKernel");
		sleep_ms(10);
	}
}

static void vfork_child(void)
{
	pid_t pid = vfork();
	int status;

	if (!pid)
		_exit(3);
	waitpid(pid, &status, 0);
	printf("waited=%d\n", WEXITSTATUS(status));
}

static void exec_rest(char **rest)
{
	char *args[64] = { program[0] };

	for (int i = 0; rest[i] && i < 62; i++)
		args[i + 1] = rest[i];
	fflush(stdout);
	execv("/proc/self/exe", args);
}

/* What the agent costs so far; call after a flush. */
static void cost(void)
{
	uint64_t ns, records;
	struct rusage u;

	((fake_cost_fn *)symbol("fake_cost"))(&ns, &records);
	getrusage(RUSAGE_SELF, &u);
	printf("records=%llu\ncallback_ns=%llu\nmax_rss_kb=%ld\n",
	       (unsigned long long)records, (unsigned long long)ns,
	       u.ru_maxrss);
}

static void limit(uint64_t bytes)
{
	struct rlimit l = { bytes, bytes };

	setrlimit(RLIMIT_FSIZE, &l);
}

/* As daemons do. */
static void close_fds(void)
{
	for (int fd = 3; fd < 1024; fd++)
		close(fd);
	for (int i = 0; i < 200; i++)
		if (dup(1) < 0)
			break;
}

/* Are all of close_fds's there? */
static void count_fds(void)
{
	int good = 0;

	for (int fd = 3; fd < 203; fd++)
		good += fcntl(fd, F_GETFD) >= 0;
	printf("fds=%d\n", good);
}

/* stderr is a pipe that nobody reads: its other end closed, or full. */
static void bad_stderr(bool full)
{
	char junk[4096] = { 0 };
	int p[2], flags;

	signal(SIGPIPE, SIG_DFL);
	if (pipe(p))
		exit(2);
	flags = fcntl(p[1], F_GETFL);
	fcntl(p[1], F_SETFL, flags | O_NONBLOCK);
	while (full && write(p[1], junk, sizeof(junk)) > 0)
		;
	fcntl(p[1], F_SETFL, flags);
	if (!full)
		close(p[0]);
	dup2(p[1], 2);
	close(p[1]);
}

static void no_reader(void)
{
	bad_stderr(false);
}

static void full_pipe(void)
{
	bad_stderr(true);
}

/* The last thread that returns ends the program. */
static void leave(void)
{
	pthread_t t;

	pthread_create(&t, NULL, drive_nvtx_thread, (void *)(uintptr_t)10);
	pthread_exit(NULL);
}

static void call(uint32_t cbid, const char *name)
{
	fake_call_fn *c = (fake_call_fn *)symbol("fake_call");

	c(PF_DOMAIN_DRIVER, cbid, PF_SITE_ENTER, name);
	c(PF_DOMAIN_DRIVER, cbid, PF_SITE_EXIT, name);
}

static void end(const char *how)
{
	fflush(stdout);
	if (!strcmp(how, "exit"))
		exit(0);
	else if (!strcmp(how, "_exit"))
		_exit(0);
	else if (!strcmp(how, "quick_exit"))
		quick_exit(0);
	else if (!strcmp(how, "abort"))
		abort();
	else if (!strcmp(how, "term"))
		raise(SIGTERM);
	else if (!strcmp(how, "kill"))
		raise(SIGKILL);
	else if (!strcmp(how, "hang"))
		for (;; sleep_ms(1))
			for (uint64_t i = 0; i < 100; i++)
				launch(i);
	fprintf(stderr, "drive: no action '%s'\n", how);
	exit(2);
}

static bool simple(const char *a)
{
	static const struct {
		const char *name;
		void (*fn)(void);
	} table[] = {
		{ "init", init },
		{ "all", all_kinds },
		{ "names", names },
		{ "zero", zero },
		{ "backwards", backwards },
		{ "unknown", unknown },
		{ "queries", queries },
		{ "vfork", vfork_child },
		{ "closefds", close_fds },
		{ "nvtxsignal", drive_nvtx_signal },
		{ "cost", cost },
		{ "fds", count_fds },
		{ "noreader", no_reader },
		{ "fullpipe", full_pipe },
		{ "leave", leave },
		{ "cancel", drive_nvtx_cancel },
		{ "smallstack", drive_nvtx_small },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (!strcmp(a, table[i].name)) {
			table[i].fn();
			return true;
		}
	return false;
}

static void entry(const char *key, const char *name)
{
	int rc = load("CUDA_INJECTION64_PATH", name, 0);

	if (!now)
		find_fake();
	printf("%s=%d\n", key, rc);
}

static bool agent_call(const char *a)
{
	if (!strcmp(a, "late") || !strcmp(a, "again"))
		entry("start", "profan_start");
	else if (!strcmp(a, "stop"))
		entry("stop", "profan_stop");
	else if (!strcmp(a, "flush"))
		entry("flush", "profan_flush");
	else if (!strcmp(a, "profstart"))
		call(PF_CBID_PROFILER_START, "cuProfilerStart");
	else if (!strcmp(a, "profstop"))
		call(PF_CBID_PROFILER_STOP, "cuProfilerStop");
	else if (!strcmp(a, "destroy"))
		((fake_call_fn *)symbol("fake_call"))(
			PF_DOMAIN_RESOURCE, PF_RESOURCE_CONTEXT_DESTROY, 0, "");
	else if (!strcmp(a, "takeover"))
		((fake_takeover_fn *)symbol("fake_takeover"))();
	else
		return false;
	return true;
}

static bool starts(const char *a, const char *with, const char **rest)
{
	size_t n = strlen(with);

	*rest = a + n;
	return !strncmp(a, with, n);
}

static bool counted(const char *a)
{
	const char *v;

	if (starts(a, "launch:", &v))
		launches(strtoull(v, NULL, 10));
	else if (starts(a, "kernels:", &v))
		kernels(strtoull(v, NULL, 10));
	else if (starts(a, "configs:", &v))
		configs(strtoull(v, NULL, 10));
	else if (starts(a, "rate:", &v))
		rate(strtoull(v, NULL, 10));
	else if (starts(a, "threads:", &v))
		threads((unsigned)strtoul(v, NULL, 10), launch_thread,
			strtoull(strchr(v, ':') + 1, NULL, 10));
	else if (starts(a, "nvtxthreads:", &v))
		threads((unsigned)strtoul(v, NULL, 10), drive_nvtx_thread,
			strtoull(strchr(v, ':') + 1, NULL, 10));
	else if (starts(a, "nvtx:", &v))
		drive_nvtx_thread((void *)(uintptr_t)strtoull(v, NULL, 10));
	else if (starts(a, "nvtxtime:", &v))
		drive_nvtx_time((unsigned)strtoul(v, NULL, 10),
				strtoull(strchr(v, ':') + 1, NULL, 10));
	else if (starts(a, "nvtxdeep:", &v))
		drive_nvtx_deep(strtoull(v, NULL, 10));
	else if (starts(a, "unique:", &v))
		drive_nvtx_unique(strtoull(v, NULL, 10));
	else if (starts(a, "drop:", &v))
		((fake_drop_fn *)symbol("fake_drop"))(strtoull(v, NULL, 10));
	else if (starts(a, "sleep:", &v))
		sleep_ms(strtoull(v, NULL, 10));
	else if (starts(a, "forkstorm:", &v))
		fork_storm(strtoull(v, NULL, 10));
	else if (starts(a, "pretend:", &v))
		pretend(strtoull(v, NULL, 10));
	else if (starts(a, "limit:", &v))
		limit(strtoull(v, NULL, 10));
	else if (starts(a, "touch:", &v))
		fclose(fopen(v, "w"));
	else if (starts(a, "raise:", &v))
		raise((int)strtol(v, NULL, 10));
	else if (starts(a, "fork:", &v))
		child_of(v, false);
	else if (starts(a, "fork2:", &v))
		child_of(v, true);
	else
		return false;
	return true;
}

void drive_actions(char **list)
{
	for (; *list; list++) {
		if (!strcmp(*list, "exec"))
			exec_rest(list + 1);
		if (!simple(*list) && !agent_call(*list) && !counted(*list))
			end(*list);
	}
}

int main(int argc, char **argv)
{
	(void)argc;
	program = argv;
	printf("pid=%d\n", (int)getpid());
	drive_actions(argv + 1);
	return 0;
}
