/* SPDX-License-Identifier: MIT */
/*
 * A job of several ranks with clocks of their own: pairs of ranks gather in
 * each layer, and what is the same place of all pairs reduces behind it.  The
 * job is made twice, with the straggler and without, so that what it costs is
 * known.
 */
#include "config.h"

#include "gen/gen.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PAIR 2
#define ZERO INT64_C(1700000000000000000)

enum kind { LOADER, STEP, GARBAGE, MM, MORE, OPTIMIZER, GATHER, REDUCE, SYNC };
enum { COMPUTE = 7, GATHERS = 20, REDUCES = 24 }; /* streams */

struct event {
	uint8_t kind;
	int32_t corr, group;
	int64_t host_ns, host_dur_ns; /* of the operator or range */
	int64_t start_ns, dur_ns;     /* of the kernel */
};

struct rank {
	int64_t host_ns;                          /* its thread is here */
	int64_t compute_ns, gather_ns, reduce_ns; /* streams end */
	int64_t offset_ns;
	double drift;
	int32_t corr;
	struct event *events;
	size_t count, cap;
};

struct job {
	const struct gen_opts *o;
	struct rank *ranks;
	uint64_t random;
	bool is_planted;
	int64_t first_ns, last_ns; /* of collectives */
	int64_t *starts;
};

/* ---- chance ---- */

static double uniform(struct job *j)
{
	return (double)(gen_random(&j->random) >> 11) / 4503599627370496.0 - 1;
}

/* Near enough to a normal distribution. */
static double normal(struct job *j)
{
	return (uniform(j) + uniform(j) + uniform(j) + uniform(j)) / 1.1547;
}

static int64_t jitter(struct job *j, int64_t mean)
{
	return (int64_t)((double)mean * (1 + 0.02 * normal(j)));
}

/* ---- what happens ---- */

static struct event *add(struct rank *r, enum kind kind, int64_t from,
			 int64_t to)
{
	struct event *e;

	if (r->count == r->cap) {
		r->cap = r->cap ? 2 * r->cap : 256;
		r->events = realloc(r->events, r->cap * sizeof(*r->events));
		if (!r->events)
			abort();
	}
	e = &r->events[r->count++];
	*e = (struct event){ .kind = (uint8_t)kind,
			     .host_ns = from,
			     .host_dur_ns = to - from };
	return e;
}

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* The host launches; the kernel could start so early. */
static struct event *launch(struct job *j, struct rank *r, enum kind kind,
			    int64_t free_ns)
{
	int64_t at = r->host_ns;
	struct event *e;

	r->host_ns += jitter(j, 9000);
	e = add(r, kind, at, r->host_ns);
	e->corr = ++r->corr;
	e->start_ns = later(at + 7000, free_ns + 800);
	return e;
}

static void compute(struct job *j, struct rank *r, enum kind kind, double ns)
{
	struct event *e = launch(j, r, kind, r->compute_ns);

	e->dur_ns = jitter(j, (int64_t)ns);
	r->compute_ns = e->start_ns + e->dur_ns;
}

/* A collective of ranks first, first + every, ...: where each starts. */
static void meet(struct job *j, enum kind kind, int first, int count, int every)
{
	double bytes = kind == GATHER ? 4 << 20 : 32 << 20;
	double factor = (kind == GATHER ? 1 : 2) * (count - 1.0) / count;
	double rate = kind == GATHER ? 200 : 150;
	int64_t last = INT64_MIN, transfer;

	for (int i = 0; i < count; i++) {
		struct rank *r = &j->ranks[first + i * every];
		int64_t *stream =
			kind == GATHER ? &r->gather_ns : &r->reduce_ns;
		struct event *e = launch(j, r, kind, *stream);

		e->group = first;
		e->start_ns = later(e->start_ns, r->compute_ns);
		last = later(last, e->start_ns);
		if (e->start_ns < j->first_ns)
			j->first_ns = e->start_ns;
	}
	transfer = jitter(j, 15000 + (int64_t)(bytes * factor / rate));
	for (int i = 0; i < count; i++) {
		struct rank *r = &j->ranks[first + i * every];
		struct event *e = &r->events[r->count - 1];
		int64_t end =
			last + transfer +
			(int64_t)fabs(normal(j) * (double)j->o->scatter_ns);

		e->dur_ns = end - e->start_ns;
		*(kind == GATHER ? &r->gather_ns : &r->reduce_ns) = end;
		if (kind == GATHER)
			r->compute_ns = later(r->compute_ns, end);
		j->last_ns = later(j->last_ns, end);
	}
}

