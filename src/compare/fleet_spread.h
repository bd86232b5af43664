/* SPDX-License-Identifier: MIT */
/*
 * How a figure differs over ranks: its sum, and the quantiles
 * (base/stats.h) of what each rank has of it.
 */
#ifndef PF_COMPARE_FLEET_SPREAD_H
#define PF_COMPARE_FLEET_SPREAD_H

#include "base/mem.h"
#include "compare/fleet.h"
#include "show/doc.h"

#define PF_FLEET_FIGURES 12

/* What is read of each rank or GPU, and what it is called. */
struct pf_fleet_by {
	const char *statement; /* schema/ */
	const char *unit;      /* "step", "GPU" */
	const char *unit_key;  /* what "one" counts, or NULL */
	const char *list, *list_title;
	/* The first is what the others are parts of. */
	struct pf_fleet_figure {
		const char *key, *title;
		bool is_shown; /* to people, of each */
	} figures[PF_FLEET_FIGURES];
	size_t count;
};

/* Whole steps of each rank; values are means of its steps. */
extern const struct pf_fleet_by pf_fleet_by_step;
/* GPUs of each rank. */
extern const struct pf_fleet_by pf_fleet_by_device;

struct pf_fleet_spreads {
	const struct pf_fleet_by *by;
	struct pf_fleet_one {
		const char *capture;
		int64_t rank; /* PF_NO_INT: not known */
		int64_t unit; /* steps, or the number of the GPU */
		int64_t total_ns[PF_FLEET_FIGURES];
		int64_t value_ns[PF_FLEET_FIGURES];
	} * items; /* the largest first */
	size_t count;
	struct pf_arena texts;
	bool has_captures; /* several */
};

int pf_fleet_spreads_read(struct pf_fleet_spreads *s, struct pf_db *db,
			  const struct pf_fleet_by *by, struct pf_err *err);
void pf_fleet_spreads_release(struct pf_fleet_spreads *s);

/* The finding: the median, and the largest. */
void pf_fleet_spreads_say(const struct pf_fleet_spreads *s, struct pf_doc *doc);

/* The tables "spread" and that of all, by->list. */
void pf_fleet_spreads_show(const struct pf_fleet_spreads *s,
			   struct pf_doc *doc);

#endif
