/* SPDX-License-Identifier: MIT */
/*
 * Questions side by side, as lanes, eight to a group: what each makes of an
 * edge.
 */
#ifndef PF_ANALYSIS_PATH_REPLAY_IMPL_H
#define PF_ANALYSIS_PATH_REPLAY_IMPL_H

#include "analysis/path/change_impl.h"

#define LANES 8

typedef int64_t path_lanes_ns[LANES];

/* The lanes of a mask one after the other, the lowest first. */
static inline bool path_next_lane(unsigned *mask, unsigned *lane)
{
	if (!*mask)
		return false;
	*lane = (unsigned)__builtin_ctz(*mask);
	*mask &= *mask - 1;
	return true;
}

/* What the lanes of a group change: bits, and factors by lane. */
struct path_group {
	struct path_lane *lanes;
	unsigned count, all; /* lanes; all of their bits */
	unsigned of_class[PF_GPU_CLASSES], by_name, below, any_host;
	unsigned no_waits, least_launch, no_comm, pessimistic;
	double by_class[PF_GPU_CLASSES][LANES], work_factor[LANES];
	double host_factor[LANES];
	unsigned char *of_name, *of_key; /* lanes, or NULL */
};

/* Entries of a thread, read on; those before a point have been. */
struct path_reader {
	const unsigned char *at;
	uint32_t point;
};

struct path_groups {
	const struct path *p;
	const struct path_ledger *ledger;
	size_t name_count;
	struct path_group *items;
	size_t count, width; /* lanes in all */
	/* groups that may differ, by what an edge is: path_group_bit() each */
	uint64_t *of_key, of_class[PF_GPU_CLASSES];
	uint64_t any_host, no_waits, least_launch, no_comm;
	/* of the edge of the host at hand, what questions ask for */
	struct path_part {
		uint64_t key, ns;
	} * parts;
	size_t part_count, part_cap;
	uint64_t part_groups;
};

/* An edge, and when its source is. */
struct path_leg {
	struct path_edge edge;
	uint32_t to;
	int64_t ns;          /* when nothing is changed */
	const int64_t *from; /* all lanes' */
};

/* What an edge takes: ns, but in lanes that have their own, or none. */
struct path_load {
	int64_t ns;
	unsigned own, gone;
	path_lanes_ns own_ns;
};

/* A group among others: the 64th and all behind it are one bit. */
static inline uint64_t path_group_bit(size_t group)
{
	return UINT64_C(1) << (group < 63 ? group : 63);
}

/* ---- weigh.c ---- */
void path_groups_init(struct path_groups *s, const struct path *p,
		      const struct path_ledger *ledger, struct path_lane *lanes,
		      size_t count);
void path_groups_release(struct path_groups *s);
/*
 * What of an edge of the host, which takes so long, may be changed: the next
 * entries.
 */
void path_read_parts(struct path_groups *s, struct path_reader *from,
		     int64_t ns);
/* The groups that may change what an edge takes, or when its source is. */
uint64_t path_differing(const struct path_groups *s, const struct path_edge *e);
void path_weigh(const struct path_groups *s, const struct path_group *g,
		const struct path_leg *leg, struct path_load *out);
/* Time of work, in each lane. */
void path_scale(const struct path_groups *s, const struct path_group *g,
		uint32_t work, int64_t ns, struct path_load *out);

/* ---- lanes.c ---- */
/* Of each lane the later one of t and from + ns. */
void path_reach(int64_t *restrict t, const int64_t *restrict from, int64_t ns,
		size_t count);

#endif
