/* SPDX-License-Identifier: MIT */
/*
 * A program that is being made: two host threads, each with a clock, and one
 * stream that runs what was launched in order.  machine.c has the parts that
 * programs are made of, model.c a program, plant.c its faults.
 *
 * "open" is the chain of events that have begun and not ended; the tape holds
 * what backward must undo.
 */
#ifndef PF_TESTS_GEN_MODEL_H
#define PF_TESTS_GEN_MODEL_H

#include "gen/gen.h"

#define GEN_DEPTH_MAX 64
#define GEN_TAPE_MAX  1024
#define GEN_STREAM    7

struct gen_tape {
	void (*undo)(struct gen_model *m, const struct gen_tape *t);
	const char *node, *evaluate;
	uint64_t sequence;
	size_t forward; /* the event that it undoes */
	int layer;
};

struct gen_model {
	const struct gen_opts *opts;
	const struct gen_plant *plant; /* or NULL */
	int device;
	uint64_t random;
	int64_t clock[2], gpu_free_ns; /* host threads; the stream */
	int thread;
	struct gen_event *ev;
	size_t count, cap;
	size_t open[GEN_DEPTH_MAX];
	int depth;
	struct gen_tape tape[GEN_TAPE_MAX];
	size_t tape_len;
	uint64_t external, correlation, sequence, flow, index, python;
	uint64_t python_open[GEN_DEPTH_MAX];
	int python_depth;
	int64_t step, allocated, reserved, next_addr;
	/* what the fault has cost so far */
	int64_t idle_ns, blocked_ns, fault_count;
	int64_t waiting_ns, waiting_count; /* until work is launched again */
	int64_t drained_ns;  /* when the stream ran dry; 0: it did not */
	int64_t step_end_ns; /* the host's, of the last step */
	bool is_starved;     /* work is launched too slowly here */
};

/* ---- events: borrowed until the next one is added ---- */
struct gen_event *gen_add(struct gen_model *m, enum gen_kind kind,
			  const char *name);
/* Time of the thread: mean * (0.75 .. 1.25). */
void gen_spend(struct gen_model *m, int64_t mean_ns);
struct gen_event *gen_begin(struct gen_model *m, enum gen_kind kind,
			    const char *name, const struct gen_shape *shape);
void gen_finish(struct gen_model *m);
void gen_leaf(struct gen_model *m, const char *name,
	      const struct gen_shape *shape);
/* A python frame, only when stacks are recorded. */
void gen_frame(struct gen_model *m, const char *name, int module);
void gen_frame_end(struct gen_model *m);
void gen_memory(struct gen_model *m, int64_t bytes);

/* ---- work on the stream ---- */
/* The call that starts it, and it; gen_gpu_end() says how long it takes. */
struct gen_event *gen_gpu_work(struct gen_model *m, const char *call,
			       enum gen_kind kind, const char *name);
void gen_gpu_end(struct gen_model *m, struct gen_event *ev, int64_t mean_ns);
void gen_launch(struct gen_model *m, const struct gen_kernel *kernel);
void gen_copy(struct gen_model *m, const char *name, int64_t bytes);
void gen_clear(struct gen_model *m, int64_t bytes);
void gen_wait_for_gpu(struct gen_model *m, const char *call);

/* ---- faults ---- */
enum gen_place { GEN_AT_LOAD, GEN_AT_MIDDLE, GEN_AT_END };
/* Make the fault if this is its place in the step. */
void gen_plant_make(struct gen_model *m, enum gen_place place);
/* A GPU event is about to start: is it late because of the fault? */
void gen_plant_work(struct gen_model *m, int64_t start_ns);

#endif
