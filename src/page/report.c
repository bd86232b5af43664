/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "base/path.h"
#include "page/advice.h"
#include "page/ranks.h"
#include "page/report.h"

static int load_beside(struct pf_db *db, const struct pf_parts *p,
		       void *context, struct pf_err *err)
{
	struct pf_report *r = context;

	if (r->args.page.timeline != PF_TIMELINE_NONE &&
	    pf_ranks_load_first(db, p, r, err) < 0)
		return -1;
	return 0;
}

int pf_report_make(struct pf_db *db, const struct pf_report_args *args,
		   const char *db_name, struct pf_report *out,
		   struct pf_err *err)
{
	const struct pf_parts_beside beside = {
		.no_page = args->no_page,
		.run = load_beside,
		.context = out,
		.advise = args->with_advice ? &out->advise : NULL,
		.path_pieces = args->no_page
				       ? 0
				       : (size_t)pf_ranks_slices(&args->page),
	};

	memset(out, 0, sizeof(*out));
	out->db = db;
	out->args = *args;
	out->redact = pf_redact_new(db, args->page.redact, err);
	if (out->redact && args->page.names == PF_NAMES_SHORT)
		pf_redact_shorten(out->redact);
	if (!out->redact ||
	    pf_parts_gather(db, &args->window,
			    args->page.redact ? "DB" : db_name, out->redact,
			    &beside, &out->parts, err) ||
	    pf_report_judge(out, err))
		return -1;
	pf_verdicts_find(&out->parts, &out->verdicts);
	pf_tiles_find(&out->parts, &out->tiles);
	if (args->page.timeline != PF_TIMELINE_NONE)
		return pf_ranks_finish(out, err);
	return 0;
}

void pf_report_release(struct pf_report *r)
{
	pf_verdicts_release(&r->verdicts);
	pf_tiles_release(&r->tiles);
	pf_timelines_release(&r->timelines);
	pf_advise_release(&r->advise);
	pf_parts_release(&r->parts);
	pf_redact_free(r->redact);
}

void pf_report_title(const struct pf_report *r, struct pf_buf *out)
{
	const struct pf_info *info = &r->parts.info;
	struct pf_buf path = { 0 };

	if (info->trace_count == 1 && r->args.page.redact)
		pf_buf_adds(out, "a trace");
	else if (info->trace_count == 1 && info->traces->path)
		pf_buf_adds(out,
			    pf_path_base(pf_parts_text(
				    &r->parts, info->traces->path, &path)));
	else
		pf_buf_addf(out, "%zu traces", info->trace_count);
	pf_buf_release(&path);
}

void pf_report_doc(const struct pf_report *r, struct pf_doc *doc)
{
	struct pf_buf first = { 0 };

	pf_say_plain(&first, &r->verdicts.all[0].sentence);
	pf_doc_finding(doc, "%s", first.data);
	pf_buf_release(&first);
	pf_tiles_scalars(&r->tiles, doc);
	pf_verdicts_tables(&r->verdicts, &r->parts, doc);
}
