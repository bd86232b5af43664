/* SPDX-License-Identifier: MIT */
/* The lock is held while a thing is made: two threads never make it twice. */
#include "config.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/memo.h"

struct entry {
	struct entry *next;
	pf_memo_make *make;
	void (*release)(void *);
	char *arg; /* or NULL */
	void *made;
};

struct pf_memo {
	pthread_mutex_t lock; /* recursive: one thing is made of others */
	struct entry *first;
};

struct pf_memo *pf_memo_new(void)
{
	struct pf_memo *m = pf_calloc(1, sizeof(*m));
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&m->lock, &attr);
	pthread_mutexattr_destroy(&attr);
	return m;
}

static struct entry *find(struct pf_memo *m, pf_memo_make *make,
			  const char *arg)
{
	struct entry *e = m->first;

	while (e && (e->make != make || !e->arg != !arg ||
		     (arg && strcmp(e->arg, arg) != 0)))
		e = e->next;
	return e;
}

static struct entry *add(struct pf_memo *m, pf_memo_make *make, const char *arg,
			 void *made)
{
	struct entry *e = pf_calloc(1, sizeof(*e));

	e->make = make;
	e->arg = arg ? pf_strdup(arg) : NULL;
	e->made = made;
	e->next = m->first;
	m->first = e;
	return e;
}

const void *pf_memo_get(struct pf_db *db, pf_memo_make *make,
			void (*release)(void *), const char *arg,
			struct pf_err *err)
{
	struct pf_memo *m = db->memo;
	struct entry *e;
	void *made;

	pthread_mutex_lock(&m->lock);
	e = find(m, make, arg);
	if (!e && (made = make(db, arg, err))) {
		e = add(m, make, arg, made);
		e->release = release;
	}
	pthread_mutex_unlock(&m->lock);
	return e ? e->made : NULL;
}

void pf_memo_free(struct pf_memo *m)
{
	struct entry *next;

	if (!m)
		return;
	for (struct entry *e = m->first; e; e = next) {
		next = e->next;
		e->release(e->made);
		free(e->arg);
		free(e);
	}
	pthread_mutex_destroy(&m->lock);
	free(m);
}