/* Is it this rank's turn to be late so? */
static bool is_late(const struct job *j, int rank, const char *cause)
{
	return j->is_planted && rank == j->o->straggler &&
	       !strcmp(j->o->late_cause, cause);
}

static void begin_step(struct job *j, int64_t step)
{
	for (int i = 0; i < j->o->ranks; i++) {
		struct rank *r = &j->ranks[i];
		int64_t from = r->host_ns, load = jitter(j, 300000);

		if (is_late(j, i, "loader") && step == j->o->steps / 2)
			load += 18000000;
		r->host_ns += load;
		add(r, LOADER, from, r->host_ns);
		j->starts[i] = from;
	}
}

static void run_layer(struct job *j, int64_t step, int layer)
{
	const struct gen_opts *o = j->o;

	for (int i = 0; i < o->ranks; i++) {
		struct rank *r = &j->ranks[i];

		if (is_late(j, i, "garbage") && step == o->steps / 2 &&
		    layer == o->layers / 2) {
			add(r, GARBAGE, r->host_ns, r->host_ns + 12000000);
			r->host_ns += 12000000;
		}
		for (int k = 0; k < 3; k++)
			compute(j, r, MM,
				is_late(j, i, "slow") ? 150000 * 1.25 : 150000);
		if (is_late(j, i, "more"))
			compute(j, r, MORE, 112500);
	}
	for (int i = 0; i < o->ranks; i += PAIR)
		meet(j, GATHER, i, PAIR, 1);
	for (int i = 0; i < PAIR && layer >= o->layers; i++)
		meet(j, REDUCE, i, o->ranks / PAIR, PAIR);
}

static void end_step(struct job *j)
{
	for (int i = 0; i < j->o->ranks; i++) {
		struct rank *r = &j->ranks[i];
		int64_t from;

		r->compute_ns =
			later(r->compute_ns, later(r->gather_ns, r->reduce_ns));
		compute(j, r, OPTIMIZER,
			is_late(j, i, "some") ? 200000 * 7.5 : 200000);
		from = r->host_ns;
		r->host_ns = later(from + 5000, r->compute_ns + 6000);
		add(r, SYNC, from, r->host_ns);
		add(r, STEP, j->starts[i], r->host_ns);
	}
}

static void run(struct job *j)
{
	const struct gen_opts *o = j->o;
	int per = (o->ranks + o->hosts - 1) / o->hosts;

	j->random = o->seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	j->first_ns = INT64_MAX;
	j->ranks = calloc((size_t)o->ranks, sizeof(*j->ranks));
	j->starts = calloc((size_t)o->ranks, sizeof(*j->starts));
	if (!j->ranks || !j->starts)
		abort();
	for (int i = 0; i < o->ranks; i++) {
		struct rank *r = &j->ranks[i];

		if (i % per) {
			r->offset_ns = r[-(i % per)].offset_ns;
			r->drift = r[-(i % per)].drift;
		} else {
			r->offset_ns =
				(int64_t)(uniform(j) * (double)o->skew_ns);
			r->drift = uniform(j) * o->drift_ppm * 1e-6;
		}
	}
	for (int i = 0; i < o->ranks; i++)
		j->ranks[i].offset_ns +=
			i % per ? (int64_t)(uniform(j) * 3000) : 0;
	for (int64_t step = 0; step < o->steps; step++) {
		begin_step(j, step);
		for (int layer = 0; layer < 2 * o->layers; layer++)
			run_layer(j, step, layer);
		end_step(j);
	}
}

static void release(struct job *j)
{
	for (int i = 0; i < j->o->ranks; i++)
		free(j->ranks[i].events);
	free(j->ranks);
	free(j->starts);
}

/* ---- files ---- */

static int64_t local(const struct rank *r, int64_t ns)
{
	return ZERO + ns + r->offset_ns + (int64_t)(r->drift * (double)ns);
}

