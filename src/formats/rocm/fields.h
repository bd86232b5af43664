/* SPDX-License-Identifier: MIT */
/*
 * Members of objects by name, for records that all have the same: numbers and
 * texts of a list, whatever the order; all others are read past.
 */
#ifndef PF_FORMATS_ROCM_FIELDS_H
#define PF_FORMATS_ROCM_FIELDS_H

#include "formats/rocm/tokens.h"

#define PF_FIELDS_MAX 32

/* A member, or that of the object under a key. */
struct pf_json_field {
	const char *under; /* or NULL */
	const char *key;
};

struct pf_json_fields {
	const struct pf_json_field *list;
	unsigned count;
	uint8_t key_len[PF_FIELDS_MAX];
	/* what the object read last had */
	struct pf_json_value {
		enum {
			PF_JSON_NONE,
			PF_JSON_INT,
			PF_JSON_TEXT,
			PF_JSON_OTHER
		} is;
		int64_t number;
		size_t at, len; /* in texts */
	} values[PF_FIELDS_MAX];
	struct pf_buf texts;
	/* which member came behind which, last time */
	uint8_t behind[PF_FIELDS_MAX + 1];
};

void pf_json_fields_init(struct pf_json_fields *f,
			 const struct pf_json_field *list, unsigned count);
void pf_json_fields_release(struct pf_json_fields *f);
/* The rest of an object that has been opened; false: END or a failure. */
bool pf_json_fields_read(struct pf_json_fields *f, struct pf_tokens *t,
			 struct pf_err *err);

int64_t pf_json_field_int(const struct pf_json_fields *f, unsigned field,
			  int64_t instead);
/* Borrowed until the next object is read; false: no text. */
bool pf_json_field_text(const struct pf_json_fields *f, unsigned field,
			const char **text, size_t *len);

#endif
