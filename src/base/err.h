/* SPDX-License-Identifier: MIT */
/*
 * Errors are values.  A function that can fail fills in a struct pf_err with
 * pf_fail() and returns -1: that of the database or the context that it has
 * (db->err), else one that it is given last; callers put context in front with
 * pf_while() on the way up, and main() prints the whole once.  A message is
 * lower case, has no full stop, names its subject in single quotes and says
 * what failed first.  Bytes that come from input are masked when printed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum pf_code {
	PF_OK = 0,
	PF_EUSAGE, /* the command line is wrong: exit 2 */
	PF_EIO,    /* the system refused, or what is written: exit 3 */
	PF_EOPEN,  /* an input is not there or may not be read: exit 3 */
	PF_EDATA,  /* the input is not what it should be: exit 3 */
	PF_EDB,    /* the database refused or is damaged: exit 3 */
	PF_ELIMIT, /* a limit of this program was reached: exit 3 */
	PF_EBUSY,  /* another profan is at it: exit 3 */
	PF_EMADE,  /* another profan has just made it: nothing is to be done */
	PF_ESTOP,  /* stopped by a signal: exit 130 */
};

/* A plain value; zero-initialised means "no error". */
struct pf_err {
	enum pf_code code;
	char text[1024]; /* always NUL-terminated; cut with "..." if longer */
};

/* Set the error and return -1, so that "return pf_fail(...)" reads well. */
int pf_fail(struct pf_err *err, enum pf_code code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Put "context: " in front of an error already set; returns -1. */
int pf_while(struct pf_err *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Like pf_fail(PF_EIO) with ": " and the text of errno added. */
int pf_fail_errno(struct pf_err *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Like pf_fail_errno() of an input: PF_EOPEN where errno says something of the
 * file that was named, and PF_EIO where it is the machine that cannot.
 */
int pf_fail_open(struct pf_err *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Like pf_fail_errno() of writing to an open file, of which missing_bytes were
 * still to be written (0: that is not known): a full disk is named.
 */
int pf_fail_write(struct pf_err *err, int fd, size_t missing_bytes,
		  const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* Say which file system it is and what room it has behind an error; -1. */
int pf_add_room(struct pf_err *err, const char *path);

/*
 * Is it a fact of the input that was read, which another machine would find,
 * too?  Who goes on after a bad input goes on after these alone: a full disk
 * says nothing of a trace, and is never recorded as if it did.
 */
bool pf_err_is_of_input(const struct pf_err *err);

/* What fails has said why: its caller fails, too, if it holds nothing yet. */
#define PF_TRY(call)                                                           \
	do {                                                                   \
		if (call)                                                      \
			return -1;                                             \
	} while (0)
