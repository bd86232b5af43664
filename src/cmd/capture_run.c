/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/capture_run.h"

extern char **environ;

static const int forwarded[] = { SIGINT,  SIGTERM, SIGHUP,
				 SIGQUIT, SIGUSR1, SIGUSR2 };
#define FORWARDED (sizeof(forwarded) / sizeof(*forwarded))

static volatile sig_atomic_t child; /* who gets them */

/* From the kernel: a terminal's key, which the child has got as well. */
static void forward(int number, siginfo_t *info, void *context)
{
	int saved = errno;

	(void)context;
	if (info->si_code != SI_KERNEL && child > 0)
		kill((pid_t)child, number);
	errno = saved;
}

static int cannot_run(const char *program, int error, int *status,
		      struct pf_err *err)
{
	*status = error == ENOENT ? 127 : 126;
	errno = error;
	return pf_fail_errno(err, "cannot run '%s'", program);
}

int pf_capture_become(char *const *argv, int *status, struct pf_err *err)
{
	execvp(argv[0], argv);
	return cannot_run(argv[0], errno, status, err);
}

static int start(char *const *argv, const sigset_t *mask, pid_t *pid)
{
	posix_spawnattr_t attr;
	int rc = posix_spawnattr_init(&attr);

	if (rc)
		return rc;
	posix_spawnattr_setsigmask(&attr, mask);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	rc = posix_spawnp(pid, argv[0], NULL, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	return rc;
}

static void catch_signals(struct sigaction old[FORWARDED])
{
	struct sigaction action = { .sa_sigaction = forward,
				    .sa_flags = SA_SIGINFO | SA_RESTART };

	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < FORWARDED; i++) {
		sigaction(forwarded[i], NULL, &old[i]);
		/* What is ignored stays so, for us as for the child. */
		if (old[i].sa_handler != SIG_IGN)
			sigaction(forwarded[i], &action, NULL);
	}
}

static int wait_for(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status)
				   : WEXITSTATUS(status);
}

/*
 * Whoever started us may ignore SIGCHLD: then the kernel would forget the
 * program's status.  It has to be so before there is a child.
 */
static void heed_child(struct sigaction *old)
{
	const struct sigaction action = { .sa_handler = SIG_DFL };

	sigaction(SIGCHLD, NULL, old);
	if (old->sa_handler == SIG_IGN || old->sa_flags & SA_NOCLDWAIT)
		sigaction(SIGCHLD, &action, NULL);
}

int pf_capture_run(char *const *argv, int *status, struct pf_err *err)
{
	struct sigaction old[FORWARDED], old_child;
	sigset_t ours, before;
	pid_t pid = 0;
	int error;

	/* Until the handlers are there signals wait. */
	sigemptyset(&ours);
	for (size_t i = 0; i < FORWARDED; i++)
		sigaddset(&ours, forwarded[i]);
	sigprocmask(SIG_BLOCK, &ours, &before);
	heed_child(&old_child);
	error = start(argv, &before, &pid);
	if (!error) {
		child = pid;
		catch_signals(old);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (!error)
		*status = wait_for(pid);
	sigaction(SIGCHLD, &old_child, NULL);
	if (error)
		return cannot_run(argv[0], error, status, err);
	child = 0;
	for (size_t i = 0; i < FORWARDED; i++)
		sigaction(forwarded[i], &old[i], NULL);
	return 0;
}
