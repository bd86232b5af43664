/* SPDX-License-Identifier: MIT */
/*
 * Files that people take for traces and profan does not read: what they are,
 * and which command makes a readable file of them.  All who refuse a file ask
 * here, so one file is refused in one sentence.  A file is told by its bytes;
 * by its name only once nothing could read it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * What a file is that begins with these bytes, as a sentence without its
 * subject ("is a ZIP archive ..."); NULL: nobody knows.
 */
const char *pf_refusal_of_bytes(const char *head, size_t len);

/* The same of a file that is called so. */
const char *pf_refusal_of_name(const char *path);

/* And of one that is called so and has not a byte; never NULL. */
const char *pf_refusal_of_empty(const char *path);

/* Is a file called as one that another program makes a trace of? */
bool pf_refusal_is_named(const char *name);
