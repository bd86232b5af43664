/* SPDX-License-Identifier: MIT */
/*
 * Runs a command and prints what it used on the last line of FILE:
 *	wall_s cpu_s peak_kib exit_code
 * usage: measure FILE COMMAND...
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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

int main(int argc, char **argv)
{
	struct rusage use;
	double start = now();
	int status;
	pid_t pid;
	FILE *f;

	if (argc < 3)
		return 2;
	pid = fork();
	if (pid == 0) {
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &use) != pid)
		return 99;
	f = fopen(argv[1], "w");
	if (!f)
		return 99;
	status = WIFEXITED(status) ? WEXITSTATUS(status)
				   : 128 + WTERMSIG(status);
	fprintf(f, "%.3f %.3f %ld %d\n", now() - start,
		seconds(use.ru_utime) + seconds(use.ru_stime), use.ru_maxrss,
		status);
	return fclose(f) ? 99 : status;
}
