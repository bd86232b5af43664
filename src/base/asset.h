/* SPDX-License-Identifier: MIT */
/*
 * The files that are compiled into the program: SQL, data, report parts.
 * The list is EMBEDDED in Makefile.am; a name is a path below the source
 * tree, such as "schema/tables.sql".  Everything returned is constant and
 * lives as long as the program.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/*
 * The bytes of a file, followed by a NUL that *len does not count.  NULL if
 * there is no such file; len may be NULL.
 */
const char *pf_asset(const char *name, size_t *len);

/*
 * A file that belongs to the program and is not in it, in "found": by a path
 * from the program's folder, as in the tree that it was built in or as in a
 * prefix ("built", "moved": a folder that was moved, or unpacked by pip, is as
 * good), or where it was installed, NULL: nowhere.  False if it is not there.
 */
bool pf_asset_find(const char *built, const char *moved, const char *installed,
		   struct pf_buf *found);
