/* SPDX-License-Identifier: MIT */
/*
 * What a question of "what if" changes: how long GPU work takes, how long the
 * host's own time, and which edges there are.
 */
#ifndef PF_PATH_CHANGE_IMPL_H
#define PF_PATH_CHANGE_IMPL_H

#include <regex.h>

#include "path/path_impl.h"

/* Kinds of the host's time, as bits. */
enum {
	PATH_IS_DATA = 1,  /* in what loads data */
	PATH_IS_GC = 2,    /* collecting garbage */
	PATH_IS_ALLOC = 4, /* in the allocator */
	PATH_IS_CODE = 8,  /* op, call that does not wait, Python, annotation */
	PATH_IS_ANY = 16,
};

struct path_change {
	const char *text;                /* as asked, or as shown */
	double by_class[PF_GPU_CLASSES]; /* factors of GPU work */
	uint32_t work_name;              /* of this name alone: work_factor */
	double work_factor;              /* or of those that the regex fits */
	regex_t work_regex, host_regex, op_regex;
	bool has_work_regex, has_host_regex, has_op_regex;
	uint32_t op_name; /* innermost, of operators: host_factor */
	unsigned host_kinds;
	double host_factor;
	bool has_gpu, has_host; /* does it change such time? */
	bool no_waits;          /* calls do not wait, but for own copies */
	bool least_launch;      /* launches take their least */
	bool no_comm;           /* only its stream waits for communication */
	/* filled in by folding: of each host edge what is changed of it */
	int64_t *host_ns;
	unsigned char *below; /* calls in operators that the regex fits */
	unsigned char *names; /* by string.id: fits (1 work, 2 host, 4 op) */
};

struct path_changes {
	struct path_change *items;
	size_t count, cap;
};

/* One that changes nothing. */
struct path_change *path_change_add(struct path_changes *c, const char *text);
/* As the user wrote it: PF_EUSAGE if it makes no sense. */
int path_change_parse(struct path_changes *c, const char *text,
		      struct pf_err *err);
/* The questions that are asked without being asked for. */
void path_change_standard(struct path_changes *c);
void path_changes_release(struct path_changes *c);

/* ---- fold.c ---- */
/* What the questions change of each host edge, in one walk over the host. */
int path_fold(struct path *p, struct path_changes *c, struct pf_err *err);

/* ---- replay.c ---- */
/*
 * How long the window would take.  Pessimistic: work of other streams that
 * had ended before work began has ended before it begins then, too.
 */
int64_t path_answer(const struct path *p, const struct path_change *c,
		    bool is_pessimistic);
/* The most that it can save: what it takes off the path; -1: not bounded. */
int64_t path_bound(const struct path *p, const struct path_change *c);

#endif
