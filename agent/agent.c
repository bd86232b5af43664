/* SPDX-License-Identifier: MIT */
/*
 * The library's ways in and out: who loads it, fork, exit.  What a program
 * sees of the agent is errno kept, signals untouched, and a 1 from every
 * function it may call.
 */
#include "config.h"

#include "agent.h"
#include "crc32c.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

#define META_BYTES   (192u << 10)
#define INFO_BYTES   (1u << 20)
#define WRITER_STACK (256u << 10)

_Thread_local struct pf_local pf_local;

static struct pf_agent *_Atomic current;
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
static _Atomic bool cannot; /* the state could not be made */
static pthread_once_t hooks_once = PTHREAD_ONCE_INIT;
static uint32_t generations;
static _Atomic uint32_t files;

struct pf_agent *pf_agent_now(void)
{
	return atomic_load_explicit(&current, memory_order_acquire);
}

/* ---- the end ---- */

bool pf_agent_flush(struct pf_agent *a, uint64_t deadline_ns)
{
	uint32_t ticket = atomic_fetch_add(&a->flush_asked, 1) + 1;
	uint32_t seen = atomic_load(&a->done.count);

	pf_wake_post(&a->ticker);
	while ((int32_t)(atomic_load(&a->drained) - ticket) < 0) {
		if (pf_now_ns() >= deadline_ns ||
		    atomic_load(&a->finish) != PF_RUNNING)
			return false;
		seen = pf_wake_wait(&a->done, seen, deadline_ns);
	}
	return true;
}

void pf_agent_finish(struct pf_agent *a)
{
	uint64_t now = pf_now_ns(), deadline = now + a->options->exit_ns;
	uint64_t patience = deadline - a->options->exit_ns / 8;
	uint32_t expected = PF_RUNNING, seen;

	if (a->owner != getpid() ||
	    !atomic_compare_exchange_strong(&a->finish, &expected,
					    PF_FINISH_ASKED))
		return;
	seen = atomic_load(&a->done.count);
	pf_wake_post(&a->ticker);
	while (atomic_load(&a->finish) != PF_FINISHED &&
	       pf_now_ns() < deadline) {
		bool asked = atomic_load(&a->finish) == PF_FINISH_ASKED;
		seen = pf_wake_wait(&a->done, seen,
				    asked ? patience : deadline);
		expected = PF_FINISH_ASKED;
		if (pf_now_ns() < patience ||
		    atomic_load(&a->finish) != PF_FINISH_ASKED)
			continue;
		PF_COUNT_ADD(a->counts.exit_timeout, 1);
		if (atomic_compare_exchange_strong(&a->finish, &expected,
						   PF_FINISH_LATE))
			pf_wake_post(&a->writer);
	}
}

void pf_agent_last(struct pf_agent *a)
{
	uint32_t expected = PF_RUNNING;

	atomic_compare_exchange_strong(&a->finish, &expected, PF_FINISH_ASKED);
}

static void finish(void)
{
	struct pf_agent *a = pf_agent_now();
	struct pf_inside in;

	if (!a || !pf_enter(&in))
		return;
	pf_agent_finish(a);
	pf_leave(&in);
}

/* ---- fork ---- */

/*
 * Only this thread is left: drop what the others worked with.  The memory
 * stays mapped, for a CUPTI that was copied with it may still hold buffers.
 */
static void in_child(void)
{
	struct pf_agent *a = pf_agent_now();
	static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;

	memcpy(&making, &fresh, sizeof(making));
	pf_nvtx_child();
	pf_local.ring = NULL;
	pf_local.inside = 0;
	atomic_store(&current, NULL);
	if (a && pf_file_ours(&a->file))
		close(a->file.fd);
}

static void set_hooks(void)
{
	pthread_atfork(NULL, NULL, in_child);
	atexit(finish);
}

/* ---- making the state ---- */

static size_t aligned(size_t n)
{
	return (n + 4095) & ~(size_t)4095;
}