static void put_event(struct gen_out *out, const struct rank *r,
		      const char *category, const char *name, int pid, int tid,
		      int64_t from, int64_t to)
{
	gen_puts(out, ",\n{\"ph\": \"X\", \"cat\": \"");
	gen_puts(out, category);
	gen_puts(out, "\", \"name\": \"");
	gen_puts(out, name);
	gen_puts(out, "\", \"pid\": ");
	gen_puti(out, pid);
	gen_puts(out, ", \"tid\": ");
	gen_puti(out, tid);
	gen_puts(out, ", \"ts\": ");
	gen_put_us(out, local(r, from), false);
	gen_puts(out, ", \"dur\": ");
	gen_put_us(out, local(r, to) - local(r, from), false);
	gen_puts(out, ", \"args\": {");
}

static void put_collective(struct gen_out *out, const struct job *j,
			   const struct event *e)
{
	bool is_gather = e->kind == GATHER;
	int64_t elements = is_gather ? 2 << 20 : 16 << 20;

	gen_puts(out, is_gather ? ", \"Collective name\": \"_allgather_base\""
				: ", \"Collective name\": \"allreduce\"");
	gen_puts(out, ", \"In msg nelems\": ");
	gen_puti(out, elements);
	gen_puts(out, ", \"Out msg nelems\": ");
	gen_puti(out, elements);
	gen_puts(out, ", \"Group size\": ");
	gen_puti(out, is_gather ? PAIR : j->o->ranks / PAIR);
	gen_puts(out, ", \"dtype\": \"BFloat16\", \"Process Group Name\": \"");
	gen_puts(out, is_gather ? "tp" : "dp");
	gen_puti(out, is_gather ? e->group / PAIR : e->group);
	gen_puts(out, "\"");
}

static void put_launched(struct gen_out *out, const struct job *j,
			 const struct rank *r, const struct event *e)
{
	static const struct {
		const char *op, *kernel;
		int stream;
	} words[] = {
		[MM] = { "aten::mm", "ampere_bf16_gemm", COMPUTE },
		[MORE] = { "aten::add", "vectorized_elementwise_kernel",
			   COMPUTE },
		[OPTIMIZER] = { "Optimizer.step#AdamW.step",
				"multi_tensor_apply_kernel", COMPUTE },
		[GATHER] = { "record_param_comms",
			     "ncclDevKernel_AllGather_RING_LL", GATHERS },
		[REDUCE] = { "record_param_comms",
			     "ncclDevKernel_AllReduce_Sum_bf16_RING_LL",
			     REDUCES },
	};
	int64_t at = e->host_ns + 2000;

	put_event(out, r, "cpu_op", words[e->kind].op, 1, 1, e->host_ns,
		  e->host_ns + e->host_dur_ns);
	gen_puts(out, "}}");
	put_event(out, r, "cuda_runtime", "cudaLaunchKernel", 1, 1, at,
		  at + 4000);
	gen_puts(out, "\"correlation\": ");
	gen_puti(out, e->corr);
	gen_puts(out, "}}");
	put_event(out, r, "kernel", words[e->kind].kernel, 0,
		  words[e->kind].stream, e->start_ns, e->start_ns + e->dur_ns);
	gen_puts(out, "\"device\": 0, \"stream\": ");
	gen_puti(out, words[e->kind].stream);
	gen_puts(out, ", \"correlation\": ");
	gen_puti(out, e->corr);
	if (e->kind == GATHER || e->kind == REDUCE)
		put_collective(out, j, e);
	gen_puts(out, "}}");
}

static void put_host(struct gen_out *out, const struct rank *r,
		     const struct event *e, int64_t step)
{
	char name[64];

	if (e->kind == STEP)
		snprintf(name, sizeof(name), "ProfilerStep#%lld",
			 (long long)step);
	else
		snprintf(name, sizeof(name), "%s",
			 e->kind == LOADER    ? "enumerate(DataLoader)#_Next."
						"__next__"
			 : e->kind == GARBAGE ? "gc.collect"
					      : "cudaStreamSynchronize");
	put_event(out, r, e->kind == SYNC ? "cuda_runtime" : "user_annotation",
		  name, 1, 1, e->host_ns, e->host_ns + e->host_dur_ns);
	gen_puts(out, "}}");
}

static FILE *open_in(const char *folder, const char *name)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "wb");
	if (!f)
		fprintf(stderr, "mktrace: '%s': %s\n", path, strerror(errno));
	return f;
}

