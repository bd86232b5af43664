/* SPDX-License-Identifier: MIT */
#ifndef PF_TESTS_FUZZ_PATH_H
#define PF_TESTS_FUZZ_PATH_H

#define FUZZ_PATHS 4

/*
 * The name of a file, of FUZZ_PATHS, in a folder of this process, in memory
 * where there is such a place.  Folder and files go when the process ends.
 */
const char *fuzz_path(unsigned file);

#endif
