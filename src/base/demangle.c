/* SPDX-License-Identifier: MIT */
/*
 * The child answers each name (32-bit length, bytes) with a text in the same
 * form, or with NOTHING.  It has no files of its own to write, and ends when
 * the pipe ends, however its parent did.
 */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/demangle.h"
#include "base/mem.h"

#define MANGLED_MAX       1024u
#define SUBSTITUTIONS_MAX 10
#define PRINTED_MAX       (64u << 10)
#define CHILD_BYTES       (256u << 20)
#define DEATHS_MAX        8
#define NOTHING           UINT32_MAX

char *__cxa_demangle(const char *mangled, char *out, size_t *out_len,
		     int *status);

static bool may_be_mangled(const char *name, size_t len, int *substitutions)
{
	*substitutions = 0;
	if (len < 2 || len > MANGLED_MAX)
		return false;
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)name[i];

		if (!isalnum(c) && c != '_' && c != '.' && c != '$')
			return false;
		*substitutions += c == 'S' || c == 'T';
	}
	return true;
}

/* All of it or nothing; no signal when the other side is gone. */
static bool send_all(int fd, const void *p, size_t len)
{
	for (const char *at = p; len;) {
		ssize_t n = send(fd, at, len, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

static bool receive_all(int fd, void *p, size_t len)
{
	for (char *at = p; len;) {
		ssize_t n = read(fd, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

/* ---- the child ---- */

static void limit_memory(void)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	unsigned long pages = 0;
	FILE *statm = fopen("/proc/self/statm", "re");
	struct rlimit limit;

	if (!statm)
		return;
	if (fscanf(statm, "%lu", &pages) == 1) {
		limit.rlim_cur = limit.rlim_max =
			pages * (rlim_t)sysconf(_SC_PAGESIZE) + CHILD_BYTES;
		setrlimit(RLIMIT_AS, &limit);
	}
	fclose(statm);
#endif
}

/* One second of processor time for a name; then SIGPROF ends us. */
static void limit_time(bool on)
{
	const struct itimerval timer = { .it_value = { .tv_sec = on } };

	setitimer(ITIMER_PROF, &timer, NULL);
}

__attribute__((noreturn)) static void serve(int fd)
{
	const struct rlimit none = { 0, 0 };
	char name[MANGLED_MAX + 1];
	uint32_t len;

	setrlimit(RLIMIT_CORE, &none);
	signal(SIGPROF, SIG_DFL);
	limit_memory();
	while (receive_all(fd, &len, sizeof(len)) && len <= MANGLED_MAX &&
	       receive_all(fd, name, len)) {
		char *text;
		int status;

		name[len] = '\0';
		limit_time(true);
		text = __cxa_demangle(name, NULL, NULL, &status);
		limit_time(false);
		len = text && strlen(text) <= PRINTED_MAX
			      ? (uint32_t)strlen(text)
			      : NOTHING;
		if (!send_all(fd, &len, sizeof(len)) ||
		    (len != NOTHING && !send_all(fd, text, len)))
			break;
		free(text);
	}
	_exit(0);
}

/* ---- the parent ---- */

void pf_demangler_release(struct pf_demangler *d)
{
	if (!d->pid)
		return;
	kill(d->pid, SIGKILL); /* another child may hold our end too */
	close(d->fd);
	while (waitpid(d->pid, NULL, 0) < 0 && errno == EINTR)
		;
	d->pid = 0;
}

static bool start(struct pf_demangler *d)
{
	int ends[2];

	if (d->pid)
		return true;
	if (d->deaths >= DEATHS_MAX ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return false;
	d->pid = fork();
	if (d->pid == 0) {
		close(ends[0]);
		serve(ends[1]);
	}
	close(ends[1]);
	d->fd = ends[0];
	if (d->pid > 0)
		return true;
	close(ends[0]);
	d->pid = 0;
	d->deaths++;
	return false;
}

static bool ask(struct pf_demangler *d, const char *name, size_t len,
		char **text)
{
	uint32_t n = (uint32_t)len;

	*text = NULL;
	if (!send_all(d->fd, &n, sizeof(n)) || !send_all(d->fd, name, len) ||
	    !receive_all(d->fd, &n, sizeof(n)))
		return false;
	if (n == NOTHING)
		return true;
	if (n > PRINTED_MAX)
		return false;
	*text = pf_alloc((size_t)n + 1);
	(*text)[n] = '\0';
	return receive_all(d->fd, *text, n);
}

char *pf_demangle_take(struct pf_demangler *d, const char *name, size_t len)
{
	int substitutions, status;
	char *copy, *text;

	if (!may_be_mangled(name, len, &substitutions))
		return NULL;
	if (substitutions <= SUBSTITUTIONS_MAX) {
		copy = pf_memdup0(name, len);
		text = __cxa_demangle(copy, NULL, NULL, &status);
		free(copy);
		return text;
	}
	if (!start(d))
		return NULL;
	if (ask(d, name, len, &text))
		return text;
	free(text);
	d->deaths++;
	pf_demangler_release(d);
	return NULL;
}
