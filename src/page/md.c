/* SPDX-License-Identifier: MIT */
/* A summary for pull requests and CI logs: the same sentences. */
#include "config.h"

#include <string.h>

#include "show/escape.h"
#include "page/advice.h"
#include "page/figure.h"
#include "page/report.h"

/* Names as code, the rest as it is: those words are ours. */
static void add_sentence(struct pf_buf *out, const struct pf_buf *sentence)
{
	const char *s = sentence->data, *end = s + sentence->len;

	while (s && s < end) {
		const char *mark = s;

		while (mark < end && *mark != PF_SAY_NAME &&
		       *mark != PF_SAY_END)
			mark++;
		if (mark < end && *mark == PF_SAY_END)
			pf_escape_md_line(out, s, (size_t)(mark - s));
		else
			pf_buf_add(out, s, (size_t)(mark - s));
		s = mark + 1;
	}
}

static void add_verdicts(struct pf_buf *out, const struct pf_report *r)
{
	const struct pf_verdicts *v = &r->verdicts;

	for (size_t i = 0; i < v->fired && i < PF_VERDICTS_SHOWN; i++) {
		pf_buf_addf(out, "- **%s:** ",
			    pf_severity_word(v->all[i].severity));
		add_sentence(out, &v->all[i].sentence);
		if (v->all[i].recoverable_ns > 0) {
			pf_buf_adds(out, " (");
			pf_verdict_stake(out, &v->all[i]);
			pf_buf_addc(out, ')');
		}
		pf_buf_adds(out, ".\n");
	}
	if (v->fired > PF_VERDICTS_SHOWN)
		pf_buf_addf(out, "- and %zu more\n",
			    v->fired - PF_VERDICTS_SHOWN);
}

static void add_tiles(struct pf_buf *out, const struct pf_tiles *tiles)
{
	pf_buf_adds(out, "\n<details><summary>Figures</summary>\n\n"
			 "| | | |\n|---|---:|---|\n");
	for (size_t i = 0; i < tiles->count; i++) {
		const struct pf_tile *t = &tiles->tile[i];

		pf_buf_addf(out, "| %s | ", t->title);
		pf_figure_cell(out, &t->value, t->kind);
		pf_buf_addf(out, " | %s |\n",
			    t->detail.data ? t->detail.data : "");
	}
	pf_buf_adds(out, "\n</details>\n");
}

static void add_classes(struct pf_buf *out, const struct pf_parts *p)
{
	if (p->steps.is_untimed)
		return;
	pf_buf_adds(out, "\n| Where the step goes | Mean | Share |\n"
			 "|---|---:|---:|\n");
	for (int i = 0; i < PF_STEP_CLASSES; i++) {
		const struct pf_step_spread *class = &p->steps.classes[i];

		if (!class->mean_ns)
			continue;
		pf_buf_addf(out, "| %s | ", class->name);
		pf_figure_ns(out, class->mean_ns);
		pf_buf_adds(out, " | ");
		pf_figure_ratio(out, class->share);
		pf_buf_adds(out, " |\n");
	}
}

void pf_report_md(const struct pf_report *r, const char *html_name,
		  struct pf_buf *out)
{
	struct pf_buf title = { 0 };

	pf_report_title(r, &title);
	pf_buf_adds(out, "<!-- profan:report -->\n### profan: ");
	pf_escape_md_sentence(out, title.data, title.len);
	pf_buf_adds(out, "\n\n");
	add_verdicts(out, r);
	pf_report_advice_md(r, out);
	add_classes(out, &r->parts);
	add_tiles(out, &r->tiles);
	if (html_name) {
		pf_buf_adds(out, "\nThe whole report: ");
		pf_escape_md_line(out, html_name, strlen(html_name));
		pf_buf_addc(out, '\n');
	}
	pf_buf_release(&title);
}
