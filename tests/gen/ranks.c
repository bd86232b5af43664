/* SPDX-License-Identifier: MIT */
/*
 * A job of several ranks with clocks of their own: pairs of ranks gather in
 * each layer, and what is the same place of all pairs reduces behind it.  The
 * job is made twice, with the straggler and without, so that what it costs is
 * known.
 */
#include "config.h"

#include "gen/ranks.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PAIR 2
#define ZERO INT64_C(1700000000000000000)

enum { COMPUTE = 7, GATHERS = 20, REDUCES = 24, NORMS = 28, P2P = 32 };

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

int64_t gen_jitter(struct job *j, int64_t mean)
{
	return (int64_t)((double)mean * (1 + 0.02 * normal(j)));
}

/* ---- what happens ---- */

struct event *gen_happen(struct rank *r, enum gen_rank_kind kind, int64_t from,
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

int64_t gen_later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* The host launches; the kernel could start so early. */
struct event *gen_start(struct job *j, struct rank *r, enum gen_rank_kind kind,
			int64_t free_ns)
{
	int64_t at = r->host_ns;
	struct event *e;

	r->host_ns += gen_jitter(j, 9000);
	e = gen_happen(r, kind, at, r->host_ns);
	e->corr = ++r->corr;
	e->start_ns = gen_later(at + 7000, free_ns + 800);
	return e;
}

void gen_compute(struct job *j, struct rank *r, enum gen_rank_kind kind,
		 double ns)
{
	struct event *e = gen_start(j, r, kind, r->compute_ns);

	e->dur_ns = gen_jitter(j, (int64_t)ns);
	r->compute_ns = e->start_ns + e->dur_ns;
	r->computation_ns += e->dur_ns;
}

/* A collective of ranks first, first + every, ...: where each starts. */
void gen_meet(struct job *j, enum gen_rank_kind kind, int first, int count,
	      int every)
{
	double bytes = kind == GATHER ? 4 << 20 : kind == NORM ? 4 : 32 << 20;
	double factor = (kind == GATHER ? 1 : 2) * (count - 1.0) / count;
	double rate = kind == GATHER ? 200 : 150;
	int64_t last = INT64_MIN, transfer;

	for (int i = 0; i < count; i++) {
		struct rank *r = &j->ranks[first + i * every];
		int64_t *stream =
			kind == GATHER ? &r->gather_ns : &r->reduce_ns;
		struct event *e = gen_start(j, r, kind, *stream);

		e->group = first;
		e->size = count;
		e->start_ns = gen_later(e->start_ns, r->compute_ns);
		last = gen_later(last, e->start_ns);
		if (e->start_ns < j->first_ns)
			j->first_ns = e->start_ns;
	}
	transfer = gen_jitter(j, 15000 + (int64_t)(bytes * factor / rate));
	for (int i = 0; i < count; i++) {
		struct rank *r = &j->ranks[first + i * every];
		struct event *e = &r->events[r->count - 1];
		int64_t end =
			last + transfer +
			(int64_t)fabs(normal(j) * (double)j->o->scatter_ns);

		e->dur_ns = end - e->start_ns;
		*(kind == GATHER ? &r->gather_ns : &r->reduce_ns) = end;
		if (kind == GATHER)
			r->compute_ns = gen_later(r->compute_ns, end);
		j->last_ns = gen_later(j->last_ns, end);
	}
}

/* Is it this rank's turn to be late so? */
static bool is_late(const struct job *j, int rank, const char *cause)
{
	return j->is_planted && rank == j->o->straggler &&
	       !strcmp(j->o->late_cause, cause);
}

void gen_begin_step(struct job *j, int64_t step)
{
	for (int i = 0; i < j->o->ranks; i++) {
		struct rank *r = &j->ranks[i];
		int64_t from = r->host_ns, load = gen_jitter(j, 300000);

		if (is_late(j, i, "loader") && step == j->o->steps / 2)
			load += 18000000;
		r->host_ns += load;
		gen_happen(r, LOADER, from, r->host_ns);
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
			gen_happen(r, GARBAGE, r->host_ns,
				   r->host_ns + 12000000);
			r->host_ns += 12000000;
		}
		for (int k = 0; k < 3; k++)
			gen_compute(j, r, MM,
				    is_late(j, i, "slow") ? 150000 * 1.25
							  : 150000);
		if (is_late(j, i, "more"))
			gen_compute(j, r, MORE, 112500);
	}
	for (int i = 0; i < o->ranks; i += PAIR)
		gen_meet(j, GATHER, i, PAIR, 1);
	for (int i = 0; i < PAIR && layer >= o->layers; i++)
		gen_meet(j, REDUCE, i, o->ranks / PAIR, PAIR);
}