static int write_rank(const struct job *j, int rank, const char *folder)
{
	static struct gen_out out;
	const struct rank *r = &j->ranks[rank];
	int per = (j->o->ranks + j->o->hosts - 1) / j->o->hosts;
	int64_t step = 0;
	char name[64];

	snprintf(name, sizeof(name), "rank-%d.json", rank);
	out = (struct gen_out){ .file = open_in(folder, name) };
	if (!out.file)
		return -1;
	gen_puts(&out, "{\"schemaVersion\": 1, \"distributedInfo\": "
		       "{\"backend\": \"nccl\", \"rank\": ");
	gen_puti(&out, rank);
	gen_puts(&out, ", \"world_size\": ");
	gen_puti(&out, j->o->ranks);
	gen_puts(&out, "}, \"host_name\": \"node");
	gen_puti(&out, rank / per);
	gen_puts(&out, "\", \"traceEvents\": [\n{\"ph\": \"M\", \"name\": "
		       "\"process_name\", \"pid\": 1, \"ts\": 0, \"args\": "
		       "{\"name\": \"python\"}}");
	for (size_t i = 0; i < r->count; i++) {
		const struct event *e = &r->events[i];

		if (e->kind == LOADER || e->kind == STEP ||
		    e->kind == GARBAGE || e->kind == SYNC)
			put_host(&out, r, e, step);
		else
			put_launched(&out, j, r, e);
		step += e->kind == STEP;
	}
	gen_puts(&out, "\n]}\n");
	gen_flush(&out);
	return fclose(out.file) || out.failed ? -1 : 0;
}

/* What a word of --late is called by 'profan ranks'. */
static const char *cause_of(const struct gen_opts *o)
{
	return !strcmp(o->late_cause, "loader")    ? "data loading"
	       : !strcmp(o->late_cause, "garbage") ? "garbage collection"
						   : "computation";
}

/* Why its computation is longer. */
static const char *work_of(const struct gen_opts *o)
{
	return !strcmp(o->late_cause, "slow")   ? "same kernels slower"
	       : !strcmp(o->late_cause, "more") ? "more or other kernels"
	       : !strcmp(o->late_cause, "some") ? "some kernels slower"
						: "as others";
}

static int64_t first_end(const struct job *j)
{
	int64_t first = INT64_MAX;

	for (int i = 0; i < j->o->ranks; i++)
		for (size_t k = 0; k < j->ranks[i].count; k++) {
			const struct event *e = &j->ranks[i].events[k];

			if ((e->kind == GATHER || e->kind == REDUCE) &&
			    e->start_ns + e->dur_ns < first)
				first = e->start_ns + e->dur_ns;
		}
	return first;
}

static int write_truth(const struct job *j, const struct job *without,
		       const char *folder)
{
	FILE *f = open_in(folder, "truth.csv");
	bool has_one = j->o->straggler >= 0 && j->o->straggler < j->o->ranks;

	if (!f)
		return -1;
	fprintf(f,
		"key,value\nstraggler,%lld\ncause,%s\nwork,%s\ntotal_ns,%lld\n"
		"without_ns,%lld\nzero_ns,%lld\n",
		has_one ? (long long)j->o->straggler : -1LL,
		has_one ? cause_of(j->o) : "", has_one ? work_of(j->o) : "",
		(long long)(j->last_ns - j->first_ns),
		(long long)(without->last_ns - without->first_ns),
		(long long)first_end(j));
	if (fclose(f))
		return -1;
	f = open_in(folder, "truth.csv.ranks");
	if (!f)
		return -1;
	fprintf(f, "rank,offset_ns,drift_ppm\n");
	for (int i = 0; i < j->o->ranks; i++)
		fprintf(f, "%d,%lld,%.6f\n", i,
			(long long)j->ranks[i].offset_ns,
			j->ranks[i].drift * 1e6);
	return fclose(f) ? -1 : 0;
}

int gen_ranks(const struct gen_opts *o, const char *folder)
{
	struct job job = { .o = o, .is_planted = true }, without = { .o = o };
	int rc = 0;

	if (mkdir(folder, 0777) && errno != EEXIST)
		return -1;
	run(&job);
	run(&without);
	for (int i = 0; i < o->ranks && !rc; i++)
		rc = write_rank(&job, i, folder);
	if (!rc)
		rc = write_truth(&job, &without, folder);
	release(&job);
	release(&without);
	return rc;
}
