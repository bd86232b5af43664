/* SPDX-License-Identifier: MIT */
/*
 * Where readers put the events that they make of records: a batch, the
 * entries of its dictionaries, and what was found before.  All readers count,
 * place and check events here, whatever their records look like.
 */
#ifndef PF_FORMATS_SINK_H
#define PF_FORMATS_SINK_H

#include "formats/argline.h"
#include "formats/batch.h"
#include "formats/memo.h"

#define PF_SINK_CATEGORIES_MAX 16u
#define PF_SINK_DEVICES_MAX    256u

struct pf_sink {
	struct pf_parsed parsed;
	struct pf_argline args;
	struct pf_memos memos;
	/* categories in use; their dictionary entries are kept */
	const char *const *categories;
	size_t category_count;
	uint32_t category[PF_SINK_CATEGORIES_MAX];
	int64_t last_ns; /* the end of all events so far */
	bool has_last;
	int64_t offset; /* what is noted lies there; PF_OFFSET_UNKNOWN */
	/* who used a device's number first */
	struct pf_sink_user {
		int64_t device, process;
	} users[PF_SINK_DEVICES_MAX];
	size_t user_count;
	struct pf_buf scratch;
};

struct pf_sink_put {       /* where an event goes and what it is */
	unsigned category; /* of the list */
	enum pf_kind kind;
	char ph;
	uint32_t name, args, track;
	int64_t start_ns, dur_ns;
	int64_t back; /* by so many events it stands earlier in the file */
};

/* The list of categories is borrowed. */
void pf_sink_init(struct pf_sink *s, const char *const *categories,
		  size_t count);
void pf_sink_release(struct pf_sink *s);

/* Empty the batch for a new piece. */
void pf_sink_begin(struct pf_sink *s);
/* Does the batch hold so many events, or as much as one may? */
bool pf_sink_is_full(const struct pf_sink *s, size_t most);

void pf_sink_note(struct pf_sink *s, enum pf_repair_kind kind);
/* Times of an event; false if they cannot be stored: counted as skipped. */
bool pf_sink_times(struct pf_sink *s, int64_t start_ns, int64_t end_ns,
		   struct pf_sink_put *put);
/* Append to the batch with the arguments' slots; counts its kind alone. */
void pf_sink_store(struct pf_sink *s, const struct pf_sink_put *put);

uint32_t pf_sink_text(struct pf_sink *s, const char *text, size_t len);
uint32_t pf_sink_word(struct pf_sink *s, const char *word);
uint32_t pf_sink_track(struct pf_sink *s, char letter, const char *pid,
		       const char *tid);
/*
 * The track of a stream.  Of several processes that use one number for a
 * device all but the first have theirs in its name.
 */
uint32_t pf_sink_gpu_track(struct pf_sink *s, int64_t device, int64_t stream,
			   int64_t process, int64_t pid);

#endif
