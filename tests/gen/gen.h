/* SPDX-License-Identifier: MIT */
/*
 * mktrace: makes profiler traces that look like real ones, without a GPU and
 * the same bytes for the same options everywhere.  One step is made at a
 * time, written and forgotten, so memory does not grow with the file.
 *
 * model.c makes the events of a step from the parts of machine.c, plant.c adds
 * faults, emit.c writes all as Kineto does, chrome.c makes other Chrome traces,
 * truth.c counts what was written; ranks.c and
 * pipeline.c make jobs of several ranks.
 */
#ifndef PF_TESTS_GEN_H
#define PF_TESTS_GEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum gen_kind {
	GEN_CPU_OP,
	GEN_ANNOTATION,
	GEN_PYTHON,
	GEN_MEMORY, /* last of those that have an "Ev Idx" */
	GEN_RUNTIME,
	GEN_OVERHEAD,
	GEN_KERNEL,
	GEN_MEMCPY,
	GEN_MEMSET,
	GEN_GPU_ANNOTATION,
	GEN_KINDS
};

struct gen_opts {
	int64_t steps;
	int64_t size_bytes; /* 0: by steps */
	uint64_t seed;
	int layers;
	bool compact, old, chrome, inference, stacks;
	bool amd, no_steps;
	int gpus;
	const struct gen_plant *plant; /* or NULL */
	const char *truth_path, *planted_path;
	/* of a job; ranks 0: a trace */
	int ranks, hosts;
	int64_t straggler, skew_ns, drift_ppm, scatter_ns;
	const char *late_cause;
	int stages, microbatches; /* of a pipeline; 0: there is none */
	bool batched; /* messages of a kernel that does not say them */
};

/* The arguments that torch records for the inputs of an operator: JSON. */
struct gen_shape {
	const char *dims, *types, *strides, *concrete;
};

struct gen_kernel {
	const char *name;
	int64_t dur_ns;
	int grid[3], block[3], registers, shared_bytes;
};

struct gen_event {
	enum gen_kind kind;
	const char *name; /* NULL: "ProfilerStep#" and the step */
	const struct gen_shape *shape;
	const struct gen_kernel *kernel;
	int64_t step, start_ns, end_ns;
	int64_t bytes, addr, allocated, reserved;
	uint64_t external_id, correlation, sequence, flow;
	uint64_t index, python_id, python_parent;
	int thread; /* 0 main, 1 backward, 2 the driver; GPU: the stream */
	int device;
	int module; /* of a python event; -1: none */
	bool flow_start, backward, on_gpu, to_host;
};

/* ---- writing bytes: buffered, checked once at the end ---- */
struct gen_out {
	FILE *file;
	char buf[1 << 16];
	size_t used;
	int64_t total;
	bool failed;
};

void gen_puts(struct gen_out *o, const char *s);
void gen_putc(struct gen_out *o, char c);
void gen_puti(struct gen_out *o, int64_t v);
void gen_putu(struct gen_out *o, uint64_t v);
void gen_put_us(struct gen_out *o, int64_t ns, bool whole); /* decimal us */
int gen_flush(struct gen_out *o);                           /* 0 or -1 */

/* ---- what was written ---- */
struct gen_truth;
struct gen_truth *gen_truth_new(void);
void gen_truth_free(struct gen_truth *t);
/* Names must be constants: they are compared and kept by address. */
void gen_truth_add(struct gen_truth *t, const char *what, const char *category,
		   const char *name, int64_t dur_ns);
int gen_truth_write(const struct gen_truth *t, const char *path);

/* ---- random numbers ---- */
uint64_t gen_random(uint64_t *state);
/* mean * (0.75 .. 1.25), at least 1 */
int64_t gen_vary(uint64_t *state, int64_t mean);

/* ---- the model ---- */
struct gen_model;
/* The program of one GPU. */
struct gen_model *gen_model_new(const struct gen_opts *opts, int device);
void gen_model_free(struct gen_model *m);
/* Make the next step; the events are borrowed until the next call. */
const struct gen_event *gen_model_step(struct gen_model *m, size_t *count);

/* When the host and the GPU are done with the last step. */
int64_t gen_model_clock(const struct gen_model *m);

/* ---- faults ---- */
const struct gen_plant *gen_plant_find(const char *name); /* or NULL */
/* What the model's fault has cost, and how it must be named: csv. */
int gen_plant_write(struct gen_model *m, const char *path);

/* ---- a folder: a file a rank, and what is planted ---- */
int gen_ranks(const struct gen_opts *opts, const char *folder);

/* ---- a whole file ---- */
int gen_kineto(const struct gen_opts *opts, struct gen_out *out,
	       struct gen_truth *truth);
int gen_chrome(const struct gen_opts *opts, struct gen_out *out,
	       struct gen_truth *truth);

#endif
