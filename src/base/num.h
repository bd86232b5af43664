/* SPDX-License-Identifier: MIT */
/*
 * Numbers from text, exactly and with overflow checks, and numbers for people
 * to read.  Nothing here depends on the locale.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PF_NUM_MAX 32 /* room for anything that pf_num_show_* writes */

/* "-12" -> -12.  Digits only; 0, or -1 if it is no int64. */
int pf_num_int(const char *s, int64_t *out);

/* "3" or "3..8" of len bytes, the second no less than the first. */
bool pf_num_range(const char *s, size_t len, int64_t *first, int64_t *last);

/* A number from 0 on, else -1. */
int64_t pf_num_or_none(const char *s);

/* What part of the whole; 0 if there is no whole. */
double pf_num_share(int64_t part, int64_t whole);

/* For sums of hostile numbers: they wrap around. */
int64_t pf_num_wrap_add(int64_t a, int64_t b);

/*
 * "1.5ms" -> 1500000.  Units ns, us, ms, s, min; a bare 0 needs none.  Not
 * negative; finer than a nanosecond is refused.  0 or -1.
 */
int pf_num_ns(const char *s, int64_t *out);

/*
 * How units of time are written wherever people read them, by powers of 1000
 * ns: "us", as there are terminals, logs and spreadsheets with no sign for it.
 */
#define PF_NUM_TIME_UNITS 4
extern const char *const pf_num_time_units[PF_NUM_TIME_UNITS];

/* For people; each returns "out". */
char *pf_num_show_count(char out[PF_NUM_MAX], int64_t n); /* 1,234,567 */
char *pf_num_show_bytes(char out[PF_NUM_MAX], int64_t n); /* 1.50 GiB */
char *pf_num_show_ns(char out[PF_NUM_MAX], int64_t ns);   /* 1.235 ms */
char *pf_num_show_ratio(char out[PF_NUM_MAX], double r);  /* 12.35 %, <0.01 % */
char *pf_num_show_real(char out[PF_NUM_MAX], double d);   /* 12.35 */

/* As people write it in an option: "5ms", exactly what pf_num_ns() reads. */
char *pf_num_option_ns(char out[PF_NUM_MAX], int64_t ns);

/* The same in room of its own, which is there to the end of the block. */
#define PF_SHOW_COUNT(n)           pf_num_show_count((char[PF_NUM_MAX]){ 0 }, n)
#define PF_SHOW_BYTES(n)           pf_num_show_bytes((char[PF_NUM_MAX]){ 0 }, n)
#define PF_SHOW_NS(ns)             pf_num_show_ns((char[PF_NUM_MAX]){ 0 }, ns)
#define PF_SHOW_RATIO(r)           pf_num_show_ratio((char[PF_NUM_MAX]){ 0 }, r)
#define PF_SHOW_SHARE(part, whole) PF_SHOW_RATIO(pf_num_share(part, whole))
#define PF_SHOW_REAL(d)            pf_num_show_real((char[PF_NUM_MAX]){ 0 }, d)

/* What stands behind the word for n things. */
static inline const char *pf_plural(int64_t n)
{
	return n == 1 ? "" : "s";
}

/* Does the space at s + gap part such a number from its unit? */
bool pf_num_parts_unit(const char *s, size_t gap, size_t len);

/* Enough digits to read back the same double; "nan", "inf" as C prints. */
char *pf_num_exact(char out[PF_NUM_MAX], double d);
