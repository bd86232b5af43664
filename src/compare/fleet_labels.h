/* SPDX-License-Identifier: MIT */
/*
 * Labels of ranks: "--label K=V" is of all, a file has a row for each rank:
 *
 *	rank,host,rack,tp
 *	0,n001,a,0
 *	1,n001,a,1
 *
 * Empty cells say nothing.
 */
#ifndef PF_COMPARE_FLEET_LABELS_H
#define PF_COMPARE_FLEET_LABELS_H

#include <stddef.h>

#include "store/db.h"

/* Add those of a file, then those of the command line, to the table "label". */
int pf_fleet_labels_add(struct pf_db *scratch, const char *file,
			const char *const *labels, size_t count,
			struct pf_err *err);

#endif
