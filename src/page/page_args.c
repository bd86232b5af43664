/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <string.h>

#include "base/num.h"
#include "page/page_args.h"

int pf_page_check_url(const char *url, struct pf_err *err)
{
	static const char wanted[] = "https://";
	const char *s = url;

	if (strncmp(url, wanted, strlen(wanted)) || !strstr(url, "%f"))
		return pf_fail(err, PF_EUSAGE,
			       "'%s' is no source URL: it begins with https:// "
			       "and has %%f where the file goes",
			       url);
	for (; *s; s++)
		if ((unsigned char)*s <= ' ' || (unsigned char)*s > 126 ||
		    strchr("\"'<>\\`", *s))
			return pf_fail(err, PF_EUSAGE,
				       "'%s' is no source URL: it has an odd "
				       "character",
				       url);
	return 0;
}

/* "800K", "8M", "1G" */
static int parse_size(const char *s, int64_t *out, struct pf_err *err)
{
	static const char units[] = "KMG";
	char digits[20];
	size_t len = strspn(s, "0123456789");
	const char *unit = s[len] ? strchr(units, s[len]) : NULL;
	int shift = unit ? 10 * (int)(unit - units + 1) : 0;

	if (len && len < 10 && (!s[len] || (unit && !s[len + 1]))) {
		memcpy(digits, s, len);
		digits[len] = '\0';
		if (!pf_num_int(digits, out)) {
			*out <<= shift;
			return 0;
		}
	}
	return pf_fail(err, PF_EUSAGE, "'%s' is no size: say 800K, 8M or 1G",
		       s);
}

int pf_page_args_read(struct pf_page_args *args, struct pf_err *err)
{
	if (args->source_url && pf_page_check_url(args->source_url, err))
		return -1;
	return args->max_html
		       ? parse_size(args->max_html, &args->max_html_bytes, err)
		       : 0;
}
