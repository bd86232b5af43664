/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"

static void mark_cut(struct pf_err *err, int len)
{
	if (len >= (int)sizeof(err->text))
		memcpy(err->text + sizeof(err->text) - 4, "...", 4);
}

__attribute__((format(printf, 2, 0))) static void set_text(struct pf_err *err,
							   const char *fmt,
							   va_list ap)
{
	mark_cut(err, vsnprintf(err->text, sizeof(err->text), fmt, ap));
}

int pf_fail(struct pf_err *err, enum pf_code code, const char *fmt, ...)
{
	va_list ap;

	err->code = code;
	va_start(ap, fmt);
	set_text(err, fmt, ap);
	va_end(ap);
	return -1;
}

static void add_cause(struct pf_err *err, const char *cause)
{
	size_t len = strlen(err->text);

	mark_cut(err,
		 (int)len + snprintf(err->text + len, sizeof(err->text) - len,
				     ": %s", cause));
}

int pf_fail_errno(struct pf_err *err, const char *fmt, ...)
{
	int saved = errno;
	va_list ap;

	err->code = PF_EIO;
	va_start(ap, fmt);
	set_text(err, fmt, ap);
	va_end(ap);
	add_cause(err, strerror(saved));
	return -1;
}

int pf_while(struct pf_err *err, const char *fmt, ...)
{
	struct pf_err inner = *err;
	va_list ap;

	va_start(ap, fmt);
	set_text(err, fmt, ap);
	va_end(ap);
	add_cause(err, inner.text);
	return -1;
}
