/* SPDX-License-Identifier: MIT */
/*
 * Numbers of a trace, from text to integers without passing through double.
 * Text is followed by a byte that ends a number and by eight readable bytes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pf_time {
	int64_t ns;
	unsigned fraction_digits; /* written behind the point */
	bool rounded;             /* finer than 1 ns: rounded half away */
	bool overflow;            /* beyond int64 nanoseconds: ns is 0 */
};

/*
 * Microseconds (JSON number: digits, fraction, exponent) -> nanoseconds.
 * Returns the place behind the number, NULL if there is none.
 */
const char *pf_number_time(const char *p, struct pf_time *t);

/* An integer of up to 18 digits that ends there; NULL otherwise. */
const char *pf_number_integer(const char *p, int64_t *value);

/* A decimal in the coding of formats/event.h (PF_SLOT_FRACTION); else NULL. */
const char *pf_number_decimal(const char *p, int64_t *value);

/*
 * The slot for a number under this key of args: PF_SLOT_..., PF_SLOT_GENERIC
 * for unknown keys, -1 for keys whose values repeat (device, stream, ...).
 */
int pf_number_slot(const char *key, size_t len);
