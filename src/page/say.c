/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <string.h>

#include "page/figure.h"
#include "page/say.h"

void pf_say(struct pf_verdict *v, const char *words)
{
	pf_buf_adds(&v->sentence, words);
}

void pf_say_ratio(struct pf_verdict *v, double ratio)
{
	pf_figure_ratio(&v->sentence, ratio);
}

void pf_say_ns(struct pf_verdict *v, int64_t ns)
{
	pf_figure_ns(&v->sentence, ns);
}

void pf_say_count(struct pf_verdict *v, int64_t n, const char *one,
		  const char *many)
{
	pf_figure_count(&v->sentence, n);
	pf_buf_addc(&v->sentence, ' ');
	pf_say(v, n == 1 ? one : many);
}

void pf_say_name(struct pf_verdict *v, const char *name)
{
	size_t len = strlen(name);
	size_t cut = len > 160 ? 157 : len;

	while (cut < len && cut > 0 &&
	       ((unsigned char)name[cut] & 0xc0) == 0x80)
		cut--;
	pf_buf_addc(&v->sentence, PF_SAY_NAME);
	for (size_t i = 0; i < cut; i++)
		pf_buf_addc(&v->sentence,
			    name[i] == PF_SAY_NAME || name[i] == PF_SAY_END
				    ? ' '
				    : name[i]);
	if (cut < len)
		pf_buf_adds(&v->sentence, "...");
	pf_buf_addc(&v->sentence, PF_SAY_END);
}

void pf_say_text(const struct pf_parts *p, struct pf_verdict *v,
		 const char *text, struct pf_buf *place)
{
	struct pf_buf shown = { 0 };

	pf_say_name(v, pf_parts_text(p, text, &shown));
	if (place)
		pf_buf_adds(place, shown.data);
	pf_buf_release(&shown);
}

void pf_rule_withhold(struct pf_verdict *v, const char *why)
{
	v->state = PF_RULE_WITHHELD;
	pf_buf_clear(&v->sentence);
	pf_say(v, why);
}

const char *pf_rule_no_gpu(const struct pf_parts *p)
{
	if (p->steps.window.has_unread)
		return "no GPU activity could be read";
	if (p->steps.recorded.producer == PF_FROM_TABLES)
		return "there is no trace, only what stands beside one";
	return p->steps.is_untimed ? "a memory snapshot has no GPU work"
				   : "there is no GPU activity in this trace";
}

bool pf_rule_has_gpu(const struct pf_parts *p, struct pf_verdict *v)
{
	if (p->overlap.all.event_count)
		return true;
	pf_rule_withhold(v, pf_rule_no_gpu(p));
	return false;
}

int64_t pf_rule_steps(const struct pf_parts *p)
{
	int64_t n = p->steps.full_count;

	return p->steps_text.len && n > 0 ? n : 1;
}

const char *pf_rule_each(const struct pf_parts *p)
{
	return p->steps_text.len ? " per step" : " in the trace";
}
