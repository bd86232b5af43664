/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/utf8.h"
#include "show/escape.h"
#include "show/fit.h"

#define NARROW 16 /* below this no room is lost to indents */
#define LEAD   12 /* columns shown before the first difference */

size_t pf_fit_indent(size_t width)
{
	return width < NARROW ? 0 : 2;
}

size_t pf_fit_columns(size_t width)
{
	return 2 * width - pf_fit_indent(width);
}

/* Where a line ends well, at least half way: after one of these; or 0. */
static size_t last_of(const char *s, size_t most, const char *set)
{
	size_t at = most;

	while (at > most / 2 && !strchr(set, s[at - 1]))
		at--;
	return at > most / 2 ? at : 0;
}

size_t pf_fit_line(const char *s, size_t len, size_t width, bool is_loose)
{
	size_t most = pf_utf8_fitting(s, len, width), at = 0;

	if (most == len)
		return len;
	if (!most)
		return pf_utf8_head(s, len, 1);
	if (is_loose && !(at = s[most] == ' ' ? most : last_of(s, most, " ")))
		at = last_of(s, most, ",<>:()/&#_");
	return at ? at : most;
}

bool pf_fit_is_loose(const char *s, size_t len, size_t width)
{
	size_t first = pf_fit_line(s, len, width, true);
	size_t rest = pf_utf8_columns(s + first, len - first);

	return rest <= width - pf_fit_indent(width) ||
	       pf_utf8_columns(s, len) > pf_fit_columns(width);
}

/* ---- telling names apart ---- */

PF_ORDER(by_whole, struct pf_fit_name, PF_ALPHA(whole))

PF_ORDER(by_shown, struct pf_fit_name, PF_ALPHA(shown) PF_ALPHA(whole))

static void show_cut(struct pf_fit_name *n)
{
	struct pf_buf text = { 0 };

	pf_escape_text(&text, n->whole, strlen(n->whole), n->columns,
		       n->is_path);
	n->shown = text.data ? text.data : pf_strdup("");
}

static void show_whole(struct pf_fit_name *n)
{
	free(n->shown);
	n->shown = pf_strdup(n->whole);
}

/* Bytes that two texts have in common, up to a whole character. */
static size_t common(const char *a, const char *b)
{
	size_t n = 0;

	while (a[n] && a[n] == b[n])
		n++;
	while (n && ((unsigned char)a[n] & 0xc0) == 0x80)
		n--;
	return n;
}

/* "BEGINNING...what is around the difference..." */
static void show_around(struct pf_fit_name *n, size_t difference)
{
	size_t len = strlen(n->whole), from = difference, used = 0;
	size_t first = n->columns / 3, rest = n->columns - first - 3;
	struct pf_buf text = { 0 };

	if (n->columns < 3 * LEAD) {
		show_whole(n);
		return;
	}
	while (from && used++ < LEAD)
		while (--from && ((unsigned char)n->whole[from] & 0xc0) == 0x80)
			;
	pf_buf_add(&text, n->whole, pf_utf8_fitting(n->whole, len, first));
	pf_buf_adds(&text, "...");
	if (pf_utf8_columns(n->whole + from, len - from) > rest) {
		pf_buf_add(
			&text, n->whole + from,
			pf_utf8_fitting(n->whole + from, len - from, rest - 3));
		pf_buf_adds(&text, "...");
	} else {
		pf_buf_add(&text, n->whole + from, len - from);
	}
	free(n->shown);
	n->shown = text.data;
}

/* Names that look alike, in the order of the whole ones. */
static void part(struct pf_fit_name *names, size_t count)
{
	size_t before = 0, after = 0;

	for (size_t i = 0, next; i < count; i = next, before = after) {
		for (next = i + 1;
		     next < count && !by_whole(&names[i], &names[next]);)
			next++;
		after = next < count ? common(names[i].whole, names[next].whole)
				     : 0;
		for (size_t k = i; k < next; k++)
			show_around(&names[k], before > after ? before : after);
	}
}

/* Does a run of names that look alike have different ones? */
static size_t run_of(const struct pf_fit_name *names, size_t count,
		     bool *differs)
{
	size_t n = 1;

	*differs = false;
	for (; n < count && !strcmp(names[n].shown, names->shown); n++)
		*differs |= strcmp(names[n].whole, names->whole) != 0;
	return n;
}

static void each_run(struct pf_fit_name *names, size_t count,
		     void (*mend)(struct pf_fit_name *names, size_t count))
{
	bool differs;

	pf_sort(names, count, sizeof(*names), by_shown);
	for (size_t i = 0, n; i < count; i += n) {
		n = run_of(names + i, count - i, &differs);
		if (differs)
			mend(names + i, n);
	}
}

static void all_whole(struct pf_fit_name *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		show_whole(&names[i]);
}

void pf_fit_names(struct pf_fit_name *names, size_t count)
{
	if (!count)
		return;
	for (size_t i = 0; i < count; i++)
		show_cut(&names[i]);
	each_run(names, count, part);
	each_run(names, count, all_whole);
}
