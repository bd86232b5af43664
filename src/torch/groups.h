/* SPDX-License-Identifier: MIT */
/*
 * Groups of function events and their figures.  Floating point sums depend on
 * their order, and torch adds in the order in which events begin, while a
 * parent's figures are known only when it ends.  So an event takes a ticket
 * when it begins and is settled later; a group adds in ticket order.  Groups
 * that would keep too many events waiting send theirs to a sorter on disk, so
 * that memory does not grow with the trace.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/intern.h"
#include "base/spool.h"
#include "events/args.h"

/*
 * Floating point operations of one call, as torch's profiler counts them (a
 * trace does not hold them): unsigned 64-bit arithmetic, wrapping, integer
 * division in the order written.  Operators torch does not know count 0.
 *
 * Traces hold no shapes of tensors whose sizes are symbolic (compiled and
 * exported code), which are recorded as if there were no tensor: where a
 * formula needs one its FLOPs are unknown.  So they are where the trace has no
 * shapes or, of convolutions, no concrete inputs.
 *
 * Sums have 128 bits, as Python's have no end.
 */

enum pf_flop_op {
	PF_FLOP_NONE = 0,
	PF_FLOP_MM,
	PF_FLOP_ADDMM,
	PF_FLOP_BMM,
	PF_FLOP_BADDBMM,
	PF_FLOP_POINTWISE, /* aten::add, aten::mul */
	PF_FLOP_CONV2D,
};

/* Which formula an operator name has. */
enum pf_flop_op pf_flops_op(const char *name, size_t len);

/* FLOPs of one call from its argument object; false if they are unknown. */
bool pf_flops(enum pf_flop_op op, struct pf_json args, uint64_t *out);

struct pf_flops_sum {
	uint64_t low, high;
	uint64_t unknown_count; /* calls that are not in it */
};

/* <0, 0 or >0; what is not all known is less than anything else. */
int pf_flops_compare(const struct pf_flops_sum *a,
		     const struct pf_flops_sum *b);
/* The nearest double, as Python's float() of the sum. */
double pf_flops_double(const struct pf_flops_sum *sum);

#define PF_FLOPS_DIGITS 40
/* Its decimal digits. */
char *pf_flops_digits(char out[PF_FLOPS_DIGITS],
		      const struct pf_flops_sum *sum);

/*
 * The sum, or -1 where it is not known or not below 2^63: what columns of
 * databases can hold.
 */
int64_t pf_flops_known(const struct pf_flops_sum *sum);

enum pf_figure {
	PF_FIG_SELF_CPU,
	PF_FIG_CPU,
	PF_FIG_SELF_DEVICE,
	PF_FIG_DEVICE,
	PF_FIG_COUNT
};

/* What one event adds to its group. */
struct pf_figures {
	int64_t ns[PF_FIG_COUNT];
	double us[PF_FIG_COUNT];
	int64_t bytes[PF_FIG_COUNT]; /* memory of CPU and device, alike */
	struct pf_flops_sum flops;
};

/* Where an event stands in torch's list. */
struct pf_fe_place {
	int64_t start_ns, end_ns, position;
	uint8_t class; /* 0 CPU events, 1 Kineto's, 2 memory, 3 OOM */
};

struct pf_group_key {
	uint32_t name, overload, shapes, stack; /* texts */
	bool is_device, is_annotation;
};

struct pf_group {
	struct pf_group_key key;
	struct pf_fe_place first;
	bool is_async, has_parent; /* of the first event */
	uint64_t count;
	struct pf_figures sum;
	/* Tickets [settled, issued) wait in a ring. */
	uint64_t issued, settled;
	struct pf_waiting *ring;
	size_t ring_size; /* a power of two, or 0 */
	bool is_spilled;
	uint32_t coarse; /* for pf_groups_fold() */
};

struct pf_groups {
	/*
	 * Each group is the union of some of another grouping's: only
	 * floating point is summed here, pf_groups_fold() adds the rest.
	 */
	bool is_coarse;
	struct pf_group *group;
	size_t count, cap;
	struct pf_map by_key, by_texts, by_overload;
	uint64_t waiting, waiting_max;
	size_t count_max; /* groups; more are PF_ELIMIT. 0: no limit */
	struct pf_sorter *spill;
	const char *temp_dir;
};

