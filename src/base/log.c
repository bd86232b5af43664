/* SPDX-License-Identifier: MIT */
/*
 * The lock covers the transient line and the write, so that a message and a
 * progress line cannot interleave.
 */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/utf8.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static enum pf_log_level shown = PF_LOG_NOTE;
static bool transient;

void pf_log_set_level(enum pf_log_level level)
{
	shown = level;
}

enum pf_log_level pf_log_get_level(void)
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

void pf_log_set_transient(const char *text)
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
