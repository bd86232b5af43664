/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <string.h>

#include "show/render.h"

/* Of words that judge: in columns and at the beginning of lines. */
static const struct {
	const char *word;
	enum pf_paint paint;
} words[] = {
	{ "severe", PF_PAINT_ALARM },
	{ "bad", PF_PAINT_ALARM },
	{ "slower", PF_PAINT_ALARM },
	{ "warning", PF_PAINT_CARE },
	{ "warn", PF_PAINT_CARE },
	{ "likely slower", PF_PAINT_CARE },
	{ "likely slower in part", PF_PAINT_CARE },
};

enum pf_paint pf_paint_of_word(const char *s)
{
	for (size_t i = 0; i < PF_LEN(words); i++)
		if (!strcmp(words[i].word, s))
			return words[i].paint;
	return PF_PAINT_NONE;
}

void pf_paint(struct pf_buf *out, const struct pf_style *style,
	      enum pf_paint paint, const char *s, size_t len)
{
	static const char *const codes[] = {
		[PF_PAINT_HEAD] = "1",
		[PF_PAINT_DIM] = "2",
		[PF_PAINT_ALARM] = "1;31",
		[PF_PAINT_CARE] = "33",
	};
	bool is_painted = style->is_color && paint != PF_PAINT_NONE && len;

	if (is_painted)
		pf_buf_addf(out, "\x1b[%sm", codes[paint]);
	pf_buf_add(out, s, len);
	if (is_painted)
		pf_buf_adds(out, "\x1b[0m");
}
