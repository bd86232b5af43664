/* SPDX-License-Identifier: MIT */
/*
 * The lock covers the transient line and the write, so that a message and a
 * progress line cannot interleave.
 */
#include "config.h"

#include "base/log.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/num.h"
#include "base/utf8.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static enum pf_log_level shown = PF_LOG_NOTE;
static bool transient;

void pf_log_set_level(enum pf_log_level level)
{
	shown = level;
}

static enum pf_log_level log_get_level(void)
{
	return shown;
}

/* Write all of it to a descriptor; errors are ignored (it is stderr). */
static void write_whole(const char *p, size_t len)
{
	while (len > 0) {
		ssize_t n = write(STDERR_FILENO, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		p += n;
		len -= (size_t)n;
	}
}

static void write_message(enum pf_log_level level, const char *text, int len)
{
	static const char *const words[] = { "", "warning: ", "" };
	struct pf_buf line = { 0 };

	if (transient)
		pf_buf_adds(&line, "\r\x1b[K");
	transient = false;
	pf_buf_adds(&line, "profan: ");
	pf_buf_adds(&line, words[level]);
	pf_utf8_mask(&line, text, (size_t)len);
	pf_buf_addc(&line, '\n');
	write_whole(line.data, line.len);
	pf_buf_release(&line);
}

void pf_log(enum pf_log_level level, const char *fmt, ...)
{
	char text[2048];
	va_list ap;
	int len;

	if (level > shown)
		return;
	va_start(ap, fmt);
	len = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (len >= (int)sizeof(text)) {
		len = sizeof(text) - 1;
		memcpy(text + len - 3, "...", 3);
	}
	pthread_mutex_lock(&lock);
	write_message(level, text, len);
	pthread_mutex_unlock(&lock);
}

/* A line on the terminal to clear before the next message; "" for none. */
static void log_set_transient(const char *text)
{
	struct pf_buf line = { 0 };

	pthread_mutex_lock(&lock);
	if (*text || transient)
		pf_buf_adds(&line, "\r\x1b[K");
	pf_buf_adds(&line, text);
	write_whole(line.data, line.len);
	transient = *text;
	pthread_mutex_unlock(&lock);
	pf_buf_release(&line);
}

/*
 * The timer thread sleeps on a condition until stop; workers touch atomics
 * only.  No thread is made when nothing would be shown.
 */

#define DELAY_NS    INT64_C(1000000000)
#define INTERVAL_NS INT64_C(250000000)

static struct {
	_Atomic int64_t bytes_done, events;
	_Atomic(const char *) phase;
	const char *title;
	int64_t bytes_total, start_ns, drawn_ns;
	bool is_shown, has_thread, is_stopping;
	pthread_t thread;
	pthread_mutex_t lock; /* of is_stopping */
	pthread_cond_t wake;
	const struct pf_progress_test *test;
} state = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.wake = PTHREAD_COND_INITIALIZER,
};

static int64_t now_ns(void)
{
	struct timespec ts;

	if (state.test)
		return state.test->now_ns();
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
}

static int terminal_columns(void)
{
	struct winsize size;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) < 0 || !size.ws_col)
		return 80;
	return size.ws_col;
}

static bool can_show(void)
{
	if (log_get_level() < PF_LOG_NOTE)
		return false;
	return state.test ? state.test->is_terminal : isatty(STDERR_FILENO);
}

static void add_left(const struct pf_progress_state *s, struct pf_buf *out)
{
	double share = (double)s->bytes_done / (double)s->bytes_total;
	double left_s;

	if (share <= 0 || share > 1)
		return;
	left_s = (double)s->elapsed_ns / 1e9 * (1 - share) / share;
	if (left_s < 360000)
		pf_buf_addf(out, ", %d:%02d left", (int)left_s / 60,
			    (int)left_s % 60);
}

/* Keep the start of the title so that the whole fits in one line. */
static void add_title(struct pf_buf *out, const char *title, size_t room)
{
	struct pf_buf masked = { 0 };
	size_t at = 0, used = 0;
	uint32_t code;

	pf_utf8_mask(&masked, title, strlen(title));
	while (at < masked.len) {
		size_t n =
			pf_utf8_next(masked.data + at, masked.len - at, &code);

		used += (size_t)pf_utf8_width(code);
		if (used > room)
			break;
		at += n;
	}
	pf_buf_add(out, masked.data, at);
	pf_buf_release(&masked);
}

