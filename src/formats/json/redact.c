/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <string.h>
#include <strings.h>

#define PF_SCAN_SIMD 0
#include "formats/json/redact.h"
#include "formats/json/scan.h"

bool pf_redact_is_environment(const char *key, size_t len)
{
	static const char *const words[] = { "env", "environ", "environment",
					     "env_vars",
					     "environment_variables" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strlen(words[i]) == len && !strncasecmp(key, words[i], len))
			return true;
	return false;
}

void pf_redact_environment(const char *text, size_t len, struct pf_buf *out)
{
	const char *p = text, *end = text + len, *copied = text;

	while ((p = memchr(p, '"', (size_t)(end - p)))) {
		const char *quote = pf_string_end(p + 1, end), *value;

		if (!quote)
			break;
		value = quote + 2;
		if (value >= end || quote[1] != ':' || *value != '{' ||
		    !pf_redact_is_environment(p + 1, (size_t)(quote - p - 1))) {
			p = quote + 1;
			continue;
		}
		p = pf_nested_end(value, end);
		if (!p)
			break;
		pf_buf_add(out, copied, (size_t)(value - copied));
		pf_buf_adds(out, "{}");
		copied = p;
	}
	pf_buf_add(out, copied, (size_t)(end - copied));
}
