/* SPDX-License-Identifier: MIT */
/*
 * The files that are compiled into the program: SQL, data, report parts.
 * The list is EMBEDDED in Makefile.am; a name is a path below the source
 * tree, such as "schema/tables.sql".  Everything returned is constant and
 * lives as long as the program.
 */
#ifndef PF_BASE_ASSET_H
#define PF_BASE_ASSET_H

#include <stddef.h>

/*
 * The bytes of a file, followed by a NUL that *len does not count.  NULL if
 * there is no such file; len may be NULL.
 */
const char *pf_asset(const char *name, size_t *len);

#endif
