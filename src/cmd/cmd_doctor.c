/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "analysis/trust/doctor.h"
#include "cmd/cmd.h"
#include "compare/fleet_show.h"

static const struct pf_doctor_args defaults = { .fail_on = -1 };

static const struct pf_opt opts[] = {
	{ 0, "fail-on", PF_DOCTOR_FAIL_ON,
	  "end with code 1 if a check says this or worse", PF_OPT_CHOICE,
	  offsetof(struct pf_doctor_args, fail_on), 0, 0 },
	{ 0, "all", NULL, "list the checks that found nothing, too",
	  PF_OPT_FLAG, offsetof(struct pf_doctor_args, all), 0, 0 },
	{ 0 },
};

static int answer(struct pf_ctx *cx, void *args, struct pf_doc *doc)
{
	bool is_failed = false;

	PF_TRY(pf_doctor(cx->db, args, NULL, doc, &is_failed));
	return is_failed;
}

PF_COMMAND(535, doctor) = {
	.name = "doctor",
	.group = PF_GROUP_GIVE,
	.args = "[DB]",
	.summary = "show how far the traces can be trusted",
	.details = "One row a check: what it counts, the GPU time that is "
		   "affected, its share (of GPU time where there is one, else "
		   "of what the check looks at), and a verdict.  ok: nothing "
		   "found.  note: good to know, no figure is wrong.  warn: "
		   "some figures leave this out or may be off.  bad: figures "
		   "are wrong, or what they need is missing.  Head orphans "
		   "are GPU work whose launch call came before the capture; "
		   "crossing ranges are ranges of a thread that overlap "
		   "without nesting.  Below stands what each finding means, "
		   "and which option of the profiler provides what is missing.",
	.needs = PF_NEEDS_DB | PF_SHOWS_DOC | PF_HAS_CHECKS,
	.opts = opts,
	PF_DEFAULTS(defaults),
	.lists = "checks",
	.examples = "profan doctor job.db\n"
		    "profan doctor job.db --fail-on bad\n"
		    "profan doctor job.db --format json\n",
	.answer = answer,
	.fleet = pf_fleet_doctor,
};
