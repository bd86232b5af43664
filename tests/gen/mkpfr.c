/* SPDX-License-Identifier: MIT */
/*
 * mkpfr [--json] [--steps N] [--layers N] [--killed]: the same made-up run as
 * a .pfr capture or as Kineto's JSON, the same bytes for the same options.
 * What both can say is equal, so their tables must be.
 *
 * mkpfr --crossing: a capture of what JSON does not have: ranges of two
 * domains that cross, one named like a mangled type, and a thread without any
 * range that launches meanwhile.
 */
#include "config.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/pfrw.h"

#define PID     4711
#define BASE_NS INT64_C(1700000000000000000)

enum kind { STEP, OP, RUNTIME, DRIVER, KERNEL, COPY, FILL, SYNC, OVERHEAD };

struct event {
	enum kind kind;
	int name; /* index into names[], or of a kernel in kernels[] */
	int tid, stream;
	int64_t start_ns, end_ns, bytes;
	uint64_t correlation, external_id;
	int64_t step;
};

static const char *const names[] = {
	"aten::linear", "aten::addmm",  "aten::copy_", "aten::zero_",
	"backward",     "MulBackward0", "aten::mul",
};

static const struct {
	const char *mangled, *plain;
	uint32_t numbers[10];
} kernels[] = {
	{ "_Z4gemmPKfS0_Pfi",
	  "gemm(float const*, float const*, float*, int)",
	  { 128, 2, 1, 256, 1, 1, 64, 1024, 4096, 0 } },
	{ "_ZN3fooIiE3barEv",
	  "foo<int>::bar()",
	  { 40, 1, 1, 128, 1, 1, 32, 0, 0, 0 } },
	{ "triton_poi_fused_0",
	  "triton_poi_fused_0",
	  { 17, 1, 1, 64, 1, 1, 18, 0, 0, 0 } },
};

