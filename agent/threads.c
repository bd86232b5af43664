/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "threads.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LOOK_AGAIN_MOST 64u /* ticks between looks, at most */

void pf_threads_add(struct pf_threads *t, uint32_t tid, bool named)
{
	uint32_t at = tid * 2654435761u;

	for (uint32_t i = 0; tid && i < PF_THREADS; i++) {
		struct pf_thread *s = &t->slots[(at + i) % PF_THREADS];
		uint32_t seen =
			atomic_load_explicit(&s->tid, memory_order_relaxed);
		if (!seen &&
		    !atomic_compare_exchange_strong(&s->tid, &seen, tid) &&
		    seen != tid)
			continue;
		if (seen && seen != tid)
			continue;
		if (named)
			atomic_store(&s->named, 1);
		return;
	}
}

/* The system's name of a thread of ours; false if it is gone. */
static bool read_name(uint32_t tid, char out[16], uint32_t *len)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%u/comm", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	memset(out, 0, 16);
	n = read(fd, out, 16);
	close(fd);
	if (n <= 0)
		return false;
	if (out[n - 1] == '\n')
		out[--n] = '\0';
	*len = (uint32_t)n;
	return n > 0;
}

static void look(struct pf_thread *s, struct pf_defs *d, struct pf_counts *c)
{
	uint64_t tid = atomic_load_explicit(&s->tid, memory_order_relaxed);
	char name[16];
	uint32_t len;

	s->looked++;
	s->wait = s->looked < 7 ? 1u << s->looked : LOOK_AGAIN_MOST;
	if (!read_name((uint32_t)tid, name, &len) ||
	    !memcmp(name, s->name, sizeof(name)))
		return;
	memcpy(s->name, name, sizeof(name));
	if (!pf_defs_name(d, PF_DEF_THREAD, &tid, 1, name, len))
		PF_COUNT_ADD(c->no_names, 1);
}

void pf_threads_look(struct pf_threads *t, struct pf_defs *d,
		     struct pf_counts *c, bool all)
{
	for (uint32_t i = 0; i < PF_THREADS; i++) {
		struct pf_thread *s = &t->slots[i];
		if (!atomic_load_explicit(&s->tid, memory_order_relaxed) ||
		    atomic_load_explicit(&s->named, memory_order_relaxed))
			continue;
		if (all || s->wait <= 1)
			look(s, d, c);
		else
			s->wait--;
	}
}
