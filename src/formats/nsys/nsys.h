/* SPDX-License-Identifier: MIT */
/*
 * Exports of Nsight Systems ("nsys export --type sqlite", schemas of 2020 to
 * 2026): the rows of its tables as events of the one model (formats/event.h),
 * named and placed as Kineto does it.
 *
 * Tables are read one after the other, each in the order of the file, and
 * given in batches of any size.  Whatever a column's type or version, every
 * row is an event, a metadata event, or counted as skipped; so are the rows
 * of tables that are not read.
 *
 * Texts are looked up by the numbers that events have, and no others: the
 * file also holds environments and command lines, which stay there.
 */
#pragma once

#include "formats/sqlite/foreign.h"
#include "formats/batch.h"

/* Is it such a database, by its tables? */
bool pf_nsys_claims(struct pf_foreign *f);

/* "f" is borrowed until free. */
struct pf_reader *pf_nsys_new(struct pf_foreign *f,
			      const struct pf_reader_options *options);