/* waiting_max: how many events may wait in memory. */
void pf_groups_init(struct pf_groups *g, uint64_t waiting_max,
		    const char *temp_dir);
void pf_groups_release(struct pf_groups *g);

/* The number of a key's group. */
uint32_t pf_groups_find(struct pf_groups *g, const struct pf_group_key *key);

/* An event of the group begins; returns its ticket. */
uint64_t pf_groups_begin(struct pf_groups *g, uint32_t group);

struct pf_settle {
	uint32_t group;
	uint64_t ticket;
	struct pf_fe_place place;
	bool is_async, has_parent;
};

/* Add the exact figures of every group of "fine" to its coarse one. */
void pf_groups_fold(struct pf_groups *coarse, const struct pf_groups *fine);

/*
 * No more events: add what was spilled, drop groups without events and put
 * the rest in the order of their first events.
 */
int pf_groups_finish(struct pf_groups *g, struct pf_err *err);

/*
 * torch's tree of function events, one stack of open events per logical
 * thread.  Events come in torch's order; each is settled in its groups when
 * it is closed and it is sure that it is no duplicate (the only child of a
 * parent of the same name vanishes and leaves its children and kernels to
 * the parent).
 *
 * An event without a tree (asynchronous, or of a device) is not pushed here.
 */

/* At most this many groupings are made at once. */
#define PF_GROUPINGS_MAX 2

/* Python's sum(): plain, or Neumaier's from 3.12 on. */
struct pf_fsum {
	double sum, rest;
};

static inline void pf_fsum_add(struct pf_fsum *s, double x, bool compensated)
{
	double t = s->sum + x;

	if (compensated) {
		if (__builtin_fabs(s->sum) >= __builtin_fabs(x))
			s->rest += (s->sum - t) + x;
		else
			s->rest += (x - t) + s->sum;
	}
	s->sum = t;
}

static inline double pf_fsum_total(const struct pf_fsum *s)
{
	return s->rest != 0 && __builtin_isfinite(s->rest) ? s->sum + s->rest
							   : s->sum;
}

/* What an event brings along. */
struct pf_node {
	struct pf_fe_place place;
	uint32_t name;
	bool is_row; /* counts in groups */
	bool is_op;  /* an operator or annotation */
	bool has_parent;
	bool is_python;
	bool in_backward; /* within a backward operator */
	bool has_stack;   /* other than the argument's: */
	uint32_t stack;
	double cpu_us, kernel_us;
	int64_t kernel_ns, cpu_bytes, device_bytes;
	struct pf_flops_sum flops;
	uint32_t group[PF_GROUPINGS_MAX];
	uint64_t ticket[PF_GROUPINGS_MAX];
	/* Of its children, kept by the tree. */
	uint32_t children;
	bool holds_child; /* the only one so far, closed, of the same name */
	struct pf_fsum child_cpu, child_device;
	int64_t child_cpu_ns, child_device_ns;
	int64_t child_cpu_bytes, child_device_bytes;
};

struct pf_tree {
	struct pf_groups *groups; /* grouping_count of them */
	size_t grouping_count;
	bool compensated;
	struct pf_stack {
		struct pf_node *node;
		size_t depth, cap;
	} * stack;
	size_t stack_count;
	uint64_t too_deep; /* events left without a place in the tree */
};

void pf_tree_init(struct pf_tree *t, struct pf_groups *groups,
		  size_t grouping_count, size_t stacks, bool compensated);
void pf_tree_release(struct pf_tree *t);

/*
 * Close what ends before an event of a thread begins and return the place
 * for the event, all zero but has_parent; NULL when it is nested too deep.
 * The caller fills it in at once.
 */
struct pf_node *pf_tree_push(struct pf_tree *t, uint32_t thread,
			     int64_t start_ns, int64_t end_ns,
			     struct pf_err *err);

/*
 * An event's figures are known; NULL: it does not count after all.  Of those
 * that have no tree (a device's, asynchronous ones) others say it.
 */
int pf_tree_settle(struct pf_tree *t, const struct pf_node *n,
		   const struct pf_figures *f, bool is_async,
		   struct pf_err *err);

/* Close everything. */
int pf_tree_finish(struct pf_tree *t, struct pf_err *err);
