/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdint.h>

#include "show/layout.h"

#define NAME_COLUMNS 40 /* a text has these before a spare column has any */
#define TEXT_COLUMNS 20 /* and these before a column goes to another line */
#define INDENT       4  /* where no text says how much */

static size_t least(const struct pf_place *p, size_t text)
{
	return p->is_right || p->natural < text ? p->natural : text;
}

static size_t total(const struct pf_layout *l, size_t text)
{
	size_t sum = 0;

	for (size_t i = 0; i < l->count; i++)
		if (!l->places[i].is_hidden && !l->places[i].line)
			sum += (sum ? PF_LAYOUT_GAP : 0) +
			       least(&l->places[i], text);
	return sum;
}

static void hide_spares(struct pf_layout *l, size_t limit)
{
	for (size_t i = l->count; i-- > 0;)
		if (l->places[i].is_spare && total(l, NAME_COLUMNS) > limit)
			l->places[i].is_hidden = true;
}

/* Further lines begin below the first text, if that leaves them room. */
static void find_indent(struct pf_layout *l, size_t limit)
{
	size_t at = 0;

	for (size_t i = 0; i < l->count && l->places[i].is_right; i++)
		if (!l->places[i].is_hidden && !l->places[i].line)
			at += l->places[i].width + PF_LAYOUT_GAP;
	l->indent = at && at <= limit / 2 ? at : INDENT;
	if (l->indent >= limit)
		l->indent = 0;
}

/* Of those on the first line the one to go below: prose, the last text. */
static struct pf_place *last_to_go(struct pf_layout *l)
{
	struct pf_place *number = NULL, *text = NULL, *prose = NULL;
	size_t texts = 0, numbers = 0;

	for (size_t i = 0; i < l->count; i++) {
		struct pf_place *p = &l->places[i];

		if (p->is_hidden || p->line)
			continue;
		*(p->is_right ? &number : &text) = p;
		++*(p->is_right ? &numbers : &texts);
		if (p->is_whole && p->natural > TEXT_COLUMNS)
			prose = p;
	}
	if (prose && numbers + texts > 1)
		return prose;
	if (texts > 1)
		return text;
	return numbers + texts > 1 ? number : NULL;
}

/* Give each column a line and the least width. */
static void fold(struct pf_layout *l, size_t limit)
{
	struct pf_place *gone;
	size_t room, used = 0;

	while (total(l, TEXT_COLUMNS) > limit && (gone = last_to_go(l)))
		gone->line = 1;
	for (size_t i = 0; i < l->count; i++)
		l->places[i].width = least(&l->places[i], TEXT_COLUMNS);
	find_indent(l, limit);
	room = limit - l->indent;
	l->lines = 1;
	for (size_t i = 0; i < l->count; i++) {
		struct pf_place *p = &l->places[i];

		if (!p->is_right && p->width > (p->line ? room : limit))
			p->width = p->line ? room : limit;
		if (p->is_hidden || !p->line)
			continue;
		if (l->lines == 1 || used + PF_LAYOUT_GAP + p->width > room) {
			l->lines++;
			used = 0;
		}
		if (p->is_whole)
			p->width = room < p->natural ? room : p->natural;
		p->line = l->lines - 1;
		used += (used ? PF_LAYOUT_GAP : 0) + p->width;
	}
}

/* The narrowest text of a line that wants more; NULL if there is none. */
static struct pf_place *neediest(const struct pf_layout *l, size_t line)
{
	struct pf_place *best = NULL;

	for (size_t i = 0; i < l->count; i++) {
		struct pf_place *p = &l->places[i];

		if (!p->is_hidden && p->line == line && !p->is_right &&
		    p->width < p->natural && (!best || p->width < best->width))
			best = p;
	}
	return best;
}

static void widen(struct pf_layout *l, size_t line, size_t limit)
{
	size_t used = line ? l->indent : 0, columns = 0;
	struct pf_place *p;

	for (size_t i = 0; i < l->count; i++)
		if (!l->places[i].is_hidden && l->places[i].line == line)
			used += l->places[i].width +
				(columns++ ? PF_LAYOUT_GAP : 0);
	for (; used < limit && (p = neediest(l, line)); used++)
		p->width++;
}

void pf_layout_find(struct pf_layout *l, size_t limit)
{
	if (limit == SIZE_MAX) {
		for (size_t i = 0; i < l->count; i++)
			l->places[i].width = l->places[i].natural;
		l->lines = 1;
		return;
	}
	hide_spares(l, limit);
	fold(l, limit);
	for (size_t i = 0; i < l->lines; i++)
		widen(l, i, limit);
}
