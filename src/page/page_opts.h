/* SPDX-License-Identifier: MIT */
/* Options of commands that write a page. */
#ifndef PF_PAGE_PAGE_OPTS_H
#define PF_PAGE_PAGE_OPTS_H

#include "base/opt.h"
#include "page/page_args.h"
#include "page/slices.h"

/* Rows that write to the struct pf_page_args "field" of a type. */
#define PF_PAGE_OPTS(type, field)                                              \
	{ 0,                                                                   \
	  "timeline",                                                          \
	  PF_TIMELINE_WORDS,                                                   \
	  "what the timeline of a page shows",                                 \
	  PF_OPT_CHOICE,                                                       \
	  offsetof(type, field.timeline),                                      \
	  0,                                                                   \
	  0 },                                                                 \
		{ 0,                                                           \
		  "max-html",                                                  \
		  "SIZE",                                                      \
		  "leave parts of the timeline out above this (8M)",           \
		  PF_OPT_STRING,                                               \
		  offsetof(type, field.max_html),                              \
		  0,                                                           \
		  0 },                                                         \
		{ 0,                                                           \
		  "names",                                                     \
		  PF_PAGE_NAMES_WORDS,                                         \
		  "names of kernels; short: without template arguments",       \
		  PF_OPT_CHOICE,                                               \
		  offsetof(type, field.names),                                 \
		  0,                                                           \
		  0 },                                                         \
		{ 0,           "redact",                                       \
		  NULL,        "drop names of people, machines and folders",   \
		  PF_OPT_FLAG, offsetof(type, field.redact),                   \
		  0,           0 },                                            \
	{                                                                      \
		0, "source-url", "URL",                                        \
			"link lines of code: https://host/path/%f#L%l",        \
			PF_OPT_STRING, offsetof(type, field.source_url), 0, 0  \
	}

#define PF_PAGE_DEFAULTS                                                       \
	{                                                                      \
		.max_html_bytes = PF_PAGE_MAX_HTML                             \
	}

#endif
