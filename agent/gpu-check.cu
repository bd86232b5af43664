/* SPDX-License-Identifier: MIT */
/*
 * What agent/gpu-check.py captures: does one thing, and prints what a capture
 * of it must show, as lines of `key=value`.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <unistd.h>
#include <sys/wait.h>

#include <cuda_profiler_api.h>
#include <cuda_runtime.h>

#define CHECK(x)                                                               \
	do {                                                                   \
		cudaError_t bad = (x);                                          \
		if (bad != cudaSuccess) {                                      \
			fprintf(stderr, "%s: %s\n", #x,                        \
				cudaGetErrorString(bad));                      \
			_exit(9);                                              \
		}                                                              \
	} while (0)

__global__ void empty_kernel(int)
{
}

__global__ void spin_kernel(unsigned long long ns, unsigned long long *out)
{
	unsigned long long begin, now;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
	do
		asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
	while (now - begin < ns);
	*out = now - begin;
}

static double now_ns()
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static void launch(long n)
{
	for (long i = 0; i < n; i++)
		empty_kernel<<<1, 32>>>(0);
	CHECK(cudaGetLastError());
	CHECK(cudaDeviceSynchronize());
}

static void rss()
{
	char line[256];
	FILE *f = fopen("/proc/self/status", "r");

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "VmHWM:", 6))
			printf("rss_kb=%ld\n", atol(line + 6));
	if (f)
		fclose(f);
}

static void timed(long n)
{
	launch(1000);
	double t = now_ns();
	launch(n);
	printf("ns_per_launch=%.1f\n", (now_ns() - t) / n);
	rss();
}

static void graph(int nodes, long n)
{
	cudaStream_t s;
	cudaGraph_t g;
	cudaGraphExec_t e;

	CHECK(cudaStreamCreate(&s));
	CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	for (int i = 0; i < nodes; i++)
		empty_kernel<<<1, 32, 0, s>>>(i);
	CHECK(cudaStreamEndCapture(s, &g));
	CHECK(cudaGraphInstantiateWithFlags(&e, g, 0));
	CHECK(cudaGraphLaunch(e, s));
	CHECK(cudaStreamSynchronize(s));
	double t = now_ns();
	for (long i = 0; i < n; i++)
		CHECK(cudaGraphLaunch(e, s));
	CHECK(cudaStreamSynchronize(s));
	printf("ns_per_launch=%.1f\n", (now_ns() - t) / n);
	rss();
}

static void spin()
{
	unsigned long long *out, spun;
	const unsigned long long ns[] = { 1000000, 10000000, 100000000 };

	/* memory that does not move: a page that comes takes 0.2 ms */
	CHECK(cudaMalloc(&out, sizeof(*out)));
	for (int i = 0; i < 3; i++) {
		spin_kernel<<<1, 1>>>(ns[i], out);
		CHECK(cudaMemcpy(&spun, out, sizeof(spun),
				 cudaMemcpyDeviceToHost));
		printf("spin_ns=%llu\n", spun);
	}
}

/* kind, bytes and both memory kinds, as CUPTI numbers them */
static void copy(const char *what, void *to, const void *from, size_t bytes)
{
	CHECK(cudaMemcpy(to, from, bytes, cudaMemcpyDefault));
	CHECK(cudaDeviceSynchronize());
	printf("copy=%s %zu\n", what, bytes);
}

