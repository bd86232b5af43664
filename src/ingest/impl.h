/* SPDX-License-Identifier: MIT */
/* What the parts of ingest share.  Not for others. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/outplace.h"
#include "base/spool.h"
#include "base/tempfile.h"
#include "formats/batch.h"
#include "formats/event.h"
#include "formats/input.h"
#include "formats/json/chrome.h"
#include "formats/memsnap/snap.h"
#include "ingest/ingest.h"
#include "store/block.h"
#include "store/comm_rule.h"
#include "store/db.h"

/*
 * Sorted runs: the events of one track from one chunk, in the order
 * (start, -end, file order), as a stream of variable-length integers that
 * each say the difference to the event before.  Written to and read back from
 * one place (pf_scratch); trusted, because only this process writes it.
 */

/* An event with global ids; slot values are dense, in ascending slot order. */
struct pf_run_event {
	int64_t start_ns, dur_ns, order;
	uint32_t name, args, type, mask;
	const int64_t *slots;
	/* texts when name or args is PF_ID_INLINE */
	const char *inline_name, *inline_args;
	uint32_t inline_name_len, inline_args_len;
};

/* Where a run lies. */
struct pf_run {
	uint64_t offset;
	uint32_t bytes, count;
	int64_t first_start_ns, last_start_ns;
	int64_t chunk_first, chunk_behind; /* order: of the chunk it is from */
};

/* What writer and reader remember from event to event. */
struct pf_run_memory {
	int64_t start_ns, order;
	int64_t slot[PF_SLOT_COUNT];
};

/* Append one event to a run's bytes; the memory begins as zero. */
void pf_run_put(struct pf_run_memory *memory, const struct pf_run_event *ev,
		struct pf_buf *out);

struct pf_run_reader {
	const struct pf_scratch *from;
	uint64_t at, end; /* what is not yet in the buffer */
	uint32_t left;    /* events not yet read */
	char *buffer;
	size_t buffer_bytes, have, used;
	struct pf_run_memory memory;
	struct pf_run_event event; /* the current one */
	int64_t slots[PF_SLOT_COUNT];
};

/* buffer_bytes is what to read at a time; grown for long inline texts. */
void pf_run_open(struct pf_run_reader *r, const struct pf_scratch *from,
		 const struct pf_run *run, size_t buffer_bytes);
void pf_run_close(struct pf_run_reader *r);

/* Move to the next event: 1, 0 at the end, -1 on a read error. */
int pf_run_next(struct pf_run_reader *r, struct pf_err *err);

/* Each event of runs, one run after the other. */
int pf_run_each(const struct pf_scratch *from, const struct pf_run *runs,
		size_t count,
		void (*visit)(void *arg, const struct pf_run_event *ev),
		void *arg, struct pf_err *err);

