/* SPDX-License-Identifier: MIT */
/*
 * Runs a command and prints what it used on the last line of FILE:
 *	wall_s cpu_s peak_kib exit_code written_bytes busiest_s two_s
 * written_bytes is all that it gave to write(), temporary files too.  The last
 * two only with -t, which looks at its threads a few hundred times a second:
 * CPU time of the thread that had most of it, and how long the command would
 * have taken had it two processors to itself (where threads wait for each
 * other counts, where they wait for a processor does not).  -1: not known,
 * for there is no /proc.
 * usage: measure [-t] FILE COMMAND...
 */
#include "config.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX 4096
#define PAUSE_NS    3000000

struct thread {
	long tid;
	double ran_s, waited_s; /* waited for a processor */
};

struct threads {
	struct thread of[THREADS_MAX];
	size_t count;
	double then_s, two_s;
	bool known;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static struct thread *find(struct threads *all, long tid)
{
	size_t i = all->count;

	while (i-- > 0) /* the newest first: most of the old have ended */
		if (all->of[i].tid == tid)
			return &all->of[i];
	if (all->count == THREADS_MAX)
		return NULL;
	all->of[all->count] = (struct thread){ .tid = tid };
	return &all->of[all->count++];
}

/* Adds to *ran and *wanted what the thread did since it was last seen. */
static void look_at(struct threads *all, pid_t pid, long tid, double *ran,
		    double *wanted)
{
	struct thread *t = find(all, tid);
	double run_ns, wait_ns;
	char name[64];
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/task/%ld/schedstat", (int)pid,
		 tid);
	f = t ? fopen(name, "r") : NULL;
	if (!f)
		return;
	if (fscanf(f, "%lf %lf", &run_ns, &wait_ns) == 2) {
		all->known = true;
		*ran += run_ns / 1e9 - t->ran_s;
		*wanted += run_ns / 1e9 - t->ran_s;
		*wanted += wait_ns / 1e9 - t->waited_s;
		t->ran_s = run_ns / 1e9;
		t->waited_s = wait_ns / 1e9;
	}
	fclose(f);
}

static void look(struct threads *all, pid_t pid)
{
	double ran = 0, wanted = 0, now_s = now(), side_by_side;
	struct dirent *e;
	char name[64];
	DIR *d;

	snprintf(name, sizeof(name), "/proc/%d/task", (int)pid);
	d = opendir(name);
	if (!d)
		return;
	while ((e = readdir(d)))
		if (e->d_name[0] != '.')
			look_at(all, pid, strtol(e->d_name, NULL, 10), &ran,
				&wanted);
	closedir(d);
	side_by_side = wanted / (now_s - all->then_s);
	all->two_s += side_by_side > 2   ? ran / 2
		      : side_by_side > 1 ? ran / side_by_side
					 : ran;
	all->then_s = now_s;
}

static double busiest(const struct threads *all)
{
	double most = 0;

	for (size_t i = 0; i < all->count; i++)
		if (all->of[i].ran_s > most)
			most = all->of[i].ran_s;
	return most;
}

/* Of a child that has ended and was not waited for. */
static double written_bytes(pid_t pid)
{
	double bytes = -1;
	char name[64], line[128];
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/io", (int)pid);
	f = fopen(name, "r");
	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "wchar: %lf", &bytes) == 1)
			break;
	fclose(f);
	return bytes;
}

static bool has_ended(pid_t pid, int wait)
{
	siginfo_t info = { 0 };

	return !waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT | wait) &&
	       info.si_pid == pid;
}

static void follow(pid_t pid, struct threads *all)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };

	all->then_s = now();
	while (!has_ended(pid, WNOHANG)) {
		nanosleep(&pause, NULL);
		look(all, pid);
	}
}

int main(int argc, char **argv)
{
	static struct threads all;
	struct rusage use;
	double start = now(), wall, written;
	bool with_threads = argc > 1 && !strcmp(argv[1], "-t");
	int status;
	pid_t pid;
	FILE *f;

	argv += with_threads;
	if (argc - with_threads < 3)
		return 2;
	pid = fork();
	if (pid == 0) {
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}
	if (pid > 0 && with_threads)
		follow(pid, &all);
	if (pid < 0 || !has_ended(pid, 0))
		return 99;
	wall = now() - start;
	written = written_bytes(pid);
	if (wait4(pid, &status, 0, &use) != pid)
		return 99;
	f = fopen(argv[1], "w");
	if (!f)
		return 99;
	status = WIFEXITED(status) ? WEXITSTATUS(status)
				   : 128 + WTERMSIG(status);
	fprintf(f, "%.3f %.3f %ld %d %.0f %.3f %.3f\n", wall,
		seconds(use.ru_utime) + seconds(use.ru_stime), use.ru_maxrss,
		status, written, all.known ? busiest(&all) : -1.0,
		all.known ? all.two_s : -1.0);
	return fclose(f) ? 99 : status;
}