static void copies()
{
	void *d, *d2, *pinned, *managed, *pageable = malloc(1 << 20);
	int count;

	memset(pageable, 1, 1 << 20);
	CHECK(cudaMalloc(&d, 1 << 20));
	CHECK(cudaMalloc(&d2, 1 << 20));
	CHECK(cudaMallocHost(&pinned, 1 << 20));
	CHECK(cudaMallocManaged(&managed, 1 << 20));
	copy("1 1 3", d, pageable, 100001);
	copy("1 2 3", d, pinned, 100002);
	copy("2 3 1", pageable, d, 100003);
	copy("2 3 2", pinned, d, 100004);
	copy("8 3 3", d2, d, 100005);
	CHECK(cudaMemcpy(managed, d, 100006, cudaMemcpyDefault));
	CHECK(cudaDeviceSynchronize());
	printf("managed=100006\n");
	CHECK(cudaMemset(d, 7, 100007));
	CHECK(cudaDeviceSynchronize());
	printf("set=100007\n");
	CHECK(cudaGetDeviceCount(&count));
	if (count > 1) {
		void *other;
		CHECK(cudaSetDevice(1));
		CHECK(cudaMalloc(&other, 1 << 20));
		CHECK(cudaMemcpyPeer(other, 1, d, 0, 100008));
		CHECK(cudaDeviceSynchronize());
		printf("peer=100008\n");
	}
}

static void syncs()
{
	cudaStream_t a, b;
	cudaEvent_t e;

	CHECK(cudaStreamCreate(&a));
	CHECK(cudaStreamCreate(&b));
	CHECK(cudaEventCreate(&e));
	empty_kernel<<<1, 1, 0, a>>>(0);
	CHECK(cudaEventRecord(e, a));
	CHECK(cudaStreamWaitEvent(b, e, 0));
	empty_kernel<<<1, 1, 0, b>>>(0);
	CHECK(cudaEventSynchronize(e));
	CHECK(cudaStreamSynchronize(b));
	CHECK(cudaDeviceSynchronize());
}

static void end(const char *how)
{
	launch(1000);
	sleep(2); /* a flush period */
	launch(100);
	fflush(stdout);
	if (!strcmp(how, "_exit"))
		_exit(0);
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "hang"))
		for (;;)
			launch(100);
	exit(0);
}

static void child()
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		launch(500);
		exit(0);
	}
	launch(300);
	waitpid(pid, &status, 0);
	printf("parent=%d\nchild=%d\nstatus=%d\n", getpid(), pid, status);
}

static void pace(double seconds)
{
	for (double stop = now_ns() + seconds * 1e9; now_ns() < stop;) {
		launch(1);
		usleep(1000);
	}
}

static void info()
{
	int count = 0, driver = 0, runtime = 0;

	cudaDriverGetVersion(&driver);
	cudaRuntimeGetVersion(&runtime);
	if (cudaGetDeviceCount(&count) != cudaSuccess)
		count = 0;
	printf("devices=%d\ndriver=%d\nruntime=%d\n", count, driver, runtime);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "info";
	long n = argc > 2 ? atol(argv[2]) : 0;

	if (!strcmp(mode, "info")) {
		info();
	} else if (!strcmp(mode, "launch")) {
		launch(n);
	} else if (!strcmp(mode, "timed")) {
		timed(n);
	} else if (!strcmp(mode, "graph")) {
		graph((int)n, atol(argv[3]));
	} else if (!strcmp(mode, "spin")) {
		spin();
	} else if (!strcmp(mode, "copies")) {
		copies();
	} else if (!strcmp(mode, "syncs")) {
		syncs();
	} else if (!strcmp(mode, "end")) {
		end(argv[2]);
	} else if (!strcmp(mode, "fork")) {
		child();
	} else if (!strcmp(mode, "pace")) {
		pace(n);
	} else if (!strcmp(mode, "window")) {
		launch(n);
		CHECK(cudaProfilerStart());
		launch(n);
		CHECK(cudaProfilerStop());
		launch(n);
	} else if (!strcmp(mode, "delay")) {
		launch(n);
		sleep(3);
		launch(2 * n);
	} else if (!strcmp(mode, "reset")) {
		launch(n);
		CHECK(cudaDeviceReset());
		launch(n);
	} else {
		fprintf(stderr, "no mode '%s'\n", mode);
		return 2;
	}
	return 0;
}
