/* SPDX-License-Identifier: MIT */
/* What the parts of the reader share.  Not for others. */
#ifndef PF_NSYS_NSYS_IMPL_H
#define PF_NSYS_NSYS_IMPL_H

#include "base/intern.h"
#include "base/spool.h"
#include "nsys/nsys.h"
#include "pfr/kineto.h"
#include "trace/argline.h"
#include "trace/memo.h"

/* Categories in use; their dictionary entries are kept. */
enum pf_nsys_category {
	PF_NSYS_CAT_KERNEL,
	PF_NSYS_CAT_GRAPH_RANGE,
	PF_NSYS_CAT_MEMCPY,
	PF_NSYS_CAT_MEMSET,
	PF_NSYS_CAT_SYNC,
	PF_NSYS_CAT_RUNTIME,
	PF_NSYS_CAT_DRIVER,
	PF_NSYS_CAT_OVERHEAD,
	PF_NSYS_CAT_OP, /* that torch named */
	PF_NSYS_CAT_NVTX,
	PF_NSYS_CAT_STEP,
	PF_NSYS_CAT_CUDA_EVENT,
	PF_NSYS_CAT_OSRT,
	PF_NSYS_CATEGORIES
};

enum pf_nsys_memo { /* the top byte of a memo's first key */
		    PF_NSYS_MEMO_NAME = 1,
		    PF_NSYS_MEMO_CALL_NAME,
		    PF_NSYS_MEMO_COPY_NAME,
		    PF_NSYS_MEMO_HOST_TRACK,
		    PF_NSYS_MEMO_GPU_TRACK,
		    PF_NSYS_MEMO_CALL_ARGS,
		    PF_NSYS_MEMO_RANGE_ARGS,
};
#define PF_NSYS_MEMO_KEY(kind, low) ((uint64_t)(kind) << 56 | (low))

/*
 * Numbers by process and correlation, on disk if there are many: added while
 * one table is read, found while another is.  Of one key the first counts.
 */
struct pf_nsys_keys {
	struct pf_sorter *sorter;
	struct pf_spool *spool;
};
void pf_nsys_keys_init(struct pf_nsys_keys *k, const char *dir);
void pf_nsys_keys_release(struct pf_nsys_keys *k);
int pf_nsys_keys_add(struct pf_nsys_keys *k, int64_t key, int64_t value,
		     struct pf_err *err);
int pf_nsys_keys_seal(struct pf_nsys_keys *k, struct pf_err *err);
/* 1 and the value, 0: it was not added. */
int pf_nsys_keys_find(struct pf_nsys_keys *k, int64_t key, int64_t *value,
		      struct pf_err *err);

#define PF_NSYS_PROCESSES_MAX 65536u
#define PF_NSYS_THREADS_MAX   65536u
#define PF_NSYS_DEVICES_MAX   256u

/* What is known of a thread. */
enum { PF_NSYS_SEEN, PF_NSYS_NAMED };

/* What the file says of a device. */
struct pf_nsys_device {
	int64_t number; /* as kernels have it */
	struct pf_kineto_device kineto;
};

/* Who used a device's number first. */
struct pf_nsys_user {
	int64_t device, process;
};

struct pf_nsys_put { /* where an event goes and what it is */
	enum pf_nsys_category category;
	enum pf_kind kind;
	char ph;
	uint32_t name, args, track;
	int64_t start_ns, dur_ns;
};

struct pf_nsys_table;

struct pf_nsys {
	struct pf_parsed parsed;
	struct pf_foreign *f;
	struct pf_nsys_options options;
	struct pf_texts texts;
	int schema; /* 3025 for 3.25; 0: not known */
	/* reading */
	size_t table; /* of the list */
	bool is_open;
	struct pf_rows rows;
	bool is_described;
	/* processes in the order of their first event: globalPid */
	struct pf_map processes;
	int64_t last_pid, last_process; /* found last */
	int64_t only_process;           /* the one with calls; -1: several */
#define PF_NSYS_NO_PROCESS (-2)
	int64_t machine;       /* of the first process */
	struct pf_map threads; /* globalTid */
	struct pf_nsys_device devices[PF_NSYS_DEVICES_MAX];
	size_t device_count;
	struct pf_map gpu_of; /* a process's device -> the machine's */
	bool is_by_machine;   /* numbers of devices */
	struct pf_nsys_user users[PF_NSYS_DEVICES_MAX];
	size_t user_count;
	struct pf_nsys_keys waits;  /* calls that wait: what for */
	struct pf_nsys_keys graphs; /* kernels that are nodes of a graph */
	struct pf_buf labels, label_text; /* of NVTX's domains and categories */
	size_t label_count;
	int64_t range_count; /* external ids */
	int64_t open_count;  /* ranges without an end */
	int64_t last_ns;     /* of all events so far */
	bool has_last;
	/* counts that facts tell */
	int64_t graph_count;
	struct pf_nsys_rest { /* rows of a table that is not read */
		const char *table;
		int64_t rows;
	} * rest;
	size_t rest_count, rest_cap;
	/* entries found before */
	struct pf_memos memos;
	uint32_t category[PF_NSYS_CATEGORIES];
	struct pf_argline args;
	struct pf_buf clean;
};

