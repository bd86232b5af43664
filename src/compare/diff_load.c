/* SPDX-License-Identifier: MIT */
/* Each capture has a connection of its own, so two can be read at once. */
#include "config.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "compare/diff.h"
#include "base/mem.h"
#include "store/threads.h"

struct job {
	const char *path;
	const struct pf_window_args *window;
	unsigned want;
	struct pf_capture *out;
	struct pf_err err;
	int rc;
};

static void load(void *arg)
{
	struct job *job = arg;
	struct pf_db db = { 0 };

	job->rc = pf_db_open(&db, job->path, false, &job->err);
	if (!job->rc)
		job->rc = pf_capture_load(&db, job->window, job->want, job->out,
					  &job->err);
	pf_db_close(&db);
}

/* The first path of the same file. */
static size_t first_of(const char *const *paths, size_t i)
{
	struct stat own, other;

	if (stat(paths[i], &own))
		return i;
	for (size_t k = 0; k < i; k++)
		if (!stat(paths[k], &other) && own.st_dev == other.st_dev &&
		    own.st_ino == other.st_ino)
			return k;
	return i;
}

int pf_captures_load(const char *const *paths, char *const *names, size_t count,
		     const struct pf_window_args *window, unsigned want,
		     struct pf_captures *out, struct pf_err *err)
{
	struct job *jobs = pf_calloc(count + 1, sizeof(*jobs));
	size_t files = 0;
	int rc = 0;

	*out = (struct pf_captures){
		.filter = out->filter,
		.own = pf_calloc(count + 1, sizeof(*out->own)),
		.items = pf_calloc(count + 1, sizeof(*out->items)),
		.count = count,
	};
	for (size_t i = 0; i < count; i++) {
		size_t first = first_of(paths, i);

		out->items[i] = &out->own[first];
		out->own[i].filter = out->filter;
		if (first == i)
			jobs[files++] = (struct job){ .path = paths[i],
						      .window = window,
						      .want = want,
						      .out = &out->own[i] };
	}
	for (size_t i = 0; i < files && !rc; i += 2) {
		size_t some = files - i < 2 ? files - i : 2;

		if (some == 2)
			pf_threads_both(load, &jobs[i], load, &jobs[i + 1]);
		else
			load(&jobs[i]);
		for (size_t k = i; k < i + some && !rc; k++) {
			rc = jobs[k].rc;
			if (rc)
				*err = jobs[k].err;
		}
	}
	for (size_t i = 0; !rc && names && i < count; i++) {
		if (!out->own[i].path)
			continue;
		free(out->own[i].path);
		out->own[i].path = pf_strdup(names[i]);
	}
	free(jobs);
	return rc;
}

void pf_captures_release(struct pf_captures *c)
{
	for (size_t i = 0; i < c->count; i++)
		pf_capture_release(&c->own[i]);
	free(c->own);
	free(c->items);
	*c = (struct pf_captures){ 0 };
}
