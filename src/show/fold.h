/* SPDX-License-Identifier: MIT */
/*
 * Tables with rows of many ranks, for people: instead of a row per rank the
 * quantiles over the rows, and the rows that are farthest out.  Lists, which
 * are cut to a length anyway, stay as they are, and so does every document
 * that is for programs.
 */
#ifndef PF_SHOW_FOLD_H
#define PF_SHOW_FOLD_H

#include "show/doc.h"

#define PF_FOLD_RANKS 16 /* a row each of so many is read at a glance */
#define PF_FOLD_OUTER 5  /* rows that stay */

/*
 * False: there is none.  Fold each table but the lists whose column "rank", or else "trace_id", has
 * more than PF_FOLD_RANKS values, and note what was done.  Rows min, p50, p90
 * and max hold quantiles of each measured column, and of others what is the
 * same in every row.  The rows that stay are those farthest from p50 in the
 * time that varies most in proportion, or else in another measure.  Of rows
 * of different things (several of a rank that a text tells apart) there are no
 * quantiles: the first of them stay, as of long
 * tables of groups of ranks beside folded ones.
 */
bool pf_doc_fold(struct pf_doc *doc);

#endif
