/* SPDX-License-Identifier: MIT */
/*
 * Where readers put the events that they make of records: a batch, the
 * entries of its dictionaries, and what was found before.  All readers count,
 * place and check events here, whatever their records look like.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/intern.h"
#include "formats/batch.h"
#include "formats/event.h"

/*
 * The arguments of an event as they are stored: the text of a JSON object in
 * which what varies is a slot's place holder (formats/event.h), and the values
 * of the slots.  For readers of formats that are no JSON.
 */

struct pf_argline {
	struct pf_buf text;
	int64_t slots[PF_SLOT_COUNT];
	uint32_t mask;
	int generic; /* slots of that kind in use */
};

void pf_argline_release(struct pf_argline *a);

/* Start a new event: no text, no slots. */
void pf_argline_open(struct pf_argline *a);
/* A slot's value alone, of an event whose text is known already. */
static inline void pf_argline_set(struct pf_argline *a, enum pf_slot slot,
				  int64_t value)
{
	a->mask |= UINT32_C(1) << slot;
	a->slots[slot] = value;
}
/* Append "key": and leave the value to the caller. */
void pf_argline_key(struct pf_argline *a, const char *key);
void pf_argline_slot(struct pf_argline *a, const char *key, enum pf_slot slot,
		     int64_t value);
/* An address: all 64 bits are its number. */
void pf_argline_address(struct pf_argline *a, const char *key, uint64_t value);
/* A number that differs from event to event but has no slot of its own. */
void pf_argline_number(struct pf_argline *a, const char *key, uint64_t value);
void pf_argline_fixed(struct pf_argline *a, const char *key, int64_t value);
void pf_argline_real(struct pf_argline *a, const char *key, double value);
/* In quotes; a long text is cut and ends with "...". */
void pf_argline_quote(struct pf_buf *out, const char *text, size_t len);
void pf_argline_text(struct pf_argline *a, const char *key, const char *text,
		     size_t len);
/* The entry of the arguments written; PF_ID_NONE if there are none. */
uint32_t pf_argline_close(struct pf_argline *a, struct pf_dict *args);

/*
 * Entries of dictionaries found before, by a key of 128 bits: a table of fixed
 * size in which the newest of those that fall together stays.  When the
 * dictionaries are emptied the generation changes and all memos are void.
 */

#define PF_MEMO_BITS 14

struct pf_memos {
	uint32_t generation; /* 0: there are none yet */
	struct pf_memo {
		uint64_t a, b;
		uint32_t generation, entry;
	} * items; /* 1 << PF_MEMO_BITS of them */
};

static inline struct pf_memo *pf_memo_place(struct pf_memos *m, uint64_t a,
					    uint64_t b)
{
	uint64_t hash = (a ^ b * UINT64_C(0x9e3779b97f4a7c15)) *
			UINT64_C(0xd6e8feb86659fd93);

	return &m->items[hash >> (64 - PF_MEMO_BITS)];
}

/*
 * A place for an entry under a key, in this generation: true if it is there.
 * Else write to *entry what the key stands for.
 */
static inline bool pf_memo_find(struct pf_memos *m, uint64_t a, uint64_t b,
				uint32_t **entry)
{
	struct pf_memo *memo = pf_memo_place(m, a, b);

	*entry = &memo->entry;
	if (memo->a == a && memo->b == b && memo->generation == m->generation)
		return true;
	memo->a = a;
	memo->b = b;
	memo->generation = m->generation;
	return false;
}

/* ---- the sink ---- */

/* What records become, in all formats: each has its category, kind and ph. */
enum pf_cat {
	PF_CAT_KERNEL,
	PF_CAT_GRAPH, /* around kernels that were recorded, too */
	PF_CAT_COPY,
	PF_CAT_FILL,
	PF_CAT_SYNC,
	PF_CAT_RUNTIME,
	PF_CAT_DRIVER,
	PF_CAT_OVERHEAD,
	PF_CAT_OP,    /* a range that torch named */
	PF_CAT_RANGE, /* any other */
	PF_CAT_STEP,
	PF_CAT_MARK,
	PF_CAT_CUDA_EVENT,
	PF_CAT_CUDA_MEMORY,
	PF_CAT_UVM,
	PF_CAT_ENVIRONMENT,
	PF_CAT_OS_CALL,
	PF_CAT_RCCL,
	PF_CAT_MEMORY,
	PF_CAT_SCRATCH,
	PF_CAT_ROCM_CALL,
	PF_CAT_ROCM_WORK,
	PF_CATS
};

/* What is found once and remembered: the top byte of a memo's first key. */
enum pf_memo_of {
	PF_MEMO_NAME = 1,
	PF_MEMO_KERNEL,
	PF_MEMO_CALL,
	PF_MEMO_COPY,
	PF_MEMO_HOST_TRACK,
	PF_MEMO_GPU_TRACK,
	PF_MEMO_KERNEL_ARGS,
	PF_MEMO_CALL_ARGS,
	PF_MEMO_RANGE_ARGS,
};

#define PF_SINK_DEVICES_MAX 256u

