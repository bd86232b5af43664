/* SPDX-License-Identifier: MIT */
/*
 * Which files may be read: any, or those below some folders ('profan
 * --inside=FOLDER COMMAND'), and there files and folders alone: what asks for
 * others waits for no pipe and reads no device.  Decided on the file that was
 * opened: the name that led to it may lead elsewhere a moment before and after.
 */
#pragma once

#include <stdio.h>

/* Absolute and without links, and kept as it is; before there are threads. */
void pf_inside_add(const char *folder);

/*
 * open(2) of what is read, a folder too; EACCES if it lies elsewhere, or if
 * the system does not say where.  What is made by O_CREAT may be anywhere.
 */
int pf_inside_open(const char *path, int flags, int mode);
FILE *pf_inside_fopen(const char *path); /* to read; NULL and errno */
