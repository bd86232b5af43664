/* SPDX-License-Identifier: MIT */
/*
 * Memory that only grows, up to a fixed end: whoever adds holds a short lock,
 * whoever reads needs none.  The bytes below the length never change.  Three
 * of them keep what becomes META, INFO and DEF frames, so that the writer can
 * write what is new, and all of it again at the end.
 */
#ifndef PF_AGENT_LOG_H
#define PF_AGENT_LOG_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pf_log {
	pthread_mutex_t lock;
	uint8_t *data;
	_Atomic size_t len;
	size_t room;
};

/* The log uses the caller's memory. */
void pf_log_init(struct pf_log *l, void *memory, size_t room);

size_t pf_log_length(const struct pf_log *l);

/* Add bytes.  False if there is no room: then nothing was added. */
bool pf_log_add(struct pf_log *l, const void *bytes, size_t len);

/* The same with the lock held.  Returns the place, or SIZE_MAX. */
size_t pf_log_add_locked(struct pf_log *l, const void *bytes, size_t len);

/*
 * Add a line `key=value\n`; bytes of the value that FORMAT.md says so become
 * %XX.  False if there is no room.
 */
bool pf_log_line(struct pf_log *l, const char *key, const void *value,
		 size_t len);

/* The same for a number. */
bool pf_log_number(struct pf_log *l, const char *key, uint64_t value);

#endif