static struct pf_agent *map_state(const struct pf_options *o)
{
	size_t sizes[] = { sizeof(struct pf_agent),
			   pf_defs_memory(),
			   pf_queue_memory(),
			   pf_rings_memory(),
			   META_BYTES,
			   INFO_BYTES,
			   pf_pool_memory(o->buffer_bytes, o->buffers_bytes) };
	size_t total = 0;
	struct pf_agent *a;
	uint8_t *p;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		total += sizes[i] = aligned(sizes[i]);
	p = mmap(NULL, total, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	a = (struct pf_agent *)(void *)p;
	pf_defs_init(&a->defs, p += sizes[0]);
	pf_queue_init(&a->queue, p += sizes[1]);
	pf_rings_init(&a->rings, p += sizes[2]);
	pf_log_init(&a->meta, p += sizes[3], META_BYTES);
	pf_log_init(&a->info, p += sizes[4], INFO_BYTES);
	pf_pool_init(&a->pool, p + sizes[5], o->buffer_bytes, o->buffers_bytes);
	return a;
}

static void init_state(struct pf_agent *a, const struct pf_options *o)
{
	struct pf_encoder *e = &a->encoder;

	a->generation = ++generations;
	a->owner = getpid();
	a->options = o;
	a->started_ns = pf_now_ns();
	pf_clock_read(a->clock_begin);
	pf_encoder_init(e);
	e->counts = &a->counts;
	e->cupti = &a->cupti;
	e->defs = &a->defs;
	e->info = &a->info;
	e->queue = &a->queue;
	e->threads = &a->threads;
	e->writer = &a->writer;
	e->all_api = o->all_api;
	a->file.fd = -1;
	if (pf_options_path(o, atomic_fetch_add(&files, 1), a->file.path,
			    sizeof(a->file.path) - 8)) {
		pf_warn("PROFAN_OUT: the name is too long");
		a->file.failed = 1;
	}
	pf_meta_process(&a->meta, o);
	pf_nvtx_define(a);
	if (o->start == PF_START_ON && !o->delay_ns) {
		a->window = PF_OPEN;
		a->opened_ns = a->started_ns;
	}
}

/* A thread of ours: no signal is ever handled on it. */
static int start_thread(void *(*main)(void *), struct pf_agent *a,
			size_t stack_bytes)
{
	pthread_attr_t attr;
	sigset_t all, before;
	pthread_t thread;
	int rc;

	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	if (stack_bytes)
		pthread_attr_setstacksize(&attr, stack_bytes);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&thread, &attr, main, a);
	if (rc == EINVAL && stack_bytes) { /* too little beside the TLS */
		pthread_attr_destroy(&attr);
		pthread_attr_init(&attr);
		pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
		rc = pthread_create(&thread, &attr, main, a);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return rc;
}

static void on_signal(int number)
{
	struct pf_agent *a = pf_agent_now();
	int saved = errno;

	(void)number;
	if (a)
		pf_window_signal(a);
	errno = saved;
}

static void take_signal(const struct pf_options *o)
{
	struct sigaction ours = { .sa_handler = on_signal,
				  .sa_flags = SA_RESTART },
			 before;

	if (o->start != PF_START_SIGNAL ||
	    sigaction(o->signal, NULL, &before) ||
	    before.sa_handler == on_signal)
		return;
	if (before.sa_handler != SIG_DFL) {
		pf_warn("signal %d is the program's: it opens no window",
			o->signal);
		return;
	}
	sigaction(o->signal, &ours, NULL);
}

static struct pf_agent *make(void)
{
	const struct pf_options *o = pf_options_get();
	struct pf_agent *a;

	pf_crc32c_init();
	pthread_once(&hooks_once, set_hooks);
	a = map_state(o);
	if (!a) {
		pf_warn("no memory, nothing is captured");
		return NULL;
	}
	init_state(a, o);
	atomic_store(&current, a);
	take_signal(o);
	if (start_thread(pf_writer_main, a, WRITER_STACK) ||
	    start_thread(pf_ticker_main, a, 0)) {
		pf_warn("no thread can be started, nothing is captured");
		atomic_store(&a->closed, true);
		atomic_store(&a->encoder.closed, true);
		atomic_store(&a->finish, PF_FINISHED);
	}
	return a;
}

struct pf_agent *pf_agent_get(void)
{
	struct pf_agent *a = pf_agent_now();
	int before;

