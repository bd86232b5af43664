/* SPDX-License-Identifier: MIT */
#ifndef PF_TESTS_FUZZ_PATH_H
#define PF_TESTS_FUZZ_PATH_H

/*
 * The name of a file in a folder of this process, in memory where there is
 * such a place.  Folder and file go when the process ends.
 */
const char *fuzz_path(void);

#endif
