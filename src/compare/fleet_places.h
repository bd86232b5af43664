/* SPDX-License-Identifier: MIT */
/* Where databases of ranks are, as a fleet that may move with them says it. */
#ifndef PF_COMPARE_FLEET_PLACES_H
#define PF_COMPARE_FLEET_PLACES_H

#include "base/err.h"

/*
 * The folder that a file is or will be in, without links; the caller frees it.
 * NULL: there is none.
 */
char *pf_place_folder(const char *path, struct pf_err *err);

/* A path that is seen from a folder, without "." and "..". */
char *pf_place_from(const char *folder, const char *path);

/* What pf_place_from() makes "path" of; both begin with "/". */
char *pf_place_relative(const char *folder, const char *path);

#endif
