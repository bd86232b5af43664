/* SPDX-License-Identifier: MIT */
/*
 * A thing that is being made has an entry already, so that two threads never
 * make it twice; the lock is free meanwhile, for other things and for what the
 * thing is made of.  What fails leaves no entry: who waited makes it then.
 */
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
	char *arg;  /* or NULL */
	void *made; /* NULL: somebody is at it */
};

struct pf_memo {
	pthread_mutex_t lock;
	pthread_cond_t settled; /* something was made, or was not */
	struct entry *first;
};

struct pf_memo *pf_memo_new(void)
{
	struct pf_memo *m = pf_calloc(1, sizeof(*m));

	pthread_mutex_init(&m->lock, NULL);
	pthread_cond_init(&m->settled, NULL);
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

static struct entry *add(struct pf_memo *m, pf_memo_make *make,
			 void (*release)(void *), const char *arg)
{
	struct entry *e = pf_calloc(1, sizeof(*e));

	e->make = make;
	e->release = release;
	e->arg = arg ? pf_strdup(arg) : NULL;
	e->next = m->first;
	m->first = e;
	return e;
}

static void drop(struct pf_memo *m, struct entry *e)
{
	struct entry **at = &m->first;

	while (*at != e)
		at = &(*at)->next;
	*at = e->next;
	free(e->arg);
	free(e);
}

const void *pf_memo_get(struct pf_db *db, pf_memo_make *make,
			void (*release)(void *), const char *arg,
			struct pf_err *err)
{
	struct pf_memo *m = db->memo;
	struct entry *e;
	void *made;

	pthread_mutex_lock(&m->lock);
	while ((e = find(m, make, arg)) && !e->made)
		pthread_cond_wait(&m->settled, &m->lock);
	if (e) {
		pthread_mutex_unlock(&m->lock);
		return e->made;
	}
	e = add(m, make, release, arg);
	pthread_mutex_unlock(&m->lock);
	made = make(db, arg, err);
	pthread_mutex_lock(&m->lock);
	e->made = made;
	if (!made)
		drop(m, e);
	pthread_cond_broadcast(&m->settled);
	pthread_mutex_unlock(&m->lock);
	return made;
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
	pthread_cond_destroy(&m->settled);
	pthread_mutex_destroy(&m->lock);
	free(m);
}