	if (a || atomic_load(&cannot))
		return a;
	/* a thread that is cancelled in there would keep the lock for ever */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	pthread_mutex_lock(&making);
	a = pf_agent_now();
	if (!a && !atomic_load(&cannot)) {
		a = make();
		if (!a)
			atomic_store(&cannot, true);
	}
	pthread_mutex_unlock(&making);
	pthread_setcancelstate(before, NULL);
	return a;
}

/* ---- ways in ---- */

EXPORT int InitializeInjection(void);
EXPORT int profan_start(void);
EXPORT int profan_stop(void);
EXPORT int profan_flush(void);
EXPORT void _exit(int) __attribute__((noreturn));
EXPORT void _Exit(int) __attribute__((noreturn));
EXPORT void quick_exit(int) __attribute__((noreturn));

/* The driver calls this in cuInit.  0 would have the library unloaded. */
int InitializeInjection(void)
{
	struct pf_inside in;
	struct pf_agent *a;

	if (!pf_enter(&in))
		return 1;
	a = pf_agent_get();
	if (a)
		pf_capture_start(a);
	pf_leave(&in);
	return 1;
}

/* Begin to record, wherever the program is.  1: CUPTI's events too, else -1. */
int profan_start(void)
{
	struct pf_inside in;
	struct pf_agent *a;
	int rc = -1;

	if (!pf_enter(&in))
		return -1;
	a = pf_agent_get();
	if (a) {
		pf_capture_start(a);
		pf_window_open(a);
		rc = atomic_load(&a->capture) == PF_CAPTURING ? 1 : -1;
	}
	pf_leave(&in);
	return rc;
}

/* Stop recording and have it written; waits PROFAN_EXIT_MS at most. */
int profan_stop(void)
{
	struct pf_inside in;
	struct pf_agent *a = pf_agent_now();
	int rc = -1;

	if (!a || !pf_enter(&in))
		return -1;
	if (!pf_window_close(a) &&
	    pf_agent_flush(a, pf_now_ns() + a->options->exit_ns))
		rc = 1;
	pf_leave(&in);
	return rc;
}

/* Have what is complete written; waits PROFAN_EXIT_MS at most. */
int profan_flush(void)
{
	struct pf_inside in;
	struct pf_agent *a = pf_agent_now();
	int rc = -1;

	if (!a || a->owner != getpid() || !pf_enter(&in))
		return -1;
	if (pf_agent_flush(a, pf_now_ns() + a->options->exit_ns))
		rc = 1;
	pf_leave(&in);
	return rc;
}

/*
 * Under LD_PRELOAD these come before the C library's.  A child of vfork has
 * our memory and not our pid: pf_agent_finish leaves it alone.
 */
static void (*real_quick_exit)(int);

void _exit(int status)
{
	finish();
	for (;;)
		syscall(SYS_exit_group, status);
}

void _Exit(int status)
{
	_exit(status);
}

void quick_exit(int status)
{
	finish();
	if (real_quick_exit)
		real_quick_exit(status);
	_exit(status);
}

/*
 * Under LD_PRELOAD: have the driver and NVTX load us, in this process and
 * its children.  Nothing else happens until one of them does.
 */
__attribute__((constructor)) static void preloaded(void)
{
	const char *list = secure_getenv("LD_PRELOAD"), *base, *nvtx;
	char path[PATH_MAX];
	Dl_info self;

	*(void **)&real_quick_exit = dlsym(RTLD_NEXT, "quick_exit");
	if (!list || !dladdr((void *)(uintptr_t)preloaded, &self) ||
	    !self.dli_fname || !realpath(self.dli_fname, path))
		return;
	base = strrchr(self.dli_fname, '/');
	if (!strstr(list, base ? base + 1 : self.dli_fname))
		return;
	setenv("CUDA_INJECTION64_PATH", path, 0);
	nvtx = secure_getenv("PROFAN_NVTX");
	if (!nvtx || strcmp(nvtx, "0") != 0)
		setenv("NVTX_INJECTION64_PATH", path, 0);
}
