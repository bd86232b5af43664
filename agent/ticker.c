/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "agent.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/*
 * Did the program leave main by pthread_exit, and are its other threads gone?
 * Then the C library waits for the last thread to end the process: ours must
 * not be what keeps it.  The first thread stays as a zombie and is counted.
 */
static bool alone(void)
{
	char text[1024], state = 0;
	const char *p;
	long threads = 0;
	ssize_t n;
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	p = strrchr(text, ')'); /* the end of a name that may have any byte */
	return p &&
	       sscanf(p + 1,
		      " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u "
		      "%*d %*d %*d %*d %ld",
		      &state, &threads) == 2 &&
	       state == 'Z' && threads <= 3;
}

/* The window by the clock and by signals.  When to look again. */
static uint64_t turn_window(struct pf_agent *a, uint64_t now)
{
	const struct pf_options *o = a->options;
	uint32_t window = atomic_load(&a->window);
	uint64_t opened = atomic_load(&a->opened_ns), due = UINT64_MAX;
	bool toggle = atomic_exchange(&a->toggles, 0) & 1;

	if (atomic_load(&a->closed)) {
		if (window == PF_OPEN)
			pf_window_close(a);
		return UINT64_MAX;
	}
	if (window == PF_OPEN) {
		due = o->duration_ns ? opened + o->duration_ns : UINT64_MAX;
		if (now >= due || toggle) {
			if (!pf_window_close(a))
				pf_capture_settle(a);
			due = UINT64_MAX;
		}
	} else if (window == PF_CLOSED && o->start == PF_START_ON && !opened) {
		due = a->started_ns + o->delay_ns;
		if (now >= due) {
			pf_window_open(a);
			due = now; /* look for its end */
		}
	} else if (window == PF_CLOSED && toggle) {
		pf_window_open(a);
		due = now;
	}
	return due;
}

static void tick(struct pf_agent *a, bool all)
{
	pf_capture_flush(a, all);
	pf_encoder_push(&a->encoder);
	pf_threads_look(&a->threads, &a->defs, &a->counts, all);
	atomic_store(&a->tick_due, 1);
}

void *pf_ticker_main(void *agent)
{
	struct pf_agent *a = agent;
	uint64_t now = pf_now_ns(), next = now + a->options->flush_ns;
	uint32_t seen = 0, served = 0;

	pf_local.inside = 1;
	prctl(PR_SET_NAME, "profan");
	while (atomic_load(&a->finish) == PF_RUNNING) {
		uint32_t asked = atomic_load(&a->flush_asked);
		uint64_t due;
		now = pf_now_ns();
		due = turn_window(a, now);
		if (now >= next || asked != served) {
			tick(a, false);
			served = asked;
			atomic_store(&a->drain_asked, asked);
			pf_wake_post(&a->writer);
			pf_capture_watch(a, now);
			if (now >= next)
				next = now + a->options->flush_ns;
			if (alone()) {
				pf_agent_last(a);
				break;
			}
		}
		seen = pf_wake_wait(&a->ticker, seen, due < next ? due : next);
	}
	tick(a, true);
	{
		uint32_t expected = PF_FINISH_ASKED;
		atomic_compare_exchange_strong(&a->finish, &expected,
					       PF_FINISH_FLUSHED);
	}
	pf_wake_post(&a->writer);
	return NULL;
}
