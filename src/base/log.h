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
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

enum pf_log_level { PF_LOG_ERROR, PF_LOG_WARNING, PF_LOG_NOTE };

/* Show levels up to this one; at first PF_LOG_NOTE, -q makes it ERROR. */
void pf_log_set_level(enum pf_log_level level);

void pf_log(enum pf_log_level level, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#define pf_log_warn(...) pf_log(PF_LOG_WARNING, __VA_ARGS__)
#define pf_log_note(...) pf_log(PF_LOG_NOTE, __VA_ARGS__)

/*
 * One line on the terminal while something takes long: bytes, events, rate,
 * time left.  Shown only when stderr is a terminal, not with -q, and not in
 * the first second; redrawn when a timer thread says so, cleared before any
 * message and at the end.  Workers only store two counters, from any thread.
 *
 *	pf_progress_start("ingest 'a.json'", file_bytes);
 *	... pf_progress_set(bytes_done, events); (any thread, cheap)
 *	pf_progress_stop();
 *
 * One at a time in a process.
 */

/* bytes_total 0: not known.  Title is borrowed until stop. */
void pf_progress_start(const char *title, int64_t bytes_total);
void pf_progress_set(int64_t bytes_done, int64_t events);
void pf_progress_stop(void);

/*
 * What is done now, of which no bytes are counted; NULL: bytes are.  Static
 * text; from any thread.
 */
void pf_progress_phase(const char *phase);

/* Is a person looking on?  Then a last line may say what came of it. */
bool pf_progress_is_watched(void);