/* The stored order: start, then longer first, then as in the file. */
static inline int pf_run_compare(const struct pf_run_event *a,
				 const struct pf_run_event *b)
{
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	if (a->dur_ns != b->dur_ns)
		return a->dur_ns > b->dur_ns ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

/*
 * While a trace is read, those that were read before it are finished: merged
 * and written, one after the other, by a thread of their own.  So several
 * small files keep all processors busy, and the database is written in the
 * order of the files whatever the number of threads.
 *
 *	struct pf_ingest_lane *lane = pf_lane_new(finish, arg, true);
 *	for each trace: read it; pf_lane_put(lane, job, &err);
 *	pf_lane_finish(lane, &err);
 *	pf_lane_free(lane);
 */

struct pf_ingest;
struct pf_ingest_lane;

/* Finishes a trace and frees it, also when it fails. */
typedef int pf_lane_work(void *arg, struct pf_ingest *job, struct pf_err *err);

/* Has a trace failed?  Then what is read now will not be wanted. */
bool pf_lane_failed(const struct pf_ingest_lane *lane);

/* Wait until all that were put are finished. */
void pf_lane_wait(struct pf_ingest_lane *lane);

/*
 * While the lane's thread has nothing to finish it helps to read: it calls
 * "help" until that says that there is no more.  When pf_lane_thank() returns
 * it does so no longer.
 */
typedef bool pf_lane_help(void *arg);
void pf_lane_ask(struct pf_ingest_lane *lane, pf_lane_help *help, void *arg);
void pf_lane_thank(struct pf_ingest_lane *lane);

/*
 * The lane takes the job over; waits while PF_LANE_WAITING of them wait.
 * -1: this or an earlier trace failed, of which pf_lane_finish() tells.
 */
#define PF_LANE_WAITING 2

/*
 * A part of finishing that is done by who waits for the lane, or in the end by
 * who wants it: two threads have no need of a third.
 */
struct pf_lane_task {
	void (*run)(void *arg);
	void *arg;
	bool is_taken, is_done; /* the lane's */
};

/* Are there others who could wait?  If not, nothing is to be offered. */
bool pf_lane_is_beside(const struct pf_ingest_lane *lane);

/*
 * Rows that are found while reading but written afterwards, table by table,
 * so that the file's bytes do not depend on where the chunks were cut.  What
 * does not fit a small buffer waits in an unlinked file.
 */

struct pf_later {
	int fd; /* opened when the buffer first overflows */
	bool has_file;
	uint64_t written;
	struct pf_buf buf; /* behind what was written */
};

/* Two numbers and two texts; what they mean is the table's business. */
struct pf_later_row {
	int64_t a, b;
	uint32_t first_len, second_len;
	const char *first, *second; /* borrowed until the next call */
};

void pf_later_release(struct pf_later *l);
int pf_later_put(struct pf_later *l, const char *dir,
		 const struct pf_later_row *row, struct pf_err *err);

/* Call "row" for each row in the order of adding, then empty the list. */
int pf_later_each(struct pf_later *l,
		  int (*call)(void *arg, const struct pf_later_row *row,
			      struct pf_err *err),
		  void *arg, struct pf_err *err);

/*
 * The dictionaries of a whole ingest: text -> id, given in the order in which
 * texts first appear in the input, so ids do not depend on chunks or threads.
 * Memory holds a 128-bit digest per text, not the text, and stops growing at
 * PF_NAMES_MAX: later texts are PF_ID_INLINE and are stored with their events.
 */

#define PF_NAMES_MAX (1u << 18)

struct pf_ids {
	struct pf_dict_hash *digests; /* by id */
	uint32_t *table;              /* open addressing, id + 1 */
	size_t count, digests_cap, table_size;
};

/*
 * The id of a text: an old one, or a new one (*is_new), or PF_ID_INLINE when
 * the dictionary is full.  "max" ids at most.
 */
uint32_t pf_ids_find(struct pf_ids *n, const void *text, size_t len,
		     uint32_t salt, size_t max, bool *is_new);

#define PF_INGEST_TRACKS_MAX   65536u      /* of a trace */
#define PF_INGEST_TRACK_IDS    0x7ffffffeu /* of all: ids are 31 bits */
#define PF_INGEST_TYPES_MAX    65536u
#define PF_INGEST_METADATA_MAX (1u << 16)
#define PF_INGEST_RUNS_MAX     (1u << 21)
#define PF_INGEST_CARRY_MAX    (64u << 20)

/* A track as it grows; its id in the database is index + 1. */
struct pf_ingest_track {
	char *pid, *tid;
	char *name; /* of a line of a device, else of a metadata event */
	char class_letter;
	uint8_t line;       /* enum pf_device_line */
	bool has_begin_end; /* B and E events: pair them first */
	struct pf_run *runs;
	size_t run_count, runs_cap;
	uint32_t kinds; /* a bit for each kind that was read on it */
	uint32_t bound; /* of flows: 1 + the device's line they lead to */
	uint32_t owner, place;                  /* of merged.c */
	int64_t event_count, first_ns, last_ns; /* as stored */
};

struct pf_ingest_type {
	uint8_t ph, kind;
};

struct pf_ingest_step {
	int64_t step, start_ns, dur_ns, event_id;
	int64_t gpu_count, gpu_end_ns; /* GPU work that it launched */
	bool of_device; /* no range of the host: only if there are none */
};

/* A launch call, by correlation. */
struct pf_ingest_call {
	int64_t correlation, start_ns; /* leading: the sorter's keys */
	int64_t event_id, op_id, dur_ns;
	int64_t comm; /* number of the communication around it, or 0 */
};

/* What is known inside a range of a communication operator. */
struct pf_ingest_comm {
	enum pf_comm_rule rule;
	bool is_named;     /* name is nccl: or gloo:, not c10d:: */
	uint32_t args;     /* of the innermost record_param_comms */
	uint32_t name;     /* of the innermost nccl: or gloo:, else c10d:: */
	int64_t record_id; /* of the innermost record_param_comms, or 0 */
};

/* What waits until the file has been read, in the order of writing. */
enum pf_ingest_later {
	PF_LATER_STRING,   /* a: id; text */
	PF_LATER_ARGSET,   /* a: id, b: mask; text */
	PF_LATER_TYPE,     /* a: id, b: kind; phase, category */
	PF_LATER_MEMBER,   /* key, value */
	PF_LATER_METADATA, /* a: file order, b: in->metadata + 1, or 0; JSON */
	PF_LATER_LISTS
};

/*
 * A trace that was read leaves with a copy of this: ingest.c says of each
 * pointer whether it goes along or is copied, and what begins anew.
 */
struct pf_ingest {
	const struct pf_ingest_options *options;
	struct pf_db *db;            /* whose turn it is writes (ingest.c) */
	const char *directory;       /* of temporary files */
	struct pf_ingest_lane *lane; /* where earlier traces are finished */
	struct pf_ingest_workers *workers; /* what they keep between traces */
	/* dictionaries of the whole ingest */
	struct pf_ids strings, argsets, types, track_names, metadata_texts;
	/* equal metadata events are one row */
	struct pf_ingest_metadata {
		int64_t last_order, count;
	} * metadata; /* by id of the text */
	size_t metadata_cap;
	struct pf_ingest_type *type;
	size_t type_cap;
	/* of work of devices (ingest.c) */
	uint32_t plain_type, device_type[PF_KIND_COUNT];
	/* string ids of "ProfilerStep#N" -> N, ascending by id */
	struct {
		uint32_t id;
		int64_t step;
	} * step_names;
	uint32_t empty_name;         /* string id of "", PF_ID_NONE if none */
	uint32_t window_end_name;    /* of "Record Window End", likewise */
	struct pf_buf process_names; /* of this trace: merged.c */
	size_t step_name_count, step_names_cap;
	/* string ids of communication operators, ascending */
	struct {
		uint32_t id;
		enum pf_comm_rule rule;
	} * comm_names;
	size_t comm_name_count, comm_names_cap;
	struct pf_later later[PF_LATER_LISTS];
	sqlite3_stmt *put_config;
	/* what a file that cannot be read must not leave behind */
	struct pf_ingest_mark {
		size_t strings, argsets, types, metadata_texts;
		size_t step_names, comm_names;
		uint32_t empty_name, window_end_name;
		bool has_stacks; /* the format writes while it reads: */
		int64_t stack, stack_frame; /* last ids before that */
	} mark;
	/* the trace at hand */
	int64_t trace_id;
	int64_t named_rank; /* as the name of the file says; -1: it does not */
	int64_t owner_rank; /* of one of several that a file had; -1: of none */
	char *unread; /* why it is none: the file could not be read; or NULL */
	const char *path;
	bool is_last;
	int64_t bytes_before, events_before; /* of earlier traces */
	struct pf_ingest_track *tracks;      /* of this one: ids as below */
	size_t track_count, tracks_cap, first_track; /* counts all traces' */
	struct pf_scratch *runs;                     /* NULL: none is open */
	bool runs_lent; /* another trace of the file, finished later, has them */
	size_t runs_total;
	struct pf_repairs repairs;
	int64_t event_count, metadata_count, json_bytes;
	int64_t file_bytes, stored_count, paired_count, no_phase_count;
	int64_t first_ns, last_ns;
	/* files that are one trace with that of the path, read behind it */
	const char **parts;
	size_t part_count, parts_cap;
	size_t parts_read;
	int64_t part_bytes;
	struct pf_buf part_digests;
	const char *format_name; /* trace.format */
	const char *compression;
	char digest[PF_XXH128_TEXT]; /* of the file as it is stored */
	bool found_list;
	unsigned ts_fraction_digits;
	uint32_t facts;
	int64_t link_equal, link_differ, link_absent, ext_lower;
	int64_t kind_count[PF_KIND_COUNT];
	/* more rows of trace_fact, that only this format has */
	struct pf_ingest_fact {
		char *key;
		int64_t value;
	} * extra_facts;
	size_t extra_fact_count, extra_facts_cap;
	/* captures of one boot of a machine share their clock's base */
	struct pf_ingest_boot {
		char *id;
		int64_t base_ns;
	} * boots;
	size_t boot_count, boots_cap;
	struct pf_ingest_step *steps;
	size_t step_count, steps_cap;
	struct pf_ingest_comm *comms;
	size_t comm_count, comms_cap;
	struct pf_sorter *calls;
	struct pf_ingest_arrows *arrows; /* NULL: there are none */
};

/* A track by its global number, first_track <= i < track_count. */
static inline struct pf_ingest_track *pf_ingest_track(
	const struct pf_ingest *in, size_t i)
{
	return &in->tracks[i - in->first_track];
}

/*
 * A format: how the bytes of a file become batches that are settled and
 * written as sorted runs, in the order of the file.  read() also sets
 * json_bytes and found_list and adds what it had to mend to repairs.
 */
struct pf_ingest_format {
	const char *name; /* trace.format, if read() does not say */
	/* Is it this one, from the first bytes?  The last format takes all. */
	bool (*claims)(const char *head, size_t len);
	/* "head" has been read from input already. */
	int (*read)(struct pf_ingest *in, struct pf_input *input,
		    const struct pf_buf *head, struct pf_err *err);
	/*
	 * Has what is claimed a trace?  Reads on behind "head", which it may
	 * append to, and says of the trace what it has found, or why there is
	 * none; its format, if that is not the name above.  1, 0, or -1: the file cannot be read.  NULL: whatever is
	 * claimed has one.
	 */
	int (*look)(struct pf_input *input, struct pf_buf *head,
		    struct pf_seen *seen, struct pf_err *err);
	/* It writes into the database: when earlier traces are finished. */
	bool writes;
};
/* trace.format of JSON, which one of several processes may be. */
#define PF_INGEST_CHROME_NAME "chrome"
/* trace.format of JSON of which pf_is_plane() knows a process. */
#define PF_INGEST_PLANES_NAME "tf-json"
#define PF_INGEST_HEAD_BYTES  512 /* less only if the file is shorter */

/*
 * Defines a format and enters it in the list, which src/entries.sh makes; they
 * are asked in the order of the numbers.
 */
#define PF_INGEST_FORMAT(number, name)                                         \
	const struct pf_ingest_format pf_ingest_##name

/*
 * merged.c: the traces of one process each that the file was made of.
 * Events are owned by labels before the number of a pid, by their part of the
 * file or, if by_track, by their track.
 */
struct pf_ingest_owners {
	size_t count;   /* 1: it is one trace, and there is nothing else here */
	int64_t *ranks; /* of each */
	struct pf_ingest_label {
		char *text;
		uint32_t owner;
		int64_t rank;
	} * labels, *pids; /* sorted; pids: whose all tracks are */
	size_t label_count, pid_count;
	struct pf_ingest_part {
		int64_t begin; /* place in the file */
		uint32_t owner;
	} * parts; /* in order */
	size_t part_count, parts_cap;
	bool by_track;
};
/*
 * Of a file that has been read and not split off.  Its tracks are in the order
 * of their owners then, and each has one.
 */
int pf_ingest_owners_find(struct pf_ingest *in, struct pf_ingest_owners *o,
			  struct pf_err *err);
/* A metadata event, as it is read: it may say what a process is called. */
void pf_ingest_note_process(struct pf_ingest *in, const char *json, size_t len,
			    int64_t order);
void pf_ingest_owners_release(struct pf_ingest_owners *o);
/* Of equal ones that were counted; each may have as many of them. */
#define PF_INGEST_EACH_OWNER UINT32_MAX
uint32_t pf_ingest_owner_of_metadata(const struct pf_ingest_owners *o,
				     const char *json, size_t len,
				     int64_t order, int64_t count);
/* readers.c: how many threads read a trace; what they keep. */
unsigned pf_ingest_threads(const struct pf_ingest_options *o);
/* Two threads, of which one reads and the other finishes what was read? */
bool pf_ingest_is_pair(const struct pf_ingest *in);
struct pf_ingest_workers;
void pf_ingest_workers_free(struct pf_ingest_workers *all);

/* readers.c: the whole file into sorted runs, by its format. */
int pf_ingest_read(struct pf_ingest *in, struct pf_err *err);

/*
 * readers.c: can it be a list of trace events?  Not if it has elements
 * and all of them are something else: objects without "ph", numbers, lists.
 */
bool pf_ingest_has_events(int64_t event_count, int64_t no_phase_count,
			  const struct pf_repairs *repairs);

/* Remember a row of trace_fact; the key is copied. */
void pf_ingest_note_fact(struct pf_ingest *in, const char *key, int64_t value);

/*
 * readers.c: what becomes of batches that are made one after the other
 * in one thread.
 */
struct pf_ingest_batcher {
	struct pf_ingest *in;
	/* the rest is its own */
	pthread_mutex_t lock; /* of the runs; nobody else wants it */
	struct pf_ingest_sorter *sorter;
	uint32_t *type_ids;
	size_t type_ids_cap;
};
/*
 * Stacks that are kept as chains of frames: their rows.  Stack and frame i have
 * the id base + i + 1; ids go on from trace to trace.
 */
struct pf_ingest_frame {
	const char *file, *name; /* borrowed */
	size_t file_len, name_len;
	int64_t line; /* -1: not said */
};
struct pf_ingest_stacks {
	const struct pf_intern *frames;
	const struct pf_intern *stacks; /* struct pf_snap_stack */
	int64_t frame_base, stack_base;
	/* frame i of frames */
	void (*frame)(const void *arg, uint32_t i, struct pf_ingest_frame *out);
	const void *arg;
};
/* The bases that come next. */
int pf_ingest_stacks_begin(struct pf_ingest *in, struct pf_ingest_stacks *s,
			   struct pf_err *err);
/* P holds nothing that waits, and is empty again. */
int pf_ingest_stacks_put(const struct pf_ingest_stacks *s,
			 struct pf_ingest_batcher *b, struct pf_parsed *p,
			 struct pf_err *err);

/*
 * merge.c: what torch_npu says which operator of the host launched.
 * Gathered when the tracks of devices are known; those that begin on a track
 * of the host (by its global number) are resolved in order of time, all of a
 * track before those of the next; sorted when all are; then each task asks
 * for its own, in order of time on its track.
 */
struct pf_ingest_arrows;
void pf_ingest_arrows_free(struct pf_ingest_arrows *a);

/* merge.c: all runs of this trace's tracks into blocks, behind its texts. */
int pf_ingest_merge(struct pf_ingest *in, struct pf_err *err);

/*
 * merge.c: rows of the steps, which averages ask for; then rows of GPU
 * events, joined to their launch calls, and what of them belongs to each step.
 */
int pf_ingest_steps(struct pf_ingest *in, struct pf_err *err);
int pf_ingest_gpu_rows(struct pf_ingest *in, struct pf_err *err);

/*
 * readers.c: what readers of formats share that take their input byte by
 * byte and make one batch after the other of it, in one thread.
 */
struct pf_ingest_sink {
	struct pf_ingest *in;
	struct pf_parsed parsed;
	struct pf_ingest_batcher batcher;
	/* the rest is its own */
	struct pf_headed from;
	size_t most;
};

void pf_ingest_sink_init(struct pf_ingest_sink *s, struct pf_ingest *in,
			 struct pf_input *input, const struct pf_buf *head);
void pf_ingest_sink_release(struct pf_ingest_sink *s);

/* Bytes of the input, as pf_input_read(); counts them as json_bytes. */
int64_t pf_ingest_sink_read(void *sink, void *buf, size_t len,
			    struct pf_err *err);

/*
 * The batch becomes ids and sorted runs, and is empty again: if it is full, or
 * always.  1: entries of dictionaries mean nothing any more; -1 an error.
 */
int pf_ingest_sink_offer(struct pf_ingest_sink *s, struct pf_err *err);
int pf_ingest_sink_flush(struct pf_ingest_sink *s, struct pf_err *err);
