/* SPDX-License-Identifier: MIT */
/*
 * Rows that are found while reading but written afterwards, table by table,
 * so that the file's bytes do not depend on where the chunks were cut.  What
 * does not fit a small buffer waits in an unlinked file.
 */
#ifndef PF_STORE_INGEST_LATER_H
#define PF_STORE_INGEST_LATER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct pf_later {
	int fd; /* opened when the buffer first overflows */
	bool has_file;
	uint64_t written;
	struct pf_buf buf; /* behind what was written */
};

/* Two numbers and two texts; what they mean is the table's business. */
struct pf_later_row {
	int64_t a, b;
	uint32_t first_len, second_len;
	const char *first, *second; /* borrowed until the next call */
};

void pf_later_release(struct pf_later *l);
int pf_later_put(struct pf_later *l, const char *dir,
		 const struct pf_later_row *row, struct pf_err *err);

/* Call "row" for each row in the order of adding, then empty the list. */
int pf_later_each(struct pf_later *l,
		  int (*call)(void *arg, const struct pf_later_row *row,
			      struct pf_err *err),
		  void *arg, struct pf_err *err);

#endif
