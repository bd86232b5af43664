/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "store/vtab.h"

int pf_vtab_register(sqlite3 *sql, struct pf_err *err)
{
	(void)sql;
	(void)err;
	return 0;
}
