/* SPDX-License-Identifier: MIT */
/* Short words for the columns of a page's tables: struct pf_html_col. */
#ifndef PF_REPORT_COLUMNS_H
#define PF_REPORT_COLUMNS_H

#include "report/html.h"

#define COL(key)                                                               \
	{                                                                      \
		key, NULL, PF_HTML_PLAIN, NULL                                 \
	}
#define COL_AS(key, title)                                                     \
	{                                                                      \
		key, title, PF_HTML_PLAIN, NULL                                \
	}
#define BAR(key, title)                                                        \
	{                                                                      \
		key, title, PF_HTML_BAR, NULL                                  \
	}
#define CHANGE(key, title)                                                     \
	{                                                                      \
		key, title, PF_HTML_CHANGE, NULL                               \
	}
#define KERNEL(key, title)                                                     \
	{                                                                      \
		key, title, PF_HTML_KERNEL, NULL                               \
	}
#define FRAME(key)                                                             \
	{                                                                      \
		key, "Line or annotation", PF_HTML_FRAME, NULL                 \
	}
#define TIME(key, title, n)                                                    \
	{                                                                      \
		key, title, PF_HTML_TIME, n                                    \
	}
#define END                                                                    \
	{                                                                      \
		NULL, NULL, PF_HTML_PLAIN, NULL                                \
	}

#endif
