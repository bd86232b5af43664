/* SPDX-License-Identifier: MIT */
/*
 * Like the real one it asks for a buffer when a record comes, under a lock of
 * its own, and hands full buffers over on a thread of its own.
 */
#include "config.h"

#include "fakecupti.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define KINDS  64
#define FULL   4096

typedef void request_fn(uint8_t **, size_t *, size_t *);
typedef void complete_fn(void *, uint32_t, uint8_t *, size_t, size_t);
typedef void call_fn(void *, uint32_t, uint32_t, const void *);

struct buffer {
	uint8_t *at;
	size_t size, used;
};

static const struct sizes {
	uint32_t version;
	uint16_t of[KINDS];
} all_sizes[] = {
	{ 18,
	  { [1] = 88,   [2] = 88,  [4] = 40,  [5] = 40,   [8] = 176, [9] = 16,
	    [10] = 200, [17] = 40, [20] = 40, [22] = 96,  [25] = 64, [36] = 24,
	    [37] = 24,  [38] = 40, [39] = 24, [46] = 168, [48] = 40, [49] = 120,
	    [50] = 72,  [51] = 48, [52] = 64 } },
	{ 28, { [1] = 96,   [2] = 88,   [4] = 40,   [5] = 40,  [8] = 184,
		[9] = 32,   [10] = 208, [17] = 56,  [20] = 40, [22] = 96,
		[25] = 104, [36] = 56,  [37] = 24,  [38] = 56, [39] = 24,
		[46] = 168, [48] = 40,  [49] = 128, [50] = 72, [51] = 56,
		[52] = 72,  [53] = 56,  [54] = 64,  [55] = 32 } },
	{ 130001, { [1] = 96,   [2] = 88,   [4] = 40,   [5] = 40,  [8] = 184,
		    [9] = 32,   [10] = 216, [17] = 56,  [20] = 40, [22] = 96,
		    [25] = 104, [36] = 56,  [37] = 24,  [38] = 56, [39] = 24,
		    [46] = 168, [48] = 40,  [49] = 128, [50] = 80, [51] = 56,
		    [52] = 72,  [53] = 56,  [54] = 64,  [55] = 32 } },
};

static const struct {
	uint32_t domain, cbid;
	const char *name;
} names[] = {
	{ 1, 307, "cuLaunchKernel" },
	{ 1, 308, "cuProfilerStart" },
	{ 1, 309, "cuProfilerStop" },
	{ 1, 152, "cuPointerGetAttribute" },
	{ 1, 304, "cuCtxGetCurrent" },
	{ 1, 652, "cuLaunchKernelEx_ptsz" },
	{ 2, 16, "cudaSetDevice_v3020" },
	{ 2, 17, "cudaGetDevice_v3020" },
	{ 2, 41, "cudaMemcpyAsync_v3020" },
	{ 2, 136, "cudaEventQuery_v3020" },
	{ 2, 164, "cudaDeviceReset_v3020" },
	{ 2, 165, "cudaDeviceSynchronize_v3020" },
	{ 2, 211, "cudaLaunchKernel_v7000" },
	{ 2, 505, "__cudaLaunchKernel_v13000" },
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static pthread_cond_t idle = PTHREAD_COND_INITIALIZER;
static request_fn *request;
static complete_fn *complete;
static uint64_t (*client_clock)(void);
static call_fn *subscriber;
static bool enabled[KINDS], callbacks[4][1024];
static bool runtime_off[1024], driver_off[1024];
static struct buffer current, full[FULL];
static unsigned full_count, delivering;
static size_t dropped;
static bool have_worker;
static uint64_t cost_ns, made;

static const struct sizes *sizes(void)
{
	const char *text = getenv("FAKE_CUPTI_VERSION");
	uint32_t version = text ? (uint32_t)strtoul(text, NULL, 10) : 130001;

	for (size_t i = 0; i < sizeof(all_sizes) / sizeof(all_sizes[0]); i++)
		if (all_sizes[i].version == version)
			return &all_sizes[i];
	return &all_sizes[2];
}

static bool fails(const char *what)
{
	const char *text = getenv("FAKE_CUPTI_FAIL");

	return text && (strstr(text, what) || !strcmp(text, "all"));
}

static uint32_t size_of(uint32_t kind)
{
	return kind < KINDS ? sizes()->of[kind] : 0;
}

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- handing over; all with the lock held ---- */

static void deliver_one(void)
{
	struct buffer b = full[0];
	complete_fn *fn = complete;
	uint64_t begin;

	memmove(full, full + 1, --full_count * sizeof(full[0]));
	delivering++;
	pthread_mutex_unlock(&lock);
	begin = cpu_ns();
	fn(NULL, 0, b.at, b.size, b.used);
	begin = cpu_ns() - begin;
	pthread_mutex_lock(&lock);
	cost_ns += begin;
	delivering--;
	pthread_cond_broadcast(&idle);
}

static void *worker(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&lock);
	for (;;) {
		while (!full_count)
			pthread_cond_wait(&more, &lock);
		deliver_one();
	}
	return NULL;
}