struct pf_sink {
	struct pf_parsed parsed;
	struct pf_argline args;
	struct pf_memos memos;
	uint32_t category[PF_CATS]; /* their dictionary entries */
	int64_t last_ns;            /* the end of all events so far */
	bool has_last;
	int64_t offset; /* what is noted lies there; PF_OFFSET_UNKNOWN */
	/* who used a device's number first */
	struct pf_sink_user {
		int64_t device, process;
	} users[PF_SINK_DEVICES_MAX];
	size_t user_count;
	/* GPUs: the list "deviceProperties", and what is worked out from */
	struct pf_buf gpus;
	struct pf_sink_known {
		int64_t id, sms, warp;
	} * known;
	size_t known_count, known_cap;
	struct pf_map processes; /* as readers know them -> from 0 */
	uint64_t last_key;       /* found last */
	int64_t last_process;
	struct pf_sink_unread {
		char name[81];
		int64_t rows;
	} * unread;
	size_t unread_count, unread_cap;
};

struct pf_sink_put { /* where an event goes and what it is */
	enum pf_cat category;
	enum pf_kind kind;
	char ph;
	uint32_t name, args, track;
	int64_t start_ns, dur_ns;
	int64_t back; /* by so many events it stands earlier in the file */
};

void pf_sink_init(struct pf_sink *s);
void pf_sink_release(struct pf_sink *s);

/* Empty the batch for a new piece. */
void pf_sink_begin(struct pf_sink *s);
/* Does the batch hold so many events, or as much as one may? */
bool pf_sink_is_full(const struct pf_sink *s, size_t most);

void pf_sink_note(struct pf_sink *s, enum pf_repair_kind kind);
/* Records of a kind that is not read: skipped, and a fact by its name. */
void pf_sink_unread(struct pf_sink *s, const char *kind, size_t len,
		    int64_t count, int64_t offset);
/* As a reader's fact(): "FORMAT_unread_KIND". */
bool pf_sink_fact(const struct pf_sink *s, const char *format, size_t i,
		  char *key, size_t key_size, int64_t *value);
static inline uint64_t pf_sink_memo_key(enum pf_memo_of what, uint64_t low)
{
	return (uint64_t)what << 56 | (low & (UINT64_MAX >> 8));
}
/* A memo's place, as pf_memo_find(); and that it shall not be found again. */
static inline bool pf_sink_memo(struct pf_sink *s, enum pf_memo_of what,
				uint64_t low, uint64_t b, uint32_t **entry)
{
	return pf_memo_find(&s->memos, pf_sink_memo_key(what, low), b, entry);
}
static inline void pf_sink_forget(struct pf_sink *s, enum pf_memo_of what,
				  uint64_t low, uint64_t b)
{
	pf_memo_place(&s->memos, pf_sink_memo_key(what, low), b)->generation =
		0;
}

/* What an event is: its category, with the kind and ph of that. */
void pf_sink_is(struct pf_sink_put *put, enum pf_cat what);
/* Times of an event; false if they cannot be stored: counted as skipped. */
bool pf_sink_times(struct pf_sink *s, int64_t start_ns, int64_t end_ns,
		   struct pf_sink_put *put);
/* Append to the batch with the arguments' slots; counts its kind alone. */
void pf_sink_store(struct pf_sink *s, const struct pf_sink_put *put);
/* The same, with the arguments that have been written. */
void pf_sink_close(struct pf_sink *s, struct pf_sink_put *put);

uint32_t pf_sink_text(struct pf_sink *s, const char *text, size_t len);
uint32_t pf_sink_word(struct pf_sink *s, const char *word);
uint32_t pf_sink_track(struct pf_sink *s, char letter, const char *pid,
		       const char *tid);
/* The number of a process, from 0, by a key of the reader's; -1: too many. */
int64_t pf_sink_process(struct pf_sink *s, uint64_t key);
/*
 * The track of a stream.  Of several processes that use one number for a
 * device all but the first have theirs in its name.
 */
uint32_t pf_sink_gpu_track(struct pf_sink *s, int64_t device, int64_t stream,
			   int64_t process, int64_t pid);

/* ---- GPUs ---- */

/* A GPU as the list "deviceProperties" has it; numbers -1: not known. */
enum {
	PF_GPU_MEMORY,
	PF_GPU_MAJOR,
	PF_GPU_MINOR,
	PF_GPU_REGISTERS,
	PF_GPU_WARP,
	PF_GPU_SHARED,
	PF_GPU_SMS,
	PF_GPU_WARPS,     /* of an SM, at most */
	PF_GPU_BANDWIDTH, /* of its memory, in bytes a second */
	PF_GPU_NUMBERS
};
struct pf_sink_gpu {
	int64_t id;
	const char *name; /* or NULL */
	size_t name_len;
	int64_t numbers[PF_GPU_NUMBERS];
};
/* Append it; the list begins empty, and lacks its last bracket. */
void pf_sink_gpu(struct pf_buf *list, const struct pf_sink_gpu *gpu);
/* List it, and know it. */
void pf_sink_add_gpu(struct pf_sink *s, const struct pf_sink_gpu *gpu);
/* NULL: it is none of those that were added. */
const struct pf_sink_known *pf_sink_known(const struct pf_sink *s, int64_t id);
/* Give the list to the trace, if there are any; once. */
void pf_sink_put_gpus(struct pf_sink *s);