static const struct {
	const char *cupti, *plain;
	int cbid;
} calls[] = {
	{ "cudaLaunchKernel_v7000", "cudaLaunchKernel", 211 },
	{ "cudaMemcpyAsync_v3020", "cudaMemcpyAsync", 41 },
	{ "cudaMemsetAsync_v3020", "cudaMemsetAsync", 51 },
	{ "cudaStreamSynchronize_v3020", "cudaStreamSynchronize", 131 },
	{ "cuLaunchKernel", "cuLaunchKernel", 307 },
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

struct model {
	struct event *events;
	size_t count, cap;
	int64_t now_ns[2]; /* per thread */
	int64_t gpu_ns;
	uint64_t correlation, external_id;
	uint64_t random;
	bool json, killed;
	int64_t written; /* events in frames */
	struct pfrw w;
};

static int64_t vary(struct model *m, int64_t mean)
{
	m->random = m->random * UINT64_C(6364136223846793005) +
		    1442695040888963407u;
	return mean + (int64_t)((m->random >> 40) % (uint64_t)mean);
}

static struct event *add(struct model *m, enum kind kind, int name, int thread)
{
	struct event *e;

	if (m->count == m->cap) {
		m->cap = m->cap ? m->cap * 2 : 256;
		m->events = realloc(m->events, m->cap * sizeof(*m->events));
		if (!m->events)
			abort();
	}
	e = &m->events[m->count++];
	memset(e, 0, sizeof(*e));
	e->kind = kind;
	e->name = name;
	e->tid = PID + thread;
	e->start_ns = m->now_ns[thread] += vary(m, 300);
	return e;
}

static size_t open_range(struct model *m, enum kind kind, int name, int thread)
{
	add(m, kind, name, thread)->external_id = ++m->external_id;
	return m->count - 1;
}

static void close_range(struct model *m, size_t at, int thread)
{
	m->events[at].end_ns = m->now_ns[thread] += vary(m, 300);
}

/* A call of calls[], and what it makes the GPU do. */
static void launch(struct model *m, int call, enum kind kind, int name,
		   int thread, uint64_t external_id)
{
	struct event *e = add(m, call == 4 ? DRIVER : RUNTIME, call, thread);
	int64_t call_end;

	e->correlation = ++m->correlation;
	e->external_id = external_id;
	call_end = e->end_ns = m->now_ns[thread] += vary(m, 4000);
	if (m->gpu_ns < call_end)
		m->gpu_ns = call_end;
	e = add(m, kind, name, thread);
	m->now_ns[thread] = call_end;
	e->correlation = m->correlation;
	e->external_id = external_id;
	e->stream = thread ? 20 : 7;
	e->start_ns = m->gpu_ns + vary(m, 1000);
	e->end_ns = m->gpu_ns = e->start_ns + vary(m, 20000);
	e->bytes = kind == COPY || kind == FILL ? vary(m, 1 << 20) : 0;
}

static void forward(struct model *m)
{
	size_t outer = open_range(m, OP, 0, 0), inner;

	inner = open_range(m, OP, 1, 0);
	launch(m, 0, KERNEL, 0, 0, m->events[inner].external_id);
	close_range(m, inner, 0);
	launch(m, 0, KERNEL, 1, 0, m->events[outer].external_id);
	close_range(m, outer, 0);
	outer = open_range(m, OP, 2, 0);
	launch(m, 1, COPY, 0, 0, m->events[outer].external_id);
	close_range(m, outer, 0);
	outer = open_range(m, OP, 3, 0);
	launch(m, 2, FILL, 0, 0, m->events[outer].external_id);
	close_range(m, outer, 0);
}

static void backward(struct model *m)
{
	size_t outer = open_range(m, OP, 4, 1), inner;

	inner = open_range(m, OP, 5, 1);
	launch(m, 4, KERNEL, 2, 1, m->events[inner].external_id);
	close_range(m, inner, 1);
	close_range(m, outer, 1);
}

static void wait_for_gpu(struct model *m)
{
	size_t op = open_range(m, OP, 6, 0);
	struct event *e = add(m, RUNTIME, 3, 0);
	int64_t start = e->start_ns, end;

	end = start + 500;
	if (end < m->gpu_ns)
		end = m->gpu_ns;
	e->end_ns = end + 200;
	e->correlation = ++m->correlation;
	e->external_id = m->events[op].external_id;
	e = add(m, SYNC, 0, 0);
	e->start_ns = start + 100;
	e->end_ns = end + 100;
	e->stream = 7;
	e->correlation = m->correlation;
	e->external_id = m->events[op].external_id;
	m->now_ns[0] = end + 200;
	close_range(m, op, 0);
}

static void make_step(struct model *m, int64_t step, int layers)
{
	size_t range;
	struct event *e;

	m->count = 0;
	if (m->now_ns[1] < m->now_ns[0])
		m->now_ns[1] = m->now_ns[0];
	range = open_range(m, STEP, 0, 0);
	m->events[range].step = step;
	for (int i = 0; i < layers; i++) {
		forward(m);
		backward(m);
	}
	wait_for_gpu(m);
	e = add(m, OVERHEAD, 0, 0);
	e->end_ns = m->now_ns[0] += vary(m, 500);
	if (m->now_ns[0] < m->now_ns[1])
		m->now_ns[0] = m->now_ns[1];
	close_range(m, range, 0);
}

/* ---- .pfr ---- */

static void define_all(struct pfrw *w)
{
	for (size_t i = 0; i < COUNT(names); i++)
		pfrw_string(w, i + 1, names[i]);
	for (size_t i = 0; i < COUNT(kernels); i++) {
		pfrw_string(w, COUNT(names) + i + 1, kernels[i].mangled);
		pfrw_launch(w, i + 1, COUNT(names) + i + 1, kernels[i].numbers);
	}
	for (size_t i = 0; i < COUNT(calls); i++)
		pfrw_cbid(w, i == 4 ? 1 : 2, (uint64_t)calls[i].cbid,
			  calls[i].cupti);
	pfrw_keyed(w, 4, PID, "python3");
	pfrw_keyed(w, 4, PID + 1, "backward");
	pfrw_frame(w, 2, 0);
}

static void put_clock(struct pfrw *w, int64_t now_ns)
{
	pfrw_u64(w, (uint64_t)now_ns - 20);
	pfrw_u64(w, (uint64_t)(now_ns + BASE_NS));
	pfrw_u64(w, (uint64_t)now_ns + 20);
	pfrw_u64(w, (uint64_t)now_ns);
	pfrw_frame(w, 4, 0);
}

static void begin_pfr(struct model *m)
{
	struct pfrw *w = &m->w;

	pfrw_init(w);
	pfrw_lines(w, 1,
		   "agent=mkpfr\npid=4711\nexe=/usr/bin/python3\n"
		   "cmdline=python3%00train.py%00\nhost=made-up\n"
		   "RANK=3\nWORLD_SIZE=8\n");
	put_clock(w, m->now_ns[0]);
	pfrw_lines(w, 5,
		   "device.0.name=NVIDIA Test\ndevice.0.SMs=132\n"
		   "device.0.warp=32\ndevice.0.warpsPerSM=64\n"
		   "device.0.memSize=85899345920\ndevice.0.ccMajor=9\n"
		   "device.0.ccMinor=0\ncontext.1.dev=0\n");
	define_all(w);
}

static void put_range(struct pfrw *w, const struct event *e, bool is_end)
{
	char name[48];

	pfrw_open(w, is_end ? 17 : 16);
	pfrw_start(w, (uint64_t)(is_end ? e->end_ns : e->start_ns));
	pfrw_varint(w, (uint64_t)e->tid);
	if (is_end) {
		pfrw_varint(w, 0);
	} else if (e->kind == STEP) {
		snprintf(name, sizeof(name), "ProfilerStep#%" PRId64, e->step);
		pfrw_varint(w, strlen(name) * 2 + 1);
		pfrw_bytes(w, name, strlen(name));
	} else {
		pfrw_varint(w, (uint64_t)(e->name + 1) * 2);
	}
	for (int i = 0; i < 5; i++) /* domain to payload type */
		pfrw_varint(w, 0);
	pfrw_close(w);
}

static void put_gpu(struct pfrw *w, const struct event *e)
{
	const uint64_t place[] = { 0, 1, (uint64_t)e->stream, 0, 0 };
	const uint64_t sync[] = { 3, 1, (uint64_t)e->stream, UINT32_MAX, 0, 0 };

	switch (e->kind) {
	case KERNEL:
		pfrw_varint(w, (uint64_t)e->name + 1);
		pfrw_varints(w, 5, place);
		break;
	case COPY:
		pfrw_varint(w, (uint64_t)e->bytes);
		pfrw_varint(w, 1);
		pfrw_byte(w, 1 << 4 | 3);
		pfrw_varint(w, 1);
		pfrw_varints(w, 4, place);
		break;
	case FILL:
		pfrw_varint(w, (uint64_t)e->bytes);
		pfrw_varint(w, 0);
		pfrw_varint(w, 3);
		pfrw_varints(w, 4, place);
		break;
	default:
		pfrw_varints(w, COUNT(sync), sync);
	}
}

static void put_cupti(struct pfrw *w, const struct event *e)
{
	static const unsigned types[] = { 0, 0, 5, 5, 1, 3, 4, 6, 8 };
	const uint64_t overhead[] = { 1 << 16, 2, PID, (uint64_t)e->tid, 0 };

	pfrw_open(w, types[e->kind]);
	pfrw_span(w, (uint64_t)e->start_ns, (uint64_t)e->end_ns,
		  e->correlation);
	if (e->kind == RUNTIME || e->kind == DRIVER) {
		pfrw_varint(w, (uint64_t)calls[e->name].cbid * 2 +
				       (e->kind == DRIVER));
		pfrw_varint(w, (uint64_t)e->tid);
		pfrw_varint(w, 0);
	} else if (e->kind == OVERHEAD) {
		pfrw_varints(w, COUNT(overhead), overhead);
	} else {
		put_gpu(w, e);
	}
	pfrw_close(w);
}

/* Frames as the agent makes them: at most 60 000 bytes. */
static void next_event(struct pfrw *w, int64_t ns)
{
	if (w->body_len > 60000)
		pfrw_frame(w, 3, 0);
	if (!w->body_len)
		pfrw_base(w, (uint64_t)ns);
}

/* Ranges of one thread as pushes and pops, in the order of time. */
static void put_ranges(struct model *m, int tid)
{
	size_t stack[16], depth = 0;

	for (size_t i = 0; i <= m->count; i++) {
		const struct event *e = i < m->count ? &m->events[i] : NULL;

		if (e && (e->tid != tid || e->kind > OP))
			continue;
		while (depth && (!e || m->events[stack[depth - 1]].end_ns <=
					       e->start_ns)) {
			const struct event *top = &m->events[stack[--depth]];

			next_event(&m->w, top->end_ns);
			m->written++;
			put_range(&m->w, top, true);
		}
		if (!e)
			break;
		next_event(&m->w, e->start_ns);
		m->written++;
		put_range(&m->w, e, false);
		stack[depth++] = i;
	}
	if (m->w.body_len)
		pfrw_frame(&m->w, 3, 0);
}

static void write_out(struct model *m)
{
	fwrite(m->w.data, 1, m->w.len, stdout);
	m->w.len = 0;
}

static void step_pfr(struct model *m)
{
	put_ranges(m, PID);
	put_ranges(m, PID + 1);
	for (size_t i = 0; i < m->count; i++) {
		if (m->events[i].kind <= OP)
			continue;
		next_event(&m->w, m->events[i].start_ns);
		m->written++;
		put_cupti(&m->w, &m->events[i]);
	}
	pfrw_frame(&m->w, 3, 0);
	write_out(m);
}

static void put_stat(struct model *m)
{
	char text[80];

	snprintf(text, sizeof(text), "events=%" PRId64 "\ndropped_nvtx=0\n",
		 m->written);
	pfrw_lines(&m->w, 6, text);
}

static void end_pfr(struct model *m)
{
	put_stat(m);
	if (!m->killed) {
		define_all(&m->w);
		put_clock(&m->w, m->now_ns[0]);
		put_stat(m);
		pfrw_frame(&m->w, 7, 0);
	}
	write_out(m);
	pfrw_release(&m->w);
}

/* ---- JSON ---- */

static void put_us(const char *key, int64_t ns)
{
	printf(",\"%s\":%" PRId64 ".%03d", key, ns / 1000, (int)(ns % 1000));
}

static void put_json_gpu(const struct event *e)
{
	const uint32_t *n = kernels[e->kind == KERNEL ? e->name : 0].numbers;

	if (e->kind == SYNC) {
		printf("\"cuda_sync_kind\":\"Stream Sync\",");
	}
	printf("\"External id\":%" PRIu64 ",\"device\":0,\"context\":1,"
	       "\"stream\":%d,\"correlation\":%" PRIu64,
	       e->external_id, e->stream, e->correlation);
	if (e->kind == KERNEL)
		printf(",\"registers per thread\":%u,\"shared memory\":%u,"
		       "\"blocks per SM\":%.6f,\"warps per SM\":%.6f,"
		       "\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u]",
		       n[6], n[7] + n[8], (double)n[0] * n[1] * n[2] / 132,
		       (double)n[0] * n[1] * n[2] / 132 * n[3] * n[4] * n[5] /
			       32,
		       n[0], n[1], n[2], n[3], n[4], n[5]);
	else if (e->kind != SYNC)
		printf(",\"bytes\":%" PRId64
		       ",\"memory bandwidth (GB/s)\":%.6f",
		       e->bytes,
		       (double)e->bytes / (double)(e->end_ns - e->start_ns));
}

static void put_json(const struct event *e)
{
	static const char *const categories[] = {
		"user_annotation", "cpu_op",    "cuda_runtime",
		"cuda_driver",     "kernel",    "gpu_memcpy",
		"gpu_memset",      "cuda_sync", "overhead",
	};
	bool gpu = e->kind >= KERNEL && e->kind <= SYNC;

	printf(",\n{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"",
	       categories[e->kind]);
	switch (e->kind) {
	case STEP:
		printf("ProfilerStep#%" PRId64, e->step);
		break;
	case OP:
		printf("%s", names[e->name]);
		break;
	case RUNTIME:
	case DRIVER:
		printf("%s", calls[e->name].plain);
		break;
	case KERNEL:
		printf("%s", kernels[e->name].plain);
		break;
	default:
		printf("%s", e->kind == COPY
				     ? "Memcpy HtoD (Pageable -> Device)"
			     : e->kind == FILL ? "Memset (Device)"
			     : e->kind == SYNC ? "Stream Sync"
					       : "Buffer Flush");
	}
	printf("\",\"pid\":%d,\"tid\":%d", gpu ? 0 : PID,
	       gpu ? e->stream : e->tid);
	put_us("ts", e->start_ns);
	put_us("dur", e->end_ns - e->start_ns);
	if (e->kind == OVERHEAD) {
		printf("}");
		return;
	}
	printf(",\"args\":{");
	if (gpu)
		put_json_gpu(e);
	else if (e->kind <= OP)
		printf("\"External id\":%" PRIu64
		       ",\"Record function id\":0,\"Ev Idx\":%" PRIu64,
		       e->external_id, e->external_id - 1);
	else
		printf("\"External id\":%" PRIu64
		       ",\"cbid\":%d,\"correlation\":%" PRIu64,
		       e->external_id, calls[e->name].cbid, e->correlation);
	printf("}}");
}

static void begin_json(void)
{
	printf("{\"schemaVersion\":1,\"deviceProperties\":[{\"id\":0,"
	       "\"name\":\"NVIDIA Test\",\"totalGlobalMem\":85899345920,"
	       "\"computeMajor\":9,\"computeMinor\":0,\"warpSize\":32,"
	       "\"numSms\":132,\"maxThreadsPerMultiprocessor\":2048}],"
	       "\"distributedInfo\":{\"rank\":3,\"world_size\":8},"
	       "\"baseTimeNanoseconds\":%" PRId64
	       ",\"trace_id\":\"0\",\"host_name\":\"made-up\","
	       "\"traceEvents\":[\n{\"ph\":\"M\",\"name\":\"process_name\","
	       "\"pid\":%d,\"tid\":0,\"args\":{\"name\":\"python3\"}}",
	       BASE_NS, PID);
	printf(",\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%d,"
	       "\"tid\":%d,\"args\":{\"name\":\"python3\"}}",
	       PID, PID);
	printf(",\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%d,"
	       "\"tid\":%d,\"args\":{\"name\":\"backward\"}}",
	       PID, PID + 1);
}

static void step_json(const struct model *m)
{
	for (size_t i = 0; i < m->count; i++)
		put_json(&m->events[i]);
}

/* ---- ranges that cross ---- */

static void put_domain(struct pfrw *w, unsigned type, uint64_t ns,
		       const char *name, uint64_t domain)
{
	pfrw_open(w, type);
	pfrw_start(w, ns);
	pfrw_varint(w, PID);
	pfrw_varint(w, strlen(name) * 2 + (*name != 0));
	pfrw_bytes(w, name, strlen(name));
	pfrw_varint(w, domain);
	for (int i = 0; i < 4; i++) /* category to payload type */
		pfrw_varint(w, 0);
	pfrw_close(w);
}

static void put_launch(struct pfrw *w, int tid, uint64_t correlation,
		       int64_t start_ns, int64_t dur_ns)
{
	const struct event call = { .kind = RUNTIME,
				    .tid = tid,
				    .start_ns = start_ns,
				    .end_ns = start_ns + 2000,
				    .correlation = correlation };
	const struct event kernel = {
		.kind = KERNEL,
		.stream = 7,
		.start_ns = 200000 + 10000 * (int64_t)correlation,
		.end_ns = 200000 + 10000 * (int64_t)correlation + dur_ns,
		.correlation = correlation,
	};

	put_cupti(w, &call);
	put_cupti(w, &kernel);
}

static int write_crossing(struct model *m)
{
	struct pfrw *w = &m->w;

	begin_pfr(m);
	pfrw_keyed(w, 5, 1, "library");
	pfrw_frame(w, 2, 0);
	pfrw_base(w, 1000);
	put_domain(w, 16, 1000, "Pi", 0);
	put_domain(w, 16, 50000, "crossing", 1);
	put_domain(w, 17, 100000, "", 0);
	put_domain(w, 17, 150000, "", 1);
	pfrw_frame(w, 3, 0);
	pfrw_base(w, 1000);
	put_launch(w, PID, 1, 10000, 1000);
	put_launch(w, PID, 2, 60000, 2000);
	put_launch(w, PID, 3, 110000, 4000);
	put_launch(w, PID + 1, 4, 62000, 8000);
	pfrw_frame(w, 3, 0);
	m->written = 12;
	end_pfr(m);
	return fflush(stdout) || ferror(stdout);
}

int main(int argc, char **argv)
{
	struct model m = { .now_ns = { 5000000000, 5000000000 }, .random = 42 };
	int64_t steps = 3;
	int layers = 4;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--json"))
			m.json = true;
		else if (!strcmp(argv[i], "--killed"))
			m.killed = true;
		else if (!strcmp(argv[i], "--crossing"))
			return write_crossing(&m);
		else if (!strcmp(argv[i], "--steps") && i + 1 < argc)
			steps = strtoll(argv[++i], NULL, 10);
		else if (!strcmp(argv[i], "--layers") && i + 1 < argc)
			layers = (int)strtol(argv[++i], NULL, 10);
		else
			return 2;
	}
	if (m.json)
		begin_json();
	else
		begin_pfr(&m);
	for (int64_t s = 0; s < steps; s++) {
		make_step(&m, s, layers);
		if (m.json)
			step_json(&m);
		else
			step_pfr(&m);
	}
	if (m.json)
		printf("\n]}\n");
	else
		end_pfr(&m);
	free(m.events);
	return fflush(stdout) || ferror(stdout);
}