/* A name of a domain (category -1) or of a category in it. */
struct pf_nsys_label {
	int64_t process, domain, category;
	size_t at, len; /* in label_text */
};

/* A table: its columns and what becomes of a row; 0, or -1 and err. */
struct pf_nsys_table {
	const char *name;
	const char *const *columns;
	size_t column_count;
	const char *where; /* only of these rows, which are no new ones */
	int (*map)(struct pf_nsys *n, const struct pf_rows *r,
		   struct pf_err *err);
	/* before the first row and behind the last, or NULL */
	int (*begin)(struct pf_nsys *n, struct pf_err *err);
	int (*end)(struct pf_nsys *n, struct pf_err *err);
	bool (*wanted)(const struct pf_nsys *n); /* NULL: yes */
};
#define PF_NSYS_COLUMNS(list) list, sizeof(list) / sizeof(*(list))

extern const struct pf_nsys_table pf_nsys_calls, pf_nsys_kernels,
	pf_nsys_copies, pf_nsys_fills, pf_nsys_graphs, pf_nsys_syncs,
	pf_nsys_events, pf_nsys_overhead, pf_nsys_own_overhead,
	pf_nsys_os_calls, pf_nsys_ranges, pf_nsys_open_ranges;

/* ---- map.c ---- */

void pf_nsys_note(struct pf_nsys *n, enum pf_repair_kind kind);
/*
 * Times of an event from its first two columns; false if it cannot be stored,
 * and then it has been counted as skipped.
 */
bool pf_nsys_times(struct pf_nsys *n, const struct pf_rows *r,
		   struct pf_nsys_put *put);
/* The same of times that were read. */
bool pf_nsys_check_times(struct pf_nsys *n, int64_t start_ns, int64_t end_ns,
			 struct pf_nsys_put *put);
/* Append to the batch. */
void pf_nsys_store(struct pf_nsys *n, const struct pf_nsys_put *put);

bool pf_nsys_memo(struct pf_nsys *n, enum pf_nsys_memo kind, uint64_t low,
		  uint64_t b, uint32_t **entry);
uint32_t pf_nsys_text(struct pf_nsys *n, const char *text, size_t len);
uint32_t pf_nsys_word(struct pf_nsys *n, const char *word);
/* The entry of the text of a number in a column. */
int pf_nsys_name(struct pf_nsys *n, const struct pf_rows *r, int column,
		 uint32_t *entry, struct pf_err *err);

/*
 * The number of a process by its globalPid or globalTid, from 0; -1: not
 * known.
 */
int64_t pf_nsys_process(struct pf_nsys *n, int64_t global_id);
/* What links a call and its work; 0: nothing. */
int64_t pf_nsys_key(int64_t process, int64_t correlation);
/* Take the key as the event's correlation. */
void pf_nsys_arg_key(struct pf_nsys *n, int64_t process, int64_t correlation);

uint32_t pf_nsys_host_track(struct pf_nsys *n, const struct pf_rows *r,
			    int column);
uint32_t pf_nsys_gpu_track(struct pf_nsys *n, int64_t device, int64_t stream,
			   int64_t global_pid);
/* Of a device's instants. */
uint32_t pf_nsys_mark_track(struct pf_nsys *n, int64_t device);
uint32_t pf_nsys_lane(struct pf_nsys *n, char letter, int64_t global_id,
		      const char *tid);
/* As it is shown: a process number, with the machine if there are several. */
int64_t pf_nsys_pid(int64_t global_id);
int64_t pf_nsys_tid(int64_t global_id);

/* ---- nsys.c ---- */

/* Are the rows of a table read? */
bool pf_nsys_is_read(const struct pf_nsys *n, const char *table);

/* ---- about.c ---- */

/* What the file says of itself and of devices, before the first event. */
int pf_nsys_describe(struct pf_nsys *n, struct pf_err *err);
/* Names of the processes and threads that have events; behind the last. */
int pf_nsys_name_all(struct pf_nsys *n, struct pf_err *err);
/* Count the rows of tables that nobody reads. */
int pf_nsys_count_rest(struct pf_nsys *n, struct pf_err *err);
/*
 * A device's number: as rows have it, or, where several processes mean several
 * GPUs by one number, that of the machine.
 */
int64_t pf_nsys_device_number(struct pf_nsys *n, int64_t global_pid,
			      int64_t device);
const struct pf_nsys_device *pf_nsys_device(const struct pf_nsys *n,
					    int64_t number);

#endif
