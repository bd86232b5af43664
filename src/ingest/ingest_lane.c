/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"
#include "ingest/ingest_impl.h"
#include "ingest/ingest_lane.h"

struct pf_ingest_lane {
	pf_lane_work *finish;
	void *arg;
	pthread_t thread;
	bool started;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct pf_ingest *ring[PF_LANE_WAITING];
	uint64_t put, taken, finished; /* how many so far */
	struct pf_lane_task *offer;    /* NULL: none, or it is taken */
	pf_lane_help *help;            /* NULL: no help is wanted */
	void *help_arg;
	bool is_helping;
	bool closing;
	_Atomic bool failed;
	struct pf_err err;
};

/* Behind one that failed the rest are only freed. */
static void finish_one(struct pf_ingest_lane *l, struct pf_ingest *job)
{
	struct pf_err err = { 0 };

	if (atomic_load(&l->failed)) {
		pf_ingest_drop(job);
		return;
	}
	if (!l->finish(l->arg, job, &err))
		return;
	l->err = err;
	atomic_store(&l->failed, true);
}

/* The lock is held, and not while it helps. */
static void help_once(struct pf_ingest_lane *l)
{
	pf_lane_help *help = l->help;
	bool has_more;

	l->is_helping = true;
	pthread_mutex_unlock(&l->lock);
	has_more = help(l->help_arg);
	pthread_mutex_lock(&l->lock);
	l->is_helping = false;
	if (!has_more)
		l->help = NULL;
	pthread_cond_broadcast(&l->changed);
}

static void *work(void *arg)
{
	struct pf_ingest_lane *l = arg;
	struct pf_ingest *job;

	pthread_mutex_lock(&l->lock);
	for (;;) {
		if (l->taken == l->put) {
			if (l->closing)
				break;
			if (l->help)
				help_once(l);
			else
				pthread_cond_wait(&l->changed, &l->lock);
			continue;
		}
		job = l->ring[l->taken++ % PF_LANE_WAITING];
		pthread_cond_broadcast(&l->changed);
		pthread_mutex_unlock(&l->lock);
		finish_one(l, job);
		pthread_mutex_lock(&l->lock);
		l->finished++;
		pthread_cond_broadcast(&l->changed);
	}
	pthread_mutex_unlock(&l->lock);
	return NULL;
}

struct pf_ingest_lane *pf_lane_new(pf_lane_work *finish, void *arg, bool beside)
{
	struct pf_ingest_lane *l = pf_calloc(1, sizeof(*l));

	l->finish = finish;
	l->arg = arg;
	pthread_mutex_init(&l->lock, NULL);
	pthread_cond_init(&l->changed, NULL);
	l->started = beside && !pthread_create(&l->thread, NULL, work, l);
	return l;
}

/* ---- parts of it ---- */

/* The lock is held, and not while it runs. */
static void run_offer(struct pf_ingest_lane *l, struct pf_lane_task *task)
{
	task->is_taken = true;
	l->offer = NULL;
	pthread_mutex_unlock(&l->lock);
	task->run(task->arg);
	pthread_mutex_lock(&l->lock);
	task->is_done = true;
	pthread_cond_broadcast(&l->changed);
}

/* For what comes next; the lock is held. */
static void wait_usefully(struct pf_ingest_lane *l)
{
	if (l->offer)
		run_offer(l, l->offer);
	else
		pthread_cond_wait(&l->changed, &l->lock);
}

bool pf_lane_is_beside(const struct pf_ingest_lane *l)
{
	return l->started;
}

void pf_lane_offer(struct pf_ingest_lane *l, struct pf_lane_task *task)
{
	pthread_mutex_lock(&l->lock);
	l->offer = task;
	pthread_cond_broadcast(&l->changed);
	pthread_mutex_unlock(&l->lock);
}

void pf_lane_collect(struct pf_ingest_lane *l, struct pf_lane_task *task)
{
	pthread_mutex_lock(&l->lock);
	if (!task->is_taken)
		run_offer(l, task);
	while (!task->is_done)
		pthread_cond_wait(&l->changed, &l->lock);
	pthread_mutex_unlock(&l->lock);
}

/* ---- all of it ---- */

bool pf_lane_failed(const struct pf_ingest_lane *l)
{
	return atomic_load(&l->failed);
}

void pf_lane_wait(struct pf_ingest_lane *l)
{
	pthread_mutex_lock(&l->lock);
	while (l->started && l->finished < l->put)
		pthread_cond_wait(&l->changed, &l->lock);
	pthread_mutex_unlock(&l->lock);
}

void pf_lane_ask(struct pf_ingest_lane *l, pf_lane_help *help, void *arg)
{
	pthread_mutex_lock(&l->lock);
	l->help = help;
	l->help_arg = arg;
	pthread_cond_broadcast(&l->changed);
	pthread_mutex_unlock(&l->lock);
}

void pf_lane_thank(struct pf_ingest_lane *l)
{
	pthread_mutex_lock(&l->lock);
	l->help = NULL;
	while (l->is_helping)
		pthread_cond_wait(&l->changed, &l->lock);
	pthread_mutex_unlock(&l->lock);
}

int pf_lane_put(struct pf_ingest_lane *l, struct pf_ingest *job)
{
	if (!l->started) {
		finish_one(l, job);
		return atomic_load(&l->failed) ? -1 : 0;
	}
	pthread_mutex_lock(&l->lock);
	while (l->put - l->taken == PF_LANE_WAITING)
		wait_usefully(l);
	l->ring[l->put++ % PF_LANE_WAITING] = job;
	pthread_cond_broadcast(&l->changed);
	pthread_mutex_unlock(&l->lock);
	return atomic_load(&l->failed) ? -1 : 0;
}

int pf_lane_finish(struct pf_ingest_lane *l, struct pf_err *err)
{
	int rc;

	if (l->started) {
		pthread_mutex_lock(&l->lock);
		l->closing = true;
		pthread_cond_broadcast(&l->changed);
		while (l->finished < l->put)
			wait_usefully(l);
		pthread_mutex_unlock(&l->lock);
		pthread_join(l->thread, NULL);
	}
	rc = atomic_load(&l->failed) ? -1 : 0;
	if (rc)
		*err = l->err;
	return rc;
}

void pf_lane_free(struct pf_ingest_lane *l)
{
	pthread_mutex_destroy(&l->lock);
	pthread_cond_destroy(&l->changed);
	free(l);
}
