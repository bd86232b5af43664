/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>

#include "base/mem.h"
#include "page/titles.h"

void pf_titles_init(struct pf_titles *t)
{
	*t = (struct pf_titles){ 0 };
	pf_intern_init(&t->texts);
}

void pf_titles_release(struct pf_titles *t)
{
	pf_intern_release(&t->texts);
	free(t->in_force);
	*t = (struct pf_titles){ 0 };
}

static uint32_t number_of(struct pf_titles *t, const struct pf_buf *text)
{
	uint32_t had = t->texts.count, n;

	n = pf_intern_add(&t->texts, text->len ? text->data : "", text->len);
	if (n == had) {
		t->in_force = pf_grow(t->in_force, &t->cap, (size_t)n + 1,
				      sizeof(*t->in_force));
		t->in_force[n] = n;
	}
	return n;
}

void pf_titles_add(struct pf_titles *t, const struct pf_buf *shown,
		   const struct pf_buf *title, struct pf_buf *out)
{
	uint32_t key = number_of(t, shown), value = number_of(t, title);

	if (t->in_force[key] == value)
		return;
	t->in_force[key] = value;
	pf_buf_adds(out, " title=\"");
	pf_buf_add(out, title->data, title->len);
	pf_buf_addc(out, '"');
}
