/* SPDX-License-Identifier: MIT */
/*
 * Invariants: the items that were made and not given back lie in the places
 * [first, first + count), modulo places; the first is the caller's if is_held.
 * Only the maker writes into places outside.
 */
#include "config.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/threads.h"

#define DEFAULT_MOST 4

size_t pf_threads_default(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);
#ifdef HAVE_SCHED_GETAFFINITY
	cpu_set_t mine; /* it may have no room for all */

	if (!sched_getaffinity(0, sizeof(mine), &mine))
		n = CPU_COUNT(&mine);
#endif
	return n < 1 ? 1 : n > DEFAULT_MOST ? DEFAULT_MOST : (size_t)n;
}

struct job {
	void (*run)(void *);
	void *context;
};

static void *run_job(void *p)
{
	struct job *job = p;

	job->run(job->context);
	return NULL;
}

void pf_threads_both(void (*one)(void *), void *of_one, void (*other)(void *),
		     void *of_other)
{
	struct job job = { other, of_other };
	pthread_t thread;
	bool has_thread = !pthread_create(&thread, NULL, run_job, &job);

	one(of_one);
	if (has_thread)
		pthread_join(thread, NULL);
	else
		other(of_other);
}

/* ---- ahead ---- */

struct pf_ahead {
	pf_ahead_make *make;
	void *context;
	size_t places;
	pthread_t thread;
	bool has_thread;
	pthread_mutex_t lock; /* of all below */
	pthread_cond_t made, taken;
	size_t first, count;
	bool is_held, is_over, is_left;
	int rc; /* what make() ended with, and: */
	struct pf_err err;
};

/* A place that is free; false: nobody will take what is made. */
static bool find_place(struct pf_ahead *a, size_t *place)
{
	bool is_left;

	pthread_mutex_lock(&a->lock);
	while (a->count == a->places && !a->is_left)
		pthread_cond_wait(&a->taken, &a->lock);
	*place = (a->first + a->count) % a->places;
	is_left = a->is_left;
	pthread_mutex_unlock(&a->lock);
	return !is_left;
}

static void *run_ahead(void *p)
{
	struct pf_ahead *a = p;
	struct pf_err err = { 0 };
	size_t place;
	int rc = 1;

	while (rc == 1 && find_place(a, &place)) {
		rc = a->make(a->context, place, &err);
		pthread_mutex_lock(&a->lock);
		a->count += rc == 1;
		if (rc != 1) {
			a->is_over = true;
			a->rc = rc;
			a->err = err;
		}
		pthread_cond_signal(&a->made);
		pthread_mutex_unlock(&a->lock);
	}
	return NULL;
}

struct pf_ahead *pf_ahead_new(pf_ahead_make *make, void *context, size_t places,
			      bool beside)
{
	struct pf_ahead *a = pf_calloc(1, sizeof(*a));

	a->make = make;
	a->context = context;
	a->places = places;
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->made, NULL);
	pthread_cond_init(&a->taken, NULL);
	a->has_thread =
		beside && !pthread_create(&a->thread, NULL, run_ahead, a);
	return a;
}

static int take(struct pf_ahead *a, size_t *place, struct pf_err *err)
{
	if (a->is_held) {
		a->first = (a->first + 1) % a->places;
		a->count--;
		a->is_held = false;
		pthread_cond_signal(&a->taken);
	}
	while (!a->count && !a->is_over)
		pthread_cond_wait(&a->made, &a->lock);
	if (!a->count) {
		if (a->rc < 0)
			*err = a->err;
		return a->rc;
	}
	*place = a->first;
	a->is_held = true;
	return 1;
}

int pf_ahead_next(struct pf_ahead *a, size_t *place, struct pf_err *err)
{
	int rc;

	if (!a->has_thread) {
		*place = 0;
		return a->make(a->context, 0, err);
	}
	pthread_mutex_lock(&a->lock);
	rc = take(a, place, err);
	pthread_mutex_unlock(&a->lock);
	return rc;
}

void pf_ahead_free(struct pf_ahead *a)
{
	if (!a)
		return;
	if (a->has_thread) {
		pthread_mutex_lock(&a->lock);
		a->is_left = true;
		pthread_cond_signal(&a->taken);
		pthread_mutex_unlock(&a->lock);
		pthread_join(a->thread, NULL);
	}
	pthread_cond_destroy(&a->made);
	pthread_cond_destroy(&a->taken);
	pthread_mutex_destroy(&a->lock);
	free(a);
}
