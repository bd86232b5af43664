/* SPDX-License-Identifier: MIT */
/* Parts of the program that tests capture; drive.c says what it does. */
#ifndef DRIVE_H
#define DRIVE_H

#include <stdbool.h>
#include <stdint.h>

/* Do the actions of a list that ends in NULL. */
void drive_actions(char **list);

/* NVTX: n rounds of each call; nested ranges; new names; in a signal. */
void *drive_nvtx_thread(void *n);
void drive_nvtx_deep(uint64_t n);
void drive_nvtx_unique(uint64_t n);
void drive_nvtx_signal(void);

/* The first call is made by a thread that is to be cancelled. */
void drive_nvtx_cancel(void);

/* It is made by a thread with the smallest stack there is. */
void drive_nvtx_small(void);

/* CPU time of a push and a pop, in so many threads at once. */
void drive_nvtx_time(unsigned threads, uint64_t n);

#endif
