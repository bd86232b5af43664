/* SPDX-License-Identifier: MIT */
/*
 * Pickles without their tree.  An opcode machine of numbers, texts, lists,
 * dictionaries and small tuples: no code that could build an object exists,
 * and any other opcode is refused by name and byte.  Protocols 2 to 5.
 *
 * What a container is for (its role) is asked when it begins; its items are
 * handed over as soon as they are complete, and dropped.  So memory is the
 * depth of the file, its distinct texts and 8 bytes for each memo entry, of
 * which there are fewer than one for 16 bytes and a million.  No recursion; no
 * length of the file is trusted.
 */
#ifndef PF_FORMATS_MEMSNAP_PICKLE_H
#define PF_FORMATS_MEMSNAP_PICKLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/intern.h"

#define PF_PICKLE_DEPTH_MAX 100u         /* of containers */
#define PF_PICKLE_STACK_MAX (1u << 16)   /* values in wait */
#define PF_PICKLE_TEXT_MAX  (16u << 20)  /* bytes of one text */
#define PF_PICKLE_TEXTS_MAX (256u << 20) /* of all distinct ones */
#define PF_PICKLE_IDLE_MAX  (64u << 20)  /* of those nobody asked for yet */
#define PF_PICKLE_MEMO_FREE (1u << 20)   /* entries of any file, and */
#define PF_PICKLE_MEMO_SIZE 16u          /* bytes for each more */

enum pf_pickle_type {
	PF_PICKLE_MARK, /* never handed over */
	PF_PICKLE_OPEN, /* a container that may still grow: neither */
	PF_PICKLE_NONE,
	PF_PICKLE_BOOL,
	PF_PICKLE_INT,
	PF_PICKLE_UINT,  /* one of 2^63 to 2^64 - 1: its bits in v */
	PF_PICKLE_BIG,   /* an integer beyond both */
	PF_PICKLE_REAL,  /* the bits of a double in v */
	PF_PICKLE_TEXT,  /* v: number in texts */
	PF_PICKLE_PAIR,  /* two integers below 2^31 in v */
	PF_PICKLE_THING, /* a container by its role and number */
	PF_PICKLE_OTHER, /* something that nobody asked for */
};

struct pf_pickle_val {
	uint8_t type, role;
	uint16_t spare;
	uint32_t at; /* of an open container: which */
	int64_t v;
};

struct pf_pickle_open {
	uint8_t role; /* 0: nobody wants it */
	bool is_dict;
	bool is_closed;    /* by its first list of members: a record */
	bool has_folded;   /* items above its mark were handed over */
	uint32_t at, mark; /* places on the stack; mark 0: none */
	uint32_t number;   /* given by begin() */
	uint32_t record;   /* free for the handler */
	int64_t count;     /* items handed over */
	int64_t offset;    /* of its opcode */
};

/*
 * Whose pickle it is.  Roles are 1 to 255; functions return -1 with err set to
 * give up.  "key" is NULL in a list; "above" is how many items of the list
 * parent come before, NULL at the top.
 */
struct pf_pickle_handler {
	void *arg;
	/* The role of a new container, and its number. */
	uint8_t (*role)(void *arg, const struct pf_pickle_open *parent,
			const struct pf_pickle_val *key, bool is_dict);
	int (*begin)(void *arg, struct pf_pickle_open *open,
		     const struct pf_pickle_open *parent, int64_t above,
		     struct pf_err *err);
	int (*set)(void *arg, struct pf_pickle_open *open,
		   const struct pf_pickle_val *key,
		   const struct pf_pickle_val *value, struct pf_err *err);
	int (*add)(void *arg, struct pf_pickle_open *open,
		   const struct pf_pickle_val *value, struct pf_err *err);
	int (*end)(void *arg, struct pf_pickle_open *open, struct pf_err *err);
	/* Every texts entry, once, in order. */
	void (*text)(void *arg, uint32_t number, const char *p, size_t len);
	/* Is a value under this key of no use, unless the memo gives it back? */
	bool (*ignores)(void *arg, uint32_t key);
};

/* Where the bytes come from: as pf_input_read(). */
typedef int64_t pf_pickle_read_fn(void *arg, void *buf, size_t len,
				  struct pf_err *err);

struct pf_pickle {
	const struct pf_pickle_handler *handler;
	struct pf_intern texts;
	int64_t bytes;    /* read */
	int64_t trailing; /* bytes after the end, of those */
	int64_t end;      /* where STOP is, or where reading ended */
	bool is_torn;     /* it failed because bytes are missing or damaged */
	/* the rest is private */
	struct pf_pickle_val *stack;
	size_t stack_cap;
	uint32_t depth;
	uint32_t *marks;
	size_t mark_count, mark_cap;
	struct pf_pickle_open open[PF_PICKLE_DEPTH_MAX];
	uint32_t open_count;
	uint64_t *memo;
	size_t memo_count, memo_cap;
	int64_t *wide; /* values of entries that do not fit into one */
	size_t wide_count, wide_cap;
	pf_pickle_read_fn *read;
	void *read_arg;
	unsigned char *buf;
	size_t buf_cap, at, len;
	int64_t base; /* offset of buf[0] */
	bool is_last; /* the input has no more */
	struct pf_err *err;
};

/*
 * Read all of it.  PF_EDATA, with the byte, if it is cut off, damaged or has
 * an opcode that is not read.  *top: what the pickle is.
 */
int pf_pickle_load(struct pf_pickle *p, const struct pf_pickle_handler *handler,
		   pf_pickle_read_fn *read, void *arg,
		   struct pf_pickle_val *top, struct pf_err *err);
void pf_pickle_release(struct pf_pickle *p);

/* Offset of the opcode at hand. */
static inline int64_t pf_pickle_offset(const struct pf_pickle *p)
{
	return p->base + (int64_t)p->at;
}

#endif