static void start_worker(void)
{
	pthread_t t;

	if (have_worker || pthread_create(&t, NULL, worker, NULL))
		return;
	pthread_detach(t);
	have_worker = true;
}

static void retire_current(void)
{
	if (!current.at)
		return;
	if (full_count == FULL)
		abort(); /* nobody takes them */
	full[full_count++] = current;
	memset(&current, 0, sizeof(current));
	pthread_cond_signal(&more);
}

static uint8_t *room(uint32_t size)
{
	size_t max = 0;

	if (current.at && current.size - current.used < size)
		retire_current();
	if (!current.at) {
		request(&current.at, &current.size, &max);
		current.used = 0;
	}
	return current.at ? current.at + current.used : NULL;
}

/* ---- for the test program ---- */

EXPORT fake_record_fn fake_record;
EXPORT fake_done_fn fake_done;
EXPORT fake_size_fn fake_size;
EXPORT fake_drop_fn fake_drop;
EXPORT fake_call_fn fake_call;
EXPORT fake_now_fn fake_now;
EXPORT fake_takeover_fn fake_takeover;
EXPORT fake_cost_fn fake_cost;

uint8_t *fake_record(uint32_t kind)
{
	uint32_t size = size_of(kind);
	uint8_t *p;

	pthread_mutex_lock(&lock);
	if (kind >= KINDS || !size || !enabled[kind] || !request) {
		pthread_mutex_unlock(&lock);
		return NULL;
	}
	start_worker();
	p = room(size);
	if (!p) {
		pthread_mutex_unlock(&lock);
		return NULL;
	}
	memset(p, 0, size);
	memcpy(p, &kind, sizeof(kind));
	current.used += size;
	made++;
	return p;
}

void fake_done(void)
{
	pthread_mutex_unlock(&lock);
}

uint32_t fake_size(uint32_t kind)
{
	return size_of(kind);
}

void fake_drop(size_t n)
{
	pthread_mutex_lock(&lock);
	dropped += n;
	pthread_mutex_unlock(&lock);
}

void fake_call(uint32_t domain, uint32_t cbid, uint32_t site,
	       const char *function)
{
	struct {
		uint32_t site;
		const char *function;
		uint64_t rest[8];
	} data = { site, function, { 0 } };

	if (subscriber && domain < 4 && cbid < 1024 && callbacks[domain][cbid])
		subscriber(NULL, domain, cbid, &data);
}

void fake_cost(uint64_t *ns, uint64_t *records)
{
	pthread_mutex_lock(&lock);
	*ns = cost_ns;
	*records = made;
	pthread_mutex_unlock(&lock);
}