/* "ingest: linking, 1,234,567 events, 0:07": nothing says how long it takes. */
static void add_phase(const struct pf_progress_state *s, struct pf_buf *out,
		      size_t room)
{
	struct pf_buf line = { 0 };
	char events[PF_NUM_MAX];
	int64_t seconds = s->elapsed_ns / INT64_C(1000000000);

	pf_buf_addf(&line, "%s: %s", s->title, s->phase);
	if (s->events)
		pf_buf_addf(&line, ", %s events",
			    pf_num_show_count(events, s->events));
	pf_buf_addf(&line, ", %d:%02d", (int)(seconds / 60),
		    (int)(seconds % 60));
	add_title(out, line.data, room);
	pf_buf_release(&line);
}

void pf_progress_line(const struct pf_progress_state *s, struct pf_buf *out)
{
	char a[PF_NUM_MAX];
	struct pf_buf rest = { 0 };
	size_t room = s->columns > 1 ? (size_t)s->columns - 1 : 0;

	if (s->phase) {
		add_phase(s, out, room);
		return;
	}
	pf_buf_addf(&rest, ": %s", pf_num_show_bytes(a, s->bytes_done));
	if (s->bytes_total > 0)
		pf_buf_addf(&rest, " of %s",
			    pf_num_show_bytes(a, s->bytes_total));
	pf_buf_addf(&rest, ", %s events", pf_num_show_count(a, s->events));
	if (s->elapsed_ns > 0)
		pf_buf_addf(&rest, ", %s/s",
			    pf_num_show_bytes(
				    a, (int64_t)((double)s->bytes_done * 1e9 /
						 (double)s->elapsed_ns)));
	if (s->bytes_total > 0)
		add_left(s, &rest);
	add_title(out, s->title, room > rest.len ? room - rest.len : 0);
	pf_buf_add(out, rest.data, rest.len < room ? rest.len : room);
	pf_buf_release(&rest);
}

bool pf_progress_tick(void)
{
	int64_t now = now_ns();
	struct pf_buf line = { 0 };
	struct pf_progress_state s = {
		.title = state.title,
		.phase = atomic_load(&state.phase),
		.bytes_done = atomic_load(&state.bytes_done),
		.bytes_total = state.bytes_total,
		.events = atomic_load(&state.events),
		.elapsed_ns = now - state.start_ns,
		.columns = terminal_columns(),
	};

	if (!state.is_shown || s.elapsed_ns < DELAY_NS ||
	    (state.drawn_ns && now - state.drawn_ns < INTERVAL_NS))
		return false;
	state.drawn_ns = now;
	pf_progress_line(&s, &line);
	log_set_transient(line.data ? line.data : "");
	pf_buf_release(&line);
	return true;
}

static void *run_timer(void *unused)
{
	struct timespec until;

	(void)unused;
	pthread_mutex_lock(&state.lock);
	while (!state.is_stopping) {
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += INTERVAL_NS;
		if (until.tv_nsec >= 1000000000) {
			until.tv_nsec -= 1000000000;
			until.tv_sec++;
		}
		pthread_cond_timedwait(&state.wake, &state.lock, &until);
		if (!state.is_stopping)
			pf_progress_tick();
	}
	pthread_mutex_unlock(&state.lock);
	return NULL;
}

void pf_progress_start(const char *title, int64_t bytes_total)
{
	atomic_store(&state.bytes_done, 0);
	atomic_store(&state.events, 0);
	atomic_store(&state.phase, NULL);
	state.title = title;
	state.bytes_total = bytes_total;
	state.start_ns = now_ns();
	state.drawn_ns = 0;
	state.is_stopping = false;
	state.is_shown = can_show();
	state.has_thread =
		state.is_shown && !state.test &&
		!pthread_create(&state.thread, NULL, run_timer, NULL);
}

void pf_progress_set(int64_t bytes_done, int64_t events)
{
	atomic_store_explicit(&state.bytes_done, bytes_done,
			      memory_order_relaxed);
	atomic_store_explicit(&state.events, events, memory_order_relaxed);
}

void pf_progress_phase(const char *phase)
{
	atomic_store(&state.phase, phase);
}

bool pf_progress_is_watched(void)
{
	return can_show();
}

void pf_progress_stop(void)
{
	if (state.has_thread) {
		pthread_mutex_lock(&state.lock);
		state.is_stopping = true;
		pthread_cond_signal(&state.wake);
		pthread_mutex_unlock(&state.lock);
		pthread_join(state.thread, NULL);
	}
	if (state.is_shown)
		log_set_transient("");
	state.has_thread = state.is_shown = false;
}

void pf_progress_test_with(const struct pf_progress_test *test)
{
	state.test = test;
}
