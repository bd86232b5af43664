/* SPDX-License-Identifier: MIT */
/*
 * Messages for people on stderr.  Each is one line and one write(), so lines
 * of two threads never mix; a progress line that is being shown is cleared
 * before.  Control bytes and invalid UTF-8 in a message are shown as \xNN, so
 * that no text from a trace can steer the terminal.  Thread-safe.
 *
 * Levels: an error ends the command; a warning says that the output is not
 * all that was asked for; a note is for people only ("wrote 'a.db'").
 */
#ifndef PF_BASE_LOG_H
#define PF_BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>

enum pf_log_level { PF_LOG_ERROR, PF_LOG_WARNING, PF_LOG_NOTE };

/* Show levels up to this one; at first PF_LOG_NOTE, -q makes it ERROR. */
void pf_log_set_level(enum pf_log_level level);
enum pf_log_level pf_log_get_level(void);

void pf_log(enum pf_log_level level, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#define pf_log_warn(...) pf_log(PF_LOG_WARNING, __VA_ARGS__)
#define pf_log_note(...) pf_log(PF_LOG_NOTE, __VA_ARGS__)

/* A line on the terminal to clear before the next message; "" for none. */
void pf_log_set_transient(const char *line);

#endif
