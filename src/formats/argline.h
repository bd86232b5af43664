/* SPDX-License-Identifier: MIT */
/*
 * The arguments of an event as they are stored: the text of a JSON object in
 * which what varies is a slot's place holder (formats/event.h), and the values
 * of the slots.  For readers of formats that are no JSON.
 */
#ifndef PF_FORMATS_ARGLINE_H
#define PF_FORMATS_ARGLINE_H

#include "base/buf.h"
#include "formats/dict.h"
#include "formats/event.h"

struct pf_argline {
	struct pf_buf text;
	int64_t slots[PF_SLOT_COUNT];
	uint32_t mask;
	int generic; /* slots of that kind in use */
};

void pf_argline_release(struct pf_argline *a);

/* Start a new event: no text, no slots. */
void pf_argline_open(struct pf_argline *a);
/* A slot's value alone, of an event whose text is known already. */
void pf_argline_set(struct pf_argline *a, enum pf_slot slot, int64_t value);
/* Append "key": and leave the value to the caller. */
void pf_argline_key(struct pf_argline *a, const char *key);
void pf_argline_slot(struct pf_argline *a, const char *key, enum pf_slot slot,
		     int64_t value);
/* An address: all 64 bits are its number. */
void pf_argline_address(struct pf_argline *a, const char *key, uint64_t value);
/* A number that differs from event to event but has no slot of its own. */
void pf_argline_number(struct pf_argline *a, const char *key, uint64_t value);
void pf_argline_fixed(struct pf_argline *a, const char *key, int64_t value);
void pf_argline_real(struct pf_argline *a, const char *key, double value);
/* A long text is cut and ends with "...". */
void pf_argline_text(struct pf_argline *a, const char *key, const char *text,
		     size_t len);
/* The entry of the arguments written; PF_ID_NONE if there are none. */
uint32_t pf_argline_close(struct pf_argline *a, struct pf_dict *args);

#endif
