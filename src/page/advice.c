/* SPDX-License-Identifier: MIT */
/*
 * What to try, after where the time goes.  Its sentences hold no name of a
 * trace: the places, which do, are left to 'profan advise'.
 */
#include "config.h"

#include <ctype.h>
#include <inttypes.h>

#include "show/escape.h"
#include "page/advice.h"
#include "page/figure.h"
#include "page/html.h"

#define ON_PAGE    5
#define IN_SUMMARY 3

int pf_report_judge(struct pf_report *r, struct pf_err *err)
{
	const struct pf_parts *p = &r->parts;
	const struct pf_advise_args args = { p->window, p->db_name };
	const struct pf_advise_from from = { &p->callers, &p->launches,
					     &p->overlap, &p->steps,
					     &p->memory,  &p->info,
					     &p->roofline };

	/* several traces, or one that has no path, have all else */
	r->has_advice = r->advise.tiles != NULL;
	return r->has_advice ? pf_advise_judge(&r->advise, &args, &from, err)
			     : 0;
}

/* How to see the rest: places, code, and what could not be judged. */
static void add_command(const struct pf_report *r, struct pf_buf *out)
{
	pf_buf_adds(out, "profan advise ");
	pf_shell_word(out, r->parts.db_name);
	pf_window_options(&r->parts.window, out);
}

/* It begins a line here; in a sentence it does not. */
static const char *as_heading(struct pf_buf *text, const char *title)
{
	pf_buf_clear(text);
	pf_buf_adds(text, title);
	text->data[0] = (char)toupper((unsigned char)text->data[0]);
	return text->data;
}

static void add_item(struct pf_buf *out, const struct pf_advice *v)
{
	struct pf_buf title = { 0 };

	pf_buf_addf(out, "<li class=note id=%s><p><strong>", v->id);
	pf_html_text(out, as_heading(&title, v->title));
	pf_buf_release(&title);
	pf_buf_adds(out, "</strong> ");
	pf_html_text(out, v->sentence.data);
	pf_buf_adds(out, ".</p>\n<p class=how>");
	if (v->at_most_ns != PF_NO_INT) {
		pf_buf_addf(out, "<span data-v=%" PRId64 ">at most ",
			    v->at_most_ns);
		pf_figure_ns(out, v->at_most_ns);
		pf_buf_adds(out, "</span> ");
	}
	if (v->remedy)
		pf_html_text(out, v->remedy);
	pf_buf_adds(out, " <code>");
	pf_html_text(out, v->command.data);
	pf_buf_adds(out, "</code></p>\n");
}

void pf_report_advice_html(const struct pf_report *r, struct pf_buf *out)
{
	struct pf_buf command = { 0 };

	if (!r->has_advice || !r->advise.given)
		return;
	pf_buf_adds(out, "<section id=try aria-labelledby=h-try>\n"
			 "<h2 id=h-try>What to try</h2>\n"
			 "<ol class=verdicts>\n");
	for (size_t i = 0; i < r->advise.given && i < ON_PAGE; i++)
		add_item(out, &r->advise.all[i]);
	add_command(r, &command);
	pf_buf_adds(out, "</ol>\n<p class=lead>Where it is, what to write, and "
			 "what could not be judged: <code>");
	pf_html_text(out, command.data);
	pf_buf_adds(out, "</code></p>\n</section>\n");
	pf_buf_release(&command);
}

void pf_report_advice_md(const struct pf_report *r, struct pf_buf *out)
{
	struct pf_buf command = { 0 }, title = { 0 };

	if (!r->has_advice || !r->advise.given)
		return;
	pf_buf_adds(out, "\n**What to try**\n\n");
	for (size_t i = 0; i < r->advise.given && i < IN_SUMMARY; i++) {
		const struct pf_advice *v = &r->advise.all[i];

		pf_buf_addf(out, "- **%s:** %s", as_heading(&title, v->title),
			    v->sentence.data);
		if (v->remedy)
			pf_buf_addf(out, "; %s", v->remedy);
		pf_buf_adds(out, ".\n");
	}
	add_command(r, &command);
	pf_buf_adds(out, "\nWhere it is, and what to write: ");
	pf_escape_md_line(out, command.data, command.len);
	pf_buf_adds(out, "\n");
	pf_buf_release(&title);
	pf_buf_release(&command);
}
