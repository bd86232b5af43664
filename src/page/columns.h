/* SPDX-License-Identifier: MIT */
/* Short words for the columns of a page's tables: struct pf_html_col. */
#ifndef PF_PAGE_COLUMNS_H
#define PF_PAGE_COLUMNS_H

#include "page/html.h"

#define STYLED(key, title, style, span)                                        \
	{                                                                      \
		key, title, style, span                                        \
	}
#define COL(key)             STYLED(key, NULL, PF_HTML_PLAIN, NULL)
#define COL_AS(key, title)   STYLED(key, title, PF_HTML_PLAIN, NULL)
#define BAR(key, title)      STYLED(key, title, PF_HTML_BAR, NULL)
#define CHANGE(key, title)   STYLED(key, title, PF_HTML_CHANGE, NULL)
#define KERNEL(key, title)   STYLED(key, title, PF_HTML_KERNEL, NULL)
#define DEVICE(key, title)   STYLED(key, title, PF_HTML_DEVICE, NULL)
#define FRAME(key)           STYLED(key, "Line or annotation", PF_HTML_FRAME, NULL)
#define TIME(key, title, ns) STYLED(key, title, PF_HTML_TIME, ns)
#define END                  STYLED(NULL, NULL, PF_HTML_PLAIN, NULL)

#endif