void gen_end_step(struct job *j)
{
	for (int i = 0; i < j->o->ranks; i++) {
		struct rank *r = &j->ranks[i];
		int64_t from;

		r->compute_ns = gen_later(
			r->compute_ns, gen_later(r->gather_ns, r->reduce_ns));
		gen_compute(j, r, OPTIMIZER,
			    is_late(j, i, "some") ? 200000 * 7.5 : 200000);
		from = r->host_ns;
		r->host_ns = gen_later(from + 5000, r->compute_ns + 6000);
		gen_happen(r, SYNC, from, r->host_ns);
		gen_happen(r, STEP, j->starts[i], r->host_ns);
		r->step_ns += r->host_ns - j->starts[i];
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
		gen_begin_step(j, step);
		if (o->stages)
			gen_pipeline_step(j);
		for (int layer = 0; layer < 2 * o->layers && !o->stages;
		     layer++)
			run_layer(j, step, layer);
		gen_end_step(j);
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

/* Ranks of a group: first, first + every, ... as torch records them. */
static void put_ranks(struct gen_out *out, int first, int count, int every)
{
	gen_puts(out, ", \"Process Group Ranks\": \"[");
	for (int i = 0; i < count; i++) {
		gen_puts(out, i ? ", " : "");
		gen_puti(out, first + i * every);
	}
	gen_puts(out, "]\"");
}

/*
 * A message between stages; its group is those of all stages.  Records of
 * hosts also say which of the group the other is, as "Rank"; kernels do not.
 */
static void put_message(struct gen_out *out, const struct job *j,
			const struct event *e)
{
	int per = j->o->ranks / j->o->stages;
	bool is_sent = e->kind == SEND || e->kind == SENT;
	bool is_record = e->kind == SENT || e->kind == RECEIVED;

	gen_puts(out, is_sent ? "\"Collective name\": \"send\""
			      : "\"Collective name\": \"recv\"");
	gen_puts(out, ", \"In msg nelems\": 524288, \"Out msg nelems\": 524288"
		      ", \"dtype\": \"BFloat16\", \"Group size\": ");
	gen_puti(out, j->o->stages);
	gen_puts(out, ", \"Process Group Name\": \"pp");
	gen_puti(out, e->group);
	gen_puts(out, "\"");
	if (is_record) {
		gen_puts(out, ", \"Rank\": ");
		gen_puti(out, e->peer / per);
	}
	put_ranks(out, e->group, j->o->stages, per);
	gen_puts(out, is_sent ? ", \"Dst Rank\": " : ", \"Src Rank\": ");
	gen_puti(out, e->peer);
}

static void put_collective(struct gen_out *out, const struct event *e)
{
	bool is_gather = e->kind == GATHER;
	int64_t elements = is_gather ? 2 << 20 : e->kind == NORM ? 2 : 16 << 20;

	gen_puts(out, is_gather ? "\"Collective name\": \"_allgather_base\""
				: "\"Collective name\": \"allreduce\"");
	gen_puts(out, ", \"In msg nelems\": ");
	gen_puti(out, elements);
	gen_puts(out, ", \"Out msg nelems\": ");
	gen_puti(out, elements);
	gen_puts(out, ", \"Group size\": ");
	gen_puti(out, e->size);
	gen_puts(out, ", \"dtype\": \"BFloat16\", \"Process Group Name\": \"");
	gen_puts(out, is_gather ? "tp" : e->kind == NORM ? "all" : "dp");
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
		[NORM] = { "record_param_comms",
			   "ncclDevKernel_AllReduce_Sum_f32_RING_LL", NORMS },
		[SEND] = { "record_param_comms", "ncclDevKernel_SendRecv",
			   P2P },
		[RECEIVE] = { "record_param_comms", "ncclDevKernel_SendRecv",
			      P2P },
		[EXCHANGE] = { "nccl:coalesced", "ncclDevKernel_SendRecv",
			       P2P },
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
		  words[e->kind].stream + e->lane, e->start_ns,
		  e->start_ns + e->dur_ns);
	gen_puts(out, "\"device\": 0, \"stream\": ");
	gen_puti(out, words[e->kind].stream + e->lane);
	gen_puts(out, ", \"correlation\": ");
	gen_puti(out, e->corr);
	if (e->kind == GATHER || e->kind == REDUCE || e->kind == NORM) {
		gen_puts(out, ", ");
		put_collective(out, e);
	} else if (e->kind == SEND || e->kind == RECEIVE) {
		gen_puts(out, ", ");
		put_message(out, j, e);
	}
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

/* A message that has no kernel of its own. */
static void put_recorded(struct gen_out *out, const struct job *j,
			 const struct rank *r, const struct event *e)
{
	put_event(out, r, "cpu_op", "record_param_comms", 1, 1, e->host_ns,
		  e->host_ns + e->host_dur_ns);
	put_message(out, j, e);
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
		else if (e->kind == SENT || e->kind == RECEIVED)
			put_recorded(&out, j, r, e);
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

			if ((e->kind == GATHER || e->kind == REDUCE ||
			     e->kind == NORM) &&
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
	if (fclose(f))
		return -1;
	if (!j->o->stages)
		return 0;
	f = open_in(folder, "truth.csv.pipeline");
	return !f || gen_pipeline_truth(j, f) ? -1 : 0;
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
