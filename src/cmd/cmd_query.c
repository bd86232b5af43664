/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "cmd/cmd.h"
#include "store/query.h"

struct query_args {
	struct pf_opt_list params;
};

static const struct pf_opt opts[] = {
	{ 0, "param", "LITERAL",
	  "what stands for the next ? of the statement, as SQL writes it: 3, "
	  "'text', NULL",
	  PF_OPT_LIST, offsetof(struct query_args, params), 0, 0 },
	{ 0 },
};

static int run(struct pf_ctx *cx, void *argv)
{
	const struct query_args *a = argv;
	struct pf_row_sink *sink = pf_render_rows(&cx->style, "rows", cx->out);

	if (pf_query_run(cx->db, cx->argv[0], &a->params, sink, cx->err) < 0) {
		pf_render_free(sink);
		return -1;
	}
	return pf_render_finish(sink, cx->err);
}

PF_COMMAND(525, query) = {
	.name = "query",
	.group = PF_GROUP_GIVE,
	.args = "[DB] SQL",
	.summary = "print the rows of one SQL statement",
	.details = "One statement that reads; with one argument, it is the "
		   "statement.  The tables are those of the database and the "
		   "virtual tables event, op, frame and arg, which show the "
		   "compressed columns as rows; schema/README.md of the "
		   "source describes them all.  Rows are printed as they "
		   "come, whatever their number.  A fault of the statement, "
		   "also one that only its rows show, ends with exit status "
		   "2, one of the database with 3.",
	.needs = PF_NEEDS_DB | PF_NEEDS_TABLES | PF_SHOWS_DOC | PF_TAKES_FLEET,
	.opts = opts,
	.args_bytes = sizeof(struct query_args),
	.min_args = 1,
	.max_args = 1,
	.examples =
		"profan query job.db 'SELECT path, event_count FROM trace'\n"
		"profan query 'SELECT name, dur_ns FROM op LIMIT 9' -f csv\n",
	.run = run,
};