uint64_t fake_now(void)
{
	struct timespec t;

	if (client_clock)
		return client_clock();
	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void their_request(uint8_t **b, size_t *size, size_t *max)
{
	*b = calloc(1, 65536);
	*size = 65536;
	*max = 0;
}

static void their_complete(void *c, uint32_t s, uint8_t *b, size_t size,
			   size_t used)
{
	(void)c;
	(void)s;
	(void)size;
	(void)used;
	free(b);
}

void fake_takeover(void)
{
	pthread_mutex_lock(&lock);
	memset(&current, 0, sizeof(current));
	request = their_request;
	complete = their_complete;
	pthread_mutex_unlock(&lock);
}

/* ---- CUPTI ---- */

#define API EXPORT uint32_t

API cuptiGetVersion(uint32_t *version);
API cuptiGetVersion(uint32_t *version)
{
	if (fails("version"))
		return 999;
	*version = sizes()->version;
	return 0;
}

API cuptiGetResultString(uint32_t result, const char **text);
API cuptiGetResultString(uint32_t result, const char **text)
{
	static __thread char line[32];

	snprintf(line, sizeof(line), "FAKE_ERROR_%u", result);
	*text = line;
	return 0;
}

API cuptiActivityRegisterCallbacks(request_fn *r, complete_fn *c);
API cuptiActivityRegisterCallbacks(request_fn *r, complete_fn *c)
{
	if (fails("register"))
		return 15;
	pthread_mutex_lock(&lock);
	request = r;
	complete = c;
	pthread_mutex_unlock(&lock);
	return 0;
}

API cuptiActivityRegisterTimestampCallback(uint64_t (*clock)(void));
API cuptiActivityRegisterTimestampCallback(uint64_t (*clock)(void))
{
	if (fails("clock"))
		return 7;
	client_clock = clock;
	return 0;
}

API cuptiSetThreadIdType(uint32_t type);
API cuptiSetThreadIdType(uint32_t type)
{
	return fails("thread") || type != 1 ? 15 : 0;
}

API cuptiActivitySetAttribute(uint32_t attribute, size_t *size, void *value);
API cuptiActivitySetAttribute(uint32_t attribute, size_t *size, void *value)
{
	(void)attribute;
	(void)size;
	(void)value;
	return fails("attribute") ? 1 : 0;
}

API cuptiActivityEnable(uint32_t kind);
API cuptiActivityEnable(uint32_t kind)
{
	if (fails("enable"))
		return 999;
	if (kind >= KINDS)
		return 21;
	pthread_mutex_lock(&lock);
	enabled[kind] = true;
	if (kind == 5)
		memset(runtime_off, 0, sizeof(runtime_off));
	if (kind == 4)
		memset(driver_off, 0, sizeof(driver_off));
	pthread_mutex_unlock(&lock);
	return 0;
}

API cuptiActivityDisable(uint32_t kind);
API cuptiActivityDisable(uint32_t kind)
{
	if (kind >= KINDS)
		return 21;
	pthread_mutex_lock(&lock);
	enabled[kind] = false;
	pthread_mutex_unlock(&lock);
	return 0;
}

API cuptiActivityFlushAll(uint32_t flag);
API cuptiActivityFlushAll(uint32_t flag)
{
	if (fails("flush"))
		return 999;
	while (flag && getenv("FAKE_CUPTI_HANG"))
		sleep(1);
	pthread_mutex_lock(&lock);
	if (current.used)
		retire_current();
	while (full_count)
		deliver_one();
	while (delivering)
		pthread_cond_wait(&idle, &lock);
	pthread_mutex_unlock(&lock);
	return 0;
}

API cuptiActivityGetNextRecord(uint8_t *buffer, size_t size, uint8_t **record);
API cuptiActivityGetNextRecord(uint8_t *buffer, size_t size, uint8_t **record)
{
	uint8_t *p = *record ? *record : buffer;
	uint32_t kind;

	if (fails("record"))
		return 999;
	if (*record) {
		memcpy(&kind, p, sizeof(kind));
		p += size_of(kind);
	}
	if ((size_t)(p - buffer) >= size)
		return 12;
	memcpy(&kind, p, sizeof(kind));
	if (!size_of(kind))
		return sizes()->version < 130001 ? 999 : 21;
	if ((size_t)(p - buffer) + size_of(kind) > size)
		return 12;
	*record = p;
	return 0;
}

API cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream,
				      size_t *count);
API cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream,
				      size_t *count)
{
	(void)context;
	(void)stream;
	pthread_mutex_lock(&lock);
	*count = dropped;
	dropped = 0;
	pthread_mutex_unlock(&lock);
	return 0;
}

API cuptiGetCallbackName(uint32_t domain, uint32_t cbid, const char **name);
API cuptiGetCallbackName(uint32_t domain, uint32_t cbid, const char **name)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].domain == domain && names[i].cbid == cbid &&
		    (cbid != 505 || sizes()->version >= 130000)) {
			*name = names[i].name;
			return 0;
		}
	return 1;
}

API cuptiSubscribe(void **handle, call_fn *call, void *user);
API cuptiSubscribe(void **handle, call_fn *call, void *user)
{
	(void)user;
	if (fails("subscribe"))
		return 39;
	subscriber = call;
	*handle = &subscriber;
	return 0;
}

API cuptiUnsubscribe(void *handle);
API cuptiUnsubscribe(void *handle)
{
	if (handle != &subscriber)
		return 1;
	subscriber = NULL;
	return 0;
}

API cuptiEnableCallback(uint32_t on, void *handle, uint32_t domain,
			uint32_t cbid);
API cuptiEnableCallback(uint32_t on, void *handle, uint32_t domain,
			uint32_t cbid)
{
	if (handle != &subscriber || domain >= 4 || cbid >= 1024)
		return 1;
	callbacks[domain][cbid] = on;
	return 0;
}

API cuptiEnableDomain(uint32_t on, void *handle, uint32_t domain);
API cuptiEnableDomain(uint32_t on, void *handle, uint32_t domain)
{
	if (handle != &subscriber || domain >= 4)
		return 1;
	memset(callbacks[domain], (int)on, sizeof(callbacks[domain]));
	return 0;
}

/* Is a call of this id recorded?  For the test program. */
EXPORT int fake_recorded(uint32_t domain, uint32_t cbid);
int fake_recorded(uint32_t domain, uint32_t cbid)
{
	return cbid >= 1024 ||
	       !(domain == 1 ? driver_off[cbid] : runtime_off[cbid]);
}

#ifndef FAKE_OLD /* functions that 11.8 does not have */
API cuptiSubscribe_v2(void **handle, call_fn *call, void *user, void *params);
API cuptiSubscribe_v2(void **handle, call_fn *call, void *user, void *params)
{
	struct {
		size_t size;
		const char *name;
		char *old_name;
		size_t old_size;
	} who;

	memcpy(&who, params, sizeof(who));
	if (who.size != sizeof(who) || strcmp(who.name, "profan") != 0)
		return 1;
	if (fails("subscribe") && who.old_name)
		snprintf(who.old_name, who.old_size, "another tool");
	return cuptiSubscribe(handle, call, user);
}

API cuptiActivityEnableRuntimeApi(uint32_t cbid, uint8_t on);
API cuptiActivityEnableRuntimeApi(uint32_t cbid, uint8_t on)
{
	if (cbid < 1024)
		runtime_off[cbid] = !on;
	return 0;
}

API cuptiActivityEnableDriverApi(uint32_t cbid, uint8_t on);
API cuptiActivityEnableDriverApi(uint32_t cbid, uint8_t on)
{
	if (cbid < 1024)
		driver_off[cbid] = !on;
	return 0;
}

API cuptiActivityEnableAllSyncRecords(uint8_t on);
API cuptiActivityEnableAllSyncRecords(uint8_t on)
{
	(void)on;
	return 0;
}

API cuptiActivityEnableCudaEventDeviceTimestamps(uint8_t on);
API cuptiActivityEnableCudaEventDeviceTimestamps(uint8_t on)
{
	(void)on;
	return 0;
}
#endif

API cuptiActivityEnableLatencyTimestamps(uint8_t on);
API cuptiActivityEnableLatencyTimestamps(uint8_t on)
{
	(void)on;
	return 0;
}
