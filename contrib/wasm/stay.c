/* SPDX-License-Identifier: MIT */
/*
 * What host.js calls instead of main() where an instance stays: a page cannot
 * wait for requests as 'profan --serve' does, so it holds what that keeps.
 */
#include "config.h"

#include <stdio.h>

#include "base/log.h"
#include "base/mem.h"
#include "cmd/cmd.h"

#define FAILED 3 /* whatever it is: err says it */

struct pf_cmd_kept *stay_begin(void);
int stay_run(struct pf_cmd_kept *kept, int argc, char **argv);

struct pf_cmd_kept *stay_begin(void)
{
	return pf_calloc(1, sizeof(struct pf_cmd_kept));
}

int stay_run(struct pf_cmd_kept *kept, int argc, char **argv)
{
	struct pf_err err = { 0 };
	const struct pf_cmd *cmd = pf_cmd_find(argc > 1 ? argv[1] : "", &err);
	int rc = -1;

	if (cmd)
		rc = pf_cmd_run(cmd, argc - 2, argv + 2, stdout, kept, &err);
	if (rc < 0 && cmd)
		pf_while(&err, "%s", cmd->name);
	if (fflush(stdout) && rc >= 0)
		rc = pf_fail(&err, PF_EIO, "cannot write output");
	if (rc >= 0)
		return rc;
	pf_log(PF_LOG_ERROR, "%s", err.text);
	return FAILED;
}
