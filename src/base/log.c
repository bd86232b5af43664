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

#include "base/num.h"
#include "base/utf8.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static enum pf_log_level shown = PF_LOG_NOTE;
static bool transient;

void pf_log_set_level(enum pf_log_level level)
{
	shown = level;
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
	PF_AUTO(pf_buf_release) struct pf_buf line = { 0 };

	if (transient)
		pf_buf_adds(&line, "\r\x1b[K");
	transient = false;
	pf_buf_adds(&line, "profan: ");
	pf_buf_adds(&line, words[level]);
	pf_utf8_mask(&line, text, (size_t)len);
	pf_buf_addc(&line, '\n');
	write_whole(line.data, line.len);
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
	PF_AUTO(pf_buf_release) struct pf_buf line = { 0 };

	pthread_mutex_lock(&lock);
	if (*text || transient)
		pf_buf_adds(&line, "\r\x1b[K");
	pf_buf_adds(&line, text);
	write_whole(line.data, line.len);
	transient = *text;
	pthread_mutex_unlock(&lock);
}

/*
 * The timer thread sleeps on a condition until stop; workers touch atomics
 * only.  No thread is made when nothing would be shown.
 */

#define DELAY_NS    INT64_C(1000000000)
#define INTERVAL_NS INT64_C(250000000)

/* What the line says. */
struct progress_state {
	const char *title, *phase; /* phase NULL: bytes are counted */
	int64_t bytes_done, bytes_total, events;
	int64_t elapsed_ns;
	int columns; /* of the terminal */
};

/*
 * Of tests: a clock instead of the real one, and whether to show though stderr
 * is no terminal; there is no timer thread then.
 */
struct progress_test {
	int64_t (*now_ns)(void);
	bool is_terminal;
};

static struct {
	_Atomic int64_t bytes_done, events;
	_Atomic(const char *) phase;
	const char *title;
	int64_t bytes_total, start_ns, drawn_ns;
	bool is_shown, has_thread, is_stopping;
	pthread_t thread;
	pthread_mutex_t lock; /* of is_stopping */
	pthread_cond_t wake;
	const struct progress_test *test;
} progress = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.wake = PTHREAD_COND_INITIALIZER,
};

static int64_t now_ns(void)
{
	struct timespec ts;

	if (progress.test)
		return progress.test->now_ns();
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
	if (shown < PF_LOG_NOTE)
		return false;
	return progress.test ? progress.test->is_terminal
			     : isatty(STDERR_FILENO);
}

static void add_left(const struct progress_state *s, struct pf_buf *out)
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
	PF_AUTO(pf_buf_release) struct pf_buf masked = { 0 };
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
}

/* "ingest: linking, 1,234,567 events, 0:07": nothing says how long it takes. */
static void add_phase(const struct progress_state *s, struct pf_buf *out,
		      size_t room)
{
	PF_AUTO(pf_buf_release) struct pf_buf line = { 0 };
	char events[PF_NUM_MAX];
	int64_t seconds = s->elapsed_ns / INT64_C(1000000000);

	pf_buf_addf(&line, "%s: %s", s->title, s->phase);
	if (s->events)
		pf_buf_addf(&line, ", %s events",
			    pf_num_show_count(events, s->events));
	pf_buf_addf(&line, ", %d:%02d", (int)(seconds / 60),
		    (int)(seconds % 60));
	add_title(out, line.data, room);
}

static void progress_line(const struct progress_state *s, struct pf_buf *out)
{
	char a[PF_NUM_MAX];
	PF_AUTO(pf_buf_release) struct pf_buf rest = { 0 };
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
}

/* Draw if it is time; was it? */
static bool progress_tick(void)
{
	int64_t now = now_ns();
	PF_AUTO(pf_buf_release) struct pf_buf line = { 0 };
	struct progress_state s = {
		.title = progress.title,
		.phase = atomic_load(&progress.phase),
		.bytes_done = atomic_load(&progress.bytes_done),
		.bytes_total = progress.bytes_total,
		.events = atomic_load(&progress.events),
		.elapsed_ns = now - progress.start_ns,
		.columns = terminal_columns(),
	};

	if (!progress.is_shown || s.elapsed_ns < DELAY_NS ||
	    (progress.drawn_ns && now - progress.drawn_ns < INTERVAL_NS))
		return false;
	progress.drawn_ns = now;
	progress_line(&s, &line);
	log_set_transient(line.data ? line.data : "");
	return true;
}

static void *run_timer(void *unused)
{
	struct timespec until;

	(void)unused;
	pthread_mutex_lock(&progress.lock);
	while (!progress.is_stopping) {
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += INTERVAL_NS;
		if (until.tv_nsec >= 1000000000) {
			until.tv_nsec -= 1000000000;
			until.tv_sec++;
		}
		pthread_cond_timedwait(&progress.wake, &progress.lock, &until);
		if (!progress.is_stopping)
			progress_tick();
	}
	pthread_mutex_unlock(&progress.lock);
	return NULL;
}

void pf_progress_start(const char *title, int64_t bytes_total)
{
	atomic_store(&progress.bytes_done, 0);
	atomic_store(&progress.events, 0);
	atomic_store(&progress.phase, NULL);
	progress.title = title;
	progress.bytes_total = bytes_total;
	progress.start_ns = now_ns();
	progress.drawn_ns = 0;
	progress.is_stopping = false;
	progress.is_shown = can_show();
	progress.has_thread =
		progress.is_shown && !progress.test &&
		!pthread_create(&progress.thread, NULL, run_timer, NULL);
}

void pf_progress_set(int64_t bytes_done, int64_t events)
{
	atomic_store_explicit(&progress.bytes_done, bytes_done,
			      memory_order_relaxed);
	atomic_store_explicit(&progress.events, events, memory_order_relaxed);
}

void pf_progress_phase(const char *phase)
{
	atomic_store(&progress.phase, phase);
}

bool pf_progress_is_watched(void)
{
	return can_show();
}

void pf_progress_stop(void)
{
	if (progress.has_thread) {
		pthread_mutex_lock(&progress.lock);
		progress.is_stopping = true;
		pthread_cond_signal(&progress.wake);
		pthread_mutex_unlock(&progress.lock);
		pthread_join(progress.thread, NULL);
	}
	if (progress.is_shown)
		log_set_transient("");
	progress.has_thread = progress.is_shown = false;
}
