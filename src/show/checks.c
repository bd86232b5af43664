/* SPDX-License-Identifier: MIT */
/*
 * Checks that were asked for, as a CI shows them: a test report, of which each
 * is a case, and lines that GitHub's runner turns into annotations.
 */
#include "config.h"

#include <string.h>

#include "show/escape.h"
#include "show/format.h"

static void add_xml(struct pf_buf *out, const char *s)
{
	pf_escape_html(out, s, strlen(s));
}

static void junit(struct pf_printer *p, const struct pf_doc *doc)
{
	const char *finding = pf_doc_find_finding(doc);
	struct pf_buf *out = &p->buf;

	pf_buf_addf(out,
		    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		    "<testsuites>\n"
		    "<testsuite name=\"profan %s\" tests=\"%zu\" "
		    "failures=\"%zu\">\n",
		    p->style.command, doc->check_count, doc->failed_count);
	for (size_t i = 0; i < doc->check_count; i++) {
		const struct pf_check *c = &doc->checks[i];

		pf_buf_addf(out, "<testcase classname=\"profan %s\" name=\"",
			    p->style.command);
		add_xml(out, c->name);
		if (!c->why) {
			pf_buf_adds(out, "\"/>\n");
			continue;
		}
		pf_buf_adds(out, c->is_failed ? "\"><failure message=\""
					      : "\"><system-out>");
		add_xml(out, c->why);
		pf_buf_adds(out, c->is_failed ? "\"/></testcase>\n"
					      : "</system-out></testcase>\n");
	}
	if (finding) {
		pf_buf_adds(out, "<system-out>");
		add_xml(out, finding);
		pf_buf_adds(out, "</system-out>\n");
	}
	pf_buf_adds(out, "</testsuite>\n</testsuites>\n");
}

/* GitHub takes these apart at "::", and in titles at ':' and ','. */
static void add_command_text(struct pf_buf *out, const char *s)
{
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };

	pf_escape_visible(&text, s, strlen(s));
	for (size_t i = 0; i < text.len; i++) {
		char c = text.data[i];

		if (c == '%' || c == ':' || c == ',' || c == '\n')
			pf_buf_addf(out, "%%%02X", (unsigned)c);
		else
			pf_buf_addc(out, c);
	}
}

static void annotate(struct pf_printer *p, const char *level, const char *name,
		     const char *text)
{
	pf_buf_addf(&p->buf, "::%s title=profan %s%s", level, p->style.command,
		    name ? " " : "");
	if (name)
		add_command_text(&p->buf, name);
	pf_buf_adds(&p->buf, "::");
	add_command_text(&p->buf, text);
	pf_buf_addc(&p->buf, '\n');
}

static void github(struct pf_printer *p, const struct pf_doc *doc)
{
	const char *finding = pf_doc_find_finding(doc);

	for (size_t i = 0; i < doc->check_count; i++) {
		const struct pf_check *c = &doc->checks[i];

		if (c->why)
			annotate(p, c->is_failed ? "error" : "warning", c->name,
				 c->why);
	}
	if (finding)
		annotate(p, "notice", NULL, finding);
}

static const struct pf_format_ops junit_ops = { .checks = junit },
				  github_ops = { .checks = github };
const struct pf_format pf_format_junit = { "junit", PF_OF_CHECKS, &junit_ops },
		       pf_format_github = { "github", PF_OF_CHECKS,
					    &github_ops };
