/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "fleet/fleet.h"

static const char *const schemas[] = { "schema/fleet/tables.sql", NULL };

const struct pf_db_kind pf_fleet_kind = {
	.application_id = PF_FLEET_APPLICATION_ID,
	.version = PF_FLEET_VERSION,
	.what = "a fleet database",
	.other = "merge the ranks again",
	.schemas = schemas,
	.damaged = "schema/fleet/damaged.sql",
};

const char *const pf_fleet_tables[PF_FLEET_TABLES] = {
	"step",   "kernel",     "op",      "idle",   "idle_site",
	"device", "collective", "finding", "memory",
};

bool pf_fleet_is(const char *path)
{
	return pf_db_is_kind(path, &pf_fleet_kind);
}
