/* SPDX-License-Identifier: MIT */
/*
 * Groups of function events and their figures.  Floating point sums depend on
 * their order, and torch adds in the order in which events begin, while a
 * parent's figures are known only when it ends.  So an event takes a ticket
 * when it begins and is settled later; a group adds in ticket order.  Groups
 * that would keep too many events waiting send theirs to a sorter on disk, so
 * that memory does not grow with the trace.
 */
#ifndef PF_ANALYSIS_GROUPS_H
#define PF_ANALYSIS_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/intern.h"
#include "base/err.h"
#include "base/spool.h"
#include "torch/flops.h"

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

/* Its figures are known; figures NULL: it does not count after all. */
int pf_groups_settle(struct pf_groups *g, const struct pf_settle *s,
		     const struct pf_figures *figures, struct pf_err *err);

/* Add the exact figures of every group of "fine" to its coarse one. */
void pf_groups_fold(struct pf_groups *coarse, const struct pf_groups *fine);

/*
 * No more events: add what was spilled, drop groups without events and put
 * the rest in the order of their first events.
 */
int pf_groups_finish(struct pf_groups *g, struct pf_err *err);

#endif
