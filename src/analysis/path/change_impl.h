/* SPDX-License-Identifier: MIT */
/*
 * What a question of "what if" changes: how long GPU work takes, how long the
 * host's own time, and which edges there are.
 */
#ifndef PF_ANALYSIS_PATH_CHANGE_IMPL_H
#define PF_ANALYSIS_PATH_CHANGE_IMPL_H

#include <regex.h>

#include "analysis/path/path_impl.h"

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
	unsigned host_kinds;
	double host_factor;
	bool has_gpu, has_host; /* does it change such time? */
	bool no_waits;          /* calls do not wait, but for own copies */
	bool least_launch;      /* launches take their least */
	bool no_comm;           /* only its stream waits for communication */
	uint32_t key;         /* of entries of the ledger: of the host's time */
	unsigned char *below; /* calls in operators that the regex fits */
	bool *graph_ops;      /* by text of graphs: the same of replayed work */
	/* by string.id: fits (1 work, 2 host, 4 op); 0: not known yet */
	_Atomic unsigned char *names;
};

struct path_changes {
	struct path_change *items;
	size_t count, cap;
	size_t own_count; /* before those that are answered beside */
};

/* One that changes nothing. */
struct path_change *path_change_add(struct path_changes *c, const char *text);
/* As the user wrote it: PF_EUSAGE if it makes no sense. */
int path_change_parse(struct path_changes *c, const char *text,
		      struct pf_err *err);
/*
 * The questions that are asked without being asked for: without GPU work none
 * of what it takes (without launch calls all host time would be "overhead").
 */
void path_change_standard(struct path_changes *c, bool has_gpu_work);
void path_changes_release(struct path_changes *c);

/* ---- fold.c ---- */

/*
 * What may be changed of the host's own time: for each edge of a thread, in
 * the order of its points, how much of it has which key, as bytes.  A key is
 * one of the questions that were known before, or (by_op) an innermost
 * operator.
 */
struct path_ledger {
	struct path *p;
	struct path_changes *changes;
	uint32_t asked; /* keys of questions; behind them operators' */
	uint32_t key_count;
	bool is_on; /* is there a question of the host's time at all? */
	bool by_op;
	bool has_ops;     /* a question asks for enclosing operators */
	uint32_t *folded; /* questions of host time that is not all of it */
	uint32_t folded_count;
	size_t name_count;
	struct path_entries {
		unsigned char *bytes;
		size_t len, cap;
	} * threads;
};

/* Call it when the questions that are asked for are known. */
int path_ledger_init(struct path_ledger *l, struct path *p,
		     struct path_changes *c, bool by_op, struct pf_err *err);
void path_ledger_release(struct path_ledger *l);
/*
 * Fill it in.  Follow() follows the path meanwhile, and folds what is on the
 * threads that it is on; folder NULL: nothing is asked of the host.
 */
struct path_folder;
typedef int path_follow(void *context, struct path_folder *folder,
			struct pf_err *err);
int path_ledger_read(struct path_ledger *l, path_follow *follow, void *context,
		     struct pf_err *err);

/* Where the walk over a thread stands. */
struct path_stand {
	struct pf_walk *walk; /* or NULL: it has not begun */
	uint32_t thread;
	uint32_t point; /* up to it edges have been taken in */
	uint32_t call;  /* the next to be looked at */
};

int path_stand_begin(struct path_stand *s, const struct path *p,
		     struct pf_db *db, struct pf_names *names, uint32_t thread,
		     struct pf_err *err);

/* Is told what runs on a thread, in order of time. */
struct path_pieces {
	int (*add)(void *context, const struct path_stand *s,
		   const struct pf_place *place, int64_t from_ns, int64_t to_ns,
		   struct pf_err *err);
	void *context;
};

/* The thread's own time up to a point; folder or pieces may be NULL. */
int path_fold_edge(const struct path *p, struct path_folder *folder,
		   struct path_stand *s, uint32_t point,
		   const struct path_pieces *pieces, struct pf_err *err);
/* That of all points before "end"; of the last of them the pieces are told. */
int path_fold_to(struct path_folder *folder, struct path_stand *s, uint32_t end,
		 const struct path_pieces *pieces, struct pf_err *err);
/* The key of an operator, or PF_PATH_NONE. */
uint32_t path_ledger_key(const struct path_ledger *l, uint32_t op);

/* ---- replay.c ---- */

/* A question that is answered, with others beside it in one pass. */
struct path_lane {
	const struct path_change *change; /* NULL: nothing */
	/*
	 * Work of other streams that had ended before work began has ended
	 * before it begins then, too.
	 */
	bool is_pessimistic;
	int64_t ns;   /* out */
	bool is_open; /* of bounds: a cause is taken away */
};

/* What a replay asks for again long after it was worked out. */
struct path_far {
	uint32_t *items; /* ascending */
	size_t count, cap;
	unsigned char *bits; /* is it one?  By item */
};

void path_far_find(const struct path *p, struct path_far *out);
void path_far_release(struct path_far *f);

/* How long the window would take, of any number of questions. */
void path_answer(const struct path *p, const struct path_far *far,
		 const struct path_ledger *l, struct path_lane *lanes,
		 size_t count);
/* The most that each can save: what it takes off the path; -1: not bounded. */
void path_bound(const struct path *p, const struct path_ledger *l,
		struct path_lane *lanes, size_t count);

/* ---- whatif.c ---- */
/* The questions that are known before the path is. */
int path_ask(struct path *p, struct path_changes *c, struct pf_err *err);
int path_what_if(struct path *p, const struct path_rows *rows,
		 struct path_changes *c, const struct path_ledger *l,
		 struct pf_err *err);

#endif
